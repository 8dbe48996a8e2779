package conformance

import (
	"testing"
	"time"
)

// This file proves that workers and producers do not stand in each other's way.

// holding runs fn while a claim of n jobs is open: taken in a transaction that
// has not ended.
func (t *table) holding(tb testing.TB, n int, fn func(q queue, jobs []job)) {
	tb.Helper()
	ctx := limited(tb, time.Minute)
	if t.strategy() == "hold" {
		session, _, end, err := t.q.session(ctx)
		if err != nil {
			tb.Fatal(err)
		}
		defer end()
		fn(session, t.taken(tb, session, n))
		return
	}
	x, err := t.begin(ctx, "read committed")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := x.rollback(); err != nil {
			tb.Error(err)
		}
	}()
	q := t.q.withTx(x.any)
	fn(q, t.taken(tb, q, n))
}

// proveLocksItsOwnRows: a claim locks what it returns and nothing else.
func proveLocksItsOwnRows(t *testing.T, s *subject) {
	const total, n = 500, 3
	x := s.newTable(t)
	if s.shape.finish != "" {
		x.fill(t, 1, total)
		x.run(t, "UPDATE jobs SET "+s.shape.finish)
	}
	x.fill(t, total+1, 2*total)
	x.analyze(t)
	if locked := s.family.locked(t, x); locked != 0 {
		t.Fatalf("%d rows are locked before anybody did anything", locked)
	}
	x.holding(t, n, func(queue, []job) {
		if locked := s.family.locked(t, x); locked != n {
			t.Errorf("a claim of %d rows locks %d", n, locked)
		}
	})
}

// proveSettlesBesideOthers: jobs are settled by their keys without waiting for
// rows that others hold, be they many.
func proveSettlesBesideOthers(t *testing.T, s *subject) {
	const part = 1000
	x := s.newTable(t)
	x.fill(t, 1, 3*part)
	x.analyze(t)
	ctx := limited(t, time.Minute)
	mine := x.reconnect(t, s.family.impatient...)
	session, commit, end, err := mine.q.session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	jobs := x.taken(t, session, part)
	if s.strategy() == "partition" {
		// Whose rows are whose is no matter of locks: the others hold what they settle.
		other, err := x.begin(ctx, "read committed")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.rollback() }()
		if err := x.q.withTx(other.any).complete(ctx, jobs[:part/2]...); err != nil {
			t.Fatal(err)
		}
		if err := session.complete(ctx, jobs[part/2:]...); err != nil {
			t.Errorf("beside %d rows that another settles: %v", part/2, err)
		}
		return
	}
	x.holding(t, part, func(queue, []job) {
		for _, name := range []string{"Extend", "Requeue"} {
			if s.method(name) {
				x.settles(t, session, name, jobs[:part/2])
				if name == "Requeue" {
					jobs = jobs[part/2:]
				}
			}
		}
		if err := session.complete(ctx, jobs...); err != nil {
			t.Errorf("beside %d rows that another holds: %v", part, err)
		}
		if err := commit(); err != nil {
			t.Error(err)
		}
	})
}

// proveProducersGoOn: jobs are added while a claim is open.
func proveProducersGoOn(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 100, 114)
	x.fill(t, 116, 130)
	x.analyze(t)
	ctx := limited(t, time.Minute)
	producer := x.reconnect(t, s.family.impatient...)
	x.holding(t, 10, func(queue, []job) {
		for _, n := range []int64{1, 115, 200} { // before, among and behind those that are there
			if _, err := producer.q.call(ctx, "Enqueue", producer.q.newJob(n)); err != nil {
				t.Errorf("job %d cannot be added beside an open claim: %v", n, err)
			}
		}
	})
}

// proveSettings: a package works whatever else the DSN says.
func proveSettings(t *testing.T, s *subject) {
	for name, settings := range s.family.settings {
		t.Run(name, func(t *testing.T) {
			other := *s
			other.settings = settings
			for _, p := range []property{
				{"order", nil, proveOrder},
				{"late worker", canReclaim, proveLateWorker},
				{"given back", tellsClaimsApart, proveGivenBack},
				{"lost keys", canComplete, proveLostKeys},
				{"fail", canFail, proveFail},
				{"extend and recover", canExtend, proveExtendAndRecover},
				{"enqueue", nil, proveEnqueue},
				{"purge", canPurge, provePurge},
			} {
				if p.applies == nil || p.applies(&other) {
					t.Run(p.name, func(t *testing.T) { p.prove(t, &other) })
				}
			}
		})
	}
}

// lockedBySkipping counts the rows that are passed over.
func lockedBySkipping(tb testing.TB, t *table) int {
	tb.Helper()
	free, err := t.db.Begin()
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = free.Rollback() }()
	rows, err := free.Query("SELECT n FROM jobs FOR UPDATE SKIP LOCKED")
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	locked := collect[int](tb, t.db, "SELECT count(*) FROM jobs")[0]
	for rows.Next() {
		locked--
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return locked
}
