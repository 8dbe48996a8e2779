package ordersq

import (
	"context"
	"slices"
	"testing"
)

// Each job of a call sees what those before it have added to the other table.
func TestEnqueueMany(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	news := []NewJob{{Tenant: 1}, {Tenant: 1}, {Tenant: 2}, {Tenant: 1}, {Tenant: 1}}
	for i, want := range [][]bool{{true, true, true, true, false}, {false, false, true, false, false}} {
		keys, added, err := q.EnqueueMany(ctx, news)
		if err != nil || !slices.Equal(added, want) || slices.Contains(keys, 0) != slices.Contains(want, false) {
			t.Errorf("call %d: keys %d, added %t, %v", i, keys, added, err)
		}
	}
	if _, added, err := q.Enqueue(ctx, NewJob{Tenant: 1}); added || err != nil {
		t.Errorf("added %t, %v", added, err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM sent WHERE tenant = 1").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
}
