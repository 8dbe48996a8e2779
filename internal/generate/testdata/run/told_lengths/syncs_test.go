package syncsq

import (
	"context"
	"testing"
	"time"
)

// A claim runs out after as long a time as its row says, and no other; Extend begins it anew.
func TestRecoverByRow(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	q := New(db)
	for _, every := range []int64{60, 3600, 60} {
		if _, err := q.Enqueue(ctx, NewJob{Every: &every}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 3)
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	past := time.Now().Add(-10 * time.Minute).UnixMilli()
	if _, err := db.Exec("UPDATE syncs SET seen = ?", past); err != nil {
		t.Fatal(err)
	}
	if err := q.Extend(ctx, jobs[2]); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Errorf("recovered %d: %v", n, err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Failed != 1 || s.Running != 2 {
		t.Errorf("%+v: %v", s, err)
	}
}
