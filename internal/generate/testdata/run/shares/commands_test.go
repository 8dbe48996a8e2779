package commandsq

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Where rows leave the table when their jobs end, the shard is all that a claim looks at.
func TestShares(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	for i := range 6 {
		if _, err := q.Enqueue(ctx, NewJob{What: fmt.Sprint("w", i)}); err != nil {
			t.Fatal(err)
		}
	}
	mine, err := q.Claim(ctx, Shard{Index: 1, Count: 2}, 10)
	if err != nil || len(mine) != 3 {
		t.Fatalf("%d jobs of the first shard, %v", len(mine), err)
	}
	for _, j := range mine {
		if j.ID%2 != 1 {
			t.Errorf("job %d is of another shard", j.ID)
		}
	}
	if err := q.Complete(ctx, mine[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Fail(ctx, mine[1], errors.New("broken")); err != nil {
		t.Fatal(err)
	}
	if err := q.Complete(ctx, mine[0]); !errors.Is(err, ErrLost) {
		t.Errorf("a job that is gone is completed: %v", err)
	}
	var what, message string
	if err := db.QueryRow("SELECT what, message FROM error_commands").Scan(&what, &message); err != nil || what != mine[1].What || message != "broken" {
		t.Errorf("%q failed by %q, %v", what, message, err)
	}
	again, err := q.Claim(ctx, Shard{Index: 1, Count: 2}, 10)
	if err != nil || len(again) != 1 || again[0].ID != mine[2].ID {
		t.Errorf("%v is left, %v", again, err)
	}
	if others, err := q.Claim(ctx, Shard{Index: 0, Count: 2}, 10); err != nil || len(others) != 3 {
		t.Errorf("%d jobs of the other shard, %v", len(others), err)
	}
}
