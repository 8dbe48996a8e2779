// Package batchkey is the ideal polling table: an id, a status, the data. The key
// of the batch stands in the status while a worker holds the row.
package batchkey

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/01-batch-key/gen/taskslite"
	"github.com/qgen-dev/qgen/example/situations/01-batch-key/gen/tasksmaria"
	"github.com/qgen-dev/qgen/example/situations/01-batch-key/gen/tasksmy"
	"github.com/qgen-dev/qgen/example/situations/01-batch-key/gen/taskspg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the first.
var Situation = situation.Situation{Folder: "01-batch-key", Files: files, Programs: []situation.Program{
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"taskslite"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, taskslite.New(db), func(j taskslite.Job) string { return j.Data }, taskslite.ErrLost)
	}},
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"taskspg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, taskspg.New(db), func(j taskspg.Job) string { return j.Data }, taskspg.ErrLost)
	}},
	{Engine: "mysql", Servers: []string{"mysql"}, Packages: []string{"tasksmy"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, tasksmy.New(db), func(j tasksmy.Job) string { return j.Data }, tasksmy.ErrLost)
	}},
	{Engine: "mysql", Servers: []string{"mariadb1011", "mariadb118"}, Packages: []string{"tasksmaria"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, tasksmaria.New(db), func(j tasksmaria.Job) string { return j.Data }, tasksmaria.ErrLost)
	}},
}}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, q situation.Queue[Job], data func(Job) string, lost error) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO tasks (data) VALUES ('a'), ('b'), ('c'), ('d'), ('e')`); err != nil {
		return err
	}
	one, err := q.Claim(ctx, 2)
	if err != nil {
		return err
	}
	two, err := q.Claim(ctx, 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "one worker has %s, another %s\n", situation.Texts(one, data), situation.Texts(two, data))
	keys, err := situation.Rows(ctx, db, `SELECT count(DISTINCT status) FROM tasks WHERE status <> 'ready'`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the status of their rows holds %s keys\n", keys)
	if err := q.Complete(ctx, one...); err != nil {
		return err
	}
	if err := q.Fail(ctx, two[0], errors.New("no such user")); err != nil {
		return err
	}

	// Somebody takes the other worker for dead and gives its row d back; a third
	// worker claims it. The other one was only slow.
	if err := situation.Exec(ctx, db, `UPDATE tasks SET status = 'ready' WHERE data = 'd'`); err != nil {
		return err
	}
	three, err := q.Claim(ctx, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a third worker has %s\n", situation.Texts(three, data))
	fmt.Fprintf(out, "the slow worker finishes d: lost is %t\n", errors.Is(q.Complete(ctx, two[1]), lost))
	if err := q.Complete(ctx, three...); err != nil {
		return err
	}

	// Eight workers at once, on 100 more rows.
	for range 10 {
		if err := situation.Exec(ctx, db, `INSERT INTO tasks (data) VALUES ('f'), ('g'), ('h'), ('i'), ('j'), ('k'), ('l'), ('m'), ('n'), ('o')`); err != nil {
			return err
		}
	}
	total, err := situation.Crowd(8, func(int) (int, error) {
		jobs, err := q.Claim(ctx, 3)
		if err != nil {
			return 0, err
		}
		return len(jobs), q.Complete(ctx, jobs...)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "eight workers together were given %d of 100 rows\n", total)
	return nil
}
