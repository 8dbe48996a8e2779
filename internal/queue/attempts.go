package queue

// This file reads the counters: attempts, recoveries, their limits, and versions.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// readAttempts reads attempts, max_attempts and version.
func (b *binding) readAttempts() {
	if r := b.one("version"); r != nil {
		b.counts(r)
	}
	tries, recoveries := b.counter(false), b.counter(true)
	ofTries, ofRecoveries := b.limits(tries, recoveries)
	b.spec.Attempts = b.readCount(tries, ofTries)
	b.spec.Recoveries = b.readCount(recoveries, ofRecoveries)
	if a := b.spec.Attempts; a != nil && !a.OnClaim {
		a.Spared = b.setsOnRecover(a.Column) || b.isAway() && b.ready.setsOnRecover(b.away.from[a.Column])
	}
}

// setsOnRecover reports whether qgen:on says that Recover leaves a column as it is, or sets it to
// a constant.
func (b *binding) setsOnRecover(c *schema.Column) bool {
	return slices.ContainsFunc(b.roles["on"], func(r *role) bool {
		set := slices.IndexFunc(r.words, func(w *word) bool { return w.op == flag && w.name == "set" })
		if r.column != c || set < 0 || set+1 >= len(r.words) || !slices.ContainsFunc(r.words[:set], func(w *word) bool { return w.name == string(Recover) }) {
			return false
		}
		value := r.words[set+1].values
		return len(value) == 1 && value[0].quote != sql && !strings.HasPrefix(value[0].text, "+") && !strings.HasPrefix(value[0].text, "arg:")
	})
}

// counter returns the role that counts tries, or that which counts recoveries; nil where
// there is none.
func (b *binding) counter(ofRecoveries bool) *role {
	for _, r := range b.roles["attempts"] {
		if r.countsRecoveries() == ofRecoveries {
			return r
		}
	}
	return nil
}

// countsRecoveries reports whether a role counts how often a job was recovered.
func (r *role) countsRecoveries() bool {
	return r.verb == "attempts" && r.value("on") == string(Recover)
}

// limits finds the columns that hold the limits of two counts: that which max= names, else
// the one that nobody names, which is of the tries where they are counted.
func (b *binding) limits(tries, recoveries *role) (ofTries, ofRecoveries *role) {
	named := func(r *role) *role {
		w := r.annotationOf().word("max")
		if w == nil || w.values[0].quote != bare {
			return nil
		}
		return b.limitAt(columnOf(b.table, w.values[0].text, b.fold))
	}
	ofTries, ofRecoveries = named(tries), named(recoveries)
	var spare *role
	for _, l := range b.roles["max_attempts"] {
		b.counts(l)
		switch {
		case l == ofTries, l == ofRecoveries:
		case spare != nil:
			b.errorf(l.pos, "column %q is qgen:%s, but column %q at %s already is", l.column.Name, l.verb, spare.column.Name, spare.pos).
				WithHint("Keep one of them.")
		default:
			spare = l
		}
	}
	switch {
	case spare == nil:
	case tries != nil && ofTries == nil:
		ofTries = spare
	case tries == nil && recoveries != nil && ofRecoveries == nil:
		ofRecoveries = spare
	default:
		b.errorf(spare.pos, "column %q limits the attempts, but no column counts them", spare.column.Name).
			WithHint("Mark the counter with qgen:attempts up on=claim.")
	}
	return ofTries, ofRecoveries
}

// limitAt returns the role of a column of limits.
func (b *binding) limitAt(c *schema.Column) *role {
	for _, l := range b.roles["max_attempts"] {
		if l.column == c {
			return l
		}
	}
	return nil
}

// readCount reads a count and its limit, of which there may be none.
func (b *binding) readCount(r, limit *role) *Attempts {
	if r == nil || !b.counts(r) {
		return nil
	}
	a := &Attempts{Column: r.column, Down: r.has("down"), OnRecover: r.countsRecoveries(), NullMeansUnlimited: r.value("null") == "unlimited"}
	if w := r.word("up"); w != nil && a.Down {
		b.errorf(w.pos, "attempts cannot be counted up and down").WithHint("Keep up or down.")
	}
	if w := r.word("null"); w != nil && r.column.NotNull {
		b.errorf(w.pos, "column %q is NOT NULL, so it is never null", r.column.Name).WithHint("Leave null= out.")
	}
	b.readCounting(r, a)
	b.readLimit(r, limit, a)
	return a
}

