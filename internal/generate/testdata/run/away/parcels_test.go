package parcelsq

import (
	"context"
	"errors"
	"testing"
)

// Whatever gives a job back, the next claim takes it: what a ready row surely holds comes back with it.
func TestReadyAgain(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	claim := func() Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%+v, %v", jobs, err)
		}
		return jobs[0]
	}
	claim()
	if _, err := db.Exec("UPDATE parcels_running SET till = 0"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	if err := q.Fail(ctx, claim(), errors.New("torn")); err != nil {
		t.Fatal(err)
	}
	if err := q.Requeue(ctx, claim()); err != nil {
		t.Fatal(err)
	}
	if job := claim(); job.Tries != 1 {
		t.Errorf("%d tries, of which Recover counts none", job.Tries)
	}
}
