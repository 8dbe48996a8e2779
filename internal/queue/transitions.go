package queue

// This file builds the transitions: which of them the table can express, what
// they test, and what they write.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// draft is a write and who wants it.
type draft struct {
	column *schema.Column
	value  Value
	by     *role
}

// enters tells the state in which a transition ends.
var enters = map[TransitionName]StateName{
	Enqueue: Ready, Claim: Running, Finish: Done, Retry: Ready, Release: Ready,
	Fail: Failed, Recover: Ready, GiveUp: Failed, Redrive: Ready,
}

// enters tells the state in which a transition of this queue ends.
func (b *binding) enters(name TransitionName) (StateName, bool) {
	if name == Finish && b.spec.Cycle != nil {
		return Ready, true
	}
	state, ok := enters[name]
	return state, ok
}

// withNext adds to steps that make a row ready that which finishes a job, where that
// does so as well.
func (b *binding) withNext(steps ...TransitionName) []TransitionName {
	if b.spec.Cycle != nil {
		steps = append(steps, Finish)
	}
	return steps
}

// buildTransitions sets Spec.Transitions.
func (b *binding) buildTransitions() {
	b.spec.NoRedrive = b.leavesOut(Redrive)
	for _, name := range TransitionNames {
		if tests, ok := b.leaves(name); ok {
			b.spec.Transitions[name] = &Transition{Name: name, Tests: tests, Delete: b.deletes(name)}
		}
	}
	b.writeStatus()
	b.writeClaims()
	b.writeCounters()
	b.writeOutcomes()
	b.writeExplicit()
	b.leaveDue()
	b.dueAtFirst()
	b.readNamed()
	for _, name := range b.spec.Steps() {
		if t := b.spec.Transitions[name]; t != nil && !t.Delete {
			t.Writes = b.resolve(name)
		}
	}
	b.tellClashes()
	b.checkAnew()
	b.checkRecoveries()
	b.doubtReady()
	b.judgeRecovered()
	b.judgeTold()
	b.judgeFree()
	b.noteNullFree()
	b.keep()
}

// judgeRecovered finds out where qgen:on has Recover write what is not ready, and warns; and
// where it has a job that is given up be other than failed.
func (b *binding) judgeRecovered() {
	b.spec.GivenUp, _ = b.leftIn(GiveUp, Failed)
	var by *draft
	if t := b.spec.Transitions[Recover]; t != nil && t.Stays != nil {
		b.spec.Recovered = Running
		b.note("warning: Recover leaves a job running and not ready, since qgen:on recover leaves column %q as it is", t.Stays.Name)
		return
	}
	if b.spec.Recovered, by = b.leftIn(Recover, Ready); by == nil {
		return
	}
	text := fmt.Sprintf("warning: Recover makes a job %s and not ready, since qgen:on recover writes column %q", b.spec.Recovered, by.column.Name)
	if b.spec.Recovered == Failed {
		at := "at qgen:claimed"
		if b.spec.AtStart {
			at = "beside " + b.queue.word("recover").pos.Text()
		} else if by := either(b.claims.lease, b.claims.claimed, b.claims.heartbeat, b.claims.worker); by != nil {
			at = fmt.Sprintf("at column %q", by.column.Name)
		}
		text += "; expired=fail " + at + " says that a job fails whose claim has run out, and qgen:on giveup what else is written then"
	}
	b.note("%s", text)
}

// leftIn returns the state in which a step leaves rows where qgen:on has it write what those
// of the state meant do not have, and what writes that; "" and nil where it does not.
func (b *binding) leftIn(name TransitionName, meant StateName) (StateName, *draft) {
	t := b.spec.Transitions[name]
	if t == nil || b.isAway() {
		return "", nil
	}
	var left []Test // of the row
	for _, w := range t.Writes {
		switch w.Value.Kind {
		case Null:
			left = append(left, Test{Column: w.Column, Op: IsNull})
		case Literal:
			left = append(left, Test{Column: w.Column, Op: In, Values: []Value{w.Value}})
		}
	}
	outside := func(state StateName, of *schema.Column) bool {
		return slices.ContainsFunc(b.steady(state), func(t Test) bool {
			return slices.ContainsFunc(left, func(w Test) bool {
				return w.Column == t.Column && (of == nil || w.Column == of) && excludesAll(w, t)
			})
		})
	}
	i := slices.IndexFunc(b.drafts[name], func(d *draft) bool { return d.by.verb == "on" && outside(meant, d.column) })
	if i < 0 {
		return "", nil
	}
	for _, state := range []StateName{Ready, Failed, Done, Claimed, Running} {
		if state != meant && len(b.core[state]) > 0 && !outside(state, nil) {
			return state, b.drafts[name][i]
		}
	}
	return Stray, b.drafts[name][i]
}

// doubtReady finds steps that are to make a row ready and write what SQL of the user's asks of ready
// rows, other than what the words for these have them write.
func (b *binding) doubtReady() {
	var asked []string
	for _, t := range slices.Concat(b.told(Ready), b.narrow) {
		for _, x := range t.Alternatives() {
			if x.Op == Raw {
				asked = append(asked, x.SQL)
			}
		}
	}
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		to, _ := b.enters(name)
		if o := b.spec.Outcome(name); o != nil {
			to = o.To
		}
		if t == nil || to != Ready || name == Enqueue {
			continue
		}
		if name != Redrive {
			t.Stays = b.leftByClaim(t)
		}
		i := slices.IndexFunc(t.Writes, func(w Write) bool {
			return slices.Contains([]ValueKind{Arg, Given, SQLExpr, Add}, w.Value.Kind) &&
				!slices.ContainsFunc(b.drafts[name], func(d *draft) bool {
					return d.by.verb == "status" && d.column == w.Column && same(d.value, w.Value)
				}) &&
				slices.ContainsFunc(asked, func(text string) bool { return b.spec.Reads(text, w.Column) })
		})
		if i >= 0 {
			t.Doubts = t.Writes[i].Column
			continue
		}
		i = slices.IndexFunc(b.drafts[name], func(d *draft) bool {
			return d.value.Kind == Old && b.claimWrites(d.column) && slices.ContainsFunc(asked, func(text string) bool { return b.spec.Reads(text, d.column) }) &&
				!slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == d.column })
		})
		if i >= 0 {
			t.Doubts = b.drafts[name][i].column
		}
	}
}

// leftByClaim returns a column that keeps a row from being ready and that a step leaves as the claim wrote it;
// nil where there is none.
func (b *binding) leftByClaim(t *Transition) *schema.Column {
	claim := b.spec.Transitions[Claim]
	if claim == nil || t.Delete || b.isAway() || b.movesAway() {
		return nil
	}
	for _, w := range claim.Writes {
		if slices.ContainsFunc(t.Writes, func(own Write) bool { return own.Column == w.Column }) {
			continue
		}
		if slices.ContainsFunc(b.told(Ready), func(ready Test) bool {
			return tellsBy([]Test{ready}, w.Column) && !slices.ContainsFunc(confusable(ready), func(one Test) bool { return !ends(w, []Test{one}) })
		}) {
			return w.Column
		}
	}
	return nil
}

