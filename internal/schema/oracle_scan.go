package schema

// This file knows how scripts of Oracle are made: PL/SQL, and what in a script is
// meant for SQL*Plus, SQLcl and SQL Developer.

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// startsBlock reports whether the statement that is being read is PL/SQL, in which
// semicolons end nothing: it goes on to a "/" or, should that be missing, to the
// next definition.
func (s *scanner) startsBlock() bool {
	tokens := s.tokens[s.first:]
	switch {
	case len(tokens) == 0:
		return false
	case s.textOf(tokens[0]) == "<": // <<label>>
		return true
	case s.leads(tokens, "begin|declare"):
		return true
	case !s.leads(tokens, "create"):
		return false
	}
	return s.leads(tokens, "create", "?or", "?replace", "?editionable|noneditionable", "function|procedure|package|trigger") ||
		s.leads(tokens, "create", "?or", "?replace", "?and", "?compile|resolve", "?noforce", "java") ||
		s.leads(tokens, "create", "?or", "?replace", "?editionable|noneditionable", "type", "body")
}

// alternativeQuote reads q'[text]' if one starts here.
func (s *scanner) alternativeQuote() bool {
	i := s.pos
	if s.src[i]|0x20 == 'n' {
		i++
	}
	if i+2 >= len(s.src) || s.src[i]|0x20 != 'q' || s.src[i+1] != '\'' {
		return false
	}
	end, closed := alternativeEnd(s.src[i+2:])
	s.unclosed = !closed
	s.add(text, i+2+end)
	return true
}

// alternativeEnd returns where a text ends that starts with the delimiter behind
// q'.
func alternativeEnd(s string) (end int, closed bool) {
	delimiter, size := utf8.DecodeRuneInString(s)
	closing := s[:size]
	if i := strings.IndexRune("[{(<", delimiter); i >= 0 {
		closing = "]})>"[i : i+1]
	}
	if i := strings.Index(s[size:], closing+"'"); i >= 0 {
		return size + i + len(closing) + 1, true
	}
	return len(s), false
}

// alternativeText returns where in a token the text between the delimiters of
// q'[text]' stands; ok is false where the token is not made like that.
func alternativeText(s string) (from, to int, ok bool) {
	if len(s) > 0 && s[0]|0x20 == 'n' {
		from++
	}
	if len(s) < from+3 || s[from]|0x20 != 'q' || s[from+1] != '\'' {
		return 0, 0, false
	}
	from += 2
	to, closed := alternativeEnd(s[from:])
	_, size := utf8.DecodeRuneInString(s[from:])
	if closed {
		to -= 1 + size
	}
	return from + size, from + to, true
}

// plsqlSign reads the dots of a range, and a sign on a line of its own: a slash
// runs the statement before it, a dot only ends it.
func (s *scanner) plsqlSign(c byte) bool {
	if c == '.' && s.peek(1) == '.' {
		s.add(sign, s.pos+1)
		s.add(sign, s.pos+1)
		return true
	}
	if c != '/' && c != '.' || !s.beginsLine() || strings.Trim(s.src[s.pos+1:s.lineEnd()], " \t\r") != "" {
		return false
	}
	s.endStatement(s.pos)
	s.blank(s.pos + 1)
	return true
}

// plusLine reads a command of the client, or a variable, and ends a statement
// behind which a line begins a definition.
func (s *scanner) plusLine(c byte) bool {
	if end := s.variableEnd(s.pos); end > s.pos {
		s.add(word, s.nameEnd(end))
		return true
	}
	switch {
	case s.first == len(s.tokens):
		return s.plusCommand(c)
	case s.parens == 0 && strings.IndexByte("cadirp", c|0x20) >= 0 && s.beginsLine() && s.beginsNext():
		s.endStatement(s.pos)
		return s.plusCommand(c)
	}
	return false
}

// nameEnd returns where the name ends that goes on at i.
func (s *scanner) nameEnd(i int) int {
	for i < len(s.src) {
		end := s.variableEnd(i)
		switch c := s.src[i]; {
		case end > i:
			i = end
		case isWordStart(c), isDigit(c), c == '$', c == '#':
			i++
		default:
			return i
		}
	}
	return i
}

// variableEnd returns where a variable of the client ends that starts at i:
// &name, &&name, either with a dot behind it, or ${name}; i where none does.
func (s *scanner) variableEnd(i int) int {
	rest := s.src[i:]
	if strings.HasPrefix(rest, "${") {
		end := strings.IndexAny(rest[:min(len(rest), maxVariable)], "}\n")
		if end < 0 || rest[end] == '\n' {
			return i
		}
		return i + end + 1
	}
	n := len(rest) - len(strings.TrimLeft(rest, "&"))
	if n == 0 || n > 2 || n == len(rest) || !isWordStart(rest[n]) && !isDigit(rest[n]) {
		return i
	}
	for n < len(rest) && (isWordStart(rest[n]) || isDigit(rest[n])) {
		n++
	}
	if n < len(rest) && rest[n] == '.' {
		n++
	}
	return i + n
}

