package emit

// This file writes the worker loop for claims that write nothing: a batch is
// claimed, run and settled before the next one is claimed. Where the row lock
// is the claim, all this happens in one transaction.

import "github.com/qgen-dev/qgen/internal/code"

func (w *writer) workBatch(f *code.File) {
	constants(f, firstRetry(), longestRetry(), longestCall())
	if !w.Hold {
		w.errSettled(f)
	}
	w.errPanicked(f)
	w.workOptionsType(f)
	w.withDefaultsMethod(f)
	w.batchWork(f)
	w.batchTypes(f)
	w.batchRun(f)
	w.batchGrace(f)
	w.batchRunBatch(f)
	w.batchHandleAll(f)
	w.batchHandle(f)
	w.batchCall(f)
	if !w.Hold {
		w.patientlyMethod(f)
	}
	w.workFuncs(f)
}

// batchWork emits Work.
func (w *writer) batchWork(f *code.File) {
	outcome := w.outcomes()
	if !w.fails() {
		outcome = "A job is completed when handler returns nil. The table has no place for a failure: OnError is told of it, and the job stays in the queue."
	}
	if !w.Hold {
		outcome += " A handler that has settled the job itself returns ErrSettled."
	}
	if w.mayNotRead() {
		outcome += unreadDoc
	}
	how := "Each batch is one transaction, from Claim to Commit: it occupies a connection while the handlers run, so they should be quick. When the transaction breaks, every job of the batch is ready again, also those whose handlers had returned."
	ends := "When ctx ends, Work claims no more and begins no more jobs, lets running handlers go on for opts.Grace, then ends their context, and settles and commits what has finished; the rest is free again."
	if !w.Hold {
		how = "Nothing in the table marks a job that runs, so Work claims the next batch when the last one is settled, and no two workers may look after the same shard."
		ends = "When ctx ends, Work claims no more and begins no more jobs, lets running handlers go on for opts.Grace, then ends their context, and settles what has finished; the rest stays in the queue."
	}
	ends += " It returns when every handler has: nil if ctx ended, else the database error that does not pass. No goroutine is left behind."
	doc := []string{
		"Work claims jobs and calls handler for each until ctx ends.",
		outcome,
		how,
		ends,
		"The hook sees each call of handler as the operation work. " + w.Crash,
	}
	w.workMethod(f, doc)
}

// batchTypes emits workLoop and outcome.
func (w *writer) batchTypes(f *code.File) {
	w.workLoopType(f,
		code.Line(),
		code.Id("claiming").Add(contextType()).Comment("the caller's"),
		code.Id("running").Add(contextType()).Comment("of handlers: outlives claiming by Grace"),
		code.Id("settling").Add(contextType()).Comment("of calls of the database: outlives the handlers"),
	)
	fields := append(w.extraFields(), code.Err().Error())
	decl(f, []string{"outcome is what a handler returned."}, code.Type().Id("outcome").Struct(fields...))
}

// batchRun emits the loop over batches.
func (w *writer) batchRun(f *code.File) {
	decl(f, []string{"run works until ctx ends or an error does not pass."},
		loopMethod("run").Params(ctxParam()).Error().Block(
			code.List(loop("claiming"), loop("settling")).Op("=").List(code.Id("ctx"), code.Qual("context", "WithoutCancel").Call(code.Id("ctx"))),
			code.List(code.Id("running"), code.Id("interrupt")).Op(":=").Qual("context", "WithCancelCause").Call(loop("settling")),
			code.Defer().Id("interrupt").Call(code.Nil()),
			loop("running").Op("=").Id("running"),
			code.List(code.Id("over"), code.Id("ended")).Op(":=").List(code.Make(code.Chan().Struct()), code.Make(code.Chan().Struct())),
			code.Go().Func().Params().Block(
				code.Defer().Close(code.Id("ended")),
				loop("grace").Call(code.Id("interrupt"), code.Id("over")),
			).Call(),
			code.Defer().Func().Params().Block(
				code.Close(code.Id("over")),
				code.Op("<-").Id("ended"),
			).Call(),
			code.Line(),
			code.Id("wait").Op(":=").Id("firstRetry"),
			code.For(code.Id("ctx").Dot("Err").Call().Op("==").Nil()).Block(
				code.List(code.Id("idle"), code.Err()).Op(":=").Add(loop("runBatch")).Call(),
				code.Switch().Block(
					code.Case(code.Err().Op("!=").Nil().Op("&&").Op("!").Id("transient").Call(code.Err())).Block(
						code.Return(w.errorf("work: %w", code.Err())),
					),
					code.Case(code.Err().Op("!=").Nil()).Block(
						loop("opts", "OnError").Call(code.Err()),
						w.sleep(code.Id("ctx"), code.Id("around").Call(code.Id("wait"))),
						code.Id("wait").Op("=").Id("min").Call(code.Lit(2).Op("*").Id("wait"), code.Id("longestRetry")),
						code.Continue(),
					),
					code.Case(code.Id("idle")).Block(
						w.sleep(code.Id("ctx"), around("PollInterval")),
					),
				),
				code.Id("wait").Op("=").Id("firstRetry"),
			),
			code.Return(code.Nil()),
		))
}

