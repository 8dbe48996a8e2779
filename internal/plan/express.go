package plan

// This file writes tests and values as SQL expressions.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// builder builds the package of one queue.
type builder struct {
	spec    *queue.Spec
	d       *dialect.Dialect
	version dialect.Version
	pkg     *Package
	old     *oldProgram // nil: nothing else takes rows
	roles   map[*schema.Column]*queue.Column
	fields  map[*schema.Column]*Field
	// payload are the fields of columns that other tables hold, elsewhere those columns.
	payload   []*Field
	elsewhere map[*Field]elsewhere
	result    *Field // what Complete is given, once it is known
	// arguments are those that the user names, by those names.
	arguments map[string]*Param
	// purgeAsks are the arguments of purge_if by their names.
	purgeAsks map[string]*Param
	// foreign are the columns of fields that a step writes to another table.
	foreign map[*Field]*schema.Column
	alive   *Param // the workers that are, as Recover is told
	rowID   *Field // the physical identity of a row, where it is used
	// rowToken: a fresh value per row is what names a row without a key.
	rowToken *Field
	earlier  []*Package // of queues over the same table
	writers  []writer   // of other tables
	// declined are the kinds of indexes that qgen.yaml says are not wanted; unserved: so is that of
	// Claim, and no index of the table serves it; walked then gives the order of all rows.
	declined []string
	unserved bool
	walked   *schema.Index
	// nullsFirst: the first term of the order says NULLS FIRST, which a primary key
	// cannot serve, so that the planner takes the index of the queue.
	nullsFirst bool
	// untied: rows of one time come as an index of the table has them, which the key at the
	// end of the order would keep from giving it.
	untied bool
	// noEnqueue says why there is no Enqueue, "" when there is one.
	noEnqueue string
	offset    *offsetPlan // of a log
	upserts   *upsert     // how Enqueue changes a row that is there; nil where it does not
	// side plans over the side table that holds the claims, as held says; rows, of
	// that and of a builder over a table to which a claim adds a row, over the queue's own.
	side, rows *builder
	held       queue.Side
	// ready plans over the table of ready rows where jobs run in another; running, of
	// that, over the other.
	ready, running *builder
	zeroDates      bool // a constant is 0000-00-00, which the server may refuse
	cluster        bool // several nodes lock rows each for itself
	// conformancePos is where the test of the package was asked for.
	conformancePos source.Pos
	shared         *values // what the statements have in common
	// complain reports what the user asks of a column and the server cannot do.
	complain func(c *schema.Column, hint, format string, args ...any)
	// complainBeside refuses what is done to another table.
	complainBeside func(c *queue.Companion, text, hint string)
	// fail reports a contradiction within the generator.
	fail func(err error)
}

// scope is the text of one statement while it is written: what a column is
// called in it, and its arguments.
type scope struct {
	*builder
	prefix string // before every column: "" or "t."
	moved  bool   // the key is returned as it was
	listed bool   // the batch is a list in the text, where it might travel otherwise
	args   []Arg
	settle settleScope
	// replan: an argument may be null, and then narrows nothing.
	replan bool
	// around are other tables whose columns an expression names, being no part of it.
	around []queue.Among
	// misread: a function of dates would not take {now} for the present.
	misread bool
	// unkept is a column of numbers for which {now} would be no number: nothing says how it keeps time.
	unkept *schema.Column
	// single: a statement of a claim takes one row.
	single bool
	// handed: the times that a claim writes are those with which its jobs were read.
	handed bool
	// lockless: the statement takes no lock, also none that a condition would take.
	lockless bool
	// looks: rows of a group are looked for among those that a claim asks for.
	looks bool
	// beside is the companion that the statement is for, nil for most.
	beside *queue.Companion
	// newValue returns what a new row has in a column where the statement meets one that is there,
	// or else adds it; nil in all other statements.
	newValue func(*schema.Column) string
	// inTurn: assignments are made in their order, although columns have a prefix.
	inTurn bool
	// told are values that are read for each row before they are counted, where an
	// aggregate takes no sub-query.
	told []string
	// asks are the arguments that expressions take in a statement of Purge; nil where they are
	// those of Claim.
	asks map[string]*Param
	// newArgument returns what a new job has for an argument of which values of its row are made; nil
	// where no row is added.
	newArgument func(*Field) string
}

