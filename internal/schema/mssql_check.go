package schema

// This file checks whole statements of T-SQL with a parser that is made for tools
// which read what a server has taken already: it takes much that is none. What it
// does not see is looked for in the tokens.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sqlc-dev/teesql/ast"
	"github.com/sqlc-dev/teesql/parser"
)

// notMSSQL are words of other servers that the parser takes for names.
var notMSSQL = [][]string{
	{"skip", "locked"}, {"for", "update"}, {"for", "share"}, {"nulls", "first"}, {"nulls", "last"}, {"on", "conflict"}, {"on", "duplicate", "key"},
	{"as", "materialized"}, {"not", "materialized"}, {"is", "true"}, {"is", "false"},
}

// notMSSQLCalls are functions of other servers. One with a schema in front is the
// user's.
var notMSSQLCalls = []string{
	"now", "ifnull", "nvl", "unix_timestamp", "utc_timestamp", "make_interval", "gen_random_uuid", "strftime", "last_insert_id", "random",
}

// checkMSSQL reads statements, between which semicolons or GO must stand.
func checkMSSQL(sql string) error {
	return eachStatement(sql, mssqlLexis, notMSSQL, func(st *statement) error {
		for _, check := range []func(*statement) error{
			mssqlBegins, mssqlBalanced, mssqlEnds, mssqlLevels, mssqlHints, mssqlOrders, mssqlNames, mssqlJoins, mssqlCalls,
			mssqlDefines, mssqlParse, mssqlBody,
		} {
			if err := check(st); err != nil {
				return err
			}
		}
		return nil
	})
}

// sentences returns the statements of a script as semicolons and GO end them.
func (s *script) sentences() []*statement {
	var sentences []*statement
	first := 0
	for i, st := range s.statements {
		if !st.closed || i+1 < len(s.statements) && s.statements[i+1].is(0, "else") {
			continue
		}
		from, to := s.statements[first].first, st.first+len(st.tokens)
		sentences = append(sentences, &statement{script: s, tokens: s.tokens[from:to], first: from, end: st.end})
		first = i + 1
	}
	return sentences
}

// mssqlParse lets the parser read a statement. Where it finds two, what stands
// behind the first is no part of it.
func mssqlParse(st *statement) error {
	sql := []byte(st.sql())
	for i := range st.tokens {
		if !st.is(i, "merge") {
			continue
		}
		// The parser knows neither hints behind the target nor rows behind USING.
		if from, end := mergeHints(st, i); from < end {
			blankTokens(sql, st, from, end)
		}
		if from, end := mergeRows(st, i); from < end {
			rows := sql[st.tokens[from].off-st.off() : st.tokens[end-1].end-st.off()]
			if err := mssqlParseOne("SELECT * FROM " + string(rows)); err != nil {
				return err
			}
			blankTokens(sql, st, from, end)
			rows[0] = 'r'
		}
	}
	return mssqlParseOne(string(sql))
}

func mssqlParseOne(sql string) error {
	script, err := parser.Parse(context.Background(), strings.NewReader(sql))
	switch {
	case err != nil:
		return errors.New(strings.TrimSuffix(strings.TrimSpace(err.Error()), ":"))
	case len(script.Batches) != 1 || len(script.Batches[0].Statements) == 0:
		return errors.New("it is no statement")
	case len(script.Batches[0].Statements) == 1:
		return nil
	}
	second := script.Batches[0].Statements[1]
	if word := wordAt(sql, second); word != "" {
		return fmt.Errorf("%s is no part of it", shown(word))
	}
	return errors.New("it is more than one statement")
}

