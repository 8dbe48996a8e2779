package corpus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/buildbotpg"
)

func TestBuildbot(t *testing.T) {
	onServers(t, "postgresql", buildbot, "buildbot/postgresql.sql")
}

func buildbot(t *testing.T, b base) {
	ctx := t.Context()
	const all = "SELECT id, complete, results, (SELECT count(*) FROM buildrequest_claims WHERE brid = id) FROM buildrequests ORDER BY id"
	// anew empties the tables and adds requests for builder 1 of these priorities.
	anew := func(t *testing.T, priorities ...int) {
		t.Helper()
		b.run(t, "TRUNCATE buildrequest_claims, buildrequests, builders, buildsets, masters RESTART IDENTITY",
			"INSERT INTO masters (name, name_hash, active, last_active) VALUES ('one', '1', 1, 0), ('two', '2', 1, 0)",
			"INSERT INTO buildsets (submitted_at) VALUES (0)",
			"INSERT INTO builders (name, name_hash) VALUES ('linux', '1'), ('darwin', '2')")
		for i, p := range priorities {
			b.run(t, fmt.Sprintf("INSERT INTO buildrequests (buildsetid, builderid, priority, submitted_at) VALUES (1, 1, %d, %d)", p, 1700000000-i))
		}
	}
	one, two := buildbotpg.New(b.DB, buildbotpg.WithWorker(1)), buildbotpg.New(b.DB, buildbotpg.WithWorker(2))
	claim := func(t *testing.T, q *buildbotpg.Queue, limit int, want ...string) []buildbotpg.Job {
		t.Helper()
		jobs, err := q.Claim(ctx, 1, limit)
		return names(t, jobs, err, func(j buildbotpg.Job) string { return fmt.Sprint(j.ID) }, want...)
	}
	success := int16(0)

	t.Run("life", func(t *testing.T) {
		anew(t, 0, 0, 5)
		b.run(t, "INSERT INTO buildrequests (buildsetid, builderid, priority, submitted_at) VALUES (1, 2, 9, 0)")
		jobs := claim(t, one, 2, "3", "2")
		b.want(t, "SELECT brid, masterid FROM buildrequest_claims WHERE claimed_at > 1700000000 ORDER BY brid", "2 1", "3 1")
		claim(t, two, 9, "1")
		good(t, one.Complete(ctx, jobs[0].Done(&success)))
		good(t, one.Requeue(ctx, jobs[1]))
		b.want(t, all, "1 0 null 1", "2 0 null 0", "3 1 0 1", "4 0 null 0")
		b.want(t, "SELECT id FROM buildrequests WHERE complete_at > 1700000000", "3")
		isLost(t, buildbotpg.ErrLost, one.Complete(ctx, jobs[0].Done(nil)))
		isLost(t, buildbotpg.ErrLost, one.Complete(ctx, jobs[1].Done(nil)))
		good(t, two.Fail(ctx, claim(t, two, 9, "2")[0], errCause))
		b.want(t, all, "1 0 null 1", "2 0 null 0", "3 1 0 1", "4 0 null 0")
	})

	t.Run("taken", func(t *testing.T) {
		anew(t, 3, 2, 1)
		tx, err := b.Begin()
		good(t, err)
		defer func() { _ = tx.Rollback() }()
		// A master of the project's own kind takes the second request just before the claim.
		_, err = tx.Exec("INSERT INTO buildrequest_claims (brid, masterid, claimed_at) VALUES (2, 2, 0)")
		good(t, err)
		got := make(chan []buildbotpg.Job, 1)
		go func() {
			jobs, err := one.Claim(ctx, 1, 9)
			if err != nil {
				t.Error(err)
			}
			got <- jobs
		}()
		for waits := 0; waits == 0; time.Sleep(5 * time.Millisecond) {
			good(t, b.QueryRow("SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&waits))
		}
		good(t, tx.Commit())
		names(t, <-got, nil, func(j buildbotpg.Job) string { return fmt.Sprint(j.ID) }, "1", "3")
		b.want(t, "SELECT brid, masterid FROM buildrequest_claims ORDER BY brid", "1 1", "2 2", "3 1")
	})

	t.Run("deleted master", func(t *testing.T) {
		anew(t, 0)
		late := claim(t, one, 1, "1")
		claim(t, two, 1) // its master may yet be alive: nothing but its deletion tells
		b.run(t, "DELETE FROM masters WHERE id = 1")
		isLost(t, buildbotpg.ErrLost, one.Complete(ctx, late[0].Done(&success)))
		mine := claim(t, two, 1, "1")
		isLost(t, buildbotpg.ErrLost, one.Complete(ctx, late[0].Done(&success)))
		isLost(t, buildbotpg.ErrLost, one.Requeue(ctx, late...))
		b.want(t, all, "1 0 null 1")
		good(t, two.Complete(ctx, mine[0].Done(nil)))
		b.want(t, all, "1 1 null 1")
	})

	t.Run("together", func(t *testing.T) {
		anew(t)
		b.run(t, "INSERT INTO buildrequests (buildsetid, builderid, priority, submitted_at) VALUES "+texts(300, "(1, 1, %d, 0)"))
		together(t, 300, func(ctx context.Context) ([]buildbotpg.Job, error) { return one.Claim(ctx, 1, 7) }, func(j buildbotpg.Job) string { return fmt.Sprint(j.ID) })
	})
}
