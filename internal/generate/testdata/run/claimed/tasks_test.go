package tasksq

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// add adds n jobs.
func add(t *testing.T, q *Queue, n int) {
	t.Helper()
	for range n {
		if _, err := q.Enqueue(context.Background(), NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
}

// claim takes the one job that is ready.
func claim(t *testing.T, q *Queue) Job {
	t.Helper()
	jobs, err := q.Claim(context.Background(), 10)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %d jobs: %v", len(jobs), err)
	}
	return jobs[0]
}

// want compares the only row with its state, and tells whether work on it has begun.
func want(t *testing.T, db *sql.DB, state string, begun bool) {
	t.Helper()
	var is string
	var started sql.NullInt64
	if err := db.QueryRow("SELECT state, started_at FROM tasks").Scan(&is, &started); err != nil {
		t.Fatal(err)
	}
	if is != state || started.Valid != begun {
		t.Errorf("the row is %s, begun %v; it should be %s, %v", is, started.Valid, state, begun)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// isLost checks that a claim is the caller's no more.
func isLost(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrLost) {
		t.Errorf("the error is %v, not that the claim is lost", err)
	}
}

// A claimed job is begun once, by its holder, who goes on with what Start wrote.
func TestStart(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	add(t, q, 1)
	job := claim(t, q)
	want(t, db, "waiting", false)
	stats := func(claimed, running int64) {
		t.Helper()
		s, err := q.Stats(ctx)
		if err != nil || s.Claimed != claimed || s.Running != running || s.Ready+s.Done+s.Failed != 0 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	stats(1, 0)
	stale, version := job, job.Version
	ok(t, q.Start(ctx, &job))
	if job.Version != version+1 {
		t.Errorf("the version is %d behind %d", job.Version, version)
	}
	want(t, db, "running", true)
	stats(0, 1)
	isLost(t, q.Start(ctx, &job))
	isLost(t, q.Complete(ctx, stale))
	want(t, db, "running", true)
	ok(t, q.Extend(ctx, &job))
	ok(t, q.Complete(ctx, job))
	want(t, db, "successful", true)
	isLost(t, q.Start(ctx, &job))
}

// Whatever ends a running job ends one that was never begun.
func TestNotBegun(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	add(t, q, 1)
	ok(t, q.Requeue(ctx, claim(t, q)))
	want(t, db, "pending", false)
	ok(t, q.Fail(ctx, claim(t, q), errors.New("no room")))
	want(t, db, "pending", false)
	job := claim(t, q)
	ok(t, q.Extend(ctx, &job))
	want(t, db, "waiting", false)
	next, err := q.CompleteAndClaim(ctx, []Job{job}, 1)
	if err != nil || len(next) != 0 {
		t.Errorf("%v, %v", next, err)
	}
	want(t, db, "successful", false)
}

// A claim runs out before Start as behind it, and who comes late begins nothing.
func TestCrash(t *testing.T) {
	for _, begun := range []bool{false, true} {
		db, ctx := open(t), context.Background()
		q := New(db)
		add(t, q, 1)
		dead := claim(t, q)
		late := dead
		if begun {
			ok(t, q.Start(ctx, &dead))
		}
		if n, err := q.Recover(ctx, 10); n != 0 || err != nil {
			t.Errorf("%d rows were recovered too early: %v", n, err)
		}
		if _, err := db.Exec("UPDATE tasks SET till = 1"); err != nil {
			t.Fatal(err)
		}
		if n, err := q.Recover(ctx, 10); n != 1 || err != nil {
			t.Errorf("%d rows were recovered: %v", n, err)
		}
		want(t, db, "pending", begun)
		isLost(t, q.Start(ctx, &late))
		mine := claim(t, q)
		isLost(t, q.Start(ctx, &late))
		isLost(t, q.Start(ctx, &dead))
		want(t, db, "waiting", begun)
		ok(t, q.Start(ctx, &mine))
		want(t, db, "running", true)
	}
}

// Of several jobs those are begun that are still their holder's; the error names the rest.
func TestSomeLost(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	add(t, q, 3)
	jobs, err := q.Claim(ctx, 3)
	ok(t, err)
	ok(t, q.Requeue(ctx, jobs[1]))
	err = q.Start(ctx, &jobs[0], &jobs[1], &jobs[2])
	var missing *LostError
	if !errors.As(err, &missing) || !slices.Equal(missing.Keys, []Key{jobs[1].Key()}) {
		t.Errorf("the error is %v", err)
	}
	ok(t, q.Complete(ctx, jobs[0], jobs[2]))
}

// Work begins each job before its handler is called, which then has the row as it is.
func TestWork(t *testing.T) {
	db := open(t)
	q := New(db)
	const n = 20
	add(t, q, n)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var mu sync.Mutex
	handled := 0
	handler := func(_ context.Context, job Job) error {
		var state string
		var version int64
		if err := db.QueryRow("SELECT state, version FROM tasks WHERE id = ?", job.ID).Scan(&state, &version); err != nil {
			return err
		}
		if state != "running" || version != int64(job.Version) {
			t.Errorf("the handler sees %s and version %d, its job has %d", state, version, job.Version)
		}
		mu.Lock()
		defer mu.Unlock()
		if handled++; handled == n {
			cancel()
		}
		return nil
	}
	ok(t, q.Work(ctx, handler, WorkOptions{Concurrency: 4, PollInterval: 10 * time.Millisecond, OnError: func(err error) { t.Error(err) }}))
	var done int
	ok(t, db.QueryRow("SELECT count(*) FROM tasks WHERE state = 'successful' AND started_at IS NOT NULL").Scan(&done))
	if done != n {
		t.Errorf("%d jobs of %d are done", done, n)
	}
}

// thief gives jobs to another just before they are begun.
type thief struct{ db *sql.DB }

func (h thief) Before(ctx context.Context, op string) context.Context {
	if op == "start" {
		if _, err := h.db.Exec("UPDATE tasks SET version = version + 7 WHERE state = 'waiting'"); err != nil {
			panic(err)
		}
	}
	return ctx
}

func (thief) After(context.Context, string, int, error) {}

// A job whose claim is lost before it begins is not handled, and stays with who has it.
func TestWorkLosesClaim(t *testing.T) {
	db := open(t)
	q := New(db, WithHook(thief{db}))
	add(t, q, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var told []error
	handler := func(context.Context, Job) error {
		t.Error("the handler was called")
		cancel()
		return nil
	}
	ok(t, q.Work(ctx, handler, WorkOptions{PollInterval: 10 * time.Millisecond, OnError: func(err error) {
		told = append(told, err) // one handler, one goroutine
		cancel()
	}}))
	if len(told) != 1 || !errors.Is(told[0], ErrLost) {
		t.Errorf("OnError was told %v", told)
	}
	want(t, db, "waiting", false)
}

// A job that the database refuses to begin fails with what it says.
func TestWorkCannotStart(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("CREATE TRIGGER full BEFORE UPDATE OF started_at ON tasks WHEN NEW.started_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'no room'); END"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	add(t, q, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if s, err := q.Stats(ctx); err == nil && s.Failed == 1 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	handler := func(context.Context, Job) error { return errors.New("the handler was called") }
	ok(t, q.Work(ctx, handler, WorkOptions{PollInterval: 10 * time.Millisecond, OnError: func(err error) { t.Error(err) }}))
	want(t, db, "failed", false)
	var why string
	ok(t, db.QueryRow("SELECT why FROM tasks").Scan(&why))
	if want := fmt.Sprintf("%s: start: ", "tasksq"); len(why) < len(want) || why[:len(want)] != want {
		t.Errorf("the row says %q", why)
	}
}
