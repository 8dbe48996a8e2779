package emit

// This file writes db.go: what a caller brings, the queue, its options, errors,
// and how statements are run.

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

// dbFile writes db.go, less the unexported parts that addParts finds in use.
func (w *writer) dbFile() *jen.File {
	f := w.newFile()
	if w.settles() {
		w.lostError(f)
	}
	w.dbtxType(f)
	w.queueType(f)
	w.newFunc(f)
	w.withTxMethod(f)
	w.options(f)
	w.hookType(f)
	w.isRetryableFunc(f)
	return f
}

// settles reports whether any operation compares a fence.
func (w *writer) settles() bool {
	return w.Complete != nil || w.Retry != nil || w.Fail != nil || w.Requeue != nil || w.Extend != nil
}

// lostError emits
//
//	var ErrLost = errors.New("emailq: claim lost")
//
//	type LostError struct {
//		Op   string
//		Keys []Key
//	}
//
//	func (e *LostError) Error() string { … }
//	func (e *LostError) Unwrap() error { return ErrLost }
func (w *writer) lostError(f *jen.File) {
	decl(f, []string{"ErrLost is what an operation returns for a job whose claim is no longer the caller's: it expired and another worker holds or has finished it, or it was settled before."},
		jen.Var().Id("ErrLost").Op("=").Qual("errors", "New").Call(jen.Lit(w.Name+": claim lost")))
	decl(f, []string{"LostError names the jobs whose claims were lost. What else the operation was given is done. It is an ErrLost."},
		jen.Type().Id("LostError").Struct(
			jen.Id("Op").String().Comment("complete, fail, …"),
			jen.Id("Keys").Index().Id("Key"),
		))
	recv := func() *jen.Statement { return jen.Params(jen.Id("e").Op("*").Id("LostError")) }
	decl(f, []string{"Error tells the operation and the keys."},
		jen.Func().Add(recv()).Id("Error").Params().String().Block(
			jen.Return(jen.Qual("fmt", "Sprintf").Call(jen.Lit(w.Name+": %s: claim lost: %v"), jen.Id("e").Dot("Op"), jen.Id("e").Dot("Keys"))),
		))
	decl(f, []string{"Unwrap returns ErrLost."},
		jen.Func().Add(recv()).Id("Unwrap").Params().Error().Add(inline(jen.Return(jen.Id("ErrLost")))))
}

// dbtxType emits the interface of what runs statements.
func (w *writer) dbtxType(f *jen.File) {
	if w.isPgx() {
		method := func(name string) *jen.Statement {
			return jen.Id(name).Params(ctxParam(), jen.Id("sql").String(), jen.Id("args").Op("...").Any())
		}
		decl(f, []string{"DBTX runs statements: a *pgxpool.Pool, a *pgx.Conn and a pgx.Tx do."},
			jen.Type().Id("DBTX").InterfaceFunc(func(g *jen.Group) {
				g.Add(method("Exec")).Params(jen.Qual(pgconnPath, "CommandTag"), jen.Error())
				g.Add(method("Query")).Params(jen.Qual(pgxPath, "Rows"), jen.Error())
				if w.batches() {
					g.Id("SendBatch").Params(ctxParam(), jen.Id("b").Op("*").Qual(pgxPath, "Batch")).Qual(pgxPath, "BatchResults")
				}
			}))
		return
	}
	method := func(name string) *jen.Statement {
		return jen.Id(name).Params(ctxParam(), jen.Id("query").String(), jen.Id("args").Op("...").Any())
	}
	decl(f, []string{"DBTX runs statements: a *sql.DB, a *sql.Conn and a *sql.Tx do."},
		jen.Type().Id("DBTX").Interface(
			method("ExecContext").Params(jen.Qual("database/sql", "Result"), jen.Error()),
			method("QueryContext").Params(jen.Op("*").Qual("database/sql", "Rows"), jen.Error()),
		))
}

// txType is the driver's transaction, txOptions what it takes to begin one.
func (w *writer) txType() *jen.Statement {
	if w.isPgx() {
		return jen.Qual(pgxPath, "Tx")
	}
	return jen.Op("*").Qual("database/sql", "Tx")
}

// beginnerType emits
//
//	type beginner interface {
//		BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
//	}
func (w *writer) beginnerType(f *jen.File) {
	options := jen.Op("*").Qual("database/sql", "TxOptions")
	if w.isPgx() {
		options = jen.Qual(pgxPath, "TxOptions")
	}
	decl(f, []string{"beginner is what can begin a transaction; a transaction cannot."},
		jen.Type().Id("beginner").Interface(
			jen.Id("BeginTx").Params(ctxParam(), jen.Id("options").Add(options)).Params(w.txType(), jen.Error()),
		))
}

