package dropsq

import (
	"context"
	"strings"
	"testing"
	"time"
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

// Claim waits for who writes, also where the driver begins transactions without a lock: it does
// not read before it may write.
func TestClaimWaitsForAWriter(t *testing.T) {
	ctx := context.Background()
	dsn := strings.Replace(database(t), "&_txlock=immediate", "", 1)
	db, other := opened(t, dsn), opened(t, dsn)
	if _, err := db.Exec("INSERT INTO drops (id, body) VALUES (1, 'a')"); err != nil {
		t.Fatal(err)
	}
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO drops (id, body) VALUES (2, 'b')"); err != nil {
		t.Fatal(err)
	}
	committed := make(chan error, 1)
	time.AfterFunc(time.Second, func() { committed <- tx.Commit() })
	jobs, err := New(db).Claim(ctx, []int64{1, 2}, "told", 10)
	if err != nil || len(jobs) != 2 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
	if err := <-committed; err != nil {
		t.Fatal(err)
	}
}
