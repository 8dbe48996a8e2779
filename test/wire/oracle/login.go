package oracle

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/test/wire"
)

const (
	user     = "qgen"
	password = "Secret1"

	tnsVersion   = 314 // below 315 packets have lengths of 16 bits
	fieldVersion = 6   // of messages, that of Oracle 11.2
	release      = 0x0b200400
	banner       = "Oracle Database 11g Release 11.2.0.4.0 - a wire without a server"
)

// connect answers the connect packet: it accepts or refuses.
func (c *conn) connect() error {
	d := c.in
	p, ok := <-d.packets
	if !ok {
		return wire.ErrGone
	}
	const addressAt, offsetAt = 16, 18 // the length of the address, and where it is
	if p.kind != packetConnect || len(p.body) < offsetAt+2 {
		return wire.Malformedf("a packet of type %d with %d bytes comes where a connect is due", p.kind, len(p.body))
	}
	length := int(binary.BigEndian.Uint16(p.body[addressAt:]))
	offset := int(binary.BigEndian.Uint16(p.body[offsetAt:])) - headerSize
	address := p.body[max(0, min(offset, len(p.body))):]
	if len(address) == 0 {
		address = d.take(length) // a long one comes in a packet of its own
		d.end("the address")
	}
	if d.err == nil && (len(address) != length || !strings.Contains(string(address), "SERVICE_NAME=qgen")) {
		d.fail("the client asks for %q", address)
	}
	if d.err != nil {
		return d.err
	}
	if code := c.server.refused(); code != 0 {
		text := fmt.Sprintf("(DESCRIPTION=(TMP=)(VSNNUM=%d)(ERR=%d)(ERROR_STACK=(ERROR=(CODE=%d)(EMFI=4))))", release, code, code)
		b := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(text)))
		_ = c.out.packet(packetRefuse, append(b, text...)...) // the client may be gone already
		return wire.ErrGone
	}
	const acceptSize, noNegotiation = 32, 4 // of services like encryption
	b := make([]byte, acceptSize-headerSize)
	for i, n := range []uint16{tnsVersion, 0, sduSize, sduSize, 1, 0, acceptSize} {
		binary.BigEndian.PutUint16(b[2*i:], n)
	}
	b[14], b[15] = noNegotiation, 0
	return c.out.packet(packetAccept, b...)
}

// negotiate agrees on the protocol and on the types.
func (c *conn) negotiate() error {
	d := c.in
	d.expect("the protocol", messageProtocol, 6, 0)
	d.expect("the client", []byte("OracleClientGo\x00")...)
	d.end("the protocol")
	const plainKeys = 2 // session keys are sent without padding
	compileTime := []byte{6, 1, 0, 0, plainKeys, 0, 0, fieldVersion}
	runTime := []byte{2, 1} // times zones are exchanged
	b := append([]byte{messageProtocol, 6, 0}, "x86_64/Linux 2.4.xx\x00"...)
	b = binary.LittleEndian.AppendUint16(b, charsetUTF8)
	b = append(b, 0, 0, 0) // flags, other character sets
	national := make([]byte, 11)
	binary.BigEndian.PutUint16(national[9:], charsetUTF16)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(national))), national...)
	b = append(append(b, byte(len(compileTime))), compileTime...)
	b = append(append(b, byte(len(runTime))), runTime...)
	if err := c.reply(d, b); err != nil {
		return err
	}

	d.expect("the types", messageTypes)
	d.left = nil // whatever they are, they come in one packet, and the driver's are known
	d.end("the types")
	b = append([]byte{messageTypes}, 0x80, 0, 0, 0)
	offset := int(c.server.zoneOffset() / time.Minute)
	b = append(b, byte(offset/60+60), byte(offset%60+60), 60, 0x80, 0, 0, 0)
	return c.reply(d, append(b, 0)) // no type is sent in another way
}

// reply sends an answer when the request was understood.
func (c *conn) reply(d *decoder, b []byte) error {
	if d.err != nil {
		return d.err
	}
	return c.out.message(b)
}

