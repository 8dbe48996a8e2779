package oracle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"
)

// want is the request that a response of a script answers.
type want struct {
	kind   Kind
	text   string
	args   []any
	commit bool
}

// Exec returns the response to a statement with this text and these arguments, one
// for each of its binds. An argument may be [Any], or [Output] for a bind that
// only comes out; each other is compared by what the type of the bind makes of it. A
// slice other than []byte is for an index-by table, or for DML with values for
// several executions.
func Exec(text string, args ...any) Response {
	return Response{want: &want{kind: KindExec, text: text, args: args}}
}

// Commit returns the response to a COMMIT.
func Commit() Response { return Response{want: &want{kind: KindCommit}} }

// Rollback returns the response to a ROLLBACK.
func Rollback() Response { return Response{want: &want{kind: KindRollback}} }

// Autocommit says of DML or a block in a script that it comes outside of a
// transaction and commits what it does. Without it, it has to come inside.
func (r Response) Autocommit() Response {
	if r.want == nil {
		return r
	}
	w := *r.want
	w.commit = true
	r.want = &w
	return r
}

type (
	anything struct{}
	nothing  struct{}
)

var (
	// Any is an argument of which nothing is expected.
	Any any = anything{}
	// Output is the argument of a bind that only comes out: nothing goes in.
	Output any = nothing{}
)

// script is what a test expects.
type script struct {
	responses []Response
	came      int
	failed    bool
}

// add appends to the script.
func (s *script) add(r Response) error {
	switch {
	case r.want == nil:
		return fmt.Errorf("a response without a request cannot be expected; it begins with Exec, Commit or Rollback")
	case r.err != nil:
		return fmt.Errorf("the response to %s: %w", r.want.kind, r.err)
	}
	s.responses = append(s.responses, r)
	return nil
}

func (s *script) empty() bool { return s.came == len(s.responses) && !s.failed }

// next returns the response to a request, or a complaint about it. After the first
// complaint nothing is known of what else should come.
func (s *script) next(r Request) (response Response, complaint string) {
	if s.failed {
		return unexpected, ""
	}
	expected := s.responses[s.came]
	s.came++
	differences := expected.want.differences(r)
	if len(differences) == 0 {
		return expected, ""
	}
	s.failed = true
	return unexpected, fmt.Sprintf("request %d of %d is not the one that is expected (connection %d):\n%s",
		s.came, len(s.responses), r.Connection, strings.Join(differences, "\n"))
}

// complain fails the test for what did not come.
func (s *script) complain(t testing.TB) {
	t.Helper()
	if s.failed || s.empty() {
		return
	}
	var missing strings.Builder
	for _, r := range s.responses[s.came:] {
		missing.WriteString("\n" + indent(r.want.String()))
	}
	t.Errorf("oracle: %d of %d requests did not come:%s", len(s.responses)-s.came, len(s.responses), missing.String())
}

// differences tells how a request is not the one that is wanted.
func (w *want) differences(r Request) []string {
	if w.kind != r.Kind {
		return []string{"want:", indent(w.String()), "got:", indent(describe(r))}
	}
	var all []string
	if w.commit != r.Autocommit {
		all = append(all, map[bool]string{
			true:  "it is expected to commit by itself and comes in a transaction",
			false: "it is expected in a transaction and commits by itself",
		}[w.commit])
	}
	if w.text != r.Text {
		all = append(all, udiff.Unified("want", "got", w.text+"\n", r.Text+"\n"))
	}
	if len(w.args) != len(r.Binds) {
		all = append(all, fmt.Sprintf("%d arguments are expected, %d come", len(w.args), len(r.Binds)))
	}
	for i, arg := range w.args[:min(len(w.args), len(r.Binds))] {
		if !r.Binds[i].is(arg) {
			all = append(all, fmt.Sprintf("argument: want %s\n           got %s", show(arg), r.Binds[i]))
		}
	}
	if len(all) > 0 && w.text == r.Text {
		all = append(all, "in:", indent(describe(r)))
	}
	return all
}

// is tells whether a bind is the argument that is wanted.
func (b Bind) is(arg any) bool {
	got, many := b.Value.([]any)
	switch arg {
	case Any:
		return true
	case Output:
		return b.Value == nil || b.Table && len(got) == 0
	}
	wanted, ok := elements(arg)
	if ok != many || len(wanted) != len(got) {
		return false
	}
	if !many {
		return b.same(arg, b.Value)
	}
	for i := range got {
		if !b.same(wanted[i], got[i]) {
			return false
		}
	}
	return true
}

// same compares by what the type of the bind makes of the value.
func (b Bind) same(want, got any) bool {
	t := b.dataType
	if t.code == typeVarchar || t.code == typeRaw {
		t.size = maxText // a bind is as long as what came in it, not as what should have
	}
	raw, err := t.encode(want)
	if err != nil {
		return false
	}
	v, err := t.decode(raw)
	if err != nil {
		return false
	}
	switch got := got.(type) {
	case time.Time:
		v, ok := v.(time.Time)
		return ok && v.Equal(got)
	case []byte:
		v, ok := v.([]byte)
		return ok && string(v) == string(got)
	}
	return v == got
}

// maxText is more than any text that is compared.
const maxText = 1 << 30

// describe shows a request.
func describe(r Request) string {
	var b strings.Builder
	if r.Kind == KindExec {
		b.WriteString(r.Text)
	} else {
		b.WriteString(r.Kind.String())
	}
	for _, bind := range r.Binds {
		fmt.Fprintf(&b, "\n%s", bind)
	}
	return b.String()
}

func (w *want) String() string {
	s := describe(Request{Kind: w.kind, Text: w.text})
	for i, arg := range w.args {
		s += fmt.Sprintf("\nargument %d = %s", i+1, show(arg))
	}
	return s
}

// show writes a value so that its type can be seen.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case anything:
		return "anything"
	case nothing:
		return "nothing, it only comes out"
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case string:
		return fmt.Sprintf("%q", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	if all, ok := elements(v); ok {
		shown := make([]string, len(all))
		for i, v := range all {
			shown[i] = show(v)
		}
		return "[" + strings.Join(shown, ", ") + "]"
	}
	return fmt.Sprintf("%v (%T)", v, v)
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(s, "\n", "\n\t")
}
