package queue

// This file reads the outcomes of qgen.yaml: ways to settle a job besides done and
// failed, each with a name.

import (
	"slices"
	"strings"
	"unicode"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// reserved are the methods that a package has already or may have, in lower case.
var reserved = strings.Fields("claim start complete completeandclaim fail requeue extend recover redrive purge purgedone purgefailed enqueue enqueuemany stats statsof backlog peek verify work withtx hold commit close")

// leading tells for a state which step leads there.
var leading = map[StateName]TransitionName{Ready: Release, Done: Finish, Failed: Fail, Deleted: Finish}

// named returns the name of the transition of an outcome.
func (o *Outcome) named() TransitionName { return TransitionName("outcome " + o.Name) }

// readNamed adds the outcomes of qgen.yaml. An outcome writes what the step to its
// state does, less what a caller would give, and what is set besides.
func (b *binding) readNamed() {
	seen := map[string]source.Pos{}
	if all := b.config.Outcomes; b.spec.Log != nil && len(all) > 0 {
		b.errorf(all[0].Name.Pos, "rows of this queue are only added, so nothing is written when a job ends").
			WithHint("Leave outcomes out, or say what becomes of a finished row: done=delete, or a status.")
		return
	}
	for _, from := range b.config.Outcomes {
		o := &Outcome{Name: from.Name.Value, Pos: from.Name.Pos, To: StateName(from.To.Value)}
		lower := strings.ToLower(strings.ReplaceAll(o.Name, "_", ""))
		first, twice := seen[lower]
		switch {
		case !nameForm.MatchString(o.Name) || !unicode.IsLetter(rune(o.Name[0])):
			b.errorf(o.Pos, "outcome %q is no name of a method", o.Name).WithHint("Write letters, digits and underscores that begin with a letter: partial.")
			continue
		case slices.Contains(reserved, lower):
			b.errorf(o.Pos, "outcome %q would be a method that packages have already", o.Name).
				WithHint("Call it otherwise. What Complete, Fail and Requeue do is said by the roles of the columns.")
			continue
		case twice:
			b.errorf(o.Pos, "outcome %q would be the same method as the one at %s", o.Name, first).WithHint("Call it otherwise.")
			continue
		}
		seen[lower] = o.Pos
		base := b.spec.Transitions[leading[o.To]]
		if base == nil {
			b.errorf(from.To.Pos, "outcome %q leads to failed, which no row of this queue is", o.Name).WithHint("%s", absent[Fail])
			continue
		}
		if m := b.config.DoneMove; m != nil && o.To == Deleted {
			b.errorf(from.To.Pos, "outcome %q would delete rows, but those of jobs that are done are moved", o.Name).
				WithHint("Write to: done, and its rows are moved as well; or leave done: {move: …} out.")
			continue
		}
		b.spec.Outcomes = append(b.spec.Outcomes, o)
		b.spec.Transitions[o.named()] = &Transition{Name: o.named(), Tests: base.Tests, Delete: base.Delete || o.To == Deleted}
		o.Transition = b.spec.Transitions[o.named()]
		b.writeNamed(o, from, base)
	}
}

// writeNamed adds what an outcome writes.
func (b *binding) writeNamed(o *Outcome, from config.Outcome, base *Transition) {
	set := map[*schema.Column]bool{}
	for _, s := range from.Set {
		c := b.columnNamed(b.table, s.Column.Value, s.Column.Pos)
		if c == nil {
			continue
		}
		if o.Transition.Delete {
			b.errorf(s.Column.Pos, "%s removes the row, so nothing is written to it", o.Name).WithHint("Leave it out, or keep such rows.")
			continue
		}
		r := &role{annotation: &annotation{verb: "on", pos: s.Column.Pos, yaml: true}, column: c}
		l, ok := parseValue(s.Value, b.errs)
		if !ok {
			continue
		}
		v, ok := b.written(r, l)
		if !ok {
			continue
		}
		set[c] = true
		b.write(r, c, v, o.named())
		b.noteLess(o.Name, c, v)
		b.leadsTo(o, c, v)
	}
	for _, d := range b.drafts[base.Name] {
		v := d.value
		if v.Shift != nil && v.Shift.Arg == ArgDelay {
			if !b.claims.visible {
				continue // the row is as due as it was
			}
			v.Shift = nil
		}
		if !set[d.column] && v.Kind != Arg && !b.spec.IsSaid(v) {
			b.write(d.by, d.column, v, o.named())
		}
	}
}

// leadsTo complains about a constant that a row of the outcome's state cannot have. When a row is due does
// not count: what is never due rests.
func (b *binding) leadsTo(o *Outcome, c *schema.Column, v Value) {
	state := b.spec.States[o.To]
	if state == nil || v.Kind != Literal && v.Kind != Null {
		return
	}
	is := Test{Column: c, Op: In, Values: []Value{v}}
	if v.Kind == Null {
		is = Test{Column: c, Op: IsNull}
	}
	for _, t := range b.steady(o.To) {
		if t.Column == c && excludesAll(is, t) {
			b.errorf(v.Pos, "outcome %q leads to %s, but a row with %s is not %s", o.Name, o.To, is.text(), o.To).
				WithHint("Let the state have that value as well, qgen:status %s=…|%s, or write another.", o.To, quote(v, c))
			return
		}
	}
}

// parseValue reads a value as it stands behind set.
func parseValue(text config.String, errs *source.ErrorList) (literal, bool) {
	s := &scanner{text: text.Value, locate: locate(text.Value, text.Pos, text.Exact), errs: errs}
	s.space()
	l, ok := s.literal()
	if s.space(); ok && s.at < len(s.text) {
		errs.Errorf(s.locate(s.at, len(s.text)-s.at), "one value stands here").
			WithHint("A text with other characters than letters and digits stands in single quotes within those of YAML, an expression in double quotes: \"'Partially sent'\", '\"upper(kind)\"'.")
		return l, false
	}
	return l, ok
}
