package schema

// This file tells what the types of Oracle hold.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// oracleDatatypes is what the database's own names of types mean. DATE has a time of
// day. FLOAT is a NUMBER of up to 38 digits, more than any float holds. A row's
// place, XML and spatial types are not read.
var oracleDatatypes = map[string]Type{
	"number": {Class: Decimal, Scale: AnyScale}, "float": {Class: Decimal, Scale: AnyScale},
	"binary_float": {Class: Float, Bits: 32}, "binary_double": {Class: Float, Bits: 64},
	"char": {Class: Text, Length: 1}, "nchar": {Class: Text, Length: 1}, "varchar2": {Class: Text}, "nvarchar2": {Class: Text},
	"clob": {Class: Text}, "nclob": {Class: Text}, "long": {Class: Text},
	"raw": {Class: Bytes}, "blob": {Class: Bytes}, "long raw": {Class: Bytes},
	"date": {Class: Timestamp}, "timestamp": {Class: Timestamp},
	"timestamp with time zone": {Class: Timestamp, Zone: true}, "timestamp with local time zone": {Class: Timestamp, Zone: true},
	"interval year to month": {Class: Unknown}, "interval day to second": {Class: Interval},
	"boolean": {Class: Bool}, "json": {Class: JSON},
}

// oracleSynonyms are other words for types, the longest first.
var oracleSynonyms = []struct {
	words []string
	name  string
}{
	{[]string{"national", "character", "varying"}, "nvarchar2"}, {[]string{"national", "char", "varying"}, "nvarchar2"},
	{[]string{"national", "character"}, "nchar"}, {[]string{"national", "char"}, "nchar"}, {[]string{"nchar", "varying"}, "nvarchar2"},
	{[]string{"character", "varying"}, "varchar2"}, {[]string{"char", "varying"}, "varchar2"}, {[]string{"character"}, "char"},
	{[]string{"varchar"}, "varchar2"}, {[]string{"long", "raw"}, "long raw"}, {[]string{"long", "varchar"}, "long"},
	{[]string{"double", "precision"}, "float"}, {[]string{"real"}, "float"},
	{[]string{"integer"}, integer}, {[]string{"int"}, integer}, {[]string{"smallint"}, integer},
	{[]string{"numeric"}, fixed}, {[]string{"decimal"}, fixed}, {[]string{"dec"}, fixed}, {[]string{"bool"}, "boolean"},
}

// integer is a NUMBER(38), fixed a NUMBER that is whole if it names no scale.
const (
	integer = "integer"
	fixed   = "fixed"
)

// oracleType reads a type.
func oracleType(r *tolerant, d *definition) {
	start := r.i
	if !r.isName(start) {
		r.fail(start, "a type should stand here")
		return
	}
	name := r.oracleTypeName(d)
	t, known := oracleDatatypes[name]
	if stored := r.nameAt(r.st, r.i-1); !known && r.domains[stored] != nil {
		r.ofDomain(d, stored)
		return
	}
	if !known && name != integer && name != fixed {
		t.Class = Unknown
	}
	var args [][2]int
	if r.is("(") {
		from, to := r.group()
		args = r.st.items(from, to)
	}
	switch name {
	case "timestamp":
		switch {
		case r.accept("with", "time", "zone"):
			name += " with time zone"
		case r.accept("with", "local", "time", "zone"):
			name += " with local time zone"
		}
		t = oracleDatatypes[name]
	case "interval":
		name = r.oracleInterval()
		t = oracleDatatypes[name]
	}
	if r.fault != nil {
		return
	}
	t.Name, t.Raw, t.Schema = name, r.st.written(start, r.i), d.Type.Schema
	r.oracleSize(&t, name, args)
	d.Type = t
}

