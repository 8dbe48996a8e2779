package generate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/source"
)

// words are roles of a column as users write them, right and wrong, for
// columns of every type.
var words = []string{
	"", "payload", "payload json", "topic", "topic list", "topic not", "topic min", "topic max", "topic optional", "topic prefix",
	"topic any=null", "topic any=''|'*'", "topic list optional any=null", "result", "result max=10", "result append", "result append max=10", "error", "error max=10", "error clear=retry",
	"error append", "worker", "worker append", "worker free=''", "worker mine=ready", "worker alive=arg", "token", "version", "attempts down", "attempts up on=retry max=3",
	"attempts up on=claim max=3 limit=claim", "max_attempts", "max_attempts retries null=3 unlimited=-1|0", "due", "due as=epoch", "due as=text:epoch", "claimed timeout=5m as=text:epoch_us", "due as=epoch_ns", "lease length=arg as=text:epoch_ns", "due null=never as=epoch", "lease length=5m as=epoch",
	"lease length=arg as=epoch", "lease length=5m as=epoch expired=claim", "claimed timeout=5m as=epoch", "visible length=5m as=epoch", "heartbeat timeout=5m as=epoch",
	"enqueued as=epoch", "finished as=epoch", "finished also_failed as=epoch", "expires as=epoch", "seq", "id 2", "shard mod", "shard range",
	"shard hash=\"abs(col)\"", "group fifo", "priority", "priority desc", "order 1 desc nulls=last", "order random", "ignore",
	"on claim,renew set 'x'", "on done set null", "on retry set +1", "on done set arg:what", "on done,fail set arg:left", "on claim,release,recover,redrive,renew set arg:state", "on enqueue set arg:job", "on start set 'x'", "on start set +1", "where \"col > 1\"", "where \"col > {arg:least int64}\"", "status ready~new",
}

// queueWords are what may stand behind qgen:queue jobs.
var queueWords = []string{
	"", "strategy=returning", "strategy=token", "strategy=guarded", "strategy=advisory", "strategy=hold", "strategy=pop",
	"strategy=partition", "done=delete", "failed=delete", "fence=token", "purge=done", "purge=apart",
}

// The columns beside the one with the word.
const (
	steps = "    state text NOT NULL -- qgen:status ready=new claimed=taken running=busy done=done failed=dead\n"
	bare  = "    state text NOT NULL -- qgen:status ready=new running=busy done=done failed=dead\n"
	full  = `    till bigint, -- qgen:lease length=5m as=epoch
    tries bigint, -- qgen:attempts up on=claim max=3
    token text, -- qgen:token
    who text, -- qgen:worker
` + bare
)

// Every word of the language, alone and beside others, ends in complaints or
// in a package that compiles, on every database and with every strategy.
func TestEveryWordCompiles(t *testing.T) {
	compiler := newCompiler(t)
	compiled := 0
	try := func(engine, head, kind, word, rest string) {
		note := ""
		if word != "" {
			note = " -- qgen:" + word
		}
		ddl := fmt.Sprintf("-- qgen:queue jobs %s\nCREATE TABLE jobs (\n    id bigint PRIMARY KEY,\n    col %s,%s\n%s);\n", head, kind, note, rest)
		root := tree(t, map[string]string{
			"qgen.yaml":  fmt.Sprintf("version: \"1\"\nqueues:\n  - {schema: schema.sql, engine: %s, gen: {go: {out: jobs, package: jobs, worker: true}}}\n", engine),
			"schema.sql": ddl,
		})
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
			return
		}
		if err := compiler.compile(packages); err != nil {
			message, _, _ := strings.Cut(err.Error(), "\n")
			t.Errorf("%s: %s\n%s", engine, message, ddl)
		}
		compiled++
	}
	for _, engine := range []string{"sqlite", "postgresql"} {
		for _, word := range words {
			try(engine, "", "text", word, full)
			try(engine, "", "bigint", word, bare)
			try(engine, "", "bigint", word, steps)
			if engine == "postgresql" {
				try(engine, "", "text[]", word, bare)
			}
		}
		for _, head := range queueWords {
			try(engine, head, "text", "", full)
		}
	}
	if !testing.Short() {
		for _, head := range queueWords[1:] {
			for _, word := range words {
				try("postgresql", head, "bigint", word, bare) // it has every strategy
			}
		}
	}
	if compiled < len(words) {
		t.Errorf("only %d packages were compiled; the tables of this test are refused", compiled)
	}
}
