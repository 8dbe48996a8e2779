package schema

// This file reads statements that take rows: which rows they ask for, what they
// write and which locks they take. It goes by the tokens, since that is the same in
// every SQL; whether a statement is one, the parser of the database says (Check).
// What it does not understand it hands on as it is written.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// A RowStatement is a statement, or a query within one, as far as it tells who gets
// a row.
type RowStatement struct {
	Verb    string // select, update, delete, begin, commit; "" for any other
	Text    string // on one line
	Off     int    // of its first word
	Sources []RowSource
	Target  RowName // of update and delete: the table, or what Sources or With call it
	Set     []RowSet
	Where   []*RowTest // all of them hold
	Lock    string     // of select: update, share, or "" for none
	Skips   bool       // passes over locked rows
	With    []RowSource
	// Odd is what the reader does not know and what may tell who gets a row.
	Odd string
}

// A RowSource is a table or a query that a statement reads.
type RowSource struct {
	Name  RowName // of a table; its last part alone counts for a query
	Alias string
	Query *RowStatement
}

// Called is what the statement calls it.
func (s RowSource) Called() string {
	if s.Alias != "" {
		return s.Alias
	}
	return s.Name.Name
}

// A RowName is the name of a table or a column, with what stands in front of it.
type RowName struct {
	Of, Name string
	Off, Len int
}

// A RowSet gives a column a value.
type RowSet struct {
	Column RowName
	Value  RowValue
	Text   string
}

// RowValueKind says what a RowValue is.
type RowValueKind string

// The kinds of values.
const (
	RowLiteral  RowValueKind = "literal"
	RowNull     RowValueKind = "null"
	RowArgument RowValueKind = "argument" // is known when the statement runs
	RowNow      RowValueKind = "now"
	RowEarlier  RowValueKind = "earlier" // a time before now
	RowLater    RowValueKind = "later"
	RowColumn   RowValueKind = "column" // Name, which may be a variable as well
	RowQuery    RowValueKind = "query"
	RowOther    RowValueKind = "other"
)

// A RowValue is what a column is compared with or gets.
type RowValue struct {
	Kind  RowValueKind
	Text  string // of a literal what it stands for, else as written
	Name  RowName
	Query *RowStatement
}

// A RowTest is a condition.
type RowTest struct {
	// Op is one of "in", "not in", "null", "not null", "<", "<=", ">", ">=", "any"
	// (one of Any, in each of which all hold), "" for what is not understood.
	Op     string
	Column RowName
	Values []RowValue
	Any    [][]*RowTest
	Names  []string // that stand in a condition which is not understood
	Text   string
}

// RowStatements reads statements of a grammar, and returns what its parser has
// against them. Values that a driver fills in may be written as any driver has them.
func RowStatements(grammar, sql string) ([]*RowStatement, error) {
	g, ok := grammars[grammar]
	if !ok {
		return nil, Check(grammar, sql) // which knows no such grammar
	}
	lexis := *g.lexis
	if err := Check(grammar, sql); err != nil {
		if err = Check(grammar, filled(sql, lexis)); err != nil {
			return nil, err
		}
	}
	script := scan(source.NewFile("", []byte(sql)), lexis)
	statements := script.statements
	if lexis.unmarked {
		statements = script.sentences()
	}
	var list []*RowStatement
	for _, st := range statements {
		end := len(st.tokens)
		for end > 0 && st.is(end-1, ";", "/") {
			end--
		}
		if end > 0 {
			list = append(list, (&rowReader{statement: st, escapes: lexis.escapes}).read(0, end))
		}
	}
	return list, nil
}

// placeholder is how drivers write a value that is filled in.
var placeholder = regexp.MustCompile(`^(\?[0-9]*|[$:@][A-Za-z0-9_]+|%s|%\([A-Za-z0-9_]+\)s)`)

