package behaviour

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emaillite"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpgx"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpq"
)

// What a package sends, seen from outside: the texts, how many there are, and
// what the server keeps of them.

// files returns the statements in the files of a package: the whole file, and
// what of it is meant to be sent, which is all but the comment at its head.
func files(t *testing.T, name string) (whole, sent []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "golden", name, "sql", "*.sql"))
	check(t, err)
	head := regexp.MustCompile(`^(--.*\n)+`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(t, err)
		if !head.Match(text) {
			t.Errorf("%s has no comment at its head", path)
		}
		whole = append(whole, strings.TrimSpace(string(text)))
		sent = append(sent, strings.TrimSpace(head.ReplaceAllString(string(text), "")))
	}
	return whole, sent
}

// life takes jobs through everything that can happen to them, in batches of the
// given size.
func (e *emailTest[J, N]) life(size int) {
	e.Helper()
	ignoreLost := func(err error) {
		e.Helper()
		if e.lost(err) == nil {
			e.ok(err)
		}
	}
	e.add(6 * size)
	_, err := e.q.Enqueue(e.ctx, e.news(newJob{Kind: "mail", Body: body})[0])
	e.ok(err)
	_, err = e.q.Peek(e.ctx, "mail", size)
	e.ok(err)
	e.ok(e.q.Complete(e.ctx, e.claim(size)...))
	next, err := e.q.CompleteAndClaim(e.ctx, e.claim(size), "mail", size)
	e.ok(err)
	held := make([]*J, len(next))
	for i := range next {
		held[i] = &next[i]
	}
	e.ok(e.q.Extend(e.ctx, held...))
	e.ok(e.q.Requeue(e.ctx, 0, next...))
	ignoreLost(e.q.Complete(e.ctx, next...))
	for _, j := range e.claim(size) {
		e.ok(e.q.Fail(e.ctx, j, errors.New("no such address")))
	}
	e.claim(size)
	e.run("UPDATE email_outbox SET lease_till = {expired} WHERE state = 'A'")
	e.run("UPDATE email_outbox SET tries = 3 WHERE state = 'A' AND msg_id % 2 = 0")
	_, err = e.q.Recover(e.ctx, size)
	e.ok(err)
	_, err = e.q.Redrive(e.ctx, size)
	e.ok(err)
	_, err = e.q.Purge(e.ctx, -time.Hour, size)
	e.ok(err)
	e.run("DELETE FROM email_outbox")
}

// sizes are those of the batches: in no proportion to each other, with the
// fixed sizes among them.
var sizes = []int{1, 2, 3, 7, 10, 25, 99, 100, 101, 333}

// Whatever a package is asked, and for how many jobs, it sends the texts of its
// files and no others: keys travel as values, and the server sees as many
// statements as there are files. The comment at the head of a file is not sent,
// and the first word of what is sent is followed by the package and the
// operation.
func TestTextsAreThoseOfTheFiles(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		db := &recorded{DB: sqlite(t, "email_sqlite")}
		e := newEmailTest(t, db.DB, emaillite.New(db), lostKeys(func(l *emaillite.LostError) []int64 { return l.Keys }), sqliteClock)
		for _, size := range sizes {
			e.life(size)
		}
		judgeTexts(t, "emaillite", db.texts)
	})
	t.Run("database/sql", func(t *testing.T) {
		db := postgresSQL(t, "email_postgresql")
		pool, r := traced(t, db, 4)
		standard := stdlib.OpenDBFromPool(pool)
		defer func() { _ = standard.Close() }()
		e := newEmailTest(t, db, emailpq.New(standard), lostKeys(func(l *emailpq.LostError) []int64 { return l.Keys }), postgresClock)
		for _, size := range sizes {
			e.life(size)
		}
		judgeTexts(t, "emailpq", r.taken())
	})
	t.Run("pgx", func(t *testing.T) {
		db := postgresSQL(t, "email_postgresql")
		pool, r := traced(t, db, 4)
		e := newEmailTest(t, db, emailpgx.New(pool), lostKeys(func(l *emailpgx.LostError) []int64 { return l.Keys }), postgresClock)
		for _, size := range sizes {
			e.life(size)
		}
		judgeTexts(t, "emailpgx", r.taken())
	})
}

// lostKeys returns a function that tells the keys of a package's LostError.
func lostKeys[E error](keys func(E) []int64) func(error) []int64 {
	return func(err error) []int64 {
		var lost E
		if errors.As(err, &lost) {
			return keys(lost)
		}
		return nil
	}
}

// recorded writes down the statements that reach a database outside of
// transactions.
type recorded struct {
	*sql.DB
	texts []string
}

func (r *recorded) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	r.texts = append(r.texts, query)
	return r.DB.ExecContext(ctx, query, args...)
}

func (r *recorded) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	r.texts = append(r.texts, query)
	return r.DB.QueryContext(ctx, query, args...)
}

