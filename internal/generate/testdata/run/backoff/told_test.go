package toldq

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
	if _, err := db.Exec("UPDATE told SET run_at = NULL"); err != nil {
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
	if err := db.QueryRow("SELECT state, coalesce((julianday(run_at) - julianday('now')) * 86400, 0) FROM told").Scan(&state, &due); err != nil {
		t.Fatal(err)
	}
	return state, due
}

func near(due, want float64) bool { return due > want-2 && due < want+1 }

// The wait doubles with every failure, up to what the row says, and the last try has none.
func TestWait(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("INSERT INTO told (wait_s, longest_s) VALUES (20, 90)"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{20, 40, 80, 90} {
		if state, due := failed(t, db); state != "N" || !near(due, want) {
			t.Errorf("after failure %d the row is %s and due in %v s, not N and in %v s", i+1, state, due, want)
		}
	}
	if state, _ := failed(t, db); state != "E" {
		t.Errorf("after five failures the row is %s", state)
	}
}
