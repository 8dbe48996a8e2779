package filesq

import (
	"context"
	"slices"
	"testing"
)

// However many instances share the rows, each row is one's alone, and none is nobody's.
func TestEveryRowHasOneInstance(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec(`WITH RECURSIVE n (i) AS (SELECT -3 UNION ALL SELECT i + 1 FROM n WHERE i < 1026)
		INSERT INTO files (bucket) SELECT i FROM n`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO files (bucket) VALUES (NULL), (-9223372036854775808), (9223372036854775807)"); err != nil {
		t.Fatal(err)
	}
	const rows = 1033
	q := New(db)
	for _, count := range []int{1, 2, 3, 7, 1024, 1500} {
		var all []int64
		for index := range count {
			jobs, err := q.Claim(ctx, Shard{Index: index, Count: count}, 2*rows)
			if err != nil {
				t.Fatal(err)
			}
			if most := 1024/count + 1 + 9; count <= 1024 && len(jobs) > most {
				t.Errorf("instance %d of %d has %d rows, want %d at most", index, count, len(jobs), most)
			}
			for _, j := range jobs {
				all = append(all, j.ID)
			}
		}
		slices.Sort(all)
		if len(all) != rows || len(slices.Compact(all)) != rows {
			t.Errorf("%d instances have %d rows, want each of %d once", count, len(all), rows)
		}
	}
	for _, s := range []Shard{{}, {Index: 2, Count: 2}, {Index: -1, Count: 2}} {
		if _, err := q.Claim(ctx, s, 1); err == nil {
			t.Errorf("there is a shard %d of %d", s.Index, s.Count)
		}
		if _, err := q.Peek(ctx, s, 1); err == nil {
			t.Errorf("Peek sees a shard %d of %d", s.Index, s.Count)
		}
	}
}