// queueType emits the struct Queue.
func (w *writer) queueType(f *jen.File) {
	what := "Queue takes jobs from " + w.tableName() + " and settles them"
	if w.Hold {
		what = "Queue adds jobs to " + w.tableName() + " and gives transactions in which they are taken"
	}
	decl(f, []string{what + ". It may be used by any number of goroutines at once."},
		jen.Type().Id("Queue").StructFunc(func(g *jen.Group) {
			g.Id("db").Id("DBTX")
			g.Id("begin").Id("beginner").Comment("nil in the caller's transaction")
			if w.Worker {
				g.Id("worker").Add(w.workerType())
			}
			if w.hasLow() {
				g.Id("low").Op("*").Id("lowBound").Comment("nil in the caller's transaction")
			}
			g.Id("hook").Id("Hook")
		}))
}

// tableName is the table as comments say it.
func (w *writer) tableName() string { return oneLine(w.Table) }

// hasLow reports whether claims use a low bound.
func (w *writer) hasLow() bool { return w.Claim != nil && w.Claim.Low != nil }

// newFunc emits
//
//	func New(db DBTX, options ...Option) *Queue {
//		q := &Queue{db: db, worker: defaultWorker(), hook: noHook{}}
//		if begin, ok := db.(beginner); ok {
//			q.begin, q.low = begin, newLowBound()
//		}
//		…
//	}
func (w *writer) newFunc(f *jen.File) {
	doc := []string{"New returns a queue over db. Given a transaction it works inside that: nothing is tried again and nothing is committed, see WithTx."}
	if w.isPgx() {
		doc[0] += " Do not give it a connection on which BEGIN was sent by hand."
	} else {
		doc[0] += " Do not give it a *sql.Conn on which BEGIN was sent by hand."
	}
	decl(f, doc,
		jen.Func().Id("New").Params(jen.Id("db").Id("DBTX"), jen.Id("options").Op("...").Id("Option")).Op("*").Id("Queue").BlockFunc(func(g *jen.Group) {
			g.Id("q").Op(":=").Op("&").Id("Queue").ValuesFunc(func(g *jen.Group) {
				g.Id("db").Op(":").Id("db")
				if w.Worker {
					g.Id("worker").Op(":").Id("defaultWorker").Call()
				}
				g.Id("hook").Op(":").Id("noHook").Values()
			})
			g.If(jen.List(jen.Id("begin"), jen.Id("ok")).Op(":=").Id("db").Assert(jen.Id("beginner")), jen.Id("ok")).BlockFunc(func(g *jen.Group) {
				g.Id("q").Dot("begin").Op("=").Id("begin")
				if w.hasLow() {
					g.Id("q").Dot("low").Op("=").Op("&").Id("lowBound").Values(jen.Id("key").Op(":").Id("lowest"))
				}
			})
			g.For(jen.List(jen.Id("_"), jen.Id("option")).Op(":=").Range().Id("options")).Block(
				jen.Id("option").Call(jen.Id("q")),
			)
			g.Return(jen.Id("q"))
		}))
}

// withTxMethod emits WithTx and, where claims live in transactions, Tx.
func (w *writer) withTxMethod(f *jen.File) {
	param := jen.Id("tx").Add(w.txType())
	join := func(g *jen.Group) {
		g.Id("joined").Op(":=").Op("*").Id("q")
		if w.hasLow() {
			g.List(jen.Id("joined").Dot("db"), jen.Id("joined").Dot("begin"), jen.Id("joined").Dot("low")).Op("=").List(jen.Id("tx"), jen.Nil(), jen.Nil())
		} else {
			g.List(jen.Id("joined").Dot("db"), jen.Id("joined").Dot("begin")).Op("=").List(jen.Id("tx"), jen.Nil())
		}
	}
	if !w.Hold {
		decl(f, []string{"WithTx returns the queue as part of the caller's transaction: what it does happens when tx commits. It never tries again by itself; an error for which IsRetryable is true asks to run the whole transaction again."},
			jen.Func().Add(queueReceiver()).Id("WithTx").Params(param).Op("*").Id("Queue").BlockFunc(func(g *jen.Group) {
				join(g)
				g.Return(jen.Op("&").Id("joined"))
			}))
		return
	}
	decl(f, []string{"Tx takes jobs within one transaction. The row locks of the transaction are the claims: a commit keeps what was settled and frees the rest, a rollback or a crash gives every job back. It is for one goroutine at a time."},
		jen.Type().Id("Tx").Struct(
			jen.Id("queue").Op("*").Id("Queue"),
			jen.Id("held").Index().Id("Key").Comment("every job taken by it, so that none is taken twice"),
		))
	decl(f, []string{"WithTx returns the claims of the caller's transaction. Nothing is tried again and nothing is committed; an error for which IsRetryable is true asks to run the whole transaction again. To add jobs within a transaction, use New(tx)."},
		jen.Func().Add(queueReceiver()).Id("WithTx").Params(param).Op("*").Id("Tx").BlockFunc(func(g *jen.Group) {
			join(g)
			g.Return(jen.Op("&").Id("Tx").Values(jen.Id("queue").Op(":").Op("&").Id("joined")))
		}))
}

