package parcelsq

import (
	"context"
	"testing"
)

// A key of two columns that the caller gives is that of the other rows as well.
func TestKeys(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	count := func(want int) {
		t.Helper()
		var n int
		if err := db.QueryRow("SELECT count(*) FROM journal WHERE EXISTS (SELECT 1 FROM parcels WHERE depot = journal.id AND code = what AND state IN ('new', 'sent'))").Scan(&n); err != nil || n != want {
			t.Errorf("%d rows, not %d: %v", n, want, err)
		}
	}
	if key, err := q.Enqueue(ctx, NewJob{Depot: 1, Code: `a"b`}); err != nil || key != (Key{1, `a"b`}) {
		t.Fatalf("key %v, %v", key, err)
	}
	if keys, err := q.EnqueueMany(ctx, []NewJob{{1, "c"}, {2, "c"}}); err != nil || len(keys) != 2 {
		t.Fatalf("keys %v, %v", keys, err)
	}
	count(3)
	if _, err := q.EnqueueMany(ctx, []NewJob{{3, "d"}, {2, "c"}}); err == nil {
		t.Error("a key is there twice")
	}
	count(3)
	if _, err := db.Exec("UPDATE parcels SET state = 'sent' WHERE code = 'c'"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Purge(ctx, 1); err != nil || n != 1 {
		t.Fatalf("purged %d rows: %v", n, err)
	}
	count(2)
	if n, err := q.Purge(ctx, 9); err != nil || n != 1 {
		t.Fatalf("purged %d rows: %v", n, err)
	}
	count(1)
}
