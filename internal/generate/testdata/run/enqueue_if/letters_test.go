package lettersq

import (
	"context"
	"slices"
	"testing"
)

// Rows of the table of jobs that run count as well, and what is added beside a job counts for the next.
func TestEnqueueMany(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	put := func(want ...bool) {
		t.Helper()
		var news []NewJob
		for range want {
			news = append(news, NewJob{Tenant: 1})
		}
		if _, added, err := q.EnqueueMany(ctx, news); err != nil || !slices.Equal(added, want) {
			t.Errorf("added %t, %v", added, err)
		}
	}
	put(true, true)
	if jobs, err := q.Claim(ctx, 2); err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	put(false)
	if _, err := db.Exec("DELETE FROM letters_running"); err != nil {
		t.Fatal(err)
	}
	put(true, false)
}
