package emailq

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What no table keeps of a failure, OnError is told once for each try: of an error, of a panic with its stack,
// of a handler that never came back, and of a job that the database refuses to complete.
func TestFailuresAreTold(t *testing.T) {
	q := newQueue(6)
	q.poison = func(jobs []Job) error {
		if slices.ContainsFunc(jobs, func(j Job) bool { return j.ID == 4 }) {
			return errors.New("refused")
		}
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	var told []string
	err := q.Work(ctx, func(_ context.Context, j Job) error {
		switch j.ID {
		case 0:
			return errors.New("no")
		case 1:
			panic("boom")
		case 2:
			runtime.Goexit()
		case 3:
			return ErrSettled
		case 5:
			time.AfterFunc(200*time.Millisecond, cancel)
		}
		return nil
	}, WorkOptions{PollInterval: 10 * time.Millisecond, OnError: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err.Error())
	}})
	if err != nil {
		t.Error(err)
	}
	slices.Sort(told)
	const tries = 3 // then a job stays failed
	var want []string
	for _, text := range []string{"0: no", "1: the handler panicked: boom\n\ngoroutine ", "2: the handler ended its goroutine", "4: refused"} {
		for range tries {
			want = append(want, "emailq: work: job "+text)
		}
	}
	if !slices.EqualFunc(told, want, strings.HasPrefix) || !strings.Contains(told[tries], "work_test.go") {
		t.Errorf("told is %q", told)
	}
}
