package scansq

import (
	"context"
	"testing"
)

// A row without the key that the database lets be null is no job, and a new job has one.
func TestNullKey(t *testing.T) {
	db, ctx := open(t), context.Background()
	q := New(db)
	if _, err := db.ExecContext(ctx, "INSERT INTO scans (report, start) VALUES (NULL, 1), (NULL, 2)"); err != nil {
		t.Fatal(err)
	}
	for i, report := range []int64{7, 8} {
		if key, err := q.Enqueue(ctx, NewJob{Report: report, Start: int64(3 + i)}); err != nil || key != report {
			t.Fatalf("%+v: %v", key, err)
		}
	}
	jobs, err := q.Claim(ctx, 5)
	if err != nil || len(jobs) != 2 || jobs[0].Report != 7 || jobs[1].Report != 8 {
		t.Fatalf("%+v: %v", jobs, err)
	}
	if err := q.Complete(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM scans WHERE report IS NULL AND till IS NULL").Scan(&left); err != nil || left != 2 {
		t.Errorf("%d rows that are no jobs are as they were: %v", left, err)
	}
}
