package generate

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/source"
)

// What a package does is seen on SQLite: testdata/run holds tests that are put into
// the packages of a case of plan, CASE/TABLE_test.go into that of the table, each with
// testdata/open_test.go. All of them run at once; -run TestRun/CASE makes those of one.
//
// They are linked into one program, as code of the packages that a single test calls:
// a hundred programs with a database in each cost more than all they do. Those that
// read files of their package or need its test, the environment or an init, are
// programs of their own.
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
	args := []string{"test", "-count=1", "-vet=off", "./" + filepath.Join(root, "all")}
	var all joined
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
				text, suffix := read(test), ".go"
				if alone.Match(text) {
					suffix, args = "_test.go", append(args, "./"+out)
				} else {
					all.add(out, text)
				}
				write(t, filepath.Join(out, "run"+suffix), text)
				head, _, _ := bytes.Cut(text, []byte("\n"))
				write(t, filepath.Join(out, "open"+suffix), bytes.Replace(read("testdata/open_test.go"), []byte("package run"), head, 1))
			}
			if tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go")); len(tests) != found {
				t.Errorf("%s has %d tests, for %d packages", dir, len(tests), found)
			}
		})
	}
	write(t, filepath.Join(root, "all", "all_test.go"), all.text())
	if text, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

var (
	alone    = regexp.MustCompile(`os\.ReadFile|t\.Setenv|_TEST_DSN|\nfunc init\(`)
	oneTest  = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	thisPath = "github.com/qgen-dev/qgen/internal/generate/"
)

// joined is the test that calls those of many packages.
type joined struct {
	imports, calls strings.Builder
	packages       int
}

func (j *joined) add(folder string, text []byte) {
	j.packages++
	fmt.Fprintf(&j.imports, "\tp%d %q\n", j.packages, thisPath+filepath.ToSlash(folder))
	for _, m := range oneTest.FindAllSubmatch(text, -1) {
		name := filepath.Base(filepath.Dir(folder)) + "/" + filepath.Base(folder) + "/" + string(m[1])
		fmt.Fprintf(&j.calls, "\t\t%q: p%d.%s,\n", name, j.packages, m[1])
	}
}

func (j *joined) text() []byte {
	return fmt.Appendf(nil, "package all\n\nimport (\n\t\"testing\"\n\n%s)\n\nfunc Test(t *testing.T) {\n"+
		"\tfor name, test := range map[string]func(*testing.T){\n%s\t} {\n"+
		"\t\tt.Run(name, func(t *testing.T) {\n\t\t\tt.Parallel()\n\t\t\ttest(t)\n\t\t})\n\t}\n}\n", &j.imports, &j.calls)
}
