package schema

// This file and those named oracle_check_… check the statements that programs send
// to Oracle: queries, changes of rows, PL/SQL blocks and units. They know that part
// of SQL and PL/SQL of which queues are made; what they do not know is an error.

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// checkOracleSQL reads statements. Behind a PL/SQL block nothing but a "/" may
// stand.
func checkOracleSQL(sql string) error {
	return eachStatement(sql, statementLexis, nil, func(st *statement) error {
		s := &strict{tolerant: newTolerant(oracleGrammar, &source.ErrorList{})}
		s.st, s.strange = st, -1
		if last := st.tokens[len(st.tokens)-1]; st.script.unclosed && last.end == len(st.script.src) {
			return errors.New("a text is never closed")
		}
		s.whole()
		if s.fault == nil {
			return nil
		}
		return fmt.Errorf("%s, on line %d", strings.TrimPrefix(s.fault.Msg, "cannot read the statement: "), s.fault.Pos.Line())
	})
}

// A strict reads one statement and takes nothing that it does not know. It shares
// with the reader of DDL how tokens are looked at.
type strict struct {
	*tolerant
	query  *query // that is being read, nil outside
	blocks int    // PL/SQL that stands open
	inSQL  int    // statements of SQL within
	depth  int    // of what is nested
	fixed  bool   // no bind may stand here
}

// whole reads a statement up to its end.
func (s *strict) whole() {
	switch {
	case s.is("create"):
		s.create()
	case s.is("begin", "declare"), s.isLabel():
		s.block()
		if last := len(s.st.tokens) - 1; s.fault == nil && s.st.is(last, ";") && s.closed() {
			s.fail(last, "one semicolon ends a block")
		}
	case s.accept("explain", "plan"):
		if s.accept("set", "statement_id") {
			s.sign("=")
			s.string()
		}
		s.expect("for")
		s.sql()
	case s.accept("alter", "session", "set"):
		s.identifier()
		s.sign("=")
		s.expr()
	case s.is("drop", "truncate"):
		s.drop()
	case s.is("comment"), s.is("alter") && s.st.is(1, "table"):
		s.definition()
	case s.accept("call"):
		s.reference()
	default:
		s.sql()
	}
	if s.i < len(s.st.tokens) {
		s.fail(s.i, "nothing is known of "+shown(s.st.text(s.i))+" here")
	}
}

// sql reads a statement that PL/SQL has as well.
func (s *strict) sql() {
	s.inSQL++
	defer func() { s.inSQL-- }()
	switch {
	case s.is("select", "with", "("):
		s.statementQuery()
	case s.accept("insert"):
		s.insert()
	case s.accept("update"):
		s.update()
	case s.accept("delete"):
		s.delete()
	case s.accept("merge"):
		s.merge()
	case s.accept("lock", "table"):
		s.lockTable()
	default:
		s.transaction()
	}
}

// transaction reads what begins, marks and ends a transaction.
func (s *strict) transaction() {
	switch {
	case s.accept("commit"):
		s.accept("work")
	case s.accept("rollback"):
		s.accept("work")
		if s.accept("to") {
			s.accept("savepoint")
			s.identifier()
		}
	case s.accept("savepoint"):
		s.identifier()
	case s.accept("set", "transaction"):
		switch {
		case s.accept("read", "only"), s.accept("read", "write"), s.accept("isolation", "level", "serializable"):
		default:
			s.words("isolation", "level", "read", "committed")
		}
		if s.accept("name") {
			s.string()
		}
	default:
		s.fail(s.i, "no statement begins with "+shown(s.st.text(s.i)))
	}
}

func (s *strict) lockTable() {
	s.list(func() { s.table() })
	s.expect("in")
	switch {
	case s.accept("row", "share"), s.accept("row", "exclusive"), s.accept("share", "row", "exclusive"), s.accept("share"), s.accept("exclusive"):
	default:
		s.fail(s.i, "a lock mode should stand here")
	}
	s.expect("mode")
	if !s.accept("nowait") && s.accept("wait") {
		s.number()
	}
}

