package emit

// This file writes conformance_test.go: an opt-in test of the emitted package
// that proves the claims of doc.go on a server and a table of the user's. What
// it holds for a table follows from the operations that the table has.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
)

// proof is one test of the suite.
type proof struct {
	name, method, doc string
	when              bool
	body              func(g *jen.Group)
}

func (w *writer) conformanceFile() *jen.File {
	f := w.newFile()
	if w.Claim == nil || w.Enqueue == nil || w.Stats == nil {
		w.fail("a conformance test needs Claim, Enqueue and Stats")
		return f
	}
	settles := w.Complete != nil
	proofs := []proof{
		{"Empty", "empty", "empty shows that a claim on an empty queue is no error.", true, w.proveEmpty},
		{"Exclusive", "exclusive", "exclusive shows that no two workers get one job, and that every job is got.", true, w.proveExclusive},
		{"Limit", "limit", "limit shows that a claim never returns more than asked for.", true, w.proveLimit},
		{"Order", "order", "order shows that one worker alone gets the jobs in queue order.", len(w.Claim.Order) > 0, w.proveOrder},
		{"Fence", "fence", "fence shows that a worker cannot complete a job that it no longer holds.", settles && !w.Hold, w.proveFence},
		{"Requeue", "requeue", "requeue shows that a job given back can be claimed again.", w.marks() && w.Requeue != nil, w.proveRequeue},
		{"Rollback", "rollback", "rollback shows that jobs claimed in a transaction are free when it is rolled back.", w.marks() || !settles, w.proveRollback},
		{"Hold", "hold", "hold shows that what a transaction has claimed is its own until it ends.", w.Hold, w.proveHold},
	}
	proofs = slices.DeleteFunc(proofs, func(p proof) bool { return !p.when })
	w.conformanceTest(f, proofs)
	w.conformanceJob(f)
	w.conformanceClaim(f)
	w.conformanceSuite(f)
	w.conformanceSteps(f)
	for _, p := range proofs {
		decl(f, []string{p.doc}, suiteMethod(p.method).BlockFunc(p.body))
	}
	return f
}

// environment is the name of a variable that the test reads.
func (w *writer) environment(name string) string { return strings.ToUpper(w.Name) + "_TEST_" + name }

// suiteMethod is func (c *conformance) name(t *testing.T, params…).
func suiteMethod(name string, params ...jen.Code) *jen.Statement {
	t := jen.Id("t").Op("*").Qual("testing", "T")
	return jen.Func().Params(jen.Id("c").Op("*").Id("conformance")).Id(name).Params(append([]jen.Code{t}, params...)...)
}

// suite is c.a.b within a method of conformance.
func suite(names ...string) *jen.Statement {
	s := jen.Id("c")
	for _, n := range names {
		s.Dot(n)
	}
	return s
}

// background is context.Background().
func background() *jen.Statement { return jen.Qual("context", "Background").Call() }

// fatal is t.Fatal(err), if err is not nil.
func fatal() *jen.Statement {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Fatal").Call(jen.Err()))
}

