package plan

// This file writes the statements: it fills the values that the templates of
// the dialect have holes for.

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// values fill the holes of a template. Every text in it is written as the
// server reads it.
type values struct {
	Tag       string   // comment after the first keyword, which names the statement in server logs
	Table     string   // qualified
	TableText string   // the same as a string literal
	TableName string   // the bare name as a string literal
	Bare      string   // the bare name
	Qualifier string   // what stands before it, with its dot: "" when the DDL names no schema
	Schema    string   // the schema's name as a string literal, "" when the DDL names none
	Set       []string // assignments
	Stays     bool     // a statement that only locks: its rows stay, and no other refers to what is written
	Where     []string // conditions
	Guard     []string // the conditions again, for rows that are not locked when they are read
	Order     []string
	Limit     string
	Single    bool     // Limit is the literal 1
	Pick      []string // what names a picked row
	Joined    []string // picked rows joined to the table
	Found     found    // where rows are found without locks before they are locked
	KeyText   string   // the key as one text, to be hashed
	Returning []string
	Taken     []string // the columns of picked rows that the statement writes or returns, where picked rows are written themselves
	Kept      []string // declarations of columns that keep Output until Returning reads them, where a trigger is in the way
	Output    []string
	Columns   []string      // of an insert, or the keys of an index
	Values    []string      // of an insert
	Figures   []string      // of statistics
	Groups    []string      // the columns in which the rows of one line of them are alike
	Having    string        // the condition of such a line
	Wanted    [][]string    // rows that a check compares
	KeyIndex  string        // the index by which rows of a batch are found, where the server must be told
	ReadsRow  string        // a condition over Outside that always holds, "" where none is needed
	Outside   string        // a column that the key index does not hold, so that reading the index alone is no choice; "" where the conditions have one
	Served    string        // the table's index that gives the order of the queue
	Follows   string        // that index, or else the one that is advised for it
	Named     string        // the index of the table by which rows are found, where the statement names it
	InRows    bool          // that is the table itself, in the order of its rows, and there are others
	Passed    string        // the index that looks like the order and is not the queue's, where the server must be told
	Variables []string      // of a block, that hold Pick
	Marked    []string      // conditions that rows meet when a claim has marked them
	Beside    beside        // the other table of a companion
	Written   []besideWrite // what a statement over rows writes to other tables besides
	Carries   bool          // the batch brings values to be written, so it is joined
	Alias     string        // what the table is called in the statement, "" for its name
	Others    []other       // tables that hold columns of jobs
	Held      *batch        // rows that the transaction holds, to be left out
	Batch     batch
	Names     names
	Index     string
	Version   dialect.Version
	Can       map[string]bool
	// Hold: a row lock is what holds a job.
	Hold bool
	// OneOfMany is a condition that holds where the server is one of several that
	// take writes.
	OneOfMany string
	// ZeroDates: statements compare with, or write, 0000-00-00, which no calendar has.
	ZeroDates bool
	// Procedure is the qualified name of a stored procedure, Declared its parameters,
	// Body what it runs, and Given the arguments of its call.
	Procedure       string
	Declared, Given []string
	Body            string
	// Partitioned: the table has partitions.
	Partitioned bool
	TableLocks  bool     // the storage engine locks no rows
	Include     []string // columns that stand in the index beside its keys
	Computes    bool     // a column of the index is an expression
	Horizon     horizon  // of a log: what is read before the rows are, below which they are taken
	Replan      bool     // an argument may be null and then narrows nothing: no plan is good for both
	Plain       bool     // rows are read that nobody locks: no hint says how to pass over them
	JSON        bool     // batches travel as JSON
	Cursor      string   // what a block gives its rows back by
	Counts      string   // what a block gives its counts back by
	Key         string   // the key that an insert gives back by NewKey
	NewKey      string
	Triggers    bool // the DDL of the table has triggers
	Absent      bool // an insert leaves out what is there already
	// Alike, with conditions, is the table that an insert looks into, and adds nothing where they
	// hold for a row of it.
	Alike      string
	Conditions []string
	// Nulls are the conditions of a second look, where the first finds no rows with a null.
	Nulls []string
	// Only are conditions without which an insert adds nothing.
	Only []string
	// Conflict is by what an insert finds the row that is there, to which it then does Set; nil
	// where it adds a row or fails.
	Conflict *conflict
	Lease    leaseValues
	Group    groupValues
	// Clock is the present of the database as a text, and Ahead by how many seconds it is
	// ahead of that of the program.
	Clock, Ahead string
}

// horizon is a number below which rows are taken, read into a variable.
type horizon struct{ Variable, Type, SQL string }

// conflict is what tells that a new row meets one that is there.
type conflict struct {
	Columns []string // of the unique key that the statement names
	Where   string   // the predicate of that key
	New     string   // what the new row is called, where it needs a name
	Only    []string // conditions on the row that is there, without which it stays as it is
}

// found is how a claim finds ready rows before it locks them by their keys.
type found struct {
	Parts  [][]string // conditions: the rows of each part are found by themselves
	Ahead  string     // how many of each are looked at
	Picked []string   // what names a row and its place in the queue, named
	Names  []string   // of these
	Joined []string   // rows that were found joined to the table
	Within []string   // the order in which they are found
	Order  []string   // of rows that were found
}

// names are what the rows of a statement are called besides the table's own.
type names struct {
	Batch     string // those that one call is about
	Picked    string // those that are taken
	Row       string // those of the queue, in a statement or a loop over another table
	Candidate string // those that may be taken
	Each      string // the number of one of them, within a block
	Leased    string // claims that a statement added
	Changed   string // how many were changed, within a block
	Other     string // other rows of a row's group
	Found     string // those that are locked before their groups are, within a block
	Place     string // where one of them is
	Held      string // those whose groups are locked
	Look      string // the looks at the locks of their groups, which are tried
	Shared    string // those that share a row of another table, as one
}

// alias returns a name for rows of a statement: the word, unless the table
// itself is called so, which then could not be told from them. In a block a column and
// a variable of its name could not be told apart.
func (b *builder) alias(word string) string {
	columns := b.spec.Table.Columns
	if g := b.spec.Group; g != nil && g.Lock != nil && g.Lock.Known != nil {
		columns = slices.Concat(columns, g.Lock.Known.Columns)
	}
	column := func(c *schema.Column) bool { return strings.EqualFold(c.Name, word) }
	if b.mayBeCalled(word) || b.can(dialect.Blocks) && slices.ContainsFunc(columns, column) {
		return word + "_rows"
	}
	return word
}

