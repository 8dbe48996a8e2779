package plan

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/qgen-dev/qgen/internal/dialect"
)

// Producers that add the same jobs at the same moment add each of them once, also where no unique key
// tells them apart and a part of what is compared is null.
func TestAlikeIsAddedOnce(t *testing.T) {
	for live, engine := range map[string]string{"postgres18": "postgresql", "mysql97": "mysql", "mysql56": "mysql", "mariadb1011": "mariadb"} {
		t.Run(live, func(t *testing.T) {
			c, db := liveCase(t, live, engine, "alike")
			e := c.variants(t, nil)["systasks"].Enqueue
			db.SetMaxOpenConns(10)
			const kinds = 25
			var added [2 * kinds]int
			var lock sync.Mutex
			var producers sync.WaitGroup
			for range 6 {
				producers.Go(func() {
					for i := range 2 * kinds {
						var target any
						if i%2 == 1 {
							target = i
						}
						n, err := addUnlike(t, db, e, fmt.Sprint("kind", i/2), target)
						for undone(c.engine, err) {
							n, err = addUnlike(t, db, e, fmt.Sprint("kind", i/2), target)
						}
						if err != nil {
							t.Error(err)
						}
						lock.Lock()
						added[i] += n
						lock.Unlock()
					}
				})
			}
			producers.Wait()
			for i, n := range added {
				if n != 1 {
					t.Errorf("job %d is added %d times", i, n)
				}
			}
			if _, err := db.Exec("UPDATE systasks SET status = 'DONE'"); err != nil {
				t.Fatal(err)
			}
			if n, err := addUnlike(t, db, e, "kind1", nil); n != 1 || err != nil {
				t.Errorf("a job that has ended keeps another out: %v", err)
			}
		})
	}
}

// undone reports whether a server says of a transaction that it can be made again.
func undone(engine string, err error) bool {
	var told *mysql.MySQLError
	if !errors.As(err, &told) {
		return false
	}
	d, _ := dialect.Lookup(engine)
	return slices.Contains(d.Transient.Numbers, int(told.Number))
}

// argsOf are the arguments of a statement for a job.
func argsOf(s *Statement, kind string, target any) (args []any) {
	for _, a := range s.Args {
		if a.Field.Column == "kind" {
			args = append(args, kind)
		} else {
			args = append(args, target)
		}
	}
	return args
}

// addUnlike adds a job as the package does and returns how many rows that were.
func addUnlike(t *testing.T, db *sql.DB, e *Enqueue, kind string, target any) (int, error) {
	return addOne(t, db, e, func(s *Statement) []any { return argsOf(s, kind, target) })
}

