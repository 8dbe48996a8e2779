package bitsq

import (
	"context"
	"testing"
)

// A new job says its bits itself, or leaves them to the default of the column.
func TestEnqueue(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{Body: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.EnqueueMany(ctx, []NewJob{{Body: "b", Flags: new(int64(17))}, {Body: "c", Flags: new(int64(16))}}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 2 || jobs[0].Body != "a" || jobs[1].Body != "b" {
		t.Fatal(jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Error(err)
	}
}
