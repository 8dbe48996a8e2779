package conformance

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

// taken claims so many jobs and fails the test when there are fewer.
func (t *table) taken(tb testing.TB, q queue, n int) []job {
	tb.Helper()
	jobs, err := q.claim(limited(tb, time.Minute), n)
	if err != nil {
		tb.Fatal(err)
	}
	if len(jobs) != n {
		tb.Fatalf("claimed %d jobs, want %d", len(jobs), n)
	}
	return jobs
}

// inSession runs fn inside a session and commits it.
func (t *table) inSession(tb testing.TB, fn func(q queue)) {
	tb.Helper()
	session, commit, end, err := t.q.session(limited(tb, time.Minute))
	if err != nil {
		tb.Fatal(err)
	}
	defer end()
	fn(session)
	if err := commit(); err != nil {
		tb.Fatal(err)
	}
}

// proveLateWorker: a worker whose claim expired and went to another can do
// nothing to the job any more, and the other is not disturbed. That holds for
// two claims of workers that call themselves alike, too.
func proveLateWorker(t *testing.T, s *subject) {
	t.Run("another", func(t *testing.T) { proveLate(t, s, "late", "prompt") })
	t.Run("namesake", func(t *testing.T) { proveLate(t, s, "worker", "worker") })
}

func proveLate(t *testing.T, s *subject, name, next string) {
	x := s.newTable(t)
	x.fill(t, 1, 1)
	ctx := limited(t, time.Minute)
	other := x.on(t, 2, abreast)
	late, prompt := x.open(x.conn, name), other.open(other.conn, next)
	old := x.taken(t, late, 1)
	time.Sleep(3 * time.Millisecond) // leases are longer than the clock's ticks
	x.expire(t)                      // only in the table: the late worker has the job as it was
	if prompt.has("Recover") {
		if n, err := prompt.sweep(ctx, "Recover", 10); n != 1 || err != nil {
			t.Fatalf("recovered %d jobs, %v; want 1", n, err)
		}
		x.check(t, states{ready: 1})
	}
	current := x.taken(t, prompt, 1)
	elsewhere := x.on(t, 1, lagging) // where the late worker has moved
	late = elsewhere.open(elsewhere.conn, name)

	for _, op := range []string{"Complete", "Fail", "Requeue", "Extend"} {
		if err := late.settle(ctx, op, old...); !errors.Is(err, s.pkg.lost) {
			t.Errorf("%s of a late worker returned %v, want ErrLost", op, err)
		}
		if x.count(t, s.shape.running) != 1 {
			t.Errorf("%s of a late worker took the job from its holder", op)
		}
	}

	if err := prompt.complete(ctx, current...); err != nil {
		t.Errorf("the holder cannot complete: %v", err)
	}
	x.check(t, states{done: 1})
}

// proveGivenBack: a worker that gave a job back, and does not know it because
// the answer was lost, does nothing to the claim of the next.
func proveGivenBack(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 1)
	ctx := limited(t, time.Minute)
	first, next := x.open(x.conn, "first"), x.open(x.conn, "next")
	old := x.taken(t, first, 1)
	if err := first.requeue(ctx, 0, old...); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Millisecond) // claims are further apart than the clock's ticks
	current := x.taken(t, next, 1)
	for op, err := range map[string]error{
		"Requeue":  first.requeue(ctx, 0, old...),
		"Complete": first.complete(ctx, old...),
		"Fail":     first.fail(ctx, old[0], errCause),
	} {
		if !errors.Is(err, s.pkg.lost) {
			t.Errorf("%s of a job that was given back returned %v, want ErrLost", op, err)
		}
	}
	x.check(t, states{running: 1})
	if err := next.complete(ctx, current...); err != nil {
		t.Errorf("the holder cannot complete: %v", err)
	}
}

// proveLostAnswer: a completion whose answer was lost can be sent again and
// changes nothing, whatever happened to the job meanwhile.
func proveLostAnswer(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 3)
	ctx := limited(t, time.Minute)
	x.inSession(t, func(q queue) {
		jobs := x.taken(t, q, 2)
		if err := q.complete(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
		if err := q.complete(ctx, jobs...); !errors.Is(err, s.pkg.lost) {
			t.Errorf("the second Complete returned %v, want ErrLost", err)
		}
	})
	x.check(t, states{done: 2, ready: 1})
	if !s.method("Requeue") {
		return
	}
	jobs := x.taken(t, x.q, 1)
	if err := x.q.requeue(ctx, 0, jobs...); err != nil {
		t.Fatal(err)
	}
	if err := x.q.complete(ctx, jobs...); !errors.Is(err, s.pkg.lost) {
		t.Errorf("Complete of a job that was given back returned %v, want ErrLost", err)
	}
	if err := x.q.requeue(ctx, 0, jobs...); !errors.Is(err, s.pkg.lost) {
		t.Errorf("the second Requeue returned %v, want ErrLost", err)
	}
	x.check(t, states{done: 2, ready: 1})
}

// proveLostKeys: of many jobs the lost ones are named, and the rest is done.
func proveLostKeys(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 5)
	ctx := limited(t, time.Minute)
	x.inSession(t, func(q queue) {
		jobs := x.taken(t, q, 5)
		gone := jobs[1:3]
		if err := q.complete(ctx, gone...); err != nil {
			t.Fatal(err)
		}
		err := q.complete(ctx, jobs...)
		if !errors.Is(err, s.pkg.lost) {
			t.Fatalf("got %v, want ErrLost", err)
		}
		keys := lostKeys(t, err)
		if len(keys) != 2 || keys[0] != gone[0].key() || keys[1] != gone[1].key() {
			t.Errorf("lost are %v, want %v and %v", keys, gone[0].key(), gone[1].key())
		}
	})
	x.check(t, states{done: 5})
}

// lostKeys returns the keys of the package's LostError.
func lostKeys(t *testing.T, err error) []any {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		v := reflect.ValueOf(err)
		if v.Kind() != reflect.Pointer || v.Elem().Type().Name() != "LostError" {
			continue
		}
		list := v.Elem().FieldByName("Keys")
		keys := make([]any, list.Len())
		for i := range keys {
			keys[i] = list.Index(i).Interface()
		}
		return keys
	}
	t.Fatal("the error is no LostError")
	return nil
}

func (j job) key() any { return j.v.MethodByName("Key").Call(nil)[0].Interface() }

// proveHandedOver: a job goes through JSON to another process and can be
// settled there, with its fence.
func proveHandedOver(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 2)
	ctx := limited(t, time.Minute)
	other := x.on(t, 1, abreast)
	x.inSession(t, func(q queue) {
		jobs := x.taken(t, q, 2)
		if s.clustered() {
			q = other.q
		}
		for _, j := range jobs {
			text, err := json.Marshal(j.v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			back := reflect.New(j.v.Type())
			if err := json.Unmarshal(text, back.Interface()); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if err := q.complete(ctx, job{back.Elem()}); err != nil {
				t.Errorf("a job that came as %s: %v", text, err)
			}
		}
	})
	x.check(t, states{done: 2})
}
