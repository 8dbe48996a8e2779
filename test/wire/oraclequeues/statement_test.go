package oraclequeues_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/conformance/gen/binaryora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositeora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/dueora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/hostileora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/integerora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/lockora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/popora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/singleora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstateora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicora19"
	"github.com/qgen-dev/qgen/test/corpus/gen/actionschedulerora"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

const (
	leaseText    = "2026-01-02 03:04:05.123000000"
	enqueuedText = "2026-01-02 08:34:05.123456789 +05:30"
)

// singleColumns are those that the claim of the case "single" returns.
var singleColumns = oracle.Columns("id NUMBER(18)", "n NUMBER(18)", "tries NUMBER(9)", "lease VARCHAR2(29)",
	"worker VARCHAR2(64)", "last_error VARCHAR2(400)", "enqueued VARCHAR2(36)")

func singleRow(id int64) oracle.Row {
	return oracle.Row{id, 10 * id, 1, leaseText, "w1", nil, enqueuedText}
}

// TestSingle sends every operation of a package once.
func TestSingle(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	text := texts(t, "singleora19")

	server.Expect(oracle.Exec(text("claim"), 3, "w1", oracle.Output).
		RefCursor("3", singleColumns, oracle.Row{9, int64(1) << 59, 2, "2026-01-02 03:04:05.000000000", "w1", "größer ☃", "2026-01-02 03:04:05.000000000 +00:00"}, singleRow(7)),
		oracle.Commit())
	jobs, err := q.Claim(ctx, 3)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].ID != 7 || jobs[1].ID != 9 {
		t.Fatalf("claimed %+v, want 7 and 9, in the order of the queue", jobs)
	}
	first, second := jobs[0], jobs[1]
	check.Equal(t, []any{first.N, first.Tries, first.Worker, first.LastError, first.Err}, []any{int64(70), int64(1), "w1", (*string)(nil), error(nil)})
	check.Time(t, first.LeaseTill, "2026-01-02T03:04:05.123Z")
	check.Time(t, first.EnqueuedAt, "2026-01-02T03:04:05.123456789Z")
	check.Equal(t, *second.LastError, "größer ☃")
	check.Equal(t, second.N, int64(1)<<59)
	check.Time(t, second.LeaseTill, "2026-01-02T03:04:05Z")
	check.Time(t, second.EnqueuedAt, "2026-01-02T03:04:05Z")

	held := func() []any { return []any{[]int64{7, 9}, []int64{1, 2}, []string{"w1", "w1"}} }
	server.Expect(settled(text("complete"), held(), "4", 1, 1).Autocommit())
	check.Err(t, q.Complete(ctx, jobs...))

	server.Expect(settled(text("complete"), held(), "4", 1, 0).Autocommit())
	var lost *singleora19.LostError
	if err := q.Complete(ctx, jobs...); !errors.Is(err, singleora19.ErrLost) || !errors.As(err, &lost) {
		t.Errorf("a lost job gives %v", err)
	} else {
		check.Equal(t, lost.Keys, []singleora19.Key{9})
	}

	long := strings.Repeat("é", 300) // max=200 counts characters, of two bytes each
	server.Expect(settled(text("retry"), []any{[]int64{7}, []int64{1}, []string{"w1"}, long[:400]}, "5", 1).Autocommit())
	check.Err(t, q.Fail(ctx, first, errors.New(long)))
	third := first
	third.Tries = 3
	server.Expect(settled(text("fail"), []any{[]int64{7}, []int64{3}, []string{"w1"}, "no"}, "5", 1).Autocommit())
	check.Err(t, q.Fail(ctx, third, errors.New("no")))

	server.Expect(settled(text("requeue"), held(), "4", 1, 1).Autocommit())
	check.Err(t, q.Requeue(ctx, jobs...))

	extended := oracle.Columns("id NUMBER(18)", "lease VARCHAR2(29)")
	server.Expect(settled(text("extend"), held(), "4", 1, 1),
		oracle.Exec(text("extend_read", byID(2)...), 7, 9).
			Rows(extended, oracle.Row{9, "2027-01-02 03:04:05.500000000"}, oracle.Row{7, "2027-01-02 03:04:06.000000000"}),
		oracle.Commit())
	check.Err(t, q.Extend(ctx, &first, &second))
	check.Time(t, first.LeaseTill, "2027-01-02T03:04:06Z")
	check.Time(t, second.LeaseTill, "2027-01-02T03:04:05.5Z")

	server.Expect(settled(text("extend"), held(), "4", 0, 1),
		oracle.Exec(text("extend_read", byID(1)...), 9).Rows(extended, oracle.Row{9, "2028-01-02 03:04:05.000000000"}),
		oracle.Commit())
	if err := q.Extend(ctx, &first, &second); !errors.As(err, &lost) {
		t.Errorf("a lost job gives %v", err)
	}
	check.Equal(t, lost.Keys, []singleora19.Key{7})
	check.Time(t, first.LeaseTill, "2027-01-02T03:04:06Z")
	check.Time(t, second.LeaseTill, "2028-01-02T03:04:05Z")

	server.Expect(
		oracle.Exec(text("recover"), 5).Affected(2).Autocommit(),
		oracle.Exec(text("recover_failed"), 3).Affected(1).Autocommit(),
	)
	check.Count(t, 3)(q.Recover(ctx, 5))
	server.Expect(oracle.Exec(text("redrive"), 1000).Affected(1).Autocommit())
	check.Count(t, 1)(q.Redrive(ctx, 1_000_000))
	server.Expect(
		oracle.Exec(text("purge_done"), 1.5, 6, 1.5).Affected(1).Autocommit(),
		oracle.Exec(text("purge_failed"), 1.5, 5, 1.5).Autocommit(),
	)
	check.Count(t, 1)(q.Purge(ctx, 1500*time.Millisecond, 6))

	server.Expect(
		oracle.Exec(text("enqueue"), 5, oracle.Output).Affected(1).Out("2", int64(11)).Autocommit(),
		oracle.Exec(text("enqueue"), 6, oracle.Output).Affected(1).Out("2", int64(12)),
		oracle.Exec(text("enqueue"), 7, oracle.Output).Affected(1).Out("2", int64(13)),
		oracle.Commit(),
	)
	key, err := q.Enqueue(ctx, singleora19.NewJob{N: 5})
	check.Err(t, err)
	keys, err := q.EnqueueMany(ctx, []singleora19.NewJob{{N: 6}, {N: 7}})
	check.Err(t, err)
	check.Equal(t, append(keys, key), []singleora19.Key{12, 13, 11})
}

