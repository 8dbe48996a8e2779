// Package lines is a log: a number that grows, a line, no id and no status. Groups
// of consumers read it behind marks, and no line that commits late is passed over.
package lines

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/04-sequence-log/gen/lineslite"
	"github.com/qgen-dev/qgen/example/situations/04-sequence-log/gen/linesmaria"
	"github.com/qgen-dev/qgen/example/situations/04-sequence-log/gen/linesmy"
	"github.com/qgen-dev/qgen/example/situations/04-sequence-log/gen/linespg"
	"github.com/qgen-dev/qgen/example/situations/04-sequence-log/gen/numberedlinespg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/*.sql
var files embed.FS

// Situation is the fourth.
var Situation = situation.Situation{Folder: "04-sequence-log", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"linespg", "numberedlinespg"}, Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return log[linespg.Job]{linespg.New(db), "log_lines", func(j linespg.Job) string { return show(j.Seq, j.Line) }, writersMeet}.run(ctx, db, out)
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return log[numberedlinespg.Job]{numberedlinespg.New(db), "numbered_lines", func(j numberedlinespg.Job) string { return show(j.Seq, j.Line) }, writersMeet}.run(ctx, db, out)
		},
	)},
	{Engine: "mysql", Servers: []string{"mysql"}, Packages: []string{"linesmy"}, Output: "output-settle.txt", Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return log[linesmy.Job]{linesmy.New(db), "log_lines", func(j linesmy.Job) string { return show(j.Seq, j.Line) }, linesSettle}.run(ctx, db, out)
	}},
	{Engine: "mysql", Servers: []string{"mariadb"}, Packages: []string{"linesmaria"}, Output: "output-settle.txt", Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return log[linesmaria.Job]{linesmaria.New(db), "log_lines", func(j linesmaria.Job) string { return show(j.Seq, j.Line) }, linesSettle}.run(ctx, db, out)
	}},
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"lineslite"}, Output: "output-sqlite.txt", Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		return log[lineslite.Job]{lineslite.New(db), "log_lines", func(j lineslite.Job) string { return show(j.Seq, j.Line) }, oneWriter}.run(ctx, db, out)
	}},
}}

// server is what the program has to know of a server.
type server int

const (
	writersMeet server = iota // several write at a time
	linesSettle               // the same, and a line is read when it is a minute old
	oneWriter                 // nobody can write while somebody else does
)

// log is a table and the package that reads it.
type log[Job any] struct {
	queue situation.Log[Job]
	table string
	line  func(Job) string
	on    server
}

func show(seq int64, line string) string { return fmt.Sprintf("%d:%s", seq, line) }

func (l log[Job]) run(ctx context.Context, db *sql.DB, out io.Writer) error {
	if err := l.queue.Verify(ctx); err != nil {
		return err
	}
	add := `INSERT INTO ` + l.table + ` (line) VALUES `
	if err := situation.Exec(ctx, db, add+`('start'), ('login')`); err != nil {
		return err
	}
	if err := l.settle(ctx, db); err != nil {
		return err
	}
	first, err := situation.Read(ctx, l.queue, "index", 2)
	if err != nil {
		return err
	}
	second, err := l.queue.Claim(ctx, "index", 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: a consumer of index has %s, another meanwhile [%s]\n", l.table, l.texts(first), l.texts(second))
	if err := l.queue.Complete(ctx, first...); err != nil {
		return err
	}

	if l.on == oneWriter {
		err = situation.Exec(ctx, db, add+`('read')`, add+`('write')`)
	} else {
		err = l.late(ctx, db, out, add)
	}
	if err != nil {
		return err
	}
	next, err := situation.Read(ctx, l.queue, "index", 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: index goes on with %s\n", l.table, l.texts(next))
	if err := l.queue.Complete(ctx, next...); err != nil {
		return err
	}

	// Another group reads all from the beginning, and gives up at the third line.
	all, err := situation.Read(ctx, l.queue, "report", 4)
	if err != nil {
		return err
	}
	if err := l.queue.Complete(ctx, all[0], all[1], all[3]); err != nil {
		return err
	}
	if err := l.queue.Requeue(ctx, all[2]); err != nil {
		return err
	}
	again, err := situation.Read(ctx, l.queue, "report", 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: report had %s, gave up at the third, and has %s again\n", l.table, l.texts(all), l.texts(again))
	return l.queue.Complete(ctx, again...)
}

// late adds a line that is committed after one with a higher number.
func (l log[Job]) late(ctx context.Context, db *sql.DB, out io.Writer, add string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, add+`('read')`); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, add+`('write')`); err != nil {
		return err
	}
	seen, err := situation.Rows(ctx, db, `SELECT line FROM `+l.table+` ORDER BY seq`)
	if err != nil {
		return err
	}
	early, err := l.queue.Claim(ctx, "index", 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: a line is not committed yet; there are %s, and index gets [%s]\n", l.table, seen, l.texts(early))
	if err := l.queue.Requeue(ctx, early...); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return l.settle(ctx, db)
}

// settle lets a minute pass for the lines that are there, where that is what a claim
// waits for.
func (l log[Job]) settle(ctx context.Context, db *sql.DB) error {
	if l.on != linesSettle {
		return nil
	}
	return situation.Exec(ctx, db, `UPDATE `+l.table+` SET added = added - INTERVAL 2 MINUTE`)
}

func (l log[Job]) texts(jobs []Job) string { return situation.Texts(jobs, l.line) }
