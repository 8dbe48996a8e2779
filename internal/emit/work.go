package emit

// This file writes work.go: the worker loop. Its shape follows from what a
// claim leaves behind: marked rows (workstream.go), a transaction or nothing at
// all (workbatch.go), or no row (workpop.go). What these share is here. The
// files testdata/work/golden/*.go.golden show what is printed.

import (
	"slices"
	"time"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) workFile() *jen.File {
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

// keepsLease reports whether Work renews claims.
func (w *writer) keepsLease() bool { return w.Extend != nil && w.marks() }

// sweeps reports whether Work calls Recover.
func (w *writer) sweeps() bool { return w.Recover != nil && !w.Hold }

// namesHeartbeat reports whether the caller must say how often claims are
// renewed, because neither the table nor the call tells one length for all.
func (w *writer) namesHeartbeat() bool {
	return w.keepsLease() && !w.leaseArg() && (w.Lease == nil || w.Lease.Length == 0)
}

// leaseArg reports whether the caller says how long a claim is good.
func (w *writer) leaseArg() bool {
	return w.Claim.LeaseArg || w.Extend != nil && w.Extend.LeaseArg
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
func (w *writer) workOptionsType(f *jen.File) {
	var fields []jen.Code
	field := func(doc, name string, typ jen.Code) {
		for _, line := range comment([]string{doc}) {
			fields = append(fields, jen.Comment(line))
		}
		fields = append(fields, jen.Id(name).Add(typ))
	}
	duration := jen.Qual("time", "Duration")

	for _, o := range w.workOptions() {
		field(o.name+" is "+o.param.Doc+".", o.name, w.paramType(o.param))
	}
	if w.Claim.Shard {
		field("Shard is the part of the table that this worker looks after. Zero means all of it.", "Shard", jen.Id("Shard"))
	}
	if w.leaseArg() {
		lease := "Lease is how long a claim is good, and with that the longest time that a handler may take."
		if w.keepsLease() {
			lease = "Lease is how long a claim is good; Work renews it three times within."
		}
		field(lease+" Zero means 5 minutes.", "Lease", duration)
	}
	if w.namesHeartbeat() {
		field("Heartbeat is how often claims are renewed: at least three times within the shortest lease that a row has. Zero means 10 seconds.", "Heartbeat", duration)
	}
	field("Concurrency is how many handlers run at once. Zero means 1, which keeps the order of the queue.", "Concurrency", jen.Int())
	switch {
	case w.marks() && w.Requeue != nil:
		field("Batch is how many jobs one claim takes at most. Zero means 100. Work claims for free handlers, and ahead for as many as will be free within a PollInterval.", "Batch", jen.Int())
	case w.marks() || w.Complete == nil:
		field("Batch is how many jobs one claim takes at most. Zero means 100. Work claims for free handlers only.", "Batch", jen.Int())
	default:
		field("Batch is how many jobs one claim takes at most. Zero means as many as Concurrency. The next claim waits until all of them have run.", "Batch", jen.Int())
	}
	field("PollInterval is the pause after a claim that found nothing, give or take a quarter. Zero means one second.", "PollInterval", duration)
	field("Grace is how long handlers may go on after ctx has ended, before their own context ends. Zero means 20 seconds, less than zero none.", "Grace", duration)
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
	if w.Complete != nil && !w.fails() {
		told += " and their errors, which the table has no place for"
	}
	field("OnError is told what Work cannot return: "+told+". Several goroutines may call it at once. Nil means slog.Error.", "OnError", jen.Func().Params(jen.Err().Error()))

	decl(f, []string{"WorkOptions tells how Work runs. The zero value suits most queues."},
		jen.Type().Id("WorkOptions").Struct(fields...))
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
func (w *writer) withDefaultsMethod(f *jen.File) {
	unless := func(name, op string, value jen.Code) jen.Code {
		return jen.If(jen.Id("o").Dot(name).Op(op).Lit(0)).Block(jen.Id("o").Dot(name).Op("=").Add(value))
	}
	batch := jen.Lit(100)
	if w.Complete != nil && !w.marks() {
		batch = jen.Id("o").Dot("Concurrency")
	}
	decl(f, []string{"withDefaults fills in what is zero."},
		jen.Func().Params(jen.Id("o").Id("WorkOptions")).Id("withDefaults").Params().Id("WorkOptions").BlockFunc(func(g *jen.Group) {
			if w.Claim.Shard {
				g.If(jen.Id("o").Dot("Shard").Dot("Count").Op("==").Lit(0)).Block(
					jen.Id("o").Dot("Shard").Dot("Count").Op("=").Lit(1),
				)
			}
			if w.leaseArg() {
				g.Add(unless("Lease", "<=", durationExpr(5*time.Minute)))
			}
			if w.namesHeartbeat() {
				g.Add(unless("Heartbeat", "<=", durationExpr(10*time.Second)))
			}
			g.Add(unless("Concurrency", "<=", jen.Lit(1)))
			g.Add(unless("Batch", "<=", batch))
			g.Add(unless("PollInterval", "<=", durationExpr(time.Second)))
			g.Add(unless("Grace", "==", durationExpr(20*time.Second)))
			if w.sweeps() {
				g.Add(unless("RecoverInterval", "==", durationExpr(time.Minute)))
			}
			g.If(jen.Id("o").Dot("OnError").Op("==").Nil()).Block(
				jen.Id("o").Dot("OnError").Op("=").Func().Params(jen.Err().Error()).Block(
					jen.Qual("log/slog", "Error").Call(jen.Lit(w.Name+": work"), jen.Lit("error"), jen.Err()),
				),
			)
			g.Return(jen.Id("o"))
		}))
}

// handlerType is the type of the caller's handler.
func (w *writer) handlerType() *jen.Statement {
	s := jen.Func().Params(ctxParam(), jen.Id("job").Id("Job"))
	if w.Complete != nil && w.Complete.Result != nil {
		return s.Params(w.fieldType(w.Complete.Result), jen.Error())
	}
	return s.Error()
}

// workMethod declares Work, which fills a workLoop with the fields and runs it.
func (w *writer) workMethod(f *jen.File, doc []string, fields ...jen.Code) {
	all := []jen.Code{
		jen.Id("q").Op(":").Id("q"),
		jen.Id("handler").Op(":").Id("handler"),
		jen.Id("opts").Op(":").Id("opts"),
	}
	decl(f, doc,
		jen.Func().Add(queueReceiver()).Id("Work").Params(ctxParam(), jen.Id("handler").Add(w.handlerType()), jen.Id("opts").Id("WorkOptions")).Error().Block(
			jen.If(jen.Id("handler").Op("==").Nil()).Block(
				jen.Return(jen.Qual("errors", "New").Call(jen.Lit(w.Name+": work: there is no handler"))),
			),
			jen.If(jen.Id("q").Dot("begin").Op("==").Nil()).Block(
				jen.Return(jen.Qual("errors", "New").Call(jen.Lit(w.Name+": work: the queue was made over a transaction; Work needs a pool"))),
			),
			jen.Id("opts").Op("=").Id("opts").Dot("withDefaults").Call(),
			jen.Id("w").Op(":=").Op("&").Id("workLoop").Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, append(all, fields...)...),
			jen.Return(jen.Id("w").Dot("run").Call(jen.Id("ctx"))),
		))
}

// workLoopType declares the struct of one call of Work.
func (w *writer) workLoopType(f *jen.File, fields ...jen.Code) {
	all := []jen.Code{
		jen.Id("q").Op("*").Id("Queue"),
		jen.Id("handler").Add(w.handlerType()),
		jen.Id("opts").Id("WorkOptions"),
	}
	decl(f, []string{"workLoop is one call of Work."}, jen.Type().Id("workLoop").Struct(append(all, fields...)...))
}

// loopMethod is func (w *workLoop) name.
func loopMethod(name string) *jen.Statement {
	return jen.Func().Params(jen.Id("w").Op("*").Id("workLoop")).Id(name)
}

// loop is w.a.b within a method of workLoop.
func loop(names ...string) *jen.Statement {
	s := jen.Id("w")
	for _, n := range names {
		s.Dot(n)
	}
	return s
}

// claimCall is the call of Claim on the expression on, with everything that
// the options say.
func (w *writer) claimCall(on, limit *jen.Statement) *jen.Statement {
	return on.Dot("Claim").CallFunc(func(g *jen.Group) {
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
//	err = w.handler(ctx, job) // or h.result, err = …
func (w *writer) callHandler(result *jen.Statement) *jen.Statement {
	s := jen.Null()
	if unread := jen.Id("job").Dot("Err"); w.mayNotRead() {
		s.If(unread.Clone().Op("!=").Nil()).Block(
			jen.Err().Op("=").Add(unread),
			jen.Return(),
		).Line()
	}
	call := loop("handler").Call(jen.Id("ctx"), jen.Id("job"))
	if w.Complete != nil && w.Complete.Result != nil {
		return s.List(result, jen.Err()).Op("=").Add(call)
	}
	return s.Err().Op("=").Add(call)
}

// catchPanic emits, inside a deferred function,
//
//	if v := recover(); v != nil {
//		err = fmt.Errorf("the handler panicked: %v\n\n%s", v, debug.Stack())
//		w.opts.OnError(fmt.Errorf("emailq: work: job %v: %w", job.Key(), err))
//	}
func (w *writer) catchPanic() *jen.Statement {
	return jen.If(jen.Id("v").Op(":=").Recover(), jen.Id("v").Op("!=").Nil()).Block(
		jen.Err().Op("=").Qual("fmt", "Errorf").Call(jen.Lit("the handler panicked: %v\n\n%s"), jen.Id("v"), jen.Qual("runtime/debug", "Stack").Call()),
		w.reportJob(),
	)
}

// reportJob is w.opts.OnError(fmt.Errorf("emailq: work: job %v: %w", job.Key(), err)).
func (w *writer) reportJob() *jen.Statement {
	return loop("opts", "OnError").Call(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": work: job %v: %w"), jen.Id("job").Dot("Key").Call(), jen.Err()))
}

// noReturn is the error of a handler that never comes back: it called
// runtime.Goexit, as FailNow of a test does.
func noReturn() *jen.Statement {
	return jen.Err().Op(":=").Qual("errors", "New").Call(jen.Lit("the handler ended its goroutine"))
}

// errSettled emits
//
//	var ErrSettled = errors.New("emailq: the handler has settled the job")
func (w *writer) errSettled(f *jen.File) {
	text := "ErrSettled is returned by a handler that has settled the job itself, for instance with WithTx(tx).Complete in the transaction of its own writes. Work then leaves the job alone."
	if w.keepsLease() && slices.ContainsFunc(w.Extend.Refreshes, w.isFence) {
		text += " Renewing a claim changes its marks in the row, so this is for handlers that need less than a third of the lease."
	}
	decl(f, []string{text},
		jen.Var().Id("ErrSettled").Op("=").Qual("errors", "New").Call(jen.Lit(w.Name+": the handler has settled the job")))
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
func (w *writer) patientlyMethod(f *jen.File) {
	wait := jen.Id("sleep").Call(jen.Id("while"), jen.Id("around").Call(jen.Id("wait")))
	if w.wakes() {
		wait = jen.Id("sleep").Call(jen.Id("while"), jen.Id("around").Call(jen.Id("wait")), jen.Nil())
	}
	decl(f, []string{"patiently repeats call after transient errors until while ends. Each call has the context base for so long as limit."},
		loopMethod("patiently").Params(
			jen.List(jen.Id("while"), jen.Id("base")).Qual("context", "Context"),
			jen.Id("limit").Qual("time", "Duration"),
			jen.Id("call").Func().Params(ctxParam()).Error(),
		).Error().Block(
			jen.For(jen.Id("wait").Op(":=").Id("firstRetry"), jen.Empty(), jen.Id("wait").Op("=").Id("min").Call(jen.Lit(2).Op("*").Id("wait"), jen.Id("longestRetry"))).Block(
				jen.List(jen.Id("ctx"), jen.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(jen.Id("base"), jen.Id("limit")),
				jen.Err().Op(":=").Id("call").Call(jen.Id("ctx")),
				jen.Id("cancel").Call(),
				jen.If(jen.Err().Op("==").Nil().Op("||").Op("!").Id("transient").Call(jen.Err()).Op("||").Id("while").Dot("Err").Call().Op("!=").Nil()).Block(
					jen.Return(jen.Err()),
				),
				loop("opts", "OnError").Call(jen.Err()),
				jen.If(jen.Op("!").Add(wait)).Block(
					jen.Return(jen.Err()),
				),
			),
		))
}

// workEnds emits how an error ends Work.
func (w *writer) workEnds(f *jen.File) {
	decl(f, []string{"giveUp ends Work with an error that it met while claiming. When Work is ending already, nothing depends on claims."},
		loopMethod("giveUp").Params(jen.Err().Error()).Block(
			jen.If(loop("claiming", "Err").Call().Op("==").Nil()).Block(
				loop("abort").Call(jen.Err()),
			),
		))
	decl(f, []string{"abort ends Work with an error, the first of them."},
		loopMethod("abort").Params(jen.Err().Error()).Block(
			loop("mu", "Lock").Call(),
			jen.Id("first").Op(":=").Add(loop("err")).Op("==").Nil(),
			jen.If(jen.Id("first")).Block(loop("err").Op("=").Err()),
			loop("mu", "Unlock").Call(),
			jen.If(jen.Op("!").Id("first")).Block(loop("opts", "OnError").Call(jen.Err())),
			loop("end").Call(jen.Err()),
		))
}

// wakes reports whether sleep can be cut short by a handler that comes free.
func (w *writer) wakes() bool { return w.marks() || w.Complete == nil }

// workFuncs emits the functions that every shape of the loop uses.
func (w *writer) workFuncs(f *jen.File) {
	decl(f, []string{"transient reports whether an error may pass. So may that of a call that took too long."},
		jen.Func().Id("transient").Params(jen.Err().Error()).Bool().Block(
			jen.Return(jen.Id("IsRetryable").Call(jen.Err()).Op("||").Qual("errors", "Is").Call(jen.Err(), jen.Qual("context", "DeadlineExceeded"))),
		))
	decl(f, []string{"around returns d, give or take a quarter, so that workers do not keep step."},
		jen.Func().Id("around").Params(jen.Id("d").Qual("time", "Duration")).Qual("time", "Duration").Block(
			jen.Return(jen.Id("d").Op("-").Id("d").Op("/").Lit(4).Op("+").Qual(mathRand, "N").Call(jen.Id("d").Op("/").Lit(2).Op("+").Lit(1))),
		))
	w.sleepFunc(f)
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
func (w *writer) sleepFunc(f *jen.File) {
	doc := "sleep waits for d and returns true, or false as soon as ctx ends."
	params := []jen.Code{ctxParam(), jen.Id("d").Qual("time", "Duration")}
	if w.wakes() {
		doc = "sleep waits for d and returns true, or false as soon as ctx ends or something comes from wake."
		params = append(params, jen.Id("wake").Op("<-").Chan().Struct())
	}
	decl(f, []string{doc},
		jen.Func().Id("sleep").Params(params...).Bool().Block(
			jen.Id("timer").Op(":=").Qual("time", "NewTimer").Call(jen.Id("d")),
			jen.Defer().Id("timer").Dot("Stop").Call(),
			jen.Select().BlockFunc(func(g *jen.Group) {
				g.Case(jen.Op("<-").Id("timer").Dot("C")).Block(jen.Return(jen.True()))
				if w.wakes() {
					g.Case(jen.Op("<-").Id("wake")).Block(jen.Return(jen.False()))
				}
				g.Case(jen.Op("<-").Id("ctx").Dot("Done").Call()).Block(jen.Return(jen.False()))
			}),
		))
}

// constants declares constants, each under a comment.
func constants(f *jen.File, list ...constant) {
	f.Line()
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, c := range list {
			g.Id(c.name).Op("=").Add(c.value).Comment(c.doc)
		}
	})
}

// constant is one constant of the worker loop.
type constant struct {
	name  string
	value *jen.Statement
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