// filled writes a number in the place of what drivers fill in.
func filled(sql string, lex lexis) string {
	script := scan(source.NewFile("", []byte(sql)), lex)
	out := []byte(sql)
	for i := 0; i < len(script.tokens); i++ {
		t := script.tokens[i]
		if t.kind == text || t.kind == quoted {
			continue
		}
		found := placeholder.FindString(sql[t.off:])
		if found == "" || i > 0 && script.tokens[i-1].end == t.off && script.tokens[i-1].kind != sign {
			continue
		}
		for n := range found {
			out[t.off+n] = ' '
		}
		out[t.off] = '1'
		for i+1 < len(script.tokens) && script.tokens[i+1].off < t.off+len(found) {
			i++
		}
	}
	return string(out)
}

type rowReader struct {
	*statement
	escapes bool
}

// clauses are the words that begin a part of a statement, outside parentheses. Those
// that may be names as well do so in front of certain words only.
var clauses = map[string][]string{
	"set": nil, "from": nil, "using": nil, "where": nil, "having": nil, "limit": nil, "into": nil, "union": nil, "intersect": nil,
	"except": nil, "returning": nil, "group": {"by"}, "order": {"by"}, "fetch": {"first", "next"}, "lock": {"in"}, "minus": {"select"},
	"for":    {"update", "share", "no", "key", "xml", "json", "browse", "read"},
	"output": {"inserted", "deleted"}, "option": {"("}, "connect": {"by"}, "start": {"with"},
}

// beginsClause reports whether a clause begins at token i.
func (r *rowReader) beginsClause(i int) bool {
	if r.tokens[i].kind != word || r.is(i-1, ".") || r.is(i+1, ".") {
		return false
	}
	behind, ok := clauses[strings.ToLower(r.text(i))]
	switch {
	case !ok, r.is(i, "from") && r.is(i-1, "distinct") && r.is(i-2, "is", "not"):
		return false
	case behind == nil:
		return true
	}
	return r.is(i+1, behind...)
}

// A part is a clause: its word and the tokens behind it.
type part struct {
	word     string
	from, to int
}

// parts cuts the tokens from i on at the words that begin clauses. What stands in
// front of the first has no word.
func (r *rowReader) parts(i, end int) []part {
	parts := []part{{from: i}}
	cases := 0
	for ; i < end; i++ {
		switch {
		case r.is(i, "("):
			i = min(r.closing(i), end-1)
			continue
		case r.is(i, "case"):
			cases++
		case r.is(i, "end") && cases > 0:
			cases--
		}
		if cases > 0 || !r.beginsClause(i) {
			continue
		}
		parts[len(parts)-1].to = i
		parts = append(parts, part{word: strings.ToLower(r.text(i)), from: i + 1})
	}
	parts[len(parts)-1].to = end
	return parts
}

// read reads the tokens from i up to end.
func (r *rowReader) read(i, end int) *RowStatement {
	s := &RowStatement{Text: r.written(i, end)}
	if i < end {
		s.Off = r.tokens[i].off
	}
	for i < end && r.is(i, "(") && r.closing(i) == end-1 {
		i, end = i+1, end-1
	}
	if r.is(i, "with") {
		i = r.common(s, i+1, end)
	}
	switch {
	case r.is(i, "select"):
		s.Verb = "select"
		r.query(s, i+1, end)
	case r.is(i, "update"):
		s.Verb = "update"
		r.update(s, i+1, end)
	case r.is(i, "delete"):
		s.Verb = "delete"
		r.delete(s, i+1, end)
	case r.is(i, "begin"), r.skip(i, "start", "transaction") > i:
		s.Verb = "begin"
	case r.is(i, "commit", "rollback", "end"):
		s.Verb = "commit"
	}
	return s
}

// common reads the queries behind WITH, and returns where the statement goes on.
func (r *rowReader) common(s *RowStatement, i, end int) int {
	if r.is(i, "recursive") {
		i++
	}
	for i < end {
		source := RowSource{Name: r.nameAt(i, i)}
		for i++; i < end && !r.is(i, "as"); i++ {
		}
		i = r.skip(r.skip(i+1, "not"), "materialized")
		if !r.is(i, "(") {
			s.Odd = r.written(i, end)
			return end
		}
		closing := min(r.closing(i), end-1)
		source.Query = r.read(i+1, closing)
		s.With = append(s.With, source)
		if i = closing + 1; !r.is(i, ",") {
			return i
		}
		i++
	}
	return i
}

