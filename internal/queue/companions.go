package queue

// This file reads what is written to other tables in the transaction of a
// transition: also, done.move and failed.move of qgen.yaml.

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Companion is a change of another table in the transaction of a transition, for
// each of its rows. It sees a row as the transition finds it; that of a claim and a
// new one, as they are left.
type Companion struct {
	Pos    source.Pos
	Verb   string // insert, update or delete
	Schema string // "" when nobody names one
	Table  string
	// Known is the table in the DDL, nil when it is not there.
	Known *schema.Table
	Move  bool // the row itself goes there
	// Others: the table is that of the queue, and what is changed or deleted are rows of other
	// jobs: none that the step itself is taken for.
	Others bool
	// Reads: its SQL reads the table of the queue, in a sub-query.
	Reads bool
	Set   []CompanionValue
	Where []CompanionValue // of update and delete: which rows
	When  string           // an expression: of which rows of the queue, and of update and delete which of the others; "" for all
	// Key, of a row that is added once for all jobs of a claim, is what the database names it
	// by; nil of what is done for each job.
	Key *schema.Column
}

// QualifiedName returns schema.name, or name alone.
func (c *Companion) QualifiedName() string {
	if c.Schema == "" {
		return c.Table
	}
	return c.Schema + "." + c.Table
}

// Takes reports whether the argument of a transition is among what is written.
func (c *Companion) Takes(arg string) bool {
	return slices.ContainsFunc(slices.Concat(c.Set, c.Where), func(v CompanionValue) bool { return v.Value.IsArg(arg) })
}

// Givens are the values that the caller of the step says.
func (c *Companion) Givens() []CompanionValue {
	return slices.DeleteFunc(slices.Concat(c.Set, c.Where), func(v CompanionValue) bool { return v.Value.Kind != Given })
}

// values are those that it writes, and those with which it compares.
func (c *Companion) values() (list []Value) {
	for _, v := range slices.Concat(c.Set, c.Where) {
		list = append(list, v.Value)
	}
	return list
}

// FindsBy reports whether the rows of the other table are found by the column of a value.
func (c *Companion) FindsBy(v CompanionValue) bool {
	return slices.ContainsFunc(c.Where, func(w CompanionValue) bool { return w.Column.Name == v.Column.Name })
}

// texts are the expressions of SQL in it.
func (c *Companion) texts() []string {
	list := []string{c.When}
	for _, v := range slices.Concat(c.Set, c.Where) {
		if v.Value.Kind == SQLExpr {
			list = append(list, v.Value.Text)
		}
	}
	return list
}

// Mentions reports whether its SQL names a table.
func (c *Companion) Mentions(table string) bool {
	return slices.ContainsFunc(c.texts(), func(text string) bool { return source.Mentions(text, table) })
}

// CompanionValue is a column of another table and what it gets or must have.
type CompanionValue struct {
	Column *Column
	Value  Value
	Or     []Value // further constants, of which the column must have one
	// Of is the column of the queue that would get the value if the row stayed, nil
	// when the value is for Column itself.
	Of *schema.Column
	// Adds is set where the value is what the column holds and something for each job, and jobs of
	// one call may share the row.
	Adds *Adds
	// OfJob: the value is one of the job's row, or of what the job is given.
	OfJob bool
}

// Adds is what each job adds to a column of a row that it may share with others.
type Adds struct {
	To    string // the column, or what stands for its null, as the user writes it
	Minus bool   // Each is taken from it
	Each  string // a number, or an expression over the job's row
}

// IsNumber reports whether each job adds the same.
func (a *Adds) IsNumber() bool { return numberForm.MatchString(a.Each) }

// Counts reports whether the companion adds something for each job to rows that jobs of one call
// may share.
func (c *Companion) Counts() bool {
	return slices.ContainsFunc(c.Set, func(v CompanionValue) bool { return v.Adds != nil })
}

// GaveUp is the text of the error of a job that fails because its claim ran out.
const GaveUp = "the claim ran out"

// noLimit says what lets jobs fail for good that have any number of tries.
const noLimit = "Their tries have no limit, so that Fail always puts a job back: say max=… or a column of limits at qgen:attempts, or name an outcome to failed."

// gaveUpText is that text in a column that holds so many characters; 0 is no limit.
func gaveUpText(most int) string {
	if most > 0 && most < len(GaveUp) {
		return GaveUp[:most]
	}
	return GaveUp
}

// moves reports whether rows that enter a state go to another table, and how.
func (b *binding) moves(name TransitionName) *config.Move {
	switch name {
	case Finish:
		return b.config.DoneMove
	case Fail, GiveUp:
		return b.config.FailedMove
	}
	return nil
}

// keepsResult reports whether another table gets the result of a finished job.
func (b *binding) keepsResult() bool {
	is := func(v config.Value) bool { return v.Value.Value == ArgResult }
	if m := b.config.DoneMove; m != nil && (m.Same || slices.ContainsFunc(m.Columns, is)) {
		return true
	}
	for _, a := range b.config.Also {
		for _, c := range a.Companions {
			if a.Transition.Value == string(Finish) && (slices.ContainsFunc(c.Values, is) || slices.ContainsFunc(c.Set, is)) {
				return true
			}
		}
	}
	return false
}

