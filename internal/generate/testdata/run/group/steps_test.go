package stepsq

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// counted counts claims.
type counted struct{ claims atomic.Int32 }

func (c *counted) Before(ctx context.Context, op string) context.Context {
	if op == "claim" {
		c.claims.Add(1)
	}
	return ctx
}

func (*counted) After(context.Context, string, int, error) {}

// The steps of an order follow each other at once, though only one of them can be claimed at
// a time and the next poll is far off; also where one fails for good, or its handler settles it.
func TestWorkGoesOn(t *testing.T) {
	db := open(t)
	const n = 10
	for i := range n {
		if _, err := db.Exec("INSERT INTO steps (order_id, tries) VALUES (1, ?)", i/5*4); err != nil {
			t.Fatal(err)
		}
	}
	c := new(counted)
	q := New(db, WithHook(c))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var ran []int64
	var told atomic.Int32 // the table keeps no cause
	failure := errors.New("no fifth try")
	handler := func(_ context.Context, job Job) error {
		ran = append(ran, job.ID)
		switch job.ID {
		case 3:
			if err := q.Complete(ctx, job); err != nil {
				t.Error(err)
			}
			return ErrSettled
		case 7:
			return failure
		case n:
			cancel()
		}
		return nil
	}
	err := q.Work(ctx, handler, WorkOptions{Concurrency: 8, PollInterval: time.Hour, OnError: func(err error) {
		if told.Add(1); !errors.Is(err, failure) {
			t.Error(err)
		}
	}})
	if err != nil || told.Load() != 1 {
		t.Errorf("%v; OnError was told of %d failures, want 1", err, told.Load())
	}
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(ran, want) {
		t.Errorf("steps %v ran, not %v", ran, want)
	}
	if got := c.claims.Load(); got > 2*n {
		t.Errorf("%d claims for %d steps", got, n)
	}
	var failed int64
	if err := db.QueryRow("SELECT id FROM steps WHERE state = 'dead'").Scan(&failed); err != nil || failed != 7 {
		t.Errorf("step %d has failed: %v", failed, err)
	}
}

// What has ended before a claim does not make Work poll once more behind it.
func TestIdleWorkSleeps(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("INSERT INTO steps (order_id) VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	c := new(counted)
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	handler := func(context.Context, Job) error { return nil }
	if err := New(db, WithHook(c)).Work(ctx, handler, WorkOptions{PollInterval: time.Hour, OnError: func(err error) { t.Error(err) }}); err != nil {
		t.Error(err)
	}
	var done int
	if err := db.QueryRow("SELECT count(*) FROM steps WHERE state = 'over'").Scan(&done); err != nil || done != 2 {
		t.Errorf("%d steps are done: %v", done, err)
	}
	if got := c.claims.Load(); got > 5 {
		t.Errorf("%d claims for two steps", got)
	}
}
