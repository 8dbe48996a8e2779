package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hasGroups: of the jobs of one lane only so many run at once.
func hasGroups(s *subject) bool { return s.shape.group > 0 }

// headOfLine: the jobs of one lane are done in order.
func headOfLine(s *subject) bool { return s.shape.fifo }

// room is how many jobs of one lane may run at once.
func (s *subject) room() int { return cmp.Or(s.pkg.group, s.shape.group) }

// fillLanes adds jobs and divides them among lanes, which are counted from 1: the
// first gets half of the jobs, and every tenth job has none.
func (t *table) fillLanes(tb testing.TB, jobs, lanes int) {
	tb.Helper()
	t.fill(tb, 1, jobs)
	t.run(tb, fmt.Sprintf("UPDATE jobs SET lane = CASE WHEN n %% 10 = 0 THEN NULL WHEN n %% 2 = 1 THEN 1 ELSE 2 + n %% %d END", lanes-1))
	t.makeLanes(tb, lanes)
}

// makeLanes adds the rows that stand for lanes.
func (t *table) makeLanes(tb testing.TB, lanes int) {
	tb.Helper()
	var rows []string
	for i := range lanes {
		rows = append(rows, fmt.Sprintf("(%d)", i+1))
	}
	t.run(tb, "INSERT INTO lanes (id) VALUES "+strings.Join(rows, ", "))
}

// line is who runs in which lane, as the workers see it.
type line struct {
	mu      sync.Mutex
	room    int
	fifo    bool
	running map[int64]int
	left    map[int64][]int64 // the jobs of a lane that are not finished, in order
	over    int
}

// take notes that jobs run from now on.
func (l *line) take(jobs []job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range jobs {
		lane := j.field("Lane")
		if !lane.IsValid() {
			continue
		}
		id := lane.Int()
		if l.running[id]++; l.running[id] > l.room {
			return fmt.Errorf("%d jobs of lane %d run, which has room for %d", l.running[id], id, l.room)
		}
		if l.fifo && l.left[id][0] != j.n() {
			return fmt.Errorf("job %d of lane %d runs before job %d", j.n(), id, l.left[id][0])
		}
	}
	return nil
}

// leave notes that a job does not run any more; it is told before the database is.
func (l *line) leave(j job, finished bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if finished {
		l.over++
	}
	lane := j.field("Lane")
	if !lane.IsValid() {
		return
	}
	id := lane.Int()
	l.running[id]--
	if finished {
		l.left[id] = slices.DeleteFunc(l.left[id], func(n int64) bool { return n == j.n() })
	}
}

func (l *line) finished() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// proveGroups: many workers over many lanes, one of them with half of the jobs. At no
// moment run more jobs of a lane than it has room for, nor, where they are done in
// order, one before those ahead of it. Some jobs are given back, some fail and some
// workers die; all jobs are done in the end.
func proveGroups(t *testing.T, s *subject) {
	const workers, lanes = 8, 8
	total := 120
	if testing.Short() {
		total = 80
	}
	x := s.newTable(t)
	x.fillLanes(t, total, lanes)
	x.analyze(t)
	l := &line{room: s.room(), fifo: s.shape.fifo, running: map[int64]int{}, left: map[int64][]int64{}}
	for lane := range int64(lanes) {
		l.left[lane+1] = collect[int64](t, x.db, fmt.Sprintf("SELECT n FROM jobs WHERE lane = %d ORDER BY id", lane+1))
	}
	ctx, cancel := context.WithCancelCause(limited(t, 2*time.Minute))
	defer cancel(nil)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			q := x.open(x.conn, fmt.Sprintf("w%d", w))
			for l.finished() < total && ctx.Err() == nil {
				if err := x.workLanes(ctx, q, l); err != nil && ctx.Err() == nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%d of %d jobs are left: %v", total-l.finished(), total, context.Cause(ctx))
	}
	x.check(t, states{done: total})
}

