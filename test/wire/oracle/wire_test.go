package oracle_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	go_ora "github.com/sijms/go-ora/v2"

	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

// TestMain lets local time be something else than UTC everywhere.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("local", 5*3600+1800)
	os.Exit(m.Run())
}

// open returns a pool over the server.
func open(t testing.TB, s *oracle.Server, options string) *sql.DB {
	t.Helper()
	return check.Open(t, "oracle", s.DSN()+options)
}

func begin(t testing.TB, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	check.Err(t, err)
	return tx
}

// read reads all rows of one column and closes them.
func read(rows *sql.Rows) (all []any, err error) {
	defer rows.Close()
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// query reads the first column of a query.
func query(ctx context.Context, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, text string, args ...any) ([]any, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	return read(rows)
}

// fetch executes a block that opens a cursor, and reads the first column of that.
func fetch(tx *sql.Tx) ([]any, error) {
	var cursor go_ora.RefCursor
	if _, err := tx.Exec(cursorText, sql.Out{Dest: &cursor}); err != nil {
		return nil, fmt.Errorf("the block: %w", err)
	}
	rows, err := go_ora.WrapRefCursor(context.Background(), tx, &cursor)
	if err != nil {
		return nil, err
	}
	return read(rows)
}

// numbers are rows of a column with so many numbers, from 1.
func numbers(n int) (columns []oracle.Column, rows []oracle.Row, want []any) {
	for i := range n {
		rows = append(rows, oracle.Row{i + 1})
		want = append(want, fmt.Sprint(i+1))
	}
	return oracle.Columns("n NUMBER"), rows, want
}

const (
	selectText = "SELECT n FROM q"
	updateText = "UPDATE q SET n = 1"
	cursorText = "BEGIN OPEN :c FOR SELECT n FROM q; END;"
)

var moment = time.Date(2026, 1, 2, 3, 4, 5, 123456000, time.FixedZone("", 3600))

// at returns what the clock on the wall shows at a moment, in another zone.
func at(clock time.Time, zone *time.Location) time.Time {
	return time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), zone)
}

// TestColumns fetches a value and a null of each type, straight and by a cursor.
func TestColumns(t *testing.T) {
	long := strings.Repeat("é", 700)
	for _, c := range []struct {
		column     string
		sent, want any
	}{
		{"NUMBER(19)", 5, "5"},
		{"NUMBER(19)", int64(-1 << 63), "-9223372036854775808"},
		{"NUMBER", "123456789012345678901234567890.5", "123456789012345678901234567890.5"},
		{"NUMBER(10,2)", -12.25, "-12.25"},
		{"NUMBER", 0, "0"},
		{"NUMBER(1)", true, "1"},
		{"VARCHAR2(10)", "é", "é"},
		{"VARCHAR2(10)", "", nil},
		{"VARCHAR2(4000)", long, long},
		{"CHAR(3)", "a", "a  "},
		{"RAW(4)", []byte{0, 1, 255}, []byte{0, 1, 255}},
		{"RAW(2000)", bytes.Repeat([]byte{7}, 2000), bytes.Repeat([]byte{7}, 2000)},
		{"DATE", moment, at(moment.Truncate(time.Second), time.UTC)},
		{"TIMESTAMP(6)", moment, at(moment, time.UTC)},
		{"TIMESTAMP(0)", moment.Truncate(time.Second), at(moment.Truncate(time.Second), time.UTC)},
		{"TIMESTAMP WITH TIME ZONE", moment, moment},
		{"TIMESTAMP WITH TIME ZONE", moment.UTC(), moment.UTC()},
		{"TIMESTAMP WITH LOCAL TIME ZONE", moment, at(moment, time.UTC)},
		{"CLOB", long, long},
		{"CLOB", "x", "x"},
		{"BLOB", bytes.Repeat([]byte{1, 2}, 5000), bytes.Repeat([]byte{1, 2}, 5000)},
	} {
		t.Run(c.column, func(t *testing.T) {
			s := oracle.Start(t)
			db := open(t, s, "")
			columns := oracle.Columns("n "+c.column, "m "+c.column, `"a Name" NUMBER`)
			row := oracle.Row{c.sent, nil, 7}
			s.Expect(
				oracle.Exec(selectText).Rows(columns, row, row),
				oracle.Exec(cursorText, oracle.Output).RefCursor("c", columns, row, row),
			)
			rows, err := db.Query(selectText)
			check.Err(t, err)
			wantRows(t, rows, c.want)

			tx := begin(t, db)
			var cursor go_ora.RefCursor
			_, err = tx.Exec(cursorText, sql.Out{Dest: &cursor})
			check.Err(t, err)
			rows, err = go_ora.WrapRefCursor(t.Context(), tx, &cursor)
			check.Err(t, err)
			wantRows(t, rows, c.want)
			s.Expect(oracle.Rollback())
			check.Err(t, tx.Rollback())
		})
	}
}

