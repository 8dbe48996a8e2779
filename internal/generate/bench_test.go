package generate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/source"
)

// planAll loads and plans the project in dir.
func planAll(tb testing.TB, dir string) (*Project, []*Package) {
	tb.Helper()
	var errs source.ErrorList
	p, err := Load(dir, "", &errs)
	if err != nil {
		tb.Fatal(err)
	}
	packages, err := p.Plan(nil, &errs)
	if err != nil || errs.Len() > 0 {
		tb.Fatalf("%v\n%s", err, errs.Detail())
	}
	return p, packages
}

// everything does what qgen check does with the project in dir.
func everything(tb testing.TB, dir string) {
	tb.Helper()
	p, packages := planAll(tb, dir)
	files, err := Emit(packages)
	if err != nil {
		tb.Fatal(err)
	}
	var errs source.ErrorList
	if _, err := p.Compare(packages, files, &errs); err != nil || errs.Len() > 0 {
		tb.Fatalf("%v\n%s", err, errs.Detail())
	}
}

// manyTables returns a project of n annotated tables in one schema file, each
// with its own package.
func manyTables(n int) map[string]string {
	var schema, conf strings.Builder
	conf.WriteString("version: \"1\"\nqueues:\n")
	for i := range n {
		fmt.Fprintf(&schema, `
-- qgen:queue jobs%[1]d
CREATE TABLE jobs%[1]d (
    id         bigserial PRIMARY KEY,
    state      char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
    kind       text NOT NULL, -- qgen:topic
    not_before timestamptz, -- qgen:due
    lease_till timestamptz, -- qgen:lease length=5m
    tries      int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=5
    last_error text, -- qgen:error
    body       jsonb NOT NULL
);
`, i)
		fmt.Fprintf(&conf, "  - {schema: schema.sql, engine: postgresql, table: jobs%[1]d, gen: {go: {out: jobs%[1]d}}}\n", i)
	}
	return map[string]string{"schema.sql": schema.String(), "qgen.yaml": conf.String()}
}

func BenchmarkGenerateExample(b *testing.B) {
	for b.Loop() {
		everything(b, "../..")
	}
}

// What a table costs must not grow with the number of tables.
func BenchmarkTables(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		root := tree(b, manyTables(n))
		measure := func(name string, do func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					do()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/table")
			})
		}
		measure("plan", func() { planAll(b, root) })
		measure("all", func() { everything(b, root) })
	}
}