// query reads a SELECT from behind its word.
func (r *rowReader) query(s *RowStatement, i, end int) {
	for _, p := range r.parts(i, end) {
		switch p.word {
		case "from":
			r.sources(s, p.from, p.to)
		case "where":
			s.Where = append(s.Where, r.all(p.from, p.to)...)
		case "for", "lock":
			r.locks(s, p)
		case "union", "intersect", "except", "minus", "connect", "start":
			s.Odd = strings.ToUpper(p.word)
		}
	}
}

// locks reads what stands behind FOR and LOCK.
func (r *rowReader) locks(s *RowStatement, p part) {
	switch {
	case r.is(p.from, "update"), r.skip(p.from, "no", "key", "update") > p.from:
		s.Lock = "update"
	case r.is(p.from, "share", "in"), r.is(p.from, "key"):
		s.Lock = "share"
	}
	for i := p.from; i < p.to; i++ {
		s.Skips = s.Skips || r.is(i, "skip")
	}
}

// update reads an UPDATE from behind its word.
func (r *rowReader) update(s *RowStatement, i, end int) {
	for n, p := range r.parts(r.behindModifiers(i), end) {
		switch {
		case n == 0:
			before := len(s.Sources)
			r.sources(s, p.from, p.to)
			if len(s.Sources) > before {
				s.Target = s.Sources[before].target()
			}
		case p.word == "set":
			for _, item := range r.items(p.from, p.to) {
				r.set(s, item[0], item[1])
			}
		case p.word == "from":
			r.sources(s, p.from, p.to)
		case p.word == "where":
			s.Where = append(s.Where, r.all(p.from, p.to)...)
		}
	}
	if r.is(r.behindModifiers(i), "(") && s.Target.Name == "" {
		s.Odd = r.written(i, end)
	}
}

// delete reads a DELETE from behind its word.
func (r *rowReader) delete(s *RowStatement, i, end int) {
	for _, p := range r.parts(r.behindModifiers(i), end) {
		if p.from == p.to {
			continue
		}
		switch p.word {
		case "", "from", "using":
			before := len(s.Sources)
			r.sources(s, p.from, p.to)
			if len(s.Sources) > before && s.Target.Name == "" {
				s.Target = s.Sources[before].target()
			}
		case "where":
			s.Where = append(s.Where, r.all(p.from, p.to)...)
		}
	}
}

// target is how a statement that writes a source names it.
func (s RowSource) target() RowName {
	if s.Alias != "" {
		return RowName{Name: s.Alias, Off: s.Name.Off, Len: s.Name.Len}
	}
	return s.Name
}

// behindModifiers returns the token behind words between UPDATE or DELETE and the
// table.
func (r *rowReader) behindModifiers(i int) int {
	for {
		switch {
		case r.is(i, "top") && r.is(i+1, "("):
			i = min(r.closing(i+1)+1, len(r.tokens))
		case r.is(i, "or") && !r.is(i+1, "."):
			i += 2
		case r.is(i, "only", "low_priority", "ignore", "quick") && !r.is(i+1, ".", "set", "where", "as"):
			i++
		default:
			return i
		}
	}
}

// set reads one assignment.
func (r *rowReader) set(s *RowStatement, i, end int) {
	at := r.qualified(i)
	if at+1 >= end || !r.is(at+1, "=") {
		s.Odd = r.written(i, end)
		return
	}
	s.Set = append(s.Set, RowSet{Column: r.nameAt(i, at), Value: r.value(at+2, end), Text: r.written(i, end)})
}

