package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/qgen-dev/qgen/test/corpus/gen/buildbotlite"
	"github.com/qgen-dev/qgen/test/corpus/gen/buildbotmaria"
	"github.com/qgen-dev/qgen/test/corpus/gen/buildbotmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/buildbotmy56"
	"github.com/qgen-dev/qgen/test/corpus/gen/buildbotpg"
	"github.com/qgen-dev/qgen/test/servers"
)

// requests is the queue over buildrequests, as all servers have it; its claims are of one master.
type requests[J any] struct {
	claim    func(ctx context.Context, builder, limit int) ([]J, error)
	next     func(ctx context.Context, done J, builder, limit int) ([]J, error)
	complete func(ctx context.Context, job J, results *int16) error
	fail     func(ctx context.Context, job J, cause error) error
	requeue  func(ctx context.Context, jobs ...J) error
	extend   func(ctx context.Context, jobs ...*J) error       // nil where a claim never ends
	revive   func(ctx context.Context, limit int) (int, error) // nil where nothing tells dead masters
	verify   func(ctx context.Context) error
	stats    func(ctx context.Context) (ready, running, done int64, err error)
	within   func(tx *sql.Tx) requests[J]
	id       func(J) string
	lost     error
}

func TestBuildbot(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		of := func(master int32) requests[buildbotpg.Job] { return requestsPG(b.DB, master) }
		buildbot(t, b, of)
	}, "buildbot/postgresql.sql", "gen/buildbotpg/schema/indexes.sql")
	onServers(t, "sqlite", func(t *testing.T, b base) {
		of := func(master int32) requests[buildbotlite.Job] { return requestsLite(b.DB, master) }
		buildbot(t, b, of)
	}, "buildbot/sqlite.sql", "gen/buildbotlite/schema/indexes.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		of := func(master int32) requests[buildbotmy.Job] { return requestsMy(b.DB, master) }
		buildbot(t, b, of)
	}, "buildbot/mysql.sql", "gen/buildbotmy/schema/indexes.sql")
	onServers(t, "mariadb", func(t *testing.T, b base) {
		of := func(master int32) requests[buildbotmaria.Job] { return requestsMaria(b.DB, master) }
		buildbot(t, b, of)
	}, "buildbot/mysql.sql", "gen/buildbotmaria/schema/indexes.sql")
	// Without SKIP LOCKED; both answers of a session that is asked how many rows it has changed.
	for _, server := range []string{"mysql56", "mysql97"} {
		for _, found := range []bool{false, true} {
			t.Run(fmt.Sprintf("5.6 on %s/found rows %t", server, found), func(t *testing.T) {
				driver, dsn := place(t, "mysql", server)
				config, err := mysql.ParseDSN(dsn)
				good(t, err)
				config.ClientFoundRows = found
				b := base{engine: "mysql", DB: servers.Open(t, driver, config.FormatDSN(), 12)}
				create(t, b.DB, "buildbot/mysql.sql", "gen/buildbotmy56/schema/indexes.sql")
				of := func(master int32) requests[buildbotmy56.Job] { return requestsMy56(b.DB, master) }
				buildbot(t, b, of)
			})
		}
	}
}

