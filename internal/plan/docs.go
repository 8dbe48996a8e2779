package plan

// This file writes the sentences of the emitted comments: what an operation
// does, which locks it takes, what a crash leaves behind, which file its SQL
// stands in.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

func (b *builder) docClaim(c *Claim) {
	comes := " They come in queue order, never more than limit; when nothing is ready it returns no jobs and a nil error."
	if !b.comesInOrder(c) {
		comes = " They are the first of the queue, but " + b.amongThem(c) + ", never more than limit; when nothing is ready it returns no jobs and a nil error."
	}
	what := "Claim takes up to limit ready jobs and marks them " + string(b.takenState()) + "." + comes
	if b.takenState() == queue.Claimed {
		what += " Start begins one of them."
	}
	switch b.pkg.Strategy {
	case "pop":
		switch {
		case b.onlyChanges():
			stay := "stay"
			switch sure, by := b.keepsReady(); {
			case sure:
				stay = "stay ready: the next Claim may take them again"
			case by != nil:
				stay = "stay: what it writes to " + plainText(by.Name) + " says whether the next Claim may take them again"
			}
			what = "Claim takes up to limit ready jobs and changes their rows, which " + stay + "." + comes + " That is all: nothing is written later, whatever becomes of the jobs it returned."
		case b.popped() != nil:
			what = "Claim takes up to limit ready jobs and marks them done." + comes + b.popLoses(" Nothing is written when a job ends: if the worker dies"+b.popEnds()+", it is lost (at most once).")
		default:
			what = "Claim takes up to limit ready jobs and deletes their rows." + comes + b.popLoses(" A job that was taken is gone: if the worker dies"+b.popEnds()+", it is lost (at most once).")
		}
	case "hold":
		what = "Claim takes up to limit ready jobs by locking their rows until the transaction ends." + comes
	case "lease_table":
		what = "Claim takes up to limit ready jobs by a row of " + plainText(b.pkg.LeaseTable.Name) + " for each; their own rows stay as they are." + comes
	case "move":
		what = "Claim takes up to limit ready jobs by moving their rows to " + plainText(b.running.spec.Table.QualifiedName()) + "." + comes
	case "partition":
		what = "Claim reads up to limit ready jobs of one shard and writes nothing: the shard keeps workers apart, so two workers with the same shard get the same jobs. They come in queue order; when nothing is ready it returns no jobs and a nil error."
	}
	over := b // in which the claim leaves its marks
	if b.running != nil {
		over = b.running
	}
	step := queue.Claim // that writes other tables
	if b.pkg.Strategy == "pop" {
		step = queue.Finish
	}
	c.Doc = []string{what + over.also(step)}
	if c.BatchRow != nil {
		c.Doc[0] += " Where it takes none, no row of " + c.BatchRow.Table + " is left."
	}
	if c.BatchRow != nil && c.Flow == PickTake && c.Accept == nil {
		c.Doc[0] += " When others are quicker to take some of the jobs, it returns the rest: fewer than limit does not mean that no more is ready."
	}
	if c.BatchRow == nil && c.Flow == PickTake && c.Accept == nil {
		c.Doc[0] += " When others take the same jobs it looks again, further back in the queue and eight times at most: fewer than limit, or none, does not mean that no more is ready."
	}
	switch {
	case b.miscountsOthers() && b.claimsAlone():
		c.Doc[0] += " Its condition sees other rows as they were before: the other jobs of this claim do not count there."
	case b.miscountsOthers():
		c.Doc[0] += " Its condition sees other rows as they were before: what others claim at the same moment, and the other jobs of this claim, do not count there."
	}
	switch {
	case len(b.askedAgain()) > 0:
		c.Doc[0] += " What its condition reads of tables that it writes is asked again once a row is locked: of two claims that find a row at the same moment one takes it, and the other comes back with fewer jobs than are ready."
	case b.looksElsewhere():
		c.Doc[0] += " What its condition reads of other tables may have changed by the time a row is locked: it is not asked again."
	}
	if b.pkg.Strategy == "partition" && b.d.Isolation != "" {
		c.Doc[0] += " In a transaction above " + strings.ToUpper(b.d.Isolation) + " it reads the table as it was when that began."
	}
	if c.Accept != nil {
		c.Doc = append(c.Doc, b.acceptDoc(c)...)
	}
	if b.asksTimeout() && b.spec.Lease.ByClaim {
		c.Doc = append(c.Doc, timeoutDoc)
	}
	if c.LeaseArg {
		c.Doc = append(c.Doc, b.leaseDoc())
	}
	within := " in the same transaction"
	if b.pkg.Strategy == "partition" {
		within = " right behind"
	}
	c.Doc = append(c.Doc, b.payloadDoc(within)...)
	for _, rule := range []string{b.groupRule(), b.gateRule()} {
		if rule != "" {
			c.Doc = append(c.Doc, rule)
		}
	}
	end := over.rollBack(step)
	if b.running != nil && len(c.With) > 0 {
		end = mayLeave // a row in both tables
	}
	c.Doc = append(c.Doc, b.pkg.Locks+" "+b.pkg.Crash+end)
}

// timeoutDoc says what the argument timeout is.
const timeoutDoc = "timeout is the time after which a claim has run out unless it was extended. All callers have to say the same: the shortest takes jobs away from those who run them."

// looksAround reports whether SQL that tells ready rows reads other rows of the table, and sees them as
// they were before the claim. Where the engine runs each UPDATE of one row alone, it sees them as they are.
func (b *builder) looksAround() bool {
	if b.writesLockless() && b.pkg.Strategy == "guarded" {
		return false
	}
	return slices.ContainsFunc(b.stateTests(queue.Ready), func(t queue.Test) bool {
		return t.Op == queue.Raw && source.Mentions(t.SQL, "select") && source.Mentions(t.SQL, b.spec.Table.Name)
	})
}

// miscountsOthers reports whether such SQL may count rows that others claim at the same moment for what they
// were. A claim that writes nothing leaves all rows as they are.
func (b *builder) miscountsOthers() bool {
	return b.looksAround() && (b.writesClaim() || b.pkg.Strategy == "pop")
}

// looksElsewhere reports whether SQL that tells ready rows reads other tables, and their rows may change between
// that and the lock of the row: what has no statement of its own that waits for all others, or undoes one.
func (b *builder) looksElsewhere() bool {
	if b.d.SingleWriter || b.writesLockless() || b.can(dialect.OrderedUpdate) || b.looksAround() || b.pkg.Strategy == "guarded" || b.pkg.Strategy == "partition" {
		return false
	}
	return slices.ContainsFunc(b.stateTests(queue.Ready), func(t queue.Test) bool {
		return slices.ContainsFunc(t.Alternatives(), func(x queue.Test) bool { return x.Op == queue.Raw && source.Mentions(x.SQL, "select") })
	})
}

// claimsAlone reports whether no other claim writes between what a claim reads and what it writes: one
// writes at a time, or waits at the gate until the one before it is committed.
func (b *builder) claimsAlone() bool {
	return b.d.SingleWriter && b.pkg.Strategy != "guarded" || b.spec.Gate != nil
}

// leaseDoc says what the argument lease is.
func (b *builder) leaseDoc() string {
	return "lease is how long a claim is good, at least " + interval(b.leastLease()) + ": with less, which is an error, it could have run out when it begins."
}

// leastLease is how long a claim is at least good of which the caller says that, for its time is cut
// or rounded to a step of the column; 0 where nobody says it.
func (b *builder) leastLease() time.Duration {
	if l := cmp.Or(b.running, b).spec.Lease; l != nil && l.LengthArg {
		return max(2*l.Step, time.Millisecond)
	}
	return 0
}

// dropsNamed reports whether a claim deletes rows that its caller names: nothing is to be done with them
// behind it.
func (b *builder) dropsNamed() bool {
	return b.pkg.Strategy == "pop" && b.popped() == nil && !b.pkg.WorkLoop && b.spec.EndsNamed()
}

// goesOn reports whether what a claim of strategy pop takes may go on elsewhere: in another queue over the table,
// or in other tables that the claim writes.
func (b *builder) goesOn() bool {
	return b.spec.AddedBy() != nil || b.spec.PassesOn() || slices.ContainsFunc(b.spec.Transitions[queue.Finish].With, func(c *queue.Companion) bool { return c.Verb != "delete" })
}

// popLoses says what a crash behind a claim of strategy pop loses: a job, but for a claim that is all
// there is to be done, and for one of rows of another queue or of rows that it moves, which may be.
func (b *builder) popLoses(job string) string {
	switch {
	case b.dropsNamed():
		return " That is all: nothing is written later, whatever becomes of the jobs it returned."
	case b.goesOn():
		return " Nothing is written later: what a worker would do with the jobs is lost when it dies" + b.popEnds() + " (at most once)."
	}
	return job
}

// popEnds says from when on a claim of strategy pop loses jobs.
func (b *builder) popEnds() string {
	if b.writesLockless() {
		return ""
	}
	return " once that is committed"
}

// rolledBack says which jobs a claim of strategy pop does not lose.
func (b *builder) rolledBack() string {
	if b.writesLockless() {
		return ""
	}
	return ", but for those of a caller's transaction that is rolled back"
}

// amongThem says in which order the jobs of a claim come which it cannot sort by all of the
// order.
func (b *builder) amongThem(c *Claim) string {
	if len(c.Order) == 0 {
		return "come in any order"
	}
	var known []string
	for _, t := range c.Order {
		known = append(known, plainText(t.Field.Column))
	}
	return "sorted by " + strings.Join(known, ", ") + " alone"
}

