package queue

// This file reads groups: rows of which only so many may run at once, or only one
// after the other.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Group says how many rows of a group may run at once. Rows that are alike in all of
// Columns are one group; without columns all rows of the queue are.
type Group struct {
	Pos     source.Pos
	Columns []*schema.Column
	Limit   int // rows that may run; 1 where Fifo
	// LimitSQL is the limit where it is no number that is known here; "" where Limit is.
	LimitSQL string
	// Fifo: only the first unfinished row of a group is claimed, so that its rows are
	// done in Order. A row that waits for its next try is unfinished.
	Fifo bool
	// Member are the tests of a row that belongs to a group at all; none: every row does.
	Member []Test
	// When is the part of Member that does not follow from being alike in Columns, ""
	// for none.
	When string
	// Running are the tests of a row that counts: a worker has it, as far as can be told.
	Running []Test
	// Waiting are the tests of a row that is to be claimed before those behind it: any
	// that is ready, or of Fifo that will be.
	Waiting []Test
	// Order is the order of the rows of one group, and total. Of Fifo all its terms can be compared
	// row by row, as far as their text tells.
	Order []OrderTerm
	Lock  *GroupLock
}

// GroupLock names the row of another table that stands for a group and is locked
// before its rows are counted.
type GroupLock struct {
	Known         *schema.Table // nil where the DDL does not have it
	Schema, Table string        // as the server stores them; no Schema where none is named
	On            string        // {row} is the row of the queue
	Pos           source.Pos
}

// QualifiedName is the name of the table with its schema.
func (l *GroupLock) QualifiedName() string {
	if l.Schema == "" {
		return l.Table
	}
	return l.Schema + "." + l.Table
}

// groupWords are what qgen:group takes.
var groupWords = []string{"limit", "fifo", "free"}

// ArgRunning is the argument of limit=arg, and SaidLimit the limit that it makes.
const (
	ArgRunning = "running"
	SaidLimit  = "{arg:" + ArgRunning + "}"
)

// OneLimit says what to write where something else than a number limits the rows of a group.
const OneLimit = "Write a number from 1 to 32767, or limit=arg: then who claims says it. In qgen.yaml stands SQL as well: " +
	"limit: \"select max_jobs from tenants where id = {row}.tenant_id\" under group:."

// noGroup says what to do where no column can mark a running row.
const noGroup = "Say running=<value> on qgen:status, and leave %s out. Where the table may not change, take one job at a time behind a lock that callers take first in their transaction (WithTx), or a lock of the server that ready_if tries once for each claim: ready_if: \"(select pg_try_advisory_xact_lock(1))\" on PostgreSQL."

