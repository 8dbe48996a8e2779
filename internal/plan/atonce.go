package plan

// This file writes a step that writes other tables as well as one statement, where the server
// takes sub-statements that write.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// besideWrite is a sub-statement that writes another table.
type besideWrite struct {
	beside
	Verb  string // insert, update or delete
	Name  string
	Where []string
}

// isOne reports whether a step over claimed jobs, whose rows the statement may lock, and what it
// writes to other tables can be one statement, in which every part sees the tables as they were when
// it began: it looks at nothing but the rows that it writes itself, writes no row twice, and no
// trigger looks either. Of rows that others have changed meanwhile it finds what they hold now.
func (b *builder) isOne(t *queue.Transition) bool {
	event := "update"
	if t.Delete {
		event = "delete"
	}
	own := b.spec.Table
	switch {
	case len(t.With) == 0, !b.can(dialect.WritingWith), !b.batches("arrays"), !b.canReturnFresh(), b.rows != nil,
		own.View, mayFire(own, event), b.movesKey(t.Name), len(locked(b.leaving(t))) < len(b.leaving(t)):
		return false
	case slices.ContainsFunc(b.pkg.Key, func(f *Field) bool { return f.RowID }), len(b.refreshedBy(t)) > 0:
		return false
	}
	verbs := map[*schema.Table]string{}
	for _, c := range t.With {
		if c.Key != nil || c.Known == nil || c.Known == own || c.Known.View || c.Counts() && !countsByJob(c) || mayFire(c.Known, c.Verb) || !b.looksNowhere(c.When) {
			return false
		}
		if verb := verbs[c.Known]; verb != "" && verb+c.Verb != "insertinsert" {
			return false // what one part has written another does not see
		}
		if t.Delete && b.mayLeave(c) {
			return false
		}
		verbs[c.Known] = c.Verb
		for _, v := range slices.Concat(c.Set, c.Where) {
			if v.Value.Kind == queue.SQLExpr && !b.looksNowhere(v.Value.Text) {
				return false
			}
			if of := v.Value.Other; !t.Delete && of != nil && !b.outlasts(t, of) {
				return false
			}
		}
	}
	return true
}

// countsByJob reports whether an entry that adds something for each job is one update, of rows that
// the jobs tell: where no job is left, nothing is added up.
func countsByJob(c *queue.Companion) bool {
	return len(parted([]*queue.Companion{c})) == 1 && slices.ContainsFunc(c.Where, func(w queue.CompanionValue) bool { return w.OfJob && !fixed(w) })
}

// mayLeave reports whether an entry of a step that deletes the row of its job may leave others behind that
// name that row. Who adds one, by a foreign key or by a lock of its own, may hold the row when the statement
// begins, which waits and then does not see what was added meanwhile: the server refuses it, or the other row
// stays for ever. Statements of their own see it, behind the one that locks the row. Counts and the like, found
// by what several jobs may have, are no matter of that row; nor does who adds a row that names one which
// stays wait for a step that leaves its key alone, in whatever form that is.
func (b *builder) mayLeave(c *queue.Companion) bool {
	if c.Verb != "update" {
		return c.Verb == "delete"
	}
	own := b.spec.Table
	return slices.ContainsFunc(c.Where, func(w queue.CompanionValue) bool {
		of := w.Value.Other
		inKey := func(k *schema.Key) bool { return slices.Contains(k.Columns, of) }
		return w.OfJob && !fixed(w) && (of == nil || slices.Contains(b.spec.Key, of) ||
			own.PrimaryKey != nil && inKey(own.PrimaryKey) || slices.ContainsFunc(own.Uniques, inKey))
	})
}

// mayFire reports whether a trigger may look at what a statement does, or change it.
func mayFire(t *schema.Table, event string) bool {
	return slices.ContainsFunc(t.Triggers, func(g *schema.Trigger) bool {
		return !g.Disabled && (g.Events == nil || slices.Contains(g.Events, event))
	})
}

// refreshedBy are the fields of a job that a step reads back.
func (b *builder) refreshedBy(t *queue.Transition) []*Field {
	if t.Name != queue.Renew && t.Name != queue.Start {
		return nil
	}
	return b.refreshed(t)
}

// looksNowhere reports whether SQL of the user's surely reads no table.
func (b *builder) looksNowhere(text string) bool {
	p := queue.PiecesOf(text)
	for i, piece := range p {
		word := strings.ToLower(piece)
		if word == "select" || word == "table" {
			return false
		}
		called := i+1 < len(p) && p[i+1] == "(" && (p.IsName(i) || strings.HasPrefix(piece, `"`))
		if called && !slices.Contains(strings.Fields(b.d.ReadsNothing), word) {
			return false
		}
	}
	return true
}

