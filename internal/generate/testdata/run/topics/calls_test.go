package callsq

import (
	"context"
	"testing"
)

// Calls that wait are counted for each combination of what a claim says of them by its value; those of which none
// waits are left out, and what somebody has is not counted.
func TestBacklog(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec(`INSERT INTO calls (ready, number, cost, at, made, due, till) VALUES
		('a',  '1', 1, '2026-01-02', unixepoch() - 100, NULL, NULL),
		('a',  '2', 2, '2026-01-02', unixepoch() - 50,  unixepoch() - 1, unixepoch() - 1),
		('a',  '3', 3, '2026-01-02', unixepoch() - 500, unixepoch() + 60, NULL),
		('a',  '4', 4, NULL,         unixepoch() - 500, unixepoch() + 60, NULL),
		(NULL, '5', 5, NULL,         unixepoch() - 10,  NULL, NULL),
		('b',  '6', 6, NULL,         unixepoch() - 500, NULL, unixepoch() + 60)`); err != nil {
		t.Fatal(err)
	}
	got, err := q.Backlog(ctx)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []struct {
		ready, at              string
		here, delayed, seconds int64
	}{
		{"", "", 1, 0, 10},
		{"a", "", 0, 1, 0},
		{"a", "2026-01-02", 2, 1, 100},
	} {
		ready, at := "", ""
		if b := got[i]; b.ReadyValueValue != nil {
			ready = *b.ReadyValueValue
		}
		if b := got[i]; b.At != nil {
			at = b.At.Format("2006-01-02")
		}
		if age := int64(got[i].OldestReady.Seconds()); ready != want.ready || at != want.at || got[i].Ready != want.here || got[i].Delayed != want.delayed || age < want.seconds || age > want.seconds+5 {
			t.Errorf("%d is %+v of %q at %q, want %+v", i, got[i], ready, at, want)
		}
	}
	if _, err := db.Exec("UPDATE calls SET at = 'tomorrow'"); err != nil {
		t.Fatal(err)
	}
	if got, err := q.Backlog(ctx); err == nil {
		t.Errorf("a time that is none is %+v", got)
	}
}
