package mssql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/conformance/gen/binaryms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositems2008"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/duems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdms2008"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/lockms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/popms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlems2014"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicms2019"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulerguardedms"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulerms"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

const (
	leaseText    = "2026-01-02T03:04:05.123"
	enqueuedText = "2026-01-02T08:34:05.1234567+05:30"
	token1       = "0f0e0d0c-0b0a-0908-0706-050403020100"
)

// singleColumns are those that the claim of the case "single" returns.
var singleColumns = tds.Columns("id bigint", "n bigint", "tries int", "[] varchar(27)", "worker varchar(64)", "last_error nvarchar(400)", "[] varchar(33)")

func singleRow(id int64) tds.Row {
	return tds.Row{id, 10 * id, 1, leaseText, "w1", nil, enqueuedText}
}

var (
	bigKey  = tds.Columns("id bigint")
	problem = tds.Columns("[] nvarchar(400)")
)

// single is a package and its server.
type single struct {
	*testing.T
	*tds.Server
	q *singlems2019.Queue
}

func newSingle(t *testing.T) *single {
	server, db := start(t)
	return &single{t, server, singlems2019.New(db, singlems2019.WithWorker("w1"))}
}

func (s *single) sql(name string) string { return check.Text(s, "singlems2019", name) }

// TestClaim reads rows and brings them into the order of the queue.
func TestClaim(t *testing.T) {
	s := newSingle(t)
	s.Expect(statement(s.sql("claim"), number(3), varchar("w1")).
		Rows(singleColumns, tds.Row{9, 90, 2, "2026-01-02T03:04:05", "w1", "größer ☃", "2026-01-02T03:04:05+00:00"}, singleRow(7)))
	jobs, err := s.q.Claim(t.Context(), 3)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].ID != 7 || jobs[1].ID != 9 {
		t.Fatalf("claimed %+v, want 7 and 9, in the order of the queue", jobs)
	}
	first, second := jobs[0], jobs[1]
	check.Equal(t, []any{first.N, first.Tries, first.Worker, first.LastError, first.Err}, []any{int64(70), int32(1), "w1", (*string)(nil), error(nil)})
	check.Time(t, first.LeaseTill, "2026-01-02T03:04:05.123Z")
	check.Time(t, first.EnqueuedAt, "2026-01-02T03:04:05.1234567Z")
	check.Equal(t, *second.LastError, "größer ☃")
	check.Time(t, second.LeaseTill, "2026-01-02T03:04:05Z")
	check.Time(t, second.EnqueuedAt, "2026-01-02T03:04:05Z")

	s.Expect(statement(s.sql("claim"), number(1000), varchar("w1")).Rows(singleColumns))
	jobs, err = s.q.Claim(t.Context(), 1_000_000) // no more at a time, see lock escalation
	if len(jobs) != 0 || err != nil {
		t.Errorf("%+v, %v", jobs, err)
	}
}

// TestSettle sends what the claim left in a job, as JSON.
func TestSettle(t *testing.T) {
	s, ctx := newSingle(t), t.Context()
	jobs := []singlems2019.Job{{ID: 7, Tries: 1, Worker: "w1"}, {ID: 9, Tries: 2, Worker: "w1"}}
	held := varchar(`[[7,1,"w1"],[9,2,"w1"]]`)
	s.Expect(
		statement(s.sql("complete"), held).Rows(bigKey, tds.Row{9}, tds.Row{7}),
		statement(s.sql("complete"), held).Rows(bigKey, tds.Row{7}),
		statement(s.sql("requeue"), held).Rows(bigKey, tds.Row{7}, tds.Row{9}),
	)
	check.Err(t, s.q.Complete(ctx, jobs...))
	var lost *singlems2019.LostError
	if err := s.q.Complete(ctx, jobs...); !errors.Is(err, singlems2019.ErrLost) || !errors.As(err, &lost) {
		t.Errorf("a lost job gives %v", err)
	} else {
		check.Equal(t, lost.Keys, []singlems2019.Key{9})
	}
	check.Err(t, s.q.Requeue(ctx, jobs...))

	cause := strings.Repeat("é", 300) // max=200 counts characters, of two bytes each
	last := singlems2019.Job{ID: 7, Tries: 3, Worker: "w1"}
	s.Expect(
		statement(s.sql("retry"), param("nvarchar(200)", cause[:400]), varchar(`[[7,1,"w1"]]`)).Rows(bigKey, tds.Row{7}),
		statement(s.sql("fail"), varchar("no"), varchar(`[[7,3,"w1"]]`)).Rows(bigKey, tds.Row{7}),
	)
	check.Err(t, s.q.Fail(ctx, jobs[0], errors.New(cause)))
	check.Err(t, s.q.Fail(ctx, last, errors.New("no")))

	s.Expect(statement(s.sql("extend"), held).
		Rows(tds.Columns("id bigint", "[] varchar(27)"), tds.Row{9, "2027-01-02T03:04:05.5"}, tds.Row{7, "2027-01-02T03:04:06"}))
	check.Err(t, s.q.Extend(ctx, &jobs[0], &jobs[1]))
	check.Time(t, jobs[0].LeaseTill, "2027-01-02T03:04:06Z")
	check.Time(t, jobs[1].LeaseTill, "2027-01-02T03:04:05.5Z")
}

