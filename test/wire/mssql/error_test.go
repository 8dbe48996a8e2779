package mssql_test

import (
	"context"
	"errors"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/qgen-dev/qgen/test/conformance/gen/holdms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlems2019"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

// claim expects a claim of three jobs by w1.
func claim(t testing.TB) tds.Response {
	return statement(check.Text(t, "singlems2019", "claim"), number(3), varchar("w1"))
}

// many expects jobs to be added, in a transaction.
func many(t testing.TB) tds.Response {
	return statement(check.Text(t, "singlems2019", "enqueue_many"), varchar("[[6]]"))
}

func deadlock(r tds.Response) tds.Response {
	return r.Error(1205, 51, 13, "Transaction (Process ID 52) was deadlocked on lock resources")
}

// transient are the errors of which nothing is left behind.
var transient = []int32{1205, 1222, 3960, 601, 41302, 41305, 41325, 41301, 40501, 49918, 49919, 49920, 10928, 10929}

// TestTriedAgain: what a statement left nothing of is tried again.
func TestTriedAgain(t *testing.T) {
	for _, n := range transient {
		server, db := start(t)
		server.Expect(claim(t).Error(n, 1, 16, "busy"), claim(t).Rows(singleColumns, singleRow(7)))
		jobs, err := singlems2019.New(db, singlems2019.WithWorker("w1")).Claim(t.Context(), 3)
		if len(jobs) != 1 || err != nil {
			t.Errorf("%d: %+v, %v", n, jobs, err)
		}
	}
}

// TestTriedFiveTimes, and then the error says so.
func TestTriedFiveTimes(t *testing.T) {
	server, db := start(t)
	for range 5 {
		server.Expect(deadlock(claim(t)))
	}
	_, err := singlems2019.New(db, singlems2019.WithWorker("w1")).Claim(t.Context(), 3)
	var refused mssql.Error
	if !errors.As(err, &refused) || refused.Number != 1205 || !singlems2019.IsRetryable(err) {
		t.Errorf("after five deadlocks: %v, retryable %t", err, singlems2019.IsRetryable(err))
	}
}

// TestErrorAfterRows: rows that came before an error are no jobs: the server undid
// what they tell of.
func TestErrorAfterRows(t *testing.T) {
	server, db := start(t)
	q := singlems2019.New(db, singlems2019.WithWorker("w1"))
	server.Expect(
		deadlock(claim(t).Rows(singleColumns, singleRow(7), singleRow(8))),
		claim(t).Rows(singleColumns, singleRow(9)),
		claim(t).Rows(singleColumns, singleRow(10)).Error(8152, 1, 16, "String or binary data would be truncated."),
	)
	jobs, err := q.Claim(t.Context(), 3)
	if len(jobs) != 1 || jobs[0].ID != 9 || err != nil {
		t.Errorf("%+v, %v; want job 9 alone", jobs, err)
	}
	jobs, err = q.Claim(t.Context(), 3)
	if len(jobs) != 0 || err == nil || singlems2019.IsRetryable(err) {
		t.Errorf("%+v, %v; want an error that comes again", jobs, err)
	}
}

// TestTransactionTriedAgain: a transaction is tried again as a whole.
func TestTransactionTriedAgain(t *testing.T) {
	const pkg = "singlems2019"
	server, db := start(t)
	q := singlems2019.New(db, singlems2019.WithWorker("w1"))
	server.Expect(
		tds.Begin(tds.ReadCommitted), deadlock(many(t)), // which ends the transaction
		tds.Begin(tds.ReadCommitted), many(t).Error(1222, 1, 16, "lock"), tds.Rollback(),
		tds.Begin(tds.ReadCommitted), many(t).Error(3960, 1, 16, "snapshot"),
		tds.Begin(tds.ReadCommitted), many(t).Rows(bigKey, tds.Row{12}), tds.Commit().Error(41305, 1, 16, "validation").Abort(),
		tds.Begin(tds.ReadCommitted), many(t).Rows(bigKey, tds.Row{13}), tds.Commit(),
	)
	keys, err := q.EnqueueMany(t.Context(), []singlems2019.NewJob{{N: 6}})
	check.Err(t, err)
	check.Equal(t, keys, []singlems2019.Key{13})

	complete := statement(check.Text(t, pkg, "complete"), varchar(`[[7,1,"w1"]]`))
	server.Expect(
		tds.Begin(tds.ReadCommitted), complete.Rows(bigKey, tds.Row{7}), deadlock(claim(t)),
		tds.Begin(tds.ReadCommitted), complete.Rows(bigKey, tds.Row{7}), claim(t).Rows(singleColumns, singleRow(8)), tds.Commit(),
	)
	jobs, err := q.CompleteAndClaim(t.Context(), []singlems2019.Job{{ID: 7, Tries: 1, Worker: "w1"}}, 3)
	if len(jobs) != 1 || err != nil {
		t.Errorf("%+v, %v", jobs, err)
	}
}

// TestCallersTransactionIsNotTriedAgain: the caller is told instead.
func TestCallersTransactionIsNotTriedAgain(t *testing.T) {
	server, db := start(t)
	server.Expect(tds.Begin(tds.SessionIsolation), deadlock(claim(t)))
	tx, err := db.BeginTx(t.Context(), nil)
	check.Err(t, err)
	jobs, err := singlems2019.New(tx, singlems2019.WithWorker("w1")).Claim(t.Context(), 3)
	if len(jobs) != 0 || !singlems2019.IsRetryable(err) {
		t.Errorf("%+v, %v", jobs, err)
	}
	_ = tx.Rollback() // the server has done that
}

// TestLost: what may have happened is not repeated, and the caller may.
func TestLost(t *testing.T) {
	rows := func(r tds.Response) tds.Response { return r.Rows(singleColumns, singleRow(7)) }
	const failover = 40197
	for _, test := range []struct {
		name   string
		script []tds.Response
		call   func(context.Context, *singlems2019.Queue) error
	}{
		{"before the answer", []tds.Response{claim(t).Break()}, claimThree},
		{"dropped before the answer", []tds.Response{claim(t).Reset()}, claimThree},
		{"in the middle of the rows", []tds.Response{rows(claim(t)).Break()}, claimThree},
		{"dropped in the middle of the rows", []tds.Response{rows(claim(t)).After(20 * time.Millisecond).Reset()}, claimThree},
		{"the server goes down", []tds.Response{claim(t).Error(failover, 1, 20, "The service has encountered an error")}, claimThree},
		{"the server goes down after rows", []tds.Response{rows(claim(t)).Error(failover, 1, 20, "The service has encountered an error")}, claimThree},
		{"at BEGIN", []tds.Response{tds.Begin(tds.ReadCommitted).Break()}, addOne},
		{"in the transaction", []tds.Response{tds.Begin(tds.ReadCommitted), many(t).Break()}, addOne},
		{"at COMMIT", []tds.Response{tds.Begin(tds.ReadCommitted), many(t).Rows(bigKey, tds.Row{1}), tds.Commit().Break()}, addOne},
		{"dropped at COMMIT", []tds.Response{tds.Begin(tds.ReadCommitted), many(t).Rows(bigKey, tds.Row{1}), tds.Commit().Reset()}, addOne},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, db := start(t)
			server.Expect(test.script...)
			err := test.call(t.Context(), singlems2019.New(db, singlems2019.WithWorker("w1")))
			if err == nil || !singlems2019.IsRetryable(err) {
				t.Errorf("IsRetryable(%v) is false", err)
			}
		})
	}
}

