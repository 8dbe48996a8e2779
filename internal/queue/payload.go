package queue

// This file finds the columns that go to the handler: those of the table, and those
// that other tables hold.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// goTypePath is a Go type, with or without the path of its package.
var goTypePath = regexp.MustCompile(`^(\*|\[\])?([A-Za-z0-9_.~-]+/)*[A-Za-z0-9_-]+(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// readPayload marks the columns of the payload: those that say so, and all
// that nothing else is said about.
func (b *binding) readPayload() {
	for _, r := range b.roles["payload"] {
		c := b.columns[r.column]
		c.Payload = true
		c.GoType, c.JSON = r.value("type"), r.has("json") || c.JSON
		if w := r.word("type"); w != nil && !goTypePath.MatchString(c.GoType) {
			b.errorf(w.values[0].pos, "%q is no Go type", c.GoType).
				WithHint("Write the type with the path of its package, in quotes: type='example.com/app/mail.Message'.")
		}
	}
	for _, c := range b.spec.Columns {
		unsaid := len(c.OwnRoles()) == 0 && !slices.Contains(b.spec.Key, c.Column) && c.Column != b.spec.Seq && !b.servesReady(c.Column)
		c.Payload = c.Payload || unsaid
	}
}

// readPayloadFrom reads which columns of a job other tables hold.
func (b *binding) readPayloadFrom() {
	for i := range b.config.Payload {
		entry := &b.config.Payload[i]
		t := b.payloadTable(entry)
		if t == nil {
			continue
		}
		b.errs.Add(t.Gaps...)
		from := &PayloadFrom{Table: t, As: entry.As.Value, Pos: entry.Pos, AsPos: entry.As.Pos, OnPos: entry.On.Pos}
		if !from.AsPos.IsValid() {
			from.AsPos = entry.Table.Pos
		}
		b.checkCalled(from)
		for _, name := range entry.Columns {
			b.payloadColumn(from, name)
		}
		before := b.errs.Len()
		on := asLiteral(entry.On)
		if from.On, _ = b.expression(on, nil); b.errs.Len() == before {
			b.checkJoin(from, on)
		}
		b.spec.PayloadFrom = append(b.spec.PayloadFrom, from)
	}
}

// payloadColumn adds a column of another table.
func (b *binding) payloadColumn(from *PayloadFrom, name config.String) {
	c := b.columnNamed(from.Table, name.Value, name.Pos)
	switch {
	case c == nil:
	case slices.ContainsFunc(from.Columns, func(have *Column) bool { return have.Column == c }):
		b.errorf(name.Pos, "column %q is named twice", name.Value).WithHint("Keep one of them.")
	default:
		column := Column{Column: c, Clock: b.spec.Clock}
		if said := b.columns[c]; said != nil {
			column = *said
		}
		column.Payload = true
		from.Columns = append(from.Columns, &column)
	}
}

// called is what statements call the table.
func (f *PayloadFrom) called() string {
	if f.As != "" {
		return f.As
	}
	return f.Table.Name
}

// checkCalled complains about two tables of one name in a statement.
func (b *binding) checkCalled(from *PayloadFrom) {
	name := from.called()
	var e *source.Error
	switch {
	case strings.EqualFold(name, b.table.Name):
		e = b.errorf(from.AsPos, "the queue's own table is called %q as well", name)
	case slices.ContainsFunc(b.spec.PayloadFrom, func(other *PayloadFrom) bool { return strings.EqualFold(name, other.called()) }):
		e = b.errorf(from.AsPos, "two tables of payload_from are called %q", name)
	default:
		return
	}
	e.WithHint("Give this one another name with as:, and use that in on:.")
}

// inText finds the parts of an expression: texts in quotes, macros, and names.
var inText = regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`|\\{[^}]*\\}|[\\pL_][\\pL\\pN_$#]*")

// checkJoin complains about a condition that does not look at the job's row, and about
// names of columns that both tables have.
func (b *binding) checkJoin(from *PayloadFrom, on literal) {
	if !strings.Contains(from.On, "{row}") {
		b.errorf(on.pos, "the condition does not look at the job's row").
			WithHint("Say which row of %s belongs to a job, {row} being the job's: %s.id = {row}.id.", from.called(), from.called())
		return
	}
	for _, at := range inText.FindAllStringIndex(on.text, -1) {
		word := on.text[at[0]:at[1]]
		before, after := strings.TrimRight(on.text[:at[0]], " "), strings.TrimLeft(on.text[at[1]:], " ")
		if strings.ContainsAny(word[:1], "'{") || strings.HasSuffix(before, ".") || strings.HasPrefix(after, ".") || strings.HasPrefix(after, "(") {
			continue
		}
		name := strings.Trim(word, "\"`")
		if own, other := columnOf(b.table, name, b.fold), columnOf(from.Table, name, b.fold); own != nil && other != nil {
			b.errorf(on.at(at[0], at[1]-at[0]), "both tables have a column %q", name).
				WithHint("Write {row}.%s for that of the job's row, %s.%s for the other.", word, from.called(), word)
		}
	}
	if !b.namesOne(from, on) {
		b.note("nothing in the DDL of %s tells that payload_from names one row at most; of several one is read, whichever it is", from.Table.QualifiedName())
	}
}

// namesOne reports whether the condition names every column of a key of the other table.
func (b *binding) namesOne(from *PayloadFrom, on literal) bool {
	names := map[*schema.Column]bool{}
	for _, word := range inText.FindAllString(on.text, -1) {
		if c := columnOf(from.Table, strings.Trim(word, "\"`"), b.fold); c != nil {
			names[c] = true
		}
	}
	if pk := from.Table.PrimaryKey; pk != nil && !slices.ContainsFunc(pk.Columns, func(c *schema.Column) bool { return !names[c] }) {
		return true
	}
	return slices.ContainsFunc(from.Table.Indexes, func(ix *schema.Index) bool {
		return ix.Unique && ix.Where == "" && !slices.ContainsFunc(ix.Columns, func(c schema.IndexColumn) bool { return !names[c.Column] })
	})
}
