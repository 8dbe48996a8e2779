package waitsq

import (
	"context"
	"testing"
)

// The wait of a job that fails is told by what another table had before the step counts the try there.
func TestWaitIsReadBeforeItIsChanged(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO specs (wait_id, tries, pause) VALUES (1, 0, 100)"); err != nil {
		t.Fatal(err)
	}
	for tries, want := range []int{100, 200, 400} {
		jobs, err := q.Claim(ctx, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		if err := q.Fail(ctx, jobs[0], nil); err != nil {
			t.Fatal(err)
		}
		var wait, counted int
		if err := db.QueryRow("SELECT run_at - unixepoch(), tries FROM waits, specs").Scan(&wait, &counted); err != nil {
			t.Fatal(err)
		}
		if wait > want || wait < want-5 || counted != tries+1 {
			t.Errorf("after %d tries it waits %d s, not %d; %d are counted", tries, wait, want, counted)
		}
		if _, err := db.Exec("UPDATE waits SET run_at = 0"); err != nil {
			t.Fatal(err)
		}
	}
}
