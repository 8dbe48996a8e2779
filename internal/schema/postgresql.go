package schema

// This file reads PostgreSQL's DDL: schema files, migrations, the output of
// pg_dump. Every statement is parsed by itself and applied to the catalog in
// order. The tree gives what is meant, the tokens where it stands.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/source"
)

var postgresqlLexis = lexis{nestedComments: true, dollarQuotes: true, backslash: true, routineBodies: true}

// postgresql reads one database.
type postgresql struct {
	drafts
	server pgServer
	types  []*pgType
	uses   map[*Column]*pgTypeUse
	serial map[*Column]bool // the default takes from a sequence
	path   []string         // search_path; nil is the default
	// guarded: inside a DO block, where conditions that are not read decide
	// whether a statement runs.
	guarded bool

	st   *statement // being read
	base int        // offset of st, which the parser calls 0
	text pgRewrite
}

func readPostgreSQL(files []*source.File, errs *source.ErrorList) *Catalog {
	return readLikePostgreSQL(pgServer{types: postgresqlTypes}, files, errs)
}

// A pgServer is what a server that took over PostgreSQL's DDL has for itself.
type pgServer struct {
	types   pgTypes
	rewrite func(*pgRewriter)
	methods map[string]string // of indexes: what they are called elsewhere
}

// readLikePostgreSQL reads the DDL of such a server.
func readLikePostgreSQL(server pgServer, files []*source.File, errs *source.ErrorList) *Catalog {
	p := &postgresql{
		server: server,
		drafts: drafts{byName: map[string][]*draft{}, lexis: postgresqlLexis, fold: pgFold, errs: errs},
		uses:   map[*Column]*pgTypeUse{}, serial: map[*Column]bool{},
	}
	p.typeLike = func(c, origin *Column) {
		if use := p.uses[origin]; use != nil {
			p.uses[c] = use
		}
	}
	for _, f := range files {
		p.path = nil
		text := scan(f, postgresqlLexis)
		p.readScript(text)
		p.noteTexts(text)
	}
	p.showAgain()
	p.resolveTypes()
	return p.finish(files)
}

// readScript reads a file, or the body of a DO block.
func (p *postgresql) readScript(script *script) {
	outer := p.anchors
	p.anchors = nil
	for i, st := range script.statements {
		if p.guarded {
			if st = pgUnguard(st); st == nil {
				continue
			}
			script.statements[i] = st
		}
		p.read(st)
	}
	p.loose = append(p.loose, attach(script, p.anchors)...)
	p.anchors = outer
}

// pgFold folds an unquoted name: only ASCII letters change.
func pgFold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// read applies one statement.
func (p *postgresql) read(st *statement) {
	if !st.is(0, "create", "alter", "drop", "comment", "set", "reset", "select", "do") {
		return
	}
	p.st, p.base, p.text = st, st.off(), rewrite(st, p.server.rewrite)
	tree, err := p.parse()
	if err != nil {
		p.skipUnread(st, func(schema, name string) bool { return p.find(schema, name) != nil }, err)
		return
	}
	p.apply(tree)
}

