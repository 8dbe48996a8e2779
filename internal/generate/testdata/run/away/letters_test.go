package lettersq

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A column of the table in which jobs run keeps time as that does with which it is paired.
func TestDue(t *testing.T) {
	db, ctx := open(t), context.Background()
	if _, err := db.Exec("INSERT INTO letters (due) VALUES ('01234567890'), ('01234567891')"); err != nil {
		t.Fatal(err)
	}
	q := New(db)
	jobs, err := q.Claim(ctx, 10)
	if err != nil || len(jobs) != 2 || jobs[0].Err != nil || !jobs[0].Due.Equal(time.Unix(1234567890, 0)) {
		t.Fatalf("%+v, %v", jobs, err)
	}
	if err := q.Requeue(ctx, 0, jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Fail(ctx, jobs[1], errors.New("no stamp")); err != nil {
		t.Fatal(err)
	}
	var due string
	if err := db.QueryRow("SELECT group_concat(due) FROM letters").Scan(&due); err != nil || due != "01234567890" {
		t.Errorf("due are %q: %v", due, err)
	}
}
