package emit

// This file writes what settles claims: complete.go, fail.go, requeue.go, and what
// leaves them to their holder: start.go and extend.go.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
)

// overJobs takes the arguments of a statement from jobs []Job.
func overJobs() source { return source{many: code.Id("jobs"), item: code.Id("Job")} }

// overDone takes them from done []Done.
func overDone() source {
	return source{many: code.Id("done"), item: code.Id("Done"), done: true}
}

// settleStatements lists the statements of an operation in the order in which
// they run.
func settleStatements(s *plan.Settle) []*plan.Statement {
	all := append([]*plan.Statement{s.Before, s.Lock}, s.With...)
	all = append(append(all, s.Statement), s.Behind...)
	return present(append(all, s.Read, s.Rows)...)
}

// completeFile emits
//
//	func (q *Queue) Complete(ctx context.Context, jobs ...Job) error {
//		if len(jobs) == 0 {
//			return nil
//		}
//		return q.settle(ctx, "complete", jobs, completeSQL, column(jobs, …))
//	}
//
// and with a result the type Done.
func (w *writer) completeFile() *code.File {
	s := w.Complete
	f := w.newFile()
	embed(f, settleStatements(s)...)
	if w.carries() {
		w.doneType(f)
	}
	w.settleOperation(f, "Complete", s, func(g *code.Group) {
		from, jobs := w.doneSource()
		before, call := w.settled("complete", jobs, s, from)
		addAll(g, before)
		g.Return(call)
	})
	return f
}

// doneParam is the parameter of what completes jobs: jobs ...Job, or
// done ...Done where a job has a result.
func (w *writer) doneParam() (name, typ string) {
	if w.carries() {
		return "done", "Done"
	}
	return "jobs", "Job"
}

// carries reports whether Complete takes something per job.
func (w *writer) carries() bool {
	return w.Complete != nil && (w.Complete.Result != nil || len(w.Complete.Given) > 0)
}

// extra is something that Complete takes per job: its result, or an argument.
type extra struct {
	name   string // as a parameter, and as a field of what is not exported
	member string // of Done
	field  *plan.Field
	words  string // for it
	next   bool   // when the job is due again
}

// extras lists what Complete takes per job.
func (w *writer) extras() []extra {
	var all []extra
	if w.Complete == nil {
		return nil
	}
	if r := w.Complete.Result; r != nil {
		all = append(all, extra{name: "result", member: "Result", field: r, words: "result"})
	}
	for _, p := range w.Complete.Given {
		words := p.Name
		if p.Next {
			words = "next time"
		}
		all = append(all, extra{name: p.Name, member: p.Member, field: p.Field, words: words, next: p.Next})
	}
	return all
}

// extraFields declares fields for what Complete takes per job.
func (w *writer) extraFields() []*code.Statement {
	var fields []*code.Statement
	for _, o := range w.extras() {
		fields = append(fields, code.Id(o.name).Add(w.fieldType(o.field)))
	}
	return fields
}

// extraArgs are those fields of on.
func (w *writer) extraArgs(on string) []*code.Statement {
	var args []*code.Statement
	for _, o := range w.extras() {
		args = append(args, code.Id(on).Dot(o.name))
	}
	return args
}

// whatIsDone says in words what Complete takes with a job: its result.
func (w *writer) whatIsDone() string {
	var names []string
	for _, o := range w.extras() {
		names = append(names, o.words)
	}
	if len(names) > 1 {
		return "the " + strings.Join(names[:len(names)-1], ", the ") + " and the " + names[len(names)-1]
	}
	return "the " + names[0]
}

// doneSource is where the arguments of the completing statement come from, and
// the expression for the jobs among them.
func (w *writer) doneSource() (source, *code.Statement) {
	if !w.carries() {
		return overJobs(), code.Id("jobs")
	}
	return overDone(), code.Id("column").Call(code.Id("done"),
		code.Func().Params(code.Id("d").Id("Done")).Id("Job").Add(inline(code.Return(code.Id("d").Dot("Job")))))
}

// doneType emits
//
//	type Done struct {
//		Job
//		Result string // text
//	}
//
//	func (j Job) Done(result string) Done { return Done{Job: j, Result: result} }
func (w *writer) doneType(f *code.File) {
	fields := []*code.Statement{code.Id("Job")}
	var params []*code.Statement
	values := []*code.Statement{code.Id("Job").Op(":").Id("j")}
	what, next := "", false
	for _, o := range w.extras() {
		fields = append(fields, code.Id(o.member).Add(w.fieldType(o.field)).Comment(sqlType(o.field)))
		params = append(params, code.Id(o.name).Add(w.fieldType(o.field)))
		values = append(values, code.Id(o.member).Op(":").Id(o.name))
		switch {
		case o.next:
			next = true
		case o.name == "result" && what == "":
			what = "its result"
		default:
			what = "what is recorded of it"
		}
	}
	switch {
	case next && what == "":
		what = "the time when it is due again"
	case next:
		what += " and the time when it is due again"
	}
	decl(f, []string{"Done is a finished job and " + what + "."},
		code.Type().Id("Done").Struct(fields...))
	decl(f, []string{"Done returns the job with " + what + ", for Complete."},
		code.Func().Add(jobReceiver()).Id("Done").Params(params...).Id("Done").Block(
			code.Return(code.Id("Done").Values(values...))))
}

// settleOperation emits an operation over any number of jobs; body follows the
// test for none.
func (w *writer) settleOperation(f *code.File, name string, s *plan.Settle, body func(g *code.Group)) {
	variable, typ := "jobs", "Job"
	if name == "Complete" {
		variable, typ = w.doneParam()
	}
	settles := s != w.Extend && s != w.Start
	result := code.Error()
	if settles {
		result = w.settleResult()
	}
	decl(f, docOf(w.givenDoc(name, s), settleStatements(s)...),
		code.Func().Add(w.receiver()).Id(name).Params(w.settleParams(s, code.Id(variable).Op("...").Id(typ))...).Add(result).BlockFunc(func(g *code.Group) {
			g.If(code.Len(code.Id(variable)).Op("==").Lit(0)).Block(code.Return(code.Nil()))
			w.checkLease(g, w.opOf(name), s.LeaseArg)
			if settles {
				w.asHandled(g, variable)
			}
			w.inParts(g, name, variable, s)
			body(g)
		}))
}

