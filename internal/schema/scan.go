package schema

// This file cuts a script into statements and comments. It knows the lexical
// rules of a database and no grammar, so that a statement which the parser
// rejects hides nothing of what follows it, and it keeps every offset.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// A lexis says how a database's scripts are made of words.
type lexis struct {
	nestedComments bool // /* /* */ */ is one comment
	dollarQuotes   bool // $tag$ … $tag$ and the prefixes E'' and U&"" exist
	bracketNames   bool // [name] and `name` are names
	backslash      bool // \word is a command of the client, up to the end of its line
	dotCommands    bool // .word at the start of a line is a command of the client
	routineBodies  bool // CREATE FUNCTION … BEGIN ATOMIC …; … END
	triggerBodies  bool // CREATE TRIGGER … BEGIN …; … END
}

type kind uint8

const (
	word   kind = iota // an unquoted name or a keyword
	quoted             // a quoted name
	text               // a string, dollar quotes included
	number
	sign // one character of anything else; "::" is one token
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
}

// A script is one file cut up.
type script struct {
	file       *source.File
	src        string  // the file's text
	tokens     []token // of all statements, semicolons included
	remarks    []remark
	statements []*statement
	blanks     [][2]int // client commands and data, which parsers must not see
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
	downSince int // where a migration's way back began, -1 outside
	downs     [][2]int
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
		if s.inner == 0 {
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
	s.endStatement(s.pos)
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
	case c == '-' && s.peek(1) == '-':
		s.lineRemark()
	case c == '/' && s.peek(1) == '*':
		s.blockRemark()
	case c == '\\' && s.backslash:
		s.clientCommand()
	case c == '.' && s.dotCommands && s.first == len(s.tokens) && s.atLineStart():
		s.blank(s.lineEnd())
	case c == '\'':
		s.until(text, s.pos, '\'', false)
	case c == '"':
		s.until(quoted, s.pos, '"', false)
	case c == '`' && s.bracketNames:
		s.until(quoted, s.pos, '`', false)
	case c == '[' && s.bracketNames:
		end := len(s.src)
		if i := strings.IndexByte(s.src[s.pos:], ']'); i >= 0 {
			end = s.pos + i + 1
		}
		s.add(quoted, end)
	case c == '$' && s.dollarQuotes && s.dollarQuote():
	case isWordStart(c):
		s.word()
	case '0' <= c && c <= '9' || c == '.' && isDigit(s.peek(1)):
		s.number()
	case c == ';':
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
	} else if s.src[off]|0x20 == 'x' && s.peek(1) == '\'' {
		s.pos++
		s.until(text, off, '\'', false)
		return
	}
	i := off + 1
	for i < len(s.src) && (isWordStart(s.src[i]) || isDigit(s.src[i]) || s.src[i] == '$') {
		i++
	}
	s.add(word, i)
	if s.routineBodies {
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
	case strings.EqualFold(last, "begin"), s.depth > 0 && strings.EqualFold(last, "case"):
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
	return s.leads(tokens, "create", "?or", "?replace", "function|procedure")
}

func (s *scanner) number() {
	i := s.pos
	for i < len(s.src) {
		c := s.src[i]
		exponentSign := (c == '+' || c == '-') && i > s.pos && s.src[i-1]|0x20 == 'e' && s.src[s.pos+1]|0x20 != 'x'
		if !isDigit(c) && !isWordStart(c) && c != '.' && !exponentSign {
			break
		}
		i++
	}
	s.add(number, i)
}

func (s *scanner) semicolon() {
	tokens := s.tokens[s.first:]
	open := false
	switch {
	case s.flat:
	case s.routineBodies:
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
	tokens := s.tokens[s.first:]
	if n := len(tokens); n > 0 && s.textOf(tokens[n-1]) == ";" {
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

// readsData reports whether the lines behind the statement are data.
func (s *scanner) readsData(tokens []token) bool {
	return s.backslash && s.leads(tokens, "copy") && s.fromStdin(tokens)
}

func (s *scanner) fromStdin(tokens []token) bool {
	for i := range tokens {
		if s.leads(tokens[i:], "from", "stdin") {
			return true
		}
	}
	return false
}

// copyData skips the data of COPY … FROM stdin up to the line \. that ends it.
func (s *scanner) copyData() {
	i := s.lineEnd()
	for i < len(s.src) {
		line := s.src[i+1:]
		if j := strings.IndexByte(line, '\n'); j >= 0 {
			line = line[:j]
		}
		i += 1 + len(line)
		if strings.TrimRight(line, "\r") == `\.` {
			break
		}
	}
	s.blank(min(i, len(s.src)))
}

// clientCommand skips a command of psql. Some of them send what stands before
// them and so end a statement.
func (s *scanner) clientCommand() {
	end := s.lineEnd()
	command := s.src[s.pos+1 : end]
	name := command
	if i := strings.IndexAny(command, " \t\r"); i >= 0 {
		name = command[:i]
	}
	switch {
	case strings.HasPrefix(command, ";"):
		s.blanks = append(s.blanks, [2]int{s.pos, s.pos + 2})
		s.pos += 2
		s.endStatement(s.pos)
		return
	case strings.HasPrefix(name, "g"), name == "watch", name == "crosstabview":
		s.endStatement(s.pos)
	}
	s.blank(end)
	if name == "copy" {
		sub := &scanner{script: script{src: command}}
		for sub.pos < len(sub.src) {
			sub.step()
		}
		if sub.fromStdin(sub.tokens) {
			s.copyData()
		}
	}
}

func (s *scanner) blank(end int) {
	s.blanks = append(s.blanks, [2]int{s.pos, end})
	s.pos = end
}

// lineEnd returns the offset of the line break at or after pos.
func (s *scanner) lineEnd() int {
	if i := strings.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
		return s.pos + i
	}
	return len(s.src)
}

func (s *scanner) atLineStart() bool { return s.pos == 0 || s.src[s.pos-1] == '\n' }

func (s *scanner) lineRemark() {
	end := s.lineEnd()
	textEnd := end
	if textEnd > s.pos && s.src[textEnd-1] == '\r' {
		textEnd--
	}
	r := remark{off: s.pos, end: textEnd, textOff: s.pos + 2, textEnd: textEnd}
	s.pos = end
	switch direction(s.src[r.textOff:r.textEnd]) {
	case down:
		s.endStatement(r.off)
		if s.downSince < 0 {
			s.downSince = r.off
		}
	case up:
		s.endStatement(r.off)
		if s.downSince >= 0 {
			s.downs = append(s.downs, [2]int{s.downSince, r.off})
			s.downSince = -1
		}
	}
	s.remarks = append(s.remarks, r)
}

const (
	up   = "up"
	down = "down"
)

// direction tells which way of a migration the comment opens, "" when it opens
// none: the marks of goose, sql-migrate, dbmate and tern.
func direction(comment string) string {
	words := strings.Fields(strings.ToLower(comment))
	switch {
	case len(words) >= 2 && (words[0] == "+goose" || words[0] == "+migrate") && (words[1] == up || words[1] == down):
		return words[1]
	case len(words) >= 1 && words[0] == "migrate:up":
		return up
	case len(words) >= 1 && words[0] == "migrate:down":
		return down
	case strings.Trim(strings.Join(words, " "), "- ") == "create above / drop below":
		return down
	}
	return ""
}

func (s *scanner) blockRemark() {
	r := remark{off: s.pos, textOff: s.pos + 2}
	depth := 1
	i := s.pos + 2
	for i < len(s.src) && depth > 0 {
		switch {
		case strings.HasPrefix(s.src[i:], "*/"):
			depth--
			i += 2
		case s.nestedComments && strings.HasPrefix(s.src[i:], "/*"):
			depth++
			i += 2
		default:
			i++
		}
	}
	r.end, r.textEnd = i, i
	if depth == 0 {
		r.textEnd -= 2
	}
	s.pos = i
	s.remarks = append(s.remarks, r)
}

func isWordStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// sql returns the statement as a parser should see it, as long as the original:
// comments, which some parsers trip over, and what is meant for a client only
// are blank.
func (st *statement) sql() string {
	s := st.script
	off, end := st.tokens[0].off, st.tokens[len(st.tokens)-1].end
	sql := []byte(s.src[off:end])
	blank := func(from, to int) {
		for i := max(from, off); i < min(to, end); i++ {
			if sql[i-off] != '\n' {
				sql[i-off] = ' '
			}
		}
	}
	i, _ := slices.BinarySearchFunc(s.remarks, off, func(r remark, off int) int { return cmp.Compare(r.off, off) })
	for ; i < len(s.remarks) && s.remarks[i].off < end; i++ {
		blank(s.remarks[i].off, s.remarks[i].end)
	}
	i, _ = slices.BinarySearchFunc(s.blanks, off, func(b [2]int, off int) int { return cmp.Compare(b[0], off) })
	for ; i < len(s.blanks) && s.blanks[i][0] < end; i++ {
		blank(s.blanks[i][0], s.blanks[i][1])
	}
	return string(sql)
}

// off returns where the statement starts.
func (st *statement) off() int { return st.tokens[0].off }

// text returns a token as written, "" behind the last one.
func (st *statement) text(i int) string {
	if i < 0 || i >= len(st.tokens) {
		return ""
	}
	return st.script.src[st.tokens[i].off:st.tokens[i].end]
}

// is reports whether token i is one of the words or signs.
func (st *statement) is(i int, words ...string) bool {
	if i < 0 || i >= len(st.tokens) || st.tokens[i].kind != word && st.tokens[i].kind != sign {
		return false
	}
	t := st.text(i)
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, t) })
}

