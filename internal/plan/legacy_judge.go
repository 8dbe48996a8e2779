package plan

// This file tells whether an old program and the package keep off each other's rows,
// and why.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// Coexistence tells how an old program and the package take rows of one table.
type Coexistence struct {
	Verdict Verdict
	Facts   []CoexistenceFact
	Warning string // for the comment of the package; "" where they exclude each other
}

// CoexistenceFact is one thing that is known of both, or what would mend it.
type CoexistenceFact struct{ What, Text string }

// Verdict says whether two programs exclude each other.
type Verdict string

// The verdicts.
const (
	Excluded   Verdict = "yes"
	Shared     Verdict = "no"
	CannotTell Verdict = "cannot tell"
)

// direction is the verdict about one direction: who comes later must not take the row.
type direction struct {
	verdict Verdict
	text    string
	mend    string
}

// coexist judges what readLegacy has read.
func (b *builder) coexist() {
	if b.old == nil {
		return
	}
	later, earlier := b.oldIsLater(), b.oldIsEarlier()
	c := &Coexistence{Verdict: Excluded}
	for _, s := range []direction{later, earlier} {
		if s.verdict == Shared || s.verdict == CannotTell && c.Verdict == Excluded {
			c.Verdict = s.verdict
		}
	}
	add := func(what, text string) {
		if text != "" {
			c.Facts = append(c.Facts, CoexistenceFact{what, plainText(text)})
		}
	}
	add("exclude each other", string(c.Verdict)+b.provided(c.Verdict))
	add("after a claim", string(later.verdict)+": "+later.text)
	add("after the old one", string(earlier.verdict)+": "+earlier.text)
	add("rows of the old one", b.seesOld())
	add("rows of a claim", b.seenByOld())
	if c.Verdict != Excluded {
		mend := strings.TrimSpace(later.mend + " " + earlier.mend)
		add("what to do", mend)
		c.warn(later, earlier, mend)
	}
	b.pkg.Coexistence = c
}

// warn says in the comment of the package that a job may be done twice, and what to do.
func (c *Coexistence) warn(later, earlier direction, mend string) {
	c.Warning = "Beside the old program of legacy_claim a job may be done twice."
	if c.Verdict == CannotTell {
		c.Warning = "Whether a job may be done twice beside the old program of legacy_claim cannot be told."
	}
	if later.verdict != Excluded {
		c.Warning += " After a claim: " + plainText(later.text) + "."
	}
	if earlier.verdict != Excluded {
		c.Warning += " After it has taken a row: " + plainText(earlier.text) + "."
	}
	if mend != "" {
		c.Warning += " " + plainText(mend)
	}
}

// provided says what the old program has to do besides.
func (b *builder) provided(v Verdict) string {
	if v != Excluded {
		return ""
	}
	var list []string
	o := b.old
	switch {
	case o.writer == nil:
		list = append(list, "as long as it ends the transaction of its SELECT no earlier than it has written what became of the rows")
	case o.joined && b.d.SingleWriter:
		list = append(list, "as long as its SELECT and its "+strings.ToUpper(o.writer.Verb)+" run in one transaction")
	case o.joined:
		list = append(list, "as long as its locking SELECT and its "+strings.ToUpper(o.writer.Verb)+" run in one transaction")
	case o.reads:
		list = append(list, "as long as it leaves a row alone of which its "+strings.ToUpper(o.writer.Verb)+" says that no row was changed")
	}
	if len(list) == 0 {
		return ""
	}
	return ", " + strings.Join(list, ", and ")
}

// untouched reports whether a claim leaves nothing in the row, not even a lock that it
// keeps.
func (b *builder) untouched() bool {
	return b.side != nil || b.pkg.Strategy == "partition" || b.pkg.Strategy == "offset"
}

