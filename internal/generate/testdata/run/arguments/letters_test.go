package lettersq

import (
	"context"
	"database/sql"
	"testing"
)

// What an outcome says for itself takes the place of what the step to its state writes.
func TestOutcomes(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for range 3 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 3)
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	for _, err := range []error{q.Complete(ctx, jobs[0]), q.Bounced(ctx, "unknown", jobs[1]), q.Read(ctx, jobs[2])} {
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func(want int, query string) {
		t.Helper()
		var n sql.NullInt64
		if err := db.QueryRow(query).Scan(&n); err != nil || int(n.Int64) != want {
			t.Errorf("%s: %d, not %d: %v", query, n.Int64, want, err)
		}
	}
	count(3, "SELECT count(*) FROM letters WHERE state = 2")
	count(2, "SELECT count(*) FROM receipts WHERE letter_id IN (1, 3)")
	count(1, "SELECT count(*) FROM returns WHERE letter_id = 2 AND reason = 'unknown'")
	count(3, "SELECT (SELECT count(*) FROM receipts) + (SELECT count(*) FROM returns)")
}
