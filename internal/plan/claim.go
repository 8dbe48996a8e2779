package plan

// This file writes the statements that take rows.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// lowRefresh is how often a claim looks below its low bound even though it
// comes back full: rows that were put back or committed late may stand there.
const lowRefresh = 2 * time.Second

// mostAsked is of how many ready jobs a claim asks at most, from the first on: each is
// read for that.
const mostAsked = 1000

// asking are names that a claim uses itself which asks of jobs.
var asking = map[string]bool{"accept": true, "ask": true, "asked": true, "mostAsked": true}

// uses reports whether a claim uses the name itself where others do not.
func (b *builder) uses(name string) bool {
	return b.spec.Accept && asking[name] || name == queue.ArgTimeout && b.asksTimeout()
}

// asksTimeout reports whether callers say when a claim has run out.
func (b *builder) asksTimeout() bool { return b.spec.Lease != nil && b.spec.Lease.TimeoutArg }

// buildClaim plans Claim.
func (b *builder) buildClaim() {
	c := &Claim{Params: b.claimParams(), Shard: b.spec.Shard != nil, Shares: b.shares(), LeaseArg: b.spec.Lease != nil && b.spec.Lease.LengthArg}
	if t := b.takes(); t != nil && (b.writesClaim() || b.popped() != nil) {
		c.Params = b.addWritten(c.Params, t)
	} else if b.pkg.Strategy == "pop" && b.hasCompanions(queue.Finish) {
		c.Params = b.addWritten(c.Params, b.spec.Transitions[queue.Finish])
	}
	if b.spec.Accept {
		c.Accept = &Accept{Most: mostAsked}
	}
	b.pkg.Claim = c
	for _, o := range b.spec.Order {
		if f := b.jobField(o.Column); o.Column != nil && f != nil && slices.Contains(b.pkg.Fields, f) && !b.reordered(o.Column) {
			c.Order = append(c.Order, SortTerm{Field: f, Desc: o.Desc, NullsFirst: b.comesFirst(o)})
			continue
		}
		break // what follows an expression cannot be sorted by alone
	}
	if b.can(dialect.LowHint) && b.pkg.Strategy == "returning" && b.spec.Group == nil && b.spec.Gate == nil && b.spec.Cycle == nil && b.firstInFirstOut() {
		c.Low = &Low{Field: b.pkg.Key[0], Refresh: lowRefresh}
	}
	if w := b.spec.Transitions[queue.Claim]; w != nil && b.spec.Token != nil && b.spec.Batch == nil && b.hasRunning() && b.writesClaim() {
		for _, write := range w.Writes {
			if write.Value.Kind == queue.Token && !b.tokenEach(write.Column) {
				b.freshToken(c, write.Column)
			}
		}
	}
	switch b.pkg.Strategy {
	case "returning":
		if b.groupInSteps() {
			b.takeGroups(c)
			break
		}
		b.inOne(c, func(name string, limit int) *Statement { return b.takeStatement(name, "update_some", limit) })
	case "block":
		c.Flow = OneBlock
		template := "block"
		if b.groupInSteps() {
			template = "block_group"
		}
		c.Statement = b.takeStatement("claim", template, 0)
	case "advisory":
		c.Flow = OneStatement
		c.Statement = b.takeStatement("claim", "advisory", 0)
	case "token":
		c.Flow = MarkRead
		c.Statement = b.takeStatement("claim", "update_some", 0)
		c.Read = b.readBack()
	case "lock_update":
		c.Flow = LockTake
		fields, does := b.pkg.Key, "locks"
		if b.readsLocked() {
			fields, does = b.pkg.Fields, "locks and reads"
		}
		c.Lock = b.lockStatement(fields, "claim: "+does+" ready rows, which claim.sql then takes")
		b.takeLocked(c, false)
	case "guarded":
		c.Flow = PickTake
		fields, head := b.pkg.Key, "claim: keys of ready rows, which claim.sql then takes"
		if c.Accept != nil {
			fields, head = b.readyFields(), "claim: ready rows, of which claim.sql then takes those that the caller accepts"
		}
		c.Pick = b.readyRows("claim_pick", "Claim", fields, head, "locks: none")
		b.takeLocked(c, true)
	case "pop":
		if b.popsRead() {
			c.Flow = LockTake
			fields, does := b.pkg.Fields, "locks and reads"
			if b.readsEnded() {
				fields, does = b.pkg.Key, "locks"
			}
			c.Lock = b.lockStatement(fields, "claim: "+does+" ready rows, which claim.sql then "+b.ends())
			b.popLocked(c)
			if b.hasCompanions(queue.Finish) {
				c.Ahead, _ = b.companions(queue.Finish, "claim", "Claim", nil)
			}
			break
		}
		c.Flow = OneStatement
		template := "delete_some"
		if b.popped() != nil {
			template = "update_some"
		}
		c.Statement = b.takeStatement("claim", template, 0)
	case "lease_table":
		b.leaseClaim(c)
	case "move":
		b.moveClaim(c)
	case "hold":
		c.Flow = ReadOnly
		b.pkg.Hold = true
		c.Statement = b.holdStatement()
	case "partition":
		c.Flow = ReadOnly
		c.Statement = b.readyRows("claim", "Claim", b.pkg.Fields, "claim: the ready rows of one shard; nothing is written",
			"locks: none; the shard keeps workers apart")
	default:
		b.fail(fmt.Errorf("strategy %q has no statements", b.pkg.Strategy))
	}
	c.Gate = b.buildGate()
	b.buildBatch(c)
	if b.hasCompanions(queue.Claim) && b.pkg.Strategy != "pop" && b.pkg.Strategy != "partition" {
		c.With, _ = b.companions(queue.Claim, "claim", "Claim", nil)
	}
	if len(c.Order) < len(b.spec.Order) && b.comesInOrder(c) {
		c.Order = nil // to sort by a part of it would mix up the rest
	}
	b.docClaim(c)
}

