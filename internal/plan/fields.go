package plan

// This file turns columns into the fields of Job and the types of Go.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// buildFields gives every column that is read a Go field.
func (b *builder) buildFields(q *config.Queue, errs *source.ErrorList) {
	given := b.byColumn(q, errs)
	for _, c := range b.spec.Elsewhere {
		b.roles[c.Column] = c
	}
	seen, keys := map[string]*schema.Column{}, map[string]bool{"row_id": true, "row_table": true, "held": b.spec.Log != nil}
	for _, c := range b.spec.Columns {
		b.roles[c.Column] = c
		if c.Ignored {
			continue
		}
		f := b.field(c)
		if name := given[c.Name].name; name.IsSet() {
			f.Name = name.Value
			f.Param = parameter(unexported(name.Value))
		}
		if f.Name == "" {
			errs.Errorf(c.Pos, "column %q has no letter or digit to make a Go name of", c.Name).
				WithHint("Say what it shall be called in Go: rename: {%s: Name} under gen.go in qgen.yaml.", strconv.Quote(c.Name))
			continue
		}
		if methods[f.Name] || b.spec.Log != nil && f.Name == "Held" || strings.HasPrefix(f.Name, "Decode") && f.Codec == JSONBytes {
			f.Name += "Value" // Job has a method of that name
		}
		if first, ok := seen[f.Name]; ok {
			errs.Errorf(c.Pos, "columns %q and %q both become the Go field %s", first.Name, c.Name, f.Name).
				WithHint("Rename one: rename: {%s: %s2} under gen.go in qgen.yaml.", strconv.Quote(c.Name), f.Name)
			continue
		}
		seen[f.Name] = c.Column
		if f.JSON == "" {
			f.JSON = snake(f.Name)
		}
		for keys[f.JSON] {
			f.JSON += "_"
		}
		keys[f.JSON] = true
		if o := given[c.Name].override; o != nil {
			b.override(f, c, *o, errs)
		}
		b.fields[c.Column] = f
		b.pkg.Fields = append(b.pkg.Fields, f)
	}
	b.payloadFields(given, seen, keys, errs)
}

// columnOverride is what qgen.yaml says of a column's field.
type columnOverride struct {
	name     config.String
	override *config.Override
}

// byColumn indexes overrides and renames by the stored name of their column; that of
// another table has in front what the table is called.
func (b *builder) byColumn(q *config.Queue, errs *source.ErrorList) map[string]columnOverride {
	given := map[string]columnOverride{}
	if q.Gen.Go == nil {
		return given
	}
	find := func(name config.String) string {
		for _, from := range b.spec.PayloadFrom {
			called := cmp.Or(from.As, from.Table.Name)
			for _, c := range from.Columns {
				if full := called + "." + c.Name; full == name.Value || strings.EqualFold(full, b.d.Fold(name.Value)) {
					return full
				}
			}
		}
		for _, n := range []string{name.Value, b.d.Fold(name.Value)} {
			if b.spec.Table.Column(n) != nil {
				return n
			}
		}
		var names []string
		for _, c := range b.spec.Table.Columns {
			names = append(names, c.Name)
		}
		e := errs.Errorf(name.Pos, "table %q has no column %q", b.spec.Table.QualifiedName(), name.Value)
		if near := source.Nearest(name.Value, names); near != "" {
			e.WithHint("Did you mean %q?", near)
		} else {
			e.WithHint("Its columns are %s.", strings.Join(names, ", "))
		}
		return ""
	}
	for i := range q.Gen.Go.Overrides {
		if name := find(q.Gen.Go.Overrides[i].Column); name != "" {
			given[name] = columnOverride{given[name].name, &q.Gen.Go.Overrides[i]}
		}
	}
	for _, r := range q.Gen.Go.Rename {
		if name := find(r.Column); name != "" {
			given[name] = columnOverride{r.Name, given[name].override}
		}
	}
	return given
}

