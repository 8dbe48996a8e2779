package queue

// This file finds out how a column keeps time.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
)

// The ways in which columns that are no timestamps keep time.
const (
	epoch      = "epoch"    // seconds since 1970
	epochMilli = "epoch_ms" // milliseconds
	epochMicro = "epoch_us" // microseconds
	epochNano  = "epoch_ns" // nanoseconds
	textTime   = "text:"    // followed by a Go layout, or by one of the others
)

// counting is how the numbers since 1970 are kept, by their unit.
var counting = map[string]struct {
	bits   int    // of a column that holds them
	digits int    // how many they have from 2001 on
	last   string // the day after which they have more, or are more than 64 bits hold
	width  int    // the digits with which they last for good
	step   time.Duration
}{
	epoch:      {32, 10, "20 November 2286", 11, time.Second},
	epochMilli: {64, 13, "20 November 2286", 14, time.Millisecond},
	epochMicro: {64, 16, "20 November 2286", 17, time.Microsecond},
	epochNano:  {64, 19, "11 April 2262", 19, time.Nanosecond},
}

// sayUnit is what as= can say of a number.
const sayUnit = "as=epoch for seconds since 1970, as=epoch_ms for milliseconds, as=epoch_us for microseconds, as=epoch_ns for nanoseconds."

// The layouts of the defaults that fill text columns.
const (
	layoutSQL = "2006-01-02 15:04:05"      // CURRENT_TIMESTAMP
	layoutISO = "2006-01-02T15:04:05.000Z" // strftime('%Y-%m-%dT%H:%M:%fZ')
)

// timeRoles are the verbs that keep times.
var timeRoles = []string{"due", "lease", "claimed", "visible", "heartbeat", "enqueued", "finished", "expires"}

// keeping is what times in qgen.yaml says of a column.
type keeping struct {
	*role
	width config.Number
}

// readTimes finds out for every column with a time how it keeps it.
func (b *binding) readTimes() {
	for _, t := range b.config.Times {
		c := b.timedColumn(t.Column)
		switch {
		case c == nil:
		case b.kept[c] != nil:
			b.errorf(t.Column.Pos, "times says twice how column %q keeps time", c.Name).WithHint("Keep one of them.")
		default:
			b.kept[c] = newKeeping(c, t)
		}
	}
	for c, k := range b.kept {
		b.columns[c].Times = "times" + k.text
	}
	for _, c := range b.spec.Elsewhere {
		b.time(b.kept[c.Column].role)
	}
	for _, verb := range timeRoles {
		for _, r := range b.roles[verb] {
			b.time(r)
		}
	}
	if r := b.one("seq"); r != nil && r.column.Type.Class == schema.Timestamp {
		b.time(r)
	}
}

// timedColumn returns the column of which times speaks, of the queue's table or of another; nil after a
// complaint.
func (b *binding) timedColumn(name config.String) *schema.Column {
	at := strings.LastIndexByte(name.Value, '.')
	if at < 0 || columnOf(b.table, name.Value, b.fold) != nil {
		return b.columnNamed(b.table, name.Value, name.Pos)
	}
	of := tableName{String: config.String{Value: name.Value[:at], Pos: name.Pos}, key: "times: "}
	found := b.catalog.Lookup(of.Value, b.fold)
	switch {
	case len(found) > 1:
		of.several(found, b.errs)
		return nil
	case len(found) == 0:
		b.errorf(name.Pos, "the schema does not have the table %q", of.Value).
			WithHint("A column of the queue is named as it is, one of another table behind that: %s. The DDL of the other table belongs to schema.", "times: {hosts.seen: {as: epoch}}")
		return nil
	}
	c := b.columnNamed(found[0], unquoted(name.Value[at+1:]), name.Pos)
	if c != nil && b.columns[c] == nil {
		b.columns[c] = &Column{Column: c}
		b.spec.Elsewhere = append(b.spec.Elsewhere, b.columns[c])
	}
	return c
}

