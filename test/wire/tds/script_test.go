package tds_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

// wantFailures compares the failures, of which each has to contain its text.
func wantFailures(t testing.TB, got []string, want ...string) {
	t.Helper()
	all := strings.Join(got, "\n---\n")
	if len(got) != len(want) {
		t.Errorf("%d failures, want %d:\n%s", len(got), len(want), all)
		return
	}
	for i, text := range want {
		if !strings.Contains(got[i], text) {
			t.Errorf("the failure is\n%s\nand should tell\n%s", got[i], text)
		}
	}
}

// TestComplaints are the failures of tests whose requests are not those that they expect.
func TestComplaints(t *testing.T) {
	tests := []struct {
		name   string
		expect []tds.Response
		run    func(context.Context, *sql.DB)
		want   []string
	}{
		{
			name: "nothing is expected",
			run:  func(ctx context.Context, db *sql.DB) { _, _ = db.ExecContext(ctx, "SELECT @p1", "a") },
			want: []string{"tds: nothing is expected, and this comes (connection 1):\n\tSELECT @p1\n\t@p1 nvarchar(1) = \"a\""},
		},
		{
			name:   "another text",
			expect: []tds.Response{tds.Query("SELECT a\nFROM t")},
			run:    func(ctx context.Context, db *sql.DB) { _, _ = db.ExecContext(ctx, "SELECT b\nFROM t") },
			want: []string{"tds: request 1 of 1 is not the one that is expected (connection 1):\n" +
				"--- want\n+++ got\n@@ -1,2 +1,2 @@\n-SELECT a\n+SELECT b\n FROM t\n"},
		},
		{
			name:   "another value and another type",
			expect: []tds.Response{tds.Query("SELECT @p1, @p2, @p3", 1, tds.Param{Type: "varchar(1)", Value: "a"}, tds.Any)},
			run: func(ctx context.Context, db *sql.DB) {
				_, _ = db.ExecContext(ctx, "SELECT @p1, @p2, @p3", 2, "a", nil)
			},
			want: []string{"argument: want @p1 bigint = 1 (int64)\n           got @p1 bigint = 2 (int64)\n" +
				"argument: want @p2 varchar(1) = \"a\"\n           got @p2 nvarchar(1) = \"a\"\n" +
				"in:\n\tSELECT @p1, @p2, @p3\n\t@p1 bigint = 2 (int64)\n\t@p2 nvarchar(1) = \"a\"\n\t@p3 nvarchar(1) = NULL"},
		},
		{
			name:   "values that do not fit the type",
			expect: []tds.Response{tds.Query("SELECT @p1, @p2, @p3", "1", []byte{1}, exact)},
			run: func(ctx context.Context, db *sql.DB) {
				_, _ = db.ExecContext(ctx, "SELECT @p1, @p2, @p3", 1, nil, exact.Add(time.Second))
			},
			want: []string{"want @p1 bigint = \"1\"\n           got @p1 bigint = 1 (int64)\n" +
				"argument: want @p2 nvarchar(1) = 0x01\n           got @p2 nvarchar(1) = NULL\n" +
				"argument: want @p3 datetimeoffset(7) = 2024-02-29T23:59:58.1234567Z\n           got @p3 datetimeoffset(7) = 2024-02-29T23:59:59.1234567Z"},
		},
		{
			name:   "another uniqueidentifier",
			expect: []tds.Response{tds.Query("SELECT @p1", tds.GUID{15: 1})},
			run:    func(ctx context.Context, db *sql.DB) { _, _ = db.ExecContext(ctx, "SELECT @p1", uuid) },
			want: []string{"want @p1 uniqueidentifier = 00000000-0000-0000-0000-000000000001 (tds.GUID)\n" +
				"           got @p1 uniqueidentifier = 6F9619FF-8B86-D011-B42D-00C04FC964FF (tds.GUID)"},
		},
		{
			name:   "fewer arguments",
			expect: []tds.Response{tds.Query("SELECT @p1", 1, 2)},
			run:    func(ctx context.Context, db *sql.DB) { _, _ = db.ExecContext(ctx, "SELECT @p1", 1) },
			want:   []string{"2 arguments are expected, 1 come"},
		},
		{
			name:   "another isolation",
			expect: []tds.Response{tds.Begin(tds.ReadCommitted)},
			run:    func(ctx context.Context, db *sql.DB) { _, _ = db.BeginTx(ctx, nil) },
			want:   []string{"isolation: want READ COMMITTED, got the session's level"},
		},
		{
			name:   "another kind, and only the first complaint is told",
			expect: []tds.Response{tds.Begin(tds.Snapshot), tds.Query("SELECT 1"), tds.Commit()},
			run: func(ctx context.Context, db *sql.DB) {
				_, _ = db.ExecContext(ctx, "SELECT @p1", 1)
				_, _ = db.ExecContext(ctx, "SELECT 3")
			},
			want: []string{"want:\n\ta BEGIN at SNAPSHOT\ngot:\n\tSELECT @p1\n\t@p1 bigint = 1 (int64)"},
		},
		{
			name:   "outside of the transaction",
			expect: []tds.Response{tds.Begin(tds.SessionIsolation), tds.Query("SELECT 1"), tds.Rollback()},
			run: func(ctx context.Context, db *sql.DB) {
				tx, err := db.BeginTx(ctx, nil)
				if err == nil {
					_, _ = db.ExecContext(ctx, "SELECT 1")
					_ = tx.Rollback()
				}
			},
			want: []string{"it is expected in a transaction and comes outside"},
		},
		{
			name:   "inside of the transaction",
			expect: []tds.Response{tds.Begin(tds.SessionIsolation), tds.Query("SELECT 1").Elsewhere()},
			run: func(ctx context.Context, db *sql.DB) {
				tx, err := db.BeginTx(ctx, nil)
				if err == nil {
					_, _ = tx.ExecContext(ctx, "SELECT 1")
					_ = tx.Rollback()
				}
			},
			want: []string{"it is expected outside of a transaction and comes in one"},
		},
		{
			name:   "what does not come",
			expect: []tds.Response{tds.Query("SELECT 1"), tds.Query("SELECT @p1,\n@p2", uuid, tds.Any), tds.Query("x", tds.Param{Name: "@q", Type: "int", Value: 1}), tds.Commit()},
			run:    func(ctx context.Context, db *sql.DB) { _, _ = db.ExecContext(ctx, "SELECT 1") },
			want: []string{"tds: 3 of 4 requests did not come:\n\tSELECT @p1,\n\t@p2\n\t" +
				"argument 1 = 6F9619FF-8B86-D011-B42D-00C04FC964FF (mssql.UniqueIdentifier)\n\targument 2 = anything\n\tx\n\t@q int = 1 (int)\n\ta COMMIT"},
		},
		{
			name:   "no request",
			expect: []tds.Response{tds.Answer().Elsewhere()},
			run:    func(context.Context, *sql.DB) {},
			want:   []string{"a response without a request cannot be expected"},
		},
		{
			name: "a procedure",
			run:  func(ctx context.Context, db *sql.DB) { _, _ = db.ExecContext(ctx, "sp_who") },
			want: []string{`tds: connection 1: procedure "sp_who" is called; this server knows sp_executesql only`},
		},
		{
			name: "an output parameter",
			run: func(ctx context.Context, db *sql.DB) {
				_, _ = db.ExecContext(ctx, "SET @p1 = 1", sql.Out{Dest: new(int64)})
			},
			want: []string{`tds: connection 1: parameter "@p1": the flags are 0x1`},
		},
		{
			// The driver writes the length 0 of NULL and 16 bytes all the same.
			name: "NULL as mssql.NullUniqueIdentifier",
			run: func(ctx context.Context, db *sql.DB) {
				_, _ = db.ExecContext(ctx, "SELECT @p1", mssql.NullUniqueIdentifier{})
			},
			want: []string{`tds: connection 1: parameter "": type 0x0 is not known to this server`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			failures := check.Failures(t, func(r testing.TB) {
				s := tds.Start(r)
				s.Expect(test.expect...)
				test.run(t.Context(), open(t, s, ""))
			})
			wantFailures(t, failures, test.want...)
		})
	}
}

