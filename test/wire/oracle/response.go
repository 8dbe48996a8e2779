package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Response is what the server answers: its methods say one thing after the other.
// One that [Exec], [Commit] or [Rollback] makes says to which request as well, for
// [Server.Expect]. The zero Response is a success without rows that changed no row.
// A method leaves its receiver as it is.
type Response struct {
	want *want

	result   *result
	outs     []out
	affected int
	code     int // of an error
	text     string
	delay    time.Duration
	hangs    bool
	ending   ending
	err      error // what is wrong with the response
}

// ending is how a connection ends.
type ending int

const (
	staysOpen ending = iota
	closes
	resets
)

// out is the value of a bind that comes out.
type out struct {
	name  string
	value any // a *result for a cursor
	inout bool
}

// result is what a query or a cursor returns.
type result struct {
	columns []Column
	types   []dataType
	rows    []Row
	ending  ending // what comes behind the rows
}

// Row holds the values of a row. Each must fit the type of its column: integers,
// floats and decimals as texts fit NUMBER, texts VARCHAR2, CHAR and CLOB, []byte
// RAW and BLOB. DATE and TIMESTAMP take what the clock of a time.Time shows, in
// whatever zone. An empty text is NULL.
type Row = []any

// Answer returns a Response for a function of [Server.Handle].
func Answer() Response { return Response{} }

// Rows says what a query returns.
func (r Response) Rows(columns []Column, rows ...Row) Response {
	var err error
	if r.result, err = newResult(columns, rows); err != nil {
		r.err = err
	}
	return r
}

func newResult(columns []Column, rows []Row) (*result, error) {
	res := &result{columns: columns, rows: rows}
	for _, column := range columns {
		t, err := parseType(column.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", column.Name, err)
		}
		res.types = append(res.types, t)
	}
	for i, row := range rows {
		if len(row) != len(columns) {
			return nil, fmt.Errorf("row %d has %d values for %d columns", i+1, len(row), len(columns))
		}
		for j, v := range row {
			if _, err := res.types[j].encode(v); err != nil {
				return nil, fmt.Errorf("row %d, column %q %s: %w", i+1, columns[j].Name, columns[j].Type, err)
			}
		}
	}
	return res, nil
}

// Out says what a bind is after the statement, by the name of its placeholder: a
// value, or for an index-by table a slice. The statement does not read the bind.
func (r Response) Out(name string, value any) Response {
	return r.out(out{name: name, value: value})
}

// InOut is as [Response.Out], of a bind that the statement reads as well.
func (r Response) InOut(name string, value any) Response {
	return r.out(out{name: name, value: value, inout: true})
}

// RefCursor says what a bind that is a cursor returns.
func (r Response) RefCursor(name string, columns []Column, rows ...Row) Response {
	res, err := newResult(columns, rows)
	if err != nil {
		r.err = fmt.Errorf("cursor %s: %w", name, err)
		return r
	}
	return r.out(out{name: name, value: res})
}

func (r Response) out(o out) Response {
	o.name = strings.ToUpper(strings.TrimPrefix(o.name, ":"))
	r.outs = append(slices.Clip(r.outs), o)
	return r
}

// Affected says how many rows the statement changed.
func (r Response) Affected(n int) Response {
	r.affected = n
	return r
}

// Error says that the request failed with ORA-code. One of the codes of a session
// that is gone, such as 3113 and 28, ends the connection as well.
func (r Response) Error(code int, text string) Response {
	r.code, r.text = code, text
	if slices.Contains([]int{28, 1012, 1089, 3113, 3114, 3135}, code) {
		r.ending = closes
	}
	return r
}

// After waits before it answers. When the client cancels, the answer is that it did.
func (r Response) After(d time.Duration) Response {
	r.delay = d
	return r
}

// Hang waits until the client cancels or is gone.
func (r Response) Hang() Response {
	r.hangs = true
	return r
}

// Break closes the connection. After [Response.Error] it does so behind the answer,
// else instead of it. Behind [Response.Rows] or [Response.RefCursor] the rows are
// sent, and the connection is closed instead of saying whether more come.
func (r Response) Break() Response { return r.end(closes) }

// Reset is as [Response.Break], in a way that the client is told of at once. What
// was sent may not arrive.
func (r Response) Reset() Response { return r.end(resets) }

func (r Response) end(e ending) Response {
	if r.result != nil {
		r.result = r.result.broken(e)
		return r
	}
	for i, o := range r.outs {
		if cursor, ok := o.value.(*result); ok {
			r.outs = slices.Clone(r.outs)
			r.outs[i].value = cursor.broken(e)
			return r
		}
	}
	r.ending = e
	return r
}

func (r *result) broken(e ending) *result {
	b := *r
	b.ending = e
	return &b
}