// reordered reports whether a claim changes a column of the order, or the database does so at
// each change of a row: the jobs then come back with the new value, which is not what they were
// taken by. What is counted up keeps its order.
func (b *builder) reordered(c *schema.Column) bool {
	t := b.takes()
	if t == nil || b.running != nil || !b.writesClaim() && (b.popped() == nil || b.popsRead() && !b.rewrites()) {
		return false
	}
	i := slices.IndexFunc(t.Writes, func(w queue.Write) bool { return w.Column == c })
	if i < 0 {
		return (c.OnUpdate || c.MayUpdate) && len(t.Writes) > 0 && !slices.Contains(b.spec.Kept, c)
	}
	return t.Writes[i].Value.Kind != queue.Add
}

// popsRead reports whether a claim of strategy pop reads its jobs before it ends them. A statement
// that has waited for a row which moved meanwhile would look for it where it was.
func (b *builder) popsRead() bool {
	moved := len(b.spec.Key) == 0 && b.d.RowIdentity.Moves && !b.can(dialect.SkipLocked)
	return !b.can(dialect.Returning) || b.pkg.Payload != nil || moved || b.hasCompanions(queue.Finish)
}

// readsLocked reports whether a claim of strategy lock_update reads its jobs as it locks them, since
// what it writes to them afterwards is known by then.
func (b *builder) readsLocked() bool {
	return !b.can(dialect.Returning) && !b.groupInSteps() && !b.rewrites()
}

// rewrites reports whether a claim that locks its jobs before it writes them changes what they carry, so
// that they are read as it leaves them. Where it ends them and writes other tables, of which jobs have a
// part, it does not: what jobs have there is read before.
func (b *builder) rewrites() bool {
	t, step := b.takes(), queue.Claim
	if b.pkg.Strategy == "pop" {
		step = queue.Finish
	}
	if t == nil || len(t.Writes) == 0 {
		return false
	}
	if b.pkg.Payload != nil && b.hasCompanions(step) {
		return step == queue.Claim
	}
	return slices.ContainsFunc(b.pkg.Fields, func(f *Field) bool {
		c := b.columnOf(f)
		return c != nil && (b.writes(step, c) && b.reckoned(f) == nil || c.Generated || (c.OnUpdate || c.MayUpdate) && !slices.Contains(b.spec.Kept, c))
	})
}

// reckoned returns what a claim writes to a column where that is known before, from the row as it is
// locked or by who claims it; nil where it is not. A count of less than 32 bits that has no limit may be cut on a
// server that is not strict, and a text of fixed length comes back without the blanks at its end.
func (b *builder) reckoned(f *Field) *queue.Write {
	t, c := b.takes(), b.columnOf(f)
	if t == nil || c == nil || slices.Contains(b.pkg.Key, f) {
		return nil
	}
	i := slices.IndexFunc(t.Writes, func(w queue.Write) bool { return w.Column == c })
	if i < 0 {
		return nil
	}
	w, number := &t.Writes[i], c.Type.Class == schema.Int && c.Type.Bits >= 32
	known := b.handsOver(*w)
	switch w.Value.Kind {
	case queue.Add:
		known = number || c.Type.Class == schema.Int && c.Type.Bits > 0 && b.bounded(c)
	case queue.WorkerID:
		known = b.pkg.Strategy == "lock_update" && !b.d.LocksInCursors && !c.Type.Array &&
			(number || c.Type.Class == schema.Text && !c.Type.Enum && c.Type.Name != "char")
	}
	if !known {
		return nil
	}
	return w
}

// bounded reports whether the limit of tries keeps their count far from the greatest that the column holds.
func (b *builder) bounded(c *schema.Column) bool {
	a := b.spec.Attempts
	return a != nil && a.Column == c && !a.Down && a.Max > 0 && a.Max < 1<<(c.Type.Bits-2)
}

// handsOver reports whether a claim writes a time that is the same for all of its jobs, reads it together
// with them, and hands it over to the statement that writes: by then the clock says another. A claim that
// waits would begin with a time that has passed.
func (b *builder) handsOver(w queue.Write) bool {
	c, shift := w.Column, w.Value.Shift
	if b.pkg.Strategy != "lock_update" || b.spec.Waits || b.d.LocksInCursors || w.Value.Kind != queue.Now {
		return false
	}
	if shift != nil && (shift.Column != nil || shift.Wait != nil || shift.Arg != "" || shift.Given != "") {
		return false
	}
	switch c.Type.Class {
	case schema.Timestamp:
		return b.rule(c).Cut != "" && c.Type.Step > 0 && c.Type.Step <= time.Second
	case schema.Int:
		return strings.HasPrefix(b.clockKind(c), "epoch") && b.rule(c).Read == ""
	}
	return false
}

// comesInOrder reports whether a claim returns jobs in queue order: the Go can sort them by
// all of it, or they are what one statement has read in that order.
func (b *builder) comesInOrder(c *Claim) bool {
	return b.readsInOrder(c) || c.Flow == ReadOnly || len(c.Order) == len(b.spec.Order)
}

// readsInOrder reports whether the jobs of a claim are the rows that it has locked, as it found them.
// What a cursor has locked is read in any order.
func (b *builder) readsInOrder(c *Claim) bool {
	return c.Flow == LockTake && c.Read == nil && c.Statement.Rows == nil && !b.d.LocksInCursors
}

// addWritten adds the arguments of the user's that a claim writes.
func (b *builder) addWritten(params []*Param, t *queue.Transition) []*Param {
	for _, p := range b.givens(t, false) {
		if p.Field.Said != "" {
			i := slices.IndexFunc(b.spec.Params, func(have *queue.Param) bool {
				return have.Kind == queue.Argument && b.d.Fold(have.Name) == p.Field.Column
			})
			if i >= 0 { // which the claim asks by it as well
				p.Name = params[i].Name
				continue
			}
		} else if same := b.askedAsWell(p, params); same != nil {
			p.Name = same.Name
			continue
		}
		for b.uses(p.Name) || slices.ContainsFunc(params, func(have *Param) bool { return have.Name == p.Name }) {
			p.Name += "Value"
		}
		p.Write = true
		params = append(params, p)
	}
	return params
}

// askedAsWell returns the argument by which the claim asks for rows as well, of one that it writes to a column and
// that is called like it; nil where there is none.
func (b *builder) askedAsWell(p *Param, params []*Param) *Param {
	for i, have := range b.spec.Params {
		if have.Kind == queue.Argument && b.arguments[have.Name] == p {
			return params[i]
		}
	}
	return nil
}

