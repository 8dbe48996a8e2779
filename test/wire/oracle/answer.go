package oracle

import (
	"errors"
	"fmt"
	"strings"
)

// summary is what ends each answer.
type summary struct {
	rows   int
	code   int
	text   string
	cursor int
}

const noData = 1403 // the code when there are no more rows; it is no error

// appendSummary appends a summary in the form of field versions below 7.
func appendSummary(b []byte, s summary) []byte {
	b = append(b, messageError)
	b = appendUB(b, s.rows)
	b = appendUB(b, s.code)
	b = append(b, 0, 0) // errors in a batch
	b = appendUB(b, s.cursor)
	b = append(b, make([]byte, 5)...) // position, kinds, flags, options
	b = append(b, make([]byte, 2)...) // warnings
	b = append(b, make([]byte, 5)...) // the row's address
	b = append(b, make([]byte, 5)...) // error of the system, numbers, iterations
	b = append(b, make([]byte, 4)...) // the logical row id, the errors of a batch
	if s.code == 0 {
		return b
	}
	return appendCLR(b, fmt.Appendf(nil, "ORA-%05d: %s\n", s.code, s.text))
}

// appendReply appends what comes back with an execution and means nothing here.
func appendReply(b []byte) []byte {
	return append(b, messageReply,
		1, 2, 0, 0, // two numbers: the system change number
		0, 0, // text, settings
		0) // the query's number
}

// cursor is a statement that was parsed, or what a bind brought.
type cursor struct {
	number  int
	text    string
	binds   []Bind
	array   bool
	result  *result // what it returns
	defines []dataType
	sent    int // rows so far
}

// open makes a cursor of the connection.
func (c *conn) open(text string) *cursor {
	c.opened++
	cur := &cursor{number: c.opened, text: text}
	c.cursors[cur.number] = cur
	return cur
}

// appendColumns describes what a cursor returns.
func (cur *cursor) appendColumns(b []byte) []byte {
	b = appendUB(b, 0) // the longest row
	b = appendUB(b, len(cur.result.columns))
	if len(cur.result.columns) > 0 {
		b = append(b, 0)
	}
	for i, column := range cur.result.columns {
		b = appendColumn(b, column.Name, cur.result.types[i])
	}
	return append(b, 0, 0, 0, 0, 0, 0) // date, flags, numbers, key
}

// waits tells whether rows wait until the client says as what it wants LOBs.
func (cur *cursor) waits() bool {
	for i, t := range cur.result.types {
		if t.lob() && (i >= len(cur.defines) || cur.defines[i].lob()) {
			return true
		}
	}
	return false
}

// errBroken ends a connection as a test wants it.
var errBroken = errors.New("the script breaks the connection")

// appendRows appends up to n rows, and what ends the answer, if it ends.
func (c *conn) appendRows(b []byte, cur *cursor, n int) ([]byte, error) {
	res := cur.result
	if cur.waits() {
		return appendSummary(b, summary{cursor: cur.number}), nil
	}
	left := res.rows[cur.sent:]
	rows := left[:min(n, len(left))]
	if len(rows) > 0 {
		b = append(b, messageRowHeader, 0)
		b = appendUB(b, len(res.columns))
		b = append(b, 0, 0, 0, 0, 0) // rounds, rows, buffer, repeated columns, row id
	}
	for _, row := range rows {
		b = append(b, messageValues)
		for i, v := range row {
			value, err := res.types[i].encode(v)
			if err != nil {
				return nil, err // newResult has tried
			}
			b = appendCLR(b, value)
			if res.types[i].lob() {
				b = append(b, 0, 0) // as a LONG: an indicator, a return code
			}
		}
	}
	cur.sent += len(rows)
	s := summary{rows: cur.sent, cursor: cur.number}
	if len(left) < n {
		s.code, s.text = noData, "no data found"
		if res.ending != staysOpen {
			c.ending = res.ending
			return b, errBroken
		}
	}
	return appendSummary(appendReply(b), s), nil
}

