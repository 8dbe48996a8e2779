package schema

// This file tells what the types of MySQL and MariaDB hold.

import (
	"slices"
	"strconv"
	"strings"
)

// mysqlTypes is what the names of types mean, synonyms included. A character may
// take four bytes, so that a TEXT holds no more than a quarter of its bytes for
// sure. A TIMESTAMP of which nothing more is said is what new servers take it for:
// nullable, without a default. Before MySQL 8.0 and MariaDB 10.10 it may be NOT
// NULL and written with every change, which the DDL does not tell.
var mysqlTypes = map[string]Type{
	"tinyint": {Class: Int, Bits: 8}, "smallint": {Class: Int, Bits: 16}, "mediumint": {Class: Int, Bits: 24},
	"int": {Class: Int, Bits: 32}, "bigint": {Class: Int, Bits: 64},
	"float": {Class: Float, Bits: 32}, "double": {Class: Float, Bits: 64}, "decimal": {Class: Decimal, Digits: 10},
	"bit": {Class: Bytes}, "year": {Class: Int, Bits: 16, Unsigned: true},
	"char": {Class: Text, Length: 1}, "varchar": {Class: Text},
	"tinytext": {Class: Text, Length: 255 / 4}, "text": {Class: Text, Length: 65535 / 4},
	"mediumtext": {Class: Text, Length: 16777215 / 4}, "longtext": {Class: Text},
	"binary": {Class: Bytes, Length: 1}, "varbinary": {Class: Bytes},
	"tinyblob": {Class: Bytes, Length: 255}, "blob": {Class: Bytes, Length: 65535},
	"mediumblob": {Class: Bytes, Length: 16777215}, "longblob": {Class: Bytes},
	"enum": {Class: Text, Enum: true}, "set": {Class: Text},
	"date": {Class: Date}, "datetime": {Class: Timestamp}, "timestamp": {Class: Timestamp, Zone: true, Shown: true},
	"time":     {Class: TimeOfDay},
	"geometry": {Class: Unknown}, "point": {Class: Unknown}, "vector": {Class: Unknown},
	"json": {Class: JSON}, "uuid": {Class: UUID}, "inet6": {Class: Text, Length: 45}, "inet4": {Class: Text, Length: 15},
}

// mysqlSynonyms are other words for types, the longest first.
var mysqlSynonyms = []struct{ words, name string }{
	{"national character varying", "varchar"}, {"national char varying", "varchar"}, {"national character", "char"},
	{"national char", "char"}, {"national varcharacter", "varchar"}, {"national varchar", "varchar"},
	{"nchar varchar", "varchar"}, {"nchar varying", "varchar"}, {"nchar", "char"}, {"nvarchar", "varchar"},
	{"character varying", "varchar"}, {"char varying", "varchar"}, {"char byte", "binary"},
	{"varcharacter", "varchar"}, {"character", "char"},
	{"long character varying", "mediumtext"}, {"long char varying", "mediumtext"}, {"long varcharacter", "mediumtext"},
	{"long varchar", "mediumtext"}, {"long varbinary", "mediumblob"}, {"long", "mediumtext"},
	{"double precision", "double"}, {"real", "double"}, {"float4", "float"}, {"float8", "double"},
	{"dec", "decimal"}, {"numeric", "decimal"}, {"fixed", "decimal"},
	{"integer", "int"}, {"int1", "tinyint"}, {"int2", "smallint"}, {"int3", "mediumint"}, {"middleint", "mediumint"},
	{"int4", "int"}, {"int8", "bigint"}, {"bool", "tinyint"}, {"boolean", "tinyint"}, {"serial", "bigint"},
}

