package retiredq

import (
	"context"
	"testing"
)

// A claim takes the rows of its caller to another table, and adds them up.
func TestMoved(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO totals VALUES (7, 1), (8, 0)"); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []int64{7, 8, 7} {
		if _, err := q.Enqueue(ctx, NewJob{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	if jobs, err := q.Claim(ctx, 7, 5); err != nil || len(jobs) != 2 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	for text, want := range map[string]int{
		"SELECT count(*) FROM retired": 1, "SELECT count(*) FROM archive WHERE kind = 7": 2,
		"SELECT gone FROM totals WHERE kind = 7": 3, "SELECT gone FROM totals WHERE kind = 8": 0,
	} {
		var n int
		if err := db.QueryRow(text).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, not %d: %v", text, n, want, err)
		}
	}
}