// options emits Option, WithWorker and WithHook.
func (w *writer) options(f *jen.File) {
	decl(f, []string{"Option changes how a queue works."},
		jen.Type().Id("Option").Func().Params(jen.Op("*").Id("Queue")))
	option := func(name, param string, typ jen.Code) *jen.Statement {
		return jen.Func().Id(name).Params(jen.Id(param).Add(typ)).Id("Option").Block(
			jen.Return(jen.Func().Params(jen.Id("q").Op("*").Id("Queue")).Block(
				jen.Id("q").Dot(param).Op("=").Id(param),
			)))
	}
	if w.Worker {
		decl(f, []string{"WithWorker names the worker that claims record. " + w.workerDefault()},
			option("WithWorker", "worker", w.workerType()))
	}
	decl(f, []string{"WithHook has hook watch every operation."}, option("WithHook", "hook", jen.Id("Hook")))
}

// workerArg finds the argument that carries the worker.
func (w *writer) workerArg() plan.Arg {
	for _, s := range w.Statements() {
		for _, a := range s.Args {
			if a.Kind == plan.ArgWorker {
				return a
			}
		}
	}
	return plan.Arg{}
}

// workerType is the Go type of the worker.
func (w *writer) workerType() *jen.Statement {
	if f := w.workerArg().Field; f != nil {
		return w.goType(f.GoType)
	}
	return jen.String()
}

// workerIsText reports whether a worker is a name and not a number.
func (w *writer) workerIsText() bool {
	f := w.workerArg().Field
	return f == nil || f.GoType == "string"
}

// workerDefault says who a worker is that has no name.
func (w *writer) workerDefault() string {
	if w.workerIsText() {
		return "Without it they record host name and process id."
	}
	return "Without it they record the process id."
}

// defaultWorkerFunc emits
//
//	func defaultWorker() string {
//		host, err := os.Hostname()
//		if err != nil {
//			host = "unknown"
//		}
//		id := ":" + strconv.Itoa(os.Getpid())
//		return host[:min(len(host), 40-len(id))] + id
//	}
func (w *writer) defaultWorkerFunc(f *jen.File) {
	if !w.workerIsText() {
		decl(f, []string{"defaultWorker is the process id."},
			jen.Func().Id("defaultWorker").Params().Add(w.workerType()).Block(
				jen.Return(w.workerType().Call(jen.Qual("os", "Getpid").Call()))))
		return
	}
	most := w.workerArg().Max
	doc := "defaultWorker is host name and process id."
	if most > 0 {
		doc = fmt.Sprintf("defaultWorker is host name and process id, in at most %d characters.", most)
	}
	decl(f, []string{doc},
		jen.Func().Id("defaultWorker").Params().String().BlockFunc(func(g *jen.Group) {
			g.List(jen.Id("host"), jen.Err()).Op(":=").Qual("os", "Hostname").Call()
			g.If(jen.Err().Op("!=").Nil()).Block(jen.Id("host").Op("=").Lit("unknown"))
			id := jen.Qual("strconv", "Itoa").Call(jen.Qual("os", "Getpid").Call())
			if most == 0 {
				g.Return(jen.Id("host").Op("+").Lit(":").Op("+").Add(id))
				return
			}
			g.Id("name").Op(":=").Id("host").Op("+").Lit(":").Op("+").Add(id)
			g.Return(jen.Id("name").Index(jen.Id("max").Call(jen.Lit(0), jen.Len(jen.Id("name")).Op("-").Lit(most)).Op(":")))
		}))
}

