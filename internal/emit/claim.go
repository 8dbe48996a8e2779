package emit

// This file writes claim.go: how jobs are taken, in each of the flows that a
// plan may ask for.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// lowRefresh is the name of the longest time between two full looks.
const lowRefresh = "fullLook"

// check complains about what cannot be written down at all.
func (w *writer) check() {
	if c := w.Claim; c != nil {
		narrows := slices.ContainsFunc(c.Params, func(p *plan.Param) bool { return !p.Write })
		if c.Low != nil && (narrows || c.Shard || c.Flow != plan.OneStatement && c.Flow != plan.ReadOnly) {
			w.fail("a low bound is for claims of one statement without parameters")
		}
		if c.Statement == nil || c.Flow == plan.MarkRead && (c.Read == nil || c.Token == "" && c.Statement.Rows == nil) || c.Flow == plan.PickTake && c.Pick == nil || c.Flow == plan.LockTake && c.Lock == nil {
			w.fail("the claim lacks a statement or a token for its flow %q", c.Flow)
		}
	}
	if c := w.Claim; c != nil && c.BatchRow != nil && (c.Token != "" || c.Flow != plan.LockTake && c.Flow != plan.PickTake) {
		w.fail("a row that gives jobs their token is added between finding and taking them")
	}
	if c := w.Claim; c != nil && c.Accept != nil && (c.Flow != plan.PickTake || c.Pick == nil || w.Peek == nil || !sameFields(c.Pick.Rows, w.Peek.Statement.Rows)) {
		w.fail("a claim that asks of jobs reads them first, as Peek does")
	}
	for _, s := range w.Settles() {
		if s.Statement != nil && s.Statement.Has(plan.ArgCounts) {
			continue
		}
		if s.Lock != nil {
			if !sameFields(s.Lock.Rows, w.Key) {
				w.fail("%s: the statement must return the key", s.Lock.Name)
			}
			continue
		}
		if len(s.Refreshes) == 0 && !sameFields(s.Statement.Rows, w.Key) {
			w.fail("%s: the statement must return the key", s.Statement.Name)
		}
		for _, f := range append(slices.Clone(w.Key), s.Refreshes...) {
			if !slices.ContainsFunc(s.Statement.Rows, func(r *plan.Field) bool { return r.Name == f.Name }) {
				w.fail("%s: the statement must return %s", s.Statement.Name, f.Name)
			}
		}
	}
	if w.CompleteAndClaim && !w.fuses() {
		w.fail("there is nothing to complete and claim")
	}
}

// claimFile writes claim.go.
func (w *writer) claimFile() *code.File {
	c := w.Claim
	f := w.newFile()
	embed(f, w.claimStatements()...)
	if c.Shard {
		decl(f, []string{"Shard is a worker's share of the table: of the rows that fall to one of Count workers, those of worker Index, counted from 0."},
			code.Type().Id("Shard").Struct(code.List(code.Id("Index"), code.Id("Count")).Int()))
		w.sharesMethods(f)
	}
	w.claimMethod(f)
	if c.Gate != nil {
		w.roomMethod(f)
	}
	if w.hasLow() {
		w.lookMethod(f)
	}
	if len(c.Ladder) > 0 {
		w.claimStatementMethod(f)
	}
	if c.Accept != nil {
		w.askFunc(f)
	}
	w.queueOrderFunc(f)
	return f
}

// claimStatements lists the statements of a claim in the order in which they
// run.
func (w *writer) claimStatements() []*plan.Statement {
	c := w.Claim
	var batch, undo *plan.Statement
	if c.BatchRow != nil {
		batch, undo = c.BatchRow.Statement, c.BatchRow.Undo
	}
	var gate []*plan.Statement
	if c.Gate != nil {
		gate = []*plan.Statement{c.Gate.Lock, c.Gate.Room}
	}
	all := present(slices.Concat(gate, []*plan.Statement{c.Pick, c.Lock}, c.Narrow, c.Ahead, []*plan.Statement{c.Expired, c.TakeOver, batch, c.Statement, undo, c.Read})...)
	for _, r := range c.Ladder {
		all = append(all, r.Statement)
	}
	return append(all, w.Claim.With...)
}

// toldStatements are those of which the comment of a claim tells.
func (w *writer) toldStatements() []*plan.Statement {
	if w.Payload == nil {
		return w.claimStatements()
	}
	return append(w.claimStatements(), w.Payload.Statement)
}

// narrowing are the parameters of Claim before the limit.
func (w *writer) narrowing() []variable {
	var list []variable
	for _, p := range w.Claim.Params {
		list = append(list, variable{p.Name, w.paramType(p)})
	}
	if w.Claim.Shard {
		list = append(list, variable{"shard", code.Id("Shard")})
	}
	if w.Claim.LeaseArg {
		list = append(list, variable{"lease", code.Qual("time", "Duration")})
	}
	list = append(list, w.timeout(w.claimStatements()...)...)
	if w.Claim.Accept != nil {
		list = append(list, variable{"accept", acceptType()})
	}
	return list
}

// timeout is the argument by which the statements tell what has run out, nothing where they
// do not ask.
func (w *writer) timeout(statements ...*plan.Statement) []variable {
	if !plan.AsksTimeout(statements...) {
		return nil
	}
	return []variable{{"timeout", code.Qual("time", "Duration")}}
}

// acceptType is func(Job) bool.
func acceptType() *code.Statement { return code.Func().Params(code.Id("Job")).Bool() }

// paramType is the Go type of a parameter of Claim.
func (w *writer) paramType(p *plan.Param) *code.Statement {
	if p.Field != nil && w.isStatus(p.Field) && !p.List && !strings.HasPrefix(p.GoType, "*") {
		return code.Id(w.Status.Name)
	}
	return w.goType(p.GoType)
}

// claimArgs are ctx, what narrowing declares, and what stands behind it.
func (w *writer) claimArgs(last ...*code.Statement) []*code.Statement {
	return slices.Concat([]*code.Statement{code.Id("ctx")}, passed(w.narrowing()), last)
}

// paramDoc tells what the parameters of a claim mean.
func paramDoc(params []*plan.Param) []string {
	var clauses []string
	for _, p := range params {
		if p.Doc != "" {
			clauses = append(clauses, p.Name+" is "+oneLine(p.Doc))
		}
	}
	if len(clauses) == 0 {
		return nil
	}
	if len(clauses) == 1 {
		return []string{"The parameter " + clauses[0] + "."}
	}
	return []string{"Of the parameters, " + strings.Join(clauses, ", ") + "."}
}

// claimDoc is the comment of an operation that claims.
func (w *writer) claimDoc(paragraphs []string, statements ...*plan.Statement) []string {
	doc := slices.Concat(paragraphs, paramDoc(w.Claim.Params))
	if w.limited() {
		doc = append(doc, w.mostDoc("takes", "jobs"))
	}
	return docOf(doc, statements...)
}

// claimMethod emits Claim. For one statement it is
//
//	func (q *Queue) Claim(ctx context.Context, kind string, limit int) (jobs []Job, err error) {
//		if limit <= 0 {
//			return nil, nil
//		}
//		ctx = q.hook.Before(ctx, "claim")
//		defer func() { q.hook.After(ctx, "claim", len(jobs), err) }()
//		err = q.retry(ctx, "claim", func(db DBTX) (err error) {
//			jobs, err = query(ctx, db, scanJob, claimSQL, kind, limit)
//			return err
//		})
//		slices.SortFunc(jobs, queueOrder)
//		return jobs, err
//	}
func (w *writer) claimMethod(f *code.File) {
	c := w.Claim
	params := append(append([]*code.Statement{ctxParam()}, declared(w.narrowing())...), code.Id("limit").Int())
	decl(f, w.claimDoc(c.Doc, w.toldStatements()...),
		code.Func().Add(w.receiver()).Id("Claim").Params(params...).Params(code.Id("jobs").Index().Id("Job"), code.Err().Error()).BlockFunc(func(g *code.Group) {
			g.Add(ifNoLimit(code.Nil()))
			if w.limited() {
				g.Add(upToMost())
			}
			w.checkShard(g, "claim")
			w.checkLease(g, "claim", w.Claim.LeaseArg, code.Nil())
			g.Add(observe(w.queue(), code.Lit("claim"), code.Len(code.Id("jobs"))))
			switch {
			case c.Accept != nil:
				w.askTake(g)
			case c.Flow == plan.PickTake:
				w.pickTake(g)
			case w.hasLow():
				w.lowClaim(g)
			case c.Again:
				w.lookAgain(g)
			default:
				w.look(g)
				w.hold(g)
				g.Return(code.Id("jobs"), code.Err())
			}
		}))
}

