package rangedq

import (
	"context"
	"testing"
)

func TestProof(t *testing.T) {
	t.Setenv("RANGEDQ_TEST_DSN", database(t))
	TestConformance(t)
}

// A number by which a row would not run is no worker's.
func TestWorkerIsInRange(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	for _, worker := range []int64{0, 1, 2, 1000, 1500, 2001, 1001, 2000} {
		q := New(db, WithWorker(worker))
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
		jobs, err := q.Claim(ctx, 1)
		if worker != 1001 && worker != 2000 {
			if err == nil {
				t.Errorf("worker %d claims %v", worker, jobs)
			}
			continue
		}
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		if err := q.Complete(ctx, jobs...); err != nil {
			t.Error(err)
		}
	}
}
