package emit

// This file writes the operations over tables whose rows are only added, which
// each group of consumers reads behind a mark.

import (
	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// dot is x.name.
func dot(x, name string) *code.Statement { return code.Id(x).Dot(name) }

// run is the text of a statement and its arguments, of which those of marks are
// fields of one.
func (w *writer) run(s *plan.Statement, one string) []*code.Statement {
	before, args := w.arguments(s, source{one: code.Id(one)}, "")
	if len(before) > 0 {
		w.fail("%s: a list cannot be an argument over a log", s.Name)
	}
	return w.bound(s, args)
}

// heldType emits
//
//	type Held struct {
//		Group string `json:"group"` // of consumers
//		Token string `json:"token"` // of the claim
//		Place int    `json:"place"` // of the job in its batch, from 1
//		Of    int    `json:"of"`    // how many jobs the batch has
//	}
func (w *writer) heldType(f *code.File) {
	tag := func(name string) map[string]string { return map[string]string{"json": name} }
	decl(f, []string{"Held is the claim that a job is of."},
		code.Type().Id("Held").StructFunc(func(g *code.Group) {
			g.Id("Group").String().Tag(tag("group")).Comment("of consumers")
			g.Id("Token").String().Tag(tag("token")).Comment("of the claim")
			g.Id("Place").Int().Tag(tag("place")).Comment("of the job in its batch, from 1")
			g.Id("Of").Int().Tag(tag("of")).Comment("how many jobs the batch has")
			if w.Offset.NotUnique {
				g.Id("Ends").Bool().Tag(tag("ends")).Comment("the next job is not alike, so the mark may stand behind this one")
			}
		}))
	decl(f, []string{"left is the token of the claim when that many of its jobs are passed: none when all are."},
		code.Func().Params(code.Id("h").Id("Held")).Id("left").Params(code.Id("passed").Int()).Op("*").String().Block(
			code.If(code.Id("passed").Op("==").Add(dot("h", "Of"))).Block(code.Return(code.Nil())),
			code.Return(code.Op("&").Add(dot("h", "Token"))),
		))
}

// markType emits
//
//	type mark struct {
//		ID *int64 `json:"id"`
//	}
//
//	func markOf(j Job) mark { return mark{ID: &j.ID} }
func (w *writer) markType(f *code.File) {
	decl(f, []string{"mark is the place of the last row that a group has passed, nil before the first."},
		code.Type().Id("mark").StructFunc(func(g *code.Group) {
			for _, m := range w.Offset.Mark {
				g.Id(m.Name).Add(w.fieldType(m)).Tag(map[string]string{"json": m.JSON})
			}
		}))
	decl(f, []string{"markOf is the mark behind a job."},
		code.Func().Id("markOf").Params(code.Id("j").Id("Job")).Id("mark").Add(inline(code.Return(code.Id("mark").ValuesFunc(func(g *code.Group) {
			for _, m := range w.Offset.Mark {
				at := g.Id(m.Name).Op(":")
				if !isSlice(m) {
					at.Op("&")
				}
				at.Add(dot("j", m.Name))
			}
		})))))
}

// scanMarks adds to scan how the columns of a mark are read into target.
func (w *writer) scanMarks(scan *scanning, target, result *code.Statement) {
	for _, m := range w.Offset.Mark {
		to := target.Clone().Dot(m.Name)
		if m.TimeIsText() {
			w.scanText(scan, m, to, code.Return(result.Clone(), code.Err()))
		} else {
			w.scanField(scan, m, to)
		}
	}
}

// progressType emits what is read of a group, and how.
func (w *writer) progressType(f *code.File) {
	decl(f, []string{"progress is how far a group came."},
		code.Type().Id("progress").Struct(
			code.Id("turn").Int64().Comment("counts everything that happens to the group"),
			code.Id("free").Bool().Comment("no claim runs"),
			code.Id("at").Id("mark"),
		))
	scan := scanning{
		vars:  []*code.Statement{code.Var().Id("free").Int64()},
		dest:  []*code.Statement{code.Op("&").Add(dot("p", "turn")), code.Op("&").Id("free")},
		after: []*code.Statement{dot("p", "free").Op("=").Id("free").Op("==").Lit(1)},
	}
	w.scanMarks(&scan, dot("p", "at"), code.Id("p"))
	decl(f, []string{"scanProgress reads the row of a group."},
		code.Func().Id("scanProgress").Params(code.Id("r").Id("row")).Params(code.Id("progress"), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("p").Id("progress")
			w.scanBody(g, scan, code.Id("p"))
		}))
}

// groupParams are the parameters of what takes or shows rows.
func groupParams() []*code.Statement {
	return []*code.Statement{ctxParam(), code.Id("group").String(), code.Id("limit").Int()}
}