// fatalOf is
//
//	if <assign>; err != nil {
//		t.Fatal(err)
//	}
func fatalOf(assign jen.Code) *jen.Statement {
	return jen.If(assign, jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Fatal").Call(jen.Err()))
}

// helper is t.Helper().
func helper() *jen.Statement { return jen.Id("t").Dot("Helper").Call() }

// claimer is the type on which Claim is a method.
func (w *writer) claimer() *jen.Statement {
	if w.Hold {
		return jen.Op("*").Id("Tx")
	}
	return jen.Op("*").Id("Queue")
}

// conformanceTest emits TestConformance.
func (w *writer) conformanceTest(f *jen.File, proofs []proof) {
	doc := []string{
		"TestConformance proves on a server of yours what the package comment says of claims. It runs when the environment names a database that holds an empty copy of " + w.tableName() + ":",
		"\t" + w.environment("DSN") + "='…' go test -run Conformance",
		"It is skipped when the table is not empty: it touches no rows but its own." + w.leftovers(),
	}
	own := "In a test file of your own, which generating leaves alone,"
	if !w.isPgx() {
		doc = append(doc,
			"The driver comes from a test file of your own, which generating leaves alone:",
			"\tpackage "+w.Name+"\n\n\timport _ \"example.com/driver\"",
			"If that registers several drivers, "+w.environment("DRIVER")+" tells which to use, else it is the first by name. Where drivers have to be told to wait for locks, the DSN must say so.")
		own = "There"
	}
	also := "conformanceJob"
	if len(w.Claim.Params) > 0 {
		also = "conformanceJob and conformanceClaim"
	}
	doc = append(doc, own+" you may also set "+also+", in a func init, to values that suit the table better.")
	decl(f, doc,
		jen.Func().Id("TestConformance").Params(jen.Id("t").Op("*").Qual("testing", "T")).BlockFunc(func(g *jen.Group) {
			g.Id("c").Op(":=").Id("openConformance").Call(jen.Id("t"))
			for _, p := range proofs {
				g.Id("t").Dot("Run").Call(jen.Lit(p.name), suite(p.method))
			}
		}))
}

// leftovers says what the test leaves in the table.
func (w *writer) leftovers() string {
	switch {
	case w.Complete == nil:
		return ""
	case w.Purge != nil:
		return " At the end it purges the table."
	}
	return " It leaves its rows behind, finished."
}

// conformanceJob emits
//
//	var conformanceJob = func(i int) NewJob {
//		return NewJob{Kind: "a", Body: json.RawMessage(`{}`)}
//	}
func (w *writer) conformanceJob(f *jen.File) {
	var before, values []jen.Code
	for _, field := range w.Enqueue.Fields {
		value := w.sample(field)
		if value == nil {
			continue
		}
		if w.newIsPointer(field) {
			name := lowerFirst(field.Name) + "Value"
			before = append(before, jen.Id(name).Op(":=").Add(value))
			value = jen.Op("&").Id(name)
		}
		values = append(values, jen.Id(field.Name).Op(":").Add(value))
	}
	decl(f, []string{"conformanceJob makes the job number i; no number comes twice."},
		jen.Var().Id("conformanceJob").Op("=").Func().Params(jen.Id("i").Int()).Id("NewJob").Block(
			append(before, jen.Return(jen.Id("NewJob").Values(values...)))...,
		))
}

// newIsPointer reports whether a field of NewJob is a pointer.
func (w *writer) newIsPointer(f *plan.Field) bool { return (f.Null || f.Optional) && !isSlice(f) }

// sample is a value for a field of NewJob; nil when the field may be left out
// and nothing depends on it.
func (w *writer) sample(f *plan.Field) *jen.Statement {
	inKey := slices.Contains(w.Key, f) && !f.Optional
	inOrder := slices.ContainsFunc(w.Claim.Order, func(t plan.SortTerm) bool { return t.Field == f })
	narrows := slices.ContainsFunc(w.Claim.Params, func(p *plan.Param) bool { return p.Field == f })
	isNumber := strings.HasPrefix(f.GoType, "int") || strings.HasPrefix(f.GoType, "float")
	needed := inKey || narrows || inOrder && isNumber
	if (f.Optional || f.Null) && !needed {
		return nil
	}
	typ := func() *jen.Statement { return w.valueType(f) }
	switch {
	case isNumber && inKey:
		return typ().Call(jen.Id("i").Op("+").Lit(1))
	case isNumber && inOrder && !narrows:
		return typ().Call(jen.Id("i").Op("%").Lit(3))
	case inKey && f.Cast == "uuid":
		return jen.Qual("fmt", "Sprintf").Call(jen.Lit("00000000-0000-4000-8000-%012x"), jen.Id("i"))
	case inKey && f.GoType == "string":
		return jen.Qual("fmt", "Sprintf").Call(jen.Lit("job %d"), jen.Id("i"))
	case inKey && f.GoType == "[]byte":
		return jen.Qual("fmt", "Appendf").Call(jen.Nil(), jen.Lit("job %d"), jen.Id("i"))
	case f.GoType == "time.Time":
		return jen.Qual("time", "Unix").Call(jen.Int64().Call(jen.Id("i")), jen.Lit(0))
	}
	return w.constantSample(f)
}

// constantSample is the value that a field has in all jobs, and that a claim
// is narrowed to.
func (w *writer) constantSample(f *plan.Field) *jen.Statement {
	kind := strings.ToLower(f.SQLType)
	isNumber := strings.HasPrefix(f.GoType, "int") || strings.HasPrefix(f.GoType, "float")
	switch {
	case f.GoType == "json.RawMessage":
		return w.goType(f.GoType).Call(jen.Id("`{}`"))
	case f.GoType == "[]byte":
		return jen.Index().Byte().Call(jen.Lit("a"))
	case f.GoType == "bool" && !w.isStatus(f):
		return jen.False()
	case f.GoType == "time.Time":
		return jen.Qual("time", "Unix").Call(jen.Lit(0), jen.Lit(0))
	case isNumber:
		return w.valueType(f).Call(jen.Lit(1))
	case f.GoType == "string" && strings.Contains(kind, "json"):
		return jen.Lit("{}")
	case f.GoType == "string" && f.Cast == "uuid":
		return jen.Lit("00000000-0000-4000-8000-000000000000")
	case f.GoType == "string" && (strings.HasPrefix(kind, "numeric") || strings.HasPrefix(kind, "decimal")):
		return jen.Lit("1")
	case f.GoType == "string":
		return w.textSample(f)
	}
	return jen.Op("*").New(w.valueType(f))
}

// textSample is "a", as the type of the status where the field is that.
func (w *writer) textSample(f *plan.Field) *jen.Statement {
	if w.isStatus(f) {
		return jen.Id(w.Status.Name).Call(jen.Lit("a"))
	}
	return jen.Lit("a")
}

// conformanceClaim emits
//
//	var conformanceClaim = func(ctx context.Context, q *Queue, limit int) ([]Job, error) {
//		return q.Claim(ctx, "a", limit)
//	}
func (w *writer) conformanceClaim(f *jen.File) {
	params := []jen.Code{ctxParam(), jen.Id("q").Add(w.claimer())}
	if w.Claim.Shard {
		params = append(params, jen.Id("shard").Id("Shard"))
	}
	params = append(params, jen.Id("limit").Int())
	decl(f, []string{"conformanceClaim claims what conformanceJob has made."},
		jen.Var().Id("conformanceClaim").Op("=").Func().Params(params...).Params(jen.Index().Id("Job"), jen.Error()).Block(
			jen.Return(jen.Id("q").Dot("Claim").CallFunc(func(g *jen.Group) {
				g.Id("ctx")
				for _, p := range w.Claim.Params {
					g.Add(w.paramSample(p))
				}
				if w.Claim.Shard {
					g.Id("shard")
				}
				if w.Claim.LeaseArg {
					g.Add(jen.Qual("time", "Minute"))
				}
				g.Id("limit")
			})),
		))
}

// paramSample is the argument for a parameter of Claim that suits the jobs of
// conformanceJob.
func (w *writer) paramSample(p *plan.Param) *jen.Statement {
	switch {
	case strings.HasPrefix(p.GoType, "*"):
		return jen.Nil()
	case p.Field == nil:
		return jen.Op("*").New(w.paramType(p))
	case p.List:
		return w.paramType(p).Values(w.constantSample(p.Field))
	}
	return w.constantSample(p.Field)
}

// claim is the call of conformanceClaim on the expression on.
func (w *writer) claim(on *jen.Statement, limit jen.Code) *jen.Statement {
	return jen.Id("conformanceClaim").CallFunc(func(g *jen.Group) {
		g.Add(background())
		g.Add(on)
		if w.Claim.Shard {
			g.Id("Shard").Values(jen.Id("Index").Op(":").Lit(0), jen.Id("Count").Op(":").Lit(1))
		}
		g.Add(limit)
	})
}

// conformanceSuite emits the struct conformance and openConformance.
func (w *writer) conformanceSuite(f *jen.File) {
	db := jen.Id("db").Op("*").Qual("database/sql", "DB")
	if w.isPgx() {
		db = jen.Id("db").Op("*").Qual(pgxPath, "Conn")
	}
	decl(f, []string{"conformance is one run of the test."},
		jen.Type().Id("conformance").Struct(
			db,
			jen.Id("q").Op("*").Id("Queue"),
			jen.Id("made").Int().Comment("jobs so far"),
		))
	decl(f, []string{"openConformance connects to the database, and skips the test where it must not run."},
		jen.Func().Id("openConformance").Params(jen.Id("t").Op("*").Qual("testing", "T")).Op("*").Id("conformance").BlockFunc(func(g *jen.Group) {
			g.If(jen.Qual("os", "Getenv").Call(jen.Lit(w.environment("DSN"))).Op("==").Lit("")).Block(
				jen.Id("t").Dot("Skip").Call(jen.Lit(w.environment("DSN") + " is not set")),
			)
			g.Id("db").Op(":=").Id("connectConformance").Call(jen.Id("t"))
			g.Id("c").Op(":=").Op("&").Id("conformance").Values(jen.Id("db").Op(":").Id("db"), jen.Id("q").Op(":").Id("New").Call(jen.Id("db")))
			g.List(jen.Id("s"), jen.Err()).Op(":=").Add(suite("q", "Stats")).Call(background())
			g.Add(fatal())
			g.If(w.anyRow()).Block(
				jen.Id("t").Dot("Skip").Call(jen.Lit("the table " + strings.ReplaceAll(w.tableName(), "%", "%%") + " is not empty: the test touches no rows but its own")),
			)
			if w.Purge != nil && w.Complete != nil {
				w.purgeAfter(g)
			}
			g.Return(jen.Id("c"))
		}))
	w.connectFunc(f)
}

// anyRow is the test whether the figures s know of any row.
func (w *writer) anyRow() *jen.Statement {
	var s *jen.Statement
	for _, field := range w.Stats.Fields {
		if isSpan(field) {
			continue
		}
		some := jen.Id("s").Dot(field.Name).Op(">").Lit(0)
		if s == nil {
			s = some
		} else {
			s.Op("||").Add(some)
		}
	}
	return s
}

// purgeAfter emits, inside openConformance,
//
//	t.Cleanup(func() {
//		if _, err := c.q.Purge(context.Background(), 0, 10000); err != nil {
//			t.Error(err)
//		}
//	})
func (w *writer) purgeAfter(g *jen.Group) {
	args := []jen.Code{background()}
	if w.Purge.OlderThan {
		args = append(args, jen.Lit(0))
	}
	args = append(args, jen.Lit(10000))
	g.Id("t").Dot("Cleanup").Call(jen.Func().Params().Block(
		jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(suite("q", "Purge")).Call(args...), jen.Err().Op("!=").Nil()).Block(
			jen.Id("t").Dot("Error").Call(jen.Err()),
		),
	))
}

