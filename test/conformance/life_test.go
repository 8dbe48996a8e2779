package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var errCause = errors.New("the mail server said no")

// proveFail: a failure gives the job back while tries are left and puts it
// aside when none are; what went wrong is recorded, and the wait grows.
func proveFail(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 1)
	ctx := limited(t, time.Minute)
	failures := 1
	if s.shape.tries != uncounted {
		failures = 3
	}
	var waits []float64
	for i := 1; i <= failures; i++ {
		x.inSession(t, func(q queue) {
			if err := q.fail(ctx, x.taken(t, q, 1)[0], errCause); err != nil {
				t.Fatal(err)
			}
		})
		if s.shape.tries == uncounted && s.shape.failed == "" {
			if n := x.count(t, everyRow); n != 0 && s.shape.running != "" {
				t.Errorf("%d rows are left of a job that failed for good", n)
			}
			return
		}
		if i < failures {
			x.check(t, states{ready: 1})
			waits = append(waits, x.untilDue(t)...)
		}
	}
	x.check(t, states{failed: 1})
	if x.column(t, "last_error") {
		if n := x.count(t, "last_error = '"+errCause.Error()+"'"); n != 1 {
			t.Error("the cause is not recorded")
		}
	}
	if x.column(t, "due_at") {
		// backoff: {base: 10s, factor: 2, jitter: 0} in qgen.yaml, or the default.
		if len(waits) != 2 || waits[0] <= 0 || waits[1] < 1.5*waits[0] {
			t.Errorf("the waits are %v s, want a second one that is longer", waits)
		}
		if s.pkg.shape == "due" && s.pkg.strategy == "" && (waits[0] < 8 || waits[0] > 10.1 || waits[1] < 18 || waits[1] > 20.1) {
			t.Errorf("the waits are %v s, want 10 and 20", waits)
		}
	}
	if x.q.has("Claim") {
		if jobs, err := x.q.claim(ctx, 1); len(jobs) != 0 || err != nil {
			t.Errorf("a failed job was claimed: %v, %v", numbers(jobs), err)
		}
	}
}

// proveRequeue: a job given back unprocessed costs no try, as often as it happens.
func proveRequeue(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 2)
	ctx := limited(t, time.Minute)
	var first string
	for range 5 {
		jobs := x.taken(t, x.q, 2)
		if tries := jobs[0].field("Tries"); tries.IsValid() {
			if seen := fmt.Sprint(tries.Interface()); cmp.Or(first, seen) != seen {
				t.Errorf("a job that was given back has used %s tries, want %s as at first", seen, first)
			} else {
				first = seen
			}
		}
		if err := x.q.requeue(ctx, 0, jobs...); err != nil {
			t.Fatal(err)
		}
		x.check(t, states{ready: 2})
	}
	if m := x.q.v.MethodByName("Requeue").Type(); m.NumIn() == 3 {
		if err := x.q.requeue(ctx, time.Hour, x.taken(t, x.q, 2)...); err != nil {
			t.Fatal(err)
		}
		if jobs, err := x.q.claim(ctx, 2); len(jobs) != 0 || err != nil {
			t.Errorf("jobs that were put off for an hour came at once: %v, %v", numbers(jobs), err)
		}
	}
}

// proveExtendAndRecover: a heartbeat keeps a job whose lease would have ended,
// and only jobs without one come back.
func proveExtendAndRecover(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 2)
	ctx := limited(t, time.Minute)
	jobs := x.taken(t, x.q, 2)
	x.expire(t, jobs...)
	kept := jobs[:1]
	if err := x.q.settle(ctx, "Extend", kept...); err != nil {
		t.Fatalf("a lease that ended, of a job that nobody took: %v", err)
	}
	if x.q.has("Recover") {
		if n, err := x.q.sweep(ctx, "Recover", 10); n != 1 || err != nil {
			t.Errorf("recovered %d jobs, %v; want the one without a heartbeat", n, err)
		}
		if n, err := x.q.sweep(ctx, "Recover", 10); n != 0 || err != nil {
			t.Errorf("recovered %d jobs more, %v", n, err)
		}
	}
	if again := x.taken(t, x.q, 1); again[0].n() != jobs[1].n() {
		t.Errorf("job %d came back, want %d", again[0].n(), jobs[1].n())
	}
	if err := x.q.complete(ctx, kept...); err != nil {
		t.Errorf("after the heartbeat: %v", err)
	}
}

