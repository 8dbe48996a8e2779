package plan

// This file plans tables whose rows are only added: each group of consumers
// reads them behind a mark, which a side table keeps.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// offsetLease is for how long a claim is good when WithLease says nothing.
const offsetLease = 5 * time.Minute

// mostGroup is the longest name of a group and of a worker, in characters.
const mostGroup = 190

// means is how a claim sees to it that no row appears below its mark later.
type means string

const (
	byTransaction means = "transaction" // rows are ordered by the number of the transaction that added them
	byVersion     means = "version"     // rows are ordered by what the database counts up with every write
	bySettling    means = "settle"      // rows are old enough
	byWriters     means = "writers"     // the transactions that may still add rows have been seen to end
	inOrder       means = "order"       // rows appear in order
)

// offsetPlan is what the statements of a log have in common.
type offsetPlan struct {
	means   means
	number  *schema.Column // of byTransaction: the number of the transaction
	horizon string         // of byTransaction: no transaction below it runs
	side    *schema.Table
	marks   []*schema.Column // of side, in the order of at
	at      []*schema.Column // of the table
	bound   *Field           // of byWriters: how far rows are seen
}

// possibleOffset tells whether rows can be read behind a mark.
func (b *builder) possibleOffset() (bool, string, string) {
	switch log := b.spec.Log; {
	case log == nil:
		return false, "rows are written when they are taken or finished, not only added",
			"Leave out what tells the state of a row, and mark the column that grows with insertion with qgen:seq."
	case b.spec.Table.View:
		return false, "nothing is known of the order in which rows of a view appear", "Name the table behind it."
	}
	return true, "rows are only added, in the order of " + plainText(b.spec.Seq.Name) + ": each group of consumers reads them behind its mark, which the table " + plainText(b.sideName()) + " keeps", ""
}

// checkOffset complains about what a log asks of a server or of its DDL.
func (b *builder) checkOffset(q *config.Queue, errs *source.ErrorList) {
	if b.pkg.Strategy != "offset" {
		return
	}
	log, t := b.spec.Log, b.spec.Table
	if b.cluster {
		errs.Errorf(log.Pos, "a node of %s may learn late of rows that were added on another, and would find them behind its mark", b.d.Cluster).
			WithHint("Have all producers and consumers of the table use one node, and leave cluster: out.")
	}
	if b.spec.Procedures {
		errs.Errorf(b.spec.StoredPos, "the statements over %s are not written as procedures", plainText(b.sideName())).WithHint("Leave emit: out.")
	}
	if len(b.spec.Params) > 0 {
		errs.Errorf(b.spec.Params[0].Pos, "a group has one mark, whatever the argument of a claim").
			WithHint("Write the condition without {arg:…}, or let the handler pass over rows that are not for it.")
	}
	if len(q.Payload) > 0 {
		errs.Errorf(q.Payload[0].Pos, "what is read behind a mark has no columns of other tables").
			WithHint("Leave payload_from out, and read the other table in the handler, by the key of the row.")
	}
	if len(b.spec.Names) > 0 {
		errs.Errorf(log.Pos, "the marks of tables whose names are made at run time would stand in tables of as many names").
			WithHint("Name one table for each entry of qgen.yaml, and leave table= out.")
	}
	if g := q.Gen.Go; g != nil && g.Conformance.Value {
		errs.Errorf(g.Conformance.Pos, "conformance: true is not possible here: the test is about rows that tell their state").WithHint("Leave it out.")
	}
	if g := q.Gen.Go; g != nil && g.Worker.Value {
		errs.Errorf(g.Worker.Pos, "worker: true is not possible here: a group reads one batch at a time, in order").
			WithHint("Leave it out, and call Claim and Complete in a loop of your own.")
	}
	if b.spec.Seq.Identity && b.d.ScatteredIDs != "" {
		errs.Errorf(log.Pos, "column %q does not grow with insertion: %s", b.spec.Seq.Name, b.d.ScatteredIDs).
			WithHint("Mark the time of insertion instead: qgen:seq notunique settle=60s.")
		return
	}
	o := &offsetPlan{}
	b.offset = o
	if o.number, o.horizon = b.transactionNumber(); o.number != nil {
		o.means, o.at = byTransaction, []*schema.Column{o.number, b.spec.Seq}
		b.spec.Order = append([]queue.OrderTerm{{Column: o.number}}, b.spec.Order...)
		return
	}
	o.at = []*schema.Column{b.spec.Seq}
	if b.spec.Seq.Type.Versioned {
		o.means = byVersion
		return
	}
	counted := b.spec.Seq.Identity && !log.NotUnique
	switch {
	case log.Settled && log.Settle > 0:
		o.means = bySettling
	case log.Settled, b.d.SingleWriter:
		o.means = inOrder
	case b.can(dialect.WriterLocks) && counted && !t.Partitioned && !t.Inherited && t.PartitionOf == "":
		o.means = byWriters
	default:
		why := "a row that is added before others may appear after them, when its transaction takes longer, and would then be behind the mark"
		if b.can(dialect.WriterLocks) {
			why += "; the server tells who may still add one only for the numbers that it counts up itself, in a table without partitions"
		}
		e := errs.Errorf(log.Pos, "%s", why)
		hint := "Say how long to wait for such rows, at least twice the time that the longest transaction takes which adds some: qgen:seq settle=60s, with qgen:enqueued on the column that keeps the time of insertion. Where one at a time adds rows: settle=0s."
		if b.can(dialect.Numbered) {
			hint += " Or add a column with the number of the transaction: " + b.d.Fragments["number_column"].At(b.version) + "."
		}
		e.WithHint("%s", hint)
	}
}

