package schema

// This file reads what T-SQL says of tables otherwise than every SQL does: keys and
// indexes among the columns, where tables are kept, ALTER TABLE.

// element reads a key, an index, a default for a column, or what an edge connects,
// among the columns or behind ADD.
func (m *mssql) element(r *tolerant, t *draft) bool {
	at, name, nameAt := r.i, "", -1
	if r.accept("constraint") && !r.is("primary", "unique", "default") {
		name, nameAt = r.name()
	}
	var k *keyDefinition
	switch {
	case r.fault != nil:
		return true
	case r.is("primary", "unique"):
		if k = m.key(r, name, nameAt); r.fault == nil && len(k.parts) == 0 {
			r.fail(r.i, "the columns of the key should stand here")
		}
	case at == r.i && r.accept("index"):
		if k = m.index(r); r.fault == nil && len(k.parts) == 0 && k.method != columnstore {
			r.fail(r.i, "the columns of the index should stand here")
		}
	case r.accept("default"):
		m.defaultFor(r, t, name)
	case nameAt >= 0 && r.accept("connection"): // of an edge
		r.group()
		r.accept("on", "delete")
		r.accept("no", "action")
		r.accept("cascade")
	default:
		r.i = at
		return false
	}
	if k != nil {
		r.later = append(r.later, func() { r.addKey(t, k) })
	}
	m.skipPeriod(r)
	for !r.done() {
		r.unknown()
	}
	return true
}

// skipPeriod reads PERIOD FOR SYSTEM_TIME (…), in front of which a comma may be
// missing.
func (m *mssql) skipPeriod(r *tolerant) bool {
	found := r.accept("period", "for")
	if found {
		r.name()
		r.group()
	}
	return found
}

// key reads PRIMARY KEY or UNIQUE with what follows. Without columns it is one of
// the column where it stands.
func (m *mssql) key(r *tolerant, name string, nameAt int) *keyDefinition {
	k := &keyDefinition{name: name, at: r.i, end: r.i + 1, kind: uniqueKey}
	if !r.accept("unique") {
		r.accept("primary")
		r.expect("key")
		k.kind, k.end, k.clustered = primaryKey, k.at+2, true
	}
	if nameAt >= 0 {
		k.at, k.end = nameAt, nameAt+1
	}
	m.keyRest(r, k)
	return k
}

// index reads an index among the columns, behind INDEX.
func (m *mssql) index(r *tolerant) *keyDefinition {
	k := &keyDefinition{}
	k.name, k.at = r.name()
	k.end = k.at + 1
	if r.accept("unique") {
		k.kind = uniqueKey
	}
	m.keyRest(r, k)
	return k
}

// keyRest reads how a key is stored, its columns and its options.
func (m *mssql) keyRest(r *tolerant, k *keyDefinition) {
	switch {
	case r.accept("clustered"):
		k.clustered = true
	case r.accept("nonclustered"):
		k.clustered = false
	}
	if r.is("hash", columnstore) {
		k.method = r.word()
		r.i++
	}
	k.noteColumnstore()
	if r.is("(") {
		r.parts(k)
	}
	for r.fault == nil && m.keyOption(r, k) {
	}
}

// keyOption reads one option behind the columns of an index.
func (m *mssql) keyOption(r *tolerant, k *keyDefinition) bool {
	switch {
	case r.accept("include"):
		from, to := r.group()
		for i := from; i < to; i++ {
			if r.isName(i) {
				k.include = append(k.include, r.nameAt(r.st, i))
			}
		}
	case r.accept("order"):
		r.group()
	case r.accept("where"):
		start := r.i
		for !r.done() && !r.is("with", "on", "filestream_on") {
			r.skip()
		}
		if k.where = r.st.written(start, r.i); k.where == "" {
			r.fail(start, "a condition should stand here")
		}
	case r.is("with") && r.st.is(r.i+1, "("):
		r.i++
		from, to := r.group()
		if why, said := rowLocks(r.st, from, to); said && k.noRowLocks == "" {
			k.noRowLocks = why
		}
		for i := from; i < to; i++ {
			k.replaces = k.replaces || r.st.skip(i, "drop_existing", "=", "on") > i
		}
	case r.accept("with", "fillfactor"): // as it was said until 2000
		r.value()
	case r.accept("on"):
		if column := m.storage(r); k.clustered {
			k.partition = column
		}
	case r.accept("filestream_on"):
		m.storage(r)
	case r.accept("not", "enforced"):
	case r.accept("using"), r.accept("for"): // of XML, places and JSON
		for !r.done() && !r.is("with", "on") {
			r.skip()
		}
	default:
		return false
	}
	return true
}

