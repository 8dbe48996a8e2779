package bumpsq

import (
	"context"
	"testing"
)

// A claim writes what it is given to the rows that are named, and to no others; they stay, and may be
// changed again.
func TestChanged(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for range 3 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, priority := range []int64{7, 8} {
		jobs, err := q.Claim(ctx, []int64{1, 3, 9}, priority, 10)
		if err != nil || len(jobs) != 2 || jobs[0].ID != 1 || jobs[1].ID != 3 {
			t.Fatalf("%+v: %v", jobs, err)
		}
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM bumps WHERE priority = 8 AND seen = 2 AND id <> 2").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows are changed twice: %v", n, err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Ready != 3 {
		t.Errorf("%+v: %v", s, err)
	}
}
