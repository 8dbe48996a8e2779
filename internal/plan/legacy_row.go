package plan

// This file tells what a row holds that one of two programs has taken, and whether it
// meets what the other asks for.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// meets says whether rows can meet a condition.
type meets int

// The answers, ordered so that the least of several is that of all together.
const (
	never   meets = iota // no such row does
	unknown              // nobody can tell
	may                  // some do
)

// meetsIf is may where a condition holds, else never.
func meetsIf(holds bool) meets {
	if holds {
		return may
	}
	return never
}

// A content is what a column holds.
type content struct {
	kind contentKind
	text string // of constant
}

type contentKind int

const (
	isAnything contentKind = iota // any value, and no condition on it tells rows apart
	isHidden                      // one value that only the other program knows
	isConstant
	isNull
	isFresh  // a value that no other row has
	isNumber // some number
	isNow    // the time of the write
	isFuture
	isPast
)

// A row is what is known of a row: what its columns may hold. Of others nothing is known.
type row map[*schema.Column][]content

// readyRow is what is known of a ready row.
func (b *builder) readyRow() row {
	r := row{}
	for _, t := range b.spec.States[queue.Ready].Tests {
		switch {
		case t.Column == nil || len(t.Or) > 0:
		case t.Op == queue.IsNull:
			r[t.Column] = []content{{kind: isNull}}
		case t.Op == queue.In:
			var list []content
			for _, v := range t.Values {
				list = append(list, contentOf(v))
			}
			r[t.Column] = list
		}
	}
	return r
}

// contentOf is what a write leaves.
func contentOf(v queue.Value) content {
	switch v.Kind {
	case queue.Literal:
		return content{isConstant, v.Text}
	case queue.Null:
		return content{kind: isNull}
	case queue.Token, queue.WorkerID:
		return content{kind: isFresh}
	case queue.Add:
		return content{kind: isNumber}
	case queue.Now:
		switch {
		case v.Shift == nil:
			return content{kind: isNow}
		case v.Shift.Minus:
			return content{kind: isPast}
		}
		return content{kind: isFuture}
	case queue.SQLExpr, queue.Given, queue.ColumnOf, queue.Arg:
		return content{kind: isHidden}
	}
	return content{}
}

// behind is a ready row behind steps of the queue.
func (b *builder) behind(steps ...queue.TransitionName) row {
	r := b.readyRow()
	for _, name := range steps {
		t := b.spec.Transitions[name]
		if t == nil || name == queue.Claim && !b.writesClaim() {
			continue
		}
		for _, w := range t.Writes {
			if w.Value.Kind != queue.Old {
				r[w.Column] = []content{contentOf(w.Value)}
			}
		}
	}
	return r
}

// behindOld is a row that the old program has taken.
func (b *builder) behindOld() row {
	r := b.readyRow()
	for _, t := range slices.Concat(b.old.seen, b.old.held) {
		if t.op == "null" && r[t.column] == nil {
			r[t.column] = []content{{kind: isNull}}
		}
	}
	if b.old.writer == nil {
		return r
	}
	for _, s := range b.old.writer.sets {
		r[s.column] = []content{contentOfOld(s.value)}
	}
	return r
}

// contentOfOld is what the old program writes, or compares with.
func contentOfOld(v schema.RowValue) content {
	switch v.Kind {
	case schema.RowLiteral:
		return content{isConstant, v.Text}
	case schema.RowNull:
		return content{kind: isNull}
	case schema.RowNow:
		return content{kind: isNow}
	case schema.RowEarlier:
		return content{kind: isPast}
	case schema.RowLater:
		return content{kind: isFuture}
	}
	return content{kind: isHidden}
}

// tellReady lists the columns by which ready rows are told.
func (b *builder) tellReady() []*schema.Column {
	var columns []*schema.Column
	var add func(tests []queue.Test)
	add = func(tests []queue.Test) {
		for _, t := range tests {
			if t.Column != nil {
				columns = append(columns, t.Column)
			}
			add(t.Or)
		}
	}
	add(b.spec.States[queue.Ready].Tests)
	return columns
}

// asks reports whether a row can meet conditions of the old program; which is the first
// that says less than may.
func (r row) asks(tests []*oldTest) (answer meets, which *oldTest) {
	answer = may
	for _, t := range tests {
		if m := r.ask(t); m < answer {
			answer, which = m, t
		}
	}
	return answer, which
}

func (r row) ask(t *oldTest) meets {
	switch {
	case t.elsewhere:
		return unknown
	case t.op == "any":
		best := never
		for _, tests := range t.any {
			m, _ := r.asks(tests)
			if m == may && slices.ContainsFunc(tests, func(t *oldTest) bool { return t.given(r) }) {
				m = unknown // that the argument is a name of its own is a guess, and others may do
			}
			best = max(best, m)
		}
		return best
	case t.op == "" || slices.ContainsFunc(t.values, func(v schema.RowValue) bool { return v.Kind == schema.RowOther || v.Kind == schema.RowColumn }):
		if t.op == "" || r[t.column] == nil {
			if slices.ContainsFunc(t.mentions, func(c *schema.Column) bool { return r[c] != nil }) {
				return unknown
			}
			return may
		}
	}
	held, known := r[t.column]
	if !known {
		return may
	}
	best := never
	for _, c := range held {
		best = max(best, c.ask(t))
	}
	return best
}