// connectFunc emits connectConformance: for pgx a connection, which is for one
// goroutine at a time; for database/sql a pool.
func (w *writer) connectFunc(f *jen.File) {
	dsn := jen.Qual("os", "Getenv").Call(jen.Lit(w.environment("DSN")))
	if w.isPgx() {
		decl(f, []string{"connectConformance opens a connection that lasts as long as the test."},
			jen.Func().Id("connectConformance").Params(jen.Id("t").Op("*").Qual("testing", "T")).Op("*").Qual(pgxPath, "Conn").Block(
				helper(),
				jen.List(jen.Id("db"), jen.Err()).Op(":=").Qual(pgxPath, "Connect").Call(background(), dsn),
				fatal(),
				jen.Id("t").Dot("Cleanup").Call(jen.Func().Params().Block(
					jen.Id("_").Op("=").Id("db").Dot("Close").Call(background()),
				)),
				jen.Return(jen.Id("db")),
			))
		return
	}
	driver := w.environment("DRIVER")
	decl(f, []string{"connectConformance opens the database for as long as the test lasts."},
		jen.Func().Id("connectConformance").Params(jen.Id("t").Op("*").Qual("testing", "T")).Op("*").Qual("database/sql", "DB").Block(
			helper(),
			jen.Id("driver").Op(":=").Qual("os", "Getenv").Call(jen.Lit(driver)),
			jen.If(jen.Id("driver").Op("==").Lit("")).Block(
				jen.Id("drivers").Op(":=").Qual("database/sql", "Drivers").Call(),
				jen.If(jen.Len(jen.Id("drivers")).Op("==").Lit(0)).Block(
					jen.Id("t").Dot("Fatal").Call(jen.Lit("there is no driver: import one in a test file of your own")),
				),
				jen.Id("driver").Op("=").Id("drivers").Index(jen.Lit(0)),
			),
			jen.List(jen.Id("db"), jen.Err()).Op(":=").Qual("database/sql", "Open").Call(jen.Id("driver"), dsn),
			fatal(),
			jen.Id("t").Dot("Cleanup").Call(jen.Func().Params().Block(
				jen.Id("_").Op("=").Id("db").Dot("Close").Call(),
			)),
			jen.Return(jen.Id("db")),
		))
}

