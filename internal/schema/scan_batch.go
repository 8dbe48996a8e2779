package schema

// This file cuts a batch of T-SQL into statements. None of them needs a sign
// behind it: a statement ends where a word begins the next that cannot stand
// within it. Only what DDL is made of is cut at the right places; of other
// statements pieces come out, which say nothing of tables.

import (
	"slices"
	"strings"
)

// A cutter cuts one batch.
type cutter struct {
	s      *scanner
	tokens []token
	from   int          // first token of the statement that is being read
	head   head         // what kind of statement it is
	name   int          // behind the name in ALTER TABLE name
	parens int          // parentheses open in it
	cases  int          // CASE … END open in it, outside parentheses
	blocks []bool       // BEGIN … END around it, each with whether it stands under an IF
	under  bool         // IF, ELSE or WHILE stands right in front of it
	leads  []*statement // IF and BEGIN right in front of it
}

// head is what a statement begins with, as far as it tells where the statement
// ends.
type head uint8

const (
	otherHead  head = iota
	moduleHead      // a routine or a trigger takes the rest of the batch
	viewHead
	grantHead
	definitionHead // CREATE and ALTER of anything else
	alterTableHead
)

// cutBatch makes statements of the tokens since the last batch.
func (s *scanner) cutBatch() {
	c := &cutter{s: s, tokens: s.tokens[s.first:]}
	c.begin(0)
	for i, t := range c.tokens {
		switch {
		case t.kind == word:
			c.word(i)
		case t.kind != sign || t.end > t.off+1:
		case s.src[t.off] == '(':
			c.parens++
		case s.src[t.off] == ')':
			c.parens = max(c.parens-1, 0)
		case s.src[t.off] == ';' && c.head != moduleHead:
			c.cut(i)
			c.begin(i + 1)
		}
	}
	c.cut(len(c.tokens))
	s.first = len(s.tokens)
	if n := len(s.statements); n > 0 {
		s.statements[n-1].closed = true
	}
}

// statementWords begin statements, and are no names unless they are quoted.
var statementWords = map[string]bool{
	"alter": true, "backup": true, "begin": true, "break": true, "bulk": true, "checkpoint": true, "close": true, "commit": true,
	"continue": true, "create": true, "dbcc": true, "deallocate": true, "declare": true, "delete": true, "deny": true, "drop": true,
	"else": true, "end": true, "exec": true, "execute": true, "fetch": true, "goto": true, "grant": true, "if": true, "insert": true,
	"kill": true, "merge": true, "open": true, "print": true, "raiserror": true, "readtext": true, "reconfigure": true, "restore": true,
	"return": true, "revert": true, "revoke": true, "rollback": true, "save": true, "select": true, "set": true, "shutdown": true,
	"truncate": true, "update": true, "updatetext": true, "use": true, "waitfor": true, "while": true, "writetext": true,
}

// word looks whether a statement begins at token i.
func (c *cutter) word(i int) {
	if c.tokens[i].end-c.tokens[i].off > len("reconfigure") {
		return
	}
	w := strings.ToLower(c.s.textOf(c.tokens[i]))
	if c.parens > 0 {
		// Behind a parenthesis that is never closed.
		if i > c.from && c.head != moduleHead && (w == "create" || w == "alter") && c.is(i+1, "table", "view", "index", "unique", "trigger", "procedure", "type") {
			c.cut(i)
			c.begin(i)
		}
		return
	}
	switch {
	case w == "case":
		c.cases++
		return
	case w == "end" && c.cases > 0:
		c.cases--
		return
	case i == c.from, w == "else" && c.cases > 0:
		return
	case statementWords[w], (w == "enable" || w == "disable") && c.is(i+1, "trigger"):
		if !c.belongs(i, w) {
			c.cut(i)
			c.begin(i)
		}
	}
}

