package schema

// This file checks expressions and conditions, which are one to it: a condition may
// stand for a value since 23ai.

import (
	"slices"
	"strings"
)

// expr reads an expression or a condition.
func (s *strict) expr() {
	s.nested(func() {
		for s.fault == nil {
			s.conjunction()
			if !s.accept("or") {
				return
			}
		}
	})
}

func (s *strict) conjunction() {
	for s.fault == nil {
		for s.accept("not") {
		}
		s.predicate()
		if !s.accept("and") {
			return
		}
	}
}

// comparisons are the signs that compare, the longer ones first.
var comparisons = []string{"<=", ">=", "<>", "!=", "^=", "~=", "=", "<", ">"}

// predicate reads a value, and what it is compared with.
func (s *strict) predicate() {
	s.value()
	if s.fault != nil {
		return
	}
	if s.compares() {
		if s.acceptAny("any", "some", "all") {
			s.inParens(s.listOrQuery)
			return
		}
		s.value()
		return
	}
	if s.accept("is") {
		s.accept("not")
		s.property()
		return
	}
	not := s.accept("not")
	switch {
	case s.accept("in"):
		if s.is("(") {
			s.inParens(s.listOrQuery)
		} else {
			s.fail(s.i, `"(" should stand here`)
		}
	case s.accept("between"):
		s.value()
		s.expect("and")
		s.value()
	case s.acceptAny("like", "likec", "like2", "like4"):
		s.value()
		if s.accept("escape") {
			s.value()
		}
	case s.acceptAny("member", "submultiset"):
		s.accept("of")
		s.value()
	case not:
		s.fail(s.i, "IN, BETWEEN or LIKE should stand here")
	}
}

// compares moves behind a sign that compares.
func (s *strict) compares() bool {
	return slices.ContainsFunc(comparisons, func(op string) bool {
		if op == "=" && s.is("=") && s.st.is(s.i+1, ">") {
			return false // the name of an argument stands in front
		}
		return s.operator(op)
	})
}

// property reads what stands behind IS and IS NOT.
func (s *strict) property() {
	switch {
	case s.acceptAny("null", "nan", "infinite", "empty", "present", "dangling", "true", "false"):
	case s.accept("a", "set"):
	case s.accept("json"):
		s.jsonTail()
	default:
		s.fail(s.i, "NULL should stand here")
	}
}

// listOrQuery reads what stands in parentheses behind IN.
func (s *strict) listOrQuery() {
	if s.is("select", "with") {
		s.subquery()
		return
	}
	s.list(s.expr)
}

// value reads what stands on either side of a comparison.
func (s *strict) value() {
	for s.fault == nil {
		s.product()
		if !s.acceptAny("+", "-") && !s.operator("||") {
			return
		}
	}
}

func (s *strict) product() {
	for s.fault == nil {
		s.factor()
		if s.blocks > 0 && s.operator("**") {
			continue
		}
		if !s.acceptAny("*", "/") {
			return
		}
	}
}

func (s *strict) factor() {
	for s.acceptAny("+", "-", "prior", "connect_by_root") {
	}
	s.primary()
	for s.fault == nil {
		switch {
		case s.accept("at"):
			if !s.accept("local") {
				s.words("time", "zone")
				s.primary()
			}
		case s.is("day", "year") && (s.st.is(s.i+1, "to") || s.st.is(s.i+1, "(") && s.has(s.i+2, number) && s.st.is(s.i+4, "to")):
			s.intervalUnit()
			s.expect("to")
			s.intervalUnit()
		case s.accept("collate"):
			s.identifier()
		case s.outer():
			s.i += len("(+)")
		case s.accept("multiset"):
			if !s.acceptAny("union", "except", "intersect") {
				s.fail(s.i, "UNION should stand here")
			}
			s.acceptAny("all", "distinct")
			s.primary()
		default:
			return
		}
	}
}

// outer reports whether (+) stands next.
func (s *strict) outer() bool { return s.st.skip(s.i, "(", "+", ")") > s.i }

// primary reads one value.
func (s *strict) primary() {
	switch {
	case s.fault != nil:
	case s.is("("):
		s.parenthesized()
	case s.has(s.i, text):
		s.i++
	case s.has(s.i, number):
		s.number()
	case s.bind():
	case s.acceptAny("null", "true", "false"):
	case pseudoColumns[s.word()]:
		if s.is("rownum") && s.query != nil {
			s.query.rownum = true
		}
		s.i++
	case s.is("date", "timestamp") && s.has(s.i+1, text):
		s.i += 2
	case s.is("interval") && s.has(s.i+1, text):
		s.i += 2
		s.intervalUnit()
		if s.accept("to") {
			s.intervalUnit()
		}
	case s.accept("case"):
		s.caseOf(s.expr, false)
	case s.accept("exists"), s.accept("cursor"):
		s.inParens(func() { s.subquery() })
	default:
		if !s.special() {
			s.reference()
		}
	}
}

// parenthesized reads a query, a value or a list of values in parentheses.
func (s *strict) parenthesized() {
	s.inParens(func() {
		if s.is("select", "with") {
			s.subquery()
			return
		}
		queries := s.opensQuery(s.i)
		s.list(s.expr)
		if queries && s.is("union", "intersect", "minus", "except") {
			q := &query{outer: s.query}
			s.query = q
			s.moreTerms()
			s.query = q.outer
		}
	})
}