// ask reports whether a column that holds c can meet a condition.
func (c content) ask(t *oldTest) meets {
	if t.read && c.kind == isFresh {
		return never
	}
	var operands []content
	for _, v := range t.values {
		operands = append(operands, contentOfOld(v))
	}
	op := map[string]queue.Op{
		"in": queue.In, "not in": queue.NotIn, "null": queue.IsNull, "not null": queue.NotNull,
		"<": queue.Less, "<=": queue.LessEqual, ">": queue.Greater, ">=": queue.GreatEqual,
	}[t.op]
	return c.compare(op, operands, t.column, false)
}

// test reports whether a row can meet a test of the queue.
func (r row) test(t queue.Test) meets {
	best := r.one(t)
	for _, or := range t.Or {
		best = max(best, r.test(or))
	}
	return best
}

func (r row) one(t queue.Test) meets {
	if t.Op == queue.Raw {
		for c := range r {
			if mentions(t.SQL, c) {
				return unknown
			}
		}
		return may
	}
	held, known := r[t.Column]
	if !known || t.Op == queue.Dead {
		return may
	}
	var operands []content
	for _, v := range t.Values {
		operands = append(operands, contentOf(v))
	}
	best := never
	for _, c := range held {
		best = max(best, c.compare(t.Op, operands, t.Column, true))
	}
	return best
}

// mentions reports whether an expression may speak of a column.
func mentions(expression string, c *schema.Column) bool {
	return strings.Contains(strings.ToLower(expression), strings.ToLower(c.Name))
}

// tests reports whether a row can meet all tests.
func (r row) tests(tests []queue.Test) meets {
	least := may
	for _, t := range tests {
		least = min(least, r.test(t))
	}
	return least
}

// compare reports whether a column that holds c can meet a comparison. In those of the
// queue a null among the operands is a value as others are.
func (c content) compare(op queue.Op, operands []content, column *schema.Column, nulls bool) meets {
	switch op {
	case queue.IsNull, queue.NotNull:
		if c.kind == isAnything || c.kind == isHidden {
			return unknown
		}
		return meetsIf((c.kind == isNull) == (op == queue.IsNull))
	}
	if c.kind == isNull && !nulls {
		return never
	}
	switch op {
	case queue.In:
		best := never
		for _, o := range operands {
			best = max(best, c.equal(o, column))
		}
		return best
	case queue.NotIn:
		worst := may
		for _, o := range operands {
			worst = min(worst, map[meets]meets{never: may, unknown: unknown, may: never}[c.equal(o, column)])
		}
		if c.kind == isNumber || c.kind == isFresh {
			return may
		}
		return worst
	}
	if len(operands) != 1 || c.kind == isNull {
		return never
	}
	return c.order(op, operands[0])
}

// equal reports whether c can be the value o.
func (c content) equal(o content, column *schema.Column) meets {
	switch {
	case c.kind == isNull || o.kind == isNull:
		if c.kind == isHidden || o.kind == isHidden {
			return unknown
		}
		return meetsIf(c.kind == o.kind)
	case c.kind == isNumber:
		return may
	case c.kind == isFresh && o.kind == isConstant:
		return never
	case c.kind == isFresh && o.kind == isHidden:
		return may // it asks for rows of its own name
	case c.kind == isConstant && o.kind == isConstant:
		return sameConstant(c.text, o.text, column)
	case c.kind >= isNow && o.kind == isConstant, c.kind == isFuture && o.kind == isNow:
		return never
	case c.kind >= isNow && o.kind == isNow:
		return may
	}
	return unknown
}

// sameConstant compares constants of a column.
func sameConstant(x, y string, column *schema.Column) meets {
	truth := map[string]string{"t": "true", "f": "false", "1": "true", "0": "false", "yes": "true", "no": "false"}
	switch column.Type.Class {
	case schema.Bool:
		x, y = strings.ToLower(x), strings.ToLower(y)
		if t, ok := truth[x]; ok {
			x = t
		}
		if t, ok := truth[y]; ok {
			y = t
		}
	case schema.Int, schema.Decimal, schema.Float:
		if y == "true" || y == "false" {
			zero, err := strconv.ParseFloat(x, 64)
			return meetsIf((err == nil && zero == 0) == (y == "false"))
		}
		a, err := strconv.ParseFloat(x, 64)
		b, wrong := strconv.ParseFloat(y, 64)
		if err == nil && wrong == nil {
			return meetsIf(a == b)
		}
	default:
		x, y = strings.TrimRight(x, " "), strings.TrimRight(y, " ")
	}
	switch {
	case x == y:
		return may
	case strings.EqualFold(x, y):
		return unknown // the collation decides
	}
	return never
}

// order reports whether c can stand in an order to the value o. What is before now at
// the moment of the write is so ever after; what is later is not for a while.
func (c content) order(op queue.Op, o content) meets {
	less := op == queue.Less || op == queue.LessEqual
	switch {
	case c.kind == isNumber:
		return may
	case c.kind == isConstant && o.kind == isConstant:
		a, err := strconv.ParseFloat(c.text, 64)
		b, wrong := strconv.ParseFloat(o.text, 64)
		if err != nil || wrong != nil {
			return unknown
		}
		met := map[queue.Op]bool{queue.Less: a < b, queue.LessEqual: a <= b, queue.Greater: a > b, queue.GreatEqual: a >= b}[op]
		return meetsIf(met)
	case c.kind < isNow || o.kind < isNow:
		return unknown
	}
	place := map[contentKind]int{isPast: -1, isNow: 0, isFuture: 1}
	switch d := place[c.kind] - place[o.kind]; {
	case d < 0:
		return meetsIf(less)
	case d > 0:
		return meetsIf(!less)
	case c.kind == isNow:
		return meetsIf(less)
	}
	return unknown
}