func TestWrongResponseOfAFunction(t *testing.T) {
	failures := check.Failures(t, func(r testing.TB) {
		s := tds.Start(r)
		s.Handle(func(tds.Request) tds.Response { return tds.Answer().Rows(tds.Columns("a xml")) })
		_, err := open(t, s, "").Exec("SELECT 1;")
		var refused mssql.Error
		if !errors.As(err, &refused) || refused.Number != 50000 {
			t.Errorf("the client gets %v", err)
		}
	})
	wantFailures(t, failures, `the response of a function: column "a": "xml" is no type that this server knows`)
}

// TestScriptThenFunction lets the first requests be those of a script.
func TestScriptThenFunction(t *testing.T) {
	s := tds.Start(t)
	s.Expect(tds.Query("SELECT 1").Error(1222, 1, 16, "Lock request time out period exceeded."))
	s.Handle(func(r tds.Request) tds.Response { return tds.Answer().Affected(int64(len(r.Text))) })
	db := open(t, s, "")
	if _, err := db.Exec("SELECT 1"); err == nil {
		t.Error("the script is not asked first")
	}
	wantAffected(t, db, 9, "SELECT 12")
}

func TestColumnNames(t *testing.T) {
	got := tds.Columns("id bigint", " [a ]] b] decimal(3, 1)", "[] int", "x")
	want := []tds.Column{{"id", "bigint"}, {"a ] b", "decimal(3, 1)"}, {"", "int"}, {"x", ""}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("column %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

// TestResponsesStayAsTheyAre builds two answers on one beginning.
func TestResponsesStayAsTheyAre(t *testing.T) {
	s := tds.Start(t)
	common := tds.Query("SELECT 1").Affected(1)
	s.Expect(common.Affected(2), common.Affected(10), common)
	db := open(t, s, "")
	wantAffected(t, db, 3, "SELECT 1")
	wantAffected(t, db, 11, "SELECT 1")
	wantAffected(t, db, 1, "SELECT 1")
}
