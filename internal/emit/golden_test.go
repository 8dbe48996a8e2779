package emit

import (
	"bytes"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/plan"
)

const goldenDir = "testdata/golden"

// TestGolden compares the package of every fixture with testdata/golden.
// UPDATE_GOLDEN=1 writes what is emitted now.
func TestGolden(t *testing.T) {
	all := fixtures()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			files, err := new(Emitter).Files(all[name])
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("UPDATE_GOLDEN") != "" {
				update(t, name, files)
			}
			emitted := map[string]bool{}
			for _, f := range files {
				emitted[f.Path] = true
				if formatted, err := format.Source(f.Data); strings.HasSuffix(f.Path, ".go") && (err != nil || !bytes.Equal(formatted, f.Data)) {
					t.Errorf("gofmt would write %s otherwise: %v", f.Path, err)
				}
				want, err := os.ReadFile(filepath.Join(goldenDir, f.Path))
				if err != nil {
					t.Error(err)
					continue
				}
				if !bytes.Equal(f.Data, want) {
					t.Errorf("%s differs from the golden file:\n%s", f.Path, firstDifference(string(f.Data), string(want)))
				}
			}
			for _, path := range goldenFiles(t, name) {
				if !emitted[path] {
					t.Errorf("golden file %s is not emitted", path)
				}
			}
		})
	}
	for _, e := range dirs(t) {
		if all[e] == nil {
			t.Errorf("testdata/golden/%s belongs to no fixture", e)
		}
	}
}

// TestGoldenVet compiles and vets every emitted package at once.
func TestGoldenVet(t *testing.T) {
	vet := exec.Command("go", "vet", "./"+goldenDir+"/...")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSameBytes emits everything twice.
func TestSameBytes(t *testing.T) {
	for name, p := range fixtures() {
		one, err := new(Emitter).Files(p)
		if err != nil {
			t.Fatal(err)
		}
		two, err := new(Emitter).Files(fixtures()[name])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(one, two, func(a, b File) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) }) {
			t.Errorf("%s: two runs differ", name)
		}
	}
}

// TestContradictions gives plans that cannot be written down.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(p *plan.Package)
		want  string
	}{
		{"isolation", func(p *plan.Package) { p.Isolation = "chaos" }, `emit: emailpq: isolation level "chaos" is not known`},
		{"transient", func(p *plan.Package) { p.Transient = plan.Transient{} }, "emit: emailpq: no error is known after which work may be tried again"},
		{"token", func(p *plan.Package) { p.Claim.Token = "dice" }, `emit: emailpq: token kind "dice" is not known`},
		{"argument", func(p *plan.Package) { p.Complete.Statement.Args[0].Kind = "wish" }, `emit: emailpq: complete: argument "wish" is not known`},
		{"delay", func(p *plan.Package) { p.Complete.Statement.Args[0].Kind = plan.ArgDelay }, "emit: emailpq: complete: no delay is known"},
		{"jobs", func(p *plan.Package) {
			p.Claim.Ladder, p.Claim.Statement.Args[0] = nil, batch(p.Fields[0])
		}, "emit: emailpq: claim: there are no jobs for the argument MsgID"},
		{"all jobs", func(p *plan.Package) {
			p.Claim.Ladder, p.Claim.Statement.Args[0] = nil, batchAll(p.Fields[0])
		}, "emit: emailpq: claim: there are no jobs for an argument"},
		{"low", func(p *plan.Package) { p.Claim.Low = &plan.Low{Field: p.Fields[0]} }, "emit: emailpq: a low bound is for claims of one statement without parameters"},
		{"flow", func(p *plan.Package) { p.Claim.Flow = plan.MarkRead }, `emit: emailpq: the claim lacks a statement or a token for its flow "mark"`},
		{"asked", func(p *plan.Package) { p.Claim.Accept = &plan.Accept{Most: 1} }, "emit: emailpq: a claim that asks of jobs reads them first, as Peek does"},
		{"fused", func(p *plan.Package) { p.Complete = nil }, "emit: emailpq: there is nothing to complete and claim"},
		{"names", func(p *plan.Package) { p.Fail.Statement.Name = "complete" }, "emit: emailpq: two statements are named complete"},
		{"sweep", func(p *plan.Package) { p.Redrive.Steps[0].Statement.Rows = p.Fields }, "emit: emailpq: redrive: the statement must return the key, or nothing"},
		{"rows", func(p *plan.Package) { p.Requeue.Statement.Rows = nil }, "emit: emailpq: requeue: the statement must return the key"},
		{"refreshed", func(p *plan.Package) { p.Extend.Statement.Rows = p.Key }, "emit: emailpq: extend: the statement must return LeaseTill"},
		{"stats", func(p *plan.Package) { p.Stats.Statement.Args = []plan.Arg{arg(plan.ArgDelay)} }, "emit: emailpq: stats: no delay is known"},
		{"code", func(p *plan.Package) { p.Fields[0].GoType = "][" }, "emit: job.go: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := emailPostgreSQL("emailpq", plan.DatabaseSQL)
			c.spoil(p)
			_, err := new(Emitter).Files(p)
			if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool { return strings.HasPrefix(line, c.want) }) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestHostileNames lets names of the schema try to leave the comments and tags
// that they stand in.
func TestHostileNames(t *testing.T) {
	const evil = "a\n*/ evil \"`\r\nevil()\t%d"
	p := emailSQLite()
	p.Table, p.Source = evil, evil
	p.Decodes[0].Field.Column = evil
	for _, f := range p.Fields {
		f.SQLType, f.Column = evil, evil
	}
	p.Status.Consts[0].Doc, p.Claim.Params[0].Doc = evil, evil
	p.Claim.Doc, p.Fields[0].Doc = []string{evil}, evil
	p.Claim.Statement.Head = []string{evil}
	p.Indexes[0].Why, p.Indexes[1].Have = evil, evil
	files, err := new(Emitter).Files(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".sql") {
			for line := range strings.SplitSeq(string(f.Data), "\n") {
				if strings.Contains(line, "evil") && !strings.HasPrefix(line, "--") || strings.Contains(line, "\r") {
					t.Errorf("%s: %q", f.Path, line)
				}
			}
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == "evil" {
				t.Errorf("%s: a name became code", f.Path)
			}
			return true
		})
	}
}

// update replaces the golden files of a fixture.
func update(t *testing.T, name string, files []File) {
	t.Helper()
	for _, path := range goldenFiles(t, name) {
		if err := os.Remove(filepath.Join(goldenDir, path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		path := filepath.Join(goldenDir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// goldenFiles lists the golden files of a fixture as they are emitted.
func goldenFiles(t *testing.T, name string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(filepath.Join(goldenDir, name), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		path, err = filepath.Rel(goldenDir, path)
		paths = append(paths, filepath.ToSlash(path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// dirs lists the folders of golden files.
func dirs(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got:  " + g[i] + "\nwant: " + w[i]
		}
	}
	return "one is longer than the other"
}