// lookAgain emits a claim that looks once more when it comes back with nothing:
//
//	for range 2 {
//		err = q.retry(…)
//		if err != nil || len(jobs) > 0 {
//			break // what was ready may have gone to others while the first look took place
//		}
//	}
//	return jobs, err
//
// and first of all, where one claim that somebody else has added meanwhile fails all,
//
//	if hasNumber(err, 2627) {
//		err = nil
//		continue
//	}
func (w *writer) lookAgain(g *code.Group) {
	g.For(code.Range().Lit(2)).BlockFunc(func(g *code.Group) {
		w.look(g)
		if w.Claim.Collides && w.Claim.Flow == plan.OneStatement {
			g.If(w.collided()).Block(
				code.Err().Op("=").Nil().Comment("somebody else has added a claim meanwhile"),
				code.Continue(),
			)
		}
		g.If(errOr(code.Len(code.Id("jobs")).Op(">").Lit(0))).Block(
			code.Break().Comment("else all that was ready may have gone to others meanwhile"),
		)
	})
	g.Return(code.Id("jobs"), code.Err())
}

// limited reports whether a claim takes a limited number of jobs: because it names
// them in the text of a statement, or because the server locks more than it takes.
func (w *writer) limited() bool {
	return w.MostTaken > 0 || slices.ContainsFunc(slices.Concat([]*plan.Statement{w.Claim.Statement}, w.Claim.Ahead, w.Claim.With), func(s *plan.Statement) bool { return s.Has(plan.ArgList) })
}

// sharesMethods emits, where a shard is a range of the values of a column,
//
//	func (s Shard) least() int64 {
//		if s.Index == 0 {
//			return -32768
//		}
//		return s.begin(s.Index)
//	}
//
//	func (s Shard) most() int64 {
//		if s.Index == s.Count-1 {
//			return 32767
//		}
//		return s.begin(s.Index+1) - 1
//	}
//
//	func (s Shard) begin(index int) int64 {
//		high, low := bits.Mul64(65536, uint64(index))
//		part, _ := bits.Div64(high, low, uint64(s.Count))
//		return -32768 + int64(part)
//	}
func (w *writer) sharesMethods(f *code.File) {
	sh := w.Claim.Shares
	if sh == nil {
		return
	}
	typ := func() *code.Statement { return w.goType(sh.GoType) }
	s := func(name string) *code.Statement { return code.Id("s").Dot(name) }
	of := func(name string) *code.Statement {
		return code.Func().Params(code.Id("s").Id("Shard")).Id(name)
	}
	end := func(test *code.Statement, all string) *code.Statement {
		return code.If(test).Block(code.Return(code.Id(all)))
	}
	begins := typ().Call(code.Id("part"))
	if sh.Least != "0" {
		begins = code.Id(sh.Least).Op("+").Add(begins)
	}
	decl(f, []string{"least is the least value of the share. To the first belongs all that is less than " + sh.Least + "."},
		of("least").Params().Add(typ()).Block(
			end(s("Index").Op("==").Lit(0), sh.First),
			code.Return(s("begin").Call(s("Index")))))
	decl(f, []string{"most is the greatest value of the share. To the last belongs all that is greater than " + sh.Most + "."},
		of("most").Params().Add(typ()).Block(
			end(s("Index").Op("==").Add(s("Count")).Op("-").Lit(1), sh.Last),
			code.Return(s("begin").Call(s("Index").Op("+").Lit(1)).Op("-").Lit(1))))
	decl(f, []string{"begin is where the share of a worker begins: the values from " + sh.Least + " to " + sh.Most + " are divided evenly."},
		of("begin").Params(code.Id("index").Int()).Add(typ()).Block(
			code.List(code.Id("high"), code.Id("low")).Op(":=").Qual("math/bits", "Mul64").Call(code.Id(sh.Span), code.Id("uint64").Call(code.Id("index"))),
			code.List(code.Id("part"), code.Id("_")).Op(":=").Qual("math/bits", "Div64").Call(code.Id("high"), code.Id("low"), code.Id("uint64").Call(s("Count"))),
			code.Return(begins)))
}

// checkShard emits
//
//	if shard.Index < 0 || shard.Index >= shard.Count {
//		return nil, fmt.Errorf("emailq: claim: there is no shard %d of %d", shard.Index, shard.Count)
//	}
func (w *writer) checkShard(g *code.Group, op string) {
	if !w.Claim.Shard {
		return
	}
	index, count := code.Id("shard").Dot("Index"), code.Id("shard").Dot("Count")
	g.If(index.Clone().Op("<").Lit(0).Op("||").Add(index.Clone()).Op(">=").Add(count.Clone())).Block(
		code.Return(code.Nil(), w.errorf(op+": there is no shard %d of %d", index, count)))
}

// checkLease emits, where the caller says how long a claim is good,
//
//	if lease < 2*time.Second {
//		return nil, fmt.Errorf("emailq: claim: a lease of %s can have run out when it begins: it has to be 2 s at least", lease)
//	}
func (w *writer) checkLease(g *code.Group, op string, said bool, results ...*code.Statement) {
	if !said {
		return
	}
	text := op + ": a lease of %s can have run out when it begins: it has to be " + durationText(w.LeastLease) + " at least"
	g.If(code.Id("lease").Op("<").Add(durationExpr(w.LeastLease))).Block(
		code.Return(append(results, w.errorf(text, code.Id("lease")))...))
}

// hold emits, where claims live in transactions,
//
//	for _, j := range jobs {
//		t.held = append(t.held, j.Key())
//	}
func (w *writer) hold(g *code.Group) {
	if !w.Hold {
		return
	}
	g.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(
		code.Id("t").Dot("held").Op("=").Append(code.Id("t").Dot("held"), code.Id("j").Dot("Key").Call()))
}

// token emits token := newToken() where claims stamp one.
func (w *writer) token(g *code.Group) {
	if w.Claim.Token != "" {
		g.Id("token").Op(":=").Id("newToken").Call()
	}
}

// claimText returns the text and arguments of the claim's first statement,
// with the lines that must stand before.
func (w *writer) claimText(g *code.Group, op string) []*code.Statement {
	w.prepareLists(g, op)
	before, text := w.firstText(op, code.Nil())
	addAll(g, before)
	return text
}

// firstText is claimText where the lists are prepared. Where an argument fails, results are
// returned before the error.
//
//	text, args := q.claimStatement(kind, token, limit)
func (w *writer) firstText(op string, results ...*code.Statement) (before, text []*code.Statement) {
	if len(w.Claim.Ladder) == 0 {
		before, args := w.arguments(w.Claim.Statement, source{lists: true}, op, results...)
		return before, w.bound(w.Claim.Statement, args)
	}
	return []*code.Statement{code.List(code.Id("text"), code.Id("args")).Op(":=").Add(w.queue()).Dot("claimStatement").Call(passed(w.sized())...)},
		[]*code.Statement{code.Id("text"), code.Id("args").Op("...")}
}

