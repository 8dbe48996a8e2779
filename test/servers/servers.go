// Package servers tells tests which live databases they may use. The script
// "with" beside it starts them; a test whose server is absent is skipped, unless
// QGEN_TEST_REQUIRE lists the server, then it fails: a machine that is meant to
// prove everything cannot pass by proving nothing.
package servers

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// names are the servers that "with" knows, by kind, oldest version first.
var names = []string{
	"postgres10", "postgres13", "postgres15", "postgres18",
	"mysql56", "mysql97", "mariadb105", "mariadb1011", "mariadb118",
	"galera", "groupreplication",
}

// parsers are what "with" fetches and does not run: grammars of servers that it
// cannot start.
var parsers = []string{"plsql"}

// unseen are servers that "with" cannot start; somebody else has to, and to set
// their variables.
var unseen = []string{"cockroach", "yugabyte", "tidb", "sqlserver", "oracle"}

// Startable reports whether the script "with" can start the server of that name.
func Startable(name string) bool { return slices.Contains(names, name) }

// Names returns the servers of which a DSN is set or which QGEN_TEST_REQUIRE
// lists, by kind, oldest version first.
func Names() []string {
	var present []string
	for _, name := range slices.Concat(names, unseen) {
		if os.Getenv(variable(name)) != "" || required(name) {
			present = append(present, name)
		}
	}
	return present
}

// DSN returns the DSN of the server of that name, such as "mysql97", from
// QGEN_TEST_<NAME>; of a cluster, that of its first node. It skips t when there is
// none, and fails it when QGEN_TEST_REQUIRE lists the server. The DSN of a server
// of the MySQL family is one of github.com/go-sql-driver/mysql for the database
// "qgen", with parseTime and without multiStatements; its user may do everything.
func DSN(t testing.TB, name string) string {
	t.Helper()
	return Nodes(t, name)[0]
}

// Nodes returns the DSNs of all nodes of the cluster of that name, "galera" or
// "groupreplication"; of a single server, its only one. It skips and fails as
// [DSN] does.
func Nodes(t testing.TB, name string) []string {
	t.Helper()
	if !slices.Contains(names, name) && !slices.Contains(unseen, name) {
		t.Fatalf("no server has the name %q", name)
	}
	return list(value(t, name))
}

// Parser returns the folder that holds the parser of that name, "plsql", from
// QGEN_TEST_<NAME>. It skips and fails as [DSN] does.
func Parser(t testing.TB, name string) string {
	t.Helper()
	if !slices.Contains(parsers, name) {
		t.Fatalf("no parser has the name %q", name)
	}
	return value(t, name)
}

// value returns what "with" tells of a server or a parser.
func value(t testing.TB, name string) string {
	t.Helper()
	v := os.Getenv(variable(name))
	if v == "" {
		if required(name) {
			t.Fatalf("%s is required, but %s is not set; run the tests with test/servers/with", name, variable(name))
		}
		t.Skipf("%s is not set; test/servers/with sets it", variable(name))
	}
	return v
}

// Postgres returns the DSN of the PostgreSQL server of that major version, as
// [DSN] does.
func Postgres(t testing.TB, version string) string {
	t.Helper()
	return DSN(t, "postgres"+version)
}

// PostgresVersions returns the major versions of the PostgreSQL servers among
// [Names], oldest first.
func PostgresVersions() []string {
	var versions []string
	for _, name := range Names() {
		if version, ok := strings.CutPrefix(name, "postgres"); ok {
			versions = append(versions, version)
		}
	}
	return versions
}

func variable(name string) string { return "QGEN_TEST_" + strings.ToUpper(name) }

func required(name string) bool {
	return slices.Contains(list(os.Getenv("QGEN_TEST_REQUIRE")), name)
}

// list splits a value at commas and spaces. No DSN of the tests holds either.
func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}
