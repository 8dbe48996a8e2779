package schema

// This file reads PostgreSQL's CREATE TABLE, views and what inherits.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/source"
)

// createTable reads CREATE TABLE; nil when there is nothing to add.
func (p *postgresql) createTable(n *pgCreateStmt) *draft {
	r := n.GetRelation()
	if r.GetRelpersistence() == "t" || r.GetSchemaname() == "pg_temp" {
		p.refuse(p.st, "a temporary table")
		return nil
	}
	nameAt := p.relation(r)
	t := p.newTable(r, nameAt, n.GetIfNotExists())
	if t == nil {
		return nil
	}
	a := p.tableAnchor(t)
	for _, e := range n.GetPartspec().GetPartParams() {
		if name := e.GetPartitionElem().GetName(); name != "" {
			t.PartitionBy = append(t.PartitionBy, name)
		}
	}
	t.Partitioned = n.GetPartspec() != nil
	var parents []*draft
	for _, node := range n.GetInhRelations() {
		if parent := p.parentOf(t, node.GetRangeVar()); parent != nil {
			p.inherit(t, parent, n.GetPartbound() != nil)
			parents = append(parents, parent)
		}
	}
	if names := n.GetOfTypename().GetNames(); names != nil {
		p.addAttributes(t, names, n.GetOfTypename().GetLocation())
	}
	// What stands in the parentheses: definitions first, then constraints.
	var keys []func()
	open := p.columnList(nameAt)
	if open >= 0 {
		closing := p.st.closing(open)
		a.open, a.close = p.st.pos(open).Offset, p.st.pos(closing).Offset
		items := p.st.items(open+1, closing)
		for i, e := range n.GetTableElts() {
			if i >= len(items) {
				break
			}
			keys = append(keys, p.element(t, a, e, items[i])...)
		}
	}
	for _, add := range keys {
		add()
	}
	t.resolveChecks()
	if n.GetPartbound() != nil {
		for _, parent := range parents {
			p.copyKeys(t, parent)
		}
	}
	return t
}

// newTable adds a table or view; nil when it exists already.
func (p *postgresql) newTable(r *pgRangeVar, nameAt int, ifNotExists bool) *draft {
	schema := p.newIn(r.GetSchemaname())
	if first := p.find(schema, r.GetRelname()); first != nil && (first.Schema == schema || schema == "public" || schema == "" && first.Schema == "public") {
		if !ifNotExists && !p.guarded {
			p.twice(first, r.GetRelname(), p.st.pos(nameAt))
		}
		return nil
	}
	return p.add(&Table{Schema: schema, Name: r.GetRelname(), Pos: p.st.pos(nameAt)})
}

func (p *postgresql) tableAnchor(t *draft) *anchor {
	a := &anchor{st: p.st, table: t.Table, open: -1, close: -1}
	// The statements inside one CREATE SCHEMA share their comments.
	if !p.st.is(1, "schema") {
		p.anchors = append(p.anchors, a)
	}
	return a
}

// columnList returns the token that opens the list behind the table's name, -1
// when there is none.
func (p *postgresql) columnList(nameAt int) int {
	i := nameAt + 1
	if j := p.st.skip(i, "partition", "of"); j > i {
		i = p.st.qualified(j) + 1
	} else if j := p.st.skip(i, "of"); j > i {
		i = p.st.qualified(j) + 1
	}
	if p.st.is(i, "(") {
		return i
	}
	return -1
}

// element reads one item of the list: a column, a constraint or LIKE. What
// needs all columns is returned for later.
func (p *postgresql) element(t *draft, a *anchor, e *pgNode, item [2]int) (later []func()) {
	switch {
	case e.GetColumnDef() != nil:
		c, keys := p.column(t, e.GetColumnDef(), item[0], item[1])
		if c != nil {
			a.columns = append(a.columns, columnAnchor{c, p.st.tokens[item[0]].off, p.st.tokens[item[1]-1].end})
		}
		return keys
	case e.GetConstraint() != nil:
		return []func(){func() { p.tableConstraint(t, e.GetConstraint(), false) }}
	case e.GetTableLikeClause() != nil:
		p.copyLike(t, e.GetTableLikeClause())
	}
	return nil
}