// acceptDoc says of which jobs a claim asks, when, and what may have changed since.
func (b *builder) acceptDoc(c *Claim) []string {
	asks := fmt.Sprintf("accept is asked of ready jobs, the first of the queue first, until it has accepted limit of them; nil accepts every job. A job that it refuses stays as it is, and Claim reads on behind it, as far as the first %d,%03d ready jobs, or the first limit if that is more. It is not asked twice of one job. Claim writes and locks nothing while it asks, and has no transaction of its own: accept may use the database, and when it panics nothing is left to clean up.", c.Accept.Most/1000, c.Accept.Most%1000)
	var absent []string
	for _, f := range b.pkg.Fields {
		if !slices.Contains(c.Pick.Rows, f) {
			absent = append(absent, f.Name)
		}
	}
	sees := "It sees jobs as they are before the claim"
	switch {
	case len(absent) == 1:
		sees += ", without " + absent[0] + ", which the claim fills in"
	case len(absent) > 1:
		sees += ", without " + enumerated(absent) + ", which the claim fills in"
	}
	if p := b.pkg.Payload; p != nil {
		sees += "; " + enumerated(p.Names) + " of other tables comes later and is nil"
	}
	still := "is still ready"
	var counted []string
	for _, f := range b.counters() {
		counted = append(counted, plainText(f.Column))
	}
	if len(counted) > 0 {
		still += " with the same " + enumerated(counted)
	}
	return []string{asks, sees + ". A job is taken only if it " + still + "; whatever else has changed since, Claim returns as it is now. One that others took meanwhile is left out, so that fewer than limit, or none, does not mean that no more is ready."}
}

// locksAndCrash says what a claim locks and what a dead worker leaves.
func (b *builder) locksAndCrash() {
	p := b.pkg
	switch {
	case p.Strategy == "partition":
		p.Locks = "It takes no locks."
	case p.Strategy == "offset" && !b.d.SingleWriter:
		p.Locks = "It locks no row of the table; the row of the group in " + plainText(b.sideName()) + " is written in one statement, which waits for others that write it."
	case p.Strategy == "hold" && b.spec.Waits:
		p.Locks = "It waits for a row that others hold, looks again whether it is ready, and locks it until the transaction ends." + b.missesUnready()
	case p.Strategy == "hold":
		p.Locks = "It locks the rows it returns until the transaction ends and passes over rows that others hold."
		if b.sortsLocked() {
			p.Locks = "It sorts the ready rows, which locks all of them until the transaction ends, and passes over rows that others hold: another claim finds none meanwhile."
		}
	case b.d.SingleWriter:
		p.Locks = "It locks the database for writing while the statement runs."
		if len(b.payload) > 0 || b.spec.Batch != nil || p.Strategy == "move" || p.Strategy == "pop" && b.popsRead() {
			p.Locks = "It locks the database for writing until it commits."
		}
		p.Locks += " " + b.d.Fragments["writers_wait"].At(b.version)
	case p.Strategy == "lease_table" && b.can(dialect.SkipLocked):
		p.Locks = "It locks the rows it takes and their claims until it commits and passes over rows that others hold."
	case p.Strategy == "lease_table":
		p.Locks = "It reads candidates without locks and locks the rows it takes and their claims until it commits; workers that want the same rows wait for each other."
	case p.Strategy == "advisory":
		p.Locks = "It locks the rows it takes and a number for each until it commits, and passes over numbers that others hold."
	case p.Strategy == "guarded" && b.locksTable() && !b.can(dialect.Returning):
		p.Locks = "It reads candidates and takes them one by one, each by an UPDATE that compares the old state; the engine locks the table while one runs, and a caller's transaction cannot take it back."
	case p.Strategy == "guarded", p.Strategy == "move" && !b.ready.locksAsItLooks():
		p.Locks = "It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other."
	case b.locksTable():
		p.Locks = "The engine locks the table while each of its statements runs, and a caller's transaction cannot take back what they wrote."
	case b.can(dialect.OrderedUpdate) && p.Strategy != "lock_update" && p.Strategy != "hold":
		p.Locks = "It locks the rows it takes until it commits; of two claims that meet, one is undone and made again."
	case b.spec.Waits && b.can(dialect.RowLocks):
		p.Locks = "It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits."
		if b.sortsLocked() {
			p.Locks = "It waits for rows that others have locked, looks again whether they are ready, and sorts them, which locks all of them until it commits."
		}
		p.Locks += b.missesUnready()
	case b.sortsLocked() && len(b.topics()) > 0:
		p.Locks = "It sorts the ready rows of what is asked for, which locks all of them until it commits, and passes over rows that others hold: another claim of the same finds none meanwhile."
	case b.sortsLocked():
		p.Locks = "It sorts the ready rows, which locks all of them until it commits, and passes over rows that others hold: another claim finds none meanwhile."
	case b.claimPasses():
		p.Locks = "It locks the rows it takes until it commits and passes over rows that others hold."
	default:
		p.Locks = "It locks the rows it takes until it commits; another claimer waits for it."
	}
	if b.keepsRefused() && !b.sortsLocked() && p.Strategy != "guarded" && p.Strategy != "move" { // those look without locks
		p.Locks += " The server keeps locked as well what it reads and passes over"
		if !slices.ContainsFunc(b.stateTests(queue.Ready), b.joinsAsked) {
			p.Locks += ", which no claim takes"
		}
		p.Locks += "."
	}
	if b.writesOthers(queue.Claim) && !b.d.SingleWriter {
		p.Locks += " It writes rows of other jobs as well, and waits for who has those locked: of two claims that wait for each other one is undone and made again."
	}
	if b.cluster && b.writesClaim() {
		p.Locks += " The nodes of the cluster do not see each other's locks: of two claims that took the same rows, the later is undone when it commits, and made again."
	}
	held := b.heldState()
	if b.spec.Unbegun != nil {
		held = string(queue.Running)
	}
	leaves, makes := "A worker that dies leaves its jobs "+held, "makes them "+b.readyAgain()+"."
	switch {
	case b.spec.ExpiredFails && b.spec.GivenUp != "":
		makes = "makes them " + b.givenUp() + "."
	case b.spec.ExpiredFails:
		makes = "lets them fail."
	case b.spec.Transitions[queue.GiveUp] != nil && len(b.spec.RecoverLimits()) > 0:
		makes = "makes them " + b.readyAgain() + ", and those " + b.without() + " " + b.givenUp() + "."
	}
	switch {
	case p.Strategy == "offset":
		p.Crash = "A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again."
	case b.onlyChanges() && b.writesLockless():
		p.Crash = "A crash can leave a part of the rows changed."
	case b.onlyChanges():
		p.Crash = whole + " Then the rows are changed, and nothing is left to be written."
	case b.dropsNamed() && b.writesLockless():
		p.Crash = "A crash can leave a part of the rows deleted."
	case b.dropsNamed():
		p.Crash = whole + " Then the rows are gone, and nothing is left to be written."
	case p.Strategy == "pop" && b.goesOn():
		p.Crash = "Nothing is written later: what a worker would do with the jobs it took is lost when it dies" + b.rolledBack() + "."
	case p.Strategy == "pop":
		p.Crash = "A worker that dies loses the jobs it took" + b.rolledBack() + "."
	case p.Strategy == "hold":
		p.Crash = "When a worker dies, its connection ends, the locks go, and the whole batch is ready again."
	case p.Strategy == "partition":
		p.Crash = "A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard."
	case b.spec.Lease != nil && b.spec.Lease.ByClaim, b.side != nil && b.side.spec.Lease != nil:
		p.Crash = leaves + " until their lease ends; then Claim takes them again" + b.butSpent() + "."
	case b.spec.Liveness != nil && b.spec.Lease == nil:
		p.Crash = leaves + " until Recover, which goes by the workers that are alive, " + makes
	case b.spec.RecoversOwn():
		p.Crash = leaves + " until a worker of its name starts; then Recover " + makes
	case b.spec.AtStart:
		p.Crash = leaves + " until the program starts again; then Recover " + makes
	case (b.spec.Transitions[queue.Recover] != nil || b.spec.ExpiredFails) && b.recoversBySQL():
		p.Crash = leaves + " until recover_if holds for them; then Recover " + makes
	case (b.spec.Transitions[queue.Recover] != nil || b.spec.ExpiredFails) && b.recoversBoth():
		p.Crash = leaves + " until their claim expires and recover_if holds for them; then Recover " + makes
	case (b.spec.Transitions[queue.Recover] != nil || b.spec.ExpiredFails) && len(b.spec.Expired) > 0:
		p.Crash = leaves + " until their claim expires; then Recover " + makes
	case b.spec.Overlaps:
		p.Crash = leaves
	default:
		p.Crash = leaves + b.stays()
	}
	if c := b.spec.Unbegun; c != nil {
		p.Crash += " Those that it had not begun stay claimed for good, since a claim leaves " + plainText(c.Name) + " null."
	}
	if b.spec.Overlaps {
		p.Crash = strings.TrimSuffix(p.Crash, ".") + ". Nothing surely keeps a row that runs from being ready as well: a claim takes such a job again, whether its worker has died or not."
	}
}

// butSpent excepts the jobs that Claim does not take again: those whose last try the claim has counted.
func (b *builder) butSpent() string {
	a := b.spec.Attempts
	if a == nil || !b.writes(queue.Claim, a.Column) || !slices.ContainsFunc(b.stateTests(queue.Ready), b.limits) {
		return ""
	}
	return ", but for those " + b.without()
}

// stays says what becomes of the jobs of a dead worker where nothing of this queue brings them back.
func (b *builder) stays() string {
	if other, recovers := b.spec.TakenBy(); recovers {
		return " until Recover of the queue " + plainText(other.Name) + " over the same table takes them: nothing here tells that it is gone."
	} else if other != nil {
		return " until the queue " + plainText(other.Name) + " over the same table claims them: nothing here tells that it is gone."
	}
	return " for good: nothing in " + cmp.Or(plainText(b.pkg.Running), "the table") + " tells that it is gone."
}

