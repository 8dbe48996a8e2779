package schema

// This file reads MySQL's DDL a second time, from the tree of the parser made for
// it. What both readers read must be the same.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/mysql"
	"github.com/sqlc-dev/marino/opcode"
	"github.com/sqlc-dev/marino/parser"
	"github.com/sqlc-dev/marino/types"
	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/source"
)

// oracle applies trees to a catalog with the means of the reader of tokens.
type oracle struct {
	*tolerant
	taken int // statements
}

// take applies a statement; false when the parser does not take it.
func (o *oracle) take(st *statement) bool {
	for i := range st.tokens {
		// The parser forgets the name of the index in CONSTRAINT c UNIQUE INDEX i,
		// which is the one that servers use.
		if st.is(i, "constraint") && st.is(i+2, "unique") {
			if at := max(st.skip(i+3, "index"), st.skip(i+3, "key")); !st.is(at, "(", "using") {
				return false
			}
		}
	}
	trees, _, err := parser.New().ParseSQL(st.sql())
	if err != nil || len(trees) != 1 {
		return false
	}
	o.st, o.fault, o.strange, o.first, o.later = st, nil, -1, nil, nil
	switch n := trees[0].(type) {
	case *ast.CreateTableStmt:
		o.oracleTable(n)
	case *ast.CreateIndexStmt:
		if t := o.find(n.Table.Schema.O, n.Table.Name.O); t != nil {
			k := o.oracleKey(n.IndexName, n.IndexPartSpecifications, n.IndexOption)
			switch n.KeyType {
			case ast.IndexKeyTypeUnique:
				k.kind = uniqueKey
			case ast.IndexKeyTypeFulltext:
				k.method = "fulltext"
			case ast.IndexKeyTypeSpatial:
				k.method = "spatial"
			}
			o.addKey(t, k)
		}
	case *ast.AlterTableStmt:
		o.oracleAlter(n)
	case *ast.DropTableStmt:
		for _, name := range n.Tables {
			if t := o.find(name.Schema.O, name.Name.O); t != nil {
				o.drop(t, false)
			}
		}
	case *ast.DropIndexStmt:
		if t := o.find(n.Table.Schema.O, n.Table.Name.O); t != nil {
			t.dropIndex(func(name string) bool { return strings.EqualFold(name, n.IndexName) })
		}
	case *ast.RenameTableStmt:
		for _, pair := range n.TableToTables {
			if t := o.find(pair.OldTable.Schema.O, pair.OldTable.Name.O); t != nil {
				o.renameTo(t, ref{pair.NewTable.Schema.O, pair.NewTable.Name.O, 0})
			}
		}
	default:
		return false
	}
	o.taken++
	return true
}

func (o *oracle) oracleTable(n *ast.CreateTableStmt) {
	name := ref{n.Table.Schema.O, n.Table.Name.O, 0}
	if n.TemporaryKeyword != ast.TemporaryNone || o.same(name) != nil {
		return
	}
	t := o.draft(&Table{Schema: name.schema, Name: name.name, Pos: o.st.pos(0), AnyCase: true, NoRowIdentity: true})
	o.enter(t)
	if name.schema == "" && o.home != "" {
		o.homes[t] = o.home
	}
	if n.ReferTable != nil {
		if from := o.find(n.ReferTable.Schema.O, n.ReferTable.Name.O); from != nil {
			o.copyTable(t, ref{n.ReferTable.Schema.O, n.ReferTable.Name.O, 0})
		}
		return
	}
	// The tree has lost the order of columns with keys among the constraints,
	// which the names of keys go by.
	for _, def := range n.Cols {
		o.addDefinition(t, o.oracleColumn(def))
	}
	for _, c := range n.Constraints {
		o.oracleConstraint(t, c)
	}
	o.oracleOptions(t, n.Options)
	o.oraclePartition(t, n.Partition)
	o.doLater()
	t.resolveChecks()
}

