package queue

// This file finds out what a CHECK says of a row of which some columns are known.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// A cell is what is known of a value.
type cell struct {
	kind cellKind
	text string // of a constant; conditions are "true" and "false"
}

type cellKind int

const (
	unknownCell cellKind = iota
	nullCell
	setCell   // anything but a null
	knownCell // a constant
)

func truth(is bool) cell { return cell{knownCell, strconv.FormatBool(is)} }

// checkForm finds the pieces of a CHECK.
var checkForm = regexp.MustCompile("'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\\[[\\pL_][^\\]]*\\]|[\\pL_][\\pL\\pN_$#]*|\\d[\\d.]*|::|<=>|<>|!=|<=|>=|\\S")

// breaks reports whether a row surely breaks a CHECK of a table; of tells what is known of its columns.
func breaks(check string, t *schema.Table, of func(*schema.Column) cell) bool {
	r := &checkReader{pieces: checkForm.FindAllString(check, -1), table: t, of: of}
	is := r.or()
	return !r.lost && r.at == len(r.pieces) && is == truth(false)
}

// wantsText reports whether a CHECK of a table refuses an empty text in a column.
func wantsText(t *schema.Table, c *schema.Column) bool {
	empty := func(other *schema.Column) cell {
		if other == c {
			return cell{kind: knownCell}
		}
		return cell{}
	}
	return slices.ContainsFunc(slices.Concat(c.Checks, t.Checks), func(check string) bool { return breaks(check, t, empty) })
}

// columnsOfCheck returns the columns that a CHECK names.
func columnsOfCheck(check string, t *schema.Table) (columns []*schema.Column) {
	breaks(check, t, func(c *schema.Column) cell {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		return cell{}
	})
	return columns
}

// checkReader reads a condition and reckons what it is. What it does not know makes it lost.
type checkReader struct {
	pieces []string
	at     int
	table  *schema.Table
	of     func(*schema.Column) cell
	lost   bool
}

// is reports whether the next pieces are some words.
func (r *checkReader) is(words ...string) bool {
	if r.at+len(words) > len(r.pieces) {
		return false
	}
	for i, w := range words {
		if !strings.EqualFold(r.pieces[r.at+i], w) {
			return false
		}
	}
	return true
}

// take passes over the next pieces where they are some words.
func (r *checkReader) take(words ...string) bool {
	if r.is(words...) {
		r.at += len(words)
		return true
	}
	return false
}

// next returns the next piece.
func (r *checkReader) next() string {
	if r.at >= len(r.pieces) {
		r.lost = true
		return ""
	}
	r.at++
	return r.pieces[r.at-1]
}

// must passes over a word that has to stand there.
func (r *checkReader) must(word string) {
	if !r.take(word) {
		r.lost = true
	}
}

func (r *checkReader) or() cell {
	all := []cell{r.and()}
	for !r.lost && r.take("or") {
		all = append(all, r.and())
	}
	return joined(all, "true")
}

func (r *checkReader) and() cell {
	all := []cell{r.not()}
	for !r.lost && r.take("and") {
		all = append(all, r.not())
	}
	return joined(all, "false")
}

// joined is what conditions are together of which one that is decides.
func joined(all []cell, decides string) cell {
	if slices.Contains(all, cell{knownCell, decides}) {
		return cell{knownCell, decides}
	}
	for _, kind := range []cellKind{unknownCell, setCell, nullCell} {
		if slices.ContainsFunc(all, func(c cell) bool { return c.kind == kind }) {
			return cell{kind: kind}
		}
	}
	return all[0]
}

func (r *checkReader) not() cell {
	if r.take("not") {
		return opposite(r.not())
	}
	return r.predicate()
}

func opposite(c cell) cell {
	switch c {
	case truth(true):
		return truth(false)
	case truth(false):
		return truth(true)
	}
	return c
}

// predicate reads a value and what is asked of it.
func (r *checkReader) predicate() cell {
	left := r.value()
	for !r.lost {
		not := false
		switch {
		case r.take("is"):
			not = r.take("not")
			switch {
			case r.take("null"):
				left = isNull(left)
			case r.take("true"):
				left = isIt(left, "true")
			case r.take("false"):
				left = isIt(left, "false")
			case r.take("distinct", "from"):
				left = opposite(sameCell(left, r.value()))
			default:
				r.lost = true
			}
		case r.take("isnull"):
			left = isNull(left)
		case r.take("notnull"):
			left = opposite(isNull(left))
		case r.is("not", "in"), r.is("not", "between"), r.is("not", "like"):
			r.at++
			not = true
			left = r.among(left)
		case r.is("in"), r.is("between"), r.is("like"):
			left = r.among(left)
		case r.at < len(r.pieces) && slices.Contains([]string{"=", "<>", "!=", "<", ">", "<=", ">=", "<=>"}, r.pieces[r.at]):
			op := r.next()
			switch {
			case r.take("any"):
				r.must("(")
				left = r.anyOf(left, op)
			case op == "<=>":
				left = sameCell(left, r.value())
			default:
				left = compareCells(left, r.value(), op)
			}
		default:
			return left
		}
		if not {
			left = opposite(left)
		}
	}
	return left
}

