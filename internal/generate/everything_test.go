package generate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Whatever the annotation language can say becomes a package that compiles:
// every table of the tests of queue and plan, through every driver of its
// server, with the worker loop and the conformance test.
func TestEverythingCompiles(t *testing.T) {
	compiler := newCompiler(t)
	compiled := 0
	for _, q := range everyQueue(t) {
		d, _ := dialect.Lookup(q.Engine.Value)
		for _, driver := range d.Drivers {
			var errs source.ErrorList
			for _, p := range planAgain(t, q, driver, "jobs", &errs) {
				if len(p.Imports) > 0 || p.Offset != nil {
					continue // the user's own package is not here; logs have no worker loop
				}
				if err := compiler.compile([]*Package{{Plan: p, Dialect: d}}); err != nil {
					t.Errorf("%s, table %s, %s: %v", q.Schema[0].Value, p.Table, driver, err)
				}
				compiled++
			}
		}
	}
	if compiled < 60 {
		t.Errorf("only %d packages: the cases of other packages are not found", compiled)
	}
	t.Logf("%d packages", compiled)
}

// inModule makes a folder for packages, which must lie within this module to find its
// drivers; it goes away with the test.
func inModule(t *testing.T, name string) string {
	t.Helper()
	root, err := os.MkdirTemp(".", name) //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return root
}

// write writes a file of a package, and the folders above it.
func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// everyQueue returns an entry for each annotated table of the tests of queue
// and plan.
func everyQueue(t *testing.T) []*config.Queue {
	t.Helper()
	var queues []*config.Queue
	paths, err := filepath.Glob("../queue/testdata/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "errors_") {
			continue
		}
		engine := "postgresql"
		if strings.HasSuffix(path, ".sqlite.sql") {
			engine = "sqlite"
		}
		if text, err := os.ReadFile(strings.TrimSuffix(path, ".sql") + ".yaml"); err == nil {
			queues = append(queues, entries(t, "qgen.yaml", text, path)...)
			continue
		}
		for _, table := range annotated(t, engine, path) {
			queues = append(queues, entries(t, "qgen.yaml", fmt.Appendf(nil,
				"version: \"1\"\nqueues:\n  - {schema: [x], engine: %s, table: %q, gen: {go: {out: x}}}\n", engine, table), path)...)
		}
	}
	plans, err := filepath.Glob("../plan/testdata/*/*/qgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range plans {
		if strings.Contains(path, "/errors/") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		queues = append(queues, entries(t, path, text, filepath.Join(filepath.Dir(path), "schema.sql"))...)
	}
	return queues
}

// entries parses a configuration whose schema is the file at path.
func entries(t *testing.T, name string, text []byte, path string) []*config.Queue {
	t.Helper()
	var errs source.ErrorList
	queues := config.Parse(source.NewFile(name, text), &errs).Queues
	if errs.Len() > 0 {
		t.Fatal(errs.Detail())
	}
	for _, q := range queues {
		q.Schema = []config.String{{Value: path}}
	}
	return queues
}

// annotated names the tables of a file that carry annotations.
func annotated(t *testing.T, engine, path string) []string {
	t.Helper()
	var names []string
	for _, table := range catalog(t, engine, path).Tables {
		comments := slices.Clone(table.Comments)
		for _, c := range table.Columns {
			comments = append(comments, c.Comments...)
		}
		if slices.ContainsFunc(comments, func(c schema.Comment) bool { return strings.Contains(c.Text, "qgen:") }) {
			names = append(names, table.QualifiedName())
		}
	}
	return names
}

// catalogsRead are those that catalog has read, by engine and path: the same is asked for by each
// driver and each table, and nobody changes it.
var catalogsRead = map[[2]string]*schema.Catalog{}

func catalog(t *testing.T, engine, path string) *schema.Catalog {
	t.Helper()
	key := [2]string{engine, path}
	if c := catalogsRead[key]; c != nil {
		return c
	}
	d, ok := dialect.Lookup(engine)
	if !ok {
		t.Fatalf("unknown engine %q", engine)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var errs source.ErrorList
	c, err := schema.Read(d.Grammar, []*source.File{source.NewFile(filepath.Base(path), text)}, &errs)
	if err != nil {
		t.Fatal(err)
	}
	catalogsRead[key] = c
	return c
}

// planAgain plans the queues of an entry for a driver; a table that the server
// cannot serve is passed over, since its complaint has a golden elsewhere.
func planAgain(t *testing.T, q *config.Queue, driver, out string, errs *source.ErrorList) []*plan.Package {
	t.Helper()
	changed := *q
	g := *q.Gen.Go
	g.SQLPackage = config.String{Value: driver, Pos: q.Pos}
	g.Out = config.String{Value: out, Pos: q.Pos}
	g.Worker = config.Flag{Value: true}
	changed.Gen.Go = &g
	d, _ := dialect.Lookup(q.Engine.Value)
	var packages []*plan.Package
	for _, spec := range queue.Bind(catalog(t, q.Engine.Value, q.Schema[0].Value), &changed, d.Fold, errs) {
		g.Worker.Value = spec.Log == nil // a group reads one batch at a time
		var working source.ErrorList
		p := plan.Build(spec, d, &changed, nil, &working)
		if p == nil { // Work has nothing to give for what its calls take
			g.Worker.Value = false
			p = plan.Build(spec, d, &changed, nil, errs)
		}
		if p != nil {
			p.Conformance = p.Enqueue != nil && p.Claim != nil
			packages = append(packages, p)
		}
	}
	if errs.Len() > 0 {
		t.Logf("%s: %v", q.Schema[0].Value, errs.Err())
	}
	return packages
}
