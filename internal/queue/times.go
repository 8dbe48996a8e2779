package queue

// This file finds out how a column keeps time.

import (
	"fmt"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

// The ways in which columns that are no timestamps keep time.
const (
	epoch      = "epoch"    // seconds since 1970
	epochMilli = "epoch_ms" // milliseconds
	epochMicro = "epoch_us" // microseconds
	textTime   = "text:"    // followed by a Go layout
)

// The layouts of the defaults that fill text columns.
const (
	layoutSQL = "2006-01-02 15:04:05"      // CURRENT_TIMESTAMP
	layoutISO = "2006-01-02T15:04:05.000Z" // strftime('%Y-%m-%dT%H:%M:%fZ')
)

// timeRoles are the verbs that keep times.
var timeRoles = []string{"due", "lease", "claimed", "visible", "heartbeat", "enqueued", "finished", "expires"}

// readTimes finds out for every column with a time how it keeps it.
func (b *binding) readTimes() {
	for _, verb := range timeRoles {
		for _, r := range b.roles[verb] {
			b.time(r)
		}
	}
	if r := b.one("seq"); r != nil && r.column.Type.Class == schema.Timestamp {
		b.time(r)
	}
}

// time makes sure that a role's column keeps times and that it is known how.
// It reports whether the column can be used.
func (b *binding) time(r *role) bool {
	c := b.columns[r.column]
	as, clock := r.word("as"), r.word("clock")
	if done, ok := b.timed[r.column]; ok {
		if as != nil && c.As != "" && as.values[0].text != c.As {
			b.errorf(as.pos, "column %q keeps time as %s by another role", c.Name, c.As).WithHint("Say as= once.")
			return false
		}
		return done
	}
	ok := b.readAs(r, c)
	if ok {
		ok = b.readClock(r, c)
	}
	b.timed[r.column] = ok
	switch {
	case clock == nil || !ok || c.Clock != "":
	case strings.HasPrefix(c.As, epoch) && clock.values[0].text == "local":
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
	as := r.word("as")
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
	case schema.Timestamp, schema.Date, schema.Int, schema.Decimal, schema.Text, schema.Bytes, schema.Unknown:
		return true
	}
	return false
}

// checkAs sets Column.As to what the user says, if the column can hold it.
func (b *binding) checkAs(c *Column, as *word) bool {
	l := as.values[0]
	layout, isText := strings.CutPrefix(l.text, textTime)
	numeric := c.Type.Class == schema.Int || c.Type.Class == schema.Decimal
	switch {
	case isText && layout == epoch:
		refuse(b.errs, l.pos, l.text, "Keep the seconds in a column of numbers, with as=epoch.")
		return false
	case isText:
		if numeric {
			b.errorf(l.pos, "column %q is %s, which holds no text", c.Name, c.Type.Raw).
				WithHint("Say as=epoch for seconds since 1970, as=epoch_ms for milliseconds, as=epoch_us for microseconds.")
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
	case l.text == epoch || l.text == epochMilli || l.text == epochMicro:
		if c.Type.Class == schema.Text || c.Type.Class == schema.Bytes {
			b.errorf(l.pos, "column %q is %s, whose numbers do not sort", c.Name, c.Type.Raw).
				WithHint("Say in which form the column holds times: as=text:'%s'.", layoutISO)
			return false
		}
		need := map[string]int{epoch: 32, epochMilli: 64, epochMicro: 64}[l.text]
		if c.Type.Class == schema.Int && c.Type.Bits > 0 && c.Type.Bits < need {
			b.errorf(l.pos, "column %q is %s, which is too short for %s", c.Name, c.Type.Raw, l.text).
				WithHint("%s needs %d bits.", l.text, need)
			return false
		}
	default:
		b.errorf(l.pos, "as cannot be %q", l.text).
			WithHint("%s", suggest(l.text, []string{epoch, epochMilli, epochMicro, textTime + "'" + layoutISO + "'"}, "It is one of"))
		return false
	}
	c.As = l.text
	return true
}

// inferAs sets Column.As to what the default of the column shows.
func (b *binding) inferAs(r *role, c *Column) bool {
	numeric := c.Type.Class == schema.Int || c.Type.Class == schema.Decimal
	if layout := layoutOf(c.Default); layout != "" && !numeric && c.Type.Loose {
		c.As, c.Clock = textTime+layout, "utc"
		b.note("times of column %q are text as %q in UTC, which is what its default writes", c.Name, layout)
		return true
	}
	e := b.errorf(r.pos, "nothing says how column %q, which is %s, keeps time", c.Name, orWord(c.Type.Raw, "without type"))
	if numeric {
		e.WithHint("Add as=epoch for seconds since 1970, as=epoch_ms for milliseconds, as=epoch_us for microseconds.")
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
	switch {
	case c.As == "" && c.Type.Class == schema.Timestamp && c.Type.Zone, strings.HasPrefix(c.As, epoch), c.Clock != "":
		return true
	case strings.HasPrefix(c.As, textTime) && strings.HasSuffix(c.As, "Z"):
		c.Clock = "utc"
		return true
	case c.As == "" && c.Type.Class == schema.Date:
		c.Clock = orWord(r.value("clock"), b.spec.Clock)
		return true
	}
	c.Clock = orWord(r.value("clock"), b.spec.Clock)
	if c.Clock == "" {
		b.errorf(r.pos, "times of column %q have no zone, and nothing says whose clock they show", c.Name).
			WithHint("Add clock=utc or clock=local here, or clock: utc to the queue in qgen.yaml. Local is the time zone of the database session.")
		return false
	}
	return true
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