// hookType emits Hook and the hook of a queue that has none.
func (w *writer) hookType(f *jen.File) {
	recv := jen.Params(jen.Id("noHook"))
	before := jen.Id("Before").Params(ctxParam(), jen.Id("op").String()).Qual("context", "Context")
	after := jen.Id("After").Params(ctxParam(), jen.Id("op").String(), jen.Id("rows").Int(), jen.Err().Error())
	decl(f, []string{"Hook watches operations; logs, traces and metrics are made with it."},
		jen.Type().Id("Hook").Interface(
			jen.Comment("Before is called when an operation starts and returns the context for it."),
			before,
			jen.Comment("After is called when it has ended, with the number of rows it took, changed"),
			jen.Comment("or added."),
			after,
		))
	decl(f, []string{"noHook is the hook of a queue that has none."},
		jen.Type().Id("noHook").Struct())
	f.Line()
	f.Func().Add(recv.Clone()).Id("Before").Params(ctxParam(), jen.Id("_").String()).Qual("context", "Context").Add(inline(jen.Return(jen.Id("ctx"))))
	f.Line()
	f.Func().Add(recv.Clone()).Id("After").Params(jen.Qual("context", "Context"), jen.String(), jen.Int(), jen.Error()).Block()
}

// isRetryableFunc emits
//
//	func IsRetryable(err error) bool { return rolledBack(err) || unknown(err) }
func (w *writer) isRetryableFunc(f *jen.File) {
	decl(f, []string{"IsRetryable reports whether the same work may be tried again: the database undid it because of other work, or the connection broke before the answer came. In the latter case it may have been done all the same."},
		jen.Func().Id("IsRetryable").Params(jen.Err().Error()).Bool().Add(
			inline(jen.Return(jen.Id("rolledBack").Call(jen.Err()).Op("||").Id("unknown").Call(jen.Err())))))
}

// rolledBackFunc emits
//
//	func rolledBack(err error) bool {
//		return hasState(err, "40001", "40P01") || hasCode(err, 5)
//	}
func (w *writer) rolledBackFunc(f *jen.File) {
	var tests []jen.Code
	if w.isPgx() {
		tests = append(tests, jen.Qual(pgconnPath, "SafeToRetry").Call(jen.Err()))
	}
	tests = append(tests, test("hasState", w.Transient.RolledBack)...)
	tests = append(tests, test("hasCode", w.Transient.Codes)...)
	tests = append(tests, test("hasText", w.Transient.Messages)...)
	if len(tests) == 0 {
		w.fail("no error is known after which work may be tried again")
		return
	}
	decl(f, []string{"rolledBack reports whether err surely left nothing behind and may not come again."},
		jen.Func().Id("rolledBack").Params(jen.Err().Error()).Bool().Block(jen.Return(anyOf(tests))))
}

// unknownFunc emits
//
//	func unknown(err error) bool {
//		var broken *net.OpError
//		return errors.As(err, &broken) || errors.Is(err, driver.ErrBadConn) || … || hasState(err, "08")
//	}
func (w *writer) unknownFunc(f *jen.File) {
	is := func(pkg, name string) jen.Code {
		return jen.Qual("errors", "Is").Call(jen.Err(), jen.Qual(pkg, name))
	}
	tests := []jen.Code{jen.Qual("errors", "As").Call(jen.Err(), jen.Op("&").Id("broken"))}
	if !w.isPgx() {
		tests = append(tests, is("database/sql/driver", "ErrBadConn"))
	}
	tests = append(tests, is("io", "EOF"), is("io", "ErrUnexpectedEOF"))
	tests = append(tests, test("hasState", w.Transient.Unknown)...)
	decl(f, []string{"unknown reports whether the connection is gone, and with it the answer."},
		jen.Func().Id("unknown").Params(jen.Err().Error()).Bool().Block(
			jen.Var().Id("broken").Op("*").Qual("net", "OpError"),
			jen.Return(anyOf(tests)),
		))
}

// test is name(err, values…), nothing when there are no values.
func test[T any](name string, values []T) []jen.Code {
	if len(values) == 0 {
		return nil
	}
	return []jen.Code{jen.Id(name).CallFunc(func(g *jen.Group) {
		g.Err()
		for _, v := range values {
			g.Lit(v)
		}
	})}
}

// anyOf joins tests with ||, one a line when they are many.
func anyOf(tests []jen.Code) *jen.Statement {
	s := jen.Add(tests[0])
	for i, t := range tests[1:] {
		s.Op("||")
		if i%2 == 1 {
			s.Line()
		}
		s.Add(t)
	}
	return s
}

