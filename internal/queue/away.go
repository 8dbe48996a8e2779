package queue

// This file reads states.running of qgen.yaml: a table in which the rows of jobs are
// while they run. A claim moves a row there, whoever gives the job back moves it back,
// and all else happens to the row where it is. Both tables are read as a queue: the one
// of the entry for what is ready, the other for what runs.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Away is the table in which rows are while their jobs run.
type Away struct {
	Pos source.Pos // where it is asked for
	// Spec reads that table as a queue all of whose rows run. Its claim writes what a
	// claim leaves in the row; what makes a job ready again moves the row back.
	Spec *Spec
	// Claim adds the row of a job that is claimed.
	Claim *Companion
	// Ready are the columns of the queue's own table by those that have their values
	// while a job runs.
	Ready map[*schema.Column]*schema.Column
}

// Running returns the column that has the value of one of the queue's own table while a job runs, nil
// where none has.
func (a *Away) Running(own *schema.Column) *schema.Column {
	for there, here := range a.Ready {
		if here == own {
			return there
		}
	}
	return nil
}

// ofClaims are the roles of columns that are written while a job runs only. They are
// read at the table in which it runs, whichever of the two tables says them.
var ofClaims = []string{"lease", "claimed", "heartbeat", "worker", "token", "version", "result", "finished"}

// ofBoth are the roles that both tables must have, whichever of the two says them.
var ofBoth = []string{"attempts", "max_attempts", "error"}

// onlyRunning and onlyReady are the steps that qgen:on may write at each of the tables.
var (
	onlyReady   = []string{string(Enqueue), string(Update), string(Retry), string(Release), string(Recover)}
	onlyRunning = []string{string(Claim), string(Finish), string(Fail), string(Renew), string(GiveUp)}
)

// pairing is how the table in which jobs run belongs to that of the queue.
type pairing struct {
	*config.Running
	table *schema.Table
	roles []*role
	// to and from pair the columns of both tables: of the queue's own with those of the
	// other, and the other way round.
	to, from map[*schema.Column]*schema.Column
}

// readAway reads where jobs are while they run, and divides the annotations of both
// tables; nil after a complaint. What is left of the roles belongs to the table of
// the queue.
func readAway(cat *schema.Catalog, t *schema.Table, q *config.Queue, fold func(string) string, one *oneQueue, errs *source.ErrorList) (*pairing, []*role) {
	before := errs.Len()
	if refuseBeside(q, errs); errs.Len() > before {
		return nil, nil
	}
	a := &pairing{Running: q.Running, to: map[*schema.Column]*schema.Column{}, from: map[*schema.Column]*schema.Column{}}
	a.table = named(cat, tableName{String: q.Running.Table, key: "table: ", need: "Its DDL has to be among the schema files."}, fold, errs)
	switch {
	case a.table == nil:
		return nil, nil
	case a.table == t:
		errs.Errorf(a.Table.Pos, "%s is the table of the queue itself", a.Table.Value).WithHint("Name the table in which jobs are while they run. Where one table holds both, mark the state in a column with qgen:status.")
		return nil, nil
	case a.table.View || t.View:
		errs.Errorf(a.Table.Pos, "rows of a view cannot be moved").WithHint("Name the tables behind it.")
		return nil, nil
	}
	errs.Add(a.table.Gaps...)
	own := *q
	own.Words, own.Columns = config.String{}, a.Words
	table, collected, notes := numeric(a.table, collect(a.table, &own, fold, errs), a.numberIn(t, fold))
	a.table = table
	one.notes = append(one.notes, notes...)
	for _, r := range collected {
		switch {
		case !r.of(one.name):
		case r.column == nil:
			errs.Errorf(r.pos, "%s stands at the table in which jobs run, and speaks of the queue", r).
				WithHint("Write it at table %q.", t.QualifiedName())
		default:
			a.roles = append(a.roles, r)
		}
	}
	there := oneQueue{roles: a.roles}
	there.settle(nil, &own)
	a.roles = there.roles
	one.notes = append(one.notes, there.notes...)
	a.pair(t, fold, errs)
	roles := a.divide(t, one.roles, errs)
	if errs.Len() > before {
		return nil, nil
	}
	return a, roles
}

