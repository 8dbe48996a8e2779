package schema

// This file reads SQLite's DDL: schema files, migrations, the output of .schema
// and .dump. Names keep their case and compare without it.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlc-dev/meyer/ast"
	"github.com/sqlc-dev/meyer/parser"

	"github.com/qgen-dev/qgen/internal/source"
)

var sqliteLexis = lexis{backticks: true, brackets: true, prefixes: "x", dotCommands: true, triggerBodies: true}

// sqlite reads one database.
type sqlite struct {
	drafts
	st   *statement // being read
	base int        // offset of st, which the parser calls 0
}

func readSQLite(files []*source.File, errs *source.ErrorList) *Catalog {
	s := &sqlite{drafts: drafts{byName: map[string][]*draft{}, lexis: sqliteLexis, fold: func(name string) string { return name }, errs: errs}}
	for _, f := range files {
		text := scan(f, sqliteLexis)
		s.anchors = nil
		for _, st := range text.statements {
			s.read(st)
		}
		s.loose = append(s.loose, attach(text, s.anchors)...)
	}
	s.showAgain()
	return s.finish(files)
}

// read applies one statement.
func (s *sqlite) read(st *statement) {
	if !st.is(0, "create", "alter", "drop") {
		return
	}
	s.st, s.base = st, st.off()
	tree, err := parseSQLite(st)
	if err != nil {
		s.skipUnread(st, func(schema, name string) bool { return s.find(schema, name) != nil }, err)
		return
	}
	switch n := tree.(type) {
	case *ast.CreateTableStmt:
		s.createTable(n)
	case *ast.CreateViewStmt:
		s.createView(n)
	case *ast.CreateVirtualTableStmt:
		s.refuse(st, "a virtual table")
	case *ast.CreateIndexStmt:
		s.createIndex(n)
	case *ast.CreateTriggerStmt:
		s.createTrigger(n)
	case *ast.AlterTableStmt:
		s.alterTable(n)
	case *ast.DropTableStmt:
		s.dropNamed(n.Name)
	case *ast.DropViewStmt:
		s.dropNamed(n.Name)
	case *ast.DropIndexStmt:
		for _, t := range s.tables {
			t.dropIndexes(func(ix *Index) bool { return strings.EqualFold(ix.Name, n.Name.Name.Name) })
		}
	case *ast.DropTriggerStmt:
		for _, t := range s.tables {
			t.Triggers = slices.DeleteFunc(t.Triggers, func(g *Trigger) bool { return strings.EqualFold(g.Name, n.Name.Name.Name) })
		}
	}
}

// parseSQLite parses one statement. The parser's own failures count as errors
// of the statement.
func parseSQLite(st *statement) (tree ast.Stmt, err *source.Error) {
	sql := st.sql()
	at := func(offset int, msg string) *source.Error {
		i := st.covering(st.off() + max(0, min(offset, len(sql))))
		return unreadable(st.pos(i), msg)
	}
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return nil, at(i, "it holds a NUL byte")
	}
	defer func() {
		if p := recover(); p != nil {
			tree, err = nil, at(0, fmt.Sprintf("the parser failed: %v", p))
		}
	}()
	trees, failure := parser.ParseString(sql)
	if failure != nil {
		if e, ok := errors.AsType[*parser.Error](failure); ok {
			return nil, at(e.Offset, e.Message)
		}
		return nil, at(0, failure.Error())
	}
	if len(trees) != 1 {
		return nil, at(0, "it is not one statement")
	}
	return trees[0], nil
}

// pos returns the position of a node of the tree.
func (s *sqlite) pos(n ast.Node) source.Pos {
	return s.st.script.file.Pos(s.base+n.Pos(), n.End()-n.Pos())
}

// written returns a node as the user wrote it, on one line.
func (s *sqlite) written(n ast.Node) string {
	return s.st.written(s.st.at(s.base+n.Pos()), s.st.at(s.base+n.End()))
}

