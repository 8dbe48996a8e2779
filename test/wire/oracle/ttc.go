package oracle

import (
	"encoding/binary"

	"github.com/qgen-dev/qgen/test/wire"
)

// The pieces that messages of TTC are made of: numbers that are as long as they
// need be, and bytes that come in chunks.

const (
	longestCLR  = 0xfc // what is longer is sent in chunks
	chunkedCLR  = 0xfe
	chunkSize   = 0x40 // the size that clients without big chunks use
	negativeBit = 0x80
)

// appendUB appends a number: how many bytes it has, then these.
func appendUB(b []byte, n int) []byte {
	sign := byte(0)
	if n < 0 {
		sign, n = negativeBit, -n
	}
	var all [8]byte
	binary.BigEndian.PutUint64(all[:], uint64(n))
	from := 0
	for from < len(all) && all[from] == 0 {
		from++
	}
	return append(append(b, sign|byte(len(all)-from)), all[from:]...)
}

// appendCLR appends bytes with their length before them. None are NULL.
func appendCLR(b, data []byte) []byte {
	if len(data) <= longestCLR {
		return append(append(b, byte(len(data))), data...)
	}
	b = append(b, chunkedCLR)
	for len(data) > 0 {
		n := min(chunkSize, len(data))
		b = append(append(b, byte(n)), data[:n]...)
		data = data[n:]
	}
	return append(b, 0)
}

// appendDLC appends bytes with their length twice, or once when there are none.
func appendDLC(b []byte, text string) []byte {
	b = appendUB(b, len(text))
	if text == "" {
		return b
	}
	return appendCLR(b, []byte(text))
}

func appendPair(b []byte, key, value string, flags int) []byte {
	return appendUB(appendDLC(appendDLC(b, key), value), flags)
}

// decoder reads messages. After the first error it returns zeros.
type decoder struct {
	packets <-chan packet
	left    []byte
	last    bool // the packet read last is not full: the message ends with it
	err     error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = wire.Malformedf(format, args...)
	}
}

// take returns the next n bytes, waiting for packets while it has fewer.
func (d *decoder) take(n int) []byte {
	for d.err == nil && len(d.left) < n {
		if d.last {
			d.fail("the message ends where %d bytes are due", n-len(d.left))
			break
		}
		p, ok := <-d.packets
		switch {
		case !ok || p.final:
			d.err = wire.ErrGone
		case p.kind == packetData:
			d.left = append(d.left, p.body...)
			d.last = len(p.body) < fullPacket
		default:
			d.fail("a packet of type %d comes where data is due", p.kind)
		}
	}
	if d.err != nil {
		return make([]byte, n)
	}
	b := d.left[:n:n]
	d.left = d.left[n:]
	return b
}

func (d *decoder) u8() byte { return d.take(1)[0] }

// expect reads bytes that are always the same.
func (d *decoder) expect(what string, bytes ...byte) {
	for _, want := range bytes {
		if got := d.u8(); got != want {
			d.fail("%s: byte %#x comes where %#x is due", what, got, want)
		}
	}
}

// ub reads a number of appendUB.
func (d *decoder) ub(what string) int {
	n := int(d.u8())
	if n > 8 {
		d.fail("%s: a number has %d bytes", what, n)
		return 0
	}
	value := 0
	for _, b := range d.take(n) {
		value = value<<8 | int(b)
	}
	return value
}

// clr reads bytes of appendCLR; none are nil.
func (d *decoder) clr() []byte {
	n := int(d.u8())
	switch {
	case n == 0 || n == 0xff:
		return nil
	case n != chunkedCLR:
		return d.take(n)
	}
	var all []byte
	for n = int(d.u8()); n > 0 && d.err == nil; n = int(d.u8()) {
		all = append(all, d.take(n)...)
	}
	return all
}

// dlc reads bytes of appendDLC.
func (d *decoder) dlc(what string) string {
	n := d.ub(what)
	if n == 0 {
		return ""
	}
	b := d.clr()
	if d.err == nil && len(b) != n {
		d.fail("%s: %d bytes come where %d are due", what, len(b), n)
	}
	return string(b)
}

// pairs reads keys and values.
func (d *decoder) pairs(n int) map[string]string {
	all := map[string]string{}
	for range n {
		key := d.dlc("a key")
		all[key] = d.dlc(key)
		d.ub("flags of " + key)
		if d.err != nil {
			break
		}
	}
	return all
}

// end ends a message. It fails when there is more than was read.
func (d *decoder) end(what string) {
	if d.err == nil && len(d.left) > 0 {
		d.fail("%s has %d bytes too many: % x", what, len(d.left), d.left[:min(len(d.left), 32)])
	}
	d.last = false
}
