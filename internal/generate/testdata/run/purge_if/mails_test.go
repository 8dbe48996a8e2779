package mailsq

import (
	"context"
	"testing"
)

// Purge removes what the condition says, in whatever state, and nothing else.
func TestPurgeIf(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO mails (id, inserted, host, sent) VALUES (1, 100, 'here', 1), (2, 100, 'there', 1), (3, 100, 'there', 0), (4, 100, 'there', 2), (5, 900, 'there', 1)"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	for _, step := range []struct {
		limit, n int
		left     int
	}{{2, 2, 3}, {10, 1, 2}, {10, 0, 2}} {
		if n, err := q.Purge(ctx, 500, "here", step.limit); err != nil || n != step.n {
			t.Errorf("%d rows go, want %d: %v", n, step.n, err)
		}
		var left int
		if err := db.QueryRow("SELECT count(*) FROM mails").Scan(&left); err != nil || left != step.left {
			t.Errorf("%d rows are left, want %d: %v", left, step.left, err)
		}
	}
	var kept int
	if err := db.QueryRow("SELECT sum(id) FROM mails").Scan(&kept); err != nil || kept != 6 {
		t.Errorf("the rows that are left add up to %d, want 1 + 5: %v", kept, err)
	}
}
