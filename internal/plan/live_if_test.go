package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// itemArgs are the arguments of a statement for an item of a queue of which at most so many wait.
func itemArgs(queue string, most int) func(*Statement) []any {
	return func(s *Statement) (args []any) {
		for _, a := range s.Args {
			switch a.Field.Column {
			case "queue_id":
				args = append(args, queue)
			case "most":
				args = append(args, most)
			default:
				args = append(args, "x")
			}
		}
		return args
	}
}

// Of jobs that are added only where fewer than so many wait never more wait, whoever adds at the same
// moment, and while others take them.
func TestIfHoldsAmongProducers(t *testing.T) {
	for live, engine := range map[string]string{"postgres18": "postgresql", "postgres10": "postgresql", "mysql97": "mysql", "mysql56": "mysql", "mariadb1011": "mariadb", "mariadb118": "mariadb"} {
		for _, name := range []string{"items", "all"} {
			t.Run(live+"/"+name, func(t *testing.T) {
				c, db := liveCase(t, live, engine, "enqueue_if")
				p := c.variants(t, nil)[name]
				e := p.Enqueue
				db.SetMaxOpenConns(20)
				const producers, calls, most = 16, 25, 7
				var again, added atomic.Int64
				var all sync.WaitGroup
				stop := make(chan struct{})
				all.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						var n int
						if err := db.QueryRow("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM items WHERE status = 'pending' GROUP BY queue_id) AS w").Scan(&n); err != nil || n > most {
							t.Errorf("%d wait: %v", n, err)
							return
						}
					}
				})
				var adding sync.WaitGroup
				for i := range producers {
					adding.Go(func() {
						queue := "a"
						if name == "items" {
							queue = fmt.Sprint("queue", i%2)
						}
						for range calls {
							n, err := addOne(t, db, e, itemArgs(queue, most))
							for try := 1; undone(c.engine, err) && try < p.Tries; try++ {
								again.Add(1)
								wait := 5 * time.Millisecond << (try - 1)
								time.Sleep(wait + rand.N(wait)) // as the package does
								n, err = addOne(t, db, e, itemArgs(queue, most))
							}
							if err != nil {
								t.Error(err)
								return
							}
							added.Add(int64(n))
							if n == 0 && i == 0 { // one that takes what waits
								if _, err := db.Exec("UPDATE items SET status = 'completed' WHERE status = 'pending'"); err != nil && !undone(c.engine, err) {
									t.Error(err)
								}
							}
						}
					})
				}
				adding.Wait()
				close(stop)
				all.Wait()
				if added.Load() < most {
					t.Errorf("%d are added", added.Load())
				}
				t.Logf("%d of %d calls add a job, %d are undone", added.Load(), producers*calls, again.Load())
			})
		}
	}
}

// Producers wait for those alone with whose jobs the condition has to do; under a snapshot of before the
// lock, which does not show what they have added, the statement fails.
func TestIfLocksOfTheSameOnly(t *testing.T) {
	c, db := liveCase(t, "postgres18", "postgresql", "enqueue_if")
	db.SetMaxOpenConns(10)
	packages := c.variants(t, nil)
	for name, waits := range map[string]bool{"items": false, "all": true} {
		e := packages[name].Enqueue
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		first := e.Gate
		if first == nil {
			first = e.Alone
		}
		for _, s := range []*Statement{first, e.One} {
			if _, err := tx.Exec(s.SQL, itemArgs("a", 100)(s)...); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error)
		go func() {
			_, err := addOne(t, db, e, itemArgs("b", 100))
			done <- err
		}()
		const waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
		for n := 0; waits && n == 0; {
			if err := db.QueryRow(waiting).Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
		if !waits {
			err = <-done
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if waits {
			err = <-done
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		above := *e
		above.Repeatable = true
		if _, err := addOne(t, db, &above, itemArgs("a", 100)); err == nil || !strings.Contains(err.Error(), "enqueue_if is asked in READ COMMITTED, not in repeatable read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of claims that find a job at the same moment one takes it, where a row that the claim adds to another table is what
// tells that it is taken.
func TestConditionIsAskedAgain(t *testing.T) {
	const plans, claimers = 60, 8
	for _, live := range []struct{ name, engine string }{{"postgres18", "postgresql"}, {"mysql97", "mysql"}, {"mariadb1011", "mariadb"}} {
		t.Run(live.name, func(t *testing.T) {
			c, db := liveCase(t, live.name, live.engine, "asked_again")
			db.SetMaxOpenConns(claimers)
			p := c.variants(t, nil)["plans"]
			present := map[string]string{"postgresql": "now()"}[live.engine]
			for i := range plans {
				text := fmt.Sprintf("INSERT INTO plans (id, name, run_at) VALUES (%d, 'x', %s - interval '1' hour)", i, cmp.Or(present, "UTC_TIMESTAMP()"))
				if _, err := db.Exec(text); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			}
			var all sync.WaitGroup
			for range claimers {
				all.Go(func() {
					for len(claimOnce(t, db, p.Package, nil)) > 0 {
					}
				})
			}
			all.Wait()
			for len(claimOnce(t, db, p.Package, nil)) > 0 { // what others had locked when each looked last
			}
			var runs, taken int
			if err := db.QueryRow("SELECT count(*), count(DISTINCT plan_id) FROM plan_runs").Scan(&runs, &taken); err != nil {
				t.Fatal(err)
			}
			if runs != plans || taken != plans {
				t.Errorf("%d plans of %d are taken, %d times", taken, plans, runs)
			}
		})
	}
}
