package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/corpus/gen/watermillmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/watermillpg"
)

func TestWatermill(t *testing.T) {
	onServers(t, "postgresql", watermillPG, "watermill/postgresql.sql", "gen/watermillpg/schema/offset.sql")
	onServers(t, "mysql", watermillMySQL, "watermill/mysql.sql", "gen/watermillmy/schema/offset.sql")
}

func watermillPG(t *testing.T, b base) {
	ctx := t.Context()
	q := watermillpg.New(b.DB)
	add := func(t *testing.T, q *watermillpg.Queue, uuid string) {
		t.Helper()
		_, err := q.Enqueue(ctx, watermillpg.NewJob{UUID: uuid, Payload: json.RawMessage(`{"of": "` + uuid + `"}`)})
		good(t, err)
	}
	claim := func(t *testing.T, group string, limit int, want ...string) []watermillpg.Job {
		t.Helper()
		jobs, err := q.Claim(ctx, group, limit)
		return names(t, jobs, err, func(j watermillpg.Job) string { return j.UUID }, want...)
	}
	anew := func(t *testing.T) {
		t.Helper()
		b.run(t, "TRUNCATE watermill_x", "TRUNCATE watermill_x_offset")
	}
	// oldest waits until no transaction of the server, of another database neither, is older
	// than one: only then claims see the rows that were added before it.
	oldest := func(t *testing.T, transaction string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			var is bool
			good(t, b.QueryRow("SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8", transaction).Scan(&is))
			if is {
				return
			}
			if time.Now().After(end) {
				t.Fatal("a transaction has been open for a minute")
			}
		}
	}
	settled := func(t *testing.T) {
		t.Helper()
		var next string
		good(t, b.QueryRow("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").Scan(&next))
		oldest(t, next)
	}

	t.Run("life", func(t *testing.T) {
		anew(t)
		for _, uuid := range []string{"a", "b", "c"} {
			add(t, q, uuid)
		}
		settled(t)
		jobs := claim(t, "mail", 2, "a", "b")
		if string(jobs[0].Payload) != `{"of": "a"}` {
			t.Errorf("the payload is %s", jobs[0].Payload)
		}
		claim(t, "mail", 2) // one consumer of a group at a time
		claim(t, "audit", 9, "a", "b", "c")
		good(t, q.Complete(ctx, jobs...))
		isLost(t, watermillpg.ErrLost, q.Complete(ctx, jobs...))
		b.want(t, `SELECT (SELECT uuid FROM watermill_x WHERE "offset" = mark_offset AND transaction_id = mark_transaction_id) FROM watermill_x_offset WHERE consumer_group = 'mail'`, "b")
		claim(t, "mail", 9, "c")
		b.want(t, "SELECT uuid FROM watermill_x ORDER BY uuid", "a", "b", "c")
	})

	t.Run("crash", func(t *testing.T) {
		anew(t)
		add(t, q, "a")
		settled(t)
		late := claim(t, "mail", 9, "a")
		b.run(t, "UPDATE watermill_x_offset SET lease_till = '2024-01-02'")
		mine := claim(t, "mail", 9, "a")
		isLost(t, watermillpg.ErrLost, q.Complete(ctx, late...))
		good(t, q.Complete(ctx, mine...))
		claim(t, "mail", 9)
	})

	t.Run("late commit", func(t *testing.T) {
		anew(t)
		tx, err := b.Begin()
		good(t, err)
		defer func() { _ = tx.Rollback() }()
		add(t, q.WithTx(tx), "early")
		var number string
		good(t, tx.QueryRow("SELECT pg_current_xact_id()::text").Scan(&number))
		add(t, q, "late")
		oldest(t, number) // so that nothing but this transaction holds the claim back
		// The number of the row that cannot be seen yet is the lower one: whoever read the
		// other now would never come back for it.
		claim(t, "mail", 9)
		good(t, tx.Commit())
		settled(t)
		claim(t, "mail", 9, "early", "late")
	})
}

func watermillMySQL(t *testing.T, b base) {
	ctx := t.Context()
	q := watermillmy.New(b.DB)
	uuid := []byte{0, 1, 2, 0xff, '\'', 0, '\\', 7, 8, 9, 10, 11, 12, 13, 14, 0}
	text := func(j watermillmy.Job) string { return string(j.Payload) }
	claim := func(t *testing.T, group string, want ...string) []watermillmy.Job {
		t.Helper()
		jobs, err := q.Claim(ctx, group, 9)
		return names(t, jobs, err, text, want...)
	}
	add := func(t *testing.T, payload string) {
		t.Helper()
		_, err := q.Enqueue(ctx, watermillmy.NewJob{UUID: uuid, Payload: json.RawMessage(payload)})
		good(t, err)
	}
	older := func(t *testing.T, seconds int) {
		t.Helper()
		b.run(t, fmt.Sprintf("UPDATE watermill_x SET created_at = created_at - INTERVAL %d SECOND", seconds))
	}

	t.Run("late commit", func(t *testing.T) {
		tx, err := b.Begin()
		good(t, err)
		defer func() { _ = tx.Rollback() }()
		_, err = q.WithTx(tx).Enqueue(ctx, watermillmy.NewJob{UUID: uuid, Payload: json.RawMessage(`"early"`)})
		good(t, err)
		add(t, `"late"`)
		claim(t, "mail") // a row as young as that may have an older one behind it
		good(t, tx.Commit())
		older(t, 61)
		jobs := claim(t, "mail", `"early"`, `"late"`)
		good(t, q.Complete(ctx, jobs[0]))
		b.want(t, "SELECT mark_offset FROM watermill_x_offset WHERE consumer_group = 'mail'", "1")
		good(t, q.Requeue(ctx, jobs[1]))
		good(t, q.Complete(ctx, claim(t, "mail", `"late"`)...))
		claim(t, "mail")
	})

	t.Run("bytes", func(t *testing.T) {
		jobs := claim(t, "audit", `"early"`, `"late"`)
		for _, j := range jobs {
			if !bytes.Equal(j.UUID, uuid) {
				t.Errorf("the key came back as %x, want %x", j.UUID, uuid)
			}
		}
		late := jobs
		b.run(t, "UPDATE watermill_x_offset SET lease_till = '2024-01-02' WHERE consumer_group = 'audit'")
		claim(t, "audit", `"early"`, `"late"`)
		isLost(t, watermillmy.ErrLost, q.Complete(ctx, late...))
	})
}
