package plan

// This file plans an Enqueue that adds a job only where a condition over other rows holds.
//
// The statement that adds the row asks it: INSERT … SELECT … WHERE. Where the condition reads rows
// that Enqueue adds, it holds for sure only while no other producer adds any, for which the server
// has what keeps apart producers of jobs that are alike (absent.go): a lock on a number that all of
// them take, one writer at a time, or levels at which what a statement has read stays as it is.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// addOnlyIf has the statement that adds a row ask first whether enqueue_if holds, of which news are the
// columns that it writes and head is its head so far, which is completed; added says what it adds.
func (b *builder) addOnlyIf(added string, s *scope, v *values, e *Enqueue, news []newColumn, head []string, errs *source.ErrorList) []string {
	only := b.spec.EnqueueIf
	const otherwise = "Or ask it in the transaction that adds the job, with WithTx"
	refuse := func(hint, format string, args ...any) []string {
		errs.Errorf(only.Pos, format, args...).WithHint("%s", hint)
		return head
	}
	switch {
	case len(v.Columns) == 0:
		return refuse("Let NewJob have a column: qgen:payload. "+otherwise+".",
			"a new row of %q has its defaults alone, and no INSERT of these takes a condition", b.spec.Table.QualifiedName())
	case only.Counts && b.cluster:
		return refuse("Have all producers use one node and leave cluster: out. "+otherwise+", behind a lock of yours.",
			"enqueue_if reads a table to which Enqueue adds rows, and of a cluster each node knows its own locks only, so that two of them would both find that it holds")
	case only.Counts && !b.can(dialect.InsertAlike):
		return refuse("Let it read other tables alone. "+otherwise+", behind a lock of yours: a row that stands for the queue, which each producer locks first.",
			"enqueue_if reads a table to which Enqueue adds rows, and %s has no lock by which producers could wait for each other", b.pkg.Engine)
	case v.NewKey != "":
		return refuse("Let the caller give the key: a column without a default. "+otherwise+".",
			"%s does not give back the key of a row that INSERT … SELECT adds, which has the condition", b.pkg.Engine)
	}
	for _, c := range b.newNames(only.SQL) {
		i := slices.IndexFunc(news, func(n newColumn) bool { return n.column == c })
		if i < 0 {
			errs.Errorf(only.Pos, "a new job brings nothing to column %q", c.Name).
				WithHint("NewJob does not have it, and no word writes it when a job is enqueued: qgen:on enqueue set arg:%s lets NewJob have it.", unexported(c.Name))
			continue
		}
		if b.madeAnew(news[i]) {
			errs.Errorf(only.Pos, "the database may make a value for column %q, and another each time it is asked, so that enqueue_if would not see that of the row", c.Name).
				WithHint("Compare another column, or an argument: {arg:name type}.")
			continue
		}
		v.Values[i] = s.cast(news[i]) // of one type wherever the value stands
	}
	s.newValue = s.bringsTo(news, s.cast)
	v.Only = []string{s.raw(only.SQL)}
	e.If, e.Each = true, only.Beside
	head[0] = "enqueue: " + added + " where enqueue_if holds, else none" + strings.TrimPrefix(head[0], "enqueue: "+added)
	if source.Mentions(only.SQL, "select") {
		const by = "whichever finds the rows of enqueue_if"
		if last := len(head) - 1; strings.HasPrefix(head[last], "index: ") {
			head[last] += "; " + by
		} else {
			head = append(head, "index: "+by)
		}
	}
	if !only.Counts {
		return head
	}
	e.Repeatable = b.d.Fragments["like_level"].At(b.version) != ""
	if e.Repeatable {
		if !strings.HasPrefix(head[1], "locks: the new row") {
			head[1] = "locks: the new row, until commit"
		}
		head[1] += "; what enqueue_if reads, for reading"
	}
	if b.aloneLock() == "" { // what the statement reads stays so until commit
		return head
	}
	e.Gate, e.Locked = nil, 0
	does := "jobs are added one after the other, so that enqueue_if sees all that are there"
	if within := b.lockedWithin(news); len(within) > 0 {
		e.Within = columnList(within)
		e.Gate = b.lockOf(within, false, news, v, "jobs that are alike in "+e.Within+" are added one after the other, so that enqueue_if sees all of them that are there")
		e.Locked = mostLocked
		does = fmt.Sprintf("a call with more than %d jobs adds them while no other producer adds any", e.Locked)
	}
	e.Alone = b.lockAll(v, does)
	s.fresh(v, "enqueue_if is asked")
	return head
}

// lockedWithin returns the columns by whose values producers wait for each other, so that enqueue_if sees
// what others have added; none where all of them wait. Those of like= are among them.
func (b *builder) lockedWithin(news []newColumn) (columns []*schema.Column) {
	if !b.can(dialect.AdvisoryLocks) {
		return nil
	}
	for _, c := range b.spec.EnqueueIf.Within {
		brought := slices.ContainsFunc(news, func(n newColumn) bool { return n.column == c })
		if brought && b.hashes(c) && (b.spec.Like == nil || slices.Contains(b.spec.Like.Columns, c)) {
			columns = append(columns, c)
		}
	}
	return columns
}

// madeAnew reports whether a new row may get a value in a column that is another each time it is asked.
func (b *builder) madeAnew(n newColumn) bool {
	text := ""
	switch {
	case n.value != nil && n.value.Kind == queue.SQLExpr:
		text = n.value.Text
	case n.field != nil && n.column.HasDefault:
		text = n.column.Default
	}
	return fresh.MatchString(literals.ReplaceAllString(text, "''"))
}

// others says for whom an Enqueue waits that asks enqueue_if.
func (b *builder) others(e *Enqueue) string {
	if e.Within == "" {
		return "every transaction that adds a job by Enqueue"
	}
	return "a transaction that adds by Enqueue a job which is like it in " + e.Within
}

// bringsTo returns what a new row has in a column, as write has it.
func (s *scope) bringsTo(news []newColumn, write func(newColumn) string) func(*schema.Column) string {
	return func(c *schema.Column) string {
		if i := slices.IndexFunc(news, func(n newColumn) bool { return n.column == c }); i >= 0 {
			return write(news[i])
		}
		return "NULL"
	}
}

// checkOnlyIf complains where there is no Enqueue that could ask enqueue_if, and says of whose jobs it holds.
func (b *builder) checkOnlyIf(errs *source.ErrorList) {
	only := b.spec.EnqueueIf
	switch {
	case only == nil:
	case b.pkg.Enqueue == nil:
		errs.Errorf(only.Pos, "there is no Enqueue that could ask enqueue_if: %s", b.noEnqueue).WithHint("Leave it out.")
	case only.Counts:
		b.pkg.Notes = append(b.pkg.Notes, "enqueue_if: Enqueue adds a job only where ("+only.Text()+"), which is so when the job is added, whatever other producers add by this Enqueue; other programs, and steps that make jobs ready again, do not ask it")
	default:
		b.pkg.Notes = append(b.pkg.Notes, "enqueue_if: Enqueue adds a job only where ("+only.Text()+"), and locks nothing that this reads: it may have changed when the job is there")
	}
}
