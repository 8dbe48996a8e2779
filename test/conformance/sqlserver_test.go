package conformance

import (
	"database/sql"
	"database/sql/driver"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/qgen-dev/qgen/test/servers"
)

// This file holds SQL Server, which was not at hand either; see unseen_test.go.
// With QGEN_TEST_SQLSERVER set to a DSN of github.com/microsoft/go-mssqldb, the
// suite runs on it. Its user has to be one of sysadmin.

var sqlserver = family{
	engine: "mssql", ddl: "mssql.sql", driver: "conformance-sqlserver",
	skips: "2008", descends: "2008",
	strategies: []chosen{{"returning", nil}},
	isolation:  "read committed",
	shape:      withoutBooleans,
	expr: func(c column) string {
		return map[string]string{
			"region": "'r' + CAST(g % 3 AS varchar(1))", "seq": "g", "priority": "-g",
			"id":        "HASHBYTES('MD5', CAST(g AS varchar(20)))", // of a uniqueidentifier and of binary(16)
			"due_at":    "DATEADD(millisecond, g - 1000000, SYSDATETIMEOFFSET())",
			"hash_code": "NULLIF(g % 7, 0)",
		}[c.name]
	},
	insert: func(columns, values, direction string, first, last int) string {
		return fmt.Sprintf("WITH series AS (SELECT TOP (%d) %d + ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS g "+
			"FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b) INSERT INTO jobs (%s) SELECT %s FROM series ORDER BY g%s",
			last-first+1, first-1, columns, values, direction)
	},
	columns: "SELECT count(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'jobs' AND COLUMN_NAME = @p1",
	earlier: earlierSQLServer,
	wait:    "DATEDIFF_BIG(microsecond, SYSDATETIMEOFFSET(), due_at) / CAST(1000000 AS float)", due: "due_at = SYSDATETIMEOFFSET()",
	rename:  "EXEC sp_rename 'jobs.n', 'number', 'COLUMN'",
	analyze: "UPDATE STATISTICS jobs",
	freeze: func(tb testing.TB, t *table) {
		t.run(tb, "ALTER DATABASE CURRENT SET AUTO_UPDATE_STATISTICS OFF")
	},
	forced:    [][]string{{"FORCEPLAN=ON"}},
	impatient: []string{"LOCK_TIMEOUT=1000"},
	settings: map[string][]string{
		"uncounted":      {"NOCOUNT=ON"},
		"aborting":       {"XACT_ABORT=ON"},
		"other language": {"LANGUAGE=German", "DATEFORMAT=dmy"},
	},
}

func init() {
	sql.Register(sqlserver.driver, sessions{&mssql.Driver{}})
	f := &sqlserver // whose functions call what asks for families
	f.place = placeSQLServer
	f.with = withParameter
	f.locked = lockedSQLServer
	f.misset = missetSQLServer
	f.quiet = quietSQLServer
	f.plans = plansSQLServer
	f.byKey = byKeySQLServer
	f.conflicts = conflictsSQLServer
}

// sessions is the driver with DSNs that may say SET options in capitals, such as
// LOCK_TIMEOUT=1000, which every session of the pool then begins with.
type sessions struct{ driver.Driver }

var setOption = regexp.MustCompile(`^[A-Z][A-Z_ ]+$`)

// OpenConnector is what database/sql calls for a DSN.
func (s sessions) OpenConnector(dsn string) (driver.Connector, error) {
	dsn, options, err := cutParameters(dsn, setOption, "SET %s %s")
	if err != nil {
		return nil, err
	}
	slices.Reverse(options) // a language brings a date format of its own
	c, err := mssql.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	c.SessionInitSQL = strings.Join(options, "; ")
	return c, nil
}

// placeSQLServer creates a database. Like those of Azure it has row versions, with
// which the suite's own questions do not wait for what a transaction holds.
func placeSQLServer(t testing.TB, s *subject) string {
	dsn := servers.DSN(t, s.name)
	admin := s.family.open(t, dsn, 1)
	name := servers.Create(t, admin, "DATABASE")
	set := func(option string) {
		t.Helper()
		if _, err := admin.Exec("ALTER DATABASE " + name + " SET " + option); err != nil {
			t.Errorf("%s: %v", option, err)
		}
	}
	t.Cleanup(func() { set("SINGLE_USER WITH ROLLBACK IMMEDIATE") }) // sessions are in the way of DROP
	set("READ_COMMITTED_SNAPSHOT ON")
	return s.family.with(t, dsn, "database", name)
}

var bit = regexp.MustCompile(`\b(NOT )?(available|locked|processed)\b(?: = true)?`)

// withoutBooleans writes the conditions of a shape for a server on which a bit is
// a number.
func withoutBooleans(s *shape) *shape {
	other := *s
	for _, text := range []*string{&other.ready, &other.running, &other.done, &other.failed, &other.finish} {
		*text = bit.ReplaceAllStringFunc(*text, func(found string) string {
			m := bit.FindStringSubmatch(found)
			return m[2] + " = " + strconv.Itoa(boolInt(m[1] == ""))
		})
	}
	return &other
}

