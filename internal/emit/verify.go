package emit

// This file writes verify.go: questions to the live database whose answers are
// what is wrong with it.

import (
	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) verifyFile() *jen.File {
	f := w.newFile()
	embed(f, w.checkStatements()...)
	decl(f, []string{"ErrSchema is what Verify returns for a database that is not as this package expects it."},
		jen.Var().Id("ErrSchema").Op("=").Qual("errors", "New").Call(jen.Lit(w.Name+": the database does not fit")))
	w.schemaErrorType(f)
	w.verifyMethod(f)
	decl(f, []string{"scanProblem reads one text."},
		jen.Func().Id("scanProblem").Params(jen.Id("r").Id("row")).Params(jen.Id("problem").String(), jen.Err().Error()).Block(
			jen.Err().Op("=").Id("r").Dot("Scan").Call(jen.Op("&").Id("problem")),
			jen.Return(jen.Id("problem"), jen.Err()),
		))
	return f
}

// schemaErrorType emits
//
//	type SchemaError struct {
//		Problems []string
//	}
//
//	func (e *SchemaError) Error() string {
//		return ErrSchema.Error() + ":\n\t" + strings.Join(e.Problems, "\n\t")
//	}
//
//	func (e *SchemaError) Unwrap() error { return ErrSchema }
func (w *writer) schemaErrorType(f *jen.File) {
	recv := func() *jen.Statement { return jen.Params(jen.Id("e").Op("*").Id("SchemaError")) }
	decl(f, []string{"SchemaError lists all that Verify found wrong, each with what to do about it. It is an ErrSchema."},
		jen.Type().Id("SchemaError").Struct(
			jen.Id("Problems").Index().String(),
		))
	decl(f, []string{"Error tells every problem on a line of its own."},
		jen.Func().Add(recv()).Id("Error").Params().String().Block(
			jen.Return(jen.Id("ErrSchema").Dot("Error").Call().Op("+").Lit(":\n\t").Op("+").
				Qual("strings", "Join").Call(jen.Id("e").Dot("Problems"), jen.Lit("\n\t"))),
		))
	decl(f, []string{"Unwrap returns ErrSchema."},
		jen.Func().Add(recv()).Id("Unwrap").Params().Error().Block(jen.Return(jen.Id("ErrSchema"))))
}

// verifyMethod emits
//
//	func (q *Queue) Verify(ctx context.Context) (err error) {
//		var problems []string
//		ctx = q.hook.Before(ctx, "verify")
//		defer func() { q.hook.After(ctx, "verify", len(problems), err) }()
//		for _, check := range []struct{ text, mend string }{
//			{verifyColumnsSQL, "Alter the table, or change its DDL and generate again."},
//		} {
//			var found []string
//			err = q.retry(ctx, "verify", func(db DBTX) (err error) {
//				found, err = query(ctx, db, scanProblem, check.text)
//				return err
//			})
//			if err != nil {
//				return err
//			}
//			for _, problem := range found {
//				problems = append(problems, problem+": "+check.mend)
//			}
//		}
//		if len(problems) > 0 {
//			return &SchemaError{Problems: problems}
//		}
//		return nil
//	}
func (w *writer) verifyMethod(f *jen.File) {
	decl(f, docOf(w.Verify.Doc, w.checkStatements()...),
		jen.Func().Add(queueReceiver()).Id("Verify").Params(ctxParam()).Params(jen.Err().Error()).Block(
			jen.Var().Id("problems").Index().String(),
			observe(jen.Id("q"), jen.Lit("verify"), jen.Len(jen.Id("problems"))),
			jen.For(jen.List(jen.Id("_"), jen.Id("check")).Op(":=").Range().Index().Struct(jen.List(jen.Id("text"), jen.Id("mend")).String()).ValuesFunc(func(g *jen.Group) {
				for _, c := range w.Verify.Checks {
					g.Line().Values(jen.Id(c.Statement.Var), jen.Lit(c.Mend))
				}
				g.Line()
			})).Block(
				jen.Var().Id("found").Index().String(),
				attempt(jen.Id("q"), "retry", jen.Lit("verify"), queryInto("found", "scanProblem", jen.Id("check").Dot("text"))),
				ifErr(),
				jen.For(jen.List(jen.Id("_"), jen.Id("problem")).Op(":=").Range().Id("found")).Block(
					jen.Id("problems").Op("=").Append(jen.Id("problems"), jen.Id("problem").Op("+").Lit(": ").Op("+").Id("check").Dot("mend")),
				),
			),
			jen.If(jen.Len(jen.Id("problems")).Op(">").Lit(0)).Block(
				jen.Return(jen.Op("&").Id("SchemaError").Values(jen.Id("Problems").Op(":").Id("problems"))),
			),
			jen.Return(jen.Nil()),
		))
}

// checkStatements lists the statements of the checks.
func (w *writer) checkStatements() []*plan.Statement {
	var all []*plan.Statement
	for _, c := range w.Verify.Checks {
		if len(c.Statement.Args) > 0 {
			w.fail("the check %s has arguments", c.Statement.Name)
		}
		all = append(all, c.Statement)
	}
	return all
}
