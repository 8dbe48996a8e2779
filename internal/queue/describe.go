package queue

// This file writes a Spec down for people: what every role was expanded to.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/schema"
)

// String returns the expansion of the queue: key, states, transitions, order,
// parameters, fence, and the notes.
func (s *Spec) String() string {
	var w strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&w, "%-11s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("queue", "%s on %s", s.Name, s.Table.QualifiedName())
	if s.RowIdentity {
		line("key", "row identity")
	} else {
		line("key", "%s", names(s.Key))
	}
	if s.Seq != nil {
		line("seq", "%s", s.Seq.Name)
	}
	line("order", "%s", s.orderText())
	for _, p := range s.Params {
		line("param", "%s", p.text())
	}
	if s.Shard != nil {
		line("shard", "%s", s.Shard.text())
	}
	for _, f := range s.PayloadFrom {
		var columns []string
		for _, c := range f.Columns {
			columns = append(columns, c.Name)
		}
		line("payload", "%s of %s, where [%s]", strings.Join(columns, ", "), strings.TrimSpace(f.Table.QualifiedName()+" "+f.As), f.On)
	}
	if s.Group != nil {
		line("group", "%s", s.Group.text())
	}
	if s.Gate != nil {
		line("group", "%s", s.Gate.text())
	}
	line("fence", "%s", s.fenceText())
	if s.Strategy != "" {
		line("strategy", "%s", s.Strategy)
	}
	if s.Waits {
		line("locked", "waits for rows that others have locked")
	}
	if s.Accept {
		line("accept", "asks of each ready job")
	}
	if s.Absent && s.Transitions[Enqueue] != nil {
		what := ""
		if s.Like != nil {
			what = ", like it in " + s.Like.Text()
		}
		line("enqueue", "leaves out what is there already%s", what)
	}
	if c := s.EnqueueIf; c != nil && s.Transitions[Enqueue] != nil {
		line("enqueue", "adds a job only where [%s]", c.Text())
	}
	if u := s.Upsert; u != nil && s.Transitions[Update] != nil {
		line("enqueue", "changes what is there already%s", u.text())
	}
	if s.Log != nil {
		line("log", "%s", s.Log.text())
	}
	if s.Lease != nil {
		line("lease", "%s", s.Lease.text())
	}
	if s.Liveness != nil {
		line("alive", "%s", s.Liveness.text())
	}
	if s.Attempts != nil {
		line("attempts", "%s", s.Attempts.text())
	}
	if s.Recoveries != nil {
		line("recoveries", "%s", s.Recoveries.text())
	}
	if len(s.Kept) > 0 {
		line("kept", "%s", names(s.Kept))
	}
	if s.Cycle != nil {
		line("cycle", "%s", s.Cycle.text())
	}
	if x := s.Backoff.Expr; x != nil {
		line("backoff", "%s", x.text())
	} else {
		line("backoff", "%s × %g up to %s, ±%g%%", duration(s.Backoff.Base), s.Backoff.Factor, duration(s.Backoff.Max), 100*s.Backoff.Jitter)
	}
	if s.Error != nil {
		line("error", "%s", s.Error.text())
	}
	if s.Result != nil && (s.ResultMax > 0 || s.ResultAppend) {
		e := ErrorColumn{Column: s.Result, Max: s.ResultMax, Append: s.ResultAppend}
		line("result", "%s", e.text())
	}
	if s.Status != nil {
		line("status", "%s", s.Status.text())
	}
	w.WriteString("\nstates\n")
	for _, name := range StateNames {
		if state := s.States[name]; state != nil {
			fmt.Fprintf(&w, "  %-9s%s\n", name, conjunction(state.Tests))
		}
	}
	if s.Expired != nil {
		when := ""
		if s.RecoversOwn() {
			when = ", when that starts"
		}
		fmt.Fprintf(&w, "  %-9s%s%s\n", "expired", conjunction(s.Expired), when)
	} else if s.AtStart {
		fmt.Fprintf(&w, "  %-9s%s\n", "expired", "whatever somebody has when the program starts")
	}
	w.WriteString("\ntransitions\n")
	for _, name := range s.Steps() {
		if t := s.Transitions[name]; t != nil {
			t.describe(&w)
		}
	}
	w.WriteString("\ncolumns\n")
	for _, c := range s.Columns {
		if text := c.text(); text != "" {
			fmt.Fprintf(&w, "  %s: %s\n", c.Name, text)
		}
	}
	if s.Away != nil {
		w.WriteString("\nwhile a job runs\n")
		s.Away.Claim.describe(&w)
		for line := range strings.Lines(s.Away.Spec.String()) {
			w.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
		}
	}
	if len(s.Notes) > 0 {
		w.WriteString("\nnotes\n")
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&w, "  %s\n", note)
	}
	return w.String()
}

func (s *Spec) orderText() string {
	var terms []string
	for _, t := range s.Order {
		terms = append(terms, t.text())
	}
	if s.NoTieBreak {
		terms = append(terms, "then any")
	}
	return strings.Join(terms, ", ")
}

