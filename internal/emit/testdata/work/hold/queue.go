// Package emailq holds, beside the emitted work.go, a queue in memory whose
// claims are locks of a transaction.
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

type record struct {
	state string
	lock  *Hold
}
type Queue struct {
	begin any // nil in a transaction
	hook  noHook
	fault func(op string, n int) error // of the nth call of op
	few   int                          // claims come short: they return so many at most; 0 is no limit

	mu    sync.Mutex
	rows  []*record
	calls map[string]int
	open  int           // transactions
	stuck chan struct{} // no connection is free until it is closed
}

type noHook struct{}

func (noHook) Before(ctx context.Context, _ string) context.Context { return ctx }
func (noHook) After(context.Context, string, int, error)            {}

type Hold struct {
	q    *Queue
	undo []func()
	over bool
	held map[int64]bool
}

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
func (q *Queue) Hold(ctx context.Context) (*Hold, error) {
	if err := q.enter("hold"); err != nil {
		return nil, err
	}
	if q.stuck != nil {
		select {
		case <-q.stuck:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	q.mu.Lock()
	q.open++
	q.mu.Unlock()
	h := &Hold{q: q, held: map[int64]bool{}}
	context.AfterFunc(ctx, h.Close)
	return h, nil
}
func (h *Hold) Claim(ctx context.Context, n int) ([]Job, error) {
	if err := h.q.enter("claim"); err != nil {
		return nil, err
	}
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	var out []Job
	for i, r := range h.q.rows {
		if r.state == "ready" && r.lock == nil && len(out) < n && (h.q.few == 0 || len(out) < h.q.few) {
			r.lock = h
			h.held[int64(i)] = true
			out = append(out, Job{ID: int64(i)})
		}
	}
	return out, nil
}
func (h *Hold) set(op string, js []Job, state string) error {
	if err := h.q.enter(op); err != nil {
		return err
	}
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	if h.over {
		return errors.New("transaction is over")
	}
	for _, j := range js {
		r := h.q.rows[j.ID]
		if r.lock != h {
			return errors.New("not held")
		}
		old := *r
		h.undo = append(h.undo, func() { r.state = old.state })
		r.state = state
	}
	return nil
}
func (h *Hold) Complete(ctx context.Context, js ...Job) error { return h.set("complete", js, "done") }
func (h *Hold) Fail(ctx context.Context, j Job, cause error) error {
	return h.set("fail", []Job{j}, "failed")
}
func (h *Hold) end(undo bool) {
	if h.over {
		return
	}
	h.over = true
	h.q.open--
	if undo {
		for i := len(h.undo) - 1; i >= 0; i-- {
			h.undo[i]()
		}
	}
	for id := range h.held {
		h.q.rows[id].lock = nil
	}
}
func (h *Hold) Commit(ctx context.Context) error {
	if err := h.q.enter("commit"); err != nil {
		h.Close()
		return err
	}
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	if h.over {
		return errors.New("over")
	}
	h.end(false)
	return nil
}
func (h *Hold) Close() { h.q.mu.Lock(); defer h.q.mu.Unlock(); h.end(true) }
func newQueue(n int) *Queue {
	q := &Queue{begin: true, calls: map[string]int{}}
	for range n {
		q.rows = append(q.rows, &record{state: "ready"})
	}
	return q
}
func (q *Queue) count(state string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, r := range q.rows {
		if r.state == state && r.lock == nil {
			n++
		}
	}
	return n
}