// pgCollation returns the collation that a column is given, without its schema; "" where the statement names none.
func pgCollation(def *pgColumnDef) string {
	names := def.GetCollClause().GetCollname()
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1].GetString_().GetSval()
}

// column reads a column's definition, which stands in the tokens from from up
// to end; from is its name. A definition without a type adds to a column that
// is there already, as one in a table that inherits may.
func (p *postgresql) column(t *draft, def *pgColumnDef, from, end int) (c *Column, later []func()) {
	name, pos := def.GetColname(), p.st.pos(from)
	c = t.Column(name)
	own := func() bool { return c.Pos.File == pos.File && c.Pos.Offset >= p.base && c.Pos.Offset < p.st.end }
	switch {
	case c == nil:
		c = &Column{Name: name, Pos: pos}
		t.Columns = append(t.Columns, c)
	case own():
		p.errs.Add(source.Errorf(pos, "table %s has two columns %s", t.Name, name).
			WithHint("Give each column a name of its own."))
		return nil, nil
	case def.GetTypeName() != nil:
		c.Pos = pos // merged with the parent's
	}
	// The end of anything inside the definition is where the next thing starts.
	var starts []int
	for _, k := range def.GetConstraints() {
		starts = append(starts, p.index(k.GetConstraint().GetLocation()))
	}
	if def.GetCollClause() != nil {
		starts = append(starts, p.index(def.GetCollClause().GetLocation()))
		c.Collation = pgCollation(def)
	}
	var hidden []pgHidden
	for _, h := range p.text.hidden {
		if h.from > from && h.to <= end {
			starts = append(starts, h.from)
			hidden = append(hidden, h)
		}
	}
	until := func(i int) int {
		stop := end
		for _, s := range starts {
			if s > i && s < stop {
				stop = s
			}
		}
		return stop
	}
	if def.GetTypeName() != nil {
		p.setType(c, def.GetTypeName(), until(p.index(def.GetTypeName().GetLocation())))
	}
	for i, k := range def.GetConstraints() {
		later = append(later, p.columnConstraint(t, c, k.GetConstraint(), until)...)
		if k.GetConstraint().GetContype() == pgConstrDeferred && i > 0 && p.isKey(def.GetConstraints()[i-1].GetConstraint()) {
			later = append(later, func() { t.deferKey(c) })
		}
	}
	for _, h := range hidden {
		h.says(c)
	}
	return c, later
}

// isKey reports whether a constraint is a key.
func (p *postgresql) isKey(k *pgConstraint) bool {
	return k.GetContype() == pgConstrPrimary || k.GetContype() == pgConstrUnique
}

// deferKey notes of the key of one column that it may be looked at when the transaction ends.
func (t *draft) deferKey(c *Column) {
	for _, k := range append(slices.Clone(t.Uniques), t.PrimaryKey) {
		if k != nil && len(k.Columns) == 1 && k.Columns[0] == c {
			k.Deferrable = true
		}
	}
}

// columnConstraint reads one constraint of a column. A key is returned for
// later.
func (p *postgresql) columnConstraint(t *draft, c *Column, k *pgConstraint, until func(int) int) (later []func()) {
	i := p.index(k.GetLocation())
	if p.st.is(i, "constraint") {
		i += 2
	}
	switch k.GetContype() {
	case pgConstrNotnull:
		c.NotNull = true
		if k.GetConname() != "" {
			t.notNulls[k.GetConname()] = c
		}
	case pgConstrNull:
		c.NotNull = false
	case pgConstrDefault:
		p.setDefault(c, k.GetRawExpr(), p.written(i+1, until(i)))
	case pgConstrIdentity:
		p.setIdentity(c, k.GetGeneratedWhen() == "a")
	case pgConstrGenerated:
		c.Generated = true
	case pgConstrCheck:
		if p.text.virtual[p.st.pos(i).Offset-p.base] {
			c.Generated = true
			break
		}
		p.addCheck(t, k, i)
	case pgConstrPrimary, pgConstrUnique:
		later = append(later, func() { p.addKey(t, k, []*Column{c}, false) })
	}
	return later
}

