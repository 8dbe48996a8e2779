package plan

// This file advises the indexes that the statements want, and finds those that
// exist already.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// wanted is an index that a statement wants.
type wanted struct {
	kind    string // what the name of such an index ends with
	name    string
	columns []indexKey
	fixed   int          // so many of the first columns are compared with one value
	told    int          // so many of these tell the rows that are wanted from all others
	where   []queue.Test // constant tests that the rows satisfy
	plain   bool         // it has no predicate: its columns tell what they can of where
	why     string
	lacking string           // what is slow without it, as a clause
	then    string           // what is left to do once it stands; "" for nothing
	among   string           // why, of an index that finds the rows that somebody has, which serves as well, since they are few; "" where none does
	due     *schema.Column   // when rows are due that wait for a time; nil where none do, or nothing says it
	asked   []*schema.Column // of which callers say several values, or none
	like    []*schema.Column // in which rows are alike with another one, so that none of them is null
	beside  []*schema.Column // which conditions of the statement read, and an index has beside its keys
	nulls   []*schema.Column // of the fixed ones, which rows that are wanted may lack a value in
	sorted  bool             // it does not give the order
	rival   string           // the index of the table that the server may take before it, "" where it takes none
	named   bool             // statements name it, so that an index which the server may drop does not serve
	left    string           // why it has not even one column that it wants, "" where it has or wants none
}

// predicate returns the tests of the rows that the index has, none where it has all.
func (w wanted) predicate() []queue.Test {
	if w.plain {
		return nil
	}
	return w.where
}

// order returns the keys by which an index gives the order of the rows: those behind the
// columns of one value, less those that any index may lack.
func (w wanted) order() []indexKey {
	return slices.DeleteFunc(slices.Clone(w.columns[w.fixed:]), func(k indexKey) bool { return k.spare })
}

// ledBy reports whether an index with those columns leads to rows by a column, of which they have one
// value or some: nothing else stands before it.
func (b *builder) ledBy(w wanted, columns []schema.IndexColumn, c *schema.Column) bool {
	for _, x := range columns {
		switch {
		case !b.leadsBy(x) || !slices.ContainsFunc(w.columns[:w.fixed], func(k indexKey) bool { return k.column != nil && k.column == x.Column }):
			return false
		case x.Column == c:
			return true
		}
	}
	return false
}

// sortedClaim is what an index of the claim serves that does not give the order.
const sortedClaim = "serves Claim: ready rows, which are then sorted"

// indexKey is one key of a wanted index.
type indexKey struct {
	column *schema.Column
	sql    string // of an expression
	length int    // of which it has the beginning alone: so many characters or bytes; 0 is all
	desc   bool
	nulls  string // first, last or "" for the default
	tie    bool   // it only tells rows apart that are alike in all before it
	spare  bool   // an index without it serves as well
}

// passesRunning says of an index that leaves out by its predicate what has ended what becomes of the rows
// that run.
func (b *builder) passesRunning(ix *schema.Index) string {
	leavesOut := func(t queue.Test) bool {
		return slices.ContainsFunc(b.conditionsOf(ix), func(c condition) bool { return c.test != nil && c.test.Excludes(t) })
	}
	if slices.ContainsFunc(b.unfolded(b.spec.Held), leavesOut) {
		return ""
	}
	return "; rows that somebody has are few, and are read and passed over"
}

// slowClaim is what is slow without an index of the claim.
const slowClaim = "every claim reads more rows than it takes"

// sortsReady is what is said of an index that gives ready rows alone, where none gives them in their order.
const sortsReady = "serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those"

// passesOver is what is said of an index that gives the order of the queue and leaves nothing out.
const passesOver = "serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over"

// claimIndex is the index by which ready rows are read. Statements name it where they sort, so where the one that
// serves may be dropped by the server, another of its columns is wanted, which takes its place.
func (b *builder) claimIndex() wanted {
	w := b.soughtIndex()
	ix, how := b.best(b.spec.Table.Indexes, w)
	if ix == nil || !ix.Implicit || len(b.claimOrder()) == 0 {
		return w
	}
	if how == asked {
		var served Index
		served.serve(b, ix, how, w)
		w.why, w.sorted, w.told, w.columns = served.Why, true, 0, nil
		for _, c := range ix.Columns {
			w.columns = append(w.columns, indexKey{column: c.Column})
		}
		w.fixed = len(w.columns)
	}
	if w.named = true; !b.locksTable() && !b.findsSorted() {
		w.then = b.d.Fragments["adopt_index"].At(b.version)
	}
	w.why += "; it takes the place of " + b.calledIndex(ix) + ", which the server drops once another begins with its columns, so that no statement names it"
	return w
}

// soughtIndex is the index that gives ready rows in queue order. Where nobody says an order of rows that
// the caller means, or of such as stand among those of another queue, one of the table serves that leads to
// them, or one that the other queue wants.
func (b *builder) soughtIndex() wanted {
	ordered := b.readyIndex(false)
	if !b.spec.Unordered || !b.meansRows() && (b.tells(queue.Done) || len(b.several()) == 0) {
		return ordered
	}
	if _, how := b.best(b.spec.Table.Indexes, ordered); how >= wholly {
		return ordered
	}
	w := b.readyIndex(true)
	if b.serving(w) != nil {
		return w
	}
	if p, _ := b.advisedBy(ordered); p == nil {
		if p, _ := b.advisedBy(w); p != nil {
			return w
		}
	}
	return ordered
}

// endsOrder reports whether a test leaves out nothing but rows that are never due and that stand behind all
// others in the order, where no claim comes.
func (b *builder) endsOrder(t queue.Test) bool {
	order := b.claimOrder()
	if t.Op != queue.NotIn || len(t.Or) > 0 || t.Column != b.spec.Due || len(order) == 0 || order[0].Column != t.Column || order[0].Desc {
		return false
	}
	last := func(v queue.Value) bool {
		seconds, err := strconv.ParseInt(v.Text, 10, 64)
		return v.Text == "infinity" || strings.HasPrefix(v.Text, "9999-") || err == nil && seconds >= math.MaxInt32 && b.roles[t.Column].As == "epoch"
	}
	return !slices.ContainsFunc(t.Values, func(v queue.Value) bool { return v.Kind != queue.Literal || !last(v) })
}

// readyIndex is the index that leads to ready rows, and gives their order unless that is as good as any.
func (b *builder) readyIndex(unordered bool) wanted {
	if b.unserved {
		return wanted{kind: "ready", left: b.declines("ready", slowClaim)}
	}
	w := b.wantedFor(b.stateTests(queue.Ready))
	w.kind, w.name, w.lacking = "ready", b.indexName("ready"), slowClaim
	w.why = "serves Claim: ready rows in queue order, so that nothing is sorted" + b.costless()
	if w.plain {
		if w.columns = leading(w.where); len(b.several()) > 0 && b.pkg.Strategy != "hold" {
			w.columns = nil // they are the same in rows that have ended
		}
		switch several := b.several(); {
		case len(b.apart()) > 0:
			for _, t := range several {
				w.columns = append(w.columns, indexKey{column: t.Column})
			}
			w.columns = append(w.columns, b.fromRunning(several)...)
			w.why = "serves Claim: the ready rows of each value in queue order, so that finished rows cost nothing"
		case len(several) > 0 && (!takesNull(several[0]) || b.holdsNulls()) && b.pkg.Strategy != "hold":
			w.columns, w.sorted = append(w.columns, indexKey{column: several[0].Column}), true
			w.columns = append(w.columns, b.fromRunning(several[:1])...)
			w.why = sortsReady
		case len(w.columns) == 0 && slices.ContainsFunc(w.where, func(t queue.Test) bool { return !b.endsOrder(t) }):
			w.why = passesOver
		case b.tells(queue.Failed) && b.alike(queue.Failed, w.where):
			w.why = "serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over"
		}
	}
	speaks := func(t queue.Test) bool {
		order := b.claimOrder()
		bounds := len(order) > 0 && order[0].Column != nil && len(t.Or) == 0 && b.spec.Bounds(t.SQL) == order[0].Column // of the rows that the index leads to
		return t.Op == queue.Raw && !bounds
	}
	if done := b.spec.Transitions[queue.Finish]; done != nil && !done.Delete && b.spec.Cycle == nil && !b.tells(queue.Done) &&
		slices.ContainsFunc(b.read(b.stateTests(queue.Ready)), func(t queue.Test) bool { return b.refusesBeside(w, t) }) {
		w.why = strings.TrimSuffix(w.why, b.costless()) // they are as ready ones, and SQL refuses them
	}
	if len(w.columns) == 0 && len(w.predicate()) == 0 && (b.tells(queue.Done) || b.tells(queue.Failed) || slices.ContainsFunc(b.read(b.stateTests(queue.Ready)), speaks)) {
		w.why = passesOver
	}
	w.told = len(w.columns)
	for _, p := range b.spec.Params {
		there := slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == p.Column }) // as the state
		if p.Always(queue.Equal) && !there {
			w.columns = append(w.columns, indexKey{column: p.Column})
		}
	}
	if w.plain {
		for _, k := range leading(slices.Concat(b.members(), b.switches())) {
			k.spare = true
			if !slices.ContainsFunc(w.columns, func(have indexKey) bool { return have.column == k.column }) {
				w.columns = append(w.columns, k)
			}
		}
	}
	w.fixed = len(w.columns)
	spoken := b.spoken()
	if locks := b.can(dialect.LocksSorted) || b.can(dialect.SortsLocked); w.plain && len(spoken) > 0 && !locks && b.pkg.Strategy != "hold" {
		w.why, w.sorted = sortsReady, true
	}
	order, rising := b.claimOrder(), b.onlyRising()
	if unordered {
		w.why, w.sorted = sortedClaim, true
	}
	open := true // a column may stand behind the order
	if i := slices.IndexFunc(order, b.byRow); i >= 0 {
		order, rising = order[:i+1], rising || order[i].Desc // no two rows are alike there
	}
	// An index without directions is read from either end.
	mixed := slices.ContainsFunc(order, func(o queue.OrderTerm) bool { return o.Desc != order[0].Desc })
	for i, o := range order {
		if w.sorted {
			break
		}
		if b.byRow(o) && b.endsWithRow() && (!mixed || !o.Desc) {
			if len(w.columns) == 0 {
				w.columns = leading(w.predicate()) // have one value, and behind them the rows have their order
			}
			open = false
			break
		}
		if mixed && b.onlyRising() {
			const lacks = " has no index with columns in falling order"
			w.why = sortedClaim + ": the engine " + b.spec.Table.Engine + lacks
			if w.sorted = true; len(w.columns) == 0 {
				w.left = "no index can serve Claim, and what it reads is sorted: the engine " + b.spec.Table.Engine + lacks
			}
			break
		}
		if b.inNoIndex(o) || b.byRow(o) || mixed && rising {
			w.why = sortedClaim + ": no index gives their order"
			w.sorted = true
			break
		}
		if o.Column != nil && slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == o.Column }) {
			continue // all rows that are read have one value there
		}
		k := indexKey{column: o.Column, sql: o.SQL, desc: o.Desc && !rising, nulls: o.Nulls, tie: o.Tie}
		if i == 0 && b.nullsFirst {
			k.nulls = "first"
		}
		w.columns = append(w.columns, k)
	}
	if b.holdable(&w) {
		w.why = "serves Claim: ready rows, which are then sorted: no index gives their order"
		w.sorted = true
	}
	since, ever := b.d.Since(dialect.DescIndex)
	switch {
	case w.sorted || !mixed || b.can(dialect.DescIndex):
	case ever:
		w.why = fmt.Sprintf("serves Claim: ready rows in queue order from %s %s on; before that no index keeps a falling order, and they are sorted", b.d.Title, since)
	default:
		w.why = sortedClaim + ": " + b.d.Title + " has no index with columns in falling order"
		w.sorted = true
	}
	if w.sorted && !b.can(dialect.IncrementalSort) {
		w.columns = w.columns[:w.fixed] // the beginning of an order is none
	}
	if k, ok := b.askedValue(); ok && w.plain && w.fixed == 0 {
		w.columns, w.why, w.sorted = []indexKey{k}, sortedClaim, true
	}
	if w.sorted && len(w.columns) == w.fixed {
		// What callers list leads to rows as one value does where nothing is in order anyway.
		for _, c := range b.listed() {
			if !b.unfound(c) && !slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == c }) {
				w.columns, w.asked = append(w.columns, indexKey{column: c, spare: true}), append(w.asked, c)
			}
		}
		w.fixed = len(w.columns)
	}
	for _, c := range spoken {
		if w.plain && !slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == c }) && (w.sorted || open && b.can(dialect.IndexFilter)) {
			w.columns = append(w.columns, indexKey{column: c, spare: !w.sorted})
		}
	}
	if w.due = b.spec.Due; open && len(w.columns)+len(w.predicate()) > 0 && b.dueLast(w) {
		w.columns = append(w.columns, indexKey{column: w.due, spare: true})
	}
	for _, c := range b.askedLast(w) {
		if w.asked = append(w.asked, c); (open || w.sorted) && b.askedInIndex(c) && !b.unindexed(c) {
			w.columns = append(w.columns, indexKey{column: c, spare: true})
		}
	}
	if w.sorted && len(w.columns) == 0 && len(w.predicate()) > 0 {
		w.columns = b.anyKeys()
	}
	if !w.sorted && len(b.spec.Order) > 0 && !b.locksTable() && !b.findsSorted() {
		w.then = b.d.Fragments["adopt_index"].At(b.version)
	}
	if len(w.columns) > 0 && b.lacksNulls(b.made(w), b.askedOf(w)) {
		w.columns = append(w.columns, b.neverNull())
	}
	w.beside = b.readBeside(w)
	rival, keys := b.rival(w)
	leads := len(keys) > 0
	if leads {
		w.columns, w.told, w.fixed = append(keys, w.columns...), len(keys), len(keys)
		w.why += "; it begins with what its predicate says, or the server would take " + b.calledIndex(rival) + " and sort where ANALYZE was not run"
	} else if rival != nil {
		w.rival = b.calledIndex(rival)
		w.why += "; the server may take " + w.rival + " all the same, and sort"
	}
	if g := b.spec.Group; g != nil && !leads && open && !w.sorted && b.can(dialect.EqualityFirst) {
		// All that the claim reads, or the server would take the index of the group, which has it, and sort. One that
		// begins with what its predicate says would then be read for those before a row in its group.
		for _, c := range g.Columns {
			if !b.unindexed(c) && !slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == c }) {
				w.columns = append(w.columns, indexKey{column: c, spare: true})
			}
		}
	}
	short, fits := b.fit(w)
	if _, shared := b.advisedBy(short); shared != nil {
		short.name, short.beside = shared.Name, b.own(shared.made).Include
	}
	if !fits {
		short.why, short.then, short.sorted = sortedClaim+": "+b.tooLong(w, short), "", true
		if len(short.columns) == 0 {
			short.left = "no index can serve Claim: " + b.tooLong(w, short)
		}
	}
	return short
}

// costless says that an index leaves out the rows that have ended, "" where none of these stay.
func (b *builder) costless() string {
	done := b.spec.Transitions[queue.Finish]
	switch {
	case b.tells(queue.Done), done != nil && !done.Delete && b.spec.Cycle == nil:
		return " and finished rows cost nothing"
	case b.tells(queue.Failed):
		return " and failed rows cost nothing"
	}
	return ""
}