func (o *oracle) oracleColumn(def *ast.ColumnDef) *definition {
	d := &definition{Column: &Column{Name: def.Name.Name.O, Pos: o.st.pos(0)}}
	o.oracleType(d, def.Tp)
	for _, opt := range def.Options {
		switch opt.Tp {
		case ast.ColumnOptionPrimaryKey:
			d.keys = append(d.keys, d.key(primaryKey, 0, 1))
		case ast.ColumnOptionNotNull:
			d.NotNull = true
		case ast.ColumnOptionNull:
			d.NotNull, d.MayUpdate = false, false
		case ast.ColumnOptionAutoIncrement, ast.ColumnOptionAutoRandom:
			d.Identity, d.HasDefault, d.Default = true, true, ""
		case ast.ColumnOptionDefaultValue:
			d.MayUpdate = false
			d.setOracleDefault(opt.Expr)
		case ast.ColumnOptionUniqKey:
			d.keys = append(d.keys, d.key(uniqueKey, 0, 1))
		case ast.ColumnOptionOnUpdate:
			d.OnUpdate, d.MayUpdate = true, false
		case ast.ColumnOptionComment:
			d.Comments = o.oracleComment(opt.Expr.(ast.ValueExpr).GetDatumString())
		case ast.ColumnOptionGenerated:
			d.Generated = true
		case ast.ColumnOptionCheck:
			d.checks = append(d.checks, oracleCheck(opt.ConstraintName, opt.Expr, opt.Enforced))
		case ast.ColumnOptionInvisible:
			d.Invisible = true
		}
	}
	d.NotNull = d.NotNull || d.Identity
	return d
}

func (d *definition) setOracleDefault(e ast.ExprNode) {
	v, isValue := e.(ast.ValueExpr)
	d.HasDefault = !isValue || v.GetValue() != nil
	if d.Default = ""; d.HasDefault {
		d.Default = "…"
	}
}

func (o *oracle) oracleComment(text string) []Comment {
	if text == "" {
		return nil
	}
	return []Comment{{Text: text, Pos: o.st.pos(0), Exact: true, stored: true}}
}

// oracleTypes are the parser's numbers of types by the names that they have in
// texts and in bytes.
var oracleTypes = map[byte][2]string{
	mysql.TypeTiny: {"tinyint"}, mysql.TypeShort: {"smallint"}, mysql.TypeInt24: {"mediumint"}, mysql.TypeLong: {"int"},
	mysql.TypeLonglong: {"bigint"}, mysql.TypeFloat: {"float"}, mysql.TypeDouble: {"double"}, mysql.TypeNewDecimal: {"decimal"},
	mysql.TypeBit: {"bit"}, mysql.TypeYear: {"year"}, mysql.TypeDate: {"date"}, mysql.TypeDatetime: {"datetime"},
	mysql.TypeTimestamp: {"timestamp"}, mysql.TypeDuration: {"time"}, mysql.TypeEnum: {"enum", "enum"}, mysql.TypeSet: {"set", "set"},
	mysql.TypeJSON: {"json", "json"}, mysql.TypeString: {"char", "binary"}, mysql.TypeVarchar: {"varchar", "varbinary"},
	mysql.TypeTinyBlob: {"tinytext", "tinyblob"}, mysql.TypeBlob: {"text", "blob"},
	mysql.TypeMediumBlob: {"mediumtext", "mediumblob"}, mysql.TypeLongBlob: {"longtext", "longblob"},
	mysql.TypeTiDBVectorFloat32: {"vector", "vector"}, mysql.TypeGeometry: {"geometry", "geometry"}, mysql.TypePoint: {"point", "point"},
	mysql.TypeMultiPolygon: {"multipolygon", "multipolygon"}, mysql.TypeGeometryCollection: {"geometrycollection", "geometrycollection"},
}

