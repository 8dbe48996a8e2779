package emit

// This file writes an Enqueue that leaves a job out where a row stands in its way by a
// unique key, and tells so.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/code"
	"github.com/qgen-dev/qgen/internal/plan"
)

// absentMethods emits Enqueue and EnqueueMany, and what both run.
func (w *writer) absentMethods(f *code.File) {
	w.enqueueAbsent(f)
	w.enqueueManyAbsent(f)
	w.addMethod(f)
	if w.Enqueue.Many != nil {
		w.addAllMethod(f)
	}
}

// enqueueAbsent emits
//
//	func (q *Queue) Enqueue(ctx context.Context, job NewJob) (key Key, added bool, err error) {
//		var keys []Key
//		…
//		err = q.retry(ctx, "enqueue", func(db DBTX) (err error) {
//			keys, err = q.add(ctx, db, job)
//			return err
//		})
//		if err != nil || len(keys) == 0 {
//			return key, false, err
//		}
//		return keys[0], true, nil
//	}
//
// and without keys n in their place, the number of rows.
func (w *writer) enqueueAbsent(f *code.File) {
	e := w.Enqueue
	added := code.Id(w.told()).Bool()
	how := "retry"
	if e.Gate != nil || e.Alone != nil || e.Lock != nil || len(e.With) > 0 {
		how = "transact"
	}
	if e.Repeatable {
		how = "transactRepeatable"
	}
	results, none := []*code.Statement{added, code.Err().Error()}, []*code.Statement{}
	into, count := code.Id("n"), code.Id("n")
	if w.keysKnown() {
		results, none = append([]*code.Statement{code.Id("key").Id("Key")}, results...), []*code.Statement{code.Id("key")}
		into, count = code.Id("keys"), code.Len(code.Id("keys"))
	}
	first := present(e.Gate)
	if w.addsAlone() {
		first = present(e.Alone)
	}
	decl(f, docOf(e.Doc, slices.Concat(first, present(e.Lock, e.Check, e.Update, e.One), w.addedStatements())...),
		code.Func().Add(queueReceiver()).Id("Enqueue").Params(ctxParam(), code.Id("job").Id("NewJob")).Params(results...).BlockFunc(func(g *code.Group) {
			if w.keysKnown() {
				g.Var().Id("keys").Index().Id("Key")
			} else {
				g.Var().Id("n").Int()
			}
			g.Add(observe(code.Id("q"), code.Lit("enqueue"), count.Clone()))
			var lines []*code.Statement
			if w.addsAlone() {
				lines = append(lines, w.pass(e.Alone, nil))
			}
			add := code.List(into.Clone(), code.Err()).Op("=").Add(w.addCall(code.False()))
			if len(e.With) > 0 {
				lines = append(lines, code.If(add, code.Err().Op("!=").Nil()).Block(code.Return(code.Err())), code.Return(w.addedWithCall()))
			} else {
				lines = append(lines, add, code.Return(code.Err()))
			}
			g.Add(attempt(code.Id("q"), how, code.Lit("enqueue"), lines...))
			g.Add(code.If(errOr(count.Clone().Op("==").Lit(0))).Block(code.Return(append(none, code.False(), code.Err())...)))
			if !w.keysKnown() {
				g.Return(code.True(), code.Nil())
				return
			}
			first := code.Id("keys").Index(code.Lit(0))
			if e.KeyGiven && w.hasLow() {
				g.Id("q").Dot("low").Dot("lower").Call(first.Clone())
			}
			g.Return(first, code.True(), code.Nil())
		}))
}

// addsAlone reports whether each call adds its jobs while no other producer adds any.
func (w *writer) addsAlone() bool { return w.Enqueue.Alone != nil && w.Enqueue.Gate == nil }

// told is what Enqueue calls the result that tells whether it has written a row.
func (w *writer) told() string {
	if w.Enqueue.Upsert {
		return "written"
	}
	return "added"
}

// addCall is q.add(ctx, db, job), where jobs that are alike wait for each other q.add(ctx, db, job, alone), and
// where a row that is there is changed q.put(ctx, db, job).
func (w *writer) addCall(alone *code.Statement) *code.Statement {
	if w.Enqueue.Upsert {
		return w.putCall()
	}
	if w.Enqueue.Gate == nil {
		return code.Id("q").Dot("add").Call(code.Id("ctx"), code.Id("db"), code.Id("job"))
	}
	return code.Id("q").Dot("add").Call(code.Id("ctx"), code.Id("db"), code.Id("job"), alone)
}