func isNull(c cell) cell {
	if c.kind == unknownCell {
		return c
	}
	return truth(c.kind == nullCell)
}

func isIt(c cell, what string) cell {
	if c.kind == unknownCell || c.kind == setCell {
		return cell{}
	}
	return truth(c.kind == knownCell && c.text == what)
}

// sameCell compares values of which a null is like a null.
func sameCell(a, b cell) cell {
	switch {
	case a.kind == unknownCell || b.kind == unknownCell:
		return cell{}
	case a.kind == nullCell || b.kind == nullCell:
		return truth(a.kind == b.kind)
	}
	return compareCells(a, b, "=")
}

// compareCells is the comparison of two values.
func compareCells(a, b cell, op string) cell {
	switch {
	case a.kind == nullCell || b.kind == nullCell:
		return cell{kind: nullCell}
	case a.kind != knownCell || b.kind != knownCell:
		return cell{}
	}
	x, err := strconv.ParseFloat(a.text, 64)
	y, wrong := strconv.ParseFloat(b.text, 64)
	numbers := err == nil && wrong == nil
	switch op {
	case "=", "<>", "!=":
		if !numbers && a.text != b.text && strings.EqualFold(a.text, b.text) {
			return cell{} // as the collation has it
		}
		return truth((a.text == b.text || numbers && x == y) == (op == "="))
	case "<":
		return ifKnown(numbers, x < y)
	case "<=":
		return ifKnown(numbers, x <= y)
	case ">":
		return ifKnown(numbers, x > y)
	}
	return ifKnown(numbers, x >= y)
}

func ifKnown(known, is bool) cell {
	if !known {
		return cell{}
	}
	return truth(is)
}

// among reads IN, BETWEEN or LIKE and what follows.
func (r *checkReader) among(left cell) cell {
	switch {
	case r.take("between"):
		low := compareCells(left, r.value(), ">=")
		r.must("and")
		return joined([]cell{low, compareCells(left, r.value(), "<=")}, "false")
	case r.take("like"):
		r.value()
		if left.kind == nullCell {
			return left
		}
		return cell{}
	}
	r.must("in")
	r.must("(")
	var all []cell
	for !r.lost {
		all = append(all, compareCells(left, r.value(), "="))
		if !r.take(",") {
			break
		}
	}
	r.must(")")
	return joined(all, "true")
}

// anyOf reads = ANY (ARRAY['a', 'b']), as PostgreSQL writes IN.
func (r *checkReader) anyOf(left cell, op string) cell {
	open := 0
	for r.take("(") {
		open++
	}
	r.must("array")
	r.must("[")
	var all []cell
	for !r.lost {
		all = append(all, compareCells(left, r.value(), op))
		if !r.take(",") {
			break
		}
	}
	r.must("]")
	for ; open > 0; open-- {
		r.casts()
		r.must(")")
	}
	r.casts()
	r.must(")")
	return joined(all, "true")
}

// casts passes over casts to types.
func (r *checkReader) casts() {
	for r.take("::") {
		r.next()
		for r.take(".") {
			r.next()
		}
		for r.take("varying") || r.take("precision") || r.take("without") || r.take("with") || r.take("time") || r.take("zone") {
			continue
		}
		if r.take("(") {
			for !r.lost && !r.take(")") {
				r.next()
			}
		}
		for r.take("[", "]") {
			continue
		}
	}
}

// value reads a value; what is reckoned is known to be nothing in particular.
func (r *checkReader) value() cell {
	v := r.single()
	for !r.lost && r.at < len(r.pieces) && strings.Contains("+-*/%|&", r.pieces[r.at]) {
		r.at++
		v = cell{}
		r.single()
	}
	return v
}

