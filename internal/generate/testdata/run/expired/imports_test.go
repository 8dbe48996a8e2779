package importsq

import (
	"context"
	"testing"
)

// The jobs of those who are not among the living fail.
func TestJobsOfTheDeadFail(t *testing.T) {
	db, ctx := open(t), context.Background()
	for _, worker := range []string{"ann", "bob"} {
		q := New(db, WithWorker(worker))
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
		if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
	}
	q := New(db)
	if n, err := q.Recover(ctx, []string{"bob"}, 10); err != nil || n != 1 {
		t.Fatalf("%d jobs of the dead: %v", n, err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Running != 1 || s.Failed != 1 || s.Ready != 0 {
		t.Errorf("%+v: %v", s, err)
	}
}
