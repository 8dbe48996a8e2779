package behaviour

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/guarded"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/hold"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/holdpq"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/minimal"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/minimalpg"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/pop"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/resultpgx"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/resultpq"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/rowid"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/shard"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/tenant"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/tenantpq"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/times"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/timespgx"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// keys lists the keys of jobs.
func keys[J interface{ Key() K }, K any](jobs []J) []K {
	list := []K{}
	for _, j := range jobs {
		list = append(list, j.Key())
	}
	return list
}

// lows records the bound of every claim.
type lows struct {
	*sql.DB
	seen []int64
}

func (l *lows) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if strings.Contains(query, ".Claim */") {
		l.seen = append(l.seen, args[0].(int64))
	}
	return l.DB.QueryContext(ctx, query, args...)
}

// low takes the bounds seen since the last call; the lowest key counts as 0.
func (l *lows) low() []int64 {
	seen := slices.Clone(l.seen)
	for i := range seen {
		seen[i] = max(0, seen[i])
	}
	l.seen = nil
	return seen
}

// TestLowBound follows the bound through a claim's life.
func TestLowBound(t *testing.T) {
	ctx := context.Background()
	db := &lows{DB: sqlite(t, "tasks_sqlite")}
	q := minimal.New(db)
	_, err := q.EnqueueMany(ctx, make([]minimal.NewJob, 20))
	check(t, err)
	claim := func(limit int, want []int64, low ...int64) []minimal.Job {
		t.Helper()
		jobs, err := q.Claim(ctx, limit)
		check(t, err)
		equal(t, keys(jobs), want)
		equal(t, db.low(), low)
		return jobs
	}
	first := claim(5, []int64{1, 2, 3, 4, 5}, 0) // the first look is a full one
	claim(1, []int64{6}, 5)                      // the fixed size knows the bound
	claim(3, []int64{7, 8, 9}, 6)

	check(t, q.Requeue(ctx, first[1])) // here: the bound follows
	claim(2, []int64{2, 10}, 1)
	_, err = db.Exec("UPDATE tasks SET status = 0 WHERE id = 3") // elsewhere: a short batch finds it
	check(t, err)
	claim(12, []int64{3, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 10, 0)
	claim(2, []int64{}, 0) // short from the lowest key is empty

	_, err = q.EnqueueMany(ctx, make([]minimal.NewJob, 4))
	check(t, err)
	claim(2, []int64{21, 22}, 0)
	check(t, q.Requeue(ctx, first[0], first[2]))
	more, err := q.CompleteAndClaim(ctx, []minimal.Job{first[3]}, 3)
	check(t, err)
	equal(t, keys(more), []int64{1, 3, 23})
	equal(t, len(db.low()), 0) // within the transaction, out of sight
	_, err = db.Exec("UPDATE tasks SET status = 0 WHERE id = 3")
	check(t, err)
	more, err = q.CompleteAndClaim(ctx, []minimal.Job{first[4]}, 3)
	check(t, err)
	equal(t, keys(more), []int64{3, 24})
	equal(t, db.low(), []int64{0}) // the second look, after it

	// A transaction of the caller's looks from the lowest key.
	tx, err := db.BeginTx(ctx, nil)
	check(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = q.EnqueueMany(ctx, nil)
	check(t, err)
	_, err = q.WithTx(tx).Claim(ctx, 3)
	check(t, err)
}

// TestFullLook finds what came back elsewhere within the time that the package
// promises, although every batch is full.
func TestFullLook(t *testing.T) {
	ctx := context.Background()
	db := &lows{DB: sqlite(t, "tasks_sqlite")}
	q := minimal.New(db)
	_, err := q.EnqueueMany(ctx, make([]minimal.NewJob, 8))
	check(t, err)
	_, err = q.Claim(ctx, 3)
	check(t, err)
	_, err = db.Exec("UPDATE tasks SET status = 0 WHERE id = 2")
	check(t, err)
	jobs, err := q.Claim(ctx, 1)
	check(t, err)
	equal(t, keys(jobs), []int64{4})
	time.Sleep(2100 * time.Millisecond)
	jobs, err = q.Claim(ctx, 1)
	check(t, err)
	equal(t, keys(jobs), []int64{2})
}

// TestLowBoundTogether has many workers of one process share the bound while
// jobs come back.
func TestLowBoundTogether(t *testing.T) {
	ctx := context.Background()
	q := minimalpg.New(postgres(t, "tasks_postgresql"))
	_, err := q.EnqueueMany(ctx, make([]minimalpg.NewJob, 400))
	check(t, err)
	var mu sync.Mutex
	held := map[int64]bool{}
	done := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				jobs, err := q.Claim(ctx, 1+rand.IntN(9))
				if err != nil || len(jobs) == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				for _, j := range jobs {
					if held[j.ID] {
						t.Errorf("job %d is held twice", j.ID)
					}
					held[j.ID] = true
				}
				back := rand.IntN(3) == 0
				for _, j := range jobs {
					delete(held, j.ID)
				}
				if !back {
					done += len(jobs)
				}
				mu.Unlock()
				if back {
					err = q.Requeue(ctx, jobs...)
				} else {
					err = q.Complete(ctx, jobs...)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	// A worker may have found nothing just before another gave jobs back.
	rest, err := q.Claim(ctx, 1000)
	check(t, err)
	if done+len(rest) != 400 {
		t.Errorf("%d done and %d left of 400", done, len(rest))
	}
}

// thief takes a task between the two statements of a guarded claim.
type thief struct {
	*sql.DB
	steals []int64
	picks  int
}

func (d *thief) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	switch {
	case strings.HasPrefix(query, "SELECT"):
		d.picks++
	case strings.Contains(query, "guarded.Claim") && len(d.steals) > 0:
		if _, err := d.Exec("UPDATE tasks SET status = 9, version = version + 1 WHERE id = ?", d.steals[0]); err != nil {
			return nil, err
		}
		d.steals = d.steals[1:]
	}
	return d.DB.QueryContext(ctx, query, args...)
}

func TestGuarded(t *testing.T) {
	ctx := context.Background()
	db := &thief{DB: sqlite(t, "tasks_sqlite")}
	for i := range 12 {
		_, err := db.Exec("INSERT INTO tasks (data) VALUES (?)", fmt.Sprint(i+1))
		check(t, err)
	}
	q := guarded.New(db)
	jobs, err := q.Claim(ctx, 2)
	check(t, err)
	equal(t, keys(jobs), []int64{1, 2})
	equal(t, db.picks, 1)
	equal(t, jobs[0], guarded.Job{ID: 1, Version: 1, Data: "1"})

	db.steals, db.picks = []int64{4}, 0
	lossy, err := q.Claim(ctx, 3) // 3 and 5 are won, another one is drawn from the next twelve
	check(t, err)
	if len(lossy) != 3 || db.picks != 2 || !slices.Equal(keys(lossy)[:2], []int64{3, 5}) || slices.Contains(keys(lossy), 4) {
		t.Errorf("%v after %d picks", keys(lossy), db.picks)
	}
	check(t, q.Fail(ctx, lossy[0], nil))
	if err := q.Complete(ctx, append(lossy, jobs...)...); !errors.Is(err, guarded.ErrLost) || err.Error() != "guarded: complete: claim lost: [3]" {
		t.Error(err)
	}
	rest, err := q.CompleteAndClaim(ctx, jobs[:1], 20)
	if !errors.Is(err, guarded.ErrLost) || len(rest) != 7 || rest[0].ID != 3 {
		t.Errorf("%v %v", keys(rest), err)
	}
	none, err := q.Claim(ctx, 5)
	check(t, err)
	equal(t, len(none), 0)

	// What was taken before an error is returned.
	_, err = db.Exec("UPDATE tasks SET status = 0")
	check(t, err)
	failing := &flaky{DB: db.DB, errs: []error{nil, nil, code(1)}}
	_, err = db.Exec("UPDATE tasks SET status = 9 WHERE id > 1")
	check(t, err)
	jobs, err = guarded.New(&slowThief{flaky: failing, db: db.DB}).Claim(ctx, 2)
	if err != nil || !slices.Equal(keys(jobs), []int64{1}) {
		t.Errorf("%v %v", keys(jobs), err)
	}
}

// slowThief lets a task become ready and be taken again within the first claim,
// so that a second round is needed.
type slowThief struct {
	*flaky
	db *sql.DB
}

func (d *slowThief) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if d.runs == 0 {
		if _, err := d.db.Exec("UPDATE tasks SET status = 0 WHERE id = 2"); err != nil {
			return nil, err
		}
	}
	if d.runs == 1 {
		if _, err := d.db.Exec("UPDATE tasks SET status = 9, version = version + 1 WHERE id = 2"); err != nil {
			return nil, err
		}
	}
	return d.flaky.QueryContext(ctx, query, args...)
}

func TestGuardedTogether(t *testing.T) {
	ctx := context.Background()
	db := sqlite(t, "tasks_sqlite")
	db.SetMaxOpenConns(4)
	for range 200 {
		_, err := db.Exec("INSERT INTO tasks (data) VALUES ('')")
		check(t, err)
	}
	q := guarded.New(db)
	var mu sync.Mutex
	taken := map[int64]bool{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for empty := 0; empty < 3; {
				jobs, err := q.Claim(ctx, 3)
				if err != nil {
					t.Error(err)
					return
				}
				if len(jobs) == 0 {
					empty++
				}
				mu.Lock()
				for _, j := range jobs {
					if taken[j.ID] {
						t.Errorf("task %d is held twice", j.ID)
					}
					taken[j.ID] = true
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	equal(t, len(taken), 200)
}

func TestRowIdentity(t *testing.T) {
	ctx := context.Background()
	db := sqlite(t, "log_sqlite")
	q := rowid.New(db)
	no := func(f float64) *float64 { return &f }
	one, err := q.Enqueue(ctx, rowid.NewJob{SequenceNo: no(1.5), Type: []byte{0, 255}})
	check(t, err)
	many, err := q.EnqueueMany(ctx, []rowid.NewJob{{SequenceNo: no(7)}, {}, {SequenceNo: no(1.5), Type: []byte("x")}})
	check(t, err)
	equal(t, []int64{one, many[0], many[1], many[2]}, []int64{1, 2, 3, 4})
	jobs, err := q.Claim(ctx, 9)
	check(t, err)
	equal(t, keys(jobs), []int64{2, 1, 4, 3})
	equal(t, jobs[1].Type, []byte{0, 255})
	equal(t, jobs[2].Type, []byte("x"))
	equal(t, jobs[0].Type, nil)
	if *jobs[0].Owner <= 0 || *jobs[0].Owner != *jobs[3].Owner {
		t.Errorf("owners %d and %d", *jobs[0].Owner, *jobs[3].Owner)
	}
	stranger := jobs[0]
	other := *jobs[0].Owner - 1
	stranger.Owner = &other
	var lost *rowid.LostError
	if err := q.Complete(ctx, stranger, jobs[1]); !errors.As(err, &lost) || !slices.Equal(lost.Keys, []int64{2}) {
		t.Error(err)
	}
	check(t, q.Fail(ctx, jobs[0], nil))
	check(t, q.Complete(ctx, travel(t, jobs[2], jobs[3])...))
}

func TestCompositeKey(t *testing.T) {
	ctx := context.Background()
	q := tenant.New(postgres(t, "tenant_postgresql"))
	one, err := q.Enqueue(ctx, tenant.NewJob{Tenant: `a"{,}\`, No: 1, Data: []byte{0, 1}})
	check(t, err)
	equal(t, one, tenant.Key{Tenant: `a"{,}\`, No: 1})
	_, err = q.EnqueueMany(ctx, []tenant.NewJob{{Tenant: "b", No: 2}, {Tenant: "a", No: 2, Data: []byte("x")}, {Tenant: "c", No: 1}})
	check(t, err)
	if _, err := q.Enqueue(ctx, tenant.NewJob{Tenant: "b", No: 2}); err == nil || tenant.IsRetryable(err) {
		t.Errorf("a second row of the same key: %v", err)
	}
	none, err := q.Claim(ctx, nil, 10)
	check(t, err)
	equal(t, len(none), 0)
	jobs, err := q.Claim(ctx, []string{"b", "a", `a"{,}\`}, 10)
	check(t, err)
	equal(t, keys(jobs), []tenant.Key{one, {Tenant: "a", No: 2}, {Tenant: "b", No: 2}})
	equal(t, jobs[0], tenant.Job{Tenant: one.Tenant, No: 1, State: tenant.StatusRunning, Version: 1, Data: []byte{0, 1}})

	old := jobs[0]
	check(t, q.Extend(ctx, &jobs[0]))
	equal(t, jobs[0].Version, 2)
	var lost *tenant.LostError
	if err := q.Complete(ctx, old, jobs[1]); !errors.As(err, &lost) || !slices.Equal(lost.Keys, []tenant.Key{one}) {
		t.Error(err)
	}
	check(t, q.Requeue(ctx, travel(t, jobs[2])...))
	again, err := q.CompleteAndClaim(ctx, jobs[:1], []string{"b"}, 1)
	check(t, err)
	equal(t, keys(again), keys(jobs[2:]))
	equal(t, again[0].Version, 3)
}

func TestCompositeKeySQL(t *testing.T) {
	ctx := context.Background()
	db := postgresSQL(t, "tenant_postgresql")
	q := tenantpq.New(db)
	odd := tenantpq.Key{Tenant: `a"{,}\`, No: 1}
	given, err := q.EnqueueMany(ctx, []tenantpq.NewJob{{Tenant: odd.Tenant, No: 1, Data: []byte{0, 1}}, {Tenant: "b", No: 2}})
	check(t, err)
	equal(t, given, []tenantpq.Key{odd, {Tenant: "b", No: 2}})
	// Other rows are written for those that are found by the keys that they were given: the
	// database makes another key of one that ends with a blank.
	noted := func() {
		t.Helper()
		var jobs, notes string
		check(t, db.QueryRowContext(ctx, `SELECT string_agg(tenant || no || state, ',' ORDER BY no), (SELECT string_agg(tenant || no || state, ',' ORDER BY no) FROM tenant_notes) FROM tenant_jobs`).Scan(&jobs, &notes))
		equal(t, []string{jobs, notes}, []string{`a"{,}\1ready,b2ready`, `a"{,}\1ready,b2ready`})
	}
	noted()
	if keys, err := q.EnqueueMany(ctx, []tenantpq.NewJob{{Tenant: "d", No: 3}, {Tenant: "d ", No: 4}}); keys != nil || err == nil ||
		err.Error() != "tenantpq: enqueue: 1 of 2 new rows were found by the keys that they were given" {
		t.Error(keys, err)
	}
	if key, err := q.Enqueue(ctx, tenantpq.NewJob{Tenant: "d ", No: 4}); key != (tenantpq.Key{}) || err == nil {
		t.Error(key, err)
	}
	noted()
	none, err := q.Claim(ctx, nil, 10)
	check(t, err)
	equal(t, len(none), 0)
	jobs, err := q.Claim(ctx, []string{odd.Tenant, "b"}, 10)
	check(t, err)
	equal(t, keys(jobs), given)
	equal(t, jobs[0].Data, []byte{0, 1})
	old := jobs[0]
	check(t, q.Extend(ctx, &jobs[0], &jobs[1]))
	again, err := q.CompleteAndClaim(ctx, []tenantpq.Job{old, jobs[1]}, nil, 1)
	var lost *tenantpq.LostError
	if !errors.As(err, &lost) || !slices.Equal(lost.Keys, given[:1]) || len(again) != 0 {
		t.Error(again, err)
	}
}

func TestResult(t *testing.T) {
	ctx := context.Background()
	db := postgresSQL(t, "sums_postgresql")
	q := resultpq.New(db)
	ids, err := q.EnqueueMany(ctx, []resultpq.NewJob{{Question: `1+1`}, {Question: `"{\`}, {Question: "NULL"}, {Question: "last"}})
	check(t, err)
	jobs, err := q.Claim(ctx, 3)
	check(t, err)
	answer := func(s string) *string { return &s }
	check(t, q.Complete(ctx, jobs[0].Done(answer(`"q" \ {,} NULL`+"\n")), jobs[1].Done(answer("NULL"))))
	for id, want := range map[string]string{jobs[0].ID: `"q" \ {,} NULL` + "\n", jobs[1].ID: "NULL"} {
		var got string
		check(t, db.QueryRow("SELECT answer FROM sums WHERE id = $1", id).Scan(&got))
		equal(t, got, want)
	}
	var lost *resultpq.LostError
	more, err := q.CompleteAndClaim(ctx, []resultpq.Done{jobs[0].Done(nil), jobs[2].Done(answer("3"))}, 5)
	if !errors.As(err, &lost) || !slices.Equal(lost.Keys, []string{jobs[0].ID}) || len(more) != 1 || more[0].ID != ids[3] {
		t.Errorf("%v %v", keys(more), err)
	}
	// A null count never runs out; a count of two allows one failure more.
	check(t, q.Fail(ctx, more[0], nil))
	for _, left := range []int{2, 1} {
		_, err := db.Exec("UPDATE sums SET tries_left = $1 WHERE id = $2", left, ids[3])
		check(t, err)
		more, err = q.Claim(ctx, 5)
		check(t, err)
		equal(t, keys(more), ids[3:])
		check(t, q.Fail(ctx, more[0], nil))
		var now int
		check(t, db.QueryRow("SELECT tries_left FROM sums WHERE id = $1", ids[3]).Scan(&now))
		equal(t, now, left-1)
	}
}

func TestResultPGX(t *testing.T) {
	ctx := context.Background()
	q := resultpgx.New(postgres(t, "sums_postgresql"))
	_, err := q.EnqueueMany(ctx, []resultpgx.NewJob{{Question: `1+1`}, {Question: "x"}})
	check(t, err)
	jobs, err := q.Claim(ctx, 1)
	check(t, err)
	answer := "2"
	done := resultpgx.Done{Job: travel(t, jobs[0])[0], Result: &answer}
	more, err := q.CompleteAndClaim(ctx, []resultpgx.Done{done}, 1)
	check(t, err)
	equal(t, len(more), 1)
	if err := q.Complete(ctx, done, more[0].Done(nil)); !errors.Is(err, resultpgx.ErrLost) || !strings.Contains(err.Error(), jobs[0].ID) || strings.Contains(err.Error(), more[0].ID) {
		t.Error(err)
	}
}

func TestHold(t *testing.T) {
	ctx := context.Background()
	pool := postgres(t, "mails_postgresql")
	q := hold.New(pool)
	ids, err := q.EnqueueMany(ctx, []hold.NewJob{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}})
	check(t, err)
	one, err := pool.Begin(ctx)
	check(t, err)
	defer func() { _ = one.Rollback(ctx) }()
	two, err := pool.Begin(ctx)
	check(t, err)
	defer func() { _ = two.Rollback(ctx) }()
	mine, yours := q.WithTx(one), q.WithTx(two)
	a, err := mine.Claim(ctx, 1)
	check(t, err)
	b, err := yours.Claim(ctx, 1)
	check(t, err)
	c, err := mine.Claim(ctx, 1) // not the one that it holds already
	check(t, err)
	equal(t, []int32{a[0].ID, b[0].ID, c[0].ID}, ids[:3])
	check(t, mine.Complete(ctx, a...))
	check(t, mine.Requeue(ctx, c...))
	if err := mine.Complete(ctx, a...); !errors.Is(err, hold.ErrLost) {
		t.Error(err)
	}
	check(t, one.Commit(ctx))
	d, err := yours.Claim(ctx, 10)
	check(t, err)
	equal(t, keys(d), ids[2:])
	check(t, yours.Fail(ctx, d[0], nil))
	check(t, two.Rollback(ctx))
	var left, failed int
	check(t, pool.QueryRow(ctx, "SELECT count(*), count(*) FILTER (WHERE failed) FROM mails").Scan(&left, &failed))
	equal(t, []int{left, failed}, []int{3, 0})
}

func TestHoldSQL(t *testing.T) {
	ctx := context.Background()
	db := postgresSQL(t, "mails_postgresql")
	q := holdpq.New(db)
	_, err := q.EnqueueMany(ctx, []holdpq.NewJob{{Text: "a"}, {Text: "b"}})
	check(t, err)
	tx, err := db.BeginTx(ctx, nil)
	check(t, err)
	h := q.WithTx(tx)
	for _, want := range []string{"a", "b"} {
		jobs, err := h.Claim(ctx, 1)
		check(t, err)
		equal(t, jobs[0].Text, want)
		check(t, h.Complete(ctx, jobs...))
	}
	check(t, tx.Commit())
	var left int
	check(t, db.QueryRow("SELECT count(*) FROM mails").Scan(&left))
	equal(t, left, 0)
}

func TestPop(t *testing.T) {
	ctx := context.Background()
	q := pop.New(sqlite(t, "pings_sqlite"))
	check(t, q.Enqueue(ctx, pop.NewJob{Host: `"a"`}))
	check(t, q.EnqueueMany(ctx, []pop.NewJob{{Host: "b"}, {Host: "c"}, {Host: "b"}}))
	for _, want := range [][]int64{{1, 2}, {3, 4}, {}} {
		jobs, err := q.Claim(ctx, 2)
		check(t, err)
		equal(t, keys(jobs), want)
	}
}

func TestShard(t *testing.T) {
	ctx := context.Background()
	db := postgresSQL(t, "files_postgresql")
	_, err := db.Exec(`INSERT INTO files (path, hash_code, urgent) VALUES ('/a', 1, false), ('/b', 2, true), ('/c', 3, null), ('/d', null, true), ('x\000', 5, false)`)
	check(t, err)
	q := shard.New(db)
	odd := shard.Shard{Index: 1, Count: 2}
	jobs, err := q.Claim(ctx, nil, odd, 10)
	check(t, err)
	equal(t, keys(jobs), []string{"/c", "/a", "x\x00"})
	slash := "/"
	some, err := q.Claim(ctx, &slash, odd, 1)
	check(t, err)
	equal(t, keys(some), []string{"/c"})
	even, err := q.Claim(ctx, &slash, shard.Shard{Index: 0, Count: 2}, 10)
	check(t, err)
	equal(t, keys(even), []string{"/b", "/d"})
	check(t, q.Complete(ctx, jobs...))
	if err := q.Complete(ctx, jobs[2]); err == nil || err.Error() != "shard: complete: claim lost: [x\x00]" {
		t.Error(err)
	}
	for _, none := range []shard.Shard{{}, {Index: 2, Count: 2}, {Index: -1, Count: 2}} {
		if _, err := q.Claim(ctx, nil, none, 1); err == nil || err.Error() != fmt.Sprintf("shard: claim: there is no shard %d of %d", none.Index, none.Count) {
			t.Error(err)
		}
	}
}

// TestTimes sends times through every way in which columns keep them.
func TestTimes(t *testing.T) {
	ctx := context.Background()
	db := postgresSQL(t, "times_postgresql")
	at := func(text string) time.Time {
		t.Helper()
		when, err := time.Parse(time.RFC3339Nano, text)
		check(t, err)
		return when
	}
	ref := func(text string) *time.Time { when := at(text); return &when }
	full := times.NewJob{
		ID: at("2026-03-01T10:00:00.123456+02:00"), WallLocal: at("2026-03-01T10:00:00Z"), WallNull: ref("2026-03-01T12:00:00.5Z"),
		Zoned: ref("2026-03-01T12:00:00.25+01:00"), Sec: at("2026-03-01T10:00:01Z"), Ms: ref("2026-03-01T10:00:01.007Z"), Us: ref("2026-03-01T10:00:01.000009Z"),
		Ns: at("2026-03-01T10:00:01.000000007+03:00"), NsNull: ref("1969-12-31T23:59:59.999999999Z"),
		Txt: at("2026-03-01T10:00:02Z"), TxtNull: ref("2026-03-01T10:00:03+03:00"),
		Dig: at("2001-09-09T01:46:39Z"), DigMs: at("2026-03-01T10:00:02.034+01:00"), DigNull: ref("2026-03-01T10:00:02.000005Z"), DigNs: at("2026-03-01T10:00:02.000000005Z"),
	}
	bare := full
	bare.ID, bare.WallNull, bare.Zoned, bare.Ms, bare.Us, bare.NsNull, bare.TxtNull, bare.DigNull = full.ID.Add(time.Hour), nil, nil, nil, nil, nil, nil, nil
	text, err := json.Marshal([]times.NewJob{full, bare})
	check(t, err)
	var news []timespgx.NewJob
	check(t, json.Unmarshal(text, &news))

	q, p := times.New(db), timespgx.New(poolOf(t, db))
	for _, add := range []func() error{
		func() error { _, err := q.Enqueue(ctx, full); return err },
		func() error { _, err := q.EnqueueMany(ctx, []times.NewJob{bare}); return err },
		func() error { _, err := p.Enqueue(ctx, news[0]); return err },
		func() error { _, err := p.EnqueueMany(ctx, news[1:]); return err },
		func() error { _, err := q.EnqueueMany(ctx, []times.NewJob{full, bare}); return err },
		func() error { _, err := p.EnqueueMany(ctx, news); return err },
	} {
		check(t, add())
		var raw string
		check(t, db.QueryRow("SELECT concat_ws('|', wall_local, wall_null, sec, ms, us, txt, txt_null, dig, dig_ms, ns, dig_ns) FROM times ORDER BY id DESC LIMIT 1").Scan(&raw))
		equal(t, strings.HasPrefix(raw, "2026-03-01 15:30:00|"), true)
		equal(t, strings.Contains(raw, "|20260301153002"), true)
		equal(t, strings.HasSuffix(raw, "|00999999999|01772355602034|1772348401000000007|1772359202000000005"), true)
		var n int
		check(t, db.QueryRow("SELECT count(*) FROM times").Scan(&n))
		if n < 2 {
			continue
		}
		_, err := db.Exec("UPDATE times SET state = NULL")
		check(t, err)
		one, err := q.Claim(ctx, time.Minute, 10)
		check(t, err)
		_, err = db.Exec("UPDATE times SET state = NULL, zoned = zoned - interval '1 minute'")
		check(t, err)
		two, err := p.Claim(ctx, time.Minute, 10)
		check(t, err)
		for i, want := range []times.NewJob{full, bare} {
			sameTimes(t, one[i], want)
			sameTimes(t, two[i], want)
		}
		check(t, q.Complete(ctx, travel(t, one[0])...))
		check(t, p.Complete(ctx, travel(t, two[1])...))
		if err := q.Complete(ctx, one...); err == nil || !errors.Is(err, times.ErrLost) {
			t.Error(err)
		}
	}

	// What a text of digits or a number of nanoseconds cannot hold becomes the nearest that it can.
	far := full
	far.Dig, far.DigMs, far.DigNull = at("1969-12-31T23:59:59Z"), at("9999-12-31T23:59:59Z"), ref("1969-12-31T23:59:59Z")
	far.Ns, far.NsNull, far.DigNs = time.Time{}, ref("9999-12-31T23:59:59Z"), at("2262-04-11T23:47:17Z")
	far.ID = full.ID.Add(2 * time.Hour)
	_, err = q.Enqueue(ctx, far)
	check(t, err)
	var raw string
	check(t, db.QueryRow("SELECT concat_ws('|', dig, dig_ms, dig_null, ns, ns_null, dig_ns) FROM times WHERE sec IS NOT NULL ORDER BY id DESC LIMIT 1").Scan(&raw))
	equal(t, raw, "00000000000|99999999999999|00000000000000000|-9223372036854775808|9223372036854775807|9223372036854775807")
	_, err = db.Exec("DELETE FROM times WHERE dig = '00000000000'")
	check(t, err)

	_, err = q.Enqueue(ctx, full)
	check(t, err)
	_, err = db.Exec("UPDATE times SET txt = 'noon', txt_null = 'night', dig = 'soon', dig_null = ''")
	check(t, err)
	odd, err := q.Claim(ctx, 2*time.Second, 1)
	check(t, err)
	if text := fmt.Sprint(odd[0].Err); !strings.Contains(text, "dig: ") || !strings.Contains(text, "dig_null: ") || odd[0].DigNull != nil || !odd[0].DigMs.Equal(full.DigMs) {
		t.Errorf("%+v", odd[0])
	}
	if odd[0].Err == nil || !strings.Contains(odd[0].Err.Error(), "txt: ") || !strings.Contains(odd[0].Err.Error(), "txt_null: ") || odd[0].TxtNull != nil || !odd[0].Sec.Equal(full.Sec) {
		t.Errorf("%+v", odd[0])
	}
}

// sameTimes compares the fields of a Job and a NewJob of one name; Zoned was
// moved by a minute.
func sameTimes(t *testing.T, job, want any) {
	t.Helper()
	j, n := reflect.ValueOf(job), reflect.ValueOf(want)
	for i := range n.NumField() {
		name := n.Type().Field(i).Name
		got, asked := j.FieldByName(name).Interface(), n.Field(i).Interface()
		switch asked := asked.(type) {
		case time.Time:
			if !got.(time.Time).Equal(asked) {
				t.Errorf("%s is %v, want %v", name, got, asked)
			}
		case *time.Time:
			when := got.(*time.Time)
			if (when == nil) != (asked == nil) {
				t.Fatalf("%s is %v, want %v", name, when, asked)
			}
			if asked == nil {
				continue
			}
			due := *asked
			if name == "Zoned" {
				due = due.Add(time.Minute)
			}
			if !when.Equal(due) {
				t.Errorf("%s is %v, want %v", name, when, due)
			}
		}
	}
}
