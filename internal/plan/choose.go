package plan

// This file chooses how rows are claimed. The choice looks at what the server
// can do and at what the table has, never at names.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/source"
)

// strategy is one way to claim rows.
type strategy struct {
	name string
	// possible tells why it can be used here, or what is missing; mend says
	// what the user can do about it.
	possible func(b *builder) (ok bool, why, mend string)
	// asked: only taken when the user names it.
	asked string
}

// strategies lists every way, the preferred first. The order is the order of
// the choice for a table with a running state; the others say themselves when
// they apply.
var strategies = []strategy{
	{name: "offset", possible: (*builder).possibleOffset},
	{name: "lease_table", possible: (*builder).leases},
	{name: "hold", possible: func(b *builder) (bool, string, string) {
		switch {
		case b.hasRunning():
			return false, "the table has a running state, which outlives a connection", ""
		case b.shardOnly():
			return false, "the table has no running state but a shard column, which keeps workers apart", ""
		}
		return b.canHold()
	}},
	{name: "partition", possible: func(b *builder) (bool, string, string) {
		switch {
		case b.spec.Shard == nil:
			return false, "no shard column", "Mark the column that splits the rows with qgen:shard mod."
		case b.hasRunning():
			return false, "the table has a running state, which keeps workers apart; the shard only narrows the claim", ""
		case len(b.spec.Key) == 0 && b.d.RowIdentity.Column == "":
			return b.nameless()
		case len(b.spec.Key) == 0 && !b.d.RowIdentity.Stable:
			return false, "rows have no key, and their physical identity does not outlive the transaction that reads them",
				b.spec.AddKey() + "."
		}
		return true, "no running state and a shard column: every worker reads its own share", ""
	}},
	{name: "returning", possible: func(b *builder) (bool, string, string) {
		if ok, why, mend := b.canMark(); !ok {
			return false, why, mend
		}
		switch {
		case !b.can(dialect.Returning):
			return false, b.d.Title + " " + b.version.String() + " cannot return the rows of an UPDATE", b.sinceMend(dialect.Returning)
		case b.can(dialect.OrderedUpdate):
			return true, "UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again", ""
		case b.spec.Waits && b.can(dialect.RowLocks) && b.claimsOne():
			return true, "the claim waits for the lock of the row that its caller names, and UPDATE returns what it changed", ""
		case b.spec.Waits && b.can(dialect.RowLocks):
			return true, "the claim waits for locked rows, and UPDATE returns what it changed", ""
		case b.can(dialect.SkipLocked):
			return true, "the server passes over locked rows and UPDATE returns what it changed", ""
		case b.d.SingleWriter:
			return true, "one statement writes at a time and returns what it changed", ""
		}
		return b.cannotSkip(dialect.SkipLocked)
	}},
	{name: "block", possible: func(b *builder) (bool, string, string) {
		if !b.d.Can(dialect.Blocks, b.version) {
			return false, b.d.Title + " has no anonymous blocks that give rows back", ""
		}
		if ok, why, mend := b.canMark(); !ok {
			return false, why, mend
		}
		if !b.can(dialect.Blocks) {
			return b.cannotSkip(dialect.Blocks)
		}
		if ok, why, mend := b.canLockAtOnce(); !ok {
			return false, why, mend
		}
		switch {
		case b.can(dialect.OpenCursors) && b.movesRow(queue.Claim) != "":
			return false, "a block finds rows by their place, and claiming writes " + b.movesRow(queue.Claim) + ", by which the table is partitioned: the row moves to another place",
				b.orNoGroup("Partition the table by a column that no claim writes")
		case b.can(dialect.OpenCursors) && b.spec.Table.NoRowIdentity:
			return false, "rows of the table have no place by which a block could write them", b.orNoGroup("Keep the queue in an ordinary table, neither a view nor one with ORGANIZATION INDEX")
		case !b.can(dialect.OpenCursors) && b.spec.Token == nil:
			return false, "no column can hold the key of a batch, by which a block reads it back", "Mark a column with qgen:token, or say running=token on qgen:status."
		case !b.can(dialect.OpenCursors) && len(b.spec.Key) == 0:
			return b.nameless()
		case !b.can(dialect.OpenCursors):
			if ok, why, mend := b.canShareToken(); !ok {
				return false, why, mend
			}
		}
		switch {
		case b.spec.Waits && b.claimsOne():
			return true, "a block locks the row that its caller names, waiting for it, and writes it", ""
		case b.spec.Waits:
			return true, "a block locks the first rows in queue order, waiting for locked ones, and writes them", ""
		}
		return true, "a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them", ""
	}},
	{name: "token", possible: func(b *builder) (bool, string, string) {
		if ok, why, mend := b.canMark(); !ok {
			return false, why, mend
		}
		if ok, why, mend := b.canLockAtOnce(); !ok {
			return false, why, mend
		}
		if b.spec.Token == nil {
			return false, "no column can hold the key of a batch", "Mark a column with qgen:token, or say running=token on qgen:status."
		}
		if ok, why, mend := b.canShareToken(); !ok {
			return false, why, mend
		}
		return true, "the token column holds the key of the batch, by which it is read back", ""
	}},
	{name: "lock_update", possible: func(b *builder) (bool, string, string) {
		if ok, why, mend := b.canMark(); !ok {
			return false, why, mend
		}
		switch {
		case b.locksTable():
			return b.lockless()
		case !b.can(dialect.RowLocks):
			return false, b.d.Title + " locks the whole database, not rows", ""
		case !b.can(dialect.SkipLocked) && !b.spec.Waits:
			return b.cannotSkip(dialect.SkipLocked)
		case b.can(dialect.OpenCursors) && b.spec.Table.NoRowIdentity:
			return false, "rows of the table have no place by which a block could lock them", "Say strategy=guarded, or leave ORGANIZATION INDEX out."
		}
		if len(b.spec.Key) == 0 {
			return false, "rows have no key by which a locked row could be written", b.spec.AddKey() + "."
		}
		switch {
		case b.spec.Waits && b.claimsOne():
			return true, "the row that the caller names is locked, waiting for it, and then written by its key", ""
		case b.spec.Waits:
			return true, "ready rows are locked, waiting for locked ones, and then written by their keys", ""
		}
		return true, "ready rows are locked, passing over locked ones, and then written by their keys", ""
	}},
	{name: "advisory", possible: func(b *builder) (bool, string, string) {
		if ok, why, mend := b.canMark(); !ok {
			return false, why, mend
		}
		if !b.can(dialect.AdvisoryLocks) {
			return false, b.d.Title + " has no locks on numbers", ""
		}
		return true, "locks on numbers keep claimers apart without waiting", ""
	}},
	{name: "guarded", possible: func(b *builder) (bool, string, string) {
		if ok, why, mend := b.canMark(); !ok {
			return false, why, mend
		}
		if len(b.spec.Key) == 0 && !b.d.RowIdentity.Stable {
			return false, "rows have no key by which a candidate could be taken", b.spec.AddKey() + "."
		}
		return true, "the old state is compared when a row is taken", ""
	}},
	{name: "pop", asked: "a taken row is gone, so it must be asked for", possible: func(b *builder) (bool, string, string) {
		if !b.can(dialect.Returning) && b.locksTable() {
			_, why, mend := b.lockless()
			return false, why, "Say running=<value> on qgen:status and leave strategy= out: a claim then takes each row by an UPDATE of its own, which the engine runs alone, and Complete ends the job. A change of rows that the program names is one UPDATE or DELETE of its own. " + mend
		}
		if !b.can(dialect.Returning) && (!b.can(dialect.RowLocks) || len(b.spec.Key) == 0) {
			return false, b.d.Title + " " + b.version.String() + " cannot return the rows of a DELETE", b.sinceMend(dialect.Returning)
		}
		if b.spec.KeepsPopped() {
			return true, "a taken row is done at once", ""
		}
		return true, "a taken row is deleted at once", ""
	}},
}

