package corpus

import (
	"context"
	"database/sql"
	"strconv"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/acquiredlite"
	"github.com/qgen-dev/qgen/test/corpus/gen/acquiredmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/acquiredpg"
	"github.com/qgen-dev/qgen/test/corpus/gen/renamedlite"
)

// files is the queue over files, as all servers have it.
type files[J any] interface {
	Claim(ctx context.Context, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	CompleteAndClaim(ctx context.Context, jobs []J, limit int) ([]J, error)
	Fail(ctx context.Context, job J, cause error) error
	Requeue(ctx context.Context, delay time.Duration, jobs ...J) error
	Extend(ctx context.Context, jobs ...*J) error
	Recover(ctx context.Context, limit int) (int, error)
	Peek(ctx context.Context, limit int) ([]J, error)
	Verify(ctx context.Context) error
}

// kept are the queue, and what its package says otherwise on each server.
type kept[J any] struct {
	files[J]
	lost    error
	path    func(J) string
	tries   func(J) int
	within  func(*sql.Tx) files[J]
	enqueue func(ctx context.Context, path string) error
	stats   func(ctx context.Context) (ready, running, expired int64, err error)
}

func TestAcquired(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		q := acquiredpg.New(b.DB, acquiredpg.WithWorker("reader"))
		acquired(t, b, kept[acquiredpg.Job]{q, acquiredpg.ErrLost,
			func(j acquiredpg.Job) string { return j.Path }, func(j acquiredpg.Job) int { return int(j.Tries) },
			func(tx *sql.Tx) files[acquiredpg.Job] { return q.WithTx(tx) },
			func(ctx context.Context, path string) error {
				_, err := q.Enqueue(ctx, acquiredpg.NewJob{Path: path})
				return err
			},
			func(ctx context.Context) (int64, int64, int64, error) {
				s, err := q.Stats(ctx)
				return s.Ready, s.Running, s.Expired, err
			}})
	}, "acquired/postgresql.sql", "gen/acquiredpg/schema/indexes.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		q := acquiredmy.New(b.DB, acquiredmy.WithWorker("reader"))
		acquired(t, b, kept[acquiredmy.Job]{q, acquiredmy.ErrLost,
			func(j acquiredmy.Job) string { return j.Path }, func(j acquiredmy.Job) int { return int(j.Tries) },
			func(tx *sql.Tx) files[acquiredmy.Job] { return q.WithTx(tx) },
			func(ctx context.Context, path string) error {
				_, err := q.Enqueue(ctx, acquiredmy.NewJob{Path: path})
				return err
			},
			func(ctx context.Context) (int64, int64, int64, error) {
				s, err := q.Stats(ctx)
				return s.Ready, s.Running, s.Expired, err
			}})
	}, "acquired/mysql.sql", "gen/acquiredmy/schema/indexes.sql")
	onServers(t, "sqlite", func(t *testing.T, b base) {
		q := acquiredlite.New(b.DB, acquiredlite.WithWorker("reader"))
		acquired(t, b, kept[acquiredlite.Job]{q, acquiredlite.ErrLost,
			func(j acquiredlite.Job) string { return j.Path }, func(j acquiredlite.Job) int { return int(j.Tries) },
			func(tx *sql.Tx) files[acquiredlite.Job] { return q.WithTx(tx) },
			func(ctx context.Context, path string) error {
				_, err := q.Enqueue(ctx, acquiredlite.NewJob{Path: path})
				return err
			},
			func(ctx context.Context) (int64, int64, int64, error) {
				s, err := q.Stats(ctx)
				return s.Ready, s.Running, s.Expired, err
			}})
	}, "acquired/sqlite.sql", "gen/acquiredlite/schema/indexes.sql")
}