// belongs reports whether the word at i, which may begin a statement, is part of
// the one that is being read.
func (c *cutter) belongs(i int, w string) bool {
	switch c.head {
	case moduleHead:
		return true
	case viewHead:
		return w == "select" || w == "fetch" || w == "merge"
	case grantHead:
		return c.is(i-1, "with") || !slices.ContainsFunc(c.tokens[c.from:i], func(t token) bool {
			return t.kind == word && (strings.EqualFold(c.s.textOf(t), "to") || strings.EqualFold(c.s.textOf(t), "from"))
		})
	case alterTableHead:
		if i == c.name || w == "drop" && c.is(i+1, "column", "constraint", "masked", "persisted", "rowguidcol", "sparse", "hidden", "not") {
			return true
		}
	}
	defines := c.head == definitionHead || c.head == alterTableHead
	switch w {
	case "delete", "update":
		return defines && c.is(i-1, "on")
	case "set":
		return c.sign(i+1) == '(' || defines && c.is(i-1, "delete", "update") && c.is(i-2, "on")
	case "select":
		return defines && c.is(i-1, "as")
	case "if": // DROP … IF EXISTS name
		exists := i + 1
		if c.is(exists, "not") {
			exists++
		}
		return c.is(exists, "exists") && c.sign(exists+1) != '('
	}
	return false
}

// begin starts a statement at token i.
func (c *cutter) begin(i int) {
	c.from, c.head, c.parens, c.cases = i, otherHead, 0, 0
	what := i + 1
	switch {
	case c.is(i, "grant", "deny", "revoke"):
		c.head = grantHead
		return
	case !c.is(i, "create", "alter"):
		return
	case c.is(what, "or") && c.is(what+1, "alter"):
		what += 2
	}
	switch {
	case c.is(what, "procedure", "proc", "function", "trigger"):
		c.head = moduleHead
	case c.is(what, "view"):
		c.head = viewHead
	case c.is(i, "alter") && c.is(what, "table"):
		c.head, c.name = alterTableHead, what+2
		for c.sign(c.name) == '.' {
			if c.name++; c.sign(c.name) != '.' {
				c.name++
			}
		}
	default:
		c.head = definitionHead
	}
}

// cut ends the statement in front of token i.
func (c *cutter) cut(i int) {
	if i <= c.from {
		return
	}
	st := &statement{
		tokens: c.tokens[c.from:i:i], first: c.s.first + c.from, end: c.tokens[i-1].end,
		guarded: c.under || len(c.blocks) > 0 && c.blocks[len(c.blocks)-1],
	}
	if c.sign(i) == ';' {
		st.end = c.tokens[i].end
	}
	c.s.statements = append(c.s.statements, st)
	c.under = false
	leads := false
	switch {
	case c.is(c.from, "if"):
		c.under, leads = true, true
	case c.is(c.from, "while", "else"):
		c.under = true
	case c.is(c.from, "begin") && !c.is(c.from+1, "tran", "transaction", "distributed", "dialog", "conversation"):
		c.blocks = append(c.blocks, st.guarded)
		leads = true
	case c.is(c.from, "end") && !c.is(c.from+1, "conversation") && len(c.blocks) > 0:
		c.blocks = c.blocks[:len(c.blocks)-1]
	}
	st.closed = c.sign(i) == ';' && len(c.blocks) == 0
	if leads {
		c.leads = append(c.leads, st)
		return
	}
	for _, lead := range c.leads {
		lead.subject = st
	}
	c.leads = nil
}

// is reports whether token i is one of the words.
func (c *cutter) is(i int, words ...string) bool {
	if i < 0 || i >= len(c.tokens) || c.tokens[i].kind != word {
		return false
	}
	text := c.s.textOf(c.tokens[i])
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, text) })
}

// sign returns token i if it is a sign, else 0.
func (c *cutter) sign(i int) byte {
	if i < 0 || i >= len(c.tokens) || c.tokens[i].kind != sign {
		return 0
	}
	return c.s.src[c.tokens[i].off]
}