// wantRows demands two rows of a value, NULL and 7.
func wantRows(t *testing.T, rows *sql.Rows, want any) {
	t.Helper()
	defer rows.Close()
	names, err := rows.Columns()
	check.Err(t, err)
	if !slices.Equal(names, []string{"N", "M", "a Name"}) {
		t.Errorf("the columns are %q", names)
	}
	n := 0
	for ; rows.Next(); n++ {
		var value, null any
		var seven int64
		check.Err(t, rows.Scan(&value, &null, &seven))
		if !same(value, want) || null != nil || seven != 7 {
			t.Errorf("got %v (%T), %v, %d, want %v (%T)", value, value, null, seven, want, want)
		}
	}
	check.Err(t, rows.Err())
	if n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func same(a, b any) bool {
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	return reflect.DeepEqual(a, b)
}

// TestTimeZone reads wall clocks in the zone of the server.
func TestTimeZone(t *testing.T) {
	s := oracle.Start(t)
	s.SetZone(-3*time.Hour - 30*time.Minute)
	s.Expect(oracle.Exec(selectText).Rows(oracle.Columns("n TIMESTAMP"), oracle.Row{moment}))
	got, err := query(t.Context(), open(t, s, ""), selectText)
	check.Err(t, err)
	if want := at(moment, time.FixedZone("", -3*3600-1800)); len(got) != 1 || !want.Equal(got[0].(time.Time)) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPrefetch counts the rows that come with each round trip: the connection breaks
// behind the last row, so that the rows of the last trip are lost.
func TestPrefetch(t *testing.T) {
	for _, c := range []struct {
		options    string
		rows, seen int
		fails      bool // at once
	}{
		{"?PREFETCH_ROWS=3", 2, 0, true},
		{"?PREFETCH_ROWS=3", 3, 3, false},
		{"?PREFETCH_ROWS=3", 5, 3, false},
		{"?PREFETCH_ROWS=3", 6, 6, false},
		{"?PREFETCH_ROWS=1", 2, 2, false},
		{"", 24, 0, true},
		{"", 25, 25, false},
		{"", 25 + 5957, 25, false}, // the second trip takes 128 KB, at 22 bytes a row
		{"", 25 + 5958, 25 + 5958, false},
	} {
		s := oracle.Start(t)
		columns, rows, _ := numbers(c.rows)
		s.Expect(oracle.Exec(selectText).Rows(columns, rows...).Break())
		tx := begin(t, open(t, s, c.options))
		cursor, err := tx.Query(selectText)
		if (err != nil) != c.fails {
			t.Errorf("%q, %d rows: the query says %v", c.options, c.rows, err)
		}
		if err == nil {
			got, err := read(cursor)
			if len(got) != c.seen || err == nil {
				t.Errorf("%q, %d rows: got %d and %v, want %d and an error", c.options, c.rows, len(got), err, c.seen)
			}
		}
		_ = tx.Rollback() // nobody is there to hear it
	}
}

// TestManyRows fetches rows that fill many packets, from queries and from cursors.
func TestManyRows(t *testing.T) {
	for _, options := range []string{"", "?PREFETCH_ROWS=1000", "?PREFETCH_ROWS=7"} {
		s := oracle.Start(t)
		db := open(t, s, options)
		columns, rows, want := numbers(3000)
		s.Expect(oracle.Exec(selectText).Rows(columns, rows...), oracle.Exec(cursorText, oracle.Output).RefCursor(":c", columns, rows...))
		got, err := query(t.Context(), db, selectText)
		check.Err(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %d rows", options, len(got))
		}
		tx := begin(t, db)
		got, err = fetch(tx)
		check.Err(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %d rows from the cursor", options, len(got))
		}
		s.Expect(oracle.Commit())
		check.Err(t, tx.Commit())
	}
}

// TestOut brings values out of a block, in all types.
func TestOut(t *testing.T) {
	const text = "BEGIN x(:v); END;"
	for _, c := range []struct {
		dest, sent, want any
	}{
		{new(int64), 5, int64(5)},
		{new(float64), -1.5, -1.5},
		{new(int64), nil, int64(0)},
		{&sql.NullInt64{Int64: 9, Valid: true}, nil, sql.NullInt64{}},
		{&sql.NullInt64{}, 4, sql.NullInt64{Int64: 4, Valid: true}},
		{new("-----"), "abc", "abc"},
		{new([]byte), []byte{1}, []byte{1}},
		{new(make([]byte, 3)), []byte{1, 2, 3}, []byte{1, 2, 3}},
		{new(time.Time), moment, moment},
		{new(sql.NullTime), nil, sql.NullTime{}},
		{new(make([]int64, 5)), []int64{1, 2, 3}, []int64{1, 2, 3}},
		{new(make([]string, 2)), []string{"a", strings.Repeat("b", 3000)}, []string{"a", strings.Repeat("b", 3000)}},
		{new(make([]sql.NullString, 2)), []any{nil, "b"}, []sql.NullString{{}, {String: "b", Valid: true}}},
		{new(make([][]byte, 2)), [][]byte{{1}, {2, 3}}, [][]byte{{1}, {2, 3}}},
		{new(make([]float64, 1)), []float64{0.5}, []float64{0.5}},
		{new(make([]go_ora.TimeStampTZ, 1)), []time.Time{moment}, []go_ora.TimeStampTZ{go_ora.TimeStampTZ(moment)}},
		{new(make([]int64, 2)), []int64{}, make([]int64, 2)}, // of none the driver takes no notice
		{new(bool), 1, false}, // it looks for the word
	} {
		s := oracle.Start(t)
		s.Expect(oracle.Exec(text, oracle.Output).Autocommit().Out("V", c.sent))
		_, err := open(t, s, "").Exec(text, sql.Out{Dest: c.dest})
		check.Err(t, err)
		got := reflect.ValueOf(c.dest).Elem().Interface()
		switch want := c.want.(type) {
		case time.Time:
			if !want.Equal(got.(time.Time)) {
				t.Errorf("got %v, want %v", got, want)
			}
		case []go_ora.TimeStampTZ:
			if zoned := got.([]go_ora.TimeStampTZ); len(zoned) != 1 || !time.Time(zoned[0]).Equal(time.Time(want[0])) {
				t.Errorf("got %v, want %v", got, want)
			}
		default:
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v (%T), want %v", got, got, want)
			}
		}
	}
}

// TestNoRoom brings out what the client has no room for.
func TestNoRoom(t *testing.T) {
	const text = "BEGIN x(:v); END;"
	for _, c := range []struct {
		dest, sent any
		code       int
	}{
		{new(string), "a", 6502},
		{new(sql.NullString), "a", 6502},
		{new("x"), "abcde", 6502}, // four bytes a character
		{new([]byte), []byte{1, 2}, 6502},
		{new([]int64), []int64{1, 2}, 6513},
		{new(make([]int64, 2)), []int64{1, 2, 3}, 6513},
	} {
		s := oracle.Start(t)
		s.Expect(oracle.Exec(text, oracle.Output).Autocommit().Out("v", c.sent))
		_, err := open(t, s, "").Exec(text, sql.Out{Dest: c.dest})
		wantCode(t, err, c.code)
	}
	s := oracle.Start(t)
	s.Expect(oracle.Exec(text, oracle.Output).Autocommit().Out("v", nil))
	_, err := open(t, s, "").Exec(text, sql.Out{Dest: new(string)})
	check.Err(t, err) // NULL needs none
}

// TestInOut brings values in and out of one block, again and again when it is prepared.
func TestInOut(t *testing.T) {
	const text = "BEGIN x(:a, :b, :c, :d); END;"
	s := oracle.Start(t)
	stmt, err := open(t, s, "").Prepare(text)
	check.Err(t, err)
	defer stmt.Close()
	for i := range 4 {
		word := strings.Repeat("w", 1+i*i*100) // a longer text than before is described again
		keys := []string{word, "x"}[:1+i%2]
		s.Expect(oracle.Exec(text, i, oracle.Output, word, keys).Autocommit().
			Out("b", i*10).InOut("c", "out").InOut(":d", []string{"y", "z"}[:1+i%2]))
		var b int64
		c, d := word, slices.Clone(keys)
		_, err := stmt.Exec(i, sql.Out{Dest: &b}, sql.Out{Dest: &c, In: true}, sql.Out{Dest: &d, In: true})
		check.Err(t, err)
		if b != int64(i*10) || c != "out" || !slices.Equal(d, []string{"y", "z"}[:1+i%2]) {
			t.Errorf("got %d, %q, %q", b, c, d)
		}
	}
}

// TestPrepared executes a query and DML again with other values.
func TestPrepared(t *testing.T) {
	const selects, updates = "SELECT n FROM q WHERE a = :a", "UPDATE q SET a = :a WHERE b = :b"
	s := oracle.Start(t)
	tx := begin(t, open(t, s, "?PREFETCH_ROWS=2"))
	selecting, err := tx.Prepare(selects)
	check.Err(t, err)
	defer selecting.Close()
	updating, err := tx.Prepare(updates)
	check.Err(t, err)
	defer updating.Close()
	for i, a := range []any{"a", strings.Repeat("b", 5000), "c", nil, "d"} {
		columns, rows, want := numbers(i)
		s.Expect(oracle.Exec(selects, a).Rows(columns, rows...), oracle.Exec(updates, a, i).Affected(i))
		fetched, err := selecting.Query(a)
		check.Err(t, err)
		got, err := read(fetched)
		check.Err(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		result, err := updating.Exec(a, i)
		check.Err(t, err)
		if n, err := result.RowsAffected(); n != int64(i) || err != nil {
			t.Errorf("%d rows are affected, %v", n, err)
		}
	}
	s.Expect(oracle.Rollback())
	check.Err(t, tx.Rollback())
}

// TestPreparedLobs executes a query for LOBs again, which the client has told how it
// wants them.
func TestPreparedLobs(t *testing.T) {
	const text = "SELECT big FROM q WHERE a = :a"
	columns := oracle.Columns("big CLOB")
	s := oracle.Start(t)
	stmt, err := open(t, s, "?PREFETCH_ROWS=2").Prepare(text)
	check.Err(t, err)
	defer stmt.Close()
	for n := range 5 {
		var rows []oracle.Row
		var want []any
		for i := range n {
			v := strings.Repeat("x", 1+i*100)
			rows, want = append(rows, oracle.Row{v}), append(want, v)
		}
		s.Expect(oracle.Exec(text, "a").Rows(columns, rows...))
		fetched, err := stmt.Query("a")
		check.Err(t, err)
		got, err := read(fetched)
		check.Err(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// With an argument that is longer than before the driver fetches without executing.
	fetched, err := stmt.Query("aa")
	check.Err(t, err)
	got, err := read(fetched)
	if len(got) != 0 || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestTransaction tells statements inside of a transaction from those outside.
func TestTransaction(t *testing.T) {
	s := oracle.Start(t)
	db := open(t, s, "")
	s.Expect(
		oracle.Exec(updateText).Autocommit().Affected(2),
		oracle.Exec(updateText).Affected(3),
		oracle.Exec(selectText).Rows(oracle.Columns("n NUMBER")),
		oracle.Commit(),
		oracle.Exec("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"),
		oracle.Exec(cursorText, oracle.Any).RefCursor("c", nil),
		oracle.Rollback(),
		oracle.Exec("BEGIN NULL; END;").Autocommit(),
	)
	_, err := db.Exec(updateText)
	check.Err(t, err)
	tx := begin(t, db)
	_, err = tx.Exec(updateText)
	check.Err(t, err)
	_, err = query(t.Context(), tx, selectText)
	check.Err(t, err)
	check.Err(t, tx.Commit())
	tx = begin(t, db)
	_, err = tx.Exec("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
	check.Err(t, err)
	_, err = tx.Exec(cursorText, sql.Out{Dest: new(go_ora.RefCursor)})
	check.Err(t, err)
	check.Err(t, tx.Rollback())
	_, err = db.Exec("BEGIN NULL; END;")
	check.Err(t, err)
}

// TestSyntax sends what no server accepts.
func TestSyntax(t *testing.T) {
	s := oracle.Start(t)
	db := open(t, s, "")
	for _, c := range []struct {
		text string
		code int
		args []any
	}{
		{updateText + ";", 911, nil},
		{"BEGIN NULL; END", 6550, nil},
		{"UPDATE q SET n = :n WHERE m = :n", 1008, []any{1}},
		{"BEGIN x(:n, :n); END;", 1036, []any{1, 2}},
		{"BEGIN x(:n, :m); END; -- :o", 1008, []any{1}},
	} {
		_, err := db.Exec(c.text, c.args...)
		wantCode(t, err, c.code)
	}
}

// TestHandle lets workers take numbers from a model of a table, whose connections
// break while they do.
func TestHandle(t *testing.T) {
	const take, all = "BEGIN take(:n); END;", 40
	s := oracle.Start(t)
	var mu sync.Mutex
	next, holds, taken := 0, map[int]int{}, map[int]bool{}
	s.Handle(func(r oracle.Request) oracle.Response {
		mu.Lock()
		defer mu.Unlock()
		switch r.Kind {
		case oracle.KindCommit:
			if n := holds[r.Connection]; n > 0 {
				taken[n] = true
			}
			delete(holds, r.Connection)
			return oracle.Answer()
		case oracle.KindRollback, oracle.KindEnd:
			delete(holds, r.Connection)
			return oracle.Answer()
		}
		if r.Text != take || !reflect.DeepEqual(r.Bind("n"), r.Binds[0]) || r.Autocommit || r.Context().Err() != nil {
			t.Errorf("got %+v", r)
		}
		next++
		holds[r.Connection] = next
		if next%7 == 0 {
			return oracle.Answer().Reset()
		}
		return oracle.Answer().Out("n", next)
	})
	db := open(t, s, "")
	db.SetMaxOpenConns(4)
	got := map[int]bool{}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for n := 0; n < all; {
				tx, err := db.Begin()
				if err != nil {
					continue
				}
				if _, err = tx.Exec(take, sql.Out{Dest: &n}); err != nil {
					_ = tx.Rollback() // the connection is gone
					continue
				}
				if tx.Commit() == nil {
					mu.Lock()
					got[n] = true
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	if !reflect.DeepEqual(got, taken) || len(got) < all*5/7 {
		t.Errorf("got %v, taken are %v", got, taken)
	}
}

// TestScript fails tests that get something else than they expect, and says how.
func TestScript(t *testing.T) {
	columns := oracle.Columns("n NUMBER")
	for name, c := range map[string]struct {
		expect []oracle.Response
		do     func(*sql.DB)
		want   []string // in what the test says
	}{
		"text": {
			[]oracle.Response{oracle.Exec("UPDATE q\nSET n = 2").Autocommit()},
			func(db *sql.DB) { _, _ = db.Exec("UPDATE q\nSET n = 3") },
			[]string{"request 1 of 1", "-SET n = 2", "+SET n = 3"},
		},
		"argument": {
			[]oracle.Response{oracle.Exec("BEGIN x(:a, :b, :c); END;", 5, []string{"a"}, oracle.Output).Autocommit()},
			func(db *sql.DB) { _, _ = db.Exec("BEGIN x(:a, :b, :c); END;", 6, []string{"b", ""}, []byte{1}) },
			[]string{"want 5 (int)", "got :A NUMBER = 6", `want ["a"]`, `got :B VARCHAR2 = ["b", NULL]`, "want nothing", "got :C RAW = 0x01", "in:\n\tBEGIN x"},
		},
		"number of arguments": {
			[]oracle.Response{oracle.Exec("BEGIN x(:a); END;").Autocommit()},
			func(db *sql.DB) { _, _ = db.Exec("BEGIN x(:a); END;", 6) },
			[]string{"0 arguments are expected, 1 come"},
		},
		"kind": {
			[]oracle.Response{oracle.Exec("BEGIN x(:a); END;", oracle.Any)},
			func(db *sql.DB) {
				if tx, err := db.Begin(); err == nil {
					_ = tx.Commit()
				}
			},
			[]string{"want:\n\tBEGIN x(:a); END;\n\targument 1 = anything\ngot:\n\ta COMMIT"},
		},
		"outside of a transaction": {
			[]oracle.Response{oracle.Exec(updateText)},
			func(db *sql.DB) { _, _ = db.Exec(updateText) },
			[]string{"it is expected in a transaction and commits by itself", "in:\n\t" + updateText},
		},
		"inside of a transaction": {
			[]oracle.Response{oracle.Exec(updateText).Autocommit()},
			func(db *sql.DB) {
				if tx, err := db.Begin(); err == nil {
					_, _ = tx.Exec(updateText)
					_ = tx.Rollback()
				}
			},
			[]string{"it is expected to commit by itself and comes in a transaction"},
		},
		"missing": {
			[]oracle.Response{oracle.Exec(selectText, "x").Rows(columns), oracle.Commit()},
			func(*sql.DB) {},
			[]string{"2 of 2 requests did not come:\n\t" + selectText + "\n\targument 1 = \"x\"\n\ta COMMIT"},
		},
		"nothing expected": {
			nil,
			func(db *sql.DB) { _, _ = db.Exec(updateText) },
			[]string{"nothing is expected, and this comes (connection 1):\n\t" + updateText},
		},
		"no request":    {[]oracle.Response{oracle.Answer().Autocommit()}, nil, []string{"it begins with Exec, Commit or Rollback"}},
		"no type":       {[]oracle.Response{oracle.Exec(selectText).Rows(oracle.Columns("n INTEGER"))}, nil, []string{`column "N": type "INTEGER" is none that is spoken`}},
		"a long value":  {[]oracle.Response{oracle.Exec(selectText).Rows(oracle.Columns("n RAW(1)"), oracle.Row{[]byte{1, 2}})}, nil, []string{`row 1, column "N" RAW(1): 2 bytes do not fit into 1`}},
		"a short row":   {[]oracle.Response{oracle.Exec(cursorText).RefCursor("c", columns, oracle.Row{})}, nil, []string{"cursor c: row 1 has 0 values for 1 columns"}},
		"no rows":       {[]oracle.Response{oracle.Exec(selectText)}, func(db *sql.DB) { _, _ = db.Exec(selectText) }, []string{"the statement is the opposite:\n\t" + selectText}},
		"rows":          {[]oracle.Response{oracle.Exec(updateText).Autocommit().Rows(columns)}, func(db *sql.DB) { _, _ = db.Exec(updateText) }, []string{"the statement is the opposite:\n\t" + updateText}},
		"no cursor":     {[]oracle.Response{oracle.Exec(cursorText, oracle.Any).Autocommit()}, func(db *sql.DB) { _, _ = db.Exec(cursorText, sql.Out{Dest: new(go_ora.RefCursor)}) }, []string{"bind :C is a cursor, and the response has none for it"}},
		"a number":      {[]oracle.Response{oracle.Exec(cursorText, oracle.Any).Autocommit().Out("c", 5)}, func(db *sql.DB) { _, _ = db.Exec(cursorText, sql.Out{Dest: new(go_ora.RefCursor)}) }, []string{"it is a REF CURSOR, and the response has int"}},
		"no table":      {[]oracle.Response{oracle.Exec("BEGIN :n := 1; END;", oracle.Any).Autocommit().Out("n", 5)}, func(db *sql.DB) { _, _ = db.Exec("BEGIN :n := 1; END;", sql.Out{Dest: new([]int64)}) }, []string{"an index-by table and int do not fit"}},
		"a LOB":         {[]oracle.Response{oracle.Exec("BEGIN :n := 1; END;", oracle.Any).Autocommit().Out("n", "a")}, func(db *sql.DB) { _, _ = db.Exec("BEGIN :n := 1; END;", sql.Out{Dest: new(go_ora.Clob)}) }, []string{"LOBs do not come out of binds here"}},
		"temporary LOB": {nil, func(db *sql.DB) { _, _ = db.Exec(updateText, go_ora.Clob{String: "x", Valid: true}) }, []string{"an operation on a LOB comes"}},
	} {
		t.Run(name, func(t *testing.T) {
			said := strings.Join(check.Failures(t, func(r testing.TB) {
				s := oracle.Start(r)
				s.Expect(c.expect...)
				if c.do != nil {
					c.do(open(t, s, ""))
				}
			}), "\n")
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("the test says\n%s\nwithout\n%s", said, want)
				}
			}
		})
	}
}

// TestGarbage fails tests whose clients speak something else, and closes them.
func TestGarbage(t *testing.T) {
	for name, sent := range map[string]string{
		"a packet of 3 bytes":                       "\x00\x03\x00\x00\x01\x00\x00\x00",
		"a packet of type 84":                       "\x00\x09GET / HTTP/1.1\r\n\r\n",
		"type 6 with 0 bytes comes where a connect": "\x00\x0a\x00\x00\x06\x00\x00\x00\x00\x00",
		"the client asks for":                       "\x00\x3c\x00\x00\x01" + strings.Repeat("\x00", 55),
	} {
		said := strings.Join(check.Failures(t, func(r testing.TB) {
			client, err := net.Dial("tcp", oracle.Start(r).Address())
			check.Err(t, err)
			_, err = client.Write([]byte(sent))
			check.Err(t, err)
			check.Err(t, client.SetReadDeadline(time.Now().Add(10*time.Second)))
			if n, err := client.Read(make([]byte, 1)); err == nil {
				t.Errorf("%q: %d bytes are answered", sent, n)
			}
			check.Err(t, client.Close())
		}), "\n")
		if !strings.Contains(said, name) {
			t.Errorf("%q: the test says %q, want %q", sent, said, name)
		}
	}
}
