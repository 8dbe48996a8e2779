package conformance

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/qgen-dev/qgen/test/servers"
)

// This file runs packages on clusters of three nodes that all write. A node
// knows its own row locks only, and learns later what another one committed: of
// two transactions that change one row, the second is undone.

// cluster is a kind of cluster.
type cluster struct {
	server string // among the live ones
	recipe string // in test/servers, that starts one
	// impatient are options of servers that let go of a dead node soon. They are for
	// tests of that: a node that is merely slow must not be taken for dead.
	impatient []string
	// abreast is a setting for sessions that see what was committed on any node
	// before they ask.
	abreast string
	// settings are what a package asks its users to say in the DSN.
	settings []string
	// waits: claims wait for locked rows, because nodes do not bear passing over them.
	waits bool
}

var (
	galera = cluster{
		server: "galera", recipe: "galera.sh", abreast: "wsrep_sync_wait=7",
		settings: []string{"interpolateParams=true"}, waits: true,
	}
	groupReplication = cluster{
		server: "groupreplication", recipe: "group.sh", abreast: "group_replication_consistency='BEFORE'",
		// Otherwise that takes 20 s, in which the others hardly get on (tried on 9.7).
		impatient: []string{"--group-replication-member-expel-timeout=0"},
	}
)

// join returns the subject as its server takes part in the suite: on a cluster with
// the settings that packages ask for, and in the drill of all packages there.
func (s *subject) join(drills map[*cluster]*drill) *subject {
	if !s.clustered() {
		return s
	}
	c := s.family.cluster
	if drills[c] == nil {
		drills[c] = &drill{}
	}
	s.settings, s.drill = c.settings, drills[c]
	s.drill.subjects = append(s.drill.subjects, s)
	return s
}

func onCluster(s *subject) bool { return s.clustered() }

// settlesElsewhere: a job can be settled on another node than that of its claim.
func settlesElsewhere(s *subject) bool { return s.clustered() && marksRunning(s) }

// addresses returns the DSNs of the server's nodes; a single server is one.
func (s *subject) addresses(t testing.TB) []string {
	t.Helper()
	if s.nodes != nil {
		return s.nodes
	}
	return servers.Nodes(t, s.name)
}

// sight is how sessions see what was committed on other nodes.
type sight bool

const (
	lagging sight = false // some time later
	abreast sight = true  // before they are answered
)

// seeing returns the DSN for sessions with that sight. A single server's have
// both.
func (s *subject) seeing(t testing.TB, dsn string, see sight) string {
	t.Helper()
	if !s.clustered() || see == lagging {
		return dsn
	}
	name, value, _ := strings.Cut(s.family.cluster.abreast, "=")
	return s.family.with(t, dsn, name, value)
}

// on returns the table as node i shows it to such sessions, and a queue there. The
// node has caught up by then. A single server is all nodes.
func (t *table) on(tb testing.TB, i int, see sight) *table {
	tb.Helper()
	if !t.clustered() {
		return t
	}
	other := *t
	other.dsn = t.seeing(tb, t.catchUp(tb, i), see)
	other.conn = other.connect(tb, 24)
	other.q = other.open(other.conn, "w0")
	return &other
}

// catchUp waits until node i shows what was committed before, and returns its DSN.
func (t *table) catchUp(tb testing.TB, i int) string {
	tb.Helper()
	node, err := mysql.ParseDSN(t.addresses(tb)[i])
	if err != nil {
		tb.Fatal(err)
	}
	var place string
	dsn := changed(tb, t.dsn, func(c *mysql.Config) { c.Addr, place = node.Addr, c.DBName })
	// A session cannot begin in a place that its node does not know yet.
	db, err := sql.Open(t.family.driver, t.seeing(tb, changed(tb, dsn, func(c *mysql.Config) { c.DBName = "" }), abreast))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	collect[int](tb, db, "SELECT count(*) FROM "+place+".jobs")
	return dsn
}

// everyNode returns the table on each node, a single server's once, and what is
// seen of the transactions that the cluster undoes; nil where there is none.
func (t *table) everyNode(tb testing.TB) ([]*table, *undone) {
	tb.Helper()
	if !t.clustered() {
		return []*table{t}, nil
	}
	seen := &undone{}
	var nodes []*table
	for i := range t.addresses(tb) {
		node := t.on(tb, i, lagging)
		config, err := mysql.ParseDSN(node.dsn)
		if err != nil {
			tb.Fatal(err)
		}
		connector, err := mysql.NewConnector(config)
		if err != nil {
			tb.Fatal(err)
		}
		db := sql.OpenDB(&witness{connector, seen})
		db.SetMaxOpenConns(24)
		db.SetMaxIdleConns(24)
		tb.Cleanup(func() { _ = db.Close() })
		node.conn = db
		node.q = node.open(db, "w0")
		nodes = append(nodes, node)
	}
	return nodes, seen
}

