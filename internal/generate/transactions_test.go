package generate

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/source"
)

// Where one writes at a time, a transaction that reads first and then writes fails when
// another has written in between, and no timeout makes it wait. So what runs first in a
// transaction that writes is a statement that writes, or the one that does nothing but
// take the lock.
func TestTransactionsBeginWithAWrite(t *testing.T) {
	seen := 0
	for _, q := range everyQueue(t) {
		d, _ := dialect.Lookup(q.Engine.Value)
		if !d.SingleWriter {
			continue
		}
		var errs source.ErrorList
		for _, p := range planAgain(t, q, d.Drivers[0], "jobs", &errs) {
			files, err := new(emit.Emitter).Files(p)
			if err != nil {
				t.Fatal(err)
			}
			code := readCode(t, files)
			for _, tx := range code.transactions() {
				seen++
				if slices.ContainsFunc(tx.texts, code.writes) && !code.writes(tx.texts[0]) {
					t.Errorf("%s, table %s: %s begins with %s, which reads, and then writes: %s",
						q.Schema[0].Value, p.Table, tx.method, tx.texts[0], strings.Join(tx.texts, ", "))
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d transactions were seen", seen)
	}
}

// unsent returns the files of SQL of a package whose text its code does not use.
func unsent(files []emit.File) error {
	var code []byte
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".go") && !strings.HasSuffix(f.Path, "_test.go") {
			code = append(code, f.Data...)
		}
	}
	uses := map[string]int{}
	for _, name := range textName.FindAll(code, -1) {
		uses[string(name)]++
	}
	text := map[string]string{}
	for _, m := range embedded.FindAllSubmatch(code, -1) {
		text[string(m[1])] = string(m[2]) + "SQL"
	}
	var errs []error
	for _, f := range files {
		name := "sql/" + path.Base(f.Path)
		if path.Base(path.Dir(f.Path)) == "sql" && uses[text[name]] < 2 { // one is its declaration
			errs = append(errs, fmt.Errorf("no code sends %s", name))
		}
	}
	return errors.Join(errs...)
}

var (
	textName = regexp.MustCompile(`\b\w+SQL\b`)
	embedded = regexp.MustCompile(`//go:embed (\S+)\n\s+(\w+)File `)
)

// codeOf is a package as its code and the files of its SQL.
type codeOf struct {
	sql   map[string]string        // the SQL of each text
	funcs map[string]*ast.FuncDecl // functions, and methods of Queue and Tx
}

// readCode reads the files of a package.
func readCode(t *testing.T, files []emit.File) *codeOf {
	t.Helper()
	c := &codeOf{sql: map[string]string{}, funcs: map[string]*ast.FuncDecl{}}
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".go") || strings.HasSuffix(f.Path, "_test.go") {
			continue
		}
		for _, m := range embedded.FindAllSubmatch(f.Data, -1) {
			i := slices.IndexFunc(files, func(f emit.File) bool { return strings.HasSuffix(f.Path, "/"+string(m[1])) })
			c.sql[string(m[2])+"SQL"] = string(files[i].Data)
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && slices.Contains([]string{"", "Queue", "Tx"}, receiver(f)) {
				c.funcs[f.Name.Name] = f
			}
		}
	}
	return c
}

// receiver names the type of a method, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return "?"
}

// writes reports whether a statement takes the lock for writing.
func (c *codeOf) writes(text string) bool {
	depth, word := 0, ""
	for line := range strings.SplitSeq(c.sql[text], "\n") {
		if strings.HasPrefix(line, "--") {
			continue
		}
		for _, r := range line + "\n" {
			switch {
			case unicode.IsLetter(r):
				word += string(r)
				continue
			case depth == 0 && slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, word):
				return true
			case depth == 0 && word == "SELECT":
				return false
			case r == '(':
				depth++
			case r == ')':
				depth--
			}
			word = ""
		}
	}
	return false
}

// transaction is what a method sends in one, in the order in which the code names it.
type transaction struct {
	method string
	texts  []string
}

// transactions lists those that the methods of a package begin.
func (c *codeOf) transactions() []transaction {
	var list []transaction
	for name, f := range c.funcs {
		w := walk{codeOf: c}
		w.body(f, nil)
		for _, texts := range w.begun {
			if len(texts) > 0 {
				list = append(list, transaction{name, texts})
			}
		}
	}
	slices.SortFunc(list, func(a, b transaction) int { return strings.Compare(a.method, b.method) })
	return list
}

// walk follows the calls of a method.
type walk struct {
	*codeOf
	texts  []string
	begun  [][]string // of the transactions within
	within []*ast.FuncDecl
}

// bound are the functions and texts that a function was called with.
type bound struct {
	expr ast.Expr
	of   map[string]bound // where expr stands
}

// body follows a function unless it calls itself.
func (w *walk) body(f *ast.FuncDecl, with map[string]bound) {
	if slices.Contains(w.within, f) {
		return
	}
	w.within = append(w.within, f)
	w.node(f.Body, with)
	w.within = w.within[:len(w.within)-1]
}

// node follows what stands in a piece of code.
func (w *walk) node(n ast.Node, with map[string]bound) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !w.call(n, with)
		case *ast.Ident:
			if b, ok := with[n.Name]; ok {
				if _, is := b.expr.(*ast.FuncLit); !is {
					w.node(b.expr, b.of)
				}
			} else if w.sql[n.Name] != "" {
				w.texts = append(w.texts, n.Name)
			}
		}
		return true
	})
}

// passedOn reports whether a parameter is a text or a function.
func passedOn(typ ast.Expr) bool {
	if _, ok := typ.(*ast.FuncType); ok {
		return true
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.Name == "string"
}

// call follows a call of what the package declares, or of a function that was passed on.
func (w *walk) call(call *ast.CallExpr, with map[string]bound) bool {
	var name string
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
		if b, ok := with[name]; ok {
			if lit, ok := b.expr.(*ast.FuncLit); ok {
				w.node(lit.Body, b.of)
				return true
			}
		}
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	}
	f := w.funcs[name]
	if f == nil {
		return false
	}
	if slices.Contains([]string{"retry", "transact", "transactRepeatable"}, name) {
		from := len(w.texts)
		if lit, ok := call.Args[2].(*ast.FuncLit); ok {
			w.node(lit.Body, with)
		}
		if name != "retry" {
			w.begun = append(w.begun, slices.Clone(w.texts[from:]))
		}
		return true
	}
	inner := map[string]bound{}
	i := 0
	for _, field := range f.Type.Params.List {
		for _, param := range field.Names {
			switch {
			case i >= len(call.Args):
			case passedOn(field.Type):
				inner[param.Name] = bound{call.Args[i], with}
			default:
				w.node(call.Args[i], with)
			}
			i++
		}
	}
	for ; i < len(call.Args); i++ { // of a list of any length
		w.node(call.Args[i], with)
	}
	w.body(f, inner)
	return true
}
