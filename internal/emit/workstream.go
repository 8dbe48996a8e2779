package emit

// This file writes the worker loop for claims that mark their rows: jobs are
// claimed while others run, renewed while they are held, and settled in
// batches.

import (
	"time"

	"github.com/dave/jennifer/jen"
)

func (w *writer) workStream(f *jen.File) {
	list := []constant{firstRetry(), longestRetry(), longestCall(),
		{"lastSettlement", durationExpr(15 * time.Second), "what is left when the last handler returns is settled within it"},
		{"completeDelay", durationExpr(10 * time.Millisecond), "a finished job waits so long for others, to be completed with them"},
	}
	if w.Requeue != nil {
		list = append(list, constant{"stalled", jen.Lit(4), "times PollInterval without a free handler: too much was claimed ahead"})
	}
	if w.sweeps() {
		list = append(list, constant{"recoverLimit", jen.Lit(1000), "rows that one call of Recover looks after"})
	}
	constants(f, list...)
	w.errSettled(f)
	w.workOptionsType(f)
	w.withDefaultsMethod(f)
	w.streamWork(f)
	w.streamTypes(f)
	w.streamRun(f)
	w.streamClaimJobs(f)
	w.streamRoom(f)
	w.streamTake(f)
	w.streamBegin(f)
	w.streamHandle(f)
	w.streamFree(f)
	w.streamConclude(f)
	w.streamComplete(f)
	if w.fails() {
		w.streamFailJob(f)
	}
	if w.Requeue != nil {
		w.streamGiveBack(f)
	}
	w.streamRecord(f)
	w.streamForget(f)
	if w.keepsLease() {
		w.streamRenew(f)
	}
	if w.sweeps() {
		w.streamRecover(f)
	}
	w.patientlyMethod(f)
	w.workEnds(f)
	w.workFuncs(f)
}

// streamWork emits Work.
func (w *writer) streamWork(f *jen.File) {
	outcome := "A job is completed when handler returns nil and failed when it returns an error or panics; the stack of a panic is part of the recorded cause. A handler that has settled the job itself returns ErrSettled."
	if w.Complete.Result != nil {
		outcome = "A job is completed with the result that handler returns, and failed when it returns an error or panics; the stack of a panic is part of the recorded cause. A handler that has settled the job itself returns ErrSettled."
	}
	if !w.fails() {
		outcome = "A job is completed when handler returns nil. The table has no place for a failure: OnError is told of it"
		if w.Requeue != nil {
			outcome += ", and after a PollInterval the job is given back."
		} else {
			outcome += ", and the job stays claimed."
		}
	}
	switch {
	case w.keepsLease():
		outcome += " Claims are renewed while their jobs wait or run. A handler whose claim is lost sees its context end with the cause ErrLost, and its outcome is dropped."
	case w.Lease != nil:
		outcome += " Claims cannot be renewed, so a handler must end before its lease does."
	}
	if w.mayNotRead() {
		outcome += " A job whose Err is set counts as failed with that error; handler does not see it."
	}
	ends := "When ctx ends, Work claims no more, lets running handlers go on for opts.Grace, ends the context of those that are left, and settles what has finished."
	if w.Requeue != nil {
		ends = "When ctx ends, Work claims no more, gives back the jobs that no handler has begun, lets running handlers go on for opts.Grace, ends the context of those that are left, and settles what has finished. A handler that then returns context.Canceled has its job given back, too."
	}
	ends += " It returns when every handler has: nil if ctx ended and no job stays claimed, else an error. A database error that does not pass ends it in the same way. No goroutine is left behind."
	doc := []string{
		"Work claims jobs and calls handler for each until ctx ends.",
		outcome,
		ends,
		"Work calls the database from several goroutines at once, so q must be on a pool. The hook sees each call of handler as the operation work. " + w.Crash,
	}
	fields := []jen.Code{}
	if w.keepsLease() {
		lease := durationExpr(w.workLease())
		if w.leaseArg() {
			lease = jen.Id("opts").Dot("Lease")
		} else if w.namesHeartbeat() {
			lease = jen.Lit(3).Op("*").Id("opts").Dot("Heartbeat")
		}
		fields = append(fields, jen.Id("lease").Op(":").Add(lease))
	}
	fields = append(fields,
		jen.Id("freed").Op(":").Make(jen.Chan().Struct(), jen.Lit(1)),
		jen.Id("finished").Op(":").Make(jen.Chan().Op("*").Id("heldJob"), jen.Id("opts").Dot("Batch")),
		jen.Id("held").Op(":").Make(jen.Map(jen.Id("Key")).Op("*").Id("heldJob")),
	)
	w.workMethod(f, doc, fields...)
}

// workLease is the length of a lease that is the same for all jobs.
func (w *writer) workLease() time.Duration {
	if w.Lease == nil {
		return 0
	}
	return w.Lease.Length
}