// offsetClaimFile emits
//
//	func (q *Queue) Claim(ctx context.Context, group string, limit int) (jobs []Job, err error) {
//		if limit <= 0 {
//			return nil, nil
//		}
//		…
//		token, lease := newToken(), q.lease
//		err = q.retry(ctx, "claim", func(db DBTX) (err error) {
//			jobs = nil
//			now, err := q.progress(ctx, db, group)
//			if err != nil || !now.free {
//				return err
//			}
//			rows, err := q.behind(ctx, db, now.at, limit)
//			if err != nil || len(rows) == 0 {
//				return err
//			}
//			turn := now.turn
//			n, err := exec(ctx, db, claimSQL, token, q.worker, lease.Seconds(), group, turn)
//			if n == 1 {
//				jobs = rows
//			}
//			return err
//		})
//		for i := range jobs {
//			jobs[i].Held = Held{Group: group, Token: token, Place: i + 1, Of: len(jobs)}
//		}
//		return jobs, err
//	}
func (w *writer) offsetClaimFile() *code.File {
	o := w.Offset
	f := w.newFile()
	all := present(o.Progress, o.Begin, o.Bound, o.First, o.Next, o.Alike, o.Take)
	embed(f, all...)
	w.heldType(f)
	decl(f, docOf(o.ClaimDoc, all...),
		code.Func().Add(queueReceiver()).Id("Claim").Params(groupParams()...).Params(code.Id("jobs").Index().Id("Job"), code.Err().Error()).BlockFunc(func(g *code.Group) {
			g.Add(ifNoLimit(code.Nil()))
			if o.Apart {
				g.If(dot("q", "begin").Op("==").Nil()).Block(
					code.Return(code.Nil(), w.newError("claim: the queue was made over a transaction, which may not see all rows; Claim needs a pool")))
			}
			g.Add(observe(code.Id("q"), code.Lit("claim"), code.Len(code.Id("jobs"))))
			g.List(code.Id("token"), code.Id("lease")).Op(":=").List(code.Id("newToken").Call(), dot("q", "lease"))
			g.Add(attempt(code.Id("q"), "retry", code.Lit("claim"),
				code.Id("jobs").Op("=").Nil(),
				code.List(code.Id("now"), code.Err()).Op(":=").Add(dot("q", "progress")).Call(code.Id("ctx"), code.Id("db"), code.Id("group")),
				ifErrOr(code.Op("!").Add(dot("now", "free"))),
				code.List(code.Id("rows"), code.Err()).Op(":=").Add(dot("q", "behind")).Call(code.Id("ctx"), code.Id("db"), dot("now", "at"), code.Id("limit")),
				ifErrOr(empty("rows")),
				code.Id("turn").Op(":=").Add(dot("now", "turn")),
				code.List(code.Id("n"), code.Err()).Op(":=").Add(execCall(w.run(o.Take, "")...)),
				code.If(code.Id("n").Op("==").Lit(1)).Block(code.Id("jobs").Op("=").Id("rows")),
				code.Return(code.Err()),
			))
			g.For(code.Id("i").Op(":=").Range().Id("jobs")).BlockFunc(func(g *code.Group) {
				held := []*code.Statement{
					code.Id("Group").Op(":").Id("group"), code.Id("Token").Op(":").Id("token"),
					code.Id("Place").Op(":").Id("i").Op("+").Lit(1), code.Id("Of").Op(":").Len(code.Id("jobs")),
				}
				if o.NotUnique {
					g.Id("ends").Op(":=").Id("i").Op("+").Lit(1).Op("==").Len(code.Id("jobs")).Op("||").Op("!").Id("alike").Call(code.Id("jobs").Index(code.Id("i")), code.Id("jobs").Index(code.Id("i").Op("+").Lit(1)))
					held = append(held, code.Id("Ends").Op(":").Id("ends"))
				}
				g.Id("jobs").Index(code.Id("i")).Dot("Held").Op("=").Id("Held").Values(held...)
			})
			g.Return(code.Id("jobs"), code.Err())
		}))
	w.progressMethod(f)
	w.behindMethod(f)
	if o.Bound != nil {
		w.horizonType(f)
	}
	if o.NotUnique {
		w.alikeFunc(f)
	}
	w.markType(f)
	w.progressType(f)
	if o.Settles {
		w.settlingType(f)
	}
	return f
}

// progressMethod emits
//
//	func (q *Queue) progress(ctx context.Context, db DBTX, group string) (progress, error) {
//		found, err := query(ctx, db, scanProgress, claimMarkSQL, group)
//		if err != nil {
//			return progress{}, err
//		}
//		if len(found) > 0 {
//			return found[0], nil
//		}
//		_, err = exec(ctx, db, claimBeginSQL, group)
//		return progress{free: true}, err
//	}
//
// and where another may add the same group, it looks once more after an error.
func (w *writer) progressMethod(f *code.File) {
	o := w.Offset
	read := func() *code.Statement { return queryCall("scanProgress", w.run(o.Progress, "")...) }
	first := func() *code.Statement { return code.Id("found").Index(code.Lit(0)) }
	decl(f, []string{"progress reads how far a group came. One that is new is added."},
		code.Func().Add(queueReceiver()).Id("progress").Params(ctxParam(), code.Id("db").Id("DBTX"), code.Id("group").String()).Params(code.Id("progress"), code.Error()).BlockFunc(func(g *code.Group) {
			g.List(code.Id("found"), code.Err()).Op(":=").Add(read())
			g.Add(ifErr(code.Id("progress").Values()))
			g.If(code.Len(code.Id("found")).Op(">").Lit(0)).Block(code.Return(first(), code.Nil()))
			g.List(code.Id("_"), code.Err()).Op("=").Add(execCall(w.run(o.Begin, "")...))
			if o.BeginFails {
				g.If(code.Err().Op("!=").Nil()).Block(
					code.Comment("// Perhaps another added it."),
					code.If(code.List(code.Id("found"), code.Id("again")).Op(":=").Add(read()), code.Id("again").Op("==").Nil().Op("&&").Len(code.Id("found")).Op(">").Lit(0)).Block(
						code.Return(first(), code.Nil())),
				)
			}
			g.Return(code.Id("progress").Values(code.Id("free").Op(":").True()), code.Err())
		}))
}

