package schema

// This file reads as much of a query as tells the columns of a view.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// createView reads CREATE VIEW from the name on.
func (r *tolerant) createView(replace bool) *source.Error {
	ifNotExists := r.accept("if", "not", "exists") || r.st.guarded
	n := r.ref()
	var names [][2]int
	if r.is("(") {
		from, to := r.group()
		names = slices.DeleteFunc(r.st.items(from, to), func(item [2]int) bool { // constraints
			return item[1] > item[0]+1 && r.st.is(item[0], "constraint", "primary", "foreign", "unique", "check")
		})
	}
	for r.viewOption != nil && r.viewOption(r) {
	}
	if r.accept("with") { // SCHEMABINDING and the like
		for r.i < len(r.st.tokens) && !r.is("as") {
			r.i++
		}
	}
	r.expect("as")
	if r.fault != nil {
		return r.fault
	}
	query := r.i
	first := r.same(n)
	switch {
	case first != nil && ifNotExists:
		return nil
	case first != nil && replace && first.View:
		r.drop(first, false)
	case first != nil:
		r.twice(first, n.name, r.st.pos(n.at))
		return nil
	}
	t := r.add(&Table{Schema: n.schema, Name: n.name, Pos: r.st.pos(n.at), AnyCase: r.anyCase, View: true, NoRowIdentity: true})
	if n.schema == "" && r.home != "" {
		r.homes[t] = r.home
	}
	a := &anchor{st: r.st, table: t.Table, open: -1, close: -1}
	r.anchors = append(r.anchors, a)
	r.selectColumns(t, a, query, names)
	return nil
}

// selectColumns gives t the columns of the query whose tokens start at i; names
// are those that stand behind the name of t.
func (r *tolerant) selectColumns(t *draft, a *anchor, i int, names [][2]int) {
	for r.st.is(i, "as", "ignore", "replace", "(") {
		i++
	}
	start := i
	if !r.st.is(i, "select") {
		t.unknownColumns(r.st.pos(start))
		return
	}
	for i++; r.st.is(i, "all", "distinct", "distinctrow", "straight_join", "high_priority") ||
		r.st.is(i, "sql_small_result", "sql_big_result", "sql_buffer_result", "sql_no_cache", "sql_cache", "sql_calc_found_rows"); i++ {
	}
	i = r.behindTop(i)
	first, end := i, i
	for ; end < len(r.st.tokens) && !r.st.is(end, ")") && !r.endsList(end); end++ {
		if r.st.is(end, "(") {
			end = min(r.st.closing(end), len(r.st.tokens)-1)
		}
	}
	var outputs []output
	for _, item := range r.st.items(first, end) {
		outputs = append(outputs, r.output(item[0], item[1]))
	}
	if len(outputs) == 0 {
		t.unknownColumns(r.st.pos(start))
		return
	}
	if len(names) > 0 && slices.ContainsFunc(outputs, func(o output) bool { return o.star }) {
		t.unknownColumns(r.st.pos(start)) // which name is whose, only the star tells
		return
	}
	for n, name := range names {
		if n < len(outputs) {
			outputs[n].name, outputs[n].pos = r.nameAt(r.st, name[0]), r.st.pos(name[0])
		}
	}
	a.open, a.close = r.st.pos(start).Offset, outputs[len(outputs)-1].end
	t.addOutputs(a, r.froms(end), outputs)
}

// behindTop returns the token behind TOP (n) PERCENT WITH TIES, or i where it does
// not stand there.
func (r *tolerant) behindTop(i int) int {
	switch {
	case r.st.is(i, "top") && r.st.is(i+1, "("):
		i = min(r.st.closing(i+1)+1, len(r.st.tokens))
	case r.st.is(i, "top") && r.has(i+1, number):
		i += 2
	default:
		return i
	}
	return r.st.skip(r.st.skip(i, "percent"), "with", "ties")
}

// endsList reports whether the list of a query ends in front of token i.
func (r *tolerant) endsList(i int) bool {
	return r.st.is(i, "from", "where", "union", "except", "intersect", "limit", "into", "group", "having", "order", "for", "window") ||
		r.st.is(i, r.listEnds...)
}