// streamTypes emits workLoop and heldJob.
func (w *writer) streamTypes(f *jen.File) {
	ctx := func() *jen.Statement { return jen.Qual("context", "Context") }
	var fields []jen.Code
	if w.keepsLease() {
		fields = append(fields, jen.Id("lease").Qual("time", "Duration"))
	}
	fields = append(fields,
		jen.Line(),
		jen.Id("claiming").Add(ctx()).Comment("ends when the caller's does, or by an error"),
		jen.Id("end").Qual("context", "CancelCauseFunc").Comment("of claiming"),
		jen.Id("running").Add(ctx()).Comment("of handlers and claims: outlives claiming by Grace"),
		jen.Id("settling").Add(ctx()).Comment("of what follows a handler: outlives them all"),
		jen.Line(),
		jen.Id("freed").Chan().Struct().Comment("a handler has come free"),
		jen.Id("finished").Chan().Op("*").Id("heldJob").Comment("to be completed"),
		jen.Id("handlers").Qual("sync", "WaitGroup"),
		jen.Id("settlers").Qual("sync", "WaitGroup"),
		jen.Line(),
	)
	if w.keepsLease() {
		fields = append(fields,
			jen.Comment("// renewing is locked while claims are renewed, and for reading while jobs"),
			jen.Comment("// are settled, so that no job is in two statements at once."),
			jen.Id("renewing").Qual("sync", "RWMutex"),
			jen.Line(),
		)
	}
	fields = append(fields,
		jen.Id("mu").Qual("sync", "Mutex"),
		jen.Id("held").Map(jen.Id("Key")).Op("*").Id("heldJob").Comment("claimed and not yet settled"),
	)
	if w.Requeue != nil {
		fields = append(fields, jen.Id("waiting").Index().Op("*").Id("heldJob").Comment("those that no handler has begun, in queue order"))
	}
	fields = append(fields, jen.Id("active").Int().Comment("handlers that are not free"))
	if w.Requeue != nil {
		fields = append(fields, jen.Id("mean").Qual("time", "Duration").Comment("time that a handler takes, of late; 0 when not known"))
	}
	fields = append(fields, jen.Err().Error().Comment("that ended Work"))
	w.workLoopType(f, fields...)

	var job []jen.Code
	job = append(job, jen.Id("job").Id("Job"))
	if w.Complete.Result != nil {
		job = append(job, jen.Id("result").Add(w.fieldType(w.Complete.Result)))
	}
	job = append(job,
		jen.Id("ctx").Add(ctx()).Comment("of its handler"),
		jen.Id("cancel").Qual("context", "CancelCauseFunc"),
	)
	if w.keepsLease() {
		job = append(job, jen.Id("renewed").Qual("time", "Time").Comment("the lease began then or later"))
	}
	decl(f, []string{"heldJob is a job that this Work has claimed."}, jen.Type().Id("heldJob").Struct(job...))
	decl(f, []string{"isLost reports whether another may hold the job by now."},
		jen.Func().Params(jen.Id("h").Op("*").Id("heldJob")).Id("isLost").Params().Bool().Block(
			jen.Return(jen.Qual("errors", "Is").Call(jen.Qual("context", "Cause").Call(jen.Id("h").Dot("ctx")), jen.Id("ErrLost"))),
		))
}

// streamRun emits run: what goes on beside the claims, and how it all ends.
func (w *writer) streamRun(f *jen.File) {
	decl(f, []string{"run claims until Work ends, then waits for what is under way."},
		loopMethod("run").Params(ctxParam()).Error().BlockFunc(func(g *jen.Group) {
			g.Id("lasting").Op(":=").Qual("context", "WithoutCancel").Call(jen.Id("ctx"))
			g.List(jen.Id("claiming"), jen.Id("end")).Op(":=").Qual("context", "WithCancelCause").Call(jen.Id("ctx"))
			g.Defer().Id("end").Call(jen.Nil())
			g.List(jen.Id("running"), jen.Id("interrupt")).Op(":=").Qual("context", "WithCancelCause").Call(jen.Id("lasting"))
			g.Defer().Id("interrupt").Call(jen.Nil())
			g.List(jen.Id("settling"), jen.Id("abandon")).Op(":=").Qual("context", "WithCancel").Call(jen.Id("lasting"))
			g.Defer().Id("abandon").Call()
			g.List(loop("claiming"), loop("end"), loop("running"), loop("settling")).Op("=").List(jen.Id("claiming"), jen.Id("end"), jen.Id("running"), jen.Id("settling"))
			g.Line()
			g.Var().Id("background").Qual("sync", "WaitGroup")
			g.Id("start").Op(":=").Func().Params(jen.Id("f").Func().Params()).Block(
				jen.Id("background").Dot("Add").Call(jen.Lit(1)),
				jen.Go().Func().Params().Block(
					jen.Defer().Id("background").Dot("Done").Call(),
					jen.Id("f").Call(),
				).Call(),
			)
			g.Id("completed").Op(":=").Make(jen.Chan().Struct())
			g.Id("start").Call(jen.Func().Params().Block(
				jen.Defer().Close(jen.Id("completed")),
				loop("completeFinished").Call(),
			))
			g.Id("settled").Op(":=").Make(jen.Chan().Struct())
			if w.keepsLease() {
				g.Id("start").Call(jen.Func().Params().Block(loop("renewHeld").Call(jen.Id("settled"))))
			}
			if w.sweeps() {
				g.If(loop("opts", "RecoverInterval").Op(">").Lit(0)).Block(
					jen.Id("start").Call(loop("recoverExpired")),
				)
			}
			g.Id("start").Call(jen.Func().Params().Block(
				jen.Op("<-").Id("claiming").Dot("Done").Call(),
				jen.Select().Block(
					jen.Case(jen.Op("<-").Qual("time", "After").Call(loop("opts", "Grace"))).Block(
						jen.Id("interrupt").Call(jen.Qual("context", "Cause").Call(jen.Id("claiming"))),
					),
					jen.Case(jen.Op("<-").Id("settled")).Block(),
				),
			))
			g.Line()
			g.Add(loop("claimJobs").Call())
			if w.Requeue != nil {
				g.Add(loop("giveBackWaiting").Call())
			}
			g.Add(loop("handlers", "Wait").Call())
			g.Id("timer").Op(":=").Qual("time", "AfterFunc").Call(jen.Id("lastSettlement"), jen.Id("abandon"))
			g.Defer().Id("timer").Dot("Stop").Call()
			g.Add(loop("settlers", "Wait").Call())
			g.Close(loop("finished"))
			g.Op("<-").Id("completed")
			g.Close(jen.Id("settled"))
			g.Id("background").Dot("Wait").Call()
			g.Line()
			g.Switch(jen.Id("n").Op(":=").Len(loop("held")), jen.Empty()).Block(
				jen.Case(loop("err").Op("==").Nil()).Block(
					jen.Return(jen.Nil()),
				),
				jen.Case(jen.Id("n").Op("==").Lit(0)).Block(
					jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": work: %w"), loop("err"))),
				),
				jen.Default().Block(
					jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": work: jobs that stay claimed: %d: %w"), jen.Id("n"), loop("err"))),
				),
			)
		}))
}

