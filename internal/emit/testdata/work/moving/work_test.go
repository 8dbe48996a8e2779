package emailq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// A job that is settled while its claim is renewed is settled by the fence
// that the renewal gave it, with its own result.
func TestMovingFence(t *testing.T) {
	const n = 400
	q := &Queue{begin: true, answer: 20 * time.Millisecond}
	for range n {
		q.rows = append(q.rows, &record{state: "ready"})
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var handled atomic.Int32
	batch := int64(7)
	err := q.Work(ctx, func(ctx context.Context, j Job) (string, error) {
		time.Sleep(time.Duration(j.ID%20) * 15 * time.Millisecond)
		if handled.Add(1) == n {
			cancel()
		}
		switch j.ID % 10 {
		case 3:
			return "", errors.New("no")
		case 5: // settles it by itself, with a copy of the job from before the renewals
			if err := q.Complete(ctx, j.Done(fmt.Sprint("result ", j.ID))); err != nil {
				t.Error(err)
			}
			time.Sleep(100 * time.Millisecond) // and goes on past the next renewal
			return "", ErrSettled
		}
		return fmt.Sprint("result ", j.ID), nil
	}, WorkOptions{
		Kind: "mail", BatchValue: &batch, Concurrency: 32, PollInterval: 20 * time.Millisecond,
		OnError: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Error(err)
	}
	for i, r := range q.rows {
		state, result := "done", fmt.Sprint("result ", i)
		if i%10 == 3 {
			state, result = "failed", ""
		}
		if r.state != state || r.result != result {
			t.Errorf("job %d: %+v", i, *r)
		}
	}
	if q.renewed < n/2 {
		t.Errorf("only %d renewals: the test proves nothing", q.renewed)
	}
}

// A job that is settled is not renewed any more: that would find its claim lost.
func TestSettledJobsAreNotLost(t *testing.T) {
	const n = 5_000
	q := &Queue{begin: true, answer: 50 * time.Microsecond}
	for range n {
		q.rows = append(q.rows, &record{state: "ready"})
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var handled atomic.Int32
	batch := int64(7)
	err := q.Work(ctx, func(ctx context.Context, j Job) (string, error) {
		if handled.Add(1) == n {
			cancel()
		}
		if j.ID%2 == 1 {
			return "", errors.New("no")
		}
		return "yes", nil
	}, WorkOptions{
		Kind: "mail", BatchValue: &batch, Concurrency: 64, PollInterval: 20 * time.Millisecond,
		Heartbeat: 2 * time.Millisecond, // so that renewals meet many that are being settled
		OnError:   func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Error(err)
	}
	if q.renewed < 1000 {
		t.Errorf("only %d claims were renewed: the test proves nothing", q.renewed)
	}
}
