package plan

import (
	"cmp"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
	"github.com/qgen-dev/qgen/test/servers"
)

// Every statement of the MySQL family is one that its servers accept: those that a
// package is for and newer ones, with the tables, indexes and settings there are.
func TestStatementsOnMySQL(t *testing.T) {
	texts := map[string][]string{
		"mysql":   {"5.6", "5.7", "8.0", "8.4"},
		"mariadb": {"10.5", "10.6", "10.11"},
	}
	for _, live := range []struct{ name, engine, version string }{
		{"mysql56", "mysql", "5.6"}, {"mysql97", "mysql", "9.7"},
		{"mariadb105", "mariadb", "10.5"}, {"mariadb1011", "mariadb", "10.11"}, {"mariadb118", "mariadb", "11.8"},
	} {
		t.Run(live.name, func(t *testing.T) {
			dsn := servers.DSN(t, live.name)
			for _, c := range tableCases(t) {
				if c.engine == live.engine {
					t.Run(c.name, func(t *testing.T) { prepareMySQL(t, dsn, live.version, c, c.variants(t, texts[live.engine])) })
				}
			}
		})
	}
}

// A fresh value for each row is one for each row: servers may take what they call for a
// constant of the statement.
func TestRowTokensOnMySQL(t *testing.T) {
	types := map[string]string{"uuid": "char(36)", "int": "bigint", "bytes": "binary(16)", "text": "char(32)"}
	for _, live := range []struct{ name, engine, version string }{
		{"mysql56", "mysql", "5.6"}, {"mysql97", "mysql", "9.7"}, {"mariadb105", "mariadb", "10.5"}, {"mariadb118", "mariadb", "11.8"},
	} {
		t.Run(live.name, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live.name))
			d, _ := dialect.Lookup(live.engine)
			version, err := dialect.ParseVersion(live.version)
			if err != nil {
				t.Fatal(err)
			}
			for kind, sqlType := range types {
				run(db, "CREATE TABLE t_"+kind+" (id int PRIMARY KEY, v "+sqlType+" UNIQUE)")
				run(db, "INSERT INTO t_"+kind+" (id) VALUES (1), (2), (3)")
				run(db, "UPDATE t_"+kind+" SET v = "+d.Fragments["row_token_"+kind].At(version)+" WHERE id IN (1, 2, 3)")
			}
		})
	}
}

