package oracle_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	go_ora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"

	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

// The tests of this file tell what the driver does. Emitted packages depend on it,
// so a version that does something else has to be seen.

func wantCode(t testing.TB, err error, code int) {
	t.Helper()
	if e := (*network.OracleError)(nil); !errors.As(err, &e) || e.ErrCode != code {
		t.Errorf("the error is %v (%T), want ORA-%05d", err, err, code)
	}
}

// wantEnd demands the error of a connection that ended: in the form that the driver
// gives it.
func wantEnd(t testing.TB, what string, err error, form string) {
	t.Helper()
	op := (*net.OpError)(nil)
	got := "something else"
	switch {
	case err == nil:
		got = "none"
	case errors.Is(err, driver.ErrBadConn):
		got = "bad"
	case errors.Is(err, io.EOF):
		got = "eof"
	case errors.As(err, &op) && errors.Is(err, syscall.ECONNRESET), errors.As(err, &op) && errors.Is(err, syscall.EPIPE):
		got = op.Op
	}
	if got != form {
		t.Errorf("%s: the error is %v (%T), which is %s, want %s", what, err, err, got, form)
	}
}

type (
	word  string
	count int32
	raw   []byte
)

// bound returns the bind that the driver makes of a value.
func bound(t testing.TB, value any) (got oracle.Bind) {
	t.Helper()
	s := oracle.Start(t)
	s.Handle(func(r oracle.Request) oracle.Response {
		if r.Kind == oracle.KindExec {
			got = r.Bind("v")
		}
		return oracle.Answer()
	})
	_, err := open(t, s, "").Exec("BEGIN x(:v); END;", value)
	check.Err(t, err)
	return got
}

// TestBinds binds values of Go.
func TestBinds(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	check.Err(t, err)
	long := strings.Repeat("é", 2001)
	for _, c := range []struct {
		value any
		kind  string
		want  any
		table bool
	}{
		{int64(1 << 62), "NUMBER", int64(1 << 62), false},
		{-5, "NUMBER", int64(-5), false},
		{uint64(1<<63 + 5), "NUMBER", "9223372036854775813", false},
		{1.5, "NUMBER", 1.5, false},
		{0.1, "NUMBER", 0.1, false},
		{true, "NUMBER", int64(1), false},
		{count(3), "NUMBER", int64(3), false},
		{"é", "VARCHAR2", "é", false},
		{"", "VARCHAR2", nil, false},
		{strings.Repeat("x", 4000), "VARCHAR2", strings.Repeat("x", 4000), false},
		{long, "LONG VARCHAR", long, false},
		{nil, "VARCHAR2", nil, false},
		{(*string)(nil), "VARCHAR2", nil, false},
		{[]byte{1, 2}, "RAW", []byte{1, 2}, false},
		{[]byte(nil), "RAW", nil, false},
		{[]byte(long), "LONG RAW", []byte(long), false},
		{moment, "TIMESTAMP WITH TIME ZONE", moment, false},
		{moment.UTC(), "TIMESTAMP WITH TIME ZONE", moment, false},
		{moment.In(berlin), "TIMESTAMP WITH TIME ZONE", moment, false},
		{go_ora.TimeStamp(moment), "TIMESTAMP", at(moment, time.UTC), false},
		{sql.NullInt64{}, "NUMBER", nil, false},
		{sql.NullString{String: "a", Valid: true}, "VARCHAR2", "a", false},
		{sql.Null[int64]{V: 5, Valid: true}, "NUMBER", int64(5), false},
		{sql.Null[int64]{}, "VARCHAR2", nil, false},
		{sql.NullTime{}, "TIMESTAMP WITH TIME ZONE", nil, false},
		{go_ora.Clob{}, "CLOB", nil, false},
		{[]int64{1, 2, 300}, "NUMBER", []any{int64(1), int64(2), int64(300)}, true},
		{make([]int64, 70000), "NUMBER", repeat(int64(0), 70000), true}, // in many packets
		{[]int64{}, "NUMBER", []any{}, true},
		{[]uint64{1 << 63}, "NUMBER", []any{"9223372036854775808"}, true},
		{[]float64{1.5}, "NUMBER", []any{1.5}, true},
		{[]string{"a", ""}, "VARCHAR2", []any{"a", nil}, true},
		{[]sql.NullString{{}, {String: "a", Valid: true}}, "VARCHAR2", []any{nil, "a"}, true},
		{[]sql.NullInt64{{}, {Int64: 4, Valid: true}}, "NUMBER", []any{nil, int64(4)}, true},
		{[][]byte{{1}, nil}, "RAW", []any{[]byte{1}, nil}, true},
		{[]time.Time{moment}, "DATE", []any{at(moment.Truncate(time.Second), time.UTC)}, true}, // the fraction is lost
		{[]go_ora.TimeStamp{go_ora.TimeStamp(moment)}, "TIMESTAMP", []any{at(moment, time.UTC)}, true},
		{[]go_ora.TimeStampTZ{go_ora.TimeStampTZ(moment)}, "TIMESTAMP WITH TIME ZONE", []any{moment}, true},
		{raw{1}, "NUMBER", []any{int64(1)}, true}, // bytes of a type of their own are not taken for bytes
		{[2]byte{1, 2}, "NUMBER", []any{int64(1), int64(2)}, true},
	} {
		got := bound(t, c.value)
		if got.Type != c.kind || got.Table != c.table || !sameAll(got.Value, c.want) {
			t.Errorf("%T is bound as %s, table %t, want %s %v", c.value, got, got.Table, c.kind, c.want)
		}
	}
	s := oracle.Start(t)
	db := open(t, s, "")
	for _, v := range []any{word("x"), []word{"x"}, []any{1, "a"}, map[string]int{}} {
		if _, err := db.Exec("BEGIN x(:v); END;", v); err == nil || !strings.Contains(err.Error(), "unsupported go type") {
			t.Errorf("%T: the driver says %v", v, err)
		}
	}
}

