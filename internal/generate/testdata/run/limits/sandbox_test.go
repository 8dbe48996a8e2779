package sandboxq

import (
	"context"
	"errors"
	"testing"
)

// A job runs once more than it has retries, whether its tries fail or its workers die; a null
// is 2 retries, and with -1 there is no end.
func TestRetries(t *testing.T) {
	for name, end := range map[string]func(context.Context, *Queue, Job) error{
		"fail": func(ctx context.Context, q *Queue, job Job) error { return q.Fail(ctx, job, errors.New("no")) },
		"die": func(ctx context.Context, q *Queue, _ Job) error {
			if _, err := q.db.ExecContext(ctx, "UPDATE sandbox SET start = 1 WHERE status = 'A'"); err != nil {
				return err
			}
			_, err := q.Recover(ctx, 10)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, q := context.Background(), New(open(t))
			const most = 9
			for _, c := range []struct {
				retries *int64
				want    int
			}{{nil, 3}, {new(int64(0)), 1}, {new(int64(1)), 2}, {new(int64(-1)), most}} {
				if _, err := q.Enqueue(ctx, NewJob{MaxRetry: c.retries}); err != nil {
					t.Fatal(err)
				}
				runs := 0
				for ; runs < most; runs++ {
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
				if runs != c.want {
					t.Errorf("a job with %v retries ran %d times, not %d", c.retries, runs, c.want)
				}
			}
			if s, err := q.Stats(ctx); err != nil || s.Failed != 3 || s.Ready != 1 {
				t.Errorf("%+v, %v", s, err)
			}
			if n, err := q.Redrive(ctx, 10); err != nil || n != 3 {
				t.Errorf("%d redriven, %v", n, err)
			}
		})
	}
}

// The greatest number that a column holds is a limit like any other.
func TestGreatest(t *testing.T) {
	ctx, q := context.Background(), New(open(t))
	if _, err := q.db.ExecContext(ctx, "INSERT INTO sandbox (status, start, max_retry) VALUES ('A', 1, 9223372036854775807)"); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Recover(ctx, 10); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if err := q.Fail(ctx, jobs[0], errors.New("no")); err != nil {
		t.Fatal(err)
	}
	if s, err := q.Stats(ctx); err != nil || s.Ready != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
