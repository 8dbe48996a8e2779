package schema

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		grammar, sql string
		wrong        bool
	}{
		{"postgresql", "-- head\nWITH /* jobs.Claim */ c AS MATERIALIZED (SELECT id FROM jobs LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)\nUPDATE jobs j SET state = 'A' FROM c WHERE j.id = c.id RETURNING j.id", false},
		{"postgresql", "-- nothing but a comment\n", false},
		{"postgresql", "CREATE INDEX CONCURRENTLY a ON jobs (id);\nCREATE INDEX CONCURRENTLY b ON jobs (id);\n", false},
		{"postgresql", "UPDATE jobs SET WHERE id = $1", true},
		{"postgresql", "SELECT 1\x00 garbage", true},
		{"postgresql", "SELECT '\xff'", true},
		{"cockroachdb", "WITH /* jobs.Claim */ gone AS (DELETE FROM jobs WHERE a = (b) ORDER BY id LIMIT $1 RETURNING jobs.id) INSERT INTO taken (id) SELECT id FROM gone RETURNING id", false},
		{"cockroachdb", "WITH gone AS (DELETE FROM jobs LIMIT $1) INSERT INTO taken (id) SELECT id FROM gone", false},
		{"cockroachdb", "WITH gone AS (DELETE FROM jobs ORDER id LIMIT $1 RETURNING jobs.id) INSERT INTO taken (id) SELECT id FROM gone", true},
		{"cockroachdb", "WITH gone AS (DELETE FROM jobs ORDER BY id RETURNING jobs.id) INSERT INTO taken (id) SELECT id FROM gone WHERE", true},
		{"sqlite", "UPDATE /* jobs.Claim */ jobs SET state = 'A' WHERE id IN (SELECT value FROM json_each(?1)) RETURNING id", false},
		{"sqlite", "-- nothing but a comment\n", false},
		{"sqlite", "UPDATE jobs SET WHERE id = ?1", true},
		{"sqlite", "SELECT 1\x00 garbage", true},
		{"sqlite", "SELECT '\xff'", true},
		{"cobol", "SELECT 1", true},
	} {
		if err := Check(tt.grammar, tt.sql); (err != nil) != tt.wrong {
			t.Errorf("%s, %q: %v", tt.grammar, tt.sql, err)
		}
	}
}

// checkSamples checks the statements in a grammar's folder check: good ones are
// taken, bad ones refused as the golden file says.
func checkSamples(t *testing.T, grammar string) {
	t.Helper()
	for _, f := range readFiles(t, filepath.Join("testdata", grammar, "check", "good.sql")) {
		if err := Check(grammar, string(f.Data)); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	path := filepath.Join("testdata", grammar, "check", "bad")
	var got strings.Builder
	for _, f := range readFiles(t, path+".sql") {
		err := Check(grammar, string(f.Data))
		if err == nil {
			t.Errorf("%s is taken", f.Path)
			continue
		}
		got.WriteString(f.Path + ": " + err.Error() + "\n")
	}
	compareGolden(t, path+".golden", got.String())
}
