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
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/leasedjobslite"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/leasedjobsmaria"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/leasedjobsmy"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/leasedjobspg"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/poplite"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/popmaria"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/popmy"
	"github.com/qgen-dev/qgen/example/situations/05-ids-hard-delete/gen/poppg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/*.sql
var files embed.FS

// Situation is the fifth.
var Situation = situation.Situation{Folder: "05-ids-hard-delete", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"jobspg", "leasedjobspg", "poppg"}, Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			q := jobspg.New(db)
			begin := func(ctx context.Context) (situation.Hold[jobspg.Job], error) { return q.Hold(ctx) }
			return hold(ctx, db, out, q.Verify, begin)
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedjobspg.New(db))
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return pop(ctx, db, out, poppg.New(db), func(j poppg.Job) string { return j.Data })
		},
	)},
	{Engine: "mysql", Servers: []string{"mysql97"}, Packages: []string{"jobsmy", "leasedjobsmy", "popmy"}, Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			q := jobsmy.New(db)
			begin := func(ctx context.Context) (situation.Hold[jobsmy.Job], error) { return q.Hold(ctx) }
			return hold(ctx, db, out, q.Verify, begin)
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedjobsmy.New(db))
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return pop(ctx, db, out, popmy.New(db), func(j popmy.Job) string { return j.Data })
		},
	)},
	{Engine: "mysql", Servers: []string{"mysql56"}, Packages: []string{"leasedjobsmy", "popmy"}, Output: "output-no-hold.txt", Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedjobsmy.New(db))
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return pop(ctx, db, out, popmy.New(db), func(j popmy.Job) string { return j.Data })
		},
	)},
	{Engine: "mysql", Servers: []string{"mariadb1011", "mariadb118"}, Packages: []string{"jobsmaria", "leasedjobsmaria", "popmaria"}, Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			q := jobsmaria.New(db)
			begin := func(ctx context.Context) (situation.Hold[jobsmaria.Job], error) { return q.Hold(ctx) }
			return hold(ctx, db, out, q.Verify, begin)
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedjobsmaria.New(db))
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return pop(ctx, db, out, popmaria.New(db), func(j popmaria.Job) string { return j.Data })
		},
	)},
	{Engine: "mysql", Servers: []string{"mariadb105"}, Packages: []string{"leasedjobsmaria", "popmaria"}, Output: "output-no-hold.txt", Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedjobsmaria.New(db))
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return pop(ctx, db, out, popmaria.New(db), func(j popmaria.Job) string { return j.Data })
		},
	)},
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"leasedjobslite"}, Output: "output-no-hold.txt", Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedjobslite.New(db))
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return pop(ctx, db, out, poplite.New(db), func(j poplite.Job) string { return j.Data })
		},
	)},
}}

// fill adds forty jobs.
func fill(ctx context.Context, db *sql.DB) error {
	for range 10 {
		if err := situation.Exec(ctx, db, `INSERT INTO jobs (data) VALUES ('a'), ('b'), ('c'), ('d')`); err != nil {
			return err
		}
	}
	return nil
}

// hold: the row is locked while its job runs and deleted when it is done.
func hold[Job any](ctx context.Context, db *sql.DB, out io.Writer, verify func(context.Context) error, begin situation.Holder[Job]) error {
	if err := verify(ctx); err != nil {
		return err
	}
	if err := fill(ctx, db); err != nil {
		return err
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

// lease: a row of jobs_lease is the claim; both rows are deleted when the job is done.
func lease[Job any](ctx context.Context, db *sql.DB, out io.Writer, q situation.Queue[Job]) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := fill(ctx, db); err != nil {
		return err
	}
	first, err := q.Claim(ctx, 3)
	if err != nil {
		return err
	}
	leases, err := situation.Rows(ctx, db, `SELECT count(*) FROM jobs_lease`)
	if err != nil {
		return err
	}
	if err := q.Complete(ctx, first...); err != nil {
		return err
	}
	total, err := situation.Crowd(4, func(int) (int, error) {
		jobs, err := q.Claim(ctx, 3)
		if err != nil {
			return 0, err
		}
		return len(jobs), q.Complete(ctx, jobs...)
	})
	if err != nil {
		return err
	}
	left, err := situation.Rows(ctx, db, `SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM jobs_lease)`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "lease_table: one worker had %s of 40 jobs, four workers finished the other %d, %s rows left\n", leases, total, left)
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