// choose sets the strategy and the reasons, or reports why there is none.
func (b *builder) choose(errs *source.ErrorList) bool {
	if !cmp.Or(b.ready, b).checkWaits(errs) {
		return false
	}
	if b.ready != nil {
		return b.chooseAway(errs)
	}
	forced := b.spec.Strategy
	if forced == "partition" && b.spec.Shard != nil && b.hasRunning() {
		forced = "" // the shard narrows whatever claims
	}
	if side := b.spec.Side; side != nil {
		ok, why, mend := b.leasable()
		switch {
		case forced != "" && forced != "lease_table":
			errs.Errorf(side.Pos, "claims in a side table are strategy=lease_table, and strategy=%s is asked for", forced).WithHint("Leave one of the two out.")
			return false
		case !ok:
			errs.Errorf(side.Pos, "a side table is not possible here: %s", why).WithHint("%s", mend)
			return false
		}
	}
	if b.spec.Accept {
		return b.chooseAccept(forced, errs) // by which a row of a batch can be added as well
	}
	if b.spec.Batch != nil {
		return b.chooseBatch(forced, errs)
	}
	if forced != "" {
		return b.force(forced, errs)
	}
	b.shard()
	for _, s := range strategies {
		ok, why, _ := s.fits(b)
		asked := cmp.Or(s.asked, b.d.Asked[s.name])
		switch {
		case ok && asked != "":
			ok, why = false, asked
		case ok && b.pkg.Strategy != "":
			ok, why = false, "not needed: "+b.pkg.Strategy+" comes first"
		case ok:
			b.pkg.Strategy = s.name
		}
		b.pkg.Reasons = append(b.pkg.Reasons, Reason{Strategy: s.name, Chosen: ok, Why: why})
	}
	if b.pkg.Strategy == "" {
		errs.Errorf(b.spec.Pos, "no strategy can claim rows of %q on %s %s", b.spec.Table.QualifiedName(), b.d.Title, b.version).
			WithHint("%s", b.mends())
		return false
	}
	return true
}

