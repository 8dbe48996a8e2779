package queue

// This file reads what Enqueue does where a row meets the new job by a unique key.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// readEnqueue reads enqueue= and key= of the queue.
func (b *binding) readEnqueue() {
	w, key := b.queue.word("enqueue"), b.queue.word("key")
	switch {
	case w == nil:
	case w.values[0].text == "absent":
		b.spec.Absent, b.spec.AbsentPos = true, w.pos
	default:
		b.spec.Upsert = &Upsert{Pos: w.pos}
	}
	switch {
	case key == nil:
	case b.spec.Upsert == nil:
		b.errorf(key.pos, "key= names the unique key by which Enqueue changes a row that is there").
			WithHint("Say enqueue=update beside it. What names a row of the queue is qgen:id.")
	default:
		b.spec.Upsert.Key, b.spec.Upsert.KeyPos = strings.TrimSpace(key.values[0].text), key.values[0].pos
	}
}

// readUpdateIf reads the condition of qgen.yaml that tells which rows Enqueue changes.
func (b *binding) readUpdateIf() {
	text := b.config.UpdateIf
	switch {
	case !text.IsSet():
		return
	case b.spec.Upsert == nil:
		b.errorf(text.Pos, "update_if tells which of the rows that are there Enqueue changes").
			WithHint("Say enqueue=update on qgen:queue beside it, or leave it out.")
		return
	}
	b.updating = true
	defer func() { b.updating = false }()
	c := &Condition{Pos: text.Pos}
	var ok bool
	if c.SQL, ok = b.expression(asLiteral(text), &c.Params); !ok {
		return
	}
	for _, p := range c.Params {
		b.errorf(p.Pos, "argument %q of update_if would be one of Enqueue, which takes what NewJob has", p.Name).
			WithHint("Compare with what the job brings to a column: {new}.%s.", b.table.Columns[len(b.table.Columns)-1].Name)
	}
	b.spec.Upsert.If = c
}

// Like says which rows a new job may not be like: those of some states that have the same as it in
// all of some columns.
type Like struct {
	Pos     source.Pos
	Columns []*schema.Column
	Among   []StateName
	// Tests are those of the rows, all of one of the lists; none: all rows of the queue.
	Tests [][]Test
	// Distinct: a null is like nothing. Else it is like a null.
	Distinct bool
}

// MayBeNull returns the columns in which both may have a null and be alike.
func (l *Like) MayBeNull() (columns []*schema.Column) {
	for _, c := range l.Columns {
		if !c.NotNull && !l.Distinct {
			columns = append(columns, c)
		}
	}
	return columns
}

// Text says for people which rows those are: in what they are alike, and their states where these
// are not all.
func (l *Like) Text() string {
	var states []string
	for _, s := range l.Among {
		states = append(states, string(s))
	}
	text := names(l.Columns)
	if l.Distinct {
		text += ", a null being like none"
	}
	if len(l.Tests) == 0 {
		return text
	}
	return text + ", of those that are " + strings.Join(states, " or ")
}

