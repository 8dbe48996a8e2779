package pullsq

import (
	"context"
	"testing"
)

// A claim takes the first of its repository, one whatever the limit, and none while one of it runs.
func TestOneOfATopic(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO pulls (id, repo, weight) VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 1), (4, 'a', 2)"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		repo string
		id   int64
	}{{"a", 2}, {"b", 3}, {"c", 0}} {
		jobs, err := q.Claim(ctx, want.repo, 10)
		if err != nil || len(jobs) > 1 || (len(jobs) == 1) != (want.id > 0) || want.id > 0 && jobs[0].ID != want.id {
			t.Errorf("%s: %+v: %v", want.repo, jobs, err)
		}
		if again, err := q.Claim(ctx, want.repo, 10); err != nil || len(again) > 0 {
			t.Errorf("%s while one runs: %+v: %v", want.repo, again, err)
		}
		if err := q.Complete(ctx, jobs...); err != nil {
			t.Error(err)
		}
	}
	if jobs, err := q.Peek(ctx, "a", 10); err != nil || len(jobs) != 1 || jobs[0].ID != 4 {
		t.Errorf("%+v would be claimed next: %v", jobs, err)
	}
}
