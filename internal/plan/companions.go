package plan

// This file writes the statements that change other tables in the transaction of
// a transition.

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// writer is the statement of a companion.
type writer struct {
	companion *queue.Companion
	statement *Statement
}

// beside is the other table of a statement, and what is done to it.
type beside struct {
	Table   string   // qualified
	Bare    string   // as its columns are qualified
	Columns []string // that are written
	Values  []string // what they get
	Own     []string // the columns that find rows by values of the job's row
	Match   []string // and those values
	Fixed   []string // conditions on rows of the table alone
	Each    []string // what each row must hold beside that of a job, where no index could serve it
	// Counted and Groups are, where jobs that share a row are counted first, what is selected of
	// the jobs of a row of the table, and what these have in common.
	Counted, Groups []string
}

// Sets are the assignments.
func (b beside) Sets() []string { return pairs("", b.Columns, b.Values) }

// OwnSets are the assignments with qualified columns.
func (b beside) OwnSets() []string { return pairs(b.Bare+".", b.Columns, b.Values) }

// Matches are the conditions that tie rows to the row of the job.
func (b beside) Matches() []string { return pairs(b.Bare+".", b.Own, b.Match) }

// Joined are the conditions that find rows.
func (b beside) Joined() []string { return slices.Concat(b.Matches(), b.Fixed) }

func pairs(prefix string, columns, values []string) []string {
	var list []string
	for i, c := range columns {
		list = append(list, prefix+c+" = "+values[i])
	}
	return list
}

// companions writes what a transition does to other tables, for the rows of a batch
// whose columns held are as they came with it. The statements are called file and the
// table's name. Those of behind run behind the one that writes the rows.
func (b *builder) companions(name queue.TransitionName, file, op string, held []*Field) (list, behind []*Statement) {
	used := map[string]int{}
	t := b.spec.Transitions[name]
	with, late := b.divided(t)
	for _, c := range b.inTurn(parted(slices.Concat(with, late))) {
		if c.Key != nil {
			continue // is added once, see buildBatch
		}
		late := slices.ContainsFunc(late, func(l *queue.Companion) bool { return l.Pos == c.Pos })
		freed, why := b.frees(t, c), "which wrote what it reads"
		switch read := b.readFirst(t, c); {
		case c.Reads:
		case freed != nil:
			why = "which may take these out of " + b.uniqueIndex(freed)
		case read && late:
			why = "which read what it changes"
		case read && b.takesWritten(t, c):
			b.noteReadLate(t, c)
		}
		to, when, held := &list, ", before "+file+".sql", held
		if late {
			to, when, held = &behind, ", behind "+file+".sql, "+why, nil // the step may have written what the claim left
		}
		word := map[string]string{"insert": "into", "update": "of", "delete": "from"}[c.Verb]
		called := file + "_" + c.Verb + "_" + snake(exported(c.Table))
		if c.Move {
			called = file + "_move"
		}
		if used[called]++; used[called] > 1 {
			called += fmt.Sprint("_", used[called])
		}
		s, v := b.newScope(), b.base(op)
		s.beside, s.listed = c, true
		s.settle.delay, s.settle.late = name == queue.Release, b.late(name)
		v.Names.Row = b.alias("held")
		if strings.EqualFold(v.Names.Row, c.Table) {
			v.Names.Row = b.alias("held_rows")
		}
		s.prefix = v.Names.Row + "."
		extra := b.carries(c)
		if name == queue.Finish && b.pkg.Strategy != "pop" {
			extra = append(extra, b.givenBeside(c)...)
		}
		v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, held, extra, "_held")
		v.Carries = len(extra) > 0
		template, does := "companion_"+c.Verb, ""
		if v.Beside = s.besideOf(c); c.Counts() {
			template, does = "companion_count", "; jobs that share one are added up"
			s.count(&v, c)
		}
		locks := "locks: the rows it writes, until commit"
		if c.Others {
			v.Beside.Fixed = append(v.Beside.Fixed, s.notAmong(v))
			does += "; of other jobs than these"
			if !b.d.SingleWriter {
				locks += "; waits for who has them locked"
			}
		}
		if c.Known != nil && b.locksWhole(c.Known.Engine) {
			locks = "locks: the table, while the statement runs"
		}
		switch {
		case c.When == "":
		case b.d.Has(template+"_each") && source.Mentions(c.When, c.Table):
			template += "_each"
			v.Beside.Each = append(v.Beside.Matches(), s.raw(c.When))
		default:
			v.Where = []string{s.raw(c.When)}
		}
		found, did := b.lockFile(file)
		found += ".sql " + did
		head := file + ": " + c.Verb + "s rows " + word + " " + plainText(c.QualifiedName()) + " for the rows that " + found
		if !t.KeepsRow() {
			head += when
		}
		switch {
		case name == queue.Claim:
			head = "claim: " + c.Verb + "s rows " + word + " " + plainText(c.QualifiedName()) + " for the rows that were taken"
		case name == queue.Enqueue:
			head = "enqueue: " + c.Verb + "s rows " + word + " " + plainText(c.QualifiedName()) + " for the rows that were added"
		case c.Move:
			head = file + ": the rows that " + found + " go to " + plainText(c.QualifiedName()) + " before " + file + ".sql deletes them"
		}
		if b.meets(t, c) {
			*to = append(*to, b.lockBeside(c, called, file, op, held))
		}
		*to = append(*to, s.statement(called, template, v, nil, head+does, locks, "index: the key"+b.findsText(c)))
		b.writers = append(b.writers, writer{c, (*to)[len(*to)-1]})
		b.noteReads(t, c, late)
		if freed != nil && !late {
			b.noteInWay(t, c, freed)
		}
	}
	return list, behind
}

