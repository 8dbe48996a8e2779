// Package sqlc has another compiler of SQL read what qgen emits. sqlc knows
// the grammar and the catalog of each database and was written by others, so
// what it accepts is not only what qgen believes to be right. What it cannot
// compile is listed with the reason, and has to fail: when a newer sqlc learns
// it, the list shrinks.
package sqlc

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// engines are those that sqlc knows.
var engines = []string{"postgresql", "sqlite", "mysql"}

// limits are what sqlc cannot compile.
var limits = []struct {
	engine  string
	text    *regexp.Regexp // in the statement
	message *regexp.Regexp // that sqlc gives
	reason  string
}{
	{
		"postgresql", regexp.MustCompile(`unnest\([^)]*,`), regexp.MustCompile(`^function unnest\(unknown, unknown.* does not exist$`),
		"its catalog knows unnest of one array only",
	},
	{
		"postgresql", regexp.MustCompile(`\bpg_(index|attribute) AS |\bpg_locks\b`), regexp.MustCompile(`^relation "pg_\w+" does not exist$`),
		"its catalog has no system tables",
	},
	{
		"postgresql", regexp.MustCompile(`(?s)ARRAY\(.*[\w"]\)? (>|=) \$\d|\.Purge \*/.*\bid\)? < \(?\$1`), regexp.MustCompile(`^column reference "\w+" is ambiguous$`),
		"it looks for the column beside a parameter in the outer statement, too",
	},
	{
		"postgresql", regexp.MustCompile(`RETURNING old\.`), regexp.MustCompile(`^column "\w+" does not exist$`),
		"it does not know yet that RETURNING may name the old row",
	},
	{
		"mysql", regexp.MustCompile(`(information|performance)_schema\.`), regexp.MustCompile(`^schema "(information|performance)_schema" does not exist$`),
		"its catalog has no system tables",
	},
	{
		"mysql", regexp.MustCompile(`(?m)^([^W\n]|WHERE  [^(]|WHERE  \([^S]).*UTC_TIMESTAMP\(6\)`), regexp.MustCompile(`^function utc_timestamp\(unknown\) does not exist$`),
		"it knows UTC_TIMESTAMP without a precision only",
	},
	{
		"mysql", regexp.MustCompile(`^SELECT /\* \w+\.Claim \*/\s+[^\n]*\?`), regexp.MustCompile(`ast\.ResTarget has nil name$`),
		"it wants a name of each parameter that is returned",
	},
	{
		"mysql", regexp.MustCompile(`\bFROM +lanes\b`), regexp.MustCompile(`^relation "lanes" does not exist$`),
		"the table of lanes is not among the schema files",
	},
	{
		"postgresql", regexp.MustCompile(`\bFROM +lanes\b`), regexp.MustCompile(`^relation "lanes" does not exist$`),
		"the table of lanes is not among the schema files",
	},
	{
		"mysql", regexp.MustCompile(`(?s)WHERE +\(+id (= |IN \()\?.*\(SELECT`), regexp.MustCompile(`^(in same name )?column reference "id" is ambiguous$`),
		"it looks for the column beside a parameter in the inner statement, too",
	},
	{
		"sqlite", regexp.MustCompile(`(?s)^UPDATE.*\nFROM +(\(|\w+ AS )`), regexp.MustCompile(`json_each|extraneous input '(FROM|<EOF>)'|no viable alternative`),
		"its grammar ends UPDATE before FROM",
	},
	{
		"sqlite", regexp.MustCompile(`(?s)^UPDATE.*\(\s*SELECT.*\w+\)* [^ ]*=.* \?\d.*LIMIT|^DELETE.*\bid < \?1`), regexp.MustCompile(`^column reference "\w+" is ambiguous$`),
		"it looks for the column beside a parameter in the outer statement, too",
	},
	{
		"sqlite", regexp.MustCompile(`(?s)RETURNING[^\n]*\browid\b|^SELECT.*\browid\b`), regexp.MustCompile(`^column "rowid" does not exist$`),
		"it does not know that rows have a rowid",
	},
	{
		"sqlite", regexp.MustCompile(`\bpragma_index_list\(`), regexp.MustCompile(`^column "name" does not exist$`),
		"its catalog has no pragmas",
	},
	{
		"sqlite", regexp.MustCompile(`(?s)^(UPDATE|SELECT) /\* \w+\.[^R].*"\*/ err"`), regexp.MustCompile(`^column reference "" is ambiguous$|json_each`),
		"it takes names with other characters than letters for one and the same",
	},
}