// arg records an argument and returns its mark.
func (s *scope) arg(a Arg) string { return dialect.Mark(s.record(a)) }

// list is arg for a list that is written into the text.
func (s *scope) list(a Arg) string { return dialect.MarkText(s.record(a), a.First) }

// record returns the number of an argument; one that was recorded before keeps
// its own.
func (s *scope) record(a Arg) int {
	for i, have := range s.args {
		if have.Kind == a.Kind && have.Field == a.Field && have.Param == a.Param && have.Max == a.Max && have.Most == a.Most && have.Name == a.Name && have.First == a.First && slices.Equal(have.Batch, a.Batch) {
			return i
		}
	}
	s.args = append(s.args, a)
	return len(s.args) - 1
}

// column returns a column as it is written in this scope.
func (s *scope) column(c *schema.Column) string { return s.prefix + s.d.Ident(c.Name) }

// tests returns the conditions, one text each.
func (s *scope) tests(list []queue.Test) []string {
	if s.lockless {
		list, _ = s.withoutLocks(list)
	}
	var texts []string
	for _, t := range list {
		if text := s.test(t); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// test returns one condition; alternatives stand in parentheses.
func (s *scope) test(t queue.Test) string {
	if len(t.Or) == 0 {
		return s.condition(t)
	}
	texts := []string{s.condition(t)}
	for _, alternative := range t.Or {
		if text := s.test(alternative); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "(" + strings.Join(texts, " OR ") + ")"
}

func (s *scope) condition(t queue.Test) string {
	switch t.Op {
	case queue.Raw:
		return s.raw(t.SQL)
	case queue.Dead:
		return s.dead(t)
	}
	column := s.column(t.Column)
	switch t.Op {
	case queue.IsNull:
		return column + " IS NULL"
	case queue.NotNull:
		return column + " IS NOT NULL"
	case queue.In, queue.NotIn:
		return s.in(t, column)
	}
	return plus(column, t.By) + " " + string(t.Op) + " " + s.compared(t.Column, t.Values[0])
}

// in returns membership in a list of values; Null stands for "is null".
func (s *scope) in(t queue.Test, column string) string {
	null := false
	var values []string
	for _, v := range t.Values {
		if v.Kind == queue.Null {
			null = true
			continue
		}
		values = append(values, s.compared(t.Column, v))
	}
	not := t.Op == queue.NotIn
	var list string
	switch {
	case len(values) == 0 && not:
		return column + " IS NOT NULL"
	case len(values) == 0:
		return column + " IS NULL"
	case len(values) == 1 && not:
		list = column + " <> " + values[0]
	case len(values) == 1:
		list = column + " = " + values[0]
	case not:
		list = column + " NOT IN (" + strings.Join(values, ", ") + ")"
	default:
		list = column + " IN (" + strings.Join(values, ", ") + ")"
	}
	switch {
	case not && !null && !t.Column.NotNull:
		// A null is none of the values.
		return "(" + column + " IS NULL OR " + list + ")"
	case !not && null:
		return "(" + column + " IS NULL OR " + list + ")"
	}
	return list
}

// raw replaces the macros of an expression that the user wrote.
func (s *scope) raw(text string) string { return s.rawFor(nil, text) }

// rawFor is raw of an expression that is the value of a column.
func (s *scope) rawFor(to *schema.Column, text string) string {
	row := s.d.Ident(s.spec.Table.Name)
	if s.prefix != "" {
		row = strings.TrimSuffix(s.prefix, ".")
	}
	macros := map[string]string{"row": row, "time": s.onClock("time"), "today": s.onClock("today"), "failures": s.failures()}
	var out strings.Builder
	whole := text
	for text != "" {
		at := strings.IndexAny(text, "'\"`{")
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		end, open := byte('}'), text[at]
		if open != '{' {
			end = open
		}
		inner, rest, _ := strings.Cut(text[at+1:], string(end))
		text = rest
		switch name, isArg := strings.CutPrefix(inner, "arg:"); {
		case open != '{':
			out.WriteString(string(open) + inner + string(open)) // braces in quotes are the user's own
		case inner == "new":
			name, length := queue.BehindNew(text)
			out.WriteString(s.newText(name))
			text = text[length:]
		case inner == "now":
			out.WriteString(s.present(whole, len(whole)-len(rest)-len("{now}"), to))
		case !isArg:
			out.WriteString(macros[inner])
		default:
			mark := "NULL"
			if text, ok := s.askedText(name, to); ok {
				mark = text
			} else if p := s.asked(name); p != nil {
				mark = s.arg(Arg{Kind: ArgParam, Param: p})
				switch {
				case p.Field != nil:
					mark = s.write(s.timesBeside(name)[0], mark)
				case asksNull(rest) || guessed(whole, len(whole)-len(rest)-len("{"+inner+"}")):
					if typ := s.argumentType(whole, name, p.GoType); typ != "" {
						mark = s.d.Cast(mark, typ)
					}
				}
			}
			out.WriteString(mark)
		}
	}
	return "(" + out.String() + text + ")"
}

// newText returns what a new job brings to the column of a name.
func (s *scope) newText(name string) string {
	c := s.spec.Named(name)
	switch {
	case c == nil:
		return "NULL"
	case s.newValue != nil:
		return s.newValue(c)
	case s.settle.named:
		return "{new}." + s.d.Ident(c.Name)
	}
	return s.column(c)
}

// onClock returns what a macro stands for on the clock of the queue.
func (s *scope) onClock(macro string) string {
	sql := s.d.Fragments[macro+"_"+s.spec.Clock].At(s.version)
	if s.settle.late {
		sql = s.d.InStatement(sql)
	}
	return sql
}

// asked returns the argument with that name of the operation that asks an expression: of Purge,
// or of Claim.
func (s *scope) asked(name string) *Param {
	if s.asks != nil {
		return s.asks[name]
	}
	if s.pkg.Claim != nil {
		for i, p := range s.spec.Params {
			if p.Kind == queue.Argument && p.Name == name {
				return s.pkg.Claim.Params[i]
			}
		}
	}
	return nil
}

// compared returns a value with which a column is compared: the present with its whole fraction.
func (s *scope) compared(c *schema.Column, v queue.Value) string {
	if v.Kind == queue.Now {
		return s.clock(c, v.Shift)
	}
	return s.value(c, v)
}

// value returns a value that is written to a column.
func (s *scope) value(c *schema.Column, v queue.Value) string {
	switch v.Kind {
	case queue.Null:
		return "NULL"
	case queue.Literal:
		return s.literal(c, v.Text)
	case queue.Now:
		if v.Shift == nil {
			return s.writtenNow(c)
		}
		return s.clock(c, v.Shift)
	case queue.Token:
		return s.token(c)
	case queue.WorkerID:
		if c.Type.Array { // that lists the workers
			return s.appended(c, s.arg(Arg{Kind: ArgWorker, Max: mostWorker(c)}))
		}
		return s.arg(Arg{Kind: ArgWorker, Field: s.fields[c], Max: mostWorker(c)})
	case queue.Old:
		return s.column(c)
	case queue.Add:
		return plus(s.counter(c), v.By)
	case queue.SQLExpr:
		return s.rawFor(c, v.Text)
	case queue.ColumnOf:
		other := s.column(v.Other)
		if s.newArgument != nil { // of a row that is not there yet
			other = s.newArgument(s.fields[v.Other])
		}
		if v.Else != "" {
			other = "coalesce(" + other + ", " + v.Else + ")"
		}
		return plus(other, v.By)
	case queue.Arg:
		return s.argument(c, v)
	case queue.Cause:
		return s.errorText(c, s.d.Quote(v.Text))
	case queue.Given:
		return s.write(c, s.arg(Arg{Kind: ArgGiven, Param: s.argumentOf(c, v.Name)}))
	}
	s.fail(fmt.Errorf("no text for a value of kind %q", v.Kind))
	return "NULL"
}

// mostWorker is how long the name of a worker may be in a column, or how great its number;
// 0 where there is no limit, or none that names and process ids come near.
func mostWorker(c *schema.Column) int {
	const longest, greatest = 1000, math.MaxInt32
	switch t := c.Type; t.Class {
	case schema.Text, schema.Bytes:
		if t.Length <= longest {
			return t.Length
		}
	case schema.Int, schema.Decimal:
		most := uint64(math.MaxUint64)
		if t.Bits > 0 && t.Class == schema.Int {
			most >>= 64 - t.Bits
			if !t.Unsigned {
				most >>= 1
			}
		}
		if t.Digits > 0 && t.Digits < 19 {
			most = min(most, uint64(math.Pow10(t.Digits))-1)
		}
		if most < greatest {
			return int(most)
		}
	}
	return 0
}

// counter returns a counter as it is added to: null counts as 0, unless it
// means that there is no limit.
func (s *scope) counter(c *schema.Column) string {
	a := s.spec.Count(c)
	if c.NotNull || a != nil && a.NullMeansUnlimited {
		return s.column(c)
	}
	return "coalesce(" + s.column(c) + ", 0)"
}

// failures is how often the job of a row has failed, the failure included that the
// statement is about.
func (s *scope) failures() string {
	a := s.spec.Attempts
	if a == nil {
		return ""
	}
	count := s.column(a.Column)
	if !a.Column.NotNull {
		count = "coalesce(" + count + ", 0)"
	}
	switch {
	case a.Down:
		count = s.value(a.Column, a.Full()) + " - " + count
		if !a.OnClaim {
			count += " + 1"
		}
	case a.OnClaim:
		return count
	default:
		count += " + 1"
	}
	return "(" + count + ")"
}

// plus adds a constant to an expression.
func plus(expr string, by int) string {
	switch {
	case by < 0:
		return expr + " - " + strconv.Itoa(-by)
	case by > 0:
		return expr + " + " + strconv.Itoa(by)
	}
	return expr
}

// argument returns an argument of a transition by its name.
func (s *scope) argument(c *schema.Column, v queue.Value) string {
	switch v.Name {
	case queue.ArgError:
		e := s.spec.Error
		most := Longest{Characters: e.Said}
		for _, holds := range append([]*schema.Column{e.Column}, e.Elsewhere...) {
			most = most.and(s.longest(holds))
		}
		if c.Type.Class == schema.Bytes {
			most = most.and(Longest{Bytes: s.d.MostRaw})
		}
		return s.errorText(c, s.cause(most))
	case queue.ArgDelay:
		return s.clock(c, &queue.Shift{Arg: queue.ArgDelay})
	}
	s.fail(fmt.Errorf("no text for the argument %q", v.Name))
	return "NULL"
}

// cause is the text of an error as an argument, cut to most and to what the server takes.
func (s *scope) cause(most Longest) string {
	return s.arg(Arg{Kind: ArgError, Most: most.and(Longest{Bytes: s.d.MostText})})
}

// errorText returns the text of an error as a column of its type holds it, or
// what the column held with that text added.
func (s *scope) errorText(c *schema.Column, arg string) string {
	element := c.Type
	element.Array = false
	fill := func(name, value string) string {
		return dialect.Fill(s.d.Fragments[name].At(s.version), "arg", arg, "column", s.column(c), "value", value, "type", s.castType(element))
	}
	value := arg
	switch {
	case c.Type.Class == schema.JSON && s.spec.Error.Append && !c.Type.Array:
		if !s.can(dialect.JSONAppend) {
			s.complain(c, s.sinceMend(dialect.JSONAppend)+" Or leave append out.",
				"column %q is %s, to which %s %s cannot append", c.Name, c.Type.Raw, s.d.Title, s.version)
		}
		return fill("error_append_json", "")
	case c.Type.Class == schema.JSON:
		value = fill("error_json", "")
	case c.Type.Class == schema.Bytes:
		value = fill("error_bytes", "")
	case c.Type.Array:
		value = s.d.Cast(arg, s.castType(element))
	}
	switch {
	case c.Type.Array && s.spec.Error.Append:
		return fill("error_append_array", value)
	case c.Type.Array:
		return fill("error_array", value)
	}
	return value
}

// appended returns what an array holds with one element more.
func (s *scope) appended(c *schema.Column, value string) string {
	element := c.Type
	element.Array = false
	return dialect.Fill(s.d.Fragments["error_append_array"].At(s.version), "column", s.column(c), "value", s.d.Cast(value, s.castType(element)))
}

// resultOf returns what is written for the result of a job: cut, or added to what
// the column c held; c is nil for a column of another table.
func (s *scope) resultOf(c *schema.Column) string {
	if s.settle.named {
		return "{" + queue.ArgResult + "}"
	}
	value := s.brought(s.spec.Result)
	if most := s.spec.ResultMax; most > 0 {
		value = dialect.Fill(s.d.Fragments["cut"].At(s.version), "value", value, "most", strconv.Itoa(most))
	}
	switch form := s.d.Fragments["append_document"].At(s.version); {
	case !s.spec.ResultAppend || c == nil:
	case c.Type.Array:
		return dialect.Fill(s.d.Fragments["error_append_array"].At(s.version), "column", s.column(c), "value", value)
	case form == "":
		s.complain(c, "Leave append out, or keep the results in rows of their own.", "column %q is %s, to which %s cannot append a document", c.Name, c.Type.Raw, s.d.Title)
	case !s.can(dialect.JSONAppend):
		s.complain(c, s.sinceMend(dialect.JSONAppend)+" Or leave append out.",
			"column %q is %s, to which %s %s cannot append", c.Name, c.Type.Raw, s.d.Title, s.version)
	default:
		return dialect.Fill(form, "column", s.column(c), "value", value, "type", s.castType(c.Type))
	}
	return value
}

// resultField returns the field of what Complete is given for the result: the
// column's, or where results are added to an array that of an element.
func (b *builder) resultField() *Field {
	c := b.spec.Result
	if b.result != nil {
		return b.result
	}
	b.result = b.fields[c]
	if !b.spec.ResultAppend || !c.Type.Array {
		return b.result
	}
	element := c.Type
	element.Array = false
	rule := b.d.Type(b.ruleName(element), string(element.Class))
	f := *b.fields[c]
	f.GoType, f.Null, f.Cast, f.Element = rule.Go, false, b.castType(element), true
	if rule.Write != "" || rule.Codec != "" || rule.Go == "json.RawMessage" || rule.Go == "[]byte" {
		b.complain(c, "Leave append out, or give the column a type that holds texts or numbers.",
			"column %q is %s, to which no element can be appended", c.Name, c.Type.Raw)
	}
	b.result = &f
	return b.result
}

// token returns the fresh value of a claim: one argument for the whole batch,
// or an expression that differs from row to row where the rows may not share one.
func (s *scope) token(c *schema.Column) string {
	if !s.tokenEach(c) {
		return s.arg(Arg{Kind: ArgToken, Field: s.fields[c]})
	}
	kind, ok := map[schema.Class]string{schema.UUID: "uuid", schema.Int: "int", schema.Bytes: "bytes"}[c.Type.Class]
	if !ok {
		kind = "text"
	}
	return s.d.Fragments["row_token_"+kind].At(s.version)
}

// literal returns a constant for a column.
func (s *scope) literal(c *schema.Column, text string) string {
	switch c.Type.Class {
	case schema.Int, schema.Float, schema.Decimal:
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return text
		}
		if b, err := strconv.ParseBool(text); err == nil {
			return s.d.Bool(b)
		}
	case schema.Bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return s.d.Bool(b)
		}
		if _, err := strconv.Atoi(text); err == nil {
			return text
		}
	case schema.Bytes:
		return s.d.Bytes(c.Type.Bytes(text))
	case schema.Timestamp, schema.Date:
		s.noteZeroDate(c, text)
		if form := s.d.Types[c.Type.Name].Literal; form != "" {
			day, hour, _ := strings.Cut(strings.Replace(text, "T", " ", 1), " ")
			return dialect.Fill(form, "date", day, "time", cmp.Or(hour, "00:00:00"))
		}
	}
	if text == "" && s.d.EmptyIsNull {
		s.complain(c, "Write null in its place.", "%s takes '' for null, so no row has it in column %q", s.d.Title, c.Name)
	}
	return s.d.Quote(text)
}

// noteZeroDate says where a constant is the date that stands for none, and what a server
// needs that takes it.
func (b *builder) noteZeroDate(c *schema.Column, text string) {
	if why := b.d.Fragments["zero_dates"].At(b.version); why != "" && strings.HasPrefix(text, "0000-00-00") {
		b.zeroDates = true
		if note := fmt.Sprintf("column %q is %s where there is none: %s", c.Name, text, why); !slices.Contains(b.pkg.Notes, note) {
			b.pkg.Notes = append(b.pkg.Notes, note)
		}
	}
}

// layout returns the Go layout in which a column of texts keeps time, false for any
// other column.
func (b *builder) layout(c *schema.Column) (string, bool) {
	if role := b.roles[c]; role != nil && role.Width == 0 {
		return strings.CutPrefix(role.As, "text:")
	}
	return "", false
}

// width returns how many digits the numbers have that a column of texts keeps as times,
// 0 for any other column.
func (b *builder) width(c *schema.Column) int {
	if role := b.roles[c]; role != nil {
		return role.Width
	}
	return 0
}

// clockKind names how a column keeps time, "" when it does not.
func (b *builder) clockKind(c *schema.Column) string {
	as, local, shown := "", "", b.spec.Clock
	if role := b.roles[c]; role != nil {
		as, shown = role.As, cmp.Or(role.Clock, shown)
	}
	if shown == "local" {
		local = ":local"
	}
	zone := cmp.Or(local, ":utc")
	switch {
	case b.width(c) > 0:
		return strings.TrimPrefix(as, "text:")
	case strings.HasPrefix(as, "text:"):
		return "text" + local
	case as != "":
		return as
	case c.Type.Class == schema.Timestamp && b.zoned(c):
		return "timestamptz"
	case c.Type.Class == schema.Timestamp && b.d.Clocks[c.Type.Name+zone] != nil:
		return c.Type.Name + zone
	case c.Type.Class == schema.Timestamp:
		return "timestamp" + zone
	case c.Type.Class == schema.Date && shown == "utc" && b.d.Clocks["date:utc"] != nil:
		return "date:utc"
	case c.Type.Class == schema.Date:
		return "date"
	}
	return ""
}

// zoned reports whether a column knows which moment is meant: its type does, and nothing says that the
// times which a session is shown are those of another clock.
func (b *builder) zoned(c *schema.Column) bool {
	role := b.roles[c]
	return c.Type.Zone && (!c.Type.Shown || role == nil || role.Clock != "utc")
}

// clock returns the present, shifted, as a column keeps it.
func (s *scope) clock(c *schema.Column, shift *queue.Shift) string {
	text := s.clockNumber(c, shift)
	width := s.width(c)
	if width == 0 {
		return text
	}
	form := "digits" // what the present and a constant make fits
	if shift != nil && (shift.Column != nil || shift.Arg != "" || shift.Given != "" || shift.Wait != nil) {
		form = "digits_within"
	}
	text = dialect.Fill(s.d.Fragments[form].At(s.version), "value", text, "width", strconv.Itoa(width), "last", last(width))
	if s.d.Types[c.Type.Name].Cast != "" {
		return s.d.Cast(text, s.castType(c.Type)) // a text would have the column converted
	}
	return text
}

// last is the largest number of so many digits that servers count with.
func last(width int) string {
	if width > 18 {
		return strconv.Itoa(math.MaxInt64)
	}
	return strings.Repeat("9", width)
}

// writtenNow returns the present as it is written to a column: cut, where the column would round
// it to a time that is still to come.
func (s *scope) writtenNow(c *schema.Column) string {
	return cmp.Or(s.past(c), s.clock(c, nil))
}

// past is the present as a column keeps it that would round it to a time that is still to
// come; "" where there is none.
func (s *scope) past(c *schema.Column) string {
	step := c.Type.Step
	clock, ok := s.clockOf(s.clockKind(c))
	if !ok || c.Type.Class != schema.Timestamp || step <= time.Microsecond {
		return ""
	}
	unit := units[step]
	if strings.Contains(clock.Past, "{unit}") && !slices.Contains(s.d.PastUnits, unit) {
		return ""
	}
	return dialect.Fill(clock.Past, "digits", strconv.Itoa(digitsOf(step)), "unit", unit)
}

// units are the names of those steps of a column to which a present can be cut.
var units = map[time.Duration]string{time.Millisecond: "millisecond", time.Second: "second", time.Minute: "minute"}

// wholeDigits is how many digits behind the second clocks have that know microseconds.
const wholeDigits = 6

// digitsOf is how many digits behind the second a column keeps.
func digitsOf(step time.Duration) int {
	digits := 0
	for at := time.Second; at > step; at /= 10 {
		digits++
	}
	return digits
}

// clockNumber is clock less the writing of a number as text.
func (s *scope) clockNumber(c *schema.Column, shift *queue.Shift) string {
	kind := s.clockKind(c)
	clock, ok := s.clockOf(kind)
	if !ok {
		s.complain(c, "Give the column a type that holds a time, or say as= with another form.",
			"column %q keeps time as %q, which %s %s has no clock for", c.Name, cmp.Or(kind, c.Type.Raw), s.d.Title, s.version)
		return "NULL"
	}
	format := ""
	if layout, is := s.layout(c); is {
		if format, ok = s.d.Format(layout); !ok {
			s.complain(c, "It can write years, months, days, hours, minutes, seconds and their fractions as numbers, for example text:2006-01-02T15:04:05.000Z.",
				"%s cannot write times of column %q as %q", s.d.Title, c.Name, layout)
		}
	}
	if shift == nil {
		return dialect.Fill(clock.Now, "format", format)
	}
	sign, minus := "+", ""
	fixed, form := cmp.Or(clock.Fixed, clock.Seconds), clock.Seconds
	if shift.Minus {
		sign, minus = "-", "-"
		if clock.Back != "" {
			fixed, form = clock.Back, clock.Back
		}
	}
	if shift.Wait != nil && shift.Wait.Unit == 0 && clock.Interval != "" {
		length := s.raw(shift.Wait.SQL)
		if shift.Minus {
			length = "(-1 * " + length + ")"
		}
		return dialect.Fill(clock.Interval, "interval", length, "format", format)
	}
	if c := shift.Column; c != nil && c.Type.Class == schema.Interval {
		length := s.column(c)
		if shift.Minus {
			length = "(-1 * " + length + ")"
		}
		if clock.Interval == "" {
			s.complain(c, "Name a column that holds a number, and say of what: unit=s.", "column %q is %s, which %s does not add to a time that is kept as %s", c.Name, c.Type.Raw, s.d.Title, kind)
		}
		return dialect.Fill(clock.Interval, "interval", length, "format", format)
	}
	if shift.Column == nil && shift.Arg == "" && shift.Given == "" && shift.Wait == nil {
		amount, unit := wholes(shift.Fixed)
		return dialect.Fill(fixed, "sign", sign, "minus", minus, "seconds", seconds(shift.Fixed), "format", format,
			"interval", interval(shift.Fixed), "amount", strconv.FormatInt(amount, 10), "unit", unit)
	}
	var amount string
	switch {
	case shift.Wait != nil:
		amount = s.raw(shift.Wait.SQL)
		if unit := shift.Wait.Unit; unit != time.Second && unit != 0 {
			amount = "(" + amount + " * " + seconds(unit) + ")"
		}
	case shift.Column != nil:
		amount = s.column(shift.Column)
		if shift.Unit != time.Second && shift.Unit != 0 {
			amount += " * " + seconds(shift.Unit)
		}
	case shift.Given != "":
		amount, _ = s.askedText(shift.Given, c)
	case shift.Arg == queue.ArgLease:
		amount = s.arg(Arg{Kind: ArgLease})
	case shift.Arg == queue.ArgTimeout:
		amount = s.arg(Arg{Kind: ArgTimeout})
	case shift.Arg == queue.ArgOlder:
		amount = s.arg(Arg{Kind: ArgOlder})
	default:
		amount = s.arg(Arg{Kind: ArgDelay})
	}
	return dialect.Fill(form, "sign", sign, "minus", minus, "seconds", amount, "format", format)
}

// seconds writes a duration as a number of seconds.
func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10)
	}
	return strconv.FormatFloat(math.Round(d.Seconds()*1e6)/1e6, 'f', -1, 64)
}

