package schema

// This file finds the values that a check allows, going by its tokens.

import (
	"slices"
	"strings"
)

// checkValues returns, for each column that the condition in the tokens from
// from up to to holds to a list of literals, that list; nil when it holds none.
func (r *tolerant) checkValues(from, to, depth int) map[string][]string {
	from, to = r.unwrapped(from, to)
	if from >= to || depth > maxDepth {
		return nil
	}
	if parts := r.splitAt(from, to, "or", "||"); len(parts) > 1 {
		joined := r.checkValues(parts[0][0], parts[0][1], depth+1)
		for _, p := range parts[1:] {
			joined = eitherValues(joined, r.checkValues(p[0], p[1], depth+1))
		}
		return joined
	}
	if parts := r.splitAt(from, to, "and", "&&"); len(parts) > 1 {
		var joined map[string][]string
		for _, p := range parts {
			joined = bothValues(joined, r.checkValues(p[0], p[1], depth+1))
		}
		return joined
	}
	return r.compared(from, to)
}

// saysJSON reports whether a condition says of a column that it holds JSON, and
// nothing else.
func (r *tolerant) saysJSON(from, to int) bool {
	from, to = r.unwrapped(from, to)
	parts := slices.DeleteFunc(r.splitAt(from, to, "or", "||"), func(part [2]int) bool {
		_, end := r.columnAt(part[0], part[1])
		return r.st.skip(end, "is", "null") == part[1] // every check lets NULL pass
	})
	if len(parts) != 1 {
		return false
	}
	from, to = r.unwrapped(parts[0][0], parts[0][1])
	if column, i := r.columnAt(from, to); column != "" && r.st.is(i, "is") && r.st.is(i+1, "json") && i+1 < to {
		return len(r.splitAt(from, to, "and", "&&")) == 1
	}
	behind := r.st.closing(from+1) + 1
	switch {
	case !r.isName(from+2) || !r.st.is(from+3, ")", ","):
		return false
	case r.st.is(from, "json_valid"):
		return behind == to && from+4 == to
	case !r.st.is(from, "isjson"):
		return false
	}
	value, _, end, ok := r.literalAt(behind+1, to)
	return ok && end == to && (r.st.is(behind, "=") && value == "1" || r.st.is(behind, ">") && value == "0")
}

// unwrapped returns the tokens inside of all the parentheses around them.
func (r *tolerant) unwrapped(from, to int) (int, int) {
	for r.wraps(from, to) {
		from, to = from+1, to-1
	}
	return from, to
}

// wraps reports whether one pair of parentheses stands around all tokens.
func (r *tolerant) wraps(from, to int) bool {
	return to-from >= 2 && r.st.is(from, "(") && r.st.closing(from) == to-1
}

// splitAt splits the tokens at a word or a doubled sign that stands outside
// parentheses. The AND of BETWEEN … AND splits nothing that could be a list.
func (r *tolerant) splitAt(from, to int, word, signs string) [][2]int {
	var parts [][2]int
	start := from
	for i := from; i < to; i++ {
		switch {
		case r.st.is(i, "("):
			i = min(r.st.closing(i), to-1)
		case r.st.is(i, word):
			parts = append(parts, [2]int{start, i})
			start = i + 1
		case r.st.is(i, signs[:1]) && r.st.is(i+1, signs[1:]) && r.st.tokens[i].end == r.st.tokens[i+1].off:
			parts = append(parts, [2]int{start, i})
			i++
			start = i + 1
		case r.st.is(i, "xor", "case"):
			return nil
		}
	}
	return append(parts, [2]int{start, to})
}

// compared reads c IN (…), c = v, v = c and c IS NULL.
func (r *tolerant) compared(from, to int) map[string][]string {
	column, i := r.columnAt(from, to)
	switch {
	case column == "":
		// v = c
		value, null, i, ok := r.literalAt(from, to)
		if !ok || !r.st.is(i, "=") {
			return nil
		}
		if column, i = r.columnAt(i+1, to); column == "" || i != to {
			return nil
		}
		return oneValue(column, value, null)
	case r.st.is(i, "="):
		value, null, i, ok := r.literalAt(i+1, to)
		if !ok || i != to {
			return nil
		}
		return oneValue(column, value, null)
	case r.st.is(i, "is") && r.st.is(i+1, "null") && i+2 == to:
		return map[string][]string{column: nil}
	case !r.st.is(i, "in") || !r.wraps(i+1, to):
		return nil
	}
	var values []string
	for _, item := range r.st.items(i+2, to-1) {
		value, null, end, ok := r.literalAt(item[0], item[1])
		if !ok || end != item[1] {
			return nil
		}
		if !null {
			values = append(values, value)
		}
	}
	return map[string][]string{column: values}
}

