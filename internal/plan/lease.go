package plan

// This file plans claims that are held in a side table: who has a row stands
// there, under the row's key, and the row itself stays as it is until its job is
// finished. The side table is read as a queue of its own, so that what settles a
// job there are the statements of settle.go over another table.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// LeaseTable is the side table that a package needs beside the queue's own.
type LeaseTable struct {
	Name string   // qualified, as people say it
	Head []string // the comment of its file
	DDL  []string // creates it; nil where it is the user's own
}

// leaseValues fill the holes of a template that claims in a side table.
type leaseValues struct {
	Table     string            // qualified
	Bare      string            // its bare name
	Key       []string          // its columns that repeat the key
	Columns   []string          // of an insert
	Values    []string          // of an insert, over a picked row
	Set       []string          // assignments that take over a claim that has run out
	Guarded   []string          // the same, each of which leaves its column alone where the claim is good; those that Guard reads come last
	Guard     []string          // conditions under which a claim may be taken over
	Same      []string          // assignments that change nothing
	Given     []string          // the key of a row of the batch, named
	Match     []string          // picked rows joined to the side table
	Joined    []string          // claims joined to the rows of the queue
	Returning []string          // what the claims give to the rest of the statement
	Defined   []string          // definitions of the columns that repeat the key
	Named     map[string]string // the other columns by what they hold
	Index     string            // what the names of its indexes begin with
}

// leasable reports whether a side table can hold the claims.
func (b *builder) leasable() (bool, string, string) {
	c, verb := b.spec.HeldByRow()
	switch {
	case b.hasRunning():
		return false, "the table has a running state, which a claim can write", "Leave out what marks a running row, or leave the side table out."
	case b.spec.Log != nil:
		return false, "rows are only added, and nothing is claimed but what stands behind a mark", "Leave out qgen:seq, and say what becomes of a finished row, or leave the side table out."
	case slices.ContainsFunc(queue.TransitionNames, func(name queue.TransitionName) bool { return name != queue.Enqueue && b.hasCompanions(name) }):
		return false, "the steps of a job write other tables, and a claim in a side table does not bring those along", "Leave also: and move: out and write the other tables in the transaction of the handler, with WithTx; or leave the side table out."
	case len(b.spec.Outcomes) > 0:
		return false, "claims in a side table end by Complete, Fail and Requeue, and by no outcomes of the user's", "Leave outcomes out and write the columns in the handler's transaction, with WithTx; or leave the side table out."
	case slices.ContainsFunc(queue.TransitionNames, b.takesGiven):
		return false, "a step of a job takes an argument (set arg:), and claims in a side table do not", "Write the column in the handler's transaction, with WithTx, or an expression in double quotes in place of the argument; or leave the side table out."
	case b.spec.Cycle != nil:
		return false, "a row of the queue is written when its job ends and not before, and with cycle no job ends", "Leave cycle out, or leave the side table out."
	case b.spec.Backoff.Expr != nil:
		return false, "what waits after a failure is a row of the side table, of which backoff.expr knows nothing", "Say base, factor and max in the place of backoff.expr; or leave the side table out."
	case len(b.spec.PayloadFrom) > 0:
		return false, "a claim in a side table does not read columns of other tables", "Leave payload_from out and read the other table in the handler, by the key of the job; or leave the side table out."
	case len(b.spec.Names) > 0:
		return false, "the side tables of tables whose names are made at run time would have as many names", "Name one table for each entry of qgen.yaml, and leave table= out; or leave the side table out."
	case b.spec.Table.View:
		return false, "a view has no rows of its own to lock", "Name the table behind it."
	case len(b.spec.Key) == 0:
		return false, "rows have no key by which a side table could name them", "Mark unique columns with qgen:id, or say strategy=hold."
	case c != nil:
		return false, fmt.Sprintf("column %q is qgen:%s, which the side table holds, and the row is to stay as it is", c.Name, verb),
			fmt.Sprintf("Leave qgen:%s out.", verb)
	case b.spec.Procedures:
		return false, "a stored procedure cannot hold the statements over two tables", "Leave emit=procedure out."
	case !b.can(dialect.Upsert):
		return false, b.d.Title + " " + b.version.String() + " cannot add a row or take over the one that is there in one statement", b.sinceMend(dialect.Upsert)
	}
	return true, "claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished", ""
}

// leases decides whether a side table holds the claims: where it is asked for, or
// where a table without a status has nothing else on a server without row locks.
func (b *builder) leases() (bool, string, string) {
	const notAsked = "no side table is asked for"
	ok, why, mend := b.leasable()
	asked := b.spec.Side != nil
	switch {
	case !ok && asked:
		return false, why, mend
	case !ok:
		return false, why, ""
	case asked, !b.can(dialect.RowLocks) && !b.tells(queue.Ready) && b.spec.DoneDeletes:
		return true, why, ""
	case b.shardOnly():
		return false, notAsked, ""
	}
	return false, notAsked, "Say side_table: true in qgen.yaml, and create the table of schema/lease.sql beside this one."
}