// newKeeping returns an entry of times as the words of a role.
func newKeeping(c *schema.Column, t config.Time) *keeping {
	a := &annotation{verb: "times", pos: t.Column.Pos, yaml: true}
	for _, w := range []struct {
		name string
		said config.String
	}{{"as", t.As}, {"clock", t.Clock}} {
		if w.said.IsSet() {
			a.text += " " + w.name + "=" + w.said.Value
			a.words = append(a.words, &word{name: w.name, op: equals, pos: w.said.Pos, values: []literal{asLiteral(w.said)}})
		}
	}
	if t.Width.IsSet() {
		a.text += fmt.Sprintf(" width=%d", int(t.Width.Value))
	}
	return &keeping{role: &role{annotation: a, column: c}, width: t.Width}
}

// readOtherTimes reads of times what belongs to columns whose roles keep none.
func (b *binding) readOtherTimes() {
	for _, c := range b.table.Columns {
		k, column := b.kept[c], b.columns[c]
		if k == nil {
			continue
		}
		if i := slices.IndexFunc(column.Roles, func(r Role) bool { return slices.Contains(timeless, r.Verb) }); i >= 0 {
			b.errorf(k.pos, "column %q is qgen:%s, which keeps no time", c.Name, column.Roles[i].Verb).WithHint("Leave it out of times.")
			continue
		}
		if ok := b.time(k.role); ok && k.width.IsSet() && column.Width == 0 {
			b.errorf(k.width.Pos, "column %q keeps no numbers as text, so they have no width", c.Name).
				WithHint(`Leave width out, or say as: "text:epoch".`)
		}
	}
}

// timeless are the verbs whose columns hold something else than times.
var timeless = []string{"attempts", "max_attempts", "version", "worker", "token", "shard", "result", "error", "ignore"}

// said returns the word of a role about how its column keeps time, or that of times in
// qgen.yaml, which wins.
func (b *binding) said(r *role, name string) *word {
	if k := b.kept[r.column]; k != nil && k.has(name) {
		return k.word(name)
	}
	return r.word(name)
}

// agrees reports whether a role says of its column what is known by something else. A
// comment gives way to times in qgen.yaml.
func (b *binding) agrees(r *role, c *Column) bool {
	as, k := r.word("as"), b.kept[r.column]
	byTimes := k != nil && k.has("as")
	switch {
	case as == nil || c.As == "" || as.values[0].text == c.As:
	case byTimes && !r.yaml:
		b.note("qgen.yaml says that column %q keeps time as %s; %s at %s is not used", c.Name, c.As, as.pos.Text(), as.pos)
	case byTimes:
		b.errorf(as.pos, "column %q keeps time as %s by times", c.Name, c.As).WithHint("Say as= once.")
		return false
	default:
		b.errorf(as.pos, "column %q keeps time as %s by another role", c.Name, c.As).WithHint("Say as= once.")
		return false
	}
	if clock := r.word("clock"); clock != nil && k != nil && k.has("clock") && clock.values[0].text != k.value("clock") {
		b.note("qgen.yaml says clock: %s of column %q; %s at %s is not used", k.value("clock"), c.Name, clock.pos.Text(), clock.pos)
	}
	return true
}

// time makes sure that a role's column keeps times and that it is known how.
// It reports whether the column can be used.
func (b *binding) time(r *role) bool {
	c := b.columns[r.column]
	clock := b.said(r, "clock")
	if done, ok := b.timed[r.column]; ok {
		return done && b.agrees(r, c)
	}
	ok := b.readAs(r, c)
	if ok {
		ok = b.readClock(r, c)
	}
	b.timed[r.column] = ok
	if ok = ok && b.agrees(r, c); ok {
		b.ends(c)
	}
	switch {
	case clock == nil || !ok || c.Clock != "":
	case strings.HasPrefix(strings.TrimPrefix(c.As, textTime), epoch) && clock.values[0].text == "local":
		b.errorf(clock.pos, "column %q counts from 1970 in UTC, which is the same on every clock", c.Name).
			WithHint("Leave clock= out. If a program counts from 1970 on its own clock, the numbers say another time than as=%s: write the condition with qgen:where.", c.As)
		b.timed[r.column] = false
		return false
	default:
		b.note("clock= at column %q is not needed: its times know their zone", c.Name)
	}
	return ok
}

