// Package work is a table whose state is a number, claimed with SKIP LOCKED where the
// server has it.
package work

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/13-integer-states/gen/worklite"
	"github.com/qgen-dev/qgen/example/situations/13-integer-states/gen/workmy"
	"github.com/qgen-dev/qgen/example/situations/13-integer-states/gen/workpg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the thirteenth.
var Situation = situation.Situation{Folder: "13-integer-states", Files: files, Programs: []situation.Program{
	{Engine: "mysql", Servers: []string{"mysql97"}, Packages: []string{"workmy"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, workmy.New(db), func(j workmy.Job) string { return j.Data }, `UTC_TIMESTAMP() - INTERVAL 1 SECOND`)
	}},
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"workpg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, workpg.New(db), func(j workpg.Job) string { return j.Data }, `now() - interval '1 second'`)
	}},
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"worklite"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, worklite.New(db), func(j worklite.Job) string { return j.Data }, `CAST(strftime('%s', 'now') AS INTEGER) * 1000 - 1000`)
	}},
}}

// queue can free what dead workers hold.
type queue[Job any] interface {
	situation.Queue[Job]
	Recover(ctx context.Context, limit int) (int, error)
}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, q queue[Job], data func(Job) string, past string) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO work (data) VALUES ('a'), ('b'), ('c'), ('d')`); err != nil {
		return err
	}
	for try := 1; try <= 2; try++ {
		jobs, err := q.Claim(ctx, 2)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "try %d: a worker has %s and dies\n", try, situation.Texts(jobs, data))
		if err := situation.Exec(ctx, db, `UPDATE work SET taken_till = `+past+` WHERE state = 1`); err != nil { // a minute goes by
			return err
		}
		if _, err := q.Recover(ctx, 100); err != nil {
			return err
		}
		states, err := situation.Rows(ctx, db, `SELECT state FROM work ORDER BY id`)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "recovered: %s\n", states)
	}
	total, err := situation.Crowd(4, func(int) (int, error) {
		jobs, err := q.Claim(ctx, 1)
		if err != nil {
			return 0, err
		}
		return len(jobs), q.Complete(ctx, jobs...)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "four workers finished the other %d\n", total)
	return nil
}
