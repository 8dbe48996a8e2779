package tds

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/qgen-dev/qgen/test/wire"
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

// Any is an argument of which nothing is expected.
var Any = wire.Any

// transactions is how many are open at the end of a script.
type transactions int

// want returns the request that a response answers, inside of a transaction or not,
// and follows the transactions.
func (open *transactions) want(r Response) (wire.Want[Request], error) {
	switch {
	case r.want == nil:
		return nil, fmt.Errorf("a response without a request cannot be expected; it begins with Query, Begin, Commit or Rollback")
	case r.err != nil:
		return nil, fmt.Errorf("the response to %s: %w", r.want.Kind, r.err)
	}
	w := *r.want
	switch w.Kind {
	case KindQuery:
		w.InTransaction = *open > 0 && !w.elsewhere
		if r.ends && w.InTransaction {
			*open--
		}
	case KindBegin:
		if !r.ends && !r.fails {
			*open++
		}
	default:
		*open = max(0, *open-1)
	}
	return &w, nil
}

// Differences tells how a request is not the one that is wanted.
func (w *want) Differences(r Request) []string {
	if w.Kind != r.Kind {
		return []string{"want:", wire.Indent(w.String()), "got:", wire.Indent(r.String())}
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
	all = append(all, wire.Differences(w.args, r.Params, Param.difference)...)
	if len(all) > 0 && w.Text == r.Text {
		all = append(all, "in:", wire.Indent(r.String()))
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
		if same = err == nil && wire.Equal(sent, p.Value); err == nil {
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

// String shows the request as failures do.
func (r Request) String() string {
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
	s := w.Request.String()
	for i, arg := range w.args {
		if p, ok := arg.(Param); ok {
			s += fmt.Sprintf("\n%s", p)
			continue
		}
		s += fmt.Sprintf("\nargument %d = %s", i+1, wire.Show(arg))
	}
	return s
}