// find returns the table of that name, nil when there is none.
func (s *sqlite) find(schema, name string) *draft {
	main := func(schema string) string {
		if schema == "" {
			return "main"
		}
		return schema
	}
	for _, t := range s.byName[key(name)] {
		if strings.EqualFold(t.Name, name) && (schema == "" || strings.EqualFold(main(t.Schema), schema)) {
			return t
		}
	}
	return nil
}

func (s *sqlite) lookup(n *ast.QualifiedName) *draft { return s.find(schemaName(n), n.Name.Name) }

func schemaName(n *ast.QualifiedName) string {
	if n.Schema == nil {
		return ""
	}
	return n.Schema.Name
}

func (s *sqlite) dropNamed(n *ast.QualifiedName) {
	if t := s.lookup(n); t != nil {
		s.drop(t, false)
	} else {
		s.droppedBefore(schemaName(n), n.Name.Name)
	}
}

func (s *sqlite) createTable(n *ast.CreateTableStmt) {
	name := n.Name.Name.Name
	switch {
	case n.Temp || strings.EqualFold(schemaName(n.Name), "temp"):
		s.refuse(s.st, "a temporary table")
		return
	case strings.HasPrefix(strings.ToLower(name), "sqlite_"):
		return
	}
	if first := s.lookup(n.Name); first != nil {
		if !n.IfNotExists {
			s.twice(first, name, s.pos(n.Name.Name))
		}
		return
	}
	t := s.add(&Table{Schema: schemaName(n.Name), Name: name, Pos: s.pos(n.Name.Name), AnyCase: true})
	a := &anchor{st: s.st, table: t.Table, open: -1, close: -1}
	s.anchors = append(s.anchors, a)
	if n.Select != nil {
		s.selectColumns(t, a, n.Select, nil)
		for _, c := range t.Columns {
			// The types are those of the query's columns, nothing else is taken over.
			*c = Column{Name: c.Name, Pos: c.Pos, Type: c.Type}
		}
		return
	}
	open := s.st.at(s.base + n.Name.End())
	a.open, a.close = s.st.pos(open).Offset, s.st.pos(s.st.closing(open)).Offset
	strict := false
	for _, o := range n.Options {
		strict = strict || !o.Without && strings.EqualFold(o.Name.Name, "strict")
		t.NoRowIdentity = t.NoRowIdentity || o.Without
	}
	var keys []tableKey
	// away are columns that name a row of another table each: no number is made for them.
	away := map[*Column]bool{}
	refers := func(c *Column, to *ast.ForeignKeyClause) {
		away[c] = away[c] || to != nil && !strings.EqualFold(to.Table.Name, name)
	}
	for _, def := range n.Columns {
		c := s.column(t, def)
		if c == nil {
			continue
		}
		a.columns = append(a.columns, columnAnchor{c, c.Pos.Offset, s.base + def.End()})
		for _, k := range def.Constraints {
			switch k.Kind {
			case ast.ColumnReferences:
				refers(c, k.References)
			case ast.ColumnPrimaryKey, ast.ColumnUnique:
				keys = append(keys, tableKey{
					name: k.Name, node: k, primary: k.Kind == ast.ColumnPrimaryKey,
					columns:  []IndexColumn{{Column: c, Desc: k.Order == ast.SortDesc, NullsFirst: k.Order != ast.SortDesc}},
					rowAlias: k.Kind == ast.ColumnPrimaryKey && k.Order != ast.SortDesc,
					counts:   k.AutoIncrement,
				})
			}
		}
	}
	for _, k := range n.Constraints {
		switch k.Kind {
		case ast.TableCheck:
			s.addCheck(t, k.Name, k.Expr)
		case ast.TableForeignKey:
			if len(k.FKColumns) == 1 {
				if c := t.Column(k.FKColumns[0].Name.Name); c != nil {
					refers(c, k.References)
				}
			}
		case ast.TablePrimaryKey, ast.TableUnique:
			columns := s.indexColumns(t, k.Columns)
			if slices.ContainsFunc(columns, func(c IndexColumn) bool { return c.Column == nil }) {
				s.errs.Add(source.Errorf(s.pos(k), "the key of table %s names a column that the table does not have", name).
					WithHint("Name columns that stand in the same CREATE TABLE."))
				continue
			}
			keys = append(keys, tableKey{
				name: k.Name, node: k, columns: columns,
				primary: k.Kind == ast.TablePrimaryKey, rowAlias: k.Kind == ast.TablePrimaryKey, counts: k.AutoIncrement,
			})
		}
	}
	s.addKeys(t, keys, strict)
	for _, k := range keys {
		if c := k.columns[0].Column; k.rowAlias && !k.counts && c.Identity && away[c] {
			c.Identity, c.HasDefault, c.Reused = false, false, false
		}
	}
	t.resolveChecks()
}

