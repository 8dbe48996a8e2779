package lettersq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A handler settles its job whatever became of the lease that Work has renewed meanwhile, in a
// transaction of its own as well.
func TestRenewed(t *testing.T) {
	for name, settle := range map[string]func(ctx context.Context, q *Queue, job Job) error{
		"complete": func(ctx context.Context, q *Queue, job Job) error { return q.Complete(ctx, job.Done(nil)) },
		"fail":     func(ctx context.Context, q *Queue, job Job) error { return q.Fail(ctx, job, errors.New("no")) },
		"requeue":  func(ctx context.Context, q *Queue, job Job) error { return q.Requeue(ctx, job) },
		"outcome":  func(ctx context.Context, q *Queue, job Job) error { return q.Discard(ctx, job) },
		"derived": func(ctx context.Context, q *Queue, job Job) error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return q.Discard(ctx, job)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			q := New(db)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if _, err := q.Enqueue(ctx, NewJob{Body: "x"}); err != nil {
				t.Fatal(err)
			}
			settled := errors.New("no handler was called")
			err := q.Work(ctx, func(ctx context.Context, job Job) (*string, error) {
				cancel()
				till := ""
				for began := till; till == began && ctx.Err() == nil; time.Sleep(time.Millisecond) {
					if err := db.QueryRow("SELECT till FROM letters").Scan(&till); err != nil {
						t.Error(err)
					}
					if began == "" {
						began = till
					}
				}
				settled = settle(ctx, q, job)
				return nil, ErrSettled
			}, WorkOptions{Heartbeat: 20 * time.Millisecond, Grace: time.Minute})
			if err != nil || settled != nil {
				t.Errorf("Work: %v; the handler: %v", err, settled)
			}
			want := map[string]string{"complete": "over", "fail": "dead", "requeue": "new"}[name]
			state := ""
			if err := db.QueryRow("SELECT coalesce(max(state), '') FROM letters").Scan(&state); err != nil || state != want {
				t.Errorf("the row is %q, and should be %q: %v", state, want, err)
			}
		})
	}
}