// behindMethod emits
//
//	func (q *Queue) behind(ctx context.Context, db DBTX, at mark, limit int) (rows []Job, err error) {
//		if at.ID == nil {
//			rows, err = query(ctx, db, scanJob, claimFirstSQL, limit)
//		} else {
//			rows, err = query(ctx, db, scanJob, claimNextSQL, at.ID, limit)
//		}
//		return rows, err
//	}
//
// with a bound on what is read, and a cut before rows that have not settled or that
// would be taken apart from rows that are alike.
func (w *writer) behindMethod(f *code.File) {
	o := w.Offset
	from, scan, row := "at", "scanJob", code.Id("Job")
	if o.Settles {
		scan, row = "scanSettling", code.Id("settling")
	}
	result := "rows"
	if o.Settles || o.NotUnique {
		result = "found"
	}
	decl(f, []string{"behind reads up to limit rows behind a mark" + map[bool]string{true: ", and none apart from those that are alike", false: ""}[o.NotUnique] + "."},
		code.Func().Add(queueReceiver()).Id("behind").Params(ctxParam(), code.Id("db").Id("DBTX"), code.Id("at").Id("mark"), code.Id("limit").Int()).
			Params(code.Id("rows").Index().Id("Job"), code.Err().Error()).BlockFunc(func(g *code.Group) {
			if o.Bound != nil {
				from = "from"
				g.List(code.Id("bound"), code.Err()).Op(":=").Add(dot("q", "bound")).Call(code.Id("ctx"), code.Id("db"))
				g.Add(ifErrOr(code.Id("bound").Op("==").Nil(), code.Nil()))
				g.Id("from").Op(":=").Struct(code.Id("mark"), code.Id("Bound").Add(w.valueType(o.At[0]))).Values(code.Id("at"), code.Op("*").Id("bound"))
			}
			if result == "found" {
				g.Var().Id("found").Index().Add(row)
			}
			if o.NotUnique {
				g.Id("most").Op(":=").Id("limit")
				g.Id("limit").Op("++").Comment("one more tells whether the last is alike")
			}
			read := func(s *plan.Statement) *code.Statement {
				return code.List(code.Id(result), code.Err()).Op("=").Add(queryCall(scan, w.run(s, from)...))
			}
			g.If(dot("at", o.Mark[0].Name).Op("==").Nil()).Block(read(o.First)).Else().Block(read(o.Next))
			switch {
			case o.NotUnique:
				w.wholeValues(g, scan, row)
			case o.Settles:
				g.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("found")).Block(
					code.If(code.Op("!").Add(dot("j", "settled"))).Block(code.Break().Comment("none may be taken before one in front of it")),
					code.Id("rows").Op("=").Append(code.Id("rows"), dot("j", "Job")),
				)
				g.Return(code.Id("rows"), code.Err())
			default:
				g.Return(code.Id("rows"), code.Err())
			}
		}))
}

// wholeValues emits the cut of found into rows where rows may be alike.
func (w *writer) wholeValues(g *code.Group, scan string, row *code.Statement) {
	o := w.Offset
	job := func(index *code.Statement) *code.Statement {
		s := code.Id("found").Index(index)
		if o.Settles {
			s = s.Dot("Job")
		}
		return s
	}
	n := func() *code.Statement { return code.Id("n") }
	g.Add(ifErr(code.Nil()))
	g.Id("n").Op(":=").Id("min").Call(code.Len(code.Id("found")), code.Id("most"))
	if o.Settles {
		g.If(code.Id("i").Op(":=").Qual("slices", "IndexFunc").Call(code.Id("found").Index(code.Op(":").Id("n")),
			code.Func().Params(code.Id("j").Add(row.Clone())).Bool().Add(inline(code.Return(code.Op("!").Add(dot("j", "settled")))))), code.Id("i").Op(">=").Lit(0)).Block(
			n().Op("=").Id("i").Comment("none may be taken before one in front of it"),
		)
	}
	g.Id("more").Op(":=").Id("n").Op("==").Id("most")
	g.For(code.Empty(), n().Op(">").Lit(0).Op("&&").Add(n()).Op("<").Len(code.Id("found")).Op("&&").Id("alike").Call(job(n().Op("-").Lit(1)), job(n())), n().Op("--")).Block()
	g.If(n().Op("==").Lit(0).Op("&&").Id("more").Op("&&").Len(code.Id("found")).Op(">").Lit(0)).BlockFunc(func(g *code.Group) {
		g.Comment("// More rows than that are alike: they are taken all.")
		if o.Bound != nil {
			g.Id("from").Dot("mark").Op("=").Id("markOf").Call(job(code.Lit(0)))
		} else {
			g.Id("at").Op("=").Id("markOf").Call(job(code.Lit(0)))
		}
		from := "at"
		if o.Bound != nil {
			from = "from"
		}
		g.Add(ifAssign(code.List(code.Id("found"), code.Err()).Op("=").Add(queryCall(scan, w.run(o.Alike, from)...)), code.Nil()))
		g.Id("n").Op("=").Len(code.Id("found"))
		if o.Settles {
			g.If(code.Qual("slices", "ContainsFunc").Call(code.Id("found"), code.Func().Params(code.Id("j").Add(row.Clone())).Bool().Add(inline(code.Return(code.Op("!").Add(dot("j", "settled"))))))).Block(
				n().Op("=").Lit(0))
		}
	})
	if o.Settles {
		g.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("found").Index(code.Op(":").Id("n"))).Block(
			code.Id("rows").Op("=").Append(code.Id("rows"), dot("j", "Job")))
		g.Return(code.Id("rows"), code.Nil())
		return
	}
	g.Return(code.Id("found").Index(code.Op(":").Id("n")), code.Nil())
}