func buildbot[J any](t *testing.T, b base, of func(master int32) requests[J]) {
	ctx := t.Context()
	const all = "SELECT id, complete, results, (SELECT count(*) FROM buildrequest_claims WHERE brid = id) FROM buildrequests ORDER BY id"
	// add adds requests for a builder.
	add := func(t *testing.T, builder int, priorities ...int) {
		t.Helper()
		for i, p := range priorities {
			b.run(t, fmt.Sprintf("INSERT INTO buildrequests (buildsetid, builderid, priority, submitted_at) VALUES (1, %d, %d, %d)", builder, p, 1700000000-i))
		}
	}
	// anew empties the tables and adds requests for builder 1 of these priorities.
	anew := func(t *testing.T, priorities ...int) {
		t.Helper()
		if b.engine == "postgresql" {
			b.run(t, "TRUNCATE buildrequest_claims, buildrequests, builders, buildsets, masters RESTART IDENTITY")
		}
		for _, table := range []string{"buildrequest_claims", "buildrequests", "builders", "buildsets", "masters"} {
			b.run(t, "DELETE FROM "+table)
			if b.engine == "mysql" || b.engine == "mariadb" {
				b.run(t, "ALTER TABLE "+table+" AUTO_INCREMENT = 1")
			}
		}
		b.run(t, "INSERT INTO masters (name, name_hash, active, last_active) VALUES ('one', '1', 1, 0), ('two', '2', 1, 0), ('old', '3', 1, 0)",
			"INSERT INTO buildsets (submitted_at) VALUES (0)",
			"INSERT INTO builders (name, name_hash) VALUES ('linux', '1'), ('darwin', '2')")
		add(t, 1, priorities...)
	}
	one, two := of(1), of(2)
	claim := func(t *testing.T, q requests[J], limit int, want ...string) []J {
		t.Helper()
		jobs, err := q.claim(ctx, 1, limit)
		return names(t, jobs, err, q.id, want...)
	}
	success := int16(0)

	t.Run("life", func(t *testing.T) {
		anew(t, 0, 0, 5)
		add(t, 2, 9)
		good(t, one.verify(ctx))
		jobs := claim(t, one, 2, "3", "2")
		b.want(t, "SELECT brid, masterid FROM buildrequest_claims WHERE claimed_at > 1700000000 ORDER BY brid", "2 1", "3 1")
		claim(t, two, 9, "1")
		good(t, one.complete(ctx, jobs[0], &success))
		good(t, one.requeue(ctx, jobs[1]))
		b.want(t, all, "1 0 null 1", "2 0 null 0", "3 1 0 1", "4 0 null 0")
		b.want(t, "SELECT id FROM buildrequests WHERE complete_at > 1700000000", "3")
		ready, running, done, err := one.stats(ctx)
		if good(t, err); ready != 2 || running != 1 || done != 1 {
			t.Errorf("Stats: %d ready, %d running, %d done", ready, running, done)
		}
		isLost(t, one.lost, one.complete(ctx, jobs[0], nil))
		isLost(t, one.lost, one.complete(ctx, jobs[1], nil))
		good(t, two.fail(ctx, claim(t, two, 9, "2")[0], errCause))
		b.want(t, all, "1 0 null 1", "2 0 null 0", "3 1 0 1", "4 0 null 0")
		more, err := two.next(ctx, claim(t, two, 9, "2")[0], 2, 9)
		names(t, more, err, two.id, "4")
		b.want(t, all, "1 0 null 1", "2 1 null 1", "3 1 0 1", "4 0 null 1")
	})

	t.Run("transaction", func(t *testing.T) {
		anew(t, 0, 0)
		tx, err := b.BeginTx(ctx, &sql.TxOptions{Isolation: isolation(b)})
		good(t, err)
		defer func() { _ = tx.Rollback() }()
		claim(t, one.within(tx), 9, "2", "1")
		good(t, tx.Rollback())
		b.want(t, all, "1 0 null 0", "2 0 null 0")
	})

	t.Run("killed", func(t *testing.T) {
		anew(t, 0, 0)
		who, kill := "SELECT connection_id()", "KILL %d"
		switch b.engine {
		case "postgresql":
			who, kill = "SELECT pg_backend_pid()", "SELECT pg_terminate_backend(%d)"
		case "sqlite":
			t.Skip("a connection is the program itself")
		}
		tx, err := b.BeginTx(ctx, &sql.TxOptions{Isolation: isolation(b)})
		good(t, err)
		defer func() { _ = tx.Rollback() }()
		var id int
		good(t, tx.QueryRow(who).Scan(&id))
		claim(t, one.within(tx), 1, "2")
		b.run(t, fmt.Sprintf(kill, id))
		var jobs []J
		for end := time.Now().Add(10 * time.Second); len(jobs) < 2 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			more, err := two.claim(ctx, 1, 9)
			good(t, err)
			jobs = append(jobs, more...) // the second may come first, while the server undoes the other
		}
		b.want(t, "SELECT brid, masterid FROM buildrequest_claims ORDER BY brid", "1 2", "2 2")
	})

	t.Run("taken", func(t *testing.T) {
		if b.engine == "sqlite" {
			t.Skip("nobody writes while somebody else does")
		}
		anew(t, 3, 2, 1)
		unbind(t, b)
		tx, err := b.Begin()
		good(t, err)
		defer func() { _ = tx.Rollback() }()
		// A master of the project's own kind takes the second request just before the claim.
		_, err = tx.Exec("INSERT INTO buildrequest_claims (brid, masterid, claimed_at) VALUES (2, 1, 2000000000)")
		good(t, err)
		got := make(chan []J, 1)
		go func() {
			jobs, err := one.claim(ctx, 1, 9)
			if err != nil {
				t.Error(err)
			}
			got <- jobs
		}()
		waits := "SELECT count(*) FROM pg_locks WHERE NOT granted"
		if b.engine != "postgresql" {
			// Its list of transactions is a copy that others read as well; a statement is not so slow.
			waits = "SELECT count(*) FROM information_schema.processlist WHERE db = database() AND id <> connection_id() AND command <> 'Sleep' AND time > 0"
		}
		for n := 0; n == 0; time.Sleep(50 * time.Millisecond) {
			err := b.QueryRow(waits).Scan(&n)
			var e *mysql.MySQLError
			if errors.As(err, &e) && e.Number == 3854 {
				continue // the list shows the statements of all sessions, and fails on bytes in them
			}
			good(t, err)
		}
		good(t, tx.Commit())
		names(t, <-got, nil, one.id, "1", "3")
		b.want(t, "SELECT masterid, claimed_at FROM buildrequest_claims WHERE brid = 2", "1 2000000000")
	})

	t.Run("deleted master", func(t *testing.T) {
		anew(t, 0)
		late := claim(t, one, 1, "1")
		claim(t, two, 1) // its master may yet be alive: nothing but its deletion tells
		b.run(t, "DELETE FROM masters WHERE id = 1")
		if b.engine == "sqlite" {
			b.run(t, "DELETE FROM buildrequest_claims WHERE masterid = 1") // as foreign_keys would
		}
		isLost(t, one.lost, one.complete(ctx, late[0], &success))
		mine := claim(t, two, 1, "1")
		isLost(t, one.lost, one.complete(ctx, late[0], &success))
		isLost(t, one.lost, one.requeue(ctx, late...))
		b.want(t, all, "1 0 null 1")
		good(t, two.complete(ctx, mine[0], nil))
		b.want(t, all, "1 1 null 1")
	})

	t.Run("dead master", func(t *testing.T) {
		if one.revive == nil {
			t.Skip("nothing tells")
		}
		anew(t, 4, 3, 2, 1)
		alive := fmt.Sprintf("UPDATE masters SET last_active = %d WHERE id <> 1", time.Now().Unix())
		b.run(t, alive)
		late := claim(t, one, 2, "1", "2")
		claim(t, two, 1, "3")
		good(t, one.complete(ctx, late[0], &success))
		n, err := two.revive(ctx, 9)
		if good(t, err); n != 1 {
			t.Errorf("Recover freed %d requests, want 1", n)
		}
		b.want(t, all, "1 1 0 1", "2 0 null 0", "3 0 null 1", "4 0 null 0")
		isLost(t, one.lost, one.complete(ctx, late[1], &success))
		claim(t, two, 9, "2", "4")
		b.run(t, "UPDATE masters SET active = 0 WHERE id = 2")
		n, err = one.revive(ctx, 2)
		if good(t, err); n != 2 {
			t.Errorf("Recover freed %d requests, want the limit of 2", n)
		}
	})

	t.Run("run out", func(t *testing.T) {
		if one.extend == nil {
			t.Skip("a claim here never ends")
		}
		anew(t, 3, 2, 1)
		late := claim(t, one, 2, "1", "2")
		b.run(t, "UPDATE buildrequest_claims SET claimed_at = claimed_at - 3601 WHERE brid = 2")
		mine := claim(t, two, 9, "2", "3")
		b.want(t, "SELECT brid, masterid FROM buildrequest_claims WHERE claimed_at > 1700000000 ORDER BY brid", "1 1", "2 2", "3 2")
		isLost(t, one.lost, one.complete(ctx, late[1], &success))
		isLost(t, one.lost, one.extend(ctx, &late[1]))
		good(t, one.extend(ctx, &late[0]))
		good(t, one.complete(ctx, late[0], &success))
		good(t, two.complete(ctx, mine[0], &success))
		b.run(t, "UPDATE buildrequest_claims SET claimed_at = claimed_at - 3601")
		claim(t, one, 9, "3") // of the others the claims stay, and the requests are complete
		b.want(t, all, "1 1 0 1", "2 1 0 1", "3 0 null 1")
	})

	// many adds 300 requests.
	many := func(t *testing.T) {
		anew(t)
		b.run(t, "INSERT INTO buildrequests (buildsetid, builderid, priority, submitted_at) VALUES "+texts(300, "(1, 1, %d, 0)"))
	}

	t.Run("together", func(t *testing.T) {
		many(t)
		together(t, 300, func(ctx context.Context) ([]J, error) { return one.claim(ctx, 1, 7) }, one.id)
	})

	t.Run("take-overs", func(t *testing.T) {
		if one.extend == nil {
			t.Skip("a claim here never ends")
		}
		many(t)
		b.run(t, "INSERT INTO buildrequest_claims (brid, masterid, claimed_at) SELECT id, 3, 0 FROM buildrequests WHERE priority < 200")
		together(t, 300, func(ctx context.Context) ([]J, error) { return one.claim(ctx, 1, 7) }, one.id)
		b.want(t, "SELECT count(*) FROM buildrequest_claims WHERE masterid = 1", "300")
	})

	// Masters of the project's own kind look without locks, and add claims as if they were
	// alone: the key turns away who comes late. Each request is then held once.
	t.Run("beside masters", func(t *testing.T) {
		many(t)
		unbind(t, b)
		var mu sync.Mutex
		held := map[string]int{}
		take := func(id string) {
			mu.Lock()
			defer mu.Unlock()
			held[id]++
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for {
					var id int
					err := b.QueryRow("SELECT min(id) FROM buildrequests WHERE complete = 0 AND id NOT IN (SELECT brid FROM buildrequest_claims) HAVING count(*) > 0").Scan(&id)
					if errors.Is(err, sql.ErrNoRows) {
						return
					}
					if err == nil {
						_, err = b.Exec(fmt.Sprintf("INSERT INTO buildrequest_claims (brid, masterid, claimed_at) VALUES (%d, 1, %d)", id, time.Now().Unix()))
					}
					if err == nil {
						take(fmt.Sprint(id))
					} else if text := strings.ToLower(err.Error()); !strings.Contains(text, "duplicate") && !strings.Contains(text, "unique") && !strings.Contains(text, "deadlock") {
						t.Error(err)
						return
					}
				}
			})
		}
		claimAll := func() {
			for claimed := true; claimed; {
				jobs, err := one.claim(ctx, 1, 7)
				if err != nil {
					t.Error(err)
					return
				}
				for _, j := range jobs {
					take(one.id(j))
				}
				claimed = len(jobs) > 0
			}
		}
		for range 4 {
			group.Go(claimAll)
		}
		group.Wait()
		claimAll() // what came back empty may have been overtaken by a master
		for id, times := range held {
			if times > 1 {
				t.Errorf("request %s is held %d times", id, times)
			}
		}
		if len(held) != 300 {
			t.Errorf("%d requests are held, want 300", len(held))
		}
	})
}