// readCompanions adds to the transitions what else they write.
func (b *binding) readCompanions() {
	for _, name := range []TransitionName{Finish, Fail, GiveUp} {
		if t, m := b.spec.Transitions[name], b.moves(name); t != nil && m != nil {
			b.move(t, m)
		}
	}
	if m := b.config.FailedMove; m != nil && b.endless() && !b.outcomeTo(Failed) {
		b.errorf(m.Pos, "failed rows are moved, but no job of this queue fails for good").WithHint(noLimit)
	}
	b.wantsBatch()
	var known []string
	for _, name := range TransitionNames {
		if name != Update {
			known = append(known, string(name))
		}
	}
	outcomes, apart := map[string]*Outcome{}, map[*Outcome]bool{}
	for _, o := range b.spec.Outcomes {
		if !slices.Contains(known, o.Name) {
			known, outcomes[o.Name] = append(known, o.Name), o
		}
	}
	apartly := slices.ContainsFunc(b.config.Also, func(a config.Also) bool { return a.Transition.Value == string(GiveUp) })
	for _, a := range b.config.Also {
		name := TransitionName(a.Transition.Value)
		of := b
		if b.isAway() && name == Enqueue {
			of = b.ready // to whose table new rows are added
		}
		t := of.spec.Transitions[name]
		if o := outcomes[a.Transition.Value]; o != nil {
			t, apart[o] = o.Transition, true
		}
		if i := slices.IndexFunc(b.spec.Outcomes, func(o *Outcome) bool { return o.Name == string(name) && outcomes[o.Name] == nil }); i >= 0 {
			b.errorf(a.Transition.Pos, "%q is a step of every job, and the outcome at %s has its name", name, b.spec.Outcomes[i].Pos).
				WithHint("Call the outcome otherwise, at both places.")
			continue
		}
		switch log := b.spec.Log != nil; {
		case !slices.Contains(known, string(name)):
			b.errorf(a.Transition.Pos, "%q is no step of a job that could write other tables", name).
				WithHint("%s", suggest(string(name), known, "The steps are"))
			continue
		case log && name == Purge:
			b.errorf(a.Transition.Pos, "rows of this queue are only added, and Purge, which deletes what every group has passed, writes nothing else").
				WithHint("Delete the rows of the other table by yourself, or with a foreign key: ON DELETE CASCADE.")
			continue
		case log && name != Enqueue:
			b.errorf(a.Transition.Pos, "rows of this queue are only added, so %s writes nothing", name).
				WithHint("Write other tables in the transaction of the handler, with WithTx.")
			continue
		case t == nil:
			b.lacks(name, a.Transition.Pos)
			continue
		case a.Nothing && outcomes[a.Transition.Value] == nil && name != GiveUp:
			b.errorf(a.Transition.Pos, "nothing says what %s writes to other tables", name).
				WithHint("Write one change at least, or leave %s out. An empty list is for giveup, and for an outcome: it then writes nothing of what fail, or the step to its state, writes.", name)
			continue
		case of.spec.Upsert != nil && name == Enqueue:
			b.errorf(a.Transition.Pos, "Enqueue may change a row that is there (enqueue=update), for which other tables have been written before").
				WithHint("Leave it out, and write the other rows in the transaction that enqueues, with WithTx; or say enqueue=absent.")
			continue
		}
		if name == Fail && b.endless() && !b.outcomeTo(Failed) {
			b.errorf(a.Transition.Pos, "no job of this queue fails for good").WithHint(noLimit)
			continue
		}
		batch, key := -1, (*schema.Column)(nil)
		if name == Claim {
			batch, key = b.batchOf(a.Companions)
		}
		for i, c := range a.Companions {
			if i == batch {
				of.companion(t, c, key)
			} else {
				of.companion(t, c, nil)
			}
		}
		// A job fails for good by Fail and by Recover alike, unless something is said of the latter.
		if g := b.spec.Transitions[GiveUp]; name == Fail && g != nil && !apartly {
			for _, c := range a.Companions {
				b.companion(g, c, nil)
			}
		}
	}
	for _, o := range b.spec.Outcomes {
		b.accompany(o, apart[o])
	}
	b.noteEngines()
	if b.isAway() {
		b.ready.noteEngines()
	}
	b.oneWorker()
	b.noteDrift()
}

// raised is a value that counts up.
var raised = regexp.MustCompile(`\+\s*\d+\s*$`)

// noteDrift warns where a claim counts up in another table and only some of the ways out of
// running take that back. Where none does, the number is of all claims.
func (b *binding) noteDrift() {
	claim := b.spec.Transitions[Claim]
	if claim == nil {
		return
	}
	for _, c := range claim.With {
		for _, v := range c.Set {
			if c.Verb != "update" || v.Value.Kind != SQLExpr || !raised.MatchString(v.Value.Text) {
				continue
			}
			back, missing := false, []string{}
			for _, name := range b.leavesRunning() {
				if b.spec.Transitions[name].sets(c, v.Column.Name) {
					back = true
				} else {
					missing = append(missing, string(name))
				}
			}
			for _, o := range b.spec.Outcomes {
				if !o.Transition.sets(c, v.Column.Name) {
					missing = append(missing, o.Name)
				}
			}
			if back && len(missing) > 0 {
				b.note("warning: also: claim counts up column %q of %s, and what takes that back is not said for %s", v.Column.Name, c.QualifiedName(), strings.Join(missing, ", "))
			}
		}
	}
}

// leavesRunning returns the steps by which jobs of this queue stop running.
func (b *binding) leavesRunning() []TransitionName {
	steps := []TransitionName{Finish, Release, Recover}
	fails := b.keepsFailed || b.spec.FailedDeletes
	if !fails || b.spec.Attempts != nil {
		steps = append(steps, Retry)
	}
	if fails && !b.endless() {
		steps = append(steps, Fail)
	}
	if fails {
		steps = append(steps, GiveUp)
	}
	return slices.DeleteFunc(steps, func(name TransitionName) bool { return b.spec.Transitions[name] == nil })
}

// sets reports whether a step writes a column of the table of a companion.
func (t *Transition) sets(like *Companion, column string) bool {
	return slices.ContainsFunc(t.With, func(c *Companion) bool {
		return c.QualifiedName() == like.QualifiedName() && slices.ContainsFunc(c.Set, func(v CompanionValue) bool { return v.Column.Name == column })
	})
}

// oneWorker complains where columns that name the worker cannot hold the same name: a
// number, a text and a uuid are three things, and a queue has one worker.
func (b *binding) oneWorker() {
	kind := func(c *schema.Column) string {
		switch c.Type.Class {
		case schema.Text:
			return "a text"
		case schema.UUID:
			return "a uuid"
		case schema.Int, schema.Decimal:
			return "a number"
		}
		return ""
	}
	var first *schema.Column
	see := func(c *schema.Column, v Value) {
		switch {
		case v.Kind != WorkerID || kind(c) == "":
		case first == nil:
			first = c
		case kind(c) != kind(first):
			pos := v.Pos
			if !pos.IsValid() {
				pos = c.Pos
			}
			b.errorf(pos, "the worker is %s for column %q and %s for column %q", kind(c), c.Name, kind(first), first.Name).
				WithHint("Write an SQL expression in one of the two places.")
			first = c
		}
	}
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		for _, w := range t.Writes {
			see(w.Column, w.Value)
		}
		for _, c := range t.With {
			for _, v := range slices.Concat(c.Set, c.Where) {
				see(v.Column.Column, v.Value)
			}
		}
	}
}

// accompany lets an outcome write to other tables what the step to its state writes; of one
// that says that for itself, it only takes the row where that step does.
func (b *binding) accompany(o *Outcome, apart bool) {
	var with []*Companion
	for _, c := range b.spec.Transitions[leading[o.To]].With {
		if apart && !c.Move {
			continue
		}
		for _, taken := range [][2]string{{ArgResult, "Complete"}, {ArgError, "Fail"}} {
			if arg, method := taken[0], taken[1]; c.Takes(arg) {
				b.errorf(o.Pos, "outcome %q leads to %s, and table %s then takes the %s, which it has not", o.Name, o.To, c.QualifiedName(), arg).
					WithHint("Use %s for such jobs, or leave the %s out of what %s gets%s.", method, arg, c.QualifiedName(), o.apart(c))
				return
			}
		}
		if given := c.Givens(); len(given) > 0 {
			b.errorf(o.Pos, "outcome %q leads to %s, and table %s then takes the argument %q, which it has not", o.Name, o.To, c.QualifiedName(), given[0].Value.Name).
				WithHint("Use %s for such jobs, or leave the argument out of what %s gets%s.", instead[o.To], c.QualifiedName(), o.apart(c))
			return
		}
		if asked := b.spec.AskedBeside(c); len(asked) > 0 {
			b.errorf(o.Pos, "outcome %q leads to %s, and table %s then takes the argument %q, which it has not", o.Name, o.To, c.QualifiedName(), asked[0].Name).
				WithHint("Use %s for such jobs, or leave the argument out of what %s gets%s.", instead[o.To], c.QualifiedName(), o.apart(c))
			return
		}
		with = append(with, c)
	}
	o.Transition.With = append(with, o.Transition.With...) // the row goes first
}

