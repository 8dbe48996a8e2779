package corpus

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/qgen-dev/qgen/test/corpus/gen/talliesma"
	"github.com/qgen-dev/qgen/test/corpus/gen/talliesmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/talliespg"
	"github.com/qgen-dev/qgen/test/corpus/gen/talliessql"
	"github.com/qgen-dev/qgen/test/servers"
)

// mailbox is the queue over letters.
type mailbox[J, N any] interface {
	EnqueueMany(ctx context.Context, news []N) ([]int64, error)
	Claim(ctx context.Context, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	Fail(ctx context.Context, job J, cause error) error
	Requeue(ctx context.Context, jobs ...J) error
	Recover(ctx context.Context, limit int) (int, error)
}

// TestTallies counts each job of a call in the row that it shares with others.
func TestTallies(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		tallies(t, b, talliessql.New(b.DB), func(address string, weight int) talliessql.NewJob {
			return talliessql.NewJob{Address: address, Weight: int32(weight)}
		})
	}, "tallies/postgresql.sql")
	for _, server := range live["postgresql"] {
		t.Run(server+" pgx", func(t *testing.T) {
			driver, dsn := place(t, "postgresql", server)
			b := base{engine: "postgresql", DB: servers.Open(t, driver, dsn, 1)}
			create(t, b.DB, "tallies/postgresql.sql")
			pool, err := pgxpool.New(t.Context(), dsn)
			good(t, err)
			t.Cleanup(pool.Close)
			tallies(t, b, talliespg.New(pool), func(address string, weight int) talliespg.NewJob {
				return talliespg.NewJob{Address: address, Weight: int32(weight)}
			})
		})
	}
	onServers(t, "mysql", func(t *testing.T, b base) {
		tallies(t, b, talliesmy.New(b.DB), func(address string, weight int) talliesmy.NewJob {
			return talliesmy.NewJob{Address: address, Weight: uint32(weight)}
		})
	}, "tallies/mysql.sql")
	onServers(t, "mariadb", func(t *testing.T, b base) {
		tallies(t, b, talliesma.New(b.DB), func(address string, weight int) talliesma.NewJob {
			return talliesma.NewJob{Address: address, Weight: uint32(weight)}
		})
	}, "tallies/mysql.sql")
}

// tallies proves one server's package.
func tallies[J, N any](t *testing.T, b base, q mailbox[J, N], of func(address string, weight int) N) {
	ctx := t.Context()
	b.run(t, "INSERT INTO tallies (address) VALUES ('alice'), ('bob'), ('eve')")
	want := func(alice, bob string) {
		t.Helper()
		b.want(t, "SELECT waiting, weight FROM tallies ORDER BY address", alice, bob, "0 0")
	}
	_, err := q.EnqueueMany(ctx, []N{of("alice", 10), of("alice", 20), of("bob", 7), of("alice", 30), of("nobody", 1)})
	good(t, err)
	want("3 60", "1 7")
	b.want(t, "SELECT count(*) FROM tallies WHERE last_id IN (1, 2, 3, 4) AND seen_at IS NOT NULL", "2")
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 5 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	want("0 60", "0 7")
	good(t, q.Requeue(ctx, jobs...))
	want("3 60", "1 7")
	jobs, err = q.Claim(ctx, 10)
	good(t, err)
	good(t, q.Fail(ctx, jobs[0], errors.New("no")))
	want("1 60", "0 7")
	good(t, q.Complete(ctx, jobs[1], jobs[2]))
	want("1 40", "0 0")
	b.run(t, "UPDATE letters SET till = '2001-01-01' WHERE till IS NOT NULL")
	if n, err := q.Recover(ctx, 10); err != nil || n != 2 {
		t.Errorf("%d recovered, %v", n, err)
	}
	want("2 40", "0 0")
}
