package tds_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

// TestMain lets local time be something else than UTC everywhere.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("local", 5*3600+1800)
	os.Exit(m.Run())
}

// open returns a pool over the server.
func open(t testing.TB, s *tds.Server, options string) *sql.DB {
	t.Helper()
	return check.Open(t, "sqlserver", s.DSN()+options)
}

func begin(t testing.TB, db *sql.DB, level sql.IsolationLevel) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	check.Err(t, err)
	return tx
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// ids reads the first column of the first result.
func ids(ctx context.Context, db querier, text string, args ...any) (all []int64, err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return all, err
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

func wantIDs(t testing.TB, got []int64, want ...int64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

var id = tds.Columns("id bigint")

func TestScript(t *testing.T) {
	s := tds.Start(t)
	db := open(t, s, "")
	s.Expect(
		tds.Ping(),
		tds.Query("SELECT id FROM job").Rows(id, tds.Row{1}, tds.Row{2}),
		tds.Query("DELETE FROM job WHERE id = @p1", 7).Affected(3),
		tds.Query("SELECT id FROM job").Rows(id),
	)
	ctx := t.Context()
	check.Err(t, db.PingContext(ctx))
	got, err := ids(ctx, db, "SELECT id FROM job")
	check.Err(t, err)
	wantIDs(t, got, 1, 2)
	result, err := db.ExecContext(ctx, "DELETE FROM job WHERE id = @p1", 7)
	check.Err(t, err)
	if n, err := result.RowsAffected(); n != 3 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	var none int64
	if err := db.QueryRowContext(ctx, "SELECT id FROM job").Scan(&none); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("no rows give %v", err)
	}
}

func TestTransactions(t *testing.T) {
	levels := map[sql.IsolationLevel]tds.Isolation{
		sql.LevelDefault:         tds.SessionIsolation,
		sql.LevelReadUncommitted: tds.ReadUncommitted,
		sql.LevelReadCommitted:   tds.ReadCommitted,
		sql.LevelRepeatableRead:  tds.RepeatableRead,
		sql.LevelSerializable:    tds.Serializable,
		sql.LevelSnapshot:        tds.Snapshot,
	}
	s := tds.Start(t)
	db := open(t, s, "")
	for level, isolation := range levels {
		s.Expect(
			tds.Begin(isolation),
			tds.Query("SELECT 1").Rows(id, tds.Row{1}),
			tds.Query("SELECT 2").Rows(id, tds.Row{2}).Elsewhere(),
			tds.Commit(),
			tds.Query("SELECT 3").Rows(id, tds.Row{3}),
			tds.Begin(isolation),
			tds.Rollback(),
		)
		tx := begin(t, db, level)
		got, err := ids(t.Context(), tx, "SELECT 1")
		check.Err(t, err)
		wantIDs(t, got, 1)
		got, err = ids(t.Context(), db, "SELECT 2")
		check.Err(t, err)
		wantIDs(t, got, 2)
		check.Err(t, tx.Commit())
		got, err = ids(t.Context(), db, "SELECT 3")
		check.Err(t, err)
		wantIDs(t, got, 3)
		check.Err(t, begin(t, db, level).Rollback())
	}
}

// TestSeveralResults is the batch of a table with triggers: what changed goes into
// a variable and is selected from there.
func TestSeveralResults(t *testing.T) {
	const batch = "DECLARE @t TABLE (id bigint); UPDATE job SET state = 1 OUTPUT inserted.id INTO @t; SELECT id FROM @t"
	answer := tds.Query(batch).Affected(2).Rows(id, tds.Row{1}, tds.Row{2})
	called := tds.Query(batch+" WHERE id > @p1", 0).Affected(2).Rows(id, tds.Row{1}, tds.Row{2})
	s := tds.Start(t)
	db := open(t, s, "")
	s.Expect(answer, answer, called, called, answer.NoCount(), called.NoCount(),
		tds.Query("DECLARE; UPDATE; DECLARE").Done().Affected(5).After(time.Millisecond).Done(),
		tds.Query("SELECT two").Rows(id, tds.Row{1}).Rows(tds.Columns("name nvarchar(9)"), tds.Row{"a"}))
	ctx := t.Context()
	for _, args := range [][]any{nil, {0}} {
		text := batch + strings.Repeat(" WHERE id > @p1", len(args))
		got, err := ids(ctx, db, text, args...)
		check.Err(t, err)
		wantIDs(t, got, 1, 2)
		// What was selected is counted too.
		wantAffected(t, db, 4, text, args...)
	}
	wantAffected(t, db, 0, batch)
	wantAffected(t, db, 0, batch+" WHERE id > @p1", 0)
	wantAffected(t, db, 5, "DECLARE; UPDATE; DECLARE")

	rows, err := db.QueryContext(ctx, "SELECT two")
	check.Err(t, err)
	defer rows.Close()
	var got []string
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var v string
			check.Err(t, rows.Scan(&v))
			got = append(got, v)
		}
	}
	if check.Err(t, rows.Err()); !slices.Equal(got, []string{"1", "a"}) {
		t.Errorf("two results give %q", got)
	}
}

