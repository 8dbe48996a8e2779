package plan

// This file plans what jobs have in other tables. A claim keeps its own text, so that
// neither its plan nor its locks change: a further statement reads the rest by the
// keys of what was claimed.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// elsewhere is a column of another table.
type elsewhere struct {
	from   *queue.PayloadFrom
	column *schema.Column
}

// other is another table as a statement joins it.
type other struct {
	Table string // qualified
	As    string // what it is called, "" for its name
	On    string // names the row that belongs to a job
}

// payloadFields gives the columns of other tables fields of Job. One whose name is
// taken has the name of its table in front.
func (b *builder) payloadFields(overrides map[string]columnOverride, seen map[string]*schema.Column, keys map[string]bool, errs *source.ErrorList) {
	for _, from := range b.spec.PayloadFrom {
		called := cmp.Or(from.As, from.Table.Name)
		b.checkAlias(from, errs)
		for _, c := range from.Columns {
			f := b.field(c)
			f.Null, f.Payload = true, true
			f.Doc = "From " + plainText(from.Table.QualifiedName()) + "; nil where it has no row for the job, or null."
			if f.Name == "" || methods[f.Name] || seen[f.Name] != nil {
				f.Name, f.JSON = exportedOf(called, c.Name), jsonName(called+"_"+c.Name)
			}
			if o := overrides[called+"."+c.Name]; o.name.IsSet() {
				f.Name, f.JSON = o.name.Value, ""
			}
			if f.JSON == "" {
				f.JSON = snake(f.Name)
			}
			if f.Name == "" || seen[f.Name] != nil || methods[f.Name] {
				errs.Errorf(from.Pos, "column %q of %q has no name in Go that is free", c.Name, from.Table.QualifiedName()).
					WithHint("Say what it shall be called: rename: {%s.%s: Name} under gen.go in qgen.yaml.", called, c.Name)
				continue
			}
			f.Param = parameter(unexported(f.Name))
			seen[f.Name] = c.Column
			for keys[f.JSON] {
				f.JSON += "_"
			}
			keys[f.JSON] = true
			if o := overrides[called+"."+c.Name]; o.override != nil {
				b.override(f, c, *o.override, errs)
			}
			b.elsewhere[f] = elsewhere{from, c.Column}
			b.payload = append(b.payload, f)
		}
	}
}

// checkAlias complains about a name that the database would want in quotes: the
// condition has it without.
func (b *builder) checkAlias(from *queue.PayloadFrom, errs *source.ErrorList) {
	if folded := b.d.Fold(from.As); from.As != "" && b.d.Ident(folded) != folded {
		errs.Errorf(from.AsPos, "%s is a word of %s itself", from.As, b.d.Title).WithHint("Call the table otherwise.")
	}
}

// called is what a statement calls another table.
func (b *builder) called(from *queue.PayloadFrom) string {
	return cmp.Or(from.As, b.d.Ident(from.Table.Name))
}

// buildPayload plans the statement that reads what jobs have in other tables.
func (b *builder) buildPayload(errs *source.ErrorList) {
	if len(b.payload) == 0 {
		return
	}
	b.checkPop(errs)
	s, v := b.newScope(), b.base("Payload")
	s.listed, s.prefix = true, b.qualified()
	if b.pkg.Tables != nil {
		v.Alias, s.prefix = queueAlias, queueAlias+"."
	}
	for _, from := range b.spec.PayloadFrom {
		if strings.EqualFold(b.called(from), v.Names.Batch) {
			v.Names.Batch += "_rows"
		}
	}
	for _, from := range b.spec.PayloadFrom {
		s.around = append(s.around, queue.Among{Name: cmp.Or(from.As, from.Table.Name), Tables: []*schema.Table{from.Table}})
	}
	var tables []string
	for _, from := range b.spec.PayloadFrom {
		v.Others = append(v.Others, other{Table: b.d.Qualified(from.Table.Schema, from.Table.Name), As: from.As, On: s.raw(from.On)})
		tables = append(tables, plainText(from.Table.QualifiedName()))
	}
	v.Batch = s.batchOf(ArgBatch, ArgBatchAll, b.pkg.Key, nil, nil, "_held")
	rows := slices.Concat(b.pkg.Key, b.payload)
	v.Returning = s.read(rows)
	st := s.statement("payload", "select_payload", v, rows,
		"payload: what claimed jobs have in "+strings.Join(tables, ", "), "locks: none", "index: the key")
	var names []string
	for _, f := range b.payload {
		names = append(names, f.Name)
	}
	b.pkg.Payload = &Payload{Statement: st, Fields: b.payload, Tables: tables, Names: names}
}

// checkPop complains where rows that are taken and gone could not be looked at before.
func (b *builder) checkPop(errs *source.ErrorList) {
	if b.pkg.Strategy != "pop" || b.d.SingleWriter || b.can(dialect.RowLocks) && (b.can(dialect.SkipLocked) || b.spec.Waits || !b.can(dialect.Returning)) {
		return
	}
	errs.Errorf(b.spec.PayloadFrom[0].Pos, "strategy=pop locks rows to read what they have in other tables before it deletes them, and %s", b.noSkip()).
		WithHint("%s", strings.TrimSpace(b.sinceMend(dialect.SkipLocked)+" Or choose another strategy."))
}

// payloadDoc tells of an operation what it reads besides.
func (b *builder) payloadDoc(within string) []string {
	p := b.pkg.Payload
	if p == nil {
		return nil
	}
	comes := " comes from "
	if len(p.Names) > 1 {
		comes = " come from "
	}
	text := enumerated(p.Names) + comes + enumerated(p.Tables) + ", read by a further statement" + within + " and not locked: nil where no row belongs to the job, or the column is null."
	if b.pkg.Strategy == "partition" || within == "" {
		text += " A job whose own row is gone by then is left out."
	}
	return []string{text}
}

// enumerated lists words as a sentence does.
func enumerated(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
