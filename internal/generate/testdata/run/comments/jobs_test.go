package jobsq

import (
	"context"
	"testing"
)

// Extend tells what it has written of the payload: here, that somebody wants the job to end.
func TestExtendTellsOfThePayload(t *testing.T) {
	db := open(t)
	q, ctx := New(db), context.Background()
	if _, err := q.Enqueue(ctx, NewJob{Kind: "a"}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 || jobs[0].Cancel {
		t.Fatalf("%v: %v", jobs, err)
	}
	if _, err := db.Exec("UPDATE jobs SET cancel = true"); err != nil {
		t.Fatal(err)
	}
	if err := q.Extend(ctx, &jobs[0]); err != nil || !jobs[0].Cancel {
		t.Errorf("cancel is %v: %v", jobs[0].Cancel, err)
	}
}