// alikeFunc emits
//
//	func alike(a, b Job) bool { return a.TakenAt.Equal(b.TakenAt) }
func (w *writer) alikeFunc(f *code.File) {
	var same *code.Statement
	for i, at := range w.Offset.At {
		test := dot("a", at.Name).Op("==").Add(dot("b", at.Name))
		if at.GoType == "time.Time" {
			test = dot("a", at.Name).Dot("Equal").Call(dot("b", at.Name))
		}
		if i == 0 {
			same = test
		} else {
			same.Op("&&").Add(test)
		}
	}
	decl(f, []string{"alike reports whether no mark can stand between two rows."},
		code.Func().Id("alike").Params(code.List(code.Id("a"), code.Id("b")).Id("Job")).Bool().Add(inline(code.Return(same))))
}

// settlingType emits rows that come with whether they have settled.
//
//	type settling struct {
//		Job
//		settled bool
//	}
func (w *writer) settlingType(f *code.File) {
	decl(f, []string{"settling is a row of which no transaction can add one in front any more, if it has settled."},
		code.Type().Id("settling").Struct(code.Id("Job"), code.Id("settled").Bool()))
	decl(f, []string{"scanSettling reads whether a row has settled, and the row."},
		code.Func().Id("scanSettling").Params(code.Id("r").Id("row")).Params(code.Id("s").Id("settling"), code.Err().Error()).Block(
			code.Var().Id("settled").Int64(),
			code.List(dot("s", "Job"), code.Err()).Op("=").Id("scanJob").Call(code.Id("behindFlag").Values(code.Id("r"), code.Op("&").Id("settled"))),
			dot("s", "settled").Op("=").Id("settled").Op("==").Lit(1),
			code.Return(code.Id("s"), code.Err()),
		))
	decl(f, []string{"behindFlag is a row less its first column."},
		code.Type().Id("behindFlag").Struct(code.Id("row"), code.Id("flag").Op("*").Int64()))
	decl(f, []string{"Scan reads the first column into the flag and the others into dest."},
		code.Func().Params(code.Id("r").Id("behindFlag")).Id("Scan").Params(code.Id("dest").Op("...").Any()).Error().Block(
			code.Return(dot("r", "row").Dot("Scan").Call(code.Id("append").Call(code.Index().Any().Values(dot("r", "flag")), code.Id("dest").Op("...")).Op("..."))),
		))
}

// horizonType emits how a claim knows up to where no row can appear any more.
func (w *writer) horizonType(f *code.File) {
	at := w.Offset.At[0]
	typ := func() *code.Statement { return code.Op("*").Add(w.valueType(at)) }
	decl(f, []string{"sight is how far rows were seen at one moment, and the transactions that could still add some below."},
		code.Type().Id("sight").Struct(
			code.Id("top").Add(typ()),
			code.Id("writers").Index().String(),
		))
	decl(f, []string{"horizon is up to where no row can appear any more. It waits until the writers of one sight have ended, and then passes to what that saw."},
		code.Type().Id("horizon").Struct(
			code.Id("mu").Qual("sync", "Mutex"),
			code.Id("bound").Add(typ()),
			code.Id("last").Op("*").Id("sight").Comment("whose writers have not been seen to end"),
		))
	decl(f, []string{"waits returns the sight whose writers it waits for, nil when there is none."},
		code.Func().Params(code.Id("h").Op("*").Id("horizon")).Id("waits").Params().Op("*").Id("sight").Block(
			lockMutex(dot("h", "mu")),
			code.Return(dot("h", "last")),
		))
	decl(f, []string{"pass takes note of what is seen now, later than last, and returns the bound."},
		code.Func().Params(code.Id("h").Op("*").Id("horizon")).Id("pass").Params(code.Id("last"), code.Id("now").Op("*").Id("sight")).Add(typ()).Block(
			lockMutex(dot("h", "mu")),
			code.Switch().Block(
				code.Case(code.Len(dot("now", "writers")).Op("==").Lit(0)).Block(
					code.List(dot("h", "bound"), dot("h", "last")).Op("=").List(dot("now", "top"), code.Nil())),
				code.Case(dot("h", "last").Op("!=").Id("last")).Block(code.Comment("// Another claim has looked meanwhile.")),
				code.Case(code.Id("last").Op("==").Nil()).Block(dot("h", "last").Op("=").Id("now")),
				code.Case(code.Op("!").Qual("slices", "ContainsFunc").Call(dot("last", "writers"), code.Func().Params(code.Id("tx").String()).Bool().Add(
					inline(code.Return(code.Qual("slices", "Contains").Call(dot("now", "writers"), code.Id("tx"))))))).Block(
					code.List(dot("h", "bound"), dot("h", "last")).Op("=").List(dot("last", "top"), code.Id("now"))),
			),
			code.Return(dot("h", "bound")),
		))
	decl(f, []string{"bound looks how far rows are seen and returns up to where they may be taken, nil when none may be. The snapshot that reads the rows must be later than it."},
		code.Func().Add(queueReceiver()).Id("bound").Params(ctxParam(), code.Id("db").Id("DBTX")).Params(typ(), code.Error()).Block(
			code.Id("last").Op(":=").Add(dot("q", "horizon")).Dot("waits").Call(),
			code.List(code.Id("found"), code.Err()).Op(":=").Add(queryCall("scanSight", w.run(w.Offset.Bound, "")...)),
			ifErr(code.Nil()),
			code.If(empty("found")).Block(
				code.Return(code.Nil(), code.Qual("errors", "New").Call(code.Lit("above the isolation level READ COMMITTED a claim may not see all rows"))),
			),
			code.Return(dot("q", "horizon").Dot("pass").Call(code.Id("last"), code.Op("&").Id("found").Index(code.Lit(0))), code.Nil()),
		))
	field := *w.Offset.Mark[0]
	scan := scanning{vars: []*code.Statement{code.Var().Id("writers").String()}}
	w.scanField(&scan, &field, dot("s", "top"))
	scan.dest = append(scan.dest, code.Op("&").Id("writers"))
	scan.after = append(scan.after, dot("s", "writers").Op("=").Qual("strings", "Fields").Call(code.Id("writers")))
	decl(f, []string{"scanSight reads the one row of the statement."},
		code.Func().Id("scanSight").Params(code.Id("r").Id("row")).Params(code.Id("sight"), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("s").Id("sight")
			w.scanBody(g, scan, code.Id("s"))
		}))
}

