package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is a complaint about one place in the user's input: what is wrong, in
// the user's words, and what to write instead.
type Error struct {
	Pos  Pos
	Msg  string // lower case, no full stop, names what the user wrote
	Hint string // whole sentences: what to write instead
	// Stages are the stages of an entry in which it arose, and not in the entry itself: what stands
	// at the place may be about all of them.
	Stages []string
}

// Errorf returns a complaint at pos.
func Errorf(pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// WithHint adds what to write instead.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Message returns what is wrong, and in which stages.
func (e *Error) Message() string {
	switch len(e.Stages) {
	case 0:
		return e.Msg
	case 1:
		return "in stage " + e.Stages[0] + ": " + e.Msg
	}
	return "in stages " + strings.Join(e.Stages, ", ") + ": " + e.Msg
}

// Error returns the position and the message on one line.
func (e *Error) Error() string {
	if !e.Pos.IsValid() {
		return e.Message()
	}
	return e.Pos.String() + ": " + e.Message()
}

// hintWidth is where hints are wrapped.
const hintWidth = 80

// Detail returns the complaint as people read it: position and message, the
// offending line with the place underlined, and the hint.
func (e *Error) Detail() string {
	var b strings.Builder
	b.WriteString(e.Error())
	b.WriteByte('\n')
	if e.Pos.IsValid() {
		f := e.Pos.File
		line := f.line(e.Pos.Offset)
		text := f.lineText(line)
		start := min(e.Pos.Offset-f.lines[line], len(text))
		end := min(start+e.Pos.Len, len(text))
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		if indent > start {
			indent = start
		}
		// Tabs stay tabs in the margin, so that the marks stand below the text.
		margin := strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return ' '
		}, text[indent:start])
		marks := max(1, utf8.RuneCountInString(text[start:end]))
		if strings.TrimSpace(text) != "" {
			fmt.Fprintf(&b, "    %s\n    %s%s\n", strings.TrimRight(text[indent:], " \t"), margin, strings.Repeat("^", marks))
		}
	}
	for _, line := range wrap(e.Hint, hintWidth) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// wrap breaks text at spaces into lines of at most width characters; line
// breaks in text are kept.
func wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// ErrorList gathers the complaints of a whole run. The zero value is empty and
// ready for use.
type ErrorList struct {
	errs []*Error
}

// Add appends complaints.
func (l *ErrorList) Add(errs ...*Error) { l.errs = append(l.errs, errs...) }

// Errorf appends a complaint at pos and returns it, so that a hint can be added.
func (l *ErrorList) Errorf(pos Pos, format string, args ...any) *Error {
	e := Errorf(pos, format, args...)
	l.Add(e)
	return e
}

// Within says of the complaints from a number on that they arose in a stage.
func (l *ErrorList) Within(stage string, from int) {
	for i, e := range l.errs[from:] {
		told := *e // which may stand in other lists
		told.Stages = []string{stage}
		l.errs[from+i] = &told
	}
}

// Len returns the number of complaints.
func (l *ErrorList) Len() int { return len(l.errs) }

// All returns the complaints by file, then by place, without repetitions: one of an entry and of its
// stages is of all, one of several stages names each.
func (l *ErrorList) All() []*Error {
	path := func(e *Error) string {
		if e.Pos.File == nil {
			return ""
		}
		return e.Pos.File.Path
	}
	sorted := slices.Clone(l.errs)
	slices.SortStableFunc(sorted, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(path(a), path(b)), cmp.Compare(a.Pos.Offset, b.Pos.Offset))
	})
	var all []*Error
	for _, e := range sorted {
		place := func(have *Error) bool { return path(have) == path(e) && have.Pos.Offset == e.Pos.Offset }
		i := len(all) - 1
		for i >= 0 && place(all[i]) && all[i].Msg != e.Msg {
			i--
		}
		if i < 0 || !place(all[i]) {
			told := *e
			all = append(all, &told)
			continue
		}
		have := all[i]
		if len(have.Stages) == 0 || len(e.Stages) == 0 {
			have.Stages = nil
			continue
		}
		for _, stage := range e.Stages {
			if !slices.Contains(have.Stages, stage) {
				have.Stages = append(slices.Clip(have.Stages), stage)
			}
		}
	}
	return all
}

// Err returns the list as an error, nil when it is empty.
func (l *ErrorList) Err() error {
	if len(l.errs) == 0 {
		return nil
	}
	return l
}

// Error returns the complaints, one on a line.
func (l *ErrorList) Error() string {
	var b strings.Builder
	for i, e := range l.All() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Detail returns all complaints as people read them.
func (l *ErrorList) Detail() string {
	var b strings.Builder
	for i, e := range l.All() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Detail())
	}
	return b.String()
}

// Nearest returns the candidate most like word, or "" when none is close
// enough to be a likely slip of the hand.
func Nearest(word string, candidates []string) string {
	// A word of one or two letters is a slip of nothing in particular.
	best, bestDistance := "", 1+min(max(1, len(word)/3), len(word)-1)
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