// readAs sets Column.As.
func (b *binding) readAs(r *role, c *Column) bool {
	as := b.said(r, "as")
	coarse := c.Type.Class == schema.Date && (r.verb == "lease" || r.verb == "claimed" || r.verb == "visible" || r.verb == "heartbeat")
	switch {
	case c.Type.Array || coarse || !keepsTime(c.Type.Class):
		b.errorf(r.pos, "column %q is %s, which keeps no time for qgen:%s", c.Name, orWord(c.Type.Raw, "without type"), r.verb).
			WithHint("It needs a column with date and time: a timestamp, or a number or text with as=.")
		return false
	case c.Type.Class == schema.Timestamp && as != nil && !c.Type.Loose:
		b.note("as= at column %q is not needed: its type keeps time by itself", c.Name)
		return true
	case c.Type.Class == schema.Date && as != nil && !c.Type.Loose:
		b.errorf(as.pos, "column %q is %s, which has a form of its own", c.Name, c.Type.Raw).WithHint("Leave as= out.")
		return false
	case as != nil:
		return b.checkAs(c, as)
	case (c.Type.Class == schema.Timestamp || c.Type.Class == schema.Date) && !c.Type.Loose:
		return true
	}
	return b.inferAs(r, c)
}

// keepsTime reports whether values of a class can be times at all.
func keepsTime(c schema.Class) bool {
	switch c {
	case schema.Timestamp, schema.Date, schema.Int, schema.Decimal, schema.Float, schema.Text, schema.Bytes, schema.Unknown:
		return true
	}
	return false
}

// checkAs sets Column.As to what the user says, if the column can hold it.
func (b *binding) checkAs(c *Column, as *word) bool {
	l := as.values[0]
	layout, isText := strings.CutPrefix(l.text, textTime)
	numeric := c.Type.Counts()
	switch {
	case isText && counting[layout].digits > 0:
		return b.checkDigits(c, l, layout)
	case isText:
		// A column of SQLite keeps a text that is no number as it is, whatever its type.
		if numeric && (!c.Type.Loose || isDigits(layout)) {
			b.errorf(l.pos, "column %q is %s, which holds no text", c.Name, c.Type.Raw).
				WithHint("Say %s", sayUnit)
			return false
		}
		if why := sorts(layout); why != "" {
			b.errorf(l.pos, "times as %q do not sort as text: %s", layout, why).
				WithHint("Due times are compared as text, so the layout must have a fixed width and run from the year down: text:'%s'.", layoutISO)
			return false
		}
		if n := len(layout); c.Type.Length > 0 && n > c.Type.Length {
			b.errorf(l.pos, "times as %q have %d characters, but column %q is %s", layout, n, c.Name, c.Type.Raw).
				WithHint("Write the layout of what the column holds.")
			return false
		}
	case counting[l.text].bits > 0:
		if c.Type.Class == schema.Text || c.Type.Class == schema.Bytes {
			e := b.errorf(l.pos, "column %q is %s, whose numbers do not sort", c.Name, c.Type.Raw)
			if c.Type.KeepsDigits() {
				e.WithHint("Say in which form the column holds times: as=text:'%s', or as=text:%s for a number with zeros in front.", layoutISO, l.text)
			} else {
				e.WithHint("Say in which form the column holds times: as=text:'%s'.", layoutISO)
			}
			return false
		}
		need := counting[l.text].bits
		whole := c.Type.WholeDigits()
		switch {
		case c.Type.Class == schema.Int && c.Type.Bits > 0 && c.Type.Bits < need:
			b.errorf(l.pos, "column %q is %s, which is too short for %s", c.Name, c.Type.Raw, l.text).
				WithHint("%s needs %d bits.", l.text, need)
			return false
		case c.Type.Class == schema.Float && c.Type.Bits < 64:
			b.errorf(l.pos, "column %q is %s, which keeps times to the nearest two minutes", c.Name, c.Type.Raw).
				WithHint("A number of 32 bits with a fraction has seven digits. It needs a bigint, a numeric, or a number with a fraction of 64 bits.")
			return false
		case c.Type.Class == schema.Decimal && whole > 0 && whole < counting[l.text].digits:
			b.errorf(l.pos, "column %q is %s, which is too short for %s", c.Name, c.Type.Raw, l.text).
				WithHint("%s has %d digits in front of the point until the year 2286, and the column has room for %d.", l.text, counting[l.text].digits, whole)
			return false
		}
	default:
		b.errorf(l.pos, "as cannot be %q", l.text).
			WithHint("%s", suggest(l.text, []string{epoch, epochMilli, epochMicro, epochNano, textTime + "'" + layoutISO + "'"}, "It is one of"))
		return false
	}
	c.As = l.text
	return true
}

