package queue

import (
	"os"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Whatever a comment or a line of qgen.yaml holds, reading it ends, and every
// place stands inside the file.
func FuzzParse(f *testing.F) {
	for _, path := range cases(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, comment, ok := strings.Cut(line, "--"); ok {
				f.Add(comment)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		const before, after = "-- ", "\n"
		file := source.NewFile("f", []byte(before+text+after))
		pos := file.Pos(len(before), len(text))
		errs := &source.ErrorList{}
		found := parseComment(schema.Comment{Text: text, Pos: pos, Exact: true}, errs)
		found = append(found, parseWords(config.String{Value: text, Pos: pos, Exact: true}, "", errs)...)
		found = append(found, parseWords(config.String{Value: strings.ReplaceAll(text, "''", "'"), Pos: pos}, "queue", errs)...)
		for _, a := range found {
			within(t, pos, a.pos)
			for _, w := range a.words {
				within(t, pos, w.pos)
				for _, l := range w.values {
					within(t, pos, l.pos)
				}
			}
			a.check(errs)
		}
		placed(t, file, errs)
	})
}

func within(t *testing.T, outer, inner source.Pos) {
	t.Helper()
	if inner.File != outer.File || inner.Offset < outer.Offset || inner.Offset+inner.Len > outer.Offset+outer.Len {
		t.Fatalf("%d+%d is outside of %d+%d", inner.Offset, inner.Len, outer.Offset, outer.Len)
	}
}

// placed checks that every complaint stands in the file and can be printed.
func placed(t *testing.T, file *source.File, errs *source.ErrorList) {
	t.Helper()
	for _, e := range errs.All() {
		if e.Pos.File != file || e.Pos.Offset+e.Pos.Len > len(file.Data) {
			t.Fatalf("%v: the place is not in the file", e)
		}
		if e.Msg == "" || e.Hint == "" {
			t.Fatalf("%v: no message or no hint", e)
		}
		if strings.Contains(e.Msg+e.Hint, "%!") {
			t.Fatalf("%v: a broken format: %s", e, e.Hint)
		}
	}
}

// Whatever annotations say of whatever columns, Bind ends with complaints that
// have a place, or with a Spec that is whole.
func FuzzBind(f *testing.F) {
	for _, path := range cases(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(string(text)) {
			_, comment, _ := strings.Cut(line, "qgen:")
			lines = append(lines, strings.TrimSpace(comment))
		}
		f.Add(strings.Join(lines, "\n"), uint64(len(lines)))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		file := source.NewFile("f", []byte("schema\n"+text))
		table := fuzzTable(file, text, seed)
		errs := &source.ErrorList{}
		q := &config.Queue{Pos: file.Pos(0, 6)}
		specs := Bind(&schema.Catalog{Tables: []*schema.Table{table}}, q, strings.ToLower, errs)
		placed(t, file, errs)
		if errs.Len() > 0 && specs != nil {
			t.Fatal("a Spec in spite of complaints")
		}
		for _, s := range specs {
			sound(t, s)
			if text := s.String(); strings.Contains(text, "%!") {
				t.Fatal(text)
			}
		}
	})
}

