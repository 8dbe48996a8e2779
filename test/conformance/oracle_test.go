package conformance

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	go_ora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"

	"github.com/qgen-dev/qgen/test/servers"
)

// This file holds Oracle, which was not at hand either; see unseen_test.go. With
// QGEN_TEST_ORACLE set to a DSN of github.com/sijms/go-ora/v2, the suite runs on
// it. Its user has to be a DBA of a pluggable database.

var oracle = family{
	engine: "oracle", ddl: "oracle.sql", driver: "conformance-oracle", slow: true, oneLevel: true,
	skips: "11.1", inCursors: true, descends: "11.1",
	strategies: []chosen{{"block", nil}},
	shape: func(s *shape) *shape {
		if s != shapes["rowid"] {
			return withoutBooleans(s)
		}
		// A place that may change is a key only while the row is locked.
		keyless := *shapes["hold"]
		keyless.ordered = true
		return &keyless
	},
	expr: func(c column) string {
		return map[string]string{
			"region": "'r' || MOD(g, 3)", "seq": "g", "priority": "-g",
			"id":        "STANDARD_HASH(g, 'MD5')",
			"due_at":    "SYSTIMESTAMP - NUMTODSINTERVAL((1000000 - g) / 1000, 'SECOND')",
			"hash_code": "NULLIF(MOD(g, 7), 0)",
		}[c.name]
	},
	insert: func(columns, values, direction string, first, last int) string {
		return fmt.Sprintf("INSERT INTO jobs (%s) SELECT %s FROM (SELECT LEVEL + %d AS g FROM DUAL CONNECT BY LEVEL <= %d) ORDER BY g%s",
			columns, values, first-1, last-first+1, direction)
	},
	columns: "SELECT count(*) FROM user_tab_columns WHERE table_name = 'JOBS' AND column_name = UPPER(:1)",
	earlier: earlierOracle,
	wait: "(SELECT EXTRACT(DAY FROM w) * 86400 + EXTRACT(HOUR FROM w) * 3600 + EXTRACT(MINUTE FROM w) * 60 + EXTRACT(SECOND FROM w) " +
		"FROM (SELECT due_at - SYSTIMESTAMP AS w FROM DUAL))",
	due:     "due_at = SYSTIMESTAMP",
	rename:  "ALTER TABLE jobs RENAME COLUMN n TO num",
	analyze: "BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, 'JOBS', force => TRUE); END;",
	freeze: func(tb testing.TB, t *table) {
		t.run(tb, "BEGIN DBMS_STATS.LOCK_TABLE_STATS(USER, 'JOBS'); END;")
	},
	forced: [][]string{{"optimizer_mode=FIRST_ROWS_1"}, {"optimizer_index_cost_adj=10000"}, {"optimizer_index_cost_adj=1"}},
	settings: map[string][]string{
		"other formats": {
			"nls_language=GERMAN", "nls_territory=GERMANY", "nls_numeric_characters=',.'", "time_zone='+05:30'",
			"nls_date_format='DD.MM.RR'", "nls_timestamp_format='DD.MM.RR HH24:MI'", "nls_timestamp_tz_format='DD.MM.RR HH24:MI TZR'",
		},
		"blind to case": {"nls_comp=LINGUISTIC", "nls_sort=BINARY_CI"},
		"row by row":    {"PREFETCH_ROWS=1"},
	},
}

func init() {
	sql.Register(oracle.driver, oracleSessions{go_ora.NewDriver()})
	f := &oracle // whose functions call what asks for families
	f.place = placeOracle
	f.with = withParameter
	f.locked = lockedBySkipping
	f.misset = func(tb testing.TB, t *table) map[string]queue {
		if len(t.advice(tb)) == 0 {
			return nil
		}
		return map[string]queue{"is missing": t.bareTable(tb).reconnect(tb).q}
	}
	f.quiet = quietOracle
	f.plans = plansOracle
	f.byKey = byKeyOracle
	f.conflicts = conflictsOracle
}

// oracleSessions is the driver with DSNs that may name parameters of sessions in
// small letters, such as nls_sort=BINARY_CI, which every session of the pool then
// begins with.
type oracleSessions struct{ driver.Driver }

var sessionParameter = regexp.MustCompile(`^[a-z_]+$`)

// OpenConnector is what database/sql calls for a DSN.
func (s oracleSessions) OpenConnector(dsn string) (driver.Connector, error) {
	dsn, alter, err := cutParameters(dsn, sessionParameter, "ALTER SESSION SET %s = %s")
	if err != nil {
		return nil, err
	}
	return altered{go_ora.NewConnector(dsn), alter}, nil
}

// altered is a connector whose sessions begin with statements.
type altered struct {
	driver.Connector
	alter []string
}

func (a altered) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := a.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, statement := range a.alter {
		if _, err := c.(driver.ExecerContext).ExecContext(ctx, statement, nil); err != nil {
			_ = c.Close()
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return c, nil
}

// placeOracle creates a user, who is a schema as well. He may look at how much
// his sessions do.
func placeOracle(t testing.TB, s *subject) string {
	dsn := servers.DSN(t, s.name)
	name := fmt.Sprintf("CONFORMANCE_%016X", rand.Uint64())
	admin := s.family.open(t, dsn, 1)
	t.Cleanup(func() { dropOracle(t, admin, name) })
	for _, statement := range []string{
		"CREATE USER " + name + " IDENTIFIED BY " + name,
		"GRANT CREATE SESSION, ALTER SESSION, CREATE TABLE, CREATE SEQUENCE, UNLIMITED TABLESPACE, SELECT ANY DICTIONARY TO " + name,
	} {
		if _, err := admin.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, name)
	return u.String()
}

// dropOracle drops a user, whose last sessions may take a moment to end.
func dropOracle(t testing.TB, admin *sql.DB, name string) {
	const connected = 1940
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		_, err := admin.Exec("DROP USER " + name + " CASCADE")
		var e *network.OracleError
		if errors.As(err, &e) && e.ErrCode == connected && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			t.Error(err)
		}
		return
	}
}

