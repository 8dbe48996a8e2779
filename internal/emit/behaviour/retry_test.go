package behaviour

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emaillite"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpgx"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpq"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/mark"
)

var body = json.RawMessage(`{"a": 1}`)

// TestRetry lets statements fail: what surely left nothing behind is tried
// again, five times at most.
func TestRetry(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name      string
		err       error
		times     int
		wantRuns  int
		retryable bool
	}{
		{"none", nil, 0, 1, false},
		{"busy twice", code(5), 2, 3, true},
		{"busy with details", code(517), 1, 2, true},
		{"busy for good", code(5), 9, 5, true},
		{"busy in words", errors.New("database is locked"), 1, 2, true},
		{"no such table", code(1), 1, 1, false},
		{"connection gone", driver.ErrBadConn, 1, 1, true},
		{"end of file", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := &flaky{DB: sqlite(t, "email_sqlite")}
			for range c.times {
				db.errs = append(db.errs, c.err)
			}
			_, err := emaillite.New(db).Enqueue(ctx, emaillite.NewJob{Kind: "mail", Body: body})
			if db.runs != c.wantRuns {
				t.Errorf("ran %d times, want %d", db.runs, c.wantRuns)
			}
			if done := c.wantRuns > c.times; (err == nil) != done {
				t.Errorf("error is %v", err)
			}
			if err != nil && (!errors.Is(err, c.err) || !strings.HasPrefix(err.Error(), "emaillite: enqueue: ")) {
				t.Errorf("error is %v", err)
			}
			if got := emaillite.IsRetryable(c.err); got != c.retryable {
				t.Errorf("IsRetryable is %v", got)
			}
		})
	}
}

// TestRetryStates does the same with SQLSTATEs.
func TestRetryStates(t *testing.T) {
	for _, c := range []struct {
		err       error
		again     bool
		retryable bool
	}{
		{state("40001"), true, true},
		{state("40P01"), true, true},
		{fmt.Errorf("wrapped: %w", state("55P03")), true, true},
		{state("08006"), false, true},
		{state("57P01"), false, true},
		{state("23505"), false, false},
		{errors.New("whatever"), false, false},
		{context.Canceled, false, false},
	} {
		if got := emailpq.IsRetryable(c.err); got != c.retryable {
			t.Errorf("%v: IsRetryable is %v", c.err, got)
		}
		if got := emailpgx.IsRetryable(c.err); got != c.retryable {
			t.Errorf("%v: pgx: IsRetryable is %v", c.err, got)
		}
	}
	pool := &flakyPool{Pool: postgres(t, "email_postgresql"), errs: []error{state("40001"), state("40P01"), state("08006")}}
	_, err := emailpgx.New(pool).Claim(context.Background(), "mail", 1)
	if !errors.Is(err, state("08006")) || pool.runs != 3 {
		t.Errorf("after %d runs: %v", pool.runs, err)
	}
	// pgx calls this one safe to retry even when a COMMIT was sent.
	pool.errs, pool.runs = []error{connClosed{}}, 0
	if _, err := emailpgx.New(pool).Claim(context.Background(), "mail", 1); !emailpgx.IsRetryable(err) || pool.runs != 1 {
		t.Errorf("after %d runs: %v", pool.runs, err)
	}
}

// connClosed is what pgx says of a connection that is closed.
type connClosed struct{}

func (connClosed) Error() string     { return "conn closed" }
func (connClosed) SafeToRetry() bool { return true }

// TestRetryEnds stops trying when the context ends.
func TestRetryEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	db := &flaky{DB: sqlite(t, "email_sqlite"), errs: []error{code(5), code(5)}}
	_, err := emaillite.New(db).Claim(ctx, "mail", 1)
	if !errors.Is(err, code(5)) || db.runs != 1 {
		t.Errorf("after %d runs: %v", db.runs, err)
	}
}