func (b *builder) docSettle(s *Settle, name queue.TransitionName) {
	if o := b.spec.Outcome(name); o != nil {
		b.docOutcome(s, o)
		return
	}
	gone := ""
	if t := b.spec.Transitions[name]; t != nil && t.Delete && b.rows == nil && movesTo(t) == nil {
		gone = " Their rows are deleted."
	}
	switch name {
	case queue.Start:
		s.Doc = append(s.Doc, "Start marks claimed jobs as running, when work on them begins."+b.also(name))
	case queue.Finish:
		text := "Complete marks jobs as done." + b.anew(name)
		if b.spec.Cycle != nil {
			text = "Complete makes jobs that are done ready again, due " + b.nextText() + "."
			if is := b.givenBack(name); is != (returned{state: queue.Ready, held: is.held}) {
				text = "Complete gives jobs back that are done, due " + b.nextText() + ": they are " + is.again(sqlFile(s), "their") + "."
			}
			if b.spec.Attempts != nil {
				text += " Their tries begin anew."
			}
		}
		s.Doc = append(s.Doc, text+gone+b.also(name))
	case queue.Fail:
		s.Doc = append(s.Doc, "Fail marks a job as failed for good"+b.causeText(name)+"."+b.anew(name)+gone+b.also(name)+b.dropsCause())
	case queue.Retry:
		text := b.retried(s) + b.causeText(name) + "."
		switch is := b.givenBack(name); {
		case is.late && is.kept:
			text += " Then Recover makes it ready again."
		case is.late:
			text += " Then the job is ready again."
		}
		text += b.also(name)
		if b.spec.Transitions[queue.Fail] != nil && b.spec.Attempts.Limited() {
			text += " When no tries are left, it fails for good"
			if b.causeText(name) == "" {
				text += b.causeText(queue.Fail)
			}
			text += "."
			if t := b.spec.Transitions[queue.Fail]; t.Delete && movesTo(t) == nil && (b.rows == nil || b.rows.spec.FailedDeletes) {
				text += " Its row is deleted then."
			}
			text += b.alsoBy(queue.Fail, "it then")
		}
		s.Doc = append(s.Doc, text+b.dropsCause())
	case queue.Release:
		is, due := b.givenBack(name), ""
		if c := b.spec.Due; c != nil && !s.Delay && !is.late && b.writes(name, c) {
			due = b.dueBehind(b.spec.Transitions[name], c)
		}
		text := "Requeue gives jobs back unprocessed: they are " + is.again(sqlFile(s), "their") + due + b.tryCounts(name, sqlFile(s)) + "."
		if s.Delay {
			text += " A delay above zero keeps them from being due until it has passed."
		}
		s.Doc = append(s.Doc, text+b.also(name))
	case queue.Renew:
		text := "Extend begins the lease of jobs anew, from now. Call it while a job runs longer than its lease, at least twice per lease."
		switch c, v := b.extended(); {
		case c == nil:
		case v == nil && mayFire(b.spec.Table, "update"):
			text = "Extend writes what " + sqlFile(s) + " says and leaves the lease of jobs to the triggers of the table. Where none of them writes it, a job that runs longer than its lease is taken for one whose worker died."
		case v == nil:
			text = "Extend leaves the lease of jobs as it is, and writes what " + sqlFile(s) + " says. A job that runs longer than its lease is taken for one whose worker died."
		default:
			text = "Extend lets the lease of jobs be what " + sqlFile(s) + " writes to " + plainText(c.Name) + "."
		}
		s.Doc = append(s.Doc, text+b.also(name))
		if s.LeaseArg {
			s.Doc = append(s.Doc, b.leaseDoc())
		}
	}
	b.docClaimed(s, name)
}

// sqlFile is the file of the statement of a step.
func sqlFile(s *Settle) string { return "sql/" + s.Statement.Name + ".sql" }

// anew says so where a step that ends jobs leaves their rows as ready ones are.
func (b *builder) anew(name queue.TransitionName) string {
	if slices.Contains(b.spec.Anew, name) {
		return " Their rows are as ready ones are, so the next claim takes them again."
	}
	return ""
}

// extended returns the column by which a lease is measured where Extend does not begin it anew, and
// what qgen:on has it write there, nil where that is nothing.
func (b *builder) extended() (*schema.Column, *queue.Value) {
	l, t := b.spec.Lease, b.spec.Transitions[queue.Renew]
	if l == nil || t == nil {
		return nil, nil
	}
	c := cmp.Or(l.Heartbeat, l.Column)
	i := slices.IndexFunc(t.Writes, func(w queue.Write) bool { return w.Column == c })
	switch {
	case i < 0:
		return c, nil
	case t.Writes[i].Value.Kind == queue.Now:
		return nil, nil
	}
	return c, &t.Writes[i].Value
}

// retried says what becomes of a job that is tried again, and when it is due. What
// qgen:on writes takes the place of a wait and of a state.
func (b *builder) retried(s *Settle) string {
	text := "Fail makes a job ready again"
	switch is := b.givenBack(queue.Retry); {
	case is.late:
		return "Fail leaves a job " + is.held + " until its claim has run out"
	case is.state == queue.MaybeReady:
		text = "Fail gives a job back, which is " + is.again(sqlFile(s), "its")
	case is.timed:
	case is.by != nil:
		return "Fail gives a job back, which is " + is.again(sqlFile(s), "its")
	}
	due := b.waiting().Due
	if due == nil {
		return text + b.retriedWhen(s)
	}
	v, written := b.retryDue(due)
	switch k := b.pkg.Backoff; {
	case !written:
		return text + ", as due as it was"
	case v.Shift != nil && v.Shift.Wait != nil:
		return text + ", after a wait that the database works out of its row"
	case v.Shift != nil && v.Shift.Arg == queue.ArgDelay && k.Factor != 1 && b.countsFailures() && b.keepsCount():
		return text + ", after a wait"
	case v.Shift != nil && v.Shift.Arg == queue.ArgDelay && k.Factor != 1 && b.countsFailures():
		return text + ", after a wait that grows with every failure"
	case v.Shift != nil && v.Shift.Arg == queue.ArgDelay && k.Jitter > 0:
		return text + ", after about " + interval(k.Base)
	case v.Shift != nil && v.Shift.Arg == queue.ArgDelay:
		return text + ", after " + interval(k.Base)
	case v.Kind == queue.Now && v.Shift == nil && b.addsWait(due):
		return text + ", after the time that is added to " + plainText(due.Name)
	case v.Kind == queue.Now && v.Shift == nil:
		return text + " at once"
	}
	return text + ", due by what " + sqlFile(s) + " writes to " + plainText(due.Name)
}

// retriedWhen says when a job is tried again that has no due time: at once, unless what qgen:on
// writes, or leaves, in the time of its claim keeps it, or a condition of the user's may.
func (b *builder) retriedWhen(s *Settle) string {
	var ready []queue.Test
	if state := b.waiting().States[queue.Ready]; state != nil {
		ready = state.Tests
	}
	if is := b.givenBack(queue.Retry); is.timed {
		return ", by what " + sqlFile(s) + " writes to " + plainText(is.by.Name)
	}
	if slices.ContainsFunc(ready, func(t queue.Test) bool { return t.Op == queue.Raw }) {
		return ""
	}
	return " at once"
}

// triesOf returns how many tries a claim and the step that gives its job back use together; not known
// where SQL or a value takes the place of the count. Where the row moves, the step is as the role says.
func (b *builder) triesOf(name queue.TransitionName) (n int, known bool) {
	a := b.spec.Attempts
	if a == nil || b.ready != nil {
		if name == queue.Retry {
			return 1, true
		}
		return 0, true
	}
	for _, step := range []queue.TransitionName{queue.Claim, queue.Start, name} {
		t := b.spec.Transitions[step]
		if t == nil {
			continue
		}
		if t.Delete { // the count goes with the row that stands for the claim
			return 0, true
		}
		for _, w := range t.Writes {
			switch {
			case w.Column != a.Column || w.Value.Kind == queue.Old:
			case w.Value.Kind != queue.Add:
				return 0, false
			default:
				n += w.Value.By
			}
		}
	}
	if a.Down {
		n = -n
	}
	return n, true
}

// triesUsed says for the head of a statement what that makes of the tries.
func (b *builder) triesUsed(name queue.TransitionName) string {
	switch n, known := b.triesOf(name); {
	case !known:
		return "its tries by what is written to " + plainText(b.spec.Attempts.Column.Name)
	case n == 0:
		return "no try used"
	case n == 1:
		return "one try used"
	case n > 0:
		return strconv.Itoa(n) + " tries used"
	}
	return "tries given back"
}

// tryCounts says the same behind a sentence on jobs that are ready again, of which the try does not
// count unless qgen:on says otherwise.
func (b *builder) tryCounts(name queue.TransitionName, by string) string {
	beyond := ""
	if b.passesLimit(name) {
		beyond = "; no limit is looked at, so that a job without tries left is claimed again"
	}
	switch n, known := b.triesOf(name); {
	case !known:
		return ", with what " + by + " writes to " + plainText(b.spec.Attempts.Column.Name) + " as their tries" + beyond
	case n == 0:
		return ", and the try does not count"
	case n > 0:
		return ", and the try counts" + beyond
	}
	return ", with tries given back"
}

// passesLimit reports whether a step that makes a job ready again counts the try, or may, where a claim takes rows
// at the limit as well: Fail and Recover alone look at it.
func (b *builder) passesLimit(name queue.TransitionName) bool {
	n, known := b.triesOf(name)
	a := b.spec.Attempts
	return a.Limited() && !a.LimitClaim && (n > 0 || !known)
}

// countsFailures reports whether Fail knows how often a job has failed.
func (b *builder) countsFailures() bool {
	a := b.spec.Attempts
	return a != nil && (!a.Down || a.Max > 0)
}

// keepsCount reports whether qgen:on has Fail leave the count of failures as it is.
func (b *builder) keepsCount() bool {
	a := b.spec.Attempts
	return b.side == nil && b.ready == nil && b.running == nil && !a.OnClaim && !b.writes(queue.Retry, a.Column)
}

