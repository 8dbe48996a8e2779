package schema

// This file reads ALTER TABLE.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// alter reads ALTER, up to the word that says what.
func (r *tolerant) alter() *source.Error {
	for r.acceptAny("online", "offline", "ignore") {
	}
	if !r.accept("table") {
		return nil
	}
	ifExists := r.accept("if", "exists")
	n := r.ref()
	if r.fault != nil {
		return r.fault
	}
	t := r.find(n.schema, n.name)
	if t == nil {
		if !ifExists && !r.st.guarded {
			r.changedBefore(cmp.Or(n.schema, r.home), n.name, r.st.pos(n.at))
		}
		return nil
	}
	a := &anchor{st: r.st, open: -1, close: -1}
	for r.fault == nil && r.i < len(r.st.tokens) {
		if !r.accept(",") && !r.alteration(t, a) {
			r.unknown()
		}
	}
	r.doLater()
	t.resolveChecks()
	if err := r.verdict(); err != nil {
		return err
	}
	if len(a.columns) > 0 {
		r.anchors = append(r.anchors, a)
	}
	return nil
}

// alteration applies one command; false when none begins at the next token.
func (r *tolerant) alteration(t *draft, a *anchor) bool {
	start := r.i
	switch {
	case r.command(r, t):
	case r.accept("add"):
		r.addTo(t, a, start)
	case r.modify != nil && r.accept("modify"):
		r.modify(r, t, a, start)
	case r.accept("modify"), r.alters && r.st.is(r.i+1, "column") && r.accept("alter"):
		r.accept("column")
		ifExists := r.accept("if", "exists")
		old, at := r.name()
		r.redefine(t, a, start, old, at, at, ifExists)
	case r.accept("change"):
		r.accept("column")
		ifExists := r.accept("if", "exists")
		old, oldAt := r.name()
		_, at := r.name()
		r.redefine(t, a, start, old, oldAt, at, ifExists)
	case r.accept("drop"):
		r.dropFrom(t)
	case r.accept("alter"):
		r.alterPart(t)
	case r.accept("rename"):
		r.renamePart(t)
	default:
		return false
	}
	return true
}

// addTo reads what stands behind ADD, which is at token start.
func (r *tolerant) addTo(t *draft, a *anchor, start int) {
	r.addOne(t, a, start)
	for r.adds && r.accept(",") {
		r.addOne(t, a, r.i)
	}
}

func (r *tolerant) addOne(t *draft, a *anchor, start int) {
	if r.item(t) {
		return
	}
	r.accept("column")
	ifNotExists := r.accept("if", "not", "exists") || r.st.guarded
	if !r.accept("(") {
		r.addColumn(t, a, start, ifNotExists)
		return
	}
	for r.fault == nil {
		first := r.i
		if !r.item(t) {
			r.addColumn(t, a, first, ifNotExists)
		}
		if !r.accept(",") {
			break
		}
	}
	if r.fault == nil && !r.accept(")") {
		r.fail(r.i, "the end of the list should stand here")
	}
}

func (r *tolerant) addColumn(t *draft, a *anchor, start int, ifNotExists bool) {
	d := r.definition()
	if r.fault != nil {
		return
	}
	if old := t.Column(d.Name); old != nil {
		if !ifNotExists {
			r.errs.Add(source.Errorf(d.Pos, "table %s has a column %s already, from %s", t.Name, old.Name, old.Pos).
				WithHint(onceHint))
		}
		return
	}
	a.columns = append(a.columns, r.anchorOf(r.addDefinition(t, d), start))
}

// anchorOf returns the anchor of a column whose definition starts at token start
// and ends here.
func (r *tolerant) anchorOf(c *Column, start int) columnAnchor {
	return columnAnchor{c, r.st.tokens[start].off, r.st.tokens[r.i-1].end}
}

// redefine reads MODIFY and CHANGE behind the names: the column old becomes what
// follows, under the name at token at.
func (r *tolerant) redefine(t *draft, a *anchor, start int, old string, oldAt, at int, ifExists bool) {
	if r.fault != nil {
		return
	}
	d := &definition{Column: &Column{Name: r.nameAt(r.st, at)}, at: at}
	r.rest(d)
	if r.fault != nil {
		return
	}
	if c := t.Column(old); c != nil {
		r.become(t, c, d)
		a.columns = append(a.columns, r.anchorOf(c, start))
	} else if !ifExists {
		t.Gaps = append(t.Gaps, missingColumn(t, old, r.st.pos(oldAt)))
	}
}

// become makes a column what a definition says; it keeps its place in keys. As
// all names in one statement are those from before it, it is done at the end.
func (r *tolerant) become(t *draft, c *Column, d *definition) {
	r.first = append(r.first, func() {
		if r.alters {
			inKey := t.PrimaryKey != nil && slices.Contains(t.PrimaryKey.Columns, c)
			c.Pos, c.Type, c.NotNull = d.Pos, d.Type, d.NotNull || inKey
			return
		}
		if r.columnChecks {
			t.checks = slices.DeleteFunc(t.checks, func(k *check) bool { return k.of == c })
		}
		if c.Name != d.Name {
			t.renameColumn(c, d.Name, d.Pos)
		}
		inKey := t.PrimaryKey != nil && slices.Contains(t.PrimaryKey.Columns, c)
		// Comments of the DDL's text stay, the stored one is replaced.
		d.Comments = append(removeStored(c.Comments), d.Comments...)
		*c = *d.Column
		c.NotNull = c.NotNull || inKey
		r.move(t, c, d.place)
	})
	r.addLater(t, d, c)
	r.unique(t, c)
}

