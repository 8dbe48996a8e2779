package tds

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// GUID is a uniqueidentifier, its bytes in the order in which they are written.
type GUID [16]byte

func (g GUID) String() string {
	return fmt.Sprintf("%X-%X-%X-%X-%X", g[0:4], g[4:6], g[6:8], g[8:10], g[10:])
}

// swapped changes between the order of the text and that of the wire.
func (g GUID) swapped() GUID {
	for _, part := range [][]byte{g[0:4], g[4:6], g[6:8]} {
		for i, j := 0, len(part)-1; i < j; i, j = i+1, j-1 {
			part[i], part[j] = part[j], part[i]
		}
	}
	return g
}

var (
	timeType = reflect.TypeFor[time.Time]()
	guidType = reflect.TypeFor[GUID]()
)

// bare takes off what a value is dressed in: a pointer, a Null type, a type of its own.
func bare(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	value := reflect.ValueOf(v)
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return nil, nil
		}
		return bare(value.Elem().Interface())
	}
	if value.CanConvert(guidType) && value.Kind() == reflect.Array {
		return value.Convert(guidType).Interface(), nil
	}
	if valuer, ok := v.(driver.Valuer); ok {
		inner, err := valuer.Value()
		if err != nil || inner == nil {
			return nil, err
		}
		value = reflect.ValueOf(inner)
	}
	switch {
	case value.CanConvert(timeType):
		return value.Convert(timeType).Interface(), nil
	case value.CanInt():
		return value.Int(), nil
	case value.CanUint():
		if value.Uint() > math.MaxInt64 {
			return nil, fmt.Errorf("%d does not fit any integer", v)
		}
		return int64(value.Uint()), nil
	case value.CanFloat():
		return value.Float(), nil
	case value.Kind() == reflect.String:
		return value.String(), nil
	case value.Kind() == reflect.Bool:
		return value.Bool(), nil
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8:
		if value.IsNil() {
			return nil, nil
		}
		return value.Bytes(), nil
	}
	return nil, fmt.Errorf("no SQL type takes a %T", v)
}

// encode returns the bytes of a value, without their length, and nil for NULL.
func (t sqlType) encode(v any) ([]byte, error) {
	v, err := bare(v)
	if err != nil || v == nil {
		return nil, err
	}
	var b []byte
	switch v := v.(type) {
	case int64:
		b, err = t.integer(v)
	case bool:
		if t.token == tokenBit {
			b = []byte{0}
			if v {
				b[0] = 1
			}
		}
	case float64:
		b = t.float(v)
	case string:
		b, err = t.text(v)
	case []byte:
		// The driver hands a uniqueidentifier on in the order of the wire.
		if t.token == tokenBinary || t.token == tokenVarBinary || t.token == tokenGUID && len(v) == t.size {
			b = append([]byte{}, v...)
		}
	case GUID:
		if t.token == tokenGUID {
			g := v.swapped()
			b = g[:]
		}
	case time.Time:
		b, err = t.time(v)
	}
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		return nil, fmt.Errorf("a %T does not fit", v)
	case t.long() && t.size != unlimited && len(b) > t.size:
		return nil, fmt.Errorf("%d bytes do not fit into %d", len(b), t.size)
	}
	return t.pad(b), nil
}

// pad fills a type of fixed length.
func (t sqlType) pad(b []byte) []byte {
	fill := map[byte][]byte{tokenBinary: {0}, tokenChar: {' '}, tokenNChar: {' ', 0}}[t.token]
	for fill != nil && len(b) < t.size {
		b = append(b, fill...)
	}
	return b
}

func (t sqlType) integer(v int64) ([]byte, error) {
	switch t.token {
	case tokenFloat:
		return t.float(float64(v)), nil
	case tokenDecimal, tokenNumeric, tokenMoney:
		return t.decimal(fmt.Sprint(v))
	case tokenInt:
	default:
		return nil, nil
	}
	low, high := int64(math.MinInt64)>>(64-8*t.size), int64(math.MaxInt64)>>(64-8*t.size)
	if t.size == 1 {
		low, high = 0, 255 // a tinyint has no sign
	}
	if v < low || v > high {
		return nil, fmt.Errorf("%d does not fit into %d bytes", v, t.size)
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(v))[:t.size], nil
}