// appendOuts appends what the binds are after a statement.
func (c *conn) appendOuts(b []byte, cur *cursor, r Request, response Response) ([]byte, error) {
	const (
		in    = 32
		out   = 16
		inout = 48
	)
	statement := scan(r.Text)
	directions, values := []byte{}, []byte{messageValues}
	for i, bind := range r.Binds {
		value, direction, ok := response.outOf(bind.Name)
		cur.binds[i].out = ok && !direction
		switch {
		case !ok:
			if bind.dataType.code == typeCursor {
				return nil, fmt.Errorf("bind :%s is a cursor, and the response has none for it", bind.Name)
			}
			directions = append(directions, in)
			continue
		case direction:
			directions = append(directions, inout)
		default:
			directions = append(directions, out)
		}
		if !statement.block {
			values = appendUB(values, min(1, response.affected)) // rows that it comes from
			if response.affected == 0 {
				continue
			}
		}
		var err error
		if values, err = c.appendOut(values, bind, value); err != nil {
			return nil, fmt.Errorf("bind :%s: %w", bind.Name, err)
		}
	}
	if len(response.outs) == 0 && !statement.block || len(directions) == 0 {
		return b, nil
	}
	b = append(b, messageBinds, 0)
	b = appendUB(b, len(directions))
	b = append(b, 0, 0, 0, 0, 0) // rounds, rows, buffer, repeated columns, row id
	b = append(b, directions...)
	if len(response.outs) > 0 {
		b = append(b, values...)
	}
	return b, nil
}

// outOf returns the value that the response has for a bind, and whether it goes in
// as well.
func (r Response) outOf(name string) (value any, inout, ok bool) {
	for _, o := range r.outs {
		if o.name == name {
			return o.value, o.inout, true
		}
	}
	return nil, false, false
}

// roomError is a value that the client has no room for.
type roomError struct {
	code int
	text string
}

func (e roomError) Error() string { return e.text }

// appendOut appends a value that comes out, or a cursor.
func (c *conn) appendOut(b []byte, bind Bind, value any) ([]byte, error) {
	if res, ok := value.(*result); ok != (bind.dataType.code == typeCursor) {
		return nil, fmt.Errorf("it is a %s, and the response has %T", bind.Type, value)
	} else if ok {
		cur := c.open("")
		cur.result = res
		b = cur.appendColumns(append(b, 1))
		b = appendUB(b, cur.number)
		return append(b, 0), nil
	}
	all, table := elements(value)
	if table != bind.Table {
		return nil, fmt.Errorf("an index-by table and %T do not fit", value)
	}
	if !table {
		return bind.appendScalar(b, value)
	}
	if len(all) > bind.Room {
		return nil, roomError{6513, "PL/SQL: index for PL/SQL table out of range for host language array"}
	}
	b = appendUB(b, len(all))
	for _, v := range all {
		var err error
		if b, err = bind.appendScalar(b, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendScalar appends a value that comes out and its return code. Of a text for
// which there is no room at all the client reads nothing.
func (b Bind) appendScalar(out []byte, v any) ([]byte, error) {
	if b.dataType.lob() {
		return nil, errors.New("LOBs do not come out of binds here; let a cursor return them")
	}
	value, err := b.dataType.encode(v)
	var tooLong tooLongError
	if errors.As(err, &tooLong) {
		return nil, roomError{6502, "PL/SQL: numeric or value error: character string buffer too small"}
	}
	if err != nil {
		return nil, err
	}
	if b.dataType.code != typeVarchar || b.dataType.size > 0 {
		out = appendCLR(out, value)
	}
	return append(out, 0), nil
}

// syntax returns the error that a server has against a text without knowing what it
// is about: a delimiter that is missing or that there should not be, and binds that
// are not as many as its placeholders.
func syntax(s statement, binds int) (summary, bool) {
	switch {
	case s.block && s.last != ';':
		return summary{code: 6550, text: "line 1, column 1:\nPLS-00103: Encountered the symbol \"end-of-file\" when expecting one of the following: ;"}, false
	case !s.block && s.last == ';' && !strings.HasPrefix(s.verb, "CREATE"):
		return summary{code: 911, text: "invalid character"}, false
	case binds < len(s.names):
		return summary{code: 1008, text: "not all variables bound"}, false
	case binds > len(s.names):
		return summary{code: 1036, text: "illegal variable name/number"}, false
	}
	return summary{}, true
}
