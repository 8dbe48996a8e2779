package schema

// This file cuts a script into statements and comments. It knows the lexical
// rules of a database and no grammar, so that a statement which the parser
// rejects hides nothing of what follows it, and it keeps every offset.

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// A lexis says how a database's scripts are made of words.
type lexis struct {
	nestedComments bool // /* /* */ */ is one comment
	hashComments   bool // # starts a comment
	spacedDashes   bool // -- starts a comment only in front of a blank
	// runs tells which comments /*! … */ are part of the statement; tag is what
	// stands between "/*" and the text: "!", "!50100", "M!", "T![feature]".
	runs func(tag string) bool

	dollarQuotes  bool   // $tag$ … $tag$ and the prefixes E'' and U&"" exist
	doubleStrings bool   // "text" is a string
	escapes       bool   // a backslash in a string takes the next character along
	prefixes      string // letters in front of a string that belong to it: x'00'
	backticks     bool   // `name` is a name
	brackets      bool   // [name] is a name
	doubled       bool   // [a]]b] is the name a]b
	looseNames    bool   // names may start with a digit or a dollar sign
	sigils        bool   // names may start with @ and #, and hold both

	backslash      bool // \word is a command of the client, up to the end of its line
	dotCommands    bool // .word at the start of a line is a command of the client
	delimiters     bool // DELIMITER at the start of a line says what ends a statement
	batches        bool // GO on a line of its own ends a statement
	unmarked       bool // no sign ends a statement; see cutBatch
	colonCommands  bool // :word at the start of a line is a command of the client
	plsql          bool // PL/SQL: q'[text]', 1..n, blocks; "/" on a line of its own ends a statement
	sqlplus        bool // SQL*Plus: commands of the client, variables, definitions without an end
	routineBodies  bool // CREATE FUNCTION … BEGIN ATOMIC …; … END
	triggerBodies  bool // CREATE TRIGGER … BEGIN …; … END
	compoundBodies bool // CREATE TRIGGER … BEGIN IF … END IF; … END, and other routines
}

type kind uint8

const (
	word   kind = iota // an unquoted name or a keyword
	quoted             // a quoted name
	text               // a string, dollar quotes included
	number
	sign // one character of anything else; "::" and what DELIMITER names are one token
)

// A token is a stretch of the file that is neither blank nor comment.
type token struct {
	kind     kind
	off, end int
}

// A remark is a comment with its place among the tokens.
type remark struct {
	off, end         int  // with its marks
	textOff, textEnd int  // without them
	next             int  // the token that follows, an index into script.tokens
	above            bool // on lines of its own, with no blank line up to that token
}

// A statement is a run of tokens up to a semicolon.
type statement struct {
	script *script
	tokens []token
	first  int // index of tokens[0] in script.tokens
	end    int // offset behind the semicolon, or behind the last token
	// guarded: it stands under an IF, and so may say again what is there already.
	guarded bool
	// subject is the statement that an IF is about, nil for others.
	subject *statement
	// closed: a semicolon outside every block, or the end of the batch, stands behind.
	closed bool
}

// A script is one file cut up.
type script struct {
	file       *source.File
	src        string  // the file's text
	tokens     []token // of all statements, semicolons included
	remarks    []remark
	statements []*statement
	blanks     [][2]int // client commands, data, and comments that a server runs
	unclosed   bool     // the last token is a text or a quoted name without end
}

type scanner struct {
	lexis
	script
	pos       int
	first     int // first token of the statement being read
	depth     int // BEGIN and CASE still open in a routine's body
	parens    int // parentheses still open in the statement
	inner     int // index of the first semicolon inside a body, 0 when none
	flat      bool
	running   int          // comments /*! … */ still open
	ends      []terminator // what DELIMITER said, in order
	downSince int          // where a migration's way back began, -1 outside
	downs     [][2]int
}

// A terminator ends the statements behind an offset.
type terminator struct {
	off  int
	text string
}

// scan cuts a file up. It never fails: whatever stands open at the end of the
// file ends there.
func scan(file *source.File, lex lexis) *script {
	src := string(file.Data)
	return scanRange(file, src, len(src)-len(strings.TrimPrefix(src, byteOrderMark)), lex)
}

const byteOrderMark = "\ufeff"

