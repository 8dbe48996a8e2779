package faxesq

import (
	"context"
	"testing"
)

// What runs of other queues is left where it is, and counted there.
func TestOthersRun(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO all_running (id, team, till) VALUES (7, 'fax', 0), (8, 'mail', 0)"); err != nil {
		t.Fatal(err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Running != 1 || s.Expired != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 1 || jobs[0].ID != 7 {
		t.Fatalf("%+v, %v", jobs, err)
	}
}
