package lettersq

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A lease that could have run out when it begins is an error, and nothing is claimed by it.
func TestShortLeaseIsAnError(t *testing.T) {
	q, ctx := New(open(t)), context.Background()
	if _, err := q.Enqueue(ctx, NewJob{Body: "a"}); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "it has to be 2 s at least") {
			t.Errorf("%s: %v", what, err)
		}
	}
	jobs, err := q.Claim(ctx, 500*time.Millisecond, 1)
	if refused("Claim", err); len(jobs) > 0 {
		t.Errorf("claimed %v", jobs)
	}
	if jobs, err = q.Claim(ctx, 2*time.Second, 1); err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	refused("Extend", q.Extend(ctx, time.Second, &jobs[0]))
	_, err = q.CompleteAndClaim(ctx, jobs, 0, 1)
	refused("CompleteAndClaim", err)
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Error("a call that was refused has completed: ", err)
	}
}
