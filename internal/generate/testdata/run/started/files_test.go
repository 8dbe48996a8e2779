package filesq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// The rows of jobs that ran go back to their table.
func TestRecoverMovesBack(t *testing.T) {
	q := New(open(t))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := q.Enqueue(ctx, NewJob{Path: "a"}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	handled := ""
	handler := func(_ context.Context, job Job) error {
		handled = job.Path
		cancel()
		return nil
	}
	if err := q.Work(ctx, handler, WorkOptions{}); err != nil || handled != "a" {
		t.Fatalf("handled %q: %v", handled, err)
	}
	if err := q.Complete(context.Background(), jobs...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if s, err := q.Stats(context.Background()); err != nil || s.Ready+s.Running != 0 {
		t.Errorf("%+v: %v", s, err)
	}
}
