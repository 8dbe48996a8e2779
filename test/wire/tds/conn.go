package tds

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"net"

	"github.com/qgen-dev/qgen/test/wire"
)

// conn is a connection with a client.
type conn struct {
	server *Server
	net    net.Conn
	in     *bufio.Reader
	out    writer
	number int

	transaction uint64 // its descriptor, or 0
	began       uint64 // transactions so far
}

// pending is a message that waits for its answer. An attention is one too, so that it
// cannot overtake the request that it is about.
type pending struct {
	message message
	ctx     context.Context
	cancel  context.CancelCauseFunc
	err     error // why there is no message, and will be none
}

func newConn(s *Server, client net.Conn, number int) *conn {
	return &conn{
		server: s,
		net:    client,
		in:     bufio.NewReader(client),
		out:    writer{to: client, size: 4096},
		number: number,
	}
}

// serve talks until one side has enough, and tells why that was.
func (c *conn) serve() error {
	err := c.talk()
	if c.transaction != 0 {
		c.server.lost(c.number)
	}
	return err
}

func (c *conn) talk() error {
	messages := make(chan pending, 2) // a request and its attention
	go c.listen(messages)
	// Wait for the end of listen, and let it go where it waits to hand on a message.
	defer func() {
		_ = c.net.Close() // the client may have been faster
		for range messages {
		}
	}()
	if err := c.welcome(messages); err != nil {
		return err
	}
	acknowledged := false
	for {
		p := <-messages
		err := p.err
		switch {
		case err != nil:
		case p.message.kind != packetAttention:
			err = c.reply(p)
			if acknowledged = errors.Is(err, errAttention); acknowledged {
				err = c.acknowledge()
			}
		case acknowledged:
			acknowledged = false
		default:
			err = c.acknowledge()
		}
		if err != nil {
			return err
		}
	}
}

// listen reads messages until there are no more. It goes on while a request is
// answered, because that is when an attention comes.
func (c *conn) listen(messages chan<- pending) {
	defer close(messages)
	last := pending{cancel: func(error) {}}
	for {
		m, err := readMessage(c.in)
		p := pending{message: m, err: err}
		switch {
		case err != nil:
			last.cancel(wire.ErrGone)
		case m.kind == packetAttention:
			last.cancel(errAttention)
		default:
			p.ctx, p.cancel = context.WithCancelCause(context.Background())
			last = p
		}
		messages <- p
		if err != nil {
			return
		}
	}
}

// acknowledge tells the client that its request is cancelled.
func (c *conn) acknowledge() error {
	a := answer{conn: c, count: noCount}
	a.out = a.appendDone(nil, tokenDone, doneAttention)
	return a.flush(true)
}

// welcome talks until the client has logged in.
func (c *conn) welcome(messages <-chan pending) error {
	p, err := expect(messages, packetPrelogin)
	if err == nil {
		err = decodePrelogin(p.message.body)
	}
	if err == nil {
		err = c.out.write(preloginReply(), true)
	}
	if err != nil {
		return err
	}
	if p, err = expect(messages, packetLogin); err != nil {
		return err
	}
	l, err := decodeLogin(p.message.body)
	if err != nil {
		return err
	}
	a := &answer{conn: c, ctx: p.ctx}
	err = a.run(c.server.welcome(l), func(b []byte) []byte { return appendWelcome(b, l) })
	if err == nil && a.status != 0 {
		return errFatal
	}
	c.out.size = l.packetSize
	return err
}

// expect takes a message of a kind.
func expect(messages <-chan pending, kind byte) (pending, error) {
	p := <-messages
	if p.err == nil && p.message.kind != kind {
		p.err = wire.Malformedf("a packet of type %d comes where one of type %d is due", p.message.kind, kind)
	}
	return p, p.err
}

// reply answers a request.
func (c *conn) reply(p pending) error {
	r, transaction, err := decodeRequest(p.message)
	if err != nil {
		return err
	}
	if r.Kind != KindBegin && transaction != c.transaction || r.Kind == KindBegin && c.transaction != 0 && !r.Reset {
		return wire.Malformedf("%s names transaction %#x, the connection has %#x:\n%s", r.Kind, transaction, c.transaction, r)
	}
	a := &answer{conn: c, ctx: p.ctx, call: p.message.kind == packetRPC}
	if r.Reset {
		if c.transaction != 0 {
			a.head = c.endTransaction(a.head, envRollback)
			c.server.lost(c.number)
		}
		a.head = appendChange(a.head, envReset, nil, nil)
	}
	r.Connection, r.InTransaction, r.ctx = c.number, c.transaction != 0, p.ctx
	return a.run(c.server.answer(r), func(b []byte) []byte { return c.carryOut(b, r.Kind) })
}

// carryOut does what a request asks of the transaction.
func (c *conn) carryOut(b []byte, kind Kind) []byte {
	switch kind {
	case KindBegin:
		c.began++
		c.transaction = uint64(c.number)<<32 | c.began
		return appendChange(b, envBegin, c.descriptor(), nil)
	case KindCommit:
		return c.endTransaction(b, envCommit)
	case KindRollback:
		return c.endTransaction(b, envRollback)
	}
	return b
}

// endTransaction ends the transaction, if there is one.
func (c *conn) endTransaction(b []byte, how byte) []byte {
	if c.transaction == 0 {
		return b
	}
	b = appendChange(b, how, nil, c.descriptor())
	c.transaction = 0
	return b
}

func (c *conn) descriptor() []byte {
	return binary.LittleEndian.AppendUint64(nil, c.transaction)
}
