package commandsq

import (
	"context"
	"testing"
	"time"
)

func TestProof(t *testing.T) {
	t.Setenv("COMMANDSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// What had begun when the program ended is not run again; Work sees to that, and runs the rest.
func TestWorkLetsFail(t *testing.T) {
	db := open(t)
	q := New(db)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	handler := func(_ context.Context, job Job) error {
		if job.Key() == jobs[0].Key() {
			t.Error("a job that had begun is run again")
		}
		cancel()
		return nil
	}
	if err := q.Work(ctx, handler, WorkOptions{}); err != nil {
		t.Fatal(err)
	}
	var state int
	var ended *int64
	if err := db.QueryRow("SELECT state, ended FROM commands WHERE id = ?", jobs[0].ID).Scan(&state, &ended); err != nil || state != 6 || ended == nil {
		t.Errorf("state %d, ended %v: %v", state, ended, err)
	}
	if s, err := q.Stats(context.Background()); err != nil || s.Done != 1 || s.Failed != 1 {
		t.Errorf("%+v: %v", s, err)
	}
}
