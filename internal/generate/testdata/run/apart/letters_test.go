package lettersq

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

// A failed job whose failure is kept beside its row goes by PurgeFailed alone, with its claim.
func TestPurgeApartBeside(t *testing.T) {
	db, ctx := open(t), context.Background()
	side, err := os.ReadFile("schema/lease.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(side)); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 2)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	job := jobs[1]
	job.Attempts = 3
	if err := q.Fail(ctx, job, errors.New("no")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		purge func(context.Context, time.Duration, int) (int, error)
		left  int
	}{{q.PurgeDone, 1}, {q.PurgeDone, 1}, {q.PurgeFailed, 0}} {
		if _, err := step.purge(ctx, -time.Minute, 10); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.QueryRow("SELECT count(*) FROM letters").Scan(&left); err != nil || left != step.left {
			t.Errorf("%d rows are left, want %d: %v", left, step.left, err)
		}
	}
	var claims int
	if err := db.QueryRow("SELECT count(*) FROM letters_lease").Scan(&claims); err != nil || claims != 0 {
		t.Errorf("%d claims are left: %v", claims, err)
	}
}
