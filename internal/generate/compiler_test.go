package generate

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/qgen-dev/qgen/internal/emit"
)

// compiler writes packages down and type-checks them with their tests, all in memory: in
// one process that takes a tenth of what go vet does for as many packages. What is alike
// in several is read and checked once.
type compiler struct {
	emitter emit.Emitter
	fset    *token.FileSet
	types   types.Config
	exports map[string]string    // by path, what the compiler left of imported packages
	known   map[string]*ast.File // Go files without complaints, by text
}

func newCompiler(t *testing.T) *compiler {
	c := &compiler{fset: token.NewFileSet(), exports: map[string]string{}, known: map[string]*ast.File{}}
	c.types.Importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if c.exports[path] == "" {
			list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", path)
			var stderr bytes.Buffer
			list.Stderr = &stderr
			out, err := list.Output()
			if err != nil {
				return nil, fmt.Errorf("%w: %s", err, &stderr)
			}
			for line := range strings.Lines(string(out)) {
				path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
				c.exports[path] = file
			}
		}
		return os.Open(c.exports[path])
	})
	return c
}

// compile returns what is wrong with packages: that they cannot be written down, their SQL, that
// they do not send some of it, or their Go.
func (c *compiler) compile(packages []*Package) error {
	for _, p := range packages {
		files, err := emitPackage(&c.emitter, p)
		if err != nil {
			return err
		}
		if err := errors.Join(unsent(files), c.check(files)); err != nil {
			return err
		}
	}
	return nil
}

// check returns what is wrong with the Go files of a package: their types, tags of structs,
// or that gofmt would write them otherwise.
func (c *compiler) check(emitted []emit.File) error {
	var files []*ast.File
	for _, f := range emitted {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		file := c.known[string(f.Data)]
		if file == nil {
			var err error
			if file, err = c.read(f); err != nil {
				return err
			}
			c.known[string(f.Data)] = file
		}
		files = append(files, file)
	}
	checked := c.types
	var errs []error
	checked.Error = func(err error) { errs = append(errs, err) }
	_, _ = checked.Check("jobs", c.fset, files, nil) // Error has been told
	return errors.Join(errs...)
}

// read parses a file and returns what is wrong with it alone.
func (c *compiler) read(f emit.File) (*ast.File, error) {
	formatted, err := format.Source(f.Data)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(formatted, f.Data) {
		return nil, fmt.Errorf("gofmt would write %s otherwise", f.Path)
	}
	file, err := parser.ParseFile(c.fset, f.Path, f.Data, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return file, tags(file)
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
