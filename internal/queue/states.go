package queue

// This file builds the states: which tests tell them, and whether they can be
// told apart.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// buildStates sets Spec.States and Spec.Expired. What is about states as a
// whole is judged only where every part is sound.
func (b *binding) buildStates() {
	k := &b.claims
	if b.isAway() {
		b.spec.States[Running], b.spec.States[Ready] = &State{Name: Running}, &State{Name: Ready}
		b.spec.Expired = b.abandoned()
		b.readRecoverIf()
		b.judgeAtStart()
		b.readAlive()
		return
	}
	b.statusCore()
	b.markCore()
	if b.finished != nil && b.keepsDone && !b.keepsReady && b.saysState(Done) == nil {
		c := b.finished.column
		b.add(Done, Test{Column: c, Op: NotNull}, false)
		b.add(Ready, Test{Column: c, Op: IsNull}, false)
		if b.runs() {
			b.add(Running, Test{Column: c, Op: IsNull}, false)
		}
	}
	if b.failedByLimit {
		b.core[Failed] = slices.DeleteFunc(slices.Clone(b.core[Ready]), func(c condition) bool { return b.onlyReady(c.Column) })
		for _, t := range b.spec.Attempts.spent(0) {
			b.add(Failed, t, false)
		}
		for _, t := range b.spec.Attempts.left(0) {
			b.add(Ready, t, true)
		}
	}
	if b.runs() || k.visible {
		b.spec.Expired = b.abandoned()
		if k.visible && !k.told && !b.givesUp() {
			b.spec.Expired = nil // is ready
		}
	}
	if !b.movesAway() {
		b.readRecoverIf()
		b.judgeAtStart()
		b.readAlive()
	}
	for _, name := range StateNames {
		if len(b.told(name)) == 0 && (name != Ready || len(b.narrow) == 0) {
			continue
		}
		if name == Done && b.spec.DoneDeletes || name == Failed && b.spec.FailedDeletes {
			continue // such rows are in another table
		}
		state := &State{Name: name, Tests: b.told(name)}
		if name == Ready {
			state.Tests = append(state.Tests, b.narrow...)
		}
		b.spec.States[name] = state
		if name == Running {
			b.spec.Held = b.all(Running)
		}
	}
	if b.spec.States[Ready] == nil {
		b.spec.States[Ready] = &State{Name: Ready}
	}
	// What a stage that ends jobs by its claim makes of them is a state of the queue beside it.
	b.noteUntold(Done, b.keepsDone && (b.spec.Strategy != "pop" || len(b.config.Others) == 0), "there is no Purge of it")
	b.noteUntold(Failed, b.keepsFailed, "there is no Redrive and no Purge of it")
	if b.sound {
		b.judgeStates()
	}
}

// noteUntold says where rows of a state stay and nothing tells them, since its values are
// only written.
func (b *binding) noteUntold(state StateName, keeps bool, then string) {
	if w := b.saysState(state); keeps && w != nil && b.core[state] == nil {
		b.note("%s is only written, so nothing tells a %s row: %s; %s=… tests it as well", w.pos.Text(), ended[state], then, w.name)
	}
}

// ended are the states of jobs that have ended, as people call them.
var ended = map[StateName]string{Done: "finished", Failed: "failed"}

// add adds a test to a state, once.
func (b *binding) add(state StateName, t Test, fleeting bool) {
	if !slices.ContainsFunc(b.core[state], func(c condition) bool { return sameTest(c.Test, t) }) {
		b.core[state] = append(b.core[state], condition{t, fleeting})
	}
}

// all returns every test of a state; steady those that still hold while somebody
// has the row.
func (b *binding) all(state StateName) []Test {
	var list []Test
	for _, c := range b.core[state] {
		list = append(list, c.Test)
	}
	return list
}

func (b *binding) steady(state StateName) []Test {
	var list []Test
	for _, c := range b.core[state] {
		if !c.fleeting {
			list = append(list, c.Test)
		}
	}
	return list
}

