package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"testing"
)

// ErrGone ends what is done for a client that is no longer there.
var ErrGone = errors.New("the connection is gone")

// Gone returns the context of requests that nobody waits for.
func Gone() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrGone)
	return ctx
}

// MalformedError is what a client must never say. Everything else that ends a
// connection is its own affair.
type MalformedError struct{ text string }

func (e MalformedError) Error() string { return e.text }

// Malformedf returns a MalformedError.
func Malformedf(format string, args ...any) error {
	return MalformedError{fmt.Sprintf(format, args...)}
}

// Listener is the address of a server and the connections with it.
type Listener struct {
	t        testing.TB
	name     string
	serve    func(client net.Conn, number int) error
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]chan struct{} // closed when the connection is over
	opened int                        // connections so far
}

// Listen listens on a port of 127.0.0.1 and lets serve talk with each client, whose
// number counts from 1, until one side has enough. Whoever serves closes the
// connection. A [MalformedError] that serve returns fails the test under the name of
// the server.
func Listen(t testing.TB, name string, serve func(client net.Conn, number int) error) *Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	l := &Listener{t: t, name: name, serve: serve, listener: listener, open: map[net.Conn]chan struct{}{}}
	l.running.Go(l.accept)
	return l
}

// Address returns host and port.
func (l *Listener) Address() string { return l.listener.Addr().String() }

// Break closes the connections that there are and waits until they are over; who
// answers on one of them would wait for itself. New connections can come.
func (l *Listener) Break() { l.disconnect(func(net.Conn) {}) }

// Reset is Break with connections that are dropped, of which their clients are told
// at once.
func (l *Listener) Reset() { l.disconnect(Drop) }

func (l *Listener) disconnect(how func(net.Conn)) {
	l.mu.Lock()
	all := maps.Clone(l.open)
	l.mu.Unlock()
	for client, over := range all {
		how(client)
		_ = client.Close() // the client may have been faster
		<-over
	}
}

// Drop makes the end of a connection one that the client is told of at once, unless
// the connection is closed already.
func Drop(client net.Conn) {
	if tcp, ok := client.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the client may have been faster
	}
}

// Close stops the server: there is nobody at its address any more.
func (l *Listener) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.listener.Close() // a second time it complains
	l.Break()
	l.running.Wait()
}

// accept lets clients in.
func (l *Listener) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		l.mu.Lock()
		if l.closed {
			_ = client.Close() // nobody will be told
			l.mu.Unlock()
			return
		}
		l.opened++
		number, over := l.opened, make(chan struct{})
		l.open[client] = over
		l.running.Go(func() {
			defer close(over)
			defer l.forget(client)
			var wrong MalformedError
			if errors.As(l.serve(client, number), &wrong) {
				l.t.Errorf("%s: connection %d: %v", l.name, number, wrong)
			}
		})
		l.mu.Unlock()
	}
}

// forget takes a connection that is over off the list.
func (l *Listener) forget(client net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, client)
}
