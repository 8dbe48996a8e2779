package plan

// This file writes the statements over jobs that were claimed, and over rows
// that nobody holds.

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// buildSettles plans Start, Complete, Fail, Requeue and Extend.
func (b *builder) buildSettles() {
	if b.side != nil {
		b.leaseSettles()
		return
	}
	if b.pkg.Strategy == "pop" {
		return // a taken row is gone
	}
	p := b.pkg
	held := b.heldState()
	finished := held + " to done"
	if b.spec.Cycle != nil {
		finished = b.givenBack(queue.Finish).head(held) + ", due when its next time comes"
	}
	p.Start = b.settle(queue.Start, "start", "Start", "claimed to running")
	p.Complete = b.settle(queue.Finish, "complete", "Complete", finished)
	if b.spec.Attempts.Ends() {
		p.Fail = b.settle(queue.Fail, "fail", "Fail", held+" to failed")
	}
	if b.spec.Attempts != nil {
		p.Retry = b.settle(queue.Retry, "retry", "Fail", b.givenBack(queue.Retry).head(held)+", "+b.triesUsed(queue.Retry))
	}
	if p.Fail == nil && p.Retry == nil {
		p.Retry = b.settle(queue.Retry, "retry", "Fail", b.givenBack(queue.Retry).head(held))
	}
	p.Requeue = b.settle(queue.Release, "requeue", "Requeue", b.givenBack(queue.Release).head(held)+", "+b.triesUsed(queue.Release))
	for _, o := range b.spec.Outcomes {
		method := exported(o.Name)
		moves := held + " to " + string(o.To)
		if o.To == queue.Ready {
			moves = b.givenBack(o.Transition.Name).head(held)
		}
		s := b.settle(o.Transition.Name, "outcome_"+snake(o.Name), method, moves)
		if s == nil { // a row is free when the transaction ends
			p.Notes = append(p.Notes, fmt.Sprintf("there is no %s: it has nothing to write, and the row of a job is ready again by itself", method))
			continue
		}
		op := strings.ReplaceAll(snake(o.Name), "_", " ")
		p.Outcomes = append(p.Outcomes, &Outcome{Settle: s, Method: method, Op: op, To: o.To})
	}
	if !p.Hold {
		stays := held + " stays " + held
		if p.Start != nil {
			stays = held + " stays so"
		}
		lease := ", its lease begins anew"
		switch c, v := b.extended(); {
		case c == nil:
		case v == nil:
			lease = ", and so does its lease"
		default:
			lease = ", its lease is measured by what this writes to " + plainText(c.Name)
		}
		p.Extend = b.settle(queue.Renew, "extend", "Extend", stays+lease)
	}
}

// checkTries says where a failed job is not tried again, and complains about a wait that
// no try has.
func (b *builder) checkTries(errs *source.ErrorList) {
	p, from := b.pkg, b.spec.Backoff
	const leave = "Leave backoff: out"
	switch {
	case p.Retry != nil:
		if a := b.spec.Attempts; a != nil && a.Down && a.Max == 0 && p.Backoff.Expr == nil && p.Backoff.Factor != 1 && b.waits() {
			p.Notes = append(p.Notes, fmt.Sprintf("warning: the wait after a failure does not grow: column %q counts down, and nothing tells how many tries there were at first; max=<number> does, and backoff: {factor: 1} says that it stays the same", a.Column.Name))
		}
		if a := p.Attempts; a == nil || a.Down && a.Max == 0 {
			p.Backoff.Factor = 1 // nobody knows how often a job has failed
		}
		if from.Pos.IsValid() && !b.waits() {
			errs.Errorf(from.Pos, "backoff: is the wait before the next try, and no column of %q could hold it", p.Table).
				WithHint("%s, or mark a column for the time of the next try with qgen:due.", leave)
		}
		return
	case p.Fail != nil:
		back := "qgen:attempts has it tried again"
		if p.Requeue != nil {
			back = "Requeue puts a job back (qgen:attempts)"
		}
		p.Notes = append(p.Notes, "no column counts tries, so Fail is for good at the first error; "+back)
	default:
		p.Notes = slices.DeleteFunc(p.Notes, func(n string) bool { return n == queue.NeverFails })
	}
	switch {
	case !from.Pos.IsValid():
	case p.Fail == nil:
		errs.Errorf(from.Pos, "backoff: is the wait before the next try, and nothing is written when a job fails").WithHint(leave + ".")
	default:
		errs.Errorf(from.Pos, "backoff: is the wait before the next try, and Fail is for good at the first error").
			WithHint("%s, or mark a column that counts tries with qgen:attempts.", leave)
	}
}

// freeGroups marks what lets other jobs of a group, or of the queue, be claimed. A job that is ready again as
// soon as it has failed would else be tried again and again without a pause.
func (b *builder) freeGroups() {
	p := b.pkg
	if b.spec.Group == nil && b.spec.Gate == nil || p.Complete == nil {
		return
	}
	p.Complete.Frees = true
	if p.Fail != nil {
		p.Fail.Frees = true
	}
	if p.Retry != nil {
		p.Retry.Frees = b.waits()
	}
}

// waits reports whether a failed job waits for its next try.
func (b *builder) waits() bool {
	if b.spec.Backoff.Expr != nil {
		return b.spec.Due != nil
	}
	delayed := func(s *Statement) bool { return s.Has(ArgDelay) }
	r := b.pkg.Retry
	return delayed(r.Statement) || slices.ContainsFunc(r.With, delayed)
}

// heldState is what people call the state of a job that somebody has.
func (b *builder) heldState() string {
	if b.spec.Transitions[queue.Start] != nil {
		return "claimed or running"
	}
	return "running"
}

// takenState is the state to which a claim leads.
func (b *builder) takenState() queue.StateName {
	if b.spec.Transitions[queue.Start] != nil {
		return queue.Claimed
	}
	return queue.Running
}

// settle plans one operation over claimed jobs; nil when the table cannot
// express it.
func (b *builder) settle(name queue.TransitionName, file, op, moves string) *Settle {
	t := b.spec.Transitions[name]
	if t == nil || t.KeepsRow() {
		if t != nil && len(t.With) > 0 && b.spec.Outcome(name) != nil {
			return b.settleBeside(name, t, file, op)
		}
		return nil // nothing to write: a held row is free when the transaction ends
	}
	if b.isOne(t) {
		if st := b.settleHeld(name, t, file, op, moves, true); st != nil {
			return st
		}
	}
	return b.settleHeld(name, t, file, op, moves, false)
}

// settleHeld plans an operation that writes the rows of claimed jobs; one says that what it writes to
// other tables is to be part of the same statement, and where that cannot be it returns nil.
func (b *builder) settleHeld(name queue.TransitionName, t *queue.Transition, file, op, moves string, one bool) *Settle {
	s, v := b.newScope(), b.base(op)
	st := &Settle{Unchanged: !t.Changes(b.leaving(t)), Partial: !b.atOnce(name)}
	held := b.compared()
	st.Given = b.givens(t, name == queue.Finish)
	if t.Takes(queue.ArgResult) || slices.ContainsFunc(t.With, func(c *queue.Companion) bool { return c.Takes(queue.ArgResult) }) {
		st.Result = b.resultField()
	}
	for _, w := range t.Writes {
		if sh := w.Value.Shift; sh != nil && sh.Arg == queue.ArgDelay && name == queue.Release {
			st.Delay = true
		}
		if sh := w.Value.Shift; sh != nil && sh.Arg == queue.ArgLease {
			st.LeaseArg = true
		}
	}
	beside := len(t.With) > 0 && !one
	if to := movesTo(t); to != nil && name == queue.Release {
		st.Delay = slices.ContainsFunc(to.Set, func(v queue.CompanionValue) bool {
			return v.Value.Shift != nil && v.Value.Shift.Arg == queue.ArgDelay
		})
	}
	moved := b.movesKey(name)
	// What names the row changes, and what named it is what has to come back.
	was := b.asItWas()
	s.settle.joined, s.settle.small = moved && was == "", b.rows != nil
	extra := b.carries(t)
	for _, p := range st.Given {
		if p.Member != "" && (b.foreign[p.Field] == nil || b.asksItself(t, p)) {
			extra = append(extra, p.Field)
		}
	}
	if one {
		extra = b.extraOfAll(name, t, extra)
	}
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, held, extra, "_held")
	s.settle.delay = name == queue.Release && b.rows == nil // a claim ends when it is given back
	tests := b.leaving(t)
	if beside {
		tests = locked(tests)
	}
	v.Where = s.tests(tests) // as the claim asked
	s.settle.late = b.late(name)
	verb := s.act(&v, t)
	if name == queue.Renew || name == queue.Start {
		st.Refreshes = b.refreshed(t)
	}
	// Whether all that was locked is written is told by what comes back.
	returns := b.canReturnFresh() && (!beside || !s.settle.joined || len(st.Refreshes) > 0)
	switch {
	case beside, !returns && !b.batches("forall"):
		st.Lock = b.lockClaimed(t, held, file, op)
		st.Alone = b.locksTable()
	case !returns:
		v.Counts = s.arg(Arg{Kind: ArgCounts})
	}
	fresh := slices.Concat(b.pkg.Key, st.Refreshes)
	var rows []*Field
	switch {
	case returns:
		rows = fresh
		s.moved = moved && was != ""
		s.returns(&v, verb, rows)
	case len(st.Refreshes) > 0:
		st.Read = b.readByKey(file+"_read", op, fresh, file+": reads back what it wrote")
	}
	if s.settle.joined && len(rows) > 0 {
		if b.batches("json") {
			b.complain(b.spec.Table.Column(b.pkg.Key[0].Column), "Name rows by columns that never change: mark them with qgen:id.",
				"the key changes when a job is settled, and %s cannot return what it was", b.d.Title)
		}
		for i := range b.pkg.Key {
			v.Returning[i] = v.Batch.Names[i]
		}
	}
	template, finds := verb+"_batch", ""
	if one {
		if !s.writeBeside(&v, t, rows, held) {
			return nil
		}
		template, moves, finds = template+"_beside", moves+besideText(t), b.findsBeside(t)
	}
	st.Statement = s.statement(file, template, v, rows,
		file+": "+moves, b.fenceHead(), "locks: the rows it writes, until commit", b.keyHead(v)+finds)
	if beside {
		b.reserve()
		st.With, st.Behind = b.companions(name, file, op, held)
	}
	b.docSettle(st, name)
	return st
}

