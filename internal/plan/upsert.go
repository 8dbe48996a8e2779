package plan

// This file plans an Enqueue that changes the row which a job meets by a unique key.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// upsert is how Enqueue changes a row that is there.
type upsert struct {
	key     *keyInWay
	changes []change
	news    []newColumn
	// looks: no statement of the server does it all, so that the row is looked for and locked, and
	// then changed or added.
	looks bool
	// only tells which rows are changed, nil where all are.
	only *queue.Condition
}

// spared says what becomes of a row that is left alone, "" where none is.
func (u *upsert) spared() string {
	if u.only == nil {
		return ""
	}
	return ", where update_if holds for that; else it is left alone, and nothing comes back"
}

// change is what a column of the row gets: what qgen:on says, or what the job has.
type change struct {
	newColumn
	said *queue.Value
}

// optional reports whether the job may leave the column as it is.
func (c change) optional() bool { return c.said == nil && (c.field.Optional || c.field.Null) }

// planUpsert decides how Enqueue changes a row that is there, of which news are the columns that
// it would write to a new one. It returns nil where it does not, and after a complaint.
func (b *builder) planUpsert(news []newColumn, errs *source.ErrorList) *upsert {
	said := b.spec.Upsert
	if said == nil {
		return nil
	}
	u := &upsert{news: news, only: said.If}
	complain := func(hint, format string, args ...any) *upsert {
		errs.Errorf(said.Pos, format, args...).WithHint("%s", hint)
		return nil
	}
	const otherwise = "or leave enqueue=update out, and look for the row in the transaction that enqueues, with WithTx."
	keys := b.keysInWay()
	if len(keys) == 0 {
		return complain("Add a unique index over what tells one job from another; "+otherwise,
			"no new job can meet a row of %q by a unique key: new rows are alike in none", b.spec.Table.QualifiedName())
	}
	if u.key = b.chosenKey(keys, errs); u.key == nil {
		return nil
	}
	if u.key.deferrable {
		return complain("Make the key NOT DEFERRABLE.", "the unique key of %q over %s is DEFERRABLE: whether a job meets a row is known only when the transaction ends", b.spec.Table.QualifiedName(), u.key.list())
	}
	overExpression := slices.ContainsFunc(u.key.columns, func(c schema.IndexColumn) bool { return c.Column == nil })
	switch {
	case b.can(dialect.UpsertKey) && overExpression && !b.can(dialect.UpsertExpr):
		return complain("Add a computed column that has the value of the expression, and a unique index over that; "+otherwise,
			"%s finds no row that a job meets by an expression: %s", b.pkg.Engine, u.key.text())
	case b.can(dialect.UpsertKey), b.can(dialect.UpsertAnyKey) && b.meetsByOne() && u.only == nil:
	case len(b.d.Transient.Duplicates) == 0:
		return complain(b.sinceMend(dialect.UpsertKey), "%s has no INSERT that changes the row which it meets", b.pkg.Engine)
	default:
		u.looks = true
	}
	before := errs.Len()
	b.chooseChanges(u, errs)
	if why := b.unseen(u); u.looks && why != "" {
		hint := "Add a unique key over plain columns and name it by key=; "
		switch {
		case b.can(dialect.UpsertAnyKey) && u.only != nil && b.meetsByOne():
			hint = "Nothing has to be looked for without update_if; or a condition in what is written leaves values as they are: qgen:on update set \"if(…, {new}.priority, priority)\". Or add a unique key over plain columns, and name it by key=; "
		case b.can(dialect.UpsertAnyKey):
			hint = "Nothing has to be looked for where a job can meet rows by one unique key alone: let the database fill in the columns of the others. Or add a unique key over plain columns, and name it by key=; "
		}
		complain(hint+otherwise, "%s looks for the row before it changes that, and cannot: %s %s", b.pkg.Engine, u.key.text(), why)
	}
	for _, c := range u.changes {
		if u.looks && c.optional() && b.rule(c.column).Whole != "" {
			errs.Errorf(c.column.Pos, "column %q may be null, and %s takes no long %s in an expression, which would leave the column as it is where the job has none", c.column.Name, b.d.Title, c.column.Type.Raw).
				WithHint("Make the column NOT NULL; or say qgen:on update set old there, and a row that is there keeps what it has.")
		}
	}
	if errs.Len() > before {
		return nil
	}
	if len(u.changes) == 0 {
		return complain("Say enqueue=absent; or say what changes: qgen:on update set ….",
			"Enqueue has nothing to change of a row that is there: what a new job has besides %s stays as it is", u.key.list())
	}
	return u
}

