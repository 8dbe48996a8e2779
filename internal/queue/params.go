package queue

// This file reads what narrows a claim: parameters, shards and predicates.

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// readNarrow reads what a ready row must satisfy besides its state.
func (b *binding) readNarrow() {
	k := &b.claims
	if r := k.dueRole(); r != nil && (!k.visible || k.told) {
		b.dueAt = 0
		b.narrow = append(b.narrow, b.isDue(r)...)
	}
	if c := b.spec.Expires; c != nil {
		t := Test{Column: c, Op: Greater, Values: []Value{{Kind: Now}}}
		if !c.NotNull {
			t.Or = []Test{{Column: c, Op: IsNull}}
		}
		b.narrow = append(b.narrow, t)
	}
	if a := b.spec.Attempts; a.Limited() && a.LimitClaim && !b.failedByLimit {
		b.narrow = append(b.narrow, a.left(0)...)
	}
	if d := k.length; k.lease != nil && d != nil {
		// The time of such a claim would be null, and the row looked free.
		lacks, otherwise := b.mayLack(d)
		switch {
		case d.wait != nil && (len(lacks) > 0 || otherwise):
			b.narrow = append(b.narrow, Test{Op: Raw, SQL: "(" + d.wait.SQL + ") is not null"})
		case d.column != nil && len(lacks) > 0:
			b.narrow = append(b.narrow, Test{Column: d.column, Op: NotNull})
		}
		for _, c := range lacks {
			b.note("warning: a row whose %s is null is not claimed: nothing would say when its claim ends", c.Name)
		}
	}
	for _, r := range b.roles["where"] {
		if text, ok := b.expression(r.words[0].values[0], &b.spec.Params); ok {
			b.narrow = append(b.narrow, Test{Op: Raw, SQL: text})
		}
	}
	b.readReadyIf()
}

// askMembers has what qgen:where says of all rows of the queue be asked wherever rows are
// looked for by their state, so that those of others in the table are left alone.
func (b *binding) askMembers() {
	if b.isAway() || b.movesAway() {
		return
	}
	var members []Test
	for _, r := range b.roles["where"] {
		condition := r.words[0].values[0].text
		if b.isLasting(condition) {
			members = append(members, Test{Op: Raw, SQL: strings.TrimSpace(condition)})
		}
	}
	for _, c := range b.spec.Key {
		if c.NotNull || b.primary(c) || slices.ContainsFunc(members, func(t Test) bool { return b.spec.Reads(t.SQL, c) }) {
			continue
		}
		members = append(members, Test{Column: c, Op: NotNull}) // which a condition says that is asked of ready rows alone
	}
	b.spec.Besides = slices.ContainsFunc(b.narrow, func(t Test) bool {
		return t.Op == Raw && !slices.ContainsFunc(members, func(m Test) bool { return m.SQL == strings.TrimSpace(t.SQL) })
	})
	for _, test := range members {
		b.spec.Members = append(b.spec.Members, test)
		for name, state := range b.spec.States {
			if name != Ready {
				state.Tests = append(slices.Clip(state.Tests), test)
			}
		}
		for _, name := range []TransitionName{Recover, GiveUp, Redrive, Purge} {
			if t := b.spec.Transitions[name]; t != nil {
				t.Tests = append(slices.Clip(t.Tests), test)
			}
		}
	}
}

// isLasting reports whether a condition tells what a row is, and not how things stand with it
// at the moment: it knows no clock, no other row and no argument, and no step writes what it
// reads, unless with a constant by which it holds.
func (b *binding) isLasting(condition string) bool {
	if strings.Contains(condition, "{") || source.Mentions(condition, "select") {
		return false
	}
	for _, name := range TransitionNames {
		t := b.spec.Transitions[name]
		if t == nil {
			continue
		}
		writes := t.ofOthers()
		if name != Enqueue {
			writes = append(writes, t.Writes...)
		}
		for _, w := range writes {
			if !b.spec.Reads(condition, w.Column) || b.spec.holdsWith(condition, w) {
				continue
			}
			if name == Update {
				b.note("warning: Enqueue may write to column %q of a row that is there what qgen:where %q does not take, so only claims ask that, and other operations go by the state alone; a constant that it takes, or old, leaves it to all", w.Column.Name, condition)
			}
			return false
		}
	}
	return true
}

// ofOthers lists what a step writes to rows of other jobs.
func (t *Transition) ofOthers() (writes []Write) {
	for _, c := range t.With {
		for _, v := range c.Set {
			if c.Others {
				writes = append(writes, Write{Column: v.Column.Column, Value: v.Value})
			}
		}
	}
	return writes
}

