// Package owned is the table of MySQL 5 in which a worker marks rows with the number
// of its connection.
package owned

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/11-connection-owner/gen/ownedmaria"
	"github.com/qgen-dev/qgen/example/situations/11-connection-owner/gen/ownedmy"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the eleventh.
var Situation = situation.Situation{Folder: "11-connection-owner", Files: files, Programs: []situation.Program{
	{Engine: "mysql", Servers: []string{"mysql"}, Packages: []string{"ownedmy"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, ownedmy.New(db), func(j ownedmy.Job) string { return j.Data })
	}},
	{Engine: "mysql", Servers: []string{"mariadb"}, Packages: []string{"ownedmaria"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return run(ctx, db, out, ownedmaria.New(db), func(j ownedmaria.Job) string { return j.Data })
	}},
}}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, q situation.Queue[Job], data func(Job) string) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	insert := `INSERT INTO jobs (data) VALUES ('a'), ('b'), ('c'), ('d')`
	if err := situation.Exec(ctx, db, insert); err != nil {
		return err
	}

	// By hand: two workers share a pool, and so a connection.
	db.SetMaxOpenConns(1)
	for range 2 {
		if err := situation.Exec(ctx, db, `UPDATE jobs SET owner = CONNECTION_ID() WHERE owner IS NULL ORDER BY id LIMIT 2`); err != nil {
			return err
		}
		mine, err := situation.Rows(ctx, db, `SELECT data FROM jobs WHERE owner = CONNECTION_ID() ORDER BY id`)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "by hand a worker has %s\n", mine)
	}

	// With qgen, over the same connection: the number is one of the claim.
	if err := situation.Exec(ctx, db, `DELETE FROM jobs`, insert); err != nil {
		return err
	}
	var claims [2][]Job
	for i := range claims {
		var err error
		if claims[i], err = q.Claim(ctx, 2); err != nil {
			return err
		}
		fmt.Fprintf(out, "with qgen a worker has %s\n", situation.Texts(claims[i], data))
	}
	if err := q.Complete(ctx, claims[0]...); err != nil {
		return err
	}
	left, err := situation.Rows(ctx, db, `SELECT data FROM jobs ORDER BY id`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the first finished; left: %s\n", left)
	return nil
}
