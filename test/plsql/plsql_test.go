// Package plsql holds no code. Its test parses SQL for Oracle with the grammar of
// PL/SQL, which no Go package knows.
package plsql

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/servers"
)

// oracle holds the goldens of Oracle, by case.
const oracle = "../../internal/plan/testdata/oracle"

// corpus holds the statements of packages for tables of public projects.
const corpus = "../corpus/gen/*ora/sql"

// TestGrammar parses all statements that are emitted for Oracle, and samples that
// show that the grammar tells good from bad and where.
func TestGrammar(t *testing.T) {
	goldens := append(glob(t, oracle+"/*/*.golden.sql"), glob(t, corpus+"/*.sql")...)
	if _, err := os.Stat(oracle); err == nil && len(goldens) == 0 {
		t.Errorf("%s holds no golden; the test looks in the wrong place", oracle)
	}
	for i, file := range goldens {
		goldens[i] = sampled(t, file)
	}
	good := glob(t, "testdata/good/*.sql")
	bad := map[string]string{ // where the first error is, and what it is about
		"testdata/bad/end_if.sql":       "4:4: missing 'IF'",
		"testdata/bad/into.sql":         "3:29: missing 'INTO'",
		"testdata/bad/limit.sql":        "4:1: mismatched input 'LIMIT'",
		"testdata/bad/of_nothing.sql":   "2:20: mismatched input 'LOCKED'",
		"testdata/bad/quote.sql":        "2:13: ",
		"testdata/bad/second.sql":       "7:29: extraneous input 'WHERE'",
		"testdata/bad/skip_lock.sql":    "2:17: mismatched input 'LOCK'",
		"testdata/bad/update_order.sql": "3:1: mismatched input 'ORDER'",
		"testdata/bad/with_update.sql":  "2:1: mismatched input 'UPDATE'",
	}
	samples := glob(t, "testdata/bad/*.sql")
	complaints := check(t, slices.Concat(goldens, good, samples))
	for _, file := range slices.Concat(goldens, good) {
		for _, complaint := range complaints[file] {
			t.Errorf("%s:%s", file, complaint)
		}
	}
	for _, file := range samples {
		want, ok := bad[file]
		if found := complaints[file]; !ok || len(found) == 0 || !strings.HasPrefix(found[0], want) {
			t.Errorf("%s: the parser says %q, want first %q", file, found, want)
		}
	}
}

var (
	runtimePart = regexp.MustCompile(`\{\{\.\w+\}\}`)
	// Behind APPEND the grammar of JSON_TRANSFORM knows a literal only, where Oracle takes an
	// expression and FORMAT JSON (SQL Language Reference, JSON_TRANSFORM).
	appended = regexp.MustCompile(`JSON_TRANSFORM\((.*), APPEND '\$' = (.*) FORMAT JSON\)`)
)

// sampled returns a file in which the parts of tables' names that are made at run time
// have a value and nothing stands that the grammar is known to lack; the file itself where
// it is so already.
func sampled(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := appended.ReplaceAll(runtimePart.ReplaceAll(text, []byte("7")), []byte("GREATEST($1, $2)"))
	if bytes.Equal(known, text) {
		return file
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(copied, known, 0o644); err != nil {
		t.Fatal(err)
	}
	return copied
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// check returns the complaints of check.mjs, each "line:column: text", by file.
func check(t *testing.T, files []string) map[string][]string {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", "check.mjs", servers.Parser(t, "plsql"))
	node.Stdin = strings.NewReader(strings.Join(files, "\n"))
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node check.mjs: %v\n%s", err, &stderr)
	}
	complaints := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		file, complaint, _ := strings.Cut(strings.TrimSpace(line), ":")
		complaints[file] = append(complaints[file], complaint)
	}
	return complaints
}