// holdsWith reports whether a condition takes what a step writes to a column, wherever it reads
// that.
func (s *Spec) holdsWith(condition string, w Write) bool {
	r := s.Read(PiecesOf(condition))
	reads := 0
	for i := range r.Pieces {
		if c, _ := r.Column(i); c == w.Column {
			reads++
		}
	}
	for _, t := range s.Comparisons(condition) {
		if t.Column != w.Column {
			continue
		}
		if !t.takes(w.Value) {
			return false
		}
		reads--
	}
	return reads == 0
}

// takes reports whether a comparison with constants surely holds for a value.
func (t Test) takes(v Value) bool {
	number := func(v Value) (int64, bool) {
		n, err := strconv.ParseInt(v.Text, 10, 64)
		return n, v.Kind == Literal && err == nil
	}
	n, numeric := number(v)
	every := func(holds func(limit int64) bool) bool {
		return numeric && t.Column.Type.Counts() && !slices.ContainsFunc(t.Values, func(u Value) bool {
			limit, ok := number(u)
			return !ok || !holds(limit)
		})
	}
	switch t.Op {
	case IsNull:
		return v.Kind == Null
	case NotNull:
		return v.Kind == Literal
	case In:
		return v.Kind == Literal && slices.ContainsFunc(t.Values, func(u Value) bool { return u.Text == v.Text })
	case NotIn:
		return every(func(limit int64) bool { return n != limit })
	case Less:
		return every(func(limit int64) bool { return n < limit })
	case LessEqual:
		return every(func(limit int64) bool { return n <= limit })
	case Greater:
		return every(func(limit int64) bool { return n > limit })
	case GreatEqual:
		return every(func(limit int64) bool { return n >= limit })
	}
	return false
}

// isDue returns the tests of a row whose time has come.
func (b *binding) isDue(r *role) []Test {
	c := r.column
	present := Value{Kind: Now}
	if add := b.length(r, "add", ""); add != nil {
		present.Shift = add.shift(true)
		b.claims.wait = add
	}
	test := Test{Column: c, Op: LessEqual, Values: []Value{present}}
	null := r.value("null")
	if w := r.word("null"); w != nil && c.NotNull {
		b.errorf(w.pos, "column %q is NOT NULL, so it is never null", c.Name).WithHint("Leave null= out.")
	}
	if !c.NotNull && null != "never" {
		test.Or = append(test.Or, Test{Column: c, Op: IsNull})
	}
	list := []Test{test}
	for _, magic := range []string{"always", "never"} {
		w := r.word(magic)
		if w == nil {
			continue
		}
		v, ok := b.literal(c, w.values[0])
		switch {
		case !ok:
		case v.Kind == Null:
			b.errorf(w.pos, "%s is said by null=", w.pos.Text()).WithHint("Write null=now for rows that are due at once, null=never for rows that never are.")
		case magic == "always":
			list[0].Or = append(list[0].Or, Test{Column: c, Op: In, Values: []Value{v}})
		default:
			list = append(list, Test{Column: c, Op: NotIn, Values: []Value{v}})
		}
	}
	return list
}

// readReadyIf reads the predicates of qgen.yaml.
func (b *binding) readReadyIf() {
	text := b.readyIf()
	if _, by := b.config.ReadyBy[b.config.Engine.Value]; !text.IsSet() && !by && len(b.config.ReadyBy) > 0 {
		b.silentFor("ready_if_by", "Add a line for it, or say ready_if for all databases.")
	}
	if !text.IsSet() {
		return
	}
	if sql, ok := b.expression(asLiteral(text), &b.spec.Params); ok {
		b.narrow = append(b.narrow, Test{Op: Raw, SQL: sql})
	}
}

// readyIf returns the predicate of qgen.yaml for the database of the queue.
func (b *binding) readyIf() config.String {
	if by, ok := b.config.ReadyBy[b.config.Engine.Value]; ok {
		return by
	}
	return b.config.ReadyIf
}

// silentFor complains about a key that lists databases and lacks the one of the queue.
func (b *binding) silentFor(key, hint string) {
	b.errorf(b.config.Engine.Pos, "%s says nothing for %s", key, orWord(b.config.Engine.Value, "this database")).WithHint("%s", hint)
}

func asLiteral(s config.String) literal { return literal{text: s.Value, quote: sql, pos: s.Pos} }

