package schema

import (
	"fmt"
	"strings"
	"testing"
)

// told writes a statement as the reader understood it.
func told(s *RowStatement) string {
	var b strings.Builder
	b.WriteString(s.Verb)
	if s.Target.Name != "" {
		b.WriteString(" " + s.Target.Name)
	}
	for _, w := range s.With {
		fmt.Fprintf(&b, " with %s (%s)", w.Name.Name, told(w.Query))
	}
	for _, f := range s.Sources {
		if f.Query != nil {
			fmt.Fprintf(&b, " from (%s) %s", told(f.Query), f.Alias)
			continue
		}
		fmt.Fprintf(&b, " from %s", strings.TrimPrefix(f.Name.Of+"."+f.Name.Name, "."))
		if f.Alias != "" {
			b.WriteString(" " + f.Alias)
		}
	}
	for _, set := range s.Set {
		fmt.Fprintf(&b, " set %s=%s", set.Column.Name, toldValue(set.Value))
	}
	for _, t := range s.Where {
		b.WriteString(" where " + toldTest(t))
	}
	if s.Lock != "" {
		b.WriteString(" lock " + s.Lock)
	}
	if s.Skips {
		b.WriteString(" skips")
	}
	if s.Odd != "" {
		b.WriteString(" odd " + s.Odd)
	}
	return b.String()
}

func toldValue(v RowValue) string {
	switch v.Kind {
	case RowLiteral:
		return "'" + v.Text + "'"
	case RowColumn:
		return strings.TrimPrefix(v.Name.Of+"."+v.Name.Name, ".")
	case RowQuery:
		return "(" + told(v.Query) + ")"
	}
	return "<" + string(v.Kind) + ">"
}