// transactionNumber finds a column that keeps the number of the transaction which
// added a row, and the number below which none runs.
func (b *builder) transactionNumber() (*schema.Column, string) {
	if !b.can(dialect.Numbered) {
		return nil, ""
	}
	given := map[*schema.Column]string{}
	for _, c := range b.spec.Columns {
		given[c.Column] = c.Default
	}
	if t := b.spec.Transitions[queue.Enqueue]; t != nil {
		for _, w := range t.Writes {
			if w.Value.Kind == queue.SQLExpr {
				given[w.Column] = w.Value.Text
			}
		}
	}
	for _, c := range b.spec.Columns {
		text := strings.ToLower(strings.Join(strings.Fields(given[c.Column]), ""))
		if horizon := b.d.TransactionNumbers[text]; horizon != "" && c.NotNull && !c.Ignored {
			return c.Column, horizon
		}
	}
	return nil, ""
}

// sideName is the stored name of the side table.
func (b *builder) sideName() string {
	return b.d.Shorten(b.spec.Table.Name + b.d.Fold("_offset"))
}

// buildOffset plans all operations of a log.
func (b *builder) buildOffset() {
	o := b.offset
	p := &Offset{NotUnique: b.spec.Log.NotUnique, Lease: offsetLease, MostGroup: mostGroup, Settles: o.means == bySettling,
		Apart: o.means == bySettling || o.means == byVersion}
	b.pkg.Offset, b.pkg.Worker, b.pkg.Guarantee = p, true, queue.FenceToken
	b.markTable(p)
	if o.side == nil {
		return
	}
	for i, c := range o.at {
		f := b.fields[c]
		f.Null = false
		mark := *f
		mark.Column, mark.Null = o.marks[i].Name, true
		p.At, p.Mark = append(p.At, f), append(p.Mark, &mark)
	}
	b.offsetReads(p)
	b.offsetWrites(p)
	b.offsetStats()
	if b.spec.Log.DeletePassed {
		b.offsetPurge(p)
	}
	b.docOffset(p)
}

