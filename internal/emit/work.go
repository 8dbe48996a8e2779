package emit

// This file writes work.go: the worker loop. Its shape follows from what a
// claim leaves behind: marked rows (workstream.go), a transaction or nothing at
// all (workbatch.go), or no row (workpop.go). What these share is here. The
// files testdata/work/golden/*.go.golden show what is printed.

import (
	"slices"
	"time"
	"unicode"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) workFile() *code.File {
	f := w.newFile()
	switch {
	case w.Claim == nil:
		w.fail("there is no claim to work with")
	case w.Complete == nil:
		w.workPop(f)
	case w.Hold || w.Claim.Flow == plan.ReadOnly:
		w.workBatch(f)
	default:
		w.workStream(f)
	}
	return f
}

// marks reports whether a claimed job is kept from others by what the claim
// wrote, so that jobs may be claimed while others run.
func (w *writer) marks() bool {
	return w.Complete != nil && !w.Hold && w.Claim.Flow != plan.ReadOnly
}

// fails reports whether a failed job can be recorded.
func (w *writer) fails() bool { return w.Fail != nil || w.Retry != nil }

// keepsCause reports whether a table keeps why a job failed, whatever becomes of it; keepsNone
// whether none ever does.
func (w *writer) keepsCause() bool {
	return w.fails() && !slices.ContainsFunc(w.failures(), func(s *plan.Settle) bool { return !s.KeepsCause() })
}

func (w *writer) keepsNone() bool {
	return !slices.ContainsFunc(w.failures(), (*plan.Settle).KeepsCause)
}

// failures lists what records that a job has failed.
func (w *writer) failures() []*plan.Settle {
	return slices.DeleteFunc([]*plan.Settle{w.Retry, w.Fail}, func(s *plan.Settle) bool { return s == nil })
}

// keepsLease reports whether Work renews claims.
func (w *writer) keepsLease() bool { return w.Extend != nil && w.marks() }

// renewedMarks are the fields which a job has to have to be settled and Work changes when it
// renews the claim: the handler's copy of the job does not have them.
func (w *writer) renewedMarks() []*plan.Field {
	if !w.WorkLoop || !w.keepsLease() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.Extend.Refreshes), func(f *plan.Field) bool { return !w.isFence(f) })
}

// tellsWork reports whether what a handler settles by itself is told to Work, which else would
// renew the claim, or wait to do so until the handler's transaction ends.
func (w *writer) tellsWork() bool { return w.WorkLoop && w.keepsLease() }

// asHandled emits, for an operation over jobs that a handler may call,
//
//	if h := handled(ctx); h != nil {
//		jobs = slices.Clone(jobs)
//		for i := range jobs {
//			h.freshen(&jobs[i])
//		}
//		defer func() { h.report(err, jobs...) }()
//	}
//
// of which the jobs stay as they are where renewals leave their marks alone.
func (w *writer) asHandled(g *code.Group, variable string) {
	job, jobs := code.Id(variable).Index(code.Id("i")), code.Id(variable)
	if w.carries() && variable == "done" {
		job = job.Dot("Job")
		_, jobs = w.doneSource()
	}
	var renewed []*code.Statement
	if len(w.renewedMarks()) > 0 {
		renewed = []*code.Statement{
			code.Id(variable).Op("=").Qual("slices", "Clone").Call(code.Id(variable)),
			code.For(code.Id("i").Op(":=").Range().Id(variable)).Block(freshen(job)),
		}
	}
	w.ifHandled(g, renewed, jobs.Op("..."))
}

// asHandledOne emits the same for an operation over one job.
func (w *writer) asHandledOne(g *code.Group) {
	var renewed []*code.Statement
	if len(w.renewedMarks()) > 0 {
		renewed = []*code.Statement{freshen(code.Id("job"))}
	}
	w.ifHandled(g, renewed, code.Id("job"))
}

