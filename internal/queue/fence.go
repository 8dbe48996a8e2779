package queue

// This file finds the best fence that the columns give, and judges the queue
// as a whole.

import (
	"slices"
	"time"

	"github.com/qgen-dev/qgen/internal/schema"
)

// readFence sets Spec.Fence: token before attempt before claimed before status.
// Without a running state there is nothing that a late worker could mistake for
// its own, and no fence.
func (b *binding) readFence() {
	s, k := b.spec, &b.claims
	for _, column := range b.status {
		if column.writes[Running].Kind == Now && s.Started == nil {
			s.Started = column.column
		}
	}
	if !b.runs() || b.movesAway() {
		return
	}
	// leaves reports whether a claim leaves something of its own in a column: qgen:on may have it leave nothing.
	var marks []Write
	if t := s.Transitions[Claim]; t != nil {
		marks = t.Writes
	}
	leaves := func(c *schema.Column) bool {
		return slices.ContainsFunc(marks, func(w Write) bool { return w.Column == c })
	}
	said := func(c *schema.Column) bool {
		return slices.ContainsFunc(marks, func(w Write) bool {
			return w.Column == c && w.Value.Kind != WorkerID && (w.Value.Kind != Now || s.IsSaid(w.Value))
		})
	}
	with := func(c *schema.Column) []*schema.Column {
		if s.Worker != nil && s.Worker != c && leaves(s.Worker) {
			return []*schema.Column{c, s.Worker}
		}
		return []*schema.Column{c}
	}
	reset := b.resetsCount()
	// Two claims of one row cannot leave the same value in these columns.
	switch version := b.one("version"); {
	case s.Token != nil:
		s.Fence = Fence{Level: FenceToken, Columns: []*schema.Column{s.Token}}
	case version != nil && slices.ContainsFunc(marks, func(w Write) bool {
		return w.Column == version.column && w.Value.Kind == Add && w.Value.By > 0
	}):
		s.Fence = Fence{Level: FenceAttempt, Columns: []*schema.Column{version.column}}
	case s.Attempts != nil && s.Attempts.OnClaim && !s.Attempts.Down && s.Cycle == nil && reset == "" && (s.Attempts.Column.NotNull || !s.Attempts.NullMeansUnlimited):
		s.Fence = Fence{Level: FenceAttempt, Columns: with(s.Attempts.Column)}
		// Requeue takes the count back, and Redrive begins anew.
		if k.claimed != nil && (k.timeout == nil || k.heartbeat != nil) {
			s.Fence.Columns = append(s.Fence.Columns, k.claimed.column)
		}
		if len(s.Fence.Columns) == 1 {
			b.noteRepeats()
		}
	case s.Started != nil && leaves(s.Started):
		s.Fence = Fence{Level: FenceClaimed, Columns: with(s.Started)}
	case k.lease != nil && leaves(k.lease.column):
		s.Fence = Fence{Level: FenceClaimed, Columns: with(k.lease.column)}
	case s.Worker != nil && leaves(s.Worker):
		s.Fence = Fence{Level: FenceStatus, Columns: []*schema.Column{s.Worker}}
	default:
		s.Fence = Fence{Level: FenceStatus}
	}
	if c := s.Fence.Columns; (s.Fence.Level == FenceClaimed || s.Fence.Level == FenceStatus) && len(c) > 0 {
		s.Fence.Said = said(c[0])
	}
	if beat := k.heartbeat; beat != nil && s.Fence.Level == FenceStatus && k.claimed == nil {
		alike := "a worker that comes late is not told from the next one"
		if s.Worker != nil {
			alike = "two claims of one worker look alike"
		}
		b.note("the fence is the status, and %s: with qgen:claimed at column %q beside heartbeat the time there is the fence, which Extend writes as before", alike, beat.column.Name)
	}
	if a := s.Attempts; s.Cycle != nil && a != nil && a.OnClaim && s.Fence.Level < FenceAttempt {
		b.note("the count in column %q begins anew with every round of a job, so it is no fence; qgen:token or qgen:version is one", a.Column.Name)
	}
	if a := s.Attempts; s.Cycle == nil && reset != "" && s.Fence.Level < FenceAttempt {
		b.note("the count in column %q is set back by %s, so it is no fence; qgen:token or qgen:version is one", a.Column.Name, reset)
	}
	if c := s.Fence.Columns; s.Fence.Level == FenceClaimed && b.step(c[0]) >= time.Second && b.writesNow(Claim, c[0]) {
		s.Fence.Within = stepName(b.step(c[0]))
		b.note("the fence compares column %q, which counts whole %ss: two claims within one %s look alike", c[0].Name, s.Fence.Within, s.Fence.Within)
	}
}