// TestSweeps: rows are counted that come back, since their number is not told
// under SET NOCOUNT ON.
func TestSweeps(t *testing.T) {
	s, ctx := newSingle(t), t.Context()
	s.Expect(
		statement(s.sql("recover"), number(5)).NoCount().Rows(bigKey, tds.Row{1}, tds.Row{2}),
		statement(s.sql("recover_failed"), number(3)).NoCount().Rows(bigKey, tds.Row{3}),
		statement(s.sql("redrive"), number(1000)).NoCount().Rows(bigKey, tds.Row{4}),
		statement(s.sql("purge_done"), number(6), seconds(1.5)).NoCount().Rows(bigKey, tds.Row{5}),
		statement(s.sql("purge_failed"), number(5), seconds(1.5)).NoCount().Rows(bigKey),
	)
	check.Count(t, 3)(s.q.Recover(ctx, 5))
	check.Count(t, 1)(s.q.Redrive(ctx, 1_000_000))
	check.Count(t, 1)(s.q.Purge(ctx, 1500*time.Millisecond, 6))
}

// TestEnqueue: keys come back, of many jobs in their order.
func TestEnqueue(t *testing.T) {
	s, ctx := newSingle(t), t.Context()
	s.Expect(
		statement(s.sql("enqueue"), number(5)).Rows(bigKey, tds.Row{11}),
		tds.Begin(tds.ReadCommitted),
		statement(s.sql("enqueue_many"), varchar("[[6],[7]]")).NoCount().Done().Affected(2).Rows(bigKey, tds.Row{12}, tds.Row{13}),
		tds.Commit(),
	)
	key, err := s.q.Enqueue(ctx, singlems2019.NewJob{N: 5})
	check.Err(t, err)
	keys, err := s.q.EnqueueMany(ctx, []singlems2019.NewJob{{N: 6}, {N: 7}})
	check.Err(t, err)
	check.Equal(t, append(keys, key), []singlems2019.Key{12, 13, 11})

	var chunk []string
	var news []singlems2019.NewJob
	var rows []tds.Row
	for n := range int64(1001) {
		news = append(news, singlems2019.NewJob{N: n})
		chunk = append(chunk, fmt.Sprintf("[%d]", n))
		rows = append(rows, tds.Row{100 + n})
	}
	s.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(s.sql("enqueue_many"), long("["+strings.Join(chunk[:1000], ",")+"]")).Rows(bigKey, rows[:1000]...),
		statement(s.sql("enqueue_many"), varchar("[[1000]]")).Rows(bigKey, rows[1000]),
		tds.Commit(),
	)
	keys, err = s.q.EnqueueMany(ctx, news)
	check.Err(t, err)
	if len(keys) != 1001 || keys[1000] != 1100 {
		t.Errorf("%d keys, the last is %d", len(keys), keys[len(keys)-1])
	}
}

var statsColumns = tds.Columns("ready int", "running int", "done int", "failed int", "expired int", "oldest_ready numeric(12,1)")

