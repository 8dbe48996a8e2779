package textsq

import (
	"context"
	"database/sql"
	"errors"
	"testing"
)

// failed claims the job and has it fail, and returns the state of its row and in how
// many seconds it is due.
func failed(t *testing.T, db *sql.DB) (state string, due float64) {
	t.Helper()
	ctx := context.Background()
	if _, err := db.Exec("UPDATE texts SET run_at = '2001-01-01T00:00:00.000Z'"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %d jobs: %v", len(jobs), err)
	}
	if err := q.Fail(ctx, jobs[0], errors.New("on purpose")); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT '', (julianday(run_at) - julianday('now')) * 86400 FROM texts").Scan(&state, &due); err != nil {
		t.Fatal(err)
	}
	return state, due
}

func near(due, want float64) bool { return due > want-2 && due < want+1 }

// The column that hides a claimed row hides one that waits.
func TestWait(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("INSERT INTO texts (run_at) VALUES ('')"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{10, 20, 30} {
		if _, due := failed(t, db); !near(due, want) {
			t.Errorf("after failure %d the row is due in %v s, not in %v s", i+1, due, want)
		}
	}
}
