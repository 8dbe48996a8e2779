package restsq

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

// Without a next time a job is never due again; the column is the lease as well.
func TestRests(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO rests (run_at, ver) VALUES (0, 0)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	next := time.Now().Add(-time.Minute).Truncate(time.Millisecond)
	if err := q.Complete(ctx, claim(t, q, 1)[0].Done(&next)); err != nil {
		t.Fatal(err)
	}
	var due int64
	if err := db.QueryRow("SELECT run_at FROM rests").Scan(&due); err != nil || due != next.UnixMilli() {
		t.Errorf("the row is due at %d, not at %d: %v", due, next.UnixMilli(), err)
	}
	if err := q.Complete(ctx, claim(t, q, 1)[0].Done(nil)); err != nil {
		t.Fatal(err)
	}
	claim(t, q, 0)
	var null bool
	if err := db.QueryRow("SELECT run_at IS NULL FROM rests").Scan(&null); err != nil || !null {
		t.Errorf("the row has a next time: %v", err)
	}
}