// settling are the parameters of an operation over jobs before the jobs.
func (w *writer) settling(s *plan.Settle) []variable {
	var list []variable
	if s.Delay {
		list = append(list, variable{"delay", code.Qual("time", "Duration")})
	}
	if s.LeaseArg {
		list = append(list, variable{"lease", code.Qual("time", "Duration")})
	}
	return append(list, w.given(s.Given)...)
}

// given are the arguments of the user's that belong to a call; others belong to a job.
func (w *writer) given(params []*plan.Param) []variable {
	var list []variable
	for _, p := range params {
		if p.Member == "" {
			list = append(list, variable{p.Name, w.paramType(p)})
		}
	}
	return list
}

// settleParams are all its parameters.
func (w *writer) settleParams(s *plan.Settle, jobs *code.Statement) []*code.Statement {
	return slices.Concat([]*code.Statement{ctxParam()}, declared(w.settling(s)), []*code.Statement{jobs})
}

// givenDoc is the comment of an operation, with what its arguments mean.
func (w *writer) givenDoc(name string, s *plan.Settle) []string {
	if name == "Complete" {
		return s.Doc
	}
	return append(slices.Clone(s.Doc), paramDoc(s.Given)...)
}

// inParts emits, where jobs are written into the text of a statement,
//
//	if len(jobs) > mostJobs {
//		return q.inParts(ctx, "complete", len(jobs), func(q *Queue, from, to int) error {
//			return q.Complete(ctx, jobs[from:to]...)
//		})
//	}
//
// and where each is settled alone
//
//	if len(jobs) > 1 {
//		return q.oneByOne(ctx, "complete", len(jobs), func(q *Queue, i int) error {
//			return q.Complete(ctx, jobs[i])
//		})
//	}
func (w *writer) inParts(g *code.Group, name, variable string, s *plan.Settle) {
	call := func(part *code.Statement) *code.Statement {
		return w.self().Dot(name).Call(slices.Concat([]*code.Statement{code.Id("ctx")}, passed(w.settling(s)), []*code.Statement{part})...)
	}
	if s.Alone {
		g.If(code.Len(code.Id(variable)).Op(">").Lit(1)).Block(
			code.Return(w.self().Dot("oneByOne").Call(code.Id("ctx"), code.Lit(w.opOf(name)), code.Len(code.Id(variable)),
				code.Func().Params(w.self().Add(w.claimer()), code.Id("i").Int()).Error().Block(
					code.Return(call(code.Id(variable).Index(code.Id("i")))),
				))),
		)
		return
	}
	if w.Most == 0 {
		return
	}
	g.If(code.Len(code.Id(variable)).Op(">").Id("mostJobs")).Block(
		code.Return(w.self().Dot("inParts").Call(code.Id("ctx"), code.Lit(w.opOf(name)), code.Len(code.Id(variable)),
			code.Func().Params(w.self().Add(w.claimer()), code.List(code.Id("from"), code.Id("to")).Int()).Error().Block(
				code.Return(call(code.Id(variable).Index(code.Id("from").Op(":").Id("to")).Op("..."))),
			))),
	)
}

// oneByOneMethod emits
//
//	func (q *Queue) oneByOne(ctx context.Context, op string, n int, do func(q *Queue, i int) error) (err error) {
//		settled := 0
//		ctx = q.hook.Before(ctx, op)
//		defer func() { q.hook.After(ctx, op, settled, err) }()
//		one := *q
//		one.hook = noHook{}
//		var gone []Key
//		for i := range n {
//			var lost *LostError
//			err := do(&one, i)
//			switch {
//			case errors.As(err, &lost):
//				gone = append(gone, lost.Keys...)
//			case err != nil:
//				return err
//			default:
//				settled++
//			}
//		}
//		if gone == nil {
//			return nil
//		}
//		return &LostError{Op: op, Keys: gone}
//	}
func (w *writer) oneByOneMethod(f *code.File) {
	decl(f, []string{"oneByOne settles n jobs one after the other: nothing could lock the rows of several. An error ends it, and what was settled by then stays so."},
		code.Func().Add(w.receiver()).Id("oneByOne").Params(ctxParam(), code.Id("op").String(), code.Id("n").Int(),
			code.Id("do").Func().Params(w.self().Add(w.claimer()), code.Id("i").Int()).Error(),
		).Params(code.Err().Error()).Block(
			code.Id("settled").Op(":=").Lit(0),
			observe(w.self(), code.Id("op"), code.Id("settled")),
			code.Id("one").Op(":=").Op("*").Add(w.self()),
			code.Id("one").Dot("hook").Op("=").Id("noHook").Values(),
			code.Var().Id("gone").Index().Id("Key"),
			code.For(code.Id("i").Op(":=").Range().Id("n")).Block(
				code.Var().Id("lost").Op("*").Id("LostError"),
				code.Err().Op(":=").Id("do").Call(code.Op("&").Id("one"), code.Id("i")),
				code.Switch().Block(
					code.Case(code.Qual("errors", "As").Call(code.Err(), code.Op("&").Id("lost"))).Block(
						code.Id("gone").Op("=").Append(code.Id("gone"), code.Id("lost").Dot("Keys").Op("...")),
					),
					code.Case(code.Err().Op("!=").Nil()).Block(code.Return(code.Err())),
					code.Default().Block(code.Id("settled").Op("++")),
				),
			),
			code.If(code.Id("gone").Op("==").Nil()).Block(code.Return(code.Nil())),
			code.Return(code.Op("&").Id("LostError").Values(code.Id("Op").Op(":").Id("op"), code.Id("Keys").Op(":").Id("gone"))),
		))
}

