package schema

// This file reads YugabyteDB's DDL with PostgreSQL's parser.

import "github.com/qgen-dev/qgen/internal/source"

func readYugabyteDB(files []*source.File, errs *source.ErrorList) *Catalog {
	return readLikePostgreSQL(pgServer{
		types: postgresqlTypes, rewrite: rewriteYugabyteDB,
		methods: map[string]string{"lsm": btree, "ybgin": "gin"},
	}, files, errs)
}

// rewriteYugabyteDB takes out where rows are kept: what of a key is hashed, and how a table
// is split; docs, CREATE TABLE and CREATE INDEX. ysql_dump writes both.
func rewriteYugabyteDB(r *pgRewriter) {
	st := r.st
	if st.is(0, "create") && (st.is(1, "index") || st.is(1, "unique") && st.is(2, "index")) {
		at := 1
		for !st.is(at, "index") {
			at++
		}
		r.blank(at+1, st.skip(at+1, "nonconcurrently"))
		open := at
		for open < len(st.tokens) && !st.is(open, "(") {
			open++
		}
		closing := st.closing(open)
		r.splits(closing + 1)
		if items := st.items(open+1, closing); hashed(st, items) {
			first, last := items[0][0], items[0][1]-1
			r.blank(last, last+1)
			if names := len(st.items(first+1, st.closing(first))); st.is(first, "(") && names > 1 {
				r.blank(first, first+1)
				r.blank(last-1, last)
			}
		}
		return
	}
	r.elements(func(from, end int) {
		open, closing, ok := r.keyList(from, end)
		for i := open + 1; ok && i < closing; i++ {
			if st.is(i, "(", ")") || st.is(i, pgOrder...) && st.is(i+1, ",", ")") {
				r.blank(i, i+1)
			}
		}
	}, r.splits)
}

// hashed reports whether HASH stands behind the first column of an index.
func hashed(st *statement, items [][2]int) bool {
	return len(items) > 0 && items[0][1]-items[0][0] > 1 && st.is(items[0][1]-1, "hash")
}

// splits takes out SPLIT INTO n TABLETS, SPLIT AT VALUES (…) and the group of tablets
// from token from on.
func (r *pgRewriter) splits(from int) {
	st := r.st
	for i := from; i < len(st.tokens); i++ {
		switch {
		case st.is(i, "("):
			i = st.closing(i)
		case st.is(i, "split") && st.is(i+1, "into"):
			r.blank(i, min(i+4, len(st.tokens)))
		case st.is(i, "split") && st.is(i+1, "at") && st.is(i+2, "values"):
			r.blank(i, min(st.closing(i+3)+1, len(st.tokens)))
		case st.is(i, "tablegroup"):
			r.blank(i, min(i+2, len(st.tokens)))
		}
	}
}

// hashedItems returns the columns of an index, whose first item may name several that are
// hashed together: (a, b) HASH. Rows come in no order from such an index.
func (p *postgresql) hashedItems(ix *Index, items [][2]int) [][2]int {
	if !hashed(p.st, items) {
		return items
	}
	ix.Method = "hash"
	first, last := items[0][0], items[0][1]-1
	if names := p.st.items(first+1, p.st.closing(first)); p.st.is(first, "(") && len(names) > 1 {
		return append(names, items[1:]...)
	}
	return append([][2]int{{first, last}}, items[1:]...)
}