func repeat(v any, n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func sameAll(a, b any) bool {
	x, ok := a.([]any)
	y, also := b.([]any)
	if ok != also || len(x) != len(y) {
		return false
	}
	for i := range x {
		if !same(x[i], y[i]) {
			return false
		}
	}
	return ok || same(a, b)
}

// TestRoom tells what the driver has room for.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		value      any
		room, size int
	}{
		{sql.Out{Dest: new(string)}, 0, 0},
		{sql.Out{Dest: new(sql.NullString)}, 0, 0},
		{sql.Out{Dest: new("abc")}, 0, 12},
		{go_ora.Out{Dest: new(string), Size: 100}, 0, 400},
		{sql.Out{Dest: new([]byte)}, 0, 1},
		{sql.Out{Dest: new(make([]byte, 9))}, 0, 9},
		{sql.Out{Dest: new([]int64)}, 1, 22},
		{sql.Out{Dest: new(make([]int64, 5))}, 5, 22},
		{go_ora.Out{Dest: new([]int64), Size: 50}, 50, 22},
		{sql.Out{Dest: new(make([]string, 5))}, 5, 4000},
		{sql.Out{Dest: new(make([][]byte, 5))}, 5, 4000},
	} {
		got := bound(t, c.value)
		if got.Room != c.room || got.Size != c.size {
			t.Errorf("%T: room for %d of %d bytes, want %d of %d", c.value, got.Room, got.Size, c.room, c.size)
		}
	}
}

