package emit

// This file writes conformance_test.go: an opt-in test of the emitted package
// that proves the claims of doc.go on a server and a table of the user's. What
// it holds for a table follows from the operations that the table has.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
)

// proof is one test of the suite.
type proof struct {
	name, method, doc string
	when              bool
	body              func(g *code.Group)
}

func (w *writer) conformanceFile() *code.File {
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
		{"Start", "start", "start shows that only its holder begins a job, and once.", w.Start != nil, w.proveStart},
		{"Requeue", "requeue", "requeue shows that a job given back can be claimed again.", w.marks() && w.Requeue != nil, w.proveRequeue},
		{"Recover", "recover", "recover shows that what a program left running is taken from it.", w.Recover != nil && w.Recover.AtStart, w.proveRecover},
		{"Rollback", "rollback", "rollback shows that jobs claimed in a transaction are free when it is rolled back.", w.marks() || !settles, w.proveRollback},
		{"Hold", "hold", "hold shows that what a transaction has claimed is its own until it ends.", w.Hold, w.proveHold},
	}
	proofs = slices.DeleteFunc(proofs, func(p proof) bool { return !p.when })
	w.conformanceTest(f, proofs)
	w.conformanceJob(f)
	w.conformanceClaim(f)
	w.conformanceSuite(f)
	w.conformanceSteps(f)
	w.conformanceFirst(f)
	for _, p := range proofs {
		decl(f, []string{p.doc}, suiteMethod(p.method).BlockFunc(p.body))
	}
	return f
}

// environment is the name of a variable that the test reads.
func (w *writer) environment(name string) string { return strings.ToUpper(w.Name) + "_TEST_" + name }

// suiteMethod is func (c *conformance) name(t *testing.T, params…).
func suiteMethod(name string, params ...*code.Statement) *code.Statement {
	return anywhereMethod(name, append([]*code.Statement{testParam()}, params...)...)
}

// anywhereMethod is func (c *conformance) name(params…), of what may run in
// any goroutine.
func anywhereMethod(name string, params ...*code.Statement) *code.Statement {
	return code.Func().Params(code.Id("c").Op("*").Id("conformance")).Id(name).Params(params...)
}

// testParam is t *testing.T.
func testParam() *code.Statement { return code.Id("t").Op("*").Qual("testing", "T") }

// suite is c.a.b within a method of conformance.
func suite(names ...string) *code.Statement { return member("c", names...) }

// background is context.Background().
func background() *code.Statement { return code.Qual("context", "Background").Call() }

// onT is t.method(args…).
func onT(method string, args ...*code.Statement) *code.Statement {
	return code.Id("t").Dot(method).Call(args...)
}

// fatal is t.Fatal(err), if err is not nil.
func fatal() *code.Statement {
	return code.If(code.Err().Op("!=").Nil()).Block(onT("Fatal", code.Err()))
}

// fatalOf is
//
//	if <assign>; err != nil {
//		t.Fatal(err)
//	}
func fatalOf(assign *code.Statement) *code.Statement {
	return code.If(assign, code.Err().Op("!=").Nil()).Block(onT("Fatal", code.Err()))
}

// helper is t.Helper().
func helper() *code.Statement { return code.Id("t").Dot("Helper").Call() }

// conformanceTest emits TestConformance.
func (w *writer) conformanceTest(f *code.File, proofs []proof) {
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
		code.Func().Id("TestConformance").Params(testParam()).BlockFunc(func(g *code.Group) {
			g.Id("c").Op(":=").Id("openConformance").Call(code.Id("t"))
			g.If(code.Op("!").Id("t").Dot("Run").Call(code.Lit("Job"), suite("job"))).Block(
				code.Return().Comment("nothing else can be shown"),
			)
			for _, p := range proofs {
				g.Id("t").Dot("Run").Call(code.Lit(p.name), suite(p.method))
			}
		}))
}

// purgesDone returns what removes the rows of jobs that are done, nil where nothing does for
// sure.
func (w *writer) purgesDone() *plan.Purge {
	for _, p := range w.Purges {
		if slices.Contains(p.Of, queue.Done) && !p.Asked {
			return p
		}
	}
	return nil
}

// leftovers says what the test leaves in the table.
func (w *writer) leftovers() string {
	switch {
	case w.Complete == nil:
		return ""
	case w.purgesDone() != nil:
		return " At the end it purges the table."
	}
	return " It leaves its rows behind, finished."
}

// conformanceJob emits
//
//	var conformanceJob = func(i int) NewJob {
//		return NewJob{Kind: "a", Body: json.RawMessage(`{}`)}
//	}
func (w *writer) conformanceJob(f *code.File) {
	var before, values []*code.Statement
	for _, field := range w.Enqueue.Fields {
		value := w.sample(field)
		if value == nil || field.Said != "" { // without it the job is as it would be at present
			continue
		}
		if pointer(field, field.Optional) {
			name := lowerFirst(field.Name) + "Value"
			before = append(before, code.Id(name).Op(":=").Add(value))
			value = code.Op("&").Id(name)
		}
		values = append(values, code.Id(field.Name).Op(":").Add(value))
	}
	decl(f, []string{"conformanceJob makes the job number i; no number comes twice."},
		code.Var().Id("conformanceJob").Op("=").Func().Params(code.Id("i").Int()).Id("NewJob").Block(
			append(before, code.Return(code.Id("NewJob").Values(values...)))...,
		))
}