var (
	argForm    = regexp.MustCompile(`^arg:([A-Za-z_][A-Za-z0-9_]*)(?:\s+(\S+))?$`)
	goTypeForm = regexp.MustCompile(`^(\*|\[\])?[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)
	macros     = []string{"now", "time", "today", "row"}
	newRow     = "new" // the macro for what a new job brings to a row that is there
)

// expression checks an expression that a user wrote, as far as that is the
// same in all databases: it is one, and its macros are known. Arguments are added
// to args where it is not nil; in the text that is returned they stand as {arg:name}.
func (b *binding) expression(l literal, args *[]*Param) (string, bool) {
	var out strings.Builder
	before := b.errs.Len()
	text := l.text
	if strings.TrimSpace(text) == "" {
		b.errorf(l.pos, "the expression is empty").WithHint(`Write one in double quotes, for example "suspended = 0".`)
		return "", false
	}
	wrong := func(at, length int, why string) (string, bool) {
		b.errorf(l.at(at, length), "this is not one expression: %s", why).
			WithHint("Write one expression over the columns of the row, without comments and without a semicolon.")
		return "", false
	}
	var open []int // offsets of parentheses
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\'' || ch == '"' || ch == '`':
			end := strings.IndexByte(text[i+1:], ch)
			if end < 0 {
				return wrong(i, 1, "a quote is not closed")
			}
			if at := quotedMacro.FindStringIndex(text[i : i+end+2]); ch != '\'' && at != nil {
				macro := text[i+at[0] : i+at[1]]
				b.errorf(l.at(i+at[0], len(macro)), "%s stands within double quotes, where it is a part of a name or of a text", macro).
					WithHint("Leave these quotes out: what stands in the place of SQL is SQL already, and needs none but those of YAML, or of the annotation.")
				return "", false
			}
			out.WriteString(text[i : i+end+2])
			i += end + 1
			continue
		case ch == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return wrong(i, 1, "a brace is not closed")
			}
			out.WriteString(b.macro(l, i, end+1, args))
			i += end
			if strings.TrimSpace(text[i-end+1:i]) == "row" {
				b.rowColumn(l, i+1)
			}
			continue
		case ch == ';':
			return wrong(i, 1, "it holds a semicolon")
		case strings.HasPrefix(text[i:], "--") || strings.HasPrefix(text[i:], "/*"):
			return wrong(i, 2, "it holds a comment")
		case ch == 0:
			return wrong(i, 1, "it holds a NUL byte")
		case ch == '(':
			open = append(open, i)
		case ch == ')':
			if len(open) == 0 {
				return wrong(i, 1, "a parenthesis is closed that was not opened")
			}
			open = open[:len(open)-1]
		}
		out.WriteByte(text[i])
	}
	if len(open) > 0 {
		return wrong(open[len(open)-1], 1, "a parenthesis is not closed")
	}
	found := strings.TrimSpace(out.String())
	b.spec.Expressions = append(b.spec.Expressions, Expression{SQL: found, Pos: l.pos})
	return found, b.errs.Len() == before
}

// quotedMacro finds what stands in braces for something of the language.
var quotedMacro = regexp.MustCompile(`\{\s*(row|new|now|time|today|failures|arg:[^{}]*)\s*\}`)

// behindRow is the name of a column behind {row}; one behind which an argument list begins is
// a method.
var behindRow = regexp.MustCompile("^\\s*\\.\\s*(?:\"([^\"]+)\"|`([^`]+)`|\\[([^]]+)\\]|([\\pL_][\\pL\\pN_$#]*))\\s*(\\()?")

// rowColumn looks for the column that is named behind {row}, where anything is.
func (b *binding) rowColumn(l literal, at int) {
	m := behindRow.FindStringSubmatchIndex(l.text[at:])
	if m == nil || m[10] >= 0 {
		return
	}
	for _, i := range []int{2, 4, 6, 8} {
		if m[i] < 0 {
			continue
		}
		name := l.text[at+m[i] : at+m[i+1]]
		if columnOf(b.table, name, b.fold) == nil {
			b.spec.Unknown = append(b.spec.Unknown, RowColumn{Name: name, Pos: l.at(at+m[i], len(name))})
		}
	}
}

