// Command qgen writes a typed Go package that works a queue which lives in a
// table you already have: it reads the DDL of the table and the annotations in
// it, chooses the best claim that the database offers, and writes the package
// and its SQL.
//
//	qgen [generate] [queue …]    write the packages
//	qgen check [queue …]         say what generate would change
//	qgen explain [queue]         say what was understood, and why this strategy
//	qgen sql [queue [statement]] print the SQL
//	qgen schema                  print the JSON Schema of qgen.yaml
//	qgen version                 print the version
//
// The configuration, qgen.yaml, is searched from the working directory upwards
// to the root of the module; its paths start from its folder. So this line
// works in any package:
//
//	//go:generate go tool qgen
//
// What was asked for is printed on standard output, everything said to people
// on standard error. The exit code is 0 when all went well, 1 when the input is
// wrong, 2 when the command line is, 3 when check found differences, and 70
// when qgen itself is at fault.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/qgen-dev/qgen/internal/generate"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// gcPercent is how much the heap may grow before garbage is collected, in
// percent of what was in use, unless GOGC says otherwise. A run is short, and
// most of what it makes is in use until its end.
const gcPercent = 400

// The exit codes.
const (
	exitInput = 1
	exitUsage = 2
	exitDrift = 3
	exitBug   = 70
)

// exit is an error that has been told already, or needs no telling: it carries
// the exit code only.
type exit int

// Error returns the code, for whoever forgets what an exit is.
func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// run is main without the process. When ctx ends before anything was written,
// nothing is.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return guard(stderr, func() int {
		cmd := root(stdout, stderr)
		cmd.SetArgs(args)
		return code(cmd.ExecuteContext(ctx), stderr)
	})
}

// code tells people of an error and returns the exit code for it.
func code(err error, stderr io.Writer) int {
	var done exit
	var wrong *inputError
	var bug *generate.BugError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &done):
		return int(done)
	case errors.As(err, &bug):
		report(stderr, bug)
		return exitBug
	case errors.As(err, &wrong):
		fmt.Fprintf(stderr, "qgen: %v\n", wrong.err)
		return exitInput
	}
	// What cobra itself complains about is the command line.
	fmt.Fprintf(stderr, "qgen: %v%s\nRun qgen --help for usage.\n", err, meant(err))
	return exitUsage
}

// meant says which flag stands for one that people expect, "" where none does.
func meant(err error) string {
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok && slices.Contains([]string{"config", "conf", "configuration", "cfg"}, name) {
		return "; the configuration is named by --file, or -f"
	}
	return ""
}

// inputError is an error that has no place in a file.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// guard turns a panic of do into a request for a report.
func guard(stderr io.Writer, do func() int) (code int) {
	defer func() {
		if r := recover(); r != nil {
			report(stderr, r)
			fmt.Fprintf(stderr, "\n%s", debug.Stack())
			code = exitBug
		}
	}()
	return do()
}

// report asks for a report of a bug.
func report(stderr io.Writer, what any) {
	fmt.Fprintf(stderr, `qgen: bug: %v
This is a fault of qgen and not of your input; nothing was written. Please report it, with this
text and the table's DDL, at https://github.com/qgen-dev/qgen/issues
`, what)
}

// root returns the command with all below it.
func root(stdout, stderr io.Writer) *cobra.Command {
	s := &session{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "qgen",
		Short: "Write a typed Go package that works a queue in a table you already have",
		Long: `qgen reads the DDL of a table, and annotations that say what its columns mean,
and writes a Go package that takes jobs from the table, finishes them, fails
them and puts them back, with the best claim SQL for the database at hand.

Without a command it generates.

The exit code is 0 when all went well, 1 when the input is wrong, 2 when the
command line is, 3 when check found differences, 70 when qgen is at fault.`,
		Args:          command,
		RunE:          func(cmd *cobra.Command, _ []string) error { return s.generate(cmd.Context(), nil) },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	flags := cmd.PersistentFlags()
	flags.StringVarP(&s.file, "file", "f", "", "the configuration (default: qgen.yaml, searched upwards)")
	flags.Var(&s.format, "format", "how complaints are printed: text, json, github or sarif")
	cmd.AddCommand(
		generateCommand(s), checkCommand(s), explainCommand(s), sqlCommand(s),
		schemaCommand(s), versionCommand(s),
	)
	for _, c := range cmd.Commands() {
		c.Flags().SortFlags = false
	}
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// command refuses what is no command where a command may stand.
func command(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("there is no command %q; did you mean %s?", args[0], near[0])
	}
	return fmt.Errorf("there is no command %q; to generate one queue, write qgen generate %s", args[0], args[0])
}
