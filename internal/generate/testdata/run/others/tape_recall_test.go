package recallsq

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// What a step does to rows of other jobs is done to these alone: not to rows of the same call, nor to
// those of another group, nor by a worker whose claim was lost.
func TestOthers(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	rows := func() (text string) {
		t.Helper()
		found, err := db.Query("SELECT task_id, grp, status, weight FROM tape_recall ORDER BY task_id")
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for found.Next() {
			var id, grp, status, weight int
			if err := found.Scan(&id, &grp, &status, &weight); err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintf("%d/%d:%d+%d ", grp, id, status, weight)
		}
		return text
	}
	is := func(want string) {
		t.Helper()
		if have := rows(); have != want {
			t.Errorf("the rows are %s, and should be %s", have, want)
		}
	}
	for i, grp := range []int64{1, 1, 2, 1, 2} {
		if _, err := q.Enqueue(ctx, NewJob{Grp: grp, File: fmt.Sprint("f", i)}); err != nil {
			t.Fatal(err)
		}
	}
	// A file that waits is not there twice: the later one stays.
	if _, err := q.EnqueueMany(ctx, []NewJob{{Grp: 2, File: "f4"}, {Grp: 3, File: "f9"}}); err != nil {
		t.Fatal(err)
	}
	is("1/1:1+0 1/2:1+0 2/3:1+0 1/4:1+0 2/6:1+0 3/7:1+0 ")

	jobs, err := q.Claim(ctx, 1)
	if err != nil || len(jobs) != 1 || jobs[0].TaskID != 1 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	is("1/1:2+0 1/2:2+0 2/3:1+0 1/4:2+0 2/6:1+0 3/7:1+0 ")
	more, err := q.Claim(ctx, 10)
	if err != nil || len(more) != 3 {
		t.Fatalf("rows that went with another are claimed: %+v: %v", more, err)
	}
	is("1/1:2+0 1/2:2+0 2/3:2+0 1/4:2+0 2/6:2+0 3/7:2+0 ")

	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	is("1/1:0+0 1/2:0+1 2/3:2+0 1/4:0+1 2/6:2+0 3/7:2+0 ")
	if err := q.Complete(ctx, jobs...); !errors.Is(err, ErrLost) {
		t.Errorf("a job is done twice: %v", err)
	}
	// Of jobs of one call none is another's.
	if err := q.Complete(ctx, more...); err != nil {
		t.Fatal(err)
	}
	is("1/1:0+0 1/2:0+1 2/3:0+0 1/4:0+1 2/6:0+0 3/7:0+0 ")
}
