package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// node is a step of a plan as EXPLAIN (FORMAT JSON) tells it.
type node struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Parent   string  `json:"Parent Relationship"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []node  `json:"Plans"`
}

// all returns the node and everything under it.
func (n node) all() []node {
	nodes := []node{n}
	for _, p := range n.Plans {
		nodes = append(nodes, p.all()...)
	}
	return nodes
}

// String is the plan in short, for messages.
func (n node) String() string {
	var b strings.Builder
	var write func(n node, depth int)
	write = func(n node, depth int) {
		fmt.Fprintf(&b, "%s%s %s %s\n", strings.Repeat("  ", depth), n.Type, n.Relation, n.Index)
		for _, p := range n.Plans {
			write(p, depth+1)
		}
	}
	write(n, 0)
	return b.String()
}

// pickBlocks is how many blocks were touched to find and lock the rows, without
// the writing of them.
func (n node) pickBlocks() int {
	for _, step := range n.all() {
		if step.Type == "Limit" {
			return step.Hit + step.Read
		}
	}
	return 0
}

// explained is what auto_explain reports of a statement.
type explained struct {
	Query string `json:"Query Text"`
	Plan  node   `json:"Plan"`
}

// claims returns the plans of the claims since the last call.
func (s *spy) claims(tb testing.TB) []explained {
	tb.Helper()
	return s.of(tb, "Claim")
}

// of returns the plans of an operation since the last call.
func (s *spy) of(tb testing.TB, operation string) []explained {
	tb.Helper()
	var all []explained
	for _, text := range s.taken() {
		var e explained
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			tb.Fatalf("%v in %s", err, text)
		}
		if strings.Contains(e.Query, "."+operation+" */") {
			all = append(all, e)
		}
	}
	return all
}

// provePlan: with the advised index a claim reads ready rows in the order of the
// queue: it neither sorts nor looks at finished rows.
func provePlan(t *testing.T, s *subject) {
	x := s.newTable(t)
	if s.shape.finish != "" {
		x.fill(t, 1, 20_000)
		x.run(t, "UPDATE jobs SET "+s.shape.finish)
	}
	x.fill(t, 20_001, 30_000)
	x.analyze(t)
	if s.sqlite() {
		x.provePlanSQLite(t)
		return
	}
	spy, q := x.spyOn(t)
	for _, size := range []int{1, 100, 7} {
		x.takes(t, q, size)
		claims := spy.claims(t)
		if len(claims) == 0 {
			t.Fatal("no plan of a claim was reported; its text has to be tagged with the package and Claim")
		}
		for _, c := range claims {
			x.judge(t, c)
			if x.pinned() {
				x.judgePinned(t, c.Plan)
			}
		}
	}
}

// judge looks for what no claim should do.
func (t *table) judge(tb testing.TB, c explained) {
	tb.Helper()
	if want := "/* " + t.pkg.name + ".Claim */"; !strings.Contains(c.Query, want) {
		tb.Errorf("the statement is not tagged %s:\n%s", want, c.Query)
	}
	// Rows that a transaction marked for itself are few and may be sorted; so
	// may those of a shard, which are read without a lock.
	locks := !strings.HasPrefix(c.Query, "SELECT") || t.strategy() == "hold"
	for _, n := range c.Plan.all() {
		switch seen := n.Loops * (n.Rows + n.Removed); {
		case locks && strings.Contains(n.Type, "Sort"):
			tb.Errorf("the claim sorts what it locks:\n%s", c.Plan)
		case seen > 1000 && t.strategy() != "partition":
			tb.Errorf("the claim looks at %.0f rows:\n%s", seen, c.Plan)
		}
	}
}

// pinned reports whether the claim is the plain one: a key of one column, rows
// passed over that are locked.
func (t *table) pinned() bool {
	return t.strategy() == "returning" && slices.Contains([]string{"single", "boolean", "topic", "due", "integer"}, t.pkg.shape)
}

// proveSettleByKey: jobs are settled by their keys, however many run and
// whatever the statistics say of them. An index of running rows is small when
// they are collected, and looks cheaper than the key ever after.
func proveSettleByKey(t *testing.T, s *subject) {
	x := s.newTable(t)
	if !s.sqlite() {
		x.freeze(t)
	}
	x.fill(t, 1, 50_000)
	x.analyze(t)
	ctx := limited(t, time.Minute)
	settle := []string{"Complete"}
	for _, name := range []string{"Requeue", "Extend"} {
		if s.method(name) {
			settle = append(settle, name)
		}
	}
	if s.sqlite() {
		x.taken(t, x.q, 2000)
		for _, name := range settle {
			file := filepath.Join("gen", s.pkg.name, "sql", strings.ToLower(name)+".sql")
			statement := withoutComments(s.read(t, file))
			for _, step := range x.explainSQLite(t, statement, make([]any, marks(statement))) {
				if strings.HasPrefix(step, "SCAN jobs") {
					t.Errorf("%s: %s", name, step)
				}
			}
		}
		return
	}
	spy, q := x.spyOn(t)
	jobs := x.taken(t, q, 2000)
	for i, name := range settle {
		spy.taken()
		var err error
		switch some := jobs[i*100 : i*100+100]; name {
		case "Requeue":
			err = q.requeue(ctx, 0, some...)
		default:
			err = q.settle(ctx, name, some...)
		}
		if err != nil {
			t.Fatal(err)
		}
		plans := spy.of(t, name)
		if len(plans) == 0 {
			t.Fatalf("no plan of %s was reported", name)
		}
		for _, p := range plans {
			for _, n := range p.Plan.all() {
				if seen := n.Loops * (n.Rows + n.Removed); seen > 1000 && n.Relation != "" {
					t.Errorf("%s of 100 jobs looks at %.0f rows:\n%s", name, seen, p.Plan)
				}
			}
		}
	}
}

// judgePinned compares the plan with the one that was never bad, under any
// statistics: the sub-select runs once and locks in the order of the index, the
// update goes by the primary key.
func (t *table) judgePinned(tb testing.TB, p node) {
	tb.Helper()
	var shape []string
	for _, n := range p.all() {
		shape = append(shape, strings.TrimSpace(n.Type+" "+n.Index))
	}
	advised := t.advisedIndex(tb)
	want := []string{"ModifyTable", "Limit", "LockRows", "Index Scan " + advised, "Index Scan jobs_pkey"}
	if !slices.Equal(shape, want) {
		tb.Errorf("the plan is %v, want %v:\n%s", shape, want, p)
	}
	if len(p.Plans) == 2 && p.Plans[0].Parent != "InitPlan" {
		tb.Errorf("the sub-select may run more than once:\n%s", p)
	}
}

var indexName = regexp.MustCompile(`INDEX (?:CONCURRENTLY )?(\w+)`)

// advisedIndex is the name of the index that serves the claim.
func (t *table) advisedIndex(tb testing.TB) string {
	tb.Helper()
	for _, ddl := range t.advice(tb) {
		if m := indexName.FindStringSubmatch(ddl); m != nil {
			return m[1]
		}
	}
	tb.Fatal("no index is advised")
	return ""
}

// provePlanSQLite asks SQLite how it would run the claim. The driver does not
// report plans as they are executed, so the text comes from the file that the
// package embeds.
func (t *table) provePlanSQLite(tb testing.TB) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("gen", t.pkg.name, "sql", "claim*.sql"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no claim in gen/%s/sql: %v", t.pkg.name, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		statement := withoutComments(string(text))
		args := make([]any, marks(statement))
		steps := t.explainSQLite(tb, statement, args)
		for _, step := range steps {
			// Without finished rows, those at the head are the ones that are wanted.
			scans := step == "SCAN jobs" && t.shape.finish != ""
			if scans || strings.Contains(step, "TEMP B-TREE") {
				tb.Errorf("%s: %s", filepath.Base(file), strings.Join(steps, "; "))
				break
			}
		}
	}
}

// explainSQLite returns the steps of EXPLAIN QUERY PLAN.
func (t *table) explainSQLite(tb testing.TB, statement string, args []any) []string {
	tb.Helper()
	rows, err := t.db.Query("EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			tb.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return steps
}

// marks counts the parameters of a SQLite statement.
func marks(statement string) int {
	n := 0
	for _, m := range regexp.MustCompile(`\?(\d*)`).FindAllStringSubmatch(statement, -1) {
		if m[1] == "" {
			n++
			continue
		}
		var k int
		if _, err := fmt.Sscan(m[1], &k); err == nil {
			n = max(n, k)
		}
	}
	return n
}

// proveFlatUnderSnapshot: while a long transaction keeps dead rows from being
// cleaned up, the low bound keeps a claim as cheap as at the start. A queue
// that has not learnt the bound pays for every row that was ever taken.
func proveFlatUnderSnapshot(t *testing.T, s *subject) {
	const total = 20_000
	x := s.newTable(t)
	x.freeze(t)
	x.fill(t, 1, total)
	x.analyze(t)
	ctx := limited(t, 2*time.Minute)
	old, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Rollback() }()
	var n int
	if _, err := old.Exec("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
		t.Fatal(err)
	}
	if err := old.QueryRow("SELECT count(*) FROM jobs").Scan(&n); err != nil {
		t.Fatal(err)
	}

	spy, q := x.spyOn(t)
	var blocks []int
	for range total/100 - 5 {
		if err := q.complete(ctx, x.taken(t, q, 100)...); err != nil {
			t.Fatal(err)
		}
		for _, c := range spy.claims(t) {
			blocks = append(blocks, c.Plan.pickBlocks())
		}
	}
	// A full look now and then is part of the bargain, so the least of a few counts.
	first, last := slices.Min(blocks[1:6]), slices.Min(blocks[len(blocks)-5:])
	if last > 2*first {
		t.Errorf("a claim touched %d blocks at first and %d after %d jobs", first, last, total)
	}
	x.taken(t, x.open(spy.conn, "fresh"), 100)
	if fresh := spy.claims(t)[0].Plan.pickBlocks(); fresh < 2*last {
		t.Errorf("without the bound a claim touches %d blocks and with it %d; the fixture shows nothing", fresh, last)
	}
}