// unbind lets claims be added without a lock of their requests, which a foreign key takes.
func unbind(t *testing.T, b base) {
	t.Helper()
	switch b.engine {
	case "postgresql":
		b.run(t, "ALTER TABLE buildrequest_claims DROP CONSTRAINT IF EXISTS buildrequest_claims_brid_fkey")
	case "mysql", "mariadb":
		var n int
		good(t, b.QueryRow("SELECT count(*) FROM information_schema.table_constraints WHERE table_schema = database() AND constraint_name = 'buildrequest_claims_ibfk_1'").Scan(&n))
		if n > 0 {
			b.run(t, "ALTER TABLE buildrequest_claims DROP FOREIGN KEY buildrequest_claims_ibfk_1")
		}
	}
}

// isolation is that of a transaction in which claims can be made.
func isolation(b base) sql.IsolationLevel {
	if b.engine == "sqlite" {
		return sql.LevelDefault
	}
	return sql.LevelReadCommitted
}

func requestsPG(db buildbotpg.DBTX, master int32) requests[buildbotpg.Job] {
	return requestsPGOf(buildbotpg.New(db, buildbotpg.WithWorker(master)))
}

func requestsPGOf(q *buildbotpg.Queue) requests[buildbotpg.Job] {
	return requests[buildbotpg.Job]{
		claim: func(ctx context.Context, builder, limit int) ([]buildbotpg.Job, error) {
			return q.Claim(ctx, int32(builder), limit)
		},
		next: func(ctx context.Context, done buildbotpg.Job, builder, limit int) ([]buildbotpg.Job, error) {
			return q.CompleteAndClaim(ctx, []buildbotpg.Done{done.Done(nil)}, int32(builder), limit)
		},
		complete: func(ctx context.Context, job buildbotpg.Job, results *int16) error {
			return q.Complete(ctx, job.Done(results))
		},
		fail: q.Fail, requeue: q.Requeue, verify: q.Verify,
		stats: func(ctx context.Context) (int64, int64, int64, error) {
			s, err := q.Stats(ctx)
			return s.Ready, s.Running, s.Done, err
		},
		within: func(tx *sql.Tx) requests[buildbotpg.Job] { return requestsPGOf(q.WithTx(tx)) },
		id:     func(j buildbotpg.Job) string { return fmt.Sprint(j.ID) },
		lost:   buildbotpg.ErrLost,
	}
}

