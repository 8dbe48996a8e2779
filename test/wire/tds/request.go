package tds

import (
	"context"
	"fmt"
	"strings"

	"github.com/qgen-dev/qgen/test/wire"
)

// Kind tells requests apart.
type Kind int

// What a client can ask for.
const (
	KindQuery    Kind = iota + 1 // one or several statements
	KindBegin                    // of a transaction
	KindCommit                   // of the transaction of the connection
	KindRollback                 // of the same
)

func (k Kind) String() string {
	return [...]string{"no request", "a query", "a BEGIN", "a COMMIT", "a ROLLBACK"}[k]
}

// Isolation is the level with which a transaction begins.
type Isolation byte

// Levels of isolation.
const (
	SessionIsolation Isolation = iota // that of the session; what sql.LevelDefault asks for
	ReadUncommitted
	ReadCommitted
	RepeatableRead
	Serializable
	Snapshot
)

func (i Isolation) String() string {
	return [...]string{"the session's level", "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"}[i]
}

// Param is a parameter of a query.
type Param struct {
	Name  string // with its @
	Type  string // as it was declared, such as "nvarchar(20)"
	Value any    // nil, int64, float64, bool, string, []byte, time.Time or GUID

	sqlType sqlType
}

// Request is what a client asks for.
type Request struct {
	Kind Kind
	// Text and Params are those of a query. It has no Params when it was sent as a batch.
	Text   string
	Params []Param
	// Isolation is that of a BEGIN.
	Isolation Isolation
	// Connection counts the connections of the server, from 1.
	Connection int
	// InTransaction is whether the connection has a transaction, before a BEGIN and
	// at a COMMIT as well.
	InTransaction bool
	// Reset is whether the request is the first after the connection came out of the
	// pool of the client.
	Reset bool
	// Lost is set at a ROLLBACK that nobody asked for: the connection ended or was
	// reset inside a transaction. Only the function of Handle sees it, and its answer
	// reaches nobody.
	Lost bool

	ctx context.Context
}

// Context ends when the client no longer waits for the answer, because it cancelled
// the request or the connection is gone.
func (r Request) Context() context.Context { return r.ctx }

// From returns the number of the connection.
func (r Request) From() int { return r.Connection }

// decodeRequest reads a message and which transaction it belongs to.
func decodeRequest(m message) (r Request, transaction uint64, err error) {
	d := &decoder{left: m.body}
	transaction = d.headers()
	r.Reset = m.reset
	switch m.kind {
	case packetBatch:
		r.Kind = KindQuery
		if len(d.left)%2 != 0 {
			d.fail("a batch has %d bytes", len(d.left))
		}
		r.Text = d.text(len(d.left)/2, "the batch")
	case packetRPC:
		r.Kind = KindQuery
		d.call(&r)
	case packetTransaction:
		d.transaction(&r)
	default:
		d.fail("a packet of type %d comes where a request is due", m.kind)
	}
	d.end("the request")
	return r, transaction, d.err
}

// headers reads ALL_HEADERS and returns the descriptor of the transaction.
func (d *decoder) headers() (transaction uint64) {
	const descriptor, descriptorSize = 2, 18
	size := int(d.u32("the length of the headers"))
	if size < 4 {
		d.fail("the headers have %d bytes", size)
	}
	h := &decoder{left: d.take(max(0, size-4), "the headers")}
	if h.err = d.err; h.err != nil {
		return 0
	}
	found := false
	for h.err == nil && len(h.left) > 0 {
		length, kind := h.u32("the length of a header"), h.u16("the type of a header")
		if kind != descriptor || length != descriptorSize || found {
			h.fail("a header has the type %d and %d bytes", kind, length)
		}
		found = true
		transaction = h.u64("the transaction")
		if n := h.u32("the number of requests"); n != 1 {
			h.fail("%d requests are said to be under way", n)
		}
	}
	if !found {
		h.fail("the headers name no transaction")
	}
	d.err = h.err
	return transaction
}

