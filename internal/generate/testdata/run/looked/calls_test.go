package callsq

import (
	"context"
	"errors"
	"testing"
)

// An outcome that leaves the row as it is writes other tables all the same, for good claims.
func TestOutcomeBeside(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO calls (id, body) VALUES (1, 'a')"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if err := q.Pushed(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	next, err := q.Claim(ctx, 5)
	if err != nil || len(next) != 1 || next[0].ID == jobs[0].ID || *next[0].Body != "a" {
		t.Fatal(next, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	if err := q.Pushed(ctx, jobs...); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM calls").Scan(&n); err != nil || n != 2 {
		t.Error(n, err)
	}
}