// TestArrayDML executes DML once for each element of its arguments.
func TestArrayDML(t *testing.T) {
	const text = "UPDATE q SET a = :a WHERE b = :b"
	s := oracle.Start(t)
	db := open(t, s, "")
	s.Handle(func(r oracle.Request) oracle.Response { return oracle.Answer().Affected(10 * r.Times) })
	for _, c := range []struct {
		a, b any
		n    int64
	}{
		{[]int64{1}, []string{"a"}, 10},
		{[]int64{1, 2, 3}, []string{"a", "b"}, 20}, // the shorter counts
		{[]string{strings.Repeat("x", 5000), ""}, [][]byte{{1}, nil}, 20},
		{1, "a", 0},
		{[2]byte{1, 2}, raw{3, 4}, 20}, // these are no bytes
	} {
		result, err := db.Exec(text, c.a, c.b)
		check.Err(t, err)
		if n, err := result.RowsAffected(); n != c.n || err != nil {
			t.Errorf("%v: %d rows, %v, want %d", c.a, n, err, c.n)
		}
	}
	if _, err := db.Exec(text, []int64{1}, 5); err == nil || !strings.Contains(err.Error(), "all parameters should be arrays") {
		t.Errorf("an array and a scalar: %v", err)
	}
	s.Expect(oracle.Exec(text, []int64{1, 2}, []string{"a", "b"}).Autocommit().Affected(2), oracle.Exec(text, 1, []string{"a"}).Autocommit())
	_, err := db.Exec(text, []int64{1, 2}, []string{"a", "b"})
	check.Err(t, err)
	_, err = db.Exec(text, 1, []string{"a"}) // the array goes as a table of PL/SQL, which no server takes in DML
	check.Err(t, err)
	defer func() {
		if recover() == nil {
			t.Error("no elements: the driver does not panic any more")
		}
	}()
	_, _ = db.Exec(text, []int64{}, []string{})
}

// TestNames binds by name: the driver reads the names out of the text.
func TestNames(t *testing.T) {
	v, w := sql.Named("v", 5), sql.Named("w", 6)
	for _, c := range []struct {
		text string
		args []any
		want []any
		says string // in the error
	}{
		{"BEGIN x(:v, :w, :v); END;", []any{w, v}, []any{5, 6}, ""},
		{"UPDATE q SET a = :v , b = :w, c = :v", []any{w, v}, []any{5, 6, 5}, ""},
		{"BEGIN x(:v); END;", []any{w, v}, []any{5}, ""}, // more than there are
		{"BEGIN x(:v, :w); END;", []any{v}, nil, "parameter w is not defined"},
		{"BEGIN x(:V); END;", []any{v}, nil, "parameter V is not defined"},
		{"BEGIN x(:v, :w); END;", []any{v, 6}, []any{5, 6}, ""}, // one without a name: all by position
		{"BEGIN x(:w, :v); END;", []any{v, 6}, []any{5, 6}, ""},
		{"BEGIN a :=:v; b:= :w; END;", []any{v, w}, []any{5, 6}, ""},
		{"BEGIN /* it is :no */ x(:v, :w); -- or :no\nEND;", []any{v, w}, []any{5, 6}, ""},
		{"BEGIN x(:v, 'it''s \\:no', :w); END;", []any{v, w}, []any{5, 6}, ""},
		{"BEGIN x(:v/2, :w); END;", []any{v, w}, nil, "parameter v2 is not defined"},
		{"BEGIN x(:v-1, :w); END;", []any{v, w}, nil, "parameter v1 is not defined"},
		{"BEGIN x(:v--c\nx, :w); END;", []any{v, w}, nil, "parameter vx is not defined"},
		{"BEGIN /* it's :no */ x(:v, :w); END;", []any{v, w}, nil, "parameter no is not defined"},
		{"BEGIN -- it's\nx(:v, :w); END;", []any{v, w}, nil, "ORA-01008"},
		{"BEGIN -- \"it\nx(:v, :w); END;", []any{v, w}, nil, "ORA-01008"},
		{"BEGIN x('\"', :v, :w); END;", []any{v, w}, nil, "ORA-01008"},
		{"BEGIN x('*/', :v, :w); END;", []any{v, w}, nil, "ORA-01008"},
	} {
		s := oracle.Start(t)
		if c.want != nil {
			s.Expect(oracle.Exec(c.text, c.want...).Autocommit())
		}
		_, err := open(t, s, "").Exec(c.text, c.args...)
		switch {
		case c.says == "":
			check.Err(t, err)
		case err == nil || !strings.Contains(err.Error(), c.says):
			t.Errorf("%s: the driver says %v, want %q", c.text, err, c.says)
		}
	}
}

// TestHeads tells what may stand before the first word: what the driver takes for the
// kind of the statement decides whether it is committed.
func TestHeads(t *testing.T) {
	for head, commits := range map[string]bool{
		"":                              true,
		"-- a head: of two\n-- lines\n": true,
		"/* a head; it is :one */ ":     true,
		"\n\t":                          true,
		"-- it's\n":                     false,
		"-- \"it\n":                     false,
		"/* it's one */ ":               false,
	} {
		for _, text := range []string{head + "BEGIN /* q.Claim */ NULL; END;", head + "UPDATE /* q.Claim */ q SET a = 1"} {
			s := oracle.Start(t)
			response := oracle.Exec(text)
			if commits {
				response = response.Autocommit()
			}
			s.Expect(response)
			_, err := open(t, s, "").Exec(text)
			check.Err(t, err)
		}
	}
}

