package plan

// This file says why an index of the table does not serve for which another is advised.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// miss says of the index of the table that comes nearest to a wanted one why it does not serve, "" where
// none has a column of it.
func (b *builder) miss(w wanted) (text string) {
	far, most := -1, 0
	for _, ix := range b.spec.Table.Indexes {
		if ix.Name == "" || ix == b.keptBy() || b.spec.Table.PrimaryKey != nil && ix == b.spec.Table.PrimaryKey.Index() {
			continue
		}
		common := 0
		for _, c := range ix.Columns {
			if c.Column != nil && slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == c.Column && !k.tie }) {
				common++
			}
		}
		run, why := b.lacks(ix, w)
		if own := *ix; ix.Implicit && why != "" {
			if own.Implicit = false; b.serves(&own, w) == wholly {
				why = "the server drops it once another index begins with its columns"
			}
		}
		if common > 0 && why != "" && (run > far || run == far && common > most) {
			far, most, text = run, common, b.calledIndex(ix)+" does not serve: "+why
		}
	}
	return text
}

// lacks says what an index lacks of a wanted one, and how many of its first columns serve, read from the end
// from which more of them do.
func (b *builder) lacks(ix *schema.Index, w wanted) (run int, why string) {
	run, why = b.lacksOfEither(ix, w, untied(w.order()))
	if why == "" && b.serves(ix, w) == not { // what tells ties apart is all that it lacks
		_, why = b.lacksOfEither(ix, w, w.order())
	}
	return run, why
}

// lacksOfEither is lacks of an index that is read in an order or against it.
func (b *builder) lacksOfEither(ix *schema.Index, w wanted, ordered []indexKey) (run int, why string) {
	run, why = b.lacksOf(ix, w, ordered)
	if back, whyBack := b.lacksOf(ix, w, reversed(ordered)); back > run {
		return back, whyBack
	}
	return run, why
}

// lacksOf is lacks of an index that is read in one order.
func (b *builder) lacksOf(ix *schema.Index, w wanted, ordered []indexKey) (run int, why string) {
	name := func(c *schema.Column) string { return plainText(c.Name) }
	var told, fixed []*schema.Column
	for i, k := range w.columns[:w.fixed] {
		if k.spare {
			continue
		}
		if fixed = append(fixed, k.column); i < w.told {
			told = append(told, k.column)
		}
	}
	wants := func(c *schema.Column) bool { // the advised index tells it, by a column or by its predicate
		return slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == c }) ||
			slices.ContainsFunc(w.predicate(), func(t queue.Test) bool { return t.Column == c })
	}
	for _, t := range w.where {
		if t.Column != nil && wants(t.Column) && constant(t) && points(t) && !b.says(ix, t) && !slices.Contains(told, t.Column) && !leadsInOrder(ix, t, ordered) {
			told, fixed = append(told, t.Column), append(fixed, t.Column)
		}
	}
	spare := func(c *schema.Column) bool { // which an index may have before the order, and need not
		return slices.ContainsFunc(w.columns[:w.fixed], func(k indexKey) bool { return k.spare && k.column == c })
	}
	take := func(list []*schema.Column, c *schema.Column) []*schema.Column {
		return slices.DeleteFunc(slices.Clone(list), func(have *schema.Column) bool { return have == c })
	}
	switch {
	case ix.Invisible:
		return 0, "no statement uses it while it is invisible"
	case ix.Method != "" && ix.Method != "btree" && ix.Method != "rowid":
		return 0, "it is of the kind " + ix.Method
	case !b.holds(ix, b.implied(w)):
		return 0, "its predicate does not follow from what the statement asks"
	case b.lacksNulls(ix, b.askedOf(w)):
		return 0, "it has no rows that are null in all of its columns"
	}
	sorts := func(c schema.IndexColumn, k indexKey) bool { // or would, where NULLS FIRST keeps such an index from being taken
		if b.nullsFirst && k.column != nil && k.column.NotNull {
			k.nulls = ""
		}
		return b.sorts(c, k)
	}
	behind := "it begins with "
	for _, c := range ix.Columns {
		switch {
		case c.Column == nil:
			return run, behind + "an expression"
		case c.Length > 0 && (!b.leadsBy(c) || !slices.Contains(fixed, c.Column)):
			return run, "it has the beginning of " + name(c.Column) + " alone"
		case slices.Contains(fixed, c.Column):
			told, fixed = take(told, c.Column), take(fixed, c.Column)
		case spare(c.Column), slices.ContainsFunc(w.where, func(t queue.Test) bool { return t.Column == c.Column && equality(t) && b.says(ix, t) }):
		case len(ordered) > 0 && c.Column == ordered[0].column && len(told) > 0:
			return run, "it has " + name(c.Column) + " before " + name(told[0]) + ", which tells the rows that are wanted"
		case len(ordered) > 0 && sorts(c, ordered[0]):
			ordered = ordered[1:]
		case len(ordered) > 0 && c.Column == ordered[0].column:
			return run, name(c.Column) + " stands in it in another order"
		case len(ordered) > 0 || len(fixed) > 0:
			return run, behind + name(c.Column) + ", which is neither compared with one value nor what comes next in the order"
		}
		run++
		behind = "behind " + name(c.Column) + " it has "
	}
	switch {
	case len(told) > 0:
		return run, "it does not have " + name(told[0]) + ", which tells the rows that are wanted"
	case len(fixed) > 0:
		return run, "it does not have " + name(fixed[0])
	case len(ordered) > 0 && ordered[0].column != nil && w.kind != "ready" && w.kind != "line":
		return run, "it does not have " + name(ordered[0].column)
	case len(ordered) > 0 && ordered[0].column != nil:
		return run, "it does not have " + name(ordered[0].column) + ", so that what it finds would be sorted"
	}
	return run, ""
}
