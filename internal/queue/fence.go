package queue

// This file finds the best fence that the columns give, and judges the queue
// as a whole.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		return slices.ContainsFunc(marks, func(w Write) bool { return w.Column == c }) && !b.empties(c)
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
	tries := s.Attempts
	if tries != nil && (!tries.OnClaim || tries.Down || s.Cycle != nil || !tries.Column.NotNull && tries.NullMeansUnlimited) {
		tries = nil
	}
	// Two claims of one row cannot leave the same value in these columns.
	switch version := b.one("version"); {
	case s.Token != nil && b.marks(s.Token):
		s.Fence = Fence{Level: FenceToken, Columns: []*schema.Column{s.Token}}
	case version != nil && b.repeats(version.column) == "":
		s.Fence = Fence{Level: FenceAttempt, Columns: []*schema.Column{version.column}, OnReturn: !b.raises(Claim, version.column)}
	case tries != nil && b.repeats(tries.Column) == "":
		s.Fence = Fence{Level: FenceAttempt, Columns: with(tries.Column), OnReturn: !b.raises(Claim, tries.Column)}
		// Requeue takes the count back, and Redrive begins anew.
		if k.claimed != nil && (k.timeout == nil || k.heartbeat != nil) {
			s.Fence.Columns = append(s.Fence.Columns, k.claimed.column)
		}
		if len(s.Fence.Columns) == 1 {
			b.noteRepeats()
		}
	case s.Started != nil && b.marks(s.Started):
		s.Fence = Fence{Level: FenceClaimed, Columns: with(s.Started)}
	case k.lease != nil && b.marks(k.lease.column):
		s.Fence = Fence{Level: FenceClaimed, Columns: with(k.lease.column)}
	case s.Worker != nil && leaves(s.Worker):
		s.Fence = Fence{Level: FenceStatus, Columns: []*schema.Column{s.Worker}}
	default:
		s.Fence = Fence{Level: FenceStatus}
	}
	if c := s.Fence.Columns; (s.Fence.Level == FenceClaimed || s.Fence.Level == FenceStatus) && len(c) > 0 {
		s.Fence.Said = said(c[0])
		if w := c[len(c)-1]; w == s.Worker && said(w) {
			s.Fence.Told = w
		}
	}
	if beat := k.heartbeat; beat != nil && s.Fence.Level == FenceStatus && k.claimed == nil && b.marks(beat.column) {
		alike := "a worker that comes late is not told from the next one"
		if s.Worker != nil {
			alike = "two claims of one worker look alike"
		}
		b.note("the fence is the status, and %s: with qgen:claimed at column %q beside heartbeat the time there is the fence, which Extend writes as before", alike, beat.column.Name)
	}
	if a := s.Attempts; s.Cycle != nil && a != nil && a.OnClaim && s.Fence.Level < FenceAttempt {
		b.note("the count in column %q begins anew with every round of a job, so it is no fence; qgen:token or qgen:version is one", a.Column.Name)
	}
	for _, c := range b.counters(tries) {
		if why := b.repeats(c); why != "" && s.Fence.Level < FenceAttempt {
			s.Fence.Unfit = fmt.Sprintf("the count in column %q %s, so it is no fence", c.Name, why)
			b.note("%s; qgen:token or a qgen:version that each claim raises is one", s.Fence.Unfit)
		}
	}
	if c := s.Fence.Columns; s.Fence.Level == FenceClaimed && b.step(c[0]) >= time.Second && b.writesNow(Claim, c[0]) {
		s.Fence.Within = stepName(b.step(c[0]))
		if w := s.Fence.Told; w != nil {
			b.note("the fence compares column %q, which counts whole %ss, and what qgen:on writes to column %q: two claims within one %s look alike only where that is the same", c[0].Name, s.Fence.Within, w.Name, s.Fence.Within)
			return
		}
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

// counters returns the columns that may fence claims by a count: a version, and that of the tries.
func (b *binding) counters(tries *Attempts) []*schema.Column {
	var columns []*schema.Column
	if v := b.one("version"); v != nil {
		columns = append(columns, v.column)
	}
	if tries != nil {
		columns = append(columns, tries.Column)
	}
	return columns
}

// written returns what a step writes to a column, of the kind Old where that stays as it is.
func (t *Transition) written(c *schema.Column) Value {
	if t != nil {
		for _, w := range t.Writes {
			if w.Column == c {
				return w.Value
			}
		}
	}
	return Value{Kind: Old}
}

// marks reports whether a claim, or its start, leaves something of its own in a column, and not
// what stood there or what each claim leaves.
func (b *binding) marks(c *schema.Column) bool {
	return !b.empties(c) && slices.ContainsFunc([]TransitionName{Claim, Start}, func(name TransitionName) bool {
		return !slices.Contains([]ValueKind{Old, Literal, Null}, b.spec.Transitions[name].written(c).Kind)
	})
}

// empties reports whether a claim, or what keeps it, leaves null in a column.
func (b *binding) empties(c *schema.Column) bool {
	null := func(name TransitionName) bool { return b.spec.Transitions[name].written(c).Kind == Null }
	return null(Start) || null(Renew) || null(Claim) && b.spec.Transitions[Start].written(c).Kind == Old
}

// raises reports whether a step counts up in a column.
func (b *binding) raises(name TransitionName, c *schema.Column) bool {
	v := b.spec.Transitions[name].written(c)
	return v.Kind == Add && v.By > 0
}

// repeats says why two claims of a row may leave the same count in a column, "" where they cannot:
// each claim raises it, or each way from one claim to the next does, and no step between two claims
// sets it back. What a step gives back that did not count as a try is said by SetBack.
func (b *binding) repeats(c *schema.Column) string {
	sets := func(name TransitionName, back bool) bool {
		v := b.spec.Transitions[name].written(c)
		return v.Kind != Old && (v.Kind != Add || v.By < 0 && back)
	}
	counts := b.raises(Claim, c)
	called := func(name TransitionName) string {
		if o := b.spec.Outcome(name); o != nil {
			return "the outcome " + o.Name
		}
		return string(name)
	}
	for _, name := range []TransitionName{Update, Claim, Start, Renew, Retry, Recover} {
		if sets(name, true) {
			return "is set back by " + called(name)
		}
	}
	back, ends := b.waysBack()
	for _, name := range back {
		if sets(name, !counts) {
			return "is set back by " + called(name)
		}
	}
	if counts {
		return ""
	}
	if w := b.one("worker"); b.claims.byClaim || w != nil && w.word("mine") != nil {
		return "stays as it is when a row that somebody holds is claimed"
	}
	for _, name := range back {
		if name != Redrive && !b.raises(name, c) {
			return "stays as it is at claim and at " + called(name)
		}
	}
	for _, name := range ends {
		if t := b.spec.Transitions[Redrive]; t != nil && (sets(Redrive, true) || !b.raises(name, c) && !b.raises(Redrive, c)) {
			return "stays as it is, or is set back, between " + called(name) + " and the claim after redrive"
		}
	}
	return ""
}

// waysBack returns the steps by which a row that somebody holds is ready again, and those that make
// it failed, after which Redrive may.
func (b *binding) waysBack() (back, ends []TransitionName) {
	for _, name := range b.spec.Steps() {
		t, o := b.spec.Transitions[name], b.spec.Outcome(name)
		switch {
		case t == nil || t.Delete:
		case slices.Contains([]TransitionName{Retry, Release, Recover}, name), o != nil && o.To == Ready,
			name == Finish && (b.spec.Cycle != nil || b.leavesReady(t)), (name == Fail || o != nil) && b.leavesReady(t),
			name == Update && slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Value.Kind != Old && b.asksReady(w.Column) }):
			back = append(back, name)
		case name == Fail, name == GiveUp, o != nil && o.To == Failed:
			ends = append(ends, name)
		}
	}
	return back, ends
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