// sample is a value for a field of NewJob; nil when the field may be left out
// and nothing depends on it.
func (w *writer) sample(f *plan.Field) *code.Statement {
	inKey := slices.Contains(w.Key, f)
	inOrder := slices.ContainsFunc(w.Claim.Order, func(t plan.SortTerm) bool { return t.Field == f })
	narrows := w.narrows(f)
	distinct := !narrows && (f.Unique || inKey) || inKey && !slices.ContainsFunc(w.Key, func(k *plan.Field) bool { return !w.narrows(k) })
	// The default of a due time may be in the future, and some columns round the present up.
	due := f.Due && (w.Lease == nil || w.Lease.Field != f)
	// A default would come twice.
	told := distinct && (!f.Optional || f.Unique && !f.Null && !inKey)
	needed := f.Tries || due || told || f.Sample.Ready != "" || narrows || inOrder && isNumber(f) && !inKey
	switch {
	case (f.Optional || f.Null) && !needed:
		return nil
	case distinct:
		return w.countedSample(f)
	case f.Sample.Ready != "":
		return w.constantSample(f)
	case isNumber(f) && inOrder && !narrows && f.Sample.Values == nil && f.Sample.Form == nil:
		return w.ordered(f)
	case f.GoType == "time.Time" && !narrows:
		return w.countedTime()
	}
	return w.constantSample(f)
}

// ordered is a number of the order: several jobs have it.
func (w *writer) ordered(f *plan.Field) *code.Statement {
	first, values := f.Sample.First(), 3
	if most := f.Sample.Greatest; most != nil {
		values = int(max(1, min(3, *most-first+1)))
	}
	return w.valueType(f).Call(code.Lit(int(first)).Op("+").Id("i").Op("%").Lit(values))
}

// counted is a number that no other job has.
func counted(f *plan.Field) *code.Statement {
	first, down := f.Sample.From()
	if down {
		return code.Lit(int(first)).Op("-").Id("i")
	}
	return code.Id("i").Op("+").Lit(int(first))
}

// countedTime is a day for each job, long ago.
func (w *writer) countedTime() *code.Statement {
	return code.Qual("time", "Unix").Call(code.Lit(someTime).Op("+").Lit(24*60*60).Op("*").Int64().Call(code.Id("i")), code.Lit(0))
}

// someTime is a time long ago that every type can keep, in seconds since 1970.
const someTime = 1000000000

// countedSample is a value that no other job has, as far as the column has so many.
func (w *writer) countedSample(f *plan.Field) *code.Statement {
	s, number := f.Sample, code.Id("i")
	short := f.Most > 0 && f.Most < len("job 1234")
	switch {
	case len(s.Values) > 1 && w.writesValues(f):
		return code.Index().Add(w.valueType(f)).ValuesFunc(func(g *code.Group) {
			for _, v := range s.Values {
				g.Add(w.allowed(f, v))
			}
		}).Index(number.Op("%").Lit(len(s.Values)))
	case isNumber(f) && s.Values == nil && s.Form == nil:
		return w.valueType(f).Call(counted(f))
	case f.GoType == "time.Time":
		return w.countedTime()
	case f.GoType == "string" && s.Form != nil && strings.Contains(*s.Form, "%"):
		return code.Qual("fmt", "Sprintf").Call(code.Lit(*s.Form), number)
	case f.GoType == "string" && s.TimeOfDay:
		return code.Qual("time", "Unix").Call(code.Lit(60).Op("*").Int64().Call(number), code.Lit(0)).Dot("UTC").Call().Dot("Format").Call(code.Lit("15:04:05"))
	case s.Values != nil, s.Form != nil:
	case f.Digits:
		return code.Qual("strconv", "Itoa").Call(counted(f))
	case f.GoType == "string" && short:
		return code.Qual("strconv", "Itoa").Call(number)
	case f.GoType == "string":
		return code.Qual("fmt", "Sprintf").Call(code.Lit("job %d"), number)
	case f.GoType == "[]byte" && f.FillsUp:
		return code.Qual("fmt", "Appendf").Call(code.Nil(), code.Lit("%0*d"), code.Lit(f.Most), number)
	case f.GoType == "[]byte" && short:
		return code.Qual("fmt", "Appendf").Call(code.Nil(), code.Lit("%d"), number)
	case f.GoType == "[]byte":
		return code.Qual("fmt", "Appendf").Call(code.Nil(), code.Lit("job %d"), number)
	}
	return w.constantSample(f)
}

// writesValues reports whether the values that a column takes can be written as those of the
// field's Go type.
func (w *writer) writesValues(f *plan.Field) bool {
	return f.GoType == "string" || f.GoType == "[]byte" || isNumber(f)
}

// allowed is one of the values that a column takes.
func (w *writer) allowed(f *plan.Field, value string) *code.Statement {
	switch {
	case isNumber(f):
		return w.valueType(f).Call(code.Id(value))
	case f.GoType == "bool" && w.isStatus(f):
		return w.valueType(f).Call(code.Id(value))
	case f.GoType == "bool":
		return code.Id(value)
	case f.GoType == "[]byte":
		return code.Index().Byte().Call(code.Lit(value))
	case w.isStatus(f):
		return w.valueType(f).Call(code.Lit(value))
	}
	return code.Lit(value)
}

// isNumber reports whether the field's Go type is a number.
func isNumber(f *plan.Field) bool {
	return strings.HasPrefix(f.GoType, "int") || strings.HasPrefix(f.GoType, "uint") || strings.HasPrefix(f.GoType, "float")
}

// narrows reports whether an argument of Claim asks for one value of a field.
func (w *writer) narrows(f *plan.Field) bool {
	return slices.ContainsFunc(w.Claim.Params, func(p *plan.Param) bool { return p.Field == f })
}

