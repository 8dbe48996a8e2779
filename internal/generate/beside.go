package generate

// This file finds packages whose queue is gone. Nothing records what was
// generated, so it looks beside the folders of the packages that are left.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// addBeside adds the files of folders beside those of the packages that hold
// nothing but generated files: they belong to a queue that the configuration
// had once. It adds none unless all queues were planned, none outside the
// folder of the configuration, and none when a second configuration is in that
// folder, because the files may be its.
func (c *Changes) addBeside(packages []*Package) error {
	if !c.project.all || c.project.anotherConfiguration() {
		return nil
	}
	// Some file systems do not tell upper from lower case.
	outs := map[string]bool{}
	taken := map[string]bool{} // by packages: their folders and those above
	var parents []string
	for _, pkg := range packages {
		out := pkg.Plan.Out
		outs[strings.ToLower(out)] = true
		for folder := strings.ToLower(out); !taken[folder]; folder = path.Dir(folder) {
			taken[folder] = true
		}
		if filepath.IsLocal(filepath.FromSlash(out)) {
			parents = append(parents, path.Dir(out))
		}
	}
	slices.Sort(parents)
	for _, parent := range slices.Compact(parents) {
		if within(outs, strings.ToLower(parent)) {
			continue // what is in the folder of a package is its
		}
		entries, err := os.ReadDir(c.project.path(parent))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %s", parent, reason(err))
		}
		for _, e := range entries {
			folder := path.Join(parent, e.Name())
			if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || taken[strings.ToLower(folder)] {
				continue
			}
			if err := c.addFolder(folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// within reports whether a folder is one of those or in one.
func within(folders map[string]bool, folder string) bool {
	for ; !folders[folder]; folder = path.Dir(folder) {
		if folder == path.Dir(folder) {
			return false
		}
	}
	return true
}

// addFolder adds all files of a folder, if all were generated.
func (c *Changes) addFolder(folder string) error {
	names, folders, err := c.project.allOurs(folder)
	if err != nil {
		return err
	}
	c.hollow = append(c.hollow, folders...)
	for _, name := range names {
		old, err := os.ReadFile(c.project.path(name))
		if err != nil {
			return fmt.Errorf("%s: %s", name, reason(err))
		}
		c.Files = append(c.Files, Change{Path: name, Kind: Stale, Old: old})
	}
	return nil
}

// anotherConfiguration reports whether the folder of the configuration holds a
// second one.
func (p *Project) anotherConfiguration() bool {
	entries, err := os.ReadDir(p.Root)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if ext := path.Ext(e.Name()); e.Name() == p.Config.File.Path || ext != ".yaml" && ext != ".yml" {
			return false
		}
		text, err := os.ReadFile(filepath.Join(p.Root, e.Name()))
		return err == nil && (bytes.HasPrefix(text, []byte("queues:")) || bytes.Contains(text, []byte("\nqueues:")))
	})
}

// allOurs returns the files below a folder, and the folders, when there are
// files and all of them were generated.
func (p *Project) allOurs(folder string) (names, folders []string, err error) {
	foreign := errors.New("foreign")
	err = fs.WalkDir(os.DirFS(p.path(folder)), ".", func(name string, e fs.DirEntry, err error) error {
		name = path.Join(folder, name)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			folders = append(folders, name)
			return nil
		case !e.Type().IsRegular() || path.Ext(name) != ".go" && path.Ext(name) != ".sql":
			return foreign
		}
		head, err := p.head(name)
		if err != nil {
			return err
		}
		if !ours(name, head) {
			return foreign
		}
		names = append(names, name)
		return nil
	})
	switch {
	case errors.Is(err, foreign), errors.Is(err, fs.ErrPermission):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %s", folder, reason(err))
	case len(names) == 0:
		return nil, nil, nil
	}
	return names, folders, nil
}

// head returns the beginning of a file, with its first line.
func (p *Project) head(name string) ([]byte, error) {
	f, err := os.Open(p.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4096))
}