// readGroup sets Spec.Group. The states, the transitions and the order must be known.
func (b *binding) readGroup() {
	roles, from := b.roles["group"], b.config.Group
	if len(roles) == 0 && from == nil {
		return
	}
	g := &Group{}
	before := b.errs.Len()
	free := map[*schema.Column][]Value{}
	for _, r := range roles {
		if !g.Pos.IsValid() {
			g.Pos = r.pos
		}
		if r.column != nil {
			g.Columns = append(g.Columns, r.column)
		} else if len(roles) > 1 {
			b.errorf(r.pos, "qgen:group stands above the table, for all its rows, and at a column").WithHint("Keep one of them.")
		}
		b.readGroupWords(g, r, free)
	}
	if from != nil {
		b.readGroupConfig(g, from)
	}
	if b.errs.Len() > before {
		return
	}
	whole := len(g.Columns) == 0
	switch {
	case g.Limit == 0 && g.LimitSQL == "" && !g.Fifo:
		b.errorf(g.Pos, "nothing says what is limited for a group").
			WithHint("Write limit=1 for one row at a time, a greater number for more, or fifo for one after the other in order.")
	case whole && g.Fifo:
		b.errorf(g.Pos, "fifo is for rows that are alike in a column, and none is named").
			WithHint("Write limit=1 for one row of the whole queue at a time, in its order: then a row that waits for its next try is passed over. Where it must not be, mark a column that is alike in all rows with qgen:group fifo.")
	case whole && g.When != "":
		b.errorf(from.When.Pos, "when is for rows that are alike in a column, and none is named").
			WithHint("Name the column: group: {column: tenant_id, limit: 1}. Or leave when: out: all rows of the queue are one group, and qgen:where says which rows these are.")
	case g.Fifo && (g.Limit > 1 || g.LimitSQL != ""):
		limit := strconv.Itoa(g.Limit)
		if g.LimitSQL != "" {
			limit = strings.Replace(g.LimitSQL, SaidLimit, "arg", 1)
		}
		b.errorf(g.Pos, "fifo runs the rows of a group one after the other, so that limit=%s cannot be", limit).
			WithHint("Keep fifo, or limit=%s.", limit)
	case !b.runs() && (b.config.Side != nil || b.config.Lease != nil):
		b.errorf(g.Pos, "claims stand in a table beside, where the running rows of a group cannot be counted").
			WithHint(noGroup, "the side table")
	case !b.runs() && b.spec.Strategy == "hold":
		b.errorf(g.Pos, "with strategy=hold nothing marks a running row, so the running rows of a group cannot be counted").
			WithHint(noGroup, "strategy=hold")
	case !b.runs() || b.spec.Transitions[Claim] == nil:
		b.errorf(g.Pos, "the running rows of a group cannot be counted: nothing marks a running row").
			WithHint("Say running=<value> on qgen:status, or mark a column with qgen:lease, qgen:claimed or qgen:token.")
	case b.claims.worker != nil && b.claims.worker.has("mine"):
		b.errorf(g.Pos, "a row that is mine is ready and runs at once, so the running rows of a group cannot be counted").
			WithHint("Leave mine=ready of column %q out.", b.claims.worker.column.Name)
	case len(b.spec.Key) == 0 && !whole:
		b.errorf(g.Pos, "the rows of a group have no order among themselves, since nothing names a row").
			WithHint("%s.", b.spec.AddKey())
	}
	if b.errs.Len() > before {
		return
	}
	if whole {
		g.Running = b.counted()
		b.spec.Gate = g
		return
	}
	if g.Fifo {
		g.Limit = 1
	}
	for _, c := range g.Columns {
		b.checkGroupColumn(g, c)
	}
	b.readMembers(g, free)
	b.countGroup(g)
	b.orderGroup(g)
	b.spec.Group = g
}

// readGroupWords reads the words of one annotation.
func (b *binding) readGroupWords(g *Group, r *role, free map[*schema.Column][]Value) {
	for _, w := range r.words {
		switch {
		case w.op == flag && w.name == "fifo":
			g.Fifo = true
		case w.op == equals && w.name == "limit" && len(w.values) == 1 && w.values[0].text == "arg":
			g.LimitSQL = b.limitArg(w.values[0].pos)
		case w.op == equals && w.name == "limit" && len(w.values) == 1:
			n, err := strconv.ParseInt(w.values[0].text, 10, 16)
			switch {
			case err != nil && !isDigits(w.values[0].text):
				b.errorf(w.values[0].pos, "limit is %q, which is no number of rows", w.values[0].text).WithHint("%s", OneLimit)
			case err != nil || n < 1:
				b.errorf(w.values[0].pos, "limit is %q, which is no number of rows", w.values[0].text).
					WithHint("Write how many rows of one group may run at once, from 1 to 32767.")
			case g.Limit > 0 && g.Limit != int(n):
				b.errorf(w.pos, "limit is %d here, but %d at another column of the group", n, g.Limit).WithHint("Say it once.")
			default:
				g.Limit = int(n)
			}
		case w.op == equals && w.name == "free" && r.column == nil:
			b.errorf(w.pos, "free is for a column in which rows are alike, and this is said of all rows").
				WithHint("Leave free= out. Rows that are no part of the queue are told by qgen:where.")
		case w.op == equals && w.name == "free":
			for _, l := range w.values {
				if v, ok := b.literal(r.column, l); ok {
					free[r.column] = append(free[r.column], v)
				}
			}
		case w.op == separator:
			b.errorf(w.pos, "unexpected comma").WithHint("Words stand apart by spaces, several values by |: free=null|''.")
		default:
			b.errorf(w.pos, "qgen:group has no word %q", orWord(w.name, w.pos.Text())).
				WithHint("%s Free text goes after \" -- \" or in parentheses.", groupHint(w))
		}
	}
}

