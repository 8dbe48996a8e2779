// Package corpus holds queue tables of public projects, as their owners have them,
// with annotations. What the emitted packages promise runs here on every server at
// hand: each package has the test that qgen emits on request, and this test gives it
// an empty copy of its table.
package corpus

import (
	"database/sql"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/internal/generate"
	"github.com/qgen-dev/qgen/internal/source"
	"github.com/qgen-dev/qgen/test/servers"
)

// entry is an emitted package: its engine and name, its folder, and the DDL of its
// table.
type entry struct {
	engine, name, folder string
	schema               []string
}

// live are the servers on which packages of an engine run; the others are read by a
// strict parser when they are generated.
var live = map[string][]string{
	"postgresql": {"postgres13", "postgres18"},
	"mysql":      {"mysql97"},
	"mariadb":    {"mariadb1011"},
	"sqlite":     {"sqlite"},
}

// TestCorpus runs each package's own conformance test on the servers of its engine.
func TestCorpus(t *testing.T) {
	proveAll(t, ".", plan(t, "."))
}

// plan returns what the qgen.yaml of a folder makes.
func plan(t *testing.T, folder string) []*generate.Package {
	t.Helper()
	var errs source.ErrorList
	project, err := generate.Load(folder, "qgen.yaml", &errs)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := project.Plan(nil, &errs)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range errs.All() {
		t.Error(e)
	}
	if t.Failed() || len(packages) == 0 {
		t.Fatalf("%s gives %d packages", folder, len(packages))
	}
	return packages
}

// proveAll runs the packages that lie in a folder.
func proveAll(t *testing.T, folder string, packages []*generate.Package) {
	if testing.Short() {
		t.Skip("it compiles a program for each package")
	}
	bin := t.TempDir()
	for _, p := range packages {
		e := &entry{engine: p.Queue.Engine.Value, name: p.Plan.Name, folder: filepath.Join(folder, p.Plan.Out)}
		for _, file := range p.Queue.Schema {
			e.schema = append(e.schema, filepath.Join(folder, file.Value))
		}
		if live[e.engine] == nil || !p.Plan.Conformance {
			continue // of those without that test, lives_test.go shows what they do
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(bin, e.name)
			if out, err := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", program, "./"+e.folder).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, server := range live[e.engine] {
				t.Run(server, func(t *testing.T) { e.prove(t, program, server) })
			}
		})
	}
}

// prove creates the table in a place of its own and runs the package's test there. Hold goes
// first, and alone in another place: with a handful of rows and no statistics a server is
// most likely to sort instead of reading by the queue's index.
func (e *entry) prove(t *testing.T, program, server string) {
	ddl := e.schema
	if advice := filepath.Join(e.folder, "schema", "indexes.sql"); exists(advice) {
		ddl = append(slices.Clone(ddl), advice)
	}
	if seed := filepath.Join(filepath.Dir(e.schema[0]), "seed.sql"); exists(seed) {
		ddl = append(slices.Clone(ddl), seed) // the rows that foreign keys ask for
	}
	for _, which := range []string{"^TestConformance$/^Hold$", "^TestConformance$"} {
		driver, dsn := place(t, e.engine, server)
		create(t, servers.Open(t, driver, dsn, 1), ddl...)
		test := exec.Command(program, "-test.v", "-test.run", which)
		test.Dir = e.folder
		test.Env = append(os.Environ(), strings.ToUpper(e.name)+"_TEST_DSN="+dsn)
		out, err := test.CombinedOutput()
		if err != nil || !regexp.MustCompile(`(?m)^--- PASS: TestConformance `).Match(out) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// create runs files of SQL. Tables whose names are made at run time are those of channel 7.
func create(t testing.TB, db *sql.DB, files ...string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range servers.Statements(t, strings.ReplaceAll(string(text), "{{.Channel}}", "7")) {
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v\n%s", file, err, statement)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// place returns the DSN of an empty place that goes away with the test, and the driver
// that knows it.
func place(t testing.TB, engine, server string) (driver, dsn string) {
	t.Helper()
	switch engine {
	case "sqlite":
		return "sqlite", servers.SQLite(t)
	case "postgresql":
		// A database of its own: some tables bring schemas of theirs.
		dsn := servers.DSN(t, server)
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/" + servers.Create(t, servers.Open(t, "pgx", dsn, 1), "DATABASE")
		return "pgx", u.String()
	}
	dsn = servers.DSN(t, server)
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DBName = servers.Create(t, servers.Open(t, "mysql", dsn, 1), "DATABASE")
	return "mysql", config.FormatDSN()
}
