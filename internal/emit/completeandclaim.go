package emit

// This file writes completeandclaim.go: finishing a batch and taking the next
// one in a single commit.

import (
	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

// fuses reports whether CompleteAndClaim is part of the package.
func (w *writer) fuses() bool {
	return w.CompleteAndClaim && w.Complete != nil && w.Claim != nil
}

// batches reports whether both statements of CompleteAndClaim travel in one
// round trip.
func (w *writer) batches() bool {
	return w.isPgx() && w.fuses() && (w.Claim.Flow == plan.OneStatement || w.Claim.Flow == plan.ReadOnly)
}

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
func (w *writer) completeAndClaimFile() *jen.File {
	f := w.newFile()
	const op = "complete and claim"
	_, typ := w.doneParam()
	params := append(append([]jen.Code{ctxParam(), jen.Id("done").Index().Id(typ)}, w.narrowing()...), jen.Id("limit").Int())
	doc := []string{
		"CompleteAndClaim completes done and takes up to limit further jobs, in one transaction.",
		"When the claims of some of done were lost, the error is an ErrLost that names them; everything else happened all the same and the jobs are returned with that error.",
	}
	if w.batches() {
		doc[0] = "CompleteAndClaim completes done and takes up to limit further jobs, in one round trip and one transaction."
	}
	if w.Claim.Flow == plan.PickTake {
		doc[0] = "CompleteAndClaim completes done, then takes up to limit further jobs."
	}
	decl(f, w.claimDoc(doc, append([]*plan.Statement{w.Complete.Statement}, w.claimStatements()...)...),
		jen.Func().Add(w.receiver()).Id("CompleteAndClaim").Params(params...).Params(jen.Id("jobs").Index().Id("Job"), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			w.fused(g, op)
		}))
	return f
}

// selfClaim is q.Claim(ctx, kind, limit).
func (w *writer) selfClaim(limit *jen.Statement) *jen.Statement {
	self := jen.Id("q")
	if w.Hold {
		self = jen.Id("t")
	}
	return self.Dot("Claim").Call(append(append([]jen.Code{jen.Id("ctx")}, w.narrowingArgs()...), limit)...)
}

// selfComplete is q.Complete(ctx, done...).
func (w *writer) selfComplete() *jen.Statement {
	self := jen.Id("q")
	if w.Hold {
		self = jen.Id("t")
	}
	return self.Dot("Complete").Call(jen.Id("ctx"), jen.Id("done").Op("..."))
}

// fused emits the body of CompleteAndClaim.
func (w *writer) fused(g *jen.Group, op string) {
	if w.Claim.Flow == plan.PickTake {
		w.fusedInTurn(g)
		return
	}
	g.If(jen.Len(jen.Id("done")).Op("==").Lit(0)).Block(jen.Return(w.selfClaim(jen.Id("limit"))))
	g.If(jen.Id("limit").Op("<=").Lit(0)).Block(jen.Return(jen.Nil(), w.selfComplete()))
	w.checkShard(g, op)
	from, finished := w.doneSource()
	from.many = jen.Id("done")
	if w.Complete.Result == nil {
		finished = jen.Id("done")
	}
	g.Var().Id("found").Index().Id("Key")
	g.Add(observe(w.queue(), jen.Lit(op), jen.Len(jen.Id("found")).Op("+").Len(jen.Id("jobs"))))

	before, args := w.arguments(w.Complete.Statement, from, op, jen.Nil())
	addAll(g, before)
	w.token(g)
	if w.hasLow() {
		g.List(jen.Id("low"), jen.Id("turn")).Op(":=").Add(w.queue()).Dot("low").Dot("start").Call()
	}
	claim := w.claimText(g, op)
	complete := append([]jen.Code{jen.Id(w.Complete.Statement.Var)}, args...)
	if w.batches() {
		w.fusedBatch(g, op, complete, claim)
	} else {
		w.fusedTransaction(g, op, complete, claim)
	}
	g.Add(ifErr(jen.Nil()))
	w.sort(g)
	w.hold(g)
	if w.hasLow() {
		w.fusedLow(g)
	}
	g.Return(jen.Id("jobs"), jen.Id("lost").Call(jen.Lit(op), finished, jen.Id("found")))
}