// renameLater gives a column another name at the end of the statement.
func (r *tolerant) renameLater(t *draft, c *Column, name string, pos source.Pos) {
	r.first = append(r.first, func() { t.renameColumn(c, name, pos) })
	r.unique(t, c)
}

// unique complains if a column that has got a new name shares it with another.
func (r *tolerant) unique(t *draft, c *Column) {
	r.later = append(r.later, func() {
		for _, o := range t.Columns {
			if o != c && strings.EqualFold(o.Name, c.Name) {
				r.errs.Add(source.Errorf(c.Pos, "table %s has a column %s already, from %s", t.Name, o.Name, o.Pos).
					WithHint(onceHint))
				return
			}
		}
	})
}

// dropFrom reads what stands behind DROP.
func (r *tolerant) dropFrom(t *draft) {
	what := "column"
	if next := r.i + 1; r.is("index", "key", "check", "constraint", "foreign", "primary", "period", "column") &&
		next < len(r.st.tokens) && !r.st.is(next, ",") {
		what = r.word()
		r.i++
	}
	switch what {
	case "primary":
		r.expect("key")
		t.dropKeys(func(k *Key) bool { return k == t.PrimaryKey })
		return
	case "period":
		r.expect("for")
	case "foreign":
		r.expect("key")
	}
	r.dropPart(t, what)
}

// dropPart reads the name of what is dropped.
func (r *tolerant) dropPart(t *draft, what string) {
	ifExists := r.accept("if", "exists") || r.st.guarded
	name, at := r.name()
	if r.fault != nil {
		return
	}
	same := func(n string) bool { return strings.EqualFold(n, name) }
	switch what {
	case "index", "key":
		t.dropIndex(same)
	case "check", "constraint":
		t.dropConstraint(same)
	case "column":
		r.acceptAny("restrict", "cascade")
		if c := t.Column(name); c != nil {
			if r.sharedIndexes {
				t.dropFromIndexes(c)
			}
			t.dropColumn(c)
		} else if !ifExists {
			t.Gaps = append(t.Gaps, missingColumn(t, name, r.st.pos(at)))
		}
	}
}

// dropFromIndexes takes a column out of indexes that have others, too.
func (t *draft) dropFromIndexes(c *Column) {
	for _, ix := range t.Indexes {
		rest := slices.DeleteFunc(slices.Clone(ix.Columns), func(ic IndexColumn) bool { return ic.Column == c })
		if len(rest) > 0 {
			ix.Columns = rest
		}
	}
	for _, k := range append(slices.Clone(t.Uniques), t.PrimaryKey) {
		if k == nil {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(k.Columns), func(o *Column) bool { return o == c })
		if len(rest) > 0 {
			k.Columns = rest
		}
	}
}

// alterPart reads what stands behind ALTER inside ALTER TABLE.
func (r *tolerant) alterPart(t *draft) {
	switch {
	case (r.is("index", "key")) && r.isName(r.i+1) && !r.st.is(r.i+1, "set", "drop"):
		r.i++
		r.accept("if", "exists")
		name, _ := r.name()
		visible := r.acceptAny("visible") || r.accept("not", "ignored")
		if !visible && !r.acceptAny("invisible", "ignored") {
			r.unknown()
		}
		if ix := t.index(name); ix != nil && r.fault == nil {
			ix.Invisible = !visible
		}
	case r.is("check", "constraint") && r.isName(r.i+1) && !r.st.is(r.i+1, "set", "drop"):
		r.i++
		name, _ := r.name()
		off := r.accept("not")
		if !r.accept("enforced") {
			r.unknown()
		}
		for _, k := range t.checks {
			if strings.EqualFold(k.name, name) {
				k.off = off
			}
		}
	default:
		r.accept("column")
		ifExists := r.accept("if", "exists")
		name, at := r.name()
		if r.fault != nil {
			return
		}
		c := t.Column(name)
		if c == nil {
			c = &Column{}
			if !ifExists {
				t.Gaps = append(t.Gaps, missingColumn(t, name, r.st.pos(at)))
			}
		}
		r.alterColumn(c)
	}
}

// alterColumn reads what stands behind ALTER COLUMN c.
func (r *tolerant) alterColumn(c *Column) {
	switch {
	case r.accept("set", "default"):
		r.defaultValue(&definition{Column: c})
	case r.accept("drop", "default"):
		c.HasDefault, c.Default = false, ""
	case r.accept("set", "visible"):
		c.Invisible = false
	case r.accept("set", "invisible"):
		c.Invisible = true
	default:
		r.unknown()
	}
}

// renamePart reads what stands behind RENAME inside ALTER TABLE.
func (r *tolerant) renamePart(t *draft) {
	switch {
	case r.is("column") && r.isName(r.i+1) && r.st.is(r.i+2, "to"):
		r.i++
		from, at := r.name()
		r.i++
		to, toAt := r.name()
		if r.fault != nil {
			return
		}
		if c := t.Column(from); c != nil {
			r.renameLater(t, c, to, r.st.pos(toAt))
		} else {
			t.Gaps = append(t.Gaps, missingColumn(t, from, r.st.pos(at)))
		}
	case r.is("index", "key") && r.isName(r.i+1) && r.st.is(r.i+2, "to"):
		r.i++
		from, _ := r.name()
		r.i++
		to, toAt := r.name()
		if ix := t.index(from); ix != nil && r.fault == nil {
			t.renameIndex(ix.Name, to, r.st.pos(toAt))
		}
	default:
		if !r.acceptAny("to", "as") {
			r.accept("=")
		}
		if to := r.ref(); r.fault == nil {
			r.renameTo(t, to)
		}
	}
}