// earlierOracle asks the column how it keeps time.
func earlierOracle(tb testing.TB, t *table, c string) string {
	name, quoted := strings.CutPrefix(c, `"`)
	if quoted {
		name = strings.TrimSuffix(name, `"`)
	} else {
		name = strings.ToUpper(c)
	}
	kind := collect[string](tb, t.db, "SELECT data_type FROM user_tab_columns WHERE table_name = :1 AND column_name = :2", strings.ToUpper(t.claims()), name)[0]
	if kind != "NUMBER" {
		return c + " - INTERVAL '2' HOUR"
	}
	return fmt.Sprintf("%s - CASE WHEN %[1]s > 100000000000000 THEN 7200000000 WHEN %[1]s > 100000000000 THEN 7200000 ELSE 7200 END", c)
}

// sessionFigure asks for what the session has done so far.
const sessionFigure = "SELECT s.value FROM v$mystat s INNER JOIN v$statname n ON n.statistic# = s.statistic# WHERE n.name = "

// quietOracle: the session writes no redo. A poll that does, does so every time;
// that others clean up blocks when they read them comes and goes.
func quietOracle(t *testing.T, x *table, poll func(queue)) {
	x.within(t, false, func(tx tx, q queue) {
		var redo [2]int64
		for deadline := time.Now().Add(20 * time.Second); ; {
			for i := range redo {
				if err := tx.queryRow(sessionFigure+"'redo size'", &redo[i]); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					poll(q)
				}
			}
			if redo[0] == redo[1] {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("every idle poll writes redo; the last wrote %d bytes", redo[1]-redo[0])
			}
		}
	})
}

// gets returns how many blocks the only session of the table's queue reads while
// fn runs.
func (t *table) gets(tb testing.TB, fn func()) int64 {
	tb.Helper()
	read := func() int64 {
		return collect[int64](tb, t.conn.(*sql.DB), sessionFigure+"'session logical reads'")[0]
	}
	was := read()
	fn()
	return read() - was
}

// plansOracle claims a few jobs and counts the blocks that are read: several for
// each job, and not those of the whole table.
func plansOracle(t *testing.T, x *table) {
	one := x.reconnect(t)
	for _, size := range []int{1, 100, 7} {
		one.takes(t, one.q, size) // parses the statements, for which the dictionary is read
		gets := one.gets(t, func() { one.takes(t, one.q, size) })
		if most := int64(200 + 30*size); gets > most && x.strategy() != "partition" {
			t.Errorf("a claim of %d jobs reads %d blocks, want %d at most", size, gets, most)
		}
	}
}

// byKeyOracle settles a few of many jobs and counts the blocks that are read.
func byKeyOracle(t *testing.T, x *table, operations []string) {
	const part = 100
	one := x.reconnect(t)
	jobs := one.taken(t, one.q, 1000)
	for i, name := range operations {
		from := 2 * i * part
		one.settles(t, one.q, name, jobs[from:from+part])
		gets := one.gets(t, func() { one.settles(t, one.q, name, jobs[from+part:from+2*part]) })
		if gets > 30*part {
			t.Errorf("%s of %d jobs reads %d blocks", name, part, gets)
		}
	}
}

// conflictsOracle: transactions that wait for each other, and one that sees the
// table as it was and writes what has changed since.
func conflictsOracle(t *testing.T, x *table, retryable func(string, error)) {
	x.deadlock(t, retryable)
	if !canComplete(x.subject) || x.strategy() == "hold" {
		return
	}
	ctx := limited(t, time.Minute)
	job := x.taken(t, x.q, 1)
	old, err := x.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.rollback() }()
	if _, err := old.any.(*sql.Tx).ExecContext(ctx, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := old.queryRow("SELECT count(*) FROM jobs", &n); err != nil {
		t.Fatal(err)
	}
	if err := x.q.complete(ctx, job...); err != nil {
		t.Fatal(err)
	}
	retryable("serialization", x.q.withTx(old.any).complete(ctx, job...))
}

// Parameters become statements with which sessions begin, and the driver sees
// its own options only.
func TestSessionParameters(t *testing.T) {
	dsn := oracle.with(t, "oracle://u:p@127.0.0.1:1521/pdb", "nls_sort", "BINARY_CI")
	dsn = oracle.with(t, dsn, "PREFETCH_ROWS", "1")
	c, err := oracleSessions{}.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	begins := c.(altered)
	if want := []string{"ALTER SESSION SET nls_sort = BINARY_CI"}; !slices.Equal(begins.alter, want) {
		t.Errorf("sessions begin with %q, want %q", begins.alter, want)
	}
	if want := go_ora.NewConnector("oracle://u:p@127.0.0.1:1521/pdb?PREFETCH_ROWS=1"); !reflect.DeepEqual(begins.Connector, want) {
		t.Errorf("the driver sees %+v, want %+v", begins.Connector, want)
	}
}
