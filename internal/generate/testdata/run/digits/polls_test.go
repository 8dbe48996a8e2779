package pollsq

import (
	"context"
	"errors"
	"testing"
)

// What the package proves of itself holds where a claim moves the time of the wait.
func TestProof(t *testing.T) {
	t.Setenv("POLLSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// A job waits after a try that failed, and not when it is given back untried.
func TestWait(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	claim := func(want int) []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != want {
			t.Fatalf("%d jobs are ready, want %d: %v", len(jobs), want, err)
		}
		return jobs
	}
	if err := q.Requeue(ctx, claim(1)...); err != nil {
		t.Fatal(err)
	}
	job := claim(1)[0]
	if err := q.Fail(ctx, job, errors.New("on purpose")); err != nil {
		t.Fatal(err)
	}
	claim(0)
	if _, err := db.Exec("UPDATE polls SET asked_at = asked_at - wait_s"); err != nil {
		t.Fatal(err)
	}
	claim(1)
}