// refuseBeside complains about keys that do not go with a table of running jobs.
func refuseBeside(q *config.Queue, errs *source.ErrorList) {
	refused := func(pos source.Pos, is bool, what, hint string) {
		if is {
			errs.Errorf(pos, "%s and states: {running: {table: …}} do not go together", what).WithHint("%s", hint)
		}
	}
	const claims = "The row of a job is in the other table while it runs. Leave one of the two out."
	refused(q.Running.Pos, q.Side != nil, "side_table", claims)
	refused(q.Running.Pos, q.Lease != nil, "lease_table", claims)
	refused(q.Running.Pos, len(q.Params) > 0, "names of tables that are made at run time", "Name one table for each entry of qgen.yaml, and leave params out.")
	refused(q.Running.Pos, len(q.Payload) > 0, "payload_from", "Read the other table in the handler, by the key of the job.")
	refused(q.Running.Pos, q.Group != nil, "group", "Leave group out.")
	refused(q.Running.Pos, q.Offset != nil, "offset", "Leave offset out.")
	refused(q.Running.Pos, len(q.Legacy) > 0, "legacy_claim", "Leave legacy_claim out: whoever moves rows as a claim does keeps off those that others moved.")
	refused(q.Accept.Pos, q.Accept.Value, "accept", "Leave accept out: a job that is not wanted is given back with Requeue.")
	refused(q.Running.Pos, len(q.Outcomes) > 0, "outcomes", "A job ends by Complete, Fail and Requeue. Write other columns in the transaction of the handler, with WithTx.")
}

// numberIn reports of a column of the other table whether its counterpart in the table of
// the queue is a number.
func (a *pairing) numberIn(t *schema.Table, fold func(string) string) func(*schema.Column) bool {
	return func(there *schema.Column) bool {
		name := there.Name
		for _, v := range a.Columns {
			if columnOf(a.table, v.Column.Value, fold) == there {
				name = strings.TrimPrefix(v.Value.Value, "row.")
			}
		}
		here := columnOf(t, name, fold)
		return here != nil && here.Type.Class == schema.Int
	}
}

// pair pairs the columns of both tables.
func (a *pairing) pair(t *schema.Table, fold func(string) string, errs *source.ErrorList) {
	if a.Same {
		for _, c := range t.Columns {
			if there := a.table.Column(c.Name); there != nil {
				a.to[c], a.from[there] = there, c
			}
		}
	}
	for _, v := range a.Columns {
		there := columnOf(a.table, v.Column.Value, fold)
		if there == nil {
			NoColumn(a.table, v.Column.Value, v.Column.Pos, "", errs)
			continue
		}
		text := v.Value.Value
		here := columnOf(t, strings.TrimPrefix(text, "row."), fold)
		word := v.Value
		switch {
		case slices.Contains([]string{"token", "worker"}, text):
		case here != nil && a.to[here] != nil:
			errs.Errorf(v.Value.Pos, "column %q goes to two columns of %q", here.Name, a.table.QualifiedName()).
				WithHint("A row comes back as it went. Give the second a value of its own, or leave it out.")
			continue
		case here != nil:
			a.to[here], a.from[there] = there, here
			continue
		case bareForm.MatchString(text) && !slices.Contains([]string{"now", "null", "true", "false"}, text):
			NoColumn(t, text, v.Value.Pos, "A text stands in single quotes: \"'new'\". Other words are now, token, worker and null.", errs)
			continue
		case bareForm.MatchString(text), numberForm.MatchString(text), textForm.MatchString(text):
			word.Value, word.Exact = "on claim set "+text, false
		default:
			word.Value, word.Exact = `on claim set "`+text+`"`, false
		}
		for _, words := range parseWords(word, "", errs) {
			if r := route(a.table, there, words, errs); r != nil && words.check(errs) {
				a.roles = append(a.roles, r)
			}
		}
	}
	for here, there := range a.to {
		if x, y := here.Type, there.Type; x.Class != y.Class || x.Array != y.Array || x.Bits != y.Bits || x.Zone != y.Zone || x.Enum != y.Enum {
			errs.Errorf(there.Pos, "column %q is %s in %q and %s in %q, and rows go there and back", here.Name, orWord(x.Raw, "without type"), t.QualifiedName(),
				orWord(y.Raw, "without type"), a.table.QualifiedName()).WithHint("Give both columns one type.")
		}
	}
}

