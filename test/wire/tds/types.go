package tds

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Tokens of types. Those of SQL Server that can hold NULL are enough: a column
// that cannot is sent with them too.
const (
	tokenNull           = 0x1f
	tokenGUID           = 0x24
	tokenInt            = 0x26
	tokenDate           = 0x28
	tokenTime           = 0x29
	tokenDateTime2      = 0x2a
	tokenDateTimeOffset = 0x2b
	tokenBit            = 0x68
	tokenDecimal        = 0x6a
	tokenNumeric        = 0x6c
	tokenFloat          = 0x6d
	tokenMoney          = 0x6e
	tokenDateTime       = 0x6f
	tokenVarBinary      = 0xa5
	tokenVarChar        = 0xa7
	tokenBinary         = 0xad
	tokenChar           = 0xaf
	tokenNVarChar       = 0xe7
	tokenNChar          = 0xef
)

// unlimited is the size of a type with (max).
const unlimited = 0xffff

// collation is SQL_Latin1_General_CP1_CI_AS.
var collation = []byte{0x09, 0x04, 0xd0, 0x00, 0x34}

// sqlType is a type as TYPE_INFO tells it.
type sqlType struct {
	token byte
	size  int // of a value, in bytes; of a type of any length, that of its longest
	// precision and scale are zero where a type has none.
	precision, scale byte
}

// form is how the declaration of a type goes on after its name.
type form int

const (
	plain   form = iota
	length       // (n) or (max), n being bytes
	chars        // the same, n being pairs of bytes
	digits       // (precision, scale)
	seconds      // (scale), digits after the point of a second
)

var named = map[string]struct {
	token byte
	size  int
	form  form
}{
	"tinyint":          {tokenInt, 1, plain},
	"smallint":         {tokenInt, 2, plain},
	"int":              {tokenInt, 4, plain},
	"bigint":           {tokenInt, 8, plain},
	"bit":              {tokenBit, 1, plain},
	"real":             {tokenFloat, 4, plain},
	"float":            {tokenFloat, 8, plain},
	"smallmoney":       {tokenMoney, 4, plain},
	"money":            {tokenMoney, 8, plain},
	"uniqueidentifier": {tokenGUID, 16, plain},
	"date":             {tokenDate, 3, plain},
	"smalldatetime":    {tokenDateTime, 4, plain},
	"datetime":         {tokenDateTime, 8, plain},
	"time":             {tokenTime, 0, seconds},
	"datetime2":        {tokenDateTime2, 3, seconds},
	"datetimeoffset":   {tokenDateTimeOffset, 5, seconds},
	"decimal":          {tokenDecimal, 0, digits},
	"numeric":          {tokenNumeric, 0, digits},
	"char":             {tokenChar, 1, length},
	"varchar":          {tokenVarChar, 1, length},
	"binary":           {tokenBinary, 1, length},
	"varbinary":        {tokenVarBinary, 1, length},
	"nchar":            {tokenNChar, 2, chars},
	"nvarchar":         {tokenNVarChar, 2, chars},
}

var declaration = regexp.MustCompile(`^(\w+)(?: *\( *(max|\d+) *(?:, *(\d+) *)?\))?$`)

// parseType reads a type as T-SQL writes it, such as "nvarchar(20)".
func parseType(text string) (sqlType, error) {
	unknown := fmt.Errorf("%q is no type that this server knows", text)
	match := declaration.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if match == nil {
		return sqlType{}, unknown
	}
	known, ok := named[match[1]]
	if !ok || match[3] != "" && known.form != digits || match[2] == "max" && known.form != length && known.form != chars {
		return sqlType{}, unknown
	}
	first, err := number(match[2])
	second, err2 := number(match[3])
	t := sqlType{token: known.token, size: known.size}
	switch known.form {
	case plain:
		ok = match[2] == ""
	case length, chars:
		ok = t.limit(match[2], first)
	case digits:
		ok = t.digits(match[2], first, second)
	case seconds:
		ok = t.seconds(match[2], first)
	}
	if !ok || err != nil || err2 != nil {
		return sqlType{}, unknown
	}
	return t, nil
}