// batch is the table that the rows of one call travel as.
type batch struct {
	Only    bool      // one key column and nothing else: a plain list does
	Column  string    // of Only: the key column
	Arg     string    // of Only, or the one JSON argument
	Value   string    // of Only in JSON: how one element is read
	Args    []string  // one array for each column
	Names   []string  // of the columns of the batch
	Array   string    // the first of them, where they are arrays
	Columns []string  // expressions that read the columns out of JSON, named
	Match   []string  // key column = column of the batch
	Held    []string  // the same of the columns that must be as the batch says
	Own     []string  // the columns of the table that are matched
	Values  []string  // the columns of the batch as values of those
	Raws    bool      // an array holds binary values
	Wholes  []inParts // arrays of values that travel in parts
	List    string    // condition that names the rows, of batches that are written out; of an insert, its rows
}

// inParts is an array of values that travel in parts: another array has these, and a third
// to which value each belongs, counted from 1.
type inParts struct {
	Name, Type string
	Parts, Of  string
}

// settleScope is what a statement over claimed jobs has besides.
type settleScope struct {
	// carried are the batch's columns that hold what each job is given besides: its
	// result, and arguments of the user's.
	carried map[*schema.Column]carried
	extra   []*Field // for which they are
	// again writes out what each job is given for a field, in a text that no other has; of lists.
	again  func(f *Field) string
	named  bool // arguments of the caller are written by their names, for people
	delay  bool // the caller may give a delay, 0 leaves the due time alone
	joined bool // the batch is joined as a table even where a list would do
	small  bool // the table is so small that a join would rather read it whole
	inner  bool // what the batch leaves out stands in a query within the statement
	late   bool // the transaction may have begun long ago: the present is that of the statement
}

// carried is what a job is given for a column, and where the batch holds it.
type carried struct {
	field *Field
	name  string
}

// carry notes where the batch holds what a job is given for a column.
func (s *settleScope) carry(c *schema.Column, f *Field, name string) {
	if s.carried == nil {
		s.carried = map[*schema.Column]carried{}
	}
	s.carried[c] = carried{f, name}
}

// newScope starts a statement.
func (b *builder) newScope() *scope { return &scope{builder: b} }

// row returns the table's bare name as it is written, for columns that need it.
func (b *builder) row() string { return b.d.Ident(b.spec.Table.Name) }

// qualified is that name with its dot, as it stands before a column.
func (b *builder) qualified() string { return b.row() + "." }

// base fills what every statement of an operation has.
func (b *builder) base(op string) values {
	if b.shared == nil {
		v := b.common()
		b.shared = &v
	}
	v := *b.shared
	v.Tag = "/* " + b.pkg.Name + "." + op + " */"
	if skip := string(dialect.SkipLocked); v.Can[skip] && b.waitsForLocks(op) {
		v.Can = maps.Clone(v.Can)
		v.Can[skip] = false
	}
	return v
}

// common fills what every statement has. Nothing of it changes once the order of
// the queue is decided.
func (b *builder) common() values {
	v := values{
		Version:     b.version,
		Can:         map[string]bool{},
		Names:       names{Batch: b.alias("job"), Picked: b.alias("picked"), Candidate: b.alias("candidate"), Each: b.alias("i"), Changed: b.alias("changed"), Other: b.alias("other")},
		Partitioned: b.spec.Table.Partitioned,
		TableLocks:  b.locksTable(),
		JSON:        b.batches("json"),
		Triggers:    len(b.spec.Table.Triggers) > 0,
	}
	v.of(b.d, b.spec.Table)
	for c := range b.d.Capabilities {
		v.Can[string(c)] = b.can(c)
	}
	w := b.claimIndex()
	switch ix := b.serving(w); {
	case ix == nil && len(w.columns) > 0:
		v.Follows = b.d.Ident(w.name)
	case ix != nil && ix.Name != "" && !ix.Implicit:
		v.Served = b.d.Ident(ix.Name)
		v.Follows = v.Served
	}
	v.Passed = b.passed()
	v.KeyIndex, v.Hold = b.keyIndex(), b.pkg.Strategy == "hold"
	if i := slices.IndexFunc(b.spec.Table.Columns, func(c *schema.Column) bool { return !slices.Contains(b.spec.Key, c) }); i >= 0 {
		v.Outside = b.d.Ident(b.spec.Table.Columns[i].Name)
	}
	v.OneOfMany = b.d.Fragments["one_of_many"].At(b.version)
	return v
}

// of sets the table that a statement is about.
func (v *values) of(d *dialect.Dialect, t *schema.Table) {
	v.Table, v.Bare = d.Qualified(t.Schema, t.Name), d.Ident(t.Name)
	v.TableText, v.TableName = d.Quote(v.Table), d.Quote(t.Name)
	v.Schema, v.Qualifier = "", ""
	if t.Schema != "" {
		v.Schema, v.Qualifier = d.Quote(t.Schema), d.Ident(t.Schema)+"."
	}
}

// name has a statement find rows by an index of the table; nil leaves it to the server.
func (s *scope) name(v *values, ix *schema.Index) {
	switch {
	case ix == nil:
	case ix.Method == "rowid":
		v.InRows = len(s.spec.Table.Indexes) > 1
	case ix.Name != "":
		v.Named = s.d.Ident(ix.Name)
	}
}

// inOrder has a statement read rows in the order of the queue, by the index that gives it.
func (s *scope) inOrder(v *values) {
	v.Order = s.order()
	w := s.claimIndex()
	ix := s.namedIndex(w)
	if len(v.Order) == 0 {
		return
	}
	v.Where = slices.Clone(v.Where)
	for _, t := range s.drawsAway(w) {
		if i := slices.Index(v.Where, s.test(t)); i >= 0 {
			v.Where[i] = s.hidden(v.Where[i])
		}
	}
	if ix == nil {
		hides := s.besideUnnamed(w)
		for i, text := range v.Where {
			if slices.ContainsFunc(hides, func(c *schema.Column) bool { return source.Mentions(text, c.Name) }) {
				v.Where[i] = s.hidden(text)
			}
		}
		return
	}
	s.name(v, ix)
	for _, c := range s.skippedTo(ix, w) {
		for i, text := range v.Where {
			if strings.HasPrefix(text, s.column(c)+" ") && !source.Mentions(ix.Where, c.Name) {
				v.Where[i] = s.hidden(text)
			}
		}
	}
}