func claimThree(ctx context.Context, q *singlems2019.Queue) error {
	jobs, err := q.Claim(ctx, 3)
	if err != nil && len(jobs) > 0 {
		return errors.New("jobs came beside an error")
	}
	return err
}

func addOne(ctx context.Context, q *singlems2019.Queue) error {
	keys, err := q.EnqueueMany(ctx, []singlems2019.NewJob{{N: 6}})
	if err != nil && len(keys) > 0 {
		return errors.New("keys came beside an error")
	}
	return err
}

// TestHoldLost: a COMMIT without an answer may have happened.
func TestHoldLost(t *testing.T) {
	const pkg = "holdms2019"
	server, db := start(t)
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "claim"), number(1), varchar("[]")).Rows(holdColumns, tds.Row{1, 10}),
		statement(check.Text(t, pkg, "complete"), varchar("[[1]]")).Rows(bigKey, tds.Row{1}),
		tds.Commit().Break(),
	)
	hold, err := holdms2019.New(db).Hold(t.Context())
	check.Err(t, err)
	defer hold.Close()
	jobs, err := hold.Claim(t.Context(), 1)
	check.Err(t, err)
	check.Err(t, hold.Complete(t.Context(), jobs...))
	if err := hold.Commit(t.Context()); !holdms2019.IsRetryable(err) {
		t.Errorf("IsRetryable(%v) is false", err)
	}
}

