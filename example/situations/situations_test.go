package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/servers"
)

// TestSituations runs every program on every server that can run it. Whatever
// the server and the strategy, it prints what stands in its file.
func TestSituations(t *testing.T) {
	for _, s := range situations {
		t.Run(s.Folder, func(t *testing.T) {
			for _, p := range s.Programs {
				for _, server := range on(p.Servers) {
					t.Run(server, func(t *testing.T) {
						t.Parallel()
						golden := filepath.Join(s.Folder, cmp.Or(p.Output, "output.txt"))
						want, err := os.ReadFile(golden)
						if err != nil && os.Getenv("UPDATE_GOLDEN") == "" {
							t.Fatal(err)
						}
						dsn := ""
						if server != "sqlite" {
							dsn = servers.DSN(t, server)
						}
						db, drop, err := scratch(t.Context(), s, p, dsn)
						if err != nil {
							t.Fatal(err)
						}
						var out bytes.Buffer
						err = p.Run(t.Context(), db, &out)
						if err := cmp.Or(err, drop()); err != nil {
							t.Fatalf("%v\nafter\n%s", err, out.String())
						}
						if os.Getenv("UPDATE_GOLDEN") != "" {
							if err := os.WriteFile(golden, out.Bytes(), 0o666); err != nil {
								t.Fatal(err)
							}
							return
						}
						if out.String() != string(want) {
							t.Errorf("printed\n%s\nwant, as in %s,\n%s", out.String(), golden, want)
						}
					})
				}
			}
		})
	}
}

// on returns the servers at hand whose names begin so.
func on(prefixes []string) []string {
	return slices.DeleteFunc(append([]string{"sqlite"}, servers.Names()...), func(name string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}
