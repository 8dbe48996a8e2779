package oraclequeues_test

import (
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/corpus/gen/camundaora"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

// TestGroup sends a claim that locks groups and counts behind that: one block, in a
// transaction of its own. A list stands in it for the rows that are claimed and for those
// before them, each time with binds of its own.
func TestGroup(t *testing.T) {
	server, db := start(t)
	q := camundaora.New(db, camundaora.WithWorker("w1"))
	text := texts(t, "../../corpus/gen/camundaora")
	claim := text("claim", "DEPLOYMENT_ID_ IN (:v0)", "DEPLOYMENT_ID_ IN (:v1, :v2)")
	claim = strings.Replace(claim, "other.DEPLOYMENT_ID_ IN (:v0)", "other.DEPLOYMENT_ID_ IN (:v3, :v4)", 1)
	if strings.Contains(claim, ":v0") {
		t.Fatalf("there are more lists than the test knows:\n%s", claim)
	}
	columns := oracle.Columns("id VARCHAR2(64)", "rev NUMBER", "type VARCHAR2(255)", "till VARCHAR2(29)", "exclusive NUMBER",
		"execution VARCHAR2(64)", "instance VARCHAR2(64)", "def VARCHAR2(64)", "def_key VARCHAR2(255)", "retries NUMBER",
		"stack VARCHAR2(64)", "message VARCHAR2(2000)", "due VARCHAR2(29)", "repeat VARCHAR2(255)", "handler VARCHAR2(255)",
		"handler_cfg VARCHAR2(2000)", "deployment VARCHAR2(64)", "state NUMBER", "job_def VARCHAR2(64)", "priority NUMBER",
		"counter NUMBER", "tenant VARCHAR2(64)")
	row := oracle.Row{"j1", 2, "timer", leaseText, 1, nil, "p1", nil, nil, 3, nil, nil, nil, nil, nil, nil, "mine", 1, nil, 5, nil, nil}
	server.Expect(
		oracle.Exec(claim, "mine", "mine too", "mine", "mine too", 7, "w1", oracle.Output).RefCursor("5", columns, row),
		oracle.Commit(),
	)
	jobs, err := q.Claim(t.Context(), []string{"mine", "mine too"}, 7)
	check.Err(t, err)
	if len(jobs) != 1 {
		t.Fatalf("claimed %+v, want one job", jobs)
	}
	check.Equal(t, []any{jobs[0].ID, *jobs[0].ProcessInstanceID, *jobs[0].Exclusive, jobs[0].Rev, jobs[0].Err}, []any{"j1", "p1", int64(1), int64(2), error(nil)})

	server.Expect(settled(text("complete"), []any{[]string{"j1"}, []int64{2}}, "3", 1).Autocommit())
	check.Err(t, q.Complete(t.Context(), jobs...))
}
