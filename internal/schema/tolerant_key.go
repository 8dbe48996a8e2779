package schema

// This file reads keys and indexes, wherever they are written.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

type keyKind uint8

const (
	plainKey keyKind = iota
	uniqueKey
	primaryKey
)

// A keyDefinition is a key or an index as a statement writes it.
type keyDefinition struct {
	kind      keyKind
	name      string
	at, end   int    // the tokens of the name, or of the words that make it a key
	method    string // "" when the statement names none
	parts     []keyPart
	invisible bool
	// overlaps: a period is part of it, so that it holds no two rows apart.
	overlaps   bool
	clustered  bool     // it is the table
	replaces   bool     // an index of that name is built anew
	index      bool     // CREATE INDEX, and no constraint
	off        bool     // DISABLE
	using      string   // the index that enforces it, "" where the statement names none
	where      string   // predicate as written, "" when there is none
	include    []string // columns beside the keys
	partition  string   // the column that it spreads the table over partitions by
	noRowLocks string   // see Table.NoRowLocks
}

// A keyPart is one column or expression of it.
type keyPart struct {
	column string // "" for an expression
	at     int
	expr   string
	desc   bool
	length int
}

// beginsIndex reads KEY, INDEX, or a word for a kind of index; false when none of
// them begins an index here.
func (r *tolerant) beginsIndex(k *keyDefinition) bool {
	word := r.word()
	if !slices.Contains(r.indexWords, word) || word == "vector" && !r.st.is(r.i+1, "key", "index") {
		return false
	}
	if word != "key" && word != "index" {
		k.method = word
	}
	r.i++
	return true
}

// keyRest reads the name, the columns and the options of a key or an index.
func (r *tolerant) keyRest(k *keyDefinition) {
	r.acceptAny("key", "index")
	r.accept("if", "not", "exists")
	r.acceptAny("clustered", "nonclustered")
	if !r.is("(") && (!r.is("using", "type") || !r.has(r.i+1, word)) {
		k.name, k.at = r.name()
		k.end = k.at + 1
	}
	r.using(k)
	r.parts(k)
	r.indexOptions(k)
}

// using reads how the index is built. The last word counts, unless the index is
// of a kind that is built in one way.
func (r *tolerant) using(k *keyDefinition) {
	if !r.acceptAny("using", "type") {
		return
	}
	if slices.Contains([]string{"", "btree", "hash", "rtree"}, k.method) {
		k.method = r.word()
	}
	r.name()
}

// parts reads the columns of a key.
func (r *tolerant) parts(k *keyDefinition) {
	open := r.i
	r.group()
	if r.fault != nil {
		return
	}
	closing := r.i - 1
	r.i = open + 1
	for r.fault == nil {
		if r.grammar.part != nil {
			r.grammar.part(r, k)
		} else {
			r.part(k)
		}
		if !r.accept(",") {
			break
		}
	}
	if r.fault == nil && r.i != closing {
		r.fail(r.i, "the end of the list should stand here")
		return
	}
	r.i++
}

func (r *tolerant) part(k *keyDefinition) {
	p := keyPart{at: r.i}
	switch {
	case r.is("("):
		r.group()
	default:
		p.column, _ = r.name()
		if !r.is("(") {
			break
		}
		if n, err := strconv.Atoi(r.st.text(r.i + 1)); err == nil && r.st.is(r.i+2, ")") {
			p.length = n
		} else {
			p.column = "" // a call
		}
		r.group()
	}
	if p.column == "" && r.fault == nil {
		p.expr = r.st.written(p.at, r.i)
	}
	for !r.done() {
		switch {
		case r.accept("asc"):
		case r.accept("desc"):
			p.desc = true
		case r.accept("without", "overlaps"):
			k.overlaps = true
			return
		default:
			r.unknown()
		}
	}
	k.parts = append(k.parts, p)
}

