package generate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write carries the changes out, all or none. Everything new is first written
// to temporary files beside their targets and flushed to the disk; until then
// a failure, or ctx, leaves every file as it was. Then the files change places,
// which is not interrupted, and if that fails what was done is undone. Files
// that are as they should be are not touched.
func (c *Changes) Write(ctx context.Context) error {
	return c.write(ctx, os.Rename)
}

// write is Write with the call that moves a file to its place.
func (c *Changes) write(ctx context.Context, rename func(from, to string) error) (err error) {
	w := &writing{project: c.project, temp: make([]string, len(c.Files))}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.undo(c.Files))
		}
	}()
	if err := w.makeFolders(c.Files); err != nil {
		return err
	}
	// Most of the time goes into waiting for the disk.
	failed := make([]error, len(c.Files))
	parallel(16, len(c.Files), func(i int) {
		if c.Files[i].Kind != Stale && ctx.Err() == nil {
			w.temp[i], failed[i] = w.prepare(c.Files[i])
		}
	})
	for i, err := range failed {
		if err != nil {
			return fmt.Errorf("%s: %s", c.Files[i].Path, reason(err))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, change := range c.Files {
		target := c.project.path(change.Path)
		if change.Kind == Stale {
			err = os.Remove(target)
		} else {
			err = rename(w.temp[i], target)
		}
		if err != nil {
			return fmt.Errorf("%s: %s", change.Path, reason(err))
		}
		w.done++
	}
	w.tidy(c.Files)
	return nil
}

// writing is one Write under way.
type writing struct {
	project *Project
	folders []string // made for it, outermost first
	temp    []string // temporary file of each change, "" when there is none
	done    int      // changes that are in place
}

// prepare writes the new text of a file beside the file.
func (w *writing) prepare(c Change) (temp string, err error) {
	target := w.project.path(c.Path)
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	temp = filepath.Join(filepath.Dir(target), ".qgen-"+rand.Text()+".tmp")
	return temp, writeFile(temp, c.New, mode)
}

// writeFile writes a file that is not there yet and flushes it to the disk.
func writeFile(name string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// makeFolders makes the folders of the files that will be written.
func (w *writing) makeFolders(changes []Change) error {
	for _, c := range changes {
		if c.Kind == Stale {
			continue
		}
		if err := w.makeFolder(filepath.Dir(w.project.path(c.Path))); err != nil {
			return fmt.Errorf("%s: %s", c.Path, reason(err))
		}
	}
	return nil
}

// makeFolder makes a folder and those above it, and remembers which it made.
func (w *writing) makeFolder(folder string) error {
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: folder, Err: errors.New("its folder is a file")}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.makeFolder(filepath.Dir(folder)); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	w.folders = append(w.folders, folder)
	return nil
}

// undo puts the disk back to what it was.
func (w *writing) undo(changes []Change) error {
	var failed error
	for i := w.done - 1; i >= 0; i-- {
		c := changes[i]
		target := w.project.path(c.Path)
		var err error
		switch c.Kind {
		case Missing:
			err = os.Remove(target)
		case Changed, Stale:
			err = os.WriteFile(target, c.Old, 0o644)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s could not be put back: %s", c.Path, reason(err)))
		}
	}
	for i := w.done; i < len(w.temp); i++ {
		if w.temp[i] != "" {
			_ = os.Remove(w.temp[i]) // it may not have come to be
		}
	}
	for i := len(w.folders) - 1; i >= 0; i-- {
		_ = os.Remove(w.folders[i]) // fails when somebody else put something there
	}
	return failed
}

// tidy removes folders that hold nothing any more and flushes the others, so
// that the new names survive a crash of the machine. The files are in place:
// what fails here is no failure of writing.
func (w *writing) tidy(changes []Change) {
	flushed := map[string]bool{}
	for _, c := range changes {
		folder := filepath.Dir(w.project.path(c.Path))
		if flushed[folder] {
			continue
		}
		flushed[folder] = true
		if c.Kind == Stale && os.Remove(folder) == nil { // fails unless it is empty
			continue
		}
		if f, err := os.Open(folder); err == nil {
			_ = f.Sync()
			_ = f.Close()
		}
	}
}