// scanRange cuts up a part of a file: src is its text up to the end of the
// part, which starts at off.
func scanRange(file *source.File, src string, off int, lex lexis) *script {
	s := &scanner{lexis: lex, script: script{file: file, src: src}, pos: off, downSince: -1}
	for {
		for s.pos < len(s.src) {
			s.step()
		}
		if s.inner == 0 || (s.routineBodies || s.compoundBodies) && s.depth == 0 && s.parens == 0 {
			break
		}
		// A body was never closed. Read again from its first semicolon, and from
		// here on let every semicolon end a statement.
		s.flat = true
		s.rewind(s.inner)
	}
	s.endStatement(len(s.src))
	if s.downSince >= 0 {
		s.downs = append(s.downs, [2]int{s.downSince, len(s.src)})
	}
	for i := range s.remarks {
		s.remarks[i].next, _ = slices.BinarySearchFunc(s.tokens, s.remarks[i].off,
			func(t token, off int) int { return cmp.Compare(t.off, off) })
	}
	result := s.script
	result.findAbove()
	result.dropDowns(s.downs)
	for _, st := range result.statements {
		st.script = &result
	}
	return &result
}

// dropDowns forgets the parts of a migration that undo it.
func (s *script) dropDowns(downs [][2]int) {
	for _, d := range downs {
		inside := func(off int) bool { return d[0] <= off && off < d[1] }
		s.statements = slices.DeleteFunc(s.statements, func(st *statement) bool { return inside(st.tokens[0].off) })
		s.remarks = slices.DeleteFunc(s.remarks, func(r remark) bool { return inside(r.off) })
	}
}

// rewind makes the semicolon at token i the end of the statement.
func (s *scanner) rewind(i int) {
	s.pos = s.tokens[i].end
	s.tokens = s.tokens[:i+1]
	s.remarks = slices.DeleteFunc(s.remarks, func(r remark) bool { return r.off >= s.pos })
	s.blanks = slices.DeleteFunc(s.blanks, func(b [2]int) bool { return b[0] >= s.pos })
	s.downs = slices.DeleteFunc(s.downs, func(d [2]int) bool { return d[0] >= s.pos })
	if s.downSince >= s.pos {
		s.downSince = -1
	}
	s.ends = slices.DeleteFunc(s.ends, func(t terminator) bool { return t.off >= s.pos })
	s.running = 0
	for _, b := range s.blanks {
		switch mark := s.src[b[0]:b[1]]; {
		case strings.HasPrefix(mark, "/*") && !strings.HasSuffix(mark, "*/"):
			s.running++
		case mark == "*/":
			s.running--
		}
	}
	s.unclosed = false
	s.endStatement(s.pos)
}

// terminator returns what ends a statement here.
func (s *scanner) terminator() string {
	if len(s.ends) == 0 {
		return ";"
	}
	return s.ends[len(s.ends)-1].text
}

func (s *scanner) peek(n int) byte {
	if s.pos+n < len(s.src) {
		return s.src[s.pos+n]
	}
	return 0
}

// step reads one token, comment, blank or client command.
func (s *scanner) step() {
	c := s.src[s.pos]
	switch {
	case c == ' ' || '\t' <= c && c <= '\r':
		s.pos++
	case s.terminator() != ";" && strings.HasPrefix(s.src[s.pos:], s.terminator()):
		s.add(sign, s.pos+len(s.terminator()))
		s.endStatement(s.pos)
	case c == '-' && s.peek(1) == '-' && (!s.spacedDashes || s.peek(2) <= ' '):
		s.lineRemark(2)
	case c == '#' && s.hashComments:
		s.lineRemark(1)
	case c == '/' && s.peek(1) == '*':
		s.blockRemark()
	case c == '*' && s.peek(1) == '/' && s.running > 0:
		s.running--
		s.blank(s.pos + 2)
	case s.delimiters && c|0x20 == 'd' && s.delimiterCommand():
	case s.batches && c|0x20 == 'g' && s.batchEnd():
	case c == '\\' && s.backslash:
		s.clientCommand()
	case s.plsql && s.plsqlSign(c):
	case s.sqlplus && s.plusLine(c):
	case c == ':' && s.colonCommands && s.atLineStart() && isWordStart(s.peek(1)):
		s.blank(s.lineEnd())
	case c == '.' && s.dotCommands && s.first == len(s.tokens) && s.atLineStart():
		s.blank(s.lineEnd())
	case c == '\'', c == '"' && s.doubleStrings:
		s.until(text, s.pos, c, s.escapes)
	case c == '"':
		s.until(quoted, s.pos, '"', false)
	case c == '`' && s.backticks:
		s.until(quoted, s.pos, '`', false)
	case c == '[' && s.brackets && s.doubled:
		s.until(quoted, s.pos, ']', false)
	case c == '[' && s.brackets:
		end := len(s.src)
		if i := strings.IndexByte(s.src[s.pos:], ']'); i >= 0 {
			end = s.pos + i + 1
		}
		s.add(quoted, end)
	case c == '$' && s.dollarQuotes && s.dollarQuote():
	case s.beginsWord(c), c == '$' && s.looseNames:
		s.word()
	case isDigit(c), c == '.' && isDigit(s.peek(1)) && (!s.looseNames || !s.behindName()):
		s.number()
	case c == ';' && s.terminator() == ";":
		s.semicolon()
	case c == ':' && s.peek(1) == ':':
		s.add(sign, s.pos+2)
	default:
		switch c {
		case '(':
			s.parens++
		case ')':
			s.parens--
		}
		s.add(sign, s.pos+1)
	}
}

