// Package calculations is a table in which the answer is put back into the row that
// asked.
package calculations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/12-result-in-row/gen/calclite"
	"github.com/qgen-dev/qgen/example/situations/12-result-in-row/gen/calcmy"
	"github.com/qgen-dev/qgen/example/situations/12-result-in-row/gen/calcpg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the twelfth.
var Situation = situation.Situation{Folder: "12-result-in-row", Files: files, Programs: []situation.Program{
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"calclite"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		done := func(j calclite.Job, answer string) calclite.Done { return j.Done(&answer) }
		return run(ctx, db, out, calclite.New(db), done, func(j calclite.Job) int { return int(j.X) }, calclite.ErrLost)
	}},
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"calcpg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		done := func(j calcpg.Job, answer string) calcpg.Done { return j.Done(&answer) }
		return run(ctx, db, out, calcpg.New(db), done, func(j calcpg.Job) int { return int(j.X) }, calcpg.ErrLost)
	}},
	{Engine: "mysql", Servers: []string{"mysql"}, Packages: []string{"calcmy"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		done := func(j calcmy.Job, answer string) calcmy.Done { return j.Done(&answer) }
		return run(ctx, db, out, calcmy.New(db), done, func(j calcmy.Job) int { return int(j.X) }, calcmy.ErrLost)
	}},
}}

// queue completes jobs with their results.
type queue[Job, Done any] interface {
	Verify(ctx context.Context) error
	Claim(ctx context.Context, limit int) ([]Job, error)
	Complete(ctx context.Context, done ...Done) error
	Fail(ctx context.Context, job Job, cause error) error
}

func run[Job, Done any](ctx context.Context, db *sql.DB, out io.Writer, q queue[Job, Done], done func(Job, string) Done, x func(Job) int, lost error) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO calculations (x) VALUES (7), (8), (-9)`); err != nil {
		return err
	}
	jobs, err := q.Claim(ctx, 3)
	if err != nil {
		return err
	}
	if err := q.Complete(ctx, done(jobs[0], fmt.Sprint(x(jobs[0])*x(jobs[0])))); err != nil {
		return err
	}
	if err := q.Fail(ctx, jobs[2], errors.New("x is below zero")); err != nil {
		return err
	}

	// The second was taken for dead: its row is free again, and another answers first.
	if err := situation.Exec(ctx, db, `UPDATE calculations SET state = 'asked' WHERE x = 8`); err != nil {
		return err
	}
	again, err := q.Claim(ctx, 1)
	if err != nil {
		return err
	}
	if err := q.Complete(ctx, done(again[0], "64")); err != nil {
		return err
	}
	fmt.Fprintf(out, "a late answer is lost: %t\n", errors.Is(q.Complete(ctx, done(jobs[1], "stale")), lost))
	for _, query := range []string{
		`SELECT answer FROM calculations WHERE state = 'answered' ORDER BY id`,
		`SELECT problem FROM calculations WHERE state = 'failed'`,
	} {
		rows, err := situation.Rows(ctx, db, query)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, rows)
	}
	return nil
}
