package queue

// This file turns the values that users write into values of columns, and
// checks them: type, length, and the values that an enum or a CHECK allows.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// literal returns what a user wrote as a constant of a column or null; false
// after a complaint.
func (b *binding) literal(c *schema.Column, l literal) (Value, bool) {
	if l.quote == bare && l.text == "null" {
		if c.NotNull {
			b.errorf(l.pos, "column %q is NOT NULL, so it is never null", c.Name).
				WithHint("Write the value that stands for it in this column. A text reads 'null' in quotes.")
			return Value{}, false
		}
		return Value{Kind: Null, Pos: l.pos}, true
	}
	if l.quote == sql {
		b.errorf(l.pos, "an expression cannot stand here").WithHint("Write a constant, a text in single quotes: '%s'.", l.text)
		return Value{}, false
	}
	if !utf8.ValidString(l.text) || strings.ContainsRune(l.text, 0) {
		b.errorf(l.pos, "the value for column %q is no text", c.Name).WithHint("Write it in UTF-8, without NUL bytes.")
		return Value{}, false
	}
	text, wrong := fit(c, l.text)
	if wrong != "" {
		e := b.errorf(l.pos, "%s", wrong)
		if c.Values != nil {
			e.WithHint("%s", suggest(l.text, c.Values, "The column allows"))
		} else {
			e.WithHint("%s", example[c.Type.Class])
		}
		return Value{}, false
	}
	if column := b.columns[c]; column != nil && column.Width > 0 && isDigits(text) && len(text) > column.Width {
		b.errorf(l.pos, "%q has %d digits, but times of column %q have %d", text, len(text), c.Name, column.Width).
			WithHint("It would not sort as they do. Write as many digits, with zeros in front.")
		return Value{}, false
	}
	return Value{Kind: Literal, Text: text, Pos: l.pos}, true
}

// example tells by class what a constant looks like.
var example = map[schema.Class]string{
	schema.Bool:      "Write true or false.",
	schema.Int:       "Write a whole number that the column can hold.",
	schema.Float:     "Write a number.",
	schema.Decimal:   "Write a number.",
	schema.Text:      "Write a shorter value, or make the column longer.",
	schema.Bytes:     "Write a shorter value, or make the column longer.",
	schema.UUID:      "Write it as '00000000-0000-0000-0000-000000000000'.",
	schema.Timestamp: "Write it as '2006-01-02 15:04:05', or now for the present; a column of times is tested with null and set.",
	schema.Date:      "Write it as '2006-01-02'.",
	schema.TimeOfDay: "Write it as '15:04:05'.",
}

var (
	uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$`)
	dateForm = regexp.MustCompile(`^(\d{4,}-\d\d-\d\d([ T].*)?|-?infinity|epoch)$`)
	timeForm = regexp.MustCompile(`^\d\d:\d\d(:\d\d(\.\d+)?)?([+-].*)?$`)
)

// fit returns a constant as the column holds it, or what is wrong with it.
func fit(c *schema.Column, text string) (fitted, wrong string) {
	kind := orWord(c.Type.Raw, string(c.Type.Class))
	mismatch := fmt.Sprintf("%q is no value of column %q, which is %s", text, c.Name, kind)
	ok := true
	switch c.Type.Class {
	case schema.Bool:
		if text == "0" || text == "1" {
			// Where the table itself writes truth as numbers, users do so, too.
			if c.Type.Bits == 0 && c.Default != "0" && c.Default != "1" && !slices.Contains(c.Values, text) {
				return "", mismatch
			}
			return strconv.FormatBool(text == "1"), ""
		}
		if number, ok := c.Type.Number(); ok && isCount(text) {
			counted := *c
			counted.Type = number
			return fit(&counted, text)
		}
		if ok = text == "true" || text == "false"; ok && slices.Contains(c.Values, "0") {
			return text, ""
		}
	case schema.Int:
		bits := c.Type.Bits
		if bits == 0 {
			bits = 64
		}
		_, err := strconv.ParseInt(text, 10, bits)
		if c.Type.Unsigned {
			_, err = strconv.ParseUint(text, 10, bits)
		}
		digits := len(strings.TrimPrefix(text, "-"))
		ok = err == nil && !strings.HasPrefix(text, "+") && (c.Type.Digits == 0 || digits <= c.Type.Digits)
	case schema.Float, schema.Decimal:
		_, err := strconv.ParseFloat(text, 64)
		ok = err == nil && strings.Trim(text, "0123456789.+-eE") == ""
	case schema.UUID:
		ok = uuidForm.MatchString(text)
	case schema.Timestamp, schema.Date:
		if said := text; !slices.Contains(c.Values, said) {
			text = spaced(c, said)
		}
		ok = dateForm.MatchString(text)
	case schema.TimeOfDay:
		ok = timeForm.MatchString(text)
	case schema.Text, schema.Bytes:
		n, unit := utf8.RuneCountInString(text), "characters"
		if c.Type.Class == schema.Bytes {
			n, unit = len(c.Type.Bytes(text)), "bytes"
		}
		switch most := c.Most(); {
		case most == 0 || n <= most:
		case most == c.Type.Length:
			return "", fmt.Sprintf("%q has %d %s, but column %q is %s", text, n, unit, c.Name, kind)
		default:
			return "", fmt.Sprintf("%q has %d characters, but a CHECK allows column %q %d", text, n, c.Name, most)
		}
	}
	if !ok {
		return "", mismatch
	}
	if c.Values != nil && !slices.Contains(c.Values, text) {
		return "", fmt.Sprintf("%q is not among the values of column %q", text, c.Name)
	}
	return text, ""
}

var compactDate = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)([ T]\d\d:\d\d.*)?$`)

