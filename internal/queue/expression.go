package queue

// This file finds what names mean in an expression that a user wrote.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// A piece of an expression is a text in quotes, a macro, a name with what stands before its
// dots, a number, or a sign.
var pieceForm = regexp.MustCompile("'[^']*'|\\{[^}]*\\}(?:\\.(?:[\\pL_][\\pL\\pN_$#]*|\"[^\"]*\"|`[^`]*`))?|(?:\"[^\"]*\"|`[^`]*`|\\[[^\\]]*\\]|[\\pL_][\\pL\\pN_$#]*)(?:\\.(?:\"[^\"]*\"|`[^`]*`|\\[[^\\]]*\\]|[\\pL_][\\pL\\pN_$#]*))*|\\d[\\d.eE]*|\\S")

// pieceName finds names among pieces, partOfName the parts between their dots.
var (
	pieceName  = regexp.MustCompile("^[\\pL_\"`\\[]")
	partOfName = regexp.MustCompile("\\{[^}]*\\}|\"[^\"]*\"|`[^`]*`|\\[[^\\]]*\\]|[^.]+")
)

// Pieces is an expression in pieces.
type Pieces []string

// PiecesOf takes an expression apart.
func PiecesOf(text string) Pieces { return pieceForm.FindAllString(text, -1) }

// PlacesOf tells where each piece of an expression begins and ends.
func PlacesOf(text string) [][]int { return pieceForm.FindAllStringIndex(text, -1) }

// PieceAt returns the pieces of an expression, and which of them begins at an offset; -1 for
// none.
func PieceAt(text string, offset int) (p Pieces, at int) {
	at = -1
	for _, piece := range PlacesOf(text) {
		if piece[0] == offset {
			at = len(p)
		}
		p = append(p, text[piece[0]:piece[1]])
	}
	return p, at
}

// IsName reports whether the piece at i is a name.
func (p Pieces) IsName(i int) bool { return i >= 0 && i < len(p) && pieceName.MatchString(p[i]) }

// is reports whether the piece at i is one of some words.
func (p Pieces) is(i int, words ...string) bool {
	return i >= 0 && i < len(p) && slices.Contains(words, strings.ToLower(p[i]))
}

