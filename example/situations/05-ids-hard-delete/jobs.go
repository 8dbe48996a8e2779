// Package jobs is a table whose rows are deleted when their jobs are done.
package jobs

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/jobsmaria"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/jobsmy"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/jobspg"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/poplite"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/poppg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the fifth.
var Situation = situation.Situation{Folder: "05-ids-hard-delete", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"jobspg", "poppg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := jobspg.New(db)
		begin := func(ctx context.Context) (situation.Hold[jobspg.Job], error) { return q.Hold(ctx) }
		if err := hold(ctx, db, out, q.Verify, begin); err != nil {
			return err
		}
		return pop(ctx, db, out, poppg.New(db), func(j poppg.Job) string { return j.Data })
	}},
	{Engine: "mysql", Servers: []string{"mysql97"}, Packages: []string{"jobsmy"}, Output: "output-hold.txt", Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := jobsmy.New(db)
		begin := func(ctx context.Context) (situation.Hold[jobsmy.Job], error) { return q.Hold(ctx) }
		return hold(ctx, db, out, q.Verify, begin)
	}},
	{Engine: "mysql", Servers: []string{"mariadb1011", "mariadb118"}, Packages: []string{"jobsmaria"}, Output: "output-hold.txt", Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := jobsmaria.New(db)
		begin := func(ctx context.Context) (situation.Hold[jobsmaria.Job], error) { return q.Hold(ctx) }
		return hold(ctx, db, out, q.Verify, begin)
	}},
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"poplite"}, Output: "output-pop.txt", Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return pop(ctx, db, out, poplite.New(db), func(j poplite.Job) string { return j.Data })
	}},
}}

// hold: the row is locked while its job runs and deleted when it is done.
func hold[Job any](ctx context.Context, db *sql.DB, out io.Writer, verify func(context.Context) error, begin situation.Holder[Job]) error {
	if err := verify(ctx); err != nil {
		return err
	}
	for range 10 {
		if err := situation.Exec(ctx, db, `INSERT INTO jobs (data) VALUES ('a'), ('b'), ('c'), ('d')`); err != nil {
			return err
		}
	}
	total, err := situation.Crowd(4, func(int) (int, error) {
		h, err := begin(ctx)
		if err != nil {
			return 0, err
		}
		defer h.Close()
		jobs, err := h.Claim(ctx, 3)
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
	left, err := situation.Rows(ctx, db, `SELECT count(*) FROM jobs`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "hold: four workers finished %d of 40 jobs, %s rows left\n", total, left)
	return nil
}

// popper takes rows away: at most once.
type popper[Job any] interface {
	Verify(ctx context.Context) error
	Claim(ctx context.Context, limit int) ([]Job, error)
}

func pop[Job any](ctx context.Context, db *sql.DB, out io.Writer, q popper[Job], data func(Job) string) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO jobs (data) VALUES ('p'), ('q'), ('r')`); err != nil {
		return err
	}
	jobs, err := q.Claim(ctx, 2)
	if err != nil {
		return err
	}
	left, err := situation.Rows(ctx, db, `SELECT data FROM jobs`)
	if err != nil || left != "r" {
		return fmt.Errorf("left is %q, not r: %w", left, err)
	}
	fmt.Fprintf(out, "pop: %s are gone before their worker began, and stay gone when it dies\n", situation.Texts(jobs, data))
	return nil
}
