package plan

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
	"github.com/qgen-dev/qgen/test/servers"
)

// This file shows every statement to a server, which has the last word: for
// every table of the tests of plan and queue, every strategy that it allows and
// every version for which the text may differ.

// tableCase is a table and how a plan for it is asked for.
type tableCase struct {
	name   string // of the case
	engine string
	ddl    string
	// entries returns qgen.yaml for a strategy ("" is the chosen one) and the oldest
	// server ("" is the default); "" when the case fixes both.
	entries func(strategy, server string) string
	config  string // where the case has a qgen.yaml of its own
}

// randomUUID is built in from PostgreSQL 13 on.
const randomUUID = "CREATE FUNCTION gen_random_uuid() RETURNS uuid LANGUAGE sql AS 'SELECT md5(random()::text)::uuid'"

// missing is what the DDL of a case takes for granted.
var missing = map[string]string{
	"alive":             "CREATE SCHEMA app; CREATE TABLE app.nodes (id int, active int)",
	"channel":           "CREATE SEQUENCE int_message_seq",
	"companions":        "CREATE SCHEMA other; CREATE TABLE other.fired (token text, id bigint, who text, \"when\" timestamptz, tries int, part numeric, odd boolean, gone text, text text)",
	"email_columns":     "CREATE TABLE mail.stopped (kind text)",
	"postgresql/absent": randomUUID,
	"castor":            randomUUID,
	"nulltimes":         randomUUID,
	"mysql/clock":       "CREATE TABLE elsewhere (started datetime); CREATE TABLE persons (send_id bigint, told_at datetime, again_at datetime, epoch int)",
}

// newer are the cases whose DDL itself needs a newer server.
var newer = map[string]int{
	"mysql/computed":        8,  // an index over an expression
	"companions":            12, // GENERATED ALWAYS AS
	"graphile":              12, // the same
	"pgboss":                11, // a primary key of a partitioned table
	"postgresql/indexes":    11, // the same
	"mysql/upsert_computed": 8,  // a default that is an expression
	"postgresql/prefixed":   12, // a collation that is not deterministic
}