// divided tells what a step writes to other tables before the rows of its jobs from what it writes
// behind them: what reads the queue's table is to find there what the step leaves, a row that is added there may
// have what that of the job has no more in a unique index, and what is written to the same tables stays behind
// that. A row that is deleted, or has another key then, gives no values any more.
func (b *builder) divided(t *queue.Transition) (with, behind []*queue.Companion) {
	if t.Delete || t.KeepsRow() || b.movesKey(t.Name) || !settles(t.Name) && !sweeps(t.Name) {
		return t.With, nil
	}
	asks := map[*queue.Companion]bool{}
	for _, c := range t.With {
		asks[c] = c.Reads
	}
	with, behind = follow(t.With, asks)
	for _, c := range with {
		if b.frees(t, c) == nil && !b.readFirst(t, c) || b.takesWritten(t, c) {
			continue
		}
		asks[c] = true
		first, second := follow(t.With, asks)
		moved := func(l *queue.Companion) bool { return !slices.Contains(behind, l) && b.takesWritten(t, l) }
		if asks[c] = !slices.ContainsFunc(second, moved); asks[c] {
			with, behind = first, second
		}
	}
	return with, behind
}

// follow divides entries into those before the step and those behind it, with what is written to the same tables.
func follow(list []*queue.Companion, asks map[*queue.Companion]bool) (with, behind []*queue.Companion) {
	for _, c := range list {
		follows := func(l *queue.Companion) bool { return strings.EqualFold(l.Table, c.Table) || c.Mentions(l.Table) }
		if asks[c] || slices.ContainsFunc(behind, follows) {
			behind = append(behind, c)
		} else {
			with = append(with, c)
		}
	}
	return with, behind
}

// frees returns a unique index, other than the primary key, in which the row that an entry adds to the queue's
// table may be what that of the job is until the step has taken it out of there; nil where there is none.
func (b *builder) frees(t *queue.Transition, c *queue.Companion) *schema.Index {
	table := b.spec.Table
	if c.Verb != "insert" || c.Known != table || c.Key != nil || t.KeepsRow() || !settles(t.Name) && !sweeps(t.Name) {
		return nil
	}
	writes := func(ix *schema.Index) bool {
		return t.Delete || slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
			return source.Mentions(literals.ReplaceAllString(ix.Where, "''"), w.Column.Name) ||
				slices.ContainsFunc(ix.Columns, func(k schema.IndexColumn) bool { return k.Column == w.Column || source.Mentions(k.Expr, w.Column.Name) })
		})
	}
	sets := func(k schema.IndexColumn) bool {
		return slices.ContainsFunc(c.Set, func(v queue.CompanionValue) bool {
			return (v.Value.Other != nil || v.Value.Kind == queue.SQLExpr) && (k.Column != nil && k.Column == v.Column.Column || source.Mentions(k.Expr, v.Column.Name))
		})
	}
	for _, ix := range table.Indexes {
		if ix.Unique && !b.byKey(ix) && slices.ContainsFunc(ix.Columns, sets) && writes(ix) {
			return ix
		}
	}
	return nil
}

// readFirst reports whether what a step writes to its row is made of a table that an entry changes: it is to see
// that as it was.
func (b *builder) readFirst(t *queue.Transition, c *queue.Companion) bool {
	return c.Verb != "insert" && !c.Others && slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
		text := ""
		switch v := w.Value; {
		case v.Kind == queue.SQLExpr:
			text = v.Text
		case v.Shift != nil && v.Shift.Wait != nil:
			text = v.Shift.Wait.SQL
		}
		text = literals.ReplaceAllString(text, "''")
		return source.Mentions(text, "select") && source.Mentions(text, c.Table)
	})
}

// noteReadLate warns of an entry that changes what the step reads behind it.
func (b *builder) noteReadLate(t *queue.Transition, c *queue.Companion) {
	text := fmt.Sprintf("warning: also: %s changes %s before the step reads it, because an entry takes from the row of the job what the step changes: what the step writes is made of what the entry left there", b.entriesOf(t), plainText(c.QualifiedName()))
	if !slices.Contains(b.pkg.Notes, text) {
		b.pkg.Notes = append(b.pkg.Notes, text)
	}
}

// takesWritten reports whether an entry takes from the row of the job what the step changes there.
func (b *builder) takesWritten(t *queue.Transition, c *queue.Companion) bool {
	changes := func(column *schema.Column) bool {
		return column != nil && (column.Generated || slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return w.Column == column }))
	}
	reads := func(text string) bool {
		return slices.ContainsFunc(b.spec.Table.Columns, func(column *schema.Column) bool { return changes(column) && b.spec.Reads(text, column) })
	}
	return reads(c.When) || slices.ContainsFunc(slices.Concat(c.Set, c.Where), func(v queue.CompanionValue) bool {
		return changes(v.Value.Other) || v.Value.Kind == queue.SQLExpr && reads(v.Value.Text)
	})
}

// entriesOf is the word under also: for what a step writes elsewhere.
func (b *builder) entriesOf(t *queue.Transition) string {
	if o := b.spec.Outcome(t.Name); o != nil {
		return o.Name
	}
	return string(t.Name)
}

