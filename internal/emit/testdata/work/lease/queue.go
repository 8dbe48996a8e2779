// Package emailq holds, beside the emitted work.go, a queue in memory in place of a database.
// Statements can be made to fail, and are counted.
package emailq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

type Key int64
type Job struct {
	Err   error
	ID    int64
	Token int64
}

func (j Job) Key() Key { return Key(j.ID) }

var ErrLost = errors.New("emailq: claim lost")
var errTemp = errors.New("temporary")

type LostError struct{ Keys []Key }

func (e *LostError) Error() string { return fmt.Sprintf("lost %v", e.Keys) }
func (e *LostError) Unwrap() error { return ErrLost }
func IsRetryable(err error) bool   { return errors.Is(err, errTemp) }

type record struct {
	state   string
	token   int64
	till    time.Time
	tries   int
	unread  error // what Claim says of its columns
	lastErr string
}

type Queue struct {
	begin  any // nil in a transaction
	hook   noHook
	fault  func(op string, n int) error // of the nth call of op
	poison func(jobs []Job) error       // of Complete
	few    int                          // claims come short: they return so many at most; 0 is no limit

	mu    sync.Mutex
	rows  []*record
	next  int64
	calls map[string]int
}

type noHook struct{}

func (noHook) Before(ctx context.Context, _ string) context.Context { return ctx }
func (noHook) After(context.Context, string, int, error)            {}

func (q *Queue) enter(op string) error {
	q.mu.Lock()
	q.calls[op]++
	n := q.calls[op]
	f := q.fault
	q.mu.Unlock()
	if f != nil {
		return f(op, n)
	}
	return nil
}

func newQueue(n int) *Queue {
	q := &Queue{begin: true, calls: map[string]int{}}
	for range n {
		q.rows = append(q.rows, &record{state: "ready"})
	}
	return q
}

func (q *Queue) Claim(ctx context.Context, lease time.Duration, limit int) ([]Job, error) {
	if err := q.enter("claim"); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	var out []Job
	for i, r := range q.rows {
		if len(out) == limit || q.few > 0 && len(out) == q.few {
			break
		}
		if r.state != "ready" {
			continue
		}
		q.next++
		r.state, r.token, r.till = "running", q.next, now.Add(lease)
		r.tries++
		out = append(out, Job{ID: int64(i), Token: r.token, Err: r.unread})
	}
	return out, nil
}

func (q *Queue) settle(ctx context.Context, op string, jobs []Job, f func(*record)) (err error) {
	if h := handled(ctx); h != nil {
		defer func() { h.report(err, jobs...) }()
	}
	if err := q.enter(op); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var lost []Key
	for _, j := range jobs {
		r := q.rows[j.ID]
		if r.state != "running" || r.token != j.Token {
			lost = append(lost, j.Key())
			continue
		}
		f(r)
	}
	if lost != nil {
		return &LostError{lost}
	}
	return nil
}

func (q *Queue) Complete(ctx context.Context, jobs ...Job) error {
	if q.poison != nil {
		if err := q.poison(jobs); err != nil {
			return err
		}
	}
	return q.settle(ctx, "complete", jobs, func(r *record) { r.state = "done" })
}

func (q *Queue) Fail(ctx context.Context, job Job, cause error) error {
	return q.settle(ctx, "fail", []Job{job}, func(r *record) {
		r.state = "failed"
		r.lastErr = cause.Error()
		if r.tries < 3 {
			r.state = "ready"
		}
	})
}

func (q *Queue) Requeue(ctx context.Context, _ time.Duration, jobs ...Job) error {
	return q.settle(ctx, "requeue", jobs, func(r *record) { r.state = "ready"; r.tries-- })
}

func (q *Queue) Extend(ctx context.Context, lease time.Duration, jobs ...Job) error {
	return q.settle(ctx, "extend", jobs, func(r *record) { r.till = time.Now().Add(lease) })
}

func (q *Queue) Recover(ctx context.Context, limit int) (int, error) {
	if err := q.enter("recover"); err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, r := range q.rows {
		if n < limit && r.state == "running" && r.till.Before(time.Now()) {
			r.state = "ready"
			n++
		}
	}
	return n, nil
}

func (q *Queue) count(state string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, r := range q.rows {
		if r.state == state {
			n++
		}
	}
	return n
}