// caseAt reads the case in a folder of testdata.
func caseAt(t *testing.T, dir string) tableCase {
	t.Helper()
	return tableCase{
		name: strings.TrimPrefix(filepath.ToSlash(dir), "testdata/"), engine: filepath.Base(filepath.Dir(dir)),
		ddl: textOf(t, filepath.Join(dir, "schema.sql")), config: textOf(t, filepath.Join(dir, "qgen.yaml")),
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func tableCases(t *testing.T) []tableCase {
	t.Helper()
	var cases []tableCase
	dirs, _ := filepath.Glob("testdata/*/*")
	for _, dir := range dirs {
		if strings.HasPrefix(filepath.Base(dir), "errors") {
			continue
		}
		cases = append(cases, caseAt(t, dir))
	}
	paths, _ := filepath.Glob("../queue/testdata/*.sql")
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		if strings.HasPrefix(name, "errors_") {
			continue
		}
		c := tableCase{name: name, engine: "postgresql", ddl: textOf(t, path)}
		if _, engine, ok := strings.Cut(name, "."); ok {
			c.engine = engine
		}
		if text, err := os.ReadFile(strings.TrimSuffix(path, ".sql") + ".yaml"); err == nil {
			c.config = string(text)
			cases = append(cases, c)
			continue
		}
		for _, table := range annotatedTables(t, c) {
			c.entries = func(strategy, server string) string {
				text := fmt.Sprintf("version: \"1\"\nqueues:\n  - {schema: [x], engine: %s, table: %q, gen: {go: {out: x}}", c.engine, table)
				if strategy != "" {
					text += fmt.Sprintf(", queue: \"strategy=%s\"", strategy)
				}
				if server != "" {
					text += fmt.Sprintf(", server: %q", server)
				}
				return text + "}\n"
			}
			cases = append(cases, c)
		}
	}
	if len(cases) < 30 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// The catalogs and plans of the cases, by what they are read from. Many tests ask for the
// same, and none changes them but everyPlan, which is about the texts of procedures.
var (
	catalogsRead = map[[2]string]*schema.Catalog{} // by engine and DDL
	plansMade    = map[[3]string][]made{}          // by engine, DDL and qgen.yaml
)

func readCase(t *testing.T, c tableCase) *schema.Catalog {
	t.Helper()
	key := [2]string{c.engine, c.ddl}
	if catalog := catalogsRead[key]; catalog != nil {
		return catalog
	}
	d, ok := dialect.Lookup(c.engine)
	if !ok {
		t.Fatalf("unknown engine %q", c.engine)
	}
	var errs source.ErrorList
	catalog, err := schema.Read(d.Grammar, []*source.File{source.NewFile("schema.sql", []byte(c.ddl))}, &errs)
	if err != nil {
		t.Fatal(err)
	}
	catalogsRead[key] = catalog
	return catalog
}

// annotatedTables names the tables of a case that carry annotations.
func annotatedTables(t *testing.T, c tableCase) []string {
	t.Helper()
	var names []string
	for _, table := range readCase(t, c).Tables {
		comments := slices.Clone(table.Comments)
		for _, column := range table.Columns {
			comments = append(comments, column.Comments...)
		}
		if slices.ContainsFunc(comments, func(c schema.Comment) bool { return strings.Contains(c.Text, "qgen:") }) {
			names = append(names, table.QualifiedName())
		}
	}
	return names
}

// made is a plan and what it was made of.
type made struct {
	*Package
	spec *queue.Spec
	d    *dialect.Dialect
}

// plans returns the packages that one qgen.yaml makes of a case; what is not
// possible is left out, for it has a golden elsewhere.
func (c tableCase) plans(t *testing.T, text string) []made {
	t.Helper()
	key := [3]string{c.engine, c.ddl, text}
	if packages, ok := plansMade[key]; ok {
		return packages
	}
	var errs source.ErrorList
	cfg := config.Parse(source.NewFile("qgen.yaml", []byte(text)), &errs)
	if errs.Len() > 0 {
		t.Fatal(errs.Detail())
	}
	d, _ := dialect.Lookup(c.engine)
	catalog := readCase(t, c)
	var all []*queue.Spec
	of := map[*queue.Spec]*config.Queue{}
	for _, q := range cfg.Queues {
		for _, spec := range queue.Bind(catalog, q, d.Fold, &errs) {
			all, of[spec] = append(all, spec), q
		}
	}
	queue.Beside(all)
	var packages []made
	planned := map[*queue.Spec]*Package{}
	for _, spec := range all {
		var earlier []*Package
		for _, other := range spec.Others {
			if p := planned[other]; p != nil {
				earlier = append(earlier, p)
			}
		}
		if p := Build(spec, d, of[spec], earlier, &errs); p != nil {
			packages = append(packages, made{p, spec, d})
			planned[spec] = p
		}
	}
	plansMade[key] = packages
	return packages
}

// variants returns the packages of a case for the versions and every strategy,
// by what makes them differ.
func (c tableCase) variants(t *testing.T, versions []string) map[string]made {
	t.Helper()
	packages := map[string]made{}
	if c.entries == nil {
		for _, p := range c.plans(t, c.config) {
			packages[p.Queue] = p
		}
		return packages
	}
	asked := []string{""}
	for _, s := range strategies {
		asked = append(asked, s.name)
	}
	for _, version := range versions {
		for _, strategy := range asked {
			for _, p := range c.plans(t, c.entries(strategy, version)) {
				packages[fmt.Sprintf("%s %s %s", p.Table, strategy, version)] = p
			}
		}
	}
	return packages
}

func TestStatementsOnPostgreSQL(t *testing.T) {
	for version, texts := range map[string][]string{
		"10": {"9.4", "9.5", "10"},
		"18": {"9.4", "9.5", "12", "13", "18"},
	} {
		t.Run(version, func(t *testing.T) {
			dsn := servers.Postgres(t, version)
			for _, c := range tableCases(t) {
				if c.engine != "postgresql" || version == "10" && newer[c.name] > 10 {
					continue
				}
				if version == "10" && strings.Contains(c.ddl, "xid8") {
					continue // there is no such type yet
				}
				t.Run(c.name, func(t *testing.T) { preparePostgres(t, dsn, version, c, c.variants(t, texts)) })
			}
		})
	}
}

// An index serves whose predicate says in other words what a claim asks, or less.
func TestPredicatesAreProved(t *testing.T) {
	c := caseAt(t, "testdata/postgresql/implied")
	for _, version := range servers.PostgresVersions() {
		t.Run(version, func(t *testing.T) {
			conn, run := onPostgres(t, servers.Postgres(t, version))
			run("BEGIN; CREATE SCHEMA qgen_plan_test; SET LOCAL search_path = qgen_plan_test, pg_catalog; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off;" + c.ddl)
			for _, p := range c.variants(t, nil) {
				have := slices.IndexFunc(p.Indexes, func(ix Index) bool { return ix.Have != "" && strings.Contains(ix.Why, "serves Claim") })
				if have < 0 {
					continue
				}
				run("PREPARE " + p.Queue + " AS " + p.Claim.Statement.SQL)
				plan := planOn(t, conn, "EXPLAIN EXECUTE "+p.Queue+"("+strings.TrimSuffix(strings.Repeat("NULL, ", len(p.Claim.Statement.Args)), ", ")+")")
				if !strings.Contains(plan, "using "+p.Indexes[have].Have) {
					t.Errorf("%s reads\n%s", p.Queue, plan)
				}
			}
			run("ROLLBACK")
		})
	}
}

// Ready rows are read in the order of the queue, and no more of them than are taken, though rows of full
// groups are passed over.
func TestGroupsAreReadInOrder(t *testing.T) {
	const table = `CREATE TABLE jobs (
    id      bigint PRIMARY KEY,
    state   text NOT NULL,        -- qgen:status ready=new running=busy done=done
    run_at  timestamptz NOT NULL, -- qgen:due; order
    account bigint NOT NULL,      -- qgen:group limit=1
    pad     text NOT NULL
);`
	c := tableCase{engine: "postgresql", ddl: table}
	for _, version := range servers.PostgresVersions() {
		t.Run(version, func(t *testing.T) {
			p := c.plans(t, fmt.Sprintf("version: \"1\"\nqueues: [{schema: [x], engine: postgresql, server: %q, table: jobs, queue: jobs, gen: {go: {out: x}}}]", version))[0]
			conn, run := onPostgres(t, servers.Postgres(t, version))
			run("BEGIN; CREATE SCHEMA qgen_plan_test; SET LOCAL search_path = qgen_plan_test, pg_catalog;" + table +
				"INSERT INTO jobs SELECT i, CASE WHEN i % 50 = 0 THEN 'new' WHEN i % 100 = 1 THEN 'busy' ELSE 'done' END," +
				" now() - (30000 - i) * interval '1 second', i * 7919 / 17 % 3000, repeat('p', 50) FROM generate_series(1, 20000) AS i")
			for _, ix := range p.Indexes {
				run(strings.Replace(ix.DDL, " CONCURRENTLY", "", 1))
			}
			run("ANALYZE jobs; PREPARE claim AS " + p.Claim.Lock.SQL)
			plan := planOn(t, conn, "EXPLAIN EXECUTE claim("+strings.TrimSuffix(strings.Repeat("5, ", len(p.Claim.Lock.Args)), ", ")+")")
			sorted := strings.Contains(strings.ReplaceAll(plan, "Sort Key: other.account\n", ""), "Sort Key") // the running rows, which are few, may be
			if !strings.Contains(plan, "using "+p.Indexes[0].Name) || sorted {
				t.Errorf("%s", plan)
			}
			run("ROLLBACK")
		})
	}
}

// onPostgres connects to a server, and returns what runs a statement there.
func onPostgres(t *testing.T, dsn string) (conn *pgx.Conn, run func(sql string)) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	return conn, func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
}

// planOn returns what a server answers an EXPLAIN.
func planOn(t *testing.T, conn *pgx.Conn, explain string) string {
	t.Helper()
	rows, err := conn.Query(context.Background(), explain)
	if err != nil {
		t.Fatalf("%v\n%s", err, explain)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v\n%s", err, explain)
	}
	return strings.Join(plan, "\n")
}

// preparePostgres makes the table in a transaction that is rolled back, and has
// the server plan every statement there.
func preparePostgres(t *testing.T, dsn, version string, c tableCase, packages map[string]made) {
	ctx := context.Background()
	conn, run := onPostgres(t, dsn)
	run("BEGIN; CREATE SCHEMA qgen_plan_test; SET LOCAL search_path = qgen_plan_test, pg_catalog")
	catalog := readCase(t, c)
	for _, table := range catalog.Tables {
		if table.Schema != "" {
			run("CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{table.Schema}.Sanitize())
		}
	}
	if version == "10" || missing[c.name] != randomUUID {
		run(missing[c.name])
	}
	run(c.ddl)
	prepared, passed := map[string]bool{}, 0
	for what, p := range packages {
		if oldest, err := dialect.ParseVersion(strings.TrimPrefix(p.Engine, "PostgreSQL ")); err != nil {
			t.Fatal(err)
		} else if live, _ := dialect.ParseVersion(version); live.Less(oldest) {
			passed++
			continue
		}
		if p.Offset != nil {
			run(p.Offset.DDL)
		}
		for _, ddl := range sideTable(p.Package, prepared) {
			run(ddl)
		}
		for _, st := range p.Statements() {
			if prepared[p.Sampled(st.SQL)] {
				continue
			}
			prepared[p.Sampled(st.SQL)] = true
			run("SAVEPOINT statement")
			name := fmt.Sprintf("s%d", len(prepared))
			sd, err := conn.Prepare(ctx, name, p.Sampled(st.SQL))
			switch {
			case err != nil:
				t.Errorf("%s, %s: %v\n%s", what, st.Name, err, p.Sampled(st.SQL))
			case len(sd.ParamOIDs) != len(st.Args):
				t.Errorf("%s, %s takes %d arguments, %d are planned\n%s", what, st.Name, len(sd.ParamOIDs), len(st.Args), p.Sampled(st.SQL))
			case st.Rows != nil && len(sd.Fields) != len(st.Rows)+flags(p, st):
				t.Errorf("%s, %s returns %d columns, %d are planned\n%s", what, st.Name, len(sd.Fields), len(st.Rows), p.Sampled(st.SQL))
			default:
				// Planning folds constants, which parsing does not.
				explain := "EXPLAIN EXECUTE " + name
				if n := len(st.Args); n > 0 {
					explain += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
				}
				if _, err := conn.Exec(ctx, explain); err != nil {
					t.Errorf("%s, %s: %v\n%s", what, st.Name, err, p.Sampled(st.SQL))
				}
			}
			run("ROLLBACK TO SAVEPOINT statement; RELEASE SAVEPOINT statement")
		}
		if prepared[fmt.Sprint(p.Indexes)] {
			continue
		}
		prepared[fmt.Sprint(p.Indexes)] = true
		run("SAVEPOINT advice")
		for _, ddl := range p.adviceOfOtherNames() {
			run(strings.Replace(ddl, " CONCURRENTLY", "", 1))
		}
		p.verifiesAdvice(t, what, func(text string) []string {
			rows, err := conn.Query(ctx, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			found, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			return found
		})
		run("ROLLBACK TO SAVEPOINT advice")
	}
	if len(prepared) == 0 && passed == 0 {
		t.Error("no statement was seen")
	}
}

// flags is how many columns a statement returns before the fields of a job.
func flags(p made, st *Statement) int {
	if o := p.Offset; o != nil && o.Settles && (st == o.First || st == o.Next || st == o.Alike) {
		return 1
	}
	return 0
}

// adviceOfOtherNames returns the advice as somebody would write it who calls indexes otherwise.
func (m made) adviceOfOtherNames() []string {
	var all []string
	for i, ix := range m.Indexes {
		if ix.Have == "" {
			name := m.d.Ident(ix.Name)
			all = append(all, m.Sampled(strings.Replace(ix.DDL, "INDEX CONCURRENTLY "+name, fmt.Sprintf("INDEX CONCURRENTLY advice_%d", i), 1)))
			all[len(all)-1] = strings.Replace(all[len(all)-1], "INDEX "+m.Sampled(name), fmt.Sprintf("INDEX advice_%d", i), 1)
		}
	}
	return all
}

// verifiesAdvice reports whether Verify misses none of such indexes but those that it knows by
// their names alone, and a predicate of another kind.
func (m made) verifiesAdvice(t *testing.T, what string, ask func(text string) []string) {
	t.Helper()
	var byName []string
	for _, ix := range m.Indexes {
		if ix.Have == "" && ix.columns == "" {
			byName = append(byName, m.Sampled(ix.Name))
		}
	}
	for _, check := range m.Verify.Checks {
		if !strings.HasPrefix(check.Statement.Name, "verify_index") {
			continue
		}
		text := m.Sampled(check.Statement.SQL)
		for _, found := range ask(text) {
			if !slices.ContainsFunc(byName, func(name string) bool { return strings.HasPrefix(found, "index "+name+" ") }) {
				t.Errorf("%s: %s\n%s", what, found, text)
			}
		}
	}
}

// firstColumn returns what a query finds, one text a row.
func firstColumn(t *testing.T, db *sql.DB, text string) []string {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer func() { _ = rows.Close() }()
	var found []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		found = append(found, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return found
}

// sideTable returns the DDL of a package's side table that was not made before.
func sideTable(p *Package, made map[string]bool) []string {
	if p.LeaseTable == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.LeaseTable.DDL), func(ddl string) bool {
		was := made[ddl]
		made[ddl] = true
		return was
	})
}

func TestStatementsOnSQLite(t *testing.T) {
	for _, c := range tableCases(t) {
		if c.engine != "sqlite" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			db, err := sql.Open("sqlite", ":memory:")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			db.SetMaxOpenConns(1)
			if _, err := db.Exec(c.ddl); err != nil {
				t.Fatal(err)
			}
			seen, made := 0, map[string]bool{}
			for what, p := range c.variants(t, []string{"3.35", "3.38", "3.41"}) {
				if p.Offset != nil {
					if _, err := db.Exec(p.Offset.DDL); err != nil {
						t.Fatal(err)
					}
				}
				for _, ddl := range sideTable(p.Package, made) {
					if _, err := db.Exec(ddl); err != nil {
						t.Fatalf("%s: %v\n%s", what, err, ddl)
					}
				}
				for _, st := range p.Statements() {
					seen++
					var first any
					if err := db.QueryRow("EXPLAIN "+p.Sampled(st.SQL), make([]any, len(st.Args))...).Scan(&first, new(any), new(any), new(any), new(any), new(any), new(any), new(any)); err != nil {
						t.Errorf("%s, %s: %v\n%s", what, st.Name, err, p.Sampled(st.SQL))
					}
				}
				if _, err := db.Exec("SAVEPOINT advice; " + strings.Join(append(p.adviceOfOtherNames(), ""), ";\n")); err != nil {
					t.Errorf("%s: %v\n%s", what, err, p.adviceOfOtherNames())
				}
				p.verifiesAdvice(t, what, func(text string) []string { return firstColumn(t, db, text) })
				if _, err := db.Exec("ROLLBACK TO advice; RELEASE advice"); err != nil {
					t.Fatal(err)
				}
				for _, check := range p.Verify.Checks {
					if strings.HasPrefix(check.Statement.Name, "verify_index") {
						continue // the advice is gone
					}
					ask := func(now time.Time) (wrong string, err error) {
						var args []any
						for _, a := range check.Statement.Args {
							args = append(args, now.Format(a.Field.Layout))
						}
						err = db.QueryRow(p.Sampled(check.Statement.SQL), args...).Scan(&wrong)
						return wrong, err
					}
					if wrong, err := ask(time.Now()); !errors.Is(err, sql.ErrNoRows) {
						t.Errorf("%s, %s: %q, %v\n%s", what, check.Statement.Name, wrong, err, p.Sampled(check.Statement.SQL))
					}
					for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
						if wrong, err := ask(time.Now().Add(ahead)); err != nil && len(check.Statement.Args) > 0 {
							t.Errorf("%s, %s: of clocks %v apart: %q, %v", what, check.Statement.Name, ahead, wrong, err)
						}
					}
				}
			}
			if seen == 0 {
				t.Error("no statement was seen")
			}
		})
	}
}

