package behaviour

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpgx"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpq"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/hold"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/holdpq"
)

// This file cuts connections at the moment that hurts most: when the server has
// been asked to commit. Its answer is lost, and whoever asked cannot know what
// became of the work.

// cutter stands between a client and PostgreSQL and cuts the next connection
// that asks for a commit: by COMMIT, or by a statement outside a transaction.
type cutter struct {
	armed atomic.Int32
}

// When a cutter cuts.
const (
	off          = iota
	beforeCommit // the server never sees the question
	afterCommit  // the server has committed; the client never sees the answer
)

// connection is one connection through a cutter.
type connection struct {
	net.Conn
	cutter  *cutter
	begun   bool // the start of the session is over, whose first message has no type
	inside  bool // a transaction
	silence bool // the answer is thrown away
}

// dial connects through the cutter.
func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, cutter: c}, nil
}

// Write looks for a question to commit among the messages of a client.
func (c *connection) Write(b []byte) (int, error) {
	asks := false
	if c.begun {
		asks = c.asksToCommit(b)
	}
	c.begun = true
	if asks {
		switch c.cutter.armed.Swap(off) {
		case beforeCommit:
			_ = c.Close()
		case afterCommit:
			c.silence = true
		}
	}
	return c.Conn.Write(b)
}

// asksToCommit reads messages: a letter, the length, and what belongs to it.
func (c *connection) asksToCommit(b []byte) (asks bool) {
	for len(b) >= 5 {
		size := 1 + int(binary.BigEndian.Uint32(b[1:]))
		if size > len(b) {
			break
		}
		switch text := string(b[5:size]); b[0] {
		case 'Q':
			switch word, _, _ := strings.Cut(strings.TrimRight(text, "\x00"), " "); word {
			case "begin":
				c.inside = true
			case "commit", "rollback":
				asks = asks || word == "commit"
				c.inside = false
			default:
				asks = asks || !c.inside
			}
		case 'E':
			asks = asks || !c.inside
		}
		b = b[size:]
	}
	return asks
}

// Read throws away the answer to a question that was cut, once the server has
// said that it is ready for the next one: then it has committed.
func (c *connection) Read(b []byte) (int, error) {
	if !c.silence {
		return c.Conn.Read(b)
	}
	var answer []byte
	chunk := make([]byte, 1<<16)
	for {
		n, err := c.Conn.Read(chunk)
		answer = append(answer, chunk[:n]...)
		ready := len(answer) >= 6 && bytes.Equal(answer[len(answer)-6:len(answer)-1], []byte{'Z', 0, 0, 0, 5})
		if ready || err != nil {
			_ = c.Close()
			return 0, io.EOF
		}
	}
}

