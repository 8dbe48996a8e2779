package behaviour

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emaillite"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpgx"
	"github.com/qgen-dev/qgen/internal/emit/testdata/golden/emailpq"
)

// emailQueue is what the three packages over email_outbox have in common.
type emailQueue[J, N any] interface {
	Claim(ctx context.Context, kind string, limit int) ([]J, error)
	Peek(ctx context.Context, kind string, limit int) ([]J, error)
	Complete(ctx context.Context, jobs ...J) error
	CompleteAndClaim(ctx context.Context, done []J, kind string, limit int) ([]J, error)
	Fail(ctx context.Context, job J, cause error) error
	Requeue(ctx context.Context, delay time.Duration, jobs ...J) error
	Extend(ctx context.Context, jobs ...*J) error
	Recover(ctx context.Context, limit int) (int, error)
	Redrive(ctx context.Context, limit int) (int, error)
	Purge(ctx context.Context, olderThan time.Duration, limit int) (int, error)
	Enqueue(ctx context.Context, job N) (int64, error)
	EnqueueMany(ctx context.Context, jobs []N) ([]int64, error)
}

// job is what a Job says of itself as JSON.
type job struct {
	MsgID     int64           `json:"msg_id"`
	State     string          `json:"state"`
	Kind      string          `json:"kind"`
	Priority  int32           `json:"priority"`
	CreatedAt time.Time       `json:"created_at"`
	NotBefore *time.Time      `json:"not_before"`
	LeaseTill *time.Time      `json:"lease_till"`
	Token     *string         `json:"token"`
	Reader    *string         `json:"reader"`
	Tries     int32           `json:"tries"`
	LastError *string         `json:"last_error"`
	Body      json.RawMessage `json:"body"`
}

// newJob is a NewJob as JSON.
type newJob struct {
	Kind      string          `json:"kind"`
	Priority  *int32          `json:"priority,omitempty"`
	NotBefore *time.Time      `json:"not_before,omitempty"`
	Body      json.RawMessage `json:"body"`
}

// emailTest runs one database.
type emailTest[J, N any] struct {
	*testing.T
	q     emailQueue[J, N]
	ctx   context.Context
	run   func(sql string) // any statement, by another way
	lost  func(err error) []int64
	state func(id int64) string
}

func TestEmailSQLite(t *testing.T) {
	db := sqlite(t, "email_sqlite")
	db.SetMaxOpenConns(4)
	runEmail(t, db, emaillite.New(db, emaillite.WithWorker("w1")), func(err error) []int64 {
		if lost := (*emaillite.LostError)(nil); errors.As(err, &lost) && errors.Is(err, emaillite.ErrLost) {
			return lost.Keys
		}
		return nil
	}, sqliteClock)
}

// sqliteClock and postgresClock are the time in so many seconds, as the leases
// of email_outbox are kept.
func sqliteClock(seconds int) string {
	return fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', '%d seconds')", seconds)
}

func postgresClock(seconds int) string { return fmt.Sprintf("now() + interval '%d seconds'", seconds) }

func TestEmailPostgreSQL(t *testing.T) {
	db := postgresSQL(t, "email_postgresql")
	runEmail(t, db, emailpq.New(db, emailpq.WithWorker("w1")), func(err error) []int64 {
		if lost := (*emailpq.LostError)(nil); errors.As(err, &lost) && errors.Is(err, emailpq.ErrLost) {
			return lost.Keys
		}
		return nil
	}, postgresClock)
}

func TestEmailPGX(t *testing.T) {
	db := postgresSQL(t, "email_postgresql")
	pool := poolOf(t, db)
	runEmail(t, db, emailpgx.New(pool, emailpgx.WithWorker("w1")), func(err error) []int64 {
		if lost := (*emailpgx.LostError)(nil); errors.As(err, &lost) && errors.Is(err, emailpgx.ErrLost) {
			return lost.Keys
		}
		return nil
	}, postgresClock)
}

