package plan

// This file decides every identifier of an emitted package and reports names
// that would clash.

import (
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"
)

// initialisms are written in capitals in Go names.
var initialisms = map[string]bool{
	"acl": true, "api": true, "ascii": true, "cpu": true, "css": true, "dns": true, "eof": true,
	"guid": true, "html": true, "http": true, "https": true, "id": true, "ip": true, "json": true,
	"qps": true, "ram": true, "rpc": true, "sla": true, "smtp": true, "sql": true, "ssh": true,
	"tcp": true, "tls": true, "ttl": true, "udp": true, "ui": true, "uid": true, "uri": true,
	"url": true, "utf8": true, "uuid": true, "vm": true, "xml": true, "xsrf": true, "xss": true,
}

// words splits a column name at everything that is no letter or digit, and
// where a capital follows a small letter.
func words(name string) []string {
	var list []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, string(word))
			word = nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])):
			flush()
		case unicode.IsUpper(r) && i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return list
}

// exported returns the Go name of a column as a field: MsgID for msg_id. It is
// "" when the name holds no letter or digit at all.
func exported(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		lower := strings.ToLower(word)
		if initialisms[lower] {
			b.WriteString(strings.ToUpper(word))
			continue
		}
		if strings.ToUpper(name) == name {
			word = lower // MESSAGE_ID is Message and ID, not MESSAGE
		}
		r, size := utf8.DecodeRuneInString(word)
		b.WriteRune(unicode.ToUpper(r))
		b.WriteString(word[size:])
	}
	s := b.String()
	if r, _ := utf8.DecodeRuneInString(s); s != "" && !unicode.IsUpper(r) {
		s = "X" + s // a digit, or a script without capitals, exports nothing
	}
	return s
}

// exportedOf returns the Go name of a column with its table's name in front: CStatus for
// c.STATUS.
func exportedOf(table, column string) string {
	if column == strings.ToUpper(column) {
		table = strings.ToUpper(table) // so that the whole is read as a name in capitals
	}
	return exported(table + "_" + column)
}

// unexported returns the Go name of a column as a parameter: msgID for msg_id.
func unexported(name string) string {
	s := exported(name)
	list := words(name)
	if s == "" || len(list) == 0 {
		return s
	}
	if initialisms[strings.ToLower(list[0])] {
		first := strings.ToUpper(list[0])
		return strings.ToLower(first) + strings.TrimPrefix(s, first)
	}
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}

// methods are the names that Job has besides its fields.
var methods = map[string]bool{"Key": true, "Done": true, "Err": true, "LogValue": true}

// taken are the names that emitted functions use themselves, beside keywords
// and predeclared names: a parameter must be called something else.
var taken = map[string]bool{
	"ctx": true, "q": true, "db": true, "tx": true, "err": true, "job": true, "jobs": true,
	"done": true, "limit": true, "lease": true, "shard": true, "delay": true, "low": true,
	"token": true, "rows": true, "row": true, "keys": true, "key": true, "n": true, "i": true,
	"cause": true, "handler": true, "opts": true, "result": true, "olderThan": true, "news": true,
	"args": true, "query": true, "batch": true, "full": true, "want": true, "got": true, "h": true,
	"text": true, "found": true, "taken": true, "tried": true, "fetch": true, "round": true,
	"missing": true, "turn": true, "last": true, "more": true, "marked": true, "both": true,
	"exec": true, "collect": true, "column": true, "statement": true, "lost": true, "unknown": true,
	"pause": true, "backoff": true, "lowest": true, "t": true, "a": true, "b": true, "j": true,
	"d": true, "v": true, "k": true, "f": true, "r": true, "s": true, "at": true, "now": true,
	"retry": true, "transact": true, "settle": true, "beginner": true, "statements": true, "inDigits": true, "parseUnits": true, "inUnits": true, "wholeNumber": true,
	"compareNumber": true,
	// packages that emitted files import
	"context": true, "errors": true, "fmt": true, "time": true, "sql": true, "slog": true, "json": true,
	"slices": true, "cmp": true, "strings": true, "strconv": true, "sync": true, "rand": true,
	"math": true, "big": true, "pgx": true, "pgconn": true, "pgxpool": true, "driver": true, "hex": true,
	"io": true, "os": true, "net": true, "bytes": true, "binary": true, "embed": true, "maps": true, "runtime": true, "debug": true, "uuid": true,
}

// predeclared are Go's own names that a parameter should not hide.
var predeclared = map[string]bool{
	"any": true, "append": true, "bool": true, "byte": true, "cap": true, "clear": true, "close": true,
	"comparable": true, "complex": true, "copy": true, "delete": true, "error": true, "false": true,
	"float64": true, "int": true, "int64": true, "iota": true, "len": true, "make": true, "max": true,
	"min": true, "new": true, "nil": true, "panic": true, "print": true, "println": true, "real": true,
	"imag": true, "recover": true, "rune": true, "string": true, "true": true, "uint64": true,
}

// parameter returns a name for a parameter that hides nothing.
func parameter(name string) string {
	if token.IsKeyword(name) || taken[name] || predeclared[name] || name == "" {
		return name + "Value"
	}
	return name
}

// settling are the names that the operations over jobs use themselves, besides
// those that are taken everywhere.
var settling = map[string]bool{
	"failures": true, "left": true, "most": true, "held": true, "fresh": true, "given": true, "byKey": true, "gone": true,
	"within": true, "part": true, "claimErr": true, "next": true, "candidates": true, "moved": true, "op": true,
}

// argument returns the name of the parameter for an argument that the user names.
func argument(name string) string {
	name = parameter(unexported(name))
	if settling[name] {
		return name + "Value"
	}
	return name
}

// packageName turns a queue's name into a Go package name: emailq for email.
func packageName(queue string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(queue) {
		if r >= 'a' && r <= 'z' || b.Len() > 0 && r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return "queue"
	}
	if s := b.String(); strings.HasSuffix(s, "q") || strings.HasSuffix(s, "queue") {
		return s
	}
	return b.String() + "q"
}

// jsonName returns the JSON key of a column: the name itself where
// encoding/json takes it in a struct tag, else its words.
func jsonName(column string) string {
	odd := strings.ContainsFunc(column, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./;<=>?@[]^_{|}~", r)
	})
	if odd || column == "-" || column == "" {
		return snake(column)
	}
	return column
}

// snake returns ready_rows for ReadyRows.
func snake(name string) string {
	list := words(name)
	for i := range list {
		list[i] = strings.ToLower(list[i])
	}
	return strings.Join(list, "_")
}

// plainText makes a name safe for one line of a comment.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\ufeff' { // Go reads a byte order mark at the start of a file only
			return ' '
		}
		return r
	}, s)
}
