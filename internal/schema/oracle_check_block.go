package schema

// This file checks PL/SQL: blocks, and the units that are kept in the database.

// block reads [<<label>>] [DECLARE …] BEGIN … END [label] with its semicolon.
func (s *strict) block() {
	s.blocks++
	label := s.label()
	if s.accept("declare") {
		s.declarations()
	}
	s.body(label)
	s.semicolon()
	s.blocks--
}

// label reads <<name>>, which may be missing.
func (s *strict) label() string {
	if !s.isLabel() {
		return ""
	}
	s.sign("<<")
	name := s.identifier()
	s.sign(">>")
	return name
}

// body reads BEGIN … END, and the name behind it, which must be that of what ends.
func (s *strict) body(name string) {
	s.expect("begin")
	s.nested(func() {
		s.statements()
		if s.accept("exception") {
			s.handlers()
		}
	})
	s.expect("end")
	s.endName(name)
}

// endName reads the name behind END, which may be missing.
func (s *strict) endName(name string) {
	if at := s.i; s.isIdentifier(at) && s.identifier() != name {
		s.fail(at, "the name behind END is not that of what ends")
	}
}

// semicolon reads the semicolon behind a statement. The last one of a block stands
// outside the statement.
func (s *strict) semicolon() {
	if s.accept(";") {
		return
	}
	if s.fault == nil && s.i == len(s.st.tokens) && s.blocks == 1 && s.closed() {
		return
	}
	s.fail(s.i, `";" should stand here`)
}

// handlers read WHEN name THEN ….
func (s *strict) handlers() {
	for first := true; s.fault == nil && (first || s.is("when")); first = false {
		s.expect("when")
		s.table()
		for s.accept("or") {
			s.table()
		}
		s.expect("then")
		s.statements()
	}
}

// statements reads one or more statements with their semicolons.
func (s *strict) statements() {
	for first := true; s.fault == nil && (first || !s.is("end", "else", "elsif", "exception", "when")); first = false {
		s.statement()
	}
}

// statement reads one statement with its semicolon.
func (s *strict) statement() {
	begin := s.i
	if s.isLabel() {
		begin += 5 // <, <, the name, >, >
	}
	if s.st.is(begin, "begin", "declare") {
		s.block()
		return
	}
	label := s.label()
	switch {
	case s.accept("if"):
		s.ifThen()
	case s.accept("case"):
		s.caseOf(s.statements, true)
	case s.is("loop", "while", "for"):
		s.loop(label)
	case s.accept("forall"):
		s.forall()
	case s.is("select", "with"):
		at := s.i
		if q := s.statementQuery(); s.fault == nil && !q.into {
			s.fail(at, "INTO is missing: a query in PL/SQL must say where its rows go")
		}
	case s.is("insert", "update", "delete", "merge", "commit", "rollback", "savepoint", "set", "lock"):
		s.sql()
	default:
		if !s.cursorStatement() && !s.jump() {
			s.assignment()
		}
	}
	s.semicolon()
}

// jump reads a statement that leaves its place, or does nothing.
func (s *strict) jump() bool {
	switch {
	case s.accept("null"):
	case s.acceptAny("exit", "continue"):
		if s.isIdentifier(s.i) {
			s.identifier()
		}
		if s.accept("when") {
			s.expr()
		}
	case s.accept("goto"):
		s.identifier()
	case s.accept("raise"):
		if s.isIdentifier(s.i) {
			s.table()
		}
	case s.accept("return"):
		if !s.is(";") {
			s.expr()
		}
	case s.accept("pipe", "row"):
		s.inParens(s.expr)
	default:
		return false
	}
	return true
}

// cursorStatement reads a statement about a cursor, or about SQL in a text.
func (s *strict) cursorStatement() bool {
	switch {
	case s.accept("open"):
		s.cursor()
		if s.accept("for") {
			if s.is("select", "with", "(") {
				s.statementQuery()
			} else {
				s.expr()
				s.using()
			}
		}
	case s.accept("fetch"):
		s.cursor()
		if !s.accept("bulk", "collect") {
			s.expect("into")
			s.list(s.target)
			break
		}
		s.expect("into")
		s.list(s.target)
		if s.accept("limit") {
			s.expr()
		}
	case s.accept("close"):
		s.cursor()
	case s.accept("execute", "immediate"):
		s.expr()
		s.accept("bulk", "collect")
		if s.accept("into") {
			s.list(s.target)
		} else if s.st.is(s.i-1, "collect") {
			s.expect("into")
		}
		s.using()
	default:
		return false
	}
	return true
}

// cursor reads the name of a cursor, perhaps with its arguments, or a bind.
func (s *strict) cursor() {
	if !s.bind() {
		s.reference()
	}
}

// using reads the arguments of SQL in a text.
func (s *strict) using() {
	if s.accept("using") {
		s.list(func() {
			s.accept("in")
			s.accept("out")
			s.expr()
		})
	}
	if s.acceptAny("returning", "return") {
		s.accept("bulk", "collect")
		s.expect("into")
		s.list(s.target)
	}
}

// assignment reads target := value, or a call.
func (s *strict) assignment() {
	at := s.i
	bound := s.bind()
	if !bound {
		s.reference()
	}
	if s.operator(":=") {
		s.expr()
		return
	}
	if bound {
		s.sign(":=")
		return
	}
	if s.fault == nil && !s.st.is(s.i-1, ")") && s.i == at+1 && !s.is(";") {
		s.fail(s.i, `":=" or ";" should stand here`)
	}
}

