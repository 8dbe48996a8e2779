package lettersq

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// want compares the rows of a query, each a text, with lines.
func want(t *testing.T, db DBTX, query string, lines ...string) {
	t.Helper()
	got, err := texts(db, query)
	if err != nil || !slices.Equal(got, lines) {
		t.Errorf("%s\ngives %q, %v\nwant  %q", query, got, err, lines)
	}
}

func texts(db DBTX, query string) (list []string, err error) {
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		list = append(list, line)
	}
	return list, rows.Err()
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
	}
}

const (
	letters = "SELECT id || ' ' || state || ' ' || address FROM letters ORDER BY id"
	pages   = "SELECT letter_id || ' ' || place FROM pages ORDER BY letter_id"
	totals  = "SELECT address || ' ' || letters || ' ' || (coalesce(last_at, 0) > 1700000000000) FROM totals ORDER BY address"
	journal = "SELECT id || ' ' || what || ' ' || address || ' ' || ended FROM journal ORDER BY id"
)

// What belongs to a letter is there with it, and only with it.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	run(t, db, "INSERT INTO totals (address) VALUES ('alice'), ('bob')")
	q := New(db)
	if key, err := q.Enqueue(ctx, NewJob{Address: "alice"}); err != nil || key != 1 {
		t.Fatalf("key %d, %v", key, err)
	}
	if key, err := q.Enqueue(ctx, NewJob{Address: "both"}); err != nil || key != 2 {
		t.Fatalf("key %d, %v", key, err)
	}
	want(t, db, letters, "1 new alice", "2 new both", "3 new second") // the last is nobody's: no page
	want(t, db, pages, "1 1", "2 1")
	want(t, db, totals, "alice 1 1", "bob 0 0")

	if keys, err := q.EnqueueMany(ctx, []NewJob{{Address: "bob"}, {Address: "eve"}}); err != nil || !slices.Equal(keys, []Key{4, 5}) {
		t.Fatalf("keys %d, %v", keys, err)
	}
	want(t, db, pages, "1 1", "2 1", "4 1", "5 1")
	want(t, db, totals, "alice 1 1", "bob 1 1")

	// A page that is in the way takes the letters with it.
	run(t, db, "INSERT INTO pages VALUES (7, 1)")
	if keys, err := q.EnqueueMany(ctx, []NewJob{{Address: "bob"}, {Address: "bob"}}); err == nil || keys != nil {
		t.Errorf("keys %d, %v", keys, err)
	}
	run(t, db, "DELETE FROM pages WHERE letter_id = 7", "INSERT INTO pages VALUES (6, 1)")
	if key, err := q.Enqueue(ctx, NewJob{Address: "bob"}); err == nil || key != 0 || !strings.HasPrefix(err.Error(), "lettersq: enqueue: ") {
		t.Errorf("key %d, %v", key, err)
	}
	want(t, db, "SELECT count(*) FROM letters", "5")
	want(t, db, pages, "1 1", "2 1", "4 1", "5 1", "6 1")
	want(t, db, totals, "alice 1 1", "bob 1 1")
	run(t, db, "DELETE FROM pages WHERE letter_id = 6")

	// In the caller's transaction all of it is his.
	for _, commit := range []bool{false, true} {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		mine := q.WithTx(tx)
		if _, err := mine.Enqueue(ctx, NewJob{Address: "bob"}); err != nil {
			t.Fatal(err)
		}
		if _, err := mine.EnqueueMany(ctx, []NewJob{{Address: "bob"}}); err != nil {
			t.Fatal(err)
		}
		want(t, tx, "SELECT count(*) FROM pages", "6")
		end, left := tx.Rollback, "4"
		if commit {
			end, left = tx.Commit, "6"
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		want(t, db, "SELECT count(*) FROM pages", left)
	}

	// More than one statement is for.
	var many []NewJob
	for i := range 2500 {
		many = append(many, NewJob{Address: fmt.Sprint("n", i)})
	}
	if keys, err := q.EnqueueMany(ctx, many); err != nil || len(keys) != 2500 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	want(t, db, "SELECT count(*) FROM pages", "2506")
	want(t, db, "SELECT count(*) FROM letters WHERE id NOT IN (SELECT letter_id FROM pages)", "1")
}

// A hook hears of both, and of as many rows of the queue.
func TestHook(t *testing.T) {
	db := open(t)
	var heard []string
	q := New(db, WithHook(hook(func(op string, n int, err error) { heard = append(heard, fmt.Sprint(op, " ", n, " ", err)) })))
	if _, err := q.Enqueue(context.Background(), NewJob{Address: "both"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(heard, ", "); got != "enqueue 1 <nil>" {
		t.Error(got)
	}
}

type hook func(op string, n int, err error)

func (h hook) Before(ctx context.Context, _ string) context.Context { return ctx }

func (h hook) After(_ context.Context, op string, n int, err error) { h(op, n, err) }

// What belongs to a letter goes with it, and a note of it stays.
func TestPurge(t *testing.T) {
	db, ctx := open(t), context.Background()
	run(t, db, `INSERT INTO letters (id, state, ended, address, cause) VALUES
		(1, 'sent', 1, 'alice', NULL), (2, 'sent', 2, 'bob', 'late'), (3, 'error', 3, 'eve', 'lost'),
		(4, 'new', NULL, 'ann', 'x'), (5, 'busy', NULL, 'ann', 'x'), (6, 'sent', 9000000000000, 'ann', 'x')`,
		"INSERT INTO pages SELECT id, place FROM letters, (SELECT 1 AS place UNION ALL SELECT 2)")
	q := New(db)
	purge := func(limit, want int) {
		t.Helper()
		if n, err := q.Purge(ctx, time.Hour, limit); err != nil || n != want {
			t.Fatalf("purged %d rows, want %d: %v", n, want, err)
		}
	}
	purge(1, 1)
	want(t, db, "SELECT DISTINCT letter_id || '' FROM pages ORDER BY letter_id", "2", "3", "4", "5", "6")
	want(t, db, journal)

	// What cannot be noted stays whole; what was purged before in the same call is gone.
	run(t, db, "CREATE TRIGGER full BEFORE INSERT ON journal WHEN NEW.id = 3 BEGIN SELECT RAISE(ABORT, 'no room'); END")
	if n, err := q.Purge(ctx, time.Hour, 10); err == nil || n != 1 {
		t.Errorf("purged %d rows, %v", n, err)
	}
	want(t, db, "SELECT id || '' FROM letters ORDER BY id", "3", "4", "5", "6")
	want(t, db, "SELECT count(*) FROM pages", "8")
	want(t, db, journal, "2 sent bob 2")

	run(t, db, "DROP TRIGGER full")
	purge(10, 1)
	purge(10, 0)
	want(t, db, "SELECT id || '' FROM letters ORDER BY id", "4", "5", "6")
	want(t, db, "SELECT DISTINCT letter_id || '' FROM pages ORDER BY letter_id", "4", "5", "6")
	want(t, db, journal, "2 sent bob 2", "3 error eve 3")
}