// byClaimFunc emits how jobs are sorted by their claims.
func (w *writer) byClaimFunc(f *code.File) {
	held := func(j, name string) *code.Statement { return dot(j, "Held").Dot(name) }
	compare := func(name string) *code.Statement {
		return code.Qual("cmp", "Compare").Call(held("a", name), held("b", name))
	}
	decl(f, []string{"byClaim returns jobs by the claims that they are of, each in the order of its batch."},
		code.Func().Id("byClaim").Params(code.Id("jobs").Index().Id("Job")).Index().Index().Id("Job").Block(
			code.Id("sorted").Op(":=").Qual("slices", "Clone").Call(code.Id("jobs")),
			code.Qual("slices", "SortFunc").Call(code.Id("sorted"), code.Func().Params(code.List(code.Id("a"), code.Id("b")).Id("Job")).Int().Block(
				code.Return(code.Qual("cmp", "Or").Call(compare("Group"), compare("Token"), compare("Place"))),
			)),
			code.Var().Id("batches").Index().Index().Id("Job"),
			code.Var().Id("last").Id("Held"),
			code.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("sorted")).Block(
				code.Switch().Block(
					code.Case(code.Id("batches").Op("==").Nil(), held("j", "Group").Op("!=").Add(dot("last", "Group")), held("j", "Token").Op("!=").Add(dot("last", "Token"))).Block(
						code.Id("batches").Op("=").Append(code.Id("batches"), code.Nil())),
					code.Case(held("j", "Place").Op("==").Add(dot("last", "Place"))).Block(
						code.Continue().Comment("given twice")),
				),
				code.Id("n").Op(":=").Len(code.Id("batches")).Op("-").Lit(1),
				code.List(code.Id("batches").Index(code.Id("n")), code.Id("last")).Op("=").List(code.Id("append").Call(code.Id("batches").Index(code.Id("n")), code.Id("j")), dot("j", "Held")),
			),
			code.Return(code.Id("batches")),
		))
	decl(f, []string{"keysOf returns the keys of jobs."},
		code.Func().Id("keysOf").Params(code.Id("jobs").Index().Id("Job")).Index().Id("Key").Block(
			code.Id("keys").Op(":=").Make(code.Index().Id("Key"), code.Len(code.Id("jobs"))),
			code.For(code.List(code.Id("i"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(
				code.Id("keys").Index(code.Id("i")).Op("=").Add(dot("j", "Key")).Call()),
			code.Return(code.Id("keys")),
		))
}

// jobsParams are jobs ...Job behind a context.
func jobsParams() []*code.Statement {
	return []*code.Statement{ctxParam(), code.Id("jobs").Op("...").Id("Job")}
}

// ofClaim declares group and token from the first of jobs.
func ofClaim(jobs string) *code.Statement {
	first := func(name string) *code.Statement {
		return code.Id(jobs).Index(code.Lit(0)).Dot("Held").Dot(name)
	}
	return code.List(code.Id("group"), code.Id("token")).Op(":=").List(first("Group"), first("Token"))
}

// offsetCompleteFile emits Complete, which moves the mark, and how finished jobs are
// remembered behind one that is not.
func (w *writer) offsetCompleteFile() *code.File {
	o := w.Offset
	f := w.newFile()
	all := []*plan.Statement{o.Advance, o.Lock, o.Held, o.Pass, o.Note}
	embed(f, all...)
	decl(f, docOf(o.CompleteDoc, all...),
		code.Func().Add(queueReceiver()).Id("Complete").Params(jobsParams()...).Params(code.Err().Error()).Block(
			code.If(empty("jobs")).Block(code.Return(code.Nil())),
			code.Var().Id("found").Index().Id("Key"),
			observe(code.Id("q"), code.Lit("complete"), code.Len(code.Id("found"))),
			code.For(code.List(code.Id("_"), code.Id("batch")).Op(":=").Range().Id("byClaim").Call(code.Id("jobs"))).Block(
				code.List(code.Id("keys"), code.Err()).Op(":=").Add(dot("q", "finish")).Call(code.Id("ctx"), code.Id("batch")),
				ifErr(),
				code.Id("found").Op("=").Append(code.Id("found"), code.Id("keys").Op("...")),
			),
			code.Return(code.Id("lost").Call(code.Lit("complete"), code.Id("jobs"), code.Id("found"))),
		))
	next := dot("last", "Place").Op("-").Id("before").Op("==").Len(code.Id("jobs"))
	if o.NotUnique {
		next.Op("&&").Add(dot("last", "Ends"))
	}
	decl(f, []string{"finish finishes jobs of one claim and returns the keys of those that were its own and not finished before."},
		code.Func().Add(queueReceiver()).Id("finish").Params(ctxParam(), code.Id("jobs").Index().Id("Job")).Params(code.Id("keys").Index().Id("Key"), code.Err().Error()).Block(
			ofClaim("jobs"),
			code.List(code.Id("last"), code.Id("before")).Op(":=").List(code.Id("jobs").Index(code.Len(code.Id("jobs")).Op("-").Lit(1)).Dot("Held"), code.Id("jobs").Index(code.Lit(0)).Dot("Held").Dot("Place").Op("-").Lit(1)),
			code.If(next).Block(
				code.Comment("// Most often they are the next ones, and then one statement does."),
				code.List(code.Id("at"), code.Id("passed"), code.Id("left")).Op(":=").List(code.Id("markOf").Call(code.Id("jobs").Index(code.Len(code.Id("jobs")).Op("-").Lit(1))), dot("last", "Place"), dot("last", "left").Call(dot("last", "Place"))),
				code.Var().Id("n").Int(),
				attempt(code.Id("q"), "retry", code.Lit("complete"),
					code.List(code.Id("n"), code.Err()).Op("=").Add(execCall(w.run(o.Advance, "at")...)),
					code.Return(code.Err())),
				ifErrOr(code.Id("n").Op(">").Lit(0), code.Id("keysOf").Call(code.Id("jobs"))),
			),
			attempt(code.Id("q"), "transact", code.Lit("complete"),
				code.Id("keys").Op("=").Nil(),
				code.List(code.Id("n"), code.Err()).Op(":=").Add(execCall(w.run(o.Lock, "")...)),
				ifErrOr(code.Id("n").Op("==").Lit(0)),
				code.List(code.Id("found"), code.Err()).Op(":=").Add(queryCall("scanBatch", w.run(o.Held, "")...)),
				ifErrOr(empty("found")),
				code.Id("b").Op(":=").Id("found").Index(code.Lit(0)),
				code.List(code.Id("at"), code.Id("moved")).Op(":=").Add(dot("b", "finish")).Call(code.Id("jobs"), code.Op("&").Id("keys")),
				code.List(code.Id("finished"), code.Err()).Op(":=").Add(dot("b", "text")).Call(),
				ifErrOr(empty("keys")),
				code.If(code.Op("!").Id("moved")).Block(
					code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(w.run(o.Note, "")...)),
					code.Return(code.Err()),
				),
				code.List(code.Id("passed"), code.Id("left")).Op(":=").List(dot("b", "passed"), dot("last", "left").Call(dot("b", "passed"))),
				code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(w.run(o.Pass, "at")...)),
				code.Return(code.Err()),
			),
			code.Return(code.Id("keys"), code.Err()),
		))
	w.batchType(f)
	return f
}

