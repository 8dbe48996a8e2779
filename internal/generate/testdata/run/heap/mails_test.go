package mailsq

import (
	"context"
	"errors"
	"testing"
)

// VACUUM numbers the rows of a table without INTEGER PRIMARY KEY anew: a row that has the number of
// another by now is not taken for that, not even where both were claimed together.
func TestVacuum(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO mails (body) VALUES ('a'), ('b'), ('c'), ('d'), ('e')"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	claim := func(n int) []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, n)
		if err != nil || len(jobs) != n {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		return jobs
	}
	first, jobs := claim(1), claim(3)
	if err := q.Complete(ctx, first...); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("VACUUM"); err != nil {
		t.Fatal(err)
	}
	left := func(want string) {
		t.Helper()
		var bodies string
		if err := db.QueryRow("SELECT group_concat(body, '') FROM (SELECT body FROM mails ORDER BY body)").Scan(&bodies); err != nil {
			t.Fatal(err)
		}
		if bodies != want {
			t.Errorf("rows %q are left, want %q", bodies, want)
		}
	}
	var lost *LostError
	if err := q.Complete(ctx, jobs...); !errors.As(err, &lost) || len(lost.Keys) != 3 {
		t.Errorf("rows that have other numbers by now are settled: %v", err)
	}
	left("bcde")
	if _, err := db.Exec("UPDATE mails SET till = 1 WHERE till > 0"); err != nil {
		t.Fatal(err)
	}
	again := claim(3)
	if err := q.Requeue(ctx, again[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, again...); !errors.As(err, &lost) || len(lost.Keys) != 1 || lost.Keys[0] != again[0].Key() {
		t.Errorf("a job that was given back is settled: %v", err)
	}
	left("be")
}