// oracleType makes of the parser's type the one that a reader of its name would
// make.
func (o *oracle) oracleType(d *definition, tp *types.FieldType) {
	names, ok := oracleTypes[tp.GetType()]
	if !ok {
		names[0] = fmt.Sprint("type ", tp.GetType())
	}
	name := names[0]
	if tp.GetCharset() == "binary" && names[1] != "" {
		name = names[1]
	}
	t := mysqlTypes[name]
	if t.Class == "" {
		t.Class = Unknown
	}
	t.Name = name
	d.MayUpdate = name == "timestamp"
	t.Unsigned = t.Unsigned || mysql.HasUnsignedFlag(tp.GetFlag())
	size := tp.GetFlen()
	switch {
	case t.Enum:
		d.Values = tp.GetElems()
	case name == "tinyint" && size == 1 && !t.Unsigned:
		t.Class = Bool
	case name == "bit" && (size == 1 || size < 0):
		t.Class, t.Bits = Bool, 1
	case t.Class == Decimal:
		if size >= 0 {
			t.Digits, t.Scale = size, max(tp.GetDecimal(), 0)
		}
	case t.Class == Text || t.Class == Bytes:
		if size >= 0 && name != "bit" && name != "set" {
			t.Length = size
		}
	case t.Class == Timestamp, t.Class == TimeOfDay:
		t.Step = 1_000_000_000
		for range max(tp.GetDecimal(), 0) {
			t.Step /= 10
		}
	}
	d.Type = t
}

func (o *oracle) oracleKey(name string, parts []*ast.IndexPartSpecification, opt *ast.IndexOption) *keyDefinition {
	k := &keyDefinition{name: name, end: 1}
	if opt != nil {
		switch opt.Tp {
		case ast.IndexTypeBtree:
			k.method = "btree"
		case ast.IndexTypeHash:
			k.method = "hash"
		case ast.IndexTypeRtree:
			k.method = "rtree"
		}
		k.invisible = opt.Visibility == ast.IndexVisibilityInvisible
	}
	for _, p := range parts {
		part := keyPart{desc: p.Desc}
		if p.Column != nil {
			part.column, part.length = p.Column.Name.O, max(p.Length, 0)
		} else {
			part.expr, _ = namesIn(p.Expr)
		}
		k.parts = append(k.parts, part)
	}
	return k
}

func (o *oracle) oracleConstraint(t *draft, c *ast.Constraint) {
	k := o.oracleKey(c.Name, c.Keys, c.Option)
	switch c.Tp {
	case ast.ConstraintPrimaryKey:
		k.kind = primaryKey
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		k.kind = uniqueKey
	case ast.ConstraintKey, ast.ConstraintIndex:
	case ast.ConstraintFulltext:
		k.method = "fulltext"
	case ast.ConstraintSpatial:
		k.method = "spatial"
	case ast.ConstraintVector:
		k.method = "vector"
	case ast.ConstraintCheck:
		check := oracleCheck(c.Name, c.Expr, c.Enforced)
		o.later = append(o.later, func() { o.addCheck(t, check, nil) })
		return
	case ast.ConstraintForeignKey:
		f := &foreignKey{name: c.Name}
		for _, part := range c.Keys {
			f.columns = append(f.columns, part.Column.Name.O)
		}
		o.later = append(o.later, func() { t.foreign = append(t.foreign, f) })
		return
	default:
		return
	}
	o.later = append(o.later, func() { o.addKey(t, k) })
}

// namesIn returns an expression of the columns that e names, and their number.
func namesIn(e ast.ExprNode) (text string, n int) {
	c := &columnsIn{}
	e.Accept(c)
	return strings.Join(append(c.names, "0"), " + "), len(c.names)
}

func oracleCheck(name string, e ast.ExprNode, enforced bool) *check {
	text, names := namesIn(e)
	k := &check{name: name, text: text, values: oracleValues(e), off: !enforced}
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		e = p.Expr
	}
	if call, ok := e.(*ast.FuncCallExpr); ok && call.FnName.L == "json_valid" && names == 1 {
		k.json = true
	}
	return k
}

// columnsIn collects the columns that an expression names.
type columnsIn struct{ names []string }

func (c *columnsIn) Enter(n ast.Node) (ast.Node, bool) {
	if name, ok := n.(*ast.ColumnName); ok {
		c.names = append(c.names, "`"+strings.ReplaceAll(name.Name.O, "`", "``")+"`")
	}
	return n, false
}

