package oraclequeues_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sijms/go-ora/v2/network"

	"github.com/qgen-dev/qgen/test/conformance/gen/dueora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/singleora19"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

var heldJob = singleora19.Job{ID: 7, Tries: 1, Worker: "w1"}

// heldArgs are the arguments by which heldJob is settled.
var heldArgs = []any{[]int64{7}, []int64{1}, []string{"w1"}}

// undone are errors after which nothing is left of the statement.
var undone = map[int]string{
	60:    "deadlock detected while waiting for resource",
	54:    "resource busy and acquire with NOWAIT specified or timeout expired",
	8177:  "can't serialize access for this transaction",
	30006: "resource busy; acquire with WAIT timeout expired",
}

// wantFailed demands an error of an operation that names it, and whether the same
// may be tried again.
func wantFailed(t testing.TB, err error, op string, retryable bool) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "singleora19: "+op+": ") {
		t.Fatalf("the error is %v, want one of %s", err, op)
	}
	if got := singleora19.IsRetryable(err); got != retryable {
		t.Errorf("IsRetryable(%v) is %t", err, got)
	}
}

// TestTriedAgain sends a transaction again as a whole.
func TestTriedAgain(t *testing.T) {
	for code, told := range undone {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			server, db := start(t)
			ctx := t.Context()
			q := singleora19.New(db, singleora19.WithWorker("w1"))
			text := texts(t, "singleora19")
			claim := oracle.Exec(text("claim"), 3, "w1", oracle.Output)
			add := oracle.Exec(text("enqueue"), 6, oracle.Output).Affected(1).Out("2", int64(12))
			next := oracle.Exec(text("enqueue"), 7, oracle.Output).Affected(1).Out("2", int64(13))
			complete := settled(text("complete"), heldArgs, "4", 1).Autocommit()
			server.Expect(
				claim.Error(code, told), oracle.Rollback(),
				claim.RefCursor("3", singleColumns, singleRow(7)), oracle.Commit().Error(code, told), // which undoes it
				claim.RefCursor("3", singleColumns, singleRow(8)), oracle.Commit(),
				add, next.Error(code, told), oracle.Rollback(),
				add, next, oracle.Commit(),
				complete.Error(code, told),
				complete,
			)
			jobs, err := q.Claim(ctx, 3)
			check.Err(t, err)
			if len(jobs) != 1 || jobs[0].ID != 8 {
				t.Errorf("claimed %+v, want what was committed", jobs)
			}
			keys, err := q.EnqueueMany(ctx, []singleora19.NewJob{{N: 6}, {N: 7}})
			check.Err(t, err)
			check.Equal(t, keys, []singleora19.Key{12, 13})
			check.Err(t, q.Complete(ctx, heldJob))
		})
	}
}

// TestTriedFiveTimes gives up then.
func TestTriedFiveTimes(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	text := texts(t, "singleora19")
	for range 5 {
		server.Expect(oracle.Exec(text("claim"), 3, "w1", oracle.Output).Error(60, undone[60]), oracle.Rollback())
	}
	_, err := q.Claim(ctx, 3)
	wantFailed(t, err, "claim", true)
	for range 5 {
		server.Expect(settled(text("complete"), heldArgs, "4", 1).Autocommit().Error(60, undone[60]))
	}
	wantFailed(t, q.Complete(ctx, heldJob), "complete", true)
}

// TestNotTriedAgain leaves alone what would fail again, or may have happened.
func TestNotTriedAgain(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	text := texts(t, "singleora19")
	complete := settled(text("complete"), heldArgs, "4", 1).Autocommit()
	for _, c := range []struct {
		code      int
		retryable bool
	}{
		{942, false}, {1, false}, {6550, false}, {1013, false}, {1033, true}, {12528, true}, {25408, true},
	} {
		server.Expect(complete.Error(c.code, "told"))
		err := q.Complete(ctx, heldJob)
		wantFailed(t, err, "complete", c.retryable)
		var e *network.OracleError
		if !errors.As(err, &e) || e.ErrCode != c.code {
			t.Errorf("%v does not wrap ORA-%d", err, c.code)
		}
	}
}

