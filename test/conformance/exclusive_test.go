package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// total is how many jobs the 16 workers drain.
func (s *subject) total() int {
	switch {
	case testing.Short():
		return 1_000
	case s.whole && s.family.slow && s.strategy() != "token":
		return s.jobs / 5
	case s.whole:
		return s.jobs
	}
	return 2_000
}

// proveExclusive: 16 workers hold every job exactly once at a time, and every
// job is done exactly once in the end. Now and then a worker gives a job back.
func proveExclusive(t *testing.T, s *subject) {
	const workers, batch = 16, 100
	x := s.newTable(t)
	total := s.total()
	x.fill(t, 1, total)
	x.analyze(t)
	ctx, cancel := context.WithCancelCause(limited(t, 5*time.Minute))
	defer cancel(nil)

	var (
		holder   = make([]atomic.Int32, total+1)
		finished = make([]atomic.Int32, total+1)
		left     atomic.Int64
	)
	left.Store(int64(total))
	round := func(q queue, worker int32, giveBack bool) (int, error) {
		session, commit, end, err := q.session(ctx)
		if err != nil {
			return 0, err
		}
		defer end()
		jobs, err := session.claim(ctx, batch)
		if err != nil || len(jobs) == 0 {
			return 0, err
		}
		if len(jobs) > batch {
			return 0, fmt.Errorf("a claim of %d returned %d", batch, len(jobs))
		}
		for _, j := range jobs {
			if !holder[j.n()].CompareAndSwap(0, worker) {
				return 0, fmt.Errorf("worker %d was given job %d, which worker %d holds", worker, j.n(), holder[j.n()].Load())
			}
		}
		if giveBack && q.has("Requeue") {
			holder[jobs[0].n()].Store(0)
			if err := session.requeue(ctx, 0, jobs[0]); err != nil {
				return 0, err
			}
			jobs = jobs[1:]
		}
		for _, j := range jobs {
			if finished[j.n()].Add(1) != 1 {
				return 0, fmt.Errorf("job %d was done twice", j.n())
			}
			holder[j.n()].Store(0)
		}
		if err := session.complete(ctx, jobs...); err != nil {
			return 0, err
		}
		if err := commit(); err != nil {
			return 0, err
		}
		left.Add(-int64(len(jobs)))
		return len(jobs), nil
	}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			q := x.open(x.conn, fmt.Sprintf("w%d", w)).sharded(w, workers)
			for i := 1; left.Load() > 0 && ctx.Err() == nil; i++ {
				n, err := round(q, int32(w+1), i%10 == 0)
				switch {
				case err != nil:
					cancel(err)
				case n == 0:
					time.Sleep(2 * time.Millisecond) // the rest is in other hands
				}
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%d of %d jobs are left: %v", left.Load(), total, context.Cause(ctx))
	}
	for n := 1; n <= total; n++ {
		if finished[n].Load() != 1 {
			t.Fatalf("job %d was done %d times", n, finished[n].Load())
		}
	}
	x.check(t, states{done: total})
	if s.shape.done == "" && x.count(t, "true") != 0 {
		t.Errorf("%d rows are left", x.count(t, "true"))
	}
}

// proveOrder: one worker gets the jobs in the order of the queue, over claims
// of any size.
func proveOrder(t *testing.T, s *subject) {
	const total = 230
	x := s.newTable(t)
	x.fill(t, 1, total)
	ctx := limited(t, time.Minute)
	var got []int64
	for _, size := range []int{1, 7, 1, 100, 13, 1000} {
		session, commit, end, err := x.q.session(ctx)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := session.claim(ctx, size)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, numbers(jobs)...)
		if err := session.complete(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
		if err := commit(); err != nil {
			t.Fatal(err)
		}
		end()
	}
	if len(got) != total || !slices.IsSorted(got) {
		t.Errorf("%d jobs came as %v, want all %d in order", len(got), got, total)
	}
}