// TestStatsAndPeek read without arguments, or with a limit.
func TestStatsAndPeek(t *testing.T) {
	s, ctx := newSingle(t), t.Context()
	s.Expect(
		tds.Query(s.sql("stats")).Rows(statsColumns, tds.Row{1, 2, 3, 4, 5, "90.0"}),
		tds.Query(s.sql("stats")).Rows(statsColumns, tds.Row{0, 0, 0, 0, 0, nil}),
		tds.Query(s.sql("backlog")).Rows(tds.Columns("ready int", "oldest_ready numeric(12,1)"), tds.Row{1, "90.0"}),
		statement(s.sql("peek"), number(2)).Rows(tds.Columns("id bigint", "n bigint", "tries int", "last_error nvarchar(400)", "[] varchar(33)"),
			tds.Row{3, 4, 0, nil, enqueuedText}),
	)
	stats, err := s.q.Stats(ctx)
	check.Err(t, err)
	check.Equal(t, stats, singlems2019.Stats{Ready: 1, Running: 2, Done: 3, Failed: 4, Expired: 5, OldestReady: 90 * time.Second})
	stats, err = s.q.Stats(ctx)
	check.Err(t, err)
	check.Equal(t, stats, singlems2019.Stats{})
	waiting, err := s.q.Backlog(ctx)
	check.Err(t, err)
	check.Equal(t, waiting, singlems2019.Backlog{Ready: 1, OldestReady: 90 * time.Second})
	seen, err := s.q.Peek(ctx, 2)
	check.Err(t, err)
	if len(seen) != 1 || seen[0].N != 4 || seen[0].Err != nil {
		t.Errorf("Peek saw %+v", seen)
	}
}

// TestVerify asks everything and tells everything that differs.
func TestVerify(t *testing.T) {
	const pkg = "singlems2019"
	server, db := start(t)
	q := singlems2019.New(db)
	checks := []string{"verify_version", "verify_columns", "verify_settings", "verify_index"}
	for _, name := range checks {
		server.Expect(tds.Query(check.Text(t, pkg, name)).Rows(problem))
	}
	check.Err(t, q.Verify(t.Context()))
	for _, name := range checks {
		server.Expect(tds.Query(check.Text(t, pkg, name)).Rows(problem, tds.Row{name + " is wrong"}))
	}
	err := q.Verify(t.Context())
	for _, name := range checks {
		if err == nil || !strings.Contains(err.Error(), name+" is wrong") {
			t.Errorf("Verify says %v, and not what %s found", err, name)
		}
	}
}

// TestCompleteAndClaim is one transaction.
func TestCompleteAndClaim(t *testing.T) {
	const pkg = "singlems2019"
	server, db := start(t)
	q := singlems2019.New(db, singlems2019.WithWorker("w1"))
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "complete"), varchar(`[[7,1,"w1"]]`)).Rows(bigKey),
		statement(check.Text(t, pkg, "claim"), number(2), varchar("w1")).Rows(singleColumns, singleRow(8)),
		tds.Commit(),
	)
	jobs, err := q.CompleteAndClaim(t.Context(), []singlems2019.Job{{ID: 7, Tries: 1, Worker: "w1"}}, 2)
	if len(jobs) != 1 || jobs[0].ID != 8 || !errors.Is(err, singlems2019.ErrLost) {
		t.Errorf("%+v, %v; want job 8, and that job 7 was lost", jobs, err)
	}
}

// TestCallersTransaction: every statement comes in it, and nothing else.
func TestCallersTransaction(t *testing.T) {
	const pkg = "singlems2019"
	server, db := start(t)
	server.Expect(
		tds.Begin(tds.SessionIsolation),
		statement(check.Text(t, pkg, "claim"), number(1), varchar("w1")).Rows(singleColumns, singleRow(8)),
		statement(check.Text(t, pkg, "enqueue_many"), varchar("[[6]]")).Rows(bigKey, tds.Row{12}),
		statement(check.Text(t, pkg, "complete"), varchar(`[[8,1,"w1"]]`)).Rows(bigKey, tds.Row{8}),
		tds.Commit(),
	)
	tx, err := db.BeginTx(t.Context(), nil)
	check.Err(t, err)
	q := singlems2019.New(db, singlems2019.WithWorker("w1")).WithTx(tx)
	jobs, err := q.Claim(t.Context(), 1)
	check.Err(t, err)
	_, err = q.EnqueueMany(t.Context(), []singlems2019.NewJob{{N: 6}})
	check.Err(t, err)
	check.Err(t, q.Complete(t.Context(), jobs...))
	check.Err(t, tx.Commit())
}