// inPartsMethod emits
//
//	func (q *Queue) inParts(ctx context.Context, op string, n int, do func(part *Queue, from, to int) error) error {
//		var gone []Key
//		err := q.transact(ctx, op, func(db DBTX) error {
//			part := *q
//			part.db, part.begin, part.hook = db, nil, noHook{}
//			gone = nil
//			for from := 0; from < n; from += mostJobs {
//				var lost *LostError
//				err := do(&part, from, min(from+mostJobs, n))
//				switch {
//				case errors.As(err, &lost):
//					gone = append(gone, lost.Keys...)
//				case err != nil:
//					return err
//				}
//			}
//			return nil
//		})
//		if err != nil {
//			return err
//		}
//		if gone == nil {
//			return nil
//		}
//		return &LostError{Op: op, Keys: gone}
//	}
//
// and within a Tx the same without a transaction of its own.
func (w *writer) inPartsMethod(f *code.File) {
	part := code.Op("&").Id("part")
	if w.Hold {
		part = w.self()
	}
	loop := code.For(code.Id("from").Op(":=").Lit(0), code.Id("from").Op("<").Id("n"), code.Id("from").Op("+=").Id("mostJobs")).Block(
		code.Var().Id("lost").Op("*").Id("LostError"),
		code.Err().Op(":=").Id("do").Call(part, code.Id("from"), code.Id("min").Call(code.Id("from").Op("+").Id("mostJobs"), code.Id("n"))),
		code.Switch().Block(
			code.Case(code.Qual("errors", "As").Call(code.Err(), code.Op("&").Id("lost"))).Block(
				code.Id("gone").Op("=").Append(code.Id("gone"), code.Id("lost").Dot("Keys").Op("...")),
			),
			code.Case(code.Err().Op("!=").Nil()).Block(code.Return(code.Err())),
		),
	)
	decl(f, []string{"inParts settles n jobs in parts of mostJobs, in one transaction."},
		code.Func().Add(w.receiver()).Id("inParts").Params(ctxParam(), code.Id("op").String(), code.Id("n").Int(),
			code.Id("do").Func().Params(code.Id("part").Add(w.claimer()), code.List(code.Id("from"), code.Id("to")).Int()).Error(),
		).Error().BlockFunc(func(g *code.Group) {
			g.Var().Id("gone").Index().Id("Key")
			if w.Hold {
				g.Add(loop)
			} else {
				g.Err().Op(":=").Id("q").Dot("transact").Call(code.Id("ctx"), code.Id("op"), code.Func().Params(code.Id("db").Id("DBTX")).Error().Block(
					w.inTransaction("part"),
					code.Id("gone").Op("=").Nil(),
					loop,
					code.Return(code.Nil()),
				))
				g.Add(ifErr())
			}
			g.If(code.Id("gone").Op("==").Nil()).Block(code.Return(code.Nil()))
			g.Return(code.Op("&").Id("LostError").Values(code.Id("Op").Op(":").Id("op"), code.Id("Keys").Op(":").Id("gone")))
		}))
}

// inTransaction emits a queue like q that works in the transaction db and tells no hook:
//
//	part := *q
//	part.db, part.begin, part.hook = db, nil, noHook{}
func (w *writer) inTransaction(name string) *code.Statement {
	queue := code.Id(name)
	return code.Add(queue.Clone(), code.Op(":=").Op("*").Id("q").Line(),
		code.List(queue.Clone().Dot("db"), queue.Clone().Dot("begin"), queue.Dot("hook")).Op("=").List(code.Id("db"), code.Nil(), code.Id("noHook").Values()))
}

// mostJobsConst emits the most jobs that one statement names.
func (w *writer) mostJobsConst(f *code.File) {
	f.Line()
	f.Comment("// mostJobs is the most jobs that one statement names or takes; " + w.WhyMost + ".")
	f.Const().Id("mostJobs").Op("=").Lit(w.Most)
}

// settleCall is q.settle(ctx, "complete", jobs, completeSQL, args…), or where the
// rows of the jobs are written as well
//
//	q.settleRows(ctx, "complete", jobs, func(db DBTX) error {
//		_, err := query(ctx, db, scanKey, completeBeforeSQL, …)
//		return err
//	}, func(db DBTX, held []Job) error {
//		_, err := exec(ctx, db, completeRowsSQL, …held…)
//		return err
//	}, completeSQL, args…)
func (w *writer) settleCall(op string, jobs *code.Statement, s *plan.Settle, args []*code.Statement) *code.Statement {
	method, first := "settle", []*code.Statement{code.Id("ctx"), code.Lit(op), jobs}
	if s.Rows != nil {
		method = "settleRows"
		first = append(first, w.beforeRows(s, jobs), w.overRows(s))
	}
	for _, t := range present(s.Lock, s.Statement) {
		first = append(first, w.text(t))
	}
	return w.queue().Dot(method).Call(spread(first, args)...)
}

// beforeRows is the function that locks the rows of jobs ahead of their claims,
// nil where that is not needed.
func (w *writer) beforeRows(s *plan.Settle, jobs *code.Statement) *code.Statement {
	if s.Before == nil {
		return code.Nil()
	}
	before, args := w.arguments(s.Before, source{many: jobs, item: code.Id("Job")}, "")
	return code.Func().Params(code.Id("db").Id("DBTX")).Error().Block(
		forItsEffect(before, readCall(reader(s.Before), "scanKey", w.bound(s.Before, args)...))...)
}

// forItsEffect emits the end of a function that makes a call, behind the lines that have
// to stand before it:
//
//	_, err := exec(ctx, db, text, …)
//	return err
func forItsEffect(before []*code.Statement, call *code.Statement) []*code.Statement {
	assign := ":="
	if len(before) > 0 {
		assign = "=" // they have declared err
	}
	return append(before, code.List(code.Id("_"), code.Err()).Op(assign).Add(call), code.Return(code.Err()))
}