// TestSingleLooks sends what only reads.
func TestSingleLooks(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	text := texts(t, "singleora19")

	figures := oracle.Columns("ready NUMBER", "running NUMBER", "done NUMBER", "failed NUMBER", "expired NUMBER", "oldest_ready NUMBER")
	problem := oracle.Columns("problem VARCHAR2(400)")
	server.Expect(
		oracle.Exec(text("stats")).Rows(figures, oracle.Row{1, 2, 3, 4, 5, "90.5"}),
		oracle.Exec(text("stats")).Rows(figures, oracle.Row{0, 0, 0, 0, 0, nil}),
		oracle.Exec(text("backlog")).Rows(oracle.Columns("ready NUMBER", "oldest_ready NUMBER"), oracle.Row{1, "90.5"}),
		oracle.Exec(text("peek"), 2).Rows(oracle.Columns("id NUMBER", "n NUMBER", "tries NUMBER", "last_error VARCHAR2(400)", "enqueued VARCHAR2(36)"),
			oracle.Row{3, 4, 0, nil, enqueuedText}),
	)
	stats, err := q.Stats(ctx)
	check.Err(t, err)
	check.Equal(t, stats, singleora19.Stats{Ready: 1, Running: 2, Done: 3, Failed: 4, Expired: 5, OldestReady: 90500 * time.Millisecond})
	stats, err = q.Stats(ctx)
	check.Err(t, err)
	check.Equal(t, stats, singleora19.Stats{})
	waiting, err := q.Backlog(ctx)
	check.Err(t, err)
	check.Equal(t, waiting, singleora19.Backlog{Ready: 1, OldestReady: 90500 * time.Millisecond})
	peeked, err := q.Peek(ctx, 2)
	check.Err(t, err)
	if len(peeked) != 1 || peeked[0].ID != 3 || peeked[0].Err != nil {
		t.Errorf("peeked %+v", peeked)
	}

	server.Expect(
		oracle.Exec(text("verify_version")).Rows(problem, oracle.Row{"the server is Oracle 11.2"}),
		oracle.Exec(text("verify_columns")).Rows(problem),
		oracle.Exec(text("verify_index")).Rows(problem, oracle.Row{"index A is missing"}, oracle.Row{"index B is missing"}),
		oracle.Exec(text("verify_version")).Rows(problem),
		oracle.Exec(text("verify_columns")).Rows(problem),
		oracle.Exec(text("verify_index")).Rows(problem),
	)
	var problems *singleora19.SchemaError
	if err := q.Verify(ctx); !errors.As(err, &problems) || len(problems.Problems) != 3 {
		t.Errorf("Verify: %v", err)
	}
	check.Err(t, q.Verify(ctx))
}