func requestsMy(db buildbotmy.DBTX, master int32) requests[buildbotmy.Job] {
	return requestsMyOf(buildbotmy.New(db, buildbotmy.WithWorker(master)))
}

func requestsMyOf(q *buildbotmy.Queue) requests[buildbotmy.Job] {
	return requests[buildbotmy.Job]{
		claim: func(ctx context.Context, builder, limit int) ([]buildbotmy.Job, error) {
			return q.Claim(ctx, int32(builder), limit)
		},
		next: func(ctx context.Context, done buildbotmy.Job, builder, limit int) ([]buildbotmy.Job, error) {
			return q.CompleteAndClaim(ctx, []buildbotmy.Done{done.Done(nil)}, int32(builder), limit)
		},
		complete: func(ctx context.Context, job buildbotmy.Job, results *int16) error {
			return q.Complete(ctx, job.Done(results))
		},
		fail: q.Fail, requeue: q.Requeue, verify: q.Verify,
		stats: func(ctx context.Context) (int64, int64, int64, error) {
			s, err := q.Stats(ctx)
			return s.Ready, s.Running, s.Done, err
		},
		within: func(tx *sql.Tx) requests[buildbotmy.Job] { return requestsMyOf(q.WithTx(tx)) },
		id:     func(j buildbotmy.Job) string { return fmt.Sprint(j.ID) },
		lost:   buildbotmy.ErrLost,
	}
}

