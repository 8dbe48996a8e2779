package waitsq

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"

	_ "modernc.org/sqlite"
)

// How long a row waits and is held is told by its own number.
func TestColumns(t *testing.T) {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:"+t.TempDir()+"/queue.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ddl, err := os.ReadFile("table.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(ddl),
		"INSERT INTO waits (last_at, wait_s) VALUES (printf('%011d', unixepoch() - 50), 60), (printf('%011d', unixepoch() - 50), 40)",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
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