// bringSide makes a builder over the side table, where one holds the claims.
func (b *builder) bringSide(errs *source.ErrorList) {
	if b.pkg.Strategy != "lease_table" {
		return
	}
	side := queue.Side{Length: queue.SideLease}
	if b.spec.Side != nil {
		side = *b.spec.Side
	}
	b.pkg.Notes = slices.DeleteFunc(b.pkg.Notes, func(n string) bool { return n == queue.NeverFails })
	sb := *b
	sb.rows, sb.shared, sb.nullsFirst, sb.untied, sb.unserved = b, nil, false, false, false
	if side.Table == nil {
		if side.Table = b.layOut(&side, errs); side.Table == nil {
			return
		}
	} else {
		b.pkg.LeaseTable = &LeaseTable{Name: side.Table.QualifiedName()}
	}
	sb.spec = b.spec.Beside(&side)
	b.side, b.held = &sb, side
	if !b.canTell(errs) {
		return
	}
	for _, c := range sb.spec.Columns {
		if i := slices.Index(side.Columns.Key, c.Column); i >= 0 {
			f := *b.fields[b.spec.Key[i]]
			f.Column = c.Name
			b.roles[c.Column], b.fields[c.Column] = b.roles[b.spec.Key[i]], &f
			continue
		}
		b.roles[c.Column] = c
		f := b.field(c)
		for slices.ContainsFunc(b.pkg.Fields, func(have *Field) bool { return have.Name == f.Name || have.JSON == f.JSON }) || methods[f.Name] {
			f.Name, f.Param, f.JSON = "Lease"+f.Name, "lease"+exported(f.Param), "lease_"+f.JSON
		}
		f.JSON = cmp.Or(f.JSON, snake(f.Name))
		b.fields[c.Column] = f
	}
	if !side.Keep && b.spec.Transitions[queue.Finish] == nil {
		errs.Errorf(b.spec.Pos, "nothing finishes a row of %q", b.pkg.Table).WithHint("Say done=delete on qgen:queue, or which value means done.")
	}
}

// canTell reports whether a claim without a token can tell the rows of the side table
// that it has added from those of others: by the error of the key that holds them apart.
func (b *builder) canTell(errs *source.ErrorList) bool {
	side, t := b.held, b.held.Table
	if c := side.Columns.Token; c != nil {
		if ix := b.side.sharesNone(c); ix != nil {
			errs.Errorf(side.Pos, "all rows that a claim adds to %q have one token, and %s lets no two rows have one", t.QualifiedName(), b.uniqueIndex(ix)).
				WithHint("Drop the index, or leave token: out.")
			return false
		}
	}
	if side.Columns.Token != nil || b.d.Has("lease_returning") {
		return true
	}
	const hint = "Name a column for token:, or let qgen lay out a table of its own: side_table: true."
	if b.side.locksTable() {
		errs.Errorf(side.Pos, "the engine %s of %q has no transactions: without a token a claim that fails halfway would leave rows there that nobody knows for his own", t.Engine, t.QualifiedName()).
			WithHint("ALTER TABLE … ENGINE=InnoDB, name a column for token:, or let qgen lay out a table of its own: side_table: true.")
		return false
	}
	if b.can(dialect.TriggerOutput) && (t.Fires("insert") || t.Fires("update")) {
		errs.Errorf(side.Pos, "a trigger fires when a row of %q is written, so %s does not return the claims that a statement adds, and without a token nothing tells which they are", t.QualifiedName(), b.d.Title).
			WithHint(hint)
		return false
	}
	if k := b.otherKey(); k != nil {
		var columns []string
		for _, c := range k.Columns {
			columns = append(columns, c.Name)
		}
		errs.Errorf(side.Pos, "a claim can also be turned away by the unique key of %q over %s, and without a token it would take that for the claim of somebody else", t.QualifiedName(), strings.Join(columns, ", ")).
			WithHint(hint)
		return false
	}
	return true
}

// otherKey returns a unique key of the side table that can keep a claim of a free row
// away, where others may add claims meanwhile; nil when there is none.
func (b *builder) otherKey() *schema.Key {
	t := b.held.Table
	if b.d.SingleWriter {
		return nil
	}
	writes := func(c *schema.Column) bool {
		return slices.ContainsFunc(b.side.spec.Transitions[queue.Claim].Writes, func(w queue.Write) bool { return w.Column == c })
	}
	for _, k := range append(slices.Clip(t.Uniques), t.PrimaryKey) {
		if k == nil || !slices.ContainsFunc(k.Columns, writes) {
			continue
		}
		if slices.ContainsFunc(b.held.Columns.Key, func(c *schema.Column) bool { return !slices.Contains(k.Columns, c) }) {
			return k
		}
	}
	return nil
}

// sideFields returns the fields of the side table that a Job carries: the fence,
// the count of tries and the end of the lease.
func (b *builder) sideFields() []*Field {
	k := b.held.Columns
	var fields []*Field
	for _, c := range b.side.spec.Table.Columns {
		f := b.fields[c]
		if slices.Contains(b.side.spec.Fence.Columns, c) || c == k.Attempts || c == k.Until || c == k.Error {
			fields = append(fields, f)
		}
	}
	return fields
}

// readSide completes what Job carries and what is known of a claim.
func (b *builder) readSide() {
	if b.side == nil {
		return
	}
	p, s := b.pkg, b.side.spec
	for _, c := range s.Fence.Columns {
		b.fields[c].Fence, b.fields[c].Null = true, false
		p.Fence = append(p.Fence, b.fields[c])
	}
	for _, c := range []*schema.Column{b.held.Columns.Until, b.held.Columns.Attempts} {
		if c != nil {
			b.fields[c].Null = false
		}
	}
	p.Guarantee = s.Fence.Level
	p.Fields = append(p.Fields, b.sideFields()...)
	if l := s.Lease; l != nil {
		p.Lease = &Lease{Length: l.Length}
		if !l.FromStart {
			p.Lease.Field = b.fields[l.Column]
		}
	}
	p.Worker = s.Worker != nil
	own := *p
	own.Key = nil
	for _, c := range s.Key {
		own.Key = append(own.Key, b.fields[c])
	}
	b.side.pkg = &own
}