// prepareLists emits the lists among the parameters of Claim as JSON, where
// they travel so:
//
//	kindsJSON, err := jsonRows(kinds, func(v string) any { return v })
//	if err != nil {
//		return nil, fmt.Errorf("emailq: claim: %w", err)
//	}
func (w *writer) prepareLists(g *code.Group, op string) {
	lists := &plan.Statement{Name: "claim"}
	for _, p := range w.Claim.Params {
		if p.List && p.JSON {
			lists.Args = append(lists.Args, plan.Arg{Kind: plan.ArgParam, Param: p})
		}
	}
	before, _ := w.arguments(lists, source{}, op, code.Nil())
	addAll(g, before)
}

// sized are the parameters of claimStatement: those of Claim, the lists that
// travel as JSON already so.
func (w *writer) sized() []variable {
	list := w.narrowing()
	for i, p := range w.Claim.Params {
		if p.List && p.JSON {
			list[i] = variable{listName(p), code.String()}
		}
	}
	if w.Claim.Token != "" {
		list = append(list, variable{"token", w.tokenType()})
	}
	if w.hasLow() {
		list = append(list, variable{"low", w.lowType()})
	}
	return append(list, variable{"limit", code.Int()})
}

// look emits one run of the claim into jobs and err.
func (w *writer) look(g *code.Group) {
	w.token(g)
	w.prepareLists(g, "claim")
	var body []*code.Statement
	switch w.Claim.Flow {
	case plan.LockTake:
		body = w.lockTake()
	default:
		op, results := "claim", []*code.Statement{code.Nil()}
		if w.Claim.Gate != nil {
			op, results = "", nil // within the attempt, which says how many there are
		}
		before, text := w.firstText(op, results...)
		if w.Claim.Gate != nil {
			body = before
		} else {
			addAll(g, before)
		}
		if w.Claim.Flow == plan.MarkRead {
			body = append(body, w.markRead(text, "claim")...)
		} else {
			body = append(body, w.jobsInto("jobs", readCall(reader(w.Claim.Statement), "scanJob", text...))...)
		}
	}
	g.Add(w.taking("jobs", append(w.passGate("jobs", code.Id("limit").Op(":=").Id("min").Call(code.Id("limit"), code.Id("room"))), body...)...))
	if w.transacts() {
		g.Add(ifErr(code.Nil())) // the jobs that were read are not the claim's own when its commit failed
	}
	w.sort(g)
}

// transacts reports whether a claim takes jobs in a transaction, because it stands only
// with all that belongs to its jobs. What a block locks is free again without one, and a
// cursor lives on the connection of its block.
func (w *writer) transacts() bool {
	c := w.Claim
	switch c.Flow {
	case plan.LockTake, plan.MarkRead, plan.OneBlock:
		return true
	}
	return c.Gate != nil || c.Lock != nil || c.BatchRow != nil || c.Statement.Has(plan.ArgCursor) || len(c.With) > 0 || w.Payload != nil && c.Flow != plan.ReadOnly
}

// markRead emits
//
//	marked, err := exec(ctx, db, claimSQL, token, limit)
//	if err != nil || marked == 0 {
//		return err
//	}
//	jobs, err = query(ctx, db, scanJob, claimReadSQL, token)
//	return err
//
// or without a token, where the statement that marks returns the keys,
//
//	marked, err := query(ctx, db, scanCandidate, claimSQL, limit)
//	if err != nil || len(marked) == 0 {
//		return err
//	}
//	jobs, err = query(ctx, db, scanJob, claimReadSQL, …marked…)
//	return err
func (w *writer) markRead(text []*code.Statement, op string) []*code.Statement {
	if w.Claim.Token == "" {
		return append(unlessNone("jobs", "marked", queryCall("scanCandidate", text...), empty("marked")), w.readTaken("jobs", "marked")...)
	}
	_, args := w.arguments(w.Claim.Read, source{lists: true}, op)
	mark, none := execCall(text...), code.Id("marked").Op("==").Lit(0)
	if w.Claim.Statement.Rows != nil {
		mark, none = queryCall("scanKey", text...), empty("marked")
	}
	return append(unlessNone("jobs", "marked", mark, none), w.jobsInto("jobs", queryCall("scanJob", w.bound(w.Claim.Read, args)...))...)
}

// lockTake emits
//
//	jobs = nil
//	found, err := query(ctx, db, scanCandidate, claimLockSQL, limit)
//	if err != nil || len(found) == 0 {
//		return err
//	}
//	if _, err = exec(ctx, db, claimSQL, …found…); err != nil {
//		return err
//	}
//	jobs, err = query(ctx, db, scanJob, claimReadSQL, …found…)
//	return err
func (w *writer) lockTake() []*code.Statement {
	return append(w.lockRows("jobs", "found", w.lockedScan(), w.Claim.Lock, source{lists: true}), w.takeLocked("jobs", "found")...)
}

// lockedScan is the function that reads what locks the rows of a claim: whole jobs, where
// nothing reads them afterwards.
func (w *writer) lockedScan() string {
	if w.Claim.Read == nil && w.Claim.Statement.Rows == nil {
		return "scanJob"
	}
	return "scanCandidate"
}

// lockRows emits the beginning of an attempt that fills a variable from rows
// that it locks first:
//
//	jobs = nil
//	found, err := query(ctx, db, scanCandidate, claimLockSQL, limit)
//	if err != nil || len(found) == 0 {
//		return err
//	}
//
// Where nothing locks rows, it reserves the database ahead of that.
func (w *writer) lockRows(into, locked, scan string, lock *plan.Statement, from source) []*code.Statement {
	before, args := w.arguments(lock, from, "")
	return append(append(before, w.reserved()...), unlessNone(into, locked, readCall(reader(lock), scan, w.bound(lock, args)...), empty(locked))...)
}

// unlessNone emits the beginning of an attempt that fills a variable when a call
// before has found something; none is the test whether it has not:
//
//	jobs = nil
//	found, err := <call>
//	if err != nil || <none> {
//		return err
//	}
func unlessNone(into, found string, call, none *code.Statement) []*code.Statement {
	return []*code.Statement{
		code.Id(into).Op("=").Nil(),
		code.List(code.Id(found), code.Err()).Op(":=").Add(call),
		ifErrOr(none),
	}
}

// takeLocked emits what takes locked rows into a variable.
func (w *writer) takeLocked(into, locked string) []*code.Statement {
	c := w.Claim
	from := source{many: code.Id(locked), item: code.Id("Job"), lists: true}
	narrowed := w.narrowed(locked, from)
	from.batches = map[string]string{} // one text names the rows to all that follow
	before, args := w.arguments(c.Statement, from, "")
	if c.Collides {
		return append(narrowed, w.addClaims(into, locked)...)
	}
	before = slices.Concat(narrowed, before, w.addBatch())
	text := w.bound(c.Statement, args)
	if c.Statement.Has(plan.ArgCounts) {
		call := code.Id("changed").Call(spread([]*code.Statement{code.Id("ctx"), code.Id("db"), code.Id(locked)}, text)...)
		return slices.Concat(before, []*code.Statement{code.List(code.Id("mine"), code.Err()).Op(":=").Add(call), ifErrOr(empty("mine"))}, w.readTaken(into, "mine"))
	}
	ahead := func() []*code.Statement { return w.inTurn(w.queue(), c.Ahead, from) }
	if c.Statement.Rows != nil {
		return append(append(before, ahead()...), w.jobsInto(into, queryCall("scanJob", text...))...)
	}
	take := ifAssign(code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(text...)))
	if c.Read == nil && w.Payload != nil {
		// The rows are gone afterwards.
		before = append(before, ifAssign(code.List(code.Id(locked), code.Err()).Op("=").Add(w.payloadCall(w.queue(), locked))))
	}
	if c.Read == nil {
		return append(append(before, ahead()...), take, code.Id(into).Op("=").Id(locked), code.Return(code.Nil()))
	}
	readBefore, readArgs := w.arguments(c.Read, from, "")
	before = append(append(append(before, ahead()...), take), readBefore...)
	return append(before, w.jobsInto(into, queryCall("scanJob", w.bound(c.Read, readArgs)...))...)
}

