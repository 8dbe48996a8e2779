package emit

// This file writes the worker loop for claims that write nothing: a batch is
// claimed, run and settled before the next one is claimed. Where the row lock
// is the claim, all this happens in one transaction.

import "github.com/dave/jennifer/jen"

func (w *writer) workBatch(f *jen.File) {
	constants(f, firstRetry(), longestRetry(), longestCall())
	if !w.Hold {
		w.errSettled(f)
	}
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
func (w *writer) batchWork(f *jen.File) {
	outcome := "A job is completed when handler returns nil and failed when it returns an error or panics; the stack of a panic is part of the recorded cause."
	if w.Complete.Result != nil {
		outcome = "A job is completed with the result that handler returns, and failed when it returns an error or panics; the stack of a panic is part of the recorded cause."
	}
	if !w.fails() {
		outcome = "A job is completed when handler returns nil. The table has no place for a failure: OnError is told of it, and the job stays in the queue."
	}
	if !w.Hold {
		outcome += " A handler that has settled the job itself returns ErrSettled."
	}
	if w.mayNotRead() {
		outcome += " A job whose Err is set counts as failed with that error; handler does not see it."
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
func (w *writer) batchTypes(f *jen.File) {
	ctx := func() *jen.Statement { return jen.Qual("context", "Context") }
	w.workLoopType(f,
		jen.Line(),
		jen.Id("claiming").Add(ctx()).Comment("the caller's"),
		jen.Id("running").Add(ctx()).Comment("of handlers: outlives claiming by Grace"),
		jen.Id("settling").Add(ctx()).Comment("of calls of the database: outlives the handlers"),
	)
	var fields []jen.Code
	if w.Complete.Result != nil {
		fields = append(fields, jen.Id("result").Add(w.fieldType(w.Complete.Result)))
	}
	fields = append(fields, jen.Err().Error())
	decl(f, []string{"outcome is what a handler returned."}, jen.Type().Id("outcome").Struct(fields...))
}

// batchRun emits the loop over batches.
func (w *writer) batchRun(f *jen.File) {
	decl(f, []string{"run works until ctx ends or an error does not pass."},
		loopMethod("run").Params(ctxParam()).Error().Block(
			jen.List(loop("claiming"), loop("settling")).Op("=").List(jen.Id("ctx"), jen.Qual("context", "WithoutCancel").Call(jen.Id("ctx"))),
			jen.List(jen.Id("running"), jen.Id("interrupt")).Op(":=").Qual("context", "WithCancelCause").Call(loop("settling")),
			jen.Defer().Id("interrupt").Call(jen.Nil()),
			loop("running").Op("=").Id("running"),
			jen.List(jen.Id("over"), jen.Id("ended")).Op(":=").List(jen.Make(jen.Chan().Struct()), jen.Make(jen.Chan().Struct())),
			jen.Go().Func().Params().Block(
				jen.Defer().Close(jen.Id("ended")),
				loop("grace").Call(jen.Id("interrupt"), jen.Id("over")),
			).Call(),
			jen.Defer().Func().Params().Block(
				jen.Close(jen.Id("over")),
				jen.Op("<-").Id("ended"),
			).Call(),
			jen.Line(),
			jen.Id("wait").Op(":=").Id("firstRetry"),
			jen.For(jen.Id("ctx").Dot("Err").Call().Op("==").Nil()).Block(
				jen.List(jen.Id("idle"), jen.Err()).Op(":=").Add(loop("runBatch")).Call(),
				jen.Switch().Block(
					jen.Case(jen.Err().Op("!=").Nil().Op("&&").Op("!").Id("transient").Call(jen.Err())).Block(
						jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": work: %w"), jen.Err())),
					),
					jen.Case(jen.Err().Op("!=").Nil()).Block(
						loop("opts", "OnError").Call(jen.Err()),
						jen.Id("sleep").Call(jen.Id("ctx"), jen.Id("around").Call(jen.Id("wait"))),
						jen.Id("wait").Op("=").Id("min").Call(jen.Lit(2).Op("*").Id("wait"), jen.Id("longestRetry")),
						jen.Continue(),
					),
					jen.Case(jen.Id("idle")).Block(
						jen.Id("sleep").Call(jen.Id("ctx"), around("PollInterval")),
					),
				),
				jen.Id("wait").Op("=").Id("firstRetry"),
			),
			jen.Return(jen.Nil()),
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
func (w *writer) batchGrace(f *jen.File) {
	decl(f, []string{"grace interrupts the handlers that still run some time after ctx has ended."},
		loopMethod("grace").Params(jen.Id("interrupt").Qual("context", "CancelCauseFunc"), jen.Id("over").Op("<-").Chan().Struct()).Block(
			jen.Select().Block(
				jen.Case(jen.Op("<-").Add(loop("claiming", "Done")).Call()).Block(),
				jen.Case(jen.Op("<-").Id("over")).Block(jen.Return()),
			),
			jen.Select().Block(
				jen.Case(jen.Op("<-").Qual("time", "After").Call(loop("opts", "Grace"))).Block(
					jen.Id("interrupt").Call(jen.Qual("context", "Cause").Call(loop("claiming"))),
				),
				jen.Case(jen.Op("<-").Id("over")).Block(),
			),
		))
}

// batchRunBatch emits the way of one batch.
func (w *writer) batchRunBatch(f *jen.File) {
	doc := "runBatch claims jobs, runs and settles them. It reports whether any job was left as it was, or there was none."
	on := loop("q")
	if w.Hold {
		doc = "runBatch claims jobs, runs and settles them, all in one transaction. It reports whether any job was left as it was, or there was none."
		on = jen.Id("h")
	}
	result := w.Complete.Result != nil
	// call runs one call of the database: w.call(func(ctx context.Context) error { return <call> })
	call := func(c *jen.Statement) *jen.Statement {
		return loop("call").Call(jen.Func().Params(ctxParam()).Error().Block(jen.Return(c)))
	}
	decl(f, []string{doc},
		loopMethod("runBatch").Params().Params(jen.Id("idle").Bool(), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			if w.Hold {
				g.List(jen.Id("ctx"), jen.Id("cancel")).Op(":=").Qual("context", "WithCancel").Call(loop("settling"))
				g.Defer().Id("cancel").Call()
				g.Id("waiting").Op(":=").Qual("context", "AfterFunc").Call(loop("claiming"), jen.Id("cancel")).Comment("for a connection")
				g.List(jen.Id("h"), jen.Err()).Op(":=").Add(loop("q", "Hold")).Call(jen.Id("ctx"))
				g.If(jen.Op("!").Id("waiting").Call()).Block(
					jen.If(jen.Err().Op("==").Nil()).Block(jen.Id("h").Dot("Close").Call()),
					jen.Return(jen.True(), jen.Nil()),
				)
				g.Add(ifErr(jen.False()))
				g.Defer().Id("h").Dot("Close").Call()
				g.Line()
			}
			g.Var().Id("jobs").Index().Id("Job")
			g.Err().Op("=").Add(loop("call")).Call(jen.Func().Params(ctxParam()).Params(jen.Err().Error()).Block(
				jen.List(jen.Id("jobs"), jen.Err()).Op("=").Add(w.claimCall(on.Clone(), loop("opts", "Batch"))),
				jen.Return(jen.Err()),
			))
			g.If(jen.Err().Op("!=").Nil().Op("||").Len(jen.Id("jobs")).Op("==").Lit(0)).Block(jen.Return(jen.True(), jen.Err()))
			g.Line()
			done, typ := jen.Id("job"), "Job"
			if result {
				done, typ = jen.Id("job").Dot("Done").Call(jen.Id("o").Dot("result")), "Done"
			}
			g.Var().Id("done").Index().Id(typ)
			g.Id("left").Op(":=").Len(jen.Id("jobs"))
			g.For(jen.List(jen.Id("i"), jen.Id("o")).Op(":=").Range().Add(loop("handleAll")).Call(jen.Id("jobs"))).BlockFunc(func(g *jen.Group) {
				g.Id("job").Op(":=").Id("jobs").Index(jen.Id("i"))
				g.Switch().BlockFunc(func(g *jen.Group) {
					g.Case(jen.Id("o").Dot("err").Op("==").Nil()).Block(
						jen.Id("done").Op("=").Append(jen.Id("done"), done),
					)
					if !w.Hold {
						g.Case(jen.Qual("errors", "Is").Call(jen.Id("o").Dot("err"), jen.Id("ErrSettled"))).Block(
							jen.Id("left").Op("--"),
						)
					}
					g.Case(jen.Qual("errors", "Is").Call(jen.Id("o").Dot("err"), jen.Qual("context", "Canceled")).Op("&&").Add(loop("running", "Err")).Call().Op("!=").Nil()).Block(
						jen.Continue().Comment("it was interrupted, others shall have it"),
					)
					if w.fails() {
						g.Default().Block(
							jen.Err().Op("=").Add(call(on.Clone().Dot("Fail").Call(jen.Id("ctx"), jen.Id("job"), jen.Id("o").Dot("err")))),
							ifErr(jen.False()),
							jen.Id("left").Op("--"),
						)
						return
					}
					g.Default().Block(
						loop("opts", "OnError").Call(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": work: job %v: %w"), jen.Id("job").Dot("Key").Call(), jen.Id("o").Dot("err"))),
					)
				})
			})
			g.Err().Op("=").Add(call(on.Clone().Dot("Complete").Call(jen.Id("ctx"), jen.Id("done").Op("..."))))
			g.Add(ifErr(jen.False()))
			g.Id("left").Op("-=").Len(jen.Id("done"))
			if w.Hold {
				g.Return(jen.Id("left").Op(">").Lit(0), loop("call").Call(jen.Id("h").Dot("Commit")))
				return
			}
			g.Return(jen.Id("left").Op(">").Lit(0), jen.Nil())
		}))
}