// TestRefused: other errors of the server come again, so nobody should try.
func TestRefused(t *testing.T) {
	for _, n := range []int32{102, 208, 547, 650, 1934, 2627, 8003, 8152} {
		server, db := start(t)
		server.Expect(claim(t).Error(n, 1, 16, "no"))
		err := claimThree(t.Context(), singlems2019.New(db, singlems2019.WithWorker("w1")))
		if err == nil || singlems2019.IsRetryable(err) {
			t.Errorf("%d: IsRetryable(%v) is true", n, err)
		}
	}
}

// TestContext: a context that is over ends an operation, which is neither tried
// again nor worth it.
func TestContext(t *testing.T) {
	cancelled := func(t *testing.T, after time.Duration) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		time.AfterFunc(after, cancel)
		return ctx
	}
	deadline := func(t *testing.T, after time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		t.Cleanup(cancel)
		return ctx
	}
	for _, test := range []struct {
		name   string
		ctx    func(*testing.T, time.Duration) context.Context
		why    error
		script []tds.Response
		call   func(context.Context, *singlems2019.Queue) error
	}{
		{"cancelled before the answer", cancelled, context.Canceled, []tds.Response{claim(t).After(time.Hour)}, claimThree},
		{"cancelled after rows", cancelled, context.Canceled, []tds.Response{claim(t).Rows(singleColumns, singleRow(7)).After(time.Hour)}, claimThree},
		{"late before the answer", deadline, context.DeadlineExceeded, []tds.Response{claim(t).After(time.Hour)}, claimThree},
		{"late after rows", deadline, context.DeadlineExceeded, []tds.Response{claim(t).Rows(singleColumns, singleRow(7)).After(time.Hour)}, claimThree},
		{"late in a transaction", deadline, context.DeadlineExceeded, []tds.Response{tds.Begin(tds.ReadCommitted), many(t).After(time.Hour)}, addOne},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, db := start(t)
			server.Expect(test.script...)
			err := test.call(test.ctx(t, 50*time.Millisecond), singlems2019.New(db, singlems2019.WithWorker("w1")))
			if !errors.Is(err, test.why) || singlems2019.IsRetryable(err) {
				t.Errorf("%v, retryable %t; want %v", err, singlems2019.IsRetryable(err), test.why)
			}
		})
	}
}

// TestOverWhileTryingAgain: the pause between two tries ends with the context, and
// the error tells what went wrong.
func TestOverWhileTryingAgain(t *testing.T) {
	server, db := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.Handle(func(tds.Request) tds.Response {
		cancel()
		return tds.Answer().Error(1222, 1, 16, "lock")
	})
	err := claimThree(ctx, singlems2019.New(db))
	if err == nil {
		t.Error("there is no error")
	}
}

// TestIdleConnectionBroke: a connection of the pool that is gone costs an error at
// most, and what follows works.
func TestIdleConnectionBroke(t *testing.T) {
	server, db := start(t)
	q := singlems2019.New(db, singlems2019.WithWorker("w1"))
	server.Expect(claim(t).Rows(singleColumns), claim(t).Rows(singleColumns, singleRow(7)))
	check.Err(t, claimThree(t.Context(), q))
	server.Break()
	if err := claimThree(t.Context(), q); err != nil && !singlems2019.IsRetryable(err) {
		t.Errorf("IsRetryable(%v) is false", err)
	} else if err == nil {
		return // the pool took a new connection
	}
	check.Err(t, claimThree(t.Context(), q))
}
