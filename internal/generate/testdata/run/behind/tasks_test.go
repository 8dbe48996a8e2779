package tasksq

import (
	"context"
	"testing"
)

// A job has what its own claim adds to another table.
func TestPayloadOfTheClaim(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 9)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if m := jobs[0].Mark; m == nil || *m != "run 1" {
		t.Errorf("the job has the mark %v", m)
	}
}