// onlyReady reports whether a status column is merely looked at when a row is
// claimed: it neither is written nor tells any other state.
func (b *binding) onlyReady(c *schema.Column) bool {
	for _, s := range b.status {
		if s.column == c {
			return len(s.writes) == 0 && len(s.tests) == 1
		}
	}
	return false
}

// runs reports whether a claimed row can be told by looking at it.
func (b *binding) runs() bool {
	return b.claims.told || b.claims.mark != nil || b.config.Running != nil
}

// statusCore adds what the status columns test.
func (b *binding) statusCore() {
	k := &b.claims
	for _, s := range b.status {
		for _, name := range StateNames {
			t, ok := s.tests[name]
			if !ok {
				continue
			}
			if name == Ready && k.byClaim {
				// A running row whose claim has run out is ready, too: what every row
				// satisfies that is one or the other tells nothing.
				if t, ok = s.orHeld(t); !ok {
					continue
				}
			}
			b.add(name, t, false)
		}
		// A column that a claim does not touch is, in a running row, what it was when the
		// row was ready; unless others may change it meanwhile. One that tells nothing but
		// what is ready says nothing of rows that somebody has.
		if t, ok := s.tests[Ready]; ok && !s.touches() && s.bound[Ready] && k.mark != nil && len(s.tests) > 1 {
			b.add(Running, t, false)
		}
	}
}

// union returns the test that holds where one of two holds.
func union(x, y Test) Test {
	rest := y.Or
	y.Or = nil
	if x.Op == In && y.Op == In && x.Column == y.Column {
		for _, v := range y.Values {
			if !slices.ContainsFunc(x.Values, func(have Value) bool { return same(have, v) }) {
				x.Values = append(slices.Clip(x.Values), v)
			}
		}
	} else if has := func(t Test) bool { t.Or = nil; return sameTest(t, y) }; !has(x) && !slices.ContainsFunc(x.Or, has) {
		x.Or = append(slices.Clip(x.Or), y)
	}
	for _, t := range rest {
		x = union(x, t)
	}
	return x
}

// always reports whether every row satisfies a test, as far as two of its alternatives or
// the two values of a boolean tell.
func always(t Test) bool {
	list := t.Alternatives()
	for _, x := range list {
		if x.Op == In && isTruth(x.Column) && hasTruth(x.Values, true) && hasTruth(x.Values, false) {
			return true
		}
		if slices.ContainsFunc(list, func(y Test) bool { return x.Column == y.Column && isRest(y, x) }) {
			return true
		}
	}
	return false
}

// isRest reports whether one condition holds wherever another on the same column does not.
func isRest(x, y Test) bool {
	isNull := func(v Value) bool { return v.Kind == Null }
	has := func(v Value) bool {
		return slices.ContainsFunc(y.Values, func(have Value) bool { return same(have, v) })
	}
	switch {
	case x.Op == NotNull:
		return y.Op == IsNull || y.Op == In && slices.ContainsFunc(y.Values, isNull)
	case x.Op != NotIn || y.Op != In:
		return false
	}
	null := x.Column.NotNull || !slices.ContainsFunc(x.Values, isNull) || slices.ContainsFunc(y.Values, isNull)
	return null && !slices.ContainsFunc(x.Values, func(v Value) bool { return !isNull(v) && !has(v) })
}

// isTruth reports whether a column holds true or false and nothing else.
func isTruth(c *schema.Column) bool {
	return c.NotNull && c.Type.Class == schema.Bool && c.Type.Bits == 0 && !c.Type.Loose && !c.Type.Array
}

// hasTruth reports whether values hold one of the two of a boolean.
func hasTruth(values []Value, want bool) bool {
	return slices.ContainsFunc(values, func(v Value) bool {
		b, err := strconv.ParseBool(v.Text)
		return v.Kind == Literal && err == nil && b == want
	})
}