func (w *writer) ifHandled(g *code.Group, renewed []*code.Statement, jobs *code.Statement) {
	if !w.tellsWork() {
		return
	}
	g.If(code.Id("h").Op(":=").Id("handled").Call(code.Id("ctx")), code.Id("h").Op("!=").Nil()).Block(
		append(renewed, code.Defer().Func().Params().Add(inline(code.Id("h").Dot("report").Call(code.Err(), jobs))).Call())...)
}

// settleResult is the result of an operation that a handler may call: it has a name where Work is
// told what became of the job.
func (w *writer) settleResult() *code.Statement {
	if !w.tellsWork() {
		return code.Error()
	}
	return code.Params(code.Err().Error())
}

// freshen is h.freshen(&job).
func freshen(job *code.Statement) *code.Statement {
	return code.Id("h").Dot("freshen").Call(code.Op("&").Add(job))
}

// sweeps reports whether Work calls Recover while it goes on: it does not know who is alive.
func (w *writer) sweeps() bool {
	return w.Recover != nil && !w.Hold && w.Recover.Alive == nil && !w.Recover.AtStart
}

// sweepsFirst reports whether Work calls Recover before it claims, and not again.
func (w *writer) sweepsFirst() bool {
	return w.WorkLoop && w.marks() && w.Recover != nil && w.Recover.AtStart
}

// namesHeartbeat reports whether the caller must say how often claims are
// renewed, because neither the table nor the call tells one length for all.
func (w *writer) namesHeartbeat() bool {
	return w.keepsLease() && !w.leaseArg() && !w.timeoutArg() && (w.Lease == nil || w.Lease.Length == 0)
}

// leaseArg reports whether the caller says how long a claim is good.
func (w *writer) leaseArg() bool {
	return w.Claim.LeaseArg || w.Extend != nil && w.Extend.LeaseArg
}

// timeoutArg reports whether what Work calls has to be told when a claim has run out.
func (w *writer) timeoutArg() bool {
	return plan.AsksTimeout(w.claimStatements()...) || w.sweeps() && plan.AsksTimeout(w.Recover.Statements()...)
}

// workOption is a field of WorkOptions that is passed on to Claim.
type workOption struct {
	name  string
	param *plan.Param
}

// workOptions lists the claim's parameters as fields of WorkOptions.
func (w *writer) workOptions() []workOption {
	own := []string{"Concurrency", "Batch", "PollInterval", "Grace", "RecoverInterval", "Heartbeat", "Lease", "Shard", "OnError"}
	var all []workOption
	if w.Claim.Accept != nil {
		own = append(own, "Accept")
	}
	if w.timeoutArg() {
		own = append(own, "Timeout")
	}
	for _, p := range w.Claim.Params {
		name := upperFirst(p.Name)
		if p.Field != nil && p.Field.Param == p.Name {
			name = p.Field.Name
		}
		if slices.Contains(own, name) {
			name += "Value"
		}
		own = append(own, name)
		all = append(all, workOption{name, p})
	}
	return all
}