// chooseAccept takes the one strategy that reads jobs before it writes or locks them, if
// it is possible.
func (b *builder) chooseAccept(forced string, errs *source.ErrorList) bool {
	const name = "guarded"
	i := slices.IndexFunc(strategies, func(s strategy) bool { return s.name == name })
	ok, why, mend := strategies[i].fits(b)
	switch {
	case b.spec.Log != nil:
		ok, why, mend = false, "rows of "+plainText(b.pkg.Table)+" are read behind a mark that passes over none, and are never written", "Leave accept: out, and complete what is not wanted."
	case b.spec.Side != nil:
		ok, why, mend = false, "claims are held in a side table, whose unique key takes a row before it could be asked about", "Leave accept: out, or hold the claims in the rows: running=<value> of qgen:status, or a column for qgen:lease or qgen:token."
	case forced != "" && forced != name:
		ok, why, mend = false, "it reads jobs first and takes each by an UPDATE that compares the old state, which is strategy="+name+", and strategy="+forced+" is asked for", "Leave one of the two out."
	case b.spec.Group != nil:
		ok, why, mend = false, "of a group only as many rows are looked at as it has room for, so that one which is not accepted would keep those behind it waiting", "Leave the group or accept: out, or mark with qgen:topic what a worker can take."
	}
	if !ok {
		errs.Errorf(b.spec.AcceptPos, "accept: true is not possible here: %s", why).WithHint("%s", mend)
		return false
	}
	b.take(name, "a job can be asked about before it is taken (accept: true), and "+why, func(strategy) string {
		return "accept: true asks about a job before its row is locked or written"
	})
	return true
}