// streamClaimJobs emits the loop of the claims.
func (w *writer) streamClaimJobs(f *jen.File) {
	decl(f, []string{"claimJobs claims until Work ends."},
		loopMethod("claimJobs").Params().Block(
			jen.For(loop("claiming", "Err").Call().Op("==").Nil()).BlockFunc(func(g *jen.Group) {
				g.Id("n").Op(":=").Add(loop("room")).Call()
				g.If(jen.Id("n").Op("==").Lit(0)).BlockFunc(func(g *jen.Group) {
					if w.Requeue != nil {
						g.If(jen.Id("sleep").Call(loop("claiming"), jen.Id("stalled").Op("*").Add(loop("opts", "PollInterval")), loop("freed"))).Block(
							loop("giveBackWaiting").Call().Comment("others may have a free handler for them"),
						)
					} else {
						g.Id("sleep").Call(loop("claiming"), loop("opts", "PollInterval"), loop("freed"))
					}
					g.Continue()
				})
				g.Var().Id("jobs").Index().Id("Job")
				if w.keepsLease() {
					g.Var().Id("began").Qual("time", "Time")
				}
				g.Err().Op(":=").Add(loop("patiently")).Call(loop("claiming"), loop("running"), jen.Id("longestCall"), jen.Func().Params(ctxParam()).Params(jen.Err().Error()).BlockFunc(func(g *jen.Group) {
					if w.keepsLease() {
						g.Id("began").Op("=").Qual("time", "Now").Call()
					}
					g.List(jen.Id("jobs"), jen.Err()).Op("=").Add(w.claimCall(loop("q"), jen.Id("n")))
					g.Return(jen.Err())
				}))
				g.If(jen.Err().Op("!=").Nil()).Block(
					loop("giveUp").Call(jen.Err()),
					jen.Return(),
				)
				if w.keepsLease() {
					g.Add(loop("take").Call(jen.Id("jobs"), jen.Id("began")))
				} else {
					g.Add(loop("take").Call(jen.Id("jobs")))
				}
				g.If(jen.Len(jen.Id("jobs")).Op("==").Lit(0)).Block(
					jen.Id("sleep").Call(loop("claiming"), jen.Id("around").Call(loop("opts", "PollInterval")), jen.Nil()),
				)
			}),
		))
}

// lockMu locks w.mu until the method returns.
func lockMu() []jen.Code {
	return []jen.Code{loop("mu", "Lock").Call(), jen.Defer().Add(loop("mu", "Unlock")).Call()}
}

// streamRoom emits how many jobs to claim next.
func (w *writer) streamRoom(f *jen.File) {
	if w.Requeue == nil {
		decl(f, []string{"room returns how many jobs to claim: one for each free handler. More could not be given back."},
			loopMethod("room").Params().Int().Block(append(lockMu(),
				jen.Return(jen.Id("min").Call(loop("opts", "Concurrency").Op("-").Add(loop("active")), loop("opts", "Batch"))),
			)...))
		return
	}
	decl(f, []string{"room returns how many jobs to claim: one for each free handler, and as many ahead as handlers will come free within a PollInterval, so that a job waits here no longer than it would for the next poll of an idle worker. It returns 0 while less than half of those ahead are missing, which keeps claims few."},
		loopMethod("room").Params().Int().Block(append(lockMu(),
			jen.Id("free").Op(":=").Add(loop("opts", "Concurrency")).Op("-").Add(loop("active")).Op("-").Len(loop("waiting")),
			jen.Id("ahead").Op(":=").Lit(0),
			jen.If(loop("mean").Op(">").Lit(0)).Block(
				jen.Id("soon").Op(":=").Add(loop("opts", "PollInterval")).Op("*").Qual("time", "Duration").Call(loop("opts", "Concurrency")).Op("/").Add(loop("mean")),
				jen.Id("ahead").Op("=").Int().Call(jen.Id("min").Call(jen.Id("soon"), jen.Qual("time", "Duration").Call(loop("opts", "Batch")))),
			),
			jen.If(jen.Id("free").Op("<=").Lit(0).Op("&&").Lit(2).Op("*").Parens(jen.Id("free").Op("+").Id("ahead")).Op("<").Id("max").Call(jen.Id("ahead"), jen.Lit(1))).Block(
				jen.Return(jen.Lit(0)),
			),
			jen.Return(jen.Id("min").Call(jen.Id("free").Op("+").Id("ahead"), loop("opts", "Batch"))),
		)...))
}

