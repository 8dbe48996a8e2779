package plan

// This file plans Backlog, which counts the rows that wait.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// waiting are the figures of Stats that are about rows that wait.
var waiting = []string{"Ready", "Delayed", "OldestReady"}

// buildBacklog plans Backlog. There is none beside claims of rows that their callers know, nor where it would
// tell nothing that Stats does not tell for as much.
func (b *builder) buildBacklog() {
	st, ready := b.pkg.Stats, cmp.Or(b.ready, b)
	if st == nil || len(ready.keysWithin(slices.Concat(ready.topics(), ready.named()))) > 0 {
		return
	}
	topics := ready.groupable()
	if len(topics) == 0 && !st.has("Done") && !st.has("Failed") {
		return
	}
	back, by := ready.backlog(topics)
	if back == nil {
		return
	}
	b.pkg.Backlog = back
	if by != "" {
		st.Doc[0] = strings.TrimSuffix(st.Doc[0], ".") + "; Backlog, which tells of what waits alone, costs less."
	}
}

// has reports whether there is a figure of some name.
func (s *Stats) has(name string) bool {
	return slices.ContainsFunc(s.Fields, func(f StatsField) bool { return f.Name == name })
}

// groupable returns the columns by which rows that wait are counted: those by whose values a claim is narrowed.
// Of columns that are compared by their order there may be as many values as rows; and so that a line is not
// about one row, the last column of a key is left out where the others are among them.
func (b *builder) groupable() (columns []*schema.Column) {
	for _, p := range b.spec.Params {
		byValue := slices.Contains([]queue.ParamKind{queue.Equal, queue.List, queue.Except}, p.Kind)
		if byValue && !slices.Contains(columns, p.Column) && !slices.Contains(b.d.Ungrouped, b.ruleName(p.Column.Type)) {
			columns = append(columns, p.Column)
		}
	}
	for {
		keys := append(b.keysWithin(columns), b.uniqueWithin(columns)...)
		if len(keys) == 0 {
			return columns
		}
		last := keys[0][len(keys[0])-1]
		columns = slices.DeleteFunc(columns, func(c *schema.Column) bool { return c == last })
	}
}

