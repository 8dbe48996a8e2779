package emit

// This file writes stats.go: the figures of a queue, one row of the database
// in one struct.

import (
	"slices"
	"strings"
	"unicode"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) statsFile() *code.File {
	f := w.newFile()
	s := w.Stats
	embed(f, present(s.Statement, s.Of)...)
	doc, scan := "Stats are figures of the queue at one moment", "the one row of the statement"
	if s.PerGroup {
		doc, scan = "Stats are figures of a group of consumers at one moment", "the figures of a group"
	}
	decl(f, []string{doc + durationNote},
		code.Type().Id("Stats").StructFunc(func(g *code.Group) { w.figureFields(g, s.Fields) }))
	w.statsMethod(f, "Stats", s.Statement, s.Doc)
	if s.Of != nil {
		w.statsMethod(f, "StatsOf", s.Of, s.OfDoc)
	}
	w.scanStatsFunc(f, scan)
	return f
}

// durationNote ends the comment of figures.
const durationNote = ". A duration is zero where no row tells it."

// figureFields declares figures.
func (w *writer) figureFields(g *code.Group, fields []plan.StatsField) {
	for _, field := range fields {
		line := g.Id(field.Name).Add(w.goType(field.GoType))
		if field.Doc != "" {
			line.Comment(oneLine(field.Doc))
		}
	}
}

// statsMethod emits
//
//	func (q *Queue) Stats(ctx context.Context) (s Stats, err error) {
//		var found []Stats
//		ctx = q.hook.Before(ctx, "stats")
//		defer func() { q.hook.After(ctx, "stats", len(found), err) }()
//		err = q.retry(ctx, "stats", func(db DBTX) (err error) {
//			found, err = query(ctx, db, scanStats, statsSQL, q.worker)
//			return err
//		})
//		if err != nil || len(found) == 0 {
//			return Stats{}, err
//		}
//		return found[0], nil
//	}
//
// and StatsOf, which takes the parameters by which Claim is narrowed:
//
//	func (q *Queue) StatsOf(ctx context.Context, kind string) (s Stats, err error)
func (w *writer) statsMethod(f *code.File, name string, s *plan.Statement, doc []string) {
	narrowed, params := w.narrowedBy(s)
	params = slices.Concat([]*code.Statement{ctxParam()}, params, declared(w.timeout(s)))
	doc = slices.Concat(doc, paramDoc(narrowed))
	if !w.Stats.PerGroup {
		w.oneRowMethod(f, name, "Stats", params, s, doc)
		return
	}
	w.rowsMethod(f, name, "Stats", "groups", params, s, doc)
}

// rowsMethod emits a method that returns the rows of a statement, figures of type typ.
func (w *writer) rowsMethod(f *code.File, name, typ, rows string, params []*code.Statement, s *plan.Statement, doc []string) {
	op := strings.ToLower(typ)
	before, args := w.arguments(s, source{}, op, code.Nil())
	decl(f, docOf(doc, s),
		code.Func().Add(queueReceiver()).Id(name).Params(params...).Params(code.Id(rows).Index().Id(typ), code.Err().Error()).BlockFunc(func(g *code.Group) {
			addAll(g, before)
			g.Add(observe(code.Id("q"), code.Lit(op), code.Len(code.Id(rows))))
			g.Add(attempt(code.Id("q"), "retry", code.Lit(op), queryInto(rows, "scan"+typ, w.boundOf(code.Id("q"), s, args)...)))
			g.Return(code.Id(rows), code.Err())
		}))
}

// oneRowMethod emits a method that returns the figures, of type typ, in the one row of a statement.
func (w *writer) oneRowMethod(f *code.File, name, typ string, params []*code.Statement, s *plan.Statement, doc []string) {
	op := strings.ToLower(typ)
	result := op[:1]
	before, args := w.arguments(s, source{}, op, code.Id(typ).Values())
	decl(f, docOf(doc, s),
		code.Func().Add(queueReceiver()).Id(name).Params(params...).Params(code.Id(result).Id(typ), code.Err().Error()).BlockFunc(func(g *code.Group) {
			addAll(g, before)
			g.Var().Id("found").Index().Id(typ)
			g.Add(observe(code.Id("q"), code.Lit(op), code.Len(code.Id("found"))))
			g.Add(attempt(code.Id("q"), "retry", code.Lit(op), queryInto("found", "scan"+typ, w.boundOf(code.Id("q"), s, args)...)))
			g.Add(ifErrOr(empty("found"), code.Id(typ).Values()))
			g.Return(code.Id("found").Index(code.Lit(0)), code.Nil())
		}))
}

// scanStatsFunc emits
//
//	func scanStats(r row) (Stats, error) {
//		var s Stats
//		var oldestReady *float64
//		err := r.Scan(&s.Ready, &oldestReady)
//		s.OldestReady = span(oldestReady)
//		return s, err
//	}
func (w *writer) scanStatsFunc(f *code.File, what string) {
	decl(f, []string{"scanStats reads " + what + "."},
		code.Func().Id("scanStats").Params(code.Id("r").Id("row")).Params(code.Id("Stats"), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("s").Id("Stats")
			var spans []*code.Statement
			var dest, set []*code.Statement
			for _, field := range w.Stats.Fields {
				if !isSpan(field) {
					dest = append(dest, code.Op("&").Id("s").Dot(field.Name))
					continue
				}
				name := spanVar(field.Name)
				spans = append(spans, code.Id(name))
				dest = append(dest, code.Op("&").Id(name))
				set = append(set, code.Id("s").Dot(field.Name).Op("=").Id("span").Call(code.Id(name)))
			}
			if len(spans) > 0 {
				g.Var().List(spans...).Op("*").Float64()
			}
			g.Err().Op(":=").Id("r").Dot("Scan").Call(dest...)
			for _, s := range set {
				g.Add(s)
			}
			g.Return(code.Id("s"), code.Err())
		}))
}

// scanFigure adds to scan how a figure becomes target.
func scanFigure(scan *scanning, f plan.StatsField, target *code.Statement) {
	if !isSpan(f) {
		scan.dest = append(scan.dest, code.Op("&").Add(target))
		return
	}
	name := spanVar(f.Name)
	scan.vars = append(scan.vars, code.Var().Id(name).Op("*").Float64())
	scan.dest = append(scan.dest, code.Op("&").Id(name))
	scan.after = append(scan.after, target.Op("=").Id("span").Call(code.Id(name)))
}

// spanFunc emits
//
//	func span(seconds *float64) time.Duration {
//		if seconds == nil {
//			return 0
//		}
//		return time.Duration(*seconds * float64(time.Second))
//	}
func (w *writer) spanFunc(f *code.File) {
	decl(f, []string{"span turns seconds into a duration; null is zero."},
		code.Func().Id("span").Params(code.Id("seconds").Op("*").Float64()).Qual("time", "Duration").Block(
			code.If(code.Id("seconds").Op("==").Nil()).Block(code.Return(code.Lit(0))),
			code.Return(code.Qual("time", "Duration").Call(code.Op("*").Id("seconds").Op("*").Float64().Parens(code.Qual("time", "Second")))),
		))
}

// isSpan reports whether the figure comes back as seconds.
func isSpan(f plan.StatsField) bool { return f.GoType == "time.Duration" }

// spanVar is the variable for the seconds of a figure: oldestReadySeconds.
func spanVar(name string) string { return lowerFirst(name) + "Seconds" }

// lowerFirst returns a Go name unexported.
func lowerFirst(name string) string {
	r := []rune(name)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}
