package plan

// This file keeps the rule of a group: how many of its rows may run at once.
//
// A claim first passes over the rows of groups that are full. That alone would let two
// claimers that see the same group with room for one row take one each. So what a
// dialect has against it comes next: both must lock one thing of the group, and the
// running rows are counted behind that lock, in a statement that sees what was committed
// before it. The lock is held until the claim is committed. Only claims lead to running;
// whatever else is done to rows makes fewer of them run, and needs no lock of the group.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// The ways to keep the claimers of one group apart, as dialect.yaml names them.
const (
	groupStatement = "statement" // of two claims that meet one comes later, or is undone and made again
	groupNumber    = "number"    // a lock on a number, made of the group
	groupRange     = "range"     // the count locks what it reads, and what might come into it
	groupRow       = "row"       // a row of the user's
)

// groupMode is how claimers of one group are kept apart, "" without groups.
func (b *builder) groupMode() string { return b.modeOf(b.spec.Group) }

// modeOf is groupMode of a group, or of the whole queue.
func (b *builder) modeOf(g *queue.Group) string {
	switch {
	case g == nil:
		return ""
	case b.d.Groups == groupNumber && g.Lock != nil:
		return groupRow
	}
	return b.d.Groups
}

// groupInSteps reports whether a claim locks the groups of its candidates and counts
// behind that.
func (b *builder) groupInSteps() bool { return b.spec.Group != nil && b.groupMode() != groupStatement }

// checkGroup complains about a rule that the server cannot keep.
func (b *builder) checkGroup(g *queue.Group, errs *source.ErrorList) {
	if g == nil {
		return
	}
	inYAML := `Name a row for each group, which claims lock first: lock: {table: tenants, on: "id = {row}.tenant_id"} under group: in qgen.yaml. Any table will do that has one row for each group, or one for each of some numbers: on: "id = mod({row}.tenant_id, 64)".`
	of := "one group"
	if len(g.Columns) == 0 {
		of = "the queue"
		inYAML = `Name a row which claims lock first: lock: {table: gates, on: "id = 1"} under group: in qgen.yaml. Any table will do that has such a row, and it has to be there.`
	}
	if len(g.Columns) > 0 {
		b.checkGroupOrder(g, errs)
		if !b.ofOneGroup() {
			b.pkg.Notes = append(b.pkg.Notes, "a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for "+groupNames(g)+" has it read rows of one group alone")
		}
	}
	switch mode := b.modeOf(g); {
	case b.cluster && len(g.Columns) == 0:
		errs.Errorf(g.Pos, "of a cluster each node knows its own locks only, so that two of them would let more rows run than may").
			WithHint("Have all workers use one node and leave cluster: out.")
	case b.cluster:
		errs.Errorf(g.Pos, "of a cluster each node knows its own locks only, so that two of them would fill one group").
			WithHint("Have all workers use one node and leave cluster: out, or take the rows of one group by a topic and give it to one worker.")
	case b.locksTable():
		_, why, _ := b.lockless()
		errs.Errorf(g.Pos, "the running rows of a group are counted behind a lock, and %s", why).
			WithHint("Leave the group out: where one worker alone claims, with a limit of 1, ready_if in qgen.yaml can count the running rows. Or keep the table in an engine that locks rows: ALTER TABLE … ENGINE=InnoDB.")
	case mode == groupRow && g.Lock == nil:
		errs.Errorf(g.Pos, "%s has no lock in which two claimers of %s would meet: each counts the running rows before the other has written its own", b.d.Title, of).
			WithHint("%s", inYAML)
	case g.Lock != nil && mode != groupRow:
		errs.Errorf(g.Lock.Pos, "a row that stands for a group is not needed: %s", b.groupWhy(g)).WithHint("Leave lock: out.")
	case mode == groupNumber:
		for _, c := range g.Columns {
			if !b.hashes(c) {
				errs.Errorf(g.Pos, "column %q is %s, of which two values can be alike and be written differently; a lock on a number is made of what is written", c.Name, c.Type.Raw).
					WithHint("%s", inYAML)
			}
		}
	}
}

// checkGroupOrder refuses an order by which rows cannot be done one after the other, and notes where
// it is not that of the queue.
func (b *builder) checkGroupOrder(g *queue.Group, errs *source.ErrorList) {
	switch _, byKey := b.groupOrder(); {
	case byKey && g.Fifo:
		errs.Errorf(g.Pos, "fifo needs an order that can be compared row by row, and %s may find another value of this queue's each time it asks", b.d.Title).
			WithHint("%s", queue.SteadyOrder)
	case byKey:
		b.pkg.Notes = append(b.pkg.Notes, "the"+byKeyOnly)
	}
}

// hashes reports whether values of a column are alike only when their texts are.
func (b *builder) hashes(c *schema.Column) bool {
	switch c.Type.Class {
	case schema.Int, schema.UUID, schema.Bool, schema.Bytes, schema.Date:
		return true
	case schema.Text:
		return b.d.Types[c.Type.Name].Go != "" || c.Type.Enum
	}
	return false
}