// hidden returns a condition by which the server looks for no index.
func (s *scope) hidden(condition string) string {
	return dialect.Fill(s.d.Fragments["hidden"].At(s.version), "condition", unwrapped(condition))
}

// skippedTo returns the columns of an index to which the server might skip from value to value of those before,
// though these do not come in the order of the queue then: it begins with columns of one value, and the first
// one of the order stands between.
func (b *builder) skippedTo(ix *schema.Index, w wanted) (columns []*schema.Column) {
	lead := slices.IndexFunc(ix.Columns, func(c schema.IndexColumn) bool {
		return slices.ContainsFunc(w.order(), func(k indexKey) bool { return k.column == c.Column })
	})
	if lead <= 0 {
		return nil
	}
	for _, c := range ix.Columns[lead+1:] {
		if c.Column != nil {
			columns = append(columns, c.Column)
		}
	}
	return columns
}

// keyIndex names the index that holds the key and nothing else.
func (b *builder) keyIndex() string {
	same := func(columns []*schema.Column) bool {
		return len(columns) == len(b.spec.Key) && !slices.ContainsFunc(columns, func(c *schema.Column) bool { return !slices.Contains(b.spec.Key, c) })
	}
	if pk := b.spec.Table.PrimaryKey; pk != nil && same(pk.Columns) && b.d.PrimaryIndex != "" {
		return b.d.PrimaryIndex
	}
	for _, ix := range b.spec.Table.Indexes {
		var columns []*schema.Column
		for _, c := range ix.Columns {
			columns = append(columns, c.Column)
		}
		if ix.Unique && !ix.Invisible && ix.Name != "" && same(columns) {
			return b.d.Ident(ix.Name)
		}
	}
	return ""
}

// statement renders a template and files the statement under its name.
func (s *scope) statement(name, template string, v values, rows []*Field, head ...string) *Statement {
	v.Replan = s.replan
	if slices.ContainsFunc(v.Where, s.looksOutside) {
		v.Outside = ""
	}
	if v.Outside != "" {
		v.ReadsRow = dialect.Fill(s.d.ReadsRow.SQL, "column", v.Outside)
	}
	sql, order, err := s.d.Render(template, v)
	if err != nil {
		s.fail(fmt.Errorf("%s: %w", name, err))
	}
	setting := ""
	if s.d.LockLatest.SQL != "" && locksAndReads(sql) {
		setting = s.d.LockLatest.SQL
		head = append(head, "snapshot: "+s.d.LockLatest.Why)
	}
	if v.ReadsRow != "" && strings.Contains(sql, v.ReadsRow) {
		for i, line := range head {
			if strings.HasPrefix(line, "index: ") {
				head[i] += "; " + v.ReadsRow + " " + s.d.ReadsRow.Why
			}
		}
	}
	st := &Statement{Name: name, Var: statementVar(name), Head: s.head(template, v.Can[string(dialect.SkipLocked)], head), Setting: setting, SQL: sql, Rows: rows}
	for _, i := range order {
		st.Args = append(st.Args, s.args[i])
	}
	if s.spec.Procedures && !strings.HasPrefix(template, "verify") {
		s.store(st, template, v)
	}
	return st
}

var (
	selects = regexp.MustCompile(`(?i)\bselect\b`)
	locking = regexp.MustCompile(`\bFOR\s+UPDATE\b`)
	chooses = regexp.MustCompile(`\bLIMIT\b`)
)

// locksAndReads reports whether a statement chooses rows, which others change meanwhile, and
// has a SELECT besides those that lock. A block of statements is none.
func locksAndReads(sql string) bool {
	sql = literals.ReplaceAllString(sql, "''")
	locks := len(locking.FindAllString(sql, -1))
	return (locks > 0 || strings.HasPrefix(sql, "UPDATE") || strings.HasPrefix(sql, "DELETE")) &&
		len(selects.FindAllString(sql, -1)) > locks && chooses.MatchString(sql) && !strings.HasPrefix(sql, "BEGIN")
}

// looksOutside reports whether a condition is sure to read a column of the table that is
// not part of the key.
func (b *builder) looksOutside(condition string) bool {
	condition = literals.ReplaceAllString(condition, "''")
	if source.Mentions(condition, "select") {
		return false // its columns may be those of another table
	}
	return slices.ContainsFunc(b.spec.Table.Columns, func(c *schema.Column) bool {
		return !slices.Contains(b.spec.Key, c) && source.Mentions(condition, c.Name)
	})
}

// head completes the head comment of a statement by what the server does with
// it. A server that lets one statement write at a time locks everything for it;
// what does not skip locked rows waits for them; and where there are
// levels of isolation, statements that look for rows of the queue want one.
func (b *builder) head(template string, skips bool, lines []string) []string {
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	starts := func(word string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, word+": ") })
	}
	if i := starts("locks"); i >= 0 && !strings.HasPrefix(lines[i], "locks: none") {
		switch {
		case b.d.SingleWriter && template == "reserve": // that is what it is for
		case b.d.SingleWriter:
			lines[i] = "locks: the database for writing, while the statement runs"
		case b.writesLockless() && !strings.HasPrefix(template, "companion_"):
			lines[i] = "locks: the table, while the statement runs"
		case b.can(dialect.OrderedUpdate) && writesSome(template):
			lines[i] = strings.Replace(lines[i], "passes over rows that are locked", "of two that meet one is undone and made again", 1)
		case !skips || !b.passes(template):
			lines[i] = strings.Replace(lines[i], "passes over rows", "waits for rows", 1)
		}
	}
	if b.d.Isolation != "" && starts("index") >= 0 && template != "stats" {
		lines = append(lines, "isolation: "+b.d.Isolation)
	}
	return lines
}

// writesSome reports whether the statement of a template chooses the rows that it writes.
func writesSome(template string) bool {
	return strings.HasSuffix(strings.TrimSuffix(template, "_join"), "_some")
}