// oldIsLater judges whether the old program leaves a row alone that was claimed.
func (b *builder) oldIsLater() direction {
	o := b.old
	switch {
	case b.untouched():
		return b.untouchedSide()
	case o.odd != "":
		return direction{CannotTell, o.odd, "Write the statements that take rows as plain SELECT, UPDATE and DELETE."}
	case o.writer == nil && !o.locks:
		return direction{Shared, "it reads rows and neither marks nor locks them, so it takes a row that is claimed meanwhile", b.addMark()}
	case b.pkg.Strategy == "hold" && b.cluster, o.writer == nil && b.cluster:
		return direction{Shared, "a row lock alone keeps others away, which the other nodes of the cluster do not see", b.addMark()}
	case b.pkg.Strategy == "pop":
		return direction{verdict: Excluded, text: "a claim deletes the row, so that it finds none"}
	case b.pkg.Strategy == "hold":
		return b.afterHold()
	}
	held, which := b.behind(queue.Claim).asks(o.held)
	switch held {
	case never:
		return direction{verdict: Excluded, text: "a claim writes " + b.marksOf(which) + ", and the old program asks " + b.underLock() + " for " + which.text + o.hasRead(which) + twice(which)}
	case unknown:
		return direction{CannotTell, "a claim writes " + b.marksOf(which) + ", and of " + which.text + " nothing tells whether such a row meets it", b.addTest()}
	}
	seen, which := b.behind(queue.Claim).asks(o.seen)
	switch {
	case seen == never && o.writer != nil:
		return direction{Shared, "it asks for " + which.text + " without a lock that lasts until its " + strings.ToUpper(o.writer.Verb) + ", which does not compare that again, so it takes a row that was claimed in between", b.addTest()}
	case len(o.held) == 0:
		return direction{Shared, "its " + strings.ToUpper(o.writer.Verb) + " asks for nothing, so it takes rows that are claimed", b.addTest()}
	}
	return direction{Shared, "it asks " + b.underLock() + " for " + saidAll(o.held) + ", which is as true of a row that is claimed: a claim writes " + b.marks(), b.addTest()}
}

// hasRead says what is taken for granted of a value that a condition compares.
func (o *oldProgram) hasRead(t *oldTest) string {
	if len(o.seen) > 0 || !t.isRead() {
		return ""
	}
	return ", which is taken to be a value that it has read of a ready row"
}

// underLock says when the old program asks for what counts.
func (b *builder) underLock() string {
	if b.d.SingleWriter {
		return "while nobody else can write"
	}
	return "under the row's lock"
}

// untouchedSide says what a claim leaves that writes no row.
func (b *builder) untouchedSide() direction {
	switch {
	case b.side != nil && slices.ContainsFunc(slices.Concat(b.old.seen, b.old.held), func(t *oldTest) bool {
		return strings.Contains(strings.ToLower(t.text), strings.ToLower(b.side.spec.Table.Name))
	}):
		return direction{CannotTell, "a claim is a row of " + b.side.spec.Table.Name + ", which the old program asks about in a way that does not tell whether it does so under a lock", ""}
	case b.side != nil:
		return direction{Shared, "a claim is a row of " + b.side.spec.Table.Name + " and leaves that of the job as it is, so what the old program asks for stays true",
			"Let claims write the row itself: a status with running=, in the place of the side table. Or stop the old program before this one starts."}
	case b.pkg.Strategy == "offset":
		return direction{Shared, "a claim moves a mark beside the table and leaves the rows as they are, so what the old program asks for stays true",
			"Stop the old program before this one starts."}
	}
	return direction{Shared, "a claim writes nothing and locks nothing (strategy partition), so what the old program asks for stays true",
		"Let claims write the row: a status with running=, without strategy=partition. Or give the old program a shard that no other worker has."}
}

