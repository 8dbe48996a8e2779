package callsq

import (
	"context"
	"testing"
	"time"
)

// A column may be called as the argument is.
func TestTopicOfThatName(t *testing.T) {
	q := New(open(t))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	short := "short"
	if _, err := q.Enqueue(ctx, NewJob{Timeout: &short}); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, "long", time.Hour, nil, 1); err != nil || len(jobs) != 0 {
		t.Errorf("%d jobs: %v", len(jobs), err)
	}
	handler := func(context.Context, Job) error { cancel(); return nil }
	if err := q.Work(ctx, handler, WorkOptions{TimeoutValue: "short", Timeout: time.Minute, PollInterval: 10 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	if s, err := q.Stats(context.Background(), time.Minute); err != nil || s.Done != 1 {
		t.Errorf("%+v: %v", s, err)
	}
}
