package emit

// This file writes the worker loop for claims that remove their rows: a job is
// handled and then nothing is left to settle.

import "github.com/dave/jennifer/jen"

func (w *writer) workPop(f *jen.File) {
	constants(f, firstRetry(), longestRetry(), longestCall())
	w.workOptionsType(f)
	w.withDefaultsMethod(f)
	w.workMethod(f, []string{
		"Work takes jobs and calls handler for each until ctx ends.",
		"A job is gone once it is taken: when handler returns an error or panics, OnError is told, and that is all. " + w.Crash,
		"When ctx ends, Work takes no more, lets running handlers go on for opts.Grace, then ends their context. It returns when every handler has: nil if ctx ended, else the database error that does not pass. No goroutine is left behind. The hook sees each call of handler as the operation work.",
	}, jen.Id("freed").Op(":").Make(jen.Chan().Struct(), jen.Lit(1)))
	ctx := func() *jen.Statement { return jen.Qual("context", "Context") }
	w.workLoopType(f,
		jen.Line(),
		jen.Id("claiming").Add(ctx()).Comment("the caller's"),
		jen.Id("running").Add(ctx()).Comment("of handlers and claims: outlives claiming by Grace"),
		jen.Line(),
		jen.Id("freed").Chan().Struct().Comment("a handler has come free"),
		jen.Id("handlers").Qual("sync", "WaitGroup"),
		jen.Id("active").Qual("sync/atomic", "Int64").Comment("handlers that are not free"),
	)
	w.popRun(f)
	w.popHandle(f)
	w.patientlyMethod(f)
	w.workFuncs(f)
}

// popRun emits run and claimJobs.
func (w *writer) popRun(f *jen.File) {
	decl(f, []string{"run takes jobs until Work ends, then waits for the handlers."},
		loopMethod("run").Params(ctxParam()).Error().Block(
			jen.List(jen.Id("running"), jen.Id("interrupt")).Op(":=").Qual("context", "WithCancelCause").Call(jen.Qual("context", "WithoutCancel").Call(jen.Id("ctx"))),
			jen.Defer().Id("interrupt").Call(jen.Nil()),
			jen.List(jen.Id("claiming"), jen.Id("end")).Op(":=").Qual("context", "WithCancel").Call(jen.Id("ctx")),
			jen.Defer().Id("end").Call(),
			jen.List(loop("claiming"), loop("running")).Op("=").List(jen.Id("claiming"), jen.Id("running")),
			jen.List(jen.Id("over"), jen.Id("ended")).Op(":=").List(jen.Make(jen.Chan().Struct()), jen.Make(jen.Chan().Struct())),
			jen.Go().Func().Params().Block(
				jen.Defer().Close(jen.Id("ended")),
				jen.Op("<-").Id("claiming").Dot("Done").Call(),
				jen.Select().Block(
					jen.Case(jen.Op("<-").Qual("time", "After").Call(loop("opts", "Grace"))).Block(
						jen.Id("interrupt").Call(jen.Qual("context", "Cause").Call(jen.Id("claiming"))),
					),
					jen.Case(jen.Op("<-").Id("over")).Block(),
				),
			).Call(),
			jen.Line(),
			jen.Err().Op(":=").Add(loop("claimJobs")).Call(),
			jen.Id("end").Call(),
			loop("handlers", "Wait").Call(),
			jen.Close(jen.Id("over")),
			jen.Op("<-").Id("ended"),
			jen.If(jen.Err().Op("!=").Nil()).Block(
				jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": work: %w"), jen.Err())),
			),
			jen.Return(jen.Nil()),
		))
	decl(f, []string{"claimJobs takes jobs for free handlers until ctx ends or an error does not pass."},
		loopMethod("claimJobs").Params().Error().Block(
			jen.For(loop("claiming", "Err").Call().Op("==").Nil()).Block(
				jen.Id("n").Op(":=").Id("min").Call(loop("opts", "Concurrency").Op("-").Int().Call(loop("active", "Load").Call()), loop("opts", "Batch")),
				jen.If(jen.Id("n").Op("==").Lit(0)).Block(
					jen.Id("sleep").Call(loop("claiming"), loop("opts", "PollInterval"), loop("freed")),
					jen.Continue(),
				),
				jen.Var().Id("jobs").Index().Id("Job"),
				jen.Err().Op(":=").Add(loop("patiently")).Call(loop("claiming"), loop("running"), jen.Id("longestCall"), jen.Func().Params(ctxParam()).Params(jen.Err().Error()).Block(
					jen.List(jen.Id("jobs"), jen.Err()).Op("=").Add(w.claimCall(loop("q"), jen.Id("n"))),
					jen.Return(jen.Err()),
				)),
				jen.Switch().Block(
					jen.Case(jen.Err().Op("!=").Nil().Op("&&").Add(loop("claiming", "Err")).Call().Op("==").Nil()).Block(
						jen.Return(jen.Err()),
					),
					jen.Case(jen.Len(jen.Id("jobs")).Op("==").Lit(0)).Block(
						jen.Id("sleep").Call(loop("claiming"), around("PollInterval"), jen.Nil()),
					),
				),
				jen.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("jobs")).Block(
					loop("handlers", "Add").Call(jen.Lit(1)),
					loop("active", "Add").Call(jen.Lit(1)),
					jen.Go().Add(loop("handle")).Call(jen.Id("job")),
				),
			),
			jen.Return(jen.Nil()),
		))
}

// popHandle emits the call of the handler.
func (w *writer) popHandle(f *jen.File) {
	decl(f, []string{"handle calls the handler for one job."},
		loopMethod("handle").Params(jen.Id("job").Id("Job")).Block(
			noReturn(),
			jen.Id("ctx").Op(":=").Add(loop("q", "hook", "Before")).Call(loop("running"), jen.Lit("work")),
			jen.Defer().Func().Params().Block(
				jen.If(jen.Id("v").Op(":=").Recover(), jen.Id("v").Op("!=").Nil()).Block(
					jen.Err().Op("=").Qual("fmt", "Errorf").Call(jen.Lit("the handler panicked: %v\n\n%s"), jen.Id("v"), jen.Qual("runtime/debug", "Stack").Call()),
				),
				jen.If(jen.Err().Op("!=").Nil()).Block(w.reportJob()),
				loop("q", "hook", "After").Call(jen.Id("ctx"), jen.Lit("work"), jen.Lit(1), jen.Err()),
				loop("active", "Add").Call(jen.Lit(-1)),
				jen.Select().Block(
					jen.Case(loop("freed").Op("<-").Struct().Values()).Block(),
					jen.Default().Block(),
				),
				loop("handlers", "Done").Call(),
			).Call(),
			w.callHandler(nil),
		))
}