// checkAskedAsWell complains about an argument that a claim writes to a column and by which it asks for rows, where
// the two are not of one type.
func (b *builder) checkAskedAsWell(errs *source.ErrorList) {
	t := b.spec.Transitions[queue.Claim]
	if b.pkg.Strategy == "pop" {
		t = b.spec.Transitions[queue.Finish]
	}
	if t == nil {
		return
	}
	for _, w := range t.Writes {
		i := slices.IndexFunc(b.spec.Params, func(p *queue.Param) bool { return p.Kind == queue.Argument && p.Name == w.Value.Name })
		if w.Value.Kind != queue.Given || i < 0 {
			continue
		}
		asked, f := b.spec.Params[i], b.fields[w.Column]
		written := given(w.Value.Name, f, "").GoType
		if compared := b.timeField(asked); asked.GoType == written && (!isTime(asked) || compared != nil && compared.travelsAs(f)) {
			continue
		}
		hint := fmt.Sprintf("Write {arg:%s %s}, the type of the column, or give one of them a name of its own.", asked.Name, written)
		if isTime(asked) {
			hint = "Give one of them a name of its own."
		}
		errs.Errorf(asked.Pos, "argument %q is %s here, and %s for column %q", asked.Name, asked.GoType, written, w.Column.Name).WithHint("%s", hint)
	}
}

// writesClaim reports whether a claim leaves its marks in the row.
func (b *builder) writesClaim() bool {
	switch b.pkg.Strategy {
	case "pop", "hold", "partition", "offset":
		return false
	}
	return true
}

// firstInFirstOut reports whether rows come in the order of one integer key
// and nothing narrows the claim.
func (b *builder) firstInFirstOut() bool {
	s := b.spec
	if len(s.Key) != 1 || len(s.Order) == 0 || len(s.Params) > 0 || s.Shard != nil {
		return false
	}
	key, first := s.Key[0], s.Order[0]
	return first.Column == key && !first.Desc && first.Nulls == "" && key.Type.Class == schema.Int && !key.Type.Array
}

// comesFirst reports whether nulls stand first in a term of the order.
func (b *builder) comesFirst(o queue.OrderTerm) bool {
	switch o.Nulls {
	case "first":
		return true
	case "last":
		return false
	}
	return b.d.NullsLow != o.Desc
}

// inOne plans a claim of one statement: with the limit as an argument, and again for
// each of some fixed sizes as a literal.
func (b *builder) inOne(c *Claim, write func(name string, limit int) *Statement) {
	if c.Flow, c.Statement = OneStatement, write("claim", 0); b.mostReady() == 1 {
		return
	}
	for _, n := range b.d.ClaimLadder {
		c.Ladder = append(c.Ladder, Rung{Limit: n, Statement: write("claim_"+strconv.Itoa(n), n)})
	}
}

// freshToken has a claim make a token for a column.
func (b *builder) freshToken(c *Claim, column *schema.Column) {
	if c.Token = tokenKind(column); c.Token == "bytes" {
		c.TokenLen = tokenBytes(column)
	}
}

// tokenKind says what a fresh token looks like in Go.
func tokenKind(c *schema.Column) string {
	switch c.Type.Class {
	case schema.UUID:
		return "uuid"
	case schema.Int:
		return "int"
	case schema.Bytes:
		if c.Type.Length > 0 {
			return "bytes"
		}
	}
	if c.Type.Length >= 36 && strings.Contains(c.Name, "uuid") {
		return "uuid"
	}
	return "text"
}

// tokenBytes is how long a token of bytes is. A column of a fixed length, of
// which there is none above 255, would fill up a shorter one, and so change it.
func tokenBytes(c *schema.Column) int {
	if c.Type.Length > 255 {
		return queue.TokenBytes
	}
	return c.Type.Length
}

// claimParams plans the arguments that narrow a claim.
func (b *builder) claimParams() []*Param {
	var params []*Param
	used := map[string]bool{}
	add := func(p *Param) {
		for used[p.Name] {
			p.Name += "2"
		}
		used[p.Name] = true
		params = append(params, p)
	}
	for _, p := range b.spec.Params {
		gp := &Param{GoType: p.GoType}
		if p.Kind == queue.Argument {
			add(b.askedParam(p))
			continue
		}
		f := b.fields[p.Column]
		gp.Field = f
		gp.Name = b.narrowingName(cmp.Or(p.Name, p.Column.Name))
		gp.GoType = f.GoType
		switch p.Kind {
		case queue.Equal:
			gp.Doc = "the " + plainText(f.Column) + " that rows must have"
		case queue.List:
			gp.Doc = "the list of which rows must have a " + plainText(f.Column)
			if p.Always(queue.List) {
				gp.Doc += ", so that an empty one suits no row"
			}
		case queue.Except:
			gp.Except, gp.Filled = true, !p.Optional
			gp.Doc = "the list of which rows must not have a " + plainText(f.Column)
		case queue.Minimum:
			gp.Name, gp.Doc = "min"+f.Name, "the least "+plainText(f.Column)+" that rows may have"
		case queue.Maximum:
			gp.Name, gp.Doc = "max"+f.Name, "the greatest "+plainText(f.Column)+" that rows may have"
		case queue.Prefix:
			gp.Name, gp.Doc = f.Param+"Prefix", "what the "+plainText(f.Column)+" of rows must begin with"
		}
		if p.Kind == queue.List || p.Kind == queue.Except {
			gp.GoType, gp.List, gp.JSON = "[]"+f.GoType, true, b.batches("json")
		}
		if len(p.Any) > 0 {
			gp.Doc += ", unless theirs is " + suiting(p.Any) + ", which suits every caller"
		}
		if p.Optional {
			if !gp.List {
				gp.GoType = "*" + gp.GoType
			}
			each := ", nil for any"
			if b.d.EmptyIsNull && !gp.List && f.GoType == "string" {
				each = `, nil for any, and so an empty text, which is null here`
			}
			gp.Doc += each
		}
		add(gp)
	}
	return params
}