func (t OrderTerm) text() string {
	text := t.SQL
	switch {
	case t.Random:
		text = "random"
	case t.Column != nil:
		text = t.Column.Name
	}
	if t.Desc {
		text += " desc"
	}
	if t.Nulls != "" {
		text += " nulls " + t.Nulls
	}
	return text
}

func (p *Param) text() string {
	if p.Kind == Argument {
		return fmt.Sprintf("%s %s", p.Name, p.GoType)
	}
	text := fmt.Sprintf("%s %s", p.Name, p.Kind)
	if p.Optional {
		text += ", optional"
	}
	if len(p.Any) > 0 {
		text += ", any if " + values(p.Any, p.Column)
	}
	return text
}

func (s *Shard) text() string {
	if s.Column != nil {
		text := s.Kind + " " + s.Column.Name
		if s.Least != nil {
			text += " from " + s.Least.String() + " to " + s.Most.String()
		}
		return text
	}
	return s.Kind + " " + s.SQL
}

func (s *Spec) fenceText() string {
	if len(s.Fence.Columns) == 0 {
		return s.Fence.Level.String()
	}
	text := s.Fence.Level.String() + ": " + names(s.Fence.Columns)
	if s.Fence.OnReturn {
		text += ", counted on each way back to ready"
	}
	return text
}

func (l *Lease) text() string {
	var b strings.Builder
	b.WriteString(l.Column.Name)
	switch {
	case l.LengthArg:
		b.WriteString(", length by argument")
	case l.TimeoutArg:
		b.WriteString(", timeout by argument")
	case l.LengthOf != nil:
		b.WriteString(", length " + span(&Shift{Column: l.LengthOf, Unit: l.Unit}))
	case l.LengthBy != nil:
		b.WriteString(", length " + l.LengthBy.text())
	default:
		b.WriteString(", length " + duration(l.Length))
	}
	if l.FromStart {
		b.WriteString(" from the claim")
	}
	if l.Heartbeat != nil {
		b.WriteString(", heartbeat " + l.Heartbeat.Name)
	}
	if l.ByClaim {
		b.WriteString(", claimed again when run out")
	}
	return b.String()
}

func (l *Liveness) text() string {
	if l.Listed {
		return "by argument"
	}
	text := l.Table + "." + l.ID
	if l.Seen != nil {
		text += ", " + l.Seen.Name + " within " + duration(l.Timeout)
	}
	if l.SQL != "" {
		text += ", [" + l.SQL + "]"
	}
	return text
}

func (a *Attempts) text() string {
	text := a.Column.Name + " up"
	if a.Down {
		text = a.Column.Name + " down"
	}
	switch {
	case a.OnRecover:
		text += " on recover"
	case a.OnClaim:
		text += " on claim"
	default:
		text += " on retry"
	}
	switch {
	case a.MaxOf != nil:
		text += ", at most " + a.MaxOf.text()
	case a.Max > 0:
		text += fmt.Sprintf(", at most %d", a.Max)
	}
	if a.NullMeansUnlimited {
		text += ", null is unlimited"
	}
	if a.LimitClaim {
		text += ", not claimed at the limit"
	}
	return text
}

func (l *RowLimit) text() string {
	text := l.Column.Name
	if l.Retries {
		text += " and one more"
	}
	if l.Null != nil {
		text += fmt.Sprintf(", null is %d", *l.Null)
	}
	if len(l.Endless) > 0 {
		text += ", unlimited where that is " + values(l.Endless, l.Column)
	}
	return text
}

func (e *ErrorColumn) text() string {
	text := e.Column.Name
	if e.Max > 0 {
		text += fmt.Sprintf(", at most %d characters", e.Max)
	}
	if e.Append {
		text += ", appended"
	}
	if e.Clear {
		text += ", cleared when ready again"
	}
	return text
}

func (s *Status) text() string {
	var named []string
	for _, v := range s.Values {
		named = append(named, fmt.Sprintf("%s=%s", orWord(string(v.State), "(none)"), v.Value))
	}
	text := s.Column.Name + " " + strings.Join(named, " ")
	if s.ByToken {
		text += " running=token"
	}
	return text
}

// describe writes a transition on one to three lines.
func (t *Transition) describe(w *strings.Builder) {
	fmt.Fprintf(w, "  %s\n", t.Name)
	if len(t.Tests) > 0 {
		fmt.Fprintf(w, "    where %s\n", conjunction(t.Tests))
	}
	var writes []string
	for _, write := range t.Writes {
		writes = append(writes, write.Column.Name+" := "+quote(write.Value, write.Column))
	}
	switch {
	case t.Delete:
		w.WriteString("    delete\n")
	case len(writes) > 0:
		fmt.Fprintf(w, "    set   %s\n", strings.Join(writes, ", "))
	}
	for _, c := range t.With {
		c.describe(w)
	}
}