// addMethod emits
//
//	func (q *Queue) add(ctx context.Context, db DBTX, job NewJob) ([]Key, error) {
//		keys, err := query(ctx, db, scanKey, enqueueSQL, job.Kind, …)
//		if hasNumber(err, 2627, 2601) { // where an error tells it
//			return nil, nil
//		}
//		return keys, err
//	}
//
// and without keys the same of the number of rows.
func (w *writer) addMethod(f *code.File) {
	e := w.Enqueue
	_, args := w.arguments(e.One, source{one: code.Id("job")}, "")
	text := w.boundOf(code.Id("q"), e.One, args)
	result, none := code.Index().Id("Key"), code.Nil()
	doc := "add adds a job and returns its key, none where " + e.Where + "."
	if !w.keysKnown() {
		result, none = code.Int(), code.Lit(0)
		doc = "add adds a job and returns how many rows that were: none where " + e.Where + "."
	}
	known := func(key *code.Statement) *code.Statement {
		return code.Return(code.Index().Id("Key").Values(key), code.Nil())
	}
	params := []*code.Statement{ctxParam(), code.Id("db").Id("DBTX"), code.Id("job").Id("NewJob")}
	if e.Gate != nil {
		doc += " alone says that no other producer adds any meanwhile."
		params = append(params, code.Id("alone").Bool())
	}
	decl(f, []string{doc},
		code.Func().Add(queueReceiver()).Id("add").Params(params...).Params(result, code.Error()).BlockFunc(func(g *code.Group) {
			if e.Gate != nil {
				_, args := w.arguments(e.Gate, source{one: code.Id("job")}, "")
				g.If(code.Op("!").Id("alone")).Block(w.pass(e.Gate, args, none.Clone()))
			}
			var value, call *code.Statement
			switch {
			case w.keysReturned():
				value, call = code.Id("keys"), queryCall(w.newKeyScan(), text...)
			case e.AutoKey:
				value, call = code.Id("number"), insertCall(text)
			default:
				value, call = code.Id("n"), execCall(text...)
			}
			whole := w.keysReturned() || !w.keysKnown()
			if whole && !e.Collides {
				g.Return(call)
				return
			}
			g.List(value.Clone(), code.Err()).Op(":=").Add(call)
			if e.Collides {
				g.If(w.inWay()).Block(code.Return(none.Clone(), code.Nil()))
			}
			switch {
			case whole:
				g.Return(value.Clone(), code.Err())
			case e.AutoKey && (e.Like || e.If): // the driver tells 0 where no row was added
				g.Add(ifErrOr(code.Id("number").Op("==").Lit(0), code.Nil()))
				g.Add(known(w.numbered(value.Clone())))
			case e.AutoKey:
				g.Add(ifErr(code.Nil()))
				g.Add(known(w.numbered(value.Clone())))
			default:
				g.Add(ifErrOr(code.Id("n").Op("==").Lit(0), code.Nil()))
				g.Add(known(w.keyOf(code.Id("job"))))
			}
		}))
}

// pass emits the return of what an error in a statement leaves, before others that it lets pass.
func (w *writer) pass(gate *plan.Statement, args []*code.Statement, results ...*code.Statement) *code.Statement {
	return code.If(code.List(code.Id("_"), code.Err()).Op(":=").Add(execCall(w.boundOf(code.Id("q"), gate, args)...)), code.Err().Op("!=").Nil()).Block(
		code.Return(append(results, code.Err())...))
}