// retryDue is what the column of the due time gets when a job is tried again, false when it
// stays as it is.
func (b *builder) retryDue(due *schema.Column) (queue.Value, bool) {
	t := b.spec.Transitions[queue.Retry]
	for _, w := range t.Writes {
		if w.Column == due {
			return w.Value, true
		}
	}
	if to := movesTo(t); to != nil {
		for _, v := range to.Set {
			if v.Column.Column == due {
				return v.Value, true
			}
		}
	}
	return queue.Value{}, false
}

// addsWait reports whether the due time is compared with a wait added to it.
func (b *builder) addsWait(due *schema.Column) bool {
	ready := b.waiting().States[queue.Ready]
	return ready != nil && slices.ContainsFunc(ready.Tests, func(t queue.Test) bool {
		return t.Column == due && slices.ContainsFunc(t.Values, func(v queue.Value) bool { return v.Shift != nil })
	})
}

// leavesReady returns the column in which qgen:on writes, when a job becomes ready, something
// else than the values of a ready row; sure says that it is none of them, else that cannot be
// known.
func (b *builder) leavesReady(name queue.TransitionName) (c *schema.Column, sure bool) {
	t := b.stepOf(name)
	if c, sure := b.leaves(t, queue.Ready); c != nil {
		return c, sure
	}
	if t == nil {
		return nil, false
	}
	for _, w := range t.Writes { // a value that nobody knows, where a null tells
		null := func(t queue.Test) bool {
			return t.Column == w.Column && (t.Op == queue.IsNull || t.Op == queue.NotNull) && len(t.Or) == 0
		}
		if w.Value.Kind == queue.SQLExpr && slices.ContainsFunc(b.stateTests(queue.Ready), null) {
			return w.Column, false
		}
	}
	return t.Doubts, false
}

// leaves is the same of a step to any state.
func (b *builder) leaves(t *queue.Transition, state queue.StateName) (c *schema.Column, sure bool) {
	to := b.spec.States[state]
	if to == nil || t == nil {
		return nil, false
	}
	for _, w := range t.Writes {
		i := slices.IndexFunc(to.Tests, func(t queue.Test) bool { return t.Column == w.Column && t.Op == queue.In && len(t.Or) == 0 })
		if i < 0 || w.Value.Kind != queue.Literal && w.Value.Kind != queue.SQLExpr {
			continue
		}
		taken := slices.ContainsFunc(to.Tests[i].Values, func(v queue.Value) bool { return v.Kind == queue.Literal && v.Text == w.Value.Text })
		if w.Value.Kind == queue.SQLExpr || !taken {
			return w.Column, w.Value.Kind == queue.Literal
		}
	}
	return nil, false
}

// waiting is the queue of the table in which jobs wait.
func (b *builder) waiting() *queue.Spec {
	if b.ready != nil {
		return b.ready.spec
	}
	return b.spec
}

// nextText says when a job of a cycle is due again.
func (b *builder) nextText() string {
	c := b.spec.Cycle
	writes := b.spec.Transitions[queue.Finish].Writes
	i := slices.IndexFunc(writes, func(w queue.Write) bool { return w.Column == c.Due })
	switch {
	case i < 0:
		return "as it was"
	case !writes[i].Value.Same(c.Next): // qgen:on says another
		return "by what sql/complete.sql writes to " + plainText(c.Due.Name)
	case c.Asks(c.Next) && c.Ends:
		return "when the caller says with each; with nil one is never due again"
	case c.Asks(c.Next):
		return "when the caller says with each"
	case c.Next.Shift == nil:
		return "after the time that the row adds to " + plainText(c.Due.Name)
	case c.Next.Shift.Wait != nil:
		return "after a time that the database works out of the row"
	case c.Next.Shift.Column != nil:
		return "after the time that the row has in " + plainText(c.Next.Shift.Column.Name)
	}
	return interval(c.Next.Shift.Fixed) + " later"
}

// docOutcome says what a way to settle jobs does that the user names.
func (b *builder) docOutcome(s *Settle, o *queue.Outcome) {
	method := exported(o.Name)
	text := method + " settles jobs as " + strings.ReplaceAll(snake(o.Name), "_", " ")
	switch {
	case o.Transition.Delete:
		text += ": their rows are deleted."
	case o.To == queue.Ready:
		text += ": they are " + b.givenBack(o.Transition.Name).again(sqlFile(s), "their")
		if c := b.spec.Due; c != nil && !b.givenBack(o.Transition.Name).late {
			text += b.dueBehind(o.Transition, c)
		}
		if b.spec.Attempts != nil {
			text += b.tryCounts(o.Transition.Name, "it")
		}
		if b.passesLimit(o.Transition.Name) {
			b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("outcome %q counts the try and looks at no limit: a job without tries left is claimed again, and only Fail and Recover end it; limit=claim at column %q keeps it from being claimed", o.Name, plainText(b.spec.Attempts.Column.Name)))
		}
		text += "."
	default:
		text += ": they are " + string(o.To) + "." + b.anew(o.Transition.Name)
	}
	s.Doc = append(s.Doc, text+b.also(o.Transition.Name))
	b.docClaimed(s, o.Transition.Name)
}

// dueBehind says when jobs are due again that a step makes ready.
func (b *builder) dueBehind(t *queue.Transition, due *schema.Column) string {
	i := slices.IndexFunc(t.Writes, func(w queue.Write) bool { return w.Column == due })
	if i < 0 {
		return ", as due as they were"
	}
	switch v := t.Writes[i].Value; {
	case v.Kind == queue.Now && v.Shift == nil:
		return ", due at once"
	case v.Kind == queue.Now && v.Shift.Given != "":
		return ", due when " + b.askedName(b.spec.AskedFor(v.Shift.Given)) + " has passed, by the database's clock"
	}
	return ", due by what it writes to " + plainText(due.Name)
}

// docClaimed says of what settles claimed jobs when it acts, and its locks.
func (b *builder) docClaimed(s *Settle, name queue.TransitionName) {
	if b.pkg.Hold {
		text := "It takes effect when the transaction commits, and needs no locks but those of Claim. A crash before that undoes it and gives the jobs back."
		if name == queue.Fail || name == queue.Retry {
			text += " What the work has changed in the transaction is committed as well: where that must not stay, go back to a savepoint first."
		}
		s.Doc = append(s.Doc, text)
		return
	}
	since, again, held := "are settled already", " After an error it may be called again.", b.heldState()
	if name == queue.Start {
		held = "claimed" // those that run have begun
		since, again = "are begun or settled already", " After an error it may be called again; where it had been done all the same, that returns ErrLost."
	}
	if t := b.stepOf(name); t != nil && b.rows == nil && slices.ContainsFunc(b.leaving(t), func(t queue.Test) bool {
		return t.Op == queue.Raw && source.Mentions(t.SQL, "select")
	}) {
		since += ", or other rows say that they are not " + held + " any more"
	}
	looksHeld := ""
	if back := b.looksHeld(name); len(back) > 0 && name != queue.Start {
		since = "have ended already"
		looksHeld = " A job that " + alternatives(back) + " gave back, and that nobody has claimed since, looks as if it were still held: it acts on that as well."
	}
	s.Doc = append(s.Doc, b.actsOn(held, since)+", it does the rest and returns an error that is ErrLost and, as a *LostError, names their keys."+looksHeld,
		b.settleEnds(s, name, again)+b.rollBackOf(s, name))
}

// stepOf returns the transition of a step, also of an outcome.
func (b *builder) stepOf(name queue.TransitionName) *queue.Transition {
	if o := b.spec.Outcome(name); o != nil {
		return o.Transition
	}
	return b.spec.Transitions[name]
}

// looksHeld returns the methods that give a job back and surely leave in its row all by which
// a step tells that it is held: what hides the row is the time alone.
func (b *builder) looksHeld(name queue.TransitionName) []string {
	step := b.stepOf(name)
	if step == nil || b.side != nil || b.ready != nil || b.running != nil || b.rows != nil {
		return nil
	}
	tests, fence := b.leaving(step), b.spec.Fence.Columns
	stays := func(t *queue.Transition) bool {
		return t != nil && !t.Delete && movesTo(t) == nil && !slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
			return slices.Contains(fence, w.Column) || slices.ContainsFunc(tests, func(test queue.Test) bool {
				return slices.ContainsFunc(test.Alternatives(), func(a queue.Test) bool {
					switch {
					case a.Op == queue.Raw:
						return b.spec.Reads(a.SQL, w.Column)
					case a.Column != w.Column:
						return false
					}
					return w.Value.Kind != queue.Literal && w.Value.Kind != queue.Null || (&queue.Transition{Writes: []queue.Write{w}}).Changes(tests)
				})
			})
		})
	}
	var methods []string
	if stays(b.spec.Transitions[queue.Retry]) {
		methods = append(methods, "Fail")
	}
	if b.pkg.Requeue != nil && stays(b.spec.Transitions[queue.Release]) {
		methods = append(methods, "Requeue")
	}
	for _, o := range b.spec.Outcomes {
		if o.To == queue.Ready && stays(o.Transition) {
			methods = append(methods, exported(o.Name))
		}
	}
	return methods
}

// alternatives joins words by commas and or.
func alternatives(words []string) string {
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return words[0]
}