// passes reports whether the statement of a template can pass over locked rows.
func (b *builder) passes(template string) bool {
	return b.can(dialect.SkipLocked) && (!b.d.LocksInCursors || !strings.HasSuffix(template, "_some"))
}

// claimPasses reports whether a claim passes over rows that others have locked.
func (b *builder) claimPasses() bool {
	if b.spec.Waits {
		return false
	}
	if b.pkg.Strategy == "token" {
		return b.passes("update_some")
	}
	return b.can(dialect.SkipLocked)
}

// statementVar names the Go variable of a statement: claimOneSQL.
func statementVar(name string) string { return unexported(name) + "SQL" }

// sets returns assignments; a column on the right carries the scope's prefix,
// the assigned one never does. Columns that the database would write by itself are
// given what they hold.
func (s *scope) sets(writes []queue.Write) []string {
	var list []assignment
	for _, w := range writes {
		list = append(list, assignment{w.Column, s.assigned(w)})
	}
	return s.assign(list)
}

// assign is sets of assignments that are written already.
func (s *scope) assign(list []assignment) []string {
	if s.d.SetsInOrder {
		list = s.readFirst(list)
	}
	var texts []string
	for _, a := range list {
		texts = append(texts, s.d.Ident(a.column.Name)+" = "+eachListed(a.value, s.settle.extra, s.settle.again))
	}
	for _, c := range s.spec.Kept {
		if len(texts) > 0 && !slices.ContainsFunc(list, func(a assignment) bool { return a.column == c }) {
			texts = append(texts, s.d.Ident(c.Name)+" = "+s.column(c))
		}
	}
	return texts
}

// act sets what a transition does to rows and returns the word for it, with which the
// names of templates begin.
func (s *scope) act(v *values, t *queue.Transition) string {
	if t.Delete {
		return "delete"
	}
	v.Set = s.sets(t.Writes)
	return "update"
}

// assignment is a column and the text of what it is given.
type assignment struct {
	column *schema.Column
	value  string
}

// readFirst orders assignments such that each column is written behind all others
// that read it.
func (s *scope) readFirst(list []assignment) []assignment {
	var ordered []assignment
	for len(list) > 0 {
		i := slices.IndexFunc(list, func(a assignment) bool { return readBy(list, a.column) == nil })
		if s.prefix != "" && !s.inTurn && i > 0 || i < 0 {
			c := list[0].column
			s.complain(c, "Have one statement write only one of the two.",
				"%s may have written column %q already where column %q is given a value of it", s.d.Title, c.Name, readBy(list, c).Name)
			return append(ordered, list...)
		}
		ordered = append(ordered, list[i])
		list = slices.Delete(list, i, i+1)
	}
	return ordered
}

// literals are the texts within an expression.
var literals = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'`)

// readBy returns another column whose value is made of the given one, nil when there
// is none.
func readBy(list []assignment, c *schema.Column) *schema.Column {
	for _, a := range list {
		if a.column != c && source.Mentions(literals.ReplaceAllString(a.value, "''"), c.Name) {
			return a.column
		}
	}
	return nil
}

// assigned returns the right-hand side of an assignment.
func (s *scope) assigned(w queue.Write) string {
	v := w.Value
	switch {
	case s.settle.named && v.Kind == queue.Given:
		return "{" + v.Name + "}"
	case v.IsArg(queue.ArgResult):
		return s.resultOf(w.Column)
	case s.handed && slices.Contains(s.pkg.Fields, s.fields[w.Column]) && s.handsOver(w):
		return s.write(w.Column, s.arg(Arg{Kind: ArgTaken, Field: s.fields[w.Column]}))
	case s.settle.carried[w.Column].field != nil:
		value := s.brought(w.Column)
		if c := s.spec.Cycle; c.Asks(v) && c.Never != nil {
			return "coalesce(" + value + ", " + s.value(w.Column, *c.Never) + ")"
		}
		return value
	case s.settle.delay && v.Kind == queue.Now && v.Shift != nil && v.Shift.Arg == queue.ArgDelay:
		// Without a delay the row stays due; where the claim has moved the time, it is due now.
		at := s.column(w.Column)
		if s.writes(queue.Claim, w.Column) {
			at = s.past(w.Column)
		}
		if at != "" {
			return "CASE WHEN " + s.arg(Arg{Kind: ArgDelay}) + " > 0.0 THEN " + s.value(w.Column, v) + " ELSE " + at + " END"
		}
	}
	return s.value(w.Column, v)
}

// brought is what each job of the batch is given for a column.
func (s *scope) brought(c *schema.Column) string {
	it := s.settle.carried[c]
	if s.travel() == "lists" {
		s.noteLong(c, it.field)
		return it.name // written out with the values in it
	}
	return s.batchValue(it.field, it.name)
}

// noteLong tells where a value has to travel as a whole that elsewhere travels in parts.
func (s *scope) noteLong(c *schema.Column, f *Field) {
	if s.wholeType(f) == "" {
		return
	}
	note := fmt.Sprintf("what goes from Complete to another table travels as a whole: for column %q %s takes %d bytes for sure, and longer ones may make Complete fail", c.Name, s.d.Title, s.d.MostPart)
	if !slices.Contains(s.pkg.Notes, note) {
		s.pkg.Notes = append(s.pkg.Notes, note)
	}
}

// claimOrder is the order in which ready rows are read.
func (b *builder) claimOrder() []queue.OrderTerm {
	if !b.untied {
		return b.spec.Order
	}
	return slices.DeleteFunc(slices.Clone(b.spec.Order), func(o queue.OrderTerm) bool { return o.Tie })
}

// order returns the terms of the order in which ready rows are read.
func (s *scope) order() []string {
	texts := s.orderBy(s.claimOrder())
	if s.nullsFirst {
		texts[0] += " NULLS FIRST"
	}
	return texts
}

// orderBy writes an order.
func (s *scope) orderBy(order []queue.OrderTerm) []string {
	var texts []string
	for _, o := range order {
		text := s.raw(o.SQL)
		switch {
		case o.Random:
			text = s.d.Fragments["random"].At(s.version)
		case o.Column != nil:
			text = s.column(o.Column)
		}
		if s.against(o) && !s.can(dialect.NullsOrder) {
			when := "0 ELSE 1"
			if o.Nulls == "last" {
				when = "1 ELSE 0"
			}
			texts = append(texts, "CASE WHEN "+text+" IS NULL THEN "+when+" END")
		}
		if o.Desc {
			text += " DESC"
		}
		if o.Nulls != "" && s.can(dialect.NullsOrder) {
			text += " NULLS " + strings.ToUpper(o.Nulls)
		}
		texts = append(texts, text)
	}
	return texts
}