// create reads CREATE.
func (s *strict) create() {
	i := s.st.skip(1, "or", "replace")
	if s.st.is(i, "editionable", "noneditionable") {
		i++
	}
	switch {
	case s.st.is(i, "function", "procedure", "package"):
		s.i = i
		s.unit()
	case s.st.is(i, "view"), s.st.is(i, "force") && s.st.is(i+1, "view"):
		s.i = i
		s.accept("force")
		s.i++
		s.table()
		s.names()
		s.expect("as")
		s.binds(func() { s.subquery() })
	case s.st.is(i, "index", "unique", "bitmap") && i == 1:
		s.binds(s.createIndex)
	case s.st.is(i, "sequence") && i == 1:
		s.i = 2
		s.accept("if", "not", "exists")
		s.table()
		for s.phrase(oracleSequenceWords) {
		}
	case s.st.is(i, "table", "trigger", "global", "domain"):
		s.definition()
	default:
		s.fail(i, "nothing is known of "+shown(s.st.text(i))+" here")
	}
}

// binds reads what holds no bind: a definition is kept, an argument is not.
func (s *strict) binds(read func()) {
	s.fixed = true
	read()
	s.fixed = false
}

// createIndex reads CREATE INDEX.
func (s *strict) createIndex() {
	s.i = 1
	s.acceptAny("unique", "bitmap")
	s.expect("index")
	s.accept("if", "not", "exists")
	s.table()
	s.expect("on")
	s.table()
	s.expect("(")
	s.list(func() {
		s.expr()
		s.acceptAny("asc", "desc")
	})
	s.expect(")")
	for s.fault == nil && s.i < len(s.st.tokens) && s.indexOption(&keyDefinition{}) {
	}
}

// definition reads a statement as the reader of DDL does, every word of which must
// be known.
func (s *strict) definition() {
	s.fault = faultOf(oracleGrammar, s.st)
	s.i = len(s.st.tokens)
}

// drop reads DROP and TRUNCATE.
func (s *strict) drop() {
	truncate := s.is("truncate")
	s.i++
	kind := s.word()
	if truncate && kind != "table" || !s.acceptAny("table", "index", "view", "sequence", "trigger", "function", "procedure", "package", "domain") {
		s.fail(s.i, "nothing is known of "+shown(s.st.text(s.i))+" here")
		return
	}
	if kind == "package" {
		s.accept("body")
	}
	s.accept("if", "exists")
	s.table()
	switch kind {
	case "table":
		s.accept("cascade", "constraints")
		s.accept("purge")
	case "index":
		s.accept("online")
	}
}

// reserved are the words that are no names; manual, SQL Language Reference, Oracle
// SQL Reserved Words. Some of them stand for a value.
var reserved = wordSet(`access add all alter and any as asc audit between by char check cluster column column_value comment compress
	connect create current date decimal default delete desc distinct drop else exclusive exists file float for from grant group
	having identified immediate in increment index initial insert integer intersect into is level like lock long maxextents minus
	mlslabel mode modify nested_table_id noaudit nocompress not nowait null number of offline on online option or order pctfree
	prior public raw rename resource revoke row rowid rownum rows select session set share size smallint start successful synonym
	sysdate table then to trigger uid union unique update user validate values varchar varchar2 view whenever where with`)

// blockReserved are no names in PL/SQL, outside of its SQL; manual, PL/SQL Language
// Reference, Reserved Words and Keywords. Behind the last line stand keywords that
// begin a statement here.
var blockReserved = wordSet(`at begin case clusters colauth columns crash cursor declare end exception fetch function goto if
	indexes overlaps procedure sql subtype tabauth type views when
	close commit continue elsif execute exit forall loop merge open pipe pragma raise return rollback savepoint while`)

