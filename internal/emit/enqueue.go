package emit

// This file writes enqueue.go. The keys of new rows come back from the
// database, or were given by the caller, or are not known before a claim;
// then Enqueue returns an error alone.

import (
	"cmp"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// enqueueFile writes enqueue.go.
func (w *writer) enqueueFile() *code.File {
	e := w.Enqueue
	f := w.newFile()
	embed(f, present(append([]*plan.Statement{e.Gate, e.Alone, e.Lock, e.Check, e.Update, e.One, e.Many, e.Step}, w.addedStatements()...)...)...)
	switch {
	case e.Absent:
		w.absentMethods(f)
	case e.Upsert:
		w.upsertMethods(f)
	default:
		w.enqueueMethod(f)
		w.enqueueManyMethod(f)
	}
	if len(e.With) > 0 {
		w.addedWithMethod(f)
	}
	return f
}

// keysReturned reports whether the statements return the keys of new rows.
func (w *writer) keysReturned() bool { return len(w.Enqueue.One.Rows) > 0 }

// keysKnown reports whether Enqueue returns a key.
func (w *writer) keysKnown() bool {
	return w.keysReturned() || w.Enqueue.KeyGiven || w.Enqueue.AutoKey
}

// newKeyScan is the function that reads the key of a row just added.
func (w *writer) newKeyScan() string {
	if sameFields(w.Enqueue.One.Rows, w.Key) {
		return "scanKey"
	}
	return "scanNewKey"
}

// enqueueResults are the results of Enqueue and EnqueueMany, and what they
// return with an error.
func (w *writer) enqueueResults(name string, typ *code.Statement, none *code.Statement) (results []*code.Statement, fail []*code.Statement) {
	if !w.keysKnown() {
		return []*code.Statement{code.Err().Error()}, nil
	}
	return []*code.Statement{code.Id(name).Add(typ), code.Err().Error()}, []*code.Statement{none}
}

// enqueueMethod emits
//
//	func (q *Queue) Enqueue(ctx context.Context, job NewJob) (key Key, err error) {
//		var keys []Key
//		ctx = q.hook.Before(ctx, "enqueue")
//		defer func() { q.hook.After(ctx, "enqueue", len(keys), err) }()
//		err = q.retry(ctx, "enqueue", func(db DBTX) (err error) {
//			keys, err = query(ctx, db, scanKey, enqueueSQL, job.Kind, …)
//			return err
//		})
//		if err != nil {
//			return key, err
//		}
//		if len(keys) != 1 {
//			return key, errors.New("emailq: enqueue: no row was added")
//		}
//		return keys[0], nil
//	}
func (w *writer) enqueueMethod(f *code.File) {
	e := w.Enqueue
	_, args := w.arguments(e.One, source{one: code.Id("job")}, "enqueue")
	text := w.boundOf(code.Id("q"), e.One, args)
	results, fail := w.enqueueResults("key", code.Id("Key"), code.Id("key"))
	notAdded := code.Return(append(fail[:len(fail):len(fail)], w.newError("enqueue: no row was added"))...)
	decl(f, docOf(e.Doc, append([]*plan.Statement{e.One}, w.addedStatements()...)...),
		code.Func().Add(queueReceiver()).Id("Enqueue").Params(ctxParam(), code.Id("job").Id("NewJob")).Params(results...).BlockFunc(func(g *code.Group) {
			if len(e.With) > 0 {
				w.enqueueAccompanied(g)
				return
			}
			if w.keysReturned() {
				g.Var().Id("keys").Index().Id("Key")
				g.Add(observe(code.Id("q"), code.Lit("enqueue"), code.Len(code.Id("keys"))))
				g.Add(attempt(code.Id("q"), "retry", code.Lit("enqueue"), queryInto("keys", w.newKeyScan(), text...)))
				g.Add(ifErr(fail...))
				g.If(code.Len(code.Id("keys")).Op("!=").Lit(1)).Block(notAdded)
				if e.KeyGiven && w.hasLow() {
					g.Id("q").Dot("low").Dot("lower").Call(code.Id("keys").Index(code.Lit(0)))
				}
				g.Return(code.Id("keys").Index(code.Lit(0)), code.Nil())
				return
			}
			if e.AutoKey {
				w.enqueueNumbered(g, text)
				return
			}
			g.Var().Id("added").Int()
			g.Add(observe(code.Id("q"), code.Lit("enqueue"), code.Id("added")))
			g.Add(attempt(code.Id("q"), "retry", code.Lit("enqueue"),
				code.List(code.Id("added"), code.Err()).Op("=").Add(execCall(text...)),
				code.Return(code.Err())))
			g.Add(ifErr(fail...))
			g.If(code.Id("added").Op("!=").Lit(1)).Block(notAdded)
			if !w.keysKnown() {
				g.Return(code.Nil())
				return
			}
			if w.hasLow() {
				g.Add(w.lower(code.Id("job")))
			}
			g.Return(w.keyOf(code.Id("job")), code.Nil())
		}))
}

// enqueueNumbered emits an Enqueue whose key the driver tells:
//
//	added := 0
//	…
//	err = q.retry(ctx, "enqueue", func(db DBTX) error {
//		number, err := insert(ctx, db, enqueueSQL, …)
//		if err == nil {
//			key, added = int64(number), 1
//		}
//		return err
//	})
//	return key, err
func (w *writer) enqueueNumbered(g *code.Group, text []*code.Statement) {
	g.Id("added").Op(":=").Lit(0)
	g.Add(observe(code.Id("q"), code.Lit("enqueue"), code.Id("added")))
	g.Err().Op("=").Id("q").Dot("retry").Call(code.Id("ctx"), code.Lit("enqueue"), code.Func().Params(code.Id("db").Id("DBTX")).Error().Block(
		code.List(code.Id("number"), code.Err()).Op(":=").Add(insertCall(text)),
		code.If(code.Err().Op("==").Nil()).Block(code.List(code.Id("key"), code.Id("added")).Op("=").List(w.numbered(code.Id("number")), code.Lit(1))),
		code.Return(code.Err()),
	))
	g.Return(code.Id("key"), code.Err())
}

// enqueueAccompanied emits an Enqueue that writes other tables as well:
//
//	var keys []Key
//	…
//	err = q.transact(ctx, "enqueue", func(db DBTX) error {
//		keys = nil
//		<see addOne>
//		return q.addedWith(ctx, db, keys)
//	})
//	if err != nil {
//		return key, err
//	}
//	return keys[0], nil
func (w *writer) enqueueAccompanied(g *code.Group) {
	first := code.Id("keys").Index(code.Lit(0))
	g.Var().Id("keys").Index().Id("Key")
	g.Add(observe(code.Id("q"), code.Lit("enqueue"), code.Len(code.Id("keys"))))
	g.Err().Op("=").Id("q").Dot("transact").Call(code.Id("ctx"), code.Lit("enqueue"), code.Func().Params(code.Id("db").Id("DBTX")).Error().BlockFunc(func(g *code.Group) {
		g.Id("keys").Op("=").Nil()
		w.addOne(g)
		g.Return(w.addedWithCall())
	}))
	g.Add(ifErr(code.Id("key")))
	if w.Enqueue.KeyGiven && w.hasLow() {
		g.Id("q").Dot("low").Dot("lower").Call(first.Clone())
	}
	g.Return(first, code.Nil())
}

// addedWithCall is the call that writes other tables for the rows that were added.
func (w *writer) addedWithCall() *code.Statement {
	return code.Id("q").Dot("addedWith").Call(code.Id("ctx"), code.Id("db"), code.Id("keys"))
}

// addedStatements are those that run behind the one that adds rows, for other tables.
func (w *writer) addedStatements() []*plan.Statement {
	return append(present(w.Enqueue.Find), w.Enqueue.With...)
}

// addedWithMethod emits
//
//	func (q *Queue) addedWith(ctx context.Context, db DBTX, keys []Key) error {
//		for chunk := range slices.Chunk(keys, enqueueChunk) {
//			found, err := query(ctx, db, scanKey, enqueueFindSQL, …) // where nothing returns the keys
//			if err != nil {
//				return err
//			}
//			if len(found) != len(chunk) {
//				return fmt.Errorf("%d of %d new rows were found by the keys that they were given", len(found), len(chunk))
//			}
//			if _, err := exec(ctx, db, enqueueInsertAuditSQL, …); err != nil {
//				return err
//			}
//		}
//		return nil
//	}
func (w *writer) addedWithMethod(f *code.File) {
	from := source{many: code.Id("chunk"), item: code.Id("Key"), keys: true, batches: map[string]string{}}
	var lines []*code.Statement
	if s := w.Enqueue.Find; s != nil {
		before, args := w.arguments(s, from, "")
		found, given := code.Len(code.Id("found")), code.Len(code.Id("chunk"))
		lines = append(before,
			code.List(code.Id("found"), code.Err()).Op(":=").Add(readCall(reader(s), "scanKey", w.boundOf(code.Id("q"), s, args)...)),
			ifErr(),
			code.If(found.Clone().Op("!=").Add(given.Clone())).Block(
				code.Return(code.Qual("fmt", "Errorf").Call(code.Lit("%d of %d new rows were found by the keys that they were given"), found, given))))
	}
	lines = append(lines, w.inTurn(code.Id("q"), w.Enqueue.With, from)...)
	decl(f, []string{"addedWith writes to other tables what belongs to the rows of keys, which the transaction has added."},
		code.Func().Add(queueReceiver()).Id("addedWith").Params(ctxParam(), code.Id("db").Id("DBTX"), code.Id("keys").Index().Id("Key")).Error().Block(
			code.For(code.Id("chunk").Op(":=").Range().Qual("slices", "Chunk").Call(code.Id("keys"), code.Id("enqueueChunk"))).Block(lines...),
			code.Return(code.Nil()),
		))
}

// insertCall is insert(ctx, db, text, args...).
func insertCall(text []*code.Statement) *code.Statement {
	return code.Id("insert").Call(append([]*code.Statement{code.Id("ctx"), code.Id("db")}, text...)...)
}

// numbered is the key from the number that the driver told, an int64.
func (w *writer) numbered(number *code.Statement) *code.Statement {
	if w.Key[0].GoType == "int64" {
		return number
	}
	return code.Id("Key").Call(number)
}

// enqueueManyMethod emits
//
//	func (q *Queue) EnqueueMany(ctx context.Context, news []NewJob) (keys []Key, err error) {
//		if len(news) == 0 {
//			return nil, nil
//		}
//		…
//		err = q.transact(ctx, "enqueue", func(db DBTX) error {
//			keys = make([]Key, 0, len(news))
//			for chunk := range slices.Chunk(news, enqueueChunk) {
//				added, err := query(ctx, db, scanKey, enqueueManySQL, …)
//				if err != nil {
//					return err
//				}
//				if len(added) != len(chunk) {
//					return fmt.Errorf("%d of %d rows were added", len(added), len(chunk))
//				}
//				keys = append(keys, added...)
//			}
//			return nil
//		})
//		if err != nil {
//			return nil, err
//		}
//		return keys, nil
//	}
//
// and without keys n in their place, the number of rows.
func (w *writer) enqueueManyMethod(f *code.File) {
	e := w.Enqueue
	add := w.addOneByOne
	adds := e.One
	if e.Many != nil {
		add, adds = w.addChunks, e.Many
	}
	doc := docOf(e.ManyDoc, append([]*plan.Statement{adds}, w.addedStatements()...)...)
	if e.Many != nil || len(e.With) > 0 {
		w.enqueueChunk(f)
	}
	results, fail := w.enqueueResults("keys", code.Index().Id("Key"), code.Nil())
	decl(f, doc,
		code.Func().Add(queueReceiver()).Id("EnqueueMany").Params(ctxParam(), code.Id("news").Index().Id("NewJob")).Params(results...).BlockFunc(func(g *code.Group) {
			g.If(empty("news")).Block(code.Return(append(fail[:len(fail):len(fail)], code.Nil())...))
			count := code.Len(code.Id("keys"))
			if !w.keysKnown() {
				g.Var().Id("n").Int()
				count = code.Id("n")
			}
			g.Add(observe(code.Id("q"), code.Lit("enqueue"), count))
			g.Err().Op("=").Id("q").Dot("transact").Call(code.Id("ctx"), code.Lit("enqueue"), code.Func().Params(code.Id("db").Id("DBTX")).Error().BlockFunc(func(g *code.Group) {
				if w.keysKnown() {
					g.Id("keys").Op("=").Make(code.Index().Id("Key"), code.Lit(0), code.Len(code.Id("news")))
				} else {
					g.Id("n").Op("=").Lit(0)
				}
				add(g)
				if len(e.With) > 0 {
					g.Return(w.addedWithCall())
				} else {
					g.Return(code.Nil())
				}
			}))
			if !w.keysKnown() {
				g.Return(code.Err())
				return
			}
			g.Add(ifErr(code.Nil()))
			if e.KeyGiven && w.hasLow() {
				g.For(code.List(code.Id("_"), code.Id("key")).Op(":=").Range().Id("keys")).Block(
					code.Id("q").Dot("low").Dot("lower").Call(code.Id("key")))
			}
			g.Return(code.Id("keys"), code.Nil())
		}))
}

// enqueueChunk emits how many jobs one statement is for.
func (w *writer) enqueueChunk(f *code.File) {
	does := "adds"
	if w.Enqueue.Many == nil {
		does = "writes other tables for"
	}
	f.Line()
	f.Comment("// enqueueChunk is the most jobs that one statement " + does + ".")
	f.Const().Id("enqueueChunk").Op("=").Lit(min(1000, cmp.Or(w.Most, 1000)))
}

// addChunks emits the loop over chunks of jobs.
func (w *writer) addChunks(g *code.Group) {
	e := w.Enqueue
	before, args := w.arguments(e.Many, source{many: code.Id("chunk"), item: code.Id("NewJob")}, "")
	text := w.boundOf(code.Id("q"), e.Many, args)
	if e.Step != nil {
		w.addNumbered(g, text)
		return
	}
	g.For(code.Id("chunk").Op(":=").Range().Qual("slices", "Chunk").Call(code.Id("news"), code.Id("enqueueChunk"))).BlockFunc(func(g *code.Group) {
		addAll(g, before)
		w.addRows(g, text, code.Len(code.Id("chunk")))
		if !w.keysReturned() && w.keysKnown() {
			g.For(code.List(code.Id("_"), code.Id("job")).Op(":=").Range().Id("chunk")).Block(
				code.Id("keys").Op("=").Append(code.Id("keys"), w.keyOf(code.Id("job"))))
		}
	})
}

// addNumbered emits the loop over chunks of jobs to which the database gives
// numbers:
//
//	step, err := query(ctx, db, scanStep, enqueueStepSQL)
//	if err != nil {
//		return err
//	}
//	for chunk := range slices.Chunk(news, enqueueChunk) {
//		first, err := insert(ctx, db, enqueueManySQL, …)
//		if err != nil {
//			return err
//		}
//		for i := range chunk {
//			keys = append(keys, first+int64(i)*step[0])
//		}
//	}
func (w *writer) addNumbered(g *code.Group, text []*code.Statement) {
	number := code.Id("first").Op("+").Int64().Call(code.Id("i")).Op("*").Id("step").Index(code.Lit(0))
	g.List(code.Id("step"), code.Err()).Op(":=").Add(queryCall("scanStep", w.textOf(code.Id("q"), w.Enqueue.Step)))
	g.Add(ifErr())
	g.For(code.Id("chunk").Op(":=").Range().Qual("slices", "Chunk").Call(code.Id("news"), code.Id("enqueueChunk"))).Block(
		code.List(code.Id("first"), code.Err()).Op(":=").Add(insertCall(text)),
		ifErr(),
		code.For(code.Id("i").Op(":=").Range().Id("chunk")).Block(
			code.Id("keys").Op("=").Append(code.Id("keys"), w.numbered(number)),
		),
	)
}

// scanStepFunc emits
//
//	func scanStep(r row) (step int64, err error) {
//		err = r.Scan(&step)
//		return step, err
//	}
func (w *writer) scanStepFunc(f *code.File) {
	decl(f, []string{"scanStep reads by how much the numbers of new rows differ."},
		code.Func().Id("scanStep").Params(code.Id("r").Id("row")).Params(code.Id("step").Int64(), code.Err().Error()).Block(
			code.Err().Op("=").Id("r").Dot("Scan").Call(code.Op("&").Id("step")),
			code.Return(code.Id("step"), code.Err()),
		))
}

// addOneByOne emits the loop over jobs where no statement adds many.
func (w *writer) addOneByOne(g *code.Group) {
	each := code.List(code.Id("_"), code.Id("job")).Op(":=").Range().Id("news")
	if len(w.Enqueue.Fields) == 0 {
		each = code.Range().Id("news")
	}
	g.For(each).BlockFunc(w.addOne)
}

// addOne emits what adds one job and notes its key.
func (w *writer) addOne(g *code.Group) {
	e := w.Enqueue
	_, args := w.arguments(e.One, source{one: code.Id("job")}, "")
	text := w.boundOf(code.Id("q"), e.One, args)
	if e.AutoKey {
		g.List(code.Id("number"), code.Err()).Op(":=").Add(insertCall(text))
		g.Add(ifErr())
		g.Id("keys").Op("=").Append(code.Id("keys"), w.numbered(code.Id("number")))
		return
	}
	w.addRows(g, text, code.Lit(1))
	if !w.keysReturned() && w.keysKnown() {
		g.Id("keys").Op("=").Append(code.Id("keys"), w.keyOf(code.Id("job")))
	}
}

// addRows emits one run of a statement that adds want rows.
func (w *writer) addRows(g *code.Group, text []*code.Statement, want *code.Statement) {
	count := code.Id("added")
	if w.keysReturned() {
		g.List(code.Id("added"), code.Err()).Op(":=").Add(queryCall(w.newKeyScan(), text...))
		count = code.Len(code.Id("added"))
	} else {
		g.List(code.Id("added"), code.Err()).Op(":=").Add(execCall(text...))
	}
	g.Add(ifErr())
	g.If(count.Clone().Op("!=").Add(want.Clone())).Block(
		code.Return(code.Qual("fmt", "Errorf").Call(code.Lit("%d of %d rows were added"), count.Clone(), want.Clone())))
	switch {
	case w.keysReturned():
		g.Id("keys").Op("=").Append(code.Id("keys"), code.Id("added").Op("..."))
	case !w.keysKnown():
		g.Id("n").Op("+=").Id("added")
	}
}
