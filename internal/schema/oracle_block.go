package schema

// This file reads the definitions that an anonymous block runs with EXECUTE
// IMMEDIATE, as scripts do that may find the table there already.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// oracleBlock reads a block.
func (r *tolerant) oracleBlock() *source.Error {
	st := r.st
	for i, tok := range st.tokens {
		if tok.kind == text && st.is(i-1, "immediate") && st.is(i-2, "execute") && st.is(i+1, ";", "into", "using") {
			r.readWithin(st.script, tok)
		}
	}
	return nil
}

// readWithin reads the statements that a text holds.
func (r *tolerant) readWithin(s *script, t token) {
	from, to := textBody(s.textOf(t))
	src, ok := undoubled(s.src[:t.off+to], t.off+from)
	inner := scanRange(s.file, src, t.off+from, statementLexis)
	if !ok || !inner.like(s) {
		if strings.Contains(s.textOf(t), mark) {
			r.errs.Add(source.Errorf(r.st.script.file.Pos(t.off, t.end-t.off), "cannot read the statement: it holds a text with quotes in it").
				WithHint("The statement carries annotations, so it is not skipped. Write q'[…]' around it, or let it stand by itself."))
		}
		return
	}
	outer := r.anchors
	r.anchors = nil
	for _, st := range inner.statements {
		st.guarded = true
		r.read(st)
	}
	r.loose = append(r.loose, attach(inner, r.anchors)...)
	r.anchors = outer
}

// like reports whether names and comments stand in the file as s has them.
func (s *script) like(file *script) bool {
	for _, t := range s.tokens {
		if t.kind != text && s.textOf(t) != file.textOf(t) {
			return false
		}
	}
	return !slices.ContainsFunc(s.remarks, func(r remark) bool { return s.src[r.off:r.end] != file.src[r.off:r.end] })
}

// undoubled returns src with the doubled quotes behind from as the single ones that
// they stand for, every text as long as before; ok is false where that cannot be.
func undoubled(src string, from int) (result string, ok bool) {
	body := src[from:]
	if !strings.Contains(body, "''") {
		return src, true
	}
	var b strings.Builder
	b.WriteString(src[:from])
	open := false
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] != '\'':
			b.WriteByte(body[i])
			continue
		case open && strings.HasPrefix(body[min(i+2, len(body)):], "''"):
			return src, false // a quote within a text
		case open:
			b.WriteString("' ")
		default:
			b.WriteString(" '")
		}
		open = !open
		i++
	}
	return b.String(), !open
}
