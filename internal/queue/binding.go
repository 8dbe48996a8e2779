package queue

// This file turns one queue of a table into its Spec. It calls the readers of
// the roles in the order in which they need each other; what is about the
// whole queue is judged at the end, and only if every part is sound.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// binding is a queue while its Spec is made.
type binding struct {
	spec    *Spec
	catalog *schema.Catalog
	table   *schema.Table
	named   *schema.Table // the same as statements name it, where that is made at run time
	config  *config.Queue
	fold    func(string) string
	errs    *source.ErrorList

	queue   *annotation        // the words of the queue
	roles   map[string][]*role // by verb, in table order
	columns map[*schema.Column]*Column
	timed   map[*schema.Column]bool
	kept    map[*schema.Column]*keeping // times in qgen.yaml

	status   []*statusColumn
	twoSteps bool          // a job that is claimed is begun by a step of its own
	parts    *statusColumn // which tells claimed rows from running ones
	claims   claims
	finished *role
	// keepsDone and keepsFailed: such rows stay in the table.
	keepsDone, keepsFailed bool
	// keepsReady: a claim of strategy pop leaves rows as ready as they are (done=keep).
	keepsReady bool
	// failedByLimit: a failed row is a waiting one that has no attempts left.
	failedByLimit bool

	core    map[StateName][]condition
	narrow  []Test // what a ready row must satisfy besides
	dueAt   int    // which of narrow tells that the time of a row has come, -1 for none
	drafts  map[TransitionName][]*draft
	clashes []*clash
	// misplaced is a role at a column that holds already what it is for.
	misplaced *role
	givens    map[string]receiver // what arguments are for, by their names

	// sound: nothing was wrong with the words by which states and transitions are built.
	sound   bool
	waiting bool // the expression that is read tells a wait after a failure
	// updating: the expression that is read is what Enqueue writes to a row that is there.
	updating bool

	// ready reads the table of the queue where this reads that in which jobs run, which
	// away describes.
	ready *binding
	away  *pairing
}

// condition is a test that belongs to a state. A fleeting one may cease to
// hold while somebody has the row: time passes, the claim itself is counted.
type condition struct {
	Test
	fleeting bool
}

// newBinding begins to read one queue of a table.
func newBinding(cat *schema.Catalog, t *schema.Table, q *config.Queue, fold func(string) string, one *oneQueue, errs *source.ErrorList) *binding {
	return &binding{
		spec: &Spec{
			Name: one.name, Pos: one.pos, Table: t,
			States: map[StateName]*State{}, Transitions: map[TransitionName]*Transition{},
			Notes: one.notes, Stage: q.Further,
		},
		catalog: cat, table: t, config: q, fold: fold, errs: errs,
		queue:   &annotation{verb: "queue", pos: one.pos, words: one.words},
		roles:   map[string][]*role{},
		columns: map[*schema.Column]*Column{},
		timed:   map[*schema.Column]bool{},
		kept:    map[*schema.Column]*keeping{},
		core:    map[StateName][]condition{},
		drafts:  map[TransitionName][]*draft{},
		dueAt:   -1,
		givens:  map[string]receiver{},
	}
}