const maxVariable = 200 // bytes of ${name}

// isVariable reports whether a name holds a variable of the client.
func isVariable(name string) bool {
	return strings.Contains(name, "&") || strings.Contains(name, "${")
}

// plusCommands are the commands of the client, of which the letters in upper case
// must be written.
var plusCommands = []string{
	"ACCept", "ARCHIVE", "BREak", "BTItle", "CD", "CLear", "COLumn", "COMPute", "CONNect", "COPY", "DEFine", "DEScribe",
	"DISConnect", "EDit", "EXECute", "EXIT", "GET", "HOst", "LIST", "PASSWord", "PAUse", "PRInt", "PROmpt", "QUIT",
	"REMark", "REPFooter", "REPHeader", "RUN", "SAVE", "SCRIPT", "SET", "SHOw", "SHUTDOWN", "SPOol", "STArt", "STARTUP",
	"STORE", "TIMIng", "TTItle", "UNDEFine", "VARiable", "WHENEVER", "XQUERY",
}

// plusCommand reads a command of the client, which goes to the end of its line, or
// of the next where a dash stands there. A remark is a comment like any other.
func (s *scanner) plusCommand(c byte) bool {
	if c != '@' && c != '!' && !isWordStart(c) || !s.beginsLine() {
		return false
	}
	line := s.src[s.pos:s.lineEnd()]
	name := line
	if i := strings.IndexFunc(line, func(r rune) bool { return r > 0x7f || !isWordStart(byte(r)) && !isDigit(byte(r)) }); i >= 0 {
		name = line[:i]
	}
	command := c == '@' || c == '!' || slices.ContainsFunc(plusCommands, func(full string) bool {
		least := strings.IndexFunc(full+"a", func(r rune) bool { return 'a' <= r && r <= 'z' })
		return least <= len(name) && len(name) <= len(full) && strings.EqualFold(full[:len(name)], name)
	})
	behind := strings.Fields(line[len(name):])
	switch {
	case !command:
		return false
	case strings.EqualFold(name, "set") && len(behind) > 0 && slicesContainsFold([]string{"transaction", "role", "constraint", "constraints"}, behind[0]):
		return false
	case len(name) >= 3 && len(name) <= len("remark") && strings.EqualFold("remark"[:len(name)], name):
		s.lineRemark(len(name))
		return true
	}
	end := s.lineEnd()
	for strings.HasSuffix(strings.TrimRight(s.src[s.pos:end], " \t\r"), "-") && end < len(s.src) {
		next := strings.IndexByte(s.src[end+1:], '\n')
		if next < 0 {
			next = len(s.src) - end - 1
		}
		end += 1 + next
	}
	s.blank(end)
	return true
}

// definitions are the words that stand behind CREATE, ALTER, DROP and COMMENT in
// a definition.
var definitions = []string{
	"or", "table", "unique", "bitmap", "multivalue", "index", "global", "private", "sharded", "immutable", "blockchain",
	"view", "force", "materialized", "sequence", "trigger", "function", "procedure", "package", "type", "synonym", "public",
	"editionable", "noneditionable", "editioning", "user", "role", "tablespace", "directory", "domain", "usecase", "cluster",
	"context", "session", "on",
}

// beginsNext reports whether the line at pos begins a definition, or data, and what
// is being read is a definition that nothing has ended, as DBMS_METADATA and SQL
// Developer write it. Nothing that PL/SQL says begins like a definition.
func (s *scanner) beginsNext() bool {
	if !s.leads(s.tokens[s.first:], "create|alter|drop|comment|begin|declare") {
		return false
	}
	words := strings.Fields(s.src[s.pos:s.lineEnd()])
	switch strings.ToLower(words[0]) {
	case "rem", "remark", "prompt":
		return !s.startsBlock()
	case "insert":
		return len(words) > 1 && strings.EqualFold(words[1], "into") && !s.startsBlock()
	}
	if len(words) < 3 || !slicesContainsFold(definitions, words[1]) {
		return false
	}
	name := words[2][0] == '"' || isWordStart(words[2][0]) || isVariable(words[2])
	switch strings.ToLower(words[0]) {
	case "create":
		return name && !strings.EqualFold(words[1], "on")
	case "alter", "drop":
		return name && !slicesContainsFold([]string{"on", "or"}, words[1])
	case "comment":
		return strings.EqualFold(words[1], "on") && slicesContainsFold([]string{"table", "column", "materialized"}, words[2])
	}
	return false
}
