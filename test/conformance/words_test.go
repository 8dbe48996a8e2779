package conformance

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// This file holds what words of the language promise that few tables have.

func hasArguments(s *subject) bool { return s.pkg.shape == "result" }

// What a caller says at a step is written by it: for each finished job its own, for a
// claim and a failure what they were given, and null where that is nothing.
func proveArguments(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 6)
	host := "node-3"
	out, err := x.q.call(t.Context(), "Claim", &host, 5)
	if err != nil {
		t.Fatal(err)
	}
	jobs := jobsOf(out[0])
	if got := x.count(t, "host = 'node-3' AND "+statusRunning); got != 5 {
		t.Errorf("%d of 5 claimed rows say by which host", got)
	}
	if err := x.q.complete(t.Context(), jobs[0], jobs[1], jobs[2]); err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs[:3] {
		where := fmt.Sprintf("n = %d AND score = %d AND answer LIKE 'answer to %d' AND %s", j.n(), scoreOf(j.n()), j.n(), statusDone)
		if x.count(t, where) != 1 {
			t.Errorf("job %d was not completed with what was said of it: there is no row with %s", j.n(), where)
		}
	}
	code := reflect.New(x.q.v.MethodByName("Fail").Type().In(3).Elem())
	code.Elem().SetInt(42)
	if _, err := x.q.call(t.Context(), "Fail", jobs[3].v.Interface(), errors.New("no"), code.Interface()); err != nil {
		t.Fatal(err)
	}
	if _, err := x.q.call(t.Context(), "Fail", jobs[4].v.Interface(), errors.New("no")); err != nil {
		t.Fatal(err)
	}
	if x.count(t, fmt.Sprintf("n = %d AND code = 42 AND %s", jobs[3].n(), statusFailed)) != 1 {
		t.Error("the code of a failed job is not in its row")
	}
	if x.count(t, fmt.Sprintf("n = %d AND code IS NULL AND %s", jobs[4].n(), statusFailed)) != 1 {
		t.Error("a job that failed without a code has one")
	}
	if x.count(t, "score IS NOT NULL OR code IS NOT NULL") != 4 {
		t.Error("rows were written that nobody spoke of")
	}
}

// A way to settle jobs that the user names is fenced like Complete and leads where it
// is said to, with what it sets and is given.
func proveOutcomes(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 6)
	jobs, err := x.q.claim(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.q.complete(t.Context(), jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := x.q.settle(t.Context(), "Partial", jobs[:3]...); !errors.Is(err, s.pkg.lost) {
		t.Errorf("settling a job twice: %v", err)
	}
	if got := x.count(t, statusReady+" AND code = 7"); got != 2 {
		t.Errorf("%d of 2 jobs that were done in part are ready", got)
	}
	reason := reflect.New(x.q.v.MethodByName("Dropped").Type().In(1).Elem())
	reason.Elem().SetInt(9)
	if _, err := x.q.call(t.Context(), "Dropped", reason.Interface(), jobs[3:]); err != nil {
		t.Fatal(err)
	}
	if got := x.count(t, statusFailed+" AND code = 9"); got != 2 {
		t.Errorf("%d of 2 dropped jobs failed with their reason", got)
	}
	again, err := x.q.claim(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(again) != 3 {
		t.Errorf("%d jobs were claimed after that, not the 2 that are ready again and the one that waits", len(again))
	}
}

// Recover takes the jobs of workers that are not alive, and no others: those of one that
// is in the table, or among those that it is given.
func proveDeadWorkers(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 8)
	for _, name := range []string{"old", "retired", "gone", "alive"} {
		if jobs, err := x.open(x.conn, name).claim(t.Context(), 2); err != nil || len(jobs) != 2 {
			t.Fatalf("%s claimed %d jobs: %v", name, len(jobs), err)
		}
	}
	args := []any{10}
	if x.q.v.MethodByName("Recover").Type().NumIn() == 3 {
		if n, err := x.q.call(t.Context(), "Recover", []string{}, 10); err != nil || n[0].Int() != 0 {
			t.Fatalf("Recover took %v jobs from nobody: %v", n[0], err)
		}
		args = []any{[]string{"it's", "alive"}, 10}
	} else {
		now := "CURRENT_TIMESTAMP"
		if s.family.ddl == "mysql.sql" {
			now = "UTC_TIMESTAMP(6)"
		}
		x.run(t, "INSERT INTO processes VALUES ('alive', "+now+", false), ('retired', "+now+", true), ('old', "+now+" - INTERVAL '6' MINUTE, false)")
	}
	x.run(t, "UPDATE jobs SET owner = NULL WHERE n = 7") // nobody has it, so nobody is dead
	n, err := x.q.call(t.Context(), "Recover", args...)
	if err != nil {
		t.Fatal(err)
	}
	if n[0].Int() != 6 || x.count(t, statusReady+" AND n <= 6") != 6 || x.count(t, statusRunning+" AND n > 6") != 2 {
		t.Errorf("Recover took %v jobs of 6 whose workers are dead", n[0])
	}
}
