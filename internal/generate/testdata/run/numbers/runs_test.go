package runsq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A time with a fraction comes back as the row has it, and whoever claimed a job can settle it.
func TestFractions(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	due := time.Now().Add(-time.Minute).Truncate(time.Second).Add(250 * time.Millisecond).UTC()
	if _, err := q.EnqueueMany(ctx, []NewJob{{DueAt: &due}, {DueAt: new(due.Truncate(time.Second))}, {}}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 3 {
		t.Fatal(jobs, err)
	}
	for i, want := range []*time.Time{&due, new(due.Truncate(time.Second)), nil} {
		got := jobs[i].DueAt
		if jobs[i].Err != nil || (got == nil) != (want == nil) || got != nil && got.Sub(*want).Abs() > time.Microsecond {
			t.Errorf("job %d is due at %v, not %v: %v", i, got, want, jobs[i].Err)
		}
		if left := time.Until(jobs[i].HeldTill); left < time.Minute || left > 3*time.Minute {
			t.Errorf("job %d is held for %v", i, left)
		}
	}
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Error(err)
	}
	if err := q.Fail(ctx, jobs[1], errors.New("on purpose")); err != nil {
		t.Error(err)
	}
	if err := q.Extend(ctx, &jobs[2]); err != nil {
		t.Error(err)
	}
	if err := q.Complete(ctx, jobs[2]); err != nil {
		t.Error(err)
	}
	if stats, err := q.Stats(ctx); err != nil || stats.Done != 2 || stats.Running != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// What somebody wrote with a fraction is compared as it stands there.
func TestFractionsOfOthers(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO runs (state, made, held_till) VALUES ('A', unixepoch() - 600.5, unixepoch() - 0.5), ('A', 0, unixepoch() + 30.25)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Errorf("%d claims had run out: %v", n, err)
	}
	if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 1 || jobs[0].Err != nil || q.Complete(ctx, jobs...) != nil {
		t.Errorf("%+v, %v", jobs, err)
	}
}