// instead is the method of the step to a state.
var instead = map[StateName]string{Done: "Complete", Deleted: "Complete", Failed: "Fail", Ready: "Requeue"}

// apart is how an outcome writes something else than the step to its state.
func (o *Outcome) apart(c *Companion) string {
	if c.Move {
		return ""
	}
	return ", or say for itself what it writes: also: {" + o.Name + ": …}"
}

// noteEngines warns of tables that take no part in transactions.
func (b *binding) noteEngines() {
	for _, name := range b.spec.Steps() {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		for _, c := range t.With {
			for _, table := range []*schema.Table{b.table, c.Known} {
				if table != nil && table.Untransacted() {
					b.note("warning: %s is a table of %s, which has no transactions: a crash can leave a change of %s made and that of %s not",
						table.QualifiedName(), table.Engine, c.QualifiedName(), b.table.QualifiedName())
				}
			}
		}
	}
}

// other returns a companion over the table of that name; nil after a complaint.
func (b *binding) other(verb string, table config.String) *Companion {
	c := &Companion{Verb: verb, Pos: table.Pos}
	found := b.catalog.Lookup(table.Value, b.fold)
	if table.Value == "self" {
		found = []*schema.Table{b.table}
	}
	switch len(found) {
	case 0:
		if c.Schema, c.Table = schema.SplitName(table.Value, b.fold); b.miscased(table, c.Table) {
			return nil
		}
		b.note("the DDL has no table %q, so its columns are not checked", c.QualifiedName())
	case 1:
		c.Known, c.Schema, c.Table = found[0], found[0].Schema, found[0].Name
		c.Others = c.Known == b.table && verb != "insert"
		b.errs.Add(c.Known.Gaps...)
	default:
		tableName{String: table}.several(found, b.errs)
		return nil
	}
	switch {
	case c.Known == b.table && verb != "insert" && b.spec.Log != nil:
		b.errorf(table.Pos, "rows of %s are only added, and %s would change them", table.Value, verb).
			WithHint("Leave it out. What a group has passed is deleted by Purge.")
		return nil
	case c.Known == b.table && verb != "insert" && b.isAway():
		b.errorf(table.Pos, "jobs of this queue are in two tables, and %s is one of them", table.Value).
			WithHint("Change rows of other jobs in the transaction of the step: with WithTx, by SQL of yours.")
		return nil
	case c.Known != nil && c.Known.View && verb == "insert":
		b.errorf(table.Pos, "%s is a view", table.Value).WithHint("Name the table behind it.")
		return nil
	}
	return c
}

// miscased complains about a name that the database would read as another than that of a
// table of the DDL from which it differs by its case alone.
func (b *binding) miscased(name config.String, stored string) bool {
	for _, t := range b.catalog.Tables {
		if t.Name == stored || !strings.EqualFold(t.Name, stored) || t.AnyCase {
			continue
		}
		b.errorf(name.Pos, "the DDL has no table %q, and the database reads the name as %s", name.Value, stored).
			WithHint("Did you mean %s? A table that the DDL does not have is named as in SQL, with quotes around capital letters.", t.QualifiedName())
		return true
	}
	return false
}

// move adds the companion that takes rows to another table.
func (b *binding) move(t *Transition, m *config.Move) {
	c := b.other("insert", m.To)
	if c == nil {
		return
	}
	c.Move = true
	switch {
	case c.Known == b.table:
		b.errorf(m.To.Pos, "the row is in %s already", m.To.Value).WithHint("Name another table, or say done=keep or failed=keep in queue:.")
		return
	case m.Same:
		b.same(t, c, m)
	default:
		set := m.Columns
		if t.Name == GiveUp {
			set = b.unasked(c, set)
		}
		c.Set = b.values(t.Name, c, set, true, true)
		b.noteNarrow(c, b.narrowerThan(t.Name, c))
	}
	b.complete(c, m.To)
	t.With = append([]*Companion{c}, t.With...)
}

// same has the other table keep the row as it would be if it stayed: the columns
// that both tables have.
func (b *binding) same(t *Transition, c *Companion, m *config.Move) {
	var narrow []string
	written := map[*schema.Column]Value{}
	for _, w := range b.resolve(t.Name) {
		written[w.Column] = w.Value
	}
	for _, from := range b.table.Columns {
		to := from
		if c.Known != nil {
			if to = c.Known.Column(from.Name); to == nil || to.Generated || to.Always {
				continue
			}
		}
		v, ok := written[from]
		if !ok {
			v = Value{Kind: ColumnOf, Other: from}
		}
		c.Set = append(c.Set, CompanionValue{Column: &Column{Column: to}, Value: v, Of: from})
		if c.Known != nil && to.Identity && v.Kind == ColumnOf && slices.Contains(b.spec.Key, from) {
			b.note("column %q of %s gets the key of the row (columns: same), and numbers rows by itself as well: where another row has that number, the move fails; name the columns in the place of same, without this one, to have it numbered anew", to.Name, c.QualifiedName())
		}
		if c.Known == nil || !b.fitsThere(c, m, from, to, v) {
			continue
		}
		if e := b.spec.Error; e != nil && e.Column == from && !e.Append && !holdsAll(from, to) {
			b.cutError(c, to)
		} else if slices.Contains([]ValueKind{ColumnOf, Old, Add}, v.Kind) {
			narrow = append(narrow, b.narrower(t.Name, from, to)...)
		}
	}
	b.noteNarrow(c, narrow)
}

// noteNarrow says which rows a step cannot write to another table.
func (b *binding) noteNarrow(c *Companion, narrow []string) {
	if len(narrow) == 0 {
		return
	}
	does := "writes it there"
	if c.Move {
		does = "moves it there"
	}
	b.note("where a row does not fit into %s, the step that %s fails each time: %s", c.QualifiedName(), does, strings.Join(narrow, "; "))
}

// narrowerThan lists what columns of the row may hold, and those of another table that they
// are written to may not.
func (b *binding) narrowerThan(step TransitionName, c *Companion) []string {
	var list []string
	for _, v := range c.Set {
		if c.Known != nil && v.Value.Kind == ColumnOf && v.Of == nil {
			list = append(list, b.narrower(step, v.Value.Other, v.Column.Column)...)
		}
	}
	return list
}

// cutError cuts errors at what a column of another table takes to which they go with the
// row, also one that a try left before the job was done.
func (b *binding) cutError(c *Companion, to *schema.Column) {
	if e, most := b.spec.Error, to.Most(); e.Max == 0 || most < e.Max {
		e.Max, e.Elsewhere = most, append(e.Elsewhere, to)
		b.note("an error is cut at %d characters, which column %q of %s takes", most, to.Name, c.QualifiedName())
	}
}