// LeftToRecover reports whether a step that is to make a row ready leaves it as one that somebody has, and its claim as
// it was, so that Recover makes it ready when that has run out.
func (s *Spec) LeftToRecover(t *Transition) bool {
	if t.Stays == nil || s.Lease == nil || s.Lease.ByClaim || s.Transitions[Recover] == nil {
		return false
	}
	v := t.written(cmp.Or(s.Lease.Heartbeat, s.Lease.Column))
	return v.Kind == Old || v.Kind == Now
}

// Lingers reports whether a row that a step is to make ready is held until its claim has run out: the
// step leaves the time of the claim as it is.
func (s *Spec) Lingers(t *Transition) bool {
	l, ready, claim := s.Lease, s.States[Ready], s.Transitions[Claim]
	if l == nil || !l.ByClaim || ready == nil || claim == nil || t == nil || t.Delete {
		return false
	}
	written := func(t *Transition, c *schema.Column) *Write {
		if i := slices.IndexFunc(t.Writes, func(w Write) bool { return w.Column == c }); i >= 0 {
			return &t.Writes[i]
		}
		return nil
	}
	if w := written(t, l.Column); w != nil && (!l.FromStart || w.Value.Kind != Now || w.Value.Shift != nil) || written(claim, l.Column) == nil {
		return false
	}
	hides := func(test Test) bool {
		ways := test.Alternatives()
		return !slices.ContainsFunc(ways, func(x Test) bool {
			if x.Column == l.Column {
				return x.Op == Raw // which nobody understands; a time that a claim wrote is no value of a free row
			}
			w := written(t, x.Column)
			if w == nil {
				w = written(claim, x.Column)
			}
			return w == nil || !ends(*w, []Test{x})
		})
	}
	some := false
	for _, test := range ready.Tests {
		if ways := test.Alternatives(); slices.ContainsFunc(ways, compared) && tellsBy(ways, l.Column) {
			if !hides(test) {
				return false
			}
			some = true
		}
	}
	return some
}

// SetsOff reports whether a step that is to make a row ready writes a time to the column of the claim
// that says when it is.
func (s *Spec) SetsOff(t *Transition) bool {
	l, ready := s.Lease, s.States[Ready]
	if l == nil || !l.ByClaim || l.Column == s.Due || ready == nil || t == nil || t.Delete || !tellsBy(ready.Tests, l.Column) {
		return false
	}
	return slices.ContainsFunc(t.Writes, func(w Write) bool {
		return w.Column == l.Column && w.Value.Kind != Null && w.Value.Kind != Literal && (w.Value.Kind != Now || w.Value.Shift != nil && !w.Value.Shift.Minus)
	})
}

// doubts returns that column of a failure with tries left, nil where there is no such step.
func (b *binding) doubts() *schema.Column {
	if t := b.spec.Transitions[Retry]; t != nil {
		return t.Doubts
	}
	return nil
}

// judgeTold finds out where SQL of qgen:on decides in which state a job is whose claim has run
// out, or a new one that its caller may give to somebody, and warns.
func (b *binding) judgeTold() {
	told := func(name TransitionName, state StateName) *schema.Column {
		t := b.spec.Transitions[name]
		if t == nil || t.Delete {
			return nil
		}
		for _, w := range t.Writes {
			by := slices.ContainsFunc(b.steady(state), func(t Test) bool {
				return t.Column == w.Column && t.Op != NotNull && t.Op != Raw
			})
			if by && (w.Value.Kind == SQLExpr || w.Value.Kind == Given) && slices.ContainsFunc(b.drafts[name], func(d *draft) bool { return d.column == w.Column && d.by.verb == "on" }) {
				return w.Column
			}
		}
		return nil
	}
	state, by := b.leftIn(Retry, Ready)
	c := told(Retry, Ready)
	if t := b.spec.Transitions[Retry]; by != nil || c != nil || b.doubts() != nil || t != nil && t.Stays != nil {
		b.spec.Notes = slices.DeleteFunc(b.spec.Notes, func(n string) bool { return n == NeverFails || strings.HasPrefix(n, noEnd) })
	}
	switch t := b.spec.Transitions[Retry]; {
	case t != nil && b.spec.LeftToRecover(t):
		b.spec.Retried = Running
		b.note("Fail leaves a job running until its claim has run out, since qgen:on retry leaves column %q as it is; then Recover makes it ready", t.Stays.Name)
	case t != nil && t.Stays != nil:
		b.spec.Retried = Running
		b.note("warning: Fail leaves a job running and not ready, since qgen:on retry leaves column %q as it is", t.Stays.Name)
	case by != nil:
		b.spec.Retried = state
		b.note("Fail makes a job %s and not ready, since qgen:on retry writes column %q", state, by.column.Name)
	case c == nil && b.doubts() != nil:
		b.spec.Retried = MaybeReady
		b.note("whether Fail puts the job back is up to what it leaves in column %q, which a condition on ready rows reads, and not known here", b.doubts().Name)
	case c != nil:
		b.spec.Retried = MaybeReady
		b.note("whether Fail puts the job back is up to what qgen:on retry writes to column %q, and not known here", c.Name)
	}
	ready, failed := told(Recover, Ready), told(GiveUp, Failed)
	if ready != nil && b.spec.Recovered == "" {
		b.spec.Recovered = MaybeReady
		text := "warning: whether Recover makes a job ready is up to what qgen:on recover writes to column %q, and not known here"
		if b.spec.Recoveries == nil {
			text += "; qgen:attempts on=recover max=3 lets a job fail that was recovered so often, and expired=fail each whose claim has run out"
		}
		b.note(text, ready.Name)
	}
	if t := b.spec.Transitions[Enqueue]; t != nil {
		for _, w := range t.Writes {
			alone := func(op Op) func(Test) bool {
				return func(t Test) bool { return t.Column == w.Column && t.Op == op && len(t.Or) == 0 }
			}
			if w.Value.Kind == Given && slices.ContainsFunc(b.spec.Held, alone(NotNull)) && slices.ContainsFunc(b.steady(Ready), alone(IsNull)) {
				b.note("warning: a new job to which the caller of Enqueue gives a value in column %q is one that somebody has: no claim takes it", w.Column.Name)
			}
		}
	}
	if failed != nil {
		b.spec.GivenUp = MaybeFailed
		b.note("warning: whether a job fails that Recover gives up is up to what qgen:on giveup writes to column %q, and not known here", failed.Name)
	}
}

// moving are the verbs of columns that may change with every change of a row: what they
// say of the column holds of what it is then.
var moving = []string{"ignore", "payload", "on", "order", "priority"}