// skip returns the index behind words when they stand at i, else i.
func (st *statement) skip(i int, words ...string) int {
	for n, w := range words {
		if !st.is(i+n, w) {
			return i
		}
	}
	return i + len(words)
}

// at returns the index of the first token at or behind offset, which counts
// from the start of the file.
func (st *statement) at(offset int) int {
	i, _ := slices.BinarySearchFunc(st.tokens, offset, func(t token, off int) int { return cmp.Compare(t.off, off) })
	return i
}

// covering returns the index of the token that covers offset, or of the next.
func (st *statement) covering(offset int) int {
	i := st.at(offset)
	if i > 0 && st.tokens[i-1].end > offset {
		i--
	}
	return i
}

// pos returns the position of token i; behind the last token, the end of the
// statement.
func (st *statement) pos(i int) source.Pos {
	if i < 0 || i >= len(st.tokens) {
		last := st.tokens[len(st.tokens)-1]
		return st.script.file.Pos(last.end, 0)
	}
	t := st.tokens[i]
	return st.script.file.Pos(t.off, t.end-t.off)
}

// qualified returns the index of the last part of the dotted name at i.
func (st *statement) qualified(i int) int {
	for st.is(i+1, ".") && i+2 < len(st.tokens) {
		i += 2
	}
	return i
}

