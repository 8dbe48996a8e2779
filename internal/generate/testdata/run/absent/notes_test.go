package notesq

import (
	"context"
	"os"
	"testing"
)

// While its claim stands in a side table the row keeps another out, and not any more when it
// is done.
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
	enqueue := func(want bool) {
		t.Helper()
		if _, added, err := q.Enqueue(ctx, NewJob{Address: "alice"}); err != nil || added != want {
			t.Fatalf("added %t, %v", added, err)
		}
	}
	enqueue(true)
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	enqueue(false)
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	enqueue(true)
}