// ownMySQL makes a database of the test's own.
func ownMySQL(t *testing.T, dsn string) (db *sql.DB, run func(db *sql.DB, text string)) {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	open := func(database string) *sql.DB {
		own := config.Clone()
		own.DBName, own.MultiStatements, own.InterpolateParams = database, true, true
		db, err := sql.Open("mysql", own.FormatDSN())
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	run = func(db *sql.DB, text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	place := fmt.Sprintf("qgen_plan_%08x", rand.Uint32())
	admin := open(config.DBName)
	run(admin, "CREATE DATABASE "+place)
	t.Cleanup(func() { run(admin, "DROP DATABASE "+place) })
	return open(place), run
}

// prepareMySQL makes the tables in a database of their own and has the server
// plan every statement there.
func prepareMySQL(t *testing.T, dsn, version string, c tableCase, packages map[string]made) {
	db, run := ownMySQL(t, dsn)
	live, err := dialect.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	if live[0] < newer[c.name] {
		t.Skipf("the tables need %s %d", c.engine, newer[c.name])
	}
	run(db, "SET SESSION sql_mode = ''") // zero dates are among the defaults of real tables
	ddl := c.ddl
	if version == "5.6" {
		ddl = strings.ReplaceAll(ddl, " json ", " longtext ") // there is no JSON yet
		ddl = strings.ReplaceAll(ddl, "varchar(255)", "varchar(191)")
	}
	run(db, ddl+missing[c.name])
	prepared, passed := map[string]bool{}, 0
	for what, p := range packages {
		if oldest, err := dialect.ParseVersion(p.Engine[strings.LastIndexByte(p.Engine, ' ')+1:]); err != nil {
			t.Fatal(err)
		} else if live.Less(oldest) {
			passed++
			continue
		}
		if p.Offset != nil {
			run(db, p.Offset.DDL)
		}
		for _, ddl := range sideTable(p.Package, prepared) {
			run(db, ddl)
		}
		for _, st := range p.Statements() {
			if prepared[p.Sampled(st.SQL)] {
				continue
			}
			prepared[p.Sampled(st.SQL)] = true
			if err := prepares(db, p.Sampled(st.SQL)); err != nil {
				t.Errorf("%s, %s: %v\n%s", what, st.Name, err, p.Sampled(st.SQL))
			}
		}
		for _, ix := range p.Indexes {
			if ix.Have == "" && !prepared[p.Sampled(ix.DDL)] {
				prepared[p.Sampled(ix.DDL)] = true
				if _, err := db.Exec(p.Sampled(ix.DDL)); err != nil {
					t.Errorf("%s: %v\n%s", what, err, p.Sampled(ix.DDL))
				}
			}
		}
		for _, check := range p.Verify.Checks {
			var wrong string
			args := make([]any, len(check.Statement.Args))
			for i := range args {
				args[i] = 1 // of rows, which is all that a check asks for
			}
			if err := db.QueryRow(p.Sampled(check.Statement.SQL), args...).Scan(&wrong); err != sql.ErrNoRows && version != "5.6" {
				t.Errorf("%s, %s: %q, %v\n%s", what, check.Statement.Name, wrong, err, p.Sampled(check.Statement.SQL))
			}
		}
		if version == "5.6" {
			continue // there is no RENAME INDEX yet
		}
		rename := func(back bool) {
			for i, ix := range p.Indexes {
				if ix.Have == "" {
					from, to := p.Sampled(p.d.Ident(ix.Name)), fmt.Sprintf("advice_%d", i)
					if back {
						from, to = to, from
					}
					run(db, "ALTER TABLE "+p.Sampled(tableOf(ix.DDL))+" RENAME INDEX "+from+" TO "+to)
				}
			}
		}
		rename(false)
		p.verifiesAdvice(t, what, func(text string) []string { return firstColumn(t, db, text) })
		rename(true)
	}
	for text := range prepared {
		if strings.HasPrefix(text, "CREATE ") || strings.HasPrefix(text, "ALTER ") {
			continue
		}
		if err := prepares(db, text); err != nil {
			t.Errorf("%v, where the advice of every package stands\n%s", err, text)
		}
	}
	if len(prepared) == 0 && passed == 0 {
		t.Error("no statement was seen")
	}
}

// InnoDB drops the index that it made for a foreign key once another begins with its columns, and no index that the DDL
// writes, as dumps do.
func TestIndexesOfForeignKeys(t *testing.T) {
	const ddl = `CREATE TABLE owners (id int PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE jobs (
    id int PRIMARY KEY, made int, written int,
    CONSTRAINT of_made FOREIGN KEY (made) REFERENCES owners (id),
    CONSTRAINT of_written FOREIGN KEY (written) REFERENCES owners (id), KEY of_written (written)
) ENGINE=InnoDB;`
	const more = "CREATE INDEX a ON jobs (made, id); CREATE INDEX b ON jobs (written, id);"
	for live, engine := range map[string]string{"mysql56": "mysql", "mysql97": "mysql", "mariadb1011": "mariadb", "mariadb118": "mariadb"} {
		t.Run(live, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live))
			d, _ := dialect.Lookup(engine)
			text := ""
			for _, ddl := range []string{ddl, more} {
				run(db, ddl)
				text += ddl
				var errs source.ErrorList
				catalog, err := schema.Read(d.Grammar, []*source.File{source.NewFile("schema.sql", []byte(text))}, &errs)
				if err != nil || errs.Err() != nil {
					t.Fatal(err, errs.Err())
				}
				var known []string
				for _, ix := range catalog.Tables[1].Indexes {
					known = append(known, ix.Name)
				}
				have := firstColumn(t, db, "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'jobs'")
				slices.Sort(known)
				slices.Sort(have)
				if !slices.Equal(known, have) {
					t.Errorf("there are %v, the reader knows of %v", have, known)
				}
			}
		})
	}
}

// tableOf returns which table the DDL of an index names.
func tableOf(ddl string) string {
	table, _, _ := strings.Cut(strings.TrimPrefix(ddl, "ALTER TABLE "), " ADD INDEX ")
	return table
}

// prepares has the server read a statement and look for what it names.
func prepares(db *sql.DB, text string) error {
	statement, err := db.Prepare(text)
	if err != nil {
		return err
	}
	defer func() { _ = statement.Close() }()
	return nil
}