// keep finds the columns that the database must not change by itself.
func (b *binding) keep() {
	written := slices.ContainsFunc(TransitionNames[1:], func(name TransitionName) bool {
		t := b.spec.Transitions[name]
		return t != nil && (len(t.Writes) > 0 || name == Update)
	})
	if !written {
		return // rows are added and deleted, and never changed
	}
	for _, c := range b.spec.Columns {
		told := slices.ContainsFunc(c.Roles, func(r Role) bool { return !slices.Contains(moving, r.Verb) })
		switch {
		case !told, !c.OnUpdate && !c.MayUpdate:
			continue
		case c.OnUpdate:
			b.note("the database would write column %q at every change of a row; a step that does not write it sets it to what it is", c.Name)
		default:
			b.note("whether the database writes column %q at every change of a row is a setting of the server (explicit_defaults_for_timestamp); a step that does not write it sets it to what it is", c.Name)
		}
		b.spec.Kept = append(b.spec.Kept, c.Column)
	}
}

// deletes reports whether a transition removes the row.
func (b *binding) deletes(name TransitionName) bool {
	return name == Purge || name == Finish && b.spec.DoneDeletes || (name == Fail || name == GiveUp) && b.spec.FailedDeletes
}

// leaves returns the tests of the rows that a transition is for, and whether
// the table can express the transition at all.
func (b *binding) leaves(name TransitionName) ([]Test, bool) {
	if b.spec.Log != nil {
		return nil, name == Enqueue
	}
	k := &b.claims
	fails := b.keepsFailed || b.spec.FailedDeletes
	// The rows that the holder has.
	held := b.steady(Ready)
	if b.runs() {
		held = b.steady(Running)
	}
	resets := (len(b.spec.Expired) > 0 || b.spec.AtStart) && b.runs() && !k.byClaim
	switch name {
	case Enqueue:
		return nil, true
	case Update:
		return nil, b.spec.Upsert != nil && !b.isAway()
	case Claim:
		return b.spec.States[Ready].Tests, true
	case Start:
		return b.phase(held, Claimed), b.twoSteps
	case Finish, Retry, Release:
		return held, true
	case Fail:
		return held, fails
	case Renew:
		return held, k.lease != nil || k.heartbeat != nil || k.claimed != nil && k.timeout != nil
	case Recover:
		if b.givesUp() {
			for _, c := range b.spec.RecoverLimits() {
				held = append(slices.Clip(held), c.left(c.lost())...)
			}
		}
		return held, resets && !k.failsExpired()
	case GiveUp:
		switch {
		case k.failsExpired():
			return held, resets && fails
		case b.givesUpBeside():
			return held, fails
		case b.givesUp():
			var spent []Test
			for _, c := range b.spec.RecoverLimits() {
				spent = eitherHolds(spent, c.spent(c.lost()))
			}
			held = append(slices.Clip(held), spent...)
		}
		return held, b.givesUp()
	case Redrive:
		return b.all(Failed), b.keepsFailed && b.core[Failed] != nil && !b.spec.NoRedrive
	}
	return b.purged()
}

// givesUp reports whether a row whose claim has run out fails when it has no
// attempts or no recoveries left. Where such a row is simply claimed again, that is so only if
// the claim was counted, and if the count alone does not tell a failed row.
func (b *binding) givesUp() bool {
	if len(b.spec.RecoverLimits()) == 0 || !b.keepsFailed && !b.spec.FailedDeletes || !b.runs() || b.runOut() == nil && b.spec.Expired == nil && !b.spec.AtStart {
		return false
	}
	a := b.spec.Attempts
	return !b.claims.byClaim || a != nil && a.OnClaim && !b.failedByLimit
}

// eitherHolds returns the tests that hold together where all of one list hold, or all of the
// other; of none nothing is said.
func eitherHolds(x, y []Test) []Test {
	if len(x) == 0 {
		return y
	}
	var both []Test
	for _, one := range x {
		for _, other := range y {
			both = append(both, union(one, other))
		}
	}
	return both
}

// outcomeTo reports whether an outcome of qgen.yaml leads to a state.
func (b *binding) outcomeTo(state StateName) bool {
	return slices.ContainsFunc(b.config.Outcomes, func(o config.Outcome) bool { return o.To.Value == string(state) })
}

// givesUpBeside reports whether the claims of a side table run out and count the tries.
func (b *binding) givesUpBeside() bool {
	return !b.runs() && b.spec.Side != nil && b.spec.Side.Attempts > 0
}

// lost is what a crash adds to a count before its limit is looked at.
func (a *Attempts) lost() int {
	if a.OnClaim || a.OnRecover {
		return 0
	}
	return 1
}

// write adds a write that a role wants.
func (b *binding) write(by *role, c *schema.Column, v Value, steps ...TransitionName) {
	for _, name := range steps {
		b.drafts[name] = append(b.drafts[name], &draft{column: c, value: v, by: by})
	}
}

// writeStatus adds what the status columns write: entering a state writes all
// its columns.
func (b *binding) writeStatus() {
	for _, s := range b.status {
		for _, name := range TransitionNames {
			state, ok := b.enters(name)
			if state == Failed && b.failedByLimit {
				state = Ready
			}
			v, has := s.writes[state]
			if state == Ready && b.staysReady(s, name) {
				continue
			}
			if !ok || !has || v.Kind == Old || name == Enqueue && gives(s.column, v) {
				continue
			}
			if name == Enqueue && v.Kind == SQLExpr && b.overRow(v.Text) {
				b.note("a new job gives column %q itself, since %s is over a row that is there", s.column.Name, v.Text)
				v = Value{Kind: Given, Name: s.column.Name}
			}
			b.write(s.role, s.column, v, name)
		}
		if s.start != nil && s.start.Kind != Old {
			b.write(s.role, s.column, *s.start, Start)
		}
	}
}

// overRow reports whether an expression names the row or a column of it.
func (b *binding) overRow(text string) bool {
	return strings.Contains(text, "{row}") || slices.ContainsFunc(b.table.Columns, func(c *schema.Column) bool {
		return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}), func(word string) bool { return strings.EqualFold(word, c.Name) })
	})
}

// staysReady reports whether a column still is what it was when the row was
// ready: a claim does not touch it.
func (b *binding) staysReady(s *statusColumn, name TransitionName) bool {
	switch name {
	case Retry, Release, Recover:
		return !s.touches()
	case Finish:
		return b.spec.Cycle != nil && !s.touches()
	case Fail, GiveUp:
		return b.failedByLimit && !s.touches()
	case Redrive:
		// Such a row is ready but for its attempts: free, or of a claim that has run out.
		return b.failedByLimit && (!b.claims.byClaim || !s.touches())
	}
	return false
}

