package schema

// This file reads the DDL of Oracle: scripts for SQL*Plus, what DBMS_METADATA and
// SQL Developer write, migrations. There is no parser of Oracle in Go, so that a
// word of which the reader knows nothing makes a statement unreadable.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/source"
)

// oracleLexis is how scripts are made, statementLexis a statement that a program
// sends.
var (
	oracleLexis    = lexis{prefixes: "n", plsql: true, sqlplus: true}
	statementLexis = lexis{prefixes: "n", plsql: true}
)

// oracleGrammar is Oracle's, from 10g to 23ai.
var oracleGrammar = &grammar{
	lexis:        oracleLexis,
	fold:         oracleFold,
	cased:        true,
	rowIdentity:  true,
	nullsHigh:    true,
	emptyNull:    true,
	namesOutputs: true,
	listEnds:     []string{"connect", "start", "minus", "offset", "fetch", "model", "pivot", "unpivot"},
	checkName:    func(*draft) string { return "" }, // SYS_C and a number that the DDL does not tell
	method:       oracleMethod,

	statement:  oracleStatement,
	settle:     oracleSettle,
	events:     oracleEvents,
	columnType: oracleType,
	untyped:    oracleUntyped,
	attribute:  oracleAttribute,
	element:    oracleElement,
	option:     oracleOption,
	command:    oracleCommand,
	state:      oracleState,
	part:       oraclePart,
	keyOption:  oracleKeyState,
	take:       oracleTake,
	modify:     oracleModify,
	ends:       oracleEnds,
	viewOption: func(r *tolerant) bool { return r.phrase(oracleViewWords) },
}

func readOracle(files []*source.File, errs *source.ErrorList) *Catalog {
	return readTolerant(oracleGrammar, files, errs)
}

// oracleFold folds an unquoted name. A letter whose upper case is another letter's
// as well stays as it is.
func oracleFold(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToUpper(name)
	}
	return strings.Map(func(r rune) rune {
		if up := unicode.ToUpper(r); strings.EqualFold(string(r), string(up)) {
			return up
		}
		return r
	}, name)
}

// oracleMethod tells how an index is built.
func oracleMethod(_ *Table, ix *Index) string {
	if ix.Method == "" {
		return btree
	}
	return ix.Method
}

// oracleStatement returns what reads a statement that Oracle alone has, or writes
// in its own way.
func oracleStatement(r *tolerant) func() *source.Error {
	switch st := r.st; {
	case st.is(0, "create"):
		return r.oracleCreate()
	case st.is(0, "comment"):
		return r.commentOn
	case st.is(0, "alter") && !st.is(1, "table"):
		return r.alterObject
	case st.is(0, "drop") && st.is(1, "index"):
		return r.oracleDropIndex
	case st.is(0, "rename"):
		return r.oracleRename
	case st.is(0, "begin", "declare", "<"):
		return r.oracleBlock
	}
	return nil
}

// oracleCreate returns what reads a CREATE.
func (r *tolerant) oracleCreate() func() *source.Error {
	i := 1
	for r.st.is(i, "or", "replace", "editionable", "noneditionable", "editioning", "no", "force", "unique", "bitmap", "multivalue") {
		i++
	}
	for r.st.is(i, "global", "private", "temporary", "sharded", "duplicated", "immutable", "blockchain", "usecase", "flexible") {
		i++
	}
	nothing := func() *source.Error { return nil }
	switch {
	case r.st.is(i, "table", "view", "trigger"):
		return nil
	case r.st.is(i, "index"):
		return func() *source.Error { return r.oracleCreateIndex(i) }
	case r.st.is(i, "domain"):
		return func() *source.Error { return r.oracleDomain(i) }
	case r.st.is(i, "materialized") && r.st.is(i+1, "view") && !r.st.is(i+2, "log"):
		return func() *source.Error { r.refuse(r.st, "a materialized view"); return nil }
	}
	return nothing
}

// commentOn reads COMMENT ON TABLE t IS '…' and COMMENT ON COLUMN t.c IS '…'.
func (r *tolerant) commentOn() *source.Error {
	r.accept("on")
	column := r.is("column")
	if !r.acceptAny("table", "column") {
		return nil
	}
	var names []string
	for r.fault == nil && (len(names) == 0 || r.accept(".")) {
		name, _ := r.name()
		names = append(names, name)
	}
	r.expect("is")
	if r.fault != nil {
		return r.fault
	}
	var lost []Comment
	target := r.commented(names, column)
	if target == nil {
		target = &lost
	}
	r.storedComment(target)
	r.end()
	for _, c := range lost {
		if r.fault == nil && strings.Contains(c.Text, mark) {
			c.Of = strings.Join(names, ".")
			r.loose = append(r.loose, c)
		}
	}
	return r.fault
}

