package queue

// This file reads one condition over a column, however a server or a person writes it.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// Condition reads an expression as a test of a column by constants, if it is one: also with casts and
// parentheses, as alternatives between OR, as = ANY (ARRAY[…]), and as a boolean that stands alone.
func (s *Spec) Condition(text string) (t Test, ok bool) {
	for i, part := range Disjuncts(text) {
		r := s.Read(plain(PiecesOf(part)))
		one, ok := r.condition(0, len(r.Pieces))
		switch {
		case !ok:
			return Test{}, false
		case i == 0:
			t = one
		case one.Column != t.Column:
			return Test{}, false
		case t.Op == In && one.Op == In:
			t.Values = append(slices.Clip(t.Values), one.Values...)
		default:
			t.Or = append(t.Or, one)
		}
	}
	return t, true
}

// Disjuncts takes an expression apart at OR into the conditions of which any is enough.
func Disjuncts(text string) (parts []string) {
	p, places := PiecesOf(text), PlacesOf(text)
	for len(p) > 1 && p.is(0, "(") && p.closing(0) == len(p)-1 {
		text = text[places[0][1]:places[len(p)-1][0]]
		p, places = PiecesOf(text), PlacesOf(text)
	}
	start, depth := 0, 0
	for i := range p {
		switch {
		case p.is(i, "(", "case"):
			depth++
		case p.is(i, ")", "end"):
			depth--
		case depth == 0 && p.is(i, "or"):
			parts = append(parts, strings.TrimSpace(text[start:places[i][0]]))
			start = places[i][1]
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

// condition reads some pieces as a test of a column by constants, where no OR stands between them.
func (r *Reading) condition(first, end int) (Test, bool) {
	for r.is(first, "(") && r.closing(first) == end-1 {
		first, end = first+1, end-1
	}
	truth := "true"
	at := first
	if r.is(at, "not") {
		truth = "false"
		if at++; r.is(at, "(") && r.closing(at) == end-1 {
			at, end = at+1, end-1
		}
	}
	if at == end-1 {
		c, row := r.Column(at)
		if c == nil || !row || c.Type.Class != schema.Bool || c.Type.Array {
			return Test{}, false
		}
		return Test{Column: c, Op: In, Values: []Value{{Kind: Literal, Text: truth}}}, true
	}
	t, ok := r.comparison(first, end)
	if !ok || t.Column.Type.Class != schema.Bool {
		return t, ok
	}
	for i, v := range t.Values {
		truth, known := truths[strings.ToLower(v.Text)]
		if !known {
			return Test{}, false
		}
		t.Values[i].Text = truth
	}
	if t.Op == NotIn && len(t.Values) == 1 { // of two values it is the other
		t.Op, t.Values[0].Text = In, map[string]string{"true": "false", "false": "true"}[t.Values[0].Text]
	}
	return t, true
}

// truths are the texts that servers read as booleans.
var truths = map[string]string{
	"true": "true", "t": "true", "1": "true", "yes": "true", "y": "true", "on": "true",
	"false": "false", "f": "false", "0": "false", "no": "false", "n": "false", "off": "false",
}

// plain takes out of an expression what binds nothing in a comparison with constants: casts, and
// parentheses around one piece. A list is written with IN, a word for truth as a text.
func plain(p Pieces) Pieces {
	p = listed(uncast(p))
	var out Pieces
	for i := range p {
		end := len(p)
		if list := len(out) > 0 && (out.is(len(out)-1, "in") || out.IsName(len(out)-1) && !out.is(len(out)-1, "not", "and", "or")); !list && p.is(i, "(") {
			end = p.closing(i)
		}
		switch {
		case end < len(p) && (end == i+2 || end == i+3 && p.is(i+1, "-")):
			return plain(slices.Concat(out, p[i+1:end], p[end+1:]))
		case p.is(i, "true", "false") && i > 0 && !p.is(i-1, "is", "not"):
			out = append(out, "'"+strings.ToLower(p[i])+"'")
		default:
			out = append(out, p[i])
		}
	}
	return out
}

// uncast takes PostgreSQL's casts, and the signs of a character set before a text, out of an expression.
func uncast(p Pieces) (out Pieces) {
	for i := 0; i < len(p); i++ {
		if p.is(i, "n", "e") && i+1 < len(p) && textForm.MatchString(p[i+1]) {
			continue
		}
		if !p.is(i, ":") || !p.is(i+1, ":") || !p.IsName(i+2) {
			out = append(out, p[i])
			continue
		}
		i += 2
		if p.is(i+1, "varying", "precision") {
			i++
		}
		if p.is(i+1, "(") {
			i = p.closing(i + 1)
		}
		if p.is(i+1, "[]") {
			i++
		}
	}
	return out
}

// listed writes = ANY (ARRAY[…]) and <> ALL (ARRAY[…]) as IN and NOT IN.
func listed(p Pieces) Pieces {
	for i := range p {
		open := i + 2
		for p.is(open, "(") {
			open++
		}
		if open == i+2 || !p.is(open, "array") || open+1 >= len(p) || !strings.HasPrefix(p[open+1], "[") {
			continue
		}
		in, from := Pieces{"in"}, i
		switch {
		case p.is(i+1, "any") && p[i] == "=":
		case p.is(i+1, "all") && p[i] == ">" && p.is(i-1, "<"):
			in, from = Pieces{"not", "in"}, i-1
		default:
			continue
		}
		end := p.closing(i + 2)
		inner := uncast(PiecesOf(strings.Trim(p[open+1], "[]")))
		return listed(slices.Concat(p[:from], in, Pieces{"("}, inner, Pieces{")"}, p[min(end+1, len(p)):]))
	}
	return p
}