// conformanceSteps emits what several proofs do.
func (w *writer) conformanceSteps(f *jen.File) {
	added := jen.List(jen.Id("_"), jen.Err())
	if !w.keysKnown() {
		added = jen.Err()
	}
	decl(f, []string{"add adds n jobs."},
		suiteMethod("add", jen.Id("n").Int()).Block(
			helper(),
			jen.For(jen.Range().Id("n")).Block(
				fatalOf(added.Op(":=").Add(suite("q", "Enqueue")).Call(background(), jen.Id("conformanceJob").Call(suite("made")))),
				suite("made").Op("++"),
			),
		))
	left := jen.Id("n").Op("-").Len(jen.Id("all"))
	decl(f, []string{"take claims n jobs, which must be ready."},
		suiteMethod("take", jen.Id("on").Add(w.claimer()), jen.Id("n").Int()).Index().Id("Job").Block(
			helper(),
			jen.Var().Id("all").Index().Id("Job"),
			jen.For(jen.Len(jen.Id("all")).Op("<").Id("n")).Block(
				jen.List(jen.Id("jobs"), jen.Err()).Op(":=").Add(w.claim(jen.Id("on"), left)),
				jen.Switch().Block(
					jen.Case(jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Fatal").Call(jen.Err())),
					jen.Case(jen.Len(jen.Id("jobs")).Op("==").Lit(0)).Block(
						jen.Id("t").Dot("Fatalf").Call(jen.Lit("%d jobs were claimed of the %d that are ready"), jen.Len(jen.Id("all")), jen.Id("n")),
					),
					jen.Case(jen.Len(jen.Id("jobs")).Op(">").Add(left)).Block(
						jen.Id("t").Dot("Fatalf").Call(jen.Lit("%d jobs were claimed where %d were asked for"), jen.Len(jen.Id("jobs")), left),
					),
				),
				jen.Id("all").Op("=").Append(jen.Id("all"), jen.Id("jobs").Op("...")),
			),
			jen.Return(jen.Id("all")),
		))
	decl(f, []string{"none shows that no job is ready."},
		suiteMethod("none", jen.Id("on").Add(w.claimer())).Block(
			helper(),
			jen.List(jen.Id("jobs"), jen.Err()).Op(":=").Add(w.claim(jen.Id("on"), jen.Lit(1))),
			fatal(),
			jen.If(jen.Len(jen.Id("jobs")).Op(">").Lit(0)).Block(
				jen.Id("t").Dot("Fatalf").Call(jen.Lit("job %v was claimed, which should not be ready"), jen.Id("jobs").Index(jen.Lit(0)).Dot("Key").Call()),
			),
		))
	if w.Complete != nil {
		w.completeStep(f)
	}
	w.turnStep(f)
	if w.Hold {
		w.holdSteps(f)
	}
}

// completeStep emits complete and finish:
//
//	func complete(on *Queue, jobs []Job) error {
//		return on.Complete(context.Background(), jobs...)
//	}
func (w *writer) completeStep(f *jen.File) {
	params := []jen.Code{jen.Id("on").Add(w.claimer()), jen.Id("jobs").Index().Id("Job")}
	call := jen.Id("on").Dot("Complete").Call(background(), jen.Id("jobs").Op("..."))
	body := []jen.Code{jen.Return(call)}
	if w.Complete.Result != nil {
		result := jen.Id("result")
		if w.Complete.Result.Null && !isSlice(w.Complete.Result) {
			result = jen.Op("&").Id("result")
		}
		body = []jen.Code{
			jen.Id("result").Op(":=").Add(w.constantSample(w.Complete.Result)),
			jen.Id("done").Op(":=").Make(jen.Index().Id("Done"), jen.Len(jen.Id("jobs"))),
			jen.For(jen.List(jen.Id("i"), jen.Id("job")).Op(":=").Range().Id("jobs")).Block(
				jen.Id("done").Index(jen.Id("i")).Op("=").Id("job").Dot("Done").Call(result),
			),
			jen.Return(jen.Id("on").Dot("Complete").Call(background(), jen.Id("done").Op("..."))),
		}
	}
	decl(f, []string{"complete completes jobs."},
		suiteMethodless("complete", params...).Error().Block(body...))
	decl(f, []string{"finish completes jobs that are held."},
		suiteMethod("finish", params...).Block(
			helper(),
			fatalOf(jen.Err().Op(":=").Add(suite("complete")).Call(jen.Id("on"), jen.Id("jobs"))),
		))
}

// suiteMethodless is func (c *conformance) name(params…), of what may run in
// any goroutine.
func suiteMethodless(name string, params ...jen.Code) *jen.Statement {
	return jen.Func().Params(jen.Id("c").Op("*").Id("conformance")).Id(name).Params(params...)
}

// holdSteps emits hold and commit.
func (w *writer) holdSteps(f *jen.File) {
	decl(f, []string{"begin begins a transaction for claims."},
		suiteMethod("begin").Op("*").Id("Hold").Block(
			helper(),
			jen.List(jen.Id("h"), jen.Err()).Op(":=").Add(suite("q", "Hold")).Call(background()),
			fatal(),
			jen.Return(jen.Id("h")),
		))
	decl(f, []string{"commit ends it."},
		suiteMethod("commit", jen.Id("h").Op("*").Id("Hold")).Block(
			helper(),
			fatalOf(jen.Err().Op(":=").Id("h").Dot("Commit").Call(background())),
		))
}

// within emits body on what claims: the queue, or a transaction that is
// committed afterwards.
func (w *writer) within(g *jen.Group, body func(on func() *jen.Statement)) {
	if !w.Hold {
		body(func() *jen.Statement { return suite("q") })
		return
	}
	g.Id("h").Op(":=").Add(suite("begin")).Call(jen.Id("t"))
	g.Defer().Id("h").Dot("Close").Call()
	body(func() *jen.Statement { return jen.Id("h").Dot("Tx") })
	g.Add(suite("commit")).Call(jen.Id("t"), jen.Id("h"))
}

// step is c.name(t, args…).
func step(name string, args ...jen.Code) *jen.Statement {
	return suite(name).Call(append([]jen.Code{jen.Id("t")}, args...)...)
}

func (w *writer) proveEmpty(g *jen.Group) {
	w.within(g, func(on func() *jen.Statement) {
		g.Add(step("none", on()))
	})
}

// workers and jobs of the proof of exclusive claims.
const proofWorkers, proofJobs = 8, 400

// proveExclusive emits workers that take all jobs and count who got what.
func (w *writer) proveExclusive(g *jen.Group) {
	g.Add(step("add", jen.Lit(proofJobs)))
	g.Var().Id("mu").Qual("sync", "Mutex")
	g.Id("taken").Op(":=").Make(jen.Map(jen.Id("Key")).Int())
	g.Id("note").Op(":=").Func().Params(jen.Id("jobs").Index().Id("Job")).Block(
		jen.Id("mu").Dot("Lock").Call(),
		jen.Defer().Id("mu").Dot("Unlock").Call(),
		jen.For(jen.List(jen.Id("_"), jen.Id("job")).Op(":=").Range().Id("jobs")).Block(
			jen.Id("taken").Index(jen.Id("job").Dot("Key").Call()).Op("++"),
		),
	)
	g.Var().Id("running").Qual("sync", "WaitGroup")
	args := []jen.Code{suite("q")}
	params := []jen.Code{jen.Id("q").Op("*").Id("Queue")}
	if w.isPgx() {
		args[0] = jen.Id("New").Call(jen.Id("connectConformance").Call(jen.Id("t")))
	}
	index := jen.Range().Lit(proofWorkers)
	if w.sharesOut() {
		index = jen.Id("i").Op(":=").Range().Lit(proofWorkers)
		args = append(args, jen.Id("Shard").Values(jen.Id("Index").Op(":").Id("i"), jen.Id("Count").Op(":").Lit(proofWorkers)))
		params = append(params, jen.Id("shard").Id("Shard"))
	}
	g.For(index).Block(
		jen.Id("running").Dot("Add").Call(jen.Lit(1)),
		jen.Go().Func().Params(params...).BlockFunc(func(g *jen.Group) {
			g.Defer().Id("running").Dot("Done").Call()
			g.For().BlockFunc(func(g *jen.Group) {
				g.List(jen.Id("n"), jen.Err()).Op(":=").Add(w.turn())
				g.If(jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Error").Call(jen.Err()))
				g.If(jen.Err().Op("!=").Nil().Op("||").Id("n").Op("==").Lit(0)).Block(jen.Return())
			})
		}).Call(args...),
	)
	g.Id("running").Dot("Wait").Call()
	g.If(jen.Len(jen.Id("taken")).Op("!=").Lit(proofJobs)).Block(
		jen.Id("t").Dot("Errorf").Call(jen.Lit(fmt.Sprintf("%%d jobs were taken of %d", proofJobs)), jen.Len(jen.Id("taken"))),
	)
	g.For(jen.List(jen.Id("key"), jen.Id("times")).Op(":=").Range().Id("taken")).Block(
		jen.If(jen.Id("times").Op(">").Lit(1)).Block(
			jen.Id("t").Dot("Errorf").Call(jen.Lit("job %v was taken %d times"), jen.Id("key"), jen.Id("times")),
		),
	)
}

// sharesOut reports whether only the shard keeps workers apart.
func (w *writer) sharesOut() bool { return w.Claim.Shard && w.Complete != nil && !w.marks() && !w.Hold }

// turn is the call of turn within the proof of exclusive claims.
func (w *writer) turn() *jen.Statement {
	args := []jen.Code{jen.Id("q")}
	if w.sharesOut() {
		args = append(args, jen.Id("shard"))
	}
	return suite("turn").Call(append(args, jen.Id("note"))...)
}

// turnStep emits
//
//	func (c *conformance) turn(q *Queue, note func(jobs []Job)) (int, error) {
//		jobs, err := conformanceClaim(context.Background(), q, 7)
//		if err != nil || len(jobs) == 0 {
//			return 0, err
//		}
//		note(jobs)
//		return len(jobs), c.complete(q, jobs)
//	}
func (w *writer) turnStep(f *jen.File) {
	params := []jen.Code{jen.Id("q").Op("*").Id("Queue")}
	claim := []jen.Code{background(), jen.Id("q")}
	if w.Claim.Shard {
		shard := jen.Id("Shard").Values(jen.Id("Index").Op(":").Lit(0), jen.Id("Count").Op(":").Lit(1))
		if w.sharesOut() {
			params = append(params, jen.Id("shard").Id("Shard"))
			shard = jen.Id("shard")
		}
		claim = append(claim, shard)
	}
	params = append(params, jen.Id("note").Func().Params(jen.Id("jobs").Index().Id("Job")))
	claim = append(claim, jen.Lit(7))
	doc := "turn claims some jobs, notes and completes them, and returns how many."
	if w.Complete == nil {
		doc = "turn claims some jobs, notes them, and returns how many."
	}
	decl(f, []string{doc},
		suiteMethodless("turn", params...).Params(jen.Int(), jen.Error()).BlockFunc(func(g *jen.Group) {
			on := jen.Id("q")
			if w.Hold {
				on = jen.Id("h").Dot("Tx")
				claim[1] = on.Clone()
				g.List(jen.Id("h"), jen.Err()).Op(":=").Id("q").Dot("Hold").Call(background())
				g.Add(ifErr(jen.Lit(0)))
				g.Defer().Id("h").Dot("Close").Call()
			}
			g.List(jen.Id("jobs"), jen.Err()).Op(":=").Id("conformanceClaim").Call(claim...)
			g.If(jen.Err().Op("!=").Nil().Op("||").Len(jen.Id("jobs")).Op("==").Lit(0)).Block(jen.Return(jen.Lit(0), jen.Err()))
			g.Id("note").Call(jen.Id("jobs"))
			switch {
			case w.Complete == nil:
				g.Return(jen.Len(jen.Id("jobs")), jen.Nil())
			case w.Hold:
				g.Add(ifAssign(jen.Err().Op(":=").Add(suite("complete")).Call(on, jen.Id("jobs")), jen.Lit(0)))
				g.Return(jen.Len(jen.Id("jobs")), jen.Id("h").Dot("Commit").Call(background()))
			default:
				g.Return(jen.Len(jen.Id("jobs")), suite("complete").Call(on, jen.Id("jobs")))
			}
		}))
}

// finishTaken is c.finish(t, on, c.take(t, on, n)); where a claim removes the
// row, there is nothing to finish.
func (w *writer) finishTaken(on func() *jen.Statement, n jen.Code) *jen.Statement {
	take := step("take", on(), n)
	if w.Complete == nil {
		return take
	}
	return step("finish", on(), take)
}

func (w *writer) proveLimit(g *jen.Group) {
	g.Add(step("add", jen.Lit(20)))
	w.within(g, func(on func() *jen.Statement) {
		g.List(jen.Id("jobs"), jen.Err()).Op(":=").Add(w.claim(on(), jen.Lit(0)))
		g.If(jen.Err().Op("!=").Nil().Op("||").Len(jen.Id("jobs")).Op(">").Lit(0)).Block(
			jen.Id("t").Dot("Fatalf").Call(jen.Lit("a claim of none returned %d jobs and the error %v"), jen.Len(jen.Id("jobs")), jen.Err()),
		)
		g.For(jen.List(jen.Id("_"), jen.Id("n")).Op(":=").Range().Index().Int().Values(jen.Lit(1), jen.Lit(7), jen.Lit(12))).Block(
			w.finishTaken(on, jen.Id("n")),
		)
		g.Add(step("none", on()))
	})
}

func (w *writer) proveOrder(g *jen.Group) {
	g.Add(step("add", jen.Lit(30)))
	w.within(g, func(on func() *jen.Statement) {
		if w.Complete != nil && !w.Hold && !w.marks() {
			g.Id("all").Op(":=").Add(step("take", on(), jen.Lit(30)))
		} else {
			g.Var().Id("all").Index().Id("Job")
			g.For(jen.Len(jen.Id("all")).Op("<").Lit(30)).Block(
				jen.Id("all").Op("=").Append(jen.Id("all"), step("take", on(), jen.Lit(3)).Op("...")),
			)
		}
		g.If(jen.Op("!").Qual("slices", "IsSortedFunc").Call(jen.Id("all"), jen.Id("queueOrder"))).Block(
			jen.Id("t").Dot("Error").Call(jen.Lit("one worker alone got jobs out of order")),
		)
		if w.Complete != nil {
			g.Add(step("finish", on(), jen.Id("all")))
		}
	})
}

// isLost emits a test that completing jobs is an ErrLost.
func isLost(jobs, what string) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(suite("complete")).Call(suite("q"), jen.Id(jobs)), jen.Op("!").Qual("errors", "Is").Call(jen.Err(), jen.Id("ErrLost"))).Block(
		jen.Id("t").Dot("Errorf").Call(jen.Lit("completing a job "+what+": %v"), jen.Err()),
	)
}