// hasStateFunc emits
//
//	func hasState(err error, states ...string) bool {
//		var e interface{ SQLState() string }
//		if !errors.As(err, &e) {
//			return false
//		}
//		return slices.ContainsFunc(states, func(state string) bool {
//			return strings.HasPrefix(e.SQLState(), state)
//		})
//	}
func (w *writer) hasStateFunc(f *jen.File) {
	decl(f, []string{"hasState reports whether err has one of the SQLSTATEs, or is of one of the classes."},
		jen.Func().Id("hasState").Params(jen.Err().Error(), jen.Id("states").Op("...").String()).Bool().Block(
			jen.Var().Id("e").Interface(jen.Id("SQLState").Params().String()),
			jen.If(jen.Op("!").Qual("errors", "As").Call(jen.Err(), jen.Op("&").Id("e"))).Block(jen.Return(jen.False())),
			jen.Return(jen.Qual("slices", "ContainsFunc").Call(jen.Id("states"), jen.Func().Params(jen.Id("state").String()).Bool().Block(
				jen.Return(jen.Qual("strings", "HasPrefix").Call(jen.Id("e").Dot("SQLState").Call(), jen.Id("state"))),
			))),
		))
}

// hasCodeFunc emits
//
//	func hasCode(err error, codes ...int) bool {
//		var e interface{ Code() int }
//		return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff)
//	}
func (w *writer) hasCodeFunc(f *jen.File) {
	decl(f, []string{"hasCode reports whether err has one of the driver's codes; the low byte counts, the rest tells details."},
		jen.Func().Id("hasCode").Params(jen.Err().Error(), jen.Id("codes").Op("...").Int()).Bool().Block(
			jen.Var().Id("e").Interface(jen.Id("Code").Params().Int()),
			jen.Return(jen.Qual("errors", "As").Call(jen.Err(), jen.Op("&").Id("e")).Op("&&").
				Qual("slices", "Contains").Call(jen.Id("codes"), jen.Id("e").Dot("Code").Call().Op("&").Id("0xff"))),
		))
}

// hasTextFunc emits
//
//	func hasText(err error, parts ...string) bool {
//		return err != nil && slices.ContainsFunc(parts, func(part string) bool {
//			return strings.Contains(err.Error(), part)
//		})
//	}
func (w *writer) hasTextFunc(f *jen.File) {
	decl(f, []string{"hasText reports whether err says one of the parts, for drivers whose errors have no codes."},
		jen.Func().Id("hasText").Params(jen.Err().Error(), jen.Id("parts").Op("...").String()).Bool().Block(
			jen.Return(jen.Err().Op("!=").Nil().Op("&&").Qual("slices", "ContainsFunc").Call(jen.Id("parts"), jen.Func().Params(jen.Id("part").String()).Bool().Block(
				jen.Return(jen.Qual("strings", "Contains").Call(jen.Err().Dot("Error").Call(), jen.Id("part"))),
			))),
		))
}

// tryFunc is the type of what retry and transact run.
func tryFunc() *jen.Statement {
	return jen.Id("fn").Func().Params(jen.Id("db").Id("DBTX")).Error()
}

// retryMethod emits
//
//	func (q *Queue) retry(ctx context.Context, op string, fn func(db DBTX) error) error {
//		err := fn(q.db)
//		for try := 1; try < 5 && q.begin != nil && rolledBack(err); try++ {
//			if pause(ctx, try) != nil {
//				break
//			}
//			err = fn(q.db)
//		}
//		if err != nil {
//			return fmt.Errorf("emailq: %s: %w", op, err)
//		}
//		return nil
//	}
func (w *writer) retryMethod(f *jen.File) {
	decl(f, []string{"retry runs fn, and again while its error surely left nothing behind, five times at most. In the caller's transaction it runs it once."},
		jen.Func().Add(queueReceiver()).Id("retry").Params(ctxParam(), jen.Id("op").String(), tryFunc()).Error().Block(
			jen.Err().Op(":=").Id("fn").Call(jen.Id("q").Dot("db")),
			jen.For(jen.Id("try").Op(":=").Lit(1),
				jen.Id("try").Op("<").Lit(5).Op("&&").Id("q").Dot("begin").Op("!=").Nil().Op("&&").Id("rolledBack").Call(jen.Err()),
				jen.Id("try").Op("++")).Block(
				jen.If(jen.Id("pause").Call(jen.Id("ctx"), jen.Id("try")).Op("!=").Nil()).Block(
					jen.Break().Comment("err says more than that time is up"),
				),
				jen.Err().Op("=").Id("fn").Call(jen.Id("q").Dot("db")),
			),
			jen.If(jen.Err().Op("!=").Nil()).Block(
				jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": %s: %w"), jen.Id("op"), jen.Err())),
			),
			jen.Return(jen.Nil()),
		))
}

