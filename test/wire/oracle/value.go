package oracle

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/test/wire"
)

var timeType = reflect.TypeFor[time.Time]()

// bare takes off what a value is dressed in: a type of its own, a pointer, a Null
// type. What is left is nil, a decimal, a string, []byte or a time.Time.
func bare(v any) (any, error) {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if !value.IsValid() || value.Kind() == reflect.Pointer {
		return nil, nil
	}
	if value.CanConvert(timeType) {
		return value.Convert(timeType).Interface(), nil
	}
	if valuer, ok := value.Interface().(driver.Valuer); ok {
		inner, err := valuer.Value()
		if err != nil || inner == nil {
			return nil, err
		}
		value = reflect.ValueOf(inner)
	}
	switch {
	case value.CanInt():
		return numeral(strconv.FormatInt(value.Int(), 10)), nil
	case value.CanUint():
		return numeral(strconv.FormatUint(value.Uint(), 10)), nil
	case value.CanFloat():
		return numeral(strconv.FormatFloat(value.Float(), 'f', -1, 64)), nil
	case value.Kind() == reflect.Bool:
		if value.Bool() {
			return numeral("1"), nil
		}
		return numeral("0"), nil
	case value.Kind() == reflect.String:
		return value.String(), nil
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8:
		if value.IsNil() {
			return nil, nil
		}
		return value.Bytes(), nil
	}
	return nil, fmt.Errorf("no type of Oracle takes a %T", v)
}

// numeral is a number as a decimal.
type numeral string

// encode returns the bytes of a value, and none for NULL, which an empty text is
// as well.
func (t dataType) encode(v any) ([]byte, error) {
	v, err := bare(v)
	if err != nil || v == nil {
		return nil, err
	}
	var b []byte
	switch t.code {
	case typeNumber:
		switch v := v.(type) {
		case numeral:
			return encodeNumber(string(v))
		case string:
			return encodeNumber(v)
		}
		return nil, fmt.Errorf("a %T does not fit NUMBER", v)
	case typeVarchar, typeChar, typeClob, typeLong, typeLongVarchar:
		s, ok := v.(string)
		if !ok || !utf8.ValidString(s) {
			return nil, fmt.Errorf("%v (%T) is no text", v, v)
		}
		b = []byte(s)
	case typeRaw, typeBlob, typeLongRaw, typeLongVarraw:
		raw, ok := v.([]byte)
		if !ok {
			return nil, fmt.Errorf("a %T does not fit %s", v, typeNames[t.code])
		}
		b = append(b, raw...)
	default:
		at, ok := v.(time.Time)
		if !ok {
			return nil, fmt.Errorf("a %T does not fit %s", v, typeNames[t.code])
		}
		return t.encodeTime(at), nil
	}
	if len(b) > t.size && !t.lob() && !t.long() {
		return nil, tooLongError{len(b), t.size}
	}
	if t.code == typeChar && len(b) > 0 {
		b = append(b, strings.Repeat(" ", t.size-len(b))...)
	}
	return b, nil
}

// tooLongError is a value for which there is no room.
type tooLongError struct{ size, room int }

func (e tooLongError) Error() string {
	return fmt.Sprintf("%d bytes do not fit into %d", e.size, e.room)
}

// encodeTime writes what the clock on the wall shows; with a zone, what it shows
// at Greenwich, and the zone behind.
func (t dataType) encodeTime(at time.Time) []byte {
	_, offset := at.Zone()
	if t.code == typeTimestampTZ {
		at = at.UTC()
	}
	b := []byte{
		byte(at.Year()/100 + 100), byte(at.Year()%100 + 100), byte(at.Month()), byte(at.Day()),
		byte(at.Hour() + 1), byte(at.Minute() + 1), byte(at.Second() + 1),
	}
	switch {
	case t.code == typeDate || t.code != typeTimestampTZ && at.Nanosecond() == 0:
		return b
	case t.code != typeTimestampTZ:
		return binary.BigEndian.AppendUint32(b, uint32(at.Nanosecond()))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(at.Nanosecond()))
	return append(b, byte(offset/3600+20), byte(offset/60%60+60))
}

// decodeTime reads a time. Without a zone it is one in UTC that shows the same on
// the wall; a zone that has a name is left out, since the time tells it at Greenwich.
func decodeTime(b []byte) (time.Time, error) {
	const named, local = 0x80, 0x40
	if len(b) != dateSize && len(b) != stampSize && len(b) != zonedSize {
		return time.Time{}, wire.Malformedf("% x is no time", b)
	}
	nanos := 0
	if len(b) > dateSize {
		nanos = int(binary.BigEndian.Uint32(b[dateSize:]))
	}
	at := time.Date((int(b[0])-100)*100+int(b[1])-100, time.Month(b[2]), int(b[3]), int(b[4])-1, int(b[5])-1, int(b[6])-1, nanos, time.UTC)
	if len(b) < zonedSize || b[11]&named != 0 {
		return at, nil
	}
	offset := (int(b[11]&^local)-20)*3600 + (int(b[12])-60)*60
	if b[11]&local != 0 {
		at = at.Add(time.Duration(-offset) * time.Second)
	}
	if offset == 0 {
		return at, nil
	}
	return at.In(time.FixedZone("", offset)), nil
}

// decode returns the value of bytes: nil, int64, float64, string, []byte or
// time.Time.
func (t dataType) decode(b []byte) (any, error) {
	if len(b) == 0 {
		return nil, nil
	}
	switch t.code {
	case typeNumber:
		text, err := decodeNumber(b)
		return goNumber(text), err
	case typeVarchar, typeChar, typeLong, typeLongVarchar:
		if !utf8.Valid(b) {
			return nil, wire.Malformedf("% x is no text", b)
		}
		return string(b), nil
	case typeRaw, typeLongRaw, typeLongVarraw:
		return b, nil
	case typeDate, typeTimestamp, typeTimestampArg, typeTimestampTZ, typeTimestampLTZ:
		return decodeTime(b)
	}
	return nil, wire.Malformedf("a value of the type %d comes; this server does not speak it", t.code)
}

// elements returns the elements of a slice other than []byte, and whether it is one.
func elements(v any) ([]any, bool) {
	value := reflect.ValueOf(v)
	if value.Kind() != reflect.Slice || value.Type().Elem().Kind() == reflect.Uint8 {
		return nil, false
	}
	all := make([]any, value.Len())
	for i := range all {
		all[i] = value.Index(i).Interface()
	}
	return all, true
}