// afterHold judges a claim that is a row lock: what is left is what settles the job.
func (b *builder) afterHold() direction {
	o := b.old
	waits := "waits for the lock of the row"
	if o.skips {
		waits = "passes over rows whose lock is held"
	}
	for _, name := range []queue.TransitionName{queue.Finish, queue.Fail} {
		t := b.spec.Transitions[name]
		if t == nil || t.Delete {
			continue
		}
		method := operations[name]
		answer, which := b.behind(name).asks(o.held)
		switch answer {
		case may:
			return direction{Shared, "it " + waits + ", and then takes the row all the same: nothing that it asks for under the lock is false once " + method + " has written the row", b.addTest()}
		case unknown:
			return direction{CannotTell, "it " + waits + ", and of " + which.text + " nothing tells whether a row meets it that " + method + " has written", b.addTest()}
		}
	}
	return direction{verdict: Excluded, text: "a claim keeps the lock of the row until the job is settled; the old program " + waits + ", and then the row is gone or does not meet what it asks for"}
}

// oldIsEarlier judges whether a claim leaves a row alone that the old program has taken.
func (b *builder) oldIsEarlier() direction {
	o := b.old
	reads := b.pkg.Strategy == "partition" || b.pkg.Strategy == "offset"
	switch {
	case o.odd != "":
		return direction{CannotTell, o.odd, ""}
	case o.writer == nil && !o.locks:
		return direction{verdict: Shared, text: "it leaves nothing in the row, so a claim takes it as well"}
	case o.writer == nil && reads:
		return direction{verdict: Shared, text: "it holds the row's lock, which a claim does not look at"}
	case o.writer == nil && b.cluster:
		return direction{verdict: Shared, text: "it holds the row's lock, which the other nodes of the cluster do not see"}
	case o.writer == nil:
		return direction{verdict: Excluded, text: "it holds the row's lock until its transaction ends, and a claim takes no row whose lock another holds"}
	case o.writer.Verb == "delete":
		return direction{verdict: Excluded, text: "it deletes the row"}
	case len(o.writer.sets) == 0:
		return direction{CannotTell, "nothing tells what `" + shortened(o.writer.Text) + "` writes", ""}
	}
	writes := b.oldWrites()
	switch b.behindOld().tests(b.spec.States[queue.Ready].Tests) {
	case never:
		return direction{verdict: Excluded, text: "it writes " + writes + ", and a claim takes rows with " + b.readyText() + " only"}
	case unknown:
		return direction{CannotTell, "it writes " + writes + ", and nothing tells whether such a row still has " + b.readyText(),
			"Write the value itself in legacy_claim where the old program always writes the same."}
	}
	return direction{Shared, "it writes " + writes + ", and a claim still takes the row: it asks for " + b.readyText() + " only", b.lookAt()}
}

// lookAt says how a claim can see what the old program writes.
func (b *builder) lookAt() string {
	i := slices.IndexFunc(b.old.writer.sets, func(s oldSet) bool { return !slices.Contains(b.tellReady(), s.column) })
	if i < 0 {
		return "Let the old program write a value that no ready row has."
	}
	c := b.old.writer.sets[i].column
	for _, t := range slices.Concat(b.old.held, b.old.seen) {
		free := queue.Test{Column: c, Op: queue.IsNull}
		if t.op == "in" && t.values[0].Kind == schema.RowLiteral {
			free.Op, free.Values = queue.In, []queue.Value{{Kind: queue.Literal, Text: t.values[0].Text}}
		}
		if t.column == c && (t.op == "null" || free.Op == queue.In) {
			s := b.newScope()
			return fmt.Sprintf("Let a claim ask for that, too: ready_if: %q in qgen.yaml.", s.readable(s.tests([]queue.Test{free}), ""))
		}
	}
	return "Let a claim look at column " + c.Name + ", too: ready_if: in qgen.yaml, with what is true of it in a free row."
}

// marks is what a claim writes.
func (b *builder) marks() string {
	return b.explainMove(b.spec.Transitions[queue.Claim])
}

