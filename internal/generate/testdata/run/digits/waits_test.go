package waitsq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// What the package proves of itself holds where jobs wait for as long as they say.
func TestProof(t *testing.T) {
	t.Setenv("WAITSQ_TEST_DSN", database(t))
	TestConformance(t)
}

// How long a row waits and is held is told by its own number.
func TestColumns(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	if _, err := db.Exec("INSERT INTO waits (last_at, wait_s) VALUES (printf('%011d', unixepoch() - 50), 60), (printf('%011d', unixepoch() - 50), 40)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	first, err := q.Claim(ctx, 10)
	if err != nil || len(first) != 1 || first[0].WaitS != 40 {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := q.Claim(ctx, 10); err != nil || len(again) != 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := db.Exec("UPDATE waits SET since = printf('%014d', since - 41000) WHERE wait_s = 40"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // by which claims are told apart
	second, err := q.Claim(ctx, 10)
	if err != nil || len(second) != 1 {
		t.Fatalf("%+v, %v", second, err)
	}
	if err := q.Complete(ctx, first...); !errors.Is(err, ErrLost) {
		t.Errorf("who came late got %v", err)
	}
	if err := q.Complete(ctx, second...); err != nil {
		t.Error(err)
	}
}
