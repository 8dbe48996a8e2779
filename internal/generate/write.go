package generate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Write carries the changes out, all or none. Everything new is first written
// beside its place: a file that replaces another to a temporary file, flushed
// to the disk; a folder that is not there to a temporary folder. Until then a
// failure, or ctx, leaves every file as it was. Then the files and folders
// change places, which is not interrupted, and if that fails what was done is
// undone. Files that are as they should be are not touched.
func (c *Changes) Write(ctx context.Context) error {
	return c.write(ctx, os.Rename)
}

// write is Write with the call that moves a file or a folder to its place.
func (c *Changes) write(ctx context.Context, rename func(from, to string) error) (err error) {
	c.sweep()
	w := &writing{folders: map[string]*newFolder{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.undo())
		}
	}()
	for _, change := range c.Files {
		if err := w.add(change, c.project.path(change.Path)); err != nil {
			return fmt.Errorf("%s: %s", change.Path, reason(err))
		}
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	for _, s := range w.steps {
		if err := s.place(rename); err != nil {
			return fmt.Errorf("%s: %s", s.Path, reason(err))
		}
	}
	c.removeEmpty()
	return nil
}

// writing is one Write under way.
type writing struct {
	steps   []*step               // one for each change, in their order
	folders map[string]*newFolder // by path; nil for a folder that is there
}

// step is one change under way.
type step struct {
	Change
	target string     // its place
	folder *newFolder // that it is in, nil when its folder is there
	temp   string     // where the new text is written first, "" of Stale
	placed bool
}

// newFolder is a folder that is not there, and is written as a whole.
type newFolder struct {
	target string // its place
	temp   string // where it is written first
	placed bool
}

// add adds a change and finds out where its text is written first.
func (w *writing) add(c Change, target string) error {
	s := &step{Change: c, target: target}
	if c.Kind != Stale {
		folder, err := w.folder(filepath.Dir(target))
		switch {
		case err != nil:
			return err
		case folder == nil:
			s.temp = temporary(target)
		default:
			s.folder, s.temp = folder, folder.temp+target[len(folder.target):]
		}
	}
	w.steps = append(w.steps, s)
	return nil
}

// folder returns the outermost folder that must be made for one, nil when it
// is there.
func (w *writing) folder(path string) (*newFolder, error) {
	if f, ok := w.folders[path]; ok {
		return f, nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("its folder is a file")}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var f *newFolder
	if err != nil {
		if f, err = w.folder(filepath.Dir(path)); err != nil {
			return nil, err
		}
		if f == nil {
			f = &newFolder{target: path, temp: temporary(path)}
		}
	}
	w.folders[path] = f
	return f, nil
}

// prepare writes everything new to its first place.
func (w *writing) prepare(ctx context.Context) error {
	// Those in one folder one after the other: they would wait for each other.
	var batches [][]*step
	of := map[string]int{}
	for _, s := range w.steps {
		if s.Kind == Stale {
			continue
		}
		folder := filepath.Dir(s.temp)
		at, known := of[folder]
		if !known {
			at = len(batches)
			of[folder], batches = at, append(batches, nil)
		}
		batches[at] = append(batches[at], s)
	}
	failed := make([]error, len(batches))
	parallel(16, len(batches), func(i int) {
		if failed[i] = ctx.Err(); failed[i] == nil {
			failed[i] = prepare(batches[i])
		}
	})
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// prepare writes the new texts of files in one folder to their first places.
func prepare(batch []*step) error {
	if s := batch[0]; s.folder != nil {
		if err := os.MkdirAll(filepath.Dir(s.temp), 0o755); err != nil {
			return fmt.Errorf("%s: %s", s.Path, reason(err))
		}
	}
	for _, s := range batch {
		if err := s.prepare(); err != nil {
			return fmt.Errorf("%s: %s", s.Path, reason(err))
		}
	}
	return nil
}

// prepare writes the new text of a file to its first place.
func (s *step) prepare() error {
	mode := fs.FileMode(0o644)
	if s.Kind == Changed {
		if info, err := os.Stat(s.target); err == nil {
			mode = info.Mode().Perm()
		}
	}
	f, err := os.OpenFile(s.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(s.New)
	if err == nil && s.Kind == Changed {
		// If the machine crashes the old text is there or the new one. Where
		// there is no old one, nothing can be lost, and waiting is not worth it.
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// place carries a change out that is prepared.
func (s *step) place(rename func(from, to string) error) error {
	var err error
	switch {
	case s.Kind == Stale:
		err = os.Remove(s.target)
	case s.folder == nil:
		err = rename(s.temp, s.target)
	case !s.folder.placed:
		err = rename(s.folder.temp, s.folder.target)
		s.folder.placed = err == nil
	}
	s.placed = err == nil
	return err
}

// undo puts the disk back to what it was.
func (w *writing) undo() error {
	var failed error
	for _, s := range slices.Backward(w.steps) {
		var err error
		switch {
		case s.folder != nil && s.folder.placed:
			_ = os.Remove(s.target)
		case s.folder != nil:
		case !s.placed && s.temp != "":
			_ = os.Remove(s.temp) // it may not have come to be
		case !s.placed:
		case s.Kind == Missing:
			err = os.Remove(s.target)
		default:
			err = os.WriteFile(s.target, s.Old, 0o644)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s could not be put back: %s", s.Path, reason(err)))
		}
	}
	// Inner folders first. One in which somebody else has put something stays.
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(w.folders))) {
		if f := w.folders[path]; f != nil && f.placed {
			_ = os.Remove(path)
		} else if f != nil {
			_ = os.RemoveAll(f.temp)
		}
	}
	return failed
}

// removeEmpty removes folders that stale files have left empty. The files are
// in place: what fails here is no failure of writing.
func (c *Changes) removeEmpty() {
	folders := map[string]bool{}
	for _, folder := range c.hollow {
		folders[c.project.path(folder)] = true
	}
	for _, change := range c.Files {
		if change.Kind == Stale {
			folders[filepath.Dir(c.project.path(change.Path))] = true
		}
	}
	for _, folder := range slices.Backward(slices.Sorted(maps.Keys(folders))) {
		_ = os.Remove(folder) // fails unless it is empty
	}
}
