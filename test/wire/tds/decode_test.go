package tds

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/wire"
)

// unhex returns the bytes of hexadecimal digits, which spaces may part.
func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	headers     = "16000000 12000000 0200 0000000000000000 01000000"
	callHead    = headers + "ffff 0a00 0000"
	noCollation = "0000000000"
	statement   = "00 00 e7 0200 " + noCollation + " 0200 7800" // x
	declareInt  = "00 00 e7 1400 " + noCollation + " 1400 400061002000620069006700690074002c00"
	bigintA     = "02 40006100 00 26 08"
)

// declared is a call of "x" with this declaration and, after it, this parameter.
func declared(declaration, parameter string) string {
	text := toUTF16(declaration)
	size := hex.EncodeToString(binary.LittleEndian.AppendUint16(nil, uint16(len(text))))
	return callHead + statement + "00 00 e7" + size + noCollation + size + hex.EncodeToString(text) + parameter
}

type wellFormed struct {
	kind byte
	body string
	want Request
}

func TestWellFormedRequests(t *testing.T) {
	tests := []wellFormed{
		{packetBatch, headers + "7800 3dd804de", Request{Kind: KindQuery, Text: "x\U0001F604"}},
		{packetBatch, headers, Request{Kind: KindQuery}},
		{packetTransaction, headers + "0500 05 00", Request{Kind: KindBegin, Isolation: Snapshot}},
		{packetTransaction, headers + "0700 00 00", Request{Kind: KindCommit}},
		{packetTransaction, headers + "0800 00 00", Request{Kind: KindRollback}},
		{packetRPC, declared("@a bigint", bigintA+"08 feffffffffffffff"), Request{Kind: KindQuery, Text: "x", Params: []Param{{Name: "@a", Type: "bigint", Value: int64(-2)}}}},
		{packetRPC, declared("@a bigint", bigintA+"00"), Request{Kind: KindQuery, Text: "x", Params: []Param{{Name: "@a", Type: "bigint"}}}},
		{packetRPC, declared("@a varchar(max)", "02 40006100 00 a7 ffff"+noCollation+"feffffffffffffff 01000000 61 02000000 6263 00000000"),
			Request{Kind: KindQuery, Text: "x", Params: []Param{{Name: "@a", Type: "varchar(max)", Value: "abc"}}}},
	}
	for kind, value := range map[string]struct {
		wire string
		want time.Time
	}{
		"smalldatetime":     {"6f 04 04 0100 3c00", time.Date(1900, 1, 2, 1, 0, 0, 0, time.UTC)},
		"datetime":          {"6f 08 08 ffffffff 2c010000", time.Date(1899, 12, 31, 0, 0, 1, 0, time.UTC)},
		"date":              {"28 03 dab937", time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)},
		"datetime2(0)":      {"2a 00 06 7f5101 000000", time.Date(1, 1, 1, 23, 59, 59, 0, time.UTC)},
		"datetimeoffset(3)": {"2b 03 09 e8030000 010000 c4ff", time.Date(1, 1, 2, 0, 0, 1, 0, time.UTC).In(time.FixedZone("", -3600))},
	} {
		tests = append(tests, wellFormed{packetRPC, declared("@a "+kind, "02 40006100 00"+value.wire),
			Request{Kind: KindQuery, Text: "x", Params: []Param{{Name: "@a", Type: kind, Value: value.want}}}})
	}
	for _, test := range tests {
		got, transaction, err := decodeRequest(message{kind: test.kind, body: unhex(t, test.body)})
		if err != nil || transaction != 0 {
			t.Errorf("%s: transaction %d, %v", test.body, transaction, err)
			continue
		}
		for i := range got.Params {
			got.Params[i].sqlType = sqlType{}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", test.body, got, test.want)
		}
	}
}

