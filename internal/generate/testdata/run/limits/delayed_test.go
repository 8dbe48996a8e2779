package delayedq

import (
	"context"
	"errors"
	"testing"
)

// A job whose limit is null runs as often as null= says, whether its tries fail or its workers die.
func TestNull(t *testing.T) {
	for name, end := range map[string]func(context.Context, *Queue, Job) error{
		"fail": func(ctx context.Context, q *Queue, job Job) error { return q.Fail(ctx, job, errors.New("no")) },
		"die": func(ctx context.Context, q *Queue, _ Job) error {
			if _, err := q.db.ExecContext(ctx, "UPDATE delayed SET locked_at = 1 WHERE state = 'A'"); err != nil {
				return err
			}
			_, err := q.Recover(ctx, 10)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, q := context.Background(), New(open(t))
			for _, most := range []*int64{nil, new(int64(1)), new(int64(4))} {
				if _, err := q.Enqueue(ctx, NewJob{MaxAttempts: most}); err != nil {
					t.Fatal(err)
				}
				runs, want := 0, 3
				if most != nil {
					want = int(*most)
				}
				for ; runs <= want; runs++ {
					jobs, err := q.Claim(ctx, 10)
					if err != nil {
						t.Fatal(err)
					}
					if len(jobs) == 0 {
						break
					}
					if err := end(ctx, q, jobs[0]); err != nil {
						t.Fatal(err)
					}
				}
				if runs != want {
					t.Errorf("a job with the limit %v ran %d times, not %d", most, runs, want)
				}
			}
			if s, err := q.Stats(ctx); err != nil || s.Failed != 3 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}
