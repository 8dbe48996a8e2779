package config

// This file reads what is written to other tables: also, done and failed.

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// also reads the companions of each transition.
func (p *parser) also(n *yaml.Node, name string) []Also {
	var list []Also
	entries, _ := p.entries(n, name)
	for _, e := range entries {
		a := Also{Transition: p.keyName(e)}
		step := join(name, e.name)
		items, isList := p.list(e.value, step, "changes of other tables")
		a.Nothing = isList && len(items) == 0
		for i, item := range items {
			c := Companion{Pos: p.at(item)}
			before := p.errs.Len()
			p.mapping(item, fmt.Sprintf("%s[%d]", step, i), companionKeys(p, &c))
			if p.errs.Len() == before && p.whole(&c) {
				a.Companions = append(a.Companions, c)
			}
		}
		list = append(list, a)
	}
	return list
}

// whole reports whether a companion says one thing, and all that it needs.
func (p *parser) whole(c *Companion) bool {
	given := slices.DeleteFunc([]String{c.Insert, c.Update, c.Delete}, func(s String) bool { return !s.IsSet() })
	switch {
	case len(given) == 0:
		p.errs.Errorf(c.Pos, "nothing says what is done, and to which table").
			WithHint("Write insert: table, update: table or delete: table.")
	case len(given) > 1:
		p.errs.Errorf(given[1].Pos, "one entry does one thing").WithHint("Write each of insert, update and delete as an entry of its own.")
	case c.Insert.IsSet() && (c.Set != nil || c.Where != nil || c.Which.IsSet()):
		p.errs.Errorf(c.Pos, "insert takes values and when").
			WithHint("Write what the new row holds under values:, and of which jobs one is added under when:.")
	case c.Insert.IsSet() && c.Values == nil:
		p.errs.Errorf(c.Pos, "nothing says what is inserted").WithHint("Write values: {column: value}.")
	case !c.Insert.IsSet() && c.Values != nil:
		p.errs.Errorf(c.Pos, "values are what is inserted").WithHint("Write what is updated under set:, and which rows are meant under where:.")
	case c.Delete.IsSet() && c.Set != nil:
		p.errs.Errorf(c.Pos, "delete sets nothing").WithHint("Leave set: out, or write update: in the place of delete:.")
	case c.Update.IsSet() && c.Set == nil:
		p.errs.Errorf(c.Pos, "nothing says what is updated").WithHint("Write set: {column: value}.")
	case !c.Insert.IsSet() && c.Where == nil && !c.Which.IsSet():
		p.errs.Errorf(c.Pos, "nothing says which rows of %s belong to a job", given[0].Value).WithHint("Write where: {column: key.id}.")
	default:
		return true
	}
	return false
}

// companionKeys are the keys of an entry of also.
func companionKeys(p *parser, c *Companion) []key {
	return []key{
		{name: "insert", read: into(&c.Insert, p.str)},
		{name: "update", read: into(&c.Update, p.str)},
		{name: "delete", read: into(&c.Delete, p.str)},
		{name: "values", read: into(&c.Values, p.values)},
		{name: "set", read: into(&c.Set, p.values)},
		{name: "where", read: p.whichOr(&c.Which, &c.Where)},
		{name: "when", read: into(&c.When, p.str)},
	}
}

// endKeys are the keys of done and of failed.
func endKeys(p *parser, m **Move) []key {
	return []key{{name: "move", required: "Say where the row goes: move: {to: archive, columns: same}.", read: func(name string, v *yaml.Node) {
		*m = &Move{Pos: p.at(v)}
		p.mapping(v, name, moveKeys(p, *m))
	}}}
}

// moveKeys are the keys of move.
func moveKeys(p *parser, m *Move) []key {
	return []key{
		{name: "to", required: "Name the table: to: archive.", read: into(&m.To, p.str)},
		{name: "columns", required: "Say what is kept: columns: same, or columns: {column of the other table: value}.", read: p.sameOr(&m.Same, &m.Columns)},
	}
}

// sameOr reads the word same, or what each column gets.
func (p *parser) sameOr(same *bool, columns *[]Value) func(string, *yaml.Node) {
	return func(name string, v *yaml.Node) {
		if r, ok := p.resolve(v); ok && r.Kind == yaml.ScalarNode {
			*same = p.word(v, name, []string{"same"}).IsSet()
			return
		}
		*columns = p.values(v, name)
	}
}

// whichOr reads an SQL condition, or what each column must have.
func (p *parser) whichOr(which *String, where *[]Value) func(string, *yaml.Node) {
	return func(name string, v *yaml.Node) {
		if r, ok := p.resolve(v); ok && r.Kind == yaml.ScalarNode {
			*which = p.str(v, name)
			return
		}
		*where = p.anyOf(v, name)
	}
}

// values reads a mapping of columns to values, of which there must be one.
func (p *parser) values(n *yaml.Node, name string) []Value { return p.columns(n, name, false) }

// anyOf is values where a column may have a list of them.
func (p *parser) anyOf(n *yaml.Node, name string) []Value { return p.columns(n, name, true) }

// columns reads a mapping of columns to values; several says whether one may have a list.
func (p *parser) columns(n *yaml.Node, name string, several bool) []Value {
	list := []Value{}
	entries, ok := p.entries(n, name)
	if ok && len(entries) == 0 {
		p.errs.Errorf(p.at(n), "%s is empty", name).WithHint("Write at least one column and its value: {job_id: key.id}.")
	}
	for _, e := range entries {
		items := []*yaml.Node{e.value}
		if r, ok := p.resolve(e.value); ok && several && r.Kind == yaml.SequenceNode {
			if items = r.Content; len(items) == 0 {
				p.errs.Errorf(p.at(r), "%s is empty", join(name, e.name)).WithHint("Write at least one value: [1, 2].")
			}
		}
		var values []String
		for _, item := range items {
			if v := p.columnValue(item, join(name, e.name)); v.IsSet() {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			list = append(list, Value{Column: p.keyName(e), Value: values[0], Or: values[1:]})
		}
	}
	return list
}

// columnValue reads what a column gets or must have.
func (p *parser) columnValue(n *yaml.Node, name string) String {
	v := p.scalarOf(n, name, "one value", "!!str", "!!int", "!!float", "!!bool", "!!null")
	if r, ok := p.resolve(n); ok && (r.Tag == "!!bool" || r.Tag == "!!null") {
		v.Value = strings.ToLower(v.Value)
	}
	return v
}
