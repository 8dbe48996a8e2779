package marksq

import (
	"context"
	"testing"
)

// Bytes name the row of a new job, also such as are no text.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if key, err := q.Enqueue(ctx, NewJob{ID: []byte{0, 255}, Address: "alice"}); err != nil || key != "\x00\xff" {
		t.Fatalf("key %q, %v", key, err)
	}
	if keys, err := q.EnqueueMany(ctx, []NewJob{{[]byte("b"), "bob"}, {[]byte{1, 2, 3}, "eve"}}); err != nil || len(keys) != 2 {
		t.Fatalf("keys %q, %v", keys, err)
	}
	if _, err := q.Enqueue(ctx, NewJob{ID: []byte("c"), Address: "bob"}); err == nil {
		t.Error("bob is there twice")
	}
	jobs, err := q.Claim(ctx, 9)
	if err != nil || len(jobs) != 3 {
		t.Errorf("%d jobs: %v", len(jobs), err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM totals WHERE address IN ('alice', 'bob', 'eve')").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, not 3: %v", n, err)
	}
}