// bindOne returns the Spec of one queue, nil after a complaint.
func bindOne(cat *schema.Catalog, t *schema.Table, q *config.Queue, fold func(string) string, one *oneQueue, damaged bool, errs *source.ErrorList) *Spec {
	var there *pairing
	if q.Running != nil {
		moved := *one
		if there, moved.roles = readAway(cat, t, q, fold, one, errs); there == nil {
			return nil
		}
		one = &moved
	}
	b := newBinding(cat, t, q, fold, one, errs)
	before := errs.Len()
	b.readRoles(one.roles)
	if there != nil {
		there.mark(b)
	}
	b.readQueue()
	b.readNames()
	b.readKey()
	b.readSide()
	b.readTimes()
	b.readLog()
	b.readStatus()
	b.readAttempts()
	b.checkCounters()
	b.readClaims()
	b.countFailures()
	b.readCycle()
	b.readOutcomes()
	b.readNarrow()
	b.noteLengths()
	b.readParams()
	b.readUpdateIf()
	b.readEnqueueIf()
	b.readShard()
	b.readPayload()
	b.readPayloadFrom()
	b.readBackoff()
	b.readOtherTimes()
	b.sound = !damaged && errs.Len() == before
	b.buildStates()
	b.buildTransitions()
	b.readLike()
	if there == nil {
		b.readCompanions()
		b.askMembers()
	}
	b.settleAsked()
	if b.sound && errs.Len() == before {
		b.judgeWrites()
		if errs.Len() == before { // else the same would be said twice
			b.judgeLeft()
			b.judgeHeld()
		}
		b.judgeKept()
		b.judgeChecks()
		b.judgePopped()
		b.keepsKey()
	}
	b.readOrder()
	b.readGroup()
	b.readFence()
	b.passFree()
	b.noteNoBeat()
	b.noteUnbegun()
	b.noteShorter()
	if b.sound && errs.Len() == before {
		b.judge()
	}
	if there != nil && errs.Len() == before {
		b.readRunning(there)
	}
	b.lookIf()
	if errs.Len() > before {
		return nil
	}
	if b.named != nil {
		b.spec.Table = b.named
	}
	return b.spec
}

// errorf adds a complaint.
func (b *binding) errorf(pos source.Pos, format string, args ...any) *source.Error {
	return b.errs.Errorf(pos, format, args...)
}

// note adds a sentence for explain.
func (b *binding) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(b.spec.Notes, text) {
		b.spec.Notes = append(b.spec.Notes, text)
	}
}

// single are the verbs that one column of a table can have.
var single = []string{"seq", "due", "lease", "claimed", "visible", "heartbeat", "enqueued", "finished", "expires",
	"attempts", "version", "worker", "token", "shard", "result", "error"}

// readRoles sorts the annotations by verb and lists the columns.
func (b *binding) readRoles(roles []*role) {
	for _, c := range b.table.Columns {
		column := &Column{Column: c}
		b.columns[c] = column
		b.spec.Columns = append(b.spec.Columns, column)
	}
	for _, r := range roles {
		if first := b.clash(r); first != nil {
			e := b.errorf(r.pos, "%s is said twice, here and at %s", r, first.pos)
			if first.column != r.column {
				e.Msg = fmt.Sprintf("column %q is qgen:%s, but column %q at %s already is", r.column.Name, r.verb, first.column.Name, first.pos)
			}
			e.WithHint("Keep one of them.")
			continue
		}
		b.roles[r.verb] = append(b.roles[r.verb], r)
		if r.column != nil {
			column := b.columns[r.column]
			column.Roles = append(column.Roles, Role{Verb: r.verb, Words: r.text, Pos: r.pos})
		}
	}
	for _, r := range b.roles["ignore"] {
		column := b.columns[r.column]
		column.Ignored = true
		for _, other := range column.Roles {
			if other.Verb != "ignore" {
				b.errorf(other.Pos, "column %q is ignored, but is qgen:%s as well", r.column.Name, other.Verb).
					WithHint("An ignored column is neither read nor written. Leave one of the two out.")
			}
		}
	}
}

// clash returns the role that r repeats, nil when it repeats none.
func (b *binding) clash(r *role) *role {
	for _, other := range b.roles[r.verb] {
		both := r.column == other.column && r.verb != "on" && r.verb != "where"
		if !both && r.countsRecoveries() != other.countsRecoveries() {
			continue // tries and recoveries are counted apart
		}
		if both || slices.Contains(single, r.verb) && r.column != nil && other.column != nil {
			return other
		}
	}
	return nil
}