// indexOptions reads what stands behind the columns of an index.
func (r *tolerant) indexOptions(k *keyDefinition) {
	for !r.done() {
		switch {
		case r.keyOption != nil && r.keyOption(r, k):
		case r.is("using", "type"):
			r.using(k)
		case r.acceptAny("visible", "clustered", "nonclustered", "global", "local"), r.accept("not", "ignored"):
		case r.acceptAny("invisible", "ignored"):
			k.invisible = true
		case r.accept("with", "parser"), r.acceptAny("comment", "key_block_size", "engine_attribute", "secondary_engine_attribute", "algorithm", "lock"):
			r.value()
		case r.assignment():
		default:
			r.unknown()
		}
	}
}

// assignment skips name = value.
func (r *tolerant) assignment() bool {
	if !r.isName(r.i) || !r.st.is(r.i+1, "=") || r.has(r.i+2, sign) {
		return false
	}
	r.i++
	r.value()
	return true
}

// addKey gives the table a key or an index that has been read.
func (r *tolerant) addKey(t *draft, k *keyDefinition) {
	ix := &Index{
		Name: k.name, Pos: r.span(k.at, k.end), Unique: k.kind != plainKey && !k.overlaps, Method: k.method, Invisible: k.invisible,
		Where: k.where, noRowLocks: k.noRowLocks, Clustered: k.clustered,
	}
	for _, p := range k.parts {
		c := IndexColumn{Expr: p.expr, Desc: p.desc, Length: p.length, NullsFirst: p.desc == r.nullsHigh}
		if p.column != "" {
			if c.Column = t.Column(p.column); c.Column == nil {
				t.Gaps = append(t.Gaps, missingColumn(t, p.column, r.st.pos(p.at)))
				return
			}
		}
		ix.Columns = append(ix.Columns, c)
	}
	for _, name := range k.include {
		if c := t.Column(name); c != nil {
			ix.Include = append(ix.Include, c)
		}
	}
	if r.take != nil {
		r.take(r, t, k, ix)
		return
	}
	if ix.Name == "" || k.kind == primaryKey {
		ix.Name = r.keyName(t, k, ix)
	}
	switch old := t.index(ix.Name); {
	case old == nil:
	case k.replaces && (t.PrimaryKey == nil || t.PrimaryKey.index != old):
		t.dropIndexes(func(ix *Index) bool { return ix == old })
	default:
		return // the first stays
	}
	t.spread(k.partition)
	if k.kind != primaryKey {
		t.addIndex(ix)
		return
	}
	primary := &Key{Name: ix.Name, Pos: ix.Pos}
	for _, c := range ix.Columns {
		if c.Column == nil {
			continue
		}
		c.Column.NotNull = true
		primary.Columns = append(primary.Columns, c.Column)
	}
	if len(primary.Columns) > 0 {
		t.addKey(primary, true, ix)
	}
}

// index returns the table's index of that name.
func (t *draft) index(name string) *Index {
	same := strings.EqualFold
	if t.all.exact {
		same = func(a, b string) bool { return a == b }
	}
	i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return same(ix.Name, name) })
	if i < 0 {
		return nil
	}
	return t.Indexes[i]
}

// span returns the position of the tokens from from up to end.
func (r *tolerant) span(from, end int) source.Pos {
	first, last := r.st.pos(from), r.st.pos(end-1)
	first.Len = max(last.Offset+last.Len-first.Offset, 0)
	return first
}

// createIndex reads CREATE INDEX from the name on.
func (r *tolerant) createIndex(k *keyDefinition) {
	r.accept("if", "not", "exists")
	k.name, k.at = r.name()
	k.end = k.at + 1
	r.using(k)
	r.expect("on")
	of := r.ref()
	if k.method != columnstore || r.is("(") {
		r.parts(k)
	}
	r.indexOptions(k)
	r.end()
	r.createdIndex(of, k)
}

// createdIndex gives the index of a CREATE INDEX that has been read to its table, if
// that is known. What is not understood of it is an error.
func (r *tolerant) createdIndex(of ref, k *keyDefinition) {
	t := r.find(of.schema, of.name)
	switch err := r.verdict(); {
	case t == nil:
	case err != nil:
		r.errs.Add(err.WithHint(changesHint, t.Name))
	default:
		r.addKey(t, k)
	}
}
