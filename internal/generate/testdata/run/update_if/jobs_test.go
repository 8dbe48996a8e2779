package jobsq

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// found is the job of a name as the table has it.
func found(t *testing.T, db DBTX, uid string) string {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), "SELECT id || ' ' || data || ' ' || priority || ' ' || state || ' ' || scheduled FROM jobs WHERE uid = ?", uid)
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

// A row that is there is changed where the condition holds for it, and left alone where it does not:
// then there is no key, and no error.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	var heard []string
	q := New(db, WithHook(hook(func(op string, n int, err error) { heard = append(heard, fmt.Sprint(op, " ", n, " ", err)) })))
	past := time.UnixMilli(1_000_000)
	later := time.UnixMilli(2_000_000)
	put := func(job NewJob, key Key, written bool, want string) {
		t.Helper()
		got, did, err := q.Enqueue(ctx, job)
		if err != nil || got != key || did != written {
			t.Errorf("key %d, written %t, %v", got, did, err)
		}
		if got := found(t, db, job.UID); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	put(NewJob{UID: "a", Data: "x", Scheduled: &past}, 1, true, "1 x 0 scheduled 1000000")
	put(NewJob{UID: "a", Data: "x", Scheduled: &past}, 0, false, "1 x 0 scheduled 1000000") // nothing differs
	urgent := int64(7)
	put(NewJob{UID: "a", Data: "x", Priority: &urgent, Scheduled: &past}, 0, false, "1 x 0 scheduled 1000000")
	put(NewJob{UID: "a", Data: "y", Scheduled: &past}, 1, true, "1 y 0 scheduled 1000000")
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	put(NewJob{UID: "a", Data: "z", Scheduled: &later}, 0, false, "1 y 0 running 1000000")
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	put(NewJob{UID: "a", Data: "z", Scheduled: &later}, 1, true, "1 z 0 scheduled 2000000")
	if got := strings.Join(heard, ", "); got != "enqueue 1 <nil>, enqueue 0 <nil>, enqueue 0 <nil>, enqueue 1 <nil>, claim 1 <nil>, enqueue 0 <nil>, complete 1 <nil>, enqueue 1 <nil>" {
		t.Error(got)
	}
}

// Keys and what was written come in the order of the jobs; of those that are alike each meets what the
// one before it has left.
func TestEnqueueMany(t *testing.T) {
	db, ctx := open(t), context.Background()
	q, due := New(db), time.UnixMilli(1_000_000)
	job := func(uid, data string) NewJob { return NewJob{UID: uid, Data: data, Scheduled: &due} }
	keys, written, err := q.EnqueueMany(ctx, []NewJob{job("a", "x"), job("a", "x"), job("b", "x"), job("a", "y")})
	if err != nil || len(keys) != 4 || !slices.Equal(written, []bool{true, false, true, true}) {
		t.Fatalf("keys %d, written %t, %v", keys, written, err)
	}
	if keys[0] == 0 || keys[1] != 0 || keys[3] != keys[0] || keys[2] == 0 || keys[2] == keys[0] {
		t.Errorf("keys %d", keys)
	}
	if got, want := found(t, db, "a"), fmt.Sprint(keys[0], " y 0 scheduled 1000000"); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if keys, written, err := q.EnqueueMany(ctx, nil); keys != nil || written != nil || err != nil {
		t.Errorf("keys %d, written %t, %v", keys, written, err)
	}
}

// Whoever enqueues while others claim and complete never takes a job from its worker.
func TestRunningStaysWithItsWorker(t *testing.T) {
	db, ctx := open(t), context.Background()
	q, due := New(db), time.UnixMilli(1_000_000)
	var all sync.WaitGroup
	stop := make(chan struct{})
	for i := range 3 {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, _, err := q.Enqueue(ctx, NewJob{UID: "a", Data: fmt.Sprint(i, " ", n), Scheduled: &due}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for done := 0; done < 30; {
		jobs, err := q.Claim(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs {
			if err := q.Complete(ctx, job); err != nil {
				t.Error(err)
			}
			done++
		}
	}
	close(stop)
	all.Wait()
}

// hook hears of operations that end.
type hook func(op string, n int, err error)

func (h hook) Before(ctx context.Context, op string) context.Context { return ctx }
func (h hook) After(_ context.Context, op string, n int, err error)  { h(op, n, err) }
