package ticksq

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// A row is due, held and ended by numbers of nanoseconds.
func TestNanoseconds(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	number := func(column string) (n int64) {
		t.Helper()
		if err := db.QueryRow("SELECT " + column + " FROM ticks").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	due := time.Now().Add(time.Hour)
	if _, err := q.Enqueue(ctx, NewJob{DueAt: &due}); err != nil {
		t.Fatal(err)
	}
	if n := number("due_at"); n != due.UnixNano() {
		t.Errorf("due at %d, want %d", n, due.UnixNano())
	}
	claim := func() []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 10)
		if err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	if jobs := claim(); len(jobs) != 0 {
		t.Fatalf("an hour early: %v", jobs)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	due = due.Add(-2 * time.Hour)
	exec("UPDATE ticks SET due_at = ?", due.UnixNano())
	first := claim()
	if len(first) != 1 || !first[0].DueAt.Equal(due) {
		t.Fatalf("%+v, want due at %v", first, due)
	}
	if since := time.Since(first[0].Since); since < -time.Second || since > time.Minute {
		t.Errorf("claimed %v ago", since)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 0 {
		t.Fatalf("%d claims that are good were taken back: %v", n, err)
	}
	exec("UPDATE ticks SET since = since - 61000000000")
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d claims that ran out were taken back: %v", n, err)
	}
	time.Sleep(2 * time.Millisecond) // by which claims are told apart
	second := claim()
	if err := q.Complete(ctx, first...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if err := q.Fail(ctx, second[0], errors.New("on purpose")); err != nil {
		t.Fatal(err)
	}
	if wait := time.Until(time.Unix(0, number("due_at"))); wait < 55*time.Second || wait > 65*time.Second {
		t.Errorf("due in %v after a failure, want 1m", wait)
	}
	exec("UPDATE ticks SET due_at = 0")
	if err := q.Requeue(ctx, math.MaxInt64, claim()...); err != nil {
		t.Fatal(err)
	}
	if last := time.Unix(0, number("due_at")); last.Year() != 2262 {
		t.Errorf("put off until %v", last)
	}
	exec("UPDATE ticks SET due_at = ?", time.Now().Add(-time.Minute).UnixNano())
	stats, err := q.Stats(ctx)
	if age := stats.OldestReady; err != nil || age < 55*time.Second || age > 65*time.Second {
		t.Errorf("the oldest is ready for %v, want 1m: %v", age, err)
	}
	if err := q.Complete(ctx, claim()...); err != nil {
		t.Fatal(err)
	}
	if ended := time.Since(time.Unix(0, number("CAST(ended AS INTEGER)"))); ended < -time.Second || ended > time.Minute {
		t.Errorf("ended %v ago", ended)
	}
	if n, err := q.Purge(ctx, time.Hour, 10); err != nil || n != 0 {
		t.Errorf("%d rows are older than an hour: %v", n, err)
	}
	if n, err := q.Purge(ctx, -time.Minute, 10); err != nil || n != 1 {
		t.Errorf("%d rows are over: %v", n, err)
	}
}

// A new job that says no time is due at present, added alone or with others that do.
func TestPresent(t *testing.T) {
	ctx := context.Background()
	q := New(open(t))
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if _, err := q.EnqueueMany(ctx, []NewJob{{}, {DueAt: &later}}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%+v, %v", jobs, err)
	}
	for _, j := range jobs {
		if since := time.Since(j.DueAt); since < -time.Second || since > time.Minute {
			t.Errorf("due %v ago", since)
		}
	}
}
