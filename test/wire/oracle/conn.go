package oracle

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/qgen-dev/qgen/test/wire"
)

// conn is a connection and the session on it.
type conn struct {
	server *Server
	net    net.Conn
	number int
	in     *decoder
	out    writer

	cursors map[int]*cursor
	opened  int // cursors so far
	asked   bool
	ending  ending

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the request that is answered
	broken error                   // why reading ended, if not because the client is gone
}

func newConn(s *Server, client net.Conn, number int) *conn {
	return &conn{server: s, net: client, number: number, out: writer{client}, cursors: map[int]*cursor{}}
}

// errInterrupt ends the wait for an answer that the client gave up.
var errInterrupt = errors.New("the client cancelled the request")

// serve answers a client until it is gone, and tells why that was.
func (c *conn) serve() error {
	packets := make(chan packet)
	stop := make(chan struct{})
	c.in = &decoder{packets: packets}
	var reading sync.WaitGroup
	reading.Go(func() { c.read(packets, stop) })
	err := c.session()
	if c.ending == resets {
		wire.Drop(c.net)
	}
	_ = c.net.Close() // it may be closed already
	close(stop)
	reading.Wait()
	c.server.end(c.number)
	return errors.Join(err, c.broken)
}

// read hands packets on until the connection is gone. A marker that interrupts ends
// the wait of the request that is answered; when there is none, the client was late.
func (c *conn) read(packets chan<- packet, stop <-chan struct{}) {
	defer close(packets)
	defer c.interrupt(wire.ErrGone)
	in := bufio.NewReader(c.net)
	for {
		p, err := readPacket(in)
		if err != nil {
			c.mu.Lock()
			c.broken = err
			c.mu.Unlock()
			return
		}
		if p.kind == packetMarker && p.body[0] != markerReset {
			c.interrupt(errInterrupt)
			continue
		}
		select {
		case packets <- p:
		case <-stop:
			return
		}
	}
}

func (c *conn) interrupt(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(cause)
	}
}

// session logs a client in and answers its requests.
func (c *conn) session() error {
	if err := c.connect(); err != nil {
		return err
	}
	if err := c.negotiate(); err != nil {
		return err
	}
	if ok, err := c.authenticate(); err != nil || !ok {
		return err
	}
	for {
		r := c.call()
		if c.in.err != nil {
			return c.in.err
		}
		for _, number := range r.closed {
			delete(c.cursors, number)
		}
		if err := c.answer(r); err != nil {
			return err
		}
	}
}

// answer answers a request.
func (c *conn) answer(r call) error {
	switch r.function {
	case callVersion:
		b := appendUB([]byte{messageReply}, len(banner))
		b = appendUB(appendCLR(b, []byte(banner)), release)
		return c.out.message(append(b, messageStatus))
	case callCommit:
		return c.simple(KindCommit)
	case callRollback:
		return c.simple(KindRollback)
	case callPing:
		return c.out.message([]byte{messageStatus})
	case callLogoff:
		_ = c.out.message([]byte{messageStatus}) // it may not wait for it
		return wire.ErrGone
	case callFetch:
		return c.fetch(r)
	}
	if r.options&optionExecute == 0 {
		return c.fetch(r)
	}
	return c.execute(r)
}

// fetch sends more rows of a cursor.
func (c *conn) fetch(r call) error {
	cur := c.cursors[r.cursor]
	if cur == nil || cur.result == nil {
		return c.fail(summary{code: 1001, text: "invalid cursor"})
	}
	if r.options&optionDefine != 0 {
		cur.defines = r.defines
	}
	return c.send(c.appendRows(nil, cur, r.rows))
}

// send sends an answer; one that breaks is sent before it does.
func (c *conn) send(b []byte, err error) error {
	if len(b) > 0 {
		if err := c.out.message(b); err != nil {
			return err
		}
	}
	return err
}

// simple answers a COMMIT or a ROLLBACK.
func (c *conn) simple(kind Kind) error {
	response, err := c.ask(Request{Kind: kind})
	switch {
	case errors.Is(err, errAnswered):
		return nil
	case err != nil:
		return err
	case response.result != nil || len(response.outs) > 0:
		return wire.Malformedf("%s is answered with rows or binds", kind)
	}
	return c.out.message([]byte{messageStatus})
}

// errAnswered ends what is done for a request that was answered with an error.
var errAnswered = errors.New("the request failed")