// groupWhy says how claimers of one group are kept apart, as a clause.
func (b *builder) groupWhy(g *queue.Group) string {
	whole := len(g.Columns) == 0
	switch mode := b.modeOf(g); {
	case whole && mode == groupStatement && b.d.SingleWriter:
		return "a claim locks the database for writing, then counts what is running"
	case whole && mode == groupStatement:
		return "of two claims that count what the other takes one is undone and made again"
	case whole && mode == groupRow:
		return "a claim locks a row of " + plainText(g.Lock.QualifiedName()) + " that stands for the queue, then counts what is running"
	case whole:
		return "a claim locks a number that stands for the queue, then counts what is running"
	}
	switch b.modeOf(g) {
	case groupStatement:
		if b.d.SingleWriter {
			return "one claim writes at a time and counts what is running"
		}
		return "of two claims that meet in a group one is undone and made again"
	case groupNumber:
		return "a claim locks a number made of each group, then counts what is running"
	case groupRange:
		return "a claim locks the running rows of each group as it counts them, and the gap where another would appear"
	}
	return "a claim locks the row of " + plainText(g.Lock.QualifiedName()) + " that stands for each group, then counts what is running"
}

// bearsGroup reports whether a strategy can keep the rule of the group.
func (b *builder) bearsGroup(name string) (bool, string, string) {
	if b.spec.Group == nil {
		return true, "", ""
	}
	instead := ""
	if b.spec.Strategy != "" {
		instead = "Leave strategy= out."
	}
	switch {
	case b.locksTable():
		return b.lockless()
	case name == "hold", name == "pop", name == "partition":
		return false, "it writes no running state, so the running rows of a group cannot be counted",
			"Say running=<value> on qgen:status, or leave the group out."
	case !b.groupInSteps():
		if name == "returning" {
			return true, "", ""
		}
		return false, "the running rows of a group are counted by the statement that takes the rows", instead
	case name == "block" && b.d.Has("block_group"):
		return true, "", ""
	case b.groupMode() == groupRow && b.rowLock() == "":
		return false, "the rows that stand for groups are locked within a block: " + b.d.Title + " locks nothing in a sub-query", instead
	case name == "returning" && b.can(dialect.SkipLocked), (name == "lock_update" || name == "guarded") && !b.can(dialect.Returning) && b.d.Has("lock_batch"):
		return true, "", ""
	}
	return false, "the running rows of a group are counted behind locks, in a statement of their own", instead
}

// rowLock is how a condition locks the row of a group, "" where none can.
func (b *builder) rowLock() string { return b.d.Fragments["group_row"].At(b.version) }

// orNoGroup completes what makes a strategy possible that alone can keep the rule of a
// group; "" without a group, where others serve.
func (b *builder) orNoGroup(mend string) string {
	if b.spec.Group == nil {
		return ""
	}
	return mend + ", or leave the group out: then rows are locked and written by their keys."
}

// fits is possible, and whether the rule of a group is kept.
func (s strategy) fits(b *builder) (ok bool, why, mend string) {
	if ok, why, mend = s.possible(b); !ok {
		return ok, why, mend
	}
	if ok, no, mend := b.bearsGroup(s.name); !ok {
		return false, no, mend
	}
	if ok, no, mend := b.bearsGate(s.name); !ok {
		return false, no, mend
	}
	if ok, no, mend := b.bearsWait(s.name); !ok {
		return false, no, mend
	}
	return true, why, mend
}

// outside is what stands before a column of the row that a sub-query is about.
func (s *scope) outside() string { return cmp.Or(s.prefix, s.qualified()) }

// others are the conditions of other rows of a row's group.
func (s *scope) others(tests []queue.Test, more func() []string) string {
	g, outer, alias := s.spec.Group, s.outside(), s.shared.Names.Other
	var where []string
	s.over(s.builder, alias+".", func() {
		for _, c := range g.Columns {
			if i := s.topicOf(c); i >= 0 && s.looks {
				where = append(where, s.param(s.spec.Params[i], s.pkg.Claim.Params[i])) // asked once, and not of each row
				continue
			}
			where = append(where, s.column(c)+" = "+outer+s.d.Ident(c.Name))
		}
		alike := len(where)
		if g.When != "" {
			where = append(where, s.raw(g.When))
		}
		also := s.tests(tests)
		if more != nil {
			also = append(also, more()...)
		}
		for _, text := range also {
			if !slices.Contains(where, text) {
				where = append(where, text)
			}
		}
		if form := s.d.Fragments["group_rest"].At(s.version); form != "" {
			for i, text := range where[alike:] {
				where[alike+i] = dialect.Fill(form, "condition", unwrapped(text))
			}
		}
	})
	return strings.Join(where, groupAnd)
}

// What breaks the lines of a sub-query over a group.
const (
	groupLine = "\n               "
	groupAnd  = groupLine + "AND    "
)

// running are the conditions of the rows of a group that count.
func (s *scope) running() string { return s.others(s.spec.Group.Running, nil) }

// ahead are the conditions of the rows of a group that are taken before a row.
func (s *scope) ahead() string {
	g, outer := s.spec.Group, s.outside()
	return s.others(g.Waiting, func() []string {
		order, _ := s.groupOrder()
		return append(s.wanted(), s.before(outer, order))
	})
}