// writeClaims adds what the roles of a claim write.
func (b *binding) writeClaims() {
	k := &b.claims
	now := Value{Kind: Now}
	delayed := Value{Kind: Now, Shift: &Shift{Arg: ArgDelay}}
	failed := delayed
	if x := b.spec.Backoff.Expr; x != nil {
		failed = Value{Kind: Now, Shift: &Shift{Wait: x}}
	}
	if k.due != nil && !k.visible {
		if k.wait != nil { // which is added when the row is compared
			delayed, failed = Value{Kind: Now, Shift: k.wait.shift(true)}, now
		}
		b.write(k.due, k.due.column, failed, Retry)
		b.write(k.due, k.due.column, delayed, Release)
	}
	if c := b.spec.Cycle; c != nil {
		b.write(k.dueRole(), c.Due, c.Next, Finish)
	}
	if k.lease != nil && k.length != nil {
		c := k.lease.column
		b.write(k.lease, c, Value{Kind: Now, Shift: k.length.shift(false)}, Claim, Renew)
		switch {
		case k.visible:
			b.write(k.lease, c, failed, Retry)
			b.write(k.lease, c, delayed, Release)
			b.write(k.lease, c, now, Redrive)
			if b.failedByLimit {
				b.write(k.lease, c, now, Fail)
			}
		default:
			b.freed(k.lease, Retry, Release, Finish, Fail, Recover, GiveUp, Redrive, Enqueue)
		}
	}
	// Rows that have failed are told by being free where nothing else tells.
	leaving := b.withNext(Retry, Release, Recover, Redrive, Enqueue)
	if b.failedByLimit {
		leaving = append(leaving, Fail, GiveUp)
	}
	if k.claimed != nil {
		b.write(k.claimed, k.claimed.column, now, Claim)
		if k.timeout != nil && k.heartbeat == nil {
			b.write(k.claimed, k.claimed.column, now, Renew)
		}
		b.freed(k.claimed, leaving...)
	}
	if k.heartbeat != nil {
		b.write(k.heartbeat, k.heartbeat.column, now, Claim, Renew)
	}
	if k.worker != nil {
		b.write(k.worker, k.worker.column, Value{Kind: WorkerID}, Claim)
		b.freed(k.worker, leaving...)
	}
	if k.workers != nil {
		b.write(k.workers, k.workers.column, Value{Kind: WorkerID}, Claim)
	}
	if k.token != nil {
		b.write(k.token, k.token.column, Value{Kind: Token}, Claim)
		b.freed(k.token, leaving...)
	}
}

// leaveDue lets a job that is given back be as due as it was where a wait of its own is
// added to the time. Only a claim that has moved that time leaves nothing to come back to.
func (b *binding) leaveDue() {
	k := &b.claims
	if k.wait == nil || b.drafted(Claim, k.due.column) {
		return
	}
	b.drafts[Release] = slices.DeleteFunc(b.drafts[Release], func(d *draft) bool { return d.by == k.due })
}

// dueAtFirst lets a new job be due at present where nobody says when, and the column has
// nothing that means so: null, a default that tells the time, or one of always=. A constant
// default of a column that is due and lease in one would be the time since which it waits.
func (b *binding) dueAtFirst() {
	r := b.claims.dueRole()
	if r == nil {
		return
	}
	c := r.column
	written := slices.ContainsFunc(b.drafts[Enqueue], func(d *draft) bool { return d.column == c })
	if written || c.Generated || c.Always || slices.Contains(b.spec.Key, c) {
		return
	}
	first, fixed := constant(c.Default)
	said := func(name string) bool {
		w := r.word(name)
		return w != nil && slices.ContainsFunc(w.values, func(l literal) bool { return l.text == first })
	}
	if c.NotNull && !c.HasDefault || b.claims.visible && c.HasDefault && fixed && !said("always") && !said("never") {
		b.write(r, c, Value{Kind: Now}, Enqueue)
		b.spec.FirstDue = c
	}
}

// freed writes what a column of a claim holds while nobody has the row.
func (b *binding) freed(r *role, steps ...TransitionName) {
	free := b.claims.free[r]
	if len(free) == 0 {
		return
	}
	for _, name := range steps {
		filled := gives(r.column, free[0]) || free[0].Kind == Now && r.column.HasDefault
		if name != Enqueue || !filled {
			b.write(r, r.column, free[0], name)
		}
	}
}

// writeCounters adds what attempts and version write.
func (b *binding) writeCounters() {
	if v := b.one("version"); v != nil {
		b.write(v, v.column, counted(1), b.versioned(v)...)
		if v.value("on") == "ready" && !v.column.NotNull && !b.movesAway() {
			b.write(v, v.column, counted(0), Claim) // a null becomes a count by which the claim can be told
		}
		b.starts(v, number(0))
	}
	if a := b.spec.Attempts; a != nil {
		r := b.counter(false)
		switch {
		case a.OnClaim:
			b.write(r, a.Column, counted(a.step()), Claim)
			b.write(r, a.Column, counted(-a.step()), Release)
		case a.Down:
			b.write(r, a.Column, counted(a.step()), b.atFailure(Retry)...)
		default:
			b.write(r, a.Column, counted(a.step()), b.atFailure(Retry, Fail)...)
		}
		if a.Down {
			b.write(r, a.Column, number(0), b.atFailure(Fail)...)
			if a.Max == 0 && a.MaxOf == nil && b.keepsFailed && !b.saidOf(Redrive, r) {
				b.note("Redrive gives a failed row one more try, since nothing says how many it had")
			}
		}
		b.beginsAnew(r, a)
	}
	if a := b.spec.Recoveries; a != nil {
		r := b.counter(true)
		b.write(r, a.Column, counted(a.step()), Recover)
		if a.Down && a.Max == 0 && a.MaxOf == nil {
			b.note("column %q is never set back, since nothing says how often a job may be recovered", a.Column.Name)
			return
		}
		b.beginsAnew(r, a)
	}
}

// versioned returns the steps at which a version counts.
func (b *binding) versioned(v *role) []TransitionName {
	switch v.value("on") {
	case string(Claim):
		return []TransitionName{Claim}
	case string(Ready):
		return b.withNext(Retry, Release, Recover, Redrive)
	}
	return slices.DeleteFunc(slices.Clone(TransitionNames), func(name TransitionName) bool {
		return name == Enqueue || name == Update || name == Purge
	})
}

// step is what is added to a count at a time.
func (a *Attempts) step() int {
	if a.Down {
		return -1
	}
	return 1
}

// counted adds to a count.
func counted(n int) Value { return Value{Kind: Add, By: n} }

// atFailure adds to steps that end a try the same of Recover: a claim that has run out is a
// try that failed, unless recoveries are counted for themselves.
func (b *binding) atFailure(steps ...TransitionName) []TransitionName {
	if b.spec.Recoveries != nil {
		return steps
	}
	for _, step := range steps {
		steps = append(steps, map[TransitionName]TransitionName{Retry: Recover, Fail: GiveUp}[step])
	}
	return steps
}