func oneValue(column, value string, null bool) map[string][]string {
	if null {
		return map[string][]string{column: nil}
	}
	return map[string][]string{column: {value}}
}

// columnAt returns the column that stands at token i, through parentheses and
// collations, and the token behind it; "" when none does.
func (r *tolerant) columnAt(i, to int) (column string, end int) {
	if i >= to {
		return "", i
	}
	if r.st.is(i, "(") {
		closing := r.st.closing(i)
		if closing >= to {
			return "", i
		}
		column, end = r.columnAt(i+1, closing)
		if end != closing {
			return "", i
		}
		end++
	} else {
		at := r.st.qualified(i)
		if !r.has(at, word) && !r.has(at, quoted) || r.st.is(at, "null", "true", "false", "not") || at >= to ||
			r.has(at, word) && r.introduces(at) {
			return "", i
		}
		column, end = r.nameAt(r.st, at), at+1
	}
	if r.st.is(end, "collate") && r.isName(end+1) {
		end += 2
	}
	return column, end
}

// introduces reports whether the word at i is the character set of the text
// behind it.
func (r *tolerant) introduces(i int) bool {
	return strings.HasPrefix(r.st.text(i), "_") && r.has(i+1, text)
}

// literalAt returns what the literal at token i stands for, and the token behind
// it.
func (r *tolerant) literalAt(i, to int) (value string, null bool, end int, ok bool) {
	if i >= to {
		return "", false, i, false
	}
	switch {
	case r.st.is(i, "("):
		closing := r.st.closing(i)
		value, null, end, ok = r.literalAt(i+1, min(closing, to))
		return value, null, end + 1, ok && end == closing
	case r.st.is(i, "null"):
		return "", true, i + 1, true
	case r.st.is(i, "true", "false"):
		return strings.ToLower(r.st.text(i)), false, i + 1, true
	case r.st.is(i, "-", "+") && r.has(i+1, number):
		return strings.TrimPrefix(r.st.text(i), "+") + r.st.text(i+1), false, i + 2, true
	case r.has(i, number):
		return r.st.text(i), false, i + 1, true
	case r.introduces(i):
		i++
	}
	var b strings.Builder
	for ; i < to && r.has(i, text); i++ {
		piece, plain := textValue(r.st.text(i), r.drafts.lexis.escapes)
		if !plain {
			return "", false, i, false
		}
		b.WriteString(piece)
		ok = true
	}
	return b.String(), ok && r.emptyNull && b.Len() == 0, i, ok
}

// textValue returns what a text stands for; plain is false where it is not text
// but bits.
func textValue(s string, escapes bool) (value string, plain bool) {
	if from, to, ok := alternativeText(s); ok {
		return s[from:to], true
	}
	quote := strings.IndexAny(s, `'"`)
	if quote < 0 || quote > 0 && strings.IndexByte("nN", s[0]) < 0 {
		return "", false
	}
	q := s[quote]
	s = s[quote+1:]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteString(unescape(s[i]))
		case s[i] == q:
			if i+1 >= len(s) || s[i+1] != q {
				return b.String(), true
			}
			b.WriteByte(q)
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// textBody returns where in a token that is a text the text itself stands.
func textBody(s string) (from, to int) {
	if from, to, ok := alternativeText(s); ok {
		return from, to
	}
	quote := strings.IndexAny(s, `'"`)
	if to = len(s); to > quote+1 && s[to-1] == s[quote] {
		to--
	}
	return quote + 1, to
}

// unescape returns what a character behind a backslash stands for.
func unescape(c byte) string {
	switch c {
	case '0':
		return "\x00"
	case 'b':
		return "\b"
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case 'Z':
		return "\x1a"
	case '%', '_': // stays an escape, for LIKE
		return `\` + string(c)
	}
	return string(c)
}
