package oraclequeues_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/test/conformance/gen/singleora19"
	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/oracle"
)

// modelRow is a row of the table of the case "single".
type modelRow struct {
	id, n, tries  int64
	state, worker string
	holder        int  // the connection whose transaction has locked it, 0 when none has
	expired       bool // the lease has run out
}

// model is that table: it answers the statements of the package by what they mean.
type model struct {
	t     testing.TB
	names map[string]string // of the files, by the text
	// fault says what goes wrong with a request, nil when nothing does, and whether
	// the model has carried it out by then.
	fault func(r oracle.Request) (wrong func(oracle.Response) oracle.Response, after bool)

	mu   sync.Mutex
	rows []*modelRow
	undo map[int][]func() // of the open transactions, by their connections
}

func newModel(t testing.TB, jobs int) *model {
	m := &model{t: t, names: map[string]string{}, undo: map[int][]func(){}}
	text := texts(t, "singleora19")
	for _, name := range []string{"claim", "complete", "retry", "fail", "requeue", "extend", "recover", "recover_failed"} {
		m.names[text(name)] = name
	}
	m.names[unlisted(text("extend_read"))] = "extend_read"
	for i := range int64(jobs) {
		m.rows = append(m.rows, &modelRow{id: i + 1, n: 10 * (i + 1), state: "ready"})
	}
	return m
}

var list = regexp.MustCompile(`ID = :v\d+( OR ID = :v\d+)*`)

// unlisted is a text without the number of its keys.
func unlisted(text string) string { return list.ReplaceAllString(text, "ID = …") }

// answer is the function of [oracle.Server.Handle].
func (m *model) answer(r oracle.Request) oracle.Response {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault == nil || r.Kind == oracle.KindEnd {
		return m.carryOut(r)
	}
	wrong, after := m.fault(r)
	switch {
	case wrong == nil:
		return m.carryOut(r)
	case after:
		m.carryOut(r)
	}
	return wrong(oracle.Answer())
}

// carryOut does what a request asks for.
func (m *model) carryOut(r oracle.Request) oracle.Response {
	switch r.Kind {
	case oracle.KindCommit:
		m.end(r.Connection, false)
	case oracle.KindRollback, oracle.KindEnd:
		m.end(r.Connection, true)
	default:
		response := m.statement(r)
		if r.Autocommit {
			m.end(r.Connection, false)
		}
		return response
	}
	return oracle.Answer()
}

// end ends the transaction of a connection.
func (m *model) end(connection int, undo bool) {
	if undo {
		for _, f := range slices.Backward(m.undo[connection]) {
			f()
		}
	}
	delete(m.undo, connection)
	for _, row := range m.rows {
		if row.holder == connection {
			row.holder = 0
		}
	}
}

// change writes a row within the transaction of a connection.
func (m *model) change(connection int, row *modelRow, write func(*modelRow)) {
	was := *row
	m.undo[connection] = append(m.undo[connection], func() { *row = was })
	write(row)
	row.holder = connection
}

// statement carries out a statement.
func (m *model) statement(r oracle.Request) oracle.Response {
	switch name := m.names[unlisted(r.Text)]; name {
	case "claim":
		return m.claim(r)
	case "recover":
		return m.recover(r, func(row *modelRow) { row.state, row.worker = "ready", "" }, func(row *modelRow) bool { return row.tries < 3 })
	case "recover_failed":
		return m.recover(r, func(row *modelRow) { row.state = "failed" }, func(row *modelRow) bool { return row.tries >= 3 })
	case "complete":
		return m.settle(r, "4", func(row *modelRow) { row.state = "done" })
	case "fail":
		return m.settle(r, "5", func(row *modelRow) { row.state = "failed" })
	case "retry":
		return m.settle(r, "5", func(row *modelRow) { row.state, row.worker = "ready", "" })
	case "requeue":
		return m.settle(r, "4", func(row *modelRow) { row.state, row.worker, row.tries = "ready", "", row.tries-1 })
	case "extend":
		return m.settle(r, "4", func(row *modelRow) { row.expired = false })
	case "extend_read":
		return m.read(r)
	default:
		m.t.Errorf("no statement of the package is\n%s", r.Text)
		return oracle.Answer().Error(900, "invalid SQL statement")
	}
}

