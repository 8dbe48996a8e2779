package emit

// This file writes verify.go: questions to the live database whose answers are
// what is wrong with it.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) verifyFile() *code.File {
	f := w.newFile()
	embed(f, w.checkStatements()...)
	decl(f, []string{"ErrSchema is what Verify returns for a database that is not as this package expects it."},
		code.Var().Id("ErrSchema").Op("=").Add(w.newError("the database does not fit")))
	w.schemaErrorType(f)
	w.verifyMethod(f)
	w.checkFitMethod(f)
	decl(f, []string{"scanProblem reads one text."},
		code.Func().Id("scanProblem").Params(code.Id("r").Id("row")).Params(code.Id("problem").String(), code.Err().Error()).Block(
			code.Err().Op("=").Id("r").Dot("Scan").Call(code.Op("&").Id("problem")),
			code.Return(code.Id("problem"), code.Err()),
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
func (w *writer) schemaErrorType(f *code.File) {
	recv := func() *code.Statement { return code.Params(code.Id("e").Op("*").Id("SchemaError")) }
	decl(f, []string{"SchemaError lists all that Verify found wrong. What to do about several that are alike stands once, on a line of its own behind the last of them. It is an ErrSchema."},
		code.Type().Id("SchemaError").Struct(
			code.Id("Problems").Index().String(),
		))
	decl(f, []string{"Error tells every problem on a line of its own."},
		code.Func().Add(recv()).Id("Error").Params().String().Block(
			code.Return(code.Id("ErrSchema").Dot("Error").Call().Op("+").Lit(":\n\t").Op("+").
				Qual("strings", "Join").Call(code.Id("e").Dot("Problems"), code.Lit("\n\t"))),
		))
	decl(f, []string{"Unwrap returns ErrSchema."},
		code.Func().Add(recv()).Id("Unwrap").Params().Error().Block(code.Return(code.Id("ErrSchema"))))
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
//			if len(found) > 0 {
//				found[len(found)-1] += "\n\t\t" + check.mend
//			}
//			problems = append(problems, found...)
//		}
//		if len(problems) > 0 {
//			return &SchemaError{Problems: problems}
//		}
//		return nil
//	}
//
// A check that has to see how an argument travels is given the number 1, and one that
// compares clocks the present; then all have a list of arguments.
func (w *writer) verifyMethod(f *code.File) {
	text := []*code.Statement{code.Id("check").Dot("text")}
	given := slices.ContainsFunc(w.Verify.Checks, func(c plan.Check) bool { return len(c.Statement.Args) > 0 })
	if given {
		text = append(text, code.Id("check").Dot("args").Op("..."))
	}
	decl(f, docOf(w.Verify.Doc, w.checkStatements()...),
		code.Func().Add(queueReceiver()).Id("Verify").Params(ctxParam()).Params(code.Err().Error()).Block(
			code.Var().Id("problems").Index().String(),
			observe(code.Id("q"), code.Lit("verify"), code.Len(code.Id("problems"))),
			code.For(code.List(code.Id("_"), code.Id("check")).Op(":=").Range().Index().StructFunc(func(g *code.Group) {
				g.List(code.Id("text"), code.Id("mend")).String()
				if given {
					g.Id("args").Index().Any()
				}
			}).ValuesFunc(func(g *code.Group) {
				for _, c := range w.Verify.Checks {
					row := []*code.Statement{w.textOf(code.Id("q"), c.Statement), code.Lit(c.Mend)}
					switch {
					case len(c.Statement.Args) > 0:
						row = append(row, code.Index().Any().Values(w.checkArgument(c.Statement.Args[0])))
					case given:
						row = append(row, code.Nil())
					}
					g.Line().Values(row...)
				}
				g.Line()
			})).Block(
				code.Var().Id("found").Index().String(),
				attempt(code.Id("q"), "retry", code.Lit("verify"), queryInto("found", "scanProblem", text...)),
				ifErr(),
				code.If(code.Len(code.Id("found")).Op(">").Lit(0)).Block(
					code.Id("found").Index(code.Len(code.Id("found")).Op("-").Lit(1)).Op("+=").Lit("\n\t\t").Op("+").Id("check").Dot("mend"),
				),
				code.Id("problems").Op("=").Append(code.Id("problems"), code.Id("found").Op("...")),
			),
			code.If(code.Len(code.Id("problems")).Op(">").Lit(0)).Block(
				code.Return(code.Op("&").Id("SchemaError").Values(code.Id("Problems").Op(":").Id("problems"))),
			),
			code.Return(code.Nil()),
		))
}

// required is the check without which jobs would be lost, or nil.
func (w *writer) required() *plan.Check {
	if w.Verify == nil {
		return nil
	}
	if i := slices.IndexFunc(w.Verify.Checks, func(c plan.Check) bool { return c.Required }); i >= 0 {
		return &w.Verify.Checks[i]
	}
	return nil
}

// checkFitMethod emits, where something is required of the database,
//
//	func (q *Queue) checkFit(ctx context.Context, tx DBTX) error {
//		if q.fits.Load() {
//			return nil
//		}
//		found, err := query(ctx, tx, scanProblem, verifyPreparedSQL, 1)
//		if err != nil {
//			return err
//		}
//		if len(found) > 0 {
//			return &SchemaError{Problems: []string{found[0] + ": otherwise a job can be given out twice"}}
//		}
//		q.fits.Store(true)
//		return nil
//	}
func (w *writer) checkFitMethod(f *code.File) {
	c := w.required()
	if c == nil {
		return
	}
	ask := []*code.Statement{code.Id("ctx"), code.Id("tx"), code.Id("scanProblem"), w.textOf(code.Id("q"), c.Statement)}
	if len(c.Statement.Args) > 0 {
		ask = append(ask, w.checkArgument(c.Statement.Args[0]))
	}
	found := code.Id("found").Index(code.Lit(0)).Op("+").Lit(": " + c.Mend)
	decl(f, []string{"checkFit refuses to work in a transaction where jobs would be lost and nobody told: the database must answer sql/" + c.Statement.Name + ".sql with no row. It asks once, since all connections of a program are alike."},
		code.Func().Add(queueReceiver()).Id("checkFit").Params(ctxParam(), code.Id("tx").Id("DBTX")).Error().Block(
			code.If(code.Id("q").Dot("fits").Dot("Load").Call()).Block(code.Return(code.Nil())),
			code.List(code.Id("found"), code.Err()).Op(":=").Id("query").Call(ask...),
			ifErr(),
			code.If(code.Len(code.Id("found")).Op(">").Lit(0)).Block(
				code.Return(code.Op("&").Id("SchemaError").Values(code.Id("Problems").Op(":").Index().String().Values(found))),
			),
			code.Id("q").Dot("fits").Dot("Store").Call(code.True()),
			code.Return(code.Nil()),
		))
}

// checkArgument is the argument of a check.
func (w *writer) checkArgument(a plan.Arg) *code.Statement {
	if a.Kind != plan.ArgClock {
		return code.Lit(1)
	}
	f := *a.Field
	f.Null = false
	return w.value(&f, code.Qual("time", "Now").Call(), false)
}

// checkStatements lists the statements of the checks.
func (w *writer) checkStatements() []*plan.Statement {
	var all []*plan.Statement
	for _, c := range w.Verify.Checks {
		if args := c.Statement.Args; len(args) > 1 || len(args) == 1 && args[0].Kind != plan.ArgLimit && args[0].Kind != plan.ArgClock {
			w.fail("the check %s has arguments that nobody gives", c.Statement.Name)
		}
		all = append(all, c.Statement)
	}
	return all
}
