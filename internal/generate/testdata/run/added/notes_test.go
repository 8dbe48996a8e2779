package notesq

import (
	"context"
	"os"
	"testing"
)

// Where claims are rows of a side table, a new job brings its other rows along.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	lease, err := os.ReadFile("schema/lease.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(lease)); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	if key, err := q.Enqueue(ctx, NewJob{Address: "alice"}); err != nil || key != 1 {
		t.Fatalf("key %d, %v", key, err)
	}
	if keys, err := q.EnqueueMany(ctx, []NewJob{{Address: "bob"}, {Address: "eve"}}); err != nil || len(keys) != 2 {
		t.Fatalf("keys %d, %v", keys, err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM journal JOIN notes USING (id, address) WHERE what = 'note'").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, not 3: %v", n, err)
	}
}