// proveRecoverGivesUp: a job whose workers die again and again fails when its
// tries are used up.
func proveRecoverGivesUp(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 1)
	ctx := limited(t, time.Minute)
	for try := 1; try <= 3; try++ {
		x.taken(t, x.q, 1)
		x.expire(t)
		if n, err := x.q.sweep(ctx, "Recover", 10); n != 1 || err != nil {
			t.Fatalf("recovered %d jobs, %v; want 1", n, err)
		}
		if try < 3 {
			x.check(t, states{ready: 1})
		}
	}
	x.check(t, states{failed: 1})
}

// proveEnqueue: jobs are added and can be claimed; keys come back in the order
// of the input.
func proveEnqueue(t *testing.T, s *subject) {
	const many = 300
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	key, err := x.q.enqueue(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !x.q.has("EnqueueMany") {
		t.Fatal("there is no EnqueueMany")
	}
	more, err := x.q.enqueueMany(ctx, 2, many)
	if err != nil {
		t.Fatal(err)
	}
	tellsKeys := s.pkg.shape != "rowid" // a place that moves is no key to keep
	if tellsKeys && len(more) != many-1 {
		t.Fatalf("%d keys for %d jobs", len(more), many-1)
	}
	keys := append([]any{nil, key}, more...)
	x.check(t, states{ready: many})
	if _, err := x.q.enqueueMany(ctx, 1, 0); err != nil {
		t.Errorf("no jobs at all: %v", err)
	}
	x.inSession(t, func(q queue) {
		for _, j := range x.taken(t, q, many) {
			if tellsKeys && j.key() != keys[j.n()] {
				t.Fatalf("job %d has the key %v, EnqueueMany returned %v", j.n(), j.key(), keys[j.n()])
			}
		}
	})
}

// proveCompleteAndClaim: what is finished is settled and the next jobs come in
// one step; a lost job does not keep the next ones back.
func proveCompleteAndClaim(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 10)
	ctx := limited(t, time.Minute)
	if !x.q.has("CompleteAndClaim") {
		t.Fatal("there is no CompleteAndClaim")
	}
	first := x.taken(t, x.q, 4)
	next, err := x.q.completeAndClaim(ctx, first, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{5, 6, 7, 8}
	if s.strategy() == "partition" { // the claim is a plain read
		want = numbers(next)
	}
	if got := numbers(next); !slices.Equal(got, want) {
		t.Errorf("the next jobs are %v, want %v", got, want)
	}
	x.check(t, states{done: 4, running: 4, ready: 2 + boolInt(s.shape.running == "")*4})

	if err := x.q.complete(ctx, next[0]); err != nil {
		t.Fatal(err)
	}
	last, err := x.q.completeAndClaim(ctx, next, 4)
	if !errors.Is(err, s.pkg.lost) {
		t.Errorf("a job was lost: got %v, want ErrLost", err)
	}
	if len(last) != 2 {
		t.Errorf("claimed %v beside a lost job, want the 2 that are left", numbers(last))
	}
	x.check(t, states{done: 8, running: 2, ready: boolInt(s.shape.running == "") * 2})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// proveStatsAndPeek: the figures are those of the table, and looking takes nothing.
func proveStatsAndPeek(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 6)
	ctx := limited(t, time.Minute)
	x.inSession(t, func(q queue) {
		if err := q.complete(ctx, x.taken(t, q, 1)...); err != nil {
			t.Fatal(err)
		}
	})
	if s.shape.running != "" {
		x.taken(t, x.q, 2)
	}
	out, err := x.q.call(ctx, "Stats")
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string]string{"Ready": s.shape.ready, "Running": s.shape.running}
	if keepsEnded(s) {
		figures["Done"], figures["Failed"] = s.shape.done, s.shape.failed
	}
	for name, condition := range figures {
		f := out[0].FieldByName(name)
		if condition == "" {
			continue
		}
		if !f.IsValid() {
			t.Errorf("Stats has no %s", name)
			continue
		}
		if got, want := int(f.Int()), x.count(t, condition); got != want {
			t.Errorf("Stats counts %d rows as %s, want %d", got, name, want)
		}
	}
	if x.q.has("StatsOf") {
		x.statsOfTopic(t, out[0])
	}

	if !x.q.has("Peek") {
		t.Fatal("there is no Peek")
	}
	before := x.count(t, s.shape.ready)
	out, err = x.q.call(ctx, "Peek", 3)
	if err != nil {
		t.Fatal(err)
	}
	if got := numbers(jobsOf(out[0])); len(got) != 3 || !slices.IsSorted(got) {
		t.Errorf("Peek saw %v, want the next 3", got)
	}
	if x.count(t, s.shape.ready) != before {
		t.Error("Peek took a job")
	}
	if has, want := x.q.has("Backlog"), keepsEnded(s) || len(s.shape.topics) > 0; has != want {
		t.Errorf("has Backlog: %t, want %t", has, want)
	} else if has {
		x.backlog(t)
	}
}