// groupHint says what a word of qgen:group could have been.
func groupHint(w *word) string {
	switch w.name {
	case "limit":
		return "Write limit=1, or how many rows of one group may run at once, or limit=arg."
	case "fifo":
		return "Write fifo, which takes no value."
	case "free":
		return "Write free=<value>: rows with that value belong to no group."
	}
	return suggest(w.name, groupWords, "It takes")
}

// readGroupConfig reads the key group of qgen.yaml, which wins over the comments.
func (b *binding) readGroupConfig(g *Group, from *config.Group) {
	g.Pos = from.Pos
	if len(from.Columns) > 0 {
		g.Columns = nil
	}
	for _, name := range from.Columns {
		c := b.columnNamed(b.table, name.Value, name.Pos)
		switch {
		case c == nil:
		case slices.Contains(g.Columns, c):
			b.errorf(name.Pos, "column %q is named twice", c.Name).WithHint("Name each column of the group once.")
		default:
			g.Columns = append(g.Columns, c)
			column := b.columns[c]
			if column.Ignored {
				b.errorf(name.Pos, "column %q is ignored, but is part of the group", c.Name).WithHint("Leave one of the two out.")
			}
			if !slices.ContainsFunc(column.Roles, func(r Role) bool { return r.Verb == "group" }) {
				column.Roles = append(column.Roles, Role{Verb: "group", Pos: name.Pos})
			}
		}
	}
	if from.Limit.IsSet() {
		g.Limit, g.LimitSQL, g.Fifo = int(from.Limit.Value), "", false
	}
	if from.LimitSQL.IsSet() {
		g.Limit, g.Fifo = 0, false
		g.LimitSQL = b.limitSQL(from.LimitSQL, len(g.Columns) == 0)
	}
	if from.Fifo.IsSet() {
		g.Fifo = from.Fifo.Value
	}
	if from.When.IsSet() {
		g.When, _ = b.expression(asLiteral(from.When), nil)
	}
	if l := from.Lock; l != nil && l.Table.IsSet() && l.On.IsSet() {
		// The text is over two tables, which no single expression is read against.
		known := len(b.spec.Expressions)
		on, _ := b.expression(asLiteral(l.On), nil)
		b.spec.Expressions = b.spec.Expressions[:known]
		switch of := strings.Contains(on, "{row}"); {
		case len(g.Columns) > 0 && !of:
			b.errorf(l.On.Pos, "nothing in this condition is of the job, so every group would have the same row").
				WithHint(`Name the job's row as {row}: "id = {row}.tenant_id". Or name no column: then all rows of the queue are one group.`)
		case len(g.Columns) == 0 && of:
			b.errorf(l.On.Pos, "one row stands for all jobs, so that it cannot be told by one of them").
				WithHint(`Name the row itself: on: "id = 1". Or name the column in which the rows of a group are alike: column: tenant_id.`)
		}
		g.Lock = &GroupLock{On: on, Pos: l.Pos}
		b.findLock(g.Lock, l.Table)
	}
}

// limitArg has the caller of Claim say the limit.
func (b *binding) limitArg(pos source.Pos) string {
	b.argument(&b.spec.Params, &Param{Name: ArgRunning, Kind: Argument, GoType: "int", Pos: pos})
	return SaidLimit
}

