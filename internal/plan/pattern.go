package plan

// This file makes up texts that meet the patterns of a column's checks.

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/schema"
)

// A textPattern is what a check compares a text with.
type textPattern struct {
	syntax string // of regexp
	not    bool   // no text that it matches will do
}

// comparesPattern finds in a check as written an operator that compares the column {column} with a
// pattern, and regexpCall the function that does.
const (
	comparesPattern = `(?i)(?:^|[\s(])["\x60\[]?(?:{column}|value)["\x60\]]?\)?(?:\s*::\s*[\w ]+?)?\)?\s*` +
		`(not\s+regexp|not\s+rlike|not\s+glob|not\s+like|not\s+ilike|regexp|rlike|glob|like|ilike|!?~~?\*?)\s*(?:binary\s+)?'((?:[^']|'')*)'`
	regexpCall = `(?i)regexp_like\s*\(\s*["\x60]?{column}["\x60]?\s*,\s*'((?:[^']|'')*)'\s*(?:,\s*'c'\s*)?\)`
)

// negated finds a NOT that is no part of an operator that compares with a pattern.
var negated = regexp.MustCompile(`(?i)\bnot\b`)

// patternsOf returns the patterns of a column's checks; known is false where there is one that
// cannot be read.
func patternsOf(d *dialect.Dialect, c *schema.Column) (list []textPattern, known bool) {
	if len(c.Checks) == 0 {
		return nil, true
	}
	name := regexp.QuoteMeta(c.Name)
	compares := regexp.MustCompile(strings.ReplaceAll(comparesPattern, "{column}", name))
	call := regexp.MustCompile(strings.ReplaceAll(regexpCall, "{column}", name))
	known = true
	for _, check := range c.Checks {
		text := func(literal string) string {
			literal = strings.ReplaceAll(literal, "''", "'")
			if d.Literals["backslash"] != "" {
				literal = strings.ReplaceAll(literal, `\\`, `\`)
			}
			return literal
		}
		found := false
		for _, m := range compares.FindAllStringSubmatch(check, -1) {
			found = true
			p, ok := pattern(d, strings.Join(strings.Fields(strings.ToLower(m[1])), " "), text(m[2]))
			list, known = append(list, p), known && ok
		}
		for _, m := range call.FindAllStringSubmatch(check, -1) {
			found = true
			list = append(list, textPattern{syntax: text(m[1])})
		}
		rest := call.ReplaceAllString(compares.ReplaceAllString(check, ""), "")
		if found && negated.MatchString(rest) {
			known = false
		}
	}
	return list, known
}

// pattern turns the right side of an operator into an expression of package regexp.
func pattern(d *dialect.Dialect, operator, text string) (p textPattern, ok bool) {
	operator, p.not = strings.CutPrefix(operator, "not ")
	if !p.not {
		operator, p.not = strings.CutPrefix(operator, "!")
	}
	switch operator {
	case "~", "regexp", "rlike":
		p.syntax = text
		return p, true
	case "~*":
		p.syntax = "(?i)" + text
		return p, true
	case "glob":
		p.syntax, ok = wildcards(text, '*', '?', true)
	default: // like
		p.syntax, ok = wildcards(text, '%', '_', d.LikeClasses)
		if operator == "ilike" || operator == "~~*" {
			p.syntax = "(?i)" + p.syntax
		}
	}
	return p, ok
}

// wildcards turns a pattern into an expression of package regexp: with signs for any text and any
// character, and with sets of characters in brackets where the operator knows them.
func wildcards(text string, several, one rune, sets bool) (expr string, ok bool) {
	var b strings.Builder
	b.WriteString(`\A`)
	for i := 0; i < len(text); i++ {
		switch r := rune(text[i]); {
		case r == '\\':
			return "", false // an escape, or not, as the server has it
		case r == several:
			b.WriteString(`(?s:.*)`)
		case r == one:
			b.WriteString(`(?s:.)`)
		case r == '[' && sets:
			end := strings.IndexByte(text[i:], ']')
			if end < 2 {
				return "", false
			}
			b.WriteString(text[i : i+end+1])
			i += end
		case r >= 0x80:
			return "", false
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`\z`)
	return b.String(), true
}

// formOf makes up a text for patterns, with a verb of fmt for a number where one fits in; false
// where none is found. A text may have so many characters, 0 being any number.
func formOf(patterns []textPattern, most int) (form string, ok bool) {
	var all []*regexp.Regexp
	candidates := []string{"job %d", "%d", "%04d", "a", "A", "1", "a-1"}
	for _, p := range patterns {
		re, err := regexp.Compile(p.syntax)
		if err != nil {
			return "", false
		}
		all = append(all, re)
		if tree, err := syntax.Parse(p.syntax, syntax.Perl); err == nil && !p.not {
			for _, digits := range []int{1, 3, 4} {
				if made, ok := (&maker{digits: digits}).text(tree); ok {
					candidates = append([]string{made}, candidates...)
				}
			}
		}
	}
	slices.SortStableFunc(candidates, func(x, y string) int { // those that tell jobs apart first
		return strings.Count(y, "%") - strings.Count(x, "%")
	})
	for _, form := range candidates {
		numbers := []int{0}
		if strings.Contains(form, "%") {
			numbers = []int{0, 1, 9, 10, 99, proofJobs}
		}
		if !slices.ContainsFunc(numbers, func(n int) bool { return !meetsAll(all, patterns, written(form, n), most) }) {
			return form, true
		}
	}
	return "", false
}

// written is a form with a number.
func written(form string, n int) string {
	if strings.Contains(form, "%") {
		return fmt.Sprintf(form, n)
	}
	return form
}

func meetsAll(all []*regexp.Regexp, patterns []textPattern, text string, most int) bool {
	if most > 0 && len(text) > most {
		return false
	}
	for i, re := range all {
		if re.MatchString(text) == patterns[i].not {
			return false
		}
	}
	return true
}

// maker writes a text that an expression matches; the first place for several digits in a row
// becomes a verb of fmt.
type maker struct {
	digits  int // how often what may come any number of times does
	counted bool
}

// longestMade is how long a text may become.
const longestMade = 200

func (m *maker) text(re *syntax.Regexp) (string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpStar, syntax.OpQuest:
		if re.Op == syntax.OpStar && isDigits(re.Sub[0]) && !m.counted {
			return m.repeated(re.Sub[0], m.digits)
		}
		return "", true
	case syntax.OpLiteral:
		text := string(re.Rune)
		return text, !strings.Contains(text, "%") && !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		r, ok := one(re)
		return string(r), ok
	case syntax.OpCapture:
		return m.text(re.Sub[0])
	case syntax.OpAlternate:
		return m.text(re.Sub[0])
	case syntax.OpPlus:
		return m.repeated(re.Sub[0], max(1, m.digits))
	case syntax.OpRepeat:
		n := max(re.Min, m.digits)
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		return m.repeated(re.Sub[0], n)
	case syntax.OpConcat:
		var b strings.Builder
		for i := 0; i < len(re.Sub); {
			n := 0
			for i+n < len(re.Sub) && isDigits(re.Sub[i+n]) {
				n++
			}
			if n < 3 || m.counted {
				n = 1
			}
			piece, ok := m.repeated(re.Sub[i], n)
			i += n
			if b.WriteString(piece); !ok || b.Len() > longestMade {
				return "", false
			}
		}
		return b.String(), true
	}
	return "", false
}

// repeated writes an expression n times: digits in a row as a verb.
func (m *maker) repeated(re *syntax.Regexp, n int) (string, bool) {
	switch {
	case n > longestMade:
		return "", false
	case isDigits(re) && n >= 3 && !m.counted:
		m.counted = true
		return "%0" + strconv.Itoa(n) + "d", true
	}
	var b strings.Builder
	for range n {
		piece, ok := m.text(re)
		if b.WriteString(piece); !ok || b.Len() > longestMade {
			return "", false
		}
	}
	return b.String(), true
}

// isDigits reports whether an expression is one character, which may be any digit.
func isDigits(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCapture:
		return isDigits(re.Sub[0])
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= '0' && re.Rune[i+1] >= '9' {
				return true
			}
		}
	}
	return false
}

// one is a character of a class: a letter or a digit where it has one.
func one(re *syntax.Regexp) (rune, bool) {
	if re.Op != syntax.OpCharClass {
		return 'a', true
	}
	in := func(r rune) bool {
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= r && r <= re.Rune[i+1] {
				return true
			}
		}
		return false
	}
	for _, r := range "aA1" {
		if in(r) {
			return r, true
		}
	}
	for r := rune('!'); r < unicode.MaxASCII; r++ {
		if r != '%' && in(r) {
			return r, true
		}
	}
	return 0, false
}
