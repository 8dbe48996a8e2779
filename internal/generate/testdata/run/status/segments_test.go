package segmentsq

import (
	"context"
	"slices"
	"testing"
)

// A row that another program gave back by its owner alone is ready at once; one that is held
// is when its claim runs out, and never when it has no time.
func TestFreeByOwner(t *testing.T) {
	ctx, db := context.Background(), open(t)
	if _, err := db.Exec(`INSERT INTO segments (id, owner, since) VALUES
		(1, NULL, unixepoch()), (2, 'a', unixepoch()), (3, 'a', unixepoch() - 11), (4, 'a', NULL), (5, NULL, NULL)`); err != nil {
		t.Fatal(err)
	}
	jobs, err := New(db).Claim(ctx, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []Key
	for _, j := range jobs {
		got = append(got, j.ID)
	}
	if !slices.Equal(got, []Key{1, 3, 5}) {
		t.Errorf("claimed %v, want 1, 3, 5", got)
	}
}