// noteInWay warns of a row that is added while that of the job is in its way still, in a unique index.
func (b *builder) noteInWay(t *queue.Transition, c *queue.Companion, ix *schema.Index) {
	why := "is added before the step takes the row of the job out of it, because an entry takes from that row what the step changes: leave such values out"
	if t.Delete || b.movesKey(t.Name) {
		why = "is added while the row of the job, which the step takes away, is there still"
	}
	text := fmt.Sprintf("warning: also: %s adds a row to %s that may have the values of the job's in %s, and the step then fails each time: it %s", b.entriesOf(t), plainText(c.QualifiedName()), b.uniqueIndex(ix), why)
	if !slices.Contains(b.pkg.Notes, text) {
		b.pkg.Notes = append(b.pkg.Notes, text)
	}
}

// sweeps reports whether a step writes rows that nobody works on.
func sweeps(name queue.TransitionName) bool {
	return slices.Contains([]queue.TransitionName{queue.Recover, queue.GiveUp, queue.Redrive}, name)
}

// meets reports whether rows that are not those of the jobs have to be locked before a statement writes them: it reads
// the queue's table, and where it waits for another call it would else not see what that has written, but
// the table as it was when the statement began. What has written the rows before holds them already.
func (b *builder) meets(t *queue.Transition, c *queue.Companion) bool {
	if !c.Reads || c.Verb == "insert" || b.d.SingleWriter || c.Known != nil && b.locksWhole(c.Known.Engine) ||
		c.Verb == "delete" && !b.d.Has("companion_lock") {
		return false
	}
	return !b.heldBefore(t, c)
}

// heldBefore reports whether an entry before one has written the same rows.
func (b *builder) heldBefore(t *queue.Transition, c *queue.Companion) bool {
	for _, other := range t.With {
		if other.Pos == c.Pos {
			return false
		}
		same := func(x, y queue.CompanionValue) bool {
			return x.Column.Name == y.Column.Name && x.Value.Kind == y.Value.Kind && x.Value.Text == y.Value.Text && x.Value.Other == y.Value.Other && len(x.Or)+len(y.Or) == 0
		}
		if other.Verb == "update" && other.When == "" && other.QualifiedName() == c.QualifiedName() && slices.EqualFunc(other.Where, c.Where, same) {
			return true
		}
	}
	return false
}

// lockBeside locks the rows of another table, or of other jobs, that a statement then writes. Of other jobs
// it passes over those that are surely not meant: among the rows that these jobs have in common are those
// that other calls have locked, each of which would wait for the other.
func (b *builder) lockBeside(c *queue.Companion, called, file, op string, held []*Field) *Statement {
	s, v := b.newScope(), b.base(op)
	s.beside, s.listed = c, true
	v.Names.Row = b.alias("held")
	if strings.EqualFold(v.Names.Row, c.Table) {
		v.Names.Row = b.alias("held_rows")
	}
	s.prefix = v.Names.Row + "."
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, held, nil, "_held")
	template := "companion_lock"
	v.Beside = s.besideOf(&queue.Companion{Schema: c.Schema, Table: c.Table, Known: c.Known, Where: c.Where})
	rows := "the rows of " + plainText(c.QualifiedName())
	if c.Others {
		rows = "the rows of other jobs"
		v.Beside.Fixed = append(v.Beside.Fixed, s.notAmong(v))
		for _, part := range queue.Conjuncts(c.When) {
			if part != "" && b.looksNowhere(part) {
				v.Where = append(v.Where, s.raw(part))
			}
		}
	}
	if !b.d.Has(template) {
		template = "companion_update" // to what they hold
		column := s.d.Ident(c.Set[0].Column.Name)
		v.Beside.Columns, v.Beside.Values = []string{column}, []string{v.Beside.Bare + "." + column}
	}
	return s.statement(called+"_lock", template, v, nil,
		file+": locks "+rows+" that "+called+".sql writes, so that it reads what others have written who had them locked",
		"locks: "+rows+", until commit", "index: the key"+b.findsText(c))
}

// noteReads tells what an entry finds that reads the queue's table.
func (b *builder) noteReads(t *queue.Transition, c *queue.Companion, behind bool) {
	if !c.Reads {
		return
	}
	own, other := plainText(b.spec.Table.Name), plainText(c.QualifiedName())
	var text string
	step := b.entriesOf(t)
	switch {
	case behind:
		text = fmt.Sprintf("also: %s writes %s behind the rows of %s, which its SQL reads; {row} is there as the step leaves it", step, other, own)
	case t.Delete || b.movesKey(t.Name):
		text = fmt.Sprintf("warning: also: %s reads %s while the rows are there still that the step takes away: leave out the row of the job itself, and call it with one job at a time, since of several each finds the others", step, own)
	default:
		text = fmt.Sprintf("also: %s reads %s as the step leaves it", step, own)
	}
	switch {
	case b.d.SingleWriter:
	case c.Verb == "insert" && !slices.ContainsFunc(t.With, func(o *queue.Companion) bool { return o.Verb == "update" && o.Pos != c.Pos }):
		text += "; two calls at once do not see what the other is writing: an update before it, of a row of a table that their jobs share, has them follow one another"
	case c.Verb == "delete" && !b.meets(t, c) && !b.heldBefore(t, c):
		text += "; two calls at once do not see what the other is writing: an update of the same rows before it has them follow one another"
	}
	if !slices.Contains(b.pkg.Notes, text) {
		b.pkg.Notes = append(b.pkg.Notes, text)
	}
}