// pseudoColumns are reserved words that stand for a value.
var pseudoColumns = wordSet(`rownum rowid level sysdate uid user column_value`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// maxIdentifier is how long a name is at most, in bytes.
const maxIdentifier = 128

// isIdentifier reports whether token i may be a name.
func (s *strict) isIdentifier(i int) bool {
	switch t := s.st.text(i); {
	case s.has(i, quoted):
		return len(t) > 2 && len(t) <= maxIdentifier+2 && strings.HasSuffix(t, `"`)
	case s.has(i, word):
		w := strings.ToLower(t)
		return t[0] != '_' && len(t) <= maxIdentifier && !reserved[w] && (s.blocks == 0 || s.inSQL > 0 || !blockReserved[w])
	}
	return false
}

// identifier reads a name.
func (s *strict) identifier() string {
	if s.fault != nil {
		return ""
	}
	if !s.isIdentifier(s.i) {
		s.fail(s.i, "a name should stand here")
		return ""
	}
	s.i++
	return s.nameAt(s.st, s.i-1)
}

// table reads a name with what may stand in front of it, and returns its last part.
func (s *strict) table() string {
	name := s.identifier()
	for s.fault == nil && s.accept(".") {
		name = s.identifier()
	}
	if s.accept("@") {
		s.identifier()
		for s.fault == nil && s.accept(".") {
			s.identifier()
		}
	}
	return name
}

// list reads one or more things with commas between.
func (s *strict) list(read func()) (n int) {
	for s.fault == nil {
		read()
		n++
		if !s.accept(",") {
			break
		}
	}
	return n
}

// names reads names in parentheses, which may be missing.
func (s *strict) names() {
	if s.is("(") {
		s.inParens(func() { s.list(func() { s.identifier() }) })
	}
}

// closed reports whether a semicolon stands behind the tokens of the statement.
func (s *strict) closed() bool {
	tokens, behind := s.st.script.tokens, s.st.first+len(s.st.tokens)
	return behind < len(tokens) && s.st.script.textOf(tokens[behind]) == ";"
}

// words reads words that must stand next.
func (s *strict) words(words ...string) {
	for _, w := range words {
		s.expect(w)
	}
}

// sign reads an operator that must stand next.
func (s *strict) sign(op string) {
	if !s.operator(op) {
		s.fail(s.i, shown(op)+" should stand here")
	}
}

// operator moves behind an operator, between whose signs nothing may stand.
func (s *strict) operator(op string) bool {
	for n := range len(op) {
		i := s.i + n
		if !s.has(i, sign) || s.st.text(i) != op[n:n+1] || n > 0 && s.st.tokens[i-1].end != s.st.tokens[i].off {
			return false
		}
	}
	s.i += len(op)
	return true
}

// string reads a text.
func (s *strict) string() {
	if !s.has(s.i, text) {
		s.fail(s.i, "a text should stand here")
		return
	}
	s.i++
}

var numberForm = regexp.MustCompile(`^(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[fFdD]?$`)

// number reads a number.
func (s *strict) number() {
	if !s.has(s.i, number) || !numberForm.MatchString(s.st.text(s.i)) {
		s.fail(s.i, "a number should stand here")
		return
	}
	s.i++
}

// bind reads :name or :1 if one stands here.
func (s *strict) bind() bool {
	if !s.is(":") || s.st.is(s.i+1, "=") {
		return false
	}
	name := s.st.text(s.i + 1)
	switch {
	case s.i+1 >= len(s.st.tokens) || s.st.tokens[s.i].end != s.st.tokens[s.i+1].off,
		s.has(s.i+1, number) && strings.Trim(name, "0123456789") != "",
		s.has(s.i+1, word) && (reserved[strings.ToLower(name)] || name[0] == '_'),
		!s.has(s.i+1, number) && !s.has(s.i+1, word):
		s.fail(s.i, "a bind is :name or :1, and no word of the language")
	case s.fixed:
		s.fail(s.i, "no bind may stand in a definition")
	default:
		s.i += 2
	}
	return true
}

// nested reads something that may hold itself.
func (s *strict) nested(read func()) {
	if s.depth++; s.depth > maxDepth {
		s.fail(s.i, "an expression is nested too deep or is too long")
		return
	}
	read()
	s.depth--
}
