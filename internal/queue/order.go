package queue

// This file finds the order in which rows are taken.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// placedTerm is a term of the order with its place among the others.
type placedTerm struct {
	OrderTerm
	place int
	pos   source.Pos // of what says it
}

// readOrder finds the order in which rows are taken.
func (b *binding) readOrder() {
	if b.spec.Log != nil {
		b.spec.Order = []OrderTerm{{Column: b.spec.Seq}}
		b.spec.NoTieBreak = b.spec.Log.NotUnique
		if b.spec.NoTieBreak {
			for _, c := range b.spec.Key {
				if c != b.spec.Seq {
					b.spec.Order = append(b.spec.Order, OrderTerm{Column: c})
				}
			}
			b.spec.NoTieBreak = len(b.spec.Key) == 0
		}
		return
	}
	var terms []placedTerm
	tableTerms := 0
	for _, verb := range []string{"priority", "order"} {
		for _, r := range b.roles[verb] {
			if r.column == nil {
				for _, t := range b.tableTerms(r) {
					tableTerms++
					if t.place = tableTerms; verb == "priority" {
						t.place = 0
					}
					terms = append(terms, t)
				}
				continue
			}
			if place, t, ok := b.columnTerm(r); ok {
				terms = append(terms, placedTerm{t, place, r.pos})
			}
		}
	}
	said := map[*schema.Column]source.Pos{}
	for _, t := range slices.SortedStableFunc(slices.Values(terms), func(x, y placedTerm) int { return x.pos.Compare(y.pos) }) {
		if first, twice := said[t.Column]; twice && t.Column != nil {
			b.errorf(t.pos, "column %q is in the order already, as %s says", t.Column.Name, first).
				WithHint("Rows that are alike in a column are not told apart by it again. Keep one of the two.")
			continue
		}
		said[t.Column] = t.pos
	}
	const unplaced = 1 << 20
	seen := map[int]*schema.Column{}
	for i, t := range terms {
		if t.Column != nil && t.place > 0 && t.place < unplaced {
			if first := seen[t.place]; first != nil && first != t.Column {
				b.errorf(b.orderPos(t.Column), "columns %q and %q have the same place in the order", first.Name, t.Column.Name).
					WithHint("Number them in the order in which they count: order 1, order 2.")
			}
			seen[t.place] = t.Column
		}
		if t.place < 0 {
			terms[i].place = unplaced
		}
	}
	slices.SortStableFunc(terms, func(x, y placedTerm) int { return x.place - y.place })
	for _, t := range terms {
		b.spec.Order = append(b.spec.Order, t.OrderTerm)
	}
	for _, t := range b.spec.Order {
		if t.Column != nil && t.Column.OnUpdate && !slices.Contains(b.spec.Kept, t.Column) {
			b.note("the order is by column %q, which the database writes at every change of a row: a job that is given back has lost its place", t.Column.Name)
		}
	}
	b.breakTies()
}

// orderPos returns where a column's order is said.
func (b *binding) orderPos(c *schema.Column) source.Pos {
	for _, verb := range []string{"order", "priority"} {
		for _, r := range b.roles[verb] {
			if r.column == c {
				return r.pos
			}
		}
	}
	return c.Pos
}

// isDirection reports whether a word says how a term sorts.
func isDirection(w *word) bool {
	return w.op == flag && (w.name == "asc" || w.name == "desc") || w.op == equals && w.name == "nulls"
}

// direct applies a direction to a term; false after a complaint.
func (b *binding) direct(t *OrderTerm, w *word) bool {
	switch w.name {
	case "desc":
		t.Desc = true
	case "nulls":
		t.Nulls = w.values[0].text
		if len(w.values) != 1 || t.Nulls != "first" && t.Nulls != "last" {
			b.errorf(w.pos, "%s cannot be", w.pos.Text()).WithHint("Write nulls=first or nulls=last.")
			return false
		}
	}
	return true
}

// columnTerm reads order or priority of a column. The place is -1 when none is
// said.
func (b *binding) columnTerm(r *role) (place int, t OrderTerm, ok bool) {
	t.Column = r.column
	place = -1
	var said, numbered *word
	if r.verb == "priority" {
		place = 0
	}
	for _, w := range r.words {
		switch {
		case isDirection(w) && w.name != "nulls" && said != nil:
			b.errorf(w.pos, "%s and %s cannot both be", said.name, w.name).WithHint("Keep asc or desc.")
			return 0, t, false
		case isDirection(w):
			if w.name != "nulls" {
				said = w
			}
			if !b.direct(&t, w) {
				return 0, t, false
			}
		case w.op == flag && isDigits(w.name) && r.verb == "order" && numbered == nil && len(w.name) < 6:
			numbered = w
			for _, digit := range w.name {
				if place < 0 {
					place = 0
				}
				place = place*10 + int(digit-'0')
			}
			if place == 0 {
				b.errorf(w.pos, "places are counted from 1").WithHint("Write order 1 for what counts first.")
				return 0, t, false
			}
		case w.op == flag && w.name == "random":
			b.errorf(w.pos, "random is the order of a table, not of a column").
				WithHint("Write -- qgen:order random above CREATE TABLE.")
			return 0, t, false
		default:
			e := b.errorf(w.pos, "qgen:%s of a column has no word %q", r.verb, orWord(w.name, w.pos.Text()))
			if near := meant(w.name, []string{"asc", "desc", "nulls"}); near != "" {
				e.WithHint("Did you mean %s? Free text goes after \" -- \" or in parentheses.", near)
			} else {
				e.WithHint("It takes asc or desc, nulls=first or nulls=last, and order a number. Free text goes after \" -- \" or in parentheses.")
			}
			return 0, t, false
		}
	}
	if r.verb == "priority" && said == nil {
		b.errorf(r.pos, "nothing says which priority goes first").
			WithHint("Write priority desc when the greatest number goes first, priority asc when the smallest does.")
		return 0, t, false
	}
	return place, t, true
}