// acquired proves one server's package.
func acquired[J any](t *testing.T, b base, q kept[J]) {
	ctx := t.Context()
	claim := func(t *testing.T, limit int, want ...string) []J {
		t.Helper()
		jobs, err := q.Claim(ctx, limit)
		return names(t, jobs, err, q.path, want...)
	}
	anew := func(t *testing.T, paths ...string) {
		t.Helper()
		for _, table := range []string{"files", "files_acquired", "files_processed", "files_failed"} {
			b.run(t, "DELETE FROM "+table)
		}
		for _, path := range paths {
			good(t, q.enqueue(ctx, path))
		}
	}
	// where wants the paths of each table.
	where := func(t *testing.T, ready, running, processed, failed string) {
		t.Helper()
		for table, want := range map[string]string{"files": ready, "files_acquired": running, "files_processed": processed, "files_failed": failed} {
			rows := []string{}
			for _, path := range want {
				rows = append(rows, string(path))
			}
			b.want(t, "SELECT path FROM "+table+" ORDER BY path", rows...)
		}
	}
	// expire lets all claims run out, due every wait.
	expire := func(t *testing.T) {
		t.Helper()
		b.run(t, "UPDATE files_acquired SET lease_till = '2024-01-01 00:00:00.000'")
	}
	due := func(t *testing.T) {
		t.Helper()
		b.run(t, "UPDATE files SET not_before = NULL")
	}

	t.Run("life", func(t *testing.T) {
		anew(t, "a", "b", "c", "d")
		good(t, q.Verify(ctx))
		peeked, err := q.Peek(ctx, 2)
		names(t, peeked, err, q.path, "a", "b")
		b.run(t, "UPDATE files SET size = 7 WHERE path = 'b'")
		jobs := claim(t, 3, "a", "b", "c")
		where(t, "d", "abc", "", "")
		b.want(t, "SELECT path, size, tries, acquired_by FROM files_acquired ORDER BY id", "a 0 1 reader", "b 7 1 reader", "c 0 1 reader")
		good(t, q.Complete(ctx, jobs[0]))
		good(t, q.Fail(ctx, jobs[1], errCause))
		good(t, q.Requeue(ctx, 0, jobs[2]))
		where(t, "bcd", "", "a", "")
		b.want(t, "SELECT path, size, tries FROM files ORDER BY id", "b 7 1", "c 0 0", "d 0 0")
		b.want(t, "SELECT path, acquired_by FROM files_processed", "a reader")
		jobs = claim(t, 9, "c", "d") // b waits
		good(t, q.Requeue(ctx, time.Hour, jobs[1]))
		more, err := q.CompleteAndClaim(ctx, jobs[:1], 9)
		names(t, more, err, q.path)
		where(t, "bd", "", "ac", "")
		due(t)
		jobs = claim(t, 9, "b", "d")
		if q.tries(jobs[0]) != 2 || q.tries(jobs[1]) != 1 {
			t.Errorf("the tries are %d and %d", q.tries(jobs[0]), q.tries(jobs[1]))
		}
		good(t, q.Fail(ctx, jobs[0], errCause)) // its last try
		where(t, "", "d", "ac", "b")
		b.want(t, "SELECT id, path, tries, problem FROM files_failed", b.key(t, "files_failed")+" b 2 no network")
		good(t, q.Complete(ctx, jobs[1]))
		where(t, "", "", "acd", "b")
	})

	t.Run("crash", func(t *testing.T) {
		anew(t, "a", "b")
		b.run(t, "UPDATE files SET tries = 1 WHERE path = 'b'")
		claim(t, 2, "a", "b")
		n, err := q.Recover(ctx, 9)
		good(t, err)
		if n != 0 {
			t.Errorf("%d claims that are good were recovered", n)
		}
		expire(t)
		ready, running, expired, err := q.stats(ctx)
		good(t, err)
		if ready != 0 || running != 2 || expired != 2 {
			t.Errorf("stats tell of %d ready, %d running and %d expired", ready, running, expired)
		}
		claim(t, 9) // whoever claims finds nothing: Recover brings it back
		n, err = q.Recover(ctx, 9)
		good(t, err)
		if n != 2 {
			t.Errorf("%d claims that ran out were recovered", n)
		}
		where(t, "a", "", "", "b")
		claim(t, 9, "a")
		where(t, "", "a", "", "b")
	})

	t.Run("late worker", func(t *testing.T) {
		anew(t, "a", "b")
		late := claim(t, 2, "a", "b")
		expire(t)
		_, err := q.Recover(ctx, 9)
		good(t, err)
		for range 2 { // the row is ready, then of another
			isLost(t, q.lost, q.Complete(ctx, late...))
			isLost(t, q.lost, q.Fail(ctx, late[0], errCause))
			isLost(t, q.lost, q.Requeue(ctx, 0, late...))
			isLost(t, q.lost, q.Extend(ctx, &late[0]))
			b.want(t, "SELECT (SELECT count(*) FROM files) + (SELECT count(*) FROM files_acquired), (SELECT count(*) FROM files_processed), (SELECT count(*) FROM files_failed)", "2 0 0")
			if jobs, err := q.Claim(ctx, 9); err != nil {
				t.Fatal(err)
			} else if len(jobs) > 0 {
				where(t, "", "ab", "", "")
			}
		}
		where(t, "", "ab", "", "")
	})

	t.Run("lease", func(t *testing.T) {
		anew(t, "a")
		jobs := claim(t, 1, "a")
		b.run(t, "UPDATE files_acquired SET lease_till = '2024-01-01 00:00:00.000'")
		good(t, q.Extend(ctx, &jobs[0]))
		n, err := q.Recover(ctx, 9)
		good(t, err)
		if n != 0 {
			t.Error("a lease that began anew ran out")
		}
		good(t, q.Complete(ctx, jobs...))
		isLost(t, q.lost, q.Complete(ctx, jobs...))
		where(t, "", "", "a", "")
	})

	t.Run("rollback", func(t *testing.T) {
		anew(t, "a", "b")
		held := claim(t, 1, "a")
		tx, err := b.BeginTx(ctx, &sql.TxOptions{Isolation: map[string]sql.IsolationLevel{"mysql": sql.LevelReadCommitted}[b.engine]})
		good(t, err)
		jobs, err := q.within(tx).Claim(ctx, 9)
		names(t, jobs, err, q.path, "b")
		good(t, q.within(tx).Complete(ctx, held...))
		good(t, tx.Rollback())
		where(t, "b", "a", "", "")
		good(t, q.Complete(ctx, append(held, claim(t, 1, "b")...)...))
		where(t, "", "", "ab", "")
	})

	t.Run("exclusive", func(t *testing.T) {
		anew(t)
		const total = 400
		b.run(t, "INSERT INTO files (path) VALUES "+texts(total, "('n%d')"))
		together(t, total, func(ctx context.Context) ([]J, error) { return q.Claim(ctx, 3) }, q.path)
		b.want(t, "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM files_acquired)", "0 "+strconv.Itoa(total))
	})

	t.Run("one table", func(t *testing.T) {
		anew(t)
		const total = 120
		b.run(t, "INSERT INTO files (path) VALUES "+texts(total, "('n%d')"))
		together(t, total, func(ctx context.Context) ([]J, error) {
			jobs, err := q.Claim(ctx, 3)
			if err == nil && len(jobs) == 3 {
				err = q.Requeue(ctx, time.Hour, jobs[0])
			}
			if err == nil && len(jobs) > 1 {
				err = q.Complete(ctx, jobs[1])
			}
			return jobs, err
		}, q.path)
		b.want(t, "SELECT (SELECT count(*) FROM files) + (SELECT count(*) FROM files_acquired) + (SELECT count(*) FROM files_processed)", strconv.Itoa(total))
	})
}