// inLine returns the order of the rows of one group where an index can hold it, so that a server finds the first
// of them and need not read and sort them all.
func (s *scope) inLine() ([]queue.OrderTerm, bool) {
	order, _ := s.groupOrder()
	return order, !slices.ContainsFunc(order, func(o queue.OrderTerm) bool {
		return o.Column == nil || s.against(o) && !s.can(dialect.IndexNulls)
	})
}

// lineBy are the conditions and the order of the rows of a group as they are taken.
func (s *scope) lineBy(order []queue.OrderTerm) (where, by string) {
	where = s.others(s.spec.Group.Waiting, s.wanted)
	s.over(s.builder, s.shared.Names.Other+".", func() {
		terms := s.orderBy(order)
		if s.nullsFirst && s.lineIsQueue() && order[0].Column == s.claimOrder()[0].Column {
			terms[0] += " NULLS FIRST"
		}
		by = strings.Join(terms, ", ")
	})
	return where, by
}

// lineIsQueue reports whether the rows of one group are what a claim chooses among, so that the index of ready rows
// leads to them.
func (b *builder) lineIsQueue() bool {
	columns := b.spec.Group.Columns
	return len(b.topics()) == len(columns) && !slices.ContainsFunc(columns, func(c *schema.Column) bool { return b.topicOf(c) < 0 })
}

// firstOfGroup is the condition of a row before which none of its group is taken, where the server finds the
// first of a group by its index; "" elsewhere.
func (s *scope) firstOfGroup(from string) string {
	order, ok := s.inLine()
	form := s.d.Fragments["group_first"].At(s.version)
	if form == "" || !ok {
		return ""
	}
	where, by := s.lineBy(order)
	var own, key []string
	for _, c := range s.spec.Key {
		own = append(own, s.outside()+s.d.Ident(c.Name))
	}
	s.over(s.builder, s.shared.Names.Other+".", func() {
		for _, c := range s.spec.Key {
			key = append(key, s.column(c))
		}
	})
	row := strings.Join(own, ", ")
	if len(own) > 1 {
		row = "(" + row + ")"
	}
	return dialect.Fill(form, "row", row, "key", strings.Join(key, ", "), "from", from, "where", where, "order", by, "line", groupLine)
}

// mostBefore is how many of those before a row are counted at most, where the server bounds a count by what limits the
// group: with that many there is no room. ok is false where it takes no such bound.
func (s *scope) mostBefore() (bound string, ok bool) {
	g, form := s.spec.Group, "{n}"
	switch {
	case g.LimitSQL == queue.SaidLimit:
		form = s.d.Fragments["group_said"].At(s.version)
	case g.LimitSQL != "" && s.limitOf(nil):
		form = s.d.Fragments["group_asked"].At(s.version)
	case g.LimitSQL != "":
		form = ""
	}
	most := ""
	if strings.Contains(form, "{most}") {
		most = s.arg(Arg{Kind: ArgMost, Param: s.asked(queue.ArgRunning)})
	}
	return dialect.Fill(form, "n", s.groupLimit(g), "most", most), form != ""
}

// limitOf reports whether the limit of a group reads none but these columns of a job's row, as far as can be told.
func (b *builder) limitOf(columns []*schema.Column) bool {
	return !slices.ContainsFunc(b.spec.Table.Columns, func(c *schema.Column) bool {
		return !slices.Contains(columns, c) && b.spec.Reads(b.spec.Group.LimitSQL, c)
	})
}

// amongForm is the form of among; "" where a server does not take from a sub-query how many rows another is to read.
func (s *scope) amongForm() string {
	if !s.can(dialect.AskedLimit) {
		return ""
	}
	if _, inLine := s.inLine(); !inLine {
		return s.d.Fragments["group_room"].At(s.version) // the first of a group are found by sorting it, and those before a row without
	}
	return s.d.Fragments["group_within"].At(s.version)
}

// among is the condition of a row that is among as many of its group as there is room for, and asks once how many
// these are.
func (s *scope) among(from string) string {
	form := s.amongForm()
	if form == "" {
		return ""
	}
	order, inLine := s.inLine()
	waiting := s.groupFrom("group_look")
	pairs := []string{"n", s.groupLimit(s.spec.Group), "running", groupCount(from, s.running()), "from", waiting,
		"other", s.shared.Names.Other, "room", s.alias("room"), "line", groupLine}
	if !inLine {
		return dialect.Fill(form, append(pairs, "where", deeper(s.ahead()))...)
	}
	where, by := s.lineBy(order)
	var key, same []string
	s.over(s.builder, s.shared.Names.Other+".", func() {
		for _, c := range s.spec.Key {
			key = append(key, s.column(c))
		}
	})
	for i, c := range s.spec.Key {
		same = append(same, key[i]+" = "+s.outside()+s.d.Ident(c.Name))
	}
	return dialect.Fill(form, append(pairs, "where", deeper(where), "key", strings.Join(key, ", "), "order", by, "same", strings.Join(same, " AND "))...)
}

// deeper indents the conditions of a sub-query within another.
func deeper(where string) string { return strings.ReplaceAll(where, groupLine, groupLine+"        ") }

// countsFirst reports whether those before a row are counted among the first of its group.
func (s *scope) countsFirst() bool {
	_, inLine := s.inLine()
	_, bounded := s.mostBefore()
	return inLine && bounded && s.d.Fragments["group_before"].At(s.version) != ""
}

