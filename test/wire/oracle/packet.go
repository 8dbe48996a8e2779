package oracle

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"

	"github.com/qgen-dev/qgen/test/wire"
)

// Types of TNS packets.
const (
	packetConnect = 1
	packetAccept  = 2
	packetRefuse  = 4
	packetData    = 6
	packetMarker  = 12
)

// Kinds of markers.
const (
	markerBreak     = 1
	markerReset     = 2
	markerInterrupt = 3
)

const (
	headerSize = 8
	dataOffset = headerSize + 2 // the flags of a data packet come first
	sduSize    = 8192           // what the server says that a packet may hold
	fullPacket = sduSize - 64   // bytes of a message that the client puts into a packet when it has more
	finalFlag  = 0x40           // the last packet of a client that closes
)

// packet is a TNS packet without its header; one of data is without its flags, one
// of a marker is its kind alone.
type packet struct {
	kind  byte
	final bool
	body  []byte
}

// readPacket reads a packet with a length of 16 bits, as versions before 315 have it.
func readPacket(r io.Reader) (packet, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return packet{}, wire.ErrGone
	}
	length := int(binary.BigEndian.Uint16(header[:]))
	if length < headerSize {
		return packet{}, wire.Malformedf("a packet of %d bytes", length)
	}
	p := packet{kind: header[4], body: make([]byte, length-headerSize)}
	if _, err := io.ReadFull(r, p.body); err != nil {
		return packet{}, wire.ErrGone
	}
	switch {
	case p.kind == packetData && len(p.body) >= 2:
		p.final = p.body[1]&finalFlag != 0
		p.body = p.body[2:]
	case p.kind == packetMarker && len(p.body) == 3:
		p.body = p.body[2:]
	case p.kind != packetConnect:
		return packet{}, wire.Malformedf("a packet of type %d with %d bytes", p.kind, length)
	}
	return p, nil
}

// frame puts a header before what follows it in a packet.
func frame(kind byte, body []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(headerSize+len(body)))
	return append(append(b, 0, 0, kind, 0, 0, 0), body...)
}

// writer sends packets.
type writer struct{ net net.Conn }

func (w writer) packet(kind byte, body ...byte) error {
	if _, err := w.net.Write(frame(kind, body)); err != nil {
		return wire.ErrGone
	}
	return nil
}

// message sends a message in as many packets as it takes.
func (w writer) message(b []byte) error {
	out := bufio.NewWriter(w.net)
	for first := true; first || len(b) > 0; first = false {
		n := min(len(b), sduSize-dataOffset)
		_, _ = out.Write(frame(packetData, append([]byte{0, 0}, b[:n]...))) // Flush tells
		b = b[n:]
	}
	if err := out.Flush(); err != nil {
		return wire.ErrGone
	}
	return nil
}

func (w writer) marker(kind byte) error { return w.packet(packetMarker, 1, 0, kind) }