// uniqueWithin returns the columns of each unique index that are all among some, where no two ready rows are
// alike in them.
func (b *builder) uniqueWithin(columns []*schema.Column) (keys [][]*schema.Column) {
	for _, ix := range b.spec.Table.Indexes {
		var key []*schema.Column
		for _, c := range ix.Columns {
			if c.Column == nil || c.Length > 0 || !slices.Contains(columns, c.Column) {
				key = nil
				break
			}
			key = append(key, c.Column)
		}
		if ix.Unique && len(key) > 0 && b.holds(ix, b.stateTests(queue.Ready)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// backlog plans Backlog over the table of rows that wait, nil where nothing tells that a row is ready; by is
// which index leads to these, "" where the whole table is read.
func (b *builder) backlog(topics []*schema.Column) (back *Backlog, by string) {
	s, v := b.newScope(), b.base("Backlog")
	s.lockless = true
	claims := s.joinClaims()
	told := s.figures(waiting)
	if !slices.ContainsFunc(told.fields, func(f StatsField) bool { return f.Name == "Ready" }) {
		return nil, ""
	}
	by, head := b.readsBy(told.tests)
	if by == "" {
		by, head = b.readsThrough(told.tests, topics, head)
	}
	back = &Backlog{Fields: told.fields}
	column, scan := "", ""
	if b.misled(told, topics) {
		column, scan = b.d.Fragments["group_column"].At(b.version), b.d.Fragments["group_scan"].At(b.version)
	}
	var names []string
	for _, c := range topics {
		v.Figures = append(v.Figures, s.readOne(b.fields[c]))
		v.Groups = append(v.Groups, dialect.Fill(cmp.Or(column, "{column}"), "column", s.column(c)))
		names = append(names, plainText(c.Name))
		back.Topics = append(back.Topics, b.topicField(c, topics))
	}
	v.Figures = append(v.Figures, s.labelled(told, topics)...)
	v.Where, v.Table = told.where, v.Table+scan+claims+s.apply()
	if len(topics) > 0 && !told.every {
		v.Having = told.some()
	}
	does := "backlog: counts the rows that wait"
	if len(names) > 0 {
		does += ", by " + enumerated(names)
	}
	back.Statement = s.statement("backlog", "stats", v, nil, does, "locks: none", head)
	back.Doc = b.backlogDoc(back, told, by)
	return back, by
}

// allOfIt is what is said of an index that is read from end to end.
const allOfIt = "; it looks through all of that index"

// readsThrough is readsBy where topics come before what tells rows that wait in an index: a server that compares
// what an index has before it reads the row reads those alone, though it looks through the index.
func (b *builder) readsThrough(tests []queue.Test, topics []*schema.Column, otherwise string) (by, head string) {
	if len(tests) == 0 || len(topics) == 0 || !b.can(dialect.IndexThrough) {
		return "", otherwise
	}
	for _, c := range topics {
		tests = append(slices.Clip(tests), oneValue(c))
	}
	if ix, text, rest := b.ledTo(tests); ix != nil && ix.Where == "" && len(rest) == 0 {
		return text + allOfIt, "index: " + text + allOfIt
	}
	return "", otherwise
}

// misled reports whether an index that gives the groups, and does not lead to the rows that are
// counted, may be read from end to end, with a look at each row.
func (b *builder) misled(told figures, topics []*schema.Column) bool {
	if !b.can(dialect.GroupsByIndex) || len(told.where) == 0 && !slices.ContainsFunc(told.texts, func(text string) bool { return text != "count(*)" }) {
		return false // or that index has all that is asked for
	}
	by, _, _ := b.ledTo(told.tests)
	indexes := b.spec.Table.Indexes
	if claim := b.claimIndex(); len(claim.columns) > 0 && len(claim.predicate()) == 0 && b.serving(claim) == nil {
		indexes = append(slices.Clip(indexes), b.made(claim))
	}
	return slices.ContainsFunc(indexes, func(ix *schema.Index) bool {
		return ix != by && !ix.Invisible && len(ix.Columns) > 0 && ix.Columns[0].Length == 0 && slices.Contains(topics, ix.Columns[0].Column)
	})
}

// some is the condition of a line of figures that one of them counts a row.
func (told figures) some() string {
	var counts []string
	for i, f := range told.fields {
		if f.GoType == "int64" {
			counts = append(counts, told.texts[i]+" > 0")
		}
	}
	return strings.Join(counts, "\nOR     ")
}

// topicField returns the field of Backlog for a topic: that of Job, unless a figure is called so. It may be null
// where the column may, whatever the rows of jobs have there.
func (b *builder) topicField(c *schema.Column, topics []*schema.Column) *Field {
	f := *b.fields[c]
	if job := b.jobField(c); job != nil {
		f.Null = f.Null || job.Null
	}
	f.Null = f.Null || !c.NotNull
	other := func(of *schema.Column) bool { return of != c && b.fields[of].Name == f.Name }
	for slices.Contains(waiting, f.Name) || f.Name != b.fields[c].Name && slices.ContainsFunc(topics, other) {
		f.Name += "Value"
	}
	return &f
}

// backlogDoc is the comment of Backlog.
func (b *builder) backlogDoc(back *Backlog, told figures, by string) []string {
	text, none, oldest := "Backlog counts the rows that wait", "", " and tells how long the oldest has waited"
	if len(back.Topics) > 0 {
		var names []string
		for _, f := range back.Topics {
			names = append(names, f.Name)
		}
		each, order := names[0], names[0]
		if len(names) > 1 {
			each, order = "combination", "these"
			text += " for each combination of " + enumerated(names)
		} else {
			text += " for each " + names[0]
		}
		text += ", in the order of " + order + ","
		none, oldest = " A "+each+" without such a row is left out.", " and tells how long the oldest of each has waited"
	}
	if slices.ContainsFunc(back.Fields, func(f StatsField) bool { return f.Name == "OldestReady" }) {
		text += oldest
	}
	text = strings.TrimSuffix(text, ",") + "." + none
	if b.keepsSome() {
		text += " Those that a condition keeps from claims are not among them."
	}
	switch {
	case by == "":
		text += " It reads the whole table."
	case strings.HasSuffix(by, allOfIt):
		text += " It looks through the whole of the index that its SQL names, and of the table it reads those rows alone."
	case strings.Contains(by, andOthers):
		text += " The index that its SQL names leads it to them, and to rows that look like them there."
	case told.every:
		text += " By the index that its SQL names it reads those rows alone, however many have ended."
	default:
		text += " By the index that its SQL names it reads them and rows that the clock, or something else that no index knows, tells from them."
	}
	doc := []string{text, b.looks()}
	if AsksTimeout(back.Statement) {
		doc = append(doc, timeoutDoc)
	}
	return doc
}