// markCore adds what the roles test that mark a running row.
func (b *binding) markCore() {
	k := &b.claims
	switch {
	case k.told && k.byClaim:
		timed := either(k.lease, k.claimed)
		for _, t := range b.freeOrRunOut(timed) {
			b.add(Ready, t, true)
		}
		b.addTaken(timed)
	case k.mark == nil:
	case k.visible && k.mark == k.lease:
		b.add(Running, Test{Column: k.lease.column, Op: Greater, Values: []Value{{Kind: Now}}}, true)
		for i, t := range b.isDue(k.dueRole()) {
			b.add(Ready, t, true)
			if i > 0 {
				b.add(Running, t, true) // no claim writes what stands for never, nor what does for always
			}
			for _, or := range t.Or {
				if or.Op == In {
					b.add(Running, Test{Column: or.Column, Op: NotIn, Values: or.Values}, true)
				}
			}
		}
	case k.byClaim:
		for _, t := range b.freeOrRunOut(k.mark) {
			b.add(Ready, t, true)
		}
		b.addTaken(k.mark)
	case len(k.free[k.mark]) > 0:
		free, c := k.free[k.mark], k.mark.column
		ready := isFree(c, free)
		if k.mark.has("mine") {
			ready.Or = append(ready.Or, Test{Column: c, Op: In, Values: []Value{{Kind: WorkerID}}})
		}
		b.add(Ready, ready, false)
		b.add(Running, isTaken(c, free), false)
		b.noteMark(isFree(c, free))
	}
}

// noteMark says that a column other than a status tells ready rows from running ones, where that
// may be a surprise: a status speaks of both, or a condition of the user's on ready rows reads it.
func (b *binding) noteMark(free Test) {
	r, c := b.claims.mark, free.Column
	what := conjunction([]Test{free})
	if len(b.statusTests(Ready)) > 0 && len(b.statusTests(Running)) > 0 {
		b.note("the status does not tell ready rows from running ones, so qgen:%s at column %q does: a row is ready only while %s, and not where something else has left a value there", r.verb, c.Name, what)
	}
	if slices.ContainsFunc(b.narrow, func(t Test) bool { return t.Op == Raw && b.spec.Reads(t.SQL, c) }) {
		b.note("warning: a condition on ready rows reads column %q, but a row is ready only while %s, since qgen:%s at that column alone tells which rows run; running=<value> on qgen:status tells them apart, and so does timeout= with expired=claim", c.Name, what, r.verb)
	}
}

// addTaken adds the tests of a row whose claim is good.
func (b *binding) addTaken(r *role) {
	ready := b.toldReady()
	switch free := b.claims.free[r]; {
	case ready != nil && !r.has("free"):
		if c := b.runOut()[0].Column; !c.NotNull && c != ready.Column {
			b.note("column %q may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once", c.Name)
		}
	case endsNow(free):
		b.add(Running, Test{Column: r.column, Op: Greater, Values: []Value{{Kind: Now}}}, true)
	case len(free) > 0:
		b.add(Running, isTaken(r.column, free), false)
	}
	for _, t := range b.runOut() {
		t.Op = Greater
		b.add(Running, t, true)
	}
}

// endsNow reports whether a row is given back by a claim that ends now, so that
// only the clock tells it.
func endsNow(free []Value) bool { return len(free) > 0 && free[0].Kind == Now }

// freeOrRunOut tests a row that nobody has, or whose claim has run out, or that the caller has himself where mine=ready.
func (b *binding) freeOrRunOut(r *role) []Test {
	k := &b.claims
	list := b.runOut()
	if len(list) == 0 {
		return nil
	}
	or := func(t Test) { list[0] = union(list[0], t) }
	ready := b.toldReady()
	if ready != nil {
		or(*ready)
	}
	switch free := k.free[r]; {
	case len(free) == 0, ready != nil && !r.has("free"):
	case !endsNow(free):
		or(isFree(r.column, free))
	default:
		if list[0].Column != r.column { // but its heartbeat
			or(Test{Column: r.column, Op: LessEqual, Values: []Value{{Kind: Now}}})
		}
		if !r.column.NotNull {
			or(Test{Column: r.column, Op: IsNull})
		}
	}
	if w := k.worker; w.annotationOf().has("mine") {
		or(Test{Column: w.column, Op: In, Values: []Value{{Kind: WorkerID}}})
	}
	return list
}

