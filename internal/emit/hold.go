package emit

// This file writes hold.go: a transaction of the package's own in which jobs
// are taken, for tables where the row lock is the claim.

import (
	"time"

	"github.com/dave/jennifer/jen"
)

func (w *writer) holdFile() *jen.File {
	f := w.newFile()
	decl(f, []string{"Hold is a Tx in a transaction of its own. Commit keeps what was settled in it and frees the jobs that were not; Close gives every job back. A process that dies gives them back, too. It occupies a connection until then."},
		jen.Type().Id("Hold").Struct(
			jen.Op("*").Id("Tx"),
			jen.Id("tx").Add(w.txType()),
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
func (w *writer) holdMethod(f *jen.File) {
	doc := []string{"Hold begins a transaction in which jobs are taken:"}
	doc = append(doc, "\th, err := q.Hold(ctx)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer h.Close()\n\t// claim, work, complete\n\treturn h.Commit(ctx)")
	if !w.isPgx() {
		doc = append(doc, "The transaction is rolled back when ctx ends.")
	}
	decl(f, doc,
		jen.Func().Add(queueReceiver()).Id("Hold").Params(ctxParam()).Params(jen.Op("*").Id("Hold"), jen.Error()).Block(
			jen.If(jen.Id("q").Dot("begin").Op("==").Nil()).Block(
				jen.Return(jen.Nil(), jen.Qual("errors", "New").Call(jen.Lit(w.Name+": hold: the queue was made over a transaction; take jobs with WithTx"))),
			),
			jen.List(jen.Id("tx"), jen.Err()).Op(":=").Id("q").Dot("begin").Dot("BeginTx").Call(jen.Id("ctx"), w.txOptions()),
			jen.If(jen.Err().Op("!=").Nil()).Block(
				jen.Return(jen.Nil(), jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": hold: %w"), jen.Err())),
			),
			jen.Return(jen.Op("&").Id("Hold").Values(jen.Id("Tx").Op(":").Id("q").Dot("WithTx").Call(jen.Id("tx")), jen.Id("tx").Op(":").Id("tx")), jen.Nil()),
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
func (w *writer) commitMethod(f *jen.File) {
	failed := jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": commit: %w"), jen.Err()))
	isErr := jen.Err().Op("!=").Nil()
	body := []jen.Code{
		jen.If(jen.Err().Op(":=").Id("h").Dot("tx").Dot("Commit").Call(jen.Id("ctx")), isErr).Block(failed),
		jen.Return(jen.Nil()),
	}
	if !w.isPgx() {
		body = append([]jen.Code{
			jen.If(jen.Err().Op(":=").Id("ctx").Dot("Err").Call(), isErr.Clone()).Block(failed.Clone()),
			jen.If(jen.Err().Op(":=").Id("h").Dot("tx").Dot("Commit").Call(), isErr.Clone()).Block(failed.Clone()),
		}, body[1])
	}
	decl(f, []string{"Commit keeps what was settled and frees the jobs that were not. When the connection broke meanwhile, it may have done so in spite of the error."},
		jen.Func().Params(jen.Id("h").Op("*").Id("Hold")).Id("Commit").Params(ctxParam()).Error().Block(body...))
}

// closeMethod emits
//
//	func (h *Hold) Close() {
//		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
//		defer cancel()
//		_ = h.tx.Rollback(ctx) // after a commit it does nothing
//	}
func (w *writer) closeMethod(f *jen.File) {
	rollback := func(args ...jen.Code) jen.Code {
		return jen.Id("_").Op("=").Id("h").Dot("tx").Dot("Rollback").Call(args...).Comment("it fails when there is nothing left to give back")
	}
	body := []jen.Code{rollback()}
	if w.isPgx() {
		body = []jen.Code{
			jen.List(jen.Id("ctx"), jen.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(jen.Qual("context", "Background").Call(), durationExpr(5*time.Second)),
			jen.Defer().Id("cancel").Call(),
			rollback(jen.Id("ctx")),
		}
	}
	decl(f, []string{"Close gives every job back and undoes what was settled, unless Commit came before."},
		jen.Func().Params(jen.Id("h").Op("*").Id("Hold")).Id("Close").Params().Block(body...))
}
