// Package behaviour holds no code. Its tests run the packages of
// testdata/golden, those that the generator emits, against databases: SQLite
// always, PostgreSQL where QGEN_TEST_POSTGRES15 holds a connection string.
package behaviour

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/test/servers"
)

// TestMain lets local time be something else than UTC everywhere.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("local", 5*3600+1800)
	os.Exit(m.Run())
}

// ddl returns a file of testdata/schema.
func ddl(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "schema", name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sqlite returns a fresh database with the tables of a schema file.
func sqlite(t testing.TB, schema string) *sql.DB {
	t.Helper()
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "test.db"))
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(ddl(t, schema)); err != nil {
		t.Fatal(err)
	}
	return db
}

// schemas counts the schemas that this process has made.
var schemas atomic.Int64

// postgres returns a pool over a schema of its own with the tables of a file.
func postgres(t *testing.T, schema string) *pgxpool.Pool {
	t.Helper()
	dsn := servers.DSN(t, "postgres15")
	name := fmt.Sprintf("emit_behaviour_%d_%d", os.Getpid(), schemas.Add(1))
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["search_path"] = name
	ctx := context.Background()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	t.Cleanup(func() {
		if _, err := pool.Exec(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	if _, err := pool.Exec(ctx, "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, ddl(t, schema)); err != nil {
		t.Fatal(err)
	}
	return pool
}

// postgresSQL is postgres through database/sql.
func postgresSQL(t *testing.T, schema string) *sql.DB {
	t.Helper()
	db := stdlib.OpenDBFromPool(postgres(t, schema))
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// flaky is a database whose next statements fail.
type flaky struct {
	*sql.DB
	errs []error
	runs int
}

func (f *flaky) next() error {
	f.runs++
	if len(f.errs) == 0 {
		return nil
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return err
}

func (f *flaky) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.DB.QueryContext(ctx, query, args...)
}

// flakyPool is the same for pgx.
type flakyPool struct {
	*pgxpool.Pool
	errs []error
	runs int
}

func (f *flakyPool) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	f.runs++
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, err
	}
	return f.Pool.Query(ctx, query, args...)
}

// state is an error with a SQLSTATE, code one with SQLite's code.
type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

type code int

func (c code) Error() string { return fmt.Sprint("code ", int(c)) }
func (c code) Code() int     { return int(c) }

// poolOf returns a pgx pool over the same schema as db.
func poolOf(t *testing.T, db *sql.DB) *pgxpool.Pool {
	t.Helper()
	var schema string
	if err := db.QueryRow("SELECT current_schema()").Scan(&schema); err != nil {
		t.Fatal(err)
	}
	config, err := pgxpool.ParseConfig(servers.DSN(t, "postgres15"))
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["search_path"] = schema
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// busyTx is a transaction in which every statement fails.
type busyTx struct {
	tx   *sql.Tx
	runs int
}

func (b *busyTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return b.tx.ExecContext(ctx, query, args...)
}

func (b *busyTx) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	b.runs++
	return nil, code(5)
}
