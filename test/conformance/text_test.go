package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file reads the emitted packages instead of running them: what their
// comments tell, what they import, how they make errors. It needs no server.

// file is a Go file of an emitted package.
type file struct {
	path string
	set  *token.FileSet
	*ast.File
}

// at is a place in the file, for messages.
func (f file) at(pos token.Pos) string { return f.set.Position(pos).String() }

// eachFile calls read for the Go files of every emitted package: those of the
// suite and the example's.
func eachFile(t *testing.T, read func(dir string, f file)) {
	t.Helper()
	packages := 0
	for _, pattern := range []string{"gen/*", "../../example/gen/*q", "../../example/gen/*/*q"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			files, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			if len(files) > 0 {
				packages++
			}
			for _, path := range files {
				set := token.NewFileSet()
				parsed, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				read(dir, file{path, set, parsed})
			}
		}
	}
	if packages < 50 {
		t.Errorf("only %d emitted packages were read", packages)
	}
}

// operations calls read for each exported method that speaks to the database:
// one that takes a context.
func operations(f file, read func(name string, method *ast.FuncDecl)) {
	if strings.HasSuffix(f.path, "_test.go") {
		return
	}
	for _, d := range f.Decls {
		method, ok := d.(*ast.FuncDecl)
		if !ok || method.Recv == nil || !method.Name.IsExported() || !ast.IsExported(receiver(method)) {
			continue
		}
		for _, p := range method.Type.Params.List {
			if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
				read(method.Name.Name, method)
			}
		}
	}
}

// receiver names the type whose method it is.
func receiver(method *ast.FuncDecl) string {
	of := method.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	return of.(*ast.Ident).Name
}

var sqlFile = regexp.MustCompile(`sql/\w+\.sql`)

// The comment of an operation says what it does, which locks it takes, what a
// crash leaves behind, and which files hold its SQL; and those are the files
// whose statements it sends.
func TestCommentsTellLocksCrashAndFile(t *testing.T) {
	seen := map[string]bool{}
	eachFile(t, func(dir string, f file) {
		operations(f, func(name string, method *ast.FuncDecl) {
			seen[name] = true
			text := strings.Join(strings.Fields(method.Doc.Text()), " ")
			if !strings.HasPrefix(text, name+" ") {
				t.Errorf("%s: the comment does not say what %s does", f.at(method.Pos()), name)
			}
			if name == "Commit" {
				return // ends what Hold began, whose comment tells
			}
			if !regexp.MustCompile(`\b[Ll]ocks?\b`).MatchString(text) && name != "Work" {
				t.Errorf("%s: the comment of %s does not say which locks it takes", f.at(method.Pos()), name)
			}
			if !regexp.MustCompile(`\b(crash|dies)\b`).MatchString(text) {
				t.Errorf("%s: the comment of %s does not say what a crash leaves behind", f.at(method.Pos()), name)
			}
			if name == "Fail" && strings.Contains(text, "when the transaction commits") && !strings.Contains(text, "savepoint") {
				t.Errorf("%s: the comment of Fail does not say that the transaction commits what the work has done", f.at(method.Pos()))
			}
			told := sqlFile.FindAllString(text, -1)
			if len(told) == 0 && name != "Work" && name != "Hold" {
				t.Errorf("%s: the comment of %s does not say which file holds its SQL", f.at(method.Pos()), name)
			}
			for _, path := range told {
				if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
					t.Errorf("%s: %v", f.at(method.Pos()), err)
				}
			}
			if embeds := embedded(f); len(embeds) > 0 {
				// What jobs have in other tables is read by a statement of several operations.
				told = slices.DeleteFunc(told, func(path string) bool { return path == "sql/payload.sql" })
				slices.Sort(told)
				if !slices.Equal(slices.Compact(told), embeds) {
					t.Errorf("%s: the comment of %s names %v, the file embeds %v", f.at(method.Pos()), name, told, embeds)
				}
			}
		})
	})
	for _, name := range []string{
		"Claim", "Complete", "Fail", "Requeue", "Extend", "Recover", "Redrive", "Purge", "Peek", "Stats", "StatsOf", "Backlog", "Verify",
		"Enqueue", "EnqueueMany", "CompleteAndClaim", "Hold", "Work",
	} {
		if !seen[name] {
			t.Errorf("no package has %s", name)
		}
	}
}

