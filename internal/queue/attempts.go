package queue

// This file reads the counters: attempts, their limit, and versions.

import (
	"slices"
	"strconv"

	"github.com/qgen-dev/qgen/internal/schema"
)

// readAttempts reads attempts, max_attempts and version.
func (b *binding) readAttempts() {
	if r := b.one("version"); r != nil {
		b.counts(r)
	}
	limit := b.one("max_attempts")
	if limit != nil {
		b.counts(limit)
	}
	r := b.one("attempts")
	if r == nil {
		if limit != nil {
			b.errorf(limit.pos, "column %q limits the attempts, but no column counts them", limit.column.Name).
				WithHint("Mark the counter with qgen:attempts up on=claim.")
		}
		return
	}
	if !b.counts(r) {
		return
	}
	a := &Attempts{Column: r.column, Down: r.has("down"), NullMeansUnlimited: r.value("null") == "unlimited"}
	if w := r.word("up"); w != nil && a.Down {
		b.errorf(w.pos, "attempts cannot be counted up and down").WithHint("Keep up or down.")
	}
	if w := r.word("null"); w != nil && r.column.NotNull {
		b.errorf(w.pos, "column %q is NOT NULL, so it is never null", r.column.Name).WithHint("Leave null= out.")
	}
	b.readCounting(r, a)
	b.readLimit(r, limit, a)
	b.spec.Attempts = a
}

// counts checks that a role's column is a number that can be written.
func (b *binding) counts(r *role) bool {
	if isNumber(r.column.Type) && r.column.Type.Class != schema.Float {
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
	case on == nil && a.Down:
	case on == nil:
		a.OnClaim = true
	case on.values[0].text == "claim" && a.Down:
		b.errorf(on.pos, "attempts that count down are counted when a try fails").
			WithHint("Write qgen:attempts down. Where the claim is to take one, no role is needed: qgen:on claim set -1; on release set +1 at column %q, and ready_if: \"%s > 0\" in qgen.yaml.", r.column.Name, r.column.Name)
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
	w := b.one("attempts").word("on")
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
			b.errorf(most.pos, "max cannot be %s", most.values[0].text).
				WithHint("A job is tried at least once. Leave max= out when there is no limit.")
			return
		}
		a.Max = int(n)
	case most.values[0].quote == sql:
		b.errorf(most.values[0].pos, "max= is a number or a column, not an expression").
			WithHint("Mark the column of the limit with qgen:max_attempts: retries where it counts what follows the first try, null=15 for what a null stands for, unlimited=-1 for a value that means no limit.")
		return
	default:
		c := b.referredOr(most.values[0], "Write a number such as 5, or a column that holds one.")
		if c == nil {
			return
		}
		if !isNumber(c.Type) || c.Type.Class == schema.Float {
			b.errorf(most.pos, "column %q is %s, which does not count", c.Name, orWord(c.Type.Raw, "without type")).
				WithHint("max= is a number, or a column of whole numbers.")
			return
		}
		a.MaxOf = &RowLimit{Column: c}
		b.implied(c, "max_attempts", r)
	}
	switch w := r.word("limit"); {
	case w == nil:
		a.LimitClaim = a.Down
	case !a.Limited():
		b.errorf(w.pos, "%s has no limit to look at", w.pos.Text()).WithHint("Say how many tries there are: max=5, or max=<column>.")
	default:
		a.LimitClaim = w.values[0].text == "claim"
	}
}