// fitsThere complains where a column of another table can never take what the one of the
// same name gives it.
func (b *binding) fitsThere(c *Companion, m *config.Move, from, to *schema.Column, v Value) bool {
	const hint = "Name the columns in the place of same"
	if !oneKind(from.Type, to.Type) {
		b.errorf(m.To.Pos, "column %q is %s, and column %q of %s is %s", from.Name, orWord(from.Type.Raw, string(from.Type.Class)),
			to.Name, c.QualifiedName(), orWord(to.Type.Raw, string(to.Type.Class))).
			WithHint(hint+", columns: {…}, with an SQL expression that turns one into the other, over {row}.%s. Or give both columns one type.", from.Name)
		return false
	}
	if v.Kind == Null && to.NotNull {
		b.errorf(m.To.Pos, "column %q becomes null, and in %s it is NOT NULL", from.Name, c.QualifiedName()).
			WithHint(hint + ", and give it another value, or let it be null there.")
		return false
	}
	if v.Kind == Literal && from.Type.Class == to.Type.Class {
		if _, wrong := fit(to, v.Text); wrong != "" {
			b.errorf(m.To.Pos, "column %q becomes %s, which does not fit into %s: %s", from.Name, quote(v, from), c.QualifiedName(), wrong).
				WithHint(hint + ", and give it a value that fits, or change the column there.")
			return false
		}
	}
	return true
}

// narrower says what a column may hold and its counterpart in another table may not.
func (b *binding) narrower(step TransitionName, from, to *schema.Column) []string {
	var list []string
	there, it := "there ", "there it"
	if from.Name != to.Name {
		there, it = to.Name+" there ", to.Name+" there"
	}
	if !holdsAll(from, to) {
		list = append(list, from.Name+" is "+orWord(from.Type.Raw, "without type")+", "+there+to.Type.Raw)
	}
	claim := b.spec.Transitions[Claim]
	claimed := step != Enqueue && claim != nil && slices.ContainsFunc(claim.Writes, func(w Write) bool { return w.Column == from })
	if to.NotNull && !from.NotNull && !claimed && !slices.Contains(b.spec.Key, from) {
		list = append(list, from.Name+" may be null, "+it+" may not")
	}
	return list
}

// holdsAll reports whether a column takes every text and every number that another of the
// same kind may hold.
func holdsAll(from, to *schema.Column) bool {
	x, y := from.Type, to.Type
	switch {
	case y.Array || x.Loose || y.Loose || x.Class != y.Class:
		return true
	case y.Class == schema.Text || y.Class == schema.Bytes:
		return to.Most() == 0 || from.Most() > 0 && from.Most() <= to.Most()
	case y.Class == schema.Int && x.Bits > 0 && y.Bits > 0:
		if x.Unsigned != y.Unsigned {
			return x.Unsigned && x.Bits < y.Bits
		}
		return x.Bits <= y.Bits
	case y.Class == schema.Decimal:
		return y.WholeDigits() == 0 || x.WholeDigits() > 0 && x.WholeDigits() <= y.WholeDigits()
	}
	return true
}

// oneKind reports whether a column takes the values of another as they are, in every
// database.
func oneKind(from, to schema.Type) bool {
	if !alike(from, to) {
		return false
	}
	if number, ok := from.Number(); ok {
		from = number
	}
	if number, ok := to.Number(); ok {
		to = number
	}
	numbers := []schema.Class{schema.Int, schema.Float, schema.Decimal}
	times := []schema.Class{schema.Timestamp, schema.Date}
	both := func(classes []schema.Class) bool {
		return slices.Contains(classes, from.Class) && slices.Contains(classes, to.Class)
	}
	return from.Class == to.Class || from.Loose || to.Loose || to.Class == schema.Text && !to.Enum ||
		from.Class == schema.Unknown || to.Class == schema.Unknown || both(numbers) || both(times)
}

// companion adds an entry of also; key is that of a row which is added once for all jobs.
func (b *binding) companion(t *Transition, from config.Companion, key *schema.Column) {
	verb, table := "insert", from.Insert
	switch {
	case from.Update.IsSet():
		verb, table = "update", from.Update
	case from.Delete.IsSet():
		verb, table = "delete", from.Delete
	}
	c := b.other(verb, table)
	if c == nil {
		return
	}
	c.Key = key
	set := slices.Concat(from.Values, from.Set)
	if t.Name == GiveUp {
		if set = b.unasked(c, set); len(set) == 0 && verb == "update" {
			return
		}
	}
	c.Set = b.values(t.Name, c, set, true, false)
	which := ""
	if from.Which.IsSet() {
		var ok bool
		if from.Where, which, ok = b.whichRows(c, from.Which); !ok {
			return
		}
	}
	c.Where = b.values(t.Name, c, from.Where, false, false)
	switch {
	case key != nil:
		b.checkBatch(c, from)
		b.spec.Batch, b.spec.BatchPos = c, b.batchWord().pos
	case from.When.IsSet():
		c.When, _ = b.expression(asLiteral(from.When), nil)
	}
	if which != "" && c.When != "" {
		which += " and (" + c.When + ")"
	}
	c.When = cmp.Or(which, c.When)
	tied := func(v CompanionValue) bool { return !slices.Contains([]ValueKind{Literal, Null, Given}, v.Value.Kind) }
	switch {
	case verb == "insert":
		b.complete(c, table)
		if b.spec.Read(PiecesOf(c.When)).looksInto(c.Table) {
			b.note("also: %s looks into %s before it adds a row there: two calls at the same moment, or two jobs of one call, may both find none and both add theirs; where a unique key forbids that, the call fails with the error of the key, which is not tried again, and writes nothing",
				t.Name, c.QualifiedName())
		}
	case c.Others && b.isOwn(c):
		b.errorf(from.Where[0].Column.Pos, "only the row of the job itself has this key, and %s would be done to rows of other jobs", verb).
			WithHint("What a step writes to its own row is said by qgen:on. Name what the others have in common with it: where: {batch: row.batch}.")
	case len(c.Where) > 0 && !slices.ContainsFunc(c.Where, tied):
		b.errorf(from.Where[0].Column.Pos, "nothing ties rows of %s to a job", c.QualifiedName()).
			WithHint("Say which column holds a value of the job's row: where: {job_id: key.id}. Rows that only the program knows are written in the transaction that settles the job, with WithTx.")
	}
	b.noteNarrow(c, b.narrowerThan(t.Name, c))
	b.noteOthers(t.Name, c)
	b.readShared(t.Name, c)
	c.Reads = slices.ContainsFunc(c.texts(), func(text string) bool { return b.spec.Read(PiecesOf(text)).looksInto(b.table.Name) })
	t.With = append(t.With, c)
}

// A condition of SQL that compares a column of the other row with one of the job's or a constant.
var (
	ofJobForm    = regexp.MustCompile(`(?is)^(.+?)\s*=\s*\{row\}\.("[^"]+"|` + "`[^`]+`" + `|[\pL_][\pL\pN_$#]*)$`)
	constantForm = regexp.MustCompile(`(?is)^(.+?)\s*=\s*('(?:[^']|'')*'|-?\d+(?:\.\d+)?)$`)
	nullForm     = regexp.MustCompile(`(?is)^(.+?)\s+is\s+null$`)
)