// overRows is the function that writes the rows of jobs whose claims were ended.
func (w *writer) overRows(s *plan.Settle) *code.Statement {
	var body []*code.Statement
	from := source{many: code.Id("held"), item: code.Id("Job")}
	if s.Result != nil {
		from = source{many: code.Id("finished"), item: code.Id("Done"), done: true}
		key := code.Func().Params(code.Id("d").Id("Done")).Bool().Block(code.Return(
			code.Op("!").Qual("slices", "ContainsFunc").Call(code.Id("held"),
				code.Func().Params(code.Id("j").Id("Job")).Bool().Block(code.Return(code.Id("j").Dot("Key").Call().Op("==").Id("d").Dot("Key").Call())))))
		body = append(body, code.Id("finished").Op(":=").Qual("slices", "DeleteFunc").Call(code.Qual("slices", "Clone").Call(code.Id("done")), key))
	}
	before, args := w.arguments(s.Rows, from, "")
	body = append(body, forItsEffect(before, execCall(w.bound(s.Rows, args)...))...)
	return code.Func().Params(code.Id("db").Id("DBTX"), code.Id("held").Index().Id("Job")).Error().Block(body...)
}

// settleRowsMethod emits
//
//	func (q *Queue) settleRows(ctx context.Context, op string, jobs []Job, before func(db DBTX) error, rows func(db DBTX, held []Job) error, text string, args ...any) (err error) {
//		var held []Job
//		ctx = q.hook.Before(ctx, op)
//		defer func() { q.hook.After(ctx, op, len(held), err) }()
//		var gone error
//		err = q.transact(ctx, op, func(db DBTX) error {
//			within := *q
//			within.db, within.begin, within.hook = db, nil, noHook{}
//			if before != nil { … }
//			gone = within.settle(ctx, op, jobs, text, args...)
//			var lost *LostError
//			if gone != nil && !errors.As(gone, &lost) {
//				return gone
//			}
//			held = slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool {
//				return lost != nil && slices.Contains(lost.Keys, j.Key())
//			})
//			if len(held) == 0 {
//				return nil
//			}
//			return rows(db, held)
//		})
//		if err != nil {
//			return err
//		}
//		return gone
//	}
func (w *writer) settleRowsMethod(f *code.File) {
	params := []*code.Statement{ctxParam(), code.Id("op").String(), code.Id("jobs").Index().Id("Job")}
	locks := w.Complete != nil && w.Complete.Before != nil
	doc := "settleRows settles jobs as settle does, and has rows write the rows of those whose claims were still theirs, in one transaction."
	if locks {
		doc += " Ahead of that, before locks the rows of all."
	}
	params = append(params, code.Id("before").Func().Params(code.Id("db").Id("DBTX")).Error(),
		code.Id("rows").Func().Params(code.Id("db").Id("DBTX"), code.Id("held").Index().Id("Job")).Error())
	pass := []*code.Statement{code.Id("ctx"), code.Id("op"), code.Id("jobs")}
	if w.locksFirst() {
		params = append(params, code.Id("lock").String())
		pass = append(pass, code.Id("lock"))
	}
	params = append(params, code.Id("text").String(), code.Id("args").Op("...").Any())
	pass = append(pass, code.Id("text"), code.Id("args").Op("..."))
	decl(f, []string{doc},
		code.Func().Add(queueReceiver()).Id("settleRows").Params(params...).Params(code.Err().Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("held").Index().Id("Job")
			g.Add(observe(code.Id("q"), code.Id("op"), code.Len(code.Id("held"))))
			g.Var().Id("gone").Error()
			body := []*code.Statement{w.inTransaction("within")}
			body = append(body, code.If(code.Id("before").Op("!=").Nil()).Block(
				ifAssign(code.Err().Op(":=").Id("before").Call(code.Id("db")))))
			body = append(body,
				code.Id("gone").Op("=").Id("within").Dot("settle").Call(pass...),
				code.Var().Id("lost").Op("*").Id("LostError"),
				code.If(code.Id("gone").Op("!=").Nil().Op("&&").Op("!").Qual("errors", "As").Call(code.Id("gone"), code.Op("&").Id("lost"))).Block(code.Return(code.Id("gone"))),
				code.Id("held").Op("=").Qual("slices", "DeleteFunc").Call(code.Qual("slices", "Clone").Call(code.Id("jobs")),
					code.Func().Params(code.Id("j").Id("Job")).Bool().Block(code.Return(
						code.Id("lost").Op("!=").Nil().Op("&&").Qual("slices", "Contains").Call(code.Id("lost").Dot("Keys"), code.Id("j").Dot("Key").Call())))),
				code.If(empty("held")).Block(code.Return(code.Nil())),
				code.Return(code.Id("rows").Call(code.Id("db"), code.Id("held"))))
			g.Add(attempt(code.Id("q"), "transact", code.Id("op"), body...))
			g.Add(ifErr())
			g.Return(code.Id("gone"))
		}))
}

// requeueFile emits
//
//	func (q *Queue) Requeue(ctx context.Context, delay time.Duration, jobs ...Job) error {
//		if len(jobs) == 0 {
//			return nil
//		}
//		err := q.settle(ctx, "requeue", jobs, requeueSQL, …, delay.Seconds())
//		for _, j := range jobs {
//			q.low.lower(j.MsgID)
//		}
//		return err
//	}
func (w *writer) requeueFile() *code.File {
	s := w.Requeue
	f := w.newFile()
	embed(f, settleStatements(s)...)
	w.settleOperation(f, "Requeue", s, func(g *code.Group) {
		from := overJobs()
		from.delay = code.Id("delay")
		before, call := w.settled("requeue", code.Id("jobs"), s, from)
		addAll(g, before)
		if !w.hasLow() {
			g.Return(call)
			return
		}
		g.Add(w.assignErr(len(before) > 0)).Add(call)
		g.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(w.lower(code.Id("j")))
		g.Return(code.Err())
	})
	return f
}

// assignErr is err = where err was declared before or is the result, else err :=.
func (w *writer) assignErr(declared bool) *code.Statement {
	if declared || w.tellsWork() {
		return code.Err().Op("=")
	}
	return code.Err().Op(":=")
}

// opOf is what errors call the operation of a method.
func (w *writer) opOf(method string) string {
	for _, o := range w.Outcomes {
		if o.Method == method {
			return o.Op
		}
	}
	return strings.ToLower(method)
}

