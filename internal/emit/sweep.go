package emit

// This file writes what works on rows that nobody holds: recover.go,
// redrive.go, purge.go and peek.go.

import (
	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) recoverFile() *jen.File { return w.sweepFile("Recover", "recover", w.Recover, true) }
func (w *writer) redriveFile() *jen.File { return w.sweepFile("Redrive", "redrive", w.Redrive, true) }
func (w *writer) purgeFile() *jen.File   { return w.sweepFile("Purge", "purge", w.Purge, false) }

// sweepFile emits
//
//	func (q *Queue) Purge(ctx context.Context, olderThan time.Duration, limit int) (n int, err error) {
//		if limit <= 0 {
//			return 0, nil
//		}
//		ctx = q.hook.Before(ctx, "purge")
//		defer func() { q.hook.After(ctx, "purge", n, err) }()
//		err = q.retry(ctx, "purge", func(db DBTX) (err error) {
//			n, err = exec(ctx, db, purgeSQL, olderThan.Seconds(), limit)
//			return err
//		})
//		return n, err
//	}
//
// and for several statements one attempt after the other, each with what is
// left of limit. ready says that the rows are ready afterwards.
func (w *writer) sweepFile(name, op string, s *plan.Sweep, ready bool) *jen.File {
	f := w.newFile()
	embed(f, s.Statements...)
	params := []jen.Code{ctxParam()}
	if s.OlderThan {
		params = append(params, jen.Id("olderThan").Qual("time", "Duration"))
	}
	params = append(params, jen.Id("limit").Int())
	decl(f, docOf(s.Doc, s.Statements...),
		jen.Func().Add(queueReceiver()).Id(name).Params(params...).Params(jen.Id("n").Int(), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			g.If(jen.Id("limit").Op("<=").Lit(0)).Block(jen.Return(jen.Lit(0), jen.Nil()))
			g.Add(observe(jen.Id("q"), jen.Lit(op), jen.Id("n")))
			if len(s.Statements) == 1 {
				w.sweepOnce(g, op, s.Statements[0], "n", jen.Id("limit"))
			} else {
				w.sweepEach(g, op, s.Statements)
			}
			if ready && w.hasLow() {
				g.If(jen.Id("n").Op(">").Lit(0)).Block(jen.Id("q").Dot("low").Dot("reset").Call())
			}
			g.Return(jen.Id("n"), jen.Err())
		}))
	return f
}

// sweepOnce emits the attempt at one statement, which puts the number of rows
// into count.
func (w *writer) sweepOnce(g *jen.Group, op string, s *plan.Statement, count string, left *jen.Statement) {
	before, args := w.arguments(s, source{limit: left}, op, jen.Lit(0))
	if len(before) > 0 {
		w.fail("%s: a list cannot be an argument of %s", s.Name, op)
	}
	text := append([]jen.Code{jen.Id(s.Var)}, args...)
	if len(s.Rows) == 0 {
		g.Add(attempt(jen.Id("q"), "retry", jen.Lit(op),
			jen.List(jen.Id(count), jen.Err()).Op("=").Add(execCall(text...)),
			jen.Return(jen.Err())))
		return
	}
	if !sameFields(s.Rows, w.Key) {
		w.fail("%s: the statement must return the key, or nothing", s.Name)
	}
	g.Add(attempt(jen.Id("q"), "retry", jen.Lit(op),
		jen.List(jen.Id("keys"), jen.Err()).Op(":=").Add(queryCall("scanKey", text...)),
		jen.Id(count).Op("=").Len(jen.Id("keys")),
		jen.Return(jen.Err())))
}

// sweepEach emits the attempts at several statements:
//
//	err = q.retry(… n, err = exec(ctx, db, recoverSQL, limit) …)
//	if err == nil && n < limit {
//		var more int
//		err = q.retry(… more, err = exec(ctx, db, giveUpSQL, limit-n) …)
//		n += more
//	}
func (w *writer) sweepEach(g *jen.Group, op string, statements []*plan.Statement) {
	for i, s := range statements {
		if i > 0 {
			g.If(jen.Err().Op("==").Nil().Op("&&").Id("n").Op("<").Id("limit")).BlockFunc(func(g *jen.Group) {
				g.Var().Id("more").Int()
				w.sweepOnce(g, op, s, "more", jen.Id("limit").Op("-").Id("n"))
				g.Id("n").Op("+=").Id("more")
			})
			continue
		}
		w.sweepOnce(g, op, s, "n", jen.Id("limit"))
	}
}

// sameFields reports whether two lists hold the same fields in the same order.
func sameFields(a, b []*plan.Field) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
	}
	return true
}

// peekFile emits
//
//	func (q *Queue) Peek(ctx context.Context, kind string, limit int) (jobs []Job, err error) {
//		if limit <= 0 {
//			return nil, nil
//		}
//		…
//		err = q.retry(ctx, "peek", func(db DBTX) (err error) {
//			jobs, err = query(ctx, db, scanJob, peekSQL, kind, limit)
//			return err
//		})
//		return jobs, err
//	}
func (w *writer) peekFile() *jen.File {
	s := w.Peek.Statement
	f := w.newFile()
	embed(f, s)
	params := []jen.Code{ctxParam()}
	var narrowed []*plan.Param
	shard := false
	for _, a := range s.Args {
		shard = shard || a.Kind == plan.ArgShardIdx || a.Kind == plan.ArgShardCnt
		if a.Kind == plan.ArgParam && !containsParam(narrowed, a.Param) {
			narrowed = append(narrowed, a.Param)
			params = append(params, jen.Id(a.Param.Name).Add(w.paramType(a.Param)))
		}
	}
	if shard {
		params = append(params, jen.Id("shard").Id("Shard"))
	}
	params = append(params, jen.Id("limit").Int())
	scan := "scanPeeked"
	if sameFields(s.Rows, w.claimRows()) {
		scan = "scanJob"
	}
	before, args := w.arguments(s, source{}, "peek", jen.Nil())
	decl(f, docOf(append(append([]string(nil), w.Peek.Doc...), paramDoc(narrowed)...), s),
		jen.Func().Add(queueReceiver()).Id("Peek").Params(params...).Params(jen.Id("jobs").Index().Id("Job"), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			g.If(jen.Id("limit").Op("<=").Lit(0)).Block(jen.Return(jen.Nil(), jen.Nil()))
			addAll(g, before)
			g.Add(observe(jen.Id("q"), jen.Lit("peek"), jen.Len(jen.Id("jobs"))))
			g.Add(attempt(jen.Id("q"), "retry", jen.Lit("peek"), queryInto("jobs", scan, append([]jen.Code{jen.Id(s.Var)}, args...)...)))
			if scan == "scanJob" {
				w.sort(g)
			}
			g.Return(jen.Id("jobs"), jen.Err())
		}))
	return f
}

// containsParam reports whether p is among params.
func containsParam(params []*plan.Param, p *plan.Param) bool {
	for _, q := range params {
		if q == p {
			return true
		}
	}
	return false
}
