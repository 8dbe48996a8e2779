package emit

// This file writes an Enqueue that changes the row which a job meets by a unique key.

import (
	"cmp"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// upsertMethods emits Enqueue and EnqueueMany, and what both run.
func (w *writer) upsertMethods(f *code.File) {
	if w.Enqueue.Spares {
		w.enqueueAbsent(f)
		w.enqueueManyAbsent(f)
	} else {
		w.enqueueUpsert(f)
		w.enqueueManyUpsert(f)
	}
	w.putMethod(f)
	if w.Enqueue.Lock != nil {
		w.insertMethod(f)
	}
}

// upsertStatements are those by which a job is put into the table.
func (w *writer) upsertStatements() []*plan.Statement {
	e := w.Enqueue
	return present(e.Lock, e.Check, e.Update, e.One)
}

// enqueueUpsert emits
//
//	func (q *Queue) Enqueue(ctx context.Context, job NewJob) (key Key, err error) {
//		var put []Key
//		ctx = q.hook.Before(ctx, "enqueue")
//		defer func() { q.hook.After(ctx, "enqueue", len(put), err) }()
//		err = q.retry(ctx, "enqueue", func(db DBTX) (err error) {
//			put, err = q.put(ctx, db, job)
//			return err
//		})
//		if err != nil {
//			return key, err
//		}
//		return put[0], nil
//	}
//
// and without keys n in the place of put, the number of rows.
func (w *writer) enqueueUpsert(f *code.File) {
	e := w.Enqueue
	results, fail := w.enqueueResults("key", code.Id("Key"), code.Id("key"))
	put, count := code.Id("n"), code.Id("n")
	if w.keysKnown() {
		put, count = code.Id("put"), code.Len(code.Id("put"))
	}
	how := "retry"
	if e.Lock != nil {
		how = "transact"
	}
	decl(f, docOf(e.Doc, w.upsertStatements()...),
		code.Func().Add(queueReceiver()).Id("Enqueue").Params(ctxParam(), code.Id("job").Id("NewJob")).Params(results...).BlockFunc(func(g *code.Group) {
			if w.keysKnown() {
				g.Var().Id("put").Index().Id("Key")
			} else {
				g.Var().Id("n").Int()
			}
			g.Add(observe(code.Id("q"), code.Lit("enqueue"), count))
			g.Add(attempt(code.Id("q"), how, code.Lit("enqueue"), code.List(put, code.Err()).Op("=").Add(w.putCall()), code.Return(code.Err())))
			if !w.keysKnown() {
				g.Return(code.Err())
				return
			}
			g.Add(ifErr(fail...))
			first := code.Id("put").Index(code.Lit(0))
			if e.KeyGiven && w.hasLow() {
				g.Id("q").Dot("low").Dot("lower").Call(first.Clone())
			}
			g.Return(first, code.Nil())
		}))
}

// putCall is q.put(ctx, db, job).
func (w *writer) putCall() *code.Statement {
	return code.Id("q").Dot("put").Call(code.Id("ctx"), code.Id("db"), code.Id("job"))
}

// enqueueManyUpsert emits
//
//	func (q *Queue) EnqueueMany(ctx context.Context, news []NewJob) (keys []Key, err error) {
//		if len(news) == 0 {
//			return nil, nil
//		}
//		…
//		err = q.transact(ctx, "enqueue", func(db DBTX) error {
//			keys = make([]Key, 0, len(news))
//			for _, job := range news {
//				put, err := q.put(ctx, db, job)
//				if err != nil {
//					return err
//				}
//				keys = append(keys, put...)
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
func (w *writer) enqueueManyUpsert(f *code.File) {
	e := w.Enqueue
	results, fail := w.enqueueResults("keys", code.Index().Id("Key"), code.Nil())
	decl(f, docOf(e.ManyDoc, w.upsertStatements()...),
		code.Func().Add(queueReceiver()).Id("EnqueueMany").Params(ctxParam(), code.Id("news").Index().Id("NewJob")).Params(results...).BlockFunc(func(g *code.Group) {
			g.If(empty("news")).Block(code.Return(append(fail[:len(fail):len(fail)], code.Nil())...))
			count := code.Len(code.Id("keys"))
			if !w.keysKnown() {
				g.Var().Id("n").Int()
				count = code.Id("n")
			}
			g.Add(observe(code.Id("q"), code.Lit("enqueue"), count))
			g.Err().Op("=").Id("q").Dot("transact").Call(code.Id("ctx"), code.Lit("enqueue"), code.Func().Params(code.Id("db").Id("DBTX")).Error().BlockFunc(func(g *code.Group) {
				note := code.Id("n").Op("+=").Id("put")
				if w.keysKnown() {
					g.Id("keys").Op("=").Make(code.Index().Id("Key"), code.Lit(0), code.Len(code.Id("news")))
					note = code.Id("keys").Op("=").Append(code.Id("keys"), code.Id("put").Op("..."))
				} else {
					g.Id("n").Op("=").Lit(0)
				}
				g.For(code.List(code.Id("_"), code.Id("job")).Op(":=").Range().Id("news")).Block(
					code.List(code.Id("put"), code.Err()).Op(":=").Add(w.putCall()),
					ifErr(),
					note,
				)
				g.Return(code.Nil())
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

// putMethod emits what puts one job into the table by one statement:
//
//	func (q *Queue) put(ctx context.Context, db DBTX, job NewJob) ([]Key, error) {
//		put, err := query(ctx, db, scanKey, enqueueSQL, job.URL, …)
//		if err == nil && len(put) != 1 {
//			return nil, errors.New("no row was added or changed")
//		}
//		return put, err
//	}
//
// or, where the row is looked for first:
//
//	func (q *Queue) put(ctx context.Context, db DBTX, job NewJob) ([]Key, error) {
//		for try := 1; ; try++ {
//			found, err := query(ctx, db, scanKey, enqueueLockSQL, job.URL)
//			if err != nil {
//				return nil, err
//			}
//			if len(found) > 0 {
//				_, err := exec(ctx, db, enqueueUpdateSQL, job.Body, …)
//				return found, err
//			}
//			put, err := q.insert(ctx, db, job)
//			if try == 10 || !hasNumber(err, 1062) {
//				return put, err
//			}
//		}
//	}
//
// and without keys the same of the number of rows. Where a row may be left alone, put returns none then, and
// between the look and the change is
//
//	found, err = query(ctx, db, scanKey, enqueueCheckSQL, job.URL)
//	if err != nil || len(found) == 0 {
//		return nil, err
//	}
func (w *writer) putMethod(f *code.File) {
	e := w.Enqueue
	result, none, doc := code.Index().Id("Key"), code.Nil(), "put adds a job, or changes the row that is like it, and returns the key of the row."
	if !w.keysKnown() {
		result, none, doc = code.Int(), code.Lit(0), "put adds a job, or changes the row that is like it, and returns how many rows that are."
	}
	if e.Spares {
		doc += " It leaves alone, and returns none of, a row that is like it and that the condition does not let change."
	}
	if e.Lock != nil {
		doc += " Where another adds such a row between its look and its own, it looks again."
	}
	body := w.insertJob
	if e.Lock != nil {
		body = func(g *code.Group) {
			_, args := w.arguments(e.Lock, source{one: code.Id("job")}, "")
			found := code.Id("found")
			_, set := w.arguments(e.Update, source{one: code.Id("job")}, "")
			told := []*code.Statement{found.Clone(), code.Err()}
			if !w.keysKnown() {
				told[0] = code.Len(found.Clone())
			}
			change := []*code.Statement{
				code.List(code.Id("_"), code.Err()).Op(":=").Add(execCall(w.boundOf(code.Id("q"), e.Update, set)...)),
				code.Return(told...),
			}
			if e.Check != nil {
				_, asked := w.arguments(e.Check, source{one: code.Id("job")}, "")
				change[0] = code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(w.boundOf(code.Id("q"), e.Update, set)...))
				change = append([]*code.Statement{
					code.List(found.Clone(), code.Err()).Op("=").Add(queryCall("scanKey", w.boundOf(code.Id("q"), e.Check, asked)...)),
					ifErrOr(code.Len(found.Clone()).Op("==").Lit(0), none.Clone()),
				}, change...)
			}
			g.For(code.Id("try").Op(":=").Lit(1), code.Empty(), code.Id("try").Op("++")).Block(
				code.List(found.Clone(), code.Err()).Op(":=").Add(queryCall("scanKey", w.boundOf(code.Id("q"), e.Lock, args)...)),
				ifErr(none.Clone()),
				code.If(code.Len(found.Clone()).Op(">").Lit(0)).Block(change...),
				code.List(code.Id("put"), code.Err()).Op(":=").Id("q").Dot("add").Call(code.Id("ctx"), code.Id("db"), code.Id("job")),
				code.If(code.Id("try").Op("==").Lit(cmp.Or(w.Tries, 5)).Op("||").Op("!").Add(w.collided())).Block(
					code.Return(code.Id("put"), code.Err()),
				),
			)
		}
	}
	decl(f, []string{doc},
		code.Func().Add(queueReceiver()).Id("put").Params(ctxParam(), code.Id("db").Id("DBTX"), code.Id("job").Id("NewJob")).Params(result, code.Error()).BlockFunc(body))
}

// insertMethod emits add, which adds a job and fails where a row is like it.
func (w *writer) insertMethod(f *code.File) {
	result, doc := code.Index().Id("Key"), "add adds a job and returns its key."
	if !w.keysKnown() {
		result, doc = code.Int(), "add adds a job and returns how many rows that are."
	}
	decl(f, []string{doc},
		code.Func().Add(queueReceiver()).Id("add").Params(ctxParam(), code.Id("db").Id("DBTX"), code.Id("job").Id("NewJob")).Params(result, code.Error()).BlockFunc(w.insertJob))
}

// insertJob emits the body of what runs the statement that adds a row. How many rows it tells to
// have changed is up to the server, where that may have been one that was there.
func (w *writer) insertJob(g *code.Group) {
	e := w.Enqueue
	_, args := w.arguments(e.One, source{one: code.Id("job")}, "")
	text := w.boundOf(code.Id("q"), e.One, args)
	known := func(key *code.Statement) {
		g.Add(ifErr(code.Nil()))
		g.Return(code.Index().Id("Key").Values(key), code.Nil())
	}
	put := code.Id("put")
	// Where one statement does it all, what it returns or counts tells whether it has written the row.
	spares := e.Spares && e.Lock == nil
	switch {
	case spares && w.keysReturned():
		g.Return(queryCall(w.newKeyScan(), text...))
	case spares && w.keysKnown():
		g.List(code.Id("n"), code.Err()).Op(":=").Add(execCall(text...))
		g.Add(ifErrOr(code.Id("n").Op("==").Lit(0), code.Nil()))
		g.Return(code.Index().Id("Key").Values(w.keyOf(code.Id("job"))), code.Nil())
	case spares:
		g.Return(execCall(text...))
	case w.keysReturned():
		g.List(put.Clone(), code.Err()).Op(":=").Add(queryCall(w.newKeyScan(), text...))
		g.If(code.Err().Op("==").Nil().Op("&&").Len(put.Clone()).Op("!=").Lit(1)).Block(
			code.Return(code.Nil(), code.Qual("errors", "New").Call(code.Lit("no row was added or changed"))))
		g.Return(put, code.Err())
	case e.AutoKey:
		g.List(code.Id("number"), code.Err()).Op(":=").Add(insertCall(text))
		known(w.numbered(code.Id("number")))
	case w.keysKnown():
		g.List(code.Id("_"), code.Err()).Op(":=").Add(execCall(text...))
		known(w.keyOf(code.Id("job")))
	default:
		g.List(code.Id("_"), code.Err()).Op(":=").Add(execCall(text...))
		g.Add(ifErr(code.Lit(0)))
		g.Return(code.Lit(1), code.Nil())
	}
}