// beginsAnew lets a count begin as that of a new job where a job is redriven, or done and due
// again; and where the table does not say how a new one begins.
func (b *binding) beginsAnew(r *role, a *Attempts) {
	full := a.Full()
	b.write(r, a.Column, full, b.withNext(Redrive)...)
	switch {
	case a.Down && a.Max > 0 && a.MustStart():
		b.write(r, a.Column, full, Enqueue)
	case a.Down && a.MaxOf != nil && b.callerSays(a.Column) && b.callerSays(a.MaxOf.Column):
		b.write(r, a.Column, full, Enqueue)
	case (!a.Down || a.Max > 0) && !a.NullMeansUnlimited:
		b.starts(r, full)
	}
}

// callerSays reports whether whoever adds a row has to say what a column holds, since nothing else does.
func (b *binding) callerSays(c *schema.Column) bool {
	return c.NotNull && !c.HasDefault && !c.Generated && !slices.ContainsFunc(b.roles["on"], func(r *role) bool { return r.column == c })
}

// starts writes the first value of a counter where the table does not: other programs may compare it, and
// nothing compares with null.
func (b *binding) starts(r *role, v Value) {
	if !r.column.Generated && (!r.column.HasDefault || r.column.DefaultNull()) {
		b.write(r, r.column, v, Enqueue)
	}
}

// writeOutcomes adds what enqueued, finished, result and error write.
func (b *binding) writeOutcomes() {
	now, null := Value{Kind: Now}, Value{Kind: Null}
	if r := b.one("enqueued"); r != nil {
		b.write(r, r.column, now, Enqueue)
	}
	if r := b.finished; r != nil {
		b.write(r, r.column, now, Finish)
		if b.spec.DoneDeletes && !r.has("also_failed") && b.config.DoneMove == nil {
			b.note("column %q is never written, because finished rows are deleted", r.column.Name)
		}
		if r.has("also_failed") {
			b.write(r, r.column, now, Fail, GiveUp)
			if !r.column.NotNull {
				b.write(r, r.column, null, Redrive)
			}
		}
	}
	if r := b.one("result"); r != nil {
		b.write(r, r.column, Value{Kind: Arg, Name: ArgResult}, Finish)
		b.clears(r, Retry, Release, Recover, Redrive)
	}
	if r := b.one("error"); r != nil {
		steps := []TransitionName{Retry, Fail}
		if b.readyWithout(r.column) {
			steps = steps[1:]
			b.note("column %q gets the error of a job that fails for good alone, since a row with one is not ready", r.column.Name)
		}
		b.write(r, r.column, Value{Kind: Arg, Name: ArgError}, steps...)
		if !b.drafted(GiveUp, r.column) {
			b.write(r, r.column, b.spec.Error.gaveUp(), GiveUp)
		}
		b.clears(r, b.withNext(Release, Redrive)...)
		if r.column.NotNull && !r.column.HasDefault && r.column.Type.Class == schema.Text && !r.column.Type.Array {
			b.write(r, r.column, Value{Kind: Literal}, Enqueue) // no error yet
		}
	}
}

// readyWithout reports whether a row is ready only while a column holds none of the texts
// that an error may be.
func (b *binding) readyWithout(c *schema.Column) bool {
	return slices.ContainsFunc(b.status, func(s *statusColumn) bool {
		return s.column == c && (s.tests[Ready].Op == IsNull || s.tests[Ready].Op == In)
	})
}

// drafted reports whether something wants to write a column in a step.
func (b *binding) drafted(name TransitionName, c *schema.Column) bool {
	return slices.ContainsFunc(b.drafts[name], func(d *draft) bool { return d.column == c })
}

// clears empties a column in steps that make the row ready again.
func (b *binding) clears(r *role, steps ...TransitionName) {
	w := r.word("clear")
	switch {
	case w == nil:
	case r.column.NotNull:
		b.errorf(w.pos, "column %q is NOT NULL and cannot be cleared", r.column.Name).WithHint("Leave clear= out, or let the column be null.")
	default:
		b.write(r, r.column, Value{Kind: Null}, steps...)
	}
}

// resolve returns the writes of a transition in table order, each column once.
func (b *binding) resolve(name TransitionName) []Write {
	winners := map[*schema.Column]*draft{}
	var notes []string
	said := func(c *schema.Column) bool {
		return slices.ContainsFunc(b.drafts[name], func(d *draft) bool { return d.column == c && d.by.verb == "on" })
	}
	for _, d := range b.drafts[name] {
		first := winners[d.column]
		switch {
		case first == nil, same(first.value, d.value) && d.by.verb == "on":
			winners[d.column] = d
		case same(first.value, d.value):
		case d.by.verb == "on" && first.by.verb == "on":
			if b.spec.Outcome(name) == nil { // else it is said of the step that the outcome follows
				b.errorf(d.by.pos, "column %q is written twice %s, here and at %s", d.column.Name, b.when(name), first.by.pos).
					WithHint("Keep one of them.")
			}
		case d.by.verb == "on":
			winners[d.column] = d
			switch own, role := quote(d.value, d.column), quote(first.value, first.column); {
			case d.value.Kind == Old:
				notes = append(notes, fmt.Sprintf("on %s, column %q stays as it is, as qgen:on says, and does not get %s as qgen:%s would",
					name, d.column.Name, role, first.by.verb))
			case own != role:
				notes = append(notes, fmt.Sprintf("on %s, column %q gets %s as qgen:on says, not %s as qgen:%s would",
					name, d.column.Name, own, role, first.by.verb))
			}
		case said(d.column): // which of the two does not matter
		default:
			if o := b.spec.Outcome(name); o != nil && b.disagree(leading[o.To], d.column) {
				continue // which is said of that step
			}
			i := slices.IndexFunc(b.clashes, func(c *clash) bool { return c.first.by == first.by && c.second.by == d.by })
			if i < 0 {
				i, b.clashes = len(b.clashes), append(b.clashes, &clash{first: first, second: d})
			}
			b.clashes[i].steps = append(b.clashes[i].steps, name)
		}
	}
	var writes []Write
	for _, c := range b.table.Columns {
		d := winners[c]
		switch {
		case d != nil && d.value.Kind == Old && name == Update:
			b.spec.Upsert.Stays = append(b.spec.Upsert.Stays, c)
		case d == nil || d.value.Kind == Old:
		case c.Generated || c.Always:
			b.generated(d.by, nil)
		case d.value.Kind == Token && d.by.verb != "status" && d.by.verb != "token":
			b.errorf(d.value.Pos, "a token is what a claim leaves in the column of qgen:token").
				WithHint("Mark the column so. For a random value of another kind write an expression of the database.")
		default:
			writes = append(writes, Write{Column: c, Value: d.value})
		}
	}
	if name == Renew && len(writes) == 0 && len(notes) > 0 {
		notes = []string{"there is no Extend: qgen:on renew leaves nothing to write, so a claim lasts as long as it does from its beginning"}
	}
	for _, note := range notes {
		b.note("%s", note)
	}
	idle := func(w Write) bool {
		return winners[w.Column].by.verb == "status" && w.Value.Kind == Literal && slices.ContainsFunc(b.spec.Transitions[name].Tests, func(t Test) bool {
			return t.Column == w.Column && t.Op == In && len(t.Or) == 0 && len(t.Values) == 1 && t.Values[0].Same(w.Value)
		})
	}
	if rest := slices.DeleteFunc(slices.Clone(writes), idle); len(rest) > 0 && b.spec.Strategy != "pop" {
		writes = rest // what the step has tested is there already, and may be part of a key
	}
	return writes
}