// toldReady returns the test of the status column that tells ready rows from running ones;
// nil when no column does or several do, of which another program may write one only, and when
// a ready row may have to wait for its time. What the column of the claim holds does not matter
// then, unless free= says so: other programs may leave the time of the last claim there, or
// write none.
func (b *binding) toldReady() *Test {
	if b.claims.visible {
		return nil
	}
	var told []Test
	for _, s := range b.status {
		ready, ok := s.tests[Ready]
		if running, runs := s.tests[Running]; ok && runs && b.apart([]Test{ready}, []Test{running}) {
			told = append(told, ready)
		}
	}
	if len(told) != 1 {
		return nil
	}
	return &told[0]
}

// readRecoverIf reads the predicate of qgen.yaml that tells a claim that has
// run out, or that narrows which of those that ran out by time have.
func (b *binding) readRecoverIf() {
	text := b.config.Recover
	if !text.IsSet() {
		return
	}
	narrows := len(b.spec.Expired) == 1 && b.spec.Lease != nil && !b.claims.byClaim && !b.isAway() &&
		b.config.Workers == nil && !b.claims.worker.annotationOf().has("alive")
	switch {
	case b.spec.Lease != nil && !narrows:
		b.errorf(text.Pos, "recover_if and column %q both say when a claim runs out", cmp.Or(b.spec.Lease.Heartbeat, b.spec.Lease.Column).Name).
			WithHint("Leave one of the two out. Where Recover alone takes back what has run out (expired=recover), and no list of workers is asked, both may stand: a claim has run out where both hold.")
	case !b.runs():
		b.errorf(text.Pos, "recover_if needs a state in which jobs run").WithHint("Say which rows run: qgen:status running=….")
	}
	if sql, ok := b.expression(asLiteral(text), nil); ok {
		if own := (Test{Op: Raw, SQL: sql}); narrows {
			b.spec.Expired = append(b.spec.Expired, own) // both have to hold
		} else {
			b.spec.Expired = []Test{own}
		}
	}
	if !narrows && b.config.Gen.Go.Worker.Value && !b.overRow(text.Value) {
		b.note("warning: recover_if names no column of the row, so it holds for every row that runs or for none, and Work calls Recover every minute: it takes jobs away from its own handlers; recover=start on qgen:queue makes ready what ran when the program ended, once when it starts")
	}
}

// judgeStates complains about states that are missing or look alike.
func (b *binding) judgeStates() {
	if len(b.status) > 0 && len(b.core[Ready]) == 0 {
		s := b.status[0]
		b.errorf(s.column.Pos, "status column %q has no value for \"ready\"", s.column.Name).
			WithHint("Say which rows wait to be claimed: ready=<value>.")
		return
	}
	if !b.spec.DoneDeletes && !b.keepsDone && b.spec.Cycle == nil && b.spec.Log == nil && b.spec.Strategy != "offset" {
		e := b.errorf(b.spec.Pos, "nothing says what becomes of a finished row")
		switch {
		case len(b.status) == 0 && b.finished != nil && b.finished.has("also_failed"):
			e.WithHint("Column %q has a value for failed rows as well (also_failed), and so does not tell which are done. Leave also_failed out, or say done=delete on qgen:queue, or which column tells them: qgen:status done=….", b.finished.column.Name)
		case len(b.status) > 0:
			e.WithHint("Say done=<value> on qgen:status of column %q, or done=delete on qgen:queue.", b.status[0].column.Name)
		default:
			e.WithHint("Say qgen:queue done=delete, or which column keeps it: qgen:status done=<value>, or qgen:finished on a column that may be null; or qgen:seq on the column that grows with insertion, where rows are only added and stay.")
		}
		return
	}
	if b.judgeContradictions() {
		return
	}
	for i, x := range StateNames {
		for _, y := range StateNames[i+1:] {
			if b.spec.States[x] == nil || b.spec.States[y] == nil || disjointStates(b.told(x), b.told(y)) {
				continue
			}
			pos := b.spec.Pos
			if w := b.saysState(y); w != nil {
				pos = w.pos
			} else if w := b.saysState(x); w != nil {
				pos = w.pos
			}
			e := b.errorf(pos, "states %q and %q cannot be told apart", x, y)
			if s := b.silent(x, y); s != nil {
				e.WithHint("A row with %s is in both. Say what column %q holds in state %q as well, for example %s.",
					b.witness(x, y), s.column.Name, y, sample(s, y))
			} else if without := b.without(x, y); without != "" {
				e.WithHint("A row with %s is in both. Say what set leaves out: %s.", b.witness(x, y), without)
			} else {
				e.WithHint("A row with %s is in both. Give one of them a value of its own.", b.witness(x, y))
			}
			return
		}
	}
}

