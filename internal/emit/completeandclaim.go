package emit

// This file writes completeandclaim.go: finishing a batch and taking the next
// one in a single commit.

import (
	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// fuses reports whether CompleteAndClaim is part of the package.
func (w *writer) fuses() bool {
	return w.CompleteAndClaim && w.Complete != nil && w.Claim != nil
}

// batches reports whether both statements of CompleteAndClaim travel in one
// round trip.
func (w *writer) batches() bool {
	return w.isPgx() && w.fuses() && !w.writesOthers() && w.Payload == nil && w.Claim.Gate == nil && (w.Claim.Flow == plan.OneStatement || w.Claim.Flow == plan.ReadOnly)
}

// writesOthers reports whether completing or claiming jobs writes other tables.
func (w *writer) writesOthers() bool { return w.Complete.WritesOthers() || len(w.Claim.With) > 0 }

// completeAndClaimFile emits
//
//	func (q *Queue) CompleteAndClaim(ctx context.Context, done []Job, kind string, limit int) (jobs []Job, err error) {
//		if len(done) == 0 {
//			return q.Claim(ctx, kind, limit)
//		}
//		if limit <= 0 {
//			return nil, q.Complete(ctx, done...)
//		}
//		var found []Key
//		ctx = q.hook.Before(ctx, "complete and claim")
//		defer func() { q.hook.After(ctx, "complete and claim", len(found)+len(jobs), err) }()
//		<both statements in one transaction>
//		if err != nil {
//			return nil, err
//		}
//		return jobs, lost("complete and claim", done, found)
//	}
func (w *writer) completeAndClaimFile() *code.File {
	f := w.newFile()
	const op = "complete and claim"
	_, typ := w.doneParam()
	params := append(append([]*code.Statement{ctxParam(), code.Id("done").Index().Id(typ)}, declared(w.narrowing())...), code.Id("limit").Int())
	doc := []string{
		"CompleteAndClaim completes done and takes up to limit further jobs, in one transaction.",
		"When the claims of some of done were lost, the error is an ErrLost that names them; everything else happened all the same and the jobs are returned with that error.",
	}
	if w.batches() {
		doc[0] = "CompleteAndClaim completes done and takes up to limit further jobs, in one round trip and one transaction."
	}
	crash := "It takes the locks of Complete and of Claim until it commits. A crash leaves both done or neither; what was claimed stays so, as after Claim."
	if w.Claim.Flow == plan.PickTake {
		doc[0] = "CompleteAndClaim completes done, then takes up to limit further jobs."
		crash = "Both take their own locks and commit by themselves. A crash between the two leaves done completed and nothing claimed."
	}
	if w.Complete.Partial {
		crash = "It takes the locks of Complete and of Claim. A crash leaves what it had done by then."
	}
	if w.Claim.Accept != nil {
		doc = append(doc, "accept is asked as by Claim, behind the completion.")
	}
	doc = append(doc, crash)
	decl(f, w.claimDoc(doc, append(settleStatements(w.Complete), w.toldStatements()...)...),
		code.Func().Add(w.receiver()).Id("CompleteAndClaim").Params(params...).Params(code.Id("jobs").Index().Id("Job"), code.Err().Error()).BlockFunc(func(g *code.Group) {
			w.checkLease(g, op, w.Claim.LeaseArg, code.Nil())
			w.asHandled(g, "done")
			w.fused(g, op)
		}))
	return f
}

// selfClaim is q.Claim(ctx, kind, limit).
func (w *writer) selfClaim(limit *code.Statement) *code.Statement {
	return w.self().Dot("Claim").Call(w.claimArgs(limit)...)
}

// selfComplete is q.Complete(ctx, done...).
func (w *writer) selfComplete() *code.Statement {
	return w.self().Dot("Complete").Call(code.Id("ctx"), code.Id("done").Op("..."))
}

// fused emits the body of CompleteAndClaim.
func (w *writer) fused(g *code.Group, op string) {
	if w.Claim.Flow == plan.PickTake {
		w.fusedInTurn(g)
		return
	}
	if w.Complete.Lock != nil || w.Complete.Rows != nil || w.Claim.Flow == plan.LockTake || w.Claim.Gate != nil || w.Claim.Collides || w.Most > 0 || w.writesOthers() {
		w.fusedWithin(g, op)
		return
	}
	g.If(empty("done")).Block(code.Return(w.selfClaim(code.Id("limit"))))
	g.If(code.Id("limit").Op("<=").Lit(0)).Block(code.Return(code.Nil(), w.selfComplete()))
	w.checkShard(g, op)
	from, finished := w.doneSource()
	from.many = code.Id("done")
	if !w.carries() {
		finished = code.Id("done")
	}
	g.Var().Id("found").Index().Id("Key")
	g.Add(observe(w.queue(), code.Lit(op), code.Len(code.Id("found")).Op("+").Len(code.Id("jobs"))))

	before, args := w.arguments(w.Complete.Statement, from, op, code.Nil())
	addAll(g, before)
	w.token(g)
	if w.hasLow() {
		g.List(code.Id("low"), code.Id("turn")).Op(":=").Add(w.queue()).Dot("low").Dot("start").Call()
	}
	claim := w.claimText(g, op)
	complete := w.bound(w.Complete.Statement, args)
	if w.batches() {
		w.fusedBatch(g, op, complete, claim)
	} else {
		w.fusedTransaction(g, op, complete, claim)
	}
	g.Add(ifErr(code.Nil()))
	w.sort(g)
	w.hold(g)
	if w.hasLow() {
		w.fusedLow(g)
	}
	g.Return(code.Id("jobs"), code.Id("lost").Call(code.Lit(op), finished, code.Id("found")))
}

// fusedInTurn emits completing and claiming one after the other, for claims
// that take several rounds:
//
//	err = q.Complete(ctx, done...)
//	if err != nil && !errors.Is(err, ErrLost) {
//		return nil, err
//	}
//	jobs, claimErr := q.Claim(ctx, limit)
//	if claimErr != nil {
//		err = errors.Join(err, claimErr)
//	}
//	return jobs, err
func (w *writer) fusedInTurn(g *code.Group) {
	g.Err().Op("=").Add(w.selfComplete())
	g.If(code.Err().Op("!=").Nil().Op("&&").Op("!").Qual("errors", "Is").Call(code.Err(), code.Id("ErrLost"))).Block(code.Return(code.Nil(), code.Err()))
	g.List(code.Id("jobs"), code.Id("claimErr")).Op(":=").Add(w.selfClaim(code.Id("limit")))
	g.If(code.Id("claimErr").Op("!=").Nil()).Block(code.Err().Op("=").Qual("errors", "Join").Call(code.Err(), code.Id("claimErr")))
	g.Return(code.Id("jobs"), code.Err())
}

// fusedWithin emits completing and claiming by the methods of that name, within
// one transaction:
//
//	var gone error
//	err = q.transact(ctx, "complete and claim", func(db DBTX) (err error) {
//		within := *q
//		within.db, within.begin, within.hook = db, nil, noHook{}
//		if _, err = query(ctx, db, scanRoom, claimGateSQL); err != nil {
//			return err // before the rows of done, as Claim does
//		}
//		if gone = within.Complete(ctx, done...); gone != nil && !errors.Is(gone, ErrLost) {
//			return gone
//		}
//		jobs, err = within.Claim(ctx, limit)
//		return err
//	})
//	if err != nil {
//		return nil, err
//	}
//	return jobs, gone
func (w *writer) fusedWithin(g *code.Group, op string) {
	within := func() *code.Statement { return code.Id("within") }
	g.Add(observe(w.queue(), code.Lit(op), code.Len(code.Id("done")).Op("+").Len(code.Id("jobs"))))
	g.Var().Id("gone").Error()
	body := []*code.Statement{w.inTransaction("within")}
	if gate := w.Claim.Gate; gate != nil && gate.Lock != nil {
		// Else a claim that has the gate may wait for the rows of done, and this one for the gate.
		body = append(body, code.If(code.List(code.Id("_"), code.Err()).Op("=").Add(queryCall("scanRoom", w.bound(gate.Lock, nil)...)), code.Err().Op("!=").Nil()).Block(
			code.Return(code.Err()).Comment("the gate is locked before the rows of done")))
	}
	g.Add(attempt(w.queue(), "transact", code.Lit(op), append(body,
		code.If(code.Id("gone").Op("=").Add(within().Dot("Complete").Call(code.Id("ctx"), code.Id("done").Op("..."))),
			code.Id("gone").Op("!=").Nil().Op("&&").Op("!").Qual("errors", "Is").Call(code.Id("gone"), code.Id("ErrLost"))).Block(code.Return(code.Id("gone"))),
		code.List(code.Id("jobs"), code.Err()).Op("=").Add(within().Dot("Claim").Call(w.claimArgs(code.Id("limit"))...)),
		code.Return(code.Err()),
	)...))
	g.Add(ifErr(code.Nil()))
	g.Return(code.Id("jobs"), code.Id("gone"))
}

// fusedTransaction emits both statements within a transaction.
func (w *writer) fusedTransaction(g *code.Group, op string, complete, claim []*code.Statement) {
	body := []*code.Statement{
		code.List(code.Id("found"), code.Err()).Op("=").Add(queryCall("scanKey", complete...)),
		ifErr(),
	}
	if w.Claim.Flow == plan.MarkRead {
		body = append(body, w.markRead(claim, op)...)
	} else {
		body = append(body, w.jobsInto("jobs", queryCall("scanJob", claim...))...)
	}
	g.Add(attempt(w.queue(), "transact", code.Lit(op), body...))
}

// fusedBatch emits both statements in one round trip, which is one transaction:
//
//	err = q.retry(ctx, "complete and claim", func(db DBTX) error {
//		both := &pgx.Batch{}
//		both.Queue(completeSQL, …).Query(func(rows pgx.Rows) (err error) {
//			found, err = collect(rows, scanKey)
//			return err
//		})
//		both.Queue(claimSQL, …).Query(…)
//		return db.SendBatch(ctx, both).Close()
//	})
func (w *writer) fusedBatch(g *code.Group, op string, complete, claim []*code.Statement) {
	queue := func(into, scan string, text []*code.Statement) *code.Statement {
		return code.Id("both").Dot("Queue").Call(spread(text[:1], text[1:])...).Dot("Query").Call(
			code.Func().Params(code.Id("rows").Qual(pgxPath, "Rows")).Params(code.Err().Error()).Block(
				code.List(code.Id(into), code.Err()).Op("=").Id("collect").Call(code.Id("rows"), code.Id(scan)),
				code.Return(code.Err()),
			))
	}
	g.Err().Op("=").Add(w.queue()).Dot("retry").Call(code.Id("ctx"), code.Lit(op), code.Func().Params(code.Id("db").Id("DBTX")).Error().Block(
		code.Id("both").Op(":=").Op("&").Qual(pgxPath, "Batch").Values(),
		queue("found", "scanKey", complete),
		queue("jobs", "scanJob", claim),
		code.Return(code.Id("db").Dot("SendBatch").Call(code.Id("ctx"), code.Id("both")).Dot("Close").Call()),
	))
}

// fusedLow emits what a claim above a bound leaves to do:
//
//	if len(jobs) == limit {
//		q.low.raise(turn, jobs[len(jobs)-1].MsgID)
//	} else if low > lowest {
//		// Jobs may have come back below the bound. An error will come again.
//		q.low.reset()
//		more, _ := q.look(ctx, lowest, limit-len(jobs))
//		jobs = append(jobs, more...)
//		slices.SortFunc(jobs, queueOrder)
//	}
func (w *writer) fusedLow(g *code.Group) {
	g.If(code.Len(code.Id("jobs")).Op("==").Id("limit")).Block(
		code.Add(w.queue()).Dot("low").Dot("raise").Call(code.Id("turn"), code.Id("jobs").Index(code.Len(code.Id("jobs")).Op("-").Lit(1)).Dot(w.Claim.Low.Field.Name)),
	).Else().If(code.Id("low").Op(">").Id("lowest")).BlockFunc(func(g *code.Group) {
		g.Comment("// Jobs may have come back below the bound. An error will come again.")
		g.Add(w.queue()).Dot("low").Dot("reset").Call()
		g.List(code.Id("more"), code.Id("_")).Op(":=").Add(w.lookCall(code.Id("lowest"), code.Id("limit").Op("-").Len(code.Id("jobs"))))
		g.Id("jobs").Op("=").Append(code.Id("jobs"), code.Id("more").Op("..."))
		w.sort(g)
	})
}
