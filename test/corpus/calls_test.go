package corpus

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/callsma"
	"github.com/qgen-dev/qgen/test/corpus/gen/callstwoma"
	"github.com/qgen-dev/qgen/test/servers"
)

// calls is the queue over calls of tenants.
type calls[J any] interface {
	Claim(ctx context.Context, kind string, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	Requeue(ctx context.Context, jobs ...J) error
}

// TestCalls keeps the rule of a group in a block: it locks the row of the tenant and counts
// behind that, as the block for Oracle does. Claims of two kinds do not look at each other's
// rows, so that nothing else keeps them apart.
func TestCalls(t *testing.T) {
	for _, server := range []string{"mariadb1011", "mariadb118"} {
		t.Run(server, func(t *testing.T) {
			t.Run("one", func(t *testing.T) {
				proveCalls(t, server, 1,
					func(db *sql.DB) calls[callsma.Job] { return callsma.New(db) },
					func(tx *sql.Tx) calls[callsma.Job] { return callsma.New(nil).WithTx(tx) },
					func(j callsma.Job) *int64 { return j.Tenant })
			})
			t.Run("two", func(t *testing.T) {
				proveCalls(t, server, 2,
					func(db *sql.DB) calls[callstwoma.Job] { return callstwoma.New(db) },
					func(tx *sql.Tx) calls[callstwoma.Job] { return callstwoma.New(nil).WithTx(tx) },
					func(j callstwoma.Job) *int64 { return j.Tenant })
			})
		})
	}
}

func proveCalls[J any](t *testing.T, server string, room int, open func(*sql.DB) calls[J], within func(*sql.Tx) calls[J], tenant func(J) *int64) {
	driver, dsn := place(t, "mariadb", server)
	b := base{engine: "mariadb", DB: servers.Open(t, driver, dsn, 8)}
	create(t, b.DB, "calls/mariadb.sql", "gen/callsma/schema/indexes.sql")
	q, ctx := open(b.DB), t.Context()
	anew := func(t *testing.T) {
		t.Helper()
		b.run(t, "DELETE FROM calls", "DELETE FROM tenants", "INSERT INTO tenants (id) VALUES (1), (2), (3), (4)")
	}
	of := func(j J) string {
		if id := tenant(j); id != nil {
			return fmt.Sprint(*id)
		}
		return "none"
	}
	begin := func(t *testing.T) (*sql.Tx, calls[J]) {
		t.Helper()
		tx, err := b.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		good(t, err)
		t.Cleanup(func() { _ = tx.Rollback() })
		return tx, within(tx)
	}

	t.Run("open", func(t *testing.T) {
		anew(t)
		b.run(t, "INSERT INTO calls (tenant, kind) VALUES (1, 'mail'), (1, 'mail'), (1, 'text'), (2, 'text'), (9, 'text'), (NULL, 'text')")
		first, ours := begin(t)
		jobs, err := ours.Claim(ctx, "mail", room)
		names(t, jobs, err, of, []string{"1", "1"}[:room]...)
		second, theirs := begin(t)
		others, err := theirs.Claim(ctx, "text", 9)
		names(t, others, err, of, "2", "none") // tenant 1 is the first one's, and no row stands for tenant 9
		good(t, second.Commit())
		good(t, first.Commit())
		others, err = q.Claim(ctx, "text", 9)
		names(t, others, err, of) // tenant 1 is full
		good(t, q.Complete(ctx, jobs[0]))
		others, err = q.Claim(ctx, "text", 9)
		names(t, others, err, of, "1")
		b.run(t, "INSERT INTO tenants (id) VALUES (9)")
		others, err = q.Claim(ctx, "text", 9)
		names(t, others, err, of, "9")
	})

	t.Run("together", func(t *testing.T) {
		const total, tenants = 400, 4
		anew(t)
		b.run(t, "INSERT INTO calls (tenant, kind) SELECT CASE WHEN seq % 10 = 0 THEN NULL ELSE 1 + seq % 4 END, CASE WHEN seq % 3 = 0 THEN 'mail' ELSE 'text' END FROM seq_1_to_400")
		var mu sync.Mutex
		running, most, left := map[string]int{}, 0, total
		ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
		defer cancel()
		// count notes that jobs run, or do not any more: before the database knows.
		count := func(by int, jobs ...J) bool {
			mu.Lock()
			defer mu.Unlock()
			for _, j := range jobs {
				if tenant(j) == nil {
					continue
				}
				running[of(j)] += by
				most = max(most, running[of(j)])
			}
			return left > 0 && most <= room
		}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for goes := true; goes && ctx.Err() == nil; {
					jobs, err := q.Claim(ctx, []string{"mail", "text"}[rand.IntN(2)], 1+rand.IntN(6))
					if err != nil {
						t.Error(err)
						return
					}
					goes = count(1, jobs...)
					for _, j := range jobs {
						count(-1, j)
						if rand.IntN(8) == 0 {
							err = q.Requeue(ctx, j)
						} else {
							err = q.Complete(ctx, j)
							mu.Lock()
							left--
							mu.Unlock()
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		group.Wait()
		if most != room {
			t.Errorf("of one tenant %d calls ran at once, want %d", most, room)
		}
		if left != 0 {
			t.Errorf("%d calls are left: %v", left, ctx.Err())
		}
		b.want(t, "SELECT count(*), count(DISTINCT tenant) FROM calls WHERE status = 'done'", fmt.Sprintf("%d %d", total, tenants))
	})
}
