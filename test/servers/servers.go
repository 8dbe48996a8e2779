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

// Postgres returns the DSN of the PostgreSQL server of that major version, from
// QGEN_TEST_POSTGRES<version>. It skips t when there is none, and fails it when
// QGEN_TEST_REQUIRE lists "postgres<version>".
func Postgres(t testing.TB, version string) string {
	t.Helper()
	name := "QGEN_TEST_POSTGRES" + version
	dsn := os.Getenv(name)
	if dsn == "" {
		if required("postgres" + version) {
			t.Fatalf("PostgreSQL %s is required, but %s is not set; run the tests with test/servers/with", version, name)
		}
		t.Skipf("%s is not set; test/servers/with starts a server", name)
	}
	return dsn
}

// PostgresVersions returns the major versions for which a DSN is set or which
// QGEN_TEST_REQUIRE lists, oldest first.
func PostgresVersions() []string {
	var versions []string
	for _, v := range []string{"10", "13", "15", "18"} {
		if os.Getenv("QGEN_TEST_POSTGRES"+v) != "" || required("postgres"+v) {
			versions = append(versions, v)
		}
	}
	return versions
}

func required(server string) bool {
	return slices.Contains(strings.FieldsFunc(os.Getenv("QGEN_TEST_REQUIRE"), func(r rune) bool {
		return r == ',' || r == ' '
	}), server)
}
