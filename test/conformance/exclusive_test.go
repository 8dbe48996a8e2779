package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// total is how many jobs the 16 workers drain.
func (s *subject) total() int {
	switch {
	case testing.Short():
		return 1_000
	case s.whole && s.family.slow && !s.clustered() && s.strategy() != "token":
		return s.jobs / 5
	case s.whole && !passesLocked(s) && !s.clustered():
		return s.jobs / 4 // workers take turns
	case s.whole:
		return s.jobs
	}
	return 2_000
}

// ledger is who holds which job and which are done, as the workers see it.
type ledger struct {
	mu     sync.Mutex
	holder map[int64]string
	done   map[int64]bool
}

func newLedger() *ledger { return &ledger{holder: map[int64]string{}, done: map[int64]bool{}} }

// take notes that a worker was given jobs; nobody may hold one of them, and none
// may be done.
func (l *ledger) take(worker string, jobs []job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range numbers(jobs) {
		if other := l.holder[n]; other != "" || l.done[n] {
			return fmt.Errorf("%s was given job %d, which %s holds; done: %t", worker, n, cmp.Or(other, "nobody"), l.done[n])
		}
		l.holder[n] = worker
	}
	return nil
}

// leave notes that nobody holds the jobs any more.
func (l *ledger) leave(jobs []job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range numbers(jobs) {
		delete(l.holder, n)
	}
}

// finish notes that the jobs are done and held no longer.
func (l *ledger) finish(jobs []job) {
	l.leave(jobs)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range numbers(jobs) {
		l.done[n] = true
	}
}

// held is how many jobs somebody holds.
func (l *ledger) held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.holder)
}

// finished is how many jobs are done.
func (l *ledger) finished() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.done)
}

// proveExclusive: 16 workers, on a cluster spread over all nodes, hold every job
// exactly once at a time, and every job is done exactly once in the end. Now and
// then a worker gives a job back.
func proveExclusive(t *testing.T, s *subject) {
	const workers = 16
	x := s.newTable(t)
	total := s.total()
	x.fill(t, 1, total)
	x.analyze(t)
	ctx, cancel := context.WithCancelCause(limited(t, 5*time.Minute))
	defer cancel(nil)
	nodes, seen := x.everyNode(t)
	l := newLedger()
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			name, node := fmt.Sprintf("w%d", w), nodes[w%len(nodes)]
			q := node.open(node.conn, name).sharded(w, workers)
			for i := 1; l.finished() < total && ctx.Err() == nil; i++ {
				n, err := l.round(ctx, q, name, i%10 == 0)
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
		t.Fatalf("%d of %d jobs are left: %v", total-l.finished(), total, context.Cause(ctx))
	}
	x.check(t, states{done: total})
	if s.shape.done == "" && x.count(t, everyRow) != 0 {
		t.Errorf("%d rows are left", x.count(t, everyRow))
	}
	seen.check(t, s)
}

// round has a worker take a batch, give one job back if it is told to, and
// complete the rest. It returns how many it was given.
func (l *ledger) round(ctx context.Context, q queue, worker string, giveBack bool) (int, error) {
	batch := 100
	if q.of.clustered() {
		batch = 10 // the more claims there are, the more meet
	}
	session, commit, end, err := q.session(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	var jobs []job
	err = q.of.again(ctx, func() (err error) {
		jobs, err = session.claim(ctx, batch)
		if err != nil && len(jobs) > 0 {
			return fmt.Errorf("a claim that failed returned %d jobs: %s", len(jobs), err.Error())
		}
		return err
	})
	if err != nil || len(jobs) == 0 {
		return 0, err
	}
	if len(jobs) > batch {
		return 0, fmt.Errorf("a claim of %d returned %d", batch, len(jobs))
	}
	if err := l.take(worker, jobs); err != nil {
		return 0, err
	}
	rest := jobs
	if giveBack && q.has("Requeue") {
		l.leave(jobs[:1])
		if err := q.of.again(ctx, func() error { return session.requeue(ctx, 0, jobs[0]) }); err != nil {
			return 0, err
		}
		rest = jobs[1:]
	}
	l.finish(rest) // before anybody can be given them wrongly
	if err := q.of.again(ctx, func() error { return session.complete(ctx, rest...) }); err != nil {
		return 0, err
	}
	return len(jobs), commit()
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