// describe says what becomes of another table.
func (c *Companion) describe(w *strings.Builder) {
	list := func(values []CompanionValue, between string) string {
		var texts []string
		for _, v := range values {
			of := v.Of
			if of == nil {
				of = v.Column.Column
			}
			if len(v.Or) == 0 {
				texts = append(texts, v.Column.Name+between+quote(v.Value, of))
				continue
			}
			var list []string
			for _, value := range append([]Value{v.Value}, v.Or...) {
				list = append(list, quote(value, of))
			}
			texts = append(texts, v.Column.Name+" in ("+strings.Join(list, ", ")+")")
		}
		return strings.Join(texts, ", ")
	}
	text := c.Verb + " " + c.QualifiedName()
	if len(c.Set) > 0 {
		text += ": " + list(c.Set, " := ")
	}
	if len(c.Where) > 0 {
		text += " where " + list(c.Where, " = ")
	}
	if c.When != "" {
		text += " when " + c.When
	}
	if c.Key != nil {
		text += ", once; its " + c.Key.Name + " is the token"
	}
	fmt.Fprintf(w, "    also  %s\n", text)
}

// text returns what the queue makes of a column, "" when it makes nothing.
func (c *Column) text() string {
	var parts []string
	for _, r := range c.Roles {
		parts = append(parts, strings.TrimSpace(r.Verb+" "+r.Words))
	}
	if c.Payload && !slices.ContainsFunc(c.Roles, func(r Role) bool { return r.Verb == "payload" }) {
		parts = append(parts, "payload")
	}
	if c.Times != "" {
		parts = append(parts, c.Times)
	}
	if c.As != "" {
		parts = append(parts, "kept as "+c.As)
	}
	if c.Width > 0 {
		parts = append(parts, fmt.Sprintf("%d digits", c.Width))
	}
	if c.Clock != "" {
		parts = append(parts, "clock "+c.Clock)
	}
	if c.GoType != "" {
		parts = append(parts, "type "+c.GoType)
	}
	if c.JSON {
		parts = append(parts, "decoded on demand")
	}
	return strings.Join(parts, "; ")
}

// conjunction writes tests as people say them.
func conjunction(tests []Test) string {
	if len(tests) == 0 {
		return "every row"
	}
	var parts []string
	for _, t := range tests {
		text := t.text()
		if len(t.Or) > 0 {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " and ")
}

// text writes a test with its alternatives.
func (t Test) text() string {
	var parts []string
	for _, x := range t.Alternatives() {
		parts = append(parts, x.alone())
	}
	return strings.Join(parts, " or ")
}

// alone writes a test without its alternatives.
func (t Test) alone() string {
	switch t.Op {
	case Raw:
		return "[" + t.SQL + "]"
	case Dead:
		return t.Column.Name + " is not alive"
	case IsNull:
		return t.Column.Name + " is null"
	case NotNull:
		return t.Column.Name + " is not null"
	case In:
		if len(t.Values) == 1 {
			return t.Column.Name + " = " + quote(t.Values[0], t.Column)
		}
		return t.Column.Name + " in (" + values(t.Values, t.Column) + ")"
	case NotIn:
		return t.Column.Name + " not in (" + values(t.Values, t.Column) + ")"
	}
	name := t.Column.Name
	if t.By != 0 {
		name += fmt.Sprintf(" %+d", t.By)
	}
	return name + " " + string(t.Op) + " " + quote(t.Values[0], t.Column)
}

func values(list []Value, c *schema.Column) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, quote(v, c))
	}
	return strings.Join(parts, ", ")
}

// quote writes a value of a column as people say it.
func quote(v Value, c *schema.Column) string {
	switch v.Kind {
	case Literal, Cause:
		if v.Kind == Literal && (c.Type.Counts() || c.Type.Class == schema.Bool) {
			return v.Text
		}
		return "'" + v.Text + "'"
	case Now:
		if v.Shift == nil {
			return "now"
		}
		if v.Shift.Minus {
			return "now − " + span(v.Shift)
		}
		return "now + " + span(v.Shift)
	case Old:
		return c.Name
	case Add:
		return fmt.Sprintf("%s %+d", c.Name, v.By)
	case Arg, Given:
		return "{" + v.Name + "}"
	case SQLExpr:
		return "[" + v.Text + "]"
	case ColumnOf:
		name := v.Other.Name
		if v.Else != "" {
			name += " or " + v.Else
		}
		if v.By != 0 {
			name += fmt.Sprintf(" %+d", v.By)
		}
		return name
	}
	return string(v.Kind)
}

// span writes a distance in time.
func span(s *Shift) string {
	switch {
	case s.Column != nil && s.Unit == 0:
		return s.Column.Name
	case s.Column != nil:
		return s.Column.Name + " × " + duration(s.Unit)
	case s.Arg != "" || s.Given != "":
		return "{" + s.Arg + s.Given + "}"
	case s.Wait != nil:
		return s.Wait.text()
	}
	return duration(s.Fixed)
}

// text writes a wait that SQL tells.
func (w *Wait) text() string {
	if w.Unit == 0 {
		return "[" + w.SQL + "]"
	}
	return "[" + w.SQL + "] × " + duration(w.Unit)
}

// duration writes a duration without parts that are zero.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
