package outboxq

import (
	"context"
	"testing"
)

// A new row whose claim would have run out at once has had no claim.
func TestStats(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for range 3 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := q.Stats(ctx); err != nil || s.Ready != 3 || s.Expired != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if _, err := db.Exec("UPDATE outbox SET last = 1 WHERE attempts = 1"); err != nil {
		t.Fatal(err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Ready != 3 || s.Expired != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
