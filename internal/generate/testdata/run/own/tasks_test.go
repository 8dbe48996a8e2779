package tasksq

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestProof(t *testing.T) {
	t.Setenv("TASKSQ_TEST_DSN", database(t))
	TestConformance(t)
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// left adds jobs and claims them in a program that then ends.
func left(t *testing.T, q *Queue, n int) []Job {
	t.Helper()
	_, err := q.EnqueueMany(context.Background(), make([]NewJob, n))
	ok(t, err)
	jobs, err := q.Claim(context.Background(), n)
	ok(t, err)
	if len(jobs) != n {
		t.Fatalf("%d jobs of %d", len(jobs), n)
	}
	return jobs
}

// A worker takes back what it has left, begun or not, and nothing of another; the try counts,
// and at the limit the job fails.
func TestRecoverOwn(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	mine, other := New(db, WithWorker("one")), New(db, WithWorker("two"))
	jobs, others := left(t, mine, 3), left(t, other, 2)
	ok(t, mine.Start(ctx, jobs[0]))
	for _, want := range []int{2, 1, 0} {
		n, err := New(db, WithWorker("one")).Recover(ctx, 2)
		ok(t, err)
		if n != want {
			t.Fatalf("recovered %d, want %d", n, want)
		}
	}
	if err := mine.Complete(ctx, jobs...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	ok(t, other.Complete(ctx, others...))
	again, err := mine.Claim(ctx, 10)
	if err != nil || len(again) != 3 {
		t.Fatalf("%d jobs are ready: %v", len(again), err)
	}
	if n, err := mine.Recover(ctx, 10); err != nil || n != 3 {
		t.Fatalf("recovered %d: %v", n, err)
	}
	if s, err := mine.Stats(ctx); err != nil || s.Failed != 3 || s.Done != 2 || s.Ready+s.Claimed+s.Running != 0 {
		t.Errorf("%+v: %v", s, err)
	}
}

// A queue whose worker has no name, or none that a row can hold, adds jobs and does nothing else.
func TestUnnamed(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	for _, c := range []struct {
		q    *Queue
		want string
	}{
		{New(db), "the worker has no name"},
		{New(db, WithWorker("")), "the worker has no name"},
		{New(db, WithWorker("nobody")), "which a row holds that nobody has"},
	} {
		_, err := c.q.Enqueue(ctx, NewJob{})
		ok(t, err)
		if jobs, err := c.q.Claim(ctx, 1); len(jobs) != 0 || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d jobs: %v, want %q", len(jobs), err, c.want)
		}
		if _, err := c.q.Recover(ctx, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Recover: %v, want %q", err, c.want)
		}
		err = c.q.Work(ctx, func(context.Context, Job) error { return errors.New("called") }, WorkOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Work: %v, want %q", err, c.want)
		}
	}
}

// Work takes back what the worker has left before it claims, and runs it again; what another
// has stays.
func TestWorkRecoversOwn(t *testing.T) {
	db := open(t)
	others := left(t, New(db, WithWorker("two")), 2)
	jobs := left(t, New(db, WithWorker("one")), 2)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	handled := map[Key]bool{}
	err := New(db, WithWorker("one")).Work(ctx, func(_ context.Context, job Job) error {
		if handled[job.Key()] = true; len(handled) == len(jobs) {
			cancel()
		}
		return nil
	}, WorkOptions{})
	ok(t, err)
	for _, job := range jobs {
		if !handled[job.Key()] {
			t.Errorf("job %v was not run again", job.Key())
		}
	}
	ok(t, New(db, WithWorker("two")).Complete(context.Background(), others...))
}
