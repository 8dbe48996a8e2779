package tasksq

import (
	"context"
	"database/sql"
	"errors"
	"testing"
)

func state(t *testing.T, db *sql.DB, key Key) Status {
	t.Helper()
	var held []byte
	if err := db.QueryRow("SELECT state FROM tasks WHERE id = ?", key).Scan(&held); err != nil {
		t.Fatal(err)
	}
	return Status(held)
}

// The states of a column of bytes are those bytes, and Status names them.
func TestStatusOfBytes(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	first, err := q.Enqueue(ctx, NewJob{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := q.Enqueue(ctx, NewJob{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE tasks SET state = x'66726565' WHERE id = ?", second); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%v, %v", jobs, err)
	}
	if held := state(t, db, first); held != StatusRunning || Status(jobs[0].State) != StatusRunning {
		t.Errorf("claimed in state %q, as the job has it %q", held, jobs[0].State)
	}
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if held := state(t, db, first); held != StatusDone || held[1] != 0xff {
		t.Errorf("completed in state %q", held)
	}
	for range 2 {
		if err := q.Fail(ctx, jobs[1], errors.New("no")); err != nil {
			t.Fatal(err)
		}
		if held := state(t, db, second); held == StatusFailed {
			return
		}
		if jobs, err = q.Claim(ctx, 10); err != nil || len(jobs) != 1 {
			t.Fatalf("%v, %v", jobs, err)
		}
		jobs = append(jobs, jobs[0])
	}
	t.Errorf("failed twice in state %q", state(t, db, second))
}
