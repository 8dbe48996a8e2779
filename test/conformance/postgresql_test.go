package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/qgen-dev/qgen/test/servers"
)

var postgresql = family{
	engine: "postgresql", ddl: "postgresql.sql", driver: "pgx",
	skips:    "9.4", // by advisory locks, before it could skip rows
	deadRows: true,
	strategies: []chosen{
		{"advisory", func(s *subject) bool { return before(s.pkg.server, "9.5") }},
		{"returning", nil},
	},
	expr: func(c column) string { return c.postgresql },
	insert: func(columns, values, direction string, first, last int) string {
		return fmt.Sprintf("INSERT INTO jobs (%s) SELECT %s FROM generate_series(%d::bigint, %d::bigint) AS g ORDER BY g%s",
			columns, values, first, last, direction)
	},
	columns: "SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'jobs' AND column_name = $1",
	earlier: func(_ testing.TB, _ *table, c string) string { return c + " - interval '2 hours'" },
	wait:    "extract(epoch FROM due_at - now())::float8", due: "due_at = now()",
	rename:  "ALTER TABLE jobs RENAME COLUMN n TO number",
	analyze: "VACUUM ANALYZE jobs",
	large:   50_000, // it takes each list for one of a hundred, and reads a smaller table whole (10)
	freeze: func(tb testing.TB, t *table) {
		names := collect[string](tb, t.db, "SELECT oid::regclass::text FROM pg_class "+
			"WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace")
		for _, name := range names {
			t.run(tb, "ALTER TABLE "+name+" SET (autovacuum_enabled = false)")
		}
	},
	forced: [][]string{
		{"enable_hashjoin=off", "enable_mergejoin=off", "enable_hashagg=off", "enable_sort=off", "enable_material=off"},
		{"enable_indexscan=off", "enable_bitmapscan=off", "enable_indexonlyscan=off"},
		{"enable_nestloop=off"},
	},
	impatient: []string{"lock_timeout=1000"},
	locked:    lockedBySkipping,
}

func init() {
	f := &postgresql // whose functions call what asks for families
	f.place = func(t testing.TB, s *subject) string {
		dsn := servers.DSN(t, s.name)
		return f.with(t, dsn, "search_path", servers.Create(t, f.open(t, dsn, 1), "SCHEMA"))
	}
	f.with = withParameter
	f.misset = func(tb testing.TB, t *table) map[string]queue {
		return map[string]queue{
			"serializable": t.reconnect(tb, "default_transaction_isolation=serializable").q,
		}
	}
	f.quiet = quietPostgres
	f.plans = plansPostgres
	f.byKey = byKeyPostgres
	f.conflicts = conflictsPostgres
}

// spy is a connection of its own whose server reports the plan of each
// statement as it was executed.
type spy struct {
	conn  any
	mu    sync.Mutex
	plans []string // JSON
}

// spyOn connects with auto_explain loaded.
func (t *table) spyOn(tb testing.TB) (*spy, queue) {
	tb.Helper()
	s := &spy{}
	options := []string{
		"session_preload_libraries=auto_explain", "client_min_messages=log",
		"auto_explain.log_min_duration=0", "auto_explain.log_analyze=on", "auto_explain.log_timing=off",
		"auto_explain.log_buffers=on", "auto_explain.log_format=json",
	}
	words := ""
	for _, o := range options {
		words += " -c " + o
	}
	config, err := pgxpool.ParseConfig(t.dsn)
	if err != nil {
		tb.Fatal(err)
	}
	config.MaxConns = 1
	config.ConnConfig.RuntimeParams["options"] = words
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if _, plan, ok := strings.Cut(n.Message, "plan:\n"); ok {
			s.mu.Lock()
			s.plans = append(s.plans, plan)
			s.mu.Unlock()
		}
	}
	if t.pgx() {
		pool, err := pgxpool.NewWithConfig(context.Background(), config)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(pool.Close)
		s.conn = pool
	} else {
		db := stdlib.OpenDB(*config.ConnConfig)
		db.SetMaxOpenConns(1)
		tb.Cleanup(func() { _ = db.Close() })
		s.conn = db
	}
	return s, t.open(s.conn, "spy")
}

// taken returns the plans since the last call.
func (s *spy) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	plans := s.plans
	s.plans = nil
	return plans
}

// of returns the plans of an operation since the last call.
func (s *spy) of(tb testing.TB, t *table, operation string) []explained {
	tb.Helper()
	var all []explained
	for _, text := range s.taken() {
		var e explained
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			tb.Fatalf("%v in %s", err, text)
		}
		if t.tagged(e.Query, operation) {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		tb.Fatalf("no plan of %s was reported; its text has to be tagged with the package and the operation", operation)
	}
	return all
}

// explained is what auto_explain reports of a statement.
type explained struct {
	Query string `json:"Query Text"`
	Plan  node   `json:"Plan"`
}

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

// plansPostgres claims a few jobs and looks at the plans as they were executed.
func plansPostgres(t *testing.T, x *table) {
	spy, q := x.spyOn(t)
	for _, size := range []int{1, 100, 7} {
		x.takes(t, q, size)
		for _, c := range spy.of(t, x, "Claim") {
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

// besides are tables that a settlement writes as well. They hold a row for each job here, and of so small a
// one the planner rather reads the whole than looks a hundred times: it knows how large a table is.
var besides = []string{"parts", "taken"}

// byKeyPostgres settles a few of many jobs and looks at the plans.
func byKeyPostgres(t *testing.T, x *table, operations []string) {
	spy, q := x.spyOn(t)
	jobs := x.taken(t, q, 2000)
	for i, name := range operations {
		spy.taken()
		x.settles(t, q, name, jobs[i*100:i*100+100])
		for _, p := range spy.of(t, x, name) {
			for _, n := range p.Plan.all() {
				if seen := n.Loops * (n.Rows + n.Removed); seen > 1000 && n.Relation != "" && !slices.Contains(besides, n.Relation) {
					t.Errorf("%s of 100 jobs looks at %.0f rows:\n%s", name, seen, p.Plan)
				}
			}
		}
	}
}

// quietPostgres: no transaction id, no log.
func quietPostgres(t *testing.T, x *table, poll func(queue)) {
	x.within(t, false, func(tx tx, q queue) {
		poll(q)
		var unassigned bool
		if err := tx.queryRow("SELECT txid_current_if_assigned() IS NULL", &unassigned); err != nil {
			t.Fatal(err)
		}
		if !unassigned {
			t.Error("an idle poll took a transaction id")
		}
	})
	x.quietRounds(t, poll, "SELECT pg_current_wal_insert_lsn()::text")
}

// conflictsPostgres: a row that has changed since, and transactions that wait for
// each other.
func conflictsPostgres(t *testing.T, x *table, retryable func(string, error)) {
	ctx := limited(t, time.Minute)
	old, err := x.begin(ctx, "repeatable read")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := old.queryRow("SELECT count(*) FROM jobs", &n); err != nil {
		t.Fatal(err)
	}
	x.run(t, "UPDATE jobs SET n = n")
	q := x.q.withTx(old.any)
	jobs, err := q.claim(ctx, 1)
	if x.strategy() == "partition" && err == nil { // the claim only reads
		err = q.complete(ctx, jobs...)
	}
	retryable("serialization failure", err)
	if err := old.rollback(); err != nil {
		t.Fatal(err)
	}
	x.deadlock(t, retryable)
}
