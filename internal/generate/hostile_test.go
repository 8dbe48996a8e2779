package generate

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/source"
)

// names are what people and enemies call columns and tables.
var names = rapid.OneOf(
	rapid.SampledFrom([]string{
		"a", "id2", "select", "order", "user", "func", "type", "range", "err", "ctx", "q", "job", "jobs", "key", "Key",
		"queue", "limit", "db", "DBTX", "New", "Claim", "string", "nil", "len", "_", "__", "9lives", "Größe", "größe",
		"naïve", "日本", "mit leer", "Mixed_Case", "mixed_case", "MixedCase", "a\"b", "a'b", "a`b", "a\\b", "a;b", "a--b", "a/*b*/c",
		"a\nb", "a\tb", "a$1b", "a?b", "a{b}c", "{{.}}", "%s", "*/", "//go:build x", "\u202e", "e\u0301", "init", "main", "Status", "status",
		strings.Repeat("x", 63), strings.Repeat("ä", 31), strings.Repeat("y", 64),
	}),
	rapid.StringMatching(`[A-Za-z_ "'\-\n{}$é]{1,12}`),
)

// quote writes a name so that both databases take it as it is.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Whatever tables and columns are called, the answer is a complaint or a
// package of correct Go and SQL.
func TestHostileNames(t *testing.T) {
	compiler := newCompiler()
	root := t.TempDir() // written anew by each check
	rapid.Check(t, func(t *rapid.T) {
		engine := rapid.SampledFrom([]string{"sqlite", "postgresql"}).Draw(t, "engine")
		numbers, texts := "INTEGER", "TEXT"
		if engine == "postgresql" {
			numbers, texts = "bigint", "text"
		}
		columns := rapid.SliceOfNDistinct(names, 2, 9, strings.ToLower).Draw(t, "columns")
		var ddl strings.Builder
		fmt.Fprintf(&ddl, "-- qgen:queue\nCREATE TABLE %s (\n", quote(names.Draw(t, "table")))
		roles := []struct{ sqlType, words string }{
			{numbers + " PRIMARY KEY", ""},
			{texts + " NOT NULL", "status ready=new running=busy done=done failed=dead"},
			{texts, "token"},
			{texts, "topic"},
			{numbers, "lease length=5m as=epoch"},
			{numbers + " NOT NULL DEFAULT 0", "attempts up on=claim max=3"},
			{texts, "result"},
			{texts, ""},
			{numbers, "priority desc"},
		}
		for i, name := range columns {
			comma := ","
			if i == len(columns)-1 {
				comma = ""
			}
			words := ""
			if roles[i].words != "" {
				words = " -- qgen:" + roles[i].words
			}
			fmt.Fprintf(&ddl, "    %s %s%s%s\n", quote(name), roles[i].sqlType, comma, words)
		}
		ddl.WriteString(");\n")

		for name, text := range map[string]string{
			"schema.sql": ddl.String(),
			"qgen.yaml":  fmt.Sprintf("version: \"1\"\nqueues:\n  - {schema: schema.sql, engine: %s, gen: {go: {out: jobs, package: jobs, worker: true}}}\n", engine),
		} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var errs source.ErrorList
		p, err := Load(root, "", &errs)
		if err != nil {
			t.Fatal(err)
		}
		packages, err := p.Plan(nil, &errs)
		if err != nil {
			t.Fatal(err)
		}
		if errs.Len() > 0 {
			_ = errs.Detail()
			return
		}
		files, err := Emit(packages)
		if err != nil {
			t.Fatalf("%v\n%s", err, ddl.String())
		}
		if len(files) == 0 {
			t.Fatal("neither complaints nor files")
		}
		if err := compiler.check(files); err != nil {
			t.Fatalf("%v\n%s", err, ddl.String())
		}
	})
}

// compiler type-checks emitted packages that import the standard library only.
type compiler struct {
	files *token.FileSet
	types types.Config
}

func newCompiler() *compiler {
	files := token.NewFileSet()
	return &compiler{files: files, types: types.Config{Importer: importer.ForCompiler(files, "source", nil)}}
}

// check returns what is wrong with the Go files: their types, or that gofmt
// would write them otherwise.
func (c *compiler) check(emitted []emit.File) error {
	var parsed []*ast.File
	for _, f := range emitted {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		formatted, err := format.Source(f.Data)
		if err != nil {
			return err
		}
		if string(formatted) != string(f.Data) {
			return fmt.Errorf("gofmt would write %s otherwise", f.Path)
		}
		if strings.HasSuffix(f.Path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(c.files, f.Path, f.Data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if err := tags(file); err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	_, err := c.types.Check("jobs", c.files, parsed, nil)
	return err
}

// tags returns what is wrong with the tags of the structs in a file: a name
// that encoding/json passes over, or that two fields of a struct have.
func tags(file *ast.File) (err error) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		seen := map[string]bool{}
		for _, f := range s.Fields.List {
			if f.Tag == nil {
				continue
			}
			text, failed := strconv.Unquote(f.Tag.Value)
			if failed != nil {
				err = failed
				return false
			}
			name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
			odd := strings.IndexFunc(name, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./;<=>?@[]^_{|}~", r)
			})
			if odd >= 0 || name == "" || seen[name] {
				err = fmt.Errorf("field %s has the tag %s", f.Names[0].Name, f.Tag.Value)
			}
			seen[name] = true
		}
		return true
	})
	return err
}
