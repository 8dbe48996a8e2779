package schema

// This file reads statements about whole objects: triggers, DROP, RENAME.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// createTrigger reads CREATE TRIGGER from the name on.
func (r *tolerant) createTrigger() {
	r.accept("if", "not", "exists")
	n := r.ref()
	var events []string
	for ; r.i < len(r.st.tokens) && !r.is("on"); r.i++ {
		if r.is("insert", "update", "delete") {
			events = append(events, r.word())
		}
	}
	if !r.accept("on") {
		return
	}
	of := r.ref()
	if r.fault != nil {
		return
	}
	if of.schema == "" {
		of.schema = n.schema
	}
	if t := r.find(of.schema, of.name); t != nil {
		g := &Trigger{Name: n.name, Pos: r.st.pos(n.at), Events: events}
		if r.events != nil {
			r.events(r, g)
		}
		t.Triggers = append(slices.DeleteFunc(t.Triggers, func(o *Trigger) bool { return strings.EqualFold(o.Name, g.Name) }), g)
	}
}

// dropObject reads DROP. What of it cannot be read drops nothing that is known.
func (r *tolerant) dropObject() *source.Error {
	for r.acceptAny("temporary", "online", "offline") {
	}
	what := r.word()
	r.i++
	r.accept("if", "exists")
	switch what {
	case "table", "tables", "view":
		for r.fault == nil {
			n := r.ref()
			switch t := r.find(n.schema, n.name); {
			case r.fault != nil:
			case t != nil:
				r.drop(t, false)
			default:
				r.droppedBefore(cmp.Or(n.schema, r.home), n.name)
			}
			if !r.accept(",") {
				return nil
			}
		}
	case "index":
		n := r.ref()
		if !r.accept("on") {
			return nil
		}
		of := r.ref()
		if t := r.find(of.schema, of.name); r.fault == nil && t != nil {
			t.dropIndex(func(name string) bool { return strings.EqualFold(name, n.name) })
		}
	case "trigger":
		r.dropTrigger(r.ref())
	case "database", "schema":
		n := r.ref()
		for _, t := range slices.Clone(r.tables) {
			if r.fault == nil && strings.EqualFold(r.homeOf(t), n.name) {
				r.drop(t, false)
			}
		}
	}
	return nil
}

func (r *tolerant) dropTrigger(n ref) {
	for _, t := range r.tables {
		if n.schema == "" || r.sameSchema(r.homeOf(t), n.schema) {
			t.Triggers = slices.DeleteFunc(t.Triggers, func(g *Trigger) bool { return strings.EqualFold(g.Name, n.name) })
		}
	}
}

// renameTables reads RENAME TABLE a TO b, c TO d.
func (r *tolerant) renameTables() *source.Error {
	if !r.acceptAny("table", "tables") {
		return nil
	}
	for r.fault == nil {
		r.accept("if", "exists")
		from := r.ref()
		for r.fault == nil && !r.is("to") && !r.done() {
			r.i++ // WAIT n, NOWAIT
		}
		if !r.accept("to") {
			return nil
		}
		to := r.ref()
		if t := r.find(from.schema, from.name); r.fault == nil && t != nil {
			r.renameTo(t, to)
		}
		if !r.accept(",") {
			return nil
		}
	}
	return nil
}

// renameTo gives a table another name, and perhaps moves it to another database.
func (r *tolerant) renameTo(t *draft, to ref) {
	if r.renameCheck != nil {
		for _, k := range t.checks {
			k.name = r.renameCheck(k.name, t.Name, to.name)
		}
	}
	r.rename(t, to.name, r.st.pos(to.at))
	switch {
	case to.schema == "":
	case t.Schema == "" && r.homes[t] == to.schema:
	default:
		t.Schema = to.schema
		delete(r.homes, t)
	}
}
