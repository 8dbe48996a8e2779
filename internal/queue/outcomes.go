package queue

// This file reads what becomes of a row when its job is done or has failed,
// and what is kept of it.

import (
	"slices"
	"strconv"

	"github.com/qgen-dev/qgen/internal/schema"
)

// readOutcomes reads enqueued, finished, expires, result and error, and decides
// whether done and failed rows stay.
func (b *binding) readOutcomes() {
	b.spec.Enqueued = b.columnOf("enqueued")
	b.spec.Expires = b.columnOf("expires")
	b.finished = b.one("finished")
	if b.finished != nil {
		b.spec.Finished = b.finished.column
	}
	b.readDone()
	b.readFailed()
	b.checkFailsExpired()
	b.readResult()
	b.readError()
}

// saysState returns the first word of a status column for a state.
func (b *binding) saysState(state StateName) *word {
	for _, s := range b.status {
		if w := s.word(string(state)); w != nil {
			return w
		}
	}
	return nil
}

// readDone decides whether a finished row stays.
func (b *binding) readDone() {
	said, state := b.queue.word("done"), b.saysState(Done)
	value := b.queue.value("done")
	marks := b.finished != nil && !b.finished.column.NotNull && !b.finished.has("also_failed")
	switch {
	case b.spec.Cycle != nil: // no row is finished
	case b.config.DoneMove != nil && value != "":
		b.errorf(b.config.DoneMove.Pos, "finished rows are moved, but the queue says %s", said.pos.Text()).
			WithHint("Leave one of the two out.")
	case b.config.DoneMove != nil:
		b.spec.DoneDeletes = true
	case state != nil && value == "delete":
		b.errorf(said.pos, "finished rows are deleted, but the status says %s", state.pos.Text()).
			WithHint("Leave done=delete or the status value out. At %s stands the status. Where some rows stay and others go, leave done=delete out and name an outcome that deletes: outcomes: {discard: {to: deleted}}.", state.pos)
	case value == "delete":
		b.spec.DoneDeletes = true
	case state != nil:
		b.keepsDone = true
	case marks:
		b.keepsDone = true
		if value == "" {
			b.note("finished rows stay in the table and are known by column %q (done=keep)", b.finished.column.Name)
		}
	case value == "keep" && b.spec.Strategy == "pop":
		b.keepsDone, b.keepsReady = true, true
	case value == "keep":
		b.errorf(said.pos, "nothing tells a finished row from a waiting one").
			WithHint("Say which value of the status means done, qgen:status done=…, or mark a column that may be null with qgen:finished, or say done=delete.")
	case b.spec.Strategy == "pop":
		if b.spec.DoneDeletes = true; len(b.status) > 0 {
			b.note("a claim deletes the rows it takes (strategy=pop), since the status has no done=: done=… or done:=… there keeps them, done=delete on qgen:queue says that they go")
		}
	}
}

// readFailed decides whether a failed row stays, and what tells it.
func (b *binding) readFailed() {
	said, state := b.queue.word("failed"), b.saysState(Failed)
	value, a := b.queue.value("failed"), b.spec.Attempts
	switch {
	case b.config.FailedMove != nil && value != "":
		b.errorf(b.config.FailedMove.Pos, "failed rows are moved, but the queue says %s", said.pos.Text()).
			WithHint("Leave one of the two out.")
	case b.config.FailedMove != nil:
		b.spec.FailedDeletes = true
	case state != nil && value == "delete":
		b.errorf(said.pos, "failed rows are deleted, but the status says %s", state.pos.Text()).
			WithHint("Leave failed=delete or the status value out. At %s stands the status.", state.pos)
	case value == "delete":
		b.spec.FailedDeletes = true
	case state != nil:
		b.keepsFailed = true
	case a.Limited():
		if w := b.counter(false).word("limit"); w != nil && w.values[0].text == "fail" {
			b.errorf(w.pos, "nothing tells a failed row from a waiting one").
				WithHint("Say limit=claim, so that a row without attempts left is not claimed, or failed=delete, or which value of the status means failed.")
			return
		}
		b.keepsFailed, b.failedByLimit = true, true
		if !a.LimitClaim {
			a.LimitClaim = true
			b.note("a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)")
		}
	case b.spec.Log == nil:
		b.note(NeverFails)
	}
	switch {
	case !b.endless():
	case b.outcomeTo(Failed):
		b.note(noEnd)
	default:
		b.note(noEnd + " (max= or a column of limits at qgen:attempts, or an outcome to failed)")
	}
	if a.Limited() && b.claims.byClaim && !a.LimitClaim {
		a.LimitClaim = true
		b.note("a row whose claim has run out is claimed again without Recover, so a row at the limit of attempts is not (limit=claim)")
	}
}