// batchGrace emits
//
//	func (w *workLoop) grace(interrupt context.CancelCauseFunc, over <-chan struct{}) {
//		select {
//		case <-w.claiming.Done():
//		case <-over:
//			return
//		}
//		select {
//		case <-time.After(w.opts.Grace):
//			interrupt(context.Cause(w.claiming))
//		case <-over:
//		}
//	}
func (w *writer) batchGrace(f *code.File) {
	decl(f, []string{"grace interrupts the handlers that still run some time after ctx has ended."},
		loopMethod("grace").Params(code.Id("interrupt").Qual("context", "CancelCauseFunc"), code.Id("over").Op("<-").Chan().Struct()).Block(
			code.Select().Block(
				code.Case(code.Op("<-").Add(loop("claiming", "Done")).Call()).Block(),
				code.Case(code.Op("<-").Id("over")).Block(code.Return()),
			),
			interruptAfterGrace(loop("claiming"), "over"),
		))
}

// batchRunBatch emits the way of one batch.
func (w *writer) batchRunBatch(f *code.File) {
	doc := "runBatch claims jobs, runs and settles them. It reports whether any job was left as it was, or there was none."
	on := loop("q")
	if w.Hold {
		doc = "runBatch claims jobs, runs and settles them, all in one transaction. It reports whether any job was left as it was, or there was none."
		on = code.Id("h")
	}
	result := w.carries()
	// call runs one call of the database: w.call(func(ctx context.Context) error { return <call> })
	call := func(c *code.Statement) *code.Statement {
		return loop("call").Call(code.Func().Params(ctxParam()).Error().Block(code.Return(c)))
	}
	decl(f, []string{doc},
		loopMethod("runBatch").Params().Params(code.Id("idle").Bool(), code.Err().Error()).BlockFunc(func(g *code.Group) {
			if w.Hold {
				g.List(code.Id("ctx"), code.Id("cancel")).Op(":=").Qual("context", "WithCancel").Call(loop("settling"))
				g.Defer().Id("cancel").Call()
				g.Id("waiting").Op(":=").Qual("context", "AfterFunc").Call(loop("claiming"), code.Id("cancel")).Comment("for a connection")
				g.List(code.Id("h"), code.Err()).Op(":=").Add(loop("q", "Hold")).Call(code.Id("ctx"))
				g.If(code.Op("!").Id("waiting").Call()).Block(
					code.If(code.Err().Op("==").Nil()).Block(code.Id("h").Dot("Close").Call()),
					code.Return(code.True(), code.Nil()),
				)
				g.Add(ifErr(code.False()))
				g.Defer().Id("h").Dot("Close").Call()
				g.Line()
			}
			g.Var().Id("jobs").Index().Id("Job")
			g.Err().Op("=").Add(loop("call")).Call(code.Func().Params(ctxParam()).Params(code.Err().Error()).Block(
				code.List(code.Id("jobs"), code.Err()).Op("=").Add(w.claimCall(on.Clone(), loop("opts", "Batch"))),
				code.Return(code.Err()),
			))
			g.Add(ifErrOr(empty("jobs"), code.True()))
			g.Line()
			done, typ := code.Id("job"), "Job"
			if result {
				done, typ = code.Id("job").Dot("Done").Call(w.extraArgs("o")...), "Done"
			}
			g.Var().Id("done").Index().Id(typ)
			g.Id("left").Op(":=").Len(code.Id("jobs"))
			g.For(code.List(code.Id("i"), code.Id("o")).Op(":=").Range().Add(loop("handleAll")).Call(code.Id("jobs"))).BlockFunc(func(g *code.Group) {
				g.Id("job").Op(":=").Id("jobs").Index(code.Id("i"))
				g.Switch().BlockFunc(func(g *code.Group) {
					g.Case(code.Id("o").Dot("err").Op("==").Nil()).Block(
						code.Id("done").Op("=").Append(code.Id("done"), done),
					)
					if !w.Hold {
						g.Case(code.Qual("errors", "Is").Call(code.Id("o").Dot("err"), code.Id("ErrSettled"))).Block(
							code.Id("left").Op("--"),
						)
					}
					g.Case(interrupted(code.Id("o").Dot("err"))).Block(
						code.Continue().Comment("it was interrupted, others shall have it"),
					)
					if w.fails() {
						g.Default().BlockFunc(func(g *code.Group) {
							if !w.keepsCause() {
								g.Add(w.reportFailure(code.Id("o").Dot("err")))
							}
							g.Err().Op("=").Add(call(on.Clone().Dot("Fail").Call(code.Id("ctx"), code.Id("job"), code.Id("o").Dot("err"))))
							g.Add(ifErr(code.False()))
							g.Id("left").Op("--")
						})
						return
					}
					g.Default().Block(
						w.reportFailure(code.Id("o").Dot("err")),
					)
				})
			})
			g.Err().Op("=").Add(call(on.Clone().Dot("Complete").Call(code.Id("ctx"), code.Id("done").Op("..."))))
			g.Add(ifErr(code.False()))
			g.Id("left").Op("-=").Len(code.Id("done"))
			if w.Hold {
				g.Return(code.Id("left").Op(">").Lit(0), loop("call").Call(code.Id("h").Dot("Commit")))
				return
			}
			g.Return(code.Id("left").Op(">").Lit(0), code.Nil())
		}))
}

