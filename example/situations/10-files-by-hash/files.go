// Package files is a table that instances share by a hash code: nothing marks a row
// while one works on it, because no other instance looks at it.
package files

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/10-files-by-hash/gen/fileslite"
	"github.com/qgen-dev/qgen/example/situations/10-files-by-hash/gen/filesmaria"
	"github.com/qgen-dev/qgen/example/situations/10-files-by-hash/gen/filesmy"
	"github.com/qgen-dev/qgen/example/situations/10-files-by-hash/gen/filespg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the tenth.
var Situation = situation.Situation{Folder: "10-files-by-hash", Files: files, Programs: []situation.Program{
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"fileslite"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := fileslite.New(db)
		claim := func(index, count int) ([]fileslite.Job, error) {
			return q.Claim(ctx, fileslite.Shard{Index: index, Count: count}, 10)
		}
		return run(ctx, db, out, q, claim, func(j fileslite.Job) string { return j.Path })
	}},
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"filespg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := filespg.New(db)
		claim := func(index, count int) ([]filespg.Job, error) {
			return q.Claim(ctx, filespg.Shard{Index: index, Count: count}, 10)
		}
		return run(ctx, db, out, q, claim, func(j filespg.Job) string { return j.Path })
	}},
	{Engine: "mysql", Servers: []string{"mysql"}, Packages: []string{"filesmy"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := filesmy.New(db)
		claim := func(index, count int) ([]filesmy.Job, error) {
			return q.Claim(ctx, filesmy.Shard{Index: index, Count: count}, 10)
		}
		return run(ctx, db, out, q, claim, func(j filesmy.Job) string { return j.Path })
	}},
	{Engine: "mysql", Servers: []string{"mariadb"}, Packages: []string{"filesmaria"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := filesmaria.New(db)
		claim := func(index, count int) ([]filesmaria.Job, error) {
			return q.Claim(ctx, filesmaria.Shard{Index: index, Count: count}, 10)
		}
		return run(ctx, db, out, q, claim, func(j filesmaria.Job) string { return j.Path })
	}},
}}

// finisher is what does not ask for a share.
type finisher[Job any] interface {
	Verify(ctx context.Context) error
	Complete(ctx context.Context, jobs ...Job) error
}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, q finisher[Job], claim func(index, count int) ([]Job, error), path func(Job) string) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO files (path, hash_code) VALUES ('a', 0), ('b', 1), ('c', 2), ('d', 3), ('no hash', NULL), ('below zero', -1)`); err != nil {
		return err
	}
	const instances = 3
	for index := range instances {
		jobs, err := claim(index, instances)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "instance %d of %d: %s\n", index, instances, situation.Texts(jobs, path))
		if err := q.Complete(ctx, jobs...); err != nil {
			return err
		}
	}
	left, err := situation.Rows(ctx, db, `SELECT count(*) FROM files WHERE processed = false`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "left: %s\n", left)
	return nil
}
