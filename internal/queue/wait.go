package queue

// This file reads lengths of time that SQL tells.

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// failures is the macro for how often a job has failed.
const failures = "failures"

// readWait returns the wait after a failure as qgen.yaml says it in SQL, nil where it
// does not.
func (b *binding) readWait(from *config.Backoff) *Wait {
	text := from.Expr
	if from.ExprBy != nil {
		by, ok := from.ExprBy[b.config.Engine.Value]
		if !ok {
			b.silentFor("backoff.expr", "Add a line for it, or say base, factor and max for all databases.")
			return nil
		}
		text = by
	}
	if !text.IsSet() {
		return nil
	}
	if why, hint := b.waitless(); why != "" {
		b.errorf(text.Pos, "backoff.expr is written when a job fails, and %s", why).WithHint("%s", hint)
		return nil
	}
	b.waiting = true
	defer func() { b.waiting = false }()
	sql, ok := b.expression(asLiteral(text), nil)
	if !ok {
		return nil
	}
	w := &Wait{SQL: sql, Unit: units[from.Unit.Value], Pos: text.Pos}
	b.spec.Lengths = append(b.spec.Lengths, w)
	return w
}

// lengthInSQL reads a length of time that an expression over the row tells; nil after a complaint.
func (b *binding) lengthInSQL(l literal, unit *word) *distance {
	text, ok := b.expression(l, nil)
	if !ok {
		return nil
	}
	d := &distance{wait: &Wait{SQL: text, Pos: l.pos}}
	if unit != nil {
		d.wait.Unit = units[unit.values[0].text]
	}
	b.spec.Lengths = append(b.spec.Lengths, d.wait)
	return d
}

// ofRow says how a length of time is called that each row has for itself; "" where it has none.
func (d *distance) ofRow() string {
	switch {
	case d.column != nil:
		return d.column.Name
	case d.wait != nil:
		return d.wait.SQL
	}
	return ""
}

var (
	// neverNull is SQL that is null only where a column of it is.
	neverNull = regexp.MustCompile(`^[\pL\pN_$"{}.+*() -]*$`)
	call      = regexp.MustCompile(`[\pL\pN_$"] *\(`)
	// forNull are the functions that say what stands in the place of a null.
	forNull = []string{"coalesce", "ifnull", "isnull", "nvl"}
)

// mayLack returns the columns by which a row may lack a length of time, as far as is known, and
// whether anything else may leave it without.
func (b *binding) mayLack(d *distance) (columns []*schema.Column, otherwise bool) {
	switch {
	case d.column != nil && !d.column.NotNull:
		return []*schema.Column{d.column}, false
	case d.wait == nil, slices.ContainsFunc(forNull, func(f string) bool { return source.Mentions(d.wait.SQL, f) }):
		return nil, d.wait != nil
	}
	for _, c := range b.table.Columns {
		if !c.NotNull && b.spec.Reads(d.wait.SQL, c) && !b.asksForNull(d.wait.SQL, c) {
			columns = append(columns, c)
		}
	}
	return columns, !neverNull.MatchString(d.wait.SQL) || call.MatchString(d.wait.SQL)
}

// asksForNull reports whether an expression asks whether a column of the row is null, and so knows
// what to do where it is.
func (b *binding) asksForNull(text string, c *schema.Column) bool {
	r := b.spec.Read(PiecesOf(text))
	for i := range r.Pieces {
		if found, row := r.Column(i); found == c && row && r.is(i+1, "is") {
			return true
		}
	}
	return false
}

// waitless says why nothing can be written of a wait that SQL tells, and what to do.
func (b *binding) waitless() (why, hint string) {
	k := &b.claims
	switch {
	case b.spec.Log != nil:
		return "rows of this queue are only added", "Leave it out: a log has no place for a failure."
	case b.spec.Strategy == "pop":
		return "strategy=pop ends a job when it is claimed, so that it never fails", "Leave it out, or leave strategy=pop out."
	case k.due != nil && k.due.has("add"):
		w := k.due.word("add")
		return fmt.Sprintf("the row waits as %s says", w.pos.Text()), "Leave one of the two out: an expression can read the same column."
	case k.due == nil && !k.visible && b.config.Side == nil && b.config.Lease == nil:
		return "no column says when a job is due", "Mark one with qgen:due or qgen:visible."
	}
	return "", ""
}

// countless says why nobody knows how often a job has failed, and what to do.
func countless(a *Attempts) (why, hint string) {
	switch {
	case a == nil:
		return "no column counts that", "Mark the counter with qgen:attempts, or leave {failures} out."
	case a.Down && a.Max == 0 && a.MaxOf == nil:
		return fmt.Sprintf("nothing says from where column %q counts down", a.Column.Name), "Say max=5 at qgen:attempts, or mark the column of the limit with qgen:max_attempts."
	case a.Down && a.MaxOf != nil && a.MaxOf.open():
		return fmt.Sprintf("column %q, from which column %q counts down, may be null", a.MaxOf.Column.Name, a.Column.Name), "Say at that column how many " + a.counted() + " it is then: qgen:max_attempts null=5."
	}
	return "", ""
}
