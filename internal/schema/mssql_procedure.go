package schema

// This file reads calls of the procedures that change tables or say something of
// them.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// mssqlProcedures are the parameters, in order, of the procedures that are read.
var mssqlProcedures = map[string][]string{
	"sp_rename":                 {"@objname", "@newname", "@objtype"},
	"sp_addextendedproperty":    propertyParameters,
	"sp_updateextendedproperty": propertyParameters,
	"sp_dropextendedproperty":   slices.Delete(slices.Clone(propertyParameters), 1, 2),
	"sp_executesql":             {"@statement"},
}

var propertyParameters = []string{
	"@name", "@value", "@level0type", "@level0name", "@level1type", "@level1name", "@level2type", "@level2name",
}

// procedureAt returns which procedure of interest the name at token i calls, ""
// for none.
func (r *tolerant) procedureAt(i int) string {
	name := strings.ToLower(r.nameAt(r.st, r.st.qualified(i)))
	if mssqlProcedures[name] == nil {
		return ""
	}
	return name
}

// execute reads EXEC, or a call without it.
func (m *mssql) execute(r *tolerant) *source.Error {
	r.i = 0
	if r.acceptAny("exec", "execute") && r.st.is(r.i+1, "=") {
		r.i += 2 // what it returns
	}
	if r.is("(") && r.has(r.i+1, text) && r.st.is(r.i+2, ")") {
		m.triggerIn(r, r.i+1)
	}
	if !r.isName(r.i) {
		return nil
	}
	procedure := r.procedureAt(r.i)
	parameters := mssqlProcedures[procedure]
	r.i = r.st.qualified(r.i) + 1
	args := r.arguments(parameters)
	switch procedure {
	case "":
	case "sp_rename":
		m.renameObject(r, args)
	case "sp_executesql":
		m.triggerIn(r, args["@statement"])
	default:
		m.property(r, args)
	}
	return r.fault
}

// arguments returns the tokens of the values that a call gives for parameters; -1
// for one that it does not give.
func (r *tolerant) arguments(parameters []string) map[string]int {
	args := map[string]int{}
	for _, p := range parameters {
		args[p] = -1
	}
	for place := 0; r.i < len(r.st.tokens) && len(args) > 0; place++ {
		if name := r.word(); strings.HasPrefix(name, "@") && r.st.is(r.i+1, "=") {
			r.i += 2
			if name == "@stmt" { // as documented
				name = "@statement"
			}
			if _, ok := args[name]; ok {
				args[name] = r.i
			}
		} else if place < len(parameters) {
			args[parameters[place]] = r.i
		}
		for r.i < len(r.st.tokens) && !r.accept(",") {
			r.skip()
		}
	}
	return args
}

// constant returns the text that token i stands for as an argument; false where
// only running the script tells.
func (r *tolerant) constant(i int) (string, bool) {
	switch {
	case r.has(i, text):
		return textValue(r.st.text(i), false)
	case i < 0 || !r.isName(i), strings.HasPrefix(r.st.text(i), "@"), r.st.is(i, "null", "default"):
		return "", false
	}
	return r.nameAt(r.st, i), true
}

// partsOf returns the parts of a name that stands as a text.
func (r *tolerant) partsOf(name string) []string {
	s := scan(source.NewFile("", []byte(name)), r.drafts.lexis)
	var parts []string
	for _, t := range s.tokens {
		if t.kind == word || t.kind == quoted {
			parts = append(parts, r.stored(t, s))
		}
	}
	return parts
}

// renameObject reads sp_rename.
func (m *mssql) renameObject(r *tolerant, args map[string]int) {
	object, ok := r.constant(args["@objname"])
	to, renamed := r.constant(args["@newname"])
	what, _ := r.constant(args["@objtype"])
	parts := r.partsOf(object)
	if !ok || !renamed || to == "" || len(parts) == 0 {
		return
	}
	at := args["@newname"]
	member := strings.EqualFold(what, "column") || strings.EqualFold(what, "index")
	if !member {
		m.renameWhole(r, parts, to, at)
		return
	}
	if len(parts) < 2 {
		return
	}
	name := parts[len(parts)-1]
	schema, table := lastTwo(parts[:len(parts)-1])
	t := r.find(schema, table)
	switch {
	case t == nil && r.st.guarded:
	case t == nil:
		r.changedBefore(schema, table, r.st.pos(args["@objname"]))
	case strings.EqualFold(what, "index"):
		if ix := t.index(name); ix != nil {
			t.renameIndex(ix.Name, to, r.namePos(at))
		}
	default:
		c := t.Column(name)
		if c == nil {
			if !r.st.guarded {
				t.Gaps = append(t.Gaps, missingColumn(t, name, r.st.pos(args["@objname"])))
			}
			return
		}
		r.renameLater(t, c, to, r.namePos(at))
		r.doLater()
	}
}

