package filesq

import (
	"context"
	"testing"
)

// Where a claim moves the row, a new job brings its other rows along; what comes back does not.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if key, err := q.Enqueue(ctx, NewJob{Address: "alice"}); err != nil || key != 1 {
		t.Fatalf("key %d, %v", key, err)
	}
	if keys, err := q.EnqueueMany(ctx, []NewJob{{Address: "bob"}, {Address: "eve"}}); err != nil || len(keys) != 2 {
		t.Fatalf("keys %d, %v", keys, err)
	}
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if err := q.Requeue(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM journal JOIN files USING (id, address) WHERE what = 'file'").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, not 3: %v", n, err)
	}
}