// ifThen reads IF from behind the word on.
func (s *strict) ifThen() {
	s.nested(func() {
		s.condition()
		for s.accept("elsif") {
			s.condition()
		}
		if s.accept("else") {
			s.statements()
		}
		s.words("end", "if")
	})
}

func (s *strict) condition() {
	s.expr()
	s.expect("then")
	s.statements()
}

// loop reads LOOP, WHILE and FOR.
func (s *strict) loop(label string) {
	s.nested(func() {
		switch {
		case s.accept("while"):
			s.expr()
		case s.accept("for"):
			s.identifier()
			s.expect("in")
			s.accept("reverse")
			if s.is("(") && s.opensQuery(s.i) {
				s.inParens(func() { s.statementQuery() })
				break
			}
			s.value()
			if s.operator("..") {
				s.value()
			}
		}
		s.expect("loop")
		s.statements()
		s.words("end", "loop")
		s.endName(label)
	})
}

// forall reads FORALL from behind the word on: one statement for all elements.
func (s *strict) forall() {
	s.identifier()
	s.expect("in")
	switch {
	case s.accept("indices", "of"):
		s.reference()
		if s.accept("between") {
			s.value()
			s.expect("and")
			s.value()
		}
	case s.accept("values", "of"):
		s.reference()
	default:
		s.value()
		s.sign("..")
		s.value()
	}
	s.accept("save", "exceptions")
	switch {
	case s.is("insert", "update", "delete", "merge"):
		s.sql()
	case s.is("execute"):
		s.cursorStatement()
	default:
		s.fail(s.i, "INSERT, UPDATE, DELETE or MERGE should stand here")
	}
}

// declarations reads what stands in front of BEGIN.
func (s *strict) declarations() {
	for s.fault == nil && s.i < len(s.st.tokens) && !s.is("begin", "end") {
		s.declaration()
	}
}

func (s *strict) declaration() {
	switch {
	case s.accept("type"):
		s.typeDeclaration()
	case s.accept("subtype"):
		s.identifier()
		s.expect("is")
		s.datatype()
		s.accept("not", "null")
	case s.accept("cursor"):
		s.identifier()
		s.parameters()
		if s.accept("return") {
			s.datatype()
		}
		s.expect("is")
		s.statementQuery()
	case s.accept("pragma"):
		s.identifier()
		if s.is("(") {
			s.inParens(s.arguments)
		}
	case s.is("function", "procedure"):
		s.routine()
		return
	default:
		s.identifier()
		if s.accept("exception") {
			break
		}
		s.accept("constant")
		s.datatype()
		s.accept("not", "null")
		s.initial()
	}
	s.semicolon()
}

// initial reads the value that a variable begins with, which may be missing.
func (s *strict) initial() {
	if s.operator(":=") || s.accept("default") {
		s.expr()
	}
}

// typeDeclaration reads TYPE from behind the word on.
func (s *strict) typeDeclaration() {
	s.identifier()
	s.expect("is")
	switch {
	case s.accept("table", "of"):
		s.datatype()
		s.accept("not", "null")
		if s.accept("index", "by") {
			s.datatype()
		}
	case s.acceptAny("varray", "varying"):
		s.accept("array")
		s.inParens(s.number)
		s.expect("of")
		s.datatype()
	case s.accept("record"):
		s.inParens(func() {
			s.list(func() {
				s.identifier()
				s.datatype()
				s.accept("not", "null")
				s.initial()
			})
		})
	case s.accept("ref"):
		s.expect("cursor")
		if s.accept("return") {
			s.datatype()
		}
	default:
		s.fail(s.i, "TABLE, VARRAY, RECORD or REF CURSOR should stand here")
	}
}

// parameters reads the parameters of a routine or a cursor, which may be missing.
func (s *strict) parameters() {
	if !s.is("(") {
		return
	}
	s.inParens(func() {
		s.list(func() {
			s.identifier()
			s.accept("in")
			s.accept("out")
			s.accept("nocopy")
			s.datatype()
			s.initial()
		})
	})
}

// routine reads FUNCTION or PROCEDURE with its semicolon, with a body or without.
func (s *strict) routine() {
	function := s.is("function")
	s.i++
	s.accept("if", "not", "exists")
	name := s.table()
	s.parameters()
	if function {
		s.expect("return")
		s.datatype()
	}
	for s.accept("authid", "current_user") || s.accept("authid", "definer") || s.acceptAny("deterministic", "pipelined", "parallel_enable", "result_cache") {
	}
	if s.acceptAny("is", "as") {
		s.declarations()
		s.body(name)
	}
	s.semicolon()
}

// unit reads what is kept in the database: a routine or a package.
func (s *strict) unit() {
	s.blocks++
	defer func() { s.blocks-- }()
	if !s.accept("package") {
		s.routine()
		return
	}
	body := s.accept("body")
	s.accept("if", "not", "exists")
	name := s.table()
	if s.accept("authid") && !s.acceptAny("current_user", "definer") {
		s.fail(s.i, "CURRENT_USER or DEFINER should stand here")
	}
	if !s.acceptAny("is", "as") {
		s.fail(s.i, "IS should stand here")
	}
	s.declarations()
	if body && s.is("begin") {
		s.body(name)
	} else {
		s.expect("end")
		s.endName(name)
	}
	s.semicolon()
}
