// Package emailq holds, beside the emitted work.go, a queue in memory whose
// claims remove the rows.
package emailq

import (
	"context"
	"errors"
	"sync"
)

type Job struct {
	ID  int64
	Err error
}

func (j Job) Key() int64 { return j.ID }

var errTemp = errors.New("temporary")

func IsRetryable(err error) bool { return errors.Is(err, errTemp) }

type noHook struct{}

func (noHook) Before(ctx context.Context, _ string) context.Context { return ctx }
func (noHook) After(context.Context, string, int, error)            {}

type Queue struct {
	begin any // nil in a transaction
	hook  noHook
	fault func(n int) error // of the nth claim
	few   int               // claims come short: they return so many at most; 0 is no limit

	mu     sync.Mutex
	next   int64
	last   int64
	claims int
	most   int
}

func (q *Queue) Claim(_ context.Context, limit int) ([]Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.claims++
	q.most = max(q.most, limit)
	if q.fault != nil {
		if err := q.fault(q.claims); err != nil {
			return nil, err
		}
	}
	var jobs []Job
	for ; q.next < q.last && len(jobs) < limit && (q.few == 0 || len(jobs) < q.few); q.next++ {
		jobs = append(jobs, Job{ID: q.next})
	}
	return jobs, nil
}
