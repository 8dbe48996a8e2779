package mailsq

import (
	"context"
	"testing"
	"time"
)

// Callers say a part of what is written: by how much counts grow, and how long a job waits by the
// database's clock, each new job and each finished one for itself.
func TestAsked(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	number := func(query string) (n int64) {
		t.Helper()
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := q.Enqueue(ctx, NewJob{First: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.EnqueueMany(ctx, []NewJob{{First: 4, Delay: -time.Minute}, {First: 5, Delay: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	if n := number("SELECT sum(step) FROM mails"); n != 9+16+25 {
		t.Errorf("the steps are %d together", n)
	}
	if n := number("SELECT run_at - unixepoch() FROM mails WHERE id = 3"); n < 3590 || n > 3600 {
		t.Errorf("the third job is due in %d s", n)
	}
	jobs, err := q.Claim(ctx, 10, 5)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs[0].Done(1, " one"), jobs[1].Done(2, " two")); err != nil {
		t.Fatal(err)
	}
	if n := number("SELECT sum(tries * id) FROM mails"); n != 11*1+12*2 {
		t.Errorf("the tries come to %d", n)
	}
	var notes string
	if err := db.QueryRow("SELECT group_concat(note, ';') FROM (SELECT note FROM mails ORDER BY id)").Scan(&notes); err != nil || notes != "none one;none two;none" {
		t.Errorf("the notes are %q: %v", notes, err)
	}
	if _, err := db.Exec("UPDATE mails SET run_at = 0"); err != nil {
		t.Fatal(err)
	}
	if jobs, err = q.Claim(ctx, 1, 5); err != nil || len(jobs) != 1 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if err := q.Later(ctx, 90*time.Second, 7, jobs...); err != nil {
		t.Fatal(err)
	}
	if n := number("SELECT run_at - unixepoch() FROM mails WHERE id = 3 AND state = 0 AND tries = 8"); n < 85 || n > 90 {
		t.Errorf("the job is due in %d s", n)
	}
}