// checkDigits sets Column.As and Column.Width of numbers that are kept as text, if the
// column can hold them.
func (b *binding) checkDigits(c *Column, l literal, unit string) bool {
	numbers, pos := counting[unit], l.pos
	need, width := numbers.digits, numbers.width
	if fixed := c.Type.Name == "char" || c.Type.Name == "nchar" || c.Type.Name == "bpchar"; fixed && c.Type.Length > 0 {
		width = c.Type.Length
	}
	if k := b.kept[c.Column]; k != nil && k.width.IsSet() {
		width, pos = int(k.width.Value), k.width.Pos
	}
	switch {
	case c.Type.Counts():
		b.errorf(l.pos, "column %q is %s, which holds no text", c.Name, c.Type.Raw).WithHint("Say as=%s.", unit)
	case !c.Type.KeepsDigits():
		b.errorf(l.pos, "column %q is %s, which does not keep zeros in front of a number", c.Name, orWord(c.Type.Raw, "without type")).
			WithHint("It needs a column of text.")
	case c.Type.Length > 0 && c.Type.Length < need:
		b.errorf(pos, "column %q is %s, which is too short for %s", c.Name, c.Type.Raw, l.text).
			WithHint("%s has %d digits until %s.", unit, need, numbers.last)
	case width < need:
		e := b.errorf(pos, "%d digits are too few for column %q: %s has %d until %s", width, c.Name, unit, need, numbers.last)
		if need < numbers.width {
			e.WithHint("Texts of another length do not sort as times. Write width: %d, or %d for times after that day.", need, numbers.width)
		} else {
			e.WithHint("Texts of another length do not sort as times. Write width: %d.", need)
		}
	case c.Type.Length > 0 && c.Type.Length < width:
		b.errorf(pos, "numbers of %d digits do not fit into column %q, which is %s", width, c.Name, c.Type.Raw).
			WithHint("Say how many they have in qgen.yaml: times: {%s: {as: %q, width: %d}}.", c.Name, l.text, c.Type.Length)
	default:
		c.As, c.Width = l.text, width
		return true
	}
	return false
}

// ends notes when the numbers of a column outgrow their digits.
func (b *binding) ends(c *Column) {
	if numbers := counting[strings.TrimPrefix(c.As, textTime)]; c.Width > 0 && c.Width == numbers.digits {
		b.note("times of column %q have %d digits, which last until %s", c.Name, c.Width, numbers.last)
	}
}

// inferAs sets Column.As to what the default of the column shows.
func (b *binding) inferAs(r *role, c *Column) bool {
	if layout := layoutOf(c.Default); layout != "" && c.Type.Loose {
		c.As, c.Clock = textTime+layout, "utc"
		b.note("times of column %q are text as %q in UTC, which is what its default writes", c.Name, layout)
		return true
	}
	e := b.errorf(r.pos, "nothing says how column %q, which is %s, keeps time", c.Name, orWord(c.Type.Raw, "without type"))
	if c.Type.Counts() {
		e.WithHint("Add %s", sayUnit)
	} else if c.Type.Loose {
		e.WithHint("Add the form as Go writes it, for example as=text:'%s', or as=epoch (epoch_ms, epoch_us, epoch_ns) for a number.", layoutISO)
	} else {
		e.WithHint("Add the form as Go writes it, for example as=text:'%s'.", layoutISO)
	}
	return false
}

// layoutOf returns the layout of the times that a default writes, "" when it
// writes none that is known.
func layoutOf(raw string) string {
	bare := strings.ToLower(strings.Join(strings.Fields(raw), ""))
	for strings.HasPrefix(bare, "(") && strings.HasSuffix(bare, ")") {
		bare = bare[1 : len(bare)-1]
	}
	switch bare {
	case "current_timestamp", "datetime()", "datetime('now')":
		return layoutSQL
	case "strftime('%y-%m-%dt%h:%m:%fz')", "strftime('%y-%m-%dt%h:%m:%fz','now')":
		if strings.Contains(raw, "%Y-%m-%dT%H:%M:%fZ") {
			return layoutISO
		}
	}
	return ""
}

