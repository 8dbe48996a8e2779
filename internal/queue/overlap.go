package queue

// This file finds rows that are ready and run at once, where SQL of the user tells these states.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// judgeOverlap says so where a row may surely be ready while it runs, and nothing that a claim
// writes is known to end that. Of SQL only what compares one column is understood.
func (b *binding) judgeOverlap() {
	ready, running, claim := b.told(Ready), b.told(Running), b.spec.Transitions[Claim]
	isRaw := func(t Test) bool { return t.Op == Raw }
	if claim == nil || len(running) == 0 || !slices.ContainsFunc(slices.Concat(ready, running), isRaw) {
		return
	}
	// Of what is asked besides, as ready_if says, what is understood counts; of open it is not known
	// whether it holds.
	var open []Test
	for _, t := range b.narrow {
		ways, ok := b.cases([]Test{t})
		switch {
		case !ok || t.Op != Raw:
		case slices.ContainsFunc(ways, func(way []Test) bool { return slices.ContainsFunc(way, compared) }):
			open = append(open, t)
		default:
			ready = append(slices.Clip(ready), t)
		}
	}
	if row := b.overlap(slices.Concat(ready, open), running); row != nil {
		b.spec.Overlaps = true
		b.note("warning: a row with %s is ready and runs at once, and nothing that a claim writes is known to end that: as long as it is so, another claim takes a job that a worker has; qgen:lease, qgen:claimed timeout=…, or a value that tells such rows apart, would keep it away",
			conjunction(once(row)))
		return
	}
	if slices.ContainsFunc(open, func(t Test) bool {
		return slices.ContainsFunc(claim.Writes, func(w Write) bool { return b.spec.Reads(t.SQL, w.Column) })
	}) {
		return // it is about what a claim writes
	}
	if row := b.overlap(ready, running); row != nil && b.mayHold(slices.Concat(ready, running, open)) {
		b.note("a row with %s is ready and runs at once, and nothing that a claim writes is known to end that, unless %s leaves such rows out: where it does not, another claim takes a job that a worker has; qgen:worker, qgen:lease, or a value that tells such rows apart, would keep it away",
			conjunction(once(row)), conjunction(open))
	}
}

// compared reports whether a condition compares with a value that nobody knows.
func compared(t Test) bool {
	return slices.ContainsFunc(t.Values, func(v Value) bool { return v.Kind != Literal && v.Kind != Null })
}

// overlap returns the conditions of a row that surely is ready and runs at once, and that no value
// which a claim writes is known to change; nil where there is none, or something is not understood.
func (b *binding) overlap(ready, running []Test) []Test {
	free, ok := b.cases(ready)
	taken, runs := b.cases(running)
	if !ok || !runs {
		return nil
	}
	for _, x := range free {
		if slices.ContainsFunc(b.spec.Transitions[Claim].Writes, func(w Write) bool { return ends(w, x) }) {
			continue
		}
		for _, y := range taken {
			if row := slices.Concat(x, y); surely(row) {
				return row
			}
		}
	}
	return nil
}

// mayHold reports whether conditions may hold together, as far as each two of them tell.
func (b *binding) mayHold(tests []Test) bool {
	ways, ok := b.cases(tests)
	return !ok || slices.ContainsFunc(ways, func(way []Test) bool {
		for i, x := range way {
			if slices.ContainsFunc(way[i+1:], func(y Test) bool { return !compatible(x, y) }) {
				return false
			}
		}
		return true
	})
}

// apart reports whether what the status says of ready rows and of running ones tells them apart.
// SQL of the user is believed to, unless another column says who has a row, by a worker, a token or
// free=, and a ready row surely stays ready when it is claimed: nothing that is asked of it reads
// what a claim writes.
func (b *binding) apart(ready, running []Test) bool {
	k := &b.claims
	if !disjointStates(ready, running) {
		return false
	}
	timed := either(k.lease, k.claimed)
	if k.visible || k.token == nil && k.worker == nil && (timed == nil || timed.word("free") == nil) {
		return true
	}
	free, ok := b.cases(ready)
	taken, runs := b.cases(running)
	if !ok || !runs {
		return true
	}
	var asked []string
	for _, r := range b.roles["where"] {
		asked = append(asked, r.words[0].values[0].text)
	}
	if text := b.readyIf(); text.IsSet() {
		asked = append(asked, text.Value)
	}
	for _, c := range b.table.Columns {
		if b.claimWrites(c) && slices.ContainsFunc(asked, func(text string) bool { return b.spec.Reads(text, c) }) {
			return true
		}
	}
	for _, x := range free {
		if slices.ContainsFunc(x, func(t Test) bool { return b.claimWrites(t.Column) }) {
			continue
		}
		if slices.ContainsFunc(taken, func(y []Test) bool { return surely(slices.Concat(x, y)) }) {
			return false
		}
	}
	return true
}