// preparing returns the table as sessions see it whose statements with arguments
// are prepared.
func (t *table) preparing(tb testing.TB) *table {
	tb.Helper()
	other := *t
	other.dsn = changed(tb, t.dsn, func(c *mysql.Config) { c.InterpolateParams = false })
	other.conn = other.connect(tb, 2)
	other.q = other.open(other.conn, "w0")
	return &other
}

// refusesPrepared: the package works in sessions alone that prepare no statements.
func refusesPrepared(s *subject) bool {
	return s.clustered() && slices.Contains(s.family.cluster.settings, "interpolateParams=true")
}

// proveRefusesPrepared: where a node can undo a transaction while it prepares a
// statement, and then says neither there nor at COMMIT, nothing is done in one.
func proveRefusesPrepared(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 4)
	ctx := limited(t, time.Minute)
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "interpolateParams=true") || s.pkg.retryable(err) {
			t.Errorf("%s: %v; want an error that asks for interpolateParams=true", what, err)
		}
	}
	other := x.preparing(t)
	if s.strategy() != "partition" { // whose Claim only reads
		jobs, err := other.q.claim(ctx, 1)
		refused("Claim", err)
		if len(jobs) > 0 {
			t.Errorf("Claim returned %d jobs all the same", len(jobs))
		}
	}
	_, err := other.q.enqueueMany(ctx, 5, 6)
	refused("EnqueueMany", err)
	other.within(t, false, func(_ tx, q queue) {
		_, err := q.enqueue(ctx, 7)
		refused("Enqueue in the caller's transaction", err)
	})
	x.check(t, states{ready: 4})
}

// again calls fn, on a cluster as often as its nodes undo each other's work.
func (s *subject) again(ctx context.Context, fn func() error) error {
	err := fn()
	for s.clustered() && ctx.Err() == nil && err != nil && s.pkg.retryable(err) {
		time.Sleep(5 * time.Millisecond)
		err = fn()
	}
	return err
}

// undone counts transactions that failed.
type undone struct {
	within, atCommit atomic.Int64 // at a statement, and when they committed
	committed        atomic.Int64 // COMMITs of the former, which a server may call done though nothing is left
}

// check fails the test when a transaction was committed after an error, or when
// nodes never met: then the test shows nothing.
func (u *undone) check(t *testing.T, s *subject) {
	t.Helper()
	if u == nil {
		return
	}
	if n := u.committed.Load(); n > 0 {
		t.Errorf("%d transactions were committed after an error in them", n)
	}
	t.Logf("%d transactions were undone at a statement, %d when they committed", u.within.Load(), u.atCommit.Load())
	if u.within.Load()+u.atCommit.Load() == 0 && s.strategy() != "partition" {
		t.Error("no transaction was undone: the nodes did not meet")
	}
}

// witness is a connector whose connections count what is undone.
type witness struct {
	driver.Connector
	seen *undone
}

func (w *witness) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &witnessed{mysqlConn: c.(mysqlConn), seen: w.seen}, nil
}

// witnessed is a connection of a witness.
type witnessed struct {
	mysqlConn
	seen   *undone
	failed bool // a statement of the present transaction
}

// note keeps in mind that the server refused a statement.
func (c *witnessed) note(err error) error {
	var e *mysql.MySQLError
	if errors.As(err, &e) && !c.failed {
		c.failed = true
		c.seen.within.Add(1)
	}
	return err
}

func (c *witnessed) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	c.failed = false
	tx, err := c.mysqlConn.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return &witnessedTx{tx, c}, nil
}

func (c *witnessed) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.mysqlConn.ExecContext(ctx, query, args)
	return result, c.note(err)
}

func (c *witnessed) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.mysqlConn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, c.note(err)
	}
	return &witnessedRows{rows, c}, nil
}

func (c *witnessed) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.mysqlConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, c.note(err)
	}
	return &witnessedStmt{stmt.(mysqlStmt), c}, nil
}

// witnessedTx is a transaction of a witness.
type witnessedTx struct {
	driver.Tx
	c *witnessed
}

func (t *witnessedTx) Commit() error {
	if t.c.failed {
		t.c.seen.committed.Add(1)
	}
	err := t.Tx.Commit()
	if err != nil {
		t.c.seen.atCommit.Add(1)
	}
	return err
}