// TestNothingToDo sends nothing for no jobs, and takes no harm from an empty queue.
func TestNothingToDo(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	check.Err(t, q.Complete(ctx))
	check.Err(t, q.Requeue(ctx))
	check.Err(t, q.Extend(ctx))
	keys, err := q.EnqueueMany(ctx, nil)
	check.Equal(t, []any{len(keys), err}, []any{0, error(nil)})
	jobs, err := q.Claim(ctx, 0)
	check.Equal(t, []any{len(jobs), err}, []any{0, error(nil)})
	server.Expect(oracle.Exec(texts(t, "singleora19")("claim"), 1000, "w1", oracle.Output).RefCursor("3", singleColumns), oracle.Commit())
	jobs, err = q.Claim(ctx, 5000)
	check.Equal(t, []any{len(jobs), err}, []any{0, error(nil)})
}

// TestInParts settles more jobs than one block takes, in one transaction.
func TestInParts(t *testing.T) {
	server, db := start(t)
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	text := texts(t, "singleora19")("complete")
	jobs := make([]singleora19.Job, 2500)
	var ids, tries [3][]int64
	var workers [3][]string
	var counts [3][]int64
	for i := range jobs {
		jobs[i] = singleora19.Job{ID: int64(i + 1), Tries: 1, Worker: "w1"}
		part := i / 1000
		ids[part], tries[part], workers[part] = append(ids[part], int64(i+1)), append(tries[part], 1), append(workers[part], "w1")
		counts[part] = append(counts[part], 1)
	}
	counts[0][999], counts[2][0] = 0, 0
	for part := range ids {
		server.Expect(settled(text, []any{ids[part], tries[part], workers[part]}, "4", counts[part]...))
	}
	server.Expect(oracle.Commit())
	var lost *singleora19.LostError
	if err := q.Complete(t.Context(), jobs...); !errors.As(err, &lost) {
		t.Fatalf("lost jobs give %v", err)
	}
	check.Equal(t, lost.Keys, []singleora19.Key{1000, 2001})
}

// TestCompleteAndClaim does both in one transaction.
func TestCompleteAndClaim(t *testing.T) {
	server, db := start(t)
	q := singleora19.New(db, singleora19.WithWorker("w1"))
	text := texts(t, "singleora19")
	server.Expect(
		settled(text("complete"), []any{[]int64{1, 2}, []int64{1, 1}, []string{"w1", "w1"}}, "4", 0, 1),
		oracle.Exec(text("claim"), 5, "w1", oracle.Output).RefCursor("3", singleColumns, singleRow(3)),
		oracle.Commit(),
	)
	jobs, err := q.CompleteAndClaim(t.Context(), []singleora19.Job{{ID: 1, Tries: 1, Worker: "w1"}, {ID: 2, Tries: 1, Worker: "w1"}}, 5)
	if !errors.Is(err, singleora19.ErrLost) || len(jobs) != 1 || jobs[0].ID != 3 {
		t.Errorf("got %+v, %v; want job 3 and a lost one", jobs, err)
	}
}

// TestJoins uses the caller's transaction: nothing is begun and nothing committed.
func TestJoins(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	text := texts(t, "singleora19")
	tx, err := db.BeginTx(ctx, nil)
	check.Err(t, err)
	q := singleora19.New(db, singleora19.WithWorker("w1")).WithTx(tx)
	server.Expect(
		oracle.Exec(text("claim"), 1, "w1", oracle.Output).RefCursor("3", singleColumns, singleRow(3)),
		settled(text("complete"), []any{[]int64{3}, []int64{1}, []string{"w1"}}, "4", 1),
		oracle.Exec(text("enqueue"), 6, oracle.Output).Affected(1).Out("2", int64(12)),
		oracle.Exec(text("redrive"), 2).Error(60, "deadlock detected while waiting for resource"),
		oracle.Rollback(),
	)
	jobs, err := q.Claim(ctx, 1)
	check.Err(t, err)
	check.Err(t, q.Complete(ctx, jobs...))
	_, err = q.EnqueueMany(ctx, []singleora19.NewJob{{N: 6}})
	check.Err(t, err)
	if _, err := q.Redrive(ctx, 2); !singleora19.IsRetryable(err) {
		t.Errorf("a deadlock gives %v, which is not retryable", err)
	}
	check.Err(t, tx.Rollback())
}

// TestBinary has keys and tokens of bytes, and times as numbers.
func TestBinary(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := binaryora19.New(db)
	text := texts(t, "binaryora19")
	a, b := []byte("0123456789abcdef"), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255}

	server.Expect(
		oracle.Exec(text("enqueue"), a, 4).Affected(1).Autocommit(),
		oracle.Exec(text("enqueue"), a, 4).Affected(1),
		oracle.Exec(text("enqueue"), b, 5).Affected(1),
		oracle.Commit(),
	)
	key, err := q.Enqueue(ctx, binaryora19.NewJob{ID: a, N: 4})
	check.Err(t, err)
	keys, err := q.EnqueueMany(ctx, []binaryora19.NewJob{{ID: a, N: 4}, {ID: b, N: 5}})
	check.Err(t, err)
	check.Equal(t, append(keys, key), []binaryora19.Key{string(a), string(b), string(a)})
}

