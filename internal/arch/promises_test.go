package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// CONTRIBUTING.md lists what the emitted package promises and the tests that
// show it. Every promise has a test there, and every test exists.
func TestPromisesAreShown(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## What the emitted package promises, and the test that shows it\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no list of promises")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	named := regexp.MustCompile("`([a-z][a-z/]*)\\.(Test\\w+)(?:/([^`]+))?`")
	rules := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		rule := strings.TrimSpace(cells[1])
		if _, err := strconv.Atoi(rule); err != nil {
			continue // the head of the table
		}
		rules[rule] = true
		tests := named.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 || strings.Count(cells[3], "`") != 2*len(tests) {
			t.Errorf("no test, or one that is not written as `internal/plan.TestName`, shows the promise: %s", cells[2])
		}
		for _, test := range tests {
			if !exists(t, filepath.Join(root, filepath.FromSlash(test[1])), test[2], test[3]) {
				t.Errorf("%s does not exist", test[0])
			}
		}
	}
	for rule := 1; rule <= 14; rule++ {
		if !rules[strconv.Itoa(rule)] {
			t.Errorf("the list says nothing of rule %d", rule)
		}
	}
}

// exists reports whether a folder has a test, and in it a part of that name: a
// text in a file of tests, or a case in testdata or cases.
func exists(t *testing.T, folder, test, part string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	hasTest, hasPart := false, part == ""
	for _, path := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				hasTest = hasTest || n.Recv == nil && n.Name.Name == test
			case *ast.BasicLit:
				hasPart = hasPart || n.Value == strconv.Quote(part)
			}
			return true
		})
	}
	for _, cases := range []string{"testdata", "cases"} {
		found, err := filepath.Glob(filepath.Join(folder, cases, filepath.FromSlash(part)) + "*")
		if err != nil {
			t.Fatal(err)
		}
		hasPart = hasPart || len(found) > 0
	}
	return hasTest && hasPart
}
