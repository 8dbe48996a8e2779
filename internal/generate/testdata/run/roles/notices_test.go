package noticesq

import (
	"context"
	"testing"
)

// A job that is paused while it runs is still that of its worker.
func TestPaused(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("UPDATE notices SET paused = 1 WHERE id = 2"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 5)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if _, err := db.Exec("UPDATE notices SET paused = 1"); err != nil {
		t.Fatal(err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Running != 1 || s.Ready != 0 {
		t.Errorf("%+v: %v", s, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Error(err)
	}
}