// pauseFunc emits
//
//	func pause(ctx context.Context, try int) error {
//		wait := 5 * time.Millisecond << (try - 1)
//		timer := time.NewTimer(wait + rand.N(wait))
//		defer timer.Stop()
//		select {
//		case <-ctx.Done():
//			return ctx.Err()
//		case <-timer.C:
//			return nil
//		}
//	}
func (w *writer) pauseFunc(f *jen.File) {
	decl(f, []string{"pause waits before another try: 5 ms and up to as much again, doubled with every try."},
		jen.Func().Id("pause").Params(ctxParam(), jen.Id("try").Int()).Error().Block(
			jen.Id("wait").Op(":=").Lit(5).Op("*").Qual("time", "Millisecond").Op("<<").Parens(jen.Id("try").Op("-").Lit(1)),
			jen.Id("timer").Op(":=").Qual("time", "NewTimer").Call(jen.Id("wait").Op("+").Qual(mathRand, "N").Call(jen.Id("wait"))),
			jen.Defer().Id("timer").Dot("Stop").Call(),
			jen.Select().Block(
				jen.Case(jen.Op("<-").Id("ctx").Dot("Done").Call()).Block(jen.Return(jen.Id("ctx").Dot("Err").Call())),
				jen.Case(jen.Op("<-").Id("timer").Dot("C")).Block(jen.Return(jen.Nil())),
			),
		))
}

// transactMethod emits
//
//	func (q *Queue) transact(ctx context.Context, op string, fn func(db DBTX) error) error {
//		return q.retry(ctx, op, func(db DBTX) error {
//			if q.begin == nil {
//				return fn(db)
//			}
//			tx, err := q.begin.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
//			if err != nil {
//				return err
//			}
//			defer func() { _ = tx.Rollback() }()
//			if err := fn(tx); err != nil {
//				return err
//			}
//			return tx.Commit()
//		})
//	}
func (w *writer) transactMethod(f *jen.File) {
	var args []jen.Code
	if w.isPgx() {
		args = append(args, jen.Id("ctx"))
	}
	doc := "transact is retry with fn in a transaction of its own, or in the caller's."
	if w.Isolation != "" {
		doc = "transact is retry with fn in a " + strings.ToUpper(w.Isolation) + " transaction of its own, or in the caller's."
	}
	decl(f, []string{doc},
		jen.Func().Add(queueReceiver()).Id("transact").Params(ctxParam(), jen.Id("op").String(), tryFunc()).Error().Block(
			jen.Return(jen.Id("q").Dot("retry").Call(jen.Id("ctx"), jen.Id("op"), jen.Func().Params(jen.Id("db").Id("DBTX")).Error().Block(
				jen.If(jen.Id("q").Dot("begin").Op("==").Nil()).Block(jen.Return(jen.Id("fn").Call(jen.Id("db")))),
				jen.List(jen.Id("tx"), jen.Err()).Op(":=").Id("q").Dot("begin").Dot("BeginTx").Call(jen.Id("ctx"), w.txOptions()),
				ifErr(),
				jen.Defer().Func().Params().Add(inline(jen.Id("_").Op("=").Id("tx").Dot("Rollback").Call(args...))).Call().Comment("after a commit it does nothing"),
				ifAssign(jen.Err().Op(":=").Id("fn").Call(jen.Id("tx"))),
				jen.Return(jen.Id("tx").Dot("Commit").Call(args...)),
			))),
		))
}

// txOptions are the options with which the package begins a transaction:
//
//	&sql.TxOptions{Isolation: sql.LevelReadCommitted}
func (w *writer) txOptions() *jen.Statement {
	if w.Isolation != "" && w.Isolation != "read committed" {
		w.fail("isolation level %q is not known", w.Isolation)
	}
	switch {
	case w.isPgx() && w.Isolation == "":
		return jen.Qual(pgxPath, "TxOptions").Values()
	case w.isPgx():
		return jen.Qual(pgxPath, "TxOptions").Values(jen.Id("IsoLevel").Op(":").Qual(pgxPath, "ReadCommitted"))
	case w.Isolation == "":
		return jen.Nil()
	}
	return jen.Op("&").Qual("database/sql", "TxOptions").Values(jen.Id("Isolation").Op(":").Qual("database/sql", "LevelReadCommitted"))
}

