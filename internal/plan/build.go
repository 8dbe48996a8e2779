package plan

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Build decides everything about the package of one queue. earlier are the packages of queues
// over the same table, as far as they are planned. It returns nil when it added complaints to errs.
func Build(spec *queue.Spec, d *dialect.Dialect, q *config.Queue, earlier []*Package, errs *source.ErrorList) *Package {
	before := errs.Len()
	if q.Further {
		defer errs.Within(q.Name.Value, before)
	}
	claimed := spec // where the rows of claimed jobs are
	if spec.Away != nil {
		claimed = spec.Away.Spec
	}
	b := &builder{
		spec:      claimed,
		d:         d,
		pkg:       &Package{},
		earlier:   earlier,
		roles:     map[*schema.Column]*queue.Column{},
		fields:    map[*schema.Column]*Field{},
		arguments: map[string]*Param{},
		foreign:   map[*Field]*schema.Column{},
		elsewhere: map[*Field]elsewhere{},
	}
	for _, kind := range q.Declined {
		b.declined = append(b.declined, kind.Value)
	}
	b.fail = func(err error) { errs.Errorf(spec.Pos, "%v", err) }
	b.complain = func(c *schema.Column, hint, format string, args ...any) {
		errs.Errorf(c.Pos, format, args...).WithHint("%s", hint)
	}
	b.complainBeside = func(c *queue.Companion, text, hint string) { errs.Errorf(c.Pos, "%s", text).WithHint("%s", hint) }
	b.serverVersion(q, errs)
	b.packageFacts(spec, q, errs)
	if b.cluster = q.Cluster.Value; b.cluster && d.Cluster == "" {
		errs.Errorf(q.Cluster.Pos, "%s has no cluster whose nodes lock rows each for itself", d.Title).WithHint("Leave cluster: out.")
	}
	if spec.Procedures && !b.can(dialect.Procedures) {
		hint := b.sinceMend(dialect.Procedures)
		errs.Errorf(spec.StoredPos, "%s %s has no procedures that could take the arguments of these statements", d.Title, b.version).
			WithHint("%s", cmp.Or(hint, "Leave emit: out."))
	}
	b.nameTables()
	b.checkTable(errs)
	b.checkGroup(spec.Group, errs)
	b.checkGroup(spec.Gate, errs)
	b.buildFields(q, errs)
	b.bringReady(spec, errs)
	b.checkCompared()
	cmp.Or(b.ready, b).leaveTies()
	cmp.Or(b.ready, b).decline()
	if errs.Len() > before || !b.choose(errs) {
		return nil
	}
	if b.bringSide(errs); errs.Len() > before {
		return nil
	}
	b.checkOffset(q, errs)
	b.checkExpressions(errs)
	if b.ready != nil {
		b.ready.checkExpressions(errs)
	}
	b.readLegacy(q, errs)
	b.identify(errs)
	if errs.Len() > before {
		return nil
	}
	b.namedPayloads()
	b.statusType()
	b.readFields()
	b.noteTruth()
	b.readSide()
	b.checkFence(errs)
	b.locksAndCrash()
	ready := b // takes rows, and adds them
	if b.ready != nil {
		ready = b.readReady()
	}
	ready.chooseIndex()
	if b.offset != nil {
		b.buildOffset()
	} else {
		b.buildPayload(errs)
		ready.buildClaim()
		b.pkg.Claim = ready.pkg.Claim
		b.buildSettles()
		b.buildSweeps()
		b.checkPurges(errs)
		b.checkCompanions(errs)
		b.buildStats()
		b.buildBacklog()
		ready.buildPeek()
	}
	b.checkTarget(errs)
	b.attempts()
	b.checkTries(errs)
	b.freeGroups()
	ready.buildEnqueue(errs)
	ready.checkNewRow(errs)
	ready.checkAbsent(errs)
	ready.checkUpsert(errs)
	ready.checkNewTarget(errs)
	ready.accompanyEnqueue(errs)
	b.noteCollisions()
	b.comeBack()
	b.noteFrees()
	b.noteSwitches()
	b.noteTokenEach()
	ready.noteNulls()
	ready.buildIndexes()
	ready.noteUpsertFlaw()
	if b.ready != nil {
		b.buildIndexes()
	}
	b.buildVerify(q, errs)
	b.takeReady()
	b.noteDeclined()
	if b.miscountsOthers() {
		over, mend := "claims at the same moment, and one of several jobs,", "; qgen:group limit= holds one, at a column for each of its values and above the table for all rows, and a lock that callers take first in their transaction (WithTx) any"
		switch {
		case b.spec.Gate != nil:
			over, mend = "a claim of several jobs", "; claims follow one another, so one of a single job does not"
		case b.claimsAlone():
			over = "a claim of several jobs"
		}
		b.pkg.Notes = append(b.pkg.Notes, "a condition on ready rows reads other rows of "+b.spec.Table.QualifiedName()+" as they were before a claim, so "+over+" may go over a limit, if it counts one"+mend)
	}
	if b.d.HotHead != "" && b.spec.Shard == nil {
		b.pkg.Notes = append(b.pkg.Notes, b.d.HotHead)
	}
	if e := b.pkg.Enqueue; b.side != nil || e != nil && (e.Absent || e.Upsert) && !b.d.SingleWriter {
		// Sessions that insert the same keys undo each other: with innodb_snapshot_isolation
		// 16 of them did so five times running once in some 20,000 claims (tried).
		b.pkg.Tries = 10
	}
	b.checkWorkArguments(errs)
	b.pkg.LeastLease = b.leastLease()
	b.most()
	b.fuse()
	b.checkConformance(q, errs)
	b.coexist()
	b.noteComesTwice()
	b.noteKeyByClock()
	b.noteHeadStays()
	b.buildDoc()
	b.buildExplain()
	if errs.Len() > before {
		return nil
	}
	return b.pkg
}