// TestBroken ends the connection at every point of an operation. Nothing is sent
// again, since it may have been done.
func TestBroken(t *testing.T) {
	text := texts(t, "singleora19")
	claim := oracle.Exec(text("claim"), 3, "w1", oracle.Output)
	rows := claim.RefCursor("3", singleColumns, singleRow(7))
	complete := settled(text("complete"), heldArgs, "4", 1)
	extend := oracle.Exec(text("extend_read", byID(1)...), 7)
	add := oracle.Exec(text("enqueue"), 6, oracle.Output).Affected(1).Out("2", int64(12))
	claims := func(q *singleora19.Queue) error { _, err := q.Claim(t.Context(), 3); return err }
	completes := func(q *singleora19.Queue) error { return q.Complete(t.Context(), heldJob) }
	extends := func(q *singleora19.Queue) error { job := heldJob; return q.Extend(t.Context(), &job) }
	adds := func(q *singleora19.Queue) error {
		_, err := q.EnqueueMany(t.Context(), []singleora19.NewJob{{N: 6}})
		return err
	}
	gone := []func(oracle.Response) oracle.Response{
		oracle.Response.Break,
		oracle.Response.Reset,
		func(r oracle.Response) oracle.Response { return r.Error(3113, "end-of-file on communication channel") },
	}
	for name, c := range map[string]struct {
		op    string
		call  func(*singleora19.Queue) error
		first []oracle.Response
		last  oracle.Response
	}{
		"claim before the answer":    {"claim", claims, nil, claim},
		"claim at commit":            {"claim", claims, []oracle.Response{rows}, oracle.Commit()},
		"complete before the answer": {"complete", completes, nil, complete.Autocommit()},
		"extend before it reads":     {"extend", extends, []oracle.Response{settled(text("extend"), heldArgs, "4", 1)}, extend},
		"enqueue at commit":          {"enqueue", adds, []oracle.Response{add}, oracle.Commit()},
		"enqueue before the answer":  {"enqueue", adds, nil, add},
	} {
		for i, broken := range gone {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				server, db := start(t)
				q := singleora19.New(db, singleora19.WithWorker("w1"))
				server.Expect(c.first...)
				server.Expect(broken(c.last))
				wantFailed(t, c.call(q), c.op, true)
			})
		}
	}
}

// TestBrokenRows ends the connection among the rows of a claim, of which none is
// returned then.
func TestBrokenRows(t *testing.T) {
	server, db := start(t)
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	rows := make([]oracle.Row, 40)
	for i := range rows {
		rows[i] = singleRow(int64(i + 1))
	}
	server.Expect(oracle.Exec(texts(t, "singleora19")("claim"), 100, "w1", oracle.Output).RefCursor("3", singleColumns, rows...).Break())
	jobs, err := q.Claim(t.Context(), 100)
	wantFailed(t, err, "claim", true)
	if len(jobs) != 0 {
		t.Errorf("%d jobs of a broken claim are returned", len(jobs))
	}
}

// TestClosedWhileIdle finds that the server has closed the pool's connection: a
// read goes to another, what writes fails once and can be sent again.
func TestClosedWhileIdle(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	text := texts(t, "singleora19")
	complete := settled(text("complete"), heldArgs, "4", 1).Autocommit()
	server.Expect(complete)
	check.Err(t, q.Complete(ctx, heldJob))
	server.Break()
	wantFailed(t, q.Complete(ctx, heldJob), "complete", true)
	server.Expect(complete)
	check.Err(t, q.Complete(ctx, heldJob))
	server.Break()
	figures := oracle.Columns("ready NUMBER", "running NUMBER", "done NUMBER", "failed NUMBER", "expired NUMBER", "oldest_ready NUMBER")
	server.Expect(oracle.Exec(text("stats")).Rows(figures, oracle.Row{1, 2, 3, 4, 5, nil}))
	_, err := q.Stats(ctx)
	check.Err(t, err)
}

// TestRefused cannot connect.
func TestRefused(t *testing.T) {
	server, db := start(t)
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	server.Refuse(12528)
	wantFailed(t, q.Complete(t.Context(), heldJob), "complete", true)
	server.Refuse(12514)
	wantFailed(t, q.Complete(t.Context(), heldJob), "complete", false)
	server.Refuse(0)
	server.Close()
	wantFailed(t, q.Complete(t.Context(), heldJob), "complete", true)
}

