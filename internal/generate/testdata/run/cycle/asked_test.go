package askedq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// claim takes one job, or fails when there is another number of them.
func claim(t *testing.T, q *Queue, want int) []Job {
	t.Helper()
	jobs, err := q.Claim(context.Background(), 10)
	if err != nil || len(jobs) != want {
		t.Fatalf("claimed %d jobs, not %d: %v", len(jobs), want, err)
	}
	return jobs
}

// A job that is done is ready again, not before the time that it was given, and its
// tries begin anew; who comes late changes nothing.
func TestNextTime(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO asked (run_at, tries) VALUES ('2001-01-01T00:00:00.000Z', 1)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	job := claim(t, q, 1)[0]
	if job.Tries != 2 {
		t.Errorf("the try that runs is number %d", job.Tries)
	}
	next, answer := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond), "fine"
	if err := q.Complete(ctx, job.Done(&answer, next)); err != nil {
		t.Fatal(err)
	}
	var state, due, found string
	var tries int
	var holder *string
	if err := db.QueryRow("SELECT state, run_at, tries, holder, answer FROM asked").Scan(&state, &due, &tries, &holder, &found); err != nil {
		t.Fatal(err)
	}
	if state != "N" || tries != 0 || holder != nil || found != answer {
		t.Errorf("the row is %s with %d tries, held by %v, and its answer is %s", state, tries, holder, found)
	}
	if want := next.Format("2006-01-02T15:04:05.000Z"); due != want {
		t.Errorf("it is due at %s, not at %s", due, want)
	}
	claim(t, q, 0)
	if err := q.Complete(ctx, job.Done(nil, next)); !errors.Is(err, ErrLost) {
		t.Errorf("completing a job twice: %v", err)
	}
	if _, err := db.Exec("UPDATE asked SET run_at = '2001-01-01T00:00:00.000Z'"); err != nil {
		t.Fatal(err)
	}
	if again := claim(t, q, 1)[0]; again.Tries != 1 {
		t.Errorf("the first try of the next round is number %d", again.Tries)
	}
}

// Of several jobs each has its own next time.
func TestEachItsOwn(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("INSERT INTO asked (run_at) VALUES ('2001'), ('2002'), ('2003')"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	var done []Done
	for _, job := range claim(t, q, 3) {
		done = append(done, job.Done(nil, time.Date(3000+int(job.ID), 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	if err := q.Complete(context.Background(), done...); err != nil {
		t.Fatal(err)
	}
	var right int
	if err := db.QueryRow("SELECT count(*) FROM asked WHERE state = 'N' AND run_at = printf('300%d-01-01T00:00:00.000Z', id)").Scan(&right); err != nil || right != 3 {
		t.Errorf("%d rows are due when they should: %v", right, err)
	}
}

// A handler of Work returns the next time of its job.
func TestWork(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("INSERT INTO asked (run_at) VALUES ('2001-01-01T00:00:00.000Z')"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	rounds := 0
	err := New(db).Work(ctx, func(context.Context, Job) (answer *string, next time.Time, err error) {
		if rounds++; rounds == 3 {
			cancel()
			return nil, time.Now().Add(time.Hour), nil
		}
		return nil, time.Now().Add(-time.Hour), nil
	}, WorkOptions{PollInterval: 10 * time.Millisecond})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var state string
	var later bool
	if err := db.QueryRow("SELECT state, run_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '50 minutes') FROM asked").Scan(&state, &later); err != nil {
		t.Fatal(err)
	}
	if rounds != 3 || state != "N" || !later {
		t.Errorf("after %d rounds the row is %s; due later: %v", rounds, state, later)
	}
}