// readRowLimit reads what the numbers of a column of limits mean.
func (b *binding) readRowLimit(r *role, a *Attempts) *RowLimit {
	l := &RowLimit{Column: r.column, Retries: r.has("retries")}
	if w := r.word("null"); w != nil {
		b.readNoLimit(w, l)
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
func (b *binding) readNoLimit(w *word, l *RowLimit) {
	text := w.values[0].text
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case l.Column.NotNull:
		b.errorf(w.pos, "column %q is NOT NULL, so it is never null", l.Column.Name).WithHint("Leave null= out.")
	case text == "unlimited":
	case err != nil || n < 0:
		b.errorf(w.pos, "null cannot be %q", text).WithHint("Write the number that a null stands for, null=5, or null=unlimited.")
	case n == 0 && !l.Retries:
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

// left are the tests of a row that has attempts left; spent those of one that has
// none. more is what the step at hand adds to the counter before the limit is
// looked at. Exactly one of the two holds of a row. A count that is null is 0.
func (b *binding) left(more int) []Test {
	a := b.spec.Attempts
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
	if !b.countsFromNull(more) {
		return []Test{t}
	}
	counted := Test{Column: a.Column, Op: NotNull, Or: []Test{{Column: a.MaxOf.Column, Op: Greater, Values: []Value{number(more - a.MaxOf.further())}}}}
	if n := a.MaxOf.Null; n != nil && *n > more-a.MaxOf.further() {
		counted.Or = append(counted.Or, Test{Column: a.MaxOf.Column, Op: IsNull})
	}
	counted.Or = append(counted.Or, endless...)
	return []Test{t, counted}
}

func (b *binding) spent(more int) []Test {
	a := b.spec.Attempts
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
	case b.countsFromNull(more):
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

// countsFromNull reports whether what the step at hand adds to a null may be all that the
// limit of the row allows.
func (b *binding) countsFromNull(more int) bool {
	a := b.spec.Attempts
	return more > 0 && a.MaxOf != nil && !a.Column.NotNull && !a.NullMeansUnlimited
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
	a := b.spec.Attempts
	if a == nil || !a.Down || a.MaxOf == nil || !a.MaxOf.open() || a.NullMeansUnlimited {
		return
	}
	for _, name := range TransitionNames {
		t := b.spec.Transitions[name]
		if t == nil || !slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == a.Column && w.Value.Kind == ColumnOf }) {
			continue
		}
		why, hint := b.countless()
		b.errorf(b.one("attempts").pos, "the attempts of a job begin anew when it is %s, and %s", doing[name], why).WithHint("%s", hint)
		return
	}
}

// number returns a constant.
func number(n int) Value { return Value{Kind: Literal, Text: strconv.Itoa(n)} }

// checkCounters looks where counters end: a claim that would count further fails, and with it
// every other that meets the row.
func (b *binding) checkCounters() {
	ends := func(c *schema.Column) string {
		if c.Type.Class != schema.Int || c.Type.Bits == 0 || c.Type.Bits > 16 {
			return "" // so often nobody tries
		}
		most := uint64(1)<<c.Type.Bits - 1
		if !c.Type.Unsigned {
			most >>= 1
		}
		return strconv.FormatUint(most, 10)
	}
	if a := b.spec.Attempts; a != nil && !a.Down {
		switch end := ends(a.Column); {
		case a.Max > 0:
			if _, wrong := fit(a.Column, strconv.Itoa(a.Max)); wrong != "" {
				b.errorf(b.one("attempts").word("max").pos, "column %q is %s, which does not count to %d", a.Column.Name, a.Column.Type.Raw, a.Max).
					WithHint("Write a limit that the column reaches, or count in a wider one.")
			}
		case a.MaxOf != nil && a.MaxOf.Null != nil:
			most := *a.MaxOf.Null + a.MaxOf.further()
			if _, wrong := fit(a.Column, strconv.Itoa(most)); wrong != "" {
				b.errorf(b.one("max_attempts").word("null").pos, "column %q is %s, which does not count to %d", a.Column.Name, a.Column.Type.Raw, most).
					WithHint("Write a limit that the column reaches, or count in a wider one.")
			}
		case end != "" && a.MaxOf == nil:
			b.note("warning: column %q ends at %s, and a row that was tried so often makes every claim fail that meets it: say max=", a.Column.Name, end)
		}
	}
	if v := b.one("version"); v != nil {
		if end := ends(v.column); end != "" {
			b.note("warning: column %q ends at %s, and a row that was written so often makes every claim fail that meets it", v.column.Name, end)
		}
	}
}