// readTaken emits what reads jobs that were taken into a variable, by their keys:
//
//	jobs, err = query(ctx, db, scanJob, claimReadSQL, …taken…)
//	return err
func (w *writer) readTaken(into, taken string) []*code.Statement {
	before, args := w.arguments(w.Claim.Read, source{many: code.Id(taken), item: code.Id("Job"), lists: true}, "")
	return append(before, w.jobsInto(into, queryCall("scanJob", w.bound(w.Claim.Read, args)...))...)
}

// addClaims emits what takes locked rows by adding claims to a side table, where one
// claim that somebody else has added meanwhile fails all:
//
//	mine, err := query(ctx, db, scanCandidate, claimExpiredSQL, …found…)
//	if err != nil {
//		return err
//	}
//	if len(mine) > 0 {
//		if _, err := exec(ctx, db, claimTakeOverSQL, …mine…); err != nil {
//			return err
//		}
//	}
//	added, err := addClaims(less(found, mine), func(part []Job) error {
//		_, err := exec(ctx, db, claimSQL, …part…)
//		return err
//	})
//	mine = append(mine, added...)
//	if err != nil || len(mine) == 0 {
//		return err
//	}
//	jobs, err = query(ctx, db, scanJob, claimReadSQL, …mine…)
//	return err
//
// and of claims that never run out the second half, with mine in the place of added.
func (w *writer) addClaims(into, locked string) []*code.Statement {
	c := w.Claim
	from := func(jobs string) source { return source{many: code.Id(jobs), item: code.Id("Job"), lists: true} }
	free, added := code.Id(locked), "mine"
	var list []*code.Statement
	if c.Expired != nil {
		before, args := w.arguments(c.Expired, from(locked), "")
		list = append(before, code.List(code.Id("mine"), code.Err()).Op(":=").Add(readCall(reader(c.Expired), "scanCandidate", w.bound(c.Expired, args)...)), ifErr())
		before, args = w.arguments(c.TakeOver, from("mine"), "")
		list = append(list, code.If(code.Len(code.Id("mine")).Op(">").Lit(0)).Block(
			append(before, ifAssign(code.List(code.Id("_"), code.Err()).Op(":=").Add(execCall(w.bound(c.TakeOver, args)...))))...))
		free, added = code.Id("less").Call(code.Id(locked), code.Id("mine")), "added"
	}
	before, args := w.arguments(c.Statement, from("part"), "")
	add := code.Func().Params(code.Id("part").Index().Id("Job")).Error().Block(forItsEffect(before, execCall(w.bound(c.Statement, args)...))...)
	list = append(list, code.List(code.Id(added), code.Err()).Op(":=").Id("addClaims").Call(free, add))
	if added != "mine" {
		list = append(list, code.Id("mine").Op("=").Append(code.Id("mine"), code.Id(added).Op("...")))
	}
	return append(append(list, ifErrOr(empty("mine"))), w.readTaken(into, "mine")...)
}

// collided is the test that err tells of a key which was there already.
func (w *writer) collided() *code.Statement {
	tests := test("hasNumber", w.Transient.Duplicates)
	if tests == nil {
		w.fail("no error is known that tells of a key which is there already")
		return code.False()
	}
	return tests[0]
}

// addClaimsFunc emits
//
//	func addClaims(jobs []Job, add func(part []Job) error) ([]Job, error) {
//		if len(jobs) == 0 {
//			return nil, nil
//		}
//		err := add(jobs)
//		if err == nil {
//			return jobs, nil
//		}
//		if !hasNumber(err, 1062) {
//			return nil, err
//		}
//		var added []Job
//		for _, j := range jobs {
//			err := add([]Job{j})
//			if err == nil {
//				added = append(added, j)
//			} else if !hasNumber(err, 1062) {
//				return nil, err
//			}
//		}
//		return added, nil
//	}
func (w *writer) addClaimsFunc(f *code.File) {
	other := code.Op("!").Add(w.collided())
	decl(f, []string{"addClaims adds claims for jobs and returns those of them that are the caller's now. Where somebody else has added one of them meanwhile, none is added; then each is tried by itself."},
		code.Func().Id("addClaims").Params(code.Id("jobs").Index().Id("Job"), code.Id("add").Func().Params(code.Id("part").Index().Id("Job")).Error()).Params(code.Index().Id("Job"), code.Error()).Block(
			code.If(empty("jobs")).Block(code.Return(code.Nil(), code.Nil())),
			code.Err().Op(":=").Id("add").Call(code.Id("jobs")),
			code.If(code.Err().Op("==").Nil()).Block(code.Return(code.Id("jobs"), code.Nil())),
			code.If(other.Clone()).Block(code.Return(code.Nil(), code.Err())),
			code.Var().Id("added").Index().Id("Job"),
			code.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(
				code.Err().Op(":=").Id("add").Call(code.Index().Id("Job").Values(code.Id("j"))),
				code.If(code.Err().Op("==").Nil()).Block(
					code.Id("added").Op("=").Append(code.Id("added"), code.Id("j")),
				).Else().If(other).Block(code.Return(code.Nil(), code.Err())),
			),
			code.Return(code.Id("added"), code.Nil()),
		))
}

// lessFunc emits
//
//	func less(jobs, taken []Job) []Job {
//		is := make(map[Key]bool, len(taken))
//		for _, j := range taken {
//			is[j.Key()] = true
//		}
//		return slices.DeleteFunc(jobs, func(j Job) bool { return is[j.Key()] })
//	}
func (w *writer) lessFunc(f *code.File) {
	is := code.Id("is").Index(code.Id("j").Dot("Key").Call())
	decl(f, []string{"less removes from jobs those that are among taken."},
		code.Func().Id("less").Params(code.List(code.Id("jobs"), code.Id("taken")).Index().Id("Job")).Index().Id("Job").Block(
			code.Id("is").Op(":=").Make(code.Map(code.Id("Key")).Bool(), code.Len(code.Id("taken"))),
			code.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("taken")).Block(is.Clone().Op("=").True()),
			code.Return(code.Qual("slices", "DeleteFunc").Call(code.Id("jobs"), code.Func().Params(code.Id("j").Id("Job")).Bool().Add(inline(code.Return(is))))),
		))
}

// narrowed emits, for each statement that leaves fewer of the locked rows,
//
//	found, err = query(ctx, db, scanCandidate, claimGroupSQL, …found…)
//	if err != nil || len(found) == 0 {
//		return err
//	}
func (w *writer) narrowed(locked string, from source) []*code.Statement {
	var list []*code.Statement
	from.named = "candidates" // of which those are left that follow
	for _, s := range w.Claim.Narrow {
		before, args := w.arguments(s, from, "")
		list = append(append(list, before...),
			code.List(code.Id(locked), code.Err()).Op("=").Add(readCall(reader(s), "scanCandidate", w.bound(s, args)...)),
			ifErrOr(empty(locked)))
	}
	return list
}

// sort emits slices.SortFunc(jobs, queueOrder) where the order can be known.
func (w *writer) sort(g *code.Group) {
	if len(w.Claim.Order) > 0 {
		g.Qual("slices", "SortFunc").Call(code.Id("jobs"), code.Id("queueOrder"))
	}
}