func (r *checkReader) single() (v cell) {
	defer r.casts()
	p := r.next()
	switch {
	case r.lost:
	case p == "(":
		v = r.or()
		r.must(")")
	case p == "-" && r.at < len(r.pieces) && numberForm.MatchString(r.pieces[r.at]):
		v = cell{knownCell, "-" + r.next()}
	case textForm.MatchString(p):
		v = cell{knownCell, strings.ReplaceAll(p[1:len(p)-1], "''", "'")}
	case numberForm.MatchString(p):
		v = cell{knownCell, p}
	case strings.EqualFold(p, "null"):
		v = cell{kind: nullCell}
	case strings.EqualFold(p, "true"), strings.EqualFold(p, "false"):
		v = cell{knownCell, strings.ToLower(p)}
	case strings.HasPrefix(p, "_") && r.at < len(r.pieces) && textForm.MatchString(r.pieces[r.at]), strings.EqualFold(p, "n") && r.at < len(r.pieces) && textForm.MatchString(r.pieces[r.at]):
		return r.single() // behind its character set
	case strings.EqualFold(p, "case"), !pieceName.MatchString(p):
		r.lost = true
	case r.take("("):
		v = r.call(strings.ToLower(p))
	default:
		for r.take(".") {
			p = r.next()
		}
		c := columnAmong(unquoted(p), r.table)
		if c == nil {
			r.lost = true
			break
		}
		v = r.of(c)
	}
	return v
}

// call reads the arguments of a function and reckons what it gives.
func (r *checkReader) call(name string) cell {
	var args []cell
	for !r.lost && !r.take(")") {
		if len(args) > 0 {
			r.must(",")
		}
		args = append(args, r.or())
	}
	switch nulls := len(args) - len(slices.DeleteFunc(slices.Clone(args), func(c cell) bool { return c.kind == nullCell })); {
	case len(args) == 0:
	case slices.Contains([]string{"num_nulls", "num_nonnulls"}, name):
		if slices.ContainsFunc(args, func(c cell) bool { return c.kind == unknownCell }) {
			return cell{}
		}
		if name == "num_nonnulls" {
			nulls = len(args) - nulls
		}
		return cell{knownCell, strconv.Itoa(nulls)}
	case slices.Contains(forNull, name):
		for _, c := range args {
			if c.kind != nullCell {
				return c
			}
		}
		return cell{kind: nullCell}
	case len(args) == 1 && nulls == 1 && slices.Contains([]string{"length", "char_length", "len", "trim", "btrim", "ltrim", "rtrim", "lower", "upper"}, name):
		return cell{kind: nullCell}
	case args[0].kind != knownCell:
	case slices.Contains([]string{"length", "char_length", "character_length", "octet_length", "len", "datalength", "lengthb"}, name):
		return cell{knownCell, strconv.Itoa(len([]rune(args[0].text)))}
	case len(args) == 1 && slices.Contains([]string{"trim", "btrim", "ltrim", "rtrim"}, name):
		return cell{knownCell, strings.TrimSpace(args[0].text)}
	}
	return cell{}
}

// judgeChecks complains where a step leaves each row that it takes so that a CHECK of the table over several
// columns refuses it: a time that belongs to a state and that nothing writes.
func (b *binding) judgeChecks() {
	if len(b.table.Triggers) > 0 || b.isAway() || b.movesAway() {
		return // what else is written nobody knows
	}
	for _, check := range b.table.Checks {
		columns := columnsOfCheck(check, b.table)
		if len(columns) < 2 || len(columns) > 6 {
			continue
		}
		for _, name := range b.spec.Steps() {
			t := b.spec.Transitions[name]
			switch {
			case t == nil || t.Delete || t.KeepsRow() || name == Enqueue || name == Update:
			case (name == Retry || name == Release) && (b.spec.Strategy == "pop" || !b.runs()):
			case b.spec.Outcome(name) != nil && b.breaking(Finish, check, columns):
			case b.breaking(name, check, columns):
				b.refuseBreaking(name, check, columns)
			}
		}
	}
}

// breaking reports whether a step leaves every row that satisfies a CHECK as one that does not.
func (b *binding) breaking(name TransitionName, check string, columns []*schema.Column) bool {
	t := b.spec.Transitions[name]
	found := false
	for before := range b.possible(t, check, columns) {
		found = true
		if !breaks(check, b.table, func(c *schema.Column) cell { return behind(t, c, before) }) {
			return false
		}
	}
	return found
}

