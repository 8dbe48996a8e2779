package marksq

import (
	"context"
	"errors"
	"testing"
)

// Where what a step writes to another table changes the row that it has locked, the step
// is undone as a whole, and says so.
func TestLockedRowChanges(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec("INSERT INTO marks (id, state) VALUES (1, 'N')"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err == nil || errors.Is(err, ErrLost) {
		t.Errorf("Complete returns %v", err)
	}
	var state string
	var n int
	if err := db.QueryRow("SELECT state, (SELECT count(*) FROM trails) FROM marks").Scan(&state, &n); err != nil || state != "A" || n != 0 {
		t.Errorf("the row is %s with %d rows beside (%v)", state, n, err)
	}
}