func TestMalformedRequests(t *testing.T) {
	value := func(declaration, rest string) string { return declared("@a "+declaration, "02 40006100 00"+rest) }
	tests := []struct {
		kind byte
		body string
		want string
	}{
		{packetBatch, "", "the length of the headers: 4 bytes are said, 0 are left"},
		{packetBatch, "03000000", "the headers have 3 bytes"},
		{packetBatch, "04000000", "the headers name no transaction"},
		{packetBatch, "ffffffff", "the headers: 4294967291 bytes are said, 0 are left"},
		{packetBatch, "16000000 12000000 0300 0000000000000000 01000000", "a header has the type 3 and 18 bytes"},
		{packetBatch, "16000000 12000000 0200 0000000000000000 02000000", "2 requests are said to be under way"},
		{packetBatch, "28000000" + strings.Repeat("12000000 0200 0000000000000000 01000000", 2), "a header has the type 2 and 18 bytes"},
		{packetBatch, "12000000 12000000 0200 0000000000000000", "the number of requests: 4 bytes are said, 0 are left"},
		{packetBatch, headers + "78", "a batch has 1 bytes"},
		{packetLogin, headers, "a packet of type 16 comes where a request is due"},
		{packetTransaction, headers, "the request: 2 bytes are said, 0 are left"},
		{packetTransaction, headers + "0900 00", "request 9 goes to the transaction manager"},
		{packetTransaction, headers + "0500 06 00", "the isolation is 6"},
		{packetTransaction, headers + "0500 02 01 6100", `the transaction is named "a"`},
		{packetTransaction, headers + "0700 00 01 02 00", "a transaction ends with the flags 0x1, to begin the next"},
		{packetTransaction, headers + "0700 00 00 00", "1 bytes follow the request"},
		{packetRPC, headers + "0200 6100 6200", `procedure "ab" is called`},
		{packetRPC, headers + "ffff 0c00", "procedure 12 is called"},
		{packetRPC, headers + "ffff 0a00 0200", "the call has the flags 0x2"},
		{packetRPC, callHead, `parameter "": the name: 1 bytes are said, 0 are left`},
		{packetRPC, callHead + bigintA + "00", "the statement: a nameless nvarchar is due, @a  = NULL comes"},
		{packetRPC, callHead + statement + bigintA + "00", "the declarations: a nameless nvarchar is due, @a  = NULL comes"},
		{packetRPC, declared("@a bigint", ""), "1 parameters are declared, 0 come: @a bigint"},
		{packetRPC, declared("@b bigint", bigintA+"00"), `"@b bigint" is declared, @a comes as`},
		{packetRPC, declared("@a int", bigintA+"00"), `"@a int" is declared, @a comes as`},
		{packetRPC, declared("@a", bigintA+"00"), `parameter @a: "" is no type that this server knows`},
		{packetRPC, declared("@a decimal(3,1),@b int", bigintA+"00"), "2 parameters are declared, 1 come"},
		{packetRPC, declared("@a bigint", bigintA+"04 00000000"), "4 bytes in a type of 8"},
		{packetRPC, declared("@a bigint", bigintA+"08 00"), "the value: 8 bytes are said, 1 are left"},
		{packetRPC, declared("@a bigint", "02 40006100 01 26 08 00"), "the flags are 0x1"},
		{packetRPC, value("int", "26 03"), "type 0x26 has no size 3"},
		{packetRPC, value("xml", "f1 00"), "type 0xf1 is not known to this server"},
		{packetRPC, value("bit", "68 01 01 02"), "a bit is 2"},
		{packetRPC, value("nvarchar(1)", "e7 0300"+noCollation+"0300 616263"), "a text of pairs has 3 bytes"},
		{packetRPC, value("nvarchar(1)", "e7 0200"+noCollation+"0400 61006200"), "4 bytes in a type of 2"},
		{packetRPC, value("nvarchar(1)", "e7 0000"+noCollation+"0000"), "type 0xe7 has the size 0"},
		{packetRPC, value("varchar(1)", "a7 0100"+noCollation+"0100 ff"), `"\xff" is not UTF-8`},
		{packetRPC, value("varbinary(max)", "a5 ffff 0200000000000000 01000000 61 00000000"), "1 bytes come in pieces, 2 are said"},
		{packetRPC, value("varbinary(max)", "a5 ffff 0100000000000000 ffffffff"), "a piece: 4294967295 bytes are said, 0 are left"},
		{packetRPC, value("time", "29 08 05"), "a time has 8 digits after the second"},
		{packetRPC, value("time(0)", "29 00 03 805101"), "no time is 0 days and 24h0m0s after 0001-01-01"},
		{packetRPC, value("date", "28 03 dbb937"), "no time is 3652059 days"},
		{packetRPC, value("datetime", "6f 08 08 e12dffff 00000000"), "no time is -53791 days"},
		{packetRPC, value("datetimeoffset(0)", "2b 00 08 000000 000000 4903"), "a time is 841 minutes from UTC"},
	}
	for _, test := range tests {
		_, _, err := decodeRequest(message{kind: test.kind, body: unhex(t, test.body)})
		var wrong wire.MalformedError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", test.body, err, test.want)
		}
	}
}