// setDefault sets a default; expr is nil to take it away.
func (p *postgresql) setDefault(c *Column, expr *pgNode, written string) {
	if p.serial[c] {
		c.Identity = false
		delete(p.serial, c)
	}
	c.HasDefault, c.Default = expr != nil, written
	if _, name := pgName(expr.GetFuncCall().GetFuncname()); name == "nextval" {
		p.setSerial(c)
	}
}

// setSerial notes that the column takes its default from a sequence.
func (p *postgresql) setSerial(c *Column) {
	c.HasDefault, c.Default, c.Identity = true, "", true
	p.serial[c] = true
}

func (p *postgresql) setIdentity(c *Column, always bool) {
	c.HasDefault, c.Default, c.Identity, c.Always, c.NotNull = true, "", true, always, true
}

// addCheck adds the check that starts at token i.
func (p *postgresql) addCheck(t *draft, k *pgConstraint, i int) {
	for i < len(p.st.tokens) && !p.st.is(i, "(") {
		i++
	}
	c := &check{name: k.GetConname(), text: p.written(i+1, p.st.closing(i)), values: pgValues(k.GetRawExpr())}
	if c.name == "" {
		label := []string{t.Name}
		if columns := t.columnsIn(c.text); len(columns) == 1 {
			label = append(label, columns[0].Name)
		}
		c.name = t.free(label, "check")
	}
	t.checks = append(t.checks, c)
}

// tableConstraint adds a constraint of the table; it may stand in CREATE TABLE
// or behind ADD. alone keeps partitions out of it.
func (p *postgresql) tableConstraint(t *draft, k *pgConstraint, alone bool) {
	i := p.index(k.GetLocation())
	if p.st.is(i, "constraint") {
		i += 2
	}
	switch k.GetContype() {
	case pgConstrCheck:
		offset := p.st.pos(i).Offset - p.base
		switch {
		case p.text.nothing[offset]:
			return
		case p.text.indexes[offset] != "":
			p.inlineIndex(t, i, p.text.indexes[offset])
			return
		case p.text.notNull[offset]:
			p.setNotNull(t, pgLastField(k.GetRawExpr()), k.GetConname(), i)
			return
		}
		for _, member := range t.family(alone) {
			p.addCheck(member, k, i)
			member.resolveChecks()
		}
	case pgConstrPrimary, pgConstrUnique:
		var columns []*Column
		for _, name := range pgStrings(k.GetKeys()) {
			c := t.Column(name)
			if c == nil {
				t.Gaps = append(t.Gaps, p.noColumn(t, name, i))
				return
			}
			columns = append(columns, c)
		}
		p.addKey(t, k, columns, alone)
	case pgConstrExclusion:
		ix := &Index{Name: k.GetConname(), Method: k.GetAccessMethod(), Pos: p.constraintPos(k)}
		if ix.Method == "" {
			ix.Method = btree
		}
		for _, e := range k.GetExclusions() {
			// Of an expression, which has no place in the tree, nothing is kept.
			if items := e.GetList().GetItems(); len(items) > 0 {
				ix.Columns = append(ix.Columns, IndexColumn{Column: t.Column(items[0].GetIndexElem().GetName())})
			}
		}
		if ix.Name == "" {
			ix.Name = t.free(indexNames(t, ix), "excl")
		}
		t.Indexes = append(t.Indexes, ix)
	}
}

func (p *postgresql) setNotNull(t *draft, column, constraint string, at int) {
	c := t.Column(column)
	if c == nil {
		t.Gaps = append(t.Gaps, p.noColumn(t, column, at))
		return
	}
	c.NotNull = true
	if constraint != "" {
		t.notNulls[constraint] = c
	}
}

