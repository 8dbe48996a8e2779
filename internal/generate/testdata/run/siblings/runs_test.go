package runsq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// What an order has come to is told by what the step leaves of all its runs, also where one call ends several.
func TestSiblings(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	claim := func(order int) []Job {
		t.Helper()
		for range 2 {
			if _, err := db.Exec("INSERT INTO runs (order_id) VALUES (?)", order); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Exec("INSERT INTO orders (id) VALUES (?)", order); err != nil {
			t.Fatal(err)
		}
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != 2 {
			t.Fatalf("%d jobs, %v", len(jobs), err)
		}
		return jobs
	}
	want := func(order int, state string, failed int) {
		t.Helper()
		var s string
		var n int
		if err := db.QueryRow("SELECT state, failed FROM orders WHERE id = ?", order).Scan(&s, &n); err != nil || s != state || n != failed {
			t.Errorf("order %d is %s, with %d failed, %v; want %s, %d", order, s, n, err, state, failed)
		}
	}
	if err := q.Complete(ctx, claim(1)...); err != nil {
		t.Fatal(err)
	}
	want(1, "closed", 0)

	jobs := claim(2)
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	want(2, "open", 0)
	if err := q.Fail(ctx, jobs[1], errors.New("no")); err != nil {
		t.Fatal(err)
	}
	want(2, "closed", 1)

	claim(3)
	if _, err := db.Exec("UPDATE runs SET taken = 1 WHERE state = 'busy'"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, time.Minute, 10); err != nil || n != 2 {
		t.Fatalf("%d recovered, %v", n, err)
	}
	want(3, "lost", 0) // by giveup alone: of fail nothing is written

	jobs = claim(4)
	for i, ended := range []int{0, 1} {
		if err := q.Drop(ctx, jobs[i]); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM ended").Scan(&n); err != nil || n != ended {
			t.Errorf("%d orders have ended, %v; want %d", n, err, ended)
		}
	}
}