// field returns the field of a column.
func (b *builder) field(c *queue.Column) *Field {
	rule := b.rule(c.Column)
	f := &Field{
		Column:  c.Name,
		SQLType: plainText(c.Type.Raw),
		Name:    exported(c.Name),
		Param:   parameter(unexported(c.Name)),
		JSON:    jsonName(c.Name),
		GoType:  rule.Go,
		Null:    !c.NotNull,
		Cast:    b.castType(c.Type),
		Payload: c.Payload,
		Unique: slices.ContainsFunc(b.spec.Table.Uniques, func(k *schema.Key) bool {
			return slices.Contains(k.Columns, c.Column)
		}),
		UUID: c.Type.Class == schema.UUID, FillsUp: c.Type.FillsUp(), Most: c.Most(),
	}
	switch {
	case c.Width > 0:
		f.GoType, f.Codec, f.Width = "time.Time", Codec(strings.TrimPrefix(c.As, "text:")), c.Width
	case strings.HasPrefix(c.As, "text:"):
		f.GoType, f.Codec, f.Layout = "time.Time", TextTime, strings.TrimPrefix(c.As, "text:")
	case c.As != "":
		f.GoType, f.Codec = "time.Time", Codec(c.As)
		f.Fraction = c.Type.Class == schema.Float || c.Type.Class == schema.Decimal && c.Type.Scale != 0
	case rule.Go == "json.RawMessage":
		f.Codec = JSONBytes
	case Codec(rule.Codec) == WallTime && c.Type.Class == schema.Date && c.Clock == "":
		// A day of the calendar, which is the same day wherever it was written down.
	case rule.Codec != "":
		f.Codec, f.Layout = Codec(rule.Codec), rule.Layout
		f.Bare = f.Codec == TextTime && c.Type.Class == schema.Date && c.Clock == "" // likewise
	}
	f.Empty = f.TimeIsText() && b.emptyIsNone(c.Column)
	f.Digits = c.Type.Class == schema.Decimal && f.GoType == "string"
	f.UTC = f.Bare || cmp.Or(c.Clock, b.spec.Clock) != "local"
	if c.Type.Class == schema.Text && c.Type.Enum {
		f.GoType = "string"
	}
	f.Sample = b.sample(c.Column, f)
	return f
}

// emptyIsNone reports whether an empty text in a column of texts that keeps time stands for none: the
// table begins with it, or it tells a state, or a step writes it.
func (b *builder) emptyIsNone(c *schema.Column) bool {
	empty := func(v queue.Value) bool { return v.Kind == queue.Literal && v.Text == "" }
	if c.Type.Class != schema.Text || strings.HasPrefix(strings.Trim(c.Default, "( "), "''") {
		return c.Type.Class == schema.Text
	}
	for _, state := range b.spec.States {
		for _, t := range state.Tests {
			if slices.ContainsFunc(t.Alternatives(), func(t queue.Test) bool { return t.Column == c && slices.ContainsFunc(t.Values, empty) }) {
				return true
			}
		}
	}
	for _, t := range b.spec.Transitions {
		if slices.ContainsFunc(t.Writes, func(w queue.Write) bool { return w.Column == c && empty(w.Value) }) {
			return true
		}
	}
	return false
}

// columnOf returns the column of a field: of the queue's table, unless a step writes it
// to another; nil of the place of a row.
func (b *builder) columnOf(f *Field) *schema.Column {
	if c := b.foreign[f]; c != nil {
		return c
	}
	return b.spec.Table.Column(f.Column)
}

// castType names a type in the dialect's words for casts of arguments.
func (b *builder) castType(t schema.Type) string {
	if t.Enum || b.d.Types[t.Name].Cast == "" {
		return b.typeName(t)
	}
	name := b.d.Types[t.Name].Cast
	if t.Array {
		name += "[]"
	}
	return name
}

// typeName names a type in the dialect's words as the catalog has it.
func (b *builder) typeName(t schema.Type) string {
	name := t.Name
	if unsigned := t.Name + " unsigned"; b.ruleName(t) == unsigned {
		name = unsigned
	}
	if t.Enum || b.d.Types[t.Name].Go == "" && t.Schema != "" {
		name = b.d.Qualified(t.Schema, t.Name)
	}
	if t.Array {
		name += "[]"
	}
	return name
}