// claim passes over rows that others have locked.
func (m *model) claim(r oracle.Request) oracle.Response {
	if r.Autocommit {
		m.t.Error("a claim commits by itself, and its cursor with it")
	}
	var rows []oracle.Row
	for _, row := range m.rows {
		if int64(len(rows)) < r.Bind("1").Value.(int64) && row.state == "ready" && row.holder == 0 {
			m.change(r.Connection, row, func(row *modelRow) {
				row.state, row.worker, row.expired = "running", r.Bind("2").Value.(string), false
				row.tries++
			})
			rows = append(rows, oracle.Row{row.id, row.n, row.tries, leaseText, row.worker, nil, enqueuedText})
		}
	}
	slices.Reverse(rows) // a server returns them in any order
	return oracle.Answer().RefCursor("3", singleColumns, rows...)
}

// settle writes the rows whose claims are still those of the arrays, and counts
// them. A server would wait for locked rows; this one knows of a deadlock at once.
func (m *model) settle(r oracle.Request, counts string, write func(*modelRow)) oracle.Response {
	ids, tries, workers := r.Bind("1").Value.([]any), r.Bind("2").Value.([]any), r.Bind("3").Value.([]any)
	changed := make([]int64, len(ids))
	for _, id := range ids {
		if holder := m.rows[id.(int64)-1].holder; holder != 0 && holder != r.Connection {
			return oracle.Answer().Error(60, undone[60])
		}
	}
	for i, id := range ids {
		row := m.rows[id.(int64)-1]
		if row.state == "running" && row.tries == tries[i] && row.worker == workers[i] {
			m.change(r.Connection, row, write)
			changed[i] = 1
		}
	}
	return oracle.Answer().Out(counts, changed)
}

// recover makes rows ready or failed whose lease has run out.
func (m *model) recover(r oracle.Request, write func(*modelRow), which func(*modelRow) bool) oracle.Response {
	n := 0
	for _, row := range m.rows {
		if row.state == "running" && row.expired && row.holder == 0 && which(row) && int64(n) < r.Bind("1").Value.(int64) {
			m.change(r.Connection, row, write)
			n++
		}
	}
	return oracle.Answer().Affected(n)
}

// read returns the leases of rows.
func (m *model) read(r oracle.Request) oracle.Response {
	var rows []oracle.Row
	seen := map[any]bool{}
	for _, b := range r.Binds {
		if !seen[b.Value] {
			seen[b.Value] = true
			rows = append(rows, oracle.Row{b.Value, leaseText})
		}
	}
	return oracle.Answer().Rows(oracle.Columns("id NUMBER", "lease VARCHAR2(29)"), rows...)
}

// expire lets all leases run out.
func (m *model) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range m.rows {
		row.expired = true
	}
}

// count returns how many rows are in a state.
func (m *model) count(state string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, row := range m.rows {
		if row.state == state {
			n++
		}
	}
	return n
}

// ledger is what workers know of jobs.
type ledger struct {
	mu     sync.Mutex
	holder map[int64]string
	done   map[int64]int
}

// finished returns the jobs that are done.
func (l *ledger) finished() map[int64]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.done)
}

// take notes who was given jobs, none of which was done before they were asked for. Where no
// lease runs out, nobody else may hold them.
func (l *ledger) take(t testing.TB, worker string, alone bool, done map[int64]int, jobs []singleora19.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range jobs {
		if other := l.holder[j.ID]; other != "" && alone {
			t.Errorf("%s was given job %d, which %s holds", worker, j.ID, other)
		}
		if done[j.ID] > 0 {
			t.Errorf("%s was given job %d, which is done", worker, j.ID)
		}
		if j.N != 10*j.ID || j.Worker != worker || j.Err != nil {
			t.Errorf("%s was given %+v", worker, j)
		}
		l.holder[j.ID] = worker
	}
}

// give notes that a job is given back, before anybody can be given it.
func (l *ledger) give(j singleora19.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.holder, j.ID)
}

// finish notes that a job is done.
func (l *ledger) finish(j singleora19.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done[j.ID]++
}

