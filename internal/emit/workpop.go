package emit

// This file writes the worker loop for claims that remove their rows: a job is
// handled and then nothing is left to settle.

import "github.com/qgen-dev/qgen/internal/code"

func (w *writer) workPop(f *code.File) {
	constants(f, firstRetry(), longestRetry(), longestCall())
	w.workOptionsType(f)
	w.withDefaultsMethod(f)
	w.workMethod(f, []string{
		"Work takes jobs and calls handler for each until ctx ends.",
		"A job is gone once it is taken: when handler returns an error or panics, OnError is told, and that is all. " + w.Crash,
		"When ctx ends, Work takes no more, lets running handlers go on for opts.Grace, then ends their context. It returns when every handler has: nil if ctx ended, else the database error that does not pass. No goroutine is left behind. The hook sees each call of handler as the operation work.",
	}, code.Id("freed").Op(":").Make(code.Chan().Struct(), code.Lit(1)))
	w.workLoopType(f,
		code.Line(),
		code.Id("claiming").Add(contextType()).Comment("the caller's"),
		code.Id("running").Add(contextType()).Comment("of handlers and claims: outlives claiming by Grace"),
		code.Line(),
		code.Id("freed").Chan().Struct().Comment("a handler has come free"),
		code.Id("handlers").Qual("sync", "WaitGroup"),
		code.Id("active").Qual("sync/atomic", "Int64").Comment("handlers that are not free"),
	)
	w.popRun(f)
	w.popHandle(f)
	w.patientlyMethod(f)
	w.workFuncs(f)
}

// popRun emits run and claimJobs.
func (w *writer) popRun(f *code.File) {
	decl(f, []string{"run takes jobs until Work ends, then waits for the handlers."},
		loopMethod("run").Params(ctxParam()).Error().Block(
			code.List(code.Id("running"), code.Id("interrupt")).Op(":=").Qual("context", "WithCancelCause").Call(code.Qual("context", "WithoutCancel").Call(code.Id("ctx"))),
			code.Defer().Id("interrupt").Call(code.Nil()),
			code.List(code.Id("claiming"), code.Id("end")).Op(":=").Qual("context", "WithCancel").Call(code.Id("ctx")),
			code.Defer().Id("end").Call(),
			code.List(loop("claiming"), loop("running")).Op("=").List(code.Id("claiming"), code.Id("running")),
			code.List(code.Id("over"), code.Id("ended")).Op(":=").List(code.Make(code.Chan().Struct()), code.Make(code.Chan().Struct())),
			code.Go().Func().Params().Block(
				code.Defer().Close(code.Id("ended")),
				code.Op("<-").Id("claiming").Dot("Done").Call(),
				interruptAfterGrace(code.Id("claiming"), "over"),
			).Call(),
			code.Line(),
			code.Err().Op(":=").Add(loop("claimJobs")).Call(),
			code.Id("end").Call(),
			loop("handlers", "Wait").Call(),
			code.Close(code.Id("over")),
			code.Op("<-").Id("ended"),
			code.If(code.Err().Op("!=").Nil()).Block(
				code.Return(w.errorf("work: %w", code.Err())),
			),
			code.Return(code.Nil()),
		))
	decl(f, []string{"claimJobs takes jobs for free handlers until ctx ends or an error does not pass."},
		loopMethod("claimJobs").Params().Error().Block(
			code.For(loop("claiming", "Err").Call().Op("==").Nil()).Block(
				code.Id("n").Op(":=").Id("min").Call(loop("opts", "Concurrency").Op("-").Int().Call(loop("active", "Load").Call()), loop("opts", "Batch")),
				code.If(code.Id("n").Op("==").Lit(0)).Block(
					code.Id("sleep").Call(loop("claiming"), loop("opts", "PollInterval"), loop("freed")),
					code.Continue(),
				),
				code.Var().Id("jobs").Index().Id("Job"),
				patiently(
					code.List(code.Id("jobs"), code.Err()).Op("=").Add(w.claimCall(loop("q"), code.Id("n"))),
					code.Return(code.Err()),
				),
				code.Switch().Block(
					code.Case(code.Err().Op("!=").Nil().Op("&&").Add(loop("claiming", "Err")).Call().Op("==").Nil()).Block(
						code.Return(code.Err()),
					),
					code.Case(empty("jobs")).Block(
						w.sleep(loop("claiming"), around("PollInterval")),
					),
				),
				code.For(code.List(code.Id("_"), code.Id("job")).Op(":=").Range().Id("jobs")).Block(
					loop("handlers", "Add").Call(code.Lit(1)),
					loop("active", "Add").Call(code.Lit(1)),
					code.Go().Add(loop("handle")).Call(code.Id("job")),
				),
			),
			code.Return(code.Nil()),
		))
}

// popHandle emits the call of the handler.
func (w *writer) popHandle(f *code.File) {
	decl(f, []string{"handle calls the handler for one job."},
		loopMethod("handle").Params(code.Id("job").Id("Job")).Block(
			noReturn(),
			beforeWork(loop("running")),
			code.Defer().Func().Params().Block(
				w.catchPanic(),
				code.If(code.Err().Op("!=").Nil()).Block(w.reportJob(code.Err())),
				afterWork(),
				loop("active", "Add").Call(code.Lit(-1)),
				wake("freed"),
				loop("handlers", "Done").Call(),
			).Call(),
			w.callHandler(""),
		))
}