// mysqlType reads a type.
func mysqlType(r *tolerant, d *definition) {
	start := r.i
	if r.word() == "" {
		r.fail(start, "a type should stand here")
		return
	}
	written := r.word()
	name := written
	r.i++
	for _, s := range mysqlSynonyms {
		words := strings.Fields(s.words)
		if end := r.st.skip(start, words...); end > start {
			name, r.i = s.name, end
			break
		}
	}
	t, known := mysqlTypes[name]
	if !known {
		t.Class = Unknown
	}
	t.Name = name
	var args [][2]int
	if r.is("(") {
		from, to := r.group()
		if r.fault != nil {
			return
		}
		args = r.st.items(from, to)
	}
	for r.is("unsigned", "signed", "zerofill") {
		t.Unsigned = t.Unsigned || !r.is("signed")
		r.i++
	}
	t.Raw = r.st.written(start, r.i)
	size, sized := r.size(args)
	switch {
	case t.Enum:
		r.enumValues(d, args)
	case written == "serial":
		t.Unsigned = true
		d.serial(start)
	case name == "tinyint" && (written != name && written != "int1" || size == 1 && !t.Unsigned):
		t.Class = Bool
	case name == "bit" && (size == 1 || !sized):
		t.Class, t.Bits = Bool, 1
	case name == "float" && size > 24 && len(args) == 1:
		t.Name, t.Bits = "double", 64
	case sized && t.Class == Decimal:
		t.Digits, t.Scale = size, r.scale(args)
	case sized && (t.Class == Text || t.Class == Bytes) && name != "bit":
		t.Length = size
	case t.Class == Timestamp, t.Class == TimeOfDay:
		t.Step = stepOf(size)
	}
	d.MayUpdate = name == "timestamp" // what follows may say more
	d.Type = t
}

// Number returns the type as the number that it is where a Bool is but one of several
// bits; false for every other.
func (t Type) Number() (Type, bool) {
	if t.Class != Bool || t.Bits != mysqlTypes["tinyint"].Bits || t.Array {
		return t, false
	}
	t.Class = Int
	return t, true
}

// SaysBool reports whether the DDL calls the type a boolean.
func (t Type) SaysBool() bool {
	return t.Class == Bool && strings.HasPrefix(strings.ToLower(t.Raw), "bool")
}

// mysqlBytes is what types of text are in the character set binary.
var mysqlBytes = map[string]string{
	"char": "binary", "varchar": "varbinary",
	"tinytext": "tinyblob", "text": "blob", "mediumtext": "mediumblob", "longtext": "longblob",
}

// bytes makes a type of text what it is in the character set binary.
func (t *Type) bytes() {
	name, ok := mysqlBytes[t.Name]
	if !ok {
		return
	}
	as := mysqlTypes[name]
	if mysqlTypes[t.Name].Length != t.Length { // said in the DDL
		as.Length = t.Length
	}
	as.Name, as.Raw = name, t.Raw
	*t = as
}

// mariadbType does the same for MariaDB, whose JSON is text under another name.
func mariadbType(r *tolerant, d *definition) {
	mysqlType(r, d)
	if d.Type.Name == "json" {
		d.Type.Name = "longtext"
	}
}

// size returns the first number in the parentheses behind a type.
func (r *tolerant) size(args [][2]int) (n int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(r.st.text(args[0][0]))
	return n, err == nil
}

// scale returns the second number there, 0 where there is none.
func (r *tolerant) scale(args [][2]int) int {
	if len(args) < 2 {
		return 0
	}
	n, _ := r.size(args[1:])
	return n
}

// enumValues reads the values of an ENUM, from whose ends MySQL takes blanks.
func (r *tolerant) enumValues(d *definition, args [][2]int) {
	for _, a := range args {
		value, null, end, ok := r.literalAt(a[0], a[1])
		if !ok || null || end != a[1] || !r.has(a[1]-1, text) {
			r.fail(a[0], "a text should stand here")
			return
		}
		d.Values = append(d.Values, strings.TrimRight(value, " "))
	}
	if len(args) == 0 {
		r.fail(r.i, "the values of the enum should stand here")
	}
}

func slicesContainsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}