// isSide reports whether a field is a column of the side table.
func (b *builder) isSide(f *Field) bool {
	return b.side != nil && slices.ContainsFunc(b.side.spec.Table.Columns, func(c *schema.Column) bool { return b.fields[c] == f })
}

// over has fn write texts over another table of the same statement, or over this one
// with another prefix before every column.
func (s *scope) over(b *builder, prefix string, fn func()) {
	outer, before := s.builder, s.prefix
	s.builder, s.prefix = b, prefix
	fn()
	s.builder, s.prefix = outer, before
}

// sameKey joins the rows of the side table to those of the queue.
func (b *builder) sameKey(side string) []string {
	var texts []string
	for i, c := range b.side.spec.Key {
		texts = append(texts, side+b.d.Ident(c.Name)+" = "+b.qualified()+b.d.Ident(b.spec.Key[i].Name))
	}
	return texts
}

// free is the condition of a row on which nobody has a claim that is good.
func (s *scope) free() string {
	side := s.side
	where := s.sameKey(side.qualified())
	s.over(side, side.qualified(), func() {
		if tests := s.tests(s.stateTests(queue.Ready)); len(tests) > 0 {
			where = append(where, "NOT ("+strings.Join(tests, " AND ")+")")
		}
	})
	return s.finds(false, s.sideTable(), where)
}

// finds is the condition that a table has a row, or that it has none.
func (b *builder) finds(has bool, table string, where []string) string {
	name, form := "has_row", "EXISTS (SELECT 1 FROM {table} WHERE {where})"
	if !has {
		name, form = "has_no_row", "NOT EXISTS (SELECT 1 FROM {table} WHERE {where})"
	}
	return dialect.Fill(cmp.Or(b.d.Fragments[name].At(b.version), form), "table", table, "where", strings.Join(where, " AND "))
}

// sideTable is the qualified name of the side table.
func (b *builder) sideTable() string {
	return b.d.Qualified(b.side.spec.Table.Schema, b.side.spec.Table.Name)
}

// stands is the test of a side row that its row of the queue is there and still
// ready, but for the claim, or that it is not.
func (b *builder) stands(does bool) queue.Test {
	rows := b.rows
	s := rows.newScope()
	s.prefix = rows.qualified()
	where := append(rows.sameKey(b.qualified()), s.tests(rows.steady())...)
	from := b.d.Qualified(rows.spec.Table.Schema, rows.spec.Table.Name)
	return queue.Test{Op: queue.Raw, SQL: rows.finds(does, from, where)}
}

// steady returns the tests of a ready row that do not look at the clock.
func (b *builder) steady() []queue.Test {
	return slices.DeleteFunc(slices.Clone(b.stateTests(queue.Ready)), func(t queue.Test) bool { return !constant(t) })
}

// leaseClaim plans Claim.
func (b *builder) leaseClaim(c *Claim) {
	if t := b.held.Columns.Token; t != nil {
		b.freshToken(c, t)
	}
	switch {
	case b.d.Has("lease_returning"):
		b.inOne(c, func(name string, limit int) *Statement { return b.leaseStatement(name, "lease_returning", limit) })
	case b.held.Columns.Token == nil:
		b.leaseUnmarked(c)
	case b.d.Has("lease_some") && (b.can(dialect.SkipLocked) || b.d.SingleWriter) && !b.findsFirst():
		c.Flow = MarkRead
		c.Statement = b.leaseStatement("claim", "lease_some", 0)
		c.Read = b.leaseRead()
	default:
		b.leaseLocks(c)
		c.Statement = b.leaseStatement("claim", "lease_batch", 0)
		c.Read = b.leaseRead()
	}
	// What others claimed while a statement looked is not given to it: then it
	// looks again.
	c.Again = c.Flow != PickTake && !b.d.SingleWriter
}

// leaseLocks plans how a claim finds and locks the rows for which it then adds claims.
func (b *builder) leaseLocks(c *Claim) {
	if b.can(dialect.SkipLocked) {
		c.Flow = LockTake
		c.Lock = b.lockStatement(b.pkg.Key, "claim: locks ready rows, for which claim.sql then adds claims")
		return
	}
	c.Flow = PickTake
	c.Pick = b.readyRows("claim_pick", "Claim", b.pkg.Key, "claim: keys of ready rows, which claim.sql then takes", "locks: none")
	c.Lock = b.picked("claim_lock", "lock_batch", b.pkg.Key, "locks those of the rows that claim_pick.sql named which are still ready",
		"the rows it returns, until commit; waits for rows that are locked", (*scope).ready)
}

