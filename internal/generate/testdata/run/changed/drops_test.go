package dropsq

import (
	"context"
	"testing"
)

// A claim that deletes rows writes another table for these alone, in one transaction with that.
func TestTold(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for _, body := range []string{"a", "b", "c"} {
		if _, err := q.Enqueue(ctx, NewJob{Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, []int64{2, 3, 9}, "too old", 5)
	if err != nil || len(jobs) != 2 || jobs[0].Body != "b" {
		t.Fatalf("%+v: %v", jobs, err)
	}
	count := func(text string) (n int) {
		t.Helper()
		if err := db.QueryRow(text).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count("SELECT count(*) FROM dropped WHERE reason = 'too old' AND (id, body) IN ((2, 'b'), (3, 'c'))"); n != 2 {
		t.Errorf("%d rows are told", n)
	}
	if n := count("SELECT count(*) FROM drops"); n != 1 {
		t.Errorf("%d rows are left", n)
	}
	if jobs, err = q.Claim(ctx, []int64{2}, "again", 5); err != nil || len(jobs) != 0 || count("SELECT count(*) FROM dropped") != 2 {
		t.Errorf("%+v: %v", jobs, err)
	}
	if _, err := db.Exec("DROP TABLE dropped"); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Claim(ctx, []int64{1}, "lost", 5); err == nil || count("SELECT count(*) FROM drops") != 1 {
		t.Errorf("a row is gone of which nothing could be told: %v", err)
	}
}
