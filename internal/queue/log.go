package queue

// This file reads tables whose rows are only added, and read behind a mark for
// each group of consumers.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Log says how rows are read that are only added.
type Log struct {
	// Pos is where the column is said that grows with insertion, or the queue.
	Pos source.Pos
	// Settled: it was said how long to wait until no row can appear below those
	// that are seen; Settle is that time, 0 where rows appear in order.
	Settled bool
	Settle  time.Duration
	Since   *schema.Column // the time of insertion, on which Settle is measured; nil for a Settle of 0
	// NotUnique: rows may be alike in the column, and are then taken together.
	NotUnique bool
	// DeletePassed: Purge removes what every group has passed.
	DeletePassed bool
}

// inLog are the roles that columns of a log may have.
var inLog = []string{"seq", "id", "enqueued", "payload", "ignore", "where", "on"}

// notInLog says what to do instead of a role.
var notInLog = map[string]string{
	"topic":    "Leave qgen:topic out: a group reads all rows, and its handler passes over those that are not for it. Rows of which each has consumers of its own belong into tables of their own.",
	"shard":    "Leave qgen:shard out: one consumer of a group reads at a time.",
	"priority": "Leave it out: rows are read in the order of the column that is qgen:seq.",
	"order":    "Leave it out: rows are read in the order of the column that is qgen:seq.",
}

// removesPassed says how rows of a log go away.
const removesPassed = "What every group has passed is removed by Purge with offset: {delete_passed: true} in qgen.yaml."

// readLog finds out whether rows are only added: that is said by
// strategy=offset, or by qgen:seq where nothing else says what becomes of rows.
func (b *binding) readLog() {
	seq := b.one("seq")
	forced := b.spec.Strategy == "offset"
	if !forced && !b.onlyAdded(seq) {
		b.needsLog(seq)
		return
	}
	log := &Log{Pos: b.spec.Pos}
	if forced {
		log.Pos = b.spec.ForcedPos
		b.checkLog()
	}
	if b.spec.Seq == nil {
		if seq == nil {
			b.errorf(log.Pos, "strategy=offset reads rows behind a mark, and no column is known to grow with insertion").
				WithHint("Mark it with qgen:seq: a number that the database counts up, or the time of insertion.")
		}
		return
	}
	if seq != nil {
		log.Pos = seq.pos
		log.NotUnique = seq.has("notunique")
	} else {
		b.note("rows are read behind a mark in column %q, which the database counts up", b.spec.Seq.Name)
	}
	c := b.spec.Seq
	switch {
	case !c.NotNull && !b.primary(c):
		b.errorf(log.Pos, "column %q may be null, and a row with null is behind no mark", c.Name).WithHint("Make the column NOT NULL.")
	case !log.NotUnique && !c.Identity && !c.Type.Versioned && !b.unique([]*schema.Column{c}):
		b.errorf(log.Pos, "nothing makes column %q unique: a mark could stand between two rows that are alike in it", c.Name).
			WithHint("Say qgen:seq notunique, so that such rows are taken together, or add a unique index.")
	}
	if c.Type.Versioned {
		if w := seq.word("notunique"); w != nil {
			b.errorf(w.pos, "no two rows are alike in column %q, which the database counts up", c.Name).WithHint("Leave notunique out.")
		}
		b.note("a row that is changed gets a new value in column %q, and is read again", c.Name)
	}
	b.readSettle(log, seq)
	if o := b.config.Offset; o != nil {
		log.DeletePassed = o.DeletePassed.Value
	}
	b.spec.Log = log
}

// onlyAdded reports whether nothing but qgen:seq says what becomes of rows.
func (b *binding) onlyAdded(seq *role) bool {
	if seq == nil || b.config.Running != nil || b.spec.Strategy != "" || b.queue.has("done") || b.queue.has("failed") || b.queue.has("recover") || b.config.Recover.IsSet() ||
		b.config.DoneMove != nil || b.config.FailedMove != nil {
		return false
	}
	for verb := range b.roles {
		if !slices.Contains(inLog, verb) {
			return false
		}
	}
	return true
}