// chooseBatch takes a strategy that finds jobs before it writes them, so that the row of
// another table whose key they get is added when there are some, and not else.
func (b *builder) chooseBatch(forced string, errs *source.ErrorList) bool {
	const between = "from=companion adds a row between finding jobs and marking them"
	names := []string{"lock_update", "guarded"}
	refuse := func(why, mend string) bool {
		errs.Errorf(b.spec.BatchPos, "from=companion is not possible here: %s", why).WithHint("%s", mend)
		return false
	}
	ix := b.sharesNone(b.spec.Token)
	switch {
	case ix != nil:
		return refuse("all jobs of a claim have the key of that row for their token, and "+b.uniqueIndex(ix)+" lets no two rows have one",
			"Drop the index, or leave from= out: then every claim leaves a fresh value in each row.")
	case forced != "" && !slices.Contains(names, forced):
		return refuse("between finding jobs and taking them a row is added, which strategy="+names[0]+" and strategy="+names[1]+" can do, and strategy="+forced+" is asked for", "Leave one of the two out.")
	case forced != "":
		names = []string{forced}
	}
	passed := map[string]string{}
	why, mend := "", ""
	for _, s := range strategies {
		if !slices.Contains(names, s.name) {
			continue
		}
		var ok bool
		if ok, why, mend = s.fits(b); ok {
			chosen := "the row whose key is the token is added when jobs are found, and not before (from=companion), and " + why
			b.take(s.name, chosen, func(other strategy) string {
				if passed[other.name] == "" && slices.Contains(names, other.name) {
					return "not needed: " + s.name + " comes first"
				}
				return cmp.Or(passed[other.name], between)
			})
			return true
		}
		passed[s.name] = why
	}
	if b.spec.Group != nil {
		mend = "Leave the group or from=companion out."
	}
	return refuse(why, mend)
}

// take has the strategy of that name claim, and says why none of the others does.
func (b *builder) take(name, why string, others func(strategy) string) {
	for _, s := range strategies {
		r := Reason{Strategy: s.name, Chosen: s.name == name, Why: why}
		if !r.Chosen {
			r.Why = others(s)
		}
		b.pkg.Reasons = append(b.pkg.Reasons, r)
	}
	b.pkg.Strategy = name
	b.shard()
}

// mends says what would make a strategy possible: each reason once, with the
// strategies that it keeps away.
func (b *builder) mends() string {
	var reasons []string
	names := map[string][]string{}
	for _, s := range strategies {
		_, why, mend := s.fits(b)
		if mend == "" || s.asked != "" || s.name == "offset" || s.name == "partition" && b.spec.Shard == nil {
			continue
		}
		if bears, _, mend := b.bearsGroup(s.name); !bears && mend == "" {
			continue // whatever else is mended
		}
		reason := why + ". " + mend
		if names[reason] == nil {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], s.name)
	}
	for i, reason := range reasons {
		reasons[i] = "For " + strings.Join(names[reason], ", ") + ": " + reason
	}
	return strings.Join(reasons, "\n")
}

// force takes the strategy that the user names, if it is possible at all.
func (b *builder) force(name string, errs *source.ErrorList) bool {
	i := slices.IndexFunc(strategies, func(s strategy) bool { return s.name == name })
	if i < 0 {
		var names []string
		for _, s := range strategies {
			names = append(names, s.name)
		}
		e := errs.Errorf(b.spec.ForcedPos, "%s does not have the strategy %q", b.d.Title, name)
		if near := source.Nearest(name, names); near != "" {
			e.WithHint("Did you mean %q?", near)
		} else {
			e.WithHint("There are %s.", strings.Join(names, ", "))
		}
		return false
	}
	ok, why, mend := strategies[i].fits(b)
	if name == "hold" && !b.hasRunning() {
		ok, why, mend = b.canHold() // may be asked for where the choice would not take it
	}
	if name == "lease_table" {
		ok, why, mend = b.leasable() // as well
	}
	if name == "hold" && !ok && mend == "" {
		mend = "Leave strategy= out, or leave out what marks a running row: running= of qgen:status, qgen:lease, qgen:claimed, qgen:worker and qgen:token."
	}
	if !ok {
		errs.Errorf(b.spec.ForcedPos, "strategy=%s is not possible here: %s", name, why).WithHint("%s", mend)
		return false
	}
	asked := "strategy=" + name + " is asked for"
	b.take(name, asked, func(strategy) string { return asked })
	return true
}

