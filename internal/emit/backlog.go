package emit

// This file writes backlog.go: the figures of the rows that wait, of each topic
// or of all of them.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"
)

// backlogFile emits
//
//	type Backlog struct {
//		Kind        string
//		Ready       int64         // rows that a claim could take now
//		OldestReady time.Duration // how long the oldest ready row has waited
//	}
//
//	func (q *Queue) Backlog(ctx context.Context) (waiting []Backlog, err error) {
//		ctx = q.hook.Before(ctx, "backlog")
//		defer func() { q.hook.After(ctx, "backlog", len(waiting), err) }()
//		err = q.retry(ctx, "backlog", func(db DBTX) (err error) {
//			waiting, err = query(ctx, db, scanBacklog, backlogSQL)
//			return err
//		})
//		return waiting, err
//	}
//
// and where there are no topics one Backlog, as Stats is.
func (w *writer) backlogFile() *code.File {
	f, back := w.newFile(), w.Backlog
	s := back.Statement
	embed(f, s)
	what := "of the rows that wait"
	if len(back.Topics) > 0 {
		var names []string
		for _, field := range back.Topics {
			names = append(names, field.Name)
		}
		what += " and have the same " + strings.Join(names, " and ")
	}
	doc := "Backlog are figures " + what + ", at one moment."
	if slices.ContainsFunc(back.Fields, isSpan) {
		doc = strings.TrimSuffix(doc, ".") + durationNote
	}
	decl(f, []string{doc},
		code.Type().Id("Backlog").StructFunc(func(g *code.Group) {
			for _, field := range back.Topics {
				g.Id(field.Name).Add(w.fieldType(field)).Comment(sqlType(field))
			}
			w.figureFields(g, back.Fields)
		}))
	params := slices.Concat([]*code.Statement{ctxParam()}, declared(w.timeout(s)))
	if len(back.Topics) == 0 {
		w.oneRowMethod(f, "Backlog", "Backlog", params, s, back.Doc)
	} else {
		w.rowsMethod(f, "Backlog", "Backlog", "waiting", params, s, back.Doc)
	}
	w.scanBacklogFunc(f)
	return f
}

// scanBacklogFunc emits
//
//	func scanBacklog(r row) (Backlog, error) {
//		var b Backlog
//		var oldestReadySeconds *float64
//		err := r.Scan(&b.Kind, &b.Ready, &oldestReadySeconds)
//		if err != nil {
//			return b, err
//		}
//		b.OldestReady = span(oldestReadySeconds)
//		return b, nil
//	}
func (w *writer) scanBacklogFunc(f *code.File) {
	var scan scanning
	for _, field := range w.Backlog.Topics {
		target := code.Id("b").Dot(field.Name)
		if field.TimeIsText() {
			w.scanText(&scan, field, target, code.Return(code.Id("b"), code.Err()))
			continue
		}
		w.scanField(&scan, field, target)
	}
	for _, field := range w.Backlog.Fields {
		scanFigure(&scan, field, code.Id("b").Dot(field.Name))
	}
	decl(f, []string{"scanBacklog reads a row of the statement."},
		code.Func().Id("scanBacklog").Params(code.Id("r").Id("row")).Params(code.Id("Backlog"), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("b").Id("Backlog")
			w.scanBody(g, scan, code.Id("b"))
		}))
}
