package plan

// This file plans an Enqueue that leaves a job out where a row stands in its way by a
// unique key.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// fresh finds what gives each new row a value of its own.
var fresh = regexp.MustCompile(`(?i)nextval|next value for|uuid|ulid|guid|newid|newsequentialid|rowid|rand`)

// primaryKey is what people call the key that has no other name.
const primaryKey = "primary key"

// keyInWay is a unique key by which a row can stand in the way of a new job.
type keyInWay struct {
	kind    string // primary key, unique key or unique index
	name    string // "" where the DDL gives it none
	columns []schema.IndexColumn
	where   string        // of the rows that are in it, "" for all
	index   *schema.Index // that enforces it, nil where the DDL names none
	// deferrable: rows may be alike in it until the transaction ends.
	deferrable bool
}

// list are the columns of the key as people call them.
func (k *keyInWay) list() string {
	var columns []string
	for _, c := range k.columns {
		if c.Column == nil {
			columns = append(columns, oneSpaced(c.Expr))
		} else {
			columns = append(columns, plainText(c.Column.Name))
		}
	}
	return strings.Join(columns, ", ")
}

// conditions are the parts of the key's predicate, in a normal form.
func (k *keyInWay) conditions(b *builder) []string {
	if k.where == "" {
		return nil
	}
	return b.conditions(k.index)
}

// text is what people call the key: its columns, and what it is.
func (k *keyInWay) text() string {
	text := k.list() + " (" + k.kind
	if k.name != "" && k.kind != primaryKey {
		text += " " + plainText(k.name)
	}
	if k.where != "" {
		text += ", of rows where " + oneSpaced(k.where)
	}
	return text + ")"
}

// keysInWay returns the unique keys by which a row can stand in the way of a new job. One that
// differs in each new row is none, nor is one that leaves new jobs out.
func (b *builder) keysInWay() []*keyInWay { return b.keysUnless(b.differs) }

// keysUnless returns the unique keys that do not leave new jobs out, and none of whose columns
// differs in each new row.
func (b *builder) keysUnless(differs func(*schema.Column) bool) []*keyInWay {
	t := b.spec.Table
	var keys []*keyInWay
	add := func(k *keyInWay) {
		if !slices.ContainsFunc(k.columns, func(c schema.IndexColumn) bool { return c.Column != nil && differs(c.Column) }) {
			keys = append(keys, k)
		}
	}
	of := func(k *schema.Key) []schema.IndexColumn {
		if k.Index() != nil {
			return k.Index().Columns
		}
		var columns []schema.IndexColumn
		for _, c := range k.Columns {
			columns = append(columns, schema.IndexColumn{Column: c})
		}
		return columns
	}
	if k := t.PrimaryKey; k != nil {
		add(&keyInWay{kind: primaryKey, name: k.Name, columns: of(k), deferrable: k.Deferrable})
	}
	var enforcing []*schema.Index
	for _, k := range t.Uniques {
		enforcing = append(enforcing, k.Index())
		if !sameColumns(k, t.PrimaryKey) {
			add(&keyInWay{kind: "unique key", name: k.Name, columns: of(k), deferrable: k.Deferrable})
		}
	}
	for _, ix := range t.Indexes {
		if ix.Unique && !slices.Contains(enforcing, ix) && (t.PrimaryKey == nil || t.PrimaryKey.Index() != ix) && b.takesNew(ix) {
			add(&keyInWay{kind: "unique index", name: ix.Name, columns: ix.Columns, where: ix.Where, index: ix})
		}
	}
	return keys
}

// sameColumns reports whether two keys are of the same columns.
func sameColumns(k, other *schema.Key) bool {
	return other != nil && slices.Equal(k.Columns, other.Columns)
}

// oneSpaced is a text of the user's SQL on one line.
func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// differs reports whether no two new rows have the same value in a column: the database
// makes one for each, or the column is null until a claim.
func (b *builder) differs(c *schema.Column) bool {
	f := b.fields[c]
	if f != nil && f.New && !f.Optional {
		return false
	}
	if t := b.spec.Transitions[queue.Enqueue]; t != nil {
		for _, w := range t.Writes {
			if w.Column == c {
				switch w.Value.Kind {
				case queue.Null, queue.Token:
					return true
				case queue.SQLExpr:
					return fresh.MatchString(w.Value.Text)
				}
				return false
			}
		}
	}
	if c.Identity || c.Type.Versioned || c.HasDefault && fresh.MatchString(c.Default) {
		return true
	}
	return !c.HasDefault && !c.NotNull && !c.Generated && (f == nil || !f.New)
}