// queue is what this test needs of an entry of qgen.yaml.
type queue struct {
	Engine string
	Schema []string
	Gen    struct {
		Go struct{ Package, Out string }
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// namePart is a part of a table's name that is made at run time.
var namePart = regexp.MustCompile(`\{\{\.(Prefix|Suffix)\}\}`)

// statement is one emitted statement.
type statement struct {
	engine, path, text string
}

func TestEveryStatementCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds sqlc")
	}
	dir := t.TempDir()
	statements := map[string]statement{} // by the path under dir
	var config strings.Builder
	config.WriteString("version: \"2\"\nsql:\n")
	for _, root := range []string{filepath.Join("..", ".."), filepath.Join("..", "conformance")} {
		for i, q := range queues(t, root) {
			if !slices.Contains(engines, q.Engine) {
				continue
			}
			name := fmt.Sprintf("%s%03d%s", filepath.Base(root), i, q.Gen.Go.Package)
			name = strings.TrimLeft(name, ".")
			for j, schema := range q.Schema {
				write(t, filepath.Join(dir, name, "schema", fmt.Sprintf("%d.sql", j)), read(t, filepath.Join(root, schema)))
			}
			for _, side := range []string{"lease.sql", "offset.sql"} {
				if path := filepath.Join(root, q.Gen.Go.Out, "schema", side); exists(path) {
					write(t, filepath.Join(dir, name, "schema", side), read(t, path))
				}
			}
			files, err := filepath.Glob(filepath.Join(root, q.Gen.Go.Out, "sql", "*.sql"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no statements in %s: %v", q.Gen.Go.Out, err)
			}
			for _, file := range files {
				under := filepath.Join(name, "queries", filepath.Base(file))
				// Tables whose names are made at run time are here as the DDL has them.
				s := statement{engine: q.Engine, path: file, text: namePart.ReplaceAllString(withoutHead(read(t, file)), "")}
				statements[under] = s
				kind := ":exec"
				if strings.HasPrefix(s.text, "SELECT") || strings.Contains(s.text, "RETURNING") {
					kind = ":many"
				}
				title := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".sql"), "-", "_")
				write(t, filepath.Join(dir, under), fmt.Sprintf("-- name: Q_%s %s\n%s;\n", title, kind, s.text))
			}
			fmt.Fprintf(&config, "  - {engine: %s, schema: %s/schema, queries: %s/queries, gen: {go: {package: db, out: db}}}\n", q.Engine, name, name)
		}
	}
	write(t, filepath.Join(dir, "sqlc.yaml"), config.String())

	out, err := exec.Command("go", "tool", "sqlc", "compile", "-f", filepath.Join(dir, "sqlc.yaml")).CombinedOutput()
	if err == nil && len(limits) > 0 {
		t.Error("sqlc compiles everything; the list of what it cannot compile is out of date")
	}
	failed := failures(t, string(out), statements)
	used := make([]bool, len(limits))
	for _, under := range slices.Sorted(maps.Keys(statements)) {
		s := statements[under]
		message, bad := failed[under]
		expected := -1
		for i, l := range limits {
			if l.engine == s.engine && l.text.MatchString(s.text) {
				expected = i
				if bad && l.message.MatchString(message) {
					used[i] = true
					break
				}
			}
		}
		switch {
		case bad && (expected < 0 || !limits[expected].message.MatchString(message)):
			t.Errorf("%s: sqlc says %s\n%s", s.path, message, s.text)
		case !bad && expected >= 0:
			t.Errorf("%s: sqlc compiles it; it is listed as impossible because %s", s.path, limits[expected].reason)
		}
	}
	for i, l := range limits {
		if !used[i] {
			t.Errorf("nothing fails because %s; take it off the list", l.reason)
		}
	}
	t.Logf("sqlc compiled %d statements, %d more are beyond it", len(statements)-len(failed), len(failed))
}

var (
	complaint  = regexp.MustCompile(`^(.*\.sql):\d+:\d+: (.*)$`)
	parserNote = regexp.MustCompile(`^line \d+:\d+ `) // sqlc repeats it with the file's name
)

// failures returns sqlc's messages by the file that they are about.
func failures(t *testing.T, out string, statements map[string]statement) map[string]string {
	t.Helper()
	failed := map[string]string{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# package") || strings.HasPrefix(line, "go: downloading ") || parserNote.MatchString(line) {
			continue
		}
		m := complaint.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("sqlc said:\n%s", out)
		}
		found := false
		for under := range statements {
			if strings.HasSuffix(m[1], under) {
				failed[under], found = m[2], true
			}
		}
		if !found {
			t.Errorf("sqlc complains about %s: %s", m[1], m[2])
		}
	}
	return failed
}

func queues(t *testing.T, root string) []queue {
	t.Helper()
	var config struct{ Queues []queue }
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(root, "qgen.yaml"))), &config); err != nil {
		t.Fatal(err)
	}
	return config.Queues
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withoutHead returns what is sent: the statement less its head comment.
func withoutHead(text string) string {
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.TrimSpace(text)
}