// closing returns the parenthesis that closes the one at i, or the end where none does.
func (p Pieces) closing(i int) int {
	depth := 0
	for ; i < len(p); i++ {
		switch p[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// Among is a table whose rows an expression reads besides that of the job.
type Among struct {
	// Name is what it is called there: its own name or an alias.
	Name string
	// Tables have its columns: several of a table that a sub-query makes, none where the DDL
	// does not have it.
	Tables      []*schema.Table
	table       string // its own name, "" of a table that a sub-query makes
	first, last int    // the pieces among which it is called so
}

// Reading is an expression over the row of a job, and what its names mean.
type Reading struct {
	Pieces
	spec  *Spec
	among []Among
}

// Read finds out what the names of an expression mean. Outside are tables that are not named
// within it and that it may read.
func (s *Spec) Read(p Pieces, outside ...Among) *Reading {
	r := &Reading{Pieces: p, spec: s}
	for _, a := range outside {
		a.first, a.last = 0, len(p)
		r.among = append(r.among, a)
	}
	r.find(0, len(p))
	return r
}

// Reads reports whether an expression reads a column of the job's row.
func (s *Spec) Reads(text string, c *schema.Column) bool {
	r := s.Read(PiecesOf(text))
	for i := range r.Pieces {
		if found, row := r.Column(i); found == c && row {
			return true
		}
	}
	return false
}

// Conjuncts takes an expression apart into the conditions that have to hold together. One that has
// OR between its conditions is returned as a whole.
func Conjuncts(text string) (parts []string) {
	p, places := PiecesOf(text), PlacesOf(text)
	start, depth, between := 0, 0, 0
	for i := range p {
		switch {
		case p.is(i, "(", "case"):
			depth++
		case p.is(i, ")", "end"):
			depth--
		case depth > 0:
		case p.is(i, "or", "xor"), p.is(i, "|") && p.is(i+1, "|"):
			return []string{text}
		case p.is(i, "between"):
			between++
		case p.is(i, "and") && between > 0:
			between--
		case p.is(i, "and"):
			parts = append(parts, strings.TrimSpace(text[start:places[i][0]]))
			start = places[i][1]
		}
	}
	parts = append(parts, strings.TrimSpace(text[start:]))
	if last := len(p) - 1; len(parts) == 1 && p.is(0, "(") && p.closing(0) == last {
		return Conjuncts(text[places[0][1]:places[last][0]])
	}
	return parts
}

// Asks reports whether a condition that has to hold asks whether a query finds something, by EXISTS or IN, which a
// server may turn into a join; or whether it finds nothing.
func Asks(text string) (finds, misses bool) {
	for _, c := range Conjuncts(text) {
		p := PiecesOf(c)
		not := p.is(0, "not")
		if not {
			p = p[1:]
		}
		for p.is(0, "(") && p.closing(0) == len(p)-1 {
			p = p[1 : len(p)-1]
		}
		depth := 0
		for i := range p {
			switch {
			case depth == 0 && (p.is(i, "exists") && i == 0 && p.is(1, "(") || p.is(i, "in", "any", "some") && p.is(i+1, "(") && p.is(i+2, "select", "with")):
				if not != p.is(i-1, "not") {
					misses = true
				} else {
					finds = true
				}
			case p.is(i, "(", "case"):
				depth++
			case p.is(i, ")", "end"):
				depth--
			}
		}
	}
	return finds, misses
}

// OfRow writes an expression so that it can be said of another row as well: each column of the
// job's row stands behind {row}.
func (s *Spec) OfRow(text string) string {
	var out strings.Builder
	r, done := s.Read(PiecesOf(text)), 0
	for i, at := range PlacesOf(text) {
		if c, row := r.Column(i); c == nil || !row || r.isWord(i) || strings.HasPrefix(r.Pieces[i], "{row}") {
			continue
		}
		parts := partOfName.FindAllString(r.Pieces[i], -1)
		out.WriteString(text[done:at[0]] + "{row}." + parts[len(parts)-1])
		done = at[1]
	}
	return out.String() + text[done:]
}

// steadyWords are those between the columns and constants of an expression that is null for no row.
var steadyWords = []string{"case", "when", "then", "else", "end", "and", "or", "not", "in", "between", "like", "is"}

// NeverNull reports whether an expression surely has a value for every row: it compares, adds and
// chooses among constants and columns that are not null.
func (s *Spec) NeverNull(text string) bool {
	r := s.Read(PiecesOf(text))
	cases := 0
	for i, p := range r.Pieces {
		switch word := strings.ToLower(p); {
		case word == "case":
			cases++
		case word == "else":
			cases--
		case slices.Contains(steadyWords, word), numberForm.MatchString(p), textForm.MatchString(p) && p != "''":
		case r.IsName(i), strings.HasPrefix(p, "{row}."):
			if c, row := r.Column(i); c == nil || !row || !c.NotNull {
				return false
			}
		case !strings.Contains("=<>!+-*(),", p), p == ">" && r.is(i-1, "-"):
			return false
		}
	}
	return cases == 0
}

// Comparisons lists the conditions of a text that compare a column of the job's row with
// constants, where all have to hold: "state > 1000 and scope in (1, 2)". What else it asks is left
// out.
func (s *Spec) Comparisons(text string) (list []Test) {
	r := s.Read(PiecesOf(text))
	for first := 0; first < len(r.Pieces); {
		end, depth, between := first, 0, false
		for ; end < len(r.Pieces); end++ {
			switch {
			case r.is(end, "("):
				depth++
			case r.is(end, ")"):
				depth--
			case r.is(end, "between", "case"):
				between = true
			case depth == 0 && r.is(end, "or"):
				return nil
			}
			if depth == 0 && r.is(end, "and") {
				break
			}
		}
		if between {
			return nil // its AND joins no conditions
		}
		for last := end; ; first, last = first+1, last-1 {
			if t, ok := r.comparison(first, last); ok {
				list = append(list, t)
			} else if first < last && r.is(first, "(") && r.closing(first) == last-1 {
				continue
			}
			break
		}
		first = end + 1
	}
	return list
}

// comparisonOps are the signs that compare a column with a constant.
var comparisonOps = map[string]Op{"=": In, "==": In, "<>": NotIn, "!=": NotIn, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreatEqual}

// comparison reads some pieces as the comparison of a column with constants.
func (r *Reading) comparison(first, end int) (Test, bool) {
	if first >= end {
		return Test{}, false
	}
	c, row := r.Column(first)
	if c == nil || !row {
		return Test{}, false
	}
	t := Test{Column: c}
	rest := r.Pieces[first+1 : end]
	words := strings.ToLower(strings.Join(rest[:min(2, len(rest))], " "))
	switch {
	case words == "is null" && len(rest) == 2:
		return Test{Column: c, Op: IsNull}, true
	case words == "is not" && len(rest) == 3 && strings.EqualFold(rest[2], "null"):
		return Test{Column: c, Op: NotNull}, true
	case words == "in (":
		t.Op, rest = In, rest[1:]
	case words == "not in":
		t.Op, rest = NotIn, rest[2:]
	}
	if t.Op != "" {
		if len(rest) < 3 || rest[0] != "(" || rest[len(rest)-1] != ")" {
			return Test{}, false
		}
		rest = rest[1 : len(rest)-1]
	} else {
		// A sign of two characters is two pieces.
		n := 0
		for n < len(rest) && n < 2 && strings.Contains("=<>!", rest[n]) {
			n++
		}
		t.Op, rest = comparisonOps[strings.Join(rest[:n], "")], rest[n:]
	}
	for len(rest) > 0 {
		text := rest[0]
		if text == "-" && len(rest) > 1 {
			text, rest = text+rest[1], rest[1:]
		}
		rest = rest[1:]
		_, err := strconv.ParseInt(text, 10, 64)
		quoted := len(text) > 1 && text[0] == '\'' && (len(rest) == 0 || rest[0] == ",")
		switch {
		case quoted:
			text = text[1 : len(text)-1]
		case err != nil:
			return Test{}, false
		}
		t.Values = append(t.Values, Value{Kind: Literal, Text: text})
		if len(rest) == 0 {
			break
		}
		if rest[0] != "," || t.Op != In && t.Op != NotIn {
			return Test{}, false
		}
		rest = rest[1:]
	}
	return t, t.Op != "" && len(t.Values) > 0
}

// Bounds returns the column of the job's row of which a condition asks that it is on one side of a value, or equal
// to it, which is one for all rows; nil where it asks anything else, or a function, which may have another value each time.
func (s *Spec) Bounds(text string) *schema.Column {
	p := PiecesOf(text)
	for p.is(0, "(") && p.closing(0) == len(p)-1 {
		p = p[1 : len(p)-1]
	}
	if len(p) < 3 {
		return nil
	}
	r := s.Read(p)
	c, row := r.Column(0)
	signed := 1
	for signed < len(p) && strings.Contains("=<>", p[signed]) {
		signed++
	}
	switch strings.Join(p[1:signed], "") {
	case "<", "<=", ">", ">=", "=":
	default:
		return nil
	}
	for i := signed; i < len(p); i++ {
		if found, own := r.Column(i); found != nil && own || r.IsName(i) && r.is(i+1, "(") || r.is(i, "and", "or", "xor", "select", "case", "is", "not", "in", "between", "like", "|", "=", "<", ">") {
			return nil
		}
	}
	if signed == len(p) || !row {
		return nil
	}
	return c
}

// ReadsSurely reports whether an expression reads a column of the job's row, and not perhaps one of
// a table that the DDL does not have, or a word that is called so.
func (s *Spec) ReadsSurely(text string, c *schema.Column) bool {
	r := s.Read(PiecesOf(text))
	for i, p := range r.Pieces {
		found, row := r.Column(i)
		if found != c || !row {
			continue
		}
		bare := len(partsOf(p)) == 1
		unknown := func(a Among) bool { return a.first <= i && i < a.last && len(a.Tables) == 0 }
		if bare && (slices.ContainsFunc(r.among, unknown) || r.isWord(i) || r.is(i, behindTable...)) {
			continue
		}
		return true
	}
	return false
}

// isWord reports whether the piece at i is rather a word of SQL than a column: a type, or a unit
// of time.
func (p Pieces) isWord(i int) bool {
	if i > 0 && (p.is(i-1, "as", ":") || numberForm.MatchString(p[i-1])) {
		return true
	}
	return i+1 < len(p) && (p.is(i+1, "from") || textForm.MatchString(p[i+1]))
}

// Column returns the column that the piece at i names, nil where the DDL has none, and whether
// it is one of the job's own row.
func (r *Reading) Column(i int) (c *schema.Column, row bool) {
	if !r.IsName(i) && !strings.HasPrefix(r.Pieces[i], "{row}.") || r.is(i+1, "(") && !r.is(i, "in") {
		return nil, false // a function takes what stands in parentheses
	}
	parts := partsOf(r.Pieces[i])
	name, of := parts[len(parts)-1], parts[:len(parts)-1]
	if len(of) > 0 && of[0] == "{row}" {
		return columnAmong(name, r.spec.Table), true
	}
	var nearest *Among
	for at := range r.among {
		a := &r.among[at]
		switch {
		case i < a.first || i >= a.last || nearest != nil && nearest.last-nearest.first <= a.last-a.first:
		case len(of) == 0 && columnAmong(name, a.Tables...) != nil, len(of) > 0 && strings.EqualFold(a.Name, of[len(of)-1]):
			nearest = a
		}
	}
	switch {
	case nearest != nil:
		return columnAmong(name, nearest.Tables...), false
	case len(of) == 0:
		return columnAmong(name, r.spec.Table), true
	}
	t := r.table(of)
	return columnAmong(name, t...), slices.Contains(t, r.spec.Table)
}

// looksInto reports whether a sub-query of the expression reads the table of that name.
func (r *Reading) looksInto(table string) bool {
	return slices.ContainsFunc(r.among, func(a Among) bool { return strings.EqualFold(a.table, table) })
}

// find finds the tables that sub-queries read within some pieces, and returns those that the
// outermost of them reads.
func (r *Reading) find(first, last int) (tables []*schema.Table) {
	selects, from := false, false
	for i := first; i < last; i++ {
		switch {
		case r.is(i, "("):
			end := r.closing(i)
			r.find(i+1, end)
			i = end
		case r.is(i, "select"):
			selects = true
		case r.is(i, "where", "group", "having", "order", "limit", "window", "fetch", "union", "except", "intersect"):
			from = false
		case r.is(i, "from") && selects && !r.is(i-1, "distinct"), from && r.is(i, "join", "straight_join", ","):
			from = true
			if r.is(i+1, "lateral", "only") {
				i++
			}
			a := Among{first: first, last: last}
			switch {
			case r.is(i+1, "("):
				end := r.closing(i + 1)
				a.Tables = r.find(i+2, end)
				i = end
			case r.IsName(i+1) && !r.is(i+2, "("):
				i++
				parts := partsOf(r.Pieces[i])
				a.table, a.Tables = parts[len(parts)-1], r.table(parts)
				a.Name = a.table
			}
			if at := r.Alias(i + 1); at >= 0 {
				i = at
				a.Name = unquoted(r.Pieces[i])
			}
			r.among = append(r.among, a)
			tables = append(tables, a.Tables...)
		}
	}
	return tables
}

// Alias returns the piece that is another name of a table behind whose own name the piece at i stands, -1
// where it has none.
func (p Pieces) Alias(i int) int {
	if p.is(i, "as") {
		i++
	}
	if p.IsName(i) && !p.is(i, behindTable...) {
		return i
	}
	return -1
}

// behindTable are words that stand behind a table and are no alias of it.
var behindTable = []string{
	"where", "on", "using", "join", "inner", "left", "right", "full", "outer", "cross", "natural", "straight_join",
	"group", "having", "order", "limit", "offset", "fetch", "window", "for", "lock", "union", "except", "intersect", "minus", "with",
	"force", "use", "ignore", "partition", "tablesample", "indexed", "not",
}

// table returns the table of the DDL that is written so, the queue's own first.
func (r *Reading) table(parts []string) []*schema.Table {
	name, of := parts[len(parts)-1], ""
	if len(parts) > 1 {
		of = parts[len(parts)-2]
	}
	for _, t := range slices.Concat([]*schema.Table{r.spec.Table}, r.spec.Tables) {
		if strings.EqualFold(t.Name, name) && (of == "" || t.Schema == "" || strings.EqualFold(t.Schema, of)) {
			return []*schema.Table{t}
		}
	}
	return nil
}

// Named returns the column of the queue's table that has a name, also in quotes; nil where none
// has.
func (s *Spec) Named(name string) *schema.Column { return columnAmong(unquoted(name), s.Table) }

// columnAmong returns the first column of that name, nil where the tables have none.
func columnAmong(name string, tables ...*schema.Table) *schema.Column {
	for _, t := range tables {
		if c := t.Column(name); c != nil {
			return c
		}
		for _, c := range t.Columns {
			if strings.EqualFold(c.Name, name) {
				return c
			}
		}
	}
	return nil
}

// partsOf returns the parts of a name between its dots, without their quotes.
func partsOf(name string) []string {
	parts := partOfName.FindAllString(name, -1)
	for i, p := range parts {
		parts[i] = unquoted(p)
	}
	return parts
}

// unquoted returns a part of a name without its quotes.
func unquoted(part string) string { return strings.Trim(part, "\"`[]") }