// TestReturning brings a value out of DML, which works for one row and on one line.
func TestReturning(t *testing.T) {
	for _, c := range []struct {
		text     string
		affected int
		says     string
	}{
		{"UPDATE q SET a = 1 RETURNING n, m INTO :n, :m", 1, ""},
		{"UPDATE q SET a = 1 RETURNING n, m INTO :n, :m", 0, "output parameter should be pointer type"},
		{"UPDATE q SET a = 1 RETURNING n,\nm INTO :n, :m", 1, "invalid NUMBER"},
	} {
		s := oracle.Start(t)
		s.Expect(oracle.Exec(c.text, oracle.Output, oracle.Output).Autocommit().Affected(c.affected).Out("n", 7).Out("m", 8))
		var n, m int64
		_, err := open(t, s, "").Exec(c.text, sql.Out{Dest: &n}, sql.Out{Dest: &m})
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: the driver says %v, want %q", c.text, err, c.says)
		case c.says == "" && (err != nil || n != 7 || m != 8):
			t.Errorf("%s: got %d, %d, %v", c.text, n, m, err)
		}
	}
}

// TestBeginTx begins transactions, which sends nothing and takes no options.
func TestBeginTx(t *testing.T) {
	s := oracle.Start(t)
	db := open(t, s, "")
	for _, options := range []sql.TxOptions{{Isolation: sql.LevelReadCommitted}, {Isolation: sql.LevelSerializable}} {
		if _, err := db.BeginTx(t.Context(), &options); err == nil || err.Error() != "only support default value for isolation" {
			t.Errorf("%+v: the driver says %v", options, err)
		}
	}
	if _, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}); err == nil || err.Error() != "readonly transaction is not supported" {
		t.Errorf("read only: the driver says %v", err)
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{})
	check.Err(t, err)
	s.Expect(oracle.Rollback())
	check.Err(t, tx.Rollback())
}

// TestServerErrors tells what becomes of ORA codes.
func TestServerErrors(t *testing.T) {
	for _, code := range []int{1, 54, 60, 1013, 2049, 8177, 20001, 30006} {
		s := oracle.Start(t)
		db := open(t, s, "")
		s.Expect(
			oracle.Exec(updateText).Autocommit().Error(code, "a text"),
			oracle.Exec(selectText).Error(code, "a text"),
			oracle.Exec(updateText),
			oracle.Commit().Error(code, "a text"),
			oracle.Exec(updateText).Error(code, "a text"),
			oracle.Rollback().Error(code, "a text"),
			oracle.Exec(updateText).Autocommit(),
		)
		_, err := db.Exec(updateText)
		wantCode(t, err, code)
		if e := (*network.OracleError)(nil); errors.As(err, &e) && !strings.Contains(e.ErrMsg, ": a text\n") {
			t.Errorf("the text is %q", e.ErrMsg)
		}
		_, err = query(t.Context(), db, selectText)
		wantCode(t, err, code)
		tx := begin(t, db)
		_, err = tx.Exec(updateText)
		check.Err(t, err)
		wantCode(t, tx.Commit(), code)
		tx = begin(t, db)
		_, err = tx.Exec(updateText)
		wantCode(t, err, code)
		wantCode(t, tx.Rollback(), code)
		_, err = db.Exec(updateText) // the connection is still good
		check.Err(t, err)
	}
}