// leaseUnmarked plans Claim over a side table without a column for a token, by which the
// claims that it added could be read back. The statement that adds them returns them, or
// counts for each row whether it has a claim now, or fails as a whole where there is one
// that somebody else has added; other programs may do so without locking the row.
func (b *builder) leaseUnmarked(c *Claim) {
	switch {
	case b.d.Has("lease_output"):
		c.Flow, c.Collides = OneStatement, true
		c.Statement = b.leaseStatement("claim", "lease_output", 0)
		return
	case b.can(dialect.Returning):
		c.Flow = MarkRead
		c.Statement = b.leaseStatement("claim", "lease_some", 0)
	case b.d.Has("lease_each"):
		b.leaseLocks(c)
		c.Statement = b.leaseStatement("claim", "lease_each", 0)
	default:
		b.leaseLocks(c)
		b.takeOver(c)
		c.Statement, c.Collides = b.leaseStatement("claim", "lease_insert", 0), true
	}
	c.Read = b.leaseReadKeys()
}

// takeOver plans how the claims that have run out of locked rows are taken over, where
// the statement that adds claims does not do it.
func (b *builder) takeOver(c *Claim) {
	side := b.side
	if side.spec.Expired == nil {
		return
	}
	table := plainText(side.spec.Table.Name)
	c.Expired = side.picked("claim_expired", "lock_batch", side.pkg.Key, "locks the claims that have run out among those of the rows that claim_lock.sql locked",
		"the rows of "+table+" that it returns, until commit; waits for rows that are locked", func(s *scope) []string { return s.tests(s.stateTests(queue.Ready)) })
	s, v := side.newScope(), side.base("Claim")
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, side.pkg.Key, nil, nil, "_picked")
	v.Set = s.sets(side.spec.Transitions[queue.Claim].Writes)
	c.TakeOver = s.statement("claim_take_over", "update_batch", v, nil, "claim: takes over the claims that claim_expired.sql locked",
		"locks: the rows it writes, until commit", side.keyHead(v))
}

// leaseStatement writes the statement that adds claims.
func (b *builder) leaseStatement(name, template string, limit int) *Statement {
	side, leased := b.side, b.alias("leased")
	s, v := b.newScope(), b.base("Claim")
	source := v.Names.Picked + "."
	from := "ready rows"
	returns := template == "lease_returning" || template == "lease_output"
	batched := !returns && template != "lease_some"
	switch {
	case batched:
		v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_picked")
		from = "the rows that claim_lock.sql locked"
	default:
		v.Where = s.ready()
		s.inOrder(&v)
		s.limit(&v, limit)
	}
	if !returns && !b.d.LeaseAlias || batched && b.batches("lists") {
		source = b.qualified()
	}
	v.Names.Leased = leased
	l := &v.Lease
	l.Table, l.Bare = b.sideTable(), side.row()
	for i, c := range side.spec.Key {
		key := b.d.Ident(b.spec.Key[i].Name)
		v.Pick = append(v.Pick, key)
		l.Key = append(l.Key, b.d.Ident(c.Name))
		l.Columns = append(l.Columns, b.d.Ident(c.Name))
		l.Values = append(l.Values, source+key)
		if batched {
			l.Given = append(l.Given, v.Batch.Names[i]+" AS "+key)
		}
		own := side.qualified() + b.d.Ident(c.Name)
		l.Same = append(l.Same, own+" = "+own)
		l.Match = append(l.Match, own+" = "+v.Names.Picked+"."+key)
	}
	writes := side.spec.Transitions[queue.Claim].Writes
	s.over(side, side.qualified(), func() {
		for _, w := range writes {
			l.Columns = append(l.Columns, b.d.Ident(w.Column.Name))
			value := strconv.Itoa(w.Value.By)
			switch w.Value.Kind {
			case queue.Add:
			case queue.Token, queue.WorkerID:
				value = b.d.Cast(s.value(w.Column, w.Value), b.castType(w.Column.Type))
			default:
				value = s.value(w.Column, w.Value)
			}
			l.Values = append(l.Values, value)
		}
		if l.Guard = s.tests(s.stateTests(queue.Ready)); len(l.Guard) > 0 { // else no claim is taken over
			l.Set = s.sets(writes)
			l.Guarded = s.guarded(writes, l.Guard)
		}
	})
	var rows []*Field
	switch {
	case returns:
		told := cmp.Or(b.d.Returned["insert"], leased+".")
		rows = b.pkg.Fields
		v.Pick = nil
		for i, key := range l.Key {
			l.Joined = append(l.Joined, leased+"."+key+" = "+source+b.d.Ident(b.spec.Key[i].Name))
			l.Returning = append(l.Returning, side.qualified()+key)
		}
		for _, f := range rows {
			own, prefix := b, source
			if b.isSide(f) {
				own, prefix = side, told
				l.Returning = append(l.Returning, side.qualified()+b.d.Ident(f.Column))
			} else {
				v.Pick = append(v.Pick, b.d.Ident(f.Column))
			}
			s.over(own, prefix, func() { v.Returning = append(v.Returning, s.readOne(f)) })
		}
	case template == "lease_some":
		if rows = b.counted(); side.spec.Token == nil {
			rows = b.pkg.Key
		}
		if rows != nil {
			s.over(side, "", func() { v.Returning = s.outputs("insert", side.pkg.Key, s.readOne) })
		}
	}
	head := []string{"claim: ready to running, by a row of " + plainText(side.spec.Table.Name) + " for each of " + from,
		"locks: the rows it takes and their claims, until commit; passes over rows that are locked"}
	if template == "lease_each" {
		v.Counts = s.arg(Arg{Kind: ArgCounts})
	}
	if batched {
		head = head[:1]
		if template == "lease_insert" {
			head = append(head, "of all rows or of none: where a claim is there by then, it is tried for one row after the other")
		}
		return s.statement(name, template, v, rows, append(head, "locks: the claims it adds, until commit", b.keyHead(v))...)
	}
	return s.statement(name, template, v, rows, append(head, b.readyHead())...)
}

