package generate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/source"
)

// names are what people and enemies call columns and tables.
var names = rapid.OneOf(
	rapid.SampledFrom([]string{
		"a", "id2", "select", "order", "user", "func", "type", "range", "err", "ctx", "q", "job", "jobs", "key", "Key",
		"queue", "limit", "db", "DBTX", "New", "Claim", "string", "nil", "len", "_", "__", "9lives", "Größe", "größe",
		"naïve", "日本", "mit leer", "Mixed_Case", "mixed_case", "MixedCase", "a\"b", "a'b", "a`b", "a\\b", "a;b", "a--b", "a/*b*/c",
		"a\nb", "a\tb", "a$1b", "a?b", "a{b}c", "{{.}}", "%s", "*/", "//go:build x", "\u202e", "e\u0301", "init", "main", "Status", "status",
		strings.Repeat("x", 63), strings.Repeat("ä", 31), strings.Repeat("y", 64),
	}),
	rapid.StringMatching(`[A-Za-z_ "'\-\n{}$é]{1,12}`),
)

// quote writes a name so that both databases take it as it is.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Whatever tables and columns are called, the answer is a complaint or a
// package of correct Go and SQL.
func TestHostileNames(t *testing.T) {
	compiler := newCompiler(t)
	root := t.TempDir() // written anew by each check
	rapid.Check(t, func(t *rapid.T) {
		engine := rapid.SampledFrom([]string{"sqlite", "postgresql"}).Draw(t, "engine")
		numbers, texts := "INTEGER", "TEXT"
		if engine == "postgresql" {
			numbers, texts = "bigint", "text"
		}
		columns := rapid.SliceOfNDistinct(names, 2, 9, strings.ToLower).Draw(t, "columns")
		var ddl strings.Builder
		fmt.Fprintf(&ddl, "-- qgen:queue\nCREATE TABLE %s (\n", quote(names.Draw(t, "table")))
		roles := []struct{ sqlType, words string }{
			{numbers + " PRIMARY KEY", ""},
			{texts + " NOT NULL", "status ready=new running=busy done=done failed=dead"},
			{texts, "token"},
			{texts, "topic"},
			{numbers, "lease length=5m as=epoch"},
			{numbers + " NOT NULL DEFAULT 0", "attempts up on=claim max=3"},
			{texts, "result"},
			{texts, ""},
			{numbers, "priority desc"},
		}
		for i, name := range columns {
			comma := ","
			if i == len(columns)-1 {
				comma = ""
			}
			words := ""
			if roles[i].words != "" {
				words = " -- qgen:" + roles[i].words
			}
			fmt.Fprintf(&ddl, "    %s %s%s%s\n", quote(name), roles[i].sqlType, comma, words)
		}
		ddl.WriteString(");\n")

		for name, text := range map[string]string{
			"schema.sql": ddl.String(),
			"qgen.yaml":  fmt.Sprintf("version: \"1\"\nqueues:\n  - {schema: schema.sql, engine: %s, gen: {go: {out: jobs, package: jobs, worker: true}}}\n", engine),
		} {
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
		if errs.Len() > 0 {
			_ = errs.Detail()
			return
		}
		if len(packages) == 0 {
			t.Fatal("neither complaints nor packages")
		}
		if err := compiler.compile(packages); err != nil {
			t.Fatalf("%v\n%s", err, ddl.String())
		}
	})
}
