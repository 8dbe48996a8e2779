package plan

// This file reads how an old program takes rows that runs beside the package: its
// statements over the columns of the table.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// oldProgram is how a program takes rows beside the package.
type oldProgram struct {
	// held are the conditions that it tests on a row that it has locked, seen those
	// that it tests before.
	held, seen []*oldTest
	writer     *oldTake // writes the row; nil where none does
	locks      bool     // it holds the row's lock until its transaction ends
	skips      bool     // and passes over rows that others hold
	reads      bool     // it finds rows by a statement of its own, in front of writer
	joined     bool     // what it tests under a lock and what it writes are two statements
	odd        string   // what nobody can tell
}

// oldTake is one of its statements, or a query within one.
type oldTake struct {
	*schema.RowStatement
	tests  []*oldTest
	sets   []oldSet
	inner  []*oldTake // queries whose rows it goes by
	direct bool       // it reads the queue's table
	// unclear is what the reader understands and which still does not tell whose rows it goes by.
	unclear string
}

type oldSet struct {
	column *schema.Column
	value  schema.RowValue
	text   string
}

// oldTest is a condition over the columns of the table. Of one that is not understood,
// mentions are the columns that it speaks of.
type oldTest struct {
	op       string
	column   *schema.Column
	values   []schema.RowValue
	any      [][]*oldTest
	mentions []*schema.Column
	// elsewhere: the key is compared with a query over other tables or views, which may ask
	// for what a claim writes.
	elsewhere bool
	text      string
	// read: the value is one that the old program has found in the row, before it takes it.
	read bool
}

// said is the condition as a part of several.
func (t *oldTest) said() string {
	if t.op == "any" {
		return "(" + t.text + ")"
	}
	return t.text
}

// isRead reports whether a condition, or one of its alternatives, compares what was read before.
func (t *oldTest) isRead() bool {
	return t.read || slices.ContainsFunc(t.any, func(all []*oldTest) bool { return slices.ContainsFunc(all, (*oldTest).isRead) })
}

// given reports whether a condition on a column that a row is known by depends on an argument.
func (t *oldTest) given(r row) bool {
	return r[t.column] != nil && slices.ContainsFunc(t.values, func(v schema.RowValue) bool { return v.Kind == schema.RowArgument })
}

// legacyReader reads one text of legacy_claim.
type legacyReader struct {
	*builder
	text config.String
	errs *source.ErrorList
}

// readLegacy reads legacy_claim.
func (b *builder) readLegacy(q *config.Queue, errs *source.ErrorList) {
	if len(q.Legacy) == 0 {
		return
	}
	p, inTransaction, found, before := &oldProgram{}, false, false, errs.Len()
	var writes []*oldTake
	var held [][]*oldTest // for each of writes
	var locked []*oldTest
	for _, text := range q.Legacy {
		r := &legacyReader{builder: b, text: text, errs: errs}
		statements, err := schema.RowStatements(b.d.Grammar, text.Value)
		if err != nil {
			errs.Errorf(text.Pos, "%s cannot read legacy_claim: %v", b.d.Title, err).
				WithHint("Write the statements as the old program sends them, with a semicolon between two, or as a list. Values may be ?, $1, :name, @name or %%s.")
			continue
		}
		for _, st := range statements {
			switch st.Verb {
			case "begin":
				inTransaction = true
				continue
			case "commit":
				p.seen, p.reads = append(p.seen, locked...), p.reads || len(locked) > 0
				inTransaction, locked, p.locks = false, nil, false
				continue
			case "":
				found = true
				p.odd = "nothing is known of `" + shortened(st.Text) + "`"
				continue
			}
			found = true
			take := r.take(st, nil, true)
			if take == nil {
				continue
			}
			if odd := take.odd(); odd != "" {
				p.odd = odd
			}
			switch {
			case st.Verb != "select":
				writes, held = append(writes, take), append(held, slices.Clone(locked))
			case take.locked() != "":
				locked = append(locked, take.all()...)
				p.locks, p.skips = true, p.skips || take.skips()
				if take.locked() == "share" {
					p.odd = "a lock that others may hold as well is taken by `" + shortened(st.Text) + "`"
				}
			case b.d.SingleWriter && inTransaction:
				locked = append(locked, take.all()...)
			default:
				p.seen = append(p.seen, take.all()...)
				p.reads = p.reads || len(writes) == 0
			}
		}
	}
	if !found && errs.Len() == before {
		errs.Errorf(q.Legacy[0].Pos, "legacy_claim takes no rows").
			WithHint("Give the SELECT, UPDATE or DELETE by which the old program takes rows of %s.", b.pkg.Table)
	}
	p.held = locked
	if i := b.decisive(writes); i >= 0 {
		p.writer, p.held, p.joined = writes[i], held[i], len(held[i]) > 0
		p.held = append(p.held, p.writer.tests...)
		for _, inner := range p.writer.inner {
			if inner.locked() != "" || b.d.SingleWriter {
				p.held = append(p.held, inner.all()...)
			} else {
				p.seen = append(p.seen, inner.all()...)
			}
		}
	}
	b.old = p
	b.readTokens()
}

