package corpus

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/gammulite"
	"github.com/qgen-dev/qgen/test/corpus/gen/gammumy"
	"github.com/qgen-dev/qgen/test/corpus/gen/gammupg"
)

// sms is the queue over Gammu's outbox, as all servers have it.
type sms[J any] interface {
	Claim(ctx context.Context, senderID *string, day, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	Fail(ctx context.Context, job J, cause error) error
	Requeue(ctx context.Context, delay time.Duration, jobs ...J) error
}

func TestGammu(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		gammu(t, b, gammupg.New(b.DB), gammupg.ErrLost, func(j gammupg.Job) string { return j.TextDecoded })
	}, "gammu/postgresql.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		gammu(t, b, gammumy.New(b.DB), gammumy.ErrLost, func(j gammumy.Job) string { return j.TextDecoded })
		t.Run("cut short", func(t *testing.T) { gammuCutShort(t, b) })
	}, "gammu/mysql.sql")
	onServers(t, "sqlite", func(t *testing.T, b base) {
		gammu(t, b, gammulite.New(b.DB), gammulite.ErrLost, func(j gammulite.Job) string { return j.TextDecoded })
	}, "gammu/sqlite.sql")
}

// gammu proves one server's package.
func gammu[J any](t *testing.T, b base, q sms[J], lost error, text func(J) string) {
	ctx := t.Context()
	me := "modem1"
	const monday = 1 << 1
	claim := func(t *testing.T, limit int, want ...string) []J {
		t.Helper()
		jobs, err := q.Claim(ctx, &me, monday, limit)
		return names(t, jobs, err, text, want...)
	}
	// anew empties the tables and adds messages: values for the columns that are named.
	anew := func(t *testing.T, columns string, rows ...string) {
		t.Helper()
		b.run(t, `DELETE FROM outbox`, `DELETE FROM outbox_multipart`, `DELETE FROM sentitems`)
		for i, row := range rows {
			at := "'2024-01-02 03:04:0" + string(rune('0'+i)) + "'"
			b.run(t, `INSERT INTO outbox ("CreatorID", "UDH", "InsertIntoDB", "SendingDateTime", "SendingTimeOut", `+columns+`) VALUES ('corpus', NULL, `+at+`, '2024-01-02', '2024-01-02', `+row+`)`)
		}
	}
	// expire lets the claims of all messages run out.
	expire := func(t *testing.T) {
		t.Helper()
		b.run(t, `UPDATE outbox SET "SendingTimeOut" = '2024-01-03'`)
	}

	t.Run("ready", func(t *testing.T) {
		early := map[string]string{"postgresql": "00:00:00", "mysql": "-00:00:01", "sqlite": "00:00:00"}[b.engine]
		anew(t, `"TextDecoded", "SenderID", "SendDays", "SendAfter", "SendBefore", "Priority", "Status"`,
			`'of nobody', NULL, 127, '00:00:00', '24:00:00', 0, 'Reserved'`,
			`'of the empty name', '', 127, '00:00:00', '24:00:00', 0, 'SendingError'`,
			`'mine', 'modem1', 2, '00:00:00', '24:00:00', 0, 'Reserved'`,
			`'of another', 'modem2', 127, '00:00:00', '24:00:00', 9, 'Reserved'`,
			`'not on Mondays', NULL, 125, '00:00:00', '24:00:00', 9, 'Reserved'`,
			`'too early', NULL, 127, '24:00:00', '24:00:00', 9, 'Reserved'`,
			`'too late', NULL, 127, '00:00:00', '`+early+`', 9, 'Reserved'`,
			`'urgent', NULL, 127, '00:00:00', '24:00:00', 1, 'SendingOK'`,
			`'not yet', NULL, 127, '00:00:00', '24:00:00', 9, 'Reserved'`,
			`'tried too often', NULL, 127, '00:00:00', '24:00:00', 9, 'Reserved'`)
		b.run(t, `UPDATE outbox SET "SendingDateTime" = '2037-01-01' WHERE "TextDecoded" = 'not yet'`,
			`UPDATE outbox SET "Retries" = 5 WHERE "TextDecoded" = 'tried too often'`,
			`UPDATE outbox SET "Retries" = NULL, "SendingTimeOut" = NULL WHERE "TextDecoded" = 'mine'`)
		claim(t, 2, "urgent", "of nobody")
		claim(t, 9, "of the empty name", "mine")
		claim(t, 9)
		b.want(t, `SELECT "Status" FROM outbox WHERE "TextDecoded" IN ('urgent', 'mine') ORDER BY "ID"`, "Reserved", "SendingOK")
	})

	t.Run("moves", func(t *testing.T) {
		anew(t, `"TextDecoded", "SenderID", "Text"`, `'sent', NULL, NULL`, `'failed', 'modem1', 'x'`, `'waits', NULL, NULL`)
		b.run(t, `UPDATE outbox SET "Retries" = 4 WHERE "TextDecoded" = 'failed'`,
			`INSERT INTO outbox_multipart ("ID", "SequencePosition") SELECT "ID", 2 FROM outbox`)
		jobs := claim(t, 3, "sent", "failed", "waits")
		good(t, q.Complete(ctx, jobs[0]))
		good(t, q.Fail(ctx, jobs[1], errCause))
		good(t, q.Fail(ctx, jobs[2], errCause))
		b.want(t, `SELECT "TextDecoded", "Status", "SenderID", "Text", "UDH", "SequencePosition", "Class", "CreatorID" FROM sentitems ORDER BY "ID"`,
			"sent SendingOK    1 -1 corpus", "failed SendingError modem1 x  1 -1 corpus")
		b.want(t, `SELECT "TextDecoded", "Retries", "Status" FROM outbox`, "waits 1 Reserved")
		b.want(t, `SELECT "SequencePosition" FROM outbox_multipart`, "2")
		b.want(t, `SELECT count(*) FROM outbox WHERE "SendingDateTime" > "InsertIntoDB"`, "1")
		b.run(t, `UPDATE outbox SET "SendingDateTime" = '2024-01-02'`)
		expire(t)
		good(t, q.Requeue(ctx, 0, claim(t, 9, "waits")...))
		b.want(t, `SELECT "Retries" FROM outbox`, "1")
	})

	t.Run("late worker", func(t *testing.T) {
		anew(t, `"TextDecoded"`, `'one'`)
		b.run(t, `INSERT INTO outbox_multipart ("ID", "SequencePosition") SELECT "ID", 2 FROM outbox`)
		late := claim(t, 1, "one")
		claim(t, 1) // its worker may yet be alive
		pause()
		expire(t)
		good(t, q.Complete(ctx)) // nothing is nothing
		mine := claim(t, 1, "one")
		isLost(t, lost, q.Complete(ctx, late...))
		isLost(t, lost, q.Fail(ctx, late[0], errCause))
		b.want(t, `SELECT (SELECT count(*) FROM outbox), (SELECT count(*) FROM outbox_multipart), (SELECT count(*) FROM sentitems)`, "1 1 0")
		good(t, q.Complete(ctx, mine...))
		b.want(t, `SELECT (SELECT count(*) FROM outbox), (SELECT count(*) FROM outbox_multipart), (SELECT count(*) FROM sentitems)`, "0 0 1")
		isLost(t, lost, q.Complete(ctx, mine...))
		b.want(t, `SELECT count(*) FROM sentitems`, "1")
	})

	t.Run("exclusive", func(t *testing.T) {
		anew(t, `"TextDecoded"`)
		b.run(t, `INSERT INTO outbox ("CreatorID", "TextDecoded", "SendingDateTime", "SendingTimeOut") VALUES `+
			texts(400, `('corpus', 'n%d', '2024-01-02', '2024-01-02')`))
		together(t, 400, func(ctx context.Context) ([]J, error) { return q.Claim(ctx, nil, monday, 3) }, text)
	})
}

// gammuCutShort: rows are marked one by one where the engine knows no transactions, so what is
// marked when the server stops answering is the caller's all the same.
func gammuCutShort(t *testing.T, b base) {
	b.run(t, `DELETE FROM outbox`)
	for _, text := range []string{"a", "b", "c"} {
		b.run(t, `INSERT INTO outbox ("CreatorID", "TextDecoded", "SendingDateTime", "SendingTimeOut") VALUES ('corpus', '`+text+`', '2024-01-02', '2024-01-02')`)
	}
	text := func(j gammumy.Job) string { return j.TextDecoded }
	for _, want := range [][]string{{"a", "b"}, {"c"}} {
		jobs, err := gammumy.New(&refusing{DB: b.DB, at: 3}).Claim(t.Context(), nil, 1, 9)
		names(t, jobs, err, text, want...)
	}
}

// refusing is a database that refuses statements that return no rows, from the at-th on.
type refusing struct {
	*sql.DB
	at int
}

func (r *refusing) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if r.at--; r.at <= 0 {
		return nil, errCause
	}
	return r.DB.ExecContext(ctx, query, args...)
}