// earlierSQLServer asks the column how it keeps time.
func earlierSQLServer(tb testing.TB, t *table, c string) string {
	name := strings.Trim(c, `"`)
	kind := collect[string](tb, t.db, "SELECT DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = @p1 AND COLUMN_NAME = @p2", t.claims(), name)[0]
	if kind != "bigint" {
		return "DATEADD(hour, -2, " + c + ")"
	}
	return fmt.Sprintf("%s - CASE WHEN %[1]s > 100000000000000 THEN 7200000000 WHEN %[1]s > 100000000000 THEN 7200000 ELSE 7200 END", c)
}

// lockedSQLServer counts the rows that are passed over.
func lockedSQLServer(tb testing.TB, t *table) int {
	tb.Helper()
	free, err := t.db.Begin()
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = free.Rollback() }()
	var n int
	// 1 is the table itself: its other indexes do not hold every row.
	err = free.QueryRow("SELECT count(*) FROM jobs WITH (INDEX(1), UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)").Scan(&n)
	if err != nil {
		tb.Fatal(err)
	}
	return collect[int](tb, t.db, "SELECT count(*) FROM jobs")[0] - n
}

// missetSQLServer returns what Verify should complain of.
func missetSQLServer(tb testing.TB, t *table) map[string]queue {
	forced := t.bareTable(tb)
	forced.run(tb, "ALTER DATABASE CURRENT SET PARAMETERIZATION FORCED")
	wrong := map[string]queue{
		"PARAMETERIZATION":     forced.reconnect(tb).q,
		"above READ COMMITTED": t.reconnect(tb, "TRANSACTION ISOLATION LEVEL=SERIALIZABLE").q,
	}
	if t.pkg.shape != "audited" { // whose rows are not returned anyway
		fired := t.bareTable(tb)
		fired.run(tb, "CREATE TRIGGER unknown ON jobs AFTER UPDATE AS SET NOCOUNT ON")
		wrong["the trigger unknown"] = fired.reconnect(tb).q
	}
	return wrong
}

// quietSQLServer: nothing goes to the log of the database.
func quietSQLServer(t *testing.T, x *table, poll func(queue)) {
	x.within(t, false, func(tx tx, q queue) {
		poll(q)
		var logged int64
		err := tx.queryRow("SELECT COALESCE(SUM(d.database_transaction_log_bytes_used), 0) FROM sys.dm_tran_database_transactions AS d "+
			"INNER JOIN sys.dm_tran_session_transactions AS s ON s.transaction_id = d.transaction_id "+
			"WHERE s.session_id = @@SPID AND d.database_id = DB_ID()", &logged)
		if err != nil {
			t.Fatal(err)
		}
		if logged != 0 {
			t.Errorf("an idle poll wrote %d bytes to the log", logged)
		}
	})
}

// plansSQLServer claims a few jobs and looks for their plans among those that the
// server keeps.
func plansSQLServer(t *testing.T, x *table) {
	for _, size := range []int{1, 100, 7} {
		x.takes(t, x.q, size)
	}
	advised := ""
	if len(x.advice(t)) > 0 {
		advised = x.advisedIndex(t)
	}
	plans := x.accesses(t, "Claim") // of all its statements, one of which picks
	ordered := slices.ContainsFunc(slices.Concat(plans...), func(a access) bool {
		return a.table == "jobs" && a.ordered && (advised == "" || a.index == advised)
	})
	if !ordered && x.strategy() != "partition" {
		t.Errorf("the claim does not follow the index %s: %v", advised, plans)
	}
}

// byKeySQLServer settles a few of many jobs and looks at the plans.
func byKeySQLServer(t *testing.T, x *table, operations []string) {
	jobs := slices.Concat(x.taken(t, x.q, 1000), x.taken(t, x.q, 1000))
	for i, name := range operations {
		x.settles(t, x.q, name, jobs[i*100:i*100+100])
		for _, plan := range x.accesses(t, name) {
			for _, a := range plan {
				if a.table == "jobs" && !a.seeks {
					t.Errorf("%s reads the whole table: %v", name, plan)
				}
			}
		}
	}
}

// access is how a plan reads rows of a table.
type access struct {
	table, index   string
	ordered, seeks bool
}

// accesses returns how the statements of an operation read tables, of each plan
// that the server keeps for one.
func (t *table) accesses(tb testing.TB, operation string) [][]access {
	tb.Helper()
	plans := collect[string](tb, t.db, "SELECT p.query_plan FROM sys.dm_exec_query_stats AS s "+
		"CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t "+
		"CROSS APPLY sys.dm_exec_text_query_plan(s.plan_handle, s.statement_start_offset, s.statement_end_offset) AS p "+
		"CROSS APPLY sys.dm_exec_plan_attributes(s.plan_handle) AS a "+
		"WHERE a.attribute = 'dbid' AND CAST(a.value AS int) = DB_ID() AND CHARINDEX(@p1, t.text) > 0 AND p.query_plan IS NOT NULL",
		fmt.Sprintf("/* %s.%s */", t.pkg.name, operation))
	var all [][]access
	for _, plan := range plans {
		if found := readPlan(tb, plan); len(found) > 0 {
			all = append(all, found)
		}
	}
	if len(all) == 0 {
		tb.Fatalf("the server keeps no plan of %s; its text has to be tagged with the package and the operation", operation)
	}
	return all
}