// readTokens finds where the old program compares the token of a row with what it has read,
// and writes one of its own: it is then fenced as this package is.
func (b *builder) readTokens() {
	o, c := b.old, b.spec.Token
	if c == nil || o.writer == nil || !slices.ContainsFunc(o.writer.sets, func(s oldSet) bool { return s.column == c && s.value.Kind == schema.RowArgument }) {
		return
	}
	if looks, _ := b.behind(queue.Claim).asks(o.seen); looks != never && len(o.seen) > 0 {
		return // it may have read the token of a claim
	}
	var mark func(tests []*oldTest)
	mark = func(tests []*oldTest) {
		for _, t := range tests {
			if t.column == c && t.op == "in" && !slices.ContainsFunc(t.values, func(v schema.RowValue) bool { return v.Kind != schema.RowArgument }) {
				t.read = true
			}
			for _, all := range t.any {
				mark(all)
			}
		}
	}
	mark(o.writer.tests)
}

// decisive returns which of the statements that write marks a row as taken: the first
// that writes what tells ready rows.
func (b *builder) decisive(writes []*oldTake) int {
	tells := b.tellReady()
	for i, w := range writes {
		if w.Verb == "delete" || slices.ContainsFunc(w.sets, func(s oldSet) bool { return slices.Contains(tells, s.column) }) {
			return i
		}
	}
	return min(0, len(writes)-1)
}

