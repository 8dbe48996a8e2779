package tds

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/qgen-dev/qgen/test/wire"
)

// Server is a SQL Server of which only the wire exists.
type Server struct {
	*wire.Listener

	t      testing.TB
	script *wire.Script[Request, Response]

	mu    sync.Mutex
	login func(Login) Response
}

// Start starts a server that runs until the test ends. What is expected then and
// has not come fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, script: wire.NewScript(t, "tds", new(transactions).want, unexpected)}
	s.Listener = wire.Listen(t, "tds", func(client net.Conn, number int) error {
		return newConn(s, client, number).serve()
	})
	t.Cleanup(func() {
		s.Close()
		s.script.Complain()
	})
	return s
}

// DSN returns the address for sql.Open("sqlserver", …). More can be appended with
// "&", such as "&packet+size=512".
func (s *Server) DSN() string {
	return "sqlserver://sa:Secret1@" + s.Address() + "?database=qgen&encrypt=disable"
}

// Expect appends to the script: the requests have to come in this order, whatever
// the connection, each as often as it stands here. A query that stands between a
// BEGIN and the end of its transaction has to come inside of a transaction, and
// one that stands elsewhere outside, unless [Response.Elsewhere] says otherwise.
func (s *Server) Expect(responses ...Response) {
	s.t.Helper()
	s.script.Expect(responses...)
}

// Handle lets a function answer whatever comes when the script is at its end. It is
// called from many connections at once, and for a request of which
// [Request.Context] is over, its answer does not matter.
func (s *Server) Handle(answer func(Request) Response) { s.script.Handle(answer) }

// HandleLogin lets a function decide about logins. A Response with an error refuses
// the login; without one all of them are let in.
func (s *Server) HandleLogin(answer func(Login) Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.login = answer
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
func (s *Server) answer(r Request) Response { return s.checked(s.script.Answer(r)) }

// lost tells the function of Handle that a transaction is rolled back.
func (s *Server) lost(connection int) {
	s.script.Tell(Request{Kind: KindRollback, Connection: connection, InTransaction: true, Lost: true, ctx: wire.Gone()})
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
