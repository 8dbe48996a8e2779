package source

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDetail(t *testing.T) {
	f := NewFile("schema.sql", []byte("CREATE TABLE t (\n    state char(1) NOT NULL, -- qgen:status ready=N\n\tbödy\ttext\n);\n"))
	for _, tt := range []struct {
		name string
		err  *Error
		want string
	}{
		{
			name: "underlined with hint",
			err: Errorf(f.Pos(21, 5), "status column %q has no value for \"running\"", "state").
				WithHint("Workers mark a row while they hold it. Add running=<value>; or, if nothing may be written while a job runs, say strategy=hold on qgen:queue."),
			want: `schema.sql:2:5: status column "state" has no value for "running"
    state char(1) NOT NULL, -- qgen:status ready=N
    ^^^^^
  Workers mark a row while they hold it. Add running=<value>; or, if nothing may
  be written while a job runs, say strategy=hold on qgen:queue.
`,
		},
		{
			name: "columns count characters and tabs stay",
			err:  Errorf(f.Pos(strings.Index(string(f.Data), "text\n"), 4), "no"),
			want: "schema.sql:3:7: no\n    bödy\ttext\n        \t^^^^\n",
		},
		{
			name: "no file",
			err:  Errorf(Pos{}, "nothing to do"),
			want: "nothing to do\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Detail(); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestErrorListSortsAndCompacts(t *testing.T) {
	a, b := NewFile("a.sql", []byte("one\ntwo\n")), NewFile("b.sql", []byte("three\n"))
	var l ErrorList
	l.Errorf(b.Pos(0, 1), "late")
	l.Errorf(a.Pos(4, 1), "second")
	l.Errorf(a.Pos(0, 1), "first")
	l.Errorf(a.Pos(0, 1), "first")
	want := "a.sql:1:1: first\na.sql:2:1: second\nb.sql:1:1: late"
	if got := l.Err().Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if (&ErrorList{}).Err() != nil {
		t.Error("an empty list is an error")
	}
}

// A complaint names the stages in which it arose, unless the entry has it as well.
func TestErrorListNamesStages(t *testing.T) {
	f := NewFile("a.sql", []byte("one\ntwo\nthree\n"))
	first, second, third := f.Pos(0, 1), f.Pos(4, 1), f.Pos(8, 1)
	var l ErrorList
	l.Errorf(first, "of all")
	for _, stage := range []string{"late", "lost"} {
		from := l.Len()
		l.Errorf(first, "of all")
		l.Errorf(second, "of both")
		l.Within(stage, from)
	}
	from := l.Len()
	l.Errorf(third, "of one")
	l.Within("late", from)
	want := "a.sql:1:1: of all\na.sql:2:1: in stages late, lost: of both\na.sql:3:1: in stage late: of one"
	if got := l.Err().Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"status", "topic", "lease", "payload"}
	for in, want := range map[string]string{"statsu": "status", "leese": "lease", "xyzzy": "", "Topic": "topic"} {
		if got := Nearest(in, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// Whatever position is asked for, it stands inside the file and can be printed.
func TestPosStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := NewFile("f", []byte(rapid.String().Draw(t, "text")))
		p := f.Pos(rapid.IntRange(-5, len(f.Data)+5).Draw(t, "offset"), rapid.IntRange(-5, 20).Draw(t, "len"))
		if p.Line() < 1 || p.Column() < 1 || p.Offset+p.Len > len(f.Data) {
			t.Fatalf("position %+v outside the file", p)
		}
		if !utf8.ValidString(Errorf(p, "x").Detail()) && utf8.Valid(f.Data) && utf8.ValidString(p.Text()) && utf8.Valid(f.Data[:p.Offset]) {
			t.Fatalf("broken text: %q", Errorf(p, "x").Detail())
		}
	})
}