// TestBinaryClaim claims by bytes.
func TestBinaryClaim(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := binaryora19.New(db)
	text := texts(t, "binaryora19")
	a, b := []byte("0123456789abcdef"), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255}
	var drawn token
	drawn.answer(t, server, text("claim"), "2", "3", oracle.Columns("id RAW(16)", "n NUMBER(18)", "token RAW(16)", "lease_till NUMBER(18)"), func(token any) []oracle.Row {
		return []oracle.Row{{b, 5, token, 1767323045123456}, {a, 4, token, 1767323045000000}}
	})
	jobs, err := q.Claim(ctx, 2)
	check.Err(t, err)
	drawn.random(t, 16)
	if len(jobs) != 2 || string(jobs[0].ID) != string(a) || jobs[0].Err != nil {
		t.Fatalf("claimed %+v", jobs)
	}
	check.Time(t, jobs[1].LeaseTill, "2026-01-02T03:04:05.123456Z")
	server.Expect(settled(text("complete"), []any{[][]byte{a, b}, []any{drawn.value, drawn.value}}, "3", 0, 1).Autocommit())
	var lost *binaryora19.LostError
	if err := q.Complete(ctx, jobs...); !errors.As(err, &lost) {
		t.Fatalf("a lost job gives %v", err)
	}
	check.Equal(t, lost.Keys, []string{string(a)})
	server.Expect(settled(text("extend"), []any{[][]byte{a}, []any{drawn.value}}, "3", 1),
		oracle.Exec(text("extend_read", byID(1)...), a).Rows(oracle.Columns("id RAW(16)", "lease_till NUMBER(18)"), oracle.Row{a, 1767323046000000}),
		oracle.Commit())
	check.Err(t, q.Extend(ctx, &jobs[0]))
	check.Time(t, jobs[0].LeaseTill, "2026-01-02T03:04:06Z")
}

// TestComposite has two columns for a key, and times of the local clock.
func TestComposite(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := compositeora19.New(db)
	text := texts(t, "compositeora19")
	var drawn token
	drawn.answer(t, server, text("claim"), "2", "3", oracle.Columns("region VARCHAR2(8)", "seq NUMBER(18)", "n NUMBER(18)", "token VARCHAR2(40)", "lease VARCHAR2(29)"), func(token any) []oracle.Row {
		return []oracle.Row{{"r2", 8, 80, token, leaseText}, {"r1", 7, 70, token, leaseText}}
	})
	jobs, err := q.Claim(ctx, 2)
	check.Err(t, err)
	drawn.random(t, 32)
	check.Equal(t, []any{jobs[0].Key(), jobs[1].Key()}, []any{compositeora19.Key{Region: "r1", Seq: 7}, compositeora19.Key{Region: "r2", Seq: 8}})
	check.Time(t, jobs[0].LeaseTill, "2026-01-02T06:04:05.123Z") // three hours west

	held := []any{[]string{"r1", "r2"}, []int64{7, 8}, []any{drawn.value, drawn.value}}
	server.Expect(settled(text("complete"), held, "4", 1, 0).Autocommit())
	var lost *compositeora19.LostError
	if err := q.Complete(ctx, jobs...); !errors.As(err, &lost) {
		t.Fatalf("a lost job gives %v", err)
	}
	check.Equal(t, lost.Keys, []compositeora19.Key{{Region: "r2", Seq: 8}})

	server.Expect(settled(text("extend"), held, "4", 1, 1),
		oracle.Exec(text("extend_read", "(REGION = :v0 AND SEQ = :v0)", "(REGION = :v1 AND SEQ = :v2)\n       OR (REGION = :v3 AND SEQ = :v4)"), "r1", 7, "r2", 8).
			Rows(oracle.Columns("region VARCHAR2(8)", "seq NUMBER(18)", "lease VARCHAR2(29)"), oracle.Row{"r2", 8, leaseText}, oracle.Row{"r1", 7, leaseText}),
		oracle.Commit())
	check.Err(t, q.Extend(ctx, &jobs[0], &jobs[1]))

	server.Expect(oracle.Exec(text("enqueue"), "r3", 9, 90).Affected(1).Autocommit())
	key, err := q.Enqueue(ctx, compositeora19.NewJob{Region: "r3", Seq: 9, N: 90})
	check.Err(t, err)
	check.Equal(t, key, compositeora19.Key{Region: "r3", Seq: 9})
}

var dueColumns = oracle.Columns("id NUMBER(18)", "n NUMBER(18)", "due VARCHAR2(36)", "tries NUMBER(9)", "token RAW(16)", "lease VARCHAR2(36)", "last_error CLOB")

