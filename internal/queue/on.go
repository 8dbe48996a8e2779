package queue

// This file reads qgen:on, the writes that no role covers.

import (
	"fmt"
	"slices"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// writeExplicit adds what qgen:on says: "on claim,renew set now".
func (b *binding) writeExplicit() {
	for _, r := range b.roles["on"] {
		steps, value, ok := b.readOn(r)
		if !ok {
			continue
		}
		for _, step := range steps {
			name := TransitionName(step.name)
			switch t := b.spec.Transitions[name]; {
			case t == nil && b.spec.Log != nil:
				b.errorf(step.pos, "rows of this queue are only added, so %s writes nothing", name).WithHint("Keep enqueue.")
			case t == nil && name == Recover && b.movesAway():
				b.write(r, r.column, value, name) // what happens to the row in the other table, moveBack knows
			case t == nil:
				b.lacks(name, step.pos)
			case name == Claim && b.spec.Strategy == "pop":
				b.errorf(step.pos, "with strategy=pop a claim is the end of a job").
					WithHint("Say done in its place: what a claim writes to a row that stays is said of that step.")
			case name == Claim && value.Kind != Token && b.marksClaims(r.column):
				b.errorf(step.pos, "column %q holds a fresh value for each claim, and %s would write another", r.column.Name, step.pos.Text()).
					WithHint("Leave the token out where claims write a value of yours: with qgen:worker it is the name that WithWorker says, and is compared; by itself nothing compares it. Or leave claim out here.")
			case name == Enqueue && value.Kind == Add:
				b.errorf(value.Pos, "a new row has nothing yet in column %q to which %+d could be added", r.column.Name, value.By).
					WithHint(`Write the number as SQL, in double quotes: on enqueue set "%d".`, value.By)
			case name == Claim && !b.runs() && !b.sound && slices.ContainsFunc(b.roles["status"], func(s *role) bool { return s.word(string(Running)) != nil }): // a word that is wrong itself
			case name == Claim && !b.runs():
				b.errorf(step.pos, "a claim of this queue writes nothing").
					WithHint("No word says which rows run, so a claim does not change them. Say running=<value> on qgen:status, or leave claim out here.")
			case t.Delete && (b.moves(name) == nil || !b.moves(name).Same || b.spec.IsSaid(value)):
				hint := "Leave it out, or keep such rows."
				if b.spec.Strategy == "pop" && name == Finish {
					hint = "Leave it out, or say done=keep beside strategy=pop: rows then stay as they are but for what on done says."
				}
				b.errorf(step.pos, "%s removes the row, so nothing is written to it", name).WithHint("%s", hint)
			default:
				b.write(r, r.column, value, name)
				b.noteLess(step.name, r.column, value)
				switch {
				case name != Fail:
				case b.spec.IsSaid(value):
					b.keepsOnGiveUp(r)
				default:
					b.failsToo(r, value)
				}
			}
		}
	}
}

// marksClaims reports whether a column holds a fresh value for each claim.
func (b *binding) marksClaims(c *schema.Column) bool {
	return c == b.columnOf("token") || slices.ContainsFunc(b.status, func(s *statusColumn) bool {
		return s.column == c && s.writes[Running].Kind == Token
	})
}

// noteLess says of -1 that it is no number: who means that would not see it before a row has one
// less. Of a column that counts it is plain.
func (b *binding) noteLess(step string, c *schema.Column, v Value) {
	counts := func(r Role) bool { return slices.Contains([]string{"attempts", "max_attempts", "version"}, r.Verb) }
	if v.Kind != Add || v.By > 0 || slices.ContainsFunc(b.columns[c].Roles, counts) {
		return
	}
	b.note(`%s takes %d from what column %q holds; the number itself is written as SQL, in double quotes: "%d"`, step, -v.By, c.Name, v.By)
}

// failsToo lets what is written when a job fails be written as well when it
// fails because its claim ran out, unless that is said for itself.
func (b *binding) failsToo(r *role, value Value) {
	if b.spec.Transitions[GiveUp] != nil && !b.saidOf(GiveUp, r) {
		b.write(r, r.column, value, GiveUp)
	}
}

// saidOf reports whether qgen:on says what a step writes to the column of a role.
func (b *binding) saidOf(name TransitionName, r *role) bool {
	return slices.ContainsFunc(b.roles["on"], func(other *role) bool {
		return other.column == r.column && slices.ContainsFunc(other.words, func(w *word) bool { return w.name == string(name) })
	})
}

// keepsOnGiveUp says what becomes of a column that Fail is given a value for when a
// job fails because its claim ran out: nobody is there to give one.
func (b *binding) keepsOnGiveUp(r *role) {
	if b.spec.Transitions[GiveUp] != nil && !b.drafted(GiveUp, r.column) && !b.saidOf(GiveUp, r) {
		b.note("column %q stays as it is when a job fails because %s (giveup)", r.column.Name, b.whyGivenUp())
	}
}

// whyGivenUp says why a job is given up, as a clause.
func (b *binding) whyGivenUp() string {
	if b.runOut() == nil {
		return "its worker is gone"
	}
	return "its claim ran out"
}

// absent says of what a transition is made that this queue has not.
func (b *binding) absent(name TransitionName) string {
	if name == Recover && b.claims.failsExpired() {
		return "A job whose claim has run out fails (expired=fail). Say it of giveup."
	}
	if b.leavesOut(name) {
		return fmt.Sprintf("%s at %s leaves it out. Leave one of the two out.", b.queue.word(string(name)).pos.Text(), b.queue.word(string(name)).pos)
	}
	switch {
	case name == GiveUp:
		return b.noGiveUp()
	case name == Recover && b.isAway():
		return fmt.Sprintf("A claim is recovered where it can run out, and nothing at table %q says when: it needs qgen:lease, qgen:claimed timeout=… or qgen:heartbeat at a column there; or recover=start or recover=own on qgen:queue, or recover_if or workers in qgen.yaml.", b.table.QualifiedName())
	}
	return absent[name]
}

// noGiveUp says which of what a row needs to be given up is missing.
func (b *binding) noGiveUp() string {
	a := b.spec.Attempts
	switch {
	case !b.runs() || b.runOut() == nil && b.spec.Expired == nil && !b.spec.AtStart:
		return "A row is given up where its claim can run out, and no claim of this queue does: it needs qgen:lease, qgen:claimed timeout=… or qgen:heartbeat; or recover=start or recover=own on qgen:queue, or recover_if or workers in qgen.yaml."
	case !b.keepsFailed && !b.spec.FailedDeletes:
		return "A row is given up where failed rows are known: say failed=… on qgen:status, or failed=delete on qgen:queue."
	case len(b.spec.RecoverLimits()) > 0:
		return "A row whose claim has run out is simply claimed again here (expired=claim). It is given up where attempts are counted on=claim and something else than their limit tells a failed row; or say expired=fail."
	case a.Limited() && a.Spared:
		return "The limit of the attempts ends no job whose claim has run out, since qgen:on says what Recover leaves in column \"" + a.Column.Name + "\". Leave that out, or count recoveries for themselves: qgen:attempts on=recover max=…."
	case a != nil && !a.Limited():
		return "A row is given up where tries have a limit: say max=… on qgen:attempts of column \"" + a.Column.Name + "\"; or expired=fail, which lets it fail at once."
	}
	return "A row is given up where tries or recoveries are counted up to a limit, qgen:attempts max=5, or where expired=fail lets it fail at once."
}

// leavesOut reports whether purge=none or redrive=none says that the queue has no such step.
func (b *binding) leavesOut(name TransitionName) bool {
	if name != Purge && name != Redrive {
		return false
	}
	w := b.queue.word(string(name))
	return w != nil && w.values[0].text == "none"
}

// absent says of what a transition is made.
var absent = map[TransitionName]string{
	Update:  "Enqueue changes a row that is there where qgen:queue says enqueue=update. No step is every change of a row: name those that are meant.",
	Start:   "A claimed job runs at once. Where it is begun by a step of its own, say which rows are claimed and not begun: claimed=… beside running=… on qgen:status.",
	Fail:    "Nothing marks a failed row: say failed=… on qgen:status, or failed=delete on qgen:queue.",
	Renew:   "A claim is renewed where it can run out: it needs qgen:lease, qgen:visible, qgen:heartbeat or qgen:claimed timeout=…. What a worker writes while its job runs can be a step of a stage as well: a queue of its own over the same table, strategy=pop done=keep, whose Claim names the job by a topic.",
	Recover: "A claim is recovered where it can run out and is not simply claimed again: it needs qgen:lease, qgen:claimed timeout=… or qgen:heartbeat beside running=… on qgen:status, or with expired=recover; or recover=start or recover=own on qgen:queue, or recover_if or workers in qgen.yaml.",
	Redrive: "Nothing tells a failed row: say failed=… on qgen:status.",
	Purge:   "Purge removes rows of jobs that have ended and whose rows stay: say done=… or failed=… on qgen:status.",
}

// lacks complains about a step that the queue does not have. Where words that it could be
// made of are wrong themselves, nobody knows.
func (b *binding) lacks(name TransitionName, pos source.Pos) {
	if b.sound {
		b.errorf(pos, "this queue has no %s", name).WithHint("%s", b.absent(name))
	}
}

// readOn reads "T{,T} set V".
func (b *binding) readOn(r *role) (steps []*word, value Value, ok bool) {
	usage := func(w *word) {
		pos := r.pos
		if w != nil {
			pos = w.pos
		}
		e := b.errorf(pos, "this is not a write")
		if r.yaml && len(r.words) == 1 {
			e.WithHint("Write the steps and the value, and quotes around them where a comma would divide the items of a YAML list: [\"on claim,renew set now\"].")
			return
		}
		e.WithHint("Write the steps and the value: qgen:on claim,renew set now. Free text goes after \" -- \" or in parentheses.")
	}
	i := 0
	for ; i < len(r.words); i++ {
		w := r.words[i]
		if i%2 == 1 {
			if w.op != separator {
				break
			}
			continue
		}
		if w.op != flag || w.name == "" {
			usage(w)
			return nil, value, false
		}
		if !b.isStep(w) {
			return nil, value, false
		}
		if slices.ContainsFunc(steps, func(s *word) bool { return s.name == w.name }) {
			b.errorf(w.pos, "%s is said twice", w.name).WithHint("Name each step once.")
			return nil, value, false
		}
		steps = append(steps, w)
	}
	if i == 0 || i%2 == 0 || i+1 >= len(r.words) || r.words[i].name != "set" || r.words[i].op != flag || r.words[i+1].op != flag {
		usage(nil)
		return nil, value, false
	}
	for _, w := range r.words[i+2:] {
		switch {
		case w.op == equals && w.name == "as":
		case w.op == equals && w.name == "clock" && slices.Contains(clocks, w.values[0].text) && len(w.values) == 1:
		default:
			usage(w)
			return nil, value, false
		}
	}
	b.updating = isUpdate(steps)
	defer func() { b.updating = false }()
	value, ok = b.written(r, r.words[i+1].values[0])
	return steps, value, ok && b.fitsUpdate(r, steps, value)
}

// isStep reports whether a word names a step that writes.
func (b *binding) isStep(w *word) bool {
	if isStepName(w.name) {
		return true
	}
	var known []string
	for _, name := range TransitionNames {
		if isStepName(string(name)) {
			known = append(known, string(name))
		}
	}
	e := b.errorf(w.pos, "%q is no step of a job", w.name)
	if i := slices.IndexFunc(b.config.Outcomes, func(o config.Outcome) bool { return o.Name.Value == w.name }); i >= 0 {
		e.WithHint("It is the outcome at %s, and what an outcome writes stands there: %s: {set: {column: value}}.", b.config.Outcomes[i].Name.Pos, w.name)
	} else {
		e.WithHint("%s", suggest(w.name, known, "The steps are"))
	}
	return false
}
