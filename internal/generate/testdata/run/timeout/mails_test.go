package mailsq

import (
	"context"
	"testing"
	"time"
)

func TestProof(t *testing.T) {
	t.Setenv("MAILSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// Recover is told when a claim has run out, and Work tells it.
func TestRecoverIsTold(t *testing.T) {
	db := open(t)
	q := New(db)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if _, err := db.Exec("UPDATE mails SET beat = beat - 60000"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 2*time.Minute, 5); err != nil || n != 0 {
		t.Errorf("recovered %d: %v", n, err)
	}
	if s, err := q.Stats(ctx, 30*time.Second); err != nil || s.Expired != 1 {
		t.Errorf("%+v: %v", s, err)
	}
	handler := func(context.Context, Job) error { cancel(); return nil }
	if err := q.Work(ctx, handler, WorkOptions{Timeout: 30 * time.Second, PollInterval: 10 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	if s, err := q.Stats(context.Background(), time.Minute); err != nil || s.Done != 1 {
		t.Errorf("%+v: %v", s, err)
	}
}