// whichRows reads an SQL condition on rows of another table: what it compares for being equal, by which
// they are found, and the rest as SQL; false after a complaint.
func (b *binding) whichRows(c *Companion, s config.String) (where []config.Value, rest string, ok bool) {
	if strings.Contains(s.Value, "{"+argMark) {
		b.errorf(s.Pos, "an argument is no part of SQL over another table").
			WithHint("Write a mapping, where: {column: \"arg:name\"}, and let the caller say that.")
		return nil, "", false
	}
	text, ok := b.expression(asLiteral(s), nil)
	if !ok {
		return nil, "", false
	}
	if name := b.inBoth(c, text); name != "" {
		b.errorf(s.Pos, "column %q is one of both rows", name).
			WithHint("Write %s.%s for what the row that is written holds, or {row}.%s for what the row of the job does.", c.Table, name, name)
		return nil, "", false
	}
	var left []string
	for _, part := range Conjuncts(text) {
		column, value := "", ""
		if m := ofJobForm.FindStringSubmatch(part); m != nil {
			column, value = m[1], "row."+strings.ReplaceAll(m[2], "`", `"`)
		} else if m := constantForm.FindStringSubmatch(part); m != nil {
			column, value = m[1], m[2]
		} else if m := nullForm.FindStringSubmatch(part); m != nil {
			column, value = m[1], "null"
		}
		named := b.columnOfOther(c, column)
		said := func(v config.Value) bool { return v.Column.Value == named }
		if named == "" || slices.ContainsFunc(where, said) {
			left = append(left, part)
			continue
		}
		where = append(where, config.Value{Column: config.String{Value: named, Pos: s.Pos}, Value: config.String{Value: value, Pos: s.Pos}})
	}
	if !slices.ContainsFunc(where, func(v config.Value) bool { return strings.HasPrefix(v.Value.Value, "row.") }) {
		b.errorf(s.Pos, "nothing that has to hold by itself ties rows of %s to a job", c.QualifiedName()).
			WithHint("Compare a column of the table with one of the job's row for being equal: %s.job_id = {row}.id and ….", c.Table)
		return nil, "", false
	}
	return where, strings.Join(left, " and "), true
}

// columnOfOther returns the name in an expression that is one of a column of the other table, as a
// column is named; "" where it is none.
func (b *binding) columnOfOther(c *Companion, text string) string {
	parts := partsOf(text)
	if len(parts) == 0 || len(PiecesOf(text)) != 1 || len(parts) == 1 && c.Known == nil || len(parts) > 2 {
		return ""
	}
	name := parts[len(parts)-1]
	if stored, _ := schema.StoredName(parts[0], b.fold); len(parts) == 2 && stored != c.Table && parts[0] != c.Table {
		return ""
	}
	if c.Known != nil && columnOf(c.Known, unquoted(name), b.fold) == nil {
		return ""
	}
	return name
}

// noteOthers warns where rows of other jobs change their state or go, whatever state they are in.
func (b *binding) noteOthers(step TransitionName, c *Companion) {
	told := func(c *schema.Column) bool {
		for _, state := range b.spec.States {
			if slices.ContainsFunc(state.Tests, func(t Test) bool {
				return t.Column == c && slices.Contains([]Op{In, NotIn, IsNull, NotNull}, t.Op)
			}) {
				return true
			}
		}
		return false
	}
	tells := func(v CompanionValue) bool { return told(v.Column.Column) }
	// SQL that asks such a column of the other row is for the user to judge.
	asks := c.Known != nil && slices.ContainsFunc(PiecesOf(c.When), func(piece string) bool {
		name := b.columnOfOther(c, piece)
		return name != "" && told(columnOf(c.Known, unquoted(name), b.fold))
	})
	if fail := b.spec.Transitions[Fail]; step == GiveUp && fail != nil && slices.ContainsFunc(fail.With, func(w *Companion) bool { return w.Pos == c.Pos }) {
		return // it is said there
	}
	does := "takes rows of other jobs to another state"
	if c.Verb == "delete" {
		does = "deletes rows of other jobs"
	}
	if c.Others && (c.Verb == "delete" || slices.ContainsFunc(c.Set, tells)) && !slices.ContainsFunc(c.Where, tells) && !asks {
		b.note("warning: also: %s %s whatever state they are in, also those that others run; a state among where: leaves these alone", step, does)
	}
}

// readShared finds out what an update adds to rows that several jobs of one call may share. Such a
// row is written once, so that what it adds for each job is to be added up.
func (b *binding) readShared(step TransitionName, c *Companion) {
	if c.Verb != "update" {
		return
	}
	for i := range c.Set {
		c.Set[i].OfJob = b.differs(step, c, c.Set[i].Value)
	}
	for i := range c.Where {
		c.Where[i].OfJob = b.differs(step, c, c.Where[i].Value)
	}
	if b.belongsToOne(c) {
		return
	}
	countable := !b.readsBeside(c, c.When) && !slices.ContainsFunc(c.Where, func(v CompanionValue) bool {
		return v.OfJob && v.Value.Kind == SQLExpr && b.readsBeside(c, v.Value.Text)
	})
	for i := range c.Set {
		v := &c.Set[i]
		if v.Value.Kind != SQLExpr {
			continue
		}
		if adds := b.adds(c, v); adds != nil && countable {
			v.Adds, v.OfJob = adds, false
			continue
		}
		if b.readsWritten(c, v.Value.Text) {
			b.note("warning: also: %s makes column %q of %s from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it",
				step, v.Column.Name, c.QualifiedName())
		}
	}
}

// belongsToOne reports whether each row of a companion belongs to one job: it is found by what names
// the job's row.
func (b *binding) belongsToOne(c *Companion) bool {
	return b.foundBy(c, func(v CompanionValue, column *schema.Column) bool { return v.Value.Other == column })
}

// isOwn reports whether a companion finds the row of the job itself and no other.
func (b *binding) isOwn(c *Companion) bool {
	return b.foundBy(c, func(v CompanionValue, column *schema.Column) bool {
		return v.Value.Other == column && v.Column.Column == column
	})
}

// foundBy reports whether the conditions of a companion hold, for each column of a unique key, one of
// which that is so.
func (b *binding) foundBy(c *Companion, is func(CompanionValue, *schema.Column) bool) bool {
	by := func(column *schema.Column) bool {
		return slices.ContainsFunc(c.Where, func(v CompanionValue) bool {
			return v.Value.Kind == ColumnOf && v.Value.By == 0 && is(v, column)
		})
	}
	named := func(columns []*schema.Column) bool {
		return len(columns) > 0 && !slices.ContainsFunc(columns, func(c *schema.Column) bool { return !by(c) })
	}
	return named(b.spec.Key) || slices.ContainsFunc(b.table.Uniques, func(k *schema.Key) bool { return named(k.Columns) })
}

// differs reports whether jobs of one call may have other values: of their rows, or of what they are given.
func (b *binding) differs(step TransitionName, with *Companion, v Value) bool {
	switch v.Kind {
	case ColumnOf:
		return true
	case Given:
		return step == Finish
	case Arg:
		return v.Name == ArgResult
	case SQLExpr:
		if step == Finish && len(b.spec.AsksIn(v.Text)) > 0 {
			return true
		}
		if with.Others {
			return strings.Contains(v.Text, "{row}")
		}
		return slices.ContainsFunc(b.table.Columns, func(c *schema.Column) bool { return b.spec.Reads(v.Text, c) })
	}
	return false
}

