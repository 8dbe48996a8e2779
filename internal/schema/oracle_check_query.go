package schema

// This file checks queries.

import (
	"slices"
	"strings"
)

// A query is what decides whether its rows can be locked: a query block, or several
// that UNION and the like put together.
type query struct {
	outer     *query
	set       bool // UNION, INTERSECT, MINUS
	distinct  bool
	grouped   bool // GROUP BY, HAVING, an aggregate
	ordered   bool
	fetched   bool // OFFSET, FETCH FIRST
	rownum    bool
	connected bool // CONNECT BY
	into      bool // a PL/SQL statement says where the rows go
	views     []view
}

// A view is a query in FROM.
type view struct {
	alias string
	query *query
}

// lockable reports whether rows that come through the query can be locked
// (ORA-02014).
func (q *query) lockable() bool {
	return !q.set && !q.distinct && !q.grouped && !q.fetched && !q.connected
}

// statementQuery reads a query that is a statement, with FOR UPDATE.
func (s *strict) statementQuery() *query {
	s.inSQL++
	defer func() { s.inSQL-- }()
	q := s.subquery()
	if !s.accept("for") {
		return q
	}
	s.expect("update")
	var of []string
	if s.accept("of") {
		s.list(func() {
			parts := []string{s.identifier()}
			for s.fault == nil && s.accept(".") {
				parts = append(parts, s.identifier())
			}
			if len(parts) > 1 {
				of = append(of, parts[len(parts)-2])
			} else {
				of = append(of, "")
			}
		})
	}
	switch {
	case s.accept("nowait"), s.accept("skip", "locked"):
	case s.accept("wait"):
		s.number()
	}
	through := func(v view) bool {
		locks := of == nil || slices.Contains(of, "") || slices.Contains(of, v.alias)
		return locks && (!v.query.lockable() || v.query.rownum || v.query.ordered)
	}
	if !q.lockable() || slices.ContainsFunc(q.views, through) {
		s.fail(s.i, "FOR UPDATE cannot lock the rows of a query with DISTINCT, GROUP BY, UNION, FETCH FIRST, or ROWNUM over another query (ORA-02014)")
	}
	return q
}

// subquery reads a query without FOR UPDATE.
func (s *strict) subquery() *query {
	q := &query{outer: s.query}
	s.query = q
	s.nested(func() {
		if s.accept("with") {
			s.list(s.commonTable)
		}
		s.terms()
		if s.accept("order") {
			s.accept("siblings")
			s.expect("by")
			s.orderBy()
			q.ordered = true
		}
		s.fetchFirst()
	})
	s.query = q.outer
	return q
}

func (s *strict) commonTable() {
	s.identifier()
	s.names()
	s.expect("as")
	s.inParens(func() { s.subquery() })
}

// inParens reads what stands in parentheses.
func (s *strict) inParens(read func()) {
	s.expect("(")
	if s.fault == nil {
		read()
	}
	s.expect(")")
}

// terms reads query blocks with UNION and the like between.
func (s *strict) terms() {
	s.term()
	s.moreTerms()
}

func (s *strict) moreTerms() {
	for s.fault == nil && s.acceptAny("union", "intersect", "minus", "except") {
		s.accept("all")
		s.query.set = true
		s.term()
	}
}

func (s *strict) term() {
	if s.is("(") {
		inner := s.query
		s.inParens(func() {
			q := s.subquery()
			inner.set = inner.set || !q.lockable() || q.rownum || q.ordered
		})
		return
	}
	s.expect("select")
	if s.fault != nil {
		return
	}
	q := s.query
	if s.acceptAny("distinct", "unique") {
		q.distinct = true
	} else {
		s.accept("all")
	}
	s.list(s.selected)
	s.into()
	if s.accept("from") { // which 23ai can do without
		s.list(s.from)
	}
	if s.accept("where") {
		s.expr()
	}
	for s.is("start", "connect") {
		q.connected = true
		if s.accept("start") {
			s.expect("with")
		} else {
			s.words("connect", "by")
			s.accept("nocycle")
		}
		s.expr()
	}
	if s.accept("group") {
		s.expect("by")
		s.list(s.grouping)
		q.grouped = true
	}
	if s.accept("having") {
		s.expr()
		q.grouped = true
	}
}

// grouping reads one item of GROUP BY.
func (s *strict) grouping() {
	if s.accept("grouping", "sets") {
		s.inParens(func() { s.list(s.grouping) })
		return
	}
	if s.is("(") && s.st.is(s.i+1, ")") {
		s.i += 2
		return
	}
	s.expr()
}

// selected reads one item of a query's list.
func (s *strict) selected() {
	switch {
	case s.accept("*"):
		return
	case s.isIdentifier(s.i):
		if at := s.st.qualified(s.i); s.st.is(at, "*") && s.st.is(at-1, ".") {
			s.starred(at)
			return
		}
	}
	s.expr()
	if s.accept("as") {
		s.identifier()
	} else if s.isIdentifier(s.i) && !s.is("bulk") {
		s.i++
	}
}

// starred reads a name that ends in a star, which is token at.
func (s *strict) starred(at int) {
	for s.i < at-1 {
		s.identifier()
		if s.i < at-1 {
			s.sign(".")
		}
	}
	s.i = at + 1
}

