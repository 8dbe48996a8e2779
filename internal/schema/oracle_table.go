package schema

// This file reads what Oracle writes in CREATE TABLE: attributes of columns,
// constraints with their states, options.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/source"
)

// oracleUntyped reads a column that has no type: one that is computed, that refers
// to another, whose domain has it, or that a query gives its type.
func oracleUntyped(r *tolerant, d *definition) bool {
	constraint := r.i
	if r.is("constraint") {
		constraint += 2
	}
	switch {
	case r.is("as"), r.is("generated") && r.st.is(r.i+1, "always") && r.st.is(r.i+2, "as") && r.st.is(r.i+3, "("),
		r.is("domain") && r.isName(r.i+1) && !r.st.is(r.i+1, noTypes...), r.st.is(constraint, "references"):
	case r.done(), slices.Contains(noTypes, r.word()):
		if r.queried != r.st { // for the next columns as well
			r.queried, r.queryAt = r.st, r.queryBehind()
		}
		if r.queryAt < 0 {
			return false
		}
	default:
		return false
	}
	d.Type = Type{Class: Unknown}
	return true
}

// queryBehind returns the token at which the query of CREATE TABLE … AS starts, or
// -1.
func (r *tolerant) queryBehind() int {
	for i := 0; i+1 < len(r.st.tokens); i++ {
		switch {
		case r.st.is(i, "("):
			i = r.st.closing(i)
		case r.st.is(i, "as") && r.st.is(i+1, "select", "with", "("):
			return i
		}
	}
	return -1
}

// oracleAttribute reads what stands behind a type.
func oracleAttribute(r *tolerant, d *definition) bool {
	switch {
	case r.accept("default"):
		r.oracleDefault(d)
	case r.accept("generated"):
		r.oracleGenerated(d)
	case r.accept("as"):
		r.computed(d)
	case r.accept("invisible"):
		d.Invisible = true
	case r.is("visible"):
		d.Invisible = false
		r.i++
	case r.accept("drop", "identity"):
		d.Identity, d.HasDefault, d.Always = false, false, false
	case r.accept("domain"):
		r.ofDomain(d, r.ref().name)
	case r.phrase(oracleColumnWords):
	default:
		return r.oracleConstraint(d)
	}
	return true
}

// oracleDefault reads what stands behind DEFAULT.
func (r *tolerant) oracleDefault(d *definition) {
	if r.accept("on", "null") {
		if r.accept("for", "insert") && !r.accept("only") {
			r.accept("and", "update")
		}
		d.NotNull = true
	}
	start := r.i
	r.expression()
	if r.fault != nil {
		return
	}
	if _, null, end, ok := r.literalAt(start, r.i); ok && null && end == r.i {
		d.HasDefault, d.Default, d.Identity = false, "", false // what every column has without
		return
	}
	d.HasDefault, d.Default = true, r.st.written(start, r.i)
	// A sequence gives each row its number, as SERIAL does elsewhere.
	last := r.i - 1
	d.Identity = r.st.is(last, "nextval") && r.st.is(last-1, ".") && r.st.qualified(start) == last
}

// oracleGenerated reads what stands behind GENERATED.
func (r *tolerant) oracleGenerated(d *definition) {
	always := r.accept("always")
	byDefault := !always && r.accept("by", "default")
	if byDefault {
		r.accept("on", "null")
	}
	r.expect("as")
	if !r.accept("identity") {
		r.computed(d)
		return
	}
	d.Identity, d.HasDefault, d.Default, d.NotNull, d.Always = true, true, "", true, !byDefault
	if !r.accept("(") {
		for r.phrase(oracleSequenceWords) {
		}
		return
	}
	for r.fault == nil && !r.accept(")") {
		if !r.phrase(oracleSequenceWords) {
			r.fail(r.i, "the end of the list should stand here")
		}
	}
}

// oracleConstraint reads a constraint in the definition of a column; false when
// none begins at the next token.
func (r *tolerant) oracleConstraint(d *definition) bool {
	name, at := "", -1
	if r.accept("constraint") {
		name, at = r.name()
	}
	k := d.key(uniqueKey, r.i, r.i+1)
	switch {
	case r.accept("not", "null"):
		off := oracleState(r, nil)
		d.NotNull = !off
		d.notNull = name
		return true
	case r.accept("null"):
		d.NotNull = false
		oracleState(r, nil)
		return true
	case r.accept("check"):
		d.checks = append(d.checks, r.check(name))
		return true
	case r.accept("references"):
		r.oracleReferences(d)
		return true
	case r.accept("primary", "key"):
		k.kind, k.end = primaryKey, r.i
	case r.accept("unique"):
	case at >= 0:
		r.fail(r.i, "a constraint should stand here")
		return true
	default:
		return false
	}
	if name != "" {
		k.name, k.at, k.end = name, at, at+1
	}
	k.off = oracleState(r, k)
	d.keys = append(d.keys, k)
	return true
}

