package schema

// This file reads comments, those that a server runs included.

import (
	"strings"
)

// lineRemark reads a comment up to the end of the line; its mark has that many
// characters.
func (s *scanner) lineRemark(mark int) {
	end := s.lineEnd()
	textEnd := end
	if textEnd > s.pos && s.src[textEnd-1] == '\r' {
		textEnd--
	}
	r := remark{off: s.pos, end: textEnd, textOff: s.pos + mark, textEnd: textEnd}
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
	if s.runs != nil {
		if tag := runTag(s.src[s.pos+2:]); tag != "" {
			if s.runs(tag) {
				s.running++
				s.blank(s.pos + 2 + len(tag))
				return
			}
			// What another server would run is no comment to people.
			end, _ := s.commentEnd(true)
			s.blank(end)
			return
		}
	}
	r := remark{off: s.pos, textOff: s.pos + 2}
	end, closed := s.commentEnd(s.nestedComments)
	r.end, r.textEnd = end, end
	if closed {
		r.textEnd -= 2
	}
	s.pos = end
	s.remarks = append(s.remarks, r)
}

// commentEnd returns where the comment ends that starts here.
func (s *scanner) commentEnd(nested bool) (end int, closed bool) {
	depth := 1
	i := s.pos + 2
	for i < len(s.src) && depth > 0 {
		switch {
		case strings.HasPrefix(s.src[i:], "*/"):
			depth--
			i += 2
		case nested && strings.HasPrefix(s.src[i:], "/*"):
			depth++
			i += 2
		default:
			i++
		}
	}
	return i, depth == 0
}

// runTag returns what makes a comment run whose inside starts with s: "!", a
// letter in front of it, a version or a list of features behind it; "" where the
// comment is but one.
func runTag(s string) string {
	i := 0
	if strings.HasPrefix(s, "M") || strings.HasPrefix(s, "T") {
		i = 1
	}
	if !strings.HasPrefix(s[i:], "!") {
		return ""
	}
	i++
	digits := i
	for digits < len(s) && digits < i+6 && isDigit(s[digits]) {
		digits++
	}
	switch end := strings.IndexByte(s, ']'); {
	case digits >= i+5:
		return s[:digits]
	case strings.HasPrefix(s, "T![") && end > 0:
		return s[:end+1]
	}
	return s[:i]
}
