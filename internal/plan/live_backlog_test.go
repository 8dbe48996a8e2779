package plan

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/servers"
)

// Where Backlog says that an index leads to the rows that wait, SQLite, which knows nothing of the rows, reads by
// one that does; and where there is none it reads no other from end to end, with a look at each row.
func TestBacklogReadsAsItSaysOnSQLite(t *testing.T) {
	scanned := regexp.MustCompile(`SCAN \S+ USING INDEX (\S+)`)
	seen := 0
	for _, c := range tableCases(t) {
		if c.engine != "sqlite" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for what, p := range c.variants(t, []string{"3.38"}) {
				if p.Backlog == nil {
					continue
				}
				seen++
				db, err := sql.Open("sqlite", ":memory:")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = db.Close() }()
				db.SetMaxOpenConns(1)
				run := func(text string) {
					if _, err := db.Exec(text); err != nil {
						t.Fatalf("%s: %v\n%s", what, err, text)
					}
				}
				for _, text := range append([]string{c.ddl}, sideTable(p.Package, map[string]bool{})...) {
					run(text)
				}
				for _, ix := range p.Indexes {
					run(p.Sampled(ix.DDL))
				}
				st := p.Backlog.Statement
				plan, head := queryPlan(t, db, p.Sampled(st.SQL), len(st.Args)), st.Head[2]
				_, _, none := strings.Cut(head, "none; ")
				index := scanned.FindStringSubmatch(plan)
				if index == nil {
					if !none && !strings.Contains(plan, "INDEX") {
						t.Errorf("%s: the head says %q, and the table is read\n%s", what, head, plan)
					}
					continue
				}
				var ddl string
				if err := db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = ?", index[1]).Scan(&ddl); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(strings.ToUpper(ddl), "WHERE") {
					t.Errorf("%s: the head says %q, and all of an index is read\n%s", what, head, plan)
				}
			}
		})
	}
	if seen < 100 {
		t.Errorf("only %d packages have Backlog", seen)
	}
}

// backlogTable is a queue of a few rows that wait among many that are done; SQL of the server's own says what
// index it has.
const backlogTable = `CREATE TABLE jobs (
    id    bigint NOT NULL PRIMARY KEY,
    state char(1) NOT NULL,      -- qgen:status ready=N running=A done=C
    kind  varchar(20) NOT NULL,  -- qgen:topic
    made  timestamp NOT NULL,    -- qgen:enqueued%s; order 1
    due   timestamp NULL,        -- qgen:due%s
    pad   char(200) NOT NULL
)`

// What the head of Backlog says of its index is what PostgreSQL does.
func TestBacklogReadsAsItSaysOnPostgreSQL(t *testing.T) {
	for _, version := range servers.PostgresVersions() {
		t.Run(version, func(t *testing.T) {
			conn, run := onPostgres(t, servers.Postgres(t, version))
			for _, tt := range []struct{ index, head, reads string }{
				{"", "index: (kind, made, id) WHERE state = 'N'", "jobs_ready"},
				{"CREATE INDEX one ON jobs (state)", "index: one (state)", "one|jobs_ready"},
				{"CREATE INDEX one ON jobs (kind, state); CREATE UNIQUE INDEX mark ON jobs (id) WHERE state = 'A'", "index: (kind, made, id) WHERE state = 'N'", "jobs_ready"},
			} {
				c := tableCase{engine: "postgresql", ddl: fmt.Sprintf(backlogTable, " clock=utc", " clock=utc") + ";\n" + tt.index + ";"}
				p := c.plans(t, fmt.Sprintf("version: \"1\"\nqueues: [{schema: [x], engine: postgresql, server: %q, table: jobs, queue: jobs, gen: {go: {out: x}}}]", version))[0]
				st := p.Backlog.Statement
				if st.Head[2] != tt.head {
					t.Errorf("the head says %q, want %q", st.Head[2], tt.head)
				}
				run("BEGIN; CREATE SCHEMA qgen_plan_test; SET LOCAL search_path = qgen_plan_test, pg_catalog;" + c.ddl +
					"INSERT INTO jobs SELECT i, CASE WHEN i % 100 = 0 THEN 'N' ELSE 'C' END, 'kind' || i % 5, now(), NULL, 'p' FROM generate_series(1, 20000) AS i")
				for _, ix := range p.Indexes {
					run(strings.Replace(ix.DDL, " CONCURRENTLY", "", 1))
				}
				run("ANALYZE jobs")
				plan := planOn(t, conn, "EXPLAIN "+st.SQL)
				if !regexp.MustCompile(`(using|on) (` + tt.reads + `)\b`).MatchString(plan) {
					t.Errorf("%s, and it reads\n%s", st.Head[2], plan)
				}
				run("ROLLBACK")
			}
		})
	}
}

// Likewise on MySQL and MariaDB, which without a hint read an index that gives the groups from end to end where
// none leads to the rows.
func TestBacklogReadsAsItSaysOnMySQL(t *testing.T) {
	for _, live := range []string{"mysql56", "mysql97", "mariadb1011"} {
		t.Run(live, func(t *testing.T) {
			db, run := ownMySQL(t, servers.DSN(t, live))
			for _, tt := range []struct{ index, head, key string }{
				{"KEY one (state, kind, made, id)", "index: one (state, kind, made, id)", "one"},
				{"KEY one (state), KEY two (kind)", "index: one (state)", "one"},
				{"KEY two (kind, state)", "", ""},
			} {
				table := fmt.Sprintf(backlogTable, " clock=utc", " clock=utc")
				table = table[:len(table)-2] + ",\n    " + tt.index + "\n)"
				c := tableCase{engine: "mysql", ddl: strings.ReplaceAll(table, "timestamp", "datetime") + ";"}
				text := "version: \"1\"\nqueues: [{schema: [x], engine: mysql, server: \"5.6\", table: jobs, queue: jobs, gen: {go: {out: x}}}]"
				st := c.plans(t, text)[0].Backlog.Statement
				if tt.head != "" && st.Head[2] != tt.head {
					t.Errorf("the head says %q, want %q", st.Head[2], tt.head)
				}
				run(db, strings.TrimSuffix(c.ddl, ";"))
				run(db, "INSERT INTO jobs VALUES (1, 'C', 'a', '2026-01-02', NULL, 'p')")
				for n := 1; n < 16384; n *= 2 {
					run(db, fmt.Sprintf("INSERT INTO jobs SELECT id + %d, CASE WHEN id %% 100 = 0 THEN 'N' ELSE 'C' END, CONCAT('k', id %% 5), made, NULL, pad FROM jobs", n))
				}
				run(db, "ANALYZE TABLE jobs")
				explain := "EXPLAIN "
				if live == "mysql97" {
					explain += "FORMAT=TRADITIONAL "
				}
				found, err := db.Query(explain + st.SQL)
				if err != nil {
					t.Fatalf("%v\n%s", err, st.SQL)
				}
				for _, row := range texts(t, found) {
					if row["key"] != tt.key || !slices.Contains([]string{"ref", "range", "ALL"}, row["type"]) {
						t.Errorf("%s, and it reads %v\n%s", st.Head[2], row, st.SQL)
					}
				}
				run(db, "DROP TABLE jobs")
			}
		})
	}
}
