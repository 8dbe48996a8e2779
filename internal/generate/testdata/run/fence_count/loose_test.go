package looseq

import (
	"context"
	"errors"
	"testing"
)

// A row without a count is claimed and settled like any other, and by its holder alone.
func TestNullIsTheFirstCount(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO loose (n) VALUES (NULL), (NULL)"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Claim(ctx, 2)
	if err != nil || len(jobs) != 2 || jobs[0].Err != nil || jobs[1].Err != nil {
		t.Fatalf("%+v, %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs[0]); err != nil {
		t.Error(err)
	}
	if _, err := db.Exec("UPDATE loose SET beat = beat - 3600"); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Recover(ctx, 10); err != nil || n != 1 {
		t.Fatalf("%d recovered, %v", n, err)
	}
	if again, err := q.Claim(ctx, 1); err != nil || len(again) != 1 {
		t.Fatalf("%+v, %v", again, err)
	}
	if err := q.Complete(ctx, jobs[1]); !errors.Is(err, ErrLost) {
		t.Errorf("the late worker gets %v", err)
	}
}