func (t sqlType) float(v float64) []byte {
	switch {
	case t.token != tokenFloat:
		return nil
	case t.size == 4:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
}

func (t sqlType) text(v string) ([]byte, error) {
	switch t.token {
	case tokenNVarChar, tokenNChar:
		return append([]byte{}, toUTF16(v)...), nil
	case tokenVarChar, tokenChar:
		b := []byte{}
		for _, r := range v {
			if r >= 0x80 && r < 0xa0 || r > 0xff {
				return nil, fmt.Errorf("%q is not in the part of code page 1252 that this server knows", r)
			}
			b = append(b, byte(r))
		}
		return b, nil
	case tokenDecimal, tokenNumeric, tokenMoney:
		return t.decimal(v)
	case tokenGUID:
		b, err := hex.DecodeString(strings.ReplaceAll(v, "-", ""))
		if err != nil || len(b) != len(GUID{}) {
			return nil, fmt.Errorf("%q is no uniqueidentifier", v)
		}
		g := GUID(b).swapped()
		return g[:], nil
	}
	return nil, nil
}

// decimal encodes a number with a fixed point, which money is too.
func (t sqlType) decimal(v string) ([]byte, error) {
	scale := int64(t.scale)
	if t.token == tokenMoney {
		scale = 4
	}
	r, ok := new(big.Rat).SetString(v)
	if !ok {
		return nil, fmt.Errorf("%q is no number", v)
	}
	ten := big.NewInt(10)
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(ten, big.NewInt(scale), nil)))
	if !r.IsInt() {
		return nil, fmt.Errorf("%s has more than %d digits after the point", v, scale)
	}
	n := r.Num()
	if t.token == tokenMoney {
		// What is left above the sign has to be the sign again.
		if above := n.Int64() >> (8*t.size - 1); !n.IsInt64() || above != 0 && above != -1 {
			return nil, fmt.Errorf("%s is too much money", v)
		}
		b := binary.LittleEndian.AppendUint64(nil, uint64(n.Int64()))
		if t.size == 8 {
			return append(b[4:], b[:4]...), nil // the high half comes first
		}
		return b[:4], nil
	}
	if n.CmpAbs(new(big.Int).Exp(ten, big.NewInt(int64(t.precision)), nil)) >= 0 {
		return nil, fmt.Errorf("%s has more than %d digits", v, t.precision)
	}
	b := make([]byte, t.size)
	if n.Sign() >= 0 {
		b[0] = 1
	}
	for i, digit := range n.FillBytes(make([]byte, t.size-1)) {
		b[len(b)-1-i] = digit
	}
	return b, nil
}

// The length of a value that comes in pieces, where it is none.
const (
	piecesNull    = math.MaxUint64
	piecesUnknown = math.MaxUint64 - 1
)

// appendValue appends bytes of a value that is not NULL, with their length.
func (t sqlType) appendValue(b, value []byte) []byte {
	switch {
	case t.size == unlimited:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(value)))
		if len(value) > 0 {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(value))), value...)
		}
		return binary.LittleEndian.AppendUint32(b, 0)
	case t.long():
		b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	default:
		b = append(b, byte(len(value)))
	}
	return append(b, value...)
}

// value reads a parameter. NULL is nil.
func (d *decoder) value(t sqlType) any {
	var b []byte
	switch {
	case t.token == tokenNull:
		return nil
	case t.size == unlimited:
		var null bool
		if b, null = d.pieces(); null {
			return nil
		}
	case t.long():
		n := int(d.u16("the length"))
		if n == math.MaxUint16 {
			return nil
		}
		if n > t.size {
			d.fail("%d bytes in a type of %d", n, t.size)
		}
		b = d.take(n, "the value")
	default:
		n := int(d.u8("the length"))
		if n == 0 {
			return nil
		}
		if n != t.size {
			d.fail("%d bytes in a type of %d", n, t.size)
		}
		b = d.take(n, "the value")
	}
	if d.err != nil {
		return nil
	}
	v, err := t.decode(b)
	if err != nil {
		d.fail("%v", err)
	}
	return v
}

// pieces reads a value of a type with (max).
func (d *decoder) pieces() (b []byte, null bool) {
	said := d.u64("the length")
	if said == piecesNull {
		return nil, true
	}
	for n := d.u32("a length"); n > 0; n = d.u32("a length") {
		b = append(b, d.take(int(n), "a piece")...)
	}
	if said != piecesUnknown && said != uint64(len(b)) {
		d.fail("%d bytes come in pieces, %d are said", len(b), said)
	}
	return b, false
}

// decode is the reverse of encode, for the types of which parameters are. Integers
// come as int64, times as time.Time in UTC or with the offset that they carry,
// texts as string, bytes as []byte, uniqueidentifiers as GUID.
func (t sqlType) decode(b []byte) (any, error) {
	switch t.token {
	case tokenInt:
		if t.size == 1 {
			return int64(b[0]), nil
		}
		// Move the sign to where int64 has it, and back.
		away := 64 - 8*t.size
		return int64(number64(b)<<away) >> away, nil
	case tokenBit:
		if b[0] > 1 {
			return nil, fmt.Errorf("a bit is %d", b[0])
		}
		return b[0] == 1, nil
	case tokenFloat:
		if t.size == 4 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), nil
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	case tokenGUID:
		return GUID(b).swapped(), nil
	case tokenNVarChar, tokenNChar:
		if len(b)%2 != 0 {
			return nil, fmt.Errorf("a text of pairs has %d bytes", len(b))
		}
		return fromUTF16(b), nil
	case tokenVarChar, tokenChar:
		// The driver sends its strings as they are, whatever the collation says.
		if !utf8.Valid(b) {
			return nil, fmt.Errorf("%q is not UTF-8", b)
		}
		return string(b), nil
	case tokenVarBinary, tokenBinary:
		return append([]byte{}, b...), nil
	}
	return t.decodeTime(b)
}

// number64 reads up to eight bytes, the lowest first.
func number64(b []byte) uint64 {
	var n uint64
	for i, digit := range b {
		n |= uint64(digit) << (8 * i)
	}
	return n
}
