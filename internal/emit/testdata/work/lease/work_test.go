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

// leavesNothing fails the test when it leaves goroutines behind.
func leavesNothing(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 100 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("goroutines: %d before, %d now\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
	})
}

type errs struct {
	mu  sync.Mutex
	all []error
}

func (e *errs) add(err error) { e.mu.Lock(); e.all = append(e.all, err); e.mu.Unlock() }
func (e *errs) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(e.all...).Error()
}

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("timeout:", what)
}

func TestNoneLostNoneTwice(t *testing.T) {
	leavesNothing(t)
	q := newQueue(2000)
	ctx, cancel := context.WithCancel(context.Background())
	runs := make([]atomic.Int32, 2000)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := q.Work(ctx, func(ctx context.Context, j Job) error { runs[j.ID].Add(1); return nil }, WorkOptions{Concurrency: 4, PollInterval: 50 * time.Millisecond, OnError: func(err error) { t.Error(err) }})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	until(t, "done", func() bool { return q.count("done") == 2000 })
	cancel()
	wg.Wait()
	for i := range runs {
		if runs[i].Load() != 1 {
			t.Errorf("job %d ran %d times", i, runs[i].Load())
		}
	}
}

func TestOrder(t *testing.T) {
	leavesNothing(t)
	q := newQueue(500)
	ctx, cancel := context.WithCancel(context.Background())
	var got []int64
	q.Work(ctx, func(ctx context.Context, j Job) error {
		got = append(got, j.ID)
		if len(got) == 500 {
			cancel()
		}
		return nil
	}, WorkOptions{})
	for i, id := range got {
		if int64(i) != id {
			t.Fatal(i, id)
		}
	}
	if q.count("done") != 500 {
		t.Error(q.count("done"))
	}
}

func TestStopGivesBackAndGrace(t *testing.T) {
	leavesNothing(t)
	q := newQueue(300)
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int32
	var interrupted atomic.Int32
	began := time.Now()
	err := q.Work(ctx, func(ctx context.Context, j Job) error {
		k := n.Add(1)
		if k < 60 {
			return nil
		}
		if k == 60 {
			cancel()
		}
		if k == 61 {
			return nil
		}
		<-ctx.Done()
		interrupted.Add(1)
		return fmt.Errorf("stopped: %w", ctx.Err())
	}, WorkOptions{Concurrency: 4, Grace: 200 * time.Millisecond, OnError: func(err error) { t.Error(err) }})
	if err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d < 200*time.Millisecond || d > 5*time.Second {
		t.Error(d)
	}
	if q.count("running") != 0 || q.count("failed") != 0 {
		t.Error(q.count("running"), q.count("failed"))
	}
	for i, r := range q.rows {
		if r.state == "ready" && r.tries != 0 {
			t.Error(i, r.tries)
		}
	}
}

func TestLostLeaseCancels(t *testing.T) {
	leavesNothing(t)
	q := newQueue(1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var e errs
	var cause error
	err := q.Work(ctx, func(ctx context.Context, j Job) error {
		q.mu.Lock()
		q.rows[0].token++ // another took it
		q.mu.Unlock()
		<-ctx.Done()
		cause = context.Cause(ctx)
		cancel()
		return ctx.Err()
	}, WorkOptions{Lease: 600 * time.Millisecond, OnError: e.add})
	if err != nil || !errors.Is(cause, ErrLost) {
		t.Error(err, cause)
	}
	if q.rows[0].state != "running" || q.calls["complete"]+q.calls["fail"]+q.calls["requeue"] != 0 {
		t.Error(q.calls)
	}
}

func TestUnrenewableLeaseCancels(t *testing.T) {
	leavesNothing(t)
	q := newQueue(1)
	q.fault = func(op string, n int) error {
		if op == "extend" {
			return errTemp
		}
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var e errs
	var cause error
	err := q.Work(ctx, func(ctx context.Context, j Job) error {
		<-ctx.Done()
		cause = context.Cause(ctx)
		cancel()
		return nil
	}, WorkOptions{Lease: 600 * time.Millisecond, OnError: e.add})
	if err != nil || !errors.Is(cause, ErrLost) {
		t.Error(err, cause)
	}
}

func TestHeartbeatKeeps(t *testing.T) {
	leavesNothing(t)
	q := newQueue(8)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var n atomic.Int32
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := q.Work(ctx, func(ctx context.Context, j Job) error {
				time.Sleep(3500 * time.Millisecond) // longer than the lease
				n.Add(1)
				return nil
			}, WorkOptions{Lease: 2500 * time.Millisecond, Concurrency: 2, PollInterval: 20 * time.Millisecond, RecoverInterval: 20 * time.Millisecond, OnError: func(err error) { t.Error(err) }}); err != nil {
				t.Error(err)
			}
		}()
	}
	until(t, "done", func() bool { return q.count("done") == 8 })
	cancel()
	wg.Wait()
	if n.Load() != 8 {
		t.Error(n.Load())
	}
}