// settleBeside plans an outcome that leaves the rows of jobs as they are, and writes other
// tables.
func (b *builder) settleBeside(name queue.TransitionName, t *queue.Transition, file, op string) *Settle {
	held := b.compared()
	st := &Settle{Unchanged: true, Given: b.givens(t, false)}
	st.Lock = b.lockClaimed(t, held, file, op)
	b.reserve()
	st.With, _ = b.companions(name, file, op, held)
	b.docSettle(st, name)
	return st
}

// locked returns those of the tests of a row that hold as long as it is locked: what SQL of
// the user's looks at may be what the step writes to another table.
func locked(tests []queue.Test) []queue.Test {
	var raw func(queue.Test) bool
	raw = func(t queue.Test) bool { return t.Op == queue.Raw || slices.ContainsFunc(t.Or, raw) }
	return slices.DeleteFunc(slices.Clone(tests), raw)
}

// late reports whether a step is taken at the end of the transaction in which its job was
// claimed, so that what it writes is later than when that began.
func (b *builder) late(name queue.TransitionName) bool {
	switch name {
	case "", queue.Enqueue, queue.Update, queue.Claim, queue.Recover, queue.GiveUp, queue.Redrive, queue.Purge:
		return false
	}
	return b.pkg.Hold
}

// compared returns the fields of the fence that do not name the row as well.
func (b *builder) compared() []*Field {
	return slices.DeleteFunc(slices.Clone(b.pkg.Fence), func(f *Field) bool { return slices.Contains(b.pkg.Key, f) })
}

// takesGiven reports whether a transition writes an argument of the user's.
func (b *builder) takesGiven(name queue.TransitionName) bool {
	t := b.spec.Transitions[name]
	return t != nil && slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return b.spec.IsSaid(w.Value) })
}

// givens plans the arguments of the user's that a transition writes; perJob says
// that each job has its own.
func (b *builder) givens(t *queue.Transition, perJob bool) []*Param {
	var params []*Param
	add := func(p *Param, name string) {
		if p.Name == queue.ArgTimeout && b.asksTimeout() {
			p.Name += "Value"
		}
		if perJob { // others take the same argument for all jobs
			of := *p
			of.Member = exported(name)
			if methods[of.Member] || of.Member == "Job" || of.Member == "Result" {
				of.Member += "Value"
			}
			p = &of
		}
		if !slices.ContainsFunc(params, func(have *Param) bool { return have.Field == p.Field }) {
			params = append(params, p)
		}
	}
	for _, w := range t.Writes {
		for _, p := range b.spec.Asks(w.Value) {
			add(b.askedAs(p), p.Name)
		}
		switch {
		case w.Value.Kind != queue.Given:
		case perJob && b.spec.Cycle.Asks(w.Value):
			params = append(params, b.nextTime(b.fields[w.Column]))
		default:
			add(b.argumentOf(w.Column, w.Value.Name), w.Value.Name)
		}
	}
	for _, c := range t.With {
		for _, v := range c.Givens() {
			if v.Of == nil { // else it is written above
				add(b.argumentBeside(c, v), v.Value.Name)
			}
		}
		for _, p := range b.spec.AskedBeside(c) {
			add(b.askedAs(p), p.Name)
		}
	}
	return params
}

// asksItself reports whether an argument is part of what a step writes to its row.
func (b *builder) asksItself(t *queue.Transition, p *Param) bool {
	return slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
		return slices.ContainsFunc(b.spec.Asks(w.Value), func(asked *queue.Param) bool { return b.askedAs(asked).Field == p.Field })
	})
}

// argumentOf returns the argument of the user's that is written to a column; there is
// one of each name.
func (b *builder) argumentOf(c *schema.Column, name string) *Param {
	if b.arguments[name] == nil {
		f := b.fields[c]
		b.arguments[name] = given(name, f, plainText(f.Column))
	}
	return b.arguments[name]
}

// argumentBeside returns that which is written to a column of another table. The column
// may be called like one of the queue's, so its field has a name that none of these has.
func (b *builder) argumentBeside(c *queue.Companion, v queue.CompanionValue) *Param {
	name := v.Value.Name
	if b.arguments[name] == nil {
		f := b.field(v.Column)
		f.Name = exported(name)
		for slices.ContainsFunc(b.pkg.Fields, func(have *Field) bool { return have.Name == f.Name }) {
			f.Name += "Value"
		}
		b.foreign[f] = v.Column.Column
		b.arguments[name] = given(name, f, plainText(c.QualifiedName()+"."+f.Column))
	}
	return b.arguments[name]
}

// given is an argument of the user's for a field.
func given(name string, f *Field, to string) *Param {
	p := &Param{Name: argument(name), GoType: f.GoType, Field: f, Doc: "what is written to " + to}
	if f.Null && f.GoType != "[]byte" && f.GoType != "json.RawMessage" {
		p.GoType = "*" + p.GoType
	}
	return p
}

// nextTime plans the argument that says when a job is due again. The column may be
// compared with what the claim left in it as well, so it has a field of its own.
func (b *builder) nextTime(f *Field) *Param {
	next := *f
	next.Name, next.Null, next.Fence = exported(queue.ArgNext), b.spec.Cycle.Ends, false
	for slices.ContainsFunc(b.pkg.Fields, func(have *Field) bool { return have.Name == next.Name }) {
		next.Name += "Due"
	}
	p := &Param{Name: queue.ArgNext, GoType: f.GoType, Field: &next, Member: next.Name, Next: true}
	if next.Null {
		p.GoType = "*" + p.GoType
	}
	return p
}

// updatesReturn reports whether everything that settles jobs is an UPDATE that
// returns their keys.
func (b *builder) updatesReturn() bool {
	return b.can(dialect.ReturningUpdate) && !slices.ContainsFunc(b.spec.Steps(), func(name queue.TransitionName) bool {
		t := b.spec.Transitions[name]
		return t != nil && t.Delete && name != queue.Purge
	})
}

// refreshed returns the fields of Job that are other in a claim that is renewed or begun:
// all that Start writes, and of a renewed claim those by which the job is settled.
func (b *builder) refreshed(t *queue.Transition) []*Field {
	var fields []*Field
	for _, w := range t.Writes {
		if f := b.fields[w.Column]; slices.Contains(b.pkg.Fields, f) && (t.Name == queue.Start || t.Name == queue.Renew && b.roles[w.Column] != nil && b.roles[w.Column].Payload || slices.Contains(b.pkg.Fence, f) || b.pkg.Lease != nil && b.pkg.Lease.Field == f) {
			fields = append(fields, f)
		}
	}
	return fields
}

// lockClaimed locks the rows of claimed jobs and reads their keys, where a
// statement that writes cannot return what it wrote. Where no row can be locked it
// only reads them.
func (b *builder) lockClaimed(t *queue.Transition, held []*Field, file, op string) *Statement {
	s, v := b.newScope(), b.base(op)
	s.listed = true
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, held, nil, "_held")
	v.Where = s.tests(b.leaving(t))
	v.Returning, v.Stays = s.read(b.pkg.Key), !t.Delete
	name, _ := b.lockFile(file)
	if b.locksTable() {
		when := ", where " + file + ".sql changed nothing"
		if len(t.With) > 0 {
			when = ", before other tables are written"
		}
		return s.statement(name, b.readsBatch(), v, b.pkg.Key,
			file+": reads whether the claim is still the caller's"+when, b.fenceHead(), "locks: none", b.keyHead(v))
	}
	then := ", which " + file + ".sql then writes"
	if t.KeepsRow() {
		then = ""
	}
	return s.statement(name, "lock_batch", v, b.pkg.Key,
		file+": locks the rows of jobs whose claims are still theirs"+then, b.fenceHead(),
		"locks: the rows it returns, until commit", b.keyHead(v))
}

// lockFile names the statement that locks the rows of an operation before they are written,
// and says what it did; where no row can be locked it reads them.
func (b *builder) lockFile(file string) (name, did string) {
	if b.locksTable() {
		return file + "_held", "read"
	}
	return file + "_lock", "locked"
}

// readByKey reads rows of a batch.
func (b *builder) readByKey(file, op string, fields []*Field, head string) *Statement {
	s, v := b.newScope(), b.base(op)
	s.listed = true
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_held")
	v.Returning = s.read(fields)
	return s.statement(file, b.readsBatch(), v, fields, head, "locks: none", b.keyHead(values{}))
}

// readsBatch is the template that reads the rows of a batch.
func (b *builder) readsBatch() string {
	const template = "select_batch"
	if !b.d.Has(template) {
		return "lock_batch"
	}
	return template
}

// fenceHead says in a head comment what keeps a late worker out.
func (b *builder) fenceHead() string {
	var names []string
	for _, f := range b.pkg.Fence {
		names = append(names, plainText(f.Column))
	}
	if len(names) == 0 {
		return ""
	}
	return "fence: " + strings.Join(names, ", ") + " as the claim left it"
}

// keyHead says in a head comment how the rows of a batch are found.
func (b *builder) keyHead(v values) string {
	text := "index: the key"
	switch {
	case b.unkeyed() && b.declines("key", "") != "":
		text = "index: none; it reads the whole table"
	case b.unkeyed():
		text = "index: that of the key, which schema/indexes.sql makes; without it, none"
	}
	if b.d.KeyOnly != "" && len(v.Batch.Held)+len(v.Where) > 0 {
		text += "; " + b.d.KeyOnly
	}
	return text
}

// buildSweeps plans Recover, Redrive and Purge.
func (b *builder) buildSweeps() {
	if b.side != nil {
		b.leaseSweeps()
		return
	}
	p := b.pkg
	// Where claims that ran out are claimed again, only rows without tries left
	// are swept.
	t, g := b.spec.Transitions[queue.Recover], b.spec.Transitions[queue.GiveUp]
	if (t != nil || g != nil) && p.Strategy != "pop" && !p.Hold && b.hasRunning() {
		a := b.spec.Attempts
		p.Recover = &Sweep{AtStart: b.spec.AtStart, Own: b.spec.RecoversOwn(), Ready: t != nil && b.spec.Recovered == "" && (g == nil || a.Limited() && a.Max > 1 && a.MaxOf == nil && !b.spec.Recoveries.Limited())}
		from, spent, when := b.heldState()+" with an expired claim", " and no tries left", ""
		switch {
		case b.spec.RecoversOwn():
			from, spent, when = b.heldState()+" by this worker", " with no tries left", ", when it starts"
		case b.spec.AtStart:
			from, spent, when = b.heldState(), " with no tries left", ", when the program starts"
		}
		if t != nil {
			b.addSweep(p.Recover, t, b.spec.Expired, "recover", "Recover", from+" to "+b.recovered()+when)
		}
		if g != nil {
			switch {
			case b.spec.ExpiredFails:
				spent = ""
			case b.spec.Recoveries.Limited():
				spent = ", " + b.without() + ","
			}
			b.addSweep(p.Recover, g, b.spec.Expired, "recover_failed", "Recover", from+spent+" to "+b.givenUp()+when)
		}
		for _, step := range []*queue.Transition{t, g} {
			if step != nil {
				p.Recover.Given = union(p.Recover.Given, b.givens(step, false))
			}
		}
		if l := b.spec.Liveness; l != nil && l.Listed {
			p.Recover.Alive = b.aliveParam()
			p.Recover.Given = append([]*Param{p.Recover.Alive}, p.Recover.Given...)
		}
		b.docSweep(p.Recover, "Recover")
	}
	if t := b.spec.Transitions[queue.Redrive]; t != nil && p.Strategy != "pop" {
		p.Redrive = &Sweep{Given: b.givens(t, false)}
		b.addSweep(p.Redrive, t, nil, "redrive", "Redrive", "failed to ready")
		b.docSweep(p.Redrive, "Redrive")
	}
	b.buildPurges()
}

