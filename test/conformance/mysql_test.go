package conformance

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/qgen-dev/qgen/test/servers"
)

var (
	mysqlServers = mysqlFamily("mysql", "8.0.1", "8.0", &groupReplication)
	mariadb      = mysqlFamily("mariadb", "10.6", "10.8", &galera)
)

// mysqlFamily is MySQL or one of its kin; skips is the version since which
// locked rows can be passed over, descends that since which an index may go up
// and down.
func mysqlFamily(engine, skips, descends string, c *cluster) family {
	f := family{
		engine: engine, ddl: "mysql.sql", driver: "mysql", slow: true,
		skips: skips, descends: descends, cluster: c,
		strategies: []chosen{
			{"token", func(s *subject) bool { return s.shape.fence == "token" }},
			{"guarded", func(s *subject) bool { return !s.skipsLocked() }},
			{"lock_update", nil},
		},
		isolation: "read committed",
		expr:      func(c column) string { return c.mysql },
		insert:    insertMySQL,
		columns:   "SELECT count(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'jobs' AND column_name = ?",
		earlier:   earlierMySQL,
		wait:      "TIMESTAMPDIFF(MICROSECOND, NOW(6), due_at) / 1000000", due: "due_at = NOW(6)",
		rename:  "ALTER TABLE jobs CHANGE n number bigint NOT NULL",
		analyze: "ANALYZE TABLE jobs",
		freeze: func(tb testing.TB, t *table) {
			t.run(tb, "ALTER TABLE jobs STATS_PERSISTENT = 1, STATS_AUTO_RECALC = 0")
		},
		forced: [][]string{
			{"optimizer_switch='materialization=off,semijoin=off'"},
			{"optimizer_switch='mrr=on,mrr_cost_based=off,index_condition_pushdown=off'"},
			{"eq_range_index_dive_limit=1", "optimizer_search_depth=1", "optimizer_prune_level=0"},
		},
		impatient: []string{"innodb_lock_wait_timeout=1", "lock_wait_timeout=1"},
		settings: map[string][]string{
			"interpolated": {"interpolateParams=true"},
			"both":         {"interpolateParams=true", "clientFoundRows=true"},
			"other times":  {"clientFoundRows=true", "parseTime=false", "loc=America/New_York", "time_zone='+05:30'"},
		},
	}
	f.with = func(t testing.TB, dsn, name, value string) string {
		return changed(t, dsn, func(c *mysql.Config) {
			if slices.Contains([]string{"interpolateParams", "clientFoundRows", "parseTime", "loc"}, name) {
				config, err := mysql.ParseDSN("/?" + name + "=" + url.QueryEscape(value))
				if err != nil {
					t.Fatal(err)
				}
				c.InterpolateParams = c.InterpolateParams || config.InterpolateParams
				c.ClientFoundRows = c.ClientFoundRows || config.ClientFoundRows
				c.ParseTime = c.ParseTime && name != "parseTime"
				c.Loc = config.Loc
				return
			}
			if c.Params == nil {
				c.Params = map[string]string{}
			}
			c.Params[name] = value
		})
	}
	f.place = func(t testing.TB, s *subject) string {
		dsn := s.addresses(t)[0]
		name := servers.Create(t, f.open(t, s.seeing(t, dsn, abreast), 1), "DATABASE")
		return changed(t, dsn, func(c *mysql.Config) { c.DBName = name })
	}
	f.locked = func(tb testing.TB, t *table) int {
		if before(t.version, skips) {
			return t.lockedOneByOne(tb)
		}
		return lockedBySkipping(tb, t)
	}
	f.misset = func(tb testing.TB, t *table) map[string]queue {
		other := t.bareTable(tb)
		other.run(tb, "ALTER TABLE jobs ENGINE = MyISAM")
		wrong := map[string]queue{"no row locks": other.reconnect(tb).q}
		if refusesPrepared(t.subject) {
			wrong["interpolateParams=true"] = t.preparing(tb).q
		}
		if collect[int](tb, t.db, "SELECT @@log_bin")[0] == 1 {
			wrong["binlog_format is STATEMENT"] = t.reconnect(tb, "binlog_format='STATEMENT'").q
		}
		return wrong
	}
	f.quiet = quietMySQL
	f.plans = plansMySQL
	f.byKey = byKeyMySQL
	f.conflicts = conflictsMySQL
	return f
}

// changed returns the DSN with something in it changed.
func changed(t testing.TB, dsn string, change func(*mysql.Config)) string {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	return config.FormatDSN()
}

// insertMySQL counts with digits: not every server has a series.
func insertMySQL(columns, values, direction string, first, last int) string {
	const digit = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 " +
		"UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS d"
	sum, from, power := strconv.Itoa(first), "", 1
	for i := range len(strconv.Itoa(last - first)) {
		sum += fmt.Sprintf(" + %d * d%d.d", power, i)
		if i > 0 {
			from += " CROSS JOIN "
		}
		from += digit + strconv.Itoa(i)
		power *= 10
	}
	return fmt.Sprintf("INSERT INTO jobs (%s) SELECT %s FROM (SELECT %s AS g FROM %s) AS series WHERE g <= %d ORDER BY g%s",
		columns, values, sum, from, last, direction)
}

