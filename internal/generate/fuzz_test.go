package generate

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/qgen-dev/qgen/internal/source"
)

// Whatever the DDL says, it ends in complaints inside the files or in packages
// that their own parsers accept.
func FuzzGenerate(f *testing.F) {
	const table = "-- qgen:queue jobs\nCREATE TABLE jobs (\n    id INTEGER PRIMARY KEY,\n    body TEXT, -- qgen:%s\n    state char(4) NOT NULL -- qgen:status ready=new running=busy done=done failed=dead\n);\n"
	for _, words := range []string{
		"payload", "topic list", "token", "worker mine=ready", "due null=never", "lease length=5m as=epoch", "attempts down",
		"where \"{now} > 1\"", "on claim,renew set now", "priority desc; order 2 nulls=last", "error max=10 append", "ignore", "shard mod",
		"group fifo", "seq gaps", "id 1", "queue strategy=hold done=delete", "topic any=null|''|'*'", "result", "version", "expires", "visible",
	} {
		f.Add(fmt.Sprintf(table, words), true)
		f.Add(fmt.Sprintf(table, words), false)
	}
	f.Fuzz(func(t *testing.T, ddl string, sqlite bool) {
		root := t.TempDir()
		engine := "postgresql"
		if sqlite {
			engine = "sqlite"
		}
		conf := fmt.Sprintf("version: \"1\"\nqueues:\n  - {schema: schema.sql, engine: %s, gen: {go: {out: jobs, package: jobs, worker: true}}}\n", engine)
		for name, text := range map[string]string{"qgen.yaml": conf, "schema.sql": ddl} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var errs source.ErrorList
		p, err := Load(root, "", &errs)
		if err != nil {
			t.Fatal(err)
		}
		packages, err := p.Plan(nil, &errs)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range errs.All() {
			if !e.Pos.IsValid() || e.Pos.Offset+e.Pos.Len > len(e.Pos.File.Data) {
				t.Errorf("a complaint without a place: %v", e)
			}
		}
		_ = errs.Detail()
		if errs.Len() > 0 {
			return
		}
		if len(packages) == 0 {
			t.Error("neither complaints nor packages")
		}
		if _, err := Emit(packages); err != nil {
			t.Error(err)
		}
	})
}