// fuzzTable is a table with a column for each line of text; the bits of seed
// decide what the columns are.
func fuzzTable(file *source.File, text string, seed uint64) *schema.Table {
	types := []schema.Type{
		{Raw: "bigint", Class: schema.Int, Bits: 64}, {Raw: "text", Class: schema.Text},
		{Raw: "timestamptz", Class: schema.Timestamp, Zone: true}, {Raw: "boolean", Class: schema.Bool},
		{Raw: "varchar(40)", Class: schema.Text, Length: 40}, {Raw: "jsonb", Class: schema.JSON},
		{Raw: "uuid", Class: schema.UUID}, {Raw: "interval", Class: schema.Interval},
		{Raw: "DATETIME", Class: schema.Timestamp, Loose: true}, {Raw: "int[]", Class: schema.Int, Array: true},
		{Class: schema.Unknown, Loose: true}, {Raw: "numeric", Class: schema.Decimal},
	}
	table := &schema.Table{Name: "t", Pos: file.Pos(0, 1)}
	id := &schema.Column{Name: "id", Pos: file.Pos(1, 1), Type: types[0], NotNull: true, Identity: seed&1 == 0, HasDefault: seed&1 == 0}
	table.Columns = []*schema.Column{id}
	if seed&2 == 0 {
		table.PrimaryKey = &schema.Key{Columns: table.Columns[:1:1]}
	}
	at := len("schema\n")
	for i, line := range strings.Split(text, "\n") {
		start := at
		at += len(line) + 1
		if line == "" || i > 20 {
			continue
		}
		comment := schema.Comment{Text: line, Pos: file.Pos(start, len(line)), Exact: true, AboveFirst: seed&4 == 0}
		if !strings.Contains(line, mark) {
			comment.Text = mark + line // as a comment that had to be unescaped
			comment.Exact = false
		}
		if i == 0 {
			table.Comments = append(table.Comments, comment)
			continue
		}
		bits := seed >> (i % 40)
		c := &schema.Column{
			Name: "c" + string(rune('a'+i)), Pos: file.Pos(start, 1), Type: types[(bits>>1)%uint64(len(types))],
			NotNull: bits&1 == 0, Generated: bits&14 == 14, Comments: []schema.Comment{comment},
		}
		if bits&16 == 0 {
			c.HasDefault, c.Default = true, []string{"0", "'N'", "now()", "false", "CURRENT_TIMESTAMP", "NULL"}[bits>>5%6%6]
		}
		table.Columns = append(table.Columns, c)
	}
	return table
}

// sound checks what holds for every Spec.
func sound(t testing.TB, s *Spec) {
	t.Helper()
	if (len(s.Key) == 0) != s.RowIdentity {
		t.Fatalf("key %v and row identity %v", s.Key, s.RowIdentity)
	}
	if len(s.Columns) != len(s.Table.Columns) || s.States[Ready] == nil {
		t.Fatal("a part is missing")
	}
	for name, tr := range s.Transitions {
		if tr.Name != name || tr.Delete && len(tr.Writes) > 0 {
			t.Fatalf("transition %s is not whole", name)
		}
		last := -1
		for _, w := range tr.Writes {
			at := position(s.Table, w.Column)
			if at <= last {
				t.Fatalf("%s writes %s twice or out of order", name, w.Column.Name)
			}
			if last = at; w.Column.Generated || w.Column.Always {
				t.Fatalf("%s writes the generated column %s", name, w.Column.Name)
			}
		}
		implied(t, s, tr)
	}
	for _, t1 := range []TransitionName{Enqueue, Claim, Finish, Retry, Release} {
		if s.Transitions[t1] == nil {
			t.Fatalf("no %s", t1)
		}
	}
	for i, term := range s.Order {
		if (term.Column == nil) == (term.SQL == "") && !term.Random {
			t.Fatalf("order term %d is empty", i)
		}
	}
}

// implied checks that a transition is only for rows of the state it leaves.
func implied(t testing.TB, s *Spec, tr *Transition) {
	t.Helper()
	clock := false
	from := &State{Name: Running, Tests: s.Held}
	switch tr.Name {
	case Enqueue, Purge:
		return
	case Claim:
		from, clock = s.States[Ready], true
	case Start:
		from = s.States[Claimed]
	case Redrive:
		from, clock = s.States[Failed], true
	}
	if from == nil {
		return // such rows are told by nothing
	}
	for _, want := range from.Tests {
		if clocked := len(want.Values) == 1 && want.Values[0].Kind == Now; clocked && !clock {
			continue
		}
		found := false
		for _, have := range tr.Tests {
			found = found || sameTest(have, want)
		}
		if !found {
			t.Fatalf("%s does not test %s of %s\n%s", tr.Name, want.text(), from.Name, s)
		}
	}
}
