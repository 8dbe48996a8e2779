package corpus

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/test/corpus/gen/mirthmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/mirthpg"
)

// channel is a transaction over the messages of a channel, as all servers have it.
type channel[J any] interface {
	Claim(ctx context.Context, id int32, serverID string, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	Fail(ctx context.Context, job J, cause error) error
}

func TestMirth(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		open := func(number int) *mirthpg.Queue {
			q, err := mirthpg.New(b.DB, mirthpg.Tables{Channel: number})
			good(t, err)
			return q
		}
		mirth(t, b, func(number int, tx *sql.Tx) channel[mirthpg.Job] { return open(number).WithTx(tx) }, func(j mirthpg.Job) string {
			return message(j.MessageID, j.ID, j.Content)
		})
	}, "mirth/postgresql.sql")
	onServers(t, "mysql", func(t *testing.T, b base) {
		open := func(number int) *mirthmy.Queue {
			q, err := mirthmy.New(b.DB, mirthmy.Tables{Channel: number})
			good(t, err)
			return q
		}
		mirth(t, b, func(number int, tx *sql.Tx) channel[mirthmy.Job] { return open(number).WithTx(tx) }, func(j mirthmy.Job) string {
			return message(j.MessageID, j.ID, j.Content)
		})
	}, "mirth/mysql.sql", "mirth/mysql_adopted.sql")
}

// message is a job by its key and its content.
func message(messageID int64, id int32, content *string) string {
	if content == nil {
		return fmt.Sprintf("%d/%d", messageID, id)
	}
	return fmt.Sprintf("%d/%d %s", messageID, id, *content)
}

