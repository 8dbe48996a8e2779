package emit

// This file writes enqueue.go.

import (
	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
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

// newKeyRows are the columns in which the statements return the key.
func (w *writer) newKeyRows() []*plan.Field { return w.Enqueue.One.Rows }

// newKeyScan is the function that reads the key of a row just added.
func (w *writer) newKeyScan() string {
	if sameFields(w.newKeyRows(), w.Key) {
		return "scanKey"
	}
	return "scanNewKey"
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
	notAdded := jen.Qual("errors", "New").Call(jen.Lit(w.Name + ": enqueue: no row was added"))
	decl(f, docOf(e.Doc, e.One),
		jen.Func().Add(queueReceiver()).Id("Enqueue").Params(ctxParam(), jen.Id("job").Id("NewJob")).Params(jen.Id("key").Id("Key"), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			if e.KeyGiven {
				g.Var().Id("added").Int()
				g.Add(observe(jen.Id("q"), jen.Lit("enqueue"), jen.Id("added")))
				g.Add(attempt(jen.Id("q"), "retry", jen.Lit("enqueue"),
					jen.List(jen.Id("added"), jen.Err()).Op("=").Add(execCall(append([]jen.Code{jen.Id(e.One.Var)}, args...)...)),
					jen.Return(jen.Err())))
				g.Add(ifErr(jen.Id("key")))
				g.If(jen.Id("added").Op("!=").Lit(1)).Block(jen.Return(jen.Id("key"), notAdded))
				if w.hasLow() {
					g.Add(w.lower(jen.Id("job")))
				}
				g.Return(w.keyOf(jen.Id("job")), jen.Nil())
				return
			}
			g.Var().Id("keys").Index().Id("Key")
			g.Add(observe(jen.Id("q"), jen.Lit("enqueue"), jen.Len(jen.Id("keys"))))
			g.Add(attempt(jen.Id("q"), "retry", jen.Lit("enqueue"), queryInto("keys", w.newKeyScan(), append([]jen.Code{jen.Id(e.One.Var)}, args...)...)))
			g.Add(ifErr(jen.Id("key")))
			g.If(jen.Len(jen.Id("keys")).Op("!=").Lit(1)).Block(jen.Return(jen.Id("key"), notAdded))
			g.Return(jen.Id("keys").Index(jen.Lit(0)), jen.Nil())
		}))
}

// enqueueManyMethod emits
//
//	func (q *Queue) EnqueueMany(ctx context.Context, jobs []NewJob) (keys []Key, err error) {
//		if len(jobs) == 0 {
//			return nil, nil
//		}
//		…
//		err = q.transact(ctx, "enqueue", func(db DBTX) error {
//			keys = make([]Key, 0, len(jobs))
//			for chunk := range slices.Chunk(jobs, 1000) {
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
	decl(f, doc,
		jen.Func().Add(queueReceiver()).Id("EnqueueMany").Params(ctxParam(), jen.Id("jobs").Index().Id("NewJob")).Params(jen.Id("keys").Index().Id("Key"), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			g.If(jen.Len(jen.Id("jobs")).Op("==").Lit(0)).Block(jen.Return(jen.Nil(), jen.Nil()))
			g.Add(observe(jen.Id("q"), jen.Lit("enqueue"), jen.Len(jen.Id("keys"))))
			g.Err().Op("=").Id("q").Dot("transact").Call(jen.Id("ctx"), jen.Lit("enqueue"), jen.Func().Params(jen.Id("db").Id("DBTX")).Error().BlockFunc(func(g *jen.Group) {
				g.Id("keys").Op("=").Make(jen.Index().Id("Key"), jen.Lit(0), jen.Len(jen.Id("jobs")))
				add(g)
				g.Return(jen.Nil())
			}))
			g.Add(ifErr(jen.Nil()))
			if e.KeyGiven && w.hasLow() {
				g.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("jobs")).Block(w.lower(jen.Id("job")))
			}
			g.Return(jen.Id("keys"), jen.Nil())
		}))
}

// addChunks emits the loop over chunks of jobs.
func (w *writer) addChunks(g *jen.Group) {
	e := w.Enqueue
	before, args := w.arguments(e.Many, source{many: jen.Id("chunk"), item: jen.Id("NewJob")}, "")
	text := append([]jen.Code{jen.Id(e.Many.Var)}, args...)
	g.For(jen.Id("chunk").Op(":=").Range().Qual("slices", "Chunk").Call(jen.Id("jobs"), jen.Id("enqueueChunk"))).BlockFunc(func(g *jen.Group) {
		addAll(g, before)
		count := jen.Len(jen.Id("added"))
		if e.KeyGiven {
			g.List(jen.Id("added"), jen.Err()).Op(":=").Add(execCall(text...))
			count = jen.Id("added")
		} else {
			g.List(jen.Id("added"), jen.Err()).Op(":=").Add(queryCall(w.newKeyScan(), text...))
		}
		g.Add(ifErr())
		g.If(count.Clone().Op("!=").Len(jen.Id("chunk"))).Block(
			jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit("%d of %d rows were added"), count, jen.Len(jen.Id("chunk")))))
		if e.KeyGiven {
			g.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("chunk")).Block(
				jen.Id("keys").Op("=").Append(jen.Id("keys"), w.keyOf(jen.Id("job"))))
			return
		}
		g.Id("keys").Op("=").Append(jen.Id("keys"), jen.Id("added").Op("..."))
	})
}

// addOneByOne emits the loop over jobs where no statement adds many.
func (w *writer) addOneByOne(g *jen.Group) {
	e := w.Enqueue
	_, args := w.arguments(e.One, source{one: jen.Id("job")}, "enqueue")
	text := append([]jen.Code{jen.Id(e.One.Var)}, args...)
	g.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("jobs")).BlockFunc(func(g *jen.Group) {
		if e.KeyGiven {
			g.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(execCall(text...)), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
			g.Id("keys").Op("=").Append(jen.Id("keys"), w.keyOf(jen.Id("job")))
			return
		}
		g.List(jen.Id("added"), jen.Err()).Op(":=").Add(queryCall(w.newKeyScan(), text...))
		g.Add(ifErr())
		g.Id("keys").Op("=").Append(jen.Id("keys"), jen.Id("added").Op("..."))
	})
}
