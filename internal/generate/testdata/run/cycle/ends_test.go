package endsq

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

// Without a next time a job is never due again, which the column says by a time of its own.
func TestEnds(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO ends (run_at) VALUES (1), (1)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	jobs := claim(t, q, 2)
	next := time.Unix(1234567890, 0)
	if err := q.Complete(ctx, jobs[0].Done(&next), jobs[1].Done(nil)); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int]int64{1: next.Unix(), 2: 0} {
		var due int64
		if err := db.QueryRow("SELECT run_at FROM ends WHERE id = ?", id).Scan(&due); err != nil || due != want {
			t.Errorf("row %d is due at %d, not at %d: %v", id, due, want, err)
		}
	}
	claim(t, q, 1)
}
