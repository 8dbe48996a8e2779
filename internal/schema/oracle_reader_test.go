package schema

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/source"
)

// What DBMS_METADATA and SQL Developer make of a schema says what its script says,
// with the schema's name or without, with ends of statements or without.
func TestOracleExportsReadLikeTheirSource(t *testing.T) {
	read := func(name string) string {
		var errs source.ErrorList
		c, err := Read("oracle", readFiles(t, filepath.Join("testdata", "oracle", name)), &errs)
		if err != nil || errs.Len() > 0 || len(c.Tables) != 4 || len(c.Loose) > 0 || len(c.Unread) > 0 {
			t.Fatal(name, err, errs.Err(), len(c.Tables), c.Loose, c.Unread)
		}
		slices.SortFunc(c.Tables, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
		for _, table := range c.Tables {
			table.Schema = ""
			table.Comments = slices.DeleteFunc(table.Comments, func(c Comment) bool { return !c.stored })
			slices.SortFunc(table.Indexes, func(a, b *Index) int { return strings.Compare(a.Name, b.Name) })
			slices.SortFunc(table.Uniques, func(a, b *Key) int { return strings.Compare(a.Name, b.Name) })
		}
		return dump(c, facts)
	}
	want := read("source.sql")
	for _, name := range []string{"exported.sql", "exported_plain.sql"} {
		if got := read(name); got != want {
			t.Errorf("%s says\n%s\nits source\n%s", name, got, want)
		}
	}
}
