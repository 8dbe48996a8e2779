package conformance

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/test/servers"
)

// This file gives every test a table of its own on a live database, and the
// means to look at it and to turn its clock without the emitted package.

// subject is one emitted package on one server.
type subject struct {
	pkg    emitted
	shape  *shape
	server string // "15", or "" for SQLite
	whole  bool   // runs the whole number of jobs
}

func (s *subject) sqlite() bool { return s.server == "" }

// pgx reports whether the package speaks to pgx and not to database/sql.
func (s *subject) pgx() bool { return s.pkg.driver == "pgx/v5" }

// where is the name of the server for people.
func (s *subject) where() string {
	if s.sqlite() {
		return "sqlite"
	}
	return "postgres" + s.server
}

// table is the subject's table, empty, in a place of its own.
type table struct {
	*subject
	dsn  string
	conn any     // what the package's New takes
	db   *sql.DB // for the suite's own questions, never used by the package
	q    queue
}

// pragmas are the settings with which SQLite serves several writers.
const pragmas = "?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"

// newTable creates the table from the case's DDL, with the indexes that the
// package advises.
func (s *subject) newTable(t testing.TB) *table {
	t.Helper()
	x := s.bareTable(t)
	for _, ddl := range s.advice(t) {
		x.run(t, ddl)
	}
	conns := 24
	if s.sqlite() {
		conns = 4 // one can write at a time, and those that wait do so by sleeping
	}
	x.conn = x.connect(t, conns)
	x.q = x.open(x.conn, "w0")
	return x
}

// bareTable creates the table and nothing else.
func (s *subject) bareTable(t testing.TB) *table {
	t.Helper()
	x := &table{subject: s, dsn: s.place(t)}
	x.db = s.openSQL(t, x.dsn, 4)
	x.run(t, s.read(t, filepath.Join("cases", s.pkg.shape, s.pkg.engine()+".sql")))
	return x
}

