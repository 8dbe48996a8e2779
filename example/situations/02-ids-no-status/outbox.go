// Package outbox is a table with ids and no status: nothing can be written while a
// mail is sent, so the lock of its row is the claim.
package outbox

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/outboxmy"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/outboxpg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/indexes.sql
var files embed.FS

// Situation is the second.
var Situation = situation.Situation{Folder: "02-ids-no-status", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"outboxpg"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := outboxpg.New(db)
		hold := func(ctx context.Context) (situation.Hold[outboxpg.Job], error) { return q.Hold(ctx) }
		return run(ctx, db, out, q.Verify, hold, func(j outboxpg.Job) string { return j.Recipient })
	}},
	{Engine: "mysql", Servers: []string{"mysql97"}, Packages: []string{"outboxmy"}, Run: func(ctx context.Context, db *sql.DB, out io.Writer) error {
		q := outboxmy.New(db)
		hold := func(ctx context.Context) (situation.Hold[outboxmy.Job], error) { return q.Hold(ctx) }
		return run(ctx, db, out, q.Verify, hold, func(j outboxmy.Job) string { return j.Recipient })
	}},
}}

func run[Job any](ctx context.Context, db *sql.DB, out io.Writer, verify func(context.Context) error, hold situation.Holder[Job], recipient func(Job) string) error {
	if err := verify(ctx); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `INSERT INTO outbox (recipient) VALUES ('ann'), ('bob'), ('cid'), ('dan'), ('eve')`); err != nil {
		return err
	}
	one, err := hold(ctx)
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := hold(ctx)
	if err != nil {
		return err
	}
	defer two.Close()

	ours, err := one.Claim(ctx, 2)
	if err != nil {
		return err
	}
	theirs, err := two.Claim(ctx, 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "one worker holds %s, another %s\n", situation.Texts(ours, recipient), situation.Texts(theirs, recipient))

	// The first sends one of its two mails, the second dies.
	if err := one.Complete(ctx, ours[0]); err != nil {
		return err
	}
	if err := one.Commit(ctx); err != nil {
		return err
	}
	two.Close()
	left, err := situation.Rows(ctx, db, `SELECT recipient FROM outbox ORDER BY id`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "one was sent, one worker died; left: %s\n", left)

	three, err := hold(ctx)
	if err != nil {
		return err
	}
	defer three.Close()
	rest, err := three.Claim(ctx, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a third worker holds %s\n", situation.Texts(rest, recipient))
	if err := three.Complete(ctx, rest...); err != nil {
		return err
	}
	return three.Commit(ctx)
}
