package againq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Whoever lost a claim does not settle a later one, though an outcome set the count back.
func TestLateWorker(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO again (id) VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	claim := func() []Job {
		t.Helper()
		time.Sleep(2 * time.Millisecond) // by which claims are told apart
		jobs, err := q.Claim(ctx, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		return jobs
	}
	stalled := claim()
	if _, err := db.Exec("UPDATE again SET at_ms = at_ms - 3600000"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := q.Again(ctx, claim()...); err != nil {
		t.Fatal(err)
	}
	last := claim()
	if err := q.Complete(ctx, stalled...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if err := q.Complete(ctx, last...); err != nil {
		t.Error(err)
	}
}