func number(digits string) (int, error) {
	if digits == "" || digits == "max" {
		return 0, nil
	}
	return strconv.Atoi(digits)
}

// limit sets the length of a type, whose size is that of one character so far.
func (t *sqlType) limit(said string, n int) bool {
	switch said {
	case "":
	case "max":
		t.size = unlimited
		return t.token != tokenChar && t.token != tokenNChar && t.token != tokenBinary
	default:
		t.size *= min(n, 8001)
	}
	return t.size > 0 && t.size <= 8000
}

// digits sets precision and scale, which are 18 and 0 where nothing is said.
func (t *sqlType) digits(said string, precision, scale int) bool {
	if said == "" {
		precision = 18
	}
	if precision < 1 || precision > 38 || scale > precision {
		return false
	}
	t.precision, t.scale = byte(precision), byte(scale)
	t.size = decimalSize(t.precision)
	return true
}

// decimalSize returns the bytes of a number of so many digits, with its sign.
func decimalSize(precision byte) int {
	switch {
	case precision <= 9:
		return 5
	case precision <= 19:
		return 9
	case precision <= 28:
		return 13
	}
	return 17
}

// seconds sets the scale of a time, which is 7 where nothing is said.
func (t *sqlType) seconds(said string, scale int) bool {
	if said == "" {
		scale = 7
	}
	if scale > 7 {
		return false
	}
	t.scale = byte(scale)
	t.size += clockSize(t.scale)
	return true
}

// clockSize returns the bytes of a time of day with so many digits of a second.
func clockSize(scale byte) int { return 3 + min(2, max(0, int(scale)-1)/2) }

// long reports whether values have their length in two bytes, or in pieces.
func (t sqlType) long() bool {
	return t.token >= tokenVarBinary
}

// collated reports whether the type says how its characters sort.
func (t sqlType) collated() bool {
	return t.long() && t.token != tokenVarBinary && t.token != tokenBinary
}

// appendTo appends TYPE_INFO.
func (t sqlType) appendTo(b []byte) []byte {
	b = append(b, t.token)
	switch {
	case t.token == tokenDate:
	case t.token == tokenTime, t.token == tokenDateTime2, t.token == tokenDateTimeOffset:
		b = append(b, t.scale)
	case t.token == tokenDecimal, t.token == tokenNumeric:
		b = append(b, byte(t.size), t.precision, t.scale)
	case t.long():
		b = binary.LittleEndian.AppendUint16(b, uint16(t.size))
		if t.collated() {
			b = append(b, collation...)
		}
	default:
		b = append(b, byte(t.size))
	}
	return b
}

// sqlType reads TYPE_INFO of a parameter.
func (d *decoder) sqlType() sqlType {
	t := sqlType{token: d.u8("the type")}
	switch t.token {
	case tokenNull:
	case tokenDate:
		t.size = 3
	case tokenTime, tokenDateTime2, tokenDateTimeOffset:
		t.scale = d.u8("the scale")
		if t.scale > 7 {
			d.fail("a time has %d digits after the second", t.scale)
		}
		t.size = clockSize(t.scale) + map[byte]int{tokenDateTime2: 3, tokenDateTimeOffset: 5}[t.token]
	case tokenGUID, tokenInt, tokenBit, tokenFloat, tokenDateTime:
		t.size = int(d.u8("the size"))
		if d.err == nil && !t.known() {
			d.fail("type %#x has no size %d", t.token, t.size)
		}
	case tokenVarBinary, tokenVarChar, tokenBinary, tokenChar, tokenNVarChar, tokenNChar:
		t.size = int(d.u16("the size"))
		if t.collated() {
			d.take(5, "the collation")
		}
		if t.size != unlimited && (t.size == 0 || t.size > 8000) {
			d.fail("type %#x has the size %d", t.token, t.size)
		}
	default:
		d.fail("type %#x is not known to this server", t.token)
	}
	return t
}

// known reports whether a type of fixed size has the size that it says.
func (t sqlType) known() bool {
	for _, n := range named {
		if n.token == t.token && n.size == t.size {
			return true
		}
	}
	return false
}