// TestDue has delays, texts of any length and times with zones.
func TestDue(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := dueora19.New(db)
	text := texts(t, "dueora19")
	long := strings.Repeat("é", 5000)
	var drawn token
	drawn.answer(t, server, text("claim"), "2", "3", dueColumns, func(token any) []oracle.Row {
		return []oracle.Row{{1, 10, enqueuedText, 0, token, enqueuedText, long}, {2, 20, "2026-01-01 00:00:00.000000000 +00:00", 2, token, enqueuedText, nil}}
	})
	jobs, err := q.Claim(ctx, 2)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].ID != 2 || jobs[0].LastError != nil || *jobs[1].LastError != long {
		t.Fatalf("claimed %d jobs: %v", len(jobs), jobs)
	}
	check.Time(t, jobs[1].DueAt, "2026-01-02T03:04:05.123456789Z")

	server.Expect(
		settled(text("retry"), []any{[]int64{1}, []any{drawn.value}, 10, long}, "5", 1).Autocommit(),
		settled(text("fail"), []any{[]int64{2}, []any{drawn.value}, strings.Repeat("x", 32760)}, "4", 1).Autocommit(),
		settled(text("requeue"), []any{[]int64{2, 1}, []any{drawn.value, drawn.value}, 1.5}, "4", 1, 1).Autocommit(),
	)
	check.Err(t, q.Fail(ctx, jobs[1], errors.New(long)))
	check.Err(t, q.Fail(ctx, jobs[0], errors.New(strings.Repeat("x", 40_000)))) // which PL/SQL would not take
	check.Err(t, q.Requeue(ctx, 1500*time.Millisecond, jobs...))

	due := time.Date(2027, 1, 2, 3, 4, 5, 678, time.FixedZone("", -5400))
	server.Expect(
		oracle.Exec(text("enqueue"), 5, "2027-01-02 04:34:05.000000678 +00:00", oracle.Output).Affected(1).Out("3", int64(11)).Autocommit(),
		oracle.Exec(text("enqueue"), 6, nil, oracle.Output).Affected(1).Out("3", int64(12)).Autocommit(),
	)
	_, err = q.Enqueue(ctx, dueora19.NewJob{N: 5, DueAt: &due})
	check.Err(t, err)
	_, err = q.Enqueue(ctx, dueora19.NewJob{N: 6})
	check.Err(t, err)
}

// TestHostile carries names and values that are hard on texts, and JSON.
func TestHostile(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	q := hostileora19.New(db, hostileora19.WithWorker("o'b\"r:1--"))
	text := texts(t, "hostileora19")
	columns := []oracle.Column{{Name: "Select", Type: "NUMBER"}, {Name: "N", Type: "NUMBER"}, {Name: "func", Type: "NUMBER"}, {Name: "t", Type: "VARCHAR2(36)"}, {Name: "range", Type: "VARCHAR2(64)"}, {Name: "*/ err", Type: "VARCHAR2(400)"}, {Name: "größe", Type: "NUMBER(9)"}}
	row := oracle.Row{1, 2, 3, enqueuedText, "w", nil, -7}
	for _, name := range []string{"日本", "it's", "100%s", "{{.Table}}", ":1", ":v0"} {
		columns, row = append(columns, oracle.Column{Name: name, Type: "VARCHAR2(40)"}), append(row, name)
	}
	columns, row = append(columns, oracle.Column{Name: "TYPE", Type: "CLOB"}), append(row, `{"a": "é"}`)
	for _, name := range []string{"Key", "LogValue", "CTX", "Q", "JOBS", "STRING", "NIL", "CANDIDATE", "PICKED", "I", "new\nline"} {
		columns, row = append(columns, oracle.Column{Name: name, Type: "VARCHAR2(40)"}), append(row, nil)
	}
	columns, row = append(columns, oracle.Column{Name: "s", Type: "VARCHAR2(36)"}), append(row, enqueuedText)
	server.Expect(oracle.Exec(text("claim"), 1, "o'b\"r:1--", oracle.Output).RefCursor("3", columns, row), oracle.Commit())
	jobs, err := q.Claim(ctx, 1)
	check.Err(t, err)
	job := jobs[0]
	check.Equal(t, []any{job.Select, *job.Größe, *job.X日本, *job.ItS, *job.X1, *job.V0, string(job.Type), job.KeyValue, job.NewLine, job.Err},
		[]any{int64(1), int64(-7), "日本", "it's", ":1", ":v0", `{"a": "é"}`, (*string)(nil), (*string)(nil), error(nil)})

	args := []any{6, 7, "日本", "it's; --", nil, nil, nil, nil, `{"b": null}`, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, oracle.Output}
	server.Expect(oracle.Exec(text("enqueue"), args...).Affected(1).Out("21", int64(8)).Autocommit())
	key, err := q.Enqueue(ctx, hostileora19.NewJob{N: 6, Größe: new(int64(7)), X日本: new("日本"), ItS: new("it's; --"), Type: json.RawMessage(`{"b": null}`)})
	check.Err(t, err)
	check.Equal(t, key, int64(8))
}

