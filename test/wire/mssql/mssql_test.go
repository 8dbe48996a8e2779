// Package mssql_test runs packages that are emitted for SQL Server with the real
// driver against the scripted server of test/wire/tds. What arrives there is
// compared with the .sql files: texts, names, types and values of parameters,
// transactions. What SQL Server would make of it is not told here.
package mssql_test

import (
	"database/sql"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/microsoft/go-mssqldb"

	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

// TestMain lets local time be something else than UTC everywhere.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("local", -3*3600)
	os.Exit(m.Run())
}

// start returns a server and a pool over it.
func start(t testing.TB) (*tds.Server, *sql.DB) {
	t.Helper()
	server := tds.Start(t)
	return server, check.Open(t, "sqlserver", server.DSN())
}

// param is a parameter of a type; its name is that of its place.
func param(kind string, value any) tds.Param { return tds.Param{Type: kind, Value: value} }

func number(n int) tds.Param       { return param("bigint", n) }
func small(n int) tds.Param        { return param("int", n) }
func seconds(s float64) tds.Param  { return param("float", s) }
func varchar(s string) tds.Param   { return param("nvarchar("+strconv.Itoa(max(1, len(s)))+")", s) }
func long(s string) tds.Param      { return param("nvarchar(max)", s) }
func varbinary(b string) tds.Param { return param("varbinary("+strconv.Itoa(len(b))+")", []byte(b)) }

// null is NULL of the type that converts into every other but bytes.
var null = param("nvarchar(1)", nil)

// statement expects a statement with its parameters, @p1, @p2 and so on.
func statement(text string, params ...tds.Param) tds.Response {
	args := make([]any, len(params))
	for i, p := range params {
		p.Name = "@p" + strconv.Itoa(i+1)
		args[i] = p
	}
	return tds.Query(text, args...)
}

var slots = regexp.MustCompile(`@p0`)

// numbered writes n rows for the one that a list shows, each joined to the one
// before, and numbers the placeholders from first on.
func numbered(text, row, join string, n, first int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = row
	}
	text = strings.Replace(text, row, strings.Join(rows, join), 1)
	next := first - 1
	return slots.ReplaceAllStringFunc(text, func(string) string {
		next++
		return "@p" + strconv.Itoa(next)
	})
}
