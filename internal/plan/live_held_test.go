package plan

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// A row that is held keeps a job like it out at once by a unique key, and keeps its producer waiting once it is
// complete. By the primary key, where its lock holds that, it keeps it waiting from the first.
func TestHeldRowKeepsItsLikeOut(t *testing.T) {
	for _, c := range []struct {
		live, engine, table string
		waits               bool
	}{
		{"postgres18", "postgresql", "changes", false},
		{"mysql97", "mysql", "changes", false}, {"mysql97", "mysql", "subjects", true},
		{"mariadb1011", "mariadb", "changes", false}, {"mariadb1011", "mariadb", "subjects", true},
	} {
		t.Run(c.live+" "+c.table, func(t *testing.T) {
			of := c.engine
			if of == "mariadb" {
				of = "mysql"
			}
			plans, db := liveCase(t, c.live, of, "absent")
			p := plans.variants(t, nil)[c.table]
			db.SetMaxOpenConns(4)
			if p.Strategy != "hold" || len(p.spec.Key) == 0 {
				t.Fatalf("strategy %s", p.Strategy)
			}
			add := func() (int64, error) {
				var args []any
				for _, a := range p.Enqueue.One.Args {
					args = append(args, map[string]int{"item": 7, "kind": 1, "at": 5}[a.Field.Column])
				}
				done, err := db.Exec(p.Enqueue.One.SQL, args...)
				var told *mysql.MySQLError
				if errors.As(err, &told) && told.Number == 1062 {
					return 0, nil
				}
				if err != nil {
					return 0, err
				}
				return done.RowsAffected()
			}
			for _, early := range []bool{false, true} {
				if n, err := add(); n != 1 || err != nil {
					t.Fatalf("%d rows are added, %v", n, err)
				}
				tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = tx.Rollback() }()
				hold := p.Claim.Statement
				var args []any
				for _, a := range hold.Args {
					switch {
					case a.Kind == ArgLimit:
						args = append(args, 1)
					case a.IsList(): // of a key that no row has, by each of its columns
						for range p.spec.Key {
							args = append(args, 0)
						}
					default:
						args = append(args, "{}")
					}
				}
				rows, err := tx.Query(hold.SQL, args...)
				if err != nil {
					t.Fatalf("%v\n%s", err, hold.SQL)
				}
				if n := len(texts(t, rows)); n != 1 {
					t.Fatalf("%d rows are held", n)
				}
				complete := func() {
					if _, err := tx.Exec("DELETE FROM " + c.table + " WHERE item = 7"); err != nil {
						t.Fatal(err)
					}
				}
				if early {
					complete()
				}
				added := make(chan int64, 1)
				go func() {
					n, err := add()
					if err != nil {
						t.Error(err)
					}
					added <- n
				}()
				waited, n := false, int64(0)
				select {
				case n = <-added:
				case <-time.After(300 * time.Millisecond):
					waited = true
				}
				if !early {
					complete()
				}
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
				if waited {
					n = <-added
				}
				want := early || c.waits
				if waited != want || (n == 1) != want {
					t.Errorf("complete early: %v; Enqueue waits: %v, and adds %d", early, waited, n)
				}
				if said := strings.Contains(strings.Join(p.Notes, "\n"), "a row that is held keeps those out"); said == c.waits {
					t.Errorf("a note says that the row keeps its like out: %v", said)
				}
				if _, err := db.Exec("DELETE FROM " + c.table); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
