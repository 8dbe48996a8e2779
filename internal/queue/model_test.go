package queue

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// row is a row of a table in a world where expressions of users are true.
type row map[*schema.Column]any // nil, int64, string or bool; times are int64

// world is what a Spec is tried in.
type world struct {
	t      *rapid.T
	s      *Spec
	now    int64 // seconds
	fresh  int
	worker string
	delay  int64
}

const leaseSeconds = 60 // of every lease in the tables below

// value evaluates the right-hand side of a test or a write.
func (w *world) value(r row, c *schema.Column, v Value) any {
	switch v.Kind {
	case Literal:
		return constantOf(c, v.Text)
	case Null:
		return nil
	case Now:
		return w.now + w.shift(r, v.Shift)
	case Token:
		w.fresh++
		return "token" + strconv.Itoa(w.fresh)
	case WorkerID:
		return w.worker
	case Old:
		return r[c]
	case Add:
		if r[c] == nil {
			if a := w.s.Count(c); a != nil && a.NullMeansUnlimited {
				return nil
			}
			return int64(v.By)
		}
		return r[c].(int64) + int64(v.By)
	case ColumnOf:
		n := r[v.Other]
		switch {
		case n == nil && v.Else == "":
			return nil
		case n == nil:
			n = constantOf(v.Other, v.Else)
		}
		return n.(int64) + int64(v.By)
	case Arg:
		return "given"
	case Cause:
		return v.Text
	}
	w.t.Fatalf("value of kind %s", v.Kind)
	return nil
}

func (w *world) shift(r row, s *Shift) int64 {
	if s == nil {
		return 0
	}
	var n int64
	switch {
	case s.Column != nil:
		n = r[s.Column].(int64) * int64(s.Unit/time.Second)
	case s.Arg == ArgDelay:
		n = w.delay
	case s.Arg == ArgLease, s.Arg == ArgTimeout:
		n = leaseSeconds
	default:
		n = int64(s.Fixed / time.Second)
	}
	if s.Minus {
		return -n
	}
	return n
}

func constantOf(c *schema.Column, text string) any {
	switch c.Type.Class {
	case schema.Int:
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	case schema.Bool:
		return text == "true"
	}
	return text
}

// holds evaluates a test as SQL does: what is compared with null does not hold.
func (w *world) holds(r row, t Test) bool {
	if w.alone(r, t) {
		return true
	}
	return slices.ContainsFunc(t.Or, func(o Test) bool { return w.holds(r, o) })
}

func (w *world) alone(r row, t Test) bool {
	if t.Op == Raw {
		return true
	}
	have := r[t.Column]
	var values []any
	for _, v := range t.Values {
		values = append(values, w.value(r, t.Column, v))
	}
	switch t.Op {
	case IsNull:
		return have == nil
	case NotNull:
		return have != nil
	case In:
		return slices.Contains(values, have)
	case NotIn:
		return !slices.Contains(values, have)
	}
	if have == nil || values[0] == nil {
		return false
	}
	x, y := have.(int64)+int64(t.By), values[0].(int64)
	return map[Op]bool{Less: x < y, LessEqual: x <= y, Greater: x > y, GreatEqual: x >= y}[t.Op]
}

func (w *world) all(r row, tests []Test) bool {
	return !slices.ContainsFunc(tests, func(t Test) bool { return !w.holds(r, t) })
}

func (w *world) in(r row, state StateName) bool {
	s := w.s.States[state]
	return s != nil && r != nil && w.all(r, s.Tests)
}

func (w *world) can(r row, name TransitionName) bool {
	t := w.s.Transitions[name]
	return t != nil && r != nil && w.all(r, t.Tests)
}

