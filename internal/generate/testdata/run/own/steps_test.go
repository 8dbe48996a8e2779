package stepsq

import (
	"context"
	"testing"
)

func TestProof(t *testing.T) {
	t.Setenv("STEPSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// What a worker had begun when it ended is not run again, and what another has goes on.
func TestRecoverLetsFail(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	one, two := New(db, WithWorker(0)), New(db, WithWorker(2))
	for _, q := range []*Queue{one, two} {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
		if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
	}
	if n, err := one.Recover(ctx, 10); err != nil || n != 1 {
		t.Errorf("recovered %d: %v", n, err)
	}
	if s, err := one.Stats(ctx); err != nil || s.Failed != 1 || s.Running != 1 {
		t.Errorf("%+v: %v", s, err)
	}
	if _, err := New(db).Claim(ctx, 1); err == nil {
		t.Error("a worker without a number claims")
	}
}
