package schema

// This file reads what T-SQL writes behind the type of a column.

import (
	"slices"
	"strings"
)

// attribute reads one attribute of a column, or what is said of the table where a
// comma is missing in front.
func (m *mssql) attribute(r *tolerant, d *definition) bool {
	switch {
	case r.accept("identity"):
		if r.is("(") {
			r.group()
		}
		// Only a session that says so may write it, and none may change it.
		d.Identity, d.Always, d.HasDefault, d.Default = true, true, true, ""
	case r.accept("default"):
		m.defaultValue(r, d)
	case r.accept("as"):
		m.computed(r, d)
	case r.accept("generated", "always", "as"):
		r.acceptAny("row", "transaction_id", "sequence_number")
		r.acceptAny("start", "end")
		d.Generated = true
	case r.accept("constraint"):
		m.constraint(r, d)
	case r.is("primary", "unique"):
		m.addKey(d, m.key(r, "", -1))
	case r.accept("index"):
		m.addKey(d, m.index(r))
	case r.accept("foreign", "key"):
		if r.is("(") {
			r.group()
		}
		r.expect("references")
		r.references()
	case r.accept("hidden"):
		d.Invisible = true
	case r.accept("column_set", "for", "all_sparse_columns"):
		d.Generated = true
	case r.accept("not", "for", "replication"), r.acceptAny("rowguidcol", "sparse", "filestream", "persisted", "masked", "encrypted"):
	case r.accept("with"): // MASKED WITH and the like, WITH (ONLINE = ON)
		r.group()
	default:
		return m.skipPeriod(r)
	}
	return true
}

// constraint reads what stands behind CONSTRAINT.
func (m *mssql) constraint(r *tolerant, d *definition) {
	name, at := r.name()
	switch {
	case r.accept("default"):
		m.defaultValue(r, d)
		d.defaultName = name
	case r.is("primary", "unique"):
		m.addKey(d, m.key(r, name, at))
	case r.accept("check"):
		d.checks = append(d.checks, r.check(name))
	case !r.is("not", "null", "foreign", "references"):
		r.fail(r.i, "a constraint should stand here")
	}
}

// addKey gives a column the key that is written at it; one that names columns is
// the table's.
func (m *mssql) addKey(d *definition, k *keyDefinition) {
	if len(k.parts) == 0 && k.method != columnstore {
		k.parts = []keyPart{{column: d.Name, at: d.at}}
	}
	d.keys = append(d.keys, k)
}

// defaultValue reads what stands behind DEFAULT.
func (m *mssql) defaultValue(r *tolerant, d *definition) {
	start := r.i
	m.expression(r)
	if r.fault != nil {
		return
	}
	d.HasDefault, d.Default = true, r.st.written(start, r.i)
	if strings.EqualFold(strings.Trim(d.Default, "() "), "null") { // what every column has without
		d.HasDefault, d.Default = false, ""
	}
	r.accept("with", "values")
}

// defaultFor reads DEFAULT … FOR c; name is that of the constraint.
func (m *mssql) defaultFor(r *tolerant, t *draft, name string) {
	d := &definition{Column: &Column{}}
	m.defaultValue(r, d)
	r.expect("for")
	column, at := r.name()
	r.accept("with", "values")
	r.later = append(r.later, func() {
		c := t.Column(column)
		if c == nil {
			t.Gaps = append(t.Gaps, missingColumn(t, column, r.st.pos(at)))
			return
		}
		c.HasDefault, c.Default = d.HasDefault, d.Default
		if name != "" {
			t.nameDefault(name, c)
		}
	})
}

// computed reads the expression that a column is computed from, which is all that
// tells its type.
func (m *mssql) computed(r *tolerant, d *definition) {
	start := r.i
	m.expression(r)
	if r.fault == nil {
		m.computedType(r, d, start, r.i)
	}
	d.Generated = true
}

// computedType gives a column the type that its expression is converted to; it
// stays unknown where it is not.
func (m *mssql) computedType(r *tolerant, d *definition, from, to int) {
	from, to = r.unwrapped(from, to)
	start := -1
	switch {
	case r.st.closing(from+1) != to-1:
	case r.st.is(from, "convert", "try_convert"):
		start = from + 2
	case r.st.is(from, "cast", "try_cast"):
		for start = to - 1; start > from && !r.st.is(start-1, "as"); start-- {
		}
	}
	if start <= from {
		return
	}
	behind := r.i
	r.i = start
	converted := &definition{Column: &Column{}}
	m.columnType(r, converted)
	r.i = behind
	if r.fault == nil {
		d.Type = converted.Type
	}
}

// stops are words that end an expression without parentheses around it.
var stops = slices.Concat(noTypes, []string{"with", "for", "persisted", "identity", "index", "on", "foreign"})

// expression moves behind an expression. Where no parentheses stand around it, it
// goes on as long as operators do.
func (m *mssql) expression(r *tolerant) {
	for r.fault == nil {
		m.operand(r)
		if !r.is(mssqlOperators...) {
			return
		}
		for r.is(mssqlOperators...) {
			r.i++
		}
	}
}

var mssqlOperators = []string{"+", "-", "*", "/", "%", "&", "|", "^", "~", "=", "<", ">", "!"}

// operand moves behind one value of an expression.
func (m *mssql) operand(r *tolerant) {
	for r.acceptAny("+", "-", "~") {
	}
	switch {
	case r.is("("):
		r.group()
	case r.accept("case"):
		m.endOfCase(r)
	case r.accept("next", "value", "for"):
		r.ref()
	case r.has(r.i, text), r.has(r.i, number):
		r.i++
	case r.is("$") && r.has(r.i+1, number): // money
		r.i += 2
	case !r.isName(r.i), slices.Contains(stops, r.word()) && !r.is("null"):
		r.fail(r.i, "a value should stand here")
	default:
		r.i++
	}
	// What a name, a call or a value in parentheses is asked for.
	for r.fault == nil {
		switch {
		case r.is(".", "::") && r.isName(r.i+1):
			r.i += 2
		case r.is("("), r.accept("over"):
			r.group()
		case r.accept("at", "time", "zone"):
			m.operand(r)
		default:
			return
		}
	}
}

// endOfCase moves behind the END of a CASE.
func (m *mssql) endOfCase(r *tolerant) {
	for open := 1; open > 0; {
		switch {
		case r.i >= len(r.st.tokens):
			r.fail(r.i, `"END" should stand here`)
			return
		case r.is("case"):
			open++
		case r.is("end"):
			open--
		}
		r.skip()
	}
}
