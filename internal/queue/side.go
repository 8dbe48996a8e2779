package queue

// This file reads a table beside that of the queue as the place where claims are
// held: who has a row stands there, under the row's key.

import (
	"slices"
	"time"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// SideLease is for how long a claim in a side table is good where nothing says it.
const SideLease = 5 * time.Minute

// NeverFails is the note of a queue whose own columns cannot tell a failed row.
const NeverFails = "nothing marks a failed row, so Fail always puts the job back"

// noEnd is the note of a queue whose jobs are tried for ever, or how it begins.
const noEnd = "tries have no limit, so Fail always puts the job back"

// Side says of a table beside that of the queue how it holds claims.
type Side struct {
	Pos      source.Pos    // where it is asked for
	Name     string        // of a table that is to be made, "" for the default
	Length   time.Duration // for how long a claim is good, 0 where it never ends
	Attempts int           // how often a job is tried at most, 0 is no limit
	Keep     bool          // the side row of a finished job stays

	// Table is the user's own; nil for one that is to be made.
	Table   *schema.Table
	Columns SideColumns
	Times   map[*schema.Column]SideTime
}

// SideColumns are the columns of a side table; nil ones are absent.
type SideColumns struct {
	Key      []*schema.Column // in the order of the queue's key
	Token    *schema.Column
	Worker   *schema.Column
	Claimed  *schema.Column // since when
	Until    *schema.Column // until when; a job that waits has no token
	Attempts *schema.Column
	Error    *schema.Column
	Failed   *schema.Column // since when the job has failed for good, null while it has not
}

// SideTime is how a column of a side table keeps time, as Column says it.
type SideTime struct {
	As, Clock string
	Width     int
}

// readSide reads side_table and lease_table.
func (b *binding) readSide() {
	side, own := b.config.Side, b.config.Lease
	b.spec.Tables = b.catalog.Tables
	switch {
	case side != nil:
		b.spec.Side = &Side{Pos: side.Pos, Name: side.Name.Value, Length: SideLease, Attempts: int(side.Attempts.Value)}
		if side.Lease.IsSet() {
			b.spec.Side.Length = side.Lease.Value
		}
	case own != nil:
		b.readLeaseTable(own)
	}
}

// readLeaseTable reads the description of a table of the user's own.
func (b *binding) readLeaseTable(l *config.LeaseTable) {
	s := &Side{Pos: l.Pos, Keep: l.Keep.Value, Times: map[*schema.Column]SideTime{}}
	if s.Table = named(b.catalog, tableName{String: l.Name, key: "name: "}, b.fold, b.errs); s.Table == nil {
		return
	}
	column := func(name config.String) *schema.Column {
		if !name.IsSet() {
			return nil
		}
		return b.columnNamed(s.Table, name.Value, name.Pos)
	}
	timed := func(t *config.TimeColumn) *schema.Column {
		if t == nil {
			return nil
		}
		c := column(t.Column)
		if c == nil {
			return nil
		}
		kept := &Column{Column: c}
		if t.As.IsSet() && !b.checkAs(kept, &word{pos: t.As.Pos, values: []literal{asLiteral(t.As)}}) {
			return nil
		}
		clock := orWord(t.Clock.Value, b.spec.Clock)
		if c.Type.Zone && !t.Clock.IsSet() {
			clock = "" // that of the queue is for columns that know no zone
		}
		s.Times[c] = SideTime{As: kept.As, Clock: clock, Width: kept.Width}
		if c.Type.Class == schema.Int && !t.As.IsSet() {
			b.errorf(t.Pos, "column %q is %s, and nothing says how it counts time", c.Name, c.Type.Raw).
				WithHint("Say as: epoch for seconds since 1970, epoch_ms, epoch_us or epoch_ns.")
		}
		if c.Type.Class == schema.Timestamp && !c.Type.Zone && s.Times[c].Clock == "" {
			b.errorf(t.Pos, "column %q has no time zone, and nothing says whose clock it shows", c.Name).
				WithHint("Say clock: utc or clock: local beside its name, or for the whole queue.")
		}
		if t.Length.IsSet() {
			s.Length = t.Length.Value
		}
		return c
	}
	k := &s.Columns
	k.Token, k.Worker, k.Attempts, k.Error = column(l.Token), column(l.Worker), column(l.Attempts), column(l.Error)
	k.Claimed, k.Until = timed(l.Claimed), timed(l.Lease)
	if l.Lease != nil && !l.Lease.Length.IsSet() {
		b.errorf(l.Lease.Pos, "the lease in column %q has no length", l.Lease.Column.Value).
			WithHint("Say how long a claim is good: lease: {column: %s, length: 5m}.", l.Lease.Column.Value)
	}
	k.Key = make([]*schema.Column, len(b.spec.Key))
	for _, pair := range l.Key {
		c, of := column(pair.Column), columnOf(b.table, pair.Of.Value, b.fold)
		i := slices.Index(b.spec.Key, of)
		if i < 0 {
			b.errorf(pair.Of.Pos, "%q is no part of the key of table %q", pair.Of.Value, b.table.QualifiedName()).
				WithHint("The key is %s.", orWord(names(b.spec.Key), "none"))
			continue
		}
		k.Key[i] = c
	}
	for i, c := range k.Key {
		if c == nil && len(l.Key) < len(b.spec.Key) {
			b.errorf(l.Pos, "no column of %q repeats %q, a part of the key", s.Table.QualifiedName(), b.spec.Key[i].Name).
				WithHint("Add it under key: {column: %s}.", b.spec.Key[i].Name)
		}
	}
	switch ix := partlyKeyed(s.Table, k.Key); {
	case slices.Contains(k.Key, nil), keyed(s.Table, k.Key):
	case ix != nil:
		b.errorf(l.Name.Pos, "two rows of %q can have the same %s: %s keeps them apart only where %s, and a lease table has one row for each job, which goes when the job ends", s.Table.QualifiedName(), names(k.Key), ix.Name, ix.Where).
			WithHint("Where rows of claims stay as what became of them, say the claim as strategy=pop done=keep, with ready_if: \"not exists (select 1 from %s …)\" and also: {done: [{insert: %s, values: {…}}]}, and what is done with them as a queue over %s.", s.Table.Name, s.Table.Name, s.Table.Name)
	default:
		b.errorf(l.Name.Pos, "two rows of %q can have the same %s, so that two workers could hold one job", s.Table.QualifiedName(), names(k.Key)).
			WithHint("A unique key over just these columns decides who has a row. Add one, or let qgen lay out a table of its own: side_table: true.")
	}
	if k.Token != nil && b.holdsToken(k.Token, l.Token.Pos, "") && k.Token.NotNull && k.Until != nil {
		b.errorf(l.Token.Pos, "column %q of %q is NOT NULL, but the row of a job that waits for its next try, or whose claim has run out, has no token", k.Token.Name, s.Table.QualifiedName()).
			WithHint("Let the column be null. Or leave token out, and name the column of the time of a claim, claimed: {column: …}, which then tells one claim from another.")
	}
	b.spec.Side = s
}

// keyed reports whether a unique key of the table consists of just these columns.
func keyed(t *schema.Table, columns []*schema.Column) bool {
	same := func(k *schema.Key) bool {
		return len(k.Columns) == len(columns) && !slices.ContainsFunc(k.Columns, func(c *schema.Column) bool { return !slices.Contains(columns, c) })
	}
	return t.PrimaryKey != nil && same(t.PrimaryKey) || slices.ContainsFunc(t.Uniques, same)
}

// HeldByRow returns a role that marks in the row itself what a side table would
// hold, "" when there is none.
func (s *Spec) HeldByRow() (column *schema.Column, verb string) {
	held := []string{"lease", "claimed", "visible", "heartbeat", "worker", "token", "attempts", "max_attempts", "version"}
	for _, c := range s.Columns {
		for _, r := range c.Roles {
			if slices.Contains(held, r.Verb) || r.Verb == "error" && s.Transitions[Fail] == nil {
				return c.Column, r.Verb
			}
		}
	}
	return nil, ""
}

// Beside reads a side table, all columns of which are known, as a queue of its
// own: of its steps the rows of the table are not told, only done and failed
// are. A claim adds a side row, or takes over one that is in state ready.
func (s *Spec) Beside(side *Side) *Spec {
	k := side.Columns
	t := &Spec{
		Name: s.Name, Pos: s.Pos, Table: side.Table, Key: k.Key,
		States: map[StateName]*State{}, Transitions: map[TransitionName]*Transition{},
		Backoff: s.Backoff, Token: k.Token, Worker: k.Worker, Started: k.Claimed, DoneDeletes: !side.Keep, Due: k.Until,
		Liveness: s.Liveness,
	}
	for _, c := range side.Table.Columns {
		if (c.OnUpdate || c.MayUpdate) && (c == k.Claimed || c == k.Until || c == k.Failed) {
			t.Kept = append(t.Kept, c)
		}
		t.Columns = append(t.Columns, &Column{Column: c, As: side.Times[c].As, Clock: side.Times[c].Clock, Width: side.Times[c].Width})
	}
	if k.Error != nil {
		t.Error = &ErrorColumn{Column: k.Error, Max: k.Error.Most(), Wanted: wantsText(side.Table, k.Error)}
	}
	fails := s.Transitions[Fail] // by the row itself
	if k.Attempts != nil && (side.Attempts > 0 || fails == nil) {
		t.Attempts = &Attempts{Column: k.Attempts, OnClaim: true, Max: side.Attempts}
	}
	now := Value{Kind: Now}
	expired := t.leases(side)
	var held []Test
	if k.Failed != nil {
		held = []Test{{Column: k.Failed, Op: IsNull}}
	}
	taken := held
	if k.Token != nil {
		taken = append(slices.Clip(taken), Test{Column: k.Token, Op: NotNull})
	}
	later := func(tests []Test) []Test {
		tests = slices.Clone(tests)
		for i := range tests {
			tests[i].Op = Greater
		}
		return tests
	}
	spent := func(op Op) []Test {
		if side.Attempts == 0 || k.Attempts == nil {
			return nil
		}
		return []Test{{Column: k.Attempts, Op: op, Values: []Value{number(side.Attempts)}}}
	}
	if expired != nil {
		t.States[Ready] = &State{Name: Ready, Tests: slices.Concat(held, expired, spent(Less))}
		t.Expired = expired
	}
	t.Held = slices.Concat(taken, later(expired))
	t.States[Running] = &State{Name: Running, Tests: t.Held}

	step := func(name TransitionName, tests []Test, writes ...Write) {
		step := &Transition{Name: name, Tests: tests}
		for _, c := range side.Table.Columns {
			for _, w := range writes {
				if w.Column == c && w.Column != nil {
					step.Writes = append(step.Writes, w)
				}
			}
		}
		t.Transitions[name] = step
	}
	until := func(arg string) Write { return Write{k.Until, Value{Kind: Now, Shift: &Shift{Arg: arg}}} }
	lease := Write{k.Until, Value{Kind: Now, Shift: &Shift{Fixed: side.Length}}}
	free := []Write{{k.Token, Value{Kind: Null}}}
	if k.Worker != nil && !k.Worker.NotNull {
		free = append(free, Write{k.Worker, Value{Kind: Null}})
	}
	why := Write{k.Error, Value{Kind: Arg, Name: ArgError}}
	step(Claim, nil, Write{k.Token, Value{Kind: Token}}, Write{k.Worker, Value{Kind: WorkerID}}, Write{k.Claimed, now}, lease,
		Write{k.Attempts, Value{Kind: Add, By: 1}})
	if side.Keep {
		step(Finish, held, Write{k.mark(), Value{Kind: Old}})
	} else {
		t.Transitions[Finish] = &Transition{Name: Finish, Tests: held, Delete: true}
	}
	for _, name := range []TransitionName{Retry, Release} {
		t.Transitions[name] = &Transition{Name: name, Tests: held, Delete: true}
	}
	if k.Until != nil {
		step(Retry, held, append(slices.Clip(free), until(ArgDelay), why)...)
		step(Release, held, append(slices.Clip(free), until(ArgDelay), Write{k.Attempts, Value{Kind: Add, By: -1}})...)
		step(Renew, held, lease)
		step(Recover, slices.Concat(taken, spent(Less)), free...)
	} else if k.Claimed != nil && side.Length > 0 {
		step(Renew, held, Write{k.Claimed, now})
	}
	switch {
	case fails != nil:
		t.Transitions[Fail] = &Transition{Name: Fail, Tests: held, Delete: true}
		t.FailedDeletes = true
	case k.Failed != nil && side.Attempts > 0:
		end := append(slices.Clip(free), Write{k.Failed, now})
		step(Fail, held, append(slices.Clip(end), why)...)
		step(GiveUp, slices.Concat(held, spent(GreatEqual)), append(slices.Clip(end), Write{k.Error, t.Error.gaveUp()})...)
		failed := []Test{{Column: k.Failed, Op: NotNull}}
		t.States[Failed] = &State{Name: Failed, Tests: failed}
		if !s.NoRedrive {
			t.Transitions[Redrive] = &Transition{Name: Redrive, Tests: failed, Delete: true}
		}
	}
	t.sideFence(k)
	return t
}

// mark is a column that every claim writes.
func (k SideColumns) mark() *schema.Column {
	for _, c := range []*schema.Column{k.Token, k.Worker, k.Claimed, k.Until} {
		if c != nil {
			return c
		}
	}
	return k.Key[0]
}

// leases sets for how long claims are good, and returns the tests of one that has
// run out, nil when none does.
func (s *Spec) leases(side *Side) []Test {
	k := side.Columns
	switch {
	case k.Until != nil:
		s.Lease = &Lease{Column: k.Until, Length: side.Length, ByClaim: true}
		return []Test{{Column: k.Until, Op: LessEqual, Values: []Value{{Kind: Now}}}}
	case k.Claimed != nil && side.Length > 0:
		s.Lease = &Lease{Column: k.Claimed, FromStart: true, Length: side.Length, ByClaim: true}
		return []Test{{Column: k.Claimed, Op: LessEqual, Values: []Value{{Kind: Now, Shift: &Shift{Minus: true, Fixed: side.Length}}}}}
	}
	return nil
}

// sideFence sets the best fence that the columns of a side table give.
func (s *Spec) sideFence(k SideColumns) {
	switch {
	case k.Token != nil:
		s.Fence = Fence{Level: FenceToken, Columns: []*schema.Column{k.Token}}
	case k.Claimed != nil:
		s.Fence = Fence{Level: FenceClaimed, Columns: []*schema.Column{k.Claimed}}
	case k.Until != nil:
		s.Fence = Fence{Level: FenceClaimed, Columns: []*schema.Column{k.Until}}
	default:
		s.Fence = Fence{Level: FenceStatus}
	}
	if k.Token == nil && k.Worker != nil {
		s.Fence.Columns = append(s.Fence.Columns, k.Worker)
	}
}

// partlyKeyed returns a unique index of a table over just these columns that has some of its rows; nil where there is
// none.
func partlyKeyed(t *schema.Table, key []*schema.Column) *schema.Index {
	for _, ix := range t.Indexes {
		other := func(c schema.IndexColumn) bool { return c.Column == nil || !slices.Contains(key, c.Column) }
		if ix.Unique && ix.Where != "" && len(ix.Columns) > 0 && !slices.ContainsFunc(ix.Columns, other) {
			return ix
		}
	}
	return nil
}
