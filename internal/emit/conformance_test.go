package emit

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/internal/code"
	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/test/servers"
)

// emitModule writes the package into a module of its own that has the drivers,
// together with test files that belong beside it, and returns its folder.
func emitModule(t *testing.T, p *plan.Package, more map[string]string) string {
	t.Helper()
	files, err := new(Emitter).Files(p)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(mod, []byte("module example.com/app")))
	write(t, filepath.Join(dir, "go.sum"), sum)
	for _, f := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.Path)), f.Data)
	}
	for name, text := range more {
		write(t, filepath.Join(dir, p.Out, name), []byte(text))
	}
	return filepath.Join(dir, p.Out)
}

// runConformance runs the emitted test in dir with a setting of the
// environment, and returns what it says.
func runConformance(t *testing.T, dir, setting string) (string, error) {
	t.Helper()
	cmd := exec.Command("go", "test", "-count=1", "-v", "-run=Conformance")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOPROXY=off", setting)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// sqliteFile makes a database with the fixture's table and returns its DSN.
func sqliteFile(t *testing.T, schema string) string {
	t.Helper()
	dsn := "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "test.db")) +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ddl, err := os.ReadFile(filepath.Join("testdata", "schema", schema))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(context.Background(), string(ddl)); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// postgresSchema makes a schema with the fixture's table, which goes away with
// the test, and returns a DSN for it.
func postgresSchema(t *testing.T, schema string) string {
	t.Helper()
	dsn := servers.Postgres(t, "15")
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	run := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	name := "emit_" + strings.ToLower(regexp.MustCompile(`\W`).ReplaceAllString(t.Name(), "_"))
	ddl, err := os.ReadFile(filepath.Join("testdata", "schema", schema))
	if err != nil {
		t.Fatal(err)
	}
	run("DROP SCHEMA IF EXISTS " + name + " CASCADE; CREATE SCHEMA " + name)
	t.Cleanup(func() { run("DROP SCHEMA " + name + " CASCADE") })
	run("SET search_path = " + name + ";" + string(ddl) + "; RESET search_path")
	mark := "?"
	if strings.Contains(dsn, "?") {
		mark = "&"
	}
	return dsn + mark + "search_path=" + name
}

// withConformance completes a fixture with what the test needs.
func withConformance(p *plan.Package) *plan.Package {
	p.Conformance = true
	if p.Stats == nil {

		p.Stats = &plan.Stats{Doc: doc("Stats counts the rows."), Fields: []plan.StatsField{{Name: "Rows", GoType: "int64", Doc: "rows"}},
			Statement: stmt("stats", `
		SELECT count(*) FROM `+p.Table, nil)}
	}
	return p
}

// popAdds is the fixture pop with an Enqueue.
func popAdds() *plan.Package {
	p := pop()
	host := p.Fields[1]
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a ping."), ManyDoc: doc("EnqueueMany adds pings."), Fields: []*plan.Field{host},
		One: stmt("enqueue", `
		INSERT INTO pings (host) VALUES (?) RETURNING id`, p.Key, newArg(host)),
	}
	return p
}

// shardAdds is the fixture shard with an Enqueue.
func shardAdds() *plan.Package {
	p := shard()
	path := p.Fields[0]
	p.Enqueue = &plan.Enqueue{
		Doc: doc("Enqueue adds a file."), ManyDoc: doc("EnqueueMany adds files."), Fields: []*plan.Field{path}, KeyGiven: true,
		One: stmt("enqueue", `
		INSERT INTO files (path, hash_code) VALUES ($1, length($1::bytea) + ascii(right(encode($1::bytea, 'escape'), 1)))`, nil, newArg(path)),
	}
	return p
}

// TestConformanceText compares the emitted test with the files that are kept
// for reading, one for each shape.
func TestConformanceText(t *testing.T) {
	for _, p := range []*plan.Package{emailPostgreSQL("emailpgx", plan.PGX), hold("holdpq", plan.DatabaseSQL), shardAdds(), popAdds()} {
		w := newWriter(withConformance(p))
		text, err := w.conformanceFile().Render(new(code.Formatter))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, filepath.Join("testdata", "conformance", p.Name+".go.golden"), text)
	}
}

