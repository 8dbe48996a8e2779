package schema

// This file reads T-SQL, the SQL of SQL Server and Azure SQL: schema files,
// migrations, what SSMS and its relatives script. Batches end with GO, statements
// anywhere; names keep their case and compare without it.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// mssqlLexis is how T-SQL's scripts are made.
var mssqlLexis = lexis{
	nestedComments: true, prefixes: "n", brackets: true, doubled: true, sigils: true,
	batches: true, unmarked: true, colonCommands: true,
}

// mssql is what the reader of one database knows beside its tables.
type mssql struct {
	aliases map[[2]string]alias // see drafts.place
}

// An alias is a type that CREATE TYPE makes of another.
type alias struct {
	base    Type
	notNull bool
}

func newMSSQL() *mssql { return &mssql{aliases: map[[2]string]alias{}} }

// grammar returns T-SQL's.
func (m *mssql) grammar() *grammar {
	return &grammar{
		lexis: mssqlLexis, fold: func(name string) string { return name }, anyCase: true, schema: "dbo",
		statement: m.statement, element: m.element, option: m.option, command: m.command,
		columnType: m.columnType, untyped: m.untyped, attribute: m.attribute,
		keyOption: m.keyOption, events: m.events,
		keyName: mssqlKeyName, checkName: mssqlCheckName, method: mssqlMethod, settle: m.settle,
		adds: true, alters: true, lastComma: true, asQuery: true, namesFirst: true,
	}
}

func readMSSQL(files []*source.File, errs *source.ErrorList) *Catalog {
	return readTolerant(newMSSQL().grammar(), files, errs)
}

// settle says of tables why their rows cannot be locked, where an index is why. A primary key
// is clustered by itself where nothing else is.
func (m *mssql) settle(r *tolerant) {
	for _, t := range r.tables {
		if pk := t.PrimaryKey; pk != nil && slices.ContainsFunc(t.Indexes, func(ix *Index) bool { return ix.Clustered && ix != pk.index }) {
			pk.index.Clustered = false
		}
		for _, ix := range t.Indexes {
			if t.NoRowLocks == "" && ix.noRowLocks != "" {
				t.NoRowLocks = fmt.Sprintf("its index %s %s", ix.Name, ix.noRowLocks)
			}
		}
	}
}

// statement returns what reads a statement that T-SQL has for itself.
func (m *mssql) statement(r *tolerant) func() *source.Error {
	read := func(read func(*tolerant) *source.Error) func() *source.Error {
		return func() *source.Error { return read(r) }
	}
	switch {
	case r.st.is(0, "create"):
		return read(m.create)
	case r.st.is(0, "alter"):
		return read(m.alter)
	case r.st.is(0, "drop"):
		return read(m.drop)
	case r.st.is(0, "enable", "disable"):
		return read(m.switchTriggers)
	case r.st.is(0, "exec", "execute"):
		return read(m.execute)
	case r.st.is(0, "use", "rename"): // not what other SQL means by it
		return func() *source.Error { return nil }
	case r.isName(0) && r.procedureAt(0) != "": // the first of a batch needs no EXEC
		r.i = 0
		return read(m.execute)
	}
	return nil
}

// create reads CREATE.
func (m *mssql) create(r *tolerant) *source.Error {
	replace := r.accept("or", "alter")
	switch {
	case r.accept("table"):
		return r.createTable(false, r.isTemporary())
	case r.accept("external", "table"):
		r.refuse(r.st, "an external table")
	case r.accept("view"):
		return r.createView(replace)
	case r.accept("trigger"):
		r.createTrigger()
	case r.accept("type"):
		m.createType(r)
	default:
		m.createIndex(r)
	}
	return nil
}

// isTemporary reports whether the next token names a temporary table.
func (r *tolerant) isTemporary() bool {
	return strings.HasPrefix(r.nameAt(r.st, r.st.qualified(r.i)), "#")
}

// createIndex reads CREATE INDEX behind CREATE.
func (m *mssql) createIndex(r *tolerant) {
	k := &keyDefinition{}
	for ; !r.accept("index"); r.i++ {
		switch r.word() {
		case "unique":
			k.kind = uniqueKey
		case "clustered":
			k.clustered = true
		case "columnstore", "xml", "spatial", "vector", "json":
			k.method = r.word()
		case "nonclustered", "primary":
		default:
			return
		}
	}
	k.noteColumnstore()
	r.createIndex(k)
}

// columnstore is the method of an index that keeps columns by themselves.
const columnstore = "columnstore"

// noteColumnstore notes what follows where the table itself is kept by columns.
func (k *keyDefinition) noteColumnstore() {
	if k.clustered && k.method == columnstore {
		k.noRowLocks = "is a clustered columnstore"
	}
}

// alter reads ALTER.
func (m *mssql) alter(r *tolerant) *source.Error {
	switch {
	case r.accept("view"):
		return r.createView(true)
	case r.accept("trigger"):
		r.createTrigger()
	case r.accept("index"):
		m.alterIndex(r)
	case r.accept("schema"):
		m.transfer(r)
	case r.is("table"):
		return r.alter()
	}
	return nil
}

