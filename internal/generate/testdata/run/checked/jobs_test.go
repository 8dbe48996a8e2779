package jobsq

import (
	"context"
	"errors"
	"testing"
)

// A CHECK that wants a text gets one, whatever Fail is given.
func TestErrorWithoutText(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for i, test := range []struct {
		cause error
		want  string
	}{{nil, "unknown error"}, {errors.New(""), "unknown error"}, {errors.New(" \t"), "unknown error"}, {errors.New("no route"), "no route"}} {
		id, err := q.Enqueue(ctx, NewJob{Body: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			jobs, err := q.Claim(ctx, 1)
			if err != nil || len(jobs) != 1 {
				t.Fatalf("%d: %d jobs: %v", i, len(jobs), err)
			}
			if err := q.Fail(ctx, jobs[0], test.cause); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
		}
		var state, problem string
		if err := db.QueryRow("SELECT state, problem FROM jobs WHERE id = ?", id).Scan(&state, &problem); err != nil || state != "failed" || problem != test.want {
			t.Errorf("%d: %s with %q, not %q: %v", i, state, problem, test.want, err)
		}
	}
}
