package behaviour

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emaillite"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpgx"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpq"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/hold"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/holdpq"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/minimalpg"
)

// tracer writes down the statements of a pool.
type tracer struct {
	mu    sync.Mutex
	texts []string
}

func (r *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.add(data.SQL)
	return ctx
}

func (r *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		r.add(q.SQL)
	}
	return ctx
}

func (r *tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (r *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (r *tracer) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

// taken returns the statements since the last call.
func (r *tracer) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := r.texts
	r.texts = nil
	return texts
}

// traced returns a pool over the same schema as db, with so many connections,
// and what writes down its statements; settings are those of its sessions.
func traced(t *testing.T, db *sql.DB, conns int32, settings ...string) (*pgxpool.Pool, *tracer) {
	t.Helper()
	r := &tracer{}
	config := poolOf(t, db).Config()
	config.MaxConns = conns
	config.ConnConfig.Tracer = r
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		config.ConnConfig.RuntimeParams[name] = value
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, r
}

// A transaction that a package begins itself is READ COMMITTED, whatever the
// sessions of the pool have by default.
func TestOwnTransactionIsReadCommitted(t *testing.T) {
	ctx := t.Context()
	db := postgresSQL(t, "email_postgresql")
	pool, r := traced(t, db, 4, "default_transaction_isolation=serializable")
	standard := stdlib.OpenDBFromPool(pool)
	defer func() { _ = standard.Close() }()
	mails := postgresSQL(t, "mails_postgresql")
	held, hr := traced(t, mails, 4, "default_transaction_isolation=serializable")
	heldStandard := stdlib.OpenDBFromPool(held)
	defer func() { _ = heldStandard.Close() }()

	pq, px := emailpq.New(standard), emailpgx.New(pool)
	_, err := pq.EnqueueMany(ctx, slices.Repeat([]emailpq.NewJob{{Kind: "mail", Body: body}}, 4))
	check(t, err)
	jobs, err := pq.Claim(ctx, "mail", 1)
	check(t, err)
	_, err = pq.CompleteAndClaim(ctx, jobs, "mail", 1)
	check(t, err)
	_, err = px.EnqueueMany(ctx, slices.Repeat([]emailpgx.NewJob{{Kind: "mail", Body: body}}, 2))
	check(t, err)
	h, err := hold.New(held).Hold(ctx)
	check(t, err)
	h.Close()
	g, err := holdpq.New(heldStandard).Hold(ctx)
	check(t, err)
	g.Close()

	begun := 0
	for _, text := range append(r.taken(), hr.taken()...) {
		if strings.HasPrefix(text, "begin") {
			begun++
			if text != "begin isolation level read committed" {
				t.Errorf("a transaction of the package began with %q", text)
			}
		}
	}
	if begun != 5 {
		t.Errorf("%d transactions were begun, want 5: two EnqueueMany, one CompleteAndClaim, two Hold", begun)
	}
}

// failAtCommit has transactions that add to email_outbox fail with 40001 when
// they commit, so many times. The sequence that counts them does not roll back.
func failAtCommit(t *testing.T, db *sql.DB, times int) {
	t.Helper()
	_, err := db.Exec(fmt.Sprintf(`
		DROP SEQUENCE IF EXISTS commits;
		CREATE SEQUENCE commits;
		CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF NEW.msg_id = (SELECT max(msg_id) FROM email_outbox) AND nextval('commits') <= %d THEN
				RAISE EXCEPTION 'not this time' USING ERRCODE = '40001';
			END IF;
			RETURN NULL;
		END $$;
		DROP TRIGGER IF EXISTS refuse ON email_outbox;
		CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON email_outbox DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE PROCEDURE refuse()`, times))
	check(t, err)
}

// asked tells how many commits failAtCommit has seen.
func asked(t *testing.T, db *sql.DB) int {
	t.Helper()
	var n int
	check(t, db.QueryRow("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM commits").Scan(&n))
	return n
}

// A transaction of the package's own that the database undid at its commit is
// run again as a whole, and what it did is there once; but not more than five
// times, and not longer than the context lasts.
func TestWholeTransactionIsTriedAgain(t *testing.T) {
	db := postgresSQL(t, "email_postgresql")
	pool := poolOf(t, db)
	for name, add := range map[string]func(ctx context.Context, n int) (int, error){
		"database/sql": func(ctx context.Context, n int) (int, error) {
			keys, err := emailpq.New(db).EnqueueMany(ctx, slices.Repeat([]emailpq.NewJob{{Kind: "mail", Body: body}}, n))
			return len(keys), err
		},
		"pgx": func(ctx context.Context, n int) (int, error) {
			keys, err := emailpgx.New(pool).EnqueueMany(ctx, slices.Repeat([]emailpgx.NewJob{{Kind: "mail", Body: body}}, n))
			return len(keys), err
		},
	} {
		rows := func() (n int) {
			check(t, db.QueryRow("SELECT count(*) FROM email_outbox").Scan(&n))
			return n
		}
		_, err := db.Exec("DELETE FROM email_outbox")
		check(t, err)

		failAtCommit(t, db, 2)
		n, err := add(t.Context(), 1500) // two statements
		check(t, err)
		equal(t, []int{n, rows(), asked(t, db)}, []int{1500, 1500, 3})

		failAtCommit(t, db, 1000)
		_, err = add(t.Context(), 3)
		if err == nil || !emailpq.IsRetryable(err) || asked(t, db) != 5 {
			t.Errorf("%s: after %d commits: %v", name, asked(t, db), err)
		}

		failAtCommit(t, db, 1000)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err = add(ctx, 3)
		cancel()
		if err == nil || asked(t, db) >= 5 {
			t.Errorf("%s: the time was up; after %d commits: %v", name, asked(t, db), err)
		}
		equal(t, rows(), 1500)
	}
}

// In the caller's transaction nothing is tried again: the error that the
// database gives comes back at once, and IsRetryable says that the whole
// transaction may be run again.
func TestCallersTransactionIsNotTriedAgain(t *testing.T) {
	ctx := t.Context()
	db := postgresSQL(t, "email_postgresql")
	pool := poolOf(t, db)
	failAtCommit(t, db, 1000)
	for name, add := range map[string]func() error{
		"database/sql": func() error {
			tx, err := db.BeginTx(ctx, nil)
			check(t, err)
			defer func() { _ = tx.Rollback() }()
			_, err = tx.Exec("SET CONSTRAINTS ALL IMMEDIATE")
			check(t, err)
			_, err = emailpq.New(db).WithTx(tx).EnqueueMany(ctx, []emailpq.NewJob{{Kind: "mail", Body: body}})
			return err
		},
		"database/sql, New": func() error {
			tx, err := db.BeginTx(ctx, nil)
			check(t, err)
			defer func() { _ = tx.Rollback() }()
			_, err = tx.Exec("SET CONSTRAINTS ALL IMMEDIATE")
			check(t, err)
			_, err = emailpq.New(tx).Enqueue(ctx, emailpq.NewJob{Kind: "mail", Body: body})
			return err
		},
		"pgx": func() error {
			tx, err := pool.Begin(ctx)
			check(t, err)
			defer func() { _ = tx.Rollback(ctx) }()
			_, err = tx.Exec(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
			check(t, err)
			_, err = emailpgx.New(pool).WithTx(tx).EnqueueMany(ctx, []emailpgx.NewJob{{Kind: "mail", Body: body}})
			return err
		},
	} {
		before := asked(t, db)
		if err := add(); err == nil || !emailpq.IsRetryable(err) || !emailpgx.IsRetryable(err) {
			t.Errorf("%s: got %v", name, err)
		}
		if n := asked(t, db) - before; n != 1 {
			t.Errorf("%s: the statement ran %d times", name, n)
		}
	}
}

// Every method joins the caller's transaction: none asks the pool for another
// connection, and after a rollback nothing has happened.
func TestEveryMethodJoinsTheTransaction(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		db := sqlite(t, "email_sqlite")
		db.SetMaxOpenConns(1) // which the transaction has
		joinsAll(t, func() (emailQueue[emaillite.Job, emaillite.NewJob], func() error) {
			tx, err := db.BeginTx(t.Context(), nil)
			check(t, err)
			return emaillite.New(db).WithTx(tx), tx.Rollback
		}, emaillite.New(db), db)
	})
	t.Run("database/sql", func(t *testing.T) {
		own := postgresSQL(t, "email_postgresql")
		pool, _ := traced(t, own, 1)
		db := stdlib.OpenDBFromPool(pool)
		defer func() { _ = db.Close() }()
		db.SetMaxOpenConns(1)
		joinsAll(t, func() (emailQueue[emailpq.Job, emailpq.NewJob], func() error) {
			tx, err := db.BeginTx(t.Context(), nil)
			check(t, err)
			return emailpq.New(db).WithTx(tx), tx.Rollback
		}, emailpq.New(db), db)
	})
	t.Run("pgx", func(t *testing.T) {
		db := postgresSQL(t, "email_postgresql")
		pool, _ := traced(t, db, 1)
		joinsAll(t, func() (emailQueue[emailpgx.Job, emailpgx.NewJob], func() error) {
			tx, err := pool.Begin(t.Context())
			check(t, err)
			return emailpgx.New(pool).WithTx(tx), func() error { return tx.Rollback(t.Context()) }
		}, emailpgx.New(pool), db)
	})
}

