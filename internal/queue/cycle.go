package queue

// This file reads queues whose jobs never end: each is due again when it is done.

import (
	"fmt"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Cycle says when a job that is done is due again.
type Cycle struct {
	Due  *schema.Column
	Next Value // what Due gets; Given: the caller says it with each job
	// Ends: a null in Due is never due, or Never stands for that, so that a job of which the
	// caller says nothing is not done again.
	Ends  bool
	Never *Value
}

// ArgNext is the name of the argument that says when a job is due again.
const ArgNext = "next"

// Asks reports whether a value is the caller's word for when a job is due again.
func (c *Cycle) Asks(v Value) bool { return c != nil && v.Kind == Given && v.Name == ArgNext }

// readCycle reads what is said of the next time of a job that is done.
func (b *binding) readCycle() {
	w, unit := b.queue.word("cycle"), b.queue.word("unit")
	counts := w != nil && w.op == equals
	if unit != nil && !counts {
		b.errorf(unit.pos, "%s says of what cycle= is a number, which is not there", unit.pos.Text()).WithHint("Leave it out.")
	}
	if w == nil {
		return
	}
	due := b.claims.dueRole()
	switch {
	case b.spec.Strategy == "pop":
		b.errorf(w.pos, "strategy=pop ends a job when it is claimed, so it cannot be due again").WithHint("Leave cycle out, or leave strategy=pop out.")
		return
	case b.spec.Log != nil:
		b.errorf(w.pos, "rows of this queue are only added, so none is due again").WithHint("Leave cycle out.")
		return
	case due == nil:
		b.errorf(w.pos, "a job of a cycle is due again when it is done, and no column says when a job is due").
			WithHint("Mark one with qgen:due or qgen:visible.")
		return
	}
	b.checkCycle(w)
	c := &Cycle{Due: due.column, Ends: !due.column.NotNull && due.value("null") == "never"}
	if never := due.word("never"); never != nil && !c.Ends {
		if v, ok := b.literal(due.column, never.values[0]); ok {
			c.Ends, c.Never = true, &v
		}
	}
	add := due.word("add")
	switch {
	case add != nil && counts:
		b.errorf(w.pos, "%s and %s both say after what time a job is due again", w.pos.Text(), add.pos.Text()).
			WithHint("Leave one of the two out: with cycle alone the column gets the present, to which %s is added.", add.pos.Text())
		return
	case add != nil:
		c.Next = Value{Kind: Now}
	case !counts:
		c.Next = Value{Kind: Given, Name: ArgNext, Pos: w.pos}
		b.givens[ArgNext] = receiver{due.column, due.pos}
	default:
		shift := b.period()
		if shift == nil {
			return
		}
		if every := shift.Column; every != nil && !every.NotNull {
			what := "has no next time"
			if due.column.NotNull {
				what = fmt.Sprintf("cannot be completed, because %q is NOT NULL", due.column.Name)
			}
			b.note("warning: a job whose %s is null %s; cycle=\"coalesce(%s, …)\" says when it is due", every.Name, what, every.Name)
		}
		c.Next = Value{Kind: Now, Shift: shift}
	}
	b.spec.Cycle = c
	if a := b.spec.Attempts; a != nil && a.Down && a.Max == 0 && a.MaxOf == nil {
		why, hint := countless(a)
		b.errorf(b.counter(false).pos, "the %s of a job begin anew when it is done, and %s", a.counted(), why).WithHint("%s", hint)
	}
}

// period reads the time from one run of a job to the next.
func (b *binding) period() *Shift {
	d := b.length(&role{annotation: b.queue}, "cycle", "")
	if d == nil {
		return nil
	}
	return d.shift(false)
}

// checkCycle complains about words that end a job.
func (b *binding) checkCycle(w *word) {
	ends := func(pos source.Pos, what string) {
		b.errorf(pos, "%s says what becomes of a finished row, but with %s no job ends", what, w.pos.Text()).
			WithHint("A job that is done is ready again. Leave one of the two out.")
	}
	if said := b.queue.word("done"); said != nil {
		ends(said.pos, said.pos.Text())
	}
	for _, s := range b.status {
		if said := s.word(string(Done)); said != nil {
			ends(said.pos, said.pos.Text())
		}
	}
	if m := b.config.DoneMove; m != nil {
		ends(m.Pos, "done: {move: …}")
	}
	for _, o := range b.config.Outcomes {
		if o.To.Value == string(Done) {
			b.errorf(o.To.Pos, "outcome %q leads to done, but with %s no job ends", o.Name.Value, w.pos.Text()).
				WithHint("Write to: ready, and set what tells when the job is due; or to: failed; or to: deleted, which ends the job.")
		}
	}
}

// text says when a job is due again.
func (c *Cycle) text() string {
	return fmt.Sprintf("a job that is done is due again: %s := %s", c.Due.Name, quote(c.Next, c.Due))
}