// meetsByOne reports whether no job can meet rows by several unique keys, also where the caller gives
// what the database would make for each row.
func (b *builder) meetsByOne() bool {
	return len(b.keysUnless(func(c *schema.Column) bool {
		f := b.fields[c]
		return b.differs(c) && (f == nil || !f.New)
	})) == 1
}

// chosenKey returns the unique key by which rows meet; nil after a complaint.
func (b *builder) chosenKey(keys []*keyInWay, errs *source.ErrorList) *keyInWay {
	said := b.spec.Upsert
	var texts []string
	for _, k := range keys {
		texts = append(texts, k.text())
	}
	switch {
	case said.Key != "":
		i := slices.IndexFunc(keys, func(k *keyInWay) bool { return b.isKey(k, said.Key) })
		if i < 0 {
			errs.Errorf(said.KeyPos, "%q names no unique key by which a new job can meet a row", said.Key).
				WithHint("There is %s. Write the name, or the columns in double quotes: key=\"%s\".", strings.Join(texts, "; "), keys[len(keys)-1].list())
			return nil
		}
		return keys[i]
	case len(keys) > 1:
		errs.Errorf(said.Pos, "a new job can meet rows by %d unique keys, and enqueue=update goes by one: %s", len(keys), strings.Join(texts, "; ")).
			WithHint("Name the one by which the row is found that is changed, or its columns: key=\"%s\". A job that meets a row by another alone is an error, as ever.", keys[len(keys)-1].list())
		return nil
	}
	return keys[0]
}

// isKey reports whether people call a unique key so: by its name, or by its columns in any order.
func (b *builder) isKey(k *keyInWay, called string) bool {
	if k.name != "" && (called == k.name || b.d.Fold(called) == k.name) {
		return true
	}
	sorted := func(list string) []string {
		var parts []string
		for part := range strings.SplitSeq(list, ",") {
			parts = append(parts, normal(part))
		}
		slices.Sort(parts)
		return parts
	}
	return slices.Equal(sorted(called), sorted(k.list()))
}

// holding are the roles of columns that tell the state of a row, or who has it: what a new job has
// in them is not meant for a row that is there.
var holding = []string{"status", "lease", "claimed", "visible", "heartbeat", "worker", "token", "version", "attempts", "finished", "enqueued", "seq", "group", "shard"}

// chooseChanges sets what is written to the row: what qgen:on says, and what the job has.
func (b *builder) chooseChanges(u *upsert, errs *source.ErrorList) {
	said := map[*schema.Column]queue.Value{}
	for _, w := range b.spec.Transitions[queue.Update].Writes {
		said[w.Column] = w.Value
		for _, k := range u.key.columns {
			if k.Column == w.Column || k.Column == nil && source.Mentions(k.Expr, w.Column.Name) {
				errs.Errorf(w.Value.Pos, "column %q belongs to the unique key by which the row is found, %s", w.Column.Name, u.key.text()).
					WithHint("With another value it would not be found any more. Leave it out.")
			}
		}
		for _, c := range b.newNames(w.Value.Text) {
			if w.Value.Kind == queue.SQLExpr && !slices.ContainsFunc(u.news, func(n newColumn) bool { return n.column == c }) {
				errs.Errorf(w.Value.Pos, "a new job brings nothing to column %q", c.Name).
					WithHint("NewJob does not have it, and no word writes it when a job is enqueued: qgen:on enqueue set arg:%s lets NewJob have it.", unexported(c.Name))
			}
		}
	}
	if u.only != nil {
		for _, c := range b.newNames(u.only.SQL) {
			if !slices.ContainsFunc(u.news, func(n newColumn) bool { return n.column == c }) {
				errs.Errorf(u.only.Pos, "a new job brings nothing to column %q", c.Name).
					WithHint("NewJob does not have it, and no word writes it when a job is enqueued: qgen:on enqueue set arg:%s lets NewJob have it.", unexported(c.Name))
			}
		}
	}
	var left []string
	for _, c := range b.spec.Table.Columns {
		i := slices.IndexFunc(u.news, func(n newColumn) bool { return n.column == c })
		v, ok := said[c]
		switch {
		case ok:
			u.changes = append(u.changes, change{newColumn: newColumn{column: c}, said: &v})
		case i < 0 || u.news[i].field == nil, slices.Contains(b.spec.Key, c), slices.Contains(b.spec.Upsert.Stays, c):
		case slices.ContainsFunc(u.key.columns, func(k schema.IndexColumn) bool { return k.Column == c }):
		case slices.ContainsFunc(b.roles[c].Roles, func(r queue.Role) bool { return slices.Contains(holding, r.Verb) }):
			left = append(left, plainText(c.Name))
		default:
			u.changes = append(u.changes, change{newColumn: u.news[i]})
		}
	}
	if len(left) > 0 {
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("enqueue=update leaves what a row that is there has in %s, for that tells its state or who may take it; qgen:on update set \"{new}.%s\" writes what the job has", strings.Join(left, ", "), left[0]))
	}
}

