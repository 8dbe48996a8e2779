package roundsq

import (
	"context"
	"testing"
)

// What is done comes again, and what is discarded does not.
func TestDiscardEndsCycle(t *testing.T) {
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
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Discard(ctx, jobs[1]); err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := db.QueryRow("SELECT id FROM rounds WHERE state = 'N'").Scan(&id); err != nil || id != jobs[0].ID {
		t.Errorf("job %d is left: %v", id, err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Delayed != 1 {
		t.Errorf("%+v: %v", s, err)
	}
}
