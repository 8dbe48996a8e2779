package plan

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/qgen-dev/qgen/test/servers"
)

// A claim with locked=wait waits for a row that somebody has locked and is about to change, takes it
// where it is still ready then, and leaves it where it is not.
func TestClaimsWaitForLockedRows(t *testing.T) {
	for _, live := range []struct{ name, engine string }{
		{"postgres10", "postgresql"}, {"postgres18", "postgresql"},
		{"mysql56", "mysql"}, {"mysql97", "mysql"}, {"mariadb1011", "mariadb"},
	} {
		t.Run(live.name, func(t *testing.T) {
			c, db := liveCase(t, live.name, live.engine, "actions")
			run := func(by interface {
				Exec(string, ...any) (sql.Result, error)
			}, text string) {
				t.Helper()
				if _, err := by.Exec(text); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			}
			waits := func(name string, asked any, change, after string, want int) {
				t.Helper()
				p := c.variants(t, nil)[name]
				holder, err := db.Begin()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = holder.Rollback() }()
				run(holder, change)
				took := make(chan int, 1)
				go func() { took <- len(claimOnce(t, db, p.Package, asked)) }()
				stillWaits(t, took, name+" took rows and did not wait for one that is locked")
				run(holder, after)
				if err := holder.Commit(); err != nil {
					t.Fatal(err)
				}
				if n := <-took; n != want {
					t.Errorf("%s took %d rows, not %d", name, n, want)
				}
			}
			run(db, "INSERT INTO jobs (host, state) VALUES ('a', 'new'), ('a', 'new'), ('b', 'new'), ('b', 'busy')")
			const id = "(SELECT * FROM (SELECT min(id) FROM jobs) AS first)"
			var first int64
			if err := db.QueryRow("SELECT min(id) FROM jobs").Scan(&first); err != nil {
				t.Fatal(err)
			}
			waits("cancel", first, "UPDATE jobs SET priority = 7 WHERE id = "+id, "UPDATE jobs SET state = 'busy' WHERE id = "+id, 1)
			waits("cancel", first+1, "UPDATE jobs SET priority = 7 WHERE id = "+id+" + 1", "UPDATE jobs SET state = 'done' WHERE id = "+id+" + 1", 0)
			waits("drop", "b", "UPDATE jobs SET priority = 7 WHERE host = 'b'", "UPDATE jobs SET state = 'busy' WHERE host = 'b'", 1)
			run(db, "INSERT INTO jobs (host, state) VALUES ('c', 'new'), ('c', 'new'), ('c', 'held'), ('c', 'held')")
			var last int64
			if err := db.QueryRow("SELECT max(id) FROM jobs").Scan(&last); err != nil {
				t.Fatal(err)
			}
			set := func(column, value string, id int64) string {
				return fmt.Sprintf("UPDATE jobs SET %s = '%s' WHERE id = %d", column, value, id)
			}
			waits("byid", last-3, set("priority", "7", last-3), set("state", "sent", last-3), 1)
			waits("byid", last-2, set("priority", "7", last-2), set("state", "done", last-2), 0)
			if live.engine != "postgresql" { // whose statements see rows as they were when they began
				waits("byid", last-1, set("state", "sent", last-1), set("priority", "7", last-1), 1)
				waits("cancel", last, set("state", "new", last), set("priority", "7", last), 1)
				run(db, "INSERT INTO jobs (host, state) VALUES ('d', 'held')")
				waits("end", "d", "UPDATE jobs SET state = 'new' WHERE host = 'd'", "UPDATE jobs SET priority = 7 WHERE host = 'd'", 1)
			}
			run(db, set("priority", "5", last))
			if jobs := claimOnce(t, db, c.variants(t, nil)["raise"].Package, last); len(jobs) != 1 || jobs[0]["priority"] != "12" {
				t.Errorf("a claim that writes 12 returns %v", jobs)
			}
			if live.engine == "postgresql" {
				run(db, "INSERT INTO notes (task) VALUES (1), (1), (2)")
				waits("notes", 1, "UPDATE notes SET body = 'x' WHERE task = 1", "UPDATE notes SET body = 'y' WHERE task = 1", 1)
			}
		})
	}
}

