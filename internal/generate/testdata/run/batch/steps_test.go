package stepsq

import (
	"context"
	"testing"
)

// A row is added for what is accepted, and for nothing else: neither where nothing is, nor where
// others took it meanwhile.
func TestAccepted(t *testing.T) {
	db, ctx := open(t), context.Background()
	run := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(want int) {
		t.Helper()
		var n int
		if err := db.QueryRow("SELECT count(*) FROM claims").Scan(&n); err != nil || n != want {
			t.Errorf("%d rows, not %d: %v", n, want, err)
		}
	}
	run("INSERT INTO steps (weight) VALUES (1), (5), (2)")
	q := New(db)
	none, err := q.Claim(ctx, func(Job) bool { return false }, 5)
	if err != nil || len(none) != 0 {
		t.Fatalf("%+v: %v", none, err)
	}
	rows(0)
	stolen, err := q.Claim(ctx, func(j Job) bool {
		run("UPDATE steps SET state = 'A', run = -1 WHERE weight = 5")
		return j.Weight == 5
	}, 5)
	if err != nil || len(stolen) != 0 {
		t.Fatalf("%+v: %v", stolen, err)
	}
	rows(0)
	jobs, err := q.Claim(ctx, nil, 5)
	if err != nil || len(jobs) != 2 || jobs[0].Run != jobs[1].Run {
		t.Fatalf("%+v: %v", jobs, err)
	}
	rows(1)
	var n int
	if err := db.QueryRow("SELECT count(*) FROM steps JOIN claims ON claims.id = run WHERE holder = 'steps'").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d jobs have the id of the row: %v", n, err)
	}
}
