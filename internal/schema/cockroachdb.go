package schema

// This file reads CockroachDB's DDL and checks whole statements of it, both with
// PostgreSQL's parser. Of statements that change rows that knows all but for an order
// and a limit.

import (
	"fmt"
	"maps"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// cockroachdbTypes has the names of CockroachDB's own; docs, data types.
var cockroachdbTypes = pgTypes{
	builtin: func() map[string]Type {
		types := maps.Clone(pgBuiltin)
		for name, as := range map[string]string{"int64": "int8", "string": "text", "bytes": "bytea", "blob": "bytea", "json": "jsonb"} {
			types[name] = pgBuiltin[as]
		}
		types["name"] = Type{Name: "name", Class: Text} // of any length
		return types
	}(),
	// As default_int_size has it if nobody changed it; docs, INT.
	spelled: map[string]string{"int": "int8", "integer": "int8"},
	// As serial_normalization has it if nobody changed it: INT8 DEFAULT unique_rowid(),
	// whatever the name says; docs, SERIAL.
	serial: map[string]string{
		"smallserial": "int8", "serial2": "int8",
		"serial": "int8", "serial4": "int8",
		"bigserial": "int8", "serial8": "int8",
	},
}

func readCockroachDB(files []*source.File, errs *source.ErrorList) *Catalog {
	return readLikePostgreSQL(pgServer{types: cockroachdbTypes, rewrite: rewriteCockroachDB}, files, errs)
}

// placing are commands of ALTER TABLE that say where rows are kept, or what is recorded.
var placing = []string{
	"configure", "experimental_audit", "experimental_relocate", "inject", "partition", "scatter", "split", "unsplit",
}

// rewriteCockroachDB takes out what PostgreSQL does not have; docs, CREATE TABLE and
// CREATE INDEX.
func rewriteCockroachDB(r *pgRewriter) {
	st := r.st
	for i := range st.tokens {
		if st.typed(i) { // says the type, casts nothing
			r.put(i, i+2, " ::")
		}
	}
	head := headOf(st)
	behind := st.qualified(max(0, head)) + 1
	switch {
	case st.is(0, "create") && st.is(1, "type"):
		r.blank(2, st.skip(2, "if", "not", "exists"))
	case st.is(0, "drop", "alter") && st.is(1, "index"): // of table@index
		name := st.skip(2, "if", "exists")
		if at := st.qualified(name) + 1; st.is(at, "@") {
			r.blank(name, at+1)
		}
	case head < 0:
		r.cockroachdbIndex()
	case st.is(0, "alter") && (st.is(behind, placing...) || st.is(behind, "set") && st.is(behind+1, "locality")):
		r.blank(0, len(st.tokens))
		copy(r.text, "SET a=b")
	default:
		r.elements(r.cockroachdbElement, func(from int) {
			if !st.is(from, "as") {
				r.blank(from, len(st.tokens))
			}
		})
	}
}

// cockroachdbIndex rewrites CREATE INDEX.
func (r *pgRewriter) cockroachdbIndex() {
	st := r.st
	i := 1
	for i < 3 && st.is(i, "unique", "inverted", "vector") {
		i++
	}
	if !st.is(0, "create") || !st.is(i, "index") {
		return
	}
	open := i
	for open < len(st.tokens) && !st.is(open, "(") {
		open++
	}
	if st.is(i-1, "inverted", "vector") {
		r.blank(i-1, i)
	}
	r.indexTail(i, open, len(st.tokens))
}

// indexTail takes out what stands behind the list of an index that opens at token open,
// but for its predicate; at is the word INDEX.
func (r *pgRewriter) indexTail(at, open, end int) {
	st := r.st
	var tail pgTail
	if st.is(at-1, "inverted", "vector") {
		tail.method = strings.ToLower(st.text(at - 1))
	}
	closing := st.closing(open)
	where := end
	for i := closing + 1; i < end; i++ {
		switch {
		case st.is(i, "("):
			i = st.closing(i)
		case st.is(i, "using") && st.is(i+1, "hash"):
			tail.method = "hash"
		case st.is(i, "where"):
			where = min(i, where)
		case st.is(i, "visible", "visibility"):
			from := i
			if st.is(i-1, "not") {
				from--
			}
			tail.invisible = from < i || st.text(i+1) == "0"
			r.blank(from, end)
			end = from
		}
	}
	r.blank(closing+1, min(where, end))
	tail.end = end
	r.tails[r.offset(at)] = tail
}

// cockroachdbElement rewrites an element of a table.
func (r *pgRewriter) cockroachdbElement(from, end int) {
	st := r.st
	index := from
	for index < from+2 && st.is(index, "unique", "inverted", "vector") {
		index++
	}
	open, closing, isKey := r.keyList(from, end)
	switch {
	case st.is(from, "family"):
		r.nothing[r.offset(from)] = true
		r.put(from, end, "CHECK(1)")
	case st.is(index, "index"):
		for open = index + 1; open < end && !st.is(open, "("); open++ {
		}
		r.indexTail(index, open, end)
		making := "CREATE INDEX ON t "
		if st.is(from, "unique") {
			making = "CREATE UNIQUE INDEX ON t "
		}
		if open < end {
			r.indexes[r.offset(from)] = making + string(r.text[r.offset(open):st.tokens[end-1].end-r.base])
		}
		r.put(from, end, "CHECK(1)")
	case isKey:
		for i := open; i < closing; i++ {
			if st.is(i, pgOrder...) && st.is(i+1, ",", ")") {
				r.blank(i, i+1)
			}
		}
		r.blank(closing+1, end)
	default:
		r.cockroachdbColumn(from+1, end)
	}
}

// columnWords begin what may follow in the definition of a column.
var columnWords = []string{
	"not", "null", "default", "primary", "unique", "check", "references", "constraint", "family", "create", "as",
	"collate", "generated", "on", "visible",
}

// cockroachdbColumn rewrites what is behind the name of a column, or a constraint of the
// table.
func (r *pgRewriter) cockroachdbColumn(from, end int) {
	st := r.st
	nothing := func(*Column) {}
	for i := from; i < end; i++ {
		to, says := i, nothing
		switch {
		case st.is(i, "(", "["):
			i = st.closing(i)
			continue
		case st.is(i, "not") && st.is(i+1, "visible"):
			to, says = i+2, func(c *Column) { c.Invisible = true }
		case st.is(i, "on") && st.is(i+1, "update") && !st.is(i+2, "cascade", "restrict", "set", "no"):
			for to = i + 2; to < end && !st.is(to, columnWords...); to++ {
				if st.is(to, "(", "[") {
					to = st.closing(to)
				}
			}
			to, says = min(to, end), func(c *Column) { c.OnUpdate = true }
		case st.is(i, "create", "family"):
			to = st.skip(st.skip(st.skip(i, "create"), "if", "not", "exists"), "family")
			if to < end && !st.is(to, columnWords...) {
				to++
			}
		case st.is(i, "as") && st.is(i+1, "(") && st.closing(i+1) < end && !st.is(i-1, "always", "default"):
			to, says = st.closing(i+1)+1, func(c *Column) { c.Generated = true }
			if st.is(to, "stored", "virtual") {
				to++
			}
		case st.is(i, "using") && st.is(i+1, "hash"):
			to = i + 2
			if to = st.skip(to, "with"); st.is(to, "(") {
				to = min(st.closing(to)+1, end)
			} else if st.is(to, "bucket_count") {
				to = min(to+3, end)
			}
		case st.is(i, "unique") && st.is(i+1, "without") && st.is(i+2, "index"):
			if to = i + 3; st.is(to, "(") { // of the table
				r.nothing[r.offset(i)] = true
				r.put(i, end, "CHECK(1)")
				return
			}
		}
		if to > i {
			r.hide(i, to, says)
			i = to - 1
		}
	}
}

// checkCockroachDB reads statements. The order and the limit of a statement that
// changes rows are read by themselves, as those of a SELECT, which they are.
func checkCockroachDB(sql string) error {
	return eachStatement(sql, postgresqlLexis, nil, func(st *statement) error {
		text := st.sql()
		if from, to := ordered(st); from < to {
			start, end := st.tokens[from].off-st.off(), len(text)
			if to < len(st.tokens) {
				end = st.tokens[to].off - st.off()
			}
			if _, err := pgParse("SELECT FROM t " + text[start:end]); err != nil {
				return fmt.Errorf("behind ORDER BY: %w", err)
			}
			text = text[:start] + text[end:]
		}
		_, err := pgParse(text)
		return err
	})
}

// ordered returns the tokens of the order and the limit of a statement that
// changes rows, or of the first definition of WITH that does; both are 0 when it has
// none.
func ordered(st *statement) (from, to int) {
	start, end := 0, len(st.tokens)
	for i := 0; st.is(0, "with") && start == 0 && i < end; i++ {
		if st.is(i, "(") && st.is(i+1, "update", "delete") {
			start, end = i+1, st.closing(i)
		}
	}
	if !st.is(start, "update", "delete") {
		return 0, 0
	}
	for i := start; i < end; i++ {
		switch {
		case st.is(i, "("):
			i = st.closing(i)
		case from == 0 && st.is(i, "order", "limit"):
			from, to = i, end
		case from > 0 && st.is(i, "returning"):
			return from, i
		}
	}
	return from, to
}