// do applies a transition; a deleted row is nil.
func (w *world) do(r row, name TransitionName) row {
	if !w.can(r, name) {
		w.t.Fatalf("%s is not for this row: %s", name, w.show(r))
	}
	t := w.s.Transitions[name]
	if t.Delete {
		return nil
	}
	next := maps.Clone(r)
	for _, write := range t.Writes {
		next[write.Column] = w.value(r, write.Column, write.Value)
		if next[write.Column] == nil && write.Column.NotNull {
			w.t.Fatalf("%s writes null to %s", name, write.Column.Name)
		}
	}
	w.one(next)
	return next
}

// one checks that a row is in one state at most.
func (w *world) one(r row) {
	var states []StateName
	for _, name := range StateNames {
		if w.in(r, name) {
			states = append(states, name)
		}
	}
	if len(states) > 1 {
		w.t.Fatalf("a row is %v: %s", states, w.show(r))
	}
}

func (w *world) show(r row) string {
	var parts []string
	for _, c := range w.s.Table.Columns {
		parts = append(parts, fmt.Sprintf("%s=%v", c.Name, r[c]))
	}
	return strings.Join(parts, " ") + fmt.Sprintf(" now=%d\n%s", w.now, w.s)
}

// enqueue returns a new row: what the transition writes, the defaults, and what
// a caller would give.
func (w *world) enqueue() row {
	r := row{}
	for _, c := range w.s.Table.Columns {
		text, ok := constant(c.Default)
		switch {
		case c.HasDefault && ok:
			r[c] = constantOf(c, text)
		case c.Name == "limits":
			r[c] = w.limit(c)
		case !c.NotNull:
			r[c] = nil
		case c.Type.Class == schema.Int:
			r[c] = int64(1)
		case c.Type.Class == schema.Timestamp:
			r[c] = w.now
		default:
			r[c] = "x"
		}
	}
	if a := w.s.Attempts; a != nil && a.Down {
		r[a.Column] = int64(3)
	}
	if c := w.s.Expires; c != nil {
		r[c] = w.now + 1_000_000
	}
	return w.do(r, Enqueue)
}

// limit draws the limit of a row: one that the column may hold, and by which a job is tried
// at all.
func (w *world) limit(c *schema.Column) any {
	limits := []any{int64(1), int64(3)}
	if !c.NotNull {
		limits = append(limits, nil)
	}
	if a := w.s.Attempts; a != nil && a.MaxOf != nil {
		for _, v := range a.MaxOf.Endless {
			limits = append(limits, constantOf(c, v.Text))
		}
		if a.MaxOf.Retries {
			limits = append(limits, int64(0))
		}
	}
	return rapid.SampledFrom(limits).Draw(w.t, "limits")
}

// left tells whether a job that fails now is tried again, as Fail decides.
func (w *world) left(r row) bool {
	a := w.s.Attempts
	switch {
	case w.s.Transitions[Fail] == nil:
		return true
	case !a.Limited():
		return a != nil
	}
	n, _ := r[a.Column].(int64)
	if r[a.Column] == nil && a.NullMeansUnlimited {
		return true
	}
	switch {
	case a.Retries():
		return n > 0
	case a.Down && a.OnClaim:
		return n > 0
	case a.Down:
		return n > 1
	}
	most := int64(a.Max)
	if l := a.MaxOf; l != nil {
		var limited bool
		if most, limited = w.limitOf(l, r); !limited {
			return true
		}
		if l.Retries {
			most++
		}
	}
	if !a.OnClaim {
		n++
	}
	return n < most
}

// Roles are what people know; what they expand to must be a queue: a job is in
// one state at a time, comes back when it should, and never when it should not.
func TestExpansionIsQueue(t *testing.T) {
	tried, bound := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		ddl := drawTable(t)
		errs := &source.ErrorList{}
		cat := readText(ddl, errs)
		if errs.Len() > 0 {
			t.Fatalf("%s\n%s", errs.Detail(), ddl)
		}
		specs := Bind(cat, &config.Queue{}, strings.ToLower, errs)
		tried++
		if errs.Len() > 0 {
			return // combinations that make no queue are refused, with a reason
		}
		bound++
		s := specs[0]
		tb := testing.TB(fatal{t: t})
		sound(tb, s)
		w := &world{t: t, s: s, now: 1_000_000}
		w.live()
	})
	if bound*3 < tried {
		t.Errorf("only %d of %d tables are queues", bound, tried)
	}
}

