package actionsq

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
)

// add adds ready actions.
func add(t *testing.T, db *sql.DB, hooks ...string) {
	t.Helper()
	for _, hook := range hooks {
		if _, err := db.Exec("INSERT INTO actions (hook) VALUES (?)", hook); err != nil {
			t.Fatal(err)
		}
	}
}

// counter is a database or a transaction.
type counter interface {
	QueryRow(query string, args ...any) *sql.Row
}

// count compares the number that a query returns.
func count(t *testing.T, db counter, want int, query string, args ...any) {
	t.Helper()
	var n int
	if err := db.QueryRow(query, args...).Scan(&n); err != nil || n != want {
		t.Errorf("%s: %d, not %d: %v", query, n, want, err)
	}
}

// The key of the one row that a claim adds is the token of all its jobs.
func TestOneRow(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db, WithWorker("me"))
	if jobs, err := q.Claim(ctx, 5); err != nil || len(jobs) != 0 {
		t.Fatalf("%d jobs of an empty table: %v", len(jobs), err)
	}
	count(t, db, 0, "SELECT count(*) FROM claims")
	count(t, db, 0, "SELECT count(*) FROM sqlite_sequence WHERE name = 'claims'")
	add(t, db, "a", "b", "c")
	jobs, err := q.Claim(ctx, 2)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	count(t, db, 1, "SELECT count(*) FROM claims WHERE holder = 'me' AND abs(made_at - (unixepoch() - 300)) < 60")
	count(t, db, int(jobs[0].ClaimID), "SELECT id FROM claims")
	count(t, db, 2, "SELECT count(*) FROM actions WHERE state = 'A' AND claim_id = (SELECT id FROM claims)")
	next, err := q.Claim(ctx, 2)
	if err != nil || len(next) != 1 || next[0].ClaimID == jobs[0].ClaimID {
		t.Fatalf("%+v: %v", next, err)
	}
	count(t, db, 2, "SELECT count(*) FROM claims")
}

// A worker that comes late is told from the new holder, and what nobody has has no token.
func TestLate(t *testing.T) {
	db, ctx := open(t), context.Background()
	add(t, db, "a")
	q := New(db)
	claim := func() Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs: %v", len(jobs), err)
		}
		return jobs[0]
	}
	late := claim()
	if err := q.Requeue(ctx, late); err != nil {
		t.Fatal(err)
	}
	count(t, db, 1, "SELECT count(*) FROM actions WHERE state = 'N' AND claim_id = 0")
	mine := claim()
	if err := q.Complete(ctx, late); !errors.Is(err, ErrLost) {
		t.Errorf("a late worker completes a job: %v", err)
	}
	if _, err := db.Exec("UPDATE actions SET claimed = 0"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 5); err != nil || n != 1 {
		t.Errorf("%d jobs recovered: %v", n, err)
	}
	count(t, db, 1, "SELECT count(*) FROM actions WHERE state = 'N' AND claim_id = 0")
	if err := q.Complete(ctx, mine); !errors.Is(err, ErrLost) {
		t.Errorf("a job is completed whose claim has run out: %v", err)
	}
	if err := q.Complete(ctx, claim()); err != nil {
		t.Error(err)
	}
	count(t, db, 3, "SELECT count(*) FROM claims")
}

// thief takes, behind every look for ready jobs, those that take says.
type thief struct {
	*sql.DB
	take string
}

func (f *thief) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := f.DB.QueryContext(ctx, query, args...)
	if err == nil && strings.HasPrefix(query, "SELECT /* actionsq.Claim */") {
		_, err = f.DB.ExecContext(ctx, "UPDATE actions SET state = 'A', claim_id = -1 WHERE state = 'N' AND "+f.take)
	}
	return rows, err
}

// When others are quicker, the row of a claim that takes nothing goes away again.
func TestOthersAreQuicker(t *testing.T) {
	db, ctx := open(t), context.Background()
	db.SetMaxOpenConns(0)
	add(t, db, "a", "b")
	q := New(&thief{db, "true"})
	if jobs, err := q.Claim(ctx, 2); err != nil || len(jobs) != 0 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	count(t, db, 2, "SELECT count(*) FROM actions WHERE claim_id = -1")
	count(t, db, 0, "SELECT count(*) FROM claims")
	count(t, db, 1, "SELECT count(*) FROM sqlite_sequence WHERE name = 'claims'") // there was one

	add(t, db, "c", "d")
	q = New(&thief{db, "hook = 'c'"})
	jobs, err := q.Claim(ctx, 2)
	if err != nil || len(jobs) != 1 || jobs[0].Hook != "d" {
		t.Fatalf("%+v: %v", jobs, err)
	}
	count(t, db, 1, "SELECT count(*) FROM claims")
	count(t, db, int(jobs[0].ClaimID), "SELECT id FROM claims")
}

// In the caller's transaction all is there and gone with it.
func TestTransaction(t *testing.T) {
	db, ctx := open(t), context.Background()
	add(t, db, "a")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := New(db).WithTx(tx).Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	count(t, tx, 1, "SELECT count(*) FROM claims")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	count(t, db, 0, "SELECT count(*) FROM claims")
	count(t, db, 1, "SELECT count(*) FROM actions WHERE state = 'N' AND claim_id = 0")
}

// Of claimers at once each job has one, and each row of claims has jobs.
func TestTogether(t *testing.T) {
	db, ctx := open(t), context.Background()
	for range 60 {
		add(t, db, "a")
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[int64]int64{}
	)
	for range 4 {
		wg.Go(func() {
			q := New(db)
			for range 200 {
				jobs, err := q.Claim(ctx, 3)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, j := range jobs {
					if seen[j.ID] != 0 {
						t.Errorf("job %d has the claims %d and %d", j.ID, seen[j.ID], j.ClaimID)
					}
					seen[j.ID] = j.ClaimID
				}
				all := len(seen) == 60
				mu.Unlock()
				if all {
					return
				}
			}
		})
	}
	wg.Wait()
	if len(seen) != 60 {
		t.Errorf("%d jobs were taken", len(seen))
	}
	count(t, db, 0, "SELECT count(*) FROM claims WHERE id NOT IN (SELECT claim_id FROM actions)")
	count(t, db, 60, "SELECT count(*) FROM actions JOIN claims ON claims.id = claim_id")
}
