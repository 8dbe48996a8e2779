package code

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Name is what an imported package is called.
type Name struct {
	Text  string
	Alias bool // it is not the package's own name and is written before the path
}

// importList is what a file imports.
type importList []imported

type imported struct {
	path string
	name Name
}

// name returns what a package is called in the file; from now on it is imported.
func (l *importList) name(p string, known map[string]Name) string {
	at := slices.IndexFunc(*l, func(i imported) bool { return i.path == p })
	if at >= 0 && (*l)[at].name.Text != "_" {
		return (*l)[at].name.Text
	}
	name, ok := known[p]
	if !ok {
		name.Text = path.Base(p)
	}
	plain := name.Text
	for n := 1; l.taken(name.Text); n++ {
		name = Name{plain + strconv.Itoa(n), true}
	}
	if at < 0 {
		at = len(*l)
		*l = append(*l, imported{path: p})
	}
	(*l)[at].name = name
	return name.Text
}

// taken reports whether a package cannot be called name.
func (l *importList) taken(name string) bool {
	return slices.Contains(reserved, name) || slices.ContainsFunc(*l, func(i imported) bool { return i.name.Text == name })
}

// text returns the declaration of the imports.
func (l importList) text() []byte {
	slices.SortFunc(l, func(a, b imported) int {
		return cmp.Or(cmp.Compare(a.kind(), b.kind()), cmp.Compare(a.path, b.path))
	})
	var b bytes.Buffer
	b.WriteString("import ")
	if len(l) > 1 {
		b.WriteString("(\n")
	}
	for i, im := range l {
		if i > 0 && im.kind() != l[i-1].kind() {
			b.WriteByte('\n')
		}
		if im.name.Alias {
			b.WriteString(im.name.Text + " ")
		}
		b.WriteString(strconv.Quote(im.path) + "\n")
	}
	if len(l) > 1 {
		b.WriteString(")\n")
	}
	return b.Bytes()
}

// kind is 0 for a package of the standard library and 1 for any other, whose
// path begins with a host.
func (i imported) kind() int {
	if host, _, _ := strings.Cut(i.path, "/"); strings.Contains(host, ".") {
		return 1
	}
	return 0
}

// reserved are names that mean something else in most files.
var reserved = []string{
	"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto",
	"if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var",

	"append", "bool", "byte", "cap", "clear", "close", "complex", "complex128", "complex64", "copy", "delete", "error",
	"false", "float32", "float64", "imag", "int", "int16", "int32", "int64", "int8", "iota", "len", "make", "max", "min",
	"new", "nil", "panic", "print", "println", "real", "recover", "rune", "string", "true", "uint", "uint16", "uint32",
	"uint64", "uint8", "uintptr",

	"err",
}