// live leads one job through its life, several times.
func (w *world) live() {
	t, s := w.t, w.s
	r := w.enqueue()
	runs := s.States[Running] != nil
	fences := map[string]bool{}
	// A count alone repeats when it is taken back, which a note tells.
	repeats := s.Attempts != nil && slices.Equal(s.Fence.Columns, []*schema.Column{s.Attempts.Column})
	for step := range 12 {
		if !w.in(r, Ready) {
			t.Fatalf("step %d: the row is not ready: %s", step, w.show(r))
		}
		w.now += 7
		w.worker = fmt.Sprintf("worker%d", step)
		r = w.do(r, Claim)
		if runs {
			taken := Running
			if s.Transitions[Start] != nil {
				taken = Claimed
			}
			if !w.in(r, taken) {
				t.Fatalf("a claimed row is not %s: %s", taken, w.show(r))
			}
			if s.Fence.Level >= FenceClaimed {
				fence := ""
				for _, c := range s.Fence.Columns {
					fence += fmt.Sprintf("%v/", r[c])
				}
				if fences[fence] {
					t.Fatalf("two claims have the fence %s: %s", fence, w.show(r))
				}
				fences[fence] = true
			}
			if w.can(r, Redrive) || w.can(r, Purge) {
				t.Fatalf("a running row is redriven or purged: %s", w.show(r))
			}
		}
		r = w.renew(r)
		if s.Transitions[Start] != nil && rapid.Bool().Draw(t, "start") {
			if r = w.do(r, Start); !w.in(r, Running) || w.can(r, Start) {
				t.Fatalf("a row that was begun does not run, or can be begun again: %s", w.show(r))
			}
			r = w.renew(r)
		}
		w.delay = rapid.Int64Range(0, 20).Draw(t, "delay")
		before := r
		if r = w.settle(r); r == nil {
			return
		}
		if repeats && r[s.Attempts.Column] != before[s.Attempts.Column] {
			clear(fences)
		}
	}
}

// renew renews a claim, or does not: the row stays in its state.
func (w *world) renew(r row) row {
	if w.s.Transitions[Renew] == nil || !rapid.Bool().Draw(w.t, "renew") {
		return r
	}
	w.now += 5
	begun := w.in(r, Running)
	if r = w.do(r, Renew); !w.in(r, Running) && !w.in(r, Claimed) || w.in(r, Running) != begun {
		w.t.Fatalf("a renewed row is not what it was: %s", w.show(r))
	}
	return r
}

// settle ends a claim in one of the ways in which it can end. It returns a row
// that is ready again, or nil when the job's life is over.
func (w *world) settle(r row) row {
	t, s := w.t, w.s
	ways := []string{"done", "retry", "release"}
	if s.Expired != nil || s.AtStart || s.Lease != nil && s.Lease.ByClaim {
		ways = append(ways, "crash", "crash")
	}
	way := rapid.SampledFrom(ways).Draw(t, "way")
	if way == "retry" && !w.left(r) {
		way = "fail"
	}
	switch way {
	case "done":
		if r = w.do(r, Finish); r != nil && !w.in(r, Done) {
			t.Fatalf("a finished row is not done: %s", w.show(r))
		}
		w.never(r, Ready)
		return nil
	case "fail":
		if r = w.do(r, Fail); r != nil && !w.in(r, Failed) {
			t.Fatalf("a failed row is not failed: %s", w.show(r))
		}
		w.never(r, Ready)
		return w.redriven(r)
	case "crash":
		return w.crash(r)
	}
	before := r
	r = w.do(r, TransitionName(way))
	if a := s.Recoveries; a != nil && r[a.Column] != before[a.Column] {
		t.Fatalf("%s counts as a recovery: %s", way, w.show(r))
	}
	if (w.in(r, Running) || w.in(r, Claimed)) && !w.visible() && s.States[Running] != nil {
		t.Fatalf("after %s somebody has the row: %s", way, w.show(r))
	}
	w.now += w.delay
	if way == "retry" && s.Due != nil && !w.in(r, Ready) {
		w.now += 60 // a wait of the row's own, which is for tries that failed
	}
	return r
}

