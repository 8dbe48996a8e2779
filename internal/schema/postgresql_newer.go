package schema

// This file lets statements through PostgreSQL's parser that it does not know: those of
// PostgreSQL 18, for it knows no more than 17, what 12 took away, and what servers that
// took over its language have added. Words are replaced in place, so that every offset
// stays what it is.

import "strings"

// pgRewrite is a statement as the parser sees it, with what was hidden from it.
type pgRewrite struct {
	sql     string
	virtual map[int]bool   // offsets in sql: a CHECK there is GENERATED ALWAYS AS (…) VIRTUAL
	notNull map[int]bool   // offsets in sql: a CHECK there is NOT NULL column
	nothing map[int]bool   // offsets in sql: a CHECK there is nothing that is kept
	indexes map[int]string // offsets in sql: a CHECK there is an index, which this statement makes
	tails   map[int]pgTail // by the offset of INDEX
	hidden  []pgHidden
}

// pgTail is what was taken out behind the columns of an index.
type pgTail struct {
	method    string // "" where it is not said
	invisible bool
	end       int // the token at which its predicate ends
}

// pgHidden is what was taken out of a column's definition.
type pgHidden struct {
	from, to int // tokens
	says     func(*Column)
}

// A pgRewriter makes the rewrite of a statement.
type pgRewriter struct {
	pgRewrite
	st   *statement
	base int    // offset of st
	text []byte // becomes sql
}

// rewrite returns the statement as the parser should see it. more, which may be nil,
// knows what a server has added.
func rewrite(st *statement, more func(*pgRewriter)) pgRewrite {
	r := &pgRewriter{st: st, base: st.off(), text: []byte(st.sql()), pgRewrite: pgRewrite{
		virtual: map[int]bool{}, notNull: map[int]bool{}, nothing: map[int]bool{}, indexes: map[int]string{}, tails: map[int]pgTail{},
	}}
	if st.is(0, "create", "alter") {
		r.older()
	}
	if more != nil {
		more(r)
	}
	r.sql = string(r.text)
	return r.pgRewrite
}

// put makes the tokens from from up to to s.
func (r *pgRewriter) put(from, to int, s string) {
	if to = min(to, len(r.st.tokens)); from >= to {
		return
	}
	off, end := r.offset(from), r.st.tokens[to-1].end-r.base
	copy(r.text[off:end], s+strings.Repeat(" ", max(0, end-off-len(s))))
}

// blank takes out the tokens from from up to to.
func (r *pgRewriter) blank(from, to int) { r.put(from, to, "") }

// hide takes the tokens from from up to to out of a column's definition.
func (r *pgRewriter) hide(from, to int, says func(*Column)) {
	r.blank(from, to)
	r.hidden = append(r.hidden, pgHidden{from, to, says})
}

func (r *pgRewriter) offset(i int) int { return r.st.tokens[i].off - r.base }

// older rewrites CREATE TABLE and ALTER TABLE of PostgreSQL itself.
func (r *pgRewriter) older() {
	st := r.st
	for i := range st.tokens {
		switch {
		case st.is(i, "generated") && st.is(i+1, "always") && st.is(i+2, "as") && st.is(i+3, "("):
			end := st.closing(i + 3)
			if end >= len(st.tokens) || st.is(end+1, "stored") {
				continue
			}
			if st.is(end+1, "virtual") {
				r.blank(end+1, end+2)
			}
			r.put(i, i+3, "CHECK")
			r.virtual[r.offset(i)] = true
		case st.is(i, "null") && st.is(i-1, "not") && st.is(i+1, "no") && st.is(i+2, "inherit"):
			r.blank(i+1, i+3)
		case st.is(i, "not") && st.is(i+1, "null") && i+2 < len(st.tokens) && pgBeginsConstraint(st, i):
			r.put(i, i+3, "CHECK("+st.text(i+2)+")")
			r.notNull[r.offset(i)] = true
		case st.is(i, "enforced"):
			from := i
			if st.is(i-1, "not") {
				from--
			}
			r.blank(from, i+1)
		case st.is(i, "without") && st.is(i+1, "overlaps"), st.is(i, "with") && st.is(i+1, "oids"):
			r.blank(i, i+2)
		}
	}
}

// pgBeginsConstraint reports whether NOT NULL at token i is a constraint of the
// table: it begins an item, or follows the name of one that does.
func pgBeginsConstraint(st *statement, i int) bool {
	if st.is(i-2, "constraint") {
		i -= 2
	}
	return (st.is(i-1, ",", "(") || st.is(i-1, "add")) && st.tokens[min(i+2, len(st.tokens)-1)].kind != sign
}

// elements calls item for every element that a CREATE TABLE or ALTER TABLE … ADD holds,
// which stands in the tokens from from up to end, and tail for what is behind the list of
// a CREATE TABLE.
func (r *pgRewriter) elements(item func(from, end int), tail func(from int)) {
	head := headOf(r.st)
	if head < 0 {
		return
	}
	behind := r.st.qualified(head) + 1
	if of := r.st.skip(behind, "partition", "of"); of > behind {
		behind = r.st.qualified(of) + 1
	}
	if r.st.is(0, "alter") {
		for _, command := range r.st.items(behind, len(r.st.tokens)) {
			from := r.st.skip(r.st.skip(command[0], "add"), "column")
			if from = r.st.skip(from, "if", "not", "exists"); r.st.is(command[0], "add") && from < command[1] {
				item(from, command[1])
			}
		}
		return
	}
	closing := r.st.closing(behind)
	if !r.st.is(behind, "(") || closing >= len(r.st.tokens) {
		return
	}
	for _, i := range r.st.items(behind+1, closing) {
		item(i[0], i[1])
	}
	tail(closing + 1)
}

// keyList returns the parentheses of the list of a PRIMARY KEY or UNIQUE constraint of the
// table that starts at token from; ok is false where none starts there.
func (r *pgRewriter) keyList(from, end int) (open, closing int, ok bool) {
	open = from
	if r.st.is(open, "constraint") {
		open = r.st.skip(open+1, "if", "not", "exists") + 1
	}
	switch {
	case r.st.is(open, "primary") && r.st.is(open+1, "key"):
		open += 2
	case r.st.is(open, "unique"):
		open++
	default:
		return 0, 0, false
	}
	closing = r.st.closing(open)
	return open, closing, r.st.is(open, "(") && closing < end
}

// pgOrder is what may stand behind a column of a key where a server lets it.
var pgOrder = []string{"asc", "desc", "hash"}
