package emailq

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestEveryJobOnce(t *testing.T) {
	const n = 2000
	q := &Queue{begin: true, last: n, fault: func(n int) error {
		if n == 3 {
			return errTemp
		}
		return nil
	}}
	runs := make([]atomic.Int32, n)
	var left atomic.Int32
	left.Store(n)
	var told []string
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(context.Background())
	err := q.Work(ctx, func(_ context.Context, j Job) error {
		runs[j.ID].Add(1)
		defer func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}()
		switch j.ID {
		case 5:
			panic("five")
		case 6:
			return errors.New("six")
		}
		return nil
	}, WorkOptions{Concurrency: 8, PollInterval: 10 * time.Millisecond, OnError: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err.Error())
	}})
	if err != nil {
		t.Error(err)
	}
	for i := range runs {
		if runs[i].Load() != 1 {
			t.Errorf("job %d ran %d times", i, runs[i].Load())
		}
	}
	if all := strings.Join(told, "; "); len(told) != 3 || !strings.Contains(all, "five") || !strings.Contains(all, "six") {
		t.Error(all)
	}
	if q.most > 8 {
		t.Errorf("%d jobs were asked for with 8 handlers", q.most)
	}
}

// A job that was taken is handled, whatever happens: it is nowhere else.
func TestStop(t *testing.T) {
	q := &Queue{begin: true, last: 1 << 40}
	ctx, cancel := context.WithCancel(context.Background())
	var begun, interrupted atomic.Int64
	err := q.Work(ctx, func(ctx context.Context, j Job) error {
		if begun.Add(1) == 4 {
			cancel()
		}
		<-ctx.Done()
		interrupted.Add(1)
		return nil
	}, WorkOptions{Concurrency: 4, Grace: 100 * time.Millisecond, OnError: func(err error) { t.Error(err) }})
	if err != nil {
		t.Error(err)
	}
	if begun.Load() != q.next || interrupted.Load() != begun.Load() {
		t.Errorf("%d taken, %d begun, %d interrupted", q.next, begun.Load(), interrupted.Load())
	}
}

func TestRefused(t *testing.T) {
	bad := errors.New("permission denied")
	q := &Queue{begin: true, last: 100, fault: func(n int) error {
		if n == 5 {
			return bad
		}
		return nil
	}}
	var done atomic.Int64
	err := q.Work(context.Background(), func(context.Context, Job) error {
		time.Sleep(10 * time.Millisecond)
		done.Add(1)
		return nil
	}, WorkOptions{OnError: func(err error) { t.Error(err) }})
	if !errors.Is(err, bad) || done.Load() != q.next {
		t.Error(err, done.Load(), q.next)
	}
}

func TestEmptyDoesNotSpin(t *testing.T) {
	q := &Queue{begin: true}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := q.Work(ctx, func(context.Context, Job) error { return nil }, WorkOptions{PollInterval: 100 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	if q.claims < 3 || q.claims > 14 {
		t.Errorf("%d claims in ten intervals", q.claims)
	}
}

// A claim that brings fewer jobs than it was asked for does not mean that there
// are no more: the next one follows at once, and not after the PollInterval.
func TestShortBatchIsNotEmpty(t *testing.T) {
	q := &Queue{begin: true, last: 100, few: 3}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var n atomic.Int32
	err := q.Work(ctx, func(context.Context, Job) error {
		if n.Add(1) == 100 {
			cancel()
		}
		return nil
	}, WorkOptions{Concurrency: 8, PollInterval: time.Minute})
	if err != nil || n.Load() != 100 {
		t.Errorf("%d of 100 jobs were handled: %v", n.Load(), err)
	}
}