// giveBack emits the end of a claim by Requeue.
func (w *writer) giveBack(jobs string) *jen.Statement {
	args := []jen.Code{background()}
	if w.Requeue.Delay {
		args = append(args, jen.Lit(0))
	}
	args = append(args, jen.Id(jobs).Op("..."))
	return fatalOf(jen.Err().Op(":=").Add(suite("q", "Requeue")).Call(args...))
}

func (w *writer) proveFence(g *jen.Group) {
	on := func() *jen.Statement { return suite("q") }
	g.Add(step("add", jen.Lit(1)))
	if w.marks() && w.Requeue != nil {
		g.Id("late").Op(":=").Add(step("take", on(), jen.Lit(1)))
		g.Add(w.giveBack("late"))
		g.Add(isLost("late", "that was given back"))
		if w.Guarantee > queue.FenceStatus && !w.triesFence() {
			g.Id("mine").Op(":=").Add(step("take", on(), jen.Lit(1)))
			g.Add(isLost("late", "that another holds by now"))
			g.Add(step("finish", on(), jen.Id("mine")))
			g.Add(isLost("mine", "twice"))
			return
		}
	}
	g.Id("mine").Op(":=").Add(step("take", on(), jen.Lit(1)))
	g.Add(step("finish", on(), jen.Id("mine")))
	g.Add(isLost("mine", "twice"))
}

