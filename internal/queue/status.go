package queue

// This file reads columns whose values name states.

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// statusColumn is one column with qgen:status.
type statusColumn struct {
	*role
	tests  map[StateName]Test
	writes map[StateName]Value
	values []StatusValue // constants, in the order in which they are written
	bound  map[StateName]bool
	// Where Start leads from claimed to running: what it writes, nil for nothing, and the
	// tests of both where the column tells them apart. What tests and writes then have
	// under running is what somebody has, begun or not, and what Claim writes.
	start  *Value
	phases map[StateName]Test
}

// readStatus reads every column with qgen:status.
func (b *binding) readStatus() {
	for _, r := range b.roles["status"] {
		s := &statusColumn{role: r, tests: map[StateName]Test{}, writes: map[StateName]Value{}, bound: map[StateName]bool{}}
		if len(r.words) == 0 {
			b.errorf(r.pos, "qgen:status of column %q names no state", r.column.Name).
				WithHint("Say which value means what: qgen:status ready=N running=A done=C failed=E.")
			continue
		}
		before := b.errs.Len()
		for _, w := range r.words {
			if state := StateName(w.name); slices.Contains(StateNames, state) {
				b.readState(s, state, w)
			}
		}
		b.closeOpen(s)
		if b.errs.Len() == before {
			b.status = append(b.status, s)
		}
	}
	b.readStart()
	b.chooseStatus()
}

// readState reads what one word says of one state.
func (b *binding) readState(s *statusColumn, state StateName, w *word) {
	c := s.column
	if w.op != tests && c.Generated {
		b.generated(s.role, w)
		return
	}
	if w.op == assigns {
		if len(w.values) > 1 {
			b.errorf(w.pos, "%s writes several values", w.pos.Text()).WithHint("One value can be written: %s:=%s.", w.name, w.values[0].text)
			return
		}
		if v, ok := b.written(s.role, w.values[0]); ok {
			s.writes[state] = v
		}
		return
	}
	s.bound[state] = w.op == equals
	test := Test{Column: c, Op: In}
	for i, l := range w.values {
		switch keyword := l.keyword(); {
		case l.quote == sql && w.op == tests && len(w.values) == 1:
			if text, ok := b.expression(l, nil); ok {
				test = Test{Column: c, Op: Raw, SQL: text}
			}
		case l.quote == sql:
			b.errorf(l.pos, "an expression cannot be test and write at once").
				WithHint(`A text stands in single quotes: %s='%s'. Of an expression say both: %s~"…" for the test, a condition, and %s:="…" for the write, a value.`, w.name, l.text, w.name, w.name)
		case keyword == "set" && w.op == tests && len(w.values) == 1:
			test = Test{Column: c, Op: NotNull}
		case keyword == "set":
			b.errorf(l.pos, "set is a test and cannot be written").
				WithHint("Say %s~set for the test alone, or the value that is written, for example %s=now. A text reads 'set' in quotes.", w.name, w.name)
		case (keyword == "now" || keyword == "token" || keyword == "worker") && w.op == equals && len(w.values) == 1:
			// Any value that no other state has; which these are is known when
			// the whole column is read.
			if v, ok := b.written(s.role, l); ok {
				s.writes[state] = v
				test.Op = NotIn
			}
		case keyword != "":
			b.errorf(l.pos, "%s cannot be compared with a column", l.text).
				WithHint("Write the constant that the column holds. A text reads '%s' in quotes.", l.text)
		default:
			v, ok := b.literal(c, l)
			if !ok {
				continue
			}
			test.Values = append(test.Values, v)
			if v.Kind == Literal {
				s.name(v.Text, state)
			}
			if w.op == equals && i == 0 {
				s.writes[state] = v
			}
		}
	}
	if len(test.Values) == 1 && test.Values[0].Kind == Null {
		test = Test{Column: c, Op: IsNull}
	}
	s.tests[state] = test
}

