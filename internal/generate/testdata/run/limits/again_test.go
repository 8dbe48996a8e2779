package againq

import (
	"context"
	"errors"
	"testing"
)

// Three tries are two retries: a job begins with that count, also when it is redriven, and
// waits longer after each failure.
func TestTries(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for n, least := range []int64{3, 7, 0} {
			jobs, err := q.Claim(ctx, 10)
			if err != nil || len(jobs) != 1 || jobs[0].More != int64(2-n) {
				t.Fatal(jobs, err)
			}
			if err := q.Fail(ctx, jobs[0], errors.New("no")); err != nil {
				t.Fatal(err)
			}
			var wait int64
			if err := db.QueryRow("SELECT coalesce(due, unixepoch()) - unixepoch() FROM again").Scan(&wait); err != nil || wait < least {
				t.Errorf("failure %d: a wait of %d seconds, %v", n+1, wait, err)
			}
			if _, err := db.Exec("UPDATE again SET due = null"); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := q.Redrive(ctx, 10); err != nil || n != 1 {
			t.Fatalf("%d redriven, %v", n, err)
		}
	}
}
