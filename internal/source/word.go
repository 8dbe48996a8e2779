package source

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions reports whether a name stands in a text as a whole word, in any case.
func Mentions(text, name string) bool {
	text, name = strings.ToLower(text), strings.ToLower(name)
	part := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if !part(before) && !part(after) {
			return true
		}
		at += len(name)
	}
}