// batchHandleAll emits how the handlers of a batch are called.
func (w *writer) batchHandleAll(f *code.File) {
	decl(f, []string{"handleAll calls the handler for the jobs, opts.Concurrency at a time, and returns the outcomes of those that it began: all of them unless ctx ends."},
		loopMethod("handleAll").Params(code.Id("jobs").Index().Id("Job")).Index().Id("outcome").Block(
			code.Id("outcomes").Op(":=").Make(code.Index().Id("outcome"), code.Len(code.Id("jobs"))),
			code.Id("busy").Op(":=").Make(code.Chan().Struct(), loop("opts", "Concurrency")),
			code.Var().Id("handlers").Qual("sync", "WaitGroup"),
			code.Id("begun").Op(":=").Lit(0),
			code.For(code.Id("begun").Op("<").Len(code.Id("jobs"))).Block(
				code.Id("busy").Op("<-").Struct().Values(),
				code.If(loop("claiming", "Err").Call().Op("!=").Nil()).Block(code.Break()),
				code.Id("handlers").Dot("Add").Call(code.Lit(1)),
				code.Go().Func().Params(code.Id("job").Id("Job"), code.Id("o").Op("*").Id("outcome")).Block(
					code.Defer().Id("handlers").Dot("Done").Call(),
					code.Defer().Func().Params().Block(code.Op("<-").Id("busy")).Call(),
					loop("handle").Call(code.Id("job"), code.Id("o")),
				).Call(code.Id("jobs").Index(code.Id("begun")), code.Op("&").Id("outcomes").Index(code.Id("begun"))),
				code.Id("begun").Op("++"),
			),
			code.Id("handlers").Dot("Wait").Call(),
			code.Return(code.Id("outcomes").Index(code.Op(":").Id("begun"))),
		))
}

// batchHandle emits the call of the handler.
func (w *writer) batchHandle(f *code.File) {
	decl(f, []string{"handle calls the handler for one job."},
		loopMethod("handle").Params(code.Id("job").Id("Job"), code.Id("o").Op("*").Id("outcome")).Block(
			noReturn(),
			beforeWork(loop("running")),
			code.Defer().Func().Params().Block(
				w.catchPanic(w.reportJob(code.Err())),
				afterWork(),
				code.Id("o").Dot("err").Op("=").Err(),
			).Call(),
			w.callHandler("o"),
		))
}

// batchCall emits, for a transaction,
//
//	func (w *workLoop) call(fn func(ctx context.Context) error) error {
//		ctx, cancel := context.WithTimeout(w.settling, longestCall)
//		defer cancel()
//		return fn(ctx)
//	}
//
// else
//
//	func (w *workLoop) call(fn func(ctx context.Context) error) error {
//		err := w.patiently(w.claiming, w.settling, longestCall, fn)
//		if errors.Is(err, ErrLost) {
//			w.opts.OnError(err)
//			return nil
//		}
//		return err
//	}
func (w *writer) batchCall(f *code.File) {
	method := loopMethod("call").Params(code.Id("fn").Func().Params(ctxParam()).Error()).Error()
	if w.Hold {
		decl(f, []string{"call runs one call of the database and gives it up after longestCall."}, method.Block(
			code.List(code.Id("ctx"), code.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(loop("settling"), code.Id("longestCall")),
			code.Defer().Id("cancel").Call(),
			code.Return(code.Id("fn").Call(code.Id("ctx"))),
		))
		return
	}
	decl(f, []string{"call runs one call of the database and waits out transient errors. Jobs that another has settled are none of its business."}, method.Block(
		code.Err().Op(":=").Add(loop("patiently")).Call(loop("claiming"), loop("settling"), code.Id("longestCall"), code.Id("fn")),
		code.If(code.Qual("errors", "Is").Call(code.Err(), code.Id("ErrLost"))).Block(
			loop("opts", "OnError").Call(code.Err()),
			code.Return(code.Nil()),
		),
		code.Return(code.Err()),
	))
}