// askedParam plans an argument that an expression of the user's takes.
func (b *builder) askedParam(p *queue.Param) *Param {
	gp := &Param{GoType: p.GoType, Name: b.narrowingName(p.Name), Doc: "the value of {arg:" + p.Name + "}"}
	if p.Name == queue.ArgRunning && b.saysRunning() {
		gp.Doc = "how many jobs may run at once"
		if b.spec.Gate == nil {
			gp.Doc = "how many jobs of one group may run at once"
		}
		gp.Doc += "; all callers have to say the same, and with 0 none is claimed"
	}
	if strings.HasPrefix(p.GoType, "[]") && p.GoType != "[]byte" {
		gp.Doc += ", of which nil may be a null, with which nothing compares, and no empty list"
	}
	if isTime(p) {
		gp.Field = b.timeField(p)
	}
	return gp
}

// narrowingName returns the Go name of an argument that narrows a claim.
func (b *builder) narrowingName(name string) string {
	name = parameter(unexported(name))
	if b.uses(name) {
		name += "Value"
	}
	return name
}

// ready returns the conditions under which a row may be claimed.
func (s *scope) ready() []string {
	where := slices.Concat(s.tests(s.stateTests(queue.Ready)), s.params(s.pkg.Claim), s.look())
	if s.side != nil {
		where = append(where, s.free())
	}
	return where
}

// limit writes how many rows at most: an argument, or a literal.
func (s *scope) limit(v *values, n int) {
	v.Limit, v.Single = strconv.Itoa(n), n == 1
	if n == 0 {
		v.Limit = s.arg(Arg{Kind: ArgLimit})
	}
}

// limitReady writes how many ready rows at most.
func (s *scope) limitReady(v *values, n int) {
	if s.limit(v, n); s.roomOnce() {
		v.Limit = s.limitRoom(v.Limit)
	}
}

// mostReady is how many ready rows a claim takes at most, whatever its limit; 0 where that says it.
func (b *builder) mostReady() int {
	if b.claimsOneGroup() {
		return 1
	}
	return 0
}

// takeStatement writes a claim that takes rows in one statement; limit 0 is an
// argument.
func (b *builder) takeStatement(name, template string, limit int) *Statement {
	s, v := b.newScope(), b.base("Claim")
	if limit == 0 {
		limit = b.mostReady()
	}
	s.single = limit == 1
	v.Where = s.ready()
	if b.pkg.Claim.Low != nil {
		v.Where = append(v.Where, s.column(b.spec.Key[0])+" > "+s.arg(Arg{Kind: ArgLow}))
	}
	s.inOrder(&v)
	s.limitReady(&v, limit)
	suffix := ""
	switch template {
	case "block_group":
		s.inBlock(&v)
		s.mark(&v)
	case "block":
		s.mark(&v)
	default:
		suffix = s.pick(&v)
		s.findNulls(&v)
	}
	if t := b.takes(); t != nil {
		v.Set = s.sets(t.Writes)
	}
	if template == "advisory" {
		v.Guard = s.ready()
	}
	rows := b.pkg.Fields
	if b.pkg.Strategy == "token" {
		rows = b.counted()
	}
	s.returns(&v, event(template), rows)
	s.taken(&v)
	s.cursor(&v)
	moves := "ready to " + string(b.takenState())
	if b.pkg.Strategy == "pop" {
		moves = b.popMoves()
	}
	head := []string{"claim: " + moves, "locks: the rows it takes, until commit; passes over rows that are locked"}
	switch template {
	case "block_group":
		head[1] = "locks: the rows it finds" + b.groupLocks() + ", until commit; passes over rows and groups that are locked"
	case "delete_some":
		head[1] = "locks: the rows it deletes, until commit; passes over rows that are locked"
	case "advisory":
		head[1] = "locks: the rows it takes, and a number for each, until commit; passes over numbers that are locked"
	}
	head[1] = b.locksSorted(head[1])
	return s.statement(name, template+suffix, v, rows, append(head, b.readyHead())...)
}

// locksSorted is what a head says of locks, of all ready rows where they are sorted under them.
func (b *builder) locksSorted(head string) string {
	_, rest, found := strings.Cut(head, ", until commit")
	if !found || !b.sortsLocked() && (!b.can(dialect.LocksSorted) || b.findsFirst() || !b.sortsAsked()) {
		return b.locksPassed(head)
	}
	which := "all ready rows"
	if len(b.topics()) > 0 {
		which += " of what is asked for"
	}
	return "locks: " + which + ", which are sorted first, until commit" + rest
}

// locksPassed returns what a head says of the locks of a claim, and of those that the server keeps on rows which a
// condition refuses: no other claim takes them either.
func (b *builder) locksPassed(head string) string {
	if !b.keepsRefused() {
		return head
	}
	return withPassed(head)
}

// passedOver are rows that a server keeps locked though a condition refuses them.
const passedOver = "those that it reads and passes over"

// withPassed is what a head says of locks where rows that are read and passed over stay locked as well.
func withPassed(head string) string {
	rows, rest, found := strings.Cut(head, ", until commit")
	if !found {
		return head
	}
	rows, more, listed := strings.Cut(rows, ", ")
	if listed {
		return rows + ", " + passedOver + ", " + more + ", until commit" + rest
	}
	return rows + " and " + passedOver + ", until commit" + rest
}

// joins reports whether the server makes a join of a condition, and so keeps rows locked that it refuses.
func (b *builder) joins(t queue.Test) bool {
	if t.Op != queue.Raw || len(t.Or) > 0 {
		return false
	}
	finds, misses := queue.Asks(t.SQL)
	return finds && b.can(dialect.KeepsJoined) || misses && b.can(dialect.KeepsAntiJoin)
}

// joinsAsked is joins of a condition with an argument: another caller may want what it refuses.
func (b *builder) joinsAsked(t queue.Test) bool { return takesArgument(t) && b.joins(t) }

// keepsRefused reports whether rows stay locked that a claim reads and no claim would take.
func (b *builder) keepsRefused() bool {
	if !b.can(dialect.SkipLocked) || len(b.spec.Key) > 0 && b.findsFirst() {
		return false
	}
	if slices.ContainsFunc(b.stateTests(queue.Ready), b.joins) {
		return true
	}
	w, ix := b.keepsRead()
	if ix == nil {
		return false
	}
	_, rest := b.leads(ix, b.stateTests(queue.Ready))
	return b.spec.Group != nil || len(rest) > 0 || b.waitNote(w, b.columnsOf(ix)) != ""
}

