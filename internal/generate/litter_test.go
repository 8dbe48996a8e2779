package generate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dead returns the number of a process that has ended.
func dead(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// What a killed run has left is removed; what another is writing is not, and
// what only looks alike is not.
func TestWriteSweepsWhatKilledRunsLeft(t *testing.T) {
	left := func(pid int) string { return fmt.Sprintf(".qgen-%d-%s.tmp", pid, strings.Repeat("Q2", 13)) }
	gone, self, running := left(dead(t)), left(os.Getpid()), left(os.Getppid())
	if name := filepath.Base(temporary("x")); temporaryName().FindString(name) != name {
		t.Fatalf("%s does not match", name)
	}
	for _, tt := range []struct {
		name, at string
		there    []string
	}{
		{"in a package", "jobs/", []string{"jobs/doc.go"}},
		{"in its SQL", "jobs/sql/", []string{"jobs/doc.go"}},
		{"above a package to be made", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, name := range tt.there {
				files[name] = string(emitted[1].Data)
			}
			for _, name := range []string{running, ".qgen-1.tmp", gone[1:], gone + ".go", ".qgen-x" + gone[6:]} {
				files[tt.at+name] = ""
			}
			kept := tree(t, files)
			files[tt.at+gone], files[tt.at+self+"/deep/file"] = "", ""
			root := tree(t, files)

			if changes := compare(t, root, emitted[1:2]); len(changes.Files) != 1-len(tt.there) {
				t.Errorf("changes are %v", changes.Files)
			} else if err := changes.Write(t.Context()); err != nil {
				t.Error(err)
			}
			want := snapshot(t, kept)
			want["jobs/"], want["jobs/doc.go"] = "", string(emitted[1].Data)
			same(t, snapshot(t, root), want)
		})
	}
}