func (c *columnsIn) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func oracleValues(e ast.ExprNode) map[string][]string {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return oracleValues(e.Expr)
	case *ast.IsNullExpr:
		if column := oracleName(e.Expr); column != "" && !e.Not {
			return map[string][]string{column: nil}
		}
	case *ast.BinaryOperationExpr:
		switch e.Op {
		case opcode.LogicOr:
			return eitherValues(oracleValues(e.L), oracleValues(e.R))
		case opcode.LogicAnd:
			return bothValues(oracleValues(e.L), oracleValues(e.R))
		case opcode.EQ:
			column, list := oracleName(e.L), e.R
			if column == "" {
				column, list = oracleName(e.R), e.L
			}
			return oracleList(column, []ast.ExprNode{list})
		}
	case *ast.PatternInExpr:
		if !e.Not && e.Sel == nil {
			return oracleList(oracleName(e.Expr), e.List)
		}
	}
	return nil
}

func oracleName(e ast.ExprNode) string {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return oracleName(e.Expr)
	case *ast.SetCollationExpr:
		return oracleName(e.Expr)
	case *ast.ColumnNameExpr:
		return e.Name.Name.O
	}
	return ""
}

func oracleList(column string, list []ast.ExprNode) map[string][]string {
	if column == "" {
		return nil
	}
	var values []string
	for _, e := range list {
		value, null, ok := oracleLiteral(e)
		if !ok {
			return nil
		}
		if !null {
			values = append(values, value)
		}
	}
	return map[string][]string{column: values}
}

func oracleLiteral(e ast.ExprNode) (value string, null, ok bool) {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return oracleLiteral(e.Expr)
	case *ast.UnaryOperationExpr:
		value, null, ok = oracleLiteral(e.V)
		if e.Op == opcode.Minus {
			value = "-" + value
		} else {
			ok = ok && e.Op == opcode.Plus
		}
		return value, null, ok && strings.Trim(value, "-0123456789.") == ""
	case ast.ValueExpr:
		switch v := e.GetValue().(type) {
		case nil:
			return "", true, true
		case string:
			return v, false, true
		case int64:
			if e.GetType().GetFlag()&mysql.IsBooleanFlag != 0 {
				return fmt.Sprint(v == 1), false, true
			}
			return fmt.Sprint(v), false, true
		case uint64:
			return fmt.Sprint(v), false, true
		}
	}
	return "", false, false
}

func (o *oracle) oracleOptions(t *draft, options []*ast.TableOption) {
	for _, opt := range options {
		switch opt.Tp {
		case ast.TableOptionEngine:
			t.Engine = opt.StrValue
		case ast.TableOptionComment:
			t.Comments = append(removeStored(t.Comments), o.oracleComment(opt.StrValue)...)
		}
	}
}

func (o *oracle) oraclePartition(t *draft, p *ast.PartitionOptions) {
	if p == nil {
		return
	}
	t.Partitioned, t.PartitionBy = true, nil
	names := p.ColumnNames
	if e, ok := p.Expr.(*ast.ColumnNameExpr); ok {
		names = append(names, e.Name)
	}
	for _, name := range names {
		if c := t.Column(name.Name.O); c != nil {
			t.PartitionBy = append(t.PartitionBy, c.Name)
		}
	}
	if p.Tp == ast.PartitionTypeKey && len(names) == 0 {
		o.later = append(o.later, func() {
			if t.PrimaryKey != nil {
				for _, c := range t.PrimaryKey.Columns {
					t.PartitionBy = append(t.PartitionBy, c.Name)
				}
			}
		})
	}
}

func (o *oracle) oracleAlter(n *ast.AlterTableStmt) {
	t := o.find(n.Table.Schema.O, n.Table.Name.O)
	if t == nil {
		return
	}
	for _, s := range n.Specs {
		o.oracleSpec(t, s)
	}
	o.doLater()
	t.resolveChecks()
}