// divide returns those of the roles that belong to the table of the queue, and leaves
// the others in a.roles.
func (a *pairing) divide(t *schema.Table, roles []*role, errs *source.ErrorList) []*role {
	var here, there []*role
	at := func(r *role, c *schema.Column) *role { return &role{annotation: r.annotation, column: c} }
	said := func(list []*role, verb string) bool {
		return slices.ContainsFunc(list, func(r *role) bool { return r.verb == verb })
	}
	for _, r := range roles {
		c := a.to[r.column]
		switch {
		case r.verb == "group" && r.column == nil:
			errs.Errorf(r.pos, "group and states: {running: {table: …}} do not go together").WithHint("Leave qgen:group out.")
		case r.verb == "status" || r.verb == "visible" || r.verb == "group":
			errs.Errorf(r.pos, "column %q is qgen:%s, but the state of a job is the table in which its row is", r.column.Name, r.verb).
				WithHint("%s", map[string]string{
					"status":  "Leave qgen:status out. A condition of ready rows is said by qgen:where, what becomes of a finished row by done=delete or done: move.",
					"visible": "Say qgen:due, and mark the lease in table " + a.table.QualifiedName() + ": qgen:lease length=5m.",
					"group":   "Leave qgen:group out.",
				}[r.verb])
		case slices.Contains(ofClaims, r.verb) && c == nil:
			errs.Errorf(r.pos, "column %q is qgen:%s, which is written while a job runs, but its row is in table %q then", r.column.Name, r.verb, a.table.QualifiedName()).
				WithHint("Mark a column of that table, in a comment there or with words: {COLUMN: [%q]} under running.", strings.TrimSpace(r.verb+" "+r.text))
		case slices.Contains(ofClaims, r.verb):
			there = append(there, at(r, c))
		case slices.Contains(ofBoth, r.verb):
			here = append(here, r)
			switch {
			case said(a.roles, r.verb):
			case c != nil:
				there = append(there, at(r, c))
			case r.verb != "error":
				a.alone(r, t, a.table, errs)
			}
		case r.verb == "on":
			a.checkSteps(r, onlyReady, a.table, errs)
			here = append(here, r)
		default:
			here = append(here, r)
			if (r.verb == "payload" || r.verb == "ignore") && c != nil {
				there = append(there, at(r, c))
			}
		}
	}
	for _, r := range a.roles {
		c := a.from[r.column]
		switch {
		case slices.Contains(ofClaims, r.verb), r.verb == "payload", r.verb == "ignore":
		case slices.Contains(ofBoth, r.verb) && said(here, r.verb):
		case slices.Contains(ofBoth, r.verb) && c != nil:
			here = append(here, at(r, c))
		case r.verb == "error":
		case slices.Contains(ofBoth, r.verb):
			a.alone(r, a.table, t, errs)
		case r.verb == "on":
			a.checkSteps(r, onlyRunning, t, errs)
		default:
			errs.Errorf(r.pos, "column %q is qgen:%s, which says when a row is ready, but it stands at the table in which jobs run", r.column.Name, r.verb).
				WithHint("Write it at a column of table %q.", t.QualifiedName())
			continue
		}
		there = append(there, r)
	}
	a.roles = there
	return here
}

