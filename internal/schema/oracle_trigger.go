package schema

// This file reads what a trigger of Oracle fires on, and whether it gives new rows
// the next number of a sequence.

import (
	"slices"
	"strings"
)

// A fill is a column that a trigger gives the next number of a sequence.
type fill struct {
	column string
	always bool // whatever the statement says
}

// oracleEvents reads a trigger from behind the name of its table.
func oracleEvents(r *tolerant, g *Trigger) {
	before := false
	for i := 0; i < r.i; i++ {
		switch {
		case r.st.is(i, "before"):
			before = true
		case r.st.is(i, "instead"):
			g.Instead = true
		case r.st.is(i, "insert", "update", "delete"):
			if event := strings.ToLower(r.st.text(i)); !slices.Contains(g.Events, event) {
				g.Events = append(g.Events, event)
			}
		case r.st.is(i, "on"):
			i = r.i
		}
	}
	b := &triggerBody{tolerant: r, row: "new"}
	b.head(g)
	if before && b.eachRow && slices.Contains(g.Events, "insert") {
		b.read()
		g.fills = b.fills
	}
}

// A triggerBody is PL/SQL of which only that is followed which happens to every new
// row.
type triggerBody struct {
	*tolerant
	row     string // what the new row is called
	eachRow bool
	guards  []string // columns that must be null
	open    []scope  // IF, LOOP, CASE and blocks
	fills   []fill
}

// A scope is an open IF, LOOP, CASE or block.
type scope struct {
	sure   bool     // what stands in it happens to every row whose guards are null
	guards []string // columns that must be null
}

// head reads what stands between the table and the body.
func (b *triggerBody) head(g *Trigger) {
	for b.fault == nil && b.i < len(b.st.tokens) && !b.is("begin", "declare", "call", "compound") {
		switch {
		case b.accept("for", "each", "row"):
			b.eachRow = true
		case b.accept("new", "as"), b.accept("new"):
			b.row, _ = b.name()
		case b.accept("disable"):
			g.Disabled = true
		case b.is("when") && b.st.is(b.i+1, "("):
			b.i++
			from, to := b.group()
			guards, sure := b.condition(from, to)
			if b.guards = guards; !sure {
				b.eachRow = false
			}
		default:
			b.skip()
		}
	}
}

// condition reports whether a condition is true for every row that is inserted with
// nulls in the columns it returns.
func (b *triggerBody) condition(from, to int) (guards []string, sure bool) {
	if to-from > maxGuard {
		return nil, false
	}
	for b.wraps(from, to) {
		from, to = from+1, to-1
	}
	for _, part := range b.splitAt(from, to, "and", "&&") {
		i, end := part[0], part[1]
		if part != [2]int{from, to} && b.wraps(i, end) {
			inner, ok := b.condition(i, end)
			if !ok {
				return nil, false
			}
			guards = append(guards, inner...)
			continue
		}
		if b.st.is(i, "inserting") && i+1 == end {
			continue
		}
		column, i := b.newColumn(i)
		if column == "" || b.st.skip(i, "is", "null") != end || i == end {
			return nil, false
		}
		guards = append(guards, column)
	}
	return guards, true
}

// maxGuard is more tokens than stand in a condition that can be read for sure.
const maxGuard = 100

// newColumn returns the column of the new row at token i, "" without, and the token
// behind it.
func (b *triggerBody) newColumn(i int) (string, int) {
	start := i
	if b.st.is(i, ":") {
		i++
	}
	if !b.isName(i) || !strings.EqualFold(b.nameAt(b.st, i), b.row) || !b.st.is(i+1, ".") || !b.isName(i+2) {
		return "", start
	}
	return b.nameAt(b.st, i+2), i + 3
}

// read follows the statements of the body.
func (b *triggerBody) read() {
	for b.i < len(b.st.tokens) && !b.is("begin") {
		if b.is("function", "procedure", "call", "compound") {
			return // the first BEGIN is not that of the body
		}
		b.i++
	}
	for b.fault == nil && b.i < len(b.st.tokens) {
		switch {
		case b.accept("begin"):
			b.open = append(b.open, scope{sure: true})
		case b.accept("if"):
			b.branch()
		case b.is("elsif", "else", "exception"):
			b.i++
			b.doubt()
		case b.is("case", "loop", "while", "for"):
			for !b.is("loop", ";") && !b.is("case") && b.i < len(b.st.tokens) {
				b.skip()
			}
			b.i++
			b.open = append(b.open, scope{})
		case b.accept("when"):
			for b.i < len(b.st.tokens) && !b.is("then", ";") {
				b.skip()
			}
			b.i++
		case b.accept("end"):
			if len(b.open) > 0 {
				b.open = b.open[:len(b.open)-1]
			}
			b.restOfStatement()
		case b.is("return", "goto", "raise"):
			return // what follows may not happen
		case b.is("<"):
			for b.i < len(b.st.tokens) && !b.is(">") {
				b.i++
			}
			b.i += 2
		default:
			b.statement()
		}
	}
}

// branch reads IF up to THEN.
func (b *triggerBody) branch() {
	from := b.i
	for b.i < len(b.st.tokens) && !b.is("then", ";") {
		b.skip()
	}
	guards, sure := b.condition(from, min(b.i, len(b.st.tokens)))
	b.open = append(b.open, scope{sure, guards})
	b.i++
}

// doubt notes that what follows in the innermost scope does not happen to every row.
func (b *triggerBody) doubt() {
	if n := len(b.open); n > 0 {
		b.open[n-1].sure = false
	}
}

// statement reads one statement.
func (b *triggerBody) statement() {
	from := b.i
	b.restOfStatement()
	column, given, ok := b.assigned(from, b.i-1)
	if !ok {
		return
	}
	guards := slices.Clone(b.guards)
	for _, s := range b.open {
		if !s.sure {
			return
		}
		guards = append(guards, s.guards...)
	}
	if slices.ContainsFunc(guards, func(g string) bool { return g != column }) {
		return
	}
	b.fills = append(b.fills, fill{column, len(guards) == 0 && !given})
}

// restOfStatement moves behind the next semicolon.
func (b *triggerBody) restOfStatement() {
	for b.i < len(b.st.tokens) && !b.is(";") {
		b.skip()
	}
	b.i++
}

// assigned returns the column that a statement gives the next number of a sequence;
// given says that it leaves the number that is there.
func (b *triggerBody) assigned(from, end int) (column string, given, ok bool) {
	if b.st.is(from, "select") {
		into := b.st.qualified(from+1) + 1
		if !b.st.is(into-1, "nextval") || !b.st.is(into-2, ".") || !b.st.is(into, "into") {
			return "", false, false
		}
		column, i := b.newColumn(into + 1)
		from := b.st.skip(i, "from")
		return column, false, column != "" && from > i && b.st.is(b.st.qualified(from), "dual") && b.st.qualified(from)+1 == end
	}
	column, i := b.newColumn(from)
	if column == "" || b.st.skip(i, ":", "=") == i {
		return "", false, false
	}
	i += 2
	if b.st.is(i, "nvl", "coalesce") && b.st.is(i+1, "(") && b.st.closing(i+1)+1 == end {
		same, next := b.newColumn(i + 2)
		if same != column || !b.st.is(next, ",") {
			return "", false, false
		}
		i, end, given = next+1, end-1, true
	}
	last := b.st.qualified(i)
	return column, given, b.st.is(last, "nextval") && b.st.is(last-1, ".") && last+1 == end
}