// countedIn says for people in what a number counts.
var countedIn = map[Codec]string{Epoch: "seconds", EpochMS: "milliseconds", EpochUS: "microseconds", EpochNS: "nanoseconds"}

// textTypes are types of Go that hold whatever a driver gives as text.
var textTypes = []string{"string", "[]byte", "sql.NullString", "sql.RawBytes"}

// override gives the field of a column the Go type that the user wants.
func (b *builder) override(f *Field, c *queue.Column, o config.Override, errs *source.ErrorList) {
	name := o.Type.Value
	if f.Codec.counts() && c.As == "" && slices.Contains(textTypes, name) && o.Codec.Value == "" {
		errs.Errorf(o.Type.Pos, "times of column %q travel as a number of %s since 1970, of which %s would hold the digits", c.Name, countedIn[f.Codec], name).
			WithHint("Leave it out and have a time.Time. Or take int64, or a type of your own whose Scan and Value know that number.")
		return
	}
	if o.Import.IsSet() {
		path := o.Import.Value
		base := path[strings.LastIndex(path, "/")+1:]
		if v := strings.TrimLeft(base, "v"); v != "" && strings.Trim(v, "0123456789") == "" && strings.Contains(path, "/") {
			rest := strings.TrimSuffix(path, "/"+base)
			base = rest[strings.LastIndex(rest, "/")+1:]
		}
		b.imports(path, base)
		name = base + "." + name
	}
	if o.Codec.Value == "json" {
		b.pkg.Decodes = append(b.pkg.Decodes, Decode{Method: "Decode" + f.Name, Field: f, Type: name})
		return
	}
	f.GoType, f.Codec, f.Digits = name, Direct, f.Digits && name == "string"
}

// namedPayloads adds the Go types that payload type= names.
func (b *builder) namedPayloads() {
	for _, c := range b.spec.Columns {
		f := b.fields[c.Column]
		if f == nil || c.GoType == "" || slices.ContainsFunc(b.pkg.Decodes, func(d Decode) bool { return d.Field == f }) {
			continue
		}
		name := c.GoType
		if i := strings.LastIndex(name, "."); i > strings.LastIndex(name, "/") && i > 0 {
			path := name[:i]
			base := path[strings.LastIndex(path, "/")+1:]
			b.imports(path, base)
			name = base + name[i:]
		}
		b.pkg.Decodes = append(b.pkg.Decodes, Decode{Method: "Decode" + f.Name, Field: f, Type: name})
	}
}

// imports has the package import another under a name, once.
func (b *builder) imports(path, name string) {
	if i := (Import{Path: path, Name: name}); !slices.Contains(b.pkg.Imports, i) {
		b.pkg.Imports = append(b.pkg.Imports, i)
	}
}

// read returns the columns as a statement reads them, in the order of fields.
func (s *scope) read(fields []*Field) []string {
	var texts []string
	for _, f := range fields {
		texts = append(texts, s.readOne(f))
	}
	return texts
}

// readTaken reads columns of rows that the next statement of a claim writes: what is known of that
// before, as it leaves them.
func (s *scope) readTaken(fields []*Field) []string {
	texts := s.read(fields)
	for i, f := range fields {
		w := s.reckoned(f)
		if w == nil {
			continue
		}
		c := w.Column
		text, rule := s.assigned(*w), s.rule(c)
		digits := digitsOf(c.Type.Step)
		if s.handsOver(*w) && rule.Cut != "" && digits < wholeDigits && (w.Value.Shift != nil || s.past(c) == "") {
			text = dialect.Fill(rule.Cut, "value", text, "digits", strconv.Itoa(digits))
		}
		if rule.Read != "" {
			text = dialect.Fill(rule.Read, "column", text)
		}
		texts[i] = text
	}
	return texts
}