// streamTake emits what becomes of claimed jobs.
func (w *writer) streamTake(f *jen.File) {
	doc := "take hands claimed jobs to the handlers."
	params := []jen.Code{jen.Id("jobs").Index().Id("Job")}
	if w.keepsLease() {
		doc += " Their leases began at began or later."
		params = append(params, jen.Id("began").Qual("time", "Time"))
	}
	decl(f, []string{doc},
		loopMethod("take").Params(params...).BlockFunc(func(g *jen.Group) {
			for _, c := range lockMu() {
				g.Add(c)
			}
			g.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("jobs")).BlockFunc(func(g *jen.Group) {
				g.If(jen.Id("old").Op(":=").Add(loop("held")).Index(jen.Id("job").Dot("Key").Call()), jen.Id("old").Op("!=").Nil()).Block(
					jen.Id("old").Dot("cancel").Call(jen.Id("ErrLost")).Comment("its claim expired and came back here"),
				)
				g.Id("h").Op(":=").Op("&").Id("heldJob").ValuesFunc(func(g *jen.Group) {
					g.Id("job").Op(":").Id("job")
					if w.keepsLease() {
						g.Id("renewed").Op(":").Id("began")
					}
				})
				g.List(jen.Id("h").Dot("ctx"), jen.Id("h").Dot("cancel")).Op("=").Qual("context", "WithCancelCause").Call(loop("running"))
				g.Add(loop("held").Index(jen.Id("job").Dot("Key").Call()).Op("=").Id("h"))
				if w.Requeue != nil {
					g.Add(loop("waiting").Op("=").Append(loop("waiting"), jen.Id("h")))
				} else {
					g.Add(loop("begin").Call(jen.Id("h")))
				}
			})
			if w.Requeue != nil {
				g.Add(loop("begin").Call())
			}
		}))
}

// streamBegin emits how handlers are started.
func (w *writer) streamBegin(f *jen.File) {
	start := []jen.Code{
		loop("active").Op("++"),
		loop("handlers", "Add").Call(jen.Lit(1)),
		loop("settlers", "Add").Call(jen.Lit(1)),
		jen.Go().Add(loop("handle")).Call(jen.Id("h"), jen.Id("h").Dot("job")),
	}
	if w.Requeue == nil {
		decl(f, []string{"begin calls the handler for a job. The caller holds w.mu."},
			loopMethod("begin").Params(jen.Id("h").Op("*").Id("heldJob")).Block(start...))
		return
	}
	body := []jen.Code{
		jen.Id("h").Op(":=").Add(loop("waiting")).Index(jen.Lit(0)),
		loop("waiting").Op("=").Add(loop("waiting")).Index(jen.Lit(1), jen.Empty()),
	}
	if w.keepsLease() {
		body = append(body, jen.If(jen.Id("h").Dot("isLost").Call()).Block(
			loop("drop").Call(jen.Id("h")),
			jen.Continue(),
		))
	}
	body = append(body, start...)
	decl(f, []string{"begin calls handlers for waiting jobs while there are free ones and Work goes on. The caller holds w.mu."},
		loopMethod("begin").Params().Block(
			jen.For(loop("active").Op("<").Add(loop("opts", "Concurrency")).Op("&&").Len(loop("waiting")).Op(">").Lit(0).Op("&&").Add(loop("claiming", "Err")).Call().Op("==").Nil()).Block(body...),
		))
}

// streamHandle emits the call of the handler.
func (w *writer) streamHandle(f *jen.File) {
	measured := w.Requeue != nil
	decl(f, []string{"handle calls the handler for one job and settles it."},
		loopMethod("handle").Params(jen.Id("h").Op("*").Id("heldJob"), jen.Id("job").Id("Job")).BlockFunc(func(g *jen.Group) {
			g.Add(noReturn())
			if measured {
				g.Id("began").Op(":=").Qual("time", "Now").Call()
			}
			g.Id("ctx").Op(":=").Add(loop("q", "hook", "Before")).Call(jen.Id("h").Dot("ctx"), jen.Lit("work"))
			g.Defer().Func().Params().BlockFunc(func(g *jen.Group) {
				g.Add(w.catchPanic())
				g.Add(loop("q", "hook", "After").Call(jen.Id("ctx"), jen.Lit("work"), jen.Lit(1), jen.Err()))
				if measured {
					g.Id("took").Op(":=").Qual("time", "Since").Call(jen.Id("began"))
				}
				g.Add(loop("handlers", "Done").Call())
				g.Add(loop("conclude").Call(jen.Id("h"), jen.Err()))
				if measured {
					g.Add(loop("free").Call(jen.Id("took")))
				} else {
					g.Add(loop("free").Call())
				}
				g.Add(loop("settlers", "Done").Call())
			}).Call()
			g.Add(w.callHandler(jen.Id("h").Dot("result")))
		}))
}