// guarded returns assignments that leave a column as it is unless the guard
// holds. Where a server makes one after the other, the token is written first, and
// tells the others whether the claim was taken over; without a token what the guard
// reads is written last.
func (s *scope) guarded(writes []queue.Write, guard []string) []string {
	var first, last []string
	when := strings.Join(guard, " AND ")
	token := slices.IndexFunc(writes, func(w queue.Write) bool { return w.Value.Kind == queue.Token })
	add := func(w queue.Write, when string) string {
		return s.d.Ident(w.Column.Name) + " = CASE WHEN " + when + " THEN " + s.assigned(w) + " ELSE " + s.column(w.Column) + " END"
	}
	if token >= 0 {
		first = append(first, add(writes[token], when))
		when = s.column(writes[token].Column) + " = " + s.assigned(writes[token])
	}
	for i, w := range writes {
		switch {
		case i == token:
		case source.Mentions(when, w.Column.Name):
			last = append(last, add(w, when))
		default:
			first = append(first, add(w, when))
		}
	}
	return append(first, last...)
}

// leaseRead reads the jobs that a token marks.
func (b *builder) leaseRead() *Statement {
	s, v := b.newScope(), b.base("Claim")
	token := b.held.Columns.Token
	s.prefix = b.qualified()
	v.Where = []string{b.side.qualified() + b.d.Ident(token.Name) + " = " + s.arg(Arg{Kind: ArgToken, Field: b.fields[token]})}
	s.readHeld(&v)
	return s.statement("claim_read", "select", v, b.pkg.Fields,
		"claim: reads the jobs whose claims have the token", "locks: none", "index: the token of "+plainText(b.side.spec.Table.Name)+", and the key")
}

// leaseReadKeys reads the jobs that a claim without a token has taken, by their keys.
func (b *builder) leaseReadKeys() *Statement {
	s, v := b.newScope(), b.base("Claim")
	s.listed = true
	s.prefix = b.qualified()
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_held")
	s.readHeld(&v)
	return s.statement("claim_read", b.readsBatch(), v, b.pkg.Fields, "claim: reads the jobs that were taken, with their claims",
		"locks: none", "index: the key of both tables")
}

// readHeld has a statement read jobs with their claims.
func (s *scope) readHeld(v *values) {
	v.Table = s.sideTable() + ", " + v.Table
	v.Where = append(v.Where, s.sameKey(s.side.qualified())...)
	v.Where = append(v.Where, s.tests(s.steady())...)
	for _, f := range s.pkg.Fields {
		if s.isSide(f) {
			s.over(s.side, s.side.qualified(), func() { v.Returning = append(v.Returning, s.readOne(f)) })
		} else {
			v.Returning = append(v.Returning, s.readOne(f))
		}
	}
}

// leaseSettles plans Complete, Fail, Requeue and Extend: over the side table, and
// for what finishes a job over its row as well.
func (b *builder) leaseSettles() {
	p, side := b.pkg, b.side
	p.Complete = b.finishing(queue.Finish, "complete", "Complete", "running to done")
	if side.spec.Attempts != nil || side.spec.Transitions[queue.Fail] == nil {
		p.Retry = side.settle(queue.Retry, "retry", "Fail", "running to ready, "+side.triesUsed(queue.Retry))
	}
	if b.spec.Transitions[queue.Fail] != nil {
		p.Fail = b.finishing(queue.Fail, "fail", "Fail", "running to failed")
	} else {
		p.Fail = side.settle(queue.Fail, "fail", "Fail", "running to failed")
	}
	p.Requeue = side.settle(queue.Release, "requeue", "Requeue", "running to ready, "+side.triesUsed(queue.Release))
	p.Extend = side.settle(queue.Renew, "extend", "Extend", "running stays running, its lease begins anew")
}

// finishing plans what ends a claim and finishes its row: in one statement where
// the server can, else in several of one transaction. Rows are locked before their
// claims, as a claim does it.
func (b *builder) finishing(name queue.TransitionName, file, op, moves string) *Settle {
	t := b.spec.Transitions[name]
	if t == nil || t.KeepsRow() {
		return b.side.settle(name, file, op, moves)
	}
	if b.d.Has("lease_delete") && !t.Takes(queue.ArgResult) {
		return b.finishBoth(t, file, op, moves)
	}
	st := b.side.settle(name, file, op, moves)
	st.Rows = b.settleRows(name, file, op, st)
	if b.d.Has("lock_batch") && !b.d.SingleWriter {
		s, v := b.newScope(), b.base(op)
		s.listed = true
		v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_held")
		v.Returning = s.read(b.pkg.Key)
		st.Before = s.statement(file+"_before", "lock_batch", v, b.pkg.Key, file+": locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other",
			"locks: the rows it returns, until commit", b.keyHead(v))
	}
	return st
}