// one returns the role of a verb that one column has, nil when none has it.
func (b *binding) one(verb string) *role {
	if list := b.roles[verb]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// columnOf returns the column of a verb that one column has, nil when none.
func (b *binding) columnOf(verb string) *schema.Column {
	if r := b.one(verb); r != nil {
		return r.column
	}
	return nil
}

// fenceLevels are the levels by their words.
var fenceLevels = map[string]FenceLevel{
	"none": FenceNone, "status": FenceStatus, "claimed": FenceClaimed, "attempt": FenceAttempt, "token": FenceToken,
}

// readQueue reads the words of the queue.
func (b *binding) readQueue() {
	if w := b.queue.word("strategy"); w != nil {
		b.spec.Strategy, b.spec.ForcedPos = w.values[0].text, w.pos
	}
	if w := b.queue.word("locked"); w != nil {
		b.spec.Waits, b.spec.WaitsPos = true, w.pos
	}
	if w := b.queue.word("emit"); w != nil {
		b.spec.Procedures, b.spec.StoredPos = true, w.pos
	}
	if b.config.Emit.IsSet() { // qgen.yaml wins
		b.spec.Procedures, b.spec.StoredPos = b.config.Emit.Value == "procedure", b.config.Emit.Pos
	}
	b.readEnqueue()
	b.spec.Accept, b.spec.AcceptPos = b.config.Accept.Value, b.config.Accept.Pos
	if w := b.queue.word("fence"); w != nil {
		b.spec.MinFence, b.spec.MinPos = fenceLevels[w.values[0].text], w.pos
	}
	if b.config.MinFence.IsSet() {
		b.spec.MinFence, b.spec.MinPos = fenceLevels[b.config.MinFence.Value], b.config.MinFence.Pos
	}
	b.spec.Clock = b.queue.value("clock")
	if b.config.Clock.IsSet() {
		b.spec.Clock = b.config.Clock.Value
	}
}

// noteWait tells where a wait is shorter than the column of the due time can tell.
func (b *binding) noteWait() {
	c, wait := b.spec.Due, b.spec.Backoff
	if c == nil || wait.Expr != nil {
		return
	}
	if step := b.step(c); wait.Base < 2*step {
		b.note("column %q counts whole %ss: a job that failed is due up to one %s before or after its first wait of %s ends", c.Name, stepName(step), stepName(step), duration(wait.Base))
	}
}

// readBackoff sets the wait between tries.
func (b *binding) readBackoff() {
	b.spec.Backoff = Backoff{Base: 5 * time.Second, Max: time.Hour, Factor: 2, Jitter: 0.1}
	defer b.noteWait()
	from := b.config.Backoff
	if from == nil {
		return
	}
	b.spec.Backoff.Pos = from.Pos
	b.spec.Backoff.Expr = b.readWait(from)
	to := &b.spec.Backoff
	if from.Base.IsSet() {
		to.Base = from.Base.Value
	}
	if from.Max.IsSet() {
		to.Max = from.Max.Value
	}
	if from.Factor.IsSet() {
		to.Factor = from.Factor.Value
	}
	if from.Jitter.IsSet() {
		to.Jitter = from.Jitter.Value
	}
	to.Max = max(to.Max, to.Base)
}

// readKey finds the columns that name a row.
func (b *binding) readKey() {
	ids := b.roles["id"]
	asked := b.queue.has("id")
	switch {
	case asked && len(ids) > 0:
		b.errorf(ids[0].pos, "column %q is the id, but the queue says id=row", ids[0].column.Name).
			WithHint("Leave one of the two out: id=row is for tables without a key.")
		return
	case asked:
		if b.table.NoRowIdentity {
			b.errorf(b.queue.word("id").pos, "rows of %q have no identity of their own", b.table.QualifiedName()).
				WithHint("Mark the columns that name a row with qgen:id.")
			return
		}
		b.spec.RowIdentity = true
	case len(ids) > 0:
		b.spec.Key = b.keyOf(ids)
	default:
		b.findKey()
	}
	b.readSeq()
}

// keyOf returns the columns that are marked as the key, in their order.
func (b *binding) keyOf(ids []*role) []*schema.Column {
	places := map[*role]int{}
	numbered := 0
	for _, r := range ids {
		places[r] = len(b.table.Columns) + position(b.table, r.column)
		if pk := b.table.PrimaryKey; pk != nil {
			if i := slices.Index(pk.Columns, r.column); i >= 0 {
				places[r] = i
			}
		}
		if r.unnamed() != nil {
			numbered++
		}
	}
	if numbered > 0 {
		byPlace := map[string]*role{}
		for _, r := range ids {
			w := r.unnamed()
			if w == nil {
				b.errorf(r.pos, "part %q of the key has no place", r.column.Name).
					WithHint("Number all parts of the key or none: qgen:id 2.")
				continue
			}
			n := strings.TrimLeft(w.name, "0")
			if n == "" {
				b.errorf(w.pos, "places are counted from 1").WithHint("Write id 1 for the first part of the key.")
				continue
			}
			if first := byPlace[n]; first != nil {
				b.errorf(w.pos, "columns %q and %q have the same place in the key", first.column.Name, r.column.Name).
					WithHint("Number the parts of the key 1, 2, and so on.")
			}
			byPlace[n] = r
			places[r] = 0
			for _, digit := range n[:min(len(n), 6)] {
				places[r] = places[r]*10 + int(digit-'0')
			}
		}
	}
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b *role) int { return places[a] - places[b] })
	var key []*schema.Column
	for _, r := range ids {
		key = append(key, r.column)
		if !b.holdsValue(r.column) && !b.primary(r.column) {
			b.errorf(r.pos, "id column %q may be null", r.column.Name).
				WithHint("A null names no row. Make the column NOT NULL; or say qgen:where \"%s is not null\", if no row without it is a job. Else mark another with qgen:id, or say id=row on qgen:queue.", r.column.Name)
		}
	}
	if !b.unique(key) {
		b.note("warning: nothing in the schema makes %s unique, only the annotation says so: of two rows that are alike in it, whoever settles one can settle the other with it; a unique key rules that out", names(key))
	}
	b.nullableKey(key)
	return key
}