// TestLists: where there is no OPENJSON, jobs stand in the text. Their number is
// rounded up, but never to more than a statement takes: 2,100 parameters less two.
func TestLists(t *testing.T) {
	const pkg, row = "singlems2014", "(id = @p0 AND tries = @p0 AND worker = CONVERT(varchar(8000), @p0))"
	const most = 699
	for _, test := range []struct {
		jobs int
		sent []int // rows of each statement
	}{{1, []int{1}}, {3, []int{4}}, {512, []int{512}}, {513, []int{most}}, {most, []int{most}}, {1500, []int{most, most, 128}}} {
		t.Run(fmt.Sprint(test.jobs), func(t *testing.T) {
			server, db := start(t)
			jobs := make([]singlems2014.Job, test.jobs)
			for i := range jobs {
				jobs[i] = singlems2014.Job{ID: int64(i + 1), Tries: 1, Worker: "w1"}
			}
			if len(test.sent) > 1 {
				server.Expect(tds.Begin(tds.ReadCommitted))
			}
			from := 0
			for _, n := range test.sent {
				to := min(from+most, len(jobs))
				var params []tds.Param
				var keys []tds.Row
				for i := range n {
					j := jobs[min(from+i, to-1)]
					params = append(params, number(int(j.ID)), small(1), varchar("w1"))
				}
				for _, j := range jobs[from:to] {
					keys = append(keys, tds.Row{j.ID})
				}
				if len(params) > 2098 {
					t.Fatalf("%d parameters", len(params))
				}
				server.Expect(statement(numbered(check.Text(t, pkg, "complete"), row, "\n       OR ", n, 1), params...).Rows(bigKey, keys...))
				from = to
			}
			if len(test.sent) > 1 {
				server.Expect(tds.Commit())
			}
			check.Err(t, singlems2014.New(db).Complete(t.Context(), jobs...))
		})
	}
}

// TestListBehindOtherArguments: its numbers follow theirs.
func TestListBehindOtherArguments(t *testing.T) {
	server, db := start(t)
	const row = "(region = @p0 AND seq = @p0 AND token = CONVERT(varchar(8000), @p0))"
	server.Expect(
		statement(numbered(check.Text(t, "compositems2008", "complete"), row, "\n       OR ", 2, 1),
			varchar("a"), number(1), varchar("t1"), varchar("bb"), number(2), varchar("t2")).
			Rows(tds.Columns("region nvarchar(8)", "seq bigint"), tds.Row{"bb", 2}, tds.Row{"a", 1}),
	)
	check.Err(t, compositems2008.New(db).Complete(t.Context(),
		compositems2008.Job{Region: "a", Seq: 1, Token: "t1"}, compositems2008.Job{Region: "bb", Seq: 2, Token: "t2"}))

	const fenced = "(id = @p0 AND tries = @p0 AND worker = CONVERT(varchar(8000), @p0))"
	server.Expect(statement(numbered(check.Text(t, "singlems2014", "fail"), fenced, "\n       OR ", 1, 2), varchar("no"), number(7), small(3), varchar("w1")).
		Rows(bigKey, tds.Row{7}))
	check.Err(t, singlems2014.New(db).Fail(t.Context(), singlems2014.Job{ID: 7, Tries: 3, Worker: "w1"}, errors.New("no")))
}