// oracleReferences reads what stands behind REFERENCES. A column without a type
// has that of the one that it refers to.
func (r *tolerant) oracleReferences(d *definition) {
	at := r.i
	r.references()
	oracleState(r, nil)
	if r.fault != nil || d.Type.Raw != "" {
		return
	}
	behind := r.st.qualified(at) + 1
	t := r.find(r.schemaAt(r.st, behind-1), r.nameAt(r.st, behind-1))
	switch {
	case t == nil:
	case r.st.is(behind, "(") && r.isName(behind+1):
		if c := t.Column(r.nameAt(r.st, behind+1)); c != nil {
			d.Type = c.Type
		}
	case t.PrimaryKey != nil && len(t.PrimaryKey.Columns) == 1:
		d.Type = t.PrimaryKey.Columns[0].Type
	}
}

// oracleState reads what stands behind a constraint. Of a key it says which index
// enforces it.
func oracleState(r *tolerant, k *keyDefinition) (off bool) {
	for r.fault == nil {
		switch {
		case r.accept("not", "deferrable"), r.accept("initially", "immediate"), r.accept("initially", "deferred"),
			r.acceptAny("deferrable", "rely", "norely", "validate", "novalidate", "precheck", "noprecheck"):
		case r.is("enable", "disable") && !r.beginsCommand(r.i+1):
			off = r.is("disable")
			r.i++
		case r.accept("exceptions", "into"):
			r.ref()
		case r.accept("using", "index"):
			r.usingIndex(k)
		default:
			return off
		}
	}
	return off
}

// beginsCommand reports whether ENABLE or DISABLE in front of token i is not the
// state of a constraint but a command about something else.
func (r *tolerant) beginsCommand(i int) bool {
	if r.st.is(i, "validate", "novalidate") {
		i++
	}
	return r.st.is(i, "constraint", "primary", "unique", "row", "table", "all")
}

// usingIndex reads what stands behind USING INDEX: the name of an index, its
// definition, or how it is kept.
func (r *tolerant) usingIndex(k *keyDefinition) {
	if k == nil {
		k = &keyDefinition{}
	}
	switch {
	case r.is("("):
		from, to := r.group()
		for i := from; i < to && !r.st.is(i, "on"); i++ {
			if r.st.is(i, "index") && r.isName(i+1) {
				k.using = r.nameAt(r.st, r.st.qualified(i+1))
			}
		}
		return
	case r.isName(r.i) && oracleIndexWords[r.word()] == nil && !oracleEnds(r) &&
		!r.is("enable", "disable", "validate", "novalidate", "rely", "norely", "exceptions", "reverse", "invisible", "unusable", "not", "deferrable", "initially"):
		k.using = r.ref().name
	}
	for !r.done() && r.indexOption(k) {
	}
}

// oracleElement reads what stands among columns and is no column.
func oracleElement(r *tolerant, t *draft) bool {
	switch {
	case r.is("supplemental") && r.st.is(r.i+1, "log"):
		r.phrase(oracleStorage)
	case r.accept("period", "for"):
		r.name()
		if r.is("(") {
			r.group()
		}
	case r.is("domain") && r.isName(r.i+1) && r.st.is(r.st.qualified(r.i+1)+1, "("):
		r.i++
		r.ref()
		r.group()
	case r.is("scope") && r.st.is(r.i+1, "for"), r.is("ref") && r.st.is(r.i+1, "("):
		for !r.done() {
			r.skip()
		}
	case r.is("foreign") && r.st.is(r.i+1, "key"), r.is("constraint") && r.st.is(r.i+2, "foreign"):
		if r.accept("constraint") {
			r.name()
		}
		r.i++
		r.expect("key")
		r.foreignKey("", -1)
		oracleState(r, nil)
		for !r.done() {
			r.unknown()
		}
	default:
		return false
	}
	return true
}