// mysqlStmt is what the driver's prepared statements can do and database/sql asks for.
type mysqlStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
}

// witnessedStmt is a prepared statement of a witness.
type witnessedStmt struct {
	mysqlStmt
	c *witnessed
}

func (s *witnessedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.mysqlStmt.ExecContext(ctx, args)
	return result, s.c.note(err)
}

func (s *witnessedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.mysqlStmt.QueryContext(ctx, args)
	if err != nil {
		return nil, s.c.note(err)
	}
	return &witnessedRows{rows, s.c}, nil
}

// witnessedRows are rows of a witness: a server may refuse while it sends them.
type witnessedRows struct {
	driver.Rows
	c *witnessed
}

func (r *witnessedRows) Next(dest []driver.Value) error { return r.c.note(r.Rows.Next(dest)) }

// undoneByNodes has transactions of two nodes take one job. The second learns it
// from a statement when it waits, and otherwise from COMMIT; either says that the
// work may be tried again.
func (t *table) undoneByNodes(tb testing.TB, retryable func(string, error)) {
	tb.Helper()
	ctx := limited(tb, time.Minute)
	one, two := t.on(tb, 0, lagging), t.on(tb, 1, lagging)
	for try := range 6 {
		t.fill(tb, 1000+try, 1000+try)
		t.catchUp(tb, 1)
		first, second := one.takesJob(ctx, tb), two.takesJob(ctx, tb)
		if err := first.commit(); err != nil {
			tb.Fatal(err)
		}
		if try%2 == 0 {
			t.catchUp(tb, 1)
			_, err := two.q.withTx(second.any).claim(ctx, 1)
			retryable("a claim in a transaction that another node undid", err)
			_ = second.rollback()
			continue
		}
		retryable("COMMIT of what another node took", second.commit())
	}
}

