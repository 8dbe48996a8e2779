package tds

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/test/wire"
)

// Response is what the server answers: its methods add one thing after the other.
// One that [Query], [Begin], [Commit] or [Rollback] makes says to which request as
// well, for [Server.Expect]. The zero Response is a success without rows and
// without a count. A method leaves its receiver as it is.
type Response struct {
	want  *want
	parts []func(*answer) error
	quiet bool  // no counts
	fails bool  // with an error of the server
	ends  bool  // the transaction, or the connection
	err   error // what is wrong with the response
}

// Answer returns a Response for a function of [Server.Handle].
func Answer() Response { return Response{} }

func (r Response) then(part func(*answer) error) Response {
	r.parts = append(r.parts[:len(r.parts):len(r.parts)], part)
	return r
}

// Column is a column of a result. Its type is written as in T-SQL.
type Column struct{ Name, Type string }

// Columns makes columns of texts like "id bigint" and "[a name] nvarchar(max)".
func Columns(declarations ...string) []Column {
	columns := make([]Column, len(declarations))
	for i, text := range declarations {
		text = strings.TrimSpace(text)
		if rest, ok := strings.CutPrefix(text, "["); ok {
			name, kind, _ := strings.Cut(strings.ReplaceAll(rest, "]]", "\x00"), "]")
			columns[i] = Column{strings.ReplaceAll(name, "\x00", "]"), strings.TrimSpace(kind)}
			continue
		}
		columns[i].Name, columns[i].Type, _ = strings.Cut(text, " ")
	}
	return columns
}

// Row holds the values of a row. Each must fit the type of its column; integers
// of all sizes are taken for integers, texts for decimals and uniqueidentifiers,
// Null types for what they hold.
type Row = []any

// Rows adds the result of a statement that returns rows, and their count. An
// [Response.Error] behind it is an error of the same statement, after its rows.
func (r Response) Rows(columns []Column, rows ...Row) Response {
	result, err := appendResult(nil, columns, rows)
	if err != nil {
		r.err = err
	}
	return r.then(func(a *answer) error {
		a.begin(commandSelect, int64(len(rows)))
		a.out = append(a.out, result...)
		return nil
	})
}

// Affected adds the result of a statement that changed n rows and returns none.
func (r Response) Affected(n int64) Response {
	return r.then(func(a *answer) error {
		a.begin(commandUpdate, n)
		a.ended = true
		return nil
	})
}

// Done ends a statement: one without rows and without a count, as DECLARE is, or the
// one that returned rows, so that an error behind it is one of the next statement.
func (r Response) Done() Response {
	return r.then(func(a *answer) error {
		if !a.open || a.ended {
			a.begin(0, noCount)
		}
		a.ended = true
		return nil
	})
}

// NoCount takes the counts out of the whole answer, as SET NOCOUNT ON does.
func (r Response) NoCount() Response {
	r.quiet = true
	return r
}

// Error adds an error that the server reports. One of class 20 or above ends the
// connection; 1205 and 3960 end the transaction.
func (r Response) Error(number int32, state, class byte, text string) Response {
	const deadlock, snapshotConflict, fatal = 1205, 3960, 20
	if number == deadlock || number == snapshotConflict {
		r = r.Abort()
	}
	r.fails, r.ends = true, r.ends || class >= fatal
	return r.then(func(a *answer) error {
		if !a.open || a.ended {
			a.begin(0, noCount)
		}
		a.out = appendNotice(a.out, tokenError, number, state, class, text)
		a.failed = number
		if class >= fatal {
			a.out = a.appendDone(a.out, tokenDone, doneServerError)
			return errFatal
		}
		return nil
	})
}

// Abort ends the transaction of the connection, if it has one, as an error does
// under SET XACT_ABORT ON.
func (r Response) Abort() Response {
	r.ends = true
	return r.then(func(a *answer) error {
		a.out = a.conn.endTransaction(a.out, envRollback)
		return nil
	})
}

// After waits. What stands before it is sent first. When the client cancels, the
// rest is left out.
func (r Response) After(d time.Duration) Response {
	return r.then(func(a *answer) error { return a.wait(d) })
}

// Break sends what stands before it and closes the connection.
func (r Response) Break() Response {
	r.ends = true
	return r.then(func(*answer) error { return errBreak })
}

// Reset sends what stands before it and drops the connection in a way that its
// client is told of at once. Of what was sent some may not arrive.
func (r Response) Reset() Response {
	r.ends = true
	return r.then(func(a *answer) error {
		wire.Drop(a.conn.net)
		return errBreak
	})
}

// appendResult appends the columns and the rows of a result.
func appendResult(b []byte, columns []Column, rows []Row) ([]byte, error) {
	types := make([]sqlType, len(columns))
	b = binary.LittleEndian.AppendUint16(append(b, tokenColumns), uint16(len(columns)))
	for i, column := range columns {
		t, err := parseType(column.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", column.Name, err)
		}
		if n := len(toUTF16(column.Name)) / 2; n > 128 {
			return nil, fmt.Errorf("the name of column %q has %d characters", column.Name, n)
		}
		const nullable, updatable = 1, 8
		types[i] = t
		b = append(b, 0, 0, 0, 0, nullable|updatable, 0)
		b = appendShortText(t.appendTo(b), column.Name)
	}
	for i, row := range rows {
		if len(row) != len(columns) {
			return nil, fmt.Errorf("row %d has %d values for %d columns", i+1, len(row), len(columns))
		}
		var err error
		if b, err = appendRow(b, columns, types, row); err != nil {
			return nil, fmt.Errorf("row %d, %w", i+1, err)
		}
	}
	return b, nil
}

// appendRow appends a row, in the form that leaves NULL out where there is one.
func appendRow(b []byte, columns []Column, types []sqlType, row Row) ([]byte, error) {
	nulls := make([]byte, (len(row)+7)/8)
	var values []byte
	found := false
	for i, v := range row {
		value, err := types[i].encode(v)
		switch {
		case err != nil:
			return nil, fmt.Errorf("column %q %s: %w", columns[i].Name, columns[i].Type, err)
		case value == nil:
			nulls[i/8] |= 1 << (i % 8)
			found = true
		default:
			values = types[i].appendValue(values, value)
		}
	}
	if found {
		b = append(append(b, tokenRowWithNull), nulls...)
	} else {
		b = append(b, tokenRow)
	}
	return append(b, values...), nil
}
