package emit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"testing"
)

// Logs show a job without its payload, whatever the payload's type is and
// whether it may be null: its name is there, and its value is not even read.
func TestLogValueReadsNoPayload(t *testing.T) {
	for name, p := range fixtures() {
		for i := range p.Fields {
			p := fixtures()[name]
			p.Fields[i].Payload = true
			files, err := new(Emitter).Files(p)
			if err != nil {
				t.Fatal(err)
			}
			job := slices.IndexFunc(files, func(f File) bool { return path.Base(f.Path) == "job.go" })
			read, said := logged(t, files[job].Data)
			for _, f := range p.Fields {
				if slices.Contains(read, f.Name) == f.Payload {
					t.Errorf("%s: payload %v, but LogValue reads %v", f.Name, f.Payload, read)
				}
				if !slices.Contains(said, f.JSON) {
					t.Errorf("LogValue does not name %s", f.JSON)
				}
			}
			if !slices.Contains(said, "(redacted)") {
				t.Errorf("LogValue does not say that it left something out: %v", said)
			}
		}
	}
}

// logged returns which fields LogValue reads and which texts stand in it.
func logged(t *testing.T, job []byte) (read, said []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "job.go", job, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		method, ok := d.(*ast.FuncDecl)
		if !ok || method.Name.Name != "LogValue" {
			continue
		}
		ast.Inspect(method.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "j" {
					read = append(read, n.Sel.Name)
				}
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if err != nil {
					t.Fatal(err)
				}
				said = append(said, text)
			}
			return true
		})
		return read, said
	}
	t.Fatal("Job has no LogValue")
	return nil, nil
}