// claimWrites reports whether some word says that a claim writes a column.
func (b *binding) claimWrites(c *schema.Column) bool {
	for _, s := range b.status {
		if v, ok := s.writes[Running]; s.column == c && ok && v.Kind != Old {
			return true
		}
	}
	for _, verb := range []string{"lease", "claimed", "visible", "heartbeat", "worker", "token", "attempts", "version"} {
		if slices.ContainsFunc(b.roles[verb], func(r *role) bool { return r.column == c }) {
			return true
		}
	}
	return slices.ContainsFunc(b.roles["on"], func(r *role) bool {
		set := r.word("set")
		if r.column != c || r.word(string(Claim)) == nil || set == nil {
			return false
		}
		i := slices.Index(r.words, set) + 1
		return i == len(r.words) || r.words[i].values[0].quote != bare || r.words[i].values[0].text != "old"
	})
}

// judgeEnds warns of steps that end a job and leave its row as ready ones are. Where a further
// condition, as that of ready_if, reads what such a step writes, it is for the user to say. A claim
// with strategy=pop of rows that its caller names, or that stay ready by done=keep, is no queue but a
// change of them.
func (b *binding) judgeEnds() {
	for _, name := range b.spec.Steps() {
		state := enters[name]
		job := map[StateName]string{Done: "a job that is done", Failed: "a job that has failed for good"}[state]
		if o := b.spec.Outcome(name); o != nil {
			state, job = o.To, fmt.Sprintf("a job that the outcome %q ends", o.Name)
		}
		t := b.spec.Transitions[name]
		if t == nil || t.Delete || name == GiveUp || state != Done && state != Failed || b.spec.Cycle != nil && state == Done || b.failedByLimit && state == Failed || b.isAway() || !b.leavesReady(t) && (!b.keepsReady || b.endsReady(t)) {
			if t != nil && !t.Delete && name != GiveUp && (state == Done || state == Failed) && (b.spec.Cycle == nil || state != Done) && !b.isAway() && !b.spec.ChangesNamed() && b.looksReady(t) {
				b.note("%s leaves a row as ready ones are but for column %q, which a further condition on ready rows reads: where that holds, the next claim takes it again", job, b.narrowedBy(t).Name)
			}
			continue
		}
		b.spec.Anew = append(b.spec.Anew, name)
		if b.keepsReady || b.spec.ChangesNamed() {
			continue
		}
		mend := ""
		if state == Done {
			mend = ", or cycle on qgen:queue, if jobs never end"
		}
		b.note("warning: %s leaves a row as ready ones are, so the next claim takes it again: write a value of its own for %s=%s", job, state, mend)
	}
}

// ChangesNamed reports whether a claim ends jobs of which its caller says which they are: by a
// column of the key, or by an argument of a condition. Where the rows go, what takes the next ones before a
// time, or below another bound, names none: something is to be done with them.
func (s *Spec) ChangesNamed() bool {
	t := s.Transitions[Finish]
	drops := t == nil || t.Delete
	return s.Strategy == "pop" && (s.NamesKeys() || slices.ContainsFunc(s.Params, func(p *Param) bool {
		return p.Kind == Argument && (!drops || !s.bounds(p))
	}))
}

// NamesKeys reports whether the caller of a claim says a part of the key of the rows that it takes.
func (s *Spec) NamesKeys() bool {
	return slices.ContainsFunc(s.Params, func(p *Param) bool { return p.Kind != Argument && !p.Optional && slices.Contains(s.Key, p.Column) })
}

// EndsNamed reports whether a claim with strategy=pop does all that is to be done with the jobs that it ends, for its
// caller says which they are, as ChangesNamed tells. By an argument of a condition callers may as well choose which
// jobs they do: where another queue over the table ends them by its claims alike, and where rows stay and what is
// written means nothing to one that adds them.
func (s *Spec) EndsNamed() bool {
	switch {
	case !s.ChangesNamed():
		return false
	case s.NamesKeys():
		return true
	}
	return !slices.ContainsFunc(s.Others, s.endsAlike) && (!s.KeepsPopped() || s.Decides())
}

