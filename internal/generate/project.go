// Package generate joins the passes and is the only one that touches the disk:
// it finds the configuration, reads the DDL that it names, has every package
// planned and emitted in memory, compares that with what is there, and writes
// the difference at once or not at all.
package generate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/source"
)

// Project is a configuration and the folder from which its paths start.
type Project struct {
	Root   string
	Config *config.Config

	all bool // every queue was planned
}

// NotFoundError says that there is no configuration to be found.
type NotFoundError struct {
	First, Last string // the folders where the search began and ended
}

// Error names the folders that were searched.
func (e *NotFoundError) Error() string {
	if e.First == e.Last {
		return fmt.Sprintf("there is no %s in %s", config.Name, e.First)
	}
	return fmt.Sprintf("there is no %s in %s or above it, up to %s", config.Name, e.First, e.Last)
}

// Load reads the configuration: the named file, or for "" the one that is
// found by searching upwards from dir. Complaints about its text go to errs;
// the error is about reading it.
func Load(dir, file string, errs *source.ErrorList) (*Project, error) {
	if file == "" {
		found, err := find(dir)
		if err != nil {
			return nil, err
		}
		file = found
	} else if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := config.Parse(source.NewFile(filepath.Base(file), text), errs)
	return &Project{Root: filepath.Dir(file), Config: c}, nil
}

// find searches for the configuration from dir upwards, as far as the root of
// the module (the folder with go.mod) or of the file system.
func find(dir string) (string, error) {
	first, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for folder := first; ; folder = filepath.Dir(folder) {
		file := filepath.Join(folder, config.Name)
		switch _, err := os.Stat(file); {
		case err == nil:
			return file, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		_, err := os.Stat(filepath.Join(folder, "go.mod"))
		if err == nil || folder == filepath.Dir(folder) {
			return "", &NotFoundError{First: first, Last: folder}
		}
	}
}

// path returns where a path of the configuration is on the disk.
func (p *Project) path(slashed string) string {
	if name := filepath.FromSlash(slashed); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Root, filepath.FromSlash(slashed))
}