// markTable writes the DDL of the side table and reads it as the server would.
func (b *builder) markTable(p *Offset) {
	o := b.offset
	v := b.sideBase("Create")
	for _, c := range o.at {
		kind := c.Type.Raw
		switch {
		case c.Type.Versioned:
			kind = b.d.VersionType
		case c.Type.Class == schema.Int:
			kind = b.typeName(c.Type)
		}
		v.Declared = append(v.Declared, b.d.Ident(b.markName(c))+" "+kind)
	}
	side, ddl := b.readOwn("schema/offset.sql", v, "offset")
	if side == nil {
		return
	}
	p.DDL, p.Table, o.side = ddl[0], b.sideName(), side
	for _, c := range o.at {
		o.marks = append(o.marks, o.side.Column(b.markName(c)))
	}
	lease := b.sideColumn("lease_till")
	role := &queue.Column{Column: lease, Clock: "utc"}
	if lease.Type.Class == schema.Int {
		role.As = "epoch_ms"
	}
	b.roles[lease] = role
}

// markName names the column of the side table that keeps a column of the mark.
func (b *builder) markName(c *schema.Column) string {
	return b.d.Shorten(b.d.Fold("mark_") + c.Name)
}

// sideColumn returns a column of the side table by its name.
func (b *builder) sideColumn(name string) *schema.Column {
	return b.offset.side.Column(b.d.Fold(name))
}

// sideBase fills what every statement over the side table has.
func (b *builder) sideBase(op string) values {
	v := b.base(op)
	v.of(b.d, &schema.Table{Schema: b.spec.Table.Schema, Name: b.sideName()})
	v.Plain, v.Served, v.Passed = true, "", ""
	return v
}

// local is an argument that the emitted code has in a variable.
func (s *scope) local(name string) string { return s.arg(Arg{Kind: ArgLocal, Name: name}) }

// markArgs are the columns of a mark as arguments.
func (s *scope) markArgs() []string {
	var texts []string
	for i, c := range s.offset.at {
		texts = append(texts, s.write(c, s.arg(Arg{Kind: ArgNew, Field: s.pkg.Offset.Mark[i]})))
	}
	return texts
}

// positions are the columns of the table that a mark is compared with.
func (s *scope) positions() []string {
	var texts []string
	for _, c := range s.offset.at {
		texts = append(texts, s.column(c))
	}
	return texts
}

