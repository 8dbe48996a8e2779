package jobsq

import (
	"context"
	"errors"
	"testing"
)

// A worker whose claim ran out does not settle the job of the next one, although no claim counts.
func TestLateWorkerIsLost(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO jobs DEFAULT VALUES"); err != nil {
		t.Fatal(err)
	}
	first, err := q.Claim(ctx, 1)
	if err != nil || len(first) != 1 {
		t.Fatalf("%d jobs, %v", len(first), err)
	}
	if _, err := db.Exec("UPDATE jobs SET beat = beat - 3600"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d recovered, %v", n, err)
	}
	second, err := q.Claim(ctx, 1)
	if err != nil || len(second) != 1 {
		t.Fatalf("%d jobs, %v", len(second), err)
	}
	if err := q.Complete(ctx, first...); !errors.Is(err, ErrLost) {
		t.Errorf("the late worker gets %v", err)
	}
	if err := q.Complete(ctx, second...); err != nil {
		t.Error(err)
	}
}
