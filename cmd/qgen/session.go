package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/generate"
	"github.com/qgen-dev/qgen/internal/source"
)

// session is one run of the command: its flags, and where it talks to.
type session struct {
	stdout, stderr io.Writer
	file           string
	format         format
}

// plan loads the configuration and plans the packages of the named queues, or
// tells what is wrong.
func (s *session) plan(names []string) (*generate.Project, []*generate.Package, error) {
	var errs source.ErrorList
	project, err := generate.Load(".", s.file, &errs)
	if err != nil {
		return nil, nil, s.unreadable(err)
	}
	packages, err := project.Plan(names, &errs)
	var unknown *generate.NoQueueError
	if errors.As(err, &unknown) {
		return nil, nil, err // the command line is wrong
	}
	if err := s.complain(project, &errs); err != nil {
		return nil, nil, err
	}
	return project, packages, nil
}

// unreadable says why there is no configuration.
func (s *session) unreadable(err error) error {
	var missing *generate.NotFoundError
	if errors.As(err, &missing) {
		return &inputError{fmt.Errorf("%w\nWrite one, or name another file with --file. qgen schema prints what may stand in it", err)}
	}
	return &inputError{err}
}

// build plans and emits the packages of the named queues, and compares them
// with the disk.
func (s *session) build(names []string) (*generate.Project, []*generate.Package, *generate.Changes, error) {
	project, packages, err := s.plan(names)
	if err != nil {
		return nil, nil, nil, err
	}
	files, err := generate.Emit(packages)
	if err != nil {
		return nil, nil, nil, err
	}
	var errs source.ErrorList
	changes, err := project.Compare(packages, files, &errs)
	if err != nil {
		return nil, nil, nil, &inputError{err}
	}
	if err := s.complain(project, &errs); err != nil {
		return nil, nil, nil, err
	}
	return project, packages, changes, nil
}

// complain prints complaints, if there are any, and returns the exit.
func (s *session) complain(project *generate.Project, errs *source.ErrorList) error {
	if errs.Len() == 0 {
		return nil
	}
	if err := s.print(complaints(errs, fromHere(project))); err != nil {
		return &inputError{err}
	}
	return exit(exitInput)
}

// fromHere returns the folder of the project as seen from the working
// directory, with slashes.
func fromHere(project *generate.Project) string {
	root, err := filepath.Abs(project.Root)
	if err != nil {
		return filepath.ToSlash(project.Root)
	}
	here, err := os.Getwd()
	if err != nil {
		return filepath.ToSlash(root)
	}
	rel, err := filepath.Rel(here, root)
	if err != nil {
		return filepath.ToSlash(root) // on another drive
	}
	return filepath.ToSlash(rel)
}

// generate writes the packages of the named queues.
func (s *session) generate(ctx context.Context, names []string) error {
	project, packages, changes, err := s.build(names)
	if err != nil {
		return err
	}
	if err := changes.Write(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted; nothing was written")
		}
		return &inputError{err}
	}
	fmt.Fprintf(s.stderr, "qgen: %s\n", summary(packages, changes, fromHere(project)))
	if s.format.value() != "text" {
		return s.print(nil)
	}
	return nil
}

// summary says in one line what was done.
func summary(packages []*generate.Package, changes *generate.Changes, root string) string {
	var removed int
	for _, c := range changes.Files {
		if c.Kind == generate.Stale {
			removed++
		}
	}
	var what []string
	if wrote := len(changes.Files) - removed; wrote > 0 {
		what = append(what, "wrote "+count(wrote, "file"))
	}
	if removed > 0 {
		what = append(what, "removed "+count(removed, "stale file"))
	}
	if len(what) == 0 {
		what = []string{count(changes.Same, "file") + " up to date"}
	}
	whose := count(len(packages), "queue")
	if len(packages) == 1 {
		p := packages[0].Plan
		whose = fmt.Sprintf("%s (%s, %s) in %s", p.Queue, packages[0].Queue.Engine.Value, p.Strategy, path.Join(root, p.Out))
	}
	return strings.Join(what, " and ") + " for " + whose
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// statements returns the emitted SQL files of a package by statement, in the
// order in which they are emitted.
func statements(files []emit.File) (names []string, text map[string]string) {
	text = map[string]string{}
	for _, f := range files {
		if path.Base(path.Dir(f.Path)) != "sql" || path.Ext(f.Path) != ".sql" {
			continue
		}
		name := strings.TrimSuffix(path.Base(f.Path), ".sql")
		names = append(names, name)
		text[name] = string(f.Data)
	}
	return names, text
}

// queueNames completes the names of queues.
func (s *session) queueNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var errs source.ErrorList
	project, err := generate.Load(".", s.file, &errs)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	packages, err := project.Plan(nil, &errs)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, p := range packages {
		if !slices.Contains(args, p.Plan.Queue) {
			names = append(names, p.Plan.Queue)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
