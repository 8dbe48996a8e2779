package tds

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
)

// Server is a SQL Server of which only the wire exists.
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
	login   func(Login) Response
}

// Start starts a server that runs until the test ends. What is expected then and
// has not come fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("tds: %v", err)
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

// DSN returns the address for sql.Open("sqlserver", …). More can be appended with
// "&", such as "&packet+size=512".
func (s *Server) DSN() string {
	return "sqlserver://sa:Secret1@" + s.address + "?database=qgen&encrypt=disable"
}

// Expect appends to the script: the requests have to come in this order, whatever
// the connection, each as often as it stands here. A query that stands between a
// BEGIN and the end of its transaction has to come inside of a transaction, and
// one that stands elsewhere outside, unless [Response.Elsewhere] says otherwise.
func (s *Server) Expect(responses ...Response) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range responses {
		if err := s.script.add(r); err != nil {
			s.t.Fatalf("tds: %v", err)
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

// HandleLogin lets a function decide about logins. A Response with an error refuses
// the login; without one all of them are let in.
func (s *Server) HandleLogin(answer func(Login) Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.login = answer
}

// Break closes the connections that there are and waits until they are closed; a
// function of Handle would wait for itself. New connections can come.
func (s *Server) Break() { s.disconnect(func(*conn) {}) }

// Reset is Break with connections that are dropped, of which their clients are told
// at once.
func (s *Server) Reset() { s.disconnect((*conn).abrupt) }

func (s *Server) disconnect(how func(*conn)) {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.open))
	s.mu.Unlock()
	for _, c := range all {
		how(c)
		_ = c.net.Close() // the client may have been faster
		<-c.done
	}
}

// Close stops the server: there is nobody at its address any more.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.listener.Close() // a second time it complains
	s.Break()
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

// welcome decides about a login.
func (s *Server) welcome(l Login) Response {
	s.mu.Lock()
	login := s.login
	s.mu.Unlock()
	if login == nil {
		return Response{}
	}
	return s.checked(login(l))
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
		s.t.Errorf("tds: %s", complaint)
	case !scripted && handler != nil:
		return s.checked(handler(r))
	case !scripted:
		s.t.Errorf("tds: nothing is expected, and this comes (connection %d):\n%s", r.Connection, indent(describe(r)))
	}
	return response
}

// lost tells the function of Handle that a transaction is rolled back.
func (s *Server) lost(connection int) {
	s.mu.Lock()
	handler := s.handler
	s.mu.Unlock()
	if handler != nil {
		handler(Request{Kind: KindRollback, Connection: connection, InTransaction: true, Lost: true, ctx: gone})
	}
}

// checked fails the test for a response that cannot be sent.
func (s *Server) checked(r Response) Response {
	if r.err == nil {
		return r
	}
	s.t.Errorf("tds: the response of a function: %v", r.err)
	return Response{}.Error(50000, 1, 16, fmt.Sprintf("tds: %v", r.err))
}

// unexpected answers what the test does not expect.
var unexpected = Response{}.Error(50000, 1, 16, "tds: this request was not expected")
