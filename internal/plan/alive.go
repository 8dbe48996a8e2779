package plan

// This file tells dead workers.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
)

// dead returns the condition that the worker of a row is not alive. A row that names
// none has no worker that could be dead.
func (s *scope) dead(t queue.Test) string {
	var texts []string
	isNull := func(v queue.Value) bool { return v.Kind == queue.Null }
	isNamed := func(v queue.Value) bool { return !isNull(v) }
	written := s.spec.Liveness.Listed && (s.batches("lists") || s.batches("forall")) // which says so itself
	if slices.ContainsFunc(t.Values, isNull) && !written {
		texts = append(texts, s.column(t.Column)+" IS NOT NULL")
	}
	if slices.ContainsFunc(t.Values, isNamed) {
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
	name := s.alias("worker_row")
	if strings.EqualFold(l.Table, name) {
		name += "2"
	}
	where := []string{name + "." + s.d.Ident(l.ID) + " = " + cmp.Or(s.prefix, s.qualified()) + s.d.Ident(t.Column.Name)}
	if l.Seen != nil {
		s.roles[l.Seen.Column] = l.Seen // how it keeps time
		s.over(s.builder, name+".", func() {
			where = append(where, s.column(l.Seen.Column)+" > "+s.clock(l.Seen.Column, &queue.Shift{Minus: true, Fixed: l.Timeout}))
		})
	}
	if l.SQL != "" {
		s.around = []queue.Among{{Name: l.Table, Tables: s.tablesCalled(l.Schema, l.Table)}}
		where = append(where, s.raw(l.SQL))
		s.around = nil
	}
	return "NOT EXISTS (SELECT 1 FROM " + s.d.Qualified(l.Schema, l.Table) + " " + name + " WHERE " + strings.Join(where, " AND ") + ")"
}

// tablesCalled returns the table of that name, none where the DDL does not have it.
func (b *builder) tablesCalled(of, name string) []*schema.Table {
	i := slices.IndexFunc(b.spec.Tables, func(t *schema.Table) bool { return t.Schema == of && t.Name == name })
	if i < 0 {
		return nil
	}
	return b.spec.Tables[i : i+1]
}

// aliveParam returns the argument of Recover that lists the workers that are alive.
func (b *builder) aliveParam() *Param {
	if b.alive == nil {
		f := *b.fields[b.spec.Liveness.Column]
		f.Null = false
		b.alive = &Param{Name: "alive", GoType: "[]" + f.GoType, Field: &f, List: true, JSON: b.batches("json"),
			Doc: "the workers that are alive; where it is empty nothing happens, for whoever asks is alive"}
	}
	return b.alive
}