// apply applies a statement, or one that stands inside CREATE SCHEMA.
func (p *postgresql) apply(tree *pgNode) {
	switch {
	case tree.GetCreateStmt() != nil:
		p.createTable(tree.GetCreateStmt())
	case tree.GetCreateForeignTableStmt() != nil:
		if t := p.createTable(tree.GetCreateForeignTableStmt().GetBaseStmt()); t != nil {
			t.NoRowIdentity = true
		}
	case tree.GetCreateTableAsStmt() != nil:
		p.createTableAs(tree.GetCreateTableAsStmt())
	case tree.GetViewStmt() != nil:
		p.createView(tree.GetViewStmt())
	case tree.GetAlterTableStmt() != nil:
		p.alterTable(tree.GetAlterTableStmt())
	case tree.GetIndexStmt() != nil:
		p.createIndex(tree.GetIndexStmt())
	case tree.GetCreateTrigStmt() != nil:
		p.createTrigger(tree.GetCreateTrigStmt())
	case tree.GetCommentStmt() != nil:
		p.comment(tree.GetCommentStmt())
	case tree.GetRenameStmt() != nil:
		p.renameObject(tree.GetRenameStmt())
	case tree.GetAlterObjectSchemaStmt() != nil:
		p.moveObject(tree.GetAlterObjectSchemaStmt())
	case tree.GetDropStmt() != nil:
		p.dropObjects(tree.GetDropStmt())
	case tree.GetCreateEnumStmt() != nil:
		n := tree.GetCreateEnumStmt()
		p.addType(n.GetTypeName(), &pgType{kind: pgEnum, values: pgStrings(n.GetVals())})
	case tree.GetAlterEnumStmt() != nil:
		p.alterEnum(tree.GetAlterEnumStmt())
	case tree.GetCreateDomainStmt() != nil:
		p.createDomain(tree.GetCreateDomainStmt())
	case tree.GetAlterDomainStmt() != nil:
		p.alterDomain(tree.GetAlterDomainStmt())
	case tree.GetCompositeTypeStmt() != nil:
		p.createComposite(tree.GetCompositeTypeStmt())
	case tree.GetCreateRangeStmt() != nil:
		p.addType(tree.GetCreateRangeStmt().GetTypeName(), &pgType{})
	case tree.GetCreateSchemaStmt() != nil:
		p.createSchema(tree.GetCreateSchemaStmt())
	case tree.GetVariableSetStmt() != nil:
		p.setVariable(tree.GetVariableSetStmt())
	case tree.GetSelectStmt() != nil:
		p.setConfig(tree.GetSelectStmt())
	case tree.GetDoStmt() != nil:
		p.readBlock()
	}
}

// parse parses the statement. The parser's own failures count as errors of the
// statement.
func (p *postgresql) parse() (tree *pgNode, err *source.Error) {
	sql := p.text.sql
	at := func(offset int, msg string) *source.Error {
		i := p.st.covering(p.base + max(0, min(offset, len(sql))))
		return unreadable(p.st.pos(i), msg)
	}
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return nil, at(i, "it holds a NUL byte")
	}
	if !utf8.ValidString(sql) {
		return nil, at(len(sql)-len(afterUTF8(sql)), "it is not UTF-8")
	}
	if i := tooDeep(p.st); i >= 0 {
		return nil, at(p.st.tokens[i].off-p.base, "an expression is nested too deep or is too long")
	}
	defer func() {
		if r := recover(); r != nil {
			tree, err = nil, at(0, fmt.Sprintf("the parser failed: %v", r))
		}
	}()
	result, failure := pgParse(sql)
	if failure != nil {
		if e, ok := errors.AsType[*pgError](failure); ok {
			return nil, at(byteOffset(sql, e.Cursorpos-1), e.Message)
		}
		return nil, at(0, failure.Error())
	}
	if len(result.GetStmts()) != 1 {
		return nil, at(0, "it is not one statement")
	}
	return result.GetStmts()[0].GetStmt(), nil
}

// afterUTF8 returns what stands behind the longest start of s that is UTF-8.
func afterUTF8(s string) string {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			break
		}
		s = s[size:]
	}
	return s
}