// earlierMySQL asks the column how it keeps time.
func earlierMySQL(tb testing.TB, t *table, c string) string {
	kind := collect[string](tb, t.db, "SELECT data_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?", t.claims(), c)[0]
	if kind == "datetime" || kind == "timestamp" {
		return c + " - INTERVAL 2 HOUR"
	}
	return fmt.Sprintf("%s - CASE WHEN %[1]s > 100000000000000 THEN 7200000000 WHEN %[1]s > 100000000000 THEN 7200000 ELSE 7200 END", c)
}

// recorder is a connector that remembers what is sent through it.
type recorder struct {
	driver.Connector
	mu   sync.Mutex
	seen []sent
}

// sent is a statement as it was sent.
type sent struct {
	query string
	args  []any
}

func (r *recorder) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recorded{c.(mysqlConn), r}, nil
}

// taken returns the statements since the last call.
func (r *recorder) taken() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

func (r *recorder) add(query string, args []driver.NamedValue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := sent{query: query}
	for _, a := range args {
		s.args = append(s.args, a.Value)
	}
	r.seen = append(r.seen, s)
}

// mysqlConn is what the driver's connections can do and database/sql asks for.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.SessionResetter
	driver.Validator
	driver.Pinger
}

// recorded is a connection whose statements are remembered.
type recorded struct {
	mysqlConn
	r *recorder
}

func (c *recorded) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.r.add(query, args)
	return c.mysqlConn.QueryContext(ctx, query, args)
}

func (c *recorded) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.r.add(query, args)
	return c.mysqlConn.ExecContext(ctx, query, args)
}

// listener is a single connection whose statements and work are told.
type listener struct {
	*table
	*recorder
	conn *sql.DB
}

// listen connects so that statements and their work can be seen.
func (t *table) listen(tb testing.TB) (*listener, queue) {
	tb.Helper()
	config, err := mysql.ParseDSN(t.dsn)
	if err != nil {
		tb.Fatal(err)
	}
	config.InterpolateParams = true // so that each is sent whole
	connector, err := mysql.NewConnector(config)
	if err != nil {
		tb.Fatal(err)
	}
	l := &listener{table: t, recorder: &recorder{Connector: connector}}
	l.conn = sql.OpenDB(l.recorder)
	l.conn.SetMaxOpenConns(1)
	tb.Cleanup(func() { _ = l.conn.Close() })
	return l, t.open(l.conn, "listener")
}

// work returns how many rows the session has read, and how many it has written.
// The question itself reads a few.
func (l *listener) work(tb testing.TB) (read, written int) {
	tb.Helper()
	rows, err := l.conn.Query("SHOW SESSION STATUS LIKE 'Handler\\_%'")
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			tb.Fatal(err)
		}
		switch name = strings.ToLower(name); {
		case strings.HasPrefix(name, "handler_read_"):
			read += n
		case name == "handler_update", name == "handler_delete":
			written += n
		}
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return read, written
}

// reads returns how many rows the session reads while fn runs.
func (l *listener) reads(tb testing.TB, fn func()) int {
	tb.Helper()
	first, _ := l.work(tb)
	second, _ := l.work(tb)
	fn()
	last, _ := l.work(tb)
	return last - second - (second - first)
}

// step is a line of EXPLAIN.
type step struct{ table, access, index, extra string }

// of explains the statements of an operation since the last call.
func (l *listener) of(tb testing.TB, operation string) map[string][]step {
	tb.Helper()
	plans := map[string][]step{}
	for _, s := range l.recorder.taken() {
		if l.tagged(s.query, operation) {
			plans[s.query] = l.explain(tb, s)
		}
	}
	if len(plans) == 0 {
		tb.Fatalf("no statement of %s was sent; its text has to be tagged with the package and the operation", operation)
	}
	return plans
}

// explain asks for the plan of a statement.
func (l *listener) explain(tb testing.TB, s sent) []step {
	tb.Helper()
	if strings.HasPrefix(s.query, "BEGIN") {
		return nil // a block has no plan, its statements have
	}
	query := s.query
	if strings.HasPrefix(query, "/*") { // a setting, which stands in front of the word as well
		_, query, _ = strings.Cut(query, "\n")
	}
	rows, err := l.conn.Query("EXPLAIN FORMAT = TRADITIONAL "+query, s.args...)
	if err != nil {
		tb.Fatalf("%v\n%s", err, s.query)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	var steps []step
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		dest := make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			tb.Fatal(err)
		}
		value := func(name string) string { return values[slices.Index(names, name)].String }
		steps = append(steps, step{value("table"), value("type"), value("key"), value("Extra")})
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	l.recorder.taken()
	return steps
}

