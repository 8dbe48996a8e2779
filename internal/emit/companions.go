package emit

// This file writes operations that change other tables in their transaction: the
// rows are locked, the other tables written, and then the rows themselves.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// execOrReturn emits
//
//	if _, err := exec(ctx, db, text, …); err != nil {
//		return err
//	}
func execOrReturn(text []*code.Statement, results ...*code.Statement) *code.Statement {
	return ifAssign(code.List(code.Id("_"), code.Err()).Op(":=").Add(execCall(text...)), results...)
}

// reserved emits what a transaction runs before it reads, where there is such a thing.
func (w *writer) reserved(results ...*code.Statement) []*code.Statement {
	if w.Reserve == nil {
		return nil
	}
	return []*code.Statement{execOrReturn([]*code.Statement{w.text(w.Reserve)}, results...)}
}

// reserveVar embeds the statement that takes the lock for writing.
func (w *writer) reserveVar(f *code.File) { embed(f, w.Reserve) }

// inTurn emits statements that return nothing, one after the other, within a function
// that returns results and an error.
func (w *writer) inTurn(queue *code.Statement, statements []*plan.Statement, from source, results ...*code.Statement) []*code.Statement {
	var lines []*code.Statement
	if from.batches == nil {
		from.batches = map[string]string{}
	}
	for _, s := range statements {
		before, args := w.arguments(s, from, "", results...)
		lines = append(append(lines, before...), execOrReturn(w.boundOf(queue.Clone(), s, args), results...))
	}
	return lines
}

// settled emits the end of an operation over claimed jobs. Where nothing else is
// written it is
//
//	return q.settle(ctx, "complete", jobs, completeSQL, …)
//
// and otherwise
//
//	return q.settleWith(ctx, "complete", jobs, func(db DBTX) (found []Key, err error) {
//		found, err = query(ctx, db, scanKey, completeLockSQL, …)
//		if err != nil || len(found) == 0 {
//			return nil, err
//		}
//		held := stillHeld(jobs, found)
//		if _, err := exec(ctx, db, completeMoveSQL, …); err != nil {
//			return nil, err
//		}
//		written, err := query(ctx, db, scanKey, completeSQL, …)
//		if err != nil {
//			return nil, err
//		}
//		if err := whole(found, written); err != nil {
//			return nil, err
//		}
//		return found, nil
//	})
//
// It returns the call, and what has to stand before it.
func (w *writer) settled(op string, jobs *code.Statement, s *plan.Settle, from source) (before []*code.Statement, call *code.Statement) {
	if !s.WritesOthers() {
		before, args := w.arguments(s.Statement, from, op)
		return before, w.settleCall(op, jobs, s, args)
	}
	lines := append(w.lockedKeys(s, from, code.Nil()), w.writtenWhole(w.queue(), s.With, s.Statement, s.Behind, heldOf(from), code.Id("found"), code.Nil())...)
	lines = append(lines, code.Return(code.Id("found"), code.Nil()))
	return nil, w.queue().Dot("settleWith").Call(code.Id("ctx"), code.Lit(op), jobs,
		code.Func().Params(code.Id("db").Id("DBTX")).Params(code.Id("found").Index().Id("Key"), code.Err().Error()).Block(lines...))
}

// writtenWhole emits what follows the locking of rows, whose keys are found: statements over
// other tables, the last, which writes the rows, nil where they stay as they are, and what is
// written to other tables behind it. Where it returns their keys
//
//	written, err := query(ctx, db, scanKey, completeSQL, …)
//	if err != nil {
//		return err
//	}
//	if err := whole(found, written); err != nil {
//		return err
//	}
func (w *writer) writtenWhole(queue *code.Statement, with []*plan.Statement, last *plan.Statement, behind []*plan.Statement, from source, found *code.Statement, results ...*code.Statement) []*code.Statement {
	if last == nil || len(last.Rows) == 0 {
		return w.inTurn(queue, present(append(append(slices.Clone(with), last), behind...)...), from, results...)
	}
	from.batches = map[string]string{}
	lines := w.inTurn(queue, with, from, results...)
	before, args := w.arguments(last, from, "", results...)
	lines = append(append(lines, before...),
		code.List(code.Id("written"), code.Err()).Op(":=").Add(queryCall("scanKey", w.boundOf(queue.Clone(), last, args)...)),
		ifErr(results...),
		ifAssign(code.Err().Op(":=").Id("whole").Call(found, code.Id("written")), results...))
	return append(lines, w.inTurn(queue, behind, from, results...)...)
}