// A tableKey is a PRIMARY KEY or UNIQUE constraint of a CREATE TABLE.
type tableKey struct {
	name     *ast.Ident
	node     ast.Node
	columns  []IndexColumn
	primary  bool
	rowAlias bool // an INTEGER PRIMARY KEY written like this is the row's number
	counts   bool // AUTOINCREMENT: no number comes twice
}

// addKeys adds keys the way SQLite does: an INTEGER PRIMARY KEY is the table's
// own order, everything else gets an index named after its place in line.
func (s *sqlite) addKeys(t *draft, keys []tableKey, strict bool) {
	auto := 0
	for _, tk := range keys {
		k := &Key{Pos: s.keyPos(tk)}
		for _, c := range tk.columns {
			k.Columns = append(k.Columns, c.Column)
		}
		if tk.name != nil {
			k.Name = tk.name.Name
		}
		ix := &Index{Pos: k.Pos, Unique: true, Method: btree, Columns: tk.columns}
		first := k.Columns[0]
		if tk.rowAlias && len(k.Columns) == 1 && strings.EqualFold(first.Type.Raw, "integer") && !t.NoRowIdentity {
			first.Identity, first.HasDefault, first.NotNull, first.Reused = true, true, true, !tk.counts
			ix.Method, ix.Columns[0].Desc, ix.Columns[0].NullsFirst = rowid, false, true
		} else {
			auto++
			ix.Name, ix.Auto = fmt.Sprintf("%s%s_%d", autoIndex, t.Name, auto), true
			if k.Name == "" {
				k.Name = ix.Name
			}
		}
		if tk.primary && (t.NoRowIdentity || strict) {
			for _, c := range k.Columns {
				c.NotNull = true
			}
		}
		t.addKey(k, tk.primary, ix)
	}
}

// autoIndex starts the names of the indexes that SQLite makes for keys.
const autoIndex = "sqlite_autoindex_"

// rowid is the method of the index that is the table itself.
const rowid = "rowid"

// keyPos returns the place of a key's name, or of the words that make it.
func (s *sqlite) keyPos(k tableKey) source.Pos {
	if k.name != nil {
		return s.pos(k.name)
	}
	return s.wordsPos(k.node, "primary", "key")
}

// wordsPos returns the position of the first word of n, and of the second if
// it stands behind the first.
func (s *sqlite) wordsPos(n ast.Node, first, second string) source.Pos {
	i := s.st.at(s.base + n.Pos())
	p := s.st.pos(i)
	if s.st.is(i, first) && s.st.is(i+1, second) {
		last := s.st.pos(i + 1)
		p.Len = last.Offset + last.Len - p.Offset
	}
	return p
}