// clash is two roles that write one column differently, and the steps in which they do.
type clash struct {
	first, second *draft // of the first step
	steps         []TransitionName
}

// tellClashes complains of each two such roles once, unless one of them has no place beside the other.
func (b *binding) tellClashes() {
	for _, c := range b.clashes {
		if b.misplaced == nil || c.first.by != b.misplaced && c.second.by != b.misplaced {
			b.tellClash(c)
		}
	}
}

func (b *binding) tellClash(c *clash) {
	first, second := c.first, c.second
	var when, on, mends []string
	for _, name := range c.steps {
		o := b.spec.Outcome(name)
		if o == nil {
			when, on = append(when, doing[name]), append(on, string(name))
			continue
		}
		mends = append(mends, fmt.Sprintf("outcomes: {%s: {to: %s, set: {%s: …}}}", o.Name, o.To, second.column.Name))
	}
	var text []string
	if len(when) > 0 {
		text = append(text, "when a job is "+strings.Join(when, " or "))
		mends = slices.Insert(mends, 0, "qgen:on "+strings.Join(on, ",")+" set …")
	}
	for _, name := range c.steps[len(when):] {
		text = append(text, b.when(name))
	}
	b.errorf(second.by.pos, "%s and %s at %s write different values %s", mark+second.by.verb, mark+first.by.verb, first.by.pos, strings.Join(text, " and ")).
		WithHint("%s writes %s, %s writes %s. Leave one of them out, or say which value is meant: %s.",
			mark+second.by.verb, quote(second.value, second.column), mark+first.by.verb, quote(first.value, first.column), strings.Join(mends, "; "))
}

// keepsKey complains about writes that would give a row another key. A status and a count
// may be part of it, and of several columns a time: what follows a claim is told the key as
// the claim leaves it, and what gives a job back may change it. Where such a role writes the
// column in a step, qgen:on may say another value there.
func (b *binding) keepsKey() {
	may := []string{"status", "attempts"}
	if len(b.spec.Key) > 1 {
		may = append(may, "due", "visible", "lease", "claimed", "heartbeat")
	}
	said := map[*role]bool{}
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil || name == Enqueue {
			continue
		}
		for _, d := range b.drafts[name] {
			writes := func(w Write) bool { return w.Column == d.column && same(w.Value, d.value) }
			if said[d.by] || slices.Contains(may, d.by.verb) || !slices.Contains(b.spec.Key, d.column) || !slices.ContainsFunc(t.Writes, writes) {
				continue
			}
			if d.by.verb == "on" && slices.ContainsFunc(b.drafts[name], func(other *draft) bool {
				return other.column == d.column && slices.Contains(may, other.by.verb)
			}) {
				continue
			}
			said[d.by] = true
			b.errorf(d.by.pos, "column %q is part of the key, and qgen:%s would write to it", d.column.Name, d.by.verb).
				WithHint("The row would not be found by its key any more. Mark another column, or say by qgen:id which columns name a row.")
		}
	}
}

// judgeWrites complains where a step leaves a column as it was although its value
// tells the state that the row should be in from then on.
func (b *binding) judgeWrites() {
	said := map[*word]bool{}
	for _, name := range TransitionNames {
		t := b.spec.Transitions[name]
		state, _ := b.enters(name)
		if name == Start {
			state = Running
		}
		// No operation does that to rows that a claim ends, and rows that it did not write are ready as they were.
		again := (name == Retry || name == Release) && (b.spec.Strategy == "pop" || !b.runs())
		if t == nil || again || t.Delete || len(t.Tests) == 0 || state == Failed && b.failedByLimit || state == Running && !b.runs() {
			continue
		}
		for _, s := range b.status {
			test, w := s.enteredBy(name, state)
			if w == nil || said[w] || slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == s.column }) {
				continue
			}
			// Who says that the row keeps its value knows it.
			kept := slices.ContainsFunc(b.drafts[name], func(d *draft) bool {
				return d.column == s.column && d.by.verb == "on" && d.value.Kind == Old
			})
			if kept && (name == Retry || name == Release) && b.runOut() != nil && !b.claims.byClaim {
				continue // it stays with the worker until the claim has run out, and Recover makes it ready
			}
			left := func(u Test) bool {
				// What SQL tests is not what another step has written, as far as can be known.
				unknown := test.Op == Raw && !kept && slices.ContainsFunc(TransitionNames, func(other TransitionName) bool {
					step := b.spec.Transitions[other]
					return other != Enqueue && step != nil && slices.ContainsFunc(step.Writes, func(w Write) bool { return w.Column == s.column })
				})
				return u.Column == s.column && (unknown || excludesAll(u, test))
			}
			overwrites := name == Claim && b.claims.byClaim && s.phases != nil && left(s.phases[Running])
			if overwrites || slices.ContainsFunc(t.Tests, left) {
				said[w] = true
				b.errorf(w.pos, "nothing writes %s when a job is %s", w.pos.Text(), doing[name]).
					WithHint("With ~ a value is only tested. Say %s=… to test and write it, %s:=… for what is written, or qgen:on %s set … for this step.", w.name, w.name, name)
				continue
			}
			early := func(u Test) bool { return u.Column == s.column && excludesAll(u, test) }
			if b.twoSteps && slices.Contains([]TransitionName{Finish, Retry, Release, Fail, Recover, GiveUp}, name) && slices.ContainsFunc(b.told(Claimed), early) {
				said[w] = true
				b.errorf(w.pos, "nothing writes %s when a job is %s that has not begun, and of a claimed row %s", w.pos.Text(), doing[name], conjunction(b.told(Claimed)[slices.IndexFunc(b.told(Claimed), early):][:1])).
					WithHint("What is done to a running job can be done to a claimed one as well. Say %s=… to test and write it, or qgen:on %s set … for this step.", w.name, name)
			}
		}
	}
}

