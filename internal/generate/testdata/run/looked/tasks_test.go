package tasksq

import (
	"context"
	"errors"
	"testing"
)

// What tells a running row stands in another table, which each step writes as well.
func TestStatesInAnotherTable(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO records (id, status) VALUES (7, 'waiting'); INSERT INTO tasks (id, record, free) VALUES (1, 7, 1)"); err != nil {
		t.Fatal(err)
	}
	told := func(after string, free int, want string) {
		t.Helper()
		var got int
		var status string
		if err := db.QueryRow("SELECT free, status FROM tasks, records").Scan(&got, &status); err != nil || got != free || status != want {
			t.Fatalf("after %s: free %d, record %s (%v), want %d, %s", after, got, status, err, free, want)
		}
	}
	q := New(db)
	claim := func() Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		told("Claim", 0, "running")
		return jobs[0]
	}
	if err := q.Requeue(ctx, claim()); err != nil {
		t.Fatal(err)
	}
	told("Requeue", 1, "waiting")
	if err := q.Fail(ctx, claim(), errors.New("no")); err != nil {
		t.Fatal(err)
	}
	told("Fail", 0, "error")
	if n, err := q.Redrive(ctx, 5); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	told("Redrive", 1, "waiting")
	job := claim()
	if _, err := db.Exec("UPDATE tasks SET since = since - 60"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 5); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	told("Recover", 1, "waiting")
	if err := q.Complete(ctx, job); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if err := q.Complete(ctx, claim()); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM tasks").Scan(&n); err != nil || n != 0 {
		t.Error(n, err)
	}
}
