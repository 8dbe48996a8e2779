package queue

// This file finds the rows that Purge removes.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// purged returns the tests of rows that Purge removes.
func (b *binding) purged() ([]Test, bool) {
	if b.readPurgeIf() {
		b.spec.Purges = [][]StateName{{Done, Failed}}
		return append(slices.Clone(b.spec.Members), Test{Op: Raw, SQL: b.spec.PurgeIf.SQL}), true
	}
	if b.spec.Expires != nil {
		b.spec.Waiting = b.all(Ready)
	}
	done, failed := b.core[Done] != nil && b.keepsDone, b.core[Failed] != nil && b.keepsFailed
	if failed && b.spec.Cycle != nil { // such a row is due for ever, and no job that has ended
		again := ", and Redrive makes them ready again"
		if b.spec.NoRedrive {
			again = ""
		}
		b.note("Purge leaves rows that failed: the jobs of a cycle stay%s", again)
		failed = false
	}
	b.spec.Purges = b.purges()
	removed := slices.Concat(b.spec.Purges...)
	done, failed = done && slices.Contains(removed, Done), failed && slices.Contains(removed, Failed)
	switch {
	case done && failed:
		x, y := b.all(Done), b.all(Failed)
		if len(x) == 1 && len(y) == 1 && x[0].Column == y[0].Column {
			return []Test{union(x[0], y[0])}, true
		}
		return x, true
	case done:
		return b.all(Done), true
	case failed:
		return b.all(Failed), true
	case b.spec.Expires != nil && b.spec.Purges != nil:
		past := Test{Column: b.spec.Expires, Op: LessEqual, Values: []Value{{Kind: Now}}}
		return append(slices.Clone(b.spec.Waiting), past), true
	}
	return nil, false
}

// purges tells of which states Purge removes rows, and which of them it does not remove
// together with others.
func (b *binding) purges() [][]StateName {
	w := b.queue.word("purge")
	switch {
	case w == nil && b.spec.Cycle != nil:
		return [][]StateName{{Done}}
	case w == nil:
		return [][]StateName{{Done, Failed}}
	}
	switch said := w.values[0].text; said {
	case "none":
		return nil
	case "apart":
		b.spec.PurgePos = w.pos
		return [][]StateName{{Done}, {Failed}}
	default:
		b.spec.PurgePos = w.pos
		return [][]StateName{{StateName(said)}}
	}
}

// readPurgeIf reads the condition of qgen.yaml that tells which rows Purge removes, and reports
// whether there is one.
func (b *binding) readPurgeIf() bool {
	text := b.config.Purge
	if !text.IsSet() {
		return false
	}
	const statement = "Delete such rows by a statement of your own."
	switch w := b.queue.word("purge"); {
	case w != nil:
		b.errorf(text.Pos, "purge_if and %s both say which rows Purge removes", w.pos.Text()).
			WithHint("Leave one of the two out. At %s stands the word.", w.pos)
		return false
	case b.spec.Side != nil:
		b.errorf(text.Pos, "the claims of this queue are rows of another table, which purge_if does not see").WithHint(statement)
		return false
	case b.isAway() || b.movesAway():
		b.errorf(text.Pos, "jobs of this queue run as rows of another table, which purge_if does not see").WithHint(statement)
		return false
	}
	c := &Condition{Pos: text.Pos}
	var ok bool
	if c.SQL, ok = b.expression(asLiteral(text), &c.Params); !ok {
		return false
	}
	b.spec.PurgeIf = c
	if e := b.spec.Expires; e != nil {
		b.note("Purge goes by purge_if alone, so it removes a row past its time in column %q only where that holds", e.Name)
	}
	told := func(t Test) bool {
		return slices.ContainsFunc(t.Alternatives(), func(x Test) bool { return x.Column != nil && source.Mentions(c.SQL, x.Column.Name) })
	}
	if tests := b.all(Running); b.runs() && len(tests) > 0 && !slices.ContainsFunc(tests, told) {
		b.note("warning: purge_if names no column that tells which rows run, so Purge removes such rows, too, and whoever works on one of them gets ErrLost; and not (%s) leaves them out", strings.ReplaceAll(conjunction(tests), `"`, ""))
	}
	return true
}
