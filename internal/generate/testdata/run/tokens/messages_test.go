package messagesq

import (
	"context"
	"errors"
	"testing"
)

// A unique index lets no two rows have one token: a batch is claimed all the same, and each
// job is settled by its own.
func TestBatch(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO messages (body) VALUES ('a'), ('b'), ('c')"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	jobs, err := q.Claim(ctx, 3)
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	if jobs[0].Handle == jobs[1].Handle || jobs[0].Handle == "" {
		t.Errorf("tokens %q and %q", jobs[0].Handle, jobs[1].Handle)
	}
	stranger := jobs[0]
	stranger.Handle = jobs[1].Handle
	if err := q.Complete(ctx, stranger); !errors.Is(err, ErrLost) {
		t.Errorf("a job is settled by the token of another: %v", err)
	}
	if err := q.Requeue(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, jobs[1:]...); err != nil {
		t.Fatal(err)
	}
	again, err := q.Claim(ctx, 3)
	if err != nil || len(again) != 1 || again[0].Handle == jobs[0].Handle {
		t.Fatalf("%+v: %v", again, err)
	}
}