// constantSample is the value that a field has in all jobs, and that a claim
// is narrowed to.
func (w *writer) constantSample(f *plan.Field) *code.Statement {
	kind, sample := strings.ToLower(f.SQLType), f.Sample
	switch {
	case sample.Ready != "" && w.writesValues(f):
		return w.allowed(f, sample.Ready)
	case sample.Ready != "" && f.GoType == "bool":
		return w.allowed(f, strconv.FormatBool(sample.Ready == "true" || sample.Ready == "1"))
	case len(sample.Values) > 0 && w.writesValues(f):
		return w.allowed(f, sample.Values[0])
	case f.GoType == "json.RawMessage":
		return w.goType(f.GoType).Call(code.Id("`{}`"))
	case f.GoType == "string" && strings.Contains(kind, "json"):
		return code.Lit("{}")
	case sample.Form != nil && w.writesValues(f):
		text := *sample.Form
		if strings.Contains(text, "%") {
			text = fmt.Sprintf(text, 0)
		}
		return w.allowed(f, text)
	case sample.TimeOfDay:
		return code.Lit("00:00:00")
	case f.GoType == "[]byte" && f.FillsUp:
		return code.Index().Byte().Call(code.Lit(strings.Repeat("a", f.Most)))
	case f.GoType == "[]byte":
		return code.Index().Byte().Call(code.Lit("a"))
	case f.GoType == "bool" && !w.isStatus(f):
		return code.False()
	case f.GoType == "time.Time":
		return code.Qual("time", "Unix").Call(code.Lit(someTime), code.Lit(0))
	case isNumber(f):
		return w.valueType(f).Call(code.Lit(int(sample.First())))
	case f.Digits:
		return code.Lit(strconv.FormatInt(sample.First(), 10))
	case f.GoType == "string" && w.isStatus(f):
		return w.valueType(f).Call(code.Lit("a"))
	case f.GoType == "string":
		return code.Lit("a")
	}
	return code.Op("*").New(w.valueType(f))
}

// conformanceClaim emits
//
//	var conformanceClaim = func(ctx context.Context, q *Queue, limit int) ([]Job, error) {
//		return q.Claim(ctx, "a", limit)
//	}
func (w *writer) conformanceClaim(f *code.File) {
	params := []*code.Statement{ctxParam(), code.Id("q").Add(w.claimer())}
	if w.Claim.Shard {
		params = append(params, code.Id("shard").Id("Shard"))
	}
	params = append(params, code.Id("limit").Int())
	decl(f, []string{"conformanceClaim claims what conformanceJob has made."},
		code.Var().Id("conformanceClaim").Op("=").Func().Params(params...).Params(code.Index().Id("Job"), code.Error()).Block(
			code.Return(code.Id("q").Dot("Claim").CallFunc(func(g *code.Group) {
				g.Id("ctx")
				for _, p := range w.Claim.Params {
					g.Add(w.paramSample(p))
				}
				if w.Claim.Shard {
					g.Id("shard")
				}
				if w.Claim.LeaseArg {
					g.Add(code.Qual("time", "Minute"))
				}
				addAll(g, minutes(w.claimStatements()...))
				if w.Claim.Accept != nil {
					g.Add(code.Nil())
				}
				g.Id("limit")
			})),
		))
}

// minutes is the argument timeout of an operation, where that has one.
func minutes(statements ...*plan.Statement) []*code.Statement {
	if !plan.AsksTimeout(statements...) {
		return nil
	}
	return []*code.Statement{code.Qual("time", "Minute")}
}

// paramSample is the argument for a parameter of Claim that suits the jobs of
// conformanceJob.
func (w *writer) paramSample(p *plan.Param) *code.Statement {
	switch {
	case strings.HasPrefix(p.GoType, "*"), p.Except:
		return code.Nil()
	case p.Field == nil:
		return code.Op("*").New(w.paramType(p))
	case p.List:
		return w.paramType(p).Values(w.constantSample(p.Field))
	}
	return w.constantSample(p.Field)
}

// claim is the call of conformanceClaim on the expression on; a shard is all of the
// table.
func (w *writer) claim(on, limit *code.Statement) *code.Statement {
	return w.claimShard(on, shardOf(code.Lit(0), 1), limit)
}

// claimShard is claim where shard is the expression for the shard, if claims take one.
func (w *writer) claimShard(on, shard, limit *code.Statement) *code.Statement {
	args := []*code.Statement{background(), on}
	if w.Claim.Shard {
		args = append(args, shard)
	}
	return code.Id("conformanceClaim").Call(append(args, limit)...)
}

// shardOf is Shard{Index: index, Count: count}.
func shardOf(index *code.Statement, count int) *code.Statement {
	return code.Id("Shard").Values(code.Id("Index").Op(":").Add(index), code.Id("Count").Op(":").Lit(count))
}

// conformanceSuite emits the struct conformance and openConformance.
func (w *writer) conformanceSuite(f *code.File) {
	decl(f, []string{"conformance is one run of the test."},
		code.Type().Id("conformance").Struct(
			code.Id("db").Add(w.connection()),
			code.Id("q").Op("*").Id("Queue"),
			code.Id("made").Int().Comment("jobs so far"),
		))
	decl(f, []string{"openConformance connects to the database, and skips the test where it must not run."},
		code.Func().Id("openConformance").Params(testParam()).Op("*").Id("conformance").BlockFunc(func(g *code.Group) {
			g.If(code.Qual("os", "Getenv").Call(code.Lit(w.environment("DSN"))).Op("==").Lit("")).Block(
				onT("Skip", code.Lit(w.environment("DSN")+" is not set")),
			)
			g.Id("db").Op(":=").Id("connectConformance").Call(code.Id("t"))
			g.Id("c").Op(":=").Op("&").Id("conformance").Values(code.Id("db").Op(":").Id("db"), code.Id("q").Op(":").Add(w.newQueue(code.Id("db"))))
			g.List(code.Id("s"), code.Err()).Op(":=").Add(suite("q", "Stats")).Call(append([]*code.Statement{background()}, minutes(w.Stats.Statement)...)...)
			g.Add(fatal())
			g.If(w.anyRow()).Block(
				onT("Skip", code.Lit("the table "+strings.ReplaceAll(w.tableName(), "%", "%%")+" is not empty: the test touches no rows but its own")),
			)
			if p := w.purgesDone(); p != nil && w.Complete != nil {
				w.purgeAfter(g, p)
			}
			g.Return(code.Id("c"))
		}))
	w.connectFunc(f)
	if w.Tables == nil {
		return
	}
	decl(f, []string{"newConformance returns a queue over the table that the DDL has."},
		code.Func().Id("newConformance").Params(testParam(), code.Id("db").Id("DBTX")).Op("*").Id("Queue").Block(
			helper(),
			code.List(code.Id("q"), code.Err()).Op(":=").Id("New").Call(append([]*code.Statement{code.Id("db"), code.Id("Tables").ValuesFunc(func(g *code.Group) {
				for _, p := range w.Tables.Parts {
					sample := code.Lit(p.Sample)
					if p.Number {
						sample = code.Id(cmp.Or(strings.TrimLeft(p.Sample, "0"), "0"))
					}
					g.Id(p.Name).Op(":").Add(sample)
				}
			})}, w.conformanceWorker()...)...),
			fatal(),
			code.Return(code.Id("q")),
		))
}