// can reports whether the server has a capability, as a node of its cluster where it
// is one.
func (b *builder) can(c dialect.Capability) bool {
	if b.locksTable() && slices.Contains([]dialect.Capability{dialect.RowLocks, dialect.SkipLocked, dialect.Blocks}, c) {
		return false
	}
	if c == dialect.SkipLocked && b.waitsForLocks("") {
		return false // is asked not to
	}
	if _, absent := b.d.ClusterAbsent[c]; absent && b.cluster {
		return false
	}
	return b.d.Can(c, b.version)
}

// cannotSkip is why a claim cannot pass over locked rows, by a capability that the
// server does not have or its cluster cannot bear.
func (b *builder) cannotSkip(by dialect.Capability) (bool, string, string) {
	if b.locksTable() {
		return b.lockless()
	}
	if b.d.Can(by, b.version) {
		return false, b.d.ClusterAbsent[by], "Leave strategy= out; the strategies that " + b.d.Cluster + " can bear wait for locked rows."
	}
	return false, b.noSkip(), b.sinceMend(dialect.SkipLocked)
}

// noSkip says what an old server lacks that is to pass over locked rows.
func (b *builder) noSkip() string {
	what := b.d.Flawed[dialect.SkipLocked]
	if what == "" {
		what = "cannot pass over locked rows"
	}
	return b.d.Title + " " + b.version.String() + " " + what
}

// locksTable reports whether the storage engine of the table has neither row locks
// nor transactions: it takes FOR UPDATE and locks nothing.
func (b *builder) locksTable() bool {
	return b.locksWhole(b.spec.Table.Engine)
}

// locksWhole reports whether a storage engine has no transactions and locks tables as a whole.
func (b *builder) locksWhole(engine string) bool {
	return slices.ContainsFunc(b.d.TableLocks, func(name string) bool { return strings.EqualFold(name, engine) })
}

// writesLockless reports whether that table is the one that steps write.
func (b *builder) writesLockless() bool {
	return b.locksTable() && b.side == nil && b.offset == nil
}

// lockless is why no claim can lock rows of such a table.
func (b *builder) lockless() (bool, string, string) {
	return false, "the engine " + b.spec.Table.Engine + " has no transactions and locks no rows: FOR UPDATE would give every worker the same ones",
		"Keep the queue in a table whose engine locks rows: ALTER TABLE … ENGINE=InnoDB."
}

// movesRow returns the column by which the table is partitioned and which a
// transition writes, "" when there is none: the row then moves to another
// partition, and its physical identity is another.
func (b *builder) movesRow(names ...queue.TransitionName) string {
	for _, name := range names {
		if name == queue.Enqueue {
			continue // a row that is added moves nowhere
		}
		for _, column := range b.spec.Table.PartitionBy {
			if c := b.spec.Table.Column(column); c != nil && b.writes(name, c) {
				return c.Name
			}
		}
	}
	return ""
}

// sinceMend says from which version on the server could do it.
func (b *builder) sinceMend(c dialect.Capability) string {
	if v, ok := b.d.From(c, b.version); ok {
		return fmt.Sprintf("It can since %s: raise server: in qgen.yaml if every server is that new.", v)
	}
	return ""
}

// hasRunning reports whether claiming writes a state that others can see.
func (b *builder) hasRunning() bool {
	if b.ready != nil || b.running != nil {
		return true
	}
	t := b.spec.Transitions[queue.Claim]
	return len(b.spec.Held) > 0 && t != nil && len(t.Writes) > 0
}

// stateTests are the tests of a state, none where nothing tells it.
func (b *builder) stateTests(name queue.StateName) []queue.Test {
	if state := b.spec.States[name]; state != nil {
		return state.Tests
	}
	return nil
}

// tells reports whether a state can be told by looking at a row.
func (b *builder) tells(name queue.StateName) bool { return len(b.stateTests(name)) > 0 }