// readsBeside reports whether an expression reads a column of the table of a companion.
func (b *binding) readsBeside(c *Companion, text string) bool {
	return b.readsOther(c, text, func(string) bool { return true })
}

// readsWritten reports whether it reads one that the companion writes.
func (b *binding) readsWritten(c *Companion, text string) bool {
	return b.readsOther(c, text, func(name string) bool {
		return slices.ContainsFunc(c.Set, func(v CompanionValue) bool { return strings.EqualFold(v.Column.Name, unquoted(name)) })
	})
}

// readsOther reports whether an expression reads one of some columns of the table of a companion.
func (b *binding) readsOther(c *Companion, text string, is func(name string) bool) bool {
	r := b.spec.Read(PiecesOf(text))
	for i := range r.Pieces {
		if !r.IsName(i) {
			continue
		}
		parts := partsOf(r.Pieces[i])
		name, of := parts[len(parts)-1], parts[:len(parts)-1]
		column, _ := r.Column(i)
		switch {
		case !is(name):
		case len(of) > 0 && strings.EqualFold(of[len(of)-1], c.Table):
			return true
		case len(of) == 0 && column == nil && c.Known != nil && columnAmong(name, c.Known) != nil,
			len(of) == 0 && column == nil && slices.ContainsFunc(c.Set, func(v CompanionValue) bool { return strings.EqualFold(v.Column.Name, name) }):
			return true
		}
	}
	return false
}

// adds reads an expression as a column and what each job adds to it, nil where it is something
// else. What is added may be a number, or be made of columns behind {row}; a number may stand for
// the null of the column.
func (b *binding) adds(c *Companion, v *CompanionValue) *Adds {
	text := strings.TrimSpace(v.Value.Text)
	p := PiecesOf(text)
	name, end := 0, 1
	if len(p) > 6 && slices.Contains(forNull, strings.ToLower(p[0])) && p[1] == "(" && p[3] == "," && numberForm.MatchString(p[4]) && p[5] == ")" {
		name, end = 2, 6 // what stands for a null
	}
	if len(p) < end+2 || !p.IsName(name) || p[end] != "+" && p[end] != "-" {
		return nil
	}
	parts := partsOf(p[name])
	last := len(parts) - 1
	switch {
	case !strings.EqualFold(parts[last], v.Column.Name), last > 0 && !strings.EqualFold(parts[last-1], c.Table):
		return nil
	case last == 0 && columnAmong(parts[0], b.table) != nil:
		return nil // of both tables
	}
	terms := 1
	for i, piece := range p[end+1:] {
		switch {
		case piece == "+" || piece == "-":
			terms++
		case strings.Contains("*/(),", piece), strings.HasPrefix(piece, "{row}."), numberForm.MatchString(piece):
		case p.IsName(i+end+1) && p.is(i+end+2, "(") && slices.Contains(forNull, strings.ToLower(piece)):
		default:
			return nil
		}
	}
	sign := pieceForm.FindAllStringIndex(text, -1)[end][0]
	a := &Adds{To: strings.TrimSpace(text[:sign]), Minus: p[end] == "-", Each: strings.TrimSpace(text[sign+1:])}
	if a.Minus && terms > 1 {
		a.Minus, a.Each = false, "-"+a.Each
	}
	return a
}

// complete complains about columns without which no row can be added.
func (b *binding) complete(c *Companion, table config.String) {
	if c.Known == nil {
		return
	}
	var missing []string
	for _, column := range c.Known.Columns {
		given := slices.ContainsFunc(c.Set, func(v CompanionValue) bool { return v.Column.Column == column })
		if column.NotNull && !given && !column.HasDefault && !column.Identity && !column.Generated {
			missing = append(missing, column.Name)
		}
	}
	if len(missing) > 0 {
		b.errorf(table.Pos, "a new row of %s needs %s, which is NOT NULL and has no default", c.QualifiedName(), strings.Join(missing, ", ")).
			WithHint("Say what it gets, for example {%s: row.%s}.", missing[0], b.table.Columns[0].Name)
	}
}

// values reads columns of another table and their values, which are written or compared.
func (b *binding) values(step TransitionName, c *Companion, from []config.Value, written, move bool) []CompanionValue {
	var all []CompanionValue
	for _, f := range from {
		column := b.columnBeside(c, f, written, all)
		if column == nil {
			continue
		}
		// A value that is wrong is one nevertheless: nothing is missing.
		v, _ := b.valueBeside(step, c, column, f.Value, move)
		value := CompanionValue{Column: column, Value: v}
		for _, text := range f.Or {
			if or, ok := b.valueBeside(step, c, column, text, move); ok {
				value.Or = append(value.Or, or)
			}
		}
		for _, v := range append(slices.Clip(value.Or), v) {
			if len(f.Or) > 0 && v.Pos.IsValid() && v.Kind != Literal {
				b.errorf(v.Pos, "a list is one of constants").WithHint("Write an entry for each of the values, or a condition in SQL as the value of the column.")
				break
			}
		}
		all = append(all, value)
	}
	return all
}

// columnBeside returns the column of another table that is written or compared; nil
// after a complaint.
func (b *binding) columnBeside(c *Companion, f config.Value, written bool, seen []CompanionValue) *Column {
	name := f.Column
	stored, _ := schema.StoredName(name.Value, b.fold)
	column := &Column{Column: &schema.Column{Name: stored, Pos: name.Pos, Type: schema.Type{Class: schema.Unknown}}}
	if c.Known != nil {
		known := b.columnNamed(c.Known, name.Value, name.Pos)
		if known == nil {
			return nil
		}
		column.Column = known
		if written && (known.Generated || known.Always) {
			b.errorf(name.Pos, "column %q of %s is filled by the database and cannot be written", known.Name, c.QualifiedName()).
				WithHint("Leave it out.")
			return nil
		}
	}
	if slices.ContainsFunc(seen, func(v CompanionValue) bool { return v.Column.Name == column.Name }) {
		b.errorf(name.Pos, "column %q is said twice", name.Value).WithHint("Keep one of the two.")
		return nil
	}
	return column
}

var (
	numberForm = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)
	textForm   = regexp.MustCompile(`^'(?:[^']|'')*'$`)
	partForm   = regexp.MustCompile(`^(key|row)\.("[^"]+"|[\pL_][\pL\pN_$#]*)$`)
	bareForm   = regexp.MustCompile(`^[\pL_][\pL\pN_$#]*$`)
)

// valueWords are the words that stand for values.
var valueWords = []string{"now", "token", "worker", "error", "result", "null", "true", "false"}

