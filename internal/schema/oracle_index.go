package schema

// This file reads keys and indexes as Oracle has them: an index may stand before
// the constraint that it enforces, and stay behind when that goes.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// oracleCreateIndex reads CREATE INDEX; the word INDEX is token i.
func (r *tolerant) oracleCreateIndex(i int) *source.Error {
	k := &keyDefinition{index: true}
	for n := 1; n < i; n++ {
		switch {
		case r.st.is(n, "unique"):
			k.kind = uniqueKey
		case r.st.is(n, "bitmap", "multivalue"):
			k.method = strings.ToLower(r.st.text(n))
		}
	}
	r.i = i + 1
	r.accept("if", "not", "exists")
	n := r.ref()
	k.name, k.at, k.end = n.name, n.at, n.at+1
	r.expect("on")
	if r.accept("cluster") {
		return nil
	}
	of := r.ref()
	if r.isName(r.i) && r.st.is(r.i+1, "(") {
		r.i++ // another name for the table
	}
	r.parts(k)
	if r.is("from") { // of a join, whose columns are another table's
		return nil
	}
	for r.fault == nil && r.i < len(r.st.tokens) {
		if !r.indexOption(k) {
			r.unknown()
		}
	}
	r.createdIndex(of, k)
	return nil
}

// oraclePart reads one column or expression of a key or an index.
func oraclePart(r *tolerant, k *keyDefinition) {
	p := keyPart{at: r.i}
	if r.done() {
		r.fail(r.i, "a name should stand here")
		return
	}
	r.expression()
	if r.fault != nil {
		return
	}
	if r.i == p.at+1 && r.isName(p.at) {
		p.column = r.nameAt(r.st, p.at)
	} else {
		p.expr = r.st.written(p.at, r.i)
	}
	if !r.accept("asc") {
		p.desc = r.accept("desc")
	}
	for !r.done() {
		r.unknown()
	}
	k.parts = append(k.parts, p)
}

// indexOption reads one word behind the columns of an index, or behind USING INDEX.
func (r *tolerant) indexOption(k *keyDefinition) bool {
	switch {
	case r.acceptAny("invisible", "unusable"):
		k.invisible = true
	case r.accept("reverse"):
		k.method = "reverse" // keeps no order
	case r.accept("indextype", "is"):
		k.method = strings.ToLower(r.ref().name)
	default:
		return r.phrase(oracleIndexWords)
	}
	return true
}

// oracleKeyState reads the state of a key that stands among columns.
func oracleKeyState(r *tolerant, k *keyDefinition) bool {
	start := r.i
	off := oracleState(r, k)
	if r.i == start {
		return false
	}
	k.off = off
	return true
}

// oracleTake gives the table a key or an index.
func oracleTake(r *tolerant, t *draft, k *keyDefinition, ix *Index) {
	switch {
	case k.index && t.index(ix.Name) != nil:
	case k.index:
		t.addIndex(ix)
	default:
		key := &Key{Name: k.name, Pos: ix.Pos}
		for _, c := range ix.Columns {
			if c.Column == nil {
				return // an expression is no column of a key
			}
			key.Columns = append(key.Columns, c.Column)
		}
		ix.Name = k.using
		if ix.Name == "" {
			ix.Name = k.name
		}
		key.index = ix
		c := constraint{key, k.kind == primaryKey, k.using}
		if k.off {
			t.disabled = append(t.disabled, c)
		} else {
			t.enforce(c)
		}
	}
}

// A constraint is a key with what is needed to enforce it.
type constraint struct {
	key     *Key
	primary bool
	using   string // the index that it asks for
}

// enforce adds a key. An index that is there already serves it.
func (t *draft) enforce(c constraint) {
	if c.primary && t.PrimaryKey != nil {
		return // the first stays
	}
	k := c.key
	serves := slices.IndexFunc(t.Indexes, func(ix *Index) bool {
		return ix.Name != "" && ix.Name == c.using || c.using == "" && slices.EqualFunc(ix.Columns, k.Columns, func(a IndexColumn, b *Column) bool { return a.Column == b })
	})
	k.foreign = serves >= 0
	if k.foreign {
		k.index = t.Indexes[serves]
		t.Uniques = slices.DeleteFunc(t.Uniques, func(o *Key) bool { return o.index == k.index && slices.Equal(o.Columns, k.Columns) })
	}
	t.addKey(k, c.primary, k.index)
	for _, column := range k.Columns {
		if c.primary && !column.NotNull {
			column.NotNull = true
			t.byKey = append(t.byKey, column)
		}
	}
}

// release drops keys, and their indexes unless these were there before or are to
// stay.
func (t *draft) release(drop func(*Key) bool, keep bool) {
	if t.PrimaryKey != nil && drop(t.PrimaryKey) {
		for _, c := range t.byKey {
			c.NotNull = false
		}
		t.byKey = nil
	}
	var stay []*Index
	t.dropKeys(func(k *Key) bool {
		if !drop(k) {
			return false
		}
		if keep || k.foreign {
			stay = append(stay, k.index)
		}
		return true
	})
	for _, ix := range stay {
		t.addIndex(ix)
	}
}

// turn enables or disables keys and checks.
func (t *draft) turn(off bool, is func(*Key) bool, name string, keep bool) {
	for _, k := range t.checks {
		if name != "" && k.name == name {
			k.off = off
		}
	}
	if c, ok := t.notNulls[name]; ok && name != "" {
		c.NotNull = !off
	}
	if !off {
		for _, c := range t.disabled {
			if is(c.key) && !slices.ContainsFunc(c.key.Columns, func(o *Column) bool { return !slices.Contains(t.Columns, o) }) {
				t.enforce(c)
			}
		}
		t.disabled = slices.DeleteFunc(slices.Clone(t.disabled), func(c constraint) bool { return is(c.key) })
		return
	}
	var gone []constraint
	for _, k := range append(slices.Clone(t.Uniques), t.PrimaryKey) {
		if k != nil && is(k) {
			gone = append(gone, constraint{&Key{Name: k.Name, Pos: k.Pos, Columns: k.Columns, index: keyIndex(k)}, k == t.PrimaryKey, ""})
		}
	}
	t.release(is, keep)
	t.disabled = append(t.disabled, gone...)
}
