package tds

import (
	"encoding/binary"
	"io"
	"net"
	"unicode/utf16"

	"github.com/qgen-dev/qgen/test/wire"
)

// Types of packets.
const (
	packetBatch       = 1
	packetRPC         = 3
	packetReply       = 4
	packetAttention   = 6
	packetTransaction = 14
	packetLogin       = 16
	packetPrelogin    = 18
)

// Bits of the status of a packet.
const (
	statusLast      = 0x01
	statusReset     = 0x08
	statusResetKeep = 0x10 // reset, but keep the transaction
	statusKnown     = statusLast | statusReset | statusResetKeep
)

const (
	headerSize = 8
	maxPacket  = 32767
	maxMessage = 16 << 20
)

// message is what one side says at a time, in one packet or several.
type message struct {
	kind  byte
	reset bool
	body  []byte
}

// readMessage reads packets up to the last of a message.
func readMessage(r io.Reader) (message, error) {
	var m message
	for first := true; ; first = false {
		var header [headerSize]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return m, err
		}
		kind, status, size := header[0], header[1], int(binary.BigEndian.Uint16(header[2:]))
		switch {
		case status&^statusKnown != 0:
			return m, wire.Malformedf("a packet has the status %#x", status)
		case size < headerSize || size > maxPacket:
			return m, wire.Malformedf("a packet has %d bytes", size)
		case first:
			m.kind, m.reset = kind, status&statusReset != 0
		case kind != m.kind:
			return m, wire.Malformedf("a packet of type %d follows one of type %d in the same message", kind, m.kind)
		}
		if status&statusResetKeep != 0 {
			return m, wire.Malformedf("a packet resets the session and keeps its transaction")
		}
		if m.reset && m.kind != packetBatch && m.kind != packetRPC && m.kind != packetTransaction {
			return m, wire.Malformedf("a packet of type %d resets the session", m.kind)
		}
		have := len(m.body)
		if have+size > maxMessage {
			return m, wire.Malformedf("a message has more than %d bytes", maxMessage)
		}
		m.body = append(m.body, make([]byte, size-headerSize)...)
		if _, err := io.ReadFull(r, m.body[have:]); err != nil {
			return m, err
		}
		if status&statusLast != 0 {
			return m, nil
		}
	}
}

// writer cuts replies into packets.
type writer struct {
	to     net.Conn
	size   int  // of a packet, with its header
	number byte // of the next packet of the message
}

// write sends a part of a reply, the last one or not.
func (w *writer) write(body []byte, last bool) error {
	var out []byte
	for len(body) > 0 || last {
		part := body[:min(len(body), w.size-headerSize)]
		body = body[len(part):]
		end := last && len(body) == 0
		status := byte(0)
		w.number++
		if end {
			status = statusLast
		}
		out = append(out, packetReply, status)
		out = binary.BigEndian.AppendUint16(out, uint16(headerSize+len(part)))
		out = append(out, 0, 0, w.number, 0)
		out = append(out, part...)
		if end {
			w.number = 0
			break
		}
	}
	_, err := w.to.Write(out)
	return err
}

// decoder reads a message. After the first thing that is not there it reads
// zeros and keeps the complaint.
type decoder struct {
	left []byte
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = wire.Malformedf(format, args...)
	}
}

// take reads n bytes of what is named.
func (d *decoder) take(n int, what string) []byte {
	if d.err == nil && n > len(d.left) {
		d.fail("%s: %d bytes are said, %d are left", what, n, len(d.left))
	}
	if d.err != nil {
		return make([]byte, min(n, 8)) // enough for a number
	}
	taken := d.left[:n:n]
	d.left = d.left[n:]
	return taken
}

func (d *decoder) u8(what string) byte    { return d.take(1, what)[0] }
func (d *decoder) u16(what string) uint16 { return binary.LittleEndian.Uint16(d.take(2, what)) }
func (d *decoder) u32(what string) uint32 { return binary.LittleEndian.Uint32(d.take(4, what)) }
func (d *decoder) u64(what string) uint64 { return binary.LittleEndian.Uint64(d.take(8, what)) }

// text reads n characters.
func (d *decoder) text(n int, what string) string { return fromUTF16(d.take(2*n, what)) }

// end complains about what is left.
func (d *decoder) end(what string) {
	if len(d.left) > 0 {
		d.fail("%d bytes follow %s", len(d.left), what)
	}
}

// fromUTF16 returns the text of an even number of bytes.
func fromUTF16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func toUTF16(s string) []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b
}

// appendShortText appends a text with its length in one byte.
func appendShortText(b []byte, s string) []byte {
	text := toUTF16(s)
	return append(append(b, byte(len(text)/2)), text...)
}

// appendText appends a text with its length in two bytes.
func appendText(b []byte, s string) []byte {
	text := toUTF16(s)
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(text)/2)), text...)
}