// marksOf is what a claim writes to the columns of a condition.
func (b *builder) marksOf(t *oldTest) string {
	var writes []queue.Write
	for _, w := range b.spec.Transitions[queue.Claim].Writes {
		if slices.Contains(t.columns(), w.Column) {
			writes = append(writes, w)
		}
	}
	if len(writes) == 0 {
		return b.marks()
	}
	e := b.newScope()
	return e.readable(e.sets(writes), ", ")
}

// columns lists those of a condition.
func (t *oldTest) columns() []*schema.Column {
	list := slices.Clone(t.mentions)
	if t.column != nil {
		list = append(list, t.column)
	}
	for _, tests := range t.any {
		for _, one := range tests {
			list = append(list, one.columns()...)
		}
	}
	return list
}

// addTest says what the old program must compare.
func (b *builder) addTest() string {
	verb, then := "locking SELECT", ""
	if b.old.writer != nil {
		verb, then = strings.ToUpper(b.old.writer.Verb), ", and let it leave a row alone where no row was changed"
	}
	if text := b.guardText(); text != "" {
		return fmt.Sprintf("Add the condition %s to the %s of the old program%s.", text, verb, then)
	}
	return "Nothing that a claim writes tells a claimed row from a ready one: add a status with ready= and running=, and let the " + verb + " of the old program compare it."
}

// addMark says how the old program can mark a row.
func (b *builder) addMark() string {
	var writes []queue.Write
	if t := b.spec.Transitions[queue.Claim]; t != nil && b.writesClaim() {
		for _, w := range t.Writes {
			if w.Value.Kind == queue.Literal {
				writes = append(writes, w)
			}
		}
	}
	if text := b.guardText(); text != "" && len(writes) > 0 {
		e := b.newScope()
		return fmt.Sprintf("Let the old program mark the row before it works on it: UPDATE … SET %s WHERE … AND %s, and leave a row alone where no row was changed.", e.readable(e.sets(writes), ", "), text)
	}
	if b.d.SingleWriter {
		return "Let the old program mark the row before it works on it, in a statement that compares what the row held."
	}
	return "Let the old program lock the row before it works on it (SELECT … FOR UPDATE), or mark it in a statement that compares what the row held."
}

// guardText is the condition that is true of ready rows and false of claimed ones.
func (b *builder) guardText() string {
	s := b.newScope()
	after := b.behind(queue.Claim)
	if !b.writesClaim() {
		after = b.behind(queue.Finish)
	}
	for _, t := range b.spec.States[queue.Ready].Tests {
		if t.Op != queue.Raw && after.test(t) == never {
			return s.readable(s.tests([]queue.Test{t}), " AND ")
		}
	}
	return ""
}

// readyText are the conditions of ready rows on columns that the old program writes, else all.
func (b *builder) readyText() string {
	s := b.newScope()
	var tests []queue.Test
	for _, t := range b.spec.States[queue.Ready].Tests {
		if slices.ContainsFunc(b.old.writer.sets, func(set oldSet) bool { return set.column == t.Column }) {
			tests = append(tests, t)
		}
	}
	if len(tests) == 0 {
		tests = b.spec.States[queue.Ready].Tests
	}
	if text := s.readable(s.tests(tests), " and "); text != "" {
		return text
	}
	return "nothing"
}

func (b *builder) oldWrites() string {
	var list []string
	for _, s := range b.old.writer.sets {
		list = append(list, s.text)
	}
	return strings.Join(list, ", ")
}

// oldMarks is what the old program writes to columns that tell a state.
func (b *builder) oldMarks() string {
	var list []string
	for _, s := range b.old.writer.sets {
		for _, name := range queue.StateNames {
			if state := b.spec.States[name]; state != nil && !slices.Contains(list, s.text) &&
				slices.ContainsFunc(state.Tests, func(t queue.Test) bool { return t.Column == s.column }) {
				list = append(list, s.text)
			}
		}
	}
	return strings.Join(list, ", ")
}

func saidAll(tests []*oldTest) string {
	var list []string
	for _, t := range tests {
		list = append(list, t.said())
	}
	return strings.Join(list, " and ")
}