// wordAt returns the word with which a statement of a text begins, "" where the
// parser does not tell.
func wordAt(sql string, st ast.Statement) string {
	place, ok := st.(interface{ Frag() *ast.Fragment })
	if !ok || !place.Frag().HasSpan() {
		return ""
	}
	units := utf16.Encode([]rune(sql)) // in which the parser counts
	words := strings.Fields(string(utf16.Decode(units[min(place.Frag().StartOffset, len(units)):])))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// blankTokens takes tokens out of a statement.
func blankTokens(sql []byte, st *statement, from, end int) {
	for i := st.tokens[from].off - st.off(); i < st.tokens[end-1].end-st.off(); i++ {
		sql[i] = ' '
	}
}

// mergeHints returns the tokens WITH (…) behind the target of MERGE, which is
// token i; none when from is end.
func mergeHints(st *statement, i int) (from, end int) {
	if i++; st.is(i, "top") {
		i = st.closing(i+1) + 1
	}
	i = st.qualified(st.skip(i, "into")) + 1
	if !st.is(i, "with") || !st.is(i+1, "(") {
		return i, i
	}
	return i, min(st.closing(i+1)+1, len(st.tokens))
}

// mergeRows returns the tokens (VALUES …) AS name (columns) behind USING; none
// when from is end.
func mergeRows(st *statement, i int) (from, end int) {
	for ; i < len(st.tokens) && !st.is(i, "when"); i++ {
		if st.skip(i, "using", "(", "values") == i {
			continue
		}
		end = st.skip(st.closing(i+1)+1, "as") + 1
		if st.is(end, "(") {
			end = st.closing(end) + 1
		}
		return i + 1, min(end, len(st.tokens))
	}
	return i, i
}

// mssqlChecked begin the statements of which the parser knows enough.
var mssqlChecked = []string{
	"select", "insert", "update", "delete", "merge", "with", "(", "declare", "set", "if", "while", "begin", "commit", "rollback", "save",
	"exec", "execute", "print", "raiserror", "throw", "waitfor", "truncate", "return",
}

// mssqlBegins wants a statement of which the parser knows enough. Any other word
// it takes for the name of a procedure, and of definitions it reads hardly more
// than the first word.
func mssqlBegins(st *statement) error {
	what := st.skip(1, "or", "alter")
	for st.is(what, "unique", "clustered", "nonclustered") {
		what++
	}
	switch {
	case st.is(0, mssqlChecked...), st.is(0, "drop") && st.is(1, "table", "index", "procedure", "type"),
		st.is(0, "create", "alter") && st.is(what, "table", "index", "procedure", "proc"):
		return nil
	}
	return fmt.Errorf("%s begins no statement that can be checked", shown(st.text(0)))
}

// mssqlBalanced wants as much closed as was opened.
func mssqlBalanced(st *statement) error {
	if st.script.unclosed && st.tokens[len(st.tokens)-1].end == len(st.script.src) {
		return errors.New("a text or a name is never closed")
	}
	parens, blocks := 0, 0
	for i := range st.tokens {
		switch {
		case st.is(i, "("):
			parens++
		case st.is(i, ")"):
			parens--
		default:
			blocks += opens(st, i)
		}
		switch {
		case parens < 0, blocks < 0:
			return fmt.Errorf("line %d: %s closes nothing", st.pos(i).Line(), shown(st.text(i)))
		case st.is(i, ",") && (i+1 == len(st.tokens) || st.is(i+1, ",", ")", ";")), st.is(i, "(") && st.is(i+1, ","):
			return fmt.Errorf("line %d: nothing stands beside the comma", st.pos(i).Line())
		}
	}
	switch {
	case parens > 0:
		return errors.New("a parenthesis is never closed")
	case blocks > 0:
		return errors.New("CASE or BEGIN has no END")
	}
	return nil
}

// mssqlEnds wants no word at the end behind which something must follow.
func mssqlEnds(st *statement) error {
	last := len(st.tokens) - 1
	switch {
	case st.is(last, "values") && !st.is(last-1, "default"), st.is(last, "on") && !st.is(0, "set"),
		st.is(last, "from", "set", "exec", "execute", "join", "into", "output", "with", "as", "using", "then"):
		return fmt.Errorf("nothing stands behind %s", strings.ToUpper(st.text(last)))
	case merges(st) && st.script.src[st.end-1] != ';':
		return errors.New("MERGE ends with a semicolon")
	}
	return nil
}

// mssqlLevels wants a level of isolation that there is.
func mssqlLevels(st *statement) error {
	levels := st.skip(1, "transaction", "isolation", "level")
	if !st.is(0, "set") || levels == 1 {
		return nil
	}
	for _, level := range []string{"read uncommitted", "read committed", "repeatable read", "snapshot", "serializable"} {
		if end := st.skip(levels, strings.Fields(level)...); end > levels && end == len(st.tokens) {
			return nil
		}
	}
	return fmt.Errorf("%s is no level of isolation", shown(st.written(levels, len(st.tokens))))
}

// merges reports whether a statement is a MERGE.
func merges(st *statement) bool {
	i := 0
	for st.is(0, "with") && i < len(st.tokens) && !st.is(i, "merge", "select", "update", "insert", "delete") {
		if i++; st.is(i, "(") {
			i = st.closing(i)
		}
	}
	return st.is(i, "merge")
}

// mssqlTableHints are what may stand in WITH (…) behind a table.
var mssqlTableHints = []string{
	"forcescan", "forceseek", "holdlock", "ignore_constraints", "ignore_triggers", "index", "keepdefaults", "keepidentity", "noexpand",
	"nolock", "nowait", "paglock", "readcommitted", "readcommittedlock", "readpast", "readuncommitted", "repeatableread", "rowlock",
	"serializable", "snapshot", "spatial_window_max_cells", "tablock", "tablockx", "updlock", "xlock",
}

// mssqlHints wants known hints: the parser takes any word for one.
func mssqlHints(st *statement) error {
	reads := false // the statement, of those in a body, has tables with hints
	for i := range st.tokens {
		if st.is(i, "select", "insert", "update", "delete", "merge", "create", "alter", "exec", "declare") {
			reads = !st.is(i, "create", "alter", "exec", "declare")
		}
		if !reads || !st.is(i, "with") || !st.is(i+1, "(") || callsSchema(st, i) {
			continue
		}
		for h, end := i+2, st.closing(i+1); h < end; h++ {
			switch {
			case st.is(h, ","):
			case st.is(h, "("):
				h = st.closing(h)
			case st.is(h, "="):
				h++
			case !st.is(h, mssqlTableHints...):
				return fmt.Errorf("line %d: %s is no hint of a table", st.pos(h).Line(), shown(st.text(h)))
			}
		}
	}
	return nil
}

// callsSchema reports whether WITH at token i tells the columns of a function's
// rows.
func callsSchema(st *statement, i int) bool {
	depth := 0
	for i--; i > 0; i-- {
		switch {
		case st.is(i, ")"):
			depth++
		case st.is(i, "("):
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return st.is(i-1, "openjson", "openxml", "openrowset")
}

// mssqlOrders wants a limit where a sub-query has an order, as the server does.
func mssqlOrders(st *statement) error {
	for i := range st.tokens {
		if !st.is(i, "(") || !st.is(i+1, "select") {
			continue
		}
		order, limit := -1, false
		for end, j := st.closing(i), i+1; j < end; j++ {
			switch {
			case st.is(j, "("):
				j = st.closing(j)
			case st.is(j, "order"):
				order = j
			case st.is(j, "top", "offset", "for"):
				limit = true
			}
		}
		if order >= 0 && !limit {
			return fmt.Errorf("line %d: ORDER BY in a sub-query needs TOP or OFFSET", st.pos(order).Line())
		}
	}
	return nil
}

// mssqlNames wants a name for each table that a query makes.
func mssqlNames(st *statement) error {
	for i := range st.tokens {
		if !st.is(i, "from", "join", "apply", "using") || !st.is(i+1, "(") || !st.is(i+2, "select", "values") {
			continue
		}
		name := st.skip(st.closing(i+1)+1, "as")
		if name >= len(st.tokens) || st.tokens[name].kind != word && st.tokens[name].kind != quoted || st.is(name, "where", "on", "order", "join", "option") {
			return fmt.Errorf("line %d: the query behind %s has no name", st.pos(i).Line(), strings.ToUpper(st.text(i)))
		}
	}
	return nil
}

// mssqlJoins wants ON behind each JOIN.
func mssqlJoins(st *statement) error {
	open := []int{0} // joins that wait for ON, for each parenthesis
	for i := 0; i <= len(st.tokens); i++ {
		last := len(open) - 1
		switch {
		case st.is(i, "("):
			open = append(open, 0)
		case st.is(i, "join") && !st.is(i-1, "cross", "loop", "hash", "merge"), st.is(i, "join") && st.is(i-2, "inner", "left", "right", "full", "outer"):
			open[last]++
		case st.is(i, "on"):
			open[last] = max(open[last]-1, 0)
		case i == len(st.tokens), st.is(i, ")", "where", "order", "group", "set", "union", "option", "output"):
			if open[last] > 0 {
				return errors.New("a JOIN has no ON")
			}
			if st.is(i, ")") {
				open = open[:last]
			}
		}
	}
	return nil
}

// mssqlCalls wants no function of another server, and a call behind "::", which
// is no cast.
func mssqlCalls(st *statement) error {
	for i := range st.tokens {
		switch {
		case st.is(i, "::") && !st.is(i+2, "("):
			return fmt.Errorf("line %d: %s does not cast", st.pos(i).Line(), shown("::"))
		case st.is(i+1, "(") && st.is(i, notMSSQLCalls...) && !st.is(i-1, ".", "into", "table", "on"):
			return fmt.Errorf("line %d: the server does not know %s()", st.pos(i).Line(), strings.ToUpper(st.text(i)))
		}
	}
	return nil
}

// mssqlBody checks the statements of a procedure by themselves: the parser takes
// any words for them.
func mssqlBody(st *statement) error {
	if !st.is(0, "create", "alter") || !st.is(st.skip(1, "or", "alter"), "procedure", "proc") {
		return nil
	}
	from, end := 0, len(st.tokens)
	for from < end && (!st.is(from, "as") || st.is(from-1, "exec", "execute")) {
		from++
	}
	from++
	if st.is(from, "begin") && !st.is(from+1, "try", "tran", "transaction") && st.is(end-1, "end") && endOfBlock(st, from) == end-1 {
		from, end = from+1, end-1
	}
	if from >= end {
		return errors.New("the procedure has no body")
	}
	// The lines stay those of the file.
	above := strings.Repeat("\n", st.pos(from).Line()-1)
	first := st.tokens[from].off - st.off()
	return checkMSSQL(above + st.sql()[first:st.tokens[end-1].end-st.off()])
}

// endOfBlock returns the END of the BEGIN at token i.
func endOfBlock(st *statement, i int) int {
	for open := opens(st, i); open > 0 && i < len(st.tokens); open += opens(st, i) {
		i++
	}
	return i
}

// opens tells whether token i opens a block or a CASE, or closes one: 1, -1 or 0.
func opens(st *statement, i int) int {
	switch {
	case st.is(i, "case"), st.is(i, "begin") && !st.is(i+1, "tran", "transaction", "distributed"):
		return 1
	case st.is(i, "end"):
		return -1
	}
	return 0
}

// mssqlDefines lets the reader of DDL read what it must know every word of.
func mssqlDefines(st *statement) error {
	for _, part := range st.script.statements {
		if part.first < st.first || part.first >= st.first+len(st.tokens) || !part.is(0, "create", "alter") {
			continue
		}
		if err := defines(newMSSQL().grammar(), part); err != nil {
			return err
		}
	}
	return nil
}