// casePlan is the plan for a table of a case.
func casePlan(t *testing.T, engine, name, table string) (tableCase, made) {
	t.Helper()
	c := tableCase{name: engine + "/" + name, engine: engine}
	for what, into := range map[string]*string{"schema.sql": &c.ddl, "qgen.yaml": &c.config} {
		text, err := os.ReadFile(filepath.Join("testdata", engine, name, what))
		if err != nil {
			t.Fatal(err)
		}
		*into = string(text)
	}
	return c, c.variants(t, nil)[table]
}

// A statement over a list of keys reads the rows that the list names and no others: a
// scan would wait for those that other workers hold. In a table of a few rows the server
// must be told so.
func TestListsAreNoScans(t *testing.T) {
	const rows, named = 11, 7
	c, timers := casePlan(t, "mysql", "indexes", "timers")
	for _, live := range []string{"mysql97", "mariadb1011"} {
		t.Run(live, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live))
			run(db, c.ddl)
			for i := range rows {
				run(db, fmt.Sprintf("INSERT INTO timers VALUES (1, '1970-01-01', %d, 'a')", i))
			}
			run(db, "ANALYZE TABLE timers")
			lists := 0
			for _, st := range timers.Statements() {
				if !st.Has(ArgList) {
					continue
				}
				lists++
				var values []any
				text := st.SQL
				for _, a := range st.Args {
					if a.Kind != ArgList {
						values = append(values, 1)
						continue
					}
					text = strings.Replace(text, a.First, a.First+strings.Repeat(a.More, named-1), 1)
					for i := range named {
						values = append(values, 1, "1970-01-01", i)
					}
				}
				found, err := db.Query("EXPLAIN FORMAT=TRADITIONAL "+text, values...)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				for _, row := range texts(t, found) {
					if row["type"] != "range" {
						t.Errorf("%s reads by %q: %v", st.Name, row["type"], row)
					}
				}
			}
			if lists < 2 {
				t.Errorf("%d statements over lists", lists)
			}
		})
	}
}

// An engine without row locks takes the advised indexes, too, and where they give the order
// of the queue nothing is sorted.
func TestIndexesWithoutRowLocks(t *testing.T) {
	for _, live := range []struct{ name, engine string }{{"mysql97", "mysql"}, {"mysql56", "mysql"}, {"mariadb105", "mariadb"}, {"mariadb118", "mariadb"}} {
		t.Run(live.name, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live.name))
			c := tableCase{engine: live.engine}
			for what, into := range map[string]*string{"schema.sql": &c.ddl, "qgen.yaml": &c.config} {
				text, err := os.ReadFile(filepath.Join("testdata/mysql/myisam", what))
				if err != nil {
					t.Fatal(err)
				}
				*into = strings.ReplaceAll(string(text), "engine: mysql", "engine: "+live.engine)
			}
			run(db, c.ddl)
			for i := range 40 {
				run(db, fmt.Sprintf("INSERT INTO hopper (campaign, state, priority) VALUES ('a', '%c', %d)", "NNCC"[i%4], i%3))
				run(db, fmt.Sprintf("INSERT INTO calls (state, priority) VALUES ('%c', %d)", "NNCC"[i%4], i%3))
			}
			for name, p := range c.variants(t, nil) {
				for _, ix := range p.Indexes {
					if ix.Have == "" && ix.Of == "" { // else it is there, or another package advises it
						run(db, ix.DDL)
					}
				}
				if name != "calls" {
					continue
				}
				found, err := db.Query("EXPLAIN FORMAT=TRADITIONAL SELECT id FROM calls FORCE INDEX (calls_ready) WHERE state = 'N' ORDER BY priority DESC, id DESC LIMIT 5")
				if err != nil {
					t.Fatal(err)
				}
				if row := texts(t, found)[0]; row["type"] != "ref" || strings.Contains(row["Extra"], "filesort") {
					t.Errorf("%v", row)
				}
			}
		})
	}
}