// shardOnly: nothing but the shard keeps workers apart.
func (b *builder) shardOnly() bool {
	return !b.hasRunning() && b.spec.Shard != nil && b.tells(queue.Ready)
}

// canMark reports whether a claim can be written into the row.
func (b *builder) canMark() (bool, string, string) {
	if !b.hasRunning() {
		return false, "the table has no running state that a claim could write",
			"Add running=<value> to qgen:status, or a column for qgen:lease or qgen:token."
	}
	if len(b.spec.Key) == 0 && !b.d.RowIdentity.Stable && !b.can(dialect.Returning) {
		return b.nameless()
	}
	if len(b.spec.Key) == 0 && !b.d.RowIdentity.Stable && b.spec.Fence.Level < queue.FenceToken {
		mend := b.spec.AddKey() + "; or add a column for qgen:token"
		if b.can(dialect.RowLocks) {
			mend += "; or leave out what marks a running row, then the row lock is the claim"
		}
		return false, "rows have no key, and their physical identity does not outlive the transaction" + b.whyMoved(), mend + "."
	}
	return true, "", ""
}

// whyMoved says what gives rows another place between transactions, where that is not plain.
func (b *builder) whyMoved() string {
	if b.d.RowIdentity.Changes == "" {
		return ""
	}
	return ": " + b.d.RowIdentity.Changes
}

// nameless is why rows without a key cannot be claimed where nothing else names
// them.
func (b *builder) nameless() (bool, string, string) {
	return false, "rows have no key, and " + b.d.Title + " gives them no identity of their own",
		b.spec.AddKey() + "."
}

// canLockInOrder reports whether ready rows can be locked without locking all of
// them: where a server locks what it sorts, an index has to give the order. A claim that waits
// locks whatever it looks for: what it read without locks would be rows as they were before.
func (b *builder) canLockInOrder() (bool, string, string) {
	if !b.can(dialect.LocksSorted) || b.spec.Waits {
		return true, "", ""
	}
	return b.givesOrder(false)
}

// givesOrder reports whether an index gives ready rows in the order of the queue: one of columns alone,
// or with computed one that holds expressions. Whether the server takes an expression for that of an
// index shows when it plans, so that a claim which can do without one looks for rows without locks first.
func (b *builder) givesOrder(computed bool) (bool, string, string) {
	unsorted := func(o queue.OrderTerm) bool {
		return o.Column == nil && !computed || b.byRow(o) || b.inNoIndex(o) || o.Desc != b.spec.Order[0].Desc && !b.can(dialect.DescIndex)
	}
	if slices.ContainsFunc(b.claimOrder(), unsorted) {
		mend := "Order by columns, all rising or all falling, with nulls where the server has them."
		if computes := func(o queue.OrderTerm) bool { return o.Column == nil }; !b.can(dialect.ExprIndex) && slices.ContainsFunc(b.claimOrder(), computes) {
			if since, ever := b.d.From(dialect.ExprIndex, b.version); ever {
				mend += fmt.Sprintf(" Or raise server: indexes hold expressions since %s.", since)
			}
		}
		return false, "no index can give this order, and rows that are sorted are all locked first", mend
	}
	if b.unserved && len(b.spec.Order) > 0 {
		return false, "the index that gives this order is declined, and rows that are sorted are all locked first",
			"Leave indexes: {ready: false} out of qgen.yaml, and create the index that is advised."
	}
	if c := b.unheld(); len(c) > 0 {
		return false, "no index holds column " + plainText(c[0].Name) + " whole, which is " + c[0].Type.Raw + ", so that ready rows are sorted, and rows that are sorted are all locked first",
			"Give the column a type with a length, such as varchar(40)."
	}
	return true, "", ""
}