// visible: a row that waits looks like one that runs.
func (w *world) visible() bool {
	return w.s.Lease != nil && w.s.Lease.Column == w.s.Due && w.s.Lease.ByClaim
}

// never checks that a row is not in a state, now or later.
func (w *world) never(r row, state StateName) {
	for range 3 {
		if w.in(r, state) {
			w.t.Fatalf("the row is %s: %s", state, w.show(r))
		}
		w.now += 10_000
	}
}

// crash lets a claim run out.
func (w *world) crash(r row) row {
	t, s := w.t, w.s
	w.now += leaseSeconds + 1
	if s.Expired != nil && !w.all(r, s.Expired) {
		t.Fatalf("the claim has not run out: %s", w.show(r))
	}
	recovers, givesUp := w.can(r, Recover), w.can(r, GiveUp)
	if s.Recoveries != nil && recovers != w.recoverable(r) {
		t.Fatalf("the row is recovered: %v: %s", recovers, w.show(r))
	}
	if recovers && givesUp {
		t.Fatalf("the row is both recovered and given up: %s", w.show(r))
	}
	if s.Lease != nil && s.Lease.ByClaim {
		switch {
		case w.in(r, Ready):
			return r
		case w.in(r, Failed):
			return w.redriven(r)
		case givesUp:
			return w.redriven(w.do(r, GiveUp))
		}
		t.Fatalf("nobody gets the row: %s", w.show(r))
	}
	switch {
	case recovers:
		next := w.do(r, Recover)
		if a := s.Recoveries; a != nil && next[a.Column] == r[a.Column] && (r[a.Column] != nil || !a.NullMeansUnlimited) {
			t.Fatalf("a recovery is not counted: %s", w.show(next))
		}
		if a := s.Attempts; s.Recoveries != nil && a != nil && next[a.Column] != r[a.Column] {
			t.Fatalf("a recovery counts as a try: %s", w.show(next))
		}
		return next
	case givesUp:
		r = w.do(r, GiveUp)
		if r != nil && !w.in(r, Failed) {
			t.Fatalf("a row that was given up has not failed: %s", w.show(r))
		}
		return w.redriven(r)
	}
	t.Fatalf("nobody recovers the row: %s", w.show(r))
	return nil
}

// recoverable tells whether a job whose claim has run out is made ready, where recoveries are
// counted.
func (w *world) recoverable(r row) bool {
	if a := w.s.Attempts; a != nil && a.OnClaim && a.Limited() && !w.left(r) {
		return false
	}
	a := w.s.Recoveries
	n, known := r[a.Column].(int64)
	if !a.Limited() || !known && a.NullMeansUnlimited {
		return true
	}
	if a.Down {
		return n > 0
	}
	most, limited := int64(a.Max), true
	if l := a.MaxOf; l != nil {
		most, limited = w.limitOf(l, r)
	}
	return !limited || n < most
}

// limitOf tells the limit that a row has, if it has one.
func (w *world) limitOf(l *RowLimit, r row) (int64, bool) {
	held, ok := r[l.Column].(int64)
	switch {
	case ok && slices.ContainsFunc(l.Endless, func(v Value) bool { return v.Text == strconv.FormatInt(held, 10) }):
		return 0, false
	case !ok && l.Null == nil:
		return 0, false
	case !ok:
		held = int64(*l.Null)
	}
	return held, true
}

