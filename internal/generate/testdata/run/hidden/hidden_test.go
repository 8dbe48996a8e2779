package hiddenq

import (
	"context"
	"errors"
	"testing"
)

// As its comment says, Complete takes a job that Fail has made ready again, until it is claimed.
func TestFailedLooksHeld(t *testing.T) {
	ctx := context.Background()
	q := New(open(t))
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if err := q.Fail(ctx, jobs[0], errors.New("on purpose")); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, jobs...); !errors.Is(err, ErrLost) {
		t.Errorf("what has ended gives %v", err)
	}
}
