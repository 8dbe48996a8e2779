package mssql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/conformance/gen/singlems2019"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

// row is a row of the model's table.
type row struct {
	id, n   int64
	status  string
	tries   int64
	worker  any // string or nil
	expired bool
	holder  int // the connection whose transaction has locked it, or 0
}

// model is a table that answers the statements of singlems2019 by what they mean.
// Claims, sweeps and settlements take the rows of other transactions for locked.
type model struct {
	t     *testing.T
	texts map[string]string // name of a statement, by its text
	fault func() fault

	mu     sync.Mutex
	rows   []*row
	undo   map[int][]func() // of the transaction of a connection
	claims map[int][]*row   // that it has made
	seen   map[fault]int    // faults that came to pass
	counts map[string]int   // statements
	locked map[int]map[*row]bool
}

// fault is what goes wrong with a request.
type fault int

const (
	none        fault = iota
	deadlocked        // error 1205, which ends the transaction
	lockTimeout       // error 1222, which undoes the statement
	afterRows         // error 1205 when rows have been sent
	lostRequest       // the connection ends before the request is carried out
	lostAnswer        // and behind that
	lostInRows        // and in the middle of the answer
	faults
)

func newModel(t *testing.T, rows int, goesWrong func() fault) *model {
	m := &model{t: t, fault: goesWrong, texts: map[string]string{}, undo: map[int][]func(){}, claims: map[int][]*row{},
		seen: map[fault]int{}, counts: map[string]int{}, locked: map[int]map[*row]bool{}}
	for _, name := range []string{"claim", "complete", "retry", "fail", "requeue", "extend", "recover", "recover_failed", "enqueue", "enqueue_many"} {
		m.texts[check.Text(t, "singlems2019", name)] = name
	}
	for i := range rows {
		m.rows = append(m.rows, &row{id: int64(i + 1), n: int64(i + 1), status: "ready"})
	}
	return m
}

// answer is the function of Server.Handle.
func (m *model) answer(r tds.Request) tds.Response {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := r.Connection
	switch r.Kind {
	case tds.KindBegin:
		if r.Isolation != tds.ReadCommitted {
			m.t.Errorf("a transaction begins at %s", r.Isolation)
		}
		return tds.Answer()
	case tds.KindRollback:
		m.rollback(c)
		return tds.Answer()
	case tds.KindCommit:
		return m.commit(c)
	}
	name, ok := m.texts[r.Text]
	if !ok {
		m.t.Errorf("nobody knows this statement:\n%s", r.Text)
		return tds.Answer().Error(102, 1, 15, "Incorrect syntax.")
	}
	m.counts[name]++
	f := m.fault()
	m.seen[f]++
	switch f {
	case deadlocked:
		m.rollback(c)
		return tds.Answer().Error(1205, 51, 13, "deadlock")
	case lockTimeout:
		return tds.Answer().Error(1222, 51, 16, "lock")
	case lostRequest:
		return tds.Answer().Break()
	}
	before := len(m.undo[c])
	columns, rows, waits := m.run(name, c, r.Params)
	if waits { // for longer than it may
		if m.undone(c, before); !r.InTransaction {
			m.forget(c)
		}
		return tds.Answer().Error(1222, 51, 16, "lock")
	}
	response := tds.Answer().Rows(columns, rows...)
	if m.worn(c) {
		f = none
	}
	switch f {
	case afterRows:
		m.rollback(c)
		return response.Error(1205, 51, 13, "deadlock")
	case lostAnswer, lostInRows:
		if !r.InTransaction {
			m.orphan(c)
			m.forget(c)
		} // else the transaction goes with the connection
		if f == lostAnswer {
			return tds.Answer().Break()
		}
		return response.Break()
	}
	if !r.InTransaction {
		m.forget(c)
	}
	return response
}

// commit ends a transaction, and sometimes nobody hears of it.
func (m *model) commit(c int) tds.Response {
	f := m.fault()
	m.seen[f]++
	switch f {
	case lostRequest:
		return tds.Answer().Break() // the transaction goes with the connection
	case lostAnswer, lostInRows:
		if m.worn(c) {
			break
		}
		m.orphan(c)
		m.forget(c)
		return tds.Answer().Break()
	}
	m.forget(c)
	return tds.Answer()
}