// closing returns the index of the parenthesis or bracket that closes the one
// at i, or the number of tokens when none does.
func (st *statement) closing(i int) int {
	depth := 0
	for ; i < len(st.tokens); i++ {
		switch {
		case st.is(i, "(", "["):
			depth++
		case st.is(i, ")", "]"):
			if depth--; depth <= 0 {
				return i
			}
		}
	}
	return i
}

// items splits the tokens from i up to end at the commas that stand outside
// parentheses; each item is a half-open range and never empty.
func (st *statement) items(i, end int) [][2]int {
	var items [][2]int
	start := i
	for ; i < end; i++ {
		switch {
		case st.is(i, "(", "["):
			i = min(st.closing(i), end-1)
		case st.is(i, ","):
			if start < i {
				items = append(items, [2]int{start, i})
			}
			start = i + 1
		}
	}
	if start < end {
		items = append(items, [2]int{start, end})
	}
	return items
}

// written returns the tokens from i up to end as the user wrote them, on one
// line and without comments.
func (st *statement) written(i, end int) string {
	var b strings.Builder
	end = min(end, len(st.tokens))
	for n := i; n < end; n++ {
		if n > i {
			gap := st.script.src[st.tokens[n-1].end:st.tokens[n].off]
			if strings.Trim(gap, " ") != "" {
				gap = " "
			}
			b.WriteString(gap)
		}
		b.WriteString(st.text(n))
	}
	return b.String()
}
