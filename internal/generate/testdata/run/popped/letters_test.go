package lettersq

import (
	"context"
	"testing"
)

// A claim writes what it is given to all its jobs, the first of the queue, although one of the
// columns that it writes gives their order.
func TestGiven(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for _, place := range []int64{2, 1, 3} {
		if _, err := q.Enqueue(ctx, NewJob{Box: 7, Place: place}); err != nil {
			t.Fatal(err)
		}
	}
	why := "out of stock"
	jobs, err := q.Claim(ctx, 7, 9, &why, 2)
	if err != nil || len(jobs) != 2 || jobs[0].ID+jobs[1].ID != 3 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM letters WHERE state = 'cancelled' AND place = 9 AND reason = ?", why).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows have what the claim was given: %v", n, err)
	}
}
