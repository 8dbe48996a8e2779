package probesq

import (
	"context"
	"errors"
	"testing"
)

// A job that fails has its tries; one whose claim ran out has none, and its row goes where those
// of failed jobs go.
func TestExpiredFailsWithTriesLeft(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	key, err := q.Enqueue(ctx, NewJob{})
	if err != nil {
		t.Fatal(err)
	}
	claim := func() Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		return jobs[0]
	}
	if err := q.Fail(ctx, claim(), errors.New("no")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE probes SET seen = unixepoch()"); err != nil {
		t.Fatal(err)
	}
	claim()
	if n, err := q.Recover(ctx, 10); err != nil || n != 0 {
		t.Fatalf("%d jobs are lost whose workers were seen: %v", n, err)
	}
	if _, err := db.Exec("UPDATE probes SET seen = unixepoch() - 61"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d jobs are lost: %v", n, err)
	}
	var left, attempts int
	var why string
	row := db.QueryRow("SELECT (SELECT count(*) FROM probes), attempts, why FROM lost_probes JOIN losses ON probe = id WHERE id = ?", key)
	if err := row.Scan(&left, &attempts, &why); err != nil || left != 0 || attempts != 2 || why != "the claim ran out" {
		t.Errorf("%d rows left, %d attempts, %q: %v", left, attempts, why, err)
	}
}
