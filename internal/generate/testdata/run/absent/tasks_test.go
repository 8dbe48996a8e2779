package tasksq

import (
	"context"
	"testing"
)

// Where the unique index holds waiting rows alone, what runs or has ended keeps none out.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	enqueue := func(want bool) Key {
		t.Helper()
		key, added, err := q.Enqueue(ctx, NewJob{Fingerprint: "f"})
		if err != nil || added != want || (key != "") != want {
			t.Fatalf("key %q, added %t, %v", key, added, err)
		}
		return key
	}
	first := enqueue(true)
	enqueue(false)
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 || jobs[0].Key() != first {
		t.Fatal(jobs, err)
	}
	enqueue(true)
	enqueue(false)
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	enqueue(false)
}