// sources reads tables and queries with their joins.
func (r *rowReader) sources(s *RowStatement, i, end int) {
	outer := false
	expected := true
	for ; i < end; i++ {
		switch {
		case r.is(i, ",", "join", "straight_join", "apply"):
			expected = true
		case r.is(i, "left", "right", "full"):
			outer = true
		case r.is(i, "inner", "cross"):
			outer = false
		case r.is(i, "on"):
			from := i + 1
			for i++; i < end && !r.is(i, ",", "join", "left", "right", "full", "inner", "cross", "straight_join", "natural"); i++ {
				if r.is(i, "(") {
					i = min(r.closing(i), end-1)
				}
			}
			if !outer {
				s.Where = append(s.Where, r.all(from, i)...)
			}
			outer = false
			i--
		case r.is(i, "with") && r.is(i+1, "("):
			closing := min(r.closing(i+1), end-1)
			for n := i + 2; n < closing; n++ {
				if r.is(n, "updlock", "xlock", "tablockx") {
					s.Lock = "update"
				}
				s.Skips = s.Skips || r.is(n, "readpast")
			}
			i = closing
		case r.is(i, "(") && expected && r.is(i+1, "select", "with"):
			closing := min(r.closing(i), end-1)
			source := RowSource{Query: r.read(i+1, closing)}
			i = r.alias(&source, closing, end)
			s.Sources, expected = append(s.Sources, source), false
		case r.is(i, "(") && expected:
			// a join in parentheses
		case r.is(i, "("):
			i = min(r.closing(i), end-1)
		case expected && r.isName(i) && !r.is(i, "only", "lateral"):
			at := r.qualified(i)
			source := RowSource{Name: r.nameAt(i, at)}
			i = r.alias(&source, at, end)
			s.Sources, expected = append(s.Sources, source), false
		}
	}
}

// notAlias are words that go on behind a table.
var notAlias = []string{
	"as", "join", "left", "right", "full", "inner", "cross", "natural", "straight_join", "on", "using", "use", "force", "ignore",
	"partition", "with", "outer", "pivot", "unpivot", "tablesample", "indexed", "not", "nolock", "when",
}

// alias reads the name behind token i, and returns the last token of it.
func (r *rowReader) alias(s *RowSource, i, end int) int {
	at := i + 1
	if r.is(at, "as") {
		at++
	}
	if at < end && r.isName(at) && !r.is(at, notAlias...) {
		s.Alias = unquote(r.text(at))
		return at
	}
	return i
}

// isName reports whether token i may be a name.
func (r *rowReader) isName(i int) bool {
	return i < len(r.tokens) && (r.tokens[i].kind == word || r.tokens[i].kind == quoted)
}

// nameAt returns the dotted name from token i to its last part at.
func (r *rowReader) nameAt(i, at int) RowName {
	n := RowName{Name: unquote(r.text(at))}
	if at < len(r.tokens) {
		n.Off, n.Len = r.tokens[at].off, r.tokens[at].end-r.tokens[at].off
	}
	if at >= i+2 {
		n.Of = unquote(r.text(at - 2))
	}
	return n
}

// all reads conditions that AND joins.
func (r *rowReader) all(i, end int) []*RowTest {
	for i < end && r.is(i, "(") && r.closing(i) == end-1 {
		i, end = i+1, end-1
	}
	if ors := r.split(i, end, "or"); len(ors) > 1 {
		return []*RowTest{r.either(ors, i, end)}
	}
	var tests []*RowTest
	for _, p := range r.split(i, end, "and") {
		inside := p
		for inside[0] < inside[1] && r.is(inside[0], "(") && r.closing(inside[0]) == inside[1]-1 {
			inside[0], inside[1] = inside[0]+1, inside[1]-1
		}
		if inside != p {
			tests = append(tests, r.all(p[0], p[1])...)
			continue
		}
		tests = append(tests, r.test(p[0], p[1]))
	}
	return tests
}

func (r *rowReader) either(ors [][2]int, i, end int) *RowTest {
	t := &RowTest{Op: "any", Text: r.written(i, end)}
	for _, p := range ors {
		t.Any = append(t.Any, r.all(p[0], p[1]))
	}
	return t
}

// split cuts the tokens at a word that stands outside parentheses and CASE, and is
// not that of BETWEEN.
func (r *rowReader) split(i, end int, at string) [][2]int {
	var list [][2]int
	start, cases, between := i, 0, 0
	for ; i < end; i++ {
		switch {
		case r.is(i, "("):
			i = min(r.closing(i), end-1)
		case r.is(i, "case"):
			cases++
		case r.is(i, "end") && cases > 0:
			cases--
		case cases > 0:
		case r.is(i, "between"):
			between++
		case r.is(i, "and") && between > 0:
			between--
		case r.is(i, at):
			list = append(list, [2]int{start, i})
			start = i + 1
		}
	}
	return append(list, [2]int{start, end})
}

