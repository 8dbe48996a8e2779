// Package outbox is a table with ids and no status. It does not show what becomes of
// its rows, so that is declared, and each declaration gives another queue.
package outbox

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/leasedoutboxlite"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/leasedoutboxmaria"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/leasedoutboxmy"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/leasedoutboxpg"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/outboxmaria"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/outboxmy"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/outboxpg"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/readoutboxlite"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/readoutboxmaria"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/readoutboxmy"
	"github.com/qgen-dev/qgen/example/situations/02-ids-no-status/gen/readoutboxpg"
	"github.com/qgen-dev/qgen/example/situations/situation"
)

//go:embed *.sql gen/*/schema/*.sql
var files embed.FS

// Situation is the second.
var Situation = situation.Situation{Folder: "02-ids-no-status", Files: files, Programs: []situation.Program{
	{Engine: "postgresql", Servers: []string{"postgres"}, Packages: []string{"readoutboxpg", "outboxpg", "leasedoutboxpg"}, Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return read(ctx, db, out, readoutboxpg.New(db), "", func(j readoutboxpg.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			q := outboxpg.New(db)
			begin := func(ctx context.Context) (situation.Hold[outboxpg.Job], error) { return q.Hold(ctx) }
			return hold(ctx, db, out, q.Verify, begin, func(j outboxpg.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedoutboxpg.New(db), longAgoPG, func(j leasedoutboxpg.Job) string { return j.Recipient }, leasedoutboxpg.ErrLost)
		},
	)},
	{Engine: "mysql", Servers: []string{"mysql97"}, Packages: []string{"readoutboxmy", "outboxmy", "leasedoutboxmy"}, Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return read(ctx, db, out, readoutboxmy.New(db), older, func(j readoutboxmy.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			q := outboxmy.New(db)
			begin := func(ctx context.Context) (situation.Hold[outboxmy.Job], error) { return q.Hold(ctx) }
			return hold(ctx, db, out, q.Verify, begin, func(j outboxmy.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedoutboxmy.New(db), longAgoMySQL, func(j leasedoutboxmy.Job) string { return j.Recipient }, leasedoutboxmy.ErrLost)
		},
	)},
	{Engine: "mysql", Servers: []string{"mysql56"}, Packages: []string{"readoutboxmy", "leasedoutboxmy"}, Output: "output-no-hold.txt", Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return read(ctx, db, out, readoutboxmy.New(db), older, func(j readoutboxmy.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedoutboxmy.New(db), longAgoMySQL, func(j leasedoutboxmy.Job) string { return j.Recipient }, leasedoutboxmy.ErrLost)
		},
	)},
	{Engine: "mysql", Servers: []string{"mariadb1011", "mariadb118"}, Packages: []string{"readoutboxmaria", "outboxmaria", "leasedoutboxmaria"}, Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return read(ctx, db, out, readoutboxmaria.New(db), older, func(j readoutboxmaria.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			q := outboxmaria.New(db)
			begin := func(ctx context.Context) (situation.Hold[outboxmaria.Job], error) { return q.Hold(ctx) }
			return hold(ctx, db, out, q.Verify, begin, func(j outboxmaria.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedoutboxmaria.New(db), longAgoMySQL, func(j leasedoutboxmaria.Job) string { return j.Recipient }, leasedoutboxmaria.ErrLost)
		},
	)},
	{Engine: "mysql", Servers: []string{"mariadb105"}, Packages: []string{"readoutboxmaria", "leasedoutboxmaria"}, Output: "output-no-hold.txt", Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return read(ctx, db, out, readoutboxmaria.New(db), older, func(j readoutboxmaria.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedoutboxmaria.New(db), longAgoMySQL, func(j leasedoutboxmaria.Job) string { return j.Recipient }, leasedoutboxmaria.ErrLost)
		},
	)},
	{Engine: "sqlite", Servers: []string{"sqlite"}, Packages: []string{"readoutboxlite", "leasedoutboxlite"}, Output: "output-no-hold.txt", Run: situation.InTurn(
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return read(ctx, db, out, readoutboxlite.New(db), "", func(j readoutboxlite.Job) string { return j.Recipient })
		},
		func(ctx context.Context, db *sql.DB, out io.Writer) error {
			return lease(ctx, db, out, leasedoutboxlite.New(db), longAgoSQLite, func(j leasedoutboxlite.Job) string { return j.Recipient }, leasedoutboxlite.ErrLost)
		},
	)},
}}