// newNames returns the columns behind {new} in an expression.
func (b *builder) newNames(text string) (columns []*schema.Column) {
	for _, name := range queue.NewColumns(text) {
		if c := b.spec.Named(name); c != nil {
			columns = append(columns, c)
		}
	}
	return columns
}

// unseen says why the row that a job meets cannot be looked for, "" where it can.
func (b *builder) unseen(u *upsert) string {
	ready := b.normalTests(b.spec.States[queue.Ready])
	for _, k := range u.key.columns {
		switch {
		case k.Column == nil:
			return "is over an expression"
		case k.Column.Generated:
			return fmt.Sprintf("holds column %q, which the database computes", k.Column.Name)
		case k.Length > 0:
			return fmt.Sprintf("holds the beginning of column %q alone", k.Column.Name)
		case k.Column.Type.Class == schema.Timestamp || k.Column.Type.FillsUp():
			return fmt.Sprintf("holds column %q, which may round what it is given, or fill it up", k.Column.Name)
		}
	}
	for _, part := range u.key.conditions(b) {
		given := func(k schema.IndexColumn) bool { return part == normal(b.d.Ident(k.Column.Name))+"isnotnull" }
		if !slices.Contains(ready, part) && !slices.ContainsFunc(u.key.columns, given) {
			return "leaves rows out, and nobody knows whether a new job is among them"
		}
	}
	switch {
	case b.writesLockless():
		return "names a row that the engine " + b.spec.Table.Engine + " does not lock"
	case len(b.spec.Key) == 0:
		return "names a row that has no key"
	}
	return ""
}

// onConflict has the statement that adds a row change the one that it meets.
func (s *scope) onConflict(v *values, u *upsert, autoKey bool) {
	s.prefix = s.qualified()
	if s.mayBeCalled("excluded") {
		v.Alias = s.d.Fold(queueAlias)
		s.prefix = v.Alias + "."
	}
	v.Conflict = &conflict{}
	form := s.d.Fragments["new_value"].At(s.version)
	if strings.Contains(form, "{new}") {
		v.Conflict.New = s.alias("new")
	}
	s.newValue = func(c *schema.Column) string {
		return dialect.Fill(form, "new", v.Conflict.New, "column", s.d.Ident(c.Name))
	}
	for _, k := range u.key.columns {
		if k.Column == nil {
			v.Conflict.Columns = append(v.Conflict.Columns, "("+k.Expr+")")
		} else {
			v.Conflict.Columns = append(v.Conflict.Columns, s.d.Ident(k.Column.Name))
		}
	}
	v.Conflict.Where = oneSpaced(u.key.where)
	var list []assignment
	for _, c := range u.changes {
		var text string
		switch {
		case c.said != nil:
			text = s.assigned(queue.Write{Column: c.column, Value: s.overRow(*c.said)})
		case s.otherwise(c.newColumn) != "": // the new row has that where the job has nothing
			_, given := s.brings(c.newColumn)
			text = "coalesce(" + given + ", " + s.column(c.column) + ")"
		case c.optional():
			text = "coalesce(" + s.newValue(c.column) + ", " + s.column(c.column) + ")"
		default:
			text = s.newValue(c.column)
		}
		list = append(list, assignment{c.column, text})
	}
	if u.only != nil {
		v.Conflict.Only = []string{s.raw(s.overRow(queue.Value{Kind: queue.SQLExpr, Text: u.only.SQL}).Text)}
	}
	s.inTurn = true
	v.Set = s.assign(list)
	if autoKey {
		key := s.spec.Key[0]
		v.Set = append(v.Set, s.d.Ident(key.Name)+" = "+dialect.Fill(s.d.Fragments["tell_key"].At(s.version), "column", s.column(key)))
	}
	s.prefix = ""
}