// outcomesFile emits the ways to settle a job that the user names, each like
// Complete:
//
//	func (q *Queue) Partial(ctx context.Context, jobs ...Job) error {
//		if len(jobs) == 0 {
//			return nil
//		}
//		return q.settle(ctx, "partial", jobs, outcomePartialSQL, column(jobs, …))
//	}
func (w *writer) outcomesFile() *code.File {
	f := w.newFile()
	var statements []*plan.Statement
	for _, o := range w.Outcomes {
		statements = append(statements, settleStatements(o.Settle)...)
	}
	embed(f, statements...)
	for _, o := range w.Outcomes {
		w.settleOperation(f, o.Method, o.Settle, func(g *code.Group) {
			before, call := w.settled(o.Op, code.Id("jobs"), o.Settle, overJobs())
			addAll(g, before)
			if o.To != queue.Ready || !w.hasLow() {
				g.Return(call)
				return
			}
			g.Add(w.assignErr(len(before) > 0)).Add(call)
			g.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(w.lower(code.Id("j")))
			g.Return(code.Err())
		})
	}
	return f
}

// lower is q.low.lower(j.MsgID).
func (w *writer) lower(job *code.Statement) *code.Statement {
	return w.queue().Dot("low").Dot("lower").Call(job.Dot(w.Claim.Low.Field.Name))
}

// failFile emits
//
//	func (q *Queue) Fail(ctx context.Context, job Job, cause error) error {
//		jobs := []Job{job}
//		if tries := int(job.Tries); tries < 5 {
//			return q.settle(ctx, "fail", jobs, retrySQL, …, backoff(tries).Seconds(), errorText(cause, 1000))
//		}
//		return q.settle(ctx, "fail", jobs, failSQL, …)
//	}
func (w *writer) failFile() *code.File {
	f := w.newFile()
	var statements []*plan.Statement
	var doc []string
	for _, s := range []*plan.Settle{w.Retry, w.Fail} {
		if s != nil {
			statements = append(statements, settleStatements(s)...)
			if doc == nil {
				doc = s.Doc
			}
		}
	}
	embed(f, statements...)
	given := w.failGiven()
	params := append([]*code.Statement{ctxParam(), code.Id("job").Id("Job"), code.Id("cause").Error()}, declared(w.given(given))...)
	decl(f, docOf(append(slices.Clone(doc), paramDoc(given)...), statements...),
		code.Func().Add(w.receiver()).Id("Fail").Params(params...).Add(w.settleResult()).BlockFunc(func(g *code.Group) {
			w.asHandledOne(g)
			g.Id("jobs").Op(":=").Index().Id("Job").Values(code.Id("job"))
			if w.Retry == nil {
				w.failWith(g, w.Fail, false, false)
				return
			}
			left := w.countTries(g)
			if w.Fail == nil || left == nil {
				w.failWith(g, w.Retry, true, false)
				return
			}
			before, _ := w.failCall(w.Retry)
			other, _ := w.failCall(w.Fail)
			shared := slices.EqualFunc(before, other, (*code.Statement).Equal)
			if shared {
				addAll(g, before)
			}
			g.If(left).BlockFunc(func(g *code.Group) { w.failWith(g, w.Retry, true, shared) })
			w.failWith(g, w.Fail, false, shared)
		}))
	return f
}

// failGiven are the arguments of the user's that Fail takes: of both its statements,
// each once.
func (w *writer) failGiven() []*plan.Param {
	var given []*plan.Param
	for _, s := range []*plan.Settle{w.Retry, w.Fail} {
		if s == nil {
			continue
		}
		for _, p := range s.Given {
			if !slices.Contains(given, p) {
				given = append(given, p)
			}
		}
	}
	return given
}

// failCall is the call that carries out Fail by one of its statements, and what
// stands before it.
func (w *writer) failCall(s *plan.Settle) (before []*code.Statement, call *code.Statement) {
	from := overJobs()
	from.delay = code.Id("backoff").Call(code.Id("failures"))
	return w.settled("fail", code.Id("jobs"), s, from)
}

// failWith emits the return of Fail by one of its statements. again says that
// the job is ready afterwards; prepared, that what its arguments need stands
// there already.
func (w *writer) failWith(g *code.Group, s *plan.Settle, again, prepared bool) {
	before, call := w.failCall(s)
	if !prepared {
		addAll(g, before)
	}
	if !again || !w.hasLow() {
		g.Return(call)
		return
	}
	g.Add(w.assignErr(len(before) > 0)).Add(call)
	g.Add(w.lower(code.Id("job")))
	g.Return(code.Err())
}

// countTries emits the number of failures, this one included, where the
// backoff or the limit needs it, and returns the test whether tries are left:
// nil when they always are.
//
//	failures := int(job.Tries)
func (w *writer) countTries(g *code.Group) *code.Statement {
	delayed := slices.ContainsFunc(settleStatements(w.Retry), func(s *plan.Statement) bool { return s.Has(plan.ArgDelay) })
	a := w.Attempts
	if a == nil {
		if delayed {
			g.Id("failures").Op(":=").Lit(1)
		}
		return nil
	}

	count := code.Id("job").Dot(a.Field.Name)
	limited := a.Down || a.Max > 0 || a.MaxOf != nil
	if !delayed && !limited {
		return nil
	}
	name := "failures"
	if a.Down {
		name = "left"
	}
	if a.Field.Null {
		g.Id(name).Op(":=").Lit(0)
		g.If(count.Clone().Op("!=").Nil()).Block(code.Id(name).Op("=").Add(wholeNumber(code.Op("*").Add(count.Clone()), a.Field)))
	} else {
		g.Id(name).Op(":=").Add(wholeNumber(count.Clone(), a.Field))
	}
	if !a.OnClaim {
		// The statement counts this failure; here it is counted beforehand.
		if a.Down {
			g.Id(name).Op("--")
		} else {
			g.Id(name).Op("++")
		}
	}
	if a.Down && delayed {
		if a.Max > 0 {
			full := a.Max
			if a.Retries {
				full--
			}
			g.Id("failures").Op(":=").Id("max").Call(code.Lit(1), code.Lit(full).Op("-").Id("left"))
		} else {
			g.Id("failures").Op(":=").Lit(1)
		}
	}

	var test *code.Statement
	switch {
	case a.Retries:
		test = code.Id("left").Op(">=").Lit(0)
	case a.Down:
		test = code.Id("left").Op(">").Lit(0)
	case a.Max > 0:
		test = code.Id("failures").Op("<").Lit(a.Max)
	case a.MaxOf != nil:
		test = underLimit(g, a.MaxOf)
	default:
		return nil
	}
	if a.Unlimited && a.Field.Null {
		test = count.Clone().Op("==").Nil().Op("||").Add(test)
	}
	return test
}

