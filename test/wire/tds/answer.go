package tds

import (
	"context"
	"encoding/binary"
	"errors"
	"time"
)

// Tokens of replies.
const (
	tokenReturnStatus = 0x79
	tokenColumns      = 0x81
	tokenError        = 0xaa
	tokenInfo         = 0xab
	tokenLoginAck     = 0xad
	tokenRow          = 0xd1
	tokenRowWithNull  = 0xd2
	tokenEnvChange    = 0xe3
	tokenDone         = 0xfd
	tokenDoneProc     = 0xfe
	tokenDoneInProc   = 0xff
)

// Bits of the status of DONE and its kind.
const (
	doneMore          = 0x01
	doneError         = 0x02
	doneInTransaction = 0x04
	doneCount         = 0x10
	doneAttention     = 0x20
	doneServerError   = 0x100
)

// Commands that DONE tells.
const (
	commandSelect  = 0xc1
	commandUpdate  = 0xc5
	commandExecute = 0xe0
)

// What changes in ENVCHANGE.
const (
	envDatabase   = 1
	envLanguage   = 2
	envPacketSize = 4
	envCollation  = 7
	envBegin      = 8
	envCommit     = 9
	envRollback   = 10
	envReset      = 18
)

// What ends an answer before its end.
var (
	errAttention = errors.New("the client cancelled the request")
	errBreak     = errors.New("the script ends the connection")
	errFatal     = errors.New("an error ended the connection")
)

const noCount = -1

// answer is a response on its way.
type answer struct {
	conn  *conn
	ctx   context.Context
	call  bool // of sp_executesql, which ends its statements in its own way
	quiet bool

	head    []byte // goes before whatever is sent first
	out     []byte // not sent yet
	open    bool   // a statement has begun and its DONE is to come
	ended   bool   // and nothing but DONE
	command uint16 // of that statement
	count   int64
	failed  int32 // number of the last error of that statement
	status  int32 // number of the last error
}

// begin begins a statement and ends the one before.
func (a *answer) begin(command uint16, count int64) {
	a.close(doneMore)
	a.open, a.ended, a.command, a.count = true, false, command, count
}

// close writes the DONE of the statement that has begun, if there is one.
func (a *answer) close(more uint16) {
	if !a.open {
		return
	}
	token := byte(tokenDone)
	if a.call {
		token, more = tokenDoneInProc, doneMore
	}
	if a.failed != 0 {
		more |= doneError
		a.status = a.failed
	}
	a.out = a.appendDone(a.out, token, more)
	a.open, a.failed = false, 0
}

func (a *answer) appendDone(b []byte, token byte, status uint16) []byte {
	count := uint64(0)
	if a.count != noCount && !a.quiet {
		status, count = status|doneCount, uint64(a.count)
	}
	if a.conn.transaction != 0 {
		status |= doneInTransaction
	}
	b = binary.LittleEndian.AppendUint16(append(b, token), status)
	b = binary.LittleEndian.AppendUint16(b, a.command)
	return binary.LittleEndian.AppendUint64(b, count)
}

// end writes what ends the whole answer.
func (a *answer) end() error {
	switch {
	case a.call:
		a.close(doneMore)
		a.out = binary.LittleEndian.AppendUint32(append(a.out, tokenReturnStatus), uint32(a.status))
		a.command, a.count = commandExecute, noCount
		status := uint16(0)
		if a.status != 0 {
			status = doneError
		}
		a.out = a.appendDone(a.out, tokenDoneProc, status)
	case a.open:
		a.close(0)
	default:
		a.command, a.count = 0, noCount
		a.out = a.appendDone(a.out, tokenDone, 0)
	}
	return a.flush(true)
}

// flush sends what there is.
func (a *answer) flush(last bool) error {
	if len(a.out) == 0 && !last {
		return nil
	}
	out := append(a.head, a.out...)
	a.head, a.out = nil, nil
	return a.conn.out.write(out, last)
}

// wait sends what there is and waits.
func (a *answer) wait(d time.Duration) error {
	if a.open && a.ended {
		a.close(doneMore)
	}
	if err := a.flush(false); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

// run writes the parts of a response, and success between them and the end.
func (a *answer) run(r Response, success func([]byte) []byte) error {
	a.quiet = r.quiet
	for _, part := range r.parts {
		if err := part(a); err != nil {
			return errors.Join(err, a.flush(false))
		}
	}
	if a.failed == 0 && a.status == 0 && success != nil {
		a.out = success(a.out)
	}
	return a.end()
}

// appendNotice appends an error or an information.
func appendNotice(b []byte, token byte, number int32, state, class byte, text string) []byte {
	var body []byte
	body = binary.LittleEndian.AppendUint32(body, uint32(number))
	body = appendText(append(body, state, class), text)
	body = appendShortText(body, serverName)
	body = appendShortText(body, "") // procedure
	body = binary.LittleEndian.AppendUint32(body, 1)
	b = binary.LittleEndian.AppendUint16(append(b, token), uint16(len(body)))
	return append(b, body...)
}

// appendChange appends a change of the session: the new value and the old.
func appendChange(b []byte, what byte, values ...[]byte) []byte {
	body := []byte{what}
	for _, v := range values {
		body = append(append(body, byte(len(v))), v...)
	}
	b = binary.LittleEndian.AppendUint16(append(b, tokenEnvChange), uint16(len(body)))
	return append(b, body...)
}

// appendTextChange is appendChange with texts, whose length is in characters.
func appendTextChange(b []byte, what byte, now, before string) []byte {
	body := appendShortText(appendShortText([]byte{what}, now), before)
	b = binary.LittleEndian.AppendUint16(append(b, tokenEnvChange), uint16(len(body)))
	return append(b, body...)
}