// readLike reads like= and among= of the queue. The states must be known.
func (b *binding) readLike() {
	w, among, nulls := b.queue.word("like"), b.queue.word("among"), b.queue.word("nulls")
	switch {
	case w == nil && among == nil && nulls == nil:
		return
	case w == nil && among == nil:
		b.errorf(nulls.pos, "nulls= says whether rows with a null keep a new job out").
			WithHint("Say beside it in which columns they are like the job: like=\"kind, target\". A unique key by itself says what nulls are in it.")
		return
	case w == nil:
		b.errorf(among.pos, "among= says of which states rows are that keep a new job out").
			WithHint("Say beside it in which columns they are like the job: like=\"kind, target\".")
		return
	case !b.spec.Absent:
		b.errorf(w.pos, "like= says which jobs Enqueue leaves out").WithHint("Say enqueue=absent beside it, or leave it out.")
		return
	}
	l := &Like{Pos: w.pos}
	v := w.values[0]
	if strings.Contains(v.text, "(") {
		b.errorf(v.pos, "%s is an expression, and like= compares columns", strings.TrimSpace(v.text)).
			WithHint("Create a unique index over it, with a predicate where ended jobs do not count, and say enqueue=absent without like=: CREATE UNIQUE INDEX %s_like ON %s (%s). Or keep its value in a column of its own, and name that.",
				b.table.Name, b.table.QualifiedName(), strings.TrimSpace(v.text))
		return
	}
	for name := range strings.SplitSeq(v.text, ",") {
		c := b.columnNamed(b.table, strings.TrimSpace(name), v.pos)
		switch {
		case c == nil:
			return
		case c.Type.Array || slices.Contains([]schema.Class{schema.JSON, schema.Float, schema.Bytes}, c.Type.Class):
			b.errorf(v.pos, "column %q is %s, which is not compared for being alike", c.Name, c.Type.Raw).
				WithHint("Name columns that hold a number, a text, a time or a uuid.")
			return
		case slices.Contains(l.Columns, c):
			b.errorf(v.pos, "column %q is named twice", c.Name).WithHint("Name each column once.")
			return
		}
		l.Columns = append(l.Columns, c)
	}
	if l.Among = []StateName{Ready, Claimed, Running}; among != nil {
		l.Among = nil
		for _, v := range among.values {
			state := StateName(v.text)
			switch {
			case strings.ContainsAny(v.text, "|, "):
				states := strings.FieldsFunc(v.text, func(r rune) bool { return strings.ContainsRune("|, ", r) })
				b.errorf(v.pos, "%q is no state of a job", v.text).
					WithHint("Write the states with bars and without quotes: among=%s.", strings.Join(states, "|"))
				return
			case !slices.Contains([]StateName{Ready, Claimed, Running, Done, Failed}, state):
				b.errorf(v.pos, "%q is no state of a job", v.text).
					WithHint("%s", suggest(v.text, []string{string(Ready), string(Claimed), string(Running), string(Done), string(Failed)}, "The states are"))
				return
			case b.spec.States[state] == nil:
				b.errorf(v.pos, "no row of this queue is %s", state).WithHint("Leave the word out. The states of its rows are %s.", b.statesOfRows())
				return
			case slices.Contains(l.Among, state):
				b.errorf(v.pos, "%s is said twice", state).WithHint("Name each state once.")
				return
			}
			l.Among = append(l.Among, state)
		}
	}
	l.Among = slices.DeleteFunc(l.Among, func(s StateName) bool { return b.spec.States[s] == nil })
	pos := w.pos
	if among != nil {
		pos = among.pos
	}
	if k := &b.claims; k.visible && k.mark == k.lease && slices.Contains(l.Among, Ready) != slices.Contains(l.Among, Running) {
		b.errorf(pos, "column %q alone tells ready rows from running ones, and a ready one whose time has not come looks as if it ran", k.lease.column.Name).
			WithHint("Say among=ready|running. Or let something else tell which rows run: qgen:status ready=… running=….")
		return
	}
	var told [][]Test
	for _, state := range l.Among {
		told = append(told, b.told(state))
	}
	l.Tests = anyOf(told)
	for _, t := range slices.Concat(l.Tests...) {
		for _, x := range t.Alternatives() {
			if slices.ContainsFunc(x.Values, func(v Value) bool { return v.Shift != nil && v.Shift.Arg != "" }) {
				b.errorf(pos, "who claims says when a claim in column %q has run out (arg), and with that which rows are ready; Enqueue is not told", x.Column.Name).
					WithHint("Say among=ready|running: one of the two such a row is. Or say the time itself, timeout=1h, in the place of timeout=arg.")
				return
			}
		}
	}
	b.readNulls(l)
	b.spec.Like = l
}

// readNulls reads nulls= of the queue.
func (b *binding) readNulls(l *Like) {
	switch w := b.queue.word("nulls"); {
	case w == nil:
	case len(l.MayBeNull()) == 0:
		b.errorf(w.pos, "no column of like= may be null").WithHint("Leave nulls=distinct out.")
	default:
		l.Distinct = true
	}
}

// anyOf returns tests of rows that pass one of several lists of tests, as lists of which they pass one:
// a single list wherever that is no longer than one of theirs, for it names what they have in common
// once, and an index can have it as its predicate. None: every row passes.
func anyOf(lists [][]Test) [][]Test {
	if len(lists) == 0 {
		return nil
	}
	all, most := lists[0], len(lists[0])
	for _, list := range lists[1:] {
		var both []Test
		for _, x := range all {
			for _, y := range list {
				both = append(both, merged(union(x, y)))
			}
		}
		all, most = weakest(both), max(most, len(list))
	}
	all = weakest(all)
	switch {
	case len(all) == 0:
		return nil
	case len(all) <= most:
		return [][]Test{all}
	}
	return lists
}

// merged returns a test in which alternatives are one where one can say both: that a column has one of
// several values, or a time at all.
func merged(t Test) Test {
	list := slices.Clone(t.Alternatives())
	list[0].Or = nil
	for i, x := range list {
		for j, y := range list {
			switch {
			case i == j || x.Column != y.Column || x.By != y.By:
				continue
			case x.Op == In && y.Op == In:
				list[i] = union(x, y)
			case x.Op == LessEqual && y.Op == Greater && same(x.Values[0], y.Values[0]) && isThere(x.Values[0]):
				list[i] = Test{Column: x.Column, Op: NotNull}
			default:
				continue
			}
			list = slices.Delete(list, j, j+1)
			list[0].Or = list[1:]
			return merged(list[0])
		}
	}
	return t
}

// isThere reports whether a value with which a time is compared is never null.
func isThere(v Value) bool {
	s := v.Shift
	return v.Kind == Now && (s == nil || s.Wait == nil && (s.Column == nil || s.Column.NotNull))
}

// weakest returns those of tests that tell anything of rows which pass the others.
func weakest(tests []Test) (list []Test) {
	for _, t := range tests {
		full := slices.ContainsFunc(t.Alternatives(), func(x Test) bool { return x.Op == NotNull && x.Column.NotNull })
		if full || always(t) || slices.ContainsFunc(list, func(have Test) bool { return sameTest(have, t) || have.Implies(t) }) {
			continue
		}
		list = append(slices.DeleteFunc(list, t.Implies), t)
	}
	return list
}