// serverVersion finds the oldest server that the package must run on.
func (b *builder) serverVersion(q *config.Queue, errs *source.ErrorList) {
	b.version = b.d.Default
	if q.Server.IsSet() {
		v, err := b.d.Server(q.Server.Value)
		switch {
		case err != nil:
			errs.Errorf(q.Server.Pos, "server: %v", err).WithHint("Write the oldest %s that must be able to run the statements, for example %q.", b.d.Title, b.d.Default.String())
		case v.Less(b.d.Minimum):
			errs.Errorf(q.Server.Pos, "%s %s is older than anything this version generates for", b.d.Title, v).
				WithHint("The oldest is %s.", b.d.Minimum)
		default:
			b.version = v
		}
	}
	b.pkg.Engine = b.d.Title + " " + b.version.String()
	b.pkg.Transient = Transient{
		RolledBack: b.d.Transient.RolledBack, Unknown: b.d.Transient.Unknown,
		Codes: b.d.Transient.Codes, Messages: b.d.Transient.Messages, LostMessages: b.d.Transient.LostMessages,
		Numbers: b.d.Transient.Numbers, LostNumbers: b.d.Transient.LostNumbers, Duplicates: b.d.Transient.Duplicates, Error: DriverError(b.d.Transient.Error),
	}
	b.pkg.Isolation = b.d.Isolation
}

// checkTable complains about what keeps any statement from taking rows of the
// table.
func (b *builder) checkTable(errs *source.ErrorList) {
	t := b.spec.Table
	if t.NoRowLocks != "" {
		errs.Errorf(b.spec.Pos, "rows of %q cannot be locked one by one: %s", t.QualifiedName(), t.NoRowLocks).
			WithHint("Keep the queue in an ordinary table, and have that one filled from it.")
	}
	for _, tr := range t.Triggers {
		if events := slices.DeleteFunc(slices.Clone(tr.Events), func(e string) bool { return e == "insert" }); tr.Instead && !tr.Disabled && !t.View && len(events) > 0 {
			errs.Errorf(tr.Pos, "the trigger %q runs instead of %s, so that what a claim writes happens only as it says", tr.Name, strings.ToUpper(strings.Join(events, " and "))).
				WithHint("Make it an AFTER trigger, or let the queue be the table that it writes.")
		}
	}
}

// directed finds the direction of an order within the text of an expression.
var directed = regexp.MustCompile(`(?i)\b(asc|desc)\s*(,|$)`)

// checkExpressions lets the parser of the database read what the user wrote in
// SQL: within a statement it would be late to say so.
func (b *builder) checkExpressions(errs *source.ErrorList) {
	for _, e := range b.spec.Expressions {
		s := b.newScope()
		text := b.pkg.Sampled(s.raw(e.SQL))
		if s.misread {
			errs.Errorf(e.Pos, "%s", dialect.Fill(b.d.DateFunctions.Misread, "now", "{now}")).
				WithHint("%s", dialect.Fill(b.d.DateFunctions.Mend, "now", "{now}"))
			continue
		}
		if b.unkept(s, e.Pos, errs) {
			continue
		}
		err := schema.Check(b.d.Grammar, dialect.Fill(cmp.Or(b.d.Fragments["expression"].At(b.version), "SELECT {sql}"), "sql", text))
		if form := b.d.Fragments["condition"].At(b.version); err != nil && form != "" {
			err = schema.Check(b.d.Grammar, dialect.Fill(form, "sql", text))
		}
		if err != nil {
			hint := "Write one expression over the columns of the row, as it would stand behind WHERE or SELECT."
			if directed.MatchString(e.SQL) {
				hint = "Write asc or desc behind the closing quote, and each expression of a list in quotes of its own: order \"a = 1\" desc \"b\" asc."
			}
			errs.Errorf(e.Pos, "%s cannot read this expression: %v", b.d.Title, err).WithHint("%s", hint)
		}
	}
	for _, c := range b.spec.Unknown {
		if !slices.Contains(b.d.RowColumns, strings.ToLower(c.Name)) {
			queue.NoColumn(b.spec.Table, c.Name, c.Pos, "", errs)
		}
	}
	b.checkTimes(errs)
	b.checkAsked(errs)
	b.checkAskedAsWell(errs)
	b.checkPresent(errs)
	b.checkLengths(errs)
}

// checkLengths complains about lengths of time in SQL that surely are a number where an interval is added
// to a time, and the other way about.
func (b *builder) checkLengths(errs *source.ErrorList) {
	c, ok := b.newScope().clockOf("timestamptz")
	intervals := ok && c.Interval != ""
	for _, w := range b.spec.Lengths {
		switch is := b.spec.Measure(w.SQL); {
		case is == schema.Decimal && w.Unit == 0 && intervals:
			errs.Errorf(w.Pos, "this is a number, and %s adds intervals to times", b.d.Title).
				WithHint("Say of what: unit=s, or us, ms, m, h, d; of backoff: unit: s.")
		case is == schema.Interval && w.Unit != 0:
			errs.Errorf(w.Pos, "this is an interval, and unit says that it is a number").WithHint("Leave unit out.")
		}
	}
}

// checkPresent complains about a column of numbers that gets {now} and of which nothing says how it
// keeps time.
func (b *builder) checkPresent(errs *source.ErrorList) {
	value := func(c *schema.Column, v queue.Value) {
		if v.Kind == queue.SQLExpr {
			s := b.newScope()
			s.rawFor(c, v.Text)
			b.unkept(s, v.Pos, errs)
		}
	}
	for _, name := range queue.TransitionNames {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		for _, w := range t.Writes {
			value(w.Column, w.Value)
		}
		for _, c := range t.With {
			for _, v := range slices.Concat(c.Set, c.Where) {
				value(v.Column.Column, v.Value)
			}
		}
	}
}