// place returns the DSN of a new, empty schema or file, which goes away with the test.
func (s *subject) place(t testing.TB) string {
	t.Helper()
	if s.sqlite() {
		return "file:" + filepath.Join(t.TempDir(), "queue.db") + pragmas
	}
	server := servers.Postgres(t, s.server)
	schema := fmt.Sprintf("conformance_%016x", rand.Uint64())
	admin := s.openSQL(t, server, 1)
	if _, err := admin.Exec("CREATE SCHEMA " + schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP SCHEMA " + schema + " CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return withParam(t, server, "search_path", schema)
}

// withParam adds a setting of the session to a PostgreSQL DSN.
func withParam(t testing.TB, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// connect returns what the package's New takes, with so many connections.
func (t *table) connect(tb testing.TB, conns int) any {
	tb.Helper()
	if !t.pgx() {
		return t.openSQL(tb, t.dsn, conns)
	}
	config, err := pgxpool.ParseConfig(t.dsn)
	if err != nil {
		tb.Fatal(err)
	}
	config.MaxConns = int32(conns)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

func (s *subject) openSQL(t testing.TB, dsn string, conns int) *sql.DB {
	t.Helper()
	driver := "pgx"
	if s.sqlite() {
		driver = "sqlite"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *subject) read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// advice returns the statements of the package's schema/indexes.sql.
func (s *subject) advice(t testing.TB) []string {
	t.Helper()
	path := filepath.Join("gen", s.pkg.name, "schema", "indexes.sql")
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil // the table's own indexes serve
	}
	var statements []string
	for _, statement := range strings.Split(s.read(t, path), ";\n") {
		if text := strings.TrimSpace(withoutComments(statement)); text != "" {
			statements = append(statements, text)
		}
	}
	return statements
}

// withoutComments leaves out the lines that are comments.
func withoutComments(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// run executes a statement, or several without arguments.
func (t *table) run(tb testing.TB, query string, args ...any) {
	tb.Helper()
	if _, err := t.db.Exec(query, args...); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
}

// fill adds ready jobs with the numbers from first to last; in queue order the
// numbers ascend. Where the table has an order of its own, the rows are
// inserted backwards, so that the order of arrival does not happen to be right.
func (t *table) fill(tb testing.TB, first, last int) {
	tb.Helper()
	names, values := []string{"n"}, []string{"g"}
	for _, c := range t.shape.columns {
		names = append(names, c.name)
		if t.sqlite() {
			values = append(values, c.sqlite)
		} else {
			values = append(values, c.postgresql)
		}
	}
	direction := ""
	if t.shape.ordered {
		direction = " DESC"
	}
	insert := fmt.Sprintf("INSERT INTO jobs (%s) SELECT %s FROM ", strings.Join(names, ", "), strings.Join(values, ", "))
	if t.sqlite() {
		t.run(tb, "WITH RECURSIVE series (g) AS (SELECT ?1 UNION ALL SELECT g + 1 FROM series WHERE g < ?2) "+
			insert+"series ORDER BY g"+direction, first, last)
		return
	}
	t.run(tb, insert+"generate_series($1::bigint, $2::bigint) AS g ORDER BY g"+direction, first, last)
}

// count returns how many rows satisfy a condition.
func (t *table) count(tb testing.TB, condition string) int {
	tb.Helper()
	var n int
	if err := t.db.QueryRow("SELECT count(*) FROM jobs WHERE " + condition).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// collect returns the single column of a query.
func collect[T any](tb testing.TB, db *sql.DB, query string, args ...any) []T {
	tb.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			tb.Fatal(err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// check compares the number of rows in each state with what is wanted; a state
// that the table cannot show is left out.
func (t *table) check(tb testing.TB, want states) {
	tb.Helper()
	for _, s := range []struct {
		name, condition string
		want            int
	}{
		{"ready", t.shape.ready, want.ready},
		{"running", t.shape.running, want.running},
		{"done", t.shape.done, want.done},
		{"failed", t.shape.failed, want.failed},
	} {
		if s.condition == "" {
			continue
		}
		if got := t.count(tb, s.condition); got != s.want {
			tb.Errorf("%d rows are %s, want %d", got, s.name, s.want)
		}
	}
}

// states are numbers of rows.
type states struct{ ready, running, done, failed int }

// expire lets the time of every lease in the table run out, by moving the
// leases and not the clock. Where the time of the claim is itself what jobs are
// compared by, it moves in the jobs, too.
func (t *table) expire(tb testing.TB, jobs ...job) {
	tb.Helper()
	column := t.shape.lease
	if t.sqlite() {
		t.run(tb, fmt.Sprintf("UPDATE jobs SET %s = %[1]s - 7200000", column))
	} else {
		t.run(tb, fmt.Sprintf("UPDATE jobs SET %s = %[1]s - interval '2 hours'", column))
	}
	if t.shape.fence != "claimed" {
		return
	}
	for _, j := range jobs {
		claimed := j.field("ClaimedAt")
		at := claimed.Interface().(time.Time)
		claimed.Set(reflect.ValueOf(at.Add(-2 * time.Hour)))
	}
}

// analyze brings the statistics up to date.
func (t *table) analyze(tb testing.TB) {
	tb.Helper()
	if t.sqlite() {
		t.run(tb, "ANALYZE")
		return
	}
	t.run(tb, "VACUUM ANALYZE jobs")
}

// freeze keeps the server from collecting statistics by itself.
func (t *table) freeze(tb testing.TB) {
	tb.Helper()
	names := collect[string](tb, t.db, "SELECT oid::regclass::text FROM pg_class "+
		"WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace")
	for _, name := range names {
		t.run(tb, "ALTER TABLE "+name+" SET (autovacuum_enabled = false)")
	}
}

// spy is a connection of its own whose server reports the plan of each
// statement as it was executed.
type spy struct {
	conn  any
	mu    sync.Mutex
	plans []string // JSON
}

// spyOn connects with auto_explain loaded, and with further settings.
func (t *table) spyOn(tb testing.TB, settings ...string) (*spy, queue) {
	tb.Helper()
	s := &spy{}
	options := []string{
		"session_preload_libraries=auto_explain", "client_min_messages=log",
		"auto_explain.log_min_duration=0", "auto_explain.log_analyze=on", "auto_explain.log_timing=off",
		"auto_explain.log_buffers=on", "auto_explain.log_format=json",
	}
	words := ""
	for _, o := range append(options, settings...) {
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

// limited is the context of one test: no hang lasts longer.
func limited(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
