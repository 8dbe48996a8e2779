package corpus

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/siblingsmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/siblingspg"
)

// ordered is the queue over runs.
type ordered[J any] interface {
	Claim(ctx context.Context, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	Requeue(ctx context.Context, jobs ...J) error
	Recover(ctx context.Context, limit int) (int, error)
}

// TestSiblings tells what becomes of an order by the other runs of it: those of the same call, and those that
// another session ends at the same moment.
func TestSiblings(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		siblings(t, b, siblingspg.New(b.DB), func(tx *sql.Tx) ordered[siblingspg.Job] { return siblingspg.New(b.DB).WithTx(tx) }, siblingspg.ErrLost)
	}, "siblings/postgresql.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		siblings(t, b, siblingsmy.New(b.DB), func(tx *sql.Tx) ordered[siblingsmy.Job] { return siblingsmy.New(b.DB).WithTx(tx) }, siblingsmy.ErrLost)
	}, "siblings/mysql.sql")
}

// siblings proves one server's package.
func siblings[J any](t *testing.T, b base, q ordered[J], within func(tx *sql.Tx) ordered[J], lost error) {
	ctx := t.Context()
	claim := func(order string) []J {
		t.Helper()
		b.run(t, "INSERT INTO orders (id) VALUES ("+order+")")
		b.run(t, "INSERT INTO runs (order_id) VALUES ("+order+"), ("+order+")")
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != 2 {
			t.Fatalf("%d jobs, %v", len(jobs), err)
		}
		return jobs
	}
	want := func(order, state string) {
		t.Helper()
		b.want(t, "SELECT state FROM orders WHERE id = "+order, state)
	}

	jobs := claim("1")
	good(t, q.Complete(ctx, jobs[0]))
	want("1", "open")
	good(t, q.Complete(ctx, jobs[1]))
	want("1", "closed")

	good(t, q.Complete(ctx, claim("2")...))
	want("2", "closed")

	claim("3")
	past := "'2001-01-01'"
	if b.engine != "postgresql" {
		past = "1"
	}
	b.run(t, "UPDATE runs SET till = "+past+" WHERE state = 'busy'")
	if n, err := q.Recover(ctx, 10); err != nil || n != 2 {
		t.Errorf("%d recovered, %v", n, err)
	}
	want("3", "closed")

	// Two sessions end one run each; the second waits for the order and then has to see what the first did.
	jobs = claim("4")
	tx, err := b.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	good(t, err)
	good(t, within(tx).Complete(ctx, jobs[0]))
	done := make(chan error, 1)
	go func() { done <- q.Complete(ctx, jobs[1]) }()
	select {
	case err := <-done:
		t.Errorf("the second did not wait: %v", err)
		done <- err
	case <-time.After(300 * time.Millisecond):
	}
	good(t, tx.Commit())
	good(t, <-done)
	want("4", "closed")

	// What is added is added once for a job that is named twice, with what the claim left, and for a late worker nothing is.
	jobs = claim("5")
	good(t, q.Requeue(ctx, jobs[0], jobs[0]))
	b.want(t, "SELECT count(*) FROM events WHERE what = 'back' AND mark IS NOT NULL", "1")
	if err := q.Requeue(ctx, jobs...); !errors.Is(err, lost) {
		t.Errorf("a job that was given back is given back again: %v", err)
	}
	b.want(t, "SELECT count(*) FROM events WHERE what = 'back' AND mark IS NOT NULL", "2")
}
