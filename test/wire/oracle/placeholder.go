package oracle

import (
	"slices"
	"strings"
)

// statement is what a server sees in a text before it understands it.
type statement struct {
	verb  string   // its first word, in upper case
	block bool     // it is PL/SQL
	names []string // of its placeholders, in the order in which they are bound
	last  byte     // its last character that means something
}

// scan reads a text: it passes over comments, literals and names in quotes, and
// collects the placeholders. SQL has one wherever one stands, PL/SQL one for each
// name.
func scan(text string) statement {
	var s statement
	for text != "" {
		n := skip(text)
		if n > 0 {
			if text[0] != '-' && text[0] != '/' && !isSpace(text[0]) {
				s.last = text[0]
			}
			text = text[n:]
			continue
		}
		s.last = text[0]
		word := wordAt(text)
		switch {
		case word != "" && s.verb == "":
			s.verb = strings.ToUpper(word)
			s.block = s.verb == "BEGIN" || s.verb == "DECLARE"
		case word == "" && text[0] == ':':
			if word = wordAt(text[1:]); word != "" {
				name := strings.ToUpper(word)
				if !s.block || !slices.Contains(s.names, name) {
					s.names = append(s.names, name)
				}
				word = ":" + word
			}
		}
		n = max(1, len(word))
		s.last = text[n-1]
		text = text[n:]
	}
	return s
}

func isSpace(c byte) bool { return strings.IndexByte(" \t\r\n\f", c) >= 0 }

// wordAt returns the word that a text begins with: a name, a keyword or a number.
func wordAt(text string) string {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n] == '$' || text[n] == '#' || text[n] >= 0x80 ||
		'0' <= text[n] && text[n] <= '9' || 'a' <= text[n]|0x20 && text[n]|0x20 <= 'z') {
		n++
	}
	return text[:n]
}

// skip returns how much of a text means nothing at its beginning: a space, a
// comment, a literal, a name in quotes.
func skip(text string) int {
	through := func(from int, end string) int {
		if i := strings.Index(text[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	switch {
	case isSpace(text[0]):
		return 1
	case strings.HasPrefix(text, "--"):
		return through(2, "\n")
	case strings.HasPrefix(text, "/*"):
		return through(2, "*/")
	case text[0] == '\'' || text[0] == '"':
		return through(1, text[:1])
	case len(text) > 2 && text[0]|0x20 == 'q' && text[1] == '\'':
		end := string(text[2])
		if i := strings.IndexByte("[{(<", text[2]); i >= 0 {
			end = "]})>"[i : i+1]
		}
		return through(3, end+"'")
	}
	return 0
}
