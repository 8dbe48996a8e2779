package emit

// This file writes what is not Go: one file a statement, and the index advice.

import (
	"strings"

	"github.com/qgen-dev/qgen/internal/plan"
)

// statements lists every statement of the package, in the order of its files.
func statements(p *plan.Package) []*plan.Statement {
	var all []*plan.Statement
	add := func(some ...*plan.Statement) {
		for _, s := range some {
			if s != nil {
				all = append(all, s)
			}
		}
	}
	if c := p.Claim; c != nil {
		add(c.Pick, c.Statement, c.Read)
		for _, r := range c.Ladder {
			add(r.Statement)
		}
	}
	for _, s := range []*plan.Settle{p.Complete, p.Retry, p.Fail, p.Requeue, p.Extend} {
		if s != nil {
			add(s.Statement)
		}
	}
	for _, s := range []*plan.Sweep{p.Recover, p.Redrive, p.Purge} {
		if s != nil {
			add(s.Statements...)
		}
	}
	if p.Enqueue != nil {
		add(p.Enqueue.One, p.Enqueue.Many)
	}
	if p.Stats != nil {
		add(p.Stats.Statement)
	}
	if p.Peek != nil {
		add(p.Peek.Statement)
	}
	if p.Verify != nil {
		for _, c := range p.Verify.Checks {
			add(c.Statement)
		}
	}
	return all
}

// sqlFile is the file of a statement: the head comment, and what is sent.
func (w *writer) sqlFile(s *plan.Statement) []byte {
	var b strings.Builder
	b.WriteString(w.header("--") + "\n")
	writeComment(&b, s.Head...)
	b.WriteString(strings.TrimSpace(s.SQL) + "\n")
	return []byte(b.String())
}

// indexFile is the index advice.
func (w *writer) indexFile() []byte {
	var b strings.Builder
	b.WriteString(w.header("--") + "\n")
	writeComment(&b, "Index advice; nothing runs these statements by itself.")
	for _, i := range w.Indexes {
		b.WriteString("\n")
		writeComment(&b, i.Why)
		if i.Have != "" {
			writeComment(&b, "The index "+oneLine(i.Have)+" of the schema serves as well.")
			continue
		}
		b.WriteString(strings.TrimSuffix(strings.TrimSpace(i.DDL), ";") + ";\n")
	}
	return []byte(b.String())
}

// writeComment writes lines behind the mark of a SQL comment.
func writeComment(b *strings.Builder, lines ...string) {
	for _, text := range lines {
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString(strings.TrimRight("-- "+line, " ") + "\n")
		}
	}
}