// judgeTexts compares what a package has sent with its files.
func judgeTexts(t *testing.T, name string, texts []string) {
	t.Helper()
	whole, files := files(t, name)
	tag := regexp.MustCompile(`^[A-Z]+\s+/\* ` + name + `\.[A-Z]\w+ \*/\s`)
	seen := map[string]bool{}
	for _, text := range texts {
		if slices.Contains([]string{"begin", "begin isolation level read committed", "commit", "rollback"}, text) || seen[text] {
			continue
		}
		seen[text] = true
		switch {
		case slices.Contains(whole, text):
			t.Errorf("the comment at the head of the file was sent:\n%s", text)
		case !slices.Contains(files, text):
			t.Errorf("no file of %s holds the text that was sent:\n%s", name, text)
		case !tag.MatchString(text):
			t.Errorf("the text that was sent does not name %s and the operation behind its first word:\n%s", name, text)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d texts were sent", len(seen))
	}
}

// The server prepares each statement once for a connection and keeps it: it
// prepares no more, however many batches of whatever sizes come.
func TestPreparedStatementsAreKept(t *testing.T) {
	db := postgresSQL(t, "email_postgresql")
	for name, open := range map[string]func() (life func(size int), prepared func() int){
		"emailpq": func() (func(int), func() int) {
			pool, _ := traced(t, db, 1)
			standard := stdlib.OpenDBFromPool(pool)
			t.Cleanup(func() { _ = standard.Close() })
			e := newEmailTest(t, db, emailpq.New(standard), lostKeys(func(l *emailpq.LostError) []int64 { return l.Keys }), postgresClock)
			return e.life, func() (n int) { check(t, pool.QueryRow(t.Context(), keptStatements).Scan(&n)); return n }
		},
		"emailpgx": func() (func(int), func() int) {
			pool, _ := traced(t, db, 1)
			e := newEmailTest(t, db, emailpgx.New(pool), lostKeys(func(l *emailpgx.LostError) []int64 { return l.Keys }), postgresClock)
			return e.life, func() (n int) { check(t, pool.QueryRow(t.Context(), keptStatements).Scan(&n)); return n }
		},
	} {
		t.Run(name, func(t *testing.T) {
			life, prepared := open()
			for _, size := range []int{1, 10, 4} { // every statement once
				life(size)
			}
			before := prepared()
			for _, size := range sizes {
				life(size)
			}
			if after := prepared(); after != before {
				t.Errorf("the server keeps %d statements and kept %d before", after, before)
			}
			if _, files := files(t, name); before < 10 || before > len(files) {
				t.Errorf("the server keeps %d statements of %d", before, len(files))
			}
		})
	}
}

// keptStatements counts the prepared statements of a session that are tagged.
const keptStatements = `SELECT count(*)::int FROM pg_prepared_statements WHERE statement ~ '^[A-Z]+\s+/\* email'`

// Every error says the package and the operation first, and still is what the
// database or the context said.
func TestErrorsNameTheOperation(t *testing.T) {
	t.Run("emaillite", func(t *testing.T) {
		db := sqlite(t, "email_sqlite")
		errorsOf(t, "emaillite", db, emaillite.New(db))
	})
	t.Run("emailpq", func(t *testing.T) {
		db := postgresSQL(t, "email_postgresql")
		errorsOf(t, "emailpq", db, emailpq.New(db))
	})
	t.Run("emailpgx", func(t *testing.T) {
		db := postgresSQL(t, "email_postgresql")
		errorsOf(t, "emailpgx", db, emailpgx.New(poolOf(t, db)))
	})
}

// errorsOf calls every method when the context is over and when there is no
// table.
func errorsOf[J, N any](t *testing.T, name string, db *sql.DB, q emailQueue[J, N]) {
	e := &emailTest[J, N]{T: t, q: q, ctx: t.Context()}
	e.add(1)
	jobs := e.claim(1)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	calls := func(ctx context.Context) map[string]error {
		failed := map[string]error{
			"complete": q.Complete(ctx, jobs...),
			"fail":     q.Fail(ctx, jobs[0], errors.New("no")),
			"requeue":  q.Requeue(ctx, 0, jobs...),
			"extend":   q.Extend(ctx, &jobs[0]),
		}
		_, failed["claim"] = q.Claim(ctx, "mail", 1)
		_, failed["peek"] = q.Peek(ctx, "mail", 1)
		_, failed["complete and claim"] = q.CompleteAndClaim(ctx, jobs, "mail", 1)
		_, failed["recover"] = q.Recover(ctx, 1)
		_, failed["redrive"] = q.Redrive(ctx, 1)
		_, failed["purge"] = q.Purge(ctx, 0, 1)
		_, failed["enqueue"] = q.Enqueue(ctx, e.news(newJob{Kind: "mail", Body: body})[0])
		return failed
	}
	for op, err := range calls(over) {
		if err == nil || !strings.HasPrefix(err.Error(), name+": "+op+": ") || !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the context's end: got %v", op, err)
		}
	}
	_, err := db.Exec("ALTER TABLE email_outbox RENAME TO other")
	check(t, err)
	for op, err := range calls(t.Context()) {
		var ofServer interface{ SQLState() string }
		var ofLibrary interface{ Code() int }
		if err == nil || !strings.HasPrefix(err.Error(), name+": "+op+": ") || !errors.As(err, &ofServer) && !errors.As(err, &ofLibrary) {
			t.Errorf("%s without the table: got %v", op, err)
		}
	}
}
