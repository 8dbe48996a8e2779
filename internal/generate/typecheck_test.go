package generate

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// typeCheck complains about each package that would not compile, with the tests in its
// folder. In one process that takes a tenth of what go vet does for as many packages.
func typeCheck(t *testing.T, folders []string) {
	t.Helper()
	exports := exportFiles(t, folders)
	var work sync.WaitGroup
	next := make(chan string)
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			// What is imported is read once for all packages of a checker.
			fset := token.NewFileSet()
			imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
			for folder := range next {
				files := parsed(t, fset, folder, parser.SkipObjectResolution)
				checked := types.Config{Importer: imports, Error: func(err error) { t.Errorf("%s: %v", folder, err) }}
				_, _ = checked.Check(folder, fset, files, nil) // Error has been told
			}
		})
	}
	for _, folder := range folders {
		next <- folder
	}
	close(next)
	work.Wait()
}

// parsed reads the Go files of a folder.
func parsed(t *testing.T, fset *token.FileSet, folder string, mode parser.Mode) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Errorf("%s has no Go files: %v", folder, err)
	}
	var files []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, mode)
		if err != nil {
			t.Error(err)
			continue
		}
		files = append(files, f)
	}
	return files
}

// exportFiles returns, by path, the files in which the compiler left what the packages have
// that are imported from folders.
func exportFiles(t *testing.T, folders []string) map[string]string {
	t.Helper()
	imported := map[string]bool{}
	for _, folder := range folders {
		for _, f := range parsed(t, token.NewFileSet(), folder, parser.ImportsOnly) {
			for _, i := range f.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				imported[path] = true
			}
		}
	}
	list := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, slices.Sorted(maps.Keys(imported))...)
	out, err := exec.CommandContext(t.Context(), "go", list...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	return exports
}
