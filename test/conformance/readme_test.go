package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
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

// proofTable lays out proof.tsv: a row for each strategy, a column for each
// server, in a cell how many properties of the suite were proved live.
func proofTable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("proof.tsv")
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]map[string]string{}
	var servers []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 {
			t.Fatalf("proof.tsv: %q has %d fields, want 4", line, len(fields))
		}
		if fields[0] == "strategy" {
			continue
		}
		server := "SQLite"
		if fields[1] == "postgresql" {
			server = "PostgreSQL " + fields[2]
		}
		if !slices.Contains(servers, server) {
			servers = append(servers, server)
		}
		if cells[fields[0]] == nil {
			cells[fields[0]] = map[string]string{}
		}
		cells[fields[0]][server] = fmt.Sprintf("live, %d properties", len(strings.Split(fields[3], ", ")))
	}
	slices.Sort(servers)
	var b strings.Builder
	fmt.Fprintf(&b, "\n| strategy | %s |\n|---|%s\n", strings.Join(servers, " | "), strings.Repeat("---|", len(servers)))
	var strategies []string
	for s := range cells {
		strategies = append(strategies, s)
	}
	slices.Sort(strategies)
	for _, s := range strategies {
		fmt.Fprintf(&b, "| `%s` |", s)
		for _, server := range servers {
			cell := cells[s][server]
			if cell == "" {
				cell = "not offered"
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.String()
}
