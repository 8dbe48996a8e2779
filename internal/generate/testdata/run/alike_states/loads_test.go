package loadsq

import (
	"context"
	"testing"
)

// A row keeps others out while somebody has it, also when its claim has run out, and not once it is done.
func TestRunOutKeepsOut(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	add := func(want bool) {
		t.Helper()
		if _, added, err := q.Enqueue(ctx, NewJob{Hash: "x"}); err != nil || added != want {
			t.Errorf("added %t, not %t: %v", added, want, err)
		}
	}
	add(true)
	add(false)
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	add(false)
	if _, err := db.Exec("UPDATE loads SET till = 1"); err != nil {
		t.Fatal(err)
	}
	add(false)
	if _, err := db.Exec("UPDATE loads SET state = 'done'"); err != nil {
		t.Fatal(err)
	}
	add(true)
}