// workOptionsType emits the struct WorkOptions.
func (w *writer) workOptionsType(f *code.File) {
	var fields []*code.Statement
	field := func(doc, name string, typ *code.Statement) {
		for _, line := range comment([]string{doc}) {
			fields = append(fields, code.Comment(line))
		}
		fields = append(fields, code.Id(name).Add(typ))
	}
	duration := code.Qual("time", "Duration")

	for _, o := range w.workOptions() {
		field(o.name+" is "+o.param.Doc+".", o.name, w.paramType(o.param))
	}
	if w.Claim.Accept != nil {
		field("Accept is asked whether this worker takes a job, as the accept of Claim is; nil takes every job. One goroutine calls it, and a claim with all that it asks must end within 30 seconds. When it panics, Work ends with an error.", "Accept", acceptType())
	}
	if w.Claim.Shard {
		field("Shard is the part of the table that this worker looks after. Zero means all of it.", "Shard", code.Id("Shard"))
	}
	if w.leaseArg() {
		lease := "Lease is how long a claim is good, and with that the longest time that a handler may take."
		if w.keepsLease() {
			lease = "Lease is how long a claim is good; Work renews it."
		}
		field(lease+" Zero means 5 minutes.", "Lease", duration)
	}
	if w.timeoutArg() {
		timeout := "Timeout is the time after which a claim has run out, and with that the longest time that a handler may take."
		if w.keepsLease() {
			timeout = "Timeout is the time after which a claim has run out; Work renews its own."
		}
		field(timeout+" Zero means 5 minutes. All workers have to say the same: the shortest takes jobs away from those who run them.", "Timeout", duration)
	}
	if w.namesHeartbeat() {
		field("Heartbeat is the pause between two renewals of claims: at most a third of the shortest lease that a row has. Zero means 10 seconds.", "Heartbeat", duration)
	}
	field("Concurrency is how many handlers run at once. Zero means 1, which keeps the order of the queue.", "Concurrency", code.Int())
	switch {
	case w.marks() && w.Requeue != nil:
		field("Batch is how many jobs one claim takes at most. Zero means 100. Work claims for free handlers, and ahead for as many as will be free within a PollInterval.", "Batch", code.Int())
	case w.marks() || w.Complete == nil:
		field("Batch is how many jobs one claim takes at most. Zero means 100. Work claims for free handlers only.", "Batch", code.Int())
	default:
		field("Batch is how many jobs one claim takes at most. Zero means as many as Concurrency. The next claim waits until all of them have run.", "Batch", code.Int())
	}
	poll := "PollInterval is the pause after a claim that found nothing, give or take a quarter. Zero means one second."
	if w.marks() && w.unblocks() {
		poll += " It ends sooner when a job that ends here lets another of its group run."
	}
	field(poll, "PollInterval", duration)
	field("Grace is how long handlers may go on after ctx has ended, before their own context ends. Zero means 20 seconds, less than zero none.", "Grace", duration)
	if w.keepsLease() && !w.namesHeartbeat() {
		field("Heartbeat is the pause between two renewals of claims. Zero, and more than a third of the lease, means a third of the lease.", "Heartbeat", duration)
	}
	if w.sweeps() {
		field("RecoverInterval is the pause between two calls of Recover, give or take a quarter. Zero means one minute, less than zero that Work never calls it.", "RecoverInterval", duration)
	}
	told := "database errors that it waits out, panics of handlers"
	switch {
	case w.marks():
		told = "database errors that it waits out, lost claims, panics of handlers"
	case w.Complete == nil:
		told = "database errors that it waits out, errors and panics of handlers"
	}
	switch {
	case w.Complete == nil || w.keepsCause():
	case w.keepsNone():
		told += " and their errors, which the table has no place for"
	default:
		told += " and their errors, which are not kept of every job that fails"
	}
	field("OnError is told what Work cannot return: "+told+". Several goroutines may call it at once. Nil means slog.Error.", "OnError", code.Func().Params(code.Err().Error()))

	decl(f, []string{"WorkOptions tells how Work runs. The zero value suits most queues."},
		code.Type().Id("WorkOptions").Struct(fields...))
}