// A claim of rows that its caller names locks those that it takes where their key has them in order, and all of
// them where they are sorted.
func TestNamedRowsAreLockedInOrder(t *testing.T) {
	for _, live := range []struct{ name, engine string }{{"mysql97", "mysql"}, {"mariadb1011", "mariadb"}} {
		t.Run(live.name, func(t *testing.T) {
			c, db := liveCase(t, live.name, live.engine, "actions")
			if _, err := db.Exec("INSERT INTO jobs (host, state) VALUES ('n', 'new'), ('n', 'new'), ('n', 'new')"); err != nil {
				t.Fatal(err)
			}
			var first int64
			if err := db.QueryRow("SELECT min(id) FROM jobs WHERE host = 'n'").Scan(&first); err != nil {
				t.Fatal(err)
			}
			plans := c.variants(t, nil)
			for _, name := range []string{"chosen", "ranked"} {
				p := plans[name]
				tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
				if err != nil {
					t.Fatal(err)
				}
				list := fmt.Sprintf("IN (%d, %d, %d)", first, first+1, first+2)
				found, err := tx.Query(strings.Replace(p.Claim.Lock.SQL, "IN (?)", list, 1), 1)
				if err != nil {
					t.Fatal(err)
				}
				if rows := texts(t, found); len(rows) != 1 {
					t.Errorf("%s locks %v", name, rows)
				}
				_, err = db.Exec("SELECT id FROM jobs WHERE id = ? FOR UPDATE NOWAIT", first+2)
				if locked := err != nil; locked != (name == "ranked") {
					t.Errorf("%s has a row locked that it does not take: %v, %v", name, locked, err)
				}
				if err := tx.Rollback(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A claim of rows of one group waits for another claim of it, and takes what is behind the row that went.
func TestClaimsWaitForTheirGroup(t *testing.T) {
	for _, live := range []struct{ name, engine string }{{"postgres13", "postgresql"}, {"postgres18", "postgresql"}, {"mysql97", "mysql"}} {
		t.Run(live.name, func(t *testing.T) {
			c, db := liveCase(t, live.name, live.engine, "waits")
			for _, text := range []string{
				"DELETE FROM accounts",
				"INSERT INTO accounts VALUES (1, 2), (2, 1)",
				"INSERT INTO mails (account, made) VALUES (1, CURRENT_TIMESTAMP), (1, CURRENT_TIMESTAMP), (1, CURRENT_TIMESTAMP), (2, CURRENT_TIMESTAMP), (2, CURRENT_TIMESTAMP)",
			} {
				if _, err := db.Exec(text); err != nil {
					t.Fatal(err)
				}
			}
			p := c.variants(t, nil)["account"].Package
			for _, group := range []struct{ account, want int }{{1, 1}, {2, 0}} {
				holder := beginCommitted(t, db)
				if jobs := claimIn(t, holder, p, group.account); len(jobs) != 1 {
					t.Fatalf("the first claim of account %d takes %d jobs", group.account, len(jobs))
				}
				took := make(chan int, 1)
				go func() { took <- len(claimOnce(t, db, p, group.account)) }()
				stillWaits(t, took, fmt.Sprintf("a claim of account %d took jobs and did not wait for another", group.account))
				if err := holder.Commit(); err != nil {
					t.Fatal(err)
				}
				if n := <-took; n != group.want {
					t.Errorf("behind a claim of account %d another took %d jobs, not %d", group.account, n, group.want)
				}
			}
		})
	}
}

// A claim that reads its candidates before it locks them takes a row that another session writes in
// between: innodb_snapshot_isolation, on which MariaDB 11.6.2 and later insist, would make an error of it.
func TestClaimsLockRowsAsTheyAre(t *testing.T) {
	for _, live := range []struct{ name, engine string }{{"mariadb1011", "mariadb"}, {"mariadb118", "mariadb"}} {
		t.Run(live.name, func(t *testing.T) {
			c, db := liveCase(t, live.name, live.engine, "unsorted")
			if _, err := db.Exec("INSERT INTO sums (state, urgency, extra) VALUES ('N', 1, 1)"); err != nil {
				t.Fatal(err)
			}
			// The plan is shared with other tests.
			p := *c.variants(t, nil)["sums"].Package
			claim, lock := *p.Claim, *p.Claim.Lock
			p.Claim, claim.Lock = &claim, &lock
			const order = "(urgency + extra)"
			if !strings.Contains(lock.SQL, order) {
				t.Fatalf("the claim does not read its candidates by %s:\n%s", order, lock.SQL)
			}
			lock.SQL = strings.Replace(lock.SQL, order, "(urgency + extra + SLEEP(0.5))", 1)
			took := make(chan int, 1)
			go func() { took <- len(claimOnce(t, db, &p, nil)) }()
			time.Sleep(200 * time.Millisecond) // the claim reads meanwhile
			if _, err := db.Exec("UPDATE sums SET extra = 2"); err != nil {
				t.Fatal(err)
			}
			if n := <-took; n != 1 {
				t.Errorf("the claim took %d jobs of 1", n)
			}
		})
	}
}

// A step that writes the row of its job and another table in one statement waits for the row of that
// table, and writes to what it holds then; a claim that was lost writes nothing.
func TestOneStatementWritesOtherTablesAsTheyAre(t *testing.T) {
	for _, live := range []string{"postgres10", "postgres18"} {
		t.Run(live, func(t *testing.T) {
			c, db := liveCase(t, live, "postgresql", "counters")
			for _, text := range []string{
				"INSERT INTO totals (address, queued) VALUES ('a', 1)",
				"INSERT INTO letters (id, address, weight, state, tries, holder) VALUES (1, 'a', 1, 'busy', 1, 'w'), (2, 'a', 1, 'busy', 2, 'w')",
			} {
				if _, err := db.Exec(text); err != nil {
					t.Fatal(err)
				}
			}
			p := c.variants(t, nil)["letters"].Package
			fail := p.Fail.Statement
			if p.Fail.Lock != nil || len(p.Fail.With) > 0 || len(fail.Args) != 3 {
				t.Fatalf("Fail is not one statement of three arguments:\n%s", fail.SQL)
			}
			holder, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = holder.Rollback() }()
			if _, err := holder.Exec("UPDATE totals SET queued = 5"); err != nil {
				t.Fatal(err)
			}
			failed := make(chan string, 1)
			go func() {
				var id string
				// The second job was claimed again since.
				if err := db.QueryRow(fail.SQL, "{1,2}", "{1,1}", "{w,w}").Scan(&id); err != nil {
					id = err.Error()
				}
				failed <- id
			}()
			stillWaits(t, failed, "Fail did not wait for the row of another table")
			if err := holder.Commit(); err != nil {
				t.Fatal(err)
			}
			if id := <-failed; id != "1" {
				t.Errorf("Fail of jobs 1 and 2 gives %s", id)
			}
			var queued int
			var states string
			if err := db.QueryRow("SELECT (SELECT queued FROM totals), string_agg(state, ' ' ORDER BY id) FROM letters").Scan(&queued, &states); err != nil {
				t.Fatal(err)
			}
			if queued != 12 || states != "lost busy" {
				t.Errorf("the other table has %d and the jobs are %s, not 12 and lost busy", queued, states)
			}
			// A late worker.
			if _, err := db.Exec(fail.SQL, "{2}", "{1}", "{w}"); err != nil {
				t.Fatal(err)
			}
			if err := db.QueryRow("SELECT queued FROM totals").Scan(&queued); err != nil || queued != 12 {
				t.Errorf("a late worker left %d in the other table, not 12 (%v)", queued, err)
			}
		})
	}
}

// A step that deletes the row of its job and what names it in another table finds there what was committed
// while it waited for the row.
func TestRowsThatNameADeletedJobGoWithIt(t *testing.T) {
	for _, live := range []string{"postgres10", "postgres18"} {
		for _, key := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/foreign key %v", live, key), func(t *testing.T) {
				c, db := liveCase(t, live, "postgresql", "discard")
				first := "SELECT FROM jobs WHERE ref = 1 FOR UPDATE" // who adds a part
				if key {
					if _, err := db.Exec("ALTER TABLE parts ADD FOREIGN KEY (job) REFERENCES jobs"); err != nil {
						t.Fatal(err)
					}
					first = "SELECT" // the key locks it
				}
				if _, err := db.Exec("INSERT INTO jobs (ref, status, job_data, till) VALUES (1, 3, 'x', '2030-01-01')"); err != nil {
					t.Fatal(err)
				}
				holder, err := db.Begin()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = holder.Rollback() }()
				for _, text := range []string{first, "INSERT INTO parts (job) VALUES (1)"} {
					if _, err := holder.Exec(text); err != nil {
						t.Fatal(err)
					}
				}
				tx, ended := beginCommitted(t, db), make(chan error, 1)
				go func() {
					ended <- settleIn(tx, c.variants(t, nil)["jobs"].Outcomes[0].Settle, map[string]string{"ref": "1", "till": "2030-01-01"})
				}()
				stillWaits(t, ended, "Discard did not wait for the row of its job")
				if err := holder.Commit(); err != nil {
					t.Fatal(err)
				}
				if err := <-ended; err != nil {
					t.Error(err)
				} else if err := tx.Commit(); err != nil {
					t.Error(err)
				}
				var jobs, parts int
				if err := db.QueryRow("SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM parts)").Scan(&jobs, &parts); err != nil {
					t.Fatal(err)
				}
				if jobs+parts > 0 {
					t.Errorf("%d jobs and %d parts are there still", jobs, parts)
				}
			})
		}
	}
}

// settleIn runs what an operation over one claimed job sends: values are its arguments by the column for which
// they are.
func settleIn(tx *sql.Tx, st *Settle, values map[string]string) error {
	for _, s := range slices.Concat([]*Statement{st.Lock}, st.With, []*Statement{st.Statement}, st.Behind) {
		if s == nil {
			continue
		}
		var args []any
		for _, a := range s.Args {
			if a.Kind != ArgList {
				args = append(args, "{"+values[a.Field.Column]+"}") // an array
				continue
			}
			for _, f := range a.Batch {
				args = append(args, values[f.Column])
			}
		}
		if _, err := tx.Exec(s.Text(), args...); err != nil {
			return fmt.Errorf("%w\n%s", err, s.SQL)
		}
	}
	return nil
}

// beginCommitted begins a transaction as the packages do; it is rolled back with the test unless it ends before.
func beginCommitted(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// stillWaits fails the test, saying why, where what runs beside it is done within 300 ms.
func stillWaits[T any](t *testing.T, done <-chan T, why string) {
	t.Helper()
	select {
	case got := <-done:
		t.Fatalf("%s: %v", why, got)
	case <-time.After(300 * time.Millisecond):
	}
}

// liveCase reads a case and makes its tables on a server, in a database of the test's own.
func liveCase(t *testing.T, live, engine, name string) (tableCase, *sql.DB) {
	t.Helper()
	driver := "mysql"
	if engine == "postgresql" {
		driver = "pgx"
	}
	c := caseAt(t, filepath.Join("testdata", engine, name))
	db := ownDatabase(t, driver, servers.DSN(t, live))
	for _, text := range servers.Statements(t, c.ddl) {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	return c, db
}

// ownDatabase opens a database of its own, or a schema where the server's sessions choose that.
func ownDatabase(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	admin := servers.Open(t, driver, dsn, 1)
	if driver == "mysql" {
		config, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		config.DBName = servers.Create(t, admin, "DATABASE")
		return servers.Open(t, driver, config.FormatDSN(), 4)
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["search_path"] = servers.Create(t, admin, "SCHEMA")
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// claimOnce runs the statements of a claim of one job, which is asked for by one value, in a
// transaction as the package has it, and returns the rows of its jobs by their columns.
func claimOnce(t *testing.T, db *sql.DB, p *Package, asked any) []map[string]string {
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = tx.Rollback() }()
	jobs := claimIn(t, tx, p, asked)
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	return jobs
}

// claimIn is claimOnce in a transaction that stays open.
func claimIn(t *testing.T, tx *sql.Tx, p *Package, asked any) []map[string]string {
	var key any
	args := func(st *Statement) (args []any) {
		for _, a := range st.Args {
			switch a.Kind {
			case ArgParam:
				args = append(args, asked)
			case ArgAhead, ArgLimit:
				args = append(args, 1)
			case ArgList:
				args = append(args, key)
			case ArgBatch:
				args = append(args, fmt.Sprintf("{%q}", key))
			case ArgGiven:
				if strings.HasPrefix(a.Param.GoType, "int") {
					args = append(args, 7)
					continue
				}
				args = append(args, nil)
			default:
				args = append(args, nil)
			}
		}
		return args
	}
	read := func(st *Statement) (list []map[string]string) {
		rows, err := tx.Query(st.Text(), args(st)...)
		if err != nil {
			t.Errorf("%v\n%s", err, st.SQL)
			return nil
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			cells, into := make([]sql.NullString, len(st.Rows)), make([]any, len(st.Rows))
			for i := range cells {
				into[i] = &cells[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Error(err)
			}
			row := map[string]string{}
			for i, f := range st.Rows {
				row[f.Column] = cells[i].String
			}
			list, key = append(list, row), cells[0].String
		}
		if err := rows.Err(); err != nil {
			t.Errorf("%v\n%s", err, st.SQL)
		}
		return list
	}
	write := func(st *Statement) int {
		done, err := tx.Exec(st.Text(), args(st)...)
		if err != nil {
			t.Errorf("%v\n%s", err, st.SQL)
			return -1
		}
		n, _ := done.RowsAffected()
		return int(n)
	}
	var jobs []map[string]string
	if p.Claim.Lock == nil {
		jobs = read(p.Claim.Statement)
	} else if jobs = read(p.Claim.Lock); len(jobs) > 0 {
		for _, st := range p.Claim.Narrow {
			if jobs = read(st); len(jobs) == 0 {
				return nil
			}
		}
		for _, st := range p.Claim.Ahead {
			write(st)
		}
		if p.Claim.Statement.Rows != nil {
			jobs = read(p.Claim.Statement)
		} else if changed := write(p.Claim.Statement); changed != len(jobs) {
			t.Errorf("of %d rows that are locked %d are written\n%s", len(jobs), changed, p.Claim.Statement.SQL)
		}
		if p.Claim.Read != nil {
			jobs = read(p.Claim.Read)
		}
	}
	return jobs
}
