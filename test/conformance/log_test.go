package conformance

import (
	"context"
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
)

// This file proves what is promised of tables whose rows are only added, and
// which groups of consumers read behind marks. There a claim is a row of a side
// table and not a state of the jobs, so most properties of the suite say nothing.

// logProperties is the suite for such tables.
var logProperties = []property{
	{"order", nil, proveLogOrder},
	{"one consumer", nil, proveOneConsumer},
	{"nothing lost", nil, proveNothingLost},
	{"late commit", hasRowLocks, proveLateCommit},
	{"late consumer", nil, proveLateConsumer},
	{"out of order", nil, proveOutOfOrder},
	{"groups", nil, proveGroupsOfLog},
	{"whole values", hasAlike, proveWholeValues},
	{"joins transaction", nil, proveLogJoins},
	{"killed worker", nil, proveKilledWorker},
	{"idle poll", nil, proveIdleLog},
	{"purge", hasPassed, provePassed},
	{"verify", nil, proveVerifyLog},
	{"methods", nil, proveMethods},
}

// properties are those of the suite that are about such a subject.
func (s *subject) properties() []property {
	if s.strategy() == "offset" {
		return logProperties
	}
	return properties
}

// hasAlike: rows can be alike in the column by which they are read.
func hasAlike(s *subject) bool { return s.pkg.shape == "logalike" }

// hasPassed: rows that every group has passed can be removed.
func hasPassed(s *subject) bool { return s.method("Purge") }

// settling is longer than the settle time of the cases.
const settling = 600 * time.Millisecond

// in returns the queue as consumers of a group see it.
func (q queue) in(group string) queue {
	q.group = group
	return q
}