// takesNew reports whether a new job can be among the rows of an index: its predicate asks
// for no state that jobs have only later.
func (b *builder) takesNew(ix *schema.Index) bool {
	ready := b.normalTests(b.spec.States[queue.Ready])
	for _, part := range b.conditions(ix) {
		for _, later := range []queue.StateName{queue.Claimed, queue.Running, queue.Done, queue.Failed} {
			if slices.Contains(b.normalTests(b.spec.States[later]), part) && !slices.Contains(ready, part) {
				return false
			}
		}
	}
	return true
}

// unlike returns parts of the text of errors that look like that of a row in the way: of
// triggers, and of a counted key whose numbers are used up.
func (b *builder) unlike(e *Enqueue) []string {
	if !e.Collides {
		return nil
	}
	texts := slices.Clone(b.d.Transient.OfTriggers)
	if k := b.spec.Table.PrimaryKey; e.AutoKey && k != nil && slices.Equal(k.Columns, b.spec.Key) && b.d.Transient.CountedKey != "" {
		texts = append(texts, b.d.Transient.CountedKey)
	}
	return texts
}

// mostLocked is for how many jobs a call of EnqueueMany has a lock each.
const mostLocked = 100

// leaveAlike has the statement that adds a row look first whether one is like it, of which news are
// the columns that it writes, and returns its head; added says what it adds.
func (b *builder) leaveAlike(added string, s *scope, v *values, e *Enqueue, news []newColumn, errs *source.ErrorList) []string {
	l := b.spec.Like
	switch {
	case !b.can(dialect.InsertAlike):
		errs.Errorf(l.Pos, "%s has no lock by which producers of jobs that are alike could wait for each other", b.pkg.Engine).
			WithHint("Add a unique index over the columns, and leave like= out: enqueue=absent goes by that. Or look for the row in the transaction that adds the job, with WithTx, behind a lock of yours.")
		return nil
	case b.cluster:
		errs.Errorf(l.Pos, "of a cluster each node knows its own locks only, so that two of them would add jobs that are alike").
			WithHint("Add a unique index over the columns, and leave like= out: enqueue=absent goes by that. Or have all producers use one node and leave cluster: out.")
		return nil
	}
	e.Like, e.Repeatable = true, b.d.Fragments["like_level"].At(b.version) != ""
	v.Alike = dialect.Fill(b.d.Fragments["like_look"].At(b.version), "table", v.Table)
	v.Conditions, v.Nulls = s.alike(news, errs)
	for i, n := range news {
		if !slices.Contains(l.Columns, n.column) {
			continue
		}
		v.Values[i] = s.cast(n) // of one type wherever the value stands
		if f := n.field; f != nil && n.column.NotNull && !f.Sample.Few {
			f.Unique, e.Apart = true, true
		}
	}
	head := []string{"enqueue: " + added + ", unless one is like it in " + l.Text() + ": then it adds none", "locks: the new row, until commit"}
	if rule := b.d.Fragments["like_locks"].At(b.version); rule != "" {
		head[1] += "; " + rule
	}
	if b.can(dialect.AdvisoryLocks) {
		e.Gate = b.lockOf(l.Columns, l.Distinct, news, v, "jobs that are alike in "+columnList(l.Columns)+" are added one after the other")
		e.Locked = mostLocked
		e.Alone = b.lockAll(v, fmt.Sprintf("a call with more than %d jobs adds them while no other producer adds any", e.Locked))
		s.fresh(v, "rows that are alike are looked for")
	}
	w := b.likeIndex()
	return append(head, b.usesHead(w)+b.nullsNote(w))
}

