package plan

// This file plans queues whose rows are in another table while their jobs run. That
// table is read as a queue of its own, over which everything is planned that happens to
// a claimed job; a builder beside it plans over the table of ready rows: Claim, Enqueue,
// Peek, and the half of Stats and Verify.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// bringReady makes a builder over the table of ready rows. The columns whose values go
// there and back have one field, called by the names of both.
func (b *builder) bringReady(ready *queue.Spec, errs *source.ErrorList) {
	if ready.Away == nil {
		return
	}
	rb := *b
	rb.spec, rb.running, rb.shared = ready, b, nil
	b.ready = &rb
	pairs := map[*schema.Column]*Field{}
	for there, here := range ready.Away.Ready {
		if f := b.fields[there]; f != nil {
			own := *f
			own.Column, own.Null = here.Name, !here.NotNull
			pairs[here] = &own
		}
	}
	for _, c := range ready.Columns {
		b.roles[c.Column] = c
		f := pairs[c.Column]
		if c.Ignored {
			continue
		}
		if f == nil {
			f = b.field(c)
			taken := func(have *Field) bool { return have.Name == f.Name || have.JSON == f.JSON }
			for f.Name == "" || slices.ContainsFunc(b.pkg.Fields, taken) || methods[f.Name] {
				f.Name, f.Param, f.JSON = "Ready"+f.Name, "ready"+exported(f.Param), "ready_"+f.JSON
			}
		}
		b.fields[c.Column] = f
	}
	rb.checkTable(errs)
}

// chooseAway decides whether rows can move to the table in which their jobs run.
func (b *builder) chooseAway(errs *source.ErrorList) bool {
	s := b.ready.spec
	refuse := func(why, mend string) bool {
		errs.Errorf(s.Away.Pos, "a claim cannot move rows here: %s", why).WithHint("%s", mend)
		return false
	}
	switch {
	case s.Strategy != "":
		errs.Errorf(s.ForcedPos, "strategy=%s is not possible here: a claim moves rows to table %q", s.Strategy, b.spec.Table.QualifiedName()).
			WithHint("Leave strategy= out, or leave states out.")
		return false
	case b.locksTable(), b.ready.locksTable():
		engine := b.spec.Table.Engine
		if b.ready.locksTable() {
			engine = s.Table.Engine
		}
		return refuse("the engine "+engine+" has no transactions, so that a crash would leave a row in both tables or in none", "Keep both tables in an engine that has them: ALTER TABLE … ENGINE=InnoDB.")
	case b.can(dialect.OpenCursors) && (b.spec.Table.NoRowIdentity || s.Table.NoRowIdentity):
		return refuse("rows of a table that is its own index have no place by which a block could lock them", "Leave ORGANIZATION INDEX out.")
	}
	b.pkg.Strategy = "move"
	b.pkg.Reasons = []Reason{{Strategy: "move", Chosen: true, Why: "the state of a job is the table in which its row is; a claim moves it to " + plainText(b.spec.Table.QualifiedName()) + ", whose unique key lets one worker have it"}}
	return true
}

// readReady completes what is known of the table of ready rows once that is known of the
// other, and returns its builder.
func (b *builder) readReady() *builder {
	own := *b.pkg
	own.Key = nil
	for _, c := range b.ready.spec.Key {
		f := b.fields[c]
		f.Null = false // whatever the database lets be
		own.Key = append(own.Key, f)
	}
	b.ready.pkg = &own
	return b.ready
}

// takeReady takes over what was planned over the table of ready rows.
func (b *builder) takeReady() {
	if b.ready == nil {
		return
	}
	p, own := b.pkg, b.ready.pkg
	p.Peek, p.Enqueue = own.Peek, own.Enqueue
	p.Indexes = append(slices.Clip(own.Indexes), p.Indexes...)
	b.noEnqueue = b.ready.noEnqueue
	for _, note := range own.Notes {
		if !slices.Contains(p.Notes, note) {
			p.Notes = append(p.Notes, note)
		}
	}
}

// explainReady tells of the columns of ready rows.
func (b *builder) explainReady() {
	p, r := b.pkg, b.ready
	for i := range p.Columns {
		p.Columns[i].Column = plainText(b.spec.Table.Name) + "." + p.Columns[i].Column
	}
	there := p.Columns
	p.Columns = nil
	var fields []*Field
	for _, f := range r.peeked() {
		fields = append(fields, b.fields[r.spec.Table.Column(f.Column)])
	}
	r.pkg.Columns, r.pkg.Fields = nil, fields
	r.explainColumns()
	p.Columns = append(r.pkg.Columns, there...)
}