// Rows are read from the advised index as it stands, also in the order of their numbers, and also where
// the server knows nothing of the rows and another index begins with what they are compared with.
func TestAdvisedIndexesAreRead(t *testing.T) {
	c := tableCase{engine: "sqlite"}
	for what, into := range map[string]*string{"schema.sql": &c.ddl, "qgen.yaml": &c.config} {
		text, err := os.ReadFile(filepath.Join("testdata/sqlite/indexes", what))
		if err != nil {
			t.Fatal(err)
		}
		*into = string(text)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(c.ddl); err != nil {
		t.Fatal(err)
	}
	packages := c.variants(t, nil)
	for _, name := range []string{"added", "latest", "chores"} {
		p := packages[name]
		if len(p.Indexes) != 1 {
			t.Fatalf("%s: %d indexes are advised", name, len(p.Indexes))
		}
		if _, err := db.Exec(p.Indexes[0].DDL); err != nil {
			t.Fatal(err)
		}
		if read := queryPlan(t, db, p.Claim.Statement.SQL, len(p.Claim.Statement.Args)); !strings.Contains(read, "INDEX "+p.Indexes[0].Name) || strings.Contains(read, "TEMP B-TREE FOR") {
			t.Errorf("%s:\n%s", name, read)
		}
	}
}

// Where the advised indexes stand, and the server knows nothing of the rows, what finds jobs reads by the index
// that its head names, and sorts nothing of which the head does not say it.
func TestHeadsNameWhatSQLiteReads(t *testing.T) {
	finds := regexp.MustCompile(`^(claim|claim_1|claim_pick|claim_lock|peek|recover|recover_failed)$`)
	existing := regexp.MustCompile(`^"?(\w+)"? \(`)
	for _, c := range tableCases(t) {
		if c.engine != "sqlite" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for what, p := range c.variants(t, []string{"3.38"}) {
				if p.Offset != nil {
					continue
				}
				db, err := sql.Open("sqlite", ":memory:")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = db.Close() }()
				db.SetMaxOpenConns(1)
				for _, text := range append([]string{c.ddl}, sideTable(p.Package, map[string]bool{})...) {
					if _, err := db.Exec(text); err != nil {
						t.Fatalf("%s: %v\n%s", what, err, text)
					}
				}
				advised := map[string]string{} // names by what heads say
				for _, ix := range p.Indexes {
					if ix.DDL == "" {
						continue
					}
					advised[strings.TrimPrefix(ix.On, p.spec.Table.QualifiedName()+" ")] = ix.Name
					if _, err := db.Exec(p.Sampled(ix.DDL)); err != nil {
						t.Fatalf("%s: %v\n%s", what, err, ix.DDL)
					}
				}
				for _, st := range p.Statements() {
					i := slices.IndexFunc(st.Head, func(line string) bool { return strings.HasPrefix(line, "index: ") })
					if i < 0 || !finds.MatchString(st.Name) || c.name == "sqlite/upsert" && st.Name == "claim_1" {
						continue // of the key alone, which another index gives with the time and a sort of one row
					}
					said, _, _ := strings.Cut(strings.TrimPrefix(st.Head[i], "index: "), "; until the schema")
					plan := queryPlan(t, db, p.Sampled(st.SQL), len(st.Args))
					index := advised[said]
					if name := existing.FindStringSubmatch(said); name != nil {
						index = name[1]
					}
					if name, _, found := strings.Cut(said, "; "); found && index == "" {
						index = advised[name]
					}
					if _, rival, found := strings.Cut(said, "the server may take "); found {
						index, _, _ = strings.Cut(rival, ",")
					}
					if index != "" && !strings.HasSuffix(said, byArgument) && !regexp.MustCompile(`(?i)INDEX `+p.Sampled(index)+`\b`).MatchString(plan) {
						t.Errorf("%s: the head of %s says %q, and it reads\n%s", what, st.Name, said, plan)
					}
					if together(st.SQL) != st.SQL {
						continue // of the nulls and of the others up to the limit are sorted, not all that are ready
					}
					if strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") && !strings.Contains(said, "sort") {
						t.Errorf("%s: the head of %s says %q, and it sorts\n%s", what, st.Name, said, plan)
					}
				}
			}
		})
	}
}