// TestComposite: a text in the key goes as JSON, with whatever is in it.
func TestComposite(t *testing.T) {
	const pkg = "compositems2019"
	server, db := start(t)
	q := compositems2019.New(db)
	var token string
	server.Handle(func(r tds.Request) tds.Response {
		if r.Text != check.Text(t, pkg, "claim") || len(r.Params) != 2 {
			t.Errorf("unexpected: %+v", r)
			return tds.Answer()
		}
		token = r.Params[1].Value.(string)
		return tds.Answer().Rows(tds.Columns("region nvarchar(8)", "seq bigint", "n bigint", "token varchar(40)", "[] varchar(27)"),
			tds.Row{"b", 2, 20, token, "2026-07-01T00:00:00.1234567"}, tds.Row{`a"\<ü`, 1, 10, token, "2026-07-01T00:00:00"})
	})
	jobs, err := q.Claim(t.Context(), 2)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].Region != `a"\<ü` || jobs[0].Token != token || len(token) < 32 || len(token) > 40 {
		t.Fatalf("claimed %+v with the token %q", jobs, token)
	}
	check.Time(t, jobs[1].LeaseTill, "2026-07-01T00:00:00.1234567-03:00") // clock=local is that of the program
	json := fmt.Sprintf(`[["a\"\\\u003cü",1,%q],["b",2,%[1]q]]`, token)
	server.Expect(statement(check.Text(t, pkg, "complete"), param(fmt.Sprintf("nvarchar(%d)", len([]rune(json))), json)).
		Rows(tds.Columns("region nvarchar(8)", "seq bigint"), tds.Row{`a"\<ü`, 1}, tds.Row{"b", 2}))
	check.Err(t, q.Complete(t.Context(), jobs...))

	key := tds.Columns("region nvarchar(8)", "seq bigint")
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "enqueue"), varchar("a"), number(1), number(2)).Rows(key, tds.Row{"a", 1}),
		statement(check.Text(t, pkg, "enqueue"), varchar("b"), number(3), number(4)).Rows(key, tds.Row{"b", 3}),
		tds.Commit(),
	)
	keys, err := q.EnqueueMany(t.Context(), []compositems2019.NewJob{{Region: "a", Seq: 1, N: 2}, {Region: "b", Seq: 3, N: 4}})
	check.Err(t, err)
	check.Equal(t, keys, []compositems2019.Key{{Region: "a", Seq: 1}, {Region: "b", Seq: 3}})
}

// TestBinary: bytes go as bytes, and as hexadecimal digits within JSON.
func TestBinary(t *testing.T) {
	const pkg = "binaryms2019"
	id, id2 := strings.Repeat("\x01\xff", 8), strings.Repeat("\x00", 16)
	server, db := start(t)
	q := binaryms2019.New(db)
	var token []byte
	server.Handle(func(r tds.Request) tds.Response {
		token = r.Params[1].Value.([]byte)
		check.Equal(t, []string{r.Text, r.Params[0].Type, r.Params[1].Type}, []string{check.Text(t, pkg, "claim"), "bigint", "varbinary(16)"})
		return tds.Answer().Rows(tds.Columns("id binary(16)", "n bigint", "token binary(16)", "lease_till bigint"),
			tds.Row{[]byte(id), 2, token, 1_767_323_045_123_456}, tds.Row{[]byte(id2), 1, token, 1_767_323_045_000_000})
	})
	jobs, err := q.Claim(t.Context(), 2)
	check.Err(t, err)
	if len(jobs) != 2 || string(jobs[1].ID) != id || string(jobs[1].Token) != string(token) {
		t.Fatalf("claimed %+v", jobs)
	}
	check.Time(t, jobs[1].LeaseTill, "2026-01-02T03:04:05.123456Z")
	json := fmt.Sprintf(`[["%X","%X"],["%X","%[2]X"]]`, id2, token, id)
	json = strings.ToLower(json)
	key := tds.Columns("id binary(16)")
	server.Expect(
		statement(check.Text(t, pkg, "complete"), varchar(json)).Rows(key, tds.Row{[]byte(id)}, tds.Row{[]byte(id2)}),
		statement(check.Text(t, pkg, "enqueue"), varbinary(id), number(4)).Rows(key, tds.Row{[]byte(id)}),
	)
	check.Err(t, q.Complete(t.Context(), jobs...))
	added, err := q.Enqueue(t.Context(), binaryms2019.NewJob{ID: []byte(id), N: 4})
	check.Err(t, err)
	check.Equal(t, added, id)
}