// judgeContradictions complains about states in which no row can be, because what two words
// say of one column cannot hold together, and reports whether there is one.
func (b *binding) judgeContradictions() bool {
	for _, name := range StateNames {
		if b.spec.States[name] == nil {
			continue
		}
		tests := b.told(name)
		if name == Ready {
			tests = append(tests, b.narrow...)
		}
		for i, x := range tests {
			for _, y := range tests[i+1:] {
				if x.Column == nil || x.Column != y.Column || !contradict(x, y) {
					continue
				}
				texts, pos := b.saying(x.Column, name)
				b.errorf(pos, "no row can be %s: %s contradict each other at column %q", name, strings.Join(texts, " and "), x.Column.Name).
					WithHint("It would have %s. Leave one of them out, or say it of another column.", conjunction([]Test{x, y}))
				return true
			}
		}
	}
	return false
}

// saying lists the words that say what a column holds in a state, and where the first stands.
func (b *binding) saying(c *schema.Column, state StateName) (texts []string, pos source.Pos) {
	for _, s := range b.status {
		if s.column != c {
			continue
		}
		w := s.word(string(state))
		if w == nil {
			w = s.word(string(Ready)) // which holds of running rows as well
		}
		if w != nil {
			texts, pos = append(texts, w.pos.Text()), w.pos
		}
	}
	for _, r := range b.columns[c].Roles {
		if r.Verb == "status" || slices.Contains(moving, r.Verb) {
			continue
		}
		if texts = append(texts, mark+r.Verb); len(texts) == 1 {
			pos = r.Pos
		}
	}
	return texts, pos
}

// contradict reports whether no value satisfies both tests of a column.
func contradict(x, y Test) bool {
	return !slices.ContainsFunc(x.Alternatives(), func(x Test) bool {
		return slices.ContainsFunc(y.Alternatives(), func(y Test) bool { return compatible(x, y) })
	})
}

// silent returns a status column that tells state x and says nothing of y,
// where no column tells both; else nil.
func (b *binding) silent(x, y StateName) *statusColumn {
	var found *statusColumn
	for _, s := range b.status {
		_, ofX := s.tests[x]
		_, ofY := s.tests[y]
		if ofX && ofY {
			return nil
		}
		if ofX && found == nil {
			found = s
		}
	}
	if found == nil || !slices.ContainsFunc(b.status, func(s *statusColumn) bool { _, ok := s.tests[y]; return ok }) {
		return nil
	}
	return found
}

// without says how a state that every value of a column means leaves out those that mean the
// other; "" where it is another matter that the two cannot be told apart.
func (b *binding) without(x, y StateName) string {
	for _, s := range b.status {
		for _, states := range [][2]StateName{{x, y}, {y, x}} {
			all, some := s.tests[states[0]], s.tests[states[1]]
			if all.Op != NotNull || some.Op != In || len(all.Or)+len(some.Or) > 0 {
				continue
			}
			var but []string
			for _, v := range some.Values {
				but = append(but, fmt.Sprintf("%s <> %s", s.column.Name, quote(v, s.column)))
			}
			return fmt.Sprintf("%s~\"%s is not null and %s\"", states[0], s.column.Name, strings.Join(but, " and "))
		}
	}
	return ""
}

