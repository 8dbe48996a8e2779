package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// traps are what real tables, and the programs over them, get wrong; and where it is shown
// that a package does not: a file below the root, and what stands in it.
var traps = []struct {
	trap  string
	shown [][2]string
}{
	{"a row counts as mine because an UPDATE by its id changed it: the driver counts matched rows, or changed ones", [][2]string{
		{"test/conformance/mysql_test.go", `"clientFoundRows=true"`}, {"internal/plan/promises_test.go", "func TestTransitionsNameTheStateTheyLeave"}}},
	{"the fence is a time whose fraction the column, or the driver, does not keep", [][2]string{
		{"test/conformance/shape_test.go", `lease: "claimed_at", fence: "claimed"`}, {"test/conformance/mysql_test.go", `if kind == "datetime"`},
		{"test/wire/oraclequeues/statement_test.go", "func TestTimesAreFences"}}},
	{"IN (SELECT … LIMIT n FOR UPDATE SKIP LOCKED) is run anew for each row, and locks more than n", [][2]string{
		{"test/conformance/limit_test.go", "func TestFixturesOvershoot"}, {"test/conformance/conformance_test.go", `{"stale statistics",`}}},
	{"Oracle: FETCH FIRST with FOR UPDATE; ROWNUM counted before ORDER BY, and before locked rows are passed over", [][2]string{
		{"internal/plan/promises_test.go", `"ROWNUM <= "`}, {"internal/plan/testdata/oracle/email/email.golden.sql", "BULK COLLECT"}, {"test/plsql/plsql_test.go", "func TestGrammar"}}},
	{"Oracle: '' is null, so = '' is never true", [][2]string{
		{"internal/plan/testdata/oracle/errors/errors.golden", "Oracle takes '' for null"}}},
	{"a candidate is locked and not looked at again: somebody else has had it in between", [][2]string{
		{"test/conformance/conformance_test.go", `{"exclusive",`}, {"internal/emit/behaviour/shapes_test.go", "func TestGuardedTogether"},
		{"internal/emit/behaviour/transactions_test.go", "func TestClaimUnderAnOldSnapshot"}}},
	{"the state is part of the key, or the key changes with a step", [][2]string{
		{"test/conformance/conformance_test.go", `{"given back",`}, {"internal/plan/settle.go", "the key changes when a job is settled"}}},
	{"the state is the partition key, so a claim moves the row and changes its rowid or ctid", [][2]string{
		{"internal/plan/testdata/oracle/errors/errors.golden", "by which the table is partitioned"}}},
	{"the DDL of one table differs between servers", [][2]string{
		{"test/corpus/spring/mysql.sql", "qgen:"}, {"test/corpus/spring/oracle.sql", "qgen:"}, {"test/corpus/corpus_test.go", "func TestCorpus"}}},
	{"no comma before a constraint, statements that nothing separates", [][2]string{
		{"internal/schema/testdata/mssql/tables.golden", "table dbo.commas"}, {"internal/schema/mssql_test.go", "func TestStatementsNeedNothingBetween"}}},
	{"the key stands among the columns, at the end, in ALTER, in MODIFY; or in a text that the script runs", [][2]string{
		{"internal/schema/testdata/oracle/keys.sql", "PRIMARY KEY"}, {"internal/schema/testdata/mysql/migrations.sql", "MODIFY"},
		{"internal/queue/testdata/errors_key_text.mysql.golden", "Give a dump"}, {"internal/plan/testdata/oracle/errors/errors.golden", "Give a dump"}}},
	{"a column called id that is not the id, Status that is not the status", [][2]string{
		{"test/corpus/gammu/mysql.sql", "Status"}, {"test/corpus/lives_test.go", "Status and the update time say nothing of the queue"}}},
	{"priority 1 is the highest in one program and the lowest in another", [][2]string{
		{"internal/queue/testdata/errors_params.golden", "nothing says which priority goes first"}}},
	{"names that are words of SQL or of Go, that have blanks, dots or quotes", [][2]string{
		{"internal/generate/hostile_test.go", "func TestHostileNames"}, {"internal/emit/golden_test.go", "func TestHostileNames"}, {"internal/dialect/dialect_test.go", "func TestIdent"}}},
	{"dates that are none, and dates for always and never", [][2]string{
		{"test/corpus/actionscheduler_test.go", "func TestActionScheduler"}}},
	{"times as texts that do not sort, or of another precision than the default of the column", [][2]string{
		{"internal/queue/testdata/errors_more.golden", "do not sort as text"}, {"internal/queue/times.go", "layoutISO"}}},
	{"seconds since 1970 that were counted on a local clock", [][2]string{
		{"internal/queue/testdata/errors_more.golden", "which is the same on every clock"}}},
	{"a counter that is null at first; null that means no limit; null among the values that a row may not have", [][2]string{
		{"test/corpus/camunda_test.go", `t.Run("retries"`}, {"internal/queue/testdata/group.golden", "not in (0, null)"}}},
	{"a value longer than its column, an error text longer than its column", [][2]string{
		{"internal/queue/testdata/errors_values.golden", `but column "b" is varchar(7)`}, {"test/conformance/conformance_test.go", `{"fail",`}}},
	{"an order by a column that every change of a row writes", [][2]string{
		{"internal/queue/testdata/onupdate.mysql.golden", "has lost its place"}}},
	{"a time of the claim that the server writes with every change of a row, so that nothing settles the job", [][2]string{
		{"internal/plan/testdata/mysql/onupdate/jobs.golden.sql", "taken = taken"}}},
	{"a trigger that runs beside the claim: OUTPUT without INTO is refused, and it counts rows of its own", [][2]string{
		{"test/wire/mssql/audited_test.go", "func TestTriggeredList"}, {"test/corpus/gammu/postgresql.sql", "TRIGGER"}}},
	{"a unique index that lets one of two rows run, so that a claim of both fails whole", [][2]string{
		{"internal/plan/testdata/postgresql/collide/builds.golden.sql", "the unique index builds_active"}, {"test/corpus/buildbot_test.go", `t.Run("taken"`}}},
	{"a CHECK over two columns, which both change with the state", [][2]string{
		{"internal/queue/model_test.go", "func TestExpansionIsQueue"}, {"test/corpus/others/postgresql.sql", "CONSTRAINT finalized_or_finalized_at_null CHECK"}}},
	{"an engine without transactions or row locks", [][2]string{
		{"internal/plan/testdata/mysql/myisam/schema.sql", "MyISAM"}, {"test/corpus/gammu_test.go", `t.Run("exclusive"`}}},
	{"a foreign key frees the row of a worker that was deleted, and the worker goes on", [][2]string{
		{"test/corpus/buildbot_test.go", `t.Run("deleted master"`}}},
	{"rows that are alike in the column that a reader's mark is of", [][2]string{
		{"test/conformance/log_test.go", `{"whole values",`}}},
	{"keys of 16 bytes, unsigned keys of 64 bits", [][2]string{
		{"test/conformance/cases/binary/mysql.sql", "binary(16)"}, {"test/conformance/cases/unsigned/mysql.sql", "unsigned"}, {"test/corpus/watermill_test.go", `t.Run("bytes"`}}},
	{"rows of a dead worker that nobody resets", [][2]string{
		{"internal/plan/testdata/postgresql/narrowed/letters.golden.sql", "leaves its jobs running for good"}, {"test/corpus/mirth_test.go", `t.Run("crash"`}}},
}

// TestTraps holds the list to what there is.
func TestTraps(t *testing.T) {
	for _, x := range traps {
		if len(x.shown) == 0 {
			t.Errorf("nothing shows: %s", x.trap)
		}
		for _, at := range x.shown {
			text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(at[0])))
			if err != nil {
				t.Errorf("%s: %v", x.trap, err)
			} else if !strings.Contains(string(text), at[1]) {
				t.Errorf("%s: %s has no %q", x.trap, at[0], at[1])
			}
		}
	}
}
