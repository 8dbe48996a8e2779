package sharesq

import (
	"context"
	"slices"
	"testing"
)

// Of each site the first rows are taken, as many as may run besides those that do.
func TestLimitsAreTold(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	for range 4 {
		for site := range 2 {
			if _, err := db.Exec("INSERT INTO shares (site_id) VALUES (?)", site+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	claim := func(running, limit int, want ...int64) {
		t.Helper()
		jobs, err := q.Claim(ctx, running, limit)
		var ids []int64
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Fatal(ids, err)
		}
	}
	claim(0, 10)
	claim(-1, 10)
	claim(2, 3, 1, 2, 3)
	claim(2, 10, 4)
	claim(2, 10)
	claim(3, 1, 5)
	claim(3, 10, 6)
}
