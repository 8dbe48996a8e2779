package mailsq

import (
	"context"
	"testing"
)

// Where a claim moves rows to another table, their keys are no nulls either: not in a new job,
// and not in one that is only looked at.
func TestNullKeyMoves(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.ExecContext(ctx, "INSERT INTO mails (mail) VALUES (NULL)"); err != nil {
		t.Fatal(err)
	}
	if key, err := q.Enqueue(ctx, NewJob{Mail: 7}); err != nil || key != 7 {
		t.Fatalf("%+v: %v", key, err)
	}
	if jobs, err := q.Peek(ctx, 5); err != nil || len(jobs) != 1 || jobs[0].Key() != 7 {
		t.Fatalf("peek: %+v: %v", jobs, err)
	}
	jobs, err := q.Claim(ctx, 5)
	if err != nil || len(jobs) != 1 || jobs[0].Key() != 7 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
}