// through returns a pool over the same schema as db whose connections go
// through the cutter.
func (c *cutter) through(t *testing.T, db *sql.DB, mode pgx.QueryExecMode) *pgxpool.Pool {
	t.Helper()
	config := poolOf(t, db).Config()
	config.ConnConfig.DialFunc = c.dial
	config.ConnConfig.DefaultQueryExecMode = mode
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// cutEmail lets the connection of one of the two packages over email_outbox be
// cut.
type cutEmail[J, N any] struct {
	*emailTest[J, N]
	*cutter
	retryable func(error) bool
}

// cut lets op ask for a commit and lose the answer, or the question.
func (e *cutEmail[J, N]) cut(when int, op string, do func() error) error {
	e.Helper()
	e.armed.Store(int32(when))
	err := do()
	if e.armed.Swap(off) != off {
		e.Fatalf("%s asked for no commit", op)
	}
	return err
}

// lose lets op lose the answer to its commit, of which the error has to tell.
func (e *cutEmail[J, N]) lose(op string, do func() error) {
	e.Helper()
	err := e.cut(afterCommit, op, do)
	if err == nil || !e.retryable(err) || !strings.Contains(err.Error(), ": "+op+": ") {
		e.Fatalf("the connection broke at the commit of %s: got %v", op, err)
	}
}

func TestLostAnswer(t *testing.T) {
	t.Run("database/sql", func(t *testing.T) {
		db := postgresSQL(t, "email_postgresql")
		cutter := &cutter{}
		through := stdlib.OpenDBFromPool(cutter.through(t, db, pgx.QueryExecModeCacheStatement))
		t.Cleanup(func() { _ = through.Close() })
		loseAnswers(t, db, cutter, emailpq.New(through), emailpq.IsRetryable, func(err error) []int64 {
			if lost := (*emailpq.LostError)(nil); errors.As(err, &lost) {
				return lost.Keys
			}
			return nil
		})
	})
	for name, mode := range map[string]pgx.QueryExecMode{"pgx": pgx.QueryExecModeCacheStatement, "pgx simple": pgx.QueryExecModeSimpleProtocol} {
		t.Run(name, func(t *testing.T) {
			db := postgresSQL(t, "email_postgresql")
			cutter := &cutter{}
			loseAnswers(t, db, cutter, emailpgx.New(cutter.through(t, db, mode)), emailpgx.IsRetryable, func(err error) []int64 {
				if lost := (*emailpgx.LostError)(nil); errors.As(err, &lost) {
					return lost.Keys
				}
				return nil
			})
		})
	}
}

// loseAnswers loses the answers of one package.
func loseAnswers[J, N any](t *testing.T, db *sql.DB, c *cutter, q emailQueue[J, N], retryable func(error) bool, lost func(error) []int64) {
	e := &cutEmail[J, N]{newEmailTest(t, db, q, lost, postgresClock), c, retryable}
	for _, step := range []struct {
		name string
		do   func(e *cutEmail[J, N])
	}{
		{"claim", (*cutEmail[J, N]).claimLost},
		{"complete", (*cutEmail[J, N]).completeLost},
		{"complete and claim", (*cutEmail[J, N]).bothLost},
		{"question", (*cutEmail[J, N]).questionLost},
		{"enqueue", (*cutEmail[J, N]).enqueueLost},
	} {
		t.Run(step.name, func(t *testing.T) {
			e.T = t
			e.run("DELETE FROM email_outbox")
			step.do(e)
		})
	}
}

// claimLost: a claim whose answer was lost is not made again by itself. Its
// jobs belong to nobody until the lease ends; then another worker gets them.
func (e *cutEmail[J, N]) claimLost() {
	keys := e.add(5)
	e.lose("claim", func() error { _, err := e.q.Claim(e.ctx, "mail", 3); return err })
	for i, want := range []string{"A", "A", "A", "N", "N"} {
		if got := e.state(keys[i]); got != want {
			e.Errorf("job %d is %s, want %s", i, got, want)
		}
	}
	e.run("UPDATE email_outbox SET lease_till = {expired} WHERE state = 'A'")
	n, err := e.q.Recover(e.ctx, 10)
	e.ok(err)
	if n != 3 {
		e.Errorf("recovered %d jobs, want 3", n)
	}
	jobs := e.claim(10)
	e.same(e.ids(jobs), keys)
	for i, j := range jobs {
		if got, want := see(e.T, j).Tries, map[bool]int32{true: 2, false: 1}[i < 3]; got != want {
			e.Errorf("job %d was claimed %d times, want %d", i, got, want)
		}
	}
	e.ok(e.q.Complete(e.ctx, jobs...))
}

// completeLost: a completion whose answer was lost can be sent again. It tells
// that the jobs are settled, and changes nothing.
func (e *cutEmail[J, N]) completeLost() {
	keys := e.add(3)
	jobs := e.claim(2)
	complete := func() error { return e.q.Complete(e.ctx, jobs...) }
	e.lose("complete", complete)
	e.loses(complete(), keys[:2]...)
	for i, want := range []string{"C", "C", "N"} {
		if got := e.state(keys[i]); got != want {
			e.Errorf("job %d is %s, want %s", i, got, want)
		}
	}
}

// bothLost: of one transaction the claim is lost as a claim is, the completion
// as a completion is.
func (e *cutEmail[J, N]) bothLost() {
	keys := e.add(6)
	jobs := e.claim(2)
	e.lose("complete and claim", func() error { _, err := e.q.CompleteAndClaim(e.ctx, jobs, "mail", 2); return err })
	e.loses(e.q.Complete(e.ctx, jobs...), keys[:2]...)
	for i, want := range []string{"C", "C", "A", "A", "N", "N"} {
		if got := e.state(keys[i]); got != want {
			e.Errorf("job %d is %s, want %s", i, got, want)
		}
	}
	e.run("UPDATE email_outbox SET lease_till = {expired} WHERE state = 'A'")
	n, err := e.q.Recover(e.ctx, 10)
	e.ok(err)
	if n != 2 {
		e.Errorf("recovered %d jobs, want 2", n)
	}
}

// questionLost: when the server was never asked, nothing has happened. Whether
// it is asked again by itself or by the caller, the work is done once.
func (e *cutEmail[J, N]) questionLost() {
	keys := e.add(6)
	jobs := e.claim(2)
	var more []J
	both := func() (err error) { more, err = e.q.CompleteAndClaim(e.ctx, jobs, "mail", 2); return err }
	if err := e.cut(beforeCommit, "complete and claim", both); err != nil {
		if !e.retryable(err) {
			e.Fatalf("IsRetryable is false for %v", err)
		}
		e.ok(both())
	}
	e.same(e.ids(more), keys[2:4])
	for i, want := range []string{"C", "C", "A", "A", "N", "N"} {
		if got := e.state(keys[i]); got != want {
			e.Errorf("job %d is %s, want %s", i, got, want)
		}
	}
	e.ok(e.q.Complete(e.ctx, more...))
}

// enqueueLost: jobs are not added twice by the package itself.
func (e *cutEmail[J, N]) enqueueLost() {
	e.lose("enqueue", func() error {
		_, err := e.q.EnqueueMany(e.ctx, e.news(slices.Repeat([]newJob{{Kind: "mail", Body: body}}, 1500)...))
		return err
	})
	e.lose("enqueue", func() error {
		_, err := e.q.Enqueue(e.ctx, e.news(newJob{Kind: "mail", Body: body})[0])
		return err
	})
	if n := len(e.claim(5000)); n != 1501 {
		e.Errorf("%d jobs were added, want 1501", n)
	}
}

// Where the row lock is the claim, a commit whose answer was lost is kept, and
// one whose question was lost gives the jobs back.
func TestLostAnswerHold(t *testing.T) {
	db := postgresSQL(t, "mails_postgresql")
	cut := &cutter{}
	pool := cut.through(t, db, pgx.QueryExecModeCacheStatement)
	standard := stdlib.OpenDBFromPool(pool)
	defer func() { _ = standard.Close() }()
	q, p := hold.New(pool), holdpq.New(standard)
	for _, c := range []struct {
		name      string
		work      func(when int32) error
		retryable func(error) bool
	}{
		{"pgx", func(when int32) error {
			h, err := q.Hold(t.Context())
			check(t, err)
			defer h.Close()
			jobs, err := h.Claim(t.Context(), 2)
			check(t, err)
			check(t, h.Complete(t.Context(), jobs...))
			cut.armed.Store(when)
			return h.Commit(t.Context())
		}, hold.IsRetryable},
		{"database/sql", func(when int32) error {
			h, err := p.Hold(t.Context())
			check(t, err)
			defer h.Close()
			jobs, err := h.Claim(t.Context(), 2)
			check(t, err)
			check(t, h.Complete(t.Context(), jobs...))
			cut.armed.Store(when)
			return h.Commit(t.Context())
		}, holdpq.IsRetryable},
	} {
		for when, left := range map[int32]int{beforeCommit: 2, afterCommit: 0} {
			_, err := db.Exec("DELETE FROM mails")
			check(t, err)
			_, err = q.EnqueueMany(t.Context(), []hold.NewJob{{Text: "a"}, {Text: "b"}})
			check(t, err)
			if err := c.work(when); err == nil || !c.retryable(err) || !strings.Contains(err.Error(), ": commit: ") {
				t.Errorf("%s: the connection broke at the commit: got %v", c.name, err)
			}
			var n int
			check(t, db.QueryRow("SELECT count(*) FROM mails").Scan(&n))
			if n != left {
				t.Errorf("%s: %d jobs are left, want %d", c.name, n, left)
			}
		}
	}
}