func toldTest(t *RowTest) string {
	switch t.Op {
	case "any":
		var list []string
		for _, tests := range t.Any {
			var all []string
			for _, one := range tests {
				all = append(all, toldTest(one))
			}
			list = append(list, strings.Join(all, " & "))
		}
		return "[" + strings.Join(list, " | ") + "]"
	case "":
		return "?(" + strings.Join(t.Names, " ") + ")"
	}
	var values []string
	for _, v := range t.Values {
		values = append(values, toldValue(v))
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", strings.TrimPrefix(t.Column.Of+"."+t.Column.Name, "."), t.Op, strings.Join(values, ",")))
}

func TestRowStatements(t *testing.T) {
	for _, tt := range []struct{ grammar, sql, want string }{
		{"postgresql", "SELECT * FROM jobs WHERE state = 'N' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED", "select from jobs where state in 'N' lock update skips"},
		{"postgresql", "UPDATE ONLY public.jobs AS j SET state = 'A'::text, at = now() WHERE j.id = $1 AND (state = 'N') RETURNING *",
			"update j from public.jobs j set state='A' set at=<now> where j.id in <argument> where state in 'N'"},
		{"postgresql", "WITH n AS MATERIALIZED (SELECT id FROM jobs FOR UPDATE) DELETE FROM jobs USING n WHERE n.id = jobs.id",
			"delete jobs with n (select from jobs lock update) from jobs from n where n.id in jobs.id"},
		{"postgresql", "SELECT 1 FROM jobs WHERE a IS NOT DISTINCT FROM 1 AND b BETWEEN 1 AND 2 AND NOT c AND d <> ALL (ARRAY[1])",
			"select from jobs where ?(a IS NOT DISTINCT FROM) where ?(b BETWEEN AND) where c not in 'true' where d not in <other>"},
		{"postgresql", "SELECT 1 FROM jobs WHERE 'N' = state AND now() > due AND CASE WHEN a = 1 OR b = 2 THEN true ELSE false END",
			"select from jobs where state in 'N' where due < <now> where ?(CASE WHEN a OR b THEN true ELSE false END)"},
		{"postgresql", "UPDATE jobs SET (state, at) = ('A', now()) WHERE id = %s", "update jobs from jobs where id in <argument> odd (state, at) = ('A', now())"},
		{"postgresql", "SELECT a FROM jobs LEFT JOIN x ON x.id = jobs.x AND x.s = 1 JOIN y ON y.id = jobs.y WHERE jobs.lock IS NULL",
			"select from jobs from x from y where y.id in jobs.y where jobs.lock null"},
		{"postgresql", "SELECT a FROM jobs UNION SELECT a FROM jobs", "select from jobs from jobs odd UNION"},
		{"mysql", "UPDATE `jobs` SET `owner` = \"me\" WHERE owner <=> NULL AND NOT (since >= NOW() - INTERVAL 5 MINUTE OR x) ORDER BY id LIMIT 5",
			"update jobs from jobs set owner='me' where owner null where ?(since INTERVAL MINUTE OR x)"},
		{"mysql", "SELECT id FROM jobs LOCK IN SHARE MODE", "select from jobs lock share"},
		{"mysql", "SELECT id FROM jobs WHERE since < DATE_SUB(NOW(), INTERVAL 1 HOUR) AND till > NOW() + INTERVAL 1 HOUR", "select from jobs where since < <earlier> where till > <later>"},
		{"mssql", "UPDATE TOP (1) q SET state = N'A' OUTPUT inserted.id FROM [dbo].[jobs] AS q WITH (ROWLOCK, READPAST) WHERE q.[state] = N'N'",
			"update q from q from dbo.jobs q set state='A' where q.state in 'N' skips"},
		{"mssql", "SELECT TOP (1) id FROM jobs WITH (UPDLOCK) WHERE due <= DATEADD(minute, -5, GETUTCDATE()) AND till > DATEADD(minute, 5, GETDATE())",
			"select from jobs where due <= <earlier> where till > <later> lock update"},
		{"mssql", "DELETE TOP (1) FROM jobs OUTPUT deleted.* WHERE state IN ('N', 'R')", "delete jobs from jobs where state in 'N','R'"},
		{"sqlite", "UPDATE OR IGNORE jobs SET state = -1 WHERE rowid = ?1 AND till < datetime('now', '-5 minutes')",
			"update jobs from jobs set state='-1' where ?(rowid) where till < <earlier>"},
		{"oracle", "SELECT id FROM jobs WHERE state = 'N' AND ROWNUM <= 5 FOR UPDATE SKIP LOCKED", "select from jobs where state in 'N' where ?(ROWNUM) lock update skips"},
		{"postgresql", "BEGIN; SELECT 1 FROM jobs; COMMIT", "begin; select from jobs; commit"},
		{"postgresql", "CALL take(1)", ""},
	} {
		statements, err := RowStatements(tt.grammar, tt.sql)
		if err != nil {
			t.Errorf("%s: %s: %v", tt.grammar, tt.sql, err)
			continue
		}
		var list []string
		for _, s := range statements {
			list = append(list, told(s))
		}
		if got := strings.Join(list, "; "); got != tt.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", tt.grammar, tt.sql, got, tt.want)
		}
	}
	if _, err := RowStatements("postgresql", "UPDATE jobs SET"); err == nil {
		t.Error("half a statement was read")
	}
}

// What a driver fills in is taken for a value, and nothing within a text is.
func TestPlaceholders(t *testing.T) {
	for in, want := range map[string]string{
		"a = ? AND b = '?'":    "a = 1 AND b = '?'",
		"a = :name AND b::int": "a = 1     AND b::int",
		"a = %(me)s OR b = %s": "a = 1      OR b = 1 ",
		"a % s":                "a % s",
	} {
		if got := filled(in, postgresqlLexis); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Whatever a parser takes is read without a panic, and nothing of it is made up.
func FuzzRowStatements(f *testing.F) {
	for _, sql := range []string{
		"UPDATE t SET a = 1 WHERE b IN (SELECT c FROM t FOR UPDATE)", "WITH x AS (SELECT 1) UPDATE x SET a = ?", "DELETE t FROM t, u WHERE (((a)))",
		"SELECT a FROM (t JOIN u ON (a = b)) WHERE NOT NOT c", "UPDATE t SET a", "SELECT",
	} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, g := range Grammars() {
			statements, err := RowStatements(g, sql)
			if err != nil {
				continue
			}
			for _, s := range statements {
				for _, set := range s.Set {
					if set.Column.Off+set.Column.Len > len(sql) {
						t.Errorf("%s: %q: column %q stands at %d", g, sql, set.Column.Name, set.Column.Off)
					}
				}
			}
		}
	})
}
