package queue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// A case is testdata/NAME.sql, for another engine NAME.ENGINE.sql, with NAME.yaml
// beside it or without; NAME.golden is what Bind makes of it, or every
// complaint. Without a configuration each annotated table is bound for itself.
// UPDATE_GOLDEN=1 writes the goldens.
func TestBind(t *testing.T) {
	for _, path := range cases(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".sql"), func(t *testing.T) {
			golden := strings.TrimSuffix(path, ".sql") + ".golden"
			got := bindFile(t, path)
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is not what Bind makes of it:\n%s", golden, got)
			}
			if again := bindFile(t, path); again != got {
				t.Errorf("a second run gives another result:\n%s", again)
			}
		})
	}
}

func cases(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	return paths
}

// bindFile returns the expansions and complaints of a case.
func bindFile(t *testing.T, path string) string {
	t.Helper()
	specs, errs := bindPath(t, path)
	var out []string
	for _, s := range specs {
		out = append(out, s.String())
	}
	if text := errs.Detail(); text != "" {
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func bindPath(t testing.TB, path string) ([]*Spec, *source.ErrorList) {
	t.Helper()
	engine := "postgresql"
	for e := range folds {
		if strings.HasSuffix(path, "."+e+".sql") {
			engine = e
		}
	}
	ddl, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	errs := &source.ErrorList{}
	var queues []*config.Queue
	if text, err := os.ReadFile(strings.TrimSuffix(path, ".sql") + ".yaml"); err == nil {
		queues = config.Parse(source.NewFile("qgen.yaml", text), errs).Queues
		if len(queues) == 0 {
			t.Fatalf("no queue entry:\n%s", errs.Detail())
		}
	}
	cat := read(t, engine, string(ddl), errs)
	if queues == nil {
		queues = entries(cat)
	}
	var specs []*Spec
	for _, q := range queues {
		specs = append(specs, Bind(cat, q, folds[engine], errs)...)
	}
	return specs, errs
}

// folds is how the databases fold unquoted names.
var folds = map[string]func(string) string{
	"oracle":     strings.ToUpper,
	"postgresql": strings.ToLower,
	"sqlite":     func(name string) string { return name },
	"mysql":      func(name string) string { return name },
	"mssql":      func(name string) string { return name },
}

func read(t testing.TB, engine, ddl string, errs *source.ErrorList) *schema.Catalog {
	t.Helper()
	cat, err := schema.Read(engine, []*source.File{source.NewFile("schema.sql", []byte(ddl))}, errs)
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// entries returns an entry for each annotated table.
func entries(cat *schema.Catalog) []*config.Queue {
	var queues []*config.Queue
	for _, table := range cat.Tables {
		if isAnnotated(table) {
			queues = append(queues, &config.Queue{Table: config.String{Value: table.QualifiedName(), Pos: table.Pos}})
		}
	}
	if queues == nil {
		queues = []*config.Queue{{}}
	}
	return queues
}
