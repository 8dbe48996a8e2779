package code

import (
	"bytes"
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"slices"
	"sync"
)

// Formatter formats declarations as gofmt does. It remembers each, because
// most declarations of generated packages are the same in many of them. The
// zero Formatter is ready for use, by several goroutines at once.
type Formatter struct {
	mu    sync.RWMutex
	known map[string]*formatted // by the text before formatting
	free  sync.Pool             // of buffers, *[]byte
}

// scratch returns a buffer, which is to be put into free again.
func (f *Formatter) scratch() *[]byte {
	if b, ok := f.free.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

// formatted is a declaration or its comment.
type formatted struct {
	text  []byte
	names []string // all that occur outside of comments, sorted, each once
}

// declaration is one declaration, or several that stand together.
type declaration struct{ comment, code *formatted }

// What makes a file of a declaration, and a declaration to carry a comment.
const (
	clause  = "package p\n\n"
	carrier = "var _ int\n"
)

// declaration formats a declaration and its comment, which is formatted apart
// from it because it names what the declaration does not. How gofmt leaves
// them depends on nothing around them as long as empty lines stand before and
// behind.
func (f *Formatter) declaration(text []byte) (declaration, error) {
	code := text
	for bytes.HasPrefix(code, []byte("//")) {
		_, code, _ = bytes.Cut(code, []byte("\n"))
	}
	comment := text[:len(text)-len(code)]
	if len(code) == 0 {
		comment, code = nil, text
	}
	var d declaration
	var err error
	if len(comment) > 0 {
		if d.comment, err = f.piece(comment, carrier); err != nil {
			return d, err
		}
	}
	d.code, err = f.piece(code, "")
	return d, err
}

// piece formats text in front of what must stand behind it.
func (f *Formatter) piece(text []byte, behind string) (*formatted, error) {
	f.mu.RLock()
	p := f.known[string(text)]
	f.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	whole, err := format.Source(slices.Concat([]byte(clause), text, []byte(behind)))
	if err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, text)
	}
	p = &formatted{
		text:  bytes.TrimSuffix(bytes.TrimPrefix(whole, []byte(clause)), []byte(behind)),
		names: names(text),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]*formatted{}
	}
	f.known[string(text)] = p
	return p, nil
}

// names returns the names that occur in a text.
func names(text []byte) []string {
	var names []string
	files := token.NewFileSet()
	var lex scanner.Scanner
	lex.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0)
	for {
		switch _, tok, lit := lex.Scan(); tok {
		case token.EOF:
			slices.Sort(names)
			return slices.Compact(names)
		case token.IDENT:
			names = append(names, lit)
		}
	}
}