// limitSQL reads a limit that is no number: the word arg, or SQL.
func (b *binding) limitSQL(from config.String, whole bool) string {
	if from.Value == "arg" {
		return b.limitArg(from.Pos)
	}
	if !strings.ContainsAny(from.Value, "({") && !source.Mentions(from.Value, "select") {
		b.errorf(from.Pos, "limit is %q, which is no number of rows", from.Value).WithHint("%s", OneLimit)
		return from.Value
	}
	sql, _ := b.expression(asLiteral(from), &b.spec.Params)
	if whole && strings.Contains(sql, "{row}") {
		b.errorf(from.Pos, "all rows of the queue are one group, so that no row can tell its limit").
			WithHint("Name the column in which the rows of a group are alike: column: tenant_id.")
	}
	return sql
}

// findLock finds the table that holds the rows for groups. The DDL need not have it.
func (b *binding) findLock(l *GroupLock, table config.String) {
	found := b.catalog.Lookup(table.Value, b.fold)
	switch len(found) {
	case 0:
		l.Table = b.fold(table.Value)
		if before, after, ok := strings.Cut(l.Table, "."); ok {
			l.Schema, l.Table = before, after
		}
	case 1:
		l.Known, l.Schema, l.Table = found[0], found[0].Schema, found[0].Name
	default:
		tableName{String: table, key: "table: "}.several(found, b.errs)
	}
}

// checkGroupColumn complains about a column that cannot tell groups apart.
func (b *binding) checkGroupColumn(g *Group, c *schema.Column) {
	pos := g.Pos
	for _, r := range b.roles["group"] {
		if r.column == c {
			pos = r.pos
		}
	}
	if c.Type.Array || slices.Contains([]schema.Class{schema.JSON, schema.Float}, c.Type.Class) {
		b.errorf(pos, "column %q is %s, which is not compared for being alike", c.Name, c.Type.Raw).
			WithHint("A group is told by a number, a text or a uuid.")
	}
	if name := b.changedBy(c); name != "" {
		b.errorf(pos, "column %q tells the group, but is written %s", c.Name, b.when(name)).
			WithHint("A row stays in its group while it is not finished. Mark another column.")
	}
}

// readMembers sets which rows belong to a group. A null is like nothing, not even
// another null.
func (b *binding) readMembers(g *Group, free map[*schema.Column][]Value) {
	for _, c := range g.Columns {
		values := free[c]
		null := slices.ContainsFunc(values, func(v Value) bool { return v.Kind == Null })
		if !c.NotNull && !null {
			values = append(slices.Clip(values), Value{Kind: Null})
			b.note("a row whose column %q is null belongs to no group", c.Name)
		}
		switch {
		case len(values) == 0:
		case len(values) == 1 && values[0].Kind == Null:
			g.Member = append(g.Member, Test{Column: c, Op: NotNull})
		default:
			g.Member = append(g.Member, Test{Column: c, Op: NotIn, Values: values})
		}
	}
	if g.When != "" {
		g.Member = append(g.Member, Test{Op: Raw, SQL: g.When})
	}
}

// counted are the tests of a row that counts as running. One whose claim has run out and
// that is simply claimed again does not: its worker is gone, and the group goes on. One that
// Recover has to reset counts until then.
func (b *binding) counted() []Test { return append(b.all(Running), b.runningMembers()...) }

// countGroup sets which rows of a group run and which wait.
func (b *binding) countGroup(g *Group) {
	k := &b.claims
	g.Running = b.counted()
	g.Waiting = b.all(Ready)
	if k.visible && !k.told {
		b.note("a row of a group that waits for its time counts as running: both are hidden by column %q", k.lease.column.Name)
	}
	if !g.Fifo {
		g.Waiting = append(g.Waiting, b.narrow...)
		return
	}
	// Whose time has not come blocks those behind it; who is narrowed otherwise, or
	// never comes, does not.
	for i, t := range b.narrow {
		hasArgument := t.Op == Raw && strings.Contains(t.SQL, "{arg:")
		if i != b.dueAt && !hasArgument {
			g.Waiting = append(g.Waiting, t)
		}
	}
	if r := k.dueRole(); b.dueAt >= 0 && r != nil && !r.column.NotNull && r.value("null") == "never" {
		g.Waiting = append(g.Waiting, Test{Column: r.column, Op: NotNull})
	}
}