// execute answers an execution.
func (c *conn) execute(r call) error {
	cur := c.cursors[r.cursor]
	switch {
	case r.options&optionParse != 0:
		cur = c.open(r.text)
	case cur == nil:
		return c.fail(summary{code: 1001, text: "invalid cursor"})
	}
	cur.binds, cur.array, cur.result, cur.sent = make([]Bind, len(r.binds)), r.array, nil, 0
	for i, b := range r.binds {
		b.Value = nil
		cur.binds[i] = b
	}
	s := scan(cur.text)
	if wrong, ok := syntax(s, len(r.binds)); !ok {
		return c.fail(wrong)
	}
	query := s.verb == "SELECT" || s.verb == "WITH"
	request := Request{Kind: KindExec, Text: cur.text, Binds: r.binds, Autocommit: r.commit && !query}
	if r.array {
		request.Times = r.times
	}
	response, err := c.ask(request)
	switch {
	case errors.Is(err, errAnswered):
		return nil
	case err != nil:
		return err
	}
	if query != (response.result != nil) {
		return wire.Malformedf("the response has rows, or none, and the statement is the opposite:\n%s", wire.Indent(cur.text))
	}
	if !query {
		return c.executed(cur, request, response)
	}
	cur.result = response.result
	var b []byte
	if r.options&optionParse != 0 {
		b = cur.appendColumns([]byte{messageDescribe, 0})
	}
	return c.send(c.appendRows(b, cur, r.rows))
}

// executed answers a statement that returns no rows.
func (c *conn) executed(cur *cursor, request Request, response Response) error {
	b, err := c.appendOuts(nil, cur, request, response)
	var room roomError
	switch {
	case errors.As(err, &room):
		return c.fail(summary{code: room.code, text: room.text, cursor: cur.number})
	case err != nil:
		return wire.Malformedf("the response to %s\n%v", wire.Indent(cur.text), err)
	}
	return c.out.message(appendSummary(appendReply(b), summary{rows: response.affected, cursor: cur.number}))
}

// ask gets the response of the test and carries out what does not depend on the
// request: it waits, fails, breaks the connection.
func (c *conn) ask(r Request) (Response, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	c.mu.Lock()
	c.cancel = cancel
	if c.broken != nil {
		cancel(wire.ErrGone)
	}
	c.mu.Unlock()
	r.ctx, r.Connection = ctx, c.number
	response := c.own(r)
	if response == nil {
		answer := c.server.answer(r)
		response = &answer
	}
	err := response.wait(ctx)
	c.mu.Lock()
	c.cancel = nil
	c.mu.Unlock()
	switch {
	case errors.Is(err, errInterrupt):
		return *response, c.failed(summary{code: 1013, text: "user requested cancel of current operation"})
	case err != nil:
		return *response, err
	case response.code != 0:
		err = c.failed(summary{code: response.code, text: response.text})
	}
	if response.ending != staysOpen {
		c.ending = response.ending
		return *response, errBroken
	}
	return *response, err
}

// wait waits as long as the response says, and tells why it was less.
func (r Response) wait(ctx context.Context) error {
	if r.hangs {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if r.delay == 0 {
		return nil
	}
	select {
	case <-time.After(r.delay):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// own answers what the driver asks for itself, before anybody else can ask.
func (c *conn) own(r Request) *Response {
	if c.asked || r.Kind != KindExec {
		return nil
	}
	c.asked = true
	if r.Text != "SELECT SYSTIMESTAMP FROM DUAL" {
		return nil
	}
	zone := time.FixedZone("", int(c.server.zoneOffset()/time.Second))
	response := Answer().Rows(Columns("systimestamp TIMESTAMP(6) WITH TIME ZONE"), Row{time.Now().In(zone)})
	return &response
}

// failed answers with an error and says that the request is answered.
func (c *conn) failed(s summary) error {
	if err := c.fail(s); err != nil {
		return err
	}
	return errAnswered
}

// fail answers with an error as servers do: they break off what they said, wait until
// the client has understood that, and say what is wrong.
func (c *conn) fail(s summary) error {
	for _, kind := range []byte{markerBreak, markerReset} {
		if err := c.out.marker(kind); err != nil {
			return err
		}
	}
	for p := range c.in.packets {
		if p.kind == packetMarker {
			return c.out.message(appendSummary(nil, s))
		}
		if p.final {
			break
		}
	}
	return wire.ErrGone
}