// withDefaultsMethod emits
//
//	func (o WorkOptions) withDefaults() WorkOptions {
//		if o.Concurrency <= 0 {
//			o.Concurrency = 1
//		}
//		…
//		return o
//	}
func (w *writer) withDefaultsMethod(f *code.File) {
	unless := func(name, op string, value *code.Statement) *code.Statement {
		return code.If(code.Id("o").Dot(name).Op(op).Lit(0)).Block(code.Id("o").Dot(name).Op("=").Add(value))
	}
	batch := code.Lit(100)
	if w.Complete != nil && !w.marks() {
		batch = code.Id("o").Dot("Concurrency")
	}
	decl(f, []string{"withDefaults fills in what is zero."},
		code.Func().Params(code.Id("o").Id("WorkOptions")).Id("withDefaults").Params().Id("WorkOptions").BlockFunc(func(g *code.Group) {
			if w.Claim.Shard {
				g.If(code.Id("o").Dot("Shard").Dot("Count").Op("==").Lit(0)).Block(
					code.Id("o").Dot("Shard").Dot("Count").Op("=").Lit(1),
				)
			}
			if w.leaseArg() {
				g.Add(unless("Lease", "<=", durationExpr(5*time.Minute)))
			}
			if w.timeoutArg() {
				g.Add(unless("Timeout", "<=", durationExpr(5*time.Minute)))
			}
			switch {
			case w.namesHeartbeat():
				g.Add(unless("Heartbeat", "<=", durationExpr(10*time.Second)))
			case w.keepsLease():
				third := durationExpr(w.workLease() / 3)
				if w.leaseArg() || w.timeoutArg() {
					third = w.leaseOf(code.Id("o")).Op("/").Lit(3)
				}
				beat := code.Id("o").Dot("Heartbeat")
				g.If(beat.Clone().Op("<=").Lit(0).Op("||").Add(beat.Clone()).Op(">").Add(third.Clone())).Block(beat.Clone().Op("=").Add(third))
			}
			g.Add(unless("Concurrency", "<=", code.Lit(1)))
			g.Add(unless("Batch", "<=", batch))
			g.Add(unless("PollInterval", "<=", durationExpr(time.Second)))
			g.Add(unless("Grace", "==", durationExpr(20*time.Second)))
			if w.sweeps() {
				g.Add(unless("RecoverInterval", "==", durationExpr(time.Minute)))
			}
			g.If(code.Id("o").Dot("OnError").Op("==").Nil()).Block(
				code.Id("o").Dot("OnError").Op("=").Func().Params(code.Err().Error()).Block(
					code.Qual("log/slog", "Error").Call(code.Lit(w.Name+": work"), code.Lit("error"), code.Err()),
				),
			)
			g.Return(code.Id("o"))
		}))
}

// handlerType is the type of the caller's handler.
func (w *writer) handlerType() *code.Statement {
	s := code.Func().Params(ctxParam(), code.Id("job").Id("Job"))
	if !w.carries() {
		return s.Error()
	}
	return s.Params(w.handlerResults()...)
}

// handlerResults are what the caller's handler returns, where that is more than an
// error. Several have names.
func (w *writer) handlerResults() []*code.Statement {
	all := w.extras()
	if len(all) == 1 {
		return []*code.Statement{w.fieldType(all[0].field), code.Error()}
	}
	return append(w.extraFields(), code.Err().Error())
}

// workMethod declares Work, which fills a workLoop with the fields and runs it.
func (w *writer) workMethod(f *code.File, doc []string, fields ...*code.Statement) {
	all := []*code.Statement{
		code.Id("q").Op(":").Id("q"),
		code.Id("handler").Op(":").Id("handler"),
		code.Id("opts").Op(":").Id("opts"),
	}
	decl(f, doc,
		code.Func().Add(queueReceiver()).Id("Work").Params(ctxParam(), code.Id("handler").Add(w.handlerType()), code.Id("opts").Id("WorkOptions")).Error().Block(
			code.If(code.Id("handler").Op("==").Nil()).Block(
				code.Return(w.newError("work: there is no handler")),
			),
			code.If(code.Id("q").Dot("begin").Op("==").Nil()).Block(
				code.Return(w.newError("work: the queue was made over a transaction; Work needs a pool")),
			),
			code.Id("opts").Op("=").Id("opts").Dot("withDefaults").Call(),
			code.Id("w").Op(":=").Op("&").Id("workLoop").Custom(code.Brackets{Open: "{", Close: "}", Separator: ",", Lines: true}, append(all, fields...)...),
			code.Return(code.Id("w").Dot("run").Call(code.Id("ctx"))),
		))
}