// finishBoth writes one statement that ends claims and finishes their rows.
func (b *builder) finishBoth(t *queue.Transition, file, op, moves string) *Settle {
	side, end := b.side, b.side.spec.Transitions[t.Name]
	s, v := b.newScope(), b.base(op)
	held := side.compared()
	s.prefix = b.qualified()
	v.Where = s.tests(b.steady())
	v.Names.Leased = b.alias("leased")
	l := &v.Lease
	l.Table, l.Joined = b.sideTable(), b.sameKey(v.Names.Leased+".")
	s.over(side, side.qualified(), func() {
		v.Batch = s.batchOf(ArgBatch, ArgBatchAll, side.pkg.Key, held, nil, "_held")
		for i, f := range held {
			v.Batch.Held[i] = s.own(f) + " = " + s.batchValue(f, v.Names.Picked+"."+v.Batch.Names[len(side.pkg.Key)+i])
		}
		if len(v.Batch.Names) > 0 && len(side.pkg.Key) == 1 && b.batches("arrays") && !s.isArray(side.pkg.Key[0]) {
			// The list finds the claims; joined alone they may all be read.
			l.Match = append(l.Match, dialect.Fill(s.d.Fragments["list_in"].At(s.version), "column", s.own(side.pkg.Key[0]), "arg", v.Batch.Arg))
		}
		v.Guard = s.tests(end.Tests)
		if !end.Delete {
			l.Set = s.sets(end.Writes)
		}
	})
	for i, c := range side.spec.Key {
		key := b.d.Ident(b.spec.Key[i].Name)
		v.Pick = append(v.Pick, b.qualified()+key)
		v.Joined = append(v.Joined, b.qualified()+key+" = "+s.batchValue(b.pkg.Key[i], v.Batch.Names[i]))
		l.Match = append(l.Match, side.qualified()+b.d.Ident(c.Name)+" = "+v.Names.Picked+"."+key)
		l.Returning = append(l.Returning, side.qualified()+b.d.Ident(c.Name))
	}
	verb := s.act(&v, t)
	v.Returning = s.read(b.pkg.Key)
	st := &Settle{}
	st.Statement = s.statement(file, "lease_"+verb, v, b.pkg.Key, file+": "+moves, b.fenceHead(),
		"locks: the rows it writes and their claims, until commit", "index: the key of both tables")
	b.docSettle(st, t.Name)
	return st
}

// settleRows plans what becomes of the rows of jobs that were settled in the side
// table, by their keys.
func (b *builder) settleRows(name queue.TransitionName, file, op string, st *Settle) *Statement {
	t := b.spec.Transitions[name]
	if t == nil || t.KeepsRow() {
		return nil
	}
	s, v := b.newScope(), b.base(op)
	if t.Takes(queue.ArgResult) {
		st.Result = b.resultField()
	}
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, b.carries(t), "_held")
	v.Where = s.tests(b.steady())
	verb := s.act(&v, t)
	st.Doc = nil
	b.docSettle(st, name)
	return s.statement(file+"_rows", verb+"_batch", v, nil, file+": the rows of the jobs whose claims "+file+".sql ended",
		"locks: the rows it writes, until commit", b.keyHead(v))
}

// leaseSweeps plans Recover, Redrive and Purge.
func (b *builder) leaseSweeps() {
	p, side := b.pkg, b.side
	t := side.spec.Transitions
	if side.spec.Expired != nil {
		p.Recover = &Sweep{}
		stands := side.stands(true)
		if r := t[queue.Recover]; r != nil {
			side.addSweep(p.Recover, &queue.Transition{Tests: append(slices.Clip(r.Tests), stands), Writes: r.Writes}, side.spec.Expired, "recover", "Recover", "running with an expired claim to ready")
		}
		switch spent := b.spent(); {
		case t[queue.GiveUp] != nil:
			g := t[queue.GiveUp]
			side.addSweep(p.Recover, &queue.Transition{Tests: append(slices.Clip(g.Tests), stands), Writes: g.Writes}, side.spec.Expired, "recover_failed", "Recover", "running with an expired claim and no tries left to failed")
		case b.spec.Transitions[queue.GiveUp] != nil && spent != nil:
			g := b.spec.Transitions[queue.GiveUp]
			b.addSweep(p.Recover, &queue.Transition{Tests: append(b.steady(), *spent), Writes: g.Writes, Delete: g.Delete}, nil,
				"recover_failed", "Recover", "running with an expired claim and no tries left to failed")
		}
		if !b.held.Keep {
			side.addSweep(p.Recover, &queue.Transition{Tests: []queue.Test{side.stands(false)}, Delete: true}, side.spec.Expired, "recover_left", "Recover", "claims that ran out and whose rows are gone or finished, to gone")
		}
	}
	if l := side.spec.Liveness; l != nil {
		if p.Recover == nil {
			p.Recover = &Sweep{}
		}
		dead := queue.Test{Column: l.Column, Op: queue.Dead}
		if !l.Column.NotNull {
			dead.Values = []queue.Value{{Kind: queue.Null}}
		}
		side.addSweep(p.Recover, &queue.Transition{Tests: []queue.Test{side.stands(true)}, Delete: true}, []queue.Test{dead}, "recover", "Recover", "running of workers that are gone to ready")
	}
	if p.Recover != nil && len(p.Recover.Steps) == 0 {
		p.Recover = nil // what has run out is claimed again, and a claim that stays is left where it is
	}
	if p.Recover != nil {
		b.docSweep(p.Recover, "Recover")
		p.Recover.Doc[0] = strings.Replace(p.Recover.Doc[0], "ready again: rows whose claim has expired.", "ready again, which Claim does as well once their claim has expired, and removes the claims of rows that others deleted.", 1)
	}
	failed := side // which keeps the jobs that failed
	if t[queue.Redrive] == nil {
		failed = b
	}
	if r := failed.spec.Transitions[queue.Redrive]; r != nil {
		p.Redrive = &Sweep{}
		failed.addSweep(p.Redrive, r, nil, "redrive", "Redrive", "failed to ready")
		b.docSweep(p.Redrive, "Redrive")
	}
	b.buildPurges()
}