// proveRedrive: failed jobs come back, so many as asked, with all their tries.
func proveRedrive(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 3)
	ctx := limited(t, time.Minute)
	x.failAll(t, 3)
	if n, err := x.q.sweep(ctx, "Redrive", 2); n != 2 || err != nil {
		t.Errorf("redrove %d jobs, %v; want 2", n, err)
	}
	x.check(t, states{ready: 2, failed: 1})
	if n, err := x.q.sweep(ctx, "Redrive", 10); n != 1 || err != nil {
		t.Errorf("redrove %d jobs, %v; want 1", n, err)
	}
	x.untilDue(t)
	x.inSession(t, func(q queue) {
		jobs := x.taken(t, q, 3)
		if s.shape.tries == uncounted || s.shape.tries == countdown {
			return // the number of tries at first is not known
		}
		for _, j := range jobs {
			if err := q.fail(ctx, j, errCause); err != nil {
				t.Fatal(err)
			}
		}
		x.check(t, states{ready: 3}) // they have tries again
	})
}

// failAll claims and fails until n jobs have failed for good.
func (t *table) failAll(tb testing.TB, n int) {
	tb.Helper()
	ctx := limited(tb, time.Minute)
	for range 4 {
		if t.count(tb, t.shape.failed) == n {
			return
		}
		t.untilDue(tb)
		t.inSession(tb, func(q queue) {
			for _, j := range t.taken(tb, q, n) {
				if err := q.fail(ctx, j, errCause); err != nil {
					tb.Fatal(err)
				}
			}
		})
	}
	t.check(tb, states{failed: n})
}

