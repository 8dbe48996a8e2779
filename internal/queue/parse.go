package queue

// This file reads the annotation language: text in, annotations out. It knows
// the grammar and none of the verbs.

import (
	"strings"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// mark starts an annotation in a comment.
const mark = "qgen:"

// annotation is one verb with its words, as written.
type annotation struct {
	verb   string
	pos    source.Pos // of the verb
	scopes []scope    // the queues it belongs to; empty for all of the table
	words  []*word
	text   string // the words as written
	// yaml: stands in qgen.yaml, which wins over comments.
	yaml bool
	// above: stands above the first column and may speak of the table.
	above bool
	// beside: stands behind the table on the line of its last column, and may
	// speak of that.
	beside *schema.Column
}

// scope is the name of a queue in parentheses behind a verb.
type scope struct {
	queue string
	pos   source.Pos
}

// operator joins the name of a word to its values.
type operator string

const (
	flag      operator = ""   // no values: the word stands alone
	equals    operator = "="  // test and write
	tests     operator = "~"  // test only
	assigns   operator = ":=" // write only
	separator operator = ","  // the word is a comma
)

// word is one word of an annotation. A word without operator has one value:
// itself.
type word struct {
	name   string // before the operator; "" for a quoted word
	op     operator
	values []literal
	pos    source.Pos
}

// quoting says how a literal was written.
type quoting int

const (
	bare quoting = iota
	quoted
	sql
)

// literal is a value as written, less its quotes.
type literal struct {
	text  string
	quote quoting
	pos   source.Pos
}

// written is the literal as annotations write it.
func (l literal) written() string {
	switch l.quote {
	case sql:
		return `"` + strings.ReplaceAll(l.text, `"`, `""`) + `"`
	case quoted:
		return "'" + strings.ReplaceAll(l.text, "'", "''") + "'"
	}
	return l.text
}

// at returns the position of length bytes at offset of the literal's text.
func (l literal) at(offset, length int) source.Pos {
	inner := l.pos
	if raw := l.pos.Text(); len(raw) > 1 && (raw[0] == '"' || raw[0] == '\'') && raw[len(raw)-1] == raw[0] {
		inner = l.pos.Sub(1, len(raw)-2)
	}
	return locate(l.text, inner, true)(offset, length)
}

// locator finds length bytes at offset of a text in the file that holds it.
type locator func(offset, length int) source.Pos

// parseComment reads the annotations of a comment.
func parseComment(c schema.Comment, errs *source.ErrorList) []*annotation {
	s := &scanner{text: c.Text, locate: locate(c.Text, c.Pos, c.Exact), errs: errs}
	found := s.comment()
	for _, a := range found {
		a.above, a.beside = c.AboveFirst, c.Beside
	}
	return found
}

// parseWords reads a text of qgen.yaml: annotations without their mark. The
// words of the queue annotation come without its verb, too.
func parseWords(text config.String, verb string, errs *source.ErrorList) []*annotation {
	s := &scanner{text: text.Value, locate: locate(text.Value, text.Pos, text.Exact), errs: errs}
	var found []*annotation
	if verb != "" {
		a := &annotation{verb: verb, pos: text.Pos}
		more := s.words(a)
		found = append(found, a)
		if more {
			found = append(found, s.list()...)
		}
	} else {
		s.space()
		s.prefix()
		found = s.list()
	}
	for _, a := range found {
		a.yaml = true
	}
	return found
}

// locate returns the locator of a text that stands at pos. Where quotes had to
// be undone, what is the same in both is matched up; where even that fails,
// everything stands at pos.
func locate(text string, pos source.Pos, exact bool) locator {
	raw := pos.Text()
	if exact && raw == text {
		return pos.Sub
	}
	offsets := align(raw, text)
	if offsets == nil {
		return func(int, int) source.Pos { return pos }
	}
	return func(offset, length int) source.Pos {
		start, end := offsets[min(offset, len(text))], offsets[min(offset+length, len(text))]
		return pos.Sub(start, max(0, end-start))
	}
}

// align returns for each byte of text, and for its end, the offset in raw at
// which it was written; nil when raw is not text with quotes or backslashes
// before some of its characters.
func align(raw, text string) []int {
	offsets := make([]int, 0, len(text)+1)
	at := 0
	for i := range len(text) {
		if at+1 < len(raw) && strings.IndexByte(`'"\`, raw[at]) >= 0 && raw[at+1] == text[i] &&
			(raw[at] != text[i] || i+1 == len(text) || text[i+1] != text[i]) {
			at++
		}
		if at >= len(raw) || raw[at] != text[i] {
			return nil
		}
		offsets = append(offsets, at)
		at++
	}
	return append(offsets, at)
}

// scanner walks over a text.
type scanner struct {
	text   string
	locate locator
	errs   *source.ErrorList
	at     int
}

// comment reads every annotation of a comment; what stands before the first
// mark is free text.
func (s *scanner) comment() []*annotation {
	var found []*annotation
	for s.seek() {
		found = append(found, s.list()...)
	}
	return found
}

// annotated reports whether a comment holds the mark of an annotation.
func annotated(c schema.Comment) bool {
	s := &scanner{text: c.Text}
	return s.seek()
}

// seek moves behind the next mark that begins a word.
func (s *scanner) seek() bool {
	for {
		i := strings.Index(s.text[s.at:], mark)
		if i < 0 {
			s.at = len(s.text)
			return false
		}
		s.at += i + len(mark)
		if start := s.at - len(mark); start == 0 || isSpace(s.text[start-1]) || strings.IndexByte(";*", s.text[start-1]) >= 0 {
			return true
		}
	}
}

// prefix moves behind a mark.
func (s *scanner) prefix() bool {
	if strings.HasPrefix(s.text[s.at:], mark) {
		s.at += len(mark)
		return true
	}
	return false
}

// list reads annotations that follow each other.
func (s *scanner) list() []*annotation {
	var found []*annotation
	for {
		if !strings.HasSuffix(s.text[:s.at], mark) && s.free() {
			return found
		}
		a := s.verb()
		if a == nil {
			return found
		}
		more := s.words(a)
		if a.verb != "" {
			found = append(found, a)
		}
		if !more {
			return found
		}
	}
}

// free passes over free text and reports whether nothing but that was left.
func (s *scanner) free() bool {
	for {
		s.space()
		switch {
		case s.at == len(s.text):
			return true
		case s.text[s.at] == ';': // between it and the last one stands nothing
			s.at++
		case strings.HasPrefix(s.text[s.at:], "--"):
			s.line()
			return true
		case s.text[s.at] == '(':
			if !s.aside() {
				return true
			}
		default:
			return false
		}
	}
}

// verb reads a verb and its scope; nil after a complaint.
func (s *scanner) verb() *annotation {
	start := s.at
	name := s.name()
	if name == "" {
		s.errs.Errorf(s.locate(start, 0), "a verb is missing here").
			WithHint("An annotation is qgen:verb without a space, for example qgen:payload. Free text goes after \" -- \" or in parentheses.")
		s.skip()
		return nil
	}
	a := &annotation{verb: name, pos: s.locate(start, len(name))}
	if s.at < len(s.text) && s.text[s.at] == '(' {
		s.scope(a)
	}
	if s.at < len(s.text) && (s.text[s.at] == '=' || s.text[s.at] == ':') {
		s.valued(a)
		s.skip()
		return nil
	}
	return a
}

// valued complains about a value that stands directly behind a verb.
func (s *scanner) valued(a *annotation) {
	sign, rest := s.at, s.text[s.at+1:]
	if end := strings.IndexAny(rest, " \t\n;"); end >= 0 {
		rest = rest[:end]
	}
	v := findVerb(a.verb)
	if v == nil {
		a.check(s.errs)
		return
	}
	e := s.errs.Errorf(s.locate(sign, 1), "%s is a verb, and has no value of its own", a.verb)
	if _, isLength := parseDuration(rest); isLength {
		for _, r := range v.words {
			if r.name == "length" || r.name == "timeout" {
				e.WithHint("Write qgen:%s %s=%s.", a.verb, r.name, rest)
				return
			}
		}
	}
	if rest == "" {
		e.WithHint("Leave the %c out: its words stand behind a space.", s.text[sign])
		return
	}
	e.WithHint("Its words stand behind a space: qgen:queue mails, qgen:lease length=5m.")
}

// scope reads "(queue, queue)".
func (s *scanner) scope(a *annotation) {
	open := s.at
	s.at++
	for {
		s.space()
		start := s.at
		for s.at < len(s.text) && (isName(s.text[s.at]) || s.text[s.at] == '-') {
			s.at++
		}
		if s.at == start {
			break
		}
		a.scopes = append(a.scopes, scope{queue: s.text[start:s.at], pos: s.locate(start, s.at-start)})
		s.space()
		if s.at == len(s.text) || s.text[s.at] != ',' {
			break
		}
		s.at++
	}
	if s.at < len(s.text) && s.text[s.at] == ')' && len(a.scopes) > 0 {
		s.at++
		return
	}
	s.errs.Errorf(s.locate(open, max(1, s.at-open)), "this is not a list of queues").
		WithHint("Parentheses directly behind a verb name the queues it belongs to: qgen:%s(cleaner). Free text in parentheses needs a space before it.", a.verb)
	s.skip()
	a.verb = ""
}

// words reads the words of an annotation up to its end and reports whether
// another annotation begins there.
func (s *scanner) words(a *annotation) (more bool) {
	start, end := s.at, s.at
	defer func() { a.text = strings.TrimSpace(s.text[start:end]) }()
	for {
		s.space()
		switch {
		case s.at == len(s.text):
			return false
		case s.text[s.at] == ';':
			s.at++
			if s.free() {
				return false
			}
			s.prefix() // may be repeated
			return true
		case strings.HasPrefix(s.text[s.at:], mark):
			return s.prefix()
		case strings.HasPrefix(s.text[s.at:], "--"):
			s.line()
			return false
		case s.text[s.at] == '(':
			if !s.aside() {
				return false
			}
			continue
		case s.text[s.at] == ',':
			a.words = append(a.words, &word{op: separator, pos: s.locate(s.at, 1)})
			s.at++
		default:
			w := s.word()
			if w == nil {
				a.verb = "" // one complaint is enough
				s.skip()
				return false
			}
			a.words = append(a.words, w)
		}
		end = s.at
	}
}

// word reads one word; nil after a complaint.
func (s *scanner) word() *word {
	start := s.at
	w := &word{name: s.name()}
	if w.name != "" {
		for _, op := range []operator{assigns, equals, tests} {
			if strings.HasPrefix(s.text[s.at:], string(op)) {
				w.op = op
				break
			}
		}
	}
	if w.op == flag {
		s.at = start
		v, ok := s.literal()
		if !ok {
			return nil
		}
		w.name, w.values = "", []literal{v}
		if v.quote == bare {
			w.name = v.text
		}
		w.pos = s.locate(start, s.at-start)
		return w
	}
	s.at += len(w.op)
	for {
		if s.at == len(s.text) || isSpace(s.text[s.at]) || strings.IndexByte(";,|", s.text[s.at]) >= 0 {
			s.errs.Errorf(s.locate(start, s.at-start), "a value is missing after %q", s.text[start:s.at]).
				WithHint("Write the value without a space: %s%s'…'. An empty text is ''.", w.name, w.op)
			return nil
		}
		v, ok := s.literal()
		if !ok {
			return nil
		}
		w.values = append(w.values, v)
		if s.at == len(s.text) || s.text[s.at] != '|' {
			w.pos = s.locate(start, s.at-start)
			return w
		}
		s.at++
	}
}

// literal reads one value.
func (s *scanner) literal() (literal, bool) {
	start := s.at
	if q := s.text[s.at]; q == '\'' || q == '"' {
		text, ok := s.quoted()
		kind := quoted
		if q == '"' {
			kind = sql
		}
		if end := s.at; ok && end < len(s.text) && (isName(s.text[end]) || s.text[end] == '\\') {
			s.errs.Errorf(s.locate(end-1, 1), "this quote ends the value, and text follows").
				WithHint("Inside, a %c is written twice. Behind a value stands a space.", q)
			return literal{}, false
		}
		return literal{text: text, quote: kind, pos: s.locate(start, s.at-start)}, ok
	}
	for s.at < len(s.text) && !isSpace(s.text[s.at]) && strings.IndexByte(";|,'\"()=~", s.text[s.at]) < 0 {
		s.at++
	}
	text := s.text[start:s.at]
	switch {
	case text != "" && strings.HasPrefix(s.text[s.at:], "()"):
		s.errs.Errorf(s.locate(start, len(text)+2), "%s() is SQL, which stands in double quotes", text).
			WithHint("Write \"%s()\", or now for the present.", text)
		return literal{}, false
	case text == "":
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		s.errs.Errorf(s.locate(s.at, size), "unexpected %q", r).
			WithHint("A word is a flag or name=value, without spaces around the sign. Values with other characters than letters, digits and . - + _ : * / stand in quotes: 'a b'. Free text goes after \" -- \" or in parentheses.")
		return literal{}, false
	case strings.HasSuffix(text, ":") && s.at < len(s.text) && s.text[s.at] == '\'':
		rest, ok := s.quoted()
		return literal{text: text + rest, pos: s.locate(start, s.at-start)}, ok
	}
	return literal{text: text, pos: s.locate(start, s.at-start)}, true
}

// quoted reads a text in quotes; a doubled quote stands for itself.
func (s *scanner) quoted() (string, bool) {
	start, q := s.at, s.text[s.at]
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		if s.text[s.at] != q {
			b.WriteByte(s.text[s.at])
			continue
		}
		s.at++
		if s.at == len(s.text) || s.text[s.at] != q {
			return b.String(), true
		}
		b.WriteByte(q)
	}
	s.errs.Errorf(s.locate(start, len(s.text)-start), "the quote is not closed").
		WithHint("Close it with %c in the same comment; a %c inside is written twice.", q, q)
	return "", false
}

// name reads letters, digits and underscores that do not start with a digit.
func (s *scanner) name() string {
	start := s.at
	for s.at < len(s.text) && isName(s.text[s.at]) && (s.at > start || s.text[s.at] < '0' || s.text[s.at] > '9') {
		s.at++
	}
	return s.text[start:s.at]
}

// aside passes over free text in parentheses.
func (s *scanner) aside() bool {
	start, depth := s.at, 0
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				s.at++
				return true
			}
		}
	}
	s.errs.Errorf(s.locate(start, len(s.text)-start), "the parenthesis is not closed").
		WithHint("Free text in parentheses ends with ) in the same comment.")
	return false
}

// space passes over white space.
func (s *scanner) space() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

// line passes over the rest of the line.
func (s *scanner) line() {
	if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
		s.at += i
		return
	}
	s.at = len(s.text)
}

// skip passes over the rest of an annotation that could not be read.
func (s *scanner) skip() {
	if i := strings.Index(s.text[s.at:], "\n"+mark); i >= 0 {
		s.at += i
		return
	}
	s.at = len(s.text)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