// counts checks that a role's column is a number that can be written.
func (b *binding) counts(r *role) bool {
	if r.column.Type.Counts() && r.column.Type.Class != schema.Float {
		return true
	}
	b.errorf(r.pos, "column %q is %s, which does not count", r.column.Name, orWord(r.column.Type.Raw, "without type")).
		WithHint("qgen:%s is for a column of whole numbers.", r.verb)
	return false
}

// readCounting finds out when a try is counted.
func (b *binding) readCounting(r *role, a *Attempts) {
	on := r.word("on")
	switch {
	case on == nil && a.Down, a.OnRecover:
	case on == nil:
		a.OnClaim = true
	default:
		a.OnClaim = on.values[0].text == "claim"
	}
}

// countFailures lets tries be counted when they fail where a claim writes
// nothing, and so cannot count.
func (b *binding) countFailures() {
	a := b.spec.Attempts
	if a == nil || !a.OnClaim {
		return
	}
	w := b.counter(false).word("on")
	switch {
	case b.runs() && w == nil:
		b.note("tries are counted in column %q when they begin (on=claim)", a.Column.Name)
		return
	case b.runs():
		return
	}
	a.OnClaim = false
	if w != nil {
		b.errorf(w.pos, "a claim of this queue writes nothing, and so counts nothing").
			WithHint("No word says which rows run. Say on=retry, which counts the tries that failed, or say running=<value> on qgen:status.")
	} else {
		b.note("tries are counted in column %q when they fail (on=retry), since a claim writes nothing", a.Column.Name)
	}
}

// readLimit finds the limit of the tries and where it is looked at.
func (b *binding) readLimit(r, limit *role, a *Attempts) {
	most := r.word("max")
	switch {
	case most == nil && limit != nil:
		a.MaxOf = b.readRowLimit(limit, a)
	case most == nil:
	case limit != nil:
		if c := columnOf(b.table, most.values[0].text, b.fold); c != limit.column {
			b.errorf(most.pos, "max=%s is not the limit that column %q gives", most.values[0].text, limit.column.Name).
				WithHint("Leave max= or qgen:max_attempts out.")
		}
		a.MaxOf = b.readRowLimit(limit, a)
	case isDigits(most.values[0].text):
		n, err := strconv.ParseInt(most.values[0].text, 10, 32)
		if err != nil || n < 1 {
			hint := "A job is tried at least once: max=1 is one try and no retry. Without max= there is no limit: a job that fails is tried again without end."
			if a.OnRecover {
				hint = "A job that is not to be recovered at all fails when its claim has run out: say expired=fail in the place of this count. max=1 recovers it once. Without max= there is no limit: it is recovered without end."
			}
			b.errorf(most.pos, "max cannot be %s", most.values[0].text).WithHint("%s", hint)
			return
		}
		a.Max = int(n)
	case most.values[0].quote == sql:
		b.errorf(most.values[0].pos, "max= is a number or a column, not an expression").
			WithHint("Mark the column of the limit with qgen:max_attempts: retries where it counts what follows the first try, null=15 for what a null stands for, unlimited=-1 for a value that means no limit.")
		return
	case most.values[0].text == "arg" && columnOf(b.table, "arg", b.fold) == nil, strings.HasPrefix(most.values[0].text, "arg:"):
		b.errorf(most.pos, "max= is a number or a column, and no caller says it").
			WithHint("Write a number such as 5, or a column that holds one. A limit that callers of Claim say is a condition in qgen.yaml, ready_if: \"%s < {arg:max int}\": what has reached it is not claimed, and Fail makes no job failed for it.", r.column.Name)
		return
	default:
		c := b.referredOr(most.values[0], "Write a number such as 5, or a column that holds one.")
		if c == nil {
			return
		}
		if !c.Type.Counts() || c.Type.Class == schema.Float {
			b.errorf(most.pos, "column %q is %s, which does not count", c.Name, orWord(c.Type.Raw, "without type")).
				WithHint("max= is a number, or a column of whole numbers.")
			return
		}
		a.MaxOf = &RowLimit{Column: c}
		b.implied(c, "max_attempts", r)
	}
	switch w := r.word("limit"); {
	case a.OnRecover && w != nil:
		b.errorf(w.pos, "%s is about the tries of a job, and this counts how often it was recovered", w.pos.Text()).
			WithHint("Leave it out: Recover lets a job fail that was recovered as often as it may be.")
	case a.OnRecover:
	case w == nil:
		a.LimitClaim = a.Down
	case !a.Limited():
		b.errorf(w.pos, "%s has no limit to look at", w.pos.Text()).WithHint("Say how many tries there are: max=5, or max=<column>.")
	case a.Down && a.OnClaim && w.values[0].text == "fail":
		b.errorf(w.pos, "a claim takes one of the tries that are left, and at 0 there is none to take").
			WithHint("Leave limit=fail out, or on=claim: then a job at 0 runs once more.")
	default:
		a.LimitClaim = w.values[0].text == "claim"
	}
}