// The test says which columns have a check that it does not know how to meet.
func TestConformanceUnmet(t *testing.T) {
	p := withConformance(popAdds())
	p.Enqueue.Fields[0].Sample.Unmet = "host ~ '^a%b'"
	text, err := newWriter(p).conformanceFile().Render(new(code.Formatter))
	if err != nil {
		t.Fatal(err)
	}
	if want := "Column host needs a value of yours, by its CHECK (host ~ '^a%%b')."; !strings.Contains(string(text), want) {
		t.Errorf("the test does not say %q", want)
	}
}

// TestConformance runs the emitted test on the databases of the fixtures.
func TestConformance(t *testing.T) {
	sqlite := `import _ "modernc.org/sqlite"`
	stdlib := `import _ "github.com/jackc/pgx/v5/stdlib"`
	full := []string{"Job", "Empty", "Exclusive", "Limit", "Order", "Fence", "Requeue", "Rollback"}
	for _, c := range []struct {
		plan     *plan.Package
		database func(t *testing.T, schema string) string
		schema   string
		own      string // of the test file beside it
		proofs   []string
	}{
		{emailSQLite(), sqliteFile, "email_sqlite.sql", sqlite, full},
		{popAdds(), sqliteFile, "pings_sqlite.sql", sqlite, []string{"Job", "Empty", "Exclusive", "Limit", "Order", "Rollback"}},
		{emailPostgreSQL("emailpgx", plan.PGX), postgresSchema, "email_postgresql.sql", "", full},
		{emailPostgreSQL("emailpq", plan.DatabaseSQL), postgresSchema, "email_postgresql.sql", stdlib, full},
		{withResult("resultpgx", plan.PGX), postgresSchema, "sums_postgresql.sql", "", []string{"Job", "Empty", "Exclusive", "Limit", "Fence", "Rollback"}},
		{hold("hold", plan.PGX), postgresSchema, "mails_postgresql.sql", "", []string{"Job", "Empty", "Exclusive", "Limit", "Order", "Hold"}},
		{hold("holdpq", plan.DatabaseSQL), postgresSchema, "mails_postgresql.sql", stdlib, []string{"Job", "Empty", "Exclusive", "Limit", "Order", "Hold"}},
		{shardAdds(), postgresSchema, "files_postgresql.sql", stdlib, []string{"Job", "Empty", "Exclusive", "Limit", "Order", "Fence"}},
	} {
		t.Run(c.plan.Name, func(t *testing.T) {
			dsn := c.database(t, c.schema)
			dir := emitModule(t, withConformance(c.plan), map[string]string{"own_test.go": "package " + c.plan.Name + "\n\n" + c.own + "\n"})
			variable := strings.ToUpper(c.plan.Name) + "_TEST_DSN="
			out, err := runConformance(t, dir, variable+dsn)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, p := range c.proofs {
				if !strings.Contains(out, "--- PASS: TestConformance/"+p+" ") {
					t.Errorf("no proof %s in\n%s", p, out)
				}
			}
			if n := strings.Count(out, "--- PASS: TestConformance/"); n != len(c.proofs) {
				t.Errorf("%d proofs, not %d, in\n%s", n, len(c.proofs), out)
			}
		})
	}
}

