package itemsq

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// waiting is how many items of a queue wait.
func waiting(t *testing.T, db DBTX, queue string) (n int) {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), "SELECT count(*) FROM items WHERE queue_id = ? AND status = 'pending'", queue)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// A job is added while fewer wait than may, and is left out without an error while as many do; then
// there is no key.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	var heard []string
	q := New(db, WithHook(hook(func(op string, n int, err error) { heard = append(heard, fmt.Sprint(op, " ", n, " ", err)) })))
	put := func(queue string, most int, key Key, added bool) {
		t.Helper()
		got, did, err := q.Enqueue(ctx, NewJob{QueueID: queue, Data: "x", Most: most})
		if err != nil || got != key || did != added {
			t.Errorf("key %d, added %t, %v", got, did, err)
		}
	}
	put("a", 2, 1, true)
	put("a", 2, 2, true)
	put("a", 2, 0, false)
	put("b", 2, 3, true)
	put("a", 3, 4, true)
	jobs, err := q.Claim(ctx, 2)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	put("a", 2, 5, true) // what runs does not wait
	put("a", 2, 0, false)
	if got := strings.Join(heard, ", "); got != "enqueue 1 <nil>, enqueue 1 <nil>, enqueue 0 <nil>, enqueue 1 <nil>, enqueue 1 <nil>, claim 2 <nil>, enqueue 1 <nil>, enqueue 0 <nil>" {
		t.Error(got)
	}
}

// Each job of a call sees those before it; what the caller's transaction undoes is not there.
func TestEnqueueMany(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	job := func(queue string) NewJob { return NewJob{QueueID: queue, Data: "x", Most: 2} }
	keys, added, err := q.EnqueueMany(ctx, []NewJob{job("a"), job("a"), job("b"), job("a"), job("b")})
	if err != nil || !slices.Equal(keys, []Key{1, 2, 3, 0, 4}) || !slices.Equal(added, []bool{true, true, true, false, true}) {
		t.Errorf("keys %d, added %t, %v", keys, added, err)
	}
	if keys, added, err := q.EnqueueMany(ctx, nil); keys != nil || added != nil || err != nil {
		t.Errorf("keys %d, added %t, %v", keys, added, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, added, err := q.WithTx(tx).EnqueueMany(ctx, []NewJob{job("c"), job("c"), job("c")}); err != nil || !slices.Equal(added, []bool{true, true, false}) {
		t.Errorf("added %t, %v", added, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n := waiting(t, db, "c"); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// Never more jobs wait than may, however many producers add some at the same moment and whatever workers take.
func TestProducers(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	const producers, most = 16, 5
	var all, adding sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if n := waiting(t, db, "a"); n > most {
					t.Errorf("%d wait", n)
				}
				jobs, err := q.Claim(ctx, 1)
				if err != nil {
					t.Error(err)
				}
				if err := q.Complete(ctx, jobs...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range producers {
		adding.Go(func() {
			for range 20 {
				if _, _, err := q.Enqueue(ctx, NewJob{QueueID: "a", Data: "x", Most: most}); err != nil {
					t.Error(err)
				}
				if n := waiting(t, db, "a"); n > most {
					t.Errorf("%d wait", n)
				}
			}
		})
	}
	adding.Wait()
	close(stop)
	all.Wait()
}

// hook hears of operations that end.
type hook func(op string, n int, err error)

func (h hook) Before(ctx context.Context, op string) context.Context { return ctx }
func (h hook) After(_ context.Context, op string, n int, err error)  { h(op, n, err) }
