package mssql_test

import (
	"errors"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/qgen-dev/qgen/test/conformance/gen/auditedms2014"
	"github.com/qgen-dev/qgen/test/conformance/gen/auditedms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/storedms2019"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

// This file runs packages whose statements are batches, because a trigger fires,
// and one whose statements are stored.

const (
	job1 = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	job2 = "00000000-0000-4000-8000-000000000002"
)

var (
	auditedColumns = tds.Columns("[] char(36)", "n bigint", "token binary(16)", "[] varchar(19)", "text nvarchar(max)", "price decimal(9,2)",
		"[] varchar(10)", "picture varbinary(max)", "[] varchar(23)", "flag bit", "ratio real")
	auditedKey = tds.Columns("[] char(36)")
)

// batch is the answer to a batch that says SET NOCOUNT ON and declares a table, and
// then changes rows; what is selected from the table comes behind.
func batch(r tds.Response) tds.Response { return r.NoCount().Done() }

// TestTypes reads columns of every kind, and NULL in each that can be.
func TestTypes(t *testing.T) {
	const pkg = "auditedms2019"
	server, db := start(t)
	q := auditedms2019.New(db)
	token := strings.Repeat("\x00\xfe", 8)
	server.Expect(batch(statement(check.Text(t, pkg, "claim"), number(3), param("varbinary(16)", tds.Any))).Rows(auditedColumns,
		tds.Row{job2, 2, []byte(token), "2026-01-02T03:04:00", "", nil, nil, nil, nil, nil, nil},
		tds.Row{job1, 1, []byte(token), "2026-01-02T03:04:00", "ünï\n☃", "-1234567.89", "2026-02-28", []byte{0, 1, 255}, "2026-01-02T03:04:05.997", true, 0.5},
	))
	jobs, err := q.Claim(t.Context(), 3)
	check.Err(t, err)
	if len(jobs) != 2 {
		t.Fatalf("claimed %+v", jobs)
	}
	full, empty := jobs[0], jobs[1]
	check.Time(t, full.LeaseTill, "2026-01-02T03:04:00Z")
	check.Time(t, *full.EndsOn, "2026-02-28T00:00:00Z")
	check.Time(t, *full.SeenAt, "2026-01-02T03:04:05.997Z")
	check.Equal(t, []any{full.ID, full.N, string(full.Token), full.Text, *full.Price, full.Picture, *full.Flag, *full.Ratio, full.Err},
		[]any{job1, int64(1), token, "ünï\n☃", "-1234567.89", []byte{0, 1, 255}, true, float32(0.5), error(nil)})
	check.Equal(t, []any{empty.Text, empty.Price, empty.EndsOn == nil, empty.Picture == nil, empty.SeenAt == nil, empty.Flag, empty.Ratio, empty.Err},
		[]any{"", (*string)(nil), true, true, true, (*bool)(nil), (*float32)(nil), error(nil)})

	held := varchar(`[["` + job1 + `","` + strings.Repeat("00fe", 8) + `"],["` + job2 + `","` + strings.Repeat("00fe", 8) + `"]]`)
	server.Expect(
		batch(statement(check.Text(t, pkg, "extend"), held)).
			Rows(tds.Columns("[] char(36)", "[] varchar(19)"), tds.Row{job2, "2027-01-02T03:04:00"}, tds.Row{job1, "2027-01-02T03:05:00"}),
		batch(statement(check.Text(t, pkg, "complete"), held)).Rows(auditedKey, tds.Row{job1}, tds.Row{job2}),
		batch(statement(check.Text(t, pkg, "recover"), number(2))).Rows(auditedKey, tds.Row{job1}, tds.Row{job2}),
		statement(check.Text(t, pkg, "purge_done"), number(2)).Rows(auditedKey, tds.Row{job1}),
		statement(check.Text(t, pkg, "purge_failed"), number(1)).Rows(auditedKey),
	)
	check.Err(t, q.Extend(t.Context(), &full, &empty))
	check.Time(t, full.LeaseTill, "2027-01-02T03:05:00Z")
	check.Time(t, empty.LeaseTill, "2027-01-02T03:04:00Z")
	check.Err(t, q.Complete(t.Context(), full, empty))
	if n, err := q.Recover(t.Context(), 2); n != 2 || err != nil {
		t.Errorf("recovered %d, %v", n, err)
	}
	if n, err := q.Purge(t.Context(), 2); n != 1 || err != nil { // the trigger's rows do not count
		t.Errorf("purged %d, %v", n, err)
	}
}

// TestNewTypes sends values of every kind, and NULL. A text that is NULL converts
// into anything but bytes (error 257).
func TestNewTypes(t *testing.T) {
	const pkg = "auditedms2019"
	server, db := start(t)
	q := auditedms2019.New(db)
	enqueue := check.Text(t, pkg, "enqueue")
	day, seen := check.At(t, "2026-02-28T23:00:00Z"), check.At(t, "2026-01-02T03:04:05.9976Z")
	server.Expect(
		batch(statement(enqueue, varchar(job1), number(1), varchar("a"), varchar("-1.50"), varchar("2026-02-28"), varbinary("\x00\xff"),
			varchar("2026-01-02T03:04:05.997"), param("bit", true), seconds(0.5))).Rows(auditedKey, tds.Row{job1}),
		batch(statement(enqueue, null, number(2), null, null, null, param("varbinary(max)", nil), null, null, null)).Rows(auditedKey, tds.Row{job2}),
	)
	key, err := q.Enqueue(t.Context(), auditedms2019.NewJob{ID: new(job1), N: 1, Text: new("a"), Price: new("-1.50"),
		EndsOn: &day, Picture: []byte("\x00\xff"), SeenAt: &seen, Flag: new(true), Ratio: new(float32(0.5))})
	check.Err(t, err)
	check.Equal(t, key, job1)
	key, err = q.Enqueue(t.Context(), auditedms2019.NewJob{N: 2})
	check.Err(t, err)
	check.Equal(t, key, job2)
}

// TestTriggeredList is a list in a batch.
func TestTriggeredList(t *testing.T) {
	const row = "(id = CONVERT(uniqueidentifier, @p0) AND token = @p0)"
	server, db := start(t)
	server.Expect(batch(statement(numbered(check.Text(t, "auditedms2014", "complete"), row, "\n       OR ", 2, 1),
		varchar(job1), varbinary("t1"), varchar(job2), varbinary("t2"))).Rows(auditedKey, tds.Row{job2}, tds.Row{job1}))
	check.Err(t, auditedms2014.New(db).Complete(t.Context(),
		auditedms2014.Job{ID: job1, Token: []byte("t1")}, auditedms2014.Job{ID: job2, Token: []byte("t2")}))
}

// TestErrorInABatch: the change fails, the batch goes on, and what it selects then
// are no jobs.
func TestErrorInABatch(t *testing.T) {
	const pkg = "auditedms2019"
	server, db := start(t)
	server.Expect(
		batch(statement(check.Text(t, pkg, "claim"), number(3), param("varbinary(16)", tds.Any))).Error(547, 1, 16, "conflicted with a constraint").Done().
			Rows(auditedColumns),
		batch(statement(check.Text(t, pkg, "claim"), number(3), param("varbinary(16)", tds.Any))).Error(1222, 1, 16, "Lock request time out").Done().
			Rows(auditedColumns),
		batch(statement(check.Text(t, pkg, "claim"), number(3), param("varbinary(16)", tds.Any))).Rows(auditedColumns),
	)
	q := auditedms2019.New(db)
	jobs, err := q.Claim(t.Context(), 3)
	var refused mssql.Error
	if !errors.As(err, &refused) || refused.Number != 547 || len(jobs) != 0 || auditedms2019.IsRetryable(err) {
		t.Errorf("%+v, %v", jobs, err)
	}
	jobs, err = q.Claim(t.Context(), 3) // is tried again
	if err != nil || len(jobs) != 0 {
		t.Errorf("%+v, %v", jobs, err)
	}
}

// TestStored calls procedures.
func TestStored(t *testing.T) {
	const pkg = "storedms2019"
	server, db := start(t)
	ctx := t.Context()
	q := storedms2019.New(db, storedms2019.WithWorker("w1"))
	sql := func(name string) string { return check.Text(t, pkg, name) }
	held := varchar(`[[7,1,"w1"]]`)
	server.Expect(
		statement(sql("claim"), number(3), varchar("w1")).Rows(singleColumns, singleRow(7)),
		statement(sql("extend"), held).Rows(tds.Columns("id bigint", "[] varchar(27)"), tds.Row{7, "2027-01-02T03:04:05"}),
		statement(sql("retry"), varchar("no"), held).Rows(bigKey, tds.Row{7}),
		statement(sql("complete"), held).Rows(bigKey),
		statement(sql("recover"), number(3)).NoCount().Rows(bigKey, tds.Row{1}),
		statement(sql("recover_failed"), number(2)).Rows(bigKey),
		statement(sql("purge_done"), number(3), seconds(60)).Rows(bigKey, tds.Row{1}, tds.Row{2}, tds.Row{3}),
		statement(sql("enqueue"), number(5)).Rows(bigKey, tds.Row{11}),
		tds.Query(sql("stats")).Rows(statsColumns, tds.Row{1, 2, 3, 4, 5, "0.0"}),
	)
	jobs, err := q.Claim(ctx, 3)
	check.Err(t, err)
	if len(jobs) != 1 || jobs[0].ID != 7 {
		t.Fatalf("claimed %+v", jobs)
	}
	check.Err(t, q.Extend(ctx, &jobs[0]))
	check.Time(t, jobs[0].LeaseTill, "2027-01-02T03:04:05Z")
	check.Err(t, q.Fail(ctx, jobs[0], errors.New("no")))
	if err := q.Complete(ctx, jobs...); !errors.Is(err, storedms2019.ErrLost) {
		t.Errorf("a lost job gives %v", err)
	}
	if n, err := q.Recover(ctx, 3); n != 1 || err != nil {
		t.Errorf("recovered %d, %v", n, err)
	}
	if n, err := q.Purge(ctx, 60e9, 3); n != 3 || err != nil {
		t.Errorf("purged %d, %v", n, err)
	}
	_, err = q.Enqueue(ctx, storedms2019.NewJob{N: 5})
	check.Err(t, err)
	stats, err := q.Stats(ctx)
	check.Err(t, err)
	check.Equal(t, []int64{stats.Ready, stats.Expired}, []int64{1, 5})

	for _, name := range []string{"verify_version", "verify_columns", "verify_procedures", "verify_settings", "verify_index"} {
		server.Expect(tds.Query(sql(name)).Rows(problem))
	}
	check.Err(t, q.Verify(ctx))
}