// TestDue: delays are seconds, and a time that is not given is NULL.
func TestDue(t *testing.T) {
	const pkg = "duems2019"
	server, db := start(t)
	q := duems2019.New(db)
	job := duems2019.Job{ID: 7, Token: token1}
	held := varchar(`[[7,"` + token1 + `"]]`)
	server.Expect(
		statement(check.Text(t, pkg, "requeue"), seconds(1.25), held).Rows(bigKey, tds.Row{7}),
		statement(check.Text(t, pkg, "requeue"), seconds(0), held).Rows(bigKey, tds.Row{7}),
		statement(check.Text(t, pkg, "retry"), seconds(20), varchar("no"), held).Rows(bigKey, tds.Row{7}), // base 10s, factor 2, no jitter
		statement(check.Text(t, pkg, "enqueue"), number(1), null).Rows(bigKey, tds.Row{8}),
		statement(check.Text(t, pkg, "enqueue"), number(1), varchar("2026-01-02T03:04:05.1234567+00:00")).Rows(bigKey, tds.Row{9}),
	)
	check.Err(t, q.Requeue(t.Context(), 1250*time.Millisecond, job))
	check.Err(t, q.Requeue(t.Context(), 0, job))
	failed := job
	failed.Tries = 1
	check.Err(t, q.Fail(t.Context(), failed, errors.New("no")))
	_, err := q.Enqueue(t.Context(), duems2019.NewJob{N: 1})
	check.Err(t, err)
	due := check.At(t, enqueuedText)
	_, err = q.Enqueue(t.Context(), duems2019.NewJob{N: 1, DueAt: &due})
	check.Err(t, err)
	many := `[[1,null],[2,"2026-01-02T03:04:05.1234567+00:00"]]`
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "enqueue_many"), varchar(many)).Rows(bigKey, tds.Row{8}, tds.Row{9}),
		tds.Commit(),
	)
	_, err = q.EnqueueMany(t.Context(), []duems2019.NewJob{{N: 1}, {N: 2, DueAt: &due}})
	check.Err(t, err)
}

// TestTopic: the topic is an argument of the claim.
func TestTopic(t *testing.T) {
	const pkg = "topicms2019"
	server, db := start(t)
	server.Expect(
		statement(check.Text(t, pkg, "claim"), number(2), varchar("mail")).
			Rows(tds.Columns("id bigint", "n bigint", "kind varchar(16)", "tries int"), tds.Row{1, 2, "mail", 1}),
		statement(check.Text(t, pkg, "peek"), number(2), varchar("it's")).
			Rows(tds.Columns("id bigint", "n bigint", "kind varchar(16)", "tries int")),
		statement(check.Text(t, pkg, "enqueue"), number(1), null).Rows(bigKey, tds.Row{8}),
		statement(check.Text(t, pkg, "enqueue"), number(1), varchar("fax")).Rows(bigKey, tds.Row{9}),
	)
	q := topicms2019.New(db)
	jobs, err := q.Claim(t.Context(), "mail", 2)
	check.Err(t, err)
	check.Equal(t, jobs, []topicms2019.Job{{ID: 1, N: 2, Kind: "mail", Tries: 1}})
	_, err = q.Peek(t.Context(), "it's", 2)
	check.Err(t, err)
	for _, kind := range []*string{nil, new("fax")} {
		_, err = q.Enqueue(t.Context(), topicms2019.NewJob{N: 1, Kind: kind})
		check.Err(t, err)
	}
}

// TestToken: the claim marks rows and reads them back, in one transaction; where it
// marks none there is nothing to read.
func TestToken(t *testing.T) {
	const pkg = "tokenms2019"
	server, db := start(t)
	columns := tds.Columns("id bigint", "n bigint", "[] varchar(33)", "tries int", "[] char(36)", "[] varchar(33)", "last_error nvarchar(max)")
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "claim"), number(5), param("nvarchar(36)", tds.Any)).NoCount().Rows(bigKey, tds.Row{2}, tds.Row{1}),
		statement(check.Text(t, pkg, "claim_read"), param("nvarchar(36)", tds.Any)).
			Rows(columns, tds.Row{2, 20, enqueuedText, 0, token1, enqueuedText, "x"}, tds.Row{1, 10, "2026-01-02T03:04:05+00:00", 0, token1, enqueuedText, nil}),
		tds.Commit(),
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "claim"), number(5), param("nvarchar(36)", tds.Any)).Rows(bigKey),
		tds.Commit(),
	)
	q := tokenms2019.New(db)
	jobs, err := q.Claim(t.Context(), 5)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].ID != 1 || jobs[0].Token != token1 {
		t.Errorf("claimed %+v", jobs)
	}
	jobs, err = q.Claim(t.Context(), 5)
	check.Err(t, err)
	if len(jobs) != 0 {
		t.Errorf("claimed %+v", jobs)
	}
}

