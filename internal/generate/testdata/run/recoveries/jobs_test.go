package jobsq

import (
	"context"
	"testing"
)

// Each recovery takes one of those that are left; at 0 the row is deleted.
func TestLives(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	for _, lives := range []int64{2, 1, 0} {
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != 1 || jobs[0].Lives != lives {
			t.Fatalf("%+v: %v", jobs, err)
		}
		if _, err := db.Exec("UPDATE jobs SET until_at = 1"); err != nil {
			t.Fatal(err)
		}
		if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
			t.Fatalf("%d recovered: %v", n, err)
		}
	}
	var rows int
	if err := db.QueryRow("SELECT count(*) FROM jobs").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows stay: %v", rows, err)
	}
}