// rows claims until there are rows, or fails the test: those that were just added
// may have to settle first.
func (q queue) rows(t testing.TB, limit int) []job {
	t.Helper()
	ctx := limited(t, 20*time.Second)
	for {
		jobs, err := q.claim(ctx, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) > 0 {
			return jobs
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// none claims and fails the test when there are rows.
func (q queue) none(t testing.TB) {
	t.Helper()
	if jobs, err := q.claim(limited(t, time.Minute), 10); len(jobs) > 0 || err != nil {
		t.Fatalf("a claim got %v, %v; want none", numbers(jobs), err)
	}
}

// done completes jobs or fails the test.
func (q queue) done(t testing.TB, jobs ...job) {
	t.Helper()
	if err := q.complete(limited(t, time.Minute), jobs...); err != nil {
		t.Fatal(err)
	}
}

// wantNumbers compares the numbers of jobs.
func wantNumbers(t testing.TB, jobs []job, want ...int64) {
	t.Helper()
	if got := numbers(jobs); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// lag is how many rows the group is behind.
func (q queue) lag(t testing.TB) int64 {
	t.Helper()
	out, err := q.call(limited(t, time.Minute), "Stats")
	if err != nil {
		t.Fatal(err)
	}
	for i := range out[0].Len() {
		if g := out[0].Index(i); g.FieldByName("Group").String() == q.group {
			return g.FieldByName("Lag").Int()
		}
	}
	t.Fatalf("Stats knows no group %q", q.group)
	return 0
}

// isLost fails the test unless err says that the claims of those jobs were lost.
func (t *table) isLost(tb testing.TB, err error, jobs ...job) {
	tb.Helper()
	if !errors.Is(err, t.pkg.lost) {
		tb.Fatalf("got %v, want ErrLost", err)
	}
	var keys reflect.Value
	for e := err; e != nil && !keys.IsValid(); e = errors.Unwrap(e) {
		if v := reflect.Indirect(reflect.ValueOf(e)); v.Kind() == reflect.Struct {
			keys = v.FieldByName("Keys")
		}
	}
	if !keys.IsValid() || keys.Len() != len(jobs) {
		tb.Fatalf("%v names other keys than those of %v", err, numbers(jobs))
	}
}

// proveLogOrder: a group gets the rows in order, over claims of any size.
func proveLogOrder(t *testing.T, s *subject) {
	const total = 230
	x := s.newTable(t)
	x.fill(t, 1, total)
	q := x.q.in("g")
	var got []int64
	for _, size := range []int{1, 7, 1, 100, 13, 1000} {
		jobs := q.rows(t, size)
		got = append(got, numbers(jobs)...)
		q.done(t, jobs...)
	}
	if len(got) != total || !slices.IsSorted(got) {
		t.Errorf("%d rows came as %v, want all %d in order", len(got), got, total)
	}
}

// proveOneConsumer: while a consumer has a claim, others of its group get none;
// afterwards they go on behind it.
func proveOneConsumer(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 30)
	a, b := x.open(x.conn, "a").in("g"), x.open(x.conn, "b").in("g")
	first := a.rows(t, 10)
	wantNumbers(t, first, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	b.none(t)
	a.none(t)
	a.done(t, first...)
	second := b.rows(t, 10)
	wantNumbers(t, second, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	a.none(t)
	if err := b.requeue(limited(t, time.Minute), 0, second[0]); err != nil {
		t.Fatal(err)
	}
	again := a.rows(t, 10)
	wantNumbers(t, again, numbers(second)...)
	x.isLost(t, b.complete(limited(t, time.Minute), second...), second...)
	a.done(t, again...)
	if n := a.lag(t); n != 10 {
		t.Errorf("the group is %d rows behind, want 10", n)
	}
}

// proveNothingLost: producers commit out of order while consumers of two groups
// claim, give back, and finish out of order: each group gets every row, and no two
// consumers of a group hold one at once.
func proveNothingLost(t *testing.T, s *subject) {
	const producers, each, consumers = 6, 40, 3
	x := s.newTable(t)
	ctx, cancel := context.WithCancelCause(limited(t, 2*time.Minute))
	defer cancel(nil)
	var adding, reading sync.WaitGroup
	for p := range producers {
		adding.Go(func() {
			for i := range each {
				n := p*each + i + 1
				if err := x.addLate(ctx, n, time.Duration(rand.IntN(20))*time.Millisecond); err != nil {
					cancel(err)
				}
			}
		})
	}
	total := producers * each
	seen := map[string]map[int64]bool{"g": {}, "h": {}}
	for group, got := range seen {
		var mu sync.Mutex
		holder := ""
		for c := range consumers {
			name := fmt.Sprintf("%s%d", group, c)
			q := x.open(x.conn, name).in(group)
			reading.Go(func() {
				for i := 1; ctx.Err() == nil; i++ {
					mu.Lock()
					all := len(got) == total
					mu.Unlock()
					if all {
						return
					}
					jobs, err := q.claim(ctx, 1+rand.IntN(20))
					if err != nil {
						cancel(err)
						return
					}
					if len(jobs) == 0 {
						time.Sleep(3 * time.Millisecond)
						continue
					}
					mu.Lock()
					if holder != "" {
						cancel(fmt.Errorf("%s got %v while %s had a claim", name, numbers(jobs), holder))
					}
					holder = name
					mu.Unlock()
					shuffled := slices.Clone(jobs)
					if i%3 == 0 {
						rand.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
					}
					keep := shuffled
					if i%7 == 0 {
						keep = shuffled[:len(shuffled)/2]
					}
					mu.Lock()
					if len(keep) == len(jobs) {
						holder = "" // the last of them ends the claim
					}
					for _, n := range numbers(keep) {
						got[n] = true
					}
					mu.Unlock()
					half := len(keep) / 2
					for _, part := range [][]job{keep[:half], keep[half:]} {
						if err := q.complete(ctx, part...); err != nil {
							cancel(err)
						}
					}
					if len(keep) < len(jobs) {
						mu.Lock()
						holder = ""
						mu.Unlock()
						if err := q.requeue(ctx, 0, jobs...); err != nil {
							cancel(err)
						}
					}
				}
			})
		}
	}
	adding.Wait()
	reading.Wait()
	for group, got := range seen {
		if len(got) != total {
			t.Errorf("group %s got %d of %d rows: %v", group, len(got), total, context.Cause(ctx))
		}
	}
}

// addLate adds a row in a transaction that goes on for a while.
func (t *table) addLate(ctx context.Context, n int, wait time.Duration) error {
	if t.family.oneWriter {
		wait = 0
	}
	return t.again(ctx, func() error {
		tx, err := t.begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.rollback() }()
		if _, err := t.open(tx.any, "producer").enqueue(ctx, n); err != nil {
			return err
		}
		time.Sleep(wait)
		return tx.commit()
	})
}

// proveLateCommit: a row that was added first and is committed last is not passed
// over, whichever transaction is older.
func proveLateCommit(t *testing.T, s *subject) {
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	q := x.q.in("g")
	for round := range 3 {
		first := round*10 + 1
		slow, err := x.begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		quick, err := x.begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if s.family.engine == postgresql.engine {
			older := []tx{quick, slow}[round%2] // whichever has the lower number
			if err := older.queryRow("SELECT txid_current()", new(int64)); err != nil {
				t.Fatal(err)
			}
		}
		for i, tx := range []tx{slow, quick} {
			if _, err := x.open(tx.any, "producer").enqueue(ctx, first+i); err != nil {
				t.Fatal(err)
			}
		}
		if err := quick.commit(); err != nil {
			t.Fatal(err)
		}
		var got []int64
		for range 5 { // others may get ahead, but not past what is open
			jobs, err := q.claim(ctx, 10)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, numbers(jobs)...)
			q.done(t, jobs...)
			time.Sleep(10 * time.Millisecond)
		}
		if round == 2 {
			err = slow.rollback()
		} else {
			err = slow.commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		want := []int64{int64(first), int64(first + 1)}
		if round == 2 {
			want = want[1:]
		}
		for len(got) < len(want) {
			jobs := q.rows(t, 10)
			got = append(got, numbers(jobs)...)
			q.done(t, jobs...)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: got %v, want %v", round, got, want)
		}
	}
	time.Sleep(settling)
	q.none(t)
}

// proveLateConsumer: when a claim has run out, its rows come again, and whoever
// had it can do nothing to the mark any more.
func proveLateConsumer(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 20)
	ctx := limited(t, time.Minute)
	late, prompt := x.open(x.conn, "worker").in("g"), x.open(x.conn, "worker").in("g")
	old := late.rows(t, 10)
	late.done(t, old[:3]...)
	x.expire(t)
	if err := late.settle(ctx, "Extend", old...); err != nil {
		t.Errorf("nobody took the claim, and Extend says %v", err)
	}
	prompt.none(t)
	x.expire(t)
	current := prompt.rows(t, 10)
	wantNumbers(t, current, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
	x.isLost(t, late.complete(ctx, old[3:]...), old[3:]...)
	x.isLost(t, late.complete(ctx, old[5]), old[5])
	x.isLost(t, late.settle(ctx, "Extend", old...), old...)
	x.isLost(t, late.requeue(ctx, 0, old...), old...)
	if n := prompt.lag(t); n != 17 {
		t.Errorf("the group is %d rows behind, want 17", n)
	}
	prompt.done(t, current...)
	if n := prompt.lag(t); n != 7 {
		t.Errorf("the group is %d rows behind, want 7", n)
	}
}

// proveOutOfOrder: the mark stays before the first row that is not finished, and
// passes what is finished behind it, whichever process finishes it.
func proveOutOfOrder(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 12)
	ctx := limited(t, time.Minute)
	q, other := x.open(x.conn, "a").in("g"), x.open(x.conn, "b").in("g")
	jobs := q.rows(t, 10)
	for _, step := range []struct {
		places []int
		lag    int64
	}{
		{[]int{2, 4}, 12}, {[]int{1}, 12}, {[]int{0, 0}, 9}, {[]int{7, 3}, 7}, {[]int{9, 8, 6}, 7},
	} {
		var some []job
		for _, p := range step.places {
			some = append(some, handedOver(t, jobs[p]))
		}
		other.done(t, some...)
		if n := q.lag(t); n != step.lag {
			t.Fatalf("after %v the group is %d rows behind, want %d", step.places, n, step.lag)
		}
	}
	x.isLost(t, q.complete(ctx, jobs[0], jobs[6]), jobs[0], jobs[6])
	other.none(t)
	q.done(t, jobs[5])
	if n := q.lag(t); n != 2 {
		t.Errorf("the group is %d rows behind, want 2", n)
	}
	wantNumbers(t, other.rows(t, 10), 11, 12)
}

// handedOver is a job as another process gets it.
func handedOver(t testing.TB, j job) job {
	t.Helper()
	text, err := json.Marshal(j.v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	there := reflect.New(j.v.Type())
	if err := json.Unmarshal(text, there.Interface()); err != nil {
		t.Fatal(err)
	}
	return job{there.Elem()}
}

// proveGroupsOfLog: groups do not know of each other; a new one begins with the first
// row, and so does one that is rewound.
func proveGroupsOfLog(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 5)
	ctx := limited(t, time.Minute)
	g, h := x.q.in("g"), x.q.in("G")
	first := g.rows(t, 2)
	wantNumbers(t, first, 1, 2)
	wantNumbers(t, h.rows(t, 3), 1, 2, 3)
	g.done(t, first...)
	out, err := g.call(ctx, "Peek", 2)
	if err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, jobsOf(out[0]), 3, 4)
	held := g.rows(t, 2)
	if _, err := g.call(ctx, "Rewind"); err != nil {
		t.Fatal(err)
	}
	x.isLost(t, g.complete(ctx, held...), held...)
	wantNumbers(t, g.rows(t, 10), 1, 2, 3, 4, 5)
	if n := h.lag(t); n != 5 {
		t.Errorf("the other group is %d rows behind, want 5", n)
	}
}

// proveWholeValues: a batch holds all rows that are alike or none of them, and the
// mark does not come to stand between them.
func proveWholeValues(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 16)
	x.run(t, "UPDATE jobs SET at = n / 4") // 1-3, 4-7, 8-11, 12-15, 16
	q := x.q.in("g")
	jobs := q.rows(t, 8)
	wantNumbers(t, jobs, 1, 2, 3, 4, 5, 6, 7)
	q.done(t, jobs[:5]...) // up to between rows that are alike
	if n := q.lag(t); n != 13 {
		t.Errorf("the group is %d rows behind, want 13", n)
	}
	x.expire(t)
	jobs = q.rows(t, 2)
	wantNumbers(t, jobs, 4, 5, 6, 7) // more than asked, since they are alike
	q.done(t, jobs[3], jobs[1])
	q.done(t, jobs[0], jobs[2])
	if n := q.lag(t); n != 9 {
		t.Errorf("the group is %d rows behind, want 9", n)
	}
	jobs = q.rows(t, 4)
	wantNumbers(t, jobs, 8, 9, 10, 11)
	q.done(t, jobs...)
	jobs = q.rows(t, 100)
	wantNumbers(t, jobs, 12, 13, 14, 15, 16)
	q.done(t, jobs...)
	q.none(t)
}

// proveLogJoins: what is finished in the caller's transaction is finished when that
// commits, and not at all when it is rolled back.
func proveLogJoins(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 10)
	ctx := limited(t, time.Minute)
	q := x.q.in("g")
	jobs := q.rows(t, 5)
	for _, step := range []struct {
		commit bool
		places []int
		lag    int64
	}{{false, []int{0, 1}, 10}, {false, []int{2}, 10}, {true, []int{1}, 10}, {true, []int{0}, 8}} {
		tx, err := x.begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var some []job
		for _, p := range step.places {
			some = append(some, jobs[p])
		}
		if err := q.withTx(tx.any).complete(ctx, some...); err != nil {
			t.Fatal(err)
		}
		end := tx.rollback
		if step.commit {
			end = tx.commit
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if n := q.lag(t); n != step.lag {
			t.Fatalf("after %v, committed: %t, the group is %d rows behind, want %d", step.places, step.commit, n, step.lag)
		}
	}
	q.done(t, jobs[2:]...)

	tx, err := x.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.rollback() }()
	inside, err := q.withTx(tx.any).claim(ctx, 2)
	if settles := strings.Contains(readText(t, "gen/"+s.pkg.name+"/claim.go"), "settled"); settles != claimsApart(err) {
		t.Fatalf("a claim in the caller's transaction got %v, %v; rows settle: %t", numbers(inside), err, settles)
	} else if settles {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, inside, 6, 7)
	if err := tx.rollback(); err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, q.rows(t, 2), 6, 7)
}

