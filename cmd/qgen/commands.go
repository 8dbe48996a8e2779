package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/generate"
	"github.com/qgen-dev/qgen/internal/source"
)

func generateCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "generate [queue …]",
		Short: "Write the packages of all queues, or of those named",
		Long: `Write the packages of all queues, or of those named.

Everything is made and checked in memory first. Nothing is written when
anything is wrong; files that are as they should be are not touched; files that
qgen wrote once and no longer writes are removed, with the folder of a queue
that is gone when it lies beside another queue's and holds nothing else; a file
that qgen did not write is never overwritten.`,
		ValidArgsFunction: s.queueNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			return s.generate(cmd.Context(), names)
		},
	}
}

func checkCommand(s *session) *cobra.Command {
	var diff bool
	cmd := &cobra.Command{
		Use:   "check [queue …]",
		Short: "Say what generate would change, and exit with 3 if it is anything",
		Long: `Say what generate would change: files that differ, are missing, or are stale.
Nothing is written. The exit code is 3 when there is any.`,
		ValidArgsFunction: s.queueNames,
		RunE: func(_ *cobra.Command, names []string) error {
			return s.check(names, diff)
		},
	}
	cmd.Flags().BoolVar(&diff, "diff", false, "print unified diffs")
	return cmd
}

// check compares the packages of the named queues with the disk.
func (s *session) check(names []string, diff bool) error {
	project, packages, changes, err := s.build(names)
	if err != nil {
		return err
	}
	root := fromHere(project)
	if s.format.value() != "text" {
		var found []diagnostic
		for _, c := range changes.Files {
			found = append(found, drift(c, root))
		}
		if err := s.print(found); err != nil {
			return &inputError{err}
		}
	} else {
		for _, c := range changes.Files {
			if diff {
				fmt.Fprint(s.stdout, c.Diff())
			} else {
				fmt.Fprintf(s.stdout, "%s\t%s\n", c.Kind, path.Join(root, c.Path))
			}
		}
	}
	if n := len(changes.Files); n > 0 {
		verb := "differ"
		if n == 1 {
			verb = "differs"
		}
		fmt.Fprintf(s.stderr, "qgen: %s %s from what is generated now; run qgen generate\n", count(n, "file"), verb)
		return exit(exitDrift)
	}
	fmt.Fprintf(s.stderr, "qgen: %s\n", summary(packages, changes, root))
	return nil
}

func explainCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [queue]",
		Short: "Say what was understood, which strategy claims, and why",
		Long: `Say what each column was understood as, how a state is told, what each
transition writes, which strategy claims and why each other was passed over, how
well a late worker is fenced off, what is locked, what a crash leaves behind,
and which index the claim wants. No database is asked.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.queueNames,
		RunE: func(_ *cobra.Command, names []string) error {
			_, packages, err := s.plan(names)
			if err != nil {
				return err
			}
			for i, p := range packages {
				if i > 0 {
					fmt.Fprintln(s.stdout)
				}
				explain(s.stdout, p.Plan)
			}
			return nil
		},
	}
}

func sqlCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "sql [queue [statement]]",
		Short: "Print the SQL of all queues, of one, or one statement",
		Args:  cobra.MaximumNArgs(2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return s.queueNames(cmd, args, word)
			}
			return s.statementNames(args[0]), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return s.sql(args)
		},
	}
}

// sql prints the statements of the queue args[0], or only args[1].
func (s *session) sql(args []string) error {
	_, packages, err := s.plan(args[:min(1, len(args))])
	if err != nil {
		return err
	}
	var printed int
	var known []string
	for _, p := range packages {
		files, err := generate.Emit([]*generate.Package{p})
		if err != nil {
			return err
		}
		names, text := statements(files)
		known = append(known, names...)
		for _, name := range names {
			if len(args) == 2 && name != args[1] {
				continue
			}
			if printed > 0 {
				fmt.Fprintln(s.stdout)
			}
			fmt.Fprint(s.stdout, text[name])
			printed++
		}
	}
	if printed > 0 || len(args) < 2 {
		return nil
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if near := source.Nearest(args[1], known); near != "" {
		return fmt.Errorf("the queue %s has no statement %q; did you mean %s?", args[0], args[1], near)
	}
	return fmt.Errorf("the queue %s has no statement %q (have %s)", args[0], args[1], strings.Join(known, ", "))
}

// statementNames completes the names of a queue's statements.
func (s *session) statementNames(queue string) []string {
	var errs source.ErrorList
	project, err := generate.Load(".", s.file, &errs)
	if err != nil {
		return nil
	}
	packages, err := project.Plan([]string{queue}, &errs)
	if err != nil {
		return nil
	}
	files, err := generate.Emit(packages)
	if err != nil {
		return nil
	}
	names, _ := statements(files)
	return names
}

func schemaCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of qgen.yaml, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.stdout.Write(config.Schema)
			return err
		},
	}
}

func versionCommand(s *session) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how this qgen was built",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return version(s.stdout, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// build is how this qgen was built.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// version prints what the binary knows of itself.
func version(w io.Writer, asJSON bool) error {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if asJSON {
		return json.NewEncoder(w).Encode(b)
	}
	rev := ""
	if b.Revision != "" {
		rev = ", revision " + b.Revision[:min(12, len(b.Revision))]
		if b.Modified {
			rev += " modified"
		}
	}
	_, err := fmt.Fprintf(w, "qgen %s (%s, %s%s)\n", b.Version, b.Go, b.Platform, rev)
	return err
}
