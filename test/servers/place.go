package servers

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Open opens a database with so many connections at most, which it closes at the end of
// the test.
func Open(t testing.TB, driver, dsn string, conns int) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Create creates a DATABASE or a SCHEMA, which it drops at the end of the test, and
// returns its name.
func Create(t testing.TB, admin *sql.DB, kind string) string {
	t.Helper()
	name := fmt.Sprintf("qgen_%016x", rand.Uint64())
	if _, err := admin.Exec("CREATE " + kind + " " + name); err != nil {
		t.Fatal(err)
	}
	drop := "DROP " + kind + " " + name
	if kind == "SCHEMA" {
		drop += " CASCADE"
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(drop); err != nil {
			t.Errorf("%s: %v", drop, err)
		}
	})
	return name
}

// SQLite returns the DSN of a new file, with the settings with which SQLite serves several
// writers.
func SQLite(t testing.TB) string {
	t.Helper()
	return "file:" + filepath.Join(t.TempDir(), "queue.db") +
		"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"
}

var (
	lineComment = regexp.MustCompile(`--.*`)
	triggerBody = regexp.MustCompile(`(?i)^create trigger[^;]*\bbegin\b`)
)

// Statements splits a script where a semicolon ends a line, and where GO is one. A
// function's body has semicolons of its own and stands between $$; a trigger's ends with
// END. Statements are without their semicolon, which Oracle does not take, and without the
// comments before them.
func Statements(t testing.TB, script string) []string {
	t.Helper()
	var all []string
	now := ""
	for line := range strings.Lines(script) {
		bare := strings.TrimRight(lineComment.ReplaceAllString(line, ""), " \t\r\n")
		if now == "" && (bare == "" || bare == "GO") {
			continue
		}
		last, ends := strings.CutSuffix(bare, ";")
		within := strings.Count(now+line, "$$")%2 == 1 ||
			triggerBody.MatchString(now+line) && !strings.HasPrefix(strings.ToLower(bare), "end")
		switch {
		case bare == "GO":
			all, now = append(all, now), ""
		case ends && !within:
			all, now = append(all, now+last), ""
		default:
			now += line
		}
	}
	if now != "" {
		t.Fatalf("no semicolon ends %q", now)
	}
	return all
}
