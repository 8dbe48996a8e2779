package schema

// This file lets statements of PostgreSQL 18 through a parser that knows no
// more than 17, and what 12 took away. Words are replaced in place, so that
// every offset stays what it is.

import "strings"

// pgRewrite is a statement as the parser sees it, with what was hidden from it.
type pgRewrite struct {
	sql     string
	virtual map[int]bool // offsets in sql: a CHECK there is GENERATED ALWAYS AS (…) VIRTUAL
	notNull map[int]bool // offsets in sql: a CHECK there is NOT NULL column
}

// pgOlder rewrites CREATE TABLE and ALTER TABLE.
func pgOlder(st *statement) pgRewrite {
	r := pgRewrite{sql: st.sql()}
	if !st.is(0, "create", "alter") {
		return r
	}
	text := []byte(r.sql)
	base := st.off()
	put := func(from, to int, s string) { // tokens from up to to become s
		off, end := st.tokens[from].off-base, st.tokens[to-1].end-base
		copy(text[off:end], s+strings.Repeat(" ", end-off-len(s)))
	}
	for i := range st.tokens {
		switch {
		case st.is(i, "generated") && st.is(i+1, "always") && st.is(i+2, "as") && st.is(i+3, "("):
			end := st.closing(i + 3)
			if end >= len(st.tokens) || st.is(end+1, "stored") {
				continue
			}
			if st.is(end+1, "virtual") {
				put(end+1, end+2, "")
			}
			put(i, i+3, "CHECK")
			if r.virtual == nil {
				r.virtual = map[int]bool{}
			}
			r.virtual[st.tokens[i].off-base] = true
		case st.is(i, "null") && st.is(i-1, "not") && st.is(i+1, "no") && st.is(i+2, "inherit"):
			put(i+1, i+3, "")
		case st.is(i, "not") && st.is(i+1, "null") && i+2 < len(st.tokens) && pgBeginsConstraint(st, i):
			off := st.tokens[i].off - base
			put(i, i+3, "CHECK("+st.text(i+2)+")")
			if r.notNull == nil {
				r.notNull = map[int]bool{}
			}
			r.notNull[off] = true
		case st.is(i, "enforced"):
			from := i
			if st.is(i-1, "not") {
				from--
			}
			put(from, i+1, "")
		case st.is(i, "without") && st.is(i+1, "overlaps"), st.is(i, "with") && st.is(i+1, "oids"):
			put(i, i+2, "")
		}
	}
	r.sql = string(text)
	return r
}

// pgBeginsConstraint reports whether NOT NULL at token i is a constraint of the
// table: it begins an item, or follows the name of one that does.
func pgBeginsConstraint(st *statement, i int) bool {
	if st.is(i-2, "constraint") {
		i -= 2
	}
	return (st.is(i-1, ",", "(") || st.is(i-1, "add")) && st.tokens[min(i+2, len(st.tokens)-1)].kind != sign
}