// byteOffset returns where character n of s starts.
func byteOffset(s string, n int) int {
	for i := range s {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(s)
}

// Parsers call themselves for what is nested, and the stack on which they do it
// is not endless: PostgreSQL's ends the whole process with it. These limits are
// more than anybody writes and less than a small stack can bear.
const (
	maxDepth = 500  // parentheses
	maxRun   = 3000 // tokens between commas, those around the parentheses included
)

// tooDeep returns the token at which the statement goes beyond a limit, or -1.
func tooDeep(st *statement) int {
	runs := []int{0} // tokens since the last comma, for each open parenthesis
	total := 0
	for i := range st.tokens {
		last := len(runs) - 1
		switch {
		case st.is(i, "(", "["):
			runs = append(runs, 0)
		case st.is(i, ")", "]") && last > 0:
			total -= runs[last]
			runs = runs[:last]
		case st.is(i, ","):
			total -= runs[last]
			runs[last] = 0
		default:
			runs[last]++
			total++
		}
		if len(runs) > maxDepth || total > maxRun {
			return i
		}
	}
	return -1
}

// index returns the token at a location of the tree.
func (p *postgresql) index(location int32) int { return p.st.at(p.base + int(location)) }

// find returns the table of that name, nil when there is none.
func (p *postgresql) find(schema, name string) *draft {
	var named []*draft
	for _, t := range p.byName[key(name)] {
		if t.Name == name {
			named = append(named, t)
		}
	}
	schemas := []string{schema}
	switch schema {
	case "public":
		schemas = []string{"public", ""}
	case "":
		schemas = append(slices.Clone(p.path), "", "public")
	}
	for _, s := range schemas {
		for _, t := range named {
			if t.Schema == s {
				return t
			}
		}
	}
	if schema == "" && len(named) == 1 {
		return named[0]
	}
	return nil
}

func (p *postgresql) lookup(r *pgRangeVar) *draft { return p.find(r.GetSchemaname(), r.GetRelname()) }

// newIn returns the schema in which an object without a schema is created.
func (p *postgresql) newIn(schema string) string {
	if schema == "" && len(p.path) > 0 {
		return p.path[0]
	}
	return schema
}

// relation returns the token that holds the name of r, without its schema.
func (p *postgresql) relation(r *pgRangeVar) int {
	return p.st.qualified(p.index(r.GetLocation()))
}

// pgStrings returns the strings of a list.
func pgStrings(list []*pgNode) []string {
	result := make([]string, 0, len(list))
	for _, n := range list {
		result = append(result, n.GetString_().GetSval())
	}
	return result
}

// pgName splits a dotted name; a catalog in front is left out.
func pgName(list []*pgNode) (schema, name string) {
	parts := pgStrings(list)
	if len(parts) == 0 {
		return "", ""
	}
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	return schema, parts[len(parts)-1]
}

func (p *postgresql) createSchema(n *pgCreateSchemaStmt) {
	schema := n.GetSchemaname()
	if schema == "" {
		schema = n.GetAuthrole().GetRolename()
	}
	outer := p.path
	p.path = append([]string{schema}, outer...)
	for _, e := range n.GetSchemaElts() {
		p.apply(e)
	}
	p.path = outer
}

// setVariable follows SET search_path.
func (p *postgresql) setVariable(n *pgVariableSetStmt) {
	switch {
	case n.GetName() != "search_path":
	case n.GetKind() != pgVarSetValue:
		p.path = nil
	default:
		p.path = []string{}
		for _, a := range n.GetArgs() {
			p.addPath(a.GetAConst().GetSval().GetSval())
		}
	}
}

// setConfig follows SELECT set_config('search_path', …), which pg_dump writes.
func (p *postgresql) setConfig(n *pgSelectStmt) {
	if len(n.GetTargetList()) != 1 {
		return
	}
	call := n.GetTargetList()[0].GetResTarget().GetVal().GetFuncCall()
	_, name := pgName(call.GetFuncname())
	if args := call.GetArgs(); name == "set_config" && len(args) == 3 && args[0].GetAConst().GetSval().GetSval() == "search_path" {
		p.path = []string{}
		for part := range strings.SplitSeq(args[1].GetAConst().GetSval().GetSval(), ",") {
			part = strings.TrimSpace(part)
			if strings.HasPrefix(part, `"`) {
				part = unquote(part)
			} else {
				part = pgFold(part)
			}
			p.addPath(part)
		}
	}
}

func (p *postgresql) addPath(schema string) {
	if schema != "" && schema != "$user" && schema != "pg_catalog" {
		p.path = append(p.path, schema)
	}
}

// readBlock reads the statements in the body of DO that make or change
// something. The conditions around them are taken to hold.
func (p *postgresql) readBlock() {
	i := slices.IndexFunc(p.st.tokens, func(t token) bool { return t.kind == text && p.st.script.src[t.off] == '$' })
	if p.guarded || i < 0 {
		return
	}
	off, end := stringBody(p.st.script.src, p.st.tokens[i])
	p.guarded = true
	p.readScript(scanRange(p.st.script.file, p.st.script.src[:end], off, postgresqlLexis))
	p.guarded = false
}

// pgUnguard returns the part of a PL/pgSQL statement behind BEGIN or THEN that
// is a statement by itself, nil when there is none.
func pgUnguard(st *statement) *statement {
	for i := range st.tokens {
		if st.is(i, "create", "alter") && (i == 0 || st.is(i-1, "begin", "then", "else")) {
			return &statement{script: st.script, tokens: st.tokens[i:], first: st.first + i, end: st.end}
		}
	}
	return nil
}

// stringBody returns the offsets of what stands between the quotes of a string.
func stringBody(src string, t token) (off, end int) {
	s := src[t.off:t.end]
	if s[0] == '$' {
		tag := strings.IndexByte(s[1:], '$') + 2
		if len(s) >= 2*tag && s[len(s)-tag:] == s[:tag] {
			return t.off + tag, t.end - tag
		}
		return t.off + tag, t.end
	}
	quote := strings.IndexByte(s, '\'')
	if end = t.end; len(s) > quote+1 && s[len(s)-1] == '\'' {
		end--
	}
	return t.off + quote + 1, end
}

// written returns the tokens from i up to end as the user wrote them, but for the types
// that :::TYPE says of a value in CockroachDB.
func (p *postgresql) written(i, end int) string {
	var b strings.Builder
	end = min(end, len(p.st.tokens))
	for from := i; from < end; {
		to := from
		for to < end && !p.st.typed(to) {
			to++
		}
		if from > i && p.st.tokens[from].off > p.st.tokens[from-1].end {
			b.WriteByte(' ')
		}
		b.WriteString(p.st.written(from, to))
		if from = to; to < end {
			from = p.st.qualified(to+2) + 1
			for p.st.is(from, "(", "[") {
				from = p.st.closing(from) + 1
			}
		}
	}
	return b.String()
}

// typed reports whether ":::" stands at token i, which lexes as two.
func (st *statement) typed(i int) bool {
	return st.is(i, "::") && st.is(i+1, ":") && st.tokens[i].end == st.tokens[i+1].off
}

// comment reads COMMENT ON.
func (p *postgresql) comment(n *pgCommentStmt) {
	var target *[]Comment
	parts := pgStrings(n.GetObject().GetList().GetItems())
	switch n.GetObjtype() {
	case pgOnTable, pgOnView, pgOnForeignTable:
		if t := p.find(pgName(n.GetObject().GetList().GetItems())); t != nil {
			target = &t.Comments
		}
	case pgOnColumn:
		if len(parts) < 2 {
			break
		}
		schema, table := pgName(n.GetObject().GetList().GetItems()[:len(parts)-1])
		if t := p.find(schema, table); t != nil {
			if c := t.Column(parts[len(parts)-1]); c != nil {
				target = &c.Comments
			}
		}
	}
	c, ok := p.commentText(n.GetComment())
	if target == nil {
		if ok && strings.Contains(c.Text, mark) {
			c.Of = strings.Join(parts, ".")
			p.loose = append(p.loose, c)
		}
		return
	}
	*target = removeStored(*target)
	if ok {
		*target = append(*target, c)
	}
}

// commentText returns the text of COMMENT ON … IS '…'; ok is false for NULL.
func (p *postgresql) commentText(value string) (c Comment, ok bool) {
	is := slices.IndexFunc(p.st.tokens, func(t token) bool {
		return t.kind == word && strings.EqualFold(p.st.script.textOf(t), "is")
	})
	if is < 0 || is+1 >= len(p.st.tokens) || p.st.tokens[is+1].kind != text {
		return Comment{}, false
	}
	src := p.st.script.src
	off, end := stringBody(src, p.st.tokens[is+1])
	if last := p.st.tokens[len(p.st.tokens)-1]; last.kind == text {
		_, end = stringBody(src, last)
	}
	return Comment{
		Text: value, Pos: p.st.script.file.Pos(off, end-off), Exact: src[off:end] == value, stored: true,
	}, true
}

func (p *postgresql) createTrigger(n *pgCreateTrigStmt) {
	t := p.lookup(n.GetRelation())
	if t == nil {
		return
	}
	i := slices.IndexFunc(p.st.tokens, func(t token) bool { return strings.EqualFold(p.st.script.textOf(t), "trigger") })
	g := &Trigger{Name: n.GetTrigname(), Pos: p.st.pos(i + 1)}
	t.Triggers = append(slices.DeleteFunc(t.Triggers, func(o *Trigger) bool { return o.Name == g.Name }), g)
}

// renameObject reads ALTER … RENAME.
func (p *postgresql) renameObject(n *pgRenameStmt) {
	to := len(p.st.tokens) - 1
	for to > 0 && !p.st.is(to, "to") {
		to--
	}
	name, pos := n.GetNewname(), p.st.pos(to+1)
	t := p.lookup(n.GetRelation())
	switch n.GetRenameType() {
	case pgOnTable, pgOnView, pgOnForeignTable:
		if t != nil {
			p.rename(t, name, pos)
			return
		}
		p.renameIndex(n.GetRelation(), name, pos)
	case pgOnIndex:
		p.renameIndex(n.GetRelation(), name, pos)
	case pgOnColumn:
		if t == nil {
			break
		}
		for _, member := range t.family(!n.GetRelation().GetInh()) {
			if c := member.Column(n.GetSubname()); c != nil {
				member.renameColumn(c, name, pos)
			}
		}
	case pgOnTabconstraint:
		if t == nil || t.renameIndex(n.GetSubname(), name, pos) {
			break
		}
		for _, k := range t.checks {
			if k.name == n.GetSubname() {
				k.name = name
			}
		}
		if c := t.notNulls[n.GetSubname()]; c != nil {
			delete(t.notNulls, n.GetSubname())
			t.notNulls[name] = c
		}
	case pgOnTrigger:
		if t == nil {
			break
		}
		for _, g := range t.Triggers {
			if g.Name == n.GetSubname() {
				g.Name, g.Pos = name, pos
			}
		}
	case pgOnType, pgOnDomain:
		if u := p.findType(pgName(n.GetObject().GetList().GetItems())); u != nil {
			u.name = name
		}
	case pgOnSchema:
		for _, t := range p.tables {
			if t.Schema == n.GetSubname() {
				t.Schema = name
			}
		}
		for _, u := range p.types {
			if u.schema == n.GetSubname() {
				u.schema = name
			}
		}
	}
}

func (p *postgresql) renameIndex(r *pgRangeVar, name string, pos source.Pos) {
	for _, t := range p.tables {
		if (r.GetSchemaname() == "" || r.GetSchemaname() == t.Schema) && t.renameIndex(r.GetRelname(), name, pos) {
			return
		}
	}
}

// moveObject reads ALTER … SET SCHEMA.
func (p *postgresql) moveObject(n *pgAlterObjectSchemaStmt) {
	switch n.GetObjectType() {
	case pgOnTable, pgOnView, pgOnForeignTable:
		if t := p.lookup(n.GetRelation()); t != nil {
			t.Schema = n.GetNewschema()
		}
	case pgOnType, pgOnDomain:
		if u := p.findType(pgName(n.GetObject().GetList().GetItems())); u != nil {
			u.schema = n.GetNewschema()
		}
	}
}

// dropObjects reads DROP.
func (p *postgresql) dropObjects(n *pgDropStmt) {
	cascade := n.GetBehavior() == pgDropCascade
	for _, o := range n.GetObjects() {
		items := o.GetList().GetItems()
		schema, name := pgName(items)
		switch n.GetRemoveType() {
		case pgOnTable, pgOnView, pgOnForeignTable:
			if t := p.find(schema, name); t != nil {
				p.drop(t, cascade)
			} else {
				p.droppedBefore(p.newIn(schema), name)
			}
		case pgOnIndex:
			for _, t := range p.tables {
				if schema == "" || schema == t.Schema || schema == "public" && t.Schema == "" {
					t.dropIndexes(func(ix *Index) bool { return ix.Name == name })
				}
			}
		case pgOnTrigger:
			if t := p.find(pgName(items[:max(0, len(items)-1)])); t != nil {
				t.Triggers = slices.DeleteFunc(t.Triggers, func(g *Trigger) bool { return g.Name == name })
			}
		case pgOnType, pgOnDomain:
			u := p.findType(pgName(o.GetTypeName().GetNames()))
			p.types = slices.DeleteFunc(p.types, func(other *pgType) bool { return other == u })
		case pgOnSchema:
			for _, t := range slices.Clone(p.tables) {
				if t.Schema == o.GetString_().GetSval() {
					p.drop(t, cascade)
				}
			}
		}
	}
}