// column adds a column; nil when the table has one of that name.
func (s *sqlite) column(t *draft, def *ast.ColumnDef) *Column {
	c := &Column{Name: def.Name.Name, Pos: s.pos(def.Name), Type: sqliteType(def.Type)}
	if t.Column(c.Name) != nil {
		s.errs.Add(source.Errorf(c.Pos, "table %s has two columns %s", t.Name, c.Name).
			WithHint("Give each column a name of its own; SQLite takes no notice of case."))
		return nil
	}
	t.Columns = append(t.Columns, c)
	for _, k := range def.Constraints {
		switch k.Kind {
		case ast.ColumnNotNull:
			c.NotNull = true
		case ast.ColumnDefault:
			c.HasDefault, c.Default = true, s.written(k.Expr)
			if lit, ok := k.Expr.(*ast.Literal); ok && lit.Kind == ast.LitString && c.Type.Class == Bytes {
				c.Type.Class = Text // no blob equals a text, and rows with the default hold a text
			}
		case ast.ColumnGenerated:
			c.Generated = true
		case ast.ColumnCheck:
			s.addCheck(t, k.Name, k.Expr)
		}
	}
	return c
}

func (s *sqlite) addCheck(t *draft, name *ast.Ident, expr ast.Expr) {
	k := &check{text: s.written(expr), values: sqliteValues(expr)}
	if name != nil {
		k.name = name.Name
	}
	t.checks = append(t.checks, k)
}

// indexColumns reads the terms of an index or a key. A term that names no
// column is an expression.
func (s *sqlite) indexColumns(t *draft, terms []*ast.OrderingTerm) []IndexColumn {
	var columns []IndexColumn
	for _, term := range terms {
		c := IndexColumn{Desc: term.Order == ast.SortDesc, NullsFirst: term.Order != ast.SortDesc}
		e := term.Expr
		if collated, ok := e.(*ast.CollateExpr); ok {
			e = collated.X
		}
		switch e := e.(type) {
		case *ast.Ident:
			c.Column = t.Column(e.Name)
		case *ast.Literal: // 'name' in a place for names
			if e.Kind == ast.LitString {
				c.Column = t.Column(e.Value)
			}
		}
		if c.Column == nil {
			c.Expr = s.written(term.Expr)
		}
		columns = append(columns, c)
	}
	return columns
}

func (s *sqlite) createIndex(n *ast.CreateIndexStmt) {
	t := s.find(schemaName(n.Name), n.Table.Name)
	if t == nil || slices.ContainsFunc(t.Indexes, func(ix *Index) bool { return strings.EqualFold(ix.Name, n.Name.Name.Name) }) {
		return
	}
	ix := &Index{
		Name: n.Name.Name.Name, Pos: s.pos(n.Name.Name), Unique: n.Unique, Method: btree,
		Columns: s.indexColumns(t, n.Columns),
	}
	if n.Where != nil {
		ix.Where = s.written(n.Where)
	}
	t.addIndex(ix)
}

func (s *sqlite) createTrigger(n *ast.CreateTriggerStmt) {
	schema := schemaName(n.Table)
	if schema == "" && !n.Temp {
		schema = schemaName(n.Name)
	}
	if t := s.find(schema, n.Table.Name.Name); t != nil {
		t.Triggers = append(t.Triggers, &Trigger{Name: n.Name.Name.Name, Pos: s.pos(n.Name.Name)})
	}
}

