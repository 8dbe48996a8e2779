package generate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/source"
)

// cuts are columns of errors, a text that Fail is given, and what the column gets: as much as
// the server takes there, and no half of a character.
var cuts = []struct{ engine, column, text, want string }{
	{"postgresql", "varchar(5)", "приветы", "приве"},
	{"postgresql", "text -- qgen:error max=5", "😀😀😀😀😀😀", "😀😀😀😀😀"},
	{"mysql", "varchar(5)", "😀😀😀😀😀😀", "😀😀😀😀😀"},
	{"mysql", "varbinary(5)", "приветы", "пр"},
	{"sqlite", "text check (length(why) <= 5)", "приветы", "приве"},
	{"mssql", "nvarchar(5)", "приветы", "приве"},
	{"mssql", "nvarchar(5)", "😀😀😀", "😀😀"},
	{"mssql", "nvarchar(5)", "я😀я😀я", "я😀я"},
	{"mssql", "nvarchar(max)", "приветы", "приветы"},
	{"mssql", "nvarchar(9) -- qgen:error max=5", "😀😀😀😀😀😀", "😀😀😀😀"},
	{"mssql", "nvarchar(9) -- qgen:error max=5", "приветы", "приве"},
	{"mssql", "nvarchar(max) check (len(why) <= 5)", "😀😀😀", "😀😀"},
	{"mssql", "sysname", strings.Repeat("я", 200), strings.Repeat("я", 128)},
	{"mssql", "varchar(5)", "приветы", "пр"},
	{"mssql", "varchar(9) -- qgen:error max=3", "приветы", "при"},
	{"mssql", "varchar(5)", "ascii text", "ascii"},
	{"oracle", "varchar2(5)", "приветы", "пр"},
	{"oracle", "varchar2(5 byte)", "приветы", "пр"},
	{"oracle", "varchar2(5 char)", "приветы", "приве"},
	{"oracle", "varchar2(3000 char)", strings.Repeat("я", 3000), strings.Repeat("я", 2000)},
	{"oracle", "varchar2(3000 char)", strings.Repeat("y", 4000), strings.Repeat("y", 3000)},
	{"oracle", "nvarchar2(5)", "приветы", "приве"},
	{"oracle", "nvarchar2(5)", "😀😀😀", "😀😀"},
	{"oracle", "clob", strings.Repeat("я", 20000), strings.Repeat("я", 16380)},
	{"oracle", "blob", strings.Repeat("я", 3000), strings.Repeat("я", 1000)},
}

// The error that Fail keeps is cut by what the server counts for the type of its column, as the
// emitted code does it.
func TestErrorsAreCutAsColumnsHold(t *testing.T) {
	root := inModule(t, "_cut")
	var body bytes.Buffer
	for i, c := range cuts {
		typ, words, marked := strings.Cut(c.column, " -- ")
		if !marked {
			words = "qgen:error"
		}
		ddl := fmt.Sprintf(`
			CREATE TABLE job (
				id integer NOT NULL PRIMARY KEY,
				state integer NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
				tries integer NOT NULL, -- qgen:attempts up on=claim max=5
				why %s -- %s
			);`, typ, words)
		at := filepath.Join(root, fmt.Sprint("case", i))
		write(t, filepath.Join(at, "schema.sql"), []byte(ddl))
		text := "version: \"1\"\nqueues:\n  - {schema: [schema.sql], engine: " + c.engine + ", table: job, gen: {go: {out: jobq}}}\n"
		var errs source.ErrorList
		packages := planAgain(t, entries(t, "qgen.yaml", []byte(text), filepath.Join(at, "schema.sql"))[0], "database/sql", at, &errs)
		if errs.Len() > 0 {
			t.Fatalf("%s %s: %s", c.engine, c.column, errs.Detail())
		}
		files, err := new(emit.Emitter).Files(packages[0])
		if err != nil {
			t.Fatal(err)
		}
		fail := slices.IndexFunc(files, func(f emit.File) bool { return path.Base(f.Path) == "fail.go" })
		functions, call := errorParts(t, files[fail].Data)
		fmt.Fprintf(&body, `
			func init() {
				%s
				cause := errors.New(%q)
				if got := %s; got != %q {
					fmt.Printf("%%s %%s: %%.40q, of %%d bytes and not %d\n", %q, %q, got, len(got))
				}
			}
			`, functions, c.text, call, c.want, len(c.want), c.engine, c.column)
	}
	write(t, filepath.Join(root, "main", "main.go"), fmt.Appendf(nil, `package main

		import (
			"errors"
			"fmt"
			"strings"
			"unicode/utf16"
			"unicode/utf8"
		)

		var _, _ = utf16.AppendRune, utf8.RuneLen // where no case uses them

		%s
		func main() {}
	`, &body))
	if out, err := exec.Command("go", "run", "./"+filepath.Join(root, "main")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// errorParts returns the functions of fail.go that make the text of an error, as functions
// within another, and the expression of the argument that uses them.
func errorParts(t *testing.T, file []byte) (functions, call string) {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "fail.go", file, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n ast.Node) string {
		return string(file[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	names := []string{"cutBytes", "cutUTF16", "errorText"}
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if f.Recv == nil && slices.Contains(names, f.Name.Name) {
			functions += f.Name.Name + " := func" + strings.TrimPrefix(text(f.Type), "func "+f.Name.Name) + " " + text(f.Body) + "\n"
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, ok := c.Fun.(*ast.Ident); ok && slices.Contains(names, name.Name) {
				call = text(c)
				return false
			}
			return true
		})
	}
	if functions == "" || call == "" {
		t.Fatalf("no text of an error in\n%s", file)
	}
	return functions, call
}
