package schema

// This file tells what the types of SQL Server hold.

import (
	"cmp"
	"strings"
	"time"
)

// mssqlTypes is what the names of types mean. A text in varchar and in nvarchar is
// the same kind of value; their names tell what a parameter must be.
var mssqlTypes = map[string]Type{
	"bit": {Class: Bool, Bits: 1}, "tinyint": {Class: Int, Bits: 8, Unsigned: true}, "smallint": {Class: Int, Bits: 16},
	"int": {Class: Int, Bits: 32}, "bigint": {Class: Int, Bits: 64},
	"decimal": {Class: Decimal, Digits: 18}, "numeric": {Class: Decimal, Digits: 18},
	"money": {Class: Decimal, Digits: 19, Scale: 4}, "smallmoney": {Class: Decimal, Digits: 10, Scale: 4},
	"float": {Class: Float, Bits: 64}, "real": {Class: Float, Bits: 32},
	"char": {Class: Text, Length: 1}, "varchar": {Class: Text, Length: 1}, "text": {Class: Text},
	"nchar": {Class: Text, Length: 1}, "nvarchar": {Class: Text, Length: 1}, "ntext": {Class: Text},
	"sysname": {Class: Text, Length: 128}, "xml": {Class: Text}, "json": {Class: JSON},
	"binary": {Class: Bytes, Length: 1}, "varbinary": {Class: Bytes, Length: 1}, "image": {Class: Bytes},
	"rowversion":       {Class: Bytes, Length: 8, Versioned: true},
	"uniqueidentifier": {Class: UUID}, "date": {Class: Date}, "time": {Class: TimeOfDay, Step: 100 * time.Nanosecond},
	"datetime":       {Class: Timestamp, Step: time.Second / 300},
	"smalldatetime":  {Class: Timestamp, Step: time.Minute},
	"datetime2":      {Class: Timestamp, Step: 100 * time.Nanosecond},
	"datetimeoffset": {Class: Timestamp, Zone: true, Step: 100 * time.Nanosecond},
	"sql_variant":    {Class: Unknown}, "hierarchyid": {Class: Unknown}, "vector": {Class: Unknown},
	"geography": {Class: Unknown}, "geometry": {Class: Unknown},
}

// mssqlSynonyms are other words for types, the longest first.
var mssqlSynonyms = []struct{ words, name string }{
	{"national character varying", "nvarchar"}, {"national char varying", "nvarchar"}, {"national text", "ntext"},
	{"national character", "nchar"}, {"national char", "nchar"},
	{"character varying", "varchar"}, {"char varying", "varchar"}, {"character", "char"}, {"binary varying", "varbinary"},
	{"double precision", "float"}, {"dec", "decimal"}, {"integer", "int"}, {"timestamp", "rowversion"},
}

// columnType reads a type.
func (m *mssql) columnType(r *tolerant, d *definition) {
	start, at := r.i, r.st.qualified(r.i)
	if !r.isName(at) {
		r.fail(start, "a type should stand here")
		return
	}
	schema, written := r.schemaAt(r.st, at), r.nameAt(r.st, at)
	name := strings.ToLower(written)
	r.i = at + 1
	if at == start {
		for _, s := range mssqlSynonyms {
			words := strings.Fields(s.words)
			if end := r.st.skip(start, words...); end > start || len(words) == 1 && name == s.words {
				name, r.i = s.name, max(end, r.i)
				break
			}
		}
	}
	var args [][2]int
	if r.is("(") {
		args = r.st.items(r.group())
	}
	t, known := mssqlTypes[name]
	if alias, ok := m.aliases[r.place(schema, written)]; ok && (!known || schema != "") {
		t, d.NotNull = alias.base, alias.notNull
		t.Domain, t.Schema = written, schema
	} else {
		t.Class, t.Name = cmp.Or(t.Class, Unknown), name
		if !known {
			t.Schema = schema
		}
		r.sizeOf(&t, args)
		d.NotNull = name == "sysname"
	}
	t.Raw = r.st.written(start, r.i)
	d.Type = t
	d.Generated, d.NotNull = d.Generated || t.Versioned, d.NotNull || t.Versioned // the server always gives a version
}

// sizeOf applies what stands in the parentheses behind a type.
func (r *tolerant) sizeOf(t *Type, args [][2]int) {
	size, sized := r.size(args)
	isMax := len(args) == 1 && r.st.is(args[0][0], "max")
	switch {
	case isMax:
		t.Length = 0
	case !sized:
	case t.Name == "float" && size <= 24:
		t.Name, t.Bits = "real", 32
	case t.Class == Decimal:
		t.Digits, t.Scale = size, r.scale(args)
	case t.Name == "xml", t.Name == "rowversion":
	case t.Class == Text, t.Class == Bytes:
		t.Length = size
	case t.Name == "datetime2", t.Name == "datetimeoffset", t.Name == "time":
		t.Step = stepOf(size)
	}
}

// untyped reports whether a column has no type of its own: one that is computed,
// and a row's version by the name of timestamp.
func (m *mssql) untyped(r *tolerant, d *definition) bool {
	switch {
	case r.is("as"):
		d.Type = Type{Class: Unknown}
	case strings.EqualFold(d.Name, "timestamp") && (r.done() || r.is("not", "null")):
		d.Type, d.Generated, d.NotNull = mssqlTypes["rowversion"], true, true
		d.Type.Name, d.Type.Raw = "rowversion", d.Name
	default:
		return false
	}
	return true
}
