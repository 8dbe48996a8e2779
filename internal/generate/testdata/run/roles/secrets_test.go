package secretsq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Columns that a step writes besides are read and given as their roles say.
func TestRoles(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	word, later, most := "sesame", time.Now().Add(time.Hour), int64(2)
	if _, err := q.Enqueue(ctx, NewJob{Secret: &word, Most: &most}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Enqueue(ctx, NewJob{Secret: &word, Due: &later}); err != nil {
		t.Fatal(err)
	}
	claim := func() Job {
		t.Helper()
		if _, err := db.Exec("UPDATE secrets SET due = NULL WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
		jobs, err := q.Claim(ctx, 5)
		if err != nil || len(jobs) != 1 || jobs[0].ID != 1 || jobs[0].Secret == nil || *jobs[0].Secret != word {
			t.Fatalf("%+v: %v", jobs, err)
		}
		return jobs[0]
	}
	for range 2 {
		if err := q.Fail(ctx, claim(), errors.New("no")); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := q.Redrive(ctx, 5); err != nil || n != 1 {
		t.Fatalf("%d jobs: %v", n, err)
	}
	j := claim()
	if j.Tries != 0 || j.Most != 5 {
		t.Errorf("%+v", j)
	}
	if err := q.Complete(ctx, j); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM secrets WHERE id = 1 AND status = 'D' AND secret IS NULL").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows: %v", n, err)
	}
}
