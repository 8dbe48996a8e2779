package plan

import (
	"testing"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/schema"
)

// What a check compares a column with is met by what the test of a package writes there.
func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		engine, check string
		most          int
		form          string // "" where none is known
		known         bool   // the check compares with a pattern
	}{
		{"postgresql", `code ~ '^[a-z]+$'`, 0, "aaaa", true},
		{"postgresql", `((code)::text ~ '^[a-z0-9]{40}$'::text)`, 0, "%040d", true},
		{"postgresql", `code ~ '^[A-Z]{2}-\d{3,5}$'`, 0, "AA-%04d", true},
		{"postgresql", `code ~* '^x[0-9][0-9][0-9]$'`, 0, "X%03d", true},
		{"postgresql", `(("code")::text ~~ 'job-%'::text)`, 0, "job-%04d", true},
		{"postgresql", `code !~ '\s'`, 0, "%d", true},
		{"postgresql", `code ~ '^[[:alpha:]_]\w*$' AND code <> ''`, 0, "a%04d", true},
		{"postgresql", `code ~ '^(north|south)$'`, 0, "north", true},
		{"postgresql", `code ~ '^[a-z0-9][0-9]$'`, 0, "a1", true},
		{"postgresql", `code ~ '^[0-9]+$'`, 3, "%03d", true},
		{"postgresql", `code ~ '^a' AND code ~ 'z$'`, 0, "", true},
		{"postgresql", `NOT (code ~ '^a')`, 0, "", true},
		{"postgresql", `code ~ '(?<!a)b'`, 0, "", true},
		{"postgresql", `VALUE ~ '^\d{5}$'`, 0, "%05d", true},
		{"postgresql", `length(code) > 3`, 0, "", false},
		{"mysql", `code regexp '^[a-z]{3}[0-9]{4}$'`, 0, "aaa%04d", true},
		{"mysql", `regexp_like(code, '^\\d+$')`, 0, "%04d", true},
		{"sqlite", `code GLOB '[A-Z][0-9][0-9][0-9][0-9]'`, 0, "A%04d", true},
		{"sqlite", `code NOT GLOB '*[^0-9]*'`, 0, "%d", true},
		{"sqlite", `code LIKE 'http%'`, 0, "http%04d", true},
		{"sqlite", `code LIKE '100\%%' ESCAPE '\'`, 0, "", true},
		{"mssql", `([code] like '[a-z][0-9][0-9][0-9]')`, 0, "a%03d", true},
		{"oracle", `REGEXP_LIKE(code, '^[A-F0-9]{32}$')`, 0, "%032d", true},
	} {
		d, ok := dialect.Lookup(tt.engine)
		if !ok {
			t.Fatal(tt.engine)
		}
		patterns, read := patternsOf(d, &schema.Column{Name: "code", Checks: []string{tt.check}})
		if known := len(patterns) > 0; known != tt.known {
			t.Errorf("%s: patterns %v", tt.check, patterns)
			continue
		}
		form := ""
		if read && tt.known {
			form, _ = formOf(patterns, tt.most)
		}
		if form != tt.form {
			t.Errorf("%s: %q, not %q", tt.check, form, tt.form)
		}
	}
}