// endsAlike reports whether another queue over the table ends by its claims what this one ends, without being told
// which jobs these are.
func (s *Spec) endsAlike(other *Spec) bool {
	ready, theirs := s.States[Ready], other.States[Ready]
	if other.Strategy != "pop" || other.ChangesNamed() || s.KeepsPopped() != other.KeepsPopped() || ready == nil || theirs == nil || !mayShare(s, ready.Tests, theirs.Tests) {
		return false
	}
	return !s.KeepsPopped() || slices.ContainsFunc(s.Transitions[Finish].Writes, func(w Write) bool {
		return tellsBy(ready.Tests, w.Column) && slices.ContainsFunc(other.Transitions[Finish].Writes, func(u Write) bool { return s.own(Test{Column: u.Column}).Column == w.Column })
	})
}

// bounds reports whether each condition of ready rows with an argument compares by more or less.
func (s *Spec) bounds(p *Param) bool {
	seen := false
	for _, t := range s.States[Ready].Tests {
		for _, c := range Conjuncts(t.SQL) {
			if !strings.Contains(c, "{arg:"+p.Name+" ") && !strings.Contains(c, "{arg:"+p.Name+"}") {
				continue
			}
			if seen = true; !PiecesOf(c).ordered() {
				return false
			}
		}
	}
	return seen
}

// ordered reports whether an expression compares by more or less.
func (p Pieces) ordered() bool {
	depth := 0
	for i := range p {
		switch {
		case p.is(i, "("):
			depth++
		case p.is(i, ")"):
			depth--
		case depth > 0:
		case p.is(i, "between"), p.is(i, "<") && !p.is(i+1, ">", "<"), p.is(i, ">") && !p.is(i-1, "<", "-", "=", ">"):
			return true
		}
	}
	return false
}

// leavesReady reports whether a row is surely ready behind a step, as it was before its claim.
func (b *binding) leavesReady(t *Transition) bool { return b.looksReady(t) && b.narrowedBy(t) == nil }

// narrowedBy returns a column that a step writes and a further condition on ready rows reads; nil without one.
func (b *binding) narrowedBy(t *Transition) *schema.Column {
	for _, n := range b.narrow {
		for _, w := range t.Writes {
			if n.Column == w.Column || n.Op == Raw && b.spec.Reads(n.SQL, w.Column) {
				return w.Column
			}
		}
	}
	return nil
}

// looksReady is leavesReady by the states alone, whatever narrows them.
func (b *binding) looksReady(t *Transition) bool {
	ready, claim := b.told(Ready), b.spec.Transitions[Claim]
	if len(t.With) > 0 && slices.ContainsFunc(slices.Concat(ready, b.narrow), func(r Test) bool {
		return slices.ContainsFunc(r.Alternatives(), func(x Test) bool { return x.Op == Raw && source.Mentions(x.SQL, "select") })
	}) {
		return false // other tables tell, which the step writes
	}
	writes := func(t *Transition, c *schema.Column) *Write {
		i := slices.IndexFunc(t.Writes, func(w Write) bool { return w.Column == c })
		if i < 0 {
			return nil
		}
		return &t.Writes[i]
	}
	if claim == nil || len(ready) == 0 || !slices.ContainsFunc(ready, func(r Test) bool { return r.Column != nil && writes(t, r.Column) != nil }) {
		return false
	}
	for _, r := range ready {
		switch w := writes(t, r.Column); {
		case r.Column == nil, w == nil && writes(claim, r.Column) != nil:
			return false
		case w == nil:
		case w.Value.Kind != Literal && w.Value.Kind != Null, !slices.ContainsFunc(r.Alternatives(), func(r Test) bool { return meets(w.Value, r) }):
			return false
		}
	}
	return true
}

// endsReady reports whether a row is surely not ready any more behind a step.
func (b *binding) endsReady(t *Transition) bool {
	return slices.ContainsFunc(t.Writes, func(w Write) bool { return ends(w, b.told(Ready)) })
}

// meets reports whether a constant that is written surely satisfies a condition.
func meets(v Value, t Test) bool {
	if v.Kind == Null && t.Op == In {
		return slices.ContainsFunc(t.Values, func(v Value) bool { return v.Kind == Null })
	}
	return t.Op != Raw && satisfies(v, t)
}

// once leaves out tests that stand there already.
func once(tests []Test) (list []Test) {
	for _, t := range tests {
		if !slices.ContainsFunc(list, func(have Test) bool { return sameTest(have, t) }) {
			list = append(list, t)
		}
	}
	return list
}