// TestLockAndGuarded: what one statement finds another takes.
func TestLockAndGuarded(t *testing.T) {
	server, db := start(t)
	found := varchar("[[7],[8]]")
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, "lockms2019", "claim_lock"), number(2)).Rows(bigKey, tds.Row{7}, tds.Row{8}),
		statement(check.Text(t, "lockms2019", "claim"), varchar("w1"), found).Rows(singleColumns, singleRow(8), singleRow(7)),
		tds.Commit(),
		statement(check.Text(t, "guardedms2019", "claim_pick"), number(2)).Rows(bigKey, tds.Row{7}, tds.Row{8}),
		statement(check.Text(t, "guardedms2019", "claim"), varchar("w1"), found).Rows(singleColumns, singleRow(8), singleRow(7)),
	)
	locked, err := lockms2019.New(db, lockms2019.WithWorker("w1")).Claim(t.Context(), 2)
	check.Err(t, err)
	guarded, err := guardedms2019.New(db, guardedms2019.WithWorker("w1")).Claim(t.Context(), 2)
	check.Err(t, err)
	if len(locked) != 2 || locked[0].ID != 7 || len(guarded) != 2 || guarded[0].ID != 7 {
		t.Errorf("claimed %+v and %+v", locked, guarded)
	}
}

// TestBatch: the row of another table is added when jobs are found, and its number written to
// them; where others were quicker it is deleted again.
func TestBatch(t *testing.T) {
	server, db := start(t)
	text := func(pkg, name string) string { return check.TextOf(t, "corpus", pkg, name) }
	id, claim := tds.Columns("action_id bigint"), tds.Columns("claim_id bigint")
	columns := tds.Columns("action_id bigint", "hook varchar(191)", "priority tinyint", "attempts int", "claim_id bigint")
	const locking, guarding = "actionschedulerms", "actionschedulerguardedms"
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(text(locking, "claim_lock"), number(2)).Rows(id, tds.Row{7}, tds.Row{8}),
		statement(text(locking, "claim_batch"), varchar("w1")).Rows(claim, tds.Row{71}),
		statement(text(locking, "claim"), number(71), varchar("[[7],[8]]")).Rows(columns, tds.Row{8, "b", 10, 1, 71}, tds.Row{7, "a", 10, 1, 71}),
		tds.Commit(),
		tds.Begin(tds.ReadCommitted),
		statement(text(locking, "claim_lock"), number(2)).Rows(id),
		tds.Commit(),
	)
	q := actionschedulerms.New(db, actionschedulerms.WithWorker("w1"))
	jobs, err := q.Claim(t.Context(), 2)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].ActionID != 7 || jobs[0].ClaimID != 71 || jobs[1].ClaimID != 71 {
		t.Errorf("claimed %+v", jobs)
	}
	if jobs, err = q.Claim(t.Context(), 2); err != nil || len(jobs) != 0 {
		t.Errorf("claimed %+v: %v", jobs, err)
	}

	server.Expect(
		statement(text(guarding, "claim_pick"), number(2)).Rows(id, tds.Row{7}),
		tds.Begin(tds.ReadCommitted),
		statement(text(guarding, "claim_batch"), varchar("w1")).Rows(claim, tds.Row{72}),
		statement(text(guarding, "claim"), number(72), varchar("[[7]]")).Rows(columns),
		statement(text(guarding, "claim_batch_undo"), number(72)).Affected(1),
		tds.Commit(),
		statement(text(guarding, "claim_pick"), number(4)).Rows(id),
	)
	lost, err := actionschedulerguardedms.New(db, actionschedulerguardedms.WithWorker("w1")).Claim(t.Context(), 2)
	check.Err(t, err)
	if len(lost) != 0 {
		t.Errorf("claimed %+v", lost)
	}
}

var holdColumns = tds.Columns("id bigint", "n bigint")

