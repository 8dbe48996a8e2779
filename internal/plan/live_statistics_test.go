package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/servers"
)

// Of an idle table, whose few rows were all held as ANALYZE read them, PostgreSQL thinks that hardly any row is ready.
// A claim in the order of the key does not have it find and sort all that have come since.
func TestOldStatisticsLeaveTheClaimInOrder(t *testing.T) {
	const table = `-- qgen:queue jobs done=delete
CREATE TABLE jobs (
    id   bigint NOT NULL PRIMARY KEY,
    body text NOT NULL,
    till timestamptz -- qgen:lease length=5m expired=claim
);
`
	for _, version := range servers.PostgresVersions() {
		t.Run(version, func(t *testing.T) {
			conn, run := onPostgres(t, servers.Postgres(t, version))
			for _, index := range []string{"", "CREATE INDEX jobs_till ON jobs (till);"} {
				c := tableCase{engine: "postgresql", ddl: table + index}
				p := c.plans(t, fmt.Sprintf("version: \"1\"\nqueues: [{schema: [x], engine: postgresql, server: %q, table: jobs, queue: jobs, gen: {go: {out: x}}}]", version))[0]
				run("BEGIN; CREATE SCHEMA qgen_plan_test; SET LOCAL search_path = qgen_plan_test, pg_catalog;" + c.ddl +
					"INSERT INTO jobs SELECT i, 'b', now() + interval '1 hour' FROM generate_series(1, 100) AS i; ANALYZE jobs;" +
					"INSERT INTO jobs SELECT i, 'b', NULL FROM generate_series(101, 20000) AS i")
				plan := planOn(t, conn, "EXPLAIN "+strings.ReplaceAll(p.Peek.Statement.SQL, "$1", "1000"))
				if !strings.Contains(plan, "using jobs_pkey") || strings.Contains(plan, "Sort") {
					t.Errorf("with %q ready rows are not read in the order of the key:\n%s", index, plan)
				}
				run("ROLLBACK")
			}
		})
	}
}
