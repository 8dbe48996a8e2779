package uploadsq

import (
	"context"
	"testing"
	"time"
)

// The lease is as long as the row says; a row that says nothing is not claimed.
func TestLeaseByRow(t *testing.T) {
	ctx := context.Background()
	q := New(open(t))
	size := int64(10)
	for _, job := range []NewJob{{SizeMb: &size}, {}} {
		if _, err := q.Enqueue(ctx, job); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 2)
	if err != nil || len(jobs) != 1 || jobs[0].SizeMb == nil {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if left := time.Until(jobs[0].UntilAt); left < 20*time.Minute || left > 22*time.Minute {
		t.Errorf("the lease ends in %v", left)
	}
}
