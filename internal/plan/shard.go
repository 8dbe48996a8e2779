package plan

// This file divides the rows among instances by ranges of a column. By remainders they are
// divided where the other arguments of a claim are (statements.go).

import (
	"math"
	"math/big"
)

// share is the condition of the rows whose hash is in the range of an instance; those that have none are
// the first one's.
func (s *scope) share() string {
	c := s.spec.Shard.Column
	bound := func(kind ArgKind) string { return s.write(c, s.arg(Arg{Kind: kind})) }
	text := s.column(c) + " BETWEEN " + bound(ArgShardMin) + " AND " + bound(ArgShardMax)
	if c.NotNull {
		return text
	}
	return "(" + text + " OR " + s.column(c) + " IS NULL AND " + s.arg(Arg{Kind: ArgShardIdx}) + " = 0)"
}

// shares plans how a column is divided among the instances, nil where that is by remainders.
func (b *builder) shares() *Shares {
	s := b.spec.Shard
	if s == nil || s.Least == nil {
		return nil
	}
	span := new(big.Int).Sub(s.Most, s.Least)
	if span.BitLen() < 64 || span.Cmp(new(big.Int).SetUint64(math.MaxUint64)) < 0 {
		span.Add(span, big.NewInt(1))
	}
	sh := &Shares{GoType: "int64", Least: s.Least.String(), Most: s.Most.String(), Span: span.String()}
	first, last := s.Column.Type.Range()
	if first == nil {
		first, last = big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	}
	if s.Column.Type.Unsigned && s.Column.Type.Bits == 64 {
		sh.GoType = "uint64"
	}
	sh.First, sh.Last = first.String(), last.String()
	return sh
}