// TestResult sends answers with the jobs, of which the empty one is NULL and the long one
// travels in parts that begin with a character.
func TestResult(t *testing.T) {
	server, db := start(t)
	q := resultora19.New(db, resultora19.WithWorker("w1"))
	var jobs []resultora19.Job
	for id := range int64(3) {
		jobs = append(jobs, resultora19.Job{ID: id + 1, Owner: "w1"})
	}
	long := strings.Repeat("a", 1999) + "é" + strings.Repeat("b", 1998) + "c"
	server.Expect(settled(texts(t, "resultora19")("complete"), []any{[]int64{1, 2, 3}, []string{"w1", "w1", "w1"},
		[]any{"yes", strings.Repeat("a", 1999), "é" + strings.Repeat("b", 1998), "c", nil}, []int64{1, 2, 2, 2, 3}, []any{int64(7), nil, nil}}, "6", 1, 1, 1).Autocommit())
	check.Err(t, q.Complete(t.Context(), jobs[0].Done(new("yes"), new(int64(7))), jobs[1].Done(&long, nil), jobs[2].Done(nil, nil)))
}

// TestTimesAreFences compares claims by their times, which travel as texts.
func TestTimesAreFences(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	several, integer := severalora19.New(db), integerora19.New(db, integerora19.WithWorker("w1"))
	zoned, utc := texts(t, "severalora19"), texts(t, "integerora19")
	server.Expect(
		oracle.Exec(zoned("claim"), 1, oracle.Output).RefCursor("2", oracle.Columns("id NUMBER", "n NUMBER", "tries NUMBER", "claimed VARCHAR2(36)"), oracle.Row{1, 2, 0, enqueuedText}),
		oracle.Commit(),
		settled(zoned("retry"), []any{[]int64{1}, []string{"2026-01-02 03:04:05.123456789 +00:00"}}, "3", 1).Autocommit(),
		oracle.Exec(utc("claim"), 1, "w1", oracle.Output).RefCursor("3", oracle.Columns("id NUMBER", "n NUMBER", "priority NUMBER", "claimed VARCHAR2(29)", "worker VARCHAR2(64)"), oracle.Row{1, 2, 0, leaseText, "w1"}),
		oracle.Commit(),
	)
	jobs, err := several.Claim(ctx, 1)
	check.Err(t, err)
	check.Err(t, several.Fail(ctx, jobs[0], errors.New("no")))
	numbered, err := integer.Claim(ctx, 1)
	check.Err(t, err)
	server.Expect(settled(utc("complete"), []any{[]int64{1}, []string{leaseText}, []string{"w1"}}, "4", 1).Autocommit())
	check.Err(t, integer.Complete(ctx, numbered...))
}

// TestTokenState claims by a state that is drawn.
func TestTokenState(t *testing.T) {
	server, db := start(t)
	q := tokenstateora19.New(db)
	text := texts(t, "tokenstateora19")
	var drawn token
	drawn.answer(t, server, text("claim"), "2", "3", oracle.Columns("id NUMBER", "n NUMBER", "status VARCHAR2(36)", "lease VARCHAR2(36)"), func(token any) []oracle.Row {
		return []oracle.Row{{1, 10, token, enqueuedText}}
	})
	jobs, err := q.Claim(t.Context(), 1)
	check.Err(t, err)
	drawn.random(t, 32)
	server.Expect(settled(text("complete"), []any{[]int64{1}, []any{drawn.value}}, "3", 1).Autocommit())
	check.Err(t, q.Complete(t.Context(), jobs...))
}

// TestTopic narrows claims.
func TestTopic(t *testing.T) {
	server, db := start(t)
	q := topicora19.New(db)
	text := texts(t, "topicora19")
	columns := oracle.Columns("id NUMBER", "n NUMBER", "kind VARCHAR2(16)", "tries NUMBER")
	server.Expect(
		oracle.Exec(text("claim"), "mail", 2, oracle.Output).RefCursor("3", columns, oracle.Row{1, 10, "mail", 1}),
		oracle.Commit(),
		oracle.Exec(text("peek"), "fax", 3).Rows(columns),
	)
	jobs, err := q.Claim(t.Context(), "mail", 2)
	check.Err(t, err)
	check.Equal(t, jobs, []topicora19.Job{{ID: 1, N: 10, Kind: "mail", Tries: 1}})
	_, err = q.Peek(t.Context(), "fax", 3)
	check.Err(t, err)
}

