package mailsq

import (
	"context"
	"errors"
	"testing"
)

func TestProof(t *testing.T) {
	t.Setenv("MAILSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// Whoever has a job loses it, begun or not, and the try counts: at the limit the job fails.
func TestRecoverCounts(t *testing.T) {
	ctx := context.Background()
	q := New(open(t), WithWorker("one"))
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	for try, want := range []Stats{{Ready: 2}, {Failed: 2}} {
		jobs, err := q.Claim(ctx, 2)
		if err != nil || len(jobs) != 2 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		if err := q.Start(ctx, jobs[0]); err != nil {
			t.Fatal(err)
		}
		if s, err := q.Stats(ctx); err != nil || s != (Stats{Claimed: 1, Running: 1}) {
			t.Errorf("%+v: %v", s, err)
		}
		if n, err := q.Recover(ctx, 10); err != nil || n != 2 {
			t.Fatalf("recovered %d: %v", n, err)
		}
		if s, err := q.Stats(ctx); err != nil || s != want {
			t.Errorf("after try %d: %+v: %v", try, s, err)
		}
		if err := q.Complete(ctx, jobs...); !errors.Is(err, ErrLost) {
			t.Errorf("who came late got %v", err)
		}
	}
}