// worn reports whether a claim has taken a job for the last time but one: when
// nobody heard of it, the job might end as failed.
func (m *model) worn(c int) bool {
	return slices.ContainsFunc(m.claims[c], func(r *row) bool { return r.tries > 1 })
}

// rollback undoes what the transaction of a connection has done.
func (m *model) rollback(c int) {
	m.undone(c, 0)
	m.forget(c)
}

// undone undoes what a connection has done since a point.
func (m *model) undone(c, from int) {
	for _, undo := range slices.Backward(m.undo[c][from:]) {
		undo()
	}
	m.undo[c] = m.undo[c][:from]
}

// forget lets the rows of a transaction go.
func (m *model) forget(c int) {
	for r := range m.locked[c] {
		r.holder = 0
	}
	delete(m.locked, c)
	delete(m.undo, c)
	delete(m.claims, c)
}

// orphan lets the claims of a connection run out: nobody knows of them.
func (m *model) orphan(c int) {
	for _, r := range m.claims[c] {
		r.expired = true
	}
}

// change locks a row and remembers how it was.
func (m *model) change(c int, r *row, change func()) {
	was := *r
	m.undo[c] = append(m.undo[c], func() { holder := r.holder; *r = was; r.holder = holder })
	if m.locked[c] == nil {
		m.locked[c] = map[*row]bool{}
	}
	m.locked[c][r] = true
	change()
	r.holder = c
}

// free returns up to so many rows in a state that no other connection has locked.
func (m *model) free(c int, limit any, state func(*row) bool) []*row {
	var found []*row
	for _, r := range m.rows {
		if int64(len(found)) < limit.(int64) && (r.holder == 0 || r.holder == c) && state(r) {
			found = append(found, r)
		}
	}
	return found
}

// run carries a statement out, or tells that it would wait for a transaction.
func (m *model) run(name string, c int, params []tds.Param) (columns []tds.Column, rows []tds.Row, waits bool) {
	value := func(i int) any { return params[i].Value }
	columns = bigKey
	settle := func(batch any, do func(*row)) { waits = m.settle(c, batch, do) }
	set := func(r *row, change func()) {
		m.change(c, r, change)
		rows = append(rows, tds.Row{r.id})
	}
	switch name {
	case "claim":
		columns = singleColumns
		for _, r := range m.free(c, value(0), func(r *row) bool { return r.status == "ready" }) {
			m.change(c, r, func() { r.status, r.tries, r.worker, r.expired = "running", r.tries+1, value(1), false })
			m.claims[c] = append(m.claims[c], r)
			rows = append(rows, tds.Row{r.id, r.n, r.tries, leaseText, r.worker, nil, enqueuedText})
		}
		rand.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
	case "complete":
		settle(value(0), func(r *row) { set(r, func() { r.status = "done" }) })
	case "retry":
		settle(value(1), func(r *row) { set(r, func() { r.status, r.worker = "ready", nil }) })
	case "fail":
		settle(value(1), func(r *row) { set(r, func() { r.status = "failed" }) })
	case "requeue":
		settle(value(0), func(r *row) { set(r, func() { r.status, r.worker, r.tries = "ready", nil, r.tries-1 }) })
	case "extend":
		columns = tds.Columns("id bigint", "[] varchar(27)")
		settle(value(0), func(r *row) {
			m.change(c, r, func() { r.expired = false })
			rows = append(rows, tds.Row{r.id, leaseText})
		})
	case "recover", "recover_failed":
		gone := func(r *row) bool { return r.status == "running" && r.expired && (r.tries < 3) == (name == "recover") }
		for _, r := range m.free(c, value(0), gone) {
			set(r, func() {
				if r.status, r.worker = "ready", nil; name == "recover_failed" {
					r.status = "failed"
				}
			})
		}
	case "enqueue", "enqueue_many":
		for _, n := range m.numbers(value(0)) {
			r := &row{id: int64(len(m.rows) + 1), n: n, status: "gone"}
			m.rows = append(m.rows, r)
			set(r, func() { r.status = "ready" })
		}
	}
	return columns, rows, waits
}