// actsOn says by what a step that settles jobs tells that they are its own, and when they are
// not; held is the state from which it leads, and since what may have become of them.
func (b *builder) actsOn(held, since string) string {
	switch level := b.pkg.Guarantee; {
	case b.spec.Fence.Said && b.side == nil && (level == queue.FenceClaimed || level == queue.FenceStatus && b.comesBack() != ""):
		return "It acts only on jobs whose rows hold what their claim wrote to " + b.fenceNames() + ": when something else stands there, or jobs " + since
	case level > queue.FenceStatus, b.side != nil:
		return "It acts only on the claim that a job came from: when jobs were claimed by others since, or " + since
	case level == queue.FenceNone:
		return "It acts on jobs that nobody has settled, and tells no claim from another: when jobs " + since
	case b.comesBack() == "":
		return "It acts only on jobs that are " + held + ": when jobs " + since
	case len(b.pkg.Fence) > 0:
		return "It acts only on jobs that are with the worker that claimed them: when jobs are with others, or " + since
	}
	return "It acts on jobs that are " + held + ", also where others have claimed them since: when jobs were given back, or " + since
}

// settleEnds says what locks a step takes that settles jobs, what a crash leaves of it, and
// what to do after an error.
func (b *builder) settleEnds(s *Settle, name queue.TransitionName, again string) string {
	switch {
	case s.Alone && (name == queue.Fail || name == queue.Retry): // of one job
		return alone + again
	case s.Alone:
		return alone + " Several jobs are written one after the other: a crash or an error leaves those done that were written by then, for which it returns ErrLost when it is called again."
	case b.writesLockless():
		return alone + " A crash can leave a part of the jobs done." + again
	}
	return b.locksOfWrite("It locks the rows it changes until it commits.") + " " + b.crashLeaves(whole, name) + again
}

// alone says what an operation locks where the storage engine locks no rows.
const alone = "The engine locks the table while a statement runs, and a caller's transaction cannot take it back."

// rollBackOf is rollBack of an operation over claimed jobs.
func (b *builder) rollBackOf(s *Settle, name queue.TransitionName) string {
	if s.Lock == nil {
		return "" // one statement
	}
	return b.rollBack(name)
}

// rollBack says what the caller of an operation of several statements has to do.
func (b *builder) rollBack(names ...queue.TransitionName) string {
	switch {
	case !slices.ContainsFunc(names, b.hasCompanions):
		return ""
	case b.writesLockless() && slices.ContainsFunc(names, settles):
		return " An error may leave a part of it, and nothing keeps a job from being lost while other tables are written for it."
	case slices.ContainsFunc(names, func(name queue.TransitionName) bool { return !b.atOnce(name) }):
		return " An error may leave a part of it."
	}
	return mayLeave
}

// settles reports whether a step is one of whoever holds the job.
func settles(name queue.TransitionName) bool {
	return !slices.Contains([]queue.TransitionName{queue.Enqueue, queue.Claim, queue.Recover, queue.GiveUp, queue.Redrive, queue.Purge}, name)
}

// within says of what a step writes to other tables that it is one with the step.
func (b *builder) within(name queue.TransitionName) string {
	if b.atOnce(name) {
		return " in the same transaction"
	}
	return ""
}

// mayLeave says what an error leaves of several statements.
const mayLeave = " In the caller's transaction an error may leave a part of it: roll back."

// crashLeaves says what a crash leaves of steps that, with what they write to other tables, may be no whole.
func (b *builder) crashLeaves(text string, names ...queue.TransitionName) string {
	if slices.ContainsFunc(names, func(name queue.TransitionName) bool { return !b.atOnce(name) }) {
		return "A crash can leave a part of it."
	}
	return text
}

// whole says what a crash leaves of one statement.
const whole = "A crash leaves it done as a whole or not at all."

// locksOfWrite says what an operation that writes locks: rows, as told, or on a
// server that lets one statement write at a time everything.
func (b *builder) locksOfWrite(rows string) string {
	if b.d.SingleWriter {
		return "It locks the database for writing while it runs."
	}
	return rows
}

// reads says what an operation that only reads locks and leaves.
const reads = "It takes no locks and changes nothing, so a crash leaves nothing behind."

// causeText says what becomes in a step of the cause that Fail is given.
func (b *builder) causeText(name queue.TransitionName) string {
	if b.spec.Error == nil {
		return ""
	}
	if t := b.stepOf(name); t != nil {
		for _, w := range t.Writes {
			if w.Column == b.spec.Error.Column && (w.Value.Kind == queue.Null || w.Value.Kind == queue.Literal) {
				return ""
			}
		}
	}
	return " and records the cause in " + plainText(b.spec.Error.Column.Name)
}

// dropsCause says that nothing keeps the cause that Fail is given, where that is so.
func (b *builder) dropsCause() string {
	if b.spec.Error != nil || b.side != nil {
		return ""
	}
	for _, name := range []queue.TransitionName{queue.Retry, queue.Fail} {
		t := b.spec.Transitions[name]
		if t != nil && slices.ContainsFunc(t.With, func(c *queue.Companion) bool { return c.Takes(queue.ArgError) }) {
			return ""
		}
	}
	return " Nothing keeps the cause: no column is said to (qgen:error)."
}

// givesUp reports whether a step of Recover lets jobs fail.
func (s *Sweep) givesUp() bool {
	return slices.ContainsFunc(s.Steps, func(step SweepStep) bool { return step.Statement.Name == "recover_failed" })
}

// docSweep says what Recover and Redrive do.
func (b *builder) docSweep(s *Sweep, op string) {
	switch op {
	case "Recover":
		whose := "of dead workers "
		if s.AtStart {
			whose = ""
		}
		s.Doc = []string{"Recover makes up to limit jobs " + whose + b.readyAgain() + ": " + b.whoIsDead() + "."}
		switch {
		case b.spec.ExpiredFails && b.spec.GivenUp != "":
			s.Doc[0] = "Recover makes up to limit jobs of dead workers " + b.givenUp() + ": " + b.whoIsDead() + "."
		case b.spec.ExpiredFails:
			s.Doc[0] = "Recover lets up to limit jobs " + whose + "fail, which are not run again: " + b.whoIsDead() + "."
		case b.onlyGivesUp():
			s.Doc[0] = "Recover lets up to limit jobs of dead workers fail: " + b.whoIsDead() + " and that have no tries left. Others are claimed again."
		case s.givesUp():
			s.Doc[0] += " Those " + b.without() + " become " + b.givenUp() + "."
		}
		if t := b.spec.Transitions[queue.GiveUp]; t != nil && t.Delete && movesTo(t) == nil && b.side == nil && b.ready == nil && b.running == nil {
			s.Doc[0] += " Rows of jobs that fail are deleted."
		}
		if b.spec.Recovered == queue.MaybeReady || b.spec.GivenUp != "" {
			s.Doc[0] += " What qgen:on writes tells which."
		}
		if text := b.alsoDoes(queue.Recover); text != "" {
			s.Doc[0] += " For rows that become " + b.recovered() + " it " + text + b.within(queue.Recover) + "."
		}
		if text := b.alsoDoes(queue.GiveUp); text != "" {
			s.Doc[0] += " For rows that become " + b.givenUp() + " it " + text + b.within(queue.GiveUp) + "."
		}
		s.Doc[0] += " It returns how many rows it changed."
		if s.AtStart {
			s.Doc = append(s.Doc, b.atStartDoc())
		} else {
			often := "how often says after what time a job is missed whose worker has gone."
			if b.spec.Lease != nil || b.side != nil {
				often = "once per lease is often enough."
			}
			s.Doc[0] += " Any number of processes may call it; " + often
		}
	case "Redrive":
		anew := ", as if they had never been tried,"
		if a := b.spec.Attempts; a != nil && b.side == nil && b.ready == nil && b.running == nil && !b.writes(queue.Redrive, a.Column) {
			anew = ""
		}
		s.Doc = []string{"Redrive makes up to limit failed jobs ready again" + anew + " and returns how many." + b.also(queue.Redrive)}
	}
	steps := map[string][]queue.TransitionName{"Recover": {queue.Recover, queue.GiveUp}, "Redrive": {queue.Redrive}}[op]
	b.sweepEnds(s, steps...)
}

// docPurge says which rows an operation removes.
func (b *builder) docPurge(p *Purge) {
	rows, stay := "finished rows", ""
	if p.Asked {
		rows = "rows for which purge_if holds, whatever their state,"
	}
	if len(p.Of) == 1 && (b.spec.PurgePos.IsValid() || p.Of[0] == queue.Failed) {
		rows = string(p.Of[0]) + " rows"
		if len(b.spec.Purges) == 1 {
			stay = map[queue.StateName]string{queue.Done: " Failed ones stay.", queue.Failed: " Done ones stay."}[p.Of[0]]
		}
	}
	if p.OlderThan {
		rows += " that are older than olderThan, by the database's clock,"
	}
	if slices.ContainsFunc(p.Steps, func(step SweepStep) bool { return step.Statement.Name == purgeOverdue }) {
		rows += " and ready ones whose time was over that long ago"
	}
	p.Doc = []string{p.Method + " deletes up to limit " + rows + " and returns how many." + stay + b.also(queue.Purge) + " Call it in batches of some thousand until it returns 0."}
	b.sweepEnds(p.Sweep, queue.Purge)
}

// purgedText says which rows are removed when their jobs have ended.
func (b *builder) purgedText() string {
	if b.spec.PurgeIf != nil {
		return "purge_if"
	}
	if of := b.pkg.Purges[0].Of; len(b.pkg.Purges) == 1 && len(of) == 1 && b.spec.PurgePos.IsValid() {
		return string(of[0])
	}
	return "finished"
}

// purges returns the names of the operations that remove rows.
func (b *builder) purges() []string {
	var names []string
	for _, p := range b.pkg.Purges {
		names = append(names, p.Method)
	}
	return names
}

