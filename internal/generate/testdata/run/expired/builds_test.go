package buildsq

import (
	"context"
	"errors"
	"testing"
)

// A job whose claim has run out fails and is not run again before Redrive says so; who held it
// comes too late.
func TestExpiredFails(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 2)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 0 {
		t.Fatalf("%d claims ran out at once: %v", n, err)
	}
	if _, err := db.Exec("UPDATE builds SET until = until - 301 WHERE id = ?", jobs[0].ID); err != nil {
		t.Fatal(err)
	}
	jobs[0].Until = jobs[0].Until.Add(-301e9)
	if s, err := q.Stats(ctx); err != nil || s.Running != 2 || s.Expired != 1 {
		t.Errorf("%+v: %v", s, err)
	}
	if again, err := q.Claim(ctx, 5); err != nil || len(again) != 0 {
		t.Fatalf("%d jobs are claimed again: %v", len(again), err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d claims ran out: %v", n, err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Running != 1 || s.Failed != 1 || s.Ready != 0 {
		t.Errorf("%+v: %v", s, err)
	}
	var reason, cause string
	var ended *int64
	row := db.QueryRow("SELECT reason, cause, ended FROM builds WHERE state = 'failed' AND until IS NULL")
	if err := row.Scan(&reason, &cause, &ended); err != nil || reason != "the claim ran out" || cause != "timeout" || ended == nil {
		t.Errorf("%q, %q, %v: %v", reason, cause, ended, err)
	}
	if err := q.Complete(ctx, jobs[0]); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if err := q.Complete(ctx, jobs[1]); err != nil {
		t.Error(err)
	}
	if n, err := q.Redrive(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d redriven: %v", n, err)
	}
	if again, err := q.Claim(ctx, 5); err != nil || len(again) != 1 || again[0].ID != jobs[0].ID {
		t.Errorf("%+v: %v", again, err)
	}
}