// addSweep adds the step of a transition to a sweep.
func (b *builder) addSweep(to *Sweep, t *queue.Transition, more []queue.Test, file, op, moves string) {
	step := SweepStep{}
	if len(t.With) > 0 {
		step = b.sweepLocked(t, more, file, op, moves)
	} else {
		step.Statement = b.sweep(t, more, file, op, moves)
	}
	to.Steps = append(to.Steps, step)
}

// union returns the parameters of both lists, each once.
func union(a, b []*Param) []*Param {
	for _, p := range b {
		if !slices.Contains(a, p) {
			a = append(a, p)
		}
	}
	return a
}

// sweep writes a statement over a limited number of rows that nobody holds.
func (b *builder) sweep(t *queue.Transition, more []queue.Test, file, op, moves string) *Statement {
	return b.sweepIf(t, more, file, op, moves, func(*scope) []string { return nil })
}

// sweepIf is sweep where further conditions hold.
func (b *builder) sweepIf(t *queue.Transition, more []queue.Test, file, op, moves string, further func(*scope) []string) *Statement {
	s, v := b.sweepScope(t), b.base(op)
	v.Where = append(s.tests(slices.Concat(t.Tests, more)), further(s)...)
	s.name(&v, b.sweepIndex(op, t, more))
	s.limit(&v, 0)
	suffix := s.pick(&v)
	verb, rows := s.act(&v, t), b.counted()
	s.returns(&v, verb, rows)
	s.taken(&v)
	locks, keeps := "locks: the rows it writes, until commit; passes over rows that are locked", b.keepsPassed(t, more)
	if keeps {
		locks = withPassed(locks) // a query within an UPDATE or DELETE locks what it reads: to find them first spares nothing
	}
	st := s.statement(file, verb+"_some"+suffix, v, rows, file+": "+moves, locks, b.sweepHead(t, more))
	st.keeps = keeps
	return st
}

// keepsPassed reports whether a sweep that locks the rows it looks for would keep others locked as well: those that an
// index leads to and a test refuses, which the server does not unlock. Rows whose tries are spent are few.
func (b *builder) keepsPassed(t *queue.Transition, more []queue.Test) bool {
	tests := slices.Concat(t.Tests, more)
	switch {
	case len(b.spec.Key) == 0:
		return false
	case slices.ContainsFunc(tests, b.joins):
		return true
	case !b.can(dialect.KeepsRefused):
		return false
	}
	if a := b.spec.Attempts; a != nil {
		tests = slices.DeleteFunc(tests, func(t queue.Test) bool { return t.Column == a.Column })
	}
	by, _, rest := b.ledTo(tests)
	if w, ok := b.expiredIndex(); ok && len(more) > 0 && b.findsExpired(w) && len(rest) > 0 {
		by = b.made(w)
		_, rest = b.leads(by, tests)
	}
	return by == nil || len(rest) > 0
}

// sweepScope is where a sweep's expressions take their arguments from.
func (b *builder) sweepScope(t *queue.Transition) *scope {
	s := b.newScope()
	if t.Name == queue.Purge {
		s.asks = b.purgeAsks
	}
	return s
}

// sweepHead says in a head comment how a sweep finds its rows.
func (b *builder) sweepHead(t *queue.Transition, more []queue.Test) string {
	all := b.spec.AtStart && (t.Name == queue.Recover || t.Name == queue.GiveUp) // that somebody has
	w, ok := b.expiredIndex()
	if b.spec.RecoversOwn() && all {
		w, ok = b.ownIndex() // which is asked for nowhere: Recover runs once
	}
	switch {
	case t.Name == queue.Purge && b.spec.PurgeIf != nil:
		return "index: whichever finds the rows of purge_if"
	case t.Name == queue.Redrive:
		return "index: " + b.foundBy(t.Tests, more)
	case t.Name == queue.Purge:
		return "index: " + b.purgedBy(t.Tests, more)
	case ok && (len(more) > 0 || all) && b.findsExpired(w):
		return b.usesHead(w)
	}
	by, text, rest := b.ledTo(slices.Concat(t.Tests, more))
	switch {
	case by == nil && ok && len(more) > 0 && len(w.predicate()) == 0:
		text = noIndex + "; one on " + b.indexText(w) + " would find them"
	case by == nil:
		text = noIndex
	case len(rest) > 0 && b.heldLead(by) != nil:
		text += b.findsBy(by)
	case len(rest) > 0:
		text += andOthers
	}
	return "index: " + text
}

// findsExpired reports whether the index that is wanted for Recover is one of the table or is advised: a side table
// is advised none.
func (b *builder) findsExpired(w wanted) bool {
	return b.declines(w.kind, "") == "" && b.rows == nil || b.serving(w) != nil
}

// sweepIndex returns the index of the table that Recover names, which is that of its head; nil where it names none.
func (b *builder) sweepIndex(op string, t *queue.Transition, more []queue.Test) *schema.Index {
	if !b.can(dialect.NamedIndex) || op != "Recover" || b.spec.RecoversOwn() && b.spec.AtStart {
		return nil
	}
	tests := slices.Concat(t.Tests, more)
	by, _, rest := b.ledTo(tests)
	if w, ok := b.expiredIndex(); ok && len(more) > 0 && b.findsExpired(w) {
		by = b.namedIndex(w)
	} else if !slices.Contains(b.spec.Table.Indexes, by) || len(rest) > 0 && b.heldLead(by) == nil {
		return nil
	}
	// A name of an index that leads nowhere may be refused.
	asks := func(t queue.Test) bool {
		c := by.Columns[0].Column
		return c != nil && t.Op != queue.Dead && (t.Column == c || t.Op == queue.Raw && b.spec.Reads(t.SQL, c))
	}
	if by == nil || by.Auto || by.Where == "" && !slices.ContainsFunc(tests, asks) {
		return nil
	}
	return by
}

// purgeOverdue deletes jobs that nobody took in time.
const purgeOverdue = "purge_overdue"

// buildPurges plans what removes rows.
func (b *builder) buildPurges() {
	for _, states := range b.spec.Purges {
		to := &Purge{Sweep: &Sweep{}, Method: "Purge", Op: "purge", Of: states}
		if len(b.spec.Purges) > 1 {
			to.Method += exported(string(states[0]))
			to.Op += " " + string(states[0])
		}
		switch {
		case b.spec.PurgeIf != nil:
			b.purgeAsked(to)
		case b.removesRows():
			b.purgeRows(to)
		}
		if b.side != nil && slices.Contains(states, queue.Failed) {
			b.purgeFailed(to)
		}
		if len(to.Steps) > 0 {
			b.docPurge(to)
			b.pkg.Purges = append(b.pkg.Purges, to)
		}
	}
}

// removesRows reports whether rows stay whose state or time tells that their jobs have ended.
func (b *builder) removesRows() bool {
	switch {
	case b.spec.Transitions[queue.Purge] == nil:
		return false
	case b.side != nil:
		return !b.held.Keep
	}
	return b.pkg.Strategy != "pop" || b.spec.Expires != nil || b.popped() != nil
}

// purgeRows has an operation remove finished rows that are old enough, and with those that are
// done ready ones whose time is over.
func (b *builder) purgeRows(to *Purge) {
	p := b.pkg
	for _, name := range to.Of {
		if !b.tells(name) || p.Strategy == "pop" && (b.popped() == nil || name == queue.Failed) || b.awaited(name) {
			continue
		}
		t := &queue.Transition{Name: queue.Purge, Tests: b.stateTests(name), Delete: true, With: b.spec.Transitions[queue.Purge].With}
		var old []queue.Test // once: the clock may be set back before what was found so is deleted
		if age := b.purgeAge(name); age != nil {
			old = append(old, olderThan(age))
			to.OlderThan = true
		}
		b.addSweep(to.Sweep, t, old, "purge_"+string(name), to.Method, string(name)+" to gone")
	}
	if c := b.spec.Expires; c != nil && slices.Contains(to.Of, queue.Done) && !b.awaited(queue.Ready) {
		t := &queue.Transition{Name: queue.Purge, Tests: b.spec.Waiting, Delete: true, With: b.spec.Transitions[queue.Purge].With}
		to.OlderThan = true
		b.addSweep(to.Sweep, t, []queue.Test{olderThan(c)}, purgeOverdue, to.Method, "ready and past its time to gone")
	}
}

// purgeAsked has an operation remove the rows that purge_if tells.
func (b *builder) purgeAsked(to *Purge) {
	to.Asked, b.purgeAsks = true, map[string]*Param{}
	for _, p := range b.spec.PurgeIf.Params {
		gp := b.askedParam(p)
		to.Given, b.purgeAsks[p.Name] = append(to.Given, gp), gp
	}
	b.addSweep(to.Sweep, b.spec.Transitions[queue.Purge], nil, "purge", to.Method, "rows for which purge_if holds, to gone")
}

// checkPurges complains where rows are to be removed by their state, and those of one state
// alone stay.
func (b *builder) checkPurges(errs *source.ErrorList) {
	pos := b.spec.PurgePos
	if !pos.IsValid() {
		return
	}
	failed := b.tells(queue.Failed) && b.spec.Cycle == nil || b.side != nil && b.keepsFailures()
	done := b.tells(queue.Done) || b.spec.Expires != nil
	if b.pkg.Strategy == "pop" {
		failed, done = false, b.popped() != nil || b.spec.Expires != nil
	}
	const leave = "Leave it out"
	switch what := pos.Text(); {
	case b.spec.Cycle != nil && b.tells(queue.Failed):
		hint := leave + "."
		if b.pkg.Redrive != nil {
			hint = leave + ": Redrive makes them ready again."
		}
		errs.Errorf(pos, "%s tells rows that are done from rows that failed, but the jobs of a cycle stay when they have failed", what).WithHint("%s", hint)
	case !done && !failed:
		errs.Errorf(pos, "%s tells which rows Purge removes, and no row of this queue stays when its job has ended", what).WithHint(leave + ".")
	case !failed:
		errs.Errorf(pos, "%s tells rows that are done from rows that failed, but none of this queue stays that failed", what).WithHint(leave + ": Purge removes rows that are done.")
	case !done:
		errs.Errorf(pos, "%s tells rows that are done from rows that failed, but none of this queue stays that is done", what).WithHint(leave + ": Purge removes rows that failed.")
	}
}

