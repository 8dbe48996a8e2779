package oracle

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/test/wire"
)

var decimal = regexp.MustCompile(`^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$`)

const (
	zeroNumber     = 0x80
	positiveOffset = 193 // of the exponent
	negativeOffset = 62
	negativeEnd    = 102
	mantissaSize   = 20
)

// encodeNumber writes a decimal as NUMBER: an exponent of 100, then digits of base 100.
func encodeNumber(text string) ([]byte, error) {
	m := decimal.FindStringSubmatch(text)
	if m == nil || m[2]+m[3] == "" {
		return nil, fmt.Errorf("%q is no number", text)
	}
	exponent := 0
	if m[4] != "" {
		var err error
		if exponent, err = strconv.Atoi(m[4]); err != nil {
			return nil, fmt.Errorf("%q is no number", text)
		}
	}
	// The value is 0.digits times ten to the point.
	digits, point := m[2]+m[3], len(m[2])+exponent
	point -= len(digits) - len(strings.TrimLeft(digits, "0"))
	digits = strings.Trim(digits, "0")
	if digits == "" {
		return []byte{zeroNumber}, nil
	}
	if point%2 != 0 {
		digits, point = "0"+digits, point+1
	}
	if len(digits)%2 != 0 {
		digits += "0"
	}
	if len(digits)/2 > mantissaSize || point/2-1 < -65 || point/2-1 > 62 {
		return nil, fmt.Errorf("%s does not fit a NUMBER", text)
	}
	negative := m[1] == "-"
	b := []byte{byte(positiveOffset + point/2 - 1)}
	if negative {
		b[0] = byte(negativeOffset - (point/2 - 1))
	}
	for i := 0; i < len(digits); i += 2 {
		digit := 10*(digits[i]-'0') + digits[i+1] - '0'
		if negative {
			b = append(b, 101-digit)
		} else {
			b = append(b, digit+1)
		}
	}
	if negative && len(b) <= mantissaSize {
		b = append(b, negativeEnd)
	}
	return b, nil
}

// decodeNumber returns the decimal that a NUMBER is, without an exponent.
func decodeNumber(b []byte) (string, error) {
	if len(b) == 1 && b[0] == zeroNumber {
		return "0", nil
	}
	if len(b) < 2 || len(b) > mantissaSize+2 {
		return "", wire.Malformedf("% x is no NUMBER", b)
	}
	negative := b[0]&zeroNumber == 0
	point := 2 * (int(b[0]) - positiveOffset + 1)
	if negative {
		point = 2 * (negativeOffset - int(b[0]) + 1)
		b = bytes.TrimSuffix(b, []byte{negativeEnd})
	}
	var digits strings.Builder
	for _, digit := range b[1:] {
		value := int(digit) - 1
		if negative {
			value = 101 - int(digit)
		}
		if value < 0 || value > 99 {
			return "", wire.Malformedf("% x is no NUMBER", b)
		}
		fmt.Fprintf(&digits, "%02d", value)
	}
	all := digits.String()
	switch {
	case point <= 0:
		all = "0." + strings.Repeat("0", -point) + all
	case point < len(all):
		all = all[:point] + "." + all[point:]
	default:
		all += strings.Repeat("0", point-len(all)) + "."
	}
	all = strings.TrimSuffix(strings.TrimRight(all, "0"), ".")
	if all = strings.TrimLeft(all, "0"); all == "" || all[0] == '.' {
		all = "0" + all
	}
	if negative {
		all = "-" + all
	}
	return all, nil
}

// goNumber returns a decimal as what a test compares with: an int64 if it is one, a
// float64 if that is exactly it, else its text.
func goNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strconv.FormatFloat(f, 'f', -1, 64) == text {
		return f
	}
	return text
}