// settle finds the rows that are held as the JSON of a batch says, up to one that
// another transaction has locked.
func (m *model) settle(c int, batch any, settle func(*row)) (waits bool) {
	var jobs [][]any
	m.decode(batch.(string), &jobs)
	for _, job := range jobs {
		r := m.rows[int(job[0].(float64))-1]
		if r.holder != 0 && r.holder != c {
			return true
		}
		if r.status == "running" && float64(r.tries) == job[1] && r.worker == job[2] {
			settle(r)
		}
	}
	return false
}

// numbers are those of new jobs: one, or a JSON text of several.
func (m *model) numbers(value any) []int64 {
	text, ok := value.(string)
	if !ok {
		return []int64{value.(int64)}
	}
	var all []int64
	var jobs [][]int64
	m.decode(text, &jobs)
	for _, job := range jobs {
		all = append(all, job[0])
	}
	return all
}

func (m *model) decode(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		m.t.Errorf("%v in %s", err, text)
	}
}

// TestDrain: 8 workers do 500 jobs, none is lost and none is done twice, whatever
// happens on the way.
func TestDrain(t *testing.T) {
	for name, often := range map[string]int{"quiet": 0, "with faults": 7} {
		t.Run(name, func(t *testing.T) { drain(t, often) })
	}
}

