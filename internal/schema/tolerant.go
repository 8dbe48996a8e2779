package schema

// This file and those named tolerant_… read DDL from its tokens, for databases
// without a parser of their own here and for what such a parser rejects. They
// know how definitions are built, skip what says nothing of names, types, keys
// and values, and never guess: what should be a name and is none, and a word of
// which nothing is known, make a statement unreadable.

import (
	"strings"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/source"
)

// A grammar is what sets the DDL of one database apart.
type grammar struct {
	lexis lexis
	fold  func(name string) string // of unquoted names
	// anyCase: see Table.AnyCase.
	anyCase bool
	// rowIdentity: a row can be named by its place.
	rowIdentity bool
	// accepts asks a parser of the whole language about a statement with words of
	// which the reader knows nothing; nil without one.
	accepts func(*statement) bool

	// schema is what names without a schema mean, and so that they match in any case;
	// "" where the files do not tell.
	schema string
	// statement returns what reads a statement; nil where it says what it says in
	// every SQL.
	statement func(*tolerant) func() *source.Error

	// columnType reads the type at the next token.
	columnType func(*tolerant, *definition)
	// untyped reports whether a column has no type; nil where each has one.
	untyped func(*tolerant, *definition) bool
	// element reads what stands among the columns of a table and is said otherwise
	// than in every SQL; false when none of it begins at the next token.
	element func(*tolerant, *draft) bool
	// attribute reads what only this database writes behind a type, or means by
	// it; false when the next token begins nothing of it.
	attribute func(*tolerant, *definition) bool
	// indexWords begin an index among the columns of CREATE TABLE or behind ADD.
	indexWords []string
	// option reads one option of a table; false when none begins at the next token.
	option func(*tolerant, *draft) bool
	// command reads a command of ALTER TABLE that is none of every SQL; false when
	// none begins at the next token.
	command func(*tolerant, *draft) bool
	// modify reads what stands behind MODIFY, which is at token start; nil where the
	// column is defined anew.
	modify func(r *tolerant, t *draft, a *anchor, start int)
	// keyName names a key or an index that has no name.
	keyName func(t *draft, k *keyDefinition, ix *Index) string
	// checkName names a check that has no name.
	checkName func(t *draft) string
	// renameCheck returns the name of a check when its table gets another; nil where
	// it keeps its own.
	renameCheck func(name, from, to string) string
	// columnChecks: a check in a column's definition has no name, and goes when the
	// column is redefined.
	columnChecks bool
	// sharedIndexes: an index loses only the column that is dropped.
	sharedIndexes bool
	// adds: ADD is followed by a list, and nothing else is.
	adds bool
	// alters: ALTER COLUMN says a type and NULL, and the column keeps the rest.
	alters bool
	// asQuery: AS stands in front of a query that a definition takes columns from.
	asQuery bool
	// namesFirst: a query names a column by name = expression, too.
	namesFirst bool
	// lastComma: a comma may stand behind the last column of a table.
	lastComma bool
	// events reads what a trigger fires on, where that stands behind the name of its table or is
	// more than one word in front of it.
	events func(*tolerant, *Trigger)
	// cased: names that differ in case alone are two names, quoted or not.
	cased bool
	// nullsHigh: NULL sorts behind every value.
	nullsHigh bool
	// emptyNull: a text without characters is NULL.
	emptyNull bool
	// namesOutputs: the columns in CREATE TABLE (a, b) AS name those of its query.
	namesOutputs bool
	// ends reports whether the next token ends a definition, as a comma does; nil where
	// nothing else does.
	ends func(*tolerant) bool
	// viewOption reads what stands between the columns of a view and AS; nil where
	// nothing may stand there.
	viewOption func(*tolerant) bool
	// listEnds end the list, or the tables, of a query beside those of every SQL.
	listEnds []string
	// state reads what stands behind a constraint, which is k if it is a key, and
	// reports whether the constraint is off.
	state func(r *tolerant, k *keyDefinition) (off bool)
	// part reads one column or expression of a key or an index; nil where it is said
	// as MySQL does.
	part func(*tolerant, *keyDefinition)
	// keyOption reads what stands behind the columns of an index in this database
	// only; false when none of it begins at the next token.
	keyOption func(*tolerant, *keyDefinition) bool
	// take gives the table a key or an index; nil where its name and columns are all
	// that matters.
	take func(*tolerant, *draft, *keyDefinition, *Index)
	// settle does what only the whole of the files tells.
	settle func(*tolerant)
	// method tells how an index is built; its Method is what the DDL says, "" for
	// nothing.
	method func(t *Table, ix *Index) string
}