// An index gives the order of an expression: a claim by row locks reads and locks no more rows than it takes, also
// where the schema does not know the index yet.
func TestExpressionsGiveTheOrder(t *testing.T) {
	const jobs, limit = 600, 5
	const spare = 12 * limit // rows that may be read beyond those
	c := caseAt(t, "testdata/mysql/computed")
	c.engine = "mysql"
	packages := c.variants(t, nil)
	db, run := ownMySQL(t, servers.DSN(t, "mysql97"))
	run(db, c.ddl)
	for name, p := range packages {
		for _, ix := range p.Indexes {
			if ix.DDL != "" {
				run(db, ix.DDL)
			}
		}
		for i := range jobs {
			run(db, fmt.Sprintf("INSERT INTO %s (account, type, body) VALUES (%d, %d, '')", p.Table, 1+i%2, 1+i%5))
		}
		run(db, "ANALYZE TABLE "+p.Table)
		db.SetMaxOpenConns(8)
		seen := map[string]bool{}
		for claim := range 3 {
			tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tx.Rollback() })
			read := func() (n int) {
				counts, err := tx.Query("SHOW SESSION STATUS LIKE 'Handler\\_read\\_%'")
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range texts(t, counts) {
					more, err := strconv.Atoi(row["Value"])
					if err != nil {
						t.Fatal(err)
					}
					n += more
				}
				return n
			}
			before := read()
			found, err := tx.Query(p.Claim.Statement.SQL, 1, 0, limit)
			if err != nil {
				t.Fatalf("%v\n%s", err, p.Claim.Statement.SQL)
			}
			for _, row := range texts(t, found) {
				seen[row["id"]] = true
			}
			if want := (claim + 1) * limit; len(seen) != want {
				t.Errorf("%s: after claim %d, %d rows are locked, not %d", name, claim, len(seen), want)
			}
			if n := read() - before; n > spare {
				t.Errorf("%s: claim %d reads %d rows\n%s", name, claim, n, p.Claim.Statement.SQL)
			}
		}
	}
}

// A claim that finds its rows first locks as many as it takes, and no others: of several values
// that mean ready, and in an order that no index gives.
func TestFoundRowsAreLockedOneByOne(t *testing.T) {
	const finished, ready, limit = 3000, 40, 5
	c := tableCase{engine: "mysql"}
	for what, into := range map[string]*string{"schema.sql": &c.ddl, "qgen.yaml": &c.config} {
		text, err := os.ReadFile(filepath.Join("testdata/mysql/several", what))
		if err != nil {
			t.Fatal(err)
		}
		*into = string(text)
	}
	plans := c.variants(t, nil)
	for _, live := range []string{"mysql97", "mariadb1011"} {
		t.Run(live, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live))
			run(db, c.ddl)
			for i := range finished + ready {
				state, number := "done", 3
				if i >= finished {
					state, number = []string{"new", "again"}[i%2], i%2
				}
				run(db, fmt.Sprintf("INSERT INTO transfers (state, urgency, payload) VALUES ('%s', %d, '')", state, i%3))
				run(db, fmt.Sprintf("INSERT INTO parcels (site, number, state) VALUES (%d, %d, %d)", i%7, i, number))
				if i >= finished {
					run(db, "INSERT INTO draws (topic, payload) VALUES ('1', '')")
				}
			}
			run(db, "ANALYZE TABLE transfers, parcels, draws")
			db.SetMaxOpenConns(2 + 3*ready/limit)
			for _, name := range []string{"transfers", "parcels", "draws"} {
				for _, ix := range plans[name].Indexes {
					if ix.Have == "" {
						run(db, ix.DDL)
					}
				}
				lock := plans[name].Claim.Lock
				seen := map[string]bool{}
				for claim := range ready / limit {
					rows := lockedRows(t, beginCommitted(t, db), lock, "1", limit)
					if len(rows) != limit {
						t.Errorf("%s: claim %d locks %d rows", name, claim, len(rows))
					}
					for _, row := range rows {
						if key := fmt.Sprint(row["id"], row["site"], row["number"]); seen[key] {
							t.Errorf("%s: %s is locked twice", name, key)
						} else {
							seen[key] = true
						}
					}
				}
			}
		})
	}
}