// readClock sets Column.Clock.
func (b *binding) readClock(r *role, c *Column) bool {
	switch clock := b.said(r, "clock"); {
	case c.As == "" && c.Type.Shown && c.Clock == "" && clock != nil && clock.values[0].text == "utc":
		c.Clock = "utc"
		b.note("times of column %q are in UTC whatever the session's time zone is, as other programs write them there: sessions of all programs have to be in one", c.Name)
		return true
	case c.As == "" && c.Type.Shown && clock == nil && b.spec.Clock == "utc":
		b.note("times of column %q are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone", c.Name)
		return true
	case c.As == "" && c.Type.Class == schema.Timestamp && c.Type.Zone, strings.HasPrefix(c.As, epoch), c.Width > 0, c.Clock != "":
		return true
	case strings.HasPrefix(c.As, textTime) && strings.HasSuffix(c.As, "Z"):
		c.Clock = "utc"
		return true
	case c.As == "" && c.Type.Class == schema.Date:
		c.Clock = b.clockOf(r)
		return true
	}
	c.Clock = b.clockOf(r)
	if c.Clock == "" {
		b.errorf(r.pos, "times of column %q have no zone, and nothing says whose clock they show", c.Name).
			WithHint("Add clock=utc or clock=local here, or clock: utc to the queue in qgen.yaml. Local is the time zone of the database session.")
		return false
	}
	return true
}

// clockOf returns whose clock the times of a role show, "" when nothing says it.
func (b *binding) clockOf(r *role) string {
	if w := b.said(r, "clock"); w != nil {
		return w.values[0].text
	}
	return b.spec.Clock
}

// sorts returns why times in a Go layout do not sort as text, "" when they do.
func sorts(layout string) string {
	rest := layout
	for i, part := range []string{"2006", "01", "02", "15", "04", "05"} {
		before, after, ok := strings.Cut(rest, part)
		switch {
		case !ok && i < 3:
			return fmt.Sprintf("%s is missing, in the order year, month, day", part)
		case !ok:
			before, after = rest, ""
		}
		if why := separates(before); why != "" {
			return why
		}
		rest = after
		if !ok {
			return ""
		}
	}
	if strings.HasPrefix(rest, ".0") || strings.HasPrefix(rest, ",0") {
		rest = strings.TrimLeft(rest[1:], "0")
	}
	return separates(rest)
}

// separates returns why a text between two parts of a layout is not the same
// in all times.
func separates(text string) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("-/:. TZ", r) }); i >= 0 {
		return fmt.Sprintf("%q is not the same width or order in all times", text[i:])
	}
	if i := strings.IndexByte(text, 'Z'); i >= 0 && i != len(text)-1 {
		return fmt.Sprintf("%q is not the same in all times", text[i:])
	}
	return ""
}

// step returns by how much two times differ at least that a column keeps as
// different.
func (b *binding) step(c *schema.Column) time.Duration {
	layout, isText := strings.CutPrefix(b.columns[c].As, textTime)
	if step := counting[layout].step; step > 0 {
		return step
	}
	if isText {
		for _, e := range []struct {
			element string
			step    time.Duration
		}{{".000000", time.Microsecond}, {".000", time.Millisecond}, {"05", time.Second}, {"04", time.Minute}, {"15", time.Hour}} {
			if strings.Contains(strings.ReplaceAll(layout, ",", "."), e.element) {
				return e.step
			}
		}
		return 24 * time.Hour
	}
	if c.Type.Class == schema.Date {
		return 24 * time.Hour
	}
	return c.Type.Step
}

// stepName returns what a step is called.
func stepName(step time.Duration) string {
	switch {
	case step >= 24*time.Hour:
		return "day"
	case step >= time.Hour:
		return "hour"
	case step >= time.Minute:
		return "minute"
	case step >= time.Second:
		return "second"
	case step >= time.Millisecond:
		return "millisecond"
	}
	return "microsecond"
}