// claimsApart: the error says that a claim does not join the caller's transaction,
// since it may not see all rows.
func claimsApart(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Claim needs a pool")
}

// proveIdleLog: looking for rows where there are none writes nothing.
func proveIdleLog(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 3)
	ctx := limited(t, time.Minute)
	g := x.q.in("g")
	old := g.rows(t, 10)
	g.done(t, old...)
	x.analyze(t)
	for _, call := range []idleCall{
		{"Claim", func(t *testing.T, q queue) {
			if jobs, err := q.in("g").claim(ctx, 10); len(jobs) > 0 || err != nil && !claimsApart(err) {
				t.Fatalf("a claim got %v, %v; want none", numbers(jobs), err)
			}
		}},
		{"Complete", func(t *testing.T, q queue) { x.isLost(t, q.in("g").complete(ctx, old...), old...) }},
		{"Extend", func(t *testing.T, q queue) { x.isLost(t, q.in("g").settle(ctx, "Extend", old...), old...) }},
		{"Requeue", func(t *testing.T, q queue) { x.isLost(t, q.in("g").requeue(ctx, 0, old...), old...) }},
	} {
		t.Run(call.name, func(t *testing.T) {
			s.family.quiet(t, x, func(q queue) { call.call(t, q) })
		})
	}
}