// awaited reports whether rows in a state may be jobs of another queue over the table yet,
// so that Purge has to leave them, and notes it.
func (b *builder) awaited(name queue.StateName) bool {
	other, there := b.spec.Awaits(name)
	if other == nil {
		return false
	}
	text := fmt.Sprintf("no Purge here deletes rows that are %s: the queue %s over the same table may have them as %s. Delete rows where the last queue is done with them (done=delete there, or its Purge)",
		name, plainText(other.Name), there)
	if ended := b.spec.EndedEverywhere(name); len(ended) > 0 {
		s := b.newScope()
		text += fmt.Sprintf(", or by a statement of your own where all are: DELETE FROM %s WHERE %s", b.d.Qualified(b.spec.Table.Schema, b.spec.Table.Name), s.readable(s.tests(ended), " AND "))
	}
	if !slices.Contains(b.pkg.Notes, text) {
		b.pkg.Notes = append(b.pkg.Notes, text)
	}
	return true
}

// noteSwitches tells where a step writes what ready rows have to a column of which no other state says anything:
// what somebody switched off meanwhile would be on again.
func (b *builder) noteSwitches() {
	asked := map[*schema.Column]int{}
	for _, state := range b.spec.States {
		of := map[*schema.Column]bool{}
		for _, t := range state.Tests {
			for _, alternative := range t.Alternatives() {
				of[alternative.Column] = true
			}
		}
		for c := range of {
			asked[c]++
		}
	}
	for _, t := range b.stateTests(queue.Ready) {
		c := t.Column
		if c == nil || asked[c] > 1 || len(b.spec.States) < 2 || !equality(t) || t.Values[0].Kind != queue.Literal {
			continue
		}
		var steps []string
		for _, name := range []queue.TransitionName{queue.Retry, queue.Release, queue.Recover, queue.Redrive} {
			step := b.spec.Transitions[name]
			if step != nil && slices.ContainsFunc(step.Writes, func(w queue.Write) bool {
				return w.Column == c && w.Value.Kind == queue.Literal && w.Value.Pos == t.Values[0].Pos
			}) {
				steps = append(steps, operations[name])
			}
		}
		if len(steps) == 0 {
			continue
		}
		s := b.newScope()
		is := s.readable([]string{s.test(t)}, "")
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("what makes a row ready again (%s) writes %s, whatever stood there meanwhile: where that column only keeps a job from being claimed, ready_if: \"%s\" asks it, and no step writes it",
			strings.Join(slices.Compact(steps), ", "), is, is))
	}
}

// noteFrees warns where Recover of this queue or of an earlier one over the table may take what runs
// in the other.
func (b *builder) noteFrees() {
	b.noteTaken()
	for _, other := range b.spec.Others {
		if !slices.ContainsFunc(b.earlier, func(p *Package) bool { return p.Queue == other.Name }) {
			continue
		}
		name, own := plainText(other.Name), b.spec.RecoversOwn()
		b.noteRunOut(other, name)
		here, there := b.spec.AtStart && b.spec.Frees(other), other.AtStart && other.Frees(b.spec)
		if !here {
			own = other.RecoversOwn()
		}
		var text string
		switch {
		case here && there:
			text = fmt.Sprintf("nothing tells what runs here from what runs in the queue %s over the same table, so Recover of each, which Work calls when it starts, takes the running jobs of the other as well", name)
		case here:
			text = fmt.Sprintf("nothing tells what runs here from what runs in the queue %s over the same table, so Recover, which Work calls when it starts, takes the running jobs of that as well", name)
		case there:
			text = fmt.Sprintf("nothing tells what runs here from what runs in the queue %s over the same table, so Recover there, which Work calls when it starts, takes the running jobs of this queue as well", name)
		default:
			continue
		}
		mend := "a value of its own for running, or a lasting qgen:where at both, tells them apart"
		if own {
			text += " where workers of both have one name"
			mend = "give the workers of each queue names of their own (WithWorker)"
		}
		if here && there {
			mend += "; or say recover= at one of them only, and start that before the other claims"
		} else {
			mend += "; or start the one with Recover before the other claims"
		}
		b.pkg.Notes = append(b.pkg.Notes, "warning: "+text+": "+mend)
	}
}

// noteRunOut tells where Recover of this queue or of another over the table takes rows of both whose
// claim has run out, and warns where it may not have where the job runs.
func (b *builder) noteRunOut(other *queue.Spec, name string) {
	takes := func(by, of *queue.Spec) bool { return !by.AtStart && by.Frees(of) }
	same := fmt.Sprintf("nothing tells what runs here from what runs in the queue %s over the same table, so ", name)
	const apart = "a value of its own for running, or a lasting qgen:where at both, tells them apart"
	here, there := takes(b.spec, other), takes(other, b.spec)
	text := "warning: " + same
	switch {
	case here && there:
		text += "Recover of each takes jobs of the other as well whose claim has run out by its own time, while they run"
	case here:
		text += "Recover takes jobs of that as well whose claim has run out by the time that is said here, while they run"
	case there:
		text += "Recover there takes jobs of this queue as well whose claim has run out by the time that is said there, while they run"
	case b.spec.Collects(other) && other.Collects(b.spec):
		b.pkg.Notes = append(b.pkg.Notes, same+"Recover of each takes jobs of the other whose claim has run out, and makes of them what it makes of its own: "+apart)
		return
	case b.spec.Collects(other):
		b.pkg.Notes = append(b.pkg.Notes, same+"Recover takes jobs of that whose claim has run out, and makes of them what it makes of its own: "+apart)
		return
	case other.Collects(b.spec):
		b.pkg.Notes = append(b.pkg.Notes, same+"Recover there takes jobs of this queue whose claim has run out, and makes of them what it makes of its own: "+apart)
		return
	default:
		return
	}
	b.pkg.Notes = append(b.pkg.Notes, text+": "+apart+"; or say the same time at both")
}

// noteTaken puts right that the rows of a dead worker stay, where another queue over the table takes
// them.
func (b *builder) noteTaken() {
	i := slices.Index(b.pkg.Notes, queue.NoRecover)
	other, recovers := b.spec.TakenBy()
	switch {
	case i < 0 || other == nil:
	case recovers:
		b.pkg.Notes[i] = fmt.Sprintf("nothing here tells that a worker is gone, and there is no Recover: that of the queue %s over the same table takes the rows of dead workers", plainText(other.Name))
	default:
		b.pkg.Notes[i] = fmt.Sprintf("nothing here tells that a worker is gone, and there is no Recover: the rows of a dead worker stay as they are until the queue %s over the same table claims them", plainText(other.Name))
	}
}

// olderThan is the test that the time in a column is as long ago as Purge is told.
func olderThan(c *schema.Column) queue.Test {
	return queue.Test{Column: c, Op: queue.LessEqual,
		Values: []queue.Value{{Kind: queue.Now, Shift: &queue.Shift{Minus: true, Arg: queue.ArgOlder}}}}
}

// purgeAge returns the column that tells how old a finished row is.
func (b *builder) purgeAge(state queue.StateName) *schema.Column {
	ends, candidates := queue.Finish, []*schema.Column{b.spec.Finished}
	if state == queue.Failed {
		ends = queue.Fail
		if c := b.spec.Finished; c == nil || !b.writes(queue.Fail, c) || b.spec.Transitions[queue.GiveUp] != nil && !b.writes(queue.GiveUp, c) {
			candidates = nil // it does not tell when a job failed
		}
	}
	if t := b.spec.Transitions[ends]; t != nil {
		gaveUp := b.spec.Transitions[queue.GiveUp]
		for _, w := range t.Writes {
			if w.Value.Kind == queue.Now && w.Value.Shift == nil && (state == queue.Done || gaveUp == nil || b.writes(queue.GiveUp, w.Column)) {
				candidates = append(candidates, w.Column)
			}
		}
	}
	candidates = append(candidates, b.spec.Started, b.spec.Enqueued)
	for _, c := range candidates {
		if c != nil && b.clockKind(c) != "" {
			return c
		}
	}
	return nil
}

// writes reports whether a transition writes a column.
func (b *builder) writes(name queue.TransitionName, c *schema.Column) bool {
	t := b.spec.Transitions[name]
	return t != nil && slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return w.Column == c })
}

// checkNewRow complains about a value of a new row that is made of columns of the row, which are
// not there when it is written.
func (b *builder) checkNewRow(errs *source.ErrorList) {
	t := b.spec.Transitions[queue.Enqueue]
	if t == nil || b.pkg.Enqueue == nil {
		return
	}
	for _, w := range t.Writes {
		if w.Value.Kind != queue.SQLExpr {
			continue
		}
		before := true
		for _, c := range b.spec.Columns {
			if c.Column == w.Column {
				before = false
			}
			if b.can(dialect.InsertReads) && before || !b.spec.ReadsSurely(w.Value.Text, c.Column) {
				continue
			}
			hint := "Let the caller say it, in a field of NewJob: qgen:on enqueue set arg:" + unexported(w.Column.Name) + ", or {arg:name gotype} in the SQL in place of column " + strconv.Quote(c.Name) + ". What follows from other columns a generated column, or a trigger of the table, can tell."
			if b.can(dialect.InsertReads) {
				hint = b.d.Title + " reads columns that the DDL has before it. " + hint
			}
			errs.Errorf(w.Value.Pos, "column %q of a new row cannot be made of column %q, which the row does not have yet", w.Column.Name, c.Name).WithHint("%s", hint)
			break
		}
	}
}

// newColumn is a column of a new row that Enqueue writes.
type newColumn struct {
	column *schema.Column
	field  *Field       // of NewJob that has it, nil where the caller does not say it
	value  *queue.Value // without a field, or where that is nil; nil: the default of the column
}

// brings returns what a new row has in a column, and as arg what the caller gives for it: "" where
// he gives nothing, and null where he may leave it out and does.
func (s *scope) brings(c newColumn) (value, arg string) {
	if c.field == nil {
		return s.value(c.column, *c.value), ""
	}
	arg = s.write(c.column, s.arg(Arg{Kind: ArgNew, Field: c.field}))
	otherwise := s.otherwise(c)
	if otherwise == "" {
		return arg, arg
	}
	if s.rule(c.column).Write == "" {
		arg = s.d.Cast(arg, s.castType(c.column.Type))
	}
	return "coalesce(" + arg + ", " + otherwise + ")", arg
}