// redriven makes a failed row ready, if failed rows stay.
func (w *world) redriven(r row) row {
	if r == nil {
		return nil
	}
	return w.do(r, Redrive)
}

// drawTable returns the DDL of a table with random roles.
func drawTable(t *rapid.T) string {
	pick := func(name string, options ...string) string { return rapid.SampledFrom(options).Draw(t, name) }
	columns := []string{"id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "secs int NOT NULL DEFAULT 60", "limits int"}
	optional := func(name string, options ...string) string {
		c := pick(name, append(options, "")...)
		if c != "" {
			columns = append(columns, c)
		}
		return c
	}
	status := optional("status",
		"st text NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A done=C failed=E",
		"st text -- qgen:status ready=N|R running=A done=C failed=E",
		"st text NOT NULL -- qgen:status ready=N running=A",
		"st boolean NOT NULL DEFAULT false -- qgen:status ready=false done=true",
		"st int NOT NULL -- qgen:status ready=0 done=2 failed=3",
		"st text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=token done=done failed=failed",
		"st text NOT NULL DEFAULT 'N' -- qgen:status ready=N claimed=R running=A done=C failed=E",
		"st text NOT NULL DEFAULT 'N' -- qgen:status ready=N claimed=N running=A done=C",
		"st int -- qgen:status ready=null claimed=0|1 running=2 done=3",
		"st timestamptz -- qgen:status ready=null running=now",
		"st timestamptz -- qgen:status ready=null running=null done=now",
		"st int NOT NULL DEFAULT 0 -- qgen:status ready=0 running~0 done=1")
	until := optional("until",
		"until timestamptz -- qgen:lease length=60s",
		"until timestamptz -- qgen:lease length=60s expired=recover",
		"until timestamptz -- qgen:lease length=60s expired=claim",
		"until timestamptz NOT NULL -- qgen:lease length=arg free=now",
		"until timestamptz NOT NULL -- qgen:visible length=60s",
		"until timestamptz -- qgen:visible",
		"until timestamptz NOT NULL -- qgen:due; lease length=60s",
		"until timestamptz -- qgen:lease length=secs unit=s",
		"until bigint NOT NULL DEFAULT 0 -- qgen:lease as=epoch length=60s free=0", "", "", "")
	since := "since timestamptz -- qgen:claimed"
	if until == "" {
		since = optional("since", since,
			"since timestamptz -- qgen:claimed timeout=60s",
			"since timestamptz -- qgen:claimed timeout=60s expired=recover",
			"since timestamptz -- qgen:claimed timeout=arg",
			"since timestamptz -- qgen:claimed timeout=arg expired=recover",
			"since timestamptz -- qgen:claimed timeout=secs unit=s expired=claim")
	} else {
		since = optional("since", since)
	}
	switch {
	case strings.Contains(since, "timeout"), strings.Contains(until, "length=60s"):
		optional("beat", "beat timestamptz -- qgen:heartbeat", "", "")
	case until+since != "":
		optional("beat", "beat timestamptz -- qgen:heartbeat timeout=60s", "beat timestamptz -- qgen:heartbeat timeout=arg", "", "")
	}
	if !strings.Contains(until, "visible") && !strings.Contains(until, "due") {
		optional("due", "due timestamptz -- qgen:due", "due timestamptz NOT NULL -- qgen:due", "due timestamptz -- qgen:due add=1m", "due timestamptz -- qgen:due add=1m; on claim set now", "", "")
	}
	optional("worker", "worker text -- qgen:worker", "worker text NOT NULL DEFAULT '' -- qgen:worker free=''", "")
	if !strings.Contains(status, "token") {
		optional("token", "token text -- qgen:token", "token text NOT NULL -- qgen:token free=none|''", "", "")
	}
	attempts := optional("attempts",
		"tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=3",
		"tries int -- qgen:attempts up on=claim max=limits",
		"tries int NOT NULL -- qgen:attempts up on=retry max=3",
		"tries int -- qgen:attempts up on=retry max=limits limit=claim",
		"tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=retry max=limits",
		"tries int -- qgen:attempts up on=retry max=limits null=unlimited",
		"tries int NOT NULL DEFAULT 3 -- qgen:attempts down max=limits",
		"tries int NOT NULL DEFAULT 3 -- qgen:attempts down max=limits limit=fail",
		"tries int -- qgen:attempts up on=claim max=3 limit=claim null=unlimited",
		"tries int NOT NULL DEFAULT 3 -- qgen:attempts down",
		"tries int NOT NULL DEFAULT 3 -- qgen:attempts down on=claim",
		"tries int -- qgen:attempts down on=claim max=3",
		"tries int -- qgen:attempts down on=claim null=unlimited",
		"tries int -- qgen:attempts down max=3",
		"tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim")
	if strings.Contains(attempts, "limits") {
		columns[2] = pick("limits", "limits int", "limits int NOT NULL", "limits int -- qgen:max_attempts null=2", "limits int -- qgen:max_attempts retries",
			"limits int -- qgen:max_attempts retries null=0", "limits int -- qgen:max_attempts unlimited=-1|0",
			"limits int NOT NULL -- qgen:max_attempts retries unlimited=-1", "limits int -- qgen:max_attempts unlimited=0 null=1")
	}
	if strings.Contains(status, "failed=") && strings.Contains(until+since, "expired=recover") {
		optional("recoveries",
			"again int NOT NULL DEFAULT 0 -- qgen:attempts on=recover max=2",
			"again int NOT NULL -- qgen:attempts on=recover max=limits",
			"again int -- qgen:attempts on=recover max=limits",
			"again int -- qgen:attempts on=recover max=2 null=unlimited",
			"again int -- qgen:attempts on=recover",
			"again int NOT NULL DEFAULT 1 -- qgen:attempts down on=recover max=2",
			"again int -- qgen:attempts down on=recover max=1",
			"again int -- qgen:attempts down on=recover null=unlimited")
	}
	optional("version", "ver int NOT NULL DEFAULT 1 -- qgen:version", "ver int -- qgen:version", "", "")
	finished := optional("finished", "fin timestamptz -- qgen:finished", "fin timestamptz -- qgen:finished also_failed", "")
	optional("expires", "gone timestamptz -- qgen:expires", "", "")
	optional("error", "err text -- qgen:error clear=retry", "")
	head := ""
	keeps := strings.Contains(status, "done=") || finished != "" && !strings.Contains(finished, "also_failed")
	switch {
	case keeps && pick("keeps", "yes", "no") == "yes" || strings.Contains(status, "done="):
		optional("result", "res text -- qgen:result clear=retry", "", "")
	default:
		head = "done=delete"
	}
	if until == "" && !strings.Contains(since, "timeout") && !slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, "heartbeat") }) {
		head += pick("recover", "", "", " recover=start", " recover=start expired=fail")
	}
	if !strings.Contains(status, "failed=") {
		head += pick("failed", "", " failed=keep", " failed=delete")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- qgen:queue q %s\nCREATE TABLE t (\n", head)
	for i, c := range columns {
		definition, comment, _ := strings.Cut(c, " -- ")
		comma := ","
		if i == len(columns)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "  %s%s -- %s\n", definition, comma, comment)
	}
	b.WriteString(");\n")
	return b.String()
}

func readText(ddl string, errs *source.ErrorList) *schema.Catalog {
	cat, err := schema.Read("postgresql", []*source.File{source.NewFile("schema.sql", []byte(ddl))}, errs)
	if err != nil {
		return &schema.Catalog{}
	}
	return cat
}

// fatal lets helpers of tests be used in properties.
type fatal struct {
	testing.TB
	t *rapid.T
}

func (f fatal) Helper()                           {}
func (f fatal) Fatal(args ...any)                 { f.t.Fatal(args...) }
func (f fatal) Fatalf(format string, args ...any) { f.t.Fatalf(format, args...) }
