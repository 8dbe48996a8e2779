package numberedq

import (
	"context"
	"testing"
)

func TestProof(t *testing.T) {
	t.Setenv("NUMBEREDQ_TEST_DSN", database(t))
	TestConformance(t)
}

// A worker whose number means another state takes nothing, and who is told none has a number that
// means none.
func TestWorkerIsNoState(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	for _, worker := range []int64{0, 1, 2} {
		q := New(db, WithWorker(worker))
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
		if jobs, err := q.Claim(ctx, 1); err == nil {
			t.Errorf("worker %d claims %v", worker, jobs)
		}
	}
	if worker := defaultWorker(); worker < 3 {
		t.Errorf("the worker is %d", worker)
	}
	for _, q := range []*Queue{New(db), New(db, WithWorker(1), WithWorker(3))} {
		if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
	}
	if s, err := New(db).Stats(ctx); err != nil || s.Ready != 1 || s.Running != 2 {
		t.Errorf("%+v: %v", s, err)
	}
}