// mirth proves one server's package.
func mirth[J any](t *testing.T, b base, in func(number int, tx *sql.Tx) channel[J], text func(J) string) {
	ctx := t.Context()
	// anew empties the tables of channel 7 and adds the messages 1, 2, … with these values
	// for connector, server and status.
	anew := func(t *testing.T, rows ...string) {
		t.Helper()
		b.run(t, "DELETE FROM D_M7")
		for i, row := range rows {
			b.run(t, fmt.Sprintf("INSERT INTO D_M7 (ID, SERVER_ID) VALUES (%d, 'a')", i+1),
				fmt.Sprintf("INSERT INTO D_MM7 (MESSAGE_ID, ID, SERVER_ID, STATUS, CHAIN_ID, ORDER_ID) VALUES (%d, %s, 1, 1)", i+1, row))
		}
	}
	begin := func(t *testing.T) *sql.Tx {
		t.Helper()
		tx, err := b.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		good(t, err)
		t.Cleanup(func() { _ = tx.Rollback() })
		return tx
	}
	// claim claims what connector 1 of server a has, in a transaction of its own.
	claim := func(t *testing.T, tx *sql.Tx, want ...string) []J {
		t.Helper()
		jobs, err := in(7, tx).Claim(ctx, 1, "a", 9)
		return names(t, jobs, err, text, want...)
	}

	t.Run("own rows", func(t *testing.T) {
		anew(t, "1, 'a', 'Q'", "2, 'a', 'Q'", "1, 'b', 'Q'", "1, 'a', 'S'", "1, 'a', 'P'", "1, 'a', 'Q'")
		b.run(t, "INSERT INTO D_MM7 (MESSAGE_ID, ID, SERVER_ID, STATUS, CHAIN_ID, ORDER_ID) VALUES (1, 2, 'a', 'Q', 1, 1)")
		tx := begin(t)
		jobs := claim(t, tx, "1/1", "6/1")
		good(t, in(7, tx).Complete(ctx, jobs[0]))
		good(t, tx.Commit())
		b.want(t, "SELECT MESSAGE_ID, ID, STATUS FROM D_MM7 ORDER BY MESSAGE_ID, ID", "1 1 S", "1 2 Q", "2 2 Q", "3 1 Q", "4 1 S", "5 1 P", "6 1 Q")
	})

	t.Run("life", func(t *testing.T) {
		anew(t, "1, 'a', 'Q'", "1, 'a', 'Q'")
		tx := begin(t)
		jobs := claim(t, tx, "1/1", "2/1")
		good(t, in(7, tx).Complete(ctx, jobs[0]))
		good(t, in(7, tx).Fail(ctx, jobs[1], errCause))
		// The answer goes to another table in the same transaction.
		_, err := tx.ExecContext(ctx, "INSERT INTO D_MC7 (METADATA_ID, MESSAGE_ID, CONTENT_TYPE, CONTENT, IS_ENCRYPTED) VALUES (1, 1, 6, 'AA', false)")
		good(t, err)
		good(t, tx.Commit())
		b.want(t, "SELECT MESSAGE_ID, STATUS, SEND_ATTEMPTS, ERROR_CODE FROM D_MM7 ORDER BY MESSAGE_ID", "1 S 0 0", "2 Q 1 0")
		b.want(t, "SELECT MESSAGE_ID FROM D_MM7 WHERE SEND_DATE IS NOT NULL ORDER BY MESSAGE_ID", "1", "2")
		b.want(t, "SELECT MESSAGE_ID FROM D_MM7 WHERE RESPONSE_DATE IS NOT NULL", "1")
		b.want(t, "SELECT CONTENT FROM D_MC7", "AA")
		claim(t, begin(t), "2/1")
	})

	t.Run("payload", func(t *testing.T) {
		anew(t, "1, 'a', 'Q'", "1, 'a', 'Q'", "1, 'a', 'Q'")
		b.run(t, "INSERT INTO D_MM7 (MESSAGE_ID, ID, SERVER_ID, STATUS, CHAIN_ID, ORDER_ID) VALUES (1, 2, 'a', 'S', 1, 1)",
			`INSERT INTO D_MC7 (METADATA_ID, MESSAGE_ID, CONTENT_TYPE, CONTENT, IS_ENCRYPTED) VALUES
				(1, 1, 1, 'raw', false), (1, 1, 4, 'encoded', false), (1, 1, 5, 'sent', false),
				(2, 1, 4, 'of another connector', false), (1, 2, 1, 'raw', false), (1, 3, 4, NULL, false)`)
		claim(t, begin(t), "1/1 encoded", "2/1", "3/1")
	})

	t.Run("crash", func(t *testing.T) {
		anew(t, "1, 'a', 'Q'", "1, 'a', 'Q'")
		dies := begin(t)
		jobs := claim(t, dies, "1/1", "2/1")
		good(t, in(7, dies).Complete(ctx, jobs...))
		claim(t, begin(t)) // they are held
		good(t, dies.Rollback())
		claim(t, begin(t), "1/1", "2/1")
		b.want(t, "SELECT count(*) FROM D_MM7 WHERE STATUS = 'Q' AND SEND_DATE IS NULL", "2")
	})

	t.Run("another channel", func(t *testing.T) {
		anew(t, "1, 'a', 'Q'")
		for _, table := range []string{"D_MM7", "D_MC7"} {
			other := strings.Replace(table, "7", "12", 1)
			if b.engine == "postgresql" {
				b.run(t, "CREATE TABLE "+other+" (LIKE "+table+")")
			} else {
				b.run(t, "CREATE TABLE "+other+" LIKE "+table)
			}
		}
		if b.engine == "mysql" { // whose claims name an index, of each table its own
			b.run(t, "ALTER TABLE D_MM12 RENAME INDEX D_MM7_INDEX3 TO D_MM12_INDEX3")
		}
		b.run(t, "INSERT INTO D_MM12 (MESSAGE_ID, ID, SERVER_ID, STATUS, SEND_ATTEMPTS, ERROR_CODE, CHAIN_ID, ORDER_ID) VALUES (5, 1, 'a', 'Q', 0, 0, 1, 1)",
			"INSERT INTO D_MC12 (METADATA_ID, MESSAGE_ID, CONTENT_TYPE, CONTENT, IS_ENCRYPTED) VALUES (1, 5, 4, 'twelve', false)")
		tx := begin(t)
		jobs, err := in(12, tx).Claim(ctx, 1, "a", 9)
		names(t, jobs, err, text, "5/1 twelve")
		good(t, in(12, tx).Complete(ctx, jobs...))
		good(t, tx.Commit())
		b.want(t, "SELECT STATUS FROM D_MM7", "Q")
		b.want(t, "SELECT STATUS FROM D_MM12", "S")
	})
}
