package everyq

import (
	"context"
	"testing"
	"time"
)

// claim takes one job, or fails when there is another number of them.
func claim(t *testing.T, q *Queue, want int) []Job {
	t.Helper()
	jobs, err := q.Claim(context.Background(), 10)
	if err != nil || len(jobs) != want {
		t.Fatalf("claimed %d jobs, not %d: %v", len(jobs), want, err)
	}
	return jobs
}

// The next time is as far off as the row says, and nothing has to be given.
func TestEvery(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("INSERT INTO every (every, tries) VALUES (90, 1)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	before := time.Now()
	if err := q.Complete(context.Background(), claim(t, q, 1)...); err != nil {
		t.Fatal(err)
	}
	var state string
	var tries int
	var due, ran float64
	if err := db.QueryRow("SELECT state, tries, unixepoch(run_at), unixepoch(ran_at) FROM every WHERE till IS NULL").Scan(&state, &tries, &due, &ran); err != nil {
		t.Fatal(err)
	}
	if wait := due - ran; state != "N" || tries != 3 || wait != 90*60 || ran < float64(before.Unix()-1) {
		t.Errorf("the row is %s with %d tries left, and due in %v s", state, tries, wait)
	}
	claim(t, q, 0)
}