// parted divides updates that add something for each job and write values of one job as well:
// the values come from any of the jobs that share a row, what is added from all of them.
func parted(with []*queue.Companion) []*queue.Companion {
	var list []*queue.Companion
	for _, c := range with {
		ofJob := func(v queue.CompanionValue) bool { return v.OfJob }
		if !c.Counts() || !slices.ContainsFunc(c.Set, ofJob) {
			list = append(list, c)
			continue
		}
		adds, takes := *c, *c
		adds.Set = slices.DeleteFunc(slices.Clone(c.Set), ofJob)
		takes.Set = slices.DeleteFunc(slices.Clone(c.Set), func(v queue.CompanionValue) bool { return !v.OfJob })
		read := func(set queue.CompanionValue) bool { return readBeside(takes.Set, set) }
		first, second := &adds, &takes
		if slices.ContainsFunc(adds.Set, c.FindsBy) || slices.ContainsFunc(adds.Set, read) { // the other would find the rows, or what they held, no more
			first, second = second, first
		}
		list = append(list, first, second)
	}
	return list
}

// inTurn divides updates in which a value is made of a column that is written as well, where the
// server promises no order of assignments, nor that each sees what the row held: a column is
// written by a statement behind those whose values are made of it, one that finds the row last.
func (b *builder) inTurn(with []*queue.Companion) []*queue.Companion {
	var list []*queue.Companion
	for _, c := range with {
		if !b.d.SetsInOrder || c.Verb != "update" {
			list = append(list, c)
			continue
		}
		for left := c.Set; len(left) > 0; {
			part := *c
			part.Set = slices.DeleteFunc(slices.Clone(left), func(v queue.CompanionValue) bool { return readBeside(left, v) })
			if len(part.Set) < len(left) {
				part.Set = slices.DeleteFunc(part.Set, c.FindsBy)
			}
			if len(part.Set) == 0 {
				b.complainBeside(c, fmt.Sprintf("%s may have written column %q of %s already where another is given a value of it, and the other way round", b.d.Title, left[0].Column.Name, c.QualifiedName()),
					"Have one entry write only one of the two, and say in which order by that of the entries.")
				return with
			}
			list = append(list, &part)
			left = slices.DeleteFunc(slices.Clone(left), func(v queue.CompanionValue) bool {
				return slices.ContainsFunc(part.Set, func(done queue.CompanionValue) bool { return done.Column.Name == v.Column.Name })
			})
		}
	}
	return list
}

// ofRow are the columns of the job's row within an expression.
var ofRow = regexp.MustCompile("\\{row\\}\\.(\"[^\"]*\"|`[^`]*`|\\[[^\\]]*\\]|[\\pL\\pN_$#]+)")

// readBeside reports whether the value of another column of the other table is made of this one.
func readBeside(list []queue.CompanionValue, of queue.CompanionValue) bool {
	return slices.ContainsFunc(list, func(v queue.CompanionValue) bool {
		text := ofRow.ReplaceAllString(literals.ReplaceAllString(v.Value.Text, "''"), "")
		return v.Value.Kind == queue.SQLExpr && v.Column.Name != of.Column.Name && source.Mentions(text, of.Column.Name)
	})
}

// count has an update join the jobs as groups that share a row of the other table, each with what
// all of its jobs add.
func (s *scope) count(v *values, c *queue.Companion) {
	shared := s.alias("shared")
	if strings.EqualFold(shared, c.Table) {
		shared += "_rows"
	}
	v.Names.Shared = shared
	used := map[string]bool{}
	named := func(word string) string {
		name := s.d.Fold(word)
		for s.hasColumn(name) || s.besideHas(name) || used[name] {
			name += "_"
		}
		used[name] = true
		return s.d.Ident(name)
	}
	o := &v.Beside
	own, match := o.Own, o.Match
	o.Own, o.Match = nil, nil
	for i, w := range slices.DeleteFunc(slices.Clone(c.Where), fixed) {
		if !w.OfJob {
			o.Fixed = append(o.Fixed, o.Bare+"."+own[i]+" = "+match[i])
			continue
		}
		name := named("of_" + w.Column.Name)
		o.Own, o.Match = append(o.Own, own[i]), append(o.Match, shared+"."+name)
		o.Groups = append(o.Groups, match[i])
		o.Counted = append(o.Counted, match[i]+" AS "+name)
	}
	jobs := ""
	for i, w := range c.Set {
		a := w.Adds
		if a == nil {
			continue
		}
		sign, times := " + ", ""
		if a.Minus {
			sign = " - "
		}
		name := jobs
		switch {
		case !a.IsNumber():
			name = named("sum_" + w.Column.Name)
			o.Counted = append(o.Counted, "sum"+s.raw(a.Each)+" AS "+name)
		case jobs == "":
			jobs = named("jobs")
			o.Counted = append(o.Counted, "count(*) AS "+jobs)
			name = jobs
		}
		if a.IsNumber() && a.Each != "1" {
			times = a.Each + " * "
		}
		o.Values[i] = "(" + a.To + sign + times + shared + "." + name + ")"
	}
}

