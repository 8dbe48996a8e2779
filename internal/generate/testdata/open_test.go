package run

import (
	"database/sql"
	_ "embed"
	"testing"

	_ "modernc.org/sqlite"
)

//go:embed table.sql
var tableSQL string

// open opens a database with the tables of the case.
func open(t *testing.T) *sql.DB {
	t.Helper()
	return opened(t, database(t))
}

// database makes a database with the tables of the case and returns its DSN.
func database(t *testing.T) string {
	t.Helper()
	dsn := "file:" + t.TempDir() + "/queue.db?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_txlock=immediate"
	if _, err := opened(t, dsn).Exec(tableSQL); err != nil {
		t.Fatal(err)
	}
	return dsn
}

func opened(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