// output reads one column of a query's list.
func (r *tolerant) output(from, to int) output {
	o := output{pos: r.st.pos(from), start: r.st.pos(from).Offset, end: r.st.tokens[to-1].end}
	if r.namesFirst && r.isAlias(from) && r.st.is(from+1, "=") && to-from > 2 {
		o.name, o.pos = r.aliasAt(from), r.namePos(from)
		from += 2
	}
	last := to - 1
	if o.name == "" && to-from >= 2 && r.isAlias(last) && !r.st.is(last-1, operators...) && (!r.has(last-1, sign) || r.st.is(last-1, ")")) {
		o.name, o.pos = r.aliasAt(last), r.namePos(last)
		if to = last; r.st.is(to-1, "as") {
			to--
		}
	}
	at := r.st.qualified(from)
	switch {
	case r.st.is(to-1, "*") && (to-from == 1 || r.st.is(to-2, ".")):
		o.star = true
		if to-from > 1 {
			o.table = r.nameAt(r.st, to-3)
		}
	case at+1 == to && r.isName(at) && !r.st.is(at, "null", "true", "false"):
		o.column = r.nameAt(r.st, at)
		if at > from {
			o.table = r.nameAt(r.st, at-2)
		}
		if o.name == "" {
			o.name, o.pos, o.plain = o.column, r.st.pos(at), true
		}
	}
	return o
}

// operators are words behind which an expression goes on.
var operators = []string{
	"and", "or", "xor", "not", "div", "mod", "like", "rlike", "regexp", "in", "is", "between", "collate", "binary",
	"escape", "interval", "case", "when", "then", "else", "over", "of",
}

// isAlias reports whether token i may be the name of a column in a query, for
// which a text is good enough. A word that ends an expression is none.
func (r *tolerant) isAlias(i int) bool {
	if !r.has(i, word) {
		return r.has(i, quoted) || r.has(i, text) && !r.has(i-1, text) && !r.introduces(i-1)
	}
	unit := strings.TrimPrefix(strings.ToLower(r.st.text(i)), "sql_tsi_")
	if j := strings.LastIndexByte(unit, '_'); j >= 0 {
		unit = unit[j+1:]
	}
	isUnit := slices.Contains([]string{"microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}, unit)
	return !r.st.is(i, "end", "null", "true", "false", "unknown") && (!isUnit || r.st.is(i-1, "as"))
}

// aliasAt returns the name that token i writes.
func (r *tolerant) aliasAt(i int) string {
	if r.has(i, text) {
		value, _ := textValue(r.st.text(i), r.drafts.lexis.escapes)
		return value
	}
	return r.nameAt(r.st, i)
}

// froms reads the tables behind FROM at token i.
func (r *tolerant) froms(i int) []from {
	if !r.st.is(i, "from") {
		return nil
	}
	var froms []from
	expected := true // a table stands next
	for i++; i < len(r.st.tokens) && !r.st.is(i, "where") && !r.endsList(i); i++ {
		switch {
		case r.st.is(i, ",", "join", "straight_join", "apply"):
			expected = true
		case r.st.is(i, "(") && expected && !r.st.is(i+1, "select", "values", "with"):
			// a join in parentheses
		case r.st.is(i, "("):
			if expected {
				froms, expected = append(froms, from{}), false
			}
			i = min(r.st.closing(i), len(r.st.tokens)-1)
		case expected && r.isName(i):
			at := r.st.qualified(i)
			f := from{alias: r.nameAt(r.st, at)}
			f.table = r.find(r.schemaAt(r.st, at), f.alias)
			i = at
			if r.st.is(i+1, "as") {
				i++
			}
			if r.isName(i+1) && !r.st.is(i+1, "join", "left", "right", "inner", "cross", "natural", "straight_join") &&
				!r.st.is(i+1, "on", "using", "use", "force", "ignore", "partition") && !r.endsList(i+1) &&
				!r.st.is(i+1, "with", "outer", "pivot", "unpivot", "tablesample") && (!r.st.is(i+1, "full") || !r.st.is(i+2, "join", "outer")) {
				i++
				f.alias = r.nameAt(r.st, i)
			}
			froms, expected = append(froms, f), false
		}
	}
	return froms
}
