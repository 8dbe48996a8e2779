package pushesq

import (
	"context"
	"testing"
	"time"
)

// What a new job says is written to two columns, and to the row that it meets.
func TestPushed(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	for _, job := range []NewJob{{Name: "a", Pause: 50, Delay: time.Hour}, {Name: "a", Pause: 90, Delay: 2 * time.Hour}} {
		if _, err := q.Enqueue(ctx, job); err != nil {
			t.Fatal(err)
		}
		var pause, due, last int64
		if err := db.QueryRow("SELECT pause, run_at - unixepoch(), last - unixepoch() FROM pushes").Scan(&pause, &due, &last); err != nil {
			t.Fatal(err)
		}
		if want := int64(job.Delay / time.Second); pause != job.Pause || due < pause-5 || due > pause || last < want-5 || last > want {
			t.Errorf("pause %d, due in %d s, last in %d s", pause, due, last)
		}
	}
	if keys, err := q.EnqueueMany(ctx, []NewJob{{Name: "b", Pause: -5}, {Name: "a", Pause: -9}}); err != nil || len(keys) != 2 {
		t.Fatalf("%v: %v", keys, err)
	}
	if jobs, err := q.Claim(ctx, 5); err != nil || len(jobs) != 2 {
		t.Fatalf("%+v: %v", jobs, err)
	}
}