// macro checks what stands in braces at offset, and returns it as plan
// replaces it.
func (b *binding) macro(l literal, offset, length int, args *[]*Param) string {
	pos := l.at(offset, length)
	name := strings.TrimSpace(l.text[offset+1 : offset+length-1])
	if slices.Contains(macros, name) {
		if b.spec.Clock == "" && (name == "time" || name == "today") {
			b.errorf(pos, "nothing says whose clock {%s} shows", name).
				WithHint("Add clock: utc or clock: local to the queue in qgen.yaml, or clock= behind qgen:queue. Local is the time zone of the database session.")
		}
		return "{" + name + "}"
	}
	if name == newRow {
		b.newColumn(l, offset, length)
		return "{" + name + "}"
	}
	if name == failures && b.waiting {
		if why, hint := countless(b.spec.Attempts); why != "" {
			b.errorf(pos, "{%s} is how often a job has failed, and %s", name, why).WithHint("%s", hint)
		}
		return "{" + name + "}"
	}
	m := argForm.FindStringSubmatch(name)
	switch {
	case m == nil:
		b.errorf(pos, "{%s} is not known", name).
			WithHint("%s", suggest(name, macros, "In braces stand {arg:name gotype} and")+" Braces of SQL itself stand in quotes.")
	case args == nil:
		b.errorf(pos, "{%s} stands where no argument can be given", name).
			WithHint("Arguments stand in qgen:where, ready_if, purge_if and enqueue_if, and in what qgen:on, also: and the set: of an outcome write.")
	case m[2] != "" && !goTypeForm.MatchString(m[2]):
		b.errorf(pos, "%q is no Go type", m[2]).WithHint("Write {arg:%s int}.", m[1])
	case m[2] != "" && !b.hasGoType(m[2], pos):
	case args == &b.spec.Asked && strings.TrimLeft(m[2], "*") == goDuration:
		b.errorf(pos, "databases have no common form of a %s", goDuration).
			WithHint("Write now+arg:%s where it is added to the present; or take a number: {arg:%s float64}.", m[1], m[1])
	default:
		b.argument(args, &Param{Name: m[1], Kind: Argument, GoType: m[2], Pos: pos})
		return "{arg:" + m[1] + "}"
	}
	return ""
}

// goTypes are the types of Go without a package that a driver may take.
var goTypes = []string{"string", "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune", "float32", "float64", "any"}

// hasGoType reports whether the package can name a Go type. Those of other packages it
// imports only where qgen.yaml says from where.
func (b *binding) hasGoType(text string, pos source.Pos) bool {
	name := strings.TrimLeft(text, "*[]")
	pkg, _, qualified := strings.Cut(name, ".")
	switch {
	case slices.Contains(goTypes, name), qualified && slices.Contains([]string{"time", "json", "sql"}, pkg):
	case !qualified:
		b.errorf(pos, "%q is no Go type", text).WithHint("%s", suggest(name, goTypes, "Types without a package are"))
		return false
	case b.config.Gen.Go == nil || !slices.ContainsFunc(b.config.Gen.Go.Overrides, func(o config.Override) bool {
		return slices.Contains(strings.Split(o.Import.Value, "/"), pkg)
	}):
		b.errorf(pos, "nothing imports the package of the type %s", text).
			WithHint("Types of time, json (encoding/json) and sql (database/sql) are known, and those of packages that overrides: of qgen.yaml import. Or write a type that Go has, such as string.")
		return false
	}
	return true
}

// noGoType complains about an argument of which nothing says the type.
func (b *binding) noGoType(p *Param) {
	b.errorf(p.Pos, "argument %q has no Go type", p.Name).WithHint("Write {arg:%s int}, or whatever type its values have.", p.Name)
}

// argument adds an argument of Claim or of Purge, or one of which what a step writes is made; of that
// another place may say the type.
func (b *binding) argument(to *[]*Param, p *Param) {
	i := slices.IndexFunc(*to, func(have *Param) bool { return have.Name == p.Name })
	switch {
	case i < 0 && p.GoType == "" && to != &b.spec.Asked:
		b.noGoType(p)
	case i < 0:
		*to = append(*to, p)
	case (*to)[i].Kind != p.Kind:
		b.sameName(p.Pos, p.Name)
	case (*to)[i].GoType == "":
		(*to)[i].GoType, (*to)[i].Pos = p.GoType, p.Pos
	case p.GoType != "" && p.GoType != (*to)[i].GoType:
		b.errorf(p.Pos, "argument %q is %s here, but %s at %s", p.Name, p.GoType, (*to)[i].GoType, (*to)[i].Pos).
			WithHint("Say the type once, or the same each time.")
	}
}

// sameName complains about an argument that is called like a topic.
func (b *binding) sameName(pos source.Pos, name string) {
	b.errorf(pos, "argument %q and topic %q have the same name", name, name).WithHint("Call the argument otherwise.")
}