// addOne adds a job as the package does, of which args are the arguments, and returns how many rows that were.
func addOne(t *testing.T, db *sql.DB, e *Enqueue, args func(*Statement) []any) (int, error) {
	level := sql.LevelReadCommitted
	if e.Repeatable {
		level = sql.LevelRepeatableRead
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	first := e.Gate
	if first == nil {
		first = e.Alone
	}
	if first != nil {
		if _, err := tx.Exec(first.SQL, args(first)...); err != nil {
			return 0, err
		}
	}
	done, err := tx.Exec(e.One.SQL, args(e.One)...)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	if err != nil {
		return 0, err
	}
	return int(n), tx.Commit()
}

// A call with many jobs has one lock, not one for each of them, and neither it nor a producer of one of
// them adds what the other is adding.
func TestAlikeManyHaveOneLock(t *testing.T) {
	c, db := liveCase(t, "postgres18", "postgresql", "alike")
	e := c.variants(t, nil)["systasks"].Enqueue
	db.SetMaxOpenConns(10)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(e.Alone.SQL); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * e.Locked {
		if _, err := tx.Exec(e.One.SQL, argsOf(e.One, fmt.Sprint("kind", i), i)...); err != nil {
			t.Fatal(err)
		}
	}
	var locks int
	if err := tx.QueryRow("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()").Scan(&locks); err != nil || locks != 1 {
		t.Errorf("%d locks are held: %v", locks, err)
	}
	type addition struct {
		n   int
		err error
	}
	added := make(chan addition)
	for _, kind := range []string{"kind7", "another"} {
		go func() {
			n, err := addUnlike(t, db, e, kind, 7)
			added <- addition{n, err}
		}()
	}
	const waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
	for n := 0; n < 2; {
		if err := db.QueryRow(waiting).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	first, second := <-added, <-added
	if first.err != nil || second.err != nil || first.n+second.n != 1 {
		t.Errorf("of one that is there and one that is not, both producers add %d and %d: %v, %v", first.n, second.n, first.err, second.err)
	}
}

// The plan that a prepared statement has for all values takes the index which leaves nulls out, and a null
// is like a null all the same.
func TestAlikeTakesTheIndexWithoutNulls(t *testing.T) {
	c, db := liveCase(t, "postgres18", "postgresql", "alike_states")
	db.SetMaxOpenConns(1)
	for _, setup := range []string{
		"INSERT INTO once (key, state) SELECT 'k' || n, 'new' FROM generate_series(1, 20000) AS n",
		"ANALYZE once",
		"SET plan_cache_mode = force_generic_plan",
		"PREPARE once_enqueue (varchar) AS " + c.variants(t, nil)["once"].Enqueue.One.SQL,
	} {
		if _, err := db.Exec(setup); err != nil {
			t.Fatalf("%s: %v", setup, err)
		}
	}
	rows, err := db.Query("EXPLAIN EXECUTE once_enqueue ('k')")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var text string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		text += line + "\n"
	}
	if rows.Err() != nil || !strings.Contains(text, "using once_key") {
		t.Errorf("%v\n%s", rows.Err(), text)
	}
	for i, values := range []string{"('k1')", "('k')", "(NULL)", "(NULL)"} {
		done, err := db.Exec("EXECUTE once_enqueue " + values)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := done.RowsAffected(); err != nil || n != int64([]int{0, 1, 1, 0}[i]) {
			t.Errorf("call %d adds %d: %v", i, n, err)
		}
	}
}

// A job with a null that is like nothing waits for no other, with a plan for all values, too.
func TestAlikeNullsWaitForNobody(t *testing.T) {
	c, db := liveCase(t, "postgres18", "postgresql", "alike_states")
	e := c.variants(t, nil)["named"].Enqueue
	db.SetMaxOpenConns(10)
	begin := func() *sql.Tx {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	for _, plans := range []string{"force_custom_plan", "force_generic_plan"} {
		for _, name := range []any{nil, "n"} {
			var held int
			producers := []*sql.Tx{begin(), begin()}
			for _, tx := range producers {
				if _, err := tx.Exec("SET LOCAL plan_cache_mode = " + plans); err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec("SET LOCAL lock_timeout = '300ms'"); err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(e.Gate.SQL, argsOf(e.Gate, "1", name)...); err == nil {
					held++
				}
			}
			for _, tx := range producers {
				if err := tx.Rollback(); err != nil {
					t.Fatal(err)
				}
			}
			if want := map[bool]int{true: 2, false: 1}[name == nil]; held != want {
				t.Errorf("%s, name %v: %d producers go on at once, want %d", plans, name, held, want)
			}
		}
	}
}

// Nor does it wait for a call with many jobs.
func TestAlikeNullsPassManyJobs(t *testing.T) {
	c, db := liveCase(t, "postgres18", "postgresql", "alike_states")
	e := c.variants(t, nil)["named"].Enqueue
	db.SetMaxOpenConns(10)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(e.Alone.SQL); err != nil {
		t.Fatal(err)
	}
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback() }()
	if _, err := other.Exec("SET LOCAL lock_timeout = '300ms'"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(e.Gate.SQL, argsOf(e.Gate, "1", nil)...); err != nil {
		t.Error(err)
	}
}
