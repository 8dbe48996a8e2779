package schema

import (
	"path/filepath"
	"strings"
	"testing"
)

// What Oracle takes is taken, part by part and all of it as one script.
func TestCheckOracleTakes(t *testing.T) {
	for _, f := range readFiles(t, filepath.Join("testdata", "oracle", "check", "good.sql")) {
		if err := Check("oracle", string(f.Data)); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
}

// What Oracle does not take is refused, each for its reason.
func TestCheckOracleRefuses(t *testing.T) {
	path := filepath.Join("testdata", "oracle", "check", "bad.sql")
	var got strings.Builder
	for _, f := range readFiles(t, path) {
		err := Check("oracle", string(f.Data))
		if err == nil {
			t.Errorf("%s is taken", f.Path)
			continue
		}
		got.WriteString(f.Path + ": " + err.Error() + "\n")
	}
	compareGolden(t, strings.TrimSuffix(path, ".sql")+".golden", got.String())
}

// Of a statement that is taken, no part is: wherever it is cut off behind a word
// that asks for more, an end is missing.
func TestCheckOracleMissesTheEnd(t *testing.T) {
	const block = "DECLARE CURSOR c IS SELECT id FROM jobs ORDER BY id FOR UPDATE SKIP LOCKED; BEGIN OPEN c ; FETCH c BULK COLLECT INTO ids LIMIT 5 ; CLOSE c ; " +
		"IF ids.COUNT > 0 THEN FORALL i IN 1 .. ids.COUNT UPDATE jobs SET state = 1 WHERE id = ids(i) RETURNING id BULK COLLECT INTO got ; END IF ; OPEN :rc FOR SELECT id FROM jobs ; END ;"
	if err := Check("oracle", block); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(block)
	for n := 1; n < len(words); n++ {
		if part := strings.Join(words[:n], " "); Check("oracle", part) == nil {
			t.Errorf("taken: %s", part)
		}
	}
}

// What is nested without end is refused before the stack is.
func TestCheckOracleNesting(t *testing.T) {
	const n = 100_000
	for name, sql := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + " FROM dual",
		"calls":       "SELECT " + strings.Repeat("f(", n) + "1" + strings.Repeat(")", n) + " FROM dual",
		"queries":     "SELECT 1 FROM " + strings.Repeat("(SELECT 1 FROM ", n) + "dual" + strings.Repeat(")", n),
		"cases":       "SELECT " + strings.Repeat("CASE WHEN ", n) + "1" + strings.Repeat(" THEN 1 END", n) + " FROM dual",
		"blocks":      strings.Repeat("BEGIN ", n) + "NULL;" + strings.Repeat(" END;", n),
		"ifs":         "BEGIN " + strings.Repeat("IF a THEN ", n) + "NULL;" + strings.Repeat(" END IF;", n) + " END;",
		"loops":       "BEGIN " + strings.Repeat("LOOP ", n) + "NULL;" + strings.Repeat(" END LOOP;", n) + " END;",
		"routines":    "DECLARE " + strings.Repeat("PROCEDURE p IS ", n) + "BEGIN NULL; END;",
		"joins":       "SELECT 1 FROM " + strings.Repeat("(a JOIN ", n) + "b ON 1 = 1" + strings.Repeat(" ON 1 = 1)", n),
		"columns":     "SELECT 1 FROM JSON_TABLE(a, '$' " + strings.Repeat("COLUMNS (NESTED PATH '$' ", n),
		"grouping":    "SELECT 1 FROM a GROUP BY " + strings.Repeat("GROUPING SETS (", n) + "a" + strings.Repeat(")", n),
	} {
		if err := Check("oracle", sql); err == nil {
			t.Errorf("%s are taken", name)
		}
		// Below the limit of tokens the limit of depth counts.
		if err := checkOracleSQL(strings.ReplaceAll(sql[:min(len(sql), 6_000)], ",", "")); err == nil {
			t.Errorf("%s are taken", name)
		}
	}
}

func FuzzCheckOracle(f *testing.F) {
	for _, name := range []string{"good.sql", "bad.sql"} {
		for _, file := range readFiles(f, filepath.Join("testdata", "oracle", "check", name)) {
			f.Add(string(file.Data))
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if err := Check("oracle", sql); err != nil && strings.Contains(err.Error(), "the parser failed") {
			t.Error(err)
		}
	})
}