// readParams reads the topics.
func (b *binding) readParams() {
	var topics []*Param
	for _, r := range b.roles["topic"] {
		c := r.column
		p := &Param{Name: c.Name, Column: c, Kind: Equal, Optional: r.has("optional"), Pos: r.pos}
		if i := slices.IndexFunc(b.spec.Params, func(p *Param) bool { return p.Name == c.Name }); i >= 0 {
			b.sameName(b.spec.Params[i].Pos, c.Name)
		}
		var kind *word
		for _, k := range []ParamKind{List, Except, Minimum, Maximum, Prefix} {
			w := r.word(string(k))
			switch {
			case w == nil:
			case kind != nil:
				b.errorf(w.pos, "a topic cannot be %s and %s", kind.name, w.name).
					WithHint("Keep one of them, or write the condition as qgen:where.")
			default:
				kind, p.Kind = w, k
			}
		}
		if p.Kind == Prefix && (c.Type.Class != schema.Text || c.Type.Enum) {
			b.errorf(kind.pos, "column %q is %s, which has no prefix", c.Name, c.Type.Raw).
				WithHint("prefix is for columns of text.")
		}
		if w := r.word("any"); w != nil {
			for _, l := range w.values {
				if l.quote == bare && l.text == "null" && c.NotNull {
					b.note("column %q is NOT NULL, so any=null changes nothing", c.Name)
				} else if v, ok := b.literal(c, l); ok {
					p.Any = append(p.Any, v)
				}
			}
		}
		if !c.NotNull && !slices.ContainsFunc(p.Any, func(v Value) bool { return v.Kind == Null }) {
			who := "by no claim"
			if p.Optional {
				who = "only by a claim for every topic"
			}
			b.note("a row whose column %q is null is taken %s; any=null lets it suit everyone", c.Name, who)
		}
		topics = append(topics, p)
	}
	b.spec.Params = append(topics, b.spec.Params...)
}

// readShard reads how the table is split between instances.
func (b *binding) readShard() {
	list := b.roles["shard"]
	if len(list) == 0 {
		return
	}
	r := list[0]
	if len(list) > 1 {
		b.errorf(list[1].pos, "the table is split in two ways, here and at %s", r.pos).WithHint("Keep one qgen:shard.")
		return
	}
	var kind *word
	for _, w := range r.words {
		if kind != nil {
			b.errorf(w.pos, "a shard cannot be %s and %s", kind.name, w.name).WithHint("Keep mod, range or hash=\"…\".")
			return
		}
		kind = w
	}
	shard := &Shard{Column: r.column, Kind: "mod", Pos: r.pos}
	switch {
	case kind != nil && kind.name == "hash":
		shard.Kind = "hash"
		shard.Column = nil
		l := kind.values[0]
		if l.quote != sql {
			b.errorf(l.pos, "hash needs an expression").WithHint(`Write it in double quotes: hash="hashtext({row}.name)".`)
			return
		}
		shard.SQL, _ = b.expression(l, nil)
	case r.column == nil:
		b.errorf(r.pos, "qgen:shard of a table needs an expression").
			WithHint(`Write hash="…", or mark a column of numbers with qgen:shard mod.`)
		return
	default:
		if kind != nil {
			shard.Kind = kind.name
		}
		if r.column.Type.Class != schema.Int || r.column.Type.Array {
			b.errorf(r.pos, "column %q is %s, which cannot be divided among instances", r.column.Name, r.column.Type.Raw).
				WithHint(`%s is for columns of whole numbers. Write an expression: hash="…".`, shard.Kind)
			break
		}
		if shard.Kind == "range" && !b.readRange(shard, kind) {
			return
		}
	}
	b.spec.Shard = shard
}

// readRange reads which values a shard divides: those that are said, else all that the column's type has.
func (b *binding) readRange(shard *Shard, w *word) bool {
	c := shard.Column
	shard.Least, shard.Most = c.Type.Range()
	if w.op == flag {
		if shard.Least == nil {
			b.errorf(w.pos, "nothing says between which values column %q lies, which is %s", c.Name, c.Type.Raw).
				WithHint("Write the least and the greatest: range=0|1023. What lies outside goes to the first or the last instance.")
			return false
		}
		return true
	}
	var ends []*big.Int
	for _, l := range w.values {
		if v, ok := b.literal(c, l); ok {
			if n, whole := new(big.Int).SetString(v.Text, 10); whole && v.Kind == Literal && l.quote != sql {
				ends = append(ends, n)
				continue
			}
			b.errorf(l.pos, "%q is no whole number", l.text).WithHint("Write the least and the greatest value: range=0|1023.")
		}
	}
	if len(ends) < 2 {
		return false
	}
	if ends[0].Cmp(ends[1]) >= 0 {
		b.errorf(w.pos, "%s is not less than %s", ends[0], ends[1]).WithHint("Write the least value first: range=0|1023.")
		return false
	}
	shard.Least, shard.Most = ends[0], ends[1]
	return true
}