// lockOf has producers of jobs that are alike in some columns wait for each other; does says so. Where
// nulls are distinct, a job with one is like none, and waits for none.
func (b *builder) lockOf(columns []*schema.Column, distinct bool, news []newColumn, v *values, does string) *Statement {
	g, gv := b.newScope(), b.base("Enqueue")
	g.newArgument = g.argumentOfNew
	var given []string
	for _, c := range columns {
		if i := slices.IndexFunc(news, func(n newColumn) bool { return n.column == c }); i >= 0 {
			given = append(given, g.cast(news[i]))
			if distinct && !c.NotNull {
				gv.Where = append(gv.Where, given[len(given)-1]+" IS NOT NULL")
			}
		}
	}
	form := func(name string) string {
		return dialect.Fill(b.d.Fragments[name].At(b.version), "table", v.TableText, "values", strings.Join(given, ", "))
	}
	gv.Group.Locks = form("like_number") + ",\n       " + form("like_shared")
	return g.statement("enqueue_gate", "gate", gv, nil, "enqueue: "+does,
		"locks: a number made of the table and these columns, and one of the table that producers share, until commit", "index: none; it reads nothing")
}

// lockAll has all producers wait for each other; does says so.
func (b *builder) lockAll(v *values, does string) *Statement {
	s, av := b.newScope(), b.base("EnqueueMany")
	av.Group.Must = true
	av.Group.Locks = dialect.Fill(b.aloneLock(), "table", v.TableText, "name", b.d.Quote("enqueue "+v.Table))
	return s.statement("enqueue_alone", "gate", av, nil, "enqueue: "+does, "locks: a number made of the table, until commit", "index: none; it reads nothing")
}

// aloneLock is the lock that keeps off all other producers, "" where the server has none.
func (b *builder) aloneLock() string {
	if b.can(dialect.AdvisoryLocks) {
		return b.d.Fragments["like_alone"].At(b.version)
	}
	return b.d.Fragments["if_alone"].At(b.version)
}

// fresh has a statement fail where it would not see what others have added before the lock was had; what
// says what that is for.
func (s *scope) fresh(v *values, what string) {
	v.Guard = nil
	if form := s.d.Fragments["like_fresh"].At(s.version); form != "" {
		v.Guard = []string{dialect.Fill(form, "what", what)}
	}
}

// cast is what a new row has in a column, of that column's type also where nothing but the value
// tells it.
func (s *scope) cast(n newColumn) string {
	value, arg := s.brings(n)
	if arg == value && s.rule(n.column).Write == "" {
		return s.d.Cast(value, s.castType(n.column.Type))
	}
	return value
}

// alike are the conditions on a row that a new one may not be like. Where the server keeps a plan for
// whatever values, and has no comparison that finds a null as well by an index, these are two looks, the
// second of which is taken for a job with a null alone.
func (s *scope) alike(news []newColumn, errs *source.ErrorList) (first, nulls []string) {
	l := s.spec.Like
	form, apart := s.d.Fragments["alike"].At(s.version), s.d.Fragments["alike_null"].At(s.version)
	var missing []string
	for _, c := range l.Columns {
		i := slices.IndexFunc(news, func(n newColumn) bool { return n.column == c })
		if i < 0 {
			errs.Errorf(l.Pos, "a new job brings nothing to column %q, in which it would be like others", c.Name).
				WithHint("Let NewJob have it: qgen:payload, or qgen:on enqueue set arg:%s. Or leave the column out of like=.", unexported(c.Name))
			continue
		}
		own, value := s.column(c), s.cast(news[i])
		equal := own + " = " + value
		either := "(" + equal + " OR " + own + " IS NULL AND " + value + " IS NULL)"
		switch {
		case !slices.Contains(l.MayBeNull(), c):
			first, nulls = append(first, equal), append(nulls, equal)
		case form != "":
			first = append(first, dialect.Fill(form, "column", own, "value", value))
		case apart != "":
			missing = append(missing, dialect.Fill(apart, "value", value))
			first, nulls = append(first, equal), append(nulls, either)
			if len(l.MayBeNull()) == 1 {
				nulls[len(nulls)-1] = own + " IS NULL"
			}
		default:
			first = append(first, either)
		}
	}
	states := slices.Concat(s.tests(s.spec.Members), s.anyOf(l.Tests))
	first = append(first, states...)
	switch len(missing) {
	case 0:
		return first, nil
	case 1:
		return first, slices.Concat(missing, nulls, states)
	}
	return first, slices.Concat([]string{"(" + strings.Join(missing, " OR ") + ")"}, nulls, states)
}

