package emailq

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("timeout: " + what)
}

func work(t *testing.T, q *Queue, ctx context.Context, handler func(context.Context, Job) error, opts WorkOptions) error {
	t.Helper()
	err := q.Work(ctx, handler, opts)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open != 0 {
		t.Errorf("%d transactions are left open", q.open)
	}
	for i, r := range q.rows {
		if r.lock != nil {
			t.Errorf("row %d is left locked", i)
		}
	}
	return err
}

func TestNoneLostNoneTwice(t *testing.T) {
	const n = 2000
	q := newQueue(n)
	runs := make([]atomic.Int32, n)
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	for range 4 {
		loops.Add(1)
		go func() {
			defer loops.Done()
			err := q.Work(ctx, func(_ context.Context, j Job) error {
				runs[j.ID].Add(1)
				if j.ID%100 == 7 {
					panic("seven")
				}
				if j.ID%100 == 8 {
					runtime.Goexit()
				}
				if j.ID%100 == 9 {
					return errors.New("nine")
				}
				return nil
			}, WorkOptions{Concurrency: 4, Batch: 10, PollInterval: 20 * time.Millisecond, OnError: func(err error) {
				if !strings.Contains(err.Error(), "seven") {
					t.Error(err)
				}
			}})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	until(t, "done", func() bool { return q.count("done") == n-60 && q.count("failed") == 60 })
	cancel()
	loops.Wait()
	for i := range runs {
		if runs[i].Load() != 1 {
			t.Errorf("job %d ran %d times", i, runs[i].Load())
		}
	}
}

// What has finished when Work is stopped is committed, the rest is free.
func TestStop(t *testing.T) {
	q := newQueue(20)
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int32
	began := time.Now()
	err := work(t, q, ctx, func(ctx context.Context, j Job) error {
		switch n.Add(1) {
		case 1, 2, 3:
			return nil
		case 4:
			cancel()
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}, WorkOptions{Concurrency: 2, Batch: 10, Grace: 200 * time.Millisecond, OnError: func(err error) { t.Error(err) }})
	if err != nil {
		t.Error(err)
	}
	if n.Load() > 5 {
		t.Errorf("%d jobs were begun where the fourth ended it", n.Load())
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
	if q.count("done") != 4 || q.count("ready") != 16 || q.calls["commit"] != 1 {
		t.Error(q.count("done"), q.count("ready"), q.calls)
	}
}

// A handler that ends its goroutine makes room for the next.
func TestGoexit(t *testing.T) {
	q := newQueue(3)
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int32
	err := work(t, q, ctx, func(context.Context, Job) error {
		if n.Add(1) == 3 {
			cancel()
		}
		runtime.Goexit()
		return nil
	}, WorkOptions{Batch: 3, OnError: func(err error) { t.Error(err) }})
	if err != nil || q.count("failed") != 3 {
		t.Error(err, q.count("failed"))
	}
}

// A batch that breaks is run again as a whole.
func TestBrokenBatch(t *testing.T) {
	q := newQueue(10)
	q.fault = func(op string, n int) error {
		if (op == "commit" || op == "hold" || op == "claim") && n == 1 {
			return fmt.Errorf("%s: %w", op, errTemp)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int32
	var told atomic.Int32
	err := work(t, q, ctx, func(context.Context, Job) error {
		if n.Add(1) == 20 {
			cancel()
		}
		return nil
	}, WorkOptions{Concurrency: 10, PollInterval: 10 * time.Millisecond, OnError: func(error) { told.Add(1) }})
	if err != nil {
		t.Error(err)
	}
	if q.count("done") != 10 || told.Load() != 3 {
		t.Error(q.count("done"), told.Load())
	}
}

// An error that does not pass ends Work, and nothing of the batch is kept.
func TestRefused(t *testing.T) {
	for _, op := range []string{"hold", "claim", "complete", "fail", "commit"} {
		q := newQueue(10)
		bad := errors.New("permission denied")
		q.fault = func(o string, _ int) error {
			if o == op {
				return bad
			}
			return nil
		}
		err := work(t, q, context.Background(), func(_ context.Context, j Job) error {
			if j.ID == 4 {
				return errors.New("no")
			}
			return nil
		}, WorkOptions{Concurrency: 10, OnError: func(error) {}})
		if !errors.Is(err, bad) || q.count("ready") != 10 {
			t.Error(op, err, q.count("ready"))
		}
	}
}

func TestEmptyDoesNotSpin(t *testing.T) {
	q := newQueue(0)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := work(t, q, ctx, func(context.Context, Job) error { return nil }, WorkOptions{PollInterval: 100 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	if n := q.calls["claim"]; n < 3 || n > 14 {
		t.Errorf("%d claims in ten intervals", n)
	}
}

// Work that waits for a free connection can be stopped.
func TestStopWithoutConnection(t *testing.T) {
	q := newQueue(1)
	q.stuck = make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	ended := make(chan error)
	go func() {
		ended <- work(t, q, ctx, func(context.Context, Job) error { return nil }, WorkOptions{OnError: func(err error) { t.Error(err) }})
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("it goes on")
	}
}

// A claim that brings fewer jobs than it was asked for does not mean that there
// are no more: the next one follows at once, and not after the PollInterval.
func TestShortBatchIsNotEmpty(t *testing.T) {
	q := newQueue(100)
	q.few = 3
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var n atomic.Int32
	err := work(t, q, ctx, func(context.Context, Job) error {
		if n.Add(1) == 100 {
			cancel()
		}
		return nil
	}, WorkOptions{Batch: 10, PollInterval: time.Minute})
	if err != nil || n.Load() != 100 {
		t.Errorf("%d of 100 jobs were handled: %v", n.Load(), err)
	}
}