// TestLostSession tells what becomes of ORA codes of sessions that are gone.
func TestLostSession(t *testing.T) {
	for _, code := range []int{28, 1012, 1089, 3113, 3114, 3135} {
		s := oracle.Start(t)
		db := open(t, s, "")
		s.Expect(
			oracle.Exec(updateText).Autocommit().Error(code, "gone"),
			oracle.Exec(selectText).Error(code, "gone"),
			oracle.Exec(selectText).Rows(oracle.Columns("n NUMBER")),
			oracle.Exec(updateText),
			oracle.Commit().Error(code, "gone"),
			oracle.Exec(updateText).Autocommit(),
		)
		_, err := db.Exec(updateText)
		wantCode(t, err, code)
		_, err = query(t.Context(), db, selectText) // and asks again, on another connection
		check.Err(t, err)
		tx := begin(t, db)
		_, err = tx.Exec(updateText)
		check.Err(t, err)
		wantEnd(t, "commit", tx.Commit(), "bad")
		_, err = db.Exec(updateText)
		check.Err(t, err)
	}
}

// The two ways in which a connection ends before the answer.
var endings = map[string]func(oracle.Response) oracle.Response{"close": oracle.Response.Break, "reset": oracle.Response.Reset}

// formOf returns the form of the error: that of a connection that was closed, or
// "read" after a reset.
func formOf(name, closed string) string {
	if name == "reset" {
		return "read"
	}
	return closed
}

// TestBrokenConnection ends the connection instead of an answer, outside of a
// transaction.
func TestBrokenConnection(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			s := oracle.Start(t)
			db := open(t, s, "")
			s.Expect(end(oracle.Exec(updateText).Autocommit()))
			_, err := db.Exec(updateText)
			wantEnd(t, "exec", err, formOf(name, "eof"))
			if name == "reset" { // after which the driver keeps the connection
				_, err = db.Exec(updateText)
				wantEnd(t, "the next exec", err, "write")
			}
			s.Expect(oracle.Exec(updateText).Autocommit())
			_, err = db.Exec(updateText)
			check.Err(t, err)

			rows := oracle.Exec(selectText).Rows(oracle.Columns("n NUMBER"))
			s.Expect(end(oracle.Exec(selectText)), rows)
			_, err = query(t.Context(), db, selectText)
			wantEnd(t, "query", err, formOf(name, "none")) // what was closed is repeated
			if name == "reset" {
				_, err = query(t.Context(), db, selectText)
				wantEnd(t, "the next query", err, "none") // and so is this
			}
		})
	}
}

// TestBrokenTransaction ends the connection at each point of a transaction.
func TestBrokenTransaction(t *testing.T) {
	columns := oracle.Columns("n NUMBER")
	for name, end := range endings {
		for _, c := range []struct {
			what string
			at   oracle.Response
			do   func(*sql.Tx) error
			form string // when it is closed
		}{
			{"exec", oracle.Exec(updateText), func(tx *sql.Tx) error {
				_, err := tx.Exec(updateText)
				return err
			}, "eof"},
			{"query", oracle.Exec(selectText), func(tx *sql.Tx) error {
				_, err := query(context.Background(), tx, selectText)
				return err
			}, "bad"},
			{"fetch", oracle.Exec(selectText).Rows(columns, oracle.Row{1}), func(tx *sql.Tx) error {
				got, err := query(context.Background(), tx, selectText)
				if len(got) != 1 {
					return fmt.Errorf("%d rows came before: %w", len(got), err)
				}
				return err
			}, "bad"},
			{"cursor", oracle.Exec(cursorText, oracle.Output).RefCursor("c", columns), func(tx *sql.Tx) error {
				_, err := fetch(tx)
				return err
			}, "bad"},
			{"commit", oracle.Commit(), (*sql.Tx).Commit, "bad"},
			{"rollback", oracle.Rollback(), (*sql.Tx).Rollback, "bad"},
		} {
			t.Run(name+"/"+c.what, func(t *testing.T) {
				s := oracle.Start(t)
				tx := begin(t, open(t, s, "?PREFETCH_ROWS=1"))
				s.Expect(oracle.Exec("LOCK TABLE q IN EXCLUSIVE MODE"), end(c.at))
				_, err := tx.Exec("LOCK TABLE q IN EXCLUSIVE MODE")
				check.Err(t, err)
				wantEnd(t, c.what, c.do(tx), formOf(name, c.form))
				if tx.Rollback() == nil {
					t.Error("the rollback succeeds")
				}
			})
		}
	}
}