// anyOf are the conditions on a row that passes all tests of one of several lists.
func (s *scope) anyOf(lists [][]queue.Test) []string {
	if len(lists) == 1 {
		return s.tests(lists[0])
	}
	var texts []string
	for _, tests := range lists {
		texts = append(texts, strings.Join(s.tests(tests), " AND "))
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{"(" + strings.Join(texts, " OR ") + ")"}
}

// nullsNote says of the index of the table that serves which rows that are like a job with a null it leaves
// out, "" where it leaves out none.
func (b *builder) nullsNote(w wanted) string {
	have := b.serving(w)
	if have == nil || w.kind != "like" {
		return ""
	}
	var lacks []*schema.Column
	for _, c := range b.spec.Like.MayBeNull() {
		if w.nulls = []*schema.Column{c}; !b.holds(have, b.implied(w)) {
			lacks = append(lacks, c)
		}
	}
	if len(lacks) == 0 {
		return ""
	}
	return "; it has no row with a null in " + columnList(lacks) + ", so that a job with one reads others"
}

// likeIndex is the index by which rows are found that keep a job out.
func (b *builder) likeIndex() wanted {
	var tests []queue.Test
	if len(b.spec.Like.Tests) == 1 {
		// What speaks of several columns leaves few rows out, and would have the index change with them.
		tests = slices.DeleteFunc(slices.Clone(b.spec.Like.Tests[0]), func(t queue.Test) bool {
			return slices.ContainsFunc(t.Or, func(other queue.Test) bool { return other.Column != t.Column })
		})
	}
	w := b.wantedFor(slices.Concat(tests, b.spec.Members))
	w.kind, w.name, w.why, w.lacking = "like", b.indexName("like"), "serves Enqueue: the rows that are like a new job", "Enqueue reads the table"
	if b.d.Fragments["like_locks"].At(b.version) != "" {
		w.lacking += ", and locks what it reads"
	}
	if w.columns = nil; b.d.Fragments["alike_null"].At(b.version) == "" {
		w.nulls = b.spec.Like.MayBeNull()
	}
	for _, c := range b.spec.Like.Columns {
		if !b.unfound(c) {
			w.columns = append(w.columns, indexKey{column: c})
		}
	}
	w.fixed, w.told = len(w.columns), 0
	w, _ = b.fit(w)
	return w
}

// checkAbsent complains where nothing could be left out, or nothing tells it for sure, and
// says what keeps jobs out.
func (b *builder) checkAbsent(errs *source.ErrorList) {
	b.checkOnlyIf(errs)
	if !b.spec.Absent {
		return
	}
	const within = "look for the row in the transaction that adds the job, with WithTx"
	pos, t, e := b.spec.AbsentPos, b.spec.Table, b.pkg.Enqueue
	complain := func(hint, format string, args ...any) { errs.Errorf(pos, format, args...).WithHint("%s", hint) }
	if e == nil {
		complain("Leave enqueue=absent out.", "there is no Enqueue that could leave jobs out: %s", b.noEnqueue)
		return
	}
	if b.spec.Like != nil {
		b.pkg.Notes = append(b.pkg.Notes, "enqueue=absent leaves a job out where a row is like it in "+b.spec.Like.Text()+"; producers that do not add jobs by Enqueue may still add one beside it")
		b.noteHeldLike()
		b.noteElsewhere()
		return
	}
	keys := b.keysInWay()
	if len(keys) == 0 {
		complain("Say by like= in which columns jobs are alike: like=\"kind, target\". Or add a unique index over what no two jobs may have in common, with a predicate where ended jobs do not count; or leave enqueue=absent out and "+within+".",
			"no unique key of %q could keep a job out: new rows are alike in none", t.QualifiedName())
		return
	}
	for _, k := range append(slices.Clip(t.Uniques), t.PrimaryKey) {
		if k != nil && k.Deferrable {
			complain("Make the key NOT DEFERRABLE.", "the unique key of %q over %s is DEFERRABLE: whether a row stands in the way is known only when the transaction ends", t.QualifiedName(), keyColumns(k))
			return
		}
	}
	switch {
	case !e.Collides && !b.can(dialect.InsertAbsent):
		complain(b.sinceMend(dialect.InsertAbsent), "%s has no INSERT that leaves out what is there already", b.pkg.Engine)
		return
	case e.Collides && len(b.d.Transient.OfTriggers) == 0 && t.Fires("insert"):
		i := slices.IndexFunc(t.Triggers, func(tr *schema.Trigger) bool { return !tr.Disabled && slices.Contains(tr.Events, "insert") })
		complain("Write what the trigger does by also: {enqueue: …} or qgen:on enqueue in its place; or leave enqueue=absent out and "+within+".",
			"the trigger %q fires when a row is added: where it meets a key of another table, the error is the same, and the job would be taken for one that is there", t.Triggers[i].Name)
		return
	}
	var texts []string
	for _, k := range keys {
		texts = append(texts, k.text())
	}
	b.pkg.Notes = append(b.pkg.Notes, "enqueue=absent leaves a job out where a row is like it in "+strings.Join(texts, ", or in "))
	b.noteHeldOut()
	b.noteElsewhere()
}

// heldOut returns the unique keys by which a row that is held keeps its like out at once, and which it
// leaves when its job is complete: of what such a job announces nobody knows if the worker has looked
// before.
func (b *builder) heldOut() (keys []*keyInWay) {
	t := b.spec.Transitions[queue.Finish]
	if b.pkg.Strategy != "hold" || !b.spec.Absent || b.spec.Like != nil || t == nil {
		return nil
	}
	ready, done := b.normalTests(b.spec.States[queue.Ready]), b.normalTests(b.spec.States[queue.Done])
	for _, k := range b.keysInWay() {
		leaves := t.Delete || slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
			return slices.ContainsFunc(k.columns, func(c schema.IndexColumn) bool { return c.Column == w.Column }) ||
				slices.ContainsFunc(k.conditions(b), func(part string) bool {
					return source.Mentions(part, w.Column.Name) && slices.Contains(ready, part) && !slices.Contains(done, part)
				})
		})
		if leaves && (k.kind != primaryKey || b.d.HeldByLock != "primary") {
			keys = append(keys, k)
		}
	}
	return keys
}

