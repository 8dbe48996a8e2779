package mailsq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// What leaves the key out adds a row; by the key of an expression the address is one in any case.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	mail := func(want string) {
		t.Helper()
		var got string
		err := db.QueryRow("SELECT group_concat(address || ' ' || coalesce(kind, '-') || ' ' || weight || ' ' || coalesce(hex(data), '-') || ' ' || due || ' ' || tries || ' ' || coalesce(\"when\", '-')) FROM (SELECT * FROM mails ORDER BY address)").Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s, not %s: %v", got, want, err)
		}
	}
	put := func(job NewJob, key string) {
		t.Helper()
		if got, err := q.Enqueue(ctx, job); err != nil || got != key {
			t.Errorf("key %s, %v", got, err)
		}
	}
	at, later, kind, light, heavy, when := time.Unix(100, 0), time.Unix(200, 0), "news", 1.0, 3.5, "now"
	put(NewJob{Address: "A@b", Due: &at, Tries: 3, Data: []byte{1}}, "A@b")
	mail("A@b - 1.5 01 100 3 soon")
	put(NewJob{Address: "a@B", Kind: &kind, Weight: &light, Due: &later, Tries: 9, When: &when}, "A@b")
	mail("A@b news 1.5 01 100 3 now") // neither lighter, nor what tells whether it may be claimed
	put(NewJob{Address: "a@b", Weight: &heavy, Tries: 9, Data: []byte{}}, "A@b")
	mail("A@b news 3.5  100 3 now")

	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%v, %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	// A row that is met by another key alone is an error, as ever, and of the call nothing is left.
	if keys, err := q.EnqueueMany(ctx, []NewJob{{Address: "c", Tries: 1}, {Address: "A@b", Tries: 1}}); err == nil || keys != nil || errors.Is(err, ErrLost) {
		t.Errorf("keys %v, %v", keys, err)
	}
	put(NewJob{Address: "a@b", Due: &at, Tries: 1}, "a@b")
	var n int
	if err := db.QueryRow("SELECT count(*) FROM mails").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
}