// newEmailTest returns what tests of one package start from; lost tells the keys
// of its LostError, inSeconds the time of its database.
func newEmailTest[J, N any](t *testing.T, db *sql.DB, q emailQueue[J, N], lost func(error) []int64, inSeconds func(int) string) *emailTest[J, N] {
	e := &emailTest[J, N]{T: t, q: q, ctx: context.Background(), lost: lost}
	e.run = func(sql string) {
		e.Helper()
		if _, err := db.Exec(strings.ReplaceAll(sql, "{expired}", inSeconds(-10))); err != nil {
			e.Fatal(err)
		}
	}
	e.state = func(id int64) string {
		e.Helper()
		var s string
		if err := db.QueryRow(fmt.Sprintf("SELECT state FROM email_outbox WHERE msg_id = %d", id)).Scan(&s); err != nil {
			e.Fatal(err)
		}
		return s
	}
	return e
}

// runEmail takes one package through everything that it can do.
func runEmail[J, N any](t *testing.T, db *sql.DB, q emailQueue[J, N], lost func(error) []int64, inSeconds func(int) string) {
	e := newEmailTest(t, db, q, lost, inSeconds)
	for _, step := range []struct {
		name string
		do   func(e *emailTest[J, N])
	}{
		{"enqueue", (*emailTest[J, N]).enqueue},
		{"order", (*emailTest[J, N]).order},
		{"complete", (*emailTest[J, N]).complete},
		{"fail", (*emailTest[J, N]).fail},
		{"requeue", (*emailTest[J, N]).requeue},
		{"extend", (*emailTest[J, N]).extend},
		{"recover", (*emailTest[J, N]).recoverExpired},
		{"complete and claim", (*emailTest[J, N]).completeAndClaim},
		{"purge", (*emailTest[J, N]).purge},
		{"none", (*emailTest[J, N]).none},
		{"together", (*emailTest[J, N]).together},
	} {
		t.Run(step.name, func(t *testing.T) {
			e.T = t
			e.run("DELETE FROM email_outbox")
			step.do(e)
		})
	}
}

// see returns what a job says of itself.
func see[J any](t *testing.T, j J) job {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var seen job
	if err := json.Unmarshal(text, &seen); err != nil {
		t.Fatal(err)
	}
	return seen
}