// workLoopType declares the struct of one call of Work.
func (w *writer) workLoopType(f *code.File, fields ...*code.Statement) {
	all := []*code.Statement{
		code.Id("q").Op("*").Id("Queue"),
		code.Id("handler").Add(w.handlerType()),
		code.Id("opts").Id("WorkOptions"),
	}
	decl(f, []string{"workLoop is one call of Work."}, code.Type().Id("workLoop").Struct(append(all, fields...)...))
}

// loopMethod is func (w *workLoop) name.
func loopMethod(name string) *code.Statement {
	return code.Func().Params(code.Id("w").Op("*").Id("workLoop")).Id(name)
}

// loop is w.a.b within a method of workLoop.
func loop(names ...string) *code.Statement { return member("w", names...) }

// claimCall is the call of Claim on the expression on, with everything that
// the options say.
func (w *writer) claimCall(on, limit *code.Statement) *code.Statement {
	return on.Dot("Claim").CallFunc(func(g *code.Group) {
		g.Id("ctx")
		for _, o := range w.workOptions() {
			g.Add(loop("opts", o.name))
		}
		if w.Claim.Shard {
			g.Add(loop("opts", "Shard"))
		}
		if w.Claim.LeaseArg {
			g.Add(loop("opts", "Lease"))
		}
		if plan.AsksTimeout(w.claimStatements()...) {
			g.Add(loop("opts", "Timeout"))
		}
		if w.Claim.Accept != nil {
			g.Add(loop("opts", "Accept"))
		}
		g.Add(limit)
	})
}

// callHandler is the call of the handler, whose error goes to err; a job that
// could not be read is not for it:
//
//	if job.Err != nil {
//		err = job.Err
//		return
//	}
//	if err = w.start(h, &job); err != nil { // where jobs are begun by a step of their own
//		return
//	}
//	err = w.handler(ctx, job) // or h.result, err = …
func (w *writer) callHandler(on string) *code.Statement {
	s := code.Null()
	if unread := code.Id("job").Dot("Err"); w.mayNotRead() {
		s.If(unread.Clone().Op("!=").Nil()).Block(
			code.Err().Op("=").Add(unread),
			code.Return(),
		).Line()
	}
	if w.Start != nil {
		args := []*code.Statement{code.Id("h")}
		if len(w.Start.Refreshes) > 0 {
			args = append(args, code.Op("&").Id("job"))
		}
		s.If(code.Err().Op("=").Add(loop("start")).Call(args...), code.Err().Op("!=").Nil()).Block(
			code.Return(),
		).Line()
	}
	call := loop("handler").Call(code.Id("ctx"), code.Id("job"))
	if w.carries() {
		return s.List(append(w.extraArgs(on), code.Err())...).Op("=").Add(call)
	}
	return s.Err().Op("=").Add(call)
}

// catchPanic emits, inside a deferred function,
//
//	if v := recover(); v != nil {
//		err = fmt.Errorf("the handler panicked: %v\n\n%s", v, debug.Stack())
//		<report>
//	}
//
// with errPanicked in the place of its text where errors of handlers are reported as well.
func (w *writer) catchPanic(report ...*code.Statement) *code.Statement {
	if w.Complete == nil || w.keepsCause() {
		return catchPanicOf([]*code.Statement{code.Lit("the handler panicked: %v\n\n%s")}, report...)
	}
	return catchPanicOf([]*code.Statement{code.Lit("%w: %v\n\n%s"), code.Id("errPanicked")}, report...)
}

// catchPanicOf is catchPanic with what stands before the value and the stack in the error.
func catchPanicOf(what []*code.Statement, report ...*code.Statement) *code.Statement {
	caught := code.Err().Op("=").Qual("fmt", "Errorf").Call(append(what, code.Id("v"), code.Qual("runtime/debug", "Stack").Call())...)
	return code.If(code.Id("v").Op(":=").Recover(), code.Id("v").Op("!=").Nil()).Block(append([]*code.Statement{caught}, report...)...)
}

