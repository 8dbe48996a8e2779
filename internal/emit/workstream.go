package emit

// This file writes the worker loop for claims that mark their rows: jobs are
// claimed while others run, renewed while they are held, and settled in
// batches.

import (
	"time"

	"github.com/qgen-dev/qgen/internal/code"
	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) workStream(f *code.File) {
	list := []constant{firstRetry(), longestRetry(), longestCall(),
		{"lastSettlement", durationExpr(15 * time.Second), "what is left when the last handler returns is settled within it"},
		{"completeDelay", durationExpr(10 * time.Millisecond), "a finished job waits so long for others, to be completed with them"},
	}
	if w.Requeue != nil {
		list = append(list, constant{"stalled", code.Lit(4), "times PollInterval without a free handler: too much was claimed ahead"})
	}
	if w.sweeps() || w.sweepsFirst() {
		rows := 1000
		if w.limitsSweep(w.Recover) {
			rows = min(rows, w.Most) // else a call that has more to do looks like the last
		}
		list = append(list, constant{"recoverLimit", code.Lit(rows), "rows that one call of Recover looks after"})
	}
	constants(f, list...)
	w.errSettled(f)
	w.errPanicked(f)
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
	if w.Start != nil {
		w.streamStart(f)
	}
	w.streamFree(f)
	w.streamConclude(f)
	w.streamComplete(f)
	if w.unblocks() {
		w.streamUnblock(f)
	}
	if w.fails() {
		w.streamFailJob(f)
	}
	if !w.keepsCause() {
		w.streamReport(f)
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
	if w.sweepsFirst() {
		w.streamRecoverFirst(f)
	}
	w.patientlyMethod(f)
	w.workEnds(f)
	w.workFuncs(f)
}

// streamWork emits Work.
func (w *writer) streamWork(f *code.File) {
	outcome := w.outcomes() + " A handler that has settled the job itself returns ErrSettled."
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
	if w.Start != nil {
		outcome += " Each job is begun by Start directly before handler is called; one whose claim is lost by then is not handled."
	}
	if w.mayNotRead() {
		outcome += unreadDoc
	}
	if w.sweepsFirst() {
		takes := "which takes jobs from whoever has them: then no other process may have workers"
		if w.Recover.Own {
			takes = "which takes the jobs that carry the name of this worker: then no other process may have one of that name"
		}
		outcome += " Before its first claim Work calls Recover, " + takes + ", nor this one but in calls of Work on the same Queue. While one of these goes on, another that begins does not call Recover."
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
	fields := []*code.Statement{}
	if w.keepsLease() {
		fields = append(fields, code.Id("lease").Op(":").Add(w.leaseOf(code.Id("opts"))))
	}
	fields = append(fields, code.Id("freed").Op(":").Make(code.Chan().Struct(), code.Lit(1)))
	if w.unblocks() {
		fields = append(fields, code.Id("unblocked").Op(":").Make(code.Chan().Struct(), code.Lit(1)))
	}
	fields = append(fields,
		code.Id("finished").Op(":").Make(code.Chan().Op("*").Id("heldJob"), code.Id("opts").Dot("Batch")),
		code.Id("held").Op(":").Make(code.Map(code.Id("Key")).Op("*").Id("heldJob")),
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
func (w *writer) streamTypes(f *code.File) {
	var fields []*code.Statement
	if w.keepsLease() {
		fields = append(fields, code.Id("lease").Qual("time", "Duration"))
	}
	fields = append(fields,
		code.Line(),
		code.Id("claiming").Add(contextType()).Comment("ends when the caller's does, or by an error"),
		code.Id("end").Qual("context", "CancelCauseFunc").Comment("of claiming"),
		code.Id("running").Add(contextType()).Comment("of handlers and claims: outlives claiming by Grace"),
		code.Id("settling").Add(contextType()).Comment("of what follows a handler: outlives them all"),
		code.Line(),
		code.Id("freed").Chan().Struct().Comment("a handler has come free"),
	)
	if w.unblocks() {
		fields = append(fields, code.Id("unblocked").Chan().Struct().Comment("a job has ended, and others of its group may be claimed"))
	}
	fields = append(fields,
		code.Id("finished").Chan().Op("*").Id("heldJob").Comment("to be completed"),
		code.Id("handlers").Qual("sync", "WaitGroup"),
		code.Id("settlers").Qual("sync", "WaitGroup"),
		code.Line(),
	)
	if w.keepsLease() {
		fields = append(fields,
			code.Comment("// renewing is locked while claims are renewed, and for reading while jobs"),
			code.Comment("// are settled, so that no job is in two statements at once."),
			code.Id("renewing").Qual("sync", "RWMutex"),
			code.Line(),
		)
	}
	fields = append(fields,
		code.Id("mu").Qual("sync", "Mutex"),
		code.Id("held").Map(code.Id("Key")).Op("*").Id("heldJob").Comment("claimed and not yet settled"),
	)
	if w.Requeue != nil {
		fields = append(fields, code.Id("waiting").Add(heldJobs()).Comment("those that no handler has begun, in queue order"))
	}
	fields = append(fields, code.Id("active").Int().Comment("handlers that are not free"))
	if w.Requeue != nil {
		fields = append(fields, code.Id("mean").Qual("time", "Duration").Comment("time that a handler takes, of late; 0 when not known"))
	}
	fields = append(fields, code.Err().Error().Comment("that ended Work"))
	w.workLoopType(f, fields...)

	var job []*code.Statement
	job = append(job, code.Id("job").Id("Job"))
	job = append(job, w.extraFields()...)
	job = append(job,
		code.Id("ctx").Add(contextType()).Comment("of its handler"),
		code.Id("cancel").Qual("context", "CancelCauseFunc"),
	)
	if w.keepsLease() {
		job = append(job, code.Id("renewed").Qual("time", "Time").Comment("the lease began then or later"))
	}
	if w.tellsWork() {
		job = append(job,
			code.Id("renewing").Op("*").Qual("sync", "RWMutex").Comment("of the workLoop"),
			code.Id("settling").Qual("sync/atomic", "Int32").Comment("calls by which its handler settles jobs now; it is not renewed meanwhile"),
			code.Id("settled").Qual("sync/atomic", "Bool").Comment("by its handler; it is not renewed any more"),
		)
	}
	decl(f, []string{"heldJob is a job that this Work has claimed."}, code.Type().Id("heldJob").Struct(job...))
	decl(f, []string{"isLost reports whether another may hold the job by now."},
		code.Func().Params(code.Id("h").Op("*").Id("heldJob")).Id("isLost").Params().Bool().Block(
			code.Return(code.Qual("errors", "Is").Call(code.Qual("context", "Cause").Call(code.Id("h").Dot("ctx")), code.Id("ErrLost"))),
		))
	w.streamHandled(f)
}

// streamHandled emits how Work learns what a handler settles, which is settled by the claim as
// Work has renewed it.
func (w *writer) streamHandled(f *code.File) {
	if !w.tellsWork() {
		return
	}
	held := code.Id("h").Op("*").Id("heldJob")
	key := code.Id("h").Dot("job").Dot("Key").Call()
	decl(f, []string{"handlerKey is the key under which the context of a handler has its job."},
		code.Type().Id("handlerKey").Struct())
	decl(f, []string{"handled returns the job of the handler in whose context this is, nil elsewhere. Work does not renew its claim until the caller has called report."},
		code.Func().Id("handled").Params(ctxParam()).Op("*").Id("heldJob").Block(
			code.List(code.Id("h"), code.Id("_")).Op(":=").Id("ctx").Dot("Value").Call(code.Id("handlerKey").Values()).Assert(code.Op("*").Id("heldJob")),
			code.If(code.Id("h").Op("!=").Nil()).Block(
				code.Id("h").Dot("renewing").Dot("RLock").Call(),
				code.Defer().Id("h").Dot("renewing").Dot("RUnlock").Call(),
				code.Id("h").Dot("settling").Dot("Add").Call(code.Lit(1)),
			),
			code.Return(code.Id("h")),
		))
	if marks := w.renewedMarks(); len(marks) > 0 {
		copied := make([]*code.Statement, len(marks))
		for i, m := range marks {
			copied[i] = code.Id("j").Dot(m.Name).Op("=").Id("h").Dot("job").Dot(m.Name)
		}
		decl(f, []string{"freshen gives a copy of the job the marks that the row has since its claim was renewed."},
			code.Func().Params(held.Clone()).Id("freshen").Params(code.Id("j").Op("*").Id("Job")).Block(
				code.If(code.Id("j").Dot("Key").Call().Op("==").Add(key)).Block(copied...),
			))
	}
	decl(f, []string{"report ends what handled began. err says what came of the settlement of jobs; if the job itself is settled, though in a transaction that may not have ended, its claim is not renewed any more."},
		code.Func().Params(held).Id("report").Params(code.Err().Error(), code.Id("jobs").Op("...").Id("Job")).Block(
			code.Defer().Id("h").Dot("settling").Dot("Add").Call(code.Lit(-1)),
			code.If(code.Op("!").Qual("slices", "ContainsFunc").Call(code.Id("jobs"), code.Func().Params(code.Id("j").Id("Job")).Bool().Add(
				inline(code.Return(code.Id("j").Dot("Key").Call().Op("==").Add(key)))))).Block(code.Return()),
			code.Var().Id("lost").Op("*").Id("LostError"),
			code.Id("others").Op(":=").Qual("errors", "As").Call(code.Err(), code.Op("&").Id("lost")).Op("&&").
				Op("!").Qual("slices", "Contains").Call(code.Id("lost").Dot("Keys"), key),
			code.Id("h").Dot("settled").Dot("Store").Call(code.Err().Op("==").Nil().Op("||").Id("others")),
		))
}

// streamRun emits run: what goes on beside the claims, and how it all ends.
func (w *writer) streamRun(f *code.File) {
	decl(f, []string{"run claims until Work ends, then waits for what is under way."},
		loopMethod("run").Params(ctxParam()).Error().BlockFunc(func(g *code.Group) {
			g.Id("lasting").Op(":=").Qual("context", "WithoutCancel").Call(code.Id("ctx"))
			g.List(code.Id("claiming"), code.Id("end")).Op(":=").Qual("context", "WithCancelCause").Call(code.Id("ctx"))
			g.Defer().Id("end").Call(code.Nil())
			g.List(code.Id("running"), code.Id("interrupt")).Op(":=").Qual("context", "WithCancelCause").Call(code.Id("lasting"))
			g.Defer().Id("interrupt").Call(code.Nil())
			g.List(code.Id("settling"), code.Id("abandon")).Op(":=").Qual("context", "WithCancel").Call(code.Id("lasting"))
			g.Defer().Id("abandon").Call()
			g.List(loop("claiming"), loop("end"), loop("running"), loop("settling")).Op("=").List(code.Id("claiming"), code.Id("end"), code.Id("running"), code.Id("settling"))
			g.Line()
			g.Var().Id("background").Qual("sync", "WaitGroup")
			g.Id("start").Op(":=").Func().Params(code.Id("f").Func().Params()).Block(
				code.Id("background").Dot("Add").Call(code.Lit(1)),
				code.Go().Func().Params().Block(
					code.Defer().Id("background").Dot("Done").Call(),
					code.Id("f").Call(),
				).Call(),
			)
			g.Id("completed").Op(":=").Make(code.Chan().Struct())
			g.Id("start").Call(code.Func().Params().Block(
				code.Defer().Close(code.Id("completed")),
				loop("completeFinished").Call(),
			))
			g.Id("settled").Op(":=").Make(code.Chan().Struct())
			if w.keepsLease() {
				g.Id("start").Call(code.Func().Params().Block(loop("renewHeld").Call(code.Id("settled"))))
			}
			if w.sweeps() {
				g.If(loop("opts", "RecoverInterval").Op(">").Lit(0)).Block(
					code.Id("start").Call(loop("recoverExpired")),
				)
			}
			g.Id("start").Call(code.Func().Params().Block(
				code.Op("<-").Id("claiming").Dot("Done").Call(),
				interruptAfterGrace(code.Id("claiming"), "settled"),
			))
			g.Line()
			if w.sweepsFirst() {
				g.Id("over").Op(":=").Add(loop("recoverFirst")).Call()
				g.Defer().Id("over").Call()
			}
			g.Add(loop("claimJobs").Call())
			if w.Requeue != nil {
				g.Add(loop("giveBackWaiting").Call())
			}
			g.Add(loop("handlers", "Wait").Call())
			g.Id("timer").Op(":=").Qual("time", "AfterFunc").Call(code.Id("lastSettlement"), code.Id("abandon"))
			g.Defer().Id("timer").Dot("Stop").Call()
			g.Add(loop("settlers", "Wait").Call())
			g.Close(loop("finished"))
			g.Op("<-").Id("completed")
			g.Close(code.Id("settled"))
			g.Id("background").Dot("Wait").Call()
			g.Line()
			g.Switch(code.Id("n").Op(":=").Len(loop("held")), code.Empty()).Block(
				code.Case(loop("err").Op("==").Nil()).Block(
					code.Return(code.Nil()),
				),
				code.Case(code.Id("n").Op("==").Lit(0)).Block(
					code.Return(w.errorf("work: %w", loop("err"))),
				),
				code.Default().Block(
					code.Return(w.errorf("work: jobs that stay claimed: %d: %w", code.Id("n"), loop("err"))),
				),
			)
		}))
}

// streamClaimJobs emits the loop of the claims.
func (w *writer) streamClaimJobs(f *code.File) {
	decl(f, []string{"claimJobs claims until Work ends."},
		loopMethod("claimJobs").Params().Block(
			code.For(loop("claiming", "Err").Call().Op("==").Nil()).BlockFunc(func(g *code.Group) {
				g.Id("n").Op(":=").Add(loop("room")).Call()
				g.If(code.Id("n").Op("==").Lit(0)).BlockFunc(func(g *code.Group) {
					if w.Requeue != nil {
						g.If(code.Id("sleep").Call(loop("claiming"), code.Id("stalled").Op("*").Add(loop("opts", "PollInterval")), loop("freed"))).Block(
							loop("giveBackWaiting").Call().Comment("others may have a free handler for them"),
						)
					} else {
						g.Id("sleep").Call(loop("claiming"), loop("opts", "PollInterval"), loop("freed"))
					}
					g.Continue()
				})
				if w.unblocks() {
					g.Add(code.Select().Block(
						code.Case(code.Op("<-").Add(loop("unblocked"))).Block().Comment("this claim finds what may run by that"),
						code.Default().Block(),
					))
				}
				g.Var().Id("jobs").Index().Id("Job")
				var began []*code.Statement
				if w.keepsLease() {
					g.Var().Id("began").Qual("time", "Time")
					began = append(began, code.Id("began").Op("=").Qual("time", "Now").Call())
				}
				if w.Claim.Accept != nil {
					began = append(began, code.Defer().Func().Params().Block(catchPanicOf([]*code.Statement{code.Lit("accept panicked: %v\n\n%s")})).Call())
				}
				g.Add(patiently(append(began,
					code.List(code.Id("jobs"), code.Err()).Op("=").Add(w.claimCall(loop("q"), code.Id("n"))),
					code.Return(code.Err()),
				)...))
				g.If(code.Err().Op("!=").Nil()).Block(
					loop("giveUp").Call(code.Err()),
					code.Return(),
				)
				if w.keepsLease() {
					g.Add(loop("take").Call(code.Id("jobs"), code.Id("began")))
				} else {
					g.Add(loop("take").Call(code.Id("jobs")))
				}
				pause := w.sleep(loop("claiming"), around("PollInterval"))
				if w.unblocks() {
					pause = code.Id("sleep").Call(loop("claiming"), around("PollInterval"), loop("unblocked"))
				}
				g.If(empty("jobs")).Block(pause)
			}),
		))
}

// heldJobs is the type []*heldJob.
func heldJobs() *code.Statement { return code.Index().Op("*").Id("heldJob") }

// streamRoom emits how many jobs to claim next.
func (w *writer) streamRoom(f *code.File) {
	if w.Requeue == nil {
		decl(f, []string{"room returns how many jobs to claim: one for each free handler. More could not be given back."},
			loopMethod("room").Params().Int().Block(
				lockMutex(loop("mu")),
				code.Return(code.Id("min").Call(loop("opts", "Concurrency").Op("-").Add(loop("active")), loop("opts", "Batch"))),
			))
		return
	}
	decl(f, []string{"room returns how many jobs to claim: one for each free handler, and as many ahead as handlers will come free within a PollInterval, so that a job waits here no longer than it would for the next poll of an idle worker. It returns 0 while less than half of those ahead are missing, which keeps claims few."},
		loopMethod("room").Params().Int().Block(
			lockMutex(loop("mu")),
			code.Id("free").Op(":=").Add(loop("opts", "Concurrency")).Op("-").Add(loop("active")).Op("-").Len(loop("waiting")),
			code.Id("ahead").Op(":=").Lit(0),
			code.If(loop("mean").Op(">").Lit(0)).Block(
				code.Id("soon").Op(":=").Add(loop("opts", "PollInterval")).Op("*").Qual("time", "Duration").Call(loop("opts", "Concurrency")).Op("/").Add(loop("mean")),
				code.Id("ahead").Op("=").Int().Call(code.Id("min").Call(code.Id("soon"), code.Qual("time", "Duration").Call(loop("opts", "Batch")))),
			),
			code.If(code.Id("free").Op("<=").Lit(0).Op("&&").Lit(2).Op("*").Parens(code.Id("free").Op("+").Id("ahead")).Op("<").Id("max").Call(code.Id("ahead"), code.Lit(1))).Block(
				code.Return(code.Lit(0)),
			),
			code.Return(code.Id("min").Call(code.Id("free").Op("+").Id("ahead"), loop("opts", "Batch"))),
		))
}

// streamTake emits what becomes of claimed jobs.
func (w *writer) streamTake(f *code.File) {
	doc := "take hands claimed jobs to the handlers."
	params := []*code.Statement{code.Id("jobs").Index().Id("Job")}
	if w.keepsLease() {
		doc += " Their leases began at began or later."
		params = append(params, code.Id("began").Qual("time", "Time"))
	}
	decl(f, []string{doc},
		loopMethod("take").Params(params...).BlockFunc(func(g *code.Group) {
			g.Add(lockMutex(loop("mu")))
			g.For(code.List(code.Id("_"), code.Id("job")).Op(":=").Range().Id("jobs")).BlockFunc(func(g *code.Group) {
				g.If(code.Id("old").Op(":=").Add(loop("held")).Index(code.Id("job").Dot("Key").Call()), code.Id("old").Op("!=").Nil()).Block(
					code.Id("old").Dot("cancel").Call(code.Id("ErrLost")).Comment("its claim expired and came back here"),
				)
				g.Id("h").Op(":=").Op("&").Id("heldJob").ValuesFunc(func(g *code.Group) {
					g.Id("job").Op(":").Id("job")
					if w.keepsLease() {
						g.Id("renewed").Op(":").Id("began")
					}
					if w.tellsWork() {
						g.Id("renewing").Op(":").Op("&").Add(loop("renewing"))
					}
				})
				of := loop("running")
				if w.tellsWork() {
					of = code.Qual("context", "WithValue").Call(of, code.Id("handlerKey").Values(), code.Id("h"))
				}
				g.List(code.Id("h").Dot("ctx"), code.Id("h").Dot("cancel")).Op("=").Qual("context", "WithCancelCause").Call(of)
				g.Add(loop("held").Index(code.Id("job").Dot("Key").Call()).Op("=").Id("h"))
				if w.Requeue != nil {
					g.Add(loop("waiting").Op("=").Append(loop("waiting"), code.Id("h")))
				} else {
					g.Add(loop("begin").Call(code.Id("h")))
				}
			})
			if w.Requeue != nil {
				g.Add(loop("begin").Call())
			}
		}))
}

// streamBegin emits how handlers are started.
func (w *writer) streamBegin(f *code.File) {
	start := []*code.Statement{
		loop("active").Op("++"),
		loop("handlers", "Add").Call(code.Lit(1)),
		loop("settlers", "Add").Call(code.Lit(1)),
		code.Go().Add(loop("handle")).Call(code.Id("h"), code.Id("h").Dot("job")),
	}
	if w.Requeue == nil {
		decl(f, []string{"begin calls the handler for a job. The caller holds w.mu."},
			loopMethod("begin").Params(code.Id("h").Op("*").Id("heldJob")).Block(start...))
		return
	}
	body := []*code.Statement{
		code.Id("h").Op(":=").Add(loop("waiting")).Index(code.Lit(0)),
		loop("waiting").Op("=").Add(loop("waiting")).Index(code.Lit(1), code.Empty()),
	}
	if w.keepsLease() {
		body = append(body, code.If(code.Id("h").Dot("isLost").Call()).Block(
			loop("drop").Call(code.Id("h")),
			code.Continue(),
		))
	}
	body = append(body, start...)
	decl(f, []string{"begin calls handlers for waiting jobs while there are free ones and Work goes on. The caller holds w.mu."},
		loopMethod("begin").Params().Block(
			code.For(loop("active").Op("<").Add(loop("opts", "Concurrency")).Op("&&").Len(loop("waiting")).Op(">").Lit(0).Op("&&").Add(loop("claiming", "Err")).Call().Op("==").Nil()).Block(body...),
		))
}

// streamHandle emits the call of the handler.
func (w *writer) streamHandle(f *code.File) {
	measured := w.Requeue != nil
	decl(f, []string{"handle calls the handler for one job and settles it."},
		loopMethod("handle").Params(code.Id("h").Op("*").Id("heldJob"), code.Id("job").Id("Job")).BlockFunc(func(g *code.Group) {
			g.Add(noReturn())
			if measured {
				g.Id("began").Op(":=").Qual("time", "Now").Call()
			}
			g.Add(beforeWork(code.Id("h").Dot("ctx")))
			g.Defer().Func().Params().BlockFunc(func(g *code.Group) {
				g.Add(w.catchPanic(w.reportJob(code.Err())))
				g.Add(afterWork())
				if measured {
					g.Id("took").Op(":=").Qual("time", "Since").Call(code.Id("began"))
				}
				g.Add(loop("handlers", "Done").Call())
				g.Add(loop("conclude").Call(code.Id("h"), code.Err()))
				if measured {
					g.Add(loop("free").Call(code.Id("took")))
				} else {
					g.Add(loop("free").Call())
				}
				g.Add(loop("settlers", "Done").Call())
			}).Call()
			g.Add(w.callHandler("h"))
		}))
}

// streamStart emits how a job is begun:
//
//	var errNotBegun = errors.New("emailq: the job could not be begun")
//
//	func (w *workLoop) start(h *heldJob, job *Job) error {
//		sure := true
//		err := w.patiently(w.claiming, w.running, min(longestCall, w.lease/6), func(ctx context.Context) error {
//			w.renewing.RLock()
//			defer w.renewing.RUnlock()
//			if h.isLost() {
//				return context.Cause(h.ctx)
//			}
//			fresh := h.job
//			err := w.q.Start(ctx, &fresh)
//			sure = sure && !transient(err)
//			if err == nil {
//				w.mu.Lock()
//				h.job, *job = fresh, fresh
//				w.mu.Unlock()
//			}
//			return err
//		})
//		switch {
//		case err == nil, h.isLost():
//			return err
//		case errors.Is(err, ErrLost) && sure:
//			h.cancel(err)
//		case errors.Is(err, ErrLost), transient(err):
//			err = fmt.Errorf("%w: %w", errNotBegun, err)
//		default:
//			return err
//		}
//		w.opts.OnError(err)
//		return err
//	}
func (w *writer) streamStart(f *code.File) {
	decl(f, []string{"errNotBegun is of a job that is given back because it could not be begun."},
		code.Var().Id("errNotBegun").Op("=").Add(w.newError("the job could not be begun")))
	limit := code.Id("longestCall")
	if w.keepsLease() {
		limit = code.Id("min").Call(code.Id("longestCall"), loop("lease").Op("/").Lit(6))
	}
	params := []*code.Statement{code.Id("h").Op("*").Id("heldJob")}
	refreshes := len(w.Start.Refreshes) > 0
	if refreshes {
		params = append(params, code.Id("job").Op("*").Id("Job"))
	}
	doc := "start begins a job. One whose claim is lost is left to whoever has it by now. Where a call got no answer, the claim may only look lost because the job has begun, so it is given back."
	decl(f, []string{doc},
		loopMethod("start").Params(params...).Error().BlockFunc(func(g *code.Group) {
			g.Id("sure").Op(":=").True()
			g.Err().Op(":=").Add(loop("patiently")).Call(loop("claiming"), loop("running"), limit, code.Func().Params(ctxParam()).Error().BlockFunc(func(g *code.Group) {
				if w.keepsLease() {
					g.Add(loop("renewing", "RLock").Call())
					g.Defer().Add(loop("renewing", "RUnlock")).Call()
				}
				g.If(code.Id("h").Dot("isLost").Call()).Block(code.Return(code.Qual("context", "Cause").Call(code.Id("h").Dot("ctx"))))
				job := code.Id("h").Dot("job")
				if refreshes {
					g.Id("fresh").Op(":=").Id("h").Dot("job")
					job = code.Op("&").Id("fresh")
				}
				g.Err().Op(":=").Add(loop("q", "Start")).Call(code.Id("ctx"), job)
				g.Id("sure").Op("=").Id("sure").Op("&&").Op("!").Id("transient").Call(code.Err())
				if refreshes {
					g.If(code.Err().Op("==").Nil()).Block(
						loop("mu", "Lock").Call(),
						code.List(code.Id("h").Dot("job"), code.Op("*").Id("job")).Op("=").List(code.Id("fresh"), code.Id("fresh")),
						loop("mu", "Unlock").Call(),
					)
				}
				g.Return(code.Err())
			}))
			g.Switch().Block(
				code.Case(code.Err().Op("==").Nil(), code.Id("h").Dot("isLost").Call()).Block(code.Return(code.Err())),
				code.Case(code.Qual("errors", "Is").Call(code.Err(), code.Id("ErrLost")).Op("&&").Id("sure")).Block(
					code.Id("h").Dot("cancel").Call(code.Err()),
				),
				code.Case(code.Qual("errors", "Is").Call(code.Err(), code.Id("ErrLost")), code.Id("transient").Call(code.Err())).Block(
					code.Err().Op("=").Qual("fmt", "Errorf").Call(code.Lit("%w: %w"), code.Id("errNotBegun"), code.Err()),
				),
				code.Default().Block(code.Return(code.Err())),
			)
			g.Add(loop("opts", "OnError").Call(code.Err()))
			g.Return(code.Err())
		}))
}

// streamFree emits what follows a handler.
func (w *writer) streamFree(f *code.File) {
	if w.Requeue == nil {
		decl(f, []string{"free makes a handler free again."},
			loopMethod("free").Params().Block(
				loop("mu", "Lock").Call(),
				loop("active").Op("--"),
				loop("mu", "Unlock").Call(),
				wake("freed"),
			))
		return
	}
	decl(f, []string{"free makes a handler free again that took so long for its job."},
		loopMethod("free").Params(code.Id("took").Qual("time", "Duration")).Block(
			loop("mu", "Lock").Call(),
			code.If(loop("mean").Op("==").Lit(0)).Block(
				loop("mean").Op("=").Id("took"),
			),
			loop("mean").Op("=").Id("max").Call(loop("mean").Op("+").Parens(code.Id("took").Op("-").Add(loop("mean"))).Op("/").Lit(8), code.Lit(1)),
			loop("active").Op("--"),
			loop("begin").Call(),
			loop("mu", "Unlock").Call(),
			wake("freed"),
		))
}

// streamConclude emits what becomes of a job whose handler has returned.
func (w *writer) streamConclude(f *code.File) {
	decl(f, []string{"conclude records what became of a job."},
		loopMethod("conclude").Params(code.Id("h").Op("*").Id("heldJob"), code.Err().Error()).Block(
			code.Switch().BlockFunc(func(g *code.Group) {
				g.Case(code.Id("h").Dot("isLost").Call(), code.Qual("errors", "Is").Call(code.Err(), code.Id("ErrSettled"))).Block(
					append([]*code.Statement{loop("forget").Call(code.Id("h"))}, w.unblock(w.Complete)...)...,
				)
				if w.Start != nil {
					g.Case(code.Qual("errors", "Is").Call(code.Err(), code.Id("errNotBegun"))).Block(
						loop("giveBack").Call(code.Id("h")),
					)
				}
				g.Case(code.Err().Op("==").Nil()).Block(
					loop("finished").Op("<-").Id("h"),
				)
				if w.Requeue != nil {
					g.Case(interrupted(code.Err())).Block(
						loop("giveBack").Call(code.Id("h")),
					)
				}
				if w.fails() {
					g.Default().Block(loop("failJob").Call(code.Id("h"), code.Err()))
					return
				}
				g.Default().BlockFunc(func(g *code.Group) {
					g.Add(loop("report").Call(code.Id("h"), code.Err()))
					if w.Requeue != nil {
						g.Add(w.sleep(loop("claiming"), around("PollInterval")))
						g.Add(loop("giveBack").Call(code.Id("h")))
					} else {
						g.Add(loop("forget").Call(code.Id("h")))
					}
				})
			}),
		))
}

// streamComplete emits how finished jobs are completed together.
func (w *writer) streamComplete(f *code.File) {
	decl(f, []string{"completeFinished completes jobs as they are finished, many at a time."},
		loopMethod("completeFinished").Params().Block(
			code.For(code.Id("h").Op(":=").Range().Add(loop("finished"))).Block(
				loop("complete").Call(loop("gather").Call(code.Id("h"))),
			),
		))
	decl(f, []string{"gather returns h and the jobs that finish shortly after it."},
		loopMethod("gather").Params(code.Id("h").Op("*").Id("heldJob")).Add(heldJobs()).Block(
			code.Id("batch").Op(":=").Add(heldJobs()).Values(code.Id("h")),
			code.Id("timer").Op(":=").Qual("time", "NewTimer").Call(code.Id("completeDelay")),
			code.Defer().Id("timer").Dot("Stop").Call(),
			code.For(code.Len(code.Id("batch")).Op("<").Add(loop("opts", "Batch"))).Block(
				code.Select().Block(
					code.Case(code.List(code.Id("h"), code.Id("ok")).Op(":=").Op("<-").Add(loop("finished"))).Block(
						code.If(code.Op("!").Id("ok")).Block(code.Return(code.Id("batch"))),
						code.Id("batch").Op("=").Append(code.Id("batch"), code.Id("h")),
					),
					code.Case(code.Op("<-").Id("timer").Dot("C")).Block(code.Return(code.Id("batch"))),
				),
			),
			code.Return(code.Id("batch")),
		))
	completed := code.Case(code.Err().Op("==").Nil()).Block(w.unblock(w.Complete)...)
	doc := "complete completes jobs. When the database refuses them, each is tried alone; one that is refused alone fails."
	refused := loop("failJob").Call(code.Id("batch").Index(code.Lit(0)), code.Err())
	if !w.fails() {
		doc = "complete completes jobs. When the database refuses them, each is tried alone; one that is refused alone ends Work."
		refused = loop("abort").Call(code.Err())
	}
	decl(f, []string{doc},
		loopMethod("complete").Params(code.Id("batch").Add(heldJobs())).Block(
			code.Err().Op(":=").Add(loop("record")).Call(code.Id("batch"), code.Func().Params(ctxParam(), code.Id("mine").Add(heldJobs())).Error().Block(
				w.completeMine()...,
			)),
			code.Switch().Block(
				completed,
				code.Case(code.Id("transient").Call(code.Err()).Op("||").Add(loop("settling", "Err")).Call().Op("!=").Nil()).Block(
					loop("abort").Call(code.Err()),
				),
				code.Case(code.Len(code.Id("batch")).Op(">").Lit(1)).Block(
					code.For(code.List(code.Id("_"), code.Id("h")).Op(":=").Range().Id("batch")).Block(
						loop("complete").Call(heldJobs().Values(code.Id("h"))),
					),
				),
				code.Default().Block(refused),
			),
		))
}

// completeMine is the call of Complete for the jobs mine.
func (w *writer) completeMine() []*code.Statement {
	if !w.carries() {
		return []*code.Statement{code.Return(loop("q", "Complete").Call(code.Id("ctx"), code.Id("jobsOf").Call(code.Id("mine")).Op("...")))}
	}
	return []*code.Statement{
		code.Id("done").Op(":=").Make(code.Index().Id("Done"), code.Len(code.Id("mine"))),
		code.For(code.List(code.Id("i"), code.Id("h")).Op(":=").Range().Id("mine")).Block(
			code.Id("done").Index(code.Id("i")).Op("=").Id("h").Dot("job").Dot("Done").Call(w.extraArgs("h")...),
		),
		code.Return(loop("q", "Complete").Call(code.Id("ctx"), code.Id("done").Op("..."))),
	}
}

// unblocks reports whether a job that ends may let others be claimed.
func (w *writer) unblocks() bool { return w.Complete.Frees }

// unblock tells claimJobs that jobs have ended by the operations, if that lets others be
// claimed.
func (w *writer) unblock(by ...*plan.Settle) []*code.Statement {
	for _, s := range by {
		if s != nil && !s.Frees {
			return nil
		}
	}
	return []*code.Statement{loop("unblock").Call()}
}

// streamUnblock emits unblock.
func (w *writer) streamUnblock(f *code.File) {
	decl(f, []string{"unblock tells claimJobs that a job has ended, so that others of its group may be claimed."},
		loopMethod("unblock").Params().Block(wake("unblocked")))
}

// recordAll emits
//
//	err := w.record(<jobs>, func(ctx context.Context, mine []*heldJob) error {
//		return <call>
//	})
//	if err != nil {
//		w.abort(err)
//		return // where more follows
//	}
//	<then>
func recordAll(jobs, call *code.Statement, then ...*code.Statement) []*code.Statement {
	failed := []*code.Statement{loop("abort").Call(code.Err())}
	if len(then) > 0 {
		failed = append(failed, code.Return())
	}
	return append([]*code.Statement{
		code.Err().Op(":=").Add(loop("record")).Call(jobs, code.Func().Params(ctxParam(), code.Id("mine").Add(heldJobs())).Error().Block(
			code.Return(call),
		)),
		code.If(code.Err().Op("!=").Nil()).Block(failed...),
	}, then...)
}

// streamFailJob emits failJob.
func (w *writer) streamFailJob(f *code.File) {
	lines := recordAll(heldJobs().Values(code.Id("h")),
		loop("q", "Fail").Call(code.Id("ctx"), code.Id("mine").Index(code.Lit(0)).Dot("job"), code.Id("cause")),
		w.unblock(w.Retry, w.Fail)...)
	if !w.keepsCause() {
		lines = append([]*code.Statement{loop("report").Call(code.Id("h"), code.Id("cause"))}, lines...)
	}
	decl(f, []string{"failJob records the failure of a job."},
		loopMethod("failJob").Params(code.Id("h").Op("*").Id("heldJob"), code.Id("cause").Error()).Block(lines...))
}

// streamReport emits
//
//	func (w *workLoop) report(h *heldJob, err error) {
//		if errors.Is(err, errPanicked) {
//			return
//		}
//		w.mu.Lock()
//		job := h.job
//		w.mu.Unlock()
//		w.opts.OnError(fmt.Errorf("emailq: work: job %v: %w", job.Key(), err))
//	}
func (w *writer) streamReport(f *code.File) {
	decl(f, []string{"report tells of a job that failed, unless that is told already."},
		loopMethod("report").Params(code.Id("h").Op("*").Id("heldJob"), code.Err().Error()).Block(
			code.If(code.Qual("errors", "Is").Call(code.Err(), code.Id("errPanicked"))).Block(code.Return()),
			loop("mu", "Lock").Call(),
			code.Id("job").Op(":=").Id("h").Dot("job"),
			loop("mu", "Unlock").Call(),
			w.reportJob(code.Err()),
		))
}

// streamGiveBack emits how jobs are given back.
func (w *writer) streamGiveBack(f *code.File) {
	args := []*code.Statement{code.Id("ctx")}
	if w.Requeue.Delay {
		args = append(args, code.Lit(0))
	}
	args = append(args, code.Id("jobsOf").Call(code.Id("mine")).Op("..."))
	decl(f, []string{"giveBack makes jobs ready again, as if they had not been claimed."},
		loopMethod("giveBack").Params(code.Id("jobs").Op("...").Op("*").Id("heldJob")).Block(
			recordAll(code.Id("jobs"), loop("q", "Requeue").Call(args...))...,
		))
	decl(f, []string{"giveBackWaiting gives back the jobs that no handler has begun."},
		loopMethod("giveBackWaiting").Params().Block(
			loop("mu", "Lock").Call(),
			code.Id("waiting").Op(":=").Add(loop("waiting")),
			loop("waiting").Op("=").Nil(),
			loop("mean").Op("=").Lit(0),
			loop("mu", "Unlock").Call(),
			code.If(empty("waiting")).Block(code.Return()),
			loop("settlers", "Add").Call(code.Lit(1)),
			code.Go().Func().Params().Block(
				code.Defer().Add(loop("settlers", "Done")).Call(),
				loop("giveBack").Call(code.Id("waiting").Op("...")),
			).Call(),
		))
}

// streamRecord emits what all settling goes through.
func (w *writer) streamRecord(f *code.File) {
	limit := code.Id("longestCall")
	if w.keepsLease() {
		limit = code.Id("min").Call(code.Id("longestCall"), loop("lease").Op("/").Lit(6))
	}
	decl(f, []string{"record settles jobs by call, waits out transient errors, and lets go of the jobs when that is done. Jobs that are lost are left out."},
		loopMethod("record").Params(code.Id("jobs").Add(heldJobs()), code.Id("call").Func().Params(ctxParam(), code.Id("mine").Add(heldJobs())).Error()).Error().Block(
			code.Var().Id("gone").Error(),
			code.Err().Op(":=").Add(loop("patiently")).Call(loop("settling"), loop("settling"), limit, code.Func().Params(ctxParam()).Params(code.Err().Error()).BlockFunc(func(g *code.Group) {
				forget := loop("forget").Call(code.Id("jobs").Op("..."))
				if w.keepsLease() {
					g.Add(loop("renewing", "RLock").Call())
					g.Defer().Add(loop("renewing", "RUnlock")).Call()
					forget.Comment("before the next renewal, which would find their claims lost")
				}
				g.If(code.Id("mine").Op(":=").Qual("slices", "DeleteFunc").Call(code.Qual("slices", "Clone").Call(code.Id("jobs")), code.Parens(code.Op("*").Id("heldJob")).Dot("isLost")),
					code.Len(code.Id("mine")).Op(">").Lit(0)).Block(
					code.Err().Op("=").Id("call").Call(code.Id("ctx"), code.Id("mine")),
				)
				g.If(code.Qual("errors", "Is").Call(code.Err(), code.Id("ErrLost"))).Block(
					code.List(code.Id("gone"), code.Err()).Op("=").List(code.Err(), code.Nil()),
				)
				g.If(code.Err().Op("==").Nil()).Block(forget)
				g.Return(code.Err())
			})),
			code.If(code.Id("gone").Op("!=").Nil()).Block(loop("opts", "OnError").Call(code.Id("gone"))),
			code.Return(code.Err()),
		))
	if w.carries() && w.Requeue == nil && !w.keepsLease() {
		return
	}
	doc := "jobsOf returns the jobs themselves."
	if w.keepsLease() {
		doc = "jobsOf returns the jobs themselves, as they are now. The caller holds w.renewing."
	}
	decl(f, []string{doc},
		code.Func().Id("jobsOf").Params(code.Id("held").Add(heldJobs())).Index().Id("Job").Block(
			code.Id("jobs").Op(":=").Make(code.Index().Id("Job"), code.Len(code.Id("held"))),
			code.For(code.List(code.Id("i"), code.Id("h")).Op(":=").Range().Id("held")).Block(
				code.Id("jobs").Index(code.Id("i")).Op("=").Id("h").Dot("job"),
			),
			code.Return(code.Id("jobs")),
		))
}

// streamForget emits forget and drop.
func (w *writer) streamForget(f *code.File) {
	decl(f, []string{"forget lets go of jobs that are settled or lost."},
		loopMethod("forget").Params(code.Id("jobs").Op("...").Op("*").Id("heldJob")).Block(
			lockMutex(loop("mu")),
			code.For(code.List(code.Id("_"), code.Id("h")).Op(":=").Range().Id("jobs")).Block(
				loop("drop").Call(code.Id("h")),
			),
		))
	decl(f, []string{"drop lets go of one job. The caller holds w.mu."},
		loopMethod("drop").Params(code.Id("h").Op("*").Id("heldJob")).Block(
			code.If(code.Id("key").Op(":=").Id("h").Dot("job").Dot("Key").Call(), loop("held").Index(code.Id("key")).Op("==").Id("h")).Block(
				code.Delete(loop("held"), code.Id("key")),
			),
			code.Id("h").Dot("cancel").Call(code.Nil()),
		))
}

// streamRecover emits recoverExpired.
func (w *writer) streamRecover(f *code.File) {
	args := []*code.Statement{code.Id("ctx")}
	if plan.AsksTimeout(w.Recover.Statements()...) {
		args = append(args, loop("opts", "Timeout"))
	}
	args = append(args, code.Id("recoverLimit"))
	decl(f, []string{"recoverExpired calls Recover until Work ends."},
		loopMethod("recoverExpired").Params().Block(
			code.For(loop("claiming", "Err").Call().Op("==").Nil()).Block(
				code.Var().Id("n").Int(),
				patiently(
					code.List(code.Id("n"), code.Err()).Op("=").Add(loop("q", "Recover")).Call(args...),
					code.Return(code.Err()),
				),
				code.If(code.Err().Op("!=").Nil()).Block(
					loop("giveUp").Call(code.Err()),
					code.Return(),
				),
				code.If(code.Id("n").Op("<").Id("recoverLimit")).Block(
					w.sleep(loop("claiming"), around("RecoverInterval")),
				),
			),
		))
}

// worksType emits the struct works, which the calls of Work on one Queue share.
func (w *writer) worksType(f *code.File) {
	decl(f, []string{"works are the calls of Work that go on at once."},
		code.Type().Id("works").Struct(
			code.Id("turn").Chan().Struct().Comment("holds a value while somebody reads or writes going"),
			code.Id("going").Int().Comment("that may have claimed jobs"),
		))
}

// streamRecoverFirst emits recoverFirst.
func (w *writer) streamRecoverFirst(f *code.File) {
	w.worksType(f)
	s := func(name string) *code.Statement { return code.Id("s").Dot(name) }
	nothing := code.Return(code.Func().Params().Block())
	take := s("turn").Op("<-").Struct().Values()
	give := code.Op("<-").Add(s("turn"))
	decl(f, []string{"recoverFirst calls Recover before anything is claimed, unless another Work on the queue may have claimed something. When this Work is over, it calls what is returned."},
		loopMethod("recoverFirst").Params().Params(code.Id("over").Func().Params()).Block(
			code.Id("s").Op(":=").Add(loop("q", "works")),
			code.Select().Block(
				code.Case(take).Block(),
				code.Case(code.Op("<-").Add(loop("claiming", "Done")).Call()).Block(nothing),
			),
			code.Defer().Func().Params().Block(give).Call(),
			code.For(code.Id("n").Op(":=").Id("recoverLimit"), s("going").Op("==").Lit(0).Op("&&").Id("n").Op("==").Id("recoverLimit"), code.Empty()).Block(
				patiently(
					code.List(code.Id("n"), code.Err()).Op("=").Add(loop("q", "Recover")).Call(code.Id("ctx"), code.Id("recoverLimit")),
					code.Return(code.Err()),
				),
				code.If(code.Err().Op("!=").Nil().Op("||").Add(loop("claiming", "Err")).Call().Op("!=").Nil()).Block(
					loop("giveUp").Call(code.Err()),
					nothing,
				),
			),
			s("going").Op("++"),
			code.Return(code.Func().Params().Block(
				take,
				s("going").Op("--"),
				give,
			)),
		))
}

// leaseOf is how long a claim is good, with the options of Work.
func (w *writer) leaseOf(opts *code.Statement) *code.Statement {
	switch {
	case w.leaseArg():
		return opts.Dot("Lease")
	case w.timeoutArg():
		return opts.Dot("Timeout")
	case w.namesHeartbeat():
		return code.Lit(3).Op("*").Add(opts.Dot("Heartbeat"))
	}
	return durationExpr(w.workLease())
}

// streamRenew emits how claims are kept.
func (w *writer) streamRenew(f *code.File) {
	decl(f, []string{"renewHeld renews claims at every heartbeat, and sooner again after an error."},
		loopMethod("renewHeld").Params(code.Id("settled").Op("<-").Chan().Struct()).Block(
			code.For(code.Id("wait").Op(":=").Add(loop("opts", "Heartbeat")), code.Empty(), code.Empty()).Block(
				code.Select().Block(
					code.Case(code.Op("<-").Id("settled")).Block(code.Return()),
					code.Case(code.Op("<-").Qual("time", "After").Call(code.Id("wait"))).Block(),
				),
				code.Id("wait").Op("=").Add(loop("opts", "Heartbeat")),
				code.If(code.Op("!").Add(loop("renew")).Call()).Block(
					code.Id("wait").Op("=").Id("min").Call(code.Id("wait"), loop("lease").Op("/").Lit(12)),
				),
			),
		))
	decl(f, []string{"renew extends the leases of all held jobs. A job whose claim is lost, or could not be renewed for a whole lease, has its context ended. It reports whether the database answered."},
		loopMethod("renew").Params().Bool().BlockFunc(func(g *code.Group) {
			g.Add(lockMutex(loop("renewing")))
			g.Add(loop("mu", "Lock").Call())
			g.Var().Id("held").Add(heldJobs())
			free := code.Op("!").Id("h").Dot("isLost").Call()
			if w.tellsWork() {
				free = free.Op("&&").Id("h").Dot("settling").Dot("Load").Call().Op("==").Lit(0).Op("&&").Op("!").Id("h").Dot("settled").Dot("Load").Call()
			}
			g.For(code.List(code.Id("_"), code.Id("h")).Op(":=").Range().Add(loop("held"))).Block(
				code.If(free).Block(
					code.Id("held").Op("=").Append(code.Id("held"), code.Id("h")),
				),
			)
			g.Add(loop("mu", "Unlock").Call())
			g.If(empty("held")).Block(code.Return(code.True()))
			g.Line()
			g.Id("began").Op(":=").Qual("time", "Now").Call()
			g.List(code.Id("ctx"), code.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(loop("settling"), code.Id("min").Call(code.Id("longestCall"), loop("lease").Op("/").Lit(6)))
			g.Defer().Id("cancel").Call()
			w.extendHeld(g)
			g.Var().Id("missing").Op("*").Id("LostError")
			g.Id("answered").Op(":=").Err().Op("==").Nil().Op("||").Qual("errors", "As").Call(code.Err(), code.Op("&").Id("missing"))
			g.Switch().Block(
				code.Case(code.Err().Op("==").Nil()).Block(),
				code.Case(code.Id("answered").Op("||").Id("transient").Call(code.Err())).Block(loop("opts", "OnError").Call(code.Err())),
				code.Default().Block(loop("abort").Call(code.Err())),
			)
			g.Line()
			g.Add(lockMutex(loop("mu")))
			index := code.Id("_")
			if len(w.Extend.Refreshes) > 0 {
				index = code.Id("i")
			}
			g.For(code.List(index, code.Id("h")).Op(":=").Range().Id("held")).Block(
				code.Switch().Block(
					code.Case(code.Id("missing").Op("!=").Nil().Op("&&").Qual("slices", "Contains").Call(code.Id("missing").Dot("Keys"), code.Id("h").Dot("job").Dot("Key").Call())).Block(
						code.Id("h").Dot("cancel").Call(code.Id("missing")),
					),
					code.Case(code.Id("answered")).BlockFunc(func(g *code.Group) {
						if len(w.Extend.Refreshes) > 0 {
							g.Id("h").Dot("job").Op("=").Id("jobs").Index(code.Id("i"))
						}
						g.Id("h").Dot("renewed").Op("=").Id("began")
					}),
					code.Case(code.Qual("time", "Since").Call(code.Id("h").Dot("renewed")).Op(">").Add(loop("lease"))).Block(
						code.Id("h").Dot("cancel").Call(code.Qual("fmt", "Errorf").Call(code.Lit("%w: its lease could not be renewed"), code.Id("ErrLost"))),
					),
				),
			)
			g.Return(code.Id("answered"))
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
func (w *writer) extendHeld(g *code.Group) {
	args := []*code.Statement{code.Id("ctx")}
	if w.Extend.LeaseArg {
		args = append(args, loop("opts", "Lease"))
	}
	if len(w.Extend.Refreshes) == 0 {
		g.Err().Op(":=").Add(loop("q", "Extend")).Call(append(args, code.Id("jobsOf").Call(code.Id("held")).Op("..."))...)
		return
	}
	g.Id("jobs").Op(":=").Id("jobsOf").Call(code.Id("held"))
	g.Id("fresh").Op(":=").Make(code.Index().Op("*").Id("Job"), code.Len(code.Id("jobs")))
	g.For(code.Id("i").Op(":=").Range().Id("jobs")).Block(
		code.Id("fresh").Index(code.Id("i")).Op("=").Op("&").Id("jobs").Index(code.Id("i")),
	)
	g.Err().Op(":=").Add(loop("q", "Extend")).Call(append(args, code.Id("fresh").Op("..."))...)
}