// triesFence reports whether the number of tries fences a claim. Requeue does
// not count the try, so the next claim has the same number: a worker that gives
// a job back must not settle it afterwards.
func (w *writer) triesFence() bool {
	return w.Attempts != nil && w.Attempts.OnClaim && slices.Contains(w.Fence, w.Attempts.Field)
}

func (w *writer) proveRequeue(g *jen.Group) {
	on := func() *jen.Statement { return suite("q") }
	g.Add(step("add", jen.Lit(3)))
	g.Id("jobs").Op(":=").Add(step("take", on(), jen.Lit(3)))
	g.Add(step("none", on()))
	g.Add(w.giveBack("jobs"))
	g.Add(w.finishTaken(on, jen.Lit(3)))
}

func (w *writer) proveRollback(g *jen.Group) {
	on := func() *jen.Statement { return suite("q") }
	begin, end := suite("db", "BeginTx").Call(background(), jen.Nil()), jen.Id("tx").Dot("Rollback").Call()
	if w.isPgx() {
		begin, end = suite("db", "Begin").Call(background()), jen.Id("tx").Dot("Rollback").Call(background())
	}
	g.Add(step("add", jen.Lit(3)))
	g.List(jen.Id("tx"), jen.Err()).Op(":=").Add(begin)
	g.Add(fatal())
	g.List(jen.Id("jobs"), jen.Err()).Op(":=").Add(w.claim(suite("q", "WithTx").Call(jen.Id("tx")), jen.Lit(3)))
	g.If(jen.Err().Op("!=").Nil().Op("||").Len(jen.Id("jobs")).Op("==").Lit(0)).Block(
		jen.Id("t").Dot("Errorf").Call(jen.Lit("a claim in a transaction returned %d jobs and the error %v"), jen.Len(jen.Id("jobs")), jen.Err()),
	)
	g.Add(fatalOf(jen.Err().Op(":=").Add(end)))
	g.Add(w.finishTaken(on, jen.Lit(3)))
	g.Add(step("none", on()))
}

