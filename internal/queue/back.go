package queue

// This file tells what a row is once a step has moved it back to the table of the queue:
// ready, as it was when it was claimed, or not.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// readyConditions are the conditions that all hold of a ready row.
func (b *binding) readyConditions() (list []Test) {
	for _, t := range slices.Concat(b.told(Ready), b.narrow) {
		if t.Op != Raw || len(t.Or) > 0 {
			list = append(list, t)
			continue
		}
		for _, text := range Conjuncts(t.SQL) {
			list = append(list, Test{Op: Raw, SQL: text})
		}
	}
	return list
}

// ways returns the ways in which a condition can hold, as cases does; false where it is not understood.
func (b *binding) ways(t Test) ([][]Test, bool) {
	if c, v, ok := b.spec.truthOf(t.SQL); ok && t.Op == Raw && len(t.Or) == 0 {
		return [][]Test{{{Column: c, Op: In, Values: []Value{v}}}}, true
	}
	return b.cases([]Test{t})
}

// truthOf reads a condition that asks whether a boolean of the row is true, or false: "not paused".
func (s *Spec) truthOf(text string) (c *schema.Column, v Value, ok bool) {
	p := PiecesOf(text)
	not := p.is(0, "not")
	if not {
		p = p[1:]
	}
	for p.is(0, "(") && p.closing(0) == len(p)-1 {
		p = p[1 : len(p)-1]
	}
	r := s.Read(p)
	switch {
	case len(p) == 1:
	case len(p) == 3 && p.is(1, "=", "is") && p.is(2, "true", "false"):
		not = not != p.is(2, "false")
	default:
		return nil, v, false
	}
	c, row := r.Column(0)
	if c == nil || !row || c.Type.Class != schema.Bool {
		return nil, v, false
	}
	return c, Value{Kind: Literal, Text: fmt.Sprint(!not)}, true
}

// heldReady returns the value that a column surely has in every ready row; of a time that has come, now.
func (b *binding) heldReady(c *schema.Column) (v Value, ok bool) {
	for _, t := range b.readyConditions() {
		ways, known := b.ways(t)
		for i, way := range ways {
			fixed, only := fixedBy(way, c)
			if known = known && only && (i == 0 || same(fixed, v)); !known {
				break
			}
			v = fixed
		}
		if known && len(ways) > 0 {
			return v, true
		}
	}
	return Value{}, false
}

// fixedBy returns the only value that conditions leave a column.
func fixedBy(tests []Test, c *schema.Column) (Value, bool) {
	for _, t := range tests {
		switch {
		case t.Column != c || t.By != 0:
		case t.Op == IsNull:
			return Value{Kind: Null}, true
		case t.Op == LessEqual && t.Values[0].Kind == Now && t.Values[0].Shift == nil && !c.HasDefault:
			return Value{Kind: Now}, true
		case t.Op == In && len(t.Values) == 1 && t.Values[0].Kind == Null:
			return Value{Kind: Null}, true
		case t.Op == In && len(t.Values) == 1 && t.Values[0].Kind == Literal:
			if text, wrong := fit(c, t.Values[0].Text); wrong == "" {
				return Value{Kind: Literal, Text: text}, true
			}
		}
	}
	return Value{}, false
}

// unready returns a condition of ready rows that a row does not satisfy with a value in a column, or that
// reads it and is not understood; surely tells which of the two.
func (b *binding) unready(c *schema.Column, v Value) (by *Test, surely bool) {
	if v.Kind != Null && v.Kind != Literal {
		return nil, false
	}
	for _, t := range b.readyConditions() {
		ways, known := b.ways(t)
		switch {
		case !known && t.Op == Raw && b.spec.Reads(t.SQL, c):
			by = &t
		case known && !slices.ContainsFunc(ways, func(way []Test) bool {
			return !slices.ContainsFunc(way, func(x Test) bool { return x.Column == c && !mayMeet(v, x) })
		}):
			return &t, true
		}
	}
	for _, p := range b.spec.Params {
		if p.Column == c && !slices.ContainsFunc(p.Any, v.Same) {
			return &Test{Op: Raw, SQL: c.Name + " = {" + c.Name + "}"}, v.Kind == Null && !p.Optional
		}
	}
	return by, false
}