// An index that has the beginning of a text leads to the rows of one, in the order of what stands behind it: a claim
// locks as many rows as it takes, and another of a text that begins alike finds its own.
func TestBeginningsLead(t *testing.T) {
	const finished, ready, limit = 2000, 40, 5
	for _, live := range []struct{ name, engine string }{{"mysql97", "mysql"}, {"mariadb1011", "mariadb"}, {"mariadb118", "mariadb"}} {
		t.Run(live.name, func(t *testing.T) {
			c, db := liveCase(t, live.name, live.engine, "unindexed")
			run := func(text string) {
				t.Helper()
				if _, err := db.Exec(text); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			}
			db.SetMaxOpenConns(0) // each claim keeps its own
			const one, other = "https://example.org/one", "https://example.org/other"
			for name, p := range c.variants(t, nil) {
				for _, ix := range p.Indexes {
					if ix.DDL != "" {
						run(ix.DDL)
					}
				}
				column, state := "", "new"
				switch name {
				case "pages", "feeds", "crawls":
					column = "url"
				case "mails":
					column = "kind"
				case "fetches":
					column, state = "day", "waiting-for-a-worker"
				}
				value := func(i int) string {
					switch column {
					case "":
						return ""
					case "day":
						return ", UTC_TIMESTAMP() - INTERVAL 1 HOUR"
					}
					return ", '" + []string{one, other}[i%2] + "'"
				}
				var rows []string
				for i := range finished + 2*ready {
					of := state
					if i < finished {
						of = map[bool]string{true: "waiting-for-nobody", false: "done"}[column == "day" && i%2 == 0]
					}
					if name == "mails" {
						of = of[:min(len(of), 9)]
					}
					rows = append(rows, "('"+of+"'"+value(i)+")")
				}
				insert := "INSERT INTO " + name + " (" + strings.TrimSuffix("state, "+column, ", ") + ") VALUES "
				run(insert + strings.Join(rows, ", "))
				run("ANALYZE TABLE " + name)
				st := cmp.Or(p.Claim.Lock, p.Claim.Statement)
				if p.Claim.Lock == nil {
					continue // it returns nothing of what it locks
				}
				seen := map[string]bool{}
				asked := map[bool]int{true: ready, false: 2 * ready}[len(p.Claim.Params) > 0]
				for claim := range asked / limit {
					for _, row := range lockedRows(t, beginCommitted(t, db), st, one, limit) {
						seen[row["id"]] = true
					}
					if want := (claim + 1) * limit; len(seen) != want {
						t.Fatalf("%s: after claim %d, %d rows are locked, not %d\n%s", name, claim, len(seen), want, st.SQL)
					}
				}
				if len(p.Claim.Params) == 0 {
					continue
				}
				if rows := lockedRows(t, beginCommitted(t, db), st, other, ready); len(rows) != ready {
					t.Errorf("%s: beside claims of another text one finds %d rows of %d\n%s", name, len(rows), ready, st.SQL)
				}
			}
		})
	}
}

// An index that is read from its other end gives a claim its rows, and one that begins with
// the status gives them to Recover: neither reads or locks what it does not take.
func TestIndexesServeBothEnds(t *testing.T) {
	const finished, ready, running, limit = 3000, 40, 20, 5
	const spare = 2 * (ready + running) // rows that an index may be looked up in beyond those
	c := tableCase{engine: "mysql"}
	for what, into := range map[string]*string{"schema.sql": &c.ddl, "qgen.yaml": &c.config} {
		text, err := os.ReadFile(filepath.Join("testdata/mysql/indexes", what))
		if err != nil {
			t.Fatal(err)
		}
		*into = string(text)
	}
	plan := c.variants(t, nil)["results"]
	for _, live := range []string{"mysql97", "mariadb1011"} {
		t.Run(live, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live))
			run(db, `CREATE TABLE results (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, state int NOT NULL DEFAULT 2,
				priority int NOT NULL DEFAULT 0, since datetime, KEY ind_res_st (state, priority))`)
			for i := range finished + ready + running {
				state := 5
				switch {
				case i >= finished+ready:
					state = 4
				case i >= finished:
					state = 2
				}
				run(db, fmt.Sprintf("INSERT INTO results (state, priority, since) VALUES (%d, %d, UTC_TIMESTAMP() - INTERVAL 1 HOUR)", state, i%3))
			}
			run(db, "ANALYZE TABLE results")
			db.SetMaxOpenConns(2 + ready/limit)
			read := func(tx *sql.Tx) (rows int) {
				counts, err := tx.Query("SHOW SESSION STATUS LIKE 'Handler\\_read\\_%'")
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range texts(t, counts) {
					n, err := strconv.Atoi(row["Value"])
					if err != nil {
						t.Fatal(err)
					}
					rows += n
				}
				return rows
			}
			begin := func() (tx *sql.Tx, before int) {
				tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = tx.Rollback() })
				return tx, read(tx)
			}
			seen := map[string]bool{}
			for claim := range ready / limit {
				tx, before := begin()
				found, err := tx.Query(plan.Claim.Lock.SQL, limit)
				if err != nil {
					t.Fatalf("%v\n%s", err, plan.Claim.Lock.SQL)
				}
				for _, row := range texts(t, found) {
					seen[row["id"]] = true
				}
				if want := (claim + 1) * limit; len(seen) != want {
					t.Errorf("after claim %d, %d rows are locked, not %d", claim, len(seen), want)
				}
				if n := read(tx) - before; n > spare {
					t.Errorf("claim %d reads %d rows", claim, n)
				}
			}
			sweep := plan.Recover.Steps[0].Statement
			tx, before := begin()
			done, err := tx.Exec(sweep.SQL, limit)
			if err != nil {
				t.Fatalf("%v\n%s", err, sweep.SQL)
			}
			if n, err := done.RowsAffected(); err != nil || n != limit {
				t.Errorf("Recover takes %d rows, %v", n, err)
			}
			if n := read(tx) - before; n > spare {
				t.Errorf("Recover reads %d rows\n%s", n, sweep.SQL)
			}
		})
	}
}