// otherwise returns what a new row has where the caller leaves a field out, "" where that is null.
func (s *scope) otherwise(c newColumn) string {
	if c.value != nil {
		return s.value(c.column, *c.value)
	}
	// A default is in the session's time zone, and what else is read and written here in that of the clock.
	if r := s.roles[c.column]; r != nil && r.As == "" && r.Clock == "utc" && c.column.Type.Class == schema.Timestamp && !s.zoned(c.column) && localNow.MatchString(c.column.Default) {
		return s.writtenNow(c.column)
	}
	return s.fallback(c.column)
}

// localNow finds a default that is the present, on the clock of the session or with its zone.
var localNow = regexp.MustCompile(`(?i)^\(*(?:now|current_timestamp|localtimestamp|clock_timestamp|statement_timestamp|transaction_timestamp|getdate|sysdatetime|sysdatetimeoffset|sysdate|systimestamp)\s*(?:\(\s*\d*\s*\))?\)*(?:::[\w ]+)?\)*$`)

// buildEnqueue plans Enqueue and EnqueueMany.
func (b *builder) buildEnqueue(errs *source.ErrorList) {
	t := b.spec.Transitions[queue.Enqueue]
	if t == nil || b.spec.Table.View {
		b.noEnqueue = "rows cannot be added to a view"
		return
	}
	if other := b.spec.AddedBy(); other != nil {
		b.noEnqueue = fmt.Sprintf("the queue %q adds the rows that a claim takes here", other.Name)
		b.pkg.Notes = append(b.pkg.Notes, "there is no Enqueue: "+b.noEnqueue)
		return
	}
	if c := b.unset(); c != nil && b.spec.Stage {
		b.noEnqueue = fmt.Sprintf("column %q of a new row is null, and with that it is not ready here", c.Name)
		b.pkg.Notes = append(b.pkg.Notes, "there is no Enqueue: "+b.noEnqueue+"; qgen:on enqueue set … at that column, or ready:=…, would have it be")
		return
	}
	e := &Enqueue{}
	written := map[*schema.Column]queue.Value{}
	asked := map[*schema.Column]bool{} // NewJob has them all anyway
	for _, w := range t.Writes {
		if asked[w.Column] = w.Value.Kind == queue.Given; !asked[w.Column] {
			written[w.Column] = w.Value
		}
	}
	s, v := b.newScope(), b.base("Enqueue")
	many, mv := b.newScope(), b.base("EnqueueMany")
	var news []newColumn
	for _, c := range b.spec.Columns {
		f := b.fields[c.Column]
		if c.Generated || c.Always {
			continue
		}
		if f == nil {
			if c.NotNull && !c.HasDefault && !c.Identity {
				b.noEnqueue = fmt.Sprintf("column %q is ignored, and a new row needs a value in it", c.Name)
				b.pkg.Notes = append(b.pkg.Notes, "there is no Enqueue: "+b.noEnqueue)
				return
			}
			continue
		}
		n := newColumn{column: c.Column}
		if first, ok := written[c.Column]; ok {
			n.value = &first
			for _, p := range b.spec.Asks(first) {
				e.addField(b.askedAs(p).Field)
			}
		}
		later := n.value != nil && c.Column == b.spec.FirstDue // written where the caller says no time
		if n.value != nil && !later {
			news = append(news, n)
			continue
		}
		if !b.given(c) && !asked[c.Column] {
			continue
		}
		f.New, f.Present, f.Due = true, later, later || c.Column == b.spec.Due
		f.Tries = b.spec.Attempts != nil && b.spec.Attempts.Column == c.Column
		// A number that the database gives is no expression that could take the place of a null.
		defaults := c.HasDefault && (b.fallback(c.Column) != "" || !c.NotNull)
		f.Optional = later || defaults || !c.NotNull && !b.keyByWhere(c.Column) && f.GoType != "json.RawMessage" && f.GoType != "[]byte"
		e.addField(f)
		n.field = f
		news = append(news, n)
	}
	if only := b.spec.EnqueueIf; only != nil {
		for _, p := range b.spec.AsksIn(only.SQL) {
			e.addField(b.askedAs(p).Field)
		}
	}
	if c := b.undue(); c != nil {
		if f := b.fields[c]; f != nil && f.New {
			f.Undue = true
		} else {
			b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("warning: a job that Enqueue adds is not claimed before something else sets column %q: a null there is never due, and NewJob has no field for it; qgen:on enqueue set now lets a new job be due at once, and set arg:due lets NewJob say when", c.Name))
		}
	}
	// A key of which the database fills in a part comes back from it whole.
	e.KeyGiven = len(b.spec.Key) > 0 && !slices.ContainsFunc(b.spec.Key, func(k *schema.Column) bool {
		return !b.fields[k].New || b.fields[k].Optional
	})
	together := len(e.Fields) > 0 && b.batchable(e.Fields) && !b.batches("forall")
	if together {
		mv.Batch = many.batchOf(ArgNewBatch, ArgNewAll, nil, nil, e.Fields, "_new")
	}
	s.newArgument = s.argumentOfNew
	many.newArgument = func(f *Field) string {
		i := slices.Index(e.Fields, f)
		if len(mv.Batch.Names) > 0 && many.travel() != "lists" {
			return many.batchValue(f, mv.Batch.Names[i])
		}
		return listMark + strconv.Itoa(i) + listMark
	}
	var order []*Field // of the values of a row
	for _, n := range news {
		v.Columns = append(v.Columns, b.d.Ident(n.column.Name))
		one, _ := s.brings(n)
		v.Values = append(v.Values, one)
		if n.field == nil {
			mv.Values = append(mv.Values, eachListed(many.value(n.column, *n.value), e.Fields, func(f *Field) string {
				order = append(order, f)
				return b.slot()
			}))
			continue
		}
		order = append(order, n.field)
		lot := ""
		if together {
			lot = b.slot()
			if len(mv.Batch.Names) > 0 {
				lot = mv.Batch.Names[slices.Index(e.Fields, n.field)]
			}
			lot = many.batchValue(n.field, lot)
		}
		if others := many.otherwise(n); others != "" {
			lot = "coalesce(" + lot + ", " + others + ")"
		}
		mv.Values = append(mv.Values, lot)
	}
	mv.Columns = v.Columns
	var keys []*Field
	if b.rowToken == nil && (b.rowID == nil || b.d.RowIdentity.Stable) { // a row gets its token when it is claimed
		keys = b.pkg.Key
	}
	many.returns(&mv, "insert", keys)
	if len(keys) > 0 && b.can(dialect.UnsortedInsert) {
		if len(keys) == 1 && b.spec.Table.Column(keys[0].Column).Identity && !b.batches("lists") {
			many.keep(&mv, "insert", keys) // to be read in order
		} else {
			together = false
		}
	}
	if keys, e.AutoKey = s.givesKey(&v, keys, e.KeyGiven); keys == nil {
		mv.Returning = nil
	}
	added, lot := "a new ready row", "new ready rows"
	if state := b.addedState(strings.Replace(b.readyWhen(e), " to be claimed", "", 1)); state != string(queue.Ready) {
		added, lot = "a new row, "+state, "new rows, "+strings.Replace(state, "it is due", "they are due", 1)
	}
	head := []string{"enqueue: " + added, "locks: nothing that others wait for" + b.readsOfNew()}
	e.Absent = b.spec.Absent || b.spec.EnqueueIf != nil
	switch {
	case b.spec.Like != nil:
		together = false
		head = b.leaveAlike(added, s, &v, e, news, errs)
	case b.spec.Absent:
		e.Collides = len(b.d.Transient.Duplicates) > 0
		v.Absent = !e.Collides
		e.Unlike = b.unlike(e)
		head[0] += ", unless a row stands in its way by a unique key: then "
		switch {
		case e.Collides:
			head[0] += "it fails with the error of that key, which is told from others"
		case len(keys) > 0:
			head[0] += "it returns none"
		default:
			head[0] += "it adds none"
		}
		head[1] = "locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key"
		together = together && e.Collides && !b.writesLockless()
	}
	e.Where = b.keptOut()
	if b.spec.EnqueueIf != nil {
		together = false
		head = b.addOnlyIf(added, s, &v, e, news, head, errs)
	}
	if u := b.planUpsert(news, errs); u != nil {
		b.upserts, e.Upsert, together = u, true, false
		e.Spares = u.only != nil
		head[1] = "locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key"
		if u.looks {
			head[0] += ", where enqueue_lock.sql finds none that is like the job"
			b.lookFor(e, u)
		} else {
			head[0] += "; or what it changes of the row that is like it in " + u.key.text() + u.spared()
			s.onConflict(&v, u, e.AutoKey)
		}
	}
	e.One = s.statement("enqueue", "insert_one", v, keys, head...)
	if e.Repeatable {
		e.One.Head[len(e.One.Head)-1] = "isolation: repeatable read"
	}
	if together && b.batches("lists") {
		row := "(" + strings.Join(mv.Values, ", ") + ")"
		mv.Batch.List = many.list(Arg{Kind: ArgNewList, Batch: order, First: row, More: ",\n       " + row})
	}
	if e.AutoKey && together {
		if together = b.can(dialect.ConsecutiveIDs) && !b.cluster; together {
			e.Step = b.newScope().statement("enqueue_step", "insert_step", b.base("EnqueueMany"), nil,
				"enqueue: by how much the keys of rows differ that one statement adds", "locks: none")
		}
	}
	if together {
		head = []string{"enqueue: " + lot + ", in the order given", head[1]}
		if e.Absent {
			head[0] += ", all or none: where a row stands in the way of one by a unique key, each half is tried by itself"
		}
		e.Many = many.statement("enqueue_many", "insert_many", mv, keys, head...)
	}
	b.pkg.Enqueue = e
	b.docEnqueue(e)
}

// addField adds a field to NewJob, once.
func (e *Enqueue) addField(f *Field) {
	f.New = true
	if !slices.Contains(e.Fields, f) {
		e.Fields = append(e.Fields, f)
	}
}

// argumentOfNew is an argument of which values of a new row are made, where NewJob has it.
func (s *scope) argumentOfNew(f *Field) string {
	return s.typed(f, s.arg(Arg{Kind: ArgNew, Field: f}))
}