// writesNow reports whether a step writes the present to a column, and not what SQL of the
// user's says, which may be finer than the column is said to be.
func (b *binding) writesNow(name TransitionName, c *schema.Column) bool {
	t := b.spec.Transitions[name]
	return t != nil && slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == c && w.Value.Kind == Now })
}

// SetBack returns the steps that give a counter of claims a lower value, so that a later claim may
// leave the value of an earlier one.
func (s *Spec) SetBack(counter *schema.Column) []*Transition {
	steps := []*Transition{s.Transitions[Release]}
	for _, o := range s.Outcomes {
		if o.To == Ready {
			steps = append(steps, o.Transition)
		}
	}
	return slices.DeleteFunc(append(steps, s.Transitions[Redrive]), func(t *Transition) bool {
		return t == nil || t.Delete || !slices.ContainsFunc(t.Writes, func(w Write) bool {
			return w.Column == counter && (w.Value.Kind == Literal || w.Value.Kind == Add && w.Value.By < 0)
		})
	})
}

// noteRepeats says behind which steps the count of tries, which alone is the fence, may be one
// that an earlier claim has left.
func (b *binding) noteRepeats() {
	c := b.spec.Attempts.Column
	var after []string
	sent := ""
	for _, t := range b.spec.SetBack(c) {
		what := map[TransitionName]string{Release: "Requeue", Redrive: "Redrive"}[t.Name]
		if what == "" {
			what = "the outcome " + b.spec.Outcome(t.Name).Name
		}
		if after = append(after, what); t.Name != Redrive && sent == "" {
			sent = ": if " + what + " is sent twice, it can give back the claim of another"
			if t.Name == Release {
				sent = ": a Requeue that is sent twice can give back the claim of another"
			}
		}
	}
	if len(after) > 0 {
		b.note("the fence is the count in column %q alone, which repeats after %s%s; qgen:worker or qgen:token closes that", c.Name, allOf(after), sent)
	}
}

// resetsCount names a step between two claims that sets the count of tries, or takes some
// back, so that a later claim may leave the count of an earlier one; "" where none does.
func (b *binding) resetsCount() string {
	a := b.spec.Attempts
	if a == nil || !a.OnClaim || a.Down {
		return ""
	}
	sets := func(t *Transition, back bool) bool {
		return t != nil && slices.ContainsFunc(t.Writes, func(w Write) bool {
			return w.Column == a.Column && w.Value.Kind != Old && (w.Value.Kind != Add || w.Value.By < 0 && back)
		})
	}
	for _, name := range []TransitionName{Update, Claim, Start, Renew, Retry, Recover} {
		if sets(b.spec.Transitions[name], true) {
			return string(name)
		}
	}
	if sets(b.spec.Transitions[Release], false) {
		return string(Release)
	}
	for _, o := range b.spec.Outcomes {
		if o.To == Ready && sets(o.Transition, false) { // that a try does not count is as with Requeue
			return "the outcome " + o.Name
		}
	}
	return ""
}

// marking are the strategies that mark a row while somebody has it.
var marking = []string{"returning", "lock_update", "block", "token", "guarded", "advisory"}

// NoRecover is the note of a queue that cannot tell that a worker is gone.
const NoRecover = "nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover"