// oracleTypeName reads the name of a type and returns the database's own; of a type
// that somebody made the schema goes into d.
func (r *tolerant) oracleTypeName(d *definition) string {
	for _, s := range oracleSynonyms {
		if end := r.st.skip(r.i, s.words...); end > r.i {
			r.i = end
			return s.name
		}
	}
	n := r.ref()
	name := strings.ToLower(n.name)
	if _, own := oracleDatatypes[name]; !own && n.schema != "" && n.schema != "SYS" && n.schema != "PUBLIC" {
		d.Type.Schema = n.schema
	}
	return name
}

// oracleInterval reads YEAR TO MONTH or DAY TO SECOND, with digits or without.
func (r *tolerant) oracleInterval() string {
	name := "interval"
	for _, words := range [][]string{{"year", "day"}, {"to", "to"}, {"month", "second"}} {
		if !r.is(words...) {
			r.fail(r.i, strings.ToUpper(words[0])+" or "+strings.ToUpper(words[len(words)-1])+" should stand here")
			return ""
		}
		name += " " + r.word()
		r.i++
		if r.is("(") {
			r.group()
		}
	}
	return name
}

// oracleSize reads what the numbers in parentheses say of a type.
func (r *tolerant) oracleSize(t *Type, name string, args [][2]int) {
	number := func(i int) (n int, ok bool) {
		if i >= len(args) {
			return 0, false
		}
		from := args[i][0]
		minus := r.st.is(from, "-")
		if minus {
			from++
		}
		if n, err := strconv.Atoi(r.st.text(from)); err == nil {
			if minus {
				n = -n
			}
			return n, true
		}
		return 0, false
	}
	size, sized := number(0)
	switch name {
	case integer:
		t.number(wide, 0)
	case fixed:
		scale, _ := number(1)
		t.number(cmp.Or(size, wide), scale)
	case "number":
		scale, scaled := number(1)
		switch {
		case sized, scaled:
			t.number(cmp.Or(size, wide), scale)
		default:
			t.bare = true
		}
	case "float":
		if !sized {
			size = 126
		}
		t.Digits = size * 30103 / 100000 // the size counts binary digits
	case "timestamp", "timestamp with time zone", "timestamp with local time zone":
		if !sized {
			size = 6
		}
		t.Step = stepOf(size)
	case "date":
		t.Step = stepOf(0)
	default:
		if sized && (t.Class == Text || t.Class == Bytes) {
			t.Length, t.Chars = size, r.st.is(args[0][0]+1, "char")
		}
	}
}

// wide is how many digits a NUMBER has at most.
const wide = 38

// number makes a type a NUMBER of that many digits, of which scale stand behind the
// point. A whole one of more than 18 digits may hold more than 64 bits do; it is
// an Int all the same, since people write it for what other databases call bigint.
func (t *Type) number(digits, scale int) {
	t.Name, t.Class = "number", Decimal
	if scale > 0 {
		t.Digits, t.Scale = digits, scale
		return
	}
	t.Class, t.Digits, t.Scale = Int, digits-scale, 0
	bits := []struct{ digits, bits int }{{2, 8}, {4, 16}, {9, 32}}
	i := slices.IndexFunc(bits, func(b struct{ digits, bits int }) bool { return t.Digits <= b.digits })
	if t.Bits = 64; i >= 0 {
		t.Bits = bits[i].bits
	}
}

// wholeNumbers makes a bare NUMBER an Int where no value of it has a fraction: the
// database counts it up, or its check allows whole numbers only.
func wholeNumbers(t *draft) {
	for _, c := range t.Columns {
		if c.Type.bare && (c.Identity || wholeValues(t, c)) {
			c.Type.Class, c.Type.Bits, c.Type.Scale = Int, 64, 0
		}
	}
}

func wholeValues(t *draft, c *Column) bool {
	whole := false
	for _, k := range t.checks {
		values := k.values[c.Name]
		if k.off || len(values) == 0 {
			continue
		}
		if !slices.ContainsFunc(values, func(v string) bool { _, err := strconv.ParseInt(v, 10, 64); return err != nil }) {
			whole = true
		}
	}
	return whole
}
