package conformance

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// hasPayload: jobs have columns in another table.
func hasPayload(s *subject) bool { return s.shape.payload }

// provePayloadElsewhere: a job comes with what it has in another table, and without what
// it has not; and a claim that cannot read that takes nothing.
func provePayloadElsewhere(t *testing.T, s *subject) {
	x := s.newTable(t)
	x.fill(t, 1, 5)
	for _, row := range []string{
		"(1, 4, 'one', '2024-01-02 03:04:05', 'sent')",
		"(2, 3, 'of another kind', NULL, 'sent')",
		"(2, 4, 'two', NULL, 'new')",
		"(3, 3, 'of another kind', NULL, 'sent')",
	} {
		x.run(t, "INSERT INTO bodies (job_n, kind, body, made_at, status) VALUES "+row)
	}
	x.inSession(t, func(q queue) {
		x.run(t, "ALTER TABLE bodies RENAME TO elsewhere")
		ready := x.count(t, s.shape.ready)
		if jobs, err := q.claim(limited(t, time.Minute), 2); err == nil || len(jobs) > 0 {
			t.Errorf("claimed %d jobs, %v, though what they have in another table cannot be read", len(jobs), err)
		}
		if got := x.count(t, s.shape.ready); got != ready {
			t.Errorf("%d rows are ready after a claim that failed, want %d", got, ready)
		}
		x.run(t, "ALTER TABLE elsewhere RENAME TO bodies")
	})

	want := map[int64]string{1: "one, 2024, sent", 2: "two, nil, new", 3: "nil, nil, nil", 4: "nil, nil, nil"}
	seen := func(how string, jobs []job) {
		t.Helper()
		for _, j := range jobs {
			if got := payload(j); got != want[j.n()] {
				t.Errorf("job %d has %s by %s, want %s", j.n(), got, how, want[j.n()])
			}
		}
	}
	ctx := limited(t, time.Minute)
	out, err := x.q.call(ctx, "Peek", 4)
	if err != nil {
		t.Fatal(err)
	}
	peeked := jobsOf(out[0])
	if len(peeked) != 4 {
		t.Errorf("Peek saw %d jobs, want 4", len(peeked))
	}
	seen("Peek", peeked)
	x.inSession(t, func(q queue) {
		jobs := x.taken(t, q, 3)
		seen("Claim", jobs)
		first := jobs[0].v.Interface()
		text, err := json.Marshal(first)
		if err != nil || !strings.Contains(string(text), `"body":"one"`) {
			t.Errorf("as JSON the job is %s, %v", text, err)
		}
		if shown := first.(slog.LogValuer).LogValue().String(); strings.Contains(shown, "one") || !strings.Contains(shown, "body") {
			t.Errorf("logs show %s", shown)
		}
		if !q.has("CompleteAndClaim") {
			return
		}
		more, err := q.completeAndClaim(ctx, jobs, 1)
		if err != nil || len(more) != 1 {
			t.Fatalf("got %d further jobs, %v; want 1", len(more), err)
		}
		seen("CompleteAndClaim", more)
	})
}

// payload is what a job has in the table bodies, of the time the year alone.
func payload(j job) string {
	var parts []string
	for _, name := range []string{"Body", "MadeAt", "BStatus"} {
		text := "nil"
		f := j.v.FieldByName(name)
		if !f.IsValid() {
			f = j.v.FieldByName("Status") // the queue's own table has none
		}
		if !f.IsNil() {
			text = fmt.Sprint(f.Elem().Interface())
		}
		if name == "MadeAt" && len(text) > 4 {
			text = text[:4]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