// batchType emits what is known of a claim.
func (w *writer) batchType(f *code.File) {
	o := w.Offset
	decl(f, []string{"batch is what is finished of a claim."},
		code.Type().Id("batch").Struct(
			code.Id("passed").Int().Comment("so many of its jobs, the first ones, are passed by the mark"),
			code.Id("finished").Index().Id("finished").Comment("those behind, in order"),
		))
	decl(f, []string{"finished is a job that is finished and not passed."},
		code.Type().Id("finished").StructFunc(func(g *code.Group) {
			g.Id("Place").Int().Tag(map[string]string{"json": "place"})
			g.Id("Mark").Id("mark").Tag(map[string]string{"json": "mark"})
			if o.NotUnique {
				g.Id("Ends").Bool().Tag(map[string]string{"json": "ends"})
			}
		}))
	values := []*code.Statement{
		code.Id("Place").Op(":").Add(dot("j", "Held").Dot("Place")),
		code.Id("Mark").Op(":").Id("markOf").Call(code.Id("j")),
	}
	if o.NotUnique {
		values = append(values, code.Id("Ends").Op(":").Add(dot("j", "Held").Dot("Ends")))
	}
	move := code.List(code.Id("n"), code.Id("at")).Op("=").List(code.Id("i").Op("+").Lit(1), dot("f", "Mark"))
	if o.NotUnique {
		move = code.If(dot("f", "Ends")).Block(move)
	}
	decl(f, []string{"finish adds jobs, puts the keys of those that were not finished before into keys, and returns the mark and whether it moves."},
		code.Func().Params(code.Id("b").Op("*").Id("batch")).Id("finish").Params(code.Id("jobs").Index().Id("Job"), code.Id("keys").Op("*").Index().Id("Key")).Params(code.Id("at").Id("mark"), code.Id("moved").Bool()).Block(
			code.For(code.List(code.Id("_"), code.Id("j")).Op(":=").Range().Id("jobs")).Block(
				code.If(dot("j", "Held").Dot("Place").Op("<=").Add(dot("b", "passed")).Op("||").Qual("slices", "ContainsFunc").Call(dot("b", "finished"),
					code.Func().Params(code.Id("f").Id("finished")).Bool().Add(inline(code.Return(dot("f", "Place").Op("==").Add(dot("j", "Held").Dot("Place"))))))).Block(code.Continue()),
				code.Op("*").Id("keys").Op("=").Append(code.Op("*").Id("keys"), dot("j", "Key").Call()),
				dot("b", "finished").Op("=").Append(dot("b", "finished"), code.Id("finished").Values(values...)),
			),
			code.Qual("slices", "SortFunc").Call(dot("b", "finished"), code.Func().Params(code.List(code.Id("x"), code.Id("y")).Id("finished")).Int().Add(
				inline(code.Return(code.Qual("cmp", "Compare").Call(dot("x", "Place"), dot("y", "Place")))))),
			code.Id("n").Op(":=").Lit(0),
			code.For(code.List(code.Id("i"), code.Id("f")).Op(":=").Range().Add(dot("b", "finished"))).Block(
				code.If(dot("f", "Place").Op("!=").Add(dot("b", "passed")).Op("+").Id("i").Op("+").Lit(1)).Block(code.Break()),
				move,
			),
			code.List(dot("b", "passed"), dot("b", "finished")).Op("=").List(dot("b", "passed").Op("+").Id("n"), dot("b", "finished").Index(code.Id("n").Op(":"))),
			code.Return(code.Id("at"), code.Id("n").Op(">").Lit(0)),
		))
	decl(f, []string{"text is what the row of the group keeps of finished jobs, nil for none."},
		code.Func().Params(code.Id("b").Op("*").Id("batch")).Id("text").Params().Params(code.Op("*").String(), code.Error()).Block(
			code.If(code.Len(dot("b", "finished")).Op("==").Lit(0)).Block(code.Return(code.Nil(), code.Nil())),
			code.List(code.Id("data"), code.Err()).Op(":=").Qual("encoding/json", "Marshal").Call(dot("b", "finished")),
			code.Id("text").Op(":=").String().Call(code.Id("data")),
			code.Return(code.Op("&").Id("text"), code.Err()),
		))
	decl(f, []string{"scanBatch reads what is finished of a claim."},
		code.Func().Id("scanBatch").Params(code.Id("r").Id("row")).Params(code.Id("b").Id("batch"), code.Err().Error()).Block(
			code.Var().Id("text").Op("*").String(),
			code.If(code.Err().Op("=").Add(dot("r", "Scan")).Call(code.Op("&").Add(dot("b", "passed")), code.Op("&").Id("text")), errOr(code.Id("text").Op("==").Nil())).Block(code.Return(code.Id("b"), code.Err())),
			code.Err().Op("=").Qual("encoding/json", "Unmarshal").Call(code.Index().Byte().Call(code.Op("*").Id("text")), code.Op("&").Add(dot("b", "finished"))),
			code.Return(code.Id("b"), code.Err()),
		))
}

