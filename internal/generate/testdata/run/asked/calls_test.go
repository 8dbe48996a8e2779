package callsq

import (
	"context"
	"testing"
	"time"
)

// The condition and the write of a claim take one argument, and a wait by the database's clock.
func TestPutOff(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	for want := range 2 {
		jobs, err := q.Claim(ctx, 2, 5, time.Minute, 1)
		if err != nil || len(jobs) != 1-want {
			t.Fatalf("%+v: %v", jobs, err)
		}
	}
	var weight, due int64
	if err := db.QueryRow("SELECT weight, run_at - unixepoch() FROM calls WHERE id = 2").Scan(&weight, &due); err != nil || weight != 5 || due < 55 || due > 60 {
		t.Errorf("%d, due in %d s: %v", weight, due, err)
	}
}
