package plan

// This file finds columns whose types the server cannot compare, or cannot index.

import (
	"fmt"
	"slices"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// checkCompared complains about columns that statements compare with values and whose
// types have no equality.
func (b *builder) checkCompared() {
	compared := slices.Concat(b.spec.Key, b.spec.Fence.Columns)
	see := func(c *schema.Column) {
		if c != nil {
			compared = append(compared, c)
		}
	}
	for _, name := range queue.StateNames {
		for _, t := range b.stateTests(name) {
			for _, one := range t.Alternatives() {
				if slices.ContainsFunc(one.Values, func(v queue.Value) bool { return v.Kind != queue.Null }) {
					see(one.Column)
				}
			}
		}
	}
	for _, p := range b.spec.Params {
		see(p.Column)
	}
	if g := b.spec.Group; g != nil {
		compared = append(compared, g.Columns...)
	}
	for _, o := range b.spec.Order {
		see(o.Column)
	}
	for _, c := range b.spec.Columns { // each once, in table order
		if slices.Contains(compared, c.Column) && slices.Contains(b.d.Uncompared, b.ruleName(c.Type)) && !c.Type.Array {
			b.complain(c.Column, "Give it a type that has an order, such as one of texts with a length; or leave its role out.",
				"column %q is %s, which %s does not compare with values", c.Name, c.Type.Raw, b.d.Title)
		}
	}
}

// unindexed reports whether no index holds the values of a column whole.
func (b *builder) unindexed(c *schema.Column) bool {
	return c != nil && slices.Contains(b.d.Unindexed, b.ruleName(c.Type))
}

// lengthOf returns how many characters or bytes of a column an index has that is advised, where it cannot have it
// whole; 0 where none may have its beginning alone.
func (b *builder) lengthOf(c *schema.Column) int {
	if c == nil || !b.can(dialect.ValuePrefix) {
		return 0
	}
	return b.d.Beginnings[b.ruleName(c.Type)]
}

// begins reports whether an index may have the beginning of a column alone, which leads to the rows of one value.
func (b *builder) begins(c *schema.Column) bool {
	return b.lengthOf(c) > 0
}

// unfound reports whether no index leads to the rows of one value of a column.
func (b *builder) unfound(c *schema.Column) bool { return b.unindexed(c) && !b.begins(c) }

// leadsBy reports whether a key of an index leads to the rows of one value of a column.
func (b *builder) leadsBy(k schema.IndexColumn) bool {
	return k.Column != nil && (k.Length == 0 || b.begins(k.Column))
}

// leadsTo reports whether a key of an index may lead to the rows that satisfy a test: one that has the beginning of a
// column alone does by values.
func (b *builder) leadsTo(k schema.IndexColumn, t queue.Test) bool {
	return b.leadsBy(k) && (k.Length == 0 || points(t)) && t.Column == k.Column && t.By == 0
}

// unheldTest reports whether no index leads to the rows that satisfy a test, since none has of its column what the
// test compares.
func (b *builder) unheldTest(t queue.Test) bool {
	return b.unindexed(t.Column) && (!points(t) || !b.begins(t.Column))
}

// holdable leaves out of a wanted index what no index holds, with what stands behind it,
// and says whether that was something. Of what is compared with one value it has the beginning, where that can be.
func (b *builder) holdable(w *wanted) bool {
	for i, k := range w.columns {
		switch {
		case !b.unindexed(k.column) || k.length > 0:
		case i < w.fixed && b.begins(k.column):
			w.columns = slices.Clone(w.columns)
			w.columns[i].length = b.lengthOf(k.column)
		default:
			w.columns = w.columns[:i]
			w.fixed, w.told = min(w.fixed, i), min(w.told, i)
			return true
		}
	}
	return false
}

// unheld returns the columns by which a claim finds its rows and that no index holds, in
// table order.
func (b *builder) unheld() []*schema.Column {
	var sought, valued, list []*schema.Column // the latter by one value or some
	for _, t := range b.stateTests(queue.Ready) {
		if t.Op == queue.In {
			valued = append(valued, t.Column)
		}
	}
	for _, p := range b.spec.Params {
		if p.Kind == queue.Equal || p.Kind == queue.List {
			valued = append(valued, p.Column)
		} else {
			sought = append(sought, p.Column)
		}
	}
	for _, o := range b.spec.Order {
		sought = append(sought, o.Column)
	}
	for _, c := range b.spec.Columns {
		if slices.Contains(sought, c.Column) && b.unindexed(c.Column) || slices.Contains(valued, c.Column) && b.unfound(c.Column) {
			list = append(list, c.Column)
		}
	}
	return list
}

// noteUnheld says what that costs.
func (b *builder) noteUnheld() {
	for _, c := range b.unheld() {
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("column %q is %s, which no index holds whole: claims read more rows than they take, or sort them; a type with a length, such as varchar(40), would mend that",
			c.Name, c.Type.Raw))
	}
}
