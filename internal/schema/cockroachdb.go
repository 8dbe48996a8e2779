package schema

// This file checks whole statements of CockroachDB with PostgreSQL's parser, which
// knows all of them but for an order and a limit of UPDATE and DELETE.

import "fmt"

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
