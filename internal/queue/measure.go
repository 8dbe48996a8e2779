package queue

// This file finds out whether an expression is a number or an interval, where that is plain to see.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/schema"
)

var (
	// ofArguments are functions whose value is of the kind of what they are given.
	ofArguments = append([]string{"greatest", "least", "nullif"}, forNull...)
	// toNumber and toInterval are those whose value is always one.
	toNumber   = []string{"abs", "ceil", "ceiling", "exp", "extract", "floor", "length", "log", "ln", "mod", "pow", "power", "round", "sqrt", "trunc"}
	toInterval = []string{"make_interval", "numtodsinterval", "numtoyminterval", "to_dsinterval", "interval"}
	numbers    = []string{"bigint", "decimal", "float", "int", "integer", "number", "numeric", "real", "smallint", "double"}
)

// Measure returns what an expression surely is: schema.Decimal for a number, schema.Interval, or
// schema.Unknown.
func (s *Spec) Measure(text string) schema.Class {
	r := s.Read(PiecesOf(text))
	return r.measure(0, len(r.Pieces))
}

// measure is Measure of the pieces from first until end.
func (r *Reading) measure(first, end int) schema.Class {
	for first < end && r.is(first, "(") && r.closing(first) == end-1 {
		first, end = first+1, end-1
	}
	if first < end && (r.Pieces[first] == "-" || r.Pieces[first] == "+") {
		return r.measure(first+1, end)
	}
	if first >= end {
		return schema.Unknown
	}
	var all []schema.Class
	from, depth := first, 0
	for i := first; i < end; i++ {
		switch {
		case r.is(i, "(", "case"):
			depth++
		case r.is(i, ")", "end"):
			depth--
		case depth == 0 && strings.Contains("+-*/%", r.Pieces[i]):
			all = append(all, r.measured(from, i))
			from = i + 1
		}
	}
	return together(append(all, r.measured(from, end)))
}

// together is the kind of what is made of several.
func together(all []schema.Class) schema.Class {
	switch {
	case len(all) == 0 || slices.Contains(all, schema.Unknown):
		return schema.Unknown
	case slices.Contains(all, schema.Interval):
		return schema.Interval
	}
	return schema.Decimal
}

// measured is measure of what no sign divides.
func (r *Reading) measured(first, end int) schema.Class {
	p := r.Pieces
	switch n := end - first; {
	case n <= 0:
		return schema.Unknown
	case n > 2 && p[end-2] == ":" && p[end-3] == ":":
		return measureOf(p[end-1])
	case r.is(first, "("):
		if r.closing(first) != end-1 {
			return schema.Unknown
		}
		return r.measure(first, end)
	case r.is(first, "case") && r.is(end-1, "end"):
		return r.cases(first+1, end-1)
	case n == 1 && numberForm.MatchString(p[first]):
		return schema.Decimal
	case n == 1:
		c, _ := r.Column(first)
		switch {
		case c == nil:
		case c.Type.Counts():
			return schema.Decimal
		case c.Type.Class == schema.Interval && !c.Type.Array:
			return schema.Interval
		}
		return schema.Unknown
	case r.is(first, "interval") && textForm.MatchString(p[first+1]):
		return schema.Interval
	case !r.is(first+1, "(") || r.closing(first+1) != end-1:
		return schema.Unknown
	case r.is(first, toNumber...):
		return schema.Decimal
	case r.is(first, toInterval...):
		return schema.Interval
	case r.is(first, "cast") && r.is(end-3, "as"):
		return measureOf(p[end-2])
	case r.is(first, ofArguments...):
		return r.arguments(first+2, end-1)
	}
	return schema.Unknown
}

// measureOf is the kind of a type.
func measureOf(name string) schema.Class {
	switch name = strings.ToLower(name); {
	case slices.Contains(numbers, name):
		return schema.Decimal
	case name == "interval":
		return schema.Interval
	}
	return schema.Unknown
}

// arguments is the kind of what stands between commas.
func (r *Reading) arguments(first, end int) schema.Class {
	var all []schema.Class
	from, depth := first, 0
	for i := first; i <= end; i++ {
		switch {
		case r.is(i, "(") && i < end:
			depth++
		case r.is(i, ")") && i < end:
			depth--
		case depth == 0 && (i == end || r.is(i, ",")):
			if i-from != 1 || !r.is(from, "null") {
				all = append(all, r.measure(from, i))
			}
			from = i + 1
		}
	}
	return together(all)
}

// cases is the kind of the values of CASE.
func (r *Reading) cases(first, end int) schema.Class {
	var all []schema.Class
	from, depth := -1, 0
	for i := first; i <= end; i++ {
		switch {
		case r.is(i, "(", "case") && i < end:
			depth++
		case r.is(i, ")", "end") && i < end:
			depth--
		case depth > 0:
		case i == end || r.is(i, "when", "else"):
			if from >= 0 && (i-from != 1 || !r.is(from, "null")) {
				all = append(all, r.measure(from, i))
			}
			from = -1
			if i < end && r.is(i, "else") {
				from = i + 1
			}
		case r.is(i, "then"):
			from = i + 1
		}
	}
	return together(all)
}