// overRow returns a value in which columns that stand alone are those of the row that is there:
// the new row has columns of the same names.
func (s *scope) overRow(v queue.Value) queue.Value {
	if v.Kind != queue.SQLExpr {
		return v
	}
	var out strings.Builder
	var selects []bool // of each parenthesis that is open, and of those around it
	done, before := 0, ""
	places, pieces := queue.PlacesOf(v.Text), queue.PiecesOf(v.Text)
	for i, at := range places {
		piece, behind := pieces[i], ""
		if i+1 < len(pieces) {
			behind = pieces[i+1]
		}
		inside := len(selects) > 0 && selects[len(selects)-1]
		switch {
		case piece == "(":
			selects = append(selects, inside || strings.EqualFold(behind, "select"))
		case piece == ")" && len(selects) > 0:
			selects = selects[:len(selects)-1]
		case inside || !pieces.IsName(i) || strings.Contains(piece, ".") || behind == "(" || before == ":" || before == "." || strings.EqualFold(before, "as"):
		default:
			if c := s.spec.Named(piece); c != nil {
				out.WriteString(v.Text[done:at[0]] + s.column(c))
				done = at[1]
			}
		}
		before = piece
	}
	v.Text = out.String() + v.Text[done:]
	return v
}

// lookFor plans the statements that look for the row that a job meets, lock it, and change it.
func (b *builder) lookFor(e *Enqueue, u *upsert) {
	s, v := b.newScope(), b.base("Enqueue")
	s.newArgument = s.argumentOfNew
	v.Where = s.meets(u)
	v.Returning = s.read(b.pkg.Key)
	e.Lock = s.statement("enqueue_lock", "lock_one", v, b.pkg.Key, "enqueue: finds the row that is like the job in "+u.key.text(),
		"locks: the row, until commit; waits for who has it locked", "index: "+u.key.list())
	begin := func() {
		s, v = b.newScope(), b.base("Enqueue")
		s.newArgument = s.argumentOfNew
		s.newValue = func(c *schema.Column) string {
			value, _ := s.brings(u.news[slices.IndexFunc(u.news, func(n newColumn) bool { return n.column == c })])
			return value
		}
	}
	if u.only != nil {
		// A statement of its own, which sees the row as it is since it is locked; and what it returns
		// counts no rows, which servers do by whether anything of them changes.
		begin()
		v.Where = append(s.meets(u), s.raw(u.only.SQL))
		v.Returning = s.read(b.pkg.Key)
		e.Check = s.statement("enqueue_check", "lock_one", v, b.pkg.Key, "enqueue: returns the row that enqueue_lock.sql found, if update_if holds for it: else it is left alone",
			"locks: nothing more", "index: "+u.key.list())
	}
	begin()
	var list []assignment
	for _, c := range u.changes {
		var text string
		if c.said != nil {
			text = s.assigned(queue.Write{Column: c.column, Value: *c.said})
		} else if _, text = s.brings(c.newColumn); c.optional() {
			text = "coalesce(" + text + ", " + s.column(c.column) + ")"
		}
		list = append(list, assignment{c.column, text})
	}
	v.Set, v.Where = s.assign(list), s.meets(u)
	e.Update = s.statement("enqueue_update", "update_one", v, nil, "enqueue: changes the row that enqueue_lock.sql found",
		"locks: the row, until commit", "index: "+u.key.list())
}

// meets returns the conditions by which a row is like a new job in the key.
func (s *scope) meets(u *upsert) []string {
	var conditions, present []string
	for _, k := range u.key.columns {
		own, value := s.column(k.Column), "NULL"
		if i := slices.IndexFunc(u.news, func(n newColumn) bool { return n.column == k.Column }); i >= 0 {
			value, _ = s.brings(u.news[i])
		} else if text := s.fallback(k.Column); text != "" {
			value = text
		}
		condition := own + " = " + value
		if !k.Column.NotNull && (s.d.NullKeys == "alike" || s.d.NullKeys == "alike_beside" && len(u.key.columns) > 1) {
			condition = "(" + condition + " OR " + own + " IS NULL AND " + value + " IS NULL)"
			present = append(present, value+" IS NOT NULL")
		}
		conditions = append(conditions, condition)
	}
	if s.d.NullKeys == "alike_beside" && len(present) == len(conditions) {
		conditions = append(conditions, "("+strings.Join(present, " OR ")+")")
	}
	if u.key.where != "" {
		conditions = append(conditions, "("+oneSpaced(u.key.where)+")")
	}
	return conditions
}