// primary reports whether a column is part of the primary key.
func (b *binding) primary(c *schema.Column) bool {
	return b.table.PrimaryKey != nil && slices.Contains(b.table.PrimaryKey.Columns, c)
}

// holdsValue reports whether no row of the queue has a null in a column: the database lets none be,
// or qgen:where leaves such rows out.
func (b *binding) holdsValue(c *schema.Column) bool {
	return c.NotNull || slices.ContainsFunc(b.roles["where"], func(r *role) bool {
		return slices.ContainsFunc(b.spec.Comparisons(r.words[0].values[0].text), func(t Test) bool {
			return t.Column == c && t.Op != IsNull && !slices.ContainsFunc(t.Values, func(v Value) bool { return v.Kind == Null })
		})
	})
}

// unique reports whether no two rows of the queue can be alike in these columns.
func (b *binding) unique(columns []*schema.Column) bool {
	covered := func(k *schema.Key) bool {
		return !slices.ContainsFunc(k.Columns, func(c *schema.Column) bool {
			return !slices.Contains(columns, c) || !b.holdsValue(c) && k != b.table.PrimaryKey
		})
	}
	return b.table.PrimaryKey != nil && covered(b.table.PrimaryKey) || slices.ContainsFunc(b.table.Uniques, covered)
}

// nullableKey notes parts of a primary key that the database lets be null.
func (b *binding) nullableKey(key []*schema.Column) {
	for _, c := range key {
		if !c.NotNull && b.primary(c) {
			b.note("%q is the primary key, but the database lets it be null; such rows are never claimed", c.Name)
		}
	}
}