// errPanicked emits, where errors of handlers are reported,
//
//	var errPanicked = errors.New("the handler panicked")
func (w *writer) errPanicked(f *code.File) {
	if w.keepsCause() {
		return
	}
	decl(f, []string{"errPanicked is of a handler that panicked, which was reported at once."},
		code.Var().Id("errPanicked").Op("=").Qual("errors", "New").Call(code.Lit("the handler panicked")))
}

// reportFailure emits
//
//	if !errors.Is(err, errPanicked) {
//		<see reportJob>
//	}
func (w *writer) reportFailure(err *code.Statement) *code.Statement {
	return code.If(code.Op("!").Qual("errors", "Is").Call(err.Clone(), code.Id("errPanicked"))).Block(w.reportJob(err))
}

// reportJob is w.opts.OnError(fmt.Errorf("emailq: work: job %v: %w", job.Key(), err)).
func (w *writer) reportJob(err *code.Statement) *code.Statement {
	return loop("opts", "OnError").Call(w.errorf("work: job %v: %w", code.Id("job").Dot("Key").Call(), err))
}

// interrupted is the test whether err says that Work ended a handler:
//
//	errors.Is(err, context.Canceled) && w.running.Err() != nil
func interrupted(err *code.Statement) *code.Statement {
	return code.Qual("errors", "Is").Call(err, code.Qual("context", "Canceled")).Op("&&").Add(loop("running", "Err")).Call().Op("!=").Nil()
}

// interruptAfterGrace emits, after claiming has ended,
//
//	select {
//	case <-time.After(w.opts.Grace):
//		interrupt(context.Cause(claiming))
//	case <-over:
//	}
func interruptAfterGrace(claiming *code.Statement, over string) *code.Statement {
	return code.Select().Block(
		code.Case(code.Op("<-").Qual("time", "After").Call(loop("opts", "Grace"))).Block(
			code.Id("interrupt").Call(code.Qual("context", "Cause").Call(claiming)),
		),
		code.Case(code.Op("<-").Id(over)).Block(),
	)
}

// wake tells claimJobs what happened, freed or unblocked:
//
//	select {
//	case w.freed <- struct{}{}:
//	default:
//	}
func wake(by string) *code.Statement {
	return code.Select().Block(
		code.Case(loop(by).Op("<-").Struct().Values()).Block(),
		code.Default().Block(),
	)
}

// beforeWork tells the hook that a handler is called with a context of ctx:
//
//	ctx := w.q.hook.Before(ctx, "work")
func beforeWork(ctx *code.Statement) *code.Statement {
	return code.Id("ctx").Op(":=").Add(loop("q", "hook", "Before")).Call(ctx, code.Lit("work"))
}

// afterWork is w.q.hook.After(ctx, "work", 1, err).
func afterWork() *code.Statement {
	return loop("q", "hook", "After").Call(code.Id("ctx"), code.Lit("work"), code.Lit(1), code.Err())
}

// unreadDoc is what the comment of Work says of jobs that could not be read.
const unreadDoc = " A job whose Err is set counts as failed with that error; handler does not see it."

// around is around(w.opts.name) in the emitted code.
func around(name string) *code.Statement { return code.Id("around").Call(loop("opts", name)) }

// patiently emits, in a loop that lasts as long as Work claims,
//
//	err := w.patiently(w.claiming, w.running, longestCall, func(ctx context.Context) (err error) {
//		<body>
//	})
func patiently(body ...*code.Statement) *code.Statement {
	return code.Err().Op(":=").Add(loop("patiently")).Call(loop("claiming"), loop("running"), code.Id("longestCall"),
		code.Func().Params(ctxParam()).Params(code.Err().Error()).Block(body...))
}

// outcomes is what the comment of Work says of what a handler returns, where a
// failure can be recorded.
func (w *writer) outcomes() string {
	completed := "when handler returns nil and"
	if w.carries() {
		completed = "with " + w.whatIsDone() + " that handler returns, and"
	}
	text := "A job is completed " + completed + " failed when it returns an error or panics"
	switch {
	case w.keepsCause():
		return text + "; the stack of a panic is part of the recorded cause."
	case w.keepsNone():
		return text + ". The table has no place for the cause: OnError is told of it."
	}
	return text + ". The cause is not recorded of every job that fails: OnError is told of it. The stack of a panic is part of it."
}

