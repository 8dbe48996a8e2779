package dooversq

import (
	"context"
	"strings"
	"testing"
)

// Rows without a time come before those whose time has come, and a claim that finds fewer than it may
// take does not read those that wait.
func TestNullsAreDue(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("CREATE INDEX doovers_ready ON doovers (at, id) WHERE state = 'new'"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO doovers (id, at) VALUES (1, 9), (2, NULL), (3, 7), (4, NULL), (5, unixepoch() + 3600), (6, 8)"); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("EXPLAIN QUERY PLAN "+claimSQL, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, none int
		var step string
		if err := rows.Scan(&id, &parent, &none, &step); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(step, "SCAN doovers") {
			t.Errorf("all waiting rows are read: %s", step)
		}
	}
	q := New(db)
	for _, want := range [][]int64{{2}, {4, 3, 6, 1}, nil} {
		jobs, err := q.Claim(ctx, max(1, len(want)*2-1))
		if err != nil || len(jobs) != len(want) {
			t.Fatalf("%+v came, not %v: %v", jobs, want, err)
		}
		for i, job := range jobs {
			if job.ID != want[i] {
				t.Errorf("job %d came in place of %d", job.ID, want[i])
			}
		}
	}
}