// sample is what a user could say of a state at a status column.
func sample(s *statusColumn, state StateName) string {
	if !s.column.NotNull {
		return string(state) + "=null"
	}
	return string(state) + "=…"
}

// witness describes a row that two states share.
func (b *binding) witness(x, y StateName) string {
	tests := b.told(x)
	for _, t := range b.told(y) {
		if !slices.ContainsFunc(tests, func(have Test) bool { return sameTest(have, t) }) {
			tests = append(tests, t)
		}
	}
	return conjunction(tests)
}

// disjointStates reports whether no row satisfies both lists of tests, as far
// as that can be seen. An expression of the user is believed to tell.
func disjointStates(x, y []Test) bool {
	raw := func(t Test) bool { return t.Op == Raw }
	if slices.ContainsFunc(x, raw) || slices.ContainsFunc(y, raw) {
		return true
	}
	return someExcluded(x, y) || someExcluded(y, x)
}

// Excludes reports whether no row satisfies both tests, as far as they tell: of what an expression
// tells nothing is known.
func (t Test) Excludes(other Test) bool {
	for _, x := range slices.Concat(t.Alternatives(), other.Alternatives()) {
		if x.Op == Raw {
			return false
		}
	}
	return someExcluded([]Test{t}, []Test{other}) || someExcluded([]Test{other}, []Test{t})
}

// someExcluded reports whether x holds a test each alternative of which is
// excluded by some test of y.
func someExcluded(x, y []Test) bool {
	return slices.ContainsFunc(x, func(t Test) bool {
		for _, alternative := range confusable(t) {
			if !slices.ContainsFunc(y, func(u Test) bool { return excludesAll(alternative, u) }) {
				return false
			}
		}
		return true
	})
}

// excludesAll reports whether a condition excludes every alternative of a test.
func excludesAll(x Test, t Test) bool {
	return !slices.ContainsFunc(confusable(t), func(y Test) bool { return compatible(x, y) })
}

// confusable lists the alternatives of a test by which two states may be confused. Rows that
// are mine count as ready and run all the same, which is no confusion.
func confusable(t Test) []Test {
	return slices.DeleteFunc(t.Alternatives(), func(x Test) bool {
		return x.Op == In && len(x.Values) == 1 && x.Values[0].Kind == WorkerID
	})
}

// compatible reports whether some value may satisfy both conditions.
func compatible(x, y Test) bool { return !excludes(x, y) && !excludes(y, x) }

// excludes reports whether no value satisfies both conditions, as far as x tells.
func excludes(x, y Test) bool {
	if x.Op == IsNull && len(y.Values) == 1 && y.Values[0].Kind == ColumnOf && y.Values[0].Other == x.Column && y.Values[0].Else == "" {
		return true // nothing compares with null
	}
	if x.Column != y.Column {
		return false
	}
	null := Value{Kind: Null}
	has := func(t Test, v Value) bool {
		return slices.ContainsFunc(t.Values, func(have Value) bool { return same(have, v) })
	}
	constants := func(t Test) bool {
		return !slices.ContainsFunc(t.Values, func(v Value) bool { return v.Kind != Literal && v.Kind != Null })
	}
	switch {
	case x.Op == IsNull:
		switch y.Op {
		case NotNull, Less, LessEqual, Greater, GreatEqual:
			return true
		case In:
			return constants(y) && !has(y, null)
		case NotIn:
			return has(y, null)
		}
	case x.Op == In && y.Op == In:
		return constants(x) && constants(y) && !slices.ContainsFunc(x.Values, func(v Value) bool { return has(y, v) })
	case x.Op == In && y.Op == NotIn:
		return constants(x) && !slices.ContainsFunc(x.Values, func(v Value) bool { return !has(y, v) })
	case x.Op == In && y.Op == NotNull:
		return len(x.Values) == 1 && x.Values[0].Kind == Null
	case x.Op == In && slices.Contains([]Op{Less, LessEqual, Greater, GreatEqual}, y.Op):
		return constants(x) && !slices.ContainsFunc(x.Values, func(v Value) bool { return v.Kind == Literal && mayBe(v, y) })
	case x.Op == LessEqual && y.Op == Greater, x.Op == Less && (y.Op == GreatEqual || y.Op == Greater):
		return x.By == y.By && same(x.Values[0], y.Values[0])
	}
	return false
}

