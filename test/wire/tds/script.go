package tds

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"
)

// want is the request that a response of a script answers.
type want struct {
	Request
	args      []any
	elsewhere bool
}

// Query returns the response to a query with this text and these arguments, in
// their order. An argument may be [Any], or a [Param] of which the name, the type
// or both count beside the value; each other is compared by what the type of the
// parameter makes of it.
func Query(text string, args ...any) Response {
	return Response{want: &want{Request: Request{Kind: KindQuery, Text: text}, args: args}}
}

// Begin returns the response to the begin of a transaction.
func Begin(isolation Isolation) Response {
	return Response{want: &want{Request: Request{Kind: KindBegin, Isolation: isolation}}}
}

// Commit returns the response to a COMMIT.
func Commit() Response {
	return Response{want: &want{Request: Request{Kind: KindCommit, InTransaction: true}}}
}

// Rollback returns the response to a ROLLBACK.
func Rollback() Response {
	return Response{want: &want{Request: Request{Kind: KindRollback, InTransaction: true}}}
}

// Ping returns the response to what the driver sends for PingContext.
func Ping() Response {
	return Query("select 1;").Rows([]Column{{Type: "int"}}, Row{1})
}

// Elsewhere says of a query in a script that it comes outside of the transaction
// that is open there: on another connection, or after the client gave up the one
// with the transaction.
func (r Response) Elsewhere() Response {
	if r.want == nil {
		return r
	}
	w := *r.want
	w.elsewhere = true
	r.want = &w
	return r
}

type anything struct{}

// Any is an argument of which nothing is expected.
var Any any = anything{}

// script is what a test expects.
type script struct {
	responses []Response
	came      int
	inside    int // transactions that are open at the end of it
	failed    bool
}

// add appends to the script and follows its transactions.
func (s *script) add(r Response) error {
	switch {
	case r.want == nil:
		return fmt.Errorf("a response without a request cannot be expected; it begins with Query, Begin, Commit or Rollback")
	case r.err != nil:
		return fmt.Errorf("the response to %s: %w", r.want.Kind, r.err)
	}
	w := *r.want
	switch w.Kind {
	case KindQuery:
		w.InTransaction = s.inside > 0 && !w.elsewhere
		if r.ends && w.InTransaction {
			s.inside--
		}
	case KindBegin:
		if !r.ends && !r.fails {
			s.inside++
		}
	default:
		s.inside = max(0, s.inside-1)
	}
	r.want = &w
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
	t.Errorf("tds: %d of %d requests did not come:%s", len(s.responses)-s.came, len(s.responses), missing.String())
}

// differences tells how a request is not the one that is wanted.
func (w *want) differences(r Request) []string {
	if w.Kind != r.Kind {
		return []string{"want:", indent(w.String()), "got:", indent(describe(r))}
	}
	var all []string
	if w.Isolation != r.Isolation {
		all = append(all, fmt.Sprintf("isolation: want %s, got %s", w.Isolation, r.Isolation))
	}
	if w.InTransaction != r.InTransaction {
		all = append(all, map[bool]string{
			true:  "it is expected in a transaction and comes outside",
			false: "it is expected outside of a transaction and comes in one",
		}[w.InTransaction])
	}
	if w.Text != r.Text {
		all = append(all, udiff.Unified("want", "got", w.Text+"\n", r.Text+"\n"))
	}
	if len(w.args) != len(r.Params) {
		all = append(all, fmt.Sprintf("%d arguments are expected, %d come", len(w.args), len(r.Params)))
	}
	for i, arg := range w.args[:min(len(w.args), len(r.Params))] {
		if difference := r.Params[i].difference(arg); difference != "" {
			all = append(all, difference)
		}
	}
	if len(all) > 0 && w.Text == r.Text {
		all = append(all, "in:", indent(describe(r)))
	}
	return all
}

// difference tells how a parameter is not the argument that is wanted, or nothing.
func (p Param) difference(arg any) string {
	wanted, ok := arg.(Param)
	if !ok {
		wanted = Param{Value: arg}
	}
	shown := wanted.Value
	same := wanted.Value == Any
	if !same {
		sent, err := p.sqlType.sent(wanted.Value)
		if same = err == nil && equal(sent, p.Value); err == nil {
			shown = sent
		}
	}
	if wanted.Name == "" {
		wanted.Name = p.Name
	}
	if wanted.Type == "" {
		wanted.Type = p.Type
	}
	if same && wanted.Name == p.Name && wanted.Type == p.Type {
		return ""
	}
	wanted.Value = shown
	return fmt.Sprintf("argument: want %s\n           got %s", wanted, p)
}

// sent returns what comes when a client sends a value as a parameter of this type.
func (t sqlType) sent(v any) (any, error) {
	v, err := bare(v)
	if _, ok := v.(string); ok && t.collated() || v == nil {
		return v, err
	}
	b, err := t.encode(v)
	if err != nil {
		return nil, err
	}
	return t.decode(b)
}

func equal(a, b any) bool {
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && string(x) == string(y)
	}
	return a == b
}

// describe shows a request.
func describe(r Request) string {
	var b strings.Builder
	switch r.Kind {
	case KindQuery:
		b.WriteString(r.Text)
	case KindBegin:
		fmt.Fprintf(&b, "%s at %s", r.Kind, r.Isolation)
	default:
		b.WriteString(r.Kind.String())
	}
	for _, p := range r.Params {
		fmt.Fprintf(&b, "\n%s", p)
	}
	return b.String()
}

func (w *want) String() string {
	s := describe(w.Request)
	for i, arg := range w.args {
		if p, ok := arg.(Param); ok {
			s += fmt.Sprintf("\n%s", p)
			continue
		}
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
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case string:
		return fmt.Sprintf("%q", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%v (%T)", v, v)
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(s, "\n", "\n\t")
}
