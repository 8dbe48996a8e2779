package jobsq

import (
	"context"
	"errors"
	"testing"
)

// A job runs once more than it has retries, whether its tries fail or its workers die.
func TestRetriesLeft(t *testing.T) {
	for name, end := range map[string]func(context.Context, *Queue, Job) error{
		"fail": func(ctx context.Context, q *Queue, job Job) error { return q.Fail(ctx, job, errors.New("no")) },
		"die": func(ctx context.Context, q *Queue, _ Job) error {
			if _, err := q.db.ExecContext(ctx, "UPDATE jobs SET since = '2000-01-01T00:00:00.000Z' WHERE state = 'busy'"); err != nil {
				return err
			}
			_, err := q.Recover(ctx, 10)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, q := context.Background(), New(open(t))
			for _, retries := range []*int64{nil, new(int64(0)), new(int64(2))} {
				if _, err := q.Enqueue(ctx, NewJob{Retries: retries, Body: "a"}); err != nil {
					t.Fatal(err)
				}
				runs, want := 0, 1
				if retries != nil {
					want += int(*retries)
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
					t.Errorf("a job with %v retries ran %d times, not %d", retries, runs, want)
				}
			}
			if s, err := q.Stats(ctx); err != nil || s.Failed != 3 {
				t.Errorf("%+v, %v", s, err)
			}
			if n, err := q.Redrive(ctx, 10); err != nil || n != 3 {
				t.Errorf("%d redriven, %v", n, err)
			}
			if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 3 {
				t.Errorf("%d claimed, %v", len(jobs), err)
			}
		})
	}
}