// TestIdleConnection uses connections of the pool that ended while they were idle.
func TestIdleConnection(t *testing.T) {
	s := oracle.Start(t)
	s.Handle(func(r oracle.Request) oracle.Response {
		if r.Text == selectText {
			return oracle.Answer().Rows(oracle.Columns("n NUMBER"))
		}
		return oracle.Answer()
	})
	db := open(t, s, "")
	check.Err(t, db.Ping())
	s.Break()
	tx := begin(t, db)
	_, err := tx.Exec(updateText)
	wantEnd(t, "exec in a transaction", err, "eof")
	wantEnd(t, "its rollback", tx.Rollback(), "write")
	_, err = db.Exec(updateText)
	wantEnd(t, "exec", err, "none") // the exec before had the connection dropped
	s.Break()
	_, err = db.Exec(updateText)
	wantEnd(t, "exec on an idle connection", err, "eof")
	_, err = db.Exec(updateText)
	check.Err(t, err)
	s.Break()
	_, err = query(t.Context(), db, selectText)
	wantEnd(t, "query on an idle connection", err, "none")
	s.Break()
	wantEnd(t, "ping on an idle connection", db.Ping(), "bad")
	check.Err(t, db.Ping())
}

// TestContext cancels statements that the server has got; it answers that they were.
// The race detector finds what the driver does then, so the test is not for it.
func TestContext(t *testing.T) {
	s := oracle.Start(t)
	var mu sync.Mutex
	hanging := func() {} // cancels the statement that is to hang
	s.Handle(func(r oracle.Request) oracle.Response {
		mu.Lock()
		defer mu.Unlock()
		hanging()
		return oracle.Answer().Hang()
	})
	cancelling := func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		mu.Lock()
		defer mu.Unlock()
		hanging = cancel
		return ctx
	}
	cancelled := func(what string, err error) {
		t.Helper()
		wantCode(t, err, 1013)
		if errors.Is(err, context.Canceled) {
			t.Errorf("%s: the driver tells of the context: %v", what, err)
		}
	}
	db := open(t, s, "")
	check.Err(t, db.Ping())
	_, err := db.ExecContext(cancelling(), updateText)
	cancelled("exec", err)
	_, err = query(cancelling(), db, selectText)
	cancelled("query", err)

	tx := begin(t, db)
	_, err = tx.ExecContext(cancelling(), updateText)
	cancelled("exec in a transaction", err)
	s.Expect(oracle.Exec(updateText), oracle.Commit())
	_, err = tx.Exec(updateText)
	check.Err(t, err) // which goes on
	check.Err(t, tx.Commit())

	tx, err = db.BeginTx(cancelling(), nil)
	check.Err(t, err)
	cancelled("commit", tx.Commit())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.ExecContext(ctx, updateText); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	s.Handle(nil)
}

// TestAfter answers late, and not at all when the client cancels before.
func TestAfter(t *testing.T) {
	s := oracle.Start(t)
	db := open(t, s, "")
	check.Err(t, db.Ping())
	s.Expect(oracle.Exec(updateText).Autocommit().After(20*time.Millisecond), oracle.Exec(updateText).Autocommit().After(time.Hour))
	began := time.Now()
	_, err := db.Exec(updateText)
	check.Err(t, err)
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err = db.ExecContext(ctx, updateText); err == nil {
		t.Error("the answer came before its time")
	}
}

// TestLogin connects with the wrong password, to a listener that refuses, and to
// nobody.
func TestLogin(t *testing.T) {
	s := oracle.Start(t)
	for _, wrong := range []string{"qgen:secret1", "other:Secret1", "qgen:Secret1x"} {
		db, err := sql.Open("oracle", strings.Replace(s.DSN(), "qgen:Secret1", wrong, 1))
		check.Err(t, err)
		wantCode(t, db.Ping(), 1017)
		check.Err(t, db.Close())
	}
	db := open(t, s, "")
	for _, code := range []int{12514, 12516, 12520} {
		s.Refuse(code)
		wantCode(t, db.Ping(), code)
	}
	s.Refuse(0)
	check.Err(t, db.Ping())
	check.Err(t, open(t, s, "?PROGRAM="+strings.Repeat("x", 300)).Ping()) // a long address comes in a packet of its own
	s.Close()
	if err := open(t, s, "").Ping(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody there: %v", err)
	}
}
