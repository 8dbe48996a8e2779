package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/generate"
	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/source"
)

// golden compares got with a file of testdata, or writes the file when
// UPDATE_GOLDEN is set.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (UPDATE_GOLDEN=1 rewrites it)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestPanicAsksForReport(t *testing.T) {
	var stderr bytes.Buffer
	if code := guard(&stderr, func() int { panic("index out of range") }); code != exitBug {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"qgen: bug: index out of range\n", "https://github.com/qgen-dev/qgen/issues", "run_test.go"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr has no %q:\n%s", want, stderr.String())
		}
	}
}

func TestInterruptWritesNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"qgen.yaml":  "version: \"1\"\nqueues:\n  - {schema: schema.sql, engine: sqlite, gen: {go: {out: jobs}}}\n",
		"schema.sql": "-- qgen:queue\nCREATE TABLE jobs (\n    id INTEGER PRIMARY KEY,\n    state TEXT NOT NULL -- qgen:status ready=new running=busy done=done failed=dead\n);\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, nil, &stdout, &stderr); code != exitInput {
		t.Errorf("exit code %d", code)
	}
	if got, want := stderr.String(), "qgen: interrupted; nothing was written\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := os.Stat("jobs"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if code := run(t.Context(), nil, &stdout, &stderr); code != 0 {
		t.Errorf("without an interrupt the exit code is %d:\n%s", code, stderr.String())
	}
}

func TestWrongOutputAsksForReport(t *testing.T) {
	var stderr bytes.Buffer
	err := &generate.BugError{Path: "emailq/claim.go", Err: errors.New("1:1: expected 'package'")}
	if code := code(err, &stderr); code != exitBug {
		t.Errorf("exit code %d", code)
	}
	want := `qgen: bug: emailq/claim.go: 1:1: expected 'package'
This is a fault of qgen and not of your input; nothing was written. Please report it, with this
text and the table's DDL, at https://github.com/qgen-dev/qgen/issues
`
	if stderr.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", stderr.String(), want)
	}
}

// twoComplaints has what the formats must carry: a place with signs that mean
// something to GitHub and in URIs, a character that is not ASCII before it,
// several lines, and a complaint without a place.
func twoComplaints() []diagnostic {
	f := source.NewFile("db/100%, é.sql", []byte("ä state char(1)\nsecond\n"))
	var errs source.ErrorList
	errs.Errorf(f.Pos(3, 5), "100%% wrong: %q", "state").WithHint("Write it\nin two lines, <so>.")
	errs.Errorf(source.Pos{}, "a-b has no place")
	return complaints(&errs, "..")
}

func TestFormats(t *testing.T) {
	for _, f := range formats {
		var stdout, stderr bytes.Buffer
		s := &session{stdout: &stdout, stderr: &stderr, format: format(f)}
		if err := s.print(twoComplaints()); err != nil {
			t.Fatal(err)
		}
		quiet, spoken := &stderr, &stdout
		if f == "text" {
			quiet, spoken = &stdout, &stderr
		}
		if quiet.Len() > 0 {
			t.Errorf("%s goes to the wrong place: %s", f, quiet)
		}
		golden(t, "formats/"+f+".txt", spoken.String())

		spoken.Reset()
		if err := s.print(nil); err != nil {
			t.Fatal(err)
		}
		switch f {
		case "text", "github":
			if spoken.Len() > 0 {
				t.Errorf("%s says something about nothing: %s", f, spoken)
			}
		default:
			if !json.Valid(spoken.Bytes()) || strings.Contains(spoken.String(), "null") {
				t.Errorf("%s of nothing: %s", f, spoken)
			}
		}
	}
}

func TestPaint(t *testing.T) {
	got := paint("a.sql:1:1: wrong\n    x y\n    ^\n  Write ^ so.\n")
	want := "\x1b[1ma.sql:1:1: wrong\x1b[0m\n    x y\n\x1b[31m    ^\x1b[0m\n  Write ^ so.\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Colours are for terminals; a file or a pipe is none.
func TestNoColourOutsideTerminals(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if coloured(f) || coloured(&bytes.Buffer{}) {
		t.Error("colours for what is no terminal")
	}
}

func TestExplain(t *testing.T) {
	var b bytes.Buffer
	explain(&b, &plan.Package{
		Name: "emailq", Out: "internal/emailq", Queue: "email", Table: "public.email_outbox", Source: "db/schema.sql",
		Engine: "PostgreSQL 14", Driver: plan.PGX, Guarantee: queue.FenceAttempt,
		Locks: "The rows that the claim returns, until it commits.",
		Crash: "A dead worker's rows stay running until their lease ends; Recover makes them ready again, or fails them when no attempts are left.",
		Columns: []plan.ColumnUse{
			{Column: "msg_id", Type: "bigserial", Roles: "id", Go: "MsgID int64"},
			{Column: "größe\tmit tab", Type: "text", Roles: "", Go: ""},
		},
		States: []plan.StateUse{
			{State: "ready", Test: "state = 'N' and (not_before is null or not_before <= now()) and tries < 5 and (expires is null or expires > now())"},
			{State: "running", Test: "state = 'A'"},
		},
		Moves: []plan.MoveUse{
			{Transition: "enqueue", To: "ready", Writes: "state = 'N'"},
			{Transition: "claim", From: "ready", To: "running", Writes: "state = 'A', tries = tries + 1"},
			{Transition: "purge", From: "done", Writes: ""},
		},
		Reasons: []plan.Reason{
			{Strategy: "hold", Why: "a status column says running"},
			{Strategy: "returning", Chosen: true, Why: "the server skips locked rows and UPDATE returns them"},
		},
		Indexes: []plan.Index{
			{Name: "a", Why: "serves Claim", DDL: "CREATE INDEX CONCURRENTLY a\nON email_outbox (msg_id);\n"},
			{Name: "b", Why: "serves Recover", Have: "email_outbox_lease"},
		},
		Notes: []string{"the id was found by itself"},
	})
	golden(t, "explain.txt", b.String())
}
