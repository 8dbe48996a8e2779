// Package taskqueue is the T-SQL queue: @N rows at a time go from status 0 to 9, and
// the times of enqueue, dequeue and finish are kept for analysis. SQL Server is not at
// hand everywhere; the program runs on the same table in PostgreSQL and SQLite.
package taskqueue

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/qgen-dev/qgen/example/situations/07-tsql-batches/gen/taskqueuelite"
	"github.com/qgen-dev/qgen/example/situations/07-tsql-batches/gen/taskqueuepg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the seventh.
var Situation = situation.Situation{Folder: "07-tsql-batches", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"taskqueuepg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := taskqueuepg.New(db)
		figures := func() (any, time.Duration, time.Duration, error) {
			s, err := q.Stats(ctx)
			return []int64{s.Ready, s.Running, s.Done, s.Failed}, s.MeanWait, s.MeanRun, err
		}
		return run(ctx, db, out, q, func(j taskqueuepg.Job) string { return j.Data }, `now() - interval '2 minutes'`, figures)
	}},
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"taskqueuelite"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := taskqueuelite.New(db)
		figures := func() (any, time.Duration, time.Duration, error) {
			s, err := q.Stats(ctx)
			return []int64{s.Ready, s.Running, s.Done, s.Failed}, s.MeanWait, s.MeanRun, err
		}
		return run(ctx, db, out, q, func(j taskqueuelite.Job) string { return j.Data }, `CAST(strftime('%s', 'now') AS INTEGER) * 1000 - 120000`, figures)
	}},
}}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, q situation.Queue[Job], data func(Job) string, twoMinutesAgo string, figures func() (states any, wait, run time.Duration, err error)) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	for _, row := range []string{"1, 'a'", "1, 'b'", "7, 'urgent'", "1, 'c'", "1, 'd'"} {
		if err := situation.Exec(ctx, db, `INSERT INTO task_queue (priority, data, tm_enqueue) VALUES (`+row+`, `+twoMinutesAgo+`)`); err != nil {
			return err
		}
	}
	const n = 3 // @N of the procedure
	one, err := q.Claim(ctx, n)
	if err != nil {
		return err
	}
	two, err := q.Claim(ctx, n)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "one batch is %s, the next %s\n", situation.Texts(one, data), situation.Texts(two, data))
	status, err := situation.Rows(ctx, db, `SELECT DISTINCT status FROM task_queue`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "their status is %s\n", status)

	time.Sleep(30 * time.Millisecond) // the work
	if err := q.Complete(ctx, one...); err != nil {
		return err
	}
	if err := q.Fail(ctx, two[0], errors.New("no")); err != nil {
		return err
	}
	states, wait, took, err := figures()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ready, running, done, failed: %v\n", states)
	fmt.Fprintf(out, "finished rows waited %s on average, and ran for a moment: %t\n", wait.Round(20*time.Second), took >= 25*time.Millisecond && took < 20*time.Second)
	return nil
}
