package urlsq

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A URL that is there already is left out, whatever has become of it, and told apart.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	var heard []string
	q := New(db, WithHook(hook(func(op string, n int, err error) { heard = append(heard, fmt.Sprint(op, " ", n, " ", err)) })))
	if key, added, err := q.Enqueue(ctx, NewJob{URL: "a"}); err != nil || !added || key != 1 {
		t.Fatalf("key %d, added %t, %v", key, added, err)
	}
	if _, err := db.Exec("UPDATE urls SET status = 'done'"); err != nil {
		t.Fatal(err)
	}
	if key, added, err := q.Enqueue(ctx, NewJob{URL: "a"}); err != nil || added || key != 0 {
		t.Fatalf("key %d, added %t, %v", key, added, err)
	}
	keys, added, err := q.EnqueueMany(ctx, []NewJob{{URL: "b"}, {URL: "a"}, {URL: "c"}, {URL: "b"}, {URL: "d"}})
	if err != nil || !slices.Equal(added, []bool{true, false, true, false, true}) {
		t.Fatalf("keys %d, added %t, %v", keys, added, err)
	}
	for i, key := range keys {
		var url string
		err := db.QueryRow("SELECT url FROM urls WHERE id = ?", key).Scan(&url)
		if added[i] && (err != nil || url != []string{"b", "", "c", "", "d"}[i]) || !added[i] && key != 0 {
			t.Errorf("job %d has the key %d, of %q: %v", i, key, url, err)
		}
	}
	if got := strings.Join(heard, ", "); got != "enqueue 1 <nil>, enqueue 0 <nil>, enqueue 3 <nil>" {
		t.Error(got)
	}
	if keys, added, err := q.EnqueueMany(ctx, nil); keys != nil || added != nil || err != nil {
		t.Errorf("keys %d, added %t, %v", keys, added, err)
	}
}

// What is wrong otherwise is an error as ever, and takes all of the call with it.
func TestOtherErrors(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if key, added, err := q.Enqueue(ctx, NewJob{URL: ""}); err == nil || added || key != 0 {
		t.Errorf("key %d, added %t, %v", key, added, err)
	}
	if keys, added, err := q.EnqueueMany(ctx, []NewJob{{URL: "a"}, {URL: ""}}); err == nil || added != nil || keys != nil {
		t.Errorf("keys %d, added %t, %v", keys, added, err)
	}
	count(t, db, 0)
}

// A duplicate leaves the caller's transaction as it is.
func TestWithTx(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, _, err := q.Enqueue(ctx, NewJob{URL: "a"}); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	mine := q.WithTx(tx)
	for url, want := range map[string]bool{"a": false, "b": true} {
		if _, added, err := mine.Enqueue(ctx, NewJob{URL: url}); err != nil || added != want {
			t.Errorf("%s: added %t, %v", url, added, err)
		}
	}
	if _, added, err := mine.EnqueueMany(ctx, []NewJob{{URL: "b"}, {URL: "c"}}); err != nil || !slices.Equal(added, []bool{false, true}) {
		t.Errorf("added %t, %v", added, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	count(t, db, 3)
}

// Of producers that add the same at the same moment one adds each.
func TestProducers(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	var news []NewJob
	for i := range 200 {
		news = append(news, NewJob{URL: fmt.Sprint("u", i)})
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []Key
	for p := range 4 {
		wg.Go(func() {
			for from := range 4 {
				part := news[from*50 : from*50+50]
				if p%2 == 0 {
					part = slices.Clone(part)
					slices.Reverse(part)
				}
				keys, added, err := q.EnqueueMany(ctx, part)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for i := range added {
					if added[i] {
						all = append(all, keys[i])
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != 200 || len(all) != 200 {
		t.Errorf("%d jobs were added", len(all))
	}
	count(t, db, 200)
}

func count(t *testing.T, db DBTX, want int) {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), "SELECT id FROM urls")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil || n != want {
		t.Errorf("%d rows, not %d: %v", n, want, err)
	}
}

type hook func(op string, n int, err error)

func (h hook) Before(ctx context.Context, _ string) context.Context { return ctx }

func (h hook) After(_ context.Context, op string, n int, err error) { h(op, n, err) }
