package conversionsq

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// running counts what runs.
func running(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM conversions WHERE state = 'busy'").Scan(&n); err != nil {
		t.Error(err)
	}
	return n
}

// add adds ready jobs.
func add(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	for range n {
		if _, err := db.Exec("INSERT INTO conversions DEFAULT VALUES"); err != nil {
			t.Fatal(err)
		}
	}
}

// A claim takes as many jobs as there is room for, whatever it asks for, and goes on when one
// has ended in whatever way.
func TestRoom(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	add(t, db, 20)
	jobs, err := q.Claim(ctx, 3)
	if err != nil || len(jobs) != 3 {
		t.Fatal(jobs, err)
	}
	more, err := q.Claim(ctx, 10)
	if err != nil || len(more) != 1 || more[0].ID != 4 {
		t.Fatal(more, err)
	}
	if none, err := q.Claim(ctx, 1); err != nil || len(none) != 0 {
		t.Fatal(none, err)
	}
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Requeue(ctx, jobs[1]); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 2 || jobs[0].ID != 2 || jobs[1].ID != 5 {
		t.Fatal(jobs, err)
	}
	next, err := q.CompleteAndClaim(ctx, more, 10)
	if err != nil || len(next) != 1 || next[0].ID != 6 {
		t.Fatal(next, err)
	}
	if _, err := db.Exec("UPDATE conversions SET until_at = 1 WHERE state = 'busy'"); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 0 {
		t.Fatal(jobs, err) // they run until Recover takes them
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 4 {
		t.Fatal(n, err)
	}
	if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 4 {
		t.Fatal(jobs, err)
	}
}

// In a transaction of the caller's own the claim counts what it has claimed itself.
func TestWithin(t *testing.T) {
	ctx, db := context.Background(), open(t)
	add(t, db, 20)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := New(db).WithTx(tx)
	for _, want := range []int{3, 1, 0} {
		if jobs, err := q.Claim(ctx, 3); err != nil || len(jobs) != want {
			t.Fatal(jobs, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// Claims at the same moment, of processes that share nothing but the file, never go over the
// limit.
func TestTogether(t *testing.T) {
	dsn := strings.Replace(database(t), "&_txlock=immediate", "", 1)
	look := opened(t, dsn)
	add(t, look, 200)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var group sync.WaitGroup
	var most, done atomic.Int32
	for range 8 {
		group.Go(func() {
			db := opened(t, dsn)
			q := New(db)
			for done.Load() < 200 && ctx.Err() == nil {
				jobs, err := q.Claim(ctx, 3)
				if err != nil {
					t.Error(err)
					return
				}
				if n := int32(running(t, db)); n > most.Load() {
					most.Store(n)
				}
				if err := q.Complete(ctx, jobs...); err != nil {
					t.Error(err)
				}
				done.Add(int32(len(jobs)))
			}
		})
	}
	group.Wait()
	if most.Load() > 4 || done.Load() != 200 {
		t.Errorf("%d ran at once, %d were done", most.Load(), done.Load())
	}
}

// Work finishes everything, and goes on as soon as a job has ended.
func TestWork(t *testing.T) {
	db := open(t)
	add(t, db, 40)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var now, most, done atomic.Int32
	handler := func(context.Context, Job) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		if done.Add(1) == 40 {
			cancel()
		}
		return nil
	}
	if err := New(db).Work(ctx, handler, WorkOptions{Concurrency: 8, PollInterval: time.Minute}); err != nil {
		t.Error(err)
	}
	if most.Load() > 4 || done.Load() != 40 {
		t.Errorf("%d ran at once, %d were done", most.Load(), done.Load())
	}
}