// embedded lists the files that a Go file embeds, of a file with a single
// operation.
func embedded(f file) []string {
	n := 0
	operations(f, func(string, *ast.FuncDecl) { n++ })
	if n != 1 {
		return nil
	}
	var paths []string
	for _, group := range f.Comments {
		for _, c := range group.List {
			if path, ok := strings.CutPrefix(c.Text, "//go:embed "); ok {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// errorsOf are the drivers whose errors packages over database/sql look at.
var errorsOf = map[string]string{
	"mysql": "github.com/go-sql-driver/mysql", "mariadb": "github.com/go-sql-driver/mysql", "tidb": "github.com/go-sql-driver/mysql",
	"oracle": "github.com/sijms/go-ora/v2",
}

// An emitted package needs the standard library and its driver, nothing else,
// and does not bring one of its own into the program.
func TestImportsAreTheDriversAndTheLibrarys(t *testing.T) {
	const pgx = "github.com/jackc/pgx/v5"
	drivers := map[string]string{filepath.FromSlash("../../example/gen/postgresql/emailq"): pgx}
	for _, e := range configured(t) {
		drivers[filepath.Join("gen", e.name)] = errorsOf[e.engine]
		if e.driver != "database/sql" {
			drivers[filepath.Join("gen", e.name)] = "github.com/jackc/" + e.driver
		}
	}
	eachFile(t, func(dir string, f file) {
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			driver := drivers[dir]
			switch first, _, _ := strings.Cut(path, "/"); {
			case driver != "" && (path == driver || strings.HasPrefix(path, driver+"/")):
			case strings.Contains(first, "."):
				t.Errorf("%s: imports %s", f.at(i.Pos()), path)
			case path == "database/sql" && driver == pgx:
				t.Errorf("%s: imports %s beside pgx", f.at(i.Pos()), path)
			}
		}
	})
}

// The program's clock stands in no statement and decides no lease: outside the
// worker loop and the bound of a claim, which measure their own time, nothing
// asks for it, and what those two find out is never sent. Verify compares the two
// clocks where a column is on the local one.
func TestOnlyTheDatabaseTellsTheTime(t *testing.T) {
	own := []string{"work.go", "low.go", "verify.go", "conformance_test.go"}
	eachFile(t, func(_ string, f file) {
		if slices.Contains(own, filepath.Base(f.path)) {
			return
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := call.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, call.Sel.Name) {
				t.Errorf("%s: asks the program's clock", f.at(call.Pos()))
			}
			return true
		})
	})
}

// Every error that leaves a package starts with its name, and what it wraps can
// be found with errors.Is and errors.As.
func TestErrorsNameThePackageAndWrap(t *testing.T) {
	// These are wrapped by an error of whoever calls.
	within := regexp.MustCompile(`^(%d of %d rows were added$|part \w+ of the table's name is |the table's name %s is longer |above the isolation level |the handler panicked$)`)
	eachFile(t, func(_ string, f file) {
		if strings.HasSuffix(f.path, "_test.go") {
			return
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if d, ok := n.(*ast.FuncDecl); ok && (d.Recv == nil || !ast.IsExported(receiver(d))) {
				return false // it hands its errors to those that can be called, or to a row
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || fun.Sel.Name != "Errorf" && fun.Sel.Name != "New" {
				return true
			}
			text, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				return true
			}
			format, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(format, f.Name.Name+": ") && !within.MatchString(format) {
				t.Errorf("%s: the error %q does not name the package", f.at(call.Pos()), format)
			}
			for _, arg := range call.Args[1:] {
				name := ""
				switch arg := arg.(type) {
				case *ast.Ident:
					name = arg.Name
				case *ast.SelectorExpr:
					name = arg.Sel.Name
				}
				if (name == "err" || strings.HasPrefix(name, "Err")) && !strings.Contains(format, "%w") {
					t.Errorf("%s: the error %q hides what went wrong", f.at(call.Pos()), format)
				}
			}
			return true
		})
	})
}
