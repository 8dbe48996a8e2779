package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A drill is a cluster of its own that loses a node while all packages work on it,
// each on a table of its own. One drill serves all packages of a kind of cluster,
// and goes on beside other tests: until the others let go of the dead node, hardly
// anything happens.
type drill struct {
	subjects []*subject
	once     sync.Once
	ended    chan struct{}
	stage    *stage
	crews    map[string]*crew // by package; nil when the drill did not come to its end
}

// begin begins the drill, once. It ends before the test does.
func (d *drill) begin(t *testing.T) {
	d.once.Do(func() {
		d.ended, d.stage = make(chan struct{}), &stage{TB: t}
		t.Cleanup(func() { <-d.ended })
		go func() {
			defer close(d.ended)
			defer d.stage.clear()
			d.run(d.stage)
		}()
	})
}

// stage is a test whose end is not that of the goroutine in which it runs: what
// would fail it is kept, and what is to be cleaned up is done at the end of the
// stage.
type stage struct {
	testing.TB
	problems []error
	cleanups []func()
}

func (s *stage) Error(args ...any) { s.problems = append(s.problems, errors.New(fmt.Sprint(args...))) }

func (s *stage) Errorf(format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf(format, args...))
}

func (s *stage) Fatal(args ...any) {
	s.Error(args...)
	runtime.Goexit()
}

func (s *stage) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	runtime.Goexit()
}

func (s *stage) Cleanup(fn func()) { s.cleanups = append(s.cleanups, fn) }

// clear cleans up, the last thing first.
func (s *stage) clear() {
	for _, fn := range slices.Backward(s.cleanups) {
		fn()
	}
}

// losesNode: the cluster may lose a node.
func losesNode(s *subject) bool { return s.clustered() && !testing.Short() }

// proveKilledNode: a node is killed in the middle of the work. The others go on,
// nothing is lost, nothing is held twice, and who worked on that node gets errors
// that say that the work may be tried again: on another node, where it is.
func proveKilledNode(t *testing.T, s *subject) {
	s.drill.begin(t)
	<-s.drill.ended
	for _, err := range s.drill.stage.problems {
		t.Error(err)
	}
	c := s.drill.crews[s.pkg.name]
	if c == nil {
		t.Fatal("the drill did not come to its end")
	}
	t.Logf("%d jobs were done, %d of them after the kill; %d calls were turned away, %d jobs orphaned, %d lost",
		c.ledger.finished(), c.after.Load(), c.turnedAway.Load(), len(c.orphans), len(c.missing))
	for _, err := range c.problems {
		t.Error(err)
	}
}

// run holds the drill.
func (d *drill) run(t testing.TB) {
	dsns, kill := d.subjects[0].startOwn(t)
	ctx := limited(t, 2*time.Minute)
	crews := map[string]*crew{}
	for _, s := range d.subjects {
		own := *s
		own.nodes = dsns
		crews[s.pkg.name] = own.muster(t)
	}
	var group sync.WaitGroup
	for _, c := range crews {
		for w := range crewSize {
			group.Go(func() { c.work(ctx, w) })
		}
	}
	for _, c := range crews {
		c.until(ctx, func() bool { return c.ledger.finished() >= crewJobs/4 })
	}
	for _, c := range crews {
		c.dying.Store(true)
	}
	kill(victim)
	for _, c := range crews {
		c.killed.Store(true)
	}
	for _, c := range crews {
		c.until(ctx, func() bool { return c.idle(t) })
		c.over.Store(true)
	}
	group.Wait()
	for _, c := range crews {
		c.settleUp(ctx, t)
	}
	d.crews = crews
}

const (
	victim    = 2 // the node that is killed
	crewSize  = 6 // workers of one package, spread over the nodes
	crewJobs  = 200
	crewBatch = 5
)

// crew is the workers of one package in a drill.
type crew struct {
	x      *table
	nodes  []*table // as workers begin on them
	refuge *table   // where those of the killed node go on
	ledger *ledger

	dying  atomic.Bool // the node is about to be killed
	killed atomic.Bool
	over   atomic.Bool

	added      atomic.Int64 // number of the last job that was added
	turnedAway atomic.Int64 // calls on the killed node that failed
	unanswered atomic.Int64 // claims of which nobody knows whether they were made
	after      atomic.Int64 // jobs that were done after the kill

	mu       sync.Mutex
	problems []error
	maybe    []int64 // jobs that may have been added
	orphans  []job   // that a worker took along
	missing  []int64 // jobs that were not done
}

