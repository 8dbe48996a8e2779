package knownq

import (
	"context"
	"database/sql"
	"regexp"
	"testing"
)

// worker adds a job, has q take it, and returns whom its row names.
func worker(t *testing.T, db *sql.DB, q *Queue) (name string) {
	t.Helper()
	ctx := context.Background()
	key, err := q.Enqueue(ctx, NewJob{})
	if err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
		t.Fatalf("%v, %v", jobs, err)
	}
	if err := db.QueryRow("SELECT consumer FROM known WHERE id = ?", key).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

// A worker of a column of UUIDs is a fresh one per queue.
func TestWorkerIsUUID(t *testing.T) {
	db := open(t)
	q := New(db)
	first, again, second := worker(t, db, q), worker(t, db, q), worker(t, db, New(db))
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if !form.MatchString(first) || !form.MatchString(second) || first == second || again != first {
		t.Errorf("workers %s, again %s, and %s", first, again, second)
	}
	const mine = "00000000-0000-4000-8000-000000000001"
	if named := worker(t, db, New(db, WithWorker(mine))); named != mine {
		t.Errorf("a worker that is named is %s", named)
	}
}