const (
	procedureByNumber = 0xffff
	spExecuteSQL      = 10
)

// call reads a call of sp_executesql: the text, the declarations, the parameters.
func (d *decoder) call(r *Request) {
	if n := int(d.u16("the procedure")); n != procedureByNumber {
		d.fail("procedure %q is called; this server knows sp_executesql only", d.text(n, "the procedure"))
	}
	if n := d.u16("the procedure"); n != spExecuteSQL {
		d.fail("procedure %d is called; this server knows sp_executesql only", n)
	}
	if flags := d.u16("the flags of the call"); flags != 0 {
		d.fail("the call has the flags %#x", flags)
	}
	var declarations string
	for i, what := range []string{"the statement", "the declarations"} {
		p := d.parameter()
		text, ok := p.Value.(string)
		if d.err == nil && (!ok || p.Name != "" || p.sqlType.token != tokenNVarChar) {
			d.fail("%s: a nameless nvarchar is due, %s comes", what, p)
		}
		if i == 0 {
			r.Text = text
		} else {
			declarations = text
		}
	}
	r.Params = []Param{}
	for d.err == nil && len(d.left) > 0 {
		r.Params = append(r.Params, d.parameter())
	}
	if d.err == nil {
		d.err = declare(r.Params, declarations)
	}
}

// parameter reads name, type and value.
func (d *decoder) parameter() Param {
	before := d.err
	p := Param{Name: d.text(int(d.u8("the name")), "the name")}
	if flags := d.u8("the flags"); flags != 0 {
		d.fail("the flags are %#x, for a value that comes back, a default or encryption", flags)
	}
	p.sqlType = d.sqlType()
	p.Value = d.value(p.sqlType)
	if before == nil && d.err != nil {
		d.err = wire.Malformedf("parameter %q: %v", p.Name, d.err)
	}
	return p
}

// declare gives parameters the types of their declarations, which have to be those
// that they came in. Only NULL may come without one.
func declare(params []Param, declarations string) error {
	declared := splitOutside(declarations)
	if len(declared) != len(params) {
		return wire.Malformedf("%d parameters are declared, %d come: %s", len(declared), len(params), declarations)
	}
	for i := range params {
		p := &params[i]
		name, text, _ := strings.Cut(strings.TrimSpace(declared[i]), " ")
		t, err := parseType(text)
		if err != nil {
			return wire.Malformedf("parameter %s: %v", name, err)
		}
		if name != p.Name || t != p.sqlType && p.sqlType.token != tokenNull {
			return wire.Malformedf("%q is declared, %s comes as %+v", declared[i], p.Name, p.sqlType)
		}
		p.Type, p.sqlType = text, t
	}
	return nil
}

// splitOutside splits at commas that stand in no brackets.
func splitOutside(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// Requests to the transaction manager.
const (
	managerBegin    = 5
	managerCommit   = 7
	managerRollback = 8
)

// transaction reads a request to the transaction manager.
func (d *decoder) transaction(r *Request) {
	switch n := d.u16("the request"); n {
	case managerBegin:
		r.Kind, r.Isolation = KindBegin, Isolation(d.u8("the isolation"))
		if r.Isolation > Snapshot {
			d.fail("the isolation is %d", byte(r.Isolation))
			r.Isolation = SessionIsolation
		}
	case managerCommit:
		r.Kind = KindCommit
	case managerRollback:
		r.Kind = KindRollback
	default:
		d.fail("request %d goes to the transaction manager", n)
	}
	if n := d.u8("the name of the transaction"); n != 0 {
		d.fail("the transaction is named %q", d.text(int(n), "the name"))
	}
	if r.Kind == KindCommit || r.Kind == KindRollback {
		if flags := d.u8("the flags"); flags != 0 {
			d.fail("a transaction ends with the flags %#x, to begin the next", flags)
		}
	}
}

func (p Param) String() string {
	return fmt.Sprintf("%s %s = %s", p.Name, p.Type, wire.Show(p.Value))
}
