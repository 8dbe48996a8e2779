package emit

// This file writes low.go: the hint that keeps a first-in first-out claim from
// walking over rows that were taken long ago.

import (
	"fmt"
	"time"

	"github.com/qgen-dev/qgen/internal/code"
)

// lowType is the Go type of the bounded key.
func (w *writer) lowType() *code.Statement { return w.goType(w.Claim.Low.Field.GoType) }

// lowBoundType emits
//
//	const (
//		lowest   = math.MinInt64
//		fullLook = 2 * time.Second
//	)
//
//	type lowBound struct {
//		mu     sync.Mutex
//		key    int64
//		turn   int
//		looked time.Time
//	}
//
// and its methods start, reset, raise and lower.
func (w *writer) lowBoundType(f *code.File) {
	low := w.Claim.Low
	least, known := map[string]string{"int64": "MinInt64", "int32": "MinInt32", "int16": "MinInt16", "int": "MinInt"}[low.Field.GoType]
	if !known || low.Field.Null {
		w.fail("a low bound needs an integer key that is not null, not %s", low.Field.GoType)
		return
	}
	recv := func() *code.Statement { return code.Params(code.Id("b").Op("*").Id("lowBound")) }
	ifNone := func(results ...*code.Statement) *code.Statement {
		return code.If(code.Id("b").Op("==").Nil()).Block(code.Return(results...))
	}
	field := func(name string) *code.Statement { return code.Id("b").Dot(name) }

	f.Line()
	f.Const().Defs(
		code.Comment("lowest is below every key."),
		code.Id("lowest").Add(w.lowType()).Op("=").Qual("math", least),
		code.Comment(lowRefresh+" is the longest time between two claims that look from the lowest key."),
		code.Id(lowRefresh).Op("=").Add(durationExpr(low.Refresh)),
	)
	decl(f, []string{
		"lowBound is a key at or below which jobs were seen taken. A claim that starts above it does not walk over rows that were taken before and that a long transaction keeps from being cleaned up. It is a hint: jobs that come back below it are found by a full look, at least every " + durationText(low.Refresh) + ".",
		"A nil *lowBound, that of a queue in the caller's transaction, has every claim look from the lowest key.",
	},
		code.Type().Id("lowBound").Struct(
			code.Id("mu").Qual("sync", "Mutex"),
			code.Id("key").Add(w.lowType()),
			code.Id("turn").Int().Comment("changes when key is lowered"),
			code.Id("looked").Qual("time", "Time").Comment("when a claim last looked from the lowest key"),
		))
	decl(f, []string{"start returns the bound for a claim, and the turn in which it was given."},
		code.Func().Add(recv()).Id("start").Params().Params(code.Id("key").Add(w.lowType()), code.Id("turn").Int()).Block(
			ifNone(code.Id("lowest"), code.Lit(0)),
			lockMutex(field("mu")),
			code.If(code.Id("now").Op(":=").Qual("time", "Now").Call(), code.Id("now").Dot("Sub").Call(field("looked")).Op(">=").Id(lowRefresh)).Block(
				field("looked").Op("=").Id("now"),
				code.Return(code.Id("lowest"), field("turn")),
			),
			code.Return(field("key"), field("turn")),
		))
	decl(f, []string{"reset has claims look from the lowest key, and returns the new turn."},
		code.Func().Add(recv()).Id("reset").Params().Params(code.Id("turn").Int()).Block(
			ifNone(code.Lit(0)),
			lockMutex(field("mu")),
			code.List(field("key"), field("looked")).Op("=").List(code.Id("lowest"), code.Qual("time", "Now").Call()),
			field("turn").Op("++"),
			code.Return(field("turn")),
		))
	decl(f, []string{"raise sets the bound to the last key of a full claim, unless jobs came back since the turn of that claim."},
		code.Func().Add(recv()).Id("raise").Params(code.Id("turn").Int(), code.Id("key").Add(w.lowType())).Block(
			ifNone(),
			lockMutex(field("mu")),
			code.If(code.Id("turn").Op("==").Add(field("turn"))).Block(field("key").Op("=").Id("key")),
		))
	if w.lowers() {
		decl(f, []string{"lower brings the bound below the key of a job that came back."},
			code.Func().Add(recv()).Id("lower").Params(code.Id("key").Add(w.lowType())).Block(
				ifNone(),
				lockMutex(field("mu")),
				code.If(code.Id("lowest").Op("<").Id("key").Op("&&").Id("key").Op("<=").Add(field("key"))).Block(
					field("key").Op("=").Id("key").Op("-").Lit(1),
					field("turn").Op("++"),
				),
			))
	}
}

// lowers reports whether some operation brings a job of a known key back.
func (w *writer) lowers() bool {
	return w.Requeue != nil || w.Retry != nil || w.Enqueue != nil && w.Enqueue.KeyGiven
}

// durationExpr is the Go expression of a duration.
func durationExpr(d time.Duration) *code.Statement {
	for _, u := range units {
		if d%u.of == 0 && d != 0 {
			if d == u.of {
				return code.Qual("time", u.name)
			}
			return code.Lit(int(d/u.of)).Op("*").Qual("time", u.name)
		}
	}
	return code.Qual("time", "Duration").Call(code.Lit(0))
}

// durationText is a duration as people say it.
func durationText(d time.Duration) string {
	for _, u := range units {
		if d%u.of == 0 && d != 0 {
			return fmt.Sprintf("%d %s", d/u.of, u.text)
		}
	}
	return "0 s"
}

// units are the units of durations, largest first.
var units = []struct {
	of         time.Duration
	name, text string
}{
	{time.Hour, "Hour", "h"},
	{time.Minute, "Minute", "min"},
	{time.Second, "Second", "s"},
	{time.Millisecond, "Millisecond", "ms"},
	{time.Microsecond, "Microsecond", "µs"},
	{time.Nanosecond, "Nanosecond", "ns"},
}