// passGate emits the beginning of an attempt where only so many jobs may run:
//
//	jobs = nil
//	room, err := q.room(ctx, db)
//	if err != nil || room == 0 {
//		return err
//	}
//	limit := min(limit, room)
func (w *writer) passGate(into string, less ...*code.Statement) []*code.Statement {
	if w.Claim.Gate == nil {
		return nil
	}
	call := w.queue().Dot("room").Call(append([]*code.Statement{code.Id("ctx"), code.Id("db")}, passed(w.roomParams())...)...)
	return append(unlessNone(into, "room", call, code.Id("room").Op("==").Lit(0)), less...)
}

// passTried is passGate for candidates that were found before; full says whether there are
// more of them than may run:
//
//	full = room <= len(tried)
//	tried := tried[:min(len(tried), room)]
func (w *writer) passTried(into string) []*code.Statement {
	if w.Claim.Gate == nil {
		return nil
	}
	size := code.Len(code.Id("tried"))
	return append([]*code.Statement{code.Id("full").Op("=").True()}, w.passGate(into,
		code.Id("full").Op("=").Id("room").Op("<=").Add(size.Clone()),
		code.Id("tried").Op(":=").Id("tried").Index(code.Op(":").Id("min").Call(size, code.Id("room"))))...)
}

// declareFull and stopFull emit
//
//	var full bool
//
// and
//
//	if full {
//		break // as many run as may
//	}
func (w *writer) declareFull() []*code.Statement {
	if w.Claim.Gate == nil {
		return nil
	}
	return []*code.Statement{code.Var().Id("full").Bool()}
}

func (w *writer) stopFull() []*code.Statement {
	if w.Claim.Gate == nil {
		return nil
	}
	return []*code.Statement{code.If(code.Id("full")).Block(code.Break().Comment("as many run as may"))}
}

// roomParams are the parameters of Claim that room takes.
func (w *writer) roomParams() []variable {
	var list []variable
	for _, p := range w.Claim.Params {
		if slices.ContainsFunc(w.Claim.Gate.Room.Args, func(a plan.Arg) bool { return a.Param == p }) {
			list = append(list, variable{p.Name, w.paramType(p)})
		}
	}
	return append(list, w.timeout(w.Claim.Gate.Room)...)
}

// roomMethod emits
//
//	func (q *Queue) room(ctx context.Context, db DBTX) (int, error) {
//		locked, err := query(ctx, db, scanRoom, claimGateSQL)
//		if err != nil || len(locked) == 0 {
//			return 0, err
//		}
//		room, err := query(ctx, db, scanRoom, claimRoomSQL)
//		if err != nil || len(room) == 0 {
//			return 0, err
//		}
//		return max(room[0], 0), nil
//	}
func (w *writer) roomMethod(f *code.File) {
	gate := w.Claim.Gate
	doc := "room says how many more jobs may run. Until db is committed no other claim counts."
	var body []*code.Statement
	body = append(body, w.lockGate(code.Lit(0))...)
	before, args := w.arguments(gate.Room, source{}, "", code.Lit(0))
	body = append(body, before...)
	body = append(body,
		code.List(code.Id("room"), code.Err()).Op(":=").Add(queryCall("scanRoom", w.bound(gate.Room, args)...)),
		ifErrOr(empty("room"), code.Lit(0)),
		code.Return(code.Id("max").Call(code.Id("room").Index(code.Lit(0)), code.Lit(0)), code.Nil()))
	params := append([]*code.Statement{ctxParam(), code.Id("db").Id("DBTX")}, declared(w.roomParams())...)
	decl(f, []string{doc}, code.Func().Add(w.receiver()).Id("room").Params(params...).Params(code.Int(), code.Error()).Block(body...))
}

// lockGate emits the lock behind which running jobs are counted:
//
//	locked, err := query(ctx, db, scanRoom, claimGateSQL)
//	if err != nil || len(locked) == 0 {
//		return 0, err
//	}
func (w *writer) lockGate(results ...*code.Statement) []*code.Statement {
	lock := w.Claim.Gate.Lock
	if lock == nil {
		return w.reserved(results...)
	}
	return []*code.Statement{
		code.List(code.Id("locked"), code.Err()).Op(":=").Add(queryCall("scanRoom", w.bound(lock, nil)...)),
		ifErrOr(empty("locked"), results...),
	}
}

// scanRoomFunc emits
//
//	func scanRoom(r row) (n int, err error) {
//		err = r.Scan(&n)
//		return n, err
//	}
func (w *writer) scanRoomFunc(f *code.File) {
	decl(f, []string{"scanRoom reads one number."},
		code.Func().Id("scanRoom").Params(code.Id("r").Id("row")).Params(code.Id("n").Int(), code.Err().Error()).Block(
			code.Err().Op("=").Id("r").Dot("Scan").Call(code.Op("&").Id("n")),
			code.Return(code.Id("n"), code.Err()),
		))
}

// lowClaim emits a claim that starts above the keys seen taken:
//
//	low, turn := q.low.start()
//	jobs, err = q.look(ctx, low, limit)
//	if err != nil {
//		return nil, err
//	}
//	last := jobs
//	if len(jobs) < limit && low > lowest {
//		// Jobs may have come back below the bound.
//		turn = q.low.reset()
//		if last, err = q.look(ctx, lowest, limit-len(jobs)); err != nil {
//			if len(jobs) == 0 {
//				return nil, err
//			}
//			return jobs, nil // they are taken; the error will come again
//		}
//		jobs = append(jobs, last...)
//		slices.SortFunc(jobs, queueOrder)
//	}
//	if len(jobs) == limit && len(last) > 0 {
//		q.low.raise(turn, last[len(last)-1].MsgID)
//	}
//	return jobs, nil
func (w *writer) lowClaim(g *code.Group) {
	rest := code.Id("limit").Op("-").Len(code.Id("jobs"))
	g.List(code.Id("low"), code.Id("turn")).Op(":=").Add(w.queue()).Dot("low").Dot("start").Call()
	g.List(code.Id("jobs"), code.Err()).Op("=").Add(w.lookCall(code.Id("low"), code.Id("limit")))
	g.Add(ifErr(code.Nil()))
	g.Id("last").Op(":=").Id("jobs")
	g.If(code.Len(code.Id("jobs")).Op("<").Id("limit").Op("&&").Id("low").Op(">").Id("lowest")).BlockFunc(func(g *code.Group) {
		g.Comment("// Jobs may have come back below the bound.")
		g.Id("turn").Op("=").Add(w.queue()).Dot("low").Dot("reset").Call()
		g.If(code.List(code.Id("last"), code.Err()).Op("=").Add(w.lookCall(code.Id("lowest"), rest)), code.Err().Op("!=").Nil()).BlockFunc(func(g *code.Group) {
			g.If(empty("jobs")).Block(code.Return(code.Nil(), code.Err()))
			g.Return(code.Id("jobs"), code.Nil()).Comment("they are taken; the error will come again")
		})
		g.Id("jobs").Op("=").Append(code.Id("jobs"), code.Id("last").Op("..."))
		w.sort(g)
	})
	g.If(code.Len(code.Id("jobs")).Op("==").Id("limit").Op("&&").Len(code.Id("last")).Op(">").Lit(0)).Block(
		code.Add(w.queue()).Dot("low").Dot("raise").Call(code.Id("turn"), code.Id("last").Index(code.Len(code.Id("last")).Op("-").Lit(1)).Dot(w.Claim.Low.Field.Name)),
	)
	g.Return(code.Id("jobs"), code.Nil())
}

// lookCall is q.look(ctx, low, limit).
func (w *writer) lookCall(low, limit *code.Statement) *code.Statement {
	return w.queue().Dot("look").Call(w.claimArgs(low, limit)...)
}

// lookMethod emits the method look, one run of the claim above a bound.
func (w *writer) lookMethod(f *code.File) {
	params := append(append([]*code.Statement{ctxParam()}, declared(w.narrowing())...), code.Id("low").Add(w.lowType()), code.Id("limit").Int())
	decl(f, []string{"look claims up to limit jobs whose keys are above low."},
		code.Func().Add(w.receiver()).Id("look").Params(params...).Params(code.Id("jobs").Index().Id("Job"), code.Err().Error()).BlockFunc(func(g *code.Group) {
			w.look(g)
			g.Return(code.Id("jobs"), code.Err())
		}))
}