// TestCancelled ends the context while the server works: nothing is sent again, and
// the error does not ask for it.
func TestCancelled(t *testing.T) {
	text := texts(t, "singleora19")
	for name, call := range map[string]func(context.Context, *singleora19.Queue) error{
		text("claim"):    func(ctx context.Context, q *singleora19.Queue) error { _, err := q.Claim(ctx, 3); return err },
		text("complete"): func(ctx context.Context, q *singleora19.Queue) error { return q.Complete(ctx, heldJob) },
		text("stats"):    func(ctx context.Context, q *singleora19.Queue) error { _, err := q.Stats(ctx); return err },
	} {
		t.Run(strings.Fields(name)[2], func(t *testing.T) {
			server, db := start(t)
			q := singleora19.New(db, singleora19.WithWorker("w1"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var mu sync.Mutex
			var came []string
			server.Handle(func(r oracle.Request) oracle.Response {
				mu.Lock()
				defer mu.Unlock()
				switch r.Kind {
				case oracle.KindExec:
					came = append(came, r.Text)
					time.AfterFunc(20*time.Millisecond, cancel)
					return oracle.Answer().Hang()
				case oracle.KindCommit:
					t.Error("what was cancelled is committed")
				}
				return oracle.Answer()
			})
			err := call(ctx, q)
			if err == nil || singleora19.IsRetryable(err) {
				t.Errorf("the error is %v, retryable %t", err, singleora19.IsRetryable(err))
			}
			mu.Lock()
			defer mu.Unlock()
			check.Equal(t, came, []string{name})
		})
	}
}

// TestEndedBefore sends nothing when the context has ended already.
func TestEndedBefore(t *testing.T) {
	_, db := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := singleora19.New(db).Claim(ctx, 3)
	if !errors.Is(err, context.Canceled) || singleora19.IsRetryable(err) {
		t.Errorf("got %v", err)
	}
}

// TestUnreadable returns jobs of which a column cannot be read, and says which.
func TestUnreadable(t *testing.T) {
	server, db := start(t)
	server.Expect(oracle.Exec(texts(t, "singleora19")("claim"), 3, "w1", oracle.Output).
		RefCursor("3", singleColumns, oracle.Row{7, "1e30", 1, "yesterday", nil, nil, enqueuedText}), oracle.Commit())
	jobs, err := singleora19.New(db, singleora19.WithWorker("w1")).Claim(t.Context(), 3)
	check.Err(t, err)
	if len(jobs) != 1 || jobs[0].ID != 7 || jobs[0].Tries != 1 || jobs[0].Err == nil || !strings.Contains(jobs[0].Err.Error(), "LEASE_TILL") {
		t.Fatalf("claimed %+v", jobs)
	}
	check.Time(t, jobs[0].EnqueuedAt, "2026-01-02T03:04:05.123456789Z")
}

// TestHoldEnds gives back what it holds: by a rollback, or with the connection.
func TestHoldEnds(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	claim := oracle.Exec(texts(t, "holdora19")("claim", "\nAND    NOT (ID = :v0)", ""), 2, oracle.Output)
	server.Expect(
		claim.RefCursor("3", heldColumns, oracle.Row{1, 10}), oracle.Rollback(),
		claim.Error(60, undone[60]), oracle.Rollback(),
		claim.RefCursor("3", heldColumns, oracle.Row{1, 10}), oracle.Commit().Break(),
	)
	q := holdora19.New(db)
	hold := func() *holdora19.Hold {
		tx, err := q.Hold(ctx)
		check.Err(t, err)
		return tx
	}
	tx := hold()
	_, err := tx.Claim(ctx, 2)
	check.Err(t, err)
	tx.Close()

	tx = hold()
	if _, err := tx.Claim(ctx, 2); !holdora19.IsRetryable(err) {
		t.Errorf("a deadlock gives %v", err)
	}
	tx.Close()

	tx = hold()
	_, err = tx.Claim(ctx, 2)
	check.Err(t, err)
	if err := tx.Commit(ctx); !holdora19.IsRetryable(err) {
		t.Errorf("a broken commit gives %v", err)
	}
	tx.Close()
}

// TestTokenIsDrawnOnce uses one token for all tries of a claim.
func TestTokenIsDrawnOnce(t *testing.T) {
	server, db := start(t)
	var mu sync.Mutex
	var tokens []string
	server.Handle(func(r oracle.Request) oracle.Response {
		mu.Lock()
		defer mu.Unlock()
		if r.Kind != oracle.KindExec {
			return oracle.Answer()
		}
		token := r.Bind("2").Value.([]byte)
		tokens = append(tokens, string(token))
		if len(tokens) < 3 {
			return oracle.Answer().Error(60, undone[60])
		}
		return oracle.Answer().RefCursor("3", dueColumns, oracle.Row{1, 10, enqueuedText, 0, token, enqueuedText, nil})
	})
	jobs, err := dueora19.New(db).Claim(t.Context(), 1)
	check.Err(t, err)
	slices.Sort(tokens)
	if len(tokens) != 3 || len(slices.Compact(tokens)) != 1 || string(jobs[0].Token) != tokens[0] {
		t.Errorf("the tokens are %q", tokens)
	}
}