// joinsAll calls every method of the queue that begin gives; q is the same
// queue outside of transactions, over db.
func joinsAll[J, N any](t *testing.T, begin func() (emailQueue[J, N], func() error), q emailQueue[J, N], db *sql.DB) {
	e := &emailTest[J, N]{T: t, q: q, ctx: t.Context()}
	e.add(8)
	jobs := e.claim(5)
	e.ok(q.Complete(e.ctx, jobs[0]))
	before := table(t, db)

	joined, rollback := begin()
	ctx, cancel := context.WithTimeout(e.ctx, 5*time.Second)
	defer cancel()
	for name, call := range map[string]func() error{
		"Enqueue":          func() error { _, err := joined.Enqueue(ctx, e.news(newJob{Kind: "fax", Body: body})[0]); return err },
		"EnqueueMany":      func() error { _, err := joined.EnqueueMany(ctx, e.news(newJob{Kind: "fax", Body: body})); return err },
		"Claim":            func() error { _, err := joined.Claim(ctx, "mail", 1); return err },
		"Complete":         func() error { return joined.Complete(ctx, jobs[1]) },
		"CompleteAndClaim": func() error { _, err := joined.CompleteAndClaim(ctx, jobs[2:3], "mail", 1); return err },
		"Requeue":          func() error { return joined.Requeue(ctx, 0, jobs[3]) },
		"Fail":             func() error { return joined.Fail(ctx, jobs[4], errors.New("no")) },
		"Extend": func() error {
			more, err := joined.Claim(ctx, "mail", 1)
			return errors.Join(err, joined.Extend(ctx, &more[0]))
		},
		"Recover": func() error { _, err := joined.Recover(ctx, 1); return err },
		"Redrive": func() error { _, err := joined.Redrive(ctx, 1); return err },
		"Purge":   func() error { _, err := joined.Purge(ctx, -time.Hour, 1); return err },
		"Peek":    func() error { _, err := joined.Peek(ctx, "mail", 1); return err },
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	e.ok(rollback())
	if after := table(t, db); after != before {
		t.Errorf("after the rollback the table is\n%s\nand it was\n%s", after, before)
	}
}

// table is what email_outbox holds.
func table(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query("SELECT msg_id, state, kind, tries, reader, token, lease_till, last_error FROM email_outbox ORDER BY msg_id")
	check(t, err)
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		values := make([]any, 8)
		for i := range values {
			values[i] = new(any)
		}
		check(t, rows.Scan(values...))
		for i := range values {
			values[i] = *values[i].(*any)
		}
		lines = append(lines, fmt.Sprint(values...))
	}
	check(t, rows.Err())
	return strings.Join(lines, "\n")
}

