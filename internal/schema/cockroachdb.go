package schema

// This file reads CockroachDB's DDL and checks whole statements of it, both with
// PostgreSQL's parser. Of statements that change rows that knows all but for an order
// and a limit.

import (
	"fmt"
	"maps"

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
	return readLikePostgreSQL(cockroachdbTypes, files, errs)
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
