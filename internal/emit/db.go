package emit

// This file writes db.go: what a caller brings, the queue, its options, errors,
// and how statements are run.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
)

// dbFile writes db.go, less the unexported parts that addParts finds in use.
func (w *writer) dbFile() *code.File {
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
	return len(w.Settles()) > 0 || w.Offset != nil
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
func (w *writer) lostError(f *code.File) {
	decl(f, []string{"ErrLost is what an operation returns for a job whose claim is no longer the caller's: it expired and another worker holds or has finished it, or it was settled before."},
		code.Var().Id("ErrLost").Op("=").Add(w.newError("claim lost")))
	decl(f, []string{"LostError names the jobs whose claims were lost. What else the operation was given is done. It is an ErrLost."},
		code.Type().Id("LostError").Struct(
			code.Id("Op").String().Comment("complete, fail, …"),
			code.Id("Keys").Index().Id("Key"),
		))
	recv := func() *code.Statement { return code.Params(code.Id("e").Op("*").Id("LostError")) }
	decl(f, []string{"Error tells the operation and the keys."},
		code.Func().Add(recv()).Id("Error").Params().String().Block(
			code.Return(code.Qual("fmt", "Sprintf").Call(code.Lit(w.Name+": %s: claim lost: %v"), code.Id("e").Dot("Op"), code.Id("e").Dot("Keys"))),
		))
	decl(f, []string{"Unwrap returns ErrLost."},
		code.Func().Add(recv()).Id("Unwrap").Params().Error().Add(inline(code.Return(code.Id("ErrLost")))))
}

// dbtxType emits the interface of what runs statements.
func (w *writer) dbtxType(f *code.File) {
	if w.isPgx() {
		method := func(name string) *code.Statement {
			return code.Id(name).Params(ctxParam(), code.Id("sql").String(), code.Id("args").Op("...").Any())
		}
		decl(f, []string{"DBTX runs statements: a *pgxpool.Pool, a *pgx.Conn and a pgx.Tx do."},
			code.Type().Id("DBTX").InterfaceFunc(func(g *code.Group) {
				g.Add(method("Exec")).Params(code.Qual(pgconnPath, "CommandTag"), code.Error())
				g.Add(method("Query")).Params(code.Qual(pgxPath, "Rows"), code.Error())
				if w.batches() {
					g.Id("SendBatch").Params(ctxParam(), code.Id("b").Op("*").Qual(pgxPath, "Batch")).Qual(pgxPath, "BatchResults")
				}
			}))
		return
	}
	method := func(name string) *code.Statement {
		return code.Id(name).Params(ctxParam(), code.Id("query").String(), code.Id("args").Op("...").Any())
	}
	decl(f, []string{"DBTX runs statements: a *sql.DB, a *sql.Conn and a *sql.Tx do."},
		code.Type().Id("DBTX").Interface(
			method("ExecContext").Params(code.Qual("database/sql", "Result"), code.Error()),
			method("QueryContext").Params(code.Op("*").Qual("database/sql", "Rows"), code.Error()),
		))
}

// txType is the driver's transaction, txOptions what it takes to begin one.
func (w *writer) txType() *code.Statement {
	if w.isPgx() {
		return code.Qual(pgxPath, "Tx")
	}
	return code.Op("*").Qual("database/sql", "Tx")
}

// beginnerType emits
//
//	type beginner interface {
//		BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
//	}
func (w *writer) beginnerType(f *code.File) {
	options := code.Op("*").Qual("database/sql", "TxOptions")
	if w.isPgx() {
		options = code.Qual(pgxPath, "TxOptions")
	}
	decl(f, []string{"beginner is what can begin a transaction; a transaction cannot."},
		code.Type().Id("beginner").Interface(
			code.Id("BeginTx").Params(ctxParam(), code.Id("options").Add(options)).Params(w.txType(), code.Error()),
		))
}

// queueType emits the struct Queue.
func (w *writer) queueType(f *code.File) {
	what := "Queue takes jobs from " + w.tableName() + " and settles them"
	if w.Hold {
		what = "Queue adds jobs to " + w.tableName() + " and gives transactions in which they are taken"
	}
	decl(f, []string{what + ". It may be used by any number of goroutines at once."},
		code.Type().Id("Queue").StructFunc(func(g *code.Group) {
			g.Id("db").Id("DBTX")
			g.Id("begin").Id("beginner").Comment("nil in the caller's transaction")
			if w.Worker {
				g.Id("worker").Add(w.workerType())
			}
			if w.judgesWorker() {
				g.Id("wrong").Error().Comment("why it does nothing, nil for most")
			}
			if w.Offset != nil {
				g.Id("lease").Qual("time", "Duration")
			}
			if w.watches() {
				g.Id("horizon").Op("*").Id("horizon")
			}
			if w.hasLow() {
				g.Id("low").Op("*").Id("lowBound").Comment("nil in the caller's transaction")
			}
			if w.meetsOthers() {
				g.Id("crowd").Op("*").Id("crowd")
			}
			if w.sweepsFirst() {
				g.Id("works").Op("*").Id("works")
			}
			if w.required() != nil {
				g.Id("fits").Op("*").Qual("sync/atomic", "Bool").Comment("the database was asked, see checkFit")
			}
			if w.Tables != nil {
				g.Id("texts").Op("*").Id("texts")
			}
			g.Id("hook").Id("Hook")
		}))
}

// tableName is the table as comments say it.
func (w *writer) tableName() string { return oneLine(w.Table) }

// watches reports whether claims watch which transactions may add rows.
func (w *writer) watches() bool { return w.Offset != nil && w.Offset.Bound != nil }

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
func (w *writer) newFunc(f *code.File) {
	doc := []string{"New returns a queue over db. Given a transaction it works inside that: nothing is tried again and nothing is committed, see WithTx."}
	if w.isPgx() {
		doc[0] += " Do not give it a connection on which BEGIN was sent by hand."
	} else {
		doc[0] += " Do not give it a *sql.Conn on which BEGIN was sent by hand."
	}
	params, results := []*code.Statement{code.Id("db").Id("DBTX")}, []*code.Statement{code.Op("*").Id("Queue")}
	if w.Tables != nil {
		doc[0] += " An error says which part of tables can be no part of a name."
		params, results = append(params, code.Id("tables").Id("Tables")), append(results, code.Error())
	}
	decl(f, doc,
		code.Func().Id("New").Params(append(params, code.Id("options").Op("...").Id("Option"))...).Params(results...).BlockFunc(func(g *code.Group) {
			if w.Tables != nil {
				g.List(code.Id("texts"), code.Err()).Op(":=").Id("tables").Dot("texts").Call()
				g.If(code.Err().Op("!=").Nil()).Block(code.Return(code.Nil(), w.errorf("new: %w", code.Err())))
			}
			g.Id("q").Op(":=").Op("&").Id("Queue").ValuesFunc(func(g *code.Group) {
				g.Id("db").Op(":").Id("db")
				switch {
				case w.needsName():
					g.Id("wrong").Op(":").Id("errUnnamed")
				case w.Worker && w.mostWorker() == 0:
					g.Id("worker").Op(":").Id("defaultWorker").Call()
				}
				if w.Offset != nil {
					g.Id("lease").Op(":").Add(durationExpr(w.Offset.Lease))
				}
				if w.watches() {
					g.Id("horizon").Op(":").New(code.Id("horizon"))
				}
				if w.meetsOthers() {
					g.Id("crowd").Op(":").New(code.Id("crowd"))
				}
				if w.sweepsFirst() {
					g.Id("works").Op(":").Op("&").Id("works").Values(code.Id("turn").Op(":").Make(code.Chan().Struct(), code.Lit(1)))
				}
				if w.required() != nil {
					g.Id("fits").Op(":").New(code.Qual("sync/atomic", "Bool"))
				}
				if w.Tables != nil {
					g.Id("texts").Op(":").Id("texts")
				}
				g.Id("hook").Op(":").Id("noHook").Values()
			})
			if w.mostWorker() > 0 && !w.needsName() {
				g.Id("WithWorker").Call(code.Id("defaultWorker").Call()).Call(code.Id("q")).Comment("which looks whether there is room for it")
			}
			g.If(code.List(code.Id("begin"), code.Id("ok")).Op(":=").Id("db").Assert(code.Id("beginner")), code.Id("ok")).BlockFunc(func(g *code.Group) {
				g.Id("q").Dot("begin").Op("=").Id("begin")
				if w.hasLow() {
					g.Id("q").Dot("low").Op("=").Op("&").Id("lowBound").Values(code.Id("key").Op(":").Id("lowest"))
				}
			})
			g.For(code.List(code.Id("_"), code.Id("option")).Op(":=").Range().Id("options")).Block(
				code.Id("option").Call(code.Id("q")),
			)
			if w.Tables != nil {
				g.Return(code.Id("q"), code.Nil())
				return
			}
			g.Return(code.Id("q"))
		}))
}

// withTxMethod emits WithTx and, where claims live in transactions, Tx.
func (w *writer) withTxMethod(f *code.File) {
	param := code.Id("tx").Add(w.txType())
	join := func(g *code.Group) {
		g.Id("joined").Op(":=").Op("*").Id("q")
		if w.hasLow() {
			g.List(code.Id("joined").Dot("db"), code.Id("joined").Dot("begin"), code.Id("joined").Dot("low")).Op("=").List(code.Id("tx"), code.Nil(), code.Nil())
		} else {
			g.List(code.Id("joined").Dot("db"), code.Id("joined").Dot("begin")).Op("=").List(code.Id("tx"), code.Nil())
		}
	}
	if !w.Hold {
		decl(f, []string{"WithTx returns the queue as part of the caller's transaction: what it does happens when tx commits. It never tries again by itself; an error for which IsRetryable is true asks to run the whole transaction again."},
			code.Func().Add(queueReceiver()).Id("WithTx").Params(param).Op("*").Id("Queue").BlockFunc(func(g *code.Group) {
				join(g)
				g.Return(code.Op("&").Id("joined"))
			}))
		return
	}
	decl(f, []string{"Tx takes jobs within one transaction. The row locks of the transaction are the claims: a commit keeps what was settled and frees the rest, a rollback or a crash gives every job back. It is for one goroutine at a time."},
		code.Type().Id("Tx").Struct(
			code.Id("queue").Op("*").Id("Queue"),
			code.Id("held").Index().Id("Key").Comment("every job taken by it, so that none is taken twice"),
		))
	decl(f, []string{"WithTx returns the claims of the caller's transaction. Nothing is tried again and nothing is committed; an error for which IsRetryable is true asks to run the whole transaction again. To add jobs within a transaction, use New(tx)."},
		code.Func().Add(queueReceiver()).Id("WithTx").Params(param).Op("*").Id("Tx").BlockFunc(func(g *code.Group) {
			join(g)
			g.Return(code.Op("&").Id("Tx").Values(code.Id("queue").Op(":").Op("&").Id("joined")))
		}))
}

// options emits Option, WithWorker and WithHook.
func (w *writer) options(f *code.File) {
	decl(f, []string{"Option changes how a queue works."},
		code.Type().Id("Option").Func().Params(code.Op("*").Id("Queue")))
	option := func(name, param string, typ *code.Statement, then ...*code.Statement) *code.Statement {
		return code.Func().Id(name).Params(code.Id(param).Add(typ)).Id("Option").Block(
			code.Return(code.Func().Params(code.Id("q").Op("*").Id("Queue")).Block(
				append([]*code.Statement{code.Id("q").Dot(param).Op("=").Id(param)}, then...)...,
			)))
	}
	if w.needsName() {
		decl(f, []string{"errUnnamed is the error of a queue whose worker has no name."},
			code.Var().Id("errUnnamed").Op("=").Qual("errors", "New").Call(code.Lit("the worker has no name: Recover gives back by it what the worker has left, so WithWorker has to say one that is the same when it starts again")))
	}
	if w.Worker {
		decl(f, []string{w.workerOption()},
			option("WithWorker", "worker", w.workerType(), w.wrongWorker()...))
	}
	if w.Offset != nil {
		decl(f, []string{"WithLease says how long a claim is good, unless it is extended. Without it, that is " + durationText(w.Offset.Lease) + "."},
			option("WithLease", "lease", code.Qual("time", "Duration")))
	}
	decl(f, []string{"WithHook has hook watch every operation."}, option("WithHook", "hook", code.Id("Hook")))
}

// needsName reports whether the worker has to be named: Recover goes by what it was called
// before, which no name that is made up anew would be.
func (w *writer) needsName() bool { return w.Worker && w.Recover != nil && w.Recover.Own }

// wrongWorker emits, where names of workers are limited, or there are some that say something
// else of a row,
//
//	q.wrong = nil
//	if n := utf8.RuneCountInString(worker); n > 40 {
//		q.wrong = fmt.Errorf("the worker %q has %d characters, and there is room for 40: WithWorker names another", worker, n)
//	}
//	if worker == "" {
//		q.wrong = errors.New(`the worker is "", which a row holds that nobody has`)
//	}
func (w *writer) wrongWorker() []*code.Statement {
	if !w.judgesWorker() {
		return nil
	}
	wrong := code.Id("q").Dot("wrong")
	list := []*code.Statement{wrong.Clone().Op("=").Nil()}
	if w.needsName() && w.workerKind() != "number" {
		list = append(list, code.If(code.Id("worker").Op("==").Lit("")).Block(wrong.Clone().Op("=").Id("errUnnamed")))
	}
	if most := w.mostWorker(); most > 0 {
		list = append(list, code.If(code.Id("n").Op(":=").Qual("unicode/utf8", "RuneCountInString").Call(code.Id("worker")), code.Id("n").Op(">").Lit(most)).Block(
			wrong.Clone().Op("=").Qual("fmt", "Errorf").Call(code.Lit(fmt.Sprintf("the worker %%q has %%d characters, and there is room for %d: WithWorker names another", most)), code.Id("worker"), code.Id("n")),
		))
	}
	arg := w.workerArg().Field
	for _, no := range w.NoWorkers {
		value := code.Lit(no.Value)
		if arg != nil && arg.GoType != "string" {
			value = code.Op(no.Value)
		}
		why := "which says of a row that it is " + string(no.State)
		switch no.State {
		case "":
			why = "which a row holds that nobody has"
		case queue.Stray:
			why = "which says of no row that somebody has it"
		}
		list = append(list, code.If(code.Id("worker").Op("==").Add(value)).Block(
			wrong.Clone().Op("=").Qual("errors", "New").Call(code.Lit(fmt.Sprintf("the worker is %q, %s", no.Value, why))),
		))
	}
	limit := func(op string, n *int64, words string) {
		if n == nil || arg == nil || w.workerKind() != "number" {
			return
		}
		number := code.Id("worker")
		condition := number.Clone().Op(op).Op(strconv.FormatInt(*n, 10))
		if arg.GoType == "string" {
			condition = code.List(code.Id("n"), code.Err()).Op(":=").Qual("strconv", "ParseInt").Call(number, code.Lit(10), code.Lit(64)).
				Op(";").Err().Op("==").Nil().Op("&&").Id("n").Op(op).Op(strconv.FormatInt(*n, 10))
		}
		list = append(list, code.If(condition).Block(
			wrong.Clone().Op("=").Qual("fmt", "Errorf").Call(code.Lit(fmt.Sprintf("the worker is %%v, and of a row that somebody has it is %s %d", words, *n)), code.Id("worker")),
		))
	}
	limit("<", w.LeastWorker, "at least")
	limit(">", w.MostWorker, "at most")
	return list
}

// ownNumbers tells which numbers workers have that are not told theirs: so many from first on, 0
// for as many as there are.
func (w *writer) ownNumbers() (first, many int64) {
	end := int64(math.MaxInt32)
	most := w.workerArg().Max
	if most > 0 {
		end = int64(most)
	}
	last := end
	if w.MostWorker != nil {
		last = min(last, *w.MostWorker)
	}
	if w.LeastWorker != nil {
		first = max(first, *w.LeastWorker)
	}
	taken := []int64{last + 1}
	for _, no := range w.NoWorkers {
		if n, err := strconv.ParseInt(no.Value, 10, 64); err == nil && n >= first && n <= last {
			taken = append(taken, n)
		}
	}
	slices.Sort(taken)
	// The widest gap between numbers that mean something else.
	from, start := first, first
	for _, n := range taken {
		if n-start > many {
			from, many = start, n-start
		}
		start = n + 1
	}
	if most == 0 && from+many > end {
		many = 0
	}
	return from, many
}

// judgesWorker reports whether there are workers that a queue refuses.
func (w *writer) judgesWorker() bool {
	return w.mostWorker() > 0 || w.needsName() || w.Worker && (len(w.NoWorkers) > 0 || w.LeastWorker != nil || w.MostWorker != nil)
}

// workerArg is the argument that carries the worker, with the least Max of all that do.
func (w *writer) workerArg() plan.Arg {
	var found plan.Arg
	for _, s := range w.Statements() {
		for _, a := range s.Args {
			switch {
			case a.Kind != plan.ArgWorker:
			case found.Kind == "":
				found = a
			case a.Max > 0 && (found.Max == 0 || a.Max < found.Max):
				found.Max = a.Max
			}
		}
	}
	return found
}

// workerType is the Go type of the worker.
func (w *writer) workerType() *code.Statement {
	if f := w.workerArg().Field; f != nil {
		return w.goType(f.GoType)
	}
	return code.String()
}

// workerKind tells a worker that is a name, a number or a uuid.
func (w *writer) workerKind() string {
	switch f := w.workerArg().Field; {
	case f == nil:
	case f.UUID:
		return "uuid"
	case f.GoType != "string" || f.Digits:
		return "number"
	}
	return "name"
}

// mostWorker is how many characters the name of a worker may have, 0 for any number.
func (w *writer) mostWorker() int {
	if !w.Worker || w.workerKind() != "name" {
		return 0
	}
	return w.workerArg().Max
}

// workerOption says what WithWorker does.
func (w *writer) workerOption() string {
	most := w.workerArg().Max
	text := "WithWorker names the worker that claims record. "
	if w.Workers != "" {
		text += "Every worker needs it: it is the id of its row in " + oneLine(w.Workers) + ", and what claims record without it is none. "
		if w.workerKind() == "name" && most > 0 {
			text += fmt.Sprintf("With one of more than %d characters, for which there is no room, every operation but Enqueue returns an error. ", most)
		}
		return strings.TrimSpace(text)
	}
	if w.needsName() {
		what := "name"
		if kind := w.workerKind(); kind != "name" {
			what = kind
		}
		text += "Every worker needs it, a " + what + " that no other has and that is the same when the worker starts again: Recover gives back what is marked with it. "
		if w.workerKind() == "name" && most > 0 {
			text += fmt.Sprintf("It has at most %d characters, which is what there is room for. ", most)
		}
		return text + "Without it, and with one that cannot be, every operation but Enqueue returns an error."
	}
	if w.LeastWorker != nil || w.MostWorker != nil || slices.ContainsFunc(w.NoWorkers, func(v queue.StatusValue) bool { return v.State != "" }) {
		text += "With one by which a row is not theirs every operation but Enqueue returns an error. "
	}
	switch kind := w.workerKind(); {
	case kind == "uuid":
		return text + "It is a UUID; without it each queue has a random one."
	case kind == "number":
		own, shared := w.ownNumber()
		text += "Without it they record " + own
		if shared {
			text += ", which two workers may have in common: give each a number of its own"
		}
		return text + "."
	case most > 0:
		return text + fmt.Sprintf("It has at most %d characters, which is what there is room for: with a longer one every operation but Enqueue returns an error. Without it claims record host name and process id, which may be too long as well.", most)
	}
	return text + "Without it they record host name and process id."
}

// ownNumber says what number workers have that are not told theirs, and whether two may have the
// same.
func (w *writer) ownNumber() (text string, shared bool) {
	first, many := w.ownNumbers()
	text = "the process id"
	if many > 0 {
		text += fmt.Sprintf(" modulo %d", many)
	}
	switch {
	case first == 1 && many > 0:
		text = "one more than " + text
	case first > 1:
		text = fmt.Sprintf("%d more than ", first) + text
	}
	return text, many > 0
}

// defaultWorkerFunc emits
//
//	func defaultWorker() string {
//		host, err := os.Hostname()
//		if err != nil {
//			host = "unknown"
//		}
//		return host + ":" + strconv.Itoa(os.Getpid())
//	}
func (w *writer) defaultWorkerFunc(f *code.File) {
	pid := code.Qual("os", "Getpid").Call()
	function := func(doc string, body ...*code.Statement) {
		decl(f, []string{doc}, code.Func().Id("defaultWorker").Params().Add(w.workerType()).Block(body...))
	}
	switch w.workerKind() {
	case "uuid":
		function("defaultWorker is a random UUID, version 4.", uuidBody()...)
		return
	case "number":
		own, _ := w.ownNumber()
		doc := "defaultWorker is " + own
		first, many := w.ownNumbers()
		if many > 0 {
			pid.Op("%").Lit(int(many))
		}
		if first > 0 && (many > 0 || first > 1) {
			pid = code.Lit(int(first)).Op("+").Add(pid)
			doc += ": other numbers mean something else"
			if len(w.NoWorkers) == 1 && w.NoWorkers[0] == (queue.StatusValue{Value: "0"}) && first == 1 {
				doc = strings.TrimSuffix(doc, "other numbers mean something else") + "0 says that nobody has a row"
			}
		}
		doc += "."
		if w.workerArg().Field.GoType == "string" {
			function(doc, code.Return(code.Qual("strconv", "Itoa").Call(pid)))
			return
		}
		function(doc, code.Return(w.workerType().Call(pid)))
		return
	}
	decl(f, []string{"defaultWorker is host name and process id."},
		code.Func().Id("defaultWorker").Params().String().BlockFunc(func(g *code.Group) {
			g.List(code.Id("host"), code.Err()).Op(":=").Qual("os", "Hostname").Call()
			g.If(code.Err().Op("!=").Nil()).Block(code.Id("host").Op("=").Lit("unknown"))
			g.Return(code.Id("host").Op("+").Lit(":").Op("+").Qual("strconv", "Itoa").Call(pid))
		}))
}

// hookType emits Hook and the hook of a queue that has none.
func (w *writer) hookType(f *code.File) {
	recv := code.Params(code.Id("noHook"))
	before := code.Id("Before").Params(ctxParam(), code.Id("op").String()).Qual("context", "Context")
	after := code.Id("After").Params(ctxParam(), code.Id("op").String(), code.Id("rows").Int(), code.Err().Error())
	decl(f, []string{"Hook watches operations; logs, traces and metrics are made with it."},
		code.Type().Id("Hook").Interface(
			code.Comment("Before is called when an operation starts and returns the context for it."),
			before,
			code.Comment("After is called when it has ended, with the number of rows it took, changed"),
			code.Comment("or added."),
			after,
		))
	decl(f, []string{"noHook is the hook of a queue that has none."},
		code.Type().Id("noHook").Struct())
	f.Line()
	f.Func().Add(recv.Clone()).Id("Before").Params(ctxParam(), code.Id("_").String()).Qual("context", "Context").Add(inline(code.Return(code.Id("ctx"))))
	f.Line()
	f.Func().Add(recv.Clone()).Id("After").Params(code.Qual("context", "Context"), code.String(), code.Int(), code.Error()).Block()
}

// isRetryableFunc emits
//
//	func IsRetryable(err error) bool { return rolledBack(err) || unknown(err) }
func (w *writer) isRetryableFunc(f *code.File) {
	decl(f, []string{"IsRetryable reports whether the same work may be tried again: the database undid it because of other work, or the connection broke before the answer came. In the latter case it may have been done all the same."},
		code.Func().Id("IsRetryable").Params(code.Err().Error()).Bool().Add(
			inline(code.Return(code.Id("rolledBack").Call(code.Err()).Op("||").Id("unknown").Call(code.Err())))))
}

// rolledBackFunc emits
//
//	func rolledBack(err error) bool {
//		return hasState(err, "40001", "40P01") || hasCode(err, 5)
//	}
func (w *writer) rolledBackFunc(f *code.File) {
	var tests []*code.Statement
	tests = append(tests, test("hasState", w.Transient.RolledBack)...)
	tests = append(tests, test("hasCode", w.Transient.Codes)...)
	tests = append(tests, test("hasText", w.Transient.Messages)...)
	tests = append(tests, test("hasNumber", w.Transient.Numbers)...)
	if len(tests) == 0 {
		w.fail("no error is known after which work may be tried again")
		return
	}
	decl(f, []string{"rolledBack reports whether err surely left nothing behind and may not come again."},
		code.Func().Id("rolledBack").Params(code.Err().Error()).Bool().Block(code.Return(anyOf(tests))))
}

// unknownFunc emits
//
//	func unknown(err error) bool {
//		var broken *net.OpError
//		return errors.As(err, &broken) || errors.Is(err, driver.ErrBadConn) || … || hasState(err, "08")
//	}
//
// What pgx calls safe to retry belongs here: it also says so of a COMMIT whose
// answer was lost.
func (w *writer) unknownFunc(f *code.File) {
	is := func(pkg, name string) *code.Statement {
		return code.Qual("errors", "Is").Call(code.Err(), code.Qual(pkg, name))
	}
	tests := []*code.Statement{code.Qual("errors", "As").Call(code.Err(), code.Op("&").Id("broken"))}
	if w.isPgx() {
		tests = append(tests, code.Qual(pgconnPath, "SafeToRetry").Call(code.Err()))
	} else {
		tests = append(tests, is("database/sql/driver", "ErrBadConn"))
		tests = append(tests, test("hasText", w.Transient.LostMessages)...)
	}
	tests = append(tests, is("io", "EOF"), is("io", "ErrUnexpectedEOF"))
	tests = append(tests, test("hasState", w.Transient.Unknown)...)
	tests = append(tests, test("hasNumber", w.Transient.LostNumbers)...)
	if e := w.Transient.Error; e.Lost != "" {
		tests = append(tests, is(e.Import, e.Lost))
	}
	decl(f, []string{"unknown reports whether the connection is gone, and with it the answer."},
		code.Func().Id("unknown").Params(code.Err().Error()).Bool().Block(
			code.Var().Id("broken").Op("*").Qual("net", "OpError"),
			code.Return(anyOf(tests)),
		))
}

// test is name(err, values…), nothing when there are no values.
func test[T any](name string, values []T) []*code.Statement {
	if len(values) == 0 {
		return nil
	}
	return []*code.Statement{code.Id(name).CallFunc(func(g *code.Group) {
		g.Err()
		for _, v := range values {
			g.Lit(v)
		}
	})}
}

// anyOf joins tests with ||, one a line when they are many.
func anyOf(tests []*code.Statement) *code.Statement {
	s := code.Add(tests[0])
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
func (w *writer) hasStateFunc(f *code.File) {
	decl(f, []string{"hasState reports whether err has one of the SQLSTATEs, or is of one of the classes."},
		code.Func().Id("hasState").Params(code.Err().Error(), code.Id("states").Op("...").String()).Bool().Block(
			code.Var().Id("e").Interface(code.Id("SQLState").Params().String()),
			code.If(code.Op("!").Qual("errors", "As").Call(code.Err(), code.Op("&").Id("e"))).Block(code.Return(code.False())),
			code.Return(code.Qual("slices", "ContainsFunc").Call(code.Id("states"), code.Func().Params(code.Id("state").String()).Bool().Block(
				code.Return(code.Qual("strings", "HasPrefix").Call(code.Id("e").Dot("SQLState").Call(), code.Id("state"))),
			))),
		))
}

// hasCodeFunc emits
//
//	func hasCode(err error, codes ...int) bool {
//		var e interface{ Code() int }
//		return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff)
//	}
func (w *writer) hasCodeFunc(f *code.File) {
	decl(f, []string{"hasCode reports whether err has one of the driver's codes; the low byte counts, the rest tells details."},
		code.Func().Id("hasCode").Params(code.Err().Error(), code.Id("codes").Op("...").Int()).Bool().Block(
			code.Var().Id("e").Interface(code.Id("Code").Params().Int()),
			code.Return(code.Qual("errors", "As").Call(code.Err(), code.Op("&").Id("e")).Op("&&").
				Qual("slices", "Contains").Call(code.Id("codes"), code.Id("e").Dot("Code").Call().Op("&").Id("0xff"))),
		))
}

// hasTextFunc emits
//
//	func hasText(err error, parts ...string) bool {
//		return err != nil && slices.ContainsFunc(parts, func(part string) bool {
//			return strings.Contains(err.Error(), part)
//		})
//	}
func (w *writer) hasTextFunc(f *code.File) {
	decl(f, []string{"hasText reports whether err says one of the parts, for drivers whose errors have no codes."},
		code.Func().Id("hasText").Params(code.Err().Error(), code.Id("parts").Op("...").String()).Bool().Block(
			code.Return(code.Err().Op("!=").Nil().Op("&&").Qual("slices", "ContainsFunc").Call(code.Id("parts"), code.Func().Params(code.Id("part").String()).Bool().Block(
				code.Return(code.Qual("strings", "Contains").Call(code.Err().Dot("Error").Call(), code.Id("part"))),
			))),
		))
}

// hasNumberFunc emits
//
//	func hasNumber(err error, numbers ...uint16) bool {
//		var e *mysql.MySQLError
//		return errors.As(err, &e) && slices.Contains(numbers, e.Number)
//	}
func (w *writer) hasNumberFunc(f *code.File) {
	own := w.Transient.Error
	told, number := code.Var().Id("e").Op("*").Qual(own.Import, own.Type), code.Id("e").Dot(own.Field)
	if own.Method != "" {
		told, number = code.Var().Id("e").Interface(code.Id(own.Method).Params().Id(own.NumberType)), code.Id("e").Dot(own.Method).Call()
	}
	decl(f, []string{"hasNumber reports whether err is one of the server's errors."},
		code.Func().Id("hasNumber").Params(code.Err().Error(), code.Id("numbers").Op("...").Id(own.NumberType)).Bool().Block(
			told,
			code.Return(code.Qual("errors", "As").Call(code.Err(), code.Op("&").Id("e")).Op("&&").
				Qual("slices", "Contains").Call(code.Id("numbers"), number)),
		))
}

// tryFunc is the type of what retry and transact run.
func tryFunc() *code.Statement {
	return code.Id("fn").Func().Params(code.Id("db").Id("DBTX")).Error()
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
//
// Where something is required of the database, it first sees to that in the caller's
// transaction.
func (w *writer) retryMethod(f *code.File) {
	tries, often := cmp.Or(w.Tries, 5), "five"
	if w.Tries != 0 {
		often = strconv.Itoa(w.Tries)
	}
	decl(f, []string{"retry runs fn, and again while its error surely left nothing behind, " + often + " times at most. In the caller's transaction it runs it once."},
		code.Func().Add(queueReceiver()).Id("retry").Params(ctxParam(), code.Id("op").String(), tryFunc()).Error().BlockFunc(func(g *code.Group) {
			wrapped := code.Return(w.errorf("%s: %w", code.Id("op"), code.Err()))
			if w.judgesWorker() {
				g.If(code.Id("q").Dot("wrong").Op("!=").Nil().Op("&&").Id("op").Op("!=").Lit("enqueue")).Block(code.Return(w.errorf("%s: %w", code.Id("op"), code.Id("q").Dot("wrong"))))
			}
			if w.required() != nil {
				g.If(code.Id("q").Dot("begin").Op("==").Nil()).Block(
					code.If(code.Err().Op(":=").Id("q").Dot("checkFit").Call(code.Id("ctx"), code.Id("q").Dot("db")), code.Err().Op("!=").Nil()).Block(wrapped),
				)
			}
			g.Err().Op(":=").Id("fn").Call(code.Id("q").Dot("db"))
			g.For(code.Id("try").Op(":=").Lit(1),
				code.Id("try").Op("<").Lit(tries).Op("&&").Id("q").Dot("begin").Op("!=").Nil().Op("&&").Id("rolledBack").Call(code.Err()),
				code.Id("try").Op("++")).Block(
				code.If(code.Id("pause").Call(code.Id("ctx"), code.Id("try")).Op("!=").Nil()).Block(
					code.Break().Comment("err says more than that time is up"),
				),
				code.Err().Op("=").Id("fn").Call(code.Id("q").Dot("db")),
			)
			g.If(code.Err().Op("!=").Nil()).Block(wrapped)
			g.Return(code.Nil())
		}))
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
func (w *writer) pauseFunc(f *code.File) {
	decl(f, []string{"pause waits before another try: 5 ms and up to as much again, doubled with every try."},
		code.Func().Id("pause").Params(ctxParam(), code.Id("try").Int()).Error().Block(
			code.Id("wait").Op(":=").Lit(5).Op("*").Qual("time", "Millisecond").Op("<<").Parens(code.Id("try").Op("-").Lit(1)),
			code.Id("timer").Op(":=").Qual("time", "NewTimer").Call(code.Id("wait").Op("+").Qual(mathRand, "N").Call(code.Id("wait"))),
			code.Defer().Id("timer").Dot("Stop").Call(),
			code.Select().Block(
				code.Case(code.Op("<-").Id("ctx").Dot("Done").Call()).Block(code.Return(code.Id("ctx").Dot("Err").Call())),
				code.Case(code.Op("<-").Id("timer").Dot("C")).Block(code.Return(code.Nil())),
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
func (w *writer) transactMethod(f *code.File) { w.transactAt(f, "transact", w.Isolation) }

// repeatMethod emits the same at REPEATABLE READ.
func (w *writer) repeatMethod(f *code.File) { w.transactAt(f, "transactRepeatable", "repeatable read") }

// transactAt emits transact, or what does the same at another level.
func (w *writer) transactAt(f *code.File, name, level string) {
	var args []*code.Statement
	if w.isPgx() {
		args = append(args, code.Id("ctx"))
	}
	doc := name + " is retry with fn in a transaction of its own, or in the caller's."
	if level != "" {
		doc = name + " is retry with fn in a " + strings.ToUpper(level) + " transaction of its own, or in the caller's."
	}
	decl(f, []string{doc},
		code.Func().Add(queueReceiver()).Id(name).Params(ctxParam(), code.Id("op").String(), tryFunc()).Error().Block(
			code.Return(code.Id("q").Dot("retry").Call(code.Id("ctx"), code.Id("op"), code.Func().Params(code.Id("db").Id("DBTX")).Error().BlockFunc(func(g *code.Group) {
				g.If(code.Id("q").Dot("begin").Op("==").Nil()).Block(code.Return(code.Id("fn").Call(code.Id("db"))))
				g.List(code.Id("tx"), code.Err()).Op(":=").Id("q").Dot("begin").Dot("BeginTx").Call(code.Id("ctx"), w.txOptions(level))
				g.Add(ifErr())
				g.Defer().Func().Params().Add(inline(code.Id("_").Op("=").Id("tx").Dot("Rollback").Call(args...))).Call().Comment("after a commit it does nothing")
				if w.required() != nil {
					g.Add(ifAssign(code.Err().Op(":=").Id("q").Dot("checkFit").Call(code.Id("ctx"), code.Id("tx"))))
				}
				g.Add(ifAssign(code.Err().Op(":=").Id("fn").Call(code.Id("tx"))))
				g.Return(code.Id("tx").Dot("Commit").Call(args...))
			}))),
		))
}

// txOptions are the options with which the package begins a transaction:
//
//	&sql.TxOptions{Isolation: sql.LevelReadCommitted}
func (w *writer) txOptions(level string) *code.Statement {
	name, ok := map[string]string{"": "", "read committed": "ReadCommitted", "repeatable read": "RepeatableRead"}[level]
	if !ok {
		w.fail("isolation level %q is not known", level)
	}
	switch {
	case w.isPgx() && level == "":
		return code.Qual(pgxPath, "TxOptions").Values()
	case w.isPgx():
		return code.Qual(pgxPath, "TxOptions").Values(code.Id("IsoLevel").Op(":").Qual(pgxPath, name))
	case level == "":
		return code.Nil()
	}
	return code.Op("&").Qual("database/sql", "TxOptions").Values(code.Id("Isolation").Op(":").Qual("database/sql", "Level"+name))
}

// rowType emits
//
//	type row interface {
//		Scan(dest ...any) error
//	}
func (w *writer) rowType(f *code.File) {
	decl(f, []string{"row is one row of a result."},
		code.Type().Id("row").Interface(code.Id("Scan").Params(code.Id("dest").Op("...").Any()).Error()))
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
func (w *writer) queryFunc(f *code.File) {
	method := "QueryContext"
	if w.isPgx() {
		method = "Query"
	}
	decl(f, []string{"query runs a statement and scans its rows."},
		code.Func().Id("query").Types(code.Id("T").Any()).Params(
			ctxParam(), code.Id("db").Id("DBTX"), scanParam(), code.Id("text").String(), code.Id("args").Op("...").Any(),
		).Params(code.Index().Id("T"), code.Error()).BlockFunc(func(g *code.Group) {
			w.expanded(g)
			g.List(code.Id("rows"), code.Err()).Op(":=").Id("db").Dot(method).Call(code.Id("ctx"), code.Id("text"), code.Id("args").Op("..."))
			g.Add(ifErr(code.Nil()))
			g.Return(code.Id("collect").Call(code.Id("rows"), code.Id("scan")))
		}))
}

// queryCursorFunc emits
//
//	func queryCursor[T any](ctx context.Context, db DBTX, scan func(row) (T, error), text string, args ...any) ([]T, error) {
//		var cursor go_ora.RefCursor
//		if _, err := db.ExecContext(ctx, text, append(args, sql.Out{Dest: &cursor})...); err != nil {
//			return nil, err
//		}
//		rows, err := go_ora.WrapRefCursor(ctx, db, &cursor)
//		if err != nil {
//			return nil, err
//		}
//		return collect(rows, scan)
//	}
func (w *writer) queryCursorFunc(f *code.File) {
	decl(f, []string{"queryCursor runs a block and scans the rows of the cursor that it opens for the last of its arguments. It wants a transaction, since both happen on one connection."},
		code.Func().Id("queryCursor").Types(code.Id("T").Any()).Params(
			ctxParam(), code.Id("db").Id("DBTX"), scanParam(), code.Id("text").String(), code.Id("args").Op("...").Any(),
		).Params(code.Index().Id("T"), code.Error()).BlockFunc(func(g *code.Group) {
			w.expanded(g)
			g.Var().Id("cursor").Qual(goOraPath, "RefCursor")
			g.Add(ifAssign(code.List(code.Id("_"), code.Err()).Op(":=").Add(execOut("cursor")), code.Nil()))
			g.List(code.Id("rows"), code.Err()).Op(":=").Qual(goOraPath, "WrapRefCursor").Call(code.Id("ctx"), code.Id("db"), code.Op("&").Id("cursor"))
			g.Add(ifErr(code.Nil()))
			g.Return(code.Id("collect").Call(code.Id("rows"), code.Id("scan")))
		}))
}

// execOut is db.ExecContext(ctx, text, append(args, sql.Out{Dest: &name})...).
func execOut(name string) *code.Statement {
	return code.Id("db").Dot("ExecContext").Call(code.Id("ctx"), code.Id("text"),
		code.Id("append").Call(code.Id("args"), code.Qual("database/sql", "Out").Values(code.Id("Dest").Op(":").Op("&").Id(name))).Op("..."))
}

// changedFunc emits
//
//	func changed[S any](ctx context.Context, db DBTX, jobs []S, text string, args ...any) ([]S, error) {
//		counts := make([]int64, len(jobs))
//		if _, err := db.ExecContext(ctx, text, append(args, sql.Out{Dest: &counts})...); err != nil {
//			return nil, err
//		}
//		var all []S
//		for i, job := range jobs {
//			if i < len(counts) && counts[i] > 0 {
//				all = append(all, job)
//			}
//		}
//		return all, nil
//	}
func (w *writer) changedFunc(f *code.File) {
	decl(f, []string{"changed runs a block over jobs and returns those whose rows it changed. The block counts the rows of each job for the last of its arguments."},
		code.Func().Id("changed").Types(code.Id("S").Any()).Params(
			ctxParam(), code.Id("db").Id("DBTX"), code.Id("jobs").Index().Id("S"), code.Id("text").String(), code.Id("args").Op("...").Any(),
		).Params(code.Index().Id("S"), code.Error()).Block(
			code.Id("counts").Op(":=").Make(code.Index().Int64(), code.Len(code.Id("jobs"))),
			ifAssign(code.List(code.Id("_"), code.Err()).Op(":=").Add(execOut("counts")), code.Nil()),
			code.Var().Id("all").Index().Id("S"),
			code.For(code.List(code.Id("i"), code.Id("job")).Op(":=").Range().Id("jobs")).Block(
				code.If(code.Id("i").Op("<").Len(code.Id("counts")).Op("&&").Id("counts").Index(code.Id("i")).Op(">").Lit(0)).Block(
					code.Id("all").Op("=").Append(code.Id("all"), code.Id("job")),
				),
			),
			code.Return(code.Id("all"), code.Nil()),
		))
}

// scanParam is the parameter that reads one row.
func scanParam() *code.Statement {
	return code.Id("scan").Func().Params(code.Id("row")).Params(code.Id("T"), code.Error())
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
func (w *writer) collectFunc(f *code.File) {
	typ := code.Op("*").Qual("database/sql", "Rows")
	closing := code.Defer().Func().Params().Add(inline(code.Id("_").Op("=").Id("rows").Dot("Close").Call())).Call().Comment("rows.Err tells what went wrong")
	if w.isPgx() {
		typ = code.Qual(pgxPath, "Rows")
		closing = code.Defer().Id("rows").Dot("Close").Call()
	}
	decl(f, []string{"collect scans all rows and closes them."},
		code.Func().Id("collect").Types(code.Id("T").Any()).Params(code.Id("rows").Add(typ), scanParam()).Params(code.Index().Id("T"), code.Error()).Block(
			closing,
			code.Var().Id("all").Index().Id("T"),
			code.For(code.Id("rows").Dot("Next").Call()).Block(
				code.List(code.Id("one"), code.Err()).Op(":=").Id("scan").Call(code.Id("rows")),
				ifErr(code.Nil()),
				code.Id("all").Op("=").Append(code.Id("all"), code.Id("one")),
			),
			ifAssign(code.Err().Op(":=").Id("rows").Dot("Err").Call(), code.Nil()),
			code.Return(code.Id("all"), code.Nil()),
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
func (w *writer) execFunc(f *code.File) {
	decl(f, []string{"exec runs a statement and returns the number of rows it touched."},
		code.Func().Id("exec").Params(
			ctxParam(), code.Id("db").Id("DBTX"), code.Id("text").String(), code.Id("args").Op("...").Any(),
		).Params(code.Int(), code.Error()).BlockFunc(func(g *code.Group) {
			w.expanded(g)
			call := []*code.Statement{code.Id("ctx"), code.Id("text"), code.Id("args").Op("...")}
			if w.isPgx() {
				g.List(code.Id("tag"), code.Err()).Op(":=").Id("db").Dot("Exec").Call(call...)
				g.Return(code.Int().Call(code.Id("tag").Dot("RowsAffected").Call()), code.Err())
				return
			}
			g.List(code.Id("result"), code.Err()).Op(":=").Id("db").Dot("ExecContext").Call(call...)
			g.Add(ifErr(code.Lit(0)))
			g.List(code.Id("n"), code.Err()).Op(":=").Id("result").Dot("RowsAffected").Call()
			g.Return(code.Int().Call(code.Id("n")), code.Err())
		}))
}

// insertFunc emits
//
//	func insert(ctx context.Context, db DBTX, text string, args ...any) (int64, error) {
//		result, err := db.ExecContext(ctx, text, args...)
//		if err != nil {
//			return 0, err
//		}
//		return result.LastInsertId()
//	}
func (w *writer) insertFunc(f *code.File) {
	if slices.ContainsFunc(w.Statements(), func(s *plan.Statement) bool { return s.Has(plan.ArgNewKey) }) {
		w.insertOutFunc(f)
		return
	}
	doc := "insert adds a row and returns the number that the database gave it."
	if w.Enqueue != nil && w.Enqueue.Step != nil {
		doc = "insert adds rows and returns the number that the database gave the first."
	}
	decl(f, []string{doc},
		code.Func().Id("insert").Params(
			ctxParam(), code.Id("db").Id("DBTX"), code.Id("text").String(), code.Id("args").Op("...").Any(),
		).Params(code.Int64(), code.Error()).BlockFunc(func(g *code.Group) {
			w.expanded(g)
			g.List(code.Id("result"), code.Err()).Op(":=").Id("db").Dot("ExecContext").Call(code.Id("ctx"), code.Id("text"), code.Id("args").Op("..."))
			g.Add(ifErr(code.Lit(0)))
			g.Return(code.Id("result").Dot("LastInsertId").Call())
		}))
}

// insertOutFunc emits an insert that gets the number as an argument:
//
//	func insert(ctx context.Context, db DBTX, text string, args ...any) (number int64, err error) {
//		_, err = db.ExecContext(ctx, text, append(args, sql.Out{Dest: &number})...)
//		return number, err
//	}
func (w *writer) insertOutFunc(f *code.File) {
	decl(f, []string{"insert adds a row and returns the number that the database gave it."},
		code.Func().Id("insert").Params(
			ctxParam(), code.Id("db").Id("DBTX"), code.Id("text").String(), code.Id("args").Op("...").Any(),
		).Params(code.Id("number").Int64(), code.Err().Error()).Block(
			code.List(code.Id("_"), code.Err()).Op("=").Add(execOut("number")),
			code.Return(code.Id("number"), code.Err()),
		))
}

// statementFunc emits
//
//	func statement(file string) string {
//		for strings.HasPrefix(file, "--") {
//			_, file, _ = strings.Cut(file, "\n")
//		}
//		return strings.TrimSpace(file)
//	}
func (w *writer) statementFunc(f *code.File) {
	decl(f, []string{"statement is a file of sql/ less its head comment: tools that name a statement by its first word would see only the comment."},
		code.Func().Id("statement").Params(code.Id("file").String()).String().Block(
			code.For(code.Qual("strings", "HasPrefix").Call(code.Id("file"), code.Lit("--"))).Block(
				code.List(code.Id("_"), code.Id("file"), code.Id("_")).Op("=").Qual("strings", "Cut").Call(code.Id("file"), code.Lit("\n")),
			),
			code.Return(code.Qual("strings", "TrimSpace").Call(code.Id("file"))),
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
//
// and where a statement that writes returns nothing, settle(ctx, op, jobs, lock,
// text, args…) with
//
//	if len(jobs) == 1 && op != "extend" {
//		err = q.retry(ctx, op, func(db DBTX) error {
//			n, err := exec(ctx, db, text, args...)
//			if n > 0 {
//				found = []Key{jobs[0].Key()}
//			}
//			return err
//		})
//	} else {
//		err = q.transact(ctx, op, func(db DBTX) (err error) {
//			if found, err = query(ctx, db, scanKey, lock, args[len(args)-1]); err != nil || len(found) == 0 {
//				return err
//			}
//			_, err = exec(ctx, db, text, args...)
//			return err
//		})
//	}
func (w *writer) settleMethod(f *code.File) {
	locked := w.locksFirst()
	doc := "settle runs a statement that changes the rows of jobs where the claim is still theirs and returns the keys of those. The other jobs are lost."
	params := []*code.Statement{ctxParam(), code.Id("op").String(), code.Id("jobs").Index().Id("Job")}
	if locked {
		doc = "settle changes the rows of jobs where the claim is still theirs: lock locks them and returns their keys, text writes them. Both name them by the last of args. The other jobs are lost."
		lock := "lock"
		if s := w.anySettle(); s.Alone {
			lock = "held"
			doc = "settle changes the row of a job where the claim is still its own: text writes it, and where that changes nothing, held returns the key of a job that has not been lost. Both name it by the last of args."
		}
		params = append(params, code.Id(lock).String())
	}
	params = append(params, code.Id("text").String(), code.Id("args").Op("...").Any())
	decl(f, []string{doc},
		code.Func().Add(queueReceiver()).Id("settle").Params(params...).Params(code.Err().Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("found").Index().Id("Key")
			g.Add(observe(code.Id("q"), code.Id("op"), code.Len(code.Id("found"))))
			if s := w.anySettle(); s != nil && s.Alone {
				g.Add(attempt(code.Id("q"), "retry", code.Id("op"), w.writeAlone()...))
			} else if locked {
				counted, except := code.Len(code.Id("jobs")).Op("==").Lit(1), "."
				for _, op := range w.unchanged() {
					except = ", but where a step may write what is there already."
					counted.Op("&&").Id("op").Op("!=").Lit(op)
				}
				g.If(counted).Block(
					code.Comment("// The number of rows says it all"+except),
					code.Err().Op("=").Id("q").Dot("retry").Call(code.Id("ctx"), code.Id("op"), code.Func().Params(code.Id("db").Id("DBTX")).Error().Block(
						code.List(code.Id("n"), code.Err()).Op(":=").Id("exec").Call(code.Id("ctx"), code.Id("db"), code.Id("text"), code.Id("args").Op("...")),
						code.If(code.Id("n").Op(">").Lit(0)).Block(code.Id("found").Op("=").Index().Id("Key").Values(code.Id("jobs").Index(code.Lit(0)).Dot("Key").Call())),
						code.Return(code.Err()),
					)),
				).Else().Block(
					attempt(code.Id("q"), "transact", code.Id("op"), w.lockAndWrite(code.Id("lock"), code.Id("text"))...),
				)
			} else if w.countsChanged() {
				g.Add(attempt(code.Id("q"), "retry", code.Id("op"),
					code.List(code.Id("settled"), code.Err()).Op(":=").Id("changed").Call(code.Id("ctx"), code.Id("db"), code.Id("jobs"), code.Id("text"), code.Id("args").Op("...")),
					code.Id("found").Op("=").Id("column").Call(code.Id("settled"), code.Id("Job").Dot("Key")),
					code.Return(code.Err())))
			} else {
				g.Add(attempt(code.Id("q"), "retry", code.Id("op"), queryInto("found", "scanKey", code.Id("text"), code.Id("args").Op("..."))))
			}
			g.Add(ifErr())
			g.Return(code.Id("lost").Call(code.Id("op"), code.Id("jobs"), code.Id("found")))
		}))
}

// writeAlone emits the statements that settle one job where no row can be locked:
//
//	n, err := exec(ctx, db, text, args...)
//	switch {
//	case n > 0:
//		found = []Key{jobs[0].Key()}
//	case err == nil: // what a row holds already changes nothing
//		found, err = query(ctx, db, scanKey, held, args[len(args)-1])
//	}
//	return err
func (w *writer) writeAlone() []*code.Statement {
	last := code.Id("args").Index(code.Len(code.Id("args")).Op("-").Lit(1))
	return []*code.Statement{
		code.List(code.Id("n"), code.Err()).Op(":=").Add(execCall(code.Id("text"), code.Id("args").Op("..."))),
		code.Switch().Block(
			code.Case(code.Id("n").Op(">").Lit(0)).Block(
				code.Id("found").Op("=").Index().Id("Key").Values(code.Id("jobs").Index(code.Lit(0)).Dot("Key").Call())),
			code.Case(code.Err().Op("==").Nil()).Block(
				code.Comment("// What a row holds already changes nothing."),
				code.List(code.Id("found"), code.Err()).Op("=").Add(queryCall("scanKey", code.Id("held"), last))),
		),
		code.Return(code.Err()),
	}
}

// unchanged lists, as errors call them, the operations that may write what is there already:
// the number of rows that they changed does not tell those that they found.
func (w *writer) unchanged() []string {
	var ops []string
	add := func(op string, settles ...*plan.Settle) {
		if slices.ContainsFunc(settles, func(s *plan.Settle) bool {
			return s != nil && s.Unchanged && !s.WritesOthers() && len(s.Refreshes) == 0
		}) {
			ops = append(ops, op)
		}
	}
	add("start", w.Start)
	add("complete", w.Complete)
	add("fail", w.Retry, w.Fail)
	add("requeue", w.Requeue)
	add("extend", w.Extend)
	for _, o := range w.Outcomes {
		add(o.Op, o.Settle)
	}
	return ops
}

// lockAndWrite emits the statements of a settled batch where the one that
// writes returns nothing.
func (w *writer) lockAndWrite(lock, text *code.Statement) []*code.Statement {
	last := code.Id("args").Index(code.Len(code.Id("args")).Op("-").Lit(1))
	return []*code.Statement{
		code.If(code.List(code.Id("found"), code.Err()).Op("=").Add(queryCall("scanKey", lock, last)),
			errOr(empty("found"))).Block(code.Return(code.Err())),
		code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(text, code.Id("args").Op("..."))),
		code.Return(code.Err()),
	}
}

// locksFirst reports whether rows are locked before they are settled, because
// the statement that writes them returns nothing.
func (w *writer) locksFirst() bool {
	s := w.anySettle()
	return s != nil && s.Lock != nil
}

// countsChanged reports whether the statement that settles jobs counts the rows
// of each.
func (w *writer) countsChanged() bool {
	s := w.anySettle()
	return s != nil && s.Statement.Has(plan.ArgCounts)
}

// anySettle is one of the operations over claimed jobs that write nothing else, nil
// when there is none.
func (w *writer) anySettle() *plan.Settle {
	for _, s := range w.Settles() {
		if !s.WritesOthers() {
			return s
		}
	}
	return nil
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
func (w *writer) lostFunc(f *code.File) {
	decl(f, []string{"lost returns a *LostError over the jobs that are not among found, nil when there are none."},
		code.Func().Id("lost").Params(code.Id("op").String(), code.Id("jobs").Index().Id("Job"), code.Id("found").Index().Id("Key")).Error().Block(
			code.Id("held").Op(":=").Make(code.Map(code.Id("Key")).Bool(), code.Len(code.Id("found"))),
			code.For(code.List(code.Id("_"), code.Id("key")).Op(":=").Range().Id("found")).Block(
				code.Id("held").Index(code.Id("key")).Op("=").True(),
			),
			code.Var().Id("keys").Index().Id("Key"),
			code.For(code.List(code.Id("_"), code.Id("job")).Op(":=").Range().Id("jobs")).Block(
				code.If(code.Op("!").Id("held").Index(code.Id("job").Dot("Key").Call())).Block(
					code.Id("keys").Op("=").Append(code.Id("keys"), code.Id("job").Dot("Key").Call()),
				),
			),
			code.If(code.Id("keys").Op("==").Nil()).Block(code.Return(code.Nil())),
			code.Return(code.Op("&").Id("LostError").Values(code.Id("Op").Op(":").Id("op"), code.Id("Keys").Op(":").Id("keys"))),
		))
}