// into reads [BULK COLLECT] INTO in a query, which PL/SQL alone has.
func (s *strict) into() {
	at := s.i
	bulk := s.accept("bulk", "collect")
	if !s.accept("into") {
		if bulk {
			s.expect("into")
		}
		return
	}
	if s.blocks == 0 || s.query.outer != nil {
		s.fail(at, "INTO stands in the query of a PL/SQL statement only")
		return
	}
	s.list(s.target)
	s.query.into = true
}

// target reads where a value goes: a variable, or a bind.
func (s *strict) target() {
	if s.bind() {
		return
	}
	if s.blocks == 0 {
		s.fail(s.i, "a bind should stand here")
		return
	}
	s.reference()
}

// clauseWords follow a table in FROM, so that they are no other name for it.
var clauseWords = wordSet(`on using left right full inner cross natural join outer fetch offset returning return log when model
	pivot unpivot match_recognize window qualify except versions sample partition subpartition lateral bulk limit
	end else elsif exception loop then`)

// alias reads another name for a table, which may be missing.
func (s *strict) alias(name string) string {
	if s.has(s.i, quoted) || s.isIdentifier(s.i) && !clauseWords[strings.ToLower(s.st.text(s.i))] {
		return s.identifier()
	}
	return name
}

// from reads one item of FROM with what is joined to it.
func (s *strict) from() {
	s.source()
	for s.fault == nil {
		on := true
		switch {
		case s.accept("cross", "join"), s.accept("cross", "apply"), s.accept("outer", "apply"):
			on = false
		case s.accept("natural"):
			if s.acceptAny("left", "right", "full") {
				s.accept("outer")
			} else {
				s.accept("inner")
			}
			s.expect("join")
			on = false
		case s.accept("inner", "join"), s.accept("join"):
		case s.is("left", "right", "full"):
			s.i++
			s.accept("outer")
			s.expect("join")
		default:
			return
		}
		s.source()
		switch {
		case !on:
		case s.accept("using"):
			s.names()
		default:
			s.expect("on")
			s.expr()
		}
	}
}

// source reads one table, query or collection of FROM.
func (s *strict) source() {
	s.nested(func() {
		switch {
		case s.is("(") && s.opensQuery(s.i):
			s.viewInParens()
		case s.accept("lateral"):
			s.viewInParens()
		case s.is("("):
			s.inParens(s.from)
		case s.is("table", "the") && s.st.is(s.i+1, "("):
			s.i++
			s.inParens(s.expr)
			s.collection()
		case s.is("json_table") && s.st.is(s.i+1, "("):
			s.i++
			s.jsonTable()
			s.accept("as")
			s.collection()
		case s.accept("only"):
			s.inParens(func() { s.table() })
			s.alias("")
		default:
			name := s.table()
			if s.acceptAny("partition", "subpartition") {
				s.inParens(func() { s.identifier() })
			}
			if s.accept("as", "of") {
				if !s.acceptAny("scn") {
					s.expect("timestamp")
				}
				s.expr()
			}
			s.alias(name)
		}
	})
}

// opensQuery reports whether the parenthesis at token i opens a query.
func (s *strict) opensQuery(i int) bool {
	for s.st.is(i, "(") {
		i++
	}
	return s.st.is(i, "select", "with")
}

func (s *strict) viewInParens() {
	var q *query
	s.inParens(func() { q = s.subquery() })
	alias := s.alias("")
	if q != nil && s.query != nil {
		s.query.views = append(s.query.views, view{alias, q})
	}
}

// collection reads the name of what is no table and whose rows cannot be locked.
func (s *strict) collection() {
	alias := s.alias("")
	if s.query != nil {
		s.query.views = append(s.query.views, view{alias, &query{distinct: true}})
	}
}

// jsonTable reads JSON_TABLE from its parenthesis on.
func (s *strict) jsonTable() {
	s.inParens(func() {
		s.expr()
		s.accept("format", "json")
		if s.accept(",") {
			s.string()
		}
		s.jsonTail()
		s.jsonColumns()
	})
}

func (s *strict) jsonColumns() {
	s.expect("columns")
	s.inParens(func() {
		s.list(func() {
			if s.accept("nested") {
				s.accept("path")
				s.string()
				s.nested(s.jsonColumns)
				return
			}
			s.identifier()
			if s.accept("for", "ordinality") {
				return
			}
			if !s.is("exists", "format", "path") {
				s.datatype()
			}
			s.accept("exists")
			s.accept("format", "json")
			if s.accept("path") {
				s.string()
			}
			s.jsonTail()
		})
	})
}

// orderBy reads the terms of an order.
func (s *strict) orderBy() {
	s.list(func() {
		s.expr()
		s.acceptAny("asc", "desc")
		if s.accept("nulls") && !s.acceptAny("first", "last") {
			s.fail(s.i, "FIRST or LAST should stand here")
		}
	})
}

// fetchFirst reads OFFSET and FETCH FIRST.
func (s *strict) fetchFirst() {
	if s.accept("offset") {
		s.expr()
		s.rows()
		s.query.fetched = true
	}
	if !s.accept("fetch") {
		return
	}
	s.query.fetched = true
	if !s.acceptAny("first", "next") {
		s.fail(s.i, "FIRST or NEXT should stand here")
	}
	if !s.is("row", "rows") {
		s.expr()
		s.accept("percent")
	}
	s.rows()
	if !s.accept("only") {
		s.words("with", "ties")
	}
}

func (s *strict) rows() {
	if !s.acceptAny("row", "rows") {
		s.fail(s.i, "ROWS should stand here")
	}
}
