package runsq

import (
	"context"
	"testing"
	"time"
)

// A run is added where its schedule is there and not stopped, no run is newer than what the caller has
// seen, and none waits.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	put := func(cron int64, seen time.Time, added bool) {
		t.Helper()
		key, did, err := q.Enqueue(ctx, NewJob{Cron: cron, Seen: seen})
		if err != nil || did != added || did != (key != 0) {
			t.Errorf("key %d, added %t, %v", key, did, err)
		}
	}
	do := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	past, later := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	do("INSERT INTO crons VALUES (1, 'normal'), (2, 'stop')")
	put(1, past, true)
	put(2, past, false)
	put(3, past, false)
	put(1, later, false) // one waits
	do("UPDATE runs SET status = 'done'")
	put(1, past, false) // one is newer
	put(1, later, true)
}
