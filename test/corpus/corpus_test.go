// Package corpus holds queue tables of public projects, as their owners have them,
// with annotations. What the emitted packages promise runs here on every server at
// hand: each package has the test that qgen emits on request, and this test gives it
// an empty copy of its table.
package corpus

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
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
	"go.yaml.in/yaml/v3"
	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/test/servers"
)

// entry is a queue of qgen.yaml.
type entry struct {
	Schema []string
	Engine string
	Server string
	Gen    struct {
		Go struct{ Package, Out string }
	}
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
	text, err := os.ReadFile("qgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct{ Queues []entry }
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Queues) == 0 {
		t.Fatal("qgen.yaml lists no queue")
	}
	bin := t.TempDir()
	for _, e := range config.Queues {
		if live[e.Engine] == nil {
			continue
		}
		t.Run(e.Gen.Go.Package, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(bin, e.Gen.Go.Package)
			if out, err := exec.Command("go", "test", "-c", "-o", program, "./"+e.Gen.Go.Out).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, server := range live[e.Engine] {
				t.Run(server, func(t *testing.T) { e.prove(t, program, server) })
			}
		})
	}
}

// prove creates the table in a place of its own and runs the package's test there.
func (e *entry) prove(t *testing.T, program, server string) {
	dsn := place(t, e.Engine, server)
	db := open(t, e.Engine, dsn)
	ddl := e.Schema
	if advice := filepath.Join(e.Gen.Go.Out, "schema", "indexes.sql"); exists(advice) {
		ddl = append(slices.Clone(ddl), advice)
	}
	if seed := filepath.Join(filepath.Dir(e.Schema[0]), "seed.sql"); exists(seed) {
		ddl = append(slices.Clone(ddl), seed) // the rows that foreign keys ask for
	}
	for _, file := range ddl {
		for _, statement := range statements(t, file) {
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v\n%s", file, err, statement)
			}
		}
	}
	test := exec.Command(program, "-test.v", "-test.run", "^TestConformance$")
	test.Dir = e.Gen.Go.Out
	test.Env = append(os.Environ(), strings.ToUpper(e.Gen.Go.Package)+"_TEST_DSN="+dsn)
	out, err := test.CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^--- PASS: TestConformance `).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// statements splits a script. A function's body has semicolons of its own and stands
// between $$; a trigger's ends with END.
func statements(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	var now strings.Builder
	for line := range strings.SplitAfterSeq(string(text), "\n") {
		if now.Len() == 0 && (strings.HasPrefix(line, "--") || strings.TrimSpace(line) == "") {
			continue
		}
		now.WriteString(line)
		bare := regexp.MustCompile(`--.*`).ReplaceAllString(line, "")
		within := strings.Count(now.String(), "$$")%2 == 1 ||
			regexp.MustCompile(`(?i)^create trigger[^;]*\bbegin\b`).MatchString(now.String()) && !strings.HasPrefix(strings.ToLower(line), "end")
		if strings.HasSuffix(strings.TrimSpace(bare), ";") && !within {
			all = append(all, now.String())
			now.Reset()
		}
	}
	if strings.TrimSpace(now.String()) != "" {
		t.Fatalf("%s: no semicolon ends %q", file, now.String())
	}
	return all
}

// place returns the DSN of an empty place that goes away with the test.
func place(t *testing.T, engine, server string) string {
	t.Helper()
	name := fmt.Sprintf("corpus_%08x", rand.Uint32())
	switch engine {
	case "sqlite":
		return "file:" + filepath.Join(t.TempDir(), "queue.db") + "?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_txlock=immediate"
	case "postgresql":
		// A database of its own: some tables bring schemas of theirs.
		dsn := servers.DSN(t, server)
		create(t, engine, dsn, name)
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/" + name
		return u.String()
	}
	config, err := mysql.ParseDSN(servers.DSN(t, server))
	if err != nil {
		t.Fatal(err)
	}
	create(t, engine, config.FormatDSN(), name)
	config.DBName = name
	return config.FormatDSN()
}

// create makes a database.
func create(t *testing.T, engine, dsn, name string) {
	t.Helper()
	admin := open(t, engine, dsn)
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
}

func open(t *testing.T, engine, dsn string) *sql.DB {
	t.Helper()
	driver := map[string]string{"postgresql": "pgx", "sqlite": "sqlite"}[engine]
	if driver == "" {
		driver = "mysql"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