// judgeLeft complains where a step surely leaves a row in the state from which it takes it: what tells
// that state stays as it was. A claim that runs out by itself is another matter where the job is to
// be ready, and so is a column that the user says to leave alone.
func (b *binding) judgeLeft() {
	if !b.runs() || b.isAway() || b.movesAway() {
		return
	}
	said := map[*word]bool{}
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		from, to := Running, Ready
		switch o := b.spec.Outcome(name); {
		case o != nil:
			to = o.To
		case name == Redrive:
			from = Failed
		case slices.Contains([]TransitionName{Finish, Retry, Release, Fail, Recover, GiveUp}, name):
			to, _ = b.enters(name)
		default:
			continue
		}
		tests := b.told(from)
		if t == nil || t.Delete || t.KeepsRow() || len(tests) == 0 || to == Ready && len(b.steady(from)) < len(b.all(from)) ||
			slices.ContainsFunc(tests, func(u Test) bool { return !b.stays(t, u) }) ||
			slices.ContainsFunc(b.drafts[name], func(d *draft) bool { return d.by.verb == "on" && d.value.Kind == Old && tellsBy(tests, d.column) }) {
			continue
		}
		s, w := b.tellingWord(from, tests)
		if w == nil || said[w] {
			continue
		}
		said[w] = true
		state := map[StateName]string{Running: "somebody has", Failed: "failed"}[from]
		if o := b.spec.Outcome(name); o != nil {
			b.errorf(w.pos, "nothing ends %s at outcome %q: its row stays one that %s", w.pos.Text(), o.Name, state).
				WithHint("Say what the row has there then, outcomes: {%s: {set: {%s: …}}}, or %s:=… at that column.", o.Name, s.column.Name, to)
			continue
		}
		b.errorf(w.pos, "nothing ends %s when a job is %s: its row stays one that %s", w.pos.Text(), doing[name], state).
			WithHint("What is written at other columns does not end it. Say at column %q what the row has there then: %s:=…, or qgen:on %s set … for this step. Or let %s leave such rows out.", s.column.Name, to, name, w.pos.Text())
	}
}

// judgeHeld complains where qgen:on has a claim, or what keeps it, leave a row that surely is not one that
// somebody has: nothing that settles the job would find it, and others might. And where it has another step leave
// a row that surely is not what the step makes of it; a value with which a job does not become ready may be meant,
// and is told.
func (b *binding) judgeHeld() {
	if !b.runs() || b.isAway() || b.movesAway() {
		return
	}
	off := func(name TransitionName, tests []Test) (*draft, []Test) {
		for _, d := range b.drafts[name] {
			i := slices.IndexFunc(tests, func(t Test) bool { return misses(Write{Column: d.column, Value: d.value}, t) })
			if d.by.verb == "on" && i >= 0 {
				return d, tests[i : i+1]
			}
		}
		return nil, nil
	}
	for _, name := range []TransitionName{Claim, Start, Renew} {
		tests := b.all(Running)
		switch {
		case name == Claim && b.twoSteps:
			tests = b.told(Claimed)
		case name == Start:
			tests = b.told(Running)
		}
		for _, d := range b.drafts[name] {
			timed := func(t Test) bool { return t.Column == d.column }
			if d.by.verb == "on" && d.value.Kind == Null && (name != Claim || b.spec.Transitions[Start].written(d.column).Kind == Old) &&
				slices.ContainsFunc(b.runOut(), timed) {
				b.errorf(d.by.pos, "behind this, a claim never runs out: its time is that of column %q", d.column.Name).
					WithHint("The job of a worker that dies would stay with it. Leave %s out of this qgen:on.", name)
			}
		}
		if d, of := off(name, tests); d != nil {
			b.errorf(d.by.pos, "behind this, nobody has the row: what tells that somebody has it is %s", conjunction(of)).
				WithHint("What settles the job would not find it. Leave %s out of this qgen:on, or write a value of running rows.", name)
		}
	}
	if t := b.spec.Transitions[Claim]; t != nil && b.claims.byClaim {
		for _, w := range t.Writes {
			i := slices.IndexFunc(b.all(Ready), func(t Test) bool { return ends(w, []Test{t}) })
			by := slices.IndexFunc(b.drafts[Claim], func(d *draft) bool { return d.column == w.Column })
			if i >= 0 && by >= 0 {
				b.errorf(b.drafts[Claim][by].by.pos, "a job whose claim has run out is not claimed again: a ready row is told by %s, which the claim has changed", conjunction(b.all(Ready)[i:i+1])).
					WithHint("Say expired=recover at column %q, and Recover makes such rows ready, or let nothing but that column tell.", either(b.claims.lease, b.claims.claimed, b.claims.heartbeat).column.Name)
			}
		}
	}
	for _, name := range []TransitionName{Enqueue, Finish, Retry, Release, Fail, Recover, Redrive} {
		to, _ := b.enters(name)
		tests := b.steady(to)
		if d, of := off(name, tests); d != nil && (to != Ready || !slices.Contains([]ValueKind{Literal, Null}, d.value.Kind)) {
			b.errorf(d.by.pos, "behind this, the row is not %s: what tells that it is %s is %s", to, to, conjunction(of)).
				WithHint("Leave %s out of this qgen:on, or write a value of %s rows.", name, to)
		}
	}
}

// misses reports whether a row surely fails a test behind a write. Beyond what ends tells, the present is no
// constant and not later than itself.
func misses(w Write, t Test) bool {
	if ends(w, []Test{t}) {
		return true
	}
	if w.Value.Kind != Now || t.Column != w.Column || len(t.Or) > 0 {
		return false
	}
	switch t.Op {
	case In:
		return !slices.ContainsFunc(t.Values, func(v Value) bool { return v.Kind != Literal })
	case Greater:
		shift := w.Value.Shift
		return t.Values[0].Kind == Now && t.Values[0].Shift == nil && (shift == nil || shift.Minus)
	}
	return false
}

// stays reports whether a row that satisfied a test surely does behind a step.
func (b *binding) stays(t *Transition, test Test) bool {
	changes := func(x Test) bool {
		return slices.ContainsFunc(t.Writes, func(w Write) bool {
			return x.Column == w.Column || x.Op == Raw && b.spec.Reads(x.SQL, w.Column) ||
				slices.ContainsFunc(x.Values, func(v Value) bool { return v.Other == w.Column })
		})
	}
	meant := func(x Test) bool {
		return slices.ContainsFunc(t.Writes, func(w Write) bool {
			return x.Column == w.Column && (w.Value.Kind == Literal || w.Value.Kind == Null) && meets(w.Value, x)
		})
	}
	ways := test.Alternatives()
	return slices.ContainsFunc(ways, meant) || !slices.ContainsFunc(ways, changes)
}

// tellsBy reports whether one of the tests looks at a column.
func tellsBy(tests []Test, c *schema.Column) bool {
	return slices.ContainsFunc(tests, func(t Test) bool {
		return slices.ContainsFunc(t.Alternatives(), func(x Test) bool { return x.Column == c })
	})
}

// tellingWord returns the first word of a status column by which tests tell a state, nil where none does.
func (b *binding) tellingWord(state StateName, tests []Test) (*statusColumn, *word) {
	for _, s := range b.status {
		if w := s.word(string(state)); w != nil && slices.ContainsFunc(tests, func(t Test) bool { return sameTest(t, s.tests[state]) }) {
			return s, w
		}
	}
	return nil, nil
}

