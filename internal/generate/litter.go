package generate

// This file names the temporary files of a run and finds those of runs that
// were killed.

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
)

// temporary returns a new name for a file or folder that takes the place of
// target once it is complete. It tells which process writes it.
func temporary(target string) string {
	return filepath.Join(filepath.Dir(target), fmt.Sprintf(".qgen-%d-%s.tmp", os.Getpid(), rand.Text()))
}

// temporaryName matches what temporary returns.
var temporaryName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.qgen-([0-9]+)-[A-Z2-7]{26}\.tmp$`)
})

// addLitter remembers the temporary files among the entries of a folder whose
// process has ended.
func (c *Changes) addLitter(folder string, entries []fs.DirEntry) {
	for _, e := range entries {
		if e.Name()[0] != '.' {
			continue
		}
		match := temporaryName().FindStringSubmatch(e.Name())
		if match == nil {
			continue
		}
		if pid, err := strconv.Atoi(match[1]); err == nil && !running(pid) {
			c.litter = append(c.litter, path.Join(folder, e.Name()))
		}
	}
}

// running reports whether another process has the number.
func running(pid int) bool {
	if pid == os.Getpid() {
		return false // an earlier one had it: this one has not begun to write
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	err = process.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}

// sweep removes the temporary files of runs that were killed. What cannot be
// removed does no harm.
func (c *Changes) sweep() {
	for _, name := range c.litter {
		_ = os.RemoveAll(c.project.path(name))
	}
}
