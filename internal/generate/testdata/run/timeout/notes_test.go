package notesq

import (
	"context"
	"testing"
	"time"
)

// An argument of the user's stands before the timeout, whatever its name.
func TestArgumentOfThatName(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	seven := int64(7)
	if n, err := q.Recover(ctx, &seven, time.Hour, 1); err != nil || n != 0 {
		t.Errorf("recovered %d: %v", n, err)
	}
	if _, err := db.Exec("UPDATE notes SET begun = begun - 1000"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, &seven, 500*time.Millisecond, 1); err != nil || n != 1 {
		t.Errorf("recovered %d: %v", n, err)
	}
	var timeout int
	if err := db.QueryRow("SELECT timeout FROM notes WHERE state = 'N'").Scan(&timeout); err != nil || timeout != 7 {
		t.Errorf("the column has %d: %v", timeout, err)
	}
}