// rival returns an index of the table that the server takes before one with the predicate of a
// claim while it knows nothing of the rows, since that compares nothing with its columns, and the
// columns by which the claim's is taken all the same: none where an index of the table is the claim's.
// Nil and none where there is no such index.
func (b *builder) rival(w wanted) (ix *schema.Index, keys []indexKey) {
	if !b.can(dialect.EqualityFirst) || w.plain || w.sorted || w.fixed > 0 {
		return nil, nil
	}
	compared, served := leading(w.where), b.serving(w)
	if b.namedIndex(w) != nil {
		return nil, nil // by its name
	}
	if served != nil && (served.Where == "" || slices.ContainsFunc(compared, func(k indexKey) bool { return k.column == served.Columns[0].Column })) {
		return nil, nil
	}
	for _, other := range b.spec.Table.Indexes {
		if other == served || other.Invisible || other.Name == "" || len(other.Columns) == 0 || !b.holds(other, w.where) {
			continue
		}
		var run []indexKey
		for _, c := range other.Columns {
			i := slices.IndexFunc(compared, func(k indexKey) bool { return k.column == c.Column })
			if i < 0 || c.Length > 0 {
				break
			}
			run = append(run, compared[i])
		}
		first := func(t queue.Test) bool { return t.Column != nil && t.Column == other.Columns[0].Column && points(t) }
		if len(run) > len(keys) || ix == nil && slices.ContainsFunc(w.where, first) {
			ix, keys = other, run
		}
	}
	if served != nil {
		return ix, nil
	}
	return ix, keys
}

// dueLast reports whether it helps that the time from which a row is due stands behind all else
// in an index: rows that wait are then not read, or in the index alone.
func (b *builder) dueLast(w wanted) bool {
	t, ok := b.dueTest()
	has := func(k indexKey) bool { return k.column == w.due }
	return ok && !b.unindexed(w.due) && !slices.ContainsFunc(w.columns, has) &&
		(w.sorted && len(w.columns) == w.fixed || b.comparedInIndex(t))
}

// dueTest returns the test that compares when a row is due with the present, where that is one
// time for all rows and no claim writes it.
func (b *builder) dueTest() (queue.Test, bool) {
	for _, t := range b.stateTests(queue.Ready) {
		if t.Column == nil || t.Column != b.spec.Due || t.Op != queue.Less && t.Op != queue.LessEqual {
			continue
		}
		return t, !b.ofRow(t) && !b.writes(queue.Claim, t.Column)
	}
	return queue.Test{}, false
}

// comparedInIndex reports whether a test of a column that stands behind the order in an index is
// made there, before a row is read.
func (b *builder) comparedInIndex(t queue.Test) bool {
	return b.can(dialect.IndexFilter) || b.can(dialect.IndexCompare) && len(t.Or) == 0
}

// askedLast returns the columns of which the caller of a claim says more than one value, or none at
// times, and which an index in the order of the queue cannot begin with.
func (b *builder) askedLast(w wanted) (columns []*schema.Column) {
	for _, p := range b.spec.Params {
		if c := p.Column; c != nil && !slices.Contains(columns, c) && !slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == c }) {
			columns = append(columns, c)
		}
	}
	return columns
}