// endless reports whether jobs are tried for ever although something marks a failed row.
func (b *binding) endless() bool {
	return !b.spec.Attempts.Ends() && (b.keepsFailed || b.spec.FailedDeletes)
}

// readResult reads the column that Complete writes.
func (b *binding) readResult() {
	r := b.one("result")
	if r == nil {
		return
	}
	b.spec.Result = r.column
	column := b.columns[r.column]
	column.JSON, column.GoType = r.has("json"), r.value("type")
	b.spec.ResultAppend = r.has("append")
	b.spec.ResultMax = b.most(r, 0, "results")
	if b.spec.ResultAppend {
		b.appends(r, "result")
	}
	if c := r.column; b.spec.ResultMax > 0 && (c.Type.Class != schema.Text || c.Type.Array && !b.spec.ResultAppend) {
		b.errorf(r.word("max").pos, "column %q is %s, whose values cannot be cut", c.Name, c.Type.Raw).WithHint("max= is for results of text. Leave it out.")
	}
	if b.spec.DoneDeletes && !b.keepsResult() {
		b.errorf(r.pos, "column %q keeps the result, but finished rows are deleted", r.column.Name).
			WithHint("Leave qgen:result out, or keep finished rows: done=keep, or a status with done=…. In another table it is kept by done: move: or also: done: of qgen.yaml.")
	}
}

// readError reads the column that Fail writes.
func (b *binding) readError() {
	r := b.one("error")
	if r == nil {
		return
	}
	c := r.column
	e := &ErrorColumn{Column: c, Max: c.Most(), Append: r.has("append"), Clear: r.has("clear"), Wanted: wantsText(b.table, c)}
	b.columns[c].JSON = r.has("json")
	list := c.Type.Array || c.Type.Class == schema.JSON
	if e.Said = b.most(r, 0, "errors"); e.Said > 0 {
		e.Max = e.Said
	}
	switch {
	case e.Append:
		b.appends(r, "error")
	case !list && !slices.Contains([]schema.Class{schema.Text, schema.Bytes, schema.Unknown}, c.Type.Class):
		b.errorf(r.pos, "column %q is %s, which holds no text of an error", c.Name, c.Type.Raw).
			WithHint("qgen:error is for a column of text.")
	}
	b.spec.Error = e
}

// most reads max=, the greatest number of characters; otherwise where it is absent.
func (b *binding) most(r *role, otherwise int, what string) int {
	w, c := r.word("max"), r.column
	if w == nil {
		return otherwise
	}
	n, err := strconv.Atoi(w.values[0].text)
	switch {
	case err != nil || n < 1:
		b.errorf(w.pos, "max cannot be %q", w.values[0].text).WithHint("Write the greatest number of characters: max=1000.")
	case c.Most() > 0 && n > c.Most() && !c.Type.Array:
		if c.Most() == c.Type.Length {
			b.errorf(w.pos, "column %q is %s and cannot hold %d characters", c.Name, c.Type.Raw, n).
				WithHint("Leave max= out, or write a smaller one: %s are cut to it.", what)
			break
		}
		b.errorf(w.pos, "a CHECK of column %q allows %d characters and not %d", c.Name, c.Most(), n).
			WithHint("Leave max= out, or write a smaller one: %s are cut to it.", what)
	default:
		return n
	}
	return otherwise
}

// appends complains about append on a column that holds one value.
func (b *binding) appends(r *role, what string) {
	if c := r.column; !c.Type.Array && c.Type.Class != schema.JSON {
		b.errorf(r.word("append").pos, "column %q is %s, to which nothing can be appended", c.Name, c.Type.Raw).
			WithHint("append is for arrays and JSON. Leave it out; the column then keeps the last %s.", what)
	}
}

// gaveUp is the error of a job that fails because its claim ran out: nobody is there to
// tell another.
func (e *ErrorColumn) gaveUp() Value { return Value{Kind: Cause, Text: gaveUpText(e.Max)} }
