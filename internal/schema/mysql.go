package schema

// This file reads the DDL of MySQL, MariaDB and TiDB: schema files, migrations,
// the output of mysqldump. The reader of tokens reads it all, since it keeps
// every place and knows MariaDB's words as well; the parser made for MySQL is
// asked about statements that hold words which the reader does not know.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// mysqlLexis is how MySQL's scripts are made, but for the comments that run.
var mysqlLexis = lexis{
	hashComments: true, spacedDashes: true,
	doubleStrings: true, escapes: true, prefixes: "xbn", backticks: true, looseNames: true,
	delimiters: true, compoundBodies: true,
}

// mysqlGrammar is MySQL's, and TiDB's.
var mysqlGrammar = newMySQLGrammar(grammar{
	accepts:     mysqlAccepts,
	checkName:   mysqlCheckName,
	renameCheck: mysqlRenameCheck,
	indexWords:  []string{"key", "index", "fulltext", "spatial", "vector"},
	method:      mysqlMethod,
	columnType:  mysqlType,
}, mysqlRuns)

// mariadbGrammar is MariaDB's. MySQL's parser knows too little of it to be asked
// about more than what both share.
var mariadbGrammar = newMySQLGrammar(grammar{
	accepts:      mysqlAccepts,
	checkName:    mariadbCheckName,
	indexWords:   []string{"key", "index", "fulltext", "spatial", "vector"},
	method:       mariadbMethod,
	columnChecks: true,
	columnType:   mariadbType,
}, mariadbRuns)

func newMySQLGrammar(g grammar, runs func(string) bool) *grammar {
	g.lexis = mysqlLexis
	g.lexis.runs = runs
	g.fold = func(name string) string { return name }
	g.anyCase = true
	g.attribute = mysqlAttribute
	g.option = mysqlOption
	g.command = mysqlCommand
	g.keyName = mysqlKeyName
	g.sharedIndexes = true
	g.settle = indexForeignKeys
	return &g
}

// indexForeignKeys adds the indexes that InnoDB makes for foreign keys: one for each whose columns no other
// index begins with, also where that is made later, and where the foreign key itself has gone (tried). It goes by
// the name of the constraint, or of the first column (manual, FOREIGN KEY Constraints). One that the DDL writes, as
// dumps do, stays.
func indexForeignKeys(r *tolerant) {
	for _, t := range r.tables {
		if t.Engine != "" && !strings.EqualFold(t.Engine, "innodb") || t.Partitioned {
			continue
		}
		for _, f := range t.foreign {
			ix := &Index{Name: f.name, Pos: f.pos, Implicit: true}
			for _, name := range f.columns {
				c := t.Column(name)
				if c == nil {
					break
				}
				ix.Columns = append(ix.Columns, IndexColumn{Column: c, NullsFirst: true})
			}
			if len(ix.Columns) < len(f.columns) || len(ix.Columns) == 0 || slices.ContainsFunc(t.Indexes, ix.begins) {
				continue
			}
			if base := ix.Columns[0].Column.Name; ix.Name == "" {
				ix.Name = base
				for n := 2; t.index(ix.Name) != nil; n++ {
					ix.Name = base + "_" + strconv.Itoa(n)
				}
			}
			t.Indexes = slices.DeleteFunc(t.Indexes, func(other *Index) bool { return other.Implicit && other.begins(ix) })
			t.addIndex(ix)
		}
	}
}

// begins reports whether another index begins with the columns of this one.
func (ix *Index) begins(other *Index) bool {
	return len(other.Columns) >= len(ix.Columns) && slices.EqualFunc(other.Columns[:len(ix.Columns)], ix.Columns, func(c, own IndexColumn) bool {
		return c.Column == own.Column && c.Length == 0
	})
}

func readMySQL(files []*source.File, errs *source.ErrorList) *Catalog {
	return readTolerant(mysqlGrammar, files, errs)
}

func readMariaDB(files []*source.File, errs *source.ErrorList) *Catalog {
	return readTolerant(mariadbGrammar, files, errs)
}

// mysqlRuns tells whether a comment is part of the statement for MySQL; what
// TiDB alone runs is read as well, since MySQL never writes it.
func mysqlRuns(tag string) bool {
	return !strings.HasPrefix(tag, "M") && runVersion(tag) < noVersion
}

// mariadbRuns does the same for MariaDB, which leaves out what MySQL has had
// since 5.7 (mariadb.com/kb/en/comment-syntax).
func mariadbRuns(tag string) bool {
	v := runVersion(tag)
	skips := strings.HasPrefix(tag, "!") && 50700 <= v && v <= 99999
	return !strings.HasPrefix(tag, "T") && !skips && v < noVersion
}

// noVersion is where the versions begin that no server will have: they mark what
// is meant for a client.
const noVersion = 990000

// runVersion returns the version that a comment runs from, 0 for any.
func runVersion(tag string) int {
	v, err := strconv.Atoi(strings.TrimLeft(tag, "MT!"))
	if err != nil {
		return 0
	}
	return v
}

