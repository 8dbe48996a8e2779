package visitsq

import (
	"context"
	"os"
	"slices"
	"testing"
)

// A log takes each mark once.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	ddl, err := os.ReadFile("schema/offset.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(ddl)); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	if _, added, err := q.EnqueueMany(ctx, []NewJob{{Mark: "a"}, {Mark: "a"}, {Mark: "b"}}); err != nil || !slices.Equal(added, []bool{true, false, true}) {
		t.Fatalf("added %t, %v", added, err)
	}
	if jobs, err := q.Claim(ctx, "readers", 10); err != nil || len(jobs) != 2 {
		t.Errorf("%v, %v", jobs, err)
	}
}
