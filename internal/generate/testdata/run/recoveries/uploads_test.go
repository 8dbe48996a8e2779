package uploadsq

import (
	"context"
	"errors"
	"testing"
)

// A job is recovered as often as its limit says and then fails; its tries are counted for
// themselves, and Redrive sets both back.
func TestRecoveries(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	holds := func(want string) {
		t.Helper()
		var have string
		err := db.QueryRow("SELECT state || ' ' || num_failures || ' ' || num_resets || ' ' || coalesce(message, '-') FROM uploads").Scan(&have)
		if err != nil || have != want {
			t.Errorf("%s, not %s: %v", have, want, err)
		}
	}
	take := func() Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		return jobs[0]
	}
	die := func() {
		t.Helper()
		late := take()
		if _, err := db.Exec("UPDATE uploads SET seen = 1"); err != nil {
			t.Fatal(err)
		}
		if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
			t.Fatalf("%d recovered: %v", n, err)
		}
		if err := q.Complete(ctx, late); !errors.Is(err, ErrLost) {
			t.Errorf("who came late got %v", err)
		}
	}
	for range 2 {
		die()
		holds("queued 0 1 -")
		if err := q.Fail(ctx, take(), errors.New("no")); err != nil {
			t.Fatal(err)
		}
		holds("queued 1 1 no")
		if err := q.Requeue(ctx, take()); err != nil {
			t.Fatal(err)
		}
		die()
		holds("queued 1 2 no")
		die()
		holds("failed 1 2 reset too often")
		if n, err := q.Redrive(ctx, 10); err != nil || n != 1 {
			t.Fatalf("%d redriven: %v", n, err)
		}
		if _, err := db.Exec("UPDATE uploads SET message = null"); err != nil {
			t.Fatal(err)
		}
		holds("queued 0 0 -")
	}
}
