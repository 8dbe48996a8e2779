package flipsq

import (
	"context"
	"testing"
	"time"
)

// A claim ends its jobs and their rows stay, also of a worker that dies; Purge takes them when
// they are old enough, and those that nobody took in time.
func TestPopped(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	past := time.Now().Add(-time.Hour)
	for _, until := range []*time.Time{nil, nil, &past} {
		if _, err := q.Enqueue(ctx, NewJob{Status: "up", UntilAt: until}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 || jobs[0].ID != 1 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if again, err := q.Claim(ctx, 5); err != nil || len(again) != 1 || again[0].ID != 2 {
		t.Fatalf("%+v: %v", again, err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Ready != 0 || s.Done != 2 {
		t.Errorf("%+v: %v", s, err)
	}
	if n, err := q.Purge(ctx, 2*time.Hour, 10); err != nil || n != 0 {
		t.Errorf("%d rows are purged too early: %v", n, err)
	}
	if n, err := q.Purge(ctx, time.Minute, 10); err != nil || n != 1 {
		t.Errorf("%d rows that nobody took are purged: %v", n, err)
	}
	if n, err := q.Purge(ctx, 0, 10); err != nil || n != 2 {
		t.Errorf("%d finished rows are purged: %v", n, err)
	}
}
