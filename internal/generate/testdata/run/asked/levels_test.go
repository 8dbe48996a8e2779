package levelsq

import (
	"context"
	"testing"
)

// What a claim writes to a column and compares rows with is said once.
func TestOneNameIsOneArgument(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.Exec("INSERT INTO levels (level) VALUES (3)"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		level       int64
		taken, left int
	}{{2, 0, 3}, {3, 0, 3}, {5, 1, 5}} {
		jobs, err := q.Claim(ctx, 1, tt.level, 1)
		if err != nil || len(jobs) != tt.taken {
			t.Errorf("%d: %+v: %v", tt.level, jobs, err)
		}
		var left int
		if err := db.QueryRow("SELECT level FROM levels").Scan(&left); err != nil || left != tt.left {
			t.Errorf("%d: %d is left: %v", tt.level, left, err)
		}
	}
}
