package filesq

import (
	"context"
	"testing"
)

// A row that is no job any more stays so, under a key that the caller gives.
func TestEnqueue(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	put := func(bucket string, written bool, want string) {
		t.Helper()
		key, did, err := q.Enqueue(ctx, NewJob{FileID: 7, DataType: "a", Bucket: bucket})
		if err != nil || did != written || did != (key == Key{FileID: 7, DataType: "a"}) {
			t.Errorf("key %v, written %t, %v", key, did, err)
		}
		var got string
		if err := db.QueryRow("SELECT bucket FROM files").Scan(&got); err != nil || got != want {
			t.Errorf("%s, not %s, %v", got, want, err)
		}
	}
	put("x", true, "x")
	put("y", true, "y")
	if _, err := db.Exec("UPDATE files SET is_deleted = 1"); err != nil {
		t.Fatal(err)
	}
	put("z", false, "y")
}
