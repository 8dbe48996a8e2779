package queue

// This file finds the table of a queue entry and the queues that the table
// holds.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Bind reads a table of the catalog as the queues that its annotations and the
// queue entry make of it: one Spec for each queue of the table. fold says how
// the database folds unquoted names. Everything that is wrong is added to
// errs, and then there is no Spec.
func Bind(cat *schema.Catalog, q *config.Queue, fold func(string) string, errs *source.ErrorList) []*Spec {
	before := errs.Len()
	if q.Further {
		defer errs.Within(q.Name.Value, before)
	}
	loose(cat.Loose, errs)
	for _, key := range q.Later {
		refuse(errs, key.Pos, key.Value, "Leave the key out.")
	}
	found := find(cat, q, fold, errs)
	if found == nil {
		return nil
	}
	errs.Add(found.Gaps...)
	start := errs.Len()
	t, roles, notes := numeric(found, collect(found, q, fold, errs), nil)
	if len(notes) > 0 {
		cat = cat.With(found, t)
	}
	queues := split(t, q, roles, errs)
	for _, one := range queues {
		one.notes = append(one.notes, notes...)
	}
	damaged := errs.Len() > start
	var specs []*Spec
	for _, one := range queues {
		if spec := bindOne(cat, t, q, fold, one, damaged, errs); spec != nil {
			specs = append(specs, spec)
		}
	}
	if errs.Len() > before {
		return nil
	}
	return specs
}

// find returns the table of the entry; nil after a complaint.
func find(cat *schema.Catalog, q *config.Queue, fold func(string) string, errs *source.ErrorList) *schema.Table {
	if q.Table.IsSet() {
		return named(cat, tableName{String: q.Table, key: "table: "}, fold, errs)
	}
	var candidates []*schema.Table
	for _, t := range cat.Tables {
		if isAnnotated(t) && (q.Running == nil || !slices.Contains(cat.Lookup(q.Running.Table.Value, fold), t)) {
			candidates = append(candidates, t)
		}
	}
	switch len(candidates) {
	case 1:
		return candidates[0]
	case 0:
		if slices.ContainsFunc(cat.Unread, func(u schema.Unread) bool { return u.Reported }) {
			return nil // the table is there and cannot be read
		}
		e := errs.Errorf(q.Pos, "no table is annotated")
		if len(cat.Tables) == 1 {
			e.WithHint("Write -- qgen:queue directly above CREATE TABLE %s, or table: %s in this entry.", cat.Tables[0].QualifiedName(), cat.Tables[0].QualifiedName())
		} else {
			e.WithHint("Write -- qgen:queue directly above the CREATE TABLE of the queue, or name the table in this entry: table: jobs.")
		}
		return nil
	}
	first, second := candidates[0], candidates[1]
	errs.Errorf(second.Pos, "tables %s are annotated, and nothing says which this entry is for", list(candidates)).
		WithHint("Name one: table: %s in qgen.yaml, and write one entry for each queue.", first.QualifiedName())
	return nil
}

// tableName is the name of a table in qgen.yaml.
type tableName struct {
	config.String
	key  string // what stands before it
	need string // what the DDL of the table is needed for, where that is not plain
}

// several complains that the name means several tables.
func (n tableName) several(found []*schema.Table, errs *source.ErrorList) {
	errs.Errorf(n.Pos, "%q means several tables: %s", n.Value, list(found)).
		WithHint("Write the schema before the name: %s%s.", n.key, found[0].QualifiedName())
}

// named returns the table of that name; nil after a complaint.
func named(cat *schema.Catalog, table tableName, fold func(string) string, errs *source.ErrorList) *schema.Table {
	found := cat.Lookup(table.Value, fold)
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		for _, u := range cat.Unread {
			if name := fold(table.Value); fold(u.Table) == name || u.Schema != "" && fold(u.Schema+"."+u.Table) == name {
				if !u.Reported {
					errs.Add(u.Err)
				}
				return nil
			}
		}
		var names []string
		for _, t := range cat.Tables {
			names = append(names, t.Name, t.QualifiedName())
		}
		e := errs.Errorf(table.Pos, "no table is called %q", table.Value)
		unread := ""
		if len(cat.Unread) > 0 {
			first := cat.Unread[0].Err
			unread = fmt.Sprintf(" A statement was passed over, at %s: %s. Does engine: name the database of this DDL?", first.Pos, first.Msg)
		}
		if near := source.Nearest(table.Value, names); near != "" {
			e.WithHint("Did you mean %s?", near)
		} else if table.need != "" {
			e.WithHint("%s", table.need)
		} else {
			e.WithHint("The schema has %s. Names stand as in the DDL, name or schema.name.%s", orWord(list(cat.Tables), "no table"), unread)
		}
		return nil
	}
	table.several(found, errs)
	return nil
}

// list names tables, at most ten of them.
func list(tables []*schema.Table) string {
	const most = 10
	var names []string
	for _, t := range tables[:min(len(tables), most)] {
		names = append(names, t.QualifiedName())
	}
	if len(tables) > most {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(tables)-most)
	}
	return allOf(names)
}

