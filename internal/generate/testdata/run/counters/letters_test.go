package lettersq

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Each job of a call counts in the row that it shares with others.
func TestEachJobCounts(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO totals (address) VALUES ('alice'), ('bob'), ('eve'); INSERT INTO workers (name) VALUES ('w')"); err != nil {
		t.Fatal(err)
	}
	q := New(db, WithWorker("w"))
	want := func(what, alice, bob string) {
		t.Helper()
		for address, line := range map[string]string{"alice": alice, "bob": bob, "eve": "0 0 0"} {
			var queued, weight, last int
			if err := db.QueryRow("SELECT queued, weight, coalesce(last_id, 0) FROM totals WHERE address = ?", address).Scan(&queued, &weight, &last); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(queued, weight, last); got != line {
				t.Errorf("%s: %s has %s, want %s", what, address, got, line)
			}
		}
	}
	if _, err := q.EnqueueMany(ctx, []NewJob{{Address: "alice", Weight: 10}, {Address: "alice", Weight: 20}, {Address: "bob", Weight: 7}, {Address: "alice", Weight: 30}, {Address: "nobody"}}); err != nil {
		t.Fatal(err)
	}
	want("enqueued", "3 60 0", "1 7 0")
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 5 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	want("claimed", "0 60 0", "0 7 0")
	if err := q.Requeue(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	want("given back", "3 60 0", "1 7 0")
	if jobs, err = q.Claim(ctx, 10); err != nil {
		t.Fatal(err)
	}
	failed := jobs[1]
	if err := q.Fail(ctx, failed, errors.New("no")); err != nil {
		t.Fatal(err)
	}
	want("tried again", "1 41 0", "0 7 0")
	if err := q.Complete(ctx, jobs[0], jobs[2], jobs[3], failed); !errors.Is(err, ErrLost) {
		t.Fatalf("%v, not ErrLost", err)
	}
	last := 0
	if err := db.QueryRow("SELECT last_id FROM totals WHERE address = 'alice'").Scan(&last); err != nil || last != 1 && last != 4 {
		t.Errorf("the last is %d, %v", last, err)
	}
	want("completed", fmt.Sprintf("1 1 %d", last), "0 0 3")
	var done, tries int
	if err := db.QueryRow("SELECT done, (SELECT count(*) FROM tries) FROM workers").Scan(&done, &tries); err != nil || done != 6 || tries != 0 {
		t.Errorf("done is %d, not 6; %d rows of tries, %v", done, tries, err)
	}
}