// readRowLimit reads what the numbers of a column of limits mean.
func (b *binding) readRowLimit(r *role, a *Attempts) *RowLimit {
	l := &RowLimit{Column: r.column, Retries: r.has("retries") && !a.OnRecover}
	if w := r.word("retries"); w != nil && a.OnRecover && b.spec.Attempts == nil {
		b.errorf(w.pos, "column %q limits how often a job is recovered, and no recovery is a first try", r.column.Name).WithHint("Leave retries out.")
	}
	if w := r.word("null"); w != nil {
		b.readNoLimit(w, l, a)
	}
	w := r.word("unlimited")
	switch {
	case w == nil:
		return l
	case a.Down:
		b.errorf(w.pos, "column %q counts down and ends at 0, whatever column %q holds", a.Column.Name, l.Column.Name).
			WithHint("Leave unlimited= out. Where a count that is null means no limit, say qgen:attempts down null=unlimited.")
		return l
	}
	for _, text := range w.values {
		v, ok := b.literal(l.Column, text)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(v.Text, 10, 32)
		switch {
		case v.Kind == Null:
			b.errorf(text.pos, "what a null means is said by null=").WithHint("Write null=unlimited, or nothing: without null= it is so.")
		case err != nil:
			b.errorf(text.pos, "unlimited cannot be %s", v.Text).
				WithHint("It is a whole number of 32 bits. Leave out a greater one: nobody tries so often.")
		case l.Null != nil && int64(*l.Null) == n:
			b.errorf(text.pos, "null=%d stands for a value that means no limit", n).WithHint("Write null=unlimited, or nothing: without null= it is so.")
		default:
			v.Text = strconv.FormatInt(n, 10)
			l.Endless = append(l.Endless, v)
		}
	}
	return l
}

// readNoLimit reads what it means that a row has no limit.
func (b *binding) readNoLimit(w *word, l *RowLimit, a *Attempts) {
	text := w.values[0].text
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case l.Column.NotNull:
		b.errorf(w.pos, "column %q is NOT NULL, so it is never null", l.Column.Name).WithHint("Leave null= out.")
	case text == "unlimited":
	case err != nil || n < 0:
		b.errorf(w.pos, "null cannot be %q", text).WithHint("Write the number that a null stands for, null=5, or null=unlimited.")
	case n == 0 && !l.Retries && !a.OnRecover:
		b.errorf(w.pos, "null cannot be 0").WithHint("A job is tried at least once. Write null=unlimited where a null is no limit.")
	default:
		l.Null = new(int(n))
	}
}

// implied gives a column the role that another column's words imply.
func (b *binding) implied(c *schema.Column, verb string, by *role) {
	column := b.columns[c]
	for _, r := range column.Roles {
		if r.Verb == verb {
			return
		}
	}
	column.Roles = append(column.Roles, Role{Verb: verb, Pos: by.pos})
}

