package schema

// This file reads the definition of one column.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// A definition is a column as a statement writes it.
type definition struct {
	*Column
	at     int              // the token of its name
	keys   []*keyDefinition // PRIMARY KEY and UNIQUE written beside it
	checks []*check
	// notNull is the name of its NOT NULL, "" without.
	notNull string
	place   *place // where it goes, nil for the end
	// defaultName is the name of its DEFAULT constraint, "" without one.
	defaultName string
}

// A place is FIRST or AFTER a column.
type place struct {
	after string // "" for the first
	at    int
}

// definition reads a name, a type and what follows, up to a comma or the end.
func (r *tolerant) definition() *definition {
	d := &definition{Column: &Column{}}
	d.Name, d.at = r.name()
	r.rest(d)
	return d
}

// rest reads the type of d and what follows.
func (r *tolerant) rest(d *definition) {
	d.Pos = r.st.pos(d.at)
	switch {
	case r.untyped != nil && r.untyped(r, d):
	case r.done(), slices.Contains(noTypes, r.word()), r.is("key", "on", "comment", "auto_increment", "first", "after"):
		r.fail(r.i, "a type should stand here")
		return
	default:
		r.columnType(r, d)
	}
	for !r.done() {
		if !r.attribute(r, d) && !r.everyAttribute(d) {
			r.unknown()
		}
	}
	d.NotNull = d.NotNull || d.Identity
}

// noTypes are words that begin an attribute in every SQL, so that none of them
// can be a type.
var noTypes = []string{"not", "null", "default", "primary", "unique", "check", "generated", "as", "references", "constraint", "collate"}

// everyAttribute reads an attribute that every SQL has; false when the next token
// begins none.
func (r *tolerant) everyAttribute(d *definition) bool {
	word := r.word()
	if !slices.Contains(noTypes, word) {
		return false
	}
	r.i++
	switch word {
	case "not":
		r.expect("null")
		d.NotNull = true
	case "null":
		d.NotNull, d.MayUpdate = false, false
	case "default":
		r.defaultValue(d)
		d.MayUpdate = false
	case "primary":
		r.expect("key")
		d.keys = append(d.keys, d.key(primaryKey, r.i-2, r.i))
		r.acceptAny("clustered", "nonclustered")
	case "unique":
		at := r.i - 1
		r.accept("key")
		d.keys = append(d.keys, d.key(uniqueKey, at, r.i))
	case "check":
		d.checks = append(d.checks, r.check(""))
	case "constraint":
		if name := r.constraintName(); r.accept("check") {
			d.checks = append(d.checks, r.check(name))
		}
	case "generated":
		r.generated(d)
	case "as":
		r.computed(d)
	case "references":
		r.references()
	case "collate":
		at := r.i
		if r.value(); r.i == at+1 {
			d.Collation = r.st.text(at)
		}
	}
	return true
}

// constraintName reads the name behind CONSTRAINT, which may be missing.
func (r *tolerant) constraintName() string {
	if r.is("check", "primary", "unique", "foreign", "not", "null", "default", "references") || r.done() {
		return ""
	}
	name, _ := r.name()
	return name
}

// key returns a key written at the column in the tokens from at up to end.
func (d *definition) key(kind keyKind, at, end int) *keyDefinition {
	return &keyDefinition{kind: kind, at: at, end: end, parts: []keyPart{{column: d.Name, at: d.at}}}
}

// value skips [=] and a name, number or text.
func (r *tolerant) value() {
	r.accept("=")
	if r.done() || r.has(r.i, sign) {
		r.fail(r.i, "a value should stand here")
		return
	}
	r.i++
}

// defaultValue reads what stands behind DEFAULT: one value, a call, or an
// expression in parentheses.
func (r *tolerant) defaultValue(d *definition) {
	start := r.i
	r.operand()
	if r.fault == nil {
		d.HasDefault, d.Default = true, r.st.written(start, r.i)
	}
	if strings.EqualFold(d.Default, "null") { // what every column has without
		d.HasDefault, d.Default = false, ""
	}
}

// operand moves behind one value of an expression.
func (r *tolerant) operand() {
	r.acceptAny("+", "-")
	switch {
	case r.is("("):
		r.group()
		return
	case r.i >= len(r.st.tokens), r.has(r.i, sign):
		r.fail(r.i, "a value should stand here")
		return
	case r.accept("next", "value", "for"), r.accept("previous", "value", "for"):
		r.ref()
		return
	}
	if r.has(r.i, text) {
		r.strings()
		return
	}
	isWord := r.has(r.i, word)
	introducer := isWord && strings.HasPrefix(r.st.text(r.i), "_")
	r.i++
	switch {
	case introducer && r.has(r.i, text):
		r.strings()
	case introducer && r.has(r.i, number):
		r.i++
	case isWord && r.is("("):
		r.group()
	}
}

// strings moves behind a text, which may stand in pieces.
func (r *tolerant) strings() {
	for r.has(r.i, text) {
		r.i++
	}
}

// generated reads what stands behind GENERATED.
func (r *tolerant) generated(d *definition) {
	r.accept("always")
	if !r.accept("as") {
		r.unknown()
		return
	}
	if r.accept("row") {
		d.Generated = true
		r.acceptAny("start", "end")
		return
	}
	r.computed(d)
}

// computed reads the expression that a column is computed from.
func (r *tolerant) computed(d *definition) {
	r.group()
	d.Generated = true
	r.acceptAny("stored", "virtual", "persistent", "persisted")
}

// references reads what stands behind REFERENCES.
func (r *tolerant) references() {
	r.ref()
	if r.is("(") {
		r.group()
	}
	for r.fault == nil {
		switch {
		case r.accept("not", "for", "replication"):
		case r.accept("match"):
			r.acceptAny("full", "partial", "simple")
		case r.is("on") && (r.st.is(r.i+1, "delete") || r.st.is(r.i+1, "update")) && r.st.is(r.i+2, "restrict", "cascade", "set", "no"):
			r.i += 2
			switch {
			case r.acceptAny("restrict", "cascade"):
			case r.accept("no", "action"), r.accept("set", "null"), r.accept("set", "default"):
			default:
				r.unknown()
			}
		default:
			return
		}
	}
}

// addDefinition gives the table a column that has been read, and returns it; nil
// when the table has one of that name.
func (r *tolerant) addDefinition(t *draft, d *definition) *Column {
	if t.Column(d.Name) != nil {
		r.errs.Add(source.Errorf(d.Pos, "table %s has two columns %s", t.Name, d.Name).
			WithHint("Give each column a name of its own; case does not tell them apart."))
		return nil
	}
	t.Columns = append(t.Columns, d.Column)
	r.move(t, d.Column, d.place)
	r.addLater(t, d, d.Column)
	return d.Column
}

// move puts a column of the table where FIRST or AFTER says.
func (r *tolerant) move(t *draft, c *Column, to *place) {
	if to == nil {
		return
	}
	i := 0
	others := slices.DeleteFunc(slices.Clone(t.Columns), func(o *Column) bool { return o == c })
	if to.after != "" {
		after := t.Column(to.after)
		if after == nil || after == c {
			t.Gaps = append(t.Gaps, missingColumn(t, to.after, r.st.pos(to.at)))
			return
		}
		i = slices.Index(others, after) + 1
	}
	t.Columns = slices.Insert(others, i, c)
}