// storage reads a filegroup, or a partition scheme and the column that it is
// given, which it returns.
func (m *mssql) storage(r *tolerant) (column string) {
	r.name()
	if r.is("(") {
		from, _ := r.group()
		column = r.nameAt(r.st, from)
	}
	return column
}

// option reads one option of a table.
func (m *mssql) option(r *tolerant, t *draft) bool {
	switch {
	case r.accept("on"):
		if column := m.storage(r); column != "" {
			r.later = append(r.later, func() { t.spread(column) })
		}
	case r.accept("textimage_on"), r.accept("filestream_on"):
		m.storage(r)
	case r.is("with") && r.st.is(r.i+1, "("):
		r.i++
		from, to := r.group()
		for i := from; i < to; i++ {
			if r.st.skip(i, "memory_optimized", "=", "on") > i {
				t.NoRowLocks = "it is memory-optimized"
			}
		}
	case r.accept("as", "node"), r.accept("as", "edge"):
	default:
		return false
	}
	return true
}

// command reads a command of ALTER TABLE.
func (m *mssql) command(r *tolerant, t *draft) bool {
	switch {
	case r.accept("with", "check"), r.accept("with", "nocheck"):
	case r.accept("check", "constraint"):
		m.switchChecks(r, t, false)
	case r.accept("nocheck", "constraint"):
		m.switchChecks(r, t, true)
	case r.is("enable", "disable") && r.st.is(r.i+1, "trigger"):
		off := r.is("disable")
		r.i += 2
		t.switchTriggers(r.triggerNames(), off)
	case r.accept("drop"):
		m.dropParts(r, t)
	case r.is("alter") && r.st.is(r.i+1, "column") && r.st.is(r.i+3, "add", "drop"):
		m.alterProperty(r, t)
	case r.is("set") && r.st.is(r.i+1, "("), r.is("alter") && r.st.is(r.i+1, "index"),
		r.is("enable", "disable", "switch", "rebuild", "split", "merge"):
		r.skipCommand()
	case r.is("modify", "change", "rename"): // what other SQL has
		r.unknown()
	default:
		return false
	}
	return true
}

// switchChecks turns checks off or on.
func (m *mssql) switchChecks(r *tolerant, t *draft, off bool) {
	all := r.accept("all")
	var names []string
	for !all && r.fault == nil {
		name, _ := r.name()
		names = append(names, name)
		if !r.accept(",") {
			break
		}
	}
	for _, k := range t.checks {
		if all || slicesContainsFold(names, k.name) {
			k.off = off
		}
	}
}

// dropParts reads the list behind DROP. What it does not say the kind of is a
// constraint at first, then the same as before.
func (m *mssql) dropParts(r *tolerant, t *draft) {
	what := "constraint"
	for r.fault == nil {
		if r.is("constraint", "column", "index", "period") && !r.st.is(r.i+1, ",") && r.i+1 < len(r.st.tokens) {
			what = r.word()
			r.i++
		}
		if what == "period" {
			r.expect("for")
		}
		r.dropPart(t, what)
		if r.is("with") {
			r.i++
			r.group()
		}
		if !r.accept(",") {
			return
		}
	}
}

// alterProperty reads ALTER COLUMN c ADD or DROP and what a column is besides its
// type.
func (m *mssql) alterProperty(r *tolerant, t *draft) {
	r.i += 2
	name, at := r.name()
	adds := r.is("add")
	r.i++
	hidden := r.is("hidden")
	switch {
	case r.acceptAny("hidden", "persisted", "rowguidcol", "sparse", "masked"), r.accept("not", "for", "replication"):
	default:
		r.unknown()
	}
	if r.accept("with") {
		r.group()
	}
	switch c := t.Column(name); {
	case c == nil:
		t.Gaps = append(t.Gaps, missingColumn(t, name, r.st.pos(at)))
	case hidden:
		c.Invisible = adds
	}
}

// spread notes by which column the table is spread over partitions; "" for none.
func (t *draft) spread(column string) {
	if c := t.Column(column); c != nil {
		t.Partitioned, t.PartitionBy = true, []string{c.Name}
	}
}
