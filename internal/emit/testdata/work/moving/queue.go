// Package emailq holds, beside the emitted work.go, a queue in memory whose
// fence moves with every renewal and whose jobs have results.
package emailq

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

type Key struct{ Tenant, ID int64 }

type Job struct {
	Err   error
	ID    int64
	Token int64
}

func (j Job) Key() Key { return Key{1, j.ID} }

type Done struct {
	Job
	Result string
}

func (j Job) Done(result string) Done { return Done{j, result} }

type Shard struct{ Index, Count int }

var ErrLost = errors.New("emailq: claim lost")

type LostError struct{ Keys []Key }

func (e *LostError) Error() string { return "lost" }
func (e *LostError) Unwrap() error { return ErrLost }

func IsRetryable(error) bool { return false }

type noHook struct{}

func (noHook) Before(ctx context.Context, _ string) context.Context { return ctx }
func (noHook) After(context.Context, string, int, error)            {}

type record struct {
	state, result string
	fence         int64
}

type Queue struct {
	begin   any // nil in a transaction
	hook    noHook
	mu      sync.Mutex
	rows    []*record
	renewed int
	answer  time.Duration // how long Extend takes
	asked   []string      // for which kinds and shards
}

func (q *Queue) Claim(_ context.Context, kind string, batch *int64, shard Shard, limit int) ([]Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if kind != "mail" || *batch != 7 || shard != (Shard{0, 1}) {
		return nil, errors.New("the claim's parameters did not arrive")
	}
	var jobs []Job
	for i, r := range q.rows {
		if r.state == "ready" && len(jobs) < limit {
			r.state, r.fence = "running", r.fence+1
			jobs = append(jobs, Job{ID: int64(i), Token: r.fence})
		}
	}
	return jobs, nil
}

func (q *Queue) settle(ctx context.Context, jobs []Job, state string, result func(i int) string) (err error) {
	if h := handled(ctx); h != nil {
		jobs = slices.Clone(jobs)
		for i := range jobs {
			h.freshen(&jobs[i])
		}
		defer func() { h.report(err, jobs...) }()
		time.Sleep(q.answer)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var keys []Key
	for i, j := range jobs {
		r := q.rows[j.ID]
		if r.state != "running" || r.fence != j.Token {
			keys = append(keys, j.Key())
			continue
		}
		r.state, r.result = state, result(i)
	}
	if keys != nil {
		return &LostError{keys}
	}
	return nil
}

func none(int) string { return "" }

func (q *Queue) Complete(ctx context.Context, done ...Done) error {
	var jobs []Job
	for _, d := range done {
		jobs = append(jobs, d.Job)
	}
	return q.settle(ctx, jobs, "done", func(i int) string { return done[i].Result })
}

func (q *Queue) Fail(ctx context.Context, job Job, _ error) error {
	return q.settle(ctx, []Job{job}, "failed", none)
}

func (q *Queue) Requeue(ctx context.Context, jobs ...Job) error {
	return q.settle(ctx, jobs, "ready", none)
}

func (q *Queue) Extend(_ context.Context, jobs ...*Job) error {
	defer time.Sleep(q.answer) // it is on its way
	q.mu.Lock()
	defer q.mu.Unlock()
	var keys []Key
	for _, j := range jobs {
		r := q.rows[j.ID]
		if r.state != "running" || r.fence != j.Token {
			keys = append(keys, j.Key())
			continue
		}
		r.fence++
		j.Token = r.fence
		q.renewed++
	}
	if keys != nil {
		return &LostError{keys}
	}
	return nil
}
