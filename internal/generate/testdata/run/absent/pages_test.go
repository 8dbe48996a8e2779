package pagesq

import (
	"context"
	"slices"
	"testing"
)

// What belongs to a page is written for those that were added, and for no other.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	journal := func(want int) {
		t.Helper()
		var n int
		if err := db.QueryRow("SELECT count(*) FROM journal").Scan(&n); err != nil || n != want {
			t.Errorf("%d rows, not %d: %v", n, want, err)
		}
	}
	for i, want := range []bool{true, false} {
		key, added, err := q.Enqueue(ctx, NewJob{Site: 1, Path: "/"})
		if err != nil || added != want || added != (key == Key{Site: 1, Path: "/"}) {
			t.Errorf("%d: key %v, added %t, %v", i, key, added, err)
		}
	}
	journal(1)
	keys, added, err := q.EnqueueMany(ctx, []NewJob{{Site: 2, Path: "/"}, {Site: 1, Path: "/"}, {Site: 2, Path: "/"}, {Site: 1, Path: "/a"}})
	if err != nil || !slices.Equal(added, []bool{true, false, false, true}) || !slices.Equal(keys, []Key{{Site: 2, Path: "/"}, {}, {}, {Site: 1, Path: "/a"}}) {
		t.Errorf("keys %v, added %t, %v", keys, added, err)
	}
	journal(3)
	if _, added, err := q.EnqueueMany(ctx, []NewJob{{Site: 1, Path: "/"}}); err != nil || added[0] {
		t.Errorf("added %t, %v", added, err)
	}
	journal(3)
}
