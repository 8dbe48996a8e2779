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

// readers holds one reader for each grammar; a dialect names its own in
// dialect.yaml.
var readers = map[string]reader{
	"cockroachdb": readPostgreSQL,
	"mariadb":     readMariaDB,
	"mssql":       readMSSQL,
	"mysql":       readMySQL,
	"oracle":      readOracle,
	"postgresql":  readPostgreSQL,
	"sqlite":      readSQLite,
}

// Grammars returns the names of the grammars that can be read.
func Grammars() []string { return slices.Sorted(maps.Keys(readers)) }

// Read reads DDL files in the order in which they would be run. In folders of
// migrations, files that end in .down.sql and parts that lead back are left out.
func Read(grammar string, files []*source.File, errs *source.ErrorList) (*Catalog, error) {
	read, ok := readers[grammar]
	if !ok {
		return nil, fmt.Errorf("no reader for the grammar %q (have %s)", grammar, strings.Join(Grammars(), ", "))
	}
	isDown := func(f *source.File) bool { return strings.HasSuffix(f.Path, ".down.sql") }
	return read(slices.DeleteFunc(slices.Clone(files), isDown), errs), nil
}