// carries is what comes with each job of a batch for what takes its result.
func (b *builder) carries(by interface{ Takes(arg string) bool }) []*Field {
	if by.Takes(queue.ArgResult) {
		return []*Field{b.resultField()}
	}
	return nil
}

// givenBeside is what the caller says for a companion.
func (b *builder) givenBeside(c *queue.Companion) (fields []*Field) {
	for _, given := range c.Givens() {
		fields = append(fields, b.argumentBeside(c, given).Field)
	}
	for _, p := range b.spec.AskedBeside(c) {
		if f := b.askedAs(p).Field; !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields
}

// othersIndexes are the indexes by which steps find rows of other jobs.
func (b *builder) othersIndexes() (list []wanted) {
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		for _, c := range t.With {
			w := b.othersIndex(c)
			same := func(other wanted) bool {
				return slices.EqualFunc(w.columns, other.columns, func(a, b indexKey) bool { return a.column == b.column })
			}
			if len(w.columns) == 0 || slices.ContainsFunc(list, same) {
				continue
			}
			if len(list) > 0 {
				w.name = b.indexName(w.kind + strconv.Itoa(len(list)+1))
			}
			list = append(list, w)
		}
	}
	return list
}

// othersIndex is the index of the columns that tie rows of other jobs to the job; it has none where
// the companion is of another table.
func (b *builder) othersIndex(c *queue.Companion) wanted {
	w := wanted{kind: "others", name: b.indexName("others"), plain: true,
		why: "finds the rows of other jobs that a step writes", lacking: "each step that writes rows of other jobs reads the table"}
	if !b.d.SingleWriter {
		w.lacking += ", and may wait for whatever others have locked"
	}
	for _, v := range c.Where {
		if c.Others && !fixed(v) && !b.unfound(v.Column.Column) {
			w.columns = append(w.columns, indexKey{column: v.Column.Column})
		}
	}
	w.fixed = len(w.columns)
	w, _ = b.fit(w)
	return w
}

// findsText says in a head comment which columns of another table should be indexed.
func (b *builder) findsText(c *queue.Companion) string {
	var names []string
	for _, w := range c.Where {
		names = append(names, plainText(w.Column.Name))
	}
	if len(names) == 0 {
		return ""
	}
	if w := b.othersIndex(c); len(w.columns) > 0 {
		return "; of the other rows " + strings.TrimPrefix(b.usesHead(w), "index: ")
	}
	return "; of " + plainText(c.QualifiedName()) + " one that begins with " + strings.Join(names, ", ")
}

// besideOf fills what a companion does to its table.
func (s *scope) besideOf(c *queue.Companion) beside {
	t := beside{Table: s.d.Qualified(c.Schema, c.Table), Bare: s.d.Ident(c.Table)}
	for _, v := range c.Set {
		t.Columns = append(t.Columns, s.d.Ident(v.Column.Name))
		t.Values = append(t.Values, s.besideValue(c, v))
	}
	for _, v := range c.Where {
		column := s.d.Ident(v.Column.Name)
		switch {
		case v.Value.Kind == queue.Null:
			t.Fixed = append(t.Fixed, t.Bare+"."+column+" IS NULL")
		case len(v.Or) > 0:
			list := []string{s.besideValue(c, v)}
			for _, or := range v.Or {
				list = append(list, s.besideValue(c, queue.CompanionValue{Column: v.Column, Value: or}))
			}
			t.Fixed = append(t.Fixed, t.Bare+"."+column+" IN ("+strings.Join(list, ", ")+")")
		case fixed(v):
			t.Fixed = append(t.Fixed, t.Bare+"."+column+" = "+s.besideValue(c, v))
		default:
			t.Own = append(t.Own, column)
			t.Match = append(t.Match, s.besideValue(c, v))
		}
	}
	return t
}

// notAmong is the condition on a row of the queue's table that it is none of the batch.
func (s *scope) notAmong(v values) string {
	prefix, own := s.prefix, s.settle
	defer func() { s.prefix, s.settle = prefix, own }()
	s.prefix = v.Beside.Bare + "."
	if s.travel() == "lists" {
		return "NOT " + s.batchOf(ArgBatch, ArgBatchAll, s.pkg.Key, nil, nil, "_held").List
	}
	if form := s.d.Fragments["row_not"].At(s.version); v.Batch.Only && form != "" {
		return dialect.Fill(form, "column", s.own(s.pkg.Key[0]), "arg", v.Batch.Arg, "value", v.Batch.Value)
	}
	var match []string
	for i, f := range s.pkg.Key {
		match = append(match, s.own(f)+" = "+v.Batch.Values[i])
	}
	return dialect.Fill(s.d.Fragments["rows_not"].At(s.version), "args", strings.Join(v.Batch.Args, ", "), "arg", v.Batch.Arg,
		"columns", strings.Join(v.Batch.Columns, ", "), "names", strings.Join(v.Batch.Names, ", "), "batch", v.Names.Batch, "where", strings.Join(match, " AND "))
}

// fixed reports whether a condition on another table is the same whatever the job.
func fixed(v queue.CompanionValue) bool {
	return v.Value.Kind == queue.Null || v.Value.Kind == queue.Literal
}

// besideValue is the value of a column of another table.
func (s *scope) besideValue(c *queue.Companion, v queue.CompanionValue) string {
	return eachListed(s.besideText(c, v), s.settle.extra, s.settle.again)
}

