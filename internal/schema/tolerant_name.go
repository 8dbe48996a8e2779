package schema

// This file reads names, and finds the tables that they mean.

import (
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// isName reports whether token i may be a name. A text in double quotes is one
// where the session was told so.
func (r *tolerant) isName(i int) bool {
	return r.has(i, word) || r.has(i, quoted) || r.has(i, text) && r.st.text(i)[0] == '"'
}

// name reads a name and returns it as stored, with its token.
func (r *tolerant) name() (string, int) {
	at := r.i
	if !r.isName(at) {
		r.fail(at, "a name should stand here")
		return "", at
	}
	r.i++
	if r.st.tokens[at].end-r.st.tokens[at].off == len(`""`) && r.has(at, quoted) {
		r.fail(at, "a name should stand here")
	}
	if r.drafts.lexis.sqlplus && r.has(at, word) && isVariable(r.st.text(at)) && !r.is(".") {
		r.fail(at, "the client puts a name in the place of "+shown(r.st.text(at)))
	}
	return r.nameAt(r.st, at), at
}

// namePos returns where the name at token i stands, without the letter in front of
// a text.
func (r *tolerant) namePos(i int) source.Pos {
	pos := r.st.pos(i)
	if quote := strings.IndexAny(r.st.text(i), `'"`); quote > 0 && r.has(i, text) {
		pos = pos.Sub(quote, pos.Len-quote)
	}
	return pos
}

// A ref names a table.
type ref struct {
	schema, name string
	at           int // the token of the name
}

// ref reads a name with what may stand in front of it.
func (r *tolerant) ref() ref {
	var n ref
	n.name, n.at = r.name()
	for r.fault == nil && r.accept(".") {
		if n.schema = n.name; isVariable(n.schema) {
			n.schema = ""
		}
		if r.grammar.schema != "" && r.accept(".") { // database..name
			n.schema = ""
		}
		n.name, n.at = r.name()
	}
	return n
}

// find returns the table that a name means, nil when there is none or more than
// one. A name in the same case comes before one in another, and a table of the
// same database before one of which the database is not known.
func (r *tolerant) find(schema, name string) *draft {
	if schema == "" {
		schema = r.home
	}
	var found *draft
	best, ties := 0, 0
	for _, t := range r.byName[key(name)] {
		home := r.homeOf(t)
		score := 2
		switch {
		case r.exact && t.Name != name:
			continue
		case r.sameSchema(home, schema):
			score = 4
		case home != "" && schema != "":
			continue
		}
		if t.Name == name {
			score++
		}
		switch {
		case score > best:
			found, best, ties = t, score, 0
		case score == best:
			ties++
		}
	}
	if ties > 0 {
		return nil
	}
	return found
}

// homeOf returns the database of a table, "" when the files do not tell.
func (r *tolerant) homeOf(t *draft) string {
	if t.Schema != "" {
		return t.Schema
	}
	return r.homes[t]
}

// same returns the table that has that name, in the same database and as the
// database compares them.
func (r *tolerant) same(n ref) *draft {
	schema := n.schema
	if schema == "" {
		schema = r.home
	}
	for _, t := range r.byName[key(n.name)] {
		if t.Name == n.name && r.homeOf(t) == schema || r.grammar.schema != "" && r.sameSchema(t.Schema, schema) {
			return t
		}
	}
	return nil
}

// nameHomes writes the database that USE named into the names of tables if the
// files speak of more than one. Of one, a script is meant for whichever database
// it is run in.
func (r *tolerant) nameHomes() {
	homes := map[string]bool{}
	for _, t := range r.tables {
		if home := r.homeOf(t); home != "" {
			homes[home] = true
		}
	}
	if len(homes) < 2 {
		return
	}
	for t, home := range r.homes {
		t.Schema = home
	}
}