// round has a worker take jobs and end each in one of the ways there are. An error
// that may come again is left to the lease.
func (l *ledger) round(ctx context.Context, t testing.TB, q *singleora19.Queue, worker string, alone bool) {
	done := l.finished()
	jobs, err := q.Claim(ctx, 1+rand.IntN(10))
	if err != nil {
		jobs = nil
		if alone || !singleora19.IsRetryable(err) {
			t.Errorf("%s: %v", worker, err)
		}
	}
	if len(jobs) == 0 {
		time.Sleep(time.Millisecond)
	}
	l.take(t, worker, alone, done, jobs)
	for _, j := range jobs {
		switch way := rand.IntN(8); {
		case way == 0:
			l.give(j)
			err = q.Requeue(ctx, j)
		case way == 1 && j.Tries < 3:
			l.give(j)
			err = q.Fail(ctx, j, errors.New("no"))
		case way == 2:
			err = q.Extend(ctx, &j)
		}
		if err == nil && l.holds(j, worker) {
			if err = q.Complete(ctx, j); err == nil {
				l.finish(j)
			}
		}
		if err != nil && (alone || !errors.Is(err, singleora19.ErrLost) && !singleora19.IsRetryable(err)) {
			t.Errorf("%s: %v", worker, err)
		}
		err = nil
	}
}

func (l *ledger) holds(j singleora19.Job, worker string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder[j.ID] == worker
}

const modelJobs = 500

// drain has 8 workers go on until every row is done or failed.
func drain(t *testing.T, m *model, db *sql.DB, alone bool) *ledger {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := &ledger{holder: map[int64]string{}, done: map[int64]int{}}
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			worker := fmt.Sprintf("w%d", w)
			q := singleora19.New(db, singleora19.WithWorker(worker))
			for m.count("ready")+m.count("running") > 0 && ctx.Err() == nil && !t.Failed() {
				l.round(ctx, t, q, worker, alone)
				if w == 0 && !alone {
					m.expire()
					if _, err := q.Recover(ctx, 100); err != nil && !singleora19.IsRetryable(err) {
						t.Errorf("Recover: %v", err)
					}
				}
			}
		})
	}
	group.Wait()
	check.Err(t, ctx.Err())
	return l
}

// TestDrain has 8 workers do 500 jobs: none is lost, and none done twice.
func TestDrain(t *testing.T) {
	server, db := start(t)
	m := newModel(t, modelJobs)
	server.Handle(m.answer)
	l := drain(t, m, db, true)
	if n := m.count("done"); n != modelJobs || len(l.done) != modelJobs {
		t.Errorf("%d rows are done, and workers did %d jobs; want %d", n, len(l.done), modelJobs)
	}
	for id, n := range l.done {
		if n != 1 {
			t.Errorf("job %d was done %d times", id, n)
		}
	}
}

// TestDrainThroughFaults does the same while deadlocks come, connections break
// before, at and behind a COMMIT, and leases run out under workers.
func TestDrainThroughFaults(t *testing.T) {
	server, db := start(t)
	m := newModel(t, modelJobs)
	m.fault = func(r oracle.Request) (func(oracle.Response) oracle.Response, bool) {
		switch n := rand.IntN(100); {
		case n < 5 && r.Kind == oracle.KindExec:
			return func(r oracle.Response) oracle.Response { return r.Error(60, undone[60]) }, false
		case n < 8:
			return oracle.Response.Break, n%2 == 0
		case n < 10:
			return oracle.Response.Reset, n%2 == 0
		}
		return nil, false
	}
	server.Handle(m.answer)
	l := drain(t, m, db, false)
	done, failed := m.count("done"), m.count("failed")
	if done+failed != modelJobs || done < modelJobs/2 {
		t.Errorf("%d rows are done and %d failed, want %d together", done, failed, modelJobs)
	}
	if len(l.done) > done {
		t.Errorf("workers were told of %d jobs that they are done, %d are", len(l.done), done)
	}
	for id, n := range l.done {
		if state := m.rows[id-1].state; n != 1 || state != "done" {
			t.Errorf("job %d, which is %s, was completed %d times", id, state, n)
		}
	}
}

// TestWork has the worker loop do the same.
func TestWork(t *testing.T) {
	server, db := start(t)
	m := newModel(t, 100)
	server.Handle(m.answer)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var mu sync.Mutex
	handled := map[int64]int{}
	err := singleora19.New(db, singleora19.WithWorker("w1")).Work(ctx, func(_ context.Context, job singleora19.Job) error {
		mu.Lock()
		defer mu.Unlock()
		handled[job.ID]++
		if len(handled) == 100 && handled[50] == 3 {
			time.AfterFunc(50*time.Millisecond, stop)
		}
		if job.ID == 50 {
			return errors.New("no")
		}
		return nil
	}, singleora19.WorkOptions{Concurrency: 4, PollInterval: 5 * time.Millisecond})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check.Equal(t, []int{m.count("done"), m.count("failed"), len(handled), handled[1], handled[50]}, []int{99, 1, 100, 1, 3})
}