// TestPartition reads a share of the table.
func TestPartition(t *testing.T) {
	server, db := start(t)
	q := partitionora19.New(db)
	text := texts(t, "partitionora19")
	server.Expect(
		oracle.Exec(text("claim"), 4, 4, 4, 3, 10).Rows(oracle.Columns("id NUMBER", "n NUMBER", "hash_code NUMBER"), oracle.Row{1, 10, nil}, oracle.Row{2, 20, 3}),
		settled(text("complete"), []any{[]int64{1, 2}}, "2", 1, 1).Autocommit(),
	)
	jobs, err := q.Claim(t.Context(), partitionora19.Shard{Index: 3, Count: 4}, 10)
	check.Err(t, err)
	check.Equal(t, jobs, []partitionora19.Job{{ID: 1, N: 10}, {ID: 2, N: 20, HashCode: new(int64(3))}})
	check.Err(t, q.Complete(t.Context(), jobs...))
}

var heldColumns = oracle.Columns("id NUMBER", "n NUMBER")

// TestHold claims by locks, which end with the transaction; a second claim
// leaves out what is held already.
func TestHold(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	text := texts(t, "holdora19")
	const list = "\nAND    NOT (ID = :v0)"
	server.Expect(
		oracle.Exec(text("claim", list, ""), 2, oracle.Output).RefCursor("3", heldColumns, oracle.Row{2, 20}, oracle.Row{1, 10}),
		oracle.Exec(text("claim", list, "\nAND    NOT (ID = :v1)\nAND    NOT (ID = :v2)"), 1, 2, 5, oracle.Output).RefCursor("3", heldColumns, oracle.Row{3, 30}),
		settled(text("complete"), []any{[]int64{1, 2, 3}}, "2", 1, 1, 1),
		oracle.Commit(),
	)
	tx, err := holdora19.New(db).Hold(ctx)
	check.Err(t, err)
	defer tx.Close()
	jobs, err := tx.Claim(ctx, 2)
	check.Err(t, err)
	more, err := tx.Claim(ctx, 5)
	check.Err(t, err)
	check.Err(t, tx.Complete(ctx, append(jobs, more...)...))
	check.Err(t, tx.Commit(ctx))
}

// TestHoldByPlace does the same by the places of rows.
func TestHoldByPlace(t *testing.T) {
	server, db := start(t)
	ctx := t.Context()
	text := texts(t, "rowidora19")
	const list = "\nAND    NOT (ROWID = CHARTOROWID(:v0))"
	server.Expect(
		oracle.Exec(text("claim", list, ""), 2, oracle.Output).RefCursor("3", oracle.Columns("place VARCHAR2(18)", "n NUMBER"), oracle.Row{"AAAShYAAFAAAAMfAAB", 20}, oracle.Row{"AAAShYAAFAAAAMfAAA", 10}),
		settled(text("complete"), []any{[]string{"AAAShYAAFAAAAMfAAA", "AAAShYAAFAAAAMfAAB"}}, "2", 1, 1),
		oracle.Commit(),
		oracle.Exec(text("enqueue"), 30).Affected(1).Autocommit(),
	)
	q := rowidora19.New(db)
	tx, err := q.Hold(ctx)
	check.Err(t, err)
	defer tx.Close()
	jobs, err := tx.Claim(ctx, 2)
	check.Err(t, err)
	check.Err(t, tx.Complete(ctx, jobs...))
	check.Err(t, tx.Commit(ctx))
	check.Err(t, q.Enqueue(ctx, rowidora19.NewJob{N: 30}))
}

// TestPop deletes what it locked.
func TestPop(t *testing.T) {
	server, db := start(t)
	text := texts(t, "popora19")
	server.Expect(
		oracle.Exec(text("claim_lock"), 2, oracle.Output).RefCursor("2", heldColumns, oracle.Row{2, 20}, oracle.Row{1, 10}),
		oracle.Exec(text("claim"), []int64{2, 1}),
		oracle.Commit(),
		oracle.Exec(text("claim_lock"), 2, oracle.Output).RefCursor("2", heldColumns),
		oracle.Commit(),
	)
	q := popora19.New(db)
	jobs, err := q.Claim(t.Context(), 2)
	check.Err(t, err)
	check.Equal(t, jobs, []popora19.Job{{ID: 1, N: 10}, {ID: 2, N: 20}})
	jobs, err = q.Claim(t.Context(), 2)
	check.Err(t, err)
	check.Equal(t, len(jobs), 0)
}

