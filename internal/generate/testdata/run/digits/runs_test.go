package runsq

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"
)

func text(t *testing.T, db *sql.DB, column string) string {
	t.Helper()
	var held sql.NullString
	if err := db.QueryRow("SELECT " + column + " FROM runs").Scan(&held); err != nil {
		t.Fatal(err)
	}
	return held.String
}

// A job is taken when the number in its row has come, held for its lease, put off, and
// taken back from who is gone.
func TestDigits(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	due := time.Now().Add(time.Hour).Truncate(time.Second)
	if _, err := q.Enqueue(ctx, NewJob{RunText: &due}); err != nil {
		t.Fatal(err)
	}
	if made := text(t, db, "made"); len(made) != 10 {
		t.Errorf("enqueued at %q", made)
	}
	if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 0 {
		t.Fatalf("an hour early: %v, %v", jobs, err)
	}
	// Nine digits and a row of zeros in front sort before what has ten.
	if _, err := db.Exec("UPDATE runs SET run_text = '00999999999'"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 1 || !jobs[0].RunText.Equal(time.Unix(999999999, 0)) {
		t.Fatalf("%+v, %v", jobs, err)
	}
	held := text(t, db, "held_till")
	if left := time.Until(jobs[0].HeldTill); len(held) != 17 || left < 4*time.Minute || left > 6*time.Minute {
		t.Errorf("held until %q, %v", held, left)
	}
	if err := q.Requeue(ctx, 1<<63-1, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if far := text(t, db, "run_text"); len(far) != 11 || far < "10000000000" {
		t.Errorf("put off until %q", far)
	}
	if jobs, err := q.Claim(ctx, 10); err != nil || len(jobs) != 0 {
		t.Fatalf("put off: %v, %v", jobs, err)
	}
	if _, err := db.Exec("UPDATE runs SET run_text = printf('%011d', unixepoch() - 1)"); err != nil {
		t.Fatal(err)
	}
	first, err := q.Claim(ctx, 10)
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 0 {
		t.Fatalf("%d claims that are good were taken back: %v", n, err)
	}
	if _, err := db.Exec("UPDATE runs SET held_till = printf('%017d', held_till - 301000000)"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d claims that ran out were taken back: %v", n, err)
	}
	second, err := q.Claim(ctx, 10)
	if err != nil || len(second) != 1 {
		t.Fatal(second, err)
	}
	if err := q.Complete(ctx, first...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if err := q.Fail(ctx, second[0], errors.New("on purpose")); err != nil {
		t.Fatal(err)
	}
	var wait float64
	if err := db.QueryRow("SELECT run_text - unixepoch() FROM runs").Scan(&wait); err != nil || wait < 115 || wait > 125 {
		t.Errorf("due in %v s after the second failure, %v", wait, err) // 60 s for each
	}
	if _, err := db.Exec("UPDATE runs SET run_text = '00000000000'"); err != nil {
		t.Fatal(err)
	}
	last, err := q.Claim(ctx, 10)
	if err != nil || len(last) != 1 {
		t.Fatal(last, err)
	}
	if err := q.Extend(ctx, &last[0]); err != nil {
		t.Fatal(err)
	}
	stats, err := q.Stats(ctx)
	if err != nil || stats.Running != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	if err := q.Complete(ctx, last...); err != nil {
		t.Fatal(err)
	}
	if ended := text(t, db, "ended"); len(ended) != 14 {
		t.Errorf("ended at %q", ended)
	}
	// A year before 1970 is none that a number of digits can tell.
	if n, err := q.Purge(ctx, 290*365*24*time.Hour, 10); err != nil || n != 0 {
		t.Errorf("%d rows are older than 290 years: %v", n, err)
	}
	if n, err := q.Purge(ctx, -time.Minute, 10); err != nil || n != 1 {
		t.Errorf("%d rows are over: %v", n, err)
	}
}
