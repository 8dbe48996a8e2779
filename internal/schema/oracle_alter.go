package schema

// This file reads what Oracle's ALTER TABLE says otherwise than every SQL.

import (
	"slices"
)

// oracleCommand reads a command that is not ADD or MODIFY of columns, keys and
// checks.
func oracleCommand(r *tolerant, t *draft) bool {
	switch {
	case r.is("modify") && r.st.is(r.i+1, "partition") && r.st.is(r.i+2, "by"):
		r.i += 3
		r.oraclePartition(t)
	case r.is("add", "drop", "truncate", "split", "merge", "exchange", "move", "modify", "rename", "coalesce", "set") &&
		r.st.is(r.i+1, "partition", "partitions", "subpartition", "subpartitions"), r.is("modify", "set") && r.st.is(r.i+1, "subpartition"):
		r.skipCommand()
	case r.is("enable", "disable") && r.st.is(r.i+1, "all") && r.st.is(r.i+2, "triggers"):
		for _, g := range t.Triggers {
			g.Disabled = r.is("disable")
		}
		r.i += 3
	case r.is("enable", "disable") && r.beginsCommand(r.i+1) && !r.st.is(r.i+1, "row", "table"):
		r.switchConstraint(t)
	case r.is("modify") && r.st.is(r.i+1, "constraint", "primary", "unique"):
		r.modifyConstraint(t)
	case r.phrase(oracleAlterWords):
	case r.accept("drop"):
		r.oracleDrop(t)
	case r.accept("set", "unused"):
		r.accept("column")
		r.dropColumns(t)
	case r.is("rename") && r.st.is(r.i+1, "constraint"):
		r.renameConstraint(t)
	case r.is("add", "rename"):
		return false
	default:
		return oracleOption(r, t)
	}
	return true
}

// oracleEnds reports whether a command of ALTER TABLE begins, in front of which no
// comma stands. None of the words is a name.
func oracleEnds(r *tolerant) bool {
	return r.is("add", "modify", "drop", "rename") || r.is("enable", "disable") && r.beginsCommand(r.i+1)
}

// constraintRef reads which constraint a command is about: CONSTRAINT name, PRIMARY
// KEY, UNIQUE (columns).
func (r *tolerant) constraintRef(t *draft) (is func(*Key) bool, name string) {
	switch {
	case r.accept("constraint"):
		name, _ = r.name()
		return func(k *Key) bool { return name != "" && k.Name == name }, name
	case r.accept("primary"):
		r.expect("key")
		return func(k *Key) bool {
			return k == t.PrimaryKey || slices.ContainsFunc(t.disabled, func(c constraint) bool { return c.key == k && c.primary })
		}, ""
	}
	r.expect("unique")
	from, to := r.group()
	var names []string
	for _, item := range r.st.items(from, to) {
		names = append(names, r.nameAt(r.st, item[0]))
	}
	return func(k *Key) bool {
		primary := k == t.PrimaryKey || slices.ContainsFunc(t.disabled, func(c constraint) bool { return c.key == k && c.primary })
		return !primary && slices.EqualFunc(k.Columns, names, func(c *Column, name string) bool { return c.Name == name })
	}, ""
}

// afterConstraint reads what stands behind the name of a constraint that goes or
// changes, and reports whether its index stays.
func (r *tolerant) afterConstraint() (keep bool) {
	for r.fault == nil {
		switch {
		case r.acceptAny("cascade", "online"), r.accept("drop", "index"):
		case r.accept("keep", "index"):
			keep = true
		case oracleStateWord(r):
		default:
			return keep
		}
	}
	return keep
}

// oracleStateWord reads a word about the state of a constraint other than ENABLE
// and DISABLE.
func oracleStateWord(r *tolerant) bool {
	if r.is("enable", "disable") {
		return false
	}
	start := r.i
	oracleState(r, nil)
	return r.i > start
}

// switchConstraint reads ENABLE and DISABLE of a constraint.
func (r *tolerant) switchConstraint(t *draft) {
	off := r.is("disable")
	r.i++
	r.acceptAny("validate", "novalidate")
	is, name := r.constraintRef(t)
	keep := r.afterConstraint()
	r.later = append(r.later, func() { t.turn(off, is, name, keep) })
}

