package schema

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/qgen-dev/qgen/internal/source"
)

// fataler is what a test and a property have in common.
type fataler interface{ Fatal(args ...any) }

func readText(t fataler, grammar, text string) (*Catalog, *source.ErrorList) {
	var errs source.ErrorList
	c, err := Read(grammar, []*source.File{source.NewFile("schema.sql", []byte(text))}, &errs)
	if err != nil {
		t.Fatal(err)
	}
	return c, &errs
}

// Dumps of one schema say the same, whichever server they come from.
func TestDumpsOfAllServersAreEqual(t *testing.T) {
	paths, err := filepath.Glob("testdata/postgresql/pg_dump_*.sql")
	if err != nil || len(paths) != 4 {
		t.Fatalf("found the dumps %q: %v", paths, err)
	}
	var first string
	for _, path := range paths {
		var errs source.ErrorList
		c, err := Read("postgresql", readFiles(t, path), &errs)
		if err != nil || errs.Len() > 0 {
			t.Fatal(path, err, errs.Err())
		}
		if len(c.Tables) < 9 {
			t.Fatalf("%s: only %d tables", path, len(c.Tables))
		}
		switch got := dump(c, expressions); {
		case first == "":
			first = got
		case got != first:
			t.Errorf("%s differs from %s:\n%s\nwant:\n%s", path, paths[0], got, first)
		}
	}
}