// besideText is besideValue before what each job is given is written out in it.
func (s *scope) besideText(c *queue.Companion, v queue.CompanionValue) string {
	column := v.Of
	if column == nil {
		column = v.Column.Column
		if s.roles[column] == nil {
			s.roles[column] = v.Column // how it keeps time
		}
	}
	if v.Value.Kind == queue.WorkerID && s.fields[column] == nil {
		s.fields[column] = cmp.Or(s.fields[s.spec.Worker], s.field(v.Column)) // says of what type the worker is
	}
	switch {
	case v.Value.Kind == queue.Given && s.settle.named:
		return "{" + v.Value.Name + "}"
	case v.Value.Kind == queue.Given && s.settle.carried[column].field != nil:
		return s.brought(column)
	case v.Value.Kind == queue.Now && c.Known == nil && v.Of == nil:
		return s.rawFor(column, "{now}")
	case s.settle.delay && v.Value.Kind == queue.Now && v.Value.Shift != nil && v.Value.Shift.Arg == queue.ArgDelay:
		due := s.writtenNow(column)
		if was := v.Value.Other; was != nil {
			due = s.column(was)
		}
		return "CASE WHEN " + s.arg(Arg{Kind: ArgDelay}) + " > 0.0 THEN " + s.value(column, v.Value) + " ELSE " + due + " END"
	case v.Value.Kind == queue.Token, v.Value.Kind == queue.WorkerID, v.Value.Kind == queue.Given:
		return s.d.Cast(s.value(column, v.Value), s.castType(column.Type))
	case v.Value.IsArg(queue.ArgResult):
		return s.resultOf(v.Of)
	case v.Value.IsArg(queue.ArgError) && v.Of == nil:
		return s.cause(s.longest(column))
	}
	return s.value(column, v.Value)
}

// checkCompanions complains about companions of steps that have no statement.
func (b *builder) checkCompanions(errs *source.ErrorList) {
	p := b.pkg
	pop := p.Strategy == "pop"
	said := false
	for _, name := range queue.TransitionNames {
		if !b.hasCompanions(name) {
			continue
		}
		said = true
		why := "has no statement for " + string(name)
		switch {
		case name == queue.Enqueue, // see accompanyEnqueue
			pop && name == queue.Finish: // which is the claim
			continue
		case b.carriesOut(name) && (name != queue.Claim || !pop && p.Strategy != "partition"):
			continue
		case name == queue.Purge && b.purgeLeaves(errs):
			continue
		case pop && name == queue.Claim:
			errs.Errorf(b.spec.Transitions[name].With[0].Pos, "with strategy=pop a claim is the end of a job").
				WithHint("Say done in its place: what Claim writes to other tables is said of that step.")
			continue
		case pop:
			why = "ends a job when it is claimed, and nothing comes after"
		case p.Strategy == "partition" && name == queue.Claim:
			why = "reads when it claims, and may give a job out twice"
		}
		errs.Errorf(b.spec.Transitions[name].With[0].Pos, "this queue %s (strategy %s), so nothing can be written with it", why, p.Strategy).
			WithHint("Leave it out, or write the other rows in the handler's transaction, with WithTx.")
	}
	if said && p.Conformance {
		errs.Errorf(b.conformancePos, "conformance: true is not possible where other tables are written").
			WithHint("The test makes a copy of the queue's table alone. Leave conformance out.")
	}
}

// purgeLeaves complains of what Purge would write to other tables where it is not there, because
// other queues over the table may have all the rows that it would delete.
func (b *builder) purgeLeaves(errs *source.ErrorList) bool {
	for _, name := range []queue.StateName{queue.Done, queue.Failed, queue.Ready} {
		removes := b.tells(name)
		if name == queue.Ready {
			removes = b.spec.Expires != nil // of which the time is over
		}
		if other, there := b.spec.Awaits(name); other != nil && removes {
			errs.Errorf(b.spec.Transitions[queue.Purge].With[0].Pos, "this queue has no Purge: rows that are %s here may be %s in the queue %s over the same table", name, there, other.Name).
				WithHint("Say purge at the queue that is the last to be done with rows, or tell the rows of the two apart by where.")
			return true
		}
	}
	return false
}

// accompanyEnqueue plans what Enqueue writes to other tables, for the rows that it has
// added: their keys have to be known.
func (b *builder) accompanyEnqueue(errs *source.ErrorList) {
	if !b.hasCompanions(queue.Enqueue) {
		return
	}
	pos := b.spec.Transitions[queue.Enqueue].With[0].Pos
	const within = "or write the other rows in the transaction that adds the job, with WithTx"
	e := b.pkg.Enqueue
	switch {
	case e == nil:
		errs.Errorf(pos, "there is no Enqueue that could write other tables: %s", b.noEnqueue).WithHint("Leave enqueue out of also.")
		return
	case len(e.One.Rows) > 0 || e.AutoKey:
	case len(b.spec.Key) == 0:
		errs.Errorf(pos, "rows of %q have no key by which other tables could be written for a new one", b.spec.Table.QualifiedName()).
			WithHint("Mark unique columns with qgen:id, %s.", within)
		return
	case !e.KeyGiven:
		i := slices.IndexFunc(b.spec.Key, func(c *schema.Column) bool { return !b.fields[c].New || b.fields[c].Optional })
		errs.Errorf(pos, "the database fills in column %q of a new row, a part of the key, and %s does not tell what with", b.spec.Key[i].Name, b.pkg.Engine).
			WithHint("Let the caller give it: leave out its default. Or let the key be one number that the database counts up; %s.", within)
		return
	default:
		e.Find = b.readByKey("enqueue_find", "Enqueue", b.pkg.Key, "enqueue: finds the new rows by the keys that they were given, which a column may round or fill up")
	}
	e.With, _ = b.companions(queue.Enqueue, "enqueue", "Enqueue", nil)
}

