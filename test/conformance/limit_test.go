package conformance

import (
	"database/sql"
	"testing"
	"time"
)

// A claim that picks rows in a sub-select can be given a plan that runs the
// sub-select more than once, and then takes more rows than asked for. Such
// plans come with statistics that tell of fewer rows than there are. The two
// fixtures here are known to bring them about; TestFixturesOvershoot shows it
// with a claim that is written carelessly.

// manyArrive: the statistics say that nothing is ready, and a thousand jobs arrive.
func (t *table) manyArrive(tb testing.TB) {
	tb.Helper()
	t.family.freeze(tb, t)
	if t.shape.finish != "" {
		t.fill(tb, 1, 6_000)
		t.run(tb, "UPDATE jobs SET "+t.shape.finish)
	}
	t.analyze(tb)
	t.fill(tb, 6_001, 7_000)
}

// fewSeen: the statistics tell of a single row, and there are twenty more.
func (t *table) fewSeen(tb testing.TB) {
	tb.Helper()
	t.family.freeze(tb, t)
	t.fill(tb, 1, 1)
	t.analyze(tb)
	t.fill(tb, 2, 21)
}

// takes claims size jobs and proves that exactly so many were taken.
func (t *table) takes(tb testing.TB, q queue, size int) {
	tb.Helper()
	ctx := limited(tb, time.Minute)
	session, _, end, err := q.session(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	defer end()
	ready := t.count(tb, t.shape.ready)
	jobs, err := session.claim(ctx, size)
	if err != nil {
		tb.Fatal(err)
	}
	if want := min(size, ready); len(jobs) != want {
		tb.Errorf("a claim of %d returned %d jobs, want %d", size, len(jobs), want)
	}
	taken := ready - t.count(tb, t.shape.ready)
	switch s := t.strategy(); {
	case s == "hold" || s == "partition": // writes nothing
		if taken != 0 {
			tb.Errorf("a claim that only reads changed %d rows", taken)
		}
	case taken != len(jobs):
		tb.Errorf("a claim of %d returned %d jobs and changed %d rows", size, len(jobs), taken)
	}
}

// proveLimit: a claim takes what it was asked for, and never more.
func proveLimit(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 1500)
	x.analyze(t)
	for _, size := range []int{1, 2, 10, 99, 100, 101, 1000} {
		x.takes(t, x.q, size)
	}
	x.takes(t, x.q, 1000) // fewer are left
}

// proveStaleStatistics: the same when the statistics are wrong, and when the
// planner may not use what it would like best.
func proveStaleStatistics(t *testing.T, s *subject) {
	t.Run("many arrive", func(t *testing.T) {
		x := s.newTable(t)
		x.manyArrive(t)
		for _, size := range []int{10, 1, 100, 250} {
			x.takes(t, x.q, size)
		}
	})
	t.Run("few seen", func(t *testing.T) {
		x := s.newTable(t)
		x.fewSeen(t)
		x.takes(t, x.q, 1)
		x.takes(t, x.q, 3)
	})
	t.Run("forced plans", func(t *testing.T) {
		x := s.newTable(t)
		x.fewSeen(t)
		for _, settings := range s.family.forced {
			q := x.reconnect(t, settings...).q
			x.takes(t, q, 1)
			x.takes(t, q, 2)
		}
	})
}

// TestFixturesOvershoot shows that the fixtures bring about what they are for:
// a careless claim takes more than its limit on every PostgreSQL server; others
// run the sub-select once (tried).
func TestFixturesOvershoot(t *testing.T) {
	if testing.Short() {
		t.Skip("fills large tables")
	}
	for _, server := range live {
		if server.family != &postgresql || !server.up() {
			continue
		}
		s := &subject{server: server, pkg: emitted{name: "none", shape: "single", driver: "database/sql"}, shape: shapes["single"]}
		for _, f := range []struct {
			name, claim string
			fixture     func(*table, testing.TB)
			limit       int
		}{
			{
				"many arrive", "UPDATE jobs SET status = 'running' WHERE status = 'ready' AND id IN " +
					"(SELECT id FROM jobs WHERE status = 'ready' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED)",
				(*table).manyArrive, 10,
			},
			{
				"few seen", "UPDATE jobs SET status = 'running' WHERE id IN " +
					"(SELECT id FROM jobs WHERE status = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)",
				(*table).fewSeen, 1,
			},
		} {
			t.Run(server.name+"/"+f.name, func(t *testing.T) {
				x := s.bareTable(t)
				x.run(t, "CREATE INDEX ready ON jobs (id) WHERE status = 'ready'")
				f.fixture(x, t)
				n, err := affected(x.db, f.claim)
				if err != nil {
					t.Fatal(err)
				}
				if n <= f.limit {
					t.Errorf("took %d rows for a limit of %d; the fixture shows nothing", n, f.limit)
				}
			})
		}
	}
}

func affected(db *sql.DB, query string) (int, error) {
	result, err := db.Exec(query)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