// countsMost reports whether those before a row are counted up to a bound, in whatever order.
func (s *scope) countsMost() bool {
	_, bounded := s.mostBefore()
	return bounded && s.d.Fragments["group_most"].At(s.version) != ""
}

// countBefore counts those before a row. Where the server finds the first of a group by its index, it does so among as
// many as may run: with one comparison in all directions of the order, which no index bounds, it would read
// the whole group.
func (s *scope) countBefore() string {
	from := s.groupFrom("group_look")
	most, _ := s.mostBefore()
	switch {
	case s.countsFirst():
	case s.countsMost():
		return dialect.Fill(s.d.Fragments["group_most"].At(s.version), "from", from, "where", s.ahead(), "n", most, "line", groupLine)
	default:
		return groupCount(from, s.ahead())
	}
	order, _ := s.inLine()
	where, by := s.lineBy(order)
	outer := s.outside()
	var columns []string
	var before string
	s.over(s.builder, s.shared.Names.Other+".", func() {
		for _, o := range order {
			columns = append(columns, s.column(o.Column))
		}
		before = s.before(outer, order)
	})
	return dialect.Fill(s.d.Fragments["group_before"].At(s.version), "columns", strings.Join(columns, ", "), "from", from, "where", deeper(where), "order", by,
		"n", most, "other", s.shared.Names.Other, "before", unwrapped(before), "line", groupLine)
}

// wanted are the conditions that the caller of a claim adds to those of waiting rows: what he does not want
// is not before any. Where rows are done one after the other it is. What is asked of the columns in which the rows of a
// group are alike holds for all of them or for none; said again it would spoil what the planner expects.
func (s *scope) wanted() []string {
	if s.spec.Group.Fifo {
		return nil
	}
	return s.paramsBut(s.pkg.Claim, func(c *schema.Column, kind queue.ParamKind) bool {
		return slices.Contains(s.spec.Group.Columns, c) && (kind != queue.Prefix || s.hashes(c))
	})
}

// groupOrder is the order in which the rows of one group are taken; byKey: it is that of the key,
// since the queue's cannot be compared row by row.
func (b *builder) groupOrder() (order []queue.OrderTerm, byKey bool) {
	if !slices.ContainsFunc(b.spec.Group.Order, func(o queue.OrderTerm) bool { return !b.comparable(o) }) {
		return b.spec.Group.Order, false
	}
	for _, c := range b.spec.Key {
		order = append(order, queue.OrderTerm{Column: c})
	}
	return order, true
}

// comparable reports whether a term of the order has one value for a row wherever a statement asks for it.
func (b *builder) comparable(o queue.OrderTerm) bool {
	// The present is one and the same in a statement.
	present := strings.NewReplacer("{now}", "", "{time}", "", "{today}", "")
	return o.Column != nil || !o.Random && b.d.Lasting(present.Replace(o.SQL), b.hasColumn)
}

// byKeyOnly says of the rows of one group in which order they are taken, where it is not the queue's.
const byKeyOnly = " rows of one group are taken in the order of the key, since the queue's cannot be compared row by row"

// before compares two rows of one group by their order.
func (s *scope) before(outer string, order []queue.OrderTerm) string {
	o := order[0]
	mine, theirs, sign := s.term(o, s.prefix), s.term(o, outer), " < "
	if o.Desc {
		sign = " > "
	}
	less, alike := mine+sign+theirs, mine+" = "+theirs
	if o.Column != nil && !o.Column.NotNull || o.Column == nil && !s.spec.NeverNull(o.SQL) {
		// A null stands first or last, and nothing compares with it.
		first, last := mine, theirs
		if !s.comesFirst(o) {
			first, last = theirs, mine
		}
		less = "(" + less + " OR " + first + " IS NULL AND " + last + " IS NOT NULL)"
		alike = "(" + alike + " OR " + mine + " IS NULL AND " + theirs + " IS NULL)"
	}
	if len(order) == 1 {
		return less
	}
	return "(" + less + " OR " + alike + " AND " + s.before(outer, order[1:]) + ")"
}

// term is what a term of the order is for the row whose columns stand behind a prefix.
func (s *scope) term(o queue.OrderTerm, prefix string) (text string) {
	s.over(s.builder, prefix, func() {
		if o.Column != nil {
			text = s.column(o.Column)
		} else {
			text = s.raw(s.spec.OfRow(o.SQL))
		}
	})
	return text
}