// readBeside returns the columns that SQL of a claim reads to refuse rows, and which are no keys of an index,
// where an index may have them beside its keys: a row that is refused is else looked up in the table. With them are
// those that claims of other queues over the table read, which take rows by the same keys.
func (b *builder) readBeside(w wanted) (columns []*schema.Column) {
	if !b.can(dialect.IndexInclude) || len(w.columns) == 0 {
		return nil
	}
	keys := b.columnsOf(b.made(w))
	for _, c := range b.spec.Table.Columns {
		reads := func(t queue.Test) bool { return b.refusesBeside(w, t) && b.spec.ReadsSurely(t.SQL, c) }
		theirs := func(other *queue.Spec) bool {
			return other.States[queue.Ready] != nil && claimKeys(other) == claimKeys(b.spec) && slices.ContainsFunc(other.States[queue.Ready].Tests, func(t queue.Test) bool {
				return b.refusesBeside(w, t) && other.ReadsSurely(t.SQL, other.Table.Column(c.Name))
			})
		}
		has := func(k schema.IndexColumn) bool { return k.Column == c }
		wants := slices.ContainsFunc(b.read(b.stateTests(queue.Ready)), reads) || slices.ContainsFunc(b.spec.Others, theirs)
		if wants && !slices.ContainsFunc(keys, has) && !b.unindexed(c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// claimKeys describes by what claims of a queue find rows in an index, "" where nothing tells ready ones.
func claimKeys(s *queue.Spec) string {
	ready := s.States[queue.Ready]
	if ready == nil {
		return ""
	}
	var keys []string
	for _, k := range leading(ready.Tests) {
		keys = append(keys, k.column.Name)
	}
	for _, p := range s.Params {
		if p.Column != nil {
			keys = append(keys, fmt.Sprint(p.Column.Name, p.Kind, p.Optional))
		}
	}
	slices.Sort(keys)
	for _, o := range s.Order {
		name := o.SQL
		if o.Column != nil {
			name = o.Column.Name
		}
		keys = append(keys, fmt.Sprint(name, o.Desc, o.Nulls))
	}
	return strings.Join(keys, ", ")
}

// refusesBeside reports whether a test is SQL that no predicate of a wanted index says.
func (b *builder) refusesBeside(w wanted, t queue.Test) bool {
	return t.Op == queue.Raw && !slices.ContainsFunc(w.predicate(), func(p queue.Test) bool { return p.Op == queue.Raw && p.SQL == t.SQL })
}

// prefixed reports whether the caller of a claim says how a column begins.
func (b *builder) prefixed(c *schema.Column) bool {
	return slices.ContainsFunc(b.spec.Params, func(p *queue.Param) bool { return p.Column == c && p.Kind == queue.Prefix })
}

// askedInIndex reports whether what the caller of a claim says of a column that stands behind the order in an index
// is compared there: how it begins is so where any condition is.
func (b *builder) askedInIndex(c *schema.Column) bool {
	return b.comparedInIndex(queue.Test{Column: c}) && (b.can(dialect.IndexFilter) || !b.prefixed(c))
}

// ownCollation reports whether a column may have a collation by which texts that differ are alike: that of a domain
// is not known.
func (b *builder) ownCollation(c *schema.Column) bool {
	return c.Type.Domain != "" || c.Collation != "" && !slices.Contains([]string{"C", "POSIX", "default", "ucs_basic"}, c.Collation)
}

// prefixServed reports whether an index may serve a condition on the beginning of a column: the server has a form
// for that, and the collation bears it.
func (b *builder) prefixServed(c *schema.Column) bool {
	return b.can(dialect.PrefixIndex) && !b.ownCollation(c)
}

// prefixForm is how a condition on the beginning of a column is written.
func (b *builder) prefixForm(c *schema.Column) string {
	if b.prefixServed(c) {
		return b.d.Fragments["prefix_exact"].At(b.version)
	}
	return b.d.Fragments["prefix"].At(b.version)
}

// askNote says what becomes of rows that have other values than the caller asks for, where an
// index with those columns serves.
func (b *builder) askNote(w wanted, columns []schema.IndexColumn) string {
	var text string
	for _, x := range columns {
		if b.readsAlike(w, x) {
			text += "; rows of another " + plainText(x.Column.Name) + " that begins alike are read and passed over"
		}
	}
	for _, c := range w.asked {
		if b.ledBy(w, columns, c) {
			continue // rows of others are not read
		}
		how := "are read and passed over"
		switch {
		case slices.ContainsFunc(columns, func(x schema.IndexColumn) bool { return x.Column == c }) && b.askedInIndex(c):
			how = "are passed over in it"
		case b.prefixServed(c) && b.prefixed(c):
			how += " (" + dialect.Fill(b.d.Fragments["prefix_index"].At(b.version), "column", plainText(c.Name)) + ")"
		}
		text += "; rows of another " + plainText(c.Name) + " " + how
	}
	return text
}

// readsAlike reports whether a key of an index leads to rows of other values as well than the one that its column
// is compared with: it has so little of their beginnings that they may be alike in it.
func (b *builder) readsAlike(w wanted, k schema.IndexColumn) bool {
	if !b.leadsBy(k) || k.Length == 0 || k.Length >= b.lengthOf(k.Column) {
		return false
	}
	asked := func(own indexKey) bool { return own.column == k.Column }
	if slices.ContainsFunc(w.columns[w.told:w.fixed], asked) {
		return true
	}
	return slices.ContainsFunc(w.where, func(t queue.Test) bool {
		return t.Column == k.Column && slices.ContainsFunc(t.Values, func(v queue.Value) bool { return len(v.Text) >= k.Length })
	})
}

// refuseNote says what becomes of ready rows that a condition in SQL refuses, where an index serves: it may
// have all that the condition reads.
func (b *builder) refuseNote(w wanted, ix *schema.Index) string {
	if w.kind != "ready" || strings.HasPrefix(w.why, passesOver) {
		return ""
	}
	refuses, reads, lacks := false, false, false
	for _, t := range b.read(b.stateTests(queue.Ready)) {
		if !b.refusesBeside(w, t) {
			continue
		}
		refuses, lacks = true, lacks || source.Mentions(t.SQL, "select")
		for _, c := range b.spec.Table.Columns {
			if !source.Mentions(t.SQL, c.Name) {
				continue
			}
			holds := func(x schema.IndexColumn) bool {
				return x.Column == c || x.Expr != "" && source.Mentions(x.Expr, c.Name)
			}
			reads = true
			lacks = lacks || !slices.Contains(ix.Include, c) && !slices.ContainsFunc(b.columnsOf(ix), holds)
		}
	}
	switch {
	case refuses && lacks:
		return "; rows that a condition of the queue refuses are read and passed over"
	case refuses && reads && b.can(dialect.IndexInclude) && len(ix.Include) > 0:
		return "; rows that a condition of the queue refuses are passed over in it"
	}
	return ""
}

// waitNote says what becomes of rows that wait for their time where an index with those columns
// serves.
func (b *builder) waitNote(w wanted, columns []schema.IndexColumn) string {
	if w.due == nil {
		return ""
	}
	at := slices.IndexFunc(columns, func(c schema.IndexColumn) bool { return c.Column == w.due })
	varies := func(c schema.IndexColumn) bool {
		return c.Column == nil || !slices.ContainsFunc(w.columns[:w.fixed], func(k indexKey) bool { return k.column == c.Column }) &&
			!slices.ContainsFunc(w.where, func(t queue.Test) bool { return t.Column == c.Column })
	}
	t, ok := b.dueTest()
	switch {
	case at >= 0 && !slices.ContainsFunc(columns[:at], varies):
		return ""
	case at >= 0 && ok && b.comparedInIndex(t):
		return "; rows that wait for their time are passed over in it"
	}
	return "; rows that wait for their time are read and passed over"
}

// wantedFor is an index of the rows that satisfy tests.
func (b *builder) wantedFor(tests []queue.Test) wanted {
	w := wanted{where: b.indexables(tests), plain: !b.filters()}
	if w.plain {
		return w
	}
	leftOut := b.leaveOut(w.where)
	for _, t := range b.read(tests) {
		switch {
		case slices.ContainsFunc(b.members(), func(m queue.Test) bool { return m.Column == t.Column && m.Op == t.Op }):
			w.where = append(w.where, t)
		case !leftOut && !b.can(dialect.PlainPredicates) && b.comparesColumns(t):
			w.where = append(w.where, t)
		}
	}
	return w
}

// members returns what qgen:where says of all rows of the queue where it compares a column with one
// value, or finds it null.
func (b *builder) members() []queue.Test {
	return slices.DeleteFunc(b.read(b.spec.Members), func(t queue.Test) bool { return t.Op == queue.Raw || !b.indexable(t) })
}

// switches returns what SQL says of ready rows, as ready_if does, where it compares a column with one value, or
// finds it null: an index without a predicate leads past rows that are refused by it. None where an index has
// beside its keys what SQL reads, and passes over them in it.
func (b *builder) switches() (list []queue.Test) {
	if b.filters() || b.can(dialect.IndexInclude) {
		return nil
	}
	for _, t := range b.stateTests(queue.Ready) {
		if t.Op != queue.Raw || len(t.Or) > 0 || slices.ContainsFunc(b.spec.Members, func(m queue.Test) bool { return m.SQL == t.SQL }) {
			continue
		}
		for _, c := range b.spec.Comparisons(t.SQL) {
			if len(leading([]queue.Test{c})) > 0 && b.indexable(c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// read returns tests with qgen:where of all rows as the comparisons with one value that it makes. Those
// stay SQL that a server with predicates would have in other words than the statement.
func (b *builder) read(tests []queue.Test) (list []queue.Test) {
	for _, t := range tests {
		if !slices.ContainsFunc(b.spec.Members, func(m queue.Test) bool { return t.Op == queue.Raw && m.SQL == t.SQL }) {
			list = append(list, t)
			continue
		}
		parts := predicates(b.newScope().test(t))
		left := len(parts)
		for _, c := range b.spec.Comparisons(t.SQL) {
			if len(leading([]queue.Test{c})) > 0 && (!b.can(dialect.PartialIndex) || b.saysText(parts, c)) {
				list, left = append(list, c), left-1
			}
		}
		if left > 0 {
			list = append(list, t)
		}
	}
	return list
}

// comparesColumns reports whether a test is SQL that compares columns of the row with constants, and
// calls nothing: such as every server takes it for the predicate of an index.
func (b *builder) comparesColumns(t queue.Test) bool {
	if t.Op != queue.Raw || len(t.Or) > 0 || strings.ContainsAny(t.SQL, `{}:"`+"`") {
		return false
	}
	column, word := false, ""
	for i, part := range strings.Split(t.SQL, "'") {
		if i%2 == 1 {
			continue // a text
		}
		for _, f := range strings.FieldsFunc(strings.ReplaceAll(part, "(", " ( "), func(r rune) bool {
			return !strings.ContainsRune("_.(", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			before := word
			word = strings.ToLower(f)
			known := slices.Contains([]string{"and", "or", "not", "in", "is", "null", "between", "true", "false"}, word)
			c := b.spec.Table.Column(b.d.Fold(f))
			switch {
			case word == "(" && before != "" && before != "(" && !slices.Contains([]string{"and", "or", "not", "in", "between"}, before):
				return false // a call, or what would look like one
			case word == "(" || known || unicode.IsDigit(rune(f[0])):
			case c == nil || b.unindexed(c) || b.clockKind(c) != "":
				return false
			default:
				column = true
			}
		}
	}
	return column
}

// filters reports whether the indexes of the queue have predicates: where the server knows them,
// and where other programs have to bear with them, only where no index without one gives ready
// rows in their order and leaves finished ones out, and one with it does.
func (b *builder) filters() bool {
	if !b.can(dialect.PartialIndex) || !b.can(dialect.PredicateRules) {
		return b.can(dialect.PartialIndex)
	}
	ready := b.indexables(b.stateTests(queue.Ready))
	return b.tells(queue.Done) && !b.leadPast(ready) && b.leaveOut(ready)
}

// alike reports whether rows in a state have what tests compare that an index can begin with.
func (b *builder) alike(state queue.StateName, tests []queue.Test) bool {
	of := b.newScope().tests(b.stateTests(state))
	return !slices.ContainsFunc(tests, func(t queue.Test) bool {
		return len(leading([]queue.Test{t})) > 0 && !slices.Contains(of, b.newScope().test(t))
	})
}

// leadPast reports whether an index that begins with what tests compare leaves out each kind of rows
// that have ended and stay.
func (b *builder) leadPast(tests []queue.Test) bool {
	return b.leaveOut(slices.DeleteFunc(slices.Clone(tests), func(t queue.Test) bool { return len(leading([]queue.Test{t})) == 0 }))
}

// leaveOut reports whether rows that satisfy tests are of no kind that has ended and stays.
func (b *builder) leaveOut(tests []queue.Test) bool {
	for _, state := range []queue.StateName{queue.Done, queue.Failed} {
		tells := func(t queue.Test) bool { return b.endOtherwise(state, t) }
		spent := func(t queue.Test) bool { return b.limits(t) && slices.ContainsFunc(b.stateTests(state), t.Excludes) } // and few
		if b.tells(state) && !slices.ContainsFunc(tests, tells) && !slices.ContainsFunc(b.stateTests(queue.Ready), spent) {
			return false
		}
	}
	return true
}

// endOtherwise reports whether no row that has ended in a state satisfies a test of ready rows: the
// state says another, or what leads to it writes another value.
func (b *builder) endOtherwise(state queue.StateName, t queue.Test) bool {
	if slices.ContainsFunc(b.stateTests(state), t.Excludes) {
		return true
	}
	steps := map[queue.StateName][]queue.TransitionName{queue.Done: {queue.Finish}, queue.Failed: {queue.Fail, queue.GiveUp}}[state]
	for _, o := range b.spec.Outcomes {
		if o.To == state {
			steps = append(steps, o.Transition.Name)
		}
	}
	differs := func(name queue.TransitionName) (differs, written bool) {
		tr := b.spec.Transitions[name]
		if tr == nil {
			return true, false
		}
		i := slices.IndexFunc(tr.Writes, func(w queue.Write) bool { return w.Column == t.Column && w.Value.Kind != queue.Old })
		if i < 0 {
			return false, false
		}
		switch v := tr.Writes[i].Value; v.Kind {
		case queue.Null:
			return t.Op != queue.IsNull && !takesNull(t), true
		case queue.Literal:
			return t.Excludes(queue.Test{Column: t.Column, Op: queue.In, Values: []queue.Value{v}}), true
		case queue.Now, queue.Token, queue.WorkerID:
			return t.Op == queue.IsNull || t.Op == queue.In, true
		}
		return false, true
	}
	for _, name := range steps {
		if b.spec.Transitions[name] == nil {
			continue
		}
		other, written := differs(name)
		if !written {
			other, _ = differs(queue.Claim)
		}
		if !other {
			return false
		}
	}
	return true
}

// anyKeys are the keys of an index that only its predicate makes useful: any would do.
func (b *builder) anyKeys() []indexKey {
	var keys []indexKey
	for _, c := range b.spec.Key {
		keys = append(keys, indexKey{column: c, spare: true})
	}
	return keys
}

// neverNull is a key by which an index has rows that are null in all others: a column of the key, any other, or a
// constant.
func (b *builder) neverNull() indexKey {
	for _, c := range slices.Concat(b.spec.Key, b.spec.Table.Columns) {
		if c.NotNull && !b.unindexed(c) {
			return indexKey{column: c, spare: true}
		}
	}
	return indexKey{sql: "0", spare: true}
}

// decline notes whether a claim has to do without an index.
func (b *builder) decline() {
	w := b.claimIndex()
	if b.spec.Log != nil || !slices.Contains(b.declined, w.kind) || len(w.columns) == 0 || b.serving(w) != nil {
		return
	}
	b.unserved = true
	order := w.order()
	if i := slices.IndexFunc(b.spec.Table.Indexes, func(ix *schema.Index) bool {
		return ix.Where == "" && !ix.Invisible && len(order) > 0 && (b.gives(b.columnsOf(ix), nil, nil, order) || b.gives(b.columnsOf(ix), nil, nil, reversed(order)))
	}); i >= 0 {
		b.walked = b.spec.Table.Indexes[i]
	}
}

// noteDeclined tells of indexes that are declined and would not have been advised.
func (b *builder) noteDeclined() {
	for _, kind := range b.declined {
		said := "indexes: {" + kind + ": false}"
		if !slices.ContainsFunc(b.pkg.Notes, func(note string) bool { return strings.Contains(note, said) }) {
			b.pkg.Notes = append(b.pkg.Notes, said+" declines nothing: no such index is advised")
		}
	}
}

// declines says what it costs that an index of a kind is declined, "" where it is not.
func (b *builder) declines(kind, lacking string) string {
	if !slices.Contains(b.declined, kind) {
		return ""
	}
	return "the index " + plainText(b.indexName(kind)) + " is declined (indexes: {" + kind + ": false}): " + lacking
}

// byRow reports whether a term of the order is the place or number of a row, which no index
// holds as a column.
func (b *builder) byRow(o queue.OrderTerm) bool {
	name := strings.ToLower(strings.TrimPrefix(o.SQL, "{row}."))
	id := b.d.RowIdentity
	return (name == strings.ToLower(id.Column) || slices.Contains(id.Also, name)) && name != "" && b.spec.Table.Column(name) == nil
}

// endsWithRow reports whether every index ends with the number of the row.
func (b *builder) endsWithRow() bool { return b.d.KeySuffix.RowID && !b.spec.Table.NoRowIdentity }

// onlyRising reports whether the storage engine of the table refuses DESC in an index.
func (b *builder) onlyRising() bool {
	return slices.ContainsFunc(b.d.OnlyRising, func(engine string) bool { return strings.EqualFold(engine, b.spec.Table.Engine) })
}

// fit returns an index less the columns at its end that make it longer than the server
// takes, and reports whether it serves as well: a server may add the key to it by itself. Of columns that
// are compared with one value it has the beginning, where it serves only so.
func (b *builder) fit(w wanted) (short wanted, serves bool) {
	most, limited := b.d.IndexBytes[strings.ToLower(b.spec.Table.Engine)]
	if !limited {
		return w, true
	}
	if short, serves = b.fitWhole(w, most); serves {
		return short, true
	}
	w.columns = slices.Clone(w.columns)
	for i, k := range w.columns[:w.fixed] {
		if b.begins(k.column) && (k.column.Type.Length > b.lengthOf(k.column) || b.unindexed(k.column)) {
			w.columns[i].length = b.lengthOf(k.column)
		}
	}
	return b.fitWhole(w, most)
}

// fitWhole is fit of an index whose columns have the lengths that they shall have, and so many bytes at most.
func (b *builder) fitWhole(w wanted, most int) (short wanted, serves bool) {
	fitting := 0
	for _, k := range w.columns {
		if most -= b.keyBytes(k); most < 0 {
			break
		}
		fitting++
	}
	if short = w; fitting == len(w.columns) {
		return w, true
	}
	for n := 1; n <= fitting; n++ {
		short.columns = w.columns[:n:n]
		if b.serves(b.made(short), w) == wholly {
			return short, true
		}
	}
	short.columns = w.columns[:fitting:fitting]
	short.told, short.fixed = min(w.told, fitting), min(w.fixed, fitting)
	return short, false
}

// tooLong says which columns an index lacks that do not fit into it.
func (b *builder) tooLong(w, short wanted) string {
	rest := w
	rest.columns = w.columns[len(short.columns):]
	return strings.Join(b.keys(rest), ", ") + " would make the index longer than the server takes"
}

// keyBytes returns how many bytes a key takes in an index at most.
func (b *builder) keyBytes(k indexKey) int {
	const wide = 16 // of types whose values are all of one length
	if k.column == nil {
		return wide
	}
	switch t := k.column.Type; {
	case t.Enum || t.Name == "set":
		return wide
	case k.length > 0 && t.Class == schema.Text:
		return k.length * b.d.CharBytes
	case k.length > 0:
		return k.length
	case b.unindexed(k.column):
		return math.MaxInt32
	case t.Class == schema.Text && t.Length > 0:
		return t.Length * b.d.CharBytes
	case t.Class == schema.Bytes && t.Length > 0:
		return t.Length
	case t.Class == schema.Int && t.Bits > 0:
		return (t.Bits + 7) / 8
	}
	return wide
}

// made returns a wanted index as the schema would have it if it stood.
func (b *builder) made(w wanted) *schema.Index {
	ix := &schema.Index{Name: w.name, Method: "btree", Include: w.beside, Where: strings.Join(b.newScope().tests(w.predicate()), " AND ")}
	for _, k := range w.columns {
		first := b.d.NullsLow != k.desc
		if k.nulls != "" {
			first = k.nulls == "first"
		}
		ix.Columns = append(ix.Columns, schema.IndexColumn{Column: k.column, Expr: k.sql, Length: k.length, Desc: k.desc, NullsFirst: first})
	}
	return ix
}

// indexable reports whether a test may stand in the predicate of an index.
func (b *builder) indexable(t queue.Test) bool {
	if b.unheldTest(t) {
		return false
	}
	plain := len(t.Or) == 0 && (t.Op == queue.In || t.Op == queue.IsNull || t.Op == queue.NotNull) &&
		!slices.ContainsFunc(t.Values, func(v queue.Value) bool { return v.Kind == queue.Null })
	return constant(t) && (plain || !b.can(dialect.PlainPredicates))
}

// indexables returns those of the tests that may stand in the predicate of an index.
func (b *builder) indexables(tests []queue.Test) []queue.Test {
	return slices.DeleteFunc(slices.Clone(tests), func(t queue.Test) bool { return !b.indexable(t) })
}

// leading returns the columns that tests compare with one constant or find
// null. They lead an index that cannot hold a predicate.
func leading(tests []queue.Test) []indexKey {
	var keys []indexKey
	for _, t := range tests {
		if constant(t) && (t.Op == queue.IsNull && len(t.Or) == 0 || equality(t)) {
			keys = append(keys, indexKey{column: t.Column})
		}
	}
	return keys
}

// several returns the tests of ready rows that several values of a column meet, where no test
// of one value tells ready rows, finished ones stay, and no index leaves these out. For those of strategy pop,
// which ends jobs, the rows of other queues over the table are what stays.
func (b *builder) several() []queue.Test {
	if b.filters() {
		return nil
	}
	ready := slices.DeleteFunc(slices.Clone(b.stateTests(queue.Ready)), func(t queue.Test) bool { return !constant(t) || b.unfound(t.Column) })
	others := b.pkg.Strategy == "pop" && len(leading(ready)) == 0 && slices.ContainsFunc(ready, b.spec.OthersFail)
	if !others && (!b.tells(queue.Done) || b.leadPast(ready)) {
		return nil
	}
	return slices.DeleteFunc(ready, func(t queue.Test) bool {
		return t.Op != queue.In || len(t.Values) < 2 || len(t.Or) > 0 ||
			slices.Contains(b.spec.Table.PartitionBy, t.Column.Name) // the partition finds them
	})
}

// fromRunning returns the columns behind those of tests in an index that tell ready rows from those
// that somebody has: none where the tests do.
func (b *builder) fromRunning(tests []queue.Test) []indexKey {
	runs := func(t queue.Test) bool { return slices.ContainsFunc(b.spec.Held, t.Excludes) }
	if slices.ContainsFunc(tests, runs) {
		return nil
	}
	keys := leading(slices.DeleteFunc(b.indexables(b.stateTests(queue.Ready)), func(t queue.Test) bool { return !runs(t) }))
	for i := range keys {
		keys[i].spare = true
	}
	return keys
}

// spoken returns the columns by which SQL tells ready rows, where nothing that an index can begin
// with leaves out finished ones, and these stay.
func (b *builder) spoken() (columns []*schema.Column) {
	ready := b.stateTests(queue.Ready)
	if !b.tells(queue.Done) || b.leadPast(b.indexables(ready)) || len(b.several()) > 0 {
		return nil
	}
	for _, t := range ready {
		for _, c := range b.spec.Table.Columns {
			changes := b.writes(queue.Claim, c) || b.writes(queue.Finish, c)
			if b.comparesColumns(t) && changes && b.spec.Reads(t.SQL, c) && !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// askedValue returns the key of an index of the table by which SQL tells ready rows: it asks whether an
// expression has a value, and the index begins with that, where the server neither knows predicates nor locks what it sorts.
func (b *builder) askedValue() (indexKey, bool) {
	if b.can(dialect.LocksSorted) || b.can(dialect.SortsLocked) {
		return indexKey{}, false
	}
	const asks = "is not null"
	for _, t := range b.stateTests(queue.Ready) {
		text := unwrapped(t.SQL)
		cut := len(text) - len(asks)
		if t.Op != queue.Raw || len(t.Or) > 0 || cut <= 0 || !strings.EqualFold(text[cut:], asks) {
			continue
		}
		value := strings.TrimSpace(text[:cut])
		for _, ix := range b.spec.Table.Indexes {
			if first := ix.Columns; len(first) > 0 && first[0].Column == nil && leaf(first[0].Expr) == leaf(b.newScope().raw(value)) {
				return indexKey{sql: value, desc: first[0].Desc}, true
			}
		}
	}
	return indexKey{}, false
}

// apart returns the tests of ready rows that a claim reads one value after the other, each in
// queue order, because sorting the rows of all would lock them.
func (b *builder) apart() []queue.Test {
	if inOrder, _, _ := b.canLockInOrder(); !inOrder || !b.can(dialect.LocksSorted) || len(b.spec.Key) == 0 || b.pkg.Strategy == "hold" || b.spec.Waits {
		return nil
	}
	if slices.ContainsFunc(b.spec.Table.Indexes, func(ix *schema.Index) bool { return !ix.Invisible && b.asksFor(ix) }) {
		return nil // all rows of what is asked for are meant
	}
	return b.several()
}

// takesNull reports whether null is among the values of a test.
func takesNull(t queue.Test) bool {
	return slices.ContainsFunc(t.Values, func(v queue.Value) bool { return v.Kind == queue.Null })
}

// equality reports whether a test compares a column with one value.
func equality(t queue.Test) bool { return t.Op == queue.In && len(t.Values) == 1 && len(t.Or) == 0 }

// expiredIndex is the index that finds claims of dead workers.
func (b *builder) expiredIndex() (wanted, bool) {
	if b.spec.AtStart {
		return wanted{}, false // Recover runs once
	}
	w := b.wantedFor(b.spec.Held)
	w.kind, w.name, w.lacking = "expired", b.indexName("expired"), "Recover reads the claims that are good as well"
	w.why, w.among = "serves Recover: claims that ran out", "serves Recover: rows that somebody has, which are few"
	for _, t := range b.spec.Expired {
		if t.Op == queue.Dead && w.plain || b.ofRow(t) {
			continue // no index knows who is alive, or what time it is for each row; a partial one holds the rows that run
		}
		if t.Column != nil && !constant(t) && !b.unindexed(t.Column) {
			w.columns = append(w.columns, indexKey{column: t.Column})
		}
	}
	if len(w.columns) == 0 {
		// Which claims ran out each row tells by itself: those of all rows that run are read.
		w.why, w.lacking = "serves Recover: rows that somebody has", "Recover reads rows that nobody has as well"
		w.columns = b.heldKeys(w)
		if w.plain {
			w.told, w.fixed = len(w.columns), len(w.columns)
		}
		w, _ = b.fit(w)
		return w, len(w.columns) > 0
	}
	if lead := b.runningLead(b.keepers(w.columns[0].column)); w.plain && len(lead) > 0 {
		// By the times alone it would read, and lock, all rows that nobody has.
		w.why = "serves Recover: claims that ran out, among the rows that somebody has"
		w.columns = append(lead, slices.DeleteFunc(w.columns, func(k indexKey) bool {
			return slices.ContainsFunc(lead, func(l indexKey) bool { return l.column == k.column })
		})...)
	} else if w.plain {
		// Behind the times: an index that began with the state would be mistaken
		// for the one of ready rows, and these be sorted (tried).
		w.columns = append(w.columns, leading(b.spec.Held)...)
	}
	w, _ = b.fit(w) // a few rows more are read
	return w, len(w.columns) > 0
}

// ofRow reports whether a test compares a column with a time that differs from row to row: no index leads to the rows
// that satisfy it.
func (b *builder) ofRow(t queue.Test) bool {
	return slices.ContainsFunc(t.Values, func(v queue.Value) bool {
		s := v.Shift
		reads := func(c *schema.Column) bool { return s.Wait != nil && b.spec.Reads(s.Wait.SQL, c) }
		return s != nil && (s.Column != nil || slices.ContainsFunc(b.spec.Table.Columns, reads))
	})
}

// heldKeys returns the keys of an index that leads to the rows that somebody has, whatever it is that tells which of
// these are wanted: any where its predicate has them alone, else what only they have. None where nothing leads to them.
func (b *builder) heldKeys(w wanted) []indexKey {
	if len(w.predicate()) > 0 {
		return b.anyKeys()
	}
	if lead := b.runningLead([]queue.StateName{queue.Ready}); len(lead) > 0 {
		return lead
	}
	for _, t := range b.spec.Expired {
		if t.Column == nil || b.unindexed(t.Column) {
			continue
		}
		w.columns = []indexKey{{column: t.Column}}
		if b.heldLead(b.made(w)) != nil {
			return w.columns
		}
	}
	return nil
}

// runningLead returns the columns by which an index leads to the rows that somebody has and to none
// that have ended, nor to any in the given states: those of few values, or else one that is compared with
// constants. None where nothing tells them so, or no state is given.
func (b *builder) runningLead(from []queue.StateName) (keys []indexKey) {
	if len(from) == 0 {
		return nil
	}
	var lead []queue.Test
	held := slices.DeleteFunc(b.unfolded(b.spec.Held), func(t queue.Test) bool {
		return t.Op == queue.Raw || !constant(t) || b.unheldTest(t)
	})
	for _, t := range held {
		if points(t) {
			lead = append(lead, t)
		}
	}
	if i := slices.IndexFunc(held, compares); len(lead) == 0 && i >= 0 {
		for _, t := range held {
			if compares(t) && t.Column == held[i].Column {
				lead = append(lead, t)
			}
		}
	}
	for _, name := range append([]queue.StateName{queue.Done, queue.Failed}, from...) {
		others := b.unfolded(b.stateTests(name))
		if b.tells(name) && !slices.ContainsFunc(lead, func(t queue.Test) bool { return slices.ContainsFunc(others, t.Excludes) }) {
			return nil
		}
	}
	for _, t := range lead {
		if !slices.ContainsFunc(keys, func(k indexKey) bool { return k.column == t.Column }) {
			keys = append(keys, indexKey{column: t.Column})
		}
	}
	return keys
}

// keepers returns the states in which nobody has a row, and rows stay that may have a value in a column as those
// have that somebody has.
func (b *builder) keepers(c *schema.Column) (states []queue.StateName) {
	into := map[queue.StateName][]queue.TransitionName{
		queue.Ready:  {queue.Enqueue, queue.Retry, queue.Release, queue.Recover, queue.Redrive},
		queue.Done:   {queue.Finish},
		queue.Failed: {queue.Fail, queue.GiveUp},
	}
	for _, o := range b.spec.Outcomes {
		into[o.To] = append(into[o.To], o.Transition.Name)
	}
	taken := []queue.Test{{Column: c, Op: queue.NotNull}} // what those have there
	for _, t := range b.spec.Held {
		if t.Column == c && (t.Op != queue.NotIn || b.can(dialect.UnequalRange)) {
			taken = append(taken, t)
		}
	}
	others := func(tests ...queue.Test) bool {
		return slices.ContainsFunc(tests, func(t queue.Test) bool { return t.Column == c && slices.ContainsFunc(taken, t.Excludes) })
	}
	keeps := func(name queue.TransitionName) bool {
		t := b.spec.Transitions[name]
		if t == nil || t.Delete || b.spec.LeftToRecover(t) {
			return false
		}
		i := slices.IndexFunc(t.Writes, func(w queue.Write) bool { return w.Column == c })
		switch {
		case i < 0 && name == queue.Enqueue:
			return !c.DefaultNull()
		case i < 0 && name == queue.Redrive:
			return slices.Contains(states, queue.Failed) // as it was left there
		case i < 0:
			return true
		}
		return !others(queue.Test{Column: c, Op: queue.In, Values: []queue.Value{t.Writes[i].Value}})
	}
	for _, name := range []queue.StateName{queue.Done, queue.Failed, queue.Ready} {
		if b.tells(name) && !others(b.stateTests(name)...) && slices.ContainsFunc(into[name], keeps) {
			states = append(states, name)
		}
	}
	return states
}

// unfolded returns tests with SQL as the comparisons with constants that it makes, where it asks
// nothing else.
func (b *builder) unfolded(tests []queue.Test) (list []queue.Test) {
	for _, t := range tests {
		if t.Op == queue.Raw && len(t.Or) == 0 {
			if all := b.spec.Comparisons(t.SQL); len(all) > 0 && len(all) == len(predicates(b.newScope().test(t))) {
				list = append(list, all...)
				continue
			}
		}
		list = append(list, t)
	}
	return list
}

// ownIndex is an index that finds the rows of one worker, and whether the table has one.
func (b *builder) ownIndex() (wanted, bool) {
	w := b.wantedFor(b.spec.Held)
	w.kind, w.columns = "own", []indexKey{{column: b.spec.Expired[0].Column}}
	return w, b.serving(w) != nil
}

// tokenIndex is the index that finds rows by the token that a claim left in them.
func (b *builder) tokenIndex(why string) wanted {
	w := b.wantedFor(b.stateTests(b.takenState()))
	w.kind, w.name, w.lacking, w.columns = "token", b.indexName("token"), slowClaim, []indexKey{{column: b.spec.Token}}
	w.why, w.among = why, why+", among those that somebody has, which are few"
	w, _ = b.fit(w)
	return w
}

// unkeyed reports whether statements name rows by columns with which no index of the table
// begins: a key that annotations say, and the DDL does not.
func (b *builder) unkeyed() bool {
	return b.rowToken == nil && b.rowID == nil && len(b.spec.Key) > 0 && !b.spec.Table.View &&
		!slices.ContainsFunc(b.spec.Table.Indexes, func(ix *schema.Index) bool {
			return !ix.Invisible && ix.Where == "" && len(ix.Columns) > 0 && slices.Contains(b.spec.Key, ix.Columns[0].Column)
		})
}

// wantedKey is the index that finds rows by their key where the table has none.
func (b *builder) wantedKey() wanted {
	w := wanted{kind: "key", name: b.indexName("key"), why: "serves Complete and the like: finds the rows of jobs by their key",
		lacking: "Complete and the like read the whole table"}
	for _, c := range b.spec.Key {
		w.columns = append(w.columns, indexKey{column: c})
	}
	w, _ = b.fit(w)
	return w
}

// takenLeads reports whether the index of ready rows finds claimed rows, too:
// its first column has a value that only they have, and no predicate leaves them out. Then
// few rows are read for a token, and another index would cost every claim more (a
// quarter at 100 rows, measured).
func (b *builder) takenLeads() bool {
	w := b.claimIndex()
	return len(w.predicate()) == 0 && len(w.columns) > 0 && slices.ContainsFunc(b.stateTests(b.takenState()), func(t queue.Test) bool {
		return t.Column == w.columns[0].column && equality(t) && b.onlyHeld([]queue.Test{t})
	})
}

// buildIndexes plans the advice.
func (b *builder) buildIndexes() {
	if b.pkg.Strategy == "partition" && b.spec.Shard != nil && b.spec.Shard.Column == nil {
		b.pkg.Notes = append(b.pkg.Notes, "the shard is an expression, which the index does not hold: every instance reads the ready rows of all")
	}
	list := append([]wanted{b.claimIndex()}, b.groupIndexes()...)
	if b.pkg.Recover != nil {
		if w, ok := b.expiredIndex(); ok {
			list = append(list, w)
		}
	}
	if b.spec.Gate != nil {
		if w, ok := b.gateIndex(); ok {
			list = append(list, w)
		}
	}
	switch {
	case b.rowToken != nil:
		w := b.tokenIndex("serves Complete and the like: the token is what names a claimed row")
		w.lacking = "Complete and the like read more rows than they settle"
		w.where = nil // statements over a batch show the planner nothing but the key
		if c := b.spec.Token; !c.NotNull {
			// Whatever compares the token with a value implies it.
			w.where = []queue.Test{{Column: c, Op: queue.NotNull}}
		}
		list = append(list, w)
	case b.pkg.Strategy == "token" && !b.takenLeads():
		list = append(list, b.tokenIndex("serves Claim: reads back the rows that the token marks"))
	}
	if b.unkeyed() {
		list = append(list, b.wantedKey())
	}
	list = append(list, b.othersIndexes()...)
	if e := b.pkg.Enqueue; e != nil && e.Like {
		list = append(list, b.likeIndex())
	}
	var advised []*schema.Index // as those of b.pkg.Indexes would be, nil for one that exists
	b.noteUnheld()
	for _, w := range list {
		if b.holdable(&w); len(w.columns) == 0 {
			_, leads := b.ledToReady()
			switch {
			case w.left != "":
				b.pkg.Notes = append(b.pkg.Notes, w.left)
			case w.sorted && leads != "":
				b.pkg.Notes = append(b.pkg.Notes, "no index is advised: none gives the order of this queue; every claim finds the ready rows by "+leads+" and sorts them")
			case w.sorted:
				b.pkg.Notes = append(b.pkg.Notes, "no index is advised: none gives the order of this queue, and nothing that an index holds tells ready rows from others; every claim reads the table and sorts the ready rows")
			}
			continue
		}
		ix := Index{Name: w.name, Why: w.why, Lacking: w.lacking}
		made := b.made(w)
		notes := func(of *schema.Index) string {
			return b.refuseNote(w, of) + b.waitNote(w, of.Columns) + b.askNote(w, of.Columns)
		}
		ix.Why += notes(made)
		have, how := b.best(b.spec.Table.Indexes, w)
		b.noteSwitched(w, have, how)
		switch {
		case have == nil:
			if other, how := b.best(advised, w); other != nil {
				i := slices.Index(advised, other)
				ix.serve(b, other, how, w)
				b.pkg.Indexes[i].also(ix)
				continue
			}
			led, leads, lacking := b.besides(w), "", w.lacking
			switch {
			case led == nil:
			case w.kind == "line" && len(w.where) > 0 && b.d.Fragments["group_first"].At(b.version) != "" && b.orders(led, w, nil, nil):
				leads = "; " + b.calledIndex(led) + " leads to these rows, which are then sorted"
			default:
				leads = "; " + b.calledIndex(led) + " leads to these rows among others"
				lacking = strings.Replace(lacking, "reads the table", "reads all rows to which "+b.calledIndex(led)+" leads", 1)
			}
			if note := b.declines(w.kind, lacking); note != "" {
				if lacking == w.lacking {
					note += leads
				}
				b.pkg.Notes = append(b.pkg.Notes, note)
				continue
			}
			if sought := b.besidesOrder(w); sought != nil {
				led, leads = sought, "; "+b.calledIndex(sought)+" leads to the ready rows of what is asked for, which would be sorted then"
			}
			if led != nil {
				ix.Why += leads + ": where those are few, decline this one (indexes: {" + w.kind + ": false})"
			}
			if p, other := b.advisedBy(w); p != nil {
				shared := *other
				shared.Why = w.why + notes(b.own(shared.made)) + strings.TrimPrefix(ix.Why, w.why+notes(made))
				shared.Lacking, shared.Of, shared.Then = ix.Lacking, p.Name, cmp.Or(b.buildNote(), w.then)
				ix, made = shared, b.own(shared.made)
				break
			}
			ix.On, ix.made = b.indexOn(w), made
			if ix.Miss = b.miss(w); w.named || led != nil && w.kind == "ready" && !strings.HasPrefix(ix.Miss, b.calledIndex(led)+" ") {
				ix.Miss = "" // that whose place it takes, or which leads to these rows, is nearer
			}
			ix.take(b, w)
			ix.DDL, ix.Then = b.indexDDL(w), cmp.Or(b.buildNote(), w.then)
			ix.Rule = b.longRule(w)
			if len(w.predicate()) > 0 {
				ix.Rule = cmp.Or(b.d.Fragments["predicate_rule"].At(b.version), ix.Rule)
			}
		case have.Name == "" || have.Auto || have.Implicit:
			continue // that of a key that the database names: nothing to create, and no name to look for
		default:
			made = nil
			ix.Have, ix.Why = have.Name, w.why+b.refuseNote(w, have)+b.waitNote(w, b.columnsOf(have))+b.askNote(w, b.columnsOf(have))+b.nullsNote(w)
			ix.serve(b, have, how, w)
			ix.Why += b.orWalks(w)
			if !b.namesServing(w) {
				ix.takeAs(b, have, how, w)
			}
			if b.can(dialect.NamedIndex) && b.namedIndex(w) == have {
				ix.Lacking = map[string]string{"ready": "Claim and Peek fail, which name it", "expired": "Recover fails, which names it"}[w.kind]
			}
			switch {
			case b.leftByArgument(w):
				ix.Why += "; " + byArgument
			case b.leftOpen(w):
				ix.Why += "; " + byAnother
			}
			if b.holdsSpent(have, w) {
				ix.Why += "; those whose tries are spent are few, and are read and passed over"
			}
			if c := b.pastOrder(have, w); c != nil && how != single && how != asked && how != sought {
				ix.Why += "; it has " + plainText(c.Name) + " at its end, so that rows of other values are read and passed over"
			}
			if i := slices.IndexFunc(b.pkg.Indexes, func(other Index) bool { return other.Have == ix.Have }); i >= 0 {
				b.pkg.Indexes[i].also(ix)
				continue
			}
		}
		advised, b.pkg.Indexes = append(advised, made), append(b.pkg.Indexes, ix)
	}
}

// noteSwitched advises an index that leads past rows that ready_if refuses by one value, where the one of the
// table that serves a claim lacks the column, and each claim reads all of these rows that stand before ready ones.
func (b *builder) noteSwitched(w wanted, have *schema.Index, how service) {
	if w.kind != "ready" || have == nil || !how.inOrder() || b.declines(w.kind, "") != "" {
		return
	}
	var by []string
	for _, t := range b.switches() {
		if slices.Contains(b.unledBy(have, w), t.Column) {
			by = append(by, strconv.Quote(plainText(t.Column.Name)))
		}
	}
	if len(by) == 0 {
		return
	}
	once := ""
	if w.then != "" {
		once = ", once the schema that qgen reads has it and the package is generated again"
	}
	b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("every claim reads the rows before the ready ones that its condition refuses by %s; where these are many, an index that begins with what is compared leads past them%s: %s",
		strings.Join(by, ", "), once, b.indexDDL(w)))
}

// serve says what a server does with an index that serves less than wholly.
func (ix *Index) serve(b *builder, have *schema.Index, how service, w wanted) {
	switch how {
	case few:
		ix.Why = w.among
		if w.kind == "expired" && b.leadsPastGood(have) {
			ix.Why = w.why
		}
	case nearly:
		order := untied(w.order())
		ix.Why += "; rows of one " + plainText(order[len(order)-1].column.Name) + " are sorted by the key"
	case passing:
		ix.Why += b.passesRunning(have)
	case asked:
		ix.Why = "serves Claim: the rows of each value that is asked for"
		switch {
		case len(b.claimOrder()) == 0:
		case b.hasInOrder(have, how):
			ix.Why += ", in queue order"
		default:
			ix.Why += ", which are then sorted"
		}
		if _, rest := b.leads(have, b.stateTests(queue.Ready)); len(rest) > 0 {
			ix.Why += "; rows that are not ready are read and passed over"
		}
		for _, c := range b.unled(have) {
			ix.Why += "; rows of another " + plainText(c.Name) + " are read and passed over"
		}
	case sought:
		ix.Why = "serves Claim: the ready rows of the values that are asked for, which are then sorted"
		if w.order()[0].column == nil {
			ix.Why += ", since the order begins with an expression"
		}
	case single:
		ix.Why = "serves Claim: the only row of each value that is asked for"
	}
}

// longRule says of an index of what makes jobs alike that a row of the table may be too long for it, ""
// where none is.
func (b *builder) longRule(w wanted) string {
	form := b.d.Fragments["long_key"].At(b.version)
	if form == "" || w.kind != "like" || !b.can(dialect.BoundedKeys) {
		return ""
	}
	var long []string
	for _, c := range b.spec.Like.Columns {
		if c.Type.Class == schema.Text && !c.Type.Enum && c.Most() == 0 {
			long = append(long, plainText(c.Name))
		}
	}
	if len(long) == 0 {
		return ""
	}
	return dialect.Fill(form, "columns", strings.Join(long, ", "))
}

// besides returns an index of the table that begins with columns in which rows of a group, or such as are alike,
// have one value, and so leads to them among others; nil where none does.
func (b *builder) besides(w wanted) (by *schema.Index) {
	var lead []*schema.Column
	switch w.kind {
	case "like":
		lead = b.spec.Like.Columns
	case "line":
		lead = b.spec.Group.Columns
	case "others":
		for _, k := range w.columns {
			lead = append(lead, k.column)
		}
	}
	most := 0
	for _, ix := range b.spec.Table.Indexes {
		run := 0
		for _, c := range ix.Columns {
			if !b.leadsBy(c) || !slices.Contains(lead, c.Column) {
				break
			}
			run++
		}
		if run > most && !ix.Invisible && ix.Name != "" && (ix.Method == "" || ix.Method == "btree") && b.holds(ix, b.implied(w)) {
			most, by = run, ix
		}
	}
	return by
}

// besidesOrder returns an index of the table that leads to the ready rows of the topics which a claim asks for, and
// not in the order that is wanted; nil where none does, or the server locks what it sorts.
func (b *builder) besidesOrder(w wanted) *schema.Index {
	if w.kind != "ready" || w.sorted || b.can(dialect.LocksSorted) || b.can(dialect.SortsLocked) {
		return nil
	}
	for _, ix := range b.spec.Table.Indexes {
		if !ix.Invisible && ix.Name != "" && (ix.Method == "" || ix.Method == "btree") && ix.Where == "" && b.leadsByTopics(ix) {
			if tests := b.behindTopics(ix); len(tests) > 0 && b.leaveOut(tests) {
				return ix
			}
		}
	}
	return nil
}

// behindTopics returns the tests of ready rows by which an index that begins with the topics goes on: it leads
// to the rows of their values.
func (b *builder) behindTopics(ix *schema.Index) (tests []queue.Test) {
	for _, c := range b.columnsOf(ix)[len(b.topics()):] {
		i := slices.IndexFunc(b.stateTests(queue.Ready), func(t queue.Test) bool {
			return t.Column == c.Column && b.leadsBy(c) && points(t) && constant(t)
		})
		if i < 0 {
			break
		}
		tests = append(tests, b.stateTests(queue.Ready)[i])
	}
	return tests
}

// buildNote says what a server does while it builds an index, "" where others do not wait.
func (b *builder) buildNote() string {
	if b.spec.Table.Partitioned && b.can(dialect.PartitionsBlock) {
		return b.d.Fragments["partitioned_index"].At(b.version)
	}
	return b.d.Fragments["blocking_index"].At(b.version)
}

// also has an index serve what another was wanted for.
func (ix *Index) also(other Index) {
	ix.Why += "; it also " + other.Why
	if other.Lacking != ix.Lacking {
		ix.Lacking += " and " + other.Lacking
	}
}

// indexName names a new index; it fits the server's limit, and no index of the table has it.
func (b *builder) indexName(what string) string {
	name := b.indexNamed(what)
	for n := 2; slices.ContainsFunc(b.spec.Table.Indexes, func(ix *schema.Index) bool { return strings.EqualFold(ix.Name, name) }); n++ {
		name = b.indexNamed(what + strconv.Itoa(n))
	}
	return name
}

// indexNamed returns a name of the table and the queue that ends with a word.
func (b *builder) indexNamed(what string) string {
	const least = 4 // bytes of the table's name that are kept
	suffix := b.d.Fold("_" + what)
	base, queue := b.spec.Table.Name, ""
	// Several queues over one table want indexes of their own.
	if name := b.d.Fold(snake(b.spec.Name)); name != "" && !strings.Contains(base, name) {
		queue = "_" + name
	}
	if limit := b.d.Identifiers.MaxBytes; limit > 0 && len(b.spec.Names) == 0 {
		base = dialect.Cut(base, max(limit-len(queue)-len(suffix), least))
		queue = dialect.Cut(queue, limit-len(base)-len(suffix))
	}
	return base + queue + suffix
}

// indexOn tells an index from others: its table, columns and predicate.
func (b *builder) indexOn(w wanted) string {
	return b.spec.Table.QualifiedName() + " " + b.indexText(w)
}

// unspaced leaves out what servers and people write differently in a predicate, as the questions of
// Verify do: also within texts, where it tells nothing apart that queues would.
var unspaced = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", "(", "", ")", "", "[", "", "]", "", "`", "", `"`, "")

// take says of an index that is wanted which of another name Verify takes as well.
func (ix *Index) take(b *builder, w wanted) {
	predicate := strings.Join(b.newScope().tests(w.predicate()), " AND ")
	if slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == nil }) || strings.Contains(predicate, `\`) ||
		slices.ContainsFunc(w.predicate(), func(t queue.Test) bool { return t.Op == queue.Raw }) ||
		slices.ContainsFunc(w.predicate(), func(t queue.Test) bool { return b.clockKind(t.Column) != "" && len(t.Values) > 0 }) {
		return // what the catalog makes of an expression, or of a time, is not known
	}
	whole, short := w, w
	if whole.columns = slices.Concat(w.columns[:w.fixed], slices.DeleteFunc(slices.Clone(w.columns[w.fixed:]), func(k indexKey) bool { return k.spare })); len(whole.columns) == 0 {
		whole.columns = w.columns // of which any would do
	}
	for n := range whole.columns {
		short.columns = whole.columns[:n+1]
		if b.serves(b.made(short), w) == wholly {
			break
		}
	}
	ix.columns, ix.least = b.catalogKeys(whole), b.catalogKeys(short)
	ix.predicate = strings.ToLower(unspaced.Replace(predicate))
}

// catalogKeys returns the keys of an index as the questions of Verify make them of the catalog.
func (b *builder) catalogKeys(w wanted) string {
	var names []string
	for i, key := range b.keys(w) {
		c := w.columns[i].column
		names = append(names, c.Name+strings.TrimPrefix(key, b.d.Ident(c.Name)))
	}
	return strings.ToLower(strings.Join(names, ", "))
}

// takeAs says of an index of the table which of another name Verify takes as well: one that begins with as many of
// its columns as serve. What would be advised, had the table none, may be another.
func (ix *Index) takeAs(b *builder, have *schema.Index, how service, w wanted) {
	if strings.Contains(have.Where, `\`) || slices.ContainsFunc(have.Columns, func(c schema.IndexColumn) bool { return c.Column == nil }) {
		return // what the catalog makes of it is not known
	}
	var of wanted
	for _, c := range have.Columns {
		of.columns = append(of.columns, indexKey{column: c.Column, length: c.Length, desc: c.Desc, nulls: map[bool]string{true: "first", false: "last"}[c.NullsFirst]})
	}
	whole, short := of, of
	for n := len(of.columns) - 1; n > 0; n-- {
		first := *have
		first.Unique, first.Columns = false, slices.Clone(have.Columns[:n])
		if b.serves(&first, w) >= how {
			short.columns = of.columns[:n]
		}
		first.Columns = append(first.Columns, schema.IndexColumn{Expr: "?"}) // whatever stands behind
		if b.serves(&first, w) >= how {
			whole.columns = of.columns[:n]
		}
	}
	ix.columns, ix.least = b.catalogKeys(whole), b.catalogKeys(short)
	ix.predicate = strings.ToLower(unspaced.Replace(normal(have.Where)))
}

// advisedBy returns an earlier package over the table and an index that it advises, which is the same or
// serves as well; nil where there is none.
func (b *builder) advisedBy(w wanted) (*Package, *Index) {
	for _, same := range []func(*Index) bool{
		func(ix *Index) bool { return ix.On == b.indexOn(w) },
		func(ix *Index) bool {
			made := b.own(ix.made)
			keys := w
			keys.beside = nil // it is not worth a further index
			if w.sorted {     // nor is what a caller may leave out, where all rows of what else is asked for are read anyway
				keys.columns = slices.Concat(w.columns[:w.fixed], slices.DeleteFunc(slices.Clone(w.columns[w.fixed:]), func(k indexKey) bool {
					return k.spare && slices.Contains(w.asked, k.column)
				}))
			}
			return made != nil && b.serves(made, w) == wholly && b.holdsSpare(made, keys)
		},
	} {
		for _, p := range b.earlier {
			for i := range p.Indexes {
				if ix := &p.Indexes[i]; ix.DDL != "" && same(ix) {
					return p, ix
				}
			}
		}
	}
	return nil, nil
}

// own returns an index that another package advises over the columns of this one's table; nil where the
// table lacks one.
func (b *builder) own(made *schema.Index) *schema.Index {
	own := *made
	own.Columns = slices.Clone(made.Columns)
	for i, c := range own.Columns {
		if c.Column == nil {
			continue
		}
		if own.Columns[i].Column = b.spec.Table.Column(c.Column.Name); own.Columns[i].Column == nil {
			return nil
		}
	}
	own.Include = nil
	for _, c := range made.Include {
		own.Include = append(own.Include, b.spec.Table.Column(c.Name))
	}
	return &own
}

// keys returns the keys of an index as DDL.
func (b *builder) keys(w wanted) []string {
	s := b.newScope()
	var texts []string
	for _, k := range w.columns {
		text := s.raw(k.sql)
		if k.column != nil {
			text = b.d.Ident(k.column.Name)
		}
		if k.length > 0 {
			text += "(" + strconv.Itoa(k.length) + ")"
		}
		if k.desc {
			text += " DESC"
		}
		if k.nulls != "" && (k.nulls == "first") != (b.d.NullsLow != k.desc) {
			text += " NULLS " + strings.ToUpper(k.nulls)
		}
		texts = append(texts, text)
	}
	return texts
}

// besideKeys returns the columns that an index has beside its keys, as DDL.
func (b *builder) besideKeys(w wanted) (names []string) {
	for _, c := range w.beside {
		names = append(names, b.d.Ident(c.Name))
	}
	return names
}

// noIndex is what is said of a statement that no index serves.
const noIndex = "none; it reads the table until it has found enough"

// andOthers is what is said of an index that does not tell rows from all others.
const andOthers = "; it reads others as well"

// noOrder is what is said of a claim that no index serves.
const noOrder = "none; it reads the table and sorts the ready rows"

// thenSorted is what is said of a claim whose index leads to ready rows and does not give their order.
const thenSorted = "; the ready rows are then sorted"

// indexText describes an index on one line of a comment.
func (b *builder) indexText(w wanted) string {
	if len(w.columns) == 0 {
		return noIndex
	}
	text := "(" + strings.Join(b.keys(w), ", ") + ")"
	if beside := b.besideKeys(w); len(beside) > 0 {
		text += " INCLUDE (" + strings.Join(beside, ", ") + ")"
	}
	if where := w.predicate(); len(where) > 0 {
		text += " WHERE " + strings.Join(b.newScope().tests(where), " AND ")
	}
	return plainText(text)
}

// byKey reports whether the index is that of the primary key.
func (b *builder) byKey(ix *schema.Index) bool {
	pk := b.spec.Table.PrimaryKey
	return pk != nil && pk.Index() == ix
}

// existingText describes an index of the table on one line of a comment.
func (b *builder) existingText(ix *schema.Index) string {
	w := wanted{beside: ix.Include}
	for _, c := range ix.Columns {
		k := indexKey{column: c.Column, sql: unwrapped(c.Expr), length: c.Length, desc: c.Desc}
		if c.Column == nil || !c.Column.NotNull {
			k.nulls = map[bool]string{true: "first", false: "last"}[c.NullsFirst]
		}
		w.columns = append(w.columns, k)
	}
	text := b.indexText(w)
	if b.byKey(ix) {
		text = "the primary key " + text
	} else if ix.Auto {
		text = "the unique key " + text
	} else if ix.Implicit {
		text = "that of the foreign key " + text
	} else if ix.Name != "" {
		text = b.d.Ident(ix.Name) + " " + text
	}
	if ix.Where != "" {
		text += " WHERE " + ix.Where
	}
	return plainText(text)
}

// calledIndex returns what people call an index of the table: its name, or what it is where the server made that up.
func (b *builder) calledIndex(ix *schema.Index) string {
	switch {
	case ix.Auto:
		return b.existingText(ix)
	case ix.Implicit:
		return "the index " + strings.TrimPrefix(b.existingText(ix), "that ")
	}
	return plainText(ix.Name)
}

// usesHead says in a head comment which index a statement uses: that of the table which serves
// best, one that is advised for Claim where it serves as well, or else the one that is wanted.
func (b *builder) usesHead(w wanted) string {
	claim := b.claimIndex()
	have, how := b.best(b.spec.Table.Indexes, w)
	text, own := b.indexText(w), have
	if have != nil {
		text = b.existingText(have)
	} else if _, shared := b.advisedBy(w); shared != nil && w.kind == claim.kind {
		text = b.sharedText(shared)
	} else {
		for _, other := range append([]wanted{claim}, b.groupIndexes()...) {
			if other.kind == w.kind && w.kind != claim.kind {
				break // it is wanted for what the statement looks for
			}
			if b.serving(other) != nil || other.kind != claim.kind && b.declines(other.kind, "") != "" {
				continue
			}
			if have, how = b.best([]*schema.Index{b.made(other)}, w); have != nil {
				text = b.indexText(other)
				break
			}
		}
	}
	switch {
	case have == nil && w.kind != claim.kind && b.declines(w.kind, "") != "":
		if text = noIndex; b.besides(w) != nil {
			text = b.existingText(b.besides(w)) + andOthers
		}
	case how == few:
		_, text = b.foundAmong(have, text)
	case how == sought, w.kind == claim.kind && w.sorted && len(w.columns) > 0 && how != single && (how != asked || !b.hasInOrder(have, how)) && len(b.claimOrder()) > 0:
		if text += thenSorted + b.orWalks(w); b.leftOpen(w) {
			text += "; " + byAnother
		}
	case how == passing:
		text += b.passesRunning(have)
	case have != nil && w.kind == "expired" && w.plain && w.fixed > 0:
		text += b.findsBy(have) // of which each tells by itself whether its claim ran out
	case w.rival != "":
		text += "; where ANALYZE was not run the server may take " + w.rival + ", and sort"
	case own == nil && w.then != "" && len(w.columns) > 0 && !b.unserved:
		text += b.unnamed("unnamed_order")
	case own != nil && b.leftByArgument(w):
		text += "; " + byArgument
	case own == nil && w.kind == "expired" && len(w.columns) > 0:
		text += b.unnamed("unnamed_index")
	case b.unserved && w.kind == claim.kind || have == nil && w.sorted && len(w.columns) == 0:
		switch by, leads := b.ledToReady(); {
		case by != nil:
			text = leads + thenSorted
		case b.walked != nil:
			text = b.existingText(b.walked) + "; rows that are not ready are read and passed over"
		default:
			text = noOrder
		}
	}
	if w.kind == claim.kind && len(b.drawsAway(w)) > 0 {
		text += "; " + b.d.KeyOnly
	}
	return "index: " + text
}

// unnamed says in a head what the server may do before a statement names the index that is wanted, "" where
// statements do not name it anyway.
func (b *builder) unnamed(what string) string {
	if text := b.d.Fragments[what].At(b.version); text != "" {
		return "; " + text
	}
	return ""
}

// namedIndex returns the index of the table that gives the order which is wanted, or leads to what Recover looks
// for, and which a statement names, so that the server takes no other; nil where it names none. It names none
// where another index leads to rows by an argument in SQL, since these may be far fewer, nor where nothing orders them.
func (b *builder) namedIndex(w wanted) *schema.Index {
	if !b.can(dialect.NamedIndex) || w.kind != "ready" && w.kind != "expired" || w.kind == "ready" && len(b.claimOrder()) == 0 {
		return nil
	}
	switch ix, how := b.best(b.spec.Table.Indexes, w); {
	case how == asked && b.hasInOrder(ix, how) && !ix.Auto && !b.leftByArgument(w):
		return ix
	case w.sorted:
	case how == few:
		if by, _ := b.foundAmong(ix, ""); slices.Contains(b.spec.Table.Indexes, by) && !by.Auto {
			return by
		}
	case how.inOrder() && !ix.Auto && !b.leftByArgument(w):
		return ix
	}
	return nil
}

// besideUnnamed returns the columns with which other indexes begin than the one of the table that gives the order of
// a claim, where that has no name of the schema's: what is compared with these is hidden from the server, or it would
// take one of them and sort. Nil where it has a name, or there is none.
func (b *builder) besideUnnamed(w wanted) (columns []*schema.Column) {
	if !b.can(dialect.NamedIndex) || w.sorted || w.kind != "ready" || b.leftByArgument(w) {
		return nil
	}
	ix, how := b.best(b.spec.Table.Indexes, w)
	if ix == nil || !ix.Auto || !how.inOrder() {
		return nil
	}
	for _, other := range b.spec.Table.Indexes {
		if c := beginning(other); c != nil && !slices.Contains(columns, c) && !has(ix, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// beginning returns the column with which an index begins, nil where that is an expression.
func beginning(ix *schema.Index) *schema.Column {
	if len(ix.Columns) == 0 {
		return nil
	}
	return ix.Columns[0].Column
}

// drawsAway returns what of a claim only leaves out rows that somebody has and stands beside an index of the table
// that gives the order. A server that takes no name of an index would judge by old statistics how few rows satisfy
// it: those of an idle table, whose rows were all held, have it find and sort all that are ready. It is hidden from
// the server where another index begins with its column, or the one at hand tells ready rows by nothing. A time
// that delayed rows have as well is not: those may be many, and an index of it leads past them.
func (b *builder) drawsAway(w wanted) (tests []queue.Test) {
	if !b.can(dialect.HidesHeld) || w.sorted || w.kind != "ready" {
		return nil
	}
	ix, how := b.best(b.spec.Table.Indexes, w)
	if !how.inOrder() {
		return nil
	}
	known := func(c *schema.Column) bool { return source.Mentions(ix.Where, c.Name) || has(ix, c) }
	tells := slices.ContainsFunc(b.stateTests(queue.Ready), func(t queue.Test) bool { return t.Column != nil && known(t.Column) })
	for _, t := range b.stateTests(queue.Ready) {
		if t.Column == nil || known(t.Column) || t.Column == b.spec.Due || !slices.ContainsFunc(b.unfolded(b.spec.Held), t.Excludes) {
			continue
		}
		leads := slices.ContainsFunc(b.spec.Table.Indexes, func(other *schema.Index) bool {
			return !other.Invisible && beginning(other) == t.Column
		})
		if leads || !tells {
			tests = append(tests, t)
		}
	}
	return tests
}

// byArgument says of an index that statements do not name.
const byArgument = "by an argument the server may take another, and sort"

// leftByArgument reports whether the server may take another index than the one of the table that gives the
// order of a claim, since that leads to rows by an argument in SQL.
func (b *builder) leftByArgument(w wanted) bool {
	if !b.can(dialect.NamedIndex) || w.sorted || w.kind != "ready" {
		return false
	}
	ix, how := b.best(b.spec.Table.Indexes, w)
	return how.inOrder() && slices.ContainsFunc(b.spec.Table.Indexes, func(other *schema.Index) bool {
		c := beginning(other)
		if other == ix || other.Invisible || c == nil || !b.holds(other, b.stateTests(queue.Ready)) {
			return false
		}
		return slices.ContainsFunc(b.stateTests(queue.Ready), func(t queue.Test) bool {
			return t.Op == queue.Raw && strings.Contains(t.SQL, "{arg:") && b.spec.Reads(withoutQueries(t.SQL), c)
		})
	})
}

// withoutQueries leaves out of SQL what stands in its sub-queries.
func withoutQueries(text string) string {
	var out strings.Builder
	depth, inText := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'':
			inText = !inText
		case inText:
		case c == '(' && (depth > 0 || strings.HasPrefix(strings.ToLower(strings.TrimSpace(text[i+1:])), "select")):
			depth++
		case c == ')' && depth > 0:
			depth--
			continue
		}
		if depth == 0 {
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

// byAnother says of an index of which the rows are sorted that statements do not name it, and that others serve in
// a like way.
const byAnother = "no statement names it, so that another which leads to ready rows may be taken"

// leftOpen reports whether a server that takes names of indexes is left to choose between the one of the table that
// leads to the ready rows of a claim, which are then sorted, and another that leads to ready rows.
func (b *builder) leftOpen(w wanted) bool {
	if !b.can(dialect.NamedIndex) || w.kind != "ready" || b.namedIndex(w) != nil {
		return false
	}
	ix, how := b.best(b.spec.Table.Indexes, w)
	return how == sought && slices.ContainsFunc(b.spec.Table.Indexes, func(other *schema.Index) bool {
		leads := func(t queue.Test) bool { return t.Column == beginning(other) && points(t) }
		return other != ix && !other.Invisible && beginning(other) != nil && slices.ContainsFunc(b.stateTests(queue.Ready), leads)
	})
}

// foundAmong returns which index finds the rows that somebody has, as itself and as text: one that does, or
// another that leads to them better.
func (b *builder) foundAmong(have *schema.Index, text string) (*schema.Index, string) {
	if by, other, _ := b.ledTo(slices.Concat(b.spec.Held, b.spec.Expired)); by != nil && b.leadsToExpired(by) > b.leadsToExpired(have) {
		return by, other
	}
	if b.leadsPastGood(have) {
		return have, text
	}
	return have, text + b.findsBy(have)
}

// namesServing reports whether statements name the index of the table that serves, so that one of another
// name does not do.
func (b *builder) namesServing(w wanted) bool {
	if b.can(dialect.NamedIndex) {
		return b.namedIndex(w) != nil
	}
	return b.d.Fragments["adopt_index"].At(b.version) != ""
}

// findsBy says that an index leads to the rows that somebody has, of which the statement wants some.
func (b *builder) findsBy(ix *schema.Index) string {
	var names []string
	for _, c := range b.heldLead(ix) {
		names = append(names, plainText(c.Name))
	}
	if len(names) == 0 {
		return ", which has the rows that somebody has"
	}
	return ", which finds the rows that somebody has by " + strings.Join(names, ", ")
}

// foundBy says which index finds rows of a state that has ended: one of the table, or that which
// is advised for Claim. age are the tests of how old they are.
func (b *builder) foundBy(state, age []queue.Test) string {
	_, text, rest := b.ledTo(slices.Concat(state, age))
	aged := func(t queue.Test) bool {
		return slices.ContainsFunc(age, func(a queue.Test) bool { return a.Column == t.Column && a.Op == t.Op })
	}
	switch {
	case text == "":
		return noIndex
	case len(rest) == 0:
		return text
	case slices.ContainsFunc(rest, func(t queue.Test) bool { return !aged(t) }):
		return text + andOthers
	}
	return text + "; it reads those that are not old enough as well"
}

// purgedBy is foundBy of rows that Purge deletes, and says which index would find them where none
// does: it is advised nowhere, since it makes each claim dearer.
func (b *builder) purgedBy(state, age []queue.Test) string {
	text := b.foundBy(state, age)
	want := b.wantedFor(state)
	if want.plain {
		for _, t := range want.where {
			if points(t) {
				want.columns = append(want.columns, indexKey{column: t.Column})
			}
		}
		want.fixed = len(want.columns)
		b.holdable(&want)
	}
	for _, t := range age {
		if t.Column != nil && !b.unindexed(t.Column) && !slices.ContainsFunc(want.columns, func(k indexKey) bool { return k.column == t.Column }) {
			want.columns = append(want.columns, indexKey{column: t.Column})
		}
	}
	if len(want.columns) == 0 && len(want.predicate()) > 0 {
		want.columns = b.anyKeys()
	}
	_, _, have := b.ledTo(slices.Concat(state, age))
	how, rest := 0, []queue.Test(nil)
	if len(want.columns) > 0 {
		how, rest = b.leads(b.made(want), slices.Concat(state, age))
	}
	switch {
	case how == 0 || len(rest) > 0:
		return text
	case text == noIndex:
		return text + "; one on " + b.indexText(want) + " would find them"
	case len(have) > 0:
		return text + ", which one on " + b.indexText(want) + " would not"
	}
	return text
}

// ledTo returns which index of the table, or that which is advised for Claim, leads to the rows that
// satisfy tests, as itself and as text, and those of the tests of which it knows nothing; nil where
// none does.
func (b *builder) ledTo(tests []queue.Test) (by *schema.Index, text string, rest []queue.Test) {
	most := 0
	look := func(ix *schema.Index, describe func() string) {
		if how, left := b.leads(ix, tests); how > most {
			most, by, text, rest = how, ix, describe(), left
		}
	}
	for _, ix := range b.spec.Table.Indexes {
		look(ix, func() string { return b.existingText(ix) })
	}
	if claim := b.claimIndex(); b.rows == nil && len(claim.columns) > 0 && b.serving(claim) == nil {
		if _, shared := b.advisedBy(claim); shared != nil {
			look(b.own(shared.made), func() string { return b.sharedText(shared) })
		} else {
			look(b.made(claim), func() string { return b.indexText(claim) })
		}
	}
	return by, text, rest
}

// sharedText describes an index that another package over the table advises.
func (b *builder) sharedText(ix *Index) string {
	return strings.TrimPrefix(ix.On, b.spec.Table.QualifiedName()+" ")
}

// ledToReady returns which index of the table leads to ready rows, though not in their order: also one
// that begins with when they are due, where no rows stay for which that is over. Nil where none does.
func (b *builder) ledToReady() (by *schema.Index, text string) {
	ready, topics, most := b.stateTests(queue.Ready), b.topics(), 0
	for _, ix := range b.spec.Table.Indexes {
		if ix.Invisible || ix.Where != "" || !slices.Contains([]string{"", "btree", "rowid"}, ix.Method) {
			continue
		}
		n := slices.IndexFunc(ix.Columns, func(c schema.IndexColumn) bool {
			tells := func(t queue.Test) bool { return t.Column == c.Column && points(t) }
			return !b.leadsBy(c) || !slices.Contains(topics, c.Column) && !slices.Contains(b.spoken(), c.Column) && !slices.ContainsFunc(ready, tells)
		})
		if n < 0 {
			n = len(ix.Columns)
		}
		if n > most && slices.ContainsFunc(ix.Columns[:n], func(c schema.IndexColumn) bool { return slices.Contains(topics, c.Column) }) {
			by, text, most = ix, b.existingText(ix), n
		}
	}
	if by != nil {
		return by, text
	}
	if by, text, _ = b.ledTo(ready); by != nil || b.tells(queue.Done) || b.tells(queue.Failed) {
		return by, text
	}
	i := slices.IndexFunc(b.spec.Table.Indexes, func(ix *schema.Index) bool {
		return !ix.Invisible && ix.Where == "" && slices.Contains([]string{"", "btree"}, ix.Method) && len(ix.Columns) > 0 && ix.Columns[0].Length == 0 &&
			slices.ContainsFunc(ready, func(t queue.Test) bool { return t.Column != nil && t.Column == ix.Columns[0].Column && compares(t) })
	})
	if i < 0 {
		return nil, ""
	}
	return b.spec.Table.Indexes[i], b.existingText(b.spec.Table.Indexes[i])
}

// leads tells how well an index leads to the rows that satisfy tests, 0 where it does not, and
// returns those of which it knows nothing.
func (b *builder) leads(ix *schema.Index, tests []queue.Test) (how int, rest []queue.Test) {
	if ix.Invisible || !slices.Contains([]string{"", "btree", "rowid"}, ix.Method) || !b.holds(ix, tests) || b.lacksNulls(ix, tests) {
		return 0, nil
	}
	const point, span = 2, 1
	tests = b.read(tests)
	rest = slices.DeleteFunc(slices.Clone(tests), func(t queue.Test) bool { return b.says(ix, t) })
	how = point * (len(tests) - len(rest))
	for _, c := range b.columnsOf(ix) {
		of := func(t queue.Test) bool { return b.leadsTo(c, t) }
		bounded := slices.ContainsFunc(rest, func(t queue.Test) bool { return of(t) && compares(t) && !b.ofRow(t) })
		switch {
		case slices.ContainsFunc(rest, func(t queue.Test) bool { return of(t) && points(t) }):
			how += point
			rest = slices.DeleteFunc(rest, of)
			continue
		case slices.ContainsFunc(rest, func(t queue.Test) bool { return of(t) && t.Op == queue.NotNull && len(t.Or) == 0 }),
			how > 0 && bounded:
			how += span
			rest = slices.DeleteFunc(rest, func(t queue.Test) bool { return of(t) && (bounded || !b.ofRow(t)) })
		}
		break
	}
	return how, rest
}

// compares reports whether a test leaves out the rows on one side of a value.
func compares(t queue.Test) bool {
	return len(t.Or) == 0 && slices.Contains([]queue.Op{queue.Less, queue.LessEqual, queue.Greater, queue.GreatEqual}, t.Op)
}

func (b *builder) indexDDL(w wanted) string {
	v := b.base("")
	v.Index = b.d.Ident(w.name)
	v.Columns, v.Include = b.keys(w), b.besideKeys(w)
	v.Computes = slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.column == nil })
	v.Where = b.newScope().tests(w.predicate())
	sql, _, err := b.d.Render("index", v)
	if err != nil {
		b.fail(err)
	}
	return sql
}

// service is how well an index does what another is wanted for.
type service int

const (
	not     service = iota
	few             // it finds the rows that somebody has, and all of these are read
	sought          // it finds the ready rows of the topics that the caller says, which are sorted
	asked           // it finds the rows that the caller means
	passing         // it gives the order, and by its predicate leaves out what has ended; rows that somebody has are passed over
	nearly          // it gives the order but for rows that are alike in all but the key, which are sorted
	wholly
	single // it finds the one row that there can be
)

// inOrder reports whether an index that serves so gives rows in the order of the queue, as they come or nearly.
func (s service) inOrder() bool { return s == passing || s == nearly || s == wholly }

// serving returns the index of the table that serves best, nil when none does.
func (b *builder) serving(w wanted) *schema.Index {
	ix, _ := b.best(b.spec.Table.Indexes, w)
	return ix
}

// best returns the first of those indexes that serve best, and how well; nil when none does.
func (b *builder) best(list []*schema.Index, w wanted) (best *schema.Index, how service) {
	if w.left != "" || w.sorted && len(w.columns)+len(w.predicate()) == 0 {
		return nil, not // what is wanted of it is not known any more, or nothing
	}
	for _, ix := range list {
		if ix == nil {
			continue
		}
		s := b.serves(ix, w)
		if s > how || s == few && how == few && b.leadsToExpired(ix) > b.leadsToExpired(best) || s == how && s != not && s != few && b.nearer(ix, best, w) {
			best, how = ix, s
		}
	}
	return best, how
}

// leadsPastGood reports whether an index that leads to the rows that somebody has leads past those whose claims
// are good.
func (b *builder) leadsPastGood(ix *schema.Index) bool {
	led, _ := b.leads(ix, b.spec.Held)
	return b.leadsToExpired(ix) > led
}

// leadsToExpired tells how well an index leads to the rows whose claims have run out.
func (b *builder) leadsToExpired(ix *schema.Index) int {
	how, _ := b.leads(ix, slices.Concat(b.spec.Held, b.spec.Expired))
	return how
}

// nearer reports whether an index has more than another of what both may lack and serve.
func (b *builder) nearer(ix, other *schema.Index, w wanted) bool {
	if b.holdsSpare(other, w) {
		return false
	}
	return b.holdsSpare(ix, w) || len(b.unledBy(ix, w)) < len(b.unledBy(other, w))
}

// unledBy returns the columns by whose one value the wanted index would lead past rows that are refused, and this
// one does not.
func (b *builder) unledBy(ix *schema.Index, w wanted) (columns []*schema.Column) {
	for _, k := range w.columns[:w.fixed] {
		if k.spare && k.column != nil && !b.ledBy(w, ix.Columns, k.column) {
			columns = append(columns, k.column)
		}
	}
	return columns
}

// serves tells how well an index serves.
func (b *builder) serves(ix *schema.Index, w wanted) service {
	switch {
	case ix.Implicit && w.named:
	case ix.Invisible || !slices.Contains([]string{"", "btree", "rowid"}, ix.Method): // rowid: the table itself, in the order of its key
	case b.findsOne(ix, w):
		return single
	case b.walksPast(ix, w):
		return not
	case b.orders(ix, w, w.order(), nil):
		return wholly
	case b.sortsFew(w) && b.orders(ix, w, untied(w.order()), nil):
		return nearly
	case w.kind == "ready" && b.leavesEnded(ix) && (b.orders(ix, w, w.order(), constant) || b.sortsFew(w) && b.orders(ix, w, untied(w.order()), constant)):
		return passing
	case w.kind == "ready" && b.asksFor(ix):
		return asked
	case w.kind == "ready" && b.seeks(ix, w):
		return sought
	case w.among != "" && b.heldLead(ix) != nil:
		return few
	}
	return not
}

// holdsSpare reports whether an index has all that it may lack and serve.
func (b *builder) holdsSpare(ix *schema.Index, w wanted) bool {
	has := func(column *schema.Column) bool {
		return slices.ContainsFunc(ix.Columns, func(c schema.IndexColumn) bool { return c.Column == column })
	}
	return !slices.ContainsFunc(w.columns, func(k indexKey) bool { return k.spare && !has(k.column) }) &&
		!slices.ContainsFunc(w.beside, func(c *schema.Column) bool { return !has(c) && !slices.Contains(ix.Include, c) })
}

// findsOne reports whether no two rows have in the columns of an index what the wanted ones have, or the
// caller says which rows they are.
func (b *builder) findsOne(ix *schema.Index, w wanted) bool {
	if !ix.Unique || len(ix.Columns) == 0 || w.kind == "group" || w.kind == "line" || !b.holds(ix, b.implied(w)) {
		return false // of a group the claim asks for what is not there
	}
	var one []*schema.Column
	for _, k := range w.columns[w.told:w.fixed] {
		one = append(one, k.column)
	}
	if w.kind == "ready" {
		one = append(one, b.named()...)
	}
	for _, t := range b.stateTests(queue.Ready) {
		if len(one) > 0 && equality(t) && constant(t) && !takesNull(t) {
			one = append(one, t.Column)
		}
	}
	return !slices.ContainsFunc(ix.Columns, func(c schema.IndexColumn) bool {
		return c.Column == nil || c.Length > 0 || !slices.Contains(one, c.Column)
	})
}

// meansRows reports whether the caller of a claim means the rows of the values that it says, and not the
// next of a queue: they are only changed, the claim waits for those that others have locked, or nothing
// orders those that it lists, or they may be few.
func (b *builder) meansRows() bool {
	return b.mayBeFew() || b.onlyChanges() || b.popped() != nil && b.spec.ChangesNamed() || b.spec.Waits && len(b.topics()) > 0 || len(b.listed()) > 0 && len(b.claimOrder()) == 0
}

// mayBeFew reports whether nobody said an order of the rows that a claim ends and whose values its caller lists,
// and the server goes by how few they are: it takes no name of an index, and locks no more than the claim takes.
func (b *builder) mayBeFew() bool {
	return b.pkg.Strategy == "pop" && b.spec.Unordered && len(b.listed()) > 0 && b.can(dialect.HidesHeld) && !b.can(dialect.SortsLocked)
}

// orWalks says which index the server may read in its order where the rows are many that may be few, "" where
// there is none.
func (b *builder) orWalks(w wanted) string {
	if w.kind != "ready" || !w.sorted || !b.mayBeFew() {
		return ""
	}
	ordered := b.readyIndex(false)
	for _, ix := range b.spec.Table.Indexes {
		if !ix.Invisible && !b.asksFor(ix) && b.orders(ix, ordered, ordered.order(), nil) {
			return "; where these are many the server may go along " + b.calledIndex(ix) + " and pass over the others"
		}
	}
	return ""
}

// asksFor reports whether an index begins with what the caller of a claim says of the rows that it
// means: these are read and sorted, and an index of all ready rows is not worth its while.
// Where nobody says an order it may begin with some of it, as that of a foreign key does.
func (b *builder) asksFor(ix *schema.Index) bool {
	if !b.meansRows() || ix.Where != "" {
		return false
	}
	return b.leadsByTopics(ix) || b.spec.Unordered && len(b.unled(ix)) < len(b.topics())
}

// unled returns the topics of a claim by which an index does not lead to rows.
func (b *builder) unled(ix *schema.Index) []*schema.Column {
	left := b.topics()
	for _, c := range ix.Columns {
		i := slices.Index(left, c.Column)
		if !b.leadsBy(c) || i < 0 {
			break
		}
		left = slices.Delete(left, i, i+1)
	}
	return left
}

// walksPast reports whether an index gives the order of rows among which those that a caller names by
// lists would have to be looked for, while another index of the table leads to them.
func (b *builder) walksPast(ix *schema.Index, w wanted) bool {
	if w.kind != "ready" || !b.meansRows() || b.asksFor(ix) || b.leadsByTopics(ix) {
		return false
	}
	listed := slices.ContainsFunc(b.topics(), func(c *schema.Column) bool {
		return !slices.ContainsFunc(w.columns[:w.fixed], func(k indexKey) bool { return k.column == c && !k.spare })
	})
	return listed && slices.ContainsFunc(b.spec.Table.Indexes, func(other *schema.Index) bool { return !other.Invisible && b.asksFor(other) })
}

// leadsByTopics reports whether an index begins with the columns of which every caller of a claim
// says the values.
func (b *builder) leadsByTopics(ix *schema.Index) bool {
	topics := b.topics()
	if len(topics) == 0 || len(ix.Columns) < len(topics) {
		return false
	}
	return !slices.ContainsFunc(ix.Columns[:len(topics)], func(c schema.IndexColumn) bool {
		return !b.leadsBy(c) || !slices.Contains(topics, c.Column)
	})
}

// seeks reports whether an index begins with the topics, and behind them has what tells ready rows: by several
// values, and the order of each of these, or by any where the order begins with an expression. The ready rows
// of the topics are read and sorted.
func (b *builder) seeks(ix *schema.Index, w wanted) bool {
	if ix.Where != "" || !b.leadsByTopics(ix) || b.can(dialect.LocksSorted) {
		return false
	}
	rest, tests := b.columnsOf(ix)[len(b.topics()):], b.behindTopics(ix)
	order := w.order()
	if len(order) == 0 || len(tests) == 0 || !b.leaveOut(tests) {
		return false
	}
	several := slices.ContainsFunc(tests, func(t queue.Test) bool { return t.Op == queue.In && !equality(t) })
	return order[0].column == nil || several && (b.gives(rest[len(tests):], nil, nil, order) || b.gives(rest[len(tests):], nil, nil, reversed(order)))
}

// sortsAsked reports whether the index of a claim finds the rows of what its caller says, which are
// then sorted.
func (b *builder) sortsAsked() bool {
	w := b.claimIndex()
	ix, how := b.best(b.spec.Table.Indexes, w)
	return (how == asked || how == single) && !b.hasInOrder(ix, how) || how == sought || (how == wholly || w.named) && w.sorted && b.meansRows()
}

// topics returns the columns of which every caller of a claim says the values.
func (b *builder) topics() (columns []*schema.Column) {
	for _, p := range b.spec.Params {
		if p.Always(queue.Equal, queue.List) {
			columns = append(columns, p.Column)
		}
	}
	return columns
}

// listed returns the columns of which every caller of a claim says some values.
func (b *builder) listed() (columns []*schema.Column) {
	for _, p := range b.spec.Params {
		if p.Always(queue.List) {
			columns = append(columns, p.Column)
		}
	}
	return columns
}

// named returns the columns of which the caller of a claim says the values that rows have: a list, an
// argument that SQL compares with one, or what SQL reads by one.
func (b *builder) named() []*schema.Column {
	columns := b.listed()
	for _, t := range b.stateTests(queue.Ready) {
		if t.Op != queue.Raw || len(t.Or) > 0 {
			continue
		}
		if c := b.argued(t); c != nil {
			columns = append(columns, c)
			continue
		}
		name, arg, _ := strings.Cut(strings.TrimSpace(t.SQL), " ")
		if arg = strings.TrimSpace(arg); len(arg) < 2 || !strings.EqualFold(arg[:2], "in") {
			continue
		}
		if arg = strings.TrimSpace(arg[2:]); !strings.Contains(arg, "{arg:") || unwrapped(arg) == arg {
			continue // no list of what the caller's argument leads to
		}
		if c := b.spec.Table.Column(b.d.Fold(strings.TrimPrefix(strings.TrimSpace(name), "{row}."))); c != nil {
			columns = append(columns, c)
		}
	}
	return columns
}

// sortsFew reports whether the server sorts by the key those rows alone that are alike in the
// rest of the order, and these are few: a time comes before it.
func (b *builder) sortsFew(w wanted) bool {
	return b.can(dialect.IncrementalSort) && b.tiesOfTime(w.order())
}

// tiesOfTime reports whether an order ends with the key, which only tells apart rows of one time:
// these are few.
func (b *builder) tiesOfTime(keys []indexKey) bool {
	said := untied(keys)
	return len(said) > 0 && len(said) < len(keys) && b.tellsTime(said[len(said)-1].column)
}

// tellsTime reports whether a column keeps a time of the day as well.
func (b *builder) tellsTime(c *schema.Column) bool {
	if c == nil || c.Type.Class == schema.Date || b.clockKind(c) == "" {
		return false
	}
	role := b.roles[c]
	layout, text := "", false
	if role != nil {
		layout, text = strings.CutPrefix(role.As, "text:")
	}
	return !text || b.width(c) > 0 || strings.Contains(layout, "04")
}

// untied returns the keys of an order less those that only make it total.
func untied(keys []indexKey) []indexKey {
	for len(keys) > 0 && keys[len(keys)-1].tie {
		keys = keys[:len(keys)-1]
	}
	return keys
}

// heldLead returns the first columns of an index that find the rows that somebody has: no other row has
// their values. It has none where no other row stands in the index; nil where it finds them by nothing.
func (b *builder) heldLead(ix *schema.Index) []*schema.Column {
	held := slices.Concat(b.unfolded(b.spec.Held), b.members())
	if !b.holds(ix, b.indexables(held)) || b.lacksNulls(ix, slices.Concat(held, b.spec.Expired)) {
		return nil
	}
	if b.onlyHeld(b.tested(ix)) {
		return []*schema.Column{}
	}
	// What is compared with a time has a value, and so has a worker that is gone a name.
	filled := func(t queue.Test) queue.Test {
		if t.Op == queue.Dead && takesNull(t) || compares(t) && !constant(t) {
			t.Op = queue.NotNull
		}
		return t
	}
	var columns []*schema.Column
	var told []queue.Test
	for _, c := range ix.Columns {
		of := func(t queue.Test) bool { return b.leadsTo(c, t) }
		columns = append(columns, c.Column)
		bounds := slices.Clone(told)
		for _, t := range slices.Concat(held, b.spec.Expired) {
			if of(t) && !b.ofRow(t) && (t.Op != queue.NotIn || b.can(dialect.UnequalRange)) {
				bounds = append(bounds, filled(t))
			}
		}
		if len(bounds) > len(told) && b.onlyHeld(bounds) {
			return columns
		}
		i := slices.IndexFunc(held, func(t queue.Test) bool { return of(t) && points(t) && constant(t) })
		if i < 0 {
			return nil
		}
		told = append(told, held[i])
	}
	return nil
}

// onlyHeld reports whether tests of constants are such that rows which nobody has fail one of them.
func (b *builder) onlyHeld(tests []queue.Test) bool {
	var plain []queue.Test
	for _, t := range tests {
		if t.Op == queue.NotNull && len(t.Or) == 0 && b.leavesNull(t.Column) {
			return true
		}
		if (t.Op == queue.IsNull || t.Op == queue.NotNull || compares(t) || t.Op == queue.NotIn || t.Op == queue.In && !takesNull(t)) && len(t.Or) == 0 && constant(t) {
			plain = append(plain, t)
		}
	}
	for _, name := range []queue.StateName{queue.Ready, queue.Done, queue.Failed} {
		excluded := func(t queue.Test) bool { return slices.ContainsFunc(b.unfolded(b.stateTests(name)), t.Excludes) }
		if b.spec.States[name] != nil && !slices.ContainsFunc(plain, excluded) {
			return false
		}
	}
	return len(plain) > 0
}

// leavesNull reports whether each step by which somebody gives up a row leaves a null in a
// column, and a new row has one there.
func (b *builder) leavesNull(c *schema.Column) bool {
	if c == nil || !c.DefaultNull() {
		return false
	}
	for _, name := range b.spec.Steps() {
		switch name {
		case queue.Update, queue.Claim, queue.Start, queue.Renew, queue.Redrive, queue.Purge:
			continue
		}
		t := b.spec.Transitions[name]
		if t == nil || t.Delete || b.spec.LeftToRecover(t) {
			continue
		}
		i := slices.IndexFunc(t.Writes, func(w queue.Write) bool { return w.Column == c })
		if i < 0 && name != queue.Enqueue || i >= 0 && t.Writes[i].Value.Kind != queue.Null {
			return false
		}
	}
	return true
}

// implied returns what is true of the rows that are wanted: the tests, and that a column has a value
// which they compare with one.
func (b *builder) implied(w wanted) []queue.Test {
	all := slices.Clone(w.where)
	has := func(c *schema.Column) { all = append(all, queue.Test{Column: c, Op: queue.NotNull}) }
	for _, k := range w.columns[min(w.told, w.fixed):w.fixed] {
		if k.column != nil && !k.spare && !slices.Contains(w.nulls, k.column) {
			has(k.column)
		}
	}
	for _, c := range w.like {
		has(c)
	}
	for _, t := range w.where {
		if len(t.Or) == 0 && (compares(t) || t.Op == queue.In && !takesNull(t)) {
			has(t.Column)
		}
	}
	return all
}

// orders reports whether an index leads to the rows that are wanted, in an order or against it:
// every index is read from either end. Rows that fail tests which passed takes are passed over; nil
// takes none.
func (b *builder) orders(ix *schema.Index, w wanted, ordered []indexKey, passed func(queue.Test) bool) bool {
	if !b.holds(ix, b.implied(w)) || b.lacksNulls(ix, b.askedOf(w)) {
		return false // the index leaves out rows that the statement needs
	}
	// What tells rows leads the index, in whatever order, also where the predicate of another
	// index would hold it: rows that are not wanted are not read.
	var told, fixed []*schema.Column
	said := func(t queue.Test) bool { return b.says(ix, t) }
	for i, k := range w.columns[:w.fixed] {
		if i < w.told && (!w.plain || slices.ContainsFunc(w.where, func(t queue.Test) bool { return t.Column == k.column && said(t) })) {
			continue
		}
		if k.spare && (!slices.ContainsFunc(ix.Columns, func(c schema.IndexColumn) bool { return c.Column == k.column }) || w.sorted && !b.ledBy(w, ix.Columns, k.column)) {
			continue
		}
		if fixed = append(fixed, k.column); i < w.told {
			told = append(told, k.column)
		}
	}
	for _, t := range w.where {
		if w.plain || said(t) || t.Op == queue.NotNull && len(ordered) > 0 && t.Column == ordered[0].column || len(ordered) > 0 && b.endsOrder(t) {
			continue
		}
		if slices.Contains(fixed, t.Column) {
			continue // a topic, which has one value
		}
		has := func(c schema.IndexColumn) bool { return c.Column == t.Column }
		if slices.ContainsFunc(b.members(), func(m queue.Test) bool { return m.Column == t.Column }) && !slices.ContainsFunc(ix.Columns, has) {
			continue // rows of others are read and passed over
		}
		if passed != nil && passed(t) {
			continue
		}
		if leadsInOrder(ix, t, ordered) {
			continue
		}
		if b.limits(t) || w.among != "" && len(ordered) > 0 && b.onlyHeld([]queue.Test{{Column: ordered[0].column, Op: queue.NotNull}}) {
			continue
		}
		if !equality(t) && (t.Op != queue.IsNull || len(t.Or) > 0 || !b.can(dialect.NullFixed)) && (len(ordered) > 0 || !points(t)) {
			return false
		}
		fixed, told = append(fixed, t.Column), append(told, t.Column)
	}
	if !b.can(dialect.FixedAmid) {
		told = fixed
	}
	ordered = slices.DeleteFunc(slices.Clone(ordered), func(k indexKey) bool {
		return slices.ContainsFunc(w.where, func(t queue.Test) bool { return t.Column == k.column && said(t) && len(leading([]queue.Test{t})) > 0 })
	})
	have := slices.DeleteFunc(slices.Clone(b.columnsOf(ix)), func(c schema.IndexColumn) bool {
		return c.Column != nil && slices.ContainsFunc(w.where, func(t queue.Test) bool { return t.Column == c.Column && said(t) && len(leading([]queue.Test{t})) > 0 })
	})
	return b.gives(have, told, fixed, ordered) || b.gives(have, told, fixed, reversed(ordered))
}

// points reports whether an index leads to the rows that satisfy a test by a few values of its
// column, though not in an order.
func points(t queue.Test) bool {
	return len(t.Or) == 0 && (t.Op == queue.IsNull || t.Op == queue.In && !takesNull(t))
}

// leadsInOrder reports whether an index begins with a column of which a test names values, and by which the
// rows are ordered first: the server reads those of each value after those of the one before it.
func leadsInOrder(ix *schema.Index, t queue.Test, ordered []indexKey) bool {
	return len(ordered) > 0 && ordered[0].column != nil && ordered[0].column == t.Column && t.Op == queue.In && points(t) &&
		len(ix.Columns) > 0 && ix.Columns[0].Column == t.Column
}

// reversed returns the keys of an order as they are from its other end.
func reversed(keys []indexKey) []indexKey {
	back := slices.Clone(keys)
	for i, k := range back {
		if back[i].desc = !k.desc; k.nulls != "" {
			back[i].nulls = map[string]string{"first": "last", "last": "first"}[k.nulls]
		}
	}
	return back
}

// limits reports whether a test leaves out the rows whose tries are spent and no others. They
// are few, so an index that has them is as good.
func (b *builder) limits(t queue.Test) bool {
	a := b.spec.Attempts
	return a != nil && t.Column == a.Column && slices.Contains([]queue.Op{queue.Less, queue.LessEqual, queue.Greater, queue.GreatEqual}, t.Op)
}

// pastOrder returns a column that a claim compares with one value and that stands in an index
// behind the order of the queue; nil where none does.
func (b *builder) pastOrder(ix *schema.Index, w wanted) *schema.Column {
	ordered := untied(w.order())
	for _, c := range slices.Backward(b.columnsOf(ix)) {
		switch {
		case slices.ContainsFunc(ordered, func(k indexKey) bool { return k.column != nil && k.column == c.Column }):
			return nil
		case len(ordered) > 0 && slices.ContainsFunc(w.columns[w.told:w.fixed], func(k indexKey) bool { return k.column == c.Column }):
			return c.Column
		}
	}
	return nil
}

// holdsSpent reports whether an index that serves has rows, too, whose tries are spent.
func (b *builder) holdsSpent(ix *schema.Index, w wanted) bool {
	return slices.ContainsFunc(w.predicate(), func(t queue.Test) bool {
		return b.limits(t) && !b.says(ix, t)
	})
}

// gives reports whether columns of an index begin with those of told, in whatever order,
// and give the order of rows that have one value in each of fixed.
func (b *builder) gives(have []schema.IndexColumn, told, fixed []*schema.Column, ordered []indexKey) bool {
	told, fixed = slices.Clone(told), slices.Clone(fixed)
	for _, c := range have {
		if len(ordered) == 0 && len(fixed) == 0 {
			break
		}
		if i := slices.Index(fixed, c.Column); i >= 0 && b.leadsBy(c) {
			fixed = slices.Delete(fixed, i, i+1)
			told = slices.DeleteFunc(told, func(t *schema.Column) bool { return t == c.Column })
			continue
		}
		if len(told) > 0 || len(ordered) == 0 || !b.sorts(c, ordered[0]) {
			return false
		}
		ordered = ordered[1:]
	}
	return len(ordered) == 0 && len(fixed) == 0
}

// sorts reports whether a column of an index is sorted as a key wants it.
func (b *builder) sorts(c schema.IndexColumn, k indexKey) bool {
	first := b.d.NullsLow != k.desc
	if k.nulls != "" {
		first = k.nulls == "first"
	}
	switch {
	case c.Column != k.column || c.Length > 0 || c.Desc != k.desc:
		return false
	case k.column == nil && leaf(b.newScope().raw(k.sql)) != leaf(c.Expr):
		return false
	}
	return c.NullsFirst == first || k.nulls == "" && k.column != nil && k.column.NotNull
}

// columnsOf returns the columns of an index, and those of the index by which the table is
// kept at its end.
func (b *builder) columnsOf(ix *schema.Index) []schema.IndexColumn {
	kept := b.keptBy()
	if ix.Unique || ix.Implicit || kept == nil || ix == kept {
		return ix.Columns // another that takes the place of an implicit one goes on otherwise
	}
	columns := slices.Clone(ix.Columns)
	for _, c := range kept.Columns {
		has := func(have schema.IndexColumn) bool { return have.Column == c.Column }
		switch {
		case c.Length > 0 || c.Desc || slices.ContainsFunc(ix.Columns, func(have schema.IndexColumn) bool {
			return have.Length > 0 && (has(have) || !b.can(dialect.KeyBehind))
		}):
			return columns // how it goes on is not known, or the server makes no use of it
		case !slices.ContainsFunc(ix.Columns, has):
			columns = append(columns, c)
		}
	}
	return columns
}

// keptBy returns the index by which the table is kept, nil where it is kept by none with
// whose columns others end.
func (b *builder) keptBy() *schema.Index {
	table, suffix := b.spec.Table, b.d.KeySuffix
	pk := table.PrimaryKey
	switch {
	case !slices.Contains(suffix.Engines, strings.ToLower(table.Engine)):
		return nil
	case suffix.Clustered:
		if i := slices.IndexFunc(table.Indexes, func(ix *schema.Index) bool { return ix.Clustered && ix.Method == "btree" }); i >= 0 {
			return table.Indexes[i]
		}
		return nil
	case pk == nil || b.endsWithRow() && pk.Index() != nil && pk.Index().Method != "rowid":
		return nil
	}
	return pk.Index()
}

// saysText reports whether conditions in a normal form say what a test says.
func (b *builder) saysText(conditions []string, t queue.Test) bool {
	return !slices.ContainsFunc(predicates(b.newScope().test(t)), func(part string) bool { return !slices.Contains(conditions, part) })
}

// predicates splits the predicate of an index at AND, each part in a normal
// form.
func predicates(where string) []string {
	if where = strings.TrimSpace(where); where == "" {
		return nil
	}
	depth, from, between, inText := 0, 0, false, false
	var parts []string
	for i := range len(where) {
		word := func(w string) bool {
			ends := func(at int) bool {
				return at < 0 || at >= len(where) || strings.ContainsRune(" \t\r\n()", rune(where[at]))
			}
			return i+len(w) <= len(where) && strings.EqualFold(where[i:i+len(w)], w) && ends(i-1) && ends(i+len(w))
		}
		switch c := where[i]; {
		case c == '\'':
			inText = !inText
		case inText:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth > 0:
		case word("BETWEEN"):
			between = true
		case word("AND") && between:
			between = false
		case word("OR"):
			return []string{leaf(where)}
		case word("AND"):
			parts = append(parts, predicates(where[from:i])...)
			from = i + len("AND")
		}
	}
	if len(parts) > 0 {
		return append(parts, predicates(where[from:])...)
	}
	if within := unwrapped(where); within != where {
		return predicates(within)
	}
	return []string{leaf(where)}
}

// leaf is the normal form of an expression. Where parentheses may tell what belongs together, they stay.
func leaf(text string) string {
	text = unwrapped(text)
	var bare strings.Builder // without texts
	for i, part := range strings.Split(text, "'") {
		if i%2 == 0 {
			bare.WriteString(part + " ")
		}
	}
	words := strings.FieldsFunc(strings.ToLower(bare.String()), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	binds := strings.ContainsAny(strings.ReplaceAll(bare.String(), "->", ""), "-/*%") || slices.Contains(words, "and") && slices.Contains(words, "or")
	if binds && strings.Contains(text, "(") {
		return normal(text) + " " + strings.Map(func(r rune) rune {
			if r == '(' || r == ')' {
				return r
			}
			return -1
		}, bare.String())
	}
	return normal(text)
}

// unwrapped takes off the parentheses that stand around all of an expression.
func unwrapped(text string) string {
	for {
		text = strings.TrimSpace(text)
		if len(text) < 2 || text[0] != '(' || text[len(text)-1] != ')' {
			return text
		}
		depth, inText := 0, false
		for i, c := range text {
			switch {
			case c == '\'':
				inText = !inText
			case inText:
			case c == '(':
				depth++
			case c == ')':
				depth--
			}
			if depth == 0 && i < len(text)-1 {
				return text
			}
		}
		text = text[1 : len(text)-1]
	}
}

// normal takes out of a condition what servers and people write differently:
// parentheses, casts, case, blanks, quotes of names.
func normal(text string) string {
	var b strings.Builder
	inText := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\'':
			inText = !inText
			b.WriteByte(c)
		case inText:
			b.WriteByte(c)
		case c == '(' || c == ')' || c == '[' || c == ']' || c == '`' || c == ' ' || c == '"' || c == '\n' || c == '\t':
		case c == ':' && i+1 < len(text) && text[i+1] == ':':
			for i += 2; i < len(text) && (text[i] == ' ' || text[i] == '_' || text[i] == '.' || text[i] >= 'a' && text[i] <= 'z' || text[i] >= '0' && text[i] <= '9'); i++ {
				if text[i] == ' ' && !strings.HasPrefix(text[i:], " varying") {
					break
				}
			}
			i--
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