// explainStep tells what a step writes, and whether there is such a step.
func (b *builder) explainStep(name queue.TransitionName) (string, bool) {
	t := b.spec.Transitions[name]
	switch {
	case name == queue.Update:
		own := cmp.Or(b.ready, b)
		if own.upserts == nil {
			return "", false
		}
		return own.changed(), true
	case b.ready != nil && name == queue.Enqueue:
		return b.ready.explainMove(b.ready.spec.Transitions[name]), true
	case b.ready != nil && name == queue.Claim:
		text := b.ready.explainMove(&queue.Transition{Delete: true, With: []*queue.Companion{b.ready.spec.Away.Claim}})
		if len(t.With) > 0 {
			text += "; " + b.explainCompanions(t)
		}
		return text, true
	case name == queue.Claim && b.popped() != nil:
		return b.explainMove(b.popped()), true
	case t == nil:
		return "", false
	case name == queue.Claim && b.pkg.Strategy == "pop":
		return b.explainMove(&queue.Transition{Delete: true, With: b.spec.Transitions[queue.Finish].With}), true
	case name == queue.Claim && !b.writesClaim():
		return b.explainMove(&queue.Transition{With: t.With}), true
	}
	return b.explainMove(t), true
}

// jobField returns the field of Job that has the value of a column, nil when none has it.
func (b *builder) jobField(c *schema.Column) *Field {
	if b.running == nil {
		return b.fields[c]
	}
	for there, here := range b.spec.Away.Ready {
		if here == c {
			return b.fields[there]
		}
	}
	return nil
}

// peeked returns the fields of Job that a ready row has, as its own table calls them.
// What a claimed job always has and a ready row may not is left out.
func (b *builder) peeked() []*Field {
	var fields []*Field
	for _, c := range b.spec.Columns {
		own, job := b.fields[c.Column], b.jobField(c.Column)
		if slices.Contains(b.pkg.Fields, job) && (job.Null || !own.Null) {
			read := *own
			read.Null = job.Null
			fields = append(fields, &read)
		}
	}
	return fields
}

// moveClaim plans a claim that moves rows: in one statement where the server can, else
// in several of one transaction.
func (b *builder) moveClaim(c *Claim) {
	r := b.running
	arrive := r.spec.Transitions[queue.Claim]
	c.Params = r.addWritten(c.Params, arrive)
	c.LeaseArg = r.spec.Lease != nil && r.spec.Lease.LengthArg
	if t := r.spec.Token; t != nil && !r.tokenEach(t) {
		b.freshToken(c, t)
	}
	switch {
	case b.d.Has("move_some") && b.locksAsItLooks():
		b.inOne(c, func(name string, limit int) *Statement { return b.moveStatement(name, "move_some", limit) })
	case b.d.Has("move_insert") && b.can(dialect.Returning):
		b.inOne(c, func(name string, limit int) *Statement { return b.moveStatement(name, "move_insert", limit) })
		c.With = []*Statement{b.leave()}
	case b.locksAsItLooks():
		c.Flow = LockTake
		c.Lock = b.lockStatement(b.pkg.Key, "claim: locks ready rows, which claim.sql then adds to "+plainText(r.spec.Table.Name))
		b.moveLocked(c)
	default:
		c.Flow = PickTake
		c.Pick = b.readyRows("claim_pick", "Claim", b.pkg.Key, "claim: keys of ready rows, which claim.sql then moves", "locks: none")
		c.Lock = b.picked("claim_lock", "lock_batch", b.pkg.Key, "locks those of the rows that claim_pick.sql named which are still ready",
			"the rows it returns, until commit; waits for rows that are locked", (*scope).ready)
		b.moveLocked(c)
	}
	if r.hasCompanions(queue.Claim) {
		also, _ := r.companions(queue.Claim, "claim", "Claim", nil)
		c.With = append(c.With, also...)
	}
}

// locksAsItLooks reports whether the statement that looks for ready rows locks those that
// it takes, and no others.
func (b *builder) locksAsItLooks() bool {
	return b.d.SingleWriter || b.can(dialect.OrderedUpdate) || b.can(dialect.SkipLocked)
}

