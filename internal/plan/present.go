package plan

// This file finds what {now} is in an expression that the user wrote.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// A piece of an expression is a text in quotes, a macro, a name with what stands before its
// dots, a number, or a sign.
var pieces = regexp.MustCompile("'[^']*'|\\{[^}]*\\}(?:\\.(?:[\\pL_][\\pL\\pN_$#]*|\"[^\"]*\"|`[^`]*`))?|(?:\"[^\"]*\"|`[^`]*`|\\[[^\\]]*\\]|[\\pL_][\\pL\\pN_$#]*)(?:\\.(?:\"[^\"]*\"|`[^`]*`|\\[[^\\]]*\\]|[\\pL_][\\pL\\pN_$#]*))*|\\d[\\d.eE]*|\\S")

// isName finds names among pieces.
var isName = regexp.MustCompile("^[\\pL_\"`\\[]")

// apart are words between which a comparison stands.
var apart = []string{"and", "or", "not", "case", "when", "then", "else", "end", "where", "on", "select", "from", "having"}

// expression is a text in pieces.
type expression []string

// divides reports whether a piece ends a comparison.
func (e expression) divides(i int) bool {
	return e[i] == "," || slices.Contains(apart, strings.ToLower(e[i]))
}

// calls reports whether the parenthesis at i holds the arguments of a function.
func (e expression) calls(i int) bool {
	if i == 0 || e.divides(i-1) || strings.EqualFold(e[i-1], "in") {
		return false
	}
	return isName.MatchString(e[i-1])
}

// edge returns the last piece, in the direction of step, of the comparison that holds piece i:
// what stands beside it within the same parentheses. With all, commas do not end it.
func (e expression) edge(i, step int, all bool) int {
	deeper, back, depth := "(", ")", 0
	if step < 0 {
		deeper, back = back, deeper
	}
	for next := i + step; next >= 0 && next < len(e); next += step {
		switch {
		case e[next] == deeper:
			depth++
		case e[next] == back && depth == 0:
			return i
		case e[next] == back:
			depth--
		case depth == 0 && e.divides(next) && (!all || e[next] != ","):
			return i
		}
		i = next
	}
	return i
}

// present returns the present as the column keeps it with which the {now} at an offset is
// compared, and as a time with zone, or a number of seconds, where that is none. Around a
// function that {now} is given to, only times without zone count: of what becomes of it
// nothing else is known.
func (s *scope) present(text string, offset int) string {
	var e expression
	at := -1
	for _, piece := range pieces.FindAllStringIndex(text, -1) {
		if piece[0] == offset {
			at = len(e)
		}
		e = append(e, text[piece[0]:piece[1]])
	}
	first, last, within := at, at, false
	for at >= 0 {
		first, last = e.edge(first, -1, within), e.edge(last, 1, within)
		if c := s.timeAmong(e[first:last+1], within); c != nil {
			return s.clock(c, nil)
		}
		var before, behind string
		if first > 0 {
			before = e[first-1]
		}
		if last+1 < len(e) {
			behind = e[last+1]
		}
		called := before == "(" && e.calls(first-1)
		if !within && (called || before == "," || behind == ",") {
			within = true // now the other arguments
			continue
		}
		if before != "(" || behind != ")" {
			break
		}
		first, last = first-1, last+1
	}
	for _, kind := range []string{"timestamptz", "epoch"} {
		if c, ok := s.d.Clock(kind, s.version); ok {
			return c.Now
		}
	}
	return "NULL"
}

// timeAmong returns the first column of an expression that keeps time, outside of functions;
// with bare only one that is a time without zone.
func (s *scope) timeAmong(e expression, bare bool) *schema.Column {
	for i := 0; i < len(e); i++ {
		if e[i] == "(" && e.calls(i) {
			i = e.edge(i, 1, true) // over the arguments
			continue
		}
		c := s.named(e[i])
		if c == nil || s.clockKind(c) == "" {
			continue
		}
		role := s.roles[c]
		if !bare || c.Type.Class == schema.Timestamp && !c.Type.Zone && (role == nil || role.As == "") {
			return c
		}
	}
	return nil
}

// named returns the column of the queue's table that is written so in an expression.
func (s *scope) named(written string) *schema.Column {
	written = strings.TrimPrefix(strings.TrimPrefix(written, "{row}."), s.d.Ident(s.spec.Table.Name)+".")
	for _, c := range s.spec.Table.Columns {
		if written == s.d.Ident(c.Name) || strings.EqualFold(written, c.Name) || strings.Trim(written, "\"`[]") == c.Name {
			return c
		}
	}
	return nil
}
