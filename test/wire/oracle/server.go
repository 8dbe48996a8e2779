package oracle

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/wire"
)

// Server is an Oracle server of which only the wire exists.
type Server struct {
	*wire.Listener

	t      testing.TB
	script *wire.Script[Request, Response]

	mu     sync.Mutex
	refuse int
	offset time.Duration
}

// Start starts a server that runs until the test ends. What is expected then and
// has not come fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, script: wire.NewScript(t, "oracle", expected, unexpected)}
	s.Listener = wire.Listen(t, "oracle", func(client net.Conn, number int) error {
		return newConn(s, client, number).serve()
	})
	t.Cleanup(func() {
		s.Close()
		s.script.Complain()
	})
	return s
}

// DSN returns the address for sql.Open("oracle", …). Options can be appended, such as
// "?PREFETCH_ROWS=100".
func (s *Server) DSN() string {
	return "oracle://" + user + ":" + password + "@" + s.Address() + "/qgen"
}

// Expect appends to the script: the requests have to come in this order, whatever
// the connection, each as often as it stands here.
func (s *Server) Expect(responses ...Response) {
	s.t.Helper()
	s.script.Expect(responses...)
}

// Handle lets a function answer whatever comes when the script is at its end. It is
// called from many connections at once, and for a request of which
// [Request.Context] is over, its answer does not matter.
func (s *Server) Handle(answer func(Request) Response) { s.script.Handle(answer) }

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
	response := s.script.Answer(r)
	if response.err != nil {
		s.t.Errorf("oracle: the response of a function: %v", response.err)
		return unexpected
	}
	return response
}

// end tells the function of Handle that a connection has ended.
func (s *Server) end(connection int) {
	s.script.Tell(Request{Kind: KindEnd, Connection: connection, ctx: wire.Gone()})
}

// unexpected answers what the test does not expect.
var unexpected = Response{}.Error(20000, "this request was not expected")
