package begunq

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A null alone tells a claimed row from a running one, and is there again when the job is
// given back.
func TestNull(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO begun DEFAULT VALUES"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	for range 2 {
		jobs, err := q.Claim(ctx, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		if err := q.Start(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
		if err := q.Start(ctx, jobs...); !errors.Is(err, ErrLost) {
			t.Errorf("a job is begun twice: %v", err)
		}
		if s, err := q.Stats(ctx); err != nil || s.Claimed != 0 || s.Running != 1 {
			t.Errorf("%+v, %v", s, err)
		}
		if err := q.Requeue(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
		var nulls int
		if err := db.QueryRow("SELECT count(*) FROM begun WHERE start IS NULL AND since IS NULL AND state = 0").Scan(&nulls); err != nil || nulls != 1 {
			t.Errorf("the row is not as it was: %v", err)
		}
	}
}

// forgetful loses the answer to the first Start.
type forgetful struct {
	*sql.DB
	starts atomic.Int32
}

func (f *forgetful) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := f.DB.QueryContext(ctx, query, args...)
	if err != nil || !strings.Contains(query, "begunq.Start") || f.starts.Add(1) > 1 {
		return rows, err
	}
	for rows.Next() {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	return nil, driver.ErrBadConn
}

// Where nobody knows whether a job has begun, Work gives it back instead of leaving it to
// nobody, and handles it with the next claim.
func TestWorkWithoutAnswer(t *testing.T) {
	db := &forgetful{DB: open(t)}
	if _, err := db.Exec("INSERT INTO begun DEFAULT VALUES"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	handled, told := 0, 0
	handler := func(context.Context, Job) error {
		handled++
		cancel()
		return nil
	}
	err := New(db).Work(ctx, handler, WorkOptions{PollInterval: 10 * time.Millisecond, OnError: func(error) { told++ }})
	if err != nil || handled != 1 || told != 2 || db.starts.Load() != 3 {
		t.Errorf("%v; the handler was called %d times, OnError %d, Start %d", err, handled, told, db.starts.Load())
	}
	var done int
	if err := db.QueryRow("SELECT count(*) FROM begun WHERE state = 2").Scan(&done); err != nil || done != 1 {
		t.Errorf("the job is not done: %v", err)
	}
}