// runningMembers tests which running rows that Recover leaves alone, since they are none of
// the queue's any more, count in their group still: those whose claim has not run out.
// Where time alone ends a claim, Recover is not asked, and all of them count.
func (b *binding) runningMembers() []Test {
	if b.spec.Transitions[Recover] == nil && b.spec.Transitions[GiveUp] == nil {
		return nil
	}
	members := slices.Clone(b.spec.Members)
	for _, t := range b.runOut() {
		t.Op = Greater
		for i := range members {
			members[i].Or = append(slices.Clip(members[i].Or), t)
		}
	}
	return members
}

// orderGroup sets the order of the rows of one group.
func (b *binding) orderGroup(g *Group) {
	var have []*schema.Column
	add := func(t OrderTerm) {
		if !slices.Contains(have, t.Column) {
			have, g.Order = append(have, t.Column), append(g.Order, t)
		}
	}
	for _, t := range b.spec.Order {
		switch {
		case t.Column == nil && g.Fifo && !b.checkSteady(g, t):
			return
		case t.Column == nil:
			g.Order = append(g.Order, t)
		case g.Fifo && b.changedBy(t.Column) != "":
			b.note("the order of a group leaves column %q out, which changes when a job is tried again", t.Column.Name)
		case !slices.Contains(g.Columns, t.Column): // alike in all rows of the group
			add(t)
		}
	}
	if b.unique(have) {
		return
	}
	if s := b.spec.Seq; s != nil && g.Fifo {
		add(OrderTerm{Column: s})
	} else if e := b.spec.Enqueued; e != nil && g.Fifo {
		add(OrderTerm{Column: e})
	}
	if b.unique(have) {
		return
	}
	for _, c := range b.spec.Key {
		add(OrderTerm{Column: c, Tie: true})
	}
}

// checkSteady complains about a term of the order by which a job does not keep its place in a
// group until it is finished; false where it does.
func (b *binding) checkSteady(g *Group, t OrderTerm) bool {
	complain := func(format string, args ...any) bool {
		b.errorf(g.Pos, "fifo needs an order that can be compared row by row, and this queue's "+format, args...).
			WithHint("%s", SteadyOrder)
		return false
	}
	switch {
	case t.Random:
		return complain("is random")
	case source.Mentions(t.SQL, "select"):
		return complain("holds a sub-query")
	case strings.Contains(t.SQL, "{now}"), strings.Contains(t.SQL, "{time}"), strings.Contains(t.SQL, "{today}"):
		return complain("changes with the time")
	}
	for _, c := range b.table.Columns {
		if step := b.changedBy(c); step != "" && b.spec.Reads(t.SQL, c) {
			return complain("reads column %q, which is written %s", c.Name, b.when(step))
		}
	}
	return true
}

// SteadyOrder says which order rows of a group can have that run one after the other.
const SteadyOrder = "Order by what stays while a job waits: qgen:order at columns or by an expression over them, or none for the order in which rows came."

// changedBy returns the first step that writes a column while a job is not finished, ""
// when none does.
func (b *binding) changedBy(c *schema.Column) TransitionName {
	for _, name := range []TransitionName{Claim, Start, Retry, Release, Renew, Recover} {
		t := b.spec.Transitions[name]
		if t != nil && slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == c }) {
			return name
		}
	}
	return ""
}

// text describes a group as people say it.
func (g *Group) text() string {
	of, limit := names(g.Columns), strconv.Itoa(g.Limit)
	if len(g.Columns) == 0 {
		of = "all rows"
	}
	if g.LimitSQL != "" {
		limit = "[" + g.LimitSQL + "]"
	}
	text := of + " limit " + limit
	if g.Fifo {
		text = names(g.Columns) + " fifo"
	}
	if len(g.Member) > 0 {
		text += " where " + conjunction(g.Member)
	}
	if g.Lock != nil {
		text += " lock " + g.Lock.QualifiedName() + " [" + g.Lock.On + "]"
	}
	text += "; runs: " + conjunction(g.Running)
	if len(g.Columns) == 0 {
		return text
	}
	return text + "; waits: " + conjunction(g.Waiting)
}
