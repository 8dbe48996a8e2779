package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/servers"
)

// Of one group of many rows a claim reads the first by the advised indexes, and not the group.
func TestGroupsAreNotReadWhole(t *testing.T) {
	const most = 100 // pages; all rows stand on some 300
	fill := map[string]string{
		"hooks": "INSERT INTO hooks (tenant, kind, weight) SELECT 'a', 'k', g %% 7 FROM generate_series(1, %d) g",
		"steps": "INSERT INTO steps (order_id, due_at) SELECT 1, now() - interval '1 day' + g * interval '1 second' FROM generate_series(1, %d) g",
		"lines": "INSERT INTO lines (target) SELECT 'a' FROM generate_series(1, %d) g",
	}
	for _, live := range []string{"postgres13", "postgres18"} {
		t.Run(live, func(t *testing.T) {
			c := caseAt(t, "testdata/postgresql/group")
			db := ownDatabase(t, "pgx", servers.DSN(t, live))
			for _, text := range servers.Statements(t, c.ddl) {
				if strings.Contains(text, "CREATE TABLE app.") {
					continue // asked by none of these, and in a schema that others share
				}
				if _, err := db.Exec(text); err != nil {
					t.Fatal(err)
				}
			}
			packages := c.variants(t, nil)
			for name, rows := range fill {
				p := packages[name]
				for _, ix := range p.Indexes {
					if _, err := db.Exec(strings.Replace(ix.DDL, " CONCURRENTLY", "", 1)); err != nil {
						t.Fatal(err)
					}
				}
				for _, text := range []string{fmt.Sprintf(rows, 20000), "ANALYZE " + name} {
					if _, err := db.Exec(text); err != nil {
						t.Fatal(err)
					}
				}
				args := []any{1}
				if name == "hooks" {
					args = []any{"k", 1} // its topic
				}
				var text string
				if err := db.QueryRow("EXPLAIN (ANALYZE, BUFFERS, FORMAT json) "+p.Claim.Lock.SQL, args...).Scan(&text); err != nil {
					t.Fatal(err)
				}
				var plans []struct {
					Plan struct {
						Hit   int     `json:"Shared Hit Blocks"`
						Fresh int     `json:"Shared Read Blocks"`
						Rows  float64 `json:"Actual Rows"`
					}
				}
				if err := json.Unmarshal([]byte(text), &plans); err != nil {
					t.Fatal(err)
				}
				if read := plans[0].Plan.Hit + plans[0].Plan.Fresh; plans[0].Plan.Rows != 1 || read > most {
					t.Errorf("%s: %v rows are locked, %d pages read\n%s\n%s", name, plans[0].Plan.Rows, read, p.Claim.Lock.SQL, text)
				}
			}
		})
	}
}