// alterIndex reads ALTER INDEX behind INDEX.
func (m *mssql) alterIndex(r *tolerant) {
	all := r.accept("all")
	name := ""
	if !all {
		name, _ = r.name()
	}
	r.expect("on")
	of := r.ref()
	t := r.find(of.schema, of.name)
	if t == nil || r.fault != nil {
		return
	}
	why, said := rowLocks(r.st, r.i, len(r.st.tokens))
	for _, ix := range t.Indexes {
		switch {
		case !all && !strings.EqualFold(ix.Name, name):
			continue
		case r.is("disable"):
			ix.Invisible = true
		case r.is("rebuild"):
			ix.Invisible = false
		}
		if said {
			ix.noRowLocks = why
		}
	}
}

// rowLocks reads in the options of an index, which stand in the tokens from from
// up to end, whether it lets rows be locked: why is "" where it does.
func rowLocks(st *statement, from, end int) (why string, said bool) {
	for i := from; i < end; i++ {
		if st.is(i, "allow_row_locks") && st.is(i+1, "=") {
			why, said = "", true
			if st.is(i+2, "off") {
				why = "has ALLOW_ROW_LOCKS = OFF"
			}
		}
	}
	return why, said
}

// transfer reads ALTER SCHEMA behind SCHEMA.
func (m *mssql) transfer(r *tolerant) {
	to, _ := r.name()
	r.expect("transfer")
	if r.st.is(r.i+1, "::") {
		r.i += 2
	}
	n := r.ref()
	if t := r.find(n.schema, n.name); r.fault == nil && t != nil {
		t.Schema = to
	}
}

// createType reads CREATE TYPE behind TYPE. Types that are tables, or come out of
// assemblies, stay unknown.
func (m *mssql) createType(r *tolerant) {
	n := r.ref()
	if !r.accept("from") {
		return
	}
	d := &definition{Column: &Column{}}
	m.columnType(r, d)
	if r.accept("not", "null") {
		d.NotNull = true
	}
	if r.fault == nil {
		m.aliases[r.place(n.schema, n.name)] = alias{d.Type, d.NotNull}
	}
}

// drop reads DROP.
func (m *mssql) drop(r *tolerant) *source.Error {
	what := r.word()
	if what != "index" && what != "trigger" && what != "type" {
		return r.dropObject()
	}
	r.i++
	r.accept("if", "exists")
	for r.fault == nil {
		n := r.ref()
		switch {
		case r.fault != nil:
		case what == "type":
			delete(m.aliases, r.place(n.schema, n.name))
		case what == "trigger" && r.is("on"): // DATABASE
			return nil
		case what == "trigger":
			r.dropTrigger(n)
		case r.accept("on"):
			of := r.ref()
			if r.accept("with") {
				r.group()
			}
			m.dropIndex(r, of, n.name)
		default: // table.index, as it was said until 2005
			m.dropIndex(r, ref{name: n.schema}, n.name)
		}
		if !r.accept(",") {
			return nil
		}
	}
	return nil
}

func (m *mssql) dropIndex(r *tolerant, of ref, name string) {
	if t := r.find(of.schema, of.name); r.fault == nil && t != nil {
		t.dropIndexes(func(ix *Index) bool { return strings.EqualFold(ix.Name, name) })
	}
}

// events reads what a trigger does things on, up to AS.
func (m *mssql) events(r *tolerant, g *Trigger) {
	for ; r.i < len(r.st.tokens) && (!r.is("as") || r.st.is(r.i-1, "exec", "execute")); r.i++ {
		switch event := r.word(); event {
		case "instead":
			g.Instead = true
		case "insert", "update", "delete":
			g.Events = append(g.Events, event)
		}
	}
}

// switchTriggers reads ENABLE TRIGGER and DISABLE TRIGGER.
func (m *mssql) switchTriggers(r *tolerant) *source.Error {
	if !r.accept("trigger") {
		return nil
	}
	names := r.triggerNames()
	r.expect("on")
	of := r.ref()
	if t := r.find(of.schema, of.name); r.fault == nil && t != nil {
		t.switchTriggers(names, r.st.is(0, "disable"))
	}
	return nil
}

// triggerNames reads names of triggers; nil stands for ALL.
func (r *tolerant) triggerNames() []string {
	if r.accept("all") {
		return nil
	}
	var names []string
	for r.fault == nil {
		n := r.ref()
		names = append(names, n.name)
		if !r.accept(",") {
			break
		}
	}
	return names
}

// switchTriggers disables triggers or enables them; nil stands for all.
func (t *draft) switchTriggers(names []string, off bool) {
	for _, g := range t.Triggers {
		if names == nil || slicesContainsFold(names, g.Name) {
			g.Disabled = off
		}
	}
}

// mssqlKeyName names a key. SQL Server puts a number behind that no file tells.
func mssqlKeyName(t *draft, k *keyDefinition, ix *Index) string {
	if k.kind == primaryKey {
		if k.name != "" {
			return k.name
		}
		return "PK__" + t.Name
	}
	for n := len(t.Indexes) + 1; ; n++ {
		if name := fmt.Sprintf("UQ__%s__%d", t.Name, n); t.index(name) == nil {
			return name
		}
	}
}

// mssqlCheckName does the same for a check.
func mssqlCheckName(t *draft) string { return fmt.Sprintf("CK__%s__%d", t.Name, len(t.checks)+1) }

// mssqlMethod tells how an index is built.
func mssqlMethod(_ *Table, ix *Index) string {
	if ix.Method == "" {
		return btree
	}
	return ix.Method
}