// Rows of other jobs are found by the index that the head names, also where SQL says more of them.
func TestOtherRowsAreFoundOnSQLite(t *testing.T) {
	named := regexp.MustCompile(`; of the other rows "?(\w+)"? \(`)
	seen := 0
	for _, c := range tableCases(t) {
		if c.engine != "sqlite" {
			continue
		}
		for what, p := range c.variants(t, []string{"3.38"}) {
			for _, st := range p.Statements() {
				name := named.FindStringSubmatch(strings.Join(st.Head, "\n"))
				if name == nil {
					continue
				}
				db, err := sql.Open("sqlite", ":memory:")
				if err != nil {
					t.Fatal(err)
				}
				db.SetMaxOpenConns(1)
				if _, err := db.Exec(c.ddl); err != nil {
					t.Fatal(err)
				}
				seen++
				plan := queryPlan(t, db, p.Sampled(st.SQL), len(st.Args))
				if !regexp.MustCompile(`SEARCH ` + p.spec.Table.Name + ` USING .*INDEX ` + name[1] + `\b`).MatchString(plan) {
					t.Errorf("%s, %s: the head of %s says %s, and it reads\n%s", c.name, what, st.Name, name[0], plan)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d statements were seen", seen)
	}
}

// Where the schema has the advised indexes as well, what finds jobs reads by the index that its head names and
// sorts nothing of which the head does not say it, whatever the statistics make of other indexes.
func TestIndexesAreNamedOnSQLite(t *testing.T) {
	finds := regexp.MustCompile(`^(claim|claim_1|claim_pick|claim_lock|peek|recover(_failed)?(_lock)?)$`)
	existing := regexp.MustCompile(`^"?(\w+)"? \(`)
	named := map[string]int{}
	for _, c := range tableCases(t) {
		if c.engine != "sqlite" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			versions := []string{"3.35", "3.38"}
			for what, before := range c.variants(t, versions) {
				if before.Offset != nil {
					continue
				}
				adopted := c
				for _, ix := range before.Indexes {
					if ix.DDL != "" {
						adopted.ddl += ";\n" + ix.DDL
					}
				}
				p, ok := adopted.variants(t, versions)[what]
				if !ok {
					t.Fatalf("%s: nothing is planned once the advice is in the schema", what)
				}
				db, err := sql.Open("sqlite", ":memory:")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = db.Close() }()
				db.SetMaxOpenConns(1)
				for _, text := range append([]string{p.Sampled(adopted.ddl)}, sideTable(p.Package, map[string]bool{})...) {
					if _, err := db.Exec(text); err != nil {
						t.Fatalf("%s: %v\n%s", what, err, text)
					}
				}
				for _, st := range p.Statements() {
					i := slices.IndexFunc(st.Head, func(line string) bool { return strings.HasPrefix(line, "index: ") })
					if i < 0 || !finds.MatchString(st.Name) {
						continue
					}
					said := strings.TrimPrefix(st.Head[i], "index: ")
					text := p.Sampled(st.SQL)
					byName := regexp.MustCompile(`INDEXED BY "?(\w+)"?`).FindStringSubmatch(text)
					adverse := ""
					if byName != nil {
						adverse = byName[1]
						named[strings.SplitN(st.Name, "_", 2)[0]]++
					}
					mislead(t, db, p.spec.Table.Name, adverse)
					plan := queryPlan(t, db, text, len(st.Args))
					names := strings.HasPrefix(st.Name, "recover") || strings.Contains(text, "ORDER  BY") // what is in any order nothing sorts
					if name := existing.FindStringSubmatch(said); names && name != nil && (byName == nil || byName[1] != name[1]) && !strings.Contains(said, "may take") && !strings.Contains(said, "sorted") && !strings.Contains(said, "reads others") {
						t.Errorf("%s: the head of %s says %q, which the statement does not name\n%s", what, st.Name, said, text)
					}
					if byName != nil && !regexp.MustCompile(`(?i)INDEX `+byName[1]+`\b`).MatchString(plan) {
						t.Errorf("%s: %s reads\n%s\n%s", what, st.Name, plan, text)
					}
					if together(st.SQL) == st.SQL && strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") && !strings.Contains(said, "sort") {
						t.Errorf("%s: the head of %s says %q, and it sorts\n%s", what, st.Name, said, plan)
					}
				}
			}
		})
	}
	for _, what := range []string{"claim", "peek", "recover"} {
		if named[what] == 0 {
			t.Errorf("no %s names an index", what)
		}
	}
}