// workLanes has a worker take some jobs and settle them one by one.
func (t *table) workLanes(ctx context.Context, q queue, l *line) error {
	var jobs []job
	err := t.again(ctx, func() (err error) {
		jobs, err = q.claim(ctx, 1+rand.IntN(6))
		return err
	})
	if err != nil {
		return err
	}
	if err := l.take(jobs); err != nil {
		return err
	}
	time.Sleep(time.Duration(1+rand.IntN(3)) * time.Millisecond)
	for _, j := range jobs {
		back := rand.IntN(10) == 0
		l.leave(j, !back)
		err := t.again(ctx, func() error {
			if back {
				return q.requeue(ctx, 0, j)
			}
			return q.complete(ctx, j)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// proveBusyGroup: a claim takes of each lane what it has room for and no more; a full
// lane at the head of the queue keeps no other waiting; the lane of a dead worker goes
// on when its jobs are recovered; and of two claims in open transactions the second
// does not count without the first.
func proveBusyGroup(t *testing.T, s *subject) {
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	x.fill(t, 1, 320)
	x.run(t, "UPDATE jobs SET lane = CASE WHEN n <= 300 THEN 1 WHEN n <= 310 THEN 2 END")
	x.makeLanes(t, 2)
	claim := func(q queue, size, first, second, none int) []job {
		t.Helper()
		jobs, err := q.claim(ctx, size)
		if err != nil {
			t.Fatal(err)
		}
		got := map[int64]int{}
		for _, j := range jobs {
			lane := j.field("Lane")
			if !lane.IsValid() {
				got[0]++
				continue
			}
			got[lane.Int()]++
		}
		if got[1] != first || got[2] != second || got[0] != none {
			t.Fatalf("a claim of %d took %d, %d and %d jobs of lanes 1, 2 and none, want %d, %d and %d", size, got[1], got[2], got[0], first, second, none)
		}
		return jobs
	}
	room := s.room()
	held := claim(x.q, room, room, 0, 0)
	claim(x.q, room, 0, room, 0)
	claim(x.q, 5, 0, 0, 5)
	claim(x.q, 100, 0, 0, 5)
	claim(x.q, 100, 0, 0, 0)
	if err := x.q.complete(ctx, held[0]); err != nil {
		t.Fatal(err)
	}
	claim(x.q, 100, 1, 0, 0)
	x.expire(t)
	if _, err := x.q.sweep(ctx, "Recover", 1000); err != nil {
		t.Fatal(err)
	}
	if s.family.oneWriter || !passesGroups(s) {
		claim(x.q, 100, room, room, 10)
		return
	}
	first, err := x.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer first.rollback() //nolint:errcheck // it is over
	claim(x.q.withTx(first.any), 1, 1, 0, 0)
	second, err := x.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer second.rollback() //nolint:errcheck // it is over
	others, err := x.q.withTx(second.any).claim(ctx, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range others {
		if lane := j.field("Lane"); lane.IsValid() && lane.Int() == 1 {
			t.Errorf("job %d of lane 1 was taken while another claim of that lane is not committed", j.n())
		}
	}
	if err := errors.Join(first.commit(), second.commit()); err != nil {
		t.Fatal(err)
	}
	if n := x.count(t, "lane = 1 AND "+s.shape.running); n != 1 {
		t.Errorf("%d jobs of lane 1 run, want 1", n)
	}
}

// passesGroups: a claim passes over groups that another claims from.
func passesGroups(s *subject) bool { return s.strategy() != "guarded" }

// proveHeadOfLine: a job that failed and waits for its next try keeps those behind it
// waiting, and so does one that a dead worker had; one that failed for good does not.
func proveHeadOfLine(t *testing.T, s *subject) {
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	x.fill(t, 1, 3)
	x.run(t, "UPDATE jobs SET lane = 1")
	x.makeLanes(t, 1)
	next := func(want ...int64) []job {
		t.Helper()
		jobs, err := x.q.claim(ctx, 10)
		if err != nil {
			t.Fatal(err)
		}
		if got := numbers(jobs); !slices.Equal(got, want) {
			t.Fatalf("claimed %v, want %v", got, want)
		}
		return jobs
	}
	for try := range 3 {
		head := next(1)
		next()
		if err := x.q.fail(ctx, head[0], errors.New("no")); err != nil {
			t.Fatal(err)
		}
		if try < 2 {
			next()
			x.untilDue(t)
		}
	}
	next(2) // the first has failed for good
	x.expire(t)
	next()
	if _, err := x.q.sweep(ctx, "Recover", 10); err != nil {
		t.Fatal(err)
	}
	x.untilDue(t)
	second := next(2)
	if err := x.q.requeue(ctx, time.Hour, second...); err != nil {
		t.Fatal(err)
	}
	next()
	x.untilDue(t)
	if err := x.q.complete(ctx, next(2)...); err != nil {
		t.Fatal(err)
	}
	last := next(3)
	if _, err := x.q.sweep(ctx, "Redrive", 10); err != nil {
		t.Fatal(err)
	}
	next() // the first is ready again, and the last still runs
	if err := x.q.complete(ctx, last...); err != nil {
		t.Fatal(err)
	}
	next(1)
}

// TestNaiveGroups shows what the properties of groups are about: two claims that pass
// over full groups and do nothing else fill a group twice.
func TestNaiveGroups(t *testing.T) {
	for _, server := range live {
		if server.family != &postgresql || !server.up() {
			continue
		}
		t.Run(server.name, func(t *testing.T) {
			s := &subject{server: server, pkg: emitted{name: "none", shape: "grouped", driver: "database/sql"}, shape: shapes["grouped"]}
			x := s.bareTable(t)
			x.fill(t, 1, 2)
			x.run(t, "UPDATE jobs SET lane = 1")
			for range 2 {
				tx, err := x.db.Begin()
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback()
				var id int64
				const free = "SELECT id FROM jobs WHERE status = 'ready' AND NOT EXISTS (SELECT 1 FROM jobs AS other WHERE other.lane = jobs.lane AND other.status = 'running') ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
				if err := tx.QueryRow(free).Scan(&id); err != nil {
					t.Fatalf("the careless claim took nothing, so that nothing is shown: %v", err)
				}
				if _, err := tx.Exec(fmt.Sprintf("UPDATE jobs SET status = 'running' WHERE id = %d", id)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