// name notes that a constant means a state.
func (s *statusColumn) name(value string, state StateName) {
	if !slices.ContainsFunc(s.values, func(v StatusValue) bool { return v.Value == value }) {
		first := !slices.ContainsFunc(s.values, func(v StatusValue) bool { return v.State == state })
		s.values = append(s.values, StatusValue{Value: value, State: state, First: first})
	}
}

// closeOpen completes the tests for "any other value": of a fresh token, of
// the present, of a worker.
func (b *binding) closeOpen(s *statusColumn) {
	for _, state := range StateNames {
		test, ok := s.tests[state]
		if !ok || test.Op != NotIn {
			continue
		}
		null := false
		for _, other := range StateNames {
			if other == state {
				continue
			}
			null = null || s.tests[other].Op == IsNull
			for _, v := range s.tests[other].Values {
				switch {
				case v.Kind == Null:
					null = true
				case !slices.ContainsFunc(test.Values, func(have Value) bool { return same(have, v) }):
					test.Values = append(test.Values, v)
				}
			}
		}
		switch {
		case len(test.Values) == 0:
			test = Test{Column: s.column, Op: NotNull}
		case null || !s.column.NotNull:
			test.Values = append(test.Values, Value{Kind: Null})
		}
		s.tests[state] = test
	}
}

// keyword returns the word that is no constant, "" for constants.
func (l literal) keyword() string {
	if l.quote != bare {
		return ""
	}
	switch {
	case l.text == "set", l.text == "now", l.text == "token", l.text == "worker", l.text == "old":
		return l.text
	case strings.HasPrefix(l.text, "arg:"):
		return "arg"
	}
	return ""
}

// written returns what a user wants to be written to a column: a constant, or
// any of the words that stand for a value. It reports false after a complaint.
func (b *binding) written(r *role, l literal) (Value, bool) {
	c := r.column
	switch {
	case l.quote == sql:
		var args *[]*Param
		if r.verb == "on" { // a state has none
			args = &b.spec.Asked
		}
		text, ok := b.expression(l, args)
		return Value{Kind: SQLExpr, Text: text, Pos: l.pos}, ok
	case isShifted(l):
		return b.shifted(r, l)
	case l.quote == bare && (l.text == "+1" || l.text == "-1"):
		if !c.Type.Counts() {
			b.errorf(l.pos, "column %q is %s, which does not count", c.Name, c.Type.Raw).WithHint("%s is for columns of numbers.", l.text)
			return Value{}, false
		}
		by := 1
		if l.text == "-1" {
			by = -1
		}
		return Value{Kind: Add, By: by, Pos: l.pos}, true
	}
	switch l.keyword() {
	case "set":
		b.errorf(l.pos, "set is a test and cannot be written").WithHint("Write the value itself, for example now. A text reads 'set' in quotes.")
		return Value{}, false
	case "now":
		return Value{Kind: Now, Pos: l.pos}, b.time(r)
	case "old":
		return Value{Kind: Old, Pos: l.pos}, true
	case "token":
		return Value{Kind: Token, Pos: l.pos}, b.holdsToken(c, l.pos, "")
	case "worker":
		return Value{Kind: WorkerID, Pos: l.pos}, true
	case "arg":
		return b.given(r, l)
	}
	return b.literal(c, l)
}

var nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// given returns the argument that stands for what is written to a column.
func (b *binding) given(r *role, l literal) (Value, bool) {
	name := strings.TrimPrefix(l.text, "arg:")
	switch {
	case r.verb != "on":
		b.errorf(l.pos, "an argument cannot be a state").
			WithHint("States are constants. What a caller may say goes to a column of its own: qgen:on fail set %s.", l.text)
		return Value{}, false
	}
	return b.giveTo(name, receiver{r.column, r.pos}, l.pos)
}

// receiver is the column that takes an argument, and where that is said.
type receiver struct {
	column *schema.Column
	pos    source.Pos
}

