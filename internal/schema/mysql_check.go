package schema

// This file checks whole statements of MySQL and MariaDB with the parser made for
// MySQL, which knows TiDB's words as well and MariaDB's hardly at all.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sqlc-dev/marino/parser"

	"github.com/qgen-dev/qgen/internal/source"
)

// notMySQL are words that the parser takes and MySQL does not.
var notMySQL = [][]string{
	{"update", "wait"}, {"share", "wait"},
	{"index", "if"}, {"key", "if"}, {"column", "if"}, {"constraint", "if"},
}

// notMariaDB are words that the parser takes and MariaDB does not.
var notMariaDB = [][]string{
	{"for", "update", "of"}, {"for", "share"}, {"-", ">"}, {"member", "of"}, {"values", "row", "("},
}

// checkMySQL reads statements.
func checkMySQL(sql string) error {
	return eachStatement(sql, mysqlGrammar.lexis, notMySQL, func(st *statement) error {
		return mysqlParse(st.sql())
	})
}

// checkMariaDB reads statements. A list behind RETURNING is read by itself, as
// the list of a SELECT, which it is; definitions in words of MariaDB's own go by
// the reader of DDL.
func checkMariaDB(sql string) error {
	return eachStatement(sql, mariadbGrammar.lexis, notMariaDB, func(st *statement) error {
		st, err := withoutSettings(st)
		if err != nil {
			return err
		}
		text := st.sql()
		if st.skip(0, "begin", "not", "atomic") > 0 {
			return mysqlParse(procedureOf(st))
		}
		if at := returning(st); at >= 0 {
			off := st.tokens[at].off - st.off()
			list := text[off+len("returning"):]
			if err := mysqlParse("SELECT " + list + " FROM t"); err != nil {
				return fmt.Errorf("behind RETURNING: %w", err)
			}
			text = text[:off]
		}
		err = mysqlParse(text)
		if err != nil && st.is(0, "create", "alter") && defines(mariadbGrammar, st) == nil {
			return nil
		}
		return err
	})
}

// withoutSettings returns a statement without the settings that hold for it alone, which are read by
// themselves: SET STATEMENT variable = value, … FOR.
func withoutSettings(st *statement) (*statement, error) {
	at := st.skip(0, "set", "statement")
	if at == 0 {
		return st, nil
	}
	end := at
	for end < len(st.tokens) && !st.is(end, "for") {
		end++
	}
	if end+1 >= len(st.tokens) {
		return nil, errors.New("SET STATEMENT has no FOR and a statement behind it")
	}
	if err := mysqlParse("SET " + st.written(at, end)); err != nil {
		return nil, fmt.Errorf("behind SET STATEMENT: %w", err)
	}
	rest := *st
	rest.tokens = st.tokens[end+1:]
	return &rest, nil
}

// procedureOf writes a block as the body of a procedure, which the parser knows,
// with a type of the parser's own for that of a column.
func procedureOf(st *statement) string {
	body, kept := st.sql()[st.tokens[2].end-st.off():], 0
	text := "CREATE PROCEDURE p() BEGIN"
	for i := range st.tokens {
		if at := st.skip(i, "type", "of"); at > i && at < len(st.tokens) {
			end := st.qualified(at)
			text += body[kept:st.tokens[i].off-st.tokens[2].end] + "BIGINT"
			kept = st.tokens[end].end - st.tokens[2].end
		}
	}
	return text + body[kept:]
}

// eachStatement cuts sql up and checks every statement.
func eachStatement(sql string, lex lexis, foreign [][]string, check func(*statement) error) error {
	script := scan(source.NewFile("", []byte(sql)), lex)
	for _, r := range script.remarks {
		if strings.HasPrefix(script.src[r.off:], "/*") && r.textEnd == r.end {
			return errors.New("a comment is never closed")
		}
	}
	statements := script.statements
	if lex.unmarked {
		statements = script.sentences()
	}
	for _, st := range statements {
		if tooDeep(st) >= 0 {
			return errors.New("an expression is nested too deep or is too long")
		}
		for i := range st.tokens {
			for _, words := range foreign {
				if st.skip(i, words...) > i {
					return fmt.Errorf("line %d: the server does not know %s", st.pos(i).Line(), strings.ToUpper(strings.Join(words, " ")))
				}
			}
		}
		if err := check(st); err != nil {
			return fmt.Errorf("statement of line %d: %w", st.pos(0).Line(), err)
		}
	}
	return nil
}

// returning returns the token RETURNING that ends a statement which changes rows,
// or -1.
func returning(st *statement) int {
	if !st.is(0, "insert", "replace", "update", "delete") {
		return -1
	}
	for i := 0; i < len(st.tokens); i++ {
		switch {
		case st.is(i, "("):
			i = st.closing(i)
		case st.is(i, "returning"):
			return i
		}
	}
	return -1
}

// mysqlParse returns what the parser says against statements.
func mysqlParse(sql string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	_, _, err = parser.New().ParseSQL(sql)
	return err
}

// mysqlAccepts reports whether the parser takes a statement.
func mysqlAccepts(st *statement) bool {
	return tooDeep(st) < 0 && mysqlParse(st.sql()) == nil
}

// defines returns what the reader of DDL has against a statement, of which it must
// know every word.
func defines(g *grammar, st *statement) error {
	if err := faultOf(g, st); err != nil {
		return fmt.Errorf("line %d: %s", err.Pos.Line(), err.Msg)
	}
	return nil
}

// faultOf returns what makes a definition unreadable.
func faultOf(g *grammar, st *statement) *source.Error {
	r := newTolerant(g, &source.ErrorList{})
	if head := headOf(st); head >= 0 && st.is(0, "alter") {
		r.add(&Table{Schema: r.schemaAt(st, head), Name: r.nameAt(st, head)})
	}
	r.read(st)
	return r.verdict()
}
