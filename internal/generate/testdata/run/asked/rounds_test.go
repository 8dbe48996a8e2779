package roundsq

import (
	"context"
	"testing"
	"time"
)

// Each job says how long it rests: one argument for columns that keep time in different ways.
func TestRest(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for range 2 {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
	}
	said := int64(4)
	jobs, err := q.Claim(ctx, &said, 5)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	var sum int64
	if err := db.QueryRow("SELECT sum(said) FROM rounds").Scan(&sum); err != nil || sum != 10 {
		t.Errorf("%d: %v", sum, err)
	}
	at := time.Unix(1000, 0)
	if err := q.Complete(ctx, jobs[0].Done(time.Hour, at, nil), jobs[1].Done(2*time.Hour, at, &said)); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT CAST(strftime('%s', rest_at) AS INTEGER) - unixepoch(), rest_to / 1000 - unixepoch(), seen FROM rounds ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for hours := int64(1); rows.Next(); hours++ {
		var text, number, seen int64
		if err := rows.Scan(&text, &number, &seen); err != nil {
			t.Fatal(err)
		}
		if least := hours*3600 - 10; text < least || text > least+10 || number < least || number > least+10 || seen != 1000 {
			t.Errorf("job %d rests for %d and %d s, seen at %d", hours, text, number, seen)
		}
	}
}
