package oracle

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Kind tells requests apart.
type Kind int

// What a client can ask for.
const (
	KindExec     Kind = iota + 1 // a statement: a query, DML, a block
	KindCommit                   // of what the session did
	KindRollback                 // of the same
	KindEnd                      // nothing: the connection is gone, and what was not committed with it
)

func (k Kind) String() string {
	return [...]string{"no request", "a statement", "a COMMIT", "a ROLLBACK", "the end of the connection"}[k]
}

// Bind is an argument of a statement. The wire does not tell its direction: one
// that only comes out is NULL here.
type Bind struct {
	// Name is that of its placeholder, in upper case and without the colon. A name
	// that stands in a query or DML several times is several binds, in a block it is one.
	Name string
	// Type is such as "NUMBER", "VARCHAR2", "RAW", "TIMESTAMP WITH TIME ZONE" or "REF CURSOR".
	Type string
	// Value is nil, int64, float64, a string, which a number that neither holds is as
	// well, []byte or time.Time; of a Table, and of a statement that is executed
	// several times, it is a []any of those.
	Value any
	// Table is whether it is an index-by table of PL/SQL; Room is how many elements
	// that can hold.
	Table bool
	Room  int
	// Size is how many bytes the client has room for, in each element of a table.
	Size int

	dataType dataType
	again    bool // the name stood before, and the value came with it
	out      bool // it only comes out, as the client was told
}

// Request is what a client asks for.
type Request struct {
	Kind Kind
	// Text and Binds are those of a statement.
	Text  string
	Binds []Bind
	// Times is how often DML is executed with other values each time. It is 0 for a
	// statement that was sent with single values.
	Times int
	// Autocommit is whether the statement ends its transaction when it succeeds. The
	// driver says so of DML and blocks outside of a transaction, and of nothing else.
	Autocommit bool
	// Connection counts the connections of the server, from 1.
	Connection int

	ctx context.Context
}

// Context ends when the client no longer waits for the answer, because it cancelled
// the request or the connection is gone.
func (r Request) Context() context.Context { return r.ctx }

// From returns the number of the connection.
func (r Request) From() int { return r.Connection }

// Bind returns the bind of that name.
func (r Request) Bind(name string) Bind {
	for _, b := range r.Binds {
		if strings.EqualFold(b.Name, name) {
			return b
		}
	}
	return Bind{}
}

// Functions of TTC.
const (
	callReexecute      = 0x04
	callFetch          = 0x05
	callLogoff         = 0x09
	callCommit         = 0x0e
	callRollback       = 0x0f
	callVersion        = 0x3b
	callReexecuteFetch = 0x4e
	callExecute        = 0x5e
	callLob            = 0x60
	callCloseCursors   = 0x69
	callAuthSecond     = 0x73
	callAuthFirst      = 0x76
	callPing           = 0x93
)

// Messages of TTC.
const (
	messageProtocol  = 1
	messageTypes     = 2
	messageCall      = 3
	messageError     = 4
	messageRowHeader = 6
	messageValues    = 7
	messageReply     = 8
	messageStatus    = 9
	messageBinds     = 11
	messageDescribe  = 16
	messagePiggyback = 17
	messageServer    = 23
)

// Bits of the options of an execution.
const (
	optionParse   = 0x1
	optionDefine  = 0x10
	optionExecute = 0x20
	optionCommit  = 0x100
	timesAt       = 1 // where the list of numbers says how often, or how many rows
	flagsAt       = 9
	arrayFlag     = 0x4000
	commitFlag    = 1 // in the flags of a statement that is executed again
	repeatedFlag  = 0x80
)

// call is a request as the wire has it.
type call struct {
	function byte
	closed   []int // cursors that are closed on the way

	// Of an execution or a fetch:
	options int
	cursor  int
	text    string
	again   bool // without parsing and without describing the binds
	binds   []Bind
	defines []dataType // what the client wants the columns as
	rows    int        // how many it wants at once
	times   int
	array   bool
	commit  bool
}

// call reads a request. What it needs to know of cursors that are open it finds in
// the conn.
func (c *conn) call() call {
	d := c.in
	var r call
	for {
		switch code := d.u8(); {
		case d.err != nil:
			return r
		case code == messagePiggyback:
			d.closeCursors(&r)
			continue
		case code != messageCall:
			d.fail("message %d comes where a request is due", code)
			return r
		}
		break
	}
	r.function = d.u8()
	d.u8() // the number of the request
	switch r.function {
	case callExecute:
		c.execution(&r)
	case callReexecute, callReexecuteFetch:
		c.reexecution(&r)
	case callFetch:
		r.cursor, r.rows = d.ub("the cursor"), d.ub("the rows")
	case callCommit, callRollback, callLogoff, callPing:
	case callVersion:
		d.expect("the version", 1, 2, 1, 0, 1, 1)
	case callLob:
		d.fail("an operation on a LOB comes, which this server does not speak: bind texts and bytes, and leave LOBs to be fetched inline")
	default:
		d.fail("function %#x is called; this server does not know it", r.function)
	}
	d.end("the request")
	return r
}

func (d *decoder) closeCursors(r *call) {
	if function := d.u8(); function != callCloseCursors {
		d.fail("function %#x comes with the request; this server does not know it", function)
		return
	}
	d.u8() // the number of the request
	d.expect("the cursors to close", 1)
	for range d.ub("the number of cursors") {
		r.closed = append(r.closed, d.ub("a cursor"))
	}
}