// noColumn says that a statement names a column that the files do not define.
func (p *postgresql) noColumn(t *draft, column string, at int) *source.Error {
	return missingColumn(t, column, p.st.pos(at))
}

// constraintPos returns the place of a constraint's name, or of the words that
// make it.
func (p *postgresql) constraintPos(k *pgConstraint) source.Pos {
	i := p.index(k.GetLocation())
	if p.st.is(i, "constraint") {
		return p.st.pos(i + 1)
	}
	pos := p.st.pos(i)
	if p.st.is(i, "primary") && p.st.is(i+1, "key") {
		last := p.st.pos(i + 1)
		pos.Len = last.Offset + last.Len - pos.Offset
	}
	return pos
}

// addKey adds a primary key or unique constraint to t and, unless alone, to its
// partitions.
func (p *postgresql) addKey(t *draft, k *pgConstraint, columns []*Column, alone bool) {
	primary := k.GetContype() == pgConstrPrimary
	if name := k.GetIndexname(); name != "" { // USING INDEX
		p.adoptIndex(t, k, name, primary)
		return
	}
	key := &Key{Name: k.GetConname(), Columns: columns, Pos: p.constraintPos(k), Deferrable: k.GetDeferrable()}
	p.putKey(t, key, primary)
	p.orderKey(key.index, p.index(k.GetLocation()))
	for _, part := range t.family(alone || !t.Partitioned)[1:] {
		p.copyKey(part, key, primary)
	}
}

// orderKey gives the index of a key the order that is written behind its columns, where a
// server lets one be written. The constraint starts at token i.
func (p *postgresql) orderKey(ix *Index, i int) {
	if p.st.is(i, "constraint") {
		i = p.st.skip(i+1, "if", "not", "exists") + 1
	}
	i = p.st.skip(p.st.skip(p.st.skip(i, "unique"), "primary"), "key")
	if p.st.is(i, "(") {
		closing := p.st.closing(i)
		n := 0
		for i++; i < closing; i++ {
			switch {
			case p.st.is(i, ","):
				n++
			case p.st.is(i, pgOrder...) && p.st.is(i+1, ",", ")") && n < len(ix.Columns):
				ix.Columns[n].Desc = p.st.is(i, "desc")
				if p.st.is(i, "hash") {
					ix.Method = "hash"
				}
			}
		}
		i++
	}
	if p.st.is(i, "using") && p.st.is(i+1, "hash") {
		ix.Method = "hash"
	}
}

// putKey adds a key under its name, or the one that PostgreSQL would choose.
func (p *postgresql) putKey(t *draft, k *Key, primary bool) {
	names := []string{t.Name}
	for _, c := range k.Columns {
		names = append(names, c.Name)
		c.NotNull = c.NotNull || primary
	}
	switch {
	case k.Name != "":
	case primary:
		k.Name = t.free(names[:1], "pkey")
	default:
		k.Name = t.free(names, "key")
	}
	t.addKey(k, primary, keyIndex(k))
}

// adoptIndex makes a unique index the index of a key.
func (p *postgresql) adoptIndex(t *draft, k *pgConstraint, index string, primary bool) {
	i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.Name == index })
	if i < 0 {
		return
	}
	ix := t.Indexes[i]
	t.Uniques = slices.DeleteFunc(t.Uniques, func(u *Key) bool { return u.index == ix })
	key := &Key{Name: k.GetConname(), Pos: p.constraintPos(k), Deferrable: k.GetDeferrable()}
	if key.Name == "" {
		key.Name = ix.Name
	}
	ix.Name = key.Name
	for _, c := range ix.Columns {
		if c.Column != nil {
			key.Columns = append(key.Columns, c.Column)
			c.Column.NotNull = c.Column.NotNull || primary
		}
	}
	t.addKey(key, primary, ix)
}