// underLimit returns the test whether the failures of a job leave it tries by the limit of
// its row.
//
//	job.MaxTries == nil || *job.MaxTries == -1 || failures < int(*job.MaxTries)
//
// Where a null stands for a number, the limit is worked out before:
//
//	most := 15
//	if job.MaxTries != nil {
//		most = int(*job.MaxTries)
//	}
func underLimit(g *code.Group, l *plan.RowLimit) *code.Statement {
	op := "<"
	if l.Retries {
		op = "<="
	}
	held := code.Id("job").Dot(l.Field.Name)
	var test *code.Statement
	or := func(t *code.Statement) {
		if test == nil {
			test = t
			return
		}
		test = test.Op("||").Add(t)
	}
	most := wholeNumber(held.Clone(), l.Field)
	switch {
	case l.Field.Null && l.Null != nil:
		most = code.Id("most")
		g.Add(most.Clone().Op(":=").Lit(*l.Null))
		g.If(held.Clone().Op("!=").Nil()).Block(most.Clone().Op("=").Add(wholeNumber(code.Op("*").Add(held), l.Field)))
	case l.Field.Null:
		or(held.Clone().Op("==").Nil())
		most = wholeNumber(code.Op("*").Add(held), l.Field)
	}
	for _, n := range l.Endless {
		or(most.Clone().Op("==").Op(n))
	}
	or(code.Id("failures").Op(op).Add(most))
	return test
}

// wholeNumber is what a column that counts holds, as an int.
func wholeNumber(expr *code.Statement, f *plan.Field) *code.Statement {
	switch {
	case f.GoType == "int":
		return expr
	case f.Digits:
		return code.Id("wholeNumber").Call(expr)
	}
	return code.Int().Call(expr)
}

// wholeNumberFunc emits
//
//	func wholeNumber(text string) int {
//		f, _ := strconv.ParseFloat(text, 64) // what the server has written is a number
//		return int(max(math.MinInt32, min(f, math.MaxInt32)))
//	}
func (w *writer) wholeNumberFunc(f *code.File) {
	bound := func(name string) *code.Statement { return code.Qual("math", name) }
	decl(f, []string{"wholeNumber reads a count that is kept as a decimal number; what is beyond 32 bits is as good as no end."},
		code.Func().Id("wholeNumber").Params(code.Id("text").String()).Int().Block(
			code.List(code.Id("f"), code.Id("_")).Op(":=").Qual("strconv", "ParseFloat").Call(code.Id("text"), code.Lit(64)).Comment("what the server has written is a number"),
			code.Return(code.Int().Call(code.Id("max").Call(bound("MinInt32"), code.Id("min").Call(code.Id("f"), bound("MaxInt32"))))),
		))
}

// backoffFunc emits
//
//	func backoff(failures int) time.Duration {
//		wait := float64(5*time.Second) * math.Pow(2, float64(failures-1))
//		wait = min(wait, float64(time.Hour))
//		wait *= 1 + 0.1*(2*rand.Float64()-1)
//		return time.Duration(wait)
//	}
func (w *writer) backoffFunc(f *code.File) {
	b := w.Backoff
	doc := "backoff is the wait after that many failures: " + durationText(b.Base)
	if b.Factor != 1 {
		doc += fmt.Sprintf(", times %v with each further one", b.Factor)
	}
	if b.Max > 0 {
		doc += ", at most " + durationText(b.Max)
	}
	if b.Jitter > 0 {
		doc += fmt.Sprintf(", give or take %v %%", b.Jitter*100)
	}
	most := code.Float64().Call(code.Qual("math", "MaxInt64")).Op("/").Lit(4)
	if b.Max > 0 {
		most = code.Float64().Call(durationExpr(b.Max))
	}
	decl(f, []string{doc + "."},
		code.Func().Id("backoff").Params(code.Id("failures").Int()).Qual("time", "Duration").BlockFunc(func(g *code.Group) {
			g.Id("wait").Op(":=").Float64().Call(durationExpr(b.Base)).Op("*").
				Qual("math", "Pow").Call(code.Lit(number(b.Factor)), code.Float64().Call(code.Id("failures").Op("-").Lit(1)))
			g.Id("wait").Op("=").Id("min").Call(code.Id("wait"), most)
			if b.Jitter > 0 {
				g.Id("wait").Op("*=").Lit(1).Op("+").Lit(b.Jitter).Op("*").Parens(code.Lit(2).Op("*").Qual(mathRand, "Float64").Call().Op("-").Lit(1))
			}
			g.Return(code.Qual("time", "Duration").Call(code.Id("wait")))
		}))
}

// number is f as a literal would be typed: 2, 1.5.
func number(f float64) any {
	if i := int(f); float64(i) == f {
		return i
	}
	return f
}

// errorArg is the text of cause as an argument that keeps to most.
//
//	cutBytes(errorText(cause, 2000), 4000)
func (w *writer) errorArg(most plan.Longest) *code.Statement {
	text := code.Id("errorText").Call(code.Id("cause"), code.Lit(most.Characters))
	if most.UTF16 > 0 {
		text = cutUTF16.call(text, most.UTF16)
	}
	if most.Bytes > 0 {
		text = cutBytes.call(text, most.Bytes)
	}
	return text
}

