package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link is a link of Markdown to a file.
var link = regexp.MustCompile(`\]\(([^)#:]+)\)`)

// TestReadmes compares what the READMEs show with the files that it was taken from.
func TestReadmes(t *testing.T) {
	for _, s := range situations {
		t.Run(s.Folder, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(s.Folder, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			readme := string(text)
			if lines := strings.Count(readme, "\n"); lines > 40 {
				t.Errorf("it has %d lines; 40 can be read in a minute", lines)
			}
			for _, found := range link.FindAllStringSubmatch(readme, -1) {
				if _, err := os.Stat(filepath.Join(s.Folder, found[1])); err != nil {
					t.Error(err)
				}
			}
			var sql strings.Builder
			err = filepath.WalkDir(s.Folder, func(path string, _ fs.DirEntry, err error) error {
				if err == nil && filepath.Ext(path) == ".sql" {
					text, err = os.ReadFile(path)
					sql.Write(text)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			shown := 0
			for i, block := range strings.Split(readme, "```") {
				body, ok := strings.CutPrefix(block, "sql\n")
				if !ok || i%2 == 0 {
					continue
				}
				shown++
				if !strings.Contains(sql.String(), strings.TrimSpace(body)) {
					t.Errorf("no .sql file of %s has\n%s", s.Folder, body)
				}
			}
			if shown == 0 {
				t.Error("it shows no table")
			}
		})
	}
}

// TestEverySituationRuns: no folder is left out of the list.
func TestEverySituationRuns(t *testing.T) {
	folders, err := filepath.Glob("[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) != len(situations) {
		t.Fatalf("there are %d folders and %d situations", len(folders), len(situations))
	}
	for i, s := range situations {
		if s.Folder != folders[i] {
			t.Errorf("situation %d is %s, not %s", i+1, s.Folder, folders[i])
		}
	}
}
