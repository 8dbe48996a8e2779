package queue

// This file reads a token that another table gives: each claim adds one row there, for
// all its jobs, and the key that the database gives the row is their token.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// batchExample is how such a row is said.
const batchExample = "also: {claim: [{insert: claims, values: {created_at: now}}]}"

// batchWord returns the word that asks for such a token, nil where nothing does.
func (b *binding) batchWord() *word { return b.claims.token.annotationOf().word("from") }

// wantsBatch complains about such a token where a claim adds no rows at all.
func (b *binding) wantsBatch() {
	switch w := b.batchWord(); {
	case w == nil:
	case b.isAway():
		b.errorf(w.pos, "a claim that moves rows to table %q makes its token itself", b.table.QualifiedName()).WithHint("Leave from= out.")
	case !slices.ContainsFunc(b.config.Also, func(a config.Also) bool { return a.Transition.Value == string(Claim) }):
		b.noBatch(w.pos, nil)
	}
}

// batchOf returns which of the companions of a claim is the row whose key is the token,
// and that key; -1 where nothing asks for one, and after a complaint.
func (b *binding) batchOf(from []config.Companion) (int, *schema.Column) {
	w := b.batchWord()
	if w == nil || b.isAway() {
		return -1, nil
	}
	var found []int
	for i, c := range from {
		if _, why := b.batchKey(c); c.Insert.IsSet() && why == "" {
			found = append(found, i)
		}
	}
	// What is added for each job may have keys of its own.
	if once := slices.DeleteFunc(slices.Clone(found), func(i int) bool { return speaksOfJob(from[i]) }); len(once) > 0 {
		found = once
	}
	switch len(found) {
	case 1:
		key, _ := b.batchKey(from[found[0]])
		return found[0], key
	case 0:
		b.noBatch(w.pos, from)
	default:
		first, second := from[found[0]].Insert, from[found[1]].Insert
		b.errorf(second.Pos, "rows of %s and of %s are added with keys that the database makes, and nothing says which is the token", first.Value, second.Value).
			WithHint("One row is added for a claim, whose key is the token; the others are added for each of its jobs, and hold something of the job: claim_id: token.")
	}
	return -1, nil
}

// batchKey returns the key that the database gives to a row that is inserted, or why it
// gives none.
func (b *binding) batchKey(c config.Companion) (key *schema.Column, why string) {
	if !c.Insert.IsSet() {
		return nil, ""
	}
	found := b.catalog.Lookup(c.Insert.Value, b.fold)
	switch {
	case c.Insert.Value == "self", slices.Contains(found, b.table):
		return nil, "a row of the queue's own table is a job"
	case len(found) != 1:
		return nil, "the DDL has no one table " + c.Insert.Value
	}
	t := found[0]
	if t.PrimaryKey == nil || len(t.PrimaryKey.Columns) != 1 {
		return nil, t.QualifiedName() + " has no primary key of one column"
	}
	key = t.PrimaryKey.Columns[0]
	_, fixed := constant(key.Default)
	switch {
	case slices.ContainsFunc(c.Values, func(v config.Value) bool { return columnOf(t, v.Column.Value, b.fold) == key }):
		return nil, "values say what column " + key.Name + " of " + t.QualifiedName() + " gets"
	case !key.Identity && (!key.HasDefault || fixed):
		return nil, "the database does not make the key " + key.Name + " of " + t.QualifiedName()
	}
	return key, ""
}

// noBatch complains that no companion of a claim is the row whose key is the token.
func (b *binding) noBatch(pos source.Pos, from []config.Companion) {
	e := b.errorf(pos, "no row that a claim adds gives column %q its token", b.claims.token.column.Name)
	for _, c := range from {
		if _, why := b.batchKey(c); why != "" {
			e.Msg += ": " + why
			break
		}
	}
	e.WithHint("Say in qgen.yaml which row each claim adds, and leave its primary key to the database: %s. The table's DDL has to be among the schema files.", batchExample)
}

// speaksOfJob reports whether a companion cannot be written without a job.
func speaksOfJob(c config.Companion) bool {
	return slices.ContainsFunc(c.Values, func(v config.Value) bool { return isOfJob(v.Value.Value) })
}

// isOfJob reports whether a value is that of a job.
func isOfJob(text string) bool {
	return text == "token" || partForm.MatchString(text) || strings.Contains(text, "{row}")
}

// checkBatch complains where the key of the row cannot be the token.
func (b *binding) checkBatch(c *Companion, from config.Companion) {
	token, pos := b.claims.token.column, b.batchWord().pos
	if from.When.IsSet() {
		b.errorf(from.When.Pos, "one row of %s is added for all jobs of a claim, so nothing can be asked of one of them", c.QualifiedName()).
			WithHint("Leave when: out.")
	}
	x, y := c.Key.Type, token.Type
	holds := x.Class == y.Class && x.Array == y.Array && token.Values == nil
	switch {
	case x.Loose && y.Loose:
	case x.Class == schema.Int:
		// Of 64 bits no database counts as far as the sign.
		narrow := x.Unsigned && !y.Unsigned && x.Bits == y.Bits && x.Bits < 64
		holds = holds && !narrow && atLeast(y.Bits, x.Bits) && atLeast(y.Digits, x.Digits)
	case x.Class != schema.UUID:
		b.errorf(pos, "the key %s of %s is %s, and a token from there is a number or a uuid", c.Key.Name, c.QualifiedName(), orWord(x.Raw, "without type")).
			WithHint("Let the token be made by the claim: leave from= out.")
		return
	}
	if !holds {
		b.errorf(pos, "column %q is %s, which does not hold every key of %s: its %s is %s", token.Name, orWord(y.Raw, "without type"), c.QualifiedName(), c.Key.Name, orWord(x.Raw, "without type")).
			WithHint("Give both columns one type, or let the token be made by the claim: leave from= out.")
		return
	}
	if c.Key.Reused {
		b.errorf(c.Key.Pos, "column %q of %s gets numbers of deleted rows again, so that a worker that comes late could take a claim for its own", c.Key.Name, c.QualifiedName()).
			WithHint("Write INTEGER PRIMARY KEY AUTOINCREMENT, so that no number comes twice.")
	}
	for _, v := range b.claims.free[b.claims.token] {
		if n, err := strconv.Atoi(v.Text); v.Kind == Literal && err == nil && n > 0 && c.Key.Identity {
			b.errorf(pos, "%d stands for no claim, and a row of %s can have that key", n, c.QualifiedName()).
				WithHint("Let free= be a value that is no key: free=0 or free=null.")
		}
	}
}

// atLeast reports whether a column of so many bits or digits holds what another does; 0 is
// unknown.
func atLeast(have, need int) bool { return have == 0 || need != 0 && have >= need }
