package schema

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/source"
)

// readFacts returns what a script says, tables and indexes by name, since dumps put
// them in an order of their own.
func readFacts(t *testing.T, grammar, name string) string {
	t.Helper()
	var errs source.ErrorList
	c, err := Read(grammar, readFiles(t, filepath.Join("testdata", grammar, name+".sql")), &errs)
	if err != nil || errs.Len() > 0 {
		t.Fatal(name, err, errs.Err())
	}
	slices.SortFunc(c.Tables, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	for _, table := range c.Tables {
		if table.Engine == "" {
			table.Engine = "InnoDB" // the default of all that were dumped
		}
		table.Comments = slices.DeleteFunc(table.Comments, func(c Comment) bool { return !c.stored })
		for _, column := range table.Columns {
			column.Comments = slices.DeleteFunc(column.Comments, func(c Comment) bool { return !c.stored })
		}
		slices.SortFunc(table.Indexes, func(a, b *Index) int { return strings.Compare(a.Name, b.Name) })
		slices.SortFunc(table.Uniques, func(a, b *Key) int { return strings.Compare(a.Name, b.Name) })
		slices.Sort(table.Checks)
	}
	if len(c.Loose) > 0 || len(c.Unread) > 0 || len(c.Tables) < 4 {
		t.Fatalf("%s: %d tables, %v, %v", name, len(c.Tables), c.Loose, c.Unread)
	}
	return dump(c, facts)
}

// Dumps of one schema say what it says, whichever server they come from.
func TestMySQLDumpsReadLikeTheirSource(t *testing.T) {
	want := readFacts(t, "mysql", "mysqldump")
	for _, dump := range []struct{ grammar, name string }{
		{"mysql", "mysqldump_56"}, {"mysql", "mysqldump_97"},
		{"mariadb", "dump_10_5"}, {"mariadb", "dump_10_11"}, {"mariadb", "dump_11_8"},
	} {
		if got := readFacts(t, dump.grammar, dump.name); got != want {
			t.Errorf("%s says\n%s\nits source\n%s", dump.name, got, want)
		}
	}
}

// The same holds for what only new servers can say.
func TestModernMySQLDumpsReadLikeTheirSource(t *testing.T) {
	for _, script := range []struct{ grammar, source, dump string }{
		{"mysql", "modern", "modern_97"},
		{"mariadb", "modern", "modern_11_8"},
	} {
		// To the keys of a versioned table, which stands last, a server adds the end
		// of the period.
		want, _, _ := strings.Cut(readFacts(t, script.grammar, script.source), "table periods")
		got, _, _ := strings.Cut(readFacts(t, script.grammar, script.dump), "table periods")
		if got != want {
			t.Errorf("%s: the dump says\n%s\nits source\n%s", script.grammar, got, want)
		}
	}
}

// Who takes a statement.
const (
	both       = "both"
	forMySQL   = "MySQL"
	forMariaDB = "MariaDB"
	neither    = "neither"
)

// samples are statements of newest servers, good ones and bad ones.
var samples = []struct{ passes, sql string }{
	{both, "-- head; with a semicolon\nSELECT /* jobs.Claim */ `id`, `or``der` FROM `jobs` WHERE `state` = 'N' AND `due` <= NOW(6) ORDER BY `due`, `id` LIMIT 100 FOR UPDATE SKIP LOCKED"},
	{both, "UPDATE /* jobs.Claim */ (SELECT id FROM jobs WHERE state = 'N' AND id > ? ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED) c STRAIGHT_JOIN jobs j ON j.id = c.id SET j.state = 'A', j.token = ?, j.lease = NOW(6) + INTERVAL ? MICROSECOND;\nSELECT id FROM jobs WHERE state = 'A' AND token = ? ORDER BY id;\n"},
	{both, "DELETE j FROM (SELECT ? AS i UNION ALL SELECT ?) c STRAIGHT_JOIN jobs j ON j.id = c.i"},
	{both, "UPDATE jobs FORCE INDEX (PRIMARY) SET state = 'C' WHERE (tenant, seq) IN ((?, ?), (?, ?)) AND state = 'A'"},
	{both, "SELECT i FROM JSON_TABLE(?, '$[*]' COLUMNS(o FOR ORDINALITY, i BIGINT UNSIGNED PATH '$')) c"},
	{both, "UPDATE jobs SET state = 'A', id = LAST_INSERT_ID(id) WHERE state = 'N' ORDER BY id LIMIT 1"},
	{both, "INSERT INTO jobs (id, body) VALUES (?, ?), (?, COALESCE(?, '{}')) ON DUPLICATE KEY UPDATE body = VALUES(body)"},
	{both, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION; COMMIT; ROLLBACK; SELECT @@version, GET_LOCK('a', 0)"},
	{both, "SELECT x FROM t FOR UPDATE NOWAIT"}, {both, "SELECT x FROM t LOCK IN SHARE MODE"},
	{both, "SELECT COUNT(*), UNIX_TIMESTAMP(MIN(due)), x'00' <=> NULL, a REGEXP '^b', `c` COLLATE utf8mb4_bin FROM t GROUP BY d WITH ROLLUP HAVING 1 > 0"},
	{both, "CREATE TABLE jobs_lease (`id` BIGINT UNSIGNED NOT NULL, PRIMARY KEY (`id`)) ENGINE=InnoDB; CREATE INDEX ready ON jobs (state, prio DESC)"},
	{both, "ALTER TABLE jobs ADD INDEX ready (state, id), ALGORITHM=INPLACE, LOCK=NONE"},
	{both, "-- nothing but a comment\n"}, {both, "# nothing but a comment\n/* nor here */"}, {both, ""}, {both, ";;"},
	{both, "SELECT 1 /*!50000 + 1 */"},
	{forMySQL, "SELECT x FROM t AS a JOIN u ON a.i = u.i FOR UPDATE OF a SKIP LOCKED"}, {forMySQL, "SELECT x FROM t FOR SHARE"},
	{forMySQL, "SELECT body->>'$.a', body -> '$.b' FROM t"}, {forMySQL, "SELECT 1 FROM t WHERE 5 MEMBER OF (body)"}, {forMySQL, "SELECT * FROM (VALUES ROW(1, 2), ROW(3, 4)) v"},
	{forMariaDB, "DELETE FROM jobs WHERE state = 'N' ORDER BY id LIMIT 5 RETURNING id, `body`, concat(a, ')') AS x, (SELECT 1)"},
	{forMariaDB, "INSERT INTO jobs (a) VALUES (1) RETURNING id; REPLACE INTO jobs SET a = 1 RETURNING *"},
	{forMariaDB, "UPDATE jobs SET state = 'A' WHERE id IN (SELECT id FROM (SELECT id FROM jobs LIMIT 3 FOR UPDATE SKIP LOCKED) c) RETURNING id, OLD_VALUE(state)"},
	{forMariaDB, "INSERT INTO t (a) SELECT b FROM u RETURNING a"},
	{forMariaDB, "SELECT x FROM t FOR UPDATE WAIT 5"}, {forMariaDB, "CREATE INDEX IF NOT EXISTS ready ON jobs (id)"},
	{forMariaDB, "ALTER TABLE jobs ADD INDEX IF NOT EXISTS ready (id), ADD COLUMN IF NOT EXISTS t uuid"},
	{forMariaDB, "CREATE OR REPLACE TABLE l (id uuid NOT NULL DEFAULT uuid(), a inet6, b int AS (1) PERSISTENT, KEY k (a) IGNORED) COLLATE=utf8mb4_uca1400_ai_ci WITH SYSTEM VERSIONING"},
	{forMariaDB, "BEGIN /* jobs.Claim */ NOT ATOMIC\nDECLARE more BOOLEAN DEFAULT TRUE; DECLARE picked TYPE OF `a`.jobs.`id`; DECLARE c CURSOR FOR SELECT id FROM jobs WHERE kind = ? LIMIT ? FOR UPDATE SKIP LOCKED; " +
		"DECLARE CONTINUE HANDLER FOR NOT FOUND SET more = FALSE; OPEN c; FETCH c INTO picked; WHILE more DO UPDATE jobs SET token = ? WHERE id = picked; FETCH c INTO picked; END WHILE; CLOSE c; SELECT id FROM jobs; END"},
	{both, "/*M!110602 SET STATEMENT innodb_snapshot_isolation = OFF FOR */\nSELECT id FROM (SELECT id AS i FROM jobs LIMIT ?) c STRAIGHT_JOIN jobs ON id = i FOR UPDATE SKIP LOCKED"},
	{forMariaDB, "SET STATEMENT max_statement_time = 5, sort_buffer_size = 100000 FOR DELETE FROM jobs WHERE id = ? RETURNING id"},
	{neither, "SET STATEMENT max_statement_time = 5 FOR UPDATE jobs SET WHERE id = ?"}, {neither, "SET STATEMENT max_statement_time = 5 FOR"},
	{neither, "SET STATEMENT max_statement_time = 5"}, {neither, "SET STATEMENT FOR DELETE FROM jobs"}, {neither, "SET STATEMENT max_statement_time 5 FOR DELETE FROM jobs"},
	{neither, "BEGIN NOT ATOMIC UPDATE jobs SET WHERE id = 1; END"}, {neither, "BEGIN NOT ATOMIC SELECT 1"}, {neither, "BEGIN NOT ATOMIC DECLARE picked TYPE OF; SELECT 1; END"},
	{neither, "UPDATE jobs SET WHERE id = ?"}, {neither, "SELECT FROM jobs"}, {neither, "SELECT id, FROM jobs"}, {neither, "SELECT 'open FROM jobs"},
	{neither, "SELECT 1 /* open"}, {neither, "SELECT 1 /*"}, {neither, "SELECT (1"}, {neither, "SELECT 1) FROM t"}, {neither, "garbage"}, {neither, "SELECT 1\x00 garbage"},
	{neither, "SELECT x FROM t FOR UPDATE SKIP LOCKED LIMIT 1 5"}, {neither, "UPDATE t SET a = 1 LIMIT 5 ORDER BY a"}, {neither, "SELECT id FROM jobs FETCH FIRST 1 ROWS"},
	{neither, "SELECT now() + make_interval(secs => 5)"}, {neither, "SELECT 1; UPDATE t SET; SELECT 2"},
	{forMySQL, "DELETE FROM jobs RETURNING"}, // a table's other name
	{neither, "DELETE FROM jobs WHERE id = 1 RETURNING"}, {neither, "DELETE FROM jobs RETURNING id LIMIT 5"}, {neither, "DELETE FROM jobs RETURNING id, FROM x"},
	{neither, "DELETE FROM jobs WHERE RETURNING id"}, {neither, "SELECT id FROM jobs RETURNING id"}, {neither, "DELETE FROM jobs RETURNING id) FROM (SELECT 1"},
	{neither, "CREATE TABLE t (id uuid primry key)"}, {neither, "CREATE TABLE t (id uuid,, b int)"}, {neither, "ALTER TABLE t ADD COLUMN"}, {neither, "CREATE TABLE t (id int"},
	{neither, "CREATE TABLE t (id int) GARBAGE"}, {neither, "ALTER TABLE t FROB, ADD c uuid"}, {neither, "CREATE INDEX i ON t (a uuid)"},
	{neither, "SELECT " + strings.Repeat("(", 10000) + "1" + strings.Repeat(")", 10000)},
}

func TestCheckMySQL(t *testing.T) {
	for _, tt := range samples {
		for _, grammar := range []string{"mysql", "mariadb"} {
			want := tt.passes == both || tt.passes == forMySQL && grammar == "mysql" || tt.passes == forMariaDB && grammar == "mariadb"
			if err := Check(grammar, tt.sql); (err == nil) != want {
				t.Errorf("%s, %.200q: %v", grammar, tt.sql, err)
			}
		}
	}
}