// giveTo returns the argument of that name as a value of the column that takes it.
func (b *binding) giveTo(name string, to receiver, pos source.Pos) (Value, bool) {
	if !nameForm.MatchString(name) {
		b.errorf(pos, "%q is no name of an argument", name).WithHint("Write letters, digits and underscores: arg:code.")
		return Value{}, false
	}
	if first := b.givens[name]; first.column != nil && first.column != to.column {
		b.errorf(pos, "argument %q is for column %q already, as %s says", name, first.column.Name, first.pos).
			WithHint("An argument has the type of one column. Where both take the same value, write it at the second as SQL, \"{arg:%s}\"; else give the second a name of its own: arg:%s.", name, name+"2")
		return Value{}, false
	}
	b.givens[name] = to
	return Value{Kind: Given, Name: name, Pos: pos}, true
}

// chooseStatus sets Spec.Status where one column alone names the states.
func (b *binding) chooseStatus() {
	var managed []*statusColumn
	for _, s := range b.status {
		if len(s.writes) > 0 && len(s.values) > 0 {
			managed = append(managed, s)
		}
		for _, state := range StateNames {
			switch s.writes[state].Kind {
			case Token:
				b.spec.Token = s.column
			case WorkerID:
				b.spec.Worker = s.column
				b.limitWorkers(s, state)
			}
		}
	}
	if len(managed) != 1 {
		return
	}
	s := managed[0]
	status := &Status{Column: s.column, ByToken: s.writes[Running].Kind == Token}
	allowed := s.column.Values
	if s.column.Type.Class == schema.Bool {
		allowed = nil
	}
	var unnamed []string
	for _, value := range allowed {
		i := slices.IndexFunc(s.values, func(v StatusValue) bool { return v.Value == value })
		if i < 0 {
			unnamed = append(unnamed, value)
			status.Values = append(status.Values, StatusValue{Value: value})
		} else {
			status.Values = append(status.Values, s.values[i])
		}
	}
	if allowed == nil {
		status.Values = s.values
	}
	if len(unnamed) > 0 {
		b.note("column %q may also be %s, which no state names: such rows are left alone", s.column.Name, strings.Join(unnamed, ", "))
	}
	b.spec.Status = status
}

// limitWorkers finds the workers that a column cannot name while it tells a state by them: the
// constants of the other states, and what SQL does not take for that state.
func (b *binding) limitWorkers(s *statusColumn, state StateName) {
	spec := b.spec
	no := func(value string, state StateName) {
		if !slices.ContainsFunc(spec.NoWorker, func(v StatusValue) bool { return v.Value == value }) {
			spec.NoWorker = append(spec.NoWorker, StatusValue{Value: value, State: state})
		}
	}
	for _, v := range s.values {
		if s.writes[v.State].Kind != WorkerID {
			no(v.Value, v.State)
		}
	}
	if s.tests[state].Op != Raw {
		return
	}
	for _, t := range spec.Comparisons(s.tests[state].SQL) {
		if t.Column != s.column {
			continue
		}
		for _, v := range t.Values {
			n, err := strconv.ParseInt(v.Text, 10, 64)
			switch {
			case t.Op == NotIn && v.Kind == Literal:
				no(v.Text, Stray)
			case err != nil:
			case t.Op == Greater && n < math.MaxInt64:
				spec.leastWorker(n + 1)
			case t.Op == GreatEqual:
				spec.leastWorker(n)
			case t.Op == Less && n > math.MinInt64:
				spec.mostWorker(n - 1)
			case t.Op == LessEqual:
				spec.mostWorker(n)
			}
		}
	}
}

func (s *Spec) leastWorker(n int64) {
	if s.LeastWorker == nil || *s.LeastWorker < n {
		s.LeastWorker = &n
	}
}

func (s *Spec) mostWorker(n int64) {
	if s.MostWorker == nil || *s.MostWorker > n {
		s.MostWorker = &n
	}
}

// statusTests returns what the status columns test of a state.
func (b *binding) statusTests(state StateName) []Test {
	var list []Test
	for _, s := range b.status {
		if t, ok := s.tests[state]; ok {
			list = append(list, t)
		}
	}
	return list
}
