package buildsq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// build is the build of an input as the table has it.
func build(t *testing.T, db DBTX, input int64) string {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), "SELECT id || ' ' || priority || ' ' || coalesce(worker, 'free') || ' ' || coalesce(note, '-') FROM builds WHERE build_input_id = ?", input)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

// What is there gets what the job has; nil leaves what the row has, and so does nothing said.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	var heard []string
	q := New(db, WithHook(hook(func(op string, n int, err error) { heard = append(heard, fmt.Sprint(op, " ", n, " ", err)) })))
	note, other := "a", "b"
	put := func(job NewJob, key Key, want string) {
		t.Helper()
		got, err := q.Enqueue(ctx, job)
		if err != nil || got != key {
			t.Errorf("key %d, %v", got, err)
		}
		if got := build(t, db, job.BuildInputID); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	put(NewJob{BuildInputID: 7, Priority: 2, Note: &note}, 1, "1 2 free a")
	put(NewJob{BuildInputID: 7, Priority: 1}, 1, "1 1 free a")
	put(NewJob{BuildInputID: 7, Priority: 1, Note: &other}, 1, "1 1 free b")
	keys, err := q.EnqueueMany(ctx, []NewJob{{BuildInputID: 8, Priority: 1}, {BuildInputID: 7, Priority: 5}, {BuildInputID: 8, Priority: 3}, {BuildInputID: 9, Priority: 4}})
	if err != nil || keys[0] != keys[2] || keys[1] != 1 || keys[3] == keys[0] {
		t.Fatalf("keys %d, %v", keys, err)
	}
	for input, want := range map[int64]string{7: "1 5 free b", 8: fmt.Sprint(keys[0], " 3 free -"), 9: fmt.Sprint(keys[3], " 4 free -")} {
		if got := build(t, db, input); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	if keys, err := q.EnqueueMany(ctx, nil); keys != nil || err != nil {
		t.Errorf("keys %d, %v", keys, err)
	}
	if got := strings.Join(heard, ", "); got != "enqueue 1 <nil>, enqueue 1 <nil>, enqueue 1 <nil>, enqueue 4 <nil>" {
		t.Error(got)
	}
}

// A job that runs stays with its worker, and is not claimed twice.
func TestRunning(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db, WithWorker(4))
	if _, err := q.Enqueue(ctx, NewJob{BuildInputID: 7, Priority: 2}); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%v, %v", jobs, err)
	}
	if key, err := q.Enqueue(ctx, NewJob{BuildInputID: 7, Priority: 0}); err != nil || key != jobs[0].ID {
		t.Errorf("key %d, %v", key, err)
	}
	if got := build(t, db, 7); got != "1 0 4 -" {
		t.Error(got)
	}
	if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 0 {
		t.Errorf("%v, %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Error(err)
	}
	if got := build(t, db, 7); got != "" {
		t.Error(got)
	}
	if err := q.Complete(ctx, jobs...); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
}

// What is done in the caller's transaction is done with it.
func TestWithTx(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{BuildInputID: 7, Priority: 2}); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.WithTx(tx).EnqueueMany(ctx, []NewJob{{BuildInputID: 7, Priority: 1}, {BuildInputID: 8, Priority: 1}}); err != nil {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if got := build(t, db, 7) + ", " + build(t, db, 8); got != "1 2 free -, " {
		t.Error(got)
	}
}

// Of producers that put the same at the same moment each finds the row of the others.
func TestProducers(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	var news []NewJob
	for i := range 100 {
		news = append(news, NewJob{BuildInputID: int64(i), Priority: 1})
	}
	var wg sync.WaitGroup
	all := make([][]Key, 4)
	for p := range all {
		wg.Go(func() {
			part := slices.Clone(news)
			if p%2 == 0 {
				slices.Reverse(part)
			}
			keys, err := q.EnqueueMany(ctx, part)
			if err != nil {
				t.Error(err)
			}
			if p%2 == 0 {
				slices.Reverse(keys)
			}
			all[p] = keys
		})
	}
	wg.Wait()
	for _, keys := range all[1:] {
		if !slices.Equal(keys, all[0]) {
			t.Errorf("%d, not %d", keys, all[0])
		}
	}
}

type hook func(op string, n int, err error)

func (h hook) Before(ctx context.Context, _ string) context.Context { return ctx }

func (h hook) After(_ context.Context, op string, n int, err error) { h(op, n, err) }
