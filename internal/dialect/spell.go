package dialect

// This file spells names, literals and formats the way a server reads them.

import (
	"cmp"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold returns an unquoted name as the server stores it.
func (d *Dialect) Fold(name string) string {
	switch d.Identifiers.Case {
	case "lower":
		return strings.ToLower(name)
	case "upper":
		return strings.ToUpper(name)
	}
	return name
}

// Ident returns a stored name as it must be written: bare where the server
// would read the same name back, quoted elsewhere.
func (d *Dialect) Ident(name string) string {
	if d.plain(name) {
		return name
	}
	open, end := d.Identifiers.Quote[0], d.Identifiers.Quote[1]
	return open + strings.ReplaceAll(name, end, end+end) + end
}

// part is a part of a name that is known at run time only.
var part = regexp.MustCompile(`\{\{\.\w+\}\}`)

// plain reports whether name can stand without quotes.
func (d *Dialect) plain(name string) bool {
	if strings.HasPrefix(name, "{{.") {
		return false // what will stand there may need quotes
	}
	name = part.ReplaceAllString(name, "")
	if name == "" || d.reserved[strings.ToLower(name)] || d.Fold(name) != name {
		return false
	}
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// Lasting reports whether an expression has one value for as long as the row stays as it is,
// as far as its words tell that are no columns.
func (d *Dialect) Lasting(expression string, column func(name string) bool) bool {
	return !slices.ContainsFunc(words(expression), func(word string) bool { return d.volatile[strings.ToLower(word)] && !column(d.Fold(word)) })
}

// Locks reports whether one of the pieces of an expression calls a function that takes a lock.
func (d *Dialect) Locks(pieces []string) bool {
	return slices.ContainsFunc(pieces, func(piece string) bool { return d.locking[strings.ToLower(piece)] })
}

// BoundToZone reports whether the time zone of the session may change what an expression makes of
// columns that keep a time with zone: not where it names one (AT TIME ZONE).
func (d *Dialect) BoundToZone(expression string, column, zoned func(name string) bool) bool {
	list := words(expression)
	named := func(word string) bool { return strings.EqualFold(word, "zone") }
	return slices.ContainsFunc(list, func(word string) bool { return zoned(d.Fold(word)) }) && !slices.ContainsFunc(list, named) &&
		slices.ContainsFunc(list, func(word string) bool { return d.zoneBound[strings.ToLower(word)] && !column(d.Fold(word)) })
}

// words splits an expression into its words.
func words(expression string) []string {
	return strings.FieldsFunc(expression, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Qualified returns schema.name, both as they must be written.
func (d *Dialect) Qualified(schema, name string) string {
	if schema == "" {
		return d.Ident(name)
	}
	return d.Ident(schema) + "." + d.Ident(name)
}

// Shorten cuts a new name to what the server accepts, on a character's end.
func (d *Dialect) Shorten(name string) string {
	if d.Identifiers.MaxBytes == 0 {
		return name
	}
	return Cut(name, d.Identifiers.MaxBytes)
}

// Cut shortens a name to so many bytes at most, on a character's end; to nothing where
// most is below 0.
func Cut(name string, most int) string {
	most = max(most, 0)
	if len(name) <= most {
		return name
	}
	for most > 0 && !utf8.RuneStart(name[most]) {
		most--
	}
	return name[:most]
}

// Quote returns text as a string literal.
func (d *Dialect) Quote(text string) string {
	if escaped := d.Literals["backslash"]; escaped != "" {
		text = strings.ReplaceAll(text, `\`, escaped)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// Bool returns a truth value as a literal.
func (d *Dialect) Bool(b bool) string {
	if b {
		return d.Literals["true"]
	}
	return d.Literals["false"]
}

// Bytes returns a binary literal.
func (d *Dialect) Bytes(b []byte) string {
	return Fill(d.Literals["bytes"], "hex", hex.EncodeToString(b))
}

// Cast returns arg as a value of a type, where the server needs to be told.
func (d *Dialect) Cast(arg, sqlType string) string {
	return Fill(d.CastForm, "arg", arg, "type", sqlType)
}

// Fill replaces {name} slots; pairs are a name and its text.
func Fill(form string, pairs ...string) string {
	var filled strings.Builder
	for {
		before, rest, open := strings.Cut(form, "{")
		filled.WriteString(before)
		if !open {
			return filled.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		i := 0
		for i < len(pairs) && pairs[i] != name {
			i += 2
		}
		if closed && i < len(pairs) {
			filled.WriteString(pairs[i+1])
			form = after
		} else {
			filled.WriteByte('{')
			form = rest
		}
	}
}

// Format turns a Go time layout into a quoted format of the server; false when
// the layout has an element that the server cannot write.
func (d *Dialect) Format(layout string) (string, bool) {
	// Longest first, so that 05.000 is not read as 05.
	elements := slices.SortedFunc(maps.Keys(d.Text.Elements), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	var format, literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			text := literal.String()
			if strings.ContainsFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }) {
				text = Fill(d.Text.Literal, "text", text)
			}
			format.WriteString(text)
			literal.Reset()
		}
	}
next:
	for rest := layout; rest != ""; {
		for _, e := range elements {
			if strings.HasPrefix(rest, e) {
				flush()
				format.WriteString(d.Text.Elements[e])
				rest = rest[len(e):]
				continue next
			}
		}
		if rest[0] >= '0' && rest[0] <= '9' {
			return "", false // an element that the table does not have
		}
		literal.WriteByte(rest[0])
		rest = rest[1:]
	}
	flush()
	return d.Quote(format.String()), true
}