// enqueueManyAbsent emits
//
//	func (q *Queue) EnqueueMany(ctx context.Context, news []NewJob) (keys []Key, added []bool, err error) {
//		if len(news) == 0 {
//			return nil, nil, nil
//		}
//		var n int
//		…
//		err = q.transact(ctx, "enqueue", func(db DBTX) error {
//			keys, added, n = make([]Key, len(news)), make([]bool, len(news)), 0
//			alone := len(news) > 100 // and what follows, where jobs that are alike wait for each other
//			if alone {
//				if _, err := exec(ctx, db, enqueueAloneSQL); err != nil {
//					return err
//				}
//			}
//			for i, job := range news {
//				one, err := q.add(ctx, db, job)
//				if err != nil {
//					return err
//				}
//				if len(one) > 0 {
//					keys[i], added[i] = one[0], true
//					n++
//				}
//			}
//			return nil
//		})
//		if err != nil {
//			return nil, nil, err
//		}
//		return keys, added, nil
//	}
//
// Where a statement adds many, the loop is one over chunks; where other tables are written,
// that is so for the keys that were added.
func (w *writer) enqueueManyAbsent(f *code.File) {
	e := w.Enqueue
	adds := e.One
	if e.Many != nil {
		adds = e.Many
	}
	doc := docOf(e.ManyDoc, append(present(e.Gate, e.Alone, e.Lock, e.Check, e.Update, adds), w.addedStatements()...)...)
	how := "transact"
	if e.Repeatable {
		how = "transactRepeatable"
	}
	if e.Many != nil || len(e.With) > 0 {
		w.enqueueChunk(f)
	}
	keys, added, n := code.Id("keys"), code.Id(w.told()), code.Id("n")
	results, none := []*code.Statement{added.Clone().Index().Bool(), code.Err().Error()}, []*code.Statement{code.Nil()}
	sized := func(typ *code.Statement) *code.Statement {
		return code.Make(code.Index().Add(typ), code.Len(code.Id("news")))
	}
	vars, begun, got := []*code.Statement{added, n}, []*code.Statement{sized(code.Id("bool")), code.Lit(0)}, []*code.Statement{added}
	if w.keysKnown() {
		results, none = append([]*code.Statement{code.Id("keys").Index().Id("Key")}, results...), append(none, code.Nil())
		vars, begun, got = append([]*code.Statement{keys}, vars...), append([]*code.Statement{sized(code.Id("Key"))}, begun...), append([]*code.Statement{keys}, got...)
	}
	at := code.Id("i")
	decl(f, doc,
		code.Func().Add(queueReceiver()).Id("EnqueueMany").Params(ctxParam(), code.Id("news").Index().Id("NewJob")).Params(results...).BlockFunc(func(g *code.Group) {
			g.If(empty("news")).Block(code.Return(append(none[:len(none):len(none)], code.Nil())...))
			g.Var().Id("n").Int()
			g.Add(observe(code.Id("q"), code.Lit("enqueue"), n.Clone()))
			g.Err().Op("=").Id("q").Dot(how).Call(code.Id("ctx"), code.Lit("enqueue"), code.Func().Params(code.Id("db").Id("DBTX")).Error().BlockFunc(func(g *code.Group) {
				g.List(cloned(vars)...).Op("=").List(begun...)
				switch {
				case w.addsAlone():
					g.Add(w.pass(e.Alone, nil))
				case e.Alone != nil:
					g.Id("alone").Op(":=").Len(code.Id("news")).Op(">").Lit(e.Locked)
					g.If(code.Id("alone")).Block(w.pass(e.Alone, nil))
				}
				note := []*code.Statement{n.Clone().Op("++")}
				if len(e.With) > 0 && !e.Each {
					g.Var().Id("fresh").Index().Id("Key")
				}
				mark := func(key *code.Statement, of *code.Statement) []*code.Statement {
					lines := []*code.Statement{code.List(keys.Clone().Index(of.Clone()), added.Clone().Index(of.Clone())).Op("=").List(key, code.True())}
					switch {
					case e.Each:
						call := code.Id("q").Dot("addedWith").Call(code.Id("ctx"), code.Id("db"), code.Id("one"))
						lines = append(lines, code.If(code.Err().Op(":=").Add(call), code.Err().Op("!=").Nil()).Block(code.Return(code.Err())))
					case len(e.With) > 0:
						lines = append(lines, code.Id("fresh").Op("=").Append(code.Id("fresh"), keys.Clone().Index(of.Clone())))
					}
					return append(lines, note...)
				}
				switch {
				case e.Many != nil:
					w.addChunksAbsent(g, mark)
				case w.keysKnown():
					g.For(code.List(at, code.Id("job")).Op(":=").Range().Id("news")).Block(
						code.List(code.Id("one"), code.Err()).Op(":=").Add(w.addCall(code.Id("alone"))),
						ifErr(),
						code.If(code.Len(code.Id("one")).Op(">").Lit(0)).Block(mark(code.Id("one").Index(code.Lit(0)), at)...),
					)
				default:
					g.For(code.List(at, code.Id("job")).Op(":=").Range().Id("news")).Block(
						code.List(code.Id("one"), code.Err()).Op(":=").Add(w.addCall(code.Id("alone"))),
						ifErr(),
						added.Clone().Index(at.Clone()).Op("=").Id("one").Op(">").Lit(0),
						n.Clone().Op("+=").Id("one"),
					)
				}
				if len(e.With) > 0 && !e.Each {
					g.Return(code.Id("q").Dot("addedWith").Call(code.Id("ctx"), code.Id("db"), code.Id("fresh")))
				} else {
					g.Return(code.Nil())
				}
			}))
			g.Add(ifErr(none...))
			if e.KeyGiven && w.hasLow() {
				g.For(code.List(code.Id("i"), code.Id("key")).Op(":=").Range().Id("keys")).Block(
					code.If(added.Clone().Index(code.Id("i"))).Block(code.Id("q").Dot("low").Dot("lower").Call(code.Id("key"))))
			}
			g.Return(append(cloned(got), code.Nil())...)
		}))
}

