package plan

// This file tells which unique indexes keep jobs from being claimed together.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// noteCollisions notes every unique index in which a claim may put two rows that are alike:
// the server then refuses the claim of both, again and again.
func (b *builder) noteCollisions() {
	claim := b.spec.Transitions[queue.Claim]
	if claim == nil || !b.writesClaim() || b.side != nil || b.ready != nil || b.pkg.Strategy == "pop" {
		return
	}
	for _, ix := range b.spec.Table.Indexes {
		alike := b.collides(ix, claim)
		if len(alike) == 0 || b.groupedBy(alike) {
			continue
		}
		var names []string
		for _, c := range alike {
			names = append(names, plainText(c.Name))
		}
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf(
			"the unique index %s lets one row run of those that are alike in %s, and a claim of two such rows fails as a whole: qgen:group limit=1 there takes one of them",
			plainText(ix.Name), strings.Join(names, ", ")))
	}
}

// comeBack warns of each unique key that rows leave while they run, or when they fail: one that is made
// ready again may find a row like it there, which was added meanwhile. What makes it ready says so.
func (b *builder) comeBack() {
	waiting := cmp.Or(b.ready, b)
	if b.side != nil || b.offset != nil || waiting.pkg.Enqueue == nil {
		return
	}
	for _, k := range waiting.keysInWay() {
		var refused []string
		tell := func(name queue.TransitionName, op string, doc []string) {
			if t := b.spec.Transitions[name]; t != nil && b.entersAgain(k, t) {
				which := strings.TrimSpace(k.kind + " " + plainText(k.name))
				doc[0] += fmt.Sprintf(" It fails, for all of them, where one would be ready beside a row like it in %s, which the %s refuses.", k.list(), which)
				refused = append(refused, op)
			}
		}
		p := b.pkg
		if p.Retry != nil && b.spec.Retried == "" {
			tell(queue.Retry, "Fail", p.Retry.Doc)
		}
		if p.Requeue != nil {
			tell(queue.Release, "Requeue", p.Requeue.Doc)
		}
		for _, o := range p.Outcomes {
			if i := slices.IndexFunc(b.spec.Outcomes, func(said *queue.Outcome) bool { return exported(said.Name) == o.Method }); o.To == queue.Ready {
				tell(b.spec.Outcomes[i].Transition.Name, o.Method, o.Doc)
			}
		}
		if p.Recover != nil {
			tell(queue.Recover, "Recover", p.Recover.Doc)
		}
		if p.Redrive != nil {
			tell(queue.Redrive, "Redrive", p.Redrive.Doc)
		}
		if len(refused) == 0 {
			continue
		}
		mend := b.endsAlike(k, refused)
		if k.where != "" {
			mend = "; a predicate that holds of running rows as well keeps such a row from being added"
		}
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("warning: a row that is made ready again meets one that was added meanwhile and is like it in %s: %s fails then, for all rows of the call, until one of the two is gone%s", k.text(), alternatives(refused), mend))
	}
}

// endsAlike says what helps where a job that runs in another table is like one that was added meanwhile, "" where
// rows stay in their table.
func (b *builder) endsAlike(k *keyInWay, refused []string) string {
	if b.ready == nil {
		return ""
	}
	text := ""
	if called := slices.DeleteFunc(slices.Clone(refused), func(op string) bool { return op == "Recover" }); len(called) > 0 {
		text = "; " + alternatives(called) + " of one job at a time tells which it is, and Complete ends it"
	}
	ready := b.ready.spec
	if ready.EnqueueIf != nil || ready.Upsert != nil {
		return text
	}
	row, alike := b.alias("running"), []string{}
	for _, c := range k.columns {
		there := ready.Away.Running(c.Column)
		if c.Column == nil || there == nil {
			return text
		}
		alike = append(alike, row+"."+b.d.Ident(there.Name)+" = {new}."+b.d.Ident(c.Column.Name))
	}
	sql, quote := "not exists (select 1 from "+b.d.Qualified(b.spec.Table.Schema, b.spec.Table.Name)+" "+row+" where "+strings.Join(alike, " and ")+")", `"`
	if strings.Contains(sql, quote) {
		quote = "'"
	}
	return text + "; enqueue_if: " + quote + plainText(sql) + quote + " adds none while one like it runs"
}

// entersAgain reports whether a step that makes rows ready puts them under a unique key under which
// they were not before.
func (b *builder) entersAgain(k *keyInWay, t *queue.Transition) bool {
	if b.ready != nil {
		return k.kind != primaryKey // they were rows of another table, and told apart by that there, too
	}
	ready, before := b.normalTests(b.spec.States[queue.Ready]), b.normalTests(&queue.State{Tests: t.Tests})
	enters := false
	for _, part := range k.conditions(b) {
		switch {
		case !slices.Contains(ready, part):
			return false // as far as can be told
		case !slices.Contains(before, part):
			enters = true
		}
	}
	return enters || slices.ContainsFunc(t.Writes, func(w queue.Write) bool {
		had := slices.ContainsFunc(t.Tests, func(t queue.Test) bool {
			return t.Column == w.Column && len(t.Values) == 1 && t.Values[0].Same(w.Value)
		})
		return w.Value.Kind == queue.Literal && !had && slices.ContainsFunc(k.columns, func(c schema.IndexColumn) bool { return c.Column == w.Column })
	})
}