// heldWaits says for which transactions Enqueue does not wait, "" where there are no such.
func (b *builder) heldWaits() string {
	if len(b.heldOut()) == 0 {
		return ""
	}
	return " For one that holds such a row it does not: the job is left out, and the row goes with Complete. Where workers call that right behind Claim, before they read what a job is about, Enqueue waits for them, and nothing is missed."
}

// noteHeldOut says what is lost where a held row keeps its like out, and how nothing is.
func (b *builder) noteHeldOut() {
	keys := b.heldOut()
	if len(keys) == 0 {
		return
	}
	var texts []string
	for _, k := range keys {
		texts = append(texts, k.list())
	}
	mend := "call Complete right behind Claim, before that is read, and Enqueue waits for the transaction and adds the job"
	if b.pkg.WorkLoop {
		mend += " (Work calls it behind the handler)"
	}
	besides := func(c *schema.Column) bool {
		return !c.Generated && !c.Always && !c.Identity && !slices.Contains(b.spec.Key, c) && !slices.ContainsFunc(b.keysInWay(), func(k *keyInWay) bool {
			return slices.ContainsFunc(k.columns, func(of schema.IndexColumn) bool { return of.Column == c })
		})
	}
	if b.can(dialect.Upsert) && slices.ContainsFunc(b.spec.Table.Columns, besides) {
		mend += "; or say enqueue=update, by which it writes a column of the row that is there, and waits as well"
	}
	b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("warning: a row that is held keeps those out that are like it in %s, and leaves when its job is complete: if the worker has read before what the job is about, what Enqueue left out meanwhile is done by nobody; %s",
		strings.Join(texts, ", or in "), mend))
}