// left are the tests of a row whose count is below its limit; spent those of one where it is
// not. more is what the step at hand adds to the counter before the limit is
// looked at. Exactly one of the two holds of a row. A count that is null is 0.
func (a *Attempts) left(more int) []Test {
	if a.Down {
		t := Test{Column: a.Column, Op: Greater, Values: []Value{number(more - a.atZero())}}
		if a.NullMeansUnlimited {
			t.Or = []Test{{Column: a.Column, Op: IsNull}}
		}
		return []Test{t}
	}
	t := a.within(more)
	if !a.Column.NotNull && (a.NullMeansUnlimited || a.MaxOf != nil || a.Max > more) {
		t.Or = append(t.Or, Test{Column: a.Column, Op: IsNull})
	}
	if a.MaxOf == nil {
		return []Test{t}
	}
	endless := a.MaxOf.endless()
	t.Or = append(t.Or, endless...)
	if !a.countsFromNull(more) {
		return []Test{t}
	}
	counted := Test{Column: a.Column, Op: NotNull, Or: []Test{{Column: a.MaxOf.Column, Op: Greater, Values: []Value{number(more - a.MaxOf.further())}}}}
	if n := a.MaxOf.Null; n != nil && *n > more-a.MaxOf.further() {
		counted.Or = append(counted.Or, Test{Column: a.MaxOf.Column, Op: IsNull})
	}
	counted.Or = append(counted.Or, endless...)
	return []Test{t, counted}
}

func (a *Attempts) spent(more int) []Test {
	if a.Down {
		t := Test{Column: a.Column, Op: LessEqual, Values: []Value{number(more - a.atZero())}}
		if !a.Column.NotNull && !a.NullMeansUnlimited {
			t.Or = []Test{{Column: a.Column, Op: IsNull}}
		}
		return []Test{t}
	}
	t := a.within(more)
	t.Op = map[Op]Op{Less: GreatEqual, LessEqual: Greater}[t.Op]
	none := Test{Column: a.Column, Op: IsNull}
	tests := []Test{t}
	switch {
	case a.countsFromNull(more):
		tests[0].Or = []Test{none}
		counted := Test{Column: a.Column, Op: NotNull, Or: []Test{{Column: a.MaxOf.Column, Op: LessEqual, Values: []Value{number(more - a.MaxOf.further())}}}}
		if n := a.MaxOf.Null; n != nil && *n <= more-a.MaxOf.further() {
			counted.Or = append(counted.Or, Test{Column: a.MaxOf.Column, Op: IsNull})
		}
		tests = append(tests, counted)
	case !a.Column.NotNull && !a.NullMeansUnlimited && a.MaxOf == nil && a.Max <= more:
		tests[0].Or = []Test{none}
	}
	if a.MaxOf != nil && len(a.MaxOf.Endless) > 0 {
		tests = append(tests, Test{Column: a.MaxOf.Column, Op: NotIn, Values: a.MaxOf.Endless})
	}
	return tests
}

// countsFromNull reports whether a null with what the step at hand adds to it may be all that
// the limit of the row allows. A job is tried at least once, and may never be recovered.
func (a *Attempts) countsFromNull(more int) bool {
	return (more > 0 || a.OnRecover) && a.MaxOf != nil && !a.Column.NotNull && !a.NullMeansUnlimited
}

// within compares the count, with what is still to be added, and the limit. Nothing is
// added to the limit of a row, which may be the greatest number that its column holds, and
// nothing subtracted, since there may be none below 0.
func (a *Attempts) within(more int) Test {
	if a.MaxOf == nil {
		return Test{Column: a.Column, Op: Less, Values: []Value{number(a.Max - more)}}
	}
	t := Test{Column: a.Column, By: more - a.MaxOf.further(), Op: Less, Values: []Value{a.MaxOf.value()}}
	if t.By < 0 {
		t.By, t.Op = 0, LessEqual
	}
	return t
}

// endless are the alternatives that hold of a row without a limit.
func (l *RowLimit) endless() []Test {
	var tests []Test
	if l.open() {
		tests = append(tests, Test{Column: l.Column, Op: IsNull})
	}
	if len(l.Endless) > 0 {
		tests = append(tests, Test{Column: l.Column, Op: In, Values: l.Endless})
	}
	return tests
}

// checkAnew complains where a count that begins anew may get a null that nothing makes a number.
func (b *binding) checkAnew() {
	for _, a := range b.spec.counts() {
		if !a.Down || a.MaxOf == nil || !a.MaxOf.open() || a.NullMeansUnlimited {
			continue
		}
		for _, name := range TransitionNames {
			t := b.spec.Transitions[name]
			if t == nil || !slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == a.Column && w.Value.Kind == ColumnOf }) {
				continue
			}
			why, hint := countless(a)
			b.errorf(b.counter(a.OnRecover).pos, "the %s of a job begin anew when it is %s, and %s", a.counted(), doing[name], why).WithHint("%s", hint)
			break
		}
	}
}