// against reports whether a term of the order puts nulls where the server would not
// put them by itself.
func (b *builder) against(o queue.OrderTerm) bool {
	return o.Nulls != "" && (o.Column == nil || !o.Column.NotNull) && (o.Nulls == "first") != (b.d.NullsLow != o.Desc)
}

// passed returns the index of the primary key where the order begins like it
// and the queue's own index does not: the server may then walk the primary key
// through all finished rows. Where the table holds but ready and running rows it stops after
// a few.
func (b *builder) passed() string {
	pk, own := b.spec.Table.PrimaryKey, b.claimIndex().columns
	if pk == nil || len(b.spec.Order) == 0 || len(own) == 0 || b.spec.Order[0].Column != pk.Columns[0] || own[0].column == pk.Columns[0] {
		return ""
	}
	along := true
	for i, o := range b.spec.Order[:min(len(b.spec.Order), len(pk.Columns))] {
		along = along && o.Column == pk.Columns[i] && o.Desc == b.spec.Order[0].Desc
	}
	if along && b.leavesNone() {
		return ""
	}
	return b.d.PrimaryIndex
}

// leavesNone reports whether most rows of the table are ready for any claim: finished ones
// leave it, and nothing else tells rows apart.
func (b *builder) leavesNone() bool {
	return !b.tells(queue.Done) && !b.tells(queue.Failed) && b.pkg.Strategy != "pop" && len(b.spec.Params) == 0 && b.spec.Shard == nil &&
		!slices.ContainsFunc(b.stateTests(queue.Ready), func(t queue.Test) bool { return t.Op == queue.Raw })
}

// pick sets what names a picked row and how it is joined back; it returns the
// template's suffix for the form that the dialect needs.
func (s *scope) pick(v *values) string {
	table := s.spec.Table
	identity := s.d.RowIdentity
	switch {
	case s.d.Composite == "none":
		return ""
	case len(s.spec.Key) > 0 && s.d.Composite == "row" && !s.picksPlace():
		for _, c := range s.spec.Key {
			v.Pick = append(v.Pick, s.d.Ident(c.Name))
		}
	case len(s.spec.Key) == 1 && s.d.Composite == "join" && s.listable(s.spec.Key[0]):
		v.Pick = []string{s.d.Ident(s.spec.Key[0].Name)}
	case len(s.spec.Key) > 0 && s.d.Composite != "row":
		for _, c := range s.spec.Key {
			name := s.d.Ident(c.Name)
			v.Pick = append(v.Pick, name)
			v.Joined = append(v.Joined, s.qualified()+name+" = "+v.Names.Picked+"."+name)
		}
	case (table.Partitioned || table.Inherited) && identity.Partitioned != "":
		// The physical identity alone is not unique here.
		v.Pick = []string{identity.Partitioned + " AS picked_table", identity.Column + " AS picked_row"}
		v.Joined = []string{
			s.qualified() + identity.Partitioned + " = " + v.Names.Picked + ".picked_table",
			s.qualified() + identity.Column + " = " + v.Names.Picked + ".picked_row",
		}
	default:
		v.Pick = []string{s.rowName()}
	}
	var parts []string
	for _, c := range s.spec.Key {
		parts = append(parts, s.d.Cast(s.d.Ident(c.Name), "text"))
	}
	if len(parts) == 0 {
		parts = []string{s.d.Cast(identity.Column, "text")}
	}
	v.KeyText = strings.Join(parts, " || ' ' || ")
	if len(v.Joined) > 0 {
		s.prefix = s.qualified()
		return "_join"
	}
	return ""
}

// picksPlace reports whether rows that a statement finds are written by their place and not by their key:
// the place needs no index, and names one row even where nothing makes the key unique.
func (b *builder) picksPlace() bool {
	pk := b.spec.Table.PrimaryKey
	isPlace := pk != nil && pk.Index() != nil && pk.Index().Method == "rowid" && slices.Equal(pk.Columns, b.spec.Key)
	return !b.spec.Table.NoRowIdentity && !isPlace && b.rowName() != ""
}

// rowName is the name of a row's place: the first that no column of the table has, "" where columns have all.
func (b *builder) rowName() string {
	id := b.d.RowIdentity
	for _, name := range append([]string{id.Column}, id.Also...) {
		if b.spec.Table.Column(name) == nil {
			return name
		}
	}
	return ""
}

// listable reports whether values of a column can stand in a list of picked
// rows.
func (b *builder) listable(c *schema.Column) bool {
	return !c.Type.Array && (c.Type.Domain == "" || b.can(dialect.DomainArrays))
}

// isArray reports whether a field's column holds arrays.
func (b *builder) isArray(f *Field) bool {
	return !f.RowID && b.columnOf(f).Type.Array
}

// batchOf lays out how rows of the given columns travel, as the arguments of
// kind one (an array for each column) or all (one JSON text). keys name the
// rows, those of held must have the values of the batch, extra ones are only
// carried. suffix ends the names of the batch's columns, so that none is
// mistaken for the table's.
func (s *scope) batchOf(one, all ArgKind, keys, held, extra []*Field, suffix string) batch {
	fields := slices.Concat(keys, held, extra)
	b := batch{Names: s.batchNames(fields, suffix)}
	if s.travel() == "forall" {
		s.asForall(&b, one, fields)
	}
	for i, f := range fields[:len(keys)+len(held)] {
		value := s.batchValue(f, b.Names[i])
		own := s.own(f)
		if f.RowID && s.prefix == "" && s.d.RowIdentity.Joined {
			own = s.qualified() + own
		}
		match := own + " = " + value
		b.Own, b.Values = append(b.Own, own), append(b.Values, value)
		if i < len(keys) {
			b.Match = append(b.Match, match)
		} else {
			b.Held = append(b.Held, match)
		}
	}
	if len(keys) > 0 {
		b.Column = s.own(keys[0])
	}
	s.settle.extra = extra
	for i, f := range extra {
		s.settle.carry(s.columnOf(f), f, b.Names[len(keys)+len(held)+i])
	}
	b.Only = len(fields) == 1 && len(keys) == 1 && !s.settle.joined && !s.isArray(fields[0])
	switch s.travel() {
	case "lists":
		s.writeOut(&b, one, keys, held, extra)
	case "json":
		s.asJSON(&b, all, fields)
	case "arrays":
		s.asArrays(&b, one, keys, fields)
	}
	return b
}