// keepsRead returns the index, of the table or advised, to whose rows a claim has locks that stay where a condition
// refuses them, and what is wanted of it; nil where the server unlocks such rows, or reads by the key.
func (b *builder) keepsRead() (w wanted, ix *schema.Index) {
	if !b.can(dialect.KeepsRefused) {
		return w, nil
	}
	w = b.soughtIndex()
	if ix = b.serving(w); ix == nil && len(w.columns) > 0 {
		ix = b.made(w)
	}
	if ix != nil && b.byKey(ix) {
		return w, nil
	}
	return w, ix
}

// sortsLocked reports whether the server locks all ready rows, since it sorts them.
func (b *builder) sortsLocked() bool {
	if b.spec.Waits && b.claimsOne() {
		return false
	}
	given, _, _ := b.givesOrder(false)
	sorts := b.can(dialect.SortsLocked) || b.can(dialect.LocksSorted) && b.spec.Waits
	return sorts && len(b.spec.Order) > 0 && (!given || len(b.several()) > 0 && !b.namedInOrder() || b.sortsAsked())
}

// namedInOrder reports whether the index that finds the rows which a caller names has them in the order of the
// queue.
func (b *builder) namedInOrder() bool {
	return b.hasInOrder(b.best(b.spec.Table.Indexes, b.claimIndex()))
}

// hasInOrder reports whether an index that serves so has the rows that a caller names in the order of the queue: a
// unique one, or one that has one value in all columns before those.
func (b *builder) hasInOrder(ix *schema.Index, how service) bool {
	if how != single && how != asked {
		return false
	}
	var ordered []indexKey
	for _, o := range b.claimOrder() {
		ordered = append(ordered, indexKey{column: o.Column, sql: o.SQL, desc: o.Desc, nulls: o.Nulls})
	}
	lists := b.listed()
	if how == asked {
		columns := b.columnsOf(ix)
		n := slices.IndexFunc(columns, func(c schema.IndexColumn) bool {
			return !slices.Contains(b.topics(), c.Column) || slices.Contains(lists, c.Column)
		})
		return n > 0 && (b.gives(columns[n:], nil, nil, ordered) || b.gives(columns[n:], nil, nil, reversed(ordered)))
	}
	for n, c := range ix.Columns {
		if slices.Contains(lists, c.Column) {
			rest := ix.Columns[n:] // what stands before has one value
			ordered = ordered[:min(len(ordered), len(rest))]
			return b.gives(rest, nil, nil, ordered) || b.gives(rest, nil, nil, reversed(ordered))
		}
	}
	return true
}

// popped returns what a claim of strategy pop writes, since it ends its jobs as well; nil
// where it deletes their rows, and with every other strategy.
func (b *builder) popped() *queue.Transition {
	if b.pkg.Strategy != "pop" || !b.spec.KeepsPopped() {
		return nil
	}
	return b.spec.Transitions[queue.Finish]
}

// leavesReadyRows reports whether a claim of strategy pop leaves rows as ready ones are, as far as is known.
func (b *builder) leavesReadyRows() bool {
	return b.popped() != nil && slices.Contains(b.spec.Anew, queue.Finish)
}

// keepsReady reports whether a claim of strategy pop surely leaves rows as ready ones are; else by is the
// column where nobody knows that of what it writes.
func (b *builder) keepsReady() (sure bool, by *schema.Column) {
	if !b.leavesReadyRows() {
		return false, nil
	}
	for _, w := range b.popped().Writes {
		constant := w.Value.Kind == queue.Literal || w.Value.Kind == queue.Null
		if w.Value.Kind != queue.Old && slices.ContainsFunc(b.stateTests(queue.Ready), func(t queue.Test) bool {
			return t.Column == w.Column && !constant || t.Op == queue.Raw && b.spec.Reads(t.SQL, w.Column)
		}) {
			return false, w.Column
		}
	}
	return true, nil
}

// onlyChanges reports whether what a claim writes is all that is to be done, so that no job is lost behind
// it: rows stay ready, or no Work would call a handler for them and they are those that its caller names, that
// another queue over the table goes on with, or of which it says what becomes of them there.
func (b *builder) onlyChanges() bool {
	return b.popped() != nil && (b.leavesReadyRows() || !b.pkg.WorkLoop && (b.spec.EndsNamed() || b.spec.PassesOn() || b.spec.Decides() && !b.spec.ChangesNamed()))
}

// suiting lists the values with which a row suits every caller.
func suiting(values []queue.Value) string {
	var texts []string
	for _, v := range values {
		switch {
		case v.Kind == queue.Null:
			texts = append(texts, "null")
		case v.Text == "": // in a comment gofmt makes another sign of two quotes
			texts = append(texts, "the empty text")
		default:
			texts = append(texts, plainText("'"+v.Text+"'"))
		}
	}
	return alternatives(texts)
}

// popMoves says in head comments what a claim of strategy pop makes of rows.
func (b *builder) popMoves() string {
	switch sure, by := b.keepsReady(); {
	case sure:
		return "changes ready rows, which stay ready"
	case by != nil:
		return "changes ready rows, which stay; " + plainText(by.Name) + " tells whether they are ready"
	case b.popped() != nil:
		return "ready to done"
	}
	return "ready to gone"
}

// takes returns what a claim writes to a row, nil where it writes nothing.
func (b *builder) takes() *queue.Transition {
	if b.pkg.Strategy == "pop" {
		return b.popped()
	}
	return b.spec.Transitions[queue.Claim]
}

// ends says what a claim of strategy pop does to rows.
func (b *builder) ends() string {
	if b.popped() != nil {
		return "writes"
	}
	return "deletes"
}

// counted is what a statement returns of which only the number of rows counts.
func (b *builder) counted() []*Field {
	if b.can(dialect.Miscounts) {
		return b.pkg.Key
	}
	return nil
}

// event is what a template does to rows, as a trigger sees it.
func event(template string) string {
	switch word, _, _ := strings.Cut(template, "_"); word {
	case "insert", "delete":
		return word
	}
	return "update"
}