// rowValue is one value, or several as a row.
func rowValue(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// sideText writes a column of the side table.
func (s *scope) sideText(name string) string { return s.d.Ident(s.sideColumn(name).Name) }

// unclaimed is the condition that no claim runs.
func (s *scope) unclaimed() string {
	return s.sideText("token") + " IS NULL OR " + s.sideText("lease_till") + " <= " + s.clock(s.sideColumn("lease_till"), nil)
}

// claimed are the conditions of the row of a claim.
func (s *scope) claimed() []string {
	return []string{s.sideText("consumer_group") + " = " + s.local("group"), s.sideText("token") + " = " + s.local("token")}
}

// counts is the assignment that every write to the side table makes, by which a
// claim tells that nothing happened since it read the mark.
func (s *scope) counts() string { return s.sideText("turn") + " = " + s.sideText("turn") + " + 1" }

// offsetReads plans what a claim reads.
func (b *builder) offsetReads(p *Offset) {
	s, v := b.newScope(), b.sideBase("Claim")
	v.Returning = []string{s.sideText("turn"), "CASE WHEN " + s.unclaimed() + " THEN 1 ELSE 0 END"}
	for i, c := range b.offset.at {
		v.Returning = append(v.Returning, b.readMark(c, b.d.Ident(b.offset.marks[i].Name)))
	}
	v.Where = []string{s.sideText("consumer_group") + " = " + s.local("group")}
	p.Progress = s.statement("claim_mark", "select", v, nil, "claim: how far the group came, and whether a consumer has a claim", "locks: none")

	s, v = b.newScope(), b.sideBase("Claim")
	v.Columns = []string{s.sideText("consumer_group"), s.sideText("turn")}
	v.Values = []string{s.local("group"), "0"}
	p.Begin = s.statement("claim_begin", "offset_begin", v, nil, "claim: a new group, which has read nothing", "locks: the row that it adds, until commit")

	p.BeginFails = !b.can(dialect.InsertAbsent)
	if b.offset.means == byWriters {
		s, v = b.newScope(), b.base("Claim")
		v.Figures = []string{"max(" + s.column(b.spec.Seq) + ")"}
		p.Bound = s.statement("claim_bound", "offset_bound", v, nil,
			"claim: how far rows are seen, and the transactions that may still add some below", "locks: none")
	}
	p.First = b.rowsBehind("claim_first", "claim: the first rows, for a group that has read nothing", nil, false)
	p.Next = b.rowsBehind("claim_next", "claim: rows behind the mark", func(s *scope) string {
		return rowValue(s.positions()) + " > " + rowValue(s.markArgs())
	}, false)
	if p.NotUnique {
		p.Alike = b.rowsBehind("claim_alike", "claim: all rows of one value, where they are more than limit", func(s *scope) string {
			return rowValue(s.positions()) + " = " + rowValue(s.markArgs())
		}, true)
	}
}

// readMark reads a mark as the column of the table is read.
func (b *builder) readMark(c *schema.Column, text string) string {
	if form := b.rule(c).Read; form != "" {
		return dialect.Fill(form, "column", text)
	}
	return text
}

// rowsBehind reads rows of the table in order.
func (b *builder) rowsBehind(name, head string, behind func(*scope) string, all bool) *Statement {
	s, v := b.newScope(), b.base("Claim")
	v.Plain = true
	if behind != nil {
		v.Where = append(v.Where, behind(s))
	}
	switch b.offset.means {
	case byWriters:
		v.Where = append(v.Where, s.column(b.spec.Seq)+" <= "+s.arg(Arg{Kind: ArgNew, Field: b.boundField()}))
	case byTransaction:
		v.Where = append(v.Where, s.column(b.offset.number)+" < "+b.offset.horizon)
	case byVersion:
		v.Horizon = horizon{b.d.Fragments["horizon"].At(b.version), b.d.VersionType, b.d.VersionHorizon}
		v.Where = append(v.Where, s.column(b.spec.Seq)+" < "+v.Horizon.Variable)
	}
	v.Where = append(v.Where, s.tests(b.stateTests(queue.Ready))...)
	v.Order = s.order()
	if !all {
		s.limit(&v, 0)
	}
	v.Returning = s.read(b.pkg.Fields)
	if b.offset.means == bySettling {
		since := b.spec.Log.Since
		settled := s.clock(since, &queue.Shift{Minus: true, Fixed: b.spec.Log.Settle})
		v.Returning = append([]string{"CASE WHEN " + s.column(since) + " <= " + settled + " THEN 1 ELSE 0 END"}, v.Returning...)
	}
	return s.statement(name, "select", v, b.pkg.Fields, head, "locks: none", b.readyHead())
}

// boundField is the bound of a claim: how far rows are seen.
func (b *builder) boundField() *Field {
	if b.offset.bound == nil {
		f := *b.fields[b.spec.Seq]
		f.Name, f.Null = "Bound", false
		b.offset.bound = &f
	}
	return b.offset.bound
}

// sideUpdate writes the row of a group.
func (b *builder) sideUpdate(name, op string, set func(s *scope) []string, where func(s *scope) []string, head ...string) *Statement {
	s, v := b.newScope(), b.sideBase(op)
	v.Set = set(s)
	v.Where = where(s)
	return s.statement(name, "update_one", v, nil, append(head, "locks: the row of the group, until commit")...)
}

// offsetWrites plans what changes the row of a group.
func (b *builder) offsetWrites(p *Offset) {
	held := (*scope).claimed
	marks := func(s *scope) []string {
		var set []string
		for i, text := range s.markArgs() {
			set = append(set, s.d.Ident(s.offset.marks[i].Name)+" = "+text)
		}
		return set
	}
	const fence = "fence: token as the claim left it"
	p.Take = b.sideUpdate("claim", "Claim", func(s *scope) []string {
		return []string{
			s.sideText("token") + " = " + s.local("token"),
			s.sideText("worker") + " = " + s.arg(Arg{Kind: ArgWorker, Max: mostGroup}),
			s.sideText("lease_till") + " = " + s.clock(s.sideColumn("lease_till"), &queue.Shift{Arg: queue.ArgLease}),
			s.sideText("passed") + " = 0", s.sideText("finished") + " = NULL", s.counts(),
		}
	}, func(s *scope) []string {
		return []string{s.sideText("consumer_group") + " = " + s.local("group"), s.sideText("turn") + " = " + s.local("turn")}
	}, "claim: the rows that were read, unless anything happened to the group since")
	p.Advance = b.sideUpdate("complete", "Complete", func(s *scope) []string {
		return append(marks(s), s.sideText("passed")+" = "+s.local("passed"), s.sideText("token")+" = "+s.local("left"), s.counts())
	}, func(s *scope) []string {
		return append(s.claimed(), s.sideText("passed")+" = "+s.local("before"), s.sideText("finished")+" IS NULL")
	}, "complete: the next rows of the claim, to which the mark moves", fence)
	p.Lock = b.sideUpdate("complete_lock", "Complete", func(s *scope) []string { return []string{s.counts()} }, held,
		"complete: locks the row of the group, where rows are finished out of order", fence)
	s, v := b.newScope(), b.sideBase("Complete")
	v.Returning = []string{s.sideText("passed"), s.sideText("finished")}
	v.Where = s.claimed()
	p.Held = s.statement("complete_read", "select", v, nil, "complete: what is finished of the claim", fence, "locks: none")
	p.Pass = b.sideUpdate("complete_pass", "Complete", func(s *scope) []string {
		return append(marks(s), s.sideText("passed")+" = "+s.local("passed"), s.sideText("finished")+" = "+s.local("finished"), s.sideText("token")+" = "+s.local("left"))
	}, held, "complete: the mark moves to just before the first row that is not finished", fence)
	p.Note = b.sideUpdate("complete_note", "Complete", func(s *scope) []string {
		return []string{s.sideText("finished") + " = " + s.local("finished")}
	}, held, "complete: remembers finished rows behind one that is not", fence)
	p.Requeue = b.sideUpdate("requeue", "Requeue", func(s *scope) []string {
		return []string{s.sideText("token") + " = NULL", s.sideText("finished") + " = NULL", s.counts()}
	}, held, "requeue: the claim ends, and what the mark has not passed comes again", fence)
	p.Extend = b.sideUpdate("extend", "Extend", func(s *scope) []string {
		return []string{s.sideText("lease_till") + " = " + s.clock(s.sideColumn("lease_till"), &queue.Shift{Arg: queue.ArgLease}), s.counts()}
	}, held, "extend: the lease of the claim begins anew", fence)
	p.Rewind = b.sideUpdate("rewind", "Rewind", func(s *scope) []string {
		var set []string
		for _, c := range s.offset.marks {
			set = append(set, s.d.Ident(c.Name)+" = NULL")
		}
		return append(set, s.sideText("token")+" = NULL", s.sideText("finished")+" = NULL", s.counts())
	}, func(s *scope) []string { return []string{s.sideText("consumer_group") + " = " + s.local("group")} },
		"rewind: the group has read nothing; a claim that runs is lost")
}

// offsetStats plans the figures of each group.
func (b *builder) offsetStats() {
	s, v := b.newScope(), b.sideBase("Stats")
	table := b.d.Qualified(b.spec.Table.Schema, b.spec.Table.Name)
	var behind, marks []string
	for i, c := range b.offset.at {
		behind = append(behind, b.qualified()+b.d.Ident(c.Name))
		marks = append(marks, v.Bare+"."+b.d.Ident(b.offset.marks[i].Name))
	}
	from := func(figure string) string {
		return "CASE WHEN " + marks[0] + " IS NULL THEN (SELECT " + figure + " FROM " + table + ")" +
			" ELSE (SELECT " + figure + " FROM " + table + " WHERE " + rowValue(behind) + " > " + rowValue(marks) + ") END"
	}
	st := &Stats{PerGroup: true}
	add := func(name, goType, doc, sql string) {
		st.Fields = append(st.Fields, StatsField{Name: name, GoType: goType, Doc: doc})
		v.Returning = append(v.Returning, sql)
	}
	add("Group", "string", "the group's name", s.sideText("consumer_group"))
	add("Lag", "int64", "rows behind the mark", from("count(*)"))
	add("Claims", "int64", "1 while a consumer has a claim that is good, else 0", "CASE WHEN "+s.unclaimed()+" THEN 0 ELSE 1 END")
	if since := cmp.Or(b.spec.Log.Since, b.spec.Enqueued); since != nil {
		if age := s.age(since, nil, func(column string) string { return "(" + from("min("+b.qualified()+column+")") + ")" }); age != "" {
			add("OldestLag", "time.Duration", "how long the oldest row behind the mark has been there", age)
		}
	}
	st.Statement = s.statement("stats", "select", v, nil, "stats: how far each group came", "locks: none")
	st.Doc = []string{
		"Stats tells of each group that ever claimed how far it is behind. It counts the rows behind every mark: call it for dashboards, not in loops.",
		reads,
	}
	b.pkg.Stats = st
}

// offsetPurge plans Purge: what every group has passed, but for the last row of
// it, which keeps the database from giving its number to a new row.
func (b *builder) offsetPurge(p *Offset) {
	s, v := b.newScope(), b.sideBase("Purge")
	side := v.Table
	null := b.d.Ident(b.offset.marks[0].Name) + " IS NULL"
	v.Where = []string{"NOT EXISTS (SELECT 1 FROM " + side + " WHERE " + null + ")"}
	for i, c := range b.offset.at {
		v.Returning = append(v.Returning, b.readMark(c, b.d.Ident(b.offset.marks[i].Name)))
		v.Order = append(v.Order, b.d.Ident(b.offset.marks[i].Name))
	}
	v.Limit = "1"
	p.Lowest = s.statement("purge_mark", "select", v, nil, "purge: the lowest mark, none while a group has read nothing", "locks: none")

	s, v = b.newScope(), b.base("Purge")
	v.Where = []string{rowValue(s.positions()) + " < " + rowValue(s.markArgs())}
	if c := b.spec.Enqueued; c != nil && b.clockKind(c) != "" {
		p.OlderThan = true
		v.Where = append(v.Where, s.test(olderThan(c)))
	}
	s.limit(&v, 0)
	suffix := s.pick(&v)
	rows := b.counted()
	s.returns(&v, "delete", rows)
	s.taken(&v)
	p.Purge = s.statement("purge", "delete_some"+suffix, v, rows, "purge: rows that every group has passed",
		"locks: the rows it deletes, until commit; passes over rows that are locked", b.readyHead())
}

// verifyOffset checks the side table as well.
func (b *builder) verifyOffset(v *values) {
	*v = b.sideBase("Verify")
	for _, c := range b.offset.side.Columns {
		v.Wanted = append(v.Wanted, b.inCatalog(c))
	}
}

// statements lists the statements of a log in a fixed order.
func (o *Offset) statements() []*Statement {
	return slices.DeleteFunc([]*Statement{
		o.Progress, o.Begin, o.Bound, o.First, o.Next, o.Alike, o.Take, o.Advance, o.Lock, o.Held, o.Pass, o.Note,
		o.Requeue, o.Extend, o.Rewind, o.Lowest, o.Purge,
	}, func(s *Statement) bool { return s == nil })
}

// docOffset writes the comments of the operations.
func (b *builder) docOffset(p *Offset) {
	side := plainText(b.sideName())
	row := b.locksOfWrite("It locks the row of the group in " + side + " until it commits.")
	claim := "Claim takes up to limit rows behind the mark of a group, for one consumer of the group at a time: while its claim is good, others of the group get no jobs and a nil error, as when there are no rows. The rows come in the order of " + plainText(b.spec.Seq.Name) + ". A group that is new begins with the first row of the table."
	if p.NotUnique {
		claim += " Rows that are alike in " + plainText(b.spec.Seq.Name) + " are taken together: the batch ends before those that do not fit, and is longer than limit where more rows than that are alike."
	}
	p.ClaimDoc = append(p.ClaimDoc, claim, b.lateRows())
	if p.Apart {
		p.ClaimDoc = append(p.ClaimDoc, "It is an error in the caller's transaction, which may not see rows that were committed since it began, and would pass over them.")
	}
	p.ClaimDoc = append(p.ClaimDoc, b.pkg.Locks+" "+b.pkg.Crash)
	const lost = "It acts only on the claim that a job came from: for a job whose claim was given back or taken by another since, or that is settled already, it returns an error that is ErrLost and, as a *LostError, names their keys; the rest is done."
	p.CompleteDoc = []string{
		"Complete finishes jobs. The mark of their group moves to just before the first job of the claim that is not finished; those that are finished behind it are remembered in the row of the group, and passed when it is. When all jobs of the claim are finished, the claim ends and another consumer may go on.",
		lost,
		row + " " + whole + " After an error it may be called again.",
	}
	p.RequeueDoc = []string{
		"Requeue gives the claims back that the jobs are of, at once: all that their marks have not passed comes again, also jobs that were finished out of order.",
		lost,
		row + " " + whole + " After an error it may be called again.",
	}
	p.ExtendDoc = []string{
		"Extend begins the lease of the claims that the jobs are of anew, from now. Call it while work takes longer than the lease, at least twice per lease.",
		lost,
		row + " " + whole + " After an error it may be called again.",
	}
	p.RewindDoc = []string{
		"Rewind lets a group begin again with the first row of the table. A claim of the group that runs is lost.",
		row + " " + whole,
	}
	p.PeekDoc = []string{
		"Peek reads up to limit rows behind the mark of a group, in order, without taking them. A consumer may have a claim on them, so what it returns is for people to look at, not to work on.",
		reads,
	}
	p.PurgeDoc = []string{
		"Purge deletes up to limit rows that every group has passed, and returns how many; none while a group has read nothing. The last of them stays, so that the database does not give its number away again. A group that begins later begins with what is left.",
		b.locksOfWrite("It locks the rows it deletes until it commits.") + " " + whole,
	}
	if p.OlderThan {
		p.PurgeDoc[0] = strings.Replace(p.PurgeDoc[0], "every group has passed,", "every group has passed and that are older than olderThan, by the database's clock,", 1)
	}
}

// lateRows says how rows are not passed over that appear late.
func (b *builder) lateRows() string {
	seq := plainText(b.spec.Seq.Name)
	switch o := b.offset; o.means {
	case byTransaction:
		return "Rows come in the order of " + plainText(o.number.Name) + " first, the number of the transaction that added them, and only when no transaction of that number or a lower one runs any more: so none can appear behind the mark."
	case byVersion:
		return "A row is taken when no transaction runs any more that may have given a lower " + seq + " to another: so none can appear behind the mark. A row that is changed gets a higher one, and is taken again."
	case bySettling:
		return fmt.Sprintf("A row is taken when it was added %s ago, and not before any in front of it. A row whose transaction takes longer may appear behind the mark, and is then never read: no transaction that adds rows may take longer than half of that, from its beginning to its end.", interval(b.spec.Log.Settle))
	case byWriters:
		return "A row is taken when every transaction has ended that was writing to the table when the row was first seen, since it may have had a lower " + seq + ": so none can appear behind the mark. Until then a claim finds no row, and the next one looks again. That asks of producers to leave " + seq + " to its default, whose sequence must have CACHE 1, as it has unless it was altered."
	}
	if b.spec.Log.Settled {
		return "Rows must appear in the order of " + seq + ": one at a time may add rows. A row that appears behind the mark is never read."
	}
	return "One at a time writes to the database, so rows appear in the order of " + seq + "."
}

// offsetDiagram draws what moves the mark of a group.
func (b *builder) offsetDiagram() string {
	lines := []string{
		"\trows   -------------------------|--------------|------------------> later",
		"\t        passed by the group     mark  claimed    Claim takes the next",
	}
	if b.pkg.Enqueue != nil {
		lines[0] = "\trows   -------------------------|--------------|---------<-- Enqueue"
	}
	return strings.Join(lines, "\n")
}
