package beatsq

import (
	"context"
	"testing"
)

// What waits is claimed at once, whatever the time of its last claim; what runs, when that is
// as long ago as timeout= says.
func TestWaiting(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	claim := func(want int) []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 5)
		if err != nil || len(jobs) != want {
			t.Fatalf("%d jobs, not %d: %v", len(jobs), want, err)
		}
		return jobs
	}
	jobs := claim(1)
	claim(0)
	if err := q.Requeue(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Ready != 1 || s.Running != 0 {
		t.Errorf("%+v: %v", s, err)
	}
	claim(1)
	if _, err := db.Exec("UPDATE beats SET beat = beat - 31"); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, claim(1)...); err != nil {
		t.Fatal(err)
	}
	claim(0)
}
