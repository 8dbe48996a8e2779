package eventsq

import (
	"context"
	"testing"
)

// Nothing makes the key unique: a claim of one takes one of two rows that have one key.
func TestLimit(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO events (name, rowid) VALUES ('a', 'same'), ('a', 'same'), ('b', 'same')"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	for range 3 {
		if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
	}
}