// Where ready rows have a time as those have that run, the index of Recover leads past them: it locks none.
func TestRecoverLocksNoReadyRows(t *testing.T) {
	const ready, running = 3000, 5
	for _, live := range []struct{ name, engine string }{{"mysql97", "mysql"}, {"mariadb1011", "mariadb"}} {
		t.Run(live.name, func(t *testing.T) {
			c, db := liveCase(t, live.name, live.engine, "undated")
			p := c.variants(t, nil)["jobs"]
			run := func(text string, args ...any) {
				t.Helper()
				if _, err := db.Exec(text, args...); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			}
			for _, ix := range p.Indexes {
				if ix.DDL != "" {
					run(ix.DDL)
				}
			}
			run("INSERT INTO jobs (status, updated_at) VALUES " + strings.TrimSuffix(strings.Repeat("('pending', UTC_TIMESTAMP() - INTERVAL 1 DAY),", ready), ","))
			run("INSERT INTO jobs (status, updated_at) VALUES " + strings.TrimSuffix(strings.Repeat("('sending', UTC_TIMESTAMP() - INTERVAL 1 DAY),", running), ","))
			run("ANALYZE TABLE jobs")
			tx := beginCommitted(t, db)
			done, err := tx.Exec(p.Recover.Steps[0].Statement.SQL, ready)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := done.RowsAffected(); err != nil || n != running {
				t.Errorf("Recover takes %d rows, %v", n, err)
			}
			var free int
			if err := db.QueryRow("SELECT count(*) FROM (SELECT id FROM jobs FORCE INDEX (PRIMARY) WHERE status = 'pending' FOR UPDATE SKIP LOCKED) AS free").Scan(&free); err != nil {
				t.Fatal(err)
			}
			if free != ready {
				t.Errorf("of %d ready rows %d are free beside Recover", ready, free)
			}
		})
	}
}

// lockedRows returns what a claim of one topic locks, by the names of the columns.
func lockedRows(t *testing.T, tx *sql.Tx, lock *Statement, topic string, limit int) []map[string]string {
	t.Helper()
	var args []any
	for _, a := range lock.Args {
		switch a.Kind {
		case ArgAhead:
			args = append(args, AheadTimes*limit+a.Besides)
		case ArgLimit:
			args = append(args, limit)
		case ArgHeldList:
			args = append(args, 0)
		default:
			args = append(args, topic)
		}
	}
	found, err := tx.Query(lock.SQL, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, lock.SQL)
	}
	return texts(t, found)
}

