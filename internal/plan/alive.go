package plan

// This file tells dead workers.

import (
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
)

// dead returns the condition that the worker of a row is not alive. A row that names
// none has no worker that could be dead.
func (s *scope) dead(t queue.Test) string {
	var texts []string
	var null, named []queue.Value
	for _, v := range t.Values {
		if v.Kind == queue.Null {
			null = append(null, v)
		} else {
			named = append(named, v)
		}
	}
	written := s.spec.Liveness.Listed && (s.batches("lists") || s.batches("forall")) // which says so itself
	if len(null) > 0 && !written {
		texts = append(texts, s.column(t.Column)+" IS NOT NULL")
	}
	if len(named) > 0 {
		texts = append(texts, s.in(queue.Test{Column: t.Column, Op: queue.NotIn, Values: t.Values}, s.column(t.Column)))
	}
	if s.spec.Liveness.Listed {
		texts = append(texts, s.param(&queue.Param{Column: t.Column, Kind: queue.Except}, s.aliveParam()))
	} else {
		texts = append(texts, s.notSeen(t))
	}
	return "(" + strings.Join(texts, " AND ") + ")"
}

// notSeen returns the condition that the table of workers has none that is alive and
// called as the column says.
func (s *scope) notSeen(t queue.Test) string {
	l := s.spec.Liveness
	row := s.row() + "."
	if s.prefix != "" {
		row = s.prefix
	}
	name := s.alias("worker_row")
	if strings.EqualFold(l.Table, name) {
		name += "2"
	}
	in := s.inner(name + ".")
	where := []string{name + "." + s.d.Ident(l.ID) + " = " + row + s.d.Ident(t.Column.Name)}
	if l.Seen != nil {
		s.roles[l.Seen.Column] = l.Seen // how it keeps time
		where = append(where, in.column(l.Seen.Column)+" > "+in.clock(l.Seen.Column, &queue.Shift{Minus: true, Fixed: l.Timeout}))
	}
	if l.SQL != "" {
		where = append(where, s.raw(l.SQL))
	}
	return "NOT EXISTS (SELECT 1 FROM " + s.d.Qualified(l.Schema, l.Table) + " " + name + " WHERE " + strings.Join(where, " AND ") + ")"
}

// inner returns the scope with another prefix for columns.
func (s *scope) inner(prefix string) *scope {
	in := *s
	in.prefix = prefix
	return &in
}

// aliveParam returns the argument of Recover that lists the workers that are alive.
func (b *builder) aliveParam() *Param {
	const name = "alive"
	if b.arguments[" "+name] == nil {
		f := *b.fields[b.spec.Liveness.Column]
		f.Null = false
		b.arguments[" "+name] = &Param{Name: name, GoType: "[]" + f.GoType, Field: &f, List: true, JSON: b.batches("json"),
			Doc: "the workers that are alive; where it is empty nothing happens, for whoever asks is alive"}
	}
	return b.arguments[" "+name]
}