func requestsMy56(db buildbotmy56.DBTX, master int32) requests[buildbotmy56.Job] {
	return requestsMy56Of(buildbotmy56.New(db, buildbotmy56.WithWorker(master)))
}

func requestsMy56Of(q *buildbotmy56.Queue) requests[buildbotmy56.Job] {
	return requests[buildbotmy56.Job]{
		claim: func(ctx context.Context, builder, limit int) ([]buildbotmy56.Job, error) {
			return q.Claim(ctx, int32(builder), limit)
		},
		next: func(ctx context.Context, done buildbotmy56.Job, builder, limit int) ([]buildbotmy56.Job, error) {
			return q.CompleteAndClaim(ctx, []buildbotmy56.Done{done.Done(nil)}, int32(builder), limit)
		},
		complete: func(ctx context.Context, job buildbotmy56.Job, results *int16) error {
			return q.Complete(ctx, job.Done(results))
		},
		fail: q.Fail, requeue: q.Requeue, extend: q.Extend, verify: q.Verify,
		stats: func(ctx context.Context) (int64, int64, int64, error) {
			s, err := q.Stats(ctx)
			return s.Ready, s.Running, s.Done, err
		},
		within: func(tx *sql.Tx) requests[buildbotmy56.Job] { return requestsMy56Of(q.WithTx(tx)) },
		id:     func(j buildbotmy56.Job) string { return fmt.Sprint(j.ID) },
		lost:   buildbotmy56.ErrLost,
	}
}