// mark sets how a block that opens no cursor for its caller remembers the row that
// it writes, and how it finds those that it has written.
func (s *scope) mark(v *values) {
	if s.can(dialect.OpenCursors) {
		return
	}
	for _, c := range s.spec.Key {
		variable := s.d.Ident(s.alias(v.Names.Picked + "_" + c.Name))
		v.Pick = append(v.Pick, s.column(c))
		v.Variables = append(v.Variables, variable)
		v.Joined = append(v.Joined, s.column(c)+" = "+variable)
	}
	v.Marked = s.marked()
}

// marked are the conditions of the rows in which a claim left its token.
func (s *scope) marked() []string {
	token := s.spec.Token
	return append([]string{s.column(token) + " = " + s.arg(Arg{Kind: ArgToken, Field: s.fields[token]})}, s.tests(s.stateTests(s.takenState()))...)
}

// cursor has a block give its rows back by a cursor.
func (s *scope) cursor(v *values) {
	if s.can(dialect.OpenCursors) && len(v.Returning) > 0 {
		v.Cursor = s.arg(Arg{Kind: ArgCursor})
	}
}

// readyHead says in a head comment how ready rows are found.
func (b *builder) readyHead() string { return b.usesHead(b.claimIndex()) }

// readBack reads the rows that a token marks, by an index that has the token, where there is one: where that
// begins with topics of the claim, these are compared as well.
func (b *builder) readBack() *Statement {
	s, v := b.newScope(), b.base("Claim")
	v.Where = s.marked()
	tests := append([]queue.Test{oneValue(b.spec.Token)}, b.stateTests(b.takenState())...)
	for i, p := range b.spec.Params {
		if !p.Always(queue.Equal) || b.writes(queue.Claim, p.Column) {
			continue
		}
		with := append(slices.Clone(tests), oneValue(p.Column))
		if before, _, _ := b.ledTo(tests); before == nil || !has(before, b.spec.Token) {
			if by, _, _ := b.ledTo(with); by != nil && has(by, b.spec.Token) && has(by, p.Column) {
				tests, v.Where = with, append(v.Where, s.param(p, b.pkg.Claim.Params[i]))
			}
		}
	}
	v.Returning = s.read(b.pkg.Fields)
	return s.statement("claim_read", "select", v, b.pkg.Fields,
		"claim: reads back the rows that the token marks", "locks: none", "index: "+strings.Replace(b.foundBy(tests, nil), noIndex, "none; it reads the table", 1))
}

// oneValue stands for a comparison of a column with one value, whatever that is.
func oneValue(c *schema.Column) queue.Test {
	return queue.Test{Column: c, Op: queue.In, Values: []queue.Value{{Kind: queue.Literal, Text: "?"}}}
}

// has reports whether a column is one of an index.
func has(ix *schema.Index, c *schema.Column) bool {
	return slices.ContainsFunc(ix.Columns, func(have schema.IndexColumn) bool { return have.Column == c })
}

// readyRows reads ready rows without locks.
func (b *builder) readyRows(name, op string, fields []*Field, head ...string) *Statement {
	s, v := b.newScope(), b.base(op)
	s.lockless = op == "Peek"
	v.Where = s.ready()
	s.inOrder(&v)
	s.limitReady(&v, b.mostReady())
	if len(b.apart()) > 0 {
		s.find(&v, v.Limit)
	}
	v.Returning = s.read(fields)
	return s.statement(name, "select", v, fields, append(head, b.readyHead())...)
}

// lockStatement reads ready rows and locks them.
func (b *builder) lockStatement(fields []*Field, head string) *Statement {
	if b.d.SingleWriter {
		b.reserve()
		return b.readyRows("claim_lock", "Claim", fields, strings.NewReplacer("locks and reads", "reads", "locks ready", "reads ready").Replace(head),
			"locks: none of its own; reserve.sql has locked the database for writing")
	}
	s, v := b.newScope(), b.base("Claim")
	v.Where = s.ready()
	s.inOrder(&v)
	s.limitReady(&v, b.mostReady())
	if b.findsFirst() {
		s.find(&v, s.arg(b.looksAhead()))
		v.Where = s.ready() // of rows that others may have changed since they were found
	}
	v.Returning, v.Stays = s.readTaken(fields), b.staysPopped()
	s.cursor(&v)
	return s.statement("claim_lock", "select_lock", v, fields, head,
		b.locksSorted("locks: the rows it returns, until commit; passes over rows that are locked"), b.readyHead())
}

// findsFirst reports whether a claim that locks rows finds them without locks before: where
// the server would lock all that it sorts, or what it reads for others. What stands behind then
// locks them by their keys, one after the other, until it has enough.
func (b *builder) findsFirst() bool { return b.findsSorted() || b.keepsOthers() }

// looksAhead is how many rows are found first.
func (b *builder) looksAhead() Arg {
	if b.findsSorted() {
		return Arg{Kind: ArgAhead, Besides: AheadMore}
	}
	return Arg{Kind: ArgAhead, Besides: AheadFew}
}

// findsSorted reports whether rows are found first since an index cannot give them in order.
func (b *builder) findsSorted() bool {
	inOrder, _, _ := b.canLockInOrder()
	return b.pkg.Strategy != "hold" && len(b.spec.Key) > 0 && (!inOrder || len(b.apart()) > 0)
}

// keepsOthers reports whether a claim that locks what it reads would keep locked what it reads for others: the
// index leads to rows of which the caller says no, another caller says yes, and the server does not unlock them; or a
// join drops them behind their locks.
func (b *builder) keepsOthers() bool {
	if !b.can(dialect.SkipLocked) || b.spec.Waits || len(b.spec.Key) == 0 || b.claimsOne() {
		return false
	}
	if slices.ContainsFunc(b.stateTests(queue.Ready), b.joinsAsked) {
		return true
	}
	w, ix := b.keepsRead()
	if ix == nil {
		return false
	}
	unled := func(p *queue.Param) bool {
		alike := slices.ContainsFunc(ix.Columns, func(c schema.IndexColumn) bool { return c.Column == p.Column && b.readsAlike(w, c) })
		return p.Kind != queue.Argument && (alike || !b.ledBy(w, b.columnsOf(ix), p.Column)) // what else an argument tells, a test does
	}
	return b.spec.Shard != nil || slices.ContainsFunc(b.spec.Params, unled) || slices.ContainsFunc(b.stateTests(queue.Ready), takesArgument)
}