// streamFree emits what follows a handler.
func (w *writer) streamFree(f *jen.File) {
	wake := jen.Select().Block(
		jen.Case(loop("freed").Op("<-").Struct().Values()).Block(),
		jen.Default().Block(),
	)
	if w.Requeue == nil {
		decl(f, []string{"free makes a handler free again."},
			loopMethod("free").Params().Block(
				loop("mu", "Lock").Call(),
				loop("active").Op("--"),
				loop("mu", "Unlock").Call(),
				wake,
			))
		return
	}
	decl(f, []string{"free makes a handler free again that took so long for its job."},
		loopMethod("free").Params(jen.Id("took").Qual("time", "Duration")).Block(
			loop("mu", "Lock").Call(),
			jen.If(loop("mean").Op("==").Lit(0)).Block(
				loop("mean").Op("=").Id("took"),
			),
			loop("mean").Op("=").Id("max").Call(loop("mean").Op("+").Parens(jen.Id("took").Op("-").Add(loop("mean"))).Op("/").Lit(8), jen.Lit(1)),
			loop("active").Op("--"),
			loop("begin").Call(),
			loop("mu", "Unlock").Call(),
			wake,
		))
}

// streamConclude emits what becomes of a job whose handler has returned.
func (w *writer) streamConclude(f *jen.File) {
	decl(f, []string{"conclude records what became of a job."},
		loopMethod("conclude").Params(jen.Id("h").Op("*").Id("heldJob"), jen.Err().Error()).Block(
			jen.Switch().BlockFunc(func(g *jen.Group) {
				g.Case(jen.Id("h").Dot("isLost").Call(), jen.Qual("errors", "Is").Call(jen.Err(), jen.Id("ErrSettled"))).Block(
					loop("forget").Call(jen.Id("h")),
				)
				g.Case(jen.Err().Op("==").Nil()).Block(
					loop("finished").Op("<-").Id("h"),
				)
				if w.Requeue != nil {
					g.Case(jen.Qual("errors", "Is").Call(jen.Err(), jen.Qual("context", "Canceled")).Op("&&").Add(loop("running", "Err")).Call().Op("!=").Nil()).Block(
						loop("giveBack").Call(jen.Id("h")),
					)
				}
				if w.fails() {
					g.Default().Block(loop("failJob").Call(jen.Id("h"), jen.Err()))
					return
				}
				g.Default().BlockFunc(func(g *jen.Group) {
					g.Id("job").Op(":=").Id("h").Dot("job")
					g.Add(w.reportJob())
					if w.Requeue != nil {
						g.Id("sleep").Call(loop("claiming"), around("PollInterval"), jen.Nil())
						g.Add(loop("giveBack").Call(jen.Id("h")))
					} else {
						g.Add(loop("forget").Call(jen.Id("h")))
					}
				})
			}),
		))
}

// around is around(w.opts.name) in the emitted code.
func around(name string) *jen.Statement { return jen.Id("around").Call(loop("opts", name)) }

// streamComplete emits how finished jobs are completed together.
func (w *writer) streamComplete(f *jen.File) {
	held := func() *jen.Statement { return jen.Index().Op("*").Id("heldJob") }
	decl(f, []string{"completeFinished completes jobs as they are finished, many at a time."},
		loopMethod("completeFinished").Params().Block(
			jen.For(jen.Id("h").Op(":=").Range().Add(loop("finished"))).Block(
				loop("complete").Call(loop("gather").Call(jen.Id("h"))),
			),
		))
	decl(f, []string{"gather returns h and the jobs that finish shortly after it."},
		loopMethod("gather").Params(jen.Id("h").Op("*").Id("heldJob")).Add(held()).Block(
			jen.Id("batch").Op(":=").Add(held()).Values(jen.Id("h")),
			jen.Id("timer").Op(":=").Qual("time", "NewTimer").Call(jen.Id("completeDelay")),
			jen.Defer().Id("timer").Dot("Stop").Call(),
			jen.For(jen.Len(jen.Id("batch")).Op("<").Add(loop("opts", "Batch"))).Block(
				jen.Select().Block(
					jen.Case(jen.List(jen.Id("h"), jen.Id("ok")).Op(":=").Op("<-").Add(loop("finished"))).Block(
						jen.If(jen.Op("!").Id("ok")).Block(jen.Return(jen.Id("batch"))),
						jen.Id("batch").Op("=").Append(jen.Id("batch"), jen.Id("h")),
					),
					jen.Case(jen.Op("<-").Id("timer").Dot("C")).Block(jen.Return(jen.Id("batch"))),
				),
			),
			jen.Return(jen.Id("batch")),
		))
	doc := "complete completes jobs. When the database refuses them, each is tried alone; one that is refused alone fails."
	refused := loop("failJob").Call(jen.Id("batch").Index(jen.Lit(0)), jen.Err())
	if !w.fails() {
		doc = "complete completes jobs. When the database refuses them, each is tried alone; one that is refused alone ends Work."
		refused = loop("abort").Call(jen.Err())
	}
	decl(f, []string{doc},
		loopMethod("complete").Params(jen.Id("batch").Add(held())).Block(
			jen.Err().Op(":=").Add(loop("record")).Call(jen.Id("batch"), jen.Func().Params(ctxParam(), jen.Id("mine").Add(held())).Error().Block(
				w.completeMine()...,
			)),
			jen.Switch().Block(
				jen.Case(jen.Err().Op("==").Nil()).Block(),
				jen.Case(jen.Id("transient").Call(jen.Err()).Op("||").Add(loop("settling", "Err")).Call().Op("!=").Nil()).Block(
					loop("abort").Call(jen.Err()),
				),
				jen.Case(jen.Len(jen.Id("batch")).Op(">").Lit(1)).Block(
					jen.For(jen.List(jen.Id("_"), jen.Id("h")).Op(":=").Range().Id("batch")).Block(
						loop("complete").Call(held().Values(jen.Id("h"))),
					),
				),
				jen.Default().Block(refused),
			),
		))
}

