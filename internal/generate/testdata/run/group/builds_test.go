package buildsq

import (
	"context"
	"slices"
	"testing"
)

// Of the builds of one repository the first by the expressions of the order goes first, also where
// another has a smaller key; a null stands last.
func TestOrderWithinAGroup(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO builds (id, repo, kind, weight, used) VALUES" +
		" (1, 'a', 2, 0, 0), (2, 'a', 1, 5, NULL), (3, 'a', 1, 5, 4), (4, 'a', 1, 5, 1), (5, 'a', 1, 4, 0), (6, 'a', 0, 0, 0), (7, 'b', 2, 0, 0)"); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 10} {
		var got []int64
		for {
			jobs, err := q.Claim(ctx, limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(jobs) == 0 {
				break
			}
			for _, job := range jobs {
				if job.Repo == "a" {
					got = append(got, job.ID)
				}
			}
			if err := q.Complete(ctx, jobs...); err != nil {
				t.Fatal(err)
			}
		}
		if want := []int64{6, 4, 5, 3, 2, 1}; !slices.Equal(got, want) {
			t.Errorf("with a limit of %d builds %v came, not %v", limit, got, want)
		}
		if _, err := db.Exec("UPDATE builds SET state = 'new'"); err != nil {
			t.Fatal(err)
		}
	}
}
