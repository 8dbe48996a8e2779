package schema

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sqlc-dev/meyer/parser"
)

// Check reads statements of a grammar and returns what its parser says against
// them. It knows no tables: a name that is not there is no error.
func Check(grammar, sql string) (err error) {
	g, ok := grammars[grammar]
	if !ok {
		return fmt.Errorf("no parser for the grammar %q", grammar)
	}
	if strings.ContainsRune(sql, 0) {
		return errors.New("a NUL byte stands in the statement") // the parsers would stop there
	}
	if !utf8.ValidString(sql) {
		return errors.New("the statement is not UTF-8 text")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	return g.check(sql)
}

func checkSQLite(sql string) error {
	_, err := parser.ParseString(sql)
	return err
}
