package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// A reader turns the DDL files of one database, in order, into a catalog.
// What it cannot read but need not, it skips; what it must, it reports.
type reader func(files []*source.File, errs *source.ErrorList) *Catalog

// A checker returns what the parser of a grammar has against a statement of any kind.
type checker func(sql string) error

// grammars holds what reads DDL, what checks statements, and the lexical rules of each
// grammar; a dialect names its own in dialect.yaml.
var grammars = map[string]struct {
	read  reader
	check checker
	lexis *lexis
}{
	"cockroachdb": {readCockroachDB, checkCockroachDB, &postgresqlLexis},
	"mariadb":     {readMariaDB, checkMariaDB, &mariadbGrammar.lexis},
	"mssql":       {readMSSQL, checkMSSQL, &mssqlLexis},
	"mysql":       {readMySQL, checkMySQL, &mysqlGrammar.lexis},
	"oracle":      {readOracle, checkOracleSQL, &statementLexis},
	"postgresql":  {readPostgreSQL, pgCheck, &postgresqlLexis},
	"sqlite":      {readSQLite, checkSQLite, &sqliteLexis},
	"yugabytedb":  {readYugabyteDB, pgCheck, &postgresqlLexis},
}

// Grammars returns the names of the grammars that can be read.
func Grammars() []string { return slices.Sorted(maps.Keys(grammars)) }

// Read reads DDL files in the order in which they would be run. In folders of
// migrations, files that end in .down.sql and parts that lead back are left out.
func Read(grammar string, files []*source.File, errs *source.ErrorList) (*Catalog, error) {
	g, ok := grammars[grammar]
	if !ok {
		return nil, fmt.Errorf("no reader for the grammar %q (have %s)", grammar, strings.Join(Grammars(), ", "))
	}
	isDown := func(f *source.File) bool { return strings.HasSuffix(f.Path, ".down.sql") }
	return g.read(slices.DeleteFunc(slices.Clone(files), isDown), errs), nil
}
