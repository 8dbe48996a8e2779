package buildsq

import (
	"context"
	"testing"
)

// A job fails when its recoveries are spent, or its tries, whichever comes first. A count that
// is null is 0, a limit that is null is 2, and with 99 there is none.
func TestWhatIsSpentFirst(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for _, c := range []struct {
		limit *int64
		runs  int
	}{{nil, 3}, {new(int64(0)), 1}, {new(int64(1)), 2}, {new(int64(8)), 4}, {new(int64(99)), 4}} {
		if _, err := q.Enqueue(ctx, NewJob{MostResets: c.limit}); err != nil {
			t.Fatal(err)
		}
		runs := 0
		for ; runs < 9; runs++ {
			jobs, err := q.Claim(ctx, 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(jobs) == 0 {
				break
			}
			if _, err := db.Exec("UPDATE builds SET until_at = 1 WHERE state = 'busy'"); err != nil {
				t.Fatal(err)
			}
			if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
				t.Fatalf("%d recovered: %v", n, err)
			}
		}
		if runs != c.runs {
			t.Errorf("a job with the limit %v ran %d times, not %d", c.limit, runs, c.runs)
		}
	}
	if s, err := q.Stats(ctx); err != nil || s.Failed != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}