// mysqlAttribute reads what MySQL and MariaDB write behind a type.
func mysqlAttribute(r *tolerant, d *definition) bool {
	switch {
	case r.acceptAny("auto_increment", "auto_random"):
		if r.is("(") && r.st.is(r.i-1, "auto_random") {
			r.group()
		}
		d.Identity, d.HasDefault, d.Default = true, true, ""
	case r.accept("serial", "default", "value"):
		d.serial(r.i - 3)
	case r.accept("key"):
		d.keys = append(d.keys, d.key(primaryKey, r.i-1, r.i))
	case r.accept("on", "update"):
		r.operand()
		d.OnUpdate, d.MayUpdate = true, false
	case r.accept("comment"):
		r.storedComment(&d.Comments)
	case r.accept("character", "set"), r.accept("char", "set"), r.accept("charset"):
		if r.is("binary") {
			d.Type.bytes()
		}
		r.value()
	case r.acceptAny("column_format", "storage", "srid"):
		r.value()
	case r.acceptAny("ascii", "unicode", "binary", "visible", "global", "local"):
	case r.accept("invisible"):
		d.Invisible = true
	case r.accept("without", "system", "versioning"), r.accept("with", "system", "versioning"):
	case r.accept("compressed"):
		if r.is("=") {
			r.value()
		}
	case r.acceptAny("engine_attribute", "secondary_engine_attribute", "ref_system_id"):
		r.value()
	case r.accept("first"):
		d.place = &place{}
	case r.accept("after"):
		d.place = &place{}
		d.place.after, d.place.at = r.name()
	case r.assignment():
	default:
		return false
	}
	return true
}

// serial makes the column what SERIAL, at that token, is short for.
func (d *definition) serial(at int) {
	d.NotNull, d.Identity, d.HasDefault, d.Default = true, true, true, ""
	d.keys = append(d.keys, d.key(uniqueKey, at, at+1))
}

// storedComment reads the text behind COMMENT, which takes the place of the one
// that was stored before.
func (r *tolerant) storedComment(comments *[]Comment) {
	r.accept("=")
	c, ok := r.textComment(r.i)
	if !ok {
		r.fail(r.i, "a text should stand here")
		return
	}
	r.i++
	*comments = removeStored(*comments)
	if c.Text != "" {
		*comments = append(*comments, c)
	}
}

// textComment returns the comment that the text at token i stores; false where
// none stands there.
func (r *tolerant) textComment(i int) (Comment, bool) {
	if !r.has(i, text) {
		return Comment{}, false
	}
	raw := r.st.text(i)
	value, plain := textValue(raw, r.drafts.lexis.escapes)
	from, to := textBody(raw)
	off := r.st.tokens[i].off
	return Comment{
		Text: value, Pos: r.st.script.file.Pos(off+from, to-from), Exact: raw[from:to] == value, stored: true,
	}, plain
}

// mysqlKeyName names a key as MySQL does: after its first column, counting on
// where the table has a key of that name.
func mysqlKeyName(t *draft, k *keyDefinition, ix *Index) string {
	if k.kind == primaryKey {
		return "PRIMARY"
	}
	base := "functional_index"
	if len(ix.Columns) > 0 && ix.Columns[0].Column != nil {
		base = ix.Columns[0].Column.Name
	}
	taken := map[string]bool{"primary": true}
	for _, other := range t.Indexes {
		taken[strings.ToLower(other.Name)] = true
	}
	name := base
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}

// mysqlCheckName counts on from the highest number that a check of the table
// has, mariadbCheckName takes the first that none has.
func mysqlCheckName(t *draft) string {
	last := 0
	for _, k := range t.checks {
		last = max(last, checkNumber(k.name, t.Name))
	}
	return fmt.Sprintf("%s%s%d", t.Name, checkLabel, last+1)
}

const checkLabel = "_chk_"

// checkNumber returns the number in the name that MySQL gave to a check, 0 when
// it did not.
func checkNumber(name, table string) int {
	digits, ok := strings.CutPrefix(strings.ToLower(name), strings.ToLower(table)+checkLabel)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0
	}
	return n
}

func mysqlRenameCheck(name, from, to string) string {
	if n := checkNumber(name, from); n > 0 {
		return fmt.Sprintf("%s%s%d", to, checkLabel, n)
	}
	return name
}

func mariadbCheckName(t *draft) string {
	taken := map[string]bool{}
	for _, k := range t.checks {
		taken[strings.ToUpper(k.name)] = true
	}
	n := 1
	for taken[fmt.Sprintf("CONSTRAINT_%d", n)] {
		n++
	}
	return fmt.Sprintf("CONSTRAINT_%d", n)
}

// Untransacted reports whether a change of the table stays when its transaction is
// undone, as far as the DDL tells.
func (t *Table) Untransacted() bool {
	return slicesContainsFold([]string{"myisam", "aria", "memory", "heap", "csv", "archive", "merge", "mrg_myisam"}, t.Engine)
}

// mysqlMethod tells how an index is built: HASH is what MEMORY and NDB do, and
// other engines do not, whatever is written.
func mysqlMethod(t *Table, ix *Index) string {
	hashes := slicesContainsFold([]string{"memory", "heap", "ndb", "ndbcluster"}, t.Engine)
	switch {
	case ix.Method == "" && hashes:
		return "hash"
	case ix.Method == "", ix.Method == "hash" && !hashes:
		return btree
	}
	return ix.Method
}

// mariadbMethod does the same for MariaDB, which keeps a unique key over long
// texts as a hash.
func mariadbMethod(t *Table, ix *Index) string {
	if ix.Method == "hash" && ix.Unique && t.PrimaryKey != nil && t.PrimaryKey.index != ix {
		return "hash"
	}
	return mysqlMethod(t, ix)
}