// rowType emits
//
//	type row interface {
//		Scan(dest ...any) error
//	}
func (w *writer) rowType(f *jen.File) {
	decl(f, []string{"row is one row of a result."},
		jen.Type().Id("row").Interface(jen.Id("Scan").Params(jen.Id("dest").Op("...").Any()).Error()))
}

// queryFunc emits
//
//	func query[T any](ctx context.Context, db DBTX, scan func(row) (T, error), text string, args ...any) ([]T, error) {
//		rows, err := db.QueryContext(ctx, text, args...)
//		if err != nil {
//			return nil, err
//		}
//		return collect(rows, scan)
//	}
func (w *writer) queryFunc(f *jen.File) {
	method := "QueryContext"
	if w.isPgx() {
		method = "Query"
	}
	decl(f, []string{"query runs a statement and scans its rows."},
		jen.Func().Id("query").Types(jen.Id("T").Any()).Params(
			ctxParam(), jen.Id("db").Id("DBTX"), scanParam(), jen.Id("text").String(), jen.Id("args").Op("...").Any(),
		).Params(jen.Index().Id("T"), jen.Error()).Block(
			jen.List(jen.Id("rows"), jen.Err()).Op(":=").Id("db").Dot(method).Call(jen.Id("ctx"), jen.Id("text"), jen.Id("args").Op("...")),
			ifErr(jen.Nil()),
			jen.Return(jen.Id("collect").Call(jen.Id("rows"), jen.Id("scan"))),
		))
}

// scanParam is the parameter that reads one row.
func scanParam() *jen.Statement {
	return jen.Id("scan").Func().Params(jen.Id("row")).Params(jen.Id("T"), jen.Error())
}

// collectFunc emits
//
//	func collect[T any](rows *sql.Rows, scan func(row) (T, error)) ([]T, error) {
//		defer func() { _ = rows.Close() }()
//		var all []T
//		for rows.Next() {
//			one, err := scan(rows)
//			if err != nil {
//				return nil, err
//			}
//			all = append(all, one)
//		}
//		if err := rows.Err(); err != nil {
//			return nil, err
//		}
//		return all, nil
//	}
func (w *writer) collectFunc(f *jen.File) {
	typ := jen.Op("*").Qual("database/sql", "Rows")
	closing := jen.Defer().Func().Params().Add(inline(jen.Id("_").Op("=").Id("rows").Dot("Close").Call())).Call().Comment("rows.Err tells what went wrong")
	if w.isPgx() {
		typ = jen.Qual(pgxPath, "Rows")
		closing = jen.Defer().Id("rows").Dot("Close").Call()
	}
	decl(f, []string{"collect scans all rows and closes them."},
		jen.Func().Id("collect").Types(jen.Id("T").Any()).Params(jen.Id("rows").Add(typ), scanParam()).Params(jen.Index().Id("T"), jen.Error()).Block(
			closing,
			jen.Var().Id("all").Index().Id("T"),
			jen.For(jen.Id("rows").Dot("Next").Call()).Block(
				jen.List(jen.Id("one"), jen.Err()).Op(":=").Id("scan").Call(jen.Id("rows")),
				ifErr(jen.Nil()),
				jen.Id("all").Op("=").Append(jen.Id("all"), jen.Id("one")),
			),
			ifAssign(jen.Err().Op(":=").Id("rows").Dot("Err").Call(), jen.Nil()),
			jen.Return(jen.Id("all"), jen.Nil()),
		))
}

// execFunc emits
//
//	func exec(ctx context.Context, db DBTX, text string, args ...any) (int, error) {
//		result, err := db.ExecContext(ctx, text, args...)
//		if err != nil {
//			return 0, err
//		}
//		n, err := result.RowsAffected()
//		return int(n), err
//	}
func (w *writer) execFunc(f *jen.File) {
	decl(f, []string{"exec runs a statement and returns the number of rows it touched."},
		jen.Func().Id("exec").Params(
			ctxParam(), jen.Id("db").Id("DBTX"), jen.Id("text").String(), jen.Id("args").Op("...").Any(),
		).Params(jen.Int(), jen.Error()).BlockFunc(func(g *jen.Group) {
			call := []jen.Code{jen.Id("ctx"), jen.Id("text"), jen.Id("args").Op("...")}
			if w.isPgx() {
				g.List(jen.Id("tag"), jen.Err()).Op(":=").Id("db").Dot("Exec").Call(call...)
				g.Return(jen.Int().Call(jen.Id("tag").Dot("RowsAffected").Call()), jen.Err())
				return
			}
			g.List(jen.Id("result"), jen.Err()).Op(":=").Id("db").Dot("ExecContext").Call(call...)
			g.Add(ifErr(jen.Lit(0)))
			g.List(jen.Id("n"), jen.Err()).Op(":=").Id("result").Dot("RowsAffected").Call()
			g.Return(jen.Int().Call(jen.Id("n")), jen.Err())
		}))
}