// provePurge: finished rows go away, so many as asked; others stay, and so does
// what is not old enough.
func provePurge(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 5)
	ctx := limited(t, time.Minute)
	finished := 5
	if s.shape.done != "" {
		x.inSession(t, func(q queue) {
			if err := q.complete(ctx, x.taken(t, q, 3)...); err != nil {
				t.Fatal(err)
			}
		})
		finished = 3
	} else {
		x.failAll(t, finished)
	}
	total := x.count(t, everyRow)
	if x.q.v.MethodByName("Purge").Type().NumIn() == 3 {
		if n, err := x.q.purge(ctx, time.Hour, 10); n != 0 || err != nil {
			t.Errorf("purged %d rows, %v; none is an hour old", n, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n, err := x.q.purge(ctx, 0, 2); n != 2 || err != nil {
		t.Errorf("purged %d rows, %v; want 2, as asked", n, err)
	}
	if n, err := x.q.purge(ctx, 0, 10); n != finished-2 || err != nil {
		t.Errorf("purged %d rows, %v; want the other %d", n, err, finished-2)
	}
	if left := x.count(t, everyRow); left != total-finished {
		t.Errorf("%d rows are left, want %d", left, total-finished)
	}
}

// proveVerify: the package recognises the table that it was made for, and says
// what is wrong with another.
func proveVerify(t *testing.T, s *subject) {
	x := s.newTable(t)
	ctx := limited(t, time.Minute)
	if _, err := x.q.call(ctx, "Verify"); err != nil {
		t.Fatalf("the table is as in the DDL: %v", err)
	}
	if s.family.misset != nil {
		for what, q := range s.family.misset(t, x) {
			if _, err := q.call(ctx, "Verify"); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("Verify says %v, and should say %s", err, what)
			}
		}
	}
	if movesRows(s) {
		x.run(t, "DROP TABLE finished")
		if _, err := x.q.call(ctx, "Verify"); err == nil || !strings.Contains(err.Error(), "of finished") {
			t.Errorf("a table to which rows move is missing, and Verify says %v", err)
		}
	}
	x.run(t, s.family.rename)
	if _, err := x.q.call(ctx, "Verify"); err == nil {
		t.Error("a column is missing and Verify says nothing")
	}
	if s.shape.side != "" {
		x := s.newTable(t)
		x.run(t, "DROP TABLE "+s.shape.side)
		if _, err := x.q.call(ctx, "Verify"); err == nil {
			t.Errorf("%s is missing and Verify says nothing", s.shape.side)
		}
	}
}

// proveWork: the worker loop hands every job to the handler, settles it by what
// the handler returns, and ends when its context does.
func proveWork(t *testing.T, s *subject) {
	const total = 200
	x := s.newTable(t)
	x.fill(t, 1, total)
	ctx, stop := context.WithCancel(limited(t, time.Minute))
	defer stop()
	m := x.q.v.MethodByName("Work")
	if !m.IsValid() {
		t.Fatal("there is no Work")
	}
	var (
		mu     sync.Mutex
		calls  = map[int64]int{}
		panics = m.Type().In(1).NumOut() == 1
	)
	handler := reflect.MakeFunc(m.Type().In(1), func(in []reflect.Value) []reflect.Value {
		n := job{in[1]}.n()
		mu.Lock()
		calls[n]++
		handled := 0
		for _, c := range calls {
			handled += c
		}
		again := calls[n]
		mu.Unlock()
		if handled >= total+total/10*2 { // every tenth job is tried three times
			time.AfterFunc(100*time.Millisecond, stop)
		}
		err := reflect.Zero(reflect.TypeFor[error]())
		if n%10 == 0 {
			if again == 2 && panics {
				panic("a handler that panics fails its job and nothing else")
			}
			err = reflect.ValueOf(&errCause).Elem()
		}
		return []reflect.Value{err}
	})
	options := reflect.New(m.Type().In(2)).Elem()
	options.FieldByName("Concurrency").SetInt(8)
	if f := options.FieldByName("Poll"); f.IsValid() {
		f.SetInt(int64(10 * time.Millisecond))
	}
	out := m.Call([]reflect.Value{reflect.ValueOf(ctx), handler, options})
	if err, _ := out[0].Interface().(error); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Work: %v", err)
	}
	x.check(t, states{done: total - total/10, failed: total / 10})
}