// The script that the dumps were made of reads like the dumps, but for the
// order of things and the text of expressions.
func TestDumpReadsLikeItsSource(t *testing.T) {
	var texts []string
	for _, name := range []string{"pg_dump.sql", "pg_dump_18.sql"} {
		var errs source.ErrorList
		c, err := Read("postgresql", readFiles(t, filepath.Join("testdata", "postgresql", name)), &errs)
		if err != nil || errs.Len() > 0 {
			t.Fatal(name, err, errs.Err())
		}
		slices.SortFunc(c.Tables, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
		for _, table := range c.Tables {
			slices.SortFunc(table.Indexes, func(a, b *Index) int { return strings.Compare(a.Name, b.Name) })
		}
		texts = append(texts, dump(c, facts))
	}
	if texts[0] != texts[1] {
		t.Errorf("script:\n%s\ndump:\n%s", texts[0], texts[1])
	}
}

func TestReadUnknownGrammar(t *testing.T) {
	_, err := Read("cobol", nil, &source.ErrorList{})
	if want := `no reader for the grammar "cobol" (have ` + strings.Join(Grammars(), ", ") + `)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLookup(t *testing.T) {
	pg, _ := readText(t, "postgresql", `CREATE TABLE jobs (id int); CREATE TABLE app.jobs (id int); CREATE TABLE "Jobs" (id int); CREATE TABLE "a.b" (id int); CREATE TABLE a.b (id int); CREATE TABLE "my.app"."x.y" (id int);`)
	lite, _ := readText(t, "sqlite", `CREATE TABLE Jobs (ID int); CREATE TABLE aux."x y" (id int);`)
	ora, _ := readText(t, "oracle", `CREATE TABLE jobs (id int); CREATE TABLE app.jobs (id int); CREATE TABLE "Jobs" (id int, "Id" int);`)
	my, _ := readText(t, "mysql", "CREATE TABLE Jobs (ID int); CREATE TABLE jobs (id int); CREATE TABLE Mixed (id int); CREATE TABLE a.Mixed (id int);")
	ms, _ := readText(t, "mssql", "CREATE TABLE [Jobs] (ID int) CREATE TABLE [Audit].Jobs (id int) CREATE TABLE dbo.[a.B] (id int)")
	for _, tt := range []struct {
		catalog *Catalog
		name    string
		want    string
	}{
		{ms, "JOBS", "Jobs Audit.Jobs"},
		{ms, "audit.JOBS", "Audit.Jobs"},
		{ms, "A.b", "dbo.a.B"},
		{ms, "DBO.A.B", "dbo.a.B"},
		{my, "jobs", "jobs"},
		{my, "Jobs", "Jobs"},
		{my, "JOBS", "Jobs jobs"},
		{my, "mixed", "Mixed a.Mixed"},
		{my, "A.MIXED", "a.Mixed"},
		{pg, "jobs", "jobs app.jobs"},
		{pg, "JOBS", "jobs app.jobs"},
		{pg, "Jobs", "Jobs"},
		{pg, "app.jobs", "app.jobs"},
		{pg, "App.Jobs", "app.jobs"},
		{pg, "a.b", "a.b"},
		{pg, "my.app.x.y", "my.app.x.y"},
		{pg, "x", ""},
		{ora, "JOBS", "JOBS APP.JOBS"},
		{ora, "Jobs", "Jobs"},
		{ora, "APP.JOBS", "APP.JOBS"},
		{lite, "jobs", "Jobs"},
		{lite, "AUX.X Y", "aux.x y"},
	} {
		var got []string
		for _, table := range tt.catalog.Lookup(tt.name, strings.ToLower) {
			got = append(got, table.QualifiedName())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("Lookup(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	if c := ora.Tables[2].Column("Id"); c == nil || c == ora.Tables[2].Column("ID") || ora.Tables[0].Column("id") != nil {
		t.Error("Column of Oracle does not tell case apart")
	}
	if lite.Tables[0].Column("id") == nil || pg.Tables[0].Column("ID") != nil {
		t.Error("Column does not follow the case rules of its database")
	}
}

// What the reader says of a SQLite schema is what SQLite says of it.
func TestSQLiteAgrees(t *testing.T) {
	for _, name := range []string{"basic", "types", "migrations", "dot_schema"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "sqlite", name+".sql")
			db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "test.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			db.SetMaxOpenConns(1)
			if _, err := db.Exec("ATTACH ':memory:' AS aux"); err != nil {
				t.Fatal(err)
			}
			var errs source.ErrorList
			files := readFiles(t, path)
			c, err := Read("sqlite", files, &errs)
			if err != nil || errs.Len() > 0 {
				t.Fatal(err, errs.Err())
			}
			for _, f := range files {
				if strings.HasSuffix(f.Path, ".down.sql") {
					continue
				}
				// Statement by statement: a table that SQLite made by itself
				// may not be made again.
				for _, st := range scan(f, sqliteLexis).statements {
					_, err := db.Exec(st.sql())
					if err != nil && !strings.Contains(err.Error(), "reserved for internal use") && !strings.Contains(err.Error(), "already exists") {
						t.Fatal(err)
					}
				}
			}
			for _, table := range c.Tables {
				if len(table.Gaps) > 0 {
					continue
				}
				if want, got := describeLive(t, db, table), describe(table); got != want {
					t.Errorf("%s:\n%s\nSQLite says:\n%s", table.Name, got, want)
				}
			}
		})
	}
}

// describe writes a table down in SQLite's terms.
func describe(table *Table) string {
	var b strings.Builder
	for _, c := range table.Columns {
		pk := 0
		rowid := false
		if table.PrimaryKey != nil {
			for i, k := range table.PrimaryKey.Columns {
				if k == c {
					pk = i + 1
				}
			}
			rowid = pk > 0 && table.PrimaryKey.index.Method == "rowid"
		}
		def := c.Default
		if c.HasDefault && def != "" {
			def = strings.TrimSuffix(strings.TrimPrefix(def, "("), ")")
		}
		fmt.Fprintf(&b, "%s notnull=%v default=%q pk=%d generated=%v\n", c.Name, c.NotNull || rowid, def, pk, c.Generated)
	}
	for _, ix := range table.Indexes {
		if ix.Method == "rowid" {
			continue
		}
		fmt.Fprintf(&b, "index %s unique=%v partial=%v:", ix.Name, ix.Unique, ix.Where != "")
		for _, c := range ix.Columns {
			name := "<expr>"
			if c.Column != nil {
				name = c.Column.Name
			}
			fmt.Fprintf(&b, " %s/%v", name, c.Desc)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// describeLive writes down what SQLite says of a table, its indexes in the
// order in which the reader has them.
func describeLive(t *testing.T, db *sql.DB, table *Table) string {
	t.Helper()
	schema := table.Schema
	if schema == "" {
		schema = "main"
	}
	var b strings.Builder
	const columns = `SELECT name, "notnull", coalesce(dflt_value, ''), pk, hidden FROM pragma_table_xinfo(?, ?)`
	for _, row := range queryRows(t, db, columns, table.Name, schema) {
		name, notNull, def, pk := row[0], row[1] == "1", row[2], row[3]
		generated := row[4] >= "2" // hidden: 2 and 3 are generated
		if c := table.Column(name); c != nil && table.View {
			notNull, def, generated = c.NotNull, c.Default, c.Generated // SQLite says nothing of views
		} else if c != nil && pk != "0" && table.PrimaryKey.index.Method == rowid {
			notNull = true // the row's number is never null, though SQLite does not say so
		}
		def = strings.TrimSuffix(strings.TrimPrefix(def, "("), ")")
		fmt.Fprintf(&b, "%s notnull=%v default=%q pk=%s generated=%v\n", name, notNull, def, pk, generated)
	}
	for _, ix := range table.Indexes {
		if ix.Method == "rowid" {
			continue
		}
		const list = `SELECT "unique", partial FROM pragma_index_list(?, ?) WHERE name = ?`
		for _, row := range queryRows(t, db, list, table.Name, schema, ix.Name) {
			fmt.Fprintf(&b, "index %s unique=%v partial=%v:", ix.Name, row[0] == "1", row[1] == "1")
		}
		const keys = `SELECT coalesce(name, '<expr>'), "desc" FROM pragma_index_xinfo(?, ?) WHERE key`
		for _, row := range queryRows(t, db, keys, ix.Name, schema) {
			fmt.Fprintf(&b, " %s/%v", row[0], row[1] == "1")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// queryRows returns the rows of a query as text.
func queryRows(t *testing.T, db *sql.DB, query string, args ...any) [][]string {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var result [][]string
	for rows.Next() {
		row := make([]string, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		result = append(result, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return result
}

// A thousand tables with everything that usually stands around them are read in
// a time that does not make anybody wait.
func BenchmarkRead(b *testing.B) {
	paths, err := filepath.Glob("testdata/*/basic.sql")
	if err != nil || len(paths) == 0 {
		b.Fatal("no scripts", err)
	}
	for _, path := range paths {
		grammar := filepath.Base(filepath.Dir(path))
		table, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{100, 1000} {
			var text strings.Builder
			for i := range n {
				text.WriteString(strings.NewReplacer("email_outbox", fmt.Sprintf("outbox_%d", i), "Mixed Case", fmt.Sprintf("Mixed %d", i), "phase", fmt.Sprintf("phase_%d", i)).Replace(string(table)))
			}
			b.Run(fmt.Sprintf("%s/%d", grammar, n), func(b *testing.B) {
				for b.Loop() {
					if _, errs := readText(b, grammar, text.String()); errs.Len() > 0 {
						b.Fatal(errs.Err())
					}
				}
			})
		}
	}
}

// What no parser needs to see is refused with its place.
func TestUnreadableText(t *testing.T) {
	for _, tt := range []struct{ grammar, text, want string }{
		{"postgresql", "CREATE TABLE t (a int, -- qgen:id\n b\x00 int);", "schema.sql:2:3: cannot read the statement: it holds a NUL byte"},
		{"sqlite", "CREATE TABLE t (a int, -- qgen:id\n b\x00 int);", "schema.sql:2:3: cannot read the statement: it holds a NUL byte"},
		{"postgresql", "CREATE TABLE t (a int, -- qgen:id\n \"\xff\" int);", "schema.sql:2:2: cannot read the statement: it is not UTF-8"},
		{"mysql", "CREATE TABLE t (a int, -- qgen:id\n b\x00 int);", "schema.sql:2:3: cannot read the statement: it holds a NUL byte"},
		{"mysql", "CREATE TABLE t (a int, -- qgen:id\n `\xff` int);", "schema.sql:2:2: cannot read the statement: it is not UTF-8"},
		{"oracle", "CREATE TABLE t (a int, -- qgen:id\n b\x00 int);", "schema.sql:2:3: cannot read the statement: it holds a NUL byte"},
		{"oracle", "CREATE TABLE t (a int, -- qgen:id\n \"\xff\" int);", "schema.sql:2:2: cannot read the statement: it is not UTF-8"},
		{
			"oracle", "CREATE TABLE t (a int CHECK (" + strings.Repeat("NOT ", 3000) + "a = 1)); -- qgen:id",
			"schema.sql:1:12006: cannot read the statement: an expression is nested too deep or is too long",
		},
		{"mssql", "CREATE TABLE t (a int, -- qgen:id\n b\x00 int)", "schema.sql:2:3: cannot read the statement: it holds a NUL byte"},
		{"mssql", "CREATE TABLE t (a int, -- qgen:id\n [\xff] int)", "schema.sql:2:2: cannot read the statement: it is not UTF-8"},
		{
			"mssql", "CREATE TABLE t (a int CHECK (" + strings.Repeat("(", 600) + "1=1)) -- qgen:id",
			"schema.sql:1:527: cannot read the statement: an expression is nested too deep or is too long",
		},
		{
			"mysql", "CREATE TABLE t (a int, " + strings.Repeat("x", 60) + " " + strings.Repeat("ü", 30) + " y); -- qgen:id",
			`schema.sql:1:116: cannot read the statement: nothing is known of "y" here`,
		},
		{
			"mysql", "CREATE TABLE t (a int " + strings.Repeat("ü", 30) + "); -- qgen:id",
			`schema.sql:1:23: cannot read the statement: nothing is known of "` + strings.Repeat("ü", 20) + `…" here`,
		},
		{
			"postgresql", "CREATE TABLE t (a int CHECK (" + strings.Repeat("NOT ", 3000) + "true)); -- qgen:id",
			"schema.sql:1:12006: cannot read the statement: an expression is nested too deep or is too long",
		},
		{
			"postgresql", "CREATE TABLE ü (a int CHECK (" + strings.Repeat("(", 600) + "true)); -- qgen:id",
			"schema.sql:1:527: cannot read the statement: an expression is nested too deep or is too long",
		},
		{"postgresql", "CREATE FUNCTION f() BEGIN; CREATE TABLE a (id int); END; SELECT 1; CREATE TABLE t (a int); -- qgen:id", ""},
	} {
		c, errs := readText(t, tt.grammar, tt.text)
		checkPlaces(t, c, errs)
		if got := errs.Error(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.grammar, got, tt.want)
		}
	}
}

// What would break the stack of a parser is refused, in both builds alike.
func TestDeepNesting(t *testing.T) {
	const n = 100_000
	for name, text := range map[string]string{
		"NOT":         "CREATE TABLE t (a int CHECK (" + strings.Repeat("NOT ", n) + "true)); -- qgen:queue",
		"operators":   "CREATE TABLE t (a int CHECK (a" + strings.Repeat(" + a", n) + " > 0)); -- qgen:queue",
		"parentheses": "CREATE TABLE t (a int CHECK (" + strings.Repeat("(", n) + "a" + strings.Repeat(")", n) + ")); -- qgen:queue",
		"unclosed":    "CREATE TABLE t (a int CHECK (" + strings.Repeat("f(1, ", n) + "; -- qgen:queue",
		"subscripts":  "CREATE TABLE t (a int CHECK (a" + strings.Repeat("[1]", n) + ")); -- qgen:queue",
		"unions":      "CREATE TABLE t AS SELECT 1" + strings.Repeat(" UNION SELECT 1", n) + "; -- qgen:queue",
	} {
		for _, grammar := range Grammars() {
			c, errs := readText(t, grammar, text)
			checkPlaces(t, c, errs)
			// SQLite's own limits let some of this pass.
			if grammar == "postgresql" && errs.Len() != 1 && name != "subscripts" {
				t.Errorf("%s: %d complaints", name, errs.Len())
			}
		}
	}
}

// Scripts that make no sense are read in a time that grows with their length.
func TestNonsenseIsReadInTime(t *testing.T) {
	const n = 20_000
	for name, text := range map[string]string{
		"triggers":  strings.Repeat("CREATE TRIGGER;", n),
		"functions": strings.Repeat("CREATE FUNCTION BEGIN ATOMIC;", n),
		"rules":     strings.Repeat("CREATE RULE (;", n),
		"comments":  strings.Repeat("-- qgen:x\n", n) + "CREATE TABLE t (id int);",
		"blocks":    strings.Repeat("/* ", n),
		"quotes":    strings.Repeat("'\n", n+1),
		"dollars":   strings.Repeat("$a$ $b$;", n+1),
		"copies":    strings.Repeat("COPY t FROM stdin;\n", n),
		"keys":      "CREATE TABLE t (id int" + strings.Repeat(", UNIQUE (id)", n/40) + ");",
		"checks":    "CREATE TABLE t (id int" + strings.Repeat(", CHECK (id > 1)", n/40) + ");",
		"unread":    strings.Repeat("CREATE TABLE t (id int,, -- qgen:x\n);\n", n/10),
		"untyped":   "CREATE TABLE t (id" + strings.Repeat(", a", n/4) + ") AS SELECT 1 FROM dual;",
		"guards":    "CREATE TABLE t (id int);\n" + strings.Repeat("CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW WHEN "+strings.Repeat("(", n/100), n/200),
		"dots":      strings.Repeat("a.", n) + strings.Repeat("/", n),
		"variables": strings.Repeat("${", n) + strings.Repeat("&", n),
		"definers":  strings.Repeat("CREATE TABLE t (a int\nCREATE TABLE u\n", n/10),
		"blocks do": strings.Repeat("DO $$ BEGIN CREATE TYPE a AS ENUM ('x'); END $$;\n", n/10),
	} {
		for _, grammar := range Grammars() {
			start := time.Now()
			c, errs := readText(t, grammar, text)
			checkPlaces(t, c, errs)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("%s, %s: %v", grammar, name, d)
			}
		}
	}
}