// batchHandleAll emits how the handlers of a batch are called.
func (w *writer) batchHandleAll(f *jen.File) {
	decl(f, []string{"handleAll calls the handler for the jobs, opts.Concurrency at a time, and returns the outcomes of those that it began: all of them unless ctx ends."},
		loopMethod("handleAll").Params(jen.Id("jobs").Index().Id("Job")).Index().Id("outcome").Block(
			jen.Id("outcomes").Op(":=").Make(jen.Index().Id("outcome"), jen.Len(jen.Id("jobs"))),
			jen.Id("busy").Op(":=").Make(jen.Chan().Struct(), loop("opts", "Concurrency")),
			jen.Var().Id("handlers").Qual("sync", "WaitGroup"),
			jen.Id("begun").Op(":=").Lit(0),
			jen.For(jen.Id("begun").Op("<").Len(jen.Id("jobs"))).Block(
				jen.Id("busy").Op("<-").Struct().Values(),
				jen.If(loop("claiming", "Err").Call().Op("!=").Nil()).Block(jen.Break()),
				jen.Id("handlers").Dot("Add").Call(jen.Lit(1)),
				jen.Go().Func().Params(jen.Id("job").Id("Job"), jen.Id("o").Op("*").Id("outcome")).Block(
					jen.Defer().Id("handlers").Dot("Done").Call(),
					jen.Defer().Func().Params().Block(jen.Op("<-").Id("busy")).Call(),
					loop("handle").Call(jen.Id("job"), jen.Id("o")),
				).Call(jen.Id("jobs").Index(jen.Id("begun")), jen.Op("&").Id("outcomes").Index(jen.Id("begun"))),
				jen.Id("begun").Op("++"),
			),
			jen.Id("handlers").Dot("Wait").Call(),
			jen.Return(jen.Id("outcomes").Index(jen.Op(":").Id("begun"))),
		))
}

