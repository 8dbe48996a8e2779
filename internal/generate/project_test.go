package generate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/qgen-dev/qgen/internal/source"
)

// tree writes files into a new folder and returns the folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLoadSearchesUpToTheModule(t *testing.T) {
	root := tree(t, map[string]string{
		"qgen.yaml":             "version: \"1\"\n",
		"inner/deep/file":       "",
		"module/go.mod":         "module m\n",
		"module/deep/file":      "",
		"own/go.mod":            "module m\n",
		"own/qgen.yaml":         "version: \"1\"\n",
		"own/deep/file":         "",
		"elsewhere/named.yaml":  "version: \"1\"\n",
		"[odd]*name?/qgen.yaml": "version: \"1\"\n",
	})
	for _, tt := range []struct{ dir, file, want string }{
		{"", "", ""},
		{"inner/deep", "", ""},
		{"own/deep", "", "own"},
		{"inner", "../elsewhere/named.yaml", "elsewhere"},
		{"inner", filepath.Join(root, "elsewhere/named.yaml"), "elsewhere"},
		{"[odd]*name?", "", "[odd]*name?"},
	} {
		p, err := Load(filepath.Join(root, tt.dir), tt.file, &source.ErrorList{})
		if err != nil {
			t.Errorf("from %s: %v", tt.dir, err)
			continue
		}
		if want := filepath.Join(root, tt.want); p.Root != want {
			t.Errorf("from %s: found %s, want %s", tt.dir, p.Root, want)
		}
	}

	module := filepath.Join(root, "module")
	_, err := Load(filepath.Join(module, "deep"), "", &source.ErrorList{})
	var missing *NotFoundError
	if !errors.As(err, &missing) || missing.Last != module {
		t.Errorf("the search leaves the module: %v", err)
	}
	if _, err := Load(root, "nowhere.yaml", &source.ErrorList{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is not there: %v", err)
	}
}
