package conformance

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/dialect"
)

// The README's table of what proves each strategy on each server is made from
// proof.tsv, which a whole run of TestConformance writes.
func TestReadmeTableIsProved(t *testing.T) {
	const path, begin, end = "../../README.md", "<!-- proved by test/conformance/proof.tsv -->\n", "<!-- end -->"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(readme), begin)
	old, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("README has no table between %q and %q", begin, end)
	}
	table := proofTable(t)
	if old == table {
		return
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		t.Fatalf("the README's table is not what proof.tsv says; UPDATE_GOLDEN=1 writes it:\n%s", table)
	}
	if err := os.WriteFile(path, []byte(head+begin+table+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// proofTable lays out proof.tsv: a row for each server, a column for each
// strategy, in a cell how many properties of the suite were proved live. An
// engine for which packages are emitted and none was proved is parsed only.
func proofTable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("proof.tsv")
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]map[string]string{}
	var rows, strategies []string
	set := func(server, strategy, cell string) {
		if cells[server] == nil {
			cells[server] = map[string]string{}
			rows = append(rows, server)
		}
		cells[server][strategy] = cell
		if !slices.Contains(strategies, strategy) {
			strategies = append(strategies, strategy)
		}
	}
	proved := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 {
			t.Fatalf("proof.tsv: %q has %d fields, want 4", line, len(fields))
		}
		if fields[0] == "strategy" {
			continue
		}
		proved[fields[1]] = true
		set(serverTitle(t, fields[1], fields[2]), fields[0], fmt.Sprintf("live, %d", len(strings.Split(fields[3], ", "))))
	}
	for _, e := range configured(t) {
		if s := (&subject{server: server{family: e.family}, pkg: e, shape: shapes[e.shape]}); !proved[e.engine] {
			set(dialectOf(t, e.engine).Title, s.strategy(), "parsed")
		}
	}
	slices.Sort(strategies)
	slices.SortStableFunc(rows, func(a, b string) int {
		return strings.Compare(strings.TrimRight(a, "0123456789. "), strings.TrimRight(b, "0123456789. "))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "\n| server | `%s` |\n|---|%s\n", strings.Join(strategies, "` | `"), strings.Repeat("---|", len(strategies)))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |", row)
		for _, s := range strategies {
			fmt.Fprintf(&b, " %s |", cmp.Or(cells[row][s], "–"))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.String()
}

// serverTitle is what people call a server of proof.tsv: a version of the engine,
// the name of a cluster, or - where there is one only.
func serverTitle(t *testing.T, engine, name string) string {
	t.Helper()
	d := dialectOf(t, engine)
	i := slices.IndexFunc(live, func(s server) bool { return s.name == name })
	switch {
	case i >= 0:
		return d.Title + " " + live[i].version + ", " + d.Cluster
	case name == "-":
		return d.Title
	}
	return d.Title + " " + name
}

// dialectOf returns the dialect of an engine.
func dialectOf(t *testing.T, engine string) *dialect.Dialect {
	t.Helper()
	d, ok := dialect.Lookup(engine)
	if !ok {
		t.Fatalf("there is no engine %q", engine)
	}
	return d
}
