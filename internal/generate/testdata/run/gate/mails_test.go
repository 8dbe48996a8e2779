package mailsq

import (
	"context"
	"slices"
	"testing"
)

// Each site has a limit of its own; without one none of its jobs runs, and a job of no site
// is held back by none.
func TestLimitsOfSites(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	if _, err := db.Exec("INSERT INTO settings VALUES (1, 1), (2, 3), (3, NULL)"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, site := range []any{1, 2, 3, 4, nil} {
			if _, err := db.Exec("INSERT INTO mails (site_id) VALUES (?)", site); err != nil {
				t.Fatal(err)
			}
		}
	}
	claim := func(limit int, want ...int64) []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, limit)
		var ids []int64
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Fatal(ids, err)
		}
		return jobs
	}
	first := claim(3, 1, 2, 5)
	claim(20, 7, 10, 12, 15)
	claim(20)
	if err := q.Complete(ctx, first...); err != nil {
		t.Fatal(err)
	}
	claim(20, 6)
}