// tolerant reads one database.
type tolerant struct {
	drafts
	*grammar
	home  string            // the database that USE named
	homes map[*draft]string // of the tables whose names say no database
	// domains are Oracle's, by name.
	domains map[string]*definition
	// queried is the last statement of which it was asked whether a query gives its
	// columns their types, queryAt where that stands, -1 without.
	queried *statement
	queryAt int

	st *statement // being read
	i  int        // its next token
	// fault is what makes it unreadable, strange its first token of which nothing
	// is known, -1 without.
	fault   *source.Error
	strange int
	first   []func() // to do when the statement is read: columns get their new names
	later   []func() // to do when all columns are known by their names
}

func newTolerant(g *grammar, errs *source.ErrorList) *tolerant {
	return &tolerant{
		drafts:  drafts{byName: map[string][]*draft{}, lexis: g.lexis, fold: g.fold, exact: g.cased, schema: g.schema, errs: errs},
		grammar: g,
		homes:   map[*draft]string{},
	}
}

// readTolerant reads the files of one database.
func readTolerant(g *grammar, files []*source.File, errs *source.ErrorList) *Catalog {
	r := newTolerant(g, errs)
	for _, f := range files {
		script := scan(f, g.lexis)
		r.anchors, r.home = nil, ""
		for _, st := range script.statements {
			r.read(st)
		}
		r.noteTexts(script)
		r.loose = append(r.loose, attach(script, r.anchors)...)
	}
	return r.conclude(files)
}

// conclude settles what only the whole of the files tells.
func (r *tolerant) conclude(files []*source.File) *Catalog {
	if r.settle != nil {
		r.settle(r)
	}
	r.showAgain()
	r.nameHomes()
	r.findJSON()
	for _, t := range r.tables {
		for _, ix := range t.Indexes {
			ix.Method = r.method(t.Table, ix)
		}
	}
	return r.finish(files)
}

// read applies one statement.
func (r *tolerant) read(st *statement) {
	r.st, r.i, r.fault, r.strange = st, 1, nil, -1
	r.first, r.later = nil, nil
	var read func() *source.Error
	if r.statement != nil {
		read = r.statement(r)
	}
	switch {
	case read != nil:
	case st.is(0, "create"):
		read = r.create
	case st.is(0, "alter"):
		read = r.alter
	case st.is(0, "drop"):
		read = r.dropObject
	case st.is(0, "rename"):
		read = r.renameTables
	case st.is(0, "use") && len(st.tokens) == 2:
		r.home = r.nameAt(st, 1)
		return
	default:
		return
	}
	err := unfit(st)
	if err == nil {
		err = read()
	}
	if err != nil {
		r.skipUnread(st, func(schema, name string) bool { return r.find(schema, name) != nil }, err)
	}
}

// unfit returns what is wrong with a statement that no database would take, or
// that goes beyond what can be read.
func unfit(st *statement) *source.Error {
	for i := range st.tokens {
		switch t := st.text(i); {
		case strings.IndexByte(t, 0) >= 0:
			return unreadable(st.pos(i), "it holds a NUL byte")
		case !utf8.ValidString(t):
			return unreadable(st.pos(i), "it is not UTF-8")
		}
	}
	if last := len(st.tokens) - 1; st.script.unclosed && st.tokens[last].end == len(st.script.src) {
		return unreadable(st.pos(last), "the text is never closed")
	}
	if headOf(st) >= 0 {
		if i := tooDeep(st); i >= 0 {
			return unreadable(st.pos(i), "an expression is nested too deep or is too long")
		}
	}
	return nil
}

