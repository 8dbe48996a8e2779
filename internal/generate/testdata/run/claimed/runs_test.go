package runsq

import (
	"context"
	"errors"
	"testing"
)

// What Start writes to another table is written for good claims only, once.
func TestStarts(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO runs DEFAULT VALUES"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	claim := func() Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		return jobs[0]
	}
	rows := func(want int) {
		t.Helper()
		var n int
		if err := db.QueryRow("SELECT count(*) FROM starts").Scan(&n); err != nil || n != want {
			t.Errorf("%d rows, not %d: %v", n, want, err)
		}
	}
	late := claim()
	if err := q.Requeue(ctx, late); err != nil {
		t.Fatal(err)
	}
	mine := claim()
	if err := q.Start(ctx, late); !errors.Is(err, ErrLost) {
		t.Errorf("a late worker begins a job: %v", err)
	}
	rows(0)
	if err := q.Start(ctx, mine); err != nil {
		t.Fatal(err)
	}
	rows(1)
	if err := q.Start(ctx, mine); !errors.Is(err, ErrLost) {
		t.Errorf("a job is begun twice: %v", err)
	}
	rows(1)
	if _, err := db.Exec("UPDATE runs SET state = 'aborting'"); err != nil {
		t.Fatal(err)
	}
	if err := q.Fail(ctx, mine, nil); err != nil {
		t.Errorf("a job in the other value of running: %v", err)
	}
}