func requestsMaria(db buildbotmaria.DBTX, master int32) requests[buildbotmaria.Job] {
	return requestsMariaOf(buildbotmaria.New(db, buildbotmaria.WithWorker(master)))
}

func requestsMariaOf(q *buildbotmaria.Queue) requests[buildbotmaria.Job] {
	return requests[buildbotmaria.Job]{
		claim: func(ctx context.Context, builder, limit int) ([]buildbotmaria.Job, error) {
			return q.Claim(ctx, int32(builder), limit)
		},
		next: func(ctx context.Context, done buildbotmaria.Job, builder, limit int) ([]buildbotmaria.Job, error) {
			return q.CompleteAndClaim(ctx, []buildbotmaria.Done{done.Done(nil)}, int32(builder), limit)
		},
		complete: func(ctx context.Context, job buildbotmaria.Job, results *int16) error {
			return q.Complete(ctx, job.Done(results))
		},
		fail: q.Fail, requeue: q.Requeue, extend: q.Extend, verify: q.Verify,
		stats: func(ctx context.Context) (int64, int64, int64, error) {
			s, err := q.Stats(ctx)
			return s.Ready, s.Running, s.Done, err
		},
		within: func(tx *sql.Tx) requests[buildbotmaria.Job] { return requestsMariaOf(q.WithTx(tx)) },
		id:     func(j buildbotmaria.Job) string { return fmt.Sprint(j.ID) },
		lost:   buildbotmaria.ErrLost,
	}
}

func requestsLite(db buildbotlite.DBTX, master int32) requests[buildbotlite.Job] {
	return requestsLiteOf(buildbotlite.New(db, buildbotlite.WithWorker(int64(master))))
}

func requestsLiteOf(q *buildbotlite.Queue) requests[buildbotlite.Job] {
	return requests[buildbotlite.Job]{
		claim: func(ctx context.Context, builder, limit int) ([]buildbotlite.Job, error) {
			return q.Claim(ctx, int64(builder), limit)
		},
		next: func(ctx context.Context, done buildbotlite.Job, builder, limit int) ([]buildbotlite.Job, error) {
			return q.CompleteAndClaim(ctx, []buildbotlite.Done{done.Done(nil)}, int64(builder), limit)
		},
		complete: func(ctx context.Context, job buildbotlite.Job, results *int16) error {
			return q.Complete(ctx, job.Done(wide(results)))
		},
		fail: q.Fail, requeue: q.Requeue, extend: q.Extend, revive: q.Recover, verify: q.Verify,
		stats: func(ctx context.Context) (int64, int64, int64, error) {
			s, err := q.Stats(ctx)
			return s.Ready, s.Running, s.Done, err
		},
		within: func(tx *sql.Tx) requests[buildbotlite.Job] { return requestsLiteOf(q.WithTx(tx)) },
		id:     func(j buildbotlite.Job) string { return fmt.Sprint(j.ID) },
		lost:   buildbotlite.ErrLost,
	}
}

// wide is a result as SQLite keeps it.
func wide(results *int16) *int64 {
	if results == nil {
		return nil
	}
	n := int64(*results)
	return &n
}
