package countedq

import (
	"context"
	"os"
	"testing"
)

// A worker of a column of decimal numbers is the process id.
func TestWorkerIsNumber(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Claim(ctx, 1); err != nil || len(jobs) != 1 {
		t.Fatalf("%v, %v", jobs, err)
	}
	var held int
	if err := db.QueryRow("SELECT consumer FROM counted").Scan(&held); err != nil || held != os.Getpid() {
		t.Errorf("held by %d, %v, in process %d", held, err, os.Getpid())
	}
}
