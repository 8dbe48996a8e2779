package notesq

import (
	"context"
	"testing"
)

// A new row holds the same, whether it was added alone or with others.
func TestSameValues(t *testing.T) {
	ctx, db := context.Background(), open(t)
	q := New(db)
	name := "a name"
	for _, job := range []NewJob{
		{Body: []byte("text"), Extra: []byte{0, 0xff}, Raw: []byte{0xfe, 1}, Name: &name},
		{Body: []byte{}, Extra: []byte{}, Raw: []byte{}},
		{},
	} {
		if _, err := q.Enqueue(ctx, job); err != nil {
			t.Fatal(err)
		}
		if _, err := q.EnqueueMany(ctx, []NewJob{job, job}); err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query("SELECT DISTINCT quote(body), quote(extra), quote(raw), quote(name) FROM notes ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		var held [][4]string
		for rows.Next() {
			var h [4]string
			if err := rows.Scan(&h[0], &h[1], &h[2], &h[3]); err != nil {
				t.Fatal(err)
			}
			held = append(held, h)
		}
		if err := rows.Err(); err != nil || len(held) != 1 {
			t.Errorf("%v, %v", held, err)
		}
		jobs, err := q.Claim(ctx, 10)
		if err != nil || len(jobs) != 3 {
			t.Fatalf("%+v, %v", jobs, err)
		}
		for _, j := range jobs {
			if string(j.Body) != string(job.Body) || string(j.Extra) != string(job.Extra) || string(j.Raw) != string(job.Raw) {
				t.Errorf("%q, %q and %q come back, want %q, %q and %q", j.Body, j.Extra, j.Raw, job.Body, job.Extra, job.Raw)
			}
		}
		if err := q.Complete(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
	}
}