func (s *scanner) add(k kind, end int) {
	s.tokens = append(s.tokens, token{k, s.pos, end})
	s.pos = end
}

// until reads a quoted token that starts at off; the opening quote is at pos.
// A doubled quote stands for itself.
func (s *scanner) until(k kind, off int, quote byte, escapes bool) {
	i := s.pos + 1
	for i < len(s.src) {
		switch {
		case escapes && s.src[i] == '\\':
			i++
		case s.src[i] == quote:
			if i+1 >= len(s.src) || s.src[i+1] != quote {
				s.pos = off
				s.add(k, i+1)
				return
			}
			i++
		}
		i++
	}
	s.pos = off
	s.unclosed = true
	s.add(k, len(s.src))
}

// dollarQuote reads $tag$ … $tag$ if one starts here.
func (s *scanner) dollarQuote() bool {
	i := s.pos + 1
	for i < len(s.src) && (isWordStart(s.src[i]) || i > s.pos+1 && isDigit(s.src[i])) {
		i++
	}
	if i >= len(s.src) || s.src[i] != '$' {
		return false
	}
	tag := s.src[s.pos : i+1]
	end := len(s.src)
	if j := strings.Index(s.src[i+1:], tag); j >= 0 {
		end = i + 1 + j + len(tag)
	}
	s.add(text, end)
	return true
}

func (s *scanner) word() {
	off := s.pos
	if s.plsql && s.alternativeQuote() {
		return
	}
	if s.dollarQuotes {
		switch c, next := s.src[off]|0x20, s.peek(1); {
		case next == '\'' && strings.IndexByte("ebxn", c) >= 0:
			s.pos++
			s.until(text, off, '\'', c == 'e')
			return
		case next == '&' && c == 'u' && (s.peek(2) == '\'' || s.peek(2) == '"'):
			k := text
			if s.peek(2) == '"' {
				k = quoted
			}
			s.pos += 2
			s.until(k, off, s.src[s.pos], false)
			return
		}
	} else if s.peek(1) == '\'' && strings.IndexByte(s.prefixes, s.src[off]|0x20) >= 0 {
		s.pos++
		s.until(text, off, '\'', s.escapes)
		return
	}
	i := off + 1
	for i < len(s.src) && (s.beginsWord(s.src[i]) || isDigit(s.src[i]) || s.src[i] == '$' || s.src[i] == '#' && s.plsql) {
		i++
	}
	if s.sqlplus {
		i = s.nameEnd(i)
	}
	s.add(word, i)
	if s.routineBodies || s.compoundBodies && s.terminator() == ";" {
		s.countBody()
	}
}

// countBody keeps count of what stands open in the body of a routine, the way
// psql does.
func (s *scanner) countBody() {
	tokens := s.tokens[s.first:]
	last := s.textOf(tokens[len(tokens)-1])
	switch {
	case len(last) > 6:
	case s.compoundBodies && len(tokens) > 1 && strings.EqualFold(s.textOf(tokens[len(tokens)-2]), "end"):
		// END CASE has closed a CASE; of IF, LOOP and the like only the END was
		// seen, which closed too much.
		switch strings.ToLower(last) {
		case "if", "loop", "while", "repeat", "for":
			s.depth++
		}
	case strings.EqualFold(last, "begin"), s.depth > 0 && strings.EqualFold(last, "case"),
		s.compoundBodies && len(tokens) == 3 && strings.EqualFold(last, "atomic"):
		if s.startsRoutine(tokens) {
			s.depth++
		}
	case s.depth > 0 && strings.EqualFold(last, "end"):
		s.depth--
	}
}

func (s *script) textOf(t token) string { return s.src[t.off:t.end] }

