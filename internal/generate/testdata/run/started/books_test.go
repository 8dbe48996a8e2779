package booksq

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// left adds jobs and claims them in a program that then ends.
func left(t *testing.T, q *Queue, n int) []Job {
	t.Helper()
	news := make([]NewJob, n)
	_, err := q.EnqueueMany(context.Background(), news)
	ok(t, err)
	jobs, err := q.Claim(context.Background(), n)
	ok(t, err)
	if len(jobs) != n {
		t.Fatalf("%d jobs of %d", len(jobs), n)
	}
	return jobs
}

func TestProof(t *testing.T) {
	t.Setenv("BOOKSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// What ran when the program ended is ready again; who had it comes too late.
func TestRecover(t *testing.T) {
	ctx := context.Background()
	q := New(open(t))
	jobs := left(t, q, 5)
	for _, want := range []int{3, 2, 0} {
		n, err := q.Recover(ctx, 3)
		ok(t, err)
		if n != want {
			t.Fatalf("recovered %d, want %d", n, want)
		}
	}
	if err := q.Complete(ctx, jobs...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if again, err := q.Claim(ctx, 10); err != nil || len(again) != 5 {
		t.Errorf("%d jobs are ready: %v", len(again), err)
	}
}

// recovers counts the calls of Recover.
type recovers struct {
	mu sync.Mutex
	n  int
}

func (r *recovers) Before(ctx context.Context, _ string) context.Context { return ctx }

func (r *recovers) After(_ context.Context, op string, _ int, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op == "recover" {
		r.n++
	}
}

func (r *recovers) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Work recovers before it claims, all that there is, and not again; a second that begins
// while the first goes on takes nothing from it, and one that begins later does.
func TestWorkRecoversOnce(t *testing.T) {
	var seen recovers
	q := New(open(t), WithHook(&seen))
	const n = recoverLimit + 5
	left(t, q, n)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	options := WorkOptions{Concurrency: 4, PollInterval: 5 * time.Millisecond, OnError: func(err error) { t.Error(err) }}

	var mu sync.Mutex
	times := map[Key]int{}
	begun, finish := make(chan struct{}, n), make(chan struct{})
	handler := func(_ context.Context, job Job) error {
		mu.Lock()
		times[job.Key()]++
		mu.Unlock()
		begun <- struct{}{}
		<-finish
		return nil
	}
	var works sync.WaitGroup
	work := func() {
		works.Add(1)
		go func() {
			defer works.Done()
			if err := q.Work(ctx, handler, options); err != nil {
				t.Error(err)
			}
		}()
	}
	work()
	for range options.Concurrency {
		<-begun // the first has claimed
	}
	work()
	for range options.Concurrency {
		<-begun // and the second
	}
	if got := seen.calls(); got != 2 {
		t.Errorf("%d calls of Recover, want one and one for what was beyond its limit", got)
	}
	close(finish)
	for {
		s, err := q.Stats(ctx)
		ok(t, err)
		if s.Ready+s.Running == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	works.Wait()
	mu.Lock()
	defer mu.Unlock()
	if len(times) != n {
		t.Errorf("%d jobs of %d were handled", len(times), n)
	}
	for key, n := range times {
		if n != 1 {
			t.Errorf("job %v was handled %d times", key, n)
		}
	}

	// The program begins to work once more.
	left(t, q, 1)
	ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ok(t, q.Work(ctx, func(context.Context, Job) error { cancel(); return nil }, options))
	if got := seen.calls(); got != 3 {
		t.Errorf("%d calls of Recover in all, want 3", got)
	}
}

// Where ctx has ended already, Work does nothing, and the next one recovers.
func TestWorkEndsAtOnce(t *testing.T) {
	q := New(open(t))
	left(t, q, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ok(t, q.Work(ctx, func(context.Context, Job) error { return errors.New("called") }, WorkOptions{Grace: -1}))
	ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ok(t, q.Work(ctx, func(context.Context, Job) error { cancel(); return nil }, WorkOptions{}))
	if s, err := q.Stats(context.Background()); err != nil || s.Running+s.Ready != 0 {
		t.Errorf("%+v: %v", s, err)
	}
}
