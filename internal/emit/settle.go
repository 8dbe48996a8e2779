package emit

// This file writes what settles claims: complete.go, fail.go, requeue.go and
// extend.go.

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

// overJobs takes the arguments of a statement from jobs []Job.
func overJobs() source { return source{many: jen.Id("jobs"), item: jen.Id("Job")} }

// overDone takes them from done []Done.
func overDone() source {
	return source{many: jen.Id("done"), item: jen.Id("Done"), done: true}
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
func (w *writer) completeFile() *jen.File {
	s := w.Complete
	f := w.newFile()
	embed(f, s.Statement)
	if s.Result != nil {
		w.doneType(f)
	}
	w.settleOperation(f, "Complete", s, func(g *jen.Group) {
		from, jobs := w.doneSource()
		before, args := w.arguments(s.Statement, from, "complete")
		addAll(g, before)
		g.Return(w.settleCall("complete", jobs, s.Statement, args))
	})
	return f
}

// doneParam is the parameter of what completes jobs: jobs ...Job, or
// done ...Done where a job has a result.
func (w *writer) doneParam() (name, typ string) {
	if w.Complete.Result != nil {
		return "done", "Done"
	}
	return "jobs", "Job"
}

// doneSource is where the arguments of the completing statement come from, and
// the expression for the jobs among them.
func (w *writer) doneSource() (source, *jen.Statement) {
	if w.Complete.Result == nil {
		return overJobs(), jen.Id("jobs")
	}
	return overDone(), jen.Id("column").Call(jen.Id("done"),
		jen.Func().Params(jen.Id("d").Id("Done")).Id("Job").Add(inline(jen.Return(jen.Id("d").Dot("Job")))))
}

// doneType emits
//
//	type Done struct {
//		Job
//		Result string // text
//	}
//
//	func (j Job) Done(result string) Done { return Done{Job: j, Result: result} }
func (w *writer) doneType(f *jen.File) {
	r := w.Complete.Result
	decl(f, []string{"Done is a finished job and its result."},
		jen.Type().Id("Done").Struct(
			jen.Id("Job"),
			jen.Id("Result").Add(w.fieldType(r)).Comment(sqlType(r)),
		))
	decl(f, []string{"Done returns the job with its result, for Complete."},
		jen.Func().Add(jobReceiver()).Id("Done").Params(jen.Id("result").Add(w.fieldType(r))).Id("Done").Block(
			jen.Return(jen.Id("Done").Values(jen.Id("Job").Op(":").Id("j"), jen.Id("Result").Op(":").Id("result")))))
}

// settleOperation emits an operation over any number of jobs; body follows the
// test for none.
func (w *writer) settleOperation(f *jen.File, name string, s *plan.Settle, body func(g *jen.Group)) {
	params := []jen.Code{ctxParam()}
	if s.Delay {
		params = append(params, jen.Id("delay").Qual("time", "Duration"))
	}
	if s.LeaseArg {
		params = append(params, jen.Id("lease").Qual("time", "Duration"))
	}
	variable, typ := "jobs", "Job"
	if name == "Complete" {
		variable, typ = w.doneParam()
	}
	params = append(params, jen.Id(variable).Op("...").Id(typ))
	decl(f, docOf(s.Doc, s.Statement),
		jen.Func().Add(w.receiver()).Id(name).Params(params...).Error().BlockFunc(func(g *jen.Group) {
			g.If(jen.Len(jen.Id(variable)).Op("==").Lit(0)).Block(jen.Return(jen.Nil()))
			body(g)
		}))
}

// settleCall is q.settle(ctx, "complete", jobs, completeSQL, args…).
func (w *writer) settleCall(op string, jobs *jen.Statement, s *plan.Statement, args []jen.Code) *jen.Statement {
	return w.queue().Dot("settle").Call(spread([]jen.Code{jen.Id("ctx"), jen.Lit(op), jobs, jen.Id(s.Var)}, args)...)
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
func (w *writer) requeueFile() *jen.File {
	s := w.Requeue
	f := w.newFile()
	embed(f, s.Statement)
	w.settleOperation(f, "Requeue", s, func(g *jen.Group) {
		from := overJobs()
		from.delay = jen.Id("delay")
		before, args := w.arguments(s.Statement, from, "requeue")
		addAll(g, before)
		call := w.settleCall("requeue", jen.Id("jobs"), s.Statement, args)
		if !w.hasLow() {
			g.Return(call)
			return
		}
		g.Add(assignErr(len(before) > 0)).Add(call)
		g.For(jen.List(jen.Id("_"), jen.Id("j")).Op(":=").Range().Id("jobs")).Block(w.lower(jen.Id("j")))
		g.Return(jen.Err())
	})
	return f
}

// assignErr is err = where err was declared before, else err :=.
func assignErr(declared bool) *jen.Statement {
	if declared {
		return jen.Err().Op("=")
	}
	return jen.Err().Op(":=")
}

// lower is q.low.lower(j.MsgID).
func (w *writer) lower(job *jen.Statement) *jen.Statement {
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
func (w *writer) failFile() *jen.File {
	f := w.newFile()
	var statements []*plan.Statement
	var doc []string
	for _, s := range []*plan.Settle{w.Retry, w.Fail} {
		if s != nil {
			statements = append(statements, s.Statement)
			if doc == nil {
				doc = s.Doc
			}
		}
	}
	embed(f, statements...)
	decl(f, docOf(doc, statements...),
		jen.Func().Add(w.receiver()).Id("Fail").Params(ctxParam(), jen.Id("job").Id("Job"), jen.Id("cause").Error()).Error().BlockFunc(func(g *jen.Group) {
			g.Id("jobs").Op(":=").Index().Id("Job").Values(jen.Id("job"))
			if w.Retry == nil {
				w.failWith(g, w.Fail, false, false)
				return
			}
			left := w.countTries(g)
			if w.Fail == nil || left == nil {
				w.failWith(g, w.Retry, true, false)
				return
			}
			before := w.failArguments(w.Retry).before
			shared := fmt.Sprintf("%#v", before) == fmt.Sprintf("%#v", w.failArguments(w.Fail).before)
			if shared {
				addAll(g, before)
			}
			g.If(left).BlockFunc(func(g *jen.Group) { w.failWith(g, w.Retry, true, shared) })
			w.failWith(g, w.Fail, false, shared)
		}))
	return f
}

// failArguments are the arguments of one of the statements of Fail, and what
// stands before their use.
func (w *writer) failArguments(s *plan.Settle) (a struct{ before, args []jen.Code }) {
	from := overJobs()
	from.delay = jen.Id("backoff").Call(jen.Id("failures"))
	a.before, a.args = w.arguments(s.Statement, from, "fail")
	return a
}

// failWith emits the return of Fail by one of its statements. again says that
// the job is ready afterwards; prepared, that what its arguments need stands
// there already.
func (w *writer) failWith(g *jen.Group, s *plan.Settle, again, prepared bool) {
	a := w.failArguments(s)
	if !prepared {
		addAll(g, a.before)
	}
	call := w.settleCall("fail", jen.Id("jobs"), s.Statement, a.args)
	if !again || !w.hasLow() {
		g.Return(call)
		return
	}
	g.Add(assignErr(len(a.before) > 0)).Add(call)
	g.Add(w.lower(jen.Id("job")))
	g.Return(jen.Err())
}

// countTries emits the number of failures, this one included, where the
// backoff or the limit needs it, and returns the test whether tries are left:
// nil when they always are.
//
//	failures := int(job.Tries)
func (w *writer) countTries(g *jen.Group) *jen.Statement {
	delayed := false
	for _, a := range w.Retry.Statement.Args {
		delayed = delayed || a.Kind == plan.ArgDelay
	}
	a := w.Attempts
	if a == nil {
		if delayed {
			g.Id("failures").Op(":=").Lit(1)
		}
		return nil
	}

	count := jen.Id("job").Dot(a.Field.Name)
	limited := a.Down || a.Max > 0 || a.MaxOf != nil
	if !delayed && !limited {
		return nil
	}
	number := func(expr *jen.Statement, f *plan.Field) *jen.Statement {
		if f.GoType == "int" {
			return expr
		}
		return jen.Int().Call(expr)
	}

	name := "failures"
	if a.Down {
		name = "left"
	}
	if a.Field.Null {
		g.Id(name).Op(":=").Lit(0)
		g.If(count.Clone().Op("!=").Nil()).Block(jen.Id(name).Op("=").Add(number(jen.Op("*").Add(count.Clone()), a.Field)))
	} else {
		g.Id(name).Op(":=").Add(number(count.Clone(), a.Field))
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
			g.Id("failures").Op(":=").Id("max").Call(jen.Lit(1), jen.Lit(a.Max).Op("-").Id("left"))
		} else {
			g.Id("failures").Op(":=").Lit(1)
		}
	}

	var test *jen.Statement
	switch {
	case a.Down:
		test = jen.Id("left").Op(">").Lit(0)
	case a.Max > 0:
		test = jen.Id("failures").Op("<").Lit(a.Max)
	case a.MaxOf != nil && a.MaxOf.Null:
		most := jen.Id("job").Dot(a.MaxOf.Name)
		test = most.Clone().Op("==").Nil().Op("||").Id("failures").Op("<").Add(number(jen.Op("*").Add(most), a.MaxOf))
	case a.MaxOf != nil:
		test = jen.Id("failures").Op("<").Add(number(jen.Id("job").Dot(a.MaxOf.Name), a.MaxOf))
	default:
		return nil
	}
	if a.Unlimited && a.Field.Null {
		test = count.Clone().Op("==").Nil().Op("||").Add(test)
	}
	return test
}

// backoffFunc emits
//
//	func backoff(failures int) time.Duration {
//		wait := float64(5*time.Second) * math.Pow(2, float64(failures-1))
//		wait = min(wait, float64(time.Hour))
//		wait *= 1 + 0.1*(2*rand.Float64()-1)
//		return time.Duration(wait)
//	}
func (w *writer) backoffFunc(f *jen.File) {
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
	most := jen.Float64().Call(jen.Qual("math", "MaxInt64")).Op("/").Lit(4)
	if b.Max > 0 {
		most = jen.Float64().Call(durationExpr(b.Max))
	}
	decl(f, []string{doc + "."},
		jen.Func().Id("backoff").Params(jen.Id("failures").Int()).Qual("time", "Duration").BlockFunc(func(g *jen.Group) {
			g.Id("wait").Op(":=").Float64().Call(durationExpr(b.Base)).Op("*").
				Qual("math", "Pow").Call(jen.Lit(number(b.Factor)), jen.Float64().Call(jen.Id("failures").Op("-").Lit(1)))
			g.Id("wait").Op("=").Id("min").Call(jen.Id("wait"), most)
			if b.Jitter > 0 {
				g.Id("wait").Op("*=").Lit(1).Op("+").Lit(b.Jitter).Op("*").Parens(jen.Lit(2).Op("*").Qual(mathRand, "Float64").Call().Op("-").Lit(1))
			}
			g.Return(jen.Qual("time", "Duration").Call(jen.Id("wait")))
		}))
}

// number is f as a literal would be typed: 2, 1.5.
func number(f float64) any {
	if i := int(f); float64(i) == f {
		return i
	}
	return f
}

// errorTextFunc emits
//
//	func errorText(cause error, most int) string {
//		if cause == nil {
//			return ""
//		}
//		text := strings.ToValidUTF8(strings.ReplaceAll(cause.Error(), "\x00", "�"), "�")
//		n := 0
//		for i := range text {
//			if n == most && most > 0 {
//				return text[:i]
//			}
//			n++
//		}
//		return text
//	}
func (w *writer) errorTextFunc(f *jen.File) {
	replaced := jen.Lit(string('\uFFFD'))
	decl(f, []string{"errorText is the text of cause as a column can hold it, cut to most characters where most is not 0."},
		jen.Func().Id("errorText").Params(jen.Id("cause").Error(), jen.Id("most").Int()).String().Block(
			jen.If(jen.Id("cause").Op("==").Nil()).Block(jen.Return(jen.Lit(""))),
			jen.Id("text").Op(":=").Qual("strings", "ReplaceAll").Call(jen.Id("cause").Dot("Error").Call(), jen.Lit("\x00"), replaced),
			jen.Id("text").Op("=").Qual("strings", "ToValidUTF8").Call(jen.Id("text"), replaced.Clone()),
			jen.Id("n").Op(":=").Lit(0),
			jen.For(jen.Id("i").Op(":=").Range().Id("text")).Block(
				jen.If(jen.Id("most").Op(">").Lit(0).Op("&&").Id("n").Op("==").Id("most")).Block(
					jen.Return(jen.Id("text").Index(jen.Op(":").Id("i"))),
				),
				jen.Id("n").Op("++"),
			),
			jen.Return(jen.Id("text")),
		))
}

// extendFile writes extend.go.
func (w *writer) extendFile() *jen.File {
	s := w.Extend
	f := w.newFile()
	embed(f, s.Statement)
	if len(s.Refreshes) > 0 {
		w.refreshingExtend(f)
		return f
	}
	w.settleOperation(f, "Extend", s, func(g *jen.Group) {
		before, args := w.arguments(s.Statement, overJobs(), "extend")
		addAll(g, before)
		g.Return(w.settleCall("extend", jen.Id("jobs"), s.Statement, args))
	})
	return f
}

// refreshingExtend emits an Extend that reads back what it changed:
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
func (w *writer) refreshingExtend(f *jen.File) {
	s := w.Extend
	params := []jen.Code{ctxParam()}
	if s.LeaseArg {
		params = append(params, jen.Id("lease").Qual("time", "Duration"))
	}
	params = append(params, jen.Id("jobs").Op("...").Op("*").Id("Job"))
	var names []string
	for _, r := range s.Refreshes {
		names = append(names, r.Name)
	}
	doc := append(append([]string(nil), s.Doc...), "It writes what the database holds now into the jobs: "+strings.Join(names, ", ")+".")
	before, args := w.arguments(s.Statement, source{many: jen.Id("jobs"), item: jen.Op("*").Id("Job")}, "extend")
	decl(f, docOf(doc, s.Statement),
		jen.Func().Add(w.receiver()).Id("Extend").Params(params...).Params(jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			g.If(jen.Len(jen.Id("jobs")).Op("==").Lit(0)).Block(jen.Return(jen.Nil()))
			g.Var().Id("fresh").Index().Id("Job")
			g.Add(observe(w.queue(), jen.Lit("extend"), jen.Len(jen.Id("fresh"))))
			addAll(g, before)
			g.Add(attempt(w.queue(), "retry", jen.Lit("extend"), queryInto("fresh", "scanExtended", append([]jen.Code{jen.Id(s.Statement.Var)}, args...)...)))
			g.Add(ifErr())
			g.Id("byKey").Op(":=").Make(jen.Map(jen.Id("Key")).Id("Job"), jen.Len(jen.Id("fresh")))
			g.Id("found").Op(":=").Make(jen.Index().Id("Key"), jen.Len(jen.Id("fresh")))
			g.For(jen.List(jen.Id("i"), jen.Id("j")).Op(":=").Range().Id("fresh")).Block(
				jen.List(jen.Id("byKey").Index(jen.Id("j").Dot("Key").Call()), jen.Id("found").Index(jen.Id("i"))).Op("=").List(jen.Id("j"), jen.Id("j").Dot("Key").Call()),
			)
			g.Id("given").Op(":=").Make(jen.Index().Id("Job"), jen.Len(jen.Id("jobs")))
			g.For(jen.List(jen.Id("i"), jen.Id("j")).Op(":=").Range().Id("jobs")).Block(
				jen.If(jen.List(jen.Id("now"), jen.Id("ok")).Op(":=").Id("byKey").Index(jen.Id("j").Dot("Key").Call()), jen.Id("ok")).BlockFunc(func(g *jen.Group) {
					for _, r := range s.Refreshes {
						g.Id("j").Dot(r.Name).Op("=").Id("now").Dot(r.Name)
					}
				}),
				jen.Id("given").Index(jen.Id("i")).Op("=").Op("*").Id("j"),
			)
			g.Return(jen.Id("lost").Call(jen.Lit("extend"), jen.Id("given"), jen.Id("found")))
		}))
}
