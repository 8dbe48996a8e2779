package queue

// This file reads arguments of the callers of steps of which the values that steps write are made.

import (
	"regexp"
	"slices"
	"strings"
)

// goDuration is the Go type of what a caller adds to the present.
const goDuration = "time.Duration"

// askedForm finds the arguments of an expression that has been read.
var askedForm = regexp.MustCompile(`\{arg:([A-Za-z_][A-Za-z0-9_]*)\}`)

// Asks lists the arguments of which a value is made that a step writes: those that its SQL names,
// or the time that is added to the present. An argument that is the value itself is not among them.
func (s *Spec) Asks(v Value) []*Param {
	switch {
	case v.Kind == SQLExpr:
		return s.AsksIn(v.Text)
	case v.Kind == Now && v.Shift != nil && v.Shift.Given != "":
		if p := s.AskedFor(v.Shift.Given); p != nil {
			return []*Param{p}
		}
	}
	return nil
}

// AskedBy lists the arguments of which something is made that a step writes to its row or to other tables.
func (s *Spec) AskedBy(t *Transition) []*Param {
	var values []Value
	for _, w := range t.Writes {
		values = append(values, w.Value)
	}
	for _, c := range t.With {
		values = append(values, c.values()...)
	}
	return s.askedIn(values)
}

// AskedBeside lists those of which a companion is made.
func (s *Spec) AskedBeside(c *Companion) []*Param { return s.askedIn(c.values()) }

// askedIn lists those of some values, each once.
func (s *Spec) askedIn(values []Value) (params []*Param) {
	for _, v := range values {
		for _, p := range s.Asks(v) {
			if !slices.Contains(params, p) {
				params = append(params, p)
			}
		}
	}
	return params
}

// AsksIn lists those of the arguments of steps that SQL names.
func (s *Spec) AsksIn(text string) (params []*Param) {
	for _, m := range askedForm.FindAllStringSubmatch(text, -1) {
		if p := s.AskedFor(m[1]); p != nil && !slices.Contains(params, p) {
			params = append(params, p)
		}
	}
	return params
}

// AskedFor returns the argument of that name of which written values are made, nil where there is none.
func (s *Spec) AskedFor(name string) *Param {
	i := slices.IndexFunc(s.Asked, func(p *Param) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return s.Asked[i]
}

// IsSaid reports whether the caller of a step says the value that it writes, or a part of it.
func (s *Spec) IsSaid(v Value) bool { return v.Kind == Given || len(s.Asks(v)) > 0 }

// shifted reads now+5m, and now+arg:delay for what the caller says.
func (b *binding) shifted(r *role, l literal) (Value, bool) {
	text := l.text[len("now+"):]
	name, isArg := strings.CutPrefix(text, argMark)
	shift, isLength := fixedShift(l.text)
	switch {
	case isArg && r.verb != "on":
		return b.given(r, literal{text: text, pos: l.pos})
	case isArg && !nameForm.MatchString(name):
		b.errorf(l.pos, "%q is no name of an argument", name).WithHint("Write letters, digits and underscores: now+arg:delay.")
		return Value{}, false
	case isArg:
		shift.Given = name
		b.argument(&b.spec.Asked, &Param{Name: name, Kind: Argument, GoType: goDuration, Pos: l.pos})
	case !isLength:
		b.errorf(l.pos, "%q is no time", l.text).
			WithHint("Write the present and a duration above 0, such as now+5m; or now+arg:delay, which the caller says. A text stands in single quotes.")
		return Value{}, false
	}
	return Value{Kind: Now, Shift: shift, Pos: l.pos}, b.time(r)
}

// fixedShift reads now+5m or now-5m; false where what is added or taken is no duration above 0.
func fixedShift(text string) (*Shift, bool) {
	length, ok := parseDuration(text[len("now+"):])
	return &Shift{Minus: text[len("now")] == '-', Fixed: length}, ok && length > 0
}

// isShifted reports whether a word is the present and a time that is added to it or taken from it.
func isShifted(l literal) bool {
	return l.quote == bare && len(l.text) > len("now+") && (strings.HasPrefix(l.text, "now+") || strings.HasPrefix(l.text, "now-"))
}

// settleAsked finds out of what type arguments are of which no SQL says it, and complains where
// one name stands for two of them.
func (b *binding) settleAsked() {
	for _, p := range b.spec.Asked {
		first := b.givens[p.Name]
		i := slices.IndexFunc(b.spec.Params, func(have *Param) bool { return have.Kind == Argument && have.Name == p.Name })
		own := slices.Contains(b.table.Columns, first.column) && (b.spec.Cycle == nil || p.Name != ArgNext)
		switch {
		case own && p.GoType == "":
			p.Column = first.column
		case first.column != nil:
			hint := "Give this one a name of its own: arg:" + p.Name + "2."
			if own && p.GoType != goDuration {
				hint = "Write {arg:" + p.Name + "} without a type for the same value. Or give this one a name of its own."
			}
			b.errorf(p.Pos, "argument %q is for column %q already, as %s says", p.Name, first.column.Name, first.pos).WithHint("%s", hint)
		case p.GoType == "" && i >= 0:
			p.GoType = b.spec.Params[i].GoType
		case p.GoType == "":
			b.noGoType(p)
		case i >= 0 && b.spec.Params[i].GoType != p.GoType:
			b.errorf(p.Pos, "argument %q is %s here, but %s at %s", p.Name, p.GoType, b.spec.Params[i].GoType, b.spec.Params[i].Pos).
				WithHint("Say the type once, or the same each time.")
		}
	}
}
