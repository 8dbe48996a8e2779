package conformance

import (
	"cmp"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/servers"
)

// This file lists the servers on which packages run. Servers of a family differ
// in nothing but their versions; what a test must know of a family stands in its
// value, so that no test asks for a server by name.

// server is a server on which packages run.
type server struct {
	name    string // as test/servers knows it; "sqlite", which needs none
	version string // "" where there is one only
	family  *family
	jobs    int // that 16 workers drain, once for each strategy
}

// live are all servers. A package runs on those of its engine that are no older
// than it asks for, one for clusters on those that are clusters.
var live = []server{
	{"postgres10", "10", &postgresql, 10_000},
	{"postgres13", "13", &postgresql, 10_000},
	{"postgres15", "15", &postgresql, 10_000},
	{"postgres18", "18", &postgresql, 100_000},
	{"mysql56", "5.6", &mysqlServers, 10_000},
	{"mysql97", "9.7", &mysqlServers, 10_000},
	{"mariadb105", "10.5", &mariadb, 10_000},
	{"mariadb1011", "10.11", &mariadb, 10_000},
	{"mariadb118", "11.8", &mariadb, 10_000},
	{"galera", "10.11", &mariadb, 2_000},
	{"groupreplication", "9.7", &mysqlServers, 2_000},
	{"cockroach", "25.2", &cockroachdb, 10_000},
	{"yugabyte", "2024.2", &yugabytedb, 10_000},
	{"tidb", "7.5", &tidb, 10_000},
	{"sqlserver", "2022", &sqlserver, 10_000},
	{"oracle", "19", &oracle, 10_000},
	{"sqlite", "", &sqlite, 10_000},
}

// family is a kind of server.
type family struct {
	engine string // in qgen.yaml
	ddl    string // the file in cases/*/
	driver string // of database/sql, for the suite's own questions

	// slow: a transaction takes so many round trips that not every pair of package
	// and server is run.
	slow bool
	// oneWriter: whoever writes keeps all others from writing, and they wait.
	oneWriter bool
	// skips is the oldest server version for which a package passes over rows
	// that others hold; "" when none does.
	skips string
	// inCursors: it does so where a cursor fetches rows, and not where an UPDATE
	// chooses them.
	inCursors bool
	// descends is the version since which an index may go up and down.
	descends string
	// cluster is the kind of cluster that these servers form, nil when none does.
	cluster *cluster
	// deadRows: rows that were changed or deleted are read until they are cleaned up.
	deadRows bool
	// large is how many rows a table needs of which a hundred are found by their key; 0 where
	// size says it.
	large int
	// strategies are how packages claim where the table would allow any; the first
	// that applies counts.
	strategies []chosen

	// isolation is the level at which the caller of a package begins transactions;
	// "" is the server's own.
	isolation string
	// oneLevel: the driver begins transactions at the server's own level only.
	oneLevel bool
	// place returns the DSN of a new, empty place for a table, which goes away with
	// the test.
	place func(testing.TB, *subject) string
	// with returns the DSN with a setting for its sessions.
	with func(t testing.TB, dsn, name, value string) string
	// shape says of a case what is true of it on these servers; nil where the same is.
	shape func(*shape) *shape
	// expr is what a column of the case holds in row g.
	expr func(column) string
	// insert fills the table: it is told the columns, their values over g, the
	// first and the last g, and the direction in which rows are added.
	insert func(columns, values, direction string, first, last int) string
	// columns counts the columns of the name that is its argument.
	columns string
	// earlier is a column's value two hours before.
	earlier func(testing.TB, *table, string) string
	// wait is the number of seconds until due_at, due an assignment that ends it.
	wait, due string
	// rename makes column n something else.
	rename string
	// analyze brings the statistics up to date, freeze keeps the server from doing
	// it by itself; nil where it never does.
	analyze string
	freeze  func(testing.TB, *table)
	// forced are settings that keep the planner from what it would like best.
	forced [][]string
	// misset returns queues for which something is not as claims need it, by a part
	// of what is then said.
	misset func(testing.TB, *table) map[string]queue
	// impatient is a setting with which waiting for a lock ends after a second.
	impatient []string
	// locked counts the rows that somebody has locked.
	locked func(testing.TB, *table) int
	// settings are what a DSN may say otherwise, and packages must not mind.
	settings map[string][]string

	// quiet proves that polling writes nothing.
	quiet func(t *testing.T, x *table, poll func(queue))
	// plans proves that claims read ready rows in the order of the queue.
	plans func(t *testing.T, x *table)
	// byKey proves that the operations settle jobs by their keys.
	byKey func(t *testing.T, x *table, operations []string)
	// conflicts brings about what a package should try again.
	conflicts func(t *testing.T, x *table, retryable func(what string, err error))
}

// chosen is a strategy and where it is chosen.
type chosen struct {
	strategy string
	where    func(*subject) bool // nil: everywhere
}

// families are the kinds of servers on whose servers packages run, or would.
var families = []*family{&postgresql, &mysqlServers, &mariadb, &cockroachdb, &yugabytedb, &tidb, &sqlserver, &oracle, &sqlite}

func familyOf(engine string) *family {
	i := slices.IndexFunc(families, func(f *family) bool { return f.engine == engine })
	if i < 0 {
		return nil
	}
	return families[i]
}

// up reports whether the server can be used.
func (s server) up() bool { return s.family == &sqlite || slices.Contains(servers.Names(), s.name) }

// allUp reports whether every server can be used.
func allUp() bool {
	return !slices.ContainsFunc(live, func(s server) bool { return servers.Startable(s.name) && !s.up() })
}

// before compares versions; "" is before all.
func before(a, b string) bool {
	parts := func(v string) []int {
		var list []int
		for part := range strings.SplitSeq(v, ".") {
			n, err := strconv.Atoi(part)
			if err != nil {
				n = -1
			}
			list = append(list, n)
		}
		return list
	}
	return slices.Compare(parts(a), parts(b)) < 0
}

// clustered reports whether the server is a cluster whose nodes all write.
func (s server) clustered() bool { return s.family.cluster != nil && s.family.cluster.server == s.name }

// hasRowLocks reports whether workers can hold rows apart from each other.
func hasRowLocks(s *subject) bool { return !s.family.oneWriter }

// size is how many rows a table has whose statements are planned as for a large one.
func (f *family) size() int { return cmp.Or(f.large, 15_000) }

// hasStatistics reports whether plans follow statistics that may be wrong.
func hasStatistics(s *subject) bool { return s.family.freeze != nil }

// hasSettings reports whether a DSN can say things in more than one way. That is between
// the package and its driver, so one server is enough for each package.
func hasSettings(s *subject) bool {
	return len(s.family.settings) > 0 && !s.clustered() && (s.first || s.whole)
}

// open opens a database for the suite's own questions.
func (f *family) open(t testing.TB, dsn string, conns int) *sql.DB {
	t.Helper()
	return servers.Open(t, f.driver, dsn, conns)
}

// withParameter returns the DSN, which is a URL, with a parameter.
func withParameter(t testing.TB, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// cutParameters returns the DSN, which is a URL, without the parameters whose names
// match, and a statement of each: what the format makes of name and value, in the
// order of the texts.
func cutParameters(dsn string, names *regexp.Regexp, format string) (rest string, statements []string, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", nil, err
	}
	q := u.Query()
	for name := range q {
		if names.MatchString(name) {
			statements = append(statements, fmt.Sprintf(format, name, q.Get(name)))
			q.Del(name)
		}
	}
	slices.Sort(statements)
	u.RawQuery = q.Encode()
	return u.String(), statements, nil
}

func readText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
