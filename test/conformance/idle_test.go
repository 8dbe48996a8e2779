package conformance

import (
	"testing"
	"time"
)

// proveIdlePoll: looking for work where there is none writes nothing: no
// transaction id, no log, no page.
func proveIdlePoll(t *testing.T, s *subject) {
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	if s.shape.finish != "" {
		x.fill(t, 1, 50)
		x.run(t, "UPDATE jobs SET "+s.shape.finish)
	}
	x.analyze(t)
	poll := func(q queue) {
		t.Helper()
		if jobs, err := q.claim(ctx, 10); len(jobs) != 0 || err != nil {
			t.Fatalf("an idle poll returned %v, %v", numbers(jobs), err)
		}
	}

	if !s.sqlite() {
		x.within(t, false, func(tx tx, q queue) {
			poll(q)
			var unassigned bool
			if err := tx.queryRow("SELECT txid_current_if_assigned() IS NULL", &unassigned); err != nil {
				t.Fatal(err)
			}
			if !unassigned {
				t.Error("an idle poll took a transaction id")
			}
		})
	}

	// The server writes now and then for its own ends, and so do tests beside
	// this one. A poll that writes does so every time: one quiet round is enough.
	quiet := func() bool {
		before := x.written(t)
		for range 5 {
			x.inSession(t, poll)
		}
		return x.written(t) == before
	}
	for deadline := time.Now().Add(20 * time.Second); !quiet(); {
		if time.Now().After(deadline) {
			t.Fatal("every round of idle polls wrote something")
		}
	}
}

// written returns a mark that moves when the database writes.
func (t *table) written(tb testing.TB) string {
	tb.Helper()
	query := "SELECT pg_current_wal_insert_lsn()::text"
	if t.sqlite() {
		query = "PRAGMA data_version" // of this connection: moves when another one commits
	}
	t.db.SetMaxOpenConns(1)
	var mark string
	if err := t.db.QueryRow(query).Scan(&mark); err != nil {
		tb.Fatal(err)
	}
	return mark
}