// batchNames names the columns of a batch, none like one of the table.
func (s *scope) batchNames(fields []*Field, suffix string) []string {
	names := make([]string, len(fields))
	used := map[string]bool{}
	for i, f := range fields {
		name := f.Column + s.d.Fold(suffix)
		for n := i + 1; name != s.d.Shorten(name) || s.hasColumn(name) || s.besideHas(name) || used[name]; n += len(fields) {
			name = s.d.Fold("c"+strconv.Itoa(n)) + s.d.Fold(suffix)
		}
		used[name] = true
		names[i] = s.d.Ident(name)
	}
	return names
}

// besideHas reports whether the other table of a companion has a column.
func (s *scope) besideHas(name string) bool {
	return s.beside != nil && s.beside.Known != nil && s.beside.Known.Column(name) != nil
}

// hasColumn reports whether a table that statements read has a column.
func (b *builder) hasColumn(name string) bool {
	return b.spec.Table.Column(name) != nil ||
		slices.ContainsFunc(b.spec.PayloadFrom, func(f *queue.PayloadFrom) bool { return f.Table.Column(name) != nil })
}

// own is the column of a field as it is written.
func (s *scope) own(f *Field) string {
	if f.RowID {
		return s.prefix + f.Column
	}
	return s.prefix + s.d.Ident(f.Column)
}

// asForall lays out a batch as arrays of a block, of which a statement reads one
// element at a time.
func (s *scope) asForall(b *batch, one ArgKind, fields []*Field) {
	b.Array, b.Raws = b.Names[0], slices.ContainsFunc(fields, s.holdsBytes)
	parts, of := s.batchNames(fields, "_part"), s.batchNames(fields, "_of")
	for i, f := range fields {
		if w := s.wholeType(f); w != "" {
			array := func(name, sent string, kind ArgKind) {
				b.Columns = append(b.Columns, name+" "+sent+" := "+s.arg(Arg{Kind: kind, Field: f, Max: s.d.MostPart}))
			}
			array(parts[i], s.sentType(f), ArgParts)
			array(of[i], s.d.Classes[string(schema.Int)].Sent, ArgPartOf)
			b.Wholes = append(b.Wholes, inParts{Name: b.Names[i], Type: w, Parts: parts[i], Of: of[i]})
			b.Names[i] += "(" + s.shared.Names.Each + ")"
			continue
		}
		b.Columns = append(b.Columns, b.Names[i]+" "+s.sentType(f)+" := "+s.arg(Arg{Kind: one, Field: f}))
		b.Names[i] += "(" + s.shared.Names.Each + ")"
	}
}

// wholeType is the type to which a value is put together that travels in parts, "" for
// values that travel as they are.
func (s *scope) wholeType(f *Field) string {
	if f.RowID || f.Element {
		return ""
	}
	return s.rule(s.columnOf(f)).Whole
}

// asJSON lays out a batch as one JSON text.
func (s *scope) asJSON(b *batch, all ArgKind, fields []*Field) {
	b.Arg = s.arg(Arg{Kind: all, Batch: fields})
	if b.Only {
		b.Value = s.fromJSON(fields[0], 0)
		if s.d.Composite != "none" {
			return
		}
	}
	for i, f := range fields {
		b.Columns = append(b.Columns, dialect.Fill(s.d.Fragments["json_column"].At(s.version),
			"value", s.fromJSON(f, i), "name", b.Names[i], "i", strconv.Itoa(i), "type", s.sentType(f)))
	}
}

// asArrays lays out a batch as one array for each column.
func (s *scope) asArrays(b *batch, one ArgKind, keys, fields []*Field) {
	for _, f := range fields {
		b.Args = append(b.Args, s.d.Cast(s.arg(Arg{Kind: one, Field: f}), s.arrayType(f)))
	}
	if len(keys) == 0 {
		return
	}
	b.Arg = b.Args[0]
	if s.fieldWrite(keys[0]) != "" {
		b.Arg = s.d.Cast(b.Arg, keys[0].Cast+"[]")
	}
	if (s.settle.joined || s.settle.small && !b.Only) && len(keys) == 1 && !s.isArray(keys[0]) {
		// The list finds the rows; joined alone they may be read by all that hold a token.
		b.Match = append([]string{dialect.Fill(s.d.Fragments["list_in"].At(s.version), "column", b.Column, "arg", b.Arg)}, b.Match...)
	}
}

// writeOut lays out a batch as a list that is written into the text: the
// condition that names its rows or, of new ones, the rows themselves.
func (s *scope) writeOut(b *batch, one ArgKind, keys, held, extra []*Field) {
	all := func(terms []string) string { return strings.Join(terms, " AND ") }
	switch one {
	case ArgHeld:
		indent := ""
		if s.settle.inner {
			indent = strings.Repeat(" ", 11)
		}
		held := "\n" + indent + "AND    NOT (" + all(b.Match) + ")"
		b.List = s.list(Arg{Kind: ArgHeldList, Batch: keys, First: held, More: held, Pad: true})
	case ArgNewBatch:
	default:
		written := 0
		s.settle.again = func(f *Field) string {
			// The text of a list is found by what it begins with, so no two are alike.
			value := strings.Repeat("(", written) + s.write(s.columnOf(f), s.slot()) + strings.Repeat(")", written)
			written++
			when := " WHEN " + all(b.Match) + " THEN " + value
			return "CASE" + s.list(Arg{Kind: ArgList, Batch: append(slices.Clone(keys), f), First: when, More: when}) + " END"
		}
		for _, f := range extra {
			if f.Said == "" {
				s.settle.carry(s.columnOf(f), f, s.settle.again(f))
			}
		}
		if fields := slices.Concat(keys, held); s.can(dialect.RowLists) && !slices.ContainsFunc(fields, s.convertsInRows) {
			own, row := strings.Join(b.Own, ", "), strings.Join(b.Values, ", ")
			more := ", "
			if len(fields) > 1 {
				own, row, more = "("+own+")", "("+row+")", ",\n       "
			}
			// The text of a list is found by what it begins with: in front of a bare name
			// there could be the beginning of another.
			b.List = s.list(Arg{Kind: ArgList, Batch: fields, First: "(" + own + " IN (" + row, More: more + row, Pad: true}) + "))"
			return
		}
		// Elsewhere an IN of a thousand values may become a sub-query, and then a scan that
		// waits for rows that others hold.
		if len(keys) == 1 && len(held) == 0 {
			b.List = s.list(Arg{Kind: ArgList, Batch: keys, First: "(" + b.Match[0], More: " OR " + b.Match[0], Pad: true}) + ")"
			return
		}
		row := "(" + all(slices.Concat(b.Match, b.Held)) + ")"
		b.List = "(" + s.list(Arg{Kind: ArgList, Batch: slices.Concat(keys, held), First: row, More: "\n       OR " + row, Pad: true}) + ")"
	}
}