// A claim in a transaction whose snapshot is older than the claims of others
// takes none of their jobs: at the levels above READ COMMITTED the database
// refuses, and the error says that the transaction may be run again.
func TestClaimUnderAnOldSnapshot(t *testing.T) {
	ctx := t.Context()
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		db := postgresSQL(t, "email_postgresql")
		pool := poolOf(t, db)
		q := emailpgx.New(pool)
		_, err := q.EnqueueMany(ctx, slices.Repeat([]emailpgx.NewJob{{Kind: "mail", Body: body}}, 6))
		check(t, err)
		for _, settled := range []bool{false, true} {
			old, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: level})
			check(t, err)
			var n int
			check(t, old.QueryRow(ctx, "SELECT count(*) FROM email_outbox").Scan(&n)) // takes the snapshot
			others, err := q.Claim(ctx, "mail", 2)
			check(t, err)
			if settled {
				check(t, q.Complete(ctx, others...))
			}
			jobs, err := q.WithTx(old).Claim(ctx, "mail", 2)
			if !emailpgx.IsRetryable(err) || len(jobs) != 0 || !strings.Contains(fmt.Sprint(err), "could not serialize access") {
				t.Errorf("%s, settled %v: got %d jobs and the error %v", level, settled, len(jobs), err)
			}
			check(t, old.Rollback(ctx))
		}
	}

	// So does a claim of the row locks themselves, and one with a low bound.
	pool := postgres(t, "mails_postgresql")
	q := hold.New(pool)
	_, err := q.EnqueueMany(ctx, []hold.NewJob{{Text: "a"}, {Text: "b"}})
	check(t, err)
	old, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	check(t, err)
	defer func() { _ = old.Rollback(ctx) }()
	var n int
	check(t, old.QueryRow(ctx, "SELECT count(*) FROM mails").Scan(&n))
	h, err := q.Hold(ctx)
	check(t, err)
	defer h.Close()
	done, err := h.Claim(ctx, 1)
	check(t, err)
	check(t, h.Complete(ctx, done...))
	check(t, h.Commit(ctx))
	if jobs, err := q.WithTx(old).Claim(ctx, 1); !hold.IsRetryable(err) || len(jobs) != 0 {
		t.Errorf("got %d jobs and the error %v", len(jobs), err)
	}

	tasks := postgres(t, "tasks_postgresql")
	m := minimalpg.New(tasks)
	_, err = m.EnqueueMany(ctx, make([]minimalpg.NewJob, 4))
	check(t, err)
	late, err := tasks.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	check(t, err)
	defer func() { _ = late.Rollback(ctx) }()
	check(t, late.QueryRow(ctx, "SELECT count(*) FROM tasks").Scan(&n))
	_, err = m.Claim(ctx, 2)
	check(t, err)
	if jobs, err := m.WithTx(late).Claim(ctx, 2); !minimalpg.IsRetryable(err) || len(jobs) != 0 {
		t.Errorf("got %d jobs and the error %v", len(jobs), err)
	}
}

