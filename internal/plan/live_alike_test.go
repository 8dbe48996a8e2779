package plan

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
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

// addUnlike adds a job as the package does and returns how many rows that were.
func addUnlike(t *testing.T, db *sql.DB, e *Enqueue, kind string, target any) (int, error) {
	level := sql.LevelReadCommitted
	if e.Repeatable {
		level = sql.LevelRepeatableRead
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	args := func(s *Statement) (args []any) {
		for _, a := range s.Args {
			if a.Field.Column == "kind" {
				args = append(args, kind)
			} else {
				args = append(args, target)
			}
		}
		return args
	}
	if e.Gate != nil {
		if _, err := tx.Exec(e.Gate.SQL, args(e.Gate)...); err != nil {
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