// checkUpsert complains where there is no Enqueue that could change a row, and says what becomes of
// jobs that it changes.
func (b *builder) checkUpsert(errs *source.ErrorList) {
	said, u := b.spec.Upsert, b.upserts
	switch {
	case said == nil:
		return
	case b.pkg.Enqueue == nil && b.noEnqueue != "":
		errs.Errorf(said.Pos, "there is no Enqueue that could change rows: %s", b.noEnqueue).WithHint("Leave enqueue=update out.")
		return
	case u == nil:
		return // which has been said
	}
	note := func(format string, args ...any) { b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf(format, args...)) }
	where := ""
	if u.only != nil {
		where = ", where (" + oneSpaced(u.only.SQL) + "), and leaves it alone where that does not hold"
	}
	note("enqueue=update changes the row that is like a new job in %s%s: %s", u.key.text(), where, b.changed())
	if !b.memberKey(u) {
		note("enqueue=update changes also a row that qgen:where leaves out, if it is like a new job in %s", u.key.list())
	}
	if b.running != nil {
		note("enqueue=update looks at %s alone: a job that runs is a row of %s, and another is added beside it", plainText(b.spec.Table.QualifiedName()), plainText(b.running.spec.Table.QualifiedName()))
	}
	column, sure := b.freesRunning()
	switch fenced := b.turnsAway(); {
	case !b.meetsRunning():
	case b.upTo(queue.Running), b.upTo(queue.Claimed):
		note("whether the row of a job that runs is changed when it is enqueued again is up to update_if, and not known here")
	case sure:
		text := "warning: enqueue=update takes a job that runs from its worker, since qgen:on update writes column " + plainText(column.Name) + ": it may be claimed again while the first still has it"
		if b.pkg.Guarantee > queue.FenceStatus {
			text += ", who then gets ErrLost"
		}
		note("%s", text)
	case column != nil:
		note("what becomes of a job that runs when it is enqueued again is up to what qgen:on update writes to column %s, and not known here", plainText(column.Name))
	case fenced != nil:
		warning, then := "", "the job runs again when its claim has run out"
		if b.pkg.Recover == nil && (b.spec.Lease == nil || !b.spec.Lease.ByClaim) {
			warning, then = "warning: ", "the job stays running for good, since nothing tells that its claim has run out"
		}
		note("%sa worker whose job is enqueued again gets ErrLost, since qgen:on update writes column %s, by which it is told; %s", warning, plainText(fenced.Name), then)
	default:
		text := "warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job"
		if b.can(dialect.PartialIndex) && u.key.kind != primaryKey && b.tells(queue.Running) {
			text += "; where it has to run again, a unique index of rows that do not run (WHERE …) has Enqueue add another"
		}
		if i := slices.IndexFunc(b.spec.Columns, func(c *queue.Column) bool {
			return isVersion(c) && slices.Contains(b.spec.Fence.Columns, c.Column)
		}); i >= 0 {
			text += "; qgen:on update set +1 at column " + plainText(b.spec.Columns[i].Name) + " turns the worker away"
		}
		note("%s", text)
	}
	for _, name := range []queue.StateName{queue.Done, queue.Failed} {
		if c := b.staysEnded(u, name); c != nil {
			text := fmt.Sprintf("warning: a job that %s stays so when it is enqueued again, and is not run: qgen:on update set … at column %s says what else becomes of it", ended[name], plainText(c.Name))
			if b.can(dialect.PartialIndex) && u.key.kind != primaryKey {
				text += "; a unique index that leaves such rows out (WHERE …) has Enqueue add another"
			}
			note("%s", text)
		}
	}
}

// ended says of jobs that have ended how they did.
var ended = map[queue.StateName]string{queue.Done: "is done", queue.Failed: "has failed"}

// isVersion reports whether a column counts the changes of its row.
func isVersion(c *queue.Column) bool {
	return slices.ContainsFunc(c.Roles, func(r queue.Role) bool { return r.Verb == "version" })
}

// noteUpsertFlaw warns of a server that does not keep an index right which reads what Enqueue
// changes; it needs the indexes that are advised.
func (b *builder) noteUpsertFlaw() {
	if b.upserts == nil || !b.can(dialect.UpsertKey) || b.can(dialect.UpsertIndexes) {
		return
	}
	if ix := b.reads(b.upserts); ix != "" {
		b.pkg.Notes = append(b.pkg.Notes, "warning: "+b.d.Title+" "+b.d.Flawed[dialect.UpsertIndexes]+": here "+ix)
	}
}