// sweepEnds says what an operation locks that takes these steps of rows that nobody holds, and
// what a crash or an error leaves of it.
func (b *builder) sweepEnds(s *Sweep, steps ...queue.TransitionName) {
	if AsksTimeout(s.Statements()...) {
		s.Doc = append(s.Doc, timeoutDoc)
	}
	crash := whole
	if len(s.Steps) > 1 {
		crash = "A crash leaves each of its parts done as a whole or not at all."
	}
	crash = b.crashLeaves(crash, steps...)
	locks, looks := "It locks the rows it changes until it commits and passes over rows that others hold.", "update_some"
	if s.Steps[0].Lock != nil {
		looks = "select_lock"
	}
	switch {
	case b.can(dialect.OrderedUpdate) && s.Steps[0].Lock == nil:
		locks = "It locks the rows it changes until it commits; of two statements that meet, one is undone and made again."
	case !b.passes(looks):
		locks = "It locks the rows it changes until it commits and waits for rows that others hold."
	}
	if slices.ContainsFunc(s.Steps, func(step SweepStep) bool { return step.Statement.keeps }) {
		locks += " The server keeps locked as well what it reads and passes over."
	}
	if b.writesLockless() {
		locks, crash = alone, "A crash can leave a part of the rows changed."
	}
	s.Doc = append(s.Doc, b.locksOfWrite(locks)+" "+crash+b.rollBack(steps...))
}

// without says of which jobs whose claims have run out none is tried again.
func (b *builder) without() string {
	limits := b.spec.RecoverLimits()
	switch {
	case !slices.ContainsFunc(limits, func(a *queue.Attempts) bool { return a.OnRecover }):
		return "without tries left"
	case len(limits) > 1:
		return "whose tries or recoveries are spent"
	}
	return "whose recoveries are spent"
}

// recovered says what Recover makes of a row that it does not let fail.
func (b *builder) recovered() string { return string(cmp.Or(b.spec.Recovered, queue.Ready)) }

// givenUp says what Recover makes of a row that it gives up.
func (b *builder) givenUp() string { return string(cmp.Or(b.spec.GivenUp, queue.Failed)) }

// readyAgain says the same where people are told what Recover is for.
func (b *builder) readyAgain() string { return cmp.Or(string(b.spec.Recovered), "ready again") }

// onlyGivesUp reports whether Recover makes no row ready.
func (b *builder) onlyGivesUp() bool {
	return b.side == nil && b.spec.Transitions[queue.Recover] == nil
}

// atStartDoc says when Recover may be called that takes rows from whoever has them.
func (b *builder) atStartDoc() string {
	text := "It may be called only while no worker of any process runs, for it takes their jobs away as well: when the program starts, before its first Claim, until it returns 0."
	if b.spec.RecoversOwn() {
		text = "The name is that of WithWorker. It may be called while workers of other names run, and never while another has this name, for it takes the jobs of that as well: when the worker starts, before its first Claim, until it returns 0. For a worker that will not come back, a Queue of its name may call it."
	}
	if b.pkg.WorkLoop {
		text += " Work does that."
	}
	return text
}

// recoversBySQL reports whether an expression of the user's alone tells that a claim has run out.
func (b *builder) recoversBySQL() bool {
	return b.spec.Liveness == nil && len(b.spec.Expired) == 1 && b.spec.Expired[0].Op == queue.Raw
}

// recoversBoth reports whether a claim has run out where both its time and an expression of the user's say so.
func (b *builder) recoversBoth() bool {
	return b.spec.Liveness == nil && len(b.spec.Expired) > 1 && b.spec.Expired[1].Op == queue.Raw
}

// whoIsDead says which rows Recover is for.
func (b *builder) whoIsDead() string {
	l := b.spec.Liveness
	switch {
	case b.spec.RecoversOwn():
		return "those that carry its worker's name, which count as left by that when it ended"
	case b.spec.AtStart:
		return "all that somebody has, which count as left by the program when it ended"
	case b.recoversBySQL():
		return "rows for which recover_if holds"
	case b.recoversBoth():
		return "rows whose claim has expired and for which recover_if holds"
	case l == nil:
		return "rows whose claim has expired"
	}
	rows := "rows whose worker "
	if b.spec.Lease != nil {
		rows = "rows whose claim has expired or whose worker "
	}
	if l.Listed {
		return rows + "is not among those that are alive"
	}
	return rows + plainText(l.Table) + " does not have as one that is alive"
}

// addedState says in which state Enqueue leaves a job: the words for a ready one, unless qgen:on
// writes something else.
func (b *builder) addedState(ready string) string {
	if said := b.saysReady(); len(said) > 0 {
		return "ready or not as its caller says by " + enumerated(said)
	}
	switch c, sure := b.leavesReady(queue.Enqueue); {
	case sure:
		return "not ready yet by what it writes to " + plainText(c.Name)
	case c != nil:
		return "ready or not by what it writes to " + plainText(c.Name)
	}
	if c := b.unset(); c != nil {
		return "not ready before something else sets " + plainText(c.Name)
	}
	if c := b.undue(); c != nil && (b.fields[c] == nil || !b.fields[c].New) {
		return "not ready before something else sets " + plainText(c.Name)
	}
	return ready
}

// readsOfNew says what a server may lock where the values of a new row read other rows; "" where they
// read none.
func (b *builder) readsOfNew() string {
	t := b.spec.Transitions[queue.Enqueue]
	if t == nil || !b.can(dialect.ReadsLocked) || !slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
		return w.Value.Kind == queue.SQLExpr && source.Mentions(w.Value.Text, "select")
	}) {
		return ""
	}
	return ", but for the rows that its sub-query reads: the server may lock them as shared"
}

// saysReady returns the columns by which the caller of Enqueue says whether a job is ready.
func (b *builder) saysReady() (columns []string) {
	t := b.spec.Transitions[queue.Enqueue]
	if t == nil {
		return nil
	}
	for _, w := range t.Writes {
		tells := func(t queue.Test) bool {
			some := []queue.Op{queue.In, queue.NotIn}
			either := []queue.Op{queue.In, queue.NotIn, queue.IsNull, queue.NotNull} // and no time
			return t.Column == w.Column && (slices.Contains(some, t.Op) || !slices.ContainsFunc(t.Alternatives(), func(x queue.Test) bool {
				return x.Column != w.Column || !slices.Contains(either, x.Op)
			}))
		}
		if w.Value.Kind == queue.Given && slices.ContainsFunc(b.stateTests(queue.Ready), tells) {
			columns = append(columns, plainText(w.Column.Name))
		}
	}
	return columns
}

// added returns in what state explain draws a new job.
func (b *builder) added() string {
	switch c, sure := b.leavesReady(queue.Enqueue); {
	case len(b.saysReady()) > 0, c != nil && !sure:
		return string(queue.MaybeReady)
	case c != nil, b.unset() != nil:
		return "not ready yet"
	}
	return string(queue.Ready)
}

// unset returns a column in which a new row has a null that a ready one does not have, whatever NewJob
// says; nil where there is none.
func (b *builder) unset() *schema.Column {
	ready, enqueue := b.spec.States[queue.Ready], b.spec.Transitions[queue.Enqueue]
	if ready == nil || enqueue == nil {
		return nil
	}
	for _, t := range ready.Tests {
		c := t.Column
		if c == nil || t.Op != queue.NotNull || len(t.Or) > 0 || c.NotNull || c.HasDefault || c.Generated || b.spec.Table.View ||
			slices.ContainsFunc(enqueue.Writes, func(w queue.Write) bool { return w.Column == c }) {
			continue
		}
		if !b.given(b.roles[c]) {
			return c
		}
	}
	return nil
}

// undue returns the column in which a new row has a null with which it is never ready, unless
// NewJob says otherwise; nil where none has.
func (b *builder) undue() *schema.Column {
	ready, enqueue := b.spec.States[queue.Ready], b.spec.Transitions[queue.Enqueue]
	if ready == nil || enqueue == nil {
		return nil
	}
	for _, t := range ready.Tests {
		c := t.Column
		if c == nil || c.NotNull || c.HasDefault || c.Generated || slices.ContainsFunc(enqueue.Writes, func(w queue.Write) bool { return w.Column == c }) {
			continue
		}
		compares := func(t queue.Test) bool {
			return t.Column == c && (t.Op == queue.Less || t.Op == queue.LessEqual || t.Op == queue.Greater || t.Op == queue.GreatEqual)
		}
		if !slices.ContainsFunc(t.Alternatives(), func(t queue.Test) bool { return !compares(t) }) {
			return c
		}
	}
	return nil
}

// readyWhen says of a new job that it can be claimed, and when.
func (b *builder) readyWhen(e *Enqueue) string {
	due := slices.ContainsFunc(e.Fields, func(f *Field) bool { return f.Due })
	switch {
	case due && b.spec.Besides:
		return "ready to be claimed when it is due and the conditions of the queue hold"
	case due:
		return "ready to be claimed when it is due"
	case b.spec.Besides:
		return "ready to be claimed while the conditions of the queue hold"
	}
	return "ready to be claimed"
}