// proveMethods: what the table cannot have is absent from the package, and
// everything else is there; doc.go tells the strategy and the fence.
func proveMethods(t *testing.T, s *subject) {
	x := s.newTable(t)
	doc := readText(t, filepath.Join("gen", s.pkg.name, "doc.go"))
	doc = strings.Join(strings.Fields(strings.ReplaceAll(doc, "//", "")), " ")
	if !strings.Contains(doc, "by the strategy "+s.strategy()+":") {
		t.Errorf("doc.go does not say that jobs are claimed by the strategy %s", s.strategy())
	}
	if s.shape.fence != "none" && !strings.Contains(doc, "fence is at level "+s.shape.fence) {
		t.Errorf("doc.go does not say that the fence is at level %s", s.shape.fence)
	}
	absent := s.absent()
	for _, name := range []string{
		"Claim", "Complete", "Fail", "Requeue", "Extend", "Recover", "CompleteAndClaim", "Enqueue", "EnqueueMany",
		"Stats", "Redrive", "Purge", "Peek", "Verify", "WithTx", "Hold",
	} {
		if has, want := x.q.has(name), !slices.Contains(absent, name); has != want {
			t.Errorf("has %s: %t, want %t", name, has, want)
		}
	}
}

// statsOfTopic: where all rows are of one topic its figures are those of the table; another topic has none.
func (t *table) statsOfTopic(tb testing.TB, all reflect.Value) {
	tb.Helper()
	ctx := limited(tb, time.Minute)
	out, err := t.q.call(ctx, "StatsOf")
	if err != nil {
		tb.Fatal(err)
	}
	other := t.q
	other.group = "other"
	none, err := other.call(ctx, "StatsOf")
	if err != nil {
		tb.Fatal(err)
	}
	for i := range all.NumField() {
		name := all.Type().Field(i).Name
		if all.Field(i).Type() != reflect.TypeFor[int64]() {
			continue // a span, which grows meanwhile
		}
		if got, want := out[0].Field(i).Int(), all.Field(i).Int(); got != want {
			tb.Errorf("StatsOf counts %d rows as %s, want %d", got, name, want)
		}
		if got := none[0].Field(i).Int(); got != 0 && len(t.shape.topics) > 0 {
			tb.Errorf("StatsOf of another topic counts %d rows as %s", got, name)
		}
	}
}

// backlog: of the rows that wait it tells as many as there are, for each topic that has any.
func (t *table) backlog(tb testing.TB) {
	tb.Helper()
	last := collect[int64](tb, t.db, "SELECT max(n) FROM "+t.rows()+" WHERE "+t.shape.ready)[0]
	topics := []string{""}
	if len(t.shape.topics) > 0 {
		t.run(tb, fmt.Sprintf("UPDATE jobs SET kind = 'other' WHERE n = %d", last))
		topics = collect[string](tb, t.db, "SELECT kind FROM jobs WHERE "+t.shape.ready+" GROUP BY kind ORDER BY kind")
	}
	out, err := t.q.call(limited(tb, time.Minute), "Backlog")
	if err != nil {
		tb.Fatal(err)
	}
	waiting := []reflect.Value{out[0]}
	if out[0].Kind() == reflect.Slice {
		waiting = nil
		for i := range out[0].Len() {
			waiting = append(waiting, out[0].Index(i))
		}
	}
	if len(waiting) != len(topics) {
		tb.Fatalf("Backlog tells of %v, want topics %q", out[0], topics)
	}
	for i, b := range waiting {
		condition := t.shape.ready
		if len(t.shape.topics) > 0 {
			condition = "(" + condition + ") AND kind = '" + topics[i] + "'"
			if got := b.Field(0).String(); got != topics[i] {
				tb.Errorf("Backlog tells of %q, want %q", got, topics[i])
			}
		}
		if got, want := int(b.FieldByName("Ready").Int()), t.count(tb, condition); got != want || got == 0 {
			tb.Errorf("Backlog counts %d ready rows of topic %q, want %d", got, topics[i], want)
		}
	}
}
