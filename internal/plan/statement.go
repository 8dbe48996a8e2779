package plan

import "slices"

// Statements returns every statement of the package in a fixed order, each
// once.
func (p *Package) Statements() []*Statement {
	var list []*Statement
	add := func(statements ...*Statement) {
		for _, s := range statements {
			if s != nil {
				list = append(list, s)
			}
		}
	}
	if p.Offset != nil {
		add(p.Offset.statements()...)
	}
	if c := p.Claim; c != nil {
		if c.Gate != nil {
			add(c.Gate.Lock, c.Gate.Room)
		}
		add(c.Pick, c.Lock)
		add(c.Narrow...)
		add(c.Expired, c.TakeOver)
		if c.BatchRow != nil {
			add(c.BatchRow.Statement)
		}
		add(c.Statement, c.Read)
		if c.BatchRow != nil {
			add(c.BatchRow.Undo)
		}
		for _, r := range c.Ladder {
			add(r.Statement)
		}
		add(c.Ahead...)
		add(c.With...)
	}
	if p.Payload != nil {
		add(p.Payload.Statement)
	}
	for _, s := range p.Settles() {
		add(s.Before, s.Lock)
		add(s.With...)
		add(s.Statement)
		add(s.Behind...)
		add(s.Read, s.Rows)
	}
	for _, s := range p.Sweeps() {
		add(s.Statements()...)
	}
	add(p.Reserve)
	if p.Enqueue != nil {
		add(p.Enqueue.Gate, p.Enqueue.Alone, p.Enqueue.Lock, p.Enqueue.Check, p.Enqueue.Update, p.Enqueue.One, p.Enqueue.Many, p.Enqueue.Step, p.Enqueue.Find)
		add(p.Enqueue.With...)
	}
	if p.Stats != nil {
		add(p.Stats.Statement, p.Stats.Of)
	}
	if p.Backlog != nil {
		add(p.Backlog.Statement)
	}
	if p.Peek != nil {
		add(p.Peek.Statement)
	}
	if p.Verify != nil {
		for _, c := range p.Verify.Checks {
			add(c.Statement)
		}
	}
	return list
}

// Statements returns the statements of a sweep in the order in which they run.
func (s *Sweep) Statements() []*Statement {
	var list []*Statement
	for _, step := range s.Steps {
		list = append(append(append(append(list, step.Lock), step.With...), step.Statement), step.Behind...)
	}
	return slices.DeleteFunc(append(list, s.Sequel), func(s *Statement) bool { return s == nil })
}

// WritesOthers reports whether other tables are written by statements of their own.
func (s *Settle) WritesOthers() bool { return len(s.With)+len(s.Behind) > 0 }

// KeepsCause reports whether what the caller says of a failure is written anywhere.
func (s *Settle) KeepsCause() bool {
	return slices.ContainsFunc(slices.Concat([]*Statement{s.Statement, s.Rows}, s.With, s.Behind), func(st *Statement) bool { return st != nil && st.Has(ArgError) })
}

// Sweeps lists the operations over rows that nobody holds.
func (p *Package) Sweeps() []*Sweep {
	list := []*Sweep{p.Recover, p.Redrive}
	for _, purge := range p.Purges {
		list = append(list, purge.Sweep)
	}
	return slices.DeleteFunc(list, func(s *Sweep) bool { return s == nil })
}

// Settles lists the operations over claimed jobs.
func (p *Package) Settles() []*Settle {
	var list []*Settle
	for _, s := range []*Settle{p.Start, p.Complete, p.Retry, p.Fail, p.Requeue, p.Extend} {
		if s != nil {
			list = append(list, s)
		}
	}
	for _, o := range p.Outcomes {
		list = append(list, o.Settle)
	}
	return list
}