// cloned are statements that may stand in several places.
func cloned(list []*code.Statement) []*code.Statement {
	var all []*code.Statement
	for _, s := range list {
		all = append(all, s.Clone())
	}
	return all
}

// addChunksAbsent emits the loop over chunks of jobs where one statement adds many:
//
//	for from := 0; from < len(news); from += enqueueChunk {
//		some, err := q.addAll(ctx, db, news[from:min(from+enqueueChunk, len(news))], step[0])
//		if err != nil {
//			return err
//		}
//		for i, one := range some {
//			if one != nil {
//				keys[from+i], added[from+i] = *one, true
//				n++
//			}
//		}
//	}
func (w *writer) addChunksAbsent(g *code.Group, mark func(key, of *code.Statement) []*code.Statement) {
	e := w.Enqueue
	if e.Step != nil {
		g.List(code.Id("step"), code.Err()).Op(":=").Add(queryCall("scanStep", w.textOf(code.Id("q"), e.Step)))
		g.Add(ifErr())
	}
	from := code.Id("from")
	to := code.Id("min").Call(from.Clone().Op("+").Id("enqueueChunk"), code.Len(code.Id("news")))
	of := from.Clone().Op("+").Id("i")
	g.For(from.Clone().Op(":=").Lit(0), from.Clone().Op("<").Len(code.Id("news")), from.Clone().Op("+=").Id("enqueueChunk")).BlockFunc(func(g *code.Group) {
		g.List(code.Id("some"), code.Err()).Op(":=").Id("q").Dot("addAll").Call(w.addAllArgs(code.Id("news").Index(from.Clone().Op(":").Add(to)))...)
		g.Add(ifErr())
		g.For(code.List(code.Id("i"), code.Id("one")).Op(":=").Range().Id("some")).BlockFunc(func(g *code.Group) {
			if w.keysKnown() {
				g.If(code.Id("one").Op("!=").Nil()).Block(mark(code.Op("*").Id("one"), of)...)
				return
			}
			g.If(code.Id("one")).Block(code.Id("added").Index(of.Clone()).Op("=").True(), code.Id("n").Op("++"))
		})
	})
}

// addAllArgs are the arguments of addAll for some jobs.
func (w *writer) addAllArgs(news *code.Statement) []*code.Statement {
	args := []*code.Statement{code.Id("ctx"), code.Id("db"), news}
	if w.Enqueue.Step != nil {
		args = append(args, code.Id("step"))
	}
	return args
}