// proveHold emits two transactions over three jobs: none of them gets what the
// other has, nor what it has itself; a rollback frees, a commit keeps.
func (w *writer) proveHold(g *jen.Group) {
	other := jen.Id("other").Dot("Tx")
	g.Add(step("add", jen.Lit(3)))
	g.Id("h").Op(":=").Add(step("begin"))
	g.Defer().Id("h").Dot("Close").Call()
	g.Add(step("take", jen.Id("h").Dot("Tx"), jen.Lit(2)))
	queueOf := suite("q", "Hold").Call(background())
	if w.isPgx() {
		queueOf = jen.Id("New").Call(jen.Id("connectConformance").Call(jen.Id("t"))).Dot("Hold").Call(background())
	}
	g.List(jen.Id("other"), jen.Err()).Op(":=").Add(queueOf)
	g.Add(fatal())
	g.Defer().Id("other").Dot("Close").Call()
	g.Add(step("finish", other.Clone(), step("take", other.Clone(), jen.Lit(1))))
	g.Add(step("none", other.Clone()))
	g.Add(step("none", jen.Id("h").Dot("Tx")))
	g.Add(step("commit", jen.Id("other")))
	g.Id("h").Dot("Close").Call()
	g.Line()
	g.Id("last").Op(":=").Add(step("begin"))
	g.Defer().Id("last").Dot("Close").Call()
	g.Add(step("finish", jen.Id("last").Dot("Tx"), step("take", jen.Id("last").Dot("Tx"), jen.Lit(2))))
	g.Add(step("none", jen.Id("last").Dot("Tx")))
	g.Add(step("commit", jen.Id("last")))
}