// ends reports whether a row to which a claim has written a value surely fails one of the tests.
func ends(w Write, tests []Test) bool {
	written := Test{Column: w.Column, Op: In, Values: []Value{w.Value}}
	switch w.Value.Kind {
	case Literal, Null:
	case Now, Token, WorkerID:
		written = Test{Column: w.Column, Op: NotNull}
	default:
		return false
	}
	return slices.ContainsFunc(tests, func(t Test) bool { return contradict(written, t) })
}

// cases returns the ways in which tests can hold, each a list of conditions without alternatives;
// false where one of them is not understood.
func (b *binding) cases(tests []Test) (all [][]Test, ok bool) {
	all = [][]Test{nil}
	for _, t := range tests {
		var ways [][]Test
		for _, one := range t.Alternatives() {
			one.Or = nil
			if one.Op != Raw {
				ways = append(ways, []Test{one})
				continue
			}
			r := &conditionReader{text: one.SQL, places: pieceForm.FindAllStringIndex(one.SQL, -1), names: b.spec.Read(PiecesOf(one.SQL))}
			found := r.any()
			if r.unread || r.at < len(r.names.Pieces) {
				return nil, false
			}
			ways = append(ways, found...)
		}
		if all = each(all, ways); len(all) > mostCases {
			return nil, false
		}
	}
	return all, true
}

// mostCases is how many ways are looked at in which a state can hold.
const mostCases = 32

// each joins every way of one list with every way of another.
func each(list, more [][]Test) (joined [][]Test) {
	for _, x := range list {
		for _, y := range more {
			joined = append(joined, slices.Concat(x, y))
		}
	}
	return joined
}

// surely reports whether some row satisfies all the conditions, as far as each column tells by
// itself. A value that is not known is taken for one that a column may have.
func surely(tests []Test) bool {
	var columns []*schema.Column
	for _, t := range tests {
		if t.Column == nil {
			return false
		}
		if !slices.Contains(columns, t.Column) {
			columns = append(columns, t.Column)
		}
	}
	return !slices.ContainsFunc(columns, func(c *schema.Column) bool {
		return !holdsOne(slices.DeleteFunc(slices.Clone(tests), func(t Test) bool { return t.Column != c }))
	})
}

// holdsOne reports whether some value surely satisfies all conditions on one column.
func holdsOne(tests []Test) bool {
	var candidates []Value
	unknown := 0
	for _, t := range tests {
		switch t.Op {
		case IsNull:
			candidates = append(candidates, Value{Kind: Null})
			continue
		case NotNull:
			continue
		}
		for _, v := range t.Values {
			switch n, err := strconv.Atoi(v.Text); {
			case v.Kind == Null:
				candidates = append(candidates, v)
			case v.Kind != Literal:
				unknown++
			case err == nil:
				candidates = append(candidates, v, number(n-1), number(n+1))
			default:
				candidates = append(candidates, v)
			}
		}
	}
	if unknown > 0 {
		// One comparison with what nobody knows holds of some value, beside what is not null. So it
		// does where some values are left out, if it is of what is less or more.
		order := slices.ContainsFunc(tests, func(t Test) bool {
			return compared(t) && slices.Contains([]Op{Less, LessEqual, Greater, GreatEqual}, t.Op)
		})
		return unknown == 1 && !slices.ContainsFunc(tests, func(t Test) bool {
			return t.Op == IsNull || t.Op != NotNull && !compared(t) && (!order || t.Op != NotIn)
		})
	}
	if len(candidates) == 0 {
		return true
	}
	return slices.ContainsFunc(candidates, func(v Value) bool {
		return !slices.ContainsFunc(tests, func(t Test) bool { return !satisfies(v, t) })
	})
}

// satisfies reports whether a constant surely satisfies a condition.
func satisfies(v Value, t Test) bool {
	has := slices.ContainsFunc(t.Values, func(have Value) bool { return same(have, v) })
	null := v.Kind == Null
	switch t.Op {
	case IsNull:
		return null
	case NotNull:
		return !null
	case In:
		return has
	case NotIn:
		return !has
	}
	have, err := strconv.ParseFloat(v.Text, 64)
	want, wrong := strconv.ParseFloat(t.Values[0].Text, 64)
	if null || err != nil || wrong != nil {
		return false
	}
	switch have += float64(t.By); t.Op {
	case Less:
		return have < want
	case LessEqual:
		return have <= want
	case Greater:
		return have > want
	}
	return have >= want
}