// valueBeside reads the value of a column of another table.
func (b *binding) valueBeside(step TransitionName, c *Companion, column *Column, s config.String, move bool) (Value, bool) {
	text := s.Value
	wrong := func(hint, format string, args ...any) (Value, bool) {
		b.errorf(s.Pos, format, args...).WithHint("%s", hint)
		return Value{}, false
	}
	switch {
	case (step == Enqueue || step == Purge) && (text == "token" || text == "worker" || strings.HasPrefix(text, argMark)):
		return wrong("What a column of the row holds is written row.column.", "%s is no step of a claim, so it has no %s", step, text)
	case (step == Enqueue || step == Purge) && asksForm.MatchString(text):
		return wrong("What a column of the row holds is written {row}.column.", "%s is no step of a claim, so it has no arguments", step)
	case step == GiveUp && asksForm.MatchString(text):
		return wrong("Write what the row holds in its place, such as {row}.name. Of what is set, only a column that is NULL or has a default can be left out.", "when Recover gives a job up nobody is there to say %s", asksForm.FindString(text))
	case c.Key != nil && isOfJob(text):
		return wrong("Write now, worker, or a constant. What is written for each job goes to a table of its own.",
			"one row of %s is added for all jobs of a claim, before they have its key for their token, and %s is of one job", c.QualifiedName(), text)
	case text == "now":
		return Value{Kind: Now, Pos: s.Pos}, b.present(c, column, s)
	case isShifted(literal{text: text}):
		shift, ok := fixedShift(text)
		name, isArg := strings.CutPrefix(text, "now+"+argMark)
		switch {
		case c.Known == nil:
			return wrong("Give its DDL at schema:, or write SQL over {now}.", "how column %q of %s keeps a time is not known", column.Name, c.QualifiedName())
		case isArg && !nameForm.MatchString(name):
			return wrong("Write letters, digits and underscores: now+arg:delay.", "%q is no name of an argument", name)
		case isArg && (step == Enqueue || step == Purge):
			return wrong("Write now and a duration, such as now+5m, or SQL over {now} and {row}.", "%s is no step of a claim, so it has no arguments", step)
		case isArg && step == GiveUp:
			return wrong("Write now and a duration, such as now+5m. Of what is set, only a column that is NULL or has a default can be left out.", "when Recover gives a job up nobody is there to say %s", text)
		case isArg:
			shift.Given = name
			b.argument(&b.spec.Asked, &Param{Name: name, Kind: Argument, GoType: goDuration, Pos: s.Pos})
		case !ok:
			return wrong("Write the present and a duration above 0, such as now+5m, or now+arg:delay for what the caller says, or SQL over {now}.", "%q is no time", text)
		}
		return Value{Kind: Now, Shift: shift, Pos: s.Pos}, b.present(c, column, s)
	case text == "null" && column.NotNull:
		return wrong("Write another value, or leave the column out.", "column %q of %s is NOT NULL", column.Name, c.QualifiedName())
	case text == "null":
		return Value{Kind: Null, Pos: s.Pos}, true
	case text == "token" && b.spec.Token == nil:
		return wrong("Mark the column that holds a fresh value for each claim with qgen:token.", "claims of this queue leave no token")
	case text == "token":
		return b.taken(c, column, s, b.spec.Token)
	case text == "worker" && (c.Key != nil || b.spec.Worker == nil):
		return b.workerBeside(c, column, s)
	case text == "worker":
		return b.taken(c, column, s, b.spec.Worker)
	case text == ArgError && step != Retry && step != Fail && step != GiveUp:
		return wrong("It can stand under retry: and fail:.", "%s has no error", step)
	case text == ArgError && !slices.Contains([]schema.Class{schema.Text, schema.Unknown}, column.Type.Class):
		return wrong("An error is a text.", "column %q of %s is %s, which holds no text of an error", column.Name, c.QualifiedName(), column.Type.Raw)
	case text == ArgError && step == GiveUp:
		return Value{Kind: Literal, Text: gaveUpText(column.Most()), Pos: s.Pos}, true
	case text == ArgError:
		return Value{Kind: Arg, Name: ArgError, Pos: s.Pos}, true
	case text == ArgResult && step != Finish:
		return wrong("It can stand under done:.", "%s has no result", step)
	case text == ArgResult && b.spec.Result == nil:
		return wrong("Mark the column that keeps it with qgen:result; its type is that of the argument of Complete.", "Complete takes no result")
	case text == ArgResult:
		return Value{Kind: Arg, Name: ArgResult, Pos: s.Pos},
			b.takes(c, column, s, b.spec.Result, "Give both columns one type, or name an argument of its own: arg:"+column.Name+".")
	case strings.HasPrefix(text, argMark) && step == GiveUp:
		return wrong("Write what the row holds in its place, such as row.name. Of what is set, only a column that is NULL or has a default can be left out.", "when Recover gives a job up nobody is there to say %s", text)
	case strings.HasPrefix(text, argMark):
		return b.argumentBeside(c, column, s)
	case text == "true" || text == "false" || numberForm.MatchString(text):
		return b.constantBeside(c, column, s, text)
	case textForm.MatchString(text):
		return b.constantBeside(c, column, s, strings.ReplaceAll(text[1:len(text)-1], "''", "'"))
	}
	if m := partForm.FindStringSubmatch(text); m != nil {
		return b.part(c, column, s, m[1], strings.Trim(m[2], `"`))
	}
	if bareForm.MatchString(text) {
		if move {
			return b.part(c, column, s, "row", text)
		}
		hint := "A column of the job's row is written row.name, a text 'in quotes'. Other words are " + strings.Join(valueWords, ", ") + "."
		if columnOf(b.table, text, b.fold) != nil {
			hint = "Write row." + text + " for the column of the job's row."
		} else if near := meant(text, valueWords); near != "" {
			hint = "Did you mean " + near + "? " + hint
		}
		return wrong(hint, "%q is no value", text)
	}
	sql, ok := b.expression(asLiteral(s), &b.spec.Asked)
	if name := b.inBoth(c, sql); ok && name != "" {
		return wrong(fmt.Sprintf("Write %s.%s for what the row that is written holds, or {row}.%s for what the row of the job does.", c.Table, name, name),
			"column %q is one of both rows", name)
	}
	return Value{Kind: SQLExpr, Text: sql, Pos: s.Pos}, ok
}

// inBoth returns the name of a column in an expression over rows of other jobs that does not tell of
// which row it is; "" where none is.
func (b *binding) inBoth(c *Companion, text string) string {
	if !c.Others {
		return ""
	}
	r := b.spec.Read(PiecesOf(text))
	for i, piece := range r.Pieces {
		if column, row := r.Column(i); row && column != nil && len(partsOf(piece)) == 1 && !r.isWord(i) {
			return unquoted(piece)
		}
	}
	return ""
}

// argMark is what the name of an argument stands behind.
const argMark = "arg:"

// asksForm finds an argument in SQL as it is written.
var asksForm = regexp.MustCompile(`\{\s*arg:[^{}]*\}`)

// argumentBeside is what the caller of a step says for a column of another table.
func (b *binding) argumentBeside(c *Companion, column *Column, s config.String) (Value, bool) {
	if c.Known == nil {
		b.errorf(s.Pos, "the DDL has no table %q, so nothing tells of what type %s is", c.QualifiedName(), s.Value).
			WithHint("Add its CREATE TABLE to the files of schema.")
		return Value{}, false
	}
	return b.giveTo(strings.TrimPrefix(s.Value, argMark), receiver{column.Column, s.Pos}, s.Pos)
}