func (o *oracle) oracleSpec(t *draft, s *ast.AlterTableSpec) {
	column := func(n *ast.ColumnName) *Column {
		c := t.Column(n.Name.O)
		if c == nil && !s.IfExists {
			t.Gaps = append(t.Gaps, missingColumn(t, n.Name.O, o.st.pos(0)))
		}
		return c
	}
	where := func(d *definition) {
		if s.Position == nil {
			return
		}
		switch s.Position.Tp {
		case ast.ColumnPositionFirst:
			d.place = &place{}
		case ast.ColumnPositionAfter:
			d.place = &place{after: s.Position.RelativeColumn.Name.O}
		}
	}
	switch s.Tp {
	case ast.AlterTableOption:
		o.oracleOptions(t, s.Options)
	case ast.AlterTableAddColumns:
		for _, def := range s.NewColumns {
			d := o.oracleColumn(def)
			where(d)
			if t.Column(d.Name) == nil {
				o.addDefinition(t, d)
			}
		}
		for _, c := range s.NewConstraints {
			o.oracleConstraint(t, c)
		}
	case ast.AlterTableAddConstraint:
		o.oracleConstraint(t, s.Constraint)
	case ast.AlterTableDropColumn:
		if c := column(s.OldColumnName); c != nil {
			t.dropFromIndexes(c)
			t.dropColumn(c)
		}
	case ast.AlterTableDropPrimaryKey:
		t.dropKeys(func(k *Key) bool { return k == t.PrimaryKey })
	case ast.AlterTableDropIndex:
		t.dropIndex(func(name string) bool { return strings.EqualFold(name, s.Name) })
	case ast.AlterTableDropCheck:
		t.dropConstraint(func(name string) bool { return strings.EqualFold(name, s.Constraint.Name) })
	case ast.AlterTableAlterCheck:
		for _, k := range t.checks {
			if strings.EqualFold(k.name, s.Constraint.Name) {
				k.off = !s.Constraint.Enforced
			}
		}
	case ast.AlterTableModifyColumn, ast.AlterTableChangeColumn:
		d := o.oracleColumn(s.NewColumns[0])
		where(d)
		old := s.NewColumns[0].Name
		if s.Tp == ast.AlterTableChangeColumn {
			old = s.OldColumnName
		}
		if c := column(old); c != nil {
			o.become(t, c, d)
		}
	case ast.AlterTableRenameColumn:
		if c := column(s.OldColumnName); c != nil {
			o.renameLater(t, c, s.NewColumnName.Name.O, o.st.pos(0))
		}
	case ast.AlterTableRenameTable:
		o.renameTo(t, ref{s.NewTable.Schema.O, s.NewTable.Name.O, 0})
	case ast.AlterTableRenameIndex:
		if ix := t.index(s.FromKey.O); ix != nil {
			t.renameIndex(ix.Name, s.ToKey.O, o.st.pos(0))
		}
	case ast.AlterTableAlterColumn:
		if c := column(s.NewColumns[0].Name); c != nil {
			c.HasDefault, c.Default = false, ""
			if len(s.NewColumns[0].Options) > 0 {
				(&definition{Column: c}).setOracleDefault(s.NewColumns[0].Options[0].Expr)
			}
		}
	case ast.AlterTableAlterColumnVisibility:
		if c := column(s.NewColumns[0].Name); c != nil {
			c.Invisible = s.Visibility == ast.IndexVisibilityInvisible
		}
	case ast.AlterTableIndexInvisible:
		if ix := t.index(s.IndexName.O); ix != nil {
			ix.Invisible = s.Visibility == ast.IndexVisibilityInvisible
		}
	case ast.AlterTablePartition:
		o.oraclePartition(t, s.Partition)
	case ast.AlterTableRemovePartitioning:
		o.later = append(o.later, func() { t.Partitioned, t.PartitionBy = false, nil })
	}
}

