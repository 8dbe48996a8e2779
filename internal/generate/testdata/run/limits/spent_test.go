package spentq

import (
	"context"
	"errors"
	"testing"
)

// Where the count alone tells a failed row, a job is claimed while it has retries, or a value
// that means no limit.
func TestSpent(t *testing.T) {
	ctx, q := context.Background(), New(open(t))
	for retries, want := range map[int64]int{0: 1, 2: 3, -1: 7, 99: 7} {
		if _, err := q.db.ExecContext(ctx, "INSERT INTO spent (max_retries) VALUES (?)", retries); err != nil {
			t.Fatal(err)
		}
		runs := 0
		for ; runs < 7; runs++ {
			jobs, err := q.Claim(ctx, 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(jobs) == 0 {
				break
			}
			if err := q.Fail(ctx, jobs[0], errors.New("no")); err != nil {
				t.Fatal(err)
			}
		}
		if runs != want {
			t.Errorf("a job with %d retries ran %d times, not %d", retries, runs, want)
		}
		if s, err := q.Stats(ctx); err != nil || s.Failed == 1 != (want < 7) || s.Ready+s.Failed != 1 {
			t.Errorf("%+v, %v", s, err)
		}
		if _, err := q.db.ExecContext(ctx, "DELETE FROM spent"); err != nil {
			t.Fatal(err)
		}
	}
}