// convertsInRows reports whether a value of a field may be compared with its column in
// another way where both are parts of rows: whole numbers, texts, bytes and times are not
// (tried: MySQL 9.7).
func (s *scope) convertsInRows(f *Field) bool {
	if f.RowID || f.Element {
		return true
	}
	switch s.columnOf(f).Type.Class {
	case schema.Int, schema.Text, schema.Bytes:
		return s.fieldWrite(f) != ""
	case schema.Timestamp:
		return false
	}
	return true
}

// slot is the placeholder of a value within a list that is written out; where
// placeholders have numbers, these are given when the list is.
func (b *builder) slot() string {
	return dialect.Fill(cmp.Or(b.d.ListPlaceholder, b.d.Placeholder), "n", "0")
}

// travel is how the rows of the scope's call travel.
func (s *scope) travel() string {
	how := s.d.Batches.At(s.version)
	if how == "forall" && s.listed {
		return "lists"
	}
	return how
}

// batches reports whether the rows of one call travel in that way.
func (b *builder) batches(how string) bool { return b.d.Batches.At(b.version) == how }

// batchable reports whether values of the fields can travel together.
func (b *builder) batchable(fields []*Field) bool {
	return !b.batches("json") || b.can(dialect.Unhex) || !slices.ContainsFunc(fields, sentHex)
}

// holdsBytes reports whether a field's column is binary.
func (b *builder) holdsBytes(f *Field) bool {
	return !f.RowID && b.columnOf(f).Type.Class == schema.Bytes
}

// sentHex reports whether the values of a field travel within JSON as hexadecimal text: bytes in
// Go do, in whatever column, for JSON has none.
func sentHex(f *Field) bool { return !f.RowID && f.GoType == "[]byte" }

// fromJSON reads element i of an array in JSON as a value of a field.
func (s *scope) fromJSON(f *Field, i int) string {
	expr := dialect.Fill(s.d.Fragments["json_element"].At(s.version), "i", strconv.Itoa(i))
	if sentHex(f) {
		if !s.can(dialect.Unhex) {
			s.complain(s.columnOf(f), s.sinceMend(dialect.Unhex),
				"column %q holds bytes, and %s %s cannot take several of them at once", f.Column, s.d.Title, s.version)
		}
		return dialect.Fill(s.d.Fragments["unhex"].At(s.version), "value", expr)
	}
	return expr
}

// sentType names the type of a column of a batch that travels as JSON.
func (s *scope) sentType(f *Field) string {
	if f.RowID {
		return cmp.Or(s.d.Classes[string(schema.Text)].Sent, f.Cast)
	}
	if f.Fraction {
		return cmp.Or(s.d.Classes[string(schema.Decimal)].Sent, f.Cast)
	}
	if s.travel() == "json" && sentHex(f) {
		return cmp.Or(s.d.Classes[string(schema.Bytes)].Sent, f.Cast)
	}
	if sent := s.rule(s.columnOf(f)).Sent; sent != "" {
		return sent
	}
	return f.Cast
}

func (s *scope) fieldWrite(f *Field) string {
	if f.RowID || f.Element {
		return ""
	}
	return s.rule(s.columnOf(f)).Write
}

// batchValue returns a column of the batch as a value for the table's column.
func (s *scope) batchValue(f *Field, name string) string {
	if s.travel() == "lists" {
		name = s.slot()
	}
	if f.Element {
		return name
	}
	if f.RowID {
		return dialect.Fill(cmp.Or(s.d.RowIdentity.Write, "{arg}"), "arg", name)
	}
	if form := s.d.Fragments["sent_bytes"].At(s.version); form != "" && s.batches("json") && sentHex(f) {
		most := "sent_bytes_short"
		if f.Most == 0 {
			most = "sent_bytes_long"
		}
		return dialect.Fill(form, "arg", name, "most", s.d.Fragments[most].At(s.version))
	}
	c := s.columnOf(f)
	value := s.write(c, name)
	if form := s.d.Fragments["collated"].At(s.version); form != "" && c.Collation != "" && s.travel() == "json" {
		if value == name {
			value = dialect.Fill(s.d.Fragments["converted"].At(s.version), "type", s.sentType(f), "value", name)
		}
		return dialect.Fill(form, "value", value, "collation", c.Collation)
	}
	return value
}

// arrayType names the type of an array of a field's values.
func (s *scope) arrayType(f *Field) string {
	if s.fieldWrite(f) != "" {
		return "text[]"
	}
	return f.Cast + "[]"
}

// params returns the conditions that the arguments of Claim add.
func (s *scope) params(c *Claim) []string {
	return s.paramsBut(c, func(*schema.Column, queue.ParamKind) bool { return false })
}

