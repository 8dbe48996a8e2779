package plan

import (
	"os"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// The README shows a table and the claim that is made for it. Both are the
// real thing.
func TestReadmeShowsRealClaim(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(string(text), "```") {
		if body, ok := strings.CutPrefix(part, "sql\n"); ok && i%2 == 1 {
			blocks = append(blocks, body)
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("README has %d SQL blocks, want the table and the claim", len(blocks))
	}
	var errs source.ErrorList
	cfg := config.Parse(source.NewFile("qgen.yaml", []byte(`
version: "1"
queues:
  - {schema: [schema.sql], engine: postgresql, gen: {go: {package: emailq, out: emailq, sql_package: pgx/v5}}}
`)), &errs)
	d, _ := dialect.Lookup("postgresql")
	catalog, err := schema.Read(d.Grammar, []*source.File{source.NewFile("schema.sql", []byte(blocks[0]))}, &errs)
	if err != nil {
		t.Fatal(err)
	}
	specs := queue.Bind(catalog, cfg.Queues[0], d.Fold, &errs)
	if len(specs) != 1 {
		t.Fatal(errs.Detail())
	}
	p := Build(specs[0], d, cfg.Queues[0], nil, &errs)
	if errs.Len() > 0 {
		t.Fatal(errs.Detail())
	}
	if got := strings.TrimSpace(blocks[1]); got != p.Claim.Statement.SQL {
		t.Errorf("README shows\n%s\nbut the claim is\n%s", got, p.Claim.Statement.SQL)
	}
}