// mark notes the roles of columns of the queue that are read at the other table.
func (a *pairing) mark(b *binding) {
	for _, r := range a.roles {
		if c := a.from[r.column]; c != nil && slices.Contains(ofClaims, r.verb) {
			b.columns[c].Roles = append(b.columns[c].Roles, Role{Verb: r.verb, Words: r.text, Pos: r.pos})
		}
	}
}

// alone complains about a role whose value would be lost when the row moves.
func (a *pairing) alone(r *role, in, lacking *schema.Table, errs *source.ErrorList) {
	errs.Errorf(r.pos, "column %q of %q is qgen:%s, and no column of %q keeps it when the row moves there", r.column.Name, in.QualifiedName(), r.verb, lacking.QualifiedName()).
		WithHint("Add a column to %q and pair the two: columns: same where they are called alike, else columns: {%s: …}.", lacking.QualifiedName(), r.column.Name)
}

// checkSteps complains about steps of qgen:on that happen to the row in another table.
func (a *pairing) checkSteps(r *role, known []string, other *schema.Table, errs *source.ErrorList) {
	for _, w := range r.words {
		if w.name == "set" && w.op == flag {
			return
		}
		if w.op == flag && !slices.Contains(known, w.name) && slices.Contains(TransitionNames, TransitionName(w.name)) {
			errs.Errorf(w.pos, "on %s, column %q is not written: the row is in table %q then", w.name, r.column.Name, other.QualifiedName()).
				WithHint("Write it at a column of that table. Here the steps are %s.", strings.Join(known, ", "))
		}
	}
}

// isAway reports whether this reads the table in which jobs run; movesAway, whether it
// reads that from which a claim takes them there.
func (b *binding) isAway() bool    { return b.ready != nil }
func (b *binding) movesAway() bool { return b.config.Running != nil && b.ready == nil }

// readRunning reads the table in which jobs run as a queue.
func (b *binding) readRunning(a *pairing) {
	r := newBinding(b.catalog, a.table, b.config, b.fold, &oneQueue{name: b.spec.Name, pos: b.queue.pos, words: b.queue.words}, b.errs)
	r.ready, r.away = b, a
	before := b.errs.Len()
	if b.spec.Cycle != nil {
		b.errorf(a.Pos, "cycle and states: {running: {table: …}} do not go together").WithHint("Leave one of the two out.")
	}
	if b.spec.Procedures {
		b.errorf(b.spec.StoredPos, "emit=procedure and states: {running: {table: …}} do not go together").WithHint("Leave emit out.")
	}
	for _, o := range b.spec.Order {
		if o.Column != nil && a.to[o.Column] == nil && !slices.Contains(b.spec.Key, o.Column) {
			b.errorf(o.Column.Pos, "jobs are claimed in the order of column %q, and no column of %q keeps it for those that come back with one claim", o.Column.Name, a.table.QualifiedName()).
				WithHint("Add a column there, and pair the two: columns: same where they are called alike, else columns: {COLUMN: %s}.", o.Column.Name)
			break
		}
	}
	r.readRoles(a.roles)
	r.readQueue()
	r.pairKey()
	r.readTimes()
	for there, here := range a.from {
		if c, known := r.columns[there], b.columns[here]; c.As == "" && c.Clock == "" {
			c.As, c.Width, c.Clock = known.As, known.Width, known.Clock // it keeps what that one does
		}
	}
	r.readAttempts()
	r.readClaims()
	r.countFailures()
	r.readOutcomes()
	r.readPayload()
	r.readBackoff()
	r.sound = b.errs.Len() == before
	r.buildStates()
	r.buildTransitions()
	for _, count := range r.spec.counts() {
		if !count.Limited() || r.spec.FailedDeletes {
			continue
		}
		b.errorf(r.counter(count.OnRecover).pos, "nothing says what becomes of a job that has no %s left", count.counted()).
			WithHint("Say failed=delete on qgen:queue, or in qgen.yaml where its row goes: failed: {move: {to: dead, columns: same}}.")
	}
	if r.sound && b.errs.Len() == before {
		b.spec.Away = &Away{Pos: a.Pos, Spec: r.spec, Claim: r.arrival(), Ready: a.from}
		r.readCompanions()
		r.settleAsked()
		r.moveBack()
		r.readFence()
		r.noteShorter()
		r.askMembersAway()
		r.judge()
	}
	if b.errs.Len() > before {
		return
	}
	for _, name := range []TransitionName{Enqueue, Redrive, Purge} {
		delete(r.spec.Transitions, name)
	}
	delete(r.spec.States, Ready)
	notes := r.spec.Notes
	r.spec.Notes = nil
	for _, note := range notes {
		b.note("%s", note)
	}
}

