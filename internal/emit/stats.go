package emit

// This file writes stats.go: the figures of a queue, one row of the database
// in one struct.

import (
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) statsFile() *jen.File {
	f := w.newFile()
	s := w.Stats
	embed(f, s.Statement)
	decl(f, []string{"Stats are figures of the queue at one moment. A duration is zero where no row tells it."},
		jen.Type().Id("Stats").StructFunc(func(g *jen.Group) {
			for _, field := range s.Fields {
				line := g.Id(field.Name).Add(w.goType(field.GoType))
				if field.Doc != "" {
					line.Comment(oneLine(field.Doc))
				}
			}
		}))
	w.statsMethod(f)
	w.scanStatsFunc(f)
	if hasSpan(s.Fields) {
		w.spanFunc(f)
	}
	return f
}

// statsMethod emits
//
//	func (q *Queue) Stats(ctx context.Context) (s Stats, err error) {
//		var found []Stats
//		ctx = q.hook.Before(ctx, "stats")
//		defer func() { q.hook.After(ctx, "stats", len(found), err) }()
//		err = q.retry(ctx, "stats", func(db DBTX) (err error) {
//			found, err = query(ctx, db, scanStats, statsSQL)
//			return err
//		})
//		if err != nil || len(found) == 0 {
//			return Stats{}, err
//		}
//		return found[0], nil
//	}
func (w *writer) statsMethod(f *jen.File) {
	decl(f, docOf(w.Stats.Doc, w.Stats.Statement),
		jen.Func().Add(queueReceiver()).Id("Stats").Params(ctxParam()).Params(jen.Id("s").Id("Stats"), jen.Err().Error()).Block(
			jen.Var().Id("found").Index().Id("Stats"),
			observe(jen.Id("q"), jen.Lit("stats"), jen.Len(jen.Id("found"))),
			attempt(jen.Id("q"), "retry", jen.Lit("stats"), queryInto("found", "scanStats", jen.Id(w.Stats.Statement.Var))),
			jen.If(jen.Err().Op("!=").Nil().Op("||").Len(jen.Id("found")).Op("==").Lit(0)).Block(
				jen.Return(jen.Id("Stats").Values(), jen.Err()),
			),
			jen.Return(jen.Id("found").Index(jen.Lit(0)), jen.Nil()),
		))
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
func (w *writer) scanStatsFunc(f *jen.File) {
	decl(f, []string{"scanStats reads the one row of the statement."},
		jen.Func().Id("scanStats").Params(jen.Id("r").Id("row")).Params(jen.Id("Stats"), jen.Error()).BlockFunc(func(g *jen.Group) {
			g.Var().Id("s").Id("Stats")
			var spans []jen.Code
			var dest, set []jen.Code
			for _, field := range w.Stats.Fields {
				if !isSpan(field) {
					dest = append(dest, jen.Op("&").Id("s").Dot(field.Name))
					continue
				}
				name := spanVar(field.Name)
				spans = append(spans, jen.Id(name))
				dest = append(dest, jen.Op("&").Id(name))
				set = append(set, jen.Id("s").Dot(field.Name).Op("=").Id("span").Call(jen.Id(name)))
			}
			if len(spans) > 0 {
				g.Var().List(spans...).Op("*").Float64()
			}
			g.Err().Op(":=").Id("r").Dot("Scan").Call(dest...)
			for _, s := range set {
				g.Add(s)
			}
			g.Return(jen.Id("s"), jen.Err())
		}))
}

// spanFunc emits
//
//	func span(seconds *float64) time.Duration {
//		if seconds == nil {
//			return 0
//		}
//		return time.Duration(*seconds * float64(time.Second))
//	}
func (w *writer) spanFunc(f *jen.File) {
	decl(f, []string{"span turns seconds into a duration; null is zero."},
		jen.Func().Id("span").Params(jen.Id("seconds").Op("*").Float64()).Qual("time", "Duration").Block(
			jen.If(jen.Id("seconds").Op("==").Nil()).Block(jen.Return(jen.Lit(0))),
			jen.Return(jen.Qual("time", "Duration").Call(jen.Op("*").Id("seconds").Op("*").Float64().Parens(jen.Qual("time", "Second")))),
		))
}

// isSpan reports whether the figure comes back as seconds.
func isSpan(f plan.StatsField) bool { return f.GoType == "time.Duration" }

// hasSpan reports whether any figure does.
func hasSpan(fields []plan.StatsField) bool {
	for _, f := range fields {
		if isSpan(f) {
			return true
		}
	}
	return false
}

// spanVar is the variable for the seconds of a figure: oldestReadySeconds.
func spanVar(name string) string { return lowerFirst(name) + "Seconds" }

// lowerFirst returns a Go name unexported.
func lowerFirst(name string) string {
	r := []rune(name)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}
