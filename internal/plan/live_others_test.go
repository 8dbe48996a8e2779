package plan

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Claims at the same moment that take the rows which go with a claimed one never share them: who is
// undone because two wait for each other finds none of that group afterwards.
func TestOthersGoTogether(t *testing.T) {
	for live, engine := range map[string]string{"postgres18": "postgresql", "mysql97": "mysql", "mariadb1011": "mariadb"} {
		t.Run(live, func(t *testing.T) {
			c, db := liveCase(t, live, engine, "others")
			claim := c.variants(t, nil)["recalls"].Claim
			const groups, each = 30, 4
			for i := range groups * each {
				if _, err := db.Exec(fmt.Sprintf("INSERT INTO tape_recall (grp, file) VALUES (%d, 'f%d')", i%groups, i)); err != nil {
					t.Fatal(err)
				}
			}
			db.SetMaxOpenConns(10)
			var claims, taken atomic.Int32
			var workers sync.WaitGroup
			for range 6 {
				workers.Go(func() {
					for !t.Failed() && taken.Load() < groups*each {
						n, err := takeTogether(t, db, claim)
						switch {
						case err != nil && !strings.Contains(strings.ToLower(err.Error()), "deadlock"):
							t.Error(err)
						case err == nil && n > 0:
							claims.Add(1)
							taken.Add(int32(n))
						}
					}
				})
			}
			workers.Wait()
			if claims.Load() != groups || taken.Load() != groups*each {
				t.Errorf("%d claims took %d rows of %d groups with %d each", claims.Load(), taken.Load(), groups, each)
			}
		})
	}
}

// takeTogether runs a claim of one job as the package has it, and returns how many rows it and what
// goes with it have written.
func takeTogether(t *testing.T, db *sql.DB, c *Claim) (int, error) {
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	first := c.Statement
	if c.Lock != nil {
		first = c.Lock
	}
	var key int64
	var cells []any
	args := func(st *Statement) (args []any) {
		for _, a := range st.Args {
			switch a.Kind {
			case ArgLimit, ArgAhead:
				args = append(args, 1)
			case ArgTaken:
				args = append(args, *cells[slices.Index(first.Rows, a.Field)].(*any))
			case ArgBatch:
				args = append(args, fmt.Sprintf("{%d}", key))
			default:
				args = append(args, key)
			}
		}
		return args
	}
	write := func(st *Statement) (int, error) {
		done, err := tx.Exec(st.SQL, args(st)...)
		if err != nil {
			return 0, fmt.Errorf("%w\n%s", err, st.SQL)
		}
		n, err := done.RowsAffected()
		return int(n), err
	}
	rows, err := tx.Query(first.SQL, args(first)...)
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, first.SQL)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		return 0, rows.Err()
	}
	cells = make([]any, len(columns))
	cells[0] = &key
	for i := range cells[1:] {
		cells[i+1] = new(any)
	}
	if err := rows.Scan(cells...); err != nil {
		return 0, err
	}
	if err := rows.Close(); err != nil {
		return 0, err
	}
	if c.Lock != nil {
		if _, err := write(c.Statement); err != nil {
			return 0, err
		}
	}
	n, err := write(c.With[0])
	if err != nil {
		return 0, err
	}
	return n + 1, tx.Commit()
}

// The last two parts of a whole that end at the same moment complete it: the later waits for the row of the
// whole and then reads what the earlier has committed.
func TestLastOfOthers(t *testing.T) {
	for live, engine := range map[string]string{"postgres18": "postgresql", "mysql97": "mysql"} {
		t.Run(live, func(t *testing.T) {
			c, db := liveCase(t, live, engine, "parents")
			complete := c.variants(t, nil)["tasks"].Complete
			taken, left := "1", "1"
			if engine == "postgresql" {
				taken, left = "'2001-01-01Z'", `"2001-01-01Z"`
			}
			for _, row := range []string{"1, NULL, true", "2, 1, false", "3, 1, false"} {
				if _, err := db.Exec("INSERT INTO tasks (id, parent_id, whole, state, taken) VALUES (" + row + ", 'busy', " + taken + ")"); err != nil {
					t.Fatal(err)
				}
			}
			settle := func(tx *sql.Tx, key string) error {
				return settleIn(tx, complete, map[string]string{"id": key, "taken": left})
			}
			first, second := beginCommitted(t, db), beginCommitted(t, db)
			if err := settle(first, "2"); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- settle(second, "3") }()
			stillWaits(t, done, "the second did not wait")
			if err := first.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if err := second.Commit(); err != nil {
				t.Fatal(err)
			}
			var state string
			if err := db.QueryRow("SELECT state FROM tasks WHERE id = 1").Scan(&state); err != nil || state != "done" {
				t.Errorf("the whole is %q, %v", state, err)
			}
		})
	}
}