// askMembersAway has what qgen:where says of all rows of the queue be asked of those that run as well, where their
// table keeps the columns under the same names: it may hold what runs of others.
func (b *binding) askMembersAway() {
	kept := func(text string) bool {
		return !slices.ContainsFunc(b.ready.table.Columns, func(c *schema.Column) bool {
			there := b.away.to[c]
			return b.ready.spec.Reads(text, c) && (there == nil || there.Name != c.Name)
		})
	}
	for _, r := range b.ready.roles["where"] {
		text := strings.TrimSpace(r.words[0].values[0].text)
		if source.Mentions(text, b.ready.table.Name) || !kept(text) || !b.ready.isLasting(text) || !b.isLasting(text) {
			continue
		}
		member := Test{Op: Raw, SQL: text}
		b.spec.Members = append(b.spec.Members, member)
		for name, state := range b.spec.States {
			if name != Ready {
				state.Tests = append(slices.Clip(state.Tests), member)
			}
		}
		for _, name := range []TransitionName{Recover, GiveUp} {
			if t := b.spec.Transitions[name]; t != nil {
				t.Tests = append(slices.Clip(t.Tests), member)
			}
		}
	}
}

// pairKey finds the columns that repeat the key of the queue.
func (b *binding) pairKey() {
	a, queue := b.away, b.ready.table.QualifiedName()
	if len(b.ready.spec.Key) == 0 {
		b.errorf(a.Pos, "rows of %q have no key by which they could be found in table %q", queue, b.table.QualifiedName()).
			WithHint("%s.", b.ready.spec.AddKey())
		return
	}
	for _, c := range b.ready.spec.Key {
		there := a.to[c]
		switch {
		case there == nil:
			b.errorf(a.Table.Pos, "no column of %q has the value of %q, a part of the key", b.table.QualifiedName(), c.Name).
				WithHint("Add one, and pair the two: columns: same where they are called alike, else columns: {COLUMN: %s}.", c.Name)
			return
		case there.Always || there.Generated:
			b.errorf(there.Pos, "column %q of %q is filled by the database, but a row keeps its key when it moves there", there.Name, b.table.QualifiedName()).
				WithHint("Let it be an ordinary column, without identity: the number is that of the row in %q.", queue)
			return
		case c.Always || c.Generated:
			b.errorf(c.Pos, "column %q of %q is filled by the database alone, but a row that is given back keeps its key", c.Name, queue).
				WithHint("Let the number come from a default that an INSERT may override: GENERATED BY DEFAULT AS IDENTITY, or DEFAULT with a sequence.")
			return
		case c.Reused:
			b.errorf(c.Pos, "column %q of %q gets numbers of deleted rows again, while their jobs run in table %q", c.Name, queue, b.table.QualifiedName()).
				WithHint("Write INTEGER PRIMARY KEY AUTOINCREMENT, so that no number comes twice.")
			return
		}
		b.spec.Key = append(b.spec.Key, there)
	}
	if !keyed(b.table, b.spec.Key) {
		b.errorf(a.Table.Pos, "two rows of %q can have the same %s, so that two workers could hold one job", b.table.QualifiedName(), names(b.spec.Key)).
			WithHint("Add a primary key or a unique key over just these columns.")
	}
}

// refers reports whether a value is made of the row.
func (v Value) refers() bool {
	return slices.Contains([]ValueKind{Old, Add, ColumnOf, SQLExpr}, v.Kind) || v.Shift != nil && (v.Shift.Column != nil || v.Shift.Wait != nil)
}

