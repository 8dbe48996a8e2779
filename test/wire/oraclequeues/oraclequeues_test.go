// Package oraclequeues_test runs packages that are emitted for Oracle with the
// real driver against the scripted server of test/wire/oracle. What arrives there
// is compared with the .sql files: texts, types and values of binds, transactions.
// What Oracle would make of it is not told here.
package oraclequeues_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/sijms/go-ora/v2"

	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

// TestMain lets local time be something else than UTC everywhere.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("local", -3*3600)
	os.Exit(m.Run())
}

// start returns a server and a pool over it.
func start(t testing.TB) (*oracle.Server, *sql.DB) {
	t.Helper()
	server := oracle.Start(t)
	return server, check.Open(t, "oracle", server.DSN())
}

// texts returns what a package should send, by the name of a file of its sql
// folder. A list is written out for rows.
func texts(t testing.TB, pkg string) func(name string, list ...string) string {
	return textsOf(t, "conformance", pkg)
}

// textsOf is texts of a package that belongs to another test.
func textsOf(t testing.TB, test, pkg string) func(name string, list ...string) string {
	return func(name string, list ...string) string {
		t.Helper()
		text := check.TextOf(t, test, pkg, name)
		if len(list) == 2 {
			if !strings.Contains(text, list[0]) {
				t.Fatalf("%s.sql of %s has no list %q", name, pkg, list[0])
			}
			text = strings.Replace(text, list[0], list[1], 1)
		}
		return text
	}
}

// byID writes a list of keys for n rows.
func byID(n int) []string {
	slots := make([]string, n)
	for i := range slots {
		slots[i] = fmt.Sprintf("ID = :v%d", i+1)
	}
	return []string{"ID = :v0", strings.Join(slots, " OR ")}
}

// settled is the response to a block that changed so many rows of each job.
func settled(text string, args []any, bind string, counts ...int64) oracle.Response {
	return oracle.Exec(text, append(args, oracle.Output)...).Out(bind, counts)
}

// token holds the argument that a claim drew, so that rows can carry it.
type token struct{ value any }

// tokens answers a claim by a function, since its token is drawn: with a cursor
// over the rows that the token makes.
func (k *token) answer(t testing.TB, server *oracle.Server, text, bind, cursor string, columns []oracle.Column, rows func(token any) []oracle.Row) {
	server.Handle(func(r oracle.Request) oracle.Response {
		switch {
		case r.Kind != oracle.KindExec:
			return oracle.Answer()
		case r.Text != text:
			t.Errorf("got the text\n%s\nwant\n%s", r.Text, text)
			return oracle.Answer().Error(900, "invalid SQL statement")
		case r.Autocommit:
			t.Error("a block that opens a cursor commits by itself")
		}
		k.value = r.Bind(bind).Value
		return oracle.Answer().RefCursor(cursor, columns, rows(k.value)...)
	})
}

// random tells whether a token is as long as it should be and not empty.
func (k *token) random(t testing.TB, size int) {
	t.Helper()
	var length int
	switch v := k.value.(type) {
	case string:
		length = len(v)
	case []byte:
		length = len(v)
		if bytes.Equal(v, make([]byte, length)) {
			t.Error("the token is empty")
		}
	}
	if length != size {
		t.Errorf("the token %v (%T) has the length %d, want %d", k.value, k.value, length, size)
	}
}