// movesTo is where a transition moves the row, nil when it moves none.
func movesTo(t *queue.Transition) *queue.Companion {
	if t == nil || len(t.With) == 0 || !t.With[0].Move {
		return nil
	}
	return t.With[0]
}

// hasCompanions reports whether a transition writes other tables.
func (b *builder) hasCompanions(name queue.TransitionName) bool {
	t := b.spec.Transitions[name]
	return t != nil && len(t.With) > 0
}

// writesOthers reports whether a transition writes rows of other jobs.
func (b *builder) writesOthers(name queue.TransitionName) bool {
	t := b.spec.Transitions[name]
	return t != nil && slices.ContainsFunc(t.With, func(c *queue.Companion) bool { return c.Others })
}

// reserve plans what a transaction runs first that reads rows before it writes.
func (b *builder) reserve() {
	if !b.d.SingleWriter || b.pkg.Reserve != nil {
		return
	}
	b.pkg.Reserve = b.newScope().statement("reserve", "reserve", b.base("Reserve"), nil,
		"reserve: takes the lock for writing at the beginning of a transaction that reads first", "locks: the database for writing, until commit", "index: none; it reads nothing")
}

// also says in the comment of an operation which other tables it writes.
func (b *builder) also(name queue.TransitionName) string { return b.alsoBy(name, "it") }

// alsoBy is also with the word for the operation.
func (b *builder) alsoBy(name queue.TransitionName, it string) string {
	switch text := b.alsoDoes(name); {
	case text == "":
		return ""
	case b.atOnce(name):
		return " In the same transaction " + it + " " + text + "."
	default:
		return " I" + it[1:] + " also " + text + "."
	}
}

// atOnce reports whether a transition and what it writes to other tables happen as a whole or not at all: no
// table is of an engine without transactions.
func (b *builder) atOnce(name queue.TransitionName) bool {
	t := b.stepOf(name)
	return !b.writesLockless() && (t == nil || !slices.ContainsFunc(t.With, func(c *queue.Companion) bool {
		return c.Known != nil && b.locksWhole(c.Known.Engine)
	}))
}

