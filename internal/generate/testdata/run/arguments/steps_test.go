package stepsq

import (
	"context"
	"testing"
)

// The one row that stands for a claim holds what the caller of Claim says.
func TestRowOfClaim(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db, WithWorker("me"))
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, "north", 2)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	var id int64
	var host, node string
	if err := db.QueryRow("SELECT id, host, node FROM claims").Scan(&id, &host, &node); err != nil {
		t.Fatal(err)
	}
	if id != jobs[0].ClaimID || id != jobs[1].ClaimID || host != "me" || node != "north" {
		t.Errorf("%d %s %s, and the jobs are %+v", id, host, node, jobs)
	}
}
