package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// proveMovesRows: at any moment every job is in exactly one of the tables, with its
// parts or without, while workers finish, fail and abandon jobs, and while their
// transactions are broken off.
func proveMovesRows(t *testing.T, s *subject) {
	const workers = 8
	total := 600
	if testing.Short() {
		total = 100
	}
	x := s.newTable(t)
	x.fillParts(t, total)
	ctx, cancel := context.WithCancelCause(limited(t, 2*time.Minute))
	defer cancel(nil)
	var group, watch sync.WaitGroup
	ended := make(chan struct{})
	looks := 0
	watch.Go(func() {
		for running := true; running; looks++ {
			select {
			case <-ended:
				running = false
			case <-time.After(5 * time.Millisecond):
			}
			if err := x.whole(ctx, total); err != nil {
				cancel(err)
				return
			}
		}
	})
	for w := range workers {
		group.Go(func() {
			q := x.open(x.conn, fmt.Sprintf("w%d", w))
			for ctx.Err() == nil {
				left, err := x.endSome(ctx, q, w)
				if err != nil {
					cancel(err)
				}
				if left == 0 {
					return
				}
			}
		})
	}
	group.Wait()
	close(ended)
	watch.Wait()
	if ctx.Err() != nil {
		t.Fatal(context.Cause(ctx))
	}
	if looks < 5 {
		t.Errorf("the tables were looked at %d times", looks)
	}
	for name, want := range map[string]string{
		s.shape.rows: inDone + " OR " + inFailed, "parts": "place < 0",
		"finished": "note = 'done'", "dead": "status = 'failed' AND tries = 3",
		"taken": "ended IS NULL OR ended IN ('done', 'failed', 'recovered')",
	} {
		if n := collect[int](t, x.db, "SELECT count(*) FROM "+name+" WHERE NOT ("+want+")")[0]; n != 0 {
			t.Errorf("%d rows of %s are not %s", n, name, want)
		}
	}
	// Every finished job was finished by a claim that was recorded.
	if n := collect[int](t, x.db, "SELECT count(*) FROM finished WHERE NOT EXISTS (SELECT 1 FROM taken WHERE taken.job_id = finished.id AND taken.token = finished.token AND taken.ended = 'done')")[0]; n != 0 {
		t.Errorf("%d finished jobs have no claim that ended so", n)
	}
	for _, name := range []string{"finished", "dead"} {
		if n := collect[int](t, x.db, "SELECT count(*) FROM "+name)[0]; n == 0 {
			t.Errorf("no job came to %s", name)
		}
	}
}

// fillParts adds jobs with two parts each.
func (t *table) fillParts(tb testing.TB, total int) {
	tb.Helper()
	t.fill(tb, 1, total)
	for place := range 2 {
		t.run(tb, fmt.Sprintf("INSERT INTO parts (job_id, place) SELECT id, %d FROM jobs", place))
	}
	t.analyze(tb)
}

// unended is the condition of jobs that have not ended.
const unended = inReady + " OR " + inRunning

// whole reports what is wrong with the tables as one statement sees them.
func (t *table) whole(ctx context.Context, total int) error {
	var rows, jobs, parts int
	err := t.db.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT n), (SELECT count(*) FROM parts) - 2 * count(CASE WHEN "+unended+" THEN 1 END) "+
		"FROM "+t.shape.rows).Scan(&rows, &jobs, &parts)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	case rows != total || jobs != total:
		return fmt.Errorf("%d rows of %d jobs are in the tables, want %d of each", rows, jobs, total)
	case parts != 0:
		return fmt.Errorf("there are %d parts more than two for each job that has not ended", parts)
	}
	return nil
}