// wholeFunc emits
//
//	func whole(found, written []Key) error {
//		has := make(map[Key]bool, len(written))
//		for _, key := range written {
//			has[key] = true
//		}
//		for _, key := range found {
//			if !has[key] {
//				return fmt.Errorf("…", key)
//			}
//		}
//		return nil
//	}
func (w *writer) wholeFunc(f *code.File) {
	decl(f, []string{"whole returns an error unless every row was written that had been found and locked: what a step writes to other tables may have changed one."},
		code.Func().Id("whole").Params(code.List(code.Id("found"), code.Id("written")).Index().Id("Key")).Error().Block(
			code.Id("has").Op(":=").Make(code.Map(code.Id("Key")).Bool(), code.Len(code.Id("written"))),
			code.For(code.List(code.Id("_"), code.Id("key")).Op(":=").Range().Id("written")).Block(
				code.Id("has").Index(code.Id("key")).Op("=").True(),
			),
			code.For(code.List(code.Id("_"), code.Id("key")).Op(":=").Range().Id("found")).Block(
				code.If(code.Op("!").Id("has").Index(code.Id("key"))).Block(
					code.Return(code.Qual("fmt", "Errorf").Call(code.Lit("row %v was locked and then not found: what is written to other tables changes it, so nothing is written"), code.Id("key")))),
			),
			code.Return(code.Nil()),
		))
}

// lockedKeys emits the locking of the rows of jobs, from which on held are the jobs whose
// claims are still theirs. Where it finds none it returns.
func (w *writer) lockedKeys(s *plan.Settle, from source, results ...*code.Statement) []*code.Statement {
	before, args := w.arguments(s.Lock, source{many: from.many, item: from.item, done: from.done, named: "locked"}, "", results...)
	assign := code.List(code.Id("found"), code.Err()).Op("=")
	if len(results) == 0 {
		assign = code.List(code.Id("found"), code.Err()).Op(":=")
	}
	lines := append(before, w.reserved(results...)...)
	return append(lines,
		assign.Add(readCall(reader(s.Lock), "scanKey", w.bound(s.Lock, args)...)),
		ifErrOr(empty("found"), results...),
		code.Id("held").Op(":=").Id("stillHeld").Call(from.many.Clone(), code.Id("found")),
	)
}

// heldOf is a source over the jobs that are still held.
func heldOf(from source) source {
	from.many = code.Id("held")
	return from
}

// settleWithMethod emits
//
//	func (q *Queue) settleWith(ctx context.Context, op string, jobs []Job, write func(db DBTX) ([]Key, error)) (err error) {
//		var found []Key
//		ctx = q.hook.Before(ctx, op)
//		defer func() { q.hook.After(ctx, op, len(found), err) }()
//		err = q.transact(ctx, op, func(db DBTX) (err error) {
//			found, err = write(db)
//			return err
//		})
//		if err != nil {
//			return err
//		}
//		return lost(op, jobs, found)
//	}
func (w *writer) settleWithMethod(f *code.File) {
	decl(f, []string{"settleWith runs write in a transaction: it locks the rows of jobs where the claim is still theirs, changes them and what belongs to them in other tables, and returns their keys. The other jobs are lost."},
		code.Func().Add(queueReceiver()).Id("settleWith").Params(ctxParam(), code.Id("op").String(), code.Id("jobs").Index().Id("Job"),
			code.Id("write").Func().Params(code.Id("db").Id("DBTX")).Params(code.Index().Id("Key"), code.Error())).Params(code.Err().Error()).Block(
			code.Var().Id("found").Index().Id("Key"),
			observe(code.Id("q"), code.Id("op"), code.Len(code.Id("found"))),
			attempt(code.Id("q"), "transact", code.Id("op"),
				code.List(code.Id("found"), code.Err()).Op("=").Id("write").Call(code.Id("db")),
				code.Return(code.Err())),
			ifErr(),
			code.Return(code.Id("lost").Call(code.Id("op"), code.Id("jobs"), code.Id("found"))),
		))
}

// stillHeldFunc emits
//
//	func stillHeld[J interface {
//		Key() Key
//		claimText() string
//	}](jobs []J, found []Key) []J {
//		locked := make(map[Key]bool, len(found))
//		for _, key := range found {
//			locked[key] = true
//		}
//		seen := make(map[string]bool, len(found))
//		var held []J
//		for _, job := range jobs {
//			if claim := job.claimText(); locked[job.Key()] && !seen[claim] {
//				seen[claim] = true
//				held = append(held, job)
//			}
//		}
//		return held
//	}
func (w *writer) stillHeldFunc(f *code.File) {
	job, claim := code.Id("job"), func() *code.Statement { return code.Id("claim") }
	decl(f, []string{"stillHeld returns those of jobs whose rows are among found, each claim once."},
		code.Func().Id("stillHeld").Types(code.Id("J").Interface(code.Id("Key").Params().Id("Key"), code.Id("claimText").Params().String())).
			Params(code.Id("jobs").Index().Id("J"), code.Id("found").Index().Id("Key")).Index().Id("J").Block(
			code.Id("locked").Op(":=").Make(code.Map(code.Id("Key")).Bool(), code.Len(code.Id("found"))),
			code.For(code.List(code.Id("_"), code.Id("key")).Op(":=").Range().Id("found")).Block(
				code.Id("locked").Index(code.Id("key")).Op("=").True(),
			),
			code.Id("seen").Op(":=").Make(code.Map(code.String()).Bool(), code.Len(code.Id("found"))),
			code.Var().Id("held").Index().Id("J"),
			code.For(code.List(code.Id("_"), job.Clone()).Op(":=").Range().Id("jobs")).Block(
				code.If(claim().Op(":=").Add(job.Clone().Dot("claimText").Call()), code.Id("locked").Index(job.Clone().Dot("Key").Call()).Op("&&").Op("!").Id("seen").Index(claim())).Block(
					code.Id("seen").Index(claim()).Op("=").True(),
					code.Id("held").Op("=").Append(code.Id("held"), job.Clone()),
				),
			),
			code.Return(code.Id("held")),
		))
}