// collides returns the columns in which claimed rows must differ by an index into which
// the claim puts them, nil where it puts none into it that could be alike.
func (b *builder) collides(ix *schema.Index, claim *queue.Transition) []*schema.Column {
	if !ix.Unique {
		return nil
	}
	ready, running := b.normalTests(b.spec.States[queue.Ready]), b.normalTests(b.spec.States[b.takenState()])
	enters := false
	for _, part := range b.conditions(ix) {
		switch {
		case slices.Contains(ready, part):
		case slices.Contains(running, part):
			enters = true
		default:
			return nil // rows that the claim does not put there, as far as can be told
		}
	}
	var alike, all []*schema.Column
	for _, k := range ix.Columns {
		if k.Column == nil {
			return nil
		}
		all = append(all, k.Column)
		w := slices.IndexFunc(claim.Writes, func(w queue.Write) bool { return w.Column == k.Column })
		switch {
		case w < 0:
			alike = append(alike, k.Column)
		case claim.Writes[w].Value.Kind == queue.Literal:
			enters = true // rows that differed in it do so no more
		default:
			return nil
		}
	}
	if !enters || b.rowsDiffer(all) {
		return nil
	}
	return alike
}

// sharesNone returns the unique index by which no two rows that are claimed together may have
// one value in a column that a claim writes, nil when there is none.
func (b *builder) sharesNone(c *schema.Column) *schema.Index {
	for _, ix := range b.spec.Table.Indexes {
		var columns []*schema.Column
		holds := false
		for _, k := range ix.Columns {
			holds = holds || k.Column == c || k.Column == nil && source.Mentions(k.Expr, c.Name)
			columns = append(columns, k.Column)
		}
		if ix.Unique && holds && !b.rowsDiffer(columns) {
			return ix
		}
	}
	if b.running != nil && b.spec.Table.Column(c.Name) != c {
		return b.running.sharesNone(c)
	}
	return nil
}

// tokenEach reports whether a claim leaves a value of its own in each row: it names the row, or tells
// whether it still has its place, or a unique index refuses rows that share one.
func (b *builder) tokenEach(c *schema.Column) bool {
	return len(b.spec.Key) == 0 && !b.d.RowIdentity.Stable || b.rowToken != nil && b.rowToken.Column == c.Name || b.sharesNone(c) != nil
}

// noteTokenEach says why a claim leaves a value of its own in each row that has a key.
func (b *builder) noteTokenEach() {
	if b.spec.Token == nil || b.rowToken != nil || !b.hasRunning() || !b.writesClaim() {
		return
	}
	if ix := b.sharesNone(b.spec.Token); ix != nil {
		b.pkg.Notes = append(b.pkg.Notes, fmt.Sprintf("%s lets no two rows have one token: every claim leaves a fresh value in each row", b.uniqueIndex(ix)))
	}
}

// uniqueIndex names a unique index in a message.
func (b *builder) uniqueIndex(ix *schema.Index) string {
	if ix.Name == "" {
		return "a unique key"
	}
	return "the unique index " + plainText(ix.Name)
}

// canShareToken reports whether the rows of a batch can have one token, by which they are
// read back.
func (b *builder) canShareToken() (bool, string, string) {
	if len(b.spec.Key) == 0 && !b.d.RowIdentity.Stable {
		return false, "rows have no key, so that each has a token of its own, which cannot be the key of a batch", b.spec.AddKey() + "."
	}
	if ix := b.sharesNone(b.spec.Token); ix != nil {
		return false, b.uniqueIndex(ix) + " lets no two rows have one token, so that it cannot be the key of a batch",
			"Leave strategy= out: then every claim leaves a fresh value in each row."
	}
	return true, "", ""
}

// normalTests returns the tests of a state as predicates of indexes are compared.
func (b *builder) normalTests(state *queue.State) []string {
	if state == nil {
		return nil
	}
	var texts []string
	for _, text := range b.newScope().tests(state.Tests) {
		texts = append(texts, normal(text))
	}
	return texts
}

// rowsDiffer reports whether rows differ in some of the columns whatever is claimed.
func (b *builder) rowsDiffer(columns []*schema.Column) bool {
	t := b.spec.Table
	claim := b.spec.Transitions[queue.Claim]
	all := func(key []*schema.Column) bool {
		return !slices.ContainsFunc(key, func(c *schema.Column) bool {
			return !slices.Contains(columns, c) || slices.ContainsFunc(claim.Writes, func(w queue.Write) bool { return w.Column == c })
		})
	}
	if t.PrimaryKey != nil && all(t.PrimaryKey.Columns) {
		return true
	}
	return slices.ContainsFunc(t.Uniques, func(k *schema.Key) bool { return all(k.Columns) })
}

// groupedBy reports whether one row runs at a time of those that are alike in columns.
func (b *builder) groupedBy(columns []*schema.Column) bool {
	g := b.spec.Group
	return g != nil && g.Limit == 1 && !slices.ContainsFunc(g.Columns, func(c *schema.Column) bool { return !slices.Contains(columns, c) })
}