// workerBeside is who takes a step, where the row of the job does not tell it: because the
// queue has no column for that, or because the row that stands for a claim is added before.
func (b *binding) workerBeside(c *Companion, column *Column, s config.String) (Value, bool) {
	if b.spec.Worker != nil {
		if _, ok := b.taken(c, column, s, b.spec.Worker); !ok {
			return Value{}, false
		}
	} else if !holdsWorker(column.Column) {
		b.errorf(s.Pos, "column %q of %s is %s, which holds no worker", column.Name, c.QualifiedName(), orWord(column.Type.Raw, "without type")).
			WithHint("A worker is a text, a number or a uuid.")
		return Value{}, false
	}
	return Value{Kind: WorkerID, Pos: s.Pos}, true
}

// unasked leaves out what a caller would say, of what is written when a claim has run out
// for good: nobody is there to say it.
func (b *binding) unasked(c *Companion, from []config.Value) []config.Value {
	return slices.DeleteFunc(slices.Clone(from), func(v config.Value) bool {
		if text := v.Value.Value; !strings.HasPrefix(text, argMark) && !strings.HasPrefix(text, "now+"+argMark) && !asksForm.MatchString(text) {
			return false
		}
		if c.Known != nil && c.Verb == "insert" {
			if known := columnOf(c.Known, v.Column.Value, b.fold); known != nil && known.NotNull && !known.HasDefault {
				return false // is complained of where it is read
			}
		}
		b.note("column %q of %s is left out when a job fails because %s (giveup)", v.Column.Value, c.QualifiedName(), b.whyGivenUp())
		return true
	})
}

// constantBeside checks a constant against the column of another table.
func (b *binding) constantBeside(c *Companion, column *Column, s config.String, text string) (Value, bool) {
	if c.Known == nil {
		switch {
		case textForm.MatchString(s.Value):
			column.Type.Class = schema.Text
		case text == "true" || text == "false":
			column.Type.Class = schema.Bool
		case strings.Trim(text, "+-0123456789") == "":
			column.Type.Class = schema.Int
		default:
			column.Type.Class = schema.Float
		}
		return Value{Kind: Literal, Text: text, Pos: s.Pos}, true
	}
	return b.literal(column.Column, literal{text: text, quote: quoted, pos: s.Pos})
}

// part is a column of the job's row as a value.
func (b *binding) part(c *Companion, column *Column, s config.String, of, name string) (Value, bool) {
	from := b.columnNamed(b.table, name, s.Pos)
	switch {
	case from == nil:
		return Value{}, false
	case of == "key" && !slices.Contains(b.spec.Key, from):
		hint := "Write row." + name + "."
		if len(b.spec.Key) > 0 {
			hint = "The key is " + names(b.spec.Key) + ". Write row." + name + " for another column of the row."
		}
		b.errorf(s.Pos, "column %q is no part of the key", from.Name).WithHint("%s", hint)
		return Value{}, false
	}
	return b.taken(c, column, s, from)
}

// taken is the value of a column of the job's row for a column of another table.
func (b *binding) taken(c *Companion, column *Column, s config.String, from *schema.Column) (Value, bool) {
	if !b.takes(c, column, s, from, fmt.Sprintf("Write an SQL expression that turns one into the other, with {row}.%s for the column.", from.Name)) {
		return Value{}, false
	}
	return Value{Kind: ColumnOf, Other: from, Pos: s.Pos}, true
}

// takes complains about a column of another table that does not take the values of one of the
// queue as they are.
func (b *binding) takes(c *Companion, column *Column, s config.String, from *schema.Column, hint string) bool {
	if c.Known == nil || oneKind(from.Type, column.Type) {
		return true
	}
	b.errorf(s.Pos, "column %q is %s, and column %q of %s is %s", from.Name, orWord(from.Type.Raw, string(from.Type.Class)),
		column.Name, c.QualifiedName(), orWord(column.Type.Raw, string(column.Type.Class))).
		WithHint("%s", hint)
	return false
}

// families are classes of types of which one takes the values of the others.
var families = [][]schema.Class{
	{schema.Int, schema.Float, schema.Decimal, schema.Bool},
	{schema.Timestamp, schema.Date},
	{schema.Bytes, schema.Text, schema.UUID},
	{schema.Text, schema.JSON},
	{schema.Text, schema.Timestamp, schema.Date, schema.TimeOfDay},
}

// alike reports whether a column of one type may take values of another, as far as
// that is so in any database.
func alike(from, to schema.Type) bool {
	switch {
	case from.Array != to.Array:
		return false
	case from.Class == to.Class, from.Loose, to.Loose, to.Class == schema.Text, from.Class == schema.Unknown, to.Class == schema.Unknown:
		return true
	}
	return slices.ContainsFunc(families, func(f []schema.Class) bool { return slices.Contains(f, from.Class) && slices.Contains(f, to.Class) })
}

// present makes sure that it is known how a column of another table keeps time: as times says, or its
// type, or what its default writes.
func (b *binding) present(c *Companion, column *Column, s config.String) bool {
	own := b.columns[column.Column]
	class := column.Type.Class
	switch {
	case own != nil && (own.As != "" || own.Clock != ""):
		*column = *own
		return true
	case c.Known == nil, class == schema.Date && !column.Type.Loose, class == schema.Timestamp && column.Type.Zone:
		return true
	case class == schema.Timestamp && !column.Type.Loose:
		if column.Clock = b.onlyClock(); column.Clock == "" {
			b.errorf(s.Pos, "column %q of %s is %s, which has no zone", column.Name, c.QualifiedName(), column.Type.Raw).
				WithHint("Say clock: utc or clock: local in this entry.")
			return false
		}
		return true
	case column.Type.Loose && layoutOf(column.Default) != "":
		column.As, column.Clock = textTime+layoutOf(column.Default), "utc"
		return true
	}
	of := c.Known.Name + "."
	if c.Known == b.table {
		of = ""
	}
	e := b.errorf(s.Pos, "nothing tells how column %q of %s, which is %s, keeps time", column.Name, c.QualifiedName(), orWord(column.Type.Raw, "without type"))
	switch {
	case !keepsTime(class):
		e.WithHint("Write the present as an SQL expression in its place.")
	case column.Type.Counts():
		e.WithHint("Say it in this entry: times: {%s%s: {as: epoch}} for seconds since 1970, or epoch_ms, epoch_us, epoch_ns.", of, column.Name)
	default:
		e.WithHint("Say it in this entry: times: {%s%s: {as: 'text:%s'}}, in the form as Go writes it.", of, column.Name, layoutISO)
	}
	return false
}

// onlyClock is the clock that times without a zone show, "" where nothing says it, or several things do.
func (b *binding) onlyClock() string {
	clock := b.spec.Clock
	if clock != "" {
		return clock
	}
	for _, own := range b.spec.Columns {
		switch {
		case own.Clock == "" || own.Clock == clock:
		case clock != "":
			return ""
		default:
			clock = own.Clock
		}
	}
	return clock
}
