package triesq

import (
	"context"
	"errors"
	"testing"
)

// A job that failed, or whose worker died, leaves its place in the unique index to the row that tries it again.
func TestNextTry(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	key := "a"
	if _, err := q.Enqueue(ctx, NewJob{Uniq: &key}); err != nil {
		t.Fatal(err)
	}
	claim := func(attempt int64) Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != 1 || jobs[0].Attempt != attempt || jobs[0].Uniq == nil || *jobs[0].Uniq != key {
			t.Fatalf("%v, %v, attempt %d is wanted", jobs, err, attempt)
		}
		return jobs[0]
	}
	if err := q.Fail(ctx, claim(1), errors.New("no")); err != nil {
		t.Fatal(err)
	}
	claim(2)
	if _, err := db.Exec("UPDATE tries SET till = 1 WHERE state = 'busy'"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d are recovered, %v", n, err)
	}
	claim(3)
}