// completeMine is the call of Complete for the jobs mine.
func (w *writer) completeMine() []jen.Code {
	if w.Complete.Result == nil {
		return []jen.Code{jen.Return(loop("q", "Complete").Call(jen.Id("ctx"), jen.Id("jobsOf").Call(jen.Id("mine")).Op("...")))}
	}
	return []jen.Code{
		jen.Id("done").Op(":=").Make(jen.Index().Id("Done"), jen.Len(jen.Id("mine"))),
		jen.For(jen.List(jen.Id("i"), jen.Id("h")).Op(":=").Range().Id("mine")).Block(
			jen.Id("done").Index(jen.Id("i")).Op("=").Id("h").Dot("job").Dot("Done").Call(jen.Id("h").Dot("result")),
		),
		jen.Return(loop("q", "Complete").Call(jen.Id("ctx"), jen.Id("done").Op("..."))),
	}
}

// recordAll emits
//
//	err := w.record(<jobs>, func(ctx context.Context, mine []*heldJob) error {
//		return <call>
//	})
//	if err != nil {
//		w.abort(err)
//	}
func recordAll(jobs, call *jen.Statement) []jen.Code {
	return []jen.Code{
		jen.Err().Op(":=").Add(loop("record")).Call(jobs, jen.Func().Params(ctxParam(), jen.Id("mine").Index().Op("*").Id("heldJob")).Error().Block(
			jen.Return(call),
		)),
		jen.If(jen.Err().Op("!=").Nil()).Block(loop("abort").Call(jen.Err())),
	}
}

// streamFailJob emits failJob.
func (w *writer) streamFailJob(f *jen.File) {
	decl(f, []string{"failJob records the failure of a job."},
		loopMethod("failJob").Params(jen.Id("h").Op("*").Id("heldJob"), jen.Id("cause").Error()).Block(
			recordAll(jen.Index().Op("*").Id("heldJob").Values(jen.Id("h")),
				loop("q", "Fail").Call(jen.Id("ctx"), jen.Id("mine").Index(jen.Lit(0)).Dot("job"), jen.Id("cause")))...,
		))
}

// streamGiveBack emits how jobs are given back.
func (w *writer) streamGiveBack(f *jen.File) {
	args := []jen.Code{jen.Id("ctx")}
	if w.Requeue.Delay {
		args = append(args, jen.Lit(0))
	}
	args = append(args, jen.Id("jobsOf").Call(jen.Id("mine")).Op("..."))
	decl(f, []string{"giveBack makes jobs ready again, as if they had not been claimed."},
		loopMethod("giveBack").Params(jen.Id("jobs").Op("...").Op("*").Id("heldJob")).Block(
			recordAll(jen.Id("jobs"), loop("q", "Requeue").Call(args...))...,
		))
	decl(f, []string{"giveBackWaiting gives back the jobs that no handler has begun."},
		loopMethod("giveBackWaiting").Params().Block(
			loop("mu", "Lock").Call(),
			jen.Id("waiting").Op(":=").Add(loop("waiting")),
			loop("waiting").Op("=").Nil(),
			loop("mean").Op("=").Lit(0),
			loop("mu", "Unlock").Call(),
			jen.If(jen.Len(jen.Id("waiting")).Op("==").Lit(0)).Block(jen.Return()),
			loop("settlers", "Add").Call(jen.Lit(1)),
			jen.Go().Func().Params().Block(
				jen.Defer().Add(loop("settlers", "Done")).Call(),
				loop("giveBack").Call(jen.Id("waiting").Op("...")),
			).Call(),
		))
}