// allOf joins words as people say them: a, b and c.
func allOf(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// isAnnotated reports whether a comment at the table holds an annotation.
func isAnnotated(t *schema.Table) bool {
	return slices.ContainsFunc(t.Comments, annotated) ||
		slices.ContainsFunc(t.Columns, func(c *schema.Column) bool { return slices.ContainsFunc(c.Comments, annotated) })
}

// oneQueue is a queue of a table: its own words and the roles that are its.
type oneQueue struct {
	name  string
	pos   source.Pos
	words []*word // of the queue annotation; qgen.yaml has won
	roles []*role // less the queue annotations
	notes []string
}

// split divides the annotations of a table among its queues.
func split(t *schema.Table, q *config.Queue, roles []*role, errs *source.ErrorList) []*oneQueue {
	var heads, over []*role // of comments, of qgen.yaml
	for _, r := range roles {
		switch {
		case r.verb == "queue" && r.yaml:
			over = append(over, r)
		case r.verb == "queue":
			heads = append(heads, r)
		}
	}
	if !apart(t, heads, errs) {
		heads = heads[:1]
	}
	var queues []*oneQueue
	var known []string
	for _, head := range heads {
		one := &oneQueue{name: t.Name, pos: head.pos}
		if w := head.unnamed(); w != nil {
			one.name = w.name
		}
		known = append(known, one.name)
		one.words = head.words
		queues = append(queues, one)
	}
	if len(queues) == 0 {
		queues = []*oneQueue{{name: t.Name, pos: t.Pos}}
		known = []string{t.Name}
	}
	queues = choose(besides(queues, t, q), q, errs)
	for _, name := range append([]config.String{q.Name}, q.Others...) {
		if name.IsSet() {
			known = append(known, name.Value)
		}
	}
	for _, r := range roles {
		if r.verb == "queue" && len(r.scopes) > 0 {
			errs.Errorf(r.scopes[0].pos, "qgen:queue takes its name behind a space").WithHint("Write qgen:queue %s.", r.scopes[0].queue)
			continue
		}
		for _, s := range r.scopes {
			if !slices.Contains(known, s.queue) {
				errs.Errorf(s.pos, "no queue of table %q is called %q", t.QualifiedName(), s.queue).
					WithHint("%s", suggest(s.queue, known, "Parentheses directly behind a verb name queues, and there are"))
			}
		}
	}
	for _, one := range queues {
		names := []string{one.name}
		if q.Name.IsSet() {
			names = append(names, q.Name.Value)
		}
		others := func(r *role) bool { return !r.of(names...) }
		one.roles = slices.DeleteFunc(slices.Clone(roles), func(r *role) bool { return r.verb == "queue" || others(r) })
		one.settle(slices.DeleteFunc(slices.Clone(over), others), q)
		if q.Name.IsSet() {
			one.name = q.Name.Value
		}
	}
	return queues
}

// apart reports whether several queue annotations name several queues.
func apart(t *schema.Table, heads []*role, errs *source.ErrorList) bool {
	seen := map[string]*role{}
	for i, head := range heads {
		name := ""
		if w := head.unnamed(); w != nil {
			name = w.name
		}
		first := seen[name]
		if first == nil && i > 0 && (name == "" || heads[0].unnamed() == nil) {
			first = heads[0]
		}
		if first != nil {
			errs.Errorf(head.pos, "table %q is annotated in two places: here and at %s", t.QualifiedName(), first.pos).
				WithHint("Keep one qgen:queue, or give each queue of the table a name of its own: qgen:queue cleaner.")
			return false
		}
		seen[name] = head
	}
	return true
}

// besides returns the queues of a table less those that qgen.yaml makes of it besides
// that of the entry.
func besides(queues []*oneQueue, t *schema.Table, q *config.Queue) []*oneQueue {
	of := func(name config.String) func(*oneQueue) bool {
		return func(one *oneQueue) bool { return one.name == name.Value }
	}
	if q.Further {
		if i := slices.IndexFunc(queues, of(q.Name)); i >= 0 {
			return queues[i : i+1]
		}
		return []*oneQueue{{name: q.Name.Value, pos: q.Name.Pos}}
	}
	for _, other := range q.Others {
		queues = slices.DeleteFunc(queues, of(other))
	}
	if len(queues) == 0 {
		queues = []*oneQueue{{name: t.Name, pos: t.Pos}}
	}
	return queues
}

// choose returns the queues that the entry is for.
func choose(queues []*oneQueue, q *config.Queue, errs *source.ErrorList) []*oneQueue {
	if len(queues) < 2 {
		return queues
	}
	var names []string
	for _, one := range queues {
		names = append(names, one.name)
	}
	switch i := slices.Index(names, q.Name.Value); {
	case i >= 0:
		return queues[i : i+1]
	case q.Name.IsSet():
		errs.Errorf(q.Name.Pos, "the table has no queue called %q", q.Name.Value).
			WithHint("%s", suggest(q.Name.Value, names, "It has"))
	}
	return queues
}