// older lets a minute pass for the mails that are there, where that is what a reader
// waits for.
const older = `UPDATE outbox SET added = added - INTERVAL 2 MINUTE`

// The times at which a lease ended, as the side table of each server has them.
const (
	longAgoPG     = `now() - interval '1 minute'`
	longAgoMySQL  = `UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE`
	longAgoSQLite = `0`
)

// fill begins with the same five mails.
func fill(ctx context.Context, db *sql.DB) error {
	return situation.Exec(ctx, db, `DELETE FROM outbox`, `INSERT INTO outbox (recipient) VALUES ('ann'), ('bob'), ('cid'), ('dan'), ('eve')`)
}

// left are the mails that the table has.
func left(ctx context.Context, db *sql.DB) (string, error) {
	return situation.Rows(ctx, db, `SELECT recipient FROM outbox ORDER BY id`)
}

// read: mails are only added; each group reads all of them.
func read[Job any](ctx context.Context, db *sql.DB, out io.Writer, q situation.Log[Job], older string, recipient func(Job) string) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := fill(ctx, db); err != nil {
		return err
	}
	if older != "" {
		if err := situation.Exec(ctx, db, older); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		group string
		n     int
	}{{"sender", 2}, {"auditor", 5}, {"sender", 3}} {
		jobs, err := situation.Read(ctx, q, step.group, step.n)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "offset: %s reads %s\n", step.group, situation.Texts(jobs, recipient))
		if err := q.Complete(ctx, jobs...); err != nil {
			return err
		}
	}
	rows, err := left(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "offset: left are %s\n", rows)
	return nil
}

// hold: the lock of a mail's row is the claim.
func hold[Job any](ctx context.Context, db *sql.DB, out io.Writer, verify func(context.Context) error, begin situation.Holder[Job], recipient func(Job) string) error {
	if err := verify(ctx); err != nil {
		return err
	}
	if err := fill(ctx, db); err != nil {
		return err
	}
	one, err := begin(ctx)
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := begin(ctx)
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
	fmt.Fprintf(out, "hold: one worker has %s, another %s\n", situation.Texts(ours, recipient), situation.Texts(theirs, recipient))

	// The first sends one of its two mails, the second dies.
	if err := one.Complete(ctx, ours[0]); err != nil {
		return err
	}
	if err := one.Commit(ctx); err != nil {
		return err
	}
	two.Close()
	rows, err := left(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "hold: one mail was sent, one worker died; left are %s\n", rows)

	three, err := begin(ctx)
	if err != nil {
		return err
	}
	defer three.Close()
	rest, err := three.Claim(ctx, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "hold: a third worker has %s\n", situation.Texts(rest, recipient))
	if err := three.Complete(ctx, rest...); err != nil {
		return err
	}
	return three.Commit(ctx)
}

// lease: a row of outbox_lease is the claim, and the mail's own row stays as it is.
func lease[Job any](ctx context.Context, db *sql.DB, out io.Writer, q situation.Queue[Job], longAgo string, recipient func(Job) string, lost error) error {
	if err := q.Verify(ctx); err != nil {
		return err
	}
	if err := fill(ctx, db); err != nil {
		return err
	}
	ours, err := q.Claim(ctx, 2)
	if err != nil {
		return err
	}
	theirs, err := q.Claim(ctx, 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "lease_table: one worker has %s, another %s\n", situation.Texts(ours, recipient), situation.Texts(theirs, recipient))

	// The first sends its two mails. The second sleeps until its lease has ended.
	if err := q.Complete(ctx, ours...); err != nil {
		return err
	}
	if err := situation.Exec(ctx, db, `UPDATE outbox_lease SET claimed_until = `+longAgo); err != nil {
		return err
	}
	rest, err := q.Claim(ctx, 10)
	if err != nil {
		return err
	}
	late := errors.Is(q.Complete(ctx, theirs...), lost)
	fmt.Fprintf(out, "lease_table: a third worker has %s; the second comes late and is told so: %t\n", situation.Texts(rest, recipient), late)
	if err := q.Complete(ctx, rest[:2]...); err != nil {
		return err
	}
	if err := q.Fail(ctx, rest[2], errors.New("mailbox full")); err != nil {
		return err
	}
	rows, err := left(ctx, db)
	if err != nil {
		return err
	}
	why, err := situation.Rows(ctx, db, `SELECT error FROM outbox_lease`)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "lease_table: left is %s, and beside it %q\n", rows, why)
	return nil
}
