// Package check is what the tests that run against scripted servers share.
package check

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Open returns a pool that is closed when the test ends.
func Open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	Err(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Text is what an emitted package should send: a file of its sql folder less the
// head comment.
func Text(t testing.TB, pkg, name string) string {
	t.Helper()
	return TextOf(t, "conformance", pkg, name)
}

// TextOf is Text of a package that belongs to another test.
func TextOf(t testing.TB, test, pkg, name string) string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", test, "gen", pkg, "sql", name+".sql"))
	Err(t, err)
	lines := strings.Split(string(file), "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "--") {
		lines = lines[1:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Err ends the test when there is an error.
func Err(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal fails the test when the values differ.
func Equal(t testing.TB, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// At returns the time that a text of [time.RFC3339Nano] tells.
func At(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339Nano, text)
	Err(t, err)
	return v
}

// Time fails the test when the times differ, whatever their zones.
func Time(t testing.TB, got time.Time, want string) {
	t.Helper()
	if !got.Equal(At(t, want)) {
		t.Errorf("got the time %v, want %s", got, want)
	}
}

// Count returns a function that fails the test for an error or another number of
// rows.
func Count(t testing.TB, want int) func(int, error) {
	return func(n int, err error) {
		t.Helper()
		if n != want || err != nil {
			t.Errorf("%d rows, %v; want %d", n, err, want)
		}
	}
}

// recorder is a test whose failures are looked at.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

// Failures runs a test, with its cleanups, and returns what it failed with.
func Failures(t testing.TB, test func(testing.TB)) []string {
	r := &recorder{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		test(r)
	}()
	<-ended
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
	return r.failures
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