// TestHold: one transaction from the claim to the end, in which no job comes twice.
func TestHold(t *testing.T) {
	const pkg = "holdms2019"
	server, db := start(t)
	ctx := t.Context()
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "claim"), number(2), varchar("[]")).Rows(holdColumns, tds.Row{1, 10}, tds.Row{2, 20}),
		statement(check.Text(t, pkg, "claim"), number(2), varchar("[[1],[2]]")).Rows(holdColumns, tds.Row{3, 30}),
		statement(check.Text(t, pkg, "complete"), varchar("[[1],[2],[3]]")).Rows(bigKey, tds.Row{1}, tds.Row{2}, tds.Row{3}),
		tds.Commit(),
		tds.Begin(tds.ReadCommitted),
		statement(check.Text(t, pkg, "claim"), number(2), varchar("[]")).Rows(holdColumns),
		tds.Rollback(),
	)
	q := holdms2019.New(db)
	hold, err := q.Hold(ctx)
	check.Err(t, err)
	jobs, err := hold.Claim(ctx, 2)
	check.Err(t, err)
	more, err := hold.Claim(ctx, 2)
	check.Err(t, err)
	check.Err(t, hold.Complete(ctx, append(jobs, more...)...))
	check.Err(t, hold.Commit(ctx))
	hold.Close() // after the commit it does nothing

	hold, err = q.Hold(ctx)
	check.Err(t, err)
	_, err = hold.Claim(ctx, 2)
	check.Err(t, err)
	hold.Close()
}

// TestHoldWithLists: the same where jobs stand in the text; none is held at first.
func TestHoldWithLists(t *testing.T) {
	const pkg, row = "holdms2008", "\nAND    NOT (id = @p0)"
	server, db := start(t)
	ctx := t.Context()
	claim := check.Text(t, pkg, "claim")
	server.Expect(
		tds.Begin(tds.ReadCommitted),
		statement(strings.Replace(claim, row, "", 1), number(3)).Rows(holdColumns, tds.Row{1, 10}, tds.Row{2, 20}, tds.Row{3, 30}),
		statement(numbered(claim, row, "", 4, 2), number(2), number(1), number(2), number(3), number(3)).Rows(holdColumns),
		tds.Rollback(),
	)
	hold, err := holdms2008.New(db).Hold(ctx)
	check.Err(t, err)
	_, err = hold.Claim(ctx, 3)
	check.Err(t, err)
	_, err = hold.Claim(ctx, 2)
	check.Err(t, err)
	hold.Close()
}

// TestPopAndPartition: one deletes, the other only reads a share.
func TestPopAndPartition(t *testing.T) {
	server, db := start(t)
	server.Expect(
		statement(check.Text(t, "popms2019", "claim"), number(2)).Rows(holdColumns, tds.Row{2, 20}, tds.Row{1, 10}),
		statement(check.Text(t, "partitionms2019", "claim"), number(2), number(1), number(4)).
			Rows(tds.Columns("id bigint", "n bigint", "hash_code int"), tds.Row{1, 10, nil}, tds.Row{2, 20, 5}),
		statement(check.Text(t, "partitionms2019", "complete"), varchar("[[1],[2]]")).Rows(bigKey, tds.Row{1}, tds.Row{2}),
	)
	popped, err := popms2019.New(db).Claim(t.Context(), 2)
	check.Err(t, err)
	check.Equal(t, popped, []popms2019.Job{{ID: 1, N: 10}, {ID: 2, N: 20}})
	q := partitionms2019.New(db)
	share, err := q.Claim(t.Context(), partitionms2019.Shard{Index: 1, Count: 4}, 2)
	check.Err(t, err)
	check.Equal(t, share, []partitionms2019.Job{{ID: 1, N: 10}, {ID: 2, N: 20, HashCode: new(int32(5))}})
	check.Err(t, q.Complete(t.Context(), share...))
}

// TestLongBatch: what does not fit into 4,000 characters has no length.
func TestLongBatch(t *testing.T) {
	const pkg = "singlems2019"
	server, db := start(t)
	var jobs []singlems2019.Job
	var rows []string
	var keys []tds.Row
	for id := range int64(1000) {
		jobs = append(jobs, singlems2019.Job{ID: id, Tries: 1, Worker: "w1"})
		rows = append(rows, fmt.Sprintf(`[%d,1,"w1"]`, id))
		keys = append(keys, tds.Row{id})
	}
	server.Expect(statement(check.Text(t, pkg, "complete"), long("["+strings.Join(rows, ",")+"]")).Rows(bigKey, keys...))
	check.Err(t, singlems2019.New(db).Complete(t.Context(), jobs...))
}
