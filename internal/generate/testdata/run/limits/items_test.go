package itemsq

import (
	"context"
	"errors"
	"testing"
)

// Each claim takes one of the tries that are left, whether the job fails or its worker dies;
// Requeue gives it back. At 0 a job has failed, and Redrive gives it all of them.
func TestClaimTakes(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for left := int64(4); left >= 0; left-- {
			jobs, err := q.Claim(ctx, 10)
			if err != nil || len(jobs) != 1 || jobs[0].Remaining != left {
				t.Fatalf("%+v, not with %d tries left: %v", jobs, left, err)
			}
			if s, err := q.Stats(ctx); err != nil || s.Running != 1 || s.Failed != 0 {
				t.Errorf("%+v: %v", s, err)
			}
			if left == 3 {
				if err := q.Requeue(ctx, 0, jobs...); err != nil {
					t.Fatal(err)
				}
				if jobs, err = q.Claim(ctx, 10); err != nil || len(jobs) != 1 || jobs[0].Remaining != left {
					t.Fatalf("%+v after Requeue: %v", jobs, err)
				}
			}
			if left%2 == 0 {
				if err := q.Fail(ctx, jobs[0], errors.New("no")); err != nil {
					t.Fatal(err)
				}
				var wait int64
				err := db.QueryRow("SELECT coalesce(due_at - unixepoch(), 0) FROM items").Scan(&wait)
				if want := (5 - left) * 60; err != nil || left > 0 && (wait > want || wait < want-30) {
					t.Errorf("a wait of %d seconds with %d tries left: %v", wait, left, err)
				}
			}
			if _, err := db.Exec("UPDATE items SET expires = 1 WHERE available = 0; UPDATE items SET due_at = null"); err != nil {
				t.Fatal(err)
			}
		}
		if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 0 {
			t.Errorf("%+v with no tries left: %v", jobs, err)
		}
		if s, err := q.Stats(ctx); err != nil || s.Failed != 1 {
			t.Errorf("%+v: %v", s, err)
		}
		if n, err := q.Redrive(ctx, 10); err != nil || n != 1 {
			t.Fatalf("%d redriven: %v", n, err)
		}
	}
}