func drain(t *testing.T, often int) {
	const total, added, workers = 500, 20, 8
	server, db := start(t)
	db.SetMaxOpenConns(workers)
	var requests int
	m := newModel(t, total-added, func() fault {
		if requests++; often == 0 || requests%often > 0 {
			return none
		}
		return 1 + fault(requests/often)%(faults-1) // each in its turn
	})
	server.Handle(m.answer)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	d := &drained{t: t, holder: make([]atomic.Int32, 2*total), done: make([]atomic.Int32, 2*total)}
	var news []singlems2019.NewJob
	for i := range added {
		news = append(news, singlems2019.NewJob{N: int64(total - added + 1 + i)})
	}
	var running sync.WaitGroup
	for w := range workers {
		q := singlems2019.New(db, singlems2019.WithWorker(fmt.Sprintf("w%d", w)))
		running.Go(func() {
			if w == 0 {
				d.add(ctx, q, news, m)
			}
			for ctx.Err() == nil && d.finished.Load() < total {
				d.round(ctx, q, int32(w+1), w%2 == 0)
			}
		})
	}
	running.Wait()
	for n := 1; n <= total; n++ {
		if got := d.done[n].Load(); got != 1 {
			t.Errorf("job %d was done %d times", n, got)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if r.status != "done" && r.status != "gone" {
			t.Errorf("row %d is left: %+v", r.id, *r)
		}
	}
	if often == 0 {
		return
	}
	for f := deadlocked; f < faults; f++ {
		if m.seen[f] == 0 {
			t.Errorf("fault %d never came", f)
		}
	}
}

// drained is what workers know of the jobs.
type drained struct {
	t        *testing.T
	holder   []atomic.Int32 // by number
	done     []atomic.Int32
	finished atomic.Int64
}

// add adds jobs: after an error without an answer it looks whether they are there.
func (d *drained) add(ctx context.Context, q *singlems2019.Queue, news []singlems2019.NewJob, m *model) {
	for ctx.Err() == nil {
		keys, err := q.EnqueueMany(ctx, news)
		switch {
		case err == nil && len(keys) == len(news) && slices.IsSorted(keys):
			return
		case err == nil:
			d.t.Errorf("%d keys for %d jobs: %v", len(keys), len(news), keys)
			return
		case !d.goOn(err):
			return
		}
		m.mu.Lock()
		there := slices.ContainsFunc(m.rows, func(r *row) bool { return r.n == news[0].N && r.status != "gone" })
		m.mu.Unlock()
		if there {
			return
		}
	}
}

// goOn reports whether an error asks for the same once more.
func (d *drained) goOn(err error) bool {
	if !singlems2019.IsRetryable(err) {
		d.t.Errorf("IsRetryable is false for %v", err)
		return false
	}
	return true
}

// round claims jobs and does them.
func (d *drained) round(ctx context.Context, q *singlems2019.Queue, worker int32, together bool) {
	jobs, err := q.Claim(ctx, 7)
	if err != nil {
		d.goOn(err)
		return
	}
	if len(jobs) == 0 {
		if _, err := q.Recover(ctx, 100); err != nil {
			d.goOn(err)
		}
		return
	}
	for len(jobs) > 0 {
		jobs = d.work(ctx, q, worker, jobs)
		if !together || len(jobs) == 0 {
			d.settled(jobs, q.Complete(ctx, jobs...), func() error { return q.Complete(ctx, jobs...) })
			return
		}
		next, err := q.CompleteAndClaim(ctx, jobs, 5)
		if err != nil && !errors.Is(err, singlems2019.ErrLost) {
			next = nil
		}
		d.settled(jobs, err, func() error { return q.Complete(ctx, jobs...) })
		jobs = next
	}
}

// work does jobs, in queue order and each with one worker only. Now and then one
// is given back, fails, or takes longer.
func (d *drained) work(ctx context.Context, q *singlems2019.Queue, worker int32, jobs []singlems2019.Job) []singlems2019.Job {
	if !slices.IsSortedFunc(jobs, func(a, b singlems2019.Job) int { return int(a.ID - b.ID) }) {
		d.t.Errorf("claimed %+v", jobs)
	}
	for _, j := range jobs {
		if !d.holder[j.N].CompareAndSwap(0, worker) {
			d.t.Errorf("worker %d was given job %d, which worker %d holds", worker, j.N, d.holder[j.N].Load())
		}
	}
	settle := func(call func() error) {
		d.holder[jobs[0].N].Store(0)
		for err := call(); err != nil && !errors.Is(err, singlems2019.ErrLost) && d.goOn(err) && ctx.Err() == nil; err = call() {
		}
		jobs = jobs[1:]
	}
	switch rand.IntN(12) {
	case 0:
		settle(func() error { return q.Requeue(ctx, jobs[0]) })
	case 1:
		if jobs[0].Tries < 2 {
			settle(func() error { return q.Fail(ctx, jobs[0], errors.New("no")) })
		}
	case 2:
		for err := q.Extend(ctx, &jobs[0]); err != nil && d.goOn(err) && ctx.Err() == nil; err = q.Extend(ctx, &jobs[0]) {
		}
	}
	return jobs
}

// settled counts jobs when they are done. Of an error without an answer nobody
// knows, so it is asked again; a job that is lost then was done the first time.
func (d *drained) settled(jobs []singlems2019.Job, err error, again func() error) {
	for try := 0; err != nil && (try == 0 || !errors.Is(err, singlems2019.ErrLost)); try++ {
		if !d.goOn(err) || try > 100 {
			return
		}
		err = again()
	}
	for _, j := range jobs {
		d.done[j.N].Add(1)
		d.holder[j.N].Store(0)
		d.finished.Add(1)
	}
}

// TestWork: the loop hands every job to the handler, settles it by what that
// returns, and ends with its context.
func TestWork(t *testing.T) {
	const total = 60
	server, db := start(t)
	m := newModel(t, total, func() fault { return none })
	server.Handle(m.answer)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var mu sync.Mutex
	calls, left := map[int64]int{}, total
	err := singlems2019.New(db, singlems2019.WithWorker("w1")).Work(ctx, func(_ context.Context, j singlems2019.Job) error {
		mu.Lock()
		defer mu.Unlock()
		if calls[j.N]++; j.N%10 == 0 && calls[j.N] < 3 {
			return errors.New("not yet")
		}
		if left--; left == 0 {
			stop()
		}
		return nil
	}, singlems2019.WorkOptions{Concurrency: 4, Batch: 10, PollInterval: time.Millisecond})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Work: %v", err)
	}
	for n := range int64(total) {
		if want := 1 + 2*max(0, 1-int((n+1)%10)); calls[n+1] != want {
			t.Errorf("job %d was handled %d times, want %d", n+1, calls[n+1], want)
		}
	}
	for _, r := range m.rows {
		if r.status != "done" {
			t.Errorf("row %d is left: %+v", r.id, *r)
		}
	}
}
