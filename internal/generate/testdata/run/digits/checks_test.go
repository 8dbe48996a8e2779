package checksq

import (
	"context"
	"testing"
	"time"
)

// An empty text is no time: Peek tells the zero one, and it counts in no mean.
func TestEmpty(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO checks (id, ended) VALUES (1, ''), (2, unixepoch())"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Peek(ctx, 5)
	if err != nil || len(jobs) != 1 || jobs[0].Err != nil || !jobs[0].Since.IsZero() || !jobs[0].Again.IsZero() {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if jobs, err = q.Claim(ctx, 5); err != nil || len(jobs) != 1 || jobs[0].Err != nil || time.Since(jobs[0].Since) > time.Minute {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Done != 2 || s.MeanRun > time.Minute {
		t.Errorf("%+v: %v", s, err)
	}
}