// outlasts reports whether a row that a step has updated tells what it held before in a column.
func (b *builder) outlasts(t *queue.Transition, c *schema.Column) bool {
	return !c.Generated && (!slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return w.Column == c }) || b.asItWas() != "" || b.heldField(c) != nil)
}

// asItWas is what stands before a column that RETURNING shall give as it was, "" where it cannot.
func (b *builder) asItWas() string {
	was := ""
	if b.can(dialect.ReturningOld) {
		was = b.d.Fragments["was"].At(b.version)
	}
	if strings.EqualFold(b.spec.Table.Name+".", was) {
		return ""
	}
	return was
}

// heldField returns the field of a column that the step compares with what the claim left there.
func (b *builder) heldField(c *schema.Column) *Field {
	for _, f := range b.compared() {
		if !f.RowID && b.columnOf(f) == c {
			return f
		}
	}
	return nil
}

// writeBeside has a statement that writes the rows of a batch write other tables as well: what
// it returns of those is kept under a name, from which the others take their values. It returns false where
// these ask for what the rows do not tell any more.
func (s *scope) writeBeside(v *values, t *queue.Transition, rows, held []*Field) bool {
	prefix := s.prefix
	defer func() { s.prefix = prefix }()
	named := func(word string) string {
		name := s.alias(word)
		for slices.ContainsFunc(t.With, func(c *queue.Companion) bool { return strings.EqualFold(c.Table, name) }) {
			name += "_rows"
		}
		return name
	}
	v.Names.Row = named("held")
	s.prefix = v.Names.Row + "."
	names := map[string]string{"insert": named("added"), "update": named("changed"), "delete": named("deleted")}
	var texts []string
	for i, c := range t.With {
		v.Beside = s.besideOf(c)
		if c.Counts() {
			s.count(v, c)
		}
		a := besideWrite{beside: v.Beside, Verb: c.Verb, Name: names[c.Verb]}
		if n := slices.IndexFunc(t.With, func(o *queue.Companion) bool { return o.Verb == c.Verb }); n < i {
			a.Name += "_" + strconv.Itoa(i+1)
		}
		if c.When != "" {
			a.Where = []string{s.raw(c.When)}
		}
		v.Written = append(v.Written, a)
		texts = slices.Concat(texts, a.Values, a.Match, a.Fixed, a.Where, a.Counted, a.Groups)
	}
	s.prefix = prefix
	text := literals.ReplaceAllString(strings.Join(texts, " "), "''")
	for _, c := range s.spec.Table.Columns {
		name := s.d.Ident(c.Name)
		isKey := slices.ContainsFunc(rows, func(f *Field) bool { return f.Column == c.Name })
		switch f := s.heldField(c); {
		case !isKey && !source.Mentions(text, c.Name):
		case t.Delete || !slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return w.Column == c }):
			v.Taken = append(v.Taken, name)
			if !t.Delete && c.Generated {
				return false
			}
		case f != nil:
			v.Taken = append(v.Taken, v.Batch.Values[len(s.pkg.Key)+slices.Index(held, f)]+" AS "+name)
		case s.asItWas() != "":
			v.Taken = append(v.Taken, s.asItWas()+name+" AS "+name)
		default:
			return false
		}
	}
	for _, f := range s.settle.extra {
		if name := s.settle.carried[s.columnOf(f)].name; source.Mentions(text, strings.Trim(name, `"`)) {
			v.Taken = append(v.Taken, name)
		}
	}
	v.Returning = s.read(rows)
	return true
}

// extraOfAll is what comes with each job of a batch for the step and for what it writes to other tables.
func (b *builder) extraOfAll(name queue.TransitionName, t *queue.Transition, own []*Field) []*Field {
	add := func(f *Field) {
		if !slices.Contains(own, f) {
			own = append(own, f)
		}
	}
	for _, c := range t.With {
		for _, f := range b.carries(c) {
			add(f)
		}
		if name == queue.Finish {
			for _, f := range b.givenBeside(c) {
				add(f)
			}
		}
	}
	return own
}

// findsBeside says in a head comment which columns of other tables should be indexed, whose rows a step changes.
func (b *builder) findsBeside(t *queue.Transition) (text string) {
	for _, c := range t.With {
		if c.Verb != "insert" {
			text += b.findsText(c)
		}
	}
	return text
}

// besideText says in a head comment what else the statement of a step does.
func besideText(t *queue.Transition) string {
	var text string
	for _, does := range []struct{ verb, word string }{{"insert", "adds rows to"}, {"update", "changes rows of"}, {"delete", "deletes rows of"}} {
		var tables []string
		for _, c := range t.With {
			name := plainText(c.QualifiedName())
			switch {
			case c.Verb != does.verb:
			case c.Move:
				text += "; the rows go to " + name
			case !slices.Contains(tables, name):
				tables = append(tables, name)
			}
		}
		if len(tables) > 0 {
			text += "; " + does.word + " " + enumerated(tables)
		}
	}
	return text
}