// copyKey gives a partition a key of its parent.
func (p *postgresql) copyKey(t *draft, k *Key, primary bool) {
	if primary && t.PrimaryKey != nil {
		return
	}
	columns := sameColumns(t, k.Columns)
	if columns == nil || slices.ContainsFunc(t.Uniques, func(own *Key) bool { return slices.Equal(own.Columns, columns) }) {
		return
	}
	p.putKey(t, &Key{Columns: columns, Pos: k.Pos, Deferrable: k.Deferrable}, primary)
}

// sameColumns returns t's columns of those names, nil when one is missing.
func sameColumns(t *draft, columns []*Column) []*Column {
	var same []*Column
	for _, c := range columns {
		own := t.Column(c.Name)
		if own == nil {
			return nil
		}
		same = append(same, own)
	}
	return same
}

// copyKeys gives a partition, or a copy made with LIKE, the keys and indexes of
// another table that it does not have yet.
func (p *postgresql) copyKeys(t *draft, from *draft) {
	if from.PrimaryKey != nil {
		p.copyKey(t, from.PrimaryKey, true)
	}
	isKey := map[*Index]bool{}
	for _, k := range append(slices.Clone(from.Uniques), from.PrimaryKey) {
		if k != nil {
			isKey[k.index] = true
		}
	}
	for _, k := range from.Uniques {
		p.copyKey(t, k, false)
	}
	for _, ix := range from.Indexes {
		if !isKey[ix] {
			p.copyIndex(t, ix)
		}
	}
}

func (p *postgresql) copyIndex(t *draft, ix *Index) {
	own := *ix
	own.Columns = slices.Clone(ix.Columns)
	for i, c := range own.Columns {
		if c.Column != nil {
			if own.Columns[i].Column = t.Column(c.Column.Name); own.Columns[i].Column == nil {
				return
			}
		}
	}
	same := func(o *Index) bool {
		return o.Unique == own.Unique && o.Where == own.Where && o.Method == own.Method && slices.Equal(o.Columns, own.Columns)
	}
	if slices.ContainsFunc(t.Indexes, same) {
		return
	}
	own.Name = t.free(indexNames(t, &own), "idx")
	t.addIndex(&own)
}

// parentOf finds the table that t inherits from, or notes the gap.
func (p *postgresql) parentOf(t *draft, r *pgRangeVar) *draft {
	parent := p.lookup(r)
	if parent == nil || parent == t {
		p.unknownTable(t, r)
		return nil
	}
	return parent
}

func (p *postgresql) unknownTable(t *draft, r *pgRangeVar) {
	t.Gaps = append(t.Gaps, missingTable(t, r.GetRelname(), p.st.pos(p.relation(r))))
}

// inherit gives t the columns and checks of its parent.
func (p *postgresql) inherit(t, parent *draft, partition bool) {
	p.link(t, parent, partition)
	for _, c := range parent.Columns {
		own := t.Column(c.Name)
		if own == nil {
			own = p.copyColumn(c)
			if !partition && !p.serial[c] && c.Identity {
				own.Identity, own.HasDefault, own.Always = false, false, false
			}
			t.Columns = append(t.Columns, own)
		}
		own.NotNull = own.NotNull || c.NotNull
	}
	copyChecks(t, parent)
}

func (p *postgresql) link(t, parent *draft, partition bool) {
	t.join(parent)
	if partition {
		t.PartitionOf = parent.QualifiedName()
	} else {
		t.Inherited, parent.Inherited = true, true
	}
	t.Gaps = append(t.Gaps, parent.Gaps...)
}

func copyChecks(t, from *draft) {
	for _, k := range from.checks {
		if !slices.ContainsFunc(t.checks, func(o *check) bool { return o.name == k.name }) {
			t.checks = append(t.checks, &check{name: k.name, text: k.text, values: k.values})
		}
	}
}

// copyColumn returns a copy for another table; comments stay behind, since they
// speak of the table they stand in.
func (p *postgresql) copyColumn(c *Column) *Column {
	own := *c
	own.Comments = nil
	if p.uses[c] != nil {
		p.uses[&own] = p.uses[c]
	}
	if p.serial[c] {
		p.serial[&own] = true
	}
	return &own
}

