package eventsq

import (
	"context"
	"testing"
)

// A row that is only added brings its other rows along.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if key, err := q.Enqueue(ctx, NewJob{Address: "alice"}); err != nil || key != 1 {
		t.Fatalf("key %d, %v", key, err)
	}
	if keys, err := q.EnqueueMany(ctx, []NewJob{{Address: "bob"}, {Address: "eve"}}); err != nil || len(keys) != 2 {
		t.Fatalf("keys %d, %v", keys, err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM journal JOIN events USING (id, address) WHERE what = 'event'").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, not 3: %v", n, err)
	}
}