// interval writes a duration as people say it: "5 minutes". Days are written
// as hours, for a day may have 23.
func interval(d time.Duration) string {
	n, unit := wholes(d)
	if n != 1 {
		unit += "s"
	}
	return strconv.FormatInt(n, 10) + " " + unit
}

// wholes returns a duration as a whole number of the largest unit that fits.
func wholes(d time.Duration) (n int64, unit string) {
	if d == 0 {
		return 0, "second"
	}
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}, {"millisecond", time.Millisecond}} {
		if d%u.size == 0 {
			return int64(d / u.size), u.name
		}
	}
	return int64(d / time.Microsecond), "microsecond"
}

// clockOf returns how the server tells the time as columns of a kind keep it; false where it
// does not.
func (s *scope) clockOf(kind string) (dialect.Clock, bool) {
	c, ok := s.d.Clock(kind, s.version)
	if s.settle.late {
		for _, form := range []*string{&c.Now, &c.Past, &c.Fixed, &c.Seconds, &c.Back, &c.Interval} {
			*form = s.d.InStatement(*form)
		}
	}
	return c, ok
}

// age returns the seconds from one time to another; from a column to now when
// b is nil. Both columns must keep time alike; else it returns "".
func (s *scope) age(a, b *schema.Column, expr func(string) string) string {
	kind := s.clockKind(a)
	clock, ok := s.clockOf(kind)
	form := clock.Age.At(s.version)
	if !ok || form == "" {
		return ""
	}
	format := ""
	if layout, is := s.layout(a); is {
		format, _ = s.d.Format(layout)
	}
	var to string
	switch {
	case b == nil:
		to = dialect.Fill(clock.Now, "format", format)
	case s.clockKind(b) == kind:
		to = s.number(b, s.column(b))
	default:
		return ""
	}
	return dialect.Fill(form, "a", s.number(a, expr(s.column(a))), "b", to, "format", format)
}

// number returns a value of a column as a number, where it is one that is kept as text.
func (s *scope) number(c *schema.Column, value string) string {
	if s.width(c) == 0 {
		return value
	}
	return dialect.Fill(s.d.Fragments["number_of"].At(s.version), "value", value)
}