// paramsBut is params less what is asked of some columns.
func (s *scope) paramsBut(c *Claim, but func(*schema.Column, queue.ParamKind) bool) []string {
	var texts []string
	for i, p := range s.spec.Params {
		if p.Kind == queue.Argument || but(p.Column, p.Kind) {
			continue // an argument stands in a test of ready rows
		}
		texts = append(texts, s.param(p, c.Params[i]))
	}
	if c.Shard && (s.spec.Shard.Column == nil || !but(s.spec.Shard.Column, queue.Equal)) {
		if c.Shares != nil {
			texts = append(texts, s.share())
			return texts
		}
		expr := s.spec.Shard.SQL
		if s.spec.Shard.Column != nil {
			expr = s.column(s.spec.Shard.Column)
		} else {
			expr = s.raw(expr)
		}
		texts = append(texts, dialect.Fill(s.d.Fragments["mod"].At(s.version), "expr", expr,
			"count", s.arg(Arg{Kind: ArgShardCnt}), "index", s.arg(Arg{Kind: ArgShardIdx})))
	}
	return texts
}

func (s *scope) param(p *queue.Param, gp *Param) string {
	column := s.column(p.Column)
	written := gp.List && (s.batches("lists") || s.batches("forall"))
	arg := ""
	if !written {
		arg = s.arg(Arg{Kind: ArgParam, Param: gp})
	}
	plain := s.write(p.Column, arg)
	typed := s.d.Cast(arg, gp.Field.Cast)
	list := arg
	if !gp.JSON {
		list = s.d.Cast(arg, s.arrayType(gp.Field))
		if s.fieldWrite(gp.Field) != "" {
			list = s.d.Cast(list, gp.Field.Cast+"[]")
		}
	}
	var text string
	switch p.Kind {
	case queue.List:
		if written {
			in, value := column+" IN (", s.write(p.Column, s.slot())
			text = s.list(Arg{Kind: ArgParamList, Param: gp, First: in + value, More: ", " + value, None: in + "NULL", Pad: true}) + ")"
			break
		}
		text = dialect.Fill(s.d.Fragments["list_in"].At(s.version), "column", column, "arg", list, "type", s.sentType(gp.Field), "value", s.batchValue(gp.Field, "value"))
	case queue.Except:
		if written {
			not := " AND " + column + " <> " + s.write(p.Column, s.slot())
			text = column + " IS NOT NULL" + s.list(Arg{Kind: ArgParamList, Param: gp, First: not, More: not, Pad: true})
			break
		}
		text = dialect.Fill(s.d.Fragments["list_not"].At(s.version), "column", column, "arg", list, "type", s.sentType(gp.Field), "value", s.batchValue(gp.Field, "value"))
	case queue.Minimum:
		text = column + " >= " + plain
	case queue.Maximum:
		text = column + " <= " + plain
	case queue.Prefix:
		text = dialect.Fill(s.prefixForm(p.Column), "column", column, "arg", s.d.Cast(arg, "text"))
	default:
		text = column + " = " + plain
	}
	var alternatives []string
	if p.Optional {
		s.replan = true
		if p.Kind == queue.List || p.Kind == queue.Except {
			typed = list
		}
		if written {
			alternatives = append(alternatives, dialect.Fill(cmp.Or(s.d.Truth, "{arg}"), "arg", s.arg(Arg{Kind: ArgParamNil, Param: gp})))
		} else {
			alternatives = append(alternatives, typed+" IS NULL")
		}
	}
	alternatives = append(alternatives, text)
	if len(p.Any) > 0 {
		alternatives = append(alternatives, s.test(queue.Test{Column: p.Column, Op: queue.In, Values: p.Any}))
	}
	if len(alternatives) == 1 {
		return text
	}
	return "(" + strings.Join(alternatives, " OR ") + ")"
}

// leaving returns the tests of the state that a transition leaves; of a claim in a side
// table, that its row is there as well.
func (b *builder) leaving(t *queue.Transition) []queue.Test {
	tests := t.Tests
	if len(tests) == 0 && !b.hasRunning() {
		// Nothing marks a job that runs: it is still as it was claimed, but for what changes by
		// itself or elsewhere.
		tests = slices.DeleteFunc(slices.Clone(b.stateTests(queue.Ready)), func(t queue.Test) bool {
			if t.Column == nil {
				return !slices.ContainsFunc(b.spec.Members, func(m queue.Test) bool { return m.SQL == t.SQL })
			}
			return t.Column == b.spec.Expires
		})
	}
	if b.rows != nil {
		tests = append(slices.Clip(tests), b.stands(true))
	}
	return tests
}

// withoutLocks parts tests into those that take no lock and those that do, as a function of the server does that
// ready_if calls: of SQL each part by itself.
func (b *builder) withoutLocks(tests []queue.Test) (asked, locking []queue.Test) {
	for _, t := range tests {
		if t.Op != queue.Raw || !b.d.Locks(queue.PiecesOf(t.SQL)) {
			asked = append(asked, t)
			continue
		}
		for _, part := range queue.Conjuncts(t.SQL) {
			if t.SQL = part; b.d.Locks(queue.PiecesOf(part)) {
				locking = append(locking, t)
			} else {
				asked = append(asked, t)
			}
		}
	}
	return asked, locking
}

// unasked is what ready rows satisfy that a statement which only looks does not ask, since it would take a
// lock, "" for nothing.
func (b *builder) unasked() string {
	s := b.newScope()
	_, locking := b.withoutLocks(slices.Concat(b.stateTests(queue.Ready), b.spec.Members))
	var texts []string
	for _, text := range s.tests(locking) {
		if inner, ok := strings.CutPrefix(text, "("); ok && unwrapped(text) != text {
			text = strings.TrimSuffix(inner, ")")
		}
		texts = append(texts, s.readable([]string{text}, ""))
	}
	return enumerated(texts)
}

// looks is the comment of an operation that only looks.
func (b *builder) looks() string {
	if not := cmp.Or(b.ready, b).unasked(); not != "" {
		return reads + " So it does not ask " + not + ", which would take a lock, and a claim may refuse what it tells of."
	}
	return reads
}

// withoutArguments leaves out what needs an argument of Claim: of SQL the parts that do.
func withoutArguments(tests []queue.Test) (list []queue.Test) {
	for _, t := range tests {
		if !takesArgument(t) {
			list = append(list, t)
			continue
		}
		for _, part := range queue.Conjuncts(t.SQL) {
			if t.SQL = part; !takesArgument(t) {
				list = append(list, t)
			}
		}
	}
	return list
}

// takesArgument reports whether a test needs an argument of Claim.
func takesArgument(t queue.Test) bool {
	return t.Op == queue.Raw && strings.Contains(t.SQL, "{arg:")
}