// TestCallersTransaction joins a transaction: nothing is tried again, a
// rollback undoes everything, a commit keeps it.
func TestCallersTransaction(t *testing.T) {
	ctx := context.Background()
	db := sqlite(t, "email_sqlite")
	q := emaillite.New(db)
	if _, err := q.Enqueue(ctx, emaillite.NewJob{Kind: "mail", Body: body}); err != nil {
		t.Fatal(err)
	}
	for _, commit := range []bool{false, true} {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		joined := q.WithTx(tx)
		jobs, err := joined.Claim(ctx, "mail", 10)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		if _, err := emaillite.New(tx).EnqueueMany(ctx, []emaillite.NewJob{{Kind: "fax", Body: body}}); err != nil {
			t.Fatal(err)
		}
		if err := joined.Complete(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mails, err := q.Claim(ctx, "mail", 10)
	if err != nil || len(mails) != 0 {
		t.Errorf("after the commit: %v %v", mails, err)
	}
	if faxes, err := q.Claim(ctx, "fax", 10); err != nil || len(faxes) != 1 {
		t.Errorf("after the commit: %v %v", faxes, err)
	}
	// A broken transaction is reported at once.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	broken := &busyTx{tx: tx}
	if _, err := emaillite.New(broken).Claim(ctx, "mail", 1); !emaillite.IsRetryable(err) || broken.runs != 1 {
		t.Errorf("after %d runs: %v", broken.runs, err)
	}
}

// TestCallersTransactionPGX does the same with pgx.
func TestCallersTransactionPGX(t *testing.T) {
	ctx := context.Background()
	pool := postgres(t, "email_postgresql")
	q := emailpgx.New(pool)
	if _, err := q.Enqueue(ctx, emailpgx.NewJob{Kind: "mail", Body: body}); err != nil {
		t.Fatal(err)
	}
	for _, commit := range []bool{false, true} {
		tx, err := pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := q.WithTx(tx).Claim(ctx, "mail", 10)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		if others, err := q.Claim(ctx, "mail", 10); err != nil || len(others) != 0 {
			t.Errorf("beside the transaction: %v %v", others, err)
		}
		if more, err := q.WithTx(tx).CompleteAndClaim(ctx, jobs, "mail", 1); err != nil || len(more) != 0 {
			t.Fatal(more, err)
		}
		if commit {
			err = tx.Commit(ctx)
		} else {
			err = tx.Rollback(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if jobs, err := q.Claim(ctx, "mail", 10); err != nil || len(jobs) != 0 {
		t.Errorf("after the commit: %v %v", jobs, err)
	}
}

// TestMarkRead stamps rows and reads them back.
func TestMarkRead(t *testing.T) {
	ctx := context.Background()
	db := sqlite(t, "mark_sqlite")
	if _, err := db.Exec("INSERT INTO tasks (data) VALUES ('a'), ('x'), ('b\"'), ('c')"); err != nil {
		t.Fatal(err)
	}
	q := mark.New(db)
	words := []string{"c", `b"`, "a"}
	if none, err := q.Claim(ctx, nil, 2); err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
	first, err := q.Claim(ctx, words[1:], 1)
	if err != nil || len(first) != 1 || first[0].Data != "a" {
		t.Fatal(first, err)
	}
	if _, err := db.Exec("UPDATE tasks SET status = 'ready'"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, words, 2)
	if err != nil || len(jobs) != 2 || jobs[0].Data != "a" || jobs[0].Status != jobs[1].Status {
		t.Fatal(jobs, err)
	}
	if len(jobs[0].Status) != 32 {
		t.Errorf("token %q", jobs[0].Status)
	}
	if err := q.Complete(ctx, jobs[:1]...); err != nil {
		t.Fatal(err)
	}
	more, err := q.CompleteAndClaim(ctx, jobs, words, 5)
	var lost *mark.LostError
	if !errors.As(err, &lost) || !slices.Equal(lost.Keys, []int64{1}) || len(more) != 1 || more[0].Data != "c" {
		t.Errorf("%v %v", more, err)
	}
	if none, err := q.Claim(ctx, words, 5); err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
	var running int
	if err := db.QueryRow("SELECT count(*) FROM tasks WHERE status NOT IN ('done', 'ready')").Scan(&running); err != nil || running != 1 {
		t.Errorf("%d running, %v", running, err)
	}
}

// recorder is a hook that writes down what it sees.
type recorder struct{ seen []string }

type opKey struct{}

func (r *recorder) Before(ctx context.Context, op string) context.Context {
	return context.WithValue(ctx, opKey{}, op)
}

func (r *recorder) After(ctx context.Context, op string, rows int, err error) {
	r.seen = append(r.seen, fmt.Sprint(op, " ", rows, " ", err, " ", ctx.Value(opKey{}) == op))
}

func TestHook(t *testing.T) {
	ctx := context.Background()
	r := &recorder{}
	q := emaillite.New(sqlite(t, "email_sqlite"), emaillite.WithHook(r))
	_, _ = q.EnqueueMany(ctx, []emaillite.NewJob{{Kind: "mail", Body: body}, {Kind: "mail", Body: body}})
	jobs, _ := q.Claim(ctx, "mail", 5)
	_ = q.Complete(ctx, jobs[0])
	_ = q.Complete(ctx, jobs...)
	_, _ = q.Redrive(ctx, 3)
	_ = q.Extend(ctx, &jobs[0])
	want := []string{
		"enqueue 2 <nil> true",
		"claim 2 <nil> true",
		"complete 1 <nil> true",
		"complete 1 emaillite: complete: claim lost: [1] true",
		"redrive 0 <nil> true",
		"extend 0 emaillite: extend: claim lost: [1] true",
	}
	if !slices.Equal(r.seen, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(r.seen, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnreadableRow has a row whose columns hold what their fields cannot: it
// costs neither its own job nor the others of the batch.
func TestUnreadableRow(t *testing.T) {
	ctx := context.Background()
	db := sqlite(t, "email_sqlite")
	q := emaillite.New(db)
	if _, err := q.EnqueueMany(ctx, []emaillite.NewJob{{Kind: "mail", Body: body}, {Kind: "mail", Body: json.RawMessage(`{`)}, {Kind: "mail", Body: body}}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE email_outbox SET created_at = 'yesterday', last_error = 'kept' WHERE msg_id = 2"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, "mail", 3)
	if err != nil || len(jobs) != 3 {
		t.Fatal(jobs, err)
	}
	bad := jobs[1]
	if bad.MsgID != 2 || bad.Err == nil || !strings.Contains(bad.Err.Error(), "created_at") || *bad.LastError != "kept" || jobs[0].Err != nil {
		t.Errorf("%+v", bad)
	}
	if _, err := bad.DecodeBody(); err == nil || !strings.HasPrefix(err.Error(), "emaillite: decode body of 2: ") {
		t.Error(err)
	}
	if got, err := jobs[0].DecodeBody(); err != nil || got["a"] != 1.0 {
		t.Error(got, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Error(err)
	}
}

// TestLog shows that logs hold no payload.
func TestLog(t *testing.T) {
	token := "t"
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("took", "job", emaillite.Job{MsgID: 3, State: emaillite.StatusRunning, Token: &token, Body: json.RawMessage(`"secret"`)})
	for _, want := range []string{"job.msg_id=3", "job.state=A", "job.token=t", "job.body=(redacted)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "secret") {
		t.Error(b.String())
	}
}