// errorTextFunc emits
//
//	func errorText(cause error, most int) string {
//		if cause == nil {
//			return ""
//		}
//		text := strings.ReplaceAll(cause.Error(), "\x00", "�")
//		text = strings.ToValidUTF8(text, "�")
//		n := 0
//		for i := range text {
//			if most > 0 && n == most {
//				return text[:i]
//			}
//			n++
//		}
//		return text
//	}
func (w *writer) errorTextFunc(f *code.File) {
	replaced := func() *code.Statement { return code.Lit(string('\uFFFD')) }
	doc := "errorText is the text of cause as a column can hold it, cut to most characters where most is not 0."
	if w.WantsError {
		doc += " The column takes no empty one."
	}
	decl(f, []string{doc},
		code.Func().Id("errorText").Params(code.Id("cause").Error(), code.Id("most").Int()).String().BlockFunc(func(g *code.Group) {
			if w.WantsError {
				g.If(code.Id("cause").Op("==").Nil().Op("||").Qual("strings", "TrimSpace").Call(code.Id("cause").Dot("Error").Call()).Op("==").Lit("")).Block(
					code.Id("cause").Op("=").Qual("errors", "New").Call(code.Lit("unknown error")))
			} else {
				g.If(code.Id("cause").Op("==").Nil()).Block(code.Return(code.Lit("")))
			}
			g.Id("text").Op(":=").Qual("strings", "ReplaceAll").Call(code.Id("cause").Dot("Error").Call(), code.Lit("\x00"), replaced())
			g.Id("text").Op("=").Qual("strings", "ToValidUTF8").Call(code.Id("text"), replaced())
			g.Id("n").Op(":=").Lit(0)
			g.For(code.Id("i").Op(":=").Range().Id("text")).Block(
				code.If(code.Id("most").Op(">").Lit(0).Op("&&").Id("n").Op("==").Id("most")).Block(
					code.Return(code.Id("text").Index(code.Op(":").Id("i"))),
				),
				code.Id("n").Op("++"),
			)
			g.Return(code.Id("text"))
		}))
}

// cut is a function that cuts a text between two of its characters:
//
//	func cutBytes(text string, most int) string {
//		n := 0
//		for i, r := range text {
//			if n += utf8.RuneLen(r); n > most {
//				return text[:i]
//			}
//		}
//		return text
//	}
type cut struct {
	name, doc string
	size      func(r *code.Statement) *code.Statement // of a character
}

var (
	cutUTF16 = cut{"cutUTF16", "cutUTF16 is text cut to most code units of UTF-16, between two characters.", func(r *code.Statement) *code.Statement {
		return code.Len(code.Qual("unicode/utf16", "AppendRune").Call(code.Nil(), r))
	}}
	cutBytes = cut{"cutBytes", "cutBytes is text cut to most bytes of UTF-8, between two characters.", func(r *code.Statement) *code.Statement {
		return code.Qual("unicode/utf8", "RuneLen").Call(r)
	}}
)

func (c cut) call(text *code.Statement, most int) *code.Statement {
	return code.Id(c.name).Call(text, code.Lit(most))
}

func (c cut) function(f *code.File) {
	decl(f, []string{c.doc},
		code.Func().Id(c.name).Params(code.Id("text").String(), code.Id("most").Int()).String().Block(
			code.Id("n").Op(":=").Lit(0),
			code.For(code.List(code.Id("i"), code.Id("r")).Op(":=").Range().Id("text")).Block(
				code.If(code.Id("n").Op("+=").Add(c.size(code.Id("r"))).Op(";").Id("n").Op(">").Id("most")).Block(
					code.Return(code.Id("text").Index(code.Op(":").Id("i"))),
				),
			),
			code.Return(code.Id("text")),
		))
}

// startFile writes start.go.
func (w *writer) startFile() *code.File { return w.keeping("Start", w.Start, "scanStarted") }

// extendFile writes extend.go.
func (w *writer) extendFile() *code.File { return w.keeping("Extend", w.Extend, "scanExtended") }

// keeping writes the file of an operation that leaves jobs to their holder; scan reads
// what it changed.
func (w *writer) keeping(name string, s *plan.Settle, scan string) *code.File {
	f := w.newFile()
	embed(f, settleStatements(s)...)
	if len(s.Refreshes) > 0 {
		w.refreshing(f, name, s, scan)
		return f
	}
	w.settleOperation(f, name, s, func(g *code.Group) {
		before, call := w.settled(w.opOf(name), code.Id("jobs"), s, overJobs())
		addAll(g, before)
		g.Return(call)
	})
	return f
}

