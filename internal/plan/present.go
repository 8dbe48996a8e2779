package plan

// This file finds what a time is in an expression that the user wrote: {now}, or an argument.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// apart are words between which a comparison stands.
var apart = []string{"and", "or", "not", "case", "when", "then", "else", "end", "where", "on", "select", "from", "having"}

// expression is a text in pieces.
type expression queue.Pieces

// pieceAt returns the pieces of a text, and which of them begins at an offset; -1 for none.
func pieceAt(text string, offset int) (e expression, at int) {
	pieces, at := queue.PieceAt(text, offset)
	return expression(pieces), at
}

// divides reports whether a piece ends a comparison.
func (e expression) divides(i int) bool {
	return e[i] == "," || slices.Contains(apart, strings.ToLower(e[i]))
}

// calls reports whether the parenthesis at i holds the arguments of a function.
func (e expression) calls(i int) bool {
	if i == 0 || e.divides(i-1) || strings.EqualFold(e[i-1], "in") {
		return false
	}
	return queue.Pieces(e).IsName(i - 1)
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
// compared, else as the column keeps it whose value the expression is, and as a time with zone,
// or a number of seconds, where that is none. A column that the DDL does not have keeps times as
// the clock of the queue says. A function of dates that reads numbers in a way of its own gets
// its own word for the present.
func (s *scope) present(text string, offset int, to *schema.Column) string {
	e, at := pieceAt(text, offset)
	call := s.dateCall(e, at)
	if call == wholeArgument {
		return s.d.DateFunctions.Now
	}
	if !e.zoned(at) {
		if c := s.besideTime(text, offset, s.around...); c != nil {
			return s.clock(c, nil)
		}
		if call == partOfArgument {
			s.misread = true
		}
		unzoned := to != nil && to.Type.Class == schema.Timestamp && !s.zoned(to) // a time with zone would be read on the session's clock
		if to != nil && (e.isValue(at) || unzoned) && s.clockKind(to) != "" {
			return s.writtenNow(to)
		}
		if c, ok := s.clockOf("timestamp:" + s.spec.Clock); ok && to != nil && to.Type.Raw == "" && e.isValue(at) {
			s.noteUnknownTime(to)
			return c.Now
		}
	}
	if c, ok := s.clockOf("timestamptz"); ok {
		if at >= 0 && !e.zoned(at) {
			s.unkept = cmp.Or(s.unkept, s.besideNumber(e, at, to))
		}
		return c.Now
	}
	if c, ok := s.clockOf("epoch"); ok {
		return c.Now
	}
	return "NULL"
}

// besideNumber returns the column of numbers with which the present at a piece is compared, or which
// gets it, with nothing around but numbers: a time with zone is none.
func (b *builder) besideNumber(e expression, at int, to *schema.Column) *schema.Column {
	names := b.spec.Read(queue.Pieces(e))
	first, last := e.edge(at, -1, false), e.edge(at, 1, false)
	var found *schema.Column
	for i := first; i <= last; i++ {
		switch c, _ := names.Column(i); {
		case i == at, strings.Contains("+-*/<>=!", e[i]), strings.Trim(e[i], ".0123456789") == "":
		case c == nil || b.clockKind(c) != "" || !c.Type.Counts():
			return nil
		default:
			found = cmp.Or(found, c)
		}
	}
	if found == nil && to != nil && b.clockKind(to) == "" && to.Type.Counts() && e.isValue(at) {
		return to
	}
	return found
}

// noteUnknownTime says by which clock a column gets the present that the DDL does not have.
func (s *scope) noteUnknownTime(to *schema.Column) {
	if s.beside == nil {
		return // explain
	}
	note := fmt.Sprintf("the DDL has no column %s of %s: it gets the present as a time without zone, as clock: %s says; add the CREATE TABLE to schema if it keeps time in another way",
		plainText(to.Name), plainText(s.beside.QualifiedName()), s.spec.Clock)
	if !slices.Contains(s.pkg.Notes, note) {
		s.pkg.Notes = append(s.pkg.Notes, note)
	}
}

// dateCall is how {now} stands in a call of a function of dates that reads numbers in a way of
// its own, and so not as the present.
type dateCall int

const (
	noDateCall     dateCall = iota // or one that is told how to read numbers
	wholeArgument                  // of the call
	partOfArgument                 // with more around it
)

// dateCall finds the call around the piece at i.
func (b *builder) dateCall(e expression, i int) dateCall {
	f, call := b.d.DateFunctions, wholeArgument
	for {
		open := e.opening(i)
		if open < 0 || open+1 < len(e) && strings.EqualFold(e[open+1], "select") {
			return noDateCall
		}
		if open > 0 && e.calls(open) && slices.Contains(strings.Fields(f.Names), strings.ToLower(e[open-1])) {
			end := e.edge(open+1, 1, true)
			switch {
			case slices.ContainsFunc(e[open:end+1], func(piece string) bool { return slices.Contains(f.Numbers, strings.ToLower(piece)) }):
				return noDateCall
			case i != open+1 && e[i-1] != ",", i+1 < len(e) && e[i+1] != "," && e[i+1] != ")":
				return partOfArgument
			}
			return call
		}
		i, call = open, partOfArgument
	}
}

// opening returns the parenthesis within which the piece at i stands, -1 where it stands in none.
func (e expression) opening(i int) int {
	depth := 0
	for i--; i >= 0; i-- {
		switch {
		case e[i] == ")":
			depth++
		case e[i] == "(" && depth == 0:
			return i
		case e[i] == "(":
			depth--
		}
	}
	return -1
}

// zoned reports whether AT TIME ZONE stands behind the piece at i, which makes a time without zone
// of one with zone.
func (e expression) zoned(i int) bool {
	return i+3 < len(e) && strings.EqualFold(strings.Join(e[i+1:i+4], " "), "at time zone")
}

// isValue reports whether the piece at i is part of the value of the whole expression, and
// neither given to a function nor compared.
func (e expression) isValue(i int) bool {
	for {
		first, last := e.edge(i, -1, false), e.edge(i, 1, false)
		if slices.ContainsFunc(e[first:last+1], func(piece string) bool {
			return slices.Contains([]string{"<", ">", "=", "!", "between", "in", "is", "like"}, strings.ToLower(piece))
		}) {
			return false
		}
		open := e.opening(first)
		if open < 0 {
			return true
		}
		if e.calls(open) && !e.keeps(open) || open+1 < len(e) && strings.EqualFold(e[open+1], "select") {
			return false
		}
		i = open
	}
}

// keeps reports whether the parenthesis at i holds the arguments of a function whose value is
// one of them as it is.
func (e expression) keeps(i int) bool {
	return i > 0 && slices.Contains([]string{"coalesce", "ifnull", "nvl", "greatest", "least"}, strings.ToLower(e[i-1]))
}

// isTime reports whether an argument of Claim is a time.
func isTime(p *queue.Param) bool {
	return p.Kind == queue.Argument && strings.TrimPrefix(p.GoType, "*") == "time.Time"
}

// timeField returns the field of a column whose times an argument is compared with, nil of
// one that is compared with none: it is then sent as the driver sends it.
func (b *builder) timeField(p *queue.Param) *Field {
	for _, c := range b.timesBeside(p.Name) {
		f := b.field(b.roleOf(c))
		f.Param = ""
		return f
	}
	return nil
}

// roleOf returns what the queue makes of a column: of another table's, nothing.
func (b *builder) roleOf(c *schema.Column) *queue.Column {
	return cmp.Or(b.roles[c], &queue.Column{Column: c})
}

// timesBeside returns the columns whose times an argument is compared with.
func (b *builder) timesBeside(name string) []*schema.Column {
	var columns []*schema.Column
	mark := "{arg:" + name + "}"
	for _, e := range b.spec.Expressions {
		for at := 0; ; at += len(mark) {
			next := strings.Index(e.SQL[at:], mark)
			if next < 0 {
				break
			}
			at += next
			if c := b.besideTime(e.SQL, at); c != nil {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// checkTimes complains about an argument that would have to be sent in two ways.
func (b *builder) checkTimes(errs *source.ErrorList) {
	params := b.spec.Params
	if by := b.spec.PurgeIf; by != nil {
		params = slices.Concat(params, by.Params)
	}
	b.sentInOneWay(params, func(p *queue.Param) []*schema.Column { return b.timesBeside(p.Name) }, errs)
}

// sentInOneWay complains about an argument that would have to be sent in two ways, for the columns
// with which it is compared.
func (b *builder) sentInOneWay(params []*queue.Param, compared func(*queue.Param) []*schema.Column, errs *source.ErrorList) {
	for _, p := range params {
		if !isTime(p) {
			continue
		}
		columns := compared(p)
		for _, c := range columns {
			first := columns[0]
			one, other := b.field(b.roleOf(first)), b.field(b.roleOf(c))
			if one.travelsAs(other) && b.rule(first).Write == b.rule(c).Write {
				continue
			}
			errs.Errorf(p.Pos, "argument %q is compared with columns %q and %q, which keep time in different ways", p.Name, first.Name, c.Name).
				WithHint("Give each column an argument of its own.")
			break
		}
	}
}

// travelsAs reports whether a time is sent for both fields as the same value.
func (f *Field) travelsAs(other *Field) bool {
	return f.Codec == other.Codec && f.Layout == other.Layout && f.Width == other.Width && f.Fraction == other.Fraction &&
		(f.UTC == other.UTC || f.Codec != TextTime && f.Codec != WallTime)
}

// besideTime returns the column that keeps time with which the macro at an offset is compared,
// nil where that is none. Around a function that it is given to, only times without zone
// count: of what becomes of it nothing else is known. Outside are the tables that the expression
// may read and does not name itself.
func (b *builder) besideTime(text string, offset int, outside ...queue.Among) *schema.Column {
	e, at := pieceAt(text, offset)
	names := b.spec.Read(queue.Pieces(e), outside...)
	first, last := at, at
	all, bare := false, false // with the other arguments of a function; of what becomes of it nothing is known
	for at >= 0 {
		first, last = e.edge(first, -1, all), e.edge(last, 1, all)
		if c := b.timeAmong(names, first, last, bare); c != nil {
			return c
		}
		var before, behind string
		if first > 0 {
			before = e[first-1]
		}
		if last+1 < len(e) {
			behind = e[last+1]
		}
		called := before == "(" && e.calls(first-1)
		if !all && (called || before == "," || behind == ",") {
			all, bare = true, bare || !e.keeps(e.opening(first))
			continue
		}
		if before != "(" || behind != ")" {
			break
		}
		first, last, all = first-1, last+1, bare
	}
	return nil
}

// timeAmong returns the first column among the pieces of an expression that keeps time, outside
// of functions; with bare only one that is a time without zone. Of another table's columns the
// type tells how they keep it, and the clock of the queue whose clock times without zone show.
func (b *builder) timeAmong(names *queue.Reading, first, last int, bare bool) *schema.Column {
	e := expression(names.Pieces)
	for i := first; i <= last; i++ {
		if e[i] == "(" && e.calls(i) {
			i = e.edge(i, 1, true) // over the arguments
			continue
		}
		c, _ := names.Column(i)
		if c == nil || b.clockKind(c) == "" {
			continue
		}
		role := b.roles[c]
		unzoned := c.Type.Class == schema.Timestamp && !b.zoned(c)
		if role == nil && unzoned && b.spec.Clock == "" {
			continue // nothing tells whose clock it shows
		}
		if !bare || unzoned && (role == nil || role.As == "") {
			return c
		}
	}
	return nil
}
