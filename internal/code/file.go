package code

import (
	"bytes"
	"go/format"
	"slices"
	"strings"
)

// File is a Go file under construction: declarations, apart from each other
// where Line was called. It imports what they name.
type File struct {
	Group
	Header string   // the comment at its head, with its mark
	Doc    []string // the lines of the package's comment, with their marks

	name  string
	names map[string]Name
	anon  []string

	formatted      []declaration
	formattedItems int // the items when that was made; more may be added later
}

// NewFile returns an empty file of the package name. names are those of the
// packages that are not called by the last element of their path.
func NewFile(name string, names map[string]Name) *File {
	return &File{name: name, names: names}
}

// Anon imports packages that no code names.
func (f *File) Anon(paths ...string) { f.anon = append(f.anon, paths...) }

// Append adds all of another file's declarations, and what is imported for them without
// a name.
func (f *File) Append(from *File) {
	f.items = append(f.items, from.items...)
	for _, path := range from.anon {
		if !slices.Contains(f.anon, path) {
			f.anon = append(f.anon, path)
		}
	}
}

// Uses calls visit with every name in the declarations, some of them repeatedly.
func (f *File) Uses(formatter *Formatter, visit func(name string)) error {
	all, err := f.declarations(formatter)
	for _, d := range all {
		for _, name := range d.code.names {
			visit(name)
		}
	}
	return err
}

// Render returns the file as gofmt leaves it, the imports of the standard
// library apart from the others.
func (f *File) Render(formatter *Formatter) ([]byte, error) {
	all, err := f.declarations(formatter)
	if err != nil {
		return nil, err
	}
	head := []byte("package " + f.name + "\n")
	if len(f.Doc) > 0 {
		if head, err = format.Source([]byte(strings.Join(f.Doc, "\n") + "\n" + string(head))); err != nil {
			return nil, err
		}
	}
	size := len(f.Header) + 2 + len(head)
	for _, d := range all {
		size += 1 + len(d.code.text)
		if d.comment != nil {
			size += len(d.comment.text)
		}
	}
	text := make([]byte, 0, size)
	if f.Header != "" {
		text = append(append(text, f.Header...), "\n\n"...)
	}
	text = append(text, head...)
	for _, d := range all {
		text = append(text, '\n')
		if d.comment != nil {
			text = append(text, d.comment.text...)
		}
		text = append(text, d.code.text...)
	}
	return text, nil
}

// declarations returns the imports and the declarations of the file, formatted.
func (f *File) declarations(formatter *Formatter) ([]declaration, error) {
	if f.formatted != nil && f.formattedItems == len(f.items) {
		return f.formatted, nil
	}
	scratch := formatter.scratch()
	defer formatter.free.Put(scratch)
	imports, ends := f.source(scratch)

	all := make([]declaration, 0, len(ends)+1)
	add := func(text []byte) error {
		d, err := formatter.declaration(text)
		all = append(all, d)
		return err
	}
	if len(imports) > 0 {
		if err := add(imports.text()); err != nil {
			return nil, err
		}
	}
	start := 0
	for _, end := range ends {
		if err := add((*scratch)[start:end]); err != nil {
			return nil, err
		}
		start = end
	}
	f.formatted, f.formattedItems = all, len(f.items)
	return all, nil
}

// source writes the declarations into a buffer, with the names of packages,
// and returns what they import and where each ends. What stands between two
// calls of Line counts as one.
func (f *File) source(into *[]byte) (imports importList, ends []int) {
	for _, p := range f.anon {
		imports = append(imports, imported{p, Name{"_", true}})
	}
	text := (*into)[:0]
	ended := 0
	end := func() {
		if len(text) > ended {
			ended = len(text)
			ends = append(ends, ended)
		}
	}
	for _, item := range f.items {
		switch {
		case item.null():
		case bytes.Equal(item.text, newline):
			end()
		default:
			at := 0
			for _, i := range item.imports {
				text = append(append(text, item.text[at:i.at]...), imports.name(i.path, f.names)...)
				at = i.at
			}
			text = append(append(text, item.text[at:]...), '\n')
		}
	}
	end()
	*into = text
	return imports, ends
}

var newline = []byte("\n")