// look are the conditions of a row whose group has room for it, as far as can be seen
// before its group is locked: of a group not more rows are found than it has room for.
func (s *scope) look() []string {
	g := s.spec.Group
	if g == nil {
		return nil
	}
	s.looks = true
	defer func() { s.looks = false }()
	from := s.groupFrom("group_look")
	fill := func(name, where string) string {
		return dialect.Fill(s.d.Fragments[name].At(s.version), "from", from, "where", where,
			"n", strconv.Itoa(g.Limit), "less", strconv.Itoa(g.Limit-1), "line", groupLine)
	}
	running, among := fill("group_none", s.running()), ""
	if g.LimitSQL != "" || g.Limit > 1 {
		running, among = s.groupLimit(g)+" > "+groupCount(from, s.running()), s.among(from)
	}
	var room []string
	switch {
	case s.roomOnce():
		return nil // the statement reads no more rows than there is room for
	case s.takesFirst():
		room = []string{running}
	case among != "":
		room = []string{dialect.Fill(cmp.Or(s.d.Fragments["group_tried"].At(s.version), "{condition}"), "condition", among)}
	case g.LimitSQL == "" && g.Limit == 1:
		room = []string{running, cmp.Or(s.firstOfGroup(from), fill("group_none", s.ahead()))}
	case s.countsFirst():
		room = []string{s.groupSum(from)}
	default:
		// The first spares counting those that wait in a group that is full, the second counting all that wait.
		if g.LimitSQL == "" {
			running = fill("group_few", s.running())
		}
		room = []string{running}
		if less, ok := s.mostBefore(); ok && !s.countsMost() {
			if g.LimitSQL == "" {
				less = strconv.Itoa(g.Limit - 1)
			}
			room = append(room, dialect.Fill(s.d.Fragments["group_few"].At(s.version), "from", from, "where", s.ahead(), "less", less, "line", groupLine))
		}
		room = append(room, s.groupSum(from))
	}
	if full := s.full(); full != "" {
		room = append([]string{full}, room...)
	}
	if len(g.Member) == 0 {
		return room
	}
	return []string{s.unlessFree(room)}
}

// findsFull reports whether a claim finds the groups that are full once: where it looks at rows of many groups and the
// server finds the running rows by what a column holds.
func (b *builder) findsFull() bool {
	g := b.spec.Group
	known := slices.ContainsFunc(g.Running, func(t queue.Test) bool { return equality(t) && constant(t) })
	return b.can(dialect.HashedRows) && known && !b.ofOneGroup() && (g.LimitSQL == "" || b.limitOf(g.Columns))
}

// full is the condition of a row whose group is not among those that are found full at once; "" where none are.
func (s *scope) full() string {
	if !s.findsFull() {
		return ""
	}
	g := s.spec.Group
	var outer, columns, where []string
	var limit string
	for _, c := range g.Columns {
		outer = append(outer, s.outside()+s.d.Ident(c.Name))
	}
	s.over(s.builder, s.shared.Names.Other+".", func() {
		for _, c := range g.Columns {
			columns = append(columns, s.column(c))
		}
		if g.When != "" {
			where = append(where, s.raw(g.When))
		}
		for _, text := range s.tests(g.Running) {
			if !slices.Contains(where, text) {
				where = append(where, text)
			}
		}
		limit = s.groupLimit(g)
	})
	row := strings.Join(outer, ", ")
	if len(outer) > 1 {
		row = "(" + row + ")"
	}
	return dialect.Fill(s.d.Fragments["group_full"].At(s.version), "group", row, "columns", strings.Join(columns, ", "), "from", s.groupFrom("group_look"),
		"where", deeper(strings.Join(where, groupAnd)), "other", s.shared.Names.Other, "n", limit, "line", groupLine)
}

// takesFirst reports whether a statement takes one row, which then is the first of its group: those
// before it there would be ready as it is, and come before it in the queue as well.
func (s *scope) takesFirst() bool {
	return s.spec.Group != nil && !s.spec.Group.Fifo && (s.single || s.claimsOneGroup())
}

// claimsOneGroup reports whether topics tell a claim the group whose rows it looks at, of which one
// may run: then it takes one row, whatever its limit.
func (b *builder) claimsOneGroup() bool {
	return b.ofOneGroup() && b.spec.Group.Limit == 1 && b.spec.Group.LimitSQL == ""
}

// ofOneGroup reports whether topics tell a claim the group whose rows it looks at.
func (b *builder) ofOneGroup() bool {
	g := b.spec.Group
	if g == nil || g.Fifo || b.spec.Accept {
		return false
	}
	return !slices.ContainsFunc(g.Columns, func(c *schema.Column) bool { return b.topicOf(c) < 0 }) &&
		!slices.ContainsFunc(g.Member, func(t queue.Test) bool { return t.Op != queue.NotNull })
}

// topicOf returns which argument of a claim says the one value that all rows it looks at have in a
// column, -1 where none does.
func (b *builder) topicOf(c *schema.Column) int {
	return slices.IndexFunc(b.spec.Params, func(p *queue.Param) bool {
		return p.Column == c && p.Always(queue.Equal)
	})
}

// groupFrom is the table of other rows as it stands behind FROM.
func (s *scope) groupFrom(fragment string) string {
	form := cmp.Or(s.d.Fragments[fragment].At(s.version), s.d.Fragments["group_look"].At(s.version))
	return dialect.Fill(form, "table", s.shared.Table, "other", s.shared.Names.Other)
}

// roomOnce reports whether a statement asks once how many more rows of its group may run, since topics tell a claim
// the group whose rows it looks at, and reads no more than that.
func (s *scope) roomOnce() bool {
	return !s.single && s.readsRoom()
}

// readsRoom is roomOnce of a claim for any number of rows.
func (b *builder) readsRoom() bool {
	return b.ofOneGroup() && (b.spec.Group.LimitSQL != "" || b.spec.Group.Limit > 1) && b.can(dialect.AskedLimit) &&
		len(b.apart()) == 0 && b.limitOf(b.spec.Group.Columns)
}