// refreshing emits such an operation that reads back what it changed:
//
//	func (q *Queue) Extend(ctx context.Context, jobs ...*Job) (err error) {
//		if len(jobs) == 0 {
//			return nil
//		}
//		var fresh []Job
//		…
//		err = q.retry(ctx, "extend", func(db DBTX) (err error) {
//			fresh, err = query(ctx, db, scanExtended, extendSQL, …)
//			return err
//		})
//		if err != nil {
//			return err
//		}
//		byKey := make(map[Key]Job, len(fresh))
//		for _, j := range fresh {
//			byKey[j.Key()] = j
//		}
//		for _, j := range jobs {
//			if now, ok := byKey[j.Key()]; ok {
//				j.LeaseTill = now.LeaseTill
//			}
//		}
//		return lost("extend", …)
//	}
func (w *writer) refreshing(f *code.File, name string, s *plan.Settle, scan string) {
	op := w.opOf(name)
	var names []string
	for _, r := range s.Refreshes {
		names = append(names, r.Name)
	}
	doc := append(w.givenDoc(name, s), "It writes what the database holds now into the jobs: "+strings.Join(names, ", ")+".")
	from := source{many: code.Id("jobs"), item: code.Op("*").Id("Job")}
	before, args := w.arguments(s.Statement, from, op)
	if s.WritesOthers() {
		before = nil // within the attempt
	}
	decl(f, docOf(doc, settleStatements(s)...),
		code.Func().Add(w.receiver()).Id(name).Params(w.settleParams(s, code.Id("jobs").Op("...").Op("*").Id("Job"))...).Params(code.Err().Error()).BlockFunc(func(g *code.Group) {
			g.If(empty("jobs")).Block(code.Return(code.Nil()))
			w.checkLease(g, op, s.LeaseArg)
			w.inParts(g, name, "jobs", s)
			g.Var().Id("fresh").Index().Id("Job")
			g.Add(observe(w.queue(), code.Lit(op), code.Len(code.Id("fresh"))))
			addAll(g, before)
			switch {
			case s.WritesOthers():
				w.refreshWith(g, op, s, scan, from)
			case s.Read == nil:
				g.Add(attempt(w.queue(), "retry", code.Lit(op), queryInto("fresh", scan, w.bound(s.Statement, args)...)))
			default:
				w.refreshTwice(g, op, s, scan, from, args)
			}
			g.Add(ifErr())
			g.Id("byKey").Op(":=").Make(code.Map(code.Id("Key")).Id("Job"), code.Len(code.Id("fresh")))
			g.Id("found").Op(":=").Make(code.Index().Id("Key"), code.Len(code.Id("fresh")))
			g.For(code.List(code.Id("i"), code.Id("j")).Op(":=").Range().Id("fresh")).Block(
				code.List(code.Id("byKey").Index(code.Id("j").Dot("Key").Call()), code.Id("found").Index(code.Id("i"))).Op("=").List(code.Id("j"), code.Id("j").Dot("Key").Call()),
			)
			g.Id("given").Op(":=").Make(code.Index().Id("Job"), code.Len(code.Id("jobs")))
			g.For(code.List(code.Id("i"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(
				code.If(code.List(code.Id("now"), code.Id("ok")).Op(":=").Id("byKey").Index(code.Id("j").Dot("Key").Call()), code.Id("ok")).BlockFunc(func(g *code.Group) {
					for _, r := range s.Refreshes {
						g.Id("j").Dot(r.Name).Op("=").Id("now").Dot(r.Name)
					}
				}),
				code.Id("given").Index(code.Id("i")).Op("=").Op("*").Id("j"),
			)
			g.Return(code.Id("lost").Call(code.Lit(op), code.Id("given"), code.Id("found")))
		}))
}

// refreshTwice emits such an operation whose statement returns no rows, so that
// another one reads what it changed. The rows are locked first, or those that it changed
// are counted:
//
//	err = q.transact(ctx, "extend", func(db DBTX) (err error) {
//		fresh = nil
//		held, err := query(ctx, db, scanCandidate, extendLockSQL, …) // or changed(ctx, db, jobs, extendSQL, …)
//		if err != nil || len(held) == 0 {
//			return err
//		}
//		if _, err = exec(ctx, db, extendSQL, …); err != nil { // behind a lock
//			return err
//		}
//		fresh, err = query(ctx, db, scanExtended, extendReadSQL, …)
//		return err
//	})
func (w *writer) refreshTwice(g *code.Group, op string, s *plan.Settle, scan string, from source, args []*code.Statement) {
	held := source{many: code.Id("held"), item: from.item}
	var body []*code.Statement
	switch {
	case s.Alone:
		held.many, held.item = from.many, from.item
		before, lockArgs := w.arguments(s.Lock, from, "")
		body = append([]*code.Statement{
			code.Id("fresh").Op("=").Nil(),
			code.List(code.Id("n"), code.Err()).Op(":=").Add(execCall(w.bound(s.Statement, args)...)),
			ifErr(),
			code.If(code.Id("n").Op("==").Lit(0)).BlockFunc(func(g *code.Group) {
				g.Comment("// What the row holds already changes nothing.")
				addAll(g, before)
				g.If(code.List(code.Id("held"), code.Err()).Op(":=").Add(readCall(reader(s.Lock), "scanKey", w.bound(s.Lock, lockArgs)...)),
					errOr(empty("held"))).Block(code.Return(code.Err()))
			}),
		}, body...)
	case s.Lock != nil:
		held.item = code.Id("Job")
		body = append(w.lockRows("fresh", "held", "scanCandidate", s.Lock, from),
			ifAssign(code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(w.bound(s.Statement, args)...))))
	default:
		changed := code.Id("changed").Call(spread([]*code.Statement{code.Id("ctx"), code.Id("db"), code.Id("jobs"), w.text(s.Statement)}, args)...)
		body = unlessNone("fresh", "held", changed, empty("held"))
	}
	_, readArgs := w.arguments(s.Read, held, "")
	body = append(body, queryInto("fresh", scan, w.bound(s.Read, readArgs)...))
	g.Add(attempt(w.queue(), "transact", code.Lit(op), body...))
}

// refreshWith emits such an operation that writes other tables, too:
//
//	err = q.transact(ctx, "extend", func(db DBTX) (err error) {
//		fresh = nil
//		found, err := query(ctx, db, scanKey, extendLockSQL, …)
//		if err != nil || len(found) == 0 {
//			return err
//		}
//		held := stillHeld(jobs, found)
//		if _, err := exec(ctx, db, extendUpdateFiredSQL, …); err != nil {
//			return err
//		}
//		fresh, err = query(ctx, db, scanExtended, extendSQL, …)
//		if err != nil {
//			return err
//		}
//		return whole(found, column(fresh, Job.Key))
//	})
func (w *writer) refreshWith(g *code.Group, op string, s *plan.Settle, scan string, from source) {
	before := s.With
	last := s.Statement
	if s.Read != nil {
		before, last = slices.Concat(s.With, []*plan.Statement{s.Statement}, s.Behind), s.Read
	}
	lines := append([]*code.Statement{code.Id("fresh").Op("=").Nil()}, w.lockedKeys(s, from)...)
	held := heldOf(from)
	held.batches = map[string]string{}
	lines = append(lines, w.inTurn(w.queue(), before, held)...)
	made, args := w.arguments(last, held, "")
	lines = append(lines, made...)
	whole := code.Id("whole").Call(code.Id("found"), code.Id("column").Call(code.Id("fresh"), code.Id("Job").Dot("Key")))
	read := []*code.Statement{code.List(code.Id("fresh"), code.Err()).Op("=").Add(queryCall(scan, w.bound(last, args)...)), ifErr()}
	switch {
	case s.Read != nil:
		lines = append(lines, queryInto("fresh", scan, w.bound(last, args)...))
	case len(s.Behind) > 0:
		lines = append(append(lines, read...), ifAssign(code.Err().Op(":=").Add(whole)))
		lines = append(append(lines, w.inTurn(w.queue(), s.Behind, held)...), code.Return(code.Nil()))
	default:
		lines = append(append(lines, read...), code.Return(whole))
	}
	g.Add(attempt(w.queue(), "transact", code.Lit(op), lines...))
}
