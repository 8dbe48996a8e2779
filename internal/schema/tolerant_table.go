package schema

// This file reads CREATE TABLE.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/source"
)

// create reads CREATE, up to the word that says what.
func (r *tolerant) create() *source.Error {
	replace, temporary := false, false
	k := &keyDefinition{}
	for ; r.i < min(len(r.st.tokens), maxHead); r.i++ {
		switch word := r.word(); word {
		case "table":
			r.i++
			return r.createTable(replace, temporary)
		case "view":
			r.i++
			return r.createView(replace)
		case "index":
			r.i++
			r.createIndex(k)
			return nil
		case "trigger":
			r.i++
			r.createTrigger()
			return nil
		case "replace":
			replace = true
		case "temporary":
			temporary = true
		case "unique":
			k.kind = uniqueKey
		case "fulltext", "spatial", "vector":
			k.method = word
		case "function", "procedure", "event", "package", "database", "schema", "sequence", "user", "role":
			return nil
		}
	}
	return nil
}

// createTable reads CREATE TABLE from the name on.
func (r *tolerant) createTable(replace, temporary bool) *source.Error {
	if temporary {
		r.refuse(r.st, "a temporary table")
		return nil
	}
	ifNotExists := r.accept("if", "not", "exists") || r.st.guarded
	n := r.ref()
	if r.fault != nil {
		return r.fault
	}
	first := r.same(n)
	if first != nil && !replace {
		if !ifNotExists {
			r.twice(first, n.name, r.st.pos(n.at))
		}
		return nil
	}
	t := r.draft(&Table{Schema: n.schema, Name: n.name, Pos: r.st.pos(n.at), AnyCase: r.anyCase, NoRowIdentity: !r.rowIdentity})
	a := &anchor{st: r.st, table: t.Table, open: -1, close: -1}
	like := r.like()
	if like == nil && r.is("(") && !r.beginsQuery() {
		r.body(t, a)
	}
	for r.fault == nil && r.i < len(r.st.tokens) && !r.beginsQuery() {
		if !r.accept(",") && !r.option(r, t) {
			r.unknown()
		}
	}
	query := r.i
	if err := r.verdict(); err != nil {
		return err
	}
	if first != nil {
		r.drop(first, false)
	}
	r.enter(t)
	if n.schema == "" && r.home != "" {
		r.homes[t] = r.home
	}
	r.anchors = append(r.anchors, a)
	switch {
	case like != nil:
		r.copyTable(t, *like)
	case query < len(r.st.tokens) && r.namesOutputs && len(t.Columns) > 0:
		r.outputTypes(t, query)
	case query < len(r.st.tokens):
		own := len(t.Columns)
		r.selectColumns(t, a, query, nil)
		for _, c := range t.Columns[own:] {
			// The types are those of the query's columns, nothing else is taken over.
			*c = Column{Name: c.Name, Pos: c.Pos, Type: c.Type}
		}
	}
	r.doLater()
	t.resolveChecks()
	return nil
}

// like reads LIKE and the table that it names, with or without parentheses; nil
// when it does not stand here.
func (r *tolerant) like() *ref {
	inside := r.is("(") && r.st.is(r.i+1, "like")
	if !inside && !r.is("like") {
		return nil
	}
	if inside {
		r.i++
	}
	r.i++
	n := r.ref()
	if inside && !r.accept(")") {
		r.fail(r.i, "the end of the list should stand here")
	}
	return &n
}

// beginsQuery reports whether the query of CREATE TABLE … AS starts here.
func (r *tolerant) beginsQuery() bool {
	i := r.i
	if r.st.is(i, "ignore", "replace") {
		i++
	}
	switch {
	case r.st.is(i, "as"):
		i++
	case r.asQuery:
		return false
	}
	for r.st.is(i, "(") {
		i++
	}
	return r.st.is(i, "select", "values", "table") || r.st.is(i, "with") && !r.st.is(i+1, "system")
}

// body reads the columns, keys and checks in parentheses.
func (r *tolerant) body(t *draft, a *anchor) {
	open := r.i
	r.group()
	if r.fault != nil {
		return
	}
	closing := r.i - 1
	a.open, a.close = r.st.pos(open).Offset, r.st.pos(closing).Offset
	r.i = open + 1
	for r.fault == nil {
		start := r.i
		if !r.item(t) {
			if d := r.definition(); r.fault == nil && r.addDefinition(t, d) != nil {
				a.columns = append(a.columns, r.anchorOf(d.Column, start))
			}
		}
		if !r.accept(",") || r.lastComma && r.i == closing {
			break
		}
	}
	if r.fault == nil && r.i != closing {
		r.fail(r.i, "the end of the list should stand here")
	}
	if r.fault == nil {
		r.i = closing + 1
	}
}

// copyTable gives t what LIKE takes over from another table. Comments stay
// behind, since they speak of the table they stand in.
func (r *tolerant) copyTable(t *draft, n ref) {
	from := r.find(n.schema, n.name)
	if from == nil || from == t {
		t.Gaps = append(t.Gaps, missingTable(t, n.name, r.st.pos(n.at)))
		return
	}
	own := map[*Column]*Column{}
	for _, c := range from.Columns {
		copied := *c
		copied.Comments = nil
		own[c] = &copied
		t.Columns = append(t.Columns, &copied)
	}
	key := func(k *Key, ix *Index) *Key {
		copied := &Key{Name: k.Name, Pos: k.Pos, index: ix}
		for _, c := range k.Columns {
			copied.Columns = append(copied.Columns, own[c])
		}
		return copied
	}
	for _, ix := range from.Indexes {
		copied := *ix
		copied.Columns = slices.Clone(ix.Columns)
		for i := range copied.Columns {
			if c := ix.Columns[i].Column; c != nil {
				copied.Columns[i].Column = own[c]
			}
		}
		t.Indexes = append(t.Indexes, &copied)
		if from.PrimaryKey != nil && from.PrimaryKey.index == ix {
			t.PrimaryKey = key(from.PrimaryKey, &copied)
		}
		for _, k := range from.Uniques {
			if k.index == ix {
				t.Uniques = append(t.Uniques, key(k, &copied))
			}
		}
	}
	for _, k := range from.checks {
		t.checks = append(t.checks, &check{text: k.text, values: k.values, off: k.off, json: k.json})
	}
	t.Engine, t.Partitioned, t.PartitionBy = from.Engine, from.Partitioned, slices.Clone(from.PartitionBy)
	t.Gaps = append(t.Gaps, from.Gaps...)
}
