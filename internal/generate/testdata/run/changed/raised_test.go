package raisedq

import (
	"context"
	"testing"
)

// A claim that writes another table first returns its jobs as it has written them, and that table has
// what they were.
func TestRaised(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for _, priority := range []int64{1, 2, 3} {
		if _, err := q.Enqueue(ctx, NewJob{Priority: &priority}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, []int64{3, 1}, 10, 5)
	if err != nil || len(jobs) != 2 || jobs[0].Priority != 11 || jobs[1].Priority != 13 || *jobs[1].Twice != 26 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM raises WHERE (id, was) IN ((1, 1), (3, 3))").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows say what was: %v", n, err)
	}
}