// noReturn is the error of a handler that never comes back: it called
// runtime.Goexit, as FailNow of a test does.
func noReturn() *code.Statement {
	return code.Err().Op(":=").Qual("errors", "New").Call(code.Lit("the handler ended its goroutine"))
}

// errSettled emits
//
//	var ErrSettled = errors.New("emailq: the handler has settled the job")
func (w *writer) errSettled(f *code.File) {
	how := "for instance with WithTx(tx).Complete in the transaction of its own writes"
	if len(w.Outcomes) > 0 {
		how = "for instance by " + w.Outcomes[0].Method + ", or with WithTx(tx).Complete in the transaction of its own writes"
	}
	text := "ErrSettled is returned by a handler that has settled the job itself, " + how + ". Work then leaves the job alone."
	if w.tellsWork() {
		text += " It settles with the context that it was called with, or one derived from it, by which Work knows that the claim is not to be renewed any more"
		if len(w.renewedMarks()) > 0 {
			text += " and which marks the claim has since its last renewal"
		}
		text += "."
	}
	decl(f, []string{text},
		code.Var().Id("ErrSettled").Op("=").Add(w.newError("the handler has settled the job")))
}

// patientlyMethod emits
//
//	func (w *workLoop) patiently(while, base context.Context, limit time.Duration, call func(ctx context.Context) error) error {
//		for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
//			ctx, cancel := context.WithTimeout(base, limit)
//			err := call(ctx)
//			cancel()
//			if err == nil || !transient(err) || while.Err() != nil {
//				return err
//			}
//			w.opts.OnError(err)
//			if !sleep(while, around(wait)) {
//				return err
//			}
//		}
//	}
func (w *writer) patientlyMethod(f *code.File) {
	decl(f, []string{"patiently repeats call after transient errors until while ends. Each call has the context base for so long as limit."},
		loopMethod("patiently").Params(
			code.List(code.Id("while"), code.Id("base")).Add(contextType()),
			code.Id("limit").Qual("time", "Duration"),
			code.Id("call").Func().Params(ctxParam()).Error(),
		).Error().Block(
			code.For(code.Id("wait").Op(":=").Id("firstRetry"), code.Empty(), code.Id("wait").Op("=").Id("min").Call(code.Lit(2).Op("*").Id("wait"), code.Id("longestRetry"))).Block(
				code.List(code.Id("ctx"), code.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(code.Id("base"), code.Id("limit")),
				code.Err().Op(":=").Id("call").Call(code.Id("ctx")),
				code.Id("cancel").Call(),
				code.If(code.Err().Op("==").Nil().Op("||").Op("!").Id("transient").Call(code.Err()).Op("||").Id("while").Dot("Err").Call().Op("!=").Nil()).Block(
					code.Return(code.Err()),
				),
				loop("opts", "OnError").Call(code.Err()),
				code.If(code.Op("!").Add(w.sleep(code.Id("while"), code.Id("around").Call(code.Id("wait"))))).Block(
					code.Return(code.Err()),
				),
			),
		))
}

// workEnds emits how an error ends Work.
func (w *writer) workEnds(f *code.File) {
	decl(f, []string{"giveUp ends Work with an error that it met while claiming. When Work is ending already, nothing depends on claims."},
		loopMethod("giveUp").Params(code.Err().Error()).Block(
			code.If(loop("claiming", "Err").Call().Op("==").Nil()).Block(
				loop("abort").Call(code.Err()),
			),
		))
	decl(f, []string{"abort ends Work with an error, the first of them."},
		loopMethod("abort").Params(code.Err().Error()).Block(
			loop("mu", "Lock").Call(),
			code.Id("first").Op(":=").Add(loop("err")).Op("==").Nil(),
			code.If(code.Id("first")).Block(loop("err").Op("=").Err()),
			loop("mu", "Unlock").Call(),
			code.If(code.Op("!").Id("first")).Block(loop("opts", "OnError").Call(code.Err())),
			loop("end").Call(code.Err()),
		))
}

// wakes reports whether sleep can be cut short by a handler that comes free.
func (w *writer) wakes() bool { return w.marks() || w.Complete == nil }

// workFuncs emits the functions that every shape of the loop uses.
func (w *writer) workFuncs(f *code.File) {
	decl(f, []string{"transient reports whether an error may pass. So may that of a call that took too long."},
		code.Func().Id("transient").Params(code.Err().Error()).Bool().Block(
			code.Return(code.Id("IsRetryable").Call(code.Err()).Op("||").Qual("errors", "Is").Call(code.Err(), code.Qual("context", "DeadlineExceeded"))),
		))
	decl(f, []string{"around returns d, give or take a quarter, so that workers do not keep step."},
		code.Func().Id("around").Params(code.Id("d").Qual("time", "Duration")).Qual("time", "Duration").Block(
			code.Return(code.Id("d").Op("-").Id("d").Op("/").Lit(4).Op("+").Qual(mathRand, "N").Call(code.Id("d").Op("/").Lit(2).Op("+").Lit(1))),
		))
	w.sleepFunc(f)
}

// sleep is the call of sleep that no handler cuts short.
func (w *writer) sleep(ctx, d *code.Statement) *code.Statement {
	if w.wakes() {
		return code.Id("sleep").Call(ctx, d, code.Nil())
	}
	return code.Id("sleep").Call(ctx, d)
}

// sleepFunc emits
//
//	func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
//		timer := time.NewTimer(d)
//		defer timer.Stop()
//		select {
//		case <-timer.C:
//			return true
//		case <-wake:
//			return false
//		case <-ctx.Done():
//			return false
//		}
//	}
func (w *writer) sleepFunc(f *code.File) {
	doc := "sleep waits for d and returns true, or false as soon as ctx ends."
	params := []*code.Statement{ctxParam(), code.Id("d").Qual("time", "Duration")}
	if w.wakes() {
		doc = "sleep waits for d and returns true, or false as soon as ctx ends or something comes from wake."
		params = append(params, code.Id("wake").Op("<-").Chan().Struct())
	}
	decl(f, []string{doc},
		code.Func().Id("sleep").Params(params...).Bool().Block(
			code.Id("timer").Op(":=").Qual("time", "NewTimer").Call(code.Id("d")),
			code.Defer().Id("timer").Dot("Stop").Call(),
			code.Select().BlockFunc(func(g *code.Group) {
				g.Case(code.Op("<-").Id("timer").Dot("C")).Block(code.Return(code.True()))
				if w.wakes() {
					g.Case(code.Op("<-").Id("wake")).Block(code.Return(code.False()))
				}
				g.Case(code.Op("<-").Id("ctx").Dot("Done").Call()).Block(code.Return(code.False()))
			}),
		))
}

// constants declares constants, each under a comment.
func constants(f *code.File, list ...constant) {
	f.Line()
	f.Const().DefsFunc(func(g *code.Group) {
		for _, c := range list {
			g.Id(c.name).Op("=").Add(c.value).Comment(c.doc)
		}
	})
}

// constant is one constant of the worker loop.
type constant struct {
	name  string
	value *code.Statement
	doc   string
}

// Constants that every shape has.
func firstRetry() constant {
	return constant{"firstRetry", durationExpr(100 * time.Millisecond), "pause after a transient error, doubled up to longestRetry"}
}

func longestRetry() constant {
	return constant{"longestRetry", durationExpr(10 * time.Second), "the longest such pause"}
}

func longestCall() constant {
	return constant{"longestCall", durationExpr(30 * time.Second), "a call of the database that takes longer is given up"}
}

// upperFirst returns a Go name exported.
func upperFirst(name string) string {
	r := []rune(name)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}
