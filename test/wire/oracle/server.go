package oracle

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Server is an Oracle server of which only the wire exists.
type Server struct {
	t        testing.TB
	listener net.Listener
	address  string
	running  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	open    map[*conn]bool
	opened  int // connections so far
	script  script
	handler func(Request) Response
	refuse  int
	offset  time.Duration
}

// Start starts a server that runs until the test ends. What is expected then and
// has not come fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	s := &Server{t: t, listener: listener, address: listener.Addr().String(), open: map[*conn]bool{}}
	s.running.Go(s.accept)
	t.Cleanup(func() {
		s.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.script.complain(t)
	})
	return s
}

// DSN returns the address for sql.Open("oracle", …). Options can be appended, such as
// "?PREFETCH_ROWS=100".
func (s *Server) DSN() string {
	return "oracle://" + user + ":" + password + "@" + s.address + "/qgen"
}

// Expect appends to the script: the requests have to come in this order, whatever
// the connection, each as often as it stands here.
func (s *Server) Expect(responses ...Response) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range responses {
		if err := s.script.add(r); err != nil {
			s.t.Fatalf("oracle: %v", err)
		}
	}
}

// Handle lets a function answer whatever comes when the script is at its end. It is
// called from many connections at once, and for a request of which
// [Request.Context] is over, its answer does not matter.
func (s *Server) Handle(answer func(Request) Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = answer
}

// Refuse refuses connections from now on with ORA-code, such as 12514 or 12516; 0
// lets them in again.
func (s *Server) Refuse(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = code
}

// SetZone sets the time zone of the machine of the server, as DBTIMEZONE and
// SYSTIMESTAMP tell it to connections that come. It is UTC otherwise.
func (s *Server) SetZone(offset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset = offset
}

// Disconnect closes the connections that there are, and waits until they are closed. New ones
// can come.
func (s *Server) Disconnect() {
	s.mu.Lock()
	var all []*conn
	for c := range s.open {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		_ = c.net.Close() // it may be closed already
		<-c.done
	}
}

// Close stops the server: there is nobody at its address any more.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.listener.Close() // a second time it complains
	s.Disconnect()
	s.running.Wait()
}

// accept lets clients in.
func (s *Server) accept() {
	for {
		client, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		if s.closed {
			_ = client.Close() // nobody will be told
			s.mu.Unlock()
			return
		}
		s.opened++
		c := newConn(s, client, s.opened)
		s.open[c] = true
		s.running.Go(c.serve)
		s.mu.Unlock()
	}
}

// forget takes a connection that has ended off the list.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

func (s *Server) refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuse
}

func (s *Server) zoneOffset() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offset
}

// answer returns the response to a request.
func (s *Server) answer(r Request) Response {
	s.mu.Lock()
	handler, scripted := s.handler, !s.script.empty()
	response, complaint := unexpected, ""
	if scripted {
		response, complaint = s.script.next(r)
	}
	s.mu.Unlock()
	switch {
	case complaint != "":
		s.t.Errorf("oracle: %s", complaint)
	case !scripted && handler != nil:
		response = handler(r)
		if response.err != nil {
			s.t.Errorf("oracle: the response of a function: %v", response.err)
			return unexpected
		}
	case !scripted:
		s.t.Errorf("oracle: nothing is expected, and this comes (connection %d):\n%s", r.Connection, indent(describe(r)))
	}
	return response
}

// end tells the function of Handle that a connection has ended.
func (s *Server) end(connection int) {
	s.mu.Lock()
	handler := s.handler
	s.mu.Unlock()
	if handler != nil {
		gone, cancel := context.WithCancelCause(context.Background())
		cancel(errGone)
		handler(Request{Kind: KindEnd, Connection: connection, ctx: gone})
	}
}

// unexpected answers what the test does not expect.
var unexpected = Response{}.Error(20000, "this request was not expected")
