package queue

// This file reads templates: names of tables of one shape that are made at run time.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
)

// namePart is a part of a template that is known at run time only.
var namePart = regexp.MustCompile(`\{\{\.([A-Za-z_][A-Za-z0-9_]*)\}\}`)

// readNames reads the template of the table's name, and what the DDL has in the place of
// its parts.
func (b *binding) readNames() {
	w := b.queue.word("table")
	for _, p := range b.config.Params {
		b.spec.Names = append(b.spec.Names, &NamePart{Name: p.Name.Value, Number: p.Type.Value == "int"})
		if w == nil {
			b.errorf(p.Name.Pos, "no name of a table has the part %q", p.Name.Value).
				WithHint("Say where it stands: queue: 'table=\"jobs_{{.%s}}\"'.", p.Name.Value)
		}
	}
	if w == nil {
		return
	}
	l := w.values[0]
	if !b.checkParts(l) {
		return
	}
	for _, p := range b.config.Params {
		if !strings.Contains(l.text, "{{."+p.Name.Value+"}}") {
			b.errorf(p.Name.Pos, "the name of the queue's table has no part %q", p.Name.Value).
				WithHint("Write {{.%s}} in table=, or leave the parameter out.", p.Name.Value)
			return
		}
	}
	template, ok := b.match(l.text, b.table)
	if !ok {
		b.cannotBecome(l, b.table)
		return
	}
	t := *b.table
	t.Name, t.Indexes = template, slices.Clone(t.Indexes)
	for i, ix := range t.Indexes {
		named := *ix
		if slices.ContainsFunc(b.spec.Names, func(p *NamePart) bool { return p.Sample == "" }) {
			break // what the name of an index begins with is then no part of the table's
		}
		named.Name = strings.ReplaceAll(ix.Name, b.table.Name, template)
		t.Indexes[i] = &named
	}
	b.named = &t
}

// cannotBecome complains about a template of another name than the DDL has.
func (b *binding) cannotBecome(l literal, t *schema.Table) {
	b.errorf(l.pos, "the table of the DDL is called %q, which %s cannot become", t.Name, l.text).
		WithHint("The DDL holds one of the tables: its name, without the schema, and the template differ only in the parts in braces.")
}

// checkParts complains about a template that has no parts, or others than params says.
func (b *binding) checkParts(l literal) bool {
	found := namePart.FindAllStringSubmatchIndex(l.text, -1)
	if len(found) == 0 || strings.ContainsAny(namePart.ReplaceAllString(l.text, ""), "{}") {
		b.errorf(l.pos, "%q is not a table's name with parts that are known at run time", l.text).
			WithHint("Write each part as {{.Name}}, and say under params: in qgen.yaml what it is: params: {Channel: int}. A table whose name is known is named by table: in qgen.yaml.")
		return false
	}
	ok := true
	for _, at := range found {
		if b.namedPart(l.text[at[2]:at[3]]) == nil {
			ok = false
			name := l.text[at[2]:at[3]]
			b.errorf(l.at(at[0], at[1]-at[0]), "nothing says what %s is", l.text[at[0]:at[1]]).
				WithHint("Say it under params: in qgen.yaml: params: {%s: int} for digits, {%s: name} for letters, digits and underscores.", name, name)
		}
	}
	return ok
}

// match finds what the name of a table of the DDL has in the place of a template's parts,
// and returns the template with the rest as the DDL has it. A part that is known already
// has to be the same.
func (b *binding) match(template string, t *schema.Table) (string, bool) {
	var form strings.Builder
	var order []*NamePart
	rest := template
	for _, at := range namePart.FindAllStringSubmatchIndex(template, -1) {
		before, _, _ := strings.Cut(rest, template[at[0]:at[1]])
		p := b.namedPart(template[at[2]:at[3]])
		order = append(order, p)
		value := "[A-Za-z_][A-Za-z0-9_]*|"
		if p.Number {
			value = "[0-9]+"
		}
		form.WriteString("(" + regexp.QuoteMeta(before) + ")(" + value + ")")
		rest = rest[len(before)+at[1]-at[0]:]
	}
	form.WriteString("(" + regexp.QuoteMeta(rest) + ")")
	m := regexp.MustCompile("^" + form.String() + "$").FindStringSubmatch(t.Name)
	if m == nil && (t.AnyCase || b.fold(strings.ToUpper(t.Name)) == b.fold(strings.ToLower(t.Name)) && b.fold(t.Name) == t.Name) {
		m = regexp.MustCompile("^(?i:" + form.String() + ")$").FindStringSubmatch(t.Name)
	}
	if m == nil {
		return "", false
	}
	var out strings.Builder
	for i, text := range m[1:] {
		if i%2 == 0 {
			out.WriteString(text)
			continue
		}
		p := order[i/2]
		if b.named == nil && p.Sample == "" {
			p.Sample = text
		}
		if p.Sample != text {
			return "", false
		}
		out.WriteString(p.Mark())
	}
	return out.String(), true
}

// namedPart returns the part of that name, nil when there is none.
func (b *binding) namedPart(name string) *NamePart {
	if i := slices.IndexFunc(b.spec.Names, func(p *NamePart) bool { return p.Name == name }); i >= 0 {
		return b.spec.Names[i]
	}
	return nil
}

// payloadTable returns a table of payload_from, called as statements name it, where that
// is made at run time; nil after a complaint.
func (b *binding) payloadTable(entry *config.PayloadFrom) *schema.Table {
	const need = "The types of its columns are in its DDL, which the schema does not have: add the file with its CREATE TABLE to schema:."
	table := tableName{String: entry.Table, key: "table: ", need: need}
	l := asLiteral(entry.Table)
	if !strings.Contains(l.text, "{{") {
		return named(b.catalog, table, b.fold, b.errs)
	}
	if !b.checkParts(l) || b.named == nil {
		return nil
	}
	table.Value = Sampled(b.spec.Names, l.text)
	t := named(b.catalog, table, b.fold, b.errs)
	if t == nil {
		return nil
	}
	if !entry.As.IsSet() {
		b.errorf(l.pos, "a table whose name is made at run time is called by another that is known").
			WithHint("Say as: body, and use that in on:.")
		return nil
	}
	template, ok := b.match(l.text, t)
	if !ok { // it was named with its schema
		template, ok = b.match(strings.TrimPrefix(l.text, t.Schema+"."), t)
	}
	if !ok {
		b.cannotBecome(l, t)
		return nil
	}
	called := *t
	called.Name = template
	return &called
}
