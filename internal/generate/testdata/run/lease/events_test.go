package eventsq

import (
	"context"
	"errors"
	"os"
	"testing"
)

// Where the error alone tells a failed row, a job whose claim ran out for the last time
// fails with the reason, and is ready again when it is redriven.
func TestGiveUp(t *testing.T) {
	db, ctx := open(t), context.Background()
	side, err := os.ReadFile("schema/lease.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(side), "INSERT INTO events (content) VALUES ('a'), ('b')"} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	q := New(db)
	late := func() []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 10)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE events_lease SET claimed_until = 0"); err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	first := late()
	if len(first) != 2 {
		t.Fatalf("%d jobs are claimed", len(first))
	}
	if err := q.Complete(ctx, first[1]); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if jobs := late(); len(jobs) != 1 {
			t.Fatalf("%d jobs are claimed again", len(jobs))
		}
	}
	if jobs := late(); len(jobs) != 0 {
		t.Fatalf("a job is tried six times: %v", jobs)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n == 0 {
		t.Fatalf("%d claims that ran out are taken back: %v", n, err)
	}
	var reason []byte
	if err := db.QueryRow("SELECT wedge_reason FROM events").Scan(&reason); err != nil || string(reason) != "the claim ran out" {
		t.Errorf("the row does not tell why it failed: %q, %v", reason, err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Failed != 1 || s.Ready != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := q.Fail(ctx, first[0], errors.New("too late")); !errors.Is(err, ErrLost) {
		t.Errorf("who had it settles it all the same: %v", err)
	}
	if n, err := q.Redrive(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d jobs are redriven: %v", n, err)
	}
	if jobs := late(); len(jobs) != 1 || jobs[0].Attempts != 1 {
		t.Errorf("%+v are claimed", jobs)
	}
}
