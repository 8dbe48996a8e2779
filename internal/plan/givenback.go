package plan

// This file says what becomes of a row that a step is to make ready: in comments, in heads of
// statements, and where the states are drawn.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// returned is what is known of a row behind such a step.
type returned struct {
	state queue.StateName // ready, unless qgen:on has the step write or leave something else; "" where it is none
	by    *schema.Column  // that tells, nil where the row is ready
	kept  bool            // by stays as the claim left it
	late  bool            // the row is ready when its claim has run out
	timed bool            // by is the time of the claim, to which another time is written
	held  string          // the state of a job that somebody has
}

// givenBack returns what becomes of a row in a step that is to make it ready.
func (b *builder) givenBack(name queue.TransitionName) returned {
	t := b.stepOf(name)
	is := returned{state: queue.Ready, held: b.heldState()}
	if t != nil && t.Stays != nil {
		is.state, is.by, is.kept, is.late = queue.Running, t.Stays, true, b.spec.LeftToRecover(t)
		return is
	}
	if t != nil && t.Strays != nil {
		is.state, is.by = "", t.Strays
		return is
	}
	var sure bool
	switch is.by, sure = b.leavesReady(name); {
	case sure && name == queue.Retry && b.spec.Retried != queue.Stray:
		is.state = b.spec.Retried
	case sure:
		is.state = ""
	case is.by != nil:
		is.state = queue.MaybeReady
		is.kept = !slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return w.Column == is.by })
	case b.side == nil && b.spec.Lingers(t):
		is.late = true
	case b.side == nil && b.spec.SetsOff(t):
		is.by, is.timed = b.spec.Lease.Column, true
	}
	return is
}

// again says in a comment what jobs are behind the step whose statement stands in a file; its is the
// pronoun for them.
func (is returned) again(file, its string) string {
	switch {
	case is.state == queue.MaybeReady && is.kept:
		return "ready again if " + plainText(is.by.Name) + ", which stays as it is, says so"
	case is.kept && is.late:
		return is.held + " until " + its + " claim has run out and Recover makes " + map[string]string{"its": "it", "their": "them"}[its] + " ready"
	case is.kept:
		return is.held + " and not ready, since " + plainText(is.by.Name) + " stays as it is"
	case is.late:
		return "ready again when " + its + " claim has run out"
	case is.timed:
		return "ready again by what " + file + " writes to " + plainText(is.by.Name)
	case is.state == queue.Ready:
		return "ready again"
	case is.state == queue.MaybeReady:
		return "ready again if what " + file + " writes to " + plainText(is.by.Name) + " says so"
	}
	return "not ready with what " + file + " writes to " + plainText(is.by.Name)
}

// end is the state to which the step leads, for explain and the head of a statement.
func (is returned) end() string {
	switch {
	case is.late, is.kept && is.state == queue.Running:
		return is.held
	}
	return cmp.Or(string(is.state), "not ready")
}

// head says the same with the state from which the step leads.
func (is returned) head(from string) string {
	if end := is.end(); end != from {
		return from + " to " + strings.Replace(end, string(queue.Stray), "no state of the queue", 1)
	}
	if is.late {
		return from + " until the claim has run out"
	}
	return from + " stays " + from
}

// drawn says the same where the states are drawn.
func (is returned) drawn() string {
	switch {
	case is.state == queue.MaybeReady && is.kept:
		return "ready or not by " + plainText(is.by.Name) + ", which stays as it is"
	case is.kept:
		return is.held
	case is.late:
		return "ready, when its claim has run out"
	case is.timed:
		return "ready, by what it writes to " + plainText(is.by.Name)
	case is.state == queue.Ready:
		return "ready"
	case is.state == "":
		return "given back and not ready"
	}
	return string(is.state) + " by what it writes to " + plainText(is.by.Name)
}
