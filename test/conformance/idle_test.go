package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// proveIdlePoll: looking for work where there is none writes nothing: no
// transaction id, no log, no page. That holds for whatever is called now and
// then or too late: for sweeps that find nothing, and for jobs that are lost.
func proveIdlePoll(t *testing.T, s *subject) {
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	if s.shape.finish != "" {
		x.fill(t, 1, 50)
		x.run(t, "UPDATE jobs SET "+s.shape.finish)
	}
	x.fill(t, 51, 51)
	var old []job
	x.inSession(t, func(q queue) {
		old = x.taken(t, q, 1)
		if err := q.complete(ctx, old...); err != nil {
			t.Fatal(err)
		}
	})
	x.analyze(t)
	for _, call := range x.idle(ctx, old) {
		t.Run(call.name, func(t *testing.T) {
			s.family.quiet(t, x, func(q queue) { call.call(t, q) })
		})
	}
}

// idleCall is a call that finds nothing to do.
type idleCall struct {
	name string
	call func(t *testing.T, q queue)
}

// idle lists what a worker may call when there is nothing to do; old are jobs
// that are settled already.
func (t *table) idle(ctx context.Context, old []job) []idleCall {
	var calls []idleCall
	nothing := func(name string, call func(q queue) (found int, err error)) {
		if name != "Claim" && !t.inside(name) {
			return
		}
		calls = append(calls, idleCall{name, func(tb *testing.T, q queue) {
			tb.Helper()
			if n, err := call(q); n != 0 || err != nil {
				tb.Fatalf("%s found %d rows, %v; there are none", name, n, err)
			}
		}})
	}
	lost := func(name string, call func(q queue) error) {
		nothing(name, func(q queue) (int, error) {
			err := call(q)
			if errors.Is(err, t.pkg.lost) {
				return 0, nil
			}
			return len(old), err
		})
	}
	nothing("Claim", func(q queue) (int, error) { jobs, err := q.claim(ctx, 10); return len(jobs), err })
	nothing("Recover", func(q queue) (int, error) { return q.sweep(ctx, "Recover", 10) })
	nothing("Redrive", func(q queue) (int, error) { return q.sweep(ctx, "Redrive", 10) })
	if t.inside("Purge") && t.q.v.MethodByName("Purge").Type().NumIn() == 3 { // where it knows how old rows are
		nothing("Purge", func(q queue) (int, error) { return q.purge(ctx, time.Hour, 10) })
	}
	lost("Complete", func(q queue) error { return q.complete(ctx, old...) })
	lost("Fail", func(q queue) error { return q.fail(ctx, old[0], errCause) })
	lost("Requeue", func(q queue) error { return q.requeue(ctx, 0, old...) })
	lost("Extend", func(q queue) error { return q.settle(ctx, "Extend", old...) })
	lost("CompleteAndClaim", func(q queue) error {
		jobs, err := q.completeAndClaim(ctx, old, 10)
		if len(jobs) > 0 {
			return fmt.Errorf("claimed %v", numbers(jobs))
		}
		return err
	})
	return calls
}

// inside reports whether a session has the method.
func (t *table) inside(method string) bool {
	if t.strategy() != "hold" {
		return t.q.has(method)
	}
	_, has := t.q.v.MethodByName("WithTx").Type().Out(0).MethodByName(method)
	return has
}

// quietRounds polls until the mark, which moves when the database writes, has
// stood still for a round. The server writes now and then for its own ends, and
// so do tests beside this one. A poll that writes does so every time: one quiet
// round is enough.
func (t *table) quietRounds(tb testing.TB, poll func(queue), mark string) {
	tb.Helper()
	t.db.SetMaxOpenConns(1)
	quiet := func() bool {
		was := collect[string](tb, t.db, mark)[0]
		for range 5 {
			t.inSession(tb, poll)
		}
		return collect[string](tb, t.db, mark)[0] == was
	}
	for deadline := time.Now().Add(20 * time.Second); !quiet(); {
		if time.Now().After(deadline) {
			tb.Fatal("every round of idle polls wrote something")
		}
	}
}