// claimStatementMethod emits
//
//	func (q *Queue) claimStatement(kind string, limit int) (text string, args []any) {
//		switch limit {
//		case 1:
//			return claim1SQL, []any{kind}
//		}
//		return claimSQL, []any{kind, limit}
//	}
func (w *writer) claimStatementMethod(f *code.File) {
	values := func(s *plan.Statement) *code.Statement {
		_, args := w.arguments(s, source{lists: true}, "claim")
		return code.Return(w.text(s), code.Index().Any().Values(args...))
	}
	decl(f, []string{"claimStatement is the statement for limit jobs: with the size as a literal where there is one, which the server plans once, else with the size as an argument."},
		code.Func().Add(w.receiver()).Id("claimStatement").Params(declared(w.sized())...).Params(code.Id("text").String(), code.Id("args").Index().Any()).Block(
			code.Switch(code.Id("limit")).BlockFunc(func(g *code.Group) {
				for _, r := range w.Claim.Ladder {
					g.Case(code.Lit(r.Limit)).Block(values(r.Statement))
				}
			}),
			values(w.Claim.Statement),
		))
}

// pickTake emits a claim of two statements between which others may take the
// same rows:
//
//	for round := 0; round < 8 && len(jobs) < limit; round++ {
//		missing := limit - len(jobs)
//		fetch := q.crowd.window(missing)
//		var found, taken []Job
//		err = q.retry(… found, err = query(ctx, db, scanCandidate, claimPickSQL, fetch) …)
//		if err != nil || len(found) == 0 {
//			break
//		}
//		tried := found
//		if more := len(found) - missing; more > 0 {
//			at := rand.IntN(more + 1)
//			tried = found[at : at+missing]
//		}
//		err = q.retry(… taken, err = query(ctx, db, scanJob, claimSQL, …tried…) …)
//		if err != nil {
//			break
//		}
//		q.crowd.met(len(taken) < len(tried))
//		jobs = append(jobs, taken...)
//		if len(taken) == len(found) && len(found) < fetch {
//			break // there are no more
//		}
//	}
func (w *writer) pickTake(g *code.Group) {
	c := w.Claim
	pickBefore, pickArgs := w.arguments(c.Pick, source{limit: code.Id("fetch"), lists: true}, "claim", code.Nil())
	take := w.takeTried("taken", code.Id("missing"))
	w.prepareLists(g, "claim")
	addAll(g, pickBefore)
	wanting := code.Len(code.Id("jobs")).Op("<").Id("limit")
	if c.BatchRow != nil {
		wanting = empty("jobs") // a further round would add a further row
	}
	g.For(code.Id("round").Op(":=").Lit(0), code.Id("round").Op("<").Lit(8).Op("&&").Add(wanting), code.Id("round").Op("++")).BlockFunc(func(g *code.Group) {
		g.Id("missing").Op(":=").Id("limit").Op("-").Len(code.Id("jobs"))
		g.Id("fetch").Op(":=").Add(w.queue()).Dot("crowd").Dot("window").Call(code.Id("missing"))
		w.token(g)
		g.Var().List(code.Id("found"), code.Id("taken")).Index().Id("Job")
		g.Add(attempt(w.queue(), "retry", code.Lit("claim"), queryInto("found", "scanCandidate", w.bound(c.Pick, pickArgs)...)))
		g.If(errOr(empty("found"))).Block(code.Break())
		g.Id("tried").Op(":=").Id("found")
		g.If(code.Id("more").Op(":=").Len(code.Id("found")).Op("-").Id("missing"), code.Id("more").Op(">").Lit(0)).Block(
			code.Id("at").Op(":=").Qual(mathRand, "IntN").Call(code.Id("more").Op("+").Lit(1)),
			code.Id("tried").Op("=").Id("found").Index(code.Id("at").Op(":").Id("at").Op("+").Id("missing")),
		)
		addAll(g, w.declareFull())
		g.Add(w.taking("taken", append(w.passTried("taken"), take...)...))
		g.If(code.Err().Op("!=").Nil()).Block(code.Break())
		g.Add(w.queue()).Dot("crowd").Dot("met").Call(code.Len(code.Id("taken")).Op("<").Len(code.Id("tried")))
		g.Id("jobs").Op("=").Append(code.Id("jobs"), code.Id("taken").Op("..."))
		g.If(code.Len(code.Id("taken")).Op("==").Len(code.Id("found")).Op("&&").Len(code.Id("found")).Op("<").Id("fetch")).Block(
			code.Break().Comment("there are no more"),
		)
		addAll(g, w.stopFull())
	})
	g.If(code.Err().Op("!=").Nil().Op("&&").Parens(empty("jobs").Op("||").Add(w.queue()).Dot("begin").Op("==").Nil())).Block(
		code.Return(code.Nil(), code.Err()),
	)
	w.sort(g)
	w.hold(g)
	g.Return(code.Id("jobs"), code.Nil()).Comment("an error after jobs were taken will come again")
}

// meetsOthers reports whether claims pick jobs that others may take before they do.
func (w *writer) meetsOthers() bool {
	return w.Claim != nil && w.Claim.Flow == plan.PickTake && w.Claim.Accept == nil
}

// crowdType emits
//
//	type crowd struct{ lost atomic.Int32 }
//
//	func (c *crowd) window(n int) int {
//		return min(n<<(c.lost.Load()/4), max(n, 4096))
//	}
//
//	func (c *crowd) met(lost bool) {
//		switch n := c.lost.Load(); {
//		case lost:
//			c.lost.CompareAndSwap(n, min(n+4, 20))
//		case n > 0:
//			c.lost.CompareAndSwap(n, n-1)
//		}
//	}
func (w *writer) crowdType(f *code.File) {
	recv := func() *code.Statement { return code.Params(code.Id("c").Op("*").Id("crowd")) }
	count := code.Id("c").Dot("lost")
	load := count.Clone().Dot("Load").Call()
	swap := func(by *code.Statement) *code.Statement {
		return count.Clone().Dot("CompareAndSwap").Call(code.Id("n"), by)
	}
	decl(f, []string{"crowd tells how often others were quicker of late. Who finds that they are looks further back than the head of the queue, where all meet."},
		code.Type().Id("crowd").Struct(
			code.Id("lost").Qual("sync/atomic", "Int32").Comment("0 to 20: four for each claim that lost jobs, one less for each that did not"),
		))
	decl(f, []string{"window is out of how many of the first ready jobs a claim takes n: n alone while nobody else wants them, and up to 32 times as many."},
		code.Func().Add(recv()).Id("window").Params(code.Id("n").Int()).Int().Block(
			code.Return(code.Id("min").Call(code.Id("n").Op("<<").Parens(load.Clone().Op("/").Lit(4)), code.Id("max").Call(code.Id("n"), code.Lit(4096)))),
		))
	decl(f, []string{"met notes whether others took jobs that a claim wanted."},
		code.Func().Add(recv()).Id("met").Params(code.Id("lost").Bool()).Block(
			code.Switch(code.Id("n").Op(":=").Add(load), code.Empty()).Block(
				code.Case(code.Id("lost")).Block(swap(code.Id("min").Call(code.Id("n").Op("+").Lit(4), code.Lit(20)))),
				code.Case(code.Id("n").Op(">").Lit(0)).Block(swap(code.Id("n").Op("-").Lit(1))),
			),
		))
}

