package namedq

import (
	"context"
	"testing"
)

// With nulls=distinct a job with a null is always added, and keeps none out.
func TestNullsAreDistinct(t *testing.T) {
	ctx, q := context.Background(), New(open(t))
	name := "a"
	for _, c := range []struct {
		name *string
		want bool
	}{{nil, true}, {nil, true}, {&name, true}, {&name, false}, {nil, true}} {
		if _, added, err := q.Enqueue(ctx, NewJob{Kind: 1, Name: c.name}); err != nil || added != c.want {
			t.Errorf("%v: added %t, not %t: %v", c.name, added, c.want, err)
		}
	}
}
