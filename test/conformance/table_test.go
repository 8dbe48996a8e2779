package conformance

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/qgen-dev/qgen/test/servers"
)

// This file gives every test a table of its own on a live database, and the
// means to look at it and to turn its clock without the emitted package.

// subject is one emitted package on one server.
type subject struct {
	server
	pkg   emitted
	shape *shape
	whole bool // runs the whole number of jobs
	first bool // on the oldest server that the package is for

	settings []string // of the DSN, each a name=value
	nodes    []string // the DSNs of the cluster's nodes; nil for those that all tests share
	drill    *drill   // in which the cluster loses a node
}

// pgx reports whether the package speaks to pgx and not to database/sql.
func (s *subject) pgx() bool { return s.pkg.driver == "pgx/v5" }

// table is the subject's table, empty, in a place of its own.
type table struct {
	*subject
	dsn  string
	conn any     // what the package's New takes
	db   *sql.DB // for the suite's own questions, never used by the package
	q    queue
}

// newTable creates the table from the case's DDL, with the indexes that the
// package advises.
func (s *subject) newTable(t testing.TB) *table {
	t.Helper()
	x := s.bareTable(t)
	for _, ddl := range slices.Concat(s.advice(t), s.procedures(t), s.sideTable(t)) {
		x.run(t, ddl)
	}
	conns := 24
	if s.family.oneWriter {
		conns = 4 // those that wait do so by sleeping
	}
	x.conn = x.connect(t, conns)
	x.q = x.open(x.conn, "w0")
	return x
}

// bareTable creates the table, and others that belong to it, and nothing else.
func (s *subject) bareTable(t testing.TB) *table {
	t.Helper()
	x := &table{subject: s, dsn: s.family.place(t, s)}
	for _, setting := range s.settings {
		name, value, _ := strings.Cut(setting, "=")
		x.dsn = s.family.with(t, x.dsn, name, value)
	}
	x.db = s.family.open(t, s.seeing(t, x.dsn, abreast), 4)
	own := servers.Statements(t, readText(t, filepath.Join("cases", s.pkg.shape, s.family.ddl)))
	for _, ddl := range slices.Concat(own, s.shape.beside, s.statements(t, "lease.sql")) {
		x.run(t, ddl)
	}
	for _, path := range s.pkg.besides {
		x.run(t, readText(t, path))
	}
	return x
}

// connect returns what the package's New takes, with so many connections.
func (t *table) connect(tb testing.TB, conns int) any {
	tb.Helper()
	if !t.pgx() {
		return t.family.open(tb, t.dsn, conns)
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

// reconnect returns the table as sessions with other settings see it, each a
// name=value, and a queue over a single one of them.
func (t *table) reconnect(tb testing.TB, settings ...string) *table {
	tb.Helper()
	other := *t
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		other.dsn = t.family.with(tb, other.dsn, name, value)
	}
	other.conn = other.connect(tb, 1)
	other.q = other.open(other.conn, "other")
	return &other
}

// advice returns the statements of the package's schema/indexes.sql.
func (s *subject) advice(t testing.TB) []string { return s.adviceFor(t, "", "") }

// adviceFor is advice for the table whose name begins and ends so, where that is made at
// run time.
func (s *subject) adviceFor(t testing.TB, prefix, suffix string) []string {
	t.Helper()
	names := strings.NewReplacer("{{.Prefix}}", prefix, "{{.Suffix}}", suffix)
	var statements []string
	for _, statement := range s.statements(t, "indexes.sql") {
		statements = append(statements, names.Replace(statement))
	}
	return statements
}

// statements returns those of a file in schema/, none where the package needs no
// such file.
func (s *subject) statements(t testing.TB, file string) []string {
	t.Helper()
	path := filepath.Join("gen", s.pkg.name, "schema", file)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil
	}
	return servers.Statements(t, readText(t, path))
}

// unnamed returns a statement about the table that the case's DDL has, where its name is
// made at run time.
func unnamed(text string) string {
	return strings.NewReplacer("{{.Prefix}}", "", "{{.Suffix}}", "").Replace(text)
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
		values = append(values, t.family.expr(c))
	}
	direction := ""
	if t.shape.ordered {
		direction = " DESC"
	}
	t.run(tb, t.family.insert(strings.Join(names, ", "), strings.Join(values, ", "), direction, first, last))
}

// rows is what all rows are selected from, in whichever table they are.
func (t *table) rows() string { return cmp.Or(t.shape.rows, "jobs") }

// count returns how many rows satisfy a condition.
func (t *table) count(tb testing.TB, condition string) int {
	tb.Helper()
	var n int
	if err := t.db.QueryRow("SELECT count(*) FROM " + t.rows() + " WHERE " + condition).Scan(&n); err != nil {
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
	t.run(tb, "UPDATE "+t.claims()+" SET "+t.shape.lease+" = "+t.family.earlier(tb, t, t.shape.lease))
	if t.shape.fence != "claimed" {
		return
	}
	for _, j := range jobs {
		claimed := j.field("ClaimedAt")
		at := claimed.Interface().(time.Time)
		claimed.Set(reflect.ValueOf(at.Add(-2 * time.Hour)))
	}
}

// claims is the table that holds the claims.
func (t *table) claims() string { return cmp.Or(t.shape.side, "jobs") }

// analyze brings the statistics up to date.
func (t *table) analyze(tb testing.TB) {
	tb.Helper()
	t.run(tb, t.family.analyze)
}

// column reports whether the table has the column.
func (t *table) column(tb testing.TB, name string) bool {
	tb.Helper()
	return collect[int](tb, t.db, t.family.columns, name)[0] > 0
}

// untilDue returns for how many seconds each row has to wait, and ends the wait.
func (t *table) untilDue(tb testing.TB) []float64 {
	tb.Helper()
	if t.shape.side != "" {
		t.run(tb, "UPDATE "+t.shape.side+" SET "+t.shape.lease+" = "+t.family.earlier(tb, t, t.shape.lease)+" WHERE token IS NULL")
	}
	if !t.column(tb, "due_at") {
		return nil
	}
	waits := collect[float64](tb, t.db, "SELECT "+t.family.wait+" FROM jobs")
	t.run(tb, "UPDATE jobs SET "+t.family.due)
	return waits
}

// tagged reports whether a statement says which operation of the package it is of.
func (t *table) tagged(query, operation string) bool {
	return strings.Contains(query, fmt.Sprintf("/* %s.%s */", t.pkg.name, operation))
}

// limited is the context of one test: no hang lasts longer.
func limited(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