func (b *builder) docEnqueue(e *Enqueue) {
	if e.Upsert {
		b.docUpsert(e)
		return
	}
	appears, all := "With a Queue on the caller's transaction the job appears when that commits.", "Either all are added or none."
	none, some := "After an error none is added.", "all of the jobs added or none"
	if b.writesLockless() {
		appears = "It appears at once, with a Queue on the caller's transaction, too."
		none, some = "After an error some of them may have been added.", "some of the jobs added and others not"
		all = none
	}
	one, many := "Enqueue adds a job, "+b.addedState(b.readyWhen(e)), "EnqueueMany adds "
	locks := "It locks nothing that others wait for" + b.readsOfNew() + "."
	switch {
	case e.Absent:
		if b.spec.Absent || b.spec.EnqueueIf.Counts {
			locks = ""
		}
		one, many = one+b.leftOut(e, appears), many+b.leftOutMany(e, none)
	case e.One.Rows != nil:
		one, many = one+", and returns its key. "+appears, many+"jobs and returns their keys in the order of news. "+all
	default:
		one, many = one+". "+appears, many+"jobs. "+all
	}
	also := b.also(queue.Enqueue)
	if also != "" {
		locks = "It locks the rows of other tables that it writes, until it commits."
	}
	switch {
	case e.If && b.spec.EnqueueIf.Counts:
		locks = strings.TrimSpace(dialect.Fill(b.d.Fragments["if_rule"].At(b.version), "those", b.others(e)) + " " + locks)
	case e.Like:
		locks = strings.TrimSpace(b.d.Fragments["like_rule"].At(b.version) + " " + locks)
	case b.spec.Absent:
		locks = strings.TrimSpace("It waits for a transaction that adds or deletes a row of the same unique key." + b.heldWaits() + " " + locks)
	}
	if e.If && !b.spec.EnqueueIf.Counts {
		locks = strings.TrimSpace(locks + " What enqueue_if reads of other tables may have changed when it commits.")
	}
	locks = b.locksOfWrite(locks)
	if b.writesLockless() {
		locks = alone
	}
	const unknown = " When the connection breaks before the answer comes, %s may have been added all the same."
	end := b.rollBack(queue.Enqueue)
	var left []queue.TransitionName // of which a crash can leave a part
	if also != "" {
		left = append(left, queue.Enqueue)
	}
	e.Doc = []string{one + also, locks + " " + b.crashLeaves("A crash leaves the job added or not.", left...) + fmt.Sprintf(unknown, "it") + end}
	e.ManyDoc = []string{many + also, locks + " " + b.crashLeaves("A crash leaves "+some+".", left...) + fmt.Sprintf(unknown, "they") + end}
}

// buildDoc writes the package comment.
func (b *builder) buildDoc() {
	p := b.pkg
	uses, tables, they := "the table "+plainText(p.Table), "The table needs", "it does"
	if p.Running != "" {
		uses = "the tables " + plainText(p.Table) + " and " + plainText(p.Running)
		tables, they = "The tables need", "they do"
	}
	p.Doc = append(p.Doc,
		fmt.Sprintf("Package %s uses %s as a queue of jobs on %s and later.", p.Name, uses, p.Engine),
		b.diagram(),
		fmt.Sprintf("Jobs are claimed by the strategy %s: %s.", p.Strategy, b.reason()),
		b.guarantee())
	if p.Start != nil {
		ends := "a claim that runs out before Start is recovered like one that runs out after it"
		switch {
		case b.spec.Unbegun != nil:
			ends = "a claim does not run out before Start, for it leaves " + plainText(b.spec.Unbegun.Name) + " null: Recover finds none that has not begun"
		case len(b.spec.Expired) == 0 && !b.spec.AtStart:
			ends = "a worker that dies leaves it as it leaves a running one"
		case !slices.ContainsFunc(b.spec.Expired, compares):
			ends = "Recover takes it as it takes a running one"
		}
		p.Doc = append(p.Doc, "Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and "+ends+".")
	}
	if b.spec.Cycle != nil {
		ready := "makes it ready again"
		if c, _ := b.leavesReady(queue.Finish); c != nil {
			ready = "gives it back"
		}
		text := "A job never ends: Complete " + ready + ", due " + b.nextText() + ". Who wants one to end deletes its row."
		if i := slices.IndexFunc(p.Outcomes, func(o *Outcome) bool { return o.To == queue.Deleted }); i >= 0 {
			text = "Complete makes a job ready again, due " + b.nextText() + ". " + p.Outcomes[i].Method + " alone ends one: it deletes its row."
		}
		p.Doc = append(p.Doc, text)
	}
	for _, rule := range []string{b.groupRule(), b.gateRule()} {
		if rule != "" {
			p.Doc = append(p.Doc, rule)
		}
	}
	p.Doc = append(p.Doc, p.Locks+" "+p.Crash)
	if b.writesLockless() {
		p.Doc = append(p.Doc, "The table is of the engine "+b.spec.Table.Engine+", which has no transactions and locks no rows: what is written stays written, whatever becomes of the transaction of the caller's. The package works over InnoDB as well, and Verify takes that; generated again from such a DDL it settles many jobs at once.")
	}
	if p.Workers != "" {
		p.Doc = append(p.Doc, "Who claims is told by an id of the table "+plainText(p.Workers)+": every worker says its own with WithWorker.")
	}
	if b.cluster {
		p.Doc = append(p.Doc, b.clusterRules())
	}
	if c := p.Coexistence; c != nil && c.Warning != "" {
		p.Doc = append(p.Doc, c.Warning)
	}
	if text := b.besideTables(); text != "" {
		p.Doc = append(p.Doc, text)
	}
	if b.offset != nil {
		p.Doc = append(p.Doc, b.lateRows(), "Before the package is used, schema/offset.sql creates the table "+plainText(b.sideName())+", which keeps a mark for each group.")
	}
	if p.Hold {
		p.Doc = append(p.Doc, "The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.")
	}
	var wants []string
	for _, ix := range p.Indexes {
		if ix.Have == "" {
			wants = append(wants, ix.Name)
		}
	}
	if p.LeaseTable != nil && p.LeaseTable.DDL != nil {
		p.Doc = append(p.Doc, "Claims are rows of the table "+plainText(p.LeaseTable.Name)+", which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.")
	}
	if len(wants) > 0 {
		p.Doc = append(p.Doc, tables+" an index that "+they+" not have yet: schema/indexes.sql creates "+strings.Join(wants, " and ")+".")
	}
	p.Doc = append(p.Doc, "Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. "+b.clockRule())
}

// clockRule says whose clock tells the times.
func (b *builder) clockRule() string {
	asks := slices.ContainsFunc(b.pkg.Statements(), func(st *Statement) bool {
		return slices.ContainsFunc(st.Args, func(a Arg) bool { return a.Param != nil && strings.HasSuffix(a.Param.GoType, "time.Time") })
	})
	if asks {
		return "Times are those of the database's clock, but for those that callers give."
	}
	return "Times are those of the database's clock."
}

func (b *builder) reason() string {
	for _, r := range b.pkg.Reasons {
		if r.Chosen {
			return r.Why
		}
	}
	return ""
}

// guarantee says what a late worker can do.
func (b *builder) guarantee() string {
	if b.offset != nil {
		return "The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not."
	}
	if c := b.comesTwice(); c != nil {
		return b.fence() + " A new row can get the " + plainText(c.Name) + " of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart."
	}
	return b.fence()
}

// comesTwice returns the key where the database gives the number of a deleted row to a new one
// and the fence does not tell the two apart: a status is the same, and a count begins anew. It
// returns nil where no worker can come late to a row that is gone.
func (b *builder) comesTwice() *schema.Column {
	s, level := b.spec, b.pkg.Guarantee
	if b.offset != nil || b.side != nil || len(s.Key) != 1 || !s.Key[0].Reused || b.comesBack() == "" ||
		level != queue.FenceStatus && level != queue.FenceAttempt {
		return nil
	}
	for _, name := range s.Steps() {
		if t := s.Transitions[name]; t != nil && t.Delete && name != queue.Purge {
			return s.Key[0]
		}
	}
	return nil
}

// noteComesTwice warns of such a key.
func (b *builder) noteComesTwice() {
	if c := b.comesTwice(); c != nil {
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("warning: column %q gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)", c.Name))
	}
}

// noteKeyByClock warns of a key in which times may be alike that are two moments.
func (b *builder) noteKeyByClock() {
	why := b.d.Fragments["key_by_clock"].At(b.version)
	for _, c := range b.spec.Key {
		if why != "" && c.Type.Class == schema.Timestamp && c.Type.Zone {
			b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("warning: column %q of the key is a time with zone: %s", c.Name, why))
		}
	}
}

// fence says what a job is settled by.
func (b *builder) fence() string {
	level := "The fence is at level " + b.pkg.Guarantee.String() + ": "
	switch b.pkg.Guarantee {
	case queue.FenceToken:
		if c := b.spec.Batch; c != nil {
			return level + "every claim adds a row to " + plainText(c.QualifiedName()) + " and leaves its " + plainText(c.Key.Name) + " in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its " + plainText(c.Key.Name) + "."
		}
		text := level + "every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing."
		if b.placed() {
			text += " " + b.d.RowIdentity.Changes + ", by which they are named: who holds jobs then gets ErrLost for them, and no other row is taken for theirs."
		}
		return text
	case queue.FenceAttempt:
		counts := "every claim"
		if b.spec.Fence.OnReturn {
			counts = "every way back to ready"
		}
		text := level + counts + " increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing."
		if back := b.countsBack(); back != "" {
			text += " " + back + ", by then claimed again with the same count, is not told from its new holder. A token column would tell them apart."
		}
		return text
	case queue.FenceClaimed:
		if b.spec.Fence.Said {
			return level + "a job can only be settled while the row holds what its claim wrote to " + b.fenceNames() + ". A worker that comes late gets ErrLost and changes nothing, unless a later claim wrote the same."
		}
		moment := "at the very same moment"
		if unit := b.spec.Fence.Within; unit != "" {
			moment = "within one " + unit
		}
		if w := b.spec.Fence.Told; w != nil {
			name := plainText(w.Name)
			return level + "a job can only be settled while the row holds the time of its own claim and what that wrote to " + name + ". A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice " + moment + " and both claims wrote the same to " + name + "."
		}
		holds := "time"
		if w := b.spec.Worker; w != nil && slices.Contains(b.spec.Fence.Columns, w) {
			holds += " and worker"
		}
		return level + "a job can only be settled while the row holds the " + holds + " of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice " + moment + "."
	case queue.FenceStatus:
		held := b.heldState()
		if b.pkg.Running != "" {
			held = "in " + plainText(b.pkg.Running)
		}
		after := b.comesBack()
		switch {
		case b.spec.Fence.Said:
			text := level + "a job can only be settled while its row is " + held + " and holds what its claim wrote to " + b.fenceNames() + "."
			if after != "" {
				text += " A worker that comes late, after the job was " + after + " and claimed by another, gets ErrLost and changes nothing, unless that claim wrote the same."
			}
			return text
		case len(b.pkg.Fence) > 0 && after != "":
			return level + "a job can only be settled while its row is " + held + " and names the worker of its claim. A worker that comes late, after the job was " + after + " and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike."
		case len(b.pkg.Fence) > 0:
			return level + "a job can only be settled while its row is " + held + " and names the worker of its claim."
		case after != "":
			return level + "a job can only be settled while its row is " + held + ". A worker that comes late, after the job was " + after + " and claimed by another, is not told from that other and can settle its job."
		}
		return level + "a job can only be settled while its row is " + held + "."
	}
	switch b.pkg.Strategy {
	case "hold":
		return "The row lock is the claim: nobody else can take or settle a job while its transaction is open."
	case "pop":
		if b.onlyChanges() {
			rows := "rows"
			if b.spec.EndsNamed() && b.spec.NamesKeys() {
				rows = "the rows that its caller names"
			}
			return "There is nothing to settle: Claim changes " + rows + ", and that is all."
		}
		if b.dropsNamed() {
			rows := "rows"
			if b.spec.NamesKeys() {
				rows = "the rows that its caller names"
			}
			return "There is nothing to settle: Claim deletes " + rows + ", and that is all."
		}
		return "There is nothing to settle: a job belongs to whoever took it."
	}
	return "Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker."
}