// failer is what a test and a property have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// compareReaders reads a script from its tokens and, statement by statement, from
// the parser's trees; statements that the parser does not take, and views, are
// left out of both. It returns how many statements were compared.
func compareReaders(t failer, path, text string) int {
	t.Helper()
	var own, other source.ErrorList
	o := &oracle{tolerant: newTolerant(mysqlGrammar, &other)}
	r := newTolerant(mysqlGrammar, &own)
	script := scan(source.NewFile(path, []byte(text)), mysqlGrammar.lexis)
	for _, st := range script.statements {
		switch {
		case st.is(0, "use"):
			r.read(st)
			o.home = r.home
		case st.is(0, "create", "alter", "drop", "rename"):
			if query := slices.ContainsFunc(st.tokens, func(t token) bool { return strings.EqualFold(script.textOf(t), "select") }); query {
				continue
			}
			if unfit(st) != nil || !o.take(st) {
				continue
			}
			r.read(st)
			if err := r.verdict(); err != nil {
				t.Errorf("the parser takes what the reader does not: %s\n%s", err, st.sql())
			}
		}
	}
	readers := []*tolerant{o.tolerant, r}
	wrong := map[string]bool{} // tables that no server would have
	for _, each := range readers {
		for _, table := range each.tables {
			wrong[key(table.Name)] = wrong[key(table.Name)] || twins(table.Table) ||
				slices.ContainsFunc(table.checks, func(k *check) bool { return len(k.columns) == 0 })
		}
	}
	texts := [2]string{}
	for i, each := range readers {
		var tables []*Table
		for _, table := range each.conclude(nil).Tables {
			if wrong[key(table.Name)] {
				continue
			}
			tables = append(tables, table)
			table.Gaps = nil // without their places they say nothing
			exact(table.Comments)
			for _, c := range table.Columns {
				exact(c.Comments)
			}
		}
		texts[i] = dump(&Catalog{Tables: tables}, facts)
	}
	if texts[0] != texts[1] {
		t.Errorf("%s: from the parser's trees\n%s\nfrom tokens\n%s\nof\n%s", path, texts[0], texts[1], text)
	}
	return o.taken
}

// twins reports whether two columns have one name.
func twins(t *Table) bool {
	return slices.ContainsFunc(t.Columns, func(c *Column) bool {
		return slices.ContainsFunc(t.Columns, func(o *Column) bool { return o != c && strings.EqualFold(o.Name, c.Name) })
	})
}

func exact(comments []Comment) {
	for i := range comments {
		comments[i].Exact = true
	}
}

