// Package requests is a table without any id, whose rows are deleted when they are
// done. The place of a row names it, as long as the transaction that locked it lives.
package requests

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/06-heap-hard-delete/gen/requestspg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql
var files embed.FS

// Situation is the sixth.
var Situation = situation.Situation{Folder: "06-heap-hard-delete", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Run: run},
}}

func run(ctx context.Context, db *sql.DB, out io.Writer) error {
	q := requestspg.New(db)
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO requests VALUES ('/same'), ('/same'), ('/same'), ('/same')`); err != nil {
		return err
	}
	one, err := q.Hold(ctx)
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := q.Hold(ctx)
	if err != nil {
		return err
	}
	defer two.Close()
	ours, err := one.Claim(ctx, 2)
	if err != nil {
		return err
	}
	theirs, err := two.Claim(ctx, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "of 4 equal rows one worker holds %d, another %d\n", len(ours), len(theirs))

	// Whoever deletes by value deletes the rows of the others, too. Here one row goes.
	if err := one.Complete(ctx, ours[0]); err != nil {
		return err
	}
	fmt.Fprintf(out, "finished twice: lost is %t\n", errors.Is(one.Complete(ctx, ours[0]), requestspg.ErrLost))
	if more, err := one.Claim(ctx, 10); err != nil || len(more) > 0 {
		return fmt.Errorf("%d rows were taken twice: %w", len(more), err)
	}
	if err := one.Commit(ctx); err != nil {
		return err
	}
	two.Close() // the other worker dies
	left, err := situation.Rows(ctx, db, `SELECT count(*) FROM requests`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "rows left: %s\n", left)

	total, err := situation.Crowd(4, func(int) (int, error) {
		h, err := q.Hold(ctx)
		if err != nil {
			return 0, err
		}
		defer h.Close()
		jobs, err := h.Claim(ctx, 1)
		if err != nil {
			return 0, err
		}
		if err := h.Complete(ctx, jobs...); err != nil {
			return 0, err
		}
		return len(jobs), h.Commit(ctx)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "four workers finished %d\n", total)
	return nil
}
