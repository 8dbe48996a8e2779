package plan

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/servers"
)

// Of one group of many rows a claim reads the first by the advised indexes, and not the group.
func TestGroupsAreNotReadWhole(t *testing.T) {
	const most = 100 // pages; all rows stand on some 300
	fill := map[string]string{
		"hooks": "INSERT INTO hooks (tenant, kind, weight) SELECT 'a', 'k', g %% 7 FROM generate_series(1, %d) g",
		"steps": "INSERT INTO steps (order_id, due_at) SELECT 1, now() - interval '1 day' + g * interval '1 second' FROM generate_series(1, %d) g",
		"lines": "INSERT INTO lines (target) SELECT 'a' FROM generate_series(1, %d) g",
	}
	for _, live := range []string{"postgres13", "postgres18"} {
		t.Run(live, func(t *testing.T) {
			c := caseAt(t, "testdata/postgresql/group")
			db := ownDatabase(t, "pgx", servers.DSN(t, live))
			for _, text := range servers.Statements(t, c.ddl) {
				if strings.Contains(text, "CREATE TABLE app.") {
					continue // asked by none of these, and in a schema that others share
				}
				if _, err := db.Exec(text); err != nil {
					t.Fatal(err)
				}
			}
			packages := c.variants(t, nil)
			for name, rows := range fill {
				p := packages[name]
				for _, ix := range p.Indexes {
					if _, err := db.Exec(strings.Replace(ix.DDL, " CONCURRENTLY", "", 1)); err != nil {
						t.Fatal(err)
					}
				}
				for _, text := range []string{fmt.Sprintf(rows, 20000), "ANALYZE " + name} {
					if _, err := db.Exec(text); err != nil {
						t.Fatal(err)
					}
				}
				args := []any{1}
				if name == "hooks" {
					args = []any{"k", 1} // its topic
				}
				if rows, pages, text := explained(t, db, p.Claim.Lock.SQL, args...); rows != 1 || pages > most {
					t.Errorf("%s: %v rows are locked, %d pages read\n%s\n%s", name, rows, pages, p.Claim.Lock.SQL, text)
				}
			}
		})
	}
}

// Of the rows before another in its group a claim reads no more than may run, and of the group that topics tell no more
// than it takes.
func TestGroupsAreCountedToTheLimit(t *testing.T) {
	const rows = 2000
	for _, live := range []string{"postgres13", "postgres18"} {
		t.Run(live, func(t *testing.T) {
			c := caseAt(t, "testdata/postgresql/gate")
			db := ownDatabase(t, "pgx", servers.DSN(t, live))
			run := func(text string) {
				t.Helper()
				if _, err := db.Exec(text); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			}
			for _, text := range servers.Statements(t, c.ddl) {
				run(text)
			}
			packages, have := c.variants(t, nil), map[string]bool{}
			for _, name := range []string{"sites", "sites_told", "site", "site_told", "site_asked"} {
				for _, ix := range packages[name].Indexes {
					if !have[ix.DDL] {
						run(strings.Replace(ix.DDL, " CONCURRENTLY", "", 1))
					}
					have[ix.DDL] = true
				}
			}
			run("INSERT INTO settings SELECT g, 4 FROM generate_series(1, 1000) g")
			run(fmt.Sprintf("INSERT INTO exports (site_id, state) SELECT 1, CASE WHEN g %% 1000 = 0 THEN 'busy' ELSE 'new' END FROM generate_series(1, %d) g", rows))
			run("VACUUM ANALYZE exports")
			run("ANALYZE settings")
			for name, want := range map[string]struct {
				args []any
				most float64 // rows of the group that are read
			}{
				"sites":      {[]any{10}, 10 * rows},
				"sites_told": {[]any{4, 10}, 10 * rows},
				"site":       {[]any{1, 10}, 50},
				"site_told":  {[]any{1, 10, 4}, 50},
				"site_asked": {[]any{1, 10}, 50},
			} {
				var text string
				if err := db.QueryRow("EXPLAIN (ANALYZE, FORMAT json) "+packages[name].Claim.Lock.SQL, want.args...).Scan(&text); err != nil {
					t.Fatal(err)
				}
				type node struct {
					Relation string  `json:"Relation Name"`
					Rows     float64 `json:"Actual Rows"`
					Loops    float64 `json:"Actual Loops"`
					Refused  float64 `json:"Rows Removed by Filter"`
					Plans    []json.RawMessage
				}
				var plans []struct{ Plan json.RawMessage }
				if err := json.Unmarshal([]byte(text), &plans); err != nil {
					t.Fatal(err)
				}
				var read func(json.RawMessage) float64
				read = func(text json.RawMessage) (sum float64) {
					var n node
					if err := json.Unmarshal(text, &n); err != nil {
						t.Fatal(err)
					}
					if n.Relation == "exports" {
						sum = (n.Rows + n.Refused) * n.Loops
					}
					for _, p := range n.Plans {
						sum += read(p)
					}
					return sum
				}
				if got := read(plans[0].Plan); got > want.most {
					t.Errorf("%s: %v rows are read, want %v at most\n%s\n%s", name, got, want.most, packages[name].Claim.Lock.SQL, text)
				}
				var taken struct {
					Rows float64 `json:"Actual Rows"`
				}
				if err := json.Unmarshal(plans[0].Plan, &taken); err != nil || taken.Rows != 2 {
					t.Errorf("%s: %v rows are locked, want 2: %v", name, taken.Rows, err)
				}
			}
		})
	}
}