func TestPacketsOfAMessage(t *testing.T) {
	tests := []struct {
		packets string
		want    string // of the error
	}{
		{"01 00 0009 0000 01 00 61 01 01 0009 0000 02 00 62", ""},
		{"01 09 0009 0000 01 00 61", ""},
		{"01 01 0007 0000 01 00", "a packet has 7 bytes"},
		{"01 01 ffff 0000 01 00", "a packet has 65535 bytes"},
		{"01 03 0008 0000 01 00", "a packet has the status 0x3"},
		{"01 11 0008 0000 01 00", "a packet resets the session and keeps its transaction"},
		{"06 09 0008 0000 01 00", "a packet of type 6 resets the session"},
		{"01 00 0008 0000 01 00 03 01 0008 0000 02 00", "a packet of type 3 follows one of type 1 in the same message"},
		{"01 00 0008 0000 01 00", "EOF"},
		{"01 01 0009 0000 01 00", "EOF"},
		{"01 01", "unexpected EOF"},
		{"", "EOF"},
	}
	for _, test := range tests {
		m, err := readMessage(bytes.NewReader(unhex(t, test.packets)))
		switch {
		case test.want == "" && (err != nil || m.kind != packetBatch || !strings.HasPrefix("ab", string(m.body))):
			t.Errorf("%s: %+v, %v", test.packets, m, err)
		case test.want != "" && (err == nil || err.Error() != test.want):
			t.Errorf("%s: got %v, want %s", test.packets, err, test.want)
		}
	}
	if _, err := readMessage(endless{}); err == nil || !strings.Contains(err.Error(), "more than 16777216 bytes") {
		t.Errorf("a message without an end gives %v", err)
	}
}

// endless is a packet that is never the last.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	clear(b)
	if len(b) == headerSize {
		copy(b, []byte{packetBatch, 0, 0x7f, 0xff})
	}
	return len(b), nil
}

func TestMalformedLogins(t *testing.T) {
	login := make([]byte, 94)
	binary.LittleEndian.PutUint32(login, 94)
	binary.LittleEndian.PutUint32(login[4:], version74)
	binary.LittleEndian.PutUint32(login[8:], 4096)
	if l, err := decodeLogin(login); err != nil || l != (Login{packetSize: 4096}) {
		t.Errorf("an empty login is %+v, %v", l, err)
	}
	for want, change := range map[string]func([]byte) []byte{
		"the login says 94 bytes and has 93":          func(b []byte) []byte { return b[:93] },
		"the login says 95 bytes and has 94":          func(b []byte) []byte { b[0]++; return b },
		"the client speaks version 0x74000005":        func(b []byte) []byte { b[4]++; return b },
		"the client wants packets of 256 bytes":       func(b []byte) []byte { b[9] = 1; return b },
		"the user is outside of the login":            func(b []byte) []byte { b[40], b[42] = 94, 1; return b },
		"the database is outside of the login":        func(b []byte) []byte { b[70] = 1; return b },
		"the length of the login: 4 bytes are said, ": func([]byte) []byte { return nil },
	} {
		if _, err := decodeLogin(change(bytes.Clone(login))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for want, body := range map[string]string{
		"an option: 1 bytes are said, 0 are left":           "",
		"an option: 4 bytes are said, 1 are left":           "0000",
		"option 0 of PRELOGIN is outside it":                "00 0006 0006 ff",
		"the client wants encryption; its DSN must say enc": "01 0006 0001 ff 01",
	} {
		if err := decodePrelogin(unhex(t, body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}

// FuzzRequest looks for messages that the decoder does not survive. What it takes
// can be shown, and is compared with itself.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		declared("@a bigint", bigintA+"08 feffffffffffffff"),
		declared("@a datetimeoffset(7)", "02 40006100 00 2b 07 0a 00112233 44 556600 7800"),
		declared("@a varbinary(max)", "02 40006100 00 a5 ffff feffffffffffffff 01000000 61 00000000"),
		declared("@a uniqueidentifier", "02 40006100 00 24 10 10 00112233445566778899aabbccddeeff"),
	} {
		f.Add(byte(packetRPC), unhex(f, body))
	}
	f.Add(byte(packetBatch), unhex(f, headers+"7800"))
	f.Add(byte(packetTransaction), unhex(f, headers+"0500 05 00"))
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		r, _, err := decodeRequest(message{kind: kind, body: body})
		if err != nil {
			return
		}
		same := &want{Request: r}
		for _, p := range r.Params {
			same.args = append(same.args, p)
		}
		for _, difference := range same.Differences(r) {
			if !strings.Contains(difference, "NaN") {
				t.Errorf("the request is not like itself: %s", difference)
			}
		}
	})
}

// FuzzConnection looks for what a client can send at the beginning.
func FuzzConnection(f *testing.F) {
	f.Add(unhex(f, "12 01 000f 0000 01 00 01 0006 0001 ff 02"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		in := bytes.NewReader(sent)
		for {
			m, err := readMessage(in)
			var wrong wire.MalformedError
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &wrong) {
					t.Errorf("an error of another kind: %v", err)
				}
				return
			}
			for _, err := range []error{decodePrelogin(m.body), second(decodeLogin(m.body))} {
				if err != nil && !errors.As(err, &wrong) {
					t.Errorf("an error of another kind: %v", err)
				}
			}
		}
	})
}

func second(_ Login, err error) error { return err }