// provePassed: Purge removes what every group has passed, but for the last row,
// and nothing while a group has read nothing.
func provePassed(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 10)
	ctx := limited(t, time.Minute)
	g, h := x.q.in("g"), x.q.in("h")
	purge := func(limit, want, left int) {
		t.Helper()
		if n, err := x.q.purge(ctx, 0, limit); n != want || err != nil {
			t.Fatalf("purged %d rows, %v; want %d", n, err, want)
		}
		if n := x.count(t, everyRow); n != left {
			t.Fatalf("%d rows are left, want %d", n, left)
		}
	}
	purge(100, 0, 10)
	g.done(t, g.rows(t, 6)...)
	held := h.rows(t, 4)
	purge(100, 0, 10) // the other has passed nothing
	h.done(t, held...)
	purge(2, 2, 8)
	purge(100, 1, 7)
	purge(100, 0, 7)
	wantNumbers(t, h.rows(t, 2), 5, 6)
	g.done(t, g.rows(t, 4)...)
	x.fill(t, 11, 11) // whose number is behind all marks
	wantNumbers(t, g.rows(t, 10), 11)
}

// proveVerifyLog: Verify finds out that the side table is missing or another.
func proveVerifyLog(t *testing.T, s *subject) {
	proveVerify(t, s)
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	x.run(t, "DROP TABLE jobs_offset")
	if _, err := x.q.call(ctx, "Verify"); err == nil || !strings.Contains(err.Error(), "schema/offset.sql") {
		t.Errorf("the side table is missing, and Verify says %v", err)
	}
}

// sideTable returns the statement that creates the side table, none where there is
// none.
func (s *subject) sideTable(t testing.TB) []string {
	t.Helper()
	if s.strategy() != "offset" {
		return nil
	}
	text := withoutComments(readText(t, "gen/"+s.pkg.name+"/schema/offset.sql"))
	return []string{strings.TrimSuffix(strings.TrimSpace(text), ";")}
}