func wantAffected(t testing.TB, db querier, want int64, text string, args ...any) {
	t.Helper()
	result, err := db.ExecContext(t.Context(), text, args...)
	check.Err(t, err)
	if n, err := result.RowsAffected(); n != want || err != nil {
		t.Errorf("%d rows, want %d; %v", n, want, err)
	}
}

// TestPackets lets requests and answers go over many packets, of several sizes.
func TestPackets(t *testing.T) {
	long := strings.Repeat("ünïcode ☃ ", 5000)
	text := "SELECT @p1 -- " + long
	for _, size := range []int{512, 4096, 32767} {
		s := tds.Start(t)
		s.Expect(tds.Query(text, long, []byte(long)).
			Rows(tds.Columns("text nvarchar(max)", "bytes varbinary(max)"), tds.Row{long, []byte(long)}))
		var gotText, gotBytes string
		row := open(t, s, fmt.Sprintf("&packet+size=%d", size)).QueryRow(text, long, []byte(long))
		if check.Err(t, row.Scan(&gotText, &gotBytes)); gotText != long || gotBytes != long {
			t.Errorf("packets of %d bytes: %d and %d bytes come", size, len(gotText), len(gotBytes))
		}
	}
}

// TestPool works on many connections at once, answered by a model.
func TestPool(t *testing.T) {
	const workers, rounds = 16, 25
	s := tds.Start(t)
	var next, inside, resets atomic.Int64
	var mu sync.Mutex
	connections := map[int]bool{}
	s.Handle(func(r tds.Request) tds.Response {
		mu.Lock()
		connections[r.Connection] = true
		mu.Unlock()
		if r.Reset {
			resets.Add(1)
		}
		switch {
		case r.Kind == tds.KindBegin:
			inside.Add(1)
		case r.Kind == tds.KindCommit:
			inside.Add(-1)
		case r.Kind != tds.KindQuery || !r.InTransaction || r.Text != "SELECT @p1":
			t.Errorf("unexpected: %+v", r)
		default:
			return tds.Answer().Rows(id, tds.Row{r.Params[0].Value}, tds.Row{next.Add(1)})
		}
		return tds.Answer()
	})
	db := open(t, s, "")
	db.SetMaxOpenConns(workers)
	var running sync.WaitGroup
	var together sync.WaitGroup
	together.Add(workers)
	for w := range workers {
		running.Go(func() {
			for round := range rounds {
				tx, err := db.BeginTx(t.Context(), nil)
				if round == 0 {
					together.Done()
					together.Wait() // so that each has its own connection
				}
				if err != nil {
					t.Error(err)
					return
				}
				got, err := ids(t.Context(), tx, "SELECT @p1", w)
				if err != nil || len(got) != 2 || got[0] != int64(w) {
					t.Errorf("worker %d got %d, %v", w, got, err)
				}
				if err := tx.Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if next.Load() != workers*rounds || inside.Load() != 0 || len(connections) < workers {
		t.Errorf("%d queries, %d transactions are open, %d connections", next.Load(), inside.Load(), len(connections))
	}
	// The driver resets a new connection as well.
	if resets.Load() != workers*rounds {
		t.Errorf("%d resets", resets.Load())
	}
}

// TestCancel cancels requests whose answers the server delays: before them, in
// the middle of rows, inside a transaction, and its COMMIT. The connection stays.
func TestCancel(t *testing.T) {
	s := tds.Start(t)
	db := open(t, s, "")
	db.SetMaxOpenConns(1)
	s.Expect(
		tds.Query("SELECT 1").After(time.Hour).Rows(id, tds.Row{1}),
		tds.Query("SELECT @p1", 2).Rows(id, tds.Row{1}).After(time.Hour).Rows(id),
		tds.Begin(tds.SessionIsolation),
		tds.Query("SELECT 3").After(time.Hour),
		tds.Rollback(),
		tds.Begin(tds.SessionIsolation),
		tds.Commit().After(time.Hour),
		tds.Query("SELECT 4").Rows(id, tds.Row{4}),
	)
	canceled := func(request func(ctx context.Context, cancel func()) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := request(ctx, cancel); err != context.Canceled { //nolint:errorlint // the driver does not wrap it
			t.Errorf("a cancelled request gives %v", err)
		}
	}
	soon := func(cancel func()) { time.AfterFunc(20*time.Millisecond, cancel) }
	canceled(func(ctx context.Context, cancel func()) error {
		soon(cancel)
		_, err := ids(ctx, db, "SELECT 1")
		return err
	})
	canceled(func(ctx context.Context, cancel func()) error {
		rows, err := db.QueryContext(ctx, "SELECT @p1", 2)
		check.Err(t, err)
		defer rows.Close()
		if !rows.Next() {
			t.Error("the row before the delay does not come")
		}
		cancel()
		for rows.Next() {
			t.Error("a row comes after the end")
		}
		return rows.Err()
	})
	canceled(func(ctx context.Context, cancel func()) error {
		tx := begin(t, db, sql.LevelDefault)
		soon(cancel)
		_, err := tx.ExecContext(ctx, "SELECT 3")
		check.Err(t, tx.Rollback())
		return err
	})
	canceled(func(ctx context.Context, cancel func()) error {
		tx, err := db.BeginTx(ctx, nil)
		check.Err(t, err)
		soon(cancel)
		return tx.Commit()
	})
	got, err := ids(t.Context(), db, "SELECT 4")
	check.Err(t, err)
	wantIDs(t, got, 4)
}

// TestCloseEarly leaves results before their end, which the driver tells the
// server, or not, as it happens to have read it. Either way the next request works.
func TestCloseEarly(t *testing.T) {
	s := tds.Start(t)
	db := open(t, s, "")
	db.SetMaxOpenConns(1)
	many := make([]tds.Row, 2000)
	for i := range many {
		many[i] = tds.Row{i}
	}
	s.Handle(func(tds.Request) tds.Response { return tds.Answer().Rows(id, many...) })
	for range 50 {
		var first int64
		check.Err(t, db.QueryRowContext(t.Context(), "SELECT id FROM job WHERE id > @p1", 0).Scan(&first))
		if first != 0 {
			t.Errorf("the first row is %d", first)
		}
	}
}

// TestHandlerSeesCancellation lets a function wait for the client to go away.
func TestHandlerSeesCancellation(t *testing.T) {
	s := tds.Start(t)
	ended := make(chan error, 1)
	s.Handle(func(r tds.Request) tds.Response {
		<-r.Context().Done()
		ended <- r.Context().Err()
		return tds.Answer().Affected(1)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := open(t, s, "").ExecContext(ctx, "DELETE FROM job"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the client sees %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the function sees %v", err)
	}
}

// TestLostTransactions tells a model of transactions that ended without a word.
func TestLostTransactions(t *testing.T) {
	s := tds.Start(t)
	lost := make(chan int, 1)
	s.Handle(func(r tds.Request) tds.Response {
		switch {
		case r.Lost && r.Kind == tds.KindRollback && r.InTransaction:
			lost <- r.Connection
		case r.Kind == tds.KindCommit:
			return tds.Answer().Error(3902, 1, 16, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.")
		case r.Text == "SELECT broken":
			return tds.Answer().Break()
		}
		return tds.Answer()
	})
	db := open(t, s, "")
	db.SetMaxOpenConns(1)

	tx := begin(t, db, sql.LevelDefault)
	if _, err := tx.Exec("SELECT whole"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SELECT broken"); err == nil {
		t.Error("a broken connection does not show")
	}
	if n := <-lost; n != 1 {
		t.Errorf("connection %d lost its transaction", n)
	}
	if err := tx.Rollback(); err == nil {
		t.Error("a broken connection does not show at ROLLBACK")
	}

	// The transaction stays open on the server; the reset ends it.
	tx = begin(t, db, sql.LevelDefault)
	var refused mssql.Error
	if err := tx.Commit(); !errors.As(err, &refused) || refused.Number != 3902 {
		t.Errorf("COMMIT gives %v", err)
	}
	_, err := db.Exec("SELECT 1;")
	check.Err(t, err)
	if n := <-lost; n != 2 {
		t.Errorf("connection %d lost its transaction", n)
	}
}

func TestLogin(t *testing.T) {
	s := tds.Start(t)
	var got tds.Login
	s.HandleLogin(func(l tds.Login) tds.Response {
		got = l
		return tds.Answer()
	})
	s.Expect(tds.Ping(), tds.Ping())
	check.Err(t, open(t, s, "&app+name=worker&workstation+id=here").PingContext(t.Context()))
	if got.User != "sa" || got.Password != "Secret1" || got.Database != "qgen" || got.App != "worker" || got.Host != "here" {
		t.Errorf("the login says %+v", got)
	}
	db, err := sql.Open("sqlserver", strings.Replace(s.DSN(), "database=qgen&", "", 1))
	check.Err(t, err)
	defer db.Close()
	if check.Err(t, db.PingContext(t.Context())); got.Database != "" {
		t.Errorf("the login says %+v", got)
	}
}