// conditionReader reads an expression of comparisons as the ways in which it can hold.
type conditionReader struct {
	text   string
	places [][]int // of its pieces
	names  *Reading
	at     int
	unread bool // something else was met
}

// next reports whether one of some words is next, and passes over it.
func (r *conditionReader) next(words ...string) bool {
	if r.names.is(r.at, words...) {
		r.at++
		return true
	}
	return false
}

// any reads conditions with OR between them.
func (r *conditionReader) any() [][]Test {
	ways := r.all()
	for r.next("or") && len(ways) <= mostCases {
		ways = append(ways, r.all()...)
	}
	return ways
}

// all reads conditions with AND between them.
func (r *conditionReader) all() [][]Test {
	ways := r.one()
	for r.next("and") && len(ways) <= mostCases {
		ways = each(ways, r.one())
	}
	return ways
}

// one reads a comparison, a truth, or conditions in parentheses.
func (r *conditionReader) one() [][]Test {
	fail := func() [][]Test {
		r.unread = true
		return nil
	}
	if r.unread || r.at >= len(r.names.Pieces) {
		return fail()
	}
	if r.next("(") {
		ways := r.any()
		if !r.next(")") {
			return fail()
		}
		return ways
	}
	if truth, ok := r.truth(); ok {
		if truth {
			return [][]Test{nil}
		}
		return nil
	}
	c, row := r.names.Column(r.at)
	if c == nil || !row {
		return fail()
	}
	r.at++
	// A comparison is not true of a null, also one that something is not equal to.
	compared := func(t Test) [][]Test {
		if t.Op == NotIn {
			return [][]Test{{t, {Column: c, Op: NotNull}}}
		}
		return [][]Test{{t}}
	}
	t := Test{Column: c}
	switch not := false; {
	case r.next("is"):
		t.Op = IsNull
		if r.next("not") {
			t.Op = NotNull
		}
		if !r.next("null") {
			return fail()
		}
		return [][]Test{{t}}
	case r.next("not"):
		not = true
		fallthrough
	case r.names.is(r.at, "in"):
		if !r.next("in") || !r.next("(") {
			return fail()
		}
		t.Op = In
		if not {
			t.Op = NotIn
		}
		for {
			v, ok := r.constant()
			if !ok {
				return fail()
			}
			t.Values = append(t.Values, v)
			if r.next(")") {
				return compared(t)
			}
			if !r.next(",") {
				return fail()
			}
		}
	}
	sign := ""
	for r.names.is(r.at, "<", ">", "=", "!") {
		sign += r.names.Pieces[r.at]
		r.at++
	}
	ops := map[string]Op{"=": In, "<>": NotIn, "!=": NotIn, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreatEqual}
	if t.Op = ops[sign]; t.Op == "" {
		return fail()
	}
	start := r.at
	if v, ok := r.constant(); ok && (r.at == len(r.names.Pieces) || r.names.is(r.at, "and", "or", ")")) {
		t.Values = []Value{v}
		return compared(t)
	}
	r.at = start
	depth := 0
	for ; r.at < len(r.names.Pieces) && (depth > 0 || !r.names.is(r.at, "and", "or", ")")); r.at++ {
		switch r.names.Pieces[r.at] {
		case "(":
			depth++
		case ")":
			depth--
		}
		if c, _ := r.names.Column(r.at); c != nil {
			return fail()
		}
	}
	if r.at == start {
		return fail()
	}
	t.Values = []Value{{Kind: SQLExpr, Text: r.text[r.places[start][0]:r.places[r.at-1][1]]}}
	return compared(t)
}

// truth reads what is true, or not, of every row: true, false, and two constants that are compared.
func (r *conditionReader) truth() (truth, ok bool) {
	switch {
	case r.next("true"):
		return true, true
	case r.next("false"):
		return false, true
	}
	start := r.at
	if x, ok := r.constant(); ok && r.next("=") {
		if y, ok := r.constant(); ok {
			return same(x, y), true
		}
	}
	r.at = start
	return false, false
}

// constant reads a number or a text.
func (r *conditionReader) constant() (Value, bool) {
	sign := ""
	if r.next("-") {
		sign = "-"
	}
	if r.at >= len(r.names.Pieces) {
		return Value{}, false
	}
	p := r.names.Pieces[r.at]
	switch {
	case numberForm.MatchString(p):
		r.at++
		return Value{Kind: Literal, Text: sign + p}, true
	case sign == "" && textForm.MatchString(p):
		r.at++
		return Value{Kind: Literal, Text: p[1 : len(p)-1]}, true
	}
	return Value{}, false
}
