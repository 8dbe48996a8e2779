package systasksq

import (
	"context"
	"testing"
)

// A job that is like one which waits is left out, one that is like a job which runs or has ended is not;
// a null is like a null, and of jobs of one call the first is added.
func TestAlike(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	add := func(kind string, target *int64, want bool) {
		t.Helper()
		if key, added, err := q.Enqueue(ctx, NewJob{Kind: kind, Target: target}); err != nil || added != want || added != (key != 0) {
			t.Errorf("key %d, added %t: %v", key, added, err)
		}
	}
	one, two := int64(1), int64(2)
	add("sync", nil, true)
	add("sync", nil, false)
	add("sync", &one, true)
	add("sync", &one, false)
	add("list", &one, true)

	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	add("sync", nil, true)
	add("sync", nil, false)

	keys, added, err := q.EnqueueMany(ctx, []NewJob{{Kind: "sync", Target: &two}, {Kind: "sync", Target: &one}, {Kind: "sync", Target: &two}, {Kind: "x"}})
	if err != nil || len(keys) != 4 || !added[0] || added[1] || added[2] || !added[3] || keys[1] != 0 || keys[3] == 0 {
		t.Errorf("%v %v: %v", keys, added, err)
	}
}