// findNulls sets, where the order begins with the time from which rows are ready and a null there is ready as
// well, that either are found by themselves: an index then leads to both and not through all that wait.
func (s *scope) findNulls(v *values) {
	order := s.claimOrder()
	if !s.can(dialect.NullsApart) || s.spec.Group != nil || len(order) == 0 || slices.ContainsFunc(order, func(o queue.OrderTerm) bool { return o.Column == nil || s.against(o) }) {
		return
	}
	tests := s.stateTests(queue.Ready)
	i := slices.IndexFunc(tests, func(t queue.Test) bool {
		return t.Column == order[0].Column && t.Op == queue.LessEqual && len(t.Or) == 1 && t.Or[0].Column == t.Column && t.Or[0].Op == queue.IsNull && len(t.Or[0].Or) == 0
	})
	if i < 0 {
		return
	}
	due := tests[i]
	at := slices.Index(v.Where, s.test(due))
	if at < 0 {
		return
	}
	come := due
	come.Or = nil
	for _, t := range []queue.Test{due.Or[0], come} {
		where := slices.Clone(v.Where)
		where[at] = s.test(t)
		v.Found.Parts = append(v.Found.Parts, where)
	}
	v.Found.Picked = slices.Clone(v.Pick)
	for _, o := range order {
		if c := s.column(o.Column); !slices.Contains(v.Found.Picked, c) {
			v.Found.Picked = append(v.Found.Picked, c)
		}
	}
}

// find sets how ready rows are found, up to ahead of each part. Where several values of a
// column mean ready, the rows of each are a part, which an index gives in queue order.
func (s *scope) find(v *values, ahead string) { s.findEach(v, ahead, s.apart()) }

// findEach sets how the rows of v.Where are found without locks, up to ahead of each value of those tests. What is
// written afterwards names the columns of the table in full.
func (s *scope) findEach(v *values, ahead string, apart []queue.Test) {
	parts := [][]queue.Test{nil}
	for _, t := range apart {
		var longer [][]queue.Test
		for _, part := range parts {
			for _, value := range t.Values {
				one := t
				one.Values = []queue.Value{value}
				longer = append(longer, append(slices.Clone(part), one))
			}
		}
		parts = longer
	}
	f := found{Ahead: ahead}
	for _, part := range parts {
		where := slices.Clone(v.Where)
		for i, t := range apart {
			where[slices.Index(where, s.test(t))] = s.test(part[i])
		}
		f.Parts = append(f.Parts, where)
	}
	// A name of their own: expressions of the user's say columns of the table alone.
	add := func(text string) string {
		name := ""
		for i, have := range f.Picked {
			if have == text+" AS "+f.Names[i] {
				name = f.Names[i]
			}
		}
		if name == "" {
			name = v.Names.Candidate + "_" + strconv.Itoa(len(f.Names)+1)
			for s.spec.Table.Column(name) != nil {
				name += "_"
			}
			f.Names, f.Picked = append(f.Names, name), append(f.Picked, text+" AS "+name)
		}
		return v.Names.Candidate + "." + name
	}
	for _, c := range s.spec.Key {
		f.Joined = append(f.Joined, s.qualified()+s.d.Ident(c.Name)+" = "+add(s.d.Ident(c.Name)))
	}
	for _, term := range v.Order {
		text, falls := strings.CutSuffix(term, " DESC")
		within := text
		text = add(text)
		if !slices.ContainsFunc(s.spec.Table.Columns, func(c *schema.Column) bool { return s.d.Ident(c.Name) == within }) {
			within = strings.TrimPrefix(text, v.Names.Candidate+".") // an expression is computed once
		}
		if falls {
			text, within = text+" DESC", within+" DESC"
		}
		f.Order, f.Within = append(f.Order, text), append(f.Within, within)
	}
	v.Found = f
	s.prefix = s.qualified()
}

// takeLocked plans how rows that were found are taken, by their keys. Those that
// were found without a lock are guarded: they must still be ready, and as the caller
// saw them where it was asked.
func (b *builder) takeLocked(c *Claim, guarded bool) {
	s, v := b.newScope(), b.base("Claim")
	var seen, held []*Field
	if c.Accept != nil {
		seen = b.counters()
	}
	if b.can(dialect.Returning) || b.locksTable() {
		held = seen // else what locks the rows compares them
	}
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, held, nil, "_picked")
	locks := "locks: the rows it takes, until commit"
	lead := "claim: ready to " + string(b.takenState()) + ", of "
	head := lead + "the rows that claim_lock.sql locked"
	if guarded {
		head = lead + "the rows that claim_pick.sql named and nobody took since"
		locks += "; waits for rows that are locked"
		v.Where = s.ready()
	}
	// What the caller was asked about is compared with the row as it is read afterwards.
	reads := b.readsLocked() && (!guarded || c.Accept == nil && b.pkg.Payload == nil && !b.locksTable())
	s.handed = reads
	v.Set = s.sets(b.spec.Transitions[queue.Claim].Writes)
	if b.can(dialect.Returning) && b.groupInSteps() {
		v.Where = s.recount()
		head += ", as far as their groups still have room"
	}
	if b.can(dialect.Returning) {
		s.returns(&v, "update", b.pkg.Fields)
		c.Statement = s.statement("claim", "update_batch", v, b.pkg.Fields, head, locks, b.keyHead(v))
		return
	}
	if guarded && b.locksTable() {
		// A lock would be gone before the row is written: the statement that writes it looks.
		c.Alone = true
		c.Statement = s.statement("claim", "update_batch", v, nil,
			lead+"one of the rows that claim_pick.sql named, unless somebody took it since",
			"locks: the table, while the statement runs", b.keyHead(v))
		c.Read = b.readByKey("claim_read", "Claim", b.pkg.Fields, "claim: reads back the rows that were taken")
		return
	}
	if guarded {
		v.Where = nil
		where, locks := (*scope).ready, "the rows it takes"
		fields, does := b.pkg.Key, "locks"
		if reads {
			fields, does = b.pkg.Fields, "locks and reads"
		}
		if b.groupInSteps() {
			where = func(s *scope) []string { return append(s.ready(), s.locksGroup()) }
			locks = "the rows it returns" + b.groupLocks()
		}
		c.Lock = b.picked("claim_lock", "lock_batch", fields, does+" those of the rows that claim_pick.sql named which are still ready",
			locks+", until commit; waits for rows that are locked", where, seen...)
		head = lead + "the rows that claim_lock.sql locked"
	}
	if b.groupInSteps() {
		b.narrowGroups(c, guarded)
	}
	if slices.ContainsFunc(s.args, func(a Arg) bool { return a.Kind == ArgTaken }) {
		head += ", with the times that it read"
	}
	c.Statement = s.statement("claim", "update_batch", v, nil, head, "locks: the rows it takes, until commit", b.keyHead(v))
	if !reads {
		c.Read = b.readByKey("claim_read", "Claim", b.pkg.Fields, "claim: reads back the rows that were taken")
	}
}

