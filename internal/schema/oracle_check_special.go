package schema

// This file checks functions whose arguments have words between them, and types.

import (
	"strings"
)

// special reads a call of such a function; false when none stands here.
func (s *strict) special() bool {
	if !s.st.is(s.i+1, "(") {
		return false
	}
	read, ok := map[string]func(){
		"cast": s.cast, "treat": s.cast, "validate_conversion": s.cast, "extract": s.extract, "trim": s.trim,
		"json_value": s.jsonPath, "json_query": s.jsonPath, "json_exists": s.jsonPath, "json_serialize": s.jsonPath, "json": s.jsonPath,
		"json_object": s.jsonObject, "json_objectagg": s.jsonObject, "json_array": s.jsonArray, "json_arrayagg": s.jsonArray,
		"json_mergepatch": s.jsonArray, "json_transform": s.jsonTransform,
	}[s.word()]
	if !ok {
		return false
	}
	if aggregates[s.word()] && s.query != nil {
		s.query.grouped = true
	}
	s.i++
	s.inParens(read)
	return true
}

func (s *strict) cast() {
	if s.accept("multiset") {
		s.inParens(func() { s.subquery() })
	} else {
		s.expr()
	}
	s.expect("as")
	s.datatype()
	if s.accept("default") {
		s.expr()
		s.words("on", "conversion", "error")
	}
	for s.accept(",") {
		s.expr()
	}
}

func (s *strict) extract() {
	if !s.acceptAny("year", "month", "day", "hour", "minute", "second", "timezone_hour", "timezone_minute", "timezone_region", "timezone_abbr") {
		s.fail(s.i, "a unit of time should stand here")
	}
	s.expect("from")
	s.expr()
}

func (s *strict) trim() {
	side := s.acceptAny("leading", "trailing", "both")
	if !side || !s.is("from") {
		s.expr()
	}
	if side {
		s.expect("from")
	} else if !s.accept("from") {
		return
	}
	s.expr()
}

// jsonPath reads a document, a path in it, and what becomes of what stands there.
func (s *strict) jsonPath() {
	s.expr()
	s.accept("format", "json")
	if s.accept(",") {
		s.string()
	}
	if s.accept("passing") {
		s.list(func() {
			s.expr()
			s.expect("as")
			s.identifier()
		})
	}
	s.jsonTail()
}

// jsonObject reads names with their values.
func (s *strict) jsonObject() {
	if !s.is(")") && !s.accept("*") {
		s.list(func() {
			s.accept("key")
			s.value()
			if s.acceptAny("value", "is", ":") { // without, the name is the column's
				s.expr()
				s.accept("format", "json")
			}
		})
	}
	s.jsonTail()
}

func (s *strict) jsonArray() {
	if !s.is(")") {
		s.list(func() {
			s.expr()
			s.accept("format", "json")
		})
	}
	if s.accept("order") {
		s.expect("by")
		s.orderBy()
	}
	s.jsonTail()
}

// jsonTransform reads a document and how it is changed.
func (s *strict) jsonTransform() {
	s.expr()
	for s.fault == nil && s.accept(",") {
		if !s.acceptAny("set", "insert", "append", "prepend", "replace", "remove", "keep", "rename", "merge", "add_set", "remove_set", "minus", "union", "intersect") {
			s.fail(s.i, "an operation should stand here")
		}
		s.string()
		if s.accept("=") {
			if s.accept("path") {
				s.string()
			} else {
				s.expr()
				s.accept("format", "json")
			}
		}
		s.jsonTail()
	}
	s.jsonTail()
}

// jsonTail reads what a function about JSON does with what is odd, and what it
// returns.
func (s *strict) jsonTail() {
	for s.fault == nil {
		switch {
		case s.accept("returning"):
			s.datatype()
		case s.jsonOn():
		case s.accept("with", "unique", "keys"), s.accept("without", "unique", "keys"), s.accept("with", "wrapper"), s.accept("without", "wrapper"),
			s.accept("with", "array", "wrapper"), s.accept("without", "array", "wrapper"), s.accept("with", "conditional", "wrapper"),
			s.accept("with", "unconditional", "wrapper"), s.accept("allow", "scalars"), s.accept("disallow", "scalars"), s.accept("format", "json"),
			s.acceptAny("strict", "lax", "pretty", "ascii", "ordered", "truncate"):
		default:
			return
		}
	}
}

// jsonOn reads what is done ON ERROR and the like.
func (s *strict) jsonOn() bool {
	start := s.i
	switch {
	case s.accept("default"):
		s.value()
	case s.acceptAny("null", "error", "true", "false", "absent", "ignore", "create", "replace", "remove"):
	case s.accept("empty"):
		s.acceptAny("array", "object")
	default:
		return false
	}
	if s.fault == nil && s.accept("on") && s.acceptAny("error", "empty", "null", "mismatch", "missing", "existing") {
		return true
	}
	if s.fault == nil {
		s.i = start
	}
	return false
}

// datatype reads a type.
func (s *strict) datatype() {
	switch {
	case s.accept("interval"):
		s.intervalUnit()
		s.expect("to")
		s.intervalUnit()
		return
	case s.accept("double"):
		s.expect("precision")
		return
	case s.accept("timestamp"):
		s.digits()
		if s.accept("with") {
			s.accept("local")
			s.words("time", "zone")
		}
		return
	case s.accept("long"):
		s.accept("raw")
		return
	case s.acceptAny("char", "varchar", "varchar2", "number", "integer", "smallint", "float", "decimal", "date", "raw", "rowid"):
		if s.st.is(s.i-1, "char") {
			s.accept("varying")
		}
	default:
		s.table()
		if s.blocks > 0 && s.accept("%") && !s.acceptAny("type", "rowtype") {
			s.fail(s.i, "TYPE or ROWTYPE should stand here")
		}
	}
	s.digits()
}

// digits reads how long a type is.
func (s *strict) digits() {
	if !s.accept("(") {
		return
	}
	s.list(func() {
		if !s.accept("*") {
			s.accept("-")
			s.number()
			s.acceptAny("byte", "char")
		}
	})
	s.expect(")")
}

// isLabel reports whether <<name>> stands here.
func (s *strict) isLabel() bool {
	return s.is("<") && strings.HasPrefix(s.st.script.src[s.st.tokens[s.i].off:], "<<")
}