// travel sends a job to another process and back.
func travel[J any](t *testing.T, jobs ...J) []J {
	t.Helper()
	text, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	var back []J
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// news converts what to add to the package's own type.
func (e *emailTest[J, N]) news(jobs ...newJob) []N {
	e.Helper()
	text, err := json.Marshal(jobs)
	e.ok(err)
	var news []N
	e.ok(json.Unmarshal(text, &news))
	return news
}

func (e *emailTest[J, N]) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// add adds n jobs of kind "mail".
func (e *emailTest[J, N]) add(n int) []int64 {
	e.Helper()
	jobs := make([]newJob, n)
	for i := range jobs {
		jobs[i] = newJob{Kind: "mail", Body: json.RawMessage(fmt.Sprintf(`{"n": %d}`, i))}
	}
	keys, err := e.q.EnqueueMany(e.ctx, e.news(jobs...))
	e.ok(err)
	return keys
}

// claim takes up to limit jobs of kind "mail".
func (e *emailTest[J, N]) claim(limit int) []J {
	e.Helper()
	jobs, err := e.q.Claim(e.ctx, "mail", limit)
	e.ok(err)
	return jobs
}

func (e *emailTest[J, N]) ids(jobs []J) []int64 {
	e.Helper()
	var ids []int64
	for _, j := range jobs {
		ids = append(ids, see(e.T, j).MsgID)
	}
	return ids
}

func (e *emailTest[J, N]) same(got, want []int64) {
	e.Helper()
	if !slices.Equal(got, want) {
		e.Fatalf("got %v, want %v", got, want)
	}
}

// loses checks that err names exactly those keys as lost.
func (e *emailTest[J, N]) loses(err error, keys ...int64) {
	e.Helper()
	lost := e.lost(err)
	slices.Sort(lost)
	if err == nil || !slices.Equal(lost, keys) {
		e.Fatalf("got %v, want %v lost", err, keys)
	}
}

func (e *emailTest[J, N]) enqueue() {
	high, soon := int32(7), time.Now().Add(-time.Minute).Truncate(time.Millisecond)
	body := json.RawMessage(`{"to": "a\"b\\c{},é", "n": [1, null]}`)
	one, err := e.q.Enqueue(e.ctx, e.news(newJob{Kind: "mail", Priority: &high, NotBefore: &soon, Body: body})[0])
	e.ok(err)
	plain, err := e.q.Enqueue(e.ctx, e.news(newJob{Kind: `ma"il\`, Body: json.RawMessage(`"text"`)})[0])
	e.ok(err)
	many := make([]newJob, 2500)
	for i := range many {
		many[i] = newJob{Kind: "bulk", Body: json.RawMessage(fmt.Sprint(i))}
		if i%2 == 0 {
			many[i].Priority, many[i].NotBefore = &high, &soon
		}
	}
	keys, err := e.q.EnqueueMany(e.ctx, e.news(many...))
	e.ok(err)
	if len(keys) != len(many) {
		e.Fatalf("%d keys", len(keys))
	}

	jobs := e.claim(10)
	e.same(e.ids(jobs), []int64{one})
	got := see(e.T, jobs[0])
	var want, have any
	e.ok(json.Unmarshal(body, &want))
	e.ok(json.Unmarshal(got.Body, &have))
	if got.Priority != 7 || !got.NotBefore.Equal(soon) || fmt.Sprint(want) != fmt.Sprint(have) {
		e.Errorf("got %+v", got)
	}
	if since := time.Since(got.CreatedAt); since < -2*time.Second || since > time.Minute {
		e.Errorf("created %v ago", since)
	}
	odd, err := e.q.Claim(e.ctx, `ma"il\`, 10)
	e.ok(err)
	e.same(e.ids(odd), []int64{plain})

	place := map[int64]int{}
	for i, k := range keys {
		place[k] = i
	}
	bulk, err := e.q.Claim(e.ctx, "bulk", 5000)
	e.ok(err)
	if len(bulk) != len(many) {
		e.Fatalf("%d jobs", len(bulk))
	}
	for _, b := range bulk {
		j := see(e.T, b)
		i := place[j.MsgID]
		if string(j.Body) != fmt.Sprint(i) || j.Priority != map[bool]int32{true: 7}[i%2 == 0] || (j.NotBefore != nil) != (i%2 == 0) {
			e.Fatalf("job %d came back as %+v", i, j)
		}
	}
}

func (e *emailTest[J, N]) order() {
	at := func(d time.Duration) *time.Time {
		when := time.Now().Add(d).Truncate(time.Millisecond)
		return &when
	}
	level := func(p int32) *int32 { return &p }
	body := json.RawMessage(`{}`)
	keys, err := e.q.EnqueueMany(e.ctx, e.news(
		newJob{Kind: "mail", Body: body},
		newJob{Kind: "mail", Priority: level(2), NotBefore: at(-time.Minute), Body: body},
		newJob{Kind: "mail", Priority: level(2), NotBefore: at(-time.Hour), Body: body},
		newJob{Kind: "mail", Priority: level(2), Body: body},
		newJob{Kind: "mail", Body: body},
		newJob{Kind: "mail", Priority: level(9), NotBefore: at(time.Hour), Body: body},
		newJob{Kind: "fax", Priority: level(9), Body: body},
		newJob{Kind: "mail", Priority: level(-1), Body: body},
	))
	e.ok(err)
	want := []int64{keys[3], keys[2], keys[1], keys[0], keys[4], keys[7]}
	peeked, err := e.q.Peek(e.ctx, "mail", 4)
	e.ok(err)
	e.same(e.ids(peeked), want[:4])
	e.same(e.ids(e.claim(1)), want[:1])
	e.same(e.ids(e.claim(3)), want[1:4])
	e.same(e.ids(e.claim(10)), want[4:])
	e.same(e.ids(e.claim(10)), nil)
	if e.state(keys[5]) != "N" || e.state(keys[6]) != "N" {
		e.Error("a job that was not asked for was taken")
	}
}

func (e *emailTest[J, N]) complete() {
	keys := e.add(4)
	jobs := e.claim(4)
	if j := see(e.T, jobs[0]); *j.Reader != "w1" || j.State != "A" || j.Tries != 1 || j.Token == nil {
		e.Fatalf("claimed as %+v", j)
	}
	e.ok(e.q.Complete(e.ctx, travel(e.T, jobs[:2]...)...))
	e.loses(e.q.Complete(e.ctx, jobs[:3]...), keys[0], keys[1])
	for i, want := range []string{"C", "C", "C", "A"} {
		if got := e.state(keys[i]); got != want {
			e.Errorf("job %d is %s, want %s", i, got, want)
		}
	}
}

func (e *emailTest[J, N]) fail() {
	keys := e.add(1)
	long := strings.Repeat("ä", 2000) + "\x00"
	for try := 1; try <= 3; try++ {
		jobs := e.claim(1)
		if len(jobs) != 1 || see(e.T, jobs[0]).Tries != int32(try) {
			e.Fatalf("try %d: %v", try, jobs)
		}
		e.ok(e.q.Fail(e.ctx, jobs[0], errors.New(long)))
		e.loses(e.q.Fail(e.ctx, jobs[0], nil), keys[0])
		if try < 3 {
			e.same(e.ids(e.claim(1)), nil) // not due yet
			e.run("UPDATE email_outbox SET not_before = NULL")
			peeked, err := e.q.Peek(e.ctx, "mail", 1)
			e.ok(err)
			if got := *see(e.T, peeked[0]).LastError; got != strings.Repeat("ä", 1000) {
				e.Errorf("error is kept as %q", got)
			}
		}
	}
	if got := e.state(keys[0]); got != "E" {
		e.Fatalf("after three failures the job is %s", got)
	}
	n, err := e.q.Redrive(e.ctx, 10)
	e.ok(err)
	if n != 1 {
		e.Errorf("redrove %d", n)
	}
	e.same(e.ids(e.claim(10)), keys)
}

func (e *emailTest[J, N]) requeue() {
	keys := e.add(2)
	jobs := e.claim(2)
	e.ok(e.q.Requeue(e.ctx, 0, jobs[0]))
	e.ok(e.q.Requeue(e.ctx, time.Hour, jobs[1]))
	e.loses(e.q.Requeue(e.ctx, 0, jobs...), keys...)
	again := e.claim(2)
	e.same(e.ids(again), keys[:1])
	if got := see(e.T, again[0]).Tries; got != 1 {
		e.Errorf("a job given back counts %d tries", got)
	}
}

func (e *emailTest[J, N]) extend() {
	keys := e.add(2)
	jobs := e.claim(2)
	e.run("UPDATE email_outbox SET lease_till = {expired}")
	e.ok(e.q.Requeue(e.ctx, 0, jobs[1]))
	before := see(e.T, jobs[0]).LeaseTill
	e.loses(e.q.Extend(e.ctx, &jobs[0], &jobs[1]), keys[1])
	after := see(e.T, jobs[0]).LeaseTill
	if after.Before(*before) || time.Until(*after) < 4*time.Minute {
		e.Errorf("lease went from %v to %v", before, after)
	}
	n, err := e.q.Recover(e.ctx, 10)
	e.ok(err)
	if n != 0 {
		e.Error("an extended claim was recovered")
	}
	e.ok(e.q.Complete(e.ctx, jobs[0]))
}

func (e *emailTest[J, N]) recoverExpired() {
	keys := e.add(5)
	jobs := e.claim(5)
	e.run("UPDATE email_outbox SET lease_till = {expired}")
	e.run(fmt.Sprintf("UPDATE email_outbox SET tries = 3 WHERE msg_id >= %d", keys[2]))
	n, err := e.q.Recover(e.ctx, 4)
	e.ok(err)
	if n != 4 {
		e.Errorf("recovered %d of at most 4", n)
	}
	n, err = e.q.Recover(e.ctx, 4)
	e.ok(err)
	if n != 1 {
		e.Errorf("then recovered %d, want 1", n)
	}
	if e.state(keys[0]) != "N" || e.state(keys[4]) != "E" {
		e.Errorf("states are %s and %s", e.state(keys[0]), e.state(keys[4]))
	}
	again := e.claim(5)
	e.same(e.ids(again), keys[:2])
	e.loses(e.q.Complete(e.ctx, jobs...), keys...) // the worker that was away
	e.ok(e.q.Complete(e.ctx, again...))
}

func (e *emailTest[J, N]) completeAndClaim() {
	keys := e.add(7)
	jobs, err := e.q.CompleteAndClaim(e.ctx, nil, "mail", 3)
	e.ok(err)
	e.same(e.ids(jobs), keys[:3])
	more, err := e.q.CompleteAndClaim(e.ctx, jobs[:2], "mail", 1)
	e.ok(err)
	e.same(e.ids(more), keys[3:4])
	more, err = e.q.CompleteAndClaim(e.ctx, jobs, "mail", 10)
	e.loses(err, keys[0], keys[1])
	e.same(e.ids(more), keys[4:])
	more, err = e.q.CompleteAndClaim(e.ctx, more, "mail", 0)
	e.ok(err)
	e.same(e.ids(more), nil)
	for i, want := range []string{"C", "C", "C", "A", "C", "C", "C"} {
		if got := e.state(keys[i]); got != want {
			e.Errorf("job %d is %s, want %s", i, got, want)
		}
	}
}

func (e *emailTest[J, N]) purge() {
	e.add(3)
	e.ok(e.q.Complete(e.ctx, e.claim(2)...))
	for _, step := range []struct {
		older time.Duration
		limit int
		want  int
	}{{time.Hour, 10, 0}, {-time.Hour, 1, 1}, {-time.Hour, 10, 1}} {
		n, err := e.q.Purge(e.ctx, step.older, step.limit)
		e.ok(err)
		if n != step.want {
			e.Errorf("purged %d, want %d", n, step.want)
		}
	}
}

// none asks for nothing, which must not reach the database: its context is over.
func (e *emailTest[J, N]) none() {
	over, cancel := context.WithCancel(e.ctx)
	cancel()
	_, claim := e.q.Claim(over, "mail", 0)
	_, peek := e.q.Peek(over, "mail", -1)
	_, many := e.q.EnqueueMany(over, nil)
	_, rec := e.q.Recover(over, 0)
	_, purge := e.q.Purge(over, 0, 0)
	for _, err := range []error{claim, peek, many, rec, purge, e.q.Complete(over), e.q.Requeue(over, 0), e.q.Extend(over)} {
		e.ok(err)
	}
	if _, err := e.q.Claim(over, "mail", 1); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), ": claim: ") {
		e.Errorf("got %v", err)
	}
}

// together lets several workers empty the queue.
func (e *emailTest[J, N]) together() {
	keys := e.add(600)
	var mu sync.Mutex
	var taken []int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				jobs, err := e.q.Claim(e.ctx, "mail", 7)
				if err != nil || len(jobs) == 0 {
					if err != nil {
						e.Error(err)
					}
					return
				}
				if len(jobs) > 7 {
					e.Errorf("%d jobs for 7", len(jobs))
				}
				if err := e.q.Complete(e.ctx, jobs...); err != nil {
					e.Error(err)
				}
				mu.Lock()
				taken = append(taken, e.ids(jobs)...)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(taken)
	e.same(taken, keys)
}
