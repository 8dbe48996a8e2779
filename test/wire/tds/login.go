package tds

import (
	"encoding/binary"
	"strconv"
)

const (
	serverName      = "tds"
	version74       = 0x74000004
	preloginVersion = 0
	preloginEncrypt = 1
	preloginEnd     = 0xff
	encryptNever    = 2
)

// Login is what a client says of itself.
type Login struct {
	User, Password string
	Database       string
	App, Host      string

	packetSize int
}

// decodePrelogin reads the options of PRELOGIN, of which only encryption matters:
// the client must be content without.
func decodePrelogin(body []byte) error {
	d := &decoder{left: body}
	for {
		option := d.u8("an option")
		if option == preloginEnd || d.err != nil {
			return d.err
		}
		place := d.take(4, "an option")
		from, size := int(binary.BigEndian.Uint16(place)), int(binary.BigEndian.Uint16(place[2:]))
		switch {
		case d.err != nil:
		case from+size > len(body):
			d.fail("option %d of PRELOGIN is outside it", option)
		case option == preloginEncrypt && (size != 1 || body[from] != encryptNever):
			d.fail("the client wants encryption; its DSN must say encrypt=disable")
		}
	}
}

// preloginReply says the version and that there is no encryption.
func preloginReply() []byte {
	const versionAt, versionSize = 11, 6
	return []byte{
		preloginVersion, 0, versionAt, 0, versionSize,
		preloginEncrypt, 0, versionAt + versionSize, 0, 1,
		preloginEnd,
		16, 0, 0x10, 0, 0, 0, // SQL Server 2022
		encryptNever,
	}
}

// decodeLogin reads LOGIN7.
func decodeLogin(body []byte) (Login, error) {
	const fixed = 94 // bytes of what stands at the same place in each
	d := &decoder{left: body}
	if size := d.u32("the length of the login"); int(size) != len(body) || len(body) < fixed {
		d.fail("the login says %d bytes and has %d", size, len(body))
	}
	if version := d.u32("the version"); version != version74 {
		d.fail("the client speaks version %#x; this server knows 7.4 only", version)
	}
	l := Login{packetSize: int(d.u32("the packet size"))}
	if l.packetSize < 512 || l.packetSize > maxPacket {
		d.fail("the client wants packets of %d bytes", l.packetSize)
	}
	d.take(24, "the login") // the client's program, its options and where it is
	text := func(what string) string {
		from, size := int(d.u16(what)), 2*int(d.u16(what))
		if d.err == nil && (from < fixed || from+size > len(body)) && size > 0 {
			d.fail("%s is outside of the login", what)
		}
		if d.err != nil || size == 0 {
			return ""
		}
		return fromUTF16(body[from : from+size])
	}
	l.Host, l.User = text("the host"), text("the user")
	l.Password = revealed(text("the password"))
	l.App = text("the application")
	for _, what := range []string{"the server", "the extension", "the library", "the language"} {
		text(what)
	}
	l.Database = text("the database")
	return l, d.err
}

// revealed undoes how a password is hidden: halves of bytes are exchanged, some bits turned.
func revealed(hidden string) string {
	b := toUTF16(hidden)
	for i := range b {
		b[i] ^= 0xa5
		b[i] = b[i]<<4 | b[i]>>4
	}
	return fromUTF16(b)
}

// appendWelcome appends what a server says to a client that it lets in.
func appendWelcome(b []byte, l Login) []byte {
	database := l.Database
	if database == "" {
		database = "master"
	}
	b = appendTextChange(b, envDatabase, database, "master")
	b = appendNotice(b, tokenInfo, 5701, 2, 0, "Changed database context to '"+database+"'.")
	b = appendChange(b, envCollation, collation, nil)
	b = appendTextChange(b, envLanguage, "us_english", "")
	b = appendNotice(b, tokenInfo, 5703, 1, 0, "Changed language setting to us_english.")

	const sqlLanguage = 1
	ack := binary.BigEndian.AppendUint32([]byte{sqlLanguage}, version74)
	ack = append(appendShortText(ack, "Microsoft SQL Server"), 16, 0, 0x10, 0)
	b = binary.LittleEndian.AppendUint16(append(b, tokenLoginAck), uint16(len(ack)))
	b = append(b, ack...)

	size := strconv.Itoa(l.packetSize)
	return appendTextChange(b, envPacketSize, size, size)
}