// leads reports whether tokens start with words, of which those marked "?" may
// be missing; "a|b" stands for either.
func (s *scanner) leads(tokens []token, words ...string) bool {
	i := 0
	for _, w := range words {
		w, optional := strings.CutPrefix(w, "?")
		matched := false
		if i < len(tokens) && tokens[i].kind == word {
			for alternative := range strings.SplitSeq(w, "|") {
				matched = matched || strings.EqualFold(s.textOf(tokens[i]), alternative)
			}
		}
		if matched {
			i++
		} else if !optional {
			return false
		}
	}
	return true
}

func (s *scanner) startsRoutine(tokens []token) bool {
	if !s.compoundBodies {
		return s.leads(tokens, "create", "?or", "?replace", "function|procedure")
	}
	if s.leads(tokens, "begin", "not", "atomic") {
		return true // a block by itself
	}
	if !s.leads(tokens, "create") {
		return false
	}
	for _, t := range tokens[1:min(len(tokens), maxHead)] {
		switch {
		case t.kind != word:
		case s.leads([]token{t}, "trigger|procedure|function|event|package"):
			return true
		case s.leads([]token{t}, "table|view|index|database|schema|user|role"):
			return false
		}
	}
	return false
}

// maxHead is how many tokens may stand in front of the word that tells what
// CREATE creates: CREATE OR REPLACE ALGORITHM = MERGE DEFINER = name @ host SQL
// SECURITY DEFINER VIEW.
const maxHead = 16

func (s *scanner) number() {
	i := s.pos
	for i < len(s.src) {
		c := s.src[i]
		exponentSign := (c == '+' || c == '-') && i > s.pos && s.src[i-1]|0x20 == 'e' && s.src[s.pos+1]|0x20 != 'x'
		if !isDigit(c) && !isWordStart(c) && c != '.' && !exponentSign || s.plsql && strings.HasPrefix(s.src[i:], "..") {
			break
		}
		i++
	}
	if s.looseNames {
		// Behind the dot that follows a name, digits are a name, too.
		if n := len(s.tokens); n > 0 && s.textOf(s.tokens[n-1]) == "." && s.tokens[n-1].end == s.pos {
			if dot := strings.IndexByte(s.src[s.pos:i], '.'); dot > 0 {
				i = s.pos + dot
			}
			s.add(word, i)
			return
		}
		if !isNumber(s.src[s.pos:i]) {
			s.add(word, i)
			return
		}
	}
	s.add(number, i)
}

// isNumber tells a number from a name that starts with a digit.
func isNumber(s string) bool {
	switch {
	case len(s) > 2 && s[:2] == "0x":
		return strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
	case len(s) > 2 && s[:2] == "0b":
		return strings.Trim(s[2:], "01") == ""
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// behindName reports whether a name ends right here.
func (s *scanner) behindName() bool {
	if len(s.tokens) == 0 {
		return false
	}
	last := s.tokens[len(s.tokens)-1]
	return last.end == s.pos && (last.kind == word || last.kind == quoted)
}

func (s *scanner) semicolon() {
	if s.unmarked || s.plsql && s.startsBlock() {
		s.add(sign, s.pos+1)
		return
	}
	tokens := s.tokens[s.first:]
	open := false
	switch {
	case s.flat:
	case s.routineBodies, s.compoundBodies:
		open = s.depth > 0 || s.leads(tokens, "create", "?or", "?replace", "rule") && s.parens > 0
	case s.triggerBodies && s.leads(tokens, "create", "?temp|temporary", "trigger"):
		n := len(tokens)
		open = n < 2 || !strings.EqualFold(s.textOf(tokens[n-1]), "end") || s.textOf(tokens[n-2]) != ";"
	}
	if open && s.inner == 0 {
		s.inner = len(s.tokens)
	}
	s.add(sign, s.pos+1)
	if open {
		return
	}
	copies := s.readsData(tokens)
	s.endStatement(s.pos)
	if copies {
		s.copyData()
	}
}

// endStatement closes the statement whose last token has been read.
func (s *scanner) endStatement(end int) {
	if s.unmarked {
		s.cutBatch()
		return
	}
	tokens := s.tokens[s.first:]
	if n := len(tokens); n > 0 && s.textOf(tokens[n-1]) == s.terminator() {
		tokens = tokens[:n-1]
	} else if n > 0 {
		end = tokens[n-1].end
	}
	if len(tokens) > 0 {
		s.statements = append(s.statements, &statement{tokens: tokens, first: s.first, end: end})
	}
	s.first = len(s.tokens)
	s.depth, s.parens, s.inner = 0, 0, 0
}

// beginsWord reports whether a name may start with c.
func (s *scanner) beginsWord(c byte) bool {
	return isWordStart(c) || s.sigils && (c == '@' || c == '#')
}

func isWordStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
