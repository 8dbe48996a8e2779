package plan

// This file keeps the limit of a whole queue: how many of its rows may run at once.
//
// To compare each row with all before it, as for groups that columns tell, would read all
// ready rows for each of them. Here every claim passes a gate first: it locks one thing
// that stands for the queue, and counts the running rows behind that lock, in a statement
// that sees what was committed before it. Then it takes no more rows than there is room
// for, as any claim does. The lock is held until the claim is committed. Only claims lead to
// running; whatever else is done to rows makes fewer of them run, and passes no gate.

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
)

// bearsGate reports whether a strategy can keep the limit of the whole queue.
func (b *builder) bearsGate(name string) (ok bool, why, mend string) {
	if b.spec.Gate == nil {
		return true, "", ""
	}
	const leave = "leave the limit out (group)."
	switch name {
	case "hold", "pop", "partition", "offset":
		return false, "it writes no running state, so the running rows of the queue cannot be counted",
			"Say running=<value> on qgen:status, or " + leave
	case "lease_table":
		return false, "the running rows of the queue are counted in its own table, and a side table holds the claims",
			"Hold the claims in the rows: running=<value> of qgen:status, or a column for qgen:lease or qgen:claimed. Or " + leave
	}
	if b.locksTable() {
		return b.lockless()
	}
	return true, "", ""
}

// buildGate plans what a claim runs first; nil where any number of rows may run.
func (b *builder) buildGate() *Gate {
	g := b.spec.Gate
	if g == nil {
		return nil
	}
	gate := &Gate{}
	if b.modeOf(g) == groupStatement {
		b.reserve()
	} else {
		s, v := b.newScope(), b.base("Claim")
		locks, index := "a number made of the table, until commit", "none; it reads nothing"
		if g.Lock != nil {
			v.Group.Table = b.d.Qualified(g.Lock.Schema, g.Lock.Table)
			v.Group.On = unwrapped(s.raw(g.Lock.On))
			locks = "the row of " + plainText(g.Lock.QualifiedName()) + ", until commit; without it nothing is claimed"
			index = "of " + plainText(g.Lock.QualifiedName()) + ", whichever finds that row"
		} else {
			v.Group.Locks = dialect.Fill(b.d.Fragments["gate_number"].At(b.version),
				"table", v.TableText, "name", b.d.Quote(v.Table+" "+b.gateNumber()), "n", b.gateNumber())
		}
		gate.Lock = s.statement("claim_gate", "gate", v, nil, "claim: one at a time, so that what runs can be counted", "locks: "+locks, "index: "+index)
	}
	s, v := b.newScope(), b.base("Claim")
	v.Where = s.tests(g.Running)
	v.Limit = s.groupLimit(g)
	if fresh := b.d.Fragments["group_fresh"].At(b.version); fresh != "" {
		v.Guard = []string{fresh}
	}
	index := "index: none; it reads the table"
	if w, ok := b.gateIndex(); ok {
		index = b.usesHead(w)
	}
	gate.Room = s.statement("claim_room", "room", v, nil, "claim: how many more rows may run", "locks: none", index)
	return gate
}

// gateNumber tells the queues over one table apart, by the rows that each has.
func (b *builder) gateNumber() string {
	if len(b.spec.Members) == 0 {
		return "0"
	}
	s, h := b.newScope(), fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(s.tests(b.spec.Members), " AND "))) // it never fails
	return strconv.Itoa(int(int32(h.Sum32())))
}

// groupLimit is how many rows of a group may run, as a value of SQL. A null lets none run.
func (s *scope) groupLimit(g *queue.Group) string {
	switch g.LimitSQL {
	case "":
		return strconv.Itoa(g.Limit)
	case queue.SaidLimit:
		return unwrapped(s.raw(g.LimitSQL))
	}
	return "coalesce(" + s.raw(g.LimitSQL) + ", 0)"
}

// saysRunning reports whether callers say how many rows may run.
func (b *builder) saysRunning() bool {
	return slices.ContainsFunc([]*queue.Group{b.spec.Group, b.spec.Gate}, func(g *queue.Group) bool { return g != nil && g.LimitSQL == queue.SaidLimit })
}

// limitText says how many rows of a group run at once.
func limitText(g *queue.Group) string {
	switch {
	case g.LimitSQL == queue.SaidLimit:
		return "at most as many run at once as the argument " + queue.ArgRunning + " of Claim says"
	case g.LimitSQL != "":
		return "at most as many run at once as this says: " + plainText(g.LimitSQL)
	case g.Limit == 1:
		return "one runs at once"
	}
	return fmt.Sprintf("at most %d run at once", g.Limit)
}

// gateRule says for people what the limit of the queue is, "" without one.
func (b *builder) gateRule() string {
	g := b.spec.Gate
	if g == nil {
		return ""
	}
	rule := "Of all jobs of the queue, " + limitText(g) + "; " + b.groupWhy(g) + "."
	rule += b.groupLevel(g) + " When as many run as may, Claim returns no jobs."
	if g.Lock != nil {
		rule += " Without that row nothing is claimed, and Verify says so."
	}
	if b.modeOf(g) != groupStatement {
		rule += " Claims follow one another: each waits until the one before it is committed, so a transaction of the caller's own that claims is to be short."
	}
	return rule
}

// gateIndex is the index that counts the running rows of the queue, and whether one does.
func (b *builder) gateIndex() (wanted, bool) {
	w := b.wantedFor(b.spec.Held)
	w.kind, w.name, w.lacking = "group", b.indexName("group"), "what counts the running rows reads others as well"
	w.why = "serves Claim: counts the running rows"
	w.among = w.why
	if len(w.predicate()) > 0 {
		w.columns = b.anyKeys()
		if e, ok := b.expiredIndex(); ok && (b.spec.Transitions[queue.Recover] != nil || b.spec.Transitions[queue.GiveUp] != nil) {
			w.columns = e.columns
		}
		return w, len(w.columns) > 0
	}
	w.columns = leading(b.spec.Gate.Running)
	ranges := func(t queue.Test) bool { return compares(t) || t.Op == queue.NotNull }
	for _, leads := range []func(queue.Test) bool{points, ranges} { // some values lead to fewer rows than a bound
		for _, t := range b.spec.Gate.Running {
			if len(w.columns) == 0 && t.Column != nil && !b.unindexed(t.Column) && leads(t) {
				w.columns = []indexKey{{column: t.Column}}
			}
		}
	}
	if len(w.columns) == 0 {
		return w, false
	}
	w, _ = b.fit(w)
	return w, len(w.columns) > 0
}

// verifyGate asks for the row that claims lock, without which nothing is claimed.
func (b *builder) verifyGate(verify *Verify) {
	g := b.spec.Gate
	if g == nil || g.Lock == nil {
		return
	}
	b.ask(verify, "verify_gate", "verify_gate", "", "add the row; claims lock it first, so that no more jobs run than may", func(s *scope, v *values) {
		v.Group.Table = b.d.Qualified(g.Lock.Schema, g.Lock.Table)
		v.Group.On = unwrapped(s.raw(g.Lock.On))
		v.Wanted = [][]string{{b.d.Quote("table " + plainText(g.Lock.QualifiedName()) + " has no row with " + plainText(g.Lock.On) + ", so that nothing is claimed")}}
	})
}
