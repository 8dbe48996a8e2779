package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestScan(t *testing.T) {
	for _, c := range []struct {
		text  string
		verb  string
		last  byte
		names string
	}{
		{"", "", 0, ""},
		{"select :a, :B_1, :2, :a from q", "SELECT", 'q', "A B_1 2 A"},
		{"(SELECT 1 FROM q)", "SELECT", ')', ""},
		{"-- it's :no\n/* it's :no \" */ BEGIN x(:a, :b, :A); END; -- :no", "BEGIN", ';', "A B"},
		{"DECLARE n NUMBER := :n; m NUMBER :=:m; BEGIN NULL; END;\n/* last */\n", "DECLARE", ';', "N M"},
		{"UPDATE q SET a = ':no', \":no\" = 'it''s :no', c = :c WHERE d = q'[it's :no]' AND e = Q'x:nox' AND f = :f/2", "UPDATE", '2', "C F"},
		{"UPDATE q SET a = seq'x' || :a", "UPDATE", 'a', "A"},
		{"SELECT 'open :no", "SELECT", '\'', ""},
		{"SELECT a FROM q /* open :no", "SELECT", 'q', ""},
	} {
		s := scan(c.text)
		if s.verb != c.verb || s.last != c.last || strings.Join(s.names, " ") != c.names {
			t.Errorf("%s\ngot verb %q, last %q, names %q", c.text, s.verb, s.last, s.names)
		}
		if block := c.verb == "BEGIN" || c.verb == "DECLARE"; s.block != block {
			t.Errorf("%s\nis a block: %t", c.text, s.block)
		}
	}
}

// TestNumber writes decimals and reads them back.
func TestNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{0,17}[1-9])?`).Draw(t, "decimal")
		if digits == "-0" {
			digits = "0"
		}
		b, err := encodeNumber(digits)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeNumber(b); err != nil || back != digits {
			t.Fatalf("% x is %q, %v", b, back, err)
		}
	})
	for text, want := range map[string]string{
		"0": "80", "-0.0": "80", "1": "c1 02", "-1": "3e 64 66", "100": "c2 02", "0.01": "c0 02", "1e2": "c2 02",
		"-9223372036854775808": "35 5c 4f 44 1d 62 21 2f 18 2b 5d 66", "1.5E-3": "bf 10", "+12.50": "c1 0d 33",
	} {
		if b, err := encodeNumber(text); err != nil || fmt.Sprintf("% x", b) != want {
			t.Errorf("%s is % x, %v, want %s", text, b, err, want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.2.3", "x", "1e", "1e999", strings.Repeat("9", 41), "1e99999999999999999999"} {
		if b, err := encodeNumber(text); err == nil {
			t.Errorf("%q is % x", text, b)
		}
	}
	for _, b := range [][]byte{{}, {0xc1}, {0xc1, 0x66}, {0xc1, 0}, slices.Repeat([]byte{0xc1}, 23)} {
		if text, err := decodeNumber(b); err == nil {
			t.Errorf("% x is %q", b, text)
		}
	}
}

func TestColumnTypes(t *testing.T) {
	for text, want := range map[string]dataType{
		"number":                           {code: typeNumber, size: numSize, scale: unscaled},
		"NUMBER(19)":                       {code: typeNumber, size: numSize, precision: 19},
		"NUMBER (10, -2)":                  {code: typeNumber, size: numSize, precision: 10, scale: -2},
		"varchar2(20  CHAR)":               {code: typeVarchar, size: 20},
		"CHAR(3)":                          {code: typeChar, size: 3},
		"RAW(16)":                          {code: typeRaw, size: 16},
		"DATE":                             {code: typeDate, size: dateSize},
		"TIMESTAMP":                        {code: typeTimestamp, size: stampSize, scale: 6},
		"TIMESTAMP(3) WITH TIME ZONE":      {code: typeTimestampTZ, size: zonedSize, scale: 3},
		"timestamp with local  time zone ": {code: typeTimestampLTZ, size: stampSize, scale: 6},
		"CLOB":                             {code: typeClob, size: 4000},
		"BLOB":                             {code: typeBlob, size: 4000},
	} {
		if got, err := parseType(text); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "VARCHAR2", "CHAR", "INTEGER", "NUMBER(", "RAW(99999999999999999999)", "XMLTYPE"} {
		if got, err := parseType(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