// moved returns a value over columns of one table as it is over those of the other, and
// whether that has them.
func moved(v Value, other map[*schema.Column]*schema.Column) (Value, bool) {
	if v.Other != nil {
		if v.Other = other[v.Other]; v.Other == nil {
			return v, false
		}
	}
	if v.Shift != nil && v.Shift.Column != nil {
		shift := *v.Shift
		if shift.Column = other[shift.Column]; shift.Column == nil {
			return v, false
		}
		v.Shift = &shift
	}
	return v, true
}

// goes adds to a companion what a column of the other table gets when a row moves
// there: what the step writes to it, or else what its counterpart of holds. With neither
// it gets its default. What is written is made of the columns of the table from which
// the row comes, as other has them.
func (b *binding) goes(c *Companion, column *Column, of *schema.Column, written *Value, other map[*schema.Column]*schema.Column) {
	if column.Generated || column.Always {
		return
	}
	v := CompanionValue{Column: column, Value: Value{Kind: ColumnOf, Other: of}, Of: of}
	switch {
	case written != nil && len(b.spec.Asks(*written)) > 0:
		b.errorf(written.Pos, "column %q of %q gets a value that is made of argument %q when the row moves there", column.Name, c.QualifiedName(), b.spec.Asks(*written)[0].Name).
			WithHint("A row that moves takes an argument as it is: set arg:name. Or write what the row holds.")
		return
	case written != nil && written.Kind != Old:
		var ok bool
		if v.Value, ok = moved(*written, other); !ok || v.Value.Kind == Add && of == nil {
			b.errorf(column.Pos, "column %q of %q gets a value that is made of the row, and the table from which the row comes does not have the column for that", column.Name, c.QualifiedName()).
				WithHint("Have that table keep the column as well, and pair the two: columns: same where they are called alike, else columns: {COLUMN: column}.")
			return
		}
		if !v.Value.refers() && v.Value.Kind != Arg {
			v.Of = nil
		}
		if v.Value.Shift != nil && v.Value.Shift.Arg == ArgDelay {
			v.Value.Other = of // where the time stays that the row had without a delay
		}
		if v.Value.IsArg(ArgError) && of == nil && (column.Type.Array || column.Type.Class != schema.Text && column.Type.Class != schema.Unknown) {
			b.errorf(column.Pos, "the error goes to column %q of %q, which is %s, when the row moves there", column.Name, c.QualifiedName(), column.Type.Raw).
				WithHint("Have the other table keep that column as well, and pair the two under columns; or let it be a text.")
			return
		}
	case of == nil:
		return
	}
	c.Set = append(c.Set, v)
}

// bears complains where a row of the queue may not fit into the table in which jobs run:
// each claim would fail at it again, and none would get past it.
func (b *binding) bears(there, of *schema.Column) {
	queue := b.ready.table.QualifiedName()
	switch {
	case !holdsAll(of, there):
		b.errorf(there.Pos, "column %q is %s in %q and %s in %q, and a claim of a row that does not fit fails each time, so that no other is claimed either",
			there.Name, of.Type.Raw, queue, there.Type.Raw, b.table.QualifiedName()).WithHint("Give both columns one type.")
	case there.NotNull && !of.NotNull && !slices.Contains(b.ready.spec.Key, of):
		b.errorf(there.Pos, "column %q may be null in %q and is NOT NULL in %q, and a claim of such a row fails each time, so that no other is claimed either",
			there.Name, queue, b.table.QualifiedName()).WithHint("Let both be NOT NULL, or neither.")
	}
}