// mayMeet reports whether a constant satisfies a condition, or nobody knows.
func mayMeet(v Value, t Test) bool {
	if v.Kind == Literal {
		if slices.ContainsFunc(t.Values, func(of Value) bool { return of.Kind != Literal && of.Kind != Null }) {
			return true
		}
		own := t
		own.Values = nil
		for _, of := range t.Values {
			if text, wrong := fit(t.Column, of.Text); of.Kind == Literal && wrong == "" {
				of.Text = text
			}
			own.Values = append(own.Values, of)
		}
		t = own
	}
	return meets(v, t)
}

// comes returns what a column of the queue gets where a row moves back and nothing is written to it: by of,
// which had its value while the job ran, or its default. A value that it surely had while the row was ready
// comes back where it would be lost else, unless qgen:on says that the column stays as it is (old).
func (b *binding) comes(column, of *schema.Column, old bool) (v Value, write bool) {
	taken := b.spec.Transitions[Claim].written(of)
	if of != nil && !b.holds(of) && (taken.Kind == Old || taken.Kind == Add) {
		return taken, false
	}
	if v, ok := b.ready.heldReady(column); ok && !old && (of != nil || !gives(column, v)) && (v.Kind != Null || !column.NotNull) {
		return v, true
	}
	switch text, fixed := constant(column.Default); {
	case of != nil && !b.holds(of):
		return taken, false
	case of != nil && !column.NotNull:
		return Value{Kind: Null}, true
	case of != nil && !column.HasDefault:
		return taken, false
	case fixed:
		if fits, wrong := fit(column, text); wrong == "" {
			text = fits
		}
		return Value{Kind: Literal, Text: text}, false
	case !column.HasDefault || column.DefaultNull():
		return Value{Kind: Null}, false
	}
	return Value{Kind: SQLExpr}, false
}

// strayed warns of rows that moved back and are not ready with what a column of the queue gets then:
// left tells the steps by their columns.
func (b *binding) strayed(left map[*schema.Column][]comeback) {
	operations := map[TransitionName]string{Retry: "Fail", Release: "Requeue", Recover: "Recover"}
	for _, c := range b.ready.table.Columns {
		var of, on []string
		var last comeback
		for _, m := range left[c] {
			if m.surely {
				b.strays(m.step, c)
			}
			if m.said {
				text := operations[m.step] + " makes a job of no state and not ready, since qgen:on %s %s"
				if m.step == Recover {
					text = "warning: " + text
				}
				does := fmt.Sprintf("writes column %q", c.Name)
				if !m.writes {
					does = fmt.Sprintf("leaves column %q of %q at its default", c.Name, b.ready.table.QualifiedName())
				}
				b.note(text, m.step, does)
				continue
			}
			of, on, last = append(of, operations[m.step]), append(on, string(m.step)), m
		}
		if len(of) == 0 {
			continue
		}
		gets := "null"
		if last.value.Kind == Literal {
			gets = quote(last.value, c)
		}
		end := "no claim takes such a job again"
		if !last.surely {
			end = "whether such a job is ready again is not known here"
		}
		mend := "qgen:on " + strings.Join(on, ",") + " set … at that column says what it gets"
		if b.away.to[c] == nil {
			mend += fmt.Sprintf(", and a column of %q that is paired with it keeps what it held", b.table.QualifiedName())
		}
		b.note("warning: column %q of %q gets %s where a row moves back (%s), and a row is ready only while %s: %s; %s",
			c.Name, b.ready.table.QualifiedName(), gets, strings.Join(of, ", "), strings.Trim(last.by.text(), "[]"), end, mend)
	}
}

// strays keeps that a step leaves a row that surely is not ready with what a column gets.
func (b *binding) strays(step TransitionName, c *schema.Column) {
	if t := b.spec.Transitions[step]; t.Strays == nil {
		t.Strays = c
	}
	switch step {
	case Recover:
		b.spec.Recovered = Stray
	case Retry:
		b.spec.Retried = Stray
		for _, s := range []*Spec{b.spec, b.ready.spec} {
			s.Notes = slices.DeleteFunc(s.Notes, func(n string) bool {
				return n == NeverFails || strings.HasPrefix(n, noEnd) || strings.HasPrefix(n, readyAtOnce)
			})
		}
	}
}

// comeback is what a step that moves a row back leaves in a column with which the row is not ready.
type comeback struct {
	step   TransitionName
	value  Value
	by     *Test // of ready rows
	surely bool  // else nobody knows
	said   bool  // by qgen:on
	writes bool  // else it is left so
}