// conditions are those that hold of each row which Enqueue changes, in a normal form.
func (u *upsert) conditions(b *builder) (list []condition) {
	if u.key.where != "" {
		list = b.conditionsOf(u.key.index)
	}
	if u.only != nil {
		for _, part := range conjuncts(rowThere.ReplaceAllString(u.only.SQL, "")) {
			list = append(list, condition{text: leaf(part), either: queue.Disjuncts(part)})
		}
	}
	return list
}

// rowThere finds what says that a column is of the row that is there, as it is without that.
var rowThere = regexp.MustCompile(`\{\s*row\s*\}\s*\.\s*`)

// upTo reports whether update_if speaks of the columns that tell a state, so that whoever wrote it has
// thought of rows of that, whatever becomes of them.
func (b *builder) upTo(name queue.StateName) bool {
	u := b.upserts
	return u.only != nil && b.tells(name) && slices.ContainsFunc(b.spec.States[name].Tests, func(t queue.Test) bool {
		return slices.ContainsFunc(t.Alternatives(), func(t queue.Test) bool { return t.Column != nil && source.Mentions(u.only.SQL, t.Column.Name) })
	})
}

// memberKey reports whether all rows that may be changed are jobs of the queue.
func (b *builder) memberKey(u *upsert) bool {
	var parts []string
	for _, c := range u.conditions(b) {
		parts = append(parts, c.text)
	}
	return !slices.ContainsFunc(b.newScope().tests(b.spec.Members), func(t string) bool { return !slices.Contains(parts, normal(t)) })
}

// changed says what Enqueue writes to a row that is there.
func (b *builder) changed() string {
	s := b.newScope()
	s.settle.named = true
	var texts []string
	for _, c := range b.upserts.changes {
		name := s.d.Ident(c.column.Name)
		switch {
		case c.said != nil:
			texts = append(texts, name+" = "+s.assigned(queue.Write{Column: c.column, Value: *c.said}))
		case c.optional():
			texts = append(texts, name+" = {"+c.field.Param+"} unless nil")
		default:
			texts = append(texts, name+" = {"+c.field.Param+"}")
		}
	}
	return s.readable(texts, ", ")
}

// meetsState reports whether a row of a state may be the one that a job meets, as far as can be
// told: what the database computes for a key may be null in some states.
func (b *builder) meetsState(name queue.StateName) bool {
	computed := func(k schema.IndexColumn) bool {
		if k.Column != nil {
			return k.Column.Generated && !k.Column.NotNull
		}
		return slices.ContainsFunc(b.stateTests(name), func(t queue.Test) bool { return t.Column != nil && source.Mentions(k.Expr, t.Column.Name) })
	}
	if !b.tells(name) || slices.ContainsFunc(b.upserts.key.columns, computed) {
		return false
	}
	parts := b.upserts.conditions(b)
	return !slices.ContainsFunc(b.spec.States[name].Tests, func(t queue.Test) bool {
		return len(t.Or) == 0 && t.Column != nil && slices.ContainsFunc(parts, func(c condition) bool { return len(c.either) < 2 && b.leavesOut(c.text, t) })
	})
}

// leavesOut reports whether no row that passes a test meets the part of a predicate, as far as
// can be told.
func (b *builder) leavesOut(part string, t queue.Test) bool {
	rest, ok := strings.CutPrefix(part, normal(b.d.Ident(t.Column.Name)))
	if !ok {
		return false
	}
	var values []string
	for _, v := range t.Values {
		if v.Kind != queue.Literal {
			return rest == "isnull" && t.Op == queue.NotNull
		}
		values = append(values, normal(b.newScope().literal(t.Column, v.Text)))
	}
	among := func(list string) func(string) bool {
		return func(v string) bool { return slices.Contains(listed.FindAllString(list, -1), v) }
	}
	list, isList := strings.CutPrefix(rest, "in")
	one, isOne := strings.CutPrefix(rest, "=")
	switch {
	case rest == "isnull":
		return t.Op == queue.NotNull || t.Op == queue.In
	case rest == "isnotnull":
		return t.Op == queue.IsNull
	case t.Op != queue.In || len(values) == 0:
	case isOne:
		return constants.MatchString(one) && !slices.Contains(values, one)
	case isList:
		return constants.MatchString(list) && !slices.ContainsFunc(values, among(list))
	case strings.HasPrefix(rest, "<>"), strings.HasPrefix(rest, "!="):
		return !slices.ContainsFunc(values, func(v string) bool { return v != rest[2:] })
	}
	return false
}