// mislead has the statistics of a table say that each index but one finds a single row, and that one every row.
func mislead(t *testing.T, db *sql.DB, table, index string) {
	t.Helper()
	for _, text := range []string{
		"ANALYZE",
		"DELETE FROM sqlite_stat1",
		`INSERT INTO sqlite_stat1 SELECT l_table, name, CASE WHEN lower(name) = lower('` + index + `') THEN '1000000 1000000 100000 20000 5000 1000 1000' ELSE '1000000 2 2 2 2 2' END
		 FROM (SELECT tbl_name AS l_table, name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '` + table + `' COLLATE NOCASE)`,
		"ANALYZE sqlite_schema",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
}

// queryPlan returns how SQLite would run a statement.
func queryPlan(t *testing.T, db *sql.DB, text string, args int) string {
	t.Helper()
	rows, err := db.Query("EXPLAIN QUERY PLAN "+text, make([]any, args)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	for rows.Next() {
		var step string
		if err := rows.Scan(new(any), new(any), new(any), &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// Verify takes an index by its columns and its predicate, whatever it is called, and no other.
func TestVerifyKnowsIndexesByWhatTheyHold(t *testing.T) {
	const table = "(id integer PRIMARY KEY, state varchar(9) NOT NULL, grade int NOT NULL, kind int NOT NULL)"
	for _, tt := range []struct {
		engine, live, drop string
		other, same        []string // what stands behind the table
	}{
		{"sqlite", "", "DROP INDEX mine",
			[]string{"(grade, id)", "(grade) WHERE state = 'done'", "(grade, kind) WHERE state = 'new'", "(grade DESC, id) WHERE state = 'new'", "(id, grade) WHERE state = 'new'"},
			[]string{"(grade) WHERE state = 'new'", "(grade, id, kind)\n\tWHERE ( \"state\" = 'new' )"}},
		{"postgresql", "postgres18", "DROP INDEX mine",
			[]string{"(grade, id)", "(grade) WHERE state = 'new'", "(grade, id) WHERE state = 'done'", "(grade, id DESC) WHERE state = 'new'", "(grade, (id + 1), id) WHERE state = 'new'"},
			[]string{"(grade, id) WHERE state = 'new'", "(grade, id, kind) WHERE (state = 'new')"}},
		{"mysql", "mysql97", "DROP INDEX mine ON jobs",
			[]string{"(state, id)", "(grade, state, id)", "(state(3), grade)", "(state, grade, kind)", "(state, grade DESC)"},
			[]string{"(state, grade)", "(state, grade, id, kind)"}},
	} {
		t.Run(tt.engine, func(t *testing.T) {
			c := tableCase{engine: tt.engine, ddl: "CREATE TABLE jobs " + table}
			plans := c.plans(t, fmt.Sprintf(`
version: "1"
queues:
  - schema: [x]
    engine: %s
    table: jobs
    columns: {state: ["status ready=new running=busy done=done"], grade: ["priority asc"]}
    gen: {go: {out: x}}
`, tt.engine))
			if len(plans) != 1 {
				t.Fatalf("%d plans", len(plans))
			}
			var check *Statement
			for _, v := range plans[0].Verify.Checks {
				if v.Statement.Name == "verify_index" {
					check = v.Statement
				}
			}
			run, ask := verifier(t, tt.engine, tt.live)
			run(c.ddl)
			for _, list := range []struct {
				indexes []string
				take    bool
			}{{tt.other, false}, {tt.same, true}} {
				for _, index := range list.indexes {
					run("CREATE INDEX mine ON jobs " + index)
					if found := ask(check.SQL); (len(found) == 0) != list.take {
						t.Errorf("of %s it says %q\n%s", index, found, check.SQL)
					}
					run(tt.drop)
				}
			}
		})
	}
}

// verifier opens a database of the test's own.
func verifier(t *testing.T, engine, live string) (run func(text string), ask func(text string) []string) {
	t.Helper()
	var db *sql.DB
	var err error
	switch engine {
	case "sqlite":
		db, err = sql.Open("sqlite", ":memory:")
	case "postgresql":
		db, err = sql.Open("pgx", servers.DSN(t, live))
	case "mysql":
		db, _ = ownMySQL(t, servers.DSN(t, live))
	}
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	run = func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if engine == "postgresql" {
		place := servers.Create(t, db, "SCHEMA")
		run("SET search_path = " + place)
	}
	return run, func(text string) []string { return firstColumn(t, db, text) }
}