// TestConformanceSkips shows when the emitted test does not run.
func TestConformanceSkips(t *testing.T) {
	p := withConformance(emailSQLite())
	p.Purges = nil
	driver := "package emaillite\n\nimport _ \"modernc.org/sqlite\"\n"
	dsn := sqliteFile(t, "email_sqlite.sql")
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO email_outbox (kind, body) VALUES ('a', '{}')`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ own, dsn, result, says string }{
		{driver, "", "SKIP", "EMAILLITE_TEST_DSN is not set"},
		{driver, dsn, "SKIP", "the table email_outbox is not empty: the test touches no rows but its own"},
		{"package emaillite\n", dsn, "FAIL", "there is no driver: import one in a test file of your own"},
	} {
		dir := emitModule(t, p, map[string]string{"own_test.go": c.own})
		out, err := runConformance(t, dir, "EMAILLITE_TEST_DSN="+c.dsn)
		if (err != nil) != (c.result == "FAIL") || !strings.Contains(out, "--- "+c.result+": TestConformance ") || !strings.Contains(out, c.says) {
			t.Errorf("want %s, %s; got %v\n%s", c.result, c.says, err, out)
		}
	}
	var state string
	if err := db.QueryRow(`SELECT state FROM email_outbox`).Scan(&state); err != nil || state != "N" {
		t.Errorf("the row of another is in state %q, %v", state, err)
	}
}

// A conformance test without the operations that it needs is an error.
func TestConformanceNeeds(t *testing.T) {
	p := pop()
	p.Conformance = true
	if _, err := new(Emitter).Files(p); err == nil || err.Error() != "emit: pop: a conformance test needs Claim, Enqueue and Stats" {
		t.Error(err)
	}
}

// Where the number of tries is the fence, giving a job back hands the number
// on, and the test cannot ask for more.
func TestConformanceOfTries(t *testing.T) {
	for _, c := range []struct {
		fence func(p *plan.Package) *plan.Field
		asks  bool
	}{
		{func(p *plan.Package) *plan.Field { return p.Fence[0] }, true},
		{func(p *plan.Package) *plan.Field { return p.Attempts.Field }, false},
	} {
		p := withConformance(emailSQLite())
		p.Fence = []*plan.Field{c.fence(p)}
		w := newWriter(p)
		text, err := w.conformanceFile().Render(new(code.Formatter))
		if err != nil {
			t.Fatal(err)
		}
		if asks := strings.Contains(string(text), "that another holds by now"); asks != c.asks {
			t.Errorf("with the fence %s the test asks for it: %v", p.Fence[0].Name, asks)
		}
	}
}

// Texts that tell jobs apart fit their columns.
func TestConformanceOfShortTexts(t *testing.T) {
	for most, want := range map[int]string{0: `fmt.Sprintf("job %d", i)`, 4: "strconv.Itoa(i)", 8: `fmt.Sprintf("job %d", i)`} {
		p := withConformance(emailSQLite())
		f := &plan.Field{Column: "code", Name: "Code", Param: "code", GoType: "string", Unique: true, Most: most}
		p.Enqueue.Fields = append(slices.Clone(p.Enqueue.Fields), f)
		text, err := newWriter(p).conformanceFile().Render(new(code.Formatter))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), f.Name+": "+want) {
			t.Errorf("a text of %d characters is not %s:\n%s", most, want, text)
		}
	}
}

// What its caller says of a job that is to be ready, the test says.
func TestConformanceOfReadyJobs(t *testing.T) {
	for want, f := range map[string]*plan.Field{
		`Kind: "pending"`:      {GoType: "string", Sample: plan.Sample{Ready: "pending", Values: []string{"draft", "pending"}}},
		"Kind: int16(7)":       {GoType: "int16", Optional: false, Sample: plan.Sample{Ready: "7"}},
		"kindValue := true\n":  {GoType: "bool", Optional: true, Sample: plan.Sample{Ready: "true"}},
		"kindValue := false\n": {GoType: "bool", Optional: true, Sample: plan.Sample{Ready: "0"}},
	} {
		p := withConformance(emailSQLite())
		f.Column, f.Name, f.Param = "kind", "Kind", "kind"
		p.Enqueue.Fields = append(slices.Clone(p.Enqueue.Fields), f)
		text, err := newWriter(p).conformanceFile().Render(new(code.Formatter))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("the test does not say %s:\n%s", want, text)
		}
	}
}

// Bytes are as long as the column that fills up shorter ones, which would not be those that
// were sent.
func TestConformanceOfFilledBytes(t *testing.T) {
	for want, f := range map[string]*plan.Field{
		`Code: fmt.Appendf(nil, "%0*d", 16, i)`: {Unique: true, Most: 16, FillsUp: true},
		`Code: fmt.Appendf(nil, "job %d", i)`:   {Unique: true, Most: 16},
		`Code: fmt.Appendf(nil, "%d", i)`:       {Unique: true, Most: 4},
		`Code: []byte("aaaa")`:                  {Most: 4, FillsUp: true},
		`Code: []byte("a")`:                     {Most: 4},
	} {
		f.Column, f.Name, f.Param, f.GoType = "code", "Code", "code", "[]byte"
		p := withConformance(emailSQLite())
		p.Enqueue.Fields = append(slices.Clone(p.Enqueue.Fields), f)
		text, err := newWriter(p).conformanceFile().Render(new(code.Formatter))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s:\n%s", want, text)
		}
	}
}
