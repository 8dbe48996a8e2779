package eventsq

import (
	"context"
	"os"
	"strings"
	"testing"
)

// No operation of a queue does anything whose worker has a longer name than there is room
// for: two of them could be one when cut.
func TestWorkerIsTooLong(t *testing.T) {
	ctx, db := context.Background(), open(t)
	ddl, err := os.ReadFile("schema/offset.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(ddl)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO events (body) VALUES ('a')"); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ö", 190)
	for _, q := range []*Queue{New(db, WithWorker(long+"x")), New(db, WithWorker(long+"x")).WithTx(nil)} {
		if jobs, err := q.Claim(ctx, "g", 1); len(jobs) != 0 || err == nil || !strings.Contains(err.Error(), "has 191 characters, and there is room for 190") {
			t.Errorf("%v, %v", jobs, err)
		}
	}
	for _, q := range []*Queue{New(db, WithWorker(long)), New(db, WithWorker(long+"x"), WithWorker("a"))} {
		if jobs, err := q.Claim(ctx, "of "+q.worker[:1], 1); err != nil || len(jobs) != 1 {
			t.Errorf("%v, %v", jobs, err)
		}
	}
}