// unkept complains where a scope met a column of numbers for which the present would be none.
func (b *builder) unkept(s *scope, pos source.Pos, errs *source.ErrorList) bool {
	c := s.unkept
	if c == nil {
		return false
	}
	name := c.Name
	if i := slices.IndexFunc(b.spec.Tables, func(t *schema.Table) bool { return t != b.spec.Table && slices.Contains(t.Columns, c) }); i >= 0 {
		name = b.spec.Tables[i].Name + "." + name
	}
	if !slices.ContainsFunc(errs.All(), func(e *source.Error) bool { return e.Pos == pos }) {
		errs.Errorf(pos, "{now} is a time with zone on %s, and column %q is %s", b.d.Title, name, c.Type.Raw).
			WithHint("Say how the column keeps time, times: {%s: {as: epoch}} for seconds since 1970, or epoch_ms, epoch_us, epoch_ns; {now} is such a number then.", name)
	}
	return true
}

// checkTarget complains about expressions of the user's that read the queue's table, or another
// that also: writes, in a sub-query, where a statement that writes the table holds them and the
// server refuses that.
func (b *builder) checkTarget(errs *source.ErrorList) {
	if !b.can(dialect.TargetOnce) {
		return
	}
	refuse := func(pos source.Pos, table, statement string) {
		errs.Errorf(pos, "a sub-query reads %s, which sql/%s.sql writes: %s refuses that (error 1093)", table, statement, b.d.Title).
			WithHint("Read it in a table of its own: (select … from (select * from %s where … limit 1000000000) as e where …). Conditions that do not name the job's row stand inside, so that it is not the whole table that is read.", b.d.Ident(table))
	}
	for _, w := range b.writers {
		c := w.companion
		if c.Verb == "insert" || strings.EqualFold(c.Table, b.spec.Table.Name) || !readsInside(w.statement.SQL, c.Table, false) {
			continue
		}
		for _, v := range slices.Concat(c.Set, c.Where) {
			if v.Value.Kind == queue.SQLExpr && readsInside(v.Value.Text, c.Table, false) {
				refuse(v.Value.Pos, c.Table, w.statement.Name)
			}
		}
		if readsInside(c.When, c.Table, false) {
			refuse(c.Pos, c.Table, w.statement.Name)
		}
	}
	table := b.spec.Table.Name
	i := slices.IndexFunc(b.pkg.Statements(), func(s *Statement) bool {
		return (strings.HasPrefix(s.SQL, "UPDATE") || strings.HasPrefix(s.SQL, "DELETE")) && readsInside(s.SQL, table, false)
	})
	if i < 0 {
		return
	}
	for _, e := range b.spec.Expressions {
		if readsInside(e.SQL, table, false) {
			refuse(e.Pos, table, b.pkg.Statements()[i].Name)
		}
	}
}

// checkNewTarget is the same of the values of a new row, which may read the table under a name of its own
// (tried on 5.6 and 9.7).
func (b *builder) checkNewTarget(errs *source.ErrorList) {
	e, table := b.pkg.Enqueue, b.spec.Table.Name
	if e == nil || !b.can(dialect.TargetOnce) || !strings.Contains(e.One.SQL, "\nVALUES") {
		return
	}
	for _, name := range []queue.TransitionName{queue.Enqueue, queue.Update} {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		for _, w := range t.Writes {
			if w.Value.Kind == queue.SQLExpr && readsInside(w.Value.Text, table, true) {
				errs.Errorf(w.Value.Pos, "a sub-query reads %s by its own name, and sql/%s.sql adds rows to it: %s refuses that (error 1093)", table, e.One.Name, b.d.Title).
					WithHint("Give it another name there: (select … from %s as e where e.…).", b.d.Ident(table))
			}
		}
	}
}

// readsInside reports whether a text reads a table in a sub-query, and not in a derived table,
// which is one that stands where a table does; bare leaves out where it has another name there.
func readsInside(text, table string, bare bool) bool {
	type query struct{ selects, from, derived bool }
	open := []query{{}}
	e := queue.PiecesOf(text)
	for i, piece := range e {
		q := &open[len(open)-1]
		isTable := false // here one may be named
		if i > 0 {
			switch before := strings.ToLower(e[i-1]); before {
			case "from", "join", "straight_join", "update":
				isTable = true
			case ",":
				isTable = q.from
			case "/": // behind the tag of a statement
				isTable = len(open) == 1
			}
		}
		switch strings.ToLower(piece) {
		case "(":
			open = append(open, query{derived: q.derived || isTable})
		case ")":
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case "select":
			q.selects = true
		case "from":
			q.from = true
		case "where", "group", "having", "order", "limit":
			q.from = false
		default:
			name := piece[strings.LastIndexByte(piece, '.')+1:]
			if isTable && q.selects && !q.derived && strings.EqualFold(strings.Trim(name, "\"`"), table) && (!bare || e.Alias(i+1) < 0) {
				return true
			}
		}
	}
	return false
}

// most finds how many jobs one statement can name.
func (b *builder) most() {
	p := b.pkg
	p.MostTaken, p.WhyMost = b.d.MostTaken, b.d.WhyMost
	for _, s := range p.Statements() {
		perRow, fixed := 0, 0
		for _, a := range s.Args {
			switch a.Kind {
			case ArgList, ArgNewList, ArgHeldList:
				perRow += len(a.Batch)
			default:
				fixed++
			}
		}
		if perRow > 0 {
			p.Most = min(cmp.Or(p.Most, b.d.MostRows), (b.d.MostValues-fixed)/perRow)
		}
	}
	if p.MostTaken > 0 {
		p.Most = cmp.Or(p.Most, b.d.MostRows)
	}
	p.ZeroDate = b.d.ZeroDate
	p.WantsError = b.wantsError()
	p.Slices = b.batches("forall")
	if before, _, ok := strings.Cut(cmp.Or(b.d.ListPlaceholder, b.d.Placeholder), "{n}"); ok {
		p.Slot, p.Numbered = b.slot(), before
	}
}