// streamRecord emits what all settling goes through.
func (w *writer) streamRecord(f *jen.File) {
	limit := jen.Id("longestCall")
	if w.keepsLease() {
		limit = jen.Id("min").Call(jen.Id("longestCall"), loop("lease").Op("/").Lit(6))
	}
	held := func() *jen.Statement { return jen.Index().Op("*").Id("heldJob") }
	decl(f, []string{"record settles jobs by call, waits out transient errors, and lets go of the jobs when that is done. Jobs that are lost are left out."},
		loopMethod("record").Params(jen.Id("jobs").Add(held()), jen.Id("call").Func().Params(ctxParam(), jen.Id("mine").Add(held())).Error()).Error().Block(
			jen.Err().Op(":=").Add(loop("patiently")).Call(loop("settling"), loop("settling"), limit, jen.Func().Params(ctxParam()).Error().BlockFunc(func(g *jen.Group) {
				if w.keepsLease() {
					g.Add(loop("renewing", "RLock").Call())
					g.Defer().Add(loop("renewing", "RUnlock")).Call()
				}
				g.Id("mine").Op(":=").Qual("slices", "DeleteFunc").Call(jen.Qual("slices", "Clone").Call(jen.Id("jobs")), jen.Parens(jen.Op("*").Id("heldJob")).Dot("isLost"))
				g.If(jen.Len(jen.Id("mine")).Op("==").Lit(0)).Block(jen.Return(jen.Nil()))
				g.Return(jen.Id("call").Call(jen.Id("ctx"), jen.Id("mine")))
			})),
			jen.If(jen.Qual("errors", "Is").Call(jen.Err(), jen.Id("ErrLost"))).Block(
				loop("opts", "OnError").Call(jen.Err()),
				jen.Err().Op("=").Nil(),
			),
			jen.If(jen.Err().Op("==").Nil()).Block(loop("forget").Call(jen.Id("jobs").Op("..."))),
			jen.Return(jen.Err()),
		))
	if w.Complete.Result != nil && w.Requeue == nil && !w.keepsLease() {
		return
	}
	doc := "jobsOf returns the jobs themselves."
	if w.keepsLease() {
		doc = "jobsOf returns the jobs themselves, as they are now. The caller holds w.renewing."
	}
	decl(f, []string{doc},
		jen.Func().Id("jobsOf").Params(jen.Id("held").Add(held())).Index().Id("Job").Block(
			jen.Id("jobs").Op(":=").Make(jen.Index().Id("Job"), jen.Len(jen.Id("held"))),
			jen.For(jen.List(jen.Id("i"), jen.Id("h")).Op(":=").Range().Id("held")).Block(
				jen.Id("jobs").Index(jen.Id("i")).Op("=").Id("h").Dot("job"),
			),
			jen.Return(jen.Id("jobs")),
		))
}

// streamForget emits forget and drop.
func (w *writer) streamForget(f *jen.File) {
	decl(f, []string{"forget lets go of jobs that are settled or lost."},
		loopMethod("forget").Params(jen.Id("jobs").Op("...").Op("*").Id("heldJob")).Block(append(lockMu(),
			jen.For(jen.List(jen.Id("_"), jen.Id("h")).Op(":=").Range().Id("jobs")).Block(
				loop("drop").Call(jen.Id("h")),
			),
		)...))
	decl(f, []string{"drop lets go of one job. The caller holds w.mu."},
		loopMethod("drop").Params(jen.Id("h").Op("*").Id("heldJob")).Block(
			jen.If(jen.Id("key").Op(":=").Id("h").Dot("job").Dot("Key").Call(), loop("held").Index(jen.Id("key")).Op("==").Id("h")).Block(
				jen.Delete(loop("held"), jen.Id("key")),
			),
			jen.Id("h").Dot("cancel").Call(jen.Nil()),
		))
}

// streamRecover emits recoverExpired.
func (w *writer) streamRecover(f *jen.File) {
	decl(f, []string{"recoverExpired calls Recover until Work ends."},
		loopMethod("recoverExpired").Params().Block(
			jen.For(loop("claiming", "Err").Call().Op("==").Nil()).Block(
				jen.Var().Id("n").Int(),
				jen.Err().Op(":=").Add(loop("patiently")).Call(loop("claiming"), loop("running"), jen.Id("longestCall"), jen.Func().Params(ctxParam()).Params(jen.Err().Error()).Block(
					jen.List(jen.Id("n"), jen.Err()).Op("=").Add(loop("q", "Recover")).Call(jen.Id("ctx"), jen.Id("recoverLimit")),
					jen.Return(jen.Err()),
				)),
				jen.If(jen.Err().Op("!=").Nil()).Block(
					loop("giveUp").Call(jen.Err()),
					jen.Return(),
				),
				jen.If(jen.Id("n").Op("<").Id("recoverLimit")).Block(
					jen.Id("sleep").Call(loop("claiming"), around("RecoverInterval"), jen.Nil()),
				),
			),
		))
}

