package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/qgen-dev/qgen/internal/generate"
)

// TestOthers does the same with tables whose packages nobody keeps, and compares how
// they are claimed with what docs/adaptation.md says.
func TestOthers(t *testing.T) {
	packages := plan(t, "others")
	compareAdaptation(t, packages)
	files, err := generate.Emit(packages)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll("others/_gen"); err != nil {
			t.Error(err)
		}
	})
	for _, f := range files {
		write(t, filepath.Join("others", f.Path), f.Data)
	}
	for _, p := range packages {
		if p.Queue.Engine.Value == "sqlite" {
			write(t, filepath.Join("others", p.Plan.Out, "driver_test.go"), fmt.Appendf(nil, "package %s\n\nimport _ \"modernc.org/sqlite\"\n", p.Plan.Name))
		}
	}
	t.Run("live", func(t *testing.T) { proveAll(t, "others", packages) })
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// compareAdaptation reads the rows of docs/adaptation.md: project, table, server,
// strategy, fence, score.
func compareAdaptation(t *testing.T, packages []*generate.Package) {
	t.Helper()
	text, err := os.ReadFile("../../docs/adaptation.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| [^|]+ \\| `([^|`]+)` \\| (\\w+) \\| `(\\w+)` \\| (\\w+) \\| [0-3] \\|").FindAllStringSubmatch(string(text), -1) {
		said[row[2]+" "+row[1]] = row[3] + ", " + row[4]
	}
	for _, p := range packages {
		key := p.Queue.Engine.Value + " " + p.Queue.Table.Value
		if is := p.Plan.Strategy + ", " + p.Plan.Guarantee.String(); said[key] != is {
			t.Errorf("docs/adaptation.md says of %s %q, it is %q", key, said[key], is)
		}
		delete(said, key)
	}
	for key := range said {
		t.Errorf("docs/adaptation.md has a row of %s, which others/qgen.yaml has not", key)
	}
}