// givesKey has a statement that adds a row give back its key: in a row, which it returns, or
// as the number that the driver tells. Neither is so where the server can do neither, and
// where the caller gives the key himself.
func (s *scope) givesKey(v *values, keys []*Field, given bool) (rows []*Field, byDriver bool) {
	if s.can(dialect.Returning) {
		s.returns(v, "insert", keys)
		return keys, false
	}
	byDriver = len(keys) == 1 && !given && s.spec.Key[0].Identity && (s.can(dialect.LastInsertID) || s.can(dialect.ReturningKey))
	if byDriver && s.can(dialect.ReturningKey) {
		v.Key, v.NewKey = s.d.Ident(s.spec.Key[0].Name), s.arg(Arg{Kind: ArgNewKey})
	}
	return nil, byDriver
}

// fallback returns the default of a column as it may stand in a statement, "" when
// it has none or that is null.
func (b *builder) fallback(c *schema.Column) string {
	bare, _, _ := strings.Cut(c.Default, "::")
	bare = strings.ToLower(strings.Trim(bare, "() \t\n"))
	if !c.HasDefault || bare == "null" {
		return ""
	}
	text := cmp.Or(b.d.DefaultOnly[bare], c.Default)
	// A column takes what is no text, coalesce beside one does not; and beside a time with zone it makes one
	// of the time that is given, which then goes through the zone of the session.
	if (c.Type.Class == schema.Text && !c.Type.Enum || c.Type.Class == schema.Timestamp && !c.Type.Zone && !strings.HasPrefix(bare, "localtimestamp")) && !strings.HasPrefix(bare, "'") {
		if cast := b.d.Cast(text, b.castType(c.Type)); cast != text && len(queue.PiecesOf(text)) > 1 && strings.ContainsAny(text, " \t\n|+-") {
			return b.d.Cast("("+text+")", b.castType(c.Type))
		}
		return b.d.Cast(text, b.castType(c.Type))
	}
	return text
}

// keyByWhere reports whether a column is of a key that qgen:where makes one: the database lets it be
// null, and no row of the queue is.
func (b *builder) keyByWhere(c *schema.Column) bool {
	pk := b.spec.Table.PrimaryKey
	return slices.Contains(b.spec.Key, c) && !c.NotNull && (pk == nil || !slices.Contains(pk.Columns, c))
}

// given reports whether the caller of Enqueue provides a column.
func (b *builder) given(c *queue.Column) bool {
	switch {
	case slices.Contains(b.spec.Key, c.Column):
		return !c.Identity
	case c.NotNull && !c.HasDefault && !c.Identity:
		return true // nobody else does
	}
	for _, r := range c.Roles {
		switch r.Verb {
		case "visible":
			return true // the due time of the first try
		case "attempts":
			return b.spec.Count(c.Column).MustStart()
		case "result", "error":
			// What is the answer may have been the question.
			return slices.ContainsFunc(c.Roles, func(r queue.Role) bool { return r.Verb == "payload" })
		case "lease", "claimed", "heartbeat":
			if c.Column != b.spec.Due { // else a claim leaves its own time where a new job says when it is due
				return false
			}
		case "status", "finished", "enqueued", "version", "worker", "token", "seq":
			return false
		}
	}
	return !c.Identity && !onlyWritten(c)
}

// buildStats plans Stats, and StatsOf where topics narrow a claim.
func (b *builder) buildStats() {
	st := &Stats{}
	var by string
	if st.Statement, st.Fields, by = b.statsOf(nil, "stats", "Stats", "stats: counts rows by state"); len(st.Fields) == 0 {
		return
	}
	columns, reading := "the table's columns", "It reads the whole table"
	switch {
	case b.ready != nil:
		columns, reading = "the columns of the two tables", "It reads both tables as a whole"
	case by != "":
		reading = "It reads each row that it counts"
	}
	kept := ""
	if b.keepsSome() {
		kept = " A row that a condition keeps from claims, and that is in no other state, is in no figure."
	}
	st.Doc = []string{
		"Stats counts rows by state and measures waits, as far as " + columns + " tell. " + reading + ": call it for dashboards, not in loops." + kept,
		b.looks(),
	}
	if AsksTimeout(st.Statement) {
		st.Doc = append(st.Doc, timeoutDoc)
	}
	if topics := b.narrows(); len(topics) > 0 {
		var names, told []string
		for _, t := range topics {
			names = append(names, plainText(t.Column.Name))
			told = append(told, t.param.Name)
		}
		st.Of, _, _ = b.statsOf(topics, "stats_of", "StatsOf", "stats: counts by state the rows that a claim with the same "+enumerated(names)+" is for")
		st.OfDoc = []string{
			"StatsOf is Stats over the rows alone that a claim with the same " + enumerated(told) + " is for, whatever their state.",
			b.looks(),
		}
		if AsksTimeout(st.Of) {
			st.OfDoc = append(st.OfDoc, timeoutDoc)
		}
	}
	b.pkg.Stats = st
}

// statsOf returns a statement that tells the figures of the rows of some topics, of all where there
// are none; the figures; and which index leads to the rows, "" where all of the table are read.
func (b *builder) statsOf(topics []topic, name, op, does string) (st *Statement, fields []StatsField, by string) {
	s, v := b.newScope(), b.base(op)
	s.lockless = true
	if b.ready != nil {
		fields, v.Figures, v.Table = b.awayFigures(s, topics)
		return s.statement(name, "stats", v, nil, does, "locks: none", "index: none; it reads both tables as a whole"), fields, ""
	}
	claims := s.joinClaims()
	told := s.figures(nil)
	if len(told.fields) == 0 {
		return nil, nil, ""
	}
	v.Figures, v.Table = s.labelled(told, nil), v.Table+claims+s.apply()
	v.Where = append(told.where, s.narrowed(topics)...)
	tests := told.tests
	for _, t := range topics {
		if t.Always(queue.Equal, queue.List) {
			tests = append(tests, oneValue(t.Column))
		}
	}
	by, head := b.readsBy(tests)
	return s.statement(name, "stats", v, nil, does, "locks: none", head), told.fields, by
}

// joinClaims has a statement over the rows of the queue read the claims of a side table as well: it returns what
// stands behind the table.
func (s *scope) joinClaims() string {
	if s.side == nil {
		return ""
	}
	s.prefix = s.qualified()
	return " LEFT JOIN " + s.sideTable() + " ON " + strings.Join(s.sameKey(s.side.qualified()), " AND ")
}

// readsBy returns which index leads to the rows that satisfy tests, "" where the whole table is read, and
// what a head comment says of it.
func (b *builder) readsBy(tests []queue.Test) (by, head string) {
	if len(tests) > 0 {
		if text := b.foundBy(tests, nil); text != noIndex {
			return text, "index: " + text
		}
	}
	return "", "index: none; it reads the whole table"
}

// topic is a parameter of Claim by a column of the row.
type topic struct {
	*queue.Param
	param *Param
}

// narrows returns the topics of a claim, which tell of each row whom it is for. There are none where
// a claim is of the one row that its caller names, nor where the table of rows that run has not all of them.
func (b *builder) narrows() (topics []topic) {
	ready := cmp.Or(b.ready, b)
	if ready.claimsOne() {
		return nil
	}
	for i, p := range ready.spec.Params {
		switch {
		case p.Kind == queue.Argument:
			continue
		case b.ready != nil && ready.spec.Away.Running(p.Column) == nil:
			return nil
		}
		topics = append(topics, topic{p, ready.pkg.Claim.Params[i]})
	}
	return topics
}

// narrowed are the conditions that rows are of some topics.
func (s *scope) narrowed(topics []topic) (where []string) {
	for _, t := range topics {
		p := *t.Param
		if s.builder.ready != nil { // the rows that run, which have a table of their own
			p.Column = s.builder.ready.spec.Away.Running(p.Column)
		}
		where = append(where, s.param(&p, t.param))
	}
	return where
}

// apply reads for each row what is told of it, "" where that is nothing.
func (s *scope) apply() string {
	if len(s.told) == 0 {
		return ""
	}
	list := strings.Join(s.told, ",\n           ")
	s.told = nil
	return dialect.Fill(s.d.Fragments["apply"].At(s.version), "list", list, "name", s.alias("told"), "line", "\n")
}

// figures are what Stats tells of a table: the SQL of each over the rows that satisfy where, which are
// found by tests. Every: there is no such row that no figure counts.
type figures struct {
	fields []StatsField
	texts  []string
	where  []string
	tests  []queue.Test
	every  bool
}