// modifyConstraint reads MODIFY CONSTRAINT name with its new state.
func (r *tolerant) modifyConstraint(t *draft) {
	r.i++
	is, name := r.constraintRef(t)
	states := r.i
	off := oracleState(r, nil)
	said := slices.ContainsFunc(r.st.tokens[min(states, len(r.st.tokens)):min(r.i, len(r.st.tokens))], func(tok token) bool {
		word := r.st.script.textOf(tok)
		return slicesContainsFold([]string{"enable", "disable"}, word)
	})
	keep := r.afterConstraint()
	if said {
		r.later = append(r.later, func() { t.turn(off, is, name, keep) })
	}
}

// oracleDrop reads what stands behind DROP.
func (r *tolerant) oracleDrop(t *draft) {
	switch {
	case r.accept("column"), r.is("("):
		r.dropColumns(t)
	case r.is("constraint", "primary", "unique"):
		is, name := r.constraintRef(t)
		keep := r.afterConstraint()
		r.later = append(r.later, func() {
			t.disabled = slices.DeleteFunc(slices.Clone(t.disabled), func(c constraint) bool { return is(c.key) })
			t.release(is, keep)
			if name != "" {
				t.dropConstraint(func(n string) bool { return n == name })
			}
		})
	default:
		r.unknown()
	}
}

// dropColumns reads the names of columns that go, with or without parentheses.
func (r *tolerant) dropColumns(t *draft) {
	list := r.accept("(")
	for r.fault == nil {
		name, at := r.name()
		if r.fault != nil {
			return
		}
		if c := t.Column(name); c != nil {
			r.later = append(r.later, func() { t.dropColumn(c) })
		} else {
			t.Gaps = append(t.Gaps, missingColumn(t, name, r.st.pos(at)))
		}
		if !list || !r.accept(",") {
			break
		}
	}
	if list {
		r.expect(")")
	}
	for r.phrase(oracleDropWords) {
	}
}

// oracleDropWords stand behind the columns that go.
var oracleDropWords = newPhrases("cascade constraints", "invalidate", "checkpoint <n>", "checkpoint", "online")

// renameConstraint reads RENAME CONSTRAINT a TO b. An index keeps its name.
func (r *tolerant) renameConstraint(t *draft) {
	r.i += 2
	from, _ := r.name()
	r.expect("to")
	to, at := r.name()
	if r.fault != nil {
		return
	}
	pos := r.st.pos(at)
	for _, k := range append(slices.Clone(t.Uniques), t.PrimaryKey) {
		if k != nil && k.Name == from {
			k.Name, k.Pos = to, pos
		}
	}
	for _, c := range t.disabled {
		if c.key.Name == from {
			c.key.Name, c.key.Pos = to, pos
		}
	}
	for _, k := range t.checks {
		if k.name == from {
			k.name = to
		}
	}
	if c, ok := t.notNulls[from]; ok {
		delete(t.notNulls, from)
		t.notNulls[to] = c
	}
}

// oracleModify reads what stands behind MODIFY, which is at token start: columns of
// which only that changes which is said.
func oracleModify(r *tolerant, t *draft, a *anchor, start int) {
	if !r.accept("(") {
		r.modifyColumn(t, a, start)
		return
	}
	for r.fault == nil {
		r.modifyColumn(t, a, r.i)
		if !r.accept(",") {
			break
		}
	}
	if r.fault == nil && !r.accept(")") {
		r.fail(r.i, "the end of the list should stand here")
	}
}

func (r *tolerant) modifyColumn(t *draft, a *anchor, start int) {
	name, at := r.name()
	if r.fault != nil {
		return
	}
	c := t.Column(name)
	if c == nil {
		t.Gaps = append(t.Gaps, missingColumn(t, name, r.st.pos(at)))
		c = &Column{}
	}
	d := &definition{Column: c, at: at}
	byKey := slices.Contains(t.byKey, c)
	if byKey {
		c.NotNull = false
	}
	if !r.keepsType() {
		r.columnType(r, d)
	}
	for r.fault == nil && (!r.done() || r.is("drop") && r.st.is(r.i+1, "identity")) {
		if !r.attribute(r, d) {
			r.unknown()
		}
	}
	if byKey && c.NotNull {
		t.byKey = slices.DeleteFunc(t.byKey, func(o *Column) bool { return o == c })
	}
	c.NotNull = c.NotNull || byKey
	if r.fault == nil && c.Name != "" {
		r.addLater(t, d, c)
		a.columns = append(a.columns, r.anchorOf(c, start))
	}
}

// keepsType reports whether a column that is modified keeps its type.
func (r *tolerant) keepsType() bool {
	return r.done() || slices.Contains(noTypes, r.word()) || oracleColumnWords[r.word()] != nil ||
		r.is("invisible", "domain", "enable", "disable", "using")
}
