// Package lines is a log: a number that grows, a line, no id and no status.
package lines

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/04-sequence-log/gen/linespg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the fourth.
var Situation = situation.Situation{Folder: "04-sequence-log", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"linespg"}, Run: run},
}}

func run(ctx context.Context, db *sql.DB, out io.Writer) error {
	q := linespg.New(db)
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO lines VALUES (1, 'start'), (2, 'login'), (5, 'logout')`); err != nil {
		return err
	}
	text := func(j linespg.Job) string { return fmt.Sprintf("%d:%s", j.Seq, j.Line) }

	// Somebody is still writing lines 3 and 4 when 5 is there already.
	late, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer late.Rollback()
	if _, err := late.ExecContext(ctx, `INSERT INTO lines VALUES (3, 'read'), (4, 'write')`); err != nil {
		return err
	}
	for _, when := range []string{"before", "after"} {
		h, err := q.Hold(ctx)
		if err != nil {
			return err
		}
		defer h.Close()
		jobs, err := h.Claim(ctx, 10)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s the late commit: %s\n", when, situation.Texts(jobs, text))
		if err := h.Complete(ctx, jobs...); err != nil {
			return err
		}
		if err := h.Commit(ctx); err != nil {
			return err
		}
		if when == "before" {
			if err := late.Commit(); err != nil {
				return err
			}
		}
	}
	return nil
}