// A transaction on SQLite that has read cannot write any more once another has
// written: the claim says so at once, and that it may be run again.
func TestClaimUnderAnOldSnapshotSQLite(t *testing.T) {
	ctx := t.Context()
	db := sqlite(t, "email_sqlite")
	q := emaillite.New(db)
	_, err := q.EnqueueMany(ctx, slices.Repeat([]emaillite.NewJob{{Kind: "mail", Body: body}}, 2))
	check(t, err)
	conn, err := db.Conn(ctx)
	check(t, err)
	defer func() { _ = conn.Close() }()
	_, err = conn.ExecContext(ctx, "BEGIN DEFERRED")
	check(t, err)
	var n int
	check(t, conn.QueryRowContext(ctx, "SELECT count(*) FROM email_outbox").Scan(&n))
	_, err = q.Claim(ctx, "mail", 1)
	check(t, err)
	deferred := emaillite.New(onlyStatements{conn})
	if jobs, err := deferred.Claim(ctx, "mail", 1); !emaillite.IsRetryable(err) || len(jobs) != 0 {
		t.Errorf("got %d jobs and the error %v", len(jobs), err)
	}
	_, err = conn.ExecContext(ctx, "ROLLBACK")
	check(t, err)
}

// onlyStatements is a connection within a transaction: it begins none.
type onlyStatements struct{ conn *sql.Conn }

func (o onlyStatements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return o.conn.ExecContext(ctx, query, args...)
}

func (o onlyStatements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return o.conn.QueryContext(ctx, query, args...)
}