// key is the key of the only row of a table.
func (b base) key(t *testing.T, table string) string {
	t.Helper()
	var key string
	if err := b.QueryRow("SELECT id FROM " + table).Scan(&key); err != nil {
		t.Fatal(err)
	}
	return key
}

// TestRenamed is about columns that are called otherwise where jobs run, a fence that
// counts, and tries that are counted when they fail.
func TestRenamed(t *testing.T) {
	onServers(t, "sqlite", func(t *testing.T, b base) {
		ctx := t.Context()
		q := renamedlite.New(b.DB, renamedlite.WithWorker("me"))
		good(t, q.Verify(ctx))
		claim := func(limit int, want ...string) []renamedlite.Job {
			t.Helper()
			jobs, err := q.Claim(ctx, limit)
			return names(t, jobs, err, func(j renamedlite.Job) string { return j.Text }, want...)
		}
		later := time.Now().Add(time.Hour).Truncate(time.Millisecond)
		for i, job := range []renamedlite.NewJob{{Text: "third"}, {Text: "first"}, {Text: "second"}, {Text: "not yet", WaitsTill: &later}} {
			urgent := int64(10 * i % 20)
			job.Customer, job.Number, job.Urgent = 7, int64(i), &urgent
			_, err := q.Enqueue(ctx, job)
			good(t, err)
		}
		b.want(t, "SELECT no FROM mail WHERE due = "+strconv.FormatInt(later.UnixMilli(), 10), "3")
		peeked, err := q.Peek(ctx, 1)
		names(t, peeked, err, func(j renamedlite.Job) string { return j.Text }, "first")

		held := claim(2, "first", "third")
		b.want(t, "SELECT customer, number, text, failures, who, version, kind FROM mail_running ORDER BY number", "7 0 third 0 me 1 mail", "7 1 first 0 me 1 mail")
		renewed := held[0]
		good(t, q.Extend(ctx, &renewed))
		isLost(t, renamedlite.ErrLost, q.Complete(ctx, held[0])) // before it was renewed
		good(t, q.Requeue(ctx, 0, renewed))
		b.want(t, "SELECT tenant, no, prio, body, tries, holder, changes FROM mail WHERE no = 1", "7 1 10 first 0 null 2")
		again := claim(1, "first")
		isLost(t, renamedlite.ErrLost, q.Complete(ctx, renewed)) // before it was given back

		good(t, q.Fail(ctx, again[0], errCause))
		b.want(t, "SELECT tries, due > unixepoch() * 1000, changes FROM mail WHERE no = 1", "1 1 3")
		b.run(t, "UPDATE mail SET due = NULL WHERE no = 1")
		good(t, q.Fail(ctx, claim(1, "first")[0], errCause)) // its last try
		b.want(t, "SELECT (SELECT count(*) FROM mail), (SELECT count(*) FROM mail_running)", "2 1")

		b.run(t, "UPDATE mail_running SET till = 1")
		n, err := q.Recover(ctx, 9)
		good(t, err)
		b.want(t, "SELECT no, tries FROM mail ORDER BY no", "0 1", "2 0", "3 0")
		if n != 1 {
			t.Errorf("%d claims were recovered", n)
		}
	}, "acquired/renamed.sql", "gen/renamedlite/schema/indexes.sql")
}