// tableTerms reads order or priority of a table: columns and expressions.
func (b *binding) tableTerms(r *role) []placedTerm {
	var terms []placedTerm
	add := func(t OrderTerm, w *word) { terms = append(terms, placedTerm{OrderTerm: t, pos: w.pos}) }
	open := false // a term may be directed
	for _, w := range r.words {
		switch {
		case w.op == separator && open:
			open = false
		case isDirection(w) && open:
			if !b.direct(&terms[len(terms)-1].OrderTerm, w) {
				return nil
			}
		case w.op == flag && w.name == "random" && w.values[0].quote == bare:
			add(OrderTerm{Random: true}, w)
			open = true
		case w.op == flag && w.values[0].quote == sql:
			t := OrderTerm{Column: columnOf(b.table, strings.TrimSpace(w.values[0].text), b.fold)}
			if t.Column == nil {
				text, ok := b.expression(w.values[0], nil)
				if !ok {
					return nil
				}
				t.SQL = text
			}
			add(t, w)
			open = true
		case w.op == flag && !isDirection(w):
			c := b.referred(w.values[0])
			if c == nil {
				return nil
			}
			add(OrderTerm{Column: c}, w)
			open = true
		default:
			b.errorf(w.pos, "unexpected %s in an order", w.pos.Text()).
				WithHint(`Write columns and expressions, each with asc or desc: qgen:order priority desc, "lower(name)", id.`)
			return nil
		}
	}
	if len(terms) == 0 {
		b.errorf(r.pos, "qgen:%s of a table names no column", r.verb).
			WithHint(`Write columns and expressions, each with asc or desc: qgen:order priority desc, "lower(name)", id.`)
	}
	return terms
}

// breakTies makes the order total, and finds one when none is said.
func (b *binding) breakTies() {
	s := b.spec
	said := len(s.Order) > 0
	s.Unordered = !said
	var have []*schema.Column
	for _, t := range s.Order {
		if t.Column != nil {
			have = append(have, t.Column)
		}
		if t.Random {
			s.NoTieBreak = true
			return
		}
	}
	add := func(tie bool, columns ...*schema.Column) {
		for _, c := range columns {
			if !slices.Contains(have, c) {
				have = append(have, c)
				s.Order = append(s.Order, OrderTerm{Column: c, Tie: tie})
			}
		}
	}
	if b.unique(have) {
		return
	}
	grows := len(s.Key) == 1 && s.Seq == s.Key[0]
	ordered := len(b.roles["order"]) > 0
	const arrival = "rows%s are taken as they came, by column %q%s"
	alike, waits := "", ""
	if said {
		alike = " of one priority"
	} else if s.Due != nil && !slices.Contains(s.Key, s.Due) && b.one("seq") == nil {
		waits = fmt.Sprintf("; order 1 at column %q takes them by their time, and reads none that wait for theirs", s.Due.Name)
	}
	switch {
	case grows && !said:
		b.note(arrival, "", s.Seq.Name, waits)
	case grows:
	case s.Seq != nil && (!ordered || b.one("seq") != nil):
		add(false, s.Seq)
		if !ordered {
			b.note(arrival, alike, s.Seq.Name, waits)
		}
	case ordered:
	case s.Enqueued != nil && !slices.Contains(have, s.Enqueued):
		add(false, s.Enqueued)
		b.note(arrival, alike, s.Enqueued.Name, waits)
	case !said && len(s.Key) > 0:
		b.note("no order is said: rows are taken in the order of the key, %s%s", names(s.Key), waits)
	}
	if b.unique(have) {
		return
	}
	add(len(s.Order) > 0, s.Key...)
	if len(s.Key) == 0 {
		s.NoTieBreak = true
		switch {
		case len(s.Order) == 0:
			b.note("rows are taken in any order: nothing orders them")
		default:
			b.note("rows that are equal in %s are taken in any order: the table has no key", names(have))
		}
	}
}