// judge complains about what is wrong with the queue as a whole.
func (b *binding) judge() {
	s := b.spec
	if !b.runs() && slices.Contains(marking, s.Strategy) {
		const hint = "strategy=%s marks rows while workers hold them. %s; or, if nothing may be written while a job runs, say strategy=hold on qgen:queue."
		if len(b.status) > 0 {
			c := b.status[0].column
			b.errorf(c.Pos, "status column %q has no value for \"running\"", c.Name).
				WithHint(hint, s.Strategy, "Add running=<value>")
		} else {
			b.errorf(s.ForcedPos, "strategy=%s needs a running state, and no column marks one", s.Strategy).
				WithHint(hint, s.Strategy, "Add a column for qgen:status, qgen:lease, qgen:worker or qgen:token")
		}
	}
	if b.runs() && s.Expired == nil && !s.AtStart && !b.claims.byClaim && !b.movesAway() {
		b.note(NoRecover)
	}
	b.judgeOverlap()
	b.judgeEnds()
	b.noteCounters()
	b.judgeRetry()
	b.judgeNew()
	b.judgeUpsert()
}

// judgeRetry says where a job that fails is claimed again and again, without a wait and
// without an end. What qgen:on writes of a try that failed may be a wait of its own.
func (b *binding) judgeRetry() {
	k := &b.claims
	ends := b.keepsFailed || b.spec.FailedDeletes
	if ends && !b.endless() || !b.runs() || b.doubts() != nil || slices.ContainsFunc(b.drafts[Retry], func(d *draft) bool {
		return d.by.verb == "on" && b.asksReady(d.column) && (d.value.Kind != Old || b.claimWrites(d.column))
	}) {
		return
	}
	keeps := slices.ContainsFunc(b.drafts[Retry], func(d *draft) bool {
		return d.by.verb == "on" && d.value.Kind == Old && k.due != nil && d.column == k.due.column
	})
	switch {
	case keeps:
		b.note("warning: a job that fails is as due as it was, since qgen:on retry leaves column %q as it is, and nothing ends that: the next claim takes it again; leave that out and it waits, and qgen:attempts max=5 beside a state for failed rows is an end", k.due.column.Name)
	case k.dueRole() == nil:
		b.note("warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end")
	case k.wait != nil && k.wait.ofRow() != "":
		b.note("warning: a job that fails is ready at once where its %s is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end", k.wait.ofRow())
	}
}

// asksReady reports whether what tells ready rows looks at a column, or may, or their order.
func (b *binding) asksReady(c *schema.Column) bool {
	ready := b.spec.States[Ready]
	return ready == nil || slices.ContainsFunc(b.spec.Order, func(o OrderTerm) bool { return o.Column == c }) || slices.ContainsFunc(ready.Tests, func(t Test) bool {
		return slices.ContainsFunc(t.Alternatives(), func(t Test) bool { return t.Column == c || t.Op == Raw && b.spec.Reads(t.SQL, c) })
	})
}

// judgeNew says where a new row is not ready, because a column that is only tested begins
// with another value.
func (b *binding) judgeNew() {
	ready, enqueue := b.spec.States[Ready], b.spec.Transitions[Enqueue]
	if ready == nil || enqueue == nil {
		return
	}
	for _, s := range b.status {
		c := s.column
		writes := slices.ContainsFunc(enqueue.Writes, func(w Write) bool { return w.Column == c })
		if writes || c.Generated || c.NotNull && !c.HasDefault {
			continue
		}
		for _, t := range ready.Tests {
			if t.Column != c || t.Op != In || len(t.Or) > 0 || slices.ContainsFunc(t.Values, func(v Value) bool { return v.Kind != Literal || gives(c, v) }) {
				continue
			}
			if _, known := constant(c.Default); c.HasDefault && !known {
				continue // it may be anything
			}
			b.note("a job that Enqueue adds is not ready before something else sets column %q to %s; with ready= in the place of ready~ Enqueue does", c.Name, quote(t.Values[0], c))
		}
	}
}