// What a claim of one kind reads and passes over is free for claims of another, also where the server keeps the locks
// of rows that a condition refuses.
func TestRefusedRowsAreFree(t *testing.T) {
	const of = 50
	for _, live := range []struct{ name, engine string }{{"mysql97", "mysql"}, {"mariadb1011", "mariadb"}, {"mariadb118", "mariadb"}} {
		t.Run(live.name, func(t *testing.T) {
			c, _ := casePlan(t, "mariadb", "refused", "jobs")
			c.engine = live.engine
			c.config = strings.NewReplacer("mariadb", live.engine, `"10.11"`, map[string]string{"mysql": `"8.4"`, "mariadb": `"10.11"`}[live.engine]).Replace(c.config)
			packages := c.variants(t, nil)
			db, run := ownMySQL(t, servers.DSN(t, live.name))
			db.SetMaxOpenConns(0) // each claim keeps its own
			run(db, c.ddl)
			tables := []string{"jobs", "calls", "tasks", "chats"}
			run(db, "INSERT INTO kinds VALUES ('late', 'late'), ('soon', 'soon')")
			for i := range of {
				for _, table := range tables {
					run(db, fmt.Sprintf("INSERT INTO %s (id, kind) VALUES (%d, 'late'), (%d, 'soon')", table, 2*i+1, 2*i+2))
				}
			}
			for _, table := range tables {
				t.Run(table, func(t *testing.T) {
					p := packages[table]
					st := cmp.Or(p.Claim.Lock, p.Claim.Statement)
					if last := lockedRows(t, beginCommitted(t, db), st, "soon", of); len(last) != of {
						t.Fatalf("%d rows of %d are claimed", len(last), of)
					}
					var others []string
					for _, row := range lockedRows(t, beginCommitted(t, db), st, "late", 3) {
						others = append(others, row["id"])
					}
					if !slices.Equal(others, []string{"1", "3", "5"}) {
						t.Errorf("beside a claim of another kind one finds %v\n%s", others, st.SQL)
					}
				})
			}
		})
	}
}

// A claim runs out neither before its time nor, but for the hour that comes twice, behind
// it, whatever jumps the clock of the session's zone makes meanwhile.
func TestClaimsWhileTheClockJumps(t *testing.T) {
	const forward, back = 1774746000, 1792890000 // at 01:00 UTC, on 29 March and on 25 October 2026
	zone := fmt.Sprintf(`
DELETE FROM mysql.time_zone_name WHERE name = 'qgen/Berlin';
INSERT INTO mysql.time_zone (use_leap_seconds) VALUES ('N');
SET @zone = LAST_INSERT_ID();
INSERT INTO mysql.time_zone_name VALUES ('qgen/Berlin', @zone);
INSERT INTO mysql.time_zone_transition_type VALUES (@zone, 0, 3600, 0, 'CET'), (@zone, 1, 7200, 1, 'CEST');
INSERT INTO mysql.time_zone_transition VALUES (@zone, %d, 1), (@zone, %d, 0);
SET time_zone = 'qgen/Berlin';`, forward, back)
	c := tableCase{ddl: `
CREATE TABLE jumps (
    id      int PRIMARY KEY,
    state   int NOT NULL, -- qgen:status ready=0 running=1 done=2
    zoned   timestamp(6) NULL, KEY zoned (zoned),
    shown   datetime(6), KEY shown (shown),
    utc     datetime(6), KEY utc (utc),
    seconds bigint, KEY seconds (seconds),
    millis  bigint, KEY millis (millis),
    micros  bigint, KEY micros (micros),
    nanos   bigint, KEY nanos (nanos),
    digits  char(11), KEY digits (digits),
    written char(26), KEY written (written)
) ENGINE=InnoDB;`}
	for _, live := range []struct{ name, engine, version string }{
		{"mysql56", "mysql", "5.6"}, {"mysql97", "mysql", "9.7"},
		{"mariadb105", "mariadb", "10.5"}, {"mariadb118", "mariadb", "11.8"},
	} {
		t.Run(live.name, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live.name))
			run(db, zone)
			run(db, c.ddl)
			run(db, "INSERT INTO jumps (id, state) VALUES (1, 0)")
			d, _ := dialect.Lookup(live.engine)
			server, err := dialect.ParseVersion(live.version)
			if err != nil {
				t.Fatal(err)
			}
			for _, version := range versionsOf(d) {
				if since, err := dialect.ParseVersion(version); err != nil || server.Less(since) {
					continue
				}
				c.engine = live.engine
				p := c.plans(t, fmt.Sprintf(`
version: "1"
queues:
  - schema: [x]
    engine: %s
    server: %q
    table: jumps
    times:
      shown: {clock: local}
      utc: {clock: utc}
      seconds: {as: epoch}
      millis: {as: epoch_ms}
      micros: {as: epoch_us}
      nanos: {as: epoch_ns}
      digits: {as: "text:epoch"}
      written: {as: "text:2006-01-02 15:04:05.000000", clock: local}
    gen: {go: {out: x}}
`, live.engine, version))
				if len(p) != 1 {
					t.Fatalf("%d plans for %s %s", len(p), live.engine, version)
				}
				s := p[0].scope(t)
				var columns []*schema.Column
				for _, column := range s.spec.Table.Columns {
					if s.clockKind(column) != "" {
						columns = append(columns, column)
					}
				}
				if len(columns) != 9 {
					t.Fatalf("%d columns keep time", len(columns))
				}
				// at sets the clock, write every column, and past tells which are not behind a time.
				at := func(seconds float64) { run(db, fmt.Sprintf("SET timestamp = %.2f", seconds)) }
				write := func(shift *queue.Shift) {
					var sets []string
					for _, column := range columns {
						sets = append(sets, column.Name+" = "+s.clock(column, shift))
					}
					run(db, "UPDATE jumps SET "+strings.Join(sets, ", "))
				}
				past := func(shift *queue.Shift) map[string]bool {
					t.Helper()
					found := map[string]bool{}
					var looks []string
					var into []any
					counts := make([]int, 2*len(columns))
					for i := range counts {
						column := columns[i/2]
						how := []string{"FORCE", "IGNORE"}[i%2]
						looks = append(looks, fmt.Sprintf("(SELECT COUNT(*) FROM jumps %s INDEX (%s) WHERE %s <= %s)", how, column.Name, column.Name, s.clock(column, shift)))
						into = append(into, &counts[i])
					}
					if err := db.QueryRow("SELECT " + strings.Join(looks, ", ")).Scan(into...); err != nil {
						t.Fatal(err)
					}
					for i, n := range counts {
						found[columns[i/2].Name+[]string{" by its index", ""}[i%2]] = n > 0
					}
					return found
				}
				for _, begin := range []float64{
					forward - 86400, forward - 7200, forward - 1800, forward - 120, forward - 1, forward, forward + 600, forward + 3599,
					back - 86400, back - 7200, back - 3600, back - 1800, back - 60, back, back + 600, back + 1740, back + 3599, back + 3600,
				} {
					begin += 0.25
					for _, length := range []float64{60, 300, 3600, 3900, 86400} {
						span := time.Duration(length) * time.Second
						for _, kind := range []struct {
							what        string
							write, read *queue.Shift
						}{
							{"a claim until", &queue.Shift{Fixed: span}, nil},
							{"a claim since", nil, &queue.Shift{Fixed: span, Minus: true}},
						} {
							at(begin)
							write(kind.write)
							for _, passed := range []float64{0, length / 2, length - 1, length + 3601} {
								at(begin + passed)
								for column, over := range past(kind.read) {
									if over != (passed > length) {
										t.Errorf("%s: %s %s, of %v from %.2f, after %v s: over is %v", version, kind.what, column, span, begin, passed, over)
									}
								}
							}
						}
					}
				}
			}
		})
	}
}