// shortened is a statement as a sentence may hold it.
func shortened(text string) string {
	const most = 60
	text = plainText(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// locked returns the lock that a query takes, by itself or by what it goes by.
func (t *oldTake) locked() string {
	if t.Lock != "" {
		return t.Lock
	}
	for _, i := range t.inner {
		if l := i.locked(); l != "" {
			return l
		}
	}
	return ""
}

func (t *oldTake) skips() bool {
	return t.Skips || slices.ContainsFunc(t.inner, (*oldTake).skips)
}

// all returns the conditions of a query and of those that it goes by.
func (t *oldTake) all() []*oldTest {
	tests := slices.Clone(t.tests)
	for _, i := range t.inner {
		tests = append(tests, i.all()...)
	}
	return tests
}

// odd says what is not understood and may matter.
func (t *oldTake) odd() string {
	switch {
	case t.Odd != "":
		return "nothing is known of `" + shortened(t.Odd) + "`"
	case t.unclear != "":
		return "no comparison of the key tells which rows go with those of the query in `" + shortened(t.unclear) + "`"
	}
	for _, i := range t.inner {
		if odd := i.odd(); odd != "" {
			return odd
		}
	}
	return ""
}

// take reads a statement or a query over the queue's table; nil where it is over
// others, which is an error of a statement.
func (r *legacyReader) take(st *schema.RowStatement, with []schema.RowSource, outer bool) *oldTake {
	with = slices.Concat(with, st.With)
	t := &oldTake{RowStatement: st}
	own, plain := schema.RowName{}, false
	var joined []string // what the statement calls queries over the queue's table
	for _, s := range st.Sources {
		query := s.Query
		if i := slices.IndexFunc(with, func(w schema.RowSource) bool { return s.Name.Of == "" && strings.EqualFold(w.Name.Name, s.Name.Name) }); i >= 0 && query == nil {
			query = with[i].Query
		}
		switch {
		case query == nil && r.isQueue(s.Name):
			t.direct, plain = true, true
			own = schema.RowName{Name: s.Called()}
		case query != nil && query != st:
			inner := r.take(query, with, false)
			switch {
			case inner == nil:
			case strings.EqualFold(st.Target.Name, s.Called()): // what is written through it
				t.direct, own = true, schema.RowName{Name: s.Called()}
				t.tests, t.inner = append(t.tests, inner.tests...), append(t.inner, inner.inner...)
				t.Skips = t.Skips || inner.Skips
			default:
				t.inner = append(t.inner, inner)
				joined = append(joined, s.Called())
			}
		}
	}
	if st.Verb != "select" && !r.writesQueue(t, own) {
		t.direct = false
	}
	if !t.direct && len(t.inner) == 0 || st.Verb != "select" && !t.direct {
		if outer {
			name, pos := st.Target, r.text.Pos
			if name.Name == "" && len(st.Sources) > 0 {
				name = st.Sources[0].Name
			}
			if name.Len > 0 {
				pos = r.at(name.Off, name.Len)
			}
			r.errs.Errorf(pos, "legacy_claim takes rows of %q, and the queue is over %q", name.Name, r.pkg.Table).
				WithHint("Give the statements by which the old program takes rows of %s, and no others. Where it takes none of them, leave legacy_claim out.", r.pkg.Table)
		}
		return nil
	}
	for _, called := range joined {
		if t.direct && !slices.ContainsFunc(st.Where, func(test *schema.RowTest) bool { return r.joins(test, called, own.Name) }) {
			t.unclear = st.Text
		}
	}
	alone := len(st.Sources) == 1 && plain
	for _, test := range st.Where {
		t.tests = append(t.tests, r.test(t, test, own.Name, alone, with))
	}
	for _, s := range st.Set {
		if c := r.columnOf(s.Column, own.Name, true); c != nil {
			t.sets = append(t.sets, oldSet{c, s.Value, s.Text})
		}
	}
	return t
}

// writesQueue reports whether a statement that writes writes the queue's table.
func (r *legacyReader) writesQueue(t *oldTake, own schema.RowName) bool {
	return t.direct && (strings.EqualFold(t.Target.Name, own.Name) || r.isQueue(t.Target))
}

// joins reports whether a condition compares the key with a column of a query.
func (r *legacyReader) joins(t *schema.RowTest, query, own string) bool {
	if t.Op != "in" || len(t.Values) != 1 || t.Values[0].Kind != schema.RowColumn {
		return false
	}
	x, y := t.Column, t.Values[0].Name
	if strings.EqualFold(x.Of, query) {
		x, y = y, x
	}
	return strings.EqualFold(y.Of, query) && slices.Contains(r.spec.Key, r.columnOf(x, own, false))
}

// isQueue reports whether a name is that of the queue's table.
func (r *legacyReader) isQueue(n schema.RowName) bool {
	table := r.spec.Table
	name := r.pkg.Sampled(table.Name)
	if n.Of != "" && n.Of != "." && table.Schema != "" && !strings.EqualFold(n.Of, table.Schema) {
		return false
	}
	return n.Name == name || r.d.Fold(n.Name) == name || (table.AnyCase || r.d.Identifiers.Case == "") && strings.EqualFold(n.Name, name)
}

// at finds a place within the text.
func (r *legacyReader) at(off, length int) source.Pos {
	if !r.text.Exact {
		return r.text.Pos
	}
	return r.text.Pos.Sub(off, length)
}

// columnOf returns the column that a name means; nil where it is one of another table.
// It complains about one that the table does not have, where it must have it.
func (r *legacyReader) columnOf(n schema.RowName, called string, must bool) *schema.Column {
	if n.Of != "" && !strings.EqualFold(n.Of, called) && !strings.EqualFold(n.Of, r.pkg.Sampled(r.spec.Table.Name)) {
		return nil
	}
	c := r.spec.Table.Column(n.Name)
	if c == nil {
		c = r.spec.Table.Column(r.d.Fold(n.Name))
	}
	if c == nil {
		if i := slices.IndexFunc(r.spec.Table.Columns, func(c *schema.Column) bool { return strings.EqualFold(c.Name, n.Name) }); i >= 0 && r.d.Identifiers.Case == "" {
			c = r.spec.Table.Columns[i]
		}
	}
	if c == nil && must {
		queue.NoColumn(r.spec.Table, n.Name, r.at(n.Off, n.Len), "", r.errs)
	}
	return c
}

// test reads one condition. The rows of a query with which the key is compared are
// those that the statement goes by.
func (r *legacyReader) test(t *oldTake, test *schema.RowTest, called string, alone bool, with []schema.RowSource) *oldTest {
	o := &oldTest{op: test.Op, values: test.Values, text: test.Text}
	for _, name := range test.Names {
		if c := r.columnOf(schema.RowName{Name: name}, called, false); c != nil {
			o.mentions = append(o.mentions, c)
		}
	}
	for _, list := range test.Any {
		var tests []*oldTest
		for _, one := range list {
			tests = append(tests, r.test(t, one, called, alone, with))
		}
		o.any = append(o.any, tests)
	}
	if test.Column.Name == "" {
		return o
	}
	if o.column = r.columnOf(test.Column, called, alone); o.column == nil {
		o.op = ""
		if len(t.Sources) == 1 && !alone && test.Column.Of == "" {
			t.Odd = test.Text // what the query in its FROM works out
		}
	}
	for _, v := range test.Values {
		switch v.Kind {
		case schema.RowColumn:
			if c := r.columnOf(v.Name, called, alone && v.Name.Of == ""); c != nil {
				o.mentions = append(o.mentions, c)
			}
		case schema.RowQuery:
			switch inner := r.take(v.Query, with, false); {
			case inner == nil:
				o.elsewhere = o.op == "in" && slices.Contains(r.spec.Key, o.column)
			case o.op == "in" && slices.Contains(r.spec.Key, o.column):
				t.inner = append(t.inner, inner)
			default:
				t.unclear = test.Text
			}
		}
	}
	return o
}