// findKey finds the key by itself.
func (b *binding) findKey() {
	if pk := b.table.PrimaryKey; pk != nil && len(pk.Columns) > 0 {
		b.spec.Key = slices.Clone(pk.Columns)
		b.nullableKey(b.spec.Key)
		return
	}
	for _, k := range b.table.Uniques {
		if len(k.Columns) > 0 && !slices.ContainsFunc(k.Columns, func(c *schema.Column) bool { return !c.NotNull }) {
			b.spec.Key = slices.Clone(k.Columns)
			b.note("the key is %s: unique, not null, and there is no primary key", names(k.Columns))
			return
		}
	}
	for _, k := range b.table.Uniques {
		if len(k.Columns) > 0 && !slices.ContainsFunc(k.Columns, func(c *schema.Column) bool { return !b.holdsValue(c) }) {
			b.spec.Key = slices.Clone(k.Columns)
			b.note("the key is %s: unique, and no row with a null there is a job, as qgen:where says; there is no primary key", names(k.Columns))
			return
		}
	}
	if b.table.KeyInText.IsValid() {
		b.errorf(b.table.KeyInText, "the script makes a statement of this text that may give %q its key, and what it becomes cannot be read", b.table.QualifiedName()).
			WithHint("Give a dump of the database as schema. Or mark the columns that name a row with qgen:id.")
		return
	}
	if b.table.NoRowIdentity {
		mend := "Mark the columns that name a row with qgen:id"
		if b.spec.nullable() != nil {
			mend = b.spec.AddKey()
		}
		b.errorf(b.table.Pos, "nothing names a row of %q", b.table.QualifiedName()).
			WithHint("It has no primary key and no unique key without nulls. %s.", mend)
		return
	}
	b.spec.RowIdentity = true
	without := ""
	if k := b.spec.nullable(); k != nil {
		without = " (" + names(k.Columns) + " may be null: see qgen:where)"
	}
	b.note("there is no primary key and no unique key without nulls%s, so a row is named by its physical place, which is good inside one transaction only", without)
}

// nullable returns the first unique key of the table that would name its rows if none were null there,
// nil where there is none.
func (s *Spec) nullable() *schema.Key {
	i := slices.IndexFunc(s.Table.Uniques, func(k *schema.Key) bool {
		return slices.ContainsFunc(k.Columns, func(c *schema.Column) bool { return !c.NotNull })
	})
	if i < 0 {
		return nil
	}
	return s.Table.Uniques[i]
}

// AddKey says, without a period, what would name the rows of a table that has no key.
func (s *Spec) AddKey() string {
	if pk := s.Table.PrimaryKey; pk != nil && len(pk.Columns) > 0 && s.RowIdentity {
		return "Leave id=row out: the primary key " + names(pk.Columns) + " names a row"
	}
	add := "add a primary key, or mark unique columns with qgen:id"
	k := s.nullable()
	if k == nil {
		return strings.ToUpper(add[:1]) + add[1:]
	}
	var told, lack []string
	for _, c := range k.Columns {
		if !c.NotNull {
			told, lack = append(told, c.Name+" is not null"), append(lack, c.Name)
		}
	}
	return fmt.Sprintf("UNIQUE (%s) would be the key if %s were never null: where no such row is a job, say qgen:where %q. Else %s",
		names(k.Columns), strings.Join(lack, " and "), strings.Join(told, " and "), add)
}

// readSeq finds the column that grows with insertion.
func (b *binding) readSeq() {
	if r := b.one("seq"); r != nil {
		b.spec.Seq = r.column
		t := r.column.Type
		grows := t.Versioned || slices.Contains([]schema.Class{schema.Int, schema.Decimal, schema.Timestamp, schema.Unknown}, t.Class)
		if t.Array || !grows {
			b.errorf(r.pos, "column %q is %s, and qgen:seq takes a number or a time only", r.column.Name, t.Raw).
				WithHint("Mark a number that the database counts up, or the time of insertion: qgen:seq notunique settle=60s.")
			b.spec.Seq = nil // nothing more is to be said of it
		}
		return
	}
	for _, c := range b.table.Columns {
		if c.Identity && c.Type.Class == schema.Int {
			b.spec.Seq = c
			return
		}
	}
}

// names lists columns as messages do.
func names(columns []*schema.Column) string {
	var texts []string
	for _, c := range columns {
		texts = append(texts, c.Name)
	}
	return strings.Join(texts, ", ")
}
