package fetchesq

import (
	"context"
	"testing"
)

// What SQL tells of a site is asked when it is claimed from.
func TestLimitOfOneSite(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	if _, err := db.Exec("INSERT INTO settings VALUES (1, 2), (2, NULL)"); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		for site := range 3 {
			if _, err := db.Exec("INSERT INTO fetches (site_id) VALUES (?)", site+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	claim := func(site int64, limit, want int) {
		t.Helper()
		if jobs, err := q.Claim(ctx, site, limit); err != nil || len(jobs) != want {
			t.Fatal(jobs, err)
		}
	}
	claim(1, 10, 2)
	claim(1, 10, 0)
	claim(1, 1, 0)
	claim(2, 10, 0)
	claim(3, 10, 0)
	if _, err := db.Exec("UPDATE settings SET max_jobs = 4"); err != nil {
		t.Fatal(err)
	}
	claim(1, 1, 1)
	claim(1, 10, 1)
	claim(2, 3, 3)
	claim(2, 10, 1)
}
