package plan

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What {now} is in an expression is found whatever the expression is, and is one of the ways
// in which the queue's columns keep time, or the present with zone.
func TestPresentInAnything(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"{now}", "(", ")", ",", "and", "or", "not", "case when", "then", "end", "in", "between", "made", "`made`", "started",
		"{row}.started", "tasks.made", "ttl", "f(", "SELECT", "from", "where", "'it''s'", "'", "+", "-", "<=", ">", "60", ".", "{arg:x}", "é",
	})
	found := false
	everyPlan(t, func(t *testing.T, m made) {
		if m.d.Name != "mysql" || m.spec.Table.Column("ttl") == nil {
			return
		}
		found = true
		s := m.scope(t)
		known := map[string]bool{"NOW(6)": true, "UTC_TIMESTAMP(6)": true, "UNIX_TIMESTAMP()": true}
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(words, 1, 12).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "between"))
			for at := strings.Index(text, "{now}"); at >= 0; {
				if now := s.present(text, at, nil); !known[now] {
					t.Fatalf("%s at %d is %q", text, at, now)
				}
				next := strings.Index(text[at+1:], "{now}")
				if next < 0 {
					break
				}
				at += 1 + next
			}
		})
	})
	if !found {
		t.Error("no plan has the table with ttl")
	}
}