// texts reads rows as texts by the names of their columns.
func texts(t *testing.T, rows *sql.Rows) []map[string]string {
	t.Helper()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for rows.Next() {
		cells, row := make([]sql.NullString, len(names)), map[string]string{}
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			row[name] = cells[i].String
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%d rows: %v", len(all), err)
	}
	return all
}

// Times that other programs write in UTC are due by the clock of UTC, whatever the session's time zone is.
func TestTimesShownInUTC(t *testing.T) {
	for live, engine := range map[string]string{"mysql97": "mysql", "mysql56": "mysql", "mariadb118": "mysql"} {
		t.Run(live, func(t *testing.T) {
			c, db := liveCase(t, live, engine, "shown")
			db.SetMaxOpenConns(1)
			p := c.variants(t, nil)["notes"]
			for _, zone := range []string{"+02:00", "-03:00"} {
				for _, setup := range []string{
					"DELETE FROM notes",
					"SET time_zone = '" + zone + "'",
					"INSERT INTO notes (id, deliver_after) VALUES (1, UTC_TIMESTAMP() - INTERVAL 1 MINUTE), (2, UTC_TIMESTAMP() + INTERVAL 1 HOUR)",
				} {
					if _, err := db.Exec(setup); err != nil {
						t.Fatal(err)
					}
				}
				var ready int
				if err := db.QueryRow("SELECT count(*) FROM (" + strings.Replace(p.Peek.Statement.SQL, "LIMIT  ?", "LIMIT  9", 1) + ") AS ready").Scan(&ready); err != nil || ready != 1 {
					t.Errorf("%s: %d jobs are ready: %v", zone, ready, err)
				}
			}
		})
	}
}
