package filesq

import (
	"context"
	"testing"
)

// The rows of jobs that a worker has left go back to their table, and those of another stay.
func TestRecoverMovesOwnBack(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	one, two := New(db, WithWorker("one")), New(db, WithWorker("two"))
	for _, q := range []*Queue{one, two} {
		if _, err := q.Enqueue(ctx, NewJob{Path: "of " + q.worker}); err != nil {
			t.Fatal(err)
		}
		if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
	}
	if n, err := one.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("recovered %d: %v", n, err)
	}
	jobs, err := two.Claim(ctx, 10)
	if err != nil || len(jobs) != 1 || jobs[0].Path != "of one" {
		t.Errorf("%+v are ready: %v", jobs, err)
	}
}
