package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/servers"
)

// Packages that write other tables, or whose claims stand in another table or in none, are
// not proved by the test that is emitted with them. Here each lives through the life of its
// jobs, and the tables are compared with what the project itself would have left:
//
//	table                        what is easily done wrong                              test
//	files and files_acquired     a claim moves the row, Fail and Recover move it back   TestAcquired/life
//	                             at any moment a row is in one of the tables            TestAcquired/one table
//	                             a late worker, whose row is ready or another's         TestAcquired/late worker
//	Gammu outbox                 Status and the update time say nothing of the queue    TestGammu/ready
//	                             null, '' or mine; a window of hours, a mask of days    TestGammu/ready
//	                             done and failed rows go to another table, parts too    TestGammu/moves
//	                             a late worker, of a lease in whole seconds             TestGammu/late worker
//	                             MyISAM: FOR UPDATE locks nothing                       TestGammu/exclusive
//	                             SQLite: times as texts in columns of numbers           TestGammu/sqlite
//	Mirth D_MM<n>                names of tables made at run time                       TestMirth/another channel
//	                             the payload is one of several rows of another table    TestMirth/payload
//	                             a row is its server's own; its key has two parts       TestMirth/own rows
//	                             nothing marks a claim: what a crash leaves             TestMirth/crash
//	Camunda ACT_RU_JOB           exclusive jobs of one process instance                 TestCamunda/exclusive
//	                             null or mine, suspended jobs, tries that are left      TestCamunda/ready
//	                             tries are counted down, and 0 stays                    TestCamunda/retries
//	                             every write counts the revision                        TestCamunda/late worker
//	Buildbot buildrequest_claims the unique key of another table decides                TestBuildbot/taken
//	                             its own masters add claims without any lock            TestBuildbot/beside masters
//	                             a claim that has run out is taken over once            TestBuildbot/take-overs
//	                             masters tell when they were last active                TestBuildbot/dead master
//	                             the claim stays when the request is complete           TestBuildbot/life
//	                             a foreign key frees the request of a deleted master    TestBuildbot/deleted master
//	Airflow task_instance        a task is queued first and begun by another process    TestAirflow/life
//	                             a scheduler dies before and after a task has begun     TestAirflow/dead scheduler
//	                             running has a second value                             TestAirflow/restarting
//	Watermill messages           a row is added before, and committed after others      TestWatermill/late commit
//	                             keys of 16 bytes                                       TestWatermill/bytes
//	Action Scheduler             dates that are none, times for always and never        TestActionScheduler
//	                             a claim is a row, and its id the token of the actions  TestClaimsOfActionScheduler
//	                             a line of the log comes and goes with its action       TestLogsOfActionScheduler
//	links                        a key that is there is no error and dooms nothing      TestLinks
//	                             producers add the same at the same moment              TestLinks
//	tallies                      jobs of a call share a row in which each counts        TestTallies
//	feeds and sheets             what is there is changed, and its key told             TestFeeds
//	                             producers change what consumers claim at that moment   TestFeeds
//	calls of tenants             a block counts what runs in a group behind its lock    TestCalls

// onServers runs a test on each server of an engine, with tables of its own.
func onServers(t *testing.T, engine string, prove func(t *testing.T, b base), files ...string) {
	t.Helper()
	onEach(t, engine, live[engine], prove, files...)
}

// onEach runs a test on each of some servers of an engine, with tables of its own.
func onEach(t *testing.T, engine string, list []string, prove func(t *testing.T, b base), files ...string) {
	t.Helper()
	for _, server := range list {
		t.Run(server, func(t *testing.T) {
			driver, dsn := place(t, engine, server)
			b := base{engine: engine, DB: servers.Open(t, driver, dsn, 8)}
			create(t, b.DB, files...)
			prove(t, b)
		})
	}
}

// base is a database with tables of a project. SQL is written as PostgreSQL has it.
type base struct {
	engine string
	*sql.DB
}

// spelt writes a statement as the server takes it: elsewhere than on PostgreSQL names with
// capitals need no quotes.
func (b base) spelt(statement string) string {
	if b.engine == "postgresql" {
		return statement
	}
	return strings.ReplaceAll(statement, `"`, "")
}

// run executes statements.
func (b base) run(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := b.Exec(b.spelt(s)); err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
	}
}

// want compares the rows of a query, whose columns are joined by blanks, with lines.
func (b base) want(t *testing.T, query string, lines ...string) {
	t.Helper()
	rows, err := b.Query(b.spelt(query))
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		values, places := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, v := range values {
			if !v.Valid {
				v.String = "null"
			}
			parts = append(parts, v.String)
		}
		got = append(got, strings.Join(parts, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, lines) {
		t.Errorf("%s\ngives %q\nwant  %q", query, got, lines)
	}
}

// names compares what a function says of jobs with names in order.
func names[J any](t *testing.T, jobs []J, err error, of func(J) string, want ...string) []J {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range jobs {
		got = append(got, of(j))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("claimed %q, want %q", got, want)
	}
	return jobs
}

// good fails the test at an error.
func good(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// isLost fails the test unless an error is that of a lost claim.
func isLost(t *testing.T, lost, err error) {
	t.Helper()
	if !errors.Is(err, lost) {
		t.Errorf("a worker that came late got %v", err)
	}
}

var errCause = errors.New("no network")

// together has workers claim one by one until nothing is left, and fails the test when one
// of so many jobs was taken twice or not at all.
func together[J any](t *testing.T, total int, claim func(context.Context) ([]J, error), of func(J) string) {
	t.Helper()
	var mu sync.Mutex
	taken := map[string]int{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				jobs, err := claim(t.Context())
				if err != nil {
					t.Error(err)
				}
				if len(jobs) == 0 {
					return
				}
				mu.Lock()
				for _, j := range jobs {
					taken[of(j)]++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for name, times := range taken {
		if times > 1 {
			t.Errorf("job %s was taken %d times", name, times)
		}
	}
	if len(taken) != total {
		t.Errorf("%d jobs were taken, want %d", len(taken), total)
	}
}

// pause is longer than a second, by which a lease in whole seconds tells claims apart.
func pause() { time.Sleep(1100 * time.Millisecond) }

// texts writes a list of numbers from 1 on with a format.
func texts(n int, format string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(format, i+1))
	}
	return strings.Join(list, ", ")
}
