package callsq

import (
	"context"
	"database/sql"
	"strconv"
	"testing"
	"time"
)

// What the caller says is a part of what another table gets: each job that is completed has its own.
func TestPartsOfWhatOthersGet(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for id := range int64(4) {
		if _, err := q.Enqueue(ctx, NewJob{}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO history (call_id, tried, log) VALUES (?, 0, 'new')", id+1); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := q.Claim(ctx, 2, 4)
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	one, two := int64(1), int64(2)
	if err := q.Complete(ctx, jobs[0].Done(&one, "/a", time.Hour), jobs[1].Done(&two, "/b", 2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := q.Fail(ctx, jobs[2], nil, "/c", time.Minute); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int]string{1: "new/a 2 1 60m", 2: "new/b 2 2 120m", 3: "new/c 2 - 1m", 4: "new 2 - -"} {
		var got string
		var until sql.NullInt64
		if err := db.QueryRow("SELECT log || ' ' || tried || ' ' || ifnull(code, '-'), keep_to - unixepoch() FROM history WHERE call_id = ?", id).Scan(&got, &until); err != nil {
			t.Fatal(err)
		}
		left := "-"
		if until.Valid {
			left = minutes(until.Int64)
		}
		if got+" "+left != want {
			t.Errorf("job %d: %q, not %q", id, got+" "+left, want)
		}
	}
}

// minutes rounds seconds, since a moment has passed.
func minutes(seconds int64) string { return strconv.FormatInt((seconds+30)/60, 10) + "m" }