// packageFacts sets what the configuration says of the Go package.
func (b *builder) packageFacts(spec *queue.Spec, q *config.Queue, errs *source.ErrorList) {
	p := b.pkg
	p.Queue = spec.Name
	p.Table = spec.Table.QualifiedName()
	if spec.Away != nil {
		p.Running = spec.Away.Spec.Table.QualifiedName()
	}
	if f := spec.Table.Pos.File; f != nil {
		p.Source = f.Path
	}
	p.Name = packageName(p.Queue)
	p.Backoff = spec.Backoff
	p.Driver = Driver(b.d.Drivers[0])
	p.Notes = slices.Clone(spec.Notes)
	g := q.Gen.Go
	if g == nil {
		return
	}
	p.Out = path.Clean(strings.ReplaceAll(g.Out.Value, `\`, "/"))
	b.conformancePos = g.Conformance.Pos
	p.WorkLoop, p.Conformance = g.Worker.Value, g.Conformance.Value
	if g.Package.IsSet() {
		p.Name = g.Package.Value
	}
	if g.SQLPackage.IsSet() {
		p.Driver = Driver(g.SQLPackage.Value)
		if !slices.Contains(b.d.Drivers, g.SQLPackage.Value) {
			errs.Errorf(g.SQLPackage.Pos, "%s cannot be reached through %q", b.d.Title, g.SQLPackage.Value).
				WithHint("Write %s.", strings.Join(b.d.Drivers, " or "))
		}
	}
}

// identify decides what names a row and what fences a claim.
func (b *builder) identify(errs *source.ErrorList) {
	p, s := b.pkg, b.spec
	switch {
	case len(s.Key) > 0:
		for _, c := range s.Key {
			if f := b.fields[c]; f != nil {
				p.Key = append(p.Key, f)
			}
		}
		if len(p.Key) < len(s.Key) {
			errs.Errorf(s.Pos, "the key of %q holds an ignored column", p.Table).WithHint("Remove qgen:ignore from it.")
			return
		}
	case !b.d.RowIdentity.Stable && !b.d.RowIdentity.Mostly && b.hasRunning() && p.Strategy != "hold" && p.Strategy != "pop":
		b.rowToken = b.fields[s.Token]
		p.Key = []*Field{b.rowToken}
		p.Notes = append(p.Notes, "the table has no key: every claim leaves a fresh value in each row, which names it from then on")
	default:
		b.rowIdentityFields()
	}
	if b.placed() {
		p.Notes = append(p.Notes, b.d.RowIdentity.Changes+", by which they are named: every claim leaves a fresh value in each row, and who holds jobs then gets ErrLost for them")
	}
	for _, f := range p.Key {
		f.Null = false
	}
	p.Guarantee = s.Fence.Level
	if !b.writesClaim() {
		p.Guarantee = queue.FenceNone
		return
	}
	for _, c := range s.Fence.Columns {
		f := b.fields[c]
		if f == nil {
			errs.Errorf(s.Pos, "the fence needs column %q, which is ignored", c.Name).WithHint("Remove qgen:ignore from it.")
			continue
		}
		if f == b.rowToken {
			continue
		}
		f.Fence, f.Null = true, false
		p.Fence = append(p.Fence, f)
	}
}

// placed reports whether claimed rows are named by a place that they may lose between transactions, so
// that a value of each row's own tells whether it is the same.
func (b *builder) placed() bool {
	return b.rowID != nil && b.d.RowIdentity.Mostly && b.hasRunning() && b.writesClaim()
}

// rowIdentityFields makes fields of the row's physical identity.
func (b *builder) rowIdentityFields() {
	identity := b.d.RowIdentity
	name := "RowID"
	if slices.ContainsFunc(b.pkg.Fields, func(f *Field) bool { return f.Name == name }) {
		name = "RowIdentity"
	}
	goType := "string"
	if identity.Number {
		goType = "int64"
	}
	b.rowID = &Field{Column: b.rowName(), SQLType: identity.Type, Name: name, Param: unexported(name), JSON: "row_id",
		GoType: goType, RowID: true, Cast: identity.Type, Doc: "the row's physical identity; the table has no key"}
	keys := []*Field{b.rowID}
	if t := b.spec.Table; (t.Partitioned || t.Inherited) && identity.Partitioned != "" {
		keys = []*Field{{Column: identity.Partitioned, SQLType: "oid", Name: "RowTable", Param: "rowTable", JSON: "row_table",
			GoType: "int64", RowID: true, Cast: "oid", Doc: "the partition that holds the row"}, b.rowID}
	}
	b.pkg.Key = keys
}

// checkFence compares the fence with the floor that the user set.
func (b *builder) checkFence(errs *source.ErrorList) {
	if b.pkg.Guarantee >= b.spec.MinFence {
		return
	}
	pos := b.spec.MinPos
	if !pos.IsValid() {
		pos = b.spec.Pos
	}
	why := ""
	switch w := b.spec.Fence.Told; {
	case b.spec.Fence.Unfit != "":
		why = ": " + b.spec.Fence.Unfit
	case w != nil:
		why = fmt.Sprintf(": what qgen:on writes to column %q is not known to be another value for each claim", w.Name)
	}
	errs.Errorf(pos, "the fence is at level %q, below the wanted %q%s", b.pkg.Guarantee, b.spec.MinFence, why).
		WithHint("For %q %s.", b.spec.MinFence, fenceBy(b.spec.MinFence))
}

// fenceBy says which words reach a level of the fence.
func fenceBy(level queue.FenceLevel) string {
	ways := []string{"mark a column with qgen:token, which gets a random value per claim"}
	if level <= queue.FenceAttempt {
		ways = append(ways, "one with qgen:version or qgen:attempts up on=claim, a counter")
	}
	if level <= queue.FenceClaimed {
		ways = append(ways, "one with qgen:claimed or qgen:lease, best with qgen:worker beside it")
	}
	if level <= queue.FenceStatus {
		ways = append(ways, "say running=… on qgen:status")
	}
	return strings.Join(ways, ", or ")
}

// noteNulls says where rows without a value stand in the order: servers differ in that.
func (b *builder) noteNulls() {
	for _, o := range b.spec.Order {
		c := o.Column
		if c == nil || c.NotNull || o.Nulls != "" || slices.Contains(b.spec.Key, c) || b.spec.Log != nil || !b.mayBeNull(c) {
			continue
		}
		where, other := "last", "first"
		if b.comesFirst(o) {
			where, other = other, where
		}
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("rows without a value in column %q stand %s in the order, where %s puts nulls (nulls=%s puts them %s)", c.Name, where, b.d.Title, other, other))
	}
}

// mayBeNull reports whether a ready row may have no value in a column.
func (b *builder) mayBeNull(c *schema.Column) bool {
	isNull := func(t queue.Test) bool { return t.Column == c && t.Op == queue.IsNull || t.Column != c }
	return !slices.ContainsFunc(b.stateTests(queue.Ready), func(t queue.Test) bool { return !isNull(t) && !slices.ContainsFunc(t.Or, isNull) })
}

// checkWorkArguments complains about arguments of operations that Work calls by
// itself: it would have nothing to give.
func (b *builder) checkWorkArguments(errs *source.ErrorList) {
	if !b.pkg.WorkLoop {
		return
	}
	for _, name := range []queue.TransitionName{queue.Start, queue.Retry, queue.Release, queue.Fail, queue.Renew, queue.Recover, queue.GiveUp} {
		t, method := b.spec.Transitions[name], operations[name]
		if t == nil || !b.carriesOut(name) {
			continue
		}
		var values []queue.Value
		for _, w := range t.Writes {
			if asks := b.spec.Asks(w.Value); len(asks) > 0 {
				values = append(values, queue.Value{Kind: queue.Given, Name: asks[0].Name, Pos: w.Value.Pos})
			}
			values = append(values, w.Value)
		}
		for _, c := range t.With {
			for _, v := range c.Givens() {
				values = append(values, v.Value)
			}
			for _, p := range b.spec.AskedBeside(c) {
				values = append(values, queue.Value{Kind: queue.Given, Name: p.Name, Pos: p.Pos})
			}
		}
		for _, v := range values {
			if v.Kind == queue.Given {
				errs.Errorf(v.Pos, "Work calls %s by itself and has nothing to give for argument %q", method, v.Name).
					WithHint("Write an expression in its place: on %s set \"…\". Or leave worker: true out of qgen.yaml and call %s with the argument.", name, method)
			}
		}
	}
}

// statusType names the states of a single status column in Go.
func (b *builder) statusType() {
	st := b.spec.Status
	if st == nil || st.ByToken || len(st.Values) == 0 {
		return
	}
	f := b.fields[st.Column]
	if f == nil || f.Codec != Direct {
		return
	}
	t := &StatusType{Name: "Status", Field: f, GoType: f.GoType}
	if f.GoType == "[]byte" { // of which Go has no constants
		t.Field, t.GoType = nil, "string"
	}
	docs := map[queue.StateName]string{
		queue.Ready: "jobs that wait to be claimed", queue.Claimed: "jobs that are claimed and not begun",
		queue.Running: "jobs that a worker holds", queue.Done: "jobs that are finished", queue.Failed: "jobs that failed for good",
	}
	if b.takenState() == queue.Claimed {
		docs[queue.Running] = "jobs that have begun"
	}
	// The name of a state alone is that of the value which is written, whatever the order in
	// which the table lists them.
	used := map[string]bool{}
	for _, v := range st.Values {
		if v.First {
			used[exported(string(v.State))] = true
		}
	}
	for _, v := range st.Values {
		name := exported(string(v.State))
		doc := docs[v.State]
		if v.State == "" {
			name, doc = exported(v.Value), "a value that no state names"
		}
		if !v.First && (used[name] || name == "") {
			name += exported(v.Value)
		}
		for !v.First && used[name] || name == "" {
			name += "X"
		}
		used[name] = true
		literal, ok := goConstant(f, st.Column.Type, v.Value)
		if !ok {
			return
		}
		t.Consts = append(t.Consts, StatusConst{Name: "Status" + name, Value: literal, Doc: doc})
	}
	b.pkg.Status = t
}

// goConstant writes a value of a column as a constant of Go; false where the type of its
// field has none, such as a time.
func goConstant(f *Field, t schema.Type, value string) (string, bool) {
	number := strings.TrimRight(f.GoType, "0123456789")
	switch {
	case f.GoType == "string":
		return strconv.Quote(value), true
	case f.GoType == "[]byte":
		return strconv.Quote(string(t.Bytes(value))), true
	case f.GoType == "bool":
		b, err := strconv.ParseBool(value)
		return strconv.FormatBool(b), err == nil
	case number == "int" || number == "uint" || number == "float":
		// What has zeros in front is octal in Go, or nothing.
		sign, digits := "", value
		if rest, ok := strings.CutPrefix(value, "-"); ok {
			sign, digits = "-", rest
		}
		digits = strings.TrimLeft(digits, "+0")
		if digits == "" || strings.ContainsAny(digits[:1], ".eE") {
			digits = "0" + digits
		}
		_, err := strconv.ParseFloat(sign+digits, 64)
		return sign + digits, err == nil
	}
	return "", false
}

// readFields decides which columns a Job carries.
func (b *builder) readFields() {
	p := b.pkg
	var fields []*Field
	for _, f := range p.Key {
		if f.RowID {
			fields = append(fields, f)
		}
	}
	for _, f := range p.Fields {
		if slices.Contains(p.Key, f) || f.Fence || b.carried(b.roles[b.columnOf(f)]) {
			fields = append(fields, f)
		}
	}
	p.Fields = fields
	if p.Status != nil && !slices.Contains(fields, p.Status.Field) {
		p.Status.Field = nil
	}
	if l := b.spec.Lease; l != nil {
		p.Lease = &Lease{Length: l.Length}
		if f := b.fields[l.Column]; !l.FromStart && slices.Contains(fields, f) {
			p.Lease.Field = f
		}
	}
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil || name == queue.Claim && !b.writesClaim() {
			continue
		}
		named := func(w queue.Write) bool { return w.Value.Kind == queue.WorkerID }
		p.Worker = p.Worker || slices.ContainsFunc(t.Writes, named)
		for _, c := range t.With {
			p.Worker = p.Worker || slices.ContainsFunc(slices.Concat(c.Set, c.Where), func(v queue.CompanionValue) bool { return v.Value.Kind == queue.WorkerID })
		}
	}
	live := b.spec.Liveness
	if b.side != nil && live == nil {
		live = b.side.spec.Liveness
	}
	if p.Worker && live != nil && !live.Listed {
		p.Workers = (&schema.Table{Schema: live.Schema, Name: live.Table}).QualifiedName()
		p.Notes = append(p.Notes, "column "+live.Column.Name+" holds an id of "+p.Workers+", so every worker needs WithWorker: what claims record without it is no id of that table")
	}
	if p.Worker {
		p.NoWorkers = b.spec.NoWorker
		p.LeastWorker, p.MostWorker = b.spec.LeastWorker, b.spec.MostWorker
	}
	// A column that every claim writes is not null in a claimed job.
	if t := b.spec.Transitions[queue.Claim]; t != nil && b.writesClaim() {
		for _, w := range t.Writes {
			if f := b.fields[w.Column]; f != nil && w.Value.Kind != queue.Null && w.Value.Kind != queue.SQLExpr && w.Value.Kind != queue.Old && w.Value.Kind != queue.Add && w.Value.Kind != queue.Given {
				f.Null = false
			}
		}
	}
}

// noteTruth says which fields are booleans although their columns could hold more: of those of one type together.
func (b *builder) noteTruth() {
	var types []string
	of := map[string][]string{}
	for _, f := range slices.Concat(b.pkg.Fields, b.payload) {
		c := b.columnOf(f)
		if at, ok := b.elsewhere[f]; ok {
			c = at.column
		}
		if c == nil || f.GoType != "bool" || c.Type.SaysBool() {
			continue
		}
		if _, number := c.Type.Number(); !number || !f.Payload {
			continue
		}
		if of[c.Type.Raw] == nil {
			types = append(types, c.Type.Raw)
		}
		of[c.Type.Raw] = append(of[c.Type.Raw], strconv.Quote(f.Column))
	}
	for _, t := range types {
		text := "column %s is %s, read as a boolean: a job with more than 0 and 1 in it comes with false there and Job.Err set; overrides: in gen.go gives it another type"
		if len(of[t]) > 1 {
			text = "columns %s are %s, read as booleans: a job with more than 0 and 1 in one of them comes with false there and Job.Err set; overrides: in gen.go gives them other types"
		}
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf(text, strings.Join(of[t], ", "), t))
	}
}

// carried reports whether a Job carries a column because of its roles.
func (b *builder) carried(c *queue.Column) bool {
	if c == nil || slices.ContainsFunc(b.spec.Order, func(o queue.OrderTerm) bool { return o.Column == c.Column }) {
		return true // the jobs of a claim are sorted by it
	}
	for _, r := range c.Roles {
		switch r.Verb {
		case "status", "worker", "finished", "result", "heartbeat":
			if !c.Payload {
				return false
			}
		}
	}
	return !onlyWritten(c)
}

// onlyWritten reports whether nothing is said of a column but what steps write to it.
func onlyWritten(c *queue.Column) bool {
	own := c.OwnRoles()
	return len(own) > 0 && !c.Payload && !slices.ContainsFunc(own, func(r queue.Role) bool { return r.Verb != "on" })
}

// leaveTies decides whether claims leave the key out that tells apart rows of one time: where an
// index of the table gives the order but for that, and the server would sort all ready rows. What sorts
// rows of one time alone does so where all new ones have the same.
// Rows of one group are told apart by the whole order, and so are those that a caller refuses.
func (b *builder) leaveTies() {
	if b.spec.Log != nil || b.spec.Group != nil || b.spec.Accept || len(b.several()) > 0 {
		return
	}
	serving := func() *schema.Index {
		w := b.claimIndex()
		if w.sorted {
			return nil
		}
		return b.serving(w)
	}
	said := slices.DeleteFunc(slices.Clone(b.spec.Order), func(o queue.OrderTerm) bool { return o.Tie })
	if len(said) == 0 || len(said) == len(b.spec.Order) || !b.tellsTime(said[len(said)-1].Column) {
		return
	}
	if last := said[len(said)-1].Column; b.can(dialect.IncrementalSort) && !b.beginsAlike(last) || !b.can(dialect.IncrementalSort) && serving() != nil {
		return
	}
	b.untied = true
	ix := serving()
	if b.untied = ix != nil; !b.untied {
		return
	}
	b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("rows that are alike in column %q are taken as the index %s has them: in the order of the key as well, %s would sort all ready rows for each claim",
		said[len(said)-1].Column.Name, plainText(ix.Name), b.d.Title))
}

// beginsAlike reports whether all new rows have the same time in a column, as one that stands for none.
func (b *builder) beginsAlike(c *schema.Column) bool {
	t := b.spec.Transitions[queue.Enqueue]
	return t != nil && slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return w.Column == c && w.Value.Kind == queue.Literal })
}

// chooseIndex decides whether the order says NULLS FIRST: where the order
// begins like the primary key, the planner may walk the primary key through
// all finished rows instead of the queue's index. No primary key can give
// NULLS FIRST, so the tie cannot happen. An index of the user's that serves
// the plain order is left in peace.
func (b *builder) chooseIndex() {
	pk := b.spec.Table.PrimaryKey
	if !b.can(dialect.KeyTie) || pk == nil || len(b.spec.Order) == 0 || !b.can(dialect.PartialIndex) {
		return
	}
	first := b.spec.Order[0]
	if first.Column != pk.Columns[0] || first.Desc || first.Nulls != "" || first.Random {
		return
	}
	if b.serving(b.claimIndex()) != nil {
		return
	}
	b.nullsFirst = len(b.claimIndex().where) > 0
}

// attempts plans how Fail decides.
func (b *builder) attempts() {
	a := b.spec.Attempts
	if b.side != nil {
		a = b.side.spec.Attempts
	}
	if a == nil || b.fields[a.Column] == nil {
		return
	}
	b.pkg.Attempts = &Attempts{Field: b.fields[a.Column], Down: a.Down, Retries: a.Retries(), OnClaim: a.OnClaim, Max: a.Max, Unlimited: a.NullMeansUnlimited}
	if l := a.MaxOf; l != nil {
		limit := &RowLimit{Field: b.fields[l.Column], Retries: l.Retries, Null: l.Null}
		for _, v := range l.Endless {
			limit.Endless = append(limit.Endless, v.Text)
		}
		b.pkg.Attempts.MaxOf = limit
	}
}

// fuse decides whether finishing a batch and claiming the next go together.
func (b *builder) fuse() {
	p := b.pkg
	p.CompleteAndClaim = p.Complete != nil && !p.Hold && (b.hasRunning() || b.side != nil)
}

// carriesOut reports whether the package has an operation for a step.
func (b *builder) carriesOut(name queue.TransitionName) bool {
	p := b.pkg
	switch name {
	case queue.Enqueue, queue.Update:
		return p.Enqueue != nil
	case queue.Start:
		return p.Start != nil
	case queue.Finish:
		return p.Complete != nil
	case queue.Retry:
		return p.Retry != nil
	case queue.Fail:
		// An outcome does what Fail would, and may be the only way there.
		return p.Fail != nil || slices.ContainsFunc(b.spec.Outcomes, func(o *queue.Outcome) bool {
			return o.To == queue.Failed && len(o.Transition.With) > 0
		})
	case queue.Release:
		return p.Requeue != nil
	case queue.Renew:
		return p.Extend != nil
	case queue.Recover, queue.GiveUp:
		return p.Recover != nil
	case queue.Redrive:
		return p.Redrive != nil
	case queue.Purge:
		return len(p.Purges) > 0
	}
	if o := b.spec.Outcome(name); o != nil {
		return slices.ContainsFunc(p.Outcomes, func(have *Outcome) bool { return have.Method == exported(o.Name) })
	}
	return true
}

// buildExplain gathers what people are told about the decisions.
func (b *builder) buildExplain() {
	p := b.pkg
	b.explainColumns()
	for _, f := range b.payload {
		at := b.elsewhere[f]
		use := ColumnUse{Column: plainText(b.called(at.from) + "." + at.column.Name), Type: plainText(at.column.Type.Raw),
			Roles: "payload, of " + plainText(at.from.Table.QualifiedName()), Go: f.Name + " *" + strings.TrimPrefix(f.GoType, "*")}
		p.Columns = append(p.Columns, use)
	}
	if b.ready != nil {
		b.explainReady()
	}
	b.explainStates()
	for _, name := range b.spec.Steps() {
		if !b.carriesOut(name) {
			continue
		}
		m := MoveUse{Transition: string(name)}
		m.From, m.To = moves[name][0], moves[name][1]
		switch {
		case name == queue.Claim && b.leavesReadyRows():
			m.To = string(queue.Ready)
			if _, by := b.keepsReady(); by != nil {
				m.To = string(queue.MaybeReady)
			}
		case name == queue.Claim && b.popped() != nil:
			m.To = string(queue.Done)
		case name == queue.Claim && p.Strategy == "pop":
			m.To = ""
		case name == queue.Claim:
			m.To = string(b.takenState())
		case m.From == "running" && m.To == "running":
			m.From, m.To = b.heldState(), b.heldState()
		case m.From == "running":
			m.From = b.heldState()
		}
		switch {
		case name == queue.Enqueue && m.To == string(queue.Ready):
			m.To = b.added()
		case name == queue.Finish && b.spec.Cycle != nil, name == queue.Release && m.To == string(queue.Ready):
			m.To = b.givenBack(name).end()
		case name == queue.Retry && m.To == string(queue.Ready):
			m.To = b.givenBack(name).end()
		case name == queue.Recover && b.spec.Recovered != "":
			m.To = string(b.spec.Recovered)
		case name == queue.GiveUp && b.spec.GivenUp != "":
			m.To = string(b.spec.GivenUp)
		}
		if b.spec.AtStart && m.From == "expired" {
			m.From = b.heldState()
		}
		if o := b.spec.Outcome(name); o != nil {
			m.Transition, m.From, m.To = o.Name, b.heldState(), string(o.To)
			switch o.To {
			case queue.Deleted:
				m.To = ""
			case queue.Ready:
				m.To = b.givenBack(name).end()
			}
		}
		switch own := cmp.Or(b.ready, b); {
		case name == queue.Purge:
			m.From = b.purgedText()
		case name == queue.Update && own.upserts != nil:
			m.From, m.To = own.explainUpsert()
		}
		if b.side == nil || name == queue.Update {
			if text, ok := b.explainStep(name); ok {
				m.Writes = text
				if g := cmp.Or(b.spec.Gate, b.spec.Group); g != nil && name == queue.Claim {
					m.Writes += "; " + limitText(g)
					if len(g.Columns) > 0 {
						m.Writes += " of those that are alike in " + groupNames(g)
					}
				}
				p.Moves = append(p.Moves, m)
			}
			continue
		}
		var writes []string
		if t := b.side.spec.Transitions[name]; t != nil {
			writes = append(writes, "in "+plainText(b.side.spec.Table.Name)+": "+b.side.explainMove(t))
		}
		switch t := b.spec.Transitions[name]; name {
		case queue.Enqueue, queue.Finish, queue.Fail, queue.GiveUp, queue.Redrive, queue.Purge:
			// A job that fails or is redriven in the side table leaves its row as it is.
			inSide := len(writes) > 0 && (name == queue.Redrive || name == queue.GiveUp)
			if t != nil && !inSide && (name != queue.GiveUp || b.spent() != nil) {
				writes = append(writes, b.explainMove(t))
			}
		}
		if len(writes) > 0 {
			m.Writes = strings.Join(writes, "; ")
			p.Moves = append(p.Moves, m)
		}
	}
}

// explainColumns tells what each column was taken for.
func (b *builder) explainColumns() {
	p := b.pkg
	for _, c := range b.spec.Columns {
		var roles []string
		said := map[string]bool{}
		for _, r := range c.Roles {
			said[r.Verb] = true
			roles = append(roles, strings.TrimSpace(r.Verb+" "+r.Words))
		}
		switch {
		case c.Ignored && !said["ignore"]:
			roles = append(roles, "ignore")
		case c.Payload && !said["payload"]:
			roles = append(roles, "payload")
		}
		if slices.Contains(b.spec.Key, c.Column) && !said["id"] {
			roles = append([]string{"id"}, roles...)
		}
		if c.Times != "" {
			roles = append(roles, c.Times)
		}
		use := ColumnUse{Column: plainText(c.Name), Type: plainText(c.Type.Raw), Roles: plainText(strings.Join(roles, "; "))}
		if f := b.fields[c.Column]; f != nil && slices.Contains(p.Fields, f) {
			use.Go = f.Name + " " + f.GoType
			if f.Null {
				use.Go = f.Name + " *" + strings.TrimPrefix(f.GoType, "*")
			}
		}
		p.Columns = append(p.Columns, use)
	}
}

// explainStates tells how each state is recognised.
func (b *builder) explainStates() {
	add := func(name queue.StateName, test string) {
		b.pkg.States = append(b.pkg.States, StateUse{State: string(name), Test: test})
	}
	s := b.newScope()
	for _, name := range queue.StateNames {
		state := b.spec.States[name]
		if b.ready != nil && name == queue.Ready {
			r := b.ready.newScope()
			add(name, strings.TrimSuffix("a row of "+plainText(b.pkg.Table)+" with "+r.readable(r.tests(b.ready.stateTests(name)), " and "), " with "))
		}
		var test string
		if b.ready != nil && state != nil {
			test = "a row of " + plainText(b.spec.Table.QualifiedName())
		} else if state != nil {
			test = cmp.Or(s.readable(s.tests(state.Tests), " and "), "every row")
		}
		if b.side != nil {
			table := plainText(b.side.spec.Table.Name)
			side := b.side.newScope()
			held := b.side.spec.States[name]
			switch {
			case name == queue.Ready:
				test += ", without a claim in " + table + " that is good"
			case held != nil:
				add(name, strings.TrimSuffix("a claim in "+table+" with "+side.readable(side.tests(held.Tests), " and "), " with "))
				continue
			}
		}
		if state != nil {
			add(name, test)
		}
	}
}

// explainMove tells what a transition writes.
func (b *builder) explainMove(t *queue.Transition) string {
	var writes string
	switch {
	case !t.Delete:
		e := b.newScope()
		e.settle.named, e.settle.late = true, b.late(t.Name)
		writes = e.readable(e.sets(t.Writes), ", ")
	case movesTo(t) == nil:
		writes = "the row is deleted"
	}
	if len(t.With) > 0 {
		writes = strings.TrimPrefix(writes+"; "+b.explainCompanions(t), "; ")
	}
	return writes
}

// moves are the ends of every transition.
var moves = map[queue.TransitionName][2]string{
	queue.Enqueue: {"", "ready"}, queue.Claim: {"ready", "running"}, queue.Start: {"claimed", "running"},
	queue.Finish: {"running", "done"}, queue.Retry: {"running", "ready"}, queue.Release: {"running", "ready"},
	queue.Fail: {"running", "failed"}, queue.Renew: {"running", "running"}, queue.Recover: {"expired", "ready"},
	queue.GiveUp: {"expired", "failed"}, queue.Redrive: {"failed", "ready"}, queue.Purge: {"finished", ""},
}

// readable joins texts and names the arguments in them.
func (s *scope) readable(texts []string, separator string) string {
	text := strings.Join(texts, separator)
	for i, a := range s.args {
		text = strings.ReplaceAll(text, dialect.Mark(i), "{"+string(a.Kind)+"}")
	}
	return plainText(text)
}

// wantsError reports whether an error without a text needs one: where a CHECK refuses it, and where
// the server takes it for a null, which the column does not hold or which tells another state.
func (b *builder) wantsError() bool {
	e := b.spec.Error
	if b.side != nil && b.side.spec.Error != nil {
		e = b.side.spec.Error
	}
	switch {
	case e == nil:
		return false
	case e.Wanted:
		return true
	}
	failed := b.spec.States[queue.Failed]
	return b.d.EmptyIsNull && (e.Column.NotNull || failed != nil && slices.ContainsFunc(failed.Tests, func(t queue.Test) bool { return t.Column == e.Column }))
}
