package jobsq

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"
)

// rows returns what a query returns, a text for each row.
func rows(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	r, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var list []string
	for r.Next() {
		var text string
		if err := r.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, not %q", what, got, want)
	}
}

// What the caller says goes to the other tables: at a claim and when a job fails for all jobs
// of a call, when jobs are completed for each its own. The worker needs no column of the queue.
func TestArguments(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db, WithWorker("me"))
	for range 3 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	node := "north"
	jobs, err := q.Claim(ctx, &node, 2)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	third, err := q.Claim(ctx, nil, 1)
	if err != nil || len(third) != 1 {
		t.Fatalf("%d jobs: %v", len(third), err)
	}
	const runs = "SELECT job_id || ' ' || host || ' ' || ifnull(node, '-') || ' ' || ifnull(why, '-') FROM runs ORDER BY job_id"
	same(t, "claimed", rows(t, db, runs), "1 me north -", "2 me north -", "3 me - -")

	code, weight, at := int64(200), 1.5, int64(1_700_000_000_123)
	err = q.Complete(ctx,
		jobs[0].Done(&code, "fine", []byte{0, 255}, &weight, &at),
		jobs[1].Done(nil, "well", nil, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "answers", rows(t, db, "SELECT id || ' ' || code || ' ' || ifnull(hex(body), '-') || ' ' || ifnull(weight, '-') || ' ' || ifnull(answered_at, '-') FROM answers ORDER BY id"),
		"1 fine 00FF 1.5 1700000000123", "2 well  - -")
	same(t, "rows of the queue", rows(t, db, "SELECT state || ' ' || ifnull(code, '-') FROM jobs ORDER BY id"), "2 200", "2 -", "1 -")
	same(t, "runs", rows(t, db, runs), "3 me - -")
	if err := q.Complete(ctx, jobs[0].Done(nil, "again", nil, nil, nil)); !errors.Is(err, ErrLost) {
		t.Errorf("a job is completed twice: %v", err)
	}

	// The last try: what is said goes to the row of the run and to that of the job.
	if _, err := db.Exec("UPDATE jobs SET tries = 3 WHERE id = 3"); err != nil {
		t.Fatal(err)
	}
	third[0].Tries = 3
	why, failed := "broken", int64(500)
	if err := q.Fail(ctx, third[0], errors.New("no"), &failed, &why); err != nil {
		t.Fatal(err)
	}
	same(t, "failed", rows(t, db, runs), "3 me - broken")
	same(t, "rows of the queue", rows(t, db, "SELECT state || ' ' || ifnull(code, '-') FROM jobs WHERE id = 3"), "3 500")
	again := "again"
	if n, err := q.Redrive(ctx, &again, 10); err != nil || n != 1 {
		t.Fatalf("%d jobs: %v", n, err)
	}
	same(t, "redriven", rows(t, db, runs), "3 me - again")
}

// Where Recover gives a job up, nobody is there to say anything: the column stays.
func TestGivenUp(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db, WithWorker("me"))
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, nil, 1); err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if _, err := db.Exec("UPDATE jobs SET tries = 3, lease_till = 0; UPDATE runs SET why = 'before'"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d jobs: %v", n, err)
	}
	same(t, "given up", rows(t, db, "SELECT state || ' ' || why FROM jobs, runs"), "3 before")
}