// spaced is a time that is written without dashes, '19000101' or '20000101 10:00:00', as it is written with them: every
// server that has times reads both as one, and what is emitted is read whatever the language of a session. Where a column
// holds texts, these are two values.
func spaced(c *schema.Column, text string) string {
	m := compactDate.FindStringSubmatch(text)
	if m == nil || c.Type.Loose {
		return text
	}
	if text = m[1] + "-" + m[2] + "-" + m[3] + m[4]; m[4] == "" && c.Type.Class == schema.Timestamp {
		text += " 00:00:00"
	}
	return text
}

// referred returns the column that a word names; nil after a complaint.
func (b *binding) referred(l literal) *schema.Column { return b.referredOr(l, "") }

// referredOr is referred where something else could stand as well, which
// otherwise says.
func (b *binding) referredOr(l literal, otherwise string) *schema.Column {
	if l.quote != sql {
		if c := columnOf(b.table, l.text, b.fold); c != nil {
			return c
		}
	}
	NoColumn(b.table, l.text, l.pos, otherwise, b.errs)
	return nil
}

// distance is a length of time, exactly one of its sources set.
type distance struct {
	fixed  time.Duration
	column *schema.Column
	unit   time.Duration // of column; 0: it holds intervals
	arg    string        // ArgLease or ArgTimeout: the caller says it
	wait   *Wait         // SQL over the row tells it
	pos    source.Pos    // of fixed
}

// shift returns the distance before or after now.
func (d *distance) shift(minus bool) *Shift {
	return &Shift{Minus: minus, Fixed: d.fixed, Column: d.column, Unit: d.unit, Arg: d.arg, Wait: d.wait}
}

var units = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

var durationForm = regexp.MustCompile(`^(\d+)(us|ms|s|m|h|d)`)

// parseDuration reads durations such as 300ms, 5m, 7d or 1h30m.
func parseDuration(text string) (time.Duration, bool) {
	var total time.Duration
	if text == "" {
		return 0, false
	}
	for text != "" {
		m := durationForm.FindStringSubmatch(text)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		unit := units[m[2]]
		if err != nil || n > int64((1<<63-1-total)/unit) {
			return 0, false
		}
		total += time.Duration(n) * unit
		text = text[len(m[0]):]
	}
	return total, true
}