// oracleOption reads one option of a table.
func oracleOption(r *tolerant, t *draft) bool {
	switch {
	case r.accept("organization", "index"):
		t.NoRowIdentity = true
	case r.accept("organization", "external"):
		t.Gaps = append(t.Gaps, source.Errorf(r.st.pos(r.i-1), "table %s is kept outside the database, where no row can be locked", t.Name).
			WithHint("Let the queue stand on a table of the database."))
		r.group()
		if r.accept("reject", "limit") {
			r.skip()
		}
	case r.accept("of") && r.isName(r.i):
		at := r.st.qualified(r.i)
		t.Gaps = append(t.Gaps, source.Errorf(r.st.pos(at), "table %s takes columns from the type %s, which is not read", t.Name, r.nameAt(r.st, at)).
			WithHint("Let the queue stand on a table that names its columns."))
		for r.fault == nil && r.i < len(r.st.tokens) {
			r.skip()
		}
	case r.accept("partition", "by"), r.accept("partitionset", "by"):
		r.oraclePartition(t)
	case r.is("enable", "disable") && r.st.is(r.i+1, "validate", "novalidate", "constraint", "primary", "unique"):
		r.switchConstraint(t)
	default:
		return r.phrase(oracleStorage)
	}
	return true
}

// oraclePartition reads what stands behind PARTITION BY. The partitions themselves
// are left out.
func (r *tolerant) oraclePartition(t *draft) {
	t.Partitioned, t.PartitionBy = true, nil
	r.accept("consistent")
	switch {
	case r.acceptAny("range", "list", "hash"):
		r.partitionColumns(t)
	case r.acceptAny("reference", "system"):
		if r.is("(") {
			r.group()
		}
	default:
		r.unknown()
		return
	}
	r.restOfPartitions()
}

// expression moves behind an expression. Of what stands in parentheses it takes no
// notice.
func (r *tolerant) expression() {
	for r.fault == nil {
		r.oracleOperand()
		switch {
		case r.acceptAny("+", "-", "*", "/"):
		case r.is("|") && r.st.is(r.i+1, "|"):
			r.i += 2
		default:
			return
		}
	}
}

// oracleOperand moves behind one value of an expression, and the zone that it is
// told in.
func (r *tolerant) oracleOperand() {
	r.oracleValue()
	for r.accept("at") {
		if !r.accept("local") {
			r.expect("time")
			r.expect("zone")
			r.oracleValue()
		}
	}
	if r.accept("day", "to", "second") || r.accept("year", "to", "month") {
		if r.is("(") {
			r.group()
		}
	}
}

func (r *tolerant) oracleValue() {
	for r.acceptAny("+", "-") {
	}
	switch {
	case r.is("("):
		r.group()
	case r.is("case"):
		r.caseExpression()
	case r.has(r.i, text), r.has(r.i, number):
		r.i++
	case r.is("date", "timestamp") && r.has(r.i+1, text):
		r.i += 2
	case r.is("interval") && r.has(r.i+1, text):
		for r.i += 2; r.is("year", "month", "day", "hour", "minute", "second", "to", "("); {
			r.skip()
		}
	case r.isName(r.i):
		r.i = r.st.qualified(r.i) + 1
		for r.is("(", ".") {
			r.skip()
			if r.st.is(r.i-1, ".") && r.isName(r.i) {
				r.i++
			}
		}
	default:
		r.fail(r.i, "a value should stand here")
	}
}

// caseExpression moves behind CASE … END.
func (r *tolerant) caseExpression() {
	start, depth := r.i, 0
	for ; r.i < len(r.st.tokens); r.i++ {
		switch {
		case r.is("case"):
			depth++
		case r.is("end"):
			if depth--; depth == 0 {
				r.i++
				return
			}
		}
	}
	r.fail(start, `"END" is missing`)
}

// outputTypes gives the columns that CREATE TABLE (a, b) AS names the types of its
// query, which starts at that token.
func (r *tolerant) outputTypes(t *draft, query int) {
	made := r.draft(&Table{Name: t.Name, Pos: t.Pos})
	var names [][2]int
	for _, c := range t.Columns {
		at := r.st.at(c.Pos.Offset)
		names = append(names, [2]int{at, at + 1})
	}
	r.selectColumns(made, &anchor{st: r.st}, query, names)
	if len(made.Columns) != len(t.Columns) || len(made.Gaps) > 0 {
		return
	}
	for i, c := range t.Columns {
		c.Type = made.Columns[i].Type
	}
}
