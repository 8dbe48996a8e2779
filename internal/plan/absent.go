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

// checkAbsent complains where nothing could be left out, or nothing tells it for sure, and
// says what keeps jobs out.
func (b *builder) checkAbsent(errs *source.ErrorList) {
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
	keys := b.keysInWay()
	if len(keys) == 0 {
		complain("Add a unique index over what no two jobs may have in common, with a predicate where ended jobs do not count; or leave enqueue=absent out and "+within+".",
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
	if b.running != nil {
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("enqueue=absent looks at %s alone: a job that runs is a row of %s, and keeps none out", plainText(t.QualifiedName()), plainText(b.running.spec.Table.QualifiedName())))
	}
}

// keyColumns names the columns of a key.
func keyColumns(k *schema.Key) string {
	var names []string
	for _, c := range k.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// unlessThere says which jobs Enqueue leaves out.
const unlessThere = ", unless a row stands in its way by a unique key"

// leftOut says what Enqueue does where a job may be left out, and when one that is added appears.
func (b *builder) leftOut(e *Enqueue, appears string) string {
	tells := ", and tells whether it was added."
	if e.tellsKey() {
		tells = ". It returns the key and whether the job was added; where it was not, the key is the zero value."
	}
	text := unlessThere + tells + " A row that is there already is no error, and the caller's transaction goes on. " + appears
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
	return "each of the jobs" + unlessThere + ", also one that the same call has added" + tells + none
}

// tellsKey reports whether the key of a new row is known to whoever has added it.
func (e *Enqueue) tellsKey() bool { return len(e.One.Rows) > 0 || e.AutoKey || e.KeyGiven }