// length reads a length of time: a duration, a column, SQL over the row, or the word arg where
// the caller may say it, as the argument of that name. It returns nil when the word is absent or
// after a complaint.
func (b *binding) length(r *role, word, arg string) *distance {
	w, unit := r.word(word), r.word("unit")
	if w == nil {
		return nil
	}
	l := w.values[0]
	d, ok := parseDuration(l.text)
	switch {
	case l.quote == sql:
		return b.lengthInSQL(l, unit)
	case l.quote == bare && l.text == "arg" && arg != "" && unit != nil:
		b.errorf(unit.pos, "the caller says %s as a time.Duration, which has its unit already", w.pos.Text()).WithHint("unit= is for a column that holds a number. Leave it out.")
		return nil
	case l.quote == bare && l.text == "arg" && arg != "":
		return &distance{arg: arg, pos: l.pos}
	case ok && d <= 0:
		b.errorf(l.pos, "%s is no time at all", l.text).WithHint("Write a duration above 0, for example %s=5m.", word)
		return nil
	case ok && unit != nil:
		b.errorf(unit.pos, "%s has its unit already", w.pos.Text()).WithHint("unit= is for a column that holds a number. Leave it out.")
		return nil
	case ok:
		return &distance{fixed: d, pos: l.pos}
	case l.quote == bare && strings.ContainsAny(l.text[:min(1, len(l.text))], "0123456789+-."):
		b.errorf(l.pos, "%q is no duration", l.text).
			WithHint("Write a whole number and a unit: 300ms, 5s, 5m, 2h, 7d.")
		return nil
	}
	c := b.referredOr(l, "Write a duration such as 5m, a column that holds a number, or SQL over the row in double quotes.")
	if c == nil {
		return nil
	}
	switch {
	case c.Type.Class == schema.Interval && !c.Type.Array && unit != nil:
		b.errorf(unit.pos, "column %q is %s, which has its unit already", c.Name, c.Type.Raw).WithHint("unit= is for a column that holds a number. Leave it out.")
		return nil
	case c.Type.Class == schema.Interval && !c.Type.Array:
		return &distance{column: c}
	case c.Type.Class != schema.Int && c.Type.Class != schema.Decimal && c.Type.Class != schema.Float || c.Type.Array:
		b.errorf(l.pos, "column %q is %s, which is no length of time", c.Name, c.Type.Raw).
			WithHint("Name a column that holds a number, and say of what: %s=%s unit=s.", word, c.Name)
		return nil
	case unit == nil:
		if r.column == nil {
			b.note("%s counts seconds, since no unit= is said beside %s", c.Name, w.pos.Text())
		} else {
			b.note("%s counts seconds, since no unit= is said at column %q", c.Name, r.column.Name)
		}
		return &distance{column: c, unit: time.Second}
	}
	return &distance{column: c, unit: units[unit.values[0].text]}
}

// constant returns the constant that a default of the DDL gives; false when it
// is computed.
func constant(raw string) (text string, ok bool) {
	raw = strings.TrimSpace(raw)
	for strings.HasPrefix(raw, "(") && strings.HasSuffix(raw, ")") {
		raw = strings.TrimSpace(raw[1 : len(raw)-1])
	}
	if len(raw) > 1 && raw[1] == '\'' && (raw[0] == 'N' || raw[0] == 'n') {
		raw = raw[1:] // text of the national character set
	}
	if strings.HasPrefix(raw, "'") {
		s := &scanner{text: raw, locate: source.Pos{}.Sub, errs: &source.ErrorList{}}
		text, closed := s.quoted()
		rest := strings.TrimSpace(raw[s.at:])
		return text, closed && (rest == "" || strings.HasPrefix(rest, "::"))
	}
	raw, _, _ = strings.Cut(raw, "::")
	switch lower := strings.ToLower(strings.TrimSpace(raw)); lower {
	case "true", "false":
		return lower, true
	case "null":
		return "", false
	default:
		_, err := strconv.ParseFloat(lower, 64)
		return lower, err == nil
	}
}

// gives reports whether the default of a column is that value already.
func gives(c *schema.Column, v Value) bool {
	switch v.Kind {
	case Null:
		return c.DefaultNull()
	case Literal:
		text, ok := constant(c.Default)
		if c.Type.Class == schema.Bool && (text == "0" || text == "1") {
			text = strconv.FormatBool(text == "1")
		}
		if c.Type.Class == schema.Timestamp || c.Type.Class == schema.Date {
			text = spaced(c, text)
		}
		return c.HasDefault && ok && text == v.Text
	}
	return false
}