// takesJob begins a transaction that takes the first ready job for good.
func (t *table) takesJob(ctx context.Context, tb testing.TB) tx {
	tb.Helper()
	x, err := t.begin(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	q := t.q.withTx(x.any)
	jobs := t.taken(tb, q, 1)
	if t.strategy() == "partition" { // where a claim only reads
		if err := q.complete(ctx, jobs...); err != nil {
			tb.Fatal(err)
		}
	}
	return x
}

// proveLaggingNode: a node that does not know yet what another committed does
// nothing wrong. Of a job that is still the worker's it says at worst ErrLost and
// leaves it alone; of one that is another's by now it always does.
func proveLaggingNode(t *testing.T, s *subject) {
	const total = 50
	x := s.newTable(t)
	x.fill(t, 1, total)
	ctx := limited(t, time.Minute)
	behind, level := x.on(t, 1, lagging), x.on(t, 1, abreast)
	for range total {
		jobs := x.taken(t, x.q, 1)
		err := behind.q.complete(ctx, jobs...)
		if errors.Is(err, s.pkg.lost) {
			if x.count(t, s.shape.running) != 1 {
				t.Error("a node that lags did something to a job that it called lost")
			}
			err = level.q.complete(ctx, jobs...)
		}
		if err != nil {
			t.Error(err)
		}
	}
	x.check(t, states{done: total})
	if !canReclaim(s) {
		return
	}
	third := x.on(t, 2, abreast)
	for i := range 20 {
		x.fill(t, total+1+i, total+1+i)
		old := x.taken(t, x.q, 1)
		x.expire(t)
		if third.q.has("Recover") {
			if n, err := third.q.sweep(ctx, "Recover", 10); n != 1 || err != nil {
				t.Fatalf("recovered %d jobs, %v; want 1", n, err)
			}
		}
		current := x.taken(t, third.q, 1)
		op := []string{"Complete", "Fail", "Requeue", "Extend"}[i%4]
		err := behind.q.settle(ctx, op, old...)
		// A node that is far behind on a busy machine may answer with a conflict for longer
		// than the package tries again; nothing is written then.
		for e := (*mysql.MySQLError)(nil); errors.As(err, &e) && e.Number == 3101 && ctx.Err() == nil; {
			err = behind.q.settle(ctx, op, old...)
		}
		if !errors.Is(err, s.pkg.lost) {
			t.Errorf("%s of a late worker on a node that lags returned %v, want ErrLost", op, err)
		}
		if err := third.q.complete(ctx, current...); err != nil {
			t.Errorf("after %s of a late worker the holder cannot complete: %v", op, err)
		}
	}
	x.check(t, states{done: total + 20})
}

// proveEveryNode: jobs that all nodes add at once are theirs by their keys, and
// rows that all nodes sweep at once are swept once each.
func proveEveryNode(t *testing.T, s *subject) {
	const each, part = 20, 7
	x := s.newTable(t)
	nodes, _ := x.everyNode(t)
	total := 2 * each * len(nodes)
	ctx := limited(t, time.Minute)
	keys := make([]any, total)
	x.together(t, nodes, "Enqueue", total, func(i int, node *table, found int) (int, error) {
		n := i*2*each + found
		if found >= each {
			many, err := node.q.enqueueMany(ctx, n, n+each-1)
			copy(keys[n:], many)
			return len(many), err
		}
		key, err := node.q.enqueue(ctx, n)
		keys[n] = key
		return boolInt(err == nil), err
	}, 2*each)
	x.check(t, states{ready: total})
	var jobs []job
	x.inSession(t, func(q queue) { jobs = x.taken(t, q, total) })
	for _, j := range jobs {
		if j.key() != keys[j.n()] {
			t.Errorf("job %d has the key %v, and was added as %v", j.n(), j.key(), keys[j.n()])
		}
	}
	if s.shape.lease != "" && s.method("Recover") {
		x.expire(t)
		x.together(t, nodes, "Recover", total, func(_ int, node *table, _ int) (int, error) { return node.q.sweep(ctx, "Recover", part) }, total)
		x.check(t, states{ready: total})
	}
	if canRedrive(s) {
		x.failAll(t, total)
		x.together(t, nodes, "Redrive", total, func(_ int, node *table, _ int) (int, error) { return node.q.sweep(ctx, "Redrive", part) }, total)
		x.check(t, states{ready: total})
	}
	if canPurge(s) {
		x.untilDue(t)
		if err := x.q.complete(ctx, x.taken(t, x.q, total)...); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
		x.together(t, nodes, "Purge", total, func(_ int, node *table, _ int) (int, error) { return node.q.purge(ctx, 0, part) }, total)
		x.check(t, states{})
	}
}

// together has all nodes call an operation at once, until they have found total
// rows between them or most each. It is told how many its node has found.
func (t *table) together(tb testing.TB, nodes []*table, what string, total int, call func(i int, node *table, found int) (int, error), most int) {
	tb.Helper()
	ctx := limited(tb, 30*time.Second)
	var (
		group sync.WaitGroup
		sum   atomic.Int64
	)
	errs := make([]error, len(nodes))
	for i, node := range nodes {
		group.Go(func() {
			for found := 0; found < most && int(sum.Load()) < total && ctx.Err() == nil; {
				n, err := call(i, node, found)
				found += n
				sum.Add(int64(n))
				if err != nil && !t.pkg.retryable(err) {
					errs[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	if int(sum.Load()) != total {
		tb.Fatalf("%s on %d nodes found %d rows, there are %d", what, len(nodes), sum.Load(), total)
	}
}

// TestHeldQueueFindsTheCluster: on a node of a cluster a row lock is no claim, and
// Verify of a package that was made for a single server says so.
func TestHeldQueueFindsTheCluster(t *testing.T) {
	for _, s := range live {
		if !s.clustered() || !s.up() {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			proved := false
			for _, e := range emittedPackages(t) {
				held := &subject{server: s, pkg: e, shape: shapes[e.shape]}
				if e.family != s.family || held.strategy() != "hold" {
					continue
				}
				proved = true
				x := held.newTable(t)
				if _, err := x.q.call(limited(t, time.Minute), "Verify"); err == nil || !strings.Contains(err.Error(), "one of a cluster") {
					t.Errorf("Verify of %s says %v, and should say that the server is one of a cluster", e.name, err)
				}
			}
			if !proved {
				t.Error("no package holds rows by their locks")
			}
		})
	}
}

// TestNothingReturnsRowsOfDelete: a statement of its own that deletes rows and
// returns them gives some of them out twice on Galera, which sends the rows before
// it knows whether they stay deleted, and runs the statement again (tried on
// 10.11). No package may have one, whether it is for a cluster or not.
func TestNothingReturnsRowsOfDelete(t *testing.T) {
	read := 0
	for _, e := range configured(t) {
		if e.family != &mariadb {
			continue
		}
		files, err := filepath.Glob(filepath.Join("gen", e.name, "sql", "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			read++
			if strings.Contains(withoutComments(readText(t, file)), "RETURNING") {
				t.Errorf("%s returns rows that it writes", file)
			}
		}
	}
	if read == 0 {
		t.Error("no statements were read")
	}
}