// TestLockUpdate locks, writes and reads in one transaction.
func TestLockUpdate(t *testing.T) {
	server, db := start(t)
	text := texts(t, "lockora19")
	server.Expect(
		oracle.Exec(text("claim_lock"), 2, oracle.Output).RefCursor("2", oracle.Columns("id NUMBER"), oracle.Row{2}, oracle.Row{1}),
		oracle.Exec(text("claim"), []int64{2, 1}, "w1"),
		oracle.Exec(text("claim_read", byID(2)...), 2, 1).Rows(singleColumns, singleRow(2), singleRow(1)),
		oracle.Commit(),
	)
	jobs, err := lockora19.New(db, lockora19.WithWorker("w1")).Claim(t.Context(), 2)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].ID != 1 {
		t.Errorf("claimed %+v", jobs)
	}
}

// TestBatch adds the row of another table when jobs are locked, and writes the number that it
// is given to them; where there are none it adds none.
func TestBatch(t *testing.T) {
	server, db := start(t)
	text := textsOf(t, "corpus", "actionschedulerora")
	byAction := func(n int) []string {
		list := byID(n)
		return []string{strings.ReplaceAll(list[0], "ID", "ACTION_ID"), strings.ReplaceAll(list[1], "ID", "ACTION_ID")}
	}
	id := oracle.Columns("action_id NUMBER(18)")
	columns := oracle.Columns("action_id NUMBER(18)", "hook VARCHAR2(191)", "priority NUMBER(3)", "attempts NUMBER(9)", "claim_id NUMBER(18)")
	server.Expect(
		oracle.Exec(text("claim_lock"), 3, oracle.Output).RefCursor("2", id, oracle.Row{2}, oracle.Row{1}),
		oracle.Exec(text("claim_batch"), "w1", oracle.Output).Affected(1).Out("2", int64(71)),
		oracle.Exec(text("claim"), []int64{2, 1}, 71),
		oracle.Exec(text("claim_read", byAction(2)...), 2, 1).Rows(columns, oracle.Row{2, "b", 10, 1, 71}, oracle.Row{1, "a", 10, 1, 71}),
		oracle.Commit(),
		oracle.Exec(text("claim_lock"), 3, oracle.Output).RefCursor("2", id),
		oracle.Commit(),
	)
	q := actionschedulerora.New(db, actionschedulerora.WithWorker("w1"))
	jobs, err := q.Claim(t.Context(), 3)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[0].ActionID != 1 || jobs[0].ClaimID != 71 || jobs[1].ClaimID != 71 {
		t.Errorf("claimed %+v", jobs)
	}
	jobs, err = q.Claim(t.Context(), 3)
	check.Err(t, err)
	if len(jobs) != 0 {
		t.Errorf("claimed %+v", jobs)
	}
}

// TestGuarded reads candidates, takes those that are still free, and reads again.
func TestGuarded(t *testing.T) {
	server, db := start(t)
	text := texts(t, "guardedora19")
	id := oracle.Columns("id NUMBER")
	server.Expect(
		oracle.Exec(text("claim_pick"), 3).Rows(id, oracle.Row{1}, oracle.Row{2}, oracle.Row{3}),
		// Three keys are padded to four, so that few texts are seen.
		oracle.Exec(text("claim_lock", byID(4)...), 1, 2, 3, 3).Rows(id, oracle.Row{1}, oracle.Row{3}),
		oracle.Exec(text("claim"), []int64{1, 3}, "w1"),
		oracle.Exec(text("claim_read", byID(2)...), 1, 3).Rows(singleColumns, singleRow(1), singleRow(3)),
		oracle.Commit(),
		oracle.Exec(text("claim_pick"), 2).Rows(id),
	)
	jobs, err := guardedora19.New(db, guardedora19.WithWorker("w1")).Claim(t.Context(), 3)
	check.Err(t, err)
	if len(jobs) != 2 || jobs[1].ID != 3 {
		t.Errorf("claimed %+v", jobs)
	}
}

// TestToken marks rows and reads what is marked.
func TestToken(t *testing.T) {
	server, db := start(t)
	text := texts(t, "tokenora19")
	server.Expect(
		oracle.Exec(text("claim"), oracle.Any, 2).Affected(1),
		oracle.Exec(text("claim_read"), oracle.Any).Rows(dueColumns, oracle.Row{1, 10, enqueuedText, 0, []byte("0123456789abcdef"), enqueuedText, nil}),
		oracle.Commit(),
		oracle.Exec(text("claim"), oracle.Any, 2),
		oracle.Commit(),
	)
	q := tokenora19.New(db)
	jobs, err := q.Claim(t.Context(), 2)
	check.Err(t, err)
	if len(jobs) != 1 || jobs[0].ID != 1 || jobs[0].Err != nil {
		t.Errorf("claimed %+v", jobs)
	}
	jobs, err = q.Claim(t.Context(), 2)
	check.Err(t, err)
	check.Equal(t, len(jobs), 0)
}