// The options of LIKE that matter here, as the parser numbers them.
const (
	likeConstraints = 1 << 2
	likeDefaults    = 1 << 3
	likeGenerated   = 1 << 4
	likeIdentity    = 1 << 5
	likeIndexes     = 1 << 6
)

// copyLike reads LIKE.
func (p *postgresql) copyLike(t *draft, like *pgTableLikeClause) {
	from := p.lookup(like.GetRelation())
	if from == nil || from == t {
		p.unknownTable(t, like.GetRelation())
		return
	}
	options := like.GetOptions()
	for _, c := range from.Columns {
		if t.Column(c.Name) != nil {
			continue
		}
		own := p.copyColumn(c)
		ownIdentity := c.Identity && !p.serial[c]
		switch {
		case c.Generated && options&likeGenerated == 0:
			own.Generated = false
		case ownIdentity && options&likeIdentity == 0, !ownIdentity && c.HasDefault && options&likeDefaults == 0:
			own.HasDefault, own.Default, own.Identity, own.Always = false, "", false, false
			delete(p.serial, own)
		}
		t.Columns = append(t.Columns, own)
	}
	if options&likeConstraints != 0 {
		copyChecks(t, from)
	}
	if options&likeIndexes != 0 {
		p.copyKeys(t, from)
	}
	t.Gaps = append(t.Gaps, from.Gaps...)
}

// createIndex reads CREATE INDEX.
func (p *postgresql) createIndex(n *pgIndexStmt) {
	t := p.lookup(n.GetRelation())
	if t == nil {
		return
	}
	if n.GetIdxname() != "" && slices.ContainsFunc(t.Indexes, func(ix *Index) bool { return ix.Name == n.GetIdxname() }) {
		return
	}
	relation := p.relation(n.GetRelation())
	at := 1
	for at < relation && !p.st.is(at, "index") {
		at++
	}
	open := relation + 1
	if p.st.is(open, "using") {
		open += 2
	}
	ix := p.newIndex(t, n, at, open)
	for _, part := range t.family(!n.GetRelation().GetInh() || !t.Partitioned)[1:] {
		p.copyIndex(part, ix)
	}
}

// inlineIndex adds an index that stands at token i among the columns of the table, and
// which the statement makes.
func (p *postgresql) inlineIndex(t *draft, i int, statement string) {
	at := i
	for !p.st.is(at, "index") {
		at++
	}
	open := at
	for !p.st.is(open, "(") {
		open++
	}
	result, err := pgParse(statement)
	if err != nil {
		t.Gaps = append(t.Gaps, unreadable(p.st.pos(i), err.Error()))
		return
	}
	n := result.GetStmts()[0].GetStmt().GetIndexStmt()
	if open > at+1 {
		n.Idxname = p.nameAt(p.st, at+1)
	}
	p.newIndex(t, n, at, open)
}

// newIndex adds the index n. INDEX stands at token at, and its list opens at token open.
func (p *postgresql) newIndex(t *draft, n *pgIndexStmt, at, open int) *Index {
	tail := p.text.tails[p.st.tokens[at].off-p.base]
	end := cmp.Or(tail.end, len(p.st.tokens))
	method := cmp.Or(tail.method, n.GetAccessMethod(), btree)
	ix := &Index{Name: n.GetIdxname(), Unique: n.GetUnique(), Method: cmp.Or(p.server.methods[method], method), Invisible: tail.invisible, Pos: p.st.pos(at)}
	if ix.Name != "" {
		ix.Pos = p.st.pos(p.st.skip(p.st.skip(p.st.skip(at+1, "concurrently"), "nonconcurrently"), "if", "not", "exists"))
	}
	closing := p.st.closing(open)
	items := p.hashedItems(ix, p.st.items(open+1, closing))
	for i, e := range n.GetIndexParams() {
		if i < len(items) {
			ix.Columns = append(ix.Columns, p.indexColumn(t, e.GetIndexElem(), items[i]))
		}
	}
	if n.GetWhereClause() != nil {
		for i := closing + 1; i < end; i++ {
			if p.st.is(i, "where") {
				ix.Where = p.written(i+1, end)
				break
			}
			if p.st.is(i, "(") {
				i = p.st.closing(i)
			}
		}
	}
	if ix.Name == "" {
		ix.Name = t.free(indexNames(t, ix), "idx")
	}
	t.addIndex(ix)
	return ix
}

