package tasksq

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestProof(t *testing.T) {
	t.Setenv("TASKSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// Whether a claim has run out is what each caller says.
func TestTimeoutIsAsked(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{Kind: "mail"}); err != nil {
		t.Fatal(err)
	}
	claim := func(timeout time.Duration, want int) []Job {
		t.Helper()
		jobs, err := q.Claim(ctx, "mail", timeout, 5)
		if err != nil || len(jobs) != want {
			t.Fatalf("%d jobs, want %d: %v", len(jobs), want, err)
		}
		return jobs
	}
	late := claim(time.Hour, 1)
	if _, err := db.Exec("UPDATE tasks SET fetched = fetched - 60000"); err != nil {
		t.Fatal(err)
	}
	late[0].Fetched = late[0].Fetched.Add(-time.Minute)
	claim(2*time.Minute, 0)
	if jobs, err := q.Peek(ctx, "mail", 2*time.Minute, 5); err != nil || len(jobs) != 0 {
		t.Errorf("%d jobs are ready: %v", len(jobs), err)
	}
	if jobs, err := q.Peek(ctx, "mail", 30*time.Second, 5); err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs are ready: %v", len(jobs), err)
	}
	for timeout, want := range map[time.Duration]Stats{2 * time.Minute: {Running: 1}, 30 * time.Second: {Ready: 1, Expired: 1}} {
		s, err := q.Stats(ctx, timeout)
		if err != nil || s.Ready != want.Ready || s.Running != want.Running || s.Expired != want.Expired {
			t.Errorf("after %v: %+v: %v", timeout, s, err)
		}
	}
	jobs := claim(30*time.Second, 1)
	if err := q.Complete(ctx, late...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if _, err := q.CompleteAndClaim(ctx, jobs, "mail", time.Hour, 1); err != nil {
		t.Error(err)
	}
}

// Work renews a claim within the timeout that it is told.
func TestWorkRenews(t *testing.T) {
	q := New(open(t))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := q.Enqueue(ctx, NewJob{Kind: "mail"}); err != nil {
		t.Fatal(err)
	}
	const timeout = 300 * time.Millisecond
	times := 0
	handler := func(context.Context, Job) error {
		times++
		for range 20 {
			time.Sleep(timeout / 10)
		}
		if jobs, err := q.Claim(context.Background(), "mail", timeout, 1); err != nil || len(jobs) != 0 {
			t.Errorf("another claims %d jobs: %v", len(jobs), err)
		}
		cancel()
		return nil
	}
	if err := q.Work(ctx, handler, WorkOptions{Kind: "mail", Timeout: timeout, PollInterval: 10 * time.Millisecond}); err != nil || times != 1 {
		t.Errorf("handled %d times: %v", times, err)
	}
}