func (s *sqlite) alterTable(n *ast.AlterTableStmt) {
	t := s.lookup(n.Table)
	if t == nil {
		if n.Action != ast.AlterRenameTable {
			s.changedBefore(schemaName(n.Table), n.Table.Name.Name, s.pos(n.Table.Name))
		}
		return
	}
	var c *Column
	if n.Column != nil {
		c = t.Column(n.Column.Name)
	}
	switch n.Action {
	case ast.AlterRenameTable:
		for _, ix := range t.Indexes {
			if rest, ok := strings.CutPrefix(ix.Name, autoIndex+t.Name); ok {
				t.renameIndex(ix.Name, autoIndex+n.NewName.Name+rest, ix.Pos)
			}
		}
		s.rename(t, n.NewName.Name, s.pos(n.NewName))
	case ast.AlterAddColumn:
		if c = s.column(t, n.ColumnDef); c != nil {
			start := s.st.at(c.Pos.Offset) - 1
			if s.st.is(start, "column") {
				start--
			}
			s.anchors = append(s.anchors, &anchor{st: s.st, columns: []columnAnchor{
				{c, s.st.pos(start).Offset, s.base + n.ColumnDef.End()},
			}})
		}
	case ast.AlterAddConstraintCheck:
		s.addCheck(t, n.ConstraintName, n.Expr)
	case ast.AlterDropConstraint:
		t.dropConstraint(func(name string) bool { return strings.EqualFold(name, n.ConstraintName.Name) })
	case ast.AlterRenameColumn:
		if c != nil {
			t.renameColumn(c, n.NewName.Name, s.pos(n.NewName))
		}
	case ast.AlterDropColumn:
		if c != nil {
			t.dropColumn(c)
		}
	case ast.AlterSetNotNull:
		if c != nil {
			c.NotNull = true
		}
	case ast.AlterDropNotNull:
		if c != nil {
			c.NotNull = false
		}
	}
	t.resolveChecks()
}

func (s *sqlite) createView(n *ast.CreateViewStmt) {
	if n.Temp {
		s.refuse(s.st, "a temporary view")
		return
	}
	if first := s.lookup(n.Name); first != nil {
		if !n.IfNotExists {
			s.twice(first, n.Name.Name.Name, s.pos(n.Name.Name))
		}
		return
	}
	t := s.add(&Table{
		Schema: schemaName(n.Name), Name: n.Name.Name.Name, Pos: s.pos(n.Name.Name),
		AnyCase: true, View: true, NoRowIdentity: true,
	})
	a := &anchor{st: s.st, table: t.Table, open: -1, close: -1}
	s.anchors = append(s.anchors, a)
	s.selectColumns(t, a, n.Select, n.Columns)
}

// selectColumns gives t the columns of a query.
func (s *sqlite) selectColumns(t *draft, a *anchor, query *ast.SelectStmt, names []*ast.IndexedColumn) {
	q, ok := query.Cores[0].(*ast.SelectQuery)
	if !ok {
		t.unknownColumns(s.pos(query))
		return
	}
	var froms []from
	for _, ref := range q.From {
		if ref.Name == nil {
			froms = append(froms, from{})
			continue
		}
		f := from{alias: ref.Name.Name.Name, table: s.lookup(ref.Name)}
		if ref.Alias != nil {
			f.alias = ref.Alias.Name
		}
		froms = append(froms, f)
	}
	var outputs []output
	for _, rc := range q.Columns {
		o := output{pos: s.pos(rc)}
		switch e := rc.Expr.(type) {
		case *ast.Ident:
			o.name, o.column = e.Name, e.Name
		case *ast.QualifiedRef:
			last := e.Parts[len(e.Parts)-1]
			o.name, o.column, o.pos = last.Name, last.Name, s.pos(last)
			o.table = e.Parts[len(e.Parts)-2].Name
		case *ast.Star:
			o.star = true
			if e.Table != nil {
				o.table = e.Table.Name
			}
		}
		o.plain = rc.Alias == nil
		if rc.Alias != nil {
			o.name, o.pos = rc.Alias.Name, s.pos(rc.Alias)
		}
		o.start, o.end = s.base+rc.Pos(), s.base+rc.End()
		outputs = append(outputs, o)
	}
	for i, name := range names {
		if i < len(outputs) && !outputs[i].star {
			outputs[i].plain = false
			outputs[i].name, outputs[i].pos = name.Name.Name, s.pos(name.Name)
		}
	}
	if n := len(outputs); n > 0 {
		a.open, a.close = s.base+q.Pos(), outputs[n-1].end
	}
	t.addOutputs(a, froms, outputs)
}
