package emit

// This file writes what works on rows that nobody holds: recover.go,
// redrive.go, purge.go and peek.go.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

func (w *writer) recoverFile() *code.File { return w.sweepFile("Recover", "recover", w.Recover, true) }
func (w *writer) redriveFile() *code.File { return w.sweepFile("Redrive", "redrive", w.Redrive, true) }

// purgeFile emits the operations that remove rows.
func (w *writer) purgeFile() *code.File {
	f := w.newFile()
	var statements []*plan.Statement
	for _, p := range w.Purges {
		statements = append(statements, p.Statements()...)
	}
	embed(f, statements...)
	for _, p := range w.Purges {
		w.sweepOperation(f, p.Method, p.Op, p.Sweep, false)
	}
	return f
}

// sweepFile emits one operation.
func (w *writer) sweepFile(name, op string, s *plan.Sweep, ready bool) *code.File {
	f := w.newFile()
	embed(f, s.Statements()...)
	w.sweepOperation(f, name, op, s, ready)
	return f
}

// sweepOperation emits
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
func (w *writer) sweepOperation(f *code.File, name, op string, s *plan.Sweep, ready bool) {
	params := []*code.Statement{ctxParam()}
	if s.OlderThan {
		params = append(params, code.Id("olderThan").Qual("time", "Duration"))
	}
	params = append(params, declared(w.given(s.Given))...)
	params = append(params, declared(w.timeout(s.Statements()...))...)
	params = append(params, code.Id("limit").Int())
	doc := append(s.Doc[:len(s.Doc):len(s.Doc)], paramDoc(s.Given)...)
	limited := w.limitsSweep(s)
	if limited {
		doc = append(doc[:len(doc):len(doc)], w.mostDoc("touches", "rows"))
	}
	decl(f, docOf(doc, s.Statements()...),
		code.Func().Add(queueReceiver()).Id(name).Params(params...).Params(code.Id("n").Int(), code.Err().Error()).BlockFunc(func(g *code.Group) {
			var nobody []*code.Statement
			if s.Alive != nil {
				nobody = append(nobody, empty(s.Alive.Name))
			}
			g.Add(ifNoLimit(code.Lit(0), nobody...))
			if s.Alive != nil && s.Alive.JSON {
				list := &plan.Statement{Name: op, Args: []plan.Arg{{Kind: plan.ArgParam, Param: s.Alive}}}
				before, _ := w.arguments(list, source{}, op, code.Lit(0))
				addAll(g, before)
			}
			if limited {
				g.Add(upToMost())
			}
			g.Add(observe(code.Id("q"), code.Lit(op), code.Id("n")))
			w.sweepEach(g, op, s)
			if ready && w.hasLow() {
				g.If(code.Id("n").Op(">").Lit(0)).Block(code.Id("q").Dot("low").Dot("reset").Call())
			}
			g.Return(code.Id("n"), code.Err())
		}))
}

// sweepOnce emits the attempt at one statement, which puts the number of rows
// into count; with a sequel, both are one transaction.
func (w *writer) sweepOnce(g *code.Group, op string, s, sequel *plan.Statement, count string, left *code.Statement) {
	before, args := w.arguments(s, source{limit: left, lists: true}, op, code.Lit(0))
	if len(before) > 0 {
		w.fail("%s: a list cannot be an argument of %s", s.Name, op)
	}
	text := w.boundOf(code.Id("q"), s, args)
	how, end := "retry", []*code.Statement{code.Return(code.Err())}
	if sequel != nil {
		_, args := w.arguments(sequel, source{limit: code.Id("limit")}, op, code.Lit(0))
		also := code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(w.boundOf(code.Id("q"), sequel, args)...))
		if len(sequel.Rows) > 0 {
			also = code.List(code.Id("_"), code.Err()).Op("=").Add(queryCall("scanKey", w.boundOf(code.Id("q"), sequel, args)...))
		}
		how, end = "transact", []*code.Statement{
			ifErrOr(code.Id(count).Op("==").Lit(0)), also, code.Return(code.Err())}
	}
	if len(s.Rows) == 0 {
		g.Add(attempt(code.Id("q"), how, code.Lit(op), append([]*code.Statement{
			code.List(code.Id(count), code.Err()).Op("=").Add(execCall(text...))}, end...)...))
		return
	}
	if !sameFields(s.Rows, w.Key) {
		w.fail("%s: the statement must return the key, or nothing", s.Name)
	}
	g.Add(attempt(code.Id("q"), how, code.Lit(op), append([]*code.Statement{
		code.List(code.Id("keys"), code.Err()).Op(":=").Add(queryCall("scanKey", text...)),
		code.Id(count).Op("=").Len(code.Id("keys"))}, end...)...))
}