// execution reads an execution in full.
func (c *conn) execution(r *call) {
	d := c.in
	r.options, r.cursor = d.ub("the options"), d.ub("the cursor")
	d.u8() // whether there is a cursor
	length := d.ub("the length of the text")
	d.expect("the execution", 1)
	numbers := d.ub("the length of the list")
	d.expect("the execution", 0, 0, 0)
	prefetch := d.ub("the rows to prefetch")
	d.ub("the longest LONG")
	binds := d.list("the binds")
	d.expect("the execution", 0, 0, 0, 0, 0)
	defines := d.list("the columns")
	d.expect("the execution", 0, 0, 1, 0, 0, 0, 0, 0)
	if length > 0 {
		r.text = string(d.clr())
	}
	list := make([]int, max(numbers, flagsAt+1))
	for i := range numbers {
		list[i] = d.ub("the list")
	}
	r.rows, r.times = prefetch+list[timesAt], list[timesAt]
	r.array = list[flagsAt]&arrayFlag != 0
	r.commit = r.options&optionCommit != 0
	for range defines {
		r.defines = append(r.defines, d.describe().dataType)
	}
	for range binds {
		r.binds = append(r.binds, d.describe())
	}
	if d.err == nil && len(r.text) != length {
		d.fail("the text has %d bytes, %d are announced", len(r.text), length)
	}
	c.name(r)
	d.values(r)
}

// name gives binds the names of their placeholders; when they are not as many,
// numbers.
func (c *conn) name(r *call) {
	text := r.text
	if known := c.cursors[r.cursor]; known != nil && text == "" {
		text = known.text
	}
	names := scan(text).names
	for i := range r.binds {
		r.binds[i].Name = strconv.Itoa(i + 1)
		if len(names) == len(r.binds) {
			r.binds[i].Name = names[i]
		}
	}
}

// list reads how long a list is.
func (d *decoder) list(what string) int {
	d.u8() // whether there is one
	return d.ub(what)
}

// describe reads the description of a bind or a column.
func (d *decoder) describe() Bind {
	var b Bind
	b.dataType.code = int(d.u8())
	b.again = d.u8() == repeatedFlag
	b.dataType.precision, b.dataType.scale = int(d.u8()), int(d.u8())
	b.dataType.size = d.ub("the size")
	b.Size = b.dataType.size
	b.Room = d.ub("the room for elements")
	b.Table = b.Room > 0
	d.ub("the flags")
	if id := d.ub("the object"); id != 0 {
		d.fail("a value of an object type comes; this server does not speak it")
	}
	d.ub("the version of the object")
	d.ub("the character set")
	d.u8() // its form
	d.ub("the characters")
	if b.Type = typeNames[b.dataType.code]; b.Type == "" {
		d.fail("a bind has the type %d; this server does not speak it", b.dataType.code)
	}
	return b
}

// reexecution reads an execution of a statement that was parsed before.
func (c *conn) reexecution(r *call) {
	d := c.in
	r.again = true
	r.cursor = d.ub("the cursor")
	count := d.ub("how often")
	d.ub("the options")
	r.options = optionExecute
	r.commit = d.ub("the flags")&commitFlag != 0
	if r.function == callReexecuteFetch {
		r.rows = count
	} else {
		r.times = count
	}
	known := c.cursors[r.cursor]
	if known == nil {
		d.fail("cursor %d is not open", r.cursor)
		return
	}
	r.array = known.array
	r.binds = append(r.binds, known.binds...)
	d.values(r)
}

// values reads the values of the binds, of each execution if there are several.
func (d *decoder) values(r *call) {
	sent := 0
	for _, b := range r.binds {
		if b.comes(r.again) {
			sent++
		}
	}
	times := 1
	if r.array {
		times = r.times
		for i := range r.binds {
			r.binds[i].Value = []any{}
		}
	}
	for range times {
		if d.err != nil {
			return
		}
		if sent > 0 {
			d.expect("the values", messageValues)
		}
		for _, long := range []bool{false, true} {
			for i := range r.binds {
				if b := &r.binds[i]; b.dataType.long() == long && b.comes(r.again) {
					d.value(b, r.array)
				}
			}
		}
	}
	for i := range r.binds {
		if b := &r.binds[i]; b.again {
			b.Value = r.first(b)
		}
	}
}

// first returns the value of the first bind of the name.
func (r *call) first(again *Bind) any {
	for _, b := range r.binds {
		if b.Name == again.Name && !b.again {
			return b.Value
		}
	}
	return nil
}

// comes tells whether a value comes for a bind: not again for a name that stands in
// the text again, except when it is a long one, and not for one that only comes out,
// once the client knows that.
func (b Bind) comes(again bool) bool {
	return (!b.again || b.dataType.long()) && (!again || !b.out)
}

// value reads a value of a bind.
func (d *decoder) value(b *Bind, array bool) {
	var value any
	switch {
	case b.dataType.code == typeCursor:
		d.expect("the cursor "+b.Name, 1, 0)
	case b.Table:
		all := []any{}
		for range d.ub("the elements of " + b.Name) {
			all = append(all, d.scalar(b))
		}
		value = all
	default:
		value = d.scalar(b)
	}
	if array {
		value = append(b.Value.([]any), value)
	}
	b.Value = value
}

func (d *decoder) scalar(b *Bind) any {
	raw := d.clr()
	value, err := b.dataType.decode(raw)
	if d.err == nil && err != nil {
		d.fail("bind %s: %v", b.Name, err)
	}
	return value
}

func (b Bind) String() string {
	return fmt.Sprintf(":%s %s = %s", b.Name, b.Type, show(b.Value))
}