// figures returns what Stats tells of the table; of only some figures, where names are given. What every
// figure asks of its rows is asked once.
func (s *scope) figures(only []string) (told figures) {
	b := s.builder
	type figure struct {
		where []string
		sql   func(filter func(function, expr string) string) string
	}
	var all []figure
	add := func(name, goType, doc string, where []string, sql func(filter func(function, expr string) string) string) {
		if only != nil && !slices.Contains(only, name) {
			return
		}
		told.fields = append(told.fields, StatsField{Name: name, GoType: goType, Doc: doc})
		all = append(all, figure{where, sql})
	}
	count := func(name, doc string, where []string) {
		add(name, "int64", doc, where, func(filter func(function, expr string) string) string { return filter("count", "") })
	}
	filter := func(function, expr string, where []string) string {
		if len(where) == 0 {
			return function + "(" + cmp.Or(expr, "*") + ")"
		}
		condition := strings.Join(where, " AND ")
		if form := b.d.Fragments["told"].At(b.version); form != "" && source.Mentions(condition, "select") {
			name := "figure" + strconv.Itoa(len(s.told)+1)
			s.told = append(s.told, dialect.Fill(form, "where", condition, "expr", cmp.Or(expr, b.d.Counted), "name", name))
			return function + "(" + b.alias("told") + "." + name + ")"
		}
		return dialect.Fill(b.d.Fragments["filtered"].At(b.version), "function", function,
			"expr", cmp.Or(expr, b.d.Counted), "where", condition)
	}
	states := map[queue.StateName][]string{}
	for _, name := range queue.StateNames {
		if state := b.spec.States[name]; state != nil && (len(state.Tests) > 0 || name == queue.Ready || b.ready != nil) {
			states[name] = s.tests(withoutArguments(state.Tests))
		}
	}
	docs := map[queue.StateName]string{
		queue.Ready: b.readyDoc(), queue.Claimed: "rows that are claimed and not begun",
		queue.Running: "rows that workers hold", queue.Done: "finished rows", queue.Failed: "rows that failed for good",
	}
	if b.takenState() == queue.Claimed {
		docs[queue.Running] = "rows whose jobs have begun"
	}
	waits := "rows whose due time has not come"
	var delayed []string
	if b.spec.Due != nil && b.clockKind(b.spec.Due) != "" {
		delayed = append(s.tests(slices.Concat(b.steady(), b.spec.Members)), s.notDue())
	}
	if running := states[queue.Running]; len(running) > 0 && len(delayed) > 0 && b.hidden() {
		if !slices.ContainsFunc(running, func(condition string) bool { return !slices.Contains(delayed, condition) }) {
			docs[queue.Running] += ", and those that wait for their time, which look alike"
		}
		waits += ", and those that workers hold, which look alike"
	}
	if b.side != nil {
		for _, f := range b.leaseStats(s) {
			count(f.name, f.doc, f.where)
			states[queue.StateName(strings.ToLower(f.name))] = f.where
		}
	} else {
		for _, name := range queue.StateNames {
			if where, ok := states[name]; ok && (name != queue.Running || b.hasRunning()) {
				count(exported(string(name)), docs[name], where)
			}
		}
		if len(delayed) > 0 {
			count("Delayed", waits, delayed)
		}
	}
	if l := b.spec.Liveness; len(b.spec.Expired) > 0 && !b.spec.AtStart && b.hasRunning() && (l == nil || !l.Listed) {
		// The state itself may look at the clock; what its holder leaves does not.
		if held := s.tests(b.spec.Transitions[queue.Finish].Tests); len(held) > 0 || b.ready != nil {
			doc := "rows whose claim ran out"
			if b.newMayExpire() {
				if a := b.spec.Attempts; a != nil && a.OnClaim && !a.Down {
					held = append(held, s.counter(a.Column)+" > 0")
				} else {
					doc += ", or that nobody has claimed yet"
				}
			}
			count("Expired", doc, slices.Concat(held, s.tests(b.spec.Members), s.tests(b.spec.Expired)))
		}
	}
	oldest := func(name, doc string, c *schema.Column, where []string) {
		if c == nil {
			return
		}
		if s.age(c, nil, func(column string) string { return column }) != "" {
			add(name, "time.Duration", doc, where, func(filter func(function, expr string) string) string {
				return s.age(c, nil, func(column string) string { return filter("min", column) })
			})
		}
	}
	switch {
	case b.spec.Enqueued != nil:
		oldest("OldestReady", "how long the oldest ready row has waited", b.spec.Enqueued, states[queue.Ready])
	case b.wait() == nil: // else a row is ready some time behind what the column holds
		oldest("OldestReady", "how long the oldest ready row has waited", b.spec.Due, states[queue.Ready])
	}
	started, made := b.spec.Started, ""
	if kind := b.writesOf(queue.Claim, started); kind == queue.Given || kind == queue.Now && !b.writesPresent(queue.Claim, started) {
		started = nil // the caller says what it is, or how far from the present
	}
	if b.writesOf(queue.Renew, started) != "" {
		made = " or extended"
	}
	if b.hasRunning() {
		oldest("OldestRunning", "how long ago the oldest claim was made"+made, started, s.tests(slices.Concat(b.spec.Held, b.spec.Members)))
	}
	between := func(name, doc string, from, to *schema.Column, where []string) {
		if from == nil || to == nil || len(where) == 0 {
			return
		}
		if age := s.age(from, to, func(column string) string { return column }); age != "" {
			for _, c := range []*schema.Column{from, to} {
				// What is no time is no 0 either.
				if not := s.column(c) + " <> ''"; b.fields[c] != nil && b.fields[c].Empty && !slices.Contains(where, not) {
					where = append(slices.Clip(where), not)
				}
			}
			add(name, "time.Duration", doc, where, func(filter func(function, expr string) string) string { return filter("avg", age) })
		}
	}
	if done, ok := states[queue.Done]; ok && b.keepsStart() {
		if made != "" {
			made = ", made" + made + " last,"
		}
		between("MeanWait", "mean time from enqueue to claim"+made+" of finished rows", b.spec.Enqueued, started, done)
		if b.writesPresent(queue.Finish, b.spec.Finished) {
			between("MeanRun", "mean time from claim"+made+" to finish of finished rows", started, b.spec.Finished, done)
		}
	}
	for i, f := range all {
		if i == 0 {
			told.where = slices.Clone(f.where)
		}
		told.where = slices.DeleteFunc(told.where, func(condition string) bool { return !slices.Contains(f.where, condition) })
	}
	common := func(condition string) bool { return slices.Contains(told.where, condition) }
	counted := map[string][]string{} // what the rows of a count have to satisfy besides
	for i, f := range all {
		rest := slices.DeleteFunc(slices.Clone(f.where), common)
		told.texts = append(told.texts, f.sql(func(function, expr string) string { return filter(function, expr, rest) }))
		if told.fields[i].GoType == "int64" {
			counted[told.fields[i].Name] = rest
			told.every = told.every || len(rest) == 0
		}
	}
	told.every = told.every || s.dueOrNot(counted["Ready"], counted["Delayed"])
	for _, t := range slices.Concat(b.spec.Members, b.spec.Expired, b.spec.Transitions[queue.Finish].Tests, b.stateTests(queue.Ready), b.stateTests(queue.Done)) {
		if common(s.test(t)) {
			told.tests = append(told.tests, t)
		}
	}
	return told
}

// hidden reports whether the time when a row is due hides it while somebody has it, and no value that stays
// as it is tells it from one that waits.
func (b *builder) hidden() bool {
	running := b.stateTests(queue.Running)
	return b.hasRunning() && slices.ContainsFunc(running, func(t queue.Test) bool { return t.Column == b.spec.Due && t.Op == queue.Greater }) &&
		!slices.ContainsFunc(b.steady(), func(t queue.Test) bool {
			return slices.ContainsFunc(running, func(r queue.Test) bool { return t.Excludes(r) })
		})
}

// labelled gives figures their names in a statement, other than those of the columns that come back with them.
func (s *scope) labelled(told figures, beside []*schema.Column) []string {
	var texts []string
	for i, f := range told.fields {
		name := snake(f.Name)
		for slices.ContainsFunc(beside, func(c *schema.Column) bool { return strings.EqualFold(c.Name, name) }) {
			name += "_rows"
		}
		texts = append(texts, told.texts[i]+" AS "+s.d.Ident(s.d.Fold(name)))
	}
	return texts
}

// dueOrNot reports whether each row satisfies the conditions of a ready row or those of one whose time has not
// come: nothing but that time tells them apart.
func (s *scope) dueOrNot(ready, delayed []string) bool {
	due := s.spec.Due
	if len(ready) != 1 || len(delayed) != 1 || due == nil {
		return false
	}
	return slices.ContainsFunc(s.stateTests(queue.Ready), func(t queue.Test) bool {
		nulls := due.NotNull || slices.ContainsFunc(t.Or, func(t queue.Test) bool { return t.Column == due && t.Op == queue.IsNull })
		return t.Column == due && t.Op == queue.LessEqual && nulls && s.test(t) == ready[0] && s.notDue() == delayed[0]
	})
}

// notDue is the condition that the time of a row has not come.
func (s *scope) notDue() string {
	return s.column(s.spec.Due) + " > " + s.clock(s.spec.Due, s.wait())
}

// keepsStart reports whether the row of a job that is done still tells when it was claimed.
func (b *builder) keepsStart() bool {
	for _, name := range b.spec.Steps() {
		o := b.spec.Outcome(name)
		if (name == queue.Finish || o != nil && o.To == queue.Done) && b.writesOf(name, b.spec.Started) != "" {
			return false
		}
	}
	return true
}

// writesOf returns of what kind the value is that a step writes to a column, "" where it leaves that
// as it is.
func (b *builder) writesOf(name queue.TransitionName, c *schema.Column) queue.ValueKind {
	t := b.spec.Transitions[name]
	if t == nil || c == nil {
		return ""
	}
	for _, w := range t.Writes {
		if w.Column == c && w.Value.Kind != queue.Old {
			return w.Value.Kind
		}
	}
	return ""
}

// writesPresent reports whether a step writes the present to a column, and no time at a distance from it.
func (b *builder) writesPresent(name queue.TransitionName, c *schema.Column) bool {
	t := b.spec.Transitions[name]
	return t != nil && c != nil && slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
		return w.Column == c && w.Value.Kind == queue.Now && w.Value.Shift == nil
	})
}

// keepsSome reports whether a condition of the queue keeps rows from claims that are in no other state.
func (b *builder) keepsSome() bool {
	asked, _ := b.withoutLocks(withoutArguments(b.stateTests(queue.Ready)))
	return slices.ContainsFunc(asked, func(t queue.Test) bool {
		return t.Op == queue.Raw && len(t.Or) == 0 && !slices.ContainsFunc(b.spec.Members, func(m queue.Test) bool { return m.SQL == t.SQL })
	})
}

// readyDoc says which rows Stats counts as ready.
func (b *builder) readyDoc() string {
	text := "rows that a claim could take now"
	if slices.ContainsFunc(b.stateTests(queue.Ready), takesArgument) {
		text += ", but for what its arguments keep out"
	}
	if not := b.unasked(); not != "" {
		text += ", where " + not + " holds"
	}
	return text
}

// wait is what is added to the due time before it is compared, taken from the present; nil where
// nothing is.
func (b *builder) wait() *queue.Shift {
	for _, t := range b.stateTests(queue.Ready) {
		if t.Column == b.spec.Due && t.Op == queue.LessEqual {
			return t.Values[0].Shift
		}
	}
	return nil
}

// newMayExpire reports whether a row that nobody has claimed yet may look like one whose claim ran
// out: nothing but the time of the claim tells them apart, and a new row has one.
func (b *builder) newMayExpire() bool {
	l := b.spec.Lease
	if l == nil || !l.ByClaim {
		return false
	}
	s := b.newScope()
	ready := s.tests(b.stateTests(queue.Ready))
	for _, t := range b.spec.Transitions[queue.Finish].Tests {
		// What is not null may have come with the row; another value stands for a free one.
		if (t.Column != l.Column || t.Op == queue.NotIn) && !slices.Contains(ready, s.test(t)) {
			return false
		}
	}
	for _, w := range b.spec.Transitions[queue.Enqueue].Writes {
		if w.Column == l.Column && w.Value.Kind != queue.Old {
			return w.Value.Kind != queue.Null
		}
	}
	return l.Column.NotNull || l.Column.HasDefault
}

// constant reports whether a test compares with literals only, so that a
// partial index may hold it.
func constant(t queue.Test) bool {
	if t.Op == queue.Raw || t.Op == queue.Dead {
		return false
	}
	for _, v := range t.Values {
		if v.Kind != queue.Literal && v.Kind != queue.Null {
			return false
		}
	}
	return !slices.ContainsFunc(t.Or, func(t queue.Test) bool { return !constant(t) })
}