// statesOfRows lists the states in which rows of the queue can be.
func (b *binding) statesOfRows() string {
	var names []string
	for _, state := range []StateName{Ready, Claimed, Running, Done, Failed} {
		if b.spec.States[state] != nil {
			names = append(names, string(state))
		}
	}
	return strings.Join(names, ", ")
}

// text says for people what else is said of it.
func (u *Upsert) text() string {
	text := ""
	if u.Key != "" {
		text += ", by " + u.Key
	}
	if len(u.Stays) > 0 {
		text += ", but for " + names(u.Stays)
	}
	if u.If != nil {
		text += ", where " + strings.Join(strings.Fields(u.If.SQL), " ")
	}
	return text
}

// judgeUpsert complains where no row of the queue is ever changed by Enqueue.
func (b *binding) judgeUpsert() {
	if u := b.spec.Upsert; u != nil && b.spec.Log != nil {
		b.errorf(u.Pos, "rows of this queue are only added, and enqueue=update would change one").
			WithHint("Say enqueue=absent: a row that is there stays as it is. Or leave it out.")
	}
}

// newMacro finds what a new job brings to a row that is there.
var newMacro = regexp.MustCompile(`\{\s*new\s*\}`)

// OwnRoles are the roles of a column less those that say only what becomes of the value that a new
// job has in it where a row is there: it stays as it was, or is made of both.
func (c *Column) OwnRoles() []Role {
	return slices.DeleteFunc(slices.Clone(c.Roles), func(r Role) bool {
		value, ok := strings.CutPrefix(strings.Join(strings.Fields(r.Words), " "), string(Update)+" set ")
		return r.Verb == "on" && ok && (value == "old" || slices.ContainsFunc(NewColumns(value), func(name string) bool { return strings.EqualFold(name, c.Name) }))
	})
}

// NewColumns returns the names of columns that stand behind {new} in an expression.
func NewColumns(text string) (names []string) {
	for _, at := range newMacro.FindAllStringIndex(text, -1) {
		if name, length := BehindNew(text[at[1]:]); length > 0 {
			names = append(names, name)
		}
	}
	return names
}

// isUpdate reports whether qgen:on names the step of a row that is there, and no other.
func isUpdate(steps []*word) bool { return len(steps) == 1 && steps[0].name == string(Update) }

// fitsUpdate complains about a value that Enqueue does not have for a row that is there.
func (b *binding) fitsUpdate(r *role, steps []*word, v Value) bool {
	if !slices.ContainsFunc(steps, func(w *word) bool { return w.name == string(Update) }) {
		return true
	}
	if asks := b.spec.Asks(v); len(asks) > 0 {
		b.errorf(v.Pos, "argument %q of update would be one of Enqueue, which takes what NewJob has", asks[0].Name).
			WithHint("Let a column of the new row be made of it, qgen:on enqueue set …, and write here what the job brings to that: on update set \"{new}.%s\".", r.column.Name)
		return false
	}
	switch v.Kind {
	case Given:
		b.errorf(v.Pos, "an argument of update would be one of Enqueue, which takes what NewJob has").
			WithHint("Say qgen:on enqueue set arg:%s: NewJob has it then, and a row that is there gets it as well.", v.Name)
	case Token, WorkerID:
		b.errorf(v.Pos, "Enqueue claims nothing, so that it has no token and no worker for a row that is there").
			WithHint("Write a value: null frees the row.")
	default:
		return true
	}
	return false
}

// newColumn looks for the column that has to be named behind {new}, of which plan reads it there.
func (b *binding) newColumn(l literal, offset, length int) {
	name, found := BehindNew(l.text[offset+length:])
	switch {
	case !b.updating:
		b.errorf(l.at(offset, length), "{new} is what a new job brings to a row that is there").
			WithHint("It stands where qgen:on says what is written to that: on update set \"greatest({row}.weight, {new}.weight)\", apart from other steps; and in update_if and enqueue_if.")
	case found == 0:
		b.errorf(l.at(offset, length), "{new} stands for no value by itself").WithHint("Name a column behind it: {new}.%s.", b.table.Columns[0].Name)
	case columnOf(b.table, name, b.fold) == nil:
		NoColumn(b.table, name, l.at(offset, length+found), "", b.errs)
	}
}

// BehindNew returns the name of the column that a text begins with, which stands behind {new}, and
// how much of the text that is; 0 where there is none.
func BehindNew(text string) (name string, length int) {
	m := behindRow.FindStringSubmatchIndex(text)
	if m == nil || m[10] >= 0 {
		return "", 0
	}
	for _, i := range []int{2, 4, 6, 8} {
		if m[i] >= 0 {
			name, length = text[m[i]:m[i+1]], m[i+1]
			if i < 8 {
				length++ // the quote
			}
		}
	}
	return name, length
}