// inverse are the operators that hold where others do not.
var inverse = map[string]string{
	"in": "not in", "not in": "in", "null": "not null", "not null": "null", "<": ">=", "<=": ">", ">": "<=", ">=": "<",
}

// flipped are the operators with their sides changed.
var flipped = map[string]string{"in": "in", "not in": "not in", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// compares are the operators as they are written.
var compares = map[string]string{
	"=": "in", "==": "in", "<=>": "in", "<>": "not in", "!=": "not in", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}

// test reads one condition.
func (r *rowReader) test(i, end int) *RowTest {
	t := &RowTest{Text: r.written(i, end)}
	unknown := func() *RowTest {
		return &RowTest{Text: t.Text, Names: r.names(i, end)}
	}
	if r.is(i, "not") {
		inner := r.all(i+1, end)
		if len(inner) != 1 || inverse[inner[0].Op] == "" {
			return unknown()
		}
		t.Op, t.Column, t.Values = inverse[inner[0].Op], inner[0].Column, inner[0].Values
		return t
	}
	at := i // the operator
	for ; at < end; at++ {
		if r.is(at, "(") {
			at = min(r.closing(at), end-1)
			continue
		}
		if r.is(at, "=", "<", ">", "!", "is", "in", "not", "between", "like", "ilike", "regexp", "rlike", "~", "similar", "exists") {
			break
		}
	}
	until := at // where it ends
	for ; until < end && r.is(until, "=", "<", ">", "!"); until++ {
		if until > at && r.tokens[until].off != r.tokens[until-1].end {
			break
		}
	}
	left, isColumn := r.columnIn(i, at)
	switch {
	case at == end && isColumn: // a column of truth
		t.Op, t.Column, t.Values = "in", left, []RowValue{{Kind: RowLiteral, Text: "true"}}
		return t
	case at >= end:
		return unknown()
	case until > at:
		op := compares[strings.ReplaceAll(r.written(at, until), " ", "")]
		right := r.value(until, end)
		if !isColumn {
			if left, isColumn = r.columnIn(until, end); isColumn {
				op, right = flipped[op], r.value(i, at)
			}
		}
		if op == "" || !isColumn {
			return unknown()
		}
		t.Op, t.Column, t.Values = op, left, []RowValue{right}
		if op == "in" && right.Kind == RowNull && r.written(at, until) == "<=>" {
			t.Op, t.Values = "null", nil
		}
		if right.Kind == RowOther {
			t.Names = r.names(until, end)
		}
		return t
	case !isColumn:
		return unknown()
	}
	t.Column = left
	behind := r.skip(at, "is")
	not := r.skip(behind, "not")
	switch {
	case behind > at && r.is(not, "null") && not+1 == end:
		t.Op = "null"
	case behind > at && r.is(not, "true", "false") && not+1 == end:
		t.Op, t.Values = "in", []RowValue{{Kind: RowLiteral, Text: strings.ToLower(r.text(not))}}
		if not > behind {
			return unknown() // null is not true as well
		}
	case behind == at && r.is(not, "in") && r.is(not+1, "(") && r.closing(not+1) == end-1:
		t.Op = "in"
		if r.is(not+2, "select", "with") {
			t.Values = []RowValue{r.value(not+1, end)}
			break
		}
		for _, item := range r.items(not+2, end-1) {
			t.Values = append(t.Values, r.value(item[0], item[1]))
		}
	default:
		return unknown()
	}
	if not > behind {
		t.Op = inverse[t.Op]
	}
	return t
}

// columnIn returns the name that the tokens are.
func (r *rowReader) columnIn(i, end int) (RowName, bool) {
	for i < end && r.is(i, "(") && r.closing(i) == end-1 {
		i, end = i+1, end-1
	}
	at := i
	if i < end && r.isName(i) {
		at = r.qualified(i)
	}
	if i >= end || at+1 != end || !r.isName(i) || !r.isName(at) || strings.HasPrefix(r.text(i), "@") ||
		r.tokens[i].kind == word && i == at && slices.Contains(wordsOfValues, strings.ToLower(r.text(i))) {
		return RowName{}, false
	}
	return r.nameAt(i, at), true
}

// clockWords tell the time, and earlier and later words move it.
var (
	clockWords = []string{
		"now", "current_timestamp", "localtimestamp", "current_date", "curdate", "getdate", "getutcdate", "sysdatetime", "sysutcdatetime", "sysdatetimeoffset",
		"sysdate", "systimestamp", "utc_timestamp", "unix_timestamp", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "unixepoch",
		"current_time", "localtime", "'now'",
	}
	wordsOfValues = append(slices.Clone(clockWords), "null", "true", "false", "default", "rownum", "rowid", "ctid", "level", "user", "current_user")
)

// value reads what a column is compared with or gets.
func (r *rowReader) value(i, end int) RowValue {
	for i < end && r.is(i, "(") && r.closing(i) == end-1 && !r.is(i+1, "select", "with") {
		i, end = i+1, end-1
	}
	v := RowValue{Kind: RowOther, Text: r.written(i, end)}
	if i >= end {
		return v
	}
	from := i
	if r.is(i, "any", "some") && r.is(i+1, "(") {
		from++
	}
	if r.is(from, "(") && r.closing(from) == end-1 && r.is(from+1, "select", "with") {
		v.Kind, v.Query = RowQuery, r.read(from+1, end-1)
		return v
	}
	if r.is(i, "cast") && r.is(i+1, "(") && r.closing(i+1) == end-1 {
		for n := i + 2; n < end; n++ {
			if r.is(n, "as") {
				return r.value(i+2, n)
			}
		}
	}
	for n := i + 1; n < end; n++ {
		if r.is(n, "::") && !r.clocked(i, end) {
			return r.value(i, n)
		}
	}
	negative := r.is(i, "-") && i+2 == end
	if negative {
		i++
	}
	switch t := r.tokens[i]; {
	case placeholder.FindString(v.Text) == v.Text:
		v.Kind = RowArgument
	case r.clocked(i, end):
		v.Kind = r.shifted(i, end)
	case i+1 == end && t.kind == number:
		v.Kind = RowLiteral
	case negative:
	case i+1 == end && t.kind == text:
		if value, plain := textValue(r.text(i), r.escapes); plain {
			v.Kind, v.Text = RowLiteral, value
		}
	case i+1 == end && r.is(i, "null"):
		v.Kind = RowNull
	case i+1 == end && r.is(i, "true", "false"):
		v.Kind, v.Text = RowLiteral, strings.ToLower(v.Text)
	default:
		if name, ok := r.columnIn(i, end); ok {
			v.Kind, v.Name = RowColumn, name
		}
	}
	return v
}

// clocked reports whether a value is made from the clock.
func (r *rowReader) clocked(i, end int) bool {
	for ; i < end; i++ {
		if (r.tokens[i].kind == word || r.tokens[i].kind == text) && !r.is(i-1, ".") && slices.Contains(clockWords, strings.ToLower(r.text(i))) {
			return true
		}
	}
	return false
}

// shifted tells where a time lies that is made from the clock; RowOther where that
// does not show.
func (r *rowReader) shifted(i, end int) RowValueKind {
	minus, plus, other := false, false, false
	for n := i; n < end; n++ {
		s := strings.ToLower(r.text(n))
		switch {
		case s == "-", s == "date_sub", s == "subdate", strings.HasPrefix(s, "'-"):
			minus = true
		case s == "+", s == "date_add", s == "adddate", strings.HasPrefix(s, "'+"):
			plus = true
		case s == "dateadd": // whose number has a sign, or is above zero
			if c := r.items(n+2, end-1); len(c) < 2 || !r.is(c[1][0], "-") {
				plus = true
			}
		case s == "case", s == "coalesce", r.tokens[n].kind != text && placeholder.MatchString(s+"s"), s == ":":
			other = true
		}
	}
	switch {
	case other || minus && plus:
		return RowOther
	case minus:
		return RowEarlier
	case plus:
		return RowLater
	}
	return RowNow
}

// names returns the names that stand among the tokens.
func (r *rowReader) names(i, end int) []string {
	var names []string
	for ; i < end; i++ {
		if r.isName(i) && !r.is(i+1, "(", ".") {
			names = append(names, unquote(r.text(i)))
		}
	}
	return names
}
