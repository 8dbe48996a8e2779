// Package msgqueue is MsgQueue: messages of several types, each taken by readers of
// that type in the order of their creation. SQL Server is not at hand everywhere; the
// program runs on the same table in PostgreSQL and SQLite.
package msgqueue

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/08-msgqueue/gen/msgqueuelite"
	"github.com/qgen-dev/qgen/example/situations/08-msgqueue/gen/msgqueuepg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the eighth.
var Situation = situation.Situation{Folder: "08-msgqueue", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"msgqueuepg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		reader := func(name string) queue[msgqueuepg.Job] { return msgqueuepg.New(db, msgqueuepg.WithWorker(name)) }
		return run(ctx, db, out, reader, func(j msgqueuepg.Job) string { return j.Msg }, `now()`)
	}},
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"msgqueuelite"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		reader := func(name string) queue[msgqueuelite.Job] { return msgqueuelite.New(db, msgqueuelite.WithWorker(name)) }
		return run(ctx, db, out, reader, func(j msgqueuelite.Job) string { return j.Msg }, `CAST(strftime('%s', 'now') AS INTEGER) * 1000`)
	}},
}}

// queue is a reader of messages; the type is an argument of Claim.
type queue[Job any] interface {
	Verify(ctx context.Context) error
	Claim(ctx context.Context, msgTypeCode string, limit int) ([]Job, error)
	Complete(ctx context.Context, jobs ...Job) error
	Fail(ctx context.Context, job Job, cause error) error
}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, reader func(name string) queue[Job], msg func(Job) string, now string) error {
	ann, bob := reader("ann"), reader("bob")
	if err := ann.Verify(ctx); err != nil {
		return err
	}
	for _, row := range []string{"'MAIL', 'to eve'", "'FAX', 'to dan'", "'MAIL', 'to joe'", "'MAIL', 'to sue'"} {
		if err := situation.Exec(ctx, db, `INSERT INTO msg_queue (msg_type_code, msg, create_time) VALUES (`+row+`, `+now+`)`); err != nil {
			return err
		}
	}
	mails, err := ann.Claim(ctx, "MAIL", 2)
	if err != nil {
		return err
	}
	more, err := bob.Claim(ctx, "MAIL", 2)
	if err != nil {
		return err
	}
	faxes, err := bob.Claim(ctx, "FAX", 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ann reads mails %s; bob mail %s and fax %s\n", situation.Texts(mails, msg), situation.Texts(more, msg), situation.Texts(faxes, msg))
	if err := ann.Complete(ctx, mails...); err != nil {
		return err
	}
	if err := bob.Fail(ctx, faxes[0], errors.New("busy")); err != nil {
		return err
	}
	rows, err := situation.Rows(ctx, db, `SELECT msg_type_code || ' ' || state || ' ' || reader_code || CASE WHEN start_time IS NULL THEN ' not started' ELSE ' started' END || CASE WHEN end_time IS NULL THEN '' ELSE ' ended' END
		FROM msg_queue ORDER BY msg_queue_id`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the table: %s\n", rows)
	return nil
}