// indexColumn reads one column of an index, which stands in the tokens of item.
func (p *postgresql) indexColumn(t *draft, e *pgIndexElem, item [2]int) IndexColumn {
	c := IndexColumn{Desc: e.GetOrdering() == pgSortbyDesc}
	c.NullsFirst = e.GetNullsOrdering() == pgSortbyNullsFirst || e.GetNullsOrdering() == pgSortbyNullsDefault && c.Desc
	name := e.GetName()
	if name == "" { // a column in parentheses is a column
		name = pgLastField(e.GetExpr())
		if collated := e.GetExpr().GetCollateClause(); collated != nil {
			name = pgLastField(collated.GetArg())
		}
	}
	if name != "" {
		if c.Column = t.Column(name); c.Column == nil {
			t.Gaps = append(t.Gaps, p.noColumn(t, name, item[0]))
			c.Expr = p.st.text(item[0])
		}
		return c
	}
	// An expression is a call, or stands in parentheses.
	end := item[0]
	for end < item[1] && !p.st.is(end, "(") {
		end++
	}
	c.Expr = p.written(item[0], min(p.st.closing(end)+1, item[1]))
	return c
}

// indexNames returns what PostgreSQL would make an index's name of.
func indexNames(t *draft, ix *Index) []string {
	names := []string{t.Name}
	for _, c := range ix.Columns {
		switch function, _, isCall := strings.Cut(c.Expr, "("); {
		case c.Column != nil:
			names = append(names, c.Column.Name)
		case isCall && function != "":
			names = append(names, pgFold(strings.TrimSpace(function)))
		default:
			names = append(names, "expr")
		}
	}
	return names
}

// free joins the names the way PostgreSQL names a constraint or an index, and
// counts on where the table has one of that name.
func (t *draft) free(names []string, label string) string {
	for n := 0; ; n++ {
		suffix := label
		if n > 0 {
			suffix += strconv.Itoa(n)
		}
		name := pgObjectName(names[0], strings.Join(names[1:], "_"), suffix)
		taken := slices.ContainsFunc(t.Indexes, func(ix *Index) bool { return ix.Name == name }) ||
			slices.ContainsFunc(t.checks, func(k *check) bool { return k.name == name })
		if !taken {
			return name
		}
	}
}

// maxName is the longest name in bytes; PostgreSQL cuts longer ones.
const maxName = 63

// pgObjectName joins names with "_" and cuts the longer of the first two until
// all fit.
func pgObjectName(first, second, label string) string {
	room := maxName - len(label) - 1
	if second != "" {
		room--
	}
	for len(first)+len(second) > room {
		if len(first) > len(second) {
			first = first[:len(first)-1]
		} else {
			second = second[:len(second)-1]
		}
	}
	first, second = cutRunes(first), cutRunes(second)
	if second != "" {
		first += "_" + second
	}
	return first + "_" + label
}