func (s *scope) readOne(f *Field) string {
	if f.RowID {
		return s.rowIdentity(f)
	}
	c := s.columnOf(f)
	text := s.column
	if at, ok := s.elsewhere[f]; ok {
		c, text = at.column, func(c *schema.Column) string { return s.called(at.from) + "." + s.d.Ident(c.Name) }
	}
	if form := s.rule(c).Read; form != "" {
		return dialect.Fill(form, "column", text(c))
	}
	return text(c)
}

// rowIdentity reads the physical identity of a row as text.
func (s *scope) rowIdentity(f *Field) string {
	if s.d.RowIdentity.Read != "" {
		return dialect.Fill(s.d.RowIdentity.Read, "row", s.prefix)
	}
	return s.prefix + f.Column
}

// rule returns the type rule of a column.
func (b *builder) rule(c *schema.Column) dialect.TypeRule {
	if c.Type.Array {
		return b.d.Classes[""]
	}
	rule := b.d.Type(b.ruleName(c.Type), string(c.Type.Class))
	if rule.Shown != "" && !b.zoned(c) {
		rule = b.d.Types[rule.Shown]
	}
	return rule
}

// ruleName is the name of the rule of a type: its own, or with what else is
// said of it where the dialect has a rule for that.
func (b *builder) ruleName(t schema.Type) string {
	long := t.Length == 0 || b.d.LongText > 0 && t.Length > b.d.LongText
	for _, more := range []struct {
		word string
		has  bool
	}{{"unsigned", t.Unsigned}, {"bool", t.Class == schema.Bool}, {"json", t.Class == schema.JSON}, {"max", long}} {
		if name := t.Name + " " + more.word; more.has && b.d.Types[name].Go != "" {
			return name
		}
	}
	return t.Name
}

// write wraps an argument for a column, where its type needs it.
func (b *builder) write(c *schema.Column, arg string) string {
	if form := b.rule(c).Write; form != "" {
		return dialect.Fill(form, "arg", arg, "type", b.castType(c.Type))
	}
	return arg
}

// returns sets what a statement that inserts, updates or deletes returns.
func (s *scope) returns(v *values, event string, fields []*Field) {
	if len(fields) == 0 {
		return
	}
	if s.can(dialect.TriggerOutput) && s.spec.Table.Fires(event) {
		s.keep(v, event, fields)
		return
	}
	v.Returning = s.outputs(event, fields, s.readOne)
}

// keep has a statement keep what it would return, to be read by another behind
// it.
func (s *scope) keep(v *values, event string, fields []*Field) {
	column := func(f *Field) string { return s.column(s.columnOf(f)) }
	v.Output = s.outputs(event, fields, column)
	v.Kept, v.Returning = nil, nil
	outer := s.prefix
	s.prefix = ""
	for _, f := range fields {
		c := s.columnOf(f)
		v.Kept = append(v.Kept, column(f)+" "+cmp.Or(s.rule(c).Kept, c.Type.Raw))
		v.Returning = append(v.Returning, s.readOne(f))
	}
	s.prefix = outer
}

// outputs writes fields as a statement returns them: the key as it was, where
// that moves, the others as they are.
func (s *scope) outputs(event string, fields []*Field, write func(*Field) string) []string {
	outer := s.prefix
	defer func() { s.prefix = outer }()
	var texts []string
	for _, f := range fields {
		s.prefix = cmp.Or(s.d.Returned[event], outer)
		if s.moved && slices.Contains(s.pkg.Key, f) {
			s.prefix = s.d.Fragments["was"].At(s.version)
		}
		texts = append(texts, write(f))
	}
	return texts
}

// taken sets the columns of picked rows that a statement names.
func (s *scope) taken(v *values) {
	if s.d.Composite != "none" {
		return
	}
	text := strings.Join(slices.Concat(v.Set, v.Returning, v.Output), " ")
	for _, c := range s.spec.Table.Columns {
		if source.Mentions(text, c.Name) {
			v.Taken = append(v.Taken, s.d.Ident(c.Name))
		}
	}
	if len(v.Taken) == 0 {
		v.Taken = []string{s.d.Ident(s.spec.Table.Columns[0].Name)}
	}
}