// eachClaimMethod emits what runs one statement for each claim.
func (w *writer) eachClaimMethod(f *code.File) {
	decl(f, []string{"eachClaim runs fn for each claim of jobs, which returns whether it was still theirs. The jobs of the others are lost."},
		code.Func().Add(queueReceiver()).Id("eachClaim").Params(ctxParam(), code.Id("op").String(), code.Id("jobs").Index().Id("Job"),
			code.Id("fn").Func().Params(code.Id("db").Id("DBTX"), code.List(code.Id("group"), code.Id("token")).String()).Params(code.Int(), code.Error())).Params(code.Err().Error()).Block(
			code.If(empty("jobs")).Block(code.Return(code.Nil())),
			code.Var().Id("found").Index().Id("Key"),
			observe(code.Id("q"), code.Id("op"), code.Len(code.Id("found"))),
			code.For(code.List(code.Id("_"), code.Id("batch")).Op(":=").Range().Id("byClaim").Call(code.Id("jobs"))).Block(
				code.Var().Id("n").Int(),
				attempt(code.Id("q"), "retry", code.Id("op"),
					code.List(code.Id("n"), code.Err()).Op("=").Id("fn").Call(code.Id("db"), code.Id("batch").Index(code.Lit(0)).Dot("Held").Dot("Group"), code.Id("batch").Index(code.Lit(0)).Dot("Held").Dot("Token")),
					code.Return(code.Err())),
				ifErr(),
				code.If(code.Id("n").Op(">").Lit(0)).Block(code.Id("found").Op("=").Append(code.Id("found"), code.Id("keysOf").Call(code.Id("batch")).Op("..."))),
			),
			code.Return(code.Id("lost").Call(code.Id("op"), code.Id("jobs"), code.Id("found"))),
		))
}

// claimFunc is the function that eachClaim runs.
func (w *writer) claimFunc(s *plan.Statement) *code.Statement {
	return code.Func().Params(code.Id("db").Id("DBTX"), code.List(code.Id("group"), code.Id("token")).String()).Params(code.Int(), code.Error()).Block(
		code.Return(execCall(w.run(s, "")...)))
}

