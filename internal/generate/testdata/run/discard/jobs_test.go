package jobsq

import (
	"context"
	"database/sql"
	"errors"
	"testing"
)

// What Complete keeps and Discard deletes is told by the caller; both are fenced, and both
// take the rows of the other table along.
func TestDiscard(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	jobs := claimed(t, q, 3)
	if _, err := db.Exec("INSERT INTO parts SELECT ref, 'x' FROM jobs"); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Discard(ctx, jobs[1]); err != nil {
		t.Fatal(err)
	}
	if got := states(t, db); got != "23" {
		t.Errorf("rows in states %s, want 23", got)
	}
	var parts int
	if err := db.QueryRow("SELECT count(*) FROM parts").Scan(&parts); err != nil || parts != 1 {
		t.Errorf("%d parts: %v", parts, err)
	}
	var lost *LostError
	if err := q.Discard(ctx, jobs...); !errors.As(err, &lost) || len(lost.Keys) != 2 {
		t.Errorf("a settled job is discarded: %v", err)
	}
	if got := states(t, db); got != "2" {
		t.Errorf("rows in states %s, want 2", got)
	}
}

// An outcome whose list is empty leaves other tables alone.
func TestSplit(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	jobs := claimed(t, q, 1)
	if _, err := db.Exec("INSERT INTO parts SELECT ref, 'x' FROM jobs"); err != nil {
		t.Fatal(err)
	}
	if err := q.Split(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	var parts int
	if err := db.QueryRow("SELECT count(*) FROM parts").Scan(&parts); err != nil || parts != 1 || states(t, db) != "2" {
		t.Errorf("%d parts, rows in states %s: %v", parts, states(t, db), err)
	}
}

func claimed(t *testing.T, q *Queue, n int) []Job {
	t.Helper()
	for range n {
		if _, err := q.Enqueue(context.Background(), NewJob{JobData: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(context.Background(), n)
	if err != nil || len(jobs) != n {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	return jobs
}

func states(t *testing.T, db *sql.DB) (all string) {
	t.Helper()
	if err := db.QueryRow("SELECT coalesce(group_concat(status, ''), '') FROM (SELECT status FROM jobs ORDER BY status)").Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}
