package emit

// This file writes claim.go: how jobs are taken, in each of the flows that a
// plan may ask for.

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

// lowRefresh is the name of the longest time between two full looks.
const lowRefresh = "fullLook"

// check complains about what cannot be written down at all.
func (w *writer) check() {
	if c := w.Claim; c != nil {
		if c.Low != nil && (len(c.Params) > 0 || c.Shard || c.Flow == plan.MarkRead || c.Flow == plan.PickTake) {
			w.fail("a low bound is for claims of one statement without parameters")
		}
		if c.Statement == nil || c.Flow == plan.MarkRead && (c.Read == nil || c.Token == "") || c.Flow == plan.PickTake && c.Pick == nil {
			w.fail("the claim lacks a statement or a token for its flow %q", c.Flow)
		}
	}
	for _, s := range []*plan.Settle{w.Complete, w.Retry, w.Fail, w.Requeue, w.Extend} {
		if s == nil {
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
func (w *writer) claimFile() *jen.File {
	c := w.Claim
	f := w.newFile()
	embed(f, w.claimStatements()...)
	if c.Shard {
		decl(f, []string{"Shard is a worker's share of the table: of the rows that fall to one of Count workers, those of worker Index, counted from 0."},
			jen.Type().Id("Shard").Struct(jen.List(jen.Id("Index"), jen.Id("Count")).Int()))
	}
	w.claimMethod(f)
	if w.looksTwice() {
		w.lookMethod(f)
	}
	if len(c.Ladder) > 0 {
		w.claimStatementMethod(f)
	}
	w.queueOrderFunc(f)
	return f
}

// claimStatements lists the statements of a claim in the order in which they
// run.
func (w *writer) claimStatements() []*plan.Statement {
	var all []*plan.Statement
	for _, s := range []*plan.Statement{w.Claim.Pick, w.Claim.Statement, w.Claim.Read} {
		if s != nil {
			all = append(all, s)
		}
	}
	for _, r := range w.Claim.Ladder {
		all = append(all, r.Statement)
	}
	return all
}

// looksTwice reports whether a claim may run its statement again from the
// lowest key.
func (w *writer) looksTwice() bool { return w.hasLow() }

// narrowing are the parameters of Claim before the limit.
func (w *writer) narrowing() []jen.Code {
	var params []jen.Code
	for _, p := range w.Claim.Params {
		params = append(params, jen.Id(p.Name).Add(w.paramType(p)))
	}
	if w.Claim.Shard {
		params = append(params, jen.Id("shard").Id("Shard"))
	}
	if w.Claim.LeaseArg {
		params = append(params, jen.Id("lease").Qual("time", "Duration"))
	}
	return params
}

// paramType is the Go type of a parameter of Claim.
func (w *writer) paramType(p *plan.Param) *jen.Statement {
	if p.Field != nil && w.isStatus(p.Field) && !p.List && !strings.HasPrefix(p.GoType, "*") {
		return jen.Id(w.Status.Name)
	}
	return w.goType(p.GoType)
}

// narrowingArgs passes what narrowing declares on.
func (w *writer) narrowingArgs() []jen.Code {
	var args []jen.Code
	for _, p := range w.Claim.Params {
		args = append(args, jen.Id(p.Name))
	}
	if w.Claim.Shard {
		args = append(args, jen.Id("shard"))
	}
	if w.Claim.LeaseArg {
		args = append(args, jen.Id("lease"))
	}
	return args
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
	doc := append(append([]string(nil), paragraphs...), paramDoc(w.Claim.Params)...)
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
func (w *writer) claimMethod(f *jen.File) {
	c := w.Claim
	params := append(append([]jen.Code{ctxParam()}, w.narrowing()...), jen.Id("limit").Int())
	decl(f, w.claimDoc(c.Doc, w.claimStatements()...),
		jen.Func().Add(w.receiver()).Id("Claim").Params(params...).Params(jen.Id("jobs").Index().Id("Job"), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			g.If(jen.Id("limit").Op("<=").Lit(0)).Block(jen.Return(jen.Nil(), jen.Nil()))
			w.checkShard(g, "claim")
			g.Add(observe(w.queue(), jen.Lit("claim"), jen.Len(jen.Id("jobs"))))
			switch {
			case c.Flow == plan.PickTake:
				w.pickTake(g)
			case w.looksTwice():
				w.lowClaim(g)
			default:
				w.look(g, "claim")
				w.hold(g)
				g.Return(jen.Id("jobs"), jen.Err())
			}
		}))
}

// checkShard emits
//
//	if shard.Index < 0 || shard.Index >= shard.Count {
//		return nil, fmt.Errorf("emailq: claim: there is no shard %d of %d", shard.Index, shard.Count)
//	}
func (w *writer) checkShard(g *jen.Group, op string) {
	if !w.Claim.Shard {
		return
	}
	index, count := jen.Id("shard").Dot("Index"), jen.Id("shard").Dot("Count")
	g.If(index.Clone().Op("<").Lit(0).Op("||").Add(index.Clone()).Op(">=").Add(count.Clone())).Block(
		jen.Return(jen.Nil(), jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": "+op+": there is no shard %d of %d"), index, count)))
}

// hold emits, where claims live in transactions,
//
//	for _, j := range jobs {
//		t.held = append(t.held, j.Key())
//	}
func (w *writer) hold(g *jen.Group) {
	if !w.Hold {
		return
	}
	g.For(jen.List(jen.Id("_"), jen.Id("j")).Op(":=").Range().Id("jobs")).Block(
		jen.Id("t").Dot("held").Op("=").Append(jen.Id("t").Dot("held"), jen.Id("j").Dot("Key").Call()))
}

// token emits token := newToken() where claims stamp one.
func (w *writer) token(g *jen.Group) {
	if w.Claim.Token != "" {
		g.Id("token").Op(":=").Id("newToken").Call()
	}
}

// claimText returns the text and arguments of the claim's first statement,
// with the lines that must stand before.
//
//	text, args := q.claimStatement(kind, token, limit)
func (w *writer) claimText(g *jen.Group, op string) []jen.Code {
	w.prepareLists(g, op)
	if len(w.Claim.Ladder) == 0 {
		before, args := w.arguments(w.Claim.Statement, source{lists: true}, op, jen.Nil())
		addAll(g, before)
		return append([]jen.Code{jen.Id(w.Claim.Statement.Var)}, args...)
	}
	g.List(jen.Id("text"), jen.Id("args")).Op(":=").Add(w.queue()).Dot("claimStatement").Call(w.sizedArgs()...)
	return []jen.Code{jen.Id("text"), jen.Id("args").Op("...")}
}

// prepareLists emits the lists among the parameters of Claim as JSON, where
// they travel so:
//
//	kindsJSON, err := jsonRows(kinds, func(v string) any { return v })
//	if err != nil {
//		return nil, fmt.Errorf("emailq: claim: %w", err)
//	}
func (w *writer) prepareLists(g *jen.Group, op string) {
	lists := &plan.Statement{Name: "claim"}
	for _, p := range w.Claim.Params {
		if p.List && p.JSON {
			lists.Args = append(lists.Args, plan.Arg{Kind: plan.ArgParam, Param: p})
		}
	}
	before, _ := w.arguments(lists, source{}, op, jen.Nil())
	addAll(g, before)
}

// sizedParams and sizedArgs are what claimStatement takes: the parameters of
// Claim, those that travel as JSON already so.
func (w *writer) sizedParams() []jen.Code {
	params := w.narrowing()
	for i, p := range w.Claim.Params {
		if p.List && p.JSON {
			params[i] = jen.Id(listName(p)).String()
		}
	}
	if w.Claim.Token != "" {
		params = append(params, jen.Id("token").Add(w.tokenType()))
	}
	if w.hasLow() {
		params = append(params, jen.Id("low").Add(w.lowType()))
	}
	return append(params, jen.Id("limit").Int())
}

func (w *writer) sizedArgs() []jen.Code {
	args := w.narrowingArgs()
	for i, p := range w.Claim.Params {
		if p.List && p.JSON {
			args[i] = jen.Id(listName(p))
		}
	}
	if w.Claim.Token != "" {
		args = append(args, jen.Id("token"))
	}
	if w.hasLow() {
		args = append(args, jen.Id("low"))
	}
	return append(args, jen.Id("limit"))
}

// look emits one run of the claim into jobs and err.
func (w *writer) look(g *jen.Group, op string) {
	c := w.Claim
	w.token(g)
	text := w.claimText(g, op)
	if c.Flow == plan.MarkRead {
		g.Add(attempt(w.queue(), "transact", jen.Lit(op), w.markRead(text, op)...))
	} else {
		g.Add(attempt(w.queue(), "retry", jen.Lit(op), queryInto("jobs", "scanJob", text...)))
	}
	w.sort(g)
}

// markRead emits
//
//	marked, err := exec(ctx, db, claimSQL, token, limit)
//	if err != nil || marked == 0 {
//		return err
//	}
//	jobs, err = query(ctx, db, scanJob, claimReadSQL, token)
//	return err
func (w *writer) markRead(text []jen.Code, op string) []jen.Code {
	_, args := w.arguments(w.Claim.Read, source{lists: true}, op)
	return []jen.Code{
		jen.Id("jobs").Op("=").Nil(),
		jen.List(jen.Id("marked"), jen.Err()).Op(":=").Add(execCall(text...)),
		jen.If(jen.Err().Op("!=").Nil().Op("||").Id("marked").Op("==").Lit(0)).Block(jen.Return(jen.Err())),
		queryInto("jobs", "scanJob", append([]jen.Code{jen.Id(w.Claim.Read.Var)}, args...)...),
	}
}

// sort emits slices.SortFunc(jobs, queueOrder) where the order can be known.
func (w *writer) sort(g *jen.Group) {
	if len(w.Claim.Order) > 0 {
		g.Qual("slices", "SortFunc").Call(jen.Id("jobs"), jen.Id("queueOrder"))
	}
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
//			return jobs, nil // they are taken; the error will come again
//		}
//		jobs = append(jobs, last...)
//		slices.SortFunc(jobs, queueOrder)
//	}
//	if len(jobs) == limit {
//		q.low.raise(turn, last[len(last)-1].MsgID)
//	}
//	return jobs, nil
func (w *writer) lowClaim(g *jen.Group) {
	lookAt := func(low, limit jen.Code) *jen.Statement {
		return jen.Add(w.queue()).Dot("look").Call(append(append([]jen.Code{jen.Id("ctx")}, w.narrowingArgs()...), low, limit)...)
	}
	rest := jen.Id("limit").Op("-").Len(jen.Id("jobs"))
	g.List(jen.Id("low"), jen.Id("turn")).Op(":=").Add(w.queue()).Dot("low").Dot("start").Call()
	g.List(jen.Id("jobs"), jen.Err()).Op("=").Add(lookAt(jen.Id("low"), jen.Id("limit")))
	g.Add(ifErr(jen.Nil()))
	g.Id("last").Op(":=").Id("jobs")
	g.If(jen.Len(jen.Id("jobs")).Op("<").Id("limit").Op("&&").Id("low").Op(">").Id("lowest")).BlockFunc(func(g *jen.Group) {
		g.Comment("// Jobs may have come back below the bound.")
		g.Id("turn").Op("=").Add(w.queue()).Dot("low").Dot("reset").Call()
		g.If(jen.List(jen.Id("last"), jen.Err()).Op("=").Add(lookAt(jen.Id("lowest"), rest)), jen.Err().Op("!=").Nil()).BlockFunc(func(g *jen.Group) {
			g.If(jen.Len(jen.Id("jobs")).Op("==").Lit(0)).Block(jen.Return(jen.Nil(), jen.Err()))
			g.Return(jen.Id("jobs"), jen.Nil()).Comment("they are taken; the error will come again")
		})
		g.Id("jobs").Op("=").Append(jen.Id("jobs"), jen.Id("last").Op("..."))
		w.sort(g)
	})
	g.If(jen.Len(jen.Id("jobs")).Op("==").Id("limit").Op("&&").Len(jen.Id("last")).Op(">").Lit(0)).Block(
		jen.Add(w.queue()).Dot("low").Dot("raise").Call(jen.Id("turn"), jen.Id("last").Index(jen.Len(jen.Id("last")).Op("-").Lit(1)).Dot(w.Claim.Low.Field.Name)),
	)
	g.Return(jen.Id("jobs"), jen.Nil())
}

// lookMethod emits the method look, one run of the claim above a bound.
func (w *writer) lookMethod(f *jen.File) {
	params := append(append([]jen.Code{ctxParam()}, w.narrowing()...), jen.Id("low").Add(w.lowType()), jen.Id("limit").Int())
	decl(f, []string{"look claims up to limit jobs whose keys are above low."},
		jen.Func().Add(w.receiver()).Id("look").Params(params...).Params(jen.Id("jobs").Index().Id("Job"), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
			w.look(g, "claim")
			g.Return(jen.Id("jobs"), jen.Err())
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
func (w *writer) claimStatementMethod(f *jen.File) {
	values := func(s *plan.Statement) jen.Code {
		_, args := w.arguments(s, source{lists: true}, "claim")
		return jen.Return(jen.Id(s.Var), jen.Index().Any().Values(args...))
	}
	decl(f, []string{"claimStatement is the statement for limit jobs: with the size as a literal where there is one, which the server plans once, else with the size as an argument."},
		jen.Func().Add(w.receiver()).Id("claimStatement").Params(w.sizedParams()...).Params(jen.Id("text").String(), jen.Id("args").Index().Any()).Block(
			jen.Switch(jen.Id("limit")).BlockFunc(func(g *jen.Group) {
				for _, r := range w.Claim.Ladder {
					g.Case(jen.Lit(r.Limit)).Block(values(r.Statement))
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
//		fetch := missing
//		if round > 0 {
//			fetch = 4 * missing // others are at the head, too
//		}
//		var found, taken []Job
//		err = q.retry(… found, err = query(ctx, db, scanCandidate, claimPickSQL, fetch) …)
//		if err != nil || len(found) == 0 {
//			break
//		}
//		if round > 0 {
//			rand.Shuffle(len(found), func(i, k int) { found[i], found[k] = found[k], found[i] })
//			…
//		}
//		tried := found[:min(missing, len(found))]
//		err = q.retry(… taken, err = query(ctx, db, scanJob, claimSQL, …tried…) …)
//		if err != nil {
//			break
//		}
//		jobs = append(jobs, taken...)
//		if len(taken) == len(found) && len(found) < fetch {
//			break // there are no more
//		}
//	}
func (w *writer) pickTake(g *jen.Group) {
	c := w.Claim
	pickBefore, pickArgs := w.arguments(c.Pick, source{limit: jen.Id("fetch"), lists: true}, "claim", jen.Nil())
	takeBefore, takeArgs := w.arguments(c.Statement, source{many: jen.Id("tried"), item: jen.Id("Job"), limit: jen.Id("missing"), lists: true}, "")
	w.prepareLists(g, "claim")
	addAll(g, pickBefore)
	g.For(jen.Id("round").Op(":=").Lit(0), jen.Id("round").Op("<").Lit(8).Op("&&").Len(jen.Id("jobs")).Op("<").Id("limit"), jen.Id("round").Op("++")).BlockFunc(func(g *jen.Group) {
		g.Id("missing").Op(":=").Id("limit").Op("-").Len(jen.Id("jobs"))
		g.Id("fetch").Op(":=").Id("missing")
		g.If(jen.Id("round").Op(">").Lit(0)).Block(
			jen.Id("fetch").Op("=").Lit(4).Op("*").Id("missing").Comment("others are at the head of the queue as well"),
		)
		w.token(g)
		g.Var().List(jen.Id("found"), jen.Id("taken")).Index().Id("Job")
		g.Add(attempt(w.queue(), "retry", jen.Lit("claim"), queryInto("found", "scanCandidate", append([]jen.Code{jen.Id(c.Pick.Var)}, pickArgs...)...)))
		g.If(jen.Err().Op("!=").Nil().Op("||").Len(jen.Id("found")).Op("==").Lit(0)).Block(jen.Break())
		g.If(jen.Id("round").Op(">").Lit(0)).Block(
			jen.Qual(mathRand, "Shuffle").Call(jen.Len(jen.Id("found")), jen.Func().Params(jen.List(jen.Id("i"), jen.Id("k")).Int()).Block(
				jen.List(jen.Id("found").Index(jen.Id("i")), jen.Id("found").Index(jen.Id("k"))).Op("=").List(jen.Id("found").Index(jen.Id("k")), jen.Id("found").Index(jen.Id("i"))),
			)),
		)
		g.Id("tried").Op(":=").Id("found").Index(jen.Op(":").Id("min").Call(jen.Id("missing"), jen.Len(jen.Id("found"))))
		take := append(takeBefore, queryInto("taken", "scanJob", append([]jen.Code{jen.Id(c.Statement.Var)}, takeArgs...)...))
		g.Add(attempt(w.queue(), "retry", jen.Lit("claim"), take...))
		g.If(jen.Err().Op("!=").Nil()).Block(jen.Break())
		g.Id("jobs").Op("=").Append(jen.Id("jobs"), jen.Id("taken").Op("..."))
		g.If(jen.Len(jen.Id("taken")).Op("==").Len(jen.Id("found")).Op("&&").Len(jen.Id("found")).Op("<").Id("fetch")).Block(
			jen.Break().Comment("there are no more"),
		)
	})
	g.If(jen.Err().Op("!=").Nil().Op("&&").Parens(jen.Len(jen.Id("jobs")).Op("==").Lit(0).Op("||").Add(w.queue()).Dot("begin").Op("==").Nil())).Block(
		jen.Return(jen.Nil(), jen.Err()),
	)
	w.sort(g)
	w.hold(g)
	g.Return(jen.Id("jobs"), jen.Nil()).Comment("an error after jobs were taken will come again")
}

// queueOrderFunc emits
//
//	func queueOrder(a, b Job) int {
//		return cmp.Or(
//			cmp.Compare(b.Priority, a.Priority),
//			cmp.Compare(a.MsgID, b.MsgID),
//		)
//	}
func (w *writer) queueOrderFunc(f *jen.File) {
	order := w.Claim.Order
	if len(order) == 0 {
		return
	}
	body := w.compareTerm(order[0])
	if len(order) > 1 {
		body = jen.Qual("cmp", "Or").CallFunc(func(g *jen.Group) {
			for _, t := range order {
				g.Line().Add(w.compareTerm(t))
			}
			g.Line()
		})
	}
	decl(f, []string{"queueOrder compares jobs by their place in the queue; a statement returns them in any order."},
		jen.Func().Id("queueOrder").Params(jen.List(jen.Id("a"), jen.Id("b")).Id("Job")).Int().Block(jen.Return(body)))
}

// compareTerm compares a and b by one term of the order.
func (w *writer) compareTerm(t plan.SortTerm) *jen.Statement {
	a, b, nullsFirst := jen.Id("a").Dot(t.Field.Name), jen.Id("b").Dot(t.Field.Name), t.NullsFirst
	if t.Desc {
		a, b, nullsFirst = b, a, !nullsFirst
	}
	if isSlice(t.Field) {
		return jen.Qual("bytes", "Compare").Call(a, b)
	}
	var compare *jen.Statement
	switch t.Field.GoType {
	case "bool":
		compare = jen.Id("compareBool")
	case "time.Time":
		compare = jen.Qual("time", "Time").Dot("Compare")
	default:
		compare = jen.Qual("cmp", "Compare")
	}
	switch {
	case t.Field.Null && t.Field.GoType == "bool", t.Field.Null && t.Field.GoType == "time.Time":
		return jen.Id("compareNull").Call(a, b, jen.Lit(nullsFirst), compare)
	case t.Field.Null:
		return jen.Id("compareNull").Call(a, b, jen.Lit(nullsFirst), compare.Types(w.valueType(t.Field)))
	case t.Field.GoType == "time.Time":
		return a.Dot("Compare").Call(b)
	}
	return compare.Call(a, b)
}

// tokenType is the Go type of what newToken returns.
func (w *writer) tokenType() *jen.Statement {
	if w.Claim.Token == "int" {
		return jen.Int64()
	}
	return jen.String()
}

// newTokenFunc emits
//
//	func newToken() string {
//		var b [16]byte
//		_, _ = rand.Read(b[:]) // it never fails
//		return hex.EncodeToString(b[:])
//	}
func (w *writer) newTokenFunc(f *jen.File) {
	whole := func() *jen.Statement { return jen.Id("b").Index(jen.Op(":")) }
	fill := jen.List(jen.Id("_"), jen.Id("_")).Op("=").Qual(cryptoRand, "Read").Call(whole()).Comment("it never fails")
	body := func(size int, code ...jen.Code) []jen.Code {
		return append([]jen.Code{jen.Var().Id("b").Index(jen.Lit(size)).Byte(), fill}, code...)
	}
	switch w.Claim.Token {
	case "int":
		decl(f, []string{"newToken returns a random positive number."},
			jen.Func().Id("newToken").Params().Int64().Block(body(8,
				jen.Return(jen.Id("max").Call(jen.Lit(1), jen.Int64().Call(jen.Qual("encoding/binary", "BigEndian").Dot("Uint64").Call(whole()).Op(">>").Lit(1)))),
			)...))
	case "uuid":
		part := func(index ...jen.Code) *jen.Statement { return jen.Id("b").Index(index...) }
		cut := func(from, to int) *jen.Statement { return part(jen.Lit(from), jen.Lit(to)) }
		decl(f, []string{"newToken returns a random UUID, version 4."},
			jen.Func().Id("newToken").Params().String().Block(body(16,
				part(jen.Lit(6)).Op("=").Add(part(jen.Lit(6))).Op("&").Id("0x0f").Op("|").Id("0x40"),
				part(jen.Lit(8)).Op("=").Add(part(jen.Lit(8))).Op("&").Id("0x3f").Op("|").Id("0x80"),
				jen.Return(jen.Qual("fmt", "Sprintf").Call(jen.Lit("%x-%x-%x-%x-%x"), part(jen.Empty(), jen.Lit(4)), cut(4, 6), cut(6, 8), cut(8, 10), part(jen.Lit(10), jen.Empty()))),
			)...))
	case "text":
		decl(f, []string{"newToken returns 32 random hexadecimal digits."},
			jen.Func().Id("newToken").Params().String().Block(body(16,
				jen.Return(jen.Qual("encoding/hex", "EncodeToString").Call(whole())),
			)...))
	default:
		w.fail("token kind %q is not known", w.Claim.Token)
	}
}
