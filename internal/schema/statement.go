package schema

// This file gives the tokens of a statement to those who read it.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

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
		if st.is(i, ".") && i+1 < len(st.tokens) {
			i++ // database..name
		}
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