// askTake emits a claim that asks of candidates before it takes them. It asks no more
// once it has taken one, so that a panic leaves nothing behind:
//
//	asked := make(map[Key]bool)
//	fetch := limit
//	for round := 0; round < 8 && len(jobs) == 0; round++ {
//		var tried []Job
//		for more := true; more && len(tried) < limit; fetch = max(limit, min(4*fetch, mostAsked)) {
//			var found []Job
//			err = q.retry(… found, err = query(ctx, db, scanPeeked, claimPickSQL, fetch) …)
//			if err != nil {
//				return nil, err
//			}
//			more = len(found) == fetch && fetch < mostAsked
//			tried = append(tried, ask(accept, asked, found, limit-len(tried), round > 0)...)
//		}
//		if len(tried) == 0 {
//			break
//		}
//		err = q.retry(… jobs, err = query(ctx, db, scanJob, claimSQL, …tried…) …)
//		if err != nil {
//			return nil, err
//		}
//	}
//	return jobs, nil
func (w *writer) askTake(g *code.Group) {
	c := w.Claim
	fetch := func() *code.Statement { return code.Id("fetch") }
	most := func() *code.Statement { return code.Id("mostAsked") }
	pickBefore, pickArgs := w.arguments(c.Pick, source{limit: fetch(), lists: true}, "claim", code.Nil())
	take := w.takeTried("jobs", code.Id("limit"))
	w.prepareLists(g, "claim")
	addAll(g, pickBefore)
	g.Id("asked").Op(":=").Make(code.Map(code.Id("Key")).Bool())
	g.Id("fetch").Op(":=").Id("limit")
	g.For(code.Id("round").Op(":=").Lit(0), code.Id("round").Op("<").Lit(8).Op("&&").Len(code.Id("jobs")).Op("==").Lit(0), code.Id("round").Op("++")).BlockFunc(func(g *code.Group) {
		g.Var().Id("tried").Index().Id("Job")
		next := fetch().Op("=").Id("max").Call(code.Id("limit"), code.Id("min").Call(code.Lit(4).Op("*").Id("fetch"), most()))
		g.For(code.Id("more").Op(":=").True(), code.Id("more").Op("&&").Len(code.Id("tried")).Op("<").Id("limit"), next).Block(
			code.Var().Id("found").Index().Id("Job"),
			attempt(w.queue(), "retry", code.Lit("claim"), queryInto("found", w.pickScan(), w.bound(c.Pick, pickArgs)...)),
			ifErr(code.Nil()),
			code.Id("more").Op("=").Len(code.Id("found")).Op("==").Add(fetch()).Op("&&").Add(fetch()).Op("<").Add(most()),
			code.Id("tried").Op("=").Append(code.Id("tried"), code.Id("ask").Call(code.Id("accept"), code.Id("asked"), code.Id("found"),
				code.Id("limit").Op("-").Len(code.Id("tried")), code.Id("round").Op(">").Lit(0)).Op("...")),
		)
		g.If(empty("tried")).Block(code.Break())
		w.token(g)
		addAll(g, w.declareFull())
		g.Add(w.taking("jobs", append(w.passTried("jobs"), take...)...))
		g.Add(ifErr(code.Nil()))
		addAll(g, w.stopFull())
	})
	w.sort(g)
	g.Return(code.Id("jobs"), code.Nil())
}

// pickScan is the function that reads what Pick returns for accept.
func (w *writer) pickScan() string {
	if sameFields(w.Claim.Pick.Rows, w.claimRows()) {
		return "scanJob"
	}
	return "scanPeeked"
}

// askFunc emits
//
//	func ask(accept func(Job) bool, asked map[Key]bool, found []Job, limit int, lost bool) []Job {
//		fresh := slices.DeleteFunc(found, func(j Job) bool { return asked[j.Key()] })
//		if lost {
//			near := fresh[:min(len(fresh), 4*min(len(fresh), limit))]
//			rand.Shuffle(len(near), func(i, k int) { near[i], near[k] = near[k], near[i] })
//		}
//		var accepted []Job
//		for _, j := range fresh {
//			if len(accepted) == limit {
//				break
//			}
//			asked[j.Key()] = true
//			if accept == nil || accept(j) {
//				accepted = append(accepted, j)
//			}
//		}
//		return accepted
//	}
func (w *writer) askFunc(f *code.File) {
	constants(f, constant{"mostAsked", code.Lit(w.Claim.Accept.Most), "Claim looks at the first so many ready jobs, or at limit if that is more"})
	fresh, near, accepted := code.Id("fresh"), code.Id("near"), code.Id("accepted")
	element := func(i string) *code.Statement { return near.Clone().Index(code.Id(i)) }
	decl(f, []string{"ask returns up to limit of the jobs found that accept accepts, of those that it was not asked of before. After lost, others want the same jobs: it then asks of the next few in any order."},
		code.Func().Id("ask").Params(code.Id("accept").Add(acceptType()), code.Id("asked").Map(code.Id("Key")).Bool(), code.Id("found").Index().Id("Job"), code.Id("limit").Int(), code.Id("lost").Bool()).Index().Id("Job").Block(
			fresh.Clone().Op(":=").Qual("slices", "DeleteFunc").Call(code.Id("found"), code.Func().Params(code.Id("j").Id("Job")).Bool().Add(
				inline(code.Return(code.Id("asked").Index(code.Id("j").Dot("Key").Call()))))),
			code.If(code.Id("lost")).Block(
				near.Clone().Op(":=").Add(fresh.Clone()).Index(code.Op(":").Id("min").Call(code.Len(fresh.Clone()), code.Lit(4).Op("*").Id("min").Call(code.Len(fresh.Clone()), code.Id("limit")))),
				code.Qual(mathRand, "Shuffle").Call(code.Len(near.Clone()), code.Func().Params(code.List(code.Id("i"), code.Id("k")).Int()).Block(
					code.List(element("i"), element("k")).Op("=").List(element("k"), element("i")),
				)),
			),
			code.Var().Add(accepted.Clone()).Index().Id("Job"),
			code.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Add(fresh.Clone())).Block(
				code.If(code.Len(accepted.Clone()).Op("==").Id("limit")).Block(code.Break()),
				code.Id("asked").Index(code.Id("j").Dot("Key").Call()).Op("=").True(),
				code.If(code.Id("accept").Op("==").Nil().Op("||").Id("accept").Call(code.Id("j"))).Block(
					accepted.Clone().Op("=").Append(accepted.Clone(), code.Id("j")),
				),
			),
			code.Return(accepted.Clone()),
		))
}

// takeTried emits what takes those of the candidates into a variable that are still
// free.
func (w *writer) takeTried(into string, limit *code.Statement) []*code.Statement {
	c := w.Claim
	tried := source{many: code.Id("tried"), item: code.Id("Job"), limit: limit, lists: true}
	if c.Alone {
		return w.takeAlone(into)
	}
	if c.Lock == nil {
		before, args := w.arguments(c.Statement, tried, "")
		return slices.Concat(before, w.addBatch(), w.unlessUndone(into, queryCall("scanJob", w.bound(c.Statement, args)...)))
	}
	return append(w.lockRows(into, "free", w.lockedScan(), c.Lock, tried), w.takeLocked(into, "free")...)
}

