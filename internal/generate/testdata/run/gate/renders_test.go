package rendersq

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// The caller says how many may run; a limit below what runs lets none be claimed.
func TestToldLimit(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	for range 10 {
		if _, err := db.Exec("INSERT INTO renders DEFAULT VALUES"); err != nil {
			t.Fatal(err)
		}
	}
	var have []Job
	for _, c := range []struct{ running, limit, want int }{{0, 9, 0}, {-1, 9, 0}, {2, 9, 2}, {1, 9, 0}, {5, 2, 2}, {5, 2, 1}, {5, 2, 0}} {
		jobs, err := q.Claim(ctx, c.running, c.limit)
		if err != nil || len(jobs) != c.want {
			t.Fatal(c, jobs, err)
		}
		have = append(have, jobs...)
	}
	next, err := q.CompleteAndClaim(ctx, have[:3], 4, 9)
	if err != nil || len(next) != 2 {
		t.Fatal(next, err)
	}
}

// Work has the limit among its options.
func TestWorkTold(t *testing.T) {
	db := open(t)
	for range 10 {
		if _, err := db.Exec("INSERT INTO renders DEFAULT VALUES"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var now, most, done atomic.Int32
	handler := func(context.Context, Job) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		if done.Add(1) == 10 {
			cancel()
		}
		return nil
	}
	if err := New(db).Work(ctx, handler, WorkOptions{Running: 2, Concurrency: 5, PollInterval: time.Minute}); err != nil {
		t.Error(err)
	}
	if most.Load() > 2 || done.Load() != 10 {
		t.Errorf("%d ran at once, %d were done", most.Load(), done.Load())
	}
}
