package emit

// This file writes payload.go: what jobs have in other tables.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// payloadFile writes payload.go, less the functions that read rows.
func (w *writer) payloadFile() *code.File {
	f := w.newFile()
	embed(f, w.Payload.Statement)
	return f
}

// jobsInto is the end of an attempt that reads jobs:
//
//	jobs, err = query(ctx, db, scanJob, text, args...)
//	return err
//
// and, where they have something in other tables,
//
//	if jobs, err = query(ctx, db, scanJob, text, args...); err != nil {
//		return err
//	}
//	jobs, err = withPayload(ctx, db, jobs)
//	return err
func (w *writer) jobsInto(rows string, call *code.Statement) []*code.Statement {
	if w.payloadBehind() {
		return []*code.Statement{readInto(rows, call)}
	}
	return w.jobsOf(w.queue(), rows, call)
}

// payloadBehind reports whether a claim reads what its jobs have in other tables last of all,
// because it writes other tables for them.
func (w *writer) payloadBehind() bool { return w.Payload != nil && len(w.Claim.With) > 0 }

// jobsOf is jobsInto where queue is the expression for the queue.
func (w *writer) jobsOf(queue *code.Statement, rows string, call *code.Statement) []*code.Statement {
	if w.Payload == nil {
		return []*code.Statement{readInto(rows, call)}
	}
	return []*code.Statement{
		ifAssign(code.List(code.Id(rows), code.Err()).Op("=").Add(call)),
		readInto(rows, w.payloadCall(queue, rows)),
	}
}

// payloadCall is withPayload(ctx, db, jobs).
func (w *writer) payloadCall(queue *code.Statement, rows string) *code.Statement {
	args := []*code.Statement{code.Id("ctx"), code.Id("db"), code.Id(rows)}
	if w.Tables != nil {
		args = append(args, w.textOf(queue, w.Payload.Statement))
	}
	return code.Id("withPayload").Call(args...)
}

// withPayloadFunc emits
//
//	func withPayload(ctx context.Context, db DBTX, jobs []Job) ([]Job, error) {
//		if len(jobs) == 0 {
//			return jobs, nil
//		}
//		found, err := query(ctx, db, scanPayload, payloadSQL, …jobs…)
//		if err != nil {
//			return nil, err
//		}
//		byKey := make(map[Key]Job, len(found))
//		for _, j := range found {
//			byKey[j.Key()] = j
//		}
//		there := jobs[:0]
//		for _, j := range jobs {
//			if from, ok := byKey[j.Key()]; ok {
//				j.Content = from.Content
//				there = append(there, j)
//			}
//		}
//		return there, nil
//	}
//
// It asks in parts where one statement names a limited number of jobs.
func (w *writer) withPayloadFunc(f *code.File) {
	s := w.Payload.Statement
	lists := slices.ContainsFunc(s.Args, plan.Arg.IsList)
	part := "jobs"
	if lists {
		part = "part"
	}
	text, params := code.Id(s.Var), []*code.Statement{ctxParam(), code.Id("db").Id("DBTX"), code.Id("jobs").Index().Id("Job")}
	if w.Tables != nil {
		text, params = code.Id("text"), append(params, code.Id("text").String())
	}
	before, args := w.arguments(s, source{many: code.Id(part), item: code.Id("Job")}, "", code.Nil())
	ask := append(before,
		code.List(code.Id("found"), code.Err()).Op(":=").Add(queryCall("scanPayload", append([]*code.Statement{text}, args...)...)),
		ifErr(code.Nil()))
	keep := code.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("found")).Block(
		code.Id("byKey").Index(code.Id("j").Dot("Key").Call()).Op("=").Id("j"))
	size := "found"
	if lists {
		size = "jobs"
	}
	byKey := code.Id("byKey").Op(":=").Make(code.Map(code.Id("Key")).Id("Job"), code.Len(code.Id(size)))
	decl(f, []string{"withPayload fills in what jobs have in other tables. It leaves out those whose rows are gone."},
		code.Func().Id("withPayload").Params(params...).Params(code.Index().Id("Job"), code.Error()).BlockFunc(func(g *code.Group) {
			if lists {
				g.Add(byKey)
				g.For(code.Id("part").Op(":=").Range().Qual("slices", "Chunk").Call(code.Id("jobs"), code.Id("mostJobs"))).Block(append(ask, keep)...)
			} else {
				g.If(empty("jobs")).Block(code.Return(code.Id("jobs"), code.Nil()))
				addAll(g, ask)
				g.Add(byKey)
				g.Add(keep)
			}
			g.Id("there").Op(":=").Id("jobs").Index(code.Op(":").Lit(0))
			g.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(
				code.If(code.List(code.Id("from"), code.Id("ok")).Op(":=").Id("byKey").Index(code.Id("j").Dot("Key").Call()), code.Id("ok")).BlockFunc(func(g *code.Group) {
					for _, field := range w.Payload.Fields {
						g.Id("j").Dot(field.Name).Op("=").Id("from").Dot(field.Name)
					}
					if w.mayNotRead() {
						g.Id("j").Dot("Err").Op("=").Qual("errors", "Join").Call(code.Id("j").Dot("Err"), code.Id("from").Dot("Err"))
					}
					g.Id("there").Op("=").Append(code.Id("there"), code.Id("j"))
				}),
			)
			g.Return(code.Id("there"), code.Nil())
		}))
}

// scanPayloadFunc reads what jobs have in other tables.
func (w *writer) scanPayloadFunc(f *code.File) {
	w.scanFunc(f, "scanPayload", "reads the key of a job and what it has in other tables", w.Payload.Statement.Rows)
}
