// Package arch holds no code. Its tests keep the order in which the packages
// of this module build on each other, as ARCHITECTURE.md draws it.
package arch

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/qgen-dev/qgen"

// chain is the direction: a package imports only what stands to its left.
// Packages in one cell do not know each other.
var chain = [][]string{
	{"internal/source", "internal/code"},
	{"internal/config", "internal/schema"},
	{"internal/queue"},
	{"internal/dialect"},
	{"internal/plan"},
	{"internal/emit"},
	{"internal/generate"},
	{"cmd/qgen"},
}

// reserved names what only some packages may import: each library is known in
// one place, and can be exchanged there.
var reserved = map[string][]string{
	module + "/templates":     {"internal/dialect"},
	"go/format":               {"internal/code"},
	"go.yaml.in/yaml":         {"internal/config", "internal/dialect"},
	"github.com/pganalyze":    {"internal/schema"},
	"github.com/sqlc-dev/":    {"internal/schema"},
	"github.com/spf13/cobra":  {"cmd/qgen"},
	"github.com/aymanbagabas": {"cmd/qgen", "internal/generate"},
	"github.com/jackc/pgx":    {},
	"modernc.org/sqlite":      {},
	"database/sql":            {},
	"golang.org/x/tools":      {"internal/emit"},
	"text/template":           {"internal/dialect"},
}

type listed struct {
	ImportPath string
	Dir        string
	Name       string
	Imports    []string // of the code itself; what tests import is free
}

// inside returns the path within the module and whether it is there.
func inside(path string) (string, bool) {
	return strings.CutPrefix(path, module+"/")
}

// rank returns the place of a package, or of the package whose folder it is in, within the chain.
func rank(path string) int {
	return slices.IndexFunc(chain, func(cell []string) bool {
		return slices.ContainsFunc(cell, func(p string) bool {
			return path == p || strings.HasPrefix(path, p+"/")
		})
	})
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Name,Imports", module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	seen := map[int]bool{}
	for _, p := range packages(t) {
		path, _ := inside(p.ImportPath)
		from := rank(path)
		if from < 0 {
			continue // reached below: a place outside the chain may not be imported from inside it
		}
		seen[from] = true
		for _, imported := range p.Imports {
			target, ours := inside(imported)
			if !ours || target == "templates" {
				continue
			}
			switch to := rank(target); {
			case to < 0:
				t.Errorf("%s imports %s, which has no place in the chain; give it one in this test and in ARCHITECTURE.md", path, target)
			case to > from:
				t.Errorf("%s imports %s, which stands to its right", path, target)
			case to == from && !sameTree(path, target):
				t.Errorf("%s imports %s, which stands beside it", path, target)
			}
		}
	}
	for i, cell := range chain {
		if !seen[i] {
			t.Errorf("no package of %v was found; the chain in this test is out of date", cell)
		}
	}
}

// sameTree reports whether one of the two folders is the other or holds it.
func sameTree(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

func TestLibrariesAreKnownInOnePlace(t *testing.T) {
	for _, p := range packages(t) {
		path, _ := inside(p.ImportPath)
		if rank(path) < 0 && path != "templates" {
			continue // tests, examples and emitted packages use what they like
		}
		for _, imported := range p.Imports {
			for library, users := range reserved {
				if !strings.HasPrefix(imported, library) {
					continue
				}
				if !slices.ContainsFunc(users, func(u string) bool { return path == u || strings.HasPrefix(path, u+"/") }) {
					t.Errorf("%s imports %s, which is for %v", path, imported, users)
				}
			}
		}
	}
}

// TestDialectsAreData looks for decisions on a dialect's name. The names are
// those of the folders in templates/; a comparison with one, in an if, a switch
// or a map lookup, belongs into that folder. The package that reads a database's
// grammar is the exception: it has to pick the parser.
func TestDialectsAreData(t *testing.T) {
	root := filepath.Join("..", "..")
	entries, err := os.ReadDir(filepath.Join(root, "templates"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		t.Fatal("templates/ holds no dialect")
	}
	isName := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return false
		}
		s, err := strconv.Unquote(lit.Value)
		return err == nil && slices.Contains(names, s)
	}
	files := token.NewFileSet()
	for _, folder := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			slash := filepath.ToSlash(path)
			if d.IsDir() {
				if d.Name() == "testdata" || strings.HasSuffix(slash, "internal/dialect") || strings.HasSuffix(slash, "internal/schema") {
					return fs.SkipDir
				}
				return nil
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					if (n.Op == token.EQL || n.Op == token.NEQ) && (isName(n.X) || isName(n.Y)) {
						t.Errorf("%s: compares with a dialect's name; ask the dialect for a capability instead", files.Position(n.Pos()))
					}
				case *ast.CaseClause:
					if slices.ContainsFunc(n.List, isName) {
						t.Errorf("%s: switches on a dialect's name; ask the dialect for a capability instead", files.Position(n.Pos()))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