// constants finds a text in a normal form that is nothing but constants with commas between.
var constants = regexp.MustCompile(`^(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?|true|false)(?:,(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?|true|false))*$`)

// listed are the constants of a list in a normal form.
var listed = regexp.MustCompile(`'(?:[^']|'')*'|[^',]+`)

// meetsRunning reports whether a job may meet the row of one that somebody has.
func (b *builder) meetsRunning() bool {
	switch {
	case b.pkg.Strategy == "hold", b.pkg.Strategy == "pop", b.running != nil:
		return false
	case b.side != nil, !b.hasRunning():
		return true
	}
	return b.meetsState(queue.Running) || b.meetsState(queue.Claimed)
}

// freesRunning returns the column in which qgen:on leaves the row of a job that runs in another
// state; sure says that it does, else it may.
func (b *builder) freesRunning() (*schema.Column, bool) {
	for _, w := range b.spec.Transitions[queue.Update].Writes {
		for _, t := range b.spec.Held {
			if t.Column != w.Column {
				continue
			}
			switch w.Value.Kind {
			case queue.Literal, queue.Null:
				null := w.Value.Kind == queue.Null
				taken := slices.ContainsFunc(t.Values, func(v queue.Value) bool { return v.Same(w.Value) })
				if t.Op == queue.In && !taken || t.Op == queue.NotNull && null || t.Op == queue.IsNull && !null || t.Op == queue.NotIn && taken {
					return w.Column, len(t.Or) == 0
				}
			default:
				return w.Column, false
			}
		}
	}
	return nil, false
}

// turnsAway returns the column of the fence that qgen:on writes to a row that is there, nil where
// it writes none.
func (b *builder) turnsAway() *schema.Column {
	for _, f := range b.compared() {
		if c := b.columnOf(f); c != nil && b.writes(queue.Update, c) {
			return c
		}
	}
	return nil
}

// staysEnded returns a column that tells a job of a state in which it has ended, and in which it
// stays when it is enqueued again; nil where there is none.
func (b *builder) staysEnded(u *upsert, name queue.StateName) *schema.Column {
	if !b.meetsState(name) || b.spec.Cycle != nil || b.upTo(name) {
		return nil
	}
	var told *schema.Column
	for _, t := range b.spec.States[name].Tests {
		switch {
		case t.Column == nil:
		case slices.ContainsFunc(u.changes, func(c change) bool { return c.column == t.Column }):
			return nil
		case told == nil:
			told = t.Column
		}
	}
	return told
}

// reads names an index whose predicate or expression reads a column that Enqueue changes, "" where
// none does.
func (b *builder) reads(u *upsert) string {
	for _, ix := range b.spec.Table.Indexes {
		text := ix.Where
		for _, c := range ix.Columns {
			text += " " + c.Expr
		}
		for _, c := range u.changes {
			if source.Mentions(text, c.column.Name) {
				return plainText(ix.Name) + " and column " + plainText(c.column.Name)
			}
		}
	}
	for _, ix := range b.pkg.Indexes {
		_, where, _ := strings.Cut(ix.DDL, "WHERE")
		for _, c := range u.changes {
			if source.Mentions(where, c.column.Name) {
				return plainText(ix.Name) + " and column " + plainText(c.column.Name)
			}
		}
	}
	return ""
}

