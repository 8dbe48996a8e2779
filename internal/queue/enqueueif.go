package queue

// This file reads the condition over other rows without which Enqueue adds no job.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// EnqueueIf is a condition without which Enqueue adds no job. In it {new} is what the job brings.
type EnqueueIf struct {
	Condition
	// Counts: it reads a table to which Enqueue adds rows, so that whether it holds depends on what
	// other producers add.
	Counts bool
	// Beside: among those is what Enqueue adds to other tables.
	Beside bool
	// Within are columns that say whose jobs those are: all rows that it reads of such a table are like
	// the job in these, so that jobs which differ there have nothing to do with each other. None where
	// it may read any.
	Within []*schema.Column
}

// Text is the condition as people read it.
func (c *EnqueueIf) Text() string { return strings.Join(strings.Fields(c.SQL), " ") }

// readEnqueueIf reads the condition of qgen.yaml without which Enqueue adds no job.
func (b *binding) readEnqueueIf() {
	text := b.config.EnqueueIf
	switch {
	case !text.IsSet() || b.isAway():
		return
	case b.spec.Upsert != nil:
		b.errorf(text.Pos, "enqueue_if says when Enqueue adds a job, and with enqueue=update it may change a row in its place").
			WithHint("Say update_if for which rows that are there are changed. Or say enqueue=absent in the place of enqueue=update: then a job that is there is left out as well.")
		return
	}
	b.updating = true
	defer func() { b.updating = false }()
	c := &EnqueueIf{Condition: Condition{Pos: text.Pos}}
	var ok bool
	if c.SQL, ok = b.expression(asLiteral(text), &b.spec.Asked); !ok {
		return
	}
	if slices.ContainsFunc(PiecesOf(c.SQL), func(piece string) bool { return strings.HasPrefix(piece, "{row}") }) {
		b.errorf(text.Pos, "{row} is a row that is there, and the job of enqueue_if is not there yet").
			WithHint("What it brings to a column is {new}.%s. Rows that are there are read by a sub-query: (select count(*) from %s as q where q.…) < 100.", b.table.Columns[len(b.table.Columns)-1].Name, b.table.Name)
		return
	}
	for _, column := range b.table.Columns {
		if b.spec.ReadsSurely(c.SQL, column) {
			b.errorf(text.Pos, "column %q stands outside of a sub-query, where there is no row yet", column.Name).
				WithHint("Write {new}.%s for what the job brings to it.", column.Name)
			return
		}
	}
	b.spec.EnqueueIf = c
}

// lookIf finds out whether the condition of Enqueue reads what Enqueue adds. What it adds to other
// tables must be known.
func (b *binding) lookIf() {
	c, t := b.spec.EnqueueIf, b.spec.Transitions[Enqueue]
	if c == nil {
		return
	}
	reads := b.spec.Read(PiecesOf(c.SQL))
	c.Beside = t != nil && slices.ContainsFunc(t.With, func(w *Companion) bool { return reads.looksInto(w.Table) })
	if c.Counts = c.Beside || reads.looksInto(b.table.Name); c.Counts && !c.Beside {
		c.Within = reads.within(b.table)
	}
}

// within returns the columns of a table in which all rows that sub-queries read of it are like a new one.
func (r *Reading) within(t *schema.Table) (columns []*schema.Column) {
	for i, a := range slices.DeleteFunc(slices.Clone(r.among), func(a Among) bool { return !strings.EqualFold(a.table, t.Name) }) {
		tied := r.tied(a, t)
		if i == 0 {
			columns = tied
		}
		columns = slices.DeleteFunc(columns, func(c *schema.Column) bool { return !slices.Contains(tied, c) })
	}
	return columns
}

// tied returns the columns of which a sub-query says that its rows of a table have what the new row has
// there: WHERE column = {new}.column, joined to other conditions by AND alone.
func (r *Reading) tied(a Among, t *schema.Table) (columns []*schema.Column) {
	where := false
	for i, depth := a.first, 0; i < a.last; i++ {
		switch {
		case r.is(i, "("):
			depth++
		case r.is(i, ")"):
			depth--
		case depth > 0:
		case r.is(i, "or", "xor", "between", "case", "union", "except", "intersect", "minus", "|"):
			return nil
		case r.is(i, "where"):
			where = true
		case r.is(i, "group", "having", "order", "limit", "window", "fetch", "for"):
			where = false
		case where && r.is(i, "=") && r.is(i-2, "where", "and") &&
			(i+2 == a.last || r.is(i+2, "and", "group", "order", "limit", "fetch", "for")):
			for _, sides := range [][2]int{{i - 1, i + 1}, {i + 1, i - 1}} {
				if c := r.sameAsNew(sides[0], sides[1], a, t); c != nil {
					columns = append(columns, c)
				}
			}
		}
	}
	return columns
}

// sameAsNew returns the column of a table that one piece names, where another is what the new row has in it.
func (r *Reading) sameAsNew(own, other int, a Among, t *schema.Table) *schema.Column {
	name, isNew := strings.CutPrefix(r.Pieces[other], "{new}.")
	if !isNew || !r.IsName(own) {
		return nil
	}
	parts := partsOf(r.Pieces[own])
	c := columnAmong(parts[len(parts)-1], t)
	if c == nil || c != columnAmong(unquoted(name), t) || len(parts) > 1 && !strings.EqualFold(parts[len(parts)-2], a.Name) {
		return nil
	}
	return c
}