// readyAtOnce is how the note begins of a queue whose jobs are claimed again as soon as they fail.
const readyAtOnce = "warning: a job that fails is ready at once"

// judgeRetry says where a job that fails is claimed again and again, without a wait and
// without an end. What qgen:on writes of a try that failed may be a wait of its own.
func (b *binding) judgeRetry() {
	k := &b.claims
	ends := b.keepsFailed || b.spec.FailedDeletes
	if b.isAway() { // when a row is ready is said at the table of the queue
		return
	}
	if ends && !b.endless() || !b.runs() || b.doubts() != nil || slices.ContainsFunc(b.drafts[Retry], func(d *draft) bool {
		return d.by.verb == "on" && b.asksReady(d.column) && (d.value.Kind != Old || b.claimWrites(d.column))
	}) {
		return
	}
	keeps := slices.ContainsFunc(b.drafts[Retry], func(d *draft) bool {
		return d.by.verb == "on" && d.value.Kind == Old && k.due != nil && d.column == k.due.column
	})
	ending := "nothing ends that"
	var ended []string
	for _, o := range b.spec.Outcomes {
		if o.To != Ready {
			ended = append(ended, strconv.Quote(o.Name))
		}
	}
	if len(ended) > 0 {
		ending = fmt.Sprintf("only a handler that settles it by an outcome (%s) ends that", strings.Join(ended, ", "))
	}
	switch {
	case keeps:
		b.note("warning: a job that fails is as due as it was, since qgen:on retry leaves column %q as it is, and %s: the next claim takes it again; leave that out and it waits, and qgen:attempts max=5 beside a state for failed rows is an end", k.due.column.Name, ending)
	case k.dueRole() == nil:
		b.note(readyAtOnce+", and %s; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end", ending)
	case k.wait != nil && k.wait.ofRow() != "":
		b.note(readyAtOnce+" where its %s is 0, and %s; qgen:attempts max=5 beside a state for failed rows is an end", k.wait.ofRow(), ending)
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