// docUpsert writes the comments of Enqueue and EnqueueMany that change a row which is there.
func (b *builder) docUpsert(e *Enqueue) {
	happens, none, some := "With a Queue on the caller's transaction that happens when it commits.", "After an error nothing of it is done.", "all of it done or nothing"
	locks := "It waits for a transaction that adds, changes or deletes a row of the same unique key."
	if b.writesLockless() {
		happens, none, some = "That happens at once, with a Queue on the caller's transaction, too.", "After an error a part of it may have been done.", "a part of it done"
		locks = alone
	}
	locks = b.locksOfWrite(locks)
	u := b.upserts
	var given, gets []string
	optional := false
	s := b.newScope()
	s.settle.named = true
	s.newValue = func(c *schema.Column) string {
		if f := b.fields[c]; f.New {
			return "job." + f.Name
		}
		return "{new}." + b.d.Ident(c.Name)
	}
	for _, c := range u.changes {
		if c.said == nil {
			given, optional = append(given, c.field.Name), optional || c.optional()
			continue
		}
		gets = append(gets, s.readable([]string{s.d.Ident(c.column.Name) + " = " + s.assigned(queue.Write{Column: c.column, Value: *c.said})}, ""))
	}
	if len(given) > 0 {
		text := "what the job has in " + enumerated(given)
		if optional {
			text += ", where that is not nil"
		}
		gets = append([]string{text}, gets...)
	}
	among, state := "", ", whatever its state"
	if u.only != nil {
		state = " where update_if holds for it"
	}
	if u.key.where != "" {
		among = ", of those where " + plainText(oneSpaced(u.key.where))
		if u.only == nil {
			state = ""
		}
	}
	one := "Enqueue adds a job, " + b.addedState(b.readyWhen(e)) + ", unless a row is like it in " + u.key.list() + among +
		". That is changed in its place" + state + ": it gets " + strings.Join(gets, "; ") + ". All else of it stays as it is."
	if u.only != nil {
		one += " A row for which " + s.readable([]string{s.raw(u.only.SQL)}, "") + " does not hold is left alone, which is no error."
	}
	many := "EnqueueMany does with each of the jobs what Enqueue does, in their order: of two that are alike the later has the last word."
	switch {
	case e.tellsKey() && e.Spares:
		one += " It returns the key of the row, new or not, and whether it has written one; where it has left one alone, the key is the zero value."
		many += " It returns, in the order of news, the keys and for which of the jobs a row was written."
	case e.tellsKey():
		one += " It returns the key of the row, new or not."
		many += " It returns the keys in the order of news."
	case e.Spares:
		one += " It tells whether it has written a row, new or not."
		many += " It tells in the order of news for which of the jobs a row was written."
	}
	const unknown = " When the connection breaks before the answer comes, it may have been done all the same."
	e.Doc = append([]string{one + " " + happens}, b.meanwhile()...)
	e.Doc = append(e.Doc, locks+" A crash leaves it done or not."+unknown)
	e.ManyDoc = []string{many + " " + none, locks + " A crash leaves " + some + "." + unknown}
}

// meanwhile says what becomes of a job that runs, or has ended, when it is enqueued again; none
// where there is nothing to say.
func (b *builder) meanwhile() []string {
	var texts []string
	column, sure := b.freesRunning()
	switch {
	case b.pkg.Strategy == "hold":
		texts = append(texts, "While a job runs its row is locked, and Enqueue of one that is like it waits until it has ended.")
	case !b.meetsRunning():
	case sure:
		texts = append(texts, "A job that runs is taken from its worker by what that writes to "+plainText(column.Name)+", and may be claimed again while the first still has it.")
	case column != nil:
		texts = append(texts, "What becomes of a job that runs is up to what that writes to "+plainText(column.Name)+".")
	case b.turnsAway() != nil:
		texts = append(texts, "The worker of a job that runs is turned away with ErrLost.")
	default:
		texts = append(texts, "A job that runs goes on with what its claim has read, and Complete ends it: what is written meanwhile is not run.")
	}
	if len(texts) > 0 && b.pkg.Strategy != "hold" && (b.upTo(queue.Running) || b.upTo(queue.Claimed)) {
		texts[0] = "Where that holds for it: " + texts[0]
	}
	for _, name := range []queue.StateName{queue.Done, queue.Failed} {
		if b.staysEnded(b.upserts, name) != nil {
			texts = append(texts, "A job that "+ended[name]+" stays so.")
		}
	}
	if len(texts) > 0 {
		return []string{strings.Join(texts, " ")}
	}
	return nil
}

// explainUpsert tells from which states Enqueue changes a row, and what becomes of these.
func (b *builder) explainUpsert() (from, to string) {
	var states []string
	for _, name := range queue.StateNames {
		ready := name == queue.Ready && (b.upserts.only == nil || !b.tells(name) || b.meetsState(name))
		if ready || name != queue.Ready && b.running == nil && b.meetsState(name) {
			states = append(states, string(name))
		}
	}
	to = "as it was"
	if ready := b.spec.States[queue.Ready]; slices.ContainsFunc(ready.Tests, func(t queue.Test) bool { return t.Column != nil && b.writes(queue.Update, t.Column) }) {
		to = "as it writes"
	}
	return strings.Join(states, ", "), to
}
