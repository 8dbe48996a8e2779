package syncsq

import (
	"context"
	"testing"
)

// An object that comes again counts a try, also where the count was null.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	tries := func() (n int64) {
		t.Helper()
		if err := db.QueryRow("SELECT tries FROM syncs WHERE library = 1 AND \"key\" = 'ABC' AND object = 3").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	job := NewJob{Library: 1, KeyValue: "ABC", Object: 3}
	for want := range int64(3) {
		key, err := q.Enqueue(ctx, job)
		if err != nil || key != (Key{Library: 1, KeyValue: "ABC", Object: 3}) {
			t.Errorf("key %v, %v", key, err)
		}
		if got := tries(); got != want {
			t.Errorf("%d tries, not %d", got, want)
		}
	}
	if _, err := db.Exec("UPDATE syncs SET tries = NULL, last_check = 0"); err != nil {
		t.Fatal(err)
	}
	if _, err := q.EnqueueMany(ctx, []NewJob{job, job}); err != nil || tries() != 2 {
		t.Errorf("%d tries, %v", tries(), err)
	}
	var late int
	if err := db.QueryRow("SELECT count(*) FROM syncs WHERE last_check < unixepoch() - 60").Scan(&late); err != nil || late != 0 {
		t.Errorf("%d, %v", late, err)
	}
}
