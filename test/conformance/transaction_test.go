package conformance

import (
	"testing"
	"time"
)

// within runs fn in a transaction of the caller and ends it.
func (t *table) within(tb testing.TB, commit bool, fn func(x tx, q queue)) {
	tb.Helper()
	x, err := t.begin(limited(tb, time.Minute))
	if err != nil {
		tb.Fatal(err)
	}
	end := x.rollback
	if commit {
		end = x.commit
	}
	defer func() {
		if err := end(); err != nil {
			tb.Error(err)
		}
	}()
	fn(x, t.q.withTx(x.any))
}

// proveRollback: what a transaction claimed is free again when it rolls back;
// until then nobody else gets it.
func proveRollback(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 6)
	ctx := limited(t, time.Minute)
	x.within(t, false, func(_ tx, q queue) {
		mine := x.taken(t, q, 3)
		if !passesLocked(s) {
			return // others wait, or have to be kept apart otherwise
		}
		session, _, end, err := x.q.session(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		others, err := session.claim(ctx, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(others) != 3 || others[0].n() != mine[2].n()+1 {
			t.Errorf("another worker got %v beside %v, want the other 3", numbers(others), numbers(mine))
		}
		if session.has("Requeue") {
			if err := session.requeue(ctx, 0, others...); err != nil {
				t.Fatal(err)
			}
		}
	})
	switch {
	case s.strategy() == "pop" && passesLocked(s):
		x.check(t, states{ready: 3}) // the other worker's are gone
		return
	case s.method("Requeue") || s.strategy() == "hold" || s.strategy() == "partition" || !passesLocked(s):
		x.check(t, states{ready: 6})
	}
	x.inSession(t, func(q queue) {
		if got := numbers(x.taken(t, q, 6)); got[0] != 1 || got[5] != 6 {
			t.Errorf("after the rollback the jobs are %v, want 1 to 6", got)
		}
	})
}

// proveJoinsTransaction: what is done in the caller's transaction is seen when
// it commits, and not before.
func proveJoinsTransaction(t *testing.T, s *subject) {
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	add := func(tx tx, q queue, n int64) {
		t.Helper()
		if s.strategy() == "hold" {
			q = x.open(tx.any, "w0")
		}
		if _, err := q.call(ctx, "Enqueue", q.newJob(n)); err != nil {
			t.Fatal(err)
		}
	}
	x.within(t, true, func(tx tx, q queue) {
		add(tx, q, 1)
		x.check(t, states{})
	})
	x.check(t, states{ready: 1})
	x.within(t, false, func(tx tx, q queue) { add(tx, q, 2) })
	x.check(t, states{ready: 1})
	for _, commit := range []bool{false, true} {
		x.within(t, commit, func(tx tx, q queue) {
			if err := q.complete(ctx, x.taken(t, q, 1)...); err != nil {
				t.Fatal(err)
			}
			x.check(t, states{ready: 1})
		})
	}
	x.check(t, states{done: 1})
}

// proveRetryable: an error that asks for the same work once more is recognised.
func proveRetryable(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 4)
	retryable := func(what string, err error) {
		t.Helper()
		if err == nil || !s.pkg.retryable(err) {
			t.Errorf("%s: IsRetryable(%v) is false", what, err)
		}
	}
	s.family.conflicts(t, x, retryable)
}

// deadlock has two transactions complete the same two jobs, each in another
// order.
func (t *table) deadlock(tb testing.TB, retryable func(string, error)) {
	tb.Helper()
	if !canComplete(t.subject) || t.strategy() == "hold" {
		return
	}
	ctx := limited(tb, time.Minute)
	two := t.taken(tb, t.q, 2)
	var txs [2]tx
	for i := range txs {
		var err error
		if txs[i], err = t.begin(ctx); err != nil {
			tb.Fatal(err)
		}
		if err := t.q.withTx(txs[i].any).complete(ctx, two[i]); err != nil {
			tb.Fatal(err)
		}
	}
	errs := make(chan error, 2)
	for i := range txs {
		go func() {
			err := t.q.withTx(txs[i].any).complete(ctx, two[1-i])
			_ = txs[i].rollback()
			errs <- err
		}()
	}
	first, second := <-errs, <-errs
	if first == nil {
		first = second
	}
	retryable("deadlock", first)
}
