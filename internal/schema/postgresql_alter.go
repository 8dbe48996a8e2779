package schema

// This file reads PostgreSQL's ALTER TABLE.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/source"
)

// alterTable applies the commands of one ALTER TABLE in order.
func (p *postgresql) alterTable(n *pgAlterTableStmt) {
	t := p.lookup(n.GetRelation())
	if t == nil {
		if !n.GetMissingOk() && !p.guarded {
			p.changedBefore(p.newIn(n.GetRelation().GetSchemaname()), n.GetRelation().GetRelname(), p.st.pos(p.relation(n.GetRelation())))
		}
		return
	}
	a := &anchor{st: p.st, open: -1, close: -1}
	items := p.st.items(p.commandsAt(n), len(p.st.tokens))
	alone := !n.GetRelation().GetInh()
	for i, node := range n.GetCmds() {
		if i >= len(items) {
			break
		}
		p.alterCommand(t, a, node.GetAlterTableCmd(), items[i], alone)
	}
	if len(a.columns) > 0 {
		p.anchors = append(p.anchors, a)
	}
}

// commandsAt returns the first token behind the name of the table.
func (p *postgresql) commandsAt(n *pgAlterTableStmt) int {
	i := p.relation(n.GetRelation()) + 1
	if p.st.is(i, "*") {
		i++
	}
	return i
}

// alterCommand applies one command, which stands in the tokens of item.
func (p *postgresql) alterCommand(t *draft, a *anchor, cmd *pgAlterTableCmd, item [2]int, alone bool) {
	members := t.family(alone)
	switch cmd.GetSubtype() {
	case pgAlterAddColumn:
		p.addColumn(t, a, cmd, item, members)
		return
	case pgAlterAddConstraint:
		p.tableConstraint(t, cmd.GetDef().GetConstraint(), alone)
		t.resolveChecks()
		return
	case pgAlterDropConstraint:
		for _, m := range members {
			m.dropConstraint(func(name string) bool { return name == cmd.GetName() })
		}
		return
	case pgAlterAttachPartition:
		if part := p.lookup(cmd.GetDef().GetPartitionCmd().GetName()); part != nil && part != t {
			p.link(part, t, true)
			p.copyKeys(part, t)
		}
		return
	case pgAlterDetachPartition, pgAlterDetachPartitionFinalize:
		if part := p.lookup(cmd.GetDef().GetPartitionCmd().GetName()); part != nil {
			part.leave(t)
		}
		return
	case pgAlterAddInherit:
		if parent := p.lookup(cmd.GetDef().GetRangeVar()); parent != nil && parent != t {
			p.link(t, parent, false)
		}
		return
	case pgAlterDropInherit:
		if parent := p.lookup(cmd.GetDef().GetRangeVar()); parent != nil {
			t.leave(parent)
			t.Inherited = len(t.parents)+len(t.children) > 0
			parent.Inherited = len(parent.parents)+len(parent.children) > 0
		}
		return
	}
	if !p.changesColumn(cmd) {
		return
	}
	if t.Column(cmd.GetName()) == nil {
		if !cmd.GetMissingOk() && !p.guarded {
			t.Gaps = append(t.Gaps, p.noColumn(t, cmd.GetName(), p.columnAt(item)))
		}
		return
	}
	for _, m := range members {
		if c := m.Column(cmd.GetName()); c != nil {
			p.alterColumn(m, c, cmd, item)
		}
	}
}

// changesColumn reports whether the command is one of those of alterColumn.
func (p *postgresql) changesColumn(cmd *pgAlterTableCmd) bool {
	switch cmd.GetSubtype() {
	case pgAlterDropColumn, pgAlterColumnDefault, pgAlterSetNotNull, pgAlterDropNotNull, pgAlterAlterColumnType,
		pgAlterAddIdentity, pgAlterSetIdentity, pgAlterDropIdentity, pgAlterDropExpression:
		return true
	}
	return false
}

// columnAt returns the token that names the column in ALTER COLUMN c or DROP
// COLUMN c.
func (p *postgresql) columnAt(item [2]int) int {
	return p.st.skip(p.st.skip(item[0]+1, "column"), "if", "exists")
}

// addColumn reads ADD COLUMN.
func (p *postgresql) addColumn(t *draft, a *anchor, cmd *pgAlterTableCmd, item [2]int, members []*draft) {
	def := cmd.GetDef().GetColumnDef()
	name := p.st.skip(p.st.skip(item[0]+1, "column"), "if", "not", "exists")
	if old := t.Column(def.GetColname()); old != nil {
		if !cmd.GetMissingOk() && !p.guarded {
			p.errs.Add(source.Errorf(p.st.pos(name), "table %s has a column %s already, from %s", t.Name, old.Name, old.Pos).
				WithHint(onceHint))
		}
		return
	}
	c, later := p.column(t, def, name, item[1])
	for _, add := range later {
		add()
	}
	t.resolveChecks()
	a.columns = append(a.columns, columnAnchor{c, p.st.tokens[item[0]].off, p.st.tokens[item[1]-1].end})
	for _, m := range members[1:] {
		if m.Column(c.Name) == nil {
			m.Columns = append(m.Columns, p.copyColumn(c))
			copyChecks(m, t)
			m.resolveChecks()
		}
	}
}

// alterColumn applies a command that changes one column.
func (p *postgresql) alterColumn(t *draft, c *Column, cmd *pgAlterTableCmd, item [2]int) {
	switch cmd.GetSubtype() {
	case pgAlterDropColumn:
		t.dropColumn(c)
	case pgAlterColumnDefault:
		i := item[0]
		for i < item[1] && !p.st.is(i, "default") {
			i++
		}
		p.setDefault(c, cmd.GetDef(), p.written(i+1, item[1]))
	case pgAlterSetNotNull:
		c.NotNull = true
	case pgAlterDropNotNull:
		c.NotNull = false
	case pgAlterAlterColumnType:
		end := item[1]
		for i := p.columnAt(item) + 1; i < end; i++ {
			switch {
			case p.st.is(i, "(", "["):
				i = p.st.closing(i)
			case p.st.is(i, "using", "collate"):
				end = i
			}
		}
		c.Collation = pgCollation(cmd.GetDef().GetColumnDef())
		p.setType(c, cmd.GetDef().GetColumnDef().GetTypeName(), end)
	case pgAlterAddIdentity:
		p.setIdentity(c, cmd.GetDef().GetConstraint().GetGeneratedWhen() == "a")
	case pgAlterSetIdentity:
		for _, o := range cmd.GetDef().GetList().GetItems() {
			if o.GetDefElem().GetDefname() == "generated" {
				c.Always = o.GetDefElem().GetArg().GetInteger().GetIval() == 'a'
			}
		}
	case pgAlterDropIdentity:
		c.Identity, c.HasDefault, c.Always = false, false, false
	case pgAlterDropExpression:
		c.Generated = false
	}
	for name, o := range t.notNulls {
		if o == c && !slices.Contains(t.Columns, c) {
			delete(t.notNulls, name)
		}
	}
}
