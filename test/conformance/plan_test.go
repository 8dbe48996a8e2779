package conformance

import (
	"slices"
	"testing"
	"time"
)

// provePlan: with the advised index a claim reads ready rows in the order of the
// queue: it neither sorts nor looks at finished rows.
func provePlan(t *testing.T, s *subject) {
	x := s.newTable(t)
	done := s.family.size() / 5 * 2
	if s.shape.finish != "" {
		x.fill(t, 1, done)
		x.run(t, "UPDATE jobs SET "+s.shape.finish)
	}
	x.fill(t, done+1, done/2*3)
	x.analyze(t)
	s.family.plans(t, x)
}

// proveSettleByKey: jobs are settled by their keys, however many run and
// whatever the statistics say of them. An index of running rows is small when
// they are collected, and looks cheaper than the key ever after.
func proveSettleByKey(t *testing.T, s *subject) {
	x := s.newTable(t)
	if hasStatistics(s) {
		s.family.freeze(t, x)
	}
	x.fill(t, 1, s.family.size())
	x.analyze(t)
	operations := []string{"Complete"}
	for _, name := range []string{"Requeue", "Extend"} {
		if s.method(name) {
			operations = append(operations, name)
		}
	}
	s.family.byKey(t, x, operations)
}

// settles settles jobs by the operation of that name, which must succeed.
func (t *table) settles(tb testing.TB, q queue, operation string, jobs []job) {
	tb.Helper()
	if err := q.settle(limited(tb, time.Minute), operation, jobs...); err != nil {
		tb.Fatal(err)
	}
}

// proveFlatUnderSnapshot: while a long transaction keeps dead rows from being
// cleaned up, the low bound keeps a claim as cheap as at the start. A queue
// that has not learnt the bound pays for every row that was ever taken.
func proveFlatUnderSnapshot(t *testing.T, s *subject) {
	const total = 20_000
	x := s.newTable(t)
	s.family.freeze(t, x)
	x.fill(t, 1, total)
	x.analyze(t)
	ctx := limited(t, 2*time.Minute)
	old, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Rollback() }()
	var n int
	if _, err := old.Exec("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
		t.Fatal(err)
	}
	if err := old.QueryRow("SELECT count(*) FROM jobs").Scan(&n); err != nil {
		t.Fatal(err)
	}

	spy, q := x.spyOn(t)
	var blocks []int
	for range total/100 - 5 {
		if err := q.complete(ctx, x.taken(t, q, 100)...); err != nil {
			t.Fatal(err)
		}
		for _, c := range spy.of(t, x, "Claim") {
			blocks = append(blocks, c.Plan.pickBlocks())
		}
	}
	// A full look now and then is part of the bargain, so the least of a few counts.
	first, last := slices.Min(blocks[1:6]), slices.Min(blocks[len(blocks)-5:])
	if last > 2*first {
		t.Errorf("a claim touched %d blocks at first and %d after %d jobs", first, last, total)
	}
	x.taken(t, x.open(spy.conn, "fresh"), 100)
	if fresh := spy.of(t, x, "Claim")[0].Plan.pickBlocks(); fresh < 2*last {
		t.Errorf("without the bound a claim touches %d blocks and with it %d; the fixture shows nothing", fresh, last)
	}
}
