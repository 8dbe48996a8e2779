// Package items is a table with a boolean and a partial index, on PostgreSQL old and
// new: claimed in one statement, by a guarded UPDATE, and by advisory locks, beside
// another queue in the same database.
package items

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/qgen-dev/qgen/example/situations/09-items-available/gen/advisoryitemspg"
	"github.com/qgen-dev/qgen/example/situations/09-items-available/gen/advisorypartspg"
	"github.com/qgen-dev/qgen/example/situations/09-items-available/gen/guardeditemspg"
	"github.com/qgen-dev/qgen/example/situations/09-items-available/gen/itemspg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the ninth.
var Situation = situation.Situation{Folder: "09-items-available", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"itemspg", "guardeditemspg", "advisoryitemspg", "advisorypartspg"}, Run: run},
}}

// take claims a few rows and finishes them.
type take func(ctx context.Context) (int, error)

func taking[Job any](q situation.Queue[Job]) take {
	return func(ctx context.Context) (int, error) {
		jobs, err := q.Claim(ctx, 3)
		if err != nil {
			return 0, err
		}
		return len(jobs), q.Complete(ctx, jobs...)
	}
}

func run(ctx context.Context, db *sql.DB, out io.Writer) error {
	if err := itemspg.New(db).Verify(ctx); err != nil {
		return err
	}
	crowds := []struct {
		title   string
		workers []take
	}{
		{"one statement", []take{taking(itemspg.New(db))}},
		{"guarded", []take{taking(guardeditemspg.New(db))}},
		{"advisory locks", []take{taking(advisoryitemspg.New(db))}},
		{"all three on one table", []take{taking(itemspg.New(db)), taking(guardeditemspg.New(db)), taking(advisoryitemspg.New(db))}},
	}
	for _, c := range crowds {
		if err := situation.Exec(ctx, db, `INSERT INTO items (name) SELECT 'item ' || i FROM generate_series(1, 60) AS i`); err != nil {
			return err
		}
		total, err := situation.Crowd(6, func(worker int) (int, error) { return c.workers[worker%len(c.workers)](ctx) })
		if err != nil {
			return err
		}
		left, err := situation.Rows(ctx, db, `SELECT count(*) FROM items`)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: six workers were given %d of 60 items, %s left\n", c.title, total, left)
	}

	// Items and parts have the same ids; the locks of one table do not stand in the
	// way of the other.
	if err := situation.Exec(ctx, db,
		`TRUNCATE items, parts RESTART IDENTITY`,
		`INSERT INTO items (name) VALUES ('bolt')`, `INSERT INTO parts (name) VALUES ('nut')`); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	bolts, err := advisoryitemspg.New(db).WithTx(tx).Claim(ctx, 1)
	if err != nil {
		return err
	}
	nuts, err := advisorypartspg.New(db).Claim(ctx, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "item %d is locked, part %d is claimed\n", bolts[0].ID, nuts[0].ID)
	if err := tx.Rollback(); err != nil {
		return err
	}

	// The owners' partial index serves the claim.
	if err := situation.Exec(ctx, db,
		`INSERT INTO items (name, available) SELECT 'sold', false FROM generate_series(1, 2000)`, `ANALYZE items`); err != nil {
		return err
	}
	plan, err := situation.Rows(ctx, db, `EXPLAIN SELECT id FROM items WHERE available = true ORDER BY id LIMIT 3 FOR NO KEY UPDATE SKIP LOCKED`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the claim reads items_available: %t, and sorts: %t\n", strings.Contains(plan, "items_available"), strings.Contains(plan, "Sort"))
	return nil
}
