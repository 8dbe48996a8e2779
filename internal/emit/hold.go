package emit

// This file writes hold.go: a transaction of the package's own in which jobs
// are taken, for tables where the row lock is the claim.

import (
	"time"

	"github.com/qgen-dev/qgen/internal/code"
)

func (w *writer) holdFile() *code.File {
	f := w.newFile()
	decl(f, []string{"Hold is a Tx in a transaction of its own. Commit keeps what was settled in it and frees the jobs that were not; Close gives every job back. A process that dies gives them back, too. It occupies a connection until then."},
		code.Type().Id("Hold").Struct(
			code.Op("*").Id("Tx"),
			code.Id("tx").Add(w.txType()),
		))
	w.holdMethod(f)
	w.commitMethod(f)
	w.closeMethod(f)
	return f
}

// holdMethod emits
//
//	func (q *Queue) Hold(ctx context.Context) (*Hold, error) {
//		if q.begin == nil {
//			return nil, errors.New("emailq: hold: the queue was made over a transaction; take jobs with WithTx")
//		}
//		tx, err := q.begin.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
//		if err != nil {
//			return nil, fmt.Errorf("emailq: hold: %w", err)
//		}
//		return &Hold{Tx: q.WithTx(tx), tx: tx}, nil
//	}
func (w *writer) holdMethod(f *code.File) {
	doc := []string{"Hold begins a transaction in which jobs are taken:"}
	doc = append(doc, "\th, err := q.Hold(ctx)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer h.Close()\n\t// claim, work, complete\n\treturn h.Commit(ctx)")
	end := "The locks of what is claimed last until Commit or Close; a crash gives every job back."
	if !w.isPgx() {
		end += " The transaction is rolled back when ctx ends."
	}
	doc = append(doc, end)
	decl(f, doc,
		code.Func().Add(queueReceiver()).Id("Hold").Params(ctxParam()).Params(code.Op("*").Id("Hold"), code.Error()).Block(
			code.If(code.Id("q").Dot("begin").Op("==").Nil()).Block(
				code.Return(code.Nil(), w.newError("hold: the queue was made over a transaction; take jobs with WithTx")),
			),
			code.List(code.Id("tx"), code.Err()).Op(":=").Id("q").Dot("begin").Dot("BeginTx").Call(code.Id("ctx"), w.txOptions(w.Isolation)),
			code.If(code.Err().Op("!=").Nil()).Block(
				code.Return(code.Nil(), w.errorf("hold: %w", code.Err())),
			),
			code.Return(code.Op("&").Id("Hold").Values(code.Id("Tx").Op(":").Id("q").Dot("WithTx").Call(code.Id("tx")), code.Id("tx").Op(":").Id("tx")), code.Nil()),
		))
}

// commitMethod emits
//
//	func (h *Hold) Commit(ctx context.Context) error {
//		if err := h.tx.Commit(ctx); err != nil {
//			return fmt.Errorf("emailq: commit: %w", err)
//		}
//		return nil
//	}
func (w *writer) commitMethod(f *code.File) {
	failed := code.Return(w.errorf("commit: %w", code.Err()))
	isErr := code.Err().Op("!=").Nil()
	body := []*code.Statement{
		code.If(code.Err().Op(":=").Id("h").Dot("tx").Dot("Commit").Call(code.Id("ctx")), isErr).Block(failed),
		code.Return(code.Nil()),
	}
	if !w.isPgx() {
		body = append([]*code.Statement{
			code.If(code.Err().Op(":=").Id("ctx").Dot("Err").Call(), isErr.Clone()).Block(failed.Clone()),
			code.If(code.Err().Op(":=").Id("h").Dot("tx").Dot("Commit").Call(), isErr.Clone()).Block(failed.Clone()),
		}, body[1])
	}
	decl(f, []string{"Commit keeps what was settled and frees the jobs that were not. When the connection broke meanwhile, it may have done so in spite of the error."},
		code.Func().Params(code.Id("h").Op("*").Id("Hold")).Id("Commit").Params(ctxParam()).Error().Block(body...))
}

// closeMethod emits
//
//	func (h *Hold) Close() {
//		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
//		defer cancel()
//		_ = h.tx.Rollback(ctx) // after a commit it does nothing
//	}
func (w *writer) closeMethod(f *code.File) {
	rollback := func(args ...*code.Statement) *code.Statement {
		return code.Id("_").Op("=").Id("h").Dot("tx").Dot("Rollback").Call(args...).Comment("it fails when there is nothing left to give back")
	}
	body := []*code.Statement{rollback()}
	if w.isPgx() {
		body = []*code.Statement{
			code.List(code.Id("ctx"), code.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(code.Qual("context", "Background").Call(), durationExpr(5*time.Second)),
			code.Defer().Id("cancel").Call(),
			rollback(code.Id("ctx")),
		}
	}
	decl(f, []string{"Close gives every job back and undoes what was settled, unless Commit came before."},
		code.Func().Params(code.Id("h").Op("*").Id("Hold")).Id("Close").Params().Block(body...))
}