// intervalUnit reads a unit of time with digits or without.
func (s *strict) intervalUnit() {
	if !s.acceptAny("year", "month", "day", "hour", "minute", "second") {
		s.fail(s.i, "a unit of time should stand here")
		return
	}
	if s.is("(") && !s.st.is(s.i+1, "+") {
		s.inParens(func() { s.list(s.number) })
	}
}

// caseOf reads CASE from behind the word on; what stands behind THEN and ELSE is
// read by then. A statement ends in END CASE.
func (s *strict) caseOf(then func(), statement bool) {
	if !s.is("when") {
		s.expr()
	}
	for first := true; s.fault == nil && (first || s.is("when")); first = false {
		s.expect("when")
		s.expr()
		s.expect("then")
		then()
	}
	if s.accept("else") {
		then()
	}
	s.expect("end")
	if statement {
		s.expect("case")
	}
}

// reference reads a name with what is called and picked behind it.
func (s *strict) reference() {
	implicit := s.blocks > 0 && s.is("sql") && s.st.is(s.i+1, "%") // the cursor of the last statement
	if !implicit && !s.isIdentifier(s.i) {
		what := "a value should stand here"
		if s.blocks > 0 && s.has(s.i, word) {
			what = "a value or a statement should stand here"
		}
		s.fail(s.i, what)
		return
	}
	start := s.i
	s.i++
	for s.fault == nil {
		switch {
		case s.is(".") && s.st.is(s.i+1, "."):
			return // a range
		case s.accept("."):
			if !s.isIdentifier(s.i) && !s.is("rowid", "delete", "exists", "column_value") {
				s.fail(s.i, "a name should stand here")
				return
			}
			s.i++
		case s.outer():
			return
		case s.is("("):
			s.call(strings.ToLower(s.st.text(start)), s.i == start+1)
		case s.blocks > 0 && s.accept("%"):
			if !s.acceptAny("found", "notfound", "rowcount", "isopen", "bulk_rowcount", "bulk_exceptions") {
				s.fail(s.i, "an attribute should stand here")
			}
		default:
			return
		}
	}
}

// aggregates make one row of many.
var aggregates = wordSet(`count sum min max avg median listagg stddev variance json_arrayagg json_objectagg collect xmlagg any_value
	approx_count_distinct`)

// call reads the arguments of a function and what may stand behind them.
func (s *strict) call(name string, plain bool) {
	s.inParens(s.arguments)
	window := false
	for s.fault == nil {
		switch {
		case s.accept("within", "group"):
			s.inParens(func() {
				s.words("order", "by")
				s.orderBy()
			})
		case s.accept("keep"):
			s.inParens(func() {
				s.expect("dense_rank")
				if !s.acceptAny("first", "last") {
					s.fail(s.i, "FIRST or LAST should stand here")
				}
				s.words("order", "by")
				s.orderBy()
			})
		case s.accept("ignore", "nulls"), s.accept("respect", "nulls"), s.accept("from", "first"), s.accept("from", "last"):
		case s.accept("over"):
			window = true
			s.window()
		default:
			if plain && aggregates[name] && !window && s.query != nil {
				s.query.grouped = true
			}
			return
		}
	}
}

// arguments reads what stands in the parentheses of a call.
func (s *strict) arguments() {
	if s.is(")") {
		return
	}
	if s.is("*") && s.st.is(s.i+1, ")") {
		s.i++
		return
	}
	s.acceptAny("distinct", "unique", "all")
	s.list(func() {
		if s.isIdentifier(s.i) && s.st.is(s.i+1, "=") && s.st.is(s.i+2, ">") {
			s.i++
			s.sign("=>")
		}
		if s.is("select", "with") {
			s.subquery()
		} else {
			s.expr()
		}
		switch {
		case s.accept("default"):
			s.expr()
			s.words("on", "conversion", "error")
		case s.accept("ignore", "nulls"), s.accept("respect", "nulls"), s.accept("using", "char_cs"), s.accept("using", "nchar_cs"):
		case s.accept("on", "overflow"):
			if !s.accept("error") {
				s.expect("truncate")
				if s.has(s.i, text) {
					s.i++
				}
				if s.acceptAny("with", "without") {
					s.expect("count")
				}
			}
		}
	})
	if s.accept("order") {
		s.expect("by")
		s.orderBy()
	}
}

// window reads what stands behind OVER.
func (s *strict) window() {
	if !s.is("(") {
		s.identifier()
		return
	}
	s.inParens(func() {
		if s.accept("partition") {
			s.expect("by")
			s.list(s.expr)
		}
		if !s.accept("order") {
			return
		}
		s.expect("by")
		s.orderBy()
		if !s.acceptAny("rows", "range", "groups") {
			return
		}
		if s.accept("between") {
			s.frameBound()
			s.expect("and")
		}
		s.frameBound()
	})
}

func (s *strict) frameBound() {
	if s.accept("current", "row") {
		return
	}
	if !s.accept("unbounded") {
		s.value()
	}
	if !s.acceptAny("preceding", "following") {
		s.fail(s.i, "PRECEDING or FOLLOWING should stand here")
	}
}