// The reader of tokens says the same as a reader of the parser's trees, of every
// script here.
func TestMySQLReadersAgree(t *testing.T) {
	for _, grammar := range []string{"mysql", "mariadb"} {
		paths, err := filepath.Glob(filepath.Join("testdata", grammar, "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			taken += compareReaders(t, path, string(data))
		}
		if least := map[string]int{"mysql": 120, "mariadb": 35}[grammar]; taken < least {
			t.Errorf("%s: only %d statements were compared", grammar, taken)
		}
		t.Log(grammar, taken, "statements")
	}
}

// Whatever is written, the reader of tokens takes what the parser takes, and says
// the same of it.
func FuzzMySQLReadersAgree(f *testing.F) {
	for _, grammar := range []string{"mysql", "mariadb"} {
		paths, err := filepath.Glob(filepath.Join("testdata", grammar, "*.sql"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			for part := range strings.SplitSeq(string(data), ";\n") {
				f.Add(part + ";\n")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) { compareReaders(t, "fuzz.sql", text) })
}

// Definitions of every kind, put together at random, are read alike.
func TestMySQLReadersAgreeOnAnything(t *testing.T) {
	taken := 0
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(rt, label) }
		names := []string{"id", "`id`", "State", "`a``b`", "`it's \"x\"`", "2fa", "`key`", "ünïcode", "`select`", "due", "$d", "period", "comment", "vector", "`a.b`", "engine"}
		name := func() string { return pick("name", names...) }
		types := []string{
			"int", "BIGINT UNSIGNED", "tinyint(1)", "bool", "bit(1)", "bit(5)", "varchar(20)", "char", "binary(16)", "varbinary(3)", "text", "text(9)", "blob",
			"mediumtext character set binary", "enum('a','b'' ')", `enum("x\'y",'z')`, "set('a')", "json", "datetime(6)", "timestamp", "timestamp(3)", "date", "time(1)",
			"year", "decimal(10,2) unsigned", "float(30)", "double precision", "national varchar(5)", "char varying(4)", "int(5) zerofill", "serial", "point",
		}
		attributes := []string{
			"not null", "null", "default null", "default 'x'", "default -5", "default (1 + 2)", "default current_timestamp", "default now(6)", "default (uuid())",
			"default _utf8mb4'a'", "auto_increment", "unique", "unique key", "primary key", "key", "comment 'c'", "comment 'it''s'", "comment ''", "collate utf8mb4_bin",
			"on update current_timestamp(6)", "check (id > 1)", "check (state in ('a', 'b'))", "constraint c1 check (due = 1 or due in (2, null)) not enforced",
			"generated always as (id + 1) stored", "as (1)", "invisible", "visible", "references t2 (a, b) on delete set null on update cascade match full",
			"column_format fixed", "storage disk", "srid 4", "engine_attribute '{}'", "serial default value",
		}
		columnRest := func() string {
			text := pick("type", types...)
			for range rapid.IntRange(0, 3).Draw(rt, "attributes") {
				text += " " + pick("attribute", attributes...)
			}
			return text
		}
		part := func() string {
			return pick("part", name(), name()+"(5)", "((lower(state)))", "((1 + 1))") + pick("direction", "", " asc", " desc")
		}
		parts := func() string {
			text := part()
			for range rapid.IntRange(0, 2).Draw(rt, "parts") {
				text += ", " + part()
			}
			return "(" + text + ")"
		}
		key := func() string {
			return pick("key", "key", "index", "unique", "unique key", "primary key", "fulltext", "spatial index", "constraint k3 unique", "constraint primary key") + " " +
				pick("key name", "", "k1", "`k 2`") +
				pick("using", parts(), " using btree "+parts()+" comment 'x'", " using hash "+parts(), parts()+" using hash") +
				pick("options", "", " comment 'x'", " invisible", " key_block_size=3")
		}
		constraint := func() string {
			if rapid.Bool().Draw(rt, "is key") {
				return key()
			}
			return pick("check", "check (id > 1)", "constraint c2 check ((state = 'x') or (state = 'y'))", "constraint check (json_valid(due))", "foreign key (id) references t2 (id)")
		}
		// The tree has lost how columns and constraints were mixed.
		var items []string
		for range rapid.IntRange(1, 5).Draw(rt, "columns") {
			items = append(items, name()+" "+columnRest())
		}
		for range rapid.IntRange(0, 3).Draw(rt, "constraints") {
			items = append(items, constraint())
		}
		var b strings.Builder
		b.WriteString("create table " + pick("table", "t", "`t`", "db.t") + " (" + strings.Join(items, ", ") + ")" +
			pick("options", "", " engine=InnoDB", " engine myisam, comment 'x'", " default charset=utf8mb4 comment='it''s' row_format=dynamic", " auto_increment 5 engine 'memory'") +
			pick("partition", "", " partition by hash (id) partitions 3", " partition by key ()", " partition by range columns (id, due) (partition p0 values less than (1, 2))") + ";\n")
		for range rapid.IntRange(0, 4).Draw(rt, "changes") {
			where := pick("where", "", " first", " after id", " after `State`")
			changes := []string{
				"add " + name() + " " + columnRest() + where, "add column (" + name() + " " + columnRest() + ", " + constraint() + ")", "add " + key(), "drop column " + name(), "drop " + name(),
				"modify " + name() + " " + columnRest() + where, "change column " + name() + " " + name() + " " + columnRest() + where, "drop primary key",
				"drop index " + pick("index", "k1", "id", "`k 2`"), "drop check c1", "alter check c2 not enforced", "rename column " + name() + " to " + name(),
				"rename index k1 to k9", "alter column id set default 5", "alter state drop default", "alter due set default (1)", "alter index k1 invisible",
				"engine=InnoDB", "comment='new'", "rename to t", "add check (id in (1))", "convert to character set utf8mb4", "order by id", "force", "algorithm=inplace, lock=none",
			}
			b.WriteString("alter table t " + pick("change", changes...) + pick("second", "", ", "+pick("change 2", changes...)) + ";\n")
		}
		b.WriteString(pick("index", "", "create "+pick("unique", "", "unique ", "fulltext ")+"index k5 on t "+parts()+";\n", "drop index k1 on t;\n"))
		taken += compareReaders(rt, "random.sql", b.String())
	})
	if taken < 20 {
		t.Errorf("only %d statements were compared", taken)
	}
	t.Log(taken, "statements")
}