// batchHandle emits the call of the handler.
func (w *writer) batchHandle(f *jen.File) {
	decl(f, []string{"handle calls the handler for one job."},
		loopMethod("handle").Params(jen.Id("job").Id("Job"), jen.Id("o").Op("*").Id("outcome")).Block(
			noReturn(),
			jen.Id("ctx").Op(":=").Add(loop("q", "hook", "Before")).Call(loop("running"), jen.Lit("work")),
			jen.Defer().Func().Params().Block(
				w.catchPanic(),
				loop("q", "hook", "After").Call(jen.Id("ctx"), jen.Lit("work"), jen.Lit(1), jen.Err()),
				jen.Id("o").Dot("err").Op("=").Err(),
			).Call(),
			w.callHandler(jen.Id("o").Dot("result")),
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
func (w *writer) batchCall(f *jen.File) {
	method := loopMethod("call").Params(jen.Id("fn").Func().Params(ctxParam()).Error()).Error()
	if w.Hold {
		decl(f, []string{"call runs one call of the database and gives it up after longestCall."}, method.Block(
			jen.List(jen.Id("ctx"), jen.Id("cancel")).Op(":=").Qual("context", "WithTimeout").Call(loop("settling"), jen.Id("longestCall")),
			jen.Defer().Id("cancel").Call(),
			jen.Return(jen.Id("fn").Call(jen.Id("ctx"))),
		))
		return
	}
	decl(f, []string{"call runs one call of the database and waits out transient errors. Jobs that another has settled are none of its business."}, method.Block(
		jen.Err().Op(":=").Add(loop("patiently")).Call(loop("claiming"), loop("settling"), jen.Id("longestCall"), jen.Id("fn")),
		jen.If(jen.Qual("errors", "Is").Call(jen.Err(), jen.Id("ErrLost"))).Block(
			loop("opts", "OnError").Call(jen.Err()),
			jen.Return(jen.Nil()),
		),
		jen.Return(jen.Err()),
	))
}
