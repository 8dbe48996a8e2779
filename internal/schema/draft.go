package schema

// This file holds the catalog while it is being built and the changes that the
// statements of every database make to it.

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/source"
)

// A draft is a table while statements still change it.
type draft struct {
	*Table
	all      *drafts
	parents  []*draft
	children []*draft
	checks   []*check
	notNulls map[string]*Column // NOT NULL constraints that have names
	disabled []constraint       // keys that are not enforced
	byKey    []*Column          // never null by the primary key alone
	defaults map[string]*Column // DEFAULT constraints that have names
	foreign  []*foreignKey
}

// A check is a CHECK constraint.
type check struct {
	name    string
	text    string
	columns []*Column
	values  map[string][]string // by column: the only values it allows
	off     bool                // NOT ENFORCED
	json    bool                // says of its column that it holds JSON, and nothing else
	of      *Column             // in whose definition it stands
}

// drafts is the catalog in the making.
type drafts struct {
	tables  []*draft
	byName  map[string][]*draft // see key
	anchors []*anchor           // of the script that is being read
	loose   []Comment
	unread  []Unread
	inTexts []keyText
	lexis   lexis
	fold    func(string) string // of unquoted names
	exact   bool                // names that differ in case alone are two names
	errs    *source.ErrorList
	early   map[[2]string]source.Pos // by schema and name: where a table was changed before it was made
	// schema is what names without a schema mean, where the database tells; names are
	// the same there in any case.
	schema string
	shown  [][2]*Column // columns of views with their origins, in order
	// typeLike, if set, learns that column has the type of origin.
	typeLike func(column, origin *Column)
}

// key is what byName is ordered by: names that may mean the same table have
// the same key.
func key(name string) string { return strings.ToLower(name) }

// add adds a table.
func (d *drafts) add(table *Table) *draft {
	t := d.draft(table)
	d.enter(t)
	return t
}

// draft returns a table that is not in the catalog yet.
func (d *drafts) draft(table *Table) *draft {
	return &draft{Table: table, all: d, notNulls: map[string]*Column{}}
}

// enter adds a table that has been read.
func (d *drafts) enter(t *draft) {
	if pos, ok := d.early[d.place(t.Schema, t.Name)]; ok {
		d.errs.Add(source.Errorf(pos, "table %s is changed before it is created at %s", t.Name, t.Pos).
			WithHint("Files are read in the order in which they are listed. List them in the order in which they run."))
	}
	d.tables = append(d.tables, t)
	d.byName[key(t.Name)] = append(d.byName[key(t.Name)], t)
}

func (d *drafts) forget(t *draft) {
	d.byName[key(t.Name)] = slices.DeleteFunc(d.byName[key(t.Name)], func(o *draft) bool { return o == t })
}

func (d *drafts) rename(t *draft, name string, pos source.Pos) {
	d.forget(t)
	t.Name, t.Pos = name, pos
	d.byName[key(name)] = append(d.byName[key(name)], t)
}

// drop removes a table and its partitions.
func (d *drafts) drop(t *draft, cascade bool) {
	d.tables = slices.DeleteFunc(d.tables, func(o *draft) bool { return o == t })
	d.forget(t)
	for _, p := range slices.Clone(t.parents) {
		t.leave(p)
	}
	for _, c := range slices.Clone(t.children) {
		partition := c.PartitionOf != ""
		c.leave(t)
		if partition || cascade {
			d.drop(c, cascade)
		}
	}
}

// join makes t a child of parent.
func (t *draft) join(parent *draft) {
	t.parents = append(t.parents, parent)
	parent.children = append(parent.children, t)
}

func (t *draft) leave(parent *draft) {
	t.parents = slices.DeleteFunc(t.parents, func(o *draft) bool { return o == parent })
	parent.children = slices.DeleteFunc(parent.children, func(o *draft) bool { return o == t })
	t.PartitionOf = ""
}