// claimTextMethod emits
//
//	func (j Job) claimText() string { return fmt.Sprint(j.Key(), j.Token) }
func (w *writer) claimTextMethod(f *code.File) {
	parts := []*code.Statement{code.Id("j").Dot("Key").Call()}
	for _, field := range w.Fence {
		part := code.Id("j").Dot(field.Name)
		if isSlice(field) {
			part = code.String().Call(part)
		}
		parts = append(parts, part)
	}
	decl(f, []string{"claimText tells the claims of jobs apart."},
		code.Func().Add(jobReceiver()).Id("claimText").Params().String().Add(inline(code.Return(code.Qual("fmt", "Sprint").Call(parts...)))))
}

// claimedWith emits the end of an attempt that has taken jobs, which otherwise returns
// err: other tables are written for them.
//
//	if err != nil || len(jobs) == 0 {
//		return err
//	}
//	if _, err := exec(ctx, db, claimInsertFiredSQL, …); err != nil {
//		return err
//	}
//	return nil
//
// and what jobs have in other tables is read behind that, in the place of return nil:
//
//	jobs, err = withPayload(ctx, db, jobs)
//	return err
func (w *writer) claimedWith(jobs string) []*code.Statement {
	lines := []*code.Statement{ifErrOr(empty(jobs))}
	lines = append(lines, w.inTurn(w.queue(), w.Claim.With, source{many: code.Id(jobs), item: code.Id("Job"), lists: true})...)
	if w.payloadBehind() {
		return append(lines, readInto(jobs, w.payloadCall(w.queue(), jobs)))
	}
	return append(lines, code.Return(code.Nil()))
}

// taking is an attempt at a claim whose body fills jobs and returns. Where other tables
// are written as well, the body runs within a function of its own:
//
//	err = q.transact(ctx, "claim", func(db DBTX) error {
//		err := func() (err error) {
//			<body>
//		}()
//		<see claimedWith>
//	})
func (w *writer) taking(jobs string, body ...*code.Statement) *code.Statement {
	how := "retry"
	if w.transacts() {
		how = "transact"
	}
	if len(w.Claim.With) > 0 {
		took := code.Err().Op("=").Func().Params().Params(code.Err().Error()).Block(body...).Call()
		body = append([]*code.Statement{took}, w.claimedWith(jobs)...)
	}
	return attempt(w.queue(), how, code.Lit("claim"), body...)
}

// sweepLocked emits the attempt at a statement over rows that are locked first, for
// which other tables are written:
//
//	err = q.transact(ctx, "recover", func(db DBTX) error {
//		n = 0
//		held, err := query(ctx, db, scanCandidate, recoverLockSQL, limit)
//		if err != nil || len(held) == 0 {
//			return err
//		}
//		if _, err := exec(ctx, db, recoverMoveSQL, …); err != nil {
//			return err
//		}
//		…
//		n = len(held)
//		return nil
//	})
func (w *writer) sweepLocked(g *code.Group, op string, s plan.SweepStep, count string, left *code.Statement) {
	_, args := w.arguments(s.Lock, source{limit: left, lists: true}, "")
	lines := append([]*code.Statement{code.Id(count).Op("=").Lit(0)}, w.reserved()...)
	lines = append(lines,
		code.List(code.Id("held"), code.Err()).Op(":=").Add(readCall(reader(s.Lock), "scanCandidate", w.boundOf(code.Id("q"), s.Lock, args)...)),
		ifErrOr(empty("held")))
	keys := code.Id("column").Call(code.Id("held"), code.Id("Job").Dot("Key"))
	lines = append(lines, w.writtenWhole(code.Id("q"), s.With, s.Statement, s.Behind, source{many: code.Id("held"), item: code.Id("Job")}, keys)...)
	lines = append(lines, code.Id(count).Op("=").Len(code.Id("held")), code.Return(code.Nil()))
	g.Add(code.Err().Op("=").Id("q").Dot("transact").Call(code.Id("ctx"), code.Lit(op),
		code.Func().Params(code.Id("db").Id("DBTX")).Error().Block(lines...)))
}

// limitsSweep reports whether a sweep touches no more than Most rows, whatever limit says.
func (w *writer) limitsSweep(s *plan.Sweep) bool { return w.MostTaken > 0 || w.sweepNamesRows(s) }

// sweepNamesRows reports whether a sweep names the rows in the text of a statement.
func (w *writer) sweepNamesRows(s *plan.Sweep) bool {
	return slices.ContainsFunc(s.Statements(), func(s *plan.Statement) bool { return s.Has(plan.ArgList) })
}
