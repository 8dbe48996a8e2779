package schema

// This file reads what stands among the columns of a table and is none: keys,
// checks, periods.

import "github.com/qgen-dev/qgen/internal/source"

// item reads a constraint or an index among the columns or behind ADD; false
// when none begins at the next token.
func (r *tolerant) item(t *draft) bool {
	if r.element != nil && r.element(r, t) {
		return true
	}
	at, name, nameAt := r.i, "", -1
	constraint := r.accept("constraint")
	if constraint {
		r.accept("if", "not", "exists")
	}
	if constraint && !r.is("primary", "unique", "check", "foreign") {
		name, nameAt = r.name()
	}
	k := &keyDefinition{name: name, at: r.i, end: r.i + 1}
	switch {
	case r.accept("primary", "key"):
		k.kind, k.end = primaryKey, r.i
	case r.accept("unique"):
		k.kind = uniqueKey
	case r.is("check") && r.st.is(r.i+1, "(", "not"):
		r.i++
		check := r.check(name)
		r.later = append(r.later, func() { r.addCheck(t, check, nil) })
		k = nil
	case r.accept("foreign", "key"):
		f := r.foreignKey(name, nameAt)
		r.later = append(r.later, func() { t.foreign = append(t.foreign, f) })
		k = nil
	case !constraint && r.is("period") && r.st.is(r.i+1, "for"):
		r.i += 2
		r.name()
		r.notNull(t, r.st.items(r.group()))
		k = nil
	case !constraint && r.beginsIndex(k):
	case constraint:
		r.fail(r.i, "a constraint should stand here")
	default:
		r.i = at
		return false
	}
	if k != nil {
		if name != "" {
			k.at, k.end = nameAt, nameAt+1
		}
		r.keyRest(k)
		r.later = append(r.later, func() { r.addKey(t, k) })
	}
	for !r.done() {
		r.unknown()
	}
	return true
}

// notNull makes the columns of a period what they are.
func (r *tolerant) notNull(t *draft, columns [][2]int) {
	for _, at := range columns {
		name := r.nameAt(r.st, at[0])
		r.later = append(r.later, func() {
			if c := t.Column(name); c != nil {
				c.NotNull = true
			}
		})
	}
}

// addLater adds the keys and checks that stand in the definition of column c when
// all columns are known.
func (r *tolerant) addLater(t *draft, d *definition, c *Column) {
	if d.notNull != "" {
		t.notNulls[d.notNull] = c
	}
	for _, k := range d.keys {
		r.later = append(r.later, func() { r.addKey(t, k) })
	}
	for _, k := range d.checks {
		r.later = append(r.later, func() { r.addCheck(t, k, c) })
	}
	if d.defaultName != "" {
		r.later = append(r.later, func() { t.nameDefault(d.defaultName, c) })
	}
}

// doLater does what waited for all columns to be known, unless the statement
// cannot be read.
func (r *tolerant) doLater() {
	for _, do := range append(r.first, r.later...) {
		if r.fault == nil {
			do()
		}
	}
	r.first, r.later = nil, nil
}

// addCheck gives the table a check, which may stand in the definition of a
// column.
func (r *tolerant) addCheck(t *draft, k *check, of *Column) {
	k.of = of
	if k.name == "" && (of == nil || !r.columnChecks) {
		k.name = r.checkName(t)
	}
	t.checks = append(t.checks, k)
}

// A foreignKey is columns that name rows of another table.
type foreignKey struct {
	name    string // of the constraint, else of its index; "" where the statement has neither
	pos     source.Pos
	columns []string
}

// foreignKey reads what stands behind FOREIGN KEY; name is that of the constraint, "" without one.
func (r *tolerant) foreignKey(name string, nameAt int) *foreignKey {
	r.accept("if", "not", "exists")
	f := &foreignKey{name: name, pos: r.st.pos(max(nameAt, 0))}
	if !r.is("(") {
		index, at := r.name()
		if name == "" {
			f.name, f.pos = index, r.st.pos(at)
		}
	}
	for i, item := range r.st.items(r.group()) {
		if i == 0 && f.name == "" {
			f.pos = r.st.pos(item[0])
		}
		f.columns = append(f.columns, r.nameAt(r.st, item[0]))
	}
	r.expect("references")
	r.references()
	return f
}

// check reads the condition of a check, from its parenthesis on.
func (r *tolerant) check(name string) *check {
	r.accept("not", "for", "replication")
	from, to := r.group()
	k := &check{name: name}
	if r.fault != nil {
		return k
	}
	k.text = r.st.written(from, to)
	k.values = r.checkValues(from, to, 0)
	k.json = r.saysJSON(from, to)
	switch {
	case r.state != nil:
		k.off = r.state(r, nil)
	case r.accept("not", "enforced"):
		k.off = true
	case r.accept("enforced"):
	}
	return k
}