// alsoDoes says what a transition does to other tables, "" when it does nothing.
func (b *builder) alsoDoes(name queue.TransitionName) string {
	t := b.spec.Transitions[name]
	if t == nil {
		return ""
	}
	var parts []string
	for _, c := range t.With {
		table := plainText(c.QualifiedName())
		text := map[string]string{"insert": "adds rows to ", "update": "updates rows of ", "delete": "deletes rows of "}[c.Verb] + table
		switch {
		case c.Others:
			text = c.Verb + "s rows of other jobs"
			if !b.d.SingleWriter {
				text += ", and waits for who has these locked"
			}
		case c.Move:
			text = "moves the row to " + table
		case c.Key != nil:
			text = "adds one row to " + table + " (its " + plainText(c.Key.Name) + " is the token of all the jobs)"
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return enumerated(parts)
}

// writtenTable is another table that steps write, as far as the DDL tells of it, and the
// columns of it that they name.
type writtenTable struct {
	table   *schema.Table
	columns []*schema.Column
}

// written returns the tables that steps write besides those in which jobs are.
func (b *builder) written() []writtenTable {
	specs, own := []*queue.Spec{b.spec}, []*schema.Table{b.spec.Table}
	for _, other := range []*builder{b.ready, b.side} {
		if other != nil {
			specs, own = append(specs, other.spec), append(own, other.spec.Table)
		}
	}
	var list []writtenTable
	for _, spec := range specs {
		for _, name := range spec.Steps() {
			t := spec.Transitions[name]
			if t == nil {
				continue
			}
			for _, c := range t.With {
				if c.Known == nil || slices.Contains(own, c.Known) {
					continue
				}
				i := slices.IndexFunc(list, func(w writtenTable) bool { return w.table == c.Known })
				if i < 0 {
					i, list = len(list), append(list, writtenTable{table: c.Known})
				}
				columns := []*schema.Column{c.Key}
				for _, v := range slices.Concat(c.Set, c.Where) {
					columns = append(columns, v.Column.Column)
				}
				for _, column := range columns {
					if column != nil && !slices.Contains(list[i].columns, column) {
						list[i].columns = append(list[i].columns, column)
					}
				}
			}
		}
	}
	return list
}

// operations are the methods that carry out transitions.
var operations = map[queue.TransitionName]string{
	queue.Enqueue: "Enqueue",
	queue.Claim:   "Claim", queue.Start: "Start", queue.Finish: "Complete", queue.Retry: "Fail", queue.Fail: "Fail", queue.Release: "Requeue",
	queue.Renew: "Extend", queue.Recover: "Recover", queue.GiveUp: "Recover", queue.Redrive: "Redrive",
}

// besideTables says in the package comment which operations write which other tables,
// "" when none does.
func (b *builder) besideTables() string {
	var tables []string
	by := map[string][]string{}
	claimed := false
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if b.ready != nil && name == queue.Enqueue {
			t = b.ready.spec.Transitions[name]
		}
		if t == nil {
			continue
		}
		for _, c := range t.With {
			if b.ready != nil && c.Move && c.Known == b.ready.spec.Table {
				continue // the queue's own
			}
			pops := b.pkg.Strategy == "pop" && name == queue.Finish
			claimed = claimed || name != queue.Enqueue && name != queue.Purge && !pops
			table := plainText(c.QualifiedName())
			if c.Others {
				table = "rows of other jobs"
			}
			if by[table] == nil {
				tables = append(tables, table)
			}
			ops := []string{operations[name]}
			if o := b.spec.Outcome(name); o != nil {
				ops[0] = exported(o.Name)
			}
			if name == queue.Purge {
				ops = b.purges()
			} else if pops {
				ops = []string{operations[queue.Claim]}
			}
			for _, op := range ops {
				if !slices.Contains(by[table], op) {
					by[table] = append(by[table], op)
				}
			}
		}
	}
	if len(tables) == 0 {
		return ""
	}
	var parts []string
	for _, table := range tables {
		parts = append(parts, table+" ("+strings.Join(by[table], ", ")+")")
	}
	text := "Besides the queue's own rows it writes " + strings.Join(parts, "; ") + ", each in the transaction of the operation."
	if slices.ContainsFunc(b.spec.Steps(), func(name queue.TransitionName) bool { return !b.atOnce(name) }) {
		text = "Besides the queue's own rows it writes " + strings.Join(parts, "; ") + ". An engine without transactions keeps what is written there or in the queue's own rows, also where the operation fails behind it."
	}
	if claimed && !b.writesLockless() {
		text += " A job whose claim was lost writes nothing there."
	}
	if purges := b.purges(); len(purges) > 0 && !b.hasCompanions(queue.Purge) {
		text += " " + several(purges, "removes", "remove") + " nothing from other tables."
	}
	return text
}

// explainCompanions tells for explain what a transition does to other tables.
func (b *builder) explainCompanions(t *queue.Transition) string {
	var texts []string
	for _, c := range t.With {
		s := b.newScope()
		s.beside, s.settle.named, s.settle.late = c, true, b.late(t.Name)
		if s.prefix = s.qualified(); c.Others {
			s.prefix = "row." // that of the job, which is of the same table
		}
		o := s.besideOf(c)
		text := c.Verb + " "
		if c.Move {
			text = "move to "
		}
		text += plainText(c.QualifiedName())
		if len(o.Columns) > 0 {
			text += ": " + s.readable(o.Sets(), ", ")
		}
		if len(c.Where) > 0 {
			text += " where " + s.readable(slices.Concat(pairs("", o.Own, o.Match), o.Fixed), " and ")
		}
		if c.When != "" {
			text += " when " + s.readable([]string{s.raw(c.When)}, "")
		}
		if c.Key != nil {
			text += ", once; its " + plainText(c.Key.Name) + " is the token"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// sweepLocked writes a sweep whose rows are locked first, so that other tables can be
// written for them.
func (b *builder) sweepLocked(t *queue.Transition, more []queue.Test, file, op, moves string) (step SweepStep) {
	s, v := b.sweepScope(t), b.base(op)
	where := func() []string { return s.tests(slices.Concat(t.Tests, more)) }
	v.Where = where()
	s.name(&v, b.sweepIndex(op, t, more))
	s.limit(&v, 0)
	if b.keepsPassed(t, more) {
		s.findEach(&v, v.Limit, nil)
		v.Where = where()
	}
	v.Returning, v.Stays = s.read(b.pkg.Key), !t.Delete
	s.cursor(&v)
	name, did := b.lockFile(file)
	template, how := "select_lock", "locks"
	if b.locksTable() {
		how = "reads"
	}
	if b.d.SingleWriter || b.locksTable() {
		template = "select"
	}
	step.Lock = s.statement(name, template, v, b.pkg.Key, file+": "+how+" rows, which "+file+".sql then writes",
		"locks: the rows it returns, until commit; passes over rows that are locked", b.sweepHead(t, more))
	b.reserve()
	step.With, step.Behind = b.companions(t.Name, file, op, nil)
	s, v = b.sweepScope(t), b.base(op)
	s.settle.joined = b.movesKey(t.Name)
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_held")
	tests := locked(t.Tests)
	if b.locksTable() {
		tests = t.Tests // nothing is locked: the statement looks again
	}
	v.Where = s.tests(tests)
	verb := s.act(&v, t)
	var rows []*Field
	if b.canReturnFresh() && !s.settle.joined {
		rows = b.pkg.Key
		s.returns(&v, verb, rows)
	}
	step.Statement = s.statement(file, verb+"_batch", v, rows, file+": "+moves+", of the rows that "+name+".sql "+did,
		"locks: the rows it writes, until commit", b.keyHead(v))
	return step
}

// movesKey reports whether a transition writes a part of the key, or moves the row
// that only its place names.
func (b *builder) movesKey(name queue.TransitionName) bool {
	return slices.ContainsFunc(b.pkg.Key, func(f *Field) bool {
		if f.RowID {
			return b.d.RowIdentity.Moves && !b.spec.Transitions[name].Delete
		}
		return b.writes(name, b.columnOf(f))
	})
}

// canReturnFresh reports whether an update returns what it wrote.
func (b *builder) canReturnFresh() bool { return b.can(dialect.Returning) || b.updatesReturn() }
