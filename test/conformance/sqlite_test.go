package conformance

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/test/servers"
)

var sqlite = family{
	engine: "sqlite", ddl: "sqlite.sql", driver: "sqlite",
	oneWriter:  true,
	strategies: []chosen{{"returning", nil}},
	place:      func(t testing.TB, _ *subject) string { return servers.SQLite(t) },
	expr:       func(c column) string { return c.sqlite },
	insert: func(columns, values, direction string, first, last int) string {
		return fmt.Sprintf("WITH RECURSIVE series (g) AS (SELECT %d UNION ALL SELECT g + 1 FROM series WHERE g < %d) "+
			"INSERT INTO jobs (%s) SELECT %s FROM series ORDER BY g%s", first, last, columns, values, direction)
	},
	columns: "SELECT count(*) FROM pragma_table_info('jobs') WHERE name = ?1",
	earlier: func(_ testing.TB, _ *table, c string) string { return c + " - 7200000" },
	wait:    "due_at / 1000.0 - unixepoch('subsec')", due: "due_at = 0",
	rename:  "ALTER TABLE jobs RENAME COLUMN n TO number",
	analyze: "ANALYZE",
}

func init() {
	sqlite.quiet = func(t *testing.T, x *table, poll func(queue)) {
		x.quietRounds(t, poll, "PRAGMA data_version") // of this connection: moves when another one commits
	}
	sqlite.plans = plansSQLite
	sqlite.byKey = byKeySQLite
	sqlite.conflicts = conflictsSQLite
}

// plansSQLite asks how the claim would run. The driver does not report plans as
// they are executed, so the text comes from the file that the package embeds.
func plansSQLite(t *testing.T, x *table) {
	files, err := filepath.Glob(filepath.Join("gen", x.pkg.name, "sql", "claim*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no claim in gen/%s/sql: %v", x.pkg.name, err)
	}
	for _, file := range files {
		steps := x.explainSQLite(t, unnamed(withoutComments(readText(t, file))))
		for _, step := range steps {
			// Without finished rows, those at the head are the ones that are wanted.
			scans := step == "SCAN jobs" && x.shape.finish != ""
			if scans || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s: %s", filepath.Base(file), strings.Join(steps, "; "))
				break
			}
		}
	}
}

// byKeySQLite asks how the operations would run.
func byKeySQLite(t *testing.T, x *table, operations []string) {
	x.taken(t, x.q, 2000)
	for _, name := range operations {
		file := filepath.Join("gen", x.pkg.name, "sql", strings.ToLower(name)+".sql")
		for _, step := range x.explainSQLite(t, unnamed(withoutComments(readText(t, file)))) {
			if strings.HasPrefix(step, "SCAN jobs") {
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

// explainSQLite returns the steps of EXPLAIN QUERY PLAN.
func (t *table) explainSQLite(tb testing.TB, statement string) []string {
	tb.Helper()
	rows, err := t.db.Query("EXPLAIN QUERY PLAN "+statement, make([]any, marks(statement))...)
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

// marks counts the parameters of a statement.
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

// conflictsSQLite: another connection holds the only write lock for longer than
// one waits.
func conflictsSQLite(t *testing.T, x *table, retryable func(string, error)) {
	x.run(t, "PRAGMA busy_timeout = 0")
	impatient := x.family.open(t, strings.Replace(x.dsn, "busy_timeout(20000)", "busy_timeout(0)", 1), 1)
	blocked, err := x.db.Begin() // immediate: holds the only write lock
	if err != nil {
		t.Fatal(err)
	}
	short := limited(t, 300*time.Millisecond)
	_, err = x.open(impatient, "w0").call(short, "Enqueue", x.q.newJob(9))
	if err := blocked.Rollback(); err != nil {
		t.Fatal(err)
	}
	retryable("database is locked", err)
}