// noteHeldLike says of a held row what noteHeldOut does, where Enqueue looks at rows without a lock and so does
// not wait for who holds one.
func (b *builder) noteHeldLike() {
	t := b.spec.Transitions[queue.Finish]
	if b.pkg.Strategy != "hold" || t == nil || b.d.Fragments["like_locks"].At(b.version) != "" || b.d.SingleWriter {
		return
	}
	counted := func(tests []queue.Test) bool {
		return !slices.ContainsFunc(tests, func(like queue.Test) bool { return slices.ContainsFunc(b.stateTests(queue.Done), like.Excludes) })
	}
	if !t.Delete && (!b.tells(queue.Done) || slices.ContainsFunc(b.spec.Like.Tests, counted)) {
		return // what is done keeps them out as well
	}
	b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("warning: a row that is held keeps those out that are like it in %s, and Enqueue does not wait for who holds it: if the worker has read before what the job is about, what Enqueue left out meanwhile is done by nobody; go by a unique index over these columns in place of like=, and call Complete right behind Claim, then Enqueue waits and adds the job",
		b.spec.Like.Text()))
}

// noteElsewhere says of jobs of which another table tells the state what they keep out.
func (b *builder) noteElsewhere() {
	if b.running != nil {
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("enqueue=absent looks at %s alone: a job that runs is a row of %s, and keeps none out", plainText(b.spec.Table.QualifiedName()), plainText(b.running.spec.Table.QualifiedName())))
	}
	if b.side != nil && b.spec.Like != nil && b.side.spec.States[queue.Failed] != nil && b.spec.States[queue.Failed] == nil {
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("enqueue=absent looks at %s alone: that a job has failed stands in %s, so that it keeps others out as one that is ready does", plainText(b.spec.Table.QualifiedName()), plainText(b.side.spec.Table.QualifiedName())))
	}
}

// keyColumns names the columns of a key.
func keyColumns(k *schema.Key) string { return columnList(k.Columns) }

// columnList names columns.
func columnList(columns []*schema.Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// unless says which jobs Enqueue leaves out.
func (b *builder) unless() string {
	var text string
	switch {
	case b.spec.Like != nil:
		text = ", unless a row is like it in " + b.spec.Like.Text()
	case b.spec.Absent:
		text = ", unless a row stands in its way by a unique key"
	}
	if b.spec.EnqueueIf != nil {
		return ", only where enqueue_if holds" + strings.Replace(text, ", unless", " and unless", 1)
	}
	return text
}

// keptOut says where a job is left out.
func (b *builder) keptOut() string {
	var where []string
	if b.spec.EnqueueIf != nil {
		where = append(where, "enqueue_if does not hold")
	}
	switch {
	case b.spec.Like != nil:
		where = append(where, "a row is like it")
	case b.spec.Absent:
		where = append(where, "a row stands in its way by a unique key")
	}
	return strings.Join(where, ", or ")
}

// leftOut says what Enqueue does where a job may be left out, and when one that is added appears.
func (b *builder) leftOut(e *Enqueue, appears string) string {
	tells := ", and tells whether it was added."
	if e.tellsKey() {
		tells = ". It returns the key and whether the job was added; where it was not, the key is the zero value."
	}
	none := "A row that is there already is no error"
	if only := b.spec.EnqueueIf; only != nil {
		none = "The condition is (" + plainText(only.Text()) + "), of which {new} is the job; that it does not hold is no error"
		if b.spec.Absent {
			none += ", nor is a row that is there already"
		}
	}
	text := b.unless() + tells + " " + none + ", and the caller's transaction goes on. " + appears
	if rule := b.d.Fragments["duplicate_rule"].At(b.version); e.Collides && rule != "" {
		text += " " + rule
	}
	return text
}

// leftOutMany says the same of EnqueueMany; none is what an error leaves.
func (b *builder) leftOutMany(e *Enqueue, none string) string {
	tells := ", and tells in the order of news which were added. "
	if e.tellsKey() {
		tells = ". It returns, in the order of news, the keys and which of the jobs were added; where one was not, its key is the zero value. "
	}
	if e.Alone != nil && e.Locked > 0 {
		none += fmt.Sprintf(" A call with more than %d jobs keeps all other producers waiting until it commits.", e.Locked)
	}
	same := ", also one that the same call has added"
	switch {
	case b.spec.EnqueueIf == nil:
	case b.spec.Absent:
		same += ", which enqueue_if sees as well"
	default:
		same = ", which sees those that the same call has added before"
	}
	return "each of the jobs" + b.unless() + same + tells + none
}

// tellsKey reports whether the key of a new row is known to whoever has added it.
func (e *Enqueue) tellsKey() bool { return len(e.One.Rows) > 0 || e.AutoKey || e.KeyGiven }
