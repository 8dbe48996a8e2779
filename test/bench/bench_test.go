// Package bench measures the generator as people run it: a process that reads
// files and writes files. Beside it runs sqlc over the same tables, on the same
// machine and in the same run, because numbers of another day compare nothing.
package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The promises. They hold for the best of the runs, since a busy machine can
// only make a run slower.
const (
	exampleWithin  = 100 * time.Millisecond
	thousandWithin = 2 * time.Second
)

// build compiles a command of the module's tools and returns its path.
func build(b *testing.B, pkg string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), filepath.Base(pkg))
	if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// best runs a command once for every round of the benchmark, each in a folder
// of its own below root with those files, and returns the shortest time. It
// removes nothing: some file systems are slow to give away again what was
// removed a moment ago.
func best(b *testing.B, root string, files map[string]string, command string, args ...string) time.Duration {
	b.Helper()
	shortest := time.Duration(1<<63 - 1)
	for round := 0; b.Loop(); round++ {
		b.StopTimer()
		dir := filepath.Join(root, b.Name(), strconv.Itoa(round))
		for name, text := range files {
			write(b, filepath.Join(dir, name), text)
		}
		b.StartTimer()
		started := time.Now()
		cmd := exec.Command(command, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		shortest = min(shortest, time.Since(started))
	}
	b.ReportMetric(float64(shortest.Microseconds())/1000, "best-ms")
	return shortest
}

func write(b *testing.B, path, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkExample generates the repository's example, process start included.
func BenchmarkExample(b *testing.B) {
	qgen := build(b, "github.com/qgen-dev/qgen/cmd/qgen")
	root := filepath.Join("..", "..")
	paths, err := filepath.Glob(filepath.Join(root, "example", "*.sql"))
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range append(paths, filepath.Join(root, "go.mod"), filepath.Join(root, "qgen.yaml")) {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		files[strings.TrimPrefix(path, root)] = string(text)
	}
	if took := best(b, b.TempDir(), files, qgen, "generate"); took > exampleWithin {
		b.Errorf("the example took %v at best, promised are %v", took, exampleWithin)
	}
}

// table is one annotated table out of many.
func table(i int) string {
	return fmt.Sprintf(`-- qgen:queue
CREATE TABLE jobs_%04d (
    id         bigserial PRIMARY KEY,
    status     text NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done failed=failed
    priority   int NOT NULL DEFAULT 0,        -- qgen:priority desc
    tries      int NOT NULL DEFAULT 0,        -- qgen:attempts up on=claim max=5
    lease_till timestamptz,                   -- qgen:lease length=5m
    payload    jsonb NOT NULL                 -- qgen:payload
);
`, i)
}

// BenchmarkTables generates packages for many annotated tables of one schema.
// The time must grow with their number and not faster.
func BenchmarkTables(b *testing.B) {
	qgen := build(b, "github.com/qgen-dev/qgen/cmd/qgen")
	sqlc := build(b, "github.com/sqlc-dev/sqlc/cmd/sqlc")
	root := b.TempDir()
	took := map[int]time.Duration{}
	for _, n := range []int{125, 250, 500, 1000} {
		b.Run(fmt.Sprintf("qgen/%d", n), func(b *testing.B) {
			var schema, config strings.Builder
			config.WriteString("version: \"1\"\nqueues:\n")
			for i := range n {
				schema.WriteString(table(i))
				fmt.Fprintf(&config, "  - schema: [schema.sql]\n    engine: postgresql\n    server: \"15\"\n    table: jobs_%04d\n    gen: {go: {package: jobs%04d, out: gen/jobs%04d}}\n", i, i, i)
			}
			took[n] = best(b, root, map[string]string{
				"go.mod":     "module bench\n\ngo 1.26\n",
				"schema.sql": schema.String(),
				"qgen.yaml":  config.String(),
			}, qgen, "generate")
		})
	}
	if full := took[1000]; full > 0 {
		if full > thousandWithin {
			b.Errorf("1,000 tables took %v at best, promised are %v", full, thousandWithin)
		}
		if quarter := took[250]; quarter > 0 && full > 5*quarter {
			b.Errorf("1,000 tables took %v and 250 took %v: that is not linear", full, quarter)
		}
	}
	for _, n := range []int{250, 1000} {
		b.Run(fmt.Sprintf("sqlc/%d", n), func(b *testing.B) {
			var schema, queries strings.Builder
			for i := range n {
				schema.WriteString(table(i))
				queries.WriteString(statements(i))
			}
			best(b, root, map[string]string{
				"schema.sql":  schema.String(),
				"queries.sql": queries.String(),
				"sqlc.yaml":   "version: \"2\"\nsql:\n  - engine: postgresql\n    schema: schema.sql\n    queries: queries.sql\n    gen: {go: {package: db, out: db}}\n",
			}, sqlc, "generate")
		})
	}
}

// statements are a claim and a completion, as somebody would write them for
// sqlc: less than qgen writes for the same table.
func statements(i int) string {
	return fmt.Sprintf(`-- name: Claim%04[1]d :many
UPDATE jobs_%04[1]d SET status = 'running', tries = tries + 1, lease_till = now() + interval '5 minutes'
WHERE id = ANY (ARRAY(SELECT id FROM jobs_%04[1]d WHERE status = 'ready'
    ORDER BY priority DESC, id LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED))
RETURNING id, priority, tries, payload;

-- name: Complete%04[1]d :many
UPDATE jobs_%04[1]d SET status = 'done', lease_till = NULL
WHERE id = ANY ($1::bigint[]) AND status = 'running'
RETURNING id;
`, i)
}