// takeAlone emits what takes candidates one by one, where no lock keeps others away:
//
//	taken = nil
//	var mine []Job
//	for _, j := range tried {
//		n, err := exec(ctx, db, claimSQL, …[]Job{j}…)
//		if err != nil && len(mine) == 0 {
//			return err
//		}
//		if err != nil {
//			break // what is marked is ours
//		}
//		if n > 0 {
//			mine = append(mine, j)
//		}
//	}
//	if len(mine) == 0 {
//		return nil
//	}
//	taken, err = query(ctx, db, scanJob, claimReadSQL, …mine…)
//	return err
func (w *writer) takeAlone(into string) []*code.Statement {
	c := w.Claim
	one := source{many: code.Index().Id("Job").Values(code.Id("j")), item: code.Id("Job"), lists: true}
	mine := source{many: code.Id("mine"), item: code.Id("Job"), lists: true}
	before, args := w.arguments(c.Statement, one, "")
	take := append(before,
		code.List(code.Id("n"), code.Err()).Op(":=").Add(execCall(w.bound(c.Statement, args)...)),
		code.If(code.Err().Op("!=").Nil().Op("&&").Add(empty("mine"))).Block(code.Return(code.Err())),
		code.If(code.Err().Op("!=").Nil()).Block(code.Break().Comment("what is marked is ours")),
		code.If(code.Id("n").Op(">").Lit(0)).Block(code.Id("mine").Op("=").Append(code.Id("mine"), code.Id("j"))),
	)
	readBefore, readArgs := w.arguments(c.Read, mine, "")
	none := []*code.Statement{code.Return(code.Nil())}
	if c.BatchRow != nil {
		none = []*code.Statement{w.undoBatch(), code.Return(code.Err())}
	}
	list := append([]*code.Statement{code.Id(into).Op("=").Nil()}, w.addBatch()...)
	list = append(list,
		code.Var().Id("mine").Index().Id("Job"),
		code.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("tried")).Block(take...),
		code.If(empty("mine")).Block(none...),
	)
	list = append(list, readBefore...)
	return append(list, w.jobsInto(into, queryCall("scanJob", w.bound(c.Read, readArgs)...))...)
}

// queueOrderFunc emits
//
//	func queueOrder(a, b Job) int {
//		return cmp.Or(
//			cmp.Compare(b.Priority, a.Priority),
//			cmp.Compare(a.MsgID, b.MsgID),
//		)
//	}
func (w *writer) queueOrderFunc(f *code.File) {
	order := w.Claim.Order
	if len(order) == 0 {
		return
	}
	body := w.compareTerm(order[0])
	if len(order) > 1 {
		body = code.Qual("cmp", "Or").CallFunc(func(g *code.Group) {
			for _, t := range order {
				g.Line().Add(w.compareTerm(t))
			}
			g.Line()
		})
	}
	decl(f, []string{"queueOrder compares jobs by their place in the queue; a statement returns them in any order."},
		code.Func().Id("queueOrder").Params(code.List(code.Id("a"), code.Id("b")).Id("Job")).Int().Block(code.Return(body)))
}

// compareTerm compares a and b by one term of the order.
func (w *writer) compareTerm(t plan.SortTerm) *code.Statement {
	a, b, nullsFirst := code.Id("a").Dot(t.Field.Name), code.Id("b").Dot(t.Field.Name), t.NullsFirst
	if t.Desc {
		a, b, nullsFirst = b, a, !nullsFirst
	}
	if isSlice(t.Field) {
		compare := code.Qual("bytes", "Compare").Call(a, b)
		if !t.Field.Null {
			return compare
		}
		sign := "=="
		if nullsFirst {
			sign = "!="
		}
		return code.Qual("cmp", "Or").Call(code.Id("compareBool").Call(a.Clone().Op(sign).Nil(), b.Clone().Op(sign).Nil()), compare)
	}
	var compare *code.Statement
	generic := false
	switch {
	case t.Field.GoType == "bool":
		compare = code.Id("compareBool")
		switch bare := func(v *code.Statement) *code.Statement { return code.Id("bool").Call(v) }; {
		case !w.isStatus(t.Field):
		case t.Field.Null:
			compare = code.Func().Params(code.List(code.Id("a"), code.Id("b")).Add(w.valueType(t.Field))).Int().Add(
				inline(code.Return(compare.Call(bare(code.Id("a")), bare(code.Id("b"))))))
		default:
			a, b = bare(a), bare(b)
		}
	case t.Field.GoType == "time.Time":
		compare = code.Qual("time", "Time").Dot("Compare")
	case t.Field.Digits && !w.isStatus(t.Field):
		compare = code.Id("compareNumber")
	default:
		compare, generic = code.Qual("cmp", "Compare"), true
	}
	switch {
	case t.Field.Null && generic:
		return code.Id("compareNull").Call(a, b, code.Lit(nullsFirst), compare.Types(w.valueType(t.Field)))
	case t.Field.Null:
		return code.Id("compareNull").Call(a, b, code.Lit(nullsFirst), compare)
	case t.Field.GoType == "time.Time":
		return a.Dot("Compare").Call(b)
	}
	return compare.Call(a, b)
}

// tokenType is the Go type of what newToken returns.
func (w *writer) tokenType() *code.Statement {
	if b := w.Claim.BatchRow; b != nil && b.Statement.Rows != nil {
		return w.goType(b.Key.GoType)
	} else if b != nil {
		return code.Int64()
	}
	switch w.Claim.Token {
	case "int":
		return code.Int64()
	case "bytes":
		return code.Index().Byte()
	}
	return code.String()
}

// newTokenFunc emits
//
//	func newToken() string {
//		var b [16]byte
//		_, _ = rand.Read(b[:]) // it never fails
//		return hex.EncodeToString(b[:])
//	}
func (w *writer) newTokenFunc(f *code.File) {
	if w.Claim != nil && w.Claim.BatchRow != nil {
		w.newTokenMethod(f)
		return
	}
	whole, body := wholeBytes, randomBody
	kind := "text"
	if w.Claim != nil {
		kind = w.Claim.Token
	}
	switch kind {
	case "int":
		decl(f, []string{"newToken returns a random positive number."},
			code.Func().Id("newToken").Params().Int64().Block(body(8,
				code.Return(code.Id("max").Call(code.Lit(1), code.Int64().Call(code.Qual("encoding/binary", "BigEndian").Dot("Uint64").Call(whole()).Op(">>").Lit(1)))),
			)...))
	case "uuid":
		decl(f, []string{"newToken returns a random UUID, version 4."},
			code.Func().Id("newToken").Params().String().Block(uuidBody()...))
	case "text":
		decl(f, []string{"newToken returns 32 random hexadecimal digits."},
			code.Func().Id("newToken").Params().String().Block(body(16,
				code.Return(code.Qual("encoding/hex", "EncodeToString").Call(whole())),
			)...))
	case "bytes":
		decl(f, []string{fmt.Sprintf("newToken returns %d random bytes.", w.Claim.TokenLen)},
			code.Func().Id("newToken").Params().Index().Byte().Block(body(w.Claim.TokenLen,
				code.Return(whole()),
			)...))
	default:
		w.fail("token kind %q is not known", w.Claim.Token)
	}
}

// wholeBytes is b[:].
func wholeBytes() *code.Statement { return code.Id("b").Index(code.Op(":")) }

// randomBody is the body of a function that begins with so many random bytes b.
func randomBody(size int, rest ...*code.Statement) []*code.Statement {
	fill := code.List(code.Id("_"), code.Id("_")).Op("=").Qual(cryptoRand, "Read").Call(wholeBytes()).Comment("it never fails")
	return append([]*code.Statement{code.Var().Id("b").Index(code.Lit(size)).Byte(), fill}, rest...)
}

// uuidBody is the body of a function that returns a random UUID.
func uuidBody() []*code.Statement {
	part := func(index ...*code.Statement) *code.Statement { return code.Id("b").Index(index...) }
	cut := func(from, to int) *code.Statement { return part(code.Lit(from), code.Lit(to)) }
	return randomBody(16,
		part(code.Lit(6)).Op("=").Add(part(code.Lit(6))).Op("&").Id("0x0f").Op("|").Id("0x40"),
		part(code.Lit(8)).Op("=").Add(part(code.Lit(8))).Op("&").Id("0x3f").Op("|").Id("0x80"),
		code.Return(code.Qual("fmt", "Sprintf").Call(code.Lit("%x-%x-%x-%x-%x"), part(code.Empty(), code.Lit(4)), cut(4, 6), cut(6, 8), cut(8, 10), part(code.Lit(10), code.Empty()))),
	)
}
