// Package readings is a table with a sequence in place of an id, and a status. The
// sequence is not unique, so it orders the rows and does not name them.
package readings

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/03-sequence-with-status/gen/heldreadingspg"
	"github.com/qgen-dev/qgen/example/situations/03-sequence-with-status/gen/readingslite"
	"github.com/qgen-dev/qgen/example/situations/03-sequence-with-status/gen/readingspg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the third.
var Situation = situation.Situation{Folder: "03-sequence-with-status", Files: files, Programs: []situation.Program{
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"readingslite"}, Output: "output-sqlite.txt", Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, readingslite.New(db), func(j readingslite.Job) string { return fmt.Sprintf("%d:%d", j.Seq, j.Value) })
	}},
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"readingspg", "heldreadingspg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		if err := run(ctx, db, out, readingspg.New(db), func(j readingspg.Job) string { return fmt.Sprintf("%d:%d", j.Seq, j.Value) }); err != nil {
			return err
		}
		return hold(ctx, db, out)
	}},
}}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, q situation.Queue[Job], text func(Job) string) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO readings (seq, value) VALUES (2, 23), (1, 11), (1, 12), (2, 24), (3, 35)`); err != nil {
		return err
	}
	one, err := q.Claim(ctx, 1)
	if err != nil {
		return err
	}
	two, err := q.Claim(ctx, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "two workers have a row of sequence 1 each: %t\n", text(one[0]) != text(two[0]))

	// One fails, and the other row of the same number does not.
	if err := q.Fail(ctx, one[0], errors.New("out of range")); err != nil {
		return err
	}
	if err := q.Complete(ctx, two...); err != nil {
		return err
	}
	states, err := situation.Rows(ctx, db, `SELECT status FROM readings WHERE seq = 1 ORDER BY status`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "sequence 1: %s\n", states)
	rest, err := q.Claim(ctx, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "then %d more, the last is %s\n", len(rest), text(rest[len(rest)-1]))
	return q.Complete(ctx, rest...)
}

// hold is the same table for workers that may not write into it while they work:
// the lock is the claim, and the row's place names it within the transaction.
func hold(ctx context.Context, db *sql.DB, out io.Writer) error {
	q := heldreadingspg.New(db)
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO readings (seq, value) VALUES (9, 1), (9, 1), (9, 1), (9, 1)`); err != nil {
		return err
	}
	h, err := q.Hold(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	jobs, err := h.Claim(ctx, 10)
	if err != nil {
		return err
	}
	// Finishing writes the row, and in PostgreSQL that moves it.
	if err := h.Complete(ctx, jobs[0], jobs[1]); err != nil {
		return err
	}
	if err := h.Complete(ctx, jobs[2]); err != nil {
		return err
	}
	if again := h.Complete(ctx, jobs[2]); !errors.Is(again, heldreadingspg.ErrLost) {
		return fmt.Errorf("a row was finished twice: %w", again)
	}
	if more, err := h.Claim(ctx, 10); err != nil || len(more) > 0 {
		return fmt.Errorf("%d rows were taken twice: %w", len(more), err)
	}
	if err := h.Commit(ctx); err != nil {
		return err
	}
	var done, back int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE status = 'done'), count(*) FILTER (WHERE status = 'new') FROM readings WHERE seq = 9`).Scan(&done, &back); err != nil {
		return err
	}
	fmt.Fprintf(out, "held by their locks: %d of the same number, %d of them finished, %d given back\n", len(jobs), done, back)
	return nil
}