// checkLog complains about what cannot be where rows are only added.
func (b *binding) checkLog() {
	for _, v := range verbs {
		for _, r := range b.roles[v.name] {
			if slices.Contains(inLog, v.name) {
				continue
			}
			hint := notInLog[v.name]
			if hint == "" {
				hint = "Leave it out; or leave strategy=offset out, for a table whose rows tell their state."
			}
			what := "the table"
			if r.column != nil {
				what = fmt.Sprintf("column %q", r.column.Name)
			}
			b.errorf(r.pos, "strategy=offset only reads rows, but %s is qgen:%s", what, v.name).WithHint("%s", hint)
		}
	}
	for _, name := range []string{"done", "failed", "purge"} {
		if w := b.queue.word(name); w != nil {
			b.errorf(w.pos, "strategy=offset only reads rows, so %s says nothing", w.pos.Text()).
				WithHint("Leave it out. %s", removesPassed)
		}
	}
	for _, m := range []struct {
		name string
		*config.Move
	}{{"done", b.config.DoneMove}, {"failed", b.config.FailedMove}} {
		if m.Move != nil {
			b.errorf(m.Pos, "strategy=offset only reads rows, so none is %s and moved", m.name).
				WithHint("Leave the move out. %s", removesPassed)
		}
	}
	for _, name := range []string{"recover", "expired", "redrive"} {
		if w := b.queue.word(name); w != nil {
			b.errorf(w.pos, "strategy=offset only reads rows, so %s says nothing", w.pos.Text()).WithHint("Leave it out.")
		}
	}
	for _, e := range []struct {
		key, hint string
		config.String
	}{{"recover_if", "", b.config.Recover}, {"purge_if", " " + removesPassed, b.config.Purge}} {
		if e.IsSet() {
			b.errorf(e.Pos, "strategy=offset only reads rows, so %s says nothing", e.key).WithHint("Leave it out.%s", e.hint)
		}
	}
}

// needsLog complains about words for a log where the table is none.
func (b *binding) needsLog(seq *role) {
	for _, name := range []string{"gaps", "settle"} {
		if w := seq.annotationOf().word(name); w != nil {
			b.errorf(w.pos, "%s is about rows that are only read, but this queue writes or removes them", w.pos.Text()).
				WithHint("It belongs to strategy=offset. Leave it out.")
		}
	}
	if o := b.config.Offset; o != nil {
		b.errorf(o.Pos, "offset: is about rows that are only read, but this queue writes or removes them").
			WithHint("It belongs to strategy=offset. Leave it out.")
	}
}

// readSettle reads how long to wait for rows that appear late.
func (b *binding) readSettle(log *Log, seq *role) {
	w := seq.annotationOf().word("settle")
	if w == nil {
		return
	}
	d, ok := parseDuration(w.values[0].text)
	if !ok {
		b.errorf(w.values[0].pos, "settle cannot be %q", w.values[0].text).
			WithHint("Write at least twice the time that the longest transaction takes which adds rows: settle=60s; or settle=0s where one at a time adds rows.")
		return
	}
	log.Settled, log.Settle = true, d
	if d == 0 {
		return
	}
	log.Since = b.columnOf("enqueued")
	if log.Since == nil && b.spec.Seq.Type.Class == schema.Timestamp {
		log.Since = b.spec.Seq
	}
	switch c := log.Since; {
	case c == nil:
		b.errorf(w.pos, "%s is measured on the time at which a row was added, and no column has it", w.pos.Text()).
			WithHint("Mark the column that keeps it with qgen:enqueued.")
	case !c.NotNull && !b.primary(c):
		b.errorf(w.pos, "%s is measured on column %q, which may be null", w.pos.Text(), c.Name).
			WithHint("Make the column NOT NULL: of a row without the time nobody knows when it has settled.")
	}
}

// text says how rows of a log are read.
func (l *Log) text() string {
	words := []string{"rows are only added"}
	if l.NotUnique {
		words = append(words, "those that are alike are read together")
	}
	switch {
	case l.Since != nil:
		words = append(words, fmt.Sprintf("settled %s after %s", duration(l.Settle), l.Since.Name))
	case l.Settled:
		words = append(words, "they appear in order")
	}
	if l.DeletePassed {
		words = append(words, "what every group has passed may be deleted")
	}
	return strings.Join(words, ", ")
}