// sweepEach emits the attempts at several statements:
//
//	err = q.retry(… n, err = exec(ctx, db, recoverSQL, limit) …)
//	if err == nil && n < limit {
//		var more int
//		err = q.retry(… more, err = exec(ctx, db, giveUpSQL, limit-n) …)
//		n += more
//	}
func (w *writer) sweepEach(g *code.Group, op string, sweep *plan.Sweep) {
	once := func(g *code.Group, i int, count string, left *code.Statement) {
		step := sweep.Steps[i]
		if step.Lock != nil {
			w.sweepLocked(g, op, step, count, left)
			return
		}
		var sequel *plan.Statement
		if i == len(sweep.Steps)-1 {
			sequel = sweep.Sequel
		}
		w.sweepOnce(g, op, step.Statement, sequel, count, left)
	}
	for i := range sweep.Steps {
		if i > 0 {
			g.If(code.Err().Op("==").Nil().Op("&&").Id("n").Op("<").Id("limit")).BlockFunc(func(g *code.Group) {
				g.Var().Id("more").Int()
				once(g, i, "more", code.Id("limit").Op("-").Id("n"))
				g.Id("n").Op("+=").Id("more")
			})
			continue
		}
		once(g, i, "n", code.Id("limit"))
	}
}

// sameFields reports whether two lists hold the same fields in the same order.
func sameFields(a, b []*plan.Field) bool {
	return slices.EqualFunc(a, b, func(a, b *plan.Field) bool { return a.Name == b.Name })
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
func (w *writer) peekFile() *code.File {
	s := w.Peek.Statement
	f := w.newFile()
	embed(f, s)
	narrowed, params := w.narrowedBy(s)
	params = append([]*code.Statement{ctxParam()}, params...)
	if plan.AsksShard(s) {
		params = append(params, code.Id("shard").Id("Shard"))
	}
	params = append(params, declared(w.timeout(s))...)
	params = append(params, code.Id("limit").Int())
	scan := "scanPeeked"
	if sameFields(s.Rows, w.claimRows()) {
		scan = "scanJob"
	}
	before, args := w.arguments(s, source{}, "peek", code.Nil())
	told := []*plan.Statement{s}
	if w.Peek.Payload {
		told = append(told, w.Payload.Statement)
	}
	decl(f, docOf(slices.Concat(w.Peek.Doc, paramDoc(narrowed)), told...),
		code.Func().Add(queueReceiver()).Id("Peek").Params(params...).Params(code.Id("jobs").Index().Id("Job"), code.Err().Error()).BlockFunc(func(g *code.Group) {
			g.Add(ifNoLimit(code.Nil()))
			if plan.AsksShard(s) {
				w.checkShard(g, "peek")
			}
			addAll(g, before)
			g.Add(observe(code.Id("q"), code.Lit("peek"), code.Len(code.Id("jobs"))))
			read := w.boundOf(code.Id("q"), s, args)
			into := []*code.Statement{queryInto("jobs", scan, read...)}
			if w.Peek.Payload {
				into = w.jobsOf(code.Id("q"), "jobs", queryCall(scan, read...))
			}
			g.Add(attempt(code.Id("q"), "retry", code.Lit("peek"), into...))
			if scan == "scanJob" {
				w.sort(g)
			}
			g.Return(code.Id("jobs"), code.Err())
		}))
	return f
}

// narrowedBy returns those parameters of Claim that a statement is narrowed by, and how they are declared.
func (w *writer) narrowedBy(s *plan.Statement) (narrowed []*plan.Param, params []*code.Statement) {
	if w.Claim == nil {
		return nil, nil
	}
	for _, p := range w.Claim.Params {
		if slices.ContainsFunc(s.Args, func(a plan.Arg) bool { return a.Param == p }) {
			narrowed = append(narrowed, p)
			params = append(params, code.Id(p.Name).Add(w.paramType(p)))
		}
	}
	return narrowed, params
}
