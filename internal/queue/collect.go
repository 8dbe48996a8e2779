package queue

// This file finds the annotations of a table: in its comments and those of its
// columns, and in qgen.yaml.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// role is an annotation at the column, or the table, of which it speaks.
type role struct {
	*annotation
	column *schema.Column // nil of the table
}

// String names the role as messages do.
func (r *role) String() string {
	if r.column == nil {
		return mark + r.verb
	}
	return fmt.Sprintf("%s%s of column %q", mark, r.verb, r.column.Name)
}

// collect returns the annotations of a table that can be used, those of the
// table first, then column by column; the rest is reported.
func collect(t *schema.Table, q *config.Queue, fold func(string) string, errs *source.ErrorList) []*role {
	var found []*role
	add := func(c *schema.Column, list []*annotation) {
		for _, a := range list {
			if r := route(t, c, a, errs); r != nil && a.check(errs) {
				found = append(found, r)
			}
		}
	}
	if q.Words.IsSet() {
		add(nil, parseWords(q.Words, "queue", errs))
	}
	for _, comment := range t.Comments {
		missed(comment, errs)
		add(nil, parseComment(comment, errs))
	}
	for _, c := range t.Columns {
		for _, comment := range c.Comments {
			missed(comment, errs)
			add(c, parseComment(comment, errs))
		}
		for _, entry := range q.Columns {
			if columnOf(t, entry.Name.Value, fold) == c {
				for _, words := range entry.Words {
					add(c, parseWords(words, "", errs))
				}
			}
		}
	}
	for _, entry := range q.Columns {
		if columnOf(t, entry.Name.Value, fold) == nil {
			NoColumn(t, entry.Name.Value, entry.Name.Pos, "", errs)
		}
	}
	slices.SortStableFunc(found, func(a, b *role) int {
		return position(t, a.column) - position(t, b.column)
	})
	return found
}

// almostForm is what was meant as an annotation and is none.
var almostForm = regexp.MustCompile(`(?i)^[\s*]*([@#]?qgen\s*[:=.]?\s*([a-z_]+))`)

// missed complains about a comment that begins like an annotation and is read
// as free text.
func missed(c schema.Comment, errs *source.ErrorList) {
	m := almostForm.FindStringSubmatchIndex(c.Text)
	if m == nil || annotated(c) {
		return
	}
	verb := strings.ToLower(c.Text[m[4]:m[5]])
	if findVerb(verb) == nil {
		return
	}
	pos := locate(c.Text, c.Pos, c.Exact)(m[2], m[3]-m[2])
	errs.Errorf(pos, "%q looks like an annotation and is none", c.Text[m[2]:m[3]]).
		WithHint("Write qgen:%s, in small letters and without a space.", verb)
}

// columnOf returns the column that a name means, as people write names: exact,
// else as the database folds it.
func columnOf(t *schema.Table, name string, fold func(string) string) *schema.Column {
	if c := t.Column(name); c != nil {
		return c
	}
	stored, _ := schema.StoredName(name, fold)
	return t.Column(stored)
}

// NoColumn complains about a name that no column of the table has. otherwise says what
// could stand there besides a column.
func NoColumn(t *schema.Table, name string, pos source.Pos, otherwise string, errs *source.ErrorList) {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	errs.Errorf(pos, "table %q has no column %q", t.QualifiedName(), name).
		WithHint("%s", suggest(name, names, strings.TrimSpace(otherwise+" Its columns are")))
}

// columnNamed returns the column that a name in qgen.yaml means; nil after a complaint.
func (b *binding) columnNamed(t *schema.Table, name string, pos source.Pos) *schema.Column {
	c := columnOf(t, name, b.fold)
	if c == nil {
		NoColumn(t, name, pos, "", b.errs)
	}
	return c
}

// position returns the place of a column in its table, -1 for none.
func position(t *schema.Table, c *schema.Column) int { return slices.Index(t.Columns, c) }

// route finds of what an annotation speaks; nil after a complaint.
func route(t *schema.Table, c *schema.Column, a *annotation, errs *source.ErrorList) *role {
	v := findVerb(a.verb)
	switch {
	case v == nil: // reported with the verb
	case c == nil && a.beside != nil && !a.fitsTable(v):
		c = a.beside
	case c == nil && v.on&onTable == 0:
		e := errs.Errorf(a.pos, "qgen:%s speaks of a column, but stands at the table %q", a.verb, t.QualifiedName())
		if a.yaml {
			e.WithHint("Write it under columns: {NAME: [%q]}.", a.verb)
		} else {
			e.WithHint("Write it at the end of the column's line, or on a line directly above it.")
		}
		return nil
	case c != nil && a.above && a.fitsTable(v):
		c = nil
	case c != nil && v.on&onColumn == 0:
		e := errs.Errorf(a.pos, "qgen:%s speaks of the table, but stands at the column %q", a.verb, c.Name)
		if a.yaml {
			e.WithHint("Write it as queue: %q.", "…; "+a.verb+" …")
		} else {
			e.WithHint("Write it directly above CREATE TABLE, or inside its parentheses on a line of its own above the first column.")
		}
		return nil
	}
	return &role{annotation: a, column: c}
}

// fitsTable reports whether an annotation that stands between a table and its
// first column, or beside the end of a table and its last column, speaks of the
// table.
func (a *annotation) fitsTable(v *verb) bool {
	if v.on&onColumn == 0 {
		return true
	}
	if v.on&onTable == 0 {
		return false
	}
	switch a.verb {
	case "shard":
		return a.has("hash")
	default: // order, priority: a column has a place and a direction, a table has terms
		return slices.ContainsFunc(a.words, func(w *word) bool { return !isDirection(w) && !isDigits(w.name) })
	}
}

// loose complains about annotations that belong to nothing.
func loose(comments []schema.Comment, errs *source.ErrorList) {
	for _, c := range comments {
		var ignored source.ErrorList
		for _, a := range parseComment(c, &ignored) {
			if c.Of != "" {
				errs.Errorf(a.pos, "qgen:%s is said of %s, which the schema does not have", a.verb, c.Of).
					WithHint("COMMENT ON names a table or a column that an earlier statement creates: schema.table.column.")
				continue
			}
			errs.Errorf(a.pos, "qgen:%s stands at no table and at no column", a.verb).
				WithHint("An annotation of a table stands directly above CREATE TABLE, without an empty line between; that of a column at the end of its line or directly above it.")
		}
	}
}

// of reports whether an annotation belongs to the queue of one of these names.
func (a *annotation) of(names ...string) bool {
	return len(a.scopes) == 0 || slices.ContainsFunc(a.scopes, func(s scope) bool { return slices.Contains(names, s.queue) })
}
