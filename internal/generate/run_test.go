package generate

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/source"
)

// What a package does is seen on SQLite: testdata/run holds tests that are put into
// the packages of a case of plan, CASE/TABLE_test.go into that of the table, each with
// testdata/open_test.go. All of them run at once; -run TestRun/CASE makes those of one.
func TestRun(t *testing.T) {
	cases, err := filepath.Glob("testdata/run/*")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	root := inModule(t, "_run")
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	args := []string{"test", "-count=1", "-vet=off"}
	for _, dir := range cases {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			from := filepath.Join("../plan/testdata/sqlite", filepath.Base(dir))
			ddl := filepath.Join(from, "schema.sql")
			found := 0
			for _, q := range entries(t, "qgen.yaml", read(filepath.Join(from, "qgen.yaml")), ddl) {
				test := filepath.Join(dir, q.Table.Value+"_test.go")
				if _, err := os.Stat(test); err != nil {
					continue
				}
				found++
				var errs source.ErrorList
				out := filepath.Join(root, filepath.Base(dir), q.Table.Value)
				for _, p := range planAgain(t, q, "database/sql", out, &errs) {
					files, err := new(emit.Emitter).Files(p)
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range files {
						write(t, f.Path, f.Data)
					}
				}
				if errs.Len() > 0 {
					t.Fatal(errs.Detail())
				}
				write(t, filepath.Join(out, "table.sql"), read(ddl))
				text := read(test)
				write(t, filepath.Join(out, "run_test.go"), text)
				head, _, _ := bytes.Cut(text, []byte("\n"))
				write(t, filepath.Join(out, "open_test.go"), bytes.Replace(read("testdata/open_test.go"), []byte("package run"), head, 1))
				args = append(args, "./"+out)
			}
			if tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go")); len(tests) != found {
				t.Errorf("%s has %d tests, for %d packages", dir, len(tests), found)
			}
		})
	}
	if text, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
