package queue

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

// Whatever users may read stands in a golden: complaints, hints, notes.
func TestEveryMessageHasGolden(t *testing.T) {
	goldens, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range goldens {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(strings.Join(strings.Fields(string(text)), " ") + " ")
	}
	said := all.String()
	expect := func(where, format string) {
		if !says(said, format) {
			t.Errorf("%s: no golden says %q", where, format)
		}
	}
	for where, format := range formats(t) {
		expect(where, format)
	}
	for step, hint := range absent {
		expect(string(step), hint)
	}
	for class, hint := range example {
		expect(string(class), hint)
	}
}

// formats returns the first text given to each function that speaks to users,
// by its place.
func formats(t *testing.T) map[string]string {
	t.Helper()
	speaks := map[string]bool{"errorf": true, "Errorf": true, "WithHint": true, "note": true, "wrong": true, "Sprintf": true, "refuse": true}
	set := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || path == "describe.go" {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch fun := call.Fun.(type) {
			case *ast.Ident:
				name = fun.Name
			case *ast.SelectorExpr:
				name = fun.Sel.Name
			}
			if !speaks[name] {
				return true
			}
			for _, arg := range call.Args {
				lit, ok := arg.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				found[set.Position(lit.Pos()).String()] = text
				break
			}
			return true
		})
	}
	if len(found) < 100 {
		t.Fatalf("only %d texts found", len(found))
	}
	return found
}

var verbForm = regexp.MustCompile(`%(\+?[a-z]|%)`)

// says reports whether a text holds what a format prints: its constant parts in
// order, none far behind the last. White space is one blank in both.
func says(text, format string) bool {
	const far = 130
	format = strings.ReplaceAll(strings.Join(strings.Fields(format), " "), "%%", "\x00")
	parts := verbForm.Split(format, -1)
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", "%")
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], parts[0])
		if i < 0 {
			return false
		}
		at += i
		if follow(text[at+len(parts[0]):], parts[1:], far) {
			return true
		}
		if at == len(text) {
			return false
		}
	}
}

func follow(text string, parts []string, far int) bool {
	for _, part := range parts {
		i := strings.Index(text[:min(len(text), far+len(part))], part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