// limitRoom is the limit of a statement that asks once how many rows of the group may run. Where SQL tells that by the
// row of a job, the first that waits is asked: in what it reads there all of the group are alike.
func (s *scope) limitRoom(limit string) string {
	g := s.spec.Group
	n := s.groupLimit(g)
	if g.LimitSQL != "" && !s.limitOf(nil) {
		s.over(s.builder, s.shared.Names.Other+".", func() {
			where := slices.Concat(s.tests(s.stateTests(queue.Ready)), s.params(s.pkg.Claim))
			n = "coalesce((SELECT " + s.raw(g.LimitSQL) + groupLine + "FROM   " + s.groupFrom("group_look") + groupLine + "WHERE  " + strings.Join(where, groupAnd) +
				groupLine + "ORDER  BY " + strings.Join(s.order(), ", ") + groupLine + "LIMIT  1), 0)"
		})
	}
	s.looks = true
	defer func() { s.looks = false }()
	return dialect.Fill(s.d.Fragments["group_limit"].At(s.version), "limit", limit, "n", n, "running", groupCount(s.groupFrom("group_look"), s.running()))
}

// groupSum compares the running rows of a group, and those before a row, with the
// limit.
func (s *scope) groupSum(from string) string {
	return s.groupLimit(s.spec.Group) + " > " + groupCount(from, s.running()) + groupLine[:len(groupLine)-4] + "+ " + s.countBefore()
}

// groupCount counts rows of a group.
func groupCount(from, where string) string {
	return "(SELECT count(*)" + groupLine + "FROM   " + from + groupLine + "WHERE  " + where + ")"
}

// recount are the conditions of a row whose group still has room for it behind the
// lock of the group. Each row stands for itself: those that are before it are counted
// with those that run, even if they were seen before the lock was had.
func (s *scope) recount() []string {
	g := s.spec.Group
	from := s.groupFrom("group_count")
	room := "(SELECT count(*)" + groupLine + "FROM   " + from + groupLine + "WHERE  " + s.running() + ") = 0"
	if g.Limit != 1 {
		room = cmp.Or(s.among(from), s.groupSum(from))
	}
	where := []string{s.unlessFree([]string{room})}
	if fresh := s.d.Fragments["group_fresh"].At(s.version); fresh != "" {
		where = append(where, fresh)
	}
	return where
}

// unlessFree lets rows pass that belong to no group.
func (s *scope) unlessFree(conditions []string) string {
	both := strings.Join(conditions, groupLine[:len(groupLine)-4]+"AND ")
	free := s.freeOfGroup()
	if len(free) == 0 {
		return both
	}
	if len(conditions) > 1 {
		both = "(" + both + ")"
	}
	return "(" + strings.Join(free, " OR ") + groupLine[:len(groupLine)-4] + "OR " + both + ")"
}

// freeOfGroup are the conditions, each of them enough, of a row that belongs to no group.
func (s *scope) freeOfGroup() []string {
	var free []string
	for _, t := range s.spec.Group.Member {
		switch t.Op {
		case queue.Raw:
			free = append(free, "CASE WHEN "+s.raw(t.SQL)+" THEN 1 ELSE 0 END = 0")
		case queue.NotNull:
			t.Op = queue.IsNull
			free = append(free, s.condition(t))
		default:
			t.Op = queue.In
			free = append(free, s.condition(t))
		}
	}
	return free
}

// locksGroup is the condition that locks the group of a row; it holds when nobody
// else has the lock, or has waited until that is so where a claim is to wait.
func (s *scope) locksGroup() string {
	if b := s.builder; b.groupMode() == groupRow {
		skip := ""
		if b.can(dialect.SkipLocked) && !b.claimWaits() {
			skip = " SKIP LOCKED"
		}
		return s.unlessFree([]string{dialect.Fill(b.rowLock(), "table", s.lockTable(), "on", s.lockOn(), "skip", skip, "line", groupLine)})
	}
	var parts []string
	for _, c := range s.spec.Group.Columns {
		parts = append(parts, s.d.Cast(s.column(c), "text"))
	}
	lock := "group_number"
	if s.claimWaits() {
		lock = "group_number_wait"
	}
	return s.unlessFree([]string{dialect.Fill(s.d.Fragments[lock].At(s.version),
		"table", s.shared.TableText, "group", strings.Join(parts, " || ' ' || "))})
}

// lockTable is the table that holds a row for each group.
func (b *builder) lockTable() string {
	l := b.spec.Group.Lock
	return b.d.Qualified(l.Schema, l.Table)
}

// lockOn is the condition of the row there that stands for the group of a row.
func (s *scope) lockOn() string {
	return unwrapped(s.raw(s.spec.Group.Lock.On))
}

// groupValues are what a block needs that locks the groups of rows which it has locked
// itself, and counts behind that.
type groupValues struct {
	Tries bool   // to lock one is tried again where none could be
	Locks string // the condition that locks the group of a row, where there is one
	Must  bool   // the lock is had, or an error says so

	// Where there is none, the rows of groups are locked one by one.
	Table  string   // that holds them
	On     string   // which of them, as the row says whose group it is
	Reads  []string // the columns of that row which On names
	Member []string // conditions of a row that is of a group
	Free   string   // the condition of one that is of none, "" where every row is of one

	Room []string // conditions of a row whose group has room for it
}