// arrival is the companion of a claim that adds the row.
func (b *binding) arrival() *Companion {
	a, before := b.away, b.errs.Len()
	c := &Companion{Pos: a.Pos, Verb: "insert", Schema: b.table.Schema, Table: b.table.Name, Known: b.table, Move: true}
	writes := map[*schema.Column]Value{}
	for _, w := range b.spec.Transitions[Claim].Writes {
		writes[w.Column] = w.Value
	}
	for _, column := range b.table.Columns {
		var written *Value
		if v, ok := writes[column]; ok {
			written = &v
		}
		b.goes(c, b.columns[column], a.from[column], written, a.from)
		if of := a.from[column]; of != nil && written == nil {
			b.bears(column, of)
		}
	}
	if b.errs.Len() == before {
		b.complete(c, a.Table)
	}
	return c
}

// moveBack has what makes a job ready again move its row to the table of the queue.
func (b *binding) moveBack() {
	a, ready, before := b.away, b.ready, b.errs.Len()
	left := map[*schema.Column][]comeback{}
	for _, name := range []TransitionName{Retry, Release, Recover} {
		t := b.spec.Transitions[name]
		if t == nil {
			b.lacksBack(name)
			continue
		}
		if name == Retry && b.spec.Attempts == nil && b.spec.Transitions[Fail] != nil && len(t.With) == 0 {
			delete(b.spec.Transitions, name) // who fails is gone at once
			continue
		}
		writes := map[*schema.Column]Value{}
		for _, w := range ready.resolve(name) {
			writes[w.Column] = w.Value
		}
		c := &Companion{Pos: a.Pos, Verb: "insert", Schema: ready.table.Schema, Table: ready.table.Name, Known: ready.table, Move: true}
		for _, column := range ready.table.Columns {
			of := a.to[column]
			v, ok := writes[column]
			said := slices.ContainsFunc(ready.drafts[name], func(d *draft) bool { return d.column == column && d.by.verb == "on" })
			if !ok {
				v, ok = b.comes(column, of, said)
			}
			if by, surely := ready.unready(column, v); by != nil && !column.Generated && (surely || !said) {
				left[column] = append(left[column], comeback{step: name, value: v, by: by, surely: surely, said: said, writes: ok})
			}
			if !ok && of != nil && b.holds(of) && column.NotNull && column.HasDefault {
				continue
			}
			written := &v
			if !ok {
				written = nil
			}
			b.goes(c, ready.columns[column], of, written, a.to)
		}
		t.Delete, t.Writes = true, nil
		t.With = append([]*Companion{c}, t.With...)
		if b.errs.Len() > before {
			return
		}
		b.keepsAll(c)
	}
	b.strayed(left)
}

// lacksBack complains where qgen:on says at the table of the queue what a step writes that does not happen.
func (b *binding) lacksBack(name TransitionName) {
	for _, d := range b.ready.drafts[name] {
		for _, w := range d.by.words {
			if d.by.verb == "on" && w.name == string(name) {
				b.lacks(name, w.pos)
			}
		}
	}
}

// keepsAll complains about columns of the queue whose values would be lost while a job
// runs, and without which its row cannot come back.
func (b *binding) keepsAll(c *Companion) {
	for _, column := range b.ready.table.Columns {
		kept := slices.ContainsFunc(c.Set, func(v CompanionValue) bool { return v.Column.Column == column })
		if column.NotNull && !kept && !column.HasDefault && !column.Generated {
			b.errorf(column.Pos, "column %q of %q is NOT NULL without a default, and no column of %q keeps its value while a job runs", column.Name, c.QualifiedName(), b.table.QualifiedName()).
				WithHint("Add a column there, and pair the two: columns: same where they are called alike, else columns: {COLUMN: %s}.", column.Name)
		}
	}
}

// servesReady reports whether a column keeps, while a job runs, what tells when its row
// is ready.
func (b *binding) servesReady(c *schema.Column) bool {
	if !b.isAway() {
		return false
	}
	here := b.away.from[c]
	return here != nil && !b.ready.columns[here].Payload
}

// holds reports whether a column tells something of a claim, which ends when the row
// moves back.
func (b *binding) holds(c *schema.Column) bool {
	return slices.ContainsFunc(b.columns[c].Roles, func(r Role) bool { return slices.Contains(ofClaims, r.Verb) && r.Verb != "version" })
}
