package oracle

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Types as the wire numbers them.
const (
	typeVarchar      = 1
	typeNumber       = 2
	typeLong         = 8
	typeDate         = 12
	typeRaw          = 23
	typeLongRaw      = 24
	typeLongVarchar  = 94
	typeLongVarraw   = 95
	typeChar         = 96
	typeCursor       = 102
	typeClob         = 112
	typeBlob         = 113
	typeTimestamp    = 180
	typeTimestampTZ  = 181
	typeTimestampArg = 187 // the number of TIMESTAMP as an argument
	typeTimestampLTZ = 231
)

var typeNames = map[int]string{
	typeVarchar: "VARCHAR2", typeNumber: "NUMBER", typeLong: "LONG", typeDate: "DATE", typeRaw: "RAW",
	typeLongRaw: "LONG RAW", typeLongVarchar: "LONG VARCHAR", typeLongVarraw: "LONG VARRAW", typeChar: "CHAR",
	typeCursor: "REF CURSOR", typeClob: "CLOB", typeBlob: "BLOB", typeTimestamp: "TIMESTAMP",
	typeTimestampTZ: "TIMESTAMP WITH TIME ZONE", typeTimestampArg: "TIMESTAMP",
	typeTimestampLTZ: "TIMESTAMP WITH LOCAL TIME ZONE",
}

// dataType is the type of a column or an argument.
type dataType struct {
	code             int
	size             int // in bytes
	precision, scale int
}

// long is whether values come behind those of all other types.
func (t dataType) long() bool {
	return t.code == typeLong || t.code == typeLongRaw || t.code == typeLongVarchar || t.code == typeLongVarraw
}

func (t dataType) lob() bool { return t.code == typeClob || t.code == typeBlob }

const (
	unscaled     = -127 // of a NUMBER without precision and scale
	charsetUTF8  = 873  // AL32UTF8
	charsetUTF16 = 2000 // AL16UTF16, the national character set
	implicit     = 1    // form of the character set: that of the database
	dateSize     = 7
	stampSize    = 11
	zonedSize    = 13
	numSize      = 22
)

var (
	sized  = regexp.MustCompile(`^(VARCHAR2|CHAR|RAW) ?\( ?(\d+)(?: (?:BYTE|CHAR))? ?\)$`)
	number = regexp.MustCompile(`^NUMBER ?\( ?(\d+)(?: ?, ?(-?\d+))? ?\)$`)
	stamp  = regexp.MustCompile(`^TIMESTAMP(?: ?\( ?(\d) ?\))?( WITH TIME ZONE| WITH LOCAL TIME ZONE)?$`)
)

// parseType reads a type as it is written in DDL.
func parseType(text string) (dataType, error) {
	name := strings.ToUpper(strings.Join(strings.Fields(text), " "))
	switch name {
	case "NUMBER":
		return dataType{code: typeNumber, size: numSize, scale: unscaled}, nil
	case "DATE":
		return dataType{code: typeDate, size: dateSize}, nil
	case "CLOB":
		return dataType{code: typeClob, size: 4000}, nil
	case "BLOB":
		return dataType{code: typeBlob, size: 4000}, nil
	}
	if m := number.FindStringSubmatch(name); m != nil {
		precision, _ := strconv.Atoi(m[1]) // digits
		scale, _ := strconv.Atoi(m[2])     // digits or none
		return dataType{code: typeNumber, size: numSize, precision: precision, scale: scale}, nil
	}
	if m := sized.FindStringSubmatch(name); m != nil {
		size, err := strconv.Atoi(m[2])
		code := map[string]int{"VARCHAR2": typeVarchar, "CHAR": typeChar, "RAW": typeRaw}[m[1]]
		return dataType{code: code, size: size}, err
	}
	if m := stamp.FindStringSubmatch(name); m != nil {
		t := dataType{code: typeTimestamp, size: stampSize, scale: 6}
		if m[1] != "" {
			t.scale = int(m[1][0] - '0')
		}
		switch m[2] {
		case " WITH TIME ZONE":
			t.code, t.size = typeTimestampTZ, zonedSize
		case " WITH LOCAL TIME ZONE":
			t.code = typeTimestampLTZ
		}
		return t, nil
	}
	return dataType{}, fmt.Errorf("type %q is none that is spoken", text)
}

// Column is a column of a result. Its type is written as in DDL.
type Column struct{ Name, Type string }

// Columns makes columns of texts like "id NUMBER(19)" and `"a name" VARCHAR2(20)`.
// A name without quotes is turned to upper case, as a server does.
func Columns(declarations ...string) []Column {
	columns := make([]Column, len(declarations))
	for i, text := range declarations {
		text = strings.TrimSpace(text)
		if rest, ok := strings.CutPrefix(text, `"`); ok {
			columns[i].Name, columns[i].Type, _ = strings.Cut(rest, `"`)
			continue
		}
		name, kind, _ := strings.Cut(text, " ")
		columns[i] = Column{strings.ToUpper(name), kind}
	}
	return columns
}

// appendColumn describes a column.
func appendColumn(b []byte, name string, t dataType) []byte {
	b = append(b, byte(t.code), 0, byte(t.precision))
	switch t.code {
	case typeNumber, typeTimestamp, typeTimestampTZ, typeTimestampLTZ:
		b = appendUB(b, t.scale)
	default:
		b = append(b, 0)
	}
	b = appendUB(b, t.size)
	b = appendUB(b, 0) // elements
	b = appendUB(b, 0) // flags
	b = appendUB(b, 0) // object id
	b = appendUB(b, 0) // its version
	charset, form, characters := 0, byte(0), 0
	switch t.code {
	case typeVarchar, typeChar:
		charset, form, characters = charsetUTF8, implicit, t.size
	case typeClob:
		charset, form = charsetUTF8, implicit
	}
	b = append(appendUB(b, charset), form)
	b = appendUB(b, characters)
	b = append(b, 1, byte(len(name))) // nullable
	for _, text := range []string{name, "", ""} {
		b = appendDLC(b, text) // the name, schema and name of an object's type
	}
	return append(b, 0, 0) // position, flags
}