func (w *writer) offsetRequeueFile() *code.File {
	f := w.newFile()
	embed(f, w.Offset.Requeue)
	decl(f, docOf(w.Offset.RequeueDoc, w.Offset.Requeue),
		code.Func().Add(queueReceiver()).Id("Requeue").Params(jobsParams()...).Error().Block(
			code.Return(dot("q", "eachClaim").Call(code.Id("ctx"), code.Lit("requeue"), code.Id("jobs"), w.claimFunc(w.Offset.Requeue)))))
	return f
}

func (w *writer) offsetExtendFile() *code.File {
	f := w.newFile()
	embed(f, w.Offset.Extend)
	decl(f, docOf(w.Offset.ExtendDoc, w.Offset.Extend),
		code.Func().Add(queueReceiver()).Id("Extend").Params(jobsParams()...).Error().Block(
			code.Id("lease").Op(":=").Add(dot("q", "lease")),
			code.Return(dot("q", "eachClaim").Call(code.Id("ctx"), code.Lit("extend"), code.Id("jobs"), w.claimFunc(w.Offset.Extend)))))
	return f
}

func (w *writer) offsetRewindFile() *code.File {
	f := w.newFile()
	embed(f, w.Offset.Rewind)
	decl(f, docOf(w.Offset.RewindDoc, w.Offset.Rewind),
		code.Func().Add(queueReceiver()).Id("Rewind").Params(ctxParam(), code.Id("group").String()).Params(code.Err().Error()).Block(
			code.Id("n").Op(":=").Lit(0),
			observe(code.Id("q"), code.Lit("rewind"), code.Id("n")),
			attempt(code.Id("q"), "retry", code.Lit("rewind"),
				code.List(code.Id("n"), code.Err()).Op("=").Add(execCall(w.run(w.Offset.Rewind, "")...)),
				code.Return(code.Err())),
			code.Return(code.Err()),
		))
	return f
}

func (w *writer) offsetPeekFile() *code.File {
	f := w.newFile()
	o := w.Offset
	decl(f, docOf(o.PeekDoc, o.Progress, o.First, o.Next),
		code.Func().Add(queueReceiver()).Id("Peek").Params(groupParams()...).Params(code.Id("jobs").Index().Id("Job"), code.Err().Error()).Block(
			ifNoLimit(code.Nil()),
			observe(code.Id("q"), code.Lit("peek"), code.Len(code.Id("jobs"))),
			attempt(code.Id("q"), "retry", code.Lit("peek"),
				code.List(code.Id("found"), code.Err()).Op(":=").Add(queryCall("scanProgress", w.run(o.Progress, "")...)),
				ifErr(),
				code.Var().Id("at").Id("mark"),
				code.If(code.Len(code.Id("found")).Op(">").Lit(0)).Block(code.Id("at").Op("=").Id("found").Index(code.Lit(0)).Dot("at")),
				code.List(code.Id("jobs"), code.Err()).Op("=").Add(dot("q", "behind")).Call(code.Id("ctx"), code.Id("db"), code.Id("at"), code.Id("limit")),
				code.Return(code.Err())),
			code.Return(code.Id("jobs"), code.Err()),
		))
	return f
}

func (w *writer) offsetPurgeFile() *code.File {
	f := w.newFile()
	o := w.Offset
	embed(f, o.Lowest, o.Purge)
	params := []*code.Statement{ctxParam()}
	if o.OlderThan {
		params = append(params, code.Id("olderThan").Qual("time", "Duration"))
	}
	doc := o.PurgeDoc
	if w.MostTaken > 0 {
		doc = append(doc[:len(doc):len(doc)], w.mostDoc("touches", "rows"))
	}
	remove := []*code.Statement{code.List(code.Id("n"), code.Err()).Op("=").Add(execCall(w.run(o.Purge, "at")...))}
	if len(o.Purge.Rows) > 0 {
		remove = []*code.Statement{
			code.List(code.Id("keys"), code.Err()).Op(":=").Add(queryCall("scanKey", w.run(o.Purge, "at")...)),
			code.Id("n").Op("=").Len(code.Id("keys")),
		}
	}
	body := append([]*code.Statement{
		code.List(code.Id("marks"), code.Err()).Op(":=").Add(queryCall("scanMark", w.run(o.Lowest, "")...)),
		ifErrOr(empty("marks")),
		code.Id("at").Op(":=").Id("marks").Index(code.Lit(0)),
	}, append(remove, code.Return(code.Err()))...)
	decl(f, docOf(doc, o.Lowest, o.Purge),
		code.Func().Add(queueReceiver()).Id("Purge").Params(append(params, code.Id("limit").Int())...).Params(code.Id("n").Int(), code.Err().Error()).BlockFunc(func(g *code.Group) {
			g.Add(ifNoLimit(code.Lit(0)))
			if w.MostTaken > 0 {
				g.Add(upToMost())
			}
			g.Add(observe(code.Id("q"), code.Lit("purge"), code.Id("n")))
			g.Add(attempt(code.Id("q"), "retry", code.Lit("purge"), body...))
			g.Return(code.Id("n"), code.Err())
		}))
	var scan scanning
	w.scanMarks(&scan, code.Id("m"), code.Id("m"))
	decl(f, []string{"scanMark reads a mark."},
		code.Func().Id("scanMark").Params(code.Id("r").Id("row")).Params(code.Id("mark"), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("m").Id("mark")
			w.scanBody(g, scan, code.Id("m"))
		}))
	return f
}
