package schema

// This file gives a view, or a table made by a query, the columns that can be
// known without understanding the query.

import (
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// A from is one table that a query reads.
type from struct {
	alias string
	table *draft // nil when it is not known
}

// An output is one column, or a star, of a query's list.
type output struct {
	name       string // "" when the database makes one up
	pos        source.Pos
	table      string // in front of column or star
	column     string // "" for an expression
	plain      bool   // a column without AS, which SQLite names as its table does
	star       bool
	start, end int // in the file
}

// addOutputs adds the columns of a query. A column that is computed has no
// known type, one without a name leaves a gap.
func (t *draft) addOutputs(a *anchor, froms []from, outputs []output) {
	for _, o := range outputs {
		sources := sourcesOf(froms, o.table)
		if o.star {
			for _, f := range sources {
				if f == nil {
					t.unknownColumns(o.pos)
					return
				}
				for _, c := range f.Columns {
					t.addOutput(c.Name, c.Pos, c)
				}
			}
			continue
		}
		if o.name == "" {
			t.unknownColumns(o.pos)
			continue
		}
		var origin *Column
		for _, f := range sources {
			if f != nil && o.column != "" && origin == nil {
				origin = f.Column(o.column)
			}
		}
		if t.AnyCase && o.plain && origin != nil {
			o.name = origin.Name
		}
		if c := t.addOutput(o.name, o.pos, origin); c != nil {
			a.columns = append(a.columns, columnAnchor{c, o.start, o.end})
		}
	}
}

// sourcesOf returns the tables that a name in a query may mean, all of them
// for "".
func sourcesOf(froms []from, alias string) []*draft {
	var tables []*draft
	for _, f := range froms {
		if alias == "" || strings.EqualFold(f.alias, alias) {
			tables = append(tables, f.table)
		}
	}
	return tables
}

// addOutput adds a column that shows origin, which is nil for an expression;
// nil when the table has a column of that name.
func (t *draft) addOutput(name string, pos source.Pos, origin *Column) *Column {
	if t.Column(name) != nil {
		return nil
	}
	c := &Column{Name: name, Pos: pos, Type: Type{Class: Unknown}, Generated: origin == nil}
	t.Columns = append(t.Columns, c)
	if origin != nil {
		t.all.show(c, origin)
		if t.View {
			t.all.shown = append(t.all.shown, [2]*Column{c, origin})
		}
	}
	return c
}

// show makes c what origin is, but for its name and place.
func (d *drafts) show(c, origin *Column) {
	*c = Column{
		Name: c.Name, Pos: c.Pos, Comments: c.Comments,
		Type: origin.Type, NotNull: origin.NotNull, HasDefault: origin.HasDefault, Default: origin.Default,
		Identity: origin.Identity, Always: origin.Always, Generated: origin.Generated,
	}
	if d.typeLike != nil {
		d.typeLike(c, origin)
	}
}

// showAgain gives the columns of views what later statements made of their
// origins.
func (d *drafts) showAgain() {
	for _, pair := range d.shown {
		d.show(pair[0], pair[1])
	}
}

// unknownColumns notes that the table has columns that the files do not tell.
func (t *draft) unknownColumns(pos source.Pos) {
	what := "table"
	if t.View {
		what = "view"
	}
	t.Gaps = append(t.Gaps, source.Errorf(pos, "the columns of %s %s cannot all be read from its query", what, t.Name).
		WithHint("Name every column of the query with AS, and let the tables that it reads stand in the files before it."))
}
