package schema

// This file finds what each comment speaks of: a table, a column, or nothing.

import (
	"cmp"
	"slices"
	"strings"
)

// mark starts every annotation.
const mark = "qgen:"

// An anchor is a statement to which comments may belong.
type anchor struct {
	st *statement
	// table takes the comments that are not about a column; nil in ALTER TABLE,
	// where the first column takes them.
	table       *Table
	open, close int // offsets of the column list's parentheses, -1 without
	columns     []columnAnchor
	// swallow: the statement has been reported, its comments need no report.
	swallow bool
}

// A columnAnchor is the definition of a column. It starts at the column's name,
// or at ADD.
type columnAnchor struct {
	column     *Column
	start, end int
}

// attach gives every comment of a script to the table or column it stands at,
// and returns those with annotations that stand at none.
func attach(s *script, anchors []*anchor) (loose []Comment) {
	byStatement := map[*statement]*anchor{}
	for _, a := range anchors {
		byStatement[a.st] = a
	}
	for _, r := range s.remarks {
		c := Comment{Text: s.src[r.textOff:r.textEnd], Pos: s.file.Pos(r.textOff, r.textEnd-r.textOff), Exact: true}
		a := byStatement[s.statementOf(r)]
		if a == nil || !a.take(r, c) {
			if strings.Contains(c.Text, mark) {
				loose = append(loose, c)
			}
		}
	}
	return loose
}

// findAbove tells for each comment whether it stands on lines of its own, with
// no blank line between it and the token that follows.
func (s *script) findAbove() {
	for i := len(s.remarks) - 1; i >= 0; i-- {
		r := &s.remarks[i]
		if r.next == len(s.tokens) {
			continue
		}
		last := s.line(max(r.end-1, r.off))
		if i+1 < len(s.remarks) && s.remarks[i+1].next == r.next {
			r.above = s.line(s.remarks[i+1].off)-last <= 1 && s.remarks[i+1].above
		} else {
			r.above = s.line(s.tokens[r.next].off)-last <= 1
		}
		r.above = r.above && s.ownLine(*r)
	}
}

// ownLine reports whether nothing but comments stands before r on its line.
func (s *script) ownLine(r remark) bool {
	return r.next == 0 || s.line(max(s.tokens[r.next-1].end-1, 0)) < s.line(r.off)
}

func (s *script) line(offset int) int { return s.file.Pos(offset, 0).Line() }

// statementOf returns the statement that r stands in, above, or behind on its
// last line; nil when there is none.
func (s *script) statementOf(r remark) *statement {
	i, _ := slices.BinarySearchFunc(s.statements, r.off, func(st *statement, off int) int { return cmp.Compare(st.off(), off) })
	if i > 0 {
		st := s.statements[i-1]
		if r.off < st.end || s.line(st.end-1) == s.line(r.off) {
			return st.about()
		}
	}
	if r.above && i < len(s.statements) && s.statements[i].first == r.next {
		return s.statements[i].about()
	}
	return nil
}

// about returns the statement to which comments belong that stand at st: what
// stands at an IF is said of what it is about.
func (st *statement) about() *statement {
	if st.subject != nil {
		return st.subject
	}
	return st
}

// take gives the comment to the anchor's table or to one of its columns, and
// reports whether it is for either.
func (a *anchor) take(r remark, c Comment) bool {
	if a.swallow {
		return true
	}
	s := a.st.script
	toTable := func() bool {
		switch {
		case a.table != nil:
			a.table.Comments = append(a.table.Comments, c)
		case len(a.columns) > 0:
			col := a.columns[0].column
			col.Comments = append(col.Comments, c)
		default:
			return false
		}
		return true
	}
	if r.off < a.st.off() || a.table != nil && (r.off < a.open || r.off > a.close) {
		if n := len(a.columns); n > 0 && r.off > a.close && s.line(a.columns[n-1].end-1) == s.line(r.off) {
			c.Beside = a.columns[n-1].column
		}
		return toTable()
	}
	if r.above && r.next < len(s.tokens) {
		next := s.tokens[r.next].off
		for i, col := range a.columns {
			if col.start == next {
				c.AboveFirst = a.table != nil && i == 0 && a.firstItem() == next && s.line(r.end-1) < s.line(next)
				col.column.Comments = append(col.column.Comments, c)
				return true
			}
		}
	}
	// The last column that begins before the comment.
	n, _ := slices.BinarySearchFunc(a.columns, r.off, func(col columnAnchor, off int) int { return cmp.Compare(col.start, off) })
	if n > 0 {
		col := a.columns[n-1]
		if r.off < col.end || s.line(col.end-1) == s.line(r.off) {
			col.column.Comments = append(col.column.Comments, c)
			return true
		}
	}
	switch {
	case a.table == nil:
		return n == 0 && toTable()
	case r.off < a.firstItem(), s.line(r.off) == s.line(a.close):
		return toTable()
	case s.line(r.off) == s.line(a.open):
		return toTable()
	}
	return false
}

// firstItem returns the offset of the first token inside the parentheses.
func (a *anchor) firstItem() int {
	i := a.st.at(a.open + 1)
	return a.st.pos(i).Offset
}
