package behaviour

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emaillite"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpgx"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/hold"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/pop"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/shard"
)

// What the loop does when a database misbehaves is tested on queues in memory,
// in TestWork of the package above; here it meets real ones.

// tally counts how often each job was handled.
type tally struct {
	mu   sync.Mutex
	runs map[any]int
	left int // until done is called
	done func()
}

// newTally expects n jobs and calls done after the last.
func newTally(n int, done func()) *tally {
	return &tally{runs: map[any]int{}, left: n, done: done}
}

func (y *tally) add(key any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.runs[key]++
	if y.left--; y.left == 0 {
		y.done()
	}
}

// onceEach fails the test unless n jobs were handled, each once.
func (y *tally) onceEach(t *testing.T, n int) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	equal(t, len(y.runs), n)
	for key, runs := range y.runs {
		if runs != 1 {
			t.Errorf("job %v was handled %d times", key, runs)
		}
	}
}

// together runs several loops until they all have ended.
func together(t *testing.T, loops int, work func() error) {
	t.Helper()
	var running sync.WaitGroup
	for range loops {
		running.Go(func() {
			if err := work(); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

// soon is a context in which a test that hangs ends all the same.
func soon(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), time.Minute)
}

func unexpected(t *testing.T) func(error) {
	return func(err error) { t.Errorf("OnError: %v", err) }
}

func TestWorkSQLite(t *testing.T) {
	const n = 2000
	db := sqlite(t, "email_sqlite")
	db.SetMaxOpenConns(4)
	q := emaillite.New(db)
	ctx, cancel := soon(t)
	defer cancel()
	_, err := q.EnqueueMany(ctx, slices.Repeat([]emaillite.NewJob{{Kind: "mail", Body: body}}, n))
	check(t, err)
	seen := newTally(n, cancel)
	together(t, 4, func() error {
		return q.Work(ctx, func(_ context.Context, j emaillite.Job) error {
			seen.add(j.Key())
			return nil
		}, emaillite.WorkOptions{Kind: "mail", Concurrency: 4, PollInterval: 50 * time.Millisecond, OnError: unexpected(t)})
	})
	seen.onceEach(t, n)
	var done int
	check(t, db.QueryRow("SELECT count(*) FROM email_outbox WHERE state = 'C' AND tries = 1").Scan(&done))
	equal(t, done, n)
}

// A job whose handler fails is due again later, with the error in its row; so
// is one whose handler panics, with the stack.
func TestWorkFails(t *testing.T) {
	db := sqlite(t, "email_sqlite")
	q := emaillite.New(db)
	ctx, cancel := soon(t)
	defer cancel()
	_, err := q.EnqueueMany(ctx, slices.Repeat([]emaillite.NewJob{{Kind: "mail", Body: body}}, 3))
	check(t, err)
	panicked := ""
	check(t, q.Work(ctx, func(_ context.Context, j emaillite.Job) error {
		switch j.MsgID {
		case 1:
			return errors.New("no such address")
		case 2:
			panic("no such server")
		}
		cancel()
		return nil
	}, emaillite.WorkOptions{Kind: "mail", OnError: func(err error) { panicked = err.Error() }}))
	if !strings.HasPrefix(panicked, "emaillite: work: job 2: the handler panicked: no such server") {
		t.Error(panicked)
	}
	rows, err := db.Query("SELECT state, coalesce(last_error, ''), coalesce(not_before, 0) > unixepoch('subsec') * 1000 - 5000 FROM email_outbox ORDER BY msg_id")
	check(t, err)
	defer func() { _ = rows.Close() }()
	for _, want := range []struct{ state, cause string }{{"N", "no such address"}, {"N", "behaviour/work_test.go"}, {"C", ""}} {
		var state, cause string
		var delayed bool
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		check(t, rows.Scan(&state, &cause, &delayed))
		if state != want.state || !strings.Contains(cause, want.cause) || delayed != (want.cause != "") {
			t.Errorf("state %s, error %q, delayed %v; want %v", state, cause, delayed, want)
		}
	}
	check(t, rows.Err())
}

// Jobs that no handler has begun when Work is stopped are ready again, and
// their tries do not count.
func TestWorkStops(t *testing.T) {
	const n = 1000
	db := sqlite(t, "email_sqlite")
	db.SetMaxOpenConns(4)
	q := emaillite.New(db)
	ctx, cancel := soon(t)
	defer cancel()
	_, err := q.EnqueueMany(ctx, slices.Repeat([]emaillite.NewJob{{Kind: "mail", Body: body}}, n))
	check(t, err)
	var handled atomic.Int64
	check(t, q.Work(ctx, func(context.Context, emaillite.Job) error {
		if handled.Add(1) == 300 {
			cancel()
		}
		return nil
	}, emaillite.WorkOptions{Kind: "mail", Concurrency: 4, OnError: unexpected(t)}))
	var done, ready, tried int64
	check(t, db.QueryRow(`SELECT count(*) FILTER (WHERE state = 'C'), count(*) FILTER (WHERE state = 'N'),
		count(*) FILTER (WHERE state = 'N' AND tries > 0) FROM email_outbox`).Scan(&done, &ready, &tried))
	equal(t, []int64{done, ready, tried}, []int64{handled.Load(), n - handled.Load(), 0})
}

// counter counts operations.
type counter struct {
	mu  sync.Mutex
	ops map[string]int
}

func (c *counter) Before(ctx context.Context, _ string) context.Context { return ctx }

func (c *counter) After(_ context.Context, op string, _ int, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ops == nil {
		c.ops = map[string]int{}
	}
	c.ops[op]++
}

// An idle loop polls and does nothing else; a busy one claims and completes
// many jobs at a time.
func TestWorkIsQuiet(t *testing.T) {
	db := sqlite(t, "email_sqlite")
	hook := &counter{}
	q := emaillite.New(db, emaillite.WithHook(hook))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	check(t, q.Work(ctx, func(context.Context, emaillite.Job) error { return nil },
		emaillite.WorkOptions{Kind: "mail", PollInterval: 100 * time.Millisecond, OnError: unexpected(t)}))
	if n := hook.ops["claim"]; n < 3 || n > 14 {
		t.Errorf("%d claims in ten intervals", n)
	}
	delete(hook.ops, "claim")
	equal(t, hook.ops, map[string]int{"recover": 1})

	const n = 1000
	_, err := q.EnqueueMany(t.Context(), slices.Repeat([]emaillite.NewJob{{Kind: "mail", Body: body}}, n))
	check(t, err)
	hook.ops = nil
	ctx, cancel = soon(t)
	defer cancel()
	seen := newTally(n, cancel)
	check(t, q.Work(ctx, func(_ context.Context, j emaillite.Job) error {
		seen.add(j.Key())
		return nil
	}, emaillite.WorkOptions{Kind: "mail", OnError: unexpected(t)}))
	seen.onceEach(t, n)
	equal(t, hook.ops["work"], n)
	if claims, completes := hook.ops["claim"], hook.ops["complete"]; claims > n/10 || completes > n/10 {
		t.Errorf("%d claims and %d completions for %d jobs", claims, completes, n)
	}
}

func TestWorkPGX(t *testing.T) {
	const n = 2000
	pool := postgres(t, "email_postgresql")
	q := emailpgx.New(pool)
	ctx, cancel := soon(t)
	defer cancel()
	_, err := q.EnqueueMany(ctx, slices.Repeat([]emailpgx.NewJob{{Kind: "mail", Body: body}}, n))
	check(t, err)
	seen := newTally(n, cancel)
	together(t, 4, func() error {
		return q.Work(ctx, func(_ context.Context, j emailpgx.Job) error {
			seen.add(j.Key())
			return nil
		}, emailpgx.WorkOptions{Kind: "mail", Concurrency: 4, PollInterval: 50 * time.Millisecond, OnError: unexpected(t)})
	})
	seen.onceEach(t, n)
	var done int
	check(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM email_outbox WHERE state = 'C'").Scan(&done))
	equal(t, done, n)
}

// A handler may complete its job in the transaction of its own writes.
func TestWorkSettled(t *testing.T) {
	pool := postgres(t, "email_postgresql")
	q := emailpgx.New(pool)
	ctx, cancel := soon(t)
	defer cancel()
	_, err := q.EnqueueMany(ctx, slices.Repeat([]emailpgx.NewJob{{Kind: "mail", Body: body}}, 20))
	check(t, err)
	seen := newTally(20, cancel)
	check(t, q.Work(ctx, func(ctx context.Context, j emailpgx.Job) error {
		defer seen.add(j.Key())
		tx, err := pool.Begin(ctx)
		if err != nil {
			return err
		}
		if err := q.WithTx(tx).Complete(ctx, j); err != nil {
			return errors.Join(err, tx.Rollback(ctx))
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		return emailpgx.ErrSettled
	}, emailpgx.WorkOptions{Kind: "mail", Concurrency: 4, OnError: unexpected(t)}))
	seen.onceEach(t, 20)
	var done int
	check(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM email_outbox WHERE state = 'C'").Scan(&done))
	equal(t, done, 20)
}

func TestWorkHold(t *testing.T) {
	const n = 500
	pool := postgres(t, "mails_postgresql")
	q := hold.New(pool)
	ctx, cancel := soon(t)
	defer cancel()
	_, err := q.EnqueueMany(ctx, slices.Repeat([]hold.NewJob{{Text: "hello"}}, n))
	check(t, err)
	seen := newTally(n, cancel)
	noAddress := errors.New("no such address")
	var told atomic.Int64
	onError := func(err error) {
		told.Add(1)
		if !errors.Is(err, noAddress) {
			t.Errorf("OnError: %v", err)
		}
	}
	together(t, 4, func() error {
		return q.Work(ctx, func(_ context.Context, j hold.Job) error {
			seen.add(j.Key())
			if j.ID%50 == 7 {
				return noAddress
			}
			return nil
		}, hold.WorkOptions{Concurrency: 2, Batch: 10, PollInterval: 20 * time.Millisecond, OnError: onError})
	})
	// A batch that was under way when the last job ran gives the rest back.
	var left, failed int
	check(t, pool.QueryRow(t.Context(), "SELECT count(*), count(*) FILTER (WHERE failed) FROM mails").Scan(&left, &failed))
	equal(t, []int{left, failed}, []int{n / 50, n / 50})
	equal(t, int(told.Load()), n/50) // the table has no place for the cause
	seen.onceEach(t, n)
}

func TestWorkShard(t *testing.T) {
	const n = 200
	db := postgresSQL(t, "files_postgresql")
	_, err := db.Exec("INSERT INTO files (path, hash_code) SELECT ('file ' || i)::bytea, i FROM generate_series(1, $1::int) AS i", n)
	check(t, err)
	q := shard.New(db)
	ctx, cancel := soon(t)
	defer cancel()
	seen := newTally(n, cancel)
	var next atomic.Int64
	together(t, 4, func() error {
		return q.Work(ctx, func(_ context.Context, j shard.Job) error {
			seen.add(j.Key())
			return nil
		}, shard.WorkOptions{
			Shard: shard.Shard{Index: int(next.Add(1) - 1), Count: 4}, Concurrency: 2, Batch: 5,
			PollInterval: 20 * time.Millisecond, OnError: unexpected(t),
		})
	})
	seen.onceEach(t, n)
	var done int
	check(t, db.QueryRow("SELECT count(*) FROM files WHERE processed").Scan(&done))
	equal(t, done, n)

	err = q.Work(t.Context(), func(context.Context, shard.Job) error { return nil },
		shard.WorkOptions{Shard: shard.Shard{Index: 4, Count: 4}, OnError: unexpected(t)})
	equal(t, fmt.Sprint(err), "shard: work: shard: claim: there is no shard 4 of 4")
}

func TestWorkPop(t *testing.T) {
	const n = 200
	db := sqlite(t, "pings_sqlite")
	_, err := db.Exec("WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ?) INSERT INTO pings (host) SELECT 'host' FROM s", n)
	check(t, err)
	ctx, cancel := soon(t)
	defer cancel()
	seen := newTally(n, cancel)
	check(t, pop.New(db).Work(ctx, func(_ context.Context, j pop.Job) error {
		seen.add(j.Key())
		return nil
	}, pop.WorkOptions{Concurrency: 4, OnError: unexpected(t)}))
	seen.onceEach(t, n)
}

func TestStatsAndVerify(t *testing.T) {
	ctx := t.Context()
	db := sqlite(t, "email_sqlite")
	q := emaillite.New(db)
	s, err := q.Stats(ctx)
	check(t, err)
	equal(t, s, emaillite.Stats{})
	_, err = q.EnqueueMany(ctx, slices.Repeat([]emaillite.NewJob{{Kind: "mail", Body: body}}, 3))
	check(t, err)
	_, err = db.Exec("UPDATE email_outbox SET created_at = created_at - 90")
	check(t, err)
	_, err = q.Claim(ctx, "mail", 1)
	check(t, err)
	s, err = q.Stats(ctx)
	check(t, err)
	if s.OldestReady < 89*time.Second || s.OldestReady > 100*time.Second {
		t.Errorf("the oldest job waits for %v", s.OldestReady)
	}
	s.OldestReady = 0
	equal(t, s, emaillite.Stats{Ready: 2, Running: 1})

	later := time.UnixMilli(4e12).UTC()
	_, err = q.Enqueue(ctx, emaillite.NewJob{Kind: "mail", NotBefore: &later, Body: body})
	check(t, err)
	waiting, err := q.Backlog(ctx)
	check(t, err)
	if len(waiting) != 2 || waiting[0].OldestReady < 89*time.Second || waiting[0].OldestReady > 100*time.Second {
		t.Fatalf("what waits is %+v", waiting)
	}
	waiting[0].OldestReady, waiting[1].OldestReady = 0, 0
	equal(t, waiting, []emaillite.Backlog{{Kind: "mail", Ready: 2}, {Kind: "mail", NotBefore: &later, Ready: 1}})

	check(t, q.Verify(ctx))
	_, err = db.Exec("ALTER TABLE email_outbox RENAME COLUMN kind TO sort; ALTER TABLE email_outbox RENAME COLUMN token TO mark")
	check(t, err)
	err = q.Verify(ctx)
	var wrong *emaillite.SchemaError
	if !errors.Is(err, emaillite.ErrSchema) || !errors.As(err, &wrong) || len(wrong.Problems) != 2 {
		t.Fatal(err)
	}
	equal(t, strings.Split(err.Error(), "\n"), []string{
		"emaillite: the database does not fit:",
		"\tcolumn kind is missing",
		"\tcolumn token is missing",
		"\t\tgenerate the package again from the table as it is",
	})
	if _, err := q.Stats(ctx); err != nil {
		t.Error(err)
	}
	_, err = db.Exec("DROP TABLE email_outbox")
	check(t, err)
	if _, err := q.Stats(ctx); err == nil || !strings.HasPrefix(err.Error(), "emaillite: stats: ") {
		t.Error(err)
	}
	if _, err := q.Backlog(ctx); err == nil || !strings.HasPrefix(err.Error(), "emaillite: backlog: ") {
		t.Error(err)
	}
}

// A transaction of the package's own is over after Commit or Close.
func TestHoldEnds(t *testing.T) {
	ctx := t.Context()
	pool := postgres(t, "mails_postgresql")
	q := hold.New(pool)
	_, err := q.Enqueue(ctx, hold.NewJob{Text: "hello"})
	check(t, err)
	for _, commit := range []bool{false, true} {
		h, err := q.Hold(ctx)
		check(t, err)
		jobs, err := h.Claim(ctx, 5)
		check(t, err)
		equal(t, len(jobs), 1)
		again, err := h.Claim(ctx, 5)
		check(t, err)
		equal(t, len(again), 0) // it holds that one already
		check(t, h.Complete(ctx, jobs...))
		if commit {
			check(t, h.Commit(ctx))
		}
		h.Close()
		h.Close()
		if err := h.Commit(ctx); err == nil || !strings.HasPrefix(err.Error(), "hold: commit: ") {
			t.Errorf("a second end: %v", err)
		}
		var left int
		check(t, pool.QueryRow(ctx, "SELECT count(*) FROM mails").Scan(&left))
		equal(t, left == 0, commit)
	}
	equal(t, pool.Stat().AcquiredConns(), int32(0))

	tx, err := pool.Begin(ctx)
	check(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = hold.New(tx).Hold(ctx)
	equal(t, fmt.Sprint(err), "hold: hold: the queue was made over a transaction; take jobs with WithTx")
}