// readPlan finds what reads tables in a plan: IndexScan is seeks, too, and a table
// without an index of its order has TableScan.
func readPlan(tb testing.TB, plan string) []access {
	tb.Helper()
	var all []access
	decoder := xml.NewDecoder(strings.NewReader(plan))
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is said to be UTF-16
	inside := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			tb.Fatalf("%v in %s", err, plan)
		}
		switch element := token.(type) {
		case xml.StartElement:
			attribute := func(name string) string {
				i := slices.IndexFunc(element.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
				if i < 0 {
					return ""
				}
				return strings.Trim(element.Attr[i].Value, "[]")
			}
			switch element.Name.Local {
			case "IndexScan", "TableScan":
				inside = true
				all = append(all, access{ordered: attribute("Ordered") == "1" || attribute("Ordered") == "true"})
			case "SeekPredicates":
				if inside {
					all[len(all)-1].seeks = true
				}
			case "Object":
				if inside {
					all[len(all)-1].table, all[len(all)-1].index = attribute("Table"), attribute("Index")
				}
			}
		case xml.EndElement:
			if element.Name.Local == "IndexScan" || element.Name.Local == "TableScan" {
				inside = false
			}
		}
	}
}

// conflictsSQLServer: a lock that is not to be had in time, and transactions that
// wait for each other.
func conflictsSQLServer(t *testing.T, x *table, retryable func(string, error)) {
	ctx := limited(t, time.Minute)
	impatient := x.reconnect(t, x.family.impatient...)
	tx, err := impatient.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	held, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.ExecContext(ctx, "UPDATE jobs WITH (TABLOCKX) SET n = n"); err != nil {
		t.Fatal(err)
	}
	_, err = impatient.open(tx.any, "w0").call(ctx, "Enqueue", impatient.q.newJob(9))
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	retryable("lock time-out", err)
	if err := tx.rollback(); err != nil {
		t.Fatal(err)
	}
	x.deadlock(t, retryable)
}

// procedures returns the batches of the package's schema/procedures.sql, between which GO
// stands alone on a line.
func (s *subject) procedures(t testing.TB) []string {
	t.Helper()
	path := filepath.Join("gen", s.pkg.name, "schema", "procedures.sql")
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil // it sends its statements itself
	}
	batches := regexp.MustCompile(`(?m)^GO$`).Split(strings.TrimSpace(readText(t, path)), -1)
	return slices.DeleteFunc(batches, func(batch string) bool { return batch == "" })
}

// A shape says the same with bits.
func TestShapesWithoutBooleans(t *testing.T) {
	for _, test := range []struct{ shape, got, want string }{
		{"boolean", withoutBooleans(shapes["boolean"]).ready, "available = 1"},
		{"boolean", withoutBooleans(shapes["boolean"]).running, "available = 0"},
		{"several", withoutBooleans(shapes["several"]).running, "state = 'N' AND locked = 1"},
		{"several", withoutBooleans(shapes["several"]).failed, "state = 'E' AND locked = 0"},
		{"partition", withoutBooleans(shapes["partition"]).finish, "processed = 1"},
		{"single", withoutBooleans(shapes["single"]).ready, statusReady},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.shape, test.got, test.want)
		}
	}
}

// A plan as the server tells it.
func TestReadPlan(t *testing.T) {
	const plan = `<?xml version="1.0" encoding="utf-16"?><ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan"><RelOp>` +
		`<IndexScan Ordered="true" ScanDirection="FORWARD"><DefinedValues/><Object Database="[q]" Schema="[dbo]" Table="[jobs]" Index="[jobs_ready]" IndexKind="NonClustered"/></IndexScan>` +
		`<IndexScan Ordered="1"><Object Table="[jobs]" Index="[PK_jobs]"/><SeekPredicates/></IndexScan>` +
		`<Update><Object Table="[jobs]" Index="[jobs_ready]"/></Update><TableScan Ordered="false"><Object Table="[heap]"/></TableScan></RelOp></ShowPlanXML>`
	want := []access{{"jobs", "jobs_ready", true, false}, {"jobs", "PK_jobs", true, true}, {"heap", "", false, false}}
	if got := readPlan(t, plan); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Options become statements with which sessions begin.
func TestSessionOptions(t *testing.T) {
	dsn := sqlserver.with(t, "sqlserver://sa:x@127.0.0.1?database=a", "TRANSACTION ISOLATION LEVEL", "SERIALIZABLE")
	dsn = sqlserver.with(t, dsn, "LOCK_TIMEOUT", "1000")
	c, err := sessions{}.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	const want = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SET LOCK_TIMEOUT 1000"
	if got := c.(*mssql.Connector).SessionInitSQL; got != want {
		t.Errorf("sessions begin with %q, want %q", got, want)
	}
}