// verdict returns what is wrong with the statement that has been read.
func (r *tolerant) verdict() *source.Error {
	switch {
	case r.fault != nil:
		return r.fault
	case r.strange < 0, r.accepts != nil && r.accepts(r.st):
		return nil
	}
	return unreadable(r.st.pos(r.strange), "nothing is known of "+shown(r.st.text(r.strange))+" here")
}

// shown quotes a token for a message.
func shown(token string) string {
	const most = 40
	if len(token) > most {
		token = cutRunes(token[:most]) + "…"
	}
	return `"` + token + `"`
}

// is reports whether the next token is one of the words or signs.
func (r *tolerant) is(words ...string) bool { return r.st.is(r.i, words...) }

// accept moves behind the words if they stand next.
func (r *tolerant) accept(words ...string) bool {
	i := r.st.skip(r.i, words...)
	found := i > r.i
	r.i = i
	return found
}

// acceptAny moves behind the next token if it is one of the words.
func (r *tolerant) acceptAny(words ...string) bool {
	found := r.is(words...)
	if found {
		r.i++
	}
	return found
}

// word returns the next token in lower case if it is a word, else "".
func (r *tolerant) word() string {
	if r.i >= len(r.st.tokens) || r.st.tokens[r.i].kind != word {
		return ""
	}
	return strings.ToLower(r.st.text(r.i))
}

// has reports whether token i is of that kind.
func (r *tolerant) has(i int, k kind) bool {
	return i >= 0 && i < len(r.st.tokens) && r.st.tokens[i].kind == k
}

// done reports whether the definition that is being read ends here.
func (r *tolerant) done() bool {
	return r.i >= len(r.st.tokens) || r.is(",", ")") || r.ends != nil && r.ends(r)
}

// fail notes what makes the statement unreadable, and ends the reading of it.
func (r *tolerant) fail(i int, what string) {
	if r.fault == nil {
		r.fault = unreadable(r.st.pos(i), what)
	}
	r.i = len(r.st.tokens)
}

// unknown skips a token, or a group in parentheses, of which nothing is known.
func (r *tolerant) unknown() {
	if r.strange < 0 {
		r.strange = r.i
	}
	r.skip()
}

// skip moves behind the next token or the group that it opens.
func (r *tolerant) skip() {
	if r.is("(") {
		r.group()
		return
	}
	r.i++
}

// group moves behind a group in parentheses, which starts at the next token,
// and returns the tokens inside.
func (r *tolerant) group() (from, to int) {
	open := r.i
	if r.expect("("); r.fault != nil {
		return open, open
	}
	closing := r.st.closing(open)
	if closing >= len(r.st.tokens) {
		r.fail(open, "the parenthesis is never closed")
		return open, open
	}
	r.i = closing + 1
	return open + 1, closing
}

// expect moves behind a word or sign that must stand next.
func (r *tolerant) expect(word string) {
	if !r.accept(word) {
		r.fail(r.i, shown(strings.ToUpper(word))+" should stand here")
	}
}

// end fails where the statement goes on.
func (r *tolerant) end() {
	if r.fault == nil && r.i < len(r.st.tokens) {
		r.fail(r.i, "the end of the statement should stand here")
	}
}

// findJSON makes columns of text whose check says that they hold JSON what they
// are.
func (r *tolerant) findJSON() {
	for _, t := range r.tables {
		for _, k := range t.checks {
			if k.json && !k.off && len(k.columns) == 1 && k.columns[0].Type.Class == Text {
				k.columns[0].Type.Class, k.columns[0].Type.Length = JSON, 0
			}
		}
	}
}