// possible yields what the columns of a row may be that a step finds, as far as its tests and a CHECK
// tell.
func (b *binding) possible(t *Transition, check string, columns []*schema.Column) func(func(map[*schema.Column]cell) bool) {
	return func(yield func(map[*schema.Column]cell) bool) {
		var try func(i int, row map[*schema.Column]cell) bool
		try = func(i int, row map[*schema.Column]cell) bool {
			if i == len(columns) {
				return breaks(check, b.table, func(c *schema.Column) cell { return row[c] }) || yield(row)
			}
			c := columns[i]
			for _, may := range foundIn(t, c) {
				row[c] = may
				if !try(i+1, row) {
					return false
				}
			}
			return true
		}
		try(0, map[*schema.Column]cell{})
	}
}

// foundIn returns what a column of a row may be that a step finds.
func foundIn(t *Transition, c *schema.Column) []cell {
	for _, test := range t.Tests {
		if test.Column != c || len(test.Or) > 0 || test.By != 0 {
			continue
		}
		switch test.Op {
		case IsNull:
			return []cell{{kind: nullCell}}
		case In:
			var all []cell
			for _, v := range test.Values {
				all = append(all, written(v))
			}
			return all
		case NotNull, Less, LessEqual, Greater, GreatEqual:
			return []cell{{kind: setCell}}
		}
	}
	if c.NotNull {
		return []cell{{kind: setCell}}
	}
	return []cell{{kind: nullCell}, {kind: setCell}}
}

// written is what is known of a value that a step writes.
func written(v Value) cell {
	switch v.Kind {
	case Literal:
		return cell{knownCell, v.Text}
	case Null:
		return cell{kind: nullCell}
	case Now, Token, WorkerID, Cause:
		return cell{kind: setCell}
	}
	return cell{}
}

// behind is what is known of a column when a step is over.
func behind(t *Transition, c *schema.Column, before map[*schema.Column]cell) cell {
	i := slices.IndexFunc(t.Writes, func(w Write) bool { return w.Column == c })
	switch {
	case i < 0 || t.Writes[i].Value.Kind == Old:
		return before[c]
	case t.Writes[i].Value.IsArg(ArgError):
		return cell{kind: setCell}
	}
	return written(t.Writes[i].Value)
}

// refuseBreaking complains about a step that a CHECK refuses, with what would mend it: fewest columns first.
func (b *binding) refuseBreaking(name TransitionName, check string, columns []*schema.Column) {
	t := b.spec.Transitions[name]
	var best map[*schema.Column]cell
	var try func(i int, more map[*schema.Column]cell)
	try = func(i int, more map[*schema.Column]cell) {
		if best != nil && len(more) >= len(best) {
			return
		}
		if i < len(columns) {
			try(i+1, more)
			c := columns[i]
			if slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == c }) || slices.Contains(b.spec.Key, c) {
				return
			}
			for _, kind := range []cellKind{setCell, nullCell} {
				if kind == nullCell && c.NotNull {
					continue
				}
				more[c] = cell{kind: kind}
				try(i+1, more)
				delete(more, c)
			}
			return
		}
		for before := range b.possible(t, check, columns) {
			mended := func(c *schema.Column) cell {
				if with, ok := more[c]; ok {
					return with
				}
				return behind(t, c, before)
			}
			if !breaks(check, b.table, mended) {
				best = map[*schema.Column]cell{}
				for c, to := range more {
					best[c] = to
				}
				return
			}
		}
	}
	try(0, map[*schema.Column]cell{})
	when := doing[name]
	if o := b.spec.Outcome(name); o != nil {
		when = "settled by outcome " + o.Name
	}
	var words []string
	pos := b.table.Pos
	for _, c := range columns {
		to, ok := best[c]
		if !ok {
			continue
		}
		if len(words) == 0 {
			pos = c.Pos
		}
		set := "null"
		switch {
		case to.kind == nullCell:
		case c.Type.Class == schema.Timestamp || c.Type.Class == schema.Date || b.columns[c].As != "":
			set = "now"
		default:
			set = "arg:" + c.Name
		}
		word := "qgen:on " + string(name) + " set " + set
		switch o := b.spec.Outcome(name); {
		case o != nil:
			word = "outcomes: {" + o.Name + ": {set: {" + c.Name + ": " + set + "}}}"
		case name == Finish && set == "now" && b.spec.Finished == nil:
			word = "qgen:finished"
		}
		words = append(words, word+" for column "+strconv.Quote(c.Name))
	}
	hint := "Say what else is written then: qgen:on " + string(name) + " set …"
	if len(words) > 0 {
		hint = "Say " + strings.Join(words, ", ") + "."
	}
	b.errorf(pos, "a row that is %s would break CHECK (%s)", when, strings.Join(strings.Fields(check), " ")).WithHint("%s", hint)
}