func TestPanicsAndGoexit(t *testing.T) {
	leavesNothing(t)
	q := newQueue(3)
	ctx, cancel := context.WithCancel(context.Background())
	var e errs
	go func() {
		until(t, "end", func() bool { return q.count("failed") == 2 && q.count("done") == 1 })
		cancel()
	}()
	err := q.Work(ctx, func(ctx context.Context, j Job) error {
		switch j.ID {
		case 0:
			panic("boom")
		case 1:
			runtime.Goexit()
		}
		return nil
	}, WorkOptions{PollInterval: 20 * time.Millisecond, OnError: e.add})
	if err != nil {
		t.Error(err)
	}
	if !strings.Contains(q.rows[0].lastErr, "boom") || !strings.Contains(q.rows[0].lastErr, "work_test.go") {
		t.Error(q.rows[0].lastErr)
	}
}

func TestEmptyDoesNotSpin(t *testing.T) {
	leavesNothing(t)
	q := newQueue(0)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := q.Work(ctx, func(ctx context.Context, j Job) error { return nil }, WorkOptions{PollInterval: 100 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	if c := q.calls["claim"]; c < 3 || c > 14 {
		t.Error(c)
	}
	if q.calls["recover"] != 1 || q.calls["extend"] != 0 {
		t.Error(q.calls)
	}
}

func TestTransientEverywhere(t *testing.T) {
	leavesNothing(t)
	q := newQueue(50)
	q.fault = func(op string, n int) error {
		if n%2 == 1 {
			return fmt.Errorf("%s: %w", op, errTemp)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	var e errs
	go func() {
		until(t, "end", func() bool { return q.count("done") == 50 })
		cancel()
	}()
	if err := q.Work(ctx, func(ctx context.Context, j Job) error {
		if j.ID%10 == 3 && q.rows[j.ID].tries == 1 {
			return errors.New("no")
		}
		return nil
	}, WorkOptions{Concurrency: 8, PollInterval: 10 * time.Millisecond, OnError: e.add}); err != nil {
		t.Error(err)
	}
}

func TestFatal(t *testing.T) {
	for _, op := range []string{"claim", "recover", "fail", "requeue"} {
		t.Run(op, func(t *testing.T) {
			leavesNothing(t)
			q := newQueue(50)
			bad := errors.New("permission denied")
			q.fault = func(o string, n int) error {
				if o == op {
					return bad
				}
				return nil
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			err := q.Work(ctx, func(ctx context.Context, j Job) error {
				if j.ID == 20 {
					if op == "requeue" {
						cancel()
					}
					return errors.New("no")
				}
				return nil
			}, WorkOptions{Concurrency: 1, PollInterval: 10 * time.Millisecond, OnError: func(error) {}})
			if !errors.Is(err, bad) {
				t.Error(err)
			}
			t.Log(err, q.calls)
		})
	}
}

func TestRefusedCompletionFailsAlone(t *testing.T) {
	leavesNothing(t)
	q := newQueue(50)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q.fault = nil
	go func() {
		until(t, "end", func() bool { return q.count("done")+q.count("failed") == 50 })
		cancel()
	}()
	poison := func(jobs []Job) error {
		for _, j := range jobs {
			if j.ID == 7 {
				return errors.New("violates check")
			}
		}
		return nil
	}
	q.poison = poison
	if err := q.Work(ctx, func(ctx context.Context, j Job) error { return nil }, WorkOptions{Concurrency: 4, PollInterval: 10 * time.Millisecond, OnError: func(error) {}}); err != nil {
		t.Error(err)
	}
	if q.count("done") != 49 || q.rows[7].state != "failed" || !strings.Contains(q.rows[7].lastErr, "violates") {
		t.Error(q.count("done"), q.rows[7])
	}
}

func TestStall(t *testing.T) {
	leavesNothing(t)
	q := newQueue(200)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	release := make(chan struct{})
	var n atomic.Int32
	go func() {
		until(t, "given back", func() bool { return n.Load() == 21 && q.count("running") == 1 })
		close(release)
		until(t, "end", func() bool { return q.count("done") == 200 })
		cancel()
	}()
	if err := q.Work(ctx, func(ctx context.Context, j Job) error {
		if n.Add(1) == 21 {
			<-release
		}
		return nil
	}, WorkOptions{PollInterval: 50 * time.Millisecond, OnError: func(err error) { t.Error(err) }}); err != nil {
		t.Error(err)
	}
}

func TestDatabaseGoneAtStop(t *testing.T) {
	leavesNothing(t)
	q := newQueue(50)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var gone atomic.Bool
	q.fault = func(op string, n int) error {
		if gone.Load() {
			return errTemp
		}
		return nil
	}
	err := q.Work(ctx, func(ctx context.Context, j Job) error {
		if j.ID == 30 {
			gone.Store(true)
			cancel()
		}
		return nil
	}, WorkOptions{PollInterval: 50 * time.Millisecond, OnError: func(err error) {}})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint("jobs that stay claimed: ", q.count("running"))) {
		t.Error(err, q.count("running"))
	}
}

func TestSettledByHandler(t *testing.T) {
	leavesNothing(t)
	q := newQueue(5)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := q.Work(ctx, func(ctx context.Context, j Job) error {
		if j.ID == 4 {
			defer cancel()
		}
		if err := q.Complete(ctx, j); err != nil {
			return err
		}
		return ErrSettled
	}, WorkOptions{OnError: func(err error) { t.Error(err) }}); err != nil {
		t.Error(err)
	}
	if q.count("done") != 5 || q.calls["complete"] != 5 {
		t.Error(q.calls)
	}
}

// A handler may go on after it has settled its job: nothing is renewed that is not claimed any
// more. Where it could not settle it, the claim is kept.
func TestSettledByHandlerIsNotRenewed(t *testing.T) {
	leavesNothing(t)
	q := newQueue(1)
	q.rows = append(q.rows, &record{state: "held elsewhere"})
	refused := errors.New("refused")
	q.fault = func(op string, n int) error {
		if op == "complete" && n == 2 {
			return refused
		}
		return nil
	}
	renewals := func() int {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.calls["extend"]
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := q.Work(ctx, func(ctx context.Context, j Job) error {
		defer cancel()
		if err := q.Complete(ctx, Job{ID: 1}); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		if err := q.Complete(ctx, j); !errors.Is(err, refused) {
			t.Error(err)
		}
		before := renewals()
		until(t, "renewal of what is not settled", func() bool { return renewals() > before })

		if err := q.Complete(ctx, j, Job{ID: 1}); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		before = renewals()
		time.Sleep(300 * time.Millisecond)
		if n := renewals(); n != before {
			t.Errorf("%d renewals of what is settled", n-before)
		}
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
		return ErrSettled
	}, WorkOptions{Heartbeat: 10 * time.Millisecond, OnError: func(err error) { t.Error(err) }}); err != nil {
		t.Error(err)
	}
	if q.count("done") != 1 {
		t.Error(q.rows[0].state)
	}
}

// A job whose claim is lost while it waits is never begun.
func TestLostWhileWaiting(t *testing.T) {
	leavesNothing(t)
	q := newQueue(40)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var e errs
	var begun atomic.Int32
	err := q.Work(ctx, func(ctx context.Context, j Job) error {
		if j.ID < 20 {
			return nil
		}
		if begun.Add(1) == 1 {
			// By now others are claimed ahead. Another worker takes them all.
			until(t, "claimed ahead", func() bool { return q.count("running") > 5 })
			q.mu.Lock()
			for _, r := range q.rows {
				if r.state == "running" {
					r.token = -1
				}
				if r.state == "ready" {
					r.state = "done"
				}
			}
			q.mu.Unlock()
			<-ctx.Done()
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		return nil
	}, WorkOptions{Lease: 600 * time.Millisecond, PollInterval: time.Second, OnError: e.add})
	if err != nil {
		t.Error(err)
	}
	if n := begun.Load(); n != 1 {
		t.Errorf("%d jobs begun", n)
	}
	if !strings.Contains(e.text(), "lost") || q.calls["requeue"]+q.calls["fail"] != 0 {
		t.Error(e.text(), q.calls)
	}
}

// Work does not begin with a queue or a handler that it cannot use.
func TestRefusesToBegin(t *testing.T) {
	q := newQueue(1)
	if err := q.Work(context.Background(), nil, WorkOptions{}); err == nil || err.Error() != "emailq: work: there is no handler" {
		t.Error(err)
	}
	q.begin = nil
	err := q.Work(context.Background(), func(context.Context, Job) error { return nil }, WorkOptions{})
	if err == nil || err.Error() != "emailq: work: the queue was made over a transaction; Work needs a pool" {
		t.Error(err)
	}
	if q.calls["claim"] != 0 {
		t.Error(q.calls)
	}
}

// A job that cannot be read fails without the handler.
func TestUnreadable(t *testing.T) {
	leavesNothing(t)
	q := newQueue(3)
	q.rows[1].unread = errors.New("created_at is no time")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		until(t, "end", func() bool { return q.count("done") == 2 && q.count("failed") == 1 })
		cancel()
	}()
	err := q.Work(ctx, func(_ context.Context, j Job) error {
		if j.Err != nil {
			t.Errorf("the handler got %+v", j)
		}
		return nil
	}, WorkOptions{PollInterval: 10 * time.Millisecond, OnError: func(err error) { t.Error(err) }})
	if err != nil || q.rows[1].lastErr != "created_at is no time" {
		t.Error(err, q.rows[1].lastErr)
	}
}

// A database that is away is asked again and again, but not too often.
func TestWaitsOut(t *testing.T) {
	leavesNothing(t)
	q := newQueue(10)
	q.fault = func(string, int) error { return errTemp }
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var e errs
	if err := q.Work(ctx, func(context.Context, Job) error { return nil }, WorkOptions{PollInterval: time.Millisecond, OnError: e.add}); err != nil {
		t.Error(err)
	}
	if n := q.calls["claim"]; n < 2 || n > 6 {
		t.Errorf("%d claims in a second", n)
	}
	if len(e.all) != q.calls["claim"]+q.calls["recover"] {
		t.Errorf("%d errors told of %v", len(e.all), q.calls)
	}
}

// A handler that uses its time of grace has its job completed all the same.
func TestLongHandlerIsCompleted(t *testing.T) {
	leavesNothing(t)
	q := newQueue(1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := q.Work(ctx, func(context.Context, Job) error {
		cancel()
		time.Sleep(2 * lastSettlement)
		return nil
	}, WorkOptions{OnError: func(err error) { t.Error(err) }})
	if err != nil || q.count("done") != 1 {
		t.Error(err, q.count("done"))
	}
}

// A claim that brings fewer jobs than it was asked for does not mean that there
// are no more: the next one follows at once, and not after the PollInterval.
func TestShortBatchIsNotEmpty(t *testing.T) {
	leavesNothing(t)
	q := newQueue(100)
	q.few = 3
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var n atomic.Int32
	err := q.Work(ctx, func(context.Context, Job) error {
		if n.Add(1) == 100 {
			cancel()
		}
		return nil
	}, WorkOptions{Concurrency: 8, PollInterval: time.Minute, OnError: func(err error) { t.Error(err) }})
	if err != nil || n.Load() != 100 {
		t.Errorf("%d of 100 jobs were handled: %v", n.Load(), err)
	}
}