// fenceNames lists the columns of the row that are compared.
func (b *builder) fenceNames() string {
	var names []string
	for _, c := range b.spec.Fence.Columns {
		names = append(names, plainText(c.Name))
	}
	return enumerated(names)
}

// comesBack says how a job that somebody has may come to be claimed by another, "" when it
// may not before it is settled. It asks the steps, since some operations may not be planned yet.
func (b *builder) comesBack() string {
	p := b.pkg
	may := func(planned bool, names ...queue.TransitionName) bool {
		return planned || b.side == nil && p.Strategy != "pop" && slices.ContainsFunc(names, func(name queue.TransitionName) bool {
			t := b.spec.Transitions[name]
			return t != nil && !t.KeepsRow()
		})
	}
	recovers := may(p.Recover != nil, queue.Recover, queue.GiveUp) && !p.Hold && b.hasRunning()
	switch {
	case recovers && !b.spec.ExpiredFails:
		return "recovered"
	case recovers && may(p.Redrive != nil, queue.Redrive):
		return "given up, redriven"
	case may(p.Requeue != nil || p.Retry != nil, queue.Release), slices.ContainsFunc(b.spec.Outcomes, func(o *queue.Outcome) bool { return o.To == queue.Ready }):
		return "given back"
	}
	return ""
}

// clusterRules says what a cluster asks of those who use the package.
func (b *builder) clusterRules() string {
	wait := b.d.Fragments["cluster_wait"].At(b.version)
	text := "A node may not know yet what was committed on another. Settle a job on the node that claimed it, or in a session with " + wait + ": elsewhere a claim that is still good may be reported as ErrLost, and nothing is done to the job."
	if !b.hasRunning() && b.side == nil || b.pkg.Strategy == "pop" {
		text = "A node may not know yet what was committed on another. A worker that moves to another node needs sessions with " + wait + ", or it may see jobs that are settled already."
	}
	return strings.TrimSpace(text + " " + b.d.Fragments["cluster_rule"].At(b.version))
}

// countsBack says which steps let a fence counter have the same value twice, and when that is; ""
// where none does.
func (b *builder) countsBack() string {
	var back, anew []string
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for _, c := range b.spec.Fence.Columns {
		for _, t := range b.spec.SetBack(c) {
			switch t.Name {
			case queue.Release:
				add(&back, "Requeue")
			case queue.Redrive:
				add(&anew, "Redrive")
			default:
				add(&back, exported(b.spec.Outcome(t.Name).Name))
			}
		}
	}
	switch {
	case len(back) == 0 && len(anew) == 0:
		return ""
	case len(back) == 0:
		return "Redrive sets the count anew: whoever keeps a job after it was redriven"
	case len(anew) == 0:
		return several(back, "takes", "take") + " the count back: whoever keeps a job after it was given back"
	}
	return several(back, "takes", "take") + " the count back, and Redrive sets it anew: whoever keeps a job after it was given back"
}

// several puts the right form of a verb behind the names of what does something.
func several(names []string, one, many string) string {
	if len(names) > 1 {
		one = many
	}
	last := len(names) - 1
	if last > 0 {
		names = []string{strings.Join(names[:last], ", "), names[last]}
	}
	return strings.Join(names, " and ") + " " + one
}

// diagram draws the states and what leads from one to the other.
func (b *builder) diagram() string {
	p := b.pkg
	var lines []string
	if b.offset != nil {
		return b.offsetDiagram()
	}
	add := func(from, op, to string) {
		lines = append(lines, "\t"+pad(from, 8)+"--"+op+strings.Repeat("-", max(0, 16-len(op)))+"> "+to)
	}
	done, failed := "done", "failed"
	end := func(deletes bool, name queue.TransitionName, state *string) {
		if to := movesTo(b.spec.Transitions[name]); deletes && to != nil {
			*state = "(" + plainText(to.QualifiedName()) + ")"
		} else if deletes {
			*state = "(deleted)"
		}
	}
	end(b.spec.DoneDeletes, queue.Finish, &done)
	end(b.spec.FailedDeletes, queue.Fail, &failed)
	if b.spec.Cycle != nil {
		done = "ready, due again"
		if c, _ := b.leavesReady(queue.Finish); c != nil {
			done = "due again, ready or not by what it writes to " + plainText(c.Name)
		}
	}
	if c, _ := b.leaves(b.spec.Transitions[queue.Finish], queue.Done); c != nil && b.spec.Cycle == nil && b.spec.Strategy != "pop" {
		done += " by what it writes to " + plainText(c.Name)
	}
	fails := failed // what Fail leads to; Redrive leads away from what has failed
	if c, _ := b.leaves(b.spec.Transitions[queue.Fail], queue.Failed); c != nil {
		fails += " by what it writes to " + plainText(c.Name)
	}
	if slices.Contains(b.spec.Anew, queue.Finish) {
		done = "ready again"
		if _, by := b.keepsReady(); by != nil {
			done = "ready or not, by what it writes to " + plainText(by.Name)
		}
	}
	if slices.Contains(b.spec.Anew, queue.Fail) {
		fails = "ready again"
	}
	running := "running"
	if p.Strategy == "pop" {
		running = done
		if b.popped() == nil {
			running = "(deleted)"
		}
	} else if !b.hasRunning() && b.side == nil {
		running = "held"
	}
	if p.Enqueue != nil {
		add("", "Enqueue", b.addedState("ready"))
	}
	if p.Start != nil {
		add("ready", "Claim", "claimed")
		add("claimed", "Start", running)
	} else {
		add("ready", "Claim", running)
	}
	if p.Complete != nil {
		add(running, "Complete", done)
	}
	again := "ready"
	if b.side == nil {
		again = b.givenBack(queue.Retry).drawn()
	}
	if p.Retry != nil && p.Fail != nil {
		add(running, "Fail", again+", while tries are left")
		add(running, "Fail", fails)
	} else if p.Retry != nil {
		add(running, "Fail", again)
	} else if p.Fail != nil {
		add(running, "Fail", fails)
	}
	if p.Requeue != nil {
		add(running, "Requeue", b.givenBack(queue.Release).drawn())
	}
	for _, o := range p.Outcomes {
		ready := "ready"
		if i := slices.IndexFunc(b.spec.Outcomes, func(of *queue.Outcome) bool { return exported(of.Name) == o.Method }); i >= 0 {
			ready = b.givenBack(b.spec.Outcomes[i].Transition.Name).drawn()
		}
		end := map[queue.StateName]string{queue.Ready: ready, queue.Done: done, queue.Failed: failed, queue.Deleted: "(deleted)"}[o.To]
		add(running, o.Method, end)
	}
	if p.Extend != nil {
		add(running, "Extend", running)
	}
	if p.Recover != nil {
		when := "its claim expired"
		switch {
		case b.spec.RecoversOwn():
			when = "its worker starts again"
		case b.spec.AtStart:
			when = "the program starts"
		}
		if b.side != nil && b.spec.Liveness != nil {
			when = "its worker is gone"
		}
		if b.recoversBySQL() {
			when = "recover_if holds"
		}
		gone := cmp.Or(string(b.spec.GivenUp), failed)
		switch {
		case b.spec.ExpiredFails:
			add(running, "Recover", gone+", when "+when)
		case b.onlyGivesUp():
			add(running, "Recover", gone+", when "+when+" and no tries are left")
		default:
			add(running, "Recover", b.recovered()+", when "+when)
			gives := p.Recover.givesUp()
			switch a := b.spec.Recoveries; {
			case a.Limited():
				add(running, "Recover", gone+", when "+when+" and its recoveries are spent")
			case gives:
				add(running, "Recover", gone+", when "+when+" and no tries are left")
			}
		}
	}
	if p.Redrive != nil {
		add(failed, "Redrive", "ready")
	}
	for _, purge := range p.Purges {
		from := b.purgedText()
		if len(p.Purges) > 1 {
			from = string(purge.Of[0])
		}
		add(from, purge.Method, "(deleted)")
	}
	return strings.Join(lines, "\n")
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(1, n+1-len(s))) }

// noteHeadStays warns where Work meets a job that failed at the head of the queue again and again, since
// nothing is written of a failure.
func (b *builder) noteHeadStays() {
	p := b.pkg
	if !p.Hold || !p.WorkLoop || p.Fail != nil || p.Retry != nil || p.Offset != nil {
		return
	}
	p.Notes = append(p.Notes, "warning: nothing is written of a job that fails, so it stays where it is in the queue: Work tries it again at every poll, and as many of them as it holds at once keep it from what stands behind; qgen:due has them wait, qgen:attempts max=5 ends them, and where the table may not be altered side_table: true does both")
}
