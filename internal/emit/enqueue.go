package emit

// This file writes enqueue.go. The keys of new rows come back from the
// database, or were given by the caller, or are not known before a claim;
// then Enqueue returns an error alone.

import (
	"github.com/dave/jennifer/jen"
)

// enqueueFile writes enqueue.go.
func (w *writer) enqueueFile() *jen.File {
	e := w.Enqueue
	f := w.newFile()
	if e.Many != nil {
		embed(f, e.One, e.Many)
	} else {
		embed(f, e.One)
	}
	w.enqueueMethod(f)
	w.enqueueManyMethod(f)
	return f
}

// keysReturned reports whether the statements return the keys of new rows.
func (w *writer) keysReturned() bool { return len(w.Enqueue.One.Rows) > 0 }

// keysKnown reports whether Enqueue returns a key.
func (w *writer) keysKnown() bool { return w.keysReturned() || w.Enqueue.KeyGiven }

// newKeyScan is the function that reads the key of a row just added.
func (w *writer) newKeyScan() string {
	if sameFields(w.Enqueue.One.Rows, w.Key) {
		return "scanKey"
	}
	return "scanNewKey"
}

// enqueueResults are the results of Enqueue and EnqueueMany, and what they
// return with an error.
func (w *writer) enqueueResults(name string, typ *jen.Statement, none jen.Code) (results []jen.Code, fail []jen.Code) {
	if !w.keysKnown() {
		return []jen.Code{jen.Err().Error()}, nil
	}
	return []jen.Code{jen.Id(name).Add(typ), jen.Err().Error()}, []jen.Code{none}
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
func (w *writer) enqueueMethod(f *jen.File) {
	e := w.Enqueue
	_, args := w.arguments(e.One, source{one: jen.Id("job")}, "enqueue")
	text := append([]jen.Code{jen.Id(e.One.Var)}, args...)
	results, fail := w.enqueueResults("key", jen.Id("Key"), jen.Id("key"))
	notAdded := jen.Return(append(fail[:len(fail):len(fail)], jen.Qual("errors", "New").Call(jen.Lit(w.Name+": enqueue: no row was added")))...)
	decl(f, docOf(e.Doc, e.One),
		jen.Func().Add(queueReceiver()).Id("Enqueue").Params(ctxParam(), jen.Id("job").Id("NewJob")).Params(results...).BlockFunc(func(g *jen.Group) {
			if w.keysReturned() {
				g.Var().Id("keys").Index().Id("Key")
				g.Add(observe(jen.Id("q"), jen.Lit("enqueue"), jen.Len(jen.Id("keys"))))
				g.Add(attempt(jen.Id("q"), "retry", jen.Lit("enqueue"), queryInto("keys", w.newKeyScan(), text...)))
				g.Add(ifErr(fail...))
				g.If(jen.Len(jen.Id("keys")).Op("!=").Lit(1)).Block(notAdded)
				if e.KeyGiven && w.hasLow() {
					g.Id("q").Dot("low").Dot("lower").Call(jen.Id("keys").Index(jen.Lit(0)))
				}
				g.Return(jen.Id("keys").Index(jen.Lit(0)), jen.Nil())
				return
			}
			g.Var().Id("added").Int()
			g.Add(observe(jen.Id("q"), jen.Lit("enqueue"), jen.Id("added")))
			g.Add(attempt(jen.Id("q"), "retry", jen.Lit("enqueue"),
				jen.List(jen.Id("added"), jen.Err()).Op("=").Add(execCall(text...)),
				jen.Return(jen.Err())))
			g.Add(ifErr(fail...))
			g.If(jen.Id("added").Op("!=").Lit(1)).Block(notAdded)
			if !w.keysKnown() {
				g.Return(jen.Nil())
				return
			}
			if w.hasLow() {
				g.Add(w.lower(jen.Id("job")))
			}
			g.Return(w.keyOf(jen.Id("job")), jen.Nil())
		}))
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
func (w *writer) enqueueManyMethod(f *jen.File) {
	e := w.Enqueue
	add := w.addOneByOne
	doc := docOf(e.ManyDoc, e.One)
	if e.Many != nil {
		add = w.addChunks
		doc = docOf(e.ManyDoc, e.Many)
		f.Line()
		f.Comment("// enqueueChunk is the most jobs that one statement adds.")
		f.Const().Id("enqueueChunk").Op("=").Lit(1000)
	}
	results, fail := w.enqueueResults("keys", jen.Index().Id("Key"), jen.Nil())
	decl(f, doc,
		jen.Func().Add(queueReceiver()).Id("EnqueueMany").Params(ctxParam(), jen.Id("news").Index().Id("NewJob")).Params(results...).BlockFunc(func(g *jen.Group) {
			g.If(jen.Len(jen.Id("news")).Op("==").Lit(0)).Block(jen.Return(append(fail[:len(fail):len(fail)], jen.Nil())...))
			count := jen.Len(jen.Id("keys"))
			if !w.keysKnown() {
				g.Var().Id("n").Int()
				count = jen.Id("n")
			}
			g.Add(observe(jen.Id("q"), jen.Lit("enqueue"), count))
			g.Err().Op("=").Id("q").Dot("transact").Call(jen.Id("ctx"), jen.Lit("enqueue"), jen.Func().Params(jen.Id("db").Id("DBTX")).Error().BlockFunc(func(g *jen.Group) {
				if w.keysKnown() {
					g.Id("keys").Op("=").Make(jen.Index().Id("Key"), jen.Lit(0), jen.Len(jen.Id("news")))
				} else {
					g.Id("n").Op("=").Lit(0)
				}
				add(g)
				g.Return(jen.Nil())
			}))
			if !w.keysKnown() {
				g.Return(jen.Err())
				return
			}
			g.Add(ifErr(jen.Nil()))
			if e.KeyGiven && w.hasLow() {
				g.For(jen.List(jen.Id("_"), jen.Id("key")).Op(":=").Range().Id("keys")).Block(
					jen.Id("q").Dot("low").Dot("lower").Call(jen.Id("key")))
			}
			g.Return(jen.Id("keys"), jen.Nil())
		}))
}

// addChunks emits the loop over chunks of jobs.
func (w *writer) addChunks(g *jen.Group) {
	e := w.Enqueue
	before, args := w.arguments(e.Many, source{many: jen.Id("chunk"), item: jen.Id("NewJob")}, "")
	text := append([]jen.Code{jen.Id(e.Many.Var)}, args...)
	g.For(jen.Id("chunk").Op(":=").Range().Qual("slices", "Chunk").Call(jen.Id("news"), jen.Id("enqueueChunk"))).BlockFunc(func(g *jen.Group) {
		addAll(g, before)
		w.addRows(g, text, jen.Len(jen.Id("chunk")))
		if !w.keysReturned() && w.keysKnown() {
			g.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("chunk")).Block(
				jen.Id("keys").Op("=").Append(jen.Id("keys"), w.keyOf(jen.Id("job"))))
		}
	})
}

// addOneByOne emits the loop over jobs where no statement adds many.
func (w *writer) addOneByOne(g *jen.Group) {
	e := w.Enqueue
	_, args := w.arguments(e.One, source{one: jen.Id("job")}, "")
	text := append([]jen.Code{jen.Id(e.One.Var)}, args...)
	each := jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("news")
	if len(args) == 0 {
		each = jen.Range().Id("news")
	}
	g.For(each).BlockFunc(func(g *jen.Group) {
		w.addRows(g, text, jen.Lit(1))
		if !w.keysReturned() && w.keysKnown() {
			g.Id("keys").Op("=").Append(jen.Id("keys"), w.keyOf(jen.Id("job")))
		}
	})
}

// addRows emits one run of a statement that adds want rows.
func (w *writer) addRows(g *jen.Group, text []jen.Code, want *jen.Statement) {
	count := jen.Id("added")
	if w.keysReturned() {
		g.List(jen.Id("added"), jen.Err()).Op(":=").Add(queryCall(w.newKeyScan(), text...))
		count = jen.Len(jen.Id("added"))
	} else {
		g.List(jen.Id("added"), jen.Err()).Op(":=").Add(execCall(text...))
	}
	g.Add(ifErr())
	g.If(count.Clone().Op("!=").Add(want.Clone())).Block(
		jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit("%d of %d rows were added"), count.Clone(), want.Clone())))
	switch {
	case w.keysReturned():
		g.Id("keys").Op("=").Append(jen.Id("keys"), jen.Id("added").Op("..."))
	case !w.keysKnown():
		g.Id("n").Op("+=").Id("added")
	}
}
