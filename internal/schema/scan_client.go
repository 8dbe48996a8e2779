package schema

// This file knows what in a script is meant for the client that runs it.

import (
	"strings"
)

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

// delimiterCommand reads DELIMITER if it stands here as a command: at the start
// of a line that is no part of a list.
func (s *scanner) delimiterCommand() bool {
	const command = "delimiter "
	if rest := s.src[s.pos:]; len(rest) < len(command) || !strings.EqualFold(rest[:len(command)], command) || s.parens > 0 || s.running > 0 {
		return false
	}
	line := s.src[s.pos:s.lineEnd()]
	words := strings.Fields(line[len(command):])
	if len(words) == 0 || !s.beginsLine() {
		return false
	}
	if s.inner > 0 {
		// A body was not closed. The command is met again when the semicolons
		// before it have ended their statements.
		s.flat = true
		s.rewind(s.inner)
		return true
	}
	s.endStatement(s.pos)
	s.ends = append(s.ends, terminator{s.pos, words[0]})
	s.blank(s.pos + len(line))
	return true
}

// beginsLine reports whether nothing but blanks stands before pos on its line.
func (s *scanner) beginsLine() bool {
	start := s.pos
	for start > 0 && (s.src[start-1] == ' ' || s.src[start-1] == '\t') {
		start--
	}
	return start == 0 || s.src[start-1] == '\n' || s.src[:start] == byteOrderMark
}

// batchEnd reads GO, with a number or without, if it stands alone on its line but
// for a comment.
func (s *scanner) batchEnd() bool {
	if rest := s.src[s.pos:]; len(rest) < 2 || rest[1]|0x20 != 'o' {
		return false
	}
	end := s.lineEnd()
	for _, comment := range []string{"--", "/*"} {
		if i := strings.Index(s.src[s.pos:end], comment); i >= 0 {
			end = s.pos + i
		}
	}
	words := strings.Fields(s.src[s.pos+2 : end])
	behind := s.peek(2)
	if len(words) > 1 || len(words) == 1 && strings.Trim(words[0], "0123456789") != "" || isWordStart(behind) || isDigit(behind) || !s.beginsLine() {
		return false
	}
	s.endStatement(s.pos)
	s.blank(end)
	return true
}
