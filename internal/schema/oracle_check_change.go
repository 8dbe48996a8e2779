package schema

// This file checks statements that change rows.

// insert reads INSERT from behind the word on.
func (s *strict) insert() {
	if s.acceptAny("all", "first") {
		s.insertAll()
		return
	}
	s.expect("into")
	s.insertTarget()
	if !s.accept("values") {
		s.subquery()
		return
	}
	if s.blocks > 0 && !s.is("(") {
		s.reference() // a record
	} else {
		s.list(s.values)
	}
	s.returning()
}

// insertTarget reads the table and the columns of an INSERT.
func (s *strict) insertTarget() {
	s.table()
	if s.isIdentifier(s.i) {
		s.i++
	}
	if s.is("(") && !s.opensQuery(s.i) {
		s.inParens(func() { s.list(func() { s.table() }) })
	}
}

// values reads one row of VALUES.
func (s *strict) values() {
	s.inParens(func() { s.list(s.assignable) })
}

// assignable reads a value that a column gets.
func (s *strict) assignable() {
	if !s.accept("default") {
		s.expr()
	}
}

// insertAll reads INSERT ALL INTO … INTO … SELECT.
func (s *strict) insertAll() {
	for first := true; s.fault == nil && (first || s.is("into")); first = false {
		s.expect("into")
		s.insertTarget()
		if s.accept("values") {
			s.values()
		}
	}
	s.subquery()
}

// update reads UPDATE from behind the word on.
func (s *strict) update() {
	s.changed()
	s.expect("set")
	if s.blocks > 0 && s.accept("row") {
		s.sign("=")
		s.reference()
	} else {
		s.sets()
	}
	s.where()
	s.returning()
}

// changed reads what UPDATE and DELETE change.
func (s *strict) changed() {
	if s.is("(") {
		s.inParens(func() { s.subquery() })
	} else {
		s.table()
		if s.acceptAny("partition", "subpartition") {
			s.inParens(func() { s.identifier() })
		}
	}
	s.alias("")
}

// sets reads the assignments of an UPDATE.
func (s *strict) sets() {
	s.list(func() {
		if s.is("(") {
			s.inParens(func() { s.list(func() { s.table() }) })
			s.sign("=")
			s.inParens(func() { s.subquery() })
			return
		}
		s.table()
		s.sign("=")
		s.assignable()
	})
}

// where reads WHERE, which may be missing.
func (s *strict) where() {
	if !s.accept("where") {
		return
	}
	if s.blocks > 0 && s.accept("current", "of") {
		s.identifier()
		return
	}
	s.expr()
}

// delete reads DELETE from behind the word on.
func (s *strict) delete() {
	s.accept("from")
	s.changed()
	s.where()
	s.returning()
}

// returning reads RETURNING … INTO.
func (s *strict) returning() {
	if !s.acceptAny("returning", "return") {
		return
	}
	values := s.list(func() {
		if (s.is("old") || s.is("new")) && s.isIdentifier(s.i+1) {
			s.i++
		}
		s.expr()
	})
	bulk := s.i
	if s.accept("bulk", "collect") && s.blocks == 0 {
		s.fail(bulk, "BULK COLLECT stands in PL/SQL only")
	}
	s.expect("into")
	at := s.i
	targets := s.list(s.target)
	if s.fault == nil && targets != values && (s.blocks == 0 || targets > 1) {
		s.fail(at, "INTO must name as many targets as RETURNING has values")
	}
}

// merge reads MERGE from behind the word on.
func (s *strict) merge() {
	s.expect("into")
	s.table()
	s.alias("")
	s.expect("using")
	s.source()
	s.expect("on")
	s.inParens(s.expr)
	matched, added := 0, 0
	for s.fault == nil && s.accept("when") {
		if s.accept("not") {
			added++
			s.words("matched", "then", "insert")
			if s.is("(") {
				s.inParens(func() { s.list(func() { s.table() }) })
			}
			s.expect("values")
			s.values()
			s.where()
			continue
		}
		matched++
		s.words("matched", "then", "update", "set")
		s.sets()
		s.where()
		if s.accept("delete") {
			s.expect("where")
			s.expr()
		}
	}
	if s.fault == nil && (matched > 1 || added > 1 || matched+added == 0) {
		s.fail(s.i, "MERGE needs WHEN MATCHED or WHEN NOT MATCHED, each once")
	}
}