// newQueue is New(db), of the table that the DDL has.
func (w *writer) newQueue(db *code.Statement) *code.Statement {
	if w.Tables == nil {
		return code.Id("New").Call(append([]*code.Statement{db}, w.conformanceWorker()...)...)
	}
	return code.Id("newConformance").Call(code.Id("t"), db)
}

// conformanceWorker is the option that names the worker of the test, where one has to be named or
// its default may be too long.
func (w *writer) conformanceWorker() []*code.Statement {
	most := w.mostWorker()
	if !w.needsName() && most == 0 {
		return nil
	}
	name := code.Lit("conformance")
	switch w.workerKind() {
	case "uuid":
		name = code.Lit("00000000-0000-4000-8000-000000000001")
	case "number":
		first, _ := w.ownNumbers()
		first = max(first, 1)
		name = code.Lit(int(first))
		if w.workerArg().Field.GoType == "string" {
			name = code.Lit(strconv.FormatInt(first, 10))
		}
	default:
		if most > 0 {
			name = code.Lit("conformance"[:min(most, len("conformance"))])
		}
	}
	return []*code.Statement{code.Id("WithWorker").Call(name)}
}

// anyRow is the test whether the figures s know of any row.
func (w *writer) anyRow() *code.Statement {
	var s *code.Statement
	for _, field := range w.Stats.Fields {
		if isSpan(field) {
			continue
		}
		some := code.Id("s").Dot(field.Name).Op(">").Lit(0)
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
func (w *writer) purgeAfter(g *code.Group, p *plan.Purge) {
	args := []*code.Statement{background()}
	if p.OlderThan {
		args = append(args, code.Lit(0))
	}
	args = append(args, minutes(p.Statements()...)...)
	args = append(args, code.Lit(10000))
	g.Id("t").Dot("Cleanup").Call(code.Func().Params().Block(
		code.If(code.List(code.Id("_"), code.Err()).Op(":=").Add(suite("q", p.Method)).Call(args...), code.Err().Op("!=").Nil()).Block(
			onT("Error", code.Err()),
		),
	))
}

// connectFunc emits connectConformance: for pgx a connection, which is for one
// goroutine at a time; for database/sql a pool.
func (w *writer) connectFunc(f *code.File) {
	doc := "connectConformance opens the database for as long as the test lasts."
	dsn := code.Qual("os", "Getenv").Call(code.Lit(w.environment("DSN")))
	opened := code.List(code.Id("db"), code.Err()).Op(":=")
	closed := code.Id("db").Dot("Close").Call()
	if w.isPgx() {
		doc = "connectConformance opens a connection that lasts as long as the test."
		opened.Qual(pgxPath, "Connect").Call(background(), dsn)
		closed = code.Id("db").Dot("Close").Call(background())
	} else {
		opened.Qual("database/sql", "Open").Call(code.Id("driver"), dsn)
	}
	decl(f, []string{doc},
		code.Func().Id("connectConformance").Params(testParam()).Add(w.connection()).BlockFunc(func(g *code.Group) {
			g.Add(helper())
			if !w.isPgx() {
				g.Id("driver").Op(":=").Qual("os", "Getenv").Call(code.Lit(w.environment("DRIVER")))
				g.If(code.Id("driver").Op("==").Lit("")).Block(
					code.Id("drivers").Op(":=").Qual("database/sql", "Drivers").Call(),
					code.If(empty("drivers")).Block(
						onT("Fatal", code.Lit("there is no driver: import one in a test file of your own")),
					),
					code.Id("driver").Op("=").Id("drivers").Index(code.Lit(0)),
				)
			}
			g.Add(opened)
			g.Add(fatal())
			g.Add(onT("Cleanup", code.Func().Params().Block(code.Id("_").Op("=").Add(closed))))
			g.Return(code.Id("db"))
		}))
}

// connection is the type of what connectConformance opens.
func (w *writer) connection() *code.Statement {
	if w.isPgx() {
		return code.Op("*").Qual(pgxPath, "Conn")
	}
	return code.Op("*").Qual("database/sql", "DB")
}

// enqueued are the results of Enqueue of which only the error counts.
func (w *writer) enqueued() *code.Statement {
	var results []*code.Statement
	if w.keysKnown() {
		results = append(results, code.Id("_"))
	}
	if w.Enqueue.Absent || w.Enqueue.Spares {
		results = append(results, code.Id("_"))
	}
	return code.List(append(results, code.Err())...)
}

// conformanceSteps emits what several proofs do.
func (w *writer) conformanceSteps(f *code.File) {
	added := w.enqueued()
	decl(f, []string{"add adds n jobs."},
		suiteMethod("add", code.Id("n").Int()).Block(
			helper(),
			code.For(code.Range().Id("n")).Block(
				fatalOf(added.Op(":=").Add(suite("q", "Enqueue")).Call(background(), code.Id("conformanceJob").Call(suite("made")))),
				suite("made").Op("++"),
			),
		))
	left := code.Id("n").Op("-").Len(code.Id("all"))
	decl(f, []string{"take claims n jobs, which must be ready."},
		suiteMethod("take", code.Id("on").Add(w.claimer()), code.Id("n").Int()).Index().Id("Job").Block(
			helper(),
			code.Var().Id("all").Index().Id("Job"),
			code.For(code.Len(code.Id("all")).Op("<").Id("n")).Block(
				code.List(code.Id("jobs"), code.Err()).Op(":=").Add(w.claim(code.Id("on"), left)),
				code.Switch().Block(
					code.Case(code.Err().Op("!=").Nil()).Block(onT("Fatal", code.Err())),
					code.Case(empty("jobs")).Block(
						onT("Fatalf", code.Lit("%d jobs were claimed of the %d that are ready"), code.Len(code.Id("all")), code.Id("n")),
					),
					code.Case(code.Len(code.Id("jobs")).Op(">").Add(left)).Block(
						onT("Fatalf", code.Lit("%d jobs were claimed where %d were asked for"), code.Len(code.Id("jobs")), left),
					),
				),
				code.Id("all").Op("=").Append(code.Id("all"), code.Id("jobs").Op("...")),
			),
			code.Return(code.Id("all")),
		))
	decl(f, []string{"none shows that no job is ready."},
		suiteMethod("none", code.Id("on").Add(w.claimer())).Block(
			helper(),
			code.List(code.Id("jobs"), code.Err()).Op(":=").Add(w.claim(code.Id("on"), code.Lit(1))),
			fatal(),
			code.If(code.Len(code.Id("jobs")).Op(">").Lit(0)).Block(
				onT("Fatalf", code.Lit("job %v was claimed, which should not be ready"), code.Id("jobs").Index(code.Lit(0)).Dot("Key").Call()),
			),
		))
	if w.Complete != nil {
		w.completeStep(f)
	}
	if w.Start != nil {
		w.beginStep(f)
	}
	w.turnStep(f)
	if w.Hold {
		w.holdSteps(f)
	}
}

// completeStep emits complete and finish:
//
//	func (c *conformance) complete(on *Queue, jobs []Job) error {
//		return on.Complete(context.Background(), jobs...)
//	}
func (w *writer) completeStep(f *code.File) {
	params := []*code.Statement{code.Id("on").Add(w.claimer()), code.Id("jobs").Index().Id("Job")}
	var body []*code.Statement
	ended := "jobs"
	if w.carries() {
		ended = "done"
		var args []*code.Statement
		for _, o := range w.extras() {
			arg := code.Id(o.name)
			if pointer(o.field, false) {
				arg = code.Op("&").Id(o.name)
			}
			body = append(body, code.Id(o.name).Op(":=").Add(w.constantSample(o.field)))
			args = append(args, arg)
		}
		body = append(body,
			code.Id("done").Op(":=").Make(code.Index().Id("Done"), code.Len(code.Id("jobs"))),
			code.For(code.List(code.Id("i"), code.Id("job")).Op(":=").Range().Id("jobs")).Block(
				code.Id("done").Index(code.Id("i")).Op("=").Id("job").Dot("Done").Call(args...),
			),
		)
	}
	body = append(body, code.Return(code.Id("on").Dot("Complete").Call(background(), code.Id(ended).Op("..."))))
	decl(f, []string{"complete completes jobs."},
		anywhereMethod("complete", params...).Error().Block(body...))
	decl(f, []string{"finish completes jobs that are held."},
		suiteMethod("finish", params...).Block(
			helper(),
			fatalOf(code.Err().Op(":=").Add(suite("complete")).Call(code.Id("on"), code.Id("jobs"))),
		))
}

// beginStep emits begin:
//
//	func (c *conformance) begin(jobs []Job) error {
//		return c.q.Start(context.Background(), jobs...)
//	}
func (w *writer) beginStep(f *code.File) {
	args := []*code.Statement{background()}
	for _, p := range w.Start.Given {
		args = append(args, w.paramSample(p))
	}
	var body []*code.Statement
	begun := "jobs"
	if len(w.Start.Refreshes) > 0 {
		begun = "mine"
		body = append(body,
			code.Id("mine").Op(":=").Make(code.Index().Op("*").Id("Job"), code.Len(code.Id("jobs"))),
			code.For(code.Id("i").Op(":=").Range().Id("jobs")).Block(
				code.Id("mine").Index(code.Id("i")).Op("=").Op("&").Id("jobs").Index(code.Id("i")),
			))
	}
	body = append(body, code.Return(suite("q", "Start").Call(append(args, code.Id(begun).Op("..."))...)))
	decl(f, []string{"begin begins jobs that are claimed."},
		anywhereMethod("begin", code.Id("jobs").Index().Id("Job")).Error().Block(body...))
}

// holdSteps emits begin and commit.
func (w *writer) holdSteps(f *code.File) {
	decl(f, []string{"begin begins a transaction for claims."},
		suiteMethod("begin").Op("*").Id("Hold").Block(
			helper(),
			code.List(code.Id("h"), code.Err()).Op(":=").Add(suite("q", "Hold")).Call(background()),
			fatal(),
			code.Return(code.Id("h")),
		))
	decl(f, []string{"commit ends it."},
		suiteMethod("commit", code.Id("h").Op("*").Id("Hold")).Block(
			helper(),
			fatalOf(code.Err().Op(":=").Id("h").Dot("Commit").Call(background())),
		))
}

// within emits body on what claims: the queue, or a transaction that is
// committed afterwards.
func (w *writer) within(g *code.Group, body func(on *code.Statement)) {
	if !w.Hold {
		body(suite("q"))
		return
	}
	g.Id("h").Op(":=").Add(step("begin"))
	g.Defer().Id("h").Dot("Close").Call()
	body(code.Id("h").Dot("Tx"))
	g.Add(step("commit", code.Id("h")))
}

// step is c.name(t, args…).
func step(name string, args ...*code.Statement) *code.Statement {
	return suite(name).Call(append([]*code.Statement{code.Id("t")}, args...)...)
}

func (w *writer) proveEmpty(g *code.Group) {
	w.within(g, func(on *code.Statement) {
		g.Add(step("none", on))
	})
}

// workers and jobs of the proof of exclusive claims.
const proofWorkers, proofJobs = 8, 400

// proveExclusive emits workers that take all jobs and count who got what.
func (w *writer) proveExclusive(g *code.Group) {
	g.Add(step("add", code.Lit(proofJobs)))
	g.Var().Id("mu").Qual("sync", "Mutex")
	g.Id("taken").Op(":=").Make(code.Map(code.Id("Key")).Int())
	g.Id("note").Op(":=").Func().Params(code.Id("jobs").Index().Id("Job")).Block(
		lockMutex(code.Id("mu")),
		code.For(code.List(code.Id("_"), code.Id("job")).Op(":=").Range().Id("jobs")).Block(
			code.Id("taken").Index(code.Id("job").Dot("Key").Call()).Op("++"),
		),
	)
	g.Var().Id("running").Qual("sync", "WaitGroup")
	args := []*code.Statement{suite("q")}
	params := []*code.Statement{code.Id("q").Op("*").Id("Queue")}
	if w.isPgx() {
		args[0] = w.newQueue(code.Id("connectConformance").Call(code.Id("t")))
	}
	index := code.Range().Lit(proofWorkers)
	if w.sharesOut() {
		index = code.Id("i").Op(":=").Range().Lit(proofWorkers)
		args = append(args, shardOf(code.Id("i"), proofWorkers))
		params = append(params, code.Id("shard").Id("Shard"))
	}
	g.For(index).Block(
		code.Id("running").Dot("Add").Call(code.Lit(1)),
		code.Go().Func().Params(params...).BlockFunc(func(g *code.Group) {
			g.Defer().Id("running").Dot("Done").Call()
			g.For().BlockFunc(func(g *code.Group) {
				g.List(code.Id("n"), code.Err()).Op(":=").Add(w.turn())
				g.If(code.Err().Op("!=").Nil()).Block(onT("Error", code.Err()))
				g.If(errOr(code.Id("n").Op("==").Lit(0))).Block(code.Return())
			})
		}).Call(args...),
	)
	g.Id("running").Dot("Wait").Call()
	g.If(code.Len(code.Id("taken")).Op("!=").Lit(proofJobs)).Block(
		onT("Errorf", code.Lit(fmt.Sprintf("%%d jobs were taken of %d", proofJobs)), code.Len(code.Id("taken"))),
	)
	g.For(code.List(code.Id("key"), code.Id("times")).Op(":=").Range().Id("taken")).Block(
		code.If(code.Id("times").Op(">").Lit(1)).Block(
			onT("Errorf", code.Lit("job %v was taken %d times"), code.Id("key"), code.Id("times")),
		),
	)
}

// sharesOut reports whether only the shard keeps workers apart.
func (w *writer) sharesOut() bool { return w.Claim.Shard && w.Complete != nil && !w.marks() && !w.Hold }

// turn is the call of turn within the proof of exclusive claims.
func (w *writer) turn() *code.Statement {
	args := []*code.Statement{code.Id("q")}
	if w.sharesOut() {
		args = append(args, code.Id("shard"))
	}
	return suite("turn").Call(append(args, code.Id("note"))...)
}

// conformanceFirst emits the proof that comes before all others:
//
//	func (c *conformance) job(t *testing.T) {
//		if _, err := c.q.Enqueue(context.Background(), conformanceJob(c.made)); err != nil {
//			t.Fatalf("the database does not take the job that conformanceJob makes …: %v", err)
//		}
//		c.made++
//		jobs, err := conformanceClaim(context.Background(), c.q, 1)
//		if err != nil {
//			t.Fatal(err)
//		}
//		if len(jobs) == 0 {
//			t.Fatal("the job that conformanceJob makes is not ready …")
//		}
//		c.finish(t, c.q, jobs)
//	}
func (w *writer) conformanceFirst(f *code.File) {
	added := w.enqueued()
	own := "in a func init of a test file of your own"
	decl(f, []string{"job shows that the table takes a job that conformanceJob makes, and that a claim finds it."},
		suiteMethod("job").BlockFunc(func(g *code.Group) {
			g.If(added.Op(":=").Add(suite("q", "Enqueue")).Call(background(), code.Id("conformanceJob").Call(suite("made"))), code.Err().Op("!=").Nil()).Block(
				onT("Fatalf", code.Lit("the database does not take the job that conformanceJob makes: %v\n"+
					"Set conformanceJob, "+own+", to one that fits the table: its foreign keys have to name rows that are there."+w.unmet()), code.Err()),
			)
			g.Add(suite("made").Op("++"))
			w.within(g, func(on *code.Statement) {
				g.List(code.Id("jobs"), code.Err()).Op(":=").Add(w.claim(on, code.Lit(1)))
				g.Add(fatal())
				g.If(empty("jobs")).Block(
					onT("Fatal", code.Lit("the job that conformanceJob makes is not ready, or not what conformanceClaim asks for; it is still in the table.\n"+
						"Set conformanceJob or conformanceClaim, "+own+", so that they fit the table: what other tables have to say of a ready job, conformanceJob may write there.")),
				)
				if w.Complete != nil {
					g.Add(step("finish", on, code.Id("jobs")))
				}
			})
		}))
}

// unmet names the columns whose checks the test does not know how to meet, for a format.
func (w *writer) unmet() string {
	text := ""
	for _, f := range w.Enqueue.Fields {
		if check := f.Sample.Unmet; check != "" && w.sample(f) != nil {
			text += " Column " + f.Column + " needs a value of yours, by its CHECK (" + check + ")."
		}
	}
	return strings.ReplaceAll(text, "%", "%%")
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
func (w *writer) turnStep(f *code.File) {
	params := []*code.Statement{code.Id("q").Op("*").Id("Queue")}
	shard := shardOf(code.Lit(0), 1)
	if w.sharesOut() {
		params = append(params, code.Id("shard").Id("Shard"))
		shard = code.Id("shard")
	}
	params = append(params, code.Id("note").Func().Params(code.Id("jobs").Index().Id("Job")))
	doc := "turn claims some jobs, notes and completes them, and returns how many."
	if w.Complete == nil {
		doc = "turn claims some jobs, notes them, and returns how many."
	}
	decl(f, []string{doc},
		anywhereMethod("turn", params...).Params(code.Int(), code.Error()).BlockFunc(func(g *code.Group) {
			on := code.Id("q")
			if w.Hold {
				on = code.Id("h").Dot("Tx")
				g.List(code.Id("h"), code.Err()).Op(":=").Id("q").Dot("Hold").Call(background())
				g.Add(ifErr(code.Lit(0)))
				g.Defer().Id("h").Dot("Close").Call()
			}
			g.List(code.Id("jobs"), code.Err()).Op(":=").Add(w.claimShard(on, shard, code.Lit(7)))
			g.Add(ifErrOr(empty("jobs"), code.Lit(0)))
			g.Id("note").Call(code.Id("jobs"))
			switch {
			case w.Complete == nil:
				g.Return(code.Len(code.Id("jobs")), code.Nil())
			case w.Hold:
				g.Add(ifAssign(code.Err().Op(":=").Add(suite("complete")).Call(on, code.Id("jobs")), code.Lit(0)))
				g.Return(code.Len(code.Id("jobs")), code.Id("h").Dot("Commit").Call(background()))
			default:
				g.Return(code.Len(code.Id("jobs")), suite("complete").Call(on, code.Id("jobs")))
			}
		}))
}

// finishTaken is c.finish(t, on, c.take(t, on, n)); where a claim removes the
// row, there is nothing to finish.
func (w *writer) finishTaken(on *code.Statement, n *code.Statement) *code.Statement {
	take := step("take", on, n)
	if w.Complete == nil {
		return take
	}
	return step("finish", on, take)
}

func (w *writer) proveLimit(g *code.Group) {
	g.Add(step("add", code.Lit(20)))
	w.within(g, func(on *code.Statement) {
		g.List(code.Id("jobs"), code.Err()).Op(":=").Add(w.claim(on, code.Lit(0)))
		g.If(errOr(code.Len(code.Id("jobs")).Op(">").Lit(0))).Block(
			onT("Fatalf", code.Lit("a claim of none returned %d jobs and the error %v"), code.Len(code.Id("jobs")), code.Err()),
		)
		g.For(code.List(code.Id("_"), code.Id("n")).Op(":=").Range().Index().Int().Values(code.Lit(1), code.Lit(7), code.Lit(12))).Block(
			w.finishTaken(on, code.Id("n")),
		)
		g.Add(step("none", on))
	})
}

func (w *writer) proveOrder(g *code.Group) {
	g.Add(step("add", code.Lit(30)))
	w.within(g, func(on *code.Statement) {
		if w.Complete != nil && !w.Hold && !w.marks() {
			g.Id("all").Op(":=").Add(step("take", on, code.Lit(30)))
		} else {
			g.Var().Id("all").Index().Id("Job")
			g.For(code.Len(code.Id("all")).Op("<").Lit(30)).Block(
				code.Id("all").Op("=").Append(code.Id("all"), step("take", on, code.Lit(3)).Op("...")),
			)
		}
		g.If(code.Op("!").Qual("slices", "IsSortedFunc").Call(code.Id("all"), code.Id("queueOrder"))).Block(
			onT("Error", code.Lit("one worker alone got jobs out of order")),
		)
		if w.Complete != nil {
			g.Add(step("finish", on, code.Id("all")))
		}
	})
}

// isLost emits a test that completing jobs is an ErrLost.
func isLost(jobs, what string) *code.Statement {
	return lostBy(suite("complete").Call(suite("q"), code.Id(jobs)), "completing a job "+what)
}

// cannotBegin emits a test that beginning jobs is an ErrLost.
func cannotBegin(jobs, what string) *code.Statement {
	return lostBy(suite("begin").Call(code.Id(jobs)), "beginning a job "+what)
}

// lostBy emits a test that a call is an ErrLost.
func lostBy(call *code.Statement, what string) *code.Statement {
	return code.If(code.Err().Op(":=").Add(call), code.Op("!").Qual("errors", "Is").Call(code.Err(), code.Id("ErrLost"))).Block(
		onT("Errorf", code.Lit(what+": %v"), code.Err()),
	)
}

// giveBack emits the end of a claim by Requeue.
func (w *writer) giveBack(jobs string) *code.Statement {
	args := []*code.Statement{background()}
	if w.Requeue.Delay {
		args = append(args, code.Lit(0))
	}
	for _, p := range w.Requeue.Given {
		args = append(args, w.paramSample(p))
	}
	args = append(args, code.Id(jobs).Op("..."))
	return fatalOf(code.Err().Op(":=").Add(suite("q", "Requeue")).Call(args...))
}

func (w *writer) proveFence(g *code.Group) {
	on := suite("q")
	g.Add(step("add", code.Lit(1)))
	if w.marks() && w.Requeue != nil {
		g.Id("late").Op(":=").Add(step("take", on, code.Lit(1)))
		g.Add(w.giveBack("late"))
		g.Add(isLost("late", "that was given back"))
		if w.tellsClaims() {
			w.untilAnother(g)
			g.Id("mine").Op(":=").Add(step("take", on, code.Lit(1)))
			g.Add(isLost("late", "that another holds by now"))
			g.Add(step("finish", on, code.Id("mine")))
			g.Add(isLost("mine", "twice"))
			return
		}
	}
	g.Id("mine").Op(":=").Add(step("take", on, code.Lit(1)))
	g.Add(step("finish", on, code.Id("mine")))
	g.Add(isLost("mine", "twice"))
}

// proveStart emits a job that is given back, claimed again, begun and completed: whoever
// had it first cannot begin it, nor anybody twice.
func (w *writer) proveStart(g *code.Group) {
	on := suite("q")
	g.Add(step("add", code.Lit(1)))
	g.Id("late").Op(":=").Add(step("take", on, code.Lit(1)))
	g.Add(w.giveBack("late"))
	g.Add(cannotBegin("late", "that was given back"))
	w.untilAnother(g)
	g.Id("mine").Op(":=").Add(step("take", on, code.Lit(1)))
	if w.tellsClaims() {
		g.Add(cannotBegin("late", "that another holds by now"))
	}
	g.Add(fatalOf(code.Err().Op(":=").Add(suite("begin")).Call(code.Id("mine"))))
	g.Add(cannotBegin("mine", "twice"))
	g.Add(step("finish", on, code.Id("mine")))
	g.Add(cannotBegin("mine", "that is finished"))
}

// tellsClaims reports whether two claims of a row, of which the first was given back, leave
// different fences.
func (w *writer) tellsClaims() bool { return w.Guarantee > queue.FenceStatus && !w.triesFence() }

// untilAnother emits a pause after which a claim leaves another fence, where that is a time.
func (w *writer) untilAnother(g *code.Group) {
	if w.tellsClaims() && w.Guarantee == queue.FenceClaimed {
		g.Qual("time", "Sleep").Call(code.Lit(1100).Op("*").Qual("time", "Millisecond")).Comment("the time of a claim may be kept in whole seconds")
	}
}

// triesFence reports whether the number of tries fences a claim. Requeue does
// not count the try, so the next claim has the same number: a worker that gives
// a job back must not settle it afterwards.
func (w *writer) triesFence() bool {
	return w.Attempts != nil && w.Attempts.OnClaim && slices.Contains(w.Fence, w.Attempts.Field)
}

func (w *writer) proveRequeue(g *code.Group) {
	on := suite("q")
	g.Add(step("add", code.Lit(3)))
	g.Id("jobs").Op(":=").Add(step("take", on, code.Lit(3)))
	g.Add(step("none", on))
	g.Add(w.giveBack("jobs"))
	g.Add(w.finishTaken(on, code.Lit(3)))
}

// proveRecover emits jobs that are claimed and recovered: whoever had them comes too late.
func (w *writer) proveRecover(g *code.Group) {
	on := suite("q")
	args := []*code.Statement{background()}
	for _, p := range w.Recover.Given {
		args = append(args, w.paramSample(p))
	}
	g.Add(step("add", code.Lit(3)))
	g.Id("late").Op(":=").Add(step("take", on, code.Lit(3)))
	g.If(code.List(code.Id("n"), code.Err()).Op(":=").Add(suite("q", "Recover")).Call(append(args, code.Lit(100))...), errOr(code.Id("n").Op("!=").Lit(3))).Block(
		onT("Fatalf", code.Lit("of 3 jobs %d were recovered: %v"), code.Id("n"), code.Err()),
	)
	g.Add(isLost("late", "that was recovered"))
	if w.Recover.Ready {
		g.Add(w.finishTaken(on, code.Lit(3)))
	}
	g.Add(step("none", on))
}

func (w *writer) proveRollback(g *code.Group) {
	on := suite("q")
	begin, end := suite("db", "BeginTx").Call(background(), code.Nil()), code.Id("tx").Dot("Rollback").Call()
	if w.isPgx() {
		begin, end = suite("db", "Begin").Call(background()), code.Id("tx").Dot("Rollback").Call(background())
	}
	g.Add(step("add", code.Lit(3)))
	g.List(code.Id("tx"), code.Err()).Op(":=").Add(begin)
	g.Add(fatal())
	g.List(code.Id("jobs"), code.Err()).Op(":=").Add(w.claim(suite("q", "WithTx").Call(code.Id("tx")), code.Lit(3)))
	g.If(errOr(empty("jobs"))).Block(
		onT("Errorf", code.Lit("a claim in a transaction returned %d jobs and the error %v"), code.Len(code.Id("jobs")), code.Err()),
	)
	g.Add(fatalOf(code.Err().Op(":=").Add(end)))
	g.Add(w.finishTaken(on, code.Lit(3)))
	g.Add(step("none", on))
}

// proveHold emits two transactions over three jobs: none of them gets what the
// other has, nor what it has itself; a rollback frees, a commit keeps.
func (w *writer) proveHold(g *code.Group) {
	other := code.Id("other").Dot("Tx")
	g.Add(step("add", code.Lit(3)))
	g.Id("h").Op(":=").Add(step("begin"))
	g.Defer().Id("h").Dot("Close").Call()
	g.Add(step("take", code.Id("h").Dot("Tx"), code.Lit(2)))
	queueOf := suite("q", "Hold").Call(background())
	if w.isPgx() {
		queueOf = w.newQueue(code.Id("connectConformance").Call(code.Id("t"))).Dot("Hold").Call(background())
	}
	g.List(code.Id("other"), code.Err()).Op(":=").Add(queueOf)
	g.Add(fatal())
	g.Defer().Id("other").Dot("Close").Call()
	g.Add(step("finish", other, step("take", other, code.Lit(1))))
	g.Add(step("none", other))
	g.Add(step("none", code.Id("h").Dot("Tx")))
	g.Add(step("commit", code.Id("other")))
	g.Id("h").Dot("Close").Call()
	g.Line()
	g.Id("last").Op(":=").Add(step("begin"))
	g.Defer().Id("last").Dot("Close").Call()
	g.Add(step("finish", code.Id("last").Dot("Tx"), step("take", code.Id("last").Dot("Tx"), code.Lit(2))))
	g.Add(step("none", code.Id("last").Dot("Tx")))
	g.Add(step("commit", code.Id("last")))
}