// canLockAtOnce reports whether the statement that looks for ready rows can lock those that it
// takes and no others. Where it cannot, rows are found without locks first.
func (b *builder) canLockAtOnce() (bool, string, string) {
	if ok, why, mend := b.canLockInOrder(); !ok {
		return false, why, mend
	}
	if several := b.apart(); len(several) > 0 {
		return false, "several values of " + plainText(several[0].Column.Name) + " mean ready, so that rows are sorted, and rows that are sorted are all locked first",
			"Leave strategy= out; or have one value mean ready, or finished rows go (done=delete, done: {move: …})."
	}
	if b.keepsOthers() {
		return false, "rows that are read and passed over stay locked, and other claims may take them", "Leave strategy= out."
	}
	return true, "", ""
}

// keepsZone reports whether a name is that of a column that keeps a time with zone.
func (b *builder) keepsZone(name string) bool {
	c := b.spec.Table.Column(name)
	return c != nil && c.Type.Zone
}

// inNoIndex reports whether no index can give a term of the order.
func (b *builder) inNoIndex(o queue.OrderTerm) bool {
	return o.Random || b.against(o) && !b.can(dialect.IndexNulls) ||
		o.Column == nil && (!b.can(dialect.ExprIndex) || !b.d.Lasting(o.SQL, b.hasColumn) || b.d.BoundToZone(o.SQL, b.hasColumn, b.keepsZone))
}

// canHold reports whether a row lock can be the claim.
func (b *builder) canHold() (bool, string, string) {
	inOrder, why, mend := true, "", ""
	if b.can(dialect.LocksSorted) {
		inOrder, why, mend = b.givesOrder(true)
	}
	settles := []queue.TransitionName{queue.Finish, queue.Fail, queue.Retry, queue.Release}
	for _, o := range b.spec.Outcomes {
		settles = append(settles, o.Transition.Name)
	}
	switch {
	case b.locksTable():
		return b.lockless()
	case !b.can(dialect.RowLocks):
		return false, b.d.Title + " locks the whole database, not rows",
			"Add a running state or a lease column, which a claim can write."
	case b.cluster:
		return false, "of a cluster each node knows its own row locks only, so that two workers would hold one row until one of them commits",
			"Add a running state or a lease column, which a claim can write; or have all workers use one node and leave cluster: out."
	case !b.can(dialect.SkipLocked) && !b.spec.Waits:
		return b.cannotSkip(dialect.SkipLocked)
	case !inOrder:
		return false, why, mend
	case len(b.spec.Key) == 0 && b.d.RowIdentity.Column == "":
		return b.nameless()
	case len(b.spec.Key) == 0 && b.movesRow(settles...) != "":
		return false, "rows have no key, and " + b.movesRow(settles...) + " is what the table is partitioned by: writing it moves a row to another place, and only its place names it",
			b.spec.AddKey() + "; or say done=delete and failed=delete in place of the status."
	case len(b.spec.Key) == 0 && b.d.RowIdentity.Moves && b.returnsRows():
		return false, "rows have no key, and a job that is given back is written, which moves its row: the transaction would take it again as another",
			b.spec.AddKey() + "; or leave out what giving back writes (qgen:attempts, qgen:due, qgen:error): the row is then free as it was when the transaction ends."
	case b.spec.Table.View:
		return false, "a view has no rows of its own to lock", "Name the table behind it."
	}
	return true, "nothing is written while a job runs: the row lock is the claim", ""
}

// returnsRows reports whether Fail or Requeue write a row that is ready again.
func (b *builder) returnsRows() bool {
	writes := func(name queue.TransitionName) bool {
		t := b.spec.Transitions[name]
		return t != nil && len(t.Writes) > 0
	}
	back := slices.ContainsFunc(b.spec.Outcomes, func(o *queue.Outcome) bool { return o.To == queue.Ready && writes(o.Transition.Name) })
	return back || writes(queue.Release) || writes(queue.Retry) && (b.spec.Attempts != nil || !writes(queue.Fail))
}

// shard notes that a shard narrows whatever claims.
func (b *builder) shard() {
	if b.spec.Shard != nil && b.hasRunning() {
		b.pkg.Notes = append(b.pkg.Notes, "the shard narrows every claim to the rows of one instance")
	}
}