// lastTwo returns the schema and the name in the parts of a name.
func lastTwo(parts []string) (schema, name string) {
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	return schema, parts[len(parts)-1]
}

// renameWhole gives a table another name, or a constraint of one; the new name
// stands at token at.
func (m *mssql) renameWhole(r *tolerant, parts []string, to string, at int) {
	schema, name := lastTwo(parts)
	if t := r.find(schema, name); t != nil {
		r.rename(t, to, r.namePos(at))
		return
	}
	for _, t := range r.tables {
		if !r.sameSchema(t.Schema, schema) {
			continue
		}
		if ix := t.index(name); ix != nil {
			t.renameIndex(ix.Name, to, r.namePos(at))
		}
		for _, k := range t.checks {
			if strings.EqualFold(k.name, name) {
				k.name = to
			}
		}
		for old, c := range t.defaults {
			if strings.EqualFold(old, name) {
				delete(t.defaults, old)
				t.nameDefault(to, c)
			}
		}
		for _, g := range t.Triggers {
			if strings.EqualFold(g.Name, name) {
				g.Name, g.Pos = to, r.namePos(at)
			}
		}
	}
}

// property reads the procedures that keep extended properties. A description, and
// whatever holds annotations, counts as a comment.
func (m *mssql) property(r *tolerant, args map[string]int) {
	name, ok := r.constant(args["@name"])
	target, of := m.described(r, args)
	if !ok {
		return
	}
	if target != nil {
		*target = slices.DeleteFunc(*target, func(c Comment) bool { return c.stored && strings.EqualFold(c.property, name) })
	}
	at, gives := args["@value"]
	if !gives {
		return
	}
	c, ok := r.textComment(at)
	if !ok {
		return
	}
	c.property = name
	switch {
	case strings.Contains(c.Text, mark):
	case strings.EqualFold(name, strings.TrimSuffix(mark, ":")):
		c.Text, c.Exact = mark+c.Text, false // the name says what it is
	case !strings.EqualFold(name, "MS_Description"):
		return
	}
	switch {
	case target != nil:
		*target = append(*target, c)
	case strings.Contains(c.Text, mark):
		c.Of = of
		r.loose = append(r.loose, c)
	}
}

// described returns the comments of the table or the column of which a property
// speaks; nil where the files have none, which is then of that name.
func (m *mssql) described(r *tolerant, args map[string]int) (comments *[]Comment, of string) {
	is := func(parameter string, types ...string) bool {
		given, _ := r.constant(args[parameter])
		return slicesContainsFold(types, given)
	}
	schema, _ := r.constant(args["@level0name"])
	table, _ := r.constant(args["@level1name"])
	column, inTable := r.constant(args["@level2name"])
	if !is("@level0type", "schema", "user") || !is("@level1type", "table", "view") || inTable && !is("@level2type", "column") {
		return nil, ""
	}
	of = schema + "." + table
	if inTable {
		of += "." + column
	}
	t := r.find(schema, table)
	switch {
	case t == nil:
	case !inTable:
		return &t.Comments, of
	default:
		if c := t.Column(column); c != nil {
			return &c.Comments, of
		}
	}
	return nil, of
}

// triggerIn reads the definition of a trigger in the text at token i, where
// scripts put it that ask first whether it is there. What is put together as the
// script runs stays unknown.
func (m *mssql) triggerIn(r *tolerant, i int) {
	definition, ok := r.constant(i)
	if !ok {
		return
	}
	file := source.NewFile(r.st.script.file.Path, []byte(definition))
	inner := scan(file, r.drafts.lexis).statements
	if len(inner) != 1 || !inner[0].is(0, "create", "alter") {
		return
	}
	outer, back := r.st, r.i
	r.st, r.i = inner[0], inner[0].skip(1, "or", "alter")
	if r.accept("trigger") {
		r.createTrigger()
	}
	r.st, r.i, r.fault = outer, back, nil
	for _, t := range r.tables {
		for _, g := range t.Triggers {
			if g.Pos.File == file {
				g.Pos = r.st.pos(i)
			}
		}
	}
}
