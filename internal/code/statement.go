// Package code writes Go source. Pieces of it are chained and nested much as
// they read, put into files, and formatted as gofmt does; a file imports what
// its code names.
package code

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Statement is a piece of Go: a name, an expression, a statement, a type. Its
// methods append to it and return it, so that a piece is written as a chain:
//
//	code.Id("n").Op(":=").Len(code.Id("jobs"))
//
// A statement is text already; what is added to another one is copied, and
// what happens to either afterwards does not reach the other. A nil statement
// and one to which nothing was added are left out of lists and blocks.
type Statement struct {
	text    []byte
	imports []reference
	some    bool     // something was added, if only Empty
	label   bool     // it ends with the colon of a case
	short   [30]byte // where text begins: most statements are short
}

// reference is a place in the text where the name of an imported package
// belongs. Only the file that the text ends up in knows that name.
type reference struct {
	at   int
	path string
}

// start begins another item, apart from the one before it.
func (s *Statement) start() {
	switch {
	case s.some:
		s.text = append(s.text, ' ')
	case s.text == nil:
		s.text = s.short[:0]
	}
	s.some, s.label = true, false
}

// word appends a token.
func (s *Statement) word(text string) *Statement {
	s.start()
	s.text = append(s.text, text...)
	return s
}

// copy appends the text of another statement.
func (s *Statement) copy(from *Statement) {
	for _, i := range from.imports {
		s.imports = append(s.imports, reference{len(s.text) + i.at, i.path})
	}
	s.text = append(s.text, from.text...)
}

// Add appends statements.
func (s *Statement) Add(items ...*Statement) *Statement {
	for _, item := range items {
		if !item.null() {
			s.start()
			s.copy(item)
		}
	}
	return s
}

// null reports whether there is nothing to write.
func (s *Statement) null() bool { return s == nil || !s.some }

// Text returns what was written so far, unformatted and without the names of
// imported packages.
func (s *Statement) Text() string {
	if s == nil {
		return ""
	}
	return string(s.text)
}

// Equal reports whether two statements, neither nil, are the same code.
func (s *Statement) Equal(other *Statement) bool {
	return bytes.Equal(s.text, other.text) && slices.Equal(s.imports, other.imports)
}

// Clone returns a copy, to which more can be added.
func (s *Statement) Clone() *Statement { return new(Statement).Add(s) }

// Null adds nothing.
func (s *Statement) Null() *Statement { return s }

// Empty adds an item without text, which lists count: Index(Empty(), n) is [:n].
func (s *Statement) Empty() *Statement { return s.word("") }

// Id adds a name, or any token.
func (s *Statement) Id(name string) *Statement { return s.word(name) }

// Op adds an operator, or any token.
func (s *Statement) Op(op string) *Statement { return s.word(op) }

// Dot adds a selector: .name.
func (s *Statement) Dot(name string) *Statement {
	if s.null() {
		s.start()
	}
	s.label = false
	s.text = append(append(s.text, '.'), name...)
	return s
}

// Qual adds the name of an imported package's member.
func (s *Statement) Qual(path, name string) *Statement {
	s.start()
	s.imports = append(s.imports, reference{len(s.text), path})
	s.text = append(append(s.text, '.'), name...)
	return s
}

// Line ends a line. Alone in a file it ends a declaration.
func (s *Statement) Line() *Statement { return s.word("\n") }

// Lit adds the literal of a string, an int, a float64 or a bool.
func (s *Statement) Lit(v any) *Statement {
	s.start()
	switch v := v.(type) {
	case string:
		s.text = strconv.AppendQuote(s.text, v)
	case int:
		s.text = strconv.AppendInt(s.text, int64(v), 10)
	case float64:
		text := fmt.Sprintf("%#v", v)
		if !strings.ContainsAny(text, ".e") {
			text += ".0" // it would be read as an integer
		}
		s.text = append(s.text, text...)
	default:
		s.text = fmt.Appendf(s.text, "%#v", v)
	}
	return s
}

// LitRune adds the literal of a character.
func (s *Statement) LitRune(r rune) *Statement {
	s.start()
	s.text = strconv.AppendQuoteRune(s.text, r)
	return s
}

// Comment adds a comment: text as it is when it starts with a mark, else
// behind one.
func (s *Statement) Comment(text string) *Statement {
	switch {
	case strings.HasPrefix(text, "//"), strings.HasPrefix(text, "/*"):
		return s.word(text)
	case strings.Contains(text, "\n"):
		return s.word("/*\n" + strings.TrimSuffix(text, "\n") + "\n*/")
	}
	return s.word("// " + text)
}

// Tag adds the tag of a struct's field.
func (s *Statement) Tag(items map[string]string) *Statement {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(items)) {
		parts = append(parts, key+":"+strconv.Quote(items[key]))
	}
	text := strings.Join(parts, " ")
	if strconv.CanBackquote(text) {
		return s.word("`" + text + "`")
	}
	return s.word(strconv.Quote(text))
}