// inBlock sets how a block locks groups and counts.
func (s *scope) inBlock(v *values) {
	g := s.spec.Group
	v.Names.Found, v.Names.Row = s.alias("found"), s.alias("found_row")
	v.Names.Place, v.Names.Held = s.alias("place"), s.alias("held")
	v.Group = groupValues{Room: s.recount(), Table: s.lockTable(), Member: s.tests(g.Member)}
	if s.rowLock() != "" {
		v.Group.Locks = s.locksGroup()
	}
	if free := s.freeOfGroup(); len(free) > 0 {
		v.Group.Free = "(" + strings.Join(free, " OR ") + ")"
	}
	quote := s.d.Identifiers.Quote
	for _, c := range s.spec.Table.Columns {
		if source.Mentions(g.Lock.On, "{row}."+c.Name) || source.Mentions(g.Lock.On, "{row}."+quote[0]+c.Name+quote[1]) {
			v.Group.Reads = append(v.Group.Reads, s.column(c))
		}
	}
	s.over(s.builder, v.Names.Row+".", func() { v.Group.On = s.lockOn() })
}

// groupLocks says for head comments what the lock of a group is.
func (b *builder) groupLocks() string {
	switch b.groupMode() {
	case groupNumber:
		return ", and a number for each group that they are of"
	case groupRow:
		return ", and the row of " + plainText(b.spec.Group.Lock.QualifiedName()) + " for each group that they are of"
	}
	return ""
}

// takeGroups plans a claim that locks candidates and their groups, and takes those for
// which there still is room behind the locks.
func (b *builder) takeGroups(c *Claim) {
	c.Flow = LockTake
	switch {
	case b.d.Has("select_group") && b.groupMode() != groupRange:
		c.Lock = b.lockGroups()
	default:
		c.Lock = b.lockStatement(b.pkg.Key, "claim: locks ready rows of groups that are not full, which claim.sql then takes")
	}
	b.takeLocked(c, false)
}

// lockGroups locks candidates and their groups in one statement.
func (b *builder) lockGroups() *Statement {
	s, v := b.newScope(), b.base("Claim")
	v.Where = s.ready()
	s.inOrder(&v)
	s.limitReady(&v, b.mostReady())
	v.Names.Look, v.Group.Tries = s.alias("look"), b.triesGroups()
	s.over(b, v.Names.Candidate+".", func() {
		v.Guard = []string{s.locksGroup()}
		v.Returning = s.read(b.pkg.Key)
	})
	return s.statement("claim_lock", "select_group", v, b.pkg.Key, "claim: locks ready rows and their groups, which claim.sql then takes",
		"locks: the rows it finds"+b.groupLocks()+", until commit; passes over rows and groups that are locked"+b.triesAgain(), b.readyHead())
}

// triesGroups reports whether a claim tries for a moment to lock the first group that it found, where others have
// the locks of all. A group of which one runs at once is full when whoever has its lock commits.
func (b *builder) triesGroups() bool {
	g := b.spec.Group
	return b.groupInSteps() && b.d.Has("select_group") && b.groupMode() != groupRange && !b.claimWaits() && (g.Limit != 1 || g.LimitSQL != "")
}

// triesAgain says so for head comments.
func (b *builder) triesAgain() string {
	if !b.triesGroups() {
		return ""
	}
	return "; where all of these groups are, tries the first again, for 0.2 s or so"
}

// narrowGroups plans, where a locked row cannot be counted for and written in one
// statement, those that stand between: one locks the groups, one counts.
func (b *builder) narrowGroups(c *Claim, locked bool) {
	if !locked {
		locks := "the row of " + plainText(b.spec.Group.Lock.QualifiedName()) + " for each group, until commit"
		if b.can(dialect.SkipLocked) && !b.claimWaits() {
			locks += "; passes over groups that are locked"
		}
		c.Narrow = append(c.Narrow, b.picked("claim_group", "lock_batch", b.pkg.Key, "locks the groups of the rows that claim_lock.sql locked", locks,
			func(s *scope) []string { return []string{s.locksGroup()} }))
	}
	c.Narrow = append(c.Narrow, b.picked("claim_count", "select_batch", b.pkg.Key,
		"those of the rows whose groups still have room behind the locks", "none", (*scope).recount))
}

// runningSince returns the column by whose value an index finds the running rows of a group: where none of
// those that tell the waiting ones by one value tells these from them. Nil where it needs none.
func (b *builder) runningSince(waiting []indexKey) *schema.Column {
	var since *schema.Column
	for _, t := range b.spec.Group.Running {
		if equality(t) && constant(t) && slices.ContainsFunc(waiting, func(k indexKey) bool { return k.column == t.Column }) {
			return nil
		}
		if t.Column != nil && t.By == 0 && !b.unindexed(t.Column) && (compares(t) || t.Op == queue.NotNull && len(t.Or) == 0 && since == nil) {
			since = t.Column
		}
	}
	return since
}