// whileTime says that a condition on a time becomes true by itself.
func whileTime(t *oldTest) string {
	for _, tests := range t.any {
		for _, one := range tests {
			if text := whileTime(one); text != "" {
				return text
			}
		}
	}
	if slices.ContainsFunc(t.values, func(v schema.RowValue) bool {
		return v.Kind == schema.RowNow || v.Kind == schema.RowEarlier || v.Kind == schema.RowLater
	}) {
		return " until that time has come"
	}
	return ""
}

// twice says what follows from a condition that becomes true by itself.
func twice(t *oldTest) string {
	if while := whileTime(t); while != "" {
		return ", which is false" + while + ": a job that runs longer is taken twice"
	}
	return ""
}

// seesOld tells how the package sees rows that the old program has.
func (b *builder) seesOld() string {
	o := b.old
	switch {
	case o.writer == nil && o.locks:
		return "stay ready, and are locked"
	case o.writer == nil:
		return "stay ready"
	case o.writer.Verb == "delete":
		return "are gone"
	}
	r := b.behindOld()
	var sees, perhaps []string
	for _, name := range queue.StateNames {
		if state := b.spec.States[name]; state != nil {
			switch r.tests(state.Tests) {
			case may:
				sees = append(sees, string(name))
			case unknown:
				perhaps = append(perhaps, string(name))
			}
		}
	}
	switch {
	case len(sees) == 0 && len(perhaps) == 0:
		return "are in no state: none has " + b.oldMarks() + ", so nothing here claims, settles, recovers or purges them"
	case len(sees) == 0:
		return "cannot tell: they may be " + strings.Join(perhaps, " or ") + ", as what it writes turns out"
	}
	if slices.Contains(sees, string(queue.Ready)) {
		return "are ready"
	}
	text := "are " + strings.Join(sees, " or ")
	runs := slices.Contains(sees, string(queue.Running)) || slices.Contains(sees, string(queue.Claimed))
	switch {
	case runs && b.spec.RecoversOwn():
		return text + ": Recover takes those that carry the name of the worker that starts, whether the old program still works on them or not"
	case runs && b.spec.AtStart:
		return text + ": Recover, when the program starts, takes them, whether the old program still works on them or not"
	case runs && len(b.spec.Expired) > 0:
		return text + b.expiresOld(r)
	}
	return text
}

// expiresOld tells when Recover or Claim takes rows of the old program for those of a
// dead worker.
func (b *builder) expiresOld(r row) string {
	who := "Recover"
	if b.spec.Lease != nil && b.spec.Lease.ByClaim {
		who = "Claim"
	}
	s := b.newScope()
	when := s.readable(s.tests(b.spec.Expired), " and ")
	written := slices.ContainsFunc(b.spec.Expired, func(t queue.Test) bool {
		return slices.ContainsFunc(b.old.writer.sets, func(set oldSet) bool {
			return set.column == t.Column || t.Op == queue.Raw && mentions(t.SQL, set.column)
		})
	})
	switch {
	case !written:
		return ", and expired where " + when + ", which the old program does not write: " + who + " may take them while it works on them"
	case r.tests(b.spec.Expired) == unknown:
		return ", and expired once " + when
	}
	return ", and expired once " + when + ": " + who + " then takes them, whether it still works on them or not"
}

// seenByOld tells whether rows that are claimed look free to the old program.
func (b *builder) seenByOld() string {
	o := b.old
	switch {
	case b.untouched():
		return "look free to it: they stay as they were"
	case b.pkg.Strategy == "pop":
		return "are gone"
	case b.pkg.Strategy == "hold":
		return "look free to it, and are locked"
	}
	answer, which := b.behind(queue.Claim).asks(slices.Concat(o.seen, o.held))
	switch answer {
	case never:
		return "do not look free to it: " + which.text + " is false of them" + whileTime(which)
	case unknown:
		return "cannot tell: of " + which.text + " nothing tells whether they meet it"
	}
	return "look free to it"
}
