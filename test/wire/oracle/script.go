package oracle

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/qgen-dev/qgen/test/wire"
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

type nothing struct{}

var (
	// Any is an argument of which nothing is expected.
	Any = wire.Any
	// Output is the argument of a bind that only comes out: nothing goes in.
	Output any = nothing{}
)

// expected returns the request that a response answers.
func expected(r Response) (wire.Want[Request], error) {
	switch {
	case r.want == nil:
		return nil, fmt.Errorf("a response without a request cannot be expected; it begins with Exec, Commit or Rollback")
	case r.err != nil:
		return nil, fmt.Errorf("the response to %s: %w", r.want.kind, r.err)
	}
	return r.want, nil
}

// Differences tells how a request is not the one that is wanted.
func (w *want) Differences(r Request) []string {
	if w.kind != r.Kind {
		return []string{"want:", wire.Indent(w.String()), "got:", wire.Indent(r.String())}
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
	all = append(all, wire.Differences(w.args, r.Binds, Bind.difference)...)
	if len(all) > 0 && w.text == r.Text {
		all = append(all, "in:", wire.Indent(r.String()))
	}
	return all
}

// difference tells how a bind is not the argument that is wanted, or nothing.
func (b Bind) difference(arg any) string {
	if b.is(arg) {
		return ""
	}
	return fmt.Sprintf("argument: want %s\n           got %s", show(arg), b)
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
	return err == nil && wire.Equal(v, got)
}

// maxText is more than any text that is compared.
const maxText = 1 << 30

// String shows the request as failures do.
func (r Request) String() string {
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
	s := Request{Kind: w.kind, Text: w.text}.String()
	for i, arg := range w.args {
		s += fmt.Sprintf("\nargument %d = %s", i+1, show(arg))
	}
	return s
}

// show writes a value so that its type can be seen.
func show(v any) string {
	if v == Output {
		return "nothing, it only comes out"
	}
	all, ok := elements(v)
	if !ok {
		return wire.Show(v)
	}
	shown := make([]string, len(all))
	for i, v := range all {
		shown[i] = show(v)
	}
	return "[" + strings.Join(shown, ", ") + "]"
}