// readOfRunning returns the columns that are asked which rows of a group run. Where an index has them all,
// no row is looked up, and the server takes it before another that begins as it does (tried).
func (b *builder) readOfRunning() []*schema.Column {
	var columns []*schema.Column
	for _, t := range slices.Concat(b.spec.Group.Running, b.spec.Group.Member) {
		list := []*schema.Column{t.Column}
		if t.Op == queue.Raw {
			list = nil
			for _, word := range strings.FieldsFunc(t.SQL, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				list = append(list, b.spec.Table.Column(b.d.Fold(word)))
			}
		}
		for _, c := range list {
			if c != nil && !b.unindexed(c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// groupIndexes are the indexes that count the rows of a group.
func (b *builder) groupIndexes() []wanted {
	g := b.spec.Group
	if g == nil {
		return nil
	}
	var group []indexKey
	for _, c := range g.Columns {
		group = append(group, indexKey{column: c})
	}
	line := slices.Clone(group)
	w := b.wantedFor(g.Waiting)
	if b.claimsOneGroup() {
		// Nobody asks who is before a row.
		run := b.wantedFor(b.spec.Held)
		run.kind, run.name, run.columns, run.lacking = "group", b.indexName("group"), group, slowClaim
		run.why = "serves Claim: the running rows of a group"
		if run.plain {
			run.columns = append(leading(g.Running), group...) // as that of ready rows begins
			if since := b.runningSince(nil); since != nil && len(run.columns) == len(group) {
				run.columns = append(run.columns, indexKey{column: since})
			}
		} else {
			run.like, run.fixed = g.Columns, len(group)
		}
		run, _ = b.fit(run)
		return []wanted{run}
	}
	w.fixed = len(line)
	if w.plain {
		line = append(line, leading(g.Waiting)...)
		w.told, w.fixed = len(line), len(line) // of one value, in whatever order
	}
	order, _ := b.groupOrder()
	for _, o := range order {
		if o.Column == nil {
			break // what stands behind it gives no order by itself
		}
		if !slices.ContainsFunc(line, func(k indexKey) bool { return k.column == o.Column }) {
			line = append(line, indexKey{column: o.Column, desc: o.Desc, nulls: o.Nulls, tie: o.Tie})
		}
	}
	w.kind, w.name, w.columns, w.lacking = "line", b.indexName("line"), line, slowClaim
	w.why = "serves Claim: who is before a row in its group, and which of them run"
	if w.plain {
		since := b.runningSince(leading(g.Waiting))
		if since != nil {
			w.why = "serves Claim: who is before a row in its group"
		}
		short, fits := b.fit(w)
		if !fits {
			short.why += "; " + b.tooLong(w, short)
		}
		if since == nil {
			return []wanted{short}
		}
		run := wanted{kind: "group", name: b.indexName("group"), plain: true, where: w.where, lacking: slowClaim,
			columns: append(slices.Clone(group), indexKey{column: since}), why: "serves Claim: the running rows of a group"}
		for _, c := range b.readOfRunning() {
			if !slices.ContainsFunc(run.columns, func(k indexKey) bool { return k.column == c }) {
				run.columns = append(run.columns, indexKey{column: c, spare: true})
			}
		}
		if run, fits = b.fit(run); !fits {
			return []wanted{short}
		}
		return []wanted{run, short}
	}
	w.why = "serves Claim: who is before a row in its group"
	run := b.wantedFor(b.spec.Held)
	w.like, run.like = g.Columns, g.Columns
	run.kind, run.name, run.columns, run.fixed, run.lacking = "group", b.indexName("group"), group, len(group), slowClaim
	run.why = "serves Claim: the running rows of a group"
	return []wanted{run, w}
}

// groupNames are the columns in which the rows of a group are alike.
func groupNames(g *queue.Group) string {
	var names []string
	for _, c := range g.Columns {
		names = append(names, plainText(c.Name))
	}
	return strings.Join(names, " and ")
}

// groupRule says for people what a group's rule is, "" without one.
func (b *builder) groupRule() string {
	g := b.spec.Group
	if g == nil {
		return ""
	}
	rule := "Of the jobs that are alike in " + groupNames(g) + ", " + limitText(g)
	if g.Fifo {
		rule += ", and in their order: a job is not claimed while one before it is not finished, be it that it runs or waits for its next try"
	}
	rule += "; " + b.groupWhy(g) + "." + b.groupLevel(g)
	if _, byKey := b.groupOrder(); byKey {
		rule += " The" + byKeyOnly + "."
	}
	if b.groupMode() == groupRange {
		return rule + " A claim can come back with fewer jobs than are ready, and with none while others are: where another claims from a group at that moment" +
			" it waits for that, leaves out the jobs of groups that are full then, and looks for no others in their place."
	}
	if b.groupInSteps() {
		rule += " A claim can come back with fewer jobs than are ready: it "
		if b.claimWaits() || b.groupMode() == groupRow && !b.can(dialect.SkipLocked) {
			return rule + "waits for groups that another claims from at that moment, and leaves out those that are full then."
		}
		rule += "passes over groups that another claims from at that moment."
		if b.triesGroups() {
			rule += " It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first."
		}
	}
	return rule
}

// groupLevel says which isolation level the transactions of callers need, "" where any will do.
func (b *builder) groupLevel(g *queue.Group) string {
	switch mode := b.modeOf(g); {
	case mode == groupStatement && !b.d.SingleWriter:
		return " In a transaction of the caller's own that must be SERIALIZABLE."
	case b.d.Fragments["group_fresh"].At(b.version) != "":
		return " In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error."
	case mode == groupRow:
		return " In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began."
	}
	return ""
}