// Implies reports whether whatever satisfies a test satisfies the other as well, as far as constants tell.
func (t Test) Implies(other Test) bool {
	return !slices.ContainsFunc(t.Alternatives(), func(x Test) bool {
		return !slices.ContainsFunc(other.Alternatives(), func(y Test) bool { return implies(x, y) })
	})
}

// implies is Implies of tests without alternatives.
func implies(x, y Test) bool {
	if x.Column == nil || x.Column != y.Column || x.By != 0 || y.By != 0 {
		return false
	}
	null := func(v Value) bool { return v.Kind == Null }
	ordered := func(t Test) bool { return slices.Contains([]Op{Less, LessEqual, Greater, GreatEqual}, t.Op) }
	literals := !slices.ContainsFunc(x.Values, func(v Value) bool { return v.Kind != Literal })
	among := func(v Value) bool { return slices.ContainsFunc(y.Values, v.Same) }
	switch {
	case y.Op == NotNull:
		return x.Op == NotNull || ordered(x) || x.Op == In && !slices.ContainsFunc(x.Values, null)
	case y.Op == IsNull:
		return x.Op == IsNull
	case x.Op != In || !literals:
		return false
	case y.Op == In:
		return !slices.ContainsFunc(x.Values, func(v Value) bool { return !among(v) })
	case y.Op == NotIn:
		return !slices.ContainsFunc(x.Values, among)
	case ordered(y):
		return !slices.ContainsFunc(x.Values, func(v Value) bool { return !mustBe(v, y) })
	}
	return false
}

// mustBe reports whether a literal is less or more than what a test says.
func mustBe(v Value, t Test) bool {
	_, err := strconv.ParseFloat(v.Text, 64)
	_, wrong := strconv.ParseFloat(t.Values[0].Text, 64)
	return err == nil && wrong == nil && t.Values[0].Kind == Literal && t.Column.Type.Counts() && mayBe(v, t)
}

// mayBe reports whether a literal is less or more than what a test says, or nobody knows.
func mayBe(v Value, t Test) bool {
	limit := t.Values[0]
	have, err := strconv.ParseFloat(v.Text, 64)
	want, wrong := strconv.ParseFloat(limit.Text, 64)
	if err != nil || wrong != nil || limit.Kind != Literal || !t.Column.Type.Counts() {
		return true
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

// Changes reports whether a step surely leaves a row that satisfies tests other than it was:
// a server may count the rows that a statement changed, and not those that it found.
func (t *Transition) Changes(tests []Test) bool {
	return t.Delete || slices.ContainsFunc(t.Writes, func(w Write) bool {
		switch w.Value.Kind {
		case Token:
			return true
		case Add:
			return w.Value.By != 0 && w.Column.NotNull
		case Literal, Null:
			written := Test{Column: w.Column, Op: In, Values: []Value{w.Value}}
			return slices.ContainsFunc(tests, func(t Test) bool {
				return contradict(written, t)
			})
		}
		return false
	})
}

// same compares values without their positions.
func same(x, y Value) bool {
	if x.Shift != nil && y.Shift != nil {
		if *x.Shift != *y.Shift {
			return false
		}
		x.Shift, y.Shift = nil, nil
	}
	x.Pos = y.Pos
	return x == y
}

// sameTest compares tests without the positions of their values.
func sameTest(x, y Test) bool {
	return x.Column == y.Column && x.By == y.By && x.Op == y.Op && x.SQL == y.SQL &&
		slices.EqualFunc(x.Values, y.Values, same) && slices.EqualFunc(x.Or, y.Or, sameTest)
}