// fusedInTurn emits completing and claiming one after the other, for claims
// that take several rounds:
//
//	lost := q.Complete(ctx, done...)
//	if lost != nil && !errors.Is(lost, ErrLost) {
//		return nil, lost
//	}
//	jobs, err = q.Claim(ctx, limit)
//	return jobs, errors.Join(lost, err)
func (w *writer) fusedInTurn(g *jen.Group) {
	g.Err().Op("=").Add(w.selfComplete())
	g.If(jen.Err().Op("!=").Nil().Op("&&").Op("!").Qual("errors", "Is").Call(jen.Err(), jen.Id("ErrLost"))).Block(jen.Return(jen.Nil(), jen.Err()))
	g.List(jen.Id("jobs"), jen.Id("claimErr")).Op(":=").Add(w.selfClaim(jen.Id("limit")))
	g.If(jen.Id("claimErr").Op("!=").Nil()).Block(jen.Err().Op("=").Qual("errors", "Join").Call(jen.Err(), jen.Id("claimErr")))
	g.Return(jen.Id("jobs"), jen.Err())
}

// fusedTransaction emits both statements within a transaction.
func (w *writer) fusedTransaction(g *jen.Group, op string, complete, claim []jen.Code) {
	body := []jen.Code{
		jen.List(jen.Id("found"), jen.Err()).Op("=").Add(queryCall("scanKey", complete...)),
		ifErr(),
	}
	if w.Claim.Flow == plan.MarkRead {
		body = append(body, w.markRead(claim, op)...)
	} else {
		body = append(body, queryInto("jobs", "scanJob", claim...))
	}
	g.Add(attempt(w.queue(), "transact", jen.Lit(op), body...))
}

// fusedBatch emits both statements in one round trip, which is one transaction:
//
//	err = q.retry(ctx, "complete and claim", func(db DBTX) error {
//		batch := &pgx.Batch{}
//		batch.Queue(completeSQL, …).Query(func(rows pgx.Rows) (err error) {
//			found, err = collect(rows, scanKey)
//			return err
//		})
//		batch.Queue(claimSQL, …).Query(…)
//		return db.SendBatch(ctx, batch).Close()
//	})
func (w *writer) fusedBatch(g *jen.Group, op string, complete, claim []jen.Code) {
	queue := func(into, scan string, text []jen.Code) *jen.Statement {
		return jen.Id("both").Dot("Queue").Call(spread(text[:1], text[1:])...).Dot("Query").Call(
			jen.Func().Params(jen.Id("rows").Qual(pgxPath, "Rows")).Params(jen.Err().Error()).Block(
				jen.List(jen.Id(into), jen.Err()).Op("=").Id("collect").Call(jen.Id("rows"), jen.Id(scan)),
				jen.Return(jen.Err()),
			))
	}
	g.Err().Op("=").Add(w.queue()).Dot("retry").Call(jen.Id("ctx"), jen.Lit(op), jen.Func().Params(jen.Id("db").Id("DBTX")).Error().Block(
		jen.Id("both").Op(":=").Op("&").Qual(pgxPath, "Batch").Values(),
		queue("found", "scanKey", complete),
		queue("jobs", "scanJob", claim),
		jen.Return(jen.Id("db").Dot("SendBatch").Call(jen.Id("ctx"), jen.Id("both")).Dot("Close").Call()),
	))
}

// fusedLow emits what a claim above a bound leaves to do:
//
//	if len(jobs) == limit {
//		q.low.raise(turn, jobs[limit-1].MsgID)
//	} else if low > lowest {
//		// Jobs may have come back below the bound.
//		q.low.reset()
//		more, err := q.look(ctx, lowest, limit-len(jobs))
//		…
//	}
func (w *writer) fusedLow(g *jen.Group) {
	look := jen.Add(w.queue()).Dot("look").Call(append(append([]jen.Code{jen.Id("ctx")}, w.narrowingArgs()...), jen.Id("lowest"), jen.Id("limit").Op("-").Len(jen.Id("jobs")))...)
	g.If(jen.Len(jen.Id("jobs")).Op("==").Id("limit")).Block(
		jen.Add(w.queue()).Dot("low").Dot("raise").Call(jen.Id("turn"), jen.Id("jobs").Index(jen.Len(jen.Id("jobs")).Op("-").Lit(1)).Dot(w.Claim.Low.Field.Name)),
	).Else().If(jen.Id("low").Op(">").Id("lowest")).BlockFunc(func(g *jen.Group) {
		g.Comment("// Jobs may have come back below the bound. An error will come again.")
		g.Add(w.queue()).Dot("low").Dot("reset").Call()
		g.List(jen.Id("more"), jen.Id("_")).Op(":=").Add(look)
		g.Id("jobs").Op("=").Append(jen.Id("jobs"), jen.Id("more").Op("..."))
		w.sort(g)
	})
}
