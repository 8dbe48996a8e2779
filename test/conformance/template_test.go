package conformance

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/servers"
)

// isTemplated: the names of the subject's tables are made at run time.
func isTemplated(s *subject) bool { return s.shape.templated }

// proveAnotherTable: a queue over a table with another name sees that table and its
// payload alone, and what is no part of a name makes no queue.
func proveAnotherTable(t *testing.T, s *subject) {
	x := s.newTable(t)
	ddl := readText(t, filepath.Join("cases", s.pkg.shape, s.family.ddl))
	ddl = strings.NewReplacer("/*_*/jobs", "Other_jobs_b2", "/*_*/", "Other_").Replace(ddl)
	for _, statement := range servers.Statements(t, ddl) {
		x.run(t, statement)
	}
	prefix := "Other_"
	if s.family == &postgresql {
		prefix = "other_" // as it is stored
	}
	for _, advice := range s.adviceFor(t, prefix, "_b2") {
		x.run(t, advice)
	}
	x.fill(t, 1, 2)
	x.run(t, "INSERT INTO Other_jobs_b2 (n) VALUES (7)")
	x.run(t, "INSERT INTO Other_bodies (job_n, kind, body, status) VALUES (7, 4, 'seven', 'sent')")
	x.run(t, "INSERT INTO bodies (job_n, kind, body, status) VALUES (7, 4, 'of another table', 'sent')")

	other, err := x.openNamed("Other_", "_b2")
	if err != nil {
		t.Fatal(err)
	}
	ctx := limited(t, time.Minute)
	if _, err := other.call(ctx, "Verify"); err != nil {
		t.Errorf("Verify: %v", err)
	}
	jobs, err := other.claim(ctx, 5)
	if err != nil || len(jobs) != 1 || jobs[0].n() != 7 {
		t.Fatalf("claimed %v, %v; want job 7", numbers(jobs), err)
	}
	if got := payload(jobs[0]); got != "seven, nil, sent" {
		t.Errorf("job 7 has %s", got)
	}
	x.check(t, states{ready: 2})
	if err := other.complete(ctx, jobs...); err != nil {
		t.Error(err)
	}
	if _, err := other.enqueueMany(ctx, 8, 9); err != nil {
		t.Error(err)
	}
	if jobs, err = other.claim(ctx, 5); err != nil || len(jobs) != 2 {
		t.Errorf("claimed %v, %v; want the 2 that were added", numbers(jobs), err)
	}
	x.check(t, states{ready: 2})

	for _, name := range []string{"x jobs", `x"; DROP TABLE jobs; --`, "x;", "x`", "1x", "ä", "x.y", "x-", "{{.Suffix}}", strings.Repeat("x", 2000)} {
		if len(name) > 1000 && s.family.oneWriter {
			continue // a name may have any length
		}
		if _, err := x.openNamed(name, ""); err == nil {
			t.Errorf("a table may be called %qjobs", name)
		}
	}
}

// openNamed is open over the table of another name.
func (t *table) openNamed(prefix, suffix string) (queue, error) {
	create := reflect.ValueOf(t.pkg.new)
	tables := reflect.New(create.Type().In(1)).Elem()
	tables.FieldByName("Prefix").SetString(prefix)
	tables.FieldByName("Suffix").SetString(suffix)
	out := create.Call([]reflect.Value{reflect.ValueOf(t.conn), tables})
	err, _ := out[1].Interface().(error)
	return queue{of: t, v: out[0], workers: 1}, err
}