// family returns t and, unless alone, everything that inherits from it.
func (t *draft) family(alone bool) []*draft {
	members := []*draft{t}
	for i := 0; !alone && i < len(members); i++ {
		for _, c := range members[i].children {
			if !slices.Contains(members, c) {
				members = append(members, c)
			}
		}
	}
	return members
}

// dropColumn removes a column with everything that is made of it.
func (t *draft) dropColumn(c *Column) {
	uses := func(cols []*Column) bool { return slices.Contains(cols, c) }
	names := func(expr string) bool { return uses(t.columnsIn(expr)) }
	t.dropIndexes(func(ix *Index) bool {
		return names(ix.Where) || slices.ContainsFunc(ix.Columns, func(ic IndexColumn) bool { return ic.Column == c || names(ic.Expr) })
	})
	t.dropKeys(func(k *Key) bool { return uses(k.Columns) })
	t.checks = slices.DeleteFunc(t.checks, func(k *check) bool { return uses(k.columns) })
	t.Columns = slices.DeleteFunc(t.Columns, func(o *Column) bool { return o == c })
	t.PartitionBy = slices.DeleteFunc(t.PartitionBy, func(name string) bool { return name == c.Name })
}

// renameColumn renames a column wherever its name stands.
func (t *draft) renameColumn(c *Column, name string, pos source.Pos) {
	written := pos.Text()
	if strings.HasPrefix(written, "'") { // a procedure is told the name
		written = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	rename := func(expr string) string { return t.renameIn(expr, c, written) }
	for _, ix := range t.Indexes {
		ix.Where = rename(ix.Where)
		for i := range ix.Columns {
			ix.Columns[i].Expr = rename(ix.Columns[i].Expr)
		}
	}
	for _, k := range t.checks {
		k.text = rename(k.text)
		if values, ok := k.values[c.Name]; ok {
			delete(k.values, c.Name)
			k.values[name] = values
		}
	}
	for i, p := range t.PartitionBy {
		if p == c.Name {
			t.PartitionBy[i] = name
		}
	}
	c.Name, c.Pos = name, pos
}

// addKey adds a primary key or a unique constraint with its index.
func (t *draft) addKey(k *Key, primary bool, ix *Index) {
	if primary {
		t.PrimaryKey = k
	} else {
		t.Uniques = append(t.Uniques, k)
	}
	k.index = ix
	if !slices.Contains(t.Indexes, ix) {
		t.Indexes = append(t.Indexes, ix)
	}
}

// resolveChecks finds the columns that new checks are about. It is called when
// the statement has given the table all its columns.
func (t *draft) resolveChecks() {
	for _, k := range t.checks {
		if k.columns != nil {
			continue
		}
		k.columns = t.columnsIn(k.text)
		values := map[string][]string{}
		for name, v := range k.values {
			if c := t.Column(name); c != nil {
				values[c.Name] = v
			}
		}
		k.values = values
	}
}

// keyIndex returns the index that stands behind a key unless the database says
// otherwise.
func keyIndex(k *Key) *Index {
	ix := &Index{Name: k.Name, Pos: k.Pos, Unique: true, Method: btree}
	for _, c := range k.Columns {
		ix.Columns = append(ix.Columns, IndexColumn{Column: c})
	}
	return ix
}

const btree = "btree"

// addIndex adds an index; a unique one over plain columns is a key as well.
func (t *draft) addIndex(ix *Index) {
	t.Indexes = append(t.Indexes, ix)
	if !ix.Unique || ix.Where != "" {
		return
	}
	k := &Key{Name: ix.Name, Pos: ix.Pos, index: ix}
	for _, c := range ix.Columns {
		if c.Column == nil {
			return
		}
		k.Columns = append(k.Columns, c.Column)
	}
	t.Uniques = append(t.Uniques, k)
}

// dropIndexes removes indexes, and the keys that they are.
func (t *draft) dropIndexes(drop func(*Index) bool) {
	for _, ix := range slices.Clone(t.Indexes) {
		if drop(ix) {
			t.dropKeys(func(k *Key) bool { return k.index == ix })
			t.Indexes = slices.DeleteFunc(t.Indexes, func(o *Index) bool { return o == ix })
		}
	}
}

// dropIndex removes the index of a name, also that of a foreign key.
func (t *draft) dropIndex(same func(string) bool) {
	t.dropIndexes(func(ix *Index) bool { return same(ix.Name) })
	t.foreign = slices.DeleteFunc(t.foreign, func(f *foreignKey) bool { return same(f.name) })
}

// dropKeys removes keys with their indexes.
func (t *draft) dropKeys(drop func(*Key) bool) (dropped bool) {
	remove := func(k *Key) bool {
		if k == nil || !drop(k) {
			return false
		}
		dropped = true
		t.Indexes = slices.DeleteFunc(t.Indexes, func(ix *Index) bool { return ix == k.index })
		return true
	}
	if remove(t.PrimaryKey) {
		t.PrimaryKey = nil
	}
	t.Uniques = slices.DeleteFunc(t.Uniques, remove)
	return dropped
}

// nameDefault notes the name of a column's DEFAULT constraint.
func (t *draft) nameDefault(name string, c *Column) {
	if t.defaults == nil {
		t.defaults = map[string]*Column{}
	}
	t.defaults[name] = c
}

// dropConstraint removes the constraint of that stored name.
func (t *draft) dropConstraint(same func(string) bool) {
	if t.dropKeys(func(k *Key) bool { return same(k.Name) }) {
		return
	}
	for name, c := range t.notNulls {
		if same(name) {
			c.NotNull = false
			delete(t.notNulls, name)
		}
	}
	for name, c := range t.defaults {
		if same(name) {
			c.HasDefault, c.Default = false, ""
			delete(t.defaults, name)
		}
	}
	t.checks = slices.DeleteFunc(t.checks, func(k *check) bool { return same(k.name) })
}

// renameIndex renames an index or the constraint behind it.
func (t *draft) renameIndex(from, to string, pos source.Pos) bool {
	found := false
	for _, ix := range t.Indexes {
		if ix.Name == from {
			ix.Name, ix.Pos = to, pos
			found = true
		}
	}
	for _, k := range append(slices.Clone(t.Uniques), t.PrimaryKey) {
		if k != nil && k.Name == from {
			k.Name, k.Pos = to, pos
			found = true
		}
	}
	return found
}

// textLength finds in a check as written what the length of a column's text is compared with.
var textLength = regexp.MustCompile(`(?i)\b(?:char_length|character_length|length|len)\s*\(\s*\(?["\[` + "`" + `]?([^"\[\]` + "`" + `():]+?)` +
	`["\]` + "`" + `]?\)?(?:\s*::\s*[\w ]+)?\s*\)\s*(?:(<=?)\s*(\d+)|between\s+\d+\s+and\s+(\d+))`)

// longest returns the length that a check as written holds a column's text to, 0 when it
// holds it to none: of several lengths the least.
func longest(check, column string) int {
	least := 0
	for _, m := range textLength.FindAllStringSubmatch(check, -1) {
		n, err := strconv.Atoi(cmp.Or(m[3], m[4]))
		if m[2] == "<" {
			n--
		}
		if err == nil && strings.EqualFold(m[1], column) && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// limit makes the longest text of a column what a check that is about it alone allows.
func (c *Column) limit(check string) {
	if n := longest(check, c.Name); n > 0 && (c.Longest == 0 || n < c.Longest) {
		c.Longest = n
	}
}

// numberRange finds in a condition as written the numbers between which a column has to be.
var numberRange = regexp.MustCompile(`(?i)^\(*["\[` + "`" + `]?([^"\[\]` + "`" + `():]+?)["\]` + "`" + `]?\)?(?:\s*::\s*[\w ]+\)?)?\s+between\s+(-?[\d.]+)\s+and\s+(-?[\d.]+)\)*$`)

// bound reads from a check as written between which numbers it holds columns.
func (t *draft) bound(check string) {
	script := scan(source.NewFile("", []byte(check)), t.all.lexis)
	st := &statement{script: script, tokens: script.tokens}
	for _, test := range (&rowReader{statement: st, escapes: t.all.lexis.escapes}).all(0, len(st.tokens)) {
		if m := numberRange.FindStringSubmatch(test.Text); m != nil {
			t.hold(m[1], ">=", m[2])
			t.hold(m[1], "<=", m[3])
		} else if len(test.Values) == 1 && test.Values[0].Kind == RowLiteral {
			t.hold(test.Column.Name, test.Op, test.Values[0].Text)
		}
	}
}

// hold narrows the numbers of a column by a comparison with one of them.
func (t *draft) hold(column, op, number string) {
	at := slices.IndexFunc(t.Columns, func(c *Column) bool { return strings.EqualFold(c.Name, column) })
	n, err := strconv.ParseFloat(number, 64)
	if at < 0 || err != nil || math.Abs(n) > 1<<53 {
		return
	}
	least, greatest := int64(math.Ceil(n)), int64(math.Floor(n))
	switch c := t.Columns[at]; op {
	case ">":
		least = int64(math.Floor(n)) + 1
		fallthrough
	case ">=":
		if c.Least == nil || *c.Least < least {
			c.Least = &least
		}
	case "<":
		greatest = int64(math.Ceil(n)) - 1
		fallthrough
	case "<=":
		if c.Greatest == nil || *c.Greatest > greatest {
			c.Greatest = &greatest
		}
	}
}

// conjuncts returns the conditions that all have to hold for an expression to do so: what
// stands between ANDs, or the expression itself.
func (t *draft) conjuncts(expr string) []string {
	st := &statement{script: scan(source.NewFile("", []byte(expr)), t.all.lexis)}
	st.tokens = st.script.tokens
	from, to := 0, len(st.tokens)
	for to-from >= 2 && st.is(from, "(") && st.closing(from) == to-1 {
		from, to = from+1, to-1
	}
	var parts []string
	start, between := from, false
	end := func(i int) {
		if start < i {
			parts = append(parts, expr[st.tokens[start].off:st.tokens[i-1].end])
		}
		start = i + 1
	}
	for i := from; i < to; i++ {
		switch {
		case st.is(i, "("):
			i = min(st.closing(i), to-1)
		case st.is(i, "or", "xor", "case"):
			return []string{expr}
		case st.is(i, "between"):
			between = true
		case st.is(i, "and") && between:
			between = false // the AND of BETWEEN
		case st.is(i, "and"):
			end(i)
		}
	}
	if end(to); len(parts) < 2 {
		return []string{expr}
	}
	var all []string
	for _, part := range parts {
		all = append(all, t.conjuncts(part)...)
	}
	return all
}

// keyText is a statement that runs another, made of texts, which speaks of keys.
type keyText struct {
	pos source.Pos // of the text
	sql string     // the whole statement
}

// What tells in a text a statement that may give a table a key.
var (
	changesTable = regexp.MustCompile(`(?i)\balter\s+table\b|\bcreate\s+unique\b`)
	speaksOfKey  = regexp.MustCompile(`(?i)\bprimary\s+key\b|\bunique\b`)
)

// noteTexts remembers the statements of a script that run statements which are texts. What
// makes a table or fills one says of it what it says.
func (d *drafts) noteTexts(s *script) {
	for _, st := range s.statements {
		if st.is(0, "alter", "comment", "insert") || st.is(0, "create") && !st.is(1, "function", "procedure", "or") {
			continue
		}
		for i, t := range st.tokens {
			if t.kind != text || !changesTable.MatchString(s.textOf(t)) {
				continue
			}
			sql := s.src[st.off():st.tokens[len(st.tokens)-1].end]
			if speaksOfKey.MatchString(sql) {
				d.inTexts = append(d.inTexts, keyText{st.pos(i), sql})
			}
			break
		}
	}
}

// finish writes what is known of each table into its catalog entry.
func (d *drafts) finish(files []*source.File) *Catalog {
	catalog := &Catalog{Loose: d.loose, Unread: d.unread}
	order := map[*source.File]int{}
	for i, f := range files {
		order[f] = i
	}
	byPlace := func(a, b Comment) int {
		return cmp.Or(cmp.Compare(order[a.Pos.File], order[b.Pos.File]), cmp.Compare(a.Pos.Offset, b.Pos.Offset))
	}
	for _, t := range d.tables {
		for _, k := range t.checks {
			if k.off {
				continue
			}
			t.bound(k.text)
			if len(k.columns) == 1 {
				c := k.columns[0]
				c.Checks = append(c.Checks, k.text)
				c.limit(k.text)
			} else {
				t.Checks = append(t.Checks, k.text)
				for _, part := range t.conjuncts(k.text) {
					if columns := t.columnsIn(part); len(columns) == 1 {
						columns[0].limit(part)
					}
				}
			}
			for name, values := range k.values {
				if c := t.Column(name); c != nil {
					c.Values = narrow(c.Values, values)
				}
			}
		}
		first := true
		for _, c := range t.Columns {
			c.MayUpdate = c.MayUpdate && first && !c.Generated
			first = first && c.Type.Name != "timestamp"
		}
		annotated := containsMark(t.Comments)
		slices.SortStableFunc(t.Comments, byPlace)
		for _, c := range t.Columns {
			annotated = annotated || containsMark(c.Comments)
			slices.SortStableFunc(c.Comments, byPlace)
		}
		if annotated {
			d.errs.Add(t.Gaps...)
		}
		if len(d.inTexts) > 0 {
			named := regexp.MustCompile(`(?i)(?:^|[^\pL\pN_$])` + regexp.QuoteMeta(t.Name) + `(?:$|[^\pL\pN_$])`)
			if i := slices.IndexFunc(d.inTexts, func(k keyText) bool { return named.MatchString(k.sql) }); i >= 0 {
				t.KeyInText = d.inTexts[i].pos
			}
		}
		catalog.Tables = append(catalog.Tables, t.Table)
	}
	slices.SortStableFunc(catalog.Loose, byPlace)
	return catalog
}

// narrow returns the values that are in both lists; none at all stand for all.
func narrow(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(v string) bool { return !slices.Contains(b, v) })
}

// stepOf returns the smallest difference between times with that many digits
// behind the second, of which no database keeps more than nine.
func stepOf(digits int) time.Duration {
	step := time.Second
	for range min(max(digits, 0), 9) {
		step /= 10
	}
	return step
}

// removeStored leaves out the comment that the database itself keeps.
func removeStored(comments []Comment) []Comment {
	return slices.DeleteFunc(comments, func(c Comment) bool { return c.stored })
}

func containsMark(comments []Comment) bool {
	return slices.ContainsFunc(comments, func(c Comment) bool { return strings.Contains(c.Text, mark) })
}

// names calls found for each token of expr that names a column of t.
func (t *draft) names(expr string, found func(*Column, token)) {
	if expr == "" {
		return
	}
	s := scan(source.NewFile("", []byte(expr)), t.all.lexis)
	for i, tok := range s.tokens {
		if tok.kind != word && tok.kind != quoted {
			continue
		}
		next, previous := "", ""
		if i+1 < len(s.tokens) {
			next = s.textOf(s.tokens[i+1])
		}
		if i > 0 {
			previous = s.textOf(s.tokens[i-1])
		}
		if next == "(" && tok.kind == word || next == "." || previous == "::" {
			continue
		}
		if c := t.Column(t.all.stored(tok, s)); c != nil {
			found(c, tok)
		}
	}
}

// columnsIn returns the columns of t that expr names, each once.
func (t *draft) columnsIn(expr string) []*Column {
	var columns []*Column
	t.names(expr, func(c *Column, _ token) {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	})
	return columns
}

// renameIn returns expr with another name, as written, for column c.
func (t *draft) renameIn(expr string, c *Column, name string) string {
	var b strings.Builder
	last := 0
	t.names(expr, func(o *Column, tok token) {
		if o == c {
			b.WriteString(expr[last:tok.off] + name)
			last = tok.end
		}
	})
	return b.String() + expr[last:]
}

// unquote returns the name that a quoted token writes.
func unquote(s string) string {
	if len(s) < 2 {
		return s
	}
	quote := s[len(s)-1:]
	switch s[0] {
	case '"', '`', '\'':
		return strings.ReplaceAll(s[1:len(s)-1], quote+quote, quote)
	case '[':
		return strings.ReplaceAll(s[1:len(s)-1], "]]", "]")
	}
	return s
}

// headOf tells which table a statement defines or alters, going by its words:
// the index of its name's last part, or -1.
func headOf(st *statement) int {
	var i int
	switch {
	case st.is(0, "create"):
		for i = 1; i < 5 && !st.is(i, "table"); i++ {
			if i >= len(st.tokens) || st.tokens[i].kind != word {
				return -1
			}
		}
		if !st.is(i, "table") || st.is(1, "function", "procedure", "trigger", "index", "view", "type") {
			return -1
		}
		i = st.skip(i+1, "if", "not", "exists")
	case st.is(0, "alter"):
		for i = 1; st.is(i, "online", "offline", "ignore"); i++ {
		}
		if !st.is(i, "table") {
			return -1
		}
		i = st.skip(st.skip(i+1, "if", "exists"), "only")
	default:
		return -1
	}
	if i >= len(st.tokens) || st.is(i, "(", ";") {
		return -1
	}
	return st.qualified(i)
}

// unreadable returns the error of a statement that a parser rejects.
func unreadable(pos source.Pos, msg string) *source.Error {
	// Parsers quote the text they stop at, which may go on for many lines.
	if line, _, cut := strings.Cut(msg, "\n"); cut {
		msg = strings.TrimRight(line, "\r") + `…"`
	}
	return source.Errorf(pos, "cannot read the statement: %s", msg)
}

// skipUnread decides what becomes of a statement that does not parse. An error
// it is if it carries annotations or speaks of a table that is known; else it
// is skipped.
func (d *drafts) skipUnread(st *statement, known func(schema, name string) bool, err *source.Error) {
	// Comments inside, above or behind the statement belong to what it defines.
	target := &Table{}
	head := headOf(st)
	if head >= 0 {
		d.anchors = append(d.anchors, &anchor{st: st, table: target, open: -1, close: -1, swallow: true})
	}
	annotated := head >= 0 && d.annotates(st)
	if st.is(0, "comment") {
		for i, tok := range st.tokens {
			annotated = annotated || tok.kind == text && strings.Contains(st.text(i), mark)
		}
	}
	name := ""
	if head >= 0 {
		name = d.nameAt(st, head)
	}
	alters := head >= 0 && st.is(0, "alter") && known(d.schemaAt(st, head), name)
	switch {
	case annotated:
		d.errs.Add(err.WithHint("The statement carries annotations, so it is not skipped. Write it as the database accepts it."))
		if head >= 0 && st.is(0, "create") {
			d.unread = append(d.unread, Unread{Schema: d.schemaAt(st, head), Table: name, Err: err, Reported: true})
		}
	case alters:
		d.errs.Add(err.WithHint(changesHint, name))
	case head >= 0 && st.is(0, "create"):
		d.unread = append(d.unread, Unread{Schema: d.schemaAt(st, head), Table: name, Err: err})
	case st.is(0, "create") && st.is(1, "table"):
		d.unread = append(d.unread, Unread{Err: err})
	}
}

// annotates reports whether an annotation stands inside, above or behind st.
func (d *drafts) annotates(st *statement) bool {
	s := st.script
	return slices.ContainsFunc(s.remarks, func(r remark) bool {
		return strings.Contains(s.src[r.textOff:r.textEnd], mark) && s.statementOf(r) == st
	})
}

// nameAt returns the stored name that token i writes.
func (d *drafts) nameAt(st *statement, i int) string {
	if i < 0 || i >= len(st.tokens) {
		return ""
	}
	return d.stored(st.tokens[i], st.script)
}

// stored returns the name that a token writes, as the database stores it.
func (d *drafts) stored(t token, s *script) string {
	if t.kind == word {
		return d.fold(s.textOf(t))
	}
	return unquote(s.textOf(t))
}

// schemaAt returns the stored name of the schema in front of token i.
func (d *drafts) schemaAt(st *statement, i int) string {
	if i >= 2 && st.is(i-1, ".") && !st.is(i-2, ".") {
		return d.nameAt(st, i-2)
	}
	return ""
}

// changedBefore notes that a table is changed that is not known. Should it be
// made later, the files stand in the wrong order.
func (d *drafts) changedBefore(schema, name string, pos source.Pos) {
	if d.early == nil {
		d.early = map[[2]string]source.Pos{}
	}
	if _, known := d.early[d.place(schema, name)]; !known {
		d.early[d.place(schema, name)] = pos
	}
}

// droppedBefore notes that a table is dropped that is not known: what was changed of
// it before is none of a table of that name that is made later.
func (d *drafts) droppedBefore(schema, name string) { delete(d.early, d.place(schema, name)) }

// place returns schema and name in one writing.
func (d *drafts) place(schema, name string) [2]string {
	if d.schema == "" {
		return [2]string{schema, name}
	}
	return [2]string{key(cmp.Or(schema, d.schema)), key(name)}
}

// sameSchema reports whether two names, which may be missing, mean one schema.
func (d *drafts) sameSchema(a, b string) bool {
	if d.schema != "" {
		a, b = cmp.Or(a, d.schema), cmp.Or(b, d.schema)
	}
	return strings.EqualFold(a, b)
}

// missingColumn says that a statement names a column that the files do not
// define.
func missingColumn(t *draft, column string, pos source.Pos) *source.Error {
	return source.Errorf(pos, "table %s has no column %s at this point", t.Name, column).
		WithHint("Files are read in the order in which they are listed. List them in the order in which they run, and list all that make the table.")
}

// missingTable says that a table is made from one that the files do not define.
func missingTable(t *draft, from string, pos source.Pos) *source.Error {
	return source.Errorf(pos, "table %s takes columns from %s, which is not in the files", t.Name, from).
		WithHint("Let the file that defines %s stand before this one.", from)
}

// changesHint takes the name of a table.
const changesHint = "The statement changes table %s, so it is not skipped. Write it as the database accepts it, or leave the file out if it is not about the schema."

const onceHint = "List each definition once: a dump of the schema, or the migrations that lead to it, not both."

// twice reports a second definition of a table.
func (d *drafts) twice(first *draft, name string, pos source.Pos) {
	d.errs.Add(source.Errorf(pos, "table %s is defined twice, first at %s", name, first.Pos).
		WithHint(onceHint))
}

// refuse reports annotations at a statement that defines something on which no
// queue can stand.
func (d *drafts) refuse(st *statement, what string) {
	d.anchors = append(d.anchors, &anchor{st: st, table: &Table{}, open: -1, close: -1, swallow: true})
	if d.annotates(st) {
		d.errs.Add(source.Errorf(st.pos(0), "%s cannot be a queue", what).
			WithHint("Put the annotations on a plain table."))
	}
}