// statementFunc emits
//
//	func statement(file string) string {
//		for strings.HasPrefix(file, "--") {
//			_, file, _ = strings.Cut(file, "\n")
//		}
//		return strings.TrimSpace(file)
//	}
func (w *writer) statementFunc(f *jen.File) {
	decl(f, []string{"statement is a file of sql/ less its head comment: tools that name a statement by its first word would see only the comment."},
		jen.Func().Id("statement").Params(jen.Id("file").String()).String().Block(
			jen.For(jen.Qual("strings", "HasPrefix").Call(jen.Id("file"), jen.Lit("--"))).Block(
				jen.List(jen.Id("_"), jen.Id("file"), jen.Id("_")).Op("=").Qual("strings", "Cut").Call(jen.Id("file"), jen.Lit("\n")),
			),
			jen.Return(jen.Qual("strings", "TrimSpace").Call(jen.Id("file"))),
		))
}

// settleMethod emits
//
//	func (q *Queue) settle(ctx context.Context, op string, jobs []Job, text string, args ...any) (err error) {
//		var found []Key
//		ctx = q.hook.Before(ctx, op)
//		defer func() { q.hook.After(ctx, op, len(found), err) }()
//		err = q.retry(ctx, op, func(db DBTX) (err error) {
//			found, err = query(ctx, db, scanKey, text, args...)
//			return err
//		})
//		if err != nil {
//			return err
//		}
//		return lost(op, jobs, found)
//	}
func (w *writer) settleMethod(f *jen.File) {
	decl(f, []string{"settle runs a statement that changes the rows of jobs where the claim is still theirs and returns the keys of those. The other jobs are lost."},
		jen.Func().Add(queueReceiver()).Id("settle").Params(
			ctxParam(), jen.Id("op").String(), jen.Id("jobs").Index().Id("Job"), jen.Id("text").String(), jen.Id("args").Op("...").Any(),
		).Params(jen.Err().Error()).Block(
			jen.Var().Id("found").Index().Id("Key"),
			observe(jen.Id("q"), jen.Id("op"), jen.Len(jen.Id("found"))),
			attempt(jen.Id("q"), "retry", jen.Id("op"), queryInto("found", "scanKey", jen.Id("text"), jen.Id("args").Op("..."))),
			ifErr(),
			jen.Return(jen.Id("lost").Call(jen.Id("op"), jen.Id("jobs"), jen.Id("found"))),
		))
}

// lostFunc emits
//
//	func lost(op string, jobs []Job, found []Key) error {
//		held := make(map[Key]bool, len(found))
//		for _, key := range found {
//			held[key] = true
//		}
//		var keys []Key
//		for _, job := range jobs {
//			if !held[job.Key()] {
//				keys = append(keys, job.Key())
//			}
//		}
//		if keys == nil {
//			return nil
//		}
//		return &LostError{Op: op, Keys: keys}
//	}
func (w *writer) lostFunc(f *jen.File) {
	decl(f, []string{"lost returns a *LostError over the jobs that are not among found, nil when there are none."},
		jen.Func().Id("lost").Params(jen.Id("op").String(), jen.Id("jobs").Index().Id("Job"), jen.Id("found").Index().Id("Key")).Error().Block(
			jen.Id("held").Op(":=").Make(jen.Map(jen.Id("Key")).Bool(), jen.Len(jen.Id("found"))),
			jen.For(jen.List(jen.Id("_"), jen.Id("key")).Op(":=").Range().Id("found")).Block(
				jen.Id("held").Index(jen.Id("key")).Op("=").True(),
			),
			jen.Var().Id("keys").Index().Id("Key"),
			jen.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("jobs")).Block(
				jen.If(jen.Op("!").Id("held").Index(jen.Id("job").Dot("Key").Call())).Block(
					jen.Id("keys").Op("=").Append(jen.Id("keys"), jen.Id("job").Dot("Key").Call()),
				),
			),
			jen.If(jen.Id("keys").Op("==").Nil()).Block(jen.Return(jen.Nil())),
			jen.Return(jen.Op("&").Id("LostError").Values(jen.Id("Op").Op(":").Id("op"), jen.Id("Keys").Op(":").Id("keys"))),
		))
}
