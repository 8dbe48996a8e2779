package plan

import (
	"slices"
	"testing"
)

// A predicate is split where AND binds its parts, and what servers and people write differently is left out.
func TestPredicates(t *testing.T) {
	for _, tt := range []struct {
		text, same string
		alike      bool
	}{
		{"state = 'a' AND n > 1", "((n > 1) AND ((state)::text = 'a'::text))", true},
		{"a = 0 OR a >= 5", "((a = 0) OR (a >= 5))", true},
		{"(a = 1 AND b = 2) OR c = 3", "a = 1 AND (b = 2 OR c = 3)", false},
		{"n BETWEEN 1 AND 2 AND b = 1", "b = 1 and (n between 1 and 2)", true},
		{"a - (b - c) = 0", "a - b - c = 0", false},
		{"state = 'a AND b'", "(state = 'a AND b')", true},
		{"state = 'in-progress'", "((state)::text = 'in-progress'::text)", true},
	} {
		one, other := predicates(tt.text), predicates(tt.same)
		slices.Sort(one)
		slices.Sort(other)
		if slices.Equal(one, other) != tt.alike {
			t.Errorf("%s: %q, and %s: %q", tt.text, one, tt.same, other)
		}
	}
}