// streamRenew emits how claims are kept.
func (w *writer) streamRenew(f *jen.File) {
	third := func() *jen.Statement { return loop("lease").Op("/").Lit(3) }
	decl(f, []string{"renewHeld renews claims three times per lease, and sooner again after an error."},
		loopMethod("renewHeld").Params(jen.Id("settled").Op("<-").Chan().Struct()).Block(
			jen.For(jen.Id("wait").Op(":=").Add(third()), jen.Empty(), jen.Empty()).Block(
				jen.Select().Block(
					jen.Case(jen.Op("<-").Id("settled")).Block(jen.Return()),
					jen.Case(jen.Op("<-").Qual("time", "After").Call(jen.Id("wait"))).Block(),
				),
				jen.Id("wait").Op("=").Add(third()),
				jen.If(jen.Op("!").Add(loop("renew")).Call()).Block(
					jen.Id("wait").Op("=").Add(loop("lease")).Op("/").Lit(12),
				),
			),
		))
	decl(f, []string{"renew extends the leases of all held jobs. A job whose claim is lost, or could not be renewed for a whole lease, has its context ended. It reports whether the database answered."},
		loopMethod("renew").Params().Bool().BlockFunc(func(g *jen.Group) {
			g.Add(loop("renewing", "Lock").Call())
			g.Defer().Add(loop("renewing", "Unlock")).Call()
			g.Add(loop("mu", "Lock").Call())
			g.Var().Id("held").Index().Op("*").Id("heldJob")
			g.For(jen.List(jen.Id("_"), jen.Id("h")).Op(":=").Range().Add(loop("held"))).Block(
				jen.If(jen.Op("!").Id("h").Dot("isLost").Call()).Block(
					jen.Id("held").Op("=").Append(jen.Id("held"), jen.Id("h")),
				),
			)
			g.Add(loop("mu", "Unlock").Call())
			g.If(jen.Len(jen.Id("held")).Op("==").Lit(0)).Block(jen.Return(jen.True()))
			g.Line()
			g.Id("began").Op(":=").Qual("time", "Now").Call()
			g.List(jen.Id("ctx"), jen.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(loop("settling"), jen.Id("min").Call(jen.Id("longestCall"), loop("lease").Op("/").Lit(6)))
			g.Defer().Id("cancel").Call()
			w.extendHeld(g)
			g.Var().Id("missing").Op("*").Id("LostError")
			g.Id("answered").Op(":=").Err().Op("==").Nil().Op("||").Qual("errors", "As").Call(jen.Err(), jen.Op("&").Id("missing"))
			g.Switch().Block(
				jen.Case(jen.Err().Op("==").Nil()).Block(),
				jen.Case(jen.Id("answered").Op("||").Id("transient").Call(jen.Err())).Block(loop("opts", "OnError").Call(jen.Err())),
				jen.Default().Block(loop("abort").Call(jen.Err())),
			)
			g.Line()
			for _, c := range lockMu() {
				g.Add(c)
			}
			index := jen.Id("_")
			if len(w.Extend.Refreshes) > 0 {
				index = jen.Id("i")
			}
			g.For(jen.List(index, jen.Id("h")).Op(":=").Range().Id("held")).Block(
				jen.Switch().Block(
					jen.Case(jen.Id("missing").Op("!=").Nil().Op("&&").Qual("slices", "Contains").Call(jen.Id("missing").Dot("Keys"), jen.Id("h").Dot("job").Dot("Key").Call())).Block(
						jen.Id("h").Dot("cancel").Call(jen.Id("missing")),
					),
					jen.Case(jen.Id("answered")).BlockFunc(func(g *jen.Group) {
						if len(w.Extend.Refreshes) > 0 {
							g.Id("h").Dot("job").Op("=").Id("jobs").Index(jen.Id("i"))
						}
						g.Id("h").Dot("renewed").Op("=").Id("began")
					}),
					jen.Case(jen.Qual("time", "Since").Call(jen.Id("h").Dot("renewed")).Op(">").Add(loop("lease"))).Block(
						jen.Id("h").Dot("cancel").Call(jen.Qual("fmt", "Errorf").Call(jen.Lit("%w: its lease could not be renewed"), jen.Id("ErrLost"))),
					),
				),
			)
			g.Return(jen.Id("answered"))
		}))
}

// extendHeld emits the call of Extend for the jobs held:
//
//	err := w.q.Extend(ctx, jobsOf(held)...)
//
// or, where it writes into the jobs what has changed,
//
//	jobs := jobsOf(held)
//	fresh := make([]*Job, len(jobs))
//	for i := range jobs {
//		fresh[i] = &jobs[i]
//	}
//	err := w.q.Extend(ctx, fresh...)
func (w *writer) extendHeld(g *jen.Group) {
	args := []jen.Code{jen.Id("ctx")}
	if w.Extend.LeaseArg {
		args = append(args, loop("opts", "Lease"))
	}
	if len(w.Extend.Refreshes) == 0 {
		g.Err().Op(":=").Add(loop("q", "Extend")).Call(append(args, jen.Id("jobsOf").Call(jen.Id("held")).Op("..."))...)
		return
	}
	g.Id("jobs").Op(":=").Id("jobsOf").Call(jen.Id("held"))
	g.Id("fresh").Op(":=").Make(jen.Index().Op("*").Id("Job"), jen.Len(jen.Id("jobs")))
	g.For(jen.Id("i").Op(":=").Range().Id("jobs")).Block(
		jen.Id("fresh").Index(jen.Id("i")).Op("=").Op("&").Id("jobs").Index(jen.Id("i")),
	)
	g.Err().Op(":=").Add(loop("q", "Extend")).Call(append(args, jen.Id("fresh").Op("..."))...)
}