// moveStatement writes a claim that moves rows, or adds them to the other table, and
// returns them.
func (b *builder) moveStatement(name, template string, limit int) *Statement {
	r := b.running
	s, v := b.newScope(), b.base("Claim")
	v.Where = s.ready()
	s.inOrder(&v)
	s.limit(&v, limit)
	suffix := ""
	s.beside = b.spec.Away.Claim
	if template == "move_some" {
		suffix = s.pick(&v)
		v.Names.Row = b.alias("gone")
		s.prefix = v.Names.Row + "."
	}
	v.Beside = s.besideOf(s.beside)
	for _, c := range b.spec.Table.Columns {
		if slices.ContainsFunc(v.Beside.Values, func(text string) bool { return source.Mentions(text, c.Name) }) {
			v.Taken = append(v.Taken, b.qualified()+b.d.Ident(c.Name))
		}
	}
	s.over(r, "", func() { v.Returning = s.outputs("insert", b.pkg.Fields, s.readOne) })
	head := []string{"claim: ready to running, from " + plainText(b.spec.Table.QualifiedName()) + " to " + plainText(r.spec.Table.QualifiedName()),
		"locks: the rows it moves, until commit; passes over rows that are locked"}
	if template == "move_insert" {
		head[0] += ", from which claim_leave.sql then deletes them"
	}
	return s.statement(name, template+suffix, v, b.pkg.Fields, append(head, b.readyHead())...)
}

// moveLocked plans how rows that are locked move: they are added to the other table,
// read there, and deleted from their own.
func (b *builder) moveLocked(c *Claim) {
	r := b.running
	s, v := b.newScope(), b.base("Claim")
	s.beside, s.listed = b.spec.Away.Claim, true
	v.Names.Row = b.alias("held")
	if strings.EqualFold(v.Names.Row, s.beside.Table) {
		v.Names.Row = b.alias("held_rows")
	}
	s.prefix = v.Names.Row + "."
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_picked")
	v.Beside = s.besideOf(s.beside)
	c.Statement = s.statement("claim", "companion_insert", v, nil,
		"claim: ready to running, a row of "+plainText(r.spec.Table.QualifiedName())+" for each of the rows that claim_lock.sql locked",
		"locks: the rows it adds, until commit", b.keyHead(v))
	c.Read = r.readByKey("claim_read", "Claim", b.pkg.Fields, "claim: reads the rows that were added")
	c.With = []*Statement{b.leave()}
}

// leave deletes the rows that a claim has added to the other table.
func (b *builder) leave() *Statement {
	s, v := b.newScope(), b.base("Claim")
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_picked")
	return s.statement("claim_leave", "delete_batch", v, nil,
		"claim: deletes the rows that claim.sql added to "+plainText(b.running.spec.Table.QualifiedName()), "locks: the rows it deletes, until commit", b.keyHead(v))
}

// awayFigures returns what Stats tells of both tables, how it reads each figure, and from
// what: one row of figures for each table, of the rows of some topics.
func (b *builder) awayFigures(s *scope, topics []topic) (fields []StatsField, texts []string, from string) {
	var tables []string
	for _, half := range []*builder{b.ready, b} {
		s.over(half, "", func() {
			told := s.figures(nil)
			for _, f := range told.fields {
				texts = append(texts, b.d.Ident(b.d.Fold(snake(f.Name))))
			}
			fields = append(fields, told.fields...)
			name := "ready_figures"
			if half == b {
				name = "running_figures"
			}
			applied, where := s.apply(), ""
			if of := append(told.where, s.narrowed(topics)...); len(of) > 0 {
				where = "\n           WHERE  " + strings.Join(of, "\n             AND  ")
			}
			tables = append(tables, "(\n           SELECT "+strings.Join(s.labelled(told, nil), ",\n                  ")+
				"\n           FROM   "+b.d.Qualified(half.spec.Table.Schema, half.spec.Table.Name)+applied+where+"\n       ) "+name)
		})
	}
	return fields, texts, strings.Join(tables, " CROSS JOIN ")
}

// verifyReady adds the questions whether the table of ready rows is as it was, whether
// claims can lock its rows, and whether it has its index.
func (b *builder) verifyReady(verify *Verify) {
	r := b.ready
	name := plainText(r.spec.Table.Name)
	ask := func(what, mend string, fill func(*scope, *values)) {
		r.ask(verify, what+"_ready", what, " of "+name, "in "+name+": "+mend, fill)
	}
	ask("verify_columns", mendColumns, r.wantColumns)
	ask("verify_kind", mendSettings, func(*scope, *values) {})
	if len(r.pkg.Indexes) > 0 {
		ask("verify_index", r.mendIndexes(), r.wantIndexes)
	}
}