// plansMySQL claims a few jobs, asks for the plans of what was sent, and counts
// the rows that were read.
func plansMySQL(t *testing.T, x *table) {
	l, q := x.listen(t)
	for _, size := range []int{1, 100, 7} {
		read := l.reads(t, func() { x.takes(t, q, size) })
		if read > 1000 && x.strategy() != "partition" && !x.unordered() {
			t.Errorf("a claim of %d jobs reads %d rows", size, read)
		}
		for query, steps := range l.of(t, "Claim") {
			locks := strings.Contains(query, "FOR    UPDATE") || !strings.HasPrefix(query, "SELECT")
			for _, s := range steps {
				switch {
				case locks && strings.Contains(s.extra, "filesort") && !strings.HasPrefix(s.table, "<"): // rows that were read without locks
					t.Errorf("a claim of %d jobs sorts what it locks: %v\n%s", size, steps, query)
				case s.access == "ALL" && s.table == "jobs" && x.shape.finish != "" && x.strategy() != "partition":
					t.Errorf("a claim of %d jobs reads the whole table: %v\n%s", size, steps, query)
				}
			}
		}
	}
}

// byKeyMySQL settles a few of many jobs and counts the rows that were read.
func byKeyMySQL(t *testing.T, x *table, operations []string) {
	l, q := x.listen(t)
	jobs := x.taken(t, q, 2000)
	most := 1000
	if movesRows(x.subject) {
		most = 1500 // by several statements, each by the key
	}
	for i, name := range operations {
		l.recorder.taken()
		read := l.reads(t, func() { x.settles(t, q, name, jobs[i*100:i*100+100]) })
		if read > most {
			t.Errorf("%s of 100 jobs reads %d rows: %v", name, read, l.of(t, name))
		}
	}
}

// quietMySQL: no row is written, not even one of a table that is seen by nobody
// else, and the transaction has changed nothing.
func quietMySQL(t *testing.T, x *table, poll func(queue)) {
	l, q := x.listen(t)
	_, was := l.work(t)
	for range 5 {
		session, commit, end, err := q.session(limited(t, time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		poll(session)
		if err := commit(); err != nil {
			t.Fatal(err)
		}
		end()
	}
	if _, written := l.work(t); written != was {
		t.Errorf("idle polls wrote %d rows", written-was)
	}
	x.within(t, false, func(tx tx, q queue) {
		changed := func() (rows int) {
			for _, name := range []string{"Handler_update", "Handler_delete"} {
				var n int
				if err := tx.queryRow("SHOW SESSION STATUS WHERE Variable_name = '"+name+"'", new(string), &n); err != nil {
					t.Fatal(err)
				}
				rows += n
			}
			return rows
		}
		was := changed()
		poll(q)
		if n := changed() - was; n != 0 {
			t.Errorf("an idle poll changed %d rows", n)
		}
	})
}

// conflictsMySQL: a lock that is not to be had in time, and transactions that
// wait for each other.
func conflictsMySQL(t *testing.T, x *table, retryable func(string, error)) {
	ctx := limited(t, time.Minute)
	conn, err := x.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	impatient := x.reconnect(t, x.family.impatient...)
	tx, err := impatient.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(ctx, "LOCK TABLES jobs WRITE"); err != nil {
		t.Fatal(err)
	}
	_, err = impatient.open(tx.any, "w0").call(ctx, "Enqueue", impatient.q.newJob(9))
	if _, err := conn.ExecContext(ctx, "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	retryable("lock wait timeout", err)
	if err := tx.rollback(); err != nil {
		t.Fatal(err)
	}
	x.deadlock(t, retryable)
	if x.clustered() {
		x.undoneByNodes(t, retryable)
	}
}

// lockedOneByOne asks for every row by its key.
func (t *table) lockedOneByOne(tb testing.TB) int {
	tb.Helper()
	key := collect[string](tb, t.db, "SELECT column_name FROM information_schema.key_column_usage "+
		"WHERE table_schema = DATABASE() AND table_name = 'jobs' AND constraint_name = 'PRIMARY' ORDER BY ordinal_position")
	db := t.family.open(tb, t.reconnect(tb, t.family.impatient...).dsn, 1)
	rows, err := t.db.Query("SELECT " + strings.Join(key, ", ") + " FROM jobs")
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	locked := 0
	for rows.Next() {
		values, dest := make([][]byte, len(key)), make([]any, len(key))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			tb.Fatal(err)
		}
		for i, v := range values {
			dest[i] = v
		}
		var one int
		err := db.QueryRow("SELECT 1 FROM jobs FORCE INDEX (PRIMARY) WHERE "+strings.Join(key, " = ? AND ")+" = ? FOR UPDATE", dest...).Scan(&one)
		var e *mysql.MySQLError
		switch {
		case errors.As(err, &e) && e.Number == 1205:
			locked++
		case err != nil:
			tb.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return locked
}