// buildPeek plans Peek.
func (b *builder) buildPeek() {
	b.pkg.Peek = &Peek{Statement: b.readyRows("peek", "Peek", b.readyFields(), "peek: ready rows, as a claim would take them", "locks: none")}
	b.pkg.Peek.Doc = []string{
		"Peek reads up to limit ready jobs in queue order without taking them. Others may claim them at any time, so what it returns is for people to look at, not to work on.",
	}
	if b.running != nil {
		b.pkg.Peek.Doc[0] += " Their rows are in " + plainText(b.spec.Table.QualifiedName()) + " still, so what a claim fills in is empty."
	}
	if b.spec.Group != nil {
		b.pkg.Peek.Doc[0] += " Of each group it shows no more jobs than a claim could take now; those behind them it leaves out, due or not."
	}
	if b.spec.Gate != nil {
		b.pkg.Peek.Doc[0] += " It shows them also when a claim could take none, because enough of them run."
	}
	var absent []string
	for _, f := range b.pkg.Fields {
		if c := b.columnOf(f); c != nil && b.running == nil && !slices.Contains(b.pkg.Peek.Statement.Rows, f) && b.roles[c] != nil && b.roles[c].Payload {
			absent = append(absent, f.Name)
		}
	}
	if len(absent) > 0 {
		b.pkg.Peek.Doc[0] += " It leaves " + enumerated(absent) + " empty, which a claim fills in."
	}
	if b.rowToken == nil {
		b.pkg.Peek.Payload = b.pkg.Payload != nil
		b.pkg.Peek.Doc = append(b.pkg.Peek.Doc, b.payloadDoc("")...)
	}
	if AsksTimeout(b.pkg.Peek.Statement) {
		b.pkg.Peek.Doc = append(b.pkg.Peek.Doc, timeoutDoc)
	}
	b.pkg.Peek.Doc = append(b.pkg.Peek.Doc, b.looks())
}

// readyFields are the fields of a job that is not claimed: what only a claim fills in
// may be null there.
func (b *builder) readyFields() []*Field {
	if b.running != nil {
		return b.peeked()
	}
	var fields []*Field
	for _, f := range b.pkg.Fields {
		if b.isSide(f) {
			continue
		}
		if c := b.columnOf(f); f.RowID || c == nil || c.NotNull || f.Null || !b.writes(queue.Claim, c) {
			fields = append(fields, f)
		}
	}
	return fields
}

// buildVerify plans Verify.
func (b *builder) buildVerify(q *config.Queue, errs *source.ErrorList) {
	verify := &Verify{Doc: []string{
		"Verify asks the database whether it still is what this package was generated for: the columns and their types, the server's version, the isolation level and the index that Claim needs. Call it when the program starts. It returns nil or an error that lists everything that differs, with what to do.",
		reads,
	}}
	check := func(name, mend string, fill func(s *scope, v *values)) { b.ask(verify, name, name, "", mend, fill) }
	check("verify_version", "generate again with the server version in qgen.yaml, or upgrade the server", func(*scope, *values) {})
	check("verify_columns", mendColumns, b.wantColumns)
	other := func(name string, i int, t *schema.Table, columns []*schema.Column) {
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		of := "of " + plainText(t.QualifiedName())
		b.ask(verify, name, "verify_columns", " "+of, of+": "+mendColumns, func(_ *scope, v *values) {
			v.of(b.d, t)
			for _, c := range columns {
				v.Wanted = append(v.Wanted, b.inCatalog(c))
			}
		})
	}
	for i, from := range b.spec.PayloadFrom {
		var columns []*schema.Column
		for _, c := range from.Columns {
			columns = append(columns, c.Column)
		}
		other("verify_columns_payload", i, from.Table, columns)
	}
	for i, also := range b.written() {
		other("verify_columns_also", i, also.table, also.columns)
	}
	if b.side != nil {
		b.verifySide(verify)
	}
	if b.ready != nil {
		b.verifyReady(verify)
	}
	b.verifyGate(verify)
	if b.offset != nil {
		b.ask(verify, "verify_offset", "verify_columns", " of "+plainText(b.sideName()), "create the table with schema/offset.sql, or generate again", func(_ *scope, v *values) { b.verifyOffset(v) })
	}
	if b.spec.Procedures {
		check("verify_procedures", "create it with schema/procedures.sql", func(_ *scope, v *values) {
			for _, st := range b.pkg.Statements() {
				if st.Procedure != nil {
					v.Wanted = append(v.Wanted, []string{b.d.Quote(st.Procedure.Name)})
				}
			}
		})
	}
	check("verify_settings", mendSettings, func(_ *scope, v *values) {
		for _, of := range []*builder{b, b.side, b.ready} {
			v.ZeroDates = v.ZeroDates || of != nil && of.zeroDates
		}
	})
	if c := b.localTime(); c != nil {
		check("verify_clock", mendClock, func(s *scope, v *values) { s.compareClocks(v, c) })
	}
	if b.movesRow(b.spec.Steps()...) != "" {
		check("verify_movement", "a job's state decides in which partition its row stands, so rows must be able to move", func(*scope, *values) {})
	}
	if b.cluster && b.d.Has("verify_prepared") {
		// How a statement travels shows only in one that has an argument.
		check("verify_prepared", "otherwise a job can be given out twice", func(s *scope, v *values) { s.limit(v, 0) })
		verify.Checks[len(verify.Checks)-1].Required = true
		b.refuseQuestionMarks(q, errs)
	}
	if b.d.Isolation != "" {
		check("verify_isolation", "set default_transaction_isolation = 'read committed' for this user or database; claims at a higher level fail with 40001 when workers meet", func(*scope, *values) {})
	}
	if len(b.pkg.Indexes) == 0 {
		b.pkg.Verify = verify
		return
	}
	check("verify_index", b.mendIndexes(), b.wantIndexes)
	b.pkg.Verify = verify
}

// What mends what Verify finds.
const (
	mendColumns  = "generate again from the present schema, or migrate the database"
	mendSettings = "see the message; claims need it"
	mendClock    = "columns with clock: local are on the clock of the database's session, and the program reads and writes them in its own time zone; give both the same one, TZ of the program or the time zone of the database"
)

// localTime returns a column that keeps times on the clock of the session and that Go knows,
// nil when there is none. Days say too little to compare clocks by.
func (b *builder) localTime() *schema.Column {
	for _, c := range b.spec.Columns {
		f := b.fields[c.Column]
		if f == nil || f.UTC || f.Bare || c.Type.Class == schema.Date || f.Codec != WallTime && f.Codec != TextTime {
			continue
		}
		if f.Layout != "" && !strings.Contains(f.Layout, "04") || b.newScope().age(c.Column, nil, strings.Clone) == "" {
			continue
		}
		return c.Column
	}
	return nil
}

// compareClocks has a question compare the clock of the session with that of the program, as
// a column keeps what they read.
func (s *scope) compareClocks(v *values, c *schema.Column) {
	v.Clock = s.clock(c, nil)
	if form := s.rule(c).Read; form != "" {
		v.Clock = dialect.Fill(form, "column", v.Clock)
	}
	arg := s.arg(Arg{Kind: ArgClock, Field: s.fields[c]})
	if s.rule(c).Write == "" {
		arg = s.d.Cast(arg, s.castType(c.Type))
	}
	v.Ahead = s.age(c, nil, func(string) string { return s.write(c, arg) })
}

// ask adds a question over the table of b to Verify, where the server has it; of says of
// what it asks.
func (b *builder) ask(verify *Verify, name, template, of, mend string, fill func(s *scope, v *values)) {
	if !b.d.Has(template) {
		return
	}
	s, v := b.newScope(), b.base("Verify")
	fill(s, &v)
	verify.Checks = append(verify.Checks, Check{Mend: mend,
		Statement: s.statement(name, template, v, nil, strings.Replace(template, "_", ": ", 1)+of, "locks: none")})
}

// wantColumns has a question ask for the columns of the table.
func (b *builder) wantColumns(_ *scope, v *values) {
	for _, c := range b.spec.Columns {
		if !c.Ignored {
			v.Wanted = append(v.Wanted, b.inCatalog(c.Column))
		}
	}
}

// mendIndexes tells how to mend that an index is missing, and what is slow until then; of
// several that serve different operations, of each by its name.
func (b *builder) mendIndexes() string {
	list := b.pkg.Indexes
	mend := "create it with schema/indexes.sql; without "
	if slices.ContainsFunc(list, func(ix Index) bool { return ix.Rule != "" }) {
		mend = "create it with schema/indexes.sql, which says in which sessions the table cannot be written then; without "
	}
	if !slices.ContainsFunc(list, func(ix Index) bool { return ix.Lacking != list[0].Lacking }) {
		return mend + "it " + list[0].Lacking
	}
	var each []string
	for _, ix := range list {
		each = append(each, plainText(cmp.Or(ix.Have, ix.Name))+" "+ix.Lacking)
	}
	return mend + strings.Join(each, ", without ")
}

// wantIndexes has a question ask for the indexes that serve the queue.
func (b *builder) wantIndexes(_ *scope, v *values) {
	for _, ix := range b.pkg.Indexes {
		v.Wanted = append(v.Wanted, []string{b.d.Quote(cmp.Or(ix.Have, ix.Name)), b.d.Quote(ix.columns), b.d.Quote(ix.least), b.d.Quote(ix.predicate)})
	}
}

// inCatalog is a column and its type as Verify finds them in the catalog.
func (b *builder) inCatalog(c *schema.Column) []string {
	name := cmp.Or(b.d.Types[c.Type.Name].Catalog, b.typeName(c.Type))
	if c.Type.Domain != "" && !b.d.BaseTypes {
		name = b.d.Ident(c.Type.Domain)
	}
	if b.d.TypesAsWritten {
		name = c.Type.Raw
	}
	return []string{b.d.Quote(c.Name), b.d.Quote(name)}
}

// refuseQuestionMarks refuses names and values with a question mark in statements
// whose arguments the driver writes into the text: it counts the question marks, and
// prepares the statement when they are more than the arguments.
func (b *builder) refuseQuestionMarks(q *config.Queue, errs *source.ErrorList) {
	for _, st := range b.pkg.Statements() {
		placeholders := 0
		for _, a := range st.Args {
			placeholders += strings.Count(cmp.Or(a.First, "?"), "?")
		}
		if strings.Count(st.SQL, "?") != placeholders {
			errs.Errorf(q.Cluster.Pos, "%s has a question mark in a name or a value of sql/%s.sql, which the driver prepares for it; in this cluster a job could then be given out twice", b.spec.Table.Name, st.Name).
				WithHint("Choose names and values without a question mark, or have all workers use one node and leave cluster: out.")
			return
		}
	}
}
