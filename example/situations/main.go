// Command situations runs the program of a situation: on SQLite, or on the server
// that is named, in a database or schema that it makes for that and drops again.
//
//	go run ./example/situations 1
//	go run ./example/situations 6 postgres://localhost/postgres
//	go run ./example/situations 1 'mysql://user@tcp(localhost:3306)/'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	batchkey "github.com/qgen-dev/qgen/example/situations/01-batch-key"
	outbox "github.com/qgen-dev/qgen/example/situations/02-ids-no-status"
	readings "github.com/qgen-dev/qgen/example/situations/03-sequence-with-status"
	lines "github.com/qgen-dev/qgen/example/situations/04-sequence-log"
	jobs "github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete"
	requests "github.com/qgen-dev/qgen/example/situations/06-heap-hard-delete"
	taskqueue "github.com/qgen-dev/qgen/example/situations/07-tsql-batches"
	msgqueue "github.com/qgen-dev/qgen/example/situations/08-msgqueue"
	items "github.com/qgen-dev/qgen/example/situations/09-items-available"
	files "github.com/qgen-dev/qgen/example/situations/10-files-by-hash"
	owned "github.com/qgen-dev/qgen/example/situations/11-connection-owner"
	calculations "github.com/qgen-dev/qgen/example/situations/12-result-in-row"
	work "github.com/qgen-dev/qgen/example/situations/13-integer-states"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

// situations are all of them, in the order of their numbers.
var situations = []situation.Situation{
	batchkey.Situation,
	outbox.Situation,
	readings.Situation,
	lines.Situation,
	jobs.Situation,
	requests.Situation,
	taskqueue.Situation,
	msgqueue.Situation,
	items.Situation,
	files.Situation,
	owned.Situation,
	calculations.Situation,
	work.Situation,
}

func main() {
	if err := show(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "situations:", err)
		os.Exit(1)
	}
}

// show runs what the arguments say.
func show(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 1 || len(args) > 2 {
		for i, s := range situations {
			var engines []string
			for _, p := range s.Programs {
				engines = append(engines, engine(p))
			}
			fmt.Fprintf(out, "%2d  %-25s %s\n", i+1, s.Folder, strings.Join(engines, ", "))
		}
		return errors.New("say which: go run ./example/situations <number> [<URL of a server>]")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 || n > len(situations) {
		return fmt.Errorf("there is no situation %q", args[0])
	}
	s, dsn, kind := situations[n-1], "", "sqlite"
	if len(args) == 2 {
		dsn = args[1]
		scheme, rest, _ := strings.Cut(dsn, "://")
		switch scheme {
		case "postgres", "postgresql":
			kind = "postgresql"
		case "mysql", "mariadb":
			kind, dsn = scheme, rest
		default:
			return fmt.Errorf("%q is no URL of a server: it begins with postgres, mysql or mariadb and ://", args[1])
		}
	}
	for _, p := range s.Programs {
		if engine(p) != kind {
			continue
		}
		db, drop, err := scratch(ctx, s, p, dsn)
		if err != nil {
			return err
		}
		return errors.Join(p.Run(ctx, db, out), drop())
	}
	return fmt.Errorf("%s does not run on %s; its README.md says why", s.Folder, kind)
}

// engine names the kind of server that runs a program.
func engine(p situation.Program) string {
	if strings.HasPrefix(p.Servers[0], "mariadb") {
		return "mariadb"
	}
	return p.Engine
}