// cutRunes drops what is left of a character at the end of s.
func cutRunes(s string) string {
	for s != "" {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

// createTableAs reads CREATE TABLE AS and materialized views.
func (p *postgresql) createTableAs(n *pgCreateTableAsStmt) {
	r := n.GetInto().GetRel()
	switch {
	case n.GetObjtype() == pgOnMatview:
		p.refuse(p.st, "a materialized view")
		return
	case r.GetRelpersistence() == "t":
		p.refuse(p.st, "a temporary table")
		return
	}
	nameAt := p.relation(r)
	t := p.newTable(r, nameAt, n.GetIfNotExists())
	if t == nil {
		return
	}
	a := p.tableAnchor(t)
	p.selectColumns(t, a, n.GetQuery().GetSelectStmt(), n.GetInto().GetColNames(), nameAt)
	for _, c := range t.Columns {
		// A copy has the types of the query's columns and nothing else of them.
		*c = Column{Name: c.Name, Pos: c.Pos, Type: c.Type}
	}
}

func (p *postgresql) createView(n *pgViewStmt) {
	r := n.GetView()
	if r.GetRelpersistence() == "t" {
		p.refuse(p.st, "a temporary view")
		return
	}
	nameAt := p.relation(r)
	if old := p.lookup(r); n.GetReplace() && old != nil && old.View {
		p.drop(old, false)
	}
	t := p.newTable(r, nameAt, false)
	if t == nil {
		return
	}
	t.View, t.NoRowIdentity = true, true
	p.selectColumns(t, p.tableAnchor(t), n.GetQuery().GetSelectStmt(), n.GetAliases(), nameAt)
}

// selectColumns gives t the columns of a query; names are those that stand
// behind the name of t.
func (p *postgresql) selectColumns(t *draft, a *anchor, q *pgSelectStmt, names []*pgNode, nameAt int) {
	for q.GetLarg() != nil {
		q = q.GetLarg()
	}
	targets := q.GetTargetList()
	if len(targets) == 0 {
		t.unknownColumns(p.st.pos(nameAt))
		return
	}
	var froms []from
	for _, node := range q.GetFromClause() {
		froms = p.addFrom(froms, node)
	}
	var outputs []output
	for i, target := range targets {
		rt := target.GetResTarget()
		start := p.index(rt.GetLocation())
		end := len(p.st.tokens)
		if i+1 < len(targets) {
			end = p.index(targets[i+1].GetResTarget().GetLocation()) - 1
		} else {
			for j := start + 1; j < end; j++ {
				if p.st.is(j, "(", "[") {
					j = p.st.closing(j)
				} else if p.st.is(j, "from", "where") {
					end = j
				}
			}
		}
		o := output{name: rt.GetName(), pos: p.st.pos(start), start: p.st.pos(start).Offset, end: p.st.pos(end - 1).Offset}
		if fields := rt.GetVal().GetColumnRef().GetFields(); len(fields) > 0 {
			o.star = fields[len(fields)-1].GetAStar() != nil
			o.column = fields[len(fields)-1].GetString_().GetSval()
			if len(fields) > 1 {
				o.table = fields[len(fields)-2].GetString_().GetSval()
			}
			if o.name == "" {
				o.name = o.column
			}
		}
		o.pos = p.nameIn(o.name, start, end)
		outputs = append(outputs, o)
	}
	for i, name := range pgStrings(names) {
		if i < len(outputs) && !outputs[i].star {
			outputs[i].name, outputs[i].pos = name, p.nameIn(name, nameAt+1, p.index(targets[0].GetResTarget().GetLocation()))
		}
	}
	a.open, a.close = outputs[0].start-1, outputs[len(outputs)-1].end
	t.addOutputs(a, froms, outputs)
}

// nameIn returns the last token from start up to end that writes name, or the
// first of them when none does.
func (p *postgresql) nameIn(name string, start, end int) source.Pos {
	for i := end - 1; i >= start; i-- {
		if p.nameAt(p.st, i) == name {
			return p.st.pos(i)
		}
	}
	return p.st.pos(start)
}

func (p *postgresql) addFrom(froms []from, node *pgNode) []from {
	switch {
	case node.GetRangeVar() != nil:
		r := node.GetRangeVar()
		f := from{alias: r.GetRelname(), table: p.lookup(r)}
		if name := r.GetAlias().GetAliasname(); name != "" {
			f.alias = name
		}
		return append(froms, f)
	case node.GetJoinExpr() != nil:
		return p.addFrom(p.addFrom(froms, node.GetJoinExpr().GetLarg()), node.GetJoinExpr().GetRarg())
	}
	return append(froms, from{})
}
