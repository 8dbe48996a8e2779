package plan

import "github.com/qgen-dev/qgen/internal/schema"

// Longest is how long a text may be, by each of what servers count; 0 is no limit.
type Longest struct {
	Characters int
	UTF16      int // code units: two of a character above U+FFFF
	Bytes      int // of UTF-8
}

// and returns the limits that a text within l and o keeps to, without those that follow from
// another.
func (l Longest) and(o Longest) Longest {
	least := func(a, b int) int {
		if a == 0 || b > 0 && b < a {
			return b
		}
		return a
	}
	l = Longest{least(l.Characters, o.Characters), least(l.UTF16, o.UTF16), least(l.Bytes, o.Bytes)}
	within := func(most, n, each int) bool { return n > 0 && most >= n*each }
	if within(l.UTF16, l.Characters, 2) || within(l.UTF16, l.Bytes, 1) {
		l.UTF16 = 0
	}
	if within(l.Bytes, l.Characters, 4) || within(l.Bytes, l.UTF16, 3) {
		l.Bytes = 0
	}
	if within(l.Characters, l.UTF16, 1) || within(l.Characters, l.Bytes, 1) {
		l.Characters = 0
	}
	return l
}

// longest returns how long a text may be in a column: what its type counts, and what its checks
// allow.
func (s *scope) longest(c *schema.Column) Longest {
	counted := func(n int) Longest {
		switch {
		case c.Type.Class == schema.Bytes:
			return Longest{Bytes: n}
		case c.Type.Chars:
			return Longest{Characters: n, Bytes: s.d.MostChars}
		}
		switch s.d.Lengths[c.Type.Name] {
		case "bytes":
			return Longest{Bytes: n}
		case "utf16":
			return Longest{UTF16: n}
		}
		return Longest{Characters: n}
	}
	checked := Longest{Characters: c.Longest}
	if of := counted(c.Longest); of.UTF16 > 0 || c.Type.Class == schema.Bytes {
		checked = of // the functions of lengths count so, too
	}
	if c.Type.Length == 0 {
		return checked
	}
	return counted(c.Type.Length).and(checked)
}
