package stagesq

import (
	"context"
	"testing"
)

// The last stage of an order is done behind all others, whatever its key.
func TestOneAfterTheOther(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO stages (id, order_id, kind) VALUES (1, 7, 'last'), (2, 7, 'first'), (3, 7, 'next')"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{2, 3, 1} {
		jobs, err := q.Claim(ctx, 5)
		if err != nil || len(jobs) != 1 || jobs[0].ID != want {
			t.Fatalf("%+v came, not %d: %v", jobs, want, err)
		}
		if err := q.Complete(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
	}
}
