package plan

// This file has claims wait for rows that others have locked, where that is asked for.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// waitsForLocks reports whether the statements of an operation are asked to wait for locked rows. With
// strategy pop all are; else Claim is, and what looks for rows on its own passes over them.
func (b *builder) waitsForLocks(op string) bool {
	return b.spec.Waits && (b.spec.Strategy == "pop" || op == "Claim")
}

// claimWaits reports whether it is a claim of jobs that a worker then runs which waits.
func (b *builder) claimWaits() bool { return b.spec.Waits && b.spec.Strategy != "pop" }

// claimsOne reports whether a claim is of one row at most, which its caller names by a whole key.
func (b *builder) claimsOne() bool {
	var said []*schema.Column
	for _, p := range b.spec.Params {
		if p.Always(queue.Equal) {
			said = append(said, p.Column)
		}
	}
	for _, t := range b.stateTests(queue.Ready) {
		if c := b.argued(t); c != nil {
			said = append(said, c)
		}
	}
	return len(b.keysWithin(said)) > 0
}

// keysWithin returns the keys of the table, by their columns, all of whose columns are among some.
func (b *builder) keysWithin(columns []*schema.Column) (keys [][]*schema.Column) {
	look := func(key []*schema.Column) {
		if len(key) > 0 && !slices.ContainsFunc(key, func(c *schema.Column) bool { return !slices.Contains(columns, c) }) {
			keys = append(keys, key)
		}
	}
	look(b.spec.Key)
	for _, k := range b.spec.Table.Uniques {
		look(k.Columns)
	}
	return keys
}

// oneByOne reports whether claims that want the same rows follow one another anyway, so that what waits for a locked row
// waits for no other claim: they pass the gate of the queue, or are for one group, whose lock each has until it commits.
func (b *builder) oneByOne() bool {
	return b.spec.Gate != nil && (b.modeOf(b.spec.Gate) != groupStatement || b.d.SingleWriter) || b.waitsForGroup()
}

// waitsForGroup reports whether a claim may wait for the lock of the group that topics tell it: one that
// waited for several could wait for another that waits for it.
func (b *builder) waitsForGroup() bool {
	g := b.spec.Group
	return g != nil && b.spec.Waits && !b.spec.Accept && (b.groupInSteps() || b.d.SingleWriter) &&
		!slices.ContainsFunc(g.Columns, func(c *schema.Column) bool { return b.topicOf(c) < 0 })
}

// argued returns the column that SQL says is equal to an argument of the caller's, nil where it says
// anything else.
func (b *builder) argued(t queue.Test) *schema.Column {
	if t.Op != queue.Raw || len(t.Or) > 0 {
		return nil
	}
	name, arg, equal := strings.Cut(t.SQL, "=")
	arg = strings.TrimSpace(arg)
	if !equal || !strings.HasPrefix(arg, "{arg:") || strings.Index(arg, "}") != len(arg)-1 {
		return nil
	}
	return b.spec.Table.Column(b.d.Fold(strings.TrimPrefix(strings.TrimSpace(name), "{row}.")))
}

// checkWaits complains about locked=wait where it would have workers claim one after the other, or
// where nothing waits.
func (b *builder) checkWaits(errs *source.ErrorList) bool {
	if !b.claimWaits() {
		return true
	}
	var why string
	mend := "Leave it out."
	switch {
	case b.spec.Log != nil:
		why = "rows of this queue are read behind a mark and never locked"
	case b.spec.Side != nil:
		why = "claims stand in a side table, where its unique key keeps others off a row, and not a lock"
	case b.spec.Away != nil:
		why = "a claim moves the row to another table, and what waited for it would look for it where it was"
	case b.spec.Group != nil && !b.oneByOne() && (!b.claimsOne() || b.groupMode() == groupStatement):
		why = "a claim is for rows of several groups, and passes over those that another claims from at that moment"
		mend = "Leave it or the group out; or mark each column of the group with qgen:topic (without list, optional or any=): a claim of rows of one group may wait."
		if b.groupMode() == groupStatement {
			why, mend = "of two claims that meet in a group one is undone and made again, and none waits", "Leave it out."
		}
	case b.spec.Accept:
		why = "accept: true asks about jobs that are read without locks"
		mend = "Leave it or accept: out."
	case !b.claimsOne() && !b.oneByOne():
		why = "workers that waited for rows of others would claim one after the other"
		mend = "Leave it out; or mark each column of the key with qgen:topic (without list, optional or any=): a claim of one row, which its caller names, may wait. Or make a stage of what has to wait, such as to cancel jobs: strategy=pop " + b.spec.WaitsPos.Text() + "."
	default:
		return true
	}
	errs.Errorf(b.spec.WaitsPos, "a claim cannot wait for locked rows here: %s", why).WithHint("%s", mend)
	return false
}

// missesUnready says of a claim that waits for which rows it does not: where the server looks at rows as
// they were when the statement began.
func (b *builder) missesUnready() string {
	if b.can(dialect.LocksNewest) {
		return ""
	}
	return " A row that another transaction is about to add or to make ready is not waited for: it is found once that has committed."
}

// bearsWait reports whether a strategy locks the row that it looks for. What reads rows first takes
// one that is not ready yet for one that is not there.
func (b *builder) bearsWait(name string) (bool, string, string) {
	if b.claimWaits() && slices.Contains([]string{"guarded", "advisory", "partition"}, name) {
		return false, "it reads ready rows without waiting for locks, and locked=wait is asked for", "Leave strategy= or locked=wait out."
	}
	return true, "", ""
}
