package wire

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// Request is what a client asks for.
type Request interface {
	fmt.Stringer
	// From returns the number of the connection.
	From() int
}

// Want is a request that is expected.
type Want[Q Request] interface {
	fmt.Stringer
	// Differences tells how a request is not the one that is wanted.
	Differences(Q) []string
}

// Script answers requests: those that are expected in their order, and those that
// come behind them by a function.
type Script[Q Request, R any] struct {
	t          testing.TB
	name       string
	want       func(R) (Want[Q], error)
	unexpected R

	mu       sync.Mutex
	expected []step[Q, R]
	came     int
	failed   bool
	handler  func(Q) R
}

type step[Q Request, R any] struct {
	want     Want[Q]
	response R
}

// NewScript returns a script that is empty. It fails the test under the name of the
// server. The function want returns the request to which a response belongs, or what
// is wrong with it; it is called once for each, in their order. What the test does
// not expect is answered with unexpected.
func NewScript[Q Request, R any](t testing.TB, name string, want func(R) (Want[Q], error), unexpected R) *Script[Q, R] {
	return &Script[Q, R]{t: t, name: name, want: want, unexpected: unexpected}
}

// Expect appends to the script.
func (s *Script[Q, R]) Expect(responses ...R) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range responses {
		want, err := s.want(r)
		if err != nil {
			s.t.Fatalf("%s: %v", s.name, err)
		}
		s.expected = append(s.expected, step[Q, R]{want, r})
	}
}

// Handle lets a function answer whatever comes when the script is at its end.
func (s *Script[Q, R]) Handle(answer func(Q) R) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = answer
}

// Tell tells the function of Handle what needs no answer.
func (s *Script[Q, R]) Tell(r Q) {
	s.mu.Lock()
	handler := s.handler
	s.mu.Unlock()
	if handler != nil {
		handler(r)
	}
}

// Answer returns the response to a request, and fails the test for one that is not
// expected.
func (s *Script[Q, R]) Answer(r Q) R {
	s.mu.Lock()
	handler, scripted := s.handler, !s.empty()
	response, complaint := s.unexpected, ""
	if scripted {
		response, complaint = s.next(r)
	}
	s.mu.Unlock()
	switch {
	case complaint != "":
		s.t.Errorf("%s: %s", s.name, complaint)
	case !scripted && handler != nil:
		return handler(r)
	case !scripted:
		s.t.Errorf("%s: nothing is expected, and this comes (connection %d):\n%s", s.name, r.From(), Indent(r.String()))
	}
	return response
}

func (s *Script[Q, R]) empty() bool { return s.came == len(s.expected) && !s.failed }

// next returns the response to a request, or a complaint about it. After the first
// complaint nothing is known of what else should come.
func (s *Script[Q, R]) next(r Q) (response R, complaint string) {
	if s.failed {
		return s.unexpected, ""
	}
	expected := s.expected[s.came]
	s.came++
	differences := expected.want.Differences(r)
	if len(differences) == 0 {
		return expected.response, ""
	}
	s.failed = true
	return s.unexpected, fmt.Sprintf("request %d of %d is not the one that is expected (connection %d):\n%s",
		s.came, len(s.expected), r.From(), strings.Join(differences, "\n"))
}

// Complain fails the test for what did not come.
func (s *Script[Q, R]) Complain() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed || s.empty() {
		return
	}
	var missing strings.Builder
	for _, e := range s.expected[s.came:] {
		missing.WriteString("\n" + Indent(e.want.String()))
	}
	s.t.Errorf("%s: %d of %d requests did not come:%s", s.name, len(s.expected)-s.came, len(s.expected), missing.String())
}

type anything struct{}

// Any is an argument of which nothing is expected.
var Any any = anything{}

// Differences tells how parameters are not the arguments that are wanted. The
// function tells it of one, and returns nothing where they are the same.
func Differences[P any](args []any, params []P, difference func(P, any) string) []string {
	var all []string
	if len(args) != len(params) {
		all = append(all, fmt.Sprintf("%d arguments are expected, %d come", len(args), len(params)))
	}
	for i, arg := range args[:min(len(args), len(params))] {
		if d := difference(params[i], arg); d != "" {
			all = append(all, d)
		}
	}
	return all
}

// Equal compares values as they come on the wire: times that may stand in different
// zones, bytes, and what can be compared as it is.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Equal(b)
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	}
	return a == b
}

// Show writes a value so that its type can be seen.
func Show(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case anything:
		return "anything"
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case string:
		return fmt.Sprintf("%q", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%v (%T)", v, v)
}

// Indent puts each line of a text behind a tab.
func Indent(s string) string {
	return "\t" + strings.ReplaceAll(s, "\n", "\n\t")
}