// Rows of a full group that stand before others are passed over without a look at what runs of the group for each.
func TestFullGroupsAreFoundOnce(t *testing.T) {
	const most = 2000 // pages; all rows stand on some 200
	const ddl = `CREATE TABLE jobs (
    id      bigint PRIMARY KEY,
    state   text NOT NULL,  -- qgen:status ready=new running=busy done=done
    account text,           -- qgen:group limit=2
    site    int NOT NULL    -- qgen:group limit=2
)`
	c := tableCase{engine: "postgresql", ddl: ddl + ";"}
	for _, live := range []string{"postgres10", "postgres18"} {
		t.Run(live, func(t *testing.T) {
			db := ownDatabase(t, "pgx", servers.DSN(t, live))
			p := c.plans(t, fmt.Sprintf("version: \"1\"\nqueues: [{schema: [x], engine: postgresql, server: %q, table: jobs, queue: jobs, gen: {go: {out: x}}}]", strings.TrimPrefix(live, "postgres")))[0]
			texts := []string{ddl}
			for _, ix := range p.Indexes {
				texts = append(texts, strings.Replace(ix.DDL, " CONCURRENTLY", "", 1))
			}
			texts = append(texts, "INSERT INTO jobs SELECT g, CASE WHEN g <= 2 THEN 'busy' ELSE 'new' END, 'a', 1 FROM generate_series(1, 20000) g",
				"INSERT INTO jobs VALUES (20001, 'busy', 'a', 2), (20002, 'new', 'a', 2), (20003, 'busy', 'b', 1), (20004, 'new', 'b', 1), (20005, 'new', NULL, 1)", "ANALYZE jobs")
			for _, text := range texts {
				if _, err := db.Exec(text); err != nil {
					t.Fatal(err)
				}
			}
			if rows, pages, text := explained(t, db, p.Claim.Lock.SQL, 3); rows != 3 || pages > most {
				t.Errorf("%v rows are locked, want 3; %d pages read\n%s\n%s", rows, pages, p.Claim.Lock.SQL, text)
			}
		})
	}
}

// Of a group from which another claims at that moment a claim takes rows once that has committed, and while it does not
// the claim comes back with none.
func TestGroupsAreTriedAgain(t *testing.T) {
	const ddl = `CREATE TABLE jobs (
    id      bigint PRIMARY KEY,
    state   text NOT NULL, -- qgen:status ready=new running=busy done=done
    account text           -- qgen:group limit=50
);
CREATE TABLE accounts (id text PRIMARY KEY)`
	c := tableCase{engine: "postgresql", ddl: ddl + ";"}
	for _, live := range []string{"postgres10", "postgres18"} {
		for name, lock := range map[string]string{
			"number": "",
			"row":    `, group: {column: account, limit: 50, lock: {table: accounts, on: "id = {row}.account"}}`,
		} {
			t.Run(live+"/"+name, func(t *testing.T) {
				db := ownDatabase(t, "pgx", servers.DSN(t, live))
				for _, text := range append(strings.Split(ddl, ";"), "INSERT INTO accounts VALUES ('a')", "INSERT INTO jobs SELECT g, 'new', 'a' FROM generate_series(1, 100) g") {
					if _, err := db.Exec(text); err != nil {
						t.Fatal(err)
					}
				}
				version := strings.TrimPrefix(live, "postgres")
				p := c.plans(t, fmt.Sprintf("version: \"1\"\nqueues: [{schema: [x], engine: postgresql, server: %q, table: jobs, queue: jobs, gen: {go: {out: x}}%s}]", version, lock))[0]
				locked := func(tx *sql.Tx) int64 {
					t.Helper()
					rows, err := tx.Exec(p.Claim.Lock.SQL, 3)
					if err != nil {
						t.Fatal(err)
					}
					n, err := rows.RowsAffected()
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				begin := func() *sql.Tx {
					t.Helper()
					tx, err := db.Begin()
					if err != nil {
						t.Fatal(err)
					}
					return tx
				}
				first, second := begin(), begin()
				defer func() { _ = second.Rollback() }()
				if n := locked(first); n != 3 {
					t.Fatalf("the first claim locks %d rows, want 3", n)
				}
				if n := locked(second); n != 0 {
					t.Errorf("another locks %d rows while the first lasts, want none", n)
				}
				time.AfterFunc(50*time.Millisecond, func() { _ = first.Commit() })
				if n := locked(second); n != 3 {
					t.Errorf("another locks %d rows when the first commits, want 3", n)
				}
			})
		}
	}
}

// explained runs a statement of PostgreSQL under EXPLAIN, and returns how many rows it gave, how many pages it
// looked at, and the plan.
func explained(t *testing.T, db *sql.DB, query string, args ...any) (rows float64, pages int, plan string) {
	t.Helper()
	if err := db.QueryRow("EXPLAIN (ANALYZE, BUFFERS, FORMAT json) "+query, args...).Scan(&plan); err != nil {
		t.Fatal(err)
	}
	var plans []struct {
		Plan struct {
			Hit   int     `json:"Shared Hit Blocks"`
			Fresh int     `json:"Shared Read Blocks"`
			Rows  float64 `json:"Actual Rows"`
		}
	}
	if err := json.Unmarshal([]byte(plan), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan.Rows, plans[0].Plan.Hit + plans[0].Plan.Fresh, plan
}
