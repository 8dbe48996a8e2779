package plan

// This file tells which rows stand in an index that has a predicate.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// condition is a part of the predicate of an index.
type condition struct {
	text   string      // in a normal form
	either []string    // the parts of it between OR
	test   *queue.Test // nil where it does not compare one column with constants
}

// conditionsOf returns the predicate of an index in parts. Where the server sees what a condition means,
// one stands in the words of the queue that says the same.
func (b *builder) conditionsOf(ix *schema.Index) (list []condition) {
	for _, part := range conjuncts(ix.Where) {
		c := condition{text: leaf(part)}
		for _, one := range queue.Disjuncts(part) {
			c.either = append(c.either, leaf(one))
		}
		if t, ok := b.spec.Condition(part); ok {
			if c.test = &t; b.can(dialect.PredicateProof) {
				c.text = leaf(b.newScope().test(b.worded(t)))
			}
		}
		list = append(list, c)
	}
	return list
}

// conditions returns the predicate of an index in parts, each as text in a normal form.
func (b *builder) conditions(ix *schema.Index) (texts []string) {
	for _, c := range b.conditionsOf(ix) {
		texts = append(texts, c.text)
	}
	return texts
}

// conjuncts takes a predicate apart into the conditions that all rows of an index satisfy.
func conjuncts(where string) (parts []string) {
	if strings.TrimSpace(where) == "" {
		return nil
	}
	all := queue.Conjuncts(where)
	if len(all) == 1 {
		return []string{unwrapped(all[0])}
	}
	for _, part := range all {
		parts = append(parts, conjuncts(part)...)
	}
	return parts
}

// worded returns a test as the queue says it, where a state of it says the same.
func (b *builder) worded(t queue.Test) queue.Test {
	for _, name := range queue.StateNames {
		if s := b.spec.States[name]; s != nil {
			if i := slices.IndexFunc(s.Tests, func(said queue.Test) bool { return t.Implies(said) && said.Implies(t) }); i >= 0 {
				return s.Tests[i]
			}
		}
	}
	return t
}

// holds reports whether all rows that satisfy tests stand in an index, as the server sees it.
func (b *builder) holds(ix *schema.Index, tests []queue.Test) bool {
	var said []string
	for _, text := range b.newScope().tests(tests) {
		said = append(said, predicates(text)...)
	}
	return !slices.ContainsFunc(b.conditionsOf(ix), func(c condition) bool {
		proves := func(t queue.Test) bool { return b.meaning(t).Implies(*c.test) }
		follows := c.test != nil && b.can(dialect.PredicateProof) && slices.ContainsFunc(tests, proves)
		return !follows && !slices.Contains(said, c.text) && !slices.ContainsFunc(c.either, func(one string) bool { return slices.Contains(said, one) })
	})
}

// holdsNulls reports whether indexes have rows, too, that are null in each of their columns.
func (b *builder) holdsNulls() bool { return b.d.NullKeys != "alike_beside" }

// lacksNulls reports whether an index lacks rows that satisfy tests because all of its columns may be null there.
func (b *builder) lacksNulls(ix *schema.Index, tests []queue.Test) bool {
	if b.holdsNulls() {
		return false
	}
	filled := func(t queue.Test) bool {
		return t.Op == queue.NotNull || compares(queue.Test{Op: t.Op}) || t.Op == queue.In && !takesNull(t)
	}
	return !slices.ContainsFunc(ix.Columns, func(c schema.IndexColumn) bool {
		if c.Column != nil && c.Column.NotNull || c.Column == nil && b.spec.NeverNull(unwrapped(c.Expr)) {
			return true
		}
		return slices.ContainsFunc(tests, func(t queue.Test) bool {
			if c.Column == nil {
				value, asked := strings.CutSuffix(leaf(b.newScope().test(t)), "isnotnull")
				return asked && value == leaf(c.Expr)
			}
			return !slices.ContainsFunc(b.meaning(t).Alternatives(), func(x queue.Test) bool { return x.Column != c.Column || !filled(x) })
		})
	})
}

// askedOf returns what a statement asks of the rows that are wanted.
func (b *builder) askedOf(w wanted) (tests []queue.Test) {
	tests = b.implied(w)
	has := func(columns ...*schema.Column) {
		for _, c := range columns {
			tests = append(tests, queue.Test{Column: c, Op: queue.NotNull})
		}
	}
	switch w.kind {
	case "ready":
		tests = append(tests, b.stateTests(queue.Ready)...)
		has(b.named()...)
	case "expired", "own":
		tests = slices.Concat(tests, b.spec.Held, b.spec.Expired)
	case "token":
		has(b.spec.Token)
	case "group", "line":
		if g := b.spec.Group; g != nil {
			has(g.Columns...)
		}
		if g := b.spec.Gate; g != nil {
			tests = append(tests, g.Running...)
		}
	}
	return tests
}

// meaning returns a test, and one that is SQL as the comparison that it makes.
func (b *builder) meaning(t queue.Test) queue.Test {
	if t.Op == queue.Raw && len(t.Or) == 0 {
		if c, ok := b.spec.Condition(t.SQL); ok {
			return c
		}
	}
	return t
}

// says reports whether all rows of an index satisfy a test.
func (b *builder) says(ix *schema.Index, t queue.Test) bool {
	list := b.conditionsOf(ix)
	if slices.ContainsFunc(list, func(c condition) bool { return c.test != nil && c.test.Implies(b.meaning(t)) }) {
		return true
	}
	return !slices.ContainsFunc(predicates(b.newScope().test(t)), func(part string) bool {
		return !slices.ContainsFunc(list, func(c condition) bool { return c.text == part })
	})
}

// leavesEnded reports whether an index has no rows that have ended and stay, by its predicate: others
// that are not wanted are few.
func (b *builder) leavesEnded(ix *schema.Index) bool {
	tests := b.tested(ix)
	return len(tests) > 0 && b.leaveOut(tests)
}

// tested returns what the predicate of an index tests of single columns.
func (b *builder) tested(ix *schema.Index) (tests []queue.Test) {
	for _, c := range b.conditionsOf(ix) {
		if c.test != nil {
			tests = append(tests, *c.test)
		}
	}
	return tests
}