// commented returns the comments of the table or column of that name, nil without.
func (r *tolerant) commented(names []string, column bool) *[]Comment {
	last := len(names)
	if column {
		last--
	}
	if last < 1 {
		return nil
	}
	schema := ""
	if last > 1 {
		schema = names[last-2]
	}
	t := r.find(schema, names[last-1])
	switch {
	case t == nil:
		return nil
	case !column:
		return &t.Comments
	}
	if c := t.Column(names[last]); c != nil {
		return &c.Comments
	}
	return nil
}

// alterObject reads ALTER of what is no table.
func (r *tolerant) alterObject() *source.Error {
	switch what := r.word(); {
	case r.accept("session", "set", "current_schema"):
		r.accept("=")
		if name, _ := r.name(); r.fault == nil {
			r.home = name
		}
	case r.acceptAny("index", "trigger"):
		r.accept("if", "exists")
		n := r.ref()
		if r.fault != nil {
			return nil
		}
		if what == "index" {
			r.alterIndex(n)
		} else {
			r.alterTrigger(n)
		}
	}
	return nil
}

// alterIndex reads what stands behind the name in ALTER INDEX.
func (r *tolerant) alterIndex(n ref) {
	_, ix := r.indexNamed(n)
	if ix == nil {
		return
	}
	switch {
	case r.accept("rename", "to"):
		if to := r.ref(); r.fault == nil {
			ix.Name, ix.Pos = to.name, r.st.pos(to.at)
		}
	case r.acceptAny("invisible", "unusable"):
		ix.Invisible = true
	case r.acceptAny("visible", "rebuild"):
		ix.Invisible = false
	}
}

// indexNamed returns the index of that name with its table, which the name does
// not tell.
func (r *tolerant) indexNamed(n ref) (*draft, *Index) {
	for _, t := range r.tables {
		if home := r.homeOf(t); n.schema != "" && home != "" && home != n.schema {
			continue
		}
		if ix := t.index(n.name); ix != nil && n.name != "" {
			return t, ix
		}
	}
	return nil, nil
}

// alterTrigger reads what stands behind the name in ALTER TRIGGER.
func (r *tolerant) alterTrigger(n ref) {
	for _, t := range r.tables {
		for _, g := range t.Triggers {
			if g.Name != n.name || n.schema != "" && r.homeOf(t) != "" && r.homeOf(t) != n.schema {
				continue
			}
			switch {
			case r.is("disable"):
				g.Disabled = true
			case r.is("enable"):
				g.Disabled = false
			case r.accept("rename", "to"):
				if to := r.ref(); r.fault == nil {
					g.Name, g.Pos = to.name, r.st.pos(to.at)
				}
			}
			return
		}
	}
}

// oracleDropIndex reads DROP INDEX.
func (r *tolerant) oracleDropIndex() *source.Error {
	r.i++
	r.accept("if", "exists")
	if t, ix := r.indexNamed(r.ref()); r.fault == nil && ix != nil {
		t.dropIndexes(func(o *Index) bool { return o == ix })
	}
	return nil
}

// oracleRename reads RENAME a TO b.
func (r *tolerant) oracleRename() *source.Error {
	from := r.ref()
	r.expect("to")
	to := r.ref()
	if t := r.find(from.schema, from.name); r.fault == nil && t != nil {
		r.renameTo(t, to)
	}
	return nil
}

// oracleSettle does what only the whole of the files tells: which columns triggers
// fill, which are never null by a check, and which numbers are whole.
func oracleSettle(r *tolerant) {
	for _, t := range r.tables {
		for _, g := range t.Triggers {
			for _, f := range g.fills {
				if c := t.Column(f.column); c != nil && !g.Disabled {
					c.Identity, c.HasDefault = true, true
					c.Always = c.Always || f.always
				}
			}
		}
		for _, k := range t.checks {
			for _, name := range r.neverNull(k) {
				if c := t.Column(name); c != nil {
					c.NotNull = true
				}
			}
		}
		wholeNumbers(t)
	}
}

// neverNull returns the columns that a check forbids to be null.
func (r *tolerant) neverNull(k *check) (columns []string) {
	if k.off || !strings.Contains(strings.ToLower(k.text), "null") {
		return nil
	}
	statements := scan(source.NewFile("", []byte(k.text)), statementLexis).statements
	if len(statements) != 1 {
		return nil
	}
	outer := r.st
	defer func() { r.st = outer }()
	r.st = statements[0]
	from, to := 0, len(r.st.tokens)
	for r.wraps(from, to) {
		from, to = from+1, to-1
	}
	if len(r.splitAt(from, to, "or", "||")) > 1 {
		return nil
	}
	for _, part := range r.splitAt(from, to, "and", "&&") {
		for r.wraps(part[0], part[1]) {
			part[0], part[1] = part[0]+1, part[1]-1
		}
		if column, i := r.columnAt(part[0], part[1]); column != "" && i < part[1] && r.st.skip(i, "is", "not", "null") == part[1] {
			columns = append(columns, column)
		}
	}
	return columns
}