// addAllMethod emits
//
//	func (q *Queue) addAll(ctx context.Context, db DBTX, news []NewJob, step []int64) ([]*Key, error) {
//		first, err := insert(ctx, db, enqueueManySQL, …)
//		some := make([]*Key, len(news))
//		switch {
//		case err == nil:
//			for i := range news {
//				key := first + int64(i)*step[0]
//				some[i] = &key
//			}
//			return some, nil
//		case !hasNumber(err, 1062):
//			return nil, err
//		case len(news) == 1:
//			return some, nil
//		}
//		half := len(news) / 2
//		before, err := q.addAll(ctx, db, news[:half], step)
//		if err != nil {
//			return nil, err
//		}
//		behind, err := q.addAll(ctx, db, news[half:], step)
//		return append(before, behind...), err
//	}
//
// and without keys the same of truths.
func (w *writer) addAllMethod(f *code.File) {
	e := w.Enqueue
	before, args := w.arguments(e.Many, source{many: code.Id("news"), item: code.Id("NewJob")}, "", code.Nil())
	text := w.boundOf(code.Id("q"), e.Many, args)
	some, i := code.Id("some"), code.Id("i")
	kind := code.Id("bool")
	if w.keysKnown() {
		kind = code.Op("*").Id("Key")
	}
	params := []*code.Statement{ctxParam(), code.Id("db").Id("DBTX"), code.Id("news").Index().Id("NewJob")}
	if e.Step != nil {
		params = append(params, code.Id("step").Index().Int64())
	}
	got, call := code.Id("_"), execCall(text...)
	switch {
	case e.Step != nil:
		got, call = code.Id("first"), insertCall(text)
	case w.keysReturned():
		got, call = code.Id("keys"), queryCall(w.newKeyScan(), text...)
	}
	each := func(lines ...*code.Statement) *code.Statement {
		return code.For(i.Clone().Op(":=").Range().Id("news")).Block(lines...)
	}
	keep := func(key *code.Statement) *code.Statement {
		return each(code.Id("key").Op(":=").Add(key), some.Clone().Index(i.Clone()).Op("=").Op("&").Id("key"))
	}
	var filled []*code.Statement
	switch {
	case e.Step != nil:
		filled = append(filled, keep(w.numbered(code.Id("first").Op("+").Int64().Call(i.Clone()).Op("*").Id("step").Index(code.Lit(0)))))
	case w.keysReturned():
		found, want := code.Len(code.Id("keys")), code.Len(code.Id("news"))
		filled = append(filled,
			code.If(found.Clone().Op("!=").Add(want.Clone())).Block(
				code.Return(code.Nil(), code.Qual("fmt", "Errorf").Call(code.Lit("%d of %d rows were added"), found, want))),
			each(some.Clone().Index(i.Clone()).Op("=").Op("&").Id("keys").Index(i.Clone())))
	case w.keysKnown():
		filled = append(filled, keep(w.keyOf(code.Id("news").Index(i.Clone()))))
	default:
		filled = append(filled, each(some.Clone().Index(i.Clone()).Op("=").True()))
	}
	half := func(name string, part *code.Statement) *code.Statement {
		return code.List(code.Id(name), code.Err()).Op(":=").Id("q").Dot("addAll").Call(w.addAllArgs(part)...)
	}
	body := append(before,
		code.List(got, code.Err()).Op(":=").Add(call),
		some.Clone().Op(":=").Make(code.Index().Add(kind.Clone()), code.Len(code.Id("news"))),
		code.Switch().Block(
			code.Case(code.Err().Op("==").Nil()).Block(append(filled, code.Return(some.Clone(), code.Nil()))...),
			code.Case(w.notInWay()).Block(code.Return(code.Nil(), code.Err())),
			code.Case(code.Len(code.Id("news")).Op("==").Lit(1)).Block(code.Return(some.Clone(), code.Nil())),
		),
		code.Id("half").Op(":=").Len(code.Id("news")).Op("/").Lit(2),
		half("before", code.Id("news").Index(code.Op(":").Id("half"))),
		ifErr(code.Nil()),
		half("behind", code.Id("news").Index(code.Id("half").Op(":"))),
		code.Return(code.Id("append").Call(code.Id("before"), code.Id("behind").Op("...")), code.Err()))
	decl(f, []string{"addAll adds jobs by one statement, all or none. Where a row stands in the way of one, each half is added by itself; what is left out has none in its place."},
		code.Func().Add(queueReceiver()).Id("addAll").Params(params...).Params(code.Index().Add(kind), code.Error()).Block(body...))
}

// inWay is the test that err tells of a row in the way of a new one.
func (w *writer) inWay() *code.Statement {
	tests := []*code.Statement{w.collided()}
	for _, text := range w.Enqueue.Unlike {
		tests = append(tests, code.Op("!").Id("hasText").Call(code.Err(), code.Lit(text)))
	}
	return allOf(tests)
}

// notInWay is the test that err tells of something else.
func (w *writer) notInWay() *code.Statement {
	test := code.Op("!").Add(w.collided())
	for _, text := range w.Enqueue.Unlike {
		test.Op("||").Id("hasText").Call(code.Err(), code.Lit(text))
	}
	return test
}