// counted says what is counted.
func (a *Attempts) counted() string {
	if a.OnRecover {
		return "recoveries"
	}
	return "tries"
}

// checkRecoveries complains about a count of recoveries where none happens, and about a limit
// of them where nothing would tell a row that has failed.
func (b *binding) checkRecoveries() {
	a := b.spec.Recoveries
	if a == nil || b.movesAway() {
		return
	}
	r := b.counter(true)
	const mend = "Say failed=<value> on qgen:status, or failed=delete on qgen:queue, or in qgen.yaml where such a row goes: failed: {move: {to: dead, columns: same}}."
	switch {
	case b.claims.failsExpired():
		b.errorf(r.word("on").pos, "a job whose claim has run out fails (expired=fail), so none is recovered").
			WithHint("Leave the count out, or say expired=recover.")
	case b.spec.Transitions[Recover] == nil:
		b.lacks(Recover, r.word("on").pos)
	case !a.Limited(), b.isAway(): // where a job moves, all its counts are asked about together
	case b.failedByLimit:
		b.errorf(r.pos, "a failed row is known by its attempts alone, and one that was recovered too often may have some left").WithHint(mend)
	case !b.keepsFailed && !b.spec.FailedDeletes:
		b.errorf(r.pos, "nothing marks a failed row, so none that was recovered too often can become one").WithHint(mend)
	}
}

// number returns a constant.
func number(n int) Value { return Value{Kind: Literal, Text: strconv.Itoa(n)} }

// checkCounters complains about limits to which a column does not count.
func (b *binding) checkCounters() {
	for _, a := range b.spec.counts() {
		if a.Down {
			continue
		}
		switch r := b.counter(a.OnRecover); {
		case a.Max > 0:
			if _, wrong := fit(a.Column, strconv.Itoa(a.Max)); wrong != "" {
				b.errorf(r.word("max").pos, "column %q is %s, which does not count to %d", a.Column.Name, a.Column.Type.Raw, a.Max).
					WithHint("Write a limit that the column reaches, or count in a wider one.")
			}
		case a.MaxOf != nil && a.MaxOf.Null != nil:
			most := *a.MaxOf.Null + a.MaxOf.further()
			if _, wrong := fit(a.Column, strconv.Itoa(most)); wrong != "" {
				b.errorf(b.limitAt(a.MaxOf.Column).word("null").pos, "column %q is %s, which does not count to %d", a.Column.Name, a.Column.Type.Raw, most).
					WithHint("Write a limit that the column reaches, or count in a wider one.")
			}
		}
	}
}

// noteCounters warns of counters that end: a step that would count further fails, and with it
// every other job of the same statement.
func (b *binding) noteCounters() {
	ends := func(c *schema.Column) string {
		_, most := c.Type.Range()
		if most == nil || most.BitLen() > 16 {
			return "" // so often nobody tries
		}
		return most.String()
	}
	for _, a := range b.spec.counts() {
		end := ends(a.Column)
		if a.Down || a.Max > 0 || a.MaxOf != nil || end == "" {
			continue
		}
		counts := func(steps ...TransitionName) bool {
			return slices.ContainsFunc(steps, func(name TransitionName) bool {
				t := b.spec.Transitions[name]
				return t != nil && slices.ContainsFunc(t.Writes, func(w Write) bool {
					return w.Column == a.Column && w.Value.Kind == Add && w.Value.By > 0
				})
			})
		}
		often := "" // nothing counts there
		switch recovers := counts(Recover, GiveUp); {
		case counts(Claim):
			often = "was tried so often makes every claim fail that meets it"
		case a.OnRecover && recovers:
			often = "was recovered so often makes every Recover fail that meets it"
		case recovers:
			often = "failed so often makes its next Fail an error, and every Recover fail that meets it"
		case counts(Retry, Fail):
			often = "failed so often makes its next Fail an error"
		}
		if often != "" {
			b.note("warning: column %q ends at %s, and a row that %s: say max=", a.Column.Name, end, often)
		}
	}
	if v := b.one("version"); v != nil {
		if end := ends(v.column); end != "" {
			b.note("warning: column %q ends at %s, and a row that was written so often makes every claim fail that meets it", v.column.Name, end)
		}
	}
}
