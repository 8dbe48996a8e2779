package generate

import (
	"errors"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/source"
)

var errBroken = errors.New("broken")

// stale compares a project of packages in those folders, whose files are as
// they should be, with what is below root and returns what is stale.
func stale(t *testing.T, root string, all bool, outs ...string) *Changes {
	t.Helper()
	p := &Project{Root: root, Config: &config.Config{File: source.NewFile("qgen.yaml", nil)}, all: all}
	var packages []*Package
	var files []emit.File
	for _, out := range outs {
		packages = append(packages, &Package{Plan: &plan.Package{Out: out}})
		for _, name := range []string{"doc.go", "sql/claim.sql"} {
			if text, err := os.ReadFile(p.path(path.Join(out, name))); err == nil {
				files = append(files, emit.File{Path: path.Join(out, name), Data: text})
			}
		}
	}
	var errs source.ErrorList
	changes, err := p.Compare(packages, files, &errs)
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%v\n%s", err, errs.Detail())
	}
	return changes
}

func TestFoldersOfQueuesThatAreGone(t *testing.T) {
	gone := map[string]string{
		"gen/jobs/doc.go":        "package jobs\n",
		"gen/gone/doc.go":        goHead + "package gone\n",
		"gen/gone/sql/claim.sql": sqlHead,
	}
	with := func(more map[string]string) map[string]string {
		files := map[string]string{}
		for _, m := range []map[string]string{gone, more} {
			for name, text := range m {
				files[name] = text
			}
		}
		return files
	}
	found := []string{"gen/gone/doc.go", "gen/gone/sql/claim.sql"}
	for _, tt := range []struct {
		name  string
		files map[string]string
		outs  []string
		some  bool // only some queues were planned
		want  []string
	}{
		{name: "beside", files: gone, outs: []string{"gen/jobs"}, want: found},
		{name: "beside two", files: gone, outs: []string{"gen/jobs", "gen/more/mails"}, want: found},
		{name: "of a queue", files: gone, outs: []string{"gen/jobs", "gen/gone"}},
		{name: "above a queue", files: with(map[string]string{"gen/gone/deep/doc.go": goHead}), outs: []string{"gen/jobs", "gen/gone/deep"}, want: found[1:]},
		{name: "in the folder of a queue", files: gone, outs: []string{"gen", "gen/jobs"}},
		{name: "in the root that is a queue's", files: gone, outs: []string{".", "gen/jobs"}},
		{name: "not beside", files: gone, outs: []string{"jobs"}},
		{name: "some queues", files: gone, outs: []string{"gen/jobs"}, some: true},
		{name: "deep", files: with(map[string]string{"gen/gone/a/b/doc.go": goHead}), outs: []string{"gen/jobs"}, want: append([]string{"gen/gone/a/b/doc.go"}, found...)},
		{name: "a file of somebody's", files: with(map[string]string{"gen/gone/mine.go": "package gone\n"}), outs: []string{"gen/jobs"}},
		{name: "a file of another kind", files: with(map[string]string{"gen/gone/README.md": goHead}), outs: []string{"gen/jobs"}},
		{name: "a deep file of somebody's", files: with(map[string]string{"gen/gone/sql/x/mine.sql": "SELECT 1"}), outs: []string{"gen/jobs"}},
		{name: "of a queue in other letters", files: gone, outs: []string{"gen/jobs", "gen/GONE"}},
		{name: "hidden", files: map[string]string{"gen/.gone/doc.go": goHead}, outs: []string{"gen/jobs"}},
		{name: "another configuration", files: with(map[string]string{"other.yml": "version: \"1\"\nqueues:\n"}), outs: []string{"gen/jobs"}},
		{name: "another configuration at once", files: with(map[string]string{"other.yaml": "queues: []\n"}), outs: []string{"gen/jobs"}},
		{name: "another YAML file", files: with(map[string]string{"other.yaml": "version: \"1\"\nsql:\n  - queues: x\n"}), outs: []string{"gen/jobs"}, want: found},
		{name: "its own configuration", files: with(map[string]string{"qgen.yaml": "queues:\n"}), outs: []string{"gen/jobs"}, want: found},
		{name: "an empty folder", files: map[string]string{"gen/jobs/doc.go": ""}, outs: []string{"gen/jobs", "gen/none/jobs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changes := stale(t, tree(t, tt.files), !tt.some, tt.outs...)
			var got []string
			for _, c := range changes.Files {
				if c.Kind != Stale {
					t.Errorf("%s is %s", c.Path, c.Kind)
				}
				got = append(got, c.Path)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("stale are %q, want %q", got, tt.want)
			}
		})
	}

	// Outside the folder of the configuration others may write.
	outside := tree(t, map[string]string{"project/qgen.yaml": "", "gen/gone/doc.go": goHead})
	if changes := stale(t, outside+"/project", true, "../gen/jobs"); len(changes.Files) > 0 {
		t.Errorf("stale are %v", changes.Files)
	}
}

// The folder goes with its files, and comes back with them when writing fails.
func TestWriteRemovesFoldersOfQueuesThatAreGone(t *testing.T) {
	files := map[string]string{
		"gen/jobs/mine.go":         "package jobs\n",
		"gen/gone/a/doc.go":        goHead + "package a\n",
		"gen/gone/a/sql/claim.sql": sqlHead,
	}
	root := tree(t, files)
	old := snapshot(t, root)
	changes := stale(t, root, true, "gen/jobs")
	changes.Files = append(changes.Files, Change{Path: "gen/zzz.go", Kind: Changed, New: []byte(goHead)})
	if err := changes.write(t.Context(), func(string, string) error { return errBroken }); err == nil || err.Error() != "gen/zzz.go: broken" {
		t.Errorf("Write said %v", err)
	}
	same(t, snapshot(t, root), old)

	if err := stale(t, root, true, "gen/jobs").Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, snapshot(t, root), map[string]string{"./": "", "gen/": "", "gen/jobs/": "", "gen/jobs/mine.go": "package jobs\n"})
}
