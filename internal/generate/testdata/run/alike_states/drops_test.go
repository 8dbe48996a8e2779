package dropsq

import (
	"context"
	"testing"
)

// A row that somebody else has keeps no job out, where the ready ones alone do.
func TestLockedKeepsNoneOut(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO drops (hash, locked_by) VALUES ('x', 'worker1')"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if _, added, err := q.Enqueue(ctx, NewJob{Hash: "x"}); err != nil || added != want {
			t.Errorf("added %t, not %t: %v", added, want, err)
		}
	}
}