// counters are the columns that every claim of a row counts up or down, of those that
// all rows have: where one is as it was read, nobody has had the row since and kept a
// try.
func (b *builder) counters() []*Field {
	var fields []*Field
	for _, w := range b.spec.Transitions[queue.Claim].Writes {
		f := b.fields[w.Column]
		if w.Value.Kind == queue.Add && w.Column.NotNull && slices.Contains(b.pkg.Fields, f) && !slices.Contains(b.pkg.Key, f) {
			fields = append(fields, f)
		}
	}
	return fields
}

// picked writes a statement that finds those of the rows that were picked for a claim
// which still are as it wants them, and whose columns seen are as they were read.
func (b *builder) picked(name, template string, fields []*Field, head, locks string, where func(*scope) []string, seen ...*Field) *Statement {
	s, v := b.newScope(), b.base("Claim")
	s.listed = true
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, seen, nil, "_picked")
	v.Where = where(s)
	v.Returning, v.Stays = s.readTaken(fields), b.staysPopped()
	return s.statement(name, template, v, fields, "claim: "+head, "locks: "+locks, b.keyHead(v))
}

// popLocked plans how rows that are locked are ended, by their keys.
func (b *builder) popLocked(c *Claim) {
	s, v := b.newScope(), b.base("Claim")
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_picked")
	head := "claim: " + b.popMoves() + ", of the rows that claim_lock.sql locked"
	if b.leavesReadyRows() {
		head = "claim: " + strings.Replace(b.popMoves(), "ready rows", "the rows that claim_lock.sql locked", 1)
	}
	if t := b.popped(); t != nil {
		if tests := b.askedAgain(); len(tests) > 0 {
			locks := "none"
			if b.readsBatch() == "lock_batch" {
				locks = "the rows it returns, which claim_lock.sql has locked"
			}
			c.Narrow = append(c.Narrow, b.picked("claim_again", b.readsBatch(), b.pkg.Key,
				"those of the rows that are ready still, as claims before it have left other tables", locks,
				func(s *scope) []string { return s.tests(tests) }))
		}
		v.Set = s.sets(t.Writes)
		var rows []*Field
		switch {
		case !b.readsEnded():
		case b.can(dialect.Returning):
			rows = b.pkg.Fields
			s.returns(&v, "update", rows)
		default:
			c.Read = b.readByKey("claim_read", "Claim", b.pkg.Fields, "claim: reads the rows as they are written")
		}
		c.Statement = s.statement("claim", "update_batch", v, rows, head,
			"locks: the rows it writes, until commit", b.keyHead(v))
		return
	}
	c.Statement = s.statement("claim", "delete_batch", v, nil, head,
		"locks: the rows it deletes, until commit", b.keyHead(v))
}

// staysPopped reports whether a claim of strategy pop leaves its rows where they are, so that those which refer to
// them need not wait.
func (b *builder) staysPopped() bool { return b.popped() != nil && !b.movesKey(queue.Finish) }

// askedAgain returns the conditions of ready rows that read other tables which a claim of strategy pop writes, where
// the rows of its jobs stay. A claim that found a row before another one had written those, and locks it behind
// that, would take it once more.
func (b *builder) askedAgain() []queue.Test {
	t := b.popped()
	if t == nil || b.pkg.Payload != nil || len(b.spec.Key) == 0 || !b.looksElsewhere() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.stateTests(queue.Ready)), func(test queue.Test) bool {
		text := literals.ReplaceAllString(test.SQL, "''")
		return test.Op != queue.Raw || len(test.Or) > 0 || !source.Mentions(text, "select") ||
			!slices.ContainsFunc(t.With, func(c *queue.Companion) bool { return source.Mentions(text, c.Table) })
	})
}

// readsEnded reports whether a claim of strategy pop that locks its rows first reads its jobs as it leaves them.
func (b *builder) readsEnded() bool { return b.rewrites() || len(b.askedAgain()) > 0 }

// keepsHeld reports whether no step deletes a row that somebody holds: rows of other tables that refer to it
// can be added meanwhile.
func (b *builder) keepsHeld() bool {
	deletes := func(t *queue.Transition) bool { return t != nil && t.Delete }
	return !deletes(b.spec.Transitions[queue.Finish]) && !deletes(b.spec.Transitions[queue.Fail]) &&
		!slices.ContainsFunc(b.spec.Outcomes, func(o *queue.Outcome) bool { return deletes(o.Transition) })
}

// holdStatement locks rows and writes nothing.
func (b *builder) holdStatement() *Statement {
	s, v := b.newScope(), b.base("Claim")
	v.Where = s.ready()
	// A transaction is not stopped by its own locks: leave out what it holds.
	s.listed, s.settle.inner = true, b.keepsOthers()
	held := s.batchOf(ArgHeld, ArgHeldAll, b.pkg.Key, nil, nil, "_held")
	v.Held = &held
	s.inOrder(&v)
	s.limit(&v, 0)
	if s.settle.inner {
		s.find(&v, s.arg(b.looksAhead()))
		v.Where = s.ready()
	}
	v.Returning, v.Stays = s.read(b.pkg.Fields), b.keepsHeld()
	s.cursor(&v)
	return s.statement("claim", "select_lock", v, b.pkg.Fields, "claim: ready rows, held by their locks; nothing is written",
		b.locksPassed("locks: the rows it returns, until commit; passes over rows that are locked"), b.readyHead())
}