// endSome has a worker take jobs and end them in one way or another. It returns how many
// jobs are left.
func (t *table) endSome(ctx context.Context, q queue, worker int) (left int, err error) {
	jobs, err := q.claim(ctx, 10)
	if err != nil {
		return 1, ignoreRetryable(t, err)
	}
	if len(jobs) == 0 {
		// What others abandoned comes back.
		if worker == 0 {
			if _, err := t.db.ExecContext(ctx, "UPDATE "+t.claims()+" SET lease_till = "+t.earlierLease()+" WHERE lease_till IS NOT NULL"); err != nil {
				return 1, ignoreRetryable(t, err)
			}
		}
		if _, err := q.sweep(ctx, "Recover", 7); err != nil {
			return 1, ignoreRetryable(t, err)
		}
		return left, t.db.QueryRowContext(ctx, "SELECT count(*) FROM "+t.shape.rows+" WHERE "+unended).Scan(&left)
	}
	err = func() error {
		switch rand.N(6) {
		case 0: // abandoned
			return nil
		case 1:
			for _, j := range jobs {
				if err := q.fail(ctx, j, errCause); err != nil {
					return err
				}
			}
			return nil
		case 2: // broken off, at whatever point that happens to be
			short, end := context.WithTimeout(ctx, time.Duration(rand.N(4000))*time.Microsecond)
			defer end()
			_ = q.complete(short, jobs...)
			return nil
		case 3: // undone by its caller
			x, err := t.begin(ctx)
			if err != nil {
				return err
			}
			err = q.withTx(x.any).complete(ctx, jobs...)
			return errors.Join(err, x.rollback())
		case 4: // twice in one call
			return q.complete(ctx, append(jobs, jobs...)...)
		}
		next, err := q.completeAndClaim(ctx, jobs, 3)
		if err != nil {
			return err
		}
		return q.requeue(ctx, 0, next...)
	}()
	if errors.Is(err, t.pkg.lost) {
		err = nil // recovered meanwhile
	}
	return 1, ignoreRetryable(t, err)
}

// ignoreRetryable leaves out what says that nothing was done, and may be tried again.
func ignoreRetryable(t *table, err error) error {
	if err == nil || t.pkg.retryable(err) {
		return nil
	}
	return err
}

// earlierLease is a time that has passed, as the lease keeps it.
func (t *table) earlierLease() string {
	if t.family.oneWriter {
		return "0"
	}
	return "'2001-01-01 00:00:00'"
}

// proveLateWorkerMovesNothing: who comes when another has the job writes no table.
func proveLateWorkerMovesNothing(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fillParts(t, 3)
	ctx := limited(t, time.Minute)
	late := x.taken(t, x.q, 3)
	x.expire(t)
	if n, err := x.q.sweep(ctx, "Recover", 10); n != 3 || err != nil {
		t.Fatalf("recovered %d, %v", n, err)
	}
	held := x.taken(t, x.q, 3)
	for name, settle := range map[string]func() error{
		"Complete": func() error { return x.q.complete(ctx, late...) },
		"Fail":     func() error { return x.q.fail(ctx, late[0], errCause) },
		"Requeue":  func() error { return x.q.requeue(ctx, 0, late...) },
		"Extend":   func() error { return x.q.settle(ctx, "Extend", late...) },
		"CompleteAndClaim": func() error {
			_, err := x.q.completeAndClaim(ctx, late, 1)
			return err
		},
	} {
		if err := settle(); !errors.Is(err, s.pkg.lost) {
			t.Errorf("%s of a worker that came late: %v", name, err)
		}
		if err := x.whole(ctx, 3); err != nil {
			t.Errorf("after a late %s %v", name, err)
		}
	}
	x.check(t, states{running: 3})
	for table, want := range map[string]int{"parts": 6, "taken": 6} {
		if n := collect[int](t, x.db, "SELECT count(*) FROM "+table)[0]; n != want {
			t.Errorf("late workers left %d rows in %s, want %d", n, table, want)
		}
	}
	// One claim that is lost among others: the others end, the lost one writes nothing.
	if err := x.q.complete(ctx, held[0], late[1], held[2]); !errors.Is(err, s.pkg.lost) {
		t.Errorf("a lost claim among others: %v", err)
	}
	x.check(t, states{running: 1, done: 2})
	if n := collect[int](t, x.db, "SELECT count(*) FROM parts")[0]; n != 2 {
		t.Errorf("%d parts are left, want the 2 of the job that runs", n)
	}
	// The claim that is lost and the one that is good, of one job.
	if err := x.q.complete(ctx, late[1], held[1]); err != nil {
		t.Errorf("a job whose claim is good, and was lost before: %v", err)
	}
	x.check(t, states{done: 3})
}
