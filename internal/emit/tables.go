package emit

// This file writes tables.go: statements about tables whose names are made at run time.

import (
	"fmt"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// text is the text of a statement within a method of receiver.
func (w *writer) text(s *plan.Statement) *code.Statement { return w.textOf(w.queue(), s) }

// textOf is the text of a statement where queue is the expression for the queue: a
// variable of the package, or a field of the queue where the names of tables are in it.
func (w *writer) textOf(queue *code.Statement, s *plan.Statement) *code.Statement {
	if w.Tables == nil {
		return code.Id(s.Var)
	}
	return queue.Dot("texts").Dot(strings.TrimSuffix(s.Var, "SQL"))
}

// tablesFile writes tables.go.
func (w *writer) tablesFile() *code.File {
	f := w.newFile()
	w.tablesType(f)
	w.textsType(f)
	w.textsMethod(f)
	return f
}

// tablesType emits
//
//	type Tables struct {
//		Channel int // digits in the place of {{.Channel}}
//	}
func (w *writer) tablesType(f *code.File) {
	var names []string
	for _, name := range w.Tables.Names {
		names = append(names, oneLine(name))
	}
	decl(f, []string{"Tables says which of the tables of one shape a queue uses: " + strings.Join(names, ", ") + ". Nothing but digits, letters and underscores gets from it into statements."},
		code.Type().Id("Tables").StructFunc(func(g *code.Group) {
			for _, p := range w.Tables.Parts {
				if p.Number {
					g.Id(p.Name).Int().Comment("digits in the place of " + p.Mark())
				} else {
					g.Id(p.Name).String().Comment("letters, digits and underscores in the place of " + p.Mark())
				}
			}
		}))
}

// embedded lists the statements of the package, each once.
func (w *writer) embedded() []*plan.Statement {
	var all []*plan.Statement
	seen := map[string]bool{}
	for _, s := range w.Statements() {
		if !seen[s.Var] {
			seen[s.Var] = true
			all = append(all, s)
		}
		for _, a := range s.Args {
			if strings.Contains(a.First+a.More+a.None, "{{.") {
				w.fail("%s: a list names a table whose name is made at run time", s.Name)
			}
		}
	}
	return all
}

// textsType emits
//
//	type texts struct {
//		claim, complete string
//	}
func (w *writer) textsType(f *code.File) {
	decl(f, []string{"texts are the statements with the names of the queue's tables in them."},
		code.Type().Id("texts").StructFunc(func(g *code.Group) {
			for _, s := range w.embedded() {
				g.Id(strings.TrimSuffix(s.Var, "SQL")).String()
			}
		}))
}

// textsMethod emits
//
//	func (t Tables) texts() (*texts, error) {
//		if t.Channel < 0 {
//			return nil, fmt.Errorf("part Channel of the table's name is %d, and takes digits only", t.Channel)
//		}
//		names := strings.NewReplacer("{{.Channel}}", strconv.Itoa(t.Channel))
//		for _, template := range []string{"d_mm{{.Channel}}"} {
//			if name := names.Replace(template); len(name) > 63 {
//				return nil, fmt.Errorf("the table's name %s is longer than 63 bytes", name)
//			}
//		}
//		return &texts{
//			claim: names.Replace(claimSQL),
//		}, nil
//	}
func (w *writer) textsMethod(f *code.File) {
	errorf := func(format string, args ...*code.Statement) *code.Statement {
		return code.Return(code.Nil(), code.Qual("fmt", "Errorf").Call(append([]*code.Statement{code.Lit(format)}, args...)...))
	}
	field := func(p *plan.NamePart) *code.Statement { return code.Id("t").Dot(p.Name) }
	decl(f, []string{"texts writes the names of the tables into the statements."},
		code.Func().Params(code.Id("t").Id("Tables")).Id("texts").Params().Params(code.Op("*").Id("texts"), code.Error()).BlockFunc(func(g *code.Group) {
			var pairs []*code.Statement
			for _, p := range w.Tables.Parts {
				value := field(p)
				if p.Number {
					g.If(field(p).Op("<").Lit(0)).Block(errorf("part "+p.Name+" of the table's name is %d, and takes digits only", field(p)))
					value = code.Qual("strconv", "Itoa").Call(value)
				} else {
					g.If(code.Op("!").Id("isName").Call(field(p))).Block(errorf("part "+p.Name+" of the table's name is %q, and takes letters, digits and underscores only, of which a digit is not the first", field(p)))
				}
				switch p.Fold {
				case "lower":
					value = code.Qual("strings", "ToLower").Call(value)
				case "upper":
					value = code.Qual("strings", "ToUpper").Call(value)
				}
				pairs = append(pairs, code.Lit(p.Mark()), value)
			}
			g.Id("names").Op(":=").Qual("strings", "NewReplacer").Call(pairs...)
			if most := w.Tables.Most; most > 0 {
				g.For(code.List(code.Id("_"), code.Id("template")).Op(":=").Range().Index().String().ValuesFunc(func(g *code.Group) {
					for _, name := range w.Tables.Names {
						g.Lit(name)
					}
				})).Block(
					code.If(code.Id("name").Op(":=").Id("names").Dot("Replace").Call(code.Id("template")), code.Len(code.Id("name")).Op(">").Lit(most)).Block(
						errorf(fmt.Sprintf("the table's name %%s is longer than the %d bytes that the server takes", most), code.Id("name"))),
				)
			}
			g.Return(code.Op("&").Id("texts").ValuesFunc(func(g *code.Group) {
				for _, s := range w.embedded() {
					g.Line().Id(strings.TrimSuffix(s.Var, "SQL")).Op(":").Id("names").Dot("Replace").Call(code.Id(s.Var))
				}
				g.Line()
			}), code.Nil())
		}))
}

// isNameFunc emits
//
//	func isName(part string) bool {
//		for i, r := range part {
//			letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
//			if !letter && (i == 0 || r < '0' || r > '9') {
//				return false
//			}
//		}
//		return true
//	}
func (w *writer) isNameFunc(f *code.File) {
	r := func() *code.Statement { return code.Id("r") }
	decl(f, []string{"isName reports whether part can stand in a name as it is; it may be empty."},
		code.Func().Id("isName").Params(code.Id("part").String()).Bool().Block(
			code.For(code.List(code.Id("i"), r()).Op(":=").Range().Id("part")).Block(
				code.Id("letter").Op(":=").Add(r()).Op("==").LitRune('_').Op("||").Add(r()).Op(">=").LitRune('a').Op("&&").Add(r()).Op("<=").LitRune('z').
					Op("||").Add(r()).Op(">=").LitRune('A').Op("&&").Add(r()).Op("<=").LitRune('Z'),
				code.If(code.Op("!").Id("letter").Op("&&").Parens(code.Id("i").Op("==").Lit(0).Op("||").Add(r()).Op("<").LitRune('0').Op("||").Add(r()).Op(">").LitRune('9'))).Block(
					code.Return(code.False())),
			),
			code.Return(code.True()),
		))
}