// spent is the test of a row whose claim has run out with no tries left; nil where
// tries have no limit.
func (b *builder) spent() *queue.Test {
	k := b.held.Columns
	if b.held.Attempts == 0 || k.Attempts == nil {
		return nil
	}
	tests := slices.Concat(b.side.spec.Expired, []queue.Test{{Column: k.Attempts, Op: queue.GreatEqual,
		Values: []queue.Value{{Kind: queue.Literal, Text: strconv.Itoa(b.held.Attempts)}}}})
	return b.heldBy(tests)
}

// heldBy is the test of a row that its claim satisfies tests.
func (b *builder) heldBy(tests []queue.Test) *queue.Test {
	s := b.side.newScope()
	s.prefix = b.side.qualified()
	where := append(b.sameKey(s.prefix), s.tests(tests)...)
	return &queue.Test{Op: queue.Raw, SQL: b.finds(true, b.sideTable(), where)}
}

// keepsFailures reports whether the side table tells which jobs have failed.
func (b *builder) keepsFailures() bool {
	return b.side.spec.States[queue.Failed] != nil && b.held.Columns.Failed != nil
}

// purgeFailed has an operation remove rows that the side table calls failed, and their
// claims with them.
func (b *builder) purgeFailed(to *Purge) {
	if !b.keepsFailures() {
		return
	}
	to.OlderThan = true
	tests := append(slices.Clip(b.side.spec.States[queue.Failed].Tests), olderThan(b.held.Columns.Failed))
	to.Steps = append(to.Steps, SweepStep{Statement: b.sweepIf(&queue.Transition{Delete: true}, nil, "purge_failed", to.Method, "failed to gone", func(s *scope) []string {
		where := b.sameKey(b.side.qualified())
		s.over(b.side, b.side.qualified(), func() { where = append(where, s.tests(tests)...) })
		return []string{b.finds(true, b.sideTable(), where)}
	})})
	to.Sequel = b.side.sweep(&queue.Transition{Tests: append(tests, b.side.stands(false)), Delete: true}, nil, "purge_left", to.Method, "the claims of the rows that purge_failed.sql deleted, to gone")
}

// figure is a number of rows in Stats: what it is called, what it counts, and the
// conditions of its rows.
type figure struct {
	name, doc string
	where     []string
}

// leaseStats returns the figures of Stats over the rows of the queue joined to their
// claims.
func (b *builder) leaseStats(s *scope) (figures []figure) {
	add := func(name, doc string, where []string) {
		figures = append(figures, figure{name, doc, where})
	}
	side := b.side
	held := func(tests []queue.Test) (where []string) {
		s.over(side, side.qualified(), func() { where = s.tests(tests) })
		return where
	}
	none := side.qualified() + b.d.Ident(side.spec.Key[0].Name) + " IS NULL"
	ready := none
	if state := side.spec.States[queue.Ready]; state != nil {
		ready = "(" + none + " OR " + strings.Join(held(state.Tests), " AND ") + ")"
	}
	rows := s.tests(withoutArguments(b.spec.States[queue.Ready].Tests))
	steady := s.tests(b.steady())
	add("Ready", b.readyDoc(), append(slices.Clip(rows), ready))
	running := held(side.spec.States[queue.Running].Tests)
	if len(running) == 0 {
		running = []string{side.qualified() + b.d.Ident(side.spec.Key[0].Name) + " IS NOT NULL"}
	}
	add("Running", "rows that workers hold", slices.Concat(steady, running))
	if k := b.held.Columns; k.Until != nil && k.Token != nil {
		waits := []queue.Test{{Column: k.Token, Op: queue.IsNull}, {Column: k.Until, Op: queue.Greater, Values: []queue.Value{{Kind: queue.Now}}}}
		add("Delayed", "rows whose next try has not come", slices.Concat(steady, held(waits)))
	}
	if len(side.spec.Expired) > 0 {
		taken := side.spec.Transitions[queue.Finish].Tests
		if k := b.held.Columns; k.Token != nil {
			taken = append(slices.Clip(taken), queue.Test{Column: k.Token, Op: queue.NotNull})
		}
		add("Expired", "rows whose claim ran out", slices.Concat(steady, held(append(slices.Clip(taken), side.spec.Expired...))))
	}
	if b.tells(queue.Done) {
		add("Done", "finished rows", s.tests(b.stateTests(queue.Done)))
	}
	if state := side.spec.States[queue.Failed]; state != nil {
		add("Failed", "rows that failed for good", held(state.Tests))
	} else if b.tells(queue.Failed) {
		add("Failed", "rows that failed for good", s.tests(b.stateTests(queue.Failed)))
	}
	return figures
}