// judgeKept complains where old leaves nothing to write in a step: the operation could not
// tell that it has happened, and there would be none. An outcome may write other tables
// alone, and a job that nobody marks is ready again by itself.
func (b *binding) judgeKept() {
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil || !t.KeepsRow() || name == Enqueue || name == Update || name == Claim || name == Renew || name == Purge {
			continue
		}
		o := b.spec.Outcome(name)
		again := name == Retry || name == Release || o != nil && o.To == Ready
		pos, said := b.leavesOld(name)
		if o != nil && len(t.With) > 0 || again && !b.runs() {
			if said && o == nil {
				b.note("nothing is left to write when a job is %s, so there is no operation for that: its row is ready again by itself", doing[name])
			}
			continue
		}
		if !said && o == nil {
			continue
		}
		if o != nil {
			if !said {
				pos = o.Pos
			}
			b.errorf(pos, "outcome %q has nothing to write", o.Name).
				WithHint("The job would stay running. Set a column to another value than old, or say under also: what %s writes to other tables.", o.Name)
			continue
		}
		e := b.errorf(pos, "nothing is left to write when a job is %s", doing[name])
		switch {
		case again && b.waits(name, pos):
			unsettled := ""
			if b.one("visible") != nil { // what a claim writes there ends by itself
				unsettled = "; a job that nobody settles is ready when the time of its claim is over"
			}
			e.WithHint("Leave it out, and the job is ready when its wait is over: %s.", map[TransitionName]string{
				Retry: "what backoff says behind the failure" + unsettled, Release: "the delay that Requeue takes, at once where that is 0",
			}[name])
		case again:
			e.WithHint("Leave it out, and the job is ready at once. On a column of qgen:claimed, on %s set now lets it wait for as long as a claim is good.", name)
		case name == Finish, name == Fail:
			e.WithHint("The job would stay as it is. Write a value, or say what becomes of the row: %s=delete on qgen:queue.", enters[name])
		default:
			e.WithHint("The row would stay as it is. Leave old out, or write a value.")
		}
	}
}

// waits reports whether old at a place stands at a column that holds when a job is due, which the step
// would write.
func (b *binding) waits(name TransitionName, at source.Pos) bool {
	return slices.ContainsFunc(b.drafts[name], func(d *draft) bool {
		return (d.by.verb == "visible" || d.by.verb == "due") && slices.ContainsFunc(b.drafts[name], func(old *draft) bool {
			return old.by.pos == at && old.column == d.column
		})
	})
}

// judgePopped complains where a claim that ends its jobs keeps their rows and writes nothing, or
// would write the result of a job that has not run. What on done takes from the caller Claim takes.
func (b *binding) judgePopped() {
	t := b.spec.Transitions[Finish]
	if b.spec.Strategy != "pop" || t == nil {
		return
	}
	const ends = "strategy=pop ends a job when it is claimed"
	for _, c := range t.With {
		if c.Takes(ArgResult) {
			b.errorf(c.Pos, ends+", and there is no result that table %q could be given", c.QualifiedName()).
				WithHint("Write arg:answer in its place: then Claim takes the value, the same one for all its jobs.")
		}
	}
	if b.spec.DoneDeletes {
		return
	}
	switch {
	case len(t.Writes) == 0 && b.keepsReady && len(t.With) > 0:
		b.errorf(b.queue.word("done").pos, "rows stay as they are, and nothing of them is written when a job is claimed").
			WithHint("Say at a column what Claim writes, as on done set now. Where what also: writes is all, let a column that no other step changes have what it holds, as SQL in double quotes: on done set \"name\".")
	case len(t.Writes) == 0 && b.keepsReady:
		b.errorf(b.queue.word("done").pos, "rows stay as they are, and nothing is written when a job is claimed").
			WithHint("Say at a column what Claim writes, as on done set arg:priority or on done set now. Or say done=delete, if the rows are to go.")
	case b.keepsReady && !b.endsReady(t) && b.config.Gen.Go != nil && b.config.Gen.Go.Worker.Value:
		b.note("warning: a claim leaves rows ready (done=keep), so that Work is given the same ones without end: who changes rows calls Claim")
	case len(t.Writes) == 0:
		b.errorf(b.queue.word("strategy").pos, ends+" and its row stays, but nothing is written then").
			WithHint("Say which value of the status means done, qgen:status done=…, or say done=delete.")
	}
	for _, d := range b.drafts[Finish] {
		if d.value.Kind == Arg {
			b.errorf(d.by.pos, ends+", and column %q has no result then", d.column.Name).
				WithHint("Leave strategy=pop out, so that Complete ends the job and takes the result. Or say on done set arg:answer: then Claim takes the value, the same one for all its jobs.")
		}
	}
}

// KeepsPopped reports whether a claim of strategy pop writes that its jobs are done. Otherwise
// it deletes their rows.
func (s *Spec) KeepsPopped() bool {
	t := s.Transitions[Finish]
	return !s.DoneDeletes && t != nil && len(t.Writes) > 0
}

// leavesOld returns the place of the old that leaves a column as it is in a step.
func (b *binding) leavesOld(name TransitionName) (source.Pos, bool) {
	for _, d := range b.drafts[name] {
		if d.value.Kind == Old {
			return d.by.pos, true
		}
	}
	state, _ := b.enters(name)
	for _, s := range b.status {
		if v, ok := s.writes[state]; ok && v.Kind == Old {
			return v.Pos, true
		}
	}
	return source.Pos{}, false
}

// disagree reports whether roles want different values of a column in a step, and nothing says
// which is meant.
func (b *binding) disagree(name TransitionName, c *schema.Column) bool {
	var first *draft
	differ := false
	for _, d := range b.drafts[name] {
		switch {
		case d.column != c:
		case d.by.verb == "on":
			return false
		case first == nil:
			first = d
		default:
			differ = differ || !same(first.value, d.value)
		}
	}
	return differ
}

// when says at which transition something happens to a job.
func (b *binding) when(name TransitionName) string {
	if o := b.spec.Outcome(name); o != nil {
		return fmt.Sprintf("at outcome %q", o.Name)
	}
	return "when a job is " + doing[name]
}

// doing says what happens to a job in a transition.
var doing = map[TransitionName]string{
	Enqueue: "enqueued", Update: "enqueued again", Claim: "claimed", Start: "started", Finish: "done", Retry: "tried again", Release: "given back",
	Fail: "failed", Renew: "renewed", Recover: "recovered", GiveUp: "given up", Redrive: "redriven",
}

// generated complains about a column that would have to be written and cannot
// be.
func (b *binding) generated(r *role, w *word) {
	pos, hint := r.pos, "Leave the role out, or mark a column that can be written."
	if w != nil {
		pos = w.pos
		hint = "Say " + w.name + "~" + strings.Join(textsOf(w.values), "|") + " to test the column without writing it."
	}
	b.errorf(pos, "column %q is filled by the database and cannot be written, as qgen:%s would", r.column.Name, r.verb).
		WithHint("%s", hint)
}

func textsOf(values []literal) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.pos.Text())
	}
	return texts
}