// muster makes the table and the workers' places.
func (s *subject) muster(t testing.TB) *crew {
	t.Helper()
	x := s.newTable(t)
	x.fill(t, 1, crewJobs)
	c := &crew{x: x, ledger: newLedger(), refuge: x.on(t, 1, abreast)}
	c.added.Store(crewJobs)
	for i := range s.nodes {
		c.nodes = append(c.nodes, x.on(t, i, lagging))
	}
	return c
}

// problem notes what must not be.
func (c *crew) problem(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, err)
}

// until waits for a condition.
func (c *crew) until(ctx context.Context, holds func() bool) {
	for !holds() {
		if ctx.Err() != nil {
			c.problem(fmt.Errorf("%d of %d jobs are done: %w", c.ledger.finished(), c.added.Load(), ctx.Err()))
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// idle reports whether no job is ready, and none in the hands of a worker.
func (c *crew) idle(t testing.TB) bool {
	c.mu.Lock()
	orphans := len(c.orphans)
	c.mu.Unlock()
	return c.ledger.held() == orphans && c.x.count(t, c.x.shape.ready) == 0
}

// worker is one of a crew, and where it works.
type worker struct {
	*crew
	name   string
	number int
	at     *table
	q      queue
}

// dies: of the workers on the killed node one dies with it, where jobs come back.
func (w *worker) dies() bool {
	return w.number == victim && w.x.shape.lease != "" && canComplete(w.x.subject)
}

// rests is the time that jobs take. A cluster that has lost a node is slow until it
// has let go of it, and the slower the more it is asked.
func (w *worker) rests() {
	if w.killed.Load() {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(5 * time.Millisecond)
}

// moves has the worker go on at another place.
func (w *worker) moves(to *table) {
	w.at = to
	w.q = to.open(to.conn, w.name).sharded(w.number, crewSize)
}

// work takes, does and completes jobs, and adds others, until the drill is over.
func (c *crew) work(ctx context.Context, number int) {
	w := &worker{crew: c, name: fmt.Sprintf("w%d", number), number: number}
	w.moves(c.nodes[number%len(c.nodes)])
	for round := 1; !c.over.Load() && ctx.Err() == nil; round++ {
		var jobs []job
		err := w.call(ctx, "Claim", func() (err error) {
			jobs, err = w.q.claim(ctx, crewBatch)
			return err
		})
		if err != nil {
			c.unanswered.Add(1)
			continue
		}
		if err := c.ledger.take(w.name, jobs); err != nil {
			c.problem(err)
			return
		}
		w.rests()
		if w.dies() && len(jobs) > 0 && c.ledger.finished() >= crewJobs/8 {
			c.until(ctx, c.killed.Load)
			c.mu.Lock()
			c.orphans = append(c.orphans, jobs...)
			c.mu.Unlock()
			return
		}
		w.completes(ctx, jobs)
		switch {
		case !c.killed.Load():
			w.adds(ctx, len(jobs)) // the queue does not run dry
		case round%10 == 0:
			w.adds(ctx, 1)
		}
	}
}

// call calls the package, again while nodes undo each other's work. When the
// worker's node is gone it returns an error, after it has looked whether further
// calls say so as well, and the worker is at another node.
func (w *worker) call(ctx context.Context, what string, fn func() error) error {
	for {
		err := fn()
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, w.x.pkg.lost):
			return err
		case !w.x.pkg.retryable(err):
			w.problem(fmt.Errorf("%s of %s: IsRetryable(%w) is false", what, w.name, err))
			return err
		case w.at == w.nodes[victim] && w.dying.Load():
			w.until(ctx, w.killed.Load)
			for range 3 {
				w.turnedAway.Add(1)
				if _, again := w.q.claim(ctx, 1); again == nil || !w.x.pkg.retryable(again) {
					w.problem(fmt.Errorf("a claim on the killed node: IsRetryable(%w) is false", again))
				}
			}
			w.moves(w.refuge)
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// completes completes jobs, elsewhere once more when the answer was lost: then
// they may be done already.
func (w *worker) completes(ctx context.Context, jobs []job) {
	complete := func() error { return w.q.complete(ctx, jobs...) }
	err := w.call(ctx, "Complete", complete)
	if err != nil && !errors.Is(err, w.x.pkg.lost) {
		if err = w.call(ctx, "Complete", complete); errors.Is(err, w.x.pkg.lost) {
			err = nil
		}
	}
	if err != nil {
		w.problem(fmt.Errorf("Complete of %s: %w", w.name, err))
		return
	}
	if w.killed.Load() {
		w.after.Add(int64(len(jobs)))
	}
	w.ledger.finish(jobs)
}

// adds adds jobs. When the answer is lost they may be there all the same.
func (w *worker) adds(ctx context.Context, many int) {
	if many == 0 {
		return
	}
	last := w.added.Add(int64(many))
	first := last - int64(many) + 1
	err := w.call(ctx, "Enqueue", func() (err error) {
		if many == 1 {
			_, err = w.q.enqueue(ctx, int(first))
		} else {
			_, err = w.q.enqueueMany(ctx, int(first), int(last))
		}
		return err
	})
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		for n := first; n <= last; n++ {
			w.maybe = append(w.maybe, n)
		}
	}
}

// settleUp brings back what died with the node, and compares what was done with
// what there was to do.
func (c *crew) settleUp(ctx context.Context, t testing.TB) {
	t.Helper()
	x := c.x
	if x.shape.lease != "" {
		c.ledger.leave(c.orphans)
		x.expire(t)
		if c.refuge.q.has("Recover") {
			if _, err := c.refuge.q.sweep(ctx, "Recover", 2*crewJobs); err != nil {
				c.problem(err)
			}
		}
	}
	c.inherit(ctx, t)
	switch {
	case c.turnedAway.Load() == 0:
		c.problem(errors.New("nobody worked on the node when it was killed"))
	case c.after.Load() == 0:
		c.problem(errors.New("nothing was done after the node was killed"))
	case len(c.orphans) == 0 && x.shape.lease != "":
		c.problem(errors.New("nobody died with the node"))
	}
	for n := int64(1); n <= c.added.Load(); n++ {
		if !c.ledger.done[n] && !slices.Contains(c.maybe, n) {
			c.missing = append(c.missing, n)
		}
	}
	// A job that is deleted when it is taken is lost with the answer.
	atMost := 0
	if x.strategy() == "pop" {
		atMost = crewBatch * int(c.unanswered.Load())
	}
	if n := len(c.missing); n > atMost {
		c.problem(fmt.Errorf("%d jobs are lost, such as %v; %d may be", n, c.missing[:min(n, 20)], atMost))
	}
	done := 0
	if x.shape.done != "" {
		if done = x.count(t, x.shape.done); done != c.ledger.finished() {
			c.problem(fmt.Errorf("the table says that %d jobs are done, the workers %d", done, c.ledger.finished()))
		}
	}
	if left := x.count(t, everyRow) - done; left > 0 {
		c.problem(fmt.Errorf("%d jobs are left", left))
	}
}

// inherit has one worker do what is left.
func (c *crew) inherit(ctx context.Context, t testing.TB) {
	t.Helper()
	w := &worker{crew: c, name: "heir", at: c.refuge, q: c.refuge.q}
	for c.x.count(t, c.x.shape.ready) > 0 && ctx.Err() == nil {
		jobs, err := w.q.claim(ctx, 100)
		if err == nil {
			err = c.ledger.take(w.name, jobs)
		}
		if err != nil {
			c.problem(err)
			return
		}
		w.completes(ctx, jobs)
	}
}

// startOwn starts a cluster for this test, and returns its nodes and what kills
// one. It ends with the test, or with the process when that is killed: its recipe
// stops it when the other side of a pipe is gone.
func (s *subject) startOwn(t testing.TB) (dsns []string, kill func(node int)) {
	t.Helper()
	const script = `"$0" start "$@" || exit; cat >/dev/null; "$0" stop "$1" "$2"`
	c, dir := s.family.cluster, filepath.Join(t.TempDir(), "nodes")
	args := append([]string{"-c", script, filepath.Join("..", "servers", c.recipe), s.version, dir}, c.impatient...)
	recipe := exec.Command("bash", args...)
	recipe.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interrupt ends the test, which ends this
	recipe.Stderr = os.Stderr
	alive, err := recipe.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := recipe.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := recipe.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = alive.Close()
		if err := recipe.Wait(); err != nil {
			t.Error(err)
		}
	})
	for lines := bufio.NewScanner(out); len(dsns) < len(s.addresses(t)) && lines.Scan(); {
		dsns = append(dsns, lines.Text())
	}
	if len(dsns) < len(s.addresses(t)) {
		t.Fatalf("%s started %d nodes", c.recipe, len(dsns))
	}
	return dsns, func(node int) {
		t.Helper()
		pid, err := strconv.Atoi(strings.TrimSpace(readText(t, filepath.Join(dir, strconv.Itoa(node+1)+".pid"))))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
}