// authenticate proves with O5LOGON that the client knows the password. It is false when
// it does not.
func (c *conn) authenticate() (bool, error) {
	const verifier = 6949 // the SHA-1 of password and salt
	salt, serverKey := make([]byte, 10), make([]byte, 48)
	_, _ = rand.Read(salt)      // never fails
	_, _ = rand.Read(serverKey) // never fails
	hash := sha1.Sum(append([]byte(password), salt...))
	verified := append(hash[:], 0, 0, 0, 0)
	encrypted, err := encrypt(verified, serverKey)
	if err != nil {
		return false, err
	}

	name, _ := c.credentials(callAuthFirst)
	b := appendUB([]byte{messageReply}, 2)
	b = appendPair(b, "AUTH_SESSKEY", fmt.Sprintf("%X", encrypted), 0)
	b = appendPair(b, "AUTH_VFR_DATA", fmt.Sprintf("%X", salt), verifier)
	if err := c.reply(c.in, appendSummary(b, summary{})); err != nil {
		return false, err
	}

	_, values := c.credentials(callAuthSecond)
	if c.in.err != nil {
		return false, c.in.err
	}
	if !strings.EqualFold(name, user) || !knows(verified, serverKey, values) {
		return false, c.fail(summary{code: 1017, text: "invalid username/password; logon denied"})
	}
	properties := map[string]string{
		"AUTH_SESSION_ID": strconv.Itoa(c.number), "AUTH_SERIAL_NUM": "1",
		"AUTH_SC_INSTANCE_NAME": "qgen", "AUTH_SC_SERVICE_NAME": "qgen", "AUTH_SC_DBUNIQUE_NAME": "qgen",
		"AUTH_VERSION_STRING": banner, "AUTH_VERSION_NO": strconv.Itoa(release),
	}
	b = appendUB([]byte{messageReply}, len(properties))
	for key, value := range properties {
		b = appendPair(b, key, value, 0)
	}
	const national = 5 // settings for languages, which clients else ask for in PL/SQL
	b = append(appendUB(append(b, messageServer, national), 0), 0)
	b = append(appendUB(b, 1), 0)
	b = appendUB(appendPair(b, "AUTH_NLS_LXLAN", "AMERICAN", 0), 0)
	return true, c.out.message(appendSummary(b, summary{}))
}

// credentials reads one of the two messages with which a client logs in.
func (c *conn) credentials(function byte) (name string, values map[string]string) {
	d := c.in
	d.expect("the login", messageCall, function, 0, 1)
	length := d.ub("the length of the user")
	d.ub("the mode")
	d.expect("the login", 1)
	n := d.ub("the number of settings")
	d.expect("the login", 1, 1)
	name = string(d.clr())
	values = d.pairs(n)
	d.end("the login")
	if d.err == nil && len(name) != length {
		d.fail("the user has %d bytes, %d are announced", len(name), length)
	}
	return name, values
}

// knows tells whether the client encrypted the password with a key that only one that
// knows it can have.
func knows(verified, serverKey []byte, values map[string]string) bool {
	const keyFrom, keySize, saltSize = 16, 24, 16
	clientKey, ok := decrypt(verified, values["AUTH_SESSKEY"])
	if !ok || len(clientKey) < keyFrom+keySize {
		return false
	}
	mixed := make([]byte, keySize)
	for i := range mixed {
		mixed[i] = serverKey[keyFrom+i] ^ clientKey[keyFrom+i]
	}
	first, second := md5.Sum(mixed[:16]), md5.Sum(mixed[16:])
	salted, ok := decrypt(append(first[:], second[:8]...), values["AUTH_PASSWORD"])
	if !ok || len(salted) < saltSize+1 {
		return false
	}
	padding := int(salted[len(salted)-1])
	return padding <= aes.BlockSize && bytes.Equal(salted[saltSize:max(saltSize, len(salted)-padding)], []byte(password))
}

func encrypt(key, plain []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(plain))
	cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(out, plain)
	return out, nil
}

func decrypt(key []byte, text string) ([]byte, bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) == 0 || len(b)%aes.BlockSize != 0 {
		return nil, false
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, false
	}
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(b, b)
	return b, true
}