// layOut writes the DDL of a side table and reads it as any other; nil after a
// contradiction within the generator.
func (b *builder) layOut(side *queue.Side, errs *source.ErrorList) *schema.Table {
	name := b.d.Fold(side.Name)
	if name == "" {
		suffix := b.d.Fold("_lease")
		base := b.spec.Table.Name
		if most := b.d.Identifiers.MaxBytes; most > 0 {
			base = dialect.Cut(base, most-len(suffix))
		}
		name = base + suffix
	}
	v := b.base("")
	l := &v.Lease
	l.Table, l.Bare = b.d.Qualified(b.spec.Table.Schema, name), b.d.Ident(name)
	taken := func(word string) bool {
		return slices.ContainsFunc(b.spec.Key, func(c *schema.Column) bool { return strings.EqualFold(c.Name, word) })
	}
	l.Named = map[string]string{}
	stored := map[string]string{}
	for _, word := range []string{"token", "worker", "claimed_until", "attempts", "error", "failed_at"} {
		column := word
		if taken(word) {
			column = "lease_" + word
		}
		stored[word] = b.d.Fold(column)
		l.Named[word] = b.d.Ident(stored[word])
	}
	for _, c := range b.spec.Key {
		l.Key = append(l.Key, b.d.Ident(c.Name))
		t := c.Type.Raw
		if name := b.typeName(c.Type); c.Identity && !strings.HasPrefix(strings.ToLower(t), name) {
			t = name // what counts up is a type of its own
		}
		if c.Type.Domain != "" {
			t = b.d.Ident(c.Type.Domain)
		}
		l.Defined = append(l.Defined, b.d.Ident(c.Name)+" "+t+" NOT NULL")
	}
	index := b.d.Fold(dialect.Cut(name, max(1, cmp.Or(b.d.Identifiers.MaxBytes, 64)-len("_expired"))))
	v.Index = b.d.Ident(index + b.d.Fold("_expired"))
	l.Index = b.d.Ident(index + b.d.Fold("_token"))
	templates := []string{"lease_table", "lease_expired"}
	if !b.d.Has("lease_returning") {
		templates = append(templates, "lease_token") // else nothing looks for a token
	}
	t, ddl := b.readOwn("schema/lease.sql", v, templates...)
	if t == nil {
		return nil
	}
	t.Schema, t.Name = b.spec.Table.Schema, name
	for _, have := range b.spec.Tables {
		// It may stand among the migrations already.
		lacks := func(c *schema.Column) bool { return have.Column(c.Name) == nil }
		if have.Name == name && have.Schema == t.Schema && slices.ContainsFunc(t.Columns, lacks) {
			where := b.spec.Pos
			if b.spec.Side != nil {
				where = b.spec.Side.Pos
			}
			errs.Errorf(where, "the side table of %q would be called %q, as another table is", b.pkg.Table, have.QualifiedName()).
				WithHint("Give it another name: side_table: {name: …}. Or describe the table that is there with lease_table:.")
			return nil
		}
	}
	for _, c := range b.spec.Key {
		own := t.Column(c.Name)
		own.Type = c.Type
		own.Pos = c.Pos
		side.Columns.Key = append(side.Columns.Key, own)
	}
	k := &side.Columns
	k.Token, k.Worker, k.Until = t.Column(stored["token"]), t.Column(stored["worker"]), t.Column(stored["claimed_until"])
	k.Attempts, k.Error, k.Failed = t.Column(stored["attempts"]), t.Column(stored["error"]), t.Column(stored["failed_at"])
	side.Times = map[*schema.Column]queue.SideTime{}
	for _, c := range []*schema.Column{k.Until, k.Failed} {
		side.Times[c] = queue.SideTime{As: b.d.LeaseTimes, Clock: "utc"}
	}
	b.pkg.LeaseTable = &LeaseTable{Name: t.QualifiedName(), DDL: ddl, Head: []string{
		"The side table of the queue: a row for each job that a worker holds, that waits for its next try, or that has failed for good.",
		"Claims are made by its primary key, so that " + plainText(b.pkg.Table) + " stays as it is until a job is finished. Create it before the first claim, with the character set and the collation of that table.",
	}}
	return t
}

// readOwn writes the DDL of a table that the package brings, and reads it as the server
// would; nil after a contradiction within the generator.
func (b *builder) readOwn(file string, v values, templates ...string) (*schema.Table, []string) {
	var ddl []string
	for _, template := range templates {
		text, _, err := b.d.Render(template, v)
		if err != nil {
			b.fail(err)
			return nil, nil
		}
		ddl = append(ddl, text)
	}
	var wrong source.ErrorList
	catalog, err := schema.Read(b.d.Grammar, []*source.File{source.NewFile(file, []byte(strings.Join(ddl, ";\n")+";\n"))}, &wrong)
	if err != nil || wrong.Len() > 0 || len(catalog.Tables) != 1 {
		b.fail(fmt.Errorf("%s cannot be read: %w", file, errors.Join(err, wrong.Err())))
		return nil, nil
	}
	return catalog.Tables[0], ddl
}

// verifySide adds the question whether the side table is as it was laid out.
func (b *builder) verifySide(verify *Verify) {
	mend := "create it with schema/lease.sql"
	if b.pkg.LeaseTable.DDL == nil {
		mend = mendColumns
	}
	name := plainText(b.side.spec.Table.Name)
	b.side.ask(verify, "verify_lease", "verify_columns", " of "+name, "in "+name+": "+mend, b.side.wantColumns)
}
