package pushesq

import (
	"context"
	"slices"
	"testing"
)

// A claim for one site takes the first of its rows, as many as may run besides those that do, and none of other sites.
func TestLimitOfOneSite(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	for range 5 {
		for site := range 2 {
			if _, err := db.Exec("INSERT INTO pushes (site_id) VALUES (?)", site+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	claim := func(running, limit int, want ...int64) []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 1, running, limit)
		var ids []int64
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Fatal(ids, err)
		}
		return jobs
	}
	claim(0, 10)
	claim(-1, 10)
	first := claim(3, 2, 1, 3)
	claim(3, 10, 5)
	claim(3, 10)
	claim(3, 1)
	claim(2, 10)
	if jobs, err := q.Peek(ctx, 1, 5, 10); err != nil || len(jobs) != 2 || jobs[0].ID != 7 {
		t.Error(jobs, err)
	}
	if err := q.Complete(ctx, first...); err != nil {
		t.Fatal(err)
	}
	claim(3, 1, 7)
	claim(3, 10, 9)
}
